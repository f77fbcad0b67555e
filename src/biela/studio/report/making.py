"""The parts of a report, made one after the other, each with its time."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from typing import TypeAlias

import biela as bl
from biela.errors import AssemblyError, BielaError
from biela.model.joints import Joint
from biela.studio.report import loads, plots
from biela.studio.report.description import description_parts, figures_of
from biela.studio.report.document import Chapter, document
from biela.studio.report.fragments import Fragment, made, number, table, trouble, words
from biela.studio.report.motion import Course, course, uncommanded
from biela.studio.settings import Analysis, Settings
from biela.studio.topology import Describable, topology_parts
from biela.studio.topology_structure import Structure

__all__ = ["Making", "Progress"]

#: Told what is being done, and how many of how many parts are.
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass
class Making:
    """A report in the making.

    Attributes:
        model: What it is about.
        settings: How long it moves, and in which steps.
        channels: What is plotted besides the usual.
        command: What makes the same report again.
        progress: Told how far it is.
        times: What each part took (s).
    """

    model: Describable
    settings: Settings
    channels: Sequence[str] = ()
    command: str = ""
    progress: Progress | None = None
    times: dict[str, float] = field(default_factory=dict)
    _course: Course | None = None
    _failure: str = ""
    _open: bool = False
    _done: int = 0
    _total: int = 1

    def page(self) -> str:
        """All parts, in the order of a reader."""
        symbolic = isinstance(self.model, bl.SymbolicSystem)
        structure = Structure(self.model) if isinstance(self.model, bl.Model) else None
        structural = topology_parts(self.model, structure)
        self._total = len(structural) + 4 + 2 * (not symbolic)
        self._move()
        if structure is not None:
            structure.open = self._open
        chapters = [
            Chapter("Model", tuple(self._described())),
            Chapter("Motion", (self._on_course("", "animation", self._animation),)),
            Chapter("Plots", (self._on_course("", "plots", self._plots),)),
            Chapter("Extreme values", (self._on_course("", "extreme values", self._extremes),)),
        ]
        if isinstance(self.model, bl.Model):
            carried = self._on_course("Reactions", "reactions", self._reactions)
            given = self._on_course("Motors", "motors", self._motors)
            chapters.append(Chapter("Loads", (carried, given)))
        pieces = tuple(self._timed(title, title, maker) for title, maker in structural.items())
        chapters.append(Chapter("Structure", tuple(p for p in pieces if p.title not in _LATE)))
        chapters.append(Chapter("Equations", tuple(p for p in pieces if p.title in _LATE)))
        chapters.append(Chapter("Timings", (Fragment("", self._timings()),)))
        chapters.append(Chapter("How to make it again", (Fragment("", self._again()),)))
        lead = [
            self.model.description if isinstance(self.model, bl.Model) else "",
            f"Made by biela {bl.__version__} on {datetime.now():%d %B %Y, %H:%M}, "
            f"{platform.system()}, Python {platform.python_version()}.",
        ]
        return document(self.model.name, lead, self._cards(structure), chapters)

    # ------------------------------------------------------------------------------ parts

    def _tell(self, what: str) -> None:
        if self.progress is not None:
            self.progress(what.lower(), self._done, self._total)

    def _timed(self, title: str, what: str, maker: Callable[[], str]) -> Fragment:
        self._tell(what)
        began = time.perf_counter()
        fragment = made(title, maker)
        self.times[what.lower()] = time.perf_counter() - began
        self._done += 1
        return fragment

    def _move(self) -> None:
        """The motion, or the reason why there is none."""
        self._tell("motion")
        began = time.perf_counter()
        try:
            self._course = course(self.model, self.settings)
        except BielaError as error:
            self._failure = str(error)
            self._open = isinstance(error.__cause__ or error, AssemblyError)
        self.times["motion"] = time.perf_counter() - began
        self._done += 1

    def _on_course(self, title: str, what: str, maker: Callable[[Course], str]) -> Fragment:
        """A part that needs the motion; without one, the reason."""
        found = self._course
        if found is None:
            self._done += 1
            why = self._failure if what == "animation" else "The reason stands under Motion."
            return Fragment(title, trouble(f"There is no motion. {why}"), failed=True)
        return self._timed(title, what, lambda: maker(found))

    def _described(self) -> list[Fragment]:
        try:
            figures = Fragment("", table(("", ""), figures_of(self.model)))
            parts = description_parts(self.model)
        except BielaError as error:
            return [Fragment("", trouble(str(error)), failed=True)]
        return [figures, *(Fragment(title, html) for title, html in parts.items())]

    def _animation(self, found: Course) -> str:
        span = found.motion.t[-1] - found.motion.t[0]
        how = (
            "as its drivers impose it"
            if found.analysis is Analysis.KINEMATICS
            else "by the forces that act on it"
        )
        said = words(f"{span:.4g} s, {len(found.motion)} instants, {how}.")
        if found.analysis is Analysis.DYNAMICS:
            said += words(self._left_alone())
        warned = trouble(found.warning) if found.warning else ""
        return said + warned + plots.animation(self.model, found)

    def _left_alone(self) -> str:
        """What moves it not, though a reader may think so: motors without inputs, and limits."""
        idle = uncommanded(self.model)
        told = []
        if idle:
            told.append(f"Nobody commands {', '.join(idle)}: their inputs are zero.")
        joints = self.model.joints.values() if isinstance(self.model, bl.Model) else ()
        if any(isinstance(joint, Joint) and joint.limits for joint in joints):
            told.append("Limits of joints hold nothing: that they are passed is told as an event.")
        return " ".join(told)

    def _plots(self, found: Course) -> str:
        return plots.plots(self.model, found.motion, self.channels)

    def _extremes(self, found: Course) -> str:
        return plots.extremes(self.model, found, self.channels)

    def _reactions(self, found: Course) -> str:
        assert isinstance(self.model, bl.Model)
        return loads.reactions(self.model, found)

    def _motors(self, found: Course) -> str:
        assert isinstance(self.model, bl.Model)
        return loads.motors(self.model, found)

    # -------------------------------------------------------------------------- end and top

    def _timings(self) -> str:
        html = ""
        if self._course is not None and self._course.motion.statistics is not None:
            html = "<h4>The motion</h4>" + table(("", ""), self._course.motion.statistics.rows())
        rows = [(what, round(seconds, 3)) for what, seconds in self.times.items()]
        rows.append(("all", round(sum(self.times.values()), 3)))
        return html + "<h4>This report</h4>" + table(("part", "time [s]"), rows)

    def _again(self) -> str:
        return f"<pre>{escape(self.command)}</pre>" + words(
            "Times differ from run to run and from machine to machine; the rest is the same.",
            "caption",
        )

    def _cards(self, structure: Structure | None) -> list[tuple[str, str]]:
        """The figures at a glance."""
        cards: list[tuple[str, str]] = []
        if structure is not None:
            found = structure.check
            topology = found.topology
            cards += [
                ("bodies", f"{topology.bodies:,}"),
                ("joints", f"{topology.joints:,}"),
                ("loops", f"{topology.loops:,}"),
            ]
            if self._open:
                cards.append(("can be assembled", "no"))
            elif found.freedoms is not None:
                cards.append(("degrees of freedom", f"{found.freedoms:,}"))
            cards.append(("driven", f"{topology.driven:,}"))
            if found.mobility is not None and not self._open:
                cards.append(("redundant constraints", f"{len(found.mobility.redundant):,}"))
        if self._course is not None:
            motion = self._course.motion
            cards.append(("coordinates", f"{len(self._course.system.q):,}"))
            cards.append(("duration", f"{number(float(motion.t[-1] - motion.t[0]))} s"))
            statistics = motion.statistics
            if statistics is not None and statistics.max_constraint_error is not None:
                closed = f"{statistics.max_constraint_error:.0e}".replace("-", "−")
                cards.append(("joints closed to [m, rad]", closed))
        return cards


#: Pieces of the structure that stand with the equations.
_LATE = ("Sparsity", "Equations")
