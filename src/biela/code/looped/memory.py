"""The workspace of a looped program: one flat array of doubles in named segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from biela.code.arrays import Floats
from biela.errors import UnknownNameError

Places: TypeAlias = npt.NDArray[np.int64]


class Inside(int):
    """The size of a vector that is a part of another, from the place ``start`` of that on."""

    vector: str
    start: int

    def __new__(cls, size: int, vector: str, start: int = 0) -> Inside:
        """Of a size, inside of a vector."""
        made = super().__new__(cls, size)
        made.vector, made.start = vector, start
        return made


class Memory:
    """Where the vectors of a program lie in its workspace, one after the other.

    >>> memory = Memory({"q": 2, "v": 2, "work": 12})
    >>> w = memory.array()
    >>> memory.view(w, "v")[:] = 1.0
    >>> memory.rows("work", 6)
    array([ 4, 10])
    >>> memory = Memory({"x": Inside(2, "y", 1), "y": 4})
    >>> memory.places("x"), memory.size
    (array([1, 2]), 4)

    Args:
        sizes: The vectors and how many doubles each has, in order; `Inside` those of a part of
            another vector.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = dict(sizes)
        self._first: dict[str, int] = {}
        self.size = 0
        for name, size in self.sizes.items():
            if not isinstance(size, Inside):
                self._first[name] = self.size
                self.size += size
        for name, size in self.sizes.items():
            if isinstance(size, Inside):
                self._first[name] = self.first(size.vector) + size.start

    def first(self, name: str) -> int:
        """The first place of a vector.

        Raises:
            UnknownNameError: There is none of that name.
        """
        if name not in self._first:
            raise UnknownNameError(
                f"the workspace has no vector {name!r}; it has {', '.join(self.sizes)}"
            )
        return self._first[name]

    def places(self, name: str) -> Places:
        """All places of a vector."""
        return self.first(name) + np.arange(self.sizes[name])

    def rows(self, name: str, width: int) -> Places:
        """First places of the rows of a vector that holds rows of that width."""
        return self.first(name) + np.arange(0, self.sizes[name], width)

    def view(self, w: Floats, name: str) -> Floats:
        """The part of a workspace that is a vector."""
        first = self.first(name)
        return w[first : first + self.sizes[name]]

    def array(self) -> Floats:
        """A new workspace, of zeros."""
        return np.zeros(self.size)
