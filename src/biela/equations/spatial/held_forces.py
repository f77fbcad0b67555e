"""The forces of a joint split in two: those along its freedoms and those that it holds.

A force F through a joint with motions H, of any length and at any angle to each other, is

    F = G τ + W F_S,     Hᵀ G = 1,   Hᵀ W = 0,   G = H (Hᵀ H)⁻¹,

so that τ = Hᵀ F whatever the held forces F_S are (Jaramillo 1998, eqs. 1.88 and 1.89, where H was
orthonormal and constant).  Where H turns with the coordinates, so may W.  It only has to span what
is orthogonal to H at that instant: its rate appears nowhere, because the bias ξ holds all that
velocity does, H' v too, and the rest is linear in the accelerations at one position.

W is looked for at the marker that ends the joint, along its axes, about one of the points where a
step of the joint starts: there the motions of most joints stay in some of the six coordinates of
space, and the other coordinates are W, constant.  What is left goes by reflections (Householder
1958), whose sign is chosen such that they are regular for every direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom, select, sqrt
from biela.equations.spatial.blocks import Block, joint_motions
from biela.equations.spatial.factorisation import inverse_of
from biela.equations.spatial.motion import from_frame, to_frame
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    DUST,
    Pose,
    Scalar,
    Triple,
    are_numbers,
    dot,
    inward,
    minus,
    plus,
    scaled,
    zero,
)

Rows = list[list[Scalar]]


@dataclass(frozen=True, eq=False)
class ForceSplit:
    """G and W of a joint by columns of 6, in the frame of the body that it carries."""

    G: Rows
    W: Rows


def force_split(tree: SpatialTree, block: Block) -> ForceSplit:
    """The two parts of the forces of the joint that carries a body."""
    H = [_clean(x) for x in block.H]
    if are_numbers(H):
        return ForceSplit(dual(H), complement(H))
    _, held = tree.held_at[block.body]
    found = joint_motions(tree, block.way)
    at_marker = [to_frame(held, found[n]) for n in block.v]
    for p in _points(tree, block, held):
        columns = [_clean(to_frame(Pose.at(*p), x)) for x in at_marker]
        if len(_touched(columns)) == len(columns) or are_numbers(columns):
            break
    else:
        p = [0.0, 0.0, 0.0]
        columns = [_clean(x) for x in at_marker]
    # from the point to the marker, and from there to the body
    seen = tree.frame(block.body)[1].inverse() @ held @ Pose.at(*p)
    return ForceSplit(
        [from_frame(seen, x) for x in dual(columns)],
        [from_frame(seen, x) for x in complement(columns)],
    )


def _points(tree: SpatialTree, block: Block, held: Pose) -> Iterator[Triple]:
    """The marker at the end of a joint, and where the frame of each of its links is."""
    yield [0.0, 0.0, 0.0]
    back = held.inverse()
    for first in reversed(range(len(block.way))):
        x: Triple = [0.0, 0.0, 0.0]
        for k in block.way[first + 1 :]:
            link = tree.links[k]
            x = inward(link.before, minus(x, link.place.p))
            x = inward(link.step.turn, minus(x, link.step.way))
        yield (back @ Pose.at(*x)).p


def _clean(x: Sequence[Scalar]) -> list[Scalar]:
    """A motion with numbers as numbers, and without dust."""
    plain = [float(e.value) if isinstance(e, Atom) and e.value is not None else e for e in x]
    return [0.0 if isinstance(e, float) and abs(e) < DUST else e for e in plain]


def _touched(columns: Sequence[Sequence[Scalar]]) -> list[int]:
    """The coordinates along which something moves."""
    return [i for i in range(len(columns[0])) if not all(zero(x[i]) for x in columns)]


# ---------------------------------------------------------------------- subspaces


def dual(columns: Sequence[Sequence[Scalar]]) -> Rows:
    """The columns of H (Hᵀ H)⁻¹."""
    if not columns:
        return []
    if are_numbers(columns):
        H = np.array(columns, dtype=float)
        return [[float(x) for x in row] for row in np.linalg.solve(H @ H.T, H)]
    gram = [[dot(x, y) for y in columns] for x in columns]
    return [_combined(columns, row) for row in inverse_of(gram)]


def complement(columns: Sequence[Sequence[Scalar]], size: int = 6) -> Rows:
    """A basis of what is orthogonal to some columns, which are independent.

    Unit vectors where nothing moves; for columns that are numbers an orthonormal one.  It may jump
    where a motion turns by more than a right angle from the first of its coordinates.
    """
    if not columns:
        return _units(size)
    touched = _touched(columns)
    rest = [unit for i, unit in enumerate(_units(size)) if i not in touched]
    inner = [[x[i] for i in touched] for x in columns]
    found: Rows = []
    if len(touched) > len(columns):
        for w in _within(inner):
            whole: list[Scalar] = [0.0] * size
            for i, x in zip(touched, w, strict=True):
                whole[i] = x
            found.append(whole)
    return rest + found


def _within(columns: Rows) -> Rows:
    """The complement of columns that touch all coordinates."""
    numbers = [x for x in columns if are_numbers([x])]
    others = [x for x in columns if not are_numbers([x])]
    m = len(columns[0])
    if numbers:
        N = _orthonormal(numbers)
        seen = [[dot(n, x) for n in N] for x in others]
        return [_combined(N, w) for w in complement(seen, len(N))]
    if m == 2:
        ((x, y),) = columns
        return [[-y, x]]
    reflect = _Reflection(columns[0])
    seen = [reflect(x)[1:] for x in columns[1:]]
    return [reflect([0.0, *w]) for w in complement(seen, m - 1)]


def _orthonormal(numbers: Rows) -> Rows:
    H = np.array(numbers, dtype=float)
    touched = np.abs(H).sum(axis=0) > 0
    if touched.sum() == len(H):
        N = np.eye(H.shape[1])[~touched]
    else:
        N = np.linalg.qr(H.T, mode="complete")[0][:, len(H) :].T
    return [[float(x) for x in n] for n in N]


class _Reflection:
    """1 - β u uᵀ, which takes a vector to a multiple of the first unit vector."""

    def __init__(self, x: Sequence[Scalar]) -> None:
        length = sqrt(dot(x, x))
        # away from the first coordinate, so that nothing cancels for any direction of x
        s = select(x[0] < 0, -length, length) if isinstance(x[0], Atom) else length
        self.u = [x[0] + s, *x[1:]]
        self.beta = 1.0 / (s * self.u[0])

    def __call__(self, x: Sequence[Scalar]) -> list[Scalar]:
        return minus(x, scaled(self.u, self.beta * dot(self.u, x)))


def _units(size: int) -> Rows:
    return [[float(i == k) for i in range(size)] for k in range(size)]


def _combined(columns: Sequence[Sequence[Scalar]], factors: Sequence[Scalar]) -> list[Scalar]:
    total: list[Scalar] = [0.0] * len(columns[0])
    for column, factor in zip(columns, factors, strict=True):
        if not zero(factor):
            total = plus(total, scaled(column, factor))
    return total
