"""All random tests are seeded: property tests draw the same examples in every run."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("same examples", derandomize=True)
settings.load_profile("same examples")
