"""Units of rows with the dimension of planar and spherical subchains: see `subchains`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations.groups.subchains import Subchains
from biela.equations.groups.units import Rows
from biela.graph.structure import Units

__all__ = ["subchain_units"]

Integers = npt.NDArray[np.int64]


def subchain_units(rows: Rows, found: Subchains) -> tuple[Units, Integers]:
    """Units with the dimension of each subchain, and the node that each node has to come after.

    Nodes are the bodies, then the subchains; those on the ground have no unknowns.
    """
    n = rows.bodies
    inner = found.element[rows.element] >= 0
    # a joint of a subchain removes three less than it does in space
    place = np.arange(len(rows.element)) - _first(rows.element)[rows.element]
    count = np.bincount(rows.element, minlength=len(rows.elements))
    kept = ~inner | (place < count[rows.element] - 3)
    touched = rows.touched[kept]
    inner = inner[kept]
    chain = np.where(touched >= 0, found.body[np.maximum(touched, 0)], -1)
    chain = np.where((chain >= 0) & ~np.append(found.grounded, True)[chain], chain, -1)
    chain[inner] = -1
    nodes = np.concatenate([touched, np.where(chain >= 0, n + chain, -1)], axis=1)
    # two bodies of a subchain bring its node once
    for k in range(touched.shape[1] + 1, nodes.shape[1]):
        for other in range(touched.shape[1], k):
            nodes[nodes[:, other] == nodes[:, k], k] = -1
    there = nodes >= 0
    start = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.cumsum(there.sum(axis=1), out=start[1:])
    capacity = np.concatenate(
        [np.where(found.body >= 0, 3, 6), np.where(found.grounded, 0, 3)]
    ).astype(np.int64)
    after = np.full(n + found.count, -1, dtype=np.int64)
    floating = (found.body >= 0) & ~np.append(found.grounded, True)[found.body]
    after[:n][floating] = n + found.body[floating]
    return Units(capacity, start, np.ascontiguousarray(nodes[there])), after


def _first(element: Integers) -> Integers:
    """Where the rows of each element begin; those of one stand together."""
    first = np.zeros(int(element.max(initial=-1)) + 1, dtype=np.int64)
    begin = np.flatnonzero(np.r_[True, np.diff(element) != 0]) if len(element) else first
    first[element[begin]] = begin
    return first
