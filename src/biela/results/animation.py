"""A scene that runs: films, and a page to play with."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from biela.errors import ResultsError
from biela.results.channels import Array
from biela.results.scene import Scene

__all__ = ["Animation", "Progress"]

#: Called with the number of frames done and the number of all.
Progress: TypeAlias = Callable[[int, int], None]

_SUFFIXES = (".gif", ".mp4", ".html", ".htm")


class Animation:
    """A scene, its instants, and the pace to show it at. Shows itself in a notebook.

    Attributes:
        name: the title.
        t: the instants of the scene, (k,).
        scene: what moves.
        fps: frames a second of the film.
        speed: simulated seconds a second of the film.
        size: width and height in pixels.
    """

    def __init__(
        self,
        name: str,
        t: Array,
        scene: Scene,
        fps: float = 25.0,
        speed: float = 1.0,
        size: tuple[int, int] = (800, 600),
    ) -> None:
        """Choose the pace and the size.

        Raises:
            ResultsError: the pace is not positive, or the picture too small.
        """
        for what, value in (("fps", fps), ("speed", speed)):
            if not (np.isfinite(value) and value > 0):
                raise ResultsError(f"{what} = {value!r} should be a positive number")
        if min(size) < 100:
            raise ResultsError(f"size = {size!r} should be two numbers of pixels, at least 100")
        self.name, self.t, self.scene = name, t, scene
        self.fps, self.speed = float(fps), float(speed)
        # films are compressed in blocks of two by two
        self.size = (int(size[0]) // 2 * 2, int(size[1]) // 2 * 2)

    def times(self, fps: float | None = None) -> Array:
        """The instants of the frames, equally far apart; the last is at or just before the end."""
        step = self.speed / (fps or self.fps)
        count = int(np.floor((self.t[-1] - self.t[0]) / step * (1 + 1e-12)) + 1)
        times: Array = self.t[0] + step * np.arange(count)
        return times

    def frames(self, times: Array) -> Scene:
        """The scene at those times."""
        return self.scene.at(self.t, times) if self.scene.count > 1 else self.scene

    def save(self, path: str | Path, progress: Progress | None = None) -> Path:
        """Write a film (.gif, .mp4) or a page (.html); returns its path.

        Raises:
            ResultsError: the suffix is none of these, the file cannot be written, or ffmpeg, which
                makes .mp4, is not installed.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in _SUFFIXES:
            raise ResultsError(f"{path}: the name should end in {', '.join(_SUFFIXES[:3])}")
        try:
            if suffix == ".gif":
                self._save_gif(path, progress)
            elif suffix == ".mp4":
                self._save_mp4(path, progress)
            else:
                path.write_text(self.html(), encoding="utf-8")
                if progress is not None:
                    progress(len(self.times()), len(self.times()))
        except OSError as error:
            raise ResultsError(f"{path}: cannot be written ({error.strerror or error})") from error
        return path

    def html(self) -> str:
        """The page: self-contained, with controls, and in space an eye to move with the mouse."""
        from biela.results.page import page

        return page(self)

    def _repr_html_(self) -> str:
        width, height = self.size
        return (
            f'<iframe srcdoc="{escape(self.html())}" width="{width}" height="{height + 48}" '
            f'style="border:0;max-width:100%" title="{escape(self.name)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Animation({self.name!r}, {len(self.times())} frames, save it as .gif or .html)"

    # --- films ------------------------------------------------------------------------------------

    def _save_gif(self, path: Path, progress: Progress | None) -> None:
        from matplotlib.animation import PillowWriter

        # the format counts in hundredths of a second, and players refuse a single one: frames are
        # taken as far apart as they will be shown, or the film would run at another speed
        fps = 100 / max(2, round(100 / self.fps))
        # a little slower, as the writer rounds the milliseconds between frames down
        pace: Any = fps * (1 - 1e-9)
        self._write(PillowWriter(fps=pace), path, self.times(fps), progress)

    def _save_mp4(self, path: Path, progress: Progress | None) -> None:
        from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            raise ResultsError(
                f"{path}: writing .mp4 needs the program ffmpeg, which is not installed: "
                f"install it, or write {path.stem}.gif or {path.stem}.html instead"
            )
        pace: Any = self.fps
        self._write(FFMpegWriter(fps=pace), path, self.times(), progress)

    def _write(self, writer: object, path: Path, times: Array, progress: Progress | None) -> None:
        from matplotlib.animation import AbstractMovieWriter

        from biela.results.drawing import Film

        assert isinstance(writer, AbstractMovieWriter)
        film = Film(self.name, times, self.frames(times), self.scene, self.size)
        film.freeze()
        with writer.saving(film.figure, str(path), film.figure.dpi):
            for i in range(len(times)):
                film.draw(i)
                writer.grab_frame()
                if progress is not None:
                    progress(i + 1, len(times))
