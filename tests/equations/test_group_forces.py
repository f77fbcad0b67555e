"""Rows and loads of groups, against the blocks of reference-point coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.finding import structural_groups
from biela.analysis.groups.poses import poses_of
from biela.equations.blocks import ReferenceBlocks, reference_blocks
from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.forces import ForceEquations, MultiplierDerivation
from biela.equations.groups.forces.counting import alike
from biela.equations.groups.forces.loads import load_kernel, state_kernel
from biela.model.files import load

EXAMPLES = Path(__file__).parents[2] / "examples" / "mechanisms"


def _rotation(random: np.random.Generator) -> np.ndarray:
    q, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def _body_values(poses: Poses, centres: np.ndarray, body: int) -> list[float]:
    """Centre, and cosine and sine or two axes, of a body."""
    R = poses.axes[body]
    centre = poses.place[body] + R @ centres[body]
    if poses.plane is None:
        return [*centre, *R[:, 0], *R[:, 1]]
    k = {"xy": 2, "xz": 1, "yz": 0}[poses.plane]
    a, b = (k + 1) % 3, (k + 2) % 3
    return [*(centre["xyz".index(axis)] for axis in poses.plane), R[a, a], R[b, a]]


def _dense(blocks: ReferenceBlocks, q: np.ndarray, t: float) -> np.ndarray:
    """Φ_v with the angular velocities along the ground."""
    found = np.zeros((len(blocks.rows), blocks.nv))
    np.add.at(found, tuple(blocks.indices), blocks.Phi_v(q, t))
    if blocks.plane is None:
        axes = poses_of(blocks.world, q).axes
        for b, R in enumerate(axes):
            columns = slice(6 * b + 3, 6 * b + 6)
            found[:, columns] = found[:, columns] @ R.T
    return found


@pytest.mark.parametrize("name", ["four_bar", "geared_five_bar", "screw_press", "rssr"])
def test_rows_by_velocities_are_those_of_reference_point_coordinates(name: str) -> None:
    model = load(EXAMPLES / f"{name}.toml")
    structure = structural_groups(model, positions=1)
    blocks = reference_blocks(model)
    # any position does, also one where joints are open; laws are those of t = 0
    q = np.array(blocks.start)
    random = np.random.default_rng(5)
    count, wide = blocks.world.count, blocks.widths[0]
    for b in range(count):
        q[wide * b : wide * b + 3] += random.normal(size=3)
        if blocks.plane is None:
            e = random.normal(size=4)
            q[wide * b + 3 : wide * b + 7] = e / np.linalg.norm(e)
    poses = poses_of(blocks.world, q)
    rows = _dense(blocks, q, 0.0)
    extra = {n: k for k, n in enumerate(blocks.extra)}
    places = {n: k for k, n in enumerate(blocks.rows)}
    laws = blocks._law_values(0.0)["w"]
    looked_at = 0
    casts = Casts(blocks.world, structure)
    for cast in alike(casts.casts, extra):
        e = ForceEquations(MultiplierDerivation(cast, blocks.world.centres, extra))
        h = [
            x
            for solid in e.derivation.solids
            for x in _body_values(poses, blocks.world.centres, int(solid.numbers[0]))
        ]
        h += [float(laws[0]) for _ in e.laws]  # all have one driver
        h += [q[wide * count + extra[c.names[0]]] for c in e.counts]
        kernel = e.jacobian("rows")
        p = kernel.parameters()
        J = np.asarray(kernel.function(h) if p is None else kernel.function(h, p[0]))
        J = J.reshape(len(e.rows), -1)
        columns = []
        nv = blocks.widths[1]
        for (slot, component), _ in e.derivation.velocities():
            if slot >= 0:
                body = int(e.derivation.solids[slot].numbers[0])
                columns.append(nv * body + component)
            else:
                columns.append(nv * count + extra[e.counts[component].names[0]])
        for k, row in enumerate(e.rows):
            label = f"{cast.elements[row.element].names[0]}.{row.label}"
            expected = rows[places[label]]
            assert J[k] == pytest.approx(expected[columns], abs=1e-12), label
            assert np.delete(expected, columns) == pytest.approx(0.0, abs=1e-12), label
            looked_at += 1
    assert looked_at == len(blocks.rows)


@pytest.mark.parametrize("plane", [None, "xy", "xz", "yz"])
def test_the_load_of_a_body_is_what_is_applied_less_its_inertia(plane: str | None) -> None:
    random = np.random.default_rng(3)
    gravity = (0.3, -9.0, 2.0)
    model = bl.Model("body", plane=plane, gravity=gravity)
    own = random.normal(size=(3, 3))
    spread = own @ own.T
    I = np.trace(spread) * np.eye(3) - spread
    six = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    moments = tuple(six) if plane is None else tuple(six[:3])
    model.body("b", mass=2.5, com=(0.1, 0.0, 0.0), inertia=moments)
    blocks = reference_blocks(model)
    applied = random.normal(size=blocks.nv)
    r, v, a = random.normal(size=(3, 3))
    if plane is None:
        R = _rotation(random)
        w, alpha = random.normal(size=(2, 3))
    else:
        normal = {"xy": 2, "xz": 1, "yz": 0}[plane]
        i, j = (normal + 1) % 3, (normal + 2) % 3
        angle = random.uniform(-3, 3)
        R = np.eye(3)
        R[i, i] = R[j, j] = np.cos(angle)
        R[j, i] = np.sin(angle)
        R[i, j] = -R[j, i]
        w, alpha = np.zeros((2, 3))
        w[normal], alpha[normal] = random.normal(size=2)
        for vector in (r, v, a):
            vector[normal] = 0.0
    first = np.array([np.cross(w, R[:, k]) for k in range(3)]).T
    second = np.array(
        [np.cross(alpha, R[:, k]) + np.cross(w, np.cross(w, R[:, k])) for k in range(3)]
    ).T
    if plane is None:
        y, dy, ddy = (
            np.concatenate([c, S[:, 0], S[:, 1]]) for c, S in ((r, R), (v, first), (a, second))
        )
    else:
        at = ["xyz".index(axis) for axis in plane]
        y, dy, ddy = (
            np.array([*c[at], S[i, i], S[j, i]]) for c, S in ((r, R), (v, first), (a, second))
        )
    q, speed = state_kernel(plane)(y, dy)
    assert poses_of(blocks.world, q).axes[0] == pytest.approx(R, abs=1e-14)
    if plane is None:
        own_rates = np.concatenate([v, R.T @ w]), np.concatenate([a, R.T @ alpha])
    else:
        own_rates = np.array([*v[at], w[normal]]), np.array([*a[at], alpha[normal]])
    assert speed == pytest.approx(own_rates[0], abs=1e-13)
    expected = blocks.Q(np.asarray(q), own_rates[0]) - blocks.M()[0] @ own_rates[1] + applied
    if plane is None:
        expected[3:] = R @ expected[3:]
    kernel = load_kernel(plane, True)
    given = {"y": y, "dy": dy, "ddy": ddy, "p": blocks.masses.parameters[0], "Q": applied}
    W = kernel(*(given[x.name] for x in kernel.inputs))
    assert np.asarray(W) == pytest.approx(expected, abs=1e-12)


def test_euler_parameters_keep_their_digits_at_half_turns() -> None:
    for axis in np.eye(3):
        for angle in (np.pi, np.pi - 1e-9, 0.0, 1e-9):
            K = np.cross(np.eye(3), axis)
            R = np.eye(3) - np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
            y = np.concatenate([np.zeros(3), R[:, 0], R[:, 1]])
            q, _ = state_kernel(None)(y, np.zeros(9))
            e = np.array(q[3:])
            expected = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
            assert abs(e @ expected) == pytest.approx(1.0, abs=1e-15)
