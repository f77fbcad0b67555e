"""Names of what the instances of an array have, written when somebody reads them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import overload

#: An instance, counted from the one whose name it is.
_RELATIVE = re.compile(r"\[([+-]\d+)\]")


class InstanceNames(Sequence[str]):
    """Names with instances in them: "cell[+0].crank", of so many instances one after the other.

    >>> names = InstanceNames([(0, 1, ["c[+0].a"]), (1, 3, ["c[+0].a", "c[-1].b"])])
    >>> len(names), names[0], names[4], list(names[-2:])
    (7, 'c[0].a', 'c[1].b', ['c[3].a', 'c[2].b'])
    """

    def __init__(self, segments: Sequence[tuple[int, int, Sequence[str]]]) -> None:
        self._segments = list(segments)
        self._starts: list[int] = []
        self._size = 0
        for _, count, names in self._segments:
            self._starts.append(self._size)
            self._size += count * len(names)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(self._size))]
        at = place + self._size if place < 0 else place
        if not 0 <= at < self._size:
            raise IndexError(place)
        k = bisect_right(self._starts, at) - 1
        first, _, names = self._segments[k]
        instance, part = divmod(at - self._starts[k], len(names))
        return _written(names[part], first + instance)

    def __iter__(self) -> Iterator[str]:
        for first, count, names in self._segments:
            for k in range(first, first + count):
                yield from (_written(name, k) for name in names)


def _written(name: str, instance: int) -> str:
    return _RELATIVE.sub(lambda found: f"[{instance + int(found[1])}]", name)
