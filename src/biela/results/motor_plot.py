"""Torque over speed of a drive, with the limits of a motor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biela.results.style import INK, color, finish, new_figure, plain_axes, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biela.results.motor_sizing import Motor, MotorDuty

__all__ = ["speed_torque"]


def speed_torque(duty: MotorDuty, motor: Motor | None, save: str | Path | None) -> Figure:
    """All four quadrants; the effective torque at the effective speed is a cross.

    Raises:
        ResultsError: the file cannot be written.
    """
    from biela.results.averages import rms

    what, effort, unit = ("force", "N", "m/s") if duty.linear else ("torque", "N·m", "rad/s")
    with styled():
        figure = new_figure(8.0, 4.8)
        axes = figure.add_subplot()
        plain_axes(axes)
        axes.axhline(0, color=INK, linewidth=0.6)
        axes.axvline(0, color=INK, linewidth=0.6)
        axes.plot(duty.speed, duty.torque, color=color(0), linewidth=0.8, alpha=0.5)
        axes.plot(duty.speed, duty.torque, ".", color=color(0), markersize=4, label="needed")
        axes.plot(
            rms(duty.t, duty.speed),
            duty.continuous_torque,
            "X",
            color=color(1),
            markersize=9,
            label=f"effective × {duty.safety:g}",
        )
        if motor is not None:
            w = np.linspace(0, motor.max_speed, 100)
            peak = motor.peak_at(w)
            steady = np.full_like(w, motor.continuous_torque)
            for limit, stroke, label in ((peak, "-", "peak"), (steady, "--", "continuous")):
                x = np.concatenate([-w[::-1], w, w[::-1], -w, -w[-1:]])
                y = np.concatenate([limit[::-1], limit, -limit[::-1], -limit, limit[-1:]])
                axes.plot(x, y, stroke, color=INK, linewidth=1.1, label=f"{motor.name}: {label}")
        axes.margins(x=0.05, y=0.08)
        axes.set_xlabel(f"speed [{unit}]")
        axes.set_ylabel(f"{what} [{effort}]")
        axes.set_title(duty.name, loc="left")
        axes.legend(
            loc="upper left",
            bbox_to_anchor=(1.005, 1.02),
            frameon=False,
            handlelength=1.8,
            borderaxespad=0.0,
        )
    return finish(figure, save)
