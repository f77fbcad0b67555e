"""The structure of a model from its equations at some positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from biela.equations.groups.freedoms import freedoms_of
from biela.equations.groups.group import Group, PassiveSpin, Space
from biela.equations.groups.grouping import Counted, Grouping, grouping
from biela.equations.groups.kinds import KindRows, kinds_of
from biela.equations.groups.passive import Spin, passive_spins, with_locks
from biela.equations.groups.structure import Groups, KindTable, Structure
from biela.equations.groups.units import Rows
from biela.equations.groups.verifying import redundant_rows, singular_groups
from biela.model.joints import Joint

__all__ = ["Passive", "grouped_rows", "structure_of"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: What becomes of turns that move nothing else.
Passive = Literal["hold", "report"]
#: Rows that are named one by one.
_NAMED = 10_000


def grouped_rows(
    rows: Rows,
    independent: Mapping[int, str] | None = None,
    passive: Passive = "hold",
    elsewhere: Callable[[], Rows] | None = None,
) -> tuple[Rows, Grouping, list[KindRows], list[Spin]]:
    """The groups of rows by kind, all of them regular; the rows with passive spins held.

    Args:
        rows: The equations.
        independent: Elements that stand for coordinates taken as known, with their names.
        passive: "hold" passive spins, or "report" them as freedoms.
        elsewhere: The equations at more positions, which are asked for if a group is singular: a
            dead point is singular where it is, special dimensions everywhere.
    """
    spins = passive_spins(rows) if passive == "hold" else []
    held = with_locks(rows, spins)
    flags = np.zeros(len(held.elements), dtype=bool)
    flags[list(independent or ())] = True
    singular: set[int] = set()
    while True:
        found, count = grouping(held, np.array(sorted(singular), dtype=np.int64))
        kinds = kinds_of(held, found, _spaces(held, found, count), flags)
        bad = [singular_groups(held, kind) for kind in kinds]
        worse = np.concatenate(bad) if bad else np.zeros(0, dtype=np.int64)
        bodies = np.isin(found.group, worse) & (found.group >= 0)
        more = set(count.part[bodies].tolist()) - {-1}
        if not more - singular:
            return held, found, kinds, spins
        if elsewhere is not None:
            return grouped_rows(elsewhere(), independent, passive)
        singular |= more


def _spaces(rows: Rows, found: Grouping, count: Counted) -> list[Space]:
    """Where the bodies of each group move: a subchain matters where its rows are too many."""
    if rows.width == 3:
        return ["plane"] * found.count
    spaces: list[Space] = ["space"] * found.count
    chains = count.chains
    if chains is None:
        return spaces
    own = np.bincount(found.element[rows.element] + 1, minlength=found.count + 1)[1:]
    size = np.bincount(found.group + 1, minlength=found.count + 1)[1:]
    joint = np.array([isinstance(sort.element, Joint) for sort in rows.elements.sorts] + [False])
    joint_elements = joint[rows.elements.sort] & (found.element >= 0)
    chain = np.full(len(rows.elements), -1, dtype=np.int64)
    chain[: len(chains.element)] = chains.element
    outside = np.zeros(found.count, dtype=bool)
    outside[found.element[joint_elements & (chain < 0)]] = True
    turning = np.zeros(found.count, dtype=bool)
    inner = joint_elements & (chain >= 0)
    turning[found.element[inner]] = chains.spherical[chain[inner]]
    for g in np.flatnonzero((own > 6 * size) & ~outside).tolist():
        spaces[g] = "sphere" if turning[g] else "plane"
    return spaces


def structure_of(
    rows: Rows,
    name: str,
    independent: Mapping[int, str] | None = None,
    passive: Passive = "hold",
    elsewhere: Callable[[], Rows] | None = None,
) -> Structure:
    """The structure of a model.

    Args:
        rows: Its equations at assembled positions.
        name: What it is called.
        independent: Elements that stand for coordinates taken as known, with their names.
        passive: "hold" passive spins, or "report" them as freedoms.
        elsewhere: The equations at more positions, if a group is singular at those of ``rows``.
    """
    held, found, kinds, spins = grouped_rows(rows, independent, passive, elsewhere)
    dropped = {kind.label: redundant_rows(held, kind) for kind in kinds}
    named = _NamedGroups(held, found, kinds, dropped, spins, independent or {})
    groups = Groups(found.count, named)
    left = np.flatnonzero(found.group < 0).tolist()
    known = set(np.flatnonzero(found.group >= 0).tolist()) if left else set()
    level = found.order.level
    by_level = np.argsort(level, kind="stable")
    cuts = np.flatnonzero(np.diff(level[by_level])) + 1
    redundant = np.sort(
        np.concatenate([np.zeros(0, np.int64), *(d.ravel() for d in dropped.values())])
    )
    return Structure(
        model=name,
        plane=rows.plane,
        bodies=rows.bodies,
        groups=groups,
        kinds={kind.label: tuple(kind.groups.tolist()) for kind in kinds},
        tables={
            kind.label: KindTable(
                kind.label,
                kind.name,
                kind.groups,
                kind.bodies,
                kind.elements,
                kind.known,
                kind.sides,
                groups[int(kind.groups[0])],
            )
            for kind in kinds
        },
        levels=_cut(by_level.tolist(), [0, *cuts.tolist(), found.count]) if found.count else (),
        freedoms=freedoms_of(held, left, known),
        undetermined=tuple(rows.elements.bodies[b] for b in left),
        redundant=tuple(held.elements.row_name(int(held.number[r])) for r in redundant[:_NAMED]),
        redundant_count=len(redundant),
        one_group=_one_group(found, kinds, rows.bodies),
        independent=tuple((independent or {}).values()),
        positions=len(held.values),
        elements=held.elements,
    )


def _cut(numbers: list[int], cuts: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(numbers[a:b]) for a, b in pairwise(cuts))


def _one_group(found: Grouping, kinds: list[KindRows], bodies: int) -> str | None:
    if found.count != 1 or bodies < 2 or kinds[0].bodies.shape[1] < bodies:
        return None
    return (
        f"no smaller set of its {bodies} bodies has as many independent equations as unknowns: "
        f"each body needs all the others"
    )


@dataclass(frozen=True, eq=False)
class _NamedGroups:
    """Makes groups with names out of integers."""

    rows: Rows
    found: Grouping
    kinds: list[KindRows]
    dropped: dict[str, Integers]
    spins: list[Spin]
    independent: Mapping[int, str]

    @cached_property
    def _where(self) -> Integers:
        """(groups, 2) the kind of each group, and its row there."""
        where = np.zeros((self.found.count, 2), dtype=np.int64)
        for k, kind in enumerate(self.kinds):
            where[kind.groups] = np.stack(
                [np.full(len(kind.groups), k), np.arange(len(kind.groups))], axis=1
            )
        return where

    def __call__(self, number: int) -> Group:
        """The group of a number."""
        k, row = (int(x) for x in self._where[number])
        kind, elements = self.kinds[k], self.rows.elements
        names = elements.bodies
        own = kind.elements[row].tolist()
        proper = sorted(e for e in own if e < elements.proper and e not in self.independent)
        known = sorted({int(b) for b in kind.known[row] if b >= 0})
        after = sorted({int(self.found.group[b]) for b in known})
        locks = [e - elements.proper for e in own if e >= elements.proper]
        return Group(
            bodies=tuple(names[int(b)] for b in np.sort(kind.bodies[row])),
            joints=tuple(elements.name(e) for e in proper),
            drivers=tuple(elements.name(e) for e in proper if elements.is_driver[e]),
            known=tuple(names[b] for b in known),
            after=tuple(after),
            level=int(self.found.order.level[number]),
            space=kind.space,
            kind=kind.label,
            name=kind.name,
            bodies_in_order=tuple(names[int(b)] for b in kind.bodies[row]),
            joints_in_order=tuple(self.independent.get(e) or elements.name(e) for e in own),
            known_in_order=tuple(
                "ground" if b < 0 else names[int(b)] for b in kind.known[row].tolist()
            ),
            sides=tuple(bool(side) for side in kind.sides[row]),
            locked=tuple(self._spin(self.spins[lock]) for lock in sorted(locks)),
            redundant=tuple(
                elements.row_name(int(self.rows.number[r])) for r in self.dropped[kind.label][row]
            ),
            independent=tuple(self.independent[e] for e in own if e in self.independent),
        )

    def _spin(self, spin: Spin) -> PassiveSpin:
        rows, names = self.rows, self.rows.elements.bodies
        R, r = rows.axes[0][spin.body], rows.centres[0][spin.body]
        axis = R.T @ spin.axes[0]
        points = [R.T @ (p - r) + rows.frames[spin.body] for p in spin.points]
        return PassiveSpin(
            names[spin.body],
            tuple(names[b] for b in spin.bodies),
            tuple(rows.elements.name(e) for e in spin.balls),
            tuple((float(p[0]), float(p[1]), float(p[2])) for p in points),
            (float(axis[0]), float(axis[1]), float(axis[2])),
        )
