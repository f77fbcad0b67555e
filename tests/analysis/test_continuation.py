"""Curves of positions through dead points and crossings, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.continuation import continuation
from biela.analysis.dead_points import DeadPoints
from biela.analysis.driving import driven
from biela.analysis.kinematics import kinematics
from biela.analysis.position_method import PositionMethod
from biela.equations import formulate
from biela.errors import ModelError, UnknownNameError
from examples.mechanisms.four_bars import four_bars
from examples.mechanisms.slider_crank import RADIUS, ROD, slider_crank
from tests.analysis.chain_of_bodies import chain, folded

TURN = 2 * math.pi


@pytest.fixture(scope="module")
def crank() -> bl.System:
    return slider_crank().equations().system


@pytest.fixture(scope="module")
def rhombus() -> bl.System:
    return four_bars(1).equations().system


def slider(theta: np.ndarray) -> np.ndarray:
    return RADIUS * np.cos(theta) + np.sqrt(ROD**2 - (RADIUS * np.sin(theta)) ** 2)


def coupler_four_bar() -> bl.SymbolicSystem:
    """A crank–rocker (1, 3, 2.5, 3 on the ground: 1 + 3 < 2.5 + 3) with a point of its coupler."""
    s = bl.SymbolicSystem("grashof")
    a, b, c = s.coordinates("a b c")
    ends = []
    for name, angle, length, at in (
        ("crank", a, 1.0, s.origin),
        ("coupler", b, 3.0, None),
        ("rocker", c, 2.5, s.origin.offset("pivot", s.base.vector(3, 0, 0))),
    ):
        base = s.base.rotated(name, "z", angle)
        origin = at if at is not None else ends[-1]
        s.solid(name, at=origin, base=base, mass=1.0, inertia=base.inertia(zz=1.0))
        ends.append(origin.offset(f"end_{name}", base.vector(length, 0, 0)))
        if name == "coupler":
            point = origin.offset("tracer", base.vector(1.5, 1.0, 0))
    s.close(ends[2], ends[1], axes="xy", name="pin")
    r = s.position(s.origin, point)
    s.output("x", r.x)
    s.output("y", r.y)
    s.start(a=0.5, b=0.6, c=1.6)
    return s


def test_a_rhombus_keeps_to_its_branch_where_the_folded_one_crosses(rhombus: bl.System) -> None:
    curve = continuation(rhombus, step=0.1, direction={"theta0": 1.0})
    assert curve.closed
    # on the branch of the parallelogram the cranks have one angle and the coupler none
    assert np.abs(curve["theta0"] - curve["theta1"]).max() < 1e-11
    assert np.abs(curve["phi1"]).max() < 1e-11
    assert curve["theta0"][-1] == pytest.approx(curve["theta0"][0] + TURN, abs=1e-11)
    # crossings at θ = π and 2π, a quarter and three quarters of a turn from the start at π/2
    root = math.sqrt(2)
    assert np.allclose(curve.bifurcations, [root * math.pi / 2, root * 3 * math.pi / 2], atol=1e-3)
    # chords are a little shorter than the straight line in angles only by rounding
    assert curve.length[-1] == pytest.approx(root * TURN, abs=1e-6)


def test_the_start_may_be_the_crossing_itself_and_rates_choose_the_branch(
    rhombus: bl.System,
) -> None:
    flat = {"theta0": 0.0, "theta1": 0.0, "phi1": 0.0}
    together = continuation(
        rhombus, q=flat, direction={"theta0": 1.0, "theta1": 1.0, "phi1": 0.0}, steps=20
    )
    assert np.abs(together["theta0"] - together["theta1"]).max() < 1e-11
    # the folded branch: the first crank stays on the ground line, the coupler lies on the second
    folded_up = continuation(
        rhombus, q=flat, direction={"theta0": 0.0, "theta1": 1.0, "phi1": 1.0}, steps=20
    )
    assert np.abs(folded_up["theta0"]).max() < 1e-9
    assert np.abs(folded_up["theta1"] - folded_up["phi1"]).max() < 1e-9
    assert folded_up["phi1"][-1] > 0.5


def test_a_slider_crank_goes_through_both_dead_points_of_its_slider(crank: bl.System) -> None:
    curve = continuation(crank, step=0.1, direction={"theta": 1.0})
    assert curve.closed and len(curve) < 120
    theta = curve["theta"]
    assert theta[-1] == pytest.approx(theta[0] + TURN, abs=1e-12)
    assert np.abs(curve["x"] - slider(theta)).max() < 1e-11
    turning = [at for name, at in curve.dead_points if name == "x"]
    where = np.interp(turning, curve.length, theta)
    assert np.allclose(where, [math.pi, TURN], atol=2e-3)
    assert "x turns back" in str(curve) and not curve.bifurcations
    with pytest.raises(UnknownNameError, match="it has theta, phi, x"):
        curve["z"]


def test_with_a_driven_slider_time_turns_back_at_the_dead_point(crank: bl.System) -> None:
    # x = 0.38 + 0.05 t reaches r + l = 0.4 at t = 0.4 and no further
    curve = continuation(
        crank, drives={"x": "0.38 + 0.05*t"}, q={"theta": -0.5}, steps=60, step=0.05
    )
    assert curve.t.max() == pytest.approx(0.4, abs=1e-4) and curve.t.max() <= 0.4 + 1e-12
    assert curve.t[-1] < 0.3 and curve["theta"][0] < 0 < curve["theta"][-1]
    assert np.abs(curve["x"] - (0.38 + 0.05 * curve.t)).max() < 1e-11
    assert np.abs(curve["x"] - slider(curve["theta"])).max() < 1e-11


def test_a_coupler_curve_closes_on_itself() -> None:
    curve = continuation(coupler_four_bar(), step=0.08, direction={"a": 1.0})
    assert curve.closed
    assert curve["x"][-1] == pytest.approx(curve["x"][0], abs=1e-11)
    assert curve["y"][-1] == pytest.approx(curve["y"][0], abs=1e-11)
    # the intersection of two circles, on the side of the start
    gap = 3.0 - np.exp(1j * curve["a"])
    d = np.abs(gap)
    b = np.angle(gap) + np.arccos((9 + d**2 - 2.5**2) / (6 * d))
    point = np.exp(1j * curve["a"]) + (1.5 + 1j) * np.exp(1j * b)
    assert np.abs(point - (curve["x"] + 1j * curve["y"])).max() < 1e-11
    # the rocker only swings
    assert [name for name, _ in curve.dead_points].count("c") == 2
    assert np.ptp(curve["a"]) == pytest.approx(TURN, abs=1e-11)


def test_a_curve_ends_at_a_limit_or_after_its_steps(crank: bl.System) -> None:
    ended = continuation(
        crank, q={"theta": 1.0}, direction={"theta": 1.0}, limits={"theta": (0.0, 2.0)}
    )
    assert ended.stopped == "limit of theta" and not ended.closed
    assert ended["theta"][-1] == pytest.approx(2.0, abs=1e-12)
    assert ended["x"][-1] == pytest.approx(slider(np.array(2.0)), abs=1e-12)
    backwards = continuation(crank, q={"theta": 1.0}, direction={"theta": -1.0}, steps=5)
    assert backwards.stopped == "steps" and len(backwards) == 6
    assert np.all(np.diff(backwards["theta"]) < 0)


def test_a_four_bar_in_quaternions_follows_the_same_curve() -> None:
    # ground 1.36 m, bars of 1 m: a rocker, limited by the two others in line
    pivot = (1.3, 0.4, 0.0)
    system = chain(3, [], [("J4", 3, (1.0, 0.0, 0.0), 0, pivot)])
    curve = continuation(system, q=folded([0.9, -0.2, -1.5]), step=0.1, steps=400)
    angles = [2 * np.arctan2(curve[f"e{k}_3"], curve[f"e{k}_0"]) for k in (1, 2, 3)]
    end = sum(np.exp(1j * angle) for angle in angles)
    assert np.abs(end - complex(*pivot[:2])).max() < 1e-11
    for k in (1, 2, 3):
        norms = sum(curve[f"e{k}_{i}"] ** 2 for i in range(4))
        assert np.abs(norms - 1).max() < 1e-9
    assert curve.closed and any(name == "e1_3" for name, _ in curve.dead_points)


@pytest.mark.parametrize("coordinates", ["joint", "reference", "euler"])
def test_bodies_and_joints_give_the_same_curve_in_all_coordinates(coordinates: str) -> None:
    m = bl.Model("slider_crank")
    crank = m.body("crank", mass=1.0, inertia=0.1)
    rod = m.body("rod", mass=1.0, inertia=0.1)
    piston = m.body("piston", mass=1.0, inertia=0.1, position=(RADIUS + ROD, 0, 0))
    m.joint("revolute", "A", m.ground, crank, axis="z")
    m.joint("revolute", "B", crank.at(RADIUS, 0, 0), rod, axis="z")
    m.joint("revolute", "C", rod.at(ROD, 0, 0), piston, axis="z")
    m.joint("prismatic", "slide", m.ground, piston, axis="x")
    system = formulate(m, coordinates)
    curve = continuation(system, step=0.15)
    assert curve.closed
    crank_frame, piston_frame = (system.frames.index(name) for name in ("crank", "piston"))
    poses = np.array([system.evaluate("poses", q) for q in curve.q])
    cosine, sine = poses[:, crank_frame, 3], poses[:, crank_frame, 6]
    theta = np.unwrap(np.arctan2(sine, cosine))
    # Euler parameters that the system does not name as such are the same after two turns only
    turns = 2 if coordinates == "euler" and not system.quaternions else 1
    assert abs(theta[-1] - theta[0]) == pytest.approx(turns * TURN, abs=1e-9)
    assert np.abs(poses[:, piston_frame, 0] - slider(theta)).max() < 1e-10


def test_questions_without_an_answer_are_refused(crank: bl.System) -> None:
    two = bl.SymbolicSystem("free")
    two.coordinates("x y")
    z = two.coordinates("z")[0]
    two.solid("m", at=two.origin.offset("m", two.base.vector(*two.q)), base=two.base, mass=1.0)
    two.constrain(z - 1, name="table")
    with pytest.raises(ModelError, match="2 degrees of freedom; a curve has one"):
        continuation(two)
    with pytest.raises(ModelError, match="no freedom"):
        continuation(crank, drives={"theta": 1.0})
    with pytest.raises(ModelError, match="no coordinate or velocity speed"):
        continuation(crank, direction={"speed": 1.0})
    with pytest.raises(ModelError, match="not in order"):
        continuation(crank, limits={"x": (1.0, 0.0)})
    with pytest.raises(ModelError, match="positive length"):
        continuation(crank, step=0.0)


# --- driven through dead points -------------------------------------------------------------------


@pytest.mark.parametrize(("step", "start"), [(0.01, math.pi / 5), (0.003, 0.0123), (0.05, 0.3)])
def test_a_driven_slider_takes_the_crank_through_its_dead_points(
    crank: bl.System, step: float, start: float
) -> None:
    angle = f"({start!r} + 2*pi*t)"
    law = f"{RADIUS}*cos{angle} + sqrt({ROD**2} - {RADIUS**2}*sin{angle}**2)"
    found = kinematics(
        crank, 1.2, step=step, drives={"x": law}, q={"theta": start}, through_dead_points=True
    )
    # positions lose half of their digits there, the rates no more than positions
    assert np.abs(found["theta"] - (start + TURN * found.t)).max() < 1e-6
    assert np.abs(found["dtheta"] - TURN).max() < 1e-5
    assert np.abs(found["ddtheta"]).max() < 1e-3
    assert np.abs(found["constraint error"]).max() < 1e-10


def test_a_step_across_a_dead_point_follows_the_curve(crank: bl.System) -> None:
    angle = "(2.9 + 2*pi*t)"
    law = f"{RADIUS}*cos{angle} + sqrt({ROD**2} - {RADIUS**2}*sin{angle}**2)"
    system = driven(crank, {"x": law})
    p = system.parameters
    start = kinematics(system, 0.01, step=0.01, q={"theta": 2.9})
    # θ = π is passed at t = 0.0385
    after = DeadPoints(system, p, system.inputs, 1e-10).across(0.0, start.q[0], 0.08, start.v[0])
    assert after is not None
    assert after[0][0] == pytest.approx(2.9 + TURN * 0.08, abs=1e-9)
    assert after[1][0] == pytest.approx(TURN, abs=1e-8)
    # beyond the reach of x time does not go on
    far = driven(crank, {"x": "0.38 + 0.05*t"})
    start = kinematics(far, 0.01, step=0.01, q={"theta": -0.5})
    ended = DeadPoints(far, p, far.inputs, 1e-10).across(0.0, start.q[0], 0.5, start.v[0])
    assert ended is None


@pytest.mark.parametrize("instants", [8, 100, 400])
@pytest.mark.parametrize("predictor", [0, 2])
def test_a_drive_of_the_cosine_turns_the_crank_on_whatever_the_steps(
    instants: int, predictor: int
) -> None:
    # singular at θ = π and 2π, which are instants of 8 and of 400; the published runs leapt to
    # the other branch with 8 and lost the acceleration with 400
    s = slider_crank()
    s.output("cosine", bl.cos(s.q[0]))
    found = kinematics(
        s, 1.0, step=1 / instants, drives={"cosine": "cos(pi/4 + 2*pi*t)"}, q={"theta": 0.7},
        parameters={"r": 2.0, "l": 3.5}, through_dead_points=True,
        method=PositionMethod(predictor=predictor),
    )  # fmt: skip
    theta = math.pi / 4 + TURN * found.t
    s, c = np.sin(theta), np.cos(theta)
    R = np.sqrt(3.5**2 - 4 * s**2)
    # cos θ within the residual of 1e-13 leaves θ = π known to its root, 4.5e-7
    assert np.abs(found["theta"] - theta).max() < 5e-7
    assert np.abs(found["x"] - (2 * c + R)).max() < 1e-11
    assert np.abs(found["dx"] - TURN * (-2 * s - 4 * s * c / R)).max() < 1e-6
    a = TURN**2 * (-2 * c - 4 * (c**2 - s**2) / R - 16 * s**2 * c**2 / R**3)
    assert np.abs(found["ddx"] - a).max() < 1e-5
