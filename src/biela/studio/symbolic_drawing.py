"""What is drawn of a symbolic system: lines between its points, at instants of a motion."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.recording import Recording
from biela.results import Dot, Scene

__all__ = ["Drawn"]

Floats = npt.NDArray[np.float64]

#: A point that moves by less than this part of the farthest one rests.
_RESTING = 1e-9


class Drawn:
    """A system at instants.

    Args:
        system: The equations, at the parameters that are meant.
        t: The instants (k).
        q: The coordinates there (k, n).
    """

    def __init__(self, system: bl.System, t: Floats, q: Floats) -> None:
        self._system = system
        still = np.zeros((len(t), len(system.v)))  # places need no velocities
        inputs = np.repeat(system.inputs[None], len(t), 0)
        self._recording = Recording(
            system, {"q": q, "v": still, "a": still}, t, q, system.parameters, inputs
        )

    @cached_property
    def points(self) -> dict[str, Floats]:
        """The ways of the points (k, 3), by name."""
        drawing = self._system.drawing
        assert drawing is not None, "a symbolic system has points"
        places = np.asarray(self._recording.evaluate("points"), dtype=float)
        return {name: places[:, k] for k, name in enumerate(drawing.points)}

    @property
    def moving(self) -> list[str]:
        """The points that move."""
        farthest = max((float(np.abs(way).max()) for way in self.points.values()), default=0.0)
        return [n for n, way in self.points.items() if np.ptp(way, 0).max() > _RESTING * farthest]

    def scene(self, view: str = "") -> Scene:
        """Lines from points to those placed from them; without any, the points themselves.

        Args:
            view: That of the scene which it is to look like; "" finds out.
        """
        drawing = self._system.drawing
        if drawing is not None and drawing.links:
            shapes = list(self._recording.scene().shapes)
        else:
            shapes = [Dot(name, way, size=14.0) for name, way in self.points.items()]
        return Scene(shapes, view)
