"""Ready-made laws of time: ramps, smooth steps, trapezoids of velocity, harmonic motion.

With u the part of the way in time, cut off at its ends,

    u = min(1, max(0, (t - start)/(stop - start))),

a motion from a to b is f = a + (b - a) g(u).  For

    ramp           g = u                            velocity jumps
    smooth step    g = u³ (10 - 15 u + 6 u²)        velocity and acceleration are continuous
    cycloid        g = u - sin(2πu)/(2π)            the same, with less velocity at its height

(Angeles & López-Cajún, *Optimization of Cam Mechanisms*, 1991, ch. 2; the second is "3-4-5".)

Numbers may be texts with units and parameters: `smooth_step(0, "L/2", 0, "500 ms")`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from biela.atoms import Atom, Workspace, maximum, minimum, select, sign, sin, sqrt
from biela.errors import ModelError
from biela.model.laws.law import Law
from biela.model.quantities.dimensions import near
from biela.model.quantities.units import expression, parameters_of, quantity

__all__ = ["Profile", "cycloid", "harmonic", "ramp", "smooth_step", "trapezoid"]

Value: TypeAlias = float | str


@dataclass(frozen=True)
class Profile(Law):
    """A law out of the list of this module, by its name and its numbers.

    Attributes:
        kind: "ramp", "smooth step", "cycloid", "trapezoid" or "harmonic".
        numbers: Its numbers, in the order of the fields of its kind.
    """

    kind: str
    numbers: tuple[Value, ...]

    def __post_init__(self) -> None:
        if str(self.kind) not in _KINDS:  # also of a kind that is no text
            raise ModelError(f"unknown profile {self.kind!r}{near(str(self.kind), list(_KINDS))}")
        kind = _KINDS[self.kind]
        fixed: dict[str, float] = {}
        kept: list[Value] = []
        for (name, dimension), value in zip(kind.fields.items(), self.numbers, strict=True):
            names = parameters_of(value)
            if "t" in names:
                raise ModelError(f"{name} of a {self.kind} cannot depend on t: {value!r}")
            if not names:
                fixed[name] = quantity(value, "any" if dimension == "value" else dimension)
            kept.append(value if isinstance(value, str) else fixed[name])
        for name in ("velocity", "acceleration"):
            if fixed.get(name, 1.0) <= 0:
                raise ModelError(f"the {name} of a {self.kind} must be positive")
        if fixed.get("stop", math.inf) <= fixed.get("start", -math.inf):
            raise ModelError(
                f"a {self.kind} must stop after it starts, not from {fixed['start']:g} s to "
                f"{fixed['stop']:g} s"
            )
        object.__setattr__(self, "numbers", tuple(kept))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Profile:
        """From the fields of a file.

        Raises:
            ModelError: The profile or a field is unknown, or a field is missing.
        """
        fields = dict(data)
        kind = fields.pop("profile")
        if not isinstance(kind, str) or kind not in _KINDS:
            raise ModelError(f"unknown profile {kind!r}{near(str(kind), list(_KINDS))}")
        known, default = _KINDS[kind].fields, _KINDS[kind].default
        for name in fields:
            if name not in known:
                raise ModelError(f"a {kind} has no field {name!r}{near(str(name), list(known))}")
        for name in known:
            if name not in fields and name not in default:
                raise ModelError(f"a {kind} needs {name!r}")
        return cls(kind, tuple(fields[name] if name in fields else default[name] for name in known))

    def to_data(self) -> dict[str, Any]:
        """The name of the profile and its numbers."""
        names = _KINDS[self.kind].fields
        return {"profile": self.kind, **dict(zip(names, self.numbers, strict=True))}

    @property
    def parameters(self) -> frozenset[str]:
        """The names in its numbers."""
        return frozenset().union(*(parameters_of(value) for value in self.numbers))

    def expression(
        self,
        workspace: Workspace,
        parameters: Mapping[str, Atom | float] | None = None,
        dimension: str = "any",
        time: Atom | None = None,
    ) -> Atom:
        """The profile as an atom; see `Law.expression`."""
        kind = _KINDS[self.kind]
        t = workspace.time if time is None else time
        arguments = []
        for value, of in zip(self.numbers, kind.fields.values(), strict=True):
            # values have the dimension of the law, which only the caller knows
            wanted = dimension if of == "value" else of
            arguments.append(expression(value, parameters or {}, wanted))
        return workspace.atom(kind.build(t, *arguments))


def ramp(first: Value, last: Value, start: Value, stop: Value) -> Law:
    """From one value to another at constant speed between two times.

    Its velocity jumps: driving a position with it asks for infinite forces at its ends.

    Raises:
        ModelError: It stops before it starts.
    """
    return Profile("ramp", (first, last, start, stop))


def smooth_step(first: Value, last: Value, start: Value, stop: Value) -> Law:
    """From one value to another between two times, with continuous velocity and acceleration.

    At its height it is 15/8 times as fast as a ramp; its largest acceleration is
    10/√3 (b - a)/(stop - start)².

    Raises:
        ModelError: It stops before it starts.
    """
    return Profile("smooth step", (first, last, start, stop))


def cycloid(first: Value, last: Value, start: Value, stop: Value) -> Law:
    """The same by a cycloid: at most twice as fast as a ramp, acceleration a sine.

    Raises:
        ModelError: It stops before it starts.
    """
    return Profile("cycloid", (first, last, start, stop))


def trapezoid(first: Value, last: Value, start: Value, velocity: Value, acceleration: Value) -> Law:
    """From one value to another with a trapezoid of velocity, as fast as the limits allow.

    It takes d/v + v/a seconds, with d the distance and v the velocity, or √(d a) on a way too short
    to reach it.

    Args:
        first: The value it starts from.
        last: The value it ends at.
        start: When.
        velocity: The largest speed, positive.
        acceleration: The acceleration and deceleration, positive.

    Raises:
        ModelError: A limit is not positive.
    """
    return Profile("trapezoid", (first, last, start, velocity, acceleration))


def harmonic(amplitude: Value, frequency: Value, phase: Value = 0.0, mean: Value = 0.0) -> Law:
    """Mean + amplitude sin(ω t + phase), with the angular frequency ω in rad/s."""
    return Profile("harmonic", (amplitude, frequency, phase, mean))


# --- what they compute, on atoms ------------------------------------------------------------------


def _part(t: Any, start: Any, stop: Any) -> Any:
    return minimum(1.0, maximum(0.0, (t - start) / (stop - start)))


def _ramp(t: Any, a: Any, b: Any, start: Any, stop: Any) -> Any:
    return a + (b - a) * _part(t, start, stop)


def _smooth_step(t: Any, a: Any, b: Any, start: Any, stop: Any) -> Any:
    u = _part(t, start, stop)
    return a + (b - a) * u**3 * (10 - 15 * u + 6 * u**2)


def _cycloid(t: Any, a: Any, b: Any, start: Any, stop: Any) -> Any:
    u = _part(t, start, stop)
    return a + (b - a) * (u - sin(2 * math.pi * u) / (2 * math.pi))


def _trapezoid(t: Any, a: Any, b: Any, start: Any, fastest: Any, acceleration: Any) -> Any:
    """With x₊ = max(x, 0): f = a ± α/2 (τ² - (τ - t₁)₊² - (τ - t₂)₊²), 0 <= τ <= t₁ + t₂.

    The time is cut off at the end, as squares of a growing time would cancel badly.
    """
    distance = abs(b - a)
    speed = minimum(fastest, sqrt(distance * acceleration))
    rise = speed / acceleration
    # no way at all takes no time, and 0/0 is none
    t2 = distance / select(distance > 0.0, speed, 1.0)
    tau = minimum(rise + t2, maximum(0.0, t - start))
    braked = maximum(0.0, tau - t2)
    cruised = maximum(0.0, tau - rise)
    return a + sign(b - a) * acceleration / 2 * (tau**2 - cruised**2 - braked**2)


def _harmonic(t: Any, amplitude: Any, frequency: Any, phase: Any, mean: Any) -> Any:
    return mean + amplitude * sin(frequency * t + phase)


@dataclass(frozen=True)
class _Kind:
    """The fields of a profile in files with their dimensions, "value" for that of the law."""

    build: Callable[..., Any]
    fields: dict[str, str]
    default: dict[str, float]


_BETWEEN = {"from": "value", "to": "value", "start": "time", "stop": "time"}
_KINDS = {
    "ramp": _Kind(_ramp, _BETWEEN, {}),
    "smooth step": _Kind(_smooth_step, _BETWEEN, {}),
    "cycloid": _Kind(_cycloid, _BETWEEN, {}),
    "trapezoid": _Kind(
        _trapezoid,
        {"from": "value", "to": "value", "start": "time", "velocity": "any", "acceleration": "any"},
        {"start": 0.0},
    ),
    "harmonic": _Kind(
        _harmonic,
        {"amplitude": "value", "frequency": "angular velocity", "phase": "angle", "mean": "value"},
        {"phase": 0.0, "mean": 0.0},
    ),
}
