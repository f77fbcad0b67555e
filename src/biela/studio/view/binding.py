"""Elements of a page that ask the worker of their visitor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from biela.studio.view.worker import Worker

__all__ = ["on_change", "on_click"]


def on_change(worker: Worker, element: Any, kind: str, act: Callable[[Any], None]) -> None:
    """Have the visitor's changes of an element done; those that the program makes are not asked."""

    @element.on_update  # type: ignore[untyped-decorator]
    async def _(event: Any) -> None:
        if event.client is not None:
            worker.ask(kind, partial(_still, element, partial(act, element.value)))


def on_click(worker: Worker, button: Any, kind: str, act: Callable[[], None]) -> None:
    """Have something done when a button is pressed."""

    @button.on_click  # type: ignore[untyped-decorator]
    async def _(_: Any) -> None:
        worker.ask(kind, partial(_still, button, act))


def _still(element: Any, act: Callable[[], None]) -> None:
    """Do something, unless its element was removed before its turn came, and others with it."""
    if not element._impl.removed:
        act()
