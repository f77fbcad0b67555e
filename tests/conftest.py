"""All random tests are seeded: property tests draw the same examples in every run."""

from __future__ import annotations

import gc
import os
import tempfile
import warnings

import pytest
from hypothesis import settings

from biela import code_cache

settings.register_profile("same examples", derandomize=True)
settings.load_profile("same examples")


def pytest_configure() -> None:
    """Share a code cache, also where that of the user is refused: its warning would be an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if code_cache.enabled() and not code_cache.usable():
            os.environ["BIELA_CACHE_DIR"] = tempfile.mkdtemp(prefix="biela-cache-")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look for cyclic garbage seldom, and never among the modules and the collected tests.

    Derivations make hundreds of thousands of small objects. The default looks through the young
    ones at every 700, and a tenth of the time of a test went into that.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
