"""Expressions of a system that are derived in parts, each when one of its entries is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Part:
    """Names of entries that are derived together, and what derives them."""

    names: Sequence[str]
    derive: Callable[[], Mapping[str, Any]]


class Deferred(Mapping[str, Any]):
    """Entries by name; looking for a name derives nothing."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = {name: part for part in parts for name in part.names}
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            part = self._parts[name]
            found = part.derive()
            self._made |= {name: found[name] for name in part.names}
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)
