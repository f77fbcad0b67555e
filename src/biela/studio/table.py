"""What is on the table of a visitor: a motion or a position that is shown, whatever it is of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from biela.analysis.progress import Watch
from biela.errors import BielaError, ModelError
from biela.results import Results, Scene
from biela.studio.channels import Recorded
from biela.studio.choices import Choices
from biela.studio.pieces import Piece, pieces
from biela.studio.ranges import Range
from biela.studio.settings import Analysis, Settings
from biela.studio.topology import Describable

__all__ = ["Table"]

Floats = npt.NDArray[np.float64]


class Table(Choices, ABC):
    """One visitor's work with one model; bodies and joints and symbols have one of their own.

    Args:
        name: What the model is called.
        settings: Those that it asks for.

    Attributes:
        analyses: The questions that can be asked.
        motion: The last motion; None before there is one.
        quantities: What can be plotted of it.
        pose: The position in which the mechanism was put by hand or by an analysis; None while it
            follows the motion.
        time: The instant of the motion that is shown (s).
        error: What went wrong last, in words; "" if nothing did.
        note: What there is to know of the last answer.
    """

    analyses: ClassVar[tuple[Analysis, ...]] = tuple(Analysis)

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self.motion: Results | None = None
        self.quantities: Recorded | None = None
        self.pose: Floats | None = None
        self.time = 0.0
        self.error, self.note = "", ""
        self._told = ""

    # ---------------------------------------------------------------------------- answers

    @abstractmethod
    def open(self) -> None:
        """Ask for the first time; what cannot move at least stands."""

    def run(self, watch: Watch | None = None) -> bool:
        """Ask the analysis anew; whether all went well.  If not, ``error`` has the reason.

        Args:
            watch: Is told which part of a long run is done; it may raise KeyboardInterrupt to end
                it, and the motion until then is the answer.
        """
        self.error = ""
        try:
            self._ask(watch)
        except BielaError as error:
            self.error = str(error)
        except KeyboardInterrupt:
            if watch is None:
                raise
            self.error = "stopped before there was an answer"
        return not self.error

    @abstractmethod
    def _ask(self, watch: Watch | None) -> None:
        """Ask, and take the answer.

        Raises:
            BielaError: There is none; the message says why and what to do.
        """

    @property
    @abstractmethod
    def described(self) -> Describable:
        """The model with all changes.

        Raises:
            BielaError: They make none.
        """

    @property
    @abstractmethod
    def asked(self) -> Mapping[str, object]:
        """What the model wants plotted and traced, by "plot" and "path"."""

    @abstractmethod
    def coordinates(self) -> dict[str, float]:
        """The position that is shown, by the names of the coordinates."""

    def told(self) -> dict[str, float]:
        """All values that are known in the position that is shown, by name."""
        return self.coordinates()

    def start_here(self) -> None:
        """Begin the next motion in the position that is shown; drivers let go of it.

        Raises:
            ModelError: It was not put anywhere.
        """
        if self.pose is None:
            raise ModelError("drag the mechanism to a position first, or find one of rest")
        self.choose(analysis=Analysis.DYNAMICS, driven=False, q=self.coordinates(), v={})

    # ---------------------------------------------------------------------------- sliders

    @abstractmethod
    def parameters(self) -> list[Range]:
        """The parameters of the model with the values they have, and ranges for sliders."""

    @abstractmethod
    def inputs(self) -> list[Range]:
        """What is given from outside, which dynamics takes."""

    @abstractmethod
    def starts(self) -> list[Range]:
        """The coordinates with the values that the motion really begins with."""

    @abstractmethod
    def rates(self) -> list[Range]:
        """The velocities that a motion begins with."""

    # ---------------------------------------------------------------------------- what is shown

    @property
    @abstractmethod
    def scene(self) -> Scene:
        """The motion, or else the position that is shown.

        Raises:
            BielaError: Nothing can be drawn.
        """

    @abstractmethod
    def posed_scene(self) -> Scene | None:
        """The position in which the mechanism was put, drawn like `scene`; None in motion."""

    @property
    @abstractmethod
    def flat(self) -> bool:
        """Whether it moves in a plane and can do nothing else."""

    @property
    @abstractmethod
    def points(self) -> Sequence[str]:
        """The points whose ways can be shown."""

    @abstractmethod
    def ways(self, points: Sequence[str]) -> list[Floats]:
        """The ways of points over the motion, (k, 3) each.

        Raises:
            BielaError: There is no such point.
        """

    @property
    def pieces(self) -> list[Piece]:
        """The scene as pieces for a renderer.

        Raises:
            BielaError: Nothing can be drawn.
        """
        return pieces(self.scene, self.unit, self._colours)

    def posed_pieces(self) -> list[Piece] | None:
        """Likewise, of the position in which the mechanism was put; None in motion."""
        posed = self.posed_scene()
        return None if posed is None else pieces(posed, self.unit, self._colours)

    @property
    def _colours(self) -> Mapping[str, str]:
        """Colours of bodies that have some of their own."""
        return {}

    @property
    def size(self) -> float:
        """How large the mechanism is (m)."""
        return self.scene.extent

    @property
    def unit(self) -> float:
        """What signs are measured by (m)."""
        return self.size

    @property
    def place(self) -> float:
        """Where the time is among the instants of the motion: 2.5 between the third and fourth."""
        if self.motion is None:
            return 0.0
        return float(np.interp(self.time, self.motion.t, np.arange(len(self.motion))))

    def go_to(self, time: float) -> None:
        """Show the motion at a time."""
        if self.pose is not None:
            self.note = self._told
        self.time, self.pose = float(time), None

    def _keep_time(self, t: Floats) -> None:
        """Stay at the instant that is shown, as far as a new motion has it."""
        self.time = float(min(max(self.time, t[0]), t[-1]))
