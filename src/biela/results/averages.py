"""Means over time of values with straight lines between the instants."""

from __future__ import annotations

import numpy as np

from biela.results.channels import Array

__all__ = ["integral", "mean", "rms"]


def integral(t: Array, y: Array) -> float:
    """∫ y dt."""
    return float(np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(t)))


def mean(t: Array, y: Array) -> float:
    """∫ y dt over the time; at a single instant y itself."""
    span = float(t[-1] - t[0])
    return integral(t, y) / span if span > 0 else float(np.mean(y))


def rms(t: Array, y: Array) -> float:
    """√(∫ y² dt over the time), of a line from a to b: (a² + a b + b²)/3."""
    span = float(t[-1] - t[0])
    if span <= 0:
        return float(np.sqrt(np.mean(y**2)))
    a, b = y[:-1], y[1:]
    return float(np.sqrt(np.sum((a**2 + a * b + b**2) / 3 * np.diff(t)) / span))
