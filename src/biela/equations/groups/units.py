"""The rows of a model on the velocities of its bodies, in numbers and as units.

A row is one equation at velocity level, Σ A_b v_b = …, on the few bodies b it touches, with
v = (r', ω) of the centre of mass along the axes of the ground, or in the plane (two rates of place,
rate of the angle).
Coordinates that count turns are eliminated by the rows that define them, so that a gear is written
on the bodies of the two joints it couples.  (Haug 1989, ch. 9, for the rows themselves.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.equations.blocks import ReferenceBlocks
from biela.equations.groups.elements import Elements, elements_of
from biela.graph.structure import Units

__all__ = ["Rows", "rows_of", "units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Singular values of unit rows below this part of the largest are rounding.
RANK = 1e-8


@dataclass(frozen=True, eq=False)
class Rows:
    """The equations of a model at some positions.

    Attributes:
        elements: To which the rows belong.
        bodies: Number of bodies.
        width: Velocities of a body, 6 or 3.
        number: (rows,) the number of each in the equations of the whole.
        element: (rows,) its element.
        values: For each position (rows, most, width): the coefficients on the bodies that
            ``elements.touched`` has; each row of unit length.
        centres: For each position (bodies, 3) the places of the centres of mass, (bodies, 2) in the
            plane.
        axes: For each position (bodies, 3, 3) how the bodies are turned; none in the plane.
        plane: The plane of a planar model.
        frames: (bodies, 3) the centres of mass in the frames of the bodies.
    """

    elements: Elements
    bodies: int
    width: int
    number: Integers
    element: Integers
    values: tuple[Floats, ...]
    centres: tuple[Floats, ...] = ()
    axes: tuple[Floats, ...] = ()
    plane: str | None = None
    frames: Floats = field(default_factory=lambda: np.zeros((0, 3)))

    @cached_property
    def touched(self) -> Integers:
        """(rows, most) the bodies of each row."""
        return self.elements.touched[self.element]

    @cached_property
    def by_element(self) -> tuple[Integers, Integers]:
        """Where the rows of each element begin, and the rows."""
        order = np.argsort(self.element, kind="stable")
        start = np.zeros(len(self.elements) + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.element, minlength=len(self.elements)), out=start[1:])
        return start, order

    @cached_property
    def of_body(self) -> tuple[Integers, Integers]:
        """Where the elements of each body begin, and the elements."""
        touched = self.elements.touched
        number, slot = np.nonzero(touched >= 0)
        body = touched[number, slot]
        order = np.argsort(body, kind="stable")
        start = np.zeros(self.bodies + 1, dtype=np.int64)
        np.cumsum(np.bincount(body, minlength=self.bodies), out=start[1:])
        return start, number[order]

    def elements_of(self, bodies: Sequence[int]) -> list[int]:
        """The elements that touch any of some bodies, in order."""
        start, numbers = self.of_body
        found: set[int] = set()
        for b in bodies:
            found.update(numbers[start[b] : start[b + 1]].tolist())
        return sorted(found)

    def rows_of(self, elements: Sequence[int]) -> Integers:
        """The rows of some elements, one element after the other."""
        start, order = self.by_element
        parts = [order[start[e] : start[e + 1]] for e in elements]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def matrix(self, position: int, rows: Integers, bodies: Sequence[int]) -> Floats:
        """Some rows on the velocities of some bodies, dense."""
        place = {b: k for k, b in enumerate(bodies)}
        A = np.zeros((len(rows), len(bodies), self.width))
        values, touched = self.values[position][rows], self.touched[rows]
        for slot in range(touched.shape[1]):
            for r, b in enumerate(touched[:, slot].tolist()):
                if b >= 0 and b in place:
                    A[r, place[b]] += values[r, slot]
        return A.reshape(len(rows), len(bodies) * self.width)

    def without(self, dropped: Sequence[int] | Integers) -> Rows:
        """The same without the rows of some elements."""
        kept = ~np.isin(self.element, np.asarray(dropped, dtype=np.int64))
        return replace(
            self,
            number=self.number[kept],
            element=self.element[kept],
            values=tuple(v[kept] for v in self.values),
        )

    def carried(self, position: int, v: Floats, there: int, here: int) -> Floats:
        """The velocity that body ``there`` has if it moves with body ``here``, which has v."""
        d = self.centres[position][there] - self.centres[position][here]
        w = v.copy()
        if self.plane is None:
            w[:3] += np.cross(v[3:], d)
        else:
            # the angle counts from z to x in the xz plane
            sign = -1.0 if self.plane == "xz" else 1.0
            w[:2] += sign * v[2] * np.array([-d[1], d[0]])
        return w


def rows_of(
    blocks: ReferenceBlocks,
    positions: Sequence[tuple[float, Floats]],
    elements: Elements | None = None,
) -> Rows:
    """The rows of a model at positions (t, q)."""
    from biela.equations.groups.compiled_rows import filled, turned_units

    found = elements_of(blocks) if elements is None else elements
    width, count = blocks.widths[1], blocks.world.count
    row, column = (np.ascontiguousarray(x, dtype=np.int64) for x in blocks.indices)
    beside = column >= blocks.body_sizes[1]
    pivots: dict[int, int] = {}
    values, centres, axes = [], [], []
    for t, q in positions:
        entries = np.ascontiguousarray(blocks.Phi_v(q, t))
        A = np.zeros((len(blocks.rows), found.touched.shape[1], width))
        filled(row, column, entries, found.element, found.touched, width, count, A)
        if beside.any():
            extra = column[beside] - blocks.body_sizes[1]
            _eliminate(A, found, row[beside], extra, entries[beside], pivots)
        R = np.zeros((0, 3, 3))
        if blocks.plane is None:
            poses = q[: 7 * count].reshape(-1, 7)
            R = _turned(poses[:, 3:])
            centres.append(poses[:, :3].copy())
            axes.append(R)
        else:
            centres.append(q[: 3 * count].reshape(-1, 3)[:, :2].copy())
        turned_units(A, np.ascontiguousarray(found.touched[found.element]), R)
        values.append(A)
    kept = np.ones(len(blocks.rows), dtype=bool)
    kept[list(pivots.values())] = False
    numbers = np.flatnonzero(kept)
    return Rows(
        found,
        count,
        width,
        numbers,
        found.element[numbers],
        tuple(A if kept.all() else A[numbers] for A in values),
        tuple(centres),
        tuple(axes),
        blocks.plane,
        blocks.world.centres,
    )


def _turned(e: Floats) -> Floats:
    """Rotations of Euler parameters, (n, 3, 3)."""
    e0, x, y, z = e.T
    R = np.empty((len(e), 3, 3))
    R[:, 0, 0], R[:, 1, 1], R[:, 2, 2] = (
        2 * (e0**2 + x**2) - 1,
        2 * (e0**2 + y**2) - 1,
        2 * (e0**2 + z**2) - 1,
    )
    R[:, 0, 1], R[:, 1, 0] = 2 * (x * y - e0 * z), 2 * (x * y + e0 * z)
    R[:, 0, 2], R[:, 2, 0] = 2 * (x * z + e0 * y), 2 * (x * z - e0 * y)
    R[:, 1, 2], R[:, 2, 1] = 2 * (y * z - e0 * x), 2 * (y * z + e0 * x)
    return R


def _eliminate(
    A: Floats,
    elements: Elements,
    row: Integers,
    extra: Integers,
    entries: Floats,
    pivots: dict[int, int],
) -> None:
    """Take coordinates that count turns out of the rows, by the row that defines each.

    One that no row defines, as the way along a curve, is solved from the equation of its joint in
    which it counts most.
    """
    defining = np.array([bool(elements.sorts[int(s)].defines) for s in elements.sort], dtype=bool)
    order = np.lexsort((-np.abs(entries), ~defining[elements.element[row]], extra))
    row, extra, entries = row[order], extra[order], entries[order]
    begin = np.flatnonzero(np.r_[True, np.diff(extra) != 0])
    for a, b in zip(begin, np.r_[begin[1:], len(extra)], strict=True):
        x = int(extra[a])
        at = a if x not in pivots else a + int(np.flatnonzero(row[a:b] == pivots[x])[0])
        pivot = pivots.setdefault(x, int(row[at]))
        source = elements.touched[elements.element[pivot]]
        for k in range(a, b):
            r = int(row[k])
            if r == pivot:
                continue
            factor = entries[k] / entries[at]
            own = elements.touched[elements.element[r]].tolist()
            for slot, there in enumerate(source.tolist()):
                if there >= 0:
                    A[r, own.index(there)] -= factor * A[pivot, slot]


def units(rows: Rows) -> Units:
    """The rows as units on bodies, each of which has as many unknowns as velocities."""
    there = rows.touched >= 0
    start = np.zeros(len(rows.element) + 1, dtype=np.int64)
    np.cumsum(there.sum(axis=1), out=start[1:])
    capacity = np.full(rows.bodies, rows.width, dtype=np.int64)
    return Units(capacity, start, np.ascontiguousarray(rows.touched[there]))
