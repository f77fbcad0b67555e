"""Times of whole runs on a noisy machine: the candidates take turns, and the least counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

#: A run that says how many seconds of the processor it took.
Run = Callable[[], float]


def least(candidates: Mapping[str, Run], rounds: int = 5) -> dict[str, float]:
    """Seconds of each candidate: the least of so many rounds, in each of which all have a turn."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, run in candidates.items():
            best[name] = min(best[name], run())
    return best
