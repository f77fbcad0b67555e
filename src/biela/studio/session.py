"""One visitor's work with one mechanism, without any page: what is shown, and what can be changed.

A session holds the source of a model, the settings, and the last answer of an analysis.  Settings
change by its methods, `run` asks anew.  What goes wrong becomes words in ``error``, and the last
answer stays, so that there is always something to look at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.progress import Watch, watched
from biela.errors import BielaError, ModelError
from biela.model.joints import Joint
from biela.results import Scene
from biela.results.paths import traces
from biela.results.scene import PLANES
from biela.studio.building import Builder, Built
from biela.studio.channels import frames_of
from biela.studio.handling import Handled
from biela.studio.joint_signs import sign_unit
from biela.studio.posing import Motion, Poser
from biela.studio.quantities import Quantities
from biela.studio.runs import Answer, answer, without_energies
from biela.studio.settings import Analysis
from biela.studio.source import Source
from biela.studio.starting import coordinates_at, rates_at

__all__ = ["Session"]

Floats = npt.NDArray[np.float64]

#: Cosine of the angle between an axis and the normal of a plane, at least.
_ALONG = 0.999


class Session(Handled):
    """A mechanism on the table.

    Attributes:
        source: Where the model comes from.

    Raises:
        BielaError: The source has no model that could be shown.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        super().__init__(source.model({}))
        self._builder = Builder(source)
        self._unit: tuple[Scene, float] | None = None
        self._scene: Scene | None = None

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

    def _ask(self, watch: Watch | None) -> None:
        built = self._build()
        if self.settings.analysis is Analysis.INVERSE_KINEMATICS:
            free, q = self.dragging.poser, self.position()
            q = bl.assemble(free.system, self._renamed(q, built.poser, free)).q
            self.pose = self._renamed(q, free, built.poser)
            self.note = "drag a body, or give a point a place"
            return
        with watched(watch):
            large = None if built.weighed else built.model
            found = answer(built.poser.system, self.settings, large)
        self._take(built, found)

    def _take(self, built: Built, found: Answer) -> None:
        self.note, self.error = found.note, found.warning
        if found.motion is None:
            self.pose = found.q
            return
        if found.motion.scene is None:
            raise ModelError(f"{built.model.name} has nothing to draw: give its bodies markers")
        heavy = built.weighed or self.settings.analysis is Analysis.DYNAMICS
        self.motion = found.motion if heavy else without_energies(found.motion)
        imposed = self.settings.analysis is Analysis.KINEMATICS
        self.quantities = Quantities(
            built.model, built.poser.system, self.motion, imposed, built.weighed
        )
        self.pose, self._told, self._scene = None, found.note, found.motion.scene
        q, v = coordinates_at(self.motion), rates_at(self.motion)
        # the whole position is kept once one value is given, so that the branch is
        given = (*self.settings.q, *built.poser.names) if self.settings.q else ()
        self.choose(
            q={name: q[name] for name in dict.fromkeys(given) if name in q},
            v={name: v.get(name, x) for name, x in self.settings.v.items()},
        )
        self._keep_time(found.motion.t)

    def _build(self) -> Built:
        """The model and equations of the settings."""
        return self._builder.built(self.settings)

    # ---------------------------------------------------------------------------- what is shown

    @property
    def model(self) -> bl.Model:
        """The model with all changes.

        Raises:
            BielaError: They make none.
        """
        return self._build().model

    @property
    def described(self) -> bl.Model:
        """The same."""
        return self.model

    @property
    def asked(self) -> Mapping[str, object]:
        """The table ``[run]`` of the model."""
        return self.model.run

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

    @property
    def _colours(self) -> Mapping[str, str]:
        return getattr(self.source, "colours", {})

    def posed_scene(self) -> Scene | None:
        """The position in which the mechanism was put, drawn like `scene`; None in motion."""
        if self.pose is None:
            return None
        return self.poser.scene(self.pose, view=self.scene.view)

    @property
    def flat(self) -> bool:
        """Whether it moves in a plane and can do nothing else: all that turns does so in it."""
        if self.scene.view not in PLANES:
            return False
        normal, frame = PLANES[self.scene.view][2], self.frames()
        model = self.model.flattened() if self.model.parts else self.model
        turning = (
            j for j in model.joints.values() if isinstance(j, Joint) and j.kind == "revolute"
        )
        return all(abs(frame(j.j.label)[1][0, normal, 2]) > _ALONG for j in turning)

    @property
    def points(self) -> Sequence[str]:
        """Bodies and markers that move."""
        return frames_of(self.motion) if self.motion is not None else ()

    def ways(self, points: Sequence[str]) -> list[Floats]:
        """The ways of bodies, markers and sensors of points.

        Raises:
            BielaError: There is no such point.
        """
        if self.motion is None or not points:
            return []
        return [np.asarray(trace.points) for trace in traces(self.motion, list(points))]

    @property
    def unit(self) -> float:
        """What signs are measured by (m): less than the size where there are many joints."""
        scene = self.scene
        if self._unit is None or self._unit[0] is not scene:
            self._unit = scene, sign_unit(self.model, self.frames(), scene.extent)
        return self._unit[1]

    def position(self) -> Floats:
        """The position that is shown, in the coordinates of the joints."""
        if self.pose is not None:
            return self.pose
        if self.motion is None:
            return self.poser.start
        return self.poser.position(coordinates_at(self.motion, round(self.place)))

    def coordinates(self) -> dict[str, float]:
        """Likewise, by name."""
        return dict(zip(self.poser.names, self.position().tolist(), strict=True))

    def told(self) -> dict[str, float]:
        """Coordinates, and sensors of places and angles."""
        return {**self.poser.sensed(self.position()), **self.coordinates()}

    def frames(self) -> Motion:
        """Frames in the position that is shown, k = 1."""
        frame = self.poser.placed(self.position())

        def found(name: str) -> tuple[Floats, Floats]:
            r, R = frame(name)
            return r[None], R[None]

        return found
