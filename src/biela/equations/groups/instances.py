"""All instances of one element of a kind of groups, as rows of castings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from biela.equations.blocks.casting import Casting
from biela.equations.blocks.populations import Floats, Frames, Integers
from biela.equations.groups.elements import Elements

__all__ = ["ElementNames", "Instances"]


class ElementNames(Sequence[str]):
    """Names of elements by their numbers, written when somebody reads them."""

    def __init__(self, elements: Elements, numbers: Integers) -> None:
        self._elements, self._numbers = elements, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._elements.name(int(k)) for k in self._numbers[place]]
        return self._elements.name(int(self._numbers[place]))

    def at(self, rows: Integers) -> ElementNames:
        """Some of them."""
        return ElementNames(self._elements, self._numbers[rows])


@dataclass(frozen=True, eq=False)
class Instances:
    """All instances of an element.

    Attributes:
        castings: What they are cast in.
        which: (n,) the casting of each instance.
        row: (n,) its row there.
        names: What each is called.
    """

    castings: Sequence[Casting]
    which: Integers
    row: Integers
    names: Sequence[str]

    def at(self, rows: Integers) -> Instances:
        """Some of them."""
        if len(rows) == len(self.which):
            return self
        names = self.names
        some = names.at(rows) if isinstance(names, ElementNames) else [names[k] for k in rows]
        return Instances(self.castings, self.which[rows], self.row[rows], some)

    def signatures(self) -> Integers:
        """(n,) a number that is the same for instances with the same canonical element."""
        known: dict[Any, int] = {}
        of = [
            known.setdefault((type(c.element), repr(c.element)), len(known)) for c in self.castings
        ]
        return np.array(of, dtype=np.int64)[self.which]

    def values(self, of_castings: Sequence[Any]) -> Any:
        """Rows of castings, put together."""
        first = np.asarray(of_castings[0])
        if len(of_castings) == 1:
            return first[self.row]
        found = np.zeros((len(self.row), *first.shape[1:]), dtype=first.dtype)
        for k, rows in enumerate(of_castings):
            mine = self.which == k
            found[mine] = np.asarray(rows)[self.row[mine]]
        return found

    def frames(self, marker: int) -> Frames:
        """A marker in all instances."""
        found = [casting.frames[marker] for casting in self.castings]
        return Frames(
            self.values([f.body for f in found]),
            self.values([f.place for f in found]),
            self.values([f.axes for f in found]),
        )

    def read(self, text: str, dimension: str) -> Floats:
        """The values of a text with parameters."""
        values = []
        for casting in self.castings:
            value = casting.population.value(text, dimension)
            if isinstance(value, np.ndarray):
                values.append(value[casting.index])
            else:
                values.append(np.full(len(casting), float(value)))
        return np.asarray(self.values(values), dtype=float)
