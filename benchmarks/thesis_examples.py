"""Four published mechanisms: atoms by search (A), by hash (B), biela (C), and SymPy's cse (C.1)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.agreement import check_equal
from benchmarks.peers import sympy
from benchmarks.report import Row
from benchmarks.thesis.models import MODELS
from benchmarks.thesis.run import CASES, GROUPS

#: Seconds to derive and export, and operations of M, delta, Phi_q and gamma, as published
#: (Plaza 2015, tables 6.1 to 6.3 and 6.5).  Their library of operators, engine and counting of
#: signs are others: only the order of the times and of the operations is to be the same.
PUBLISHED = {
    ("block-pendulum", "A"): (0.067, (8, 16, 0, 0)),
    ("block-pendulum", "B"): (0.035, (8, 16, 0, 0)),
    ("block-pendulum", "C"): (0.026, (8, 16, 0, 0)),
    ("block-pendulum", "C.1"): (1.082, (8, 16, 0, 0)),
    ("four-bar", "A"): (3.896, (64, 250, 48, 87)),
    ("four-bar", "B"): (0.176, (66, 253, 46, 80)),
    ("four-bar", "C"): (0.116, (63, 212, 42, 76)),
    ("four-bar", "C.1"): (1.152, (72, 244, 42, 76)),
    ("crank-rod-disc", "A"): (1.823, (37, 123, 121, 279)),
    ("crank-rod-disc", "B"): (0.210, (137, 128, 90, 152)),
    ("crank-rod-disc", "C"): (0.151, (37, 123, 123, 226)),
    ("crank-rod-disc", "C.1"): (1.529, (33, 111, 73, 137)),
    ("stewart", "A"): (564.317, (496, 2703, 393, 1052)),
    ("stewart", "B"): (3.225, (492, 2793, 410, 1175)),
    ("stewart", "C"): (2.522, (486, 2667, 688, 917)),
    ("stewart", "C.1"): (5.191, (473, 2857, 368, 927)),
}

#: The first takes longer than the second.
ORDER = (("A", "B"), ("B", "C on SymPy"), ("C on SymPy", "C"), ("C.1", "C"))


@dataclass(frozen=True)
class Outcome:
    """A mechanism derived in one case; ``found`` is None if it took longer than the limit."""

    seconds: float
    found: dict[str, Any] | None

    def slower_than(self, other: Outcome) -> bool:
        """Whether it took longer; two that reached the limit are in any order."""
        return self.seconds > other.seconds or (self.found is None and other.found is None)


def run(quick: bool) -> Iterator[Row]:
    sympy()
    limit = 10.0 if quick else 60.0
    for model in MODELS:
        outcomes = measure(model, limit, 1 if quick else 3)
        ours = outcomes["C"]
        for case, outcome in outcomes.items():
            yield case_row(model, case, outcome, ours)
        agree(model, outcomes)
        ordered = all(outcomes[a].slower_than(outcomes[b]) for a, b in ORDER)
        what = f"{model}, order of the times"
        yield Row(what, "all that finished agree", "A > B > C on SymPy > C < C.1", ok=ordered)
        totals = {c: sum(o.found["operations"]) for c, o in outcomes.items() if o.found}
        fewest = all(totals[c] >= totals["C"] for c in ("A", "B") if c in totals)
        counted = ", ".join(f"{c} {totals[c]}" for c in ("A", "B", "C") if c in totals)
        yield Row(f"{model}, order of the operations", counted, "A, B ≥ C", ok=fewest)


def measure(model: str, limit: float, rounds: int) -> dict[str, Outcome]:
    """All cases of a model; the short ones again in turns, the least time counts."""
    outcomes: dict[str, Outcome] = {}
    for _ in range(rounds):
        for case in CASES:
            before = outcomes.get(case)
            if before is None or before.seconds < 3.0:
                new = derived(model, case, limit)
                if before is None or new.seconds < before.seconds:
                    outcomes[case] = new
    return outcomes


def derived(model: str, case: str, limit: float) -> Outcome:
    """One case in a process of its own, which is stopped at the limit."""
    command = [sys.executable, "-m", "benchmarks.thesis.run", model, case]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return Outcome(limit, None)
    found = json.loads(done.stdout)
    return Outcome(found["seconds"], found)


def case_row(model: str, case: str, outcome: Outcome, ours: Outcome) -> Row:
    what, published = f"{model}, case {case}: time, operations", ""
    if (model, case) in PUBLISHED:
        seconds, counts = PUBLISHED[model, case]
        published = f"; published {seconds:g} s, {spelled(counts)}"
    if outcome.found is None:
        return Row(what, f"> {outcome.seconds:g} s{published}")
    found = outcome.found
    written = f", {spelled(found['written'])} as written" if found["written"] else ""
    measured = f"{outcome.seconds:.3g} s, {spelled(found['operations'])}{written}{published}"
    return Row(what, measured, ratio=ours.seconds / outcome.seconds)


def spelled(operations: Sequence[int]) -> str:
    """Operations of M + delta + Phi_q + gamma."""
    return " + ".join(map(str, operations))


def agree(model: str, outcomes: dict[str, Outcome]) -> None:
    """Compare the values of all cases that finished with those of C."""
    reference = outcomes["C"].found
    if reference is None:
        return
    for case, outcome in outcomes.items():
        if outcome.found is not None:
            for group in GROUPS:
                ours, theirs = outcome.found["values"][group], reference["values"][group]
                check_equal(f"{group} of {model}, case {case}", ours, theirs)
