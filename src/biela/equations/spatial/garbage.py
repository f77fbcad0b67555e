"""The collector of cyclic garbage, paused while a large structure is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Build without looking for cycles.

    A long chain is hundreds of thousands of small objects that all stay: the collector would walk
    through them again and again, for a third of the time, and find nothing to free.  What has no
    cycle is freed at once as always; what has one waits until the pause is over.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
