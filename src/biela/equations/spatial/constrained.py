"""Forward dynamics of a tree with closed loops, in one sweep to the ground and one back.

The recursion by articulated bodies carries the rows of the loops along.  A row r has a wrench W on
some links, its coupling A with other rows, and β; a joint of motions H, D = Hᵀ I^A H, G = I^A H D⁻¹
that is eliminated leaves

    n_r = Hᵀ W_r + c_r,    W_r(parent) += Φ (W_r - G n_r),    A_rs += n_r D⁻¹ n_s,
    β_r += W_r · b + n_r D⁻¹ ε,

so that at any time the rows read Σ W · A_links + β - A λ = 0 (Popov & Vereshchagin 1978, in the
form of Sathya & Carpentier 2024, IEEE Trans. Robotics 41).  When all joints of a loop are gone its
rows act on one link only, and are eliminated themselves there,

    λ_r = (W_r · a + β_r - Σ A_rs λ_s) / A_rr,     I^A += W_r W_rᵀ / A_rr,     z += W_r β_r / A_rr :

a loop costs what it has in it, wherever in the tree it is.  A_rr is then what the freedoms of the
loop yield along the row; one that is rounding only belongs to a row that depends on others, and is
dropped by the select of `biela.equations.elimination`.

The rows of a loop may go earlier (`Elimination.EARLY`), when all that is left of them is on one
link and the freedoms eliminated so far yield along each: a leg of a platform is then an inertia
on it.  Where the leg is stretched out it yields no more; A_rr is bounded from below by a part of
10⁻⁹, to which accelerations are exact near such a position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from biela.atoms import Atom, maximum, select
from biela.equations.elimination import DROP_TOLERANCE
from biela.equations.spatial.articulated import (
    inertia_to_parent,
    passed_on,
    spatial_inertia,
    sum_of,
    unit_axis,
    without_free,
)
from biela.equations.spatial.factorisation import inverse_of
from biela.equations.spatial.motion import (
    NOTHING,
    Acceleration,
    Spin,
    following,
    from_frame,
    to_child,
    to_parent,
)
from biela.equations.spatial.newton_euler import moving
from biela.equations.spatial.rows import LoopRow
from biela.equations.spatial.sampling import Samples
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, inward, minus, plus, scaled, times, zero

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


@dataclass(frozen=True, eq=False)
class Constrained:
    """Accelerations, multipliers of the rows, and the conditions under which rows are dropped."""

    accelerations: list[Atom]
    multipliers: list[Atom]
    dropped: list[Atom]


@dataclass(eq=False)
class _Joint:
    """What is left of an eliminated joint: D⁻¹, G, ε, and n of the rows."""

    inverse: list[list[Scalar]]
    G: list[list[Scalar]]
    eps: list[Scalar]
    n: dict[int, list[Scalar]]


@dataclass(eq=False)
class _Gone:
    """An eliminated row: its link, wrench there, couplings with later rows, 1/A_rr and β."""

    row: int
    link: int
    W: list[Scalar] | None
    coupled: dict[int, Scalar]
    inverse: Scalar
    beta: Scalar


def constrained_dynamics(
    tree: SpatialTree,
    tau: Sequence[Scalar],
    rows: Sequence[LoopRow],
    *,
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
    wanted: Sequence[Scalar] | None = None,
    elimination: Elimination = Elimination.LATE,
) -> Constrained:
    """The accelerations and multipliers for joint forces.

    Args:
        tree: The links.
        tau: Joint forces.
        rows: The equations of the loops.
        wrenches: [moment; force] that act on named frames, at their origins along their axes.
        wanted: Φ'' of each row where it is not 0, as Baumgarte's method has it.
        elimination: When rows are eliminated.

    Raises:
        ModelError: Gears tie joints together, or nothing has inertia along a velocity.
    """
    tree.check_uncoupled("the recursion of articulated bodies")
    sweep = _Sweep(tree, tau, rows, wrenches or {}, wanted, elimination)
    sweep.inward()
    return sweep.outward()


@dataclass(eq=False)
class _Active:
    """A row on its way to the ground."""

    W: dict[int, list[Scalar]]
    beta: Scalar
    left: set[int]
    #: A_rr before any row was eliminated, and the sizes of what rows took from it.
    magnitude: list[Scalar] = field(default_factory=list)


class _Sweep:
    def __init__(
        self,
        tree: SpatialTree,
        tau: Sequence[Scalar],
        rows: Sequence[LoopRow],
        wrenches: Mapping[str, Sequence[Scalar]],
        wanted: Sequence[Scalar] | None,
        elimination: Elimination,
    ) -> None:
        self.tree, self.rows = tree, rows
        self.early = elimination is Elimination.EARLY
        self.given = [t + f for t, f in zip(tau, tree.pushed, strict=True)]
        self.I = [spatial_inertia(link.grouped) for link in tree.links]
        self.b, self.z = _bias(tree, wrenches)
        self.active = {
            r: _Active(
                {k: list(W) for k, W in row.wrenches.items()},
                row.bias if wanted is None else row.bias - wanted[r],
                set(row.support),
            )
            for r, row in enumerate(rows)
        }
        self.A: dict[int, dict[int, Scalar]] = {r: {} for r in self.active}
        self.joints: dict[int, _Joint] = {}
        #: Joints and rows in the order in which they went.
        self.order: list[int | _Gone] = []
        self.dropped: list[Scalar] = [0.0] * len(rows)
        self._samples: Samples | None = None

    # ---------------------------------------------------------------------- inward

    def inward(self) -> None:
        links = self.tree.links
        waiting = [len(children) for children in self.tree.children]
        ready = {k for k, n in enumerate(waiting) if not n}
        self._eliminate()
        while ready:
            # what few rows act on goes first: legs before the platform
            k = min(ready, key=lambda k: (len(self._on(k)), -k))
            ready.discard(k)
            self._joint(k)
            parent = links[k].parent
            if parent >= 0:
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.add(parent)
            self._eliminate()

    def _on(self, k: int) -> list[int]:
        """The rows that act on a link, or along its velocities."""
        v = self.tree.links[k].v
        return [
            r
            for r, row in self.active.items()
            if k in row.W or any(n in self.rows[r].along for n in v)
        ]

    def _joint(self, k: int) -> None:
        tree, link, I = self.tree, self.tree.links[k], self.I[k]
        Y = [times(I, column) for column in link.H]
        D = [[dot(column, y) for y in Y] for column in link.H]
        for i, number in enumerate(link.v):
            D[i][i] = D[i][i] + tree.rotor[number]
        inverse = inverse_of(D, [tree.v_names[number] for number in link.v])
        columns = [list(row) for row in zip(*Y, strict=True)] if Y else []
        G = [[dot(row, line) for row in columns] for line in inverse]
        held = plus(self.z[k], times(I, self.b[k]))
        given = [self.given[n] for n in link.v]
        eps: list[Scalar] = [t - dot(column, held) for t, column in zip(given, link.H, strict=True)]
        joint = _Joint(inverse, G, eps, {})
        self.joints[k] = joint
        self.order.append(k)
        self._rows_through(k, joint)
        if link.parent < 0:
            return
        rotor = any(not zero(tree.rotor[number]) for number in link.v)
        rest = passed_on(link, I, G, Y, rotor)
        self.I[link.parent] = sum_of(self.I[link.parent], inertia_to_parent(link, rest))
        passed = held
        for g, e in zip(G, eps, strict=True):
            passed = plus(passed, scaled(g, e))
        passed = without_free(link, passed, given, tree)
        self.z[link.parent] = plus(self.z[link.parent], to_parent(link, passed))

    def _rows_through(self, k: int, joint: _Joint) -> None:
        """Carry the rows on a link over its joint."""
        link = self.tree.links[k]
        solved: dict[int, list[Scalar]] = {}
        here = self._on(k)
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
                row.beta = row.beta + dot(W, self.b[k])
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

    # ------------------------------------------------------------------------ rows

    def _eliminate(self) -> None:
        """Eliminate the rows that can go."""
        ready = [r for r, row in self.active.items() if not row.left and len(row.W) <= 1]
        for r in ready:
            self._row(r, None)
        if not self.early:
            return
        groups: dict[tuple[str, int], list[int]] = {}
        for r, row in self.active.items():
            if len(row.W) == 1 and self.A[r]:
                groups.setdefault((self.rows[r].owner, next(iter(row.W))), []).append(r)
        for (owner, _), group in groups.items():
            whole = [r for r in self.active if self.rows[r].owner == owner]
            if whole == group and (floors := self._yield(group)) is not None:
                for r, floor in zip(group, floors, strict=True):
                    self._row(r, floor)

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

    def _row(self, r: int, floor: float | None) -> None:
        row, own = self.active.pop(r), self.A.pop(r)
        pivot = own.pop(r, 0.0)
        for s in own:
            del self.A[s][r]
        link = next(iter(row.W), -1)
        W = row.W.get(link)
        inverse = self._inverse(r, pivot, row, floor)
        self.order.append(_Gone(r, link, W, own, inverse, row.beta))
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

    # --------------------------------------------------------------------- outward

    def outward(self) -> Constrained:
        tree = self.tree
        found: list[Scalar] = [0.0] * len(tree.v)
        lam: dict[int, Scalar] = {}
        acc: dict[int, list[Scalar]] = {}
        for step in reversed(self.order):
            if isinstance(step, _Gone):
                total = step.beta
                if step.W is not None:
                    total = total + dot(step.W, self._acceleration(step.link, acc, found, lam))
                for s, coupling in step.coupled.items():
                    total = total - coupling * lam[s]
                lam[step.row] = total * step.inverse
            else:
                self._acceleration(step, acc, found, lam)
        atom = tree.workspace.atom
        return Constrained(
            [atom(x) for x in found],
            [atom(lam[r]) for r in range(len(self.rows))],
            [atom(x) for x in self.dropped],
        )

    def _acceleration(
        self,
        k: int,
        acc: dict[int, list[Scalar]],
        found: list[Scalar],
        lam: Mapping[int, Scalar],
    ) -> list[Scalar]:
        """The acceleration of a link whose joint went after the rows at hand."""
        if k in acc:
            return acc[k]
        link, joint = self.tree.links[k], self.joints[k]
        a = [0.0] * 6 if link.parent < 0 else to_child(link, acc[link.parent])
        eps = list(joint.eps)
        for r, n in joint.n.items():
            eps = minus(eps, scaled(n, lam[r]))
        total = plus(a, self.b[k])
        for i, number in enumerate(link.v):
            found[number] = dot(joint.inverse[i], eps) - dot(joint.G[i], a)
        for number, column in zip(link.v, link.H, strict=True):
            total = plus(total, scaled(column, found[number]))
        acc[k] = total
        return total


def _bias(
    tree: SpatialTree, wrenches: Mapping[str, Sequence[Scalar]]
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """What velocity alone accelerates, and the forces of velocity, weight and wrenches.

    The weight acts on the links here: the ground is at rest, and no row has to be carried to it.
    """
    none = [0.0] * len(tree.v)
    motions: list[Spin] = []
    down: list[list[Scalar]] = []
    b: list[list[Scalar]] = []
    z: list[list[Scalar]] = []
    for link in tree.links:
        root = link.parent < 0
        before = Spin(NOTHING if root else motions[link.parent].omega, NOTHING)
        motion = following(link, Acceleration(before, NOTHING), tree.v, none)
        b.append([*motion.spin.alpha, *motion.a])
        motions.append(Spin(motion.spin.omega, NOTHING))
        down.append(inward(link.turns, tree.gravity if root else down[link.parent]))
        z.append(moving(link.grouped, Acceleration(motions[-1], [-g for g in down[-1]])))
    for name, wrench in wrenches.items():
        k, pose = tree.frame(name)
        if k >= 0:
            z[k] = minus(z[k], from_frame(pose, wrench))
    return b, z
