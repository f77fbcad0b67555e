"""A control law for engines that have no formulation: its kernel, and the inputs that it gives."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.control import Controller, controller

__all__ = ["SampledLaw"]

Floats = npt.NDArray[np.float64]
_DOUBLES = ctypes.POINTER(ctypes.c_double)
_SIGNATURE = ctypes.CFUNCTYPE(None, _DOUBLES, _DOUBLES, _DOUBLES, _DOUBLES)


class SampledLaw:
    """A controller of a state (q, v) that nothing is eliminated from.

    Args:
        system: What has the coordinates, velocities, inputs and parameters; where it has none of
            the latter, kernels take the inputs alone.
        law: A function ``u = law(t, q, v)``, or a compiled one; see `biela.analysis.control`.

    Attributes:
        controller: The kernel, and what went wrong in it.

    Raises:
        ModelError: There is nothing to control, or the law cannot be called.
    """

    def __init__(self, system: Any, law: Any) -> None:
        self._nu, parts = len(system.u), SimpleNamespace(q=system.q, v=system.v)
        made: Any = SimpleNamespace(
            reduced=False, size=len(system.q) + len(system.v), unrolled=parts
        )
        self.controller: Controller = controller(system, law, made)
        kernel = self.controller.kernel
        address = getattr(kernel, "address", None) or ctypes.cast(kernel, ctypes.c_void_p).value
        self._call = _SIGNATURE(int(address or 0))

    def __call__(self, t: float, x: Floats, p: Sequence[float] | Floats) -> Floats:
        """The inputs for a state (q, v), from parameters followed by the inputs held so far."""
        rows = [np.ascontiguousarray(part, dtype=float) for part in ([t], x, p)]
        u = np.array(rows[2][len(rows[2]) - self._nu :])
        self._call(*(part.ctypes.data_as(_DOUBLES) for part in (*rows, u)))
        self.controller.raise_failure()
        return u
