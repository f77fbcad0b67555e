"""How far a run has come: a bar with the time left on a terminal, whoever watches, or a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.results.partial import PartialResults, SoFar

Floats = npt.NDArray[np.float64]

#: Is told which part of a run is done, 0 to 1, some ten times a second.
Watch: TypeAlias = Callable[[float], None]

_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)
_RECORD: ContextVar[PartialResults | None] = ContextVar("record", default=None)


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


@contextmanager
def recorded(record: PartialResults) -> Iterator[None]:
    """Have the runs of this thread keep in a file what they have found so far.

    If a run is long, that is every few seconds and at its end; an error or an interrupt that ends
    it leaves all that was found.
    """
    token = _RECORD.set(record)
    try:
        yield
    finally:
        record.close()
        _RECORD.reset(token)


def rows_from(parts: Sequence[Floats], first: int) -> Floats:
    """The rows of arrays that follow one another, from one of them on.

    >>> rows_from([np.array([1.0, 2.0]), np.array([3.0]), np.array([4.0])], 1)
    array([2., 3., 4.])
    """
    kept = []
    for part in parts:
        kept.append(part[first:])
        first = max(first - len(part), 0)
    return np.concatenate(kept)


class Progress:
    """Shows how far a run has come, if it takes more than a moment, and records what it has found.

    ``shown`` True shows it at once, False never; None shows it on a terminal after half a second.
    """

    def __init__(self, what: str, total: float, shown: bool | None) -> None:
        self._what, self._total = what, total
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._delay = 0.5 if shown is None else 0.0
        self._began = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None
        self._record = _RECORD.get()
        self._so_far: SoFar | None = None
        self._recording = False

    def __enter__(self) -> Progress:
        return self

    def update(self, done: float, so_far: SoFar | None = None) -> None:
        """Tell how much of the total is done, and what gives the results of it."""
        self._so_far = so_far
        if self._record is not None and self._record.due:
            self._keep(self._record)
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
        if self._record is not None and (error is not None or self._recording):
            self._keep(self._record)

    def _keep(self, record: PartialResults) -> None:
        if self._so_far is None:
            return
        if not self._recording:
            record.remove()  # that of a run before this one
            self._recording = True
        record.add(self._so_far)
