"""Forward dynamics of a tree with closed loops, in one sweep to the ground and one back.

The recursion by articulated bodies carries the rows of the loops along.  A row r has a wrench W on
some links, its coupling A with other rows, and β; a joint of motions H, D = Hᵀ I^A H, G = I^A H D⁻¹
that is eliminated leaves

    n_r = Hᵀ W_r + c_r,    W_r(parent) += Φ (W_r - G n_r),    A_rs += n_r D⁻¹ n_s,
    β_r += W_r · b + n_r D⁻¹ ε,

so that at any time the rows read Σ W · A_links + β - A λ = 0 (the algorithm of Popov and
Vereshchagin; Sathya & Carpentier, "Constrained articulated body dynamics algorithms").  When all
joints of a loop are gone its rows act on one link only, and are eliminated themselves there,

    λ_r = (W_r · a + β_r - Σ A_rs λ_s) / A_rr,     I^A += W_r W_rᵀ / A_rr,     z += W_r β_r / A_rr :

a loop costs what it has in it, wherever in the tree it is.  A_rr is then what the freedoms of the
loop yield along the row; one that is rounding only belongs to a row that depends on others, and is
dropped by the select of `biela.equations.elimination`.

The rows of a loop may go earlier (`Elimination.EARLY`), when all that is left of them is on one
link and the freedoms eliminated so far yield along each: a leg of a platform is then an inertia
on it.  Where the leg is stretched out it yields no more; A_rr is bounded from below by a part of
10⁻⁹.  Of a Stewart platform with a locked leg, accelerations are then known to 10⁻⁷ within 10⁻⁶
rad of that position, to 10⁻⁹ 10⁻⁵ rad away, and to rounding from 10⁻² rad on.

What is cut is left to `biela.equations.joint_coordinates`: the joints that remove most freedoms
carry bodies.  Of a Stewart platform that leaves five balls to close, with 3946 operations; on a
free joint of its own with six balls it takes 4757, and with its legs hanging from it, their feet
closing the loops, 7178.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.equations.spatial.active_rows import ActiveRows, Elimination, Gone, Joint
from biela.equations.spatial.articulated import (
    inertia_to_parent,
    passed_on,
    spatial_inertia,
    sum_of,
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
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, inward, minus, plus, scaled, times, zero


@dataclass(frozen=True, eq=False)
class Constrained:
    """Accelerations, multipliers of the rows, and the conditions under which rows are dropped."""

    accelerations: list[Atom]
    multipliers: list[Atom]
    dropped: list[Atom]


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
        self.given = [t + f for t, f in zip(tau, tree.pushed, strict=True)]
        self.I = [spatial_inertia(link.grouped) for link in tree.links]
        self.b, self.z = _bias(tree, wrenches)
        self.active = ActiveRows(tree, rows, wanted, elimination, self.I, self.z)
        self.joints: dict[int, Joint] = {}
        #: Joints and rows in the order in which they went.
        self.order: list[int | Gone] = []

    # ---------------------------------------------------------------------- inward

    def inward(self) -> None:
        links = self.tree.links
        waiting = [len(children) for children in self.tree.children]
        ready = {k for k, n in enumerate(waiting) if not n}
        self.order += self.active.eliminated()
        while ready:
            # what few rows act on goes first: legs before the platform
            k = min(ready, key=lambda k: (len(self.active.on(k)), -k))
            ready.discard(k)
            self._joint(k)
            parent = links[k].parent
            if parent >= 0:
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.add(parent)
            self.order += self.active.eliminated()

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
        joint = Joint(inverse, G, eps, {})
        self.joints[k] = joint
        self.order.append(k)
        self.active.through(k, joint, self.b[k])
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

    # --------------------------------------------------------------------- outward

    def outward(self) -> Constrained:
        tree = self.tree
        found: list[Scalar] = [0.0] * len(tree.v)
        lam: dict[int, Scalar] = {}
        acc: dict[int, list[Scalar]] = {}
        for step in reversed(self.order):
            if isinstance(step, Gone):
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
            [atom(x) for x in self.active.dropped],
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
