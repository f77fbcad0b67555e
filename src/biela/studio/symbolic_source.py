"""Where a symbolic model comes from, and how it comes again with other values of its symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

import biela as bl
from biela.errors import ModelError
from biela.spelling import nearest

__all__ = ["SymbolicSource"]


@dataclass(eq=False)
class SymbolicSource:
    """A system of symbols that a program made.

    Its equations hold for all values of its parameters: they are derived once for all visitors.

    Attributes:
        given: The system, which is not changed.
    """

    given: bl.SymbolicSystem
    _derived: bl.System | None = field(default=None, repr=False)
    _turn: Lock = field(default_factory=Lock, repr=False)

    def system(self, parameters: Mapping[str, float]) -> bl.System:
        """The equations, at values of parameters.

        Raises:
            BielaError: They cannot be derived, or there is no such parameter.
        """
        with self._turn:
            if self._derived is None:
                self._derived = self.given.equations().system
        known = [entry.name for entry in self._derived.p]
        for name in parameters:
            if name not in known:
                raise ModelError(
                    f"{self.given.name} has no parameter {name!r}{nearest(name, known)}"
                )
        values = (replace(e, value=parameters.get(e.name, e.value)) for e in self._derived.p)
        return replace(self._derived, p=tuple(values))

    def model(
        self, parameters: Mapping[str, float], start: Mapping[str, float]
    ) -> bl.SymbolicSystem:
        """A copy with other parameters, and with another start.

        Raises:
            ModelError: There is no such coordinate or velocity.
        """
        values = self.given.parameter_values
        made = self.given.with_solids(
            self.given.solids, {p: parameters.get(p.name, x) for p, x in values.items()}
        )
        made.start(**start)
        return made
