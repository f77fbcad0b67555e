"""What a long robot shows of a motion, without equations that are written out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biela.analysis.recording import Recording
from biela.errors import ModelError
from biela.results import Channels
from biela.results.frames import frame_channels

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions


class LoopedRecording(Recording):
    """The states of a long robot: energies and poses of frames come link after link."""

    def __init__(self, robot: Motions, *recorded: Any) -> None:
        super().__init__(*recorded)
        self._robot: Any = robot

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

    def _frames(self) -> dict[str, Channels]:
        frames = self.system.frames
        return frame_channels(frames, partial(self._rows, "poses", len(frames)), None, None)
