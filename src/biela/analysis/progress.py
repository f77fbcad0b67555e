"""How far a run has come: a bar with the time left on a terminal, or whoever watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeAlias

#: Is told which part of a run is done, 0 to 1, some ten times a second.
Watch: TypeAlias = Callable[[float], None]

_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watch: Watch | None) -> Iterator[None]:
    """Have the runs of this thread tell how far they have come.

    A watch that raises KeyboardInterrupt ends the run, as a user at a terminal would: it returns
    what it has found until then.
    """
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


class Progress:
    """Shows how far a run has come, if it takes more than a moment.

    ``shown`` True shows it at once, False never; None shows it on a terminal after half a second.
    """

    def __init__(self, what: str, total: float, shown: bool | None) -> None:
        self._what, self._total = what, total
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._delay = 0.5 if shown is None else 0.0
        self._began = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def update(self, done: float) -> None:
        """Tell how much of the total is done."""
        watch = _WATCH.get()
        if watch is not None:
            watch(min(max(done / self._total, 0.0), 1.0) if self._total else 1.0)
        if not self._shown or time.perf_counter() - self._began < self._delay:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                TaskProgressColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=self._total)
        self._bar.update(self._task, completed=done)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
