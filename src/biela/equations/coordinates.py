"""The coordinates and velocities that a symbolic system is written in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from biela.atoms import Atom, Kind, Workspace
from biela.equations.orientation import Orientation, declared
from biela.errors import ModelError
from biela.given_files import text_of
from biela.space import Base, Point, Space


class Coordinates:
    """Coordinates with velocities of their own, orientations, their limits and their start."""

    def __init__(self, name: str) -> None:
        self.name = text_of(name, ModelError, "the name of a system")
        identifier = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        self.workspace = Workspace(identifier if identifier[:1].isalpha() else f"m{identifier}")
        self.space = Space(self.workspace)
        self._coordinates: list[Atom] = []
        self._velocities: list[Atom] = []
        #: What `orientation` declared, by name.
        self.orientations: dict[str, Orientation] = {}
        self._inertialess: set[Atom] = set()
        self._limits: dict[Atom, tuple[float, float]] = {}
        self._start: dict[Atom, float] = {}

    @property
    def base(self) -> Base:
        """The inertial base."""
        return self.space.root

    @property
    def origin(self) -> Point:
        """The root of the points."""
        return self.space.origin

    @property
    def time(self) -> Atom:
        """The time."""
        return self.workspace.time

    @property
    def q(self) -> list[Atom]:
        """The coordinates in the order of their declaration."""
        return list(self._coordinates)

    @property
    def v(self) -> list[Atom]:
        """The velocities in the order of their declaration.

        Those of the coordinates, and for each orientation its angular velocity.
        """
        return list(self._velocities)

    def coordinates(self, names: str | Sequence[str], inertia: bool = True) -> tuple[Atom, ...]:
        """Declare coordinates; ``inertia=False`` for those that move no mass.

        Such coordinates (surface parameters of a contact, auxiliary ones) have zero rows and
        columns in M, which are not computed.
        """
        new = self.workspace.coordinates(names)
        for q in new:
            if q in self._coordinates:
                raise ModelError(f"{self.name}: coordinate {q.name} is declared twice")
            self._coordinates.append(q)
            self._velocities.append(q.velocity)
            if not inertia:
                self._inertialess.add(q)
        return new

    def orientation(self, name: str, parent: Base | None = None) -> Base:
        """A base free to turn in any way, without a singular position.

        Declares the Euler parameters ``{name}_e0`` to ``{name}_e3`` as coordinates, which start as
        1, 0, 0, 0, and the angular velocity against the parent (the inertial base if not given),
        by its components ``{name}_wx``, ``{name}_wy``, ``{name}_wz`` in the new base (rad/s), as
        velocities.  The unit norm needs no constraint: q' = N(q) v keeps it, and what moves the
        system restores it.  The symbols are kept in ``orientations[name]``.

        >>> from biela.equations import SymbolicSystem
        >>> s = SymbolicSystem("top")
        >>> body = s.orientation("body")
        >>> s.q, s.v
        ([body_e0, body_e1, body_e2, body_e3], [body_wx, body_wy, body_wz])
        >>> s.orientations["body"].angular_velocity[2]
        body_wz

        Raises:
            ModelError: If one of the names is taken, or the parent is not of this system.
            DomainError: If it is not a name.
        """
        turned_from = self.base if parent is None else parent
        if turned_from.space is not self.space:
            raise ModelError(
                f"{self.name}: base {turned_from.name} belongs to another system, "
                f"{turned_from.space.name}"
            )
        endings = ("e0", "e1", "e2", "e3", "wx", "wy", "wz")
        for ending in endings:
            if f"{name}_{ending}" in self.workspace:
                raise ModelError(
                    f"{self.name}: {name}_{ending} is declared already; choose another name for "
                    f"the orientation {name}"
                )
        if name in self.space.bases:
            raise ModelError(f"{self.name} already has a base {name}: choose another name")
        e0, e1, e2, e3 = self.workspace.symbols(
            [f"{name}_{ending}" for ending in endings[:4]], Kind.COORDINATE
        )
        made = declared(self.workspace, name, (e0, e1, e2, e3), turned_from)
        self._coordinates += made.parameters
        self._velocities += made.angular_velocity
        self.orientations[name] = made
        return made.base

    def limits(self, coordinate: Atom, lower: float = -math.inf, upper: float = math.inf) -> None:
        """Say between which values a coordinate may be (SI units).

        Raises:
            ModelError: If it is not a coordinate of this system, or the limits are none.
        """
        if coordinate not in self._coordinates:
            raise ModelError(f"{self.name}: {coordinate!r} is not one of its coordinates")
        if any(coordinate in made.parameters for made in self.orientations.values()):
            raise ModelError(
                f"{self.name}: {coordinate.name} is one of four Euler parameters, which have no "
                f"limits of their own"
            )
        try:
            low, high = float(lower), float(upper)
        except (TypeError, ValueError):
            low = high = math.nan
        if not low < high:
            raise ModelError(
                f"{self.name}: the limits of {coordinate.name} must be two numbers, the lower one "
                f"first, not {lower!r} and {upper!r}"
            )
        self._limits[coordinate] = low, high

    def check_plain(self, who: str) -> None:
        """Refuse orientations where only coordinates with velocities of their own are treated.

        Raises:
            ModelError: If there is one.
        """
        if self.orientations:
            raise ModelError(
                f"{self.name}: {who} is for coordinates whose rates are the velocities, q' = v, "
                f"and orientation {next(iter(self.orientations))} has Euler parameters; turn the "
                f"base by angles instead: base.euler(…)"
            )

    def start(self, values: Mapping[Atom | str, float] | None = None, /, **named: float) -> None:
        """Set where a motion starts: values of coordinates and velocities, by symbol or name.

        They are a first guess where constraints leave no choice; what is not given is 0.
        """
        symbols = {symbol.name: symbol for symbol in (*self.q, *self.v)}
        given = {str(getattr(k, "name", k)): x for k, x in (values or {}).items()}
        for name, value in (given | named).items():
            if name not in symbols:
                known = ", ".join(symbols)
                raise ModelError(f"{self.name}: {name} is no coordinate or velocity of {known}")
            self._start[symbols[name]] = self._number(f"{name} at the start", value)

    def _number(self, what: str, value: float) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{self.name}: the value of {what} must be a number, not {value!r}"
            ) from None
        if not math.isfinite(number):
            raise ModelError(f"{self.name}: the value of {what} must be finite, not {number}")
        return number
