"""One visitor's work with one mechanism, without any page: what is shown, and what can be changed.

A session holds the source of a model, the settings, and the last answer of an analysis.  Settings
change by its methods, `run` asks anew.  What goes wrong becomes words in ``error``, and the last
answer stays, so that there is always something to look at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.errors import BielaError, ModelError
from biela.results import Results, Scene
from biela.studio.dragging import Dragged, Dragging, Grip
from biela.studio.laws import LawChange, LawText, laws_of, with_laws, without_drivers
from biela.studio.posing import Poser
from biela.studio.ranges import Range, around, coordinate_range
from biela.studio.runs import Answer, answer
from biela.studio.settings import Analysis, settings_of
from biela.studio.source import Source

__all__ = ["Session"]

Floats = npt.NDArray[np.float64]

#: How often a point is pulled at to reach a place, at most.
_PULLS = 50


@dataclass(frozen=True, eq=False)
class _Built:
    """A model with its settings, and its equations."""

    key: Any
    model: bl.Model
    poser: Poser


class Session:
    """A mechanism on the table.

    Attributes:
        source: Where the model comes from.
        settings: What is chosen.
        motion: The last motion; None before there is one.
        pose: The position in which the mechanism was put by hand or by an analysis; None while it
            follows the motion.
        time: The instant of the motion that is shown (s).
        error: What went wrong last, in words; "" if nothing did.
        note: What there is to know of the last answer.

    Raises:
        BielaError: The source has no model that could be shown.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._first = source.model({})
        self.settings = settings_of(self._first)
        self.motion: Results | None = None
        self.pose: Floats | None = None
        self.time = 0.0
        self.error, self.note = "", ""
        self._built: _Built | None = None
        self._dragging: Dragging | None = None
        self._grip: Grip | None = None
        self._scene: Scene | None = None
        self._told = ""

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._first.name

    # ---------------------------------------------------------------------------- settings

    def choose(self, **changes: Any) -> None:
        """Change settings, by the names of `Settings`."""
        self.settings = replace(self.settings, **changes)

    def set_parameter(self, name: str, value: float) -> None:
        """Give a parameter another value, SI."""
        self.choose(parameters={**self.settings.parameters, name: float(value)})

    def set_law(self, name: str, change: LawChange) -> None:
        """Change the law of a driver."""
        self.choose(laws={**self.settings.laws, name: change})

    def set_start(self, name: str, value: float) -> None:
        """Begin with another value of a coordinate."""
        self.choose(q={**self.settings.q, name: float(value)})

    def set_rate(self, name: str, value: float) -> None:
        """Begin with another velocity."""
        self.choose(v={**self.settings.v, name: float(value)})

    def reset(self) -> None:
        """Go back to the model as it was written; the analysis stays."""
        fresh = settings_of(self._first)
        self.settings = replace(fresh, analysis=self.settings.analysis)

    def start_here(self) -> None:
        """Begin the next motion in the position that is shown; drivers let go of it.

        Raises:
            ModelError: It was not put anywhere.
        """
        if self.pose is None:
            raise ModelError("drag the mechanism to a position first")
        start = dict(zip(self.poser.names, self.pose.tolist(), strict=True))
        self.choose(analysis=Analysis.DYNAMICS, driven=False, q=start, v={})

    # ---------------------------------------------------------------------------- answers

    def open(self) -> None:
        """Ask for the first time; a mechanism that is not driven falls, and one at least stands."""
        if self.run() or self.motion is not None:
            return
        said = self.error
        if self.settings.analysis is Analysis.KINEMATICS:
            self.choose(analysis=Analysis.DYNAMICS)
            if self.run():
                self.note = f"{said} It moves by its forces here. {self.note}"
                return
        self.error = said
        try:
            self.pose = self.poser.start
        except BielaError as error:
            self.error = str(error)

    def run(self) -> bool:
        """Ask the analysis anew; whether all went well.  If not, ``error`` has the reason."""
        self.error = ""
        try:
            built = self._build()
            if self.settings.analysis is Analysis.INVERSE_KINEMATICS:
                free, q = self.dragging.poser, self.position()
                q = bl.assemble(free.system, self._renamed(q, built.poser, free)).q
                self.pose = self._renamed(q, free, built.poser)
                self.note = "drag a body, or give a point a place"
                return True
            self._take(built, answer(built.poser.system, self.settings))
        except BielaError as error:
            self.error = str(error)
        return not self.error

    def _take(self, built: _Built, found: Answer) -> None:
        self.note, self.error = found.note, found.warning
        if found.motion is None:
            self.pose = found.q
            return
        if found.motion.scene is None:
            raise ModelError(f"{built.model.name} has nothing to draw: give its bodies markers")
        self.motion, self.pose, self._told = found.motion, None, found.note
        self._scene = found.motion.scene
        t = found.motion.t
        self.time = float(min(max(self.time, t[0]), t[-1]))

    def _build(self) -> _Built:
        """The model and equations of the settings."""
        settings = self.settings
        key = (dict(settings.parameters), dict(settings.laws), settings.driven)
        if self._built is not None and self._built.key == key:
            return self._built
        model = with_laws(self.source.model(settings.parameters), settings.laws)
        if not settings.driven:
            model = without_drivers(model)
        if self._built is not None and self._built.key[0] != key[0]:
            self._dragging = None
        self._built = _Built(key, model, Poser(bl.formulate(model, "joint")))
        return self._built

    # ---------------------------------------------------------------------------- what is shown

    @property
    def model(self) -> bl.Model:
        """The model with all changes.

        Raises:
            BielaError: They make none.
        """
        return self._build().model

    @property
    def poser(self) -> Poser:
        """Positions of the model with all changes.

        Raises:
            BielaError: They make none.
        """
        return self._build().poser

    @property
    def scene(self) -> Scene:
        """The motion, or else the position that is shown.

        Raises:
            BielaError: Nothing can be drawn.
        """
        if self._scene is None:
            self._scene = self.poser.scene(self.position())
        return self._scene

    def posed_scene(self) -> Scene | None:
        """The position in which the mechanism was put, drawn like `scene`; None in motion."""
        if self.pose is None:
            return None
        return self.poser.scene(self.pose, view=self.scene.view)

    @property
    def size(self) -> float:
        """How large the mechanism is (m)."""
        return self.scene.extent

    @property
    def place(self) -> float:
        """Where the time is among the instants of the motion: 2.5 between the third and fourth."""
        if self.motion is None:
            return 0.0
        return float(np.interp(self.time, self.motion.t, np.arange(len(self.motion))))

    def position(self) -> Floats:
        """The position that is shown, in the coordinates of the joints."""
        if self.pose is not None:
            return self.pose
        if self.motion is None:
            return self.poser.start
        names, row = self.motion.groups["q"].names, self.motion.q[round(self.place)]
        return self.poser.position(dict(zip(names, row.tolist(), strict=True)))

    def go_to(self, time: float) -> None:
        """Show the motion at a time."""
        if self.pose is not None:
            self.note = self._told
        self.time, self.pose = float(time), None

    # ---------------------------------------------------------------------------- by hand

    @property
    def dragging(self) -> Dragging:
        """The mechanism without drivers, to be pulled at.

        Raises:
            BielaError: Its equations cannot be derived.
        """
        if self._dragging is None:
            self._dragging = Dragging(self.model, self.size)
        return self._dragging

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
        if found.missed > 1e-3 * self.size:
            reason = f"; at its limit: {', '.join(found.at_limit)}" if found.at_limit else ""
            self.note = f"out of reach: {1e3 * found.missed:.3g} mm short, the closest{reason}"
        else:
            self.note = f"{found.grip.body} is where you want it, all joints closed"
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

    @staticmethod
    def _renamed(q: Floats, before: Poser, after: Poser) -> Floats:
        """The same position in other equations of the same joints."""
        return after.position(dict(zip(before.names, q.tolist(), strict=True)))

    # ---------------------------------------------------------------------------- sliders

    def parameters(self) -> list[Range]:
        """The parameters of the model with the values they have, and ranges for sliders."""
        changed = self.settings.parameters
        return [around(n, x, changed.get(n, x)) for n, x in self._first.parameters.items()]

    def laws(self) -> list[LawText]:
        """The laws of the drivers, as they are written."""
        return laws_of(self._first)

    def starts(self) -> list[Range]:
        """The coordinates with the values that a motion begins with.

        Raises:
            BielaError: The equations cannot be derived.
        """
        system, given = self.poser.system, self.settings.q
        return [
            coordinate_range(e.name, e.value, given.get(e.name, e.value), e.unit, self.size)
            for e in system.q
            if e.unit in ("rad", "m")
        ]

    def rates(self) -> list[Range]:
        """The velocities that a motion begins with.

        Raises:
            BielaError: The equations cannot be derived.
        """
        system, given = self.poser.system, self.settings.v
        return [
            coordinate_range(e.name, e.value, given.get(e.name, e.value), e.unit, self.size)
            for e in system.v
        ]
