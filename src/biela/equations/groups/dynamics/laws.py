"""Where the laws of drivers stand among those of a model."""

from __future__ import annotations

from biela.equations.groups.casts import Casts
from biela.equations.groups.freedom_drivers import RotationDriver, SpinDriver
from biela.model.drivers.position import PositionDriver
from biela.model.element import Element

__all__ = ["law_places"]


def law_places(casts: Casts, driver: str) -> list[int]:
    """The places of the laws of a driver: one, or the four of a rotation.

    Raises:
        ModelError: It is in no group.
    """
    for cast in casts.casts:
        for element in cast.elements:
            laws = _laws(element.element)
            if laws and element.law_places is not None and driver in element.names:
                k = list(element.names).index(driver)
                return [int(element.law_places(n, laws[n])[k]) for n in range(len(laws))]
    return [casts.law_place(driver)]


def _laws(element: Element) -> tuple[str, ...]:
    """The dimensions of the laws of a driver that stands for a freedom."""
    if isinstance(element, RotationDriver):
        return ("any",) * 4
    if isinstance(element, SpinDriver):
        return ("angle",)
    return ("length",) if isinstance(element, PositionDriver) else ()
