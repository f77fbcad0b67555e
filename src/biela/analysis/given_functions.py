"""Functions that people give, such as controllers and reactions to events, and what they return."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["called_in_vain", "real_numbers", "shown", "takes"]

Floats = npt.NDArray[np.float64]

_NOT_REAL: Final = (complex, np.complexfloating, np.datetime64, np.timedelta64)

_SHORT: Final = reprlib.Repr()
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxarray = 12
_SHORT.maxstring = _SHORT.maxother = 200


def takes(function: Callable[..., Any], count: int) -> bool | None:
    """Whether so many positional arguments can be given to a function; None if nothing is known.

    >>> takes(lambda t, q=0: q, 2), takes(lambda t: t, 2), takes(int, 2)
    (True, False, None)
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of code in C nothing is known
        return None
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def called_in_vain(error: BaseException) -> bool:
    """Whether a call that was caught where it stands failed before any code in Python ran.

    Then code in C refuses its arguments; what is wrong within a function of Python is its own.
    """
    trace = error.__traceback__
    return trace is not None and trace.tb_next is None


def real_numbers(value: Any) -> Floats:
    """What was returned as an array of doubles; dates and complex numbers are none.

    Raises:
        ValueError: It is something else, or beyond all doubles.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind in "cmM" or (
            array.dtype.kind == "O" and any(isinstance(x, _NOT_REAL) for x in array.flat)
        ):
            raise ValueError("neither dates nor complex numbers are real numbers")
        return np.array(array, dtype=float)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def shown(value: Any) -> str:
    """A value for a message, on one line and shortened where it is long."""
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # whatever the object of a caller does
        return f"a {type(value).__name__}"
