"""Live plots: any quantity against the time or any other, with values at the cursor and now."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import viser
from viser import uplot

from biela.results import Results
from biela.results.style import COLORS
from biela.studio.channels import TIME, Curve, curve, menu, usual
from biela.studio.svg_plot import xy_plot
from biela.studio.view.binding import on_change, on_click
from biela.studio.view.worker import Worker

__all__ = ["Plots"]

Floats = npt.NDArray[np.float64]

_HEIGHT: Final = 250
_GREY: Final = "#999999"
_MOST: Final = 5


class Plots:
    """The panel with the plots of one page.

    Args:
        client: The page.
        worker: Of its visitor.
        tab: Where they go.
    """

    def __init__(self, client: viser.ClientHandle, worker: Worker, tab: Any) -> None:
        self._gui = client.gui
        self._motion: Results | None = None
        self._names: list[str] = []
        self._across = TIME
        self._place = 0.0
        self._menu: Mapping[str, Mapping[str, str]] = {}
        self._chart: Any = None
        self._tab = tab
        with self._tab:
            self._drawing: Any = self._gui.add_html("", visible=False)
            self._now: Any = self._gui.add_html("")
            self._owner: Any = self._gui.add_dropdown("of", ("-",))
            self._quantity: Any = self._gui.add_dropdown("quantity", ("-",))
            self._buttons: Any = self._gui.add_button_group("curve", ("Add", "Only this", "Clear"))
            self._across_choice: Any = self._gui.add_dropdown(
                "against", (TIME,), hint="the axis across: the time, or what is chosen above"
            )
        on_change(worker, self._owner, "plot owner", self._choose_owner)
        on_click(worker, self._buttons, "plot curve", self._press)
        on_change(worker, self._across_choice, "plot across", self._choose_across)

    # ------------------------------------------------------------------------------- contents

    def show(self, motion: Results, wanted: object, fresh: bool) -> None:
        """Plot a motion; if it is of another model, what that asks for."""
        self._motion, self._menu = motion, menu(motion)
        kept = [name for name in self._names if name in motion]
        if fresh or not kept:
            self._names, self._across = usual(motion, wanted), TIME
        else:
            self._names = kept
        if self._across != TIME and self._across not in motion:
            self._across = TIME
        owners = tuple(self._menu)
        if tuple(self._owner.options) != owners:
            self._owner.options = owners
            self._choose_owner(owners[0])
        self._offer()
        self._draw()

    @property
    def names(self) -> tuple[str, ...]:
        """What is plotted."""
        return tuple(self._names)

    def _offer(self) -> None:
        """The quantities for the axis across: the time, those plotted, and the one chosen."""
        chosen = self._chosen()
        offered = dict.fromkeys((TIME, self._across, *self._names, *([chosen] if chosen else [])))
        self._across_choice.options = tuple(offered)
        self._across_choice.value = self._across

    def _choose_owner(self, owner: str) -> None:
        self._quantity.options = tuple(self._menu.get(owner, {"-": ""}))
        self._offer()

    def _chosen(self) -> str:
        return self._menu.get(self._owner.value, {}).get(self._quantity.value, "")

    def _press(self) -> None:
        name, button = self._chosen(), self._buttons.value
        if button == "Clear":
            self._names = []
        elif button == "Only this":
            self._names = [name]
        elif name not in self._names:
            self._names = [*self._names, name][-_MOST:]
        self._names = [each for each in self._names if each]
        self._offer()
        self._draw()

    def _choose_across(self, name: str) -> None:
        self._across = name
        self._draw()

    # ------------------------------------------------------------------------------- drawing

    def _curves(self) -> tuple[Curve, list[Curve]]:
        assert self._motion is not None, "only drawn with a motion"
        across = curve(self._motion, self._across)
        up = [name for name in self._names if name != self._across] or self._names
        return across, [curve(self._motion, name) for name in up]

    def _draw(self) -> None:
        if self._motion is None:
            return
        if self._chart is not None:
            self._chart.remove()  # a chart with other lines is another chart
            self._chart = None
        timely = self._across == TIME
        self._drawing.visible = bool(self._names) and not timely
        self._now.content = ""
        if self._names and timely:
            self._chart = self._made(*self._curves())
        self.move(self._place)

    def _made(self, across: Curve, up: list[Curve]) -> Any:
        """Lines over the time, with an axis each for the first two units, and a mark for now."""
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
        with self._tab:
            return self._gui.add_uplot(
                self._data(across, up),
                tuple(series),
                axes=tuple(axes),
                scales=scales,
                height=_HEIGHT,
                order=-1.0,
            )

    def _data(self, across: Curve, up: list[Curve]) -> tuple[Floats, ...]:
        """The time, the lines, and a needle where the motion is now."""
        count = len(across.values)
        at = min(max(round(self._place), 0), count - 1)
        needle = np.zeros(count)
        needle[at] = 1.0
        return (across.values, *(each.values for each in up), needle)

    def move(self, place: float) -> None:
        """Show where the motion is now."""
        self._place = place
        if self._motion is None or not self._names:
            return
        across, up = self._curves()
        if self._chart is not None:
            self._chart.data = self._data(across, up)
        else:
            t = np.array(self._motion.t)
            self._drawing.content = xy_plot(t, across, up, place)
        rows = [across, *up]
        cells = (
            f'<span style="margin-right:14px;white-space:nowrap"><b>{escape(row.name)}</b> '
            f"{row.told(place)} {escape(row.unit)}</span>"
            for row in rows
        )
        self._now.content = (
            '<div class="studio-now" style="font-size:0.78em;padding:2px 12px;line-height:1.5">'
            f"{' '.join(cells)}</div>"
        )


def _scale(units: list[str], unit: str) -> str:
    """The scale of a unit: one axis each for the first two, the second for all others."""
    return "y" if unit == units[0] else "y2"
