"""Which gear suits a motor and a load.

The motor of a rotary drive behind a gear of ratio i and efficiency η turns at i ω and gives

    τ_m = J i ω' + τ/(i η)  where the load takes power, τ ω > 0,
    τ_m = J i ω' + τ η/i    where it gives power back,

with the torque τ and the speed ω of the load and its own inertia J. Without losses

    ∫ τ_m² dt = J² i² ∫ ω'² dt + 2 J ∫ τ ω' dt + ∫ τ² dt / i²

is least at

    i⁴ = ∫ τ² dt / (J² ∫ ω'² dt).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.results.averages import rms
from biela.results.channels import Array
from biela.results.interpolation import slopes
from biela.results.motor_sizing import Motor, MotorDuty
from biela.results.tables import Table

__all__ = ["gear_ratios", "geared", "lossless_ratio"]


def geared(
    load: MotorDuty,
    ratio: float,
    inertia: float = 0.0,
    efficiency: float = 1.0,
    acceleration: ArrayLike | None = None,
) -> MotorDuty:
    """The duty of the motor behind a gear; see the module.

    Args:
        load: what is needed after the gear.
        ratio: speed of the motor over that of the load.
        inertia: of the motor, about its own axis.
        efficiency: of the gear, more than 0 up to 1.
        acceleration: of the load, (k,); by default from the differences of its speed.

    Raises:
        ResultsError: the ratio is not positive or the efficiency not between 0 and 1.
        ShapeError: the accelerations are not (k,).
    """
    if not (np.isfinite(ratio) and ratio > 0):
        raise ResultsError(f"a gear ratio of {ratio!r}: it should be a positive number")
    if not 0 < efficiency <= 1:
        raise ResultsError(f"an efficiency of {efficiency!r}: it lies between 0 and 1")
    alpha = _accelerations(load, acceleration)
    loss = np.where(load.power > 0, 1 / efficiency, efficiency)
    torque = inertia * ratio * alpha + load.torque * loss / ratio
    name = f"{load.name}, gear 1:{ratio:.4g}"
    return MotorDuty(load.t, torque, ratio * load.speed, load.safety, name, load.linear)


def gear_ratios(
    load: MotorDuty,
    motor: Motor,
    ratios: Sequence[float] | ArrayLike | None = None,
    *,
    efficiency: float = 1.0,
    acceleration: ArrayLike | None = None,
) -> Table:
    """What each gear ratio asks of a motor; the best of those that fit comes first.

    Args:
        load: what is needed after the gear.
        motor: its limits and its inertia.
        ratios: to be tried, as those of a catalogue; by default 60 from a tenth of to all of what
            the speed of the motor allows.
        efficiency: of the gear.
        acceleration: of the load, (k,); by default from the differences of its speed.

    Returns:
        A table with the columns ratio, rms, peak, speed, use (the largest of effective torque with
        safety, peak torque and speed, as parts of what the motor has, in percent) and fits, by use.

    Raises:
        ResultsError: no ratio is given, one is not positive, or the load does not move.
    """
    if ratios is None:
        if load.max_speed == 0:
            raise ResultsError(f"{load.name}: a load that does not move allows any gear: give some")
        largest = motor.max_speed / load.max_speed
        ratios = np.geomspace(0.1 * largest, largest, 60)
    tried = np.atleast_1d(np.asarray(ratios, dtype=np.float64))
    if not len(tried):
        raise ResultsError("give at least one gear ratio")
    alpha = _accelerations(load, acceleration)
    rows = []
    for ratio in tried.tolist():
        duty = geared(load, ratio, motor.inertia, efficiency, alpha)
        needed = duty.margins(motor)
        parts = [
            n / a
            for n, a in zip(needed["needed"], needed["available"], strict=True)
            if not isinstance(n, str) and not isinstance(a, str)
        ]
        fits = "yes" if duty.fits(motor) else "NO"
        figures = (duty.rms_torque, duty.peak_torque, duty.max_speed)
        rows.append((ratio, *figures, 100 * float(max(parts)), fits))
    rows.sort(key=lambda row: row[4])
    effort, speed = ("N", "m/s") if load.linear else ("N·m", "rad/s")
    return Table(
        ("ratio", "rms", "peak", "speed", "use", "fits"),
        ("", effort, effort, speed, "%", ""),
        tuple(rows),
        f"{load.name} with {motor.name}",
        4,
    )


def lossless_ratio(load: MotorDuty, inertia: float, acceleration: ArrayLike | None = None) -> float:
    """The ratio of least effective torque of a motor of that inertia, without losses.

    Raises:
        ResultsError: the inertia is not positive, or the load does not accelerate.
    """
    turning = rms(load.t, _accelerations(load, acceleration)) * inertia
    if not (np.isfinite(turning) and turning > 0):
        raise ResultsError(f"{load.name}: without inertia or acceleration there is no best ratio")
    return float(np.sqrt(load.rms_torque / turning))


def _accelerations(load: MotorDuty, given: ArrayLike | None) -> Array:
    if given is None:
        return slopes(load.t, load.speed)
    alpha = np.asarray(given, dtype=np.float64)
    if alpha.shape != load.t.shape:
        raise ShapeError(
            f"the accelerations have shape {alpha.shape}, the times have {load.t.shape}"
        )
    return alpha
