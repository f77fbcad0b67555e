"""The methods of results that draw; matplotlib is loaded when the first is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from biela.errors import ResultsError
from biela.results.animation import Animation, Progress
from biela.results.frames import PointMotion
from biela.results.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biela.results.results import Results

__all__ = ["Pictures"]

#: Seconds of a film at least and at most, if nothing is said of its speed.
_SHORTEST, _LONGEST = 3.0, 1800.0


class Pictures:
    """What results can draw of themselves. Every method returns what it made."""

    def plot(self, *names: str, against: str = "t", save: str | Path | None = None) -> Figure:
        """Draw channels over time, one axes a unit, with thin lines at the events.

        Args:
            names: names, groups ("q", "v") or patterns ("theta*"); by default the coordinates.
            against: the channel across, if not the time; the first instant is marked then.
            save: file to write the figure to; its suffix says the format.

        Raises:
            UnknownNameError: nothing is called so, or nothing matches.
            ResultsError: there is nothing to draw, or the file cannot be written.
        """
        from biela.results.plots import over

        results = cast("Results", self)
        default = ("q",) if "q" in results.groups else results.names
        chosen = results.select(*(names or default))
        if not chosen:
            raise ResultsError(f"{results.name!r} has no such channels to draw")
        return over(results, chosen, against, save)

    def plot_phase(self, x: str, y: str | None = None, *, save: str | Path | None = None) -> Figure:
        """Draw one channel over another: a coordinate and its rate, or any two.

        Args:
            x: the channel across.
            y: the channel up; by default the rate of x.
            save: file to write the figure to; its suffix says the format.

        Raises:
            UnknownNameError: a channel is not there.
            ResultsError: the rate of x is not known, or the file cannot be written.
        """
        from biela.results.plots import phase

        return phase(cast("Results", self), x, y, save)

    def plot_path(
        self, *points: str | PointMotion, plane: str = "", save: str | Path | None = None
    ) -> Figure:
        """Draw the ways of points, with the start marked and lengths alike in all directions.

        Args:
            points: names of points with channels `name.x`, `name.y`, `name.z`, of frames, or
                points of frames, `r.frame("rod").point((0.1, 0, 0))`.
            plane: "xy", "xz" … with the axis across first, or "3d"; by default the plane they move
                in, if there is one.
            save: file to write the figure to; its suffix says the format.

        Raises:
            UnknownNameError: a point is not there.
            ResultsError: a coordinate of it is not known, or the file cannot be written.
        """
        from biela.results.paths import paths

        results = cast("Results", self)
        return paths({results.name: results}, points, plane, save)

    def plot_monitors(self, *, save: str | Path | None = None) -> Figure:
        """Draw the energy, the constraint error and whatever else was watched.

        Args:
            save: file to write the figure to; its suffix says the format.

        Raises:
            ResultsError: nothing was watched, or the file cannot be written.
        """
        from biela.results.plots import monitors

        return monitors(cast("Results", self), save)

    def draw(
        self,
        time: float | None = None,
        *,
        trace: Sequence[str | PointMotion] = (),
        size: tuple[int, int] = (800, 600),
        save: str | Path | None = None,
    ) -> Figure:
        """Draw the scene at a time, by default the first.

        Args:
            time: in seconds.
            trace: points whose paths up to then are drawn, as in `plot_path`.
            size: width and height in pixels.
            save: file to write the figure to; its suffix says the format.

        Raises:
            UnknownNameError: a point is not there.
            ResultsError: there is no scene, the time lies outside the stored interval, or the file
                cannot be written.
        """
        from biela.results.drawing import still

        results = cast("Results", self)
        film = self.animate(trace=trace, size=size)
        return still(film, results.t[0] if time is None else time, save)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        trace: Sequence[str | PointMotion] = (),
        fps: float = 25.0,
        speed: float | None = None,
        size: tuple[int, int] = (800, 600),
        progress: Progress | None = None,
    ) -> Animation:
        """Animate the scene; the animation shows itself in a notebook.

        The frames are equally far apart in time and the film runs at `speed` times real time.

        Args:
            path: file to write; .gif and .mp4 are films, .html a page to play with.
            trace: points that leave their paths behind them, as in `plot_path`.
            fps: frames a second of the film.
            speed: simulated seconds a second of the film; 0.1 is slow motion (default: real time,
                but slower for a run shorter than three seconds, so that there is something to see,
                and faster for one longer than half an hour).
            size: width and height in pixels.
            progress: called with the number of frames written and the number of all.

        Raises:
            UnknownNameError: a point is not there.
            ResultsError: there is no scene, an argument makes no sense, there are more frames than
                the limit, the file cannot be written, or an .mp4 is asked for where ffmpeg is not
                installed.
        """
        results = cast("Results", self)
        if results.scene is None:
            raise ResultsError(
                f"{results.name!r} has no scene to draw: give Results(…, scene=Scene([…]))"
            )
        if speed is None:
            span = float(results.t[-1] - results.t[0])
            speed = max(min(1.0, span / _SHORTEST) or 1.0, span / _LONGEST)
        scene = results.scene
        if trace:
            from biela.results.paths import traces

            scene = Scene([*scene.shapes, *traces(results, trace)], scene.view)
        animation = Animation(results.name, results.t, scene, fps, speed, size)
        if path is not None:
            animation.save(path, progress)
        return animation
