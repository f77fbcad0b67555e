"""The kernel of a kind of group: its Newton step, rates and accelerations, made from atoms.

With the unknowns φ, what is known h, and the parameters p of an instance (Miralles 2018, eqs 36 to
38):

    Φ(φ, h) = 0,      φ ← φ - Φ_φ⁻¹ Φ
    Φ_φ φ' = -Φ_h h'
    Φ_φ φ'' = -(Φ_h h'' + c),      c = the time derivative of Φ_q times q', with no acceleration

and what later groups read: points, directions and coordinates, each with two rates.  c is written
as a time derivative ("rate"), or as Σ ∂²Φ/∂q_j∂q_k q_j' q_k' with the tensor of second derivatives
("tensor", the third-order tensor of the source).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np

from biela.atoms import Atom, jacobian, select, substitute
from biela.code import Function
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms import ClosedForm
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.elimination import Elimination, eliminate, halved_rows, halves
from biela.equations.groups.products import with_shared_products
from biela.equations.groups.symbols import Column, Known, Unknown
from biela.equations.groups.wanted import Wanted, component_atoms
from biela.errors import ModelError
from biela.model.joints import Joint
from biela.model.joints.primitives import Row

__all__ = ["Convective", "GroupEquations", "GroupKernel"]

#: How c is written.
Convective: TypeAlias = Literal["rate", "tensor"]

#: A row that no position changes and that is larger cannot be fulfilled (m, or sine of an angle).
_NEVER: Final = 1e-9
#: A row whose derivatives by all unknowns are below this at all positions looked at is no equation.
_NOTHING: Final = 1e-9
#: Terms of equations that are larger are those of ordinary mechanisms (m²: bars of 7 cm).
_ORDINARY: Final = 1e-2
#: Lengths that all begin below the first (m), such as a slide at zero, count as the second.
_AT_ZERO: Final = (1e-8, 1e-3)
#: A determinant below this share of what it was is that of a dead point, or next to one.
_FALLEN: Final = 0.01


@dataclass(frozen=True, eq=False)
class GroupKernel:
    """The kernel of a kind.

    Attributes:
        function: All of it as one function.  Its inputs are x; h, dh and ddh; p; and last, the
            unknowns with their rates at the instant before, and tau, the time since; of a closed
            form with two solutions branch, 1 or -1.  Its outputs
            are guess, residual, next and positive for the iteration, and gauge, y, dy
            and ddy as they are at the solution; and x_found, dx and ddx, if y is not x.
        unknowns: What x is.
        known: What h is.
        columns: What p is.
        wanted: What y is.
        rows: Names of the equations.
        elimination: How the linear equations are solved.
        among_items: Whether y is x, so that it is not written twice.
    """

    function: Function
    unknowns: tuple[Unknown, ...]
    known: tuple[Known, ...]
    columns: tuple[Column, ...]
    wanted: tuple[Wanted, ...]
    rows: tuple[str, ...]
    elimination: Elimination | None
    among_items: bool

    @property
    def parameters(self) -> Floats:
        """The rows of parameters, (instances, number of parameters)."""
        return np.stack([column.values for column in self.columns], axis=1)


class GroupEquations:
    """The equations of a kind, for some way to choose coordinates.

    Args:
        derivation: With all bodies placed.
        poses: Where the model is, to look at ranks and to start from.
        convective: How c is written.
    """

    def __init__(
        self, derivation: GroupDerivation, poses: Poses, convective: Convective = "rate"
    ) -> None:
        self.derivation, self.poses, self.convective = derivation, poses, convective
        #: Equations that no unknown changes: true, or the model contradicts itself.
        self.checks: list[Atom] = []
        self.check_labels: list[str] = []
        rows = self._collected()
        self.labels = [label for label, _ in rows]
        self.Phi = [row.value for _, row in rows]
        self._drop_empty_rows()
        m, r = len(self.x), len(self.Phi)
        if r < m:
            group = derivation.cast.example
            raise ModelError(
                f"the group of {', '.join(group.bodies)} has {r} equations for {m} unknowns "
                f"({', '.join(u.name for u in derivation.unknowns)}): a driver is missing, or a "
                f"passive spin is not held"
            )

    @property
    def tested(self) -> list[Atom]:
        """All equations: those that unknowns change, then those that none does."""
        return [*self.Phi, *self.checks]

    @property
    def tested_labels(self) -> list[str]:
        """Their names."""
        return [*self.labels, *self.check_labels]

    # ----------------------------------------------------------------------- symbols

    @property
    def x(self) -> list[Atom]:
        """The unknowns."""
        return [u.symbol for u in self.derivation.unknowns]

    @cached_property
    def dx(self) -> list[Atom]:
        """Their rates."""
        return [x.velocity for x in self.x]

    def _collected(self) -> list[tuple[str, Row]]:
        derivation = self.derivation
        found: list[tuple[str, Row]] = []
        for number, cast in enumerate(derivation.cast.elements):
            if isinstance(cast.element, Joint):
                if number not in derivation.carried:
                    found += [(f"{cast.label}.{r.label}", r) for r in derivation.joint_rows(number)]
            elif number not in derivation.satisfied:
                found += [(f"{cast.label}.{r.label}", r) for r in derivation.other_rows(number)]
        found += [(row.label, row) for row in derivation.further]
        moving = {x.ref for x in self.x}
        table = derivation.workspace.table
        kept = []
        for label, row in found:
            if moving & set(table.live([row.value.ref])):
                kept.append((label, row))
            else:
                self._check(label, row.value)
        return kept

    def _check(self, label: str, value: Atom) -> None:
        """Keep a row that no unknown changes, unless it always holds.

        Raises:
            ModelError: It never does.
        """
        if value.value is not None:
            worst = abs(float(value.value))
        else:
            live = set(self.derivation.workspace.table.live([value.ref]))
            if any(known.symbol.ref in live for known in self.derivation.known):
                self.checks.append(value)
                self.check_labels.append(label)
                return
            worst = float(np.abs(self._evaluated([value], self._samples()[0])).max())
        if worst > _NEVER:
            raise ModelError(
                f"{label} can never be fulfilled: it is off by {worst:.3g} in every position; "
                f"check the places and axes of the markers"
            )

    def bound(self, tolerance: float) -> float:
        """The bound of the norm of the equations for a tolerance, in proportion to small ones.

        Equations are squares of lengths or lengths: of bars of a millimetre 1e-10 m² would be a
        ten thousandth.  It is not below what rounding leaves of their terms.
        """
        sizes = self._row_sizes()
        if not sizes.size:
            return tolerance
        rounding = 16 * float(np.finfo(float).eps) * float(sizes.max())
        return max(tolerance * min(1.0, float(sizes.max()) / _ORDINARY), rounding)

    def _row_sizes(self) -> Floats:
        """Σ |∂Φ/∂x| |x| of each equation at the start, for some instances."""
        if not self.x or not self.Phi:
            return np.zeros(0)
        J = jacobian(self.Phi, self.x).rows
        values = self._samples()[0]
        m = len(self.x)
        slopes = np.abs(self._evaluated([e for row in J for e in row], values))
        turning = np.array([unknown.turns for unknown in self.derivation.unknowns])
        x = np.abs(self._evaluated(self.x, values))
        if not turning.all():
            # a length that is small where it begins grows as large as the others
            largest = x[~turning].max(axis=0)
            x[~turning] = np.where(largest > _AT_ZERO[0], largest, _AT_ZERO[1])
        x[turning] = 1.0  # an angle has no size: what counts is how far it moves things
        sizes = np.einsum("rmi,mi->ri", slopes.reshape(len(self.Phi), m, -1), x)
        return np.asarray(sizes[np.isfinite(sizes)])

    def _drop_empty_rows(self) -> None:
        """Leave out rows that no unknown changes, and what is then superfluous stays.

        In a planar loop of a spatial model the rows across its plane are such; what they say is
        true or not whatever the group does.
        """
        m, r = len(self.x), len(self.Phi)
        if r <= m or not m:
            return
        J = jacobian(self.Phi, self.x).rows
        sizes = np.zeros(r)
        for values in self._samples():
            found = np.abs(self._evaluated([e for row in J for e in row], values))
            sizes = np.maximum(sizes, found.reshape(r, m, -1).max(axis=(1, 2)))
        kept = [k for k in range(r) if sizes[k] > _NOTHING]
        for k in sorted(set(range(r)) - set(kept)):
            self.checks.append(self.Phi[k])
            self.check_labels.append(self.labels[k])
        self.Phi = [self.Phi[k] for k in kept]
        self.labels = [self.labels[k] for k in kept]

    def _samples(self) -> list[dict[Atom, Floats]]:
        """Values of all symbols near the start, for some instances: there and somewhat off it."""
        derivation = self.derivation
        take = np.unique(np.linspace(0, derivation.cast.count - 1, 8).astype(int))
        random = np.random.default_rng(0)
        values: dict[Atom, Floats] = {}
        for column in derivation.columns:
            values[column.symbol] = column.values[take]
        for known in derivation.known:
            values[known.symbol] = known_values(known, self.poses)[take]
        start = {u.symbol: u.start(self.poses)[take] for u in derivation.unknowns}
        off = {
            symbol: x + random.uniform(-0.05, 0.05, x.shape) * (1 + np.abs(x))
            for symbol, x in start.items()
        }
        return [values | start, values | off]

    def _evaluated(self, atoms: Sequence[Atom], values: Mapping[Atom, Floats]) -> Floats:
        from biela.atoms import evaluate

        found = evaluate(list(atoms), values)
        count = len(next(iter(values.values())))
        return np.array([np.broadcast_to(np.asarray(f, dtype=float), (count,)) for f in found])

    # -------------------------------------------------------------------------- rates

    def rate(self, expression: Atom) -> Atom:
        """The time derivative, in rates of unknowns and of what is known."""
        return self.derivation.space.time_rate(expression)

    def _still(self) -> dict[Atom, Atom | float]:
        return {rate: 0.0 for rate in self.dx}

    def _accelerating(self, ddx: Sequence[Atom]) -> dict[Atom, Atom | float]:
        """Rates replaced by second rates."""
        found: dict[Atom, Atom | float] = dict(zip(self.dx, ddx, strict=True))
        for known in self.derivation.known:
            found[known.symbol.velocity] = self.second(known)
        return found

    def second(self, known: Known) -> Atom:
        """The second rate of what is known."""
        return known.symbol.acceleration

    def bias(self, rates: Sequence[Atom], values: Sequence[Atom]) -> list[Atom]:
        """The second derivative of values without accelerations, given their rates."""
        if self.convective == "rate":
            return [self.derivation.space.bias_rate(rate) for rate in rates]
        q = [*self.x, *(known.symbol for known in self.derivation.known)]
        found = []
        zero = self.derivation.workspace.atom(0)
        for value in values:
            gradient = jacobian([value], q).rows[0]
            total = zero
            for j, row in enumerate(jacobian(gradient, q).rows):
                inner = zero
                for k, entry in enumerate(row):
                    if entry.ref:
                        inner = inner + entry * q[k].velocity
                if inner.ref:
                    total = total + inner * q[j].velocity
            found.append(total)
        return found

    # ------------------------------------------------------------------------- kernel

    def depends_on(
        self, wanted: Sequence[Wanted], closed: ClosedForm | None = None
    ) -> tuple[Known, ...]:
        """What is known that the equations, or what is wanted of them, depend on."""
        atoms = [*self.Phi, *self.checks, *self.derivation.sides]
        atoms += [a for w in wanted for a in component_atoms(self.derivation, w)]
        atoms += [] if closed is None else closed.atoms
        live = set(self.derivation.workspace.table.live([a.ref for a in atoms]))
        return tuple(k for k in self.derivation.known if k.symbol.ref in live)

    def kernel(
        self, name: str, wanted: Sequence[Wanted], closed: ClosedForm | None = None
    ) -> GroupKernel:
        """The kernel with all that is wanted of it.

        With a closed form the iteration starts at the solution, on the branch that the input
        "branch" gives; where there is none it stays there, and is not solved.
        """
        derivation = self.derivation
        ws = derivation.workspace
        x, dx = self.x, self.dx
        known = self.depends_on(wanted, closed)
        m = len(x)
        last = [[ws.parameter(f"{d}last{k}") for k in range(m)] for d in ("", "d", "dd")]
        tau, gauge_before = ws.parameter("tau"), ws.parameter("gauge_before")
        prediction = [a + tau * (b + (0.5 * tau) * c) for a, b, c in zip(*last, strict=True)]
        guess = prediction
        elimination = None
        speeds: list[Atom] = []
        ddx: list[Atom] = []
        following = list(x)
        gauge = ws.atom(1.0)
        if m:
            J, even = halved_rows(jacobian(self.Phi, x).rows)
            elimination = eliminate(J, (self.labels, [u.name for u in derivation.unknowns]))
            Phi = halves(self.Phi, even)
            step = elimination.solve(Phi)
            following = [a - s for a, s in zip(x, step, strict=True)]
            if closed is not None:
                guess = closed.guess(prediction)
                if closed.stuck is not None:
                    pairs = zip(x, following, strict=True)
                    following = [select(closed.stuck, a, b) for a, b in pairs]
            rates = halves([self.rate(e) for e in self.Phi], even)
            moved = substitute(rates, self._still())
            speeds = elimination.solve([-e for e in moved])
            c = self.bias(rates, Phi)
            shifted = substitute(moved, self._accelerating([ws.atom(0.0)] * m))
            right = [-(a + b) for a, b in zip(shifted, c, strict=True)]
            ddx = elimination.solve(substitute(right, dict(zip(dx, speeds, strict=True))))
            gauge = elimination.gauge
        y = [a for w in wanted for a in component_atoms(derivation, w)]
        dy = [self.rate(a) for a in y]
        bias = [derivation.space.bias_rate(a) for a in dy]
        ddy = substitute(dy, self._accelerating(ddx))
        ddy = [a + b for a, b in zip(ddy, bias, strict=True)]
        at_speed = dict(zip(dx, speeds, strict=True))
        dy, ddy = substitute(dy, at_speed), substitute(ddy, at_speed)
        outputs: dict[str, list[Atom]] = {}
        inputs: dict[str, list[Atom]] = {}
        among_items = [a.ref for a in y] == [a.ref for a in x]
        if m:
            outputs |= {"guess": guess, "residual": self.tested, "next": following}
            # where it falls to nearly nothing two branches meet, and a prediction tells neither
            held = gauge_before * (gauge - _FALLEN * gauge_before)
            outputs |= {"positive": [held]}
            if closed is not None and closed.sides is not None:
                # the branch is kept by its sign
                outputs["positive"] = [*closed.positive(prediction), held]
            outputs["positive"] = [*outputs["positive"], *derivation.sides]
            if not among_items:
                outputs |= {"x_found": x, "dx": speeds, "ddx": ddx}
            outputs["gauge"] = [gauge]
            inputs |= {"x": x, "last": last[0], "dlast": last[1], "ddlast": last[2]}
            inputs |= {"tau": [tau], "gauge_before": [gauge_before]}
            if closed is not None and closed.branch is not None:
                inputs["branch"] = [closed.branch]
        elif self.checks:
            outputs["residual"] = list(self.checks)
        if known:
            inputs["h"] = [k.symbol for k in known]
            inputs["dh"] = [k.symbol.velocity for k in known]
            inputs["ddh"] = [self.second(k) for k in known]
        if y:
            outputs |= {"y": y, "dy": dy, "ddy": ddy}
        if not outputs:
            # a body that drivers or the ground place, and of which nothing is read
            outputs["residual"] = [ws.atom(0.0)]
        outputs = with_shared_products(outputs)
        live = set(ws.table.live([a.ref for part in outputs.values() for a in part]))
        columns = [c for c in derivation.columns if c.symbol.ref in live]
        if columns:
            inputs["p"] = [c.symbol for c in columns]
        return GroupKernel(
            Function(name, inputs, outputs),
            tuple(derivation.unknowns),
            known,
            tuple(columns),
            tuple(wanted),
            tuple(self.labels),
            elimination,
            among_items,
        )


def known_values(known: Known, poses: Poses) -> Floats:
    """The values of what is known at a position, for all instances."""
    item, k = known.item, known.component
    if item.kind in ("law", "coordinate"):
        return np.ones(len(item.body))  # not known here, and a length is above zero
    r, R = poses.body(item.body)
    if item.kind == "turn":
        assert poses.plane is not None
        from biela.equations.groups.placing import angle_in_plane

        angle = angle_in_plane(poses.plane, R)
        return np.cos(angle) if k == 0 else np.sin(angle)
    found = np.einsum("nij,nj->ni", R, item.local)
    if item.kind == "point":
        found = found + r
    axis = k if poses.plane is None else "xyz".index(poses.plane[k])
    component: Floats = found[:, axis]
    return component
