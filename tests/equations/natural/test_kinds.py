"""The library of constraints: values, slopes and accelerations of its rows."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import biela as bl
from biela.analysis.instant import Instant
from biela.equations.natural import Layout, Segment
from biela.errors import ModelError
from tests.equations.natural.laid import four_bar, spatial_chain, tether

STEP = 1e-4


def every_kind() -> Layout:
    """One constraint of every kind between a few points, vectors and relative coordinates."""
    lay = Layout("all")
    a, b, c = (
        lay.point(n, x) for n, x in {"a": (0, 0, 0), "b": (1, 0.2, 0), "c": (0.3, 1, 0.5)}.items()
    )
    v, w = lay.vector("v", (0, 0, 1)), lay.vector("w", (0, 0.6, 0.8))
    s, d = lay.relative("s", 0.7, "m"), lay.relative("d", 1.1, "m")
    ab, ac = Segment(a, b), Segment(a, c)
    lay.length(a, b)
    lay.unit(v)
    lay.dot(v, w)
    lay.dot(ab, v)
    lay.combination(c, [(0.5, a), (0.5, b), (2.0, v), (-1.0, w)])
    lay.coincide(v, w)
    lay.collinear(a, c, w)
    lay.collinear(a, b, v, switched=True)
    lay.slider(a, c, v, s)
    lay.apart(a, c, d)
    for form in ("cosine", "sine", "switched", "both", "sum", "regular"):
        lay.angle(f"angle {form}", ab, ac, v, form)
    lay.bearing("bearing", (ab, w), (ab, v))
    lay.drive(s, lambda t, p: p[0] + p[1] * t * t, (0.7, 0.3))
    return lay


def test_slopes_and_accelerations_of_all_rows_are_those_of_their_values() -> None:
    """Φ' and Φ'' along q + v t + a t²/2, by differences of Φ."""
    system = every_kind().system()
    random = np.random.default_rng(3)
    n = len(system.q)
    q, v, a = random.normal(size=n), random.normal(size=n), random.normal(size=n)
    t0 = 0.4

    def Phi(h: float) -> np.ndarray:
        return np.asarray(system.evaluate("Phi", q + v * h + a * h * h / 2, t=t0 + h))

    near = [Phi(k * STEP) for k in (-1, 0, 1)]
    rows = np.asarray(system.evaluate("Phi_v", q, t=t0))
    beta = np.asarray(system.evaluate("beta", q, t=t0))
    gamma = np.asarray(system.evaluate("gamma", q, v, t=t0))
    slope = (near[2] - near[0]) / (2 * STEP)
    np.testing.assert_allclose(rows @ v - beta, slope, atol=1e-5)
    curve = (near[2] - 2 * near[1] + near[0]) / STEP**2
    np.testing.assert_allclose(rows @ a - gamma, curve, atol=1e-5)


def test_two_rows_of_the_vector_product_hold_a_point_on_a_line_that_turns_all_the_way() -> None:
    """The rows chosen at every instant have rank two for every direction."""
    for switched in (True, False):
        lay = Layout("line")
        a = lay.point("a", (0, 0, 0), fixed=True)
        b = lay.point("b", (0, 0, 0.5))
        v = lay.vector("v", (0, 0, 1))
        lay.collinear(a, b, v, switched=switched)
        system = lay.system()
        least = []
        for axis in (*np.eye(3), *(-np.eye(3)), *np.random.default_rng(0).normal(size=(20, 3))):
            unit = axis / np.linalg.norm(axis)
            q = np.concatenate([0.5 * unit, unit])
            rows = np.asarray(system.evaluate("Phi_q", q))
            np.testing.assert_allclose(system.evaluate("Phi", q), 0.0, atol=1e-15)
            least.append(np.linalg.svd(rows[:, :3], compute_uv=False)[-1])
        # Σ v_k row_k = 0: without the largest component the least singular value is |v_k|
        assert (min(least) > 0.57) == switched


@cache
def crank(written: str) -> bl.System:
    return four_bar(written).system()


def slopes(written: str, angle: float) -> np.ndarray:
    """The slopes by θ of the rows of a crank angle."""
    system = crank(written)
    names = [e.name for e in system.q]
    q = np.array([e.value for e in system.q])
    q[names.index("p.x")], q[names.index("p.y")] = np.cos(angle), np.sin(angle)
    q[names.index("alpha")] = angle
    mine = [k for k, name in enumerate(system.multipliers) if name.startswith("alpha.")]
    np.testing.assert_allclose(np.asarray(system.evaluate("Phi", q))[mine], 0.0, atol=1e-15)
    return np.asarray(system.evaluate("Phi_q", q))[mine, names.index("alpha")]


def test_each_form_of_an_angle_has_its_slope() -> None:
    for angle in np.linspace(-3.0, 3.0, 13):
        s, c = np.sin(angle), np.cos(angle)
        np.testing.assert_allclose(slopes("cosine", angle), [s], atol=1e-14)
        np.testing.assert_allclose(slopes("sine", angle), [-c], atol=1e-14)
        np.testing.assert_allclose(slopes("both", angle), [s, -c], atol=1e-14)
        np.testing.assert_allclose(slopes("sum", angle), [s - c], atol=1e-14)
        np.testing.assert_allclose(slopes("regular", angle), [-1.0], atol=1e-14)
        assert abs(slopes("switched", angle)[0]) == pytest.approx(max(abs(s), abs(c)))


def test_the_sum_of_cosine_and_sine_has_a_second_root_and_is_told_to_be_singular() -> None:
    """The source warns of it: π/2 - θ fulfils the row as θ does, and both meet at 45° + k 180°."""
    lay = four_bar("sum")
    lay.drive(lay.entities["alpha"], lambda t, p: p[0] + p[1] * t, (np.pi / 2, 4.0))
    r = bl.kinematics(lay.system(), 4.0, step=0.02)
    meet = (np.pi * np.array([5, 9, 13, 17, 21]) / 4 - np.pi / 2) / 4
    told = np.array([e.time for e in r.events if e.name == "determinant changes sign"])
    np.testing.assert_allclose(told, meet[meet < 4.0], rtol=0, atol=0.02)
    # the motion goes on, on its own branch
    np.testing.assert_allclose(r["p.x"], np.cos(np.pi / 2 + 4 * r.t), atol=1e-10)

    system = crank("sum")
    names = [e.name for e in system.q]
    row = system.multipliers.index("alpha.angle")
    regular, (angle_row,) = (
        crank("regular"),
        (k for k, name in enumerate(crank("regular").multipliers) if name == "alpha.angle"),
    )
    for angle in (-2.0, 0.3, 1.4):
        q = np.array([e.value for e in system.q])
        q[names.index("p.x")], q[names.index("p.y")] = np.cos(angle), np.sin(angle)
        q[names.index("alpha")] = np.pi / 2 - angle
        assert np.asarray(system.evaluate("Phi", q))[row] == pytest.approx(0.0, abs=1e-14)
        assert abs(np.asarray(regular.evaluate("Phi", q))[angle_row]) > 0.1
    for angle in (np.pi / 4, -3 * np.pi / 4):
        np.testing.assert_allclose(slopes("sum", angle), [0.0], atol=1e-14)


def test_an_angle_is_counted_across_its_axis_where_its_arrows_are_not() -> None:
    lay = Layout("cone")
    o = lay.point("o", (0, 0, 0), fixed=True)
    z, x = lay.vector("z", (0, 0, 1), fixed=True), lay.vector("x", (0.6, 0, 0.8), fixed=True)
    p = lay.point("p", (0.0, 2.0, 1.0))
    theta = lay.angle("theta", x, Segment(o, p), z, "both")
    assert theta.start[0] == pytest.approx(np.pi / 2)
    system = lay.system()
    for angle in (-2.0, 0.3, 1.4):
        q = [2 * np.cos(angle), 2 * np.sin(angle), 1.0, angle]
        np.testing.assert_allclose(system.evaluate("Phi", q), 0.0, atol=1e-15)


def test_torsion_and_bending_are_zero_where_rods_are_in_line() -> None:
    lay = tether(3)
    for name in ("joint2.bending1", "joint2.bending2", "joint3.torsion"):
        assert lay.entities[name].start == (0.0,)


def test_what_cannot_be_is_refused() -> None:
    lay = Layout("wrong")
    a = lay.point("a", (0, 0, 0), fixed=True)
    b = lay.point("b", (0, 0, 0), fixed=True)
    v = lay.vector("v", (0, 0, 1), fixed=True)
    with pytest.raises(ModelError, match="two things are called a"):
        lay.point("a", (1, 0, 0))
    with pytest.raises(ModelError, match="no distance apart"):
        lay.length(a, b)
    with pytest.raises(ModelError, match="written as cosine"):
        lay.angle("t", v, v, v, "tangent")
    with pytest.raises(ModelError, match="along its axis"):
        lay.angle("t2", v, v, v)
    with pytest.raises(ModelError, match="cannot be one"):
        lay.coincide(a, v)
    with pytest.raises(ModelError, match="3 are needed"):
        lay.point("c", (1, 0))
    c = lay.point("c", (1, 0, 0), fixed=True)
    lay.length(a, c, 1.5)
    with pytest.raises(ModelError, match="between fixed entities and off by"):
        lay.system()


def test_a_switched_angle_drives_a_crank_over_several_turns_like_a_regular_one() -> None:
    runs = []
    for written in ("switched", "regular"):
        lay = four_bar(written)
        alpha = lay.entities["alpha"]
        lay.drive(alpha, lambda t, p: p[0] + p[1] * t, (np.pi / 2, 4.0))
        runs.append(bl.kinematics(lay.system(), 4.0, step=0.02))
    for name in ("p.x", "q.x", "q.y", "q.x_rate"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], atol=1e-10)
    np.testing.assert_allclose(runs[0]["p.x"], np.cos(np.pi / 2 + 4 * runs[0].t), atol=1e-10)


def test_multipliers_jump_in_sign_and_reactions_do_not_where_the_row_is_switched() -> None:
    """λ = τ / (K sin θ) by the cosine and -τ / (K cos θ) by the sine; Φ_qᵀ λ is the same."""
    states = []
    for side in (-1e-9, 1e-9):
        angle = np.pi / 4 + side
        lay = four_bar("switched")
        lay.motor(lay.entities["alpha"], 3.0)
        system = lay.system()
        instant = Instant(system, 0.0, system.inputs, system.parameters)
        names = [e.name for e in system.q]
        q = np.array([e.value for e in system.q])
        q[names.index("p.x")], q[names.index("p.y")] = np.cos(angle), np.sin(angle)
        q[names.index("alpha")] = angle
        free = [names.index("q.x"), names.index("q.y")]
        for _ in range(20):
            q[free] -= np.linalg.pinv(instant.Phi_v(q)[:, free]) @ instant.Phi(q)
        rates = np.linalg.svd(instant.Phi_v(q))[2][-1]
        v = rates / rates[names.index("alpha")]
        a, lam = instant.motion(q, v)
        row = system.multipliers.index("alpha.angle")
        states.append((a, lam[row], instant.Phi_v(q).T @ lam))
    (a, before, pull), (again, after, pull_again) = states
    assert before == pytest.approx(-3.0 / np.cos(np.pi / 4))
    assert after == pytest.approx(3.0 / np.sin(np.pi / 4))
    np.testing.assert_allclose(a, again, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(pull, pull_again, rtol=1e-6, atol=1e-6)


def test_a_chain_of_three_bars_accelerates_the_same_by_all_regular_forms() -> None:
    found = []
    for written in ("switched", "regular", "both"):
        system = spatial_chain(3, written=written)[0].system()
        instant = Instant(system, 0.0, system.inputs, system.parameters)
        q = np.array([e.value for e in system.q])
        random = np.random.default_rng(5)
        v = random.normal(size=len(q))
        rows = instant.Phi_v(q)
        v = v - np.linalg.pinv(rows) @ (rows @ v)
        found.append(instant.motion(q, v)[0])
    np.testing.assert_allclose(found[0], found[1], atol=1e-10 * np.abs(found[0]).max())
    np.testing.assert_allclose(found[0], found[2], atol=1e-10 * np.abs(found[0]).max())
