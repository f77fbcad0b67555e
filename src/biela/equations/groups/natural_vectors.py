"""Vectors of natural coordinates: three atoms in the ground."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats

__all__ = ["Triple", "added", "cleaned_rows", "cross", "difference", "dot", "times"]

Triple: TypeAlias = tuple[Atom, Atom, Atom]


def cleaned_rows(x: Floats) -> Floats:
    """Without the dust of rounding on zeros and ones, 1e-14 of a metre or of a unit vector."""
    near = np.round(x)
    return np.where(np.abs(x - near) < 1e-14, near + 0.0, x)


def added(a: Triple, b: Triple) -> Triple:
    """The sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def difference(a: Triple, b: Triple) -> Triple:
    """The first vector less the second."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(factor: Atom, v: Triple) -> Triple:
    """A vector times a number."""
    return factor * v[0], factor * v[1], factor * v[2]


def dot(a: Triple, b: Triple) -> Atom:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Triple, b: Triple) -> Triple:
    """The vector product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )
