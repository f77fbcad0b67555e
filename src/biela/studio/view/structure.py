"""The structure of a mechanism on the page: graph, loops, freedoms, groups, pattern, equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import viser

from biela.studio.report.fragments import Fragment, fragment_style, made
from biela.studio.table import Table
from biela.studio.topology import topology_parts
from biela.studio.view.aside import Aside
from biela.studio.view.binding import on_click
from biela.studio.view.worker import Worker

__all__ = ["Structure"]

_OPEN = ("Connection graph", "Tree of bases", "Tree of points", "Degrees of freedom")
#: Of the panel, in pixels.
_WIDTHS = (360, 720)
_BOX = "padding:2px 12px 8px 12px;font-size:0.86em;line-height:1.45;overflow-wrap:anywhere;"


class Structure:
    """The tab of one page, filled piece by piece when it is asked for.

    Args:
        client: The page.
        worker: Of its visitor.
        panel: Where it goes, as a tab.
        aside: Finds the pieces.
        session: The session that the page has at the moment.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        worker: Worker,
        panel: Any,
        aside: Aside,
        session: Callable[[], Table],
    ) -> None:
        self._gui, self._panel, self._aside, self._session = client.gui, panel, aside, session
        self._folders: list[Any] = []
        self._wide = False
        self._tab: Any = panel.add_tab("Structure", viser.Icon.SITEMAP)
        panel.set_width(_WIDTHS[self._wide])
        with self._tab:
            self._button: Any = self._gui.add_button(
                "Look into its structure",
                icon=viser.Icon.SITEMAP,
                hint="graph or trees, loops, degrees of freedom, groups, sparsity, equations",
            )
            wider: Any = self._gui.add_button(
                "Wider, or narrower", icon=viser.Icon.ARROWS_HORIZONTAL
            )
            self._said: Any = self._gui.add_html("", visible=False)
        on_click(worker, self._button, "structure", self.ask)
        on_click(worker, wider, "wider", self._widen)

    def _widen(self) -> None:
        """Make room for graphs and equations, or give it back to the mechanism."""
        self._wide = not self._wide
        self._panel.set_width(_WIDTHS[self._wide])

    def clear(self) -> None:
        """Another mechanism: what is there is not of it."""
        self._aside.forget("structure")
        for folder in self._folders:
            folder.remove()
        self._folders = []
        self._say("")

    def ask(self) -> None:
        """Find the pieces one after the other, of the model as it is changed now."""
        self.clear()
        self._next(iter(topology_parts(self._session().described).items()))

    def _next(self, parts: Iterator[tuple[str, Callable[[], str]]]) -> None:
        title, maker = next(parts, ("", None))
        if maker is None:
            self._say("")
            return
        self._say(f"looking for: {title.lower()} …")

        def show(found: Fragment) -> None:
            self._show(found)
            self._next(parts)

        self._aside.find("structure", partial(made, title, maker), show)

    def _show(self, piece: Fragment) -> None:
        with self._tab:
            folder: Any = self._gui.add_folder(
                piece.title, expand_by_default=piece.title in _OPEN or piece.failed
            )
            with folder:
                self._gui.add_html(
                    f"<style>{fragment_style()}</style>"
                    f'<div class="biela studio-structure" style="{_BOX}">{piece.html}</div>'
                )
        self._folders.append(folder)

    def _say(self, words: str) -> None:
        self._said.content = f'<div style="{_BOX}">{words}</div>'
        self._said.visible = bool(words)
