"""Runs a routine three ways, by numba, as plain Python and as compiled C, and compares the bits."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biela.code.routines import Routine
from biela.code.routines.types import ArrayType, KernelType, ScalarType

FLAGS = (
    "-std=c99 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
    " -shared -fPIC"
)


def compile_c(text: str, flags: str = FLAGS) -> ctypes.CDLL:
    """Compile C text with warnings as errors; skip the test where there is no gcc."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    return _compiled(text, flags)


@cache
def _compiled(text: str, flags: str) -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp(prefix="biela-test-"))
    (folder / "text.c").write_text(text, encoding="utf-8")
    library = folder / "text.so"
    command = ["gcc", *flags.split(), "-o", str(library), str(folder / "text.c"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + text
    loaded = ctypes.CDLL(str(library))
    shutil.rmtree(folder)
    return loaded


def in_c(routine: Routine[..., Any], flags: str = FLAGS) -> Callable[..., Any]:
    """Return the routine as a function of its C translation, with the arguments of the routine."""
    function = getattr(compile_c(routine.c(), flags), routine.name)
    results = {None: None, ScalarType.INT: ctypes.c_int64, ScalarType.REAL: ctypes.c_double}
    function.restype = results[routine.checked.result]

    def call(*args: Any) -> Any:
        values = []
        for parameter, value in zip(routine.checked.parameters, args, strict=True):
            match parameter.type:
                case ScalarType.INT:
                    values.append(ctypes.c_int64(value))
                case ScalarType.REAL:
                    values.append(ctypes.c_double(value))
                case ArrayType():
                    values.append(ctypes.c_void_p(value.ctypes.data))
                case KernelType():
                    values.append(ctypes.c_void_p(value.address))
        return function(*values)

    return call


def same_bits(routine: Routine[..., Any], *args: Any, flags: str = FLAGS) -> Any:
    """Run the routine all three ways on copies; the arrays of `args` become those of numba."""
    expected_args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    c_args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    result = routine(*args)
    with np.errstate(all="ignore"):
        expected = routine.python(*expected_args)
    _equal(routine.name, "plain Python", result, expected, args, expected_args)
    if shutil.which("gcc") is not None:
        _equal(routine.name, "C", result, in_c(routine, flags)(*c_args), args, c_args)
    return result


def _equal(name: str, way: str, a: Any, b: Any, xs: Any, ys: Any) -> None:
    if isinstance(a, float):
        a, b = np.float64(a).tobytes(), np.float64(b).tobytes()
    assert a == b, f"{name}: {way} returns something else than numba"
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if isinstance(x, np.ndarray):
            # any nan is as good as any other: the sign of a nan is not fixed by IEEE 754
            x, y = (np.where(np.isnan(v), np.nan, v) for v in (x, y))
            assert x.tobytes() == y.tobytes(), f"{name}: {way} differs from numba in argument {k}"
