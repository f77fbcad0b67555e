"""Figures inside of a page: drawings as data, which no browser has to ask for."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from biela.errors import ResultsError
from biela.results.panels import legend, line, stack
from biela.results.style import styled
from biela.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves_figure", "figure_picture", "picture"]

Floats = npt.NDArray[np.float64]

#: A drawing of lines larger than this (bytes) is smaller as an image of pixels.
_LARGE: Final = 160_000
#: Who made a drawing, and when, is of no use inside of a page.
_METADATA: Final = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_PREAMBLE: Final = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)


def picture(draw: Callable[[Path], object], told: str, kind: str = "plot") -> str:
    """What a function draws to a file, as an element of a page.

    Lines stay lines, so that they are sharp on paper too, unless they are so many that pixels take
    less room.

    Args:
        draw: Writes a figure to the path that it is given, in the format of the suffix.
        told: What is to be seen, for those who do not see it.
        kind: Its class.

    Raises:
        BielaError: It cannot be drawn.
    """
    with TemporaryDirectory() as folder:
        lines = Path(folder) / "figure.svg"
        draw(lines)
        text = _METADATA.sub("", _PREAMBLE.sub("", lines.read_text(encoding="utf-8")))
        form, data = "svg+xml", text.encode()
        if len(data) > _LARGE:
            pixels = lines.with_suffix(".png")
            draw(pixels)
            form, data = min(
                ((form, data), ("png", pixels.read_bytes())), key=lambda found: len(found[1])
            )
    source = f"data:image/{form};base64,{b64encode(data).decode()}"
    return f'<figure class="{kind}"><img src="{source}" alt="{escape(told)}"></figure>'


def curves_figure(t: Floats, panels: Mapping[str, Mapping[str, Floats]]) -> Figure:
    """Curves over time, by name, in panels one above the other, by the labels of their axes."""
    with styled():
        figure, rows = stack(None, [2.2] * len(panels))
        for axes, (label, curves) in zip(rows, panels.items(), strict=True):
            for number, (name, values) in enumerate(curves.items()):
                line(axes, number, t, values, name)
            axes.set_ylabel(label)
            axes.margins(x=0.0)
            legend(axes)
    return figure


def figure_picture(figure: Figure, told: str, kind: str = "plot") -> str:
    """A figure of matplotlib as an element of a page."""
    from matplotlib.ticker import ScalarFormatter

    for axes in figure.axes:
        for name in ("xaxis", "yaxis", "zaxis"):
            axis = getattr(axes, name, None)
            ticks = axis.get_major_formatter() if axis is not None else None
            if isinstance(ticks, ScalarFormatter):  # half of the time goes into formulas of ticks
                ticks.set_useMathText(False)

    def draw(path: Path) -> None:
        with whole_file(path, ResultsError) as file, styled():
            figure.savefig(file, dpi=130, format=path.suffix[1:])

    return picture(draw, told, kind)
