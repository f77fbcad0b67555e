"""Derivatives of inverse dynamics in closed form, by composite bodies.

A displacement along S_j moves all that joint j carries.  With V and A the velocity and the spatial
acceleration of the link before it, all in one frame at rest,

    Ψ' = V × S,     Ψ'' = A × S + V × Ψ',     S' = (V + S v) × S,

and I, F the inertia and the force of all that a joint carries,

    ∂τ_i/∂q_j = S_iᵀ (S_j ×* F_j + I_j Ψ''_j + C_j Ψ'_j)     i before j,
    ∂τ_j/∂q_i = S_jᵀ (I_j Ψ''_i + C_j Ψ'_i)                   j after or the same as i,
    ∂τ/∂v likewise with Ψ' + S' and S in place of Ψ'' and Ψ', without F

(Carpentier & Mansard 2018; Singh, Russo & Wensing 2022, IEEE Robotics and Automation Letters 7(2)).
C x is the Coriolis force of a turning x = [w; ·] on what moves already, 2 Σ dm r × (w × r'):

    C x = 2 [(tr K) w - Kᵀ w; w × P],     K = Σ dm r r'ᵀ = s vᵀ - Σ ω×,     P = m v + ω × s,

twelve numbers a link that are carried and added like inertias.  Vectors of each joint are found in
its own frame; pairs of joints meet either in the frame of the first of them (few joints, zeros), or
all in the frame of the first link with mass (long branches, no vector is carried twice).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from biela.equations.spatial.composite import momentum, seen_by_parent
from biela.equations.spatial.links import Link, Pseudo, added
from biela.equations.spatial.motion import accelerations, to_parent, velocities
from biela.equations.spatial.newton_euler import inverse_dynamics
from biela.equations.spatial.one_frame import OneFrame, size
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Matrix,
    Scalar,
    Triple,
    cross,
    dot,
    minus,
    outward,
    plus,
    scaled,
    skew,
    tensor_outward,
    times,
    transposed,
    zero,
)

Rows = list[list[Scalar]]
Six = list[Scalar]
Wrenches = Mapping[str, Sequence[Scalar]]


def applies(tree: SpatialTree) -> bool:
    """Whether the motions that all joints allow are constant in the frames of their links."""
    return all(_is_constant(link) for link in tree.links)


def _is_constant(link: Link) -> bool:
    step = link.step
    if step.quaternion:
        return True
    bent = not zero(step.bend) or not all(map(zero, step.way_bend))
    return not bent and (step.is_straight or not step.turns)


@dataclass(frozen=True, eq=False)
class Column:
    """What belongs to one motion of a joint: motions first, then forces.

    Attributes:
        number: Of the velocity.
        S, turned, bent, swept: S, Ψ', Ψ'' and Ψ' + S'.
        f: I S.
        h: The moment Cᵀ S.
        u, w: The forces of ∂τ/∂q and ∂τ/∂v on joints before.
    """

    number: int
    S: Six
    turned: Six
    bent: Six
    swept: Six
    f: Six
    h: Triple
    u: Six
    w: Six


def inverse_dynamics_derivatives(
    tree: SpatialTree, wrenches: Wrenches | None = None
) -> tuple[Rows, Rows, Rows]:
    """∂τ/∂δ, ∂τ/∂v and M, without springs and friction; in the shorter of both ways.

    Wrenches along the axes of frames go with their links, so that they are only a part of F.
    """
    columns = _columns(tree, wrenches)
    ways = [_met_on_the_way(tree, columns), _met_in_one_frame(tree, columns)]
    return min(ways, key=lambda found: size(tree, found))


# ------------------------------------------------------------------ in each frame


def _columns(tree: SpatialTree, wrenches: Wrenches | None = None) -> list[list[Column]]:
    speeds = velocities(tree, tree.v)
    motions = accelerations(tree, tree.v, tree.a, tree.gravity)
    F = inverse_dynamics(tree, tree.v, tree.a, wrenches=wrenches, passive=False).F
    J, K, P = _composites(tree)
    found = []
    for k, link in enumerate(tree.links):
        V = speeds[k].six
        acc = minus(motions[k].a, cross(V[:3], V[3:]))
        A: Six = [*motions[k].spin.alpha, *acc]
        own = _combined(link.H, [tree.v[n] for n in link.v])
        V0 = minus(V, own)
        gained = _combined(link.H, [tree.a[n] for n in link.v])
        A0 = minus(minus(A, gained), motion_cross(V, own))
        columns = []
        for number, S in zip(link.v, link.H, strict=True):
            turned = motion_cross(V0, S)
            bent = plus(motion_cross(A0, S), motion_cross(V0, turned))
            swept = plus(turned, motion_cross(V, S))
            u = plus(
                force_cross(S, F[k]), plus(momentum(J[k], bent), _coriolis(K[k], P[k], turned))
            )
            w = plus(momentum(J[k], swept), _coriolis(K[k], P[k], S))
            h = plus(minus(scaled(S[:3], _trace(K[k])), times(K[k], S[:3])), cross(P[k], S[3:]))
            f = momentum(J[k], S)
            columns.append(Column(number, list(S), turned, bent, swept, f, _twice(h), u, w))
        found.append(columns)
    return found


def _composites(tree: SpatialTree) -> tuple[list[Pseudo], list[Matrix], list[Triple]]:
    """Of each link and all it carries the pseudo-inertia, K and P."""
    J = [link.grouped for link in tree.links]
    K: list[Matrix] = []
    P: list[Triple] = []
    for inertia, speed in zip(J, velocities(tree, tree.v), strict=True):
        second, s = [row[:3] for row in inertia[:3]], [row[3] for row in inertia[:3]]
        W = skew(speed.omega)
        K.append(
            [minus(scaled(speed.v, x), dots) for x, dots in zip(s, _rows(second, W), strict=True)]
        )
        P.append(plus(scaled(speed.v, inertia[3][3]), cross(speed.omega, s)))
    for k in reversed(range(len(J))):
        link = tree.links[k]
        if link.parent < 0:
            continue
        J[link.parent] = added(J[link.parent], seen_by_parent(link, J[k]))
        carried, momentum_there = _carried(link, K[k], P[k])
        K[link.parent] = added(K[link.parent], carried)
        P[link.parent] = plus(P[link.parent], momentum_there)
    return J, K, P


def _rows(A: Matrix, B: Matrix) -> Matrix:
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def _carried(link: Link, K: Matrix, P: Triple) -> tuple[Matrix, Triple]:
    """K and P about the origin and along the axes of the parent: R K Rᵀ + p (R P)ᵀ."""
    K, P = tensor_outward(link.step.turn, K), outward(link.step.turn, P)
    if link.step.slides:
        K = _shifted(K, P, link.step.way)
    K, P = tensor_outward(link.before, K), outward(link.before, P)
    return _shifted(K, P, link.place.p), P


def _shifted(K: Matrix, P: Triple, p: Triple) -> Matrix:
    return [plus(row, scaled(P, x)) for row, x in zip(K, p, strict=True)]


def _coriolis(K: Matrix, P: Triple, x: Sequence[Scalar]) -> Six:
    """C x."""
    w = x[:3]
    moment = minus(scaled(w, _trace(K)), times(transposed(K), w))
    return [*_twice(moment), *_twice(cross(w, P))]


def _trace(K: Matrix) -> Scalar:
    return K[0][0] + K[1][1] + K[2][2]


def _twice(x: Sequence[Scalar]) -> list[Scalar]:
    return [y + y for y in x]


def _combined(columns: Sequence[Sequence[Scalar]], factors: Sequence[Scalar]) -> Six:
    total: Six = [0.0] * 6
    for column, factor in zip(columns, factors, strict=True):
        total = plus(total, scaled(column, factor))
    return total


def motion_cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> Six:
    """A × b of motions."""
    return [*cross(a[:3], b[:3]), *plus(cross(a[3:], b[:3]), cross(a[:3], b[3:]))]


def force_cross(a: Sequence[Scalar], f: Sequence[Scalar]) -> Six:
    """A ×* f of a motion and a force."""
    return [*plus(cross(a[:3], f[:3]), cross(a[3:], f[3:])), *cross(a[:3], f[3:])]


# ------------------------------------------------------------------ pairs of joints


class _Matrices:
    """∂τ/∂δ, ∂τ/∂v and M, to which pairs of columns are added."""

    def __init__(self, tree: SpatialTree) -> None:
        n = len(tree.v)
        self.by_q: Rows = [[0.0] * n for _ in range(n)]
        self.by_v: Rows = [[0.0] * n for _ in range(n)]
        self.M: Rows = [[0.0] * n for _ in range(n)]

    def add_same(self, columns: Sequence[Column]) -> None:
        """Columns of one link."""
        for one in columns:
            for other in columns:
                i, j = one.number, other.number
                self._after(i, j, one, other)
                self.M[i][j] = self.M[i][j] + dot(other.S, one.f)

    def add(self, before: Column, after: Column) -> None:
        """A column of a link and one of a link that it carries, in one frame."""
        i, j = before.number, after.number
        self.by_q[i][j] = self.by_q[i][j] + dot(before.S, after.u)
        self.by_v[i][j] = self.by_v[i][j] + dot(before.S, after.w)
        self._after(j, i, after, before)
        meeting = dot(before.S, after.f)
        self.M[i][j] = self.M[i][j] + meeting
        self.M[j][i] = self.M[j][i] + meeting

    def _after(self, j: int, i: int, after: Column, before: Column) -> None:
        turned = dot(after.f, before.bent) + dot(after.h, before.turned[:3])
        self.by_q[j][i] = self.by_q[j][i] + turned
        swept = dot(after.f, before.swept) + dot(after.h, before.S[:3])
        self.by_v[j][i] = self.by_v[j][i] + swept

    def finished(self, tree: SpatialTree) -> tuple[Rows, Rows, Rows]:
        for k, rotor in enumerate(tree.rotor):
            self.M[k][k] = self.M[k][k] + rotor
        return self.by_q, self.by_v, self.M


def _met_on_the_way(tree: SpatialTree, columns: list[list[Column]]) -> tuple[Rows, Rows, Rows]:
    """The forces of each joint are carried to the joints before it."""
    found = _Matrices(tree)
    for k, own in enumerate(columns):
        found.add_same(own)
        _walk(tree, k, own, columns, found)
    return found.finished(tree)


def _walk(
    tree: SpatialTree,
    k: int,
    own: Sequence[Column],
    columns: list[list[Column]],
    found: _Matrices,
) -> None:
    while own and tree.links[k].parent >= 0:
        link = tree.links[k]
        own = [_to_parent(link, column) for column in own]
        k = link.parent
        for after in own:
            for before in columns[k]:
                found.add(before, after)


def _to_parent(link: Link, x: Column) -> Column:
    """The forces of a column at the link before; its motions do not matter any more."""
    h = outward(link.before, outward(link.step.turn, x.h))
    f, u, w = (to_parent(link, force) for force in (x.f, x.u, x.w))
    return replace(x, f=f, h=h, u=u, w=w)


def _met_in_one_frame(tree: SpatialTree, columns: list[list[Column]]) -> tuple[Rows, Rows, Rows]:
    """All vectors are taken to the frame of the first link with mass."""
    found, frame = _Matrices(tree), OneFrame(tree)
    seen: dict[tuple[int, int], list[Column]] = {}
    for k, own in enumerate(columns):
        found.add_same(own)
        root = frame.root[k]
        if root < 0:
            _walk(tree, k, own, columns, found)
            continue
        after = [_forces_in(frame, k, column) for column in own]
        for i in tree.path(k)[:-1]:
            if (i, root) not in seen:
                seen[i, root] = [_motions_in(frame, i, column, root) for column in columns[i]]
            for one in seen[i, root]:
                for other in after:
                    found.add(one, other)
    return found.finished(tree)


def _forces_in(frame: OneFrame, k: int, x: Column) -> Column:
    f, u, w = (frame.force(k, y) for y in (x.f, x.u, x.w))
    return replace(x, f=f, h=frame.turned(k, x.h), u=u, w=w)


def _motions_in(frame: OneFrame, k: int, x: Column, root: int) -> Column:
    S, turned, bent, swept = (frame.motion(k, y, root) for y in (x.S, x.turned, x.bent, x.swept))
    return replace(x, S=S, turned=turned, bent=bent, swept=swept)
