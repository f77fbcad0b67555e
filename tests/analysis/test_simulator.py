"""Runs of the simulator: output, events, controllers, friction, interrupts.

What is expected has a closed form everywhere: falling and bouncing bodies, a linear oscillator and
its exact discretisation, a block on a slope, a brake.
"""

from __future__ import annotations

import _thread
import math
import signal
import threading

import numba
import numpy as np
import pytest
from scipy.linalg import expm

import biela as bl
from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine
from biela.errors import ModelError, ShapeError, SimulationError
from examples.mechanisms import simple_pendulum, slider_crank
from tests.routines_in_c import compile_c

GRAVITY = 9.81

#: Ways to step that hold a polynomial of degree two without error.
STEPPING = {
    "rk4": {"step": 1e-2},
    "heun": {"step": 1e-2, "integrator": "heun"},
    "trapezoidal": {"step": 1e-2, "integrator": "trapezoidal"},
    "dormand_prince": {"tolerance": 1e-10},
    "adams": {"tolerance": 1e-10, "integrator": "adams"},
    "radau": {"tolerance": 1e-10, "integrator": "radau"},
}
each_stepping = pytest.mark.parametrize("stepping", STEPPING.values(), ids=STEPPING.keys())
fixed_and_adaptive = pytest.mark.parametrize(
    "stepping", [{"step": 1e-3}, {"tolerance": 1e-11}], ids=["fixed", "adaptive"]
)


def ball() -> bl.SymbolicSystem:
    """A ball that falls from 1 m and drifts to the side; its event is the ground."""
    s = bl.SymbolicSystem("ball")
    x, z = s.coordinates("x z")
    m, g = s.parameters(m=2.0, g=GRAVITY)
    s.solid("ball", at=s.origin.offset("P", s.base.vector(x, 0, z)), base=s.base, mass=m)
    s.gravity = s.base.vector(0, 0, -g)
    s.start(z=1.0, dx=0.5)
    s.event("ground", z)
    return s


def oscillator() -> bl.SymbolicSystem:
    """A mass on a spring and a damper, 2 x'' + 0.4 x' + 3 x = F, from x = 1 at rest."""
    s = bl.SymbolicSystem("oscillator")
    (x,) = s.coordinates("x")
    m, c, k = s.parameters(m=2.0, c=0.4, k=3.0)
    (F,) = s.inputs("F")
    body = s.solid("body", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=m)
    s.wrench(body, s.base.vector(F - k * x - c * x.velocity, 0, 0))
    s.start(x=1.0)
    return s


def free_motion(t, m=2.0, c=0.4, k=3.0, F=0.0):
    """Position of the oscillator under a constant force."""
    rest, decay = F / k, c / (2 * m)
    omega = math.sqrt(k / m - decay**2)
    swing = np.cos(omega * t) + decay / omega * np.sin(omega * t)
    return rest + (1 - rest) * np.exp(-decay * t) * swing


# -------------------------------------------------------------------------------- output


def test_a_step_that_does_not_divide_the_duration_is_refused_with_one_that_would():
    with pytest.raises(ShapeError, match=r"0\.03 s does not divide 1\.0 s; 0\.0303\d* s would"):
        bl.simulate(oscillator(), 1.0, step=0.03)
    with pytest.raises(ShapeError, match=r"does not divide|is no multiple of the step"):
        bl.simulate(oscillator(), 1.0, step=0.01, output=0.025)


def test_a_step_longer_than_the_duration_is_refused():
    with pytest.raises(ShapeError, match=r"does not divide|is no multiple of the step"):
        bl.simulate(oscillator(), 1.0, step=3.0)


@fixed_and_adaptive
def test_output_times_are_multiples_of_the_interval_from_the_start(stepping):
    r = bl.simulate(oscillator(), 2.0, t=5.0, output=0.25, **stepping)
    np.testing.assert_allclose(r.t, 5.0 + 0.25 * np.arange(9), rtol=1e-15)
    np.testing.assert_allclose(r["x"], free_motion(r.t - 5.0), atol=1e-9)


def test_an_adaptive_run_ends_at_its_duration_even_if_the_output_does_not_divide_it():
    r = bl.simulate(oscillator(), 1.0, tolerance=1e-10, output=0.3)
    np.testing.assert_allclose(r.t, [0, 0.3, 0.6, 0.9, 1.0], rtol=1e-15)
    np.testing.assert_allclose(r["x"], free_motion(r.t), atol=1e-8)


def test_a_fixed_step_run_stores_every_step_unless_they_are_many():
    assert len(bl.simulate(oscillator(), 1.0, step=1e-2)) == 101
    many = bl.simulate(oscillator(), 9.001, step=1e-3)
    assert len(many) <= 2001
    assert many.t[-1] == pytest.approx(9.001, rel=1e-15)
    np.testing.assert_allclose(many["x"], free_motion(many.t), atol=1e-9)


def test_an_adaptive_run_stores_500_instants_and_the_start():
    assert len(bl.simulate(oscillator(), 7.0)) == 501


def test_a_run_from_one_state_may_be_cut_into_two():
    simulator = bl.Simulator(slider_crank.slider_crank())
    whole = simulator.run(0.2, step=1e-3)
    first = simulator.run(0.1, step=1e-3)
    second = simulator.run(0.1, step=1e-3, t=0.1, q=first.q[-1], v=first.v[-1], assemble=False)
    np.testing.assert_allclose(second.q[-1], whole.q[-1], rtol=1e-12)
    np.testing.assert_allclose(second.v[-1], whole.v[-1], rtol=1e-11)


# -------------------------------------------------------------------------- values by name


def test_parameters_inputs_and_start_are_given_by_name_or_in_order():
    t = 1.7
    by_name = bl.simulate(
        oscillator(), t, parameters={"k": 5.0, "c": 0.1}, inputs={"F": 2.0}, step=1e-3
    )
    in_order = bl.simulate(oscillator(), t, parameters=[2.0, 0.1, 5.0], inputs=[2.0], step=1e-3)
    expected = free_motion(t, c=0.1, k=5.0, F=2.0)
    assert by_name["x"][-1] == pytest.approx(expected, abs=1e-11)
    np.testing.assert_array_equal(in_order.q, by_name.q)
    np.testing.assert_array_equal(by_name["F"], 2.0)

    started = bl.simulate(oscillator(), 1e-3, q={"x": 0.25}, v={"dx": -3.0}, step=1e-3)
    assert (started["x"][0], started["dx"][0]) == (0.25, -3.0)


def test_a_start_asked_for_in_the_call_wins_over_that_of_the_model():
    theta, omega = 1.0, 3.0
    q, v = slider_crank.closed_form(theta, omega)
    r = bl.simulate(
        slider_crank.slider_crank(), 1e-3, q={"theta": theta}, v={"dtheta": omega}, step=1e-3
    )
    np.testing.assert_allclose(r.q[0], q, atol=1e-10)
    np.testing.assert_allclose(r.v[0], v, atol=1e-10)


def test_what_is_compiled_for_one_run_serves_the_next_with_other_values():
    simulator = bl.Simulator(oscillator())
    for k in (1.0, 3.0, 8.0):
        r = simulator.run(2.0, step=1e-3, parameters={"k": k})
        assert r["x"][-1] == pytest.approx(free_motion(2.0, k=k), abs=1e-11)


# ------------------------------------------------------------------------------ statistics


def test_the_statistics_of_a_fixed_step_run_count_steps_and_evaluations():
    s = bl.simulate(oscillator(), 2.0, step=1e-2).statistics
    assert (s.steps, s.failed_steps, s.evaluations) == (200, 0, 800)
    assert (s.method, s.integrator) == ("multipliers", "rk4, 0.01 s")
    assert s.time_simulated == pytest.approx(2.0)
    assert 0 < s.time_integration < s.time_total
    heun = bl.simulate(oscillator(), 2.0, step=1e-2, integrator="heun").statistics
    assert heun.evaluations == 400


def test_the_statistics_of_an_adaptive_run_count_failed_steps_too():
    # the spring is struck at half time: the step in use then is too long
    s = bl.SymbolicSystem("struck")
    (x,) = s.coordinates("x")
    body = s.solid("body", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=1.0)
    s.wrench(body, s.base.vector(1e3 * bl.exp(-(((s.time - 1.0) / 0.01) ** 2)) - x, 0, 0))
    s.start(x=1.0)
    found = bl.simulate(s, 2.0, tolerance=1e-9).statistics
    assert found.failed_steps > 0
    # six stages, the first of them saved from the step before
    tried = 6 * (found.steps + found.failed_steps)
    assert tried <= found.evaluations <= tried + 3
    implicit = bl.simulate(oscillator(), 2.0, integrator="radau").statistics
    assert implicit.jacobians > 0
    assert implicit.factorisations > 0


# ---------------------------------------------------------------------------------- events


@each_stepping
def test_an_event_is_located_to_a_picosecond(stepping):
    r = bl.simulate(ball(), 1.0, **stepping)
    (event,) = r.events
    assert (event.name, event.direction) == ("ground", -1)
    assert event.time == pytest.approx(math.sqrt(2 / GRAVITY), abs=1e-12, rel=0)
    # without a reaction the ball goes on through the ground
    assert r.t[-1] == 1.0
    assert r["z"][-1] == pytest.approx(1 - GRAVITY / 2, abs=1e-10)
    assert r.statistics.events == 1


@each_stepping
def test_every_output_time_is_stored_around_an_event(stepping):
    r = bl.simulate(ball(), 1.0, output=0.02, **stepping)
    assert (np.diff(r.t) >= 0).all()
    grid = 0.02 * np.arange(51)
    assert np.abs(r.t[None, :] - grid[:, None]).min(axis=1).max() < 1e-12
    assert len(r) == 52  # and the event itself
    np.testing.assert_allclose(r["z"], 1 - GRAVITY * r.t**2 / 2, atol=1e-9)


@each_stepping
def test_a_bouncing_ball_bounces_at_the_times_of_its_closed_form(stepping):
    """Speed e^k √(2 g h) after the k-th bounce, which takes 2 e^k √(2 h/g) to the next."""
    e = 0.8
    r = bl.simulate(
        ball(), 3.0, on_event={"ground": lambda t, q, v: (q, [v[0], -e * v[1]])}, **stepping
    )
    first = math.sqrt(2 / GRAVITY)
    times = first + np.concatenate([[0.0], 2 * first * np.cumsum(e ** np.arange(1.0, 6))])
    np.testing.assert_allclose([event.time for event in r.events], times, rtol=0, atol=1e-11)
    # the sixth flight, seen at the end
    speed, flown = e**6 * GRAVITY * first, 3.0 - times[-1]
    assert r["z"][-1] == pytest.approx(speed * flown - GRAVITY * flown**2 / 2, abs=1e-9)
    assert r["x"][-1] == pytest.approx(1.5, abs=1e-9)
    # the jump of the velocity is stored: twice the same instant
    (twice,) = np.nonzero(np.diff(r.t) == 0)
    assert len(twice) == 6
    np.testing.assert_allclose(r["dz"][twice + 1], -e * r["dz"][twice], rtol=1e-12)


@each_stepping
def test_an_event_may_stop_the_run(stepping):
    asked = []
    for reaction in ("stop", lambda t, q, v: asked.append((t, q[1], v[1])) or "stop"):
        r = bl.simulate(ball(), 3.0, on_event={"ground": reaction}, **stepping)
        assert r.t[-1] == pytest.approx(math.sqrt(2 / GRAVITY), abs=1e-12, rel=0)
        assert not r.interrupted
        assert r["z"][-1] == pytest.approx(0.0, abs=1e-11)
    ((t, z, dz),) = asked
    assert z == pytest.approx(0.0, abs=1e-11)
    assert dz == pytest.approx(-GRAVITY * t, rel=1e-11)


def test_events_of_a_constrained_mechanism_are_found_on_its_motion():
    """A point pendulum passes its lowest point after a quarter and three quarters of a period."""
    from examples.mechanisms import point_pendulum

    s = point_pendulum.point_pendulum()
    s.event("lowest", s.q[0])
    period = point_pendulum.PERIOD
    for stepping in ({"step": period / 4000}, {"tolerance": 1e-12}):
        r = bl.simulate(s, period, **stepping)
        times = [event.time for event in r.events]
        np.testing.assert_allclose(times, [period / 4, 3 * period / 4], rtol=0, atol=1e-10)
        assert [event.direction for event in r.events] == [1, -1]


@pytest.mark.parametrize("formulation", ["baumgarte", "augmented", "index2", "index3"])
def test_formulations_agree_on_events_and_on_what_follows_them(formulation):
    """At the dead centres of a slider–crank a tenth of its speed is taken away."""
    s = slider_crank.slider_crank()
    s.event("dead centre", bl.sin(s.q[0]))
    model = s.equations()
    run = {"step": 1e-4, "on_event": {"dead centre": lambda t, q, v: (q, 0.9 * v)}}
    expected = bl.simulate(model, 0.3, **run)
    r = bl.simulate(model, 0.3, formulation=formulation, **run)
    assert len(expected.events) >= 2
    np.testing.assert_allclose(
        [event.time for event in r.events], [event.time for event in expected.events], atol=1e-10
    )
    np.testing.assert_allclose(r.q[-1], expected.q[-1], atol=1e-9)


def test_unknown_events_and_reactions_are_refused():
    with pytest.raises(ModelError, match="ball has no event wall; it has ground"):
        bl.simulate(ball(), 1.0, on_event={"wall": "stop"})
    with pytest.raises(ModelError, match="event ground: 'halt' is not a reaction; use 'stop'"):
        bl.simulate(ball(), 1.0, step=1e-2, on_event={"ground": "halt"})


# ----------------------------------------------------------------------------- controllers

PERIOD = 0.05
GAINS = (5.0, 1.0)
C_CONTROL = """
#include <math.h>
void control(const double *t, const double *x, const double *p, double *u);
void control(const double *t, const double *x, const double *p, double *u)
{
    (void)p;
    u[0] = -5.0 * x[0] - x[1] + sin(3.0 * t[0]);
}
"""


def python_law(t, q, v):
    return [-GAINS[0] * q[0] - GAINS[1] * v[0] + math.sin(3 * t)]


def named_law(t, q, v):
    return {"F": python_law(t, q, v)[0]}


def numba_law():
    P = numba.types.CPointer(numba.types.float64)

    @numba.cfunc(numba.types.void(P, P, P, P))
    def control(t, x, p, u):
        u[0] = -5.0 * x[0] - x[1] + math.sin(3.0 * t[0])

    return control


def sampled_motion(count):
    """Positions, velocities and inputs at the samples: the exact discretisation, x ← A x + B u."""
    continuous = np.zeros((3, 3))
    continuous[:2] = [[0, 1, 0], [-3.0 / 2.0, -0.4 / 2.0, 1 / 2.0]]
    step = expm(PERIOD * continuous)
    x, rows = np.array([1.0, 0.0]), []
    for k in range(count + 1):
        (u,) = python_law(k * PERIOD, x[:1], x[1:])
        rows.append([*x, u])
        x = step[:2, :2] @ x + step[:2, 2] * u
    return np.array(rows).T


def check_sampled_motion(control, stepping):
    r = bl.simulate(
        oscillator(), 2.0, control=control, sample_time=PERIOD, output=PERIOD, **stepping
    )
    x, dx, _ = sampled_motion(40)
    np.testing.assert_allclose(r["x"], x, atol=1e-10)
    np.testing.assert_allclose(r["dx"], dx, atol=1e-10)


@fixed_and_adaptive
@pytest.mark.parametrize(
    "law", [python_law, named_law, numba_law()], ids=["list", "names", "numba"]
)
def test_a_sampled_controller_is_held_between_samples(law, stepping):
    check_sampled_motion(law, stepping)


@pytest.mark.gcc
@fixed_and_adaptive
def test_a_controller_may_be_compiled_from_c(stepping):
    check_sampled_motion(compile_c(C_CONTROL).control, stepping)


@fixed_and_adaptive
def test_results_show_the_inputs_that_the_controller_applied(stepping):
    r = bl.simulate(
        oscillator(), 2.0, control=python_law, sample_time=PERIOD, output=PERIOD / 5, **stepping
    )
    *_, u = sampled_motion(39)
    # inside the intervals, where there is no doubt which sample is meant
    inside = np.arange(200) % 5 == 2
    np.testing.assert_allclose(r["F"][:-1][inside], u, atol=1e-9)
    np.testing.assert_allclose(
        2.0 * r["ddx"][:-1][inside],
        u - 3.0 * r["x"][:-1][inside] - 0.4 * r["dx"][:-1][inside],
        atol=1e-9,
    )


@pytest.mark.parametrize("compiled", [False, True], ids=["python", "numba"])
@pytest.mark.parametrize("formulation", ["baumgarte", "augmented", "index2", "index3"])
def test_a_controller_sees_positions_and_velocities_in_every_formulation(formulation, compiled):
    P = numba.types.CPointer(numba.types.float64)

    @numba.cfunc(numba.types.void(P, P, P, P))
    def kernel(t, x, p, u):
        u[0] = -0.05 * x[3] + 0.3 * math.sin(x[0])
        u[1] = 2.0 * x[5]

    def law(t, q, v):
        return {"tau": -0.05 * v[0] + 0.3 * math.sin(q[0]), "F": 2.0 * v[2]}

    run = {"control": kernel if compiled else law, "step": 1e-3, "sample_time": 0.01}
    model = slider_crank.slider_crank().equations()
    expected = bl.simulate(model, 0.2, **run)
    r = bl.simulate(model, 0.2, formulation=formulation, **run)
    np.testing.assert_allclose(r.q, expected.q, atol=1e-7)
    np.testing.assert_allclose(r.u, expected.u, atol=1e-6)
    assert np.ptp(expected["tau"]) > 0.5


def test_without_a_sample_time_the_controller_is_asked_every_step():
    times = []
    bl.simulate(oscillator(), 1.0, step=0.1, control=lambda t, q, v: times.append(t) or [0.0])
    np.testing.assert_allclose(times, 0.1 * np.arange(10), atol=1e-12)
    with pytest.raises(ModelError, match="an adaptive run with a controller needs sample_time"):
        bl.simulate(oscillator(), 1.0, control=python_law)


@each_stepping
@pytest.mark.parametrize(
    "wrong",
    [math.nan, math.inf, [math.nan], {"F": math.nan}, None, "abc", [1j], ["x"], {"F": None}],
)
def test_a_controller_that_returns_no_number_is_named_with_the_time(stepping, wrong):
    def law(t, q, v):
        return wrong if t > 0.195 else [0.0]

    with pytest.raises(
        ModelError, match=r"the controller of oscillator returned .* at t = 0\.2 s; .* finite"
    ):
        bl.simulate(oscillator(), 1.0, control=law, sample_time=0.01, **stepping)


def test_mistakes_in_controllers_are_named():
    with pytest.raises(ModelError, match="ball has no inputs, so a controller has nothing to set"):
        bl.simulate(ball(), 1.0, step=0.1, control=python_law)
    with pytest.raises(ModelError, match=r"the controller returned 2 numbers.*1 inputs F"):
        bl.simulate(oscillator(), 1.0, step=0.1, control=lambda t, q, v: [1.0, 2.0])
    with pytest.raises(ModelError, match="the controller sets G, but oscillator has the inputs F"):
        bl.simulate(oscillator(), 1.0, step=0.1, control=lambda t, q, v: {"G": 1.0})
    with pytest.raises(ModelError, match=r"a controller is a function u = law\(t, q, v\)"):
        bl.simulate(oscillator(), 1.0, step=0.1, control="bang-bang")

    def broken(t, q, v):
        raise ZeroDivisionError("my own mistake")

    with pytest.raises(ZeroDivisionError, match="my own mistake"):
        bl.simulate(oscillator(), 1.0, step=0.1, control=broken)


# --------------------------------------------------------------------------------- interrupts


@fixed_and_adaptive
def test_an_interrupt_keeps_the_results_until_then(stepping):
    def law(t, q, v):
        if t > 1.0 + 1e-9:
            raise KeyboardInterrupt
        return [0.0]

    r = bl.simulate(oscillator(), 2.0, control=law, sample_time=0.01, output=0.01, **stepping)
    assert r.interrupted
    assert 1.0 - 1e-9 <= r.t[-1] <= 1.01 + 1e-9
    np.testing.assert_allclose(r["x"], free_motion(r.t), atol=1e-9)


def test_a_native_loop_answers_an_interrupt():
    """The run would take minutes; the signal arrives while native code is running."""
    # a process that was started in the background ignores it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers: list[threading.Timer] = []

    def law(t, q, v):
        # at the start the run is still being prepared; here it is one native step of many
        if t > 0.0 and not timers:
            timers.append(threading.Timer(0.05, _thread.interrupt_main))
            timers[0].start()
        return [0.0]

    duration = 1e6
    try:
        r = bl.simulate(oscillator(), duration, step=1e-3, output=1.0, control=law, sample_time=1e4)
    finally:
        signal.signal(signal.SIGINT, before)
    assert r.interrupted
    assert r.t[-1] < duration
    np.testing.assert_allclose(r["x"], free_motion(r.t), atol=1e-9)


# ------------------------------------------------------------- forces that depend on multipliers


def sliding_block(mu: float, slope: float) -> bl.SymbolicSystem:
    """A block of 2 kg that slides up a slope at 3 m/s and rubs; "way" is the sense of sliding."""
    s = bl.SymbolicSystem("sliding_block")
    x, z = s.coordinates("x z")
    friction, way, g = s.parameters(mu=mu, way=1.0, g=GRAVITY)
    plane = s.base.rotated("plane", "-y", slope)
    P = s.origin.offset("P", s.base.vector(x, 0, z))
    block = s.solid("block", at=P, base=s.base, mass=2.0)
    s.gravity = s.base.vector(0, 0, -g)
    r, v = s.position(s.origin, P), s.velocity(P)
    along, across = plane.vector(1, 0, 0), plane.vector(0, 0, 1)
    (contact,) = s.constrain(across.dot(r), name="plane")
    # M v' + Φ_vᵀ λ = Q: the plane pushes with -λ
    normal = -contact.multiplier
    s.wrench(block, plane.vector(-friction * normal * way, 0, 0), name="friction")
    s.output("travel", along.dot(r))
    s.output("speed", along.dot(v))
    s.event("rest", along.dot(v))
    s.start(dx=3 * math.cos(slope), dz=3 * math.sin(slope))
    return s


@pytest.mark.parametrize(
    "formulation",
    ["multipliers", "baumgarte", "augmented", "index2", "velocity_projection", "range_space"],
)
def test_a_block_on_a_slope_rubs_with_its_normal_force(formulation):
    """Up to rest, and down from there: accelerations -g (sin α ± μ cos α)."""
    mu, slope = 0.3, 0.5
    up = GRAVITY * (math.sin(slope) + mu * math.cos(slope))
    down = GRAVITY * (math.sin(slope) - mu * math.cos(slope))
    # each round of the augmented Lagrangian brings friction nearer to the force it goes with
    options = bl.Options(rounds=6) if formulation == "augmented" else None
    simulator = bl.Simulator(sliding_block(mu, slope), formulation, options=options)
    r = simulator.run(1.0, step=1e-3, on_event={"rest": "stop"})
    assert r.t[-1] == pytest.approx(3 / up, abs=1e-9)
    assert r["travel"][-1] == pytest.approx(4.5 / up, abs=1e-9)
    np.testing.assert_allclose(r.lam[:, 0], -2.0 * GRAVITY * math.cos(slope), rtol=1e-7)

    back = simulator.run(
        0.5, q=r.q[-1], v=[0.0, 0.0], parameters={"way": -1.0}, tolerance=1e-10, assemble=False
    )
    assert back["travel"][-1] == pytest.approx(4.5 / up - down / 8, abs=1e-8)
    assert back["speed"][-1] == pytest.approx(-down / 2, abs=1e-8)
    np.testing.assert_allclose(back.lam[:, 0], -2.0 * GRAVITY * math.cos(slope), rtol=1e-7)


@pytest.mark.parametrize(
    "formulation", ["multipliers", "baumgarte", "augmented", "null_space", "matrix_r"]
)
def test_a_self_energising_brake_finds_the_normal_force_that_its_friction_raises(formulation):
    """A lever presses a pad on a drum, whose friction μ N pulls the lever further in.

    Moments about the pivot of the lever: N a = F L + μ N b, so N = F L/(a - μ b).
    """
    mu, a, b, L, R, I, force = 0.3, 0.2, 0.1, 0.5, 0.15, 0.4, 40.0
    s = bl.SymbolicSystem("brake")
    lever_angle, drum_angle = s.coordinates("lever drum")
    lever_base = s.base.rotated("lever", "z", lever_angle)
    drum_base = s.base.rotated("drum", "z", drum_angle)
    lever = s.solid(
        "lever", at=s.origin, base=lever_base, mass=1.0, inertia=lever_base.inertia(zz=0.03)
    )
    drum = s.solid("drum", at=s.origin, base=drum_base, mass=5.0, inertia=drum_base.inertia(zz=I))
    (pad,) = s.constrain(a * lever_angle, name="pad")
    N = pad.multiplier  # positive when the lever presses
    s.wrench(lever, moment=s.base.vector(0, 0, force * L + mu * b * N), name="hand")
    s.wrench(drum, moment=s.base.vector(0, 0, -mu * R * N), name="friction")
    s.start(ddrum=30.0)
    options = bl.Options(rounds=12) if formulation == "augmented" else None
    r = bl.simulate(s, 1.0, step=1e-2, formulation=formulation, options=options)
    normal = force * L / (a - mu * b)
    np.testing.assert_allclose(r.lam[:, 0], normal, rtol=1e-8)
    assert r["ddrum"][-1] == pytest.approx(30.0 - mu * R * normal / I, rel=1e-8)


# --------------------------------------------------------------------------- your own integrator


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="2, n")
def midpoint_step(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """The explicit midpoint rule, of order two."""
    f(t, x, p, work[0])
    for i in range(n):
        work[1, i] = x[i] + h / 2.0 * work[0, i]
    t[0] += h / 2.0
    f(t, work[1], p, work[0])
    for i in range(n):
        x[i] += h * work[0, i]
    t[0] += h / 2.0


def test_an_integrator_of_your_own_is_a_routine():
    duration = simple_pendulum.PERIOD / 2
    errors = []
    for count in (200, 400, 800):
        r = bl.simulate(
            simple_pendulum.simple_pendulum(),
            duration,
            integrator=midpoint_step,
            step=duration / count,
        )
        errors.append(abs(r["dtheta"][-1]))  # it is at rest after half a period
    assert "midpoint_step" in r.statistics.integrator
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.1)


def test_unknown_integrators_and_formulations_are_refused_with_those_there_are():
    with pytest.raises(ModelError, match=r"integrator 'ode45' is not known; these are: .*rk4.*rad"):
        bl.simulate(oscillator(), 1.0, integrator="ode45")
    with pytest.raises(
        ModelError, match=r"formulation 'gauss' is not known; .*multipliers.*index3"
    ):
        bl.simulate(oscillator(), 1.0, formulation="gauss")


def test_bounces_that_come_too_fast_end_the_run_and_not_the_floor():
    s = ball()
    with pytest.raises(
        SimulationError, match=r"after event .* the state goes on beyond it"
    ) as said:
        bl.simulate(
            s, 6.0, on_event={s.equations().system.events[0]: lambda t, q, v: (q, -0.5 * v)}
        )
    assert said.value.results.q.min() > -0.05


@each_stepping
@pytest.mark.parametrize("left", [0.0, 1e-9])
def test_a_ball_that_a_reaction_leaves_on_the_ground_does_not_fall_through_it_unsaid(
    stepping, left
):
    with pytest.raises(
        SimulationError,
        match=r"ball: after event ground at t = 0\.4515\d* s .*leaves it at rest there, and the "
        r"forces pull it through.*'stop'",
    ) as said:
        bl.simulate(ball(), 3.0, on_event={"ground": lambda t, q, v: (q, left * v)}, **stepping)
    results = said.value.results
    assert results.t[-1] == pytest.approx(math.sqrt(2 / GRAVITY), abs=1e-11)
    assert results["z"].min() > -1e-9


@each_stepping
def test_a_reaction_that_returns_the_state_that_it_was_given_is_refused(stepping):
    with pytest.raises(
        ModelError, match=r"reaction to event ground at t = 0\.4515\d* s returned the state that it"
    ):
        bl.simulate(ball(), 3.0, on_event={"ground": lambda t, q, v: (q, v)}, **stepping)


@each_stepping
def test_reactions_that_let_an_event_pass_or_hold_what_no_force_moves_go_on(stepping):
    seen = []
    for reaction in (
        lambda t, q, v: seen.append(t),  # which only writes down
        lambda t, q, v: (q, [0.0, v[1]]),  # the drift ends, the fall goes on
        lambda t, q, v: (q, 0.5 * v),  # a thin layer that brakes
    ):
        r = bl.simulate(ball(), 1.0, on_event={"ground": reaction}, **stepping)
        assert len(r.events) == 1
        assert r["z"][-1] < -1.0
    assert seen == pytest.approx([math.sqrt(2 / GRAVITY)])
    caught = bl.simulate(
        ball(),
        1.0,
        q={"z": 0.25},
        v={"dz": -1.0},
        parameters={"g": 0.0},
        on_event={"ground": lambda t, q, v: (q, 0 * v)},
        **stepping,
    )
    assert caught["z"][-1] == pytest.approx(0.0, abs=1e-12)
    assert caught.t[-1] == 1.0


@each_stepping
def test_what_forces_push_back_from_an_event_may_be_left_there_at_rest(stepping):
    """A ball that is stopped at the ceiling falls off it."""
    s = ball()
    s.event("ceiling", s.q[1] - 1.2)
    stop = {"ceiling": lambda t, q, v: (q, [v[0], 0.0])}
    r = bl.simulate(s, 0.5, v={"dz": 4.0}, on_event={**stop, "ground": "stop"}, **stepping)
    (event,) = r.events
    touched = (4.0 - math.sqrt(16 - 0.4 * GRAVITY)) / GRAVITY
    assert event.time == pytest.approx(touched, abs=1e-11)
    assert r["z"][-1] == pytest.approx(1.2 - GRAVITY / 2 * (0.5 - touched) ** 2, abs=1e-9)


def test_an_event_of_the_velocity_may_be_answered_where_it_vanishes():
    """At the top of its flight a ball loses its drift, and the velocity that is watched passes."""
    s = ball()
    s.event("top", s.v[1])
    r = bl.simulate(
        s, 0.6, v={"dz": 3.0}, on_event={"top": lambda t, q, v: (q, [0.0, 0.0])}, tolerance=1e-10
    )
    assert r.events[0].time == pytest.approx(3.0 / GRAVITY, abs=1e-9)
    assert r["dz"][-1] == pytest.approx(3.0 - 0.6 * GRAVITY, abs=1e-8)


def test_a_reaction_that_returns_no_state_is_named():
    for answer, words in (
        (lambda t, q, v: (q, np.nan * v), r"v\[0\] = nan \(dx\), which is not a finite number"),
        (lambda t, q, v: (q, [v[0], np.inf]), r"v\[1\] = inf \(dz\)"),
        (lambda t, q, v: (q * [1, np.nan], v), r"q\[1\] = nan \(z\)"),
        (lambda t, q, v: (q, v[:1]), "2 coordinates and 2 velocities"),
        (lambda t, q, v: -v, "2 coordinates and 2 velocities"),
        (lambda t, q, v: (q, v, t), "2 coordinates and 2 velocities"),
        (lambda t, q, v: True, "returned True"),
    ):
        for how in ({"step": 1e-2}, {}):
            with pytest.raises(
                ModelError, match=r"reaction to event ground at t = 0\.45.*" + words
            ):
                bl.simulate(ball(), 1.0, on_event={"ground": answer}, **how)


def test_an_interrupt_keeps_what_was_computed_even_between_two_outputs(monkeypatch):
    from biela.analysis.progress import Progress

    calls = []

    def update(self: Progress, done: float, so_far: object) -> None:
        calls.append(done)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "update", update)
    r = bl.simulate(oscillator(), 100.0, step=1e-4, output=100.0)
    assert r.interrupted
    assert 0.0 < r.t[-1] < 100.0
    assert r.t[-1] == pytest.approx(calls[-1])
    assert r.statistics.steps == round(calls[-1] / 1e-4)


def test_the_last_output_may_come_after_less_than_a_stride():
    model = slider_crank.slider_crank().equations()
    for formulation in ("multipliers", "augmented3", "generalised_alpha"):
        run = {"step": 1e-3, "formulation": formulation}
        fine = bl.simulate(model, 0.501, output=1e-3, **run)
        coarse = bl.simulate(model, 0.501, output=4e-3, **run)
        assert coarse.t[-1] == pytest.approx(0.501)
        np.testing.assert_allclose(coarse.q[-1], fine.q[-1], atol=1e-12)


def test_a_reaction_that_breaks_the_constraints_is_brought_back_to_them():
    s = slider_crank.slider_crank()
    s.event("right angle", bl.cos(s.q[0]))
    for formulation in ("multipliers", "baumgarte", "index2"):
        r = bl.simulate(
            s,
            0.5,
            step=1e-3,
            formulation=formulation,
            on_event={"right angle": lambda t, q, v: (1.05 * q, 0.5 * v)},
        )
        assert r.events
        assert np.abs(r["constraint error"]).max() < 1e-5
        assert np.abs(r["velocity error"]).max() < 1e-4


def test_a_contradiction_that_comes_later_stops_every_formulation():
    for formulation in ("baumgarte", "penalty", "augmented", "index2", "index3", "augmented3"):
        s = bl.SymbolicSystem("pendulum")
        x, y = s.coordinates("x y")
        s.solid("bob", at=s.origin.offset("P", s.base.vector(x, y, 0)), base=s.base, mass=1.0)
        s.gravity = s.base.vector(0, -GRAVITY, 0)
        s.constrain(x**2 + y**2 - 1, name="rod")
        s.constrain(x**2 + y**2 - 1 - 0.1 * s.time**2, name="other")
        s.start(x=1.0)
        with pytest.raises(SimulationError, match="is missed by"):
            bl.simulate(s, 3.0, step=1e-3, formulation=formulation)


def test_energy_that_dampers_take_between_two_outputs_is_no_jump() -> None:
    m = bl.Model("chassis", gravity=(0, 0, -9.81))
    chassis = m.body("chassis", mass=12, com=(0.1, 0.05, -0.1), inertia=(0.5, 0.6, 0.9))
    for k, (x, y) in enumerate(((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5))):
        wheel = m.body(f"w{k}", mass=1.0, inertia=(0.02, 0.03, 0.02), position=(x, y, -0.2))
        m.joint("revolute", f"j{k}", chassis, wheel, at=(x, y, -0.2), axis="y", rates=2.0 + k)
        foot = m.ground.at(x, y, -1.0)
        m.force("spring_damper", f"s{k}", i=foot, j=wheel, stiffness=500.0, length=0.8, damping=3)
    seldom = bl.simulate(m, 1.0, output=0.05, progress=False)
    often = bl.simulate(m, 1.0, output=1e-3, progress=False)
    assert seldom.q[-1] == pytest.approx(often.q[-1], abs=1e-9)
