"""The fixed joint: a weld."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Joint
from biela.model.joints.moves import Move
from biela.model.joints.primitives import Coincide, Parallel, Perpendicular, Primitive
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class Fixed(Joint):
    """A weld: both markers are one frame."""

    kind: ClassVar[str] = "fixed"
    shares: ClassVar[frozenset[str]] = frozenset({"point", "axis"})

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """None."""
        del q, number
        return []

    def conditions(self) -> Sequence[Primitive]:
        """One point, the same axes: 6 rows."""
        return [Coincide(), Parallel(), Perpendicular("x", "y", alike=("x", "x"))]
