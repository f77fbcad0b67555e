"""The loop over Pinocchio in C++, ``pinocchio_rk4.cpp``."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import pinocchio_headers

SOURCE = Path(__file__).with_name("pinocchio_rk4.cpp")


def built() -> bool:
    """Whether the library has been compiled on this machine."""
    return pinocchio_headers.compiled(SOURCE).exists()


@cache
def library() -> Any:
    """The library, compiled now if it never was.

    Raises:
        PeerMissingError: If Pinocchio, Eigen's headers or a C++ compiler are not installed.
    """
    return declared(pinocchio_headers.library(SOURCE))


def declared(native: Any) -> Any:
    """A library with the types of what it takes."""
    integers = np.ctypeslib.ndpointer(np.int32, flags="C_CONTIGUOUS")
    reals = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    handle, count, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
    native.create.restype = handle
    native.create.argtypes = [
        *(count, integers, reals, count, integers, reals, reals, reals, count),
    ]
    native.coordinates.argtypes = native.destroy.argtypes = [handle]
    native.destroy.restype = None
    native.accelerations.argtypes = native.energy.argtypes = [handle, reals, reals, reals]
    native.simulate.argtypes = [handle, real, count, count, reals, reals, reals, reals]
    return native
