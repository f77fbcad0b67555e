"""What a drive must give — peak and effective torque, power, speed — and whether a motor can.

From the torque τ and the speed ω over one cycle. A linear drive is the same with forces in N and
speeds in m/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.results.averages import mean, rms
from biela.results.channels import Array, instants
from biela.results.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Motor", "MotorDuty", "motor_duty"]

#: Powers below this part of peak torque times largest speed are the rounding of a zero.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Motor:
    """The limits of a motor, as in its data sheet.

    Attributes:
        continuous_torque: that it gives for ever at rest, N·m; of a linear motor a force, N.
        peak_torque: that it gives for a short time.
        max_speed: rad/s, or m/s.
        inertia: of its rotor, kg·m²; of a linear motor the moving mass, kg.
        name: what to call it.
        corner_speed: where the peak torque begins to fall, in a line to the continuous torque at
            the largest speed; None if it does not fall.
    """

    continuous_torque: float
    peak_torque: float
    max_speed: float
    inertia: float = 0.0
    name: str = "motor"
    corner_speed: float | None = None

    def __post_init__(self) -> None:
        for what in ("continuous_torque", "peak_torque", "max_speed"):
            value = getattr(self, what)
            if not (np.isfinite(value) and value > 0):
                raise ResultsError(f"{self.name}: {what} = {value!r} should be a positive number")
        if not (np.isfinite(self.inertia) and self.inertia >= 0):
            raise ResultsError(f"{self.name}: inertia = {self.inertia!r} cannot be negative")
        if self.peak_torque < self.continuous_torque:
            raise ResultsError(f"{self.name}: the peak torque is below the continuous torque")
        if self.corner_speed is not None and not 0 <= self.corner_speed < self.max_speed:
            raise ResultsError(f"{self.name}: the corner speed is not below the largest speed")

    def peak_at(self, speed: ArrayLike) -> Array:
        """The largest torque at a speed; zero above the largest speed."""
        w = np.abs(np.asarray(speed, dtype=np.float64))
        corner = self.max_speed if self.corner_speed is None else self.corner_speed
        last = self.peak_torque if self.corner_speed is None else self.continuous_torque
        limit = np.interp(w, [corner, self.max_speed], [self.peak_torque, last])
        return np.where(w > self.max_speed * (1 + 1e-12), 0.0, limit)


@dataclass(frozen=True, eq=False)
class MotorDuty:
    """What a drive must give over a cycle.

    Attributes:
        t: the instants, (k,).
        torque: over time, (k,), N·m; of a linear drive a force, N.
        speed: over time, (k,), rad/s; of a linear drive m/s.
        safety: factor on the effective torque.
        name: of the drive.
        linear: whether it is a linear drive.
    """

    t: Array
    torque: Array
    speed: Array
    safety: float = 1.5
    name: str = "drive"
    linear: bool = False

    @property
    def peak_torque(self) -> float:
        """The largest |τ|."""
        return float(np.abs(self.torque).max())

    @property
    def peak_time(self) -> float:
        """When it is needed."""
        return float(self.t[np.argmax(np.abs(self.torque))])

    @property
    def rms_torque(self) -> float:
        """√(∫ τ² dt / T), which heats a motor as a constant torque would."""
        return rms(self.t, self.torque)

    @property
    def continuous_torque(self) -> float:
        """The torque a motor should be able to give for ever: safety times the effective one."""
        return self.safety * self.rms_torque

    @property
    def max_speed(self) -> float:
        """The largest |ω|."""
        return float(np.abs(self.speed).max())

    @property
    def power(self) -> Array:
        """τ ω over time, (k,); negative where the load drives the motor."""
        return self.torque * self.speed

    @property
    def peak_power(self) -> float:
        """The largest power given to the load, 0 if it takes none."""
        return max(0.0, float(self.power.max()))

    @property
    def peak_braking_power(self) -> float:
        """The largest power taken from the load, 0 if it gives none."""
        return max(0.0, -float(self.power.min()))

    @property
    def mean_power(self) -> float:
        """∫ τ ω dt / T."""
        return mean(self.t, self.power)

    @property
    def energy(self) -> float:
        """Energy given to the load in the cycle, without what comes back, J."""
        return self.mean_power * float(self.t[-1] - self.t[0]) + self.regenerated_energy

    @property
    def regenerated_energy(self) -> float:
        """Energy that comes back from the load, to be stored or burnt, J."""
        return _below_zero(self.t, self.power)

    def table(self) -> Table:
        """The figures of the duty, with powers and energies that are rounding as 0."""
        # the work of a cycle that gives back what it took is rounding only
        power = _ROUNDING * self.peak_torque * self.max_speed
        energy = power * float(self.t[-1] - self.t[0])
        effort, speed = ("N", "m/s") if self.linear else ("N·m", "rad/s")
        what = "force" if self.linear else "torque"
        rows = (
            (f"peak {what}", self.peak_torque, effort),
            (f"time of the peak {what}", self.peak_time, "s"),
            (f"effective (rms) {what}", self.rms_torque, effort),
            (f"continuous {what} with safety {self.safety:g}", self.continuous_torque, effort),
            ("largest speed", self.max_speed, speed),
            ("effective (rms) speed", rms(self.t, self.speed), speed),
            ("peak power", _or_zero(self.peak_power, power), "W"),
            ("peak braking power", _or_zero(self.peak_braking_power, power), "W"),
            ("mean power", _or_zero(self.mean_power, power), "W"),
            ("energy given", _or_zero(self.energy, energy), "J"),
            ("energy regenerated", _or_zero(self.regenerated_energy, energy), "J"),
        )
        return Table(("figure", "value", "unit"), ("", "", ""), rows, self.name, 4)

    def margins(self, motor: Motor) -> Table:
        """What a motor has over what is needed, in percent; negative where it falls short.

        The continuous torque is judged with the safety factor, the peak torque at every instant
        against the limit at the speed then.
        """
        # an instant that is too fast is told by the speed
        limit = motor.peak_at(np.minimum(np.abs(self.speed), motor.max_speed))
        worst = int(np.argmax(np.abs(self.torque) / limit))
        rows = []
        for what, needed, there in (
            ("continuous torque", self.continuous_torque, motor.continuous_torque),
            ("peak torque", float(np.abs(self.torque[worst])), float(limit[worst])),
            ("speed", self.max_speed, motor.max_speed),
        ):
            margin = 100 * (there / needed - 1) if needed > 0 else np.inf
            rows.append((what, needed, there, margin, "yes" if there >= needed else "NO"))
        return Table(
            ("figure", "needed", "available", "margin", "enough"),
            ("", "", "", "%", ""),
            tuple(rows),
            f"{self.name} with {motor.name}",
            4,
        )

    def fits(self, motor: Motor) -> bool:
        """Whether the motor can do it."""
        return "NO" not in self.margins(motor)["enough"]

    def plot(self, motor: Motor | None = None, *, save: str | Path | None = None) -> Figure:
        """Draw torque over speed, with the limits of a motor if one is given.

        Raises:
            ResultsError: the file cannot be written.
        """
        from biela.results.motor_plot import speed_torque

        return speed_torque(self, motor, save)

    def __str__(self) -> str:
        """Return the figures as text."""
        return str(self.table())


def motor_duty(
    t: ArrayLike,
    torque: ArrayLike,
    speed: ArrayLike,
    *,
    safety: float = 1.5,
    name: str = "drive",
    linear: bool = False,
) -> MotorDuty:
    """What a drive must give, from its torque and speed over a cycle.

    Args:
        t: the instants, (k,), at least two.
        torque: (k,), N·m; of a linear drive a force, N.
        speed: (k,), rad/s or m/s.
        safety: factor on the effective torque.
        name: of the drive.
        linear: whether it is a linear drive.

    Raises:
        ShapeError: the arrays differ in length.
        ResultsError: a value is not known, the cycle has no length, or the factor is below one.
    """
    times = instants(t)
    tau, w = (np.asarray(x, dtype=np.float64) for x in (torque, speed))
    for what, array in (("torque", tau), ("speed", w)):
        if array.shape != times.shape:
            raise ShapeError(f"the {what} has shape {array.shape}, the times have {times.shape}")
        if not np.isfinite(array).all():
            k = int(np.argmin(np.isfinite(array)))
            raise ResultsError(f"{name}: the {what} is not known at {times[k]:g} s")
    if times[-1] <= times[0]:
        raise ResultsError(f"{name}: a cycle needs instants from a beginning to an end")
    if not (np.isfinite(safety) and safety >= 1):
        raise ResultsError(f"{name}: safety = {safety!r} should be at least 1")
    return MotorDuty(times, tau, w, float(safety), name, linear)


def _or_zero(value: float, least: float) -> float:
    return value if abs(value) > least else 0.0


def _below_zero(t: Array, y: Array) -> float:
    """-∫ min(y, 0) dt of the straight lines between the instants."""
    a, b, h = y[:-1], y[1:], np.diff(t)
    cross = (a < 0) != (b < 0)
    deep = np.minimum(a, b)
    # a line through zero is below it for the part deep/(deep - high) of the step
    part = np.where(cross, deep / np.where(cross, deep - np.maximum(a, b), 1.0), 1.0)
    area = np.where(cross, 0.5 * deep * part, 0.5 * (np.minimum(a, 0) + np.minimum(b, 0)))
    return float(-np.sum(area * h))
