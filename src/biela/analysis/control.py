"""Sampled controllers: Python functions, or compiled ones, that set the inputs of a run.

A controller is called at equal intervals and its output is held in between (zero-order hold).
Compiled ones have the signature of kernels,

    void control(const double *t, const double *x, const double *p, double *u),

with x = (q, v) and p the parameters followed by the inputs: a `numba.cfunc`, a ctypes function or
anything with an ``address``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biela.equations import System
from biela.errors import ModelError

_DOUBLES = ctypes.POINTER(ctypes.c_double)
_SIGNATURE = ctypes.CFUNCTYPE(None, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)


@dataclass
class Controller:
    """A kernel that computes the inputs, and what went wrong in it."""

    kernel: Any
    failures: list[BaseException] = field(default_factory=list)

    def raise_failure(self) -> None:
        """Raise what the Python function raised, if it did."""
        if self.failures:
            raise self.failures[0]


def controller(system: System, law: Any, size: int) -> Controller:
    """The kernel of a control law: compiled already, or a function ``u = law(t, q, v)``.

    A Python law returns an array in the order of the inputs, or the inputs it sets by name; the
    others keep their values.

    Raises:
        ModelError: There is nothing to control, or the law cannot be called.
    """
    if not system.u:
        raise ModelError(
            f"{system.name} has no inputs, so a controller has nothing to set: declare them with "
            f"inputs(…) and use them in wrenches"
        )
    if hasattr(law, "address") or isinstance(law, type(_SIGNATURE()).__mro__[1]):
        return Controller(law)
    if not callable(law):
        raise ModelError(f"a controller is a function u = law(t, q, v), not {law!r}")
    return _in_python(system, law, size)


def _in_python(system: System, law: Callable[..., Any], size: int) -> Controller:
    nq, np_, nu = len(system.q), len(system.p), len(system.u)
    names = [entry.name for entry in system.u]
    failures: list[BaseException] = []

    def call(t: Any, x: Any, p: Any, u: Any) -> None:
        state = np.ctypeslib.as_array(x, (size,)).copy()
        held = np.ctypeslib.as_array(p, (np_ + nu,))[np_:].copy()
        target = np.ctypeslib.as_array(u, (nu,))
        try:
            found = law(t[0], state[:nq], state[nq:])
            if isinstance(found, Mapping):
                for name, value in found.items():
                    if name not in names:
                        raise ModelError(
                            f"the controller sets {name}, but {system.name} has the inputs "
                            f"{', '.join(names)}"
                        )
                    held[names.index(name)] = float(value)
                target[:] = held
            else:
                values = np.asarray(found, dtype=float).reshape(-1)
                if len(values) != nu:
                    raise ModelError(
                        f"the controller returned {len(values)} numbers; {system.name} has the "
                        f"{nu} inputs {', '.join(names)}"
                    )
                target[:] = values
        except BaseException as error:  # nothing may unwind through native code
            failures.append(error)
            target[:] = np.nan

    return Controller(_SIGNATURE(call), failures)
