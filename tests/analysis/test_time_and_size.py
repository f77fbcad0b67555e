"""Motions do not depend on when they start, nor on the units in which they are large or small.

The oracles are closed forms, the same motion at t = 0, and dimensional analysis: a mechanism scaled
in length, mass and time has the same dimensionless motion.
"""

from __future__ import annotations

import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.divergence import explanation
from biela.equations.blocks.world import World
from biela.equations.contact import Surface, add_contact, add_friction
from biela.errors import AssemblyError, ModelError, SimulationError
from biela.solvers.integrators import STEP_TOO_SMALL
from biela.space import velocity_in

#: Simulates by the looped engine.
looped = partial(bl.simulate, engine="looped")


def four_bar(
    length: float = 1.0, mass: float = 1.0, time: float = 1.0, *, law: str = ""
) -> bl.Model:
    """A four-bar linkage with a spring, swinging under gravity or driven, in scaled units."""
    L, M, T = length, mass, time
    m = bl.Model("four-bar", plane="xz", gravity=(0, 0, -9.81 * L / T**2))

    def bar(name: str, long: float, heavy: float):
        inertia = 0.1 * heavy * long**2 * M * L**2
        com = (0.5 * long * L, 0, 0)
        return m.body(name, mass=heavy * M, com=com, inertia=(inertia, inertia, inertia))

    a, b, c = bar("a", 0.2, 1.0), bar("b", 0.5, 2.0), bar("c", 0.4, 1.5)
    rates = {} if law else {"rates": 2.0 / T}
    m.joint("revolute", "A", "ground", a.at(0, 0, 0), axis="-y", start=1.0, **rates)
    m.joint("revolute", "B", a.at(0.2 * L, 0, 0), b.at(0, 0, 0), axis="-y", start=-0.6)
    m.joint("revolute", "D", m.ground.at(0.5 * L, 0, 0), c.at(0, 0, 0), axis="-y", start=1.8)
    m.joint("revolute", "C", b.at(0.5 * L, 0, 0), c.at(0.4 * L, 0, 0), axis="-y")
    ends = {"i": b.at(0.25 * L, 0, 0), "j": m.ground.at(0.3 * L, 0, 0.6 * L)}
    m.force("spring_damper", "s", **ends, stiffness=40 * M / T**2, length=0.1 * L, damping=M / T)
    if law:
        m.driver("rotary", "motor", coordinate="A", law=law)
    return m


def arm() -> bl.Model:
    m = bl.Model("arm", gravity=(0, 0, -9.81))
    body = m.body("link", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "hinge", "ground", body.at(0, 0, 0), axis="y", start=0.3)
    return m


# --- time -----------------------------------------------------------------------------------------

HOW = [{}, {"integrator": "adams"}, {"integrator": "radau"}, {"step": 2e-3}]


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("engine", ["unrolled", "looped"])
def test_a_motion_without_laws_is_the_same_whenever_it_starts(engine, how):
    now = bl.simulate(four_bar(), 0.5, engine=engine, **how)
    late = bl.simulate(four_bar(), 0.5, engine=engine, t=1e9, **how)
    assert (late.q == now.q).all()
    assert (late.v == now.v).all()
    assert np.abs(late.t - 1e9 - now.t).max() <= 1.2e-7
    assert (np.diff(late.t) > 0).all()


@pytest.mark.parametrize("how", [{}, {"step": 2e-3}], ids=str)
def test_events_are_found_as_exactly_at_late_times(how):
    m = bl.Model("fall", gravity=(0, 0, -9.81))
    m.body("weight", mass=1.0)
    m.joint("prismatic", "z", "ground", "weight", axis="z", start=0.5)
    m.force("stop", "floor", coordinate="z", lower=0.0, stiffness=1e4, depth=1e-3)
    now, late = (bl.simulate(m, 0.4, t=t, **how) for t in (0.0, 1e9))
    # the fall takes √(2 h / g); the instants of the event are rounded, the motion after it is not
    assert now.events[0].time == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=1e-11)
    assert [e.name for e in late.events] == [e.name for e in now.events]
    assert (late.q[-1] == now.q[-1]).all()


def test_rollouts_and_the_generalised_alpha_method_count_time_from_the_start_too():
    robot = bl.Robot(arm())
    now, late = (robot.rollout([0.3], [1.0], dt=1e-3, steps=300, t=t) for t in (0.0, 1e9))
    assert (now.q == late.q).all()
    how = {"formulation": "generalised_alpha", "step": 2e-3}
    now, late = (bl.simulate(four_bar(), 0.1, t=t, **how) for t in (0.0, 1e9))
    assert (now.q == late.q).all()
    assert len(set(late.t)) == len(late.t)


def test_laws_and_controllers_are_given_the_time_of_the_clock():
    m = bl.Model("pushed", gravity=(0, 0, 0))
    m.body("weight", mass=1.0)
    m.joint("prismatic", "x", "ground", "weight", axis="x")
    m.force("wrench", "push", marker="weight", fx="sin(t - 1000)")
    r = bl.simulate(m, 2.0, t=1000.0)
    s = r.t - 1000
    assert np.abs(r["x.displacement"] - (s - np.sin(s))).max() < 1e-8
    seen = []

    def law(t, q, v):
        seen.append(t)
        return [0.0]

    m = arm()
    m.force("actuator", "motor", coordinate="hinge")
    bl.simulate(m, 0.05, t=1000.0, step=1e-2, control=law)
    assert seen[:5] == pytest.approx([1000.0, 1000.01, 1000.02, 1000.03, 1000.04], abs=1e-9)


@pytest.mark.parametrize(
    "ask",
    [
        lambda t, folder: bl.simulate(four_bar(), 1.0, t=t),
        lambda t, folder: bl.Simulator(four_bar()).run(1.0, t=t, step=1e-3),
        lambda t, folder: bl.simulate(four_bar(law="1 + t"), 1.0, t=t),
        lambda t, folder: looped(four_bar(), 1.0, t=t),
        lambda t, folder: bl.kinematics(four_bar(law="1 + t"), duration=1.0, step=1e-2, t=t),
        lambda t, folder: bl.group_kinematics(four_bar(law="1 + t"), duration=1.0, step=0.1, t=t),
        lambda t, folder: bl.group_simulation(four_bar(), duration=1.0, step=1e-2, t=t),
        lambda t, folder: bl.group_inverse_dynamics(
            four_bar(law="1 + t"), duration=1.0, step=1e-2, t=t
        ),
        lambda t, folder: bl.Robot(arm()).rollout([0.3], dt=1e-3, steps=10, t=t),
        lambda t, folder: bl.Robot(arm()).simulate(1.0, t=t),
        lambda t, folder: bl.export_simulator(four_bar(), folder, t=t),
        lambda t, folder: bl.export_groups(
            four_bar(law="1 + t"), folder, t=t, joints=["B.angle"], step=1e-3
        ),
    ],
)
def test_steps_that_doubles_cannot_tell_apart_are_refused_by_every_door(ask, tmp_path: Path):
    with pytest.raises(ModelError, match=r"is not resolved at t = 1e\+16 s, .* 2 s apart"):
        ask(1e16, tmp_path)


def test_a_step_too_short_for_a_long_run_is_refused():
    with pytest.raises(ModelError, match=r"the step 0.001 s would make about 1.0e16 steps"):
        bl.simulate(four_bar(), 1e13, step=1e-3)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: bl.simulate(four_bar(), 1e3, output=1e-6),
        lambda: bl.simulate(four_bar(), 1e3, step=1e-6, output=1e-6),
        lambda: bl.simulate(four_bar(law="1 + t"), 1e3, step=1e-6),
        lambda: looped(four_bar(), 1e3, output=1e-6),
        lambda: bl.kinematics(four_bar(law="1 + t"), 1e3, step=1e-6),
        lambda: bl.kinematics(four_bar(law="1 + t"), 1e3, step=1e-6, engine="looped"),
        lambda: bl.group_kinematics(four_bar(law="1 + t"), 1e3, step=1e-6),
        lambda: bl.group_simulation(four_bar(), 1e3, step=1e-6),
        lambda: bl.group_inverse_dynamics(four_bar(law="1 + t"), 1e3, step=1e-6),
        lambda: bl.Robot(arm()).simulate(1e3, output=1e-6),
        lambda: bl.Robot(arm()).rollout([0.3], dt=1e-6, steps=10**9),
    ],
)
def test_a_thousand_million_instants_are_refused_by_every_door_before_the_work(ask):
    said = r"about 1\.0e9 instants with .* would take about .* GB; the limit is 4 GB.*BIELA_MEMORY"
    with pytest.raises(ModelError, match=said):
        ask()


def test_a_duration_without_end_is_refused_though_its_steps_adapt():
    with pytest.raises(ModelError, match=r"about 1\.0e300 s; the limit is 10,000,000,000"):
        bl.simulate(four_bar(), 1e300)


def test_the_limit_of_memory_is_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("BIELA_MEMORY", "0.00001")
    with pytest.raises(ModelError, match=r"the limit is 1e-05 GB"):
        bl.kinematics(four_bar(law="1 + t"), 1.0, step=1e-2)
    monkeypatch.setenv("BIELA_MEMORY", "1 GB")
    with pytest.raises(ModelError, match=r"BIELA_MEMORY is a number of gigabytes, not '1 GB'"):
        bl.kinematics(four_bar(law="1 + t"), 1.0, step=1e-2)


def test_angles_too_large_to_close_a_loop_are_said_to_be_so():
    with pytest.raises(AssemblyError, match=r"reach 6.3e\+09 at t = 1e\+09 s.*take whole turns"):
        bl.kinematics(four_bar(law="1 + 6.3*t"), duration=1.0, step=1e-2, t=1e9)


# --- bushings -------------------------------------------------------------------------------------


def spinner(rate: float, **bushing) -> bl.Model:
    m = bl.Model("spinner", gravity=(0, 0, 0))
    m.body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "hinge", "ground", "rotor", axis="z", rates=rate)
    m.force("bushing", "bush", i="ground", j="rotor", **bushing)
    return m


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
def test_dampers_of_bushings_work_at_any_turn(coordinates):
    m = spinner(20.0, torsional_damping=(0.02, 0.03, 0.04))
    r = bl.simulate(bl.formulate(m, coordinates), 1.0)
    turned = 20.0 * 0.1 / 0.04 * (1 - np.exp(-0.04 / 0.1 * r.t))
    assert turned[-1] > 2 * np.pi
    assert np.abs(r["hinge.angle"] - turned).max() < 2e-6


@pytest.mark.parametrize("how", [{}, {"step": 1e-3}], ids=str)
@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural", "looped"])
def test_a_bushing_that_comes_to_half_a_turn_is_named(coordinates, how):
    m = spinner(20.0, torsional_stiffness=(2.0, 2.0, 2.0))
    with pytest.raises(SimulationError, match="bushing bush comes to half a turn") as info:
        if coordinates == "looped":
            looped(m, 0.4, **how)
        else:
            bl.simulate(bl.formulate(m, coordinates), 0.4, **how)
    # until then it is a spring: 20/ω sin ω t with ω² = 2 / 0.1
    results = info.value.results
    w = np.sqrt(20.0)
    angle = results["hinge.angle"]
    assert 0.9 * np.pi < angle.max()
    below = angle < 0.97 * np.pi
    assert np.abs(angle - 20.0 / w * np.sin(w * results.t))[below].max() < 1e-5


def test_a_bushing_below_half_a_turn_swings_on():
    r = bl.simulate(spinner(10.0, torsional_stiffness=(2.0, 2.0, 2.0)), 2.0)
    w = np.sqrt(20.0)
    assert np.abs(r["hinge.angle"] - 10.0 / w * np.sin(w * r.t)).max() < 1e-6


# --- stiff friction -------------------------------------------------------------------------------


def sliding_ball(orientation: str) -> tuple[bl.System, dict[str, float]]:
    s = bl.SymbolicSystem("ball")
    x, y, z = s.coordinates("x y z")
    start = {"x": 0.4, "y": -0.1, "z": 0.3, "touch_i1": 0.0, "touch_j1": 0.4, "touch_j2": -0.1}
    start["touch_i2"] = -np.arctan2(np.cos(0.5), np.sin(0.5))
    if orientation == "euler":
        turned = s.base.euler("ball", "zyx", s.coordinates("a b c"))
        start["b"] = 0.5
    else:
        turned = s.orientation("ball")
        start |= {"ball_e0": np.cos(0.25), "ball_e2": np.sin(0.25)}
    m, r, mu = s.parameters(m=2.0, r=0.3, mu=0.2)
    inertia = 0.4 * m * r**2
    centre = s.origin.offset("C", s.base.vector(x, y, z))
    ball = s.solid("ball", centre, turned, m, inertia=turned.inertia(inertia, inertia, inertia))
    table = s.solid("table", s.origin, s.base, 100.0)
    s.gravity = (0, 0, -9.81)

    def sphere(u, v):
        return r * bl.cos(u) * bl.cos(v), r * bl.sin(u) * bl.cos(v), r * bl.sin(v)

    touch = add_contact(s, "touch", Surface(ball, sphere), Surface(table, lambda u, v: (u, v, 0)))
    add_friction(s, touch, lambda speed: mu, 1e-4)
    return s.equations().system, start


@pytest.mark.parametrize("orientation", ["euler", "quaternion"])
def test_radau_follows_a_ball_from_sliding_to_rolling(orientation):
    system, start = sliding_ball(orientation)
    r = bl.simulate(system, 0.5, q=start, v={"dx": 1.0}, integrator="radau", tolerance=1e-6)
    # it slides for 2/7 v / (μ g), and rolls on with 5/7 of its velocity
    late = 2 / 7 / (0.2 * 9.81)
    way = late - 0.2 * 9.81 * late**2 / 2 + 5 / 7 * (0.5 - late)
    assert r["x"][-1] == pytest.approx(0.4 + way, abs=1e-5)
    assert r["dx"][-1] == pytest.approx(5 / 7, abs=1e-4)
    assert r.statistics.steps < 150


def test_roots_of_sums_of_squares_are_of_numbers_that_are_not_negative():
    # a wheel that rolls: the velocity of its lowest point vanishes, of large parts
    s = bl.SymbolicSystem("wheel")
    x, y, z = s.coordinates("x y z")
    turned = s.orientation("wheel")
    centre = s.origin.offset("C", s.base.vector(x, y, z))
    wheel = s.solid("wheel", centre, turned, 1.0, inertia=turned.inertia(1.0, 1.0, 1.0))
    rim = centre.offset("rim", turned.vector(0, 0, -1))
    speed = velocity_in(s.space.inertial, rim, wheel)
    s.output("as it is", speed.sum_of_squares())
    s.output("mixed", speed.norm2())
    system = s.equations().system
    for off in (0.0, 1e-6):
        q = np.array([0, 0, 1, 1 + off, 0, 0, 0])
        v = np.array([1.0, 0, 0, 0, 1.0, 0])
        clean, mixed = system.evaluate("outputs", q, v)
        assert 0 <= clean <= 1e-10
        assert off == 0.0 or abs(mixed) > 1e-7


def test_what_has_failed_is_not_advised():
    system = bl.formulate(arm())
    results = bl.simulate(system, 0.1)
    for integrator, advised in (("radau", False), ("dormand_prince", True)):
        said = explanation(
            system, STEP_TOO_SMALL, results, system.parameters, integrator=integrator
        )
        assert ("radau" in said) == advised
        assert "a larger tolerance" in said


# --- locked mechanisms ----------------------------------------------------------------------------


def triangle(angle: float = 0.6, first: float = 0.8, second: float = 1.2) -> bl.Model:
    """Two bars and the ground: it cannot move."""
    m = bl.Model("triangle", plane="xz", gravity=(0, 0, -9.81))
    a = m.body("a", mass=1.0, com=(0.5 * first, 0, 0), inertia=(0.1, 0.1, 0.1))
    b = m.body("b", mass=1.0, com=(0.35 * second, 0, 0), inertia=(0.1, 0.1, 0.1))
    down = -np.arcsin(first * np.sin(angle) / second)
    far = first * np.cos(angle) + second * np.cos(down)
    m.joint("revolute", "A", "ground", a.at(0, 0, 0), axis="-y", start=angle)
    m.joint("revolute", "B", a.at(first, 0, 0), b.at(0, 0, 0), axis="-y", start=down - angle)
    m.joint("revolute", "C", b.at(second, 0, 0), m.ground.at(far, 0, 0), axis="-y")
    return m


@pytest.mark.parametrize("how", [{}, {"tolerance": 1e-11}, {"step": 1e-2}], ids=str)
@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
def test_what_cannot_move_has_no_drift_and_no_jump_of_energy(coordinates, how):
    rng = np.random.default_rng(1)
    for _ in range(3):
        m = triangle(rng.uniform(0.3, 0.8), rng.uniform(0.5, 1.0), rng.uniform(1.0, 2.0))
        r = bl.simulate(bl.formulate(m, coordinates), 0.1, **how)
        assert 0 <= r.statistics.energy_drift < 1e-12


def test_what_cannot_move_has_no_drift_in_loops():
    assert looped(triangle(), 0.1).statistics.energy_drift < 1e-12


def test_a_drift_of_what_moves_is_still_told():
    m = arm()
    r = bl.simulate(m, 2.0, step=0.05, integrator="explicit_euler", watch="event")
    total = r["energy"]
    scale = r["kinetic energy"].max() + np.ptp(r["potential energy"])
    assert r.statistics.energy_drift == pytest.approx(np.abs(total - total[0]).max() / scale)
    assert r.statistics.energy_drift > 1e-2


def test_an_actuator_on_what_cannot_move_is_marked_as_indeterminate():
    m = triangle()
    m.force("actuator", "motor", coordinate="A")
    system = bl.formulate(m)
    motion = bl.simulate(system, 0.1, step=1e-2, inputs={"motor": 1.7})
    found = bl.inverse_dynamics(system, motion)
    # any moment does: whatever the motor does not hold, the bars do
    assert (found["indeterminate inputs"] == 1).all()
    assert "motor" in str(found.statistics)
    for moment in (0.0, 1.7):
        held = bl.inverse_dynamics(system, motion, unknown=[], inputs={"motor": moment})
        assert np.abs(held["missing force"]).max() < 1e-9
    assert (held["indeterminate inputs"] == 0).all()


def test_actuators_that_move_something_are_determinate_unless_they_share_it():
    m = arm()
    m.force("actuator", "motor", coordinate="hinge")
    system = bl.formulate(m)
    motion = bl.simulate(system, 0.1, step=1e-2, inputs={"motor": 1.7})
    found = bl.inverse_dynamics(system, motion)
    assert found.u == pytest.approx(1.7, abs=1e-9)
    assert (found["indeterminate inputs"] == 0).all()
    m.force("actuator", "second", coordinate="hinge")
    shared = bl.inverse_dynamics(bl.formulate(m), motion)
    assert shared.u == pytest.approx(0.85, abs=1e-9)
    assert (shared["indeterminate inputs"] == 2).all()


# --- size -----------------------------------------------------------------------------------------

SCALES = [(1e-6, 1e-12, 1e-4), (1e-4, 1, 1), (1, 1e-8, 1), (1, 1, 1e-6), (1e3, 1e6, 10.0)]


@pytest.mark.parametrize("how", [{}, {"step": 2e-3}], ids=str)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_scaled_mechanisms_have_the_same_motion(scale, how):
    L, M, T = scale
    stepped = {name: value * T for name, value in how.items()}
    expected = bl.simulate(four_bar(), 0.5, **how)
    found = bl.simulate(four_bar(L, M, T), 0.5 * T, **stepped)
    assert np.abs(found.q - expected.q).max() < 1e-7


@pytest.mark.parametrize("formulation", ["penalty", "augmented", "augmented3"])
def test_penalties_are_in_proportion_to_the_size_of_a_mechanism(formulation):
    exact = bl.simulate(four_bar(), 0.1, output=2e-3, tolerance=1e-11)
    for L, M, T in [(1, 1, 1), *SCALES]:
        how = {"formulation": formulation, "step": 2e-3 * T}
        if formulation != "augmented3":
            how["options"] = bl.Options(frequency=10 / T)
        found = bl.simulate(four_bar(L, M, T), 0.1 * T, **how)
        assert np.abs(found.q - exact.q).max() < 1e-6
        assert found.statistics.max_constraint_error < 1e-7 * L


def parted_cranks(length: float, mass: float, time: float) -> bl.Model:
    """A parallelogram whose cranks are both driven, by laws that part after the start."""
    L, T = length, time
    m = bl.Model("cranks", plane="xz", gravity=(0, 0, 0))
    moments = (0.1 * mass * L**2,) * 3
    a, b, c = (m.body(n, mass=mass, com=(0.2 * L, 0, 0), inertia=moments) for n in "abc")
    m.joint("revolute", "A", "ground", a.at(0, 0, 0), axis="-y", start=0.8)
    m.joint("revolute", "B", a.at(0.3 * L, 0, 0), b.at(0, 0, 0), axis="-y", start=-0.8)
    m.joint("revolute", "D", m.ground.at(0.5 * L, 0, 0), c.at(0, 0, 0), axis="-y", start=0.8)
    m.joint("revolute", "C", b.at(0.5 * L, 0, 0), c.at(0.3 * L, 0, 0), axis="-y")
    m.driver("rotary", "one", coordinate="A", law=f"0.8 + t/{T}")
    m.driver("rotary", "two", coordinate="D", law=f"0.8 + t/{T} + 0.05*(t/{T})^4")
    return m


@pytest.mark.parametrize("how", [{}, {"step": 1e-2}], ids=str)
@pytest.mark.parametrize("engine", ["unrolled", "looped"])
def test_constraints_that_contradict_each_other_are_told_at_any_size(engine, how):
    for L, M, T in [(1, 1, 1), SCALES[0], SCALES[-1]]:
        stepped = {name: value * T for name, value in how.items()}
        with pytest.raises(SimulationError, match=r"contradict|missed"):
            bl.simulate(parted_cranks(L, M, T), 0.5 * T, engine=engine, **stepped)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_scaled_mechanisms_have_the_same_motion_by_groups(scale):
    L, M, T = scale
    expected = bl.group_simulation(four_bar(), duration=0.5, step=2e-3)
    found = bl.group_simulation(four_bar(L, M, T), duration=0.5 * T, step=2e-3 * T)
    for name in ("a.angle", "b.angle", "c.angle"):
        assert np.abs(found[name] - expected[name]).max() < 1e-7


@pytest.mark.parametrize(
    "how", [{}, {"integrator": "adams"}, {"integrator": "radau"}, {"engine": "looped"}], ids=str
)
def test_a_vibration_of_a_micrometre_is_as_exact_as_one_of_a_metre(how):
    for size in (1.0, 1e-6, 1e-9):
        m = bl.Model("micro", gravity=(0, 0, 0))
        m.body("weight", mass=1e-9)
        m.joint("prismatic", "x", "ground", "weight", axis="x", start=size)
        k = 1e-9 * (2 * np.pi) ** 2
        ends = {"i": m.ground.at(-2 * size, 0, 0), "j": "weight"}
        m.force("spring_damper", "s", **ends, stiffness=k, length=2 * size)
        r = bl.simulate(m, 1.0, **how)
        x = r["weight.rx"] if "engine" in how else r["x.displacement"]
        assert np.abs(x / size - np.cos(2 * np.pi * r.t)).max() < 2e-7


def test_the_inertia_of_a_small_body_beside_its_mass_is_no_zero():
    m = bl.Model("grain", gravity=(0, 0, 0))
    m.body("grain", mass=1e-12, inertia=(2e-26, 2e-26, 2e-26))
    r = bl.simulate(bl.formulate(m, "reference"), 0.1, v={"grain.own_wz": 1.0})
    assert r["grain.own_wz"] == pytest.approx(1.0, abs=1e-12)
    m = bl.Model("needle", gravity=(0, 0, 0))
    m.body("needle", mass=1.0, inertia=(0.0, 1.0, 1.0))
    with pytest.raises(ModelError, match="moves no mass"):
        bl.simulate(bl.formulate(m, "reference"), 0.1)


def row_of(count):
    cell = bl.Model("cell")
    cell.joint("revolute", "j", cell.ground, cell.body("b", mass=1.0), axis="z")
    row = bl.Model("row")
    row.part("cell", cell, count, shift=(1, 0, 0))
    return row


@pytest.mark.parametrize(
    "ask",
    [
        lambda row: bl.simulate(row, duration=0.001, step=0.001),
        lambda row: bl.kinematics(row, 0.01, drives={"cell[0].j": "t"}),
        bl.structural_groups,
        World,
    ],
    ids=["simulate", "kinematics", "structural_groups", "World"],
)
def test_equations_beyond_the_memory_are_refused_before_the_work(ask):
    said = "row: the equations of 9,999,999 bodies would take about 50 GB; the limit is 4 GB: "
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=said):
            ask(row_of(9_999_999))
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_the_equations_of_a_hundred_thousand_bodies_are_within_the_memory(monkeypatch):
    assert World(row_of(100_000)).count == 100_000
    monkeypatch.setenv("BIELA_MEMORY", "0.1")
    with pytest.raises(ModelError, match=r"about 0.5 GB; the limit is 0.1 GB: use fewer"):
        World(row_of(100_000))
