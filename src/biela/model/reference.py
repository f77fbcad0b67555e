"""What drivers and sensors count from: a marker, or the ground."""

from __future__ import annotations

from biela.model.derivation import Derivation
from biela.model.markers import Marker
from biela.model.pair import Pair, Place


def ground(derivation: Derivation) -> Place:
    """The origin and the axes of the ground."""
    return Place(derivation.space.origin, derivation.space.root)


def pair_from_ground(derivation: Derivation, i: Marker | None, j: Marker) -> Pair:
    """Two markers, of which the first is the ground if there is none."""
    if i is not None:
        return derivation.pair(i, j)
    return Pair(ground(derivation), derivation.place(j), derivation.number)
