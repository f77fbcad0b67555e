"""What elements say while their kernel is derived, and the bodies they say it of."""

from __future__ import annotations

from dataclasses import dataclass, field

from biela.atoms import Atom
from biela.model.pair import Place
from biela.space import Point, Vector


@dataclass(frozen=True, eq=False)
class FreeBody:
    """A body of a kernel."""

    place: Place
    q: list[Atom]
    v: list[Atom]


@dataclass(frozen=True)
class Output:
    """What a sensor measures: its name after that of the sensor, its unit, the name of its rate."""

    name: str
    unit: str
    rate: str = ""


@dataclass(eq=False)
class Collected:
    """What elements have said."""

    pushes: list[tuple[Atom, Atom]] = field(default_factory=list)
    wrenches: list[tuple[int, Point, Vector, Vector]] = field(default_factory=list)
    energies: list[Atom] = field(default_factory=list)
    outputs: list[tuple[Output, Atom]] = field(default_factory=list)
    inputs: list[tuple[str, str, float, Atom]] = field(default_factory=list)
    events: list[tuple[str, Atom]] = field(default_factory=list)
