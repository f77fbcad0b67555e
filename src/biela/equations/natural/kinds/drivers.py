"""Rheonomic equations: a coordinate follows a law of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from biela.atoms import Atom
from biela.equations.natural.kinds.kind import Kind, Parts
from biela.errors import ModelError
from biela.model.laws.law import Law as WrittenLaw
from biela.model.laws.law import LawData, law_from

#: A law of time and of parameters.
Law: TypeAlias = Callable[[Atom, Sequence[Atom]], "Atom | float"]


@dataclass(frozen=True)
class NamedLaw:
    """A law as models have it, of the parameters with these names: f(t, p) of `Driver`.

    Attributes:
        written: The law.
        names: Of its parameters, in the order of p.
        dimension: What its units must fit: "angle", "length" or "any".
    """

    written: WrittenLaw
    names: tuple[str, ...]
    dimension: str

    def __call__(self, t: Atom, p: Sequence[Atom]) -> Atom:
        """The law in the workspace of the time."""
        known = dict(zip(self.names, p, strict=True))
        return self.written.expression(t.workspace, known, self.dimension, t)


def named_law(given: LawData, known: Mapping[str, Atom], dimension: str, t: Atom) -> NamedLaw:
    """A law given as in a model, of parameters that are known.

    Raises:
        ParseError: A text cannot be read.
        ModelError: It is no law, has another dimension, or a name in it is no parameter.
    """
    written = law_from(given)
    names = tuple(sorted(written.parameters))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ModelError(
            f"{', '.join(unknown)} is no parameter; there are {', '.join(known) or 'none'}: "
            f"declare it with source.parameters({unknown[0]}=…)"
        )
    made = NamedLaw(written, names, dimension)
    made(t, [known[name] for name in names])  # refuses units that do not fit
    return made


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
