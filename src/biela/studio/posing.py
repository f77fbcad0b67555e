"""A mechanism in one position: where its frames are, and what is drawn of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.scenes import mechanism_scene
from biela.results import Results, Scene

__all__ = ["Motion", "Poser", "moving"]

Floats = npt.NDArray[np.float64]
#: Places (k, 3) and orientations (k, 3, 3) of a frame by its name.
Motion: TypeAlias = Callable[[str], tuple[Floats, Floats]]


def moving(motion: Results) -> Motion:
    """Frames over a motion."""

    def frame(name: str) -> tuple[Floats, Floats]:
        found = motion.frame(name)
        return np.array(found.position), np.array(found.orientation)

    return frame


class Poser:
    """Frames and scenes of positions of a system, at the parameters of its model."""

    def __init__(self, system: bl.System) -> None:
        self.system = system
        self.names = tuple(entry.name for entry in system.q)

    @cached_property
    def start(self) -> Floats:
        """The position that the model begins in, as it is written: joints may be open."""
        return np.array([entry.value for entry in self.system.q])

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.system.frames)}

    def position(self, given: Mapping[str, float]) -> Floats:
        """A position of coordinates by name; what is not given is that of the start."""
        q = self.start.copy()
        for row, name in enumerate(self.names):
            q[row] = given.get(name, q[row])
        return q

    def frames(self, q: Floats, t: float = 0.0) -> Floats:
        """Place and orientation of every frame, (n, 12): r, and R by rows."""
        found = np.asarray(self.system.evaluate("poses", q, t=t), dtype=float)
        return found.reshape(len(self.system.frames), 12)

    def frame(self, name: str, q: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Place and orientation of a frame."""
        return self.placed(q, t)(name)

    def placed(self, q: Floats, t: float = 0.0) -> Callable[[str], tuple[Floats, Floats]]:
        """Place and orientation of frames by name in a position, found at once for all of them."""
        rows = self.frames(q, t)

        def frame(name: str) -> tuple[Floats, Floats]:
            if name not in self._rows:  # the ground
                return np.zeros(3), np.eye(3)
            row = rows[self._rows[name]]
            return row[:3], row[3:].reshape(3, 3)

        return frame

    def sensed(self, q: Floats) -> dict[str, float]:
        """What sensors read in a position, by name: those that need no velocity and no reaction.

        Which ones these are the outputs tell themselves: they are asked with velocities and
        multipliers that are no numbers, and what is a number then does not depend on them.
        """
        system = self.system
        if "outputs" not in system:
            return {}
        unknown, loads = np.full(len(system.v), np.nan), np.full(len(system.multipliers), np.nan)
        found = np.ravel(system.evaluate("outputs", q, unknown, lam=loads, a=unknown))
        named = zip((entry.name for entry in system.y), found.tolist(), strict=True)
        return {name: value for name, value in named if np.isfinite(value)}

    def scene(self, q: Floats, t: float = 0.0, view: str = "") -> Scene:
        """What is drawn in a position; ``view`` is that of the scene it is to look like."""
        drawing = self.system.drawing
        assert drawing is not None, "a model of bodies has figures"
        poses = self.frames(q, t)[None]
        return mechanism_scene(drawing.figures, self.system.frames, poses, view or drawing.plane)
