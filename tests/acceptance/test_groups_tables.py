"""The page of structural groups: its tables beside those of the source, and its pictures.

Times are measured by `benchmarks.groups` and judged there; here it is asked that the page says what
was measured, and what the source says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.groups.cost_simulator import Case, cost_study
from benchmarks.groups.growth import fit
from tests.groups_oracle.golden import example

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "groups-tables.md"
#: Formulations by name, and the columns of the source.
SOURCE = {
    "global dense": "GLOB",
    "global sparse": "GLOB_SP",
    "natural groups": "TOP_TD",
    "natural groups, tensor": "TOP_3OT",
    "relative groups": "TOP_REL",
}


def rows_under(heading: str) -> list[list[str]]:
    """The rows of the table below a heading of the page."""
    text = PAGE.read_text(encoding="utf-8")
    (part,) = (p for p in text.split("\n## ") if p.startswith(heading))
    rows = [line.strip("| ").split(" | ") for line in part.split("\n") if line.startswith("| ")]
    return rows[1:]


def measured(name: str) -> Any:
    path = ROOT / "benchmarks" / "results" / "groups.json"
    return json.loads(path.read_text(encoding="utf-8"))[name]


def test_the_chain_has_the_seconds_and_speed_ups_of_all_formulations_beside_the_source() -> None:
    seconds = {(int(n), name): float(s) for n, name, s in measured("chain")}
    source = example("timings")["13.4"]
    sizes = source.column("n_d").tolist()
    rows = rows_under("Chain of four-bars")
    assert {row[1] for row in rows} >= {*SOURCE, "relative loops"}
    for dyads, name, ours, theirs, over, _ in rows:
        n = int(dyads.replace(",", ""))
        assert float(ours) == pytest.approx(seconds[n, name], rel=1e-3, abs=6e-5)
        ratio = seconds[n, "global sparse"] / seconds[n, name]
        assert float(over) == pytest.approx(ratio, rel=6e-3)
        if name in SOURCE:
            column = source.column(SOURCE[name])
            assert float(theirs) == pytest.approx(column[sizes.index(n)], rel=1e-9)
    # not timed by the source: relative coordinates without groups
    assert {row[3] for row in rows if row[1] == "relative loops"} == {"–"}


def test_the_fan_has_three_speeds_beside_the_source() -> None:
    rows = rows_under("Fan of spatial sliders")
    assert {row[0] for row in rows} == {"a", "b", "c"}
    implied, printed = example("timings")["13.7"], example("timings")["13.5"]
    for speed, dyads, name, _, theirs, _ in rows:
        table = printed if name == "global sparse" else implied
        column = f"{SOURCE[name].removeprefix('TOP_')} {speed}"
        at = table.column("n_d").tolist().index(int(dyads))
        assert float(theirs) == pytest.approx(table.column(column)[at], rel=1e-9)


def test_growth_is_told_as_time_a_dyad_and_a_line_is_known_from_a_curve() -> None:
    stored = {(way, int(n)): ns for way, n, ns in measured("growth")}
    for way, dyads, each in rows_under("Growth"):
        assert float(each) == pytest.approx(stored[way, int(dyads.replace(",", ""))], rel=6e-3)
    sizes = np.array([10, 20, 40, 80])
    assert fit(dict(zip(sizes.tolist(), (3.0 * sizes + 2).tolist(), strict=True))) > 1 - 1e-12
    assert fit(dict(zip(sizes.tolist(), (sizes**3.0).tolist(), strict=True))) < 0.99


def test_the_pictures_of_the_page_are_there() -> None:
    """Figures 12, 18, 20, 33, 34 and 36 of the source, and the simulator of cost."""
    text = PAGE.read_text(encoding="utf-8")
    for name in ("turn", "truck", "speedups", "chain", "chain-groups", "fan", "cost"):
        assert f"(images/groups-{name}.png)" in text, name
        picture = ROOT / "docs" / "images" / f"groups-{name}.png"
        assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n", name


def test_the_simulator_of_cost_varies_groups_size_density_speed_and_solver() -> None:
    """Counts of a small study; its times are the machine's."""
    costs = cost_study(
        groups=(2, 3), sizes=(2, 4), densities=(1.0,), speeds=(10.0,),
        solvers=("unrolled", "dense"), formulations=("natural groups",),
        base=Case(groups=2), instants=64, rounds=1,
    )  # fmt: skip
    assert {c.varied for c in costs} == {"groups", "size", "density", "speed", "solver"}
    assert all(c.seconds > 0 for c in costs)
    # a dyad has one point of two coordinates, a triad its link more: full, then less so
    found = {(c.case.size, c.case.solver): (c.unknowns, c.filled) for c in costs}
    assert found[2, "unrolled"] == found[2, "dense"] == (2, 1.0)
    assert found[4, "unrolled"][0] == found[4, "dense"][0] > 2
    assert found[4, "dense"][1] < 1.0
    pages = {row[0] for row in rows_under("Simulator of cost")}
    assert pages == {"groups", "size", "density", "speed", "solver"}
