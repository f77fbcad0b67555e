"""The parameters of a robot: what depends on them alone is computed once, not at every state."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.code import Function
from biela.code.columns import ColumnFunction
from biela.errors import DomainError

Floats = npt.NDArray[np.float64]


class HeldParameters:
    """Values of parameters, and for each function what it needs of them.

    Inertias of links about their own frames, products of masses and lengths … are computed when a
    function is first asked for; a state then costs little more than with numbers in the code.
    """

    def __init__(self, p: Floats | None) -> None:
        self._p = p
        self._made: dict[str, tuple[Function, list[Floats]]] = {}

    def of(self, key: str, function: Function) -> tuple[Function, list[Floats]]:
        """The function of a state, and the arrays that it takes after the state."""
        if self._p is None:
            return function, []
        if key not in self._made:
            self._made[key] = self._prepared(function, self._p)
        return self._made[key]

    def _prepared(self, function: Function, p: Floats) -> tuple[Function, list[Floats]]:
        if isinstance(function, ColumnFunction):  # written out, it would be slower
            return function, [p]
        try:
            parts = function.prepared()
        except DomainError:  # nothing depends on parameters alone
            return function, [p]
        return parts.run, [p, np.atleast_1d(np.asarray(parts.prepare(p), dtype=float))]
