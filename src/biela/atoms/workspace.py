"""The workspace: where the symbols of a derivation are declared and its atoms are kept."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.external import ExternalFunction
from biela.atoms.piecewise import End, Outside, PiecewisePolynomial, cubic_spline
from biela.atoms.piecewise import table as linear_table
from biela.atoms.symbols import Kind
from biela.atoms.table import Table
from biela.budgets import SYMBOLS, within
from biela.doors import door
from biela.errors import DomainError, WorkspaceError
from biela.given_files import text_of

#: Counts with more digits are not read.
_DIGITS = 300


@dataclass(frozen=True)
class Curve:
    """A spline or table of a workspace; calling it on an expression makes an atom."""

    workspace: Workspace
    index: int

    @property
    def polynomial(self) -> PiecewisePolynomial:
        """The data of the curve."""
        return self.workspace.table.piecewise[self.index]

    def __repr__(self) -> str:
        curve = self.polynomial
        first, last = curve.breaks[0], curve.breaks[-1]
        return f"Curve {curve.name}: {len(curve.breaks)} points from {first} to {last}"

    def __call__(self, x: Atom | float) -> Atom:
        """The curve at ``x``."""
        table = self.workspace.table
        return Atom(table, table.apply_piecewise(self.workspace.atom(x).ref, self.index))


@dataclass(frozen=True)
class External:
    """An external function of a workspace; calling it on expressions makes an atom."""

    workspace: Workspace
    index: int

    @property
    def function(self) -> ExternalFunction:
        """The function behind the name."""
        return self.workspace.table.externals[self.index]

    def __call__(self, *arguments: Atom | float) -> Atom:
        """The function of the arguments."""
        ws = self.workspace
        refs = [ws.atom(argument).ref for argument in arguments]
        return Atom(ws.table, ws.table.apply_external(self.index, refs))


@dataclass(frozen=True)
class Statistics:
    """How a workspace is filled."""

    atoms: int
    symbols: int
    constants: int
    operations: dict[str, int]

    def __str__(self) -> str:
        parts = ", ".join(f"{count} {name}" for name, count in self.operations.items())
        return (
            f"{self.atoms} atoms: {self.symbols} symbols, {self.constants} constants"
            f"{', ' if parts else ''}{parts}"
        )


class Workspace:
    """The table of atoms of one derivation, and the symbols it is written in.

    >>> ws = Workspace("pendulum")
    >>> theta = ws.coordinate("theta")
    >>> m, l, g = ws.parameters("m l g")
    >>> theta.velocity
    dtheta
    >>> m * g * l == l * m * g
    False
    >>> (m * g) == (g * m)
    True
    """

    def __init__(self, name: str = "workspace") -> None:
        self.table = Table(text_of(name, DomainError, "the name of a workspace"))
        self.table.workspace = self

    @property
    def name(self) -> str:
        """The name, used in messages and in the headers of exported code."""
        return self.table.name

    # Symbols.

    @door(DomainError, "Workspace.symbol")
    def symbol(self, name: str, kind: Kind = Kind.FREE) -> Atom:
        """A symbol of any kind."""
        return Atom(self.table, self.table.add_symbol(name, kind))

    @door(DomainError, "Workspace.symbols")
    def symbols(self, names: str | Sequence[str], kind: Kind = Kind.FREE) -> tuple[Atom, ...]:
        """Several symbols: a list of names, or one text with names and ranges (``"x:3 y"``)."""
        return tuple(self.symbol(name, kind) for name in _names(names))

    def parameter(self, name: str) -> Atom:
        """A quantity that stays the same for a whole run."""
        return self.symbol(name, Kind.PARAMETER)

    def parameters(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Several parameters."""
        return self.symbols(names, Kind.PARAMETER)

    def input(self, name: str) -> Atom:
        """A quantity given from outside at every instant: a motor torque, a command."""
        return self.symbol(name, Kind.INPUT)

    def inputs(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Several inputs."""
        return self.symbols(names, Kind.INPUT)

    def unknowns(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Joint unknowns or Lagrange multipliers."""
        return self.symbols(names, Kind.UNKNOWN)

    def coordinate(
        self, name: str, velocity: str | None = None, acceleration: str | None = None
    ) -> Atom:
        """A generalised coordinate, with its velocity and acceleration symbols.

        They are called ``d{name}`` and ``dd{name}`` unless named here.
        """
        q = self.symbol(name, Kind.COORDINATE)
        v = self.symbol(velocity or f"d{name}", Kind.VELOCITY)
        a = self.symbol(acceleration or f"dd{name}", Kind.ACCELERATION)
        self._set_rate(q, v)
        self._set_rate(v, a)
        return q

    @door(DomainError, "Workspace.speeds")
    def speeds(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Velocities that are the rate of no coordinate, such as components of an angular velocity.

        Their accelerations are called ``d{name}``.
        """
        found = self.symbols(names, Kind.VELOCITY)
        for v in found:
            self._set_rate(v, self.symbol(f"d{v.name}", Kind.ACCELERATION))
        return found

    @door(DomainError, "Workspace.give_rate")
    def give_rate(self, coordinate: Atom, rate: Atom) -> None:
        """Say how a coordinate changes, by an expression of coordinates and speeds: q' = N(q) v.

        The coordinate is a symbol of that kind without a velocity of its own.

        Raises:
            WorkspaceError: It is no coordinate, or has another rate already.
        """
        record = self.table.symbols.get(coordinate.ref)
        if record is None or record.kind is not Kind.COORDINATE:
            raise WorkspaceError(f"{coordinate!r} is no coordinate: it cannot be given a rate")
        if record.rate not in (0, self.atom(rate).ref):
            known = self.table.text(record.rate)
            raise WorkspaceError(f"{record.name} has a rate already: {known}")
        record.rate = rate.ref

    def _set_rate(self, of: Atom, rate: Atom) -> None:
        of_record, rate_record = self.table.symbols[of.ref], self.table.symbols[rate.ref]
        if of_record.rate not in (0, rate.ref):
            known = self.table.text(of_record.rate)
            raise WorkspaceError(f"{rate.name} cannot be the rate of {of.name}: {known} is already")
        if rate_record.rate_of not in (0, of.ref):
            known = self.table.symbols[rate_record.rate_of].name
            raise WorkspaceError(
                f"{rate.name} cannot be the rate of {of.name}: it is already that of {known}"
            )
        of_record.rate, rate_record.rate_of = rate.ref, of.ref

    @door(DomainError, "Workspace.coordinates")
    def coordinates(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Several coordinates, each with its velocity and acceleration."""
        return tuple(self.coordinate(name) for name in _names(names))

    @property
    def time(self) -> Atom:
        """The time, called ``t``."""
        return self.symbol("t", Kind.TIME)

    @door(DomainError, "Workspace.__getitem__")
    def __getitem__(self, name: str) -> Atom:
        """The symbol of that name."""
        ref = self.table.find_symbol(name)
        if ref is None:
            from biela.spelling import alike

            near = alike(name, [symbol.name for symbol in self.table.symbols.values()], 3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise WorkspaceError(f"workspace {self.name} has no symbol {name!r}{hint}")
        return Atom(self.table, ref)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.table.find_symbol(name) is not None

    def __iter__(self) -> Iterator[Atom]:
        """The symbols, in the order of their declaration."""
        return iter([Atom(self.table, ref) for ref in self.table.symbols])

    # Other leaves and functions given by data.

    def atom(self, value: Atom | float | int) -> Atom:
        """A number as an expression; an expression of this workspace as it is."""
        if isinstance(value, Atom):
            if value.table is not self.table:
                raise WorkspaceError(
                    f"{value!r} belongs to workspace {value.table.name}, not to {self.name}"
                )
            return value
        return Atom(self.table, self.table.constant(value))

    def parse(self, text: str, declare: Kind | None = None) -> Atom:
        """The expression written in ``text``; see `biela.atoms.parse`."""
        from biela.atoms.parse import parse

        return parse(self, text, declare)

    def spline(
        self,
        name: str,
        x: Sequence[float],
        y: Sequence[float],
        *,
        end: End = "not-a-knot",
        slopes: tuple[float, float] = (0.0, 0.0),
        outside: Outside = "linear",
    ) -> Curve:
        """A cubic spline through points; see `biela.atoms.piecewise.cubic_spline`."""
        curve = cubic_spline(name, x, y, end=end, slopes=slopes, outside=outside)
        return Curve(self, self.table.add_piecewise(curve))

    def lookup(
        self, name: str, x: Sequence[float], y: Sequence[float], *, outside: Outside = "constant"
    ) -> Curve:
        """Straight lines through points; see `biela.atoms.piecewise.table`."""
        return Curve(self, self.table.add_piecewise(linear_table(name, x, y, outside=outside)))

    @door(DomainError, "Workspace.external")
    def external(
        self,
        name: str,
        arity: int = 1,
        evaluate: Callable[..., float] | Any | None = None,
        partials: Sequence[Callable[..., float] | Any] = (),
    ) -> External:
        """A function that lives outside, known by its name.

        ``evaluate`` and ``partials`` (the derivative by each argument) are what is called in
        process: Python callables, or objects with an ``address``.
        """
        if partials and len(partials) != arity:
            raise DomainError(f"{name} has {arity} arguments but {len(partials)} partials")
        index = self.table.add_external(ExternalFunction(name, arity))
        if evaluate is not None:
            self.table.externals[index].bind(evaluate)
        for k, partial in enumerate(partials):
            self.table.externals[self.table.external_partial(index, k)].bind(partial)
        return External(self, index)

    def bind(self, name: str, evaluate: Callable[..., float] | Any) -> None:
        """Give an external function its implementation in process."""
        for function in self.table.externals:
            if function.name == name:
                function.bind(evaluate)
                return
        raise WorkspaceError(f"workspace {self.name} has no external function {name!r}")

    # Size, copies.

    def __len__(self) -> int:
        """How many atoms there are, leaves included."""
        return len(self.table)

    def statistics(self) -> Statistics:
        """How many atoms of each operation there are."""
        counts = [0] * op.OPERATIONS
        for code in self.table.ops:
            counts[code] += 1
        return Statistics(
            atoms=len(self),
            symbols=counts[op.SYMBOL],
            constants=counts[op.CONSTANT],
            operations={op.NAMES[c]: n for c, n in enumerate(counts) if n and c > op.SYMBOL},
        )

    def __repr__(self) -> str:
        return f"Workspace({self.name!r}: {len(self)} atoms, {len(self.table.symbols)} symbols)"

    def __getstate__(self) -> dict[str, Any]:
        """The table without its indices; implementations of external functions stay behind."""
        table = self.table
        return {
            "name": table.name,
            "ops": bytes(table.ops),
            "left": array("q", table.left).tobytes(),
            "right": array("q", table.right).tobytes(),
            "operand_lists": table.operand_lists,
            "values": table.values,
            "symbols": table.symbols,
            "piecewise": table.piecewise,
            "externals": [
                (f.name, f.arity, {k: p.name for k, p in f.partials.items()})
                for f in table.externals
            ],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["name"])  # type: ignore[misc]
        table = self.table
        left, right = array("q"), array("q")
        left.frombytes(state["left"])
        right.frombytes(state["right"])
        table.restore(
            ops=bytearray(state["ops"]),
            left=left.tolist(),
            right=right.tolist(),
            operand_lists=state["operand_lists"],
            values=state["values"],
            symbols=state["symbols"],
            piecewise=state["piecewise"],
            externals=state["externals"],
        )


def _names(names: str | Sequence[str]) -> list[str]:
    """``"x y"`` is x, y; ``"q:3"`` is q1, q2, q3."""
    if not isinstance(names, str):
        return list(names)
    result: list[str] = []
    for word in names.replace(",", " ").split():
        stem, colon, count = word.partition(":")
        if colon and not (count.isascii() and count.isdigit()):
            raise DomainError(f"{word!r}: write a range of names as name:count, for example q:6")
        if not colon:
            result.append(word)
            continue
        digits = count.lstrip("0") or "0"  # thousands of them are not even read
        number = int(digits) if len(digits) < _DIGITS else math.inf
        within(
            SYMBOLS,
            len(result) + number,
            f"{stem}:{count[:_DIGITS]} would declare {{}} symbols",
            "declare fewer",
            DomainError,
        )
        result += [f"{stem}{i + 1}" for i in range(int(digits))]
    return result
