"""One visitor's work with a symbolic system, without any page.

It moves by its forces, by its constraints where they leave no freedom, or rests; sliders move its
parameters, inputs and start.  It has no joints, so that nothing is dragged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.progress import Watch, watched
from biela.errors import UnknownNameError
from biela.results import Results, Scene
from biela.results.scene import PLANES
from biela.spelling import nearest
from biela.studio.channels import Recorded
from biela.studio.ranges import Range, around, entry_ranges, input_range
from biela.studio.runs import answer
from biela.studio.settings import Analysis, Settings
from biela.studio.starting import coordinates_at, rates_at
from biela.studio.symbolic_drawing import Drawn
from biela.studio.symbolic_source import SymbolicSource
from biela.studio.table import Table

__all__ = ["SymbolicSession"]

Floats = npt.NDArray[np.float64]

#: A file of symbols has no table of times: seconds of a motion, and between instants.
_SPAN: Final = (5.0, 0.02)
#: Positions in which forces are compared: in that of the start alone a weight may do nothing.
_SHIFTS: Final = (0.0, 0.5, 1.0)


class SymbolicSession(Table):
    """A system of symbols on the table.

    Args:
        source: Where it comes from.

    Raises:
        BielaError: Its equations cannot be derived.
    """

    analyses: ClassVar[tuple[Analysis, ...]] = (
        Analysis.DYNAMICS,
        Analysis.KINEMATICS,
        Analysis.EQUILIBRIUM,
    )

    def __init__(self, source: SymbolicSource) -> None:
        super().__init__(source.given.name, Settings(Analysis.DYNAMICS, *_SPAN))
        self.source = source
        self._drawn: Drawn | None = None
        self._scene: Scene | None = None
        self._first = source.system({})

    # ---------------------------------------------------------------------------- answers

    @property
    def system(self) -> bl.System:
        """The equations at the parameters that are chosen.

        Raises:
            BielaError: There is no such parameter.
        """
        return self.source.system(self.settings.parameters)

    @property
    def described(self) -> bl.SymbolicSystem:
        """The system with its parameters and its start as they are now.

        Raises:
            BielaError: There is no such coordinate.
        """
        settings = self.settings
        return self.source.model(settings.parameters, {**settings.q, **settings.v})

    @property
    def asked(self) -> Mapping[str, object]:
        """Nothing: symbols do not say what is to be seen."""
        return {}

    def open(self) -> None:
        """Let it move by its forces; what cannot stands where it begins."""
        if not self.run() and self.motion is None:
            self.pose = self._start

    def _ask(self, watch: Watch | None) -> None:
        system = self.system
        with watched(watch):
            found = answer(system, self.settings)
        self.note, self.error = found.note, found.warning
        if found.motion is None:
            self.pose = found.q
            return
        self._take(system, found.motion)
        self._told = found.note

    def _take(self, system: bl.System, motion: Results) -> None:
        drawn = Drawn(system, np.array(motion.t), np.array(motion["q"]))
        self._drawn, self._scene = drawn, drawn.scene()
        self.motion, self.quantities, self.pose = motion, Recorded(motion), None
        q, v = coordinates_at(motion), rates_at(motion)
        # the whole position is kept once one value is given, so that the branch is
        given = (*self.settings.q, *q) if self.settings.q else ()
        self.choose(
            q={name: q[name] for name in dict.fromkeys(given)},
            v={name: v.get(name, x) for name, x in self.settings.v.items()},
        )
        self._keep_time(np.array(motion.t))

    # ---------------------------------------------------------------------------- sliders

    def parameters(self) -> list[Range]:
        """The parameters, whose units nobody has told."""
        changed = self.settings.parameters
        return [around(e.name, e.value, changed.get(e.name, e.value)) for e in self._first.p]

    def inputs(self) -> list[Range]:
        """The inputs, so far that each can do about as much as all other forces."""
        given, system = self.settings.inputs, self._first
        rest = self._forces(np.zeros(len(system.u)))
        found = []
        for entry, unit in zip(system.u, np.eye(len(system.u)), strict=True):
            share = np.abs(self._forces(unit) - rest).max(initial=0.0)
            weight = np.abs(rest).max(initial=0.0)
            enough = float(f"{weight / share:.1g}") if share > 0 and weight > 0 else 1.0
            span = max(enough, 2 * abs(entry.value))
            found.append(input_range(entry.name, given.get(entry.name, entry.value), span, ""))
        return found

    def _forces(self, u: Floats) -> Floats:
        """The generalised forces of some positions near the start, not moving."""
        system = self._first
        if any(a.name == "lam" for a in system["Q"].inputs):  # friction: not known beforehand
            return np.zeros(1)
        places = [self._start + shift for shift in _SHIFTS]
        found: Floats = np.array([system.evaluate("Q", q, u=u) for q in places], dtype=float)
        return np.where(np.isfinite(found), found, 0.0)

    def starts(self) -> list[Range]:
        """The coordinates; not those of orientations, four of which depend on each other."""
        wanted = self.settings.q if self.error else {}  # which could not be had
        real = {} if self.motion is None else coordinates_at(self.motion)
        system = self._first
        turned = {k + j for k in system.quaternions for j in range(4)}
        entries = [e for k, e in enumerate(system.q) if k not in turned]
        ends = {
            e.name: (e.lower, e.upper) for e in entries if np.isfinite([e.lower, e.upper]).all()
        }
        return entry_ranges(entries, {**real, **wanted}, self.size, ends)

    def rates(self) -> list[Range]:
        """The velocities."""
        wanted = self.settings.v if self.error else {}
        real = {} if self.motion is None else rates_at(self.motion)
        return entry_ranges(self._first.v, {**real, **wanted}, self.size)

    # ---------------------------------------------------------------------------- what is shown

    @property
    def _start(self) -> Floats:
        return np.array([entry.value for entry in self._first.q])

    def coordinates(self) -> dict[str, float]:
        """The position that is shown, by name."""
        q = self._start if self.pose is None else self.pose
        if self.pose is None and self.motion is not None:
            q = np.asarray(self.motion["q"])[round(self.place)]
        return dict(zip((entry.name for entry in self._first.q), q.tolist(), strict=True))

    def _posed(self, view: str = "") -> Scene:
        q = np.array([*self.coordinates().values()])
        return Drawn(self.system, np.zeros(1), q[None]).scene(view)

    @property
    def scene(self) -> Scene:
        """The motion, or else the position that is shown.

        Raises:
            BielaError: There is no such parameter.
        """
        if self._scene is None:
            self._scene = self._posed()
        return self._scene

    def posed_scene(self) -> Scene | None:
        """The position of rest, or that in which it cannot move; None in motion."""
        return None if self.pose is None else self._posed(self.scene.view)

    @property
    def flat(self) -> bool:
        """Whether all that is drawn moves in a plane."""
        return self.scene.view in PLANES

    @property
    def points(self) -> Sequence[str]:
        """The points that move."""
        return () if self._drawn is None else self._drawn.moving

    def ways(self, points: Sequence[str]) -> list[Floats]:
        """The ways of points.

        Raises:
            UnknownNameError: There is no such point.
        """
        known = {} if self._drawn is None else self._drawn.points
        for name in points:
            if name not in known:
                raise UnknownNameError(f"{self.name} has no point {name!r}{nearest(name, known)}")
        return [known[name] for name in points]
