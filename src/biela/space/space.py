"""The space of a symbolic model: its base tree, its point tree and the algebra in force."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from biela.atoms import Atom, Direction, Kind, Workspace
from biela.errors import DomainError
from biela.space.algebra import Algebra
from biela.space.bases import Base, Edge, Way
from biela.space.points import Frame, Point

if TYPE_CHECKING:
    from biela.space.vectors import Vector


class Space:
    """A base tree and a point tree on one workspace."""

    def __init__(self, workspace: Workspace, algebra: Algebra | None = None) -> None:
        self.workspace = workspace
        self._memories: dict[Algebra, dict[tuple[object, ...], Vector]] = {}
        self.algebra = algebra or Algebra()
        self.bases: dict[str, Base] = {}
        self.points: dict[str, Point] = {}
        #: Paths between bases that were asked for; bases never move in their tree.
        self.paths: dict[tuple[Base, Base], list[Edge]] = {}
        self.turns: dict[tuple[Base, Base, bool], Way] = {}
        self._directions: dict[bool, tuple[int, Direction]] = {}
        self._rated: set[int] = set()  # atoms looked at and found to have a time derivative
        #: The inertial base.
        self.root = Base(self, "xyz", None, None)
        #: The root of the points, fixed in the inertial base.
        self.origin = Point(self, "O", None, None)

    @property
    def name(self) -> str:
        """The name of the workspace."""
        return self.workspace.name

    @property
    def inertial(self) -> Frame:
        """The inertial frame."""
        return Frame(self.origin, self.root)

    @property
    def algebra(self) -> Algebra:
        """The algebra in force."""
        return self._algebra

    @algebra.setter
    def algebra(self, algebra: Algebra) -> None:
        self._algebra = algebra
        #: Velocities already found by this algebra; bases and points never move in their trees.
        self.memory = self._memories.setdefault(algebra, {})

    @contextmanager
    def using(self, algebra: Algebra) -> Iterator[Algebra]:
        """Work by another algebra for a while."""
        before, self.algebra = self.algebra, algebra
        try:
            yield algebra
        finally:
            self.algebra = before

    # rates of change

    def time_rate(self, expression: Atom) -> Atom:
        """The total time derivative of an expression.

        Raises:
            DomainError: If it depends on something whose rate nobody has given: an input, a
                multiplier.
        """
        self._check_rates(expression)
        return self._direction(accelerating=True)(expression)

    def bias_rate(self, expression: Atom) -> Atom:
        """The time derivative of an expression with all accelerations zero."""
        self._check_rates(expression)
        return self._direction(accelerating=False)(expression)

    def _check_rates(self, expression: Atom) -> None:
        """Refuse what has no time derivative; each atom is looked at once."""
        table = expression.table
        stack = [abs(expression.ref)]
        while stack:
            atom = stack.pop()
            if atom in self._rated:
                continue
            symbol = table.symbols.get(atom)
            if symbol is not None and symbol.kind in (Kind.INPUT, Kind.UNKNOWN):
                raise DomainError(
                    f"{expression!r} depends on {symbol.name}, an {symbol.kind.name.lower()} "
                    f"without a rate, and cannot be differentiated by time: use a coordinate or a "
                    f"function of time"
                )
            self._rated.add(atom)
            stack.extend(abs(ref) for ref in table.operands(atom))

    def _direction(self, accelerating: bool) -> Direction:
        """The direction of time, made anew when symbols have been declared since."""
        symbols = self.workspace.table.symbols
        known = self._directions.get(accelerating)
        if known is None or known[0] != len(symbols):
            rates: dict[Atom, Atom | float] = {}
            for ref, symbol in symbols.items():
                if symbol.kind is Kind.TIME:
                    rates[Atom(self.workspace.table, ref)] = 1
                elif symbol.rate and (accelerating or symbol.kind is Kind.COORDINATE):
                    table = self.workspace.table
                    rates[Atom(table, ref)] = Atom(table, symbol.rate)
            known = len(symbols), Direction(self.workspace, rates)
            self._directions[accelerating] = known
        return known[1]

    # names

    def register_base(self, base: Base) -> int:
        """Note a new base; its number in the order of creation."""
        if base.name in self.bases:
            raise DomainError(f"{self.name} already has a base {base.name}: choose another name")
        self.bases[base.name] = base
        return len(self.bases) - 1

    def register_point(self, point: Point) -> int:
        """Note a new point; its number in the order of creation."""
        if point.name in self.points:
            raise DomainError(f"{self.name} already has a point {point.name}: choose another name")
        self.points[point.name] = point
        return len(self.points) - 1
