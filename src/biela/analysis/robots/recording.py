"""What a long robot shows of a motion, without equations that are written out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.analysis.recording import Recording
from biela.errors import ModelError
from biela.results import Channels
from biela.results.frames import frame_channels

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions

Floats = npt.NDArray[np.float64]


class LoopedRecording(Recording):
    """The states of a long robot: energies and poses of frames come link after link.

    ``rates`` gives those of the coordinates, one row per instant, where they are not the
    velocities.
    """

    def __init__(
        self, robot: Motions, *recorded: Any, rates: Callable[[], Floats] | None = None
    ) -> None:
        super().__init__(*recorded)
        self._robot: Any = robot
        self._rates = cache(rates or (lambda: self.readings()["v"]))

    def evaluate(self, capability: str) -> Any:
        """Energy or poses at every instant.

        Raises:
            ModelError: It is something else, which would have to be written out.
        """
        found = self.readings()
        if capability == "energy":
            return self._robot.energy(found["q"], found["v"])
        if capability == "poses":
            return self._robot._looped.frames(self.system.frames, found["q"])
        raise ModelError(
            f"{self.system.name}: {capability} of a robot that runs link after link is not there; "
            f"make it with lowering='unrolled'"
        )

    def power(self) -> Floats:
        """What changes the energy, by its slope along the motion."""
        return self._slope_of_energy()

    def carried_power(self) -> None:
        """None: the slope of the energy knows all motions."""

    def size(self) -> float:
        """The kinetic energy of velocities of some 1e-5 m/s or rad/s, J."""
        q, v = self.readings()["q"][:1], self.readings()["v"][:1]
        return float(self._robot.energy(q, np.full_like(v, 3e-5))[0][0])

    def _energies(self, t: Floats, q: Floats, v: Floats, rows: Any) -> tuple[Floats, Floats]:
        found: tuple[Floats, Floats] = self._robot.energy(q, v)
        return found

    def _later(self, d: float) -> Floats:
        return np.asarray(self.readings()["q"] + d * self._rates())

    def _frames(self) -> dict[str, Channels]:
        frames = self.system.frames
        return frame_channels(frames, partial(self._rows, "poses", len(frames)), None, None)
