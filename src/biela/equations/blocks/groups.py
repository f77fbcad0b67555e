"""Instances with the same kernel, and their rows of parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from biela.code import Function
from biela.equations.blocks.casting import Casting
from biela.equations.blocks.kernels import Kernel
from biela.equations.blocks.populations import Floats, Integers
from biela.equations.blocks.world import World
from biela.equations.mechanism.derivation import NEVER
from biela.errors import ModelError


@dataclass(eq=False)
class Member:
    """The castings of one element in a group of instances with the same kernel."""

    casting: Casting
    x: Integers
    w: Integers
    u: Integers


@dataclass(eq=False)
class Group:
    """Instances with the same kernel."""

    kernel: Kernel
    counting: str
    members: list[Member] = field(default_factory=list)
    rows: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    first_entry: int = 0

    def __len__(self) -> int:
        return sum(len(member.casting) for member in self.members)


class ParameterRows:
    """Writes rows of parameters; ``across`` are the places of bodies across a plane."""

    def __init__(self, world: World, across: Floats) -> None:
        self.world, self.across = world, across

    def of(self, group: Group) -> Floats:
        """The rows of parameters of all instances."""
        return np.concatenate([self._rows(member, group.kernel) for member in group.members])

    def _rows(self, member: Member, kernel: Kernel) -> Floats:
        casting = member.casting
        found = np.zeros((len(casting), len(kernel.columns)))
        bodies = casting.bodies()
        for column, (what, k, c) in enumerate(kernel.columns):
            if what == "place":
                frames = casting.frames[k]
                free = frames.body >= 0
                centre = np.where(free, self.world.centres[np.maximum(frames.body, 0), c], 0.0)
                found[:, column] = frames.place[:, c] - centre
            elif what == "axes":
                found[:, column] = casting.frames[k].axes.reshape(-1, 9)[:, c]
            elif what == "across":
                found[:, column] = self.across[bodies[k]]
            elif what == "number":
                found[:, column] = casting.numbers[k]
            else:
                text, dimension = kernel.texts[k]
                value = casting.population.value(text, dimension)
                found[:, column] = value[casting.index] if isinstance(value, np.ndarray) else value
        return found

    def check_fixed(self, groups: Iterable[Group]) -> None:
        """Refuse rows that hold in no position.

        Raises:
            ModelError: That names the joint.
        """
        for group in groups:
            function, labels = group.kernel.fixed
            if function is None:
                continue
            for member in group.members:
                casting = member.casting
                values = self._fixed_values(function, member, group.kernel)
                bad = np.argwhere(np.abs(values) > NEVER)
                if not len(bad):
                    continue
                k, row = bad[0]
                prefix = casting.population.prefix(int(casting.index[k]))
                name = prefix + casting.original.name
                what = casting.original.category
                raise ModelError(
                    f"{self.world.model.name}: {what} {name} can never be fulfilled: its equation "
                    f"{labels[row]} is off by {values[k, row]:.3g} in every position; check the "
                    f"places and axes of its markers"
                    + f" (the model is planar, in {self.world.model.plane})"
                    * bool(self.world.model.plane)
                )

    def _fixed_values(self, function: Function, member: Member, kernel: Kernel) -> Floats:
        count = len(member.casting)
        given = {"p": self._rows(member, kernel)}
        arguments = [given.get(a.name, np.zeros((count, a.size))) for a in function.inputs]
        return np.asarray(function.map(*arguments)).reshape(count, -1)
