"""The kinematic structure of a model: its structural groups in the order in which they are solved.

`biela.structural_groups` finds it.  Large models have hundreds of thousands of bodies, so what is
kept are integers; a `Group` with its names is made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from biela.equations.groups.elements import Elements
from biela.equations.groups.group import Group

__all__ = ["Freedom", "Groups", "KindTable", "Structure"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Freedom:
    """A motion that no driver gives.

    Attributes:
        bodies: The bodies that take part in it.
        coordinates: Joint coordinates that change in it, any of which a driver could give.
    """

    bodies: tuple[str, ...]
    coordinates: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class KindTable:
    """All groups of one kind as integers: a row for each, in solution order.

    Attributes:
        kind: The canonical label.
        name: What people call it.
        groups: (n,) numbers of the groups.
        bodies: (n, bodies of a group) numbers of bodies in canonical order, as
            `biela.equations.blocks` counts them: bodies of the model, then of its parts.
        joints: (n, joints of a group) numbers of joints, couplings, drivers and held spins in
            canonical order, as `biela.equations.groups.elements` counts them.
        known: (n, known bodies) numbers of the bodies it rests on in canonical order; -1 is the
            ground.
        sides: (n, joints of a group) whether the marker i of an element stands where others have j.
        example: The first of them.
    """

    kind: str
    name: str
    groups: Integers
    bodies: Integers
    joints: Integers
    known: Integers
    sides: npt.NDArray[np.bool_]
    example: Group


class Groups(Sequence[Group]):
    """The groups of a structure, made when they are asked for.

    Args:
        count: How many there are.
        make: Gives the group of a number.
    """

    def __init__(self, count: int, make: Callable[[int], Group]) -> None:
        self._count = count
        self._make = make
        self._made: dict[int, Group] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Group: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Group, ...]: ...

    def __getitem__(self, index: int | slice) -> Group | tuple[Group, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(self._count)))
        k = index + self._count if index < 0 else index
        if not 0 <= k < self._count:
            raise IndexError(f"there are {self._count} groups, and no number {index}")
        if k not in self._made:
            self._made[k] = self._make(k)
        return self._made[k]

    def __iter__(self) -> Iterator[Group]:
        return (self[k] for k in range(self._count))


@dataclass(frozen=True, eq=False)
class Structure:
    """The groups of a model in solution order.

    Attributes:
        model: Name of the model.
        plane: The plane it is declared to move in, if any.
        bodies: Number of moving bodies.
        groups: In solution order.
        kinds: Numbers of the groups of each kind, by canonical label, in the order they appear.
        tables: The same groups as integers, by canonical label.
        levels: Numbers of the groups that rest only on groups of levels before: they may be solved
            side by side.
        freedoms: Motions that want a driver; with any, the bodies that take part are in no group.
        undetermined: Bodies in no group.
        redundant: Rows that depend on the others ("joint.row"), over all groups; the first ones if
            they are very many.
        redundant_count: How many there are.
        one_group: Why the model does not split, if it is one group; else None.
        independent: Joint coordinates taken as if they were driven.
        positions: At how many assembled positions the ranks were looked at.
        elements: The joints, couplings and drivers that tables count; None for one made by hand.
    """

    model: str
    plane: str | None
    bodies: int
    groups: Sequence[Group]
    kinds: dict[str, tuple[int, ...]]
    tables: dict[str, KindTable]
    levels: tuple[tuple[int, ...], ...]
    freedoms: tuple[Freedom, ...] = ()
    undetermined: tuple[str, ...] = ()
    redundant: tuple[str, ...] = ()
    redundant_count: int = 0
    one_group: str | None = None
    independent: tuple[str, ...] = ()
    positions: int = 0
    elements: Elements | None = None

    @property
    def determined(self) -> bool:
        """Whether drivers give the motion of every body."""
        return not self.freedoms and not self.undetermined

    @property
    def largest(self) -> int:
        """Number of bodies of the largest group."""
        return max((table.bodies.shape[1] for table in self.tables.values()), default=0)

    def group_of(self, body: str) -> int:
        """The number of the group of a body.

        Raises:
            KeyError: It is in no group.
        """
        for k, group in enumerate(self.groups):
            if body in group.bodies:
                return k
        raise KeyError(body)

    def wanting(self) -> str:
        """What has no driver, in words; empty if all is determined."""
        if self.determined:
            return ""
        bodies = list(self.undetermined) or [b for f in self.freedoms for b in f.bodies]
        named = ", ".join(bodies[:6]) + ("" if len(bodies) <= 6 else f" and {len(bodies) - 6} more")
        found = [c for freedom in self.freedoms for c in freedom.coordinates]
        hint = f": drive {' or '.join(dict.fromkeys(found[:6]))}" if found else ""
        count = len(self.freedoms)
        plural = "s want" if count > 1 else " wants"
        motions = f"{count} motion{plural} a driver" if count else "they move"
        return f"{named} can still move, {motions}{hint}"

    def report(self) -> str:
        """The structure as a text."""
        from biela.equations.groups.report import report

        return report(self)

    def __str__(self) -> str:
        """Return the report."""
        return self.report()
