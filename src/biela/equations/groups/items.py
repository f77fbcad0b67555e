"""What groups know of each other: points, directions and coordinates of bodies already solved.

An item is a few numbers with their two rates.  A group reads those its equations depend on; the
group that moves the body writes them.

    point        the place of a point of a body in the ground
    axis         a direction fixed in a body, in the ground
    turn         cosine and sine of the angle of a body of a planar model
    coordinate   the coordinate of a joint, over any number of turns
    law          a law of time
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from biela.equations.blocks.populations import Floats, Integers

__all__ = ["Item", "ItemKind", "components"]

ItemKind: TypeAlias = Literal["point", "axis", "turn", "coordinate", "law"]


@dataclass(frozen=True, eq=False)
class Item:
    """An item that all instances of a kind read, or write.

    Attributes:
        kind: What it is.
        body: (n,) the body it belongs to; of a law its place among the laws of the model.
        local: (n, 3) the point or direction in the frame of the body; nothing for others.
        names: "joint.coordinate" in every instance, for a coordinate.
    """

    kind: ItemKind
    body: Integers
    local: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    names: Sequence[str] = ()


def components(kind: ItemKind, plane: str | None) -> int:
    """How many numbers an item has."""
    if kind in ("coordinate", "law"):
        return 1
    return 2 if plane is not None or kind == "turn" else 3
