"""Forward dynamics by groups near dead points: no leap is silent, and none stops a free motion."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.changing import exchanges
from biela.errors import DeadPointError

CRANKS = ["A0.angle", "A1.angle", "A2.angle"]
DOWN = (0, -9.81, 0)


def plate_on_legs(seed: int, beside: str = "") -> bl.Model:
    """A 3-RRR of random sizes, assembled, that falls.

    With a crank that is driven, or pendulums, beside it.
    """
    rng = np.random.default_rng(seed)
    m = bl.Model("3-RRR", plane="xy", gravity=DOWN)
    place, turn = rng.uniform(-0.1, 0.1, 2), rng.uniform(-0.5, 0.5)
    plate = m.body("plate", mass=2.0, inertia=0.1)
    for k in range(3):
        a = 2 * np.pi * k / 3 + np.pi / 2
        lengths = 0.6 + 0.1 * rng.uniform(-1, 1, 2)
        foot = np.array([np.cos(a), np.sin(a)])
        corner = place + 0.3 * np.array([np.cos(a + turn), np.sin(a + turn)])
        way = corner - foot
        d = float(np.linalg.norm(way))
        bend = np.arccos((d * d + lengths[0] ** 2 - lengths[1] ** 2) / (2 * d * lengths[0]))
        first = float(np.arctan2(way[1], way[0]) - bend)
        knee = foot + lengths[0] * np.array([np.cos(first), np.sin(first)])
        second = float(np.arctan2(*(corner - knee)[::-1]))
        for name, length in zip((f"p{k}", f"d{k}"), lengths.tolist(), strict=True):
            bar = m.body(name, mass=1.0, com=(length / 2, 0, 0), inertia=0.03)
            bar.marker("end", (length, 0, 0))
        m.joint("revolute", f"A{k}", m.ground.at(*foot, 0), f"p{k}", start=first)
        m.joint("revolute", f"B{k}", f"p{k}.end", f"d{k}", start=second - first)
        at = plate.at(0.3 * np.cos(a), 0.3 * np.sin(a), 0)
        m.joint("revolute", f"C{k}", f"d{k}.end", at, start=turn - second)
    if beside == "crank":
        m.joint("revolute", "motor", m.ground.at(3, 0, 0), m.body("crank", mass=1.0, inertia=0.1))
        m.driver("rotary", "drive", coordinate="motor", law="5*t")
    for k in range(56 if beside == "pendulums" else 0):
        bob = m.body(f"w{k}", mass=1.0, com=(0.5, 0, 0), inertia=0.1)
        m.joint("revolute", f"W{k}", m.ground.at(3 + k, 0, 0), bob, start=0.1)
    return m


def moved(results: bl.Results, reference: bl.Results) -> float:
    """How far the plate is off, m."""
    n = len(results.t)
    np.testing.assert_allclose(results.t, reference.t[:n], rtol=0, atol=1e-12)
    return max(float(np.abs(results[x] - reference[x][:n]).max()) for x in ("plate.x", "plate.y"))


# ------------------------------------------------------------------------------ nothing is silent


@pytest.mark.parametrize("seed", [6, 7, 11])
def test_a_group_that_would_bounce_off_its_dead_point_is_told(seed: int) -> None:
    # with a driver that moves nothing is said of the energy; a bounce would keep it besides
    m = plate_on_legs(seed, "crank")
    with pytest.raises(DeadPointError, match=r"6R.*dead point.*independent coordinates") as error:
        bl.group_simulation(m, 0.6, step=2e-3, independent=CRANKS)
    found = error.value.results
    whole = bl.simulate(m, float(found.t[-1]), tolerance=1e-10, output=2e-3)
    assert len(found.t) > 90
    assert moved(found, whole) < 1e-4


def test_velocities_do_not_jump_in_a_large_model_either() -> None:
    m = plate_on_legs(7, "pendulums")
    names = [*CRANKS, *(f"W{k}.angle" for k in range(56))]
    with pytest.raises(DeadPointError) as error:
        bl.group_simulation(m, 0.6, step=2e-3, independent=names)
    found = error.value.results
    alone = plate_on_legs(7)
    whole = bl.simulate(alone, float(found.t[-1]), tolerance=1e-10, output=2e-3)
    assert len(found.t) > 90
    place = 3 * list(m.bodies).index("plate")
    for k, name in enumerate(("plate.vx", "plate.vy")):
        assert found.v[:, place + k] == pytest.approx(whole[name], abs=1e-2)


def test_stored_instants_far_apart_do_not_change_the_branch() -> None:
    m = plate_on_legs(5)
    fine = bl.group_simulation(m, 0.3, step=1e-3, independent=CRANKS)
    coarse = bl.group_simulation(m, 0.3, step=1e-3, output=0.15, independent=CRANKS)
    for level in "qva":
        every = getattr(fine, level)[::150]
        np.testing.assert_allclose(getattr(coarse, level), every, rtol=1e-9, atol=1e-9)


def test_groups_that_drivers_move_are_predicted_by_them() -> None:
    # a driver alone moves the first dyad a long way in every step
    m = bl.Model("driven", plane="xy", gravity=DOWN)
    for name, length in (("crank", 0.3), ("coupler", 1.0), ("rocker", 0.8)):
        m.body(name, mass=1.0, com=(length / 2, 0, 0), inertia=0.1).marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank")
    m.joint("revolute", "B", "crank.end", "coupler", start="60 deg")
    m.joint("revolute", "D", m.ground.at(1.0, 0, 0), "rocker", start="110 deg")
    m.joint("revolute", "C", "coupler.end", "rocker.end")
    bob = m.body("bob", mass=0.5, com=(0.2, 0, 0), inertia=0.01)
    m.joint("revolute", "hung", "rocker.end", bob)
    m.driver("rotary", "motor", coordinate="A", law="20*t")
    found = bl.group_simulation(m, 0.5, step=2e-3, output=0.05)
    whole = bl.simulate(m, 0.5, tolerance=1e-10, output=0.05)
    assert found["hung.angle"] == pytest.approx(whole["hung.angle"], abs=1e-3)
    assert found["D.angle"] == pytest.approx(whole["D.angle"], abs=1e-8)


# -------------------------------------------------------------------- other independent coordinates


def test_a_free_triad_goes_through_its_dead_points() -> None:
    m = plate_on_legs(7)
    found = bl.group_simulation(m, 0.6, step=1e-3)
    whole = bl.simulate(m, 0.6, tolerance=1e-11, output=1e-3)
    assert found.statistics.more["changes of independent coordinates"] >= 1
    assert moved(found, whole) < 1e-5
    assert np.ptp(found["energy"]) < 1e-5 * found["kinetic energy"].max()
    assert found.statistics.max_constraint_error < 1e-10
    # nothing is out of place where they change: rates are those of positions
    for name, rate in (("plate.x", "plate.vx"), ("plate.y", "plate.vy")):
        a = found[rate.replace("v", "a")]
        way = 0.5e-3 * (found[rate][1:] + found[rate][:-1]) + 1e-6 / 12 * (a[:-1] - a[1:])
        assert np.abs(np.diff(found[name]) - way).max() < 1e-8


def rocking(spring: bool) -> bl.Model:
    """A four-bar without a crank that turns: each bar comes to dead points of the other two."""
    m = bl.Model("rocking", plane="xy", gravity=DOWN)
    for name, length in (("crank", 0.69), ("coupler", 1.18), ("rocker", 0.94)):
        body = m.body(name, mass=1.0, com=(length / 2, 0, 0), inertia=0.1 * length)
        body.marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank", start=0.73)
    foot = np.array([1.4756616792801494, 0.0])
    B = 0.69 * np.array([np.cos(0.73), np.sin(0.73)])
    d = float(np.linalg.norm(foot - B))
    along = (d * d + 1.18**2 - 0.94**2) / (2 * d)
    e = (foot - B) / d
    C = B + along * e + np.sqrt(1.18**2 - along**2) * np.array([-e[1], e[0]])
    coupler, rocker = (float(np.arctan2(*(C - X)[::-1])) for X in (B, foot))
    m.joint("revolute", "B", "crank.end", "coupler", start=coupler - 0.73)
    m.joint("revolute", "C", "coupler.end", "rocker.end", start=rocker - coupler)
    m.joint("revolute", "D", m.ground.at(*foot, 0), "rocker", start=rocker)
    if spring:
        for name in "BC":
            m.force("torsional", f"spring_{name}", coordinate=f"{name}.angle", stiffness=0.4)
    return m


@pytest.mark.parametrize("spring", [False, True])
def test_coordinates_change_back_and_forth_and_turns_are_counted(spring: bool) -> None:
    m, rates = rocking(spring), {"A": -3.2}
    found = bl.group_simulation(m, 2.0, step=1e-3, output=1e-2, v=rates)
    whole = bl.simulate(m, 2.0, tolerance=1e-11, output=1e-2, v=rates)
    assert found.statistics.more["changes of independent coordinates"] >= 2
    for name in ("A.angle", "B.angle", "C.angle", "D.angle"):
        assert found[name] == pytest.approx(whole[name], abs=1e-5), name
        assert found[name][0] == pytest.approx(whole[name][0], abs=1e-12)
    assert np.ptp(found["energy"]) < 1e-5 * found["kinetic energy"].max()


def test_an_angle_that_a_spring_turns_starts_at_its_turns() -> None:
    m = rocking(True)
    turns = m.joints["C"].start["angle"] + 4 * np.pi
    m.joints["C"].start["angle"] = turns
    found = bl.group_simulation(m, 0.2, step=1e-3, independent="A.angle")
    whole = bl.simulate(m, 0.2, tolerance=1e-11, output=1e-3)
    assert whole["C.angle"][0] == pytest.approx(turns)
    assert found["C.angle"] == pytest.approx(whole["C.angle"], abs=1e-8)
    assert found["A.angle"] == pytest.approx(whole["A.angle"], abs=1e-8)


def test_coordinates_that_are_named_are_not_changed() -> None:
    with pytest.raises(DeadPointError, match=r"other independent coordinates than A\.angle"):
        bl.group_simulation(rocking(False), 2.0, step=1e-3, independent="A.angle", v={"A": -3.2})


def test_an_exchange_makes_the_determinant_larger() -> None:
    rows = np.random.default_rng(4).normal(size=(5, 3)) * np.array([1, 9, 0.1, 30, 1])[:, None]
    choices = list(exchanges(rows, held=(1,)))
    assert len(choices) > 1
    for taken in choices:
        assert taken[1] == -1
        chosen = np.array([np.eye(3)[k] if n < 0 else rows[n] for k, n in enumerate(taken)])
        assert abs(np.linalg.det(chosen)) > 1.5
    assert len({frozenset(taken) for taken in choices}) == len(choices)
    assert not list(exchanges(np.array([[0.9, -1.2]])))


# ------------------------------------------------------------------------------- bodies that carry


@pytest.mark.parametrize("plane", ["xy", None])
@pytest.mark.parametrize("how", ["fixed", "driven"])
def test_a_body_that_carries_nothing_is_left_where_it_is(how: str, plane: str | None) -> None:
    m = bl.Model("beside", plane=plane, gravity=DOWN)
    rod = m.body("rod", mass=1.0, com=(0.5, 0, 0), inertia=0.1)
    rod.marker("tip", (1, 0, 0))
    box = m.body("box", mass=2.0, inertia=0.2)
    m.joint("revolute", "pivot", m.ground, rod, start=0.3)
    if how == "fixed":
        m.joint("fixed", "weld", m.ground.at(1, 2, 0), box)
    else:
        m.joint("revolute", "motor", m.ground.at(1, 2, 0), box)
        m.driver("rotary", "drive", coordinate="motor", law="2*t")
    found = bl.group_simulation(m, 0.5, step=1e-3)
    whole = bl.simulate(m, 0.5, tolerance=1e-11, output=1e-3)
    assert found["pivot.angle"] == pytest.approx(whole["pivot.angle"], abs=1e-9)
    np.testing.assert_allclose(found.q, whole_q(m, found.t), atol=1e-8)
    # the same where a point alone is asked for
    m.driver("rotary", "swing", coordinate="pivot", law="0.3 + t")
    motion = bl.GroupSolver(m, points=["rod.tip"], bodies=False).run(np.linspace(0, 1, 11))
    tip = np.stack([np.cos(0.3 + motion.t), np.sin(0.3 + motion.t)], axis=1)
    np.testing.assert_allclose(motion.point("rod.tip").position[:, :2], tip, atol=1e-12)


def whole_q(m: bl.Model, t: np.ndarray) -> np.ndarray:
    """Positions by all equations at once."""
    system = bl.formulate(m, "reference")
    return np.asarray(bl.simulate(system, float(t[-1]), tolerance=1e-11, output=1e-3).q)
