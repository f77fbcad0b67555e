"""Work beside the thread of a visitor: what takes seconds, while his page goes on moving."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from biela.errors import BielaError
from biela.studio.view.worker import Worker

__all__ = ["Aside"]

T = TypeVar("T")


class Aside:
    """Finds things one after the other; what was asked for anew meanwhile is not handed over.

    Args:
        worker: Of the visitor: results are handed over in his thread.
        fail: Called there with the words of an error.
    """

    def __init__(self, worker: Worker, fail: Callable[[str], None]) -> None:
        self._worker, self._fail = worker, fail
        self._newest: dict[str, object] = {}
        self._turn = threading.Lock()

    def find(self, kind: str, compute: Callable[[], T], then: Callable[[T], None]) -> None:
        """Compute something, then hand it over; an older request of the same kind is forgotten."""
        asked = self._newest[kind] = object()

        def current() -> bool:
            return self._newest.get(kind) is asked

        def hand_over(found: T) -> None:
            if current():
                then(found)

        def work() -> None:
            with self._turn:
                if not current():
                    return
                try:
                    job = partial(hand_over, compute())
                except BielaError as error:
                    job = partial(self._fail, str(error))
                except Exception as error:
                    words = f"the studio itself failed ({type(error).__name__}: {error})"
                    job = partial(self._fail, words)
            if current():
                self._worker.ask(f"found {kind} {id(asked)}", job)

        threading.Thread(target=work, name=f"studio {kind}", daemon=True).start()

    def forget(self, kind: str) -> None:
        """What was asked for is not wanted any more."""
        self._newest.pop(kind, None)

    def end(self) -> None:
        """Nothing is wanted any more."""
        self._newest.clear()
