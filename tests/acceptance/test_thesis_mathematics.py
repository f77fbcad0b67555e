"""Euler parameters and constraints of the thesis: biela's expressions against its equations.

The identities of its chapter 2 with the errata, and Φ_q, ν and γ of every constraint, joint and
driver by finite differences and by the equations of the oracle.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.instant import Instant
from biela.model.files import load_thesis_folder
from biela.model.files.thesis import JOINT_CODES
from biela.results.orientation import axis_angle, euler_parameters, from_axis_angle, rotation_matrix
from tests.oracles import thesis_kinematics as oracle
from tests.oracles.thesis_kinematics import A, A_printed, B, E, G, skew

Floats = npt.NDArray[np.float64]
SEEDS = range(5)


def moving(seed: int) -> tuple[Floats, Floats, Floats]:
    """Euler parameters of a random motion: p, p' and p'' with pᵀp = 1 at all times."""
    rng = np.random.default_rng(seed)
    p, dp, ddp = rng.normal(size=(3, 4))
    p /= np.linalg.norm(p)
    dp -= p * (p @ dp)
    ddp -= p * (p @ ddp + dp @ dp)
    return p, dp, ddp


# --- Euler parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_identities_of_the_thesis_hold_with_its_errata(seed: int) -> None:
    p, dp, ddp = moving(seed)
    s = np.random.default_rng(seed + 100).normal(size=3)
    w, w_body = 2 * E(p) @ dp, 2 * G(p) @ dp
    dA = 2 * E(p) @ G(dp).T
    one, four = np.eye(3), np.eye(4)
    for left, right in (
        (E(p) @ p, np.zeros(3)),
        (G(p) @ p, np.zeros(3)),
        (E(p) @ E(p).T, one),
        (G(p) @ G(p).T, one),
        (E(p).T @ E(p), four - np.outer(p, p)),
        (G(p).T @ G(p), four - np.outer(p, p)),  # printed twice for E (2.35)
        (E(p) @ G(p).T, A(p)),
        (A(p), A_printed(p)),
        (A(p).T @ A(p), one),
        (E(p) @ dp, -E(dp) @ p),
        (G(p) @ dp, -G(dp) @ p),
        (E(p) @ G(dp).T, E(dp) @ G(p).T),
        (A(p) @ w_body, w),
        (0.5 * G(p).T @ w_body, dp),
        (0.5 * E(p).T @ w, dp),
        (skew(w_body), A(p).T @ dA),
        (skew(w_body), 2 * G(p) @ G(dp).T),
        (skew(w), dA @ A(p).T),
        (B(p, s) @ p, 2 * A(p) @ s),
        (B(p, s), -2 * A(p) @ skew(s) @ G(p) + 2 * np.outer(A(p) @ s, p)),
        (B(p, s) @ dp, dA @ s),
        # the pair of the Jacobian and the rest of the acceleration: α~ A, not ω~ A (2.27)
        (
            B(p, s) @ ddp + B(dp, s) @ dp,
            (skew(2 * E(p) @ ddp) + skew(w) @ skew(w)) @ A(p) @ s,
        ),
        # the pair as printed is another: B(p', s) p' = A ω'~ ω'~ s + ½ |ω|² A s
        (
            B(dp, s) @ dp,
            A(p) @ skew(w_body) @ skew(w_body) @ s + 0.5 * (w @ w) * A(p) @ s,
        ),
    ):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)


def free_body(coordinates: str) -> bl.System:
    m = bl.Model("free")
    body = m.body("b")
    m.joint("distance", "rod", m.ground.at(0, 0, 9), body, length=9.0)
    return bl.formulate(m, coordinates)


@pytest.fixture(scope="module")
def euler() -> bl.System:
    return free_body("euler")


@pytest.fixture(scope="module")
def reference() -> bl.System:
    return free_body("reference")


@pytest.mark.parametrize("seed", SEEDS)
def test_poses_and_twists_of_a_body_are_those_of_a_e_and_g(
    euler: bl.System, reference: bl.System, seed: int
) -> None:
    p, dp, ddp = moving(seed)
    r, dr, ddr = np.random.default_rng(seed + 50).normal(size=(3, 3))
    q = np.concatenate([r, p])
    assert [e.name for e in euler.q] == ["b.rx", "b.ry", "b.rz", "b.e0", "b.e1", "b.e2", "b.e3"]
    pose = np.asarray(euler.evaluate("poses", q))[0]
    np.testing.assert_allclose(pose[:3], r, atol=1e-15)
    np.testing.assert_allclose(pose[3:].reshape(3, 3), A(p), rtol=0, atol=1e-12)
    v, a = np.concatenate([dr, dp]), np.concatenate([ddr, ddp])
    twist = np.asarray(euler.evaluate("twists", q, v))[0]
    np.testing.assert_allclose(twist, [*dr, *(2 * E(p) @ dp)], rtol=0, atol=1e-12)
    change = np.asarray(euler.evaluate("frame_accelerations", q, v, a=a))[0]
    np.testing.assert_allclose(change, [*ddr, *(2 * E(p) @ ddp)], rtol=0, atol=1e-12)
    # with the angular velocity along the axes of the body: p' = ½ Gᵀ ω'
    N = Instant(reference, 0.0, reference.inputs, reference.parameters).N(q)
    np.testing.assert_allclose(N[3:, 3:], 0.5 * G(p).T, rtol=0, atol=1e-12)


PLACE = np.array([0.7, -0.4, 1.1])


@pytest.fixture(scope="module")
def point() -> bl.System:
    m = bl.Model("point")
    body = m.body("b")
    body.marker("P", PLACE.tolist())
    m.joint("distance", "rod", m.ground.at(0, 0, 9), body, length=9.0)
    return bl.formulate(m, "euler")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_point_moves_as_b_says(point: bl.System, seed: int) -> None:
    """r + A s, its velocity r' + B p' and its acceleration r'' + B p'' + B(p') p'."""
    p, dp, ddp = moving(seed)
    q, v, a = (np.array([0, 0, 0, *x]) for x in (p, dp, ddp))
    row = point.frames.index("b.P")
    place = np.asarray(point.evaluate("poses", q))[row, :3]
    speed = np.asarray(point.evaluate("twists", q, v))[row, :3]
    change = np.asarray(point.evaluate("frame_accelerations", q, v, a=a))[row, :3]
    np.testing.assert_allclose(place, A(p) @ PLACE, rtol=0, atol=1e-12)
    np.testing.assert_allclose(speed, B(p, PLACE) @ dp, rtol=0, atol=1e-12)
    np.testing.assert_allclose(change, B(p, PLACE) @ ddp + B(dp, PLACE) @ dp, rtol=0, atol=1e-12)


def test_the_normalisation_is_an_equation_of_each_link(euler: bl.System) -> None:
    p, dp, _ = moving(3)
    q, v = np.array([0, 0, 0, *(1.1 * p)]), np.array([0, 0, 0, *dp])
    k = euler.multipliers.index("b.norm")
    assert np.asarray(euler.evaluate("Phi", q))[k] == pytest.approx(1.21 - 1, abs=1e-14)
    row = np.asarray(euler.evaluate("Phi_v", q))[k]
    np.testing.assert_allclose(row, [0, 0, 0, *(2.2 * p)], atol=1e-14)
    assert np.asarray(euler.evaluate("beta", q))[k] == 0
    assert np.asarray(euler.evaluate("gamma", q, v))[k] == pytest.approx(-2 * dp @ dp, abs=1e-14)


def test_euler_parameters_are_an_axis_and_half_an_angle() -> None:
    u = np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    for chi in (0.3, 2.0, math.pi, 3.1):
        p = np.array([math.cos(chi / 2), *(u * math.sin(chi / 2))])
        R = np.eye(3) + math.sin(chi) * skew(u) + (1 - math.cos(chi)) * skew(u) @ skew(u)
        np.testing.assert_allclose(rotation_matrix(p), R, atol=1e-14)
        np.testing.assert_allclose(A(p), R, atol=1e-14)
        np.testing.assert_allclose(euler_parameters(R), p, atol=1e-12)
        np.testing.assert_allclose(from_axis_angle(u, chi), p, atol=1e-14)
        axis, angle = axis_angle(p)
        np.testing.assert_allclose(axis, u, atol=1e-12)
        assert angle == pytest.approx(chi, abs=1e-12)


# --- constraints ----------------------------------------------------------------------------------

#: Equations of each joint, in the order of the codes: table 2.1 of the thesis.
COUNTS = {
    "SJ": 3, "RJ": 5, "TJ": 5, "CJ": 4, "D": 1, "CDx": 1, "CDy": 1, "CDz": 1, "UJ": 4,
    "DP1": 1, "DP2": 1, "PERP1": 2, "PERP2": 2,
}  # fmt: skip


def folder(path: Path, joints: str, drivers: str = "") -> Path:
    """The four files of two links that move freely, at a random place."""
    path.mkdir(exist_ok=True)
    rng = np.random.default_rng(8)
    q = [x for k in range(2) for x in (*rng.normal(size=3), *rng.normal(size=4))]
    texts = {
        "general": "nb 3\nT 1\nt 100",
        "joints": joints,
        "drivers": drivers,
        "initial": "qo 0 0 0 1 0 0 0 " + " ".join(map(repr, map(float, q))),
    }
    for name, text in texts.items():
        (path / f"{name}.txt").write_text(text)
    return path


def numbers(code: int, seed: int, value: float) -> list[float]:
    points = np.random.default_rng(seed).uniform(-1, 1, 18)
    return [code, 2, 3, *points.tolist(), value]


def motion_of_links(seed: int, t: float) -> tuple[Floats, Floats, Floats]:
    """A smooth random motion of two links, with unit Euler parameters, and its derivatives."""
    rng = np.random.default_rng(seed)
    c = rng.normal(size=(2, 7, 3))

    def q(x: float) -> Floats:
        raw = c[:, :, 0] + 0.5 * c[:, :, 1] * np.sin(x + 0.3) + 0.3 * c[:, :, 2] * np.cos(2 * x)
        raw[:, 3:] /= np.linalg.norm(raw[:, 3:], axis=1)[:, None]
        return raw.ravel()

    h = 1e-3
    first = (8 * (q(t + h) - q(t - h)) - (q(t + 2 * h) - q(t - 2 * h))) / (12 * h)
    second = (-q(t + 2 * h) + 16 * q(t + h) - 30 * q(t) + 16 * q(t - h) - q(t - 2 * h)) / (
        12 * h * h
    )
    return q(t), first, second


def check_by_differences(system: bl.System, seed: int) -> None:
    """Φ' = Φ_v v - β and Φ'' = Φ_v a - γ along a motion."""
    t, h = 0.4, 1e-3

    def Phi(x: float) -> Floats:
        return np.atleast_1d(system.evaluate("Phi", motion_of_links(seed, x)[0], t=x))

    q, v, a = motion_of_links(seed, t)
    rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t))
    beta = np.atleast_1d(system.evaluate("beta", q, t=t))
    gamma = np.atleast_1d(system.evaluate("gamma", q, v, t=t))
    first = (8 * (Phi(t + h) - Phi(t - h)) - (Phi(t + 2 * h) - Phi(t - 2 * h))) / (12 * h)
    second = (
        -Phi(t + 2 * h) + 16 * Phi(t + h) - 30 * Phi(t) + 16 * Phi(t - h) - Phi(t - 2 * h)
    ) / (12 * h * h)
    np.testing.assert_allclose(rows @ v - beta, first, rtol=0, atol=1e-6)
    np.testing.assert_allclose(rows @ a - gamma, second, rtol=0, atol=1e-6)


def test_joints_have_the_jacobian_and_the_right_hand_sides_of_their_equations(
    tmp_path: Path,
) -> None:
    rows = [numbers(code, 20 + code, 0.2) for code in JOINT_CODES]
    text = "\n".join(" ".join(map(repr, row)) for row in rows)
    model = load_thesis_folder(folder(tmp_path / "j", text))
    removed = {name: joint.removes for name, joint in model.joints.items()}
    assert removed == {f"{name}{k}": COUNTS[name] for k, name in enumerate(COUNTS, start=1)}
    system = bl.formulate(model, "euler")
    assert len(system.multipliers) == sum(COUNTS.values()) + 2  # the norms of two links
    for seed in (31, 32):
        check_by_differences(system, seed)
        # and what the rest is compared with, in the same way
        check_oracle_by_differences([c for row in rows for c in oracle.joint(row)], seed)


def test_drivers_have_the_jacobian_and_the_right_hand_sides_of_their_equations(
    tmp_path: Path,
) -> None:
    rows = [numbers(code, 40 + code, 0.0) for code in (1, 2, 3, 4, 5)]
    # a motor of a joint: its directions lie across the axis
    rows.append([11, 2, 3, *[0, 0, 0, 1, 0, 0, 0, 0, 0], *[0, 0, 0, 0.6, 0.8, 0, 0, 0, 0]])
    text = "\n".join(" ".join(map(repr, row)) + " | 1.5 + 0.4*sin(3*t)" for row in rows)
    revolute = "2 2 3  0 0 0  1 0 0  0 1 0  0 0 0  0 0 1  0 1 0  0"
    # between random directions code 1 cannot be a motor, and stays the row of the thesis
    system = bl.formulate(load_thesis_folder(folder(tmp_path / "d", revolute, text)), "euler")
    assert [name for name in system.multipliers if name.startswith("driver")] == [
        "driver1.cosine",
        "driver2.length",
        "driver3.x",
        "driver4.y",
        "driver5.z",
        "driver6.angle",
    ]

    def law(t: float) -> tuple[float, float, float]:
        return 1.5 + 0.4 * math.sin(3 * t), 1.2 * math.cos(3 * t), -3.6 * math.sin(3 * t)

    for seed in (61, 62):
        check_by_differences(system, seed)
        axis = np.array([0.0, 0.0, 1.0])
        check_oracle_by_differences([oracle.driver(row, law, axis) for row in rows], seed)


def check_oracle_by_differences(constraints: list[oracle.Constraint], seed: int) -> None:
    """What is compared with biela is checked in the same way."""
    whole = oracle.Mechanism(3, constraints, ())
    ground = np.array([0, 0, 0, 1.0, 0, 0, 0])
    still = np.zeros(7)
    t, h = 0.4, 1e-3

    def Phi(x: float) -> Floats:
        q = np.concatenate([ground, motion_of_links(seed, x)[0]])
        return whole.rows(q, np.zeros(21), x)[0]

    q, v, a = (
        np.concatenate([first, rest])
        for first, rest in zip((ground, still, still), motion_of_links(seed, t), strict=True)
    )
    _, J, nu, gamma = whole.rows(q, v, t)
    first = (8 * (Phi(t + h) - Phi(t - h)) - (Phi(t + 2 * h) - Phi(t - 2 * h))) / (12 * h)
    second = (
        -Phi(t + 2 * h) + 16 * Phi(t + h) - 30 * Phi(t) + 16 * Phi(t - h) - Phi(t - 2 * h)
    ) / (12 * h * h)
    np.testing.assert_allclose(J @ v - nu, first, rtol=0, atol=1e-6)
    np.testing.assert_allclose(J @ a - gamma, second, rtol=0, atol=1e-6)


def test_each_of_the_four_bases_may_have_a_law_of_time() -> None:
    m = bl.Model("bases")
    one, two = m.body("one"), m.body("two")
    i = one.at(0.1, 0.2, -0.3, axis=(1, 1, 0.2))
    j = two.at(-0.3, 0.1, 0.2, axis=(0, 1, 0.4))
    m.driver("cosine", "DP1", i=i, j=j, law="pi/3 + 0.3*sin(t)")
    m.driver("path", "DP2", marker=j, i=i, z="0.2 + 0.1*t^2")  # along an axis that moves
    m.driver("distance", "D", i=i, j=j, law="1.4 + 0.2*sin(2*t)")
    m.driver("position", "CD", marker=j, i=i, axis="y", law="0.3*t - 0.2*t^3")
    m.joint("free", "first", m.ground, one)
    m.joint("free", "second", m.ground, two)
    system = bl.formulate(m, "euler")
    assert len(system.multipliers) == 2 + 4
    check_by_differences(system, 77)
    # and all four may be constants
    for name, settings in {
        "dot": {"a": "x", "b": "y", "value": 0.3},
        "in_plane": {"normal": "x", "offset": 0.2},
        "distance": {"length": 1.2},
        "coordinate_difference": {"along": "z", "value": -0.1},
    }.items():
        m.joint(name, f"constant_{name}", i, j, **settings)
    check_by_differences(bl.formulate(m, "euler"), 78)
