"""A chart of curves over the time: lines, an axis for each of two units, and a needle for now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import viser
from viser import uplot

from biela.results.style import COLORS
from biela.studio.channels import Curve

__all__ = ["chart", "chart_data"]

Floats = npt.NDArray[np.float64]

_HEIGHT: Final = 250
_GREY: Final = "#999999"
#: Room around a chart (pixels: top, right, bottom, left), for half of the highest number.
_PADDING: Final = (14, 12, 0, 0)


def chart(gui: viser.GuiApi, time: Curve, up: Sequence[Curve], place: float) -> Any:
    """A chart of curves, where the context of the page is; see `chart_data`."""
    series: list[uplot.Series] = [{"label": "t [s]"}]
    units = list(dict.fromkeys(c.unit for c in up))
    for k, each in enumerate(up):
        color, scale = COLORS[k % len(COLORS)], _scale(units, each.unit)
        series.append({"label": each.label, "stroke": color, "width": 2, "scale": scale})
    no_points: uplot.Series_Points = {"show": False}
    series.append(
        {"label": "now", "stroke": _GREY, "width": 2, "scale": "now", "points": no_points}
    )
    axes: list[uplot.Axis] = [{"label": "time [s]", "labelSize": 20, "size": 34}]
    for k, unit in enumerate(units[:2]):
        axes.append(
            {
                "scale": _scale(units, unit),
                "label": unit or "1",
                "labelSize": 18,
                "size": 56,
                "side": 3 if k == 0 else 1,
                "grid": {"show": k == 0},
            }
        )
    scales: dict[str, uplot.Scale] = {"x": {"time": False}, "now": {"range": (0.0, 1.0)}}
    scales |= {_scale(units, unit): {"auto": True} for unit in units}
    return gui.add_uplot(
        chart_data(time, up, place),
        tuple(series),
        axes=tuple(axes),
        scales=scales,
        height=_HEIGHT,
        padding=_PADDING,
        order=-1.0,
    )


def chart_data(time: Curve, up: Sequence[Curve], place: float) -> tuple[Floats, ...]:
    """The time, the lines, and a needle at a place among the instants."""
    needle = np.zeros(len(time.values))
    needle[min(max(round(place), 0), len(needle) - 1)] = 1.0
    return (time.values, *(each.values for each in up), needle)


def _scale(units: Sequence[str], unit: str) -> str:
    """The scale of a unit: one axis each for the first two, the second for all others."""
    return "y" if unit == units[0] else "y2"
