"""How a frame is turned in its body: axes chosen by hand, then turns by angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError
from biela.model.quantities.values import Value

Floats = npt.NDArray[np.float64]
#: A direction: "x", "-y" …, or three numbers.
Direction: TypeAlias = str | Sequence[float]

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
Rows: TypeAlias = tuple[tuple[float, float, float], ...]
IDENTITY: Rows = tuple(_AXES.values())


@dataclass(frozen=True)
class Orientation:
    """R = axes · R(turn 1) · R(turn 2) …: the axes of a frame written in its body.

    ``axes`` are numbers, by rows; each turn is a letter and an angle, which may be a text with
    parameters.
    """

    axes: Rows = IDENTITY
    turns: tuple[tuple[str, Value], ...] = ()


def unit(who: str, direction: Direction) -> Floats:
    """A direction as a unit vector.

    Raises:
        ModelError: It is none.
    """
    if isinstance(direction, str):
        letter = direction.lstrip("+-")
        if letter not in _AXES or len(direction) > 2:
            raise ModelError(
                f"{who}: {direction!r} is not a direction; use x, y, z, -x, -y, -z or three numbers"
            )
        return np.array(_AXES[letter]) * (-1.0 if direction[0] == "-" else 1.0) + 0.0
    try:
        u = np.array(direction, dtype=float)
    except (TypeError, ValueError):
        u = np.zeros(0)
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(u))
    if u.shape != (3,) or not np.isfinite(length) or length == 0.0:
        raise ModelError(f"{who}: {direction!r} is not a direction; give three numbers, not all 0")
    found: Floats = u / length
    return found


def along(who: str, axis: Direction, x: Direction | None = None) -> Orientation:
    """A frame whose z axis is along a direction.

    ``x`` sets its x axis, as nearly as it can be; without it, that of x, y, z which follows the
    axis in turn: a frame along y has its x axis along z.

    Raises:
        ModelError: A direction is none, or the two are parallel.
    """
    if x is None and isinstance(axis, str) and axis in _AXES:
        return _along_letter(axis)
    return _along(who, axis, x)


@cache
def _along_letter(axis: str) -> Orientation:
    return _along("", axis, None)


def _along(who: str, axis: Direction, x: Direction | None) -> Orientation:
    w = unit(who, axis)
    if x is None:
        follows = (int(np.argmax(np.abs(w))) + 1) % 3
        u = np.eye(3)[follows]
    else:
        u = unit(who, x)
    u = u - w * (w @ u)
    if np.linalg.norm(u) < 1e-6:
        raise ModelError(f"{who}: the directions {axis!r} and {x!r} are parallel; choose another x")
    u = u / np.linalg.norm(u)
    return by_rows(np.stack([u, np.cross(w, u), w], axis=1))


def by_rows(matrix: Floats) -> Orientation:
    """A frame whose axes are the columns of a matrix."""
    clean = np.where(np.abs(matrix) < 1e-15, 0.0, matrix)
    return Orientation(tuple((float(a), float(b), float(c)) for a, b, c in clean))


def turned(sequence: str, angles: Sequence[Value]) -> Orientation:
    """A frame turned by angles about its axes one after the other, e.g. ``"zyx"``.

    Raises:
        ModelError: The letters and angles do not fit together.
    """
    if not sequence or set(sequence) - set(_AXES) or len(sequence) != len(angles):
        raise ModelError(
            f"turns are letters of x, y, z and as many angles, not {sequence!r} and {angles!r}"
        )
    return Orientation(turns=tuple(zip(sequence, angles, strict=True)))
