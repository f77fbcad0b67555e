"""Rheonomic equations: a coordinate follows a law of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from biela.atoms import Atom
from biela.equations.natural.kinds.kind import Kind, Parts

#: A law of time and of parameters.
Law: TypeAlias = Callable[[Atom, Sequence[Atom]], "Atom | float"]


@dataclass(frozen=True)
class Driver(Kind):
    """One component of its part follows a law: x - f(t) = 0."""

    law: Law
    component: int = 0

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One."""
        del dimension
        return ("law",)

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """X - f(t)."""
        return [x[0][self.component] - self.law(t, p)]
