"""Inertia along the coordinate of a joint, as an element that is cast like a force."""

from __future__ import annotations

from dataclasses import dataclass

from biela.model.element import Element, quantity
from biela.model.quantities.values import Value

__all__ = ["Rotor"]


@dataclass(frozen=True, kw_only=True)
class Rotor(Element):
    """A rotor of a model, by its coordinate; its inertia is a row of numbers of the cast."""

    coordinate: str = quantity("coordinate", "coordinate along which it turns")
    inertia: Value = quantity("any", "its inertia", default=0.0)
