"""Forward dynamics by articulated bodies, and the innovations factorisation of the mass matrix.

The articulated inertia of a link is what it and all beyond it oppose to its acceleration when the
joint forces beyond are given.  From the tips, with b and the forces z of velocity alone,

    D = Hᵀ I^A H + rotor,   G = I^A H D⁻¹,   ε = τ - Hᵀ (z + I^A b)
    I^A(parent) += Φ (I^A - G Hᵀ I^A) Φᵀ,     z(parent) += Φ (z + I^A b + G ε)

and from the ground v' = D⁻¹ ε - Gᵀ a, a = Φᵀ a(parent) (Featherstone 1983).  In operators

    M = [1 + Hᵀ ρ K] D [1 + Hᵀ ρ K]ᵀ,     [1 + Hᵀ ρ K]⁻¹ = 1 - Hᵀ Ψ K,     K = E G

(Rodriguez, Jain & Kreutz-Delgado 1991): ε are the innovations of a filter that runs over the links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.equations.spatial.factorisation import inverse_of
from biela.equations.spatial.links import Link, Pseudo
from biela.equations.spatial.motion import (
    NOTHING,
    Acceleration,
    Spin,
    following,
    from_frame,
    to_child,
    to_parent,
)
from biela.equations.spatial.newton_euler import bias, moving
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Matrix,
    Scalar,
    Triple,
    Turn,
    dot,
    minus,
    plus,
    product,
    scaled,
    skew,
    tensor_outward,
    times,
    zero,
)

#: A symmetric 6 x 6 matrix.
Six = list[list[Scalar]]


@dataclass(frozen=True, eq=False)
class Articulated:
    """Of each link the articulated inertia I^A, and of its joint D⁻¹ and the gain G, by columns."""

    inertia: list[Six]
    inverse: list[list[list[Scalar]]]
    G: list[list[list[Scalar]]]


def articulated(tree: SpatialTree) -> Articulated:
    """The articulated inertias, from the tips to the ground.

    Raises:
        ModelError: Gears tie joints together, or nothing has inertia along a velocity.
    """
    tree.check_uncoupled("the recursion of articulated bodies")
    I = [spatial_inertia(link.grouped) for link in tree.links]
    inverses: list[list[list[Scalar]]] = [[] for _ in I]
    gains: list[list[list[Scalar]]] = [[] for _ in I]
    for k in reversed(range(len(I))):
        link = tree.links[k]
        Y = [times(I[k], column) for column in link.H]
        D = [[dot(column, y) for y in Y] for column in link.H]
        for i, number in enumerate(link.v):
            D[i][i] = D[i][i] + tree.rotor[number]
        inverses[k] = inverse_of(D, [tree.v_names[number] for number in link.v])
        columns = [list(row) for row in zip(*Y, strict=True)] if Y else []
        gains[k] = [[dot(row, inverse) for row in columns] for inverse in inverses[k]]
        if link.parent >= 0:
            rotor = any(not zero(tree.rotor[number]) for number in link.v)
            rest = passed_on(link, I[k], gains[k], Y, rotor)
            I[link.parent] = sum_of(I[link.parent], inertia_to_parent(link, rest))
    return Articulated(I, inverses, gains)


def passed_on(link: Link, I: Six, G: list[list[Scalar]], Y: list[list[Scalar]], rotor: bool) -> Six:
    """I^A - G Hᵀ I^A: what the joint passes on.  Along its own free axes that is nothing."""
    free = set() if rotor else {axis for c in link.H if (axis := unit_axis(c)) is not None}
    rest: Six = [list(row) for row in I]
    for i in range(6):
        for j in range(i, 6):
            if i in free or j in free:
                rest[i][j] = rest[j][i] = 0.0
                continue
            taken = I[i][j]
            for g, y in zip(G, Y, strict=True):
                if not (zero(g[i]) or zero(y[j])):
                    taken = taken - g[i] * y[j]
            rest[i][j] = rest[j][i] = taken
    return rest


def unit_axis(column: Sequence[Scalar]) -> int | None:
    """The axis along which a motion is, if it is one with a unit."""
    unit = all(isinstance(x, float) for x in column) and sorted(column) == [0.0] * 5 + [1.0]
    return column.index(1.0) if unit else None


def forward_dynamics(
    tree: SpatialTree,
    tau: Sequence[Scalar],
    *,
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
) -> list[Atom]:
    """The accelerations v' for joint forces τ, by articulated bodies."""
    filtered = articulated(tree)
    still = Acceleration(Spin(NOTHING, NOTHING), NOTHING)
    none = [0.0] * len(tree.v)
    motions: list[Acceleration] = []
    b: list[list[Scalar]] = []
    z: list[list[Scalar]] = []
    for link in tree.links:
        before = still if link.parent < 0 else motions[link.parent]
        # what velocity alone accelerates, relative to a parent that only spins
        spinning = Acceleration(Spin(before.spin.omega, NOTHING), NOTHING)
        motion = following(link, spinning, tree.v, none)
        b.append([*motion.spin.alpha, *motion.a])
        here = Acceleration(Spin(motion.spin.omega, NOTHING), NOTHING)
        motions.append(here)
        z.append(moving(link.grouped, here))
    for name, wrench in (wrenches or {}).items():
        k, pose = tree.frame(name)
        if k >= 0:
            z[k] = minus(z[k], from_frame(pose, wrench))
    given = [t + f for t, f in zip(tau, tree.pushed, strict=True)]
    eps: list[list[Scalar]] = [[] for _ in tree.links]
    for k in reversed(range(len(tree.links))):
        link = tree.links[k]
        held = plus(z[k], times(filtered.inertia[k], b[k]))
        eps[k] = [given[n] - dot(column, held) for n, column in zip(link.v, link.H, strict=True)]
        if link.parent >= 0:
            passed = held
            for g, e in zip(filtered.G[k], eps[k], strict=True):
                passed = plus(passed, scaled(g, e))
            passed = without_free(link, passed, [given[n] for n in link.v], tree)
            z[link.parent] = plus(z[link.parent], to_parent(link, passed))
    return _outward(tree, filtered, eps, b, [0.0, 0.0, 0.0, *(-g for g in tree.gravity)])


def without_free(
    link: Link, passed: list[Scalar], given: Sequence[Scalar], tree: SpatialTree
) -> list[Scalar]:
    """What a joint passes on along its own axis is its force τ, without any arithmetic."""
    for column, t, number in zip(link.H, given, link.v, strict=True):
        axis = unit_axis(column)
        if axis is not None and zero(tree.rotor[number]):
            passed[axis] = t
    return passed


def _outward(
    tree: SpatialTree,
    filtered: Articulated,
    eps: list[list[Scalar]],
    b: list[list[Scalar]] | None,
    ground: list[Scalar],
) -> list[Atom]:
    found: list[Scalar] = [0.0] * len(tree.v)
    acc: list[list[Scalar]] = []
    for k, link in enumerate(tree.links):
        a = to_child(link, ground if link.parent < 0 else acc[link.parent])
        total = a if b is None else plus(a, b[k])
        for i, number in enumerate(link.v):
            found[number] = dot(filtered.inverse[k][i], eps[k]) - dot(filtered.G[k][i], a)
        for number, column in zip(link.v, link.H, strict=True):
            total = plus(total, scaled(column, found[number]))
        acc.append(total)
    return [tree.workspace.atom(x) for x in found]


def innovations(
    tree: SpatialTree,
    tau: Sequence[Scalar],
    *,
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
) -> list[Atom]:
    """V' = [1 - Hᵀ Ψ K]ᵀ D⁻¹ [1 - Hᵀ Ψ K] (τ - ξ): the bias ξ first, then filter and smoother."""
    xi = bias(tree, wrenches=wrenches)
    return _applied(tree, articulated(tree), minus(tau, xi))


def innovations_of(tree: SpatialTree) -> Callable[[Sequence[Scalar]], list[Atom]]:
    """M⁻¹ x as a function of x, filtered once."""
    filtered = articulated(tree)
    return lambda x: _applied(tree, filtered, x)


def _applied(tree: SpatialTree, filtered: Articulated, x: Sequence[Scalar]) -> list[Atom]:
    """M⁻¹ x."""
    z: list[list[Scalar]] = [[0.0] * 6 for _ in tree.links]
    eps: list[list[Scalar]] = [[] for _ in tree.links]
    for k in reversed(range(len(tree.links))):
        link = tree.links[k]
        eps[k] = [x[n] - dot(column, z[k]) for n, column in zip(link.v, link.H, strict=True)]
        if link.parent >= 0:
            passed = z[k]
            for g, e in zip(filtered.G[k], eps[k], strict=True):
                passed = plus(passed, scaled(g, e))
            passed = without_free(link, passed, [x[n] for n in link.v], tree)
            z[link.parent] = plus(z[link.parent], to_parent(link, passed))
    return _outward(tree, filtered, eps, None, [0.0] * 6)


def inverse_mass_matrix(tree: SpatialTree) -> list[list[Atom]]:
    """M⁻¹ by the innovations factorisation, a column for each unit force."""
    n = len(tree.v)
    filtered = articulated(tree)
    columns = [_applied(tree, filtered, [float(i == k) for i in range(n)]) for k in range(n)]
    return [[columns[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


# ------------------------------------------------------------------------ inertia


def spatial_inertia(J: Pseudo) -> Six:
    """I of a link about its origin: [[tr Σ 1 - Σ, s×], [-s×, m 1]]."""
    trace = J[0][0] + J[1][1] + J[2][2]
    A = [[(trace if i == j else 0.0) - J[i][j] for j in range(3)] for i in range(3)]
    for i in range(3):
        A[i][i] = J[(i + 1) % 3][(i + 1) % 3] + J[(i + 2) % 3][(i + 2) % 3]
    B = skew([row[3] for row in J[:3]])
    C: Matrix = [[J[3][3] if i == j else 0.0 for j in range(3)] for i in range(3)]
    return _six(A, B, C)


def inertia_to_parent(link: Link, I: Six) -> Six:
    """Φ I Φᵀ."""
    A, B, C = ([row[j : j + 3] for row in I[i : i + 3]] for i, j in ((0, 0), (0, 3), (3, 3)))
    A, B, C = _turned(link.step.turn, A, B, C)
    if link.step.slides:
        A, B = _shifted(A, B, C, link.step.way)
    A, B, C = _turned(link.before, A, B, C)
    A, B = _shifted(A, B, C, link.place.p)
    return _six(A, B, C)


def _turned(
    turns: Sequence[Turn], A: Matrix, B: Matrix, C: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    return (
        tensor_outward(turns, A, True),
        tensor_outward(turns, B),
        tensor_outward(turns, C, True),
    )


def _shifted(A: Matrix, B: Matrix, C: Matrix, p: Triple) -> tuple[Matrix, Matrix]:
    """About a point from which the old one is at p: B' = B + p× C, A' = A - (B p×)ᵀ - B' p×."""
    if all(map(zero, p)):
        return A, B
    P = skew(p)
    moved = sum_of(B, product(P, C))
    first, second = product(B, P), product(moved, P)
    rows: Matrix = [list(row) for row in A]
    for i in range(3):
        for j in range(i, 3):
            rows[i][j] = rows[j][i] = A[i][j] - first[j][i] - second[i][j]
    return rows, moved


def _six(A: Matrix, B: Matrix, C: Matrix) -> Six:
    lower = [list(row) for row in zip(*B, strict=True)]
    upper = [[*a, *b] for a, b in zip(A, B, strict=True)]
    return upper + [[*b, *c] for b, c in zip(lower, C, strict=True)]


def sum_of(A: Matrix, B: Matrix) -> Matrix:
    """The sum of two matrices."""
    return [plus(a, b) for a, b in zip(A, B, strict=True)]
