"""Places in a moved frame: numbers where all is numbers, else texts with parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from biela.model.quantities.units import parameters_of
from biela.model.quantities.values import Triple, Value

Floats = npt.NDArray[np.float64]


def combined(
    number: Callable[[Value, str], float],
    origin: Sequence[Value],
    R: Floats,
    place: Sequence[Value],
) -> Triple:
    """The places origin + R place: numbers where both are, else texts."""
    x, y, z = (
        _sum(number, [(1.0, origin[row]), *((float(R[row, k]), place[k]) for k in range(3))])
        for row in range(3)
    )
    return x, y, z


def scaled(number: Callable[[Value, str], float], factor: float, value: Value) -> Value:
    """A length times a number."""
    return _sum(number, [(float(factor), value)])


def _sum(number: Callable[[Value, str], float], terms: Sequence[tuple[float, Value]]) -> Value:
    total, texts = 0.0, []
    for factor, value in terms:
        if abs(factor) < 1e-15 or (not isinstance(value, str) and value == 0.0):
            continue
        if isinstance(value, str) and parameters_of(value):
            sign = {1.0: "", -1.0: "-"}.get(factor, f"{factor!r}*")
            texts.append(f"{sign}({value})")
        else:
            total += factor * number(value, "length")
    if not texts:
        return total
    if total:
        texts.append(f"{total!r} m")
    return " + ".join(texts)


def clean(values: Floats) -> Floats:
    """Without the dust of rounding."""
    return np.where(np.abs(values) < 1e-15, 0.0, values)
