"""Motions that no driver gives: which bodies take part, and which coordinates a driver could take.

The null space of the rows on the bodies that are left, in a basis of as few bodies each as can be:
its columns reduced so that each has a body of its own to begin with.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from biela.equations.groups.determined import null_space, pieces, rows_among
from biela.equations.groups.structure import Freedom
from biela.equations.groups.units import Rows
from biela.model.joints import Joint

__all__ = ["freedoms_of"]

Floats = npt.NDArray[np.float64]

#: Bodies up to which freedoms are found one by one.
_LARGEST = 120
_MOVES = 1e-6


def freedoms_of(rows: Rows, left: Sequence[int], known: Collection[int]) -> tuple[Freedom, ...]:
    """The motions of bodies that nothing determines."""
    found: list[Freedom] = []
    for piece in pieces(rows, set(left)):
        if len(piece) > _LARGEST:
            found.append(Freedom(tuple(rows.elements.bodies[b] for b in piece)))
        else:
            found += _of_piece(rows, piece, known)
    return tuple(found)


def _of_piece(rows: Rows, piece: list[int], known: Collection[int]) -> list[Freedom]:
    among = rows_among(rows, piece, known)
    spaces = [null_space(rows.matrix(k, among, piece)) for k in range(len(rows.values))]
    k = min(range(len(spaces)), key=lambda k: spaces[k].shape[1])
    N = _reduced(spaces[k])
    found = []
    for column in N.T:
        motion = column.reshape(len(piece), rows.width)
        moving = [b for b, v in zip(piece, motion, strict=True) if np.abs(v).max() > _MOVES]
        names = tuple(rows.elements.bodies[b] for b in moving)
        found.append(Freedom(names, _coordinates(rows, k, piece, motion)))
    return found


def _reduced(N: Floats) -> Floats:
    """The same space with unit pivots: reduced column echelon form, largest pivots first."""
    A = N.copy()
    free = list(range(A.shape[1]))
    while free:
        block = np.abs(A[:, free])
        r, c = np.unravel_index(int(np.argmax(block)), block.shape)
        pivot = free.pop(int(c))
        A[:, pivot] /= A[r, pivot]
        for other in range(A.shape[1]):
            if other != pivot:
                A[:, other] -= A[r, other] * A[:, pivot]
    return A


def _coordinates(rows: Rows, position: int, piece: list[int], motion: Floats) -> tuple[str, ...]:
    """Coordinates of joints between whose bodies the motion is not the same."""
    place = {b: k for k, b in enumerate(piece)}
    found = []
    for e in rows.elements_of(piece):
        if e >= rows.elements.proper:
            continue
        sort = rows.elements.sorts[int(rows.elements.sort[e])]
        joint = sort.element
        if not isinstance(joint, Joint) or sort.defines:
            continue
        i, j = (int(bodies[e - sort.first]) for _, bodies in sort.ends)
        v_i, v_j = (motion[place[b]] if b in place else np.zeros(rows.width) for b in (i, j))
        still = v_j if i < 0 or j < 0 else v_j - rows.carried(position, v_i, j, i)
        if np.abs(v_i if j < 0 else still).max() > _MOVES:
            name = rows.elements.name(e)
            found += [f"{name}.{c.name}" for c in joint.coordinates if c.manifold == "line"]
    return tuple(found)
