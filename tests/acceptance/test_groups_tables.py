"""The page of structural groups: its tables beside those of the source, and its pictures.

Times are measured by `benchmarks.groups` and judged there; here it is asked that what is timed
moves as its closed form, that tables and pictures hold what they are given beside the figures of
the source, that work grows as it should by its counts, and that the page says what was measured.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.groups import figures, formulations, truck_figures
from benchmarks.groups.chain import solver as chain_solver
from benchmarks.groups.cost_simulator import Case, cost_study
from benchmarks.groups.growth import fit
from benchmarks.groups.truck import GLOBAL, WAYS
from biela.analysis.groups.coordinates import Coordinates
from biela.analysis.groups.formulations import FORMULATIONS
from examples.groups.four_bar_chain import SPEED, named_chain
from examples.groups.spatial_slider import fan
from tests.groups_oracle import closed_forms
from tests.groups_oracle.closed_forms import Motion
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


# --- what is timed --------------------------------------------------------------------------------


def turning(start: float, speed: float, t: np.ndarray) -> Motion:
    return Motion(start + speed * t, np.full(len(t), speed), np.zeros(len(t)))


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_that_is_timed_moves_as_its_closed_form(name: str) -> None:
    t = np.linspace(0.0, 18.0, 61)
    run = formulations.prepared(named_chain(2), name, "cell[0].rocker.C").run(t, store="points")
    found, wanted = run.point("cell[0].rocker.C"), turning(np.pi / 2, SPEED, t)
    for part, exact in zip(
        ("position", "velocity", "acceleration"), closed_forms.chain_joint(wanted, 1), strict=True
    ):
        np.testing.assert_allclose(getattr(found, part)[:, :2], exact, rtol=0, atol=1e-8)
    # the source does not time relative coordinates without groups; we do
    t = np.linspace(0.0, 2 * np.pi, 61)
    run = formulations.prepared(fan(2, 1.0), name, "slider0.C").run(t, store="points")
    P = closed_forms.inclined_crank(turning(0.0, 1.0, t), 2.0, np.pi / 6)
    s = closed_forms.slider_on_rail(P, 6.0, np.array([1.0, 0, 0]), np.zeros(3))
    for part, exact in zip(("position", "velocity", "acceleration"), s, strict=True):
        along = np.linalg.norm(getattr(run.point("slider0.C"), part), axis=1)
        np.testing.assert_allclose(along, np.abs(exact), rtol=0, atol=1e-8)


class Stopwatch:
    """Stands for a solver: a run takes 3 ms an instant by one formulation, 1 ms by others."""

    def __init__(self, name: str) -> None:
        self.each = 3e-3 if name == "global sparse" else 1e-3

    def run(self, t: np.ndarray, **_: object) -> Stopwatch:
        self.cpu_run = self.each * len(t)
        return self


def test_times_are_those_of_all_instants_whatever_was_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulations, "prepared", lambda model, name, point: Stopwatch(name))
    chain = formulations.chain_times((10, 120), rounds=1)
    sizes = {name: [n for n, other in chain if other == name] for name in FORMULATIONS}
    # a dense matrix of 240 unknowns is not waited for
    assert all(found == [10, *([] if n == "global dense" else [120])] for n, found in sizes.items())
    assert chain[10, "global sparse"] == pytest.approx(3e-3 * 24001)
    assert chain[120, "natural groups"] == chain[10, "relative loops"] == pytest.approx(24.001)
    assert {speed for _, _, speed in formulations.fan_times((10,), rounds=1)} == {"a", "b", "c"}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Pictures that are drawn, by name, in place of those of the page."""
    found: dict[str, Any] = {}
    for module in (figures, truck_figures):
        monkeypatch.setattr(module, "IMAGES", tmp_path)
        monkeypatch.setattr(
            module, "finish", lambda figure, path: found.__setitem__(path.stem, figure)
        )
    return found


def lines(axes: Any) -> dict[str, Any]:
    """The lines of a picture by their labels, and the dots by those of the lines before."""
    found: dict[str, Any] = {}
    last = ""
    for line in axes.lines:
        label = str(line.get_label())
        last = last if label.startswith("_") else label
        found[last + (" dots" if label.startswith("_") else "")] = np.array(line.get_data(), float)
    return found


def table_of(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.split("\n") if line.startswith("| ")][1:]


def test_tables_and_pictures_of_times_hold_what_they_are_given(drawn: dict[str, Any]) -> None:
    """Speed-ups are t_ref / t_new, ours and the source's; Cuadro 2 of the source is the dots."""
    names = ("global sparse", "natural groups", "relative groups", "relative loops")
    seconds = {(n, name): 0.5 * n * (k + 1) for n in (10, 20, 40) for k, name in enumerate(names)}
    text = figures.chain([[n, name, s] for (n, name), s in seconds.items()])
    source = example("timings")["13.4"]
    sizes = source.column("n_d").tolist()
    for dyads, name, ours, theirs, over, printed in table_of(text):
        n = int(dyads)
        assert float(ours) == pytest.approx(seconds[n, name], rel=1e-4)
        assert float(over) == pytest.approx(
            seconds[n, "global sparse"] / seconds[n, name], rel=6e-3
        )
        if name == "relative loops":
            assert theirs == printed == "–"
            continue
        row = sizes.index(n)
        reference, new = (source.column(c)[row] for c in ("GLOB_SP", SOURCE[name]))
        assert float(theirs) == pytest.approx(new)
        assert float(printed) == pytest.approx(reference / new, rel=6e-3)
    found = lines(drawn["groups-chain"].axes[0])
    for name in names:
        np.testing.assert_allclose(
            found[name], [[10, 20, 40], [seconds[n, name] for n in (10, 20, 40)]]
        )
        if name in SOURCE:
            np.testing.assert_allclose(found[f"{name} dots"], [sizes, source.column(SOURCE[name])])
    assert set(lines(drawn["groups-chain-groups"].axes[0])) >= {"natural groups", "relative groups"}


def test_the_picture_of_the_fan_has_three_speeds_and_the_dots_of_the_source(
    drawn: dict[str, Any],
) -> None:
    """Figure 36, and Cuadros 5 and 6: the times of groups are those that speed-ups imply."""
    names = ("global sparse", "natural groups", "relative groups")
    times = [
        [n, name, speed, 0.01 * n * (k + 1) * (1 + "abc".index(speed))]
        for n in (1, 10)
        for k, name in enumerate(names)
        for speed in "abc"
    ]
    rows = table_of(figures.fan(times))
    assert len(rows) == len(times)
    for speed, dyads, name, ours, _, over in rows:
        k = names.index(name)
        wanted = 0.01 * int(dyads) * (k + 1) * (1 + "abc".index(speed))
        assert float(ours) == pytest.approx(wanted, rel=1e-4)
        assert float(over) == pytest.approx(1 / (k + 1), rel=6e-3)
    assert len(drawn["groups-fan"].axes) == 3
    printed, implied = example("timings")["13.5"], example("timings")["13.7"]
    for speed, axes in zip("abc", drawn["groups-fan"].axes, strict=True):
        found = lines(axes)
        np.testing.assert_allclose(
            found["global sparse dots"][1], printed.column(f"GLOB_SP {speed}")
        )
        np.testing.assert_allclose(found["relative groups dots"][1], implied.column(f"REL {speed}"))


def test_the_picture_of_the_turn_is_the_closed_form_and_the_printed_table(
    drawn: dict[str, Any],
) -> None:
    """Figure 12: position, velocity and acceleration of the slider over a turn of the crank."""
    apart = [float(row[1]) for row in table_of(figures.turn())]
    degrees = np.arange(361.0)
    P = closed_forms.inclined_crank(turning(0.0, 24.0, np.radians(degrees) / 24.0), 2.0, np.pi / 6)
    s = closed_forms.slider_on_rail(P, 6.0, np.array([1.0, 0, 0]), np.zeros(3))
    printed = example("e4_slider")["printed"]
    for axes, exact, column in zip(drawn["groups-turn"].axes, s, ("x2", "vx2", "ax2"), strict=True):
        line, dots = (np.array(part.get_data(), float) for part in axes.lines)
        np.testing.assert_allclose(line, [degrees, exact], rtol=0, atol=1e-6)
        np.testing.assert_allclose(dots, [printed.column("phi_deg"), printed.column(column)])
        off = np.abs(printed.column(column) - np.interp(dots[0], degrees, exact)).max()
        assert apart.pop(0) == pytest.approx(off, rel=0.06)


def test_the_pictures_of_the_truck_have_its_times_and_mean_speed_ups(drawn: dict[str, Any]) -> None:
    """Figures 18 and 20."""
    ways = (GLOBAL, *WAYS)
    rows = [[k, way, 1e-6 * k * (len(ways) - j)] for k in (1, 2, 3) for j, way in enumerate(ways)]
    truck_figures.truck(rows, [[10, "global sparse", 24.001], [10, "natural groups", 2.4001]])
    ours, source = drawn["groups-truck"].axes
    found = lines(ours)
    for j, way in enumerate(ways):
        np.testing.assert_allclose(
            found[f"truck, {way}"],
            [[114, 225, 336], [k * (len(ways) - j) for k in (1, 2, 3)]],
        )
    np.testing.assert_allclose(found["chain, global sparse"], [[23], [1000.0]])
    assert len(source.lines) > 2
    bars = [bar.get_height() for bar in drawn["groups-speedups"].axes[0].patches]
    named = [j for j, way in enumerate(ways) if way != GLOBAL and WAYS[way]]
    np.testing.assert_allclose(bars[: len(named)], [len(ways) / (len(ways) - j) for j in named])
    ups = example("timings")["13.2"]
    printed = [ups.column(f"{WAYS[ways[j]]} speed-up").mean() for j in named]
    np.testing.assert_allclose(bars[len(named) :], printed)


@pytest.mark.parametrize("way", ["natural", "relative"])
def test_the_work_of_a_chain_grows_in_proportion_to_its_dyads(way: Coordinates) -> None:
    """By counts: steps of Newton's method, places in memory, and no kernel more."""
    t = np.linspace(0.0, 18.0, 61)
    steps, places, operations = {}, {}, set()
    for dyads in (4, 8, 16):
        made = chain_solver(way, dyads=dyads)
        steps[dyads] = float(made.run(t, store="points", progress=False).newton_steps)
        places[dyads] = float(made.groups.memory.size)
        operations.add(sum(len(k.function.schedule.operations) for k in made.groups.kernels))
    assert len(operations) == 1
    for counted in (steps, places):
        assert fit(counted) > 1 - 1e-6
        assert counted[16] - counted[8] == pytest.approx(2 * (counted[8] - counted[4]), rel=1e-2)


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
