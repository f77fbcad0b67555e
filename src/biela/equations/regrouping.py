"""The same mechanism with fewer inertial parameters, and code that is shorter for it.

Every transfer δφ changes the inertial parameters without changing the motion, so that φ - s δφ does
as well as φ for any s.  Solid by solid, from the tips of the trees to the root, s is chosen such
that a parameter becomes zero: Gaussian elimination on the transfers, with expressions as entries.
What is left are the base parameters, each an expression of the original ones, and the operations
with those that became zero are gone from the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biela.atoms import Atom, Kind, evaluate, expanded_text
from biela.code import Function
from biela.equations.constraints import Constraint, ConstraintSet
from biela.equations.inertia_transfer import Transfer, Transfers
from biela.equations.joint_survey import Survey, Through
from biela.equations.pseudo_inertia import Ten
from biela.equations.regressor import PARAMETERS
from biela.equations.symbolic import SymbolicSystem
from biela.space import Solid, Vector, Wrench

__all__ = ["Regrouping", "Through", "regrouped"]

#: Of several parameters that could be made zero, the first of these is.
_PREFERRED = ("m", "mx", "my", "mz", "Iyy", "Ixx", "Izz", "Ixy", "Ixz", "Iyz")
_RANK = [_PREFERRED.index(name) for name in PARAMETERS]


@dataclass(frozen=True)
class Regrouping:
    """A system with base inertial parameters, equivalent to another.

    Through joints of the tree only, M and Q are those of ``source`` in every state.  Through loops,
    they are not, nor are the multipliers; the accelerations of states that satisfy the constraints
    are.  M is then positive on the motions that the constraints allow, but need not be elsewhere:
    solve the constrained equations as a whole.

    The definitions hold for all values of the parameters, but may divide by expressions that are
    zero for some other values than those given (the length of a bar, the cosine of a tilt).

    Attributes:
        source: The system as it was described.
        system: The regrouped one, on the same coordinates, trees, wrenches and constraints.
        definitions: Each new parameter of ``system``, as an expression of those of ``source``.
        eliminated: The inertial parameters that became zero, ``solid.name``.
        visible: How many base parameters there are, by the rank of the regressor.
    """

    source: SymbolicSystem
    system: SymbolicSystem
    definitions: dict[Atom, Atom]
    eliminated: tuple[str, ...]
    visible: int

    @property
    def count(self) -> int:
        """How many inertial parameters are left, if all ten of each solid are counted."""
        return len(PARAMETERS) * len(self.source.solids) - len(self.eliminated)

    def function(self) -> Function:
        """The parameters of ``system`` from those of ``source``, both as vectors ``p``."""
        new = [self.definitions.get(symbol, symbol) for symbol in self.system.parameter_symbols]
        return Function("regrouped", {"p": self.source.parameter_symbols}, {"regrouped": new})

    def text(self, limit: int = 2000) -> str:
        """Each new parameter as an expression."""
        return "\n".join(
            f"{symbol.name} = {expanded_text(expression, limit)}"
            for symbol, expression in self.definitions.items()
        )


def regrouped(system: SymbolicSystem, through: Through = Through.JOINTS) -> Regrouping:
    """A system with its inertial parameters regrouped.

    Raises:
        ModelError: If there are no solids, or flexible bodies.
        AssemblyError: If loops are to be used and hardly any random position closes them.
    """
    transfers = Transfers(Survey(system, through))
    elimination = _Elimination(transfers, [solid.inertial_parameters for solid in system.solids])
    for body in transfers.survey.outermost_first:
        assert body.solid is not None, "the ground is not among the solids"
        elimination.clear(body.solid)
    definitions: dict[Atom, Atom] = {}
    solids = [
        _with_parameters(system, solid, phi, definitions)
        for solid, phi in zip(system.solids, elimination.phi, strict=True)
    ]
    new = system.with_solids(solids, _parameter_values(system, solids, definitions))
    eliminated = tuple(f"{system.solids[i].name}.{PARAMETERS[c]}" for i, c in elimination.zeros)
    return Regrouping(system, new, definitions, eliminated, transfers.visible)


class _Elimination:
    """Gaussian elimination on the transfers; the parameters change with them."""

    def __init__(self, transfers: Transfers, phi: Sequence[Ten]) -> None:
        self.survey = transfers.survey
        self.pool = [self._clean(transfer) for transfer in transfers.independent()]
        self.phi = [list(ten) for ten in phi]
        self.zeros: list[tuple[int, int]] = []

    def clear(self, solid: int) -> None:
        """Make as many parameters of a solid zero as there are transfers from it."""
        while True:
            pivots = [
                (price, k, c)
                for k, transfer in enumerate(self.pool)
                for c, price in self._prices(transfer, solid)
            ]
            if not pivots:
                return
            _, k, c = min(pivots)
            chosen = self.pool.pop(k)
            by = chosen.changes[solid][c]
            unit = {i: [x / by if x.ref else x for x in ten] for i, ten in chosen.changes.items()}
            self._apply(unit, solid, c)
            self.pool = [
                self._less(transfer, unit, transfer.changes[solid][c])
                if solid in transfer.changes and transfer.changes[solid][c].ref
                else transfer
                for transfer in self.pool
            ]
            self.zeros.append((solid, c))

    def _prices(self, transfer: Transfer, solid: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """How good the parameters of a solid are as pivots of a transfer; the least is best.

        Numbers come before expressions, which might be zero for other values of the parameters, and
        of those the ones that are large among others of their kind (a cosine before a sine if the
        angle is small); then short transfers before long ones.
        """
        if solid not in transfer.changes:
            return
        entries = [x for ten in transfer.changes.values() for x in ten if x.ref]
        symbolic = any(x.value is None for x in entries)
        ten = transfer.changes[solid]
        sizes = np.abs(self.survey.values(ten)).min(axis=1)
        for c, x in enumerate(ten):
            if x.ref:
                kind = slice(0, 1) if c == 0 else slice(1, 4) if c < 4 else slice(4, None)
                smaller = (
                    round(-10 * float(sizes[c] / sizes[kind].max())) if x.value is None else -10
                )
                yield c, (x.value is None, smaller, symbolic, len(entries), _RANK[c])

    def _apply(self, unit: dict[int, Ten], solid: int, c: int) -> None:
        amount = self.phi[solid][c]
        if not amount.ref:
            return
        for i, ten in unit.items():
            changed = [
                p - amount * x if x.ref else p for p, x in zip(self.phi[i], ten, strict=True)
            ]
            self.phi[i] = changed
        self.phi[solid][c] = amount * 0

    def _less(self, transfer: Transfer, unit: dict[int, Ten], amount: Atom) -> Transfer:
        changes = dict(transfer.changes)
        for i, ten in unit.items():
            old = changes.get(i, [amount * 0] * len(ten))
            changes[i] = [p - amount * x if x.ref else p for p, x in zip(old, ten, strict=True)]
        return self._clean(Transfer(changes))

    def _clean(self, transfer: Transfer) -> Transfer:
        """Entries that are zero for all parameters written as zero, and solids left without any."""
        changes = {}
        for i, ten in transfer.changes.items():
            numbers = np.abs(self.survey.values(ten))
            kept = [x if n.max() > 1e-11 else x * 0 for x, n in zip(ten, numbers, strict=True)]
            if any(x.ref for x in kept):
                changes[i] = kept
        return Transfer(changes)


def _with_parameters(
    system: SymbolicSystem, solid: Solid, phi: Ten, definitions: dict[Atom, Atom]
) -> Solid:
    """The solid with new symbols for those of its parameters that are expressions."""
    m, mx, my, mz, *inertia = (
        _named(system, f"{solid.name}_{name}", expression, definitions)
        for name, expression in zip(PARAMETERS, phi, strict=True)
    )
    base = solid.base
    return replace(
        solid, mass=m, first_moment=base.vector(mx, my, mz), inertia=base.inertia(*inertia)
    )


def _parameter_values(
    system: SymbolicSystem, solids: Sequence[Solid], definitions: dict[Atom, Atom]
) -> dict[Atom, float]:
    """The old parameters, without those that only inertias needed, and the new ones."""
    table = system.workspace.table
    before = {x.ref for solid in system.solids for x in solid.inertial_parameters}
    elsewhere = {x.ref for solid in solids for x in solid.inertial_parameters}
    for name, value in vars(system).items():
        if name not in ("solids", "_parameters"):
            elsewhere |= _refs(value)
    for base in system.space.bases.values():
        if base.parent is not None:
            elsewhere |= _refs(base.rotation.matrix)
    for point in system.space.points.values():
        if point.parent is not None:
            elsewhere |= _refs(point.vector)
    gone = set(table.live(before)) - set(table.live(elsewhere))
    values = system.parameter_values
    numbers = evaluate(list(definitions.values()), values)
    kept = {symbol: value for symbol, value in values.items() if symbol.ref not in gone}
    return kept | dict(zip(definitions, map(float, numbers), strict=True))


def _refs(value: object) -> set[int]:
    """The expressions in nested containers, vectors, constraints and wrenches."""
    if isinstance(value, Atom):
        return {value.ref}
    if isinstance(value, Mapping):
        return _refs(list(value.keys())) | _refs(list(value.values()))
    if isinstance(value, list | tuple | set):
        return {ref for item in value for ref in _refs(item)}
    if isinstance(value, Vector):
        return _refs(value.parts)
    if isinstance(value, ConstraintSet):
        return _refs(value.written)
    if isinstance(value, Constraint):
        return _refs([value.equation, value.velocity])
    if isinstance(value, Wrench):
        return _refs([value.force, value.moment])
    return set()


def _named(
    system: SymbolicSystem, name: str, expression: Atom, definitions: dict[Atom, Atom]
) -> Atom:
    """A parameter for an expression; numbers and parameters stand for themselves."""
    if expression.value is not None or expression in system.parameter_values:
        return expression
    for symbol, known in definitions.items():
        if known.ref == expression.ref:
            return symbol
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    name = name if name[:1].isalpha() else f"m{name}"
    ws = system.workspace
    while name in ws and (
        ws[name].kind is not Kind.PARAMETER or ws[name] in system.parameter_values
    ):
        name += "_r"
    symbol = ws.parameter(name)
    definitions[symbol] = expression
    return symbol
