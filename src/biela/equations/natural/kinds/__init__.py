"""The library of constraints between natural and relative coordinates, one class a kind."""

from biela.equations.natural.kinds.angles import FORMS, Angle, Bearing
from biela.equations.natural.kinds.drivers import Driver, Law, NamedLaw, named_law
from biela.equations.natural.kinds.kind import Instance, Kind, Parts
from biela.equations.natural.kinds.linear import Coincidence, Combination, TurnedCombination
from biela.equations.natural.kinds.lines import Apart, Collinear, Slider
from biela.equations.natural.kinds.products import Dot, Length, Unit

__all__ = [
    "FORMS",
    "Angle",
    "Apart",
    "Bearing",
    "Coincidence",
    "Collinear",
    "Combination",
    "Dot",
    "Driver",
    "Instance",
    "Kind",
    "Law",
    "Length",
    "NamedLaw",
    "Parts",
    "Slider",
    "TurnedCombination",
    "Unit",
    "named_law",
]
