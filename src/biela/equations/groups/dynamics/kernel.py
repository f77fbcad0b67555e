"""The kernel of a kind for dynamics: its motion, and what its bodies bring to M and Q.

Besides positions and rates it gives, for each of the independent coordinates z_j that the group
depends on, the columns ∂φ'/∂z_j' of its unknowns and of what is read of it; accelerations are those
with z'' = 0.  Of a body with mass m, centre c, and angular velocity ω and inertia I along the axes
of its frame,

    M_jk = m v_j · v_k + ω_j · I ω_k,      Q_j = v_j · m (g - b_c) - ω_j · (I b_ω + ω x I ω)

with v_j, ω_j its columns and b_c, b_ω its accelerations at z'' = 0.

Newton's method may find a solution of another branch, past a dead point or far from one.  Along a
branch the columns S before and after a move Δz explain the change of the unknowns,

    Δφ = ½ (S_last + S) Δz + O(Δz³)

(with ∂φ/∂t Δt for drivers that move, likewise), so that what they leave must be a share of Δφ.  A
group may also bounce off a dead point, with its energy, where positions do not leap; but next to a
dead point the determinant, which vanishes there, falls by a clear share in every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.atoms import Atom, jacobian, substitute
from biela.code import Function
from biela.equations.blocks.populations import Floats
from biela.equations.groups.elimination import eliminate, halved_rows, halves
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.symbols import Column, Known, Unknown
from biela.equations.groups.wanted import Wanted, component_atoms
from biela.equations.reference_point import NORMAL
from biela.space import angular_velocity

__all__ = ["BodyMasses", "MotionKernel", "motion_kernel"]

Values = dict[Atom, Atom | float]

#: A determinant below this share of what it was at the call before is so near to a dead point that
#: the step does not resolve it: at half a step, that is reached within five.
_FALLEN: Final = 0.9
#: What the columns before and after a move may leave unexplained of it, squared.
_UNEXPLAINED: Final = 0.75**2
#: A change below this share of the unknowns, or below this, is that of Newton's method; squared.
_NOISE: Final = 1e-12
_NOTHING: Final = 1e-18


@dataclass(frozen=True, eq=False)
class BodyMasses:
    """Of the bodies of a slot: mass (n,), centre (n, 3), inertia (n, 3, 3) about it, m g (n, 3)."""

    mass: Floats
    centre: Floats
    inertia: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class MotionKernel:
    """The kernel of a kind; see the module and `biela.equations.groups.kernel`."""

    function: Function
    unknowns: tuple[Unknown, ...]
    known: tuple[Known, ...]
    columns: tuple[Column, ...]
    wanted: tuple[Wanted, ...]
    width: int

    @property
    def parameters(self) -> Floats:
        """The rows of parameters."""
        return np.stack([column.values for column in self.columns], axis=1)


class _Maker:
    def __init__(self, equations: GroupEquations, width: int, timed: bool) -> None:
        self.equations, self.width, self.timed = equations, width, timed
        self.derivation = equations.derivation
        self.ws = self.derivation.workspace
        self.x, self.dx = equations.x, equations.dx
        known = self.derivation.known
        self.sh = [
            {k.symbol.velocity: self.ws.parameter(f"s{j}{k.symbol.name}") for k in known}
            for j in range(width)
        ]
        self.speed: Values = {}
        self.bias: Values = {k.symbol.velocity: k.symbol.acceleration for k in known}
        self.column: list[Values] = [dict(values) for values in self.sh]

    # ------------------------------------------------------------- along the motion

    def rate(self, value: Atom) -> Atom:
        """The rate of a quantity."""
        found = self.derivation.space.time_rate(value)
        return substitute(found, self.speed) if self.speed else found

    def rates(self, value: Atom) -> tuple[Atom, Atom, list[Atom]]:
        """Rate, acceleration at z'' = 0, and columns of a quantity of position."""
        return self.of_rate(self.derivation.space.time_rate(value))

    def of_rate(self, rate: Atom) -> tuple[Atom, Atom, list[Atom]]:
        """The same of what is linear in rates, by itself."""
        convective = self.derivation.space.bias_rate(rate)
        bias = substitute(rate, self.bias) + convective
        columns = [substitute(rate, column) for column in self.column]
        return (
            substitute(rate, self.speed) if self.speed else rate,
            substitute(bias, self.speed) if self.speed else bias,
            columns,
        )

    # ------------------------------------------------------------------- unknowns

    def solve(self) -> dict[str, list[Atom]]:
        """Newton's step, rates, columns and accelerations of the unknowns."""
        ws, x, dx, m = self.ws, self.x, self.dx, len(self.x)
        equations = self.equations
        J, even = halved_rows(jacobian(equations.Phi, x).rows)
        elimination = eliminate(J, (equations.labels, [u.name for u in self.derivation.unknowns]))
        step = elimination.solve(halves(equations.Phi, even))
        rates = halves([self.derivation.space.time_rate(e) for e in equations.Phi], even)
        still: Values = {rate: 0.0 for rate in dx}
        moved = substitute(rates, still)
        speeds = elimination.solve([-e for e in moved])
        convective = [self.derivation.space.bias_rate(rate) for rate in rates]
        shifted = substitute(moved, self.bias)
        self.speed = dict(zip(dx, speeds, strict=True))
        right = [-(a + b) for a, b in zip(shifted, convective, strict=True)]
        bias = elimination.solve(substitute(right, self.speed))
        self.bias |= dict(zip(dx, bias, strict=True))
        for values in self.column:
            found = elimination.solve([-e for e in substitute(moved, values)])
            values |= dict(zip(dx, found, strict=True))
        columns = [ws.atom(values[rate]) for rate in dx for values in self.column]
        last = [ws.parameter(f"last{k}") for k in range(m)]
        sign = ws.parameter("gauge_before")
        gauge = elimination.gauge
        self.inputs = {"x": x, "last": last, "gauge_before": [sign]}
        found_outputs: dict[str, list[Atom]] = {}
        # what z, and then the time, have moved by, with the columns before and now
        moves: list[tuple[Atom, list[Atom], list[Atom]]] = []
        if self.width:
            before = [ws.parameter(f"slast{k}") for k in range(m * self.width)]
            dz = [ws.parameter(f"move{j}") for j in range(self.width)]
            self.inputs |= {"slast": before, "move": dz}
            found_outputs["sx"] = columns
            moves += [
                (dz[j], before[j :: self.width], columns[j :: self.width])
                for j in range(self.width)
            ]
        if self.timed:
            drift = list(speeds)
            if self.width:
                rates_z = [ws.parameter(f"rate{j}") for j in range(self.width)]
                self.inputs["rates"] = rates_z
                drift = [
                    speed - _sum(c * r for c, r in zip(own, rates_z, strict=True))
                    for speed, own in zip(speeds, _rows(columns, self.width), strict=True)
                ]
            drifted = [ws.parameter(f"dlast{k}") for k in range(m)]
            tau = ws.parameter("tau")
            self.inputs |= {"dlast": drifted, "tau": [tau]}
            found_outputs["drift"] = drift
            moves.append((tau, drifted, drift))
        zero = ws.atom(0.0)
        ahead = [_sum((move * old[k] for move, old, _ in moves), zero) for k in range(m)]
        back = [_sum((move * new[k] for move, _, new in moves), zero) for k in range(m)]
        guess = [a + b for a, b in zip(last, ahead, strict=True)]
        halfway = [(a + b) / 2 for a, b in zip(ahead, back, strict=True)]
        ways = [a - b for a, b in zip(x, last, strict=True)]
        missing = _sum((a - b) * (a - b) for a, b in zip(ways, halfway, strict=True))
        told = _sum(a * a for a in ways)
        noise = _NOISE * _sum(a * a for a in x) + _NOTHING
        kept = [sign * (gauge - _FALLEN * sign), _UNEXPLAINED * told + noise - missing]
        return found_outputs | {
            "guess": guess,
            "residual": equations.tested,
            "next": [a - s for a, s in zip(x, step, strict=True)],
            "positive": [*kept, *self.derivation.sides],
            "x_found": x,
            "gauge": [gauge],
        }

    inputs: dict[str, list[Atom]]

    # --------------------------------------------------------------------- bodies

    def body(self, slot: int, masses: BodyMasses) -> tuple[list[list[Atom]], list[Atom]]:
        """What a body brings to M and Q."""
        derivation = self.derivation
        f, zero = self.width, self.ws.atom(0.0)
        M = [[zero] * f for _ in range(f)]
        Q = [zero] * f
        mass = derivation.column(f"mass{slot}", masses.mass)
        centre = component_atoms(derivation, Wanted("point", slot, 0, masses.centre))
        axes = derivation.plane or "xyz"
        for axis, place in zip(axes, centre, strict=True):
            _, bias, columns = self.rates(place)
            weight = derivation.column(f"weight{slot}", masses.weight[:, "xyz".index(axis)])
            force = weight - mass * bias
            self._add(M, Q, columns, [mass * c for c in columns], force)
        self._turning(slot, masses, M, Q)
        return M, Q

    def _turning(self, slot: int, masses: BodyMasses, M: list[list[Atom]], Q: list[Atom]) -> None:
        derivation = self.derivation
        base = derivation.bodies[slot].base
        omega = angular_velocity(derivation.system.base, base).components(base)
        frame = derivation.frames[slot][1]
        own = np.einsum("nji,njk,nkl->nil", frame, self._inertia(slot, masses), frame)
        if derivation.plane is not None:
            normal = np.eye(3)["xyz".index(NORMAL[derivation.plane])]
            across = frame.transpose(0, 2, 1) @ normal
            inertia = derivation.column(
                f"inertia{slot}", np.einsum("ni,nij,nj->n", across, own, across)
            )
            k = int(np.argmax(np.abs(across[0])))
            _, bias, columns = self.of_rate(omega[k])
            self._add(M, Q, columns, [inertia * c for c in columns], -(inertia * bias))
            return
        moments = [
            [derivation.column(f"inertia{slot}_{i}{j}", own[:, i, j]) for j in range(i + 1)]
            for i in range(3)
        ]
        I = [[moments[max(i, j)][min(i, j)] for j in range(3)] for i in range(3)]

        def times(w: Sequence[Atom]) -> list[Atom]:
            return [row[0] * w[0] + row[1] * w[1] + row[2] * w[2] for row in I]

        found = [self.of_rate(w) for w in omega]
        speed, bias3 = [f[0] for f in found], [f[1] for f in found]
        h, rest = times(speed), times(bias3)
        spin = [
            speed[1] * h[2] - speed[2] * h[1],
            speed[2] * h[0] - speed[0] * h[2],
            speed[0] * h[1] - speed[1] * h[0],
        ]
        columns3 = [[f[2][j] for f in found] for j in range(self.width)]
        loads = [times(column) for column in columns3]
        for i in range(3):
            columns = [column[i] for column in columns3]
            self._add(M, Q, columns, [load[i] for load in loads], -(rest[i] + spin[i]))

    def _inertia(self, slot: int, masses: BodyMasses) -> Floats:
        """The inertia of a body; without that about its line for a rod whose spin is held.

        A rod that is alike all around its line never spins if it did not at the start.  Its turn
        in these coordinates has a part about the line that is not real: with no inertia about it
        the angular momentum is that of the rod.  The other half of a strut turns with the one that
        is held.  (Rods that do spin have a driver of their spin, and are not held.)
        """
        cast, poses = self.derivation.cast, self.equations.poses
        names = cast.example.bodies_in_order
        inertia = masses.inertia
        for spin, locked in zip(cast.spins, cast.example.locked, strict=True):
            if names[slot] not in locked.bodies:
                continue
            (_, first), (_, own) = (poses.body(cast.bodies[:, k]) for k in (spin.slot, slot))
            axis = spin.second - spin.first
            axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
            # along the line in this body, which it keeps
            axis = np.einsum("nji,njk,nk->ni", own, first, axis)
            along = np.einsum("ni,nij,nj->n", axis, inertia, axis)
            inertia = inertia - along[:, None, None] * axis[:, :, None] * axis[:, None, :]
        return np.asarray(inertia)

    def _add(
        self,
        M: list[list[Atom]],
        Q: list[Atom],
        columns: Sequence[Atom],
        loads: Sequence[Atom],
        force: Atom,
    ) -> None:
        for j in range(self.width):
            if not columns[j].ref:
                continue
            Q[j] = Q[j] + columns[j] * force
            for k in range(j + 1):
                M[j][k] = M[j][k] + columns[j] * loads[k]


def _sum(terms: Iterable[Atom], start: Atom | None = None) -> Atom:
    """The sum of some terms, one at least if there is no start."""
    found = iter(terms)
    total = next(found) if start is None else start
    for term in found:
        total = total + term
    return total


def _rows(entries: Sequence[Atom], width: int) -> list[Sequence[Atom]]:
    """A matrix that is given row by row, as its rows."""
    return [entries[k : k + width] for k in range(0, len(entries), width)]


def motion_kernel(
    equations: GroupEquations,
    name: str,
    wanted: Sequence[Wanted],
    width: int,
    masses: Sequence[BodyMasses],
    timed: bool = False,
) -> MotionKernel:
    """The kernel of a kind with ``width`` independent coordinates.

    ``timed`` are groups that drivers move besides.
    """
    maker = _Maker(equations, width, timed)
    derivation, ws = equations.derivation, equations.derivation.workspace
    outputs: dict[str, list[Atom]] = {}
    inputs: dict[str, list[Atom]] = {}
    if equations.x:
        outputs |= maker.solve()
        inputs |= maker.inputs
    elif equations.checks:
        outputs["residual"] = list(equations.checks)
    y = [a for w in wanted for a in component_atoms(derivation, w)]
    if y:
        found = [maker.rates(a) for a in y]
        outputs |= {"y": y, "dy": [f[0] for f in found], "ddy": [f[1] for f in found]}
        if width:
            outputs["sy"] = [column for f in found for column in f[2]]
    if width:
        M = [[ws.atom(0.0)] * width for _ in range(width)]
        Q = [ws.atom(0.0)] * width
        for slot, one in enumerate(masses):
            if (one.mass > 0).any() or one.inertia.any():
                more, push = maker.body(slot, one)
                pairs = zip(M, more, strict=True)
                M = [[a + b for a, b in zip(*rows, strict=True)] for rows in pairs]
                Q = [a + b for a, b in zip(Q, push, strict=True)]
        outputs["M"] = [M[j][k] for j in range(width) for k in range(j + 1)]
        outputs["Q"] = Q
    if not outputs:
        # a body that drivers or the ground place, and of which nothing is read
        outputs["residual"] = [ws.atom(0.0)]
    live = set(ws.table.live([a.ref for part in outputs.values() for a in part]))
    known = equations.depends_on(wanted)
    moving = [
        k
        for k in derivation.known
        if live & {k.symbol.ref, k.symbol.velocity.ref, k.symbol.acceleration.ref}
        or any(sh[k.symbol.velocity].ref in live for sh in maker.sh)
    ]
    known = tuple(dict.fromkeys([*known, *moving]))
    if known:
        inputs["h"] = [k.symbol for k in known]
        inputs["dh"] = [k.symbol.velocity for k in known]
        inputs["ddh"] = [k.symbol.acceleration for k in known]
        if width:
            inputs["sh"] = [sh[k.symbol.velocity] for k in known for sh in maker.sh]
    columns = [c for c in derivation.columns if c.symbol.ref in live]
    if columns:
        inputs["p"] = [c.symbol for c in columns]
    return MotionKernel(
        Function(name, inputs, outputs),
        tuple(derivation.unknowns),
        known,
        tuple(columns),
        tuple(wanted),
        width,
    )
