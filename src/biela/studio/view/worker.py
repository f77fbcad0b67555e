"""The thread of one visitor: all that his page asks for is done here, one thing after the other.

Sliders and pointers ask faster than analyses answer.  Of several requests of one kind only the
newest is done.  In between the thread keeps the beat of what is played.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from biela.errors import BielaError

__all__ = ["Worker"]

Job = Callable[[], None]

#: Frames a second that are sent while something is played.
RATE: Final = 60.0
#: Visitors whose frames are made at the same time: with fifty of them, who opens a page would have
#: to wait for minutes among those that play.
_BEATING: Final = threading.Semaphore(2)


class Worker:
    """Does jobs, and beats.

    Args:
        beat: Called with the seconds since the last beat; says whether to go on beating.
        fail: Called with the words of an error.
    """

    def __init__(self, beat: Callable[[float], bool], fail: Callable[[str], None]) -> None:
        self._beat, self._fail = beat, fail
        self._jobs: dict[str, Job] = {}
        self._chores: deque[Job] = deque()
        self._wake = threading.Condition()
        self._beating, self._ended = False, False
        self._thread = threading.Thread(target=self._work, name="studio visitor", daemon=True)
        self._thread.start()

    def ask(self, kind: str, job: Job) -> None:
        """Have a job done; an older one of the same kind that still waits is forgotten."""
        with self._wake:
            self._jobs.pop(kind, None)
            self._jobs[kind] = job
            self._wake.notify()

    def ask_later(self, chore: Job) -> None:
        """Have something done when there is nothing else to do."""
        with self._wake:
            self._chores.append(chore)
            self._wake.notify()

    def waits(self, patient: Sequence[str] = ()) -> bool:
        """Whether something else is wanted meanwhile, but for kinds that begin with these."""
        with self._wake:
            return any(not kind.startswith(tuple(patient)) for kind in self._jobs)

    @property
    def ended(self) -> bool:
        """Whether the visitor has gone."""
        return self._ended

    def forget(self, kind: str) -> None:
        """Leave a request undone, if one waits."""
        with self._wake:
            self._jobs.pop(kind, None)

    def start_beating(self) -> None:
        """Beat until the beat says to stop."""
        with self._wake:
            self._beating = True
            self._wake.notify()

    def end(self) -> None:
        """Stop for good; what is being done is finished."""
        with self._wake:
            self._ended = True
            self._wake.notify()

    def _work(self) -> None:
        last = time.perf_counter()
        while True:
            with self._wake:
                while not (self._jobs or self._chores or self._ended or self._beating):
                    self._wake.wait()
                    last = time.perf_counter()
                if self._ended:
                    return
                job = self._next()
            if job is not None:
                self._attempt(job)
            if self._beating:
                with _BEATING:
                    now = time.perf_counter()
                    self._attempt(partial(self._pulse, now - last))
                last = now
                rest = now + 1 / RATE - time.perf_counter()
                with self._wake:
                    if rest > 0 and not (self._jobs or self._ended):
                        self._wake.wait(rest)
            else:
                last = time.perf_counter()

    def _next(self) -> Job | None:
        """The oldest request, or else the next chore."""
        if self._jobs:
            return self._jobs.pop(next(iter(self._jobs)))
        return self._chores.popleft() if self._chores else None

    def _pulse(self, passed: float) -> None:
        self._beating = False  # a beat that fails is the last one
        self._beating = self._beat(passed)

    def _attempt(self, job: Job) -> None:
        """Do a job; what goes wrong is said to the visitor, and never ends the thread."""
        try:
            job()
        except BielaError as error:
            self._fail(str(error))
        except UserWarning:  # of viser, where warnings are errors: the visitor has just gone
            return
        except Exception as error:
            if self._ended:
                return
            traceback.print_exc()
            self._fail(f"the studio itself failed ({type(error).__name__}: {error}); go on working")
