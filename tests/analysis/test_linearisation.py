"""Linear equations against closed forms, published stability and differences of full motions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.assembly import assemble, assemble_velocity
from biela.analysis.linearisation import Linearisation, LinearSystem, linearise
from biela.errors import ModelError
from examples.mechanisms.bicycle import STABLE_SPEEDS, bicycle
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.mechanisms.double_pendulum import FREQUENCIES, double_pendulum
from examples.mechanisms.rolling_disc import rolling_disc
from examples.symbolic.four_bar import four_bar
from tests.analysis.spinning_body import spinning_body

Floats = npt.NDArray[np.float64]


def test_a_double_pendulum_has_its_two_frequencies_and_shapes() -> None:
    found = linearise(double_pendulum(), [0, 0], [0, 0])
    assert found.states == ("theta1", "theta2", "dtheta1", "dtheta2") and found.steady
    assert 2 * math.pi * found.frequencies == pytest.approx(FREQUENCIES)
    slow, fast = found.modes
    assert slow.damping == pytest.approx(0, abs=1e-12)
    # in phase and against each other; the shape solves (K - ω² M) x = 0 of two uniform rods
    M = np.array([[8 / 3, 5 / 6], [5 / 6, 1 / 3]])
    K = 9.81 * np.array([[2.0, 0.5], [0.5, 0.5]])
    for mode, omega in zip((slow, fast), FREQUENCIES, strict=True):
        assert np.abs((K - omega**2 * M) @ mode.shape).max() < 1e-12


def test_a_damped_oscillator_with_input_and_outputs_is_as_in_the_book() -> None:
    s = bl.SymbolicSystem("oscillator")
    (x,) = s.coordinates("x")
    (F,) = s.inputs("F")
    m, k, c = s.parameters(m=2.0, k=50.0, c=4.0)
    body = s.solid("body", at=s.origin.offset("B", s.base.vector(x, 0, 0)), base=s.base, mass=m)
    s.wrench(body, s.base.vector(F - k * x - c * x.velocity, 0, 0))
    s.output("power", F * x.velocity)
    s.output("pull", k * x - F)
    found = linearise(s, [0.1], [0.2], inputs={"F": 7.0})
    assert np.allclose(found.A, np.array([[0, 1], [-25, -2]]), rtol=0, atol=1e-12)
    assert np.allclose(found.B, np.array([[0], [0.5]]), rtol=0, atol=1e-12)
    assert np.allclose(found.C, np.array([[0, 7], [50, 0]]), rtol=0, atol=1e-12)
    assert np.allclose(found.D, np.array([[0.2], [-1]]), rtol=0, atol=1e-12)
    (mode,) = found.modes
    assert mode.frequency == pytest.approx(5 / (2 * math.pi)) and mode.damping == pytest.approx(0.2)
    assert not found.steady


def test_a_redundant_parallelogram_swings_with_its_frequency() -> None:
    # (m + M) l θ'' = -(3 m/2 + M) g cos θ, about θ = -π/2; one constraint is redundant
    found = linearise(double_parallelogram(), 3 * [-math.pi / 2] + [0.0], np.zeros(4))
    omega = math.sqrt((1.5 + 3) * 9.81 / ((1 + 3) * 0.4))
    assert 2 * math.pi * found.frequencies == pytest.approx([omega])
    shape = found.modes[0].shape
    assert shape.real == pytest.approx([1, 1, 1, 0], abs=1e-12)


def differences(
    system: bl.System,
    linear: LinearSystem,
    state: Callable[[Floats], tuple[Floats, Floats]],
    step: float = 1e-3,
) -> Floats:
    """The state matrix by differences of the full equations at perturbed states."""
    names = linear.states
    positions = [i for i, e in enumerate(system.q) if e.name in names]
    velocities = [i for i, e in enumerate(system.v) if e.name in names]

    def rate(x: Floats) -> Floats:
        q, v = state(x)
        a, *_ = system["accelerations"](
            *({"t": linear.t, "q": q, "v": v, "u": system.inputs, "p": system.parameters}[arg.name]
              for arg in system["accelerations"].inputs)
        )  # fmt: skip
        return np.concatenate([v[positions], a[velocities]])

    columns = []
    for e in np.eye(len(names)) * step:
        near, far = rate(e) - rate(-e), rate(2 * e) - rate(-2 * e)
        columns.append((8 * near - far) / (12 * step))
    return np.array(columns).T


def test_a_moving_four_bar_agrees_with_differences_of_its_motion() -> None:
    system = four_bar(spring=True).equations().system
    guess = {"theta1": 0.6, "theta2": -1.2, "theta3": 2.0}
    q0 = assemble(system, guess, hold={"theta1": 0.6}).q
    v0 = assemble_velocity(system, q0, hold={"dtheta1": 1.7})
    found = linearise(system, q0, v0, independent=("theta1",))
    assert found.states == ("theta1", "dtheta1") and not found.steady

    def state(x: Floats) -> tuple[Floats, Floats]:
        q = assemble(system, q0, hold={"theta1": 0.6 + x[0]}).q
        return q, assemble_velocity(system, q, hold={"dtheta1": 1.7 + x[1]})

    wanted = differences(system, found, state)
    assert np.allclose(found.A, wanted, rtol=1e-7, atol=1e-7)
    # all displacements and velocities by those of the state
    h = 1e-5
    for k in range(2):
        up, down = (state(sign * h * np.eye(2)[k]) for sign in (1, -1))
        slope_q, slope_v = ((a - b) / (2 * h) for a, b in zip(up, down, strict=True))
        assert found.velocities[:, k] == pytest.approx(slope_v, abs=1e-7)
        if k == 0:
            assert found.displacements[:, 0] == pytest.approx(slope_q, abs=1e-8)


def test_a_nonholonomic_motion_agrees_with_differences_and_has_more_positions() -> None:
    system = rolling_disc().equations().system
    q0, v0 = (np.array(part) for part in _disc_state())
    found = linearise(system, q0, v0, independent=("psi", "theta", "phi"))
    assert len(found.states) == 8 and found.states[5:] == ("dpsi", "dtheta", "dphi")

    def state(x: Floats) -> tuple[Floats, Floats]:
        q = q0 + x[:5]
        held = {name: v0[i] + x[3 + i] for i, name in ((2, "dpsi"), (3, "dtheta"), (4, "dphi"))}
        return q, assemble_velocity(system, q, hold=held)

    wanted = differences(system, found, state)
    assert np.allclose(found.A, wanted, rtol=1e-8, atol=1e-8)


def _disc_state() -> tuple[list[float], list[float]]:
    q = [0.2, -0.1, 0.4, 0.3, 0.9]
    roll, turn, fall = 4.0, 1.2, -0.5
    return q, [0.3 * roll * math.cos(0.4), 0.3 * roll * math.sin(0.4), turn, fall, roll]


@pytest.mark.parametrize("part", [0.8, 1.3])
def test_a_rolling_disc_stays_upright_above_its_critical_speed(part: float) -> None:
    """Thin disc, A = m r²/4, C = m r²/2: v² > g r/3 (Neimark & Fufaev 1972).

    s² = m g r/(A + m r²) - C (C + m r²) Ω²/(A (A + m r²)).
    """
    r, g = 0.3, 9.81
    spin = part * math.sqrt(g / (3 * r))
    found = linearise(rolling_disc(), np.zeros(5), [r * spin, 0, 0, 0, spin])
    assert found.steady
    square = 4 * g / (5 * r) - 0.5 * 1.5 / (0.25 * 1.25) * spin**2
    wanted = np.sqrt(complex(square))
    assert np.abs(found.eigenvalues - wanted).min() < 1e-9
    assert (found.eigenvalues.real.max() > 1e-3) == (part < 1)


def test_the_bicycle_is_stable_between_the_published_speeds() -> None:
    prepared = Linearisation(bicycle())

    def balance(speed: float) -> Floats:
        v = [speed, 0, 0, 0, 0, 0, -speed / 0.3, -speed / 0.35, 0]
        found = prepared.about(np.zeros(9), v, independent=("phi", "delta"))
        assert found.steady
        kept = [found.states.index(name) for name in ("phi", "delta", "dphi", "ddelta")]
        return found.A[np.ix_(kept, kept)]

    def weave(speed: float) -> float:
        s = np.linalg.eigvals(balance(speed))
        return float(s[np.abs(s.imag) > 1e-6].real.max())

    def capsize(speed: float) -> float:
        return float(np.linalg.det(balance(speed)))

    for function, near, wanted in zip(
        (weave, capsize), ((4.2, 4.4), (5.9, 6.1)), STABLE_SPEEDS, strict=True
    ):
        assert _root(function, *near) == pytest.approx(wanted, rel=1e-12)
    # eigenvalues at 5 m/s, Meijaard et al. (2007), table 2
    s = np.linalg.eigvals(balance(5.0))
    assert np.sort(s.real) == pytest.approx(
        [-14.07838969279822, -0.77534188219585, -0.77534188219585, -0.32286642900409], abs=1e-10
    )
    assert s.imag.max() == pytest.approx(4.46486771378823, abs=1e-10)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    sign = np.sign(function(low))
    assert sign != np.sign(function(high))
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if np.sign(function(middle)) == sign else (low, middle)
    return low


def test_unknown_coordinates_are_refused() -> None:
    with pytest.raises(ModelError, match="no coordinate tta"):
        linearise(double_pendulum(), independent=("tta",))


def test_a_body_described_by_a_quaternion_wobbles_as_euler_found() -> None:
    A, B, C, spin = 1.0, 1.4, 2.0, 3.0
    turned = [math.cos(0.4), 0.0, math.sin(0.4), 0.0]  # the attitude does not matter
    found = linearise(spinning_body(A, B, C), turned, [0, 0, spin])
    assert len(found.states) == 6 and found.steady
    wobble = spin * math.sqrt((C - A) * (C - B) / (A * B))
    # about its own axes a turn of the body stays behind with the spin: ± i Ω and 0
    wanted = [-spin, -wobble, 0, 0, wobble, spin]
    assert np.sort(found.eigenvalues.imag) == pytest.approx(sorted(wanted), abs=1e-7)
    assert np.abs(found.eigenvalues.real).max() < 1e-7
    # about the axis of middle inertia it is unstable
    middle = linearise(spinning_body(A, B, C), turned, [0, spin, 0])
    growth = spin * math.sqrt((C - B) * (B - A) / (A * C))
    assert middle.eigenvalues.real.max() == pytest.approx(growth)
