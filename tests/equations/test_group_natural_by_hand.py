"""Groups laid out by hand: the linear actuator of a Stewart platform, and a dyad."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from biela.atoms import jacobian
from biela.equations.blocks.populations import Frames
from biela.equations.groups.cast import Poses
from biela.equations.groups.kernel import GroupEquations, GroupKernel, known_values
from biela.equations.groups.natural_by_hand import HandLaid, linear_actuator_group

FOOT, HEAD = 0, 1
#: Assembled at P0 = 0, P1 = (0.2, 0.1, 1.0), v6 = x, v7 = y, from the specification.
ASSEMBLED = [
    *(0.19518001, 0.09759001, 0.97590007),
    *(-0.97862481, 0.03049157, 0.20338079),
    *(0.0, -0.99184374, 0.12745981),
    *(0.00336602, -0.99503832, 0.09943551),
    *(0.98600256, 0.0, -0.16673018),
    1.02469508,
]


def turned(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def platform(t: float) -> Poses:
    """A foot that tilts slowly and a head that moves and turns."""
    place = np.array(
        [[0.05 * t, 0.0, 0.02 * t**2], [0.2 + 0.3 * t, 0.1 - 0.2 * t**2, 1.0 + 0.1 * t]]
    )
    return Poses(place, np.array([turned(0.2 * t), turned(-0.4 * t + 0.3 * t**2)]))


def frames(body: int) -> Frames:
    return Frames(np.array([body]), np.zeros((1, 3)), np.eye(3)[None])


@cache
def actuator(implied: bool) -> GroupKernel:
    poses = platform(0.0)
    group = linear_actuator_group(frames(FOOT), frames(HEAD), implied=implied)
    return GroupEquations(group, poses).kernel("actuator", [])


def items(kernel: GroupKernel, t: float) -> np.ndarray:
    return np.array([known_values(k, platform(t))[0] for k in kernel.known])


def solved(kernel: GroupKernel, t: float, steps: int = 8) -> dict[str, Any]:
    """By Newton's method from the start; rates of what is known by central differences."""
    d = 1e-4
    h = items(kernel, t)
    before, after = items(kernel, t - d), items(kernel, t + d)
    x = np.array([u.start(platform(t))[0] for u in kernel.unknowns])
    zero = np.zeros(len(x))
    given: dict[str, Any] = {"h": h, "dh": (after - before) / (2 * d), "tau": [0.0]}
    given |= {"ddh": (after - 2 * h + before) / d**2, "gauge_before": [1.0]}
    given |= {"last": zero, "dlast": zero, "ddlast": zero}
    if kernel.columns:
        given["p"] = kernel.parameters[0]
    names = [a.name for a in kernel.function.inputs]
    outputs = [a.name for a in kernel.function.outputs]
    for _ in range(steps):
        state = given | {"x": x}
        values = kernel.function(*(state[name] for name in names))
        found = dict(zip(outputs, values, strict=True))
        x = found["next"]
    return found


@pytest.mark.parametrize(("implied", "rows"), [(True, 19), (False, 16)])
def test_the_linear_actuator_is_assembled_as_the_specification_says(
    implied: bool, rows: int
) -> None:
    kernel = actuator(implied)
    assert (len(kernel.rows), len(kernel.unknowns), len(kernel.known)) == (rows, 16, 12)
    found = solved(kernel, 0.0, steps=5)
    assert found["x_found"] == pytest.approx(ASSEMBLED, abs=6e-9)
    assert np.abs(found["residual"]).max() < 1e-12


def test_rates_of_the_linear_actuator_are_those_of_its_positions() -> None:
    kernel = actuator(implied=True)
    t, d = 0.3, 1e-4
    found = solved(kernel, t)
    before, now, after = (solved(kernel, s)["x_found"] for s in (t - d, t, t + d))
    assert found["dx"] == pytest.approx((after - before) / (2 * d), abs=1e-6)
    assert found["ddx"] == pytest.approx((after - 2 * now + before) / d**2, abs=1e-5)


def in_closed_form(t: float) -> np.ndarray:
    """The actuator by spherical geometry, from the cosines of the specification (12.A).

    v₃ lies across v₆ at its angle from v₁: a cone meets a plane.  v₂ has its angles from v₁ and v₃.
    """
    poses = platform(t)
    P0, P1 = poses.place
    v6, v7 = poses.axes[FOOT][:, 0], poses.axes[HEAD][:, 1]
    s = np.linalg.norm(P1 - P0)
    v1 = (P1 - P0) / s

    def across(w: np.ndarray, cosine: float) -> np.ndarray:
        e = v1 - (v1 @ w) * w
        size = np.linalg.norm(e)
        angle = np.arccos(cosine / size)
        return np.cos(angle) * e / size + np.sin(angle) * np.cross(w, e / size)

    def third(v: np.ndarray, between: float, with_v1: float, with_v: float) -> np.ndarray:
        a, b = np.linalg.solve([[1.0, between], [between, 1.0]], [with_v1, with_v])
        flat, n = a * v1 + b * v, np.cross(v, v1)
        return flat + np.sqrt((1 - flat @ flat) / (n @ n)) * n

    v3, v5 = across(v6, 0.027594), across(v7, 0.029736)
    v2, v4 = third(v3, 0.027594, 0.010447, -0.00432), third(v5, 0.029736, 0.0005903, -0.01326)
    return np.concatenate([v1, v2, v3, v4, v5, [s]])


@pytest.mark.parametrize("t", [0.0, 0.3, -0.7, 1.1])
def test_the_linear_actuator_moves_as_its_closed_form(t: float) -> None:
    found, d = solved(actuator(implied=True), t), 1e-3
    assert found["x_found"] == pytest.approx(in_closed_form(t), abs=1e-12)
    far, near, now, after, beyond = (in_closed_form(t + k * d) for k in (-2, -1, 0, 1, 2))
    rates = (8 * (after - near) - (beyond - far)) / (12 * d)
    assert found["dx"] == pytest.approx(rates, abs=1e-8)
    bends = (16 * (after + near) - (beyond + far) - 30 * now) / (12 * d**2)
    assert found["ddx"] == pytest.approx(bends, abs=1e-6)


def test_the_rows_that_are_implied_do_not_change_the_motion() -> None:
    full, independent = (solved(actuator(implied), 0.2) for implied in (True, False))
    for name in ("x_found", "dx", "ddx"):
        assert full[name] == pytest.approx(independent[name], rel=1e-10, abs=1e-11)


def test_the_jacobian_of_the_linear_actuator_has_rank_16_and_the_rows_of_the_appendix() -> None:
    poses = platform(0.0)
    equations = GroupEquations(linear_actuator_group(frames(FOOT), frames(HEAD)), poses)
    J = jacobian(equations.Phi, equations.x).rows
    values = equations._samples()[0]
    found = equations._evaluated([e for row in J for e in row], values)[:, 0].reshape(19, 16)
    assert np.linalg.matrix_rank(found) == 16
    x = np.array([u.start(poses)[0] for u in equations.derivation.unknowns])
    v1, v2, s = x[:3], x[3:6], x[15]
    assert found[0, :3] == pytest.approx(2 * v1)  # v1 · v1 - 1
    assert found[3, :6] == pytest.approx([*v2, *v1])  # v1 · v2 - k
    assert found[16:19, :3] == pytest.approx(-s * np.eye(3))  # P1 - P0 - s v1
    assert found[16:19, 15] == pytest.approx(-v1)


def test_a_dyad_laid_out_by_hand_meets_where_its_circles_do() -> None:
    # B = (0, 0), D = (2, 0) on two known bodies, bars of √2
    group = HandLaid("dyad", plane="xy")
    C = group.free("C", lambda poses: np.array([[0.9, 1.2, 0.0]]))
    ends = [group.known_point(np.array([body]), np.zeros((1, 3))) for body in (FOOT, HEAD)]
    for k, end in enumerate(ends):
        group.distance(f"bar{k}", end, C, np.sqrt(2.0))
    poses = Poses(np.array([[0.0, 0, 0], [2.0, 0, 0]]), np.stack([np.eye(3)] * 2), "xy")
    kernel = GroupEquations(group, poses).kernel("dyad", [])
    x = np.array([0.9, 1.2])
    for _ in range(6):
        values = kernel.function(
            *(
                {
                    "x": x,
                    "h": [0.0, 0.0, 2.0, 0.0],
                    "dh": [0.0, 0.0, 1.0, 0.0],
                    "ddh": np.zeros(4),
                    "tau": [0.0],
                    "gauge_before": [1.0],
                }.get(a.name, np.zeros(2))
                for a in kernel.function.inputs
            )
        )
        found = dict(zip([a.name for a in kernel.function.outputs], values, strict=True))
        x = found["next"]
    assert x == pytest.approx([1.0, 1.0], abs=1e-14)
    # D moves away by w: C goes along by w/2 and sinks by w/2; y = √(2 - x²), x'' = 0
    assert found["dx"] == pytest.approx([0.5, -0.5])
    assert found["ddx"] == pytest.approx([0.0, -0.5])


def test_angles_are_held_by_their_cosine_or_their_sine() -> None:
    for way in ("cosine", "sine"):
        group = HandLaid("angle", plane="xy")
        u = group.free("u", lambda poses: np.array([[0.8, 0.6, 0.0]]))
        x = group.known_vector(np.array([FOOT]), np.array([[1.0, 0.0, 0.0]]))
        angle = group.workspace.atom(0.7)
        group.unit_vector("unit", u)
        if way == "cosine":
            group.angle_cosine("angle", x, u, angle)
        else:
            normal = tuple(group.workspace.atom(c) for c in (0.0, 0.0, 1.0))
            group.angle_sine("angle", x, u, normal, angle)
        poses = Poses(np.zeros((1, 3)), np.eye(3)[None], "xy")
        kernel = GroupEquations(group, poses).kernel("angle", [])
        x_now = np.array([0.8, 0.6])
        for _ in range(8):
            given = {"x": x_now, "h": [1.0, 0.0], "tau": [0.0], "gauge_before": [1.0]}
            arrays = [given.get(a.name, np.zeros(2)) for a in kernel.function.inputs]
            values = kernel.function(*arrays)
            found = dict(zip([a.name for a in kernel.function.outputs], values, strict=True))
            x_now = found["next"]
        assert x_now == pytest.approx([np.cos(0.7), np.sin(0.7)], abs=1e-14)
