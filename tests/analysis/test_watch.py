"""The watch over runs: energy accounts against closed forms, sabotage, and no false alarms."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis import run as runs
from biela.analysis.looped import dependence
from biela.analysis.watch import Account, Means, energy_fault
from biela.errors import ModelError, SimulationError
from biela.model.denavit_hartenberg import from_dh
from tests.overconstrained import linkage


def pendulum(damping: float = 0.0, torque: bool = False) -> bl.SymbolicSystem:
    s = bl.SymbolicSystem("pendulum")
    (theta,) = s.coordinates("theta")
    arm = s.base.rotated("arm", "z", theta)
    tip = s.origin.offset("tip", arm.vector(0.5, 0, 0))
    bob = s.solid("bob", tip, arm, mass=2.0, inertia=arm.inertia(zz=0.01))
    s.gravity = s.base.vector(0, -9.81, 0)
    if damping or torque:
        dtheta = s.space.time_rate(theta)
        moment = -damping * dtheta
        if torque:
            moment = moment + bl.sin(3 * s.time)
        s.wrench(bob, moment=s.base.vector(0, 0, moment), name="drag")
    s.start(theta=0.3, dtheta=1.0)
    return s


def hanging(size: float = 1.0) -> bl.Model:
    """A four-bar in the plane that swings under its weight; in the same time at any size."""
    m = bl.Model("four-bar")
    m.plane = "xy"
    m.gravity = (0, -9.81 * size, 0)
    stuff, spin = size**3, size**5
    crank = m.body("crank", mass=1.0 * stuff, com=(0.1 * size, 0, 0), inertia=0.01 * spin)
    rod = m.body("rod", mass=2.0 * stuff, com=(0.3 * size, 0, 0), inertia=0.03 * spin)
    rocker = m.body("rocker", mass=1.5 * stuff, com=(0.2 * size, 0, 0), inertia=0.02 * spin)
    m.joint("revolute", "A", m.ground.at(0, 0, 0), crank.at(0, 0, 0), start="80 deg")
    m.joint("revolute", "B", crank.at(0.2 * size, 0, 0), rod.at(0, 0, 0), start="-60 deg")
    m.joint("revolute", "C", rod.at(0.6 * size, 0, 0), rocker.at(0.4 * size, 0, 0))
    m.joint("revolute", "D", m.ground.at(0.5 * size, 0, 0), rocker.at(0, 0, 0), start="70 deg")
    return m


# ------------------------------------------------------------------------------- account


def account(t, kinetic, potential, power, size=1e-2, **more):
    arrays = (np.asarray(x, dtype=float) for x in (t, kinetic, potential, power))
    return Account(*arrays, size, **more)


def test_the_work_of_a_smooth_power_is_found_to_within_its_doubt():
    t = np.linspace(0, 3, 60)
    power = np.cos(4 * t) * np.exp(-0.3 * t)
    exact = np.exp(-0.3 * t) * (4 * np.sin(4 * t) - 0.3 * np.cos(4 * t)) / (16 + 0.09)
    found = account(t, 0 * t, 0 * t, power)
    error = np.abs(np.cumsum(found.work[0]) - (exact[1:] - exact[0]))
    assert (error <= found.doubt[1:]).all()
    assert found.doubt[-1] < 2e-3


def test_the_work_of_a_power_that_jumps_is_within_its_doubt_wherever_it_jumps():
    t = np.linspace(0, 1, 21)
    for jump in np.linspace(0.3, 0.7, 37):
        power = np.where(t > jump, 2.0, 0.0)
        found = account(t, 0 * t, 0 * t, power)
        assert abs(np.sum(found.work[0]) - 2 * (1 - jump)) <= found.doubt[-1]


def test_states_that_events_change_are_no_energy_missing():
    t = np.array([0.0, 0.5, 0.5, 1.0])
    found = account(t, [4.0, 4.0, 1.0, 1.0], 0 * t, 0 * t)
    assert found.drift == 0.0
    assert found.scale == 4.0


def test_energies_that_are_rounding_do_not_drift():
    t = np.linspace(0, 1, 5)
    found = account(t, [0, 1e-30, 0, 2e-30, 0], [10.0, 10.0, 10 + 1.8e-15, 10, 10], 0 * t, 10.0)
    assert found.drift == 0.0
    assert energy_fault(found, None, Means(1e-8, 0.0, 100)) is None


def test_energy_missing_is_measured_by_that_which_takes_part_not_by_that_which_was_made():
    t = np.linspace(0, 1, 5)
    found = account(t, [1.0, 1.0, 1.0, 5e3, 1e4], 0 * t, 0 * t)
    assert found.scale == 1.0
    assert found.drift == pytest.approx(1e4, rel=1e-3)


def test_energy_that_one_interval_loses_is_sure_however_doubtful_the_others_are():
    t = np.linspace(0, 1, 41)
    power = 50.0 * (-1.0) ** np.arange(41)
    power[16:26] = 0.0
    kinetic = np.where(t > t[20], 9.0, 10.0)
    found = account(t, kinetic, 0 * t, power)
    assert found.doubt[-1] > 10.0
    assert found.drift * found.scale == pytest.approx(1.0)


# ----------------------------------------------------------------------------- sabotage


def leaking(monkeypatch: pytest.MonkeyPatch, after: float, factor: float) -> None:
    """Let every run scale its velocities where it passes a time, as a wrong step would."""
    store = runs.Run._store

    def spoilt(self, times, states, inputs):
        if len(times):
            nq = len(self.system.q)
            states = states.copy()
            states[times > after, nq:] *= factor
        store(self, times, states, inputs)

    monkeypatch.setattr(runs.Run, "_store", spoilt)


@pytest.mark.parametrize("stepping", [{}, {"step": 1e-3}, {"step": 2e-3}])
def test_a_jump_of_the_velocities_is_an_error_that_names_when_and_who(monkeypatch, stepping):
    leaking(monkeypatch, 0.5, 1.001)
    with pytest.raises(SimulationError, match="energy jumps") as caught:
        bl.simulate(pendulum(), 1.0, **stepping)
    said, results = str(caught.value), caught.value.results
    assert "dtheta" in said
    assert "Likely cause" in said
    assert results.t[-1] == pytest.approx(0.5, abs=0.011)


def test_a_jump_beside_work_of_forces_is_an_error_too(monkeypatch):
    bl.simulate(pendulum(0.2, torque=True), 1.0)
    leaking(monkeypatch, 0.5, 1.01)
    with pytest.raises(SimulationError, match="the energy"):
        bl.simulate(pendulum(0.2, torque=True), 1.0)


def test_the_error_becomes_an_event_if_that_is_asked_for(monkeypatch):
    leaking(monkeypatch, 0.5, 1.001)
    r = bl.simulate(pendulum(), 1.0, step=1e-3, watch="event")
    assert r.t[-1] == 1.0
    (event,) = r.events
    assert event.time == pytest.approx(0.5, abs=2e-3)
    assert "energy jumps" in event.name
    assert r.statistics.events == 1


def test_another_answer_of_the_watch_is_refused():
    with pytest.raises(ModelError, match="watch is 'error' or 'event', not 'off'"):
        bl.simulate(pendulum(), 1.0, watch="off")


def test_a_slow_leak_that_shorter_steps_do_not_heal_is_an_error(monkeypatch):
    """Forces that take energy, with none of it in the account."""
    s = pendulum(damping=1e-3).equations().system
    silent = s["power"]
    monkeypatch.setattr(type(silent), "walk_map", _without_power(type(silent).walk_map))
    for stepping in ({"step": 1e-3}, {}):
        with pytest.raises(SimulationError, match="energy"):
            bl.simulate(s, 2.0, **stepping)


def _without_power(ordinary):
    def found(self, *given, **more):
        values = ordinary(self, *given, **more)
        return 0 * values if "power" in self.name else values

    return found


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
@pytest.mark.parametrize("size", [1.0, 1e-5])
def test_a_constraint_that_is_left_between_two_looks_is_an_error(monkeypatch, size, coordinates):
    """By a thousandth of the mechanism, of whatever size."""
    store = runs.Run._store
    system = bl.formulate(hanging(size), coordinates)
    far = 1e-3 * (size if system.q[0].unit == "m" else 1.0)

    def spoilt(self, times, states, inputs):
        states = states.copy()
        states[(times > 0.3) & (times < 0.32), 0] += far
        store(self, times, states, inputs)

    bl.simulate(system, 0.5, step=1e-3)
    monkeypatch.setattr(runs.Run, "_store", spoilt)
    with pytest.raises(SimulationError, match=r"constraint .* is missed by .* at t = 0\.30") as no:
        bl.simulate(system, 0.5, step=1e-3)
    assert no.value.results.t[-1] == pytest.approx(0.3, abs=2e-3)


@pytest.mark.parametrize("size", [1.0, 1e-5])
@pytest.mark.parametrize("event", [False, True])
def test_velocities_that_leave_the_constraints_are_an_error(monkeypatch, size, event):
    """Too little for the energy to tell; after an event too."""
    m = hanging(size)
    if event:
        m.force("stop", "end", coordinate="A", stiffness=1e-30, lower=1.0)
    system = bl.formulate(m, "reference")
    projected, nq = runs.Run._projected, len(system.q)

    def spoilt(self, kernels, t, states, held):
        found = projected(self, kernels, t, states, held).copy()
        found[(t > 0.3) & (t < 0.32), nq] += 5e-3 * size
        return found

    how = {"on_event": {"end.lower": lambda t, q, v: (q, -0.9 * v)}} if event else {}
    assert len(bl.simulate(system, 0.5, step=1e-3, **how).events) == event
    monkeypatch.setattr(runs.Run, "_projected", spoilt)
    with pytest.raises(SimulationError, match=r"the rate of constraint .* t = 0\.30"):
        bl.simulate(system, 0.5, step=1e-3, **how)


@pytest.mark.parametrize("watch", ["error", "event"])
def test_stored_states_that_are_no_numbers_are_never_given_without_a_word(monkeypatch, watch):
    projected = runs.Run._projected

    def spoilt(self, kernels, t, states, held):
        found = projected(self, kernels, t, states, held).copy()
        found[t > 0.3, 1] = np.nan
        return found

    system = bl.formulate(hanging(), "reference")
    monkeypatch.setattr(runs.Run, "_projected", spoilt)
    said = r"crank\.ry is nan at t = 0\.301 s\. Likely cause"
    if watch == "event":
        r = bl.simulate(system, 0.5, step=1e-3, watch="event")
        assert [bool(re.search(said, event.name)) for event in r.events] == [True]
        return
    with pytest.raises(SimulationError, match=said) as caught:
        bl.simulate(system, 0.5, step=1e-3)
    assert np.isfinite(caught.value.results.q).all()


def free_bennett() -> bl.Model:
    """The gallery's linkage without its driver."""
    m = bl.load(Path("examples/mechanisms/bennett.toml"))
    m.drivers.clear()
    return m


@pytest.mark.parametrize(
    ("make", "duration", "step"),
    [
        (free_bennett, 0.5, 1e-3),
        (free_bennett, 0.4, 2e-3),
        (lambda: linkage("goldberg", 2), 1.0, 2e-3),
        (lambda: linkage("bricard_plane", 1), 0.4, 5e-3),
    ],
)
def test_large_mechanisms_with_dependent_constraints_are_never_silently_wrong(
    make, duration, step, monkeypatch
):
    """Where ranks are not known, rows are dropped by a threshold, and long steps choose wrongly."""
    monkeypatch.setattr(dependence, "MOST", 1)
    m = make()
    try:
        r = bl.simulate(m, duration, step=step, engine="looped", watch="event")
    except SimulationError as error:
        assert "is missed by" in str(error)  # a constraint does not hold, which is never an event
        assert error.results.t[-1] < duration
        return
    scale = r["kinetic energy"][0] + np.ptp(r["potential energy"])
    wrong = np.abs(r["energy"] - r["energy"][0]).max() > 1e-3 * scale
    assert "too large for their number to be found" in r.events[0].name
    assert wrong == bool(r.events[1:])
    if wrong:
        with pytest.raises(SimulationError, match="constraints depend on the others") as caught:
            bl.simulate(m, duration, step=step, engine="looped")
        sound = caught.value.results
        assert sound.t[-1] < duration
        assert np.abs(sound["energy"] - sound["energy"][0]).max() < 1e-3 * scale


def test_a_wrong_step_of_a_large_mechanism_is_an_error(monkeypatch):
    from biela.analysis.looped import simulation as looped

    made = looped.SimulatedMotion.__init__

    def spoilt(self, motion, t, states, u):
        states = states.copy()
        if len(t) > 100:
            states[t > 0.25, motion.blocks.nq :] *= 1.001
        made(self, motion, t, states, u)

    monkeypatch.setattr(looped.SimulatedMotion, "__init__", spoilt)
    with pytest.raises(SimulationError, match="the energy is wrong from t = ") as caught:
        bl.simulate(hanging(), 0.5, step=1e-3, engine="looped")
    assert caught.value.results.t[-1] == pytest.approx(0.25, abs=2e-3)
    r = bl.simulate(hanging(), 0.5, step=1e-3, engine="looped", watch="event")
    assert any("the energy is wrong" in event.name for event in r.events)


def test_velocities_of_a_large_mechanism_that_leave_its_constraints_are_an_error(monkeypatch):
    from biela.analysis.looped import simulation as looped

    made = looped.SimulatedMotion.__init__

    def spoilt(self, motion, t, states, u):
        states = states.copy()
        if len(t) > 100:
            states[t > 0.25, motion.blocks.nq] += 5e-3
        made(self, motion, t, states, u)

    monkeypatch.setattr(looped.SimulatedMotion, "__init__", spoilt)
    with pytest.raises(SimulationError, match=r"the rate of constraint [AB]\.") as caught:
        bl.simulate(hanging(), 0.5, step=1e-3, engine="looped")
    assert caught.value.results.t[-1] == pytest.approx(0.25, abs=0.06)


# -------------------------------------------------------------------- steps that are too long


def test_a_step_that_is_too_long_is_told_with_one_that_suits():
    """Explicit Euler gains energy: that is what the method does, and no error."""
    r = bl.simulate(pendulum(), 2.0, step=2e-3, integrator="explicit_euler")
    (event,) = r.events
    assert "the step is too long" in event.name
    step = float(event.name.rpartition("step=")[2])
    assert step < 2e-3
    better = bl.simulate(pendulum(), 2.0, step=step, integrator="explicit_euler")
    assert not better.events


def test_a_motion_made_by_its_step_alone_is_an_error():
    with pytest.raises(SimulationError, match=r"far too long\. Try step="):
        bl.simulate(pendulum(), 20.0, step=0.05, integrator="explicit_euler")


# ------------------------------------------------------------------------------- not to be told


def test_energies_that_are_no_numbers_are_told():
    t = np.linspace(0, 1, 5)
    found = account(t, [1.0, 1.0, 1.0, 1.0, 1.0], [0, 0, np.nan, 0, 0], 0 * t)
    fault = energy_fault(found, None, Means(1e-8, 0.0, 100))
    assert not fault.wrong
    assert "the potential energy is nan at t = 0.5 s" in fault.said


@pytest.mark.parametrize("tolerance", [0.0, 1e-8])
def test_work_that_no_look_explains_is_told(tolerance):
    """Every interval that is seen closely tells its work, but there are too many of them."""
    t = np.linspace(0, 1, 401)
    power = 1 + 0 * t  # always seen at the same phase of something quick
    kinetic = 2.0 - t
    found = account(t, kinetic, 0 * t, power)

    class Seen:
        """Nothing is missing in an interval that is seen closely."""

        def __init__(self, k=0):
            self.k, self.t = k, np.linspace(t[k], t[k + 1], 5)

        def energies(self):
            return np.interp(self.t, t, kinetic), np.zeros(5)

        def power(self):
            return np.full(5, -1.0)

        def carried_power(self):
            return None

        def size(self):
            return 1.0

        def accelerations(self):
            return np.array([[0.0], [1.0], [0.0], [1.0], [0.0]])

        def sensitivity(self, rows):
            return np.ones(len(rows))

    class Whole(Seen):
        def __init__(self):
            self.t = t

        def energies(self):
            return kinetic, 0 * t

        def power(self):
            return power

    looked = []

    def replay(k, finer):
        looked.append(k)
        return Seen(k)

    means = Means(tolerance, 0.0 if tolerance else 1e-3, 1000, replay=replay)
    fault = energy_fault(found, Whole(), means)
    assert not fault.wrong
    assert "cannot be told" in fault.said
    assert "Store more" in fault.said
    assert len(set(looked)) >= 64


# ------------------------------------------------------------------------- no false alarms


@pytest.mark.parametrize("output", [None, 0.05, 0.7, 2.0])
@pytest.mark.parametrize("stepping", [{}, {"step": 1e-2}, {"integrator": "radau"}])
def test_work_between_outputs_that_are_far_apart_is_no_fault(output, stepping):
    r = bl.simulate(pendulum(0.3, torque=True), 14.0, output=output, **stepping)
    assert not r.events


@pytest.mark.parametrize(
    "method", ["semi_implicit_euler", "heun", "rk4", "nystrom", "trapezoidal", "second_order_euler"]
)
def test_ordinary_methods_raise_no_alarm(method):
    """Methods of first order lose some 0.1 % in a millisecond."""
    step = 1e-4 if method.endswith("euler") else 1e-3
    r = bl.simulate(pendulum(0.1), 3.0, step=step, integrator=method)
    assert not r.events


@pytest.mark.parametrize(
    "formulation",
    ["multipliers", "baumgarte", "penalty", "augmented", "index2", "index3", "augmented3",
     "generalised_alpha", "null_space"],
)  # fmt: skip
def test_no_formulation_raises_an_alarm(formulation):
    r = bl.simulate(hanging(), 0.5, step=1e-3, formulation=formulation)
    assert not r.events


def ball(k: float, c: float) -> bl.SymbolicSystem:
    """A ball that falls on a stiff floor."""
    s = bl.SymbolicSystem("ball")
    (y,) = s.coordinates("y")
    dy = s.space.time_rate(y)
    body = s.solid("ball", s.origin.offset("c", s.base.vector(0, y, 0)), s.base, mass=1.0)
    s.gravity = s.base.vector(0, -9.81, 0)
    depth = bl.maximum(-y, 0.0)
    s.wrench(body, force=s.base.vector(0, k * depth - c * depth * dy, 0), name="floor")
    s.start(y=1.0)
    return s


@pytest.mark.parametrize(
    "stepping", [{}, {"tolerance": 1e-5}, {"integrator": "radau"}, {"step": 1e-4}, {"step": 1e-3}]
)
def test_stiff_contacts_raise_no_alarm(stepping):
    bl.simulate(ball(1e5, 1e3), 2.0, **stepping)


def test_restitution_at_events_raises_no_alarm():
    s = bl.SymbolicSystem("ball")
    (y,) = s.coordinates("y")
    s.solid("ball", s.origin.offset("c", s.base.vector(0, y, 0)), s.base, mass=1.0)
    s.gravity = s.base.vector(0, -9.81, 0)
    s.event("hit", y)
    s.start(y=1.0)
    r = bl.simulate(s, 1.5, on_event={"hit": lambda t, q, v: (q, -0.7 * v)})
    assert {event.name for event in r.events} == {"hit"}
    assert r.statistics.energy_drift < 1e-7


def test_a_sampled_controller_raises_no_alarm():
    s = bl.SymbolicSystem("cart")
    (x,) = s.coordinates("x")
    (force,) = s.inputs("force")
    body = s.solid("cart", s.origin.offset("c", s.base.vector(x, 0, 0)), s.base, mass=1.0)
    s.wrench(body, force=s.base.vector(force, 0, 0), name="motor")
    s.start(x=1.0)
    law = {"control": lambda t, q, v: [np.sign(-q[0] - v[0])], "sample_time": 0.05}
    for stepping in ({"step": 1e-2}, {"output": 0.13}):
        assert not bl.simulate(s, 5.0, **law, **stepping).events


def test_coordinates_that_contain_a_motion_raise_no_alarm():
    """A bead on a hoop that turns steadily: what turns it does work that is in no row."""
    s = bl.SymbolicSystem("hoop")
    (theta,) = s.coordinates("theta")
    hoop = s.base.rotated("hoop", "y", 7.0 * s.time)
    place = hoop.vector(bl.sin(theta), -bl.cos(theta), 0)
    s.solid("bead", s.origin.offset("bead", place), s.base, mass=1.0)
    s.gravity = s.base.vector(0, -9.81, 0)
    s.start(theta=0.3)
    for stepping in ({}, {"step": 1e-3}):
        r = bl.simulate(s, 2.0, **stepping)
        assert np.ptp(r["energy"]) > 1.0
        assert not r.events


# ------------------------------------------------------------------------------- robots


@pytest.mark.parametrize("lowering", ["unrolled", "looped"])
def test_motions_of_robots_are_watched(lowering):
    m = from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], masses=[2.0, 1.0])
    m.gravity = (0, -9.81, 0)
    robot = bl.Robot(m, lowering=lowering)
    for stepping in ({}, {"step": 1e-3}):
        for forces in ([0.0, 0.0], [4.0, -1.0]):
            assert not robot.simulate(1.0, inputs=forces, **stepping).events
    coarse = {"step": 1e-2, "integrator": "explicit_euler"}
    with pytest.raises(SimulationError, match=r"far too long\. Try step=") as caught:
        robot.simulate(2.0, **coarse)
    sound = np.ptp(caught.value.results["energy"])
    whole = robot.simulate(2.0, **coarse, watch="event")
    assert np.ptp(whole["energy"]) > 10 * sound
    assert len(whole.events) == whole.statistics.events == 1


# ------------------------------------------------------------------------------ rollouts


def arm() -> bl.Robot:
    m = from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], masses=[2.0, 1.0])
    m.gravity = (0, -9.81, 0)
    return bl.Robot(m)


def test_rollouts_tell_which_motions_lose_their_energy():
    robot = arm()
    q0 = np.zeros((2, 2))
    v0 = np.array([[0.5, 0.0], [40.0, -60.0]])
    r = robot.rollout(q0, v0, dt=2e-2, steps=150)
    assert r.finite.all()
    energy = [sum(robot.energy(q, v)) for q, v in zip(r.q, r.v, strict=True)]
    lost = [np.abs(e - e[0]).max() for e in energy]
    assert r.energy_error[0] < 1e-4
    assert r.energy_error[1] > 0.05
    assert lost[1] > 10
    assert r.sound.tolist() == [True, False]
    assert "1 with wrong energy" in repr(r)
    fine = robot.rollout(q0, v0, dt=2e-2, steps=150, substeps=40)
    assert fine.sound.all()
    assert fine.energy_error.max() < 1e-6


def test_rollouts_tell_which_motions_start_with_open_loops():
    """A coupler longer by 1 % does not fit the start, nor does a rate that opens the loop."""
    m = bl.Model("four-bar", plane="xz")
    m.parameter("l", 0.4)
    a, b, c = (m.body(n, mass=1.0, com=(0.1, 0, 0), inertia=0.02) for n in "abc")
    m.joint("revolute", "A", m.ground, a, axis="y", start=0.5)
    m.joint("revolute", "B", a.at(0.15, 0, 0), b, axis="y", start=0.3)
    m.joint("revolute", "C", b.at("l", 0, 0), c.at(0.3, 0, 0), axis="y")
    m.joint("revolute", "D", m.ground.at(0.35, 0, 0), c, axis="y", start=-1.0)
    robot = bl.Robot(m)
    q = robot.assemble()
    v = robot.project(q, np.ones(robot.nv))
    r = robot.rollout(q, v, dt=1e-3, steps=100, parameters={"l": np.array([0.4, 0.404])})
    assert r.finite.all()
    assert r.closure_error[0] < 1e-9
    assert 0.0039 < r.closure_error[1] * np.abs(robot.closure_jacobian(q)).max() < 0.006
    assert r.sound.tolist() == [True, False]
    assert "1 with open loops" in repr(r)
    off = robot.rollout(q, np.stack([v, v + np.array([0.3, 0, 0])]), dt=1e-3, steps=100)
    assert off.sound.tolist() == [True, False]


def test_the_work_of_held_joint_forces_counts_in_rollouts():
    robot = arm()
    r = robot.rollout(np.zeros(2), inputs=np.array([8.0, -1.0]), dt=1e-2, steps=200, substeps=4)
    kinetic, potential = robot.energy(r.q[0], r.v[0])
    assert np.ptp(kinetic + potential) > 1.0
    assert r.energy_error[0] < 1e-5
    spoilt = replace(r, tau=0.9 * r.tau)
    assert spoilt.energy_error[0] > 0.01


# ------------------------------------------------------------------- forces between instants


def struck(push: float, width: float, when: float) -> bl.Model:
    """A pendulum that a force strikes for a short time."""
    m = bl.Model("struck", plane="xz")
    arm = m.body("arm", mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "A", m.ground, arm, axis="y", start=0.3)
    law = f"{push}*exp(-((t - {when})/{width})**2)"
    m.force("wrench", "blow", marker=arm.at(0.3, 0, 0), fz=law)
    return m


@pytest.mark.parametrize("engine", [None, "looped"])
@pytest.mark.parametrize(
    ("push", "width", "when", "how"),
    [
        (1e4, 1e-3, 0.5013, {"step": 1e-2}),
        (1e4, 1e-3, 0.5, {"step": 1e-2}),
        (1e5, 1e-4, 0.5, {"step": 1e-3}),
        (1e5, 1e-4, 0.5, {}),
        (1e5, 1e-4, 0.5, {"output": 0.1}),
    ],
)
def test_a_blow_shorter_than_a_step_is_told(push, width, when, how, engine):
    # its power shows at one stored instant only, and nothing else does
    truth = bl.simulate(struck(push, width, when), 1.0, step=width / 20, output=0.1)
    try:
        results = bl.simulate(struck(push, width, when), 1.0, engine=engine, **how)
    except SimulationError as error:
        assert "energy" in str(error)
        assert error.results.t[-1] <= when
    else:
        found = results["A.angle"][-1] if "A.angle" in results else results["arm.angle"][-1]
        assert not how or "output" in how  # adaptive steps stop where it begins
        assert abs(abs(found) - abs(truth["A.angle"][-1])) < 1e-3


def cart(law: object) -> bl.Model:
    """A mass of 1 kg at rest on a slide."""
    m = bl.Model("cart")
    m.gravity = (0, 0, 0)
    body = m.body("body", mass=1.0, inertia=1e-3)
    m.joint("prismatic", "X", m.ground, body, axis="x")
    m.force("wrench", "push", marker=body, fx=law)
    return m


def polygon(times: list[float], values: list[float]) -> dict[str, object]:
    return {"times": times, "values": values, "interpolation": "linear"}


#: A force, the duration, and its impulse: the velocity that it gives to 1 kg.
PUSHES = {
    "blow": ("1000*exp(-((t - 0.5)/0.001)^2)", 1.0, np.sqrt(np.pi)),
    "short blow": ("1e5*exp(-((t - 0.5003)/1e-5)^2)", 1.0, np.sqrt(np.pi)),
    "box": ("500*(sign(t - 0.5) - sign(t - 0.501))", 1.0, 1.0),
    "late": (polygon([0, 60, 61, 79, 80, 100], [0, 0, 1, 1, 0, 0]), 100.0, 19.0),
    "early": (polygon([0, 2, 2.1, 2.9, 3, 100], [0, 0, 1, 1, 0, 0]), 100.0, 0.9),
    "triangle": (polygon([0, 0.4, 0.5, 0.6, 2], [0, 0, 1, 0, 0]), 2.0, 0.1),
    "peak": (polygon([0, 0.4995, 0.5, 0.5005, 2], [0, 0, 1000, 0, 0]), 2.0, 0.5),
}


@pytest.mark.parametrize(
    "how",
    [{}, {"integrator": "adams"}, {"integrator": "radau"}, {"engine": "looped"}, {"instants": 4}],
    ids=str,
)
@pytest.mark.parametrize("push", PUSHES)
def test_an_adaptive_run_passes_no_force_on_a_body_at_rest(push, how):
    law, duration, impulse = PUSHES[push]
    how = {k: v for k, v in how.items() if k != "instants"} | (
        {"output": duration / 4} if "instants" in how else {}
    )
    r = bl.simulate(cart(law), duration, **how)
    assert r.v[-1][0] == pytest.approx(impulse, rel=1e-6)
    assert not r.events


def test_stops_are_those_of_the_parameters_given():
    m = cart("1e5*exp(-((t - when)/1e-5)^2)")
    m.parameters["when"] = 9.0
    for model in (m, bl.formulate(m)):
        r = bl.simulate(model, 10.0, parameters={"when": 3.0})
        assert r.v[-1][0] == pytest.approx(np.sqrt(np.pi), rel=1e-6)


@pytest.mark.parametrize("engine", [None, "looped"])
@pytest.mark.parametrize("push", PUSHES)
def test_fixed_steps_follow_a_force_or_tell(push, engine):
    law, duration, impulse = PUSHES[push]
    try:
        r = bl.simulate(cart(law), duration, step=1e-3, output=duration / 4, engine=engine)
    except SimulationError as error:
        assert "energy" in str(error)
        return
    if abs(r.v[-1][0] - impulse) > 1e-3 * impulse:
        assert "acts from t =" in r.events[0].name


def test_a_loose_tolerance_is_told():
    r = bl.simulate(hanging(), 5.0, tolerance=1e-3)
    T, E = r["kinetic energy"], r["energy"]
    assert np.ptp(E) > 2e-3 * (T[0] + np.ptp(r["potential energy"]))
    assert "the tolerance is too large" in r.events[0].name


def test_times_with_units_are_refused_in_words():
    with pytest.raises(ModelError, match="step is a number of seconds, not '1 ms'"):
        bl.simulate(hanging(), 1.0, step="1 ms")


@pytest.mark.parametrize("how", [{}, {"output": 0.1}, {"step": 1e-4}])
def test_a_blow_that_the_steps_follow_is_no_fault(how):
    truth = bl.simulate(struck(1e4, 1e-3, 0.5013), 1.0, step=2e-5, output=0.1)
    results = bl.simulate(struck(1e4, 1e-3, 0.5013), 1.0, **how)
    assert not results.events
    assert results["A.angle"][-1] == pytest.approx(truth["A.angle"][-1], abs=1e-5)


# ------------------------------------------------------------------------ singular positions


@pytest.mark.parametrize("step", [None, 5e-3, 2e-3, 1e-3])
@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural", "looped"])
def test_a_parallelogram_passes_its_flat_position_or_tells(coordinates, step):
    # it swings through the line in which it could become an antiparallelogram
    m = linkage("parallelogram", 0)
    m.joints["j0"] = replace(m.joints["j0"], rates={"angle": 0.8217697})
    how = {"step": step, "output": 0.01, "progress": False}
    try:
        if coordinates == "looped":
            r = bl.simulate(m, 10.0, engine="looped", **how)
        else:
            r = bl.simulate(bl.formulate(m, coordinates), 10.0, **how)
    except SimulationError as error:
        assert "energy" in str(error) or "missed" in str(error)
        return
    E, T = r["energy"], r["kinetic energy"]
    jumps = np.abs(np.diff(E)) / T.max()
    if jumps.max() > 1e-6:
        assert any("singular position is passed" in e.name or "step" in e.name for e in r.events)


def test_a_motion_that_passes_no_singular_position_tells_nothing():
    r = bl.simulate(hanging(), 5.0, step=5e-3)
    assert not r.events
