"""Plots of chosen channels, paths of points, animations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from biela.cli.leaving import Left
from biela.cli.tables import console
from biela.results import Results, overlay
from biela.results.frames import FRAME_GROUPS
from biela.results.paths import traces

#: Channels beyond these are only counted in a table of extremes.
LISTED = 12
#: What draws a figure and saves it under the path it is given.
Figure: TypeAlias = Callable[..., object]


@dataclass(frozen=True)
class Pictures:
    """What is drawn.

    Attributes:
        plots: Channels, groups or patterns that are drawn together; "a:b" draws b over a apart.
        against: The channel across of those drawn together, "t" for the time.
        paths: Points and frames whose ways are drawn.
        wanted: Whether anything is drawn at all.
        traced: Points that leave their way behind in an animation, if not those of ``paths``.
    """

    plots: tuple[str, ...] = ()
    against: str = "t"
    paths: tuple[str, ...] = ()
    wanted: bool = True
    traced: tuple[str, ...] = ()

    def named(self, full: Callable[[str], str]) -> Pictures:
        """The same with the full name of each channel."""
        plots = tuple(":".join(full(part) for part in text.split(":", 1)) for text in self.plots)
        return replace(self, plots=plots, against=full(self.against))

    @property
    def together(self) -> tuple[str, ...]:
        """The channels of one figure."""
        return tuple(text for text in self.plots if ":" not in text)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Channels across and up of figures of their own."""
        split = [text.split(":", 1) for text in self.plots if ":" in text]
        return [(x, y) for x, y in split]

    @property
    def channels(self) -> tuple[str, ...]:
        """All names that are asked for."""
        across = () if self.against == "t" else (self.against,)
        return (*self.together, *across, *(name for pair in self.pairs for name in pair))

    @property
    def trace(self) -> tuple[str, ...]:
        """The points that leave their way behind in an animation."""
        return self.paths or self.traced

    def check(self, results: Results) -> None:
        """See whether results like these have all that is asked for.

        Raises:
            ResultsError: There is no such channel or point, with the nearest names.
        """
        results.select(*self.channels)
        traces(results, [*self.paths, *self.traced])

    def shown(self, results: Results) -> list[str]:
        """The channels that are asked for, or else coordinates and outputs.

        Raises:
            UnknownNameError: There is no such channel.
        """
        if self.channels:
            return results.select(*self.channels)
        return [*results.select("q"), *known_outputs(results)]

    def columns(self, results: Results) -> list[str]:
        """What a table for others has: all channels but those of frames, and those asked for.

        Raises:
            UnknownNameError: There is no such channel.
        """
        usual = [group for group in results.groups if group not in FRAME_GROUPS]
        names = [*results.select(*usual), *self.shown(results), *results.monitors]
        return list(dict.fromkeys(names))

    def draw(
        self, left: Left, results: Results, folder: Path, reference: Results | None = None
    ) -> None:
        """Write the figures, with the data of a reference."""
        if not self.wanted:
            return
        for name, figure in self._figures(results, reference).items():
            left.make(name, partial(_saved, figure, folder / name))

    def _figures(self, results: Results, reference: Results | None) -> dict[str, Figure]:
        """What writes each figure, by the name of its file."""
        found: dict[str, Figure] = {}
        if self.together:
            found["plot.png"] = partial(self._plot, results, reference)
        for x, y in self.pairs:
            found[f"{_file(y)}_over_{_file(x)}.png"] = partial(results.plot_phase, x, y)
        if self.paths:
            found["path.png"] = partial(results.plot_path, *self.paths)
        return found or self._usual(results, reference)

    def _plot(self, results: Results, reference: Results | None, *, save: Path) -> object:
        names = results.select(*self.together)
        if reference is None:
            return results.plot(*names, against=self.against, save=save)
        data = reference if self.against in ("t", *reference.names) else None
        return overlay(
            {results.name: results}, names, against=self.against, reference=data, save=save
        )

    def _usual(self, results: Results, reference: Results | None) -> dict[str, Figure]:
        """Coordinates, outputs and what a reference has, where nothing is asked for."""
        found: dict[str, Figure] = {"coordinates.png": results.plot}
        outputs = known_outputs(results)
        if outputs:
            found["outputs.png"] = partial(results.plot, *outputs)
        common = [name for name in reference.names if name in results] if reference else []
        if common:
            runs = {results.name: results}
            found["reference.png"] = partial(overlay, runs, common, reference=reference)
        return found


def known_outputs(results: Results) -> list[str]:
    """The outputs that have values: forces of joints have none in a motion without forces."""
    outputs = results.select("y") if "y" in results.groups else []
    return [name for name in outputs if np.isfinite(results[name]).any()]


def _saved(figure: Figure, path: Path) -> list[Path]:
    figure(save=path)
    return [path]


def _file(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)


def animate(results: Results, path: Path, trace: Sequence[str] = ()) -> Path:
    """Write an animation with the ways of points; on a terminal a bar shows how far it is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    out = console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(f"drawing {path.name}", total=None)
        results.animate(
            path,
            trace=trace,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    return path
