"""Sets of bodies that are solved together, in order: by counting where it is enough, else by rank.

Counting splits the rows into an over-determined part, which rests on nothing else, a part with as
many rows as unknowns, and an under-determined part on which nothing else rests.  In the second part
the strong components are the groups; every one of them is checked by rank.  The first part, and
whatever a singular group takes with it, is split by rank (`determined`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.equations.groups.determined import split
from biela.equations.groups.subchain_units import subchain_units
from biela.equations.groups.subchains import Subchains, subchains
from biela.equations.groups.units import Rows, units
from biela.graph.structure import Condensation, Units, assigned, condensed

__all__ = ["Counted", "Grouping", "by_counting", "counted", "grouping", "ordered", "regrouped"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Grouping:
    """A partition of the bodies, in solution order.

    Attributes:
        group: (bodies,) the group of each body; -1 for bodies that nothing determines.
        element: (elements,) the group whose rows an element belongs to; -1 for elements that touch
            undetermined bodies.
        order: The groups with what rests on what, and their levels.
        counted: (groups,) whether a group has as many rows as unknowns by counting.
    """

    group: Integers
    element: Integers
    order: Condensation
    counted: Flags

    @property
    def count(self) -> int:
        """Number of groups."""
        return self.order.count

    def bodies(self) -> tuple[Integers, Integers]:
        """Where the bodies of each group begin, and the bodies, ascending in each group."""
        return _listed(self.group, self.count)

    def elements(self) -> tuple[Integers, Integers]:
        """Where the elements of each group begin, and the elements, likewise."""
        return _listed(self.element, self.count)


def _listed(group: Integers, count: int) -> tuple[Integers, Integers]:
    members = np.flatnonzero(group >= 0)
    order = members[np.argsort(group[members], kind="stable")]
    start = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(group[members], minlength=count), out=start[1:])
    return start, order


def counted(given: Units, bodies: int, tails: Integers | None = None) -> tuple[Integers, Flags]:
    """Strong components by counting: (bodies,) their numbers or -1, and the bodies they miss.

    Nodes after the first ``bodies`` are those of subchains; ``tails`` are the nodes that each node
    has to come after whatever the assignment is, -1 for none.

    Returns:
        Numbers in solution order, -1 for the over- and under-determined bodies; and which bodies
        are over-determined, or rest on ones that are not determined.
    """
    found = assigned(given)
    entry, head = given.entries, found.head[given.of_entries]
    kept = (head >= 0) & (head != entry)
    a, b = entry[kept], head[kept]
    if tails is not None:
        more = np.flatnonzero(tails >= 0)
        a, b = np.concatenate([a, tails[more]]), np.concatenate([b, more])
    order = condensed(given.nodes, a, b)
    part = order.part.copy()
    part[found.over | found.under] = -1
    return part[:bodies], found.over[:bodies]


@dataclass(frozen=True, eq=False)
class Counted:
    """What counting says.

    Attributes:
        part: (bodies,) groups in solution order, -1 for none.
        over: (bodies,) the over-determined part.
        chains: Planar and spherical subchains that were used, if there are any.
    """

    part: Integers
    over: Flags
    chains: Subchains | None = None


def by_counting(rows: Rows) -> Counted:
    """The groups by counting, with the dimension of planar and spherical subchains."""
    part, over = counted(units(rows), rows.bodies)
    if rows.width != 6 or not over.any():
        return Counted(part, over)
    chains = subchains(rows, over)
    if not chains.count:
        return Counted(part, over)
    return Counted(*counted(*_with_bodies(rows, chains)), chains)


def _with_bodies(rows: Rows, chains: Subchains) -> tuple[Units, int, Integers]:
    given, after = subchain_units(rows, chains)
    return given, rows.bodies, after


def grouping(rows: Rows, singular: Integers | None = None) -> tuple[Grouping, Counted]:
    """The groups of a model, those by counting that are ``singular`` split by rank."""
    found = by_counting(rows)
    none = np.zeros(0, dtype=np.int64)
    return regrouped(rows, found.part, found.over, none if singular is None else singular), found


def regrouped(rows: Rows, part: Integers, over: Flags, singular: Integers) -> Grouping:
    """The groups, with the over-determined part and singular groups split by rank.

    Args:
        rows: The equations.
        part: (bodies,) groups by counting, -1 for none.
        over: (bodies,) the over-determined part.
        singular: Groups by counting that the rank shows to be singular.
    """
    first = split(rows, np.flatnonzero(over).tolist(), ())
    solved = {b for group in first.groups for b in group}
    lost = {*first.left, *np.flatnonzero(np.isin(part, singular) & (part >= 0)).tolist()}
    final = np.where((part >= 0) & ~over, part + len(first.groups), -1)
    by_count = np.zeros(int(final.max(initial=-1)) + 1 + rows.bodies + len(solved), dtype=bool)
    by_count[final[final >= 0]] = True
    for k, group in enumerate(first.groups):
        final[list(group)] = k
    if lost:
        known = _unaffected(rows, final, lost, solved)
        rest = set(range(rows.bodies)) - known
        final[sorted(rest)] = -1
        base = int(final.max(initial=-1)) + 1
        for k, group in enumerate(split(rows, rest, known).groups):
            final[list(group)] = base + k
            by_count[base + k] = False
    return ordered(rows, final, by_count)


def _unaffected(rows: Rows, part: Integers, lost: set[int], solved: set[int]) -> set[int]:
    """Bodies whose solution needs none of those that are lost."""
    known, ahead = set(solved), list(lost)
    gone = set(lost)
    members: dict[int, list[int]] = {}
    for b in np.flatnonzero(part >= 0).tolist():
        members.setdefault(int(part[b]), []).append(b)
    while ahead:
        b = ahead.pop()
        for e in rows.elements_of([b]):
            for c in rows.elements.touched[e].tolist():
                if c < 0 or c in gone or c in known:
                    continue
                # what comes later in the order may rest on it
                if part[c] < 0 or part[b] < 0 or part[c] >= part[b]:
                    more = set(members.get(int(part[c]), [c]))
                    gone |= more
                    ahead += more
    return known | {b for b in np.flatnonzero(part >= 0).tolist() if b not in gone}


def ordered(rows: Rows, part: Integers, by_count: Sequence[bool] | Flags) -> Grouping:
    """Groups in the order in which they can be solved, the one with the lowest body first.

    ``part`` numbers the groups in an order that can be solved for each element: the last of its
    bodies' groups is the one whose rows it belongs to.
    """
    numbers, group = np.unique(part[part >= 0], return_inverse=True)
    body = np.full(rows.bodies, -1, dtype=np.int64)
    body[part >= 0] = group
    touched = rows.elements.touched
    there = touched >= 0
    own = np.where(there, body[np.maximum(touched, 0)], -1)
    lost = (there & (own < 0)).any(axis=1)
    lost |= np.bincount(rows.element, minlength=len(rows.elements)) == 0  # brings no equation
    last = np.where(lost, -1, own.max(axis=1, initial=-1))
    arrow = there & (own >= 0) & (own != last[:, None]) & (last >= 0)[:, None]
    heads = np.broadcast_to(last[:, None], own.shape)[arrow]
    rank = np.full(len(numbers), np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(rank, group, np.flatnonzero(part >= 0))
    order = condensed(len(numbers), own[arrow], heads, rank)
    counted_groups = np.zeros(len(numbers), dtype=bool)
    counted_groups[order.part] = np.asarray(by_count, dtype=bool)[numbers]
    place = np.append(order.part, -1)  # -1 stays -1
    final_body, final_element = place[body], place[last]
    return Grouping(final_body, final_element, order, counted_groups)
