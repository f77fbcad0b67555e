"""Live plots: any quantity against the time or any other, with values at the cursor and now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np
import viser

from biela.errors import BielaError
from biela.studio.channels import TIME, Curve, Recorded, usual
from biela.studio.svg_plot import xy_plot
from biela.studio.view.aside import Aside
from biela.studio.view.binding import on_change, on_click
from biela.studio.view.chart import chart, chart_data
from biela.studio.view.worker import Worker

__all__ = ["Plots"]

_MOST: Final = 5


class Plots:
    """The panel with the plots of one page.

    Args:
        client: The page.
        worker: Of its visitor.
        aside: Finds loads, which may take seconds.
        tab: Where they go.
    """

    def __init__(self, client: viser.ClientHandle, worker: Worker, aside: Aside, tab: Any) -> None:
        self._gui, self._aside = client.gui, aside
        self._all: Recorded | None = None
        self._names: list[str] = []
        self._across = TIME
        self._place = 0.0
        self._by_hand: Mapping[str, float] | None = None
        self._failed: dict[str, str] = {}
        self._ready: set[str] = set()
        self._chart: Any = None
        self._lines: tuple[str, ...] = ()
        self._tab = tab
        with self._tab:
            self._drawing: Any = self._gui.add_html("", visible=False)
            self._now: Any = self._gui.add_html("")
            self._owner: Any = self._gui.add_dropdown("of", ("-",))
            self._quantity: Any = self._gui.add_dropdown("quantity", ("-",))
            self._buttons: Any = self._gui.add_button_group("curve", ("Add", "Only this", "Clear"))
            self._across_owner: Any = self._gui.add_dropdown(
                "against", (TIME,), hint="the axis across: the time, or a quantity of any of these"
            )
            self._across_quantity: Any = self._gui.add_dropdown("its", ("-",), visible=False)
        on_change(worker, self._owner, "plot owner", self._choose_owner)
        on_click(worker, self._buttons, "plot curve", self._press)
        on_change(worker, self._across_owner, "plot across", self._choose_across_owner)
        on_change(worker, self._across_quantity, "plot across its", self._choose_across)

    # ------------------------------------------------------------------------------- contents

    def show(self, quantities: Recorded, wanted: object, fresh: bool) -> None:
        """Plot a motion; if it is of another model, what that asks for."""
        self._by_hand = None
        self._all, self._failed = quantities, {}
        self._aside.forget("loads")
        kept = [name for name in self._names if name in quantities]
        if fresh or not kept:
            self._names = usual(quantities.motion, wanted)
            self._remove_chart()
        else:
            self._names = kept
        if fresh or self._across not in quantities:
            self._across = TIME
        owners = tuple(quantities.menu)
        if tuple(self._owner.options) != owners:
            self._owner.options, self._owner.value = owners, owners[0]
            self._across_owner.options = (TIME, *owners)
            self._choose_owner(owners[0])
        self._show_across()
        self._draw()

    def clear(self) -> None:
        """Show nothing: there is no motion."""
        self._all, self._names, self._across = None, [], TIME
        self._aside.forget("loads")
        self._remove_chart()
        self._drawing.visible = False
        self._now.content = ""
        self._owner.options = self._quantity.options = ("-",)
        self._across_owner.options, self._across_quantity.visible = (TIME,), False

    def _remove_chart(self) -> None:
        if self._chart is not None:
            self._chart.remove()
            self._chart = None

    def pose(self, values: Mapping[str, float]) -> None:
        """Tell the values of a position that is none of the motion, as far as they are known."""
        self._by_hand = values
        if self._all is None or not self._names:
            return
        cells = [("by hand", "", "")]
        for name in self._names:
            known = f"{values[name]:.5g}" if name in values else "–"
            cells.append((name, known, self._all.motion.unit(name) if name in values else ""))
        self._now.content = _cells(cells)

    @property
    def names(self) -> tuple[str, ...]:
        """What is plotted."""
        return tuple(self._names)

    @property
    def across(self) -> str:
        """What they are plotted against."""
        return self._across

    def _own(self, owner: str) -> Mapping[str, str]:
        """The quantities of an owner, by what they are called."""
        return {} if self._all is None else self._all.menu.get(owner, {})

    def _show_across(self) -> None:
        """Show what is across, in the dropdowns of it."""
        owners = {} if self._all is None else self._all.menu
        for owner, own in owners.items():
            for quantity, name in own.items():
                if name == self._across:
                    self._across_owner.value = owner
                    self._across_quantity.options = tuple(own)
                    self._across_quantity.value, self._across_quantity.visible = quantity, True
                    return
        self._across_owner.value, self._across_quantity.visible = TIME, False

    def _choose_owner(self, owner: str) -> None:
        self._quantity.options = tuple(self._own(owner)) or ("-",)

    def _choose_across_owner(self, owner: str) -> None:
        own = tuple(self._own(owner))
        self._across_quantity.visible = bool(own)
        if not own:
            self._choose_across("")
            return
        self._across_quantity.options = own
        self._across_quantity.value = own[0]
        self._choose_across(own[0])

    def _choose_across(self, quantity: str) -> None:
        self._across = self._own(self._across_owner.value).get(quantity, TIME)
        self._draw()

    def _chosen(self) -> str:
        return self._own(self._owner.value).get(self._quantity.value, "")

    def _press(self) -> None:
        name, button = self._chosen(), self._buttons.value
        if button == "Clear":
            self._names = []
        elif button == "Only this":
            self._names = [name]
        elif name not in self._names:
            self._names = [*self._names, name][-_MOST:]
        self._names = [each for each in self._names if each]
        self._failed = {}
        self._draw()

    # ------------------------------------------------------------------------------- drawing

    def _curves(self) -> tuple[Curve, list[Curve]]:
        """What is across and what is drawn over it, as far as it is known; nothing over itself."""
        assert self._all is not None, "only drawn with a motion"
        if self._across not in self._ready:
            return self._all.curve(TIME), []
        up = [name for name in self._names if name != self._across and name in self._ready]
        return self._all.curve(self._across), [self._all.curve(name) for name in up]

    def _find(self) -> None:
        """Have the loads found that are wanted, one after the other; then draw them too."""
        quantities = self._all
        assert quantities is not None, "only drawn with a motion"
        wanted = (self._across, *self._names)
        missing = [n for n in wanted if not quantities.known(n) and n not in self._failed]
        if not missing:
            return
        name = missing[0]

        def find() -> str:
            try:
                quantities.find(name)
            except BielaError as error:
                return str(error)
            return ""

        def found(words: str) -> None:
            if words:
                self._failed[name] = words
            self._draw()

        self._aside.find("loads", find, found)

    def _draw(self) -> None:
        if self._all is None:
            return
        self._find()
        # what is found beside the page meanwhile is drawn when it is handed over
        self._ready = {n for n in (self._across, *self._names) if self._all.known(n)}
        across, up = self._curves()
        timely = self._across == TIME
        lines = tuple(each.label for each in up) if timely else ()
        if lines != self._lines:
            self._remove_chart()  # a chart with other lines is another chart
        self._drawing.visible = bool(up) and not timely
        # one with the same lines stays, and a zoom with it: a page that makes a chart while its
        # values come may leave out what stands along the axis
        if lines and self._chart is None:
            with self._tab:
                self._chart = chart(self._gui, across, up, self._place)
        self._lines = lines
        values = self._by_hand
        self.move(self._place)
        if values is not None:
            self.pose(values)

    def move(self, place: float) -> None:
        """Show where the motion is now."""
        self._place, self._by_hand = place, None
        if self._all is None:
            return
        across, up = self._curves()
        if self._chart is not None:
            self._chart.data = chart_data(across, up, place)
        elif up:
            self._drawing.content = xy_plot(np.array(self._all.motion.t), across, up, place)
        rows = [across, *up] if up else []
        cells = [(row.name, row.told(place), row.unit) for row in rows]
        self._now.content = _cells(cells) + _words(self._said(bool(up)))

    def _said(self, drawn: bool) -> str:
        """Why something that is wanted is not drawn."""
        assert self._all is not None, "only told with a motion"
        wanted = dict.fromkeys((self._across, *self._names))
        missing = [name for name in wanted if name not in self._ready]
        words = [self._failed.get(name, f"finding {name} …") for name in missing]
        if not drawn and not missing and self._names:
            words = [f"{self._across} is across: add a quantity to be drawn over it"]
        return "; ".join(dict.fromkeys(words))


def _words(text: str) -> str:
    style = "font-size:0.78em;padding:2px 12px;line-height:1.5;color:#7a1c14"
    return f'<div class="studio-plot-note" style="{style}">{escape(text)}</div>' if text else ""


def _cells(rows: Sequence[tuple[str, str, str]]) -> str:
    """Names, values and units side by side."""
    cells = (
        f'<span style="margin-right:14px;white-space:nowrap"><b>{escape(name)}</b> '
        f"{escape(value)} {escape(unit)}</span>"
        for name, value, unit in rows
    )
    return (
        '<div class="studio-now" style="font-size:0.78em;padding:2px 12px;line-height:1.5">'
        f"{' '.join(cells)}</div>"
    )
