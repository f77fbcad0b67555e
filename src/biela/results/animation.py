"""A scene that runs: films, and a page to play with."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from html import escape
from io import BufferedWriter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from biela.budgets import FRAMES, PIXELS, check_memory, within
from biela.errors import ResultsError
from biela.given_files import path_of
from biela.results.channels import Array
from biela.results.scene import Scene
from biela.whole_files import whole_file

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Animation", "Progress"]

#: Called with the number of frames done and the number of all.
Progress: TypeAlias = Callable[[int, int], None]

_SUFFIXES = (".gif", ".mp4", ".html", ".htm")
_SHORTER = "give a higher speed=…, fewer fps=…, or a part of the motion, results.between(…)"


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
        if not min(size) >= 100:
            raise ResultsError(f"size = {size!r} should be two numbers of pixels, at least 100")
        pixels = f"{name}: a picture of size = {size!r} would have {{}} pixels"
        count = size[0] * size[1] if max(size) <= PIXELS else max(size)
        within(PIXELS, count, pixels, "give less", ResultsError)
        self.name, self.t, self.scene = name, t, scene
        self.fps, self.speed = float(fps), float(speed)
        # films are compressed in blocks of two by two
        self.size = (int(size[0]) // 2 * 2, int(size[1]) // 2 * 2)

    def times(self, fps: float | None = None) -> Array:
        """The instants of the frames, equally far apart; the last is at or just before the end.

        Raises:
            ResultsError: there would be too many.
        """
        fps = fps or self.fps
        count = self._count(fps)
        what = f"{self.name}: an animation at {fps:g} frames a second would have {{}} frames"
        within(FRAMES, count, what, _SHORTER, ResultsError)
        times: Array = self.t[0] + self.speed / fps * np.arange(int(count))
        return times

    def _count(self, fps: float) -> float:
        """How many frames there are, beyond any limit."""
        with np.errstate(over="ignore"):
            span = np.float64(self.t[-1] - self.t[0]) * fps / self.speed
        return float(np.floor(span * (1 + 1e-12)) + 1)

    def frames(self, times: Array) -> Scene:
        """The scene at those times.

        Raises:
            ResultsError: it would take too much memory.
        """
        # a page has each number as an object, and as a text
        numbers = 6.0 * len(times) * self.scene.moving_numbers
        what = f"{self.name}: {len(times):,} frames would take {{}}"
        check_memory(numbers, what, _SHORTER, ResultsError)
        return self.scene.at(self.t, times) if self.scene.count > 1 else self.scene

    def save(self, path: str | Path, progress: Progress | None = None) -> Path:
        """Write a film (.gif, .mp4) or a page (.html); returns its path.

        Raises:
            ResultsError: the suffix is none of these, the file cannot be written, or ffmpeg, which
                makes .mp4, is not installed.
        """
        path = path_of(path, ResultsError)
        suffix = path.suffix.lower()
        if suffix not in _SUFFIXES:
            raise ResultsError(f"{path}: the name should end in {', '.join(_SUFFIXES[:3])}")
        with whole_file(path, ResultsError) as file:
            if suffix == ".gif":
                self._save_gif(file, progress)
            elif suffix == ".mp4":
                self._save_mp4(file, path, progress)
            else:
                file.write(self.html().encode())
                if progress is not None:
                    progress(len(self.times()), len(self.times()))
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
        frames = f"{self._count(self.fps):.0f} frames"
        return f"Animation({self.name!r}, {frames}, save it as .gif or .html)"

    # --- films ------------------------------------------------------------------------------------

    def _images(self, times: Array, progress: Progress | None) -> Iterator[Image]:
        """The frames, which are drawn one after the other."""
        from biela.results.drawing import Film
        from biela.results.raster import Raster

        raster = Raster(Film(self.name, times, self.frames(times), self.scene, self.size))

        def drawn() -> Iterator[Image]:
            for i in range(len(times)):
                yield raster.frame(i)
                if progress is not None:
                    progress(i + 1, len(times))

        return drawn()

    def _save_gif(self, file: BufferedWriter, progress: Progress | None) -> None:
        from PIL.Image import Dither

        # the format counts in hundredths of a second, and players refuse a single one: frames are
        # taken as far apart as they will be shown, or the film would run at another speed
        hundredths = max(2, round(100 / self.fps))
        images = self._images(self.times(100 / hundredths), progress)
        first = next(images)
        # one choice of colours for all frames; dithering would make them flicker
        palette = first.quantize(256)
        chosen = np.reshape(palette.getpalette() or [], (-1, 3))
        chosen[chosen.sum(axis=1).argmax()] = 255  # paper is white
        palette.putpalette(chosen.ravel().tolist())
        rest = (image.quantize(palette=palette, dither=Dither.NONE) for image in images)
        palette.save(
            file,
            "GIF",
            save_all=True,
            append_images=rest,
            duration=10 * hundredths,
            loop=0,
            disposal=1,
        )

    def _save_mp4(self, file: BufferedWriter, path: Path, progress: Progress | None) -> None:
        from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            raise ResultsError(
                f"{path}: writing .mp4 needs the program ffmpeg, which is not installed: "
                f"install it, or write {path.stem}.gif or {path.stem}.html instead"
            )
        images = self._images(self.times(), progress)
        width, height = self.size
        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
        made = ["-vcodec", "h264", "-pix_fmt", "yuv420p", "-f", "mp4", "-y", str(file.name)]
        command = [FFMpegWriter.bin_path(), "-loglevel", "error", *raw]
        command += ["-framerate", repr(self.fps), "-i", "pipe:", *made]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            assert process.stdin is not None and process.stderr is not None
            try:
                for image in images:
                    process.stdin.write(image.tobytes())
                process.stdin.close()
            except BrokenPipeError:
                pass  # it says why
            said = process.stderr.read().decode(errors="replace").strip()
        if process.returncode:
            raise ResultsError(f"{path}: cannot be written (ffmpeg: {said or 'stopped'})")
