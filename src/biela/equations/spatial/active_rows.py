"""The rows of loops on their way to the ground, and their elimination on links.

See `biela.equations.spatial.constrained` for the equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from biela.atoms import maximum, select
from biela.equations.elimination import DROP_TOLERANCE
from biela.equations.spatial.articulated import Six, unit_axis
from biela.equations.spatial.motion import to_parent
from biela.equations.spatial.rows import LoopRow
from biela.equations.spatial.sampling import Samples
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, minus, plus, scaled, times, zero

#: Of the yield of a leg at the sampled positions: below this part it is held.
_STRETCHED = 1e-9
#: The least eigenvalue of the scaled yield of a leg that counts as yielding along every row.
_YIELDS = 1e-3


class Elimination(Enum):
    """When the rows of a loop are eliminated."""

    #: After all freedoms of the loop: safe in every position.
    LATE = "late"
    #: As soon as they are on one link: fewer operations.
    EARLY = "early"


@dataclass(eq=False)
class Joint:
    """What is left of an eliminated joint: D⁻¹, G, ε, and n of the rows."""

    inverse: list[list[Scalar]]
    G: list[list[Scalar]]
    eps: list[Scalar]
    n: dict[int, list[Scalar]]


@dataclass(eq=False)
class Gone:
    """An eliminated row: its link, wrench there, couplings with later rows, 1/A_rr and β."""

    row: int
    link: int
    W: list[Scalar] | None
    coupled: dict[int, Scalar]
    inverse: Scalar
    beta: Scalar


@dataclass(eq=False)
class _Active:
    """A row on its way to the ground."""

    W: dict[int, list[Scalar]]
    beta: Scalar
    left: set[int]
    #: A_rr before any row was eliminated, and the sizes of what rows took from it.
    magnitude: list[Scalar] = field(default_factory=list)


class ActiveRows:
    """Rows on links; ``I`` and ``z``, the inertias and forces of the links, get what they leave.

    Attributes:
        dropped: For each row the condition under which it is dropped.
    """

    def __init__(
        self,
        tree: SpatialTree,
        rows: Sequence[LoopRow],
        wanted: Sequence[Scalar] | None,
        elimination: Elimination,
        I: list[Six],
        z: list[list[Scalar]],
    ) -> None:
        self.tree, self.rows, self.I, self.z = tree, rows, I, z
        self.early = elimination is Elimination.EARLY
        self.active = {
            r: _Active(
                {k: list(W) for k, W in row.wrenches.items()},
                row.bias if wanted is None else row.bias - wanted[r],
                set(row.support),
            )
            for r, row in enumerate(rows)
        }
        self.A: dict[int, dict[int, Scalar]] = {r: {} for r in self.active}
        self.dropped: list[Scalar] = [0.0] * len(rows)
        self._samples: Samples | None = None

    def on(self, k: int) -> list[int]:
        """The rows that act on a link, or along its velocities."""
        v = self.tree.links[k].v
        return [
            r
            for r, row in self.active.items()
            if k in row.W or any(n in self.rows[r].along for n in v)
        ]

    def through(self, k: int, joint: Joint, b: Sequence[Scalar]) -> None:
        """Carry the rows on a link over its joint."""
        link = self.tree.links[k]
        solved: dict[int, list[Scalar]] = {}
        here = self.on(k)
        for r in here:
            row, along = self.active[r], self.rows[r].along
            row.left.discard(k)
            W = row.W.pop(k, None)
            c = [along.get(n, 0.0) for n in link.v]
            n = c if W is None else [dot(H, W) + x for H, x in zip(link.H, c, strict=True)]
            joint.n[r] = n
            solved[r] = times(joint.inverse, n)
            row.beta = row.beta + dot(solved[r], joint.eps)
            if W is not None:
                row.beta = row.beta + dot(W, b)
            if link.parent < 0:
                continue
            passed: list[Scalar] = [0.0] * 6 if W is None else W
            for g, x in zip(joint.G, n, strict=True):
                passed = minus(passed, scaled(g, x))
            for column, number, x in zip(link.H, link.v, c, strict=True):
                axis = unit_axis(column)
                if axis is not None and zero(self.tree.rotor[number]):
                    passed[axis] = -x
            if not all(map(zero, passed)):
                passed = to_parent(link, passed)
                known = row.W.get(link.parent)
                row.W[link.parent] = passed if known is None else plus(known, passed)
        for i, r in enumerate(here):
            for s in here[: i + 1]:
                self._couple(r, s, dot(joint.n[r], solved[s]))
        for row in self.active.values():
            row.left.discard(k)

    def _couple(self, r: int, s: int, more: Scalar) -> None:
        if not zero(more):
            known = self.A[r].get(s)
            self.A[r][s] = self.A[s][r] = more if known is None else known + more

    def eliminated(self) -> list[Gone]:
        """The rows that can go now, one after the other."""
        gone: list[Gone] = []
        ready = [r for r, row in self.active.items() if not row.left and len(row.W) <= 1]
        for r in ready:
            gone.append(self._row(r, None))
        if not self.early:
            return gone
        groups: dict[tuple[str, int], list[int]] = {}
        for r, row in self.active.items():
            if len(row.W) == 1 and self.A[r]:
                groups.setdefault((self.rows[r].owner, next(iter(row.W))), []).append(r)
        for (owner, _), group in groups.items():
            whole = [r for r in self.active if self.rows[r].owner == owner]
            if whole == group and (floors := self._yield(group)) is not None:
                for r, floor in zip(group, floors, strict=True):
                    gone.append(self._row(r, floor))
        return gone

    def _yield(self, group: Sequence[int]) -> list[float] | None:
        """Lower bounds of the pivots of rows along which what was eliminated yields.

        None if it does not yield along all of them.
        """
        if self._samples is None:
            self._samples = Samples(self.tree)
        entries = [self.A[r].get(s, 0.0) for r in group for s in group]
        A = self._samples.of(entries).reshape(-1, len(group), len(group))
        sizes = np.sqrt(np.einsum("kii->ki", A))
        if not (sizes > 0).all():
            return None
        least = np.linalg.eigvalsh(A / sizes[:, :, None] / sizes[:, None, :])[:, 0]
        if not (least > _YIELDS).all():
            return None
        return [float(x) * _STRETCHED for x in (sizes**2).min(axis=0)]

    def _row(self, r: int, floor: float | None) -> Gone:
        row, own = self.active.pop(r), self.A.pop(r)
        pivot = own.pop(r, 0.0)
        for s in own:
            del self.A[s][r]
        link = next(iter(row.W), -1)
        W = row.W.get(link)
        inverse = self._inverse(r, pivot, row, floor)
        if W is not None:
            w = scaled(W, inverse)
            I = [list(line) for line in self.I[link]]
            for i in range(6):
                for j in range(i, 6):
                    if not (zero(W[i]) or zero(w[j])):
                        I[i][j] = I[j][i] = I[i][j] + W[i] * w[j]
            self.I[link] = I
            self.z[link] = plus(self.z[link], scaled(w, row.beta))
        for s, coupling in own.items():
            part = coupling * inverse
            other = self.active[s]
            other.beta = other.beta - part * row.beta
            if W is not None:
                change = scaled(W, -part)
                known = other.W.get(link)
                other.W[link] = change if known is None else plus(known, change)
            for t, more in own.items():
                if t <= s:
                    taken = part * more
                    if t == s:
                        other.magnitude = other.magnitude or [self.A[s][s]]
                        other.magnitude.append(taken)
                    self._couple(s, t, -taken)
        return Gone(r, link, W, own, inverse, row.beta)

    def _inverse(self, r: int, pivot: Scalar, row: _Active, floor: float | None) -> Scalar:
        if zero(pivot):
            # in no position does it ask for anything
            self.dropped[r] = 1.0
            return 0.0
        if floor is not None:
            return 1.0 / maximum(pivot, floor)
        size: Scalar = 0.0
        for part in row.magnitude or [pivot]:
            size = size + abs(self.tree.workspace.atom(part))
        dropped = abs(self.tree.workspace.atom(pivot)) <= DROP_TOLERANCE * size
        self.dropped[r] = dropped
        return select(dropped, 0, 1.0 / pivot)
