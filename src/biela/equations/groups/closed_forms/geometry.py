"""What the geometry of a group gives: where bodies are, which sides, how far from dead points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.found import Found

__all__ = ["Geometry", "Sides"]


@dataclass(frozen=True, eq=False)
class Sides:
    """The two ways in which a group can be assembled.

    Attributes:
        words: What the positive and the negative one are called: "left", "right".
        meaning: A sentence with {side} for that word and {0}, {1} … for joints.
        joints: The names of these joints in all instances.
        measure: (n,) at a position: above zero on the positive side.
    """

    words: tuple[str, str]
    meaning: str
    joints: tuple[Sequence[str], ...]
    measure: Callable[[Poses], Floats]

    def signs(self, poses: Poses) -> Floats:
        """The side of every instance at a position: 1 or -1; at a dead point 1."""
        return np.where(self.measure(poses) < 0, -1.0, 1.0)

    def sentence(self, sign: float, instance: int = 0) -> str:
        """One of them in words."""
        names = [row[instance] for row in self.joints]
        return self.meaning.format(*names, side=self.words[0 if sign > 0 else 1])


@dataclass(frozen=True, eq=False)
class Geometry:
    """Where the bodies of a group are.

    Attributes:
        found: The bodies.
        margin: The square of the sine of an angle that vanishes at a dead point; below zero where
            the group cannot be assembled.  None if it has no dead points.
        sides: Its two branches; None if there is one.
    """

    found: Found
    margin: Atom | None
    sides: Sides | None
