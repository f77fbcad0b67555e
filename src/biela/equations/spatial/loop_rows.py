"""The equations of joints that close loops, and of drivers, as wrenches on the links of a tree.

Most rows are functions of the pose of marker j seen from marker i, of its rotation D and gap d:
they are differentiated once with symbols for these, along d' = u, D' = ω × D, and the second
derivatives of d and D are those of relative motion,

    u' = a_j - a_i(at the point of j) - 2 ω_i × u,      ω' = α_j - α_i - ω_i × ω.

Points that are one have their rows along the axes of one of the links (`PointAxes`), where most
of W is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from biela.atoms import Atom, diff, substitute
from biela.equations.spatial.relative_motion import LinkMotions
from biela.equations.spatial.row_derivation import RowDerivation
from biela.equations.spatial.rows import LoopRow, PointAxes, jacobian
from biela.equations.spatial.sampling import Samples
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Matrix,
    Pose,
    Scalar,
    Triple,
    cross,
    dot,
    minus,
    plus,
    scaled,
    times,
    transposed,
    zero,
)
from biela.errors import ModelError
from biela.model.bodies import GROUND
from biela.model.drivers.driver import Driver
from biela.model.drivers.joint_driver import JointDriver
from biela.model.drivers.position import PositionDriver
from biela.model.joints import Joint
from biela.model.joints.primitives import Coincide, Primitive, Projection
from biela.model.laws.law import Constant
from biela.model.markers import Marker


def loop_rows(tree: SpatialTree, axes: PointAxes = PointAxes.MARKER) -> list[LoopRow]:
    """All rows of a tree; those that hold in every position are left out.

    Raises:
        ModelError: A joint with a law over several turns closes a loop.
    """
    made = _Rows(tree, axes)
    made.all()
    return made.moving()[0]


def idle_rows(tree: SpatialTree) -> list[LoopRow]:
    """The rows that hold in every position, such as those across the plane of a mechanism."""
    made = _Rows(tree, PointAxes.MARKER)
    made.all()
    return made.moving()[1]


class _Rows:
    """Rows in the making."""

    def __init__(self, tree: SpatialTree, axes: PointAxes) -> None:
        self.tree = tree
        self.axes = axes
        self.motions = LinkMotions(tree)
        self.rows: list[LoopRow] = []

    # ------------------------------------------------------------------- elements

    def all(self) -> None:
        for joint in self.tree.closing:
            self.joint(joint)
        for driver in self.tree.model.drivers.values():
            self.driver(driver)

    def joint(self, joint: Joint) -> None:
        if joint.laws:
            raise ModelError(
                f"{self.tree.model.name}: joint {joint.name} ({joint.kind}) closes a loop with a "
                f"law over any number of turns; let another joint close it, or use formulate(model)"
            )
        conditions: Sequence[Primitive] = joint.conditions()
        for condition in conditions:
            if isinstance(condition, Coincide):
                self._points(joint.name, joint.i, joint.j)
            elif isinstance(condition, Projection):
                offset = self.tree.number(condition.value, "length")
                self._projection(joint.name, joint.i, joint.j, condition.axis, offset)
            else:
                derivation = RowDerivation(self.tree)
                made = condition.rows(derivation.pair(joint.i, joint.j))
                self._relative(joint.name, [(r.label, r.value) for r in made], derivation)

    def driver(self, driver: Driver) -> None:
        tree = self.tree
        if isinstance(driver, JointDriver) and not self._closes(driver.coordinate):
            derivation = RowDerivation(tree)
            unit = derivation.unit(driver.coordinate)
            if unit != driver.unit:
                driver.rows(derivation)  # which says so
            full = tree.coordinate_name(driver.coordinate)
            value, k = tree.coordinates.value(full)
            leader = next(tree.q[i] for i, j in tree.scalars.values() if j == k)
            law = tree.law(driver.law, driver.dimension)
            rate = diff(law, tree.workspace.time)
            slope = _number(diff(value, leader))
            self.rows.append(
                LoopRow(
                    driver.name,
                    "law",
                    {},
                    {k: slope},
                    value - law,
                    -rate,
                    -diff(rate, tree.workspace.time),
                    support=frozenset(n for n, link in enumerate(tree.links) if k in link.v),
                )
            )
            return
        if isinstance(driver, PositionDriver) and driver.i is not None:
            # along an axis of the ground, however marker i is turned: the rows of both points
            # seen from there, one less the other
            still = replace(driver, marker=driver.i, i=None, law=Constant(0.0))
            first = len(self.rows)
            self.driver(replace(driver, i=None))
            self.driver(still)
            self._one_less_the_other(first)
            return
        derivation = RowDerivation(tree)
        made = driver.rows(derivation)
        self._relative(driver.name, [(r.label, r.value) for r in made], derivation)

    def _closes(self, coordinate: str) -> bool:
        joints = {joint.name for joint in self.tree.closing}
        return coordinate in joints or coordinate.rpartition(".")[0] in joints

    def _projection(self, owner: str, i: Marker, j: Marker, axis: str, offset: Scalar) -> None:
        """C · (r_j - r_i) along an axis of the ground."""
        first = len(self.rows)
        for marker, less in ((j, offset), (i, 0.0)):
            derivation = RowDerivation(self.tree)
            pair = derivation.pair(Marker(GROUND, "origin"), marker)
            gap = pair.gap.components(pair.space.root)["xyz".index(axis)]
            self._relative(owner, [(axis, gap - less)], derivation)
        self._one_less_the_other(first)

    def _one_less_the_other(self, first: int) -> None:
        one, other = self.rows[first:]
        wrenches = dict(one.wrenches)
        for k, W in other.wrenches.items():
            wrenches[k] = minus(wrenches[k], W) if k in wrenches else [-x for x in W]
        self.rows[first:] = [
            replace(
                one,
                wrenches=wrenches,
                value=one.value - other.value,
                drift=one.drift - other.drift,
                bias=one.bias - other.bias,
                support=one.support | other.support,
            )
        ]

    # ----------------------------------------------------------------------- rows

    def _points(self, owner: str, i: Marker, j: Marker) -> None:
        """Two points that are one."""
        ends = [self.tree.marker(marker) for marker in (i, j)]
        (a, here), (b, there) = ends
        motions = self.motions
        chosen = 0
        if self.axes is PointAxes.SHORT:
            freedoms = [motions.freedoms(a, b), motions.freedoms(b, a)]
            chosen = 1 if not freedoms[0] or 0 < freedoms[1] < freedoms[0] else 0
        k, l = (a, b) if chosen == 0 else (b, a)
        at, to = (here, there) if chosen == 0 else (there, here)
        C = motions.turn(k, l)  # components along k, of those along l
        gap = minus(
            plus(motions.place(k, l), times(C, to.p)), at.p
        )  # from the point on k to that on l
        arm = at.p
        moved: Triple = [0.0, 0.0, 0.0]
        if self.axes is PointAxes.MARKER:
            # the rows turn with i: what is fixed there is taken at the point of j
            arm = plus(at.p, gap)
            moved = scaled(cross(motions.omega(k), self._speed(k, l, at, to, gap, C)), 2.0)
        near = motions.centripetal(k, arm)
        far = times(C, motions.centripetal(l, to.p))
        bias = minus(minus(far, near), moved)
        sign = 1.0 if chosen == 0 else -1.0
        directions = transposed(at.R) if self.axes is PointAxes.MARKER else _UNIT
        support = motions.between(a, b)
        onto = transposed(there.R)
        for letter, f in zip("xyz", directions, strict=True):
            g = times(transposed(C), f)
            held = times(onto, g if chosen == 0 else f)
            wrenches: dict[int, list[Scalar]] = {}
            _add(wrenches, k, [-sign * x for x in (*cross(arm, f), *f)])
            _add(wrenches, l, [sign * x for x in (*cross(to.p, g), *g)])
            self.rows.append(
                LoopRow(
                    owner,
                    letter,
                    wrenches,
                    {},
                    sign * dot(f, gap),
                    0.0,
                    sign * dot(f, bias),
                    [0.0, 0.0, 0.0, *held],
                    support,
                )
            )

    def _speed(self, k: int, l: int, at: Pose, to: Pose, gap: Triple, C: Matrix) -> Triple:
        """The velocity of the point on l seen from link k, in the axes of k."""
        motions = self.motions
        there = plus(motions.velocity(l), cross(motions.omega(l), to.p))
        here = plus(motions.velocity(k), cross(motions.omega(k), plus(at.p, gap)))
        return minus(times(C, there), here)

    def _relative(
        self, owner: str, made: Sequence[tuple[str, Atom]], derivation: RowDerivation
    ) -> None:
        """Rows of the pose of marker j seen from marker i."""
        tree, motions, ws = self.tree, self.motions, self.tree.workspace
        (a, here), (b, there) = (tree.marker(marker) for marker in derivation.markers)
        back = transposed(here.R)
        C = motions.turn(a, b)
        D = _product(back, _product(C, there.R))
        gap = minus(plus(motions.place(a, b), times(C, there.p)), here.p)
        omega_i = times(back, motions.omega(a))
        omega = minus(times(back, times(C, motions.omega(b))), omega_i)
        u = times(back, self._speed(a, b, here, there, gap, C))
        apart = minus(
            times(C, motions.centripetal(b, there.p)), motions.centripetal(a, plus(here.p, gap))
        )
        of_u = minus(times(back, apart), scaled(cross(omega_i, u), 2.0))
        of_omega = [-x for x in cross(omega_i, omega)]
        symbols = derivation.symbols
        known: dict[Atom, Atom | float] = {}
        for symbol, x in zip(
            (*(e for row in symbols.D for e in row), *symbols.d, *symbols.omega, *symbols.u),
            (*(e for row in D for e in row), *times(back, gap), *omega, *u),
            strict=True,
        ):
            known[symbol] = ws.atom(x)
        support = motions.between(a, b)
        for label, value in made:
            rate = symbols.along(value)
            F = [diff(rate, x) for x in symbols.u]
            M = [diff(rate, x) for x in symbols.omega]
            still = substitute(rate, dict.fromkeys((*symbols.u, *symbols.omega), 0.0))
            second = symbols.along(rate)
            value, still, second, *FM = substitute([value, still, second, *F, *M], known)
            f, m = times(here.R, _numbers(FM[:3])), times(here.R, _numbers(FM[3:]))
            bias = dot(_numbers(FM[:3]), of_u) + dot(_numbers(FM[3:]), of_omega) + _number(second)
            arm = plus(here.p, gap)
            turned = transposed(C)
            g, n = times(turned, f), times(turned, m)
            wrenches: dict[int, list[Scalar]] = {}
            _add(wrenches, a, [-x for x in (*plus(m, cross(arm, f)), *f)])
            _add(wrenches, b, [*plus(n, cross(there.p, g)), *g])
            onto = transposed(there.R)
            self.rows.append(
                LoopRow(
                    owner,
                    label,
                    wrenches,
                    {},
                    _number(value),
                    _number(still),
                    bias,
                    [*times(onto, n), *times(onto, g)],
                    support,
                )
            )

    def moving(self) -> tuple[list[LoopRow], list[LoopRow]]:
        """The rows that depend on the position, and those that hold in every position.

        Raises:
            ModelError: A row cannot be fulfilled in any position.
        """
        J = jacobian(self.tree, self.rows)
        samples = Samples(self.tree)
        n = len(self.tree.v)
        entries = samples.of([x for row in J for x in row]).reshape(samples.count, len(J), n)
        sizes = np.abs(entries).max(axis=(0, 2)) if n and len(J) else np.zeros(len(J))
        found, idle = [], []
        for row, size in zip(self.rows, sizes, strict=True):
            if size > _DUST:
                found.append(row)
                continue
            off = 0.0 if zero(row.value) else samples.largest(row.value)
            if off > _NEVER:
                raise ModelError(
                    f"{self.tree.model.name}: {row.owner} can never be fulfilled: its equation "
                    f"{row.label} is off by {off:.3g} in every position; check the places and "
                    f"axes of its markers"
                )
            idle.append(row)
        return found, idle


_UNIT: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
#: Entries of J below this are rounding.
_DUST = 1e-12
#: A row that is constant and larger than this cannot be fulfilled (m, or sine of an angle).
_NEVER = 1e-9


def _add(wrenches: dict[int, list[Scalar]], k: int, W: list[Scalar]) -> None:
    if k >= 0:
        wrenches[k] = plus(wrenches[k], W) if k in wrenches else W


def _product(A: Matrix, B: Matrix) -> Matrix:
    columns = list(zip(*B, strict=True))
    return [[dot(row, column) for column in columns] for row in A]


def _number(x: Atom) -> Scalar:
    return x if x.value is None else float(x.value)


def _numbers(x: Sequence[Atom]) -> list[Scalar]:
    return [_number(e) for e in x]
