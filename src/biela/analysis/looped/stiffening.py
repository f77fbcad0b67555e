"""Bodies without inertia about an axis, and without mass, in large mechanisms.

Where M is only semidefinite, rows φ of Φ_v that touch such bodies are added to it,

    (M + α Σ φᵀ φ) v' + Φ_vᵀ λ = Q + α Σ φᵀ γ,      Φ_v v' = γ,

which changes neither v' nor λ, and makes every pivot positive
(`biela.equations.elimination.stiffened`).  The products are made from the entries of Φ_v in the
workspace, those that are factorised: so corrections that are made with old factors stay exact too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.sparse_rows import arms
from biela.atoms import Atom, Workspace
from biela.code import Function
from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.block import expanded
from biela.errors import ModelError
from biela.solvers import SparseLDLT, SymmetricPattern

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

#: Moments of inertia below this part of the largest of a body are none.
_NONE = 1e-12


@dataclass(frozen=True, eq=False)
class StiffRows:
    """Elements of one kind whose rows are added to M.

    Attributes:
        products: From entries J of Φ_v, a right-hand side r of the rows and α to the entries
            ``S`` = α φᵀ φ of the lower triangle and ``h`` = α φᵀ r.
        forces: The same without S.
        entries: Which entries of Φ_v these are, (count, width of J).
        rows: Which rows, (count, width of r).
        columns: Which velocities they touch, (count, width of h).
        first, second: Row and column of each S, (count, width of S).
    """

    products: Function
    forces: Function
    entries: Integers
    rows: Integers
    columns: Integers
    first: Integers
    second: Integers


@dataclass(frozen=True, eq=False)
class Stiffening:
    """What is added to M, and with which weight α."""

    parts: tuple[StiffRows, ...]
    weight: float

    @property
    def places(self) -> tuple[Integers, Integers]:
        """Rows and columns of the entries; those of several elements at one place are added."""
        none = np.zeros(0, dtype=np.int64)
        return (
            np.concatenate([none, *(part.first.ravel() for part in self.parts)]),
            np.concatenate([none, *(part.second.ravel() for part in self.parts)]),
        )

    def values(self, J: Floats, r: Floats, n: int) -> tuple[Floats, Floats]:
        """The entries at `places`, and α Σ φᵀ r."""
        entries, h = [np.zeros(0)], np.zeros(n)
        for part in self.parts:
            alpha = np.full((len(part.rows), 1), self.weight)
            S, forces = part.products.map(J[part.entries], r[part.rows], alpha)
            entries.append(np.asarray(S).ravel())
            h += np.bincount(part.columns.ravel(), np.asarray(forces).ravel(), n)
        return np.concatenate(entries), h


def stiffening(blocks: ReferenceBlocks, J: Floats) -> Stiffening:
    """Which rows have to be added to the mass matrix; ``J`` are entries of Φ_v in some position.

    They are all rows of the elements that touch a body without inertia, and those of the
    coordinates that count turns in them: such a body may be held by a driver of a turn.

    Raises:
        ModelError: Nothing holds a body where it has no inertia.
    """
    M = blocks.M()
    values, vectors = np.linalg.eigh(M)
    null = ~(values > _NONE * values[:, -1:])
    if null.any():
        # moments of inertia of small bodies are small beside their masses in any case
        units = 1 / arms(blocks, J)
        values, vectors = np.linalg.eigh(M * units[:, :, None] * units[:, None, :])
        vectors = vectors * units[:, :, None]
        null = ~(values > _NONE * values[:, -1:])
    if not null.any():
        return Stiffening((), 1.0)
    bodies = blocks.widths[1] * blocks.world.count
    touched = np.zeros(blocks.nv, dtype=bool)  # velocities
    touched[:bodies] = np.repeat(null.any(axis=1), blocks.widths[1])
    chosen = _touching(blocks, touched)
    parts, squares, rows = [], 0.0, 0
    held = np.zeros(len(blocks.rows), dtype=bool)
    for entries, which in chosen:
        for part in _parts(blocks, entries[which]):
            parts.append(part)
            held[part.rows] = True
            squares += float(np.square(J[part.entries]).sum())
            rows += part.rows.size
    _check(blocks, J, null, vectors, touched, held)
    kept = values[~null]
    ratio = float(kept.mean()) * rows / squares if len(kept) and squares else 1.0
    return Stiffening(tuple(parts), float(10.0 ** np.round(np.log10(ratio))))


def _touching(blocks: ReferenceBlocks, touched: Booleans) -> list[tuple[Integers, Booleans]]:
    """The elements that touch some velocities, as entries of Φ_v and which instances.

    Coordinates that count turns are marked in ``touched`` where they are in those elements.
    """
    bodies = blocks.widths[1] * blocks.world.count
    column = blocks.indices[1]
    elements = []
    for block in blocks.dynamics:
        if len(block):
            (width,) = (a.size for a in block.kernel.outputs if a.name == "Phi_v")
            elements.append(expanded(block.scatter["Phi_v"][1], width))
    while True:
        found = [(entries, touched[column[entries]].any(axis=1)) for entries in elements]
        before = int(touched.sum())
        for entries, which in found:
            columns = column[entries[which]].ravel()
            touched[columns[columns >= bodies]] = True
        if int(touched.sum()) == before:
            return [(entries, which) for entries, which in found if which.any()]


def _parts(blocks: ReferenceBlocks, entries: Integers) -> list[StiffRows]:
    """Elements of a block by the pattern of their entries: two ends may be on one body."""
    row, column = blocks.indices[0][entries], blocks.indices[1][entries]
    same = column[:, :, None] == column[:, None, :]
    patterns, which = np.unique(same.argmax(axis=2), axis=0, return_inverse=True)
    found = []
    for k, pattern in enumerate(patterns):
        at = np.flatnonzero(which.ravel() == k)
        rows, r = np.unique(row[at[0]], return_inverse=True)
        own, c = np.unique(pattern, return_inverse=True)
        products, forces, pairs = _kernels(tuple(r.tolist()), tuple(c.tolist()))
        columns = column[at][:, own]
        i, j = (columns[:, [pair[side] for pair in pairs]] for side in (0, 1))
        found.append(
            StiffRows(
                products,
                forces,
                entries[at],
                row[at, :1] - row[at[0], 0] + rows,
                columns,
                np.maximum(i, j),
                np.minimum(i, j),
            )
        )
    return found


@cache
def _kernels(
    rows: tuple[int, ...], columns: tuple[int, ...]
) -> tuple[Function, Function, tuple[tuple[int, int], ...]]:
    """Kernels of a pattern, the local row and column of each entry; and the columns of each S."""
    ws = Workspace("stiffening")
    J = [ws.parameter(f"J_{k}") for k in range(len(rows))]
    r = [ws.parameter(f"r_{k}") for k in range(max(rows) + 1)]
    alpha = ws.parameter("alpha")
    phi: dict[tuple[int, int], Atom] = {}
    for row, column, value in zip(rows, columns, J, strict=True):
        there = phi.get((row, column))
        phi[row, column] = value if there is None else there + value
    S: dict[tuple[int, int], Atom] = {}
    h = [ws.atom(0) for _ in range(max(columns) + 1)]
    for (row, i), first in phi.items():
        scaled = alpha * first
        h[i] = h[i] + scaled * r[row]
        for j in range(i + 1):
            if (row, j) in phi:
                product = scaled * phi[row, j]
                S[i, j] = S[i, j] + product if (i, j) in S else product
    inputs = {"J": J, "r": r, "alpha": [alpha]}
    products = Function("stiffening", inputs, {"S": list(S.values()), "h": h})
    return products, Function("stiff_forces", inputs, {"h": h}), tuple(S)


def _check(
    blocks: ReferenceBlocks,
    J: Floats,
    null: Booleans,
    vectors: Floats,
    touched: Booleans,
    held: Booleans,
) -> None:
    """See that M and the rows leave no motion without inertia: that rows A z of such motions z,

        [ 1   A ]
        [ Aᵀ  0 ],

    have independent columns.

    Raises:
        ModelError: They have not; it names a body.
    """
    wide = blocks.widths[1]
    bodies = wide * blocks.world.count
    row, column = blocks.indices
    # a number for each motion without inertia: those of bodies, then turns that are counted
    number = np.full(len(touched) - bodies + null.size, -1)
    number[np.flatnonzero(null.ravel())] = np.arange(int(null.sum()))
    count = int(null.sum())
    turns = np.flatnonzero(touched[bodies:])
    number[null.size + turns] = count + np.arange(len(turns))
    own = np.flatnonzero(held[row] & touched[column] & (column < bodies))
    more = np.flatnonzero(held[row] & (column >= bodies))
    body, c = np.divmod(column[own], wide)
    motion = number[body[:, None] * wide + np.arange(wide)]
    parts = J[own][:, None] * vectors[body, c]
    there = motion >= 0
    n, m = len(blocks.rows), count + len(turns)
    rows = np.concatenate([np.repeat(row[own], there.sum(axis=1)), row[more]])
    motions = np.concatenate([motion[there], number[null.size + column[more] - bodies]])
    pattern = SymmetricPattern(
        n + m, np.concatenate([np.arange(n), n + motions]), np.concatenate([np.arange(n), rows])
    )
    solver = SparseLDLT(pattern, late=np.arange(n, n + m))
    solver.factor(np.concatenate([np.ones(n), parts[there], J[more]]))
    free = solver.dropped[solver.dropped >= n] - n
    if not len(free):
        return
    which = int(free[0])
    if which < count:
        name = f"body {blocks.bodies[int(np.flatnonzero(null.ravel())[which]) // wide]}"
    else:
        name = f"coordinate {blocks.extra[int(turns[which - count])]}"
    raise ModelError(
        f"{blocks.name}: {name} has no mass, or no inertia about one of its axes (a thin rod), and "
        f"no joint or driver holds it there, so that its motion is not determined; give it some "
        f"inertia, or a joint that holds it"
    )
