"""A mechanism in the hands of a visitor: gripped and pulled at, a point or a coordinate put."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.errors import BielaError, ModelError
from biela.studio.dragging import Dragged, Dragging, Grip
from biela.studio.posing import Poser
from biela.studio.sliders import Sliders

__all__ = ["Handled"]

Floats = npt.NDArray[np.float64]

#: How often a point is pulled at to reach a place, at most.
_PULLS: Final = 50
#: Steps of a coordinate: angles (rad), and lengths as a part of the size of the mechanism.
_TURN: Final = 0.2
_STEP: Final = 0.05


class Handled(Sliders):
    """Positions by hand; who has the mechanism says where it is.

    Args:
        model: The model as it was written.
    """

    def __init__(self, model: bl.Model) -> None:
        super().__init__(model)
        self._dragging: tuple[Any, Dragging] | None = None
        self._grip: Grip | None = None

    @property
    @abstractmethod
    def poser(self) -> Poser:
        """Positions of the model with all changes.

        Raises:
            BielaError: They make none.
        """

    @property
    def dragging(self) -> Dragging:
        """The mechanism without drivers, to be pulled at.

        Raises:
            BielaError: Its equations cannot be derived.
        """
        built = self._build()
        if self._dragging is None or self._dragging[0] != built.key[0]:
            self._dragging = built.key[0], Dragging(built.model, self.size)
        return self._dragging[1]

    @property
    def holding(self) -> bool:
        """Whether a body is gripped."""
        return self._grip is not None

    def grip(self, body: str, place: Iterable[float]) -> None:
        """Grip the point of a body that is at a place now.

        Raises:
            BielaError: There is no such body.
        """
        q = self._renamed(self.position(), self.poser, self.dragging.poser)
        self._grip = self.dragging.grip(body, np.array([*place], dtype=float), q)

    def pull(self, target: Iterable[float]) -> Dragged:
        """Pull the point that is gripped to a target: the mechanism follows as far as it can.

        Raises:
            BielaError: Nothing is gripped, or the mechanism cannot be moved.
        """
        if self._grip is None:
            raise ModelError("grip a body first")
        found = self.dragging.pull(self._grip, np.array([*target], dtype=float))
        self._grip = found.grip
        self.pose = self._renamed(found.grip.q, self.dragging.poser, self.poser)
        self.error = ""
        self.note = found.told(self.size)
        return found

    def holds(self, last: Dragged) -> bool:
        """Whether the hand has done nothing since a pull."""
        return self._grip is last.grip

    def let_go(self) -> None:
        """Leave the mechanism where it is."""
        self._grip = None

    def reach(self, frame: str, place: Iterable[float]) -> Dragged:
        """Bring a body or marker to a place: inverse kinematics of a point.

        Raises:
            BielaError: There is no such frame on a body that moves.
        """
        r, _ = self.poser.frame(frame, self.position())
        bodies = [b for b in self.dragging.bodies if frame == b or frame.startswith(f"{b}.")]
        self.grip(max(bodies, key=len, default=frame), r)
        found = self.pull(place)
        for _ in range(_PULLS):
            if found.settled:
                break
            found = self.pull(place)
        return found

    def jog(self, name: str, value: float) -> None:
        """Put one coordinate somewhere: the others follow as far as joints are to stay closed.

        It goes there in small steps, so that the mechanism stays on its branch.

        Raises:
            BielaError: It cannot be there.
        """
        free, here = self.dragging.poser, self.coordinates()
        units = {entry.name: entry.unit for entry in free.system.q}
        stride = _TURN if units.get(name) == "rad" else _STEP * self.size
        begun = here.get(name, value)
        count = max(1, math.ceil(abs(value - begun) / stride))
        q = here
        try:
            for aim in np.linspace(begun, value, count + 1)[1:].tolist():
                q = self._held(free, q, name, aim)
        except BielaError:  # on the way, or there
            q = self._held(free, here, name, float(value))
        self.pose = self.poser.position(q)
        self.error, self.note = "", "by hand: Start begins a motion here"

    @staticmethod
    def _held(poser: Poser, near: dict[str, float], name: str, value: float) -> dict[str, float]:
        """The position near another one in which a coordinate has a value."""
        found = bl.assemble(poser.system, near, hold={name: value}).q
        return dict(zip(poser.names, found.tolist(), strict=True))

    @staticmethod
    def _renamed(q: Floats, before: Poser, after: Poser) -> Floats:
        """The same position in other equations of the same joints."""
        return after.position(dict(zip(before.names, q.tolist(), strict=True)))
