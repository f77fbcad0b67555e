"""Controllers that take the state by names, against exact recurrences of a block on a rail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.control_state import ControlState, Turns
from biela.errors import BielaError, ModelError, UnknownNameError

MASS, PERIOD = 2.0, 0.01
WAYS: list[dict[str, Any]] = [
    {},
    {"coordinates": "reference"},
    {"coordinates": "natural"},
    {"coordinates": "groups"},
    {"engine": "looped"},
]


def block() -> bl.Model:
    """A block of 2 kg that a motor pushes along a level rail, with sensors."""
    m = bl.Model("block", plane="xz", gravity=(0, 0, -9.81))
    body = m.body("body", mass=MASS, inertia=0.1)
    m.joint("prismatic", "rail", m.ground.at(axis="x"), body.at(axis="x"), start=0.1, rates=0.4)
    m.force("actuator", "motor", coordinate="rail")
    m.sensor("point", "corner", marker=body.at(0.05, 0, 0))
    m.sensor("reaction", "load", joint="rail")
    return m


def recurrence(controller: Any, count: int) -> np.ndarray:
    """Positions at the samples: x and v of a mass under a force that is held, exactly."""
    x, v, found = 0.1, 0.4, []
    for k in range(count + 1):
        found.append(x)
        u = controller(k * PERIOD, x, v)
        x, v = x + v * PERIOD + u / MASS * PERIOD**2 / 2, v + u / MASS * PERIOD
    return np.array(found)


def run(control: Any, count: int, **how: Any) -> bl.Results:
    return bl.simulate(
        block(),
        count * PERIOD,
        step=PERIOD / 2,
        output=PERIOD,
        control=control,
        sample_time=PERIOD,
        **how,
    )


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_joints_and_sensors_go_by_their_names_in_every_engine(how: dict[str, Any]) -> None:
    seen: list[tuple[float, ...]] = []

    def law(state: ControlState) -> dict[str, float]:
        names = ("rail", "rail.displacement", "rail.displacement_rate", "motor", "corner.x")
        seen.append((state.t, *(state[name] for name in names), state.sensors["corner.x"]))
        return {"motor": 30.0 * (0.3 - state["rail"]) - 8.0 * state["rail.displacement_rate"]}

    found = run(law, 40, **how)
    expected = recurrence(lambda t, x, v: 30.0 * (0.3 - x) - 8.0 * v, 40)
    assert found["body.x"] == pytest.approx(expected, abs=1e-10)
    t, alone, full, rate, held, corner, sensor = np.array(seen)[:40].T
    assert t == pytest.approx(np.arange(40) * PERIOD, abs=1e-12)
    assert alone == pytest.approx(expected[:40], abs=1e-10) and np.array_equal(alone, full)
    assert corner == pytest.approx(expected[:40] + 0.05, abs=1e-10)
    assert np.array_equal(corner, sensor)
    assert held[1:] == pytest.approx((30.0 * (0.3 - alone) - 8.0 * rate)[:-1], abs=1e-9)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_pid_follows_its_recurrence(how: dict[str, Any]) -> None:
    kp, ki, kd, high = 40.0, 60.0, 9.0, 3.0

    class Written:
        """The same, as the textbook has it."""

        integral, before = 0.0, 0.0

        def __call__(self, t: float, x: float, v: float) -> float:
            error = 0.3 + 0.1 * t - x
            grown = self.integral + ki * error * (t - self.before)
            u = kp * error + grown - kd * v
            saturated = abs(u) > high and np.sign(u) == np.sign(error)
            if not saturated:
                self.integral = grown
            self.before = t
            return float(np.clip(u, -high, high))

    pid = bl.PID(
        *("rail", "motor"),
        kp=kp,
        ki=ki,
        kd=kd,
        target=lambda t: 0.3 + 0.1 * t,
        limits=(-high, high),
    )
    expected = recurrence(Written(), 80)
    for _ in range(2):  # a second run begins anew
        assert run(pid, 80, **how)["body.x"] == pytest.approx(expected, abs=1e-9)


def test_a_channel_without_a_rate_is_differenced() -> None:
    pid = bl.PID("corner.x", "motor", kp=30.0, kd=8.0, target=0.35)
    before: list[float] = []

    def written(t: float, x: float, v: float) -> float:
        rate = (x - before[-1]) / PERIOD if before else 0.0
        before.append(x)
        return 30.0 * (0.3 - x) - 8.0 * rate

    assert run(pid, 40)["body.x"] == pytest.approx(recurrence(written, 40), abs=1e-10)


def test_forces_of_joints_are_not_known_before_a_step() -> None:
    """They would be zero, which they are not."""
    with pytest.raises(UnknownNameError, match=r"load\.fz"):
        run(lambda state: [state["load.fz"]], 2)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_wrong_name_is_answered_with_those_that_are_like_it(how: dict[str, Any]) -> None:
    with pytest.raises(BielaError, match=r"'rale'; did you mean 'rail|no value of the state"):
        run(lambda state: [state["rale"]], 2, **how)


def test_laws_of_three_arguments_are_called_as_ever() -> None:
    def spring(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        return [30.0 * (0.3 - q[0]) - 8.0 * v[0]]

    expected = recurrence(lambda t, x, v: 30.0 * (0.3 - x) - 8.0 * v, 20)
    assert run(spring, 20)["body.x"] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural", "groups"])
def test_angles_that_are_read_count_their_turns(coordinates: str) -> None:
    m = bl.Model("wheel", plane="xz", gravity=(0, 0, 0))
    wheel = m.body("wheel", mass=1.0, inertia=0.5)
    m.joint("revolute", "hub", m.ground, wheel, axis="y", start=0.2, rates=30.0)
    m.force("actuator", "brake", coordinate="hub")
    seen: list[float] = []

    def law(state: ControlState) -> list[float]:
        seen.append(state["hub"])
        return [0.0]

    bl.simulate(m, 1.0, step=2.5e-4, sample_time=1e-2, control=law, coordinates=coordinates)
    assert seen == pytest.approx(0.2 + 0.3 * np.arange(len(seen)), abs=1e-8)


def test_turns_are_those_nearest_to_the_sample_before() -> None:
    turns = Turns()
    angles = [turns({"a": float(np.angle(np.exp(1j * x)))})["a"] for x in np.arange(0.0, 40.0, 0.9)]
    assert angles == pytest.approx(np.arange(0.0, 40.0, 0.9), abs=1e-12)


@pytest.mark.parametrize(
    "value", [None, "5", 10**400, 1j, [1.0], {}, b"1", object(), np.nan, np.inf, float, iter("ab")]
)
@pytest.mark.parametrize("what", ["kp", "ki", "kd", "target", "limits", "channel", "input"])
def test_a_pid_says_what_is_no_number_or_name(what: str, value: Any) -> None:
    given: dict[str, Any] = {"channel": "rail", "input": "motor", "kp": 1.0, what: value}
    if isinstance(value, str) and what in ("channel", "input"):
        return
    with pytest.raises(ModelError, match=f"PID.*{what}"):
        bl.PID(**given)


@pytest.mark.parametrize("value", [None, "x", 1j, np.zeros(2), np.nan])
def test_a_target_that_is_no_number_is_told_with_its_time(value: Any) -> None:
    with pytest.raises(ModelError, match="PID of rail: target at t = 0 s is a finite number"):
        run(bl.PID("rail", "motor", kp=1.0, target=lambda t: value), 2)


def test_numbers_of_numpy_are_numbers() -> None:
    pid = bl.PID("rail", "motor", kp=np.float32(2.0), limits=np.array([-1.0, 1.0]))  # type: ignore[arg-type]
    assert pid.kp == 2.0 and pid.limits == (-1.0, 1.0)


def test_limits_of_a_pid_are_a_least_and_a_largest_output() -> None:
    with pytest.raises(ModelError, match="PID of rail: limits"):
        bl.PID("rail", "motor", kp=1.0, limits=(1.0, -1.0))
