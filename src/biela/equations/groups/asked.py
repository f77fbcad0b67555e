"""Who is asked for what: items of bodies and joints, found at the group that moves them.

What is asked for by groups and users is put together by body: an item that several ask for is given
once.  Each asker is told the kind, the instance and the place among what the instance gives (y).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.cast import Cast
from biela.equations.groups.casts import Casts
from biela.equations.groups.items import Item, ItemKind, components
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.wanted import Wanted
from biela.errors import ModelError

__all__ = ["Asked", "Distribution", "Request"]

_KINDS: Final[tuple[ItemKind, ...]] = ("point", "axis", "turn")


@dataclass(frozen=True, eq=False)
class Request:
    """Items that a user wants: of bodies by number."""

    kind: ItemKind
    body: Integers
    local: Floats = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass(eq=False)
class Asked:
    """What somebody reads: an item in some instances, and where each of them is found.

    Attributes:
        item: What it is.
        places: (n, 3) of each instance its kind, its instance, and its first component in y there.
    """

    item: Item | Request
    places: Integers = field(default_factory=lambda: np.zeros(0, np.int64))


class Distribution:
    """What every kind has to give for all that is asked to be found.

    Args:
        casts: Kinds of groups.
        kinds: The casts that equations belong to.
        equations: Of each kind.
        asked: What is asked; their ``places`` are written.

    Attributes:
        wanted: Of each kind.
        widths: How many numbers that is, of each kind.

    Raises:
        ModelError: A body is in no group, or a coordinate not known to any.
    """

    def __init__(
        self,
        casts: Casts,
        kinds: Sequence[Cast],
        equations: Sequence[GroupEquations],
        asked: Sequence[Asked],
    ) -> None:
        self._casts, self._kinds, self._equations = casts, kinds, equations
        self._owner = self._owners()
        self.wanted: list[list[Wanted]] = [[] for _ in equations]
        self.widths = np.zeros(len(equations), dtype=np.int64)
        for kind in _KINDS:
            of_kind = [a for a in asked if a.item.kind == kind]
            if of_kind:
                self._bodies(kind, of_kind)
        self._joint_coordinates([a for a in asked if a.item.kind == "coordinate"])

    def _owners(self) -> Integers:
        """For each body its cast, instance and slot, (bodies, 3)."""
        found = np.full((self._casts.world.count, 3), -1, dtype=np.int64)
        for c, cast in enumerate(self._kinds):
            for slot in range(cast.size):
                found[cast.bodies[:, slot], 0] = c
                found[cast.bodies[:, slot], 1] = np.arange(cast.count)
                found[cast.bodies[:, slot], 2] = slot
        return found

    def _bodies(self, kind: ItemKind, asked: Sequence[Asked]) -> None:
        rows = []
        for one in asked:
            local = one.item.local if kind != "turn" else np.zeros((len(one.item.body), 3))
            rows.append(np.column_stack([one.item.body, local]))
        table, inverse = _unique_rows(np.concatenate(rows))
        body = table[:, 0].astype(np.int64)
        owner = self._owner[body]
        if (owner[:, 0] < 0).any():
            name = self._casts.world.names[int(body[np.argmax(owner[:, 0] < 0)])]
            raise ModelError(f"{name} is in no group: its motion is not determined")
        rank = _rank_within(body)
        width = components(kind, self._casts.world.model.plane)
        place = np.zeros(len(table), dtype=np.int64)  # of its first component, in y of its instance
        for c, cast in enumerate(self._kinds):
            for slot in range(cast.size):
                mine = np.flatnonzero((owner[:, 0] == c) & (owner[:, 2] == slot))
                for number in range(int(rank[mine].max()) + 1 if len(mine) else 0):
                    these = mine[rank[mine] == number]
                    local = np.zeros((cast.count, 3))
                    local[owner[these, 1]] = table[these, 1:]
                    if len(these) < cast.count and len(these):
                        rest = np.setdiff1d(np.arange(cast.count), owner[these, 1])
                        local[rest] = table[these[0], 1:]
                    given = None if kind == "turn" else local
                    self.wanted[c].append(Wanted(kind, slot, number, given))
                    place[these] = self.widths[c]
                    self.widths[c] += width
        first = 0
        for one in asked:
            n = len(one.item.body)
            at = inverse[first : first + n]
            one.places = np.column_stack([owner[at, 0], owner[at, 1], place[at]])
            first += n

    def _joint_coordinates(self, asked: Sequence[Asked]) -> None:
        if not asked:
            return
        wanted = {name for one in asked for name in _names(one.item)}
        known: dict[str, tuple[int, int, int]] = {}
        for c, cast in enumerate(self._kinds):
            for e, element in cast.joints():
                for coordinate in element.joint.coordinates:
                    mine = [f"{name}.{coordinate.name}" for name in element.names]
                    if not wanted & set(mine):
                        continue
                    if (e, coordinate.name) not in self._equations[c].derivation.coordinates:
                        continue
                    self.wanted[c].append(Wanted("coordinate", e, coordinate=coordinate.name))
                    known |= {name: (c, k, int(self.widths[c])) for k, name in enumerate(mine)}
                    self.widths[c] += 1
        for one in asked:
            missing = [name for name in _names(one.item) if name not in known]
            if missing:
                raise ModelError(f"the coordinate {missing[0]} is not known to any group")
            one.places = np.array([known[name] for name in _names(one.item)])


def _names(item: Item | Request) -> Sequence[str]:
    return item.names if isinstance(item, Item) else ()


def _unique_rows(rows: Floats) -> tuple[Floats, Integers]:
    """The different rows, sorted, and which one each is."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    fresh = np.concatenate([[True], (np.diff(ordered, axis=0) != 0).any(axis=1)])
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(fresh) - 1
    return ordered[fresh], inverse


def _rank_within(keys: Integers) -> Integers:
    """The number of each entry among those with the same key; keys are sorted."""
    fresh = np.concatenate([[True], np.diff(keys) != 0])
    start = np.flatnonzero(fresh)
    found: Integers = np.arange(len(keys)) - np.repeat(start, np.diff([*start, len(keys)]))
    return found
