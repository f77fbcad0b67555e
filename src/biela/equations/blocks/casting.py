"""Elements in a canonical form, so that those which differ by numbers only share a kernel.

The names, markers, numbers and laws of an element are replaced: its markers by "b0.m0" … with the
bodies in the order in which they are met, its numbers by "#0", "#1" …, its laws by `Prescribed`,
the joints whose coordinates it names by "j0", "j1" ….  What was replaced becomes arrays with a row
an instance.  Two elements with the same canonical form have the same equations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from biela.atoms import Atom, Workspace
from biela.equations.blocks.populations import NO_BODY, Floats, Frames, Integers, Population
from biela.errors import ModelError
from biela.model.element import Element
from biela.model.joints import Joint
from biela.model.laws.law import Law


@dataclass(frozen=True)
class Prescribed(Law):
    """A law that is known as a number at every instant, with its rates."""

    number: int

    def expression(
        self,
        workspace: Workspace,
        parameters: Mapping[str, Atom | float] | None = None,
        dimension: str = "any",
        time: Atom | None = None,
    ) -> Atom:
        """Refuse: only the derivation of a kernel knows it, by its number.

        Raises:
            ModelError: Always.
        """
        raise ModelError(f"{self.to_data()} is a number at every instant, not a formula of time")

    @property
    def parameters(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def to_data(self) -> str:
        """For messages."""
        return f"law {self.number}"


@dataclass(frozen=True, eq=False)
class JointUse:
    """A joint whose coordinates an element names: which one, of which instances."""

    population: Population
    joint: Joint
    index: Integers


@dataclass(eq=False)
class Casting:
    """An element in canonical form, for some instances.

    Attributes:
        element: The canonical element.
        original: The one it was made of.
        population: Where it comes from.
        index: The instances.
        joints: Canonical joints by name.
        uses: What they stand for.
        frames: The markers m0, m1 …
        slots: For each marker the number of its body among those of the element; -1 the ground.
        numbers: Values of "#0", "#1" …
        laws: Laws of `Prescribed`.
    """

    element: Element
    original: Element
    population: Population
    index: Integers
    joints: dict[str, Joint]
    uses: list[JointUse]
    frames: list[Frames]
    slots: tuple[int, ...]
    numbers: list[Floats]
    laws: list[Law]
    body_count: int = field(init=False)

    def __post_init__(self) -> None:
        self.body_count = max(self.slots, default=NO_BODY) + 1

    def __len__(self) -> int:
        return len(self.index)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for castings with the same kernel, given what is known of coordinates."""
        axes = tuple(axes_pattern(frames.axes) for frames in self.frames)
        return (
            type(self.element),
            repr(self.element),
            tuple((type(joint), repr(joint)) for joint in self.joints.values()),
            axes,
        )

    def at(self, rows: Integers) -> Casting:
        """Some of the instances."""
        return dataclasses.replace(
            self,
            index=self.index[rows],
            uses=[JointUse(u.population, u.joint, u.index[rows]) for u in self.uses],
            frames=[frames.at(rows) for frames in self.frames],
            numbers=[row[rows] for row in self.numbers],
        )

    def bodies(self) -> list[Integers]:
        """The bodies of each slot, (n,)."""
        found: list[Integers] = []
        for slot in range(self.body_count):
            found.append(self.frames[self.slots.index(slot)].body)
        return found


def axes_pattern(axes: Floats) -> tuple[float | None, ...]:
    """The entries of rotations that are 0, 1 or -1 in all of them; None for the others."""
    flat = axes.reshape(len(axes), 9)
    first = flat[0]
    plain = (flat == first).all(axis=0) & np.isin(first, (0.0, 1.0, -1.0))
    return tuple(float(x) if same else None for x, same in zip(first, plain, strict=True))
