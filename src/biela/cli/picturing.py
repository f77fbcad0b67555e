"""Plots of chosen channels, paths of points, animations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biela.cli.tables import console
from biela.results import Results, overlay

#: Channels beyond these are not listed in a table of extremes.
_LISTED = 12


@dataclass(frozen=True)
class Pictures:
    """What is drawn.

    Attributes:
        plots: Channels, groups or patterns that are drawn together; "a:b" draws b over a apart.
        against: The channel across of those drawn together, "t" for the time.
        paths: Points and frames whose ways are drawn.
        wanted: Whether anything is drawn at all.
    """

    plots: tuple[str, ...] = ()
    against: str = "t"
    paths: tuple[str, ...] = ()
    wanted: bool = True

    def named(self, full: Callable[[str], str]) -> Pictures:
        """The same with the full name of each channel."""
        plots = tuple(":".join(full(part) for part in text.split(":", 1)) for text in self.plots)
        return Pictures(plots, full(self.against), self.paths, self.wanted)

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

    def shown(self, results: Results) -> list[str]:
        """The channels that are asked for, or else coordinates and outputs; a few.

        Raises:
            UnknownNameError: There is no such channel.
        """
        if self.channels:
            return results.select(*self.channels)[:_LISTED]
        return [*results.select("q"), *known_outputs(results)][:_LISTED]

    def draw(self, results: Results, folder: Path, reference: Results | None = None) -> list[Path]:
        """Write the figures, with the data of a reference; the paths.

        Raises:
            ResultsError: There is no such channel, or a file cannot be written.
        """
        if not self.wanted:
            return []
        written = []
        names = results.select(*self.together) if self.together else []
        if names:
            written.append(folder / "plot.png")
            if reference is not None:
                overlay(
                    {results.name: results},
                    names,
                    against=self.against,
                    reference=reference if self.against in ("t", *reference.names) else None,
                    save=written[-1],
                )
            else:
                results.plot(*names, against=self.against, save=written[-1])
        for x, y in self.pairs:
            written.append(folder / f"{_file(y)}_over_{_file(x)}.png")
            results.plot_phase(x, y, save=written[-1])
        if self.paths:
            written.append(folder / "path.png")
            results.plot_path(*self.paths, save=written[-1])
        if not written:
            written += self._usual(results, folder, reference)
        return written

    def _usual(self, results: Results, folder: Path, reference: Results | None) -> list[Path]:
        """Coordinates, outputs and what a reference has, where nothing is asked for."""
        written = [folder / "coordinates.png"]
        results.plot(save=written[-1])
        outputs = known_outputs(results)
        if outputs:
            written.append(folder / "outputs.png")
            results.plot(*outputs, save=written[-1])
        common = [name for name in reference.names if name in results] if reference else []
        if common:
            written.append(folder / "reference.png")
            overlay({results.name: results}, common, reference=reference, save=written[-1])
        return written


def known_outputs(results: Results) -> list[str]:
    """The outputs that have values: forces of joints have none in a motion without forces."""
    outputs = results.select("y") if "y" in results.groups else []
    return [name for name in outputs if np.isfinite(results[name]).any()]


def _file(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)


def animate(results: Results, path: Path) -> Path:
    """Write an animation; on a terminal a bar shows how far it is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    out = console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(f"drawing {path.name}", total=None)
        results.animate(
            path,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    return path
