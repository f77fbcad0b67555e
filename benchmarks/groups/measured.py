"""What the page of groups shows, measured part by part and kept in a file.

    python -m benchmarks.groups.measured [--quick] [part …]

Parts are chain, fan, models, growth, dynamics, cost and truck; what each took is printed.  Parts
that are not named stay as they were; `benchmarks.groups.figures` draws what is there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.groups import chain, dynamics, formulations, growth, slider_models, truck
from benchmarks.groups.cost_simulator import cost_study

FILE = Path(__file__).parents[1] / "results" / "groups.json"
#: Formulations of the fan that the source has.
FAN = ("global sparse", "natural groups", "natural groups, tensor", "relative groups")


def measure_chain(quick: bool) -> Any:
    """[dyads, formulation, seconds for 24,001 instants]."""
    sizes = (10, 30, 60) if quick else (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    found = formulations.chain_times(sizes, 3 if quick else 6)
    return [[n, name, seconds] for (n, name), seconds in found.items()]


def measure_fan(quick: bool) -> Any:
    """[dyads, formulation, speed, seconds for 24,001 instants]."""
    sizes = (1, 10, 30) if quick else (1, 10, 20, 40, 60, 80, 100)
    found = formulations.fan_times(sizes, 3 if quick else 6, FAN)
    return [[n, name, speed, seconds] for (n, name, speed), seconds in found.items()]


def measure_models(quick: bool) -> Any:
    """[model of the slider, unknowns a dyad, speed, dyads, seconds for 24,001 instants]."""
    dyads, steps = (30, 6001) if quick else (100, 24_001)
    found = slider_models.model_times(dyads, steps, 3 if quick else 6)
    return [[name, m, speed, dyads, seconds] for (name, m, speed), seconds in found.items()]


def measure_truck(quick: bool) -> Any:
    """[axles, way, seconds an instant]."""
    found = truck.truck_times((1, 2) if quick else (1, 2, 3, 4, 5), 3 if quick else 6)
    return [[k, way, seconds] for (k, way), seconds in found.items()]


def measure_growth(quick: bool) -> Any:
    """[coordinates, dyads, nanoseconds a dyad and instant]."""
    sizes = (100, 1_000, 10_000) if quick else (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
    found = []
    for way in chain.WAYS:
        for dyads, seconds in growth.seconds(way, sizes, 3 if quick else 5).items():
            found.append([way, dyads, seconds / dyads / growth.INSTANTS * 1e9])
    return found


def measure_dynamics(quick: bool) -> Any:
    """[loops, formulation, nanoseconds a loop and step]."""
    found = []
    for loops in (100, 1_000) if quick else (100, 1_000, 10_000):
        steps = max(10, 100_000 // loops)
        for name, seconds in dynamics.step_times(loops, steps, 4 if quick else 8).items():
            found.append([loops, name, seconds / steps / loops * 1e9])
    return found


def measure_cost(quick: bool) -> Any:
    """Cases and what they took."""
    sizes = (2, 4, 6) if quick else (2, 4, 6, 8)
    return [asdict(cost) for cost in cost_study(sizes=sizes, rounds=5 if quick else 10)]


PARTS: dict[str, Callable[[bool], Any]] = {
    "chain": measure_chain,
    "fan": measure_fan,
    "models": measure_models,
    "growth": measure_growth,
    "dynamics": measure_dynamics,
    "cost": measure_cost,
    "truck": measure_truck,
}


def stored() -> dict[str, Any]:
    """What was measured last, by part."""
    if not FILE.exists():
        return {}
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; else all")
    parser.add_argument("--quick", action="store_true", help="smaller models, fewer rounds")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        if name not in PARTS:
            parser.error(f"no part {name}; there are {', '.join(PARTS)}")
        began = time.perf_counter()
        rows = PARTS[name](options.quick)
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps({**stored(), name: rows}, indent=1), encoding="utf-8")
        print(f"measured {name} in {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
