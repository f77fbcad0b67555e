"""The page of structural groups: ``python -m benchmarks.groups.figures``.

Draws what `benchmarks.groups.measured` has measured last, with the figures of the source as dots,
and writes ``docs/groups-tables.md`` and its pictures in ``docs/images``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.groups.cost_simulator import Case, Cost, draw
from benchmarks.groups.cost_simulator import table as cost_table
from benchmarks.groups.formulations import prepared
from benchmarks.groups.growth import fit
from benchmarks.groups.measured import stored
from benchmarks.groups.page import DOTS, IMAGES, PAGE, picture, section
from benchmarks.groups.source import NAMES, chain_seconds, slider_seconds
from benchmarks.groups.truck_figures import truck
from biela.analysis.groups.solver import GroupSolver
from biela.results.style import COLORS, finish, new_figure, plain_axes, styled
from examples.groups.four_bar_chain import named_chain
from examples.groups.spatial_slider import FAN_SPEEDS, SPEED, spatial_slider
from tests.groups_oracle.golden import example

INTRODUCTION = """\
# Structural groups

The examples of `examples/groups`, beside the figures of the thesis of M. Miralles Delgado
(Universidad Politécnica de Cartagena, 2018), whose mechanisms they are. Times are CPU seconds of
one core for 24,001 instants unless it is said otherwise, Newton's method to 1e-10 and no closed
forms; dots are the source's, on its computer of the time. Written by
`python -m benchmarks.groups.figures` from what `python -m benchmarks.groups.measured` measured.
"""

#: A line in a picture: its colour by formulation.
SHADES = dict(zip(NAMES, COLORS, strict=False)) | {
    "relative loops": COLORS[5],
    "mixed groups": COLORS[6],
    "reference groups": "#999933",
}


# --- figure 12 ------------------------------------------------------------------------------------


def turn() -> str:
    """The slider over a turn of its crank."""
    angle = np.linspace(0.0, 2 * np.pi, 361)
    made = GroupSolver(spatial_slider(), coordinates="relative", points=["slider.C"])
    run = made.run(angle / SPEED, progress=False).point("slider.C")
    printed = example("e4_slider")["printed"]
    degrees = printed.column("phi_deg")
    rows = []
    with styled():
        figure = new_figure(6.0, 6.0)
        for k, (values, column, label) in enumerate(
            (
                (run.position, "x2", "x, m"),
                (run.velocity, "vx2", "v, m/s"),
                (run.acceleration, "ax2", "a, m/s²"),
            )
        ):
            axes = figure.add_subplot(3, 1, k + 1)
            axes.plot(np.degrees(angle), values[:, 0], color=COLORS[k])
            axes.plot(degrees, printed.column(column), color=COLORS[k], **DOTS)
            axes.set_ylabel(label)
            axes.set_xticks(range(0, 361, 60))
            plain_axes(axes)
            apart = np.abs(values[np.rint(degrees).astype(int), 0] - printed.column(column))
            rows.append((label, f"{apart.max():.1e}"))
        axes.set_xlabel("angle of the crank, degrees")
        finish(figure, IMAGES / "groups-turn.png")
    text = "Ours against the source's four digits, three misprints corrected."
    return section("The spatial slider over a turn (figure 12)", ("what", "apart"), rows, text) + (
        "\n" + picture("turn", "Position, velocity and acceleration of the slider")
    )


# --- figures 33 and 34 ----------------------------------------------------------------------------


def chain(rows: list[list[Any]]) -> str:
    """The chain in all formulations."""
    times = {(n, name): s for n, name, s in rows}
    sizes = sorted({n for n, _ in times})
    names = list(dict.fromkeys(name for _, name in times))
    _lines("chain", "dyads", times, names, chain_seconds)
    _lines("chain-groups", "dyads", times, ["natural groups", "relative groups"], chain_seconds)
    cells = []
    for n in sizes:
        for name in names:
            if (n, name) not in times:
                continue
            ours, theirs = times[n, name], chain_seconds(name, n)
            sparse = f"{times[n, 'global sparse'] / ours:.3g}"
            base = chain_seconds("global sparse", n)
            printed = f"{base / theirs:.3g}" if base and theirs else "–"
            source = f"{theirs:g}" if theirs else "–"
            cells.append((str(n), name, f"{ours:.4f}", source, sparse, printed))
    heads = ("dyads", "formulation", "s", "source, s", "over global sparse", "source")
    grown = _straight(times, names, sizes)
    text = (
        "Groups are solved by elimination unrolled into kernels in the lanes of the processor, the "
        "global ones by factorisations with pivots at run time. Operations of the kernel of a "
        f"dyad: {operations()}; the zeros of the tensor are not among them. "
        f"R² of lines through the times: {grown}."
    )
    return section("Chain of four-bars (Cuadro 2, figures 33 and 34)", heads, cells, text) + (
        "\n"
        + picture("chain", "Times of the chain in all formulations")
        + "\n"
        + picture("chain-groups", "Natural against relative groups")
    )


def operations() -> str:
    """Of the kernel of a dyad, by formulation."""
    model, found = named_chain(2), []
    for name in ("natural groups", "natural groups, tensor", "relative groups", "reference groups"):
        made = prepared(model, name, "cell[0].rocker.C")
        most = max(len(kernel.function.schedule.operations) for kernel in made.groups.kernels)
        found.append(f"{name} {most}")
    return ", ".join(found)


def _straight(times: dict[Any, float], names: Sequence[str], sizes: Sequence[int]) -> str:
    found = []
    for name in names:
        if "groups" in name and len(sizes) > 2:
            some = {n: times[n, name] for n in sizes}
            found.append(f"{name} {fit(some):.4f}")
    return ", ".join(found) or "too few sizes"


def _lines(file: str, across: str, times: Any, names: Sequence[str], source: Any) -> None:
    """Times by size, with the source's as dots."""
    with styled():
        figure = new_figure(7.0, 4.6)
        axes = figure.add_subplot(1, 1, 1)
        for name in names:
            x = sorted(n for n, other in times if other == name)
            shade = SHADES[name]
            style = "-" if name in NAMES else ":"
            axes.plot(x, [times[n, name] for n in x], style, color=shade, label=name)
            known = [n for n in range(10, 101, 10) if source(name, n)]
            axes.plot(known, [source(name, n) for n in known], color=shade, **DOTS)
        axes.plot([], [], "o", color="#777777", markersize=4, label="source")
        axes.set_yscale("log")
        axes.set_xlim(0, 102)
        axes.set_xlabel(across)
        axes.set_ylabel("s for 24,001 instants")
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
        plain_axes(axes)
        finish(figure, IMAGES / f"groups-{file}.png")


# --- figure 36 ------------------------------------------------------------------------------------


def fan(rows: list[list[Any]]) -> str:
    """The fan at three speeds."""
    times = {(n, name, speed): s for n, name, speed, s in rows}
    names = list(dict.fromkeys(name for _, name, _ in times))
    cells = []
    with styled():
        figure = new_figure(10.5, 4.2)
        for k, (speed, rate) in enumerate(FAN_SPEEDS.items(), 1):
            axes = figure.add_subplot(1, 3, k)
            for name in names:
                x = sorted(n for n, other, s in times if (other, s) == (name, speed))
                line = [times[n, name, speed] for n in x]
                axes.plot(x, line, "-", color=SHADES[name], label=name)
                known = [n for n in (1, *range(10, 101, 10)) if slider_seconds(name, n, speed)]
                dots = [slider_seconds(name, n, speed) for n in known]
                axes.plot(known, dots, color=SHADES[name], **DOTS)
                for n, ours in zip(x, line, strict=True):
                    theirs = slider_seconds(name, n, speed)
                    source = f"{theirs:g}" if theirs else "–"
                    over = times[n, "global sparse", speed] / ours
                    cells.append((speed, str(n), name, f"{ours:.4f}", source, f"{over:.3g}"))
            axes.plot([], [], "o", color="#777777", markersize=4, label="source")
            axes.set_yscale("log")
            axes.set_xlim(0, 102)
            axes.set_ylim(1e-3, 300)
            axes.set_title(f"{rate:.3g} rad/s")
            axes.set_xlabel("dyads")
            if k == 1:
                axes.set_ylabel("s for 24,001 instants")
            plain_axes(axes)
        handles = axes.get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
        finish(figure, IMAGES / "groups-fan.png")
    heads = ("speed", "dyads", "formulation", "s", "source, s", "over global sparse")
    text = (
        "Natural coordinates of a dyad are three here (the point C), less than the source's model, "
        "which has eight equations a dyad: what is gained by relative coordinates in space depends "
        "on how lean the natural model is."
    )
    return section("Fan of spatial sliders (Cuadros 5 and 6, figure 36)", heads, cells, text) + (
        "\n" + picture("fan", "Times of the fan at three speeds")
    )


def models(rows: list[list[Any]]) -> str:
    """The fan in three models of natural coordinates."""
    lean = {speed: seconds for _, unknowns, speed, _, seconds in rows if unknowns == 3}
    cells = [
        (speed, str(dyads), name, str(unknowns), f"{s:.4f}", f"{s / lean[speed]:.2f}")
        for name, unknowns, speed, dyads, s in sorted(rows, key=lambda row: (row[2], row[1]))
    ]
    heads = ("speed", "dyads", "natural coordinates", "unknowns a dyad", "s", "over one point")
    text = (
        "The same motion in all. How lean the natural model is decides whether relative "
        "coordinates are faster in space."
    )
    return section("Models of the spatial slider", heads, cells, text)


# --- the rest -------------------------------------------------------------------------------------


def growing(rows: list[list[Any]]) -> str:
    """The chain to 100,000 dyads."""
    cells = [(way, f"{n:,}", f"{ns:.3g}") for way, n, ns in rows]
    heads = ("coordinates", "dyads", "ns a dyad and instant")
    return section("Growth", heads, cells)


def moving(rows: list[list[Any]]) -> str:
    """Forward dynamics of the chain."""
    general = {loops: ns for loops, name, ns in rows if name == "general"}
    cells = [
        (f"{loops:,}", name, f"{ns:.4g}", f"{ns / general[loops]:.2f}") for loops, name, ns in rows
    ]
    heads = ("four-bars", "formulation", "ns a loop and step", "over the general one")
    text = (
        "Groups take four evaluations a step (Runge and Kutta), the general formulation one "
        "solution of its saddle-point system."
    )
    return section("Forward dynamics of the chain", heads, cells, text)


def costs(rows: list[dict[str, Any]]) -> str:
    """The simulator of cost."""
    found = [Cost(**{**row, "case": Case(**row["case"])}) for row in rows]
    draw(found, IMAGES / "groups-cost.png")
    text = (
        "Random mechanisms made of groups of one size, one setting changed at a time by "
        "`benchmarks.groups.cost_simulator.cost_study`. *Filled* is the share of entries of the "
        "Jacobian of a group that are not zero."
    )
    return "\n".join(
        ["## Simulator of cost", "", cost_table(found), "", text, "", picture("cost", "Costs")]
    )


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    found = stored()
    parts = [INTRODUCTION, turn()]
    sections = {
        "chain": chain,
        "fan": fan,
        "models": models,
        "growth": growing,
        "dynamics": moving,
    }
    for name, make in sections.items():
        if name in found:
            parts.append(make(found[name]))
    if "truck" in found:
        parts.append(truck(found["truck"], found.get("chain", [])))
    if "cost" in found:
        parts.append(costs(found["cost"]))
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    missing = [name for name in (*sections, "truck", "cost") if name not in found]
    print(f"wrote {PAGE}" + (f"; not measured: {', '.join(missing)}" if missing else ""))


if __name__ == "__main__":
    main()
