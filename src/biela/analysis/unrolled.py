"""A system as expressions in one workspace, ready to be combined into the code of a run.

The functions of a system are inlined into a workspace of their own, so that what an analysis builds
on them (an elimination, a projection, a step) becomes straight-line code that shares all its atoms
and is compiled or exported as one function.  Kernels of a run have the arrays

    t (1),   x (the state),   p (parameters, then inputs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from biela.analysis.limits import LimitEnd, beyond
from biela.atoms import Atom, Kind, Workspace, jacobian, maximum
from biela.code import Function
from biela.code.arrays import Entries
from biela.equations import System

Matrix = list[list[Atom]]
Row = list[Atom]


class Unrolled:
    """The expressions of a system, of the symbols ``t, q, v, u, p`` and ``lam``."""

    def __init__(self, system: System) -> None:
        self.system = system
        ws = self.workspace = Workspace(f"{identifier(system.name)}_motion")
        self.t = ws.time
        taken: set[str] = {"t"}

        def symbols(names: Sequence[str], prefix: str, kind: Kind) -> Row:
            found = []
            for k, name in enumerate(names):
                plain = identifier(name)
                if plain in taken:
                    plain = f"{prefix}_{k}_{plain}"
                taken.add(plain)
                found.append(ws.symbol(plain, kind))
            return found

        self.q = symbols([e.name for e in system.q], "q", Kind.COORDINATE)
        self.v = symbols([e.name for e in system.v], "v", Kind.VELOCITY)
        self.p = symbols([e.name for e in system.p], "p", Kind.PARAMETER)
        self.u = symbols([e.name for e in system.u], "u", Kind.INPUT)
        self.lam = symbols([f"lambda_{name}" for name in system.multipliers], "lam", Kind.UNKNOWN)
        self.a = symbols([f"{e.name}_rate" for e in system.v], "a", Kind.ACCELERATION)

    def __call__(self, capability: str, **arguments: Row) -> Any:
        """The expressions of a capability, at the symbols or at other expressions."""
        function = self.system[capability]
        given: dict[str, Entries] = {
            "t": self.t,
            "q": self.q,
            "v": self.v,
            "u": self.u,
            "p": self.p,
            "lam": self.lam,
            "a": self.a,
        }
        given |= arguments
        return function.inline(*(given[array.name] for array in function.inputs))

    def needs(self, capability: str, argument: str) -> bool:
        """Whether a capability depends on the argument, not only takes it."""
        function = self.system[capability]
        given = {ref for array in function.inputs if array.name == argument for ref in array.refs}
        return not given.isdisjoint(function.schedule.live)

    # ---------------------------------------------------------------- matrices

    @cached_property
    def _mass_and_forces(self) -> tuple[Matrix, Row]:
        if "M_Q" in self.system:
            M, Q = self("M_Q")
            return M, list(Q)
        return self("M"), list(self("Q"))

    @property
    def M(self) -> Matrix:
        """The mass matrix."""
        return self._mass_and_forces[0]

    def Q(self, lam: Row | None = None) -> Row:
        """The forces; with multipliers, where they depend on them."""
        if lam is None:
            return self._mass_and_forces[1]
        return list(self("M_Q", lam=lam)[1] if "M_Q" in self.system else self("Q", lam=lam))

    @property
    def constrained(self) -> bool:
        """Whether there are constraints."""
        return bool(self.system.multipliers)

    @cached_property
    def Phi(self) -> Row:
        """The geometric constraints."""
        return list(self("Phi")) if self.system.geometric else []

    @cached_property
    def Phi_v(self) -> Matrix:
        """The Jacobian of all constraints by the velocities; no rows without constraints."""
        return [list(row) for row in self("Phi_v")] if self.constrained else []

    @cached_property
    def beta(self) -> Row:
        """The right-hand side at velocity level."""
        return list(self("beta")) if self.constrained else []

    @cached_property
    def gamma(self) -> Row:
        """The right-hand side at acceleration level."""
        return list(self("gamma")) if self.constrained else []

    @cached_property
    def dPhi(self) -> Row:
        """Φ_v v - β: the constraints at velocity level."""
        return list(self("dPhi")) if self.constrained else []

    def rates(self, v: Row | None = None, q: Row | None = None) -> Row:
        """Q' = N(q) v."""
        speeds, place = v or self.v, q or self.q
        return list(self("rates", v=speeds, q=place)) if "rates" in self.system else list(speeds)

    def moved(self, delta: Row, q: Row | None = None) -> Row:
        """Q ⊕ δ: the position after a displacement along the velocities."""
        place = q or self.q
        if "retract" in self.system:
            return list(self("retract", q=place, delta=delta))
        if "rates" in self.system:  # to first order, if nothing better is known
            delta = self.rates(delta, place)
        return [a + b for a, b in zip(place, delta, strict=True)]

    def normalised(self, q: Row | None = None) -> tuple[Row, Row]:
        """The position with unit norms restored, and by how much its entries change thereby."""
        place = q or self.q
        if "retract" not in self.system:
            return list(place), []
        unit = self.moved([self.zero] * len(self.v), place)
        change = [a - b for a, b in zip(unit, place, strict=True)]
        return unit, [e for e in change if e.ref]

    def watched(self, ends: Sequence[LimitEnd], q: Row, v: Row) -> Row:
        """The event functions of the system, and those of ends of ranges, in a state."""
        own = list(self("events", q=q, v=v)) if self.system.events else []
        known = dict(zip((entry.name for entry in self.system.q), q, strict=True))
        if any(end.coordinate not in known for end in ends):
            read, _ = self("joint_coordinates", q=q, v=v)
            entries = self.system.joint_coordinates
            known |= {entry.name: x for entry, x in zip(entries, read, strict=True)}
        return [*own, *beyond(ends, [known[end.coordinate] for end in ends])]

    # --------------------------------------------------------------- functions

    @property
    def zero(self) -> Atom:
        """The number 0."""
        return self.workspace.atom(0)

    def kernel(
        self, name: str, outputs: Mapping[str, Entries], state: Row | None = None, **more: Row
    ) -> Function:
        """A function of t, the state x (q and v, if not given) and p (parameters and inputs)."""
        inputs: dict[str, Entries] = {
            "t": [self.t],
            "x": [*self.q, *self.v] if state is None else state,
            "p": [*self.p, *self.u],
        }
        return Function(f"{identifier(self.system.name)}_{name}", inputs | more, outputs)


def identifier(name: str) -> str:
    """A name that every language accepts."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name) or "m"
    return plain if plain[0].isalpha() else f"m{plain}"


def largest(entries: Row, zero: Atom) -> Atom:
    """Max |e| of the entries; 0 if there are none."""
    sizes = [abs(e) for e in entries if e.ref]
    if not sizes:
        return zero
    return sizes[0] if len(sizes) == 1 else maximum(sizes[0], sizes[1], *sizes[2:])


def transposed_product(A: Matrix, x: Row, columns: int, zero: Atom) -> Row:
    """Aᵀ x."""
    total = [zero] * columns
    for row, factor in zip(A, x, strict=True):
        for j, entry in enumerate(row):
            if entry.ref and factor.ref:
                total[j] = total[j] + entry * factor
    return total


def product(A: Matrix, x: Row, zero: Atom) -> Row:
    """A x."""
    result = []
    for row in A:
        total = zero
        for entry, factor in zip(row, x, strict=True):
            if entry.ref and factor.ref:
                total = total + entry * factor
        result.append(total)
    return result


def along_displacements(unrolled: Unrolled, by_q: Matrix) -> Matrix:
    """Derivatives along displacements, from those by the coordinates: ∂/∂q N."""
    if "rates" not in unrolled.system:
        return by_q
    N = derivatives(unrolled.rates(), unrolled.v)
    columns = [[row[j] for row in N] for j in range(len(unrolled.v))]
    return [product(columns, row, unrolled.zero) for row in by_q]


def derivatives(rows: Row, by: Row) -> Matrix:
    """The Jacobian as lists."""
    return [list(row) for row in jacobian(list(rows), list(by)).rows]
