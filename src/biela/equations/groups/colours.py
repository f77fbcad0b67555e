"""Colours of elements: what a joint, coupling or driver is, apart from names and numbers."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from biela.equations.groups.elements import Sort
from biela.equations.groups.units import Rows
from biela.model.drivers import Driver
from biela.model.element import Element

__all__ = ["colour", "element_colours", "symmetric"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Joints of which both sides are alike: with the markers exchanged they hold the same.
SYMMETRIC = frozenset(
    (
        "cylindrical",
        "distance",
        "fixed",
        "free",
        "helical",
        "parallel_axes",
        "planar",
        "prismatic",
        "revolute",
        "spherical",
    )
)
_SYMMETRIC_DRIVERS = frozenset(("distance",))


def symmetric(element: Element) -> bool:
    """Whether the two markers of an element may be exchanged."""
    kinds = _SYMMETRIC_DRIVERS if isinstance(element, Driver) else SYMMETRIC
    return element.kind in kinds


def colour(sort: Sort, rows: int) -> str:
    """What an element is, apart from names and numbers."""
    element = sort.element
    words = [element.category, element.kind, str(rows)]
    for name, described in element.settings().items():
        dimension, value = described.metadata["dimension"], getattr(element, name)
        if dimension in ("text", "flag") and name != "closes":
            words.append(f"{name}={value}")
        elif dimension == "law":
            words.append(f"{name}{'' if value is None else '='}")
        elif dimension == "data":
            words.append(hashlib.sha1(repr(value).encode()).hexdigest()[:8])
    words += [f"{ref.role}:{ref.joint.kind}.{ref.coordinate}" for ref in sort.references]
    return "|".join(words)


def element_colours(rows: Rows, independent: Flags) -> tuple[list[str], Integers]:
    """The colours there are, and the number of the colour of each element."""
    elements = rows.elements
    count = np.bincount(rows.element, minlength=len(elements))
    texts: dict[str, int] = {}
    number = np.zeros(len(elements), dtype=np.int64)
    for sort in elements.sorts:
        own = slice(sort.first, sort.first + len(sort))
        for flag in (False, True):
            for rest in np.unique(count[own]).tolist():
                text = colour(sort, rest) + ("|independent" if flag else "")
                mine = (count[own] == rest) & (independent[own] == flag)
                if mine.any():
                    number[own][mine] = texts.setdefault(text, len(texts))
    if elements.locked:
        number[elements.proper :] = texts.setdefault("lock", len(texts))
    return list(texts), number
