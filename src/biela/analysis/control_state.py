"""What a controller sees, the state by the names of joints and sensors; and a PID controller."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, sparsity
from biela.doors import doors
from biela.equations import System
from biela.errors import ModelError, UnknownNameError
from biela.results.naming import unknown

__all__ = ["PID", "ControlState", "Readings", "Turns", "system_readings"]

Floats = npt.NDArray[np.float64]
#: Values by name that are found when one of them is asked for.
Readings: TypeAlias = Callable[["ControlState"], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class ControlState:
    """The state of a mechanism at a sample of its controller.

    ``state["A"]`` and ``state["A.angle_rate"]`` are a coordinate and a rate of a joint, whichever
    coordinates the equations have; ``state["tip.x"]`` is what a sensor reads, and
    ``state["motor"]`` the input that is held.

    Attributes:
        t: Time, s.
        q: Coordinates of the equations, in their order.
        v: Velocities, likewise.
        u: Inputs that have been held until now.
    """

    t: float
    q: Floats
    v: Floats
    u: Floats
    _names: tuple[Sequence[str], Sequence[str], Sequence[str]] = ((), (), ())
    _joints: Readings = lambda state: {}
    _outputs: Readings = lambda state: {}

    @cached_property
    def sensors(self) -> Mapping[str, float]:
        """What the sensors of the model read, by name."""
        return self._outputs(self)

    @cached_property
    def _own(self) -> dict[str, float]:
        vectors = (self.u, self.v, self.q)
        known: dict[str, float] = {}
        for names, values in zip(reversed(self._names), vectors, strict=True):
            known |= zip(names, values.tolist(), strict=True)
        return known

    @cached_property
    def _read(self) -> Mapping[str, float]:
        return self._joints(self)

    def __getitem__(self, name: str) -> float:
        """The value of that name, in SI units.

        Raises:
            UnknownNameError: Nothing is called so.
        """
        if not isinstance(name, str):
            raise unknown(name, "value of the state", self._own)
        for known in (self._own, _Later(self, "_read"), _Later(self, "sensors")):
            if name in known:
                return known[name]
        for among in (self._names[0], self._read):
            found = _alone(name, among)
            if found:
                return self[found]
        raise unknown(name, "value of the state", [*self._own, *self._read, *self.sensors])


@dataclass(frozen=True)
class _Later:
    """Readings that are found when somebody looks among them."""

    state: ControlState
    which: str

    def __contains__(self, name: object) -> bool:
        return name in getattr(self.state, self.which)

    def __getitem__(self, name: str) -> float:
        return float(getattr(self.state, self.which)[name])


def _alone(name: str, among: Iterable[str]) -> str:
    """The only coordinate of a joint of that name, "A.angle" for "A"; else ""."""
    found = [one for one in among if one.startswith(f"{name}.") and not one.endswith("_rate")]
    return found[0] if len(found) == 1 else ""


class Turns:
    """Angles that are read from markers, counted over any number of turns.

    Less than half a turn lies between two samples.
    """

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def __call__(self, angles: Mapping[str, float]) -> dict[str, float]:
        """The angles nearest to those of the sample before."""
        for name, angle in angles.items():
            before = self._last.get(name, angle)
            self._last[name] = angle + 2 * np.pi * round((before - angle) / (2 * np.pi))
        return {name: self._last[name] for name in angles}


def system_readings(system: System, p: Floats) -> tuple[Readings, Readings]:
    """Coordinates of joints that are no coordinates of the system, and outputs.

    Outputs of forces in joints, or of accelerations, are found in a step and not before it: they
    are left out.
    """
    turns = Turns()
    names = [entry.name for entry in system.joint_coordinates]
    angles = {entry.name for entry in system.joint_coordinates if entry.rate}
    hidden = _found_in_steps(system) if system.y else set()

    def asked(name: str, state: ControlState) -> Any:
        return system.evaluate(name, state.q, state.v, t=state.t, u=state.u, p=p)

    def joints(state: ControlState) -> Mapping[str, float]:
        if not names:
            return {}
        values, rates = (np.atleast_1d(part) for part in asked("joint_coordinates", state))
        found = dict(zip(names, values.tolist(), strict=True))
        found |= turns({name: found[name] for name in names if name in angles})
        return found | dict(zip((f"{name}_rate" for name in names), rates.tolist(), strict=True))

    def outputs(state: ControlState) -> Mapping[str, float]:
        if not system.y:
            return {}
        values = np.atleast_1d(asked("outputs", state)).tolist()
        named = zip((entry.name for entry in system.y), values, strict=True)
        return {name: x for k, (name, x) in enumerate(named) if k not in hidden}

    return joints, outputs


def _found_in_steps(system: System) -> set[int]:
    """The outputs that depend on multipliers or accelerations."""
    function = system["outputs"]
    later = [
        Atom(function.table, ref)
        for array in function.inputs
        if array.name in ("lam", "a")
        for ref in array.refs
    ]
    return {k for k, _ in sparsity(list(function.expressions()), later)}


def _shown(value: object) -> str:
    """A value in a message."""
    return reprlib.repr(value)


#: A target that moves, of the time.
Target: TypeAlias = float | Callable[[float], float]


@doors(ModelError)
@dataclass
class PID:
    """A sampled PID controller of one input by one coordinate or sensor.

        u = kp e + ki ∫ e dt - kd ẋ,      e = target - x

    The integral is that of rectangles, and stands still while the output is at a limit that it
    would only go further beyond (Åström & Hägglund 2006, §3.5).  The rate ẋ is that of the
    coordinate where the state has it, else the difference of two samples.

    >>> position = PID("A", "motor", kp=40.0, ki=5.0, kd=2.0, target=0.5, limits=(-10.0, 10.0))

    Give it to a run, ``simulate(model, 2.0, control=position, sample_time=1e-3)``.

    Attributes:
        channel: What is controlled, such as "A", "slide.displacement" or "tip.z".
        input: The input that it sets.
        kp: Gain of the error.
        ki: Gain of its integral, per second.
        kd: Gain of the rate, in seconds.
        target: Where the channel is to be, in SI units, or a function of the time.
        limits: The least and the largest output.
    """

    channel: str
    input: str
    kp: float
    ki: float = 0.0
    kd: float = 0.0
    target: Target = 0.0
    limits: tuple[float, float] = (-np.inf, np.inf)
    _integral: float = field(default=0.0, init=False, repr=False)
    _before: tuple[float, float] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for what in ("channel", "input"):
            if not isinstance(getattr(self, what), str):
                raise ModelError(f"PID: {what} is a name, not {_shown(getattr(self, what))}")
        for gain in ("kp", "ki", "kd"):
            setattr(self, gain, self._number(gain, getattr(self, gain)))
        if not callable(self.target) or isinstance(self.target, type):
            self.target = self._number("target", self.target)
        try:
            low, high = (float(limit) for limit in self.limits)
        except (TypeError, ValueError, OverflowError):
            low, high = 0.0, 0.0
        if not low < high:
            raise ModelError(
                f"PID of {self.channel}: limits are a least and a largest output, such as "
                f"(-10.0, 10.0), not {_shown(self.limits)}"
            )
        self.limits = low, high

    def _number(self, what: str, value: Any) -> float:
        """A finite number.

        Raises:
            ModelError: It is none.
        """
        try:
            found = float(value) if isinstance(value, SupportsFloat) else np.nan
        except (TypeError, ValueError, OverflowError):
            found = np.nan
        if not np.isfinite(found):
            raise ModelError(
                f"PID of {self.channel}: {what} is a finite number in SI units, not {_shown(value)}"
            )
        return found

    def reset(self) -> None:
        """Forget what was integrated; every run begins with it."""
        self._integral, self._before = 0.0, None

    def __call__(self, state: ControlState) -> dict[str, float]:
        """The input for a state, by name."""
        t, x = state.t, state[self.channel]
        wanted = self.target
        if callable(wanted):
            wanted = self._number(f"target at t = {t:.6g} s", wanted(t))
        error = wanted - x
        passed = 0.0 if self._before is None else t - self._before[0]
        rate = 0.0
        if self.kd:
            try:
                rate = state[f"{self._full(state)}_rate"]
            except UnknownNameError:
                rate = (x - self._before[1]) / passed if self._before and passed > 0 else 0.0
        low, high = self.limits
        grown = self._integral + self.ki * error * passed
        output = self.kp * error + grown - self.kd * rate
        if low <= output <= high or (output > high) == (error < 0):
            self._integral = grown
        self._before = (t, x)
        return {self.input: float(np.clip(output, low, high))}

    def _full(self, state: ControlState) -> str:
        """The name of the coordinate, "A.angle" for "A"."""
        return _alone(self.channel, (*state._names[0], *state._read)) or self.channel
