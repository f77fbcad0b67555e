"""Andrews' squeezing mechanism: the time of a run with a relative error of 4e-9 at 0.03 s.

Andrews' mechanism moves fast, through a whole range of positions; tolerances and steps are tried,
and the fastest run that is accurate enough counts.  The error is the largest of the seven angles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import biela as bl
from benchmarks.report import Row, below
from benchmarks.validation.measurements import andrews_error
from examples.mechanisms.andrews import andrews

DURATION = 0.03
ERROR = 4e-9
LIMIT = 3.0  # ms

TOLERANCES: tuple[Mapping[str, float], ...] = tuple({"tolerance": 10.0**-k} for k in range(7, 13))
STEPS: tuple[Mapping[str, float], ...] = tuple(
    {"step": DURATION / n} for n in (500, 700, 1000, 1500, 2000)
)
RUNS = {"dormand_prince": TOLERANCES, "adams": TOLERANCES, "rk4": STEPS}


def run(quick: bool) -> Iterator[Row]:
    repeats = 10 if quick else 100
    equations = andrews().equations()
    found: list[tuple[float, str]] = []
    for integrator, choices in RUNS.items():
        options = bl.Options(fused=True) if integrator == "rk4" else None
        simulator = bl.Simulator(equations, "multipliers", integrator, options)
        best = None
        for choice in choices:
            given: dict[str, Any] = {**choice, "output": DURATION, "progress": False}
            error = andrews_error(simulator.run(DURATION, **given))
            if error > ERROR:
                continue
            ms = 1e3 * min(spent(simulator.run(DURATION, **given)) for _ in range(repeats))
            shown = ", ".join(f"{name} {value:.3g}" for name, value in choice.items())
            text = f" with {integrator}, {shown}: error {error:.1e}"
            best = min(best or (ms, text), (ms, text))
        if best is None:
            yield Row(f"andrews, {integrator}", f"no run has an error of {ERROR:g}", ok=False)
            continue
        found.append(best)
        yield Row(f"andrews, {integrator}", f"{best[0]:.3g} ms{best[1]}")
    ms, text = min(found)
    yield below(f"andrews, 0.03 s with an error of {ERROR:g}", ms, LIMIT, "ms", text)


def spent(results: bl.Results) -> float:
    """Time in the integrator, s."""
    assert results.statistics is not None, "every run has them"
    return results.statistics.time_integration or 0.0
