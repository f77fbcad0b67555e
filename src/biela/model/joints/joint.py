"""The contract of joints: one small class a kind, from which every formulation derives the rest.

A joint stands between marker i of the body before and marker j of the body after.  It declares

* its **coordinates**: names, units, and how each is read from the markers when the joint closes a
  loop (`readings`); a coordinate of the manifold "rotation" is a unit quaternion;
* its **moves**: the pose of j seen from i for given coordinates, where it carries a body in a tree;
* its **conditions**: the freedoms it removes, as primitives, where it closes a loop or bodies have
  absolute coordinates;
* what its markers **share**: a point, an axis.

A class with a ``kind`` is known everywhere from then on: in files, formulations, analyses.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from biela.atoms import Atom
from biela.errors import ModelError, ParseError
from biela.model.element import Element, Evaluate, quantity
from biela.model.joints.moves import Move
from biela.model.joints.primitives import Primitive, Row
from biela.model.joints.readings import Reading
from biela.model.markers import Marker
from biela.model.pair import Pair
from biela.model.quantities.conjugate import dimension_along
from biela.model.quantities.values import Number, Value, one

#: What joints have by coordinate.
BY_COORDINATE: Final = ("start", "rates", "limits", "velocity_limits", "effort_limits")


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of a joint.

    ``manifold`` is "line" for a number, or "rotation" for a unit quaternion with an angular
    velocity of three components, which needs no reading.
    """

    name: str
    unit: str
    reading: Reading | None = None
    manifold: str = "line"

    @property
    def freedoms(self) -> int:
        """How many velocities it has."""
        return 3 if self.manifold == "rotation" else 1


@dataclass(frozen=True, kw_only=True)
class Connection(Element):
    """What joints and couplings have in common: they remove freedoms."""

    category: ClassVar[str] = "joint"

    @property
    @abstractmethod
    def removes(self) -> int:
        """How many freedoms it removes."""


@dataclass(frozen=True, kw_only=True)
class Joint(Connection):
    """A joint between two markers.

    Attributes:
        i: Marker on the body before.
        j: Marker on the body after.
        start: Values of the coordinates where a motion starts, as far as they are known.
        rates: Their rates then.
        limits: Lowest and highest value of each coordinate that has limits, by name.
        velocity_limits: The largest rates, either way, of coordinates that have such a limit.
        effort_limits: The largest forces or torques along them, either way, likewise.
        closes: Whether it closes a loop in any case, so that other joints carry the bodies.
    """

    i: Marker = quantity("marker", "marker on the body before")
    j: Marker = quantity("marker", "marker on the body after")
    start: Mapping[str, Value] = field(default_factory=dict)
    rates: Mapping[str, Value] = field(default_factory=dict)
    limits: Mapping[str, tuple[Value, Value]] = field(default_factory=dict)
    velocity_limits: Mapping[str, Value] = field(default_factory=dict)
    effort_limits: Mapping[str, Value] = field(default_factory=dict)
    closes: bool = quantity(
        "flag", "it closes a loop in any case, and other joints carry the bodies", default=False
    )

    coordinates: ClassVar[tuple[Coordinate, ...]] = ()
    #: What the markers have in common: "point", "axis" (z).
    shares: ClassVar[frozenset[str]] = frozenset()
    #: Whether it can carry a body in a tree.
    carries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        known = [c.name for c in self.coordinates]
        for what in BY_COORDINATE:
            for name in getattr(self, what):
                if name not in known:
                    raise ModelError(
                        f"joint {self.name} ({self.kind}) has no coordinate {name!r} for "
                        f"{what.replace('_', ' ')}; "
                        f"it has {', '.join(known) or 'none'}"
                    )
        for name, pair in self.limits.items():
            self._check_limits(name, pair)
        if self.i.body == self.j.body:
            raise ModelError(
                f"joint {self.name} joins body {self.i.body} with itself; its markers must be on "
                f"two bodies"
            )

    def _check_limits(self, name: str, pair: object) -> None:
        who = f"joint {self.name} ({self.kind}): the limits of {name}"
        ends = [] if isinstance(pair, str) or not isinstance(pair, Iterable) else list(pair)
        if len(ends) != 2:
            raise ModelError(f"{who} are the lowest and the highest value, not {pair!r}")
        numbers = [end for end in (one(who, end) for end in ends) if not isinstance(end, str)]
        if len(numbers) == 2 and not numbers[0] < numbers[1]:
            raise ModelError(f"{who} must be the lower one first, not {ends[0]!r} and {ends[1]!r}")

    def check(self, number: Evaluate) -> None:
        """Refuse a start of another dimension, limits in the wrong order, and sizes below zero."""
        super().check(number)
        for what, per in (("start", ""), ("rates", "rate")):
            for name, value in getattr(self, what).items():
                unit = next((c.unit for c in self.coordinates if c.name == name), "")
                try:
                    if isinstance(value, str):
                        number(value, dimension_along(unit, per=per))
                except ParseError:
                    pass  # a parameter that may be declared later
                except ModelError as error:
                    raise ModelError(
                        f"joint {self.name} ({self.kind}): {what} of {name}: {error}"
                    ) from None
        for name, (low, high) in self.limits.items():
            unit = next(c.unit for c in self.coordinates if c.name == name)
            dimension = dimension_along(unit)
            if not number(low, dimension) < number(high, dimension):
                raise ModelError(
                    f"joint {self.name} ({self.kind}): the limits of {name} must be the lower one "
                    f"first, not {low!r} and {high!r}"
                )
        for what, dimensions in (
            ("velocity_limits", {"rad": "angular velocity", "m": "velocity"}),
            ("effort_limits", {"rad": "torque", "m": "force"}),
        ):
            for name, value in getattr(self, what).items():
                unit = next(c.unit for c in self.coordinates if c.name == name)
                if not number(value, dimensions.get(unit, "any")) > 0:
                    raise ModelError(
                        f"joint {self.name} ({self.kind}): the {what[:-1].replace('_', ' ')} of "
                        f"{name} must be above zero, not {value!r}; leave it out if there is none"
                    )

    @abstractmethod
    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """The way from i to j for the coordinates q (any number stands for a rotation)."""

    @abstractmethod
    def conditions(self) -> Sequence[Primitive]:
        """The freedoms it removes."""

    @property
    def removes(self) -> int:
        """How many freedoms it removes."""
        free = [c for c in self.coordinates if c.name in self.needs and c.reading is None]
        return sum(p.count for p in self.conditions()) + len(self.laws) - len(free)

    @property
    def freedoms(self) -> int:
        """How many freedoms it leaves."""
        return 6 - self.removes

    #: Its coordinates that its own laws contain, over any number of turns.
    needs: ClassVar[tuple[str, ...]] = ()
    #: Labels of the further equations that hold where it closes a loop.
    laws: ClassVar[tuple[str, ...]] = ()

    def law_rows(self, q: Mapping[str, Atom], pair: Pair) -> Sequence[Row]:
        """Rows of the coordinates in `needs` and of the markers, one for each of `laws`.

        `Reading.held` makes them with the wrench that belongs to them.
        """
        del q, pair
        return ()


@dataclass(frozen=True, kw_only=True)
class Coupling(Connection):
    """A relation between coordinates of joints, such as a pair of gears.

    ``couples`` names the coordinates as "joint.coordinate"; a joint with one coordinate may go by
    its name alone.
    """

    @property
    @abstractmethod
    def couples(self) -> tuple[str, ...]:
        """The coordinates it is written in."""

    @abstractmethod
    def law(self, q: Sequence[Atom], number: Number) -> Atom:
        """The expression of the coordinates, in the order of `couples`, that is held at zero."""

    @property
    def removes(self) -> int:
        """One."""
        return 1
