"""The workspace of the forces of all groups: where loads, rows and multipliers stand.

The workspace is that of `GroupProgram`, with laws w of drivers and the motion y, dy and ddy of
bodies in it, and after that

    t           the time
    q, v        the state in reference-point coordinates, where forces act in the model, and the
                coordinates x that count turns
    fw …, u     laws and inputs of these forces
    Q, W        what they apply, along v; and the loads of bodies
    lam0 …      multipliers of each kind, a row a group
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from biela.code.looped import Memory
from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.populations import Integers
from biela.equations.groups.cast import Poses
from biela.equations.groups.forces.counting import ReadingKernel, alike, reading_kernels
from biela.equations.groups.forces.derivation import MultiplierDerivation
from biela.equations.groups.forces.kernel import ForceEquations
from biela.equations.groups.forces.spins import held_bodies
from biela.equations.groups.lowering import GroupProgram

__all__ = ["ForceWorkspace"]


class ForceWorkspace:
    """The equilibrium of all groups of a model, and where its numbers stand.

    Args:
        blocks: The same model in reference-point coordinates: its masses and its forces.
        groups: Their kinematics.
        body_places: (bodies, components) where centre, and cosine and sine or two axes of each
            body stand in y.
        poses: Where the model is at some position.

    Attributes:
        equations: Of each kind.
        extra: Coordinates that count turns, and their numbers.
        memory: The workspace.
        row_memory: The same with the rows J0, J1 … of each kind after it.
        row_names: The multipliers, "joint.row", in the order of the segments lam0, lam1 …; those
            of passive spins are "body.spin".
    """

    def __init__(
        self, groups: GroupProgram, blocks: ReferenceBlocks, body_places: Integers, poses: Poses
    ) -> None:
        self.groups, self.casts, self.blocks = groups, groups.casts, blocks
        self.plane, self.bodies = blocks.plane, blocks.world.count
        self._places = body_places
        self.extra = {name: k for k, name in enumerate(blocks.extra)}
        self.kinds = list(alike(self.casts.casts, self.extra))
        centres = blocks.world.centres
        self.equations = [
            ForceEquations(MultiplierDerivation(cast, centres, self.extra, poses))
            for cast in self.kinds
        ]
        #: Bodies whose passive spin is held, and its axis in their own frames.
        self.spinning, self.axes = held_bodies(self.kinds, poses)
        #: Whether forces other than gravity act.
        self.applied = bool(blocks.forces)
        self._make_memory()

    # ------------------------------------------------------------------------- memory

    def _make_memory(self) -> None:
        nx = len(self.extra)
        nq, nv = (n * self.bodies if self.applied else 0 for n in self.blocks.widths)
        laws = self.blocks.law_count if self.applied else 0
        self.wide = self.blocks.widths[1]
        sizes = {**self.groups.memory.sizes, "t": 1, "q": nq, "x": nx, "v": nv, "dx": nx}
        sizes |= {"fw": laws, "fdw": laws, "fddw": laws, "u": len(self.blocks.input_values)}
        sizes |= {"V": 1, "Q": nv, "Qx": nx, "W": self.wide * self.bodies}
        for c, (cast, e) in enumerate(zip(self.kinds, self.equations, strict=True)):
            sizes[f"lam{c}"] = cast.count * len(e.rows)
        self.memory = Memory(sizes)
        for c, (cast, e) in enumerate(zip(self.kinds, self.equations, strict=True)):
            sizes[f"J{c}"] = cast.count * len(e.rows) * len(e.J[0])
        self.row_memory = Memory(sizes)

    @cached_property
    def row_names(self) -> list[str]:
        """The multipliers."""
        names = self.blocks.world.names
        found = []
        for cast, e in zip(self.kinds, self.equations, strict=True):
            for k in range(cast.count):
                for row in e.rows:
                    if row.element >= 0:
                        found.append(f"{cast.elements[row.element].names[k]}.{row.label}")
                    else:
                        slot = cast.spins[int(row.label[4:])].slot
                        found.append(f"{names[int(cast.bodies[k, slot])]}.spin")
        return found

    @property
    def multipliers(self) -> tuple[str, ...]:
        """Segments of the multipliers, a kind each, one after the other."""
        return tuple(f"lam{c}" for c in range(len(self.equations)))

    @cached_property
    def spin_rows(self) -> list[int]:
        """Which multipliers are moments about passive spins."""
        spins = [
            row.element < 0 for e in self.equations for _ in range(e.cast.count) for row in e.rows
        ]
        return [k for k, spin in enumerate(spins) if spin]

    @cached_property
    def rows_of_blocks(self) -> Integers:
        """For each row of the blocks its number among ``row_names``."""
        known = {name: k for k, name in enumerate(self.row_names)}
        return np.array([known[name] for name in self.blocks.rows], dtype=np.int64)

    # ------------------------------------------------------------------------- places

    def body_symbols(self, numbers: Sequence[Integers], rate: str = "") -> list[Integers]:
        """Places of the symbols of bodies, a table a body."""
        return [self.memory.first(f"{rate}y") + self._places[b] for b in numbers]

    def symbols(self, e: ForceEquations) -> Integers:
        """Places of the input h of a kind."""
        columns = self.body_symbols([solid.numbers for solid in e.derivation.solids])
        columns += [self.memory.first("w") + known.item.body[:, None] for known in e.laws]
        columns += [self.count_places("x", c.names)[:, None] for c in e.counts]
        return np.concatenate(columns, axis=1)

    def count_places(self, segment: str, names: Sequence[str]) -> Integers:
        """Places of coordinates that count turns in a segment."""
        return self.memory.first(segment) + np.array([self.extra[n] for n in names])

    def load_places(self, e: ForceEquations, own: bool) -> Integers:
        """Places of the loads on the bodies and coordinates of a kind, or on those it rests on."""
        cast = e.cast
        bodies = [cast.bodies[:, k] for k in range(cast.size)] if own else e.known_bodies
        first = self.memory.first("W")
        columns = [first + self.wide * b[:, None] + np.arange(self.wide) for b in bodies]
        columns += [self.count_places("Qx", c.names)[:, None] for c in e.counts if c.own == own]
        if not columns:
            return np.zeros((cast.count, 0), dtype=np.int64)
        return np.concatenate(columns, axis=1)

    @property
    def simple(self) -> bool:
        """Whether only gravity acts, and no coordinate counts turns."""
        return not self.applied and not self.extra

    @property
    def loaded(self) -> bool:
        """Whether forces depend on multipliers, as friction does."""
        return any(
            source == "lam" for block in self.blocks.forces for source, _ in block.gather.values()
        )

    # ----------------------------------------------------- coordinates that count turns

    @cached_property
    def readings(self) -> list[ReadingKernel]:
        """How the coordinates that count turns are read from the motion of bodies."""
        centres = self.blocks.world.centres
        return [k for cast in self.kinds for k in reading_kernels(cast, centres, self.extra)]
