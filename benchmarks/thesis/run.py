"""One mechanism in one case, in a process of its own: ``python -m benchmarks.thesis.run …``."""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Callable
from typing import Any

from benchmarks.thesis.algebra import Algebra, Biela
from benchmarks.thesis.derivation import derive
from benchmarks.thesis.models import MODELS

GROUPS = ("M", "delta", "Phi_q", "gamma")
CASES = ("A", "B", "C on SymPy", "C", "C.1")


def new_algebra(case: str) -> Algebra:
    if case == "C":
        return Biela()
    from benchmarks.thesis.baselines import (
        Atomized,
        HashedTable,
        Raw,
        Recursive,
        SearchedTable,
    )

    if case == "C.1":
        return Raw()
    if case == "C on SymPy":
        return Recursive(HashedTable())
    return Atomized(SearchedTable() if case == "A" else HashedTable())


class Numbers(dict[str, float]):
    """A number for every name, the same in every process."""

    def __missing__(self, name: str) -> float:
        return 0.25 + zlib.crc32(name.encode()) / 2**32


def measure(model: str, case: str) -> dict[str, Any]:
    """Seconds to derive and export, operations of each group, values of all entries."""
    derive_and_export(MODELS["block-pendulum"], new_algebra(case))  # loads what is loaded lazily
    seconds = float("inf")
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        forget()
        before = time.perf_counter()
        results = derive_and_export(MODELS[model], new_algebra(case))
        seconds = min(seconds, time.perf_counter() - before)
    return {
        "seconds": seconds,
        "operations": [results[group].operations() for group in GROUPS],
        "written": [results[group].written() for group in GROUPS] if case == "C" else None,
        "values": {group: results[group].values(Numbers()) for group in GROUPS},
    }


def derive_and_export(model: Callable[[Algebra], Any], algebra: Algebra) -> dict[str, Any]:
    equations = derive(algebra, model(algebra))
    results = {name: algebra.result(entries) for name, entries in equations.groups.items()}
    for result in results.values():
        result.operations()
    return results


def forget() -> None:
    """Empty the cache of SymPy, so that every repetition is a first one."""
    if "sympy" in sys.modules:
        from sympy.core.cache import clear_cache

        clear_cache()


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
