"""The truck on the page of structural groups: figures 18 and 20 of the source."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.groups.page import DOTS, IMAGES, picture, section
from benchmarks.groups.source import table
from benchmarks.groups.truck import GLOBAL, WAYS
from biela.results.style import COLORS, finish, new_figure, plain_axes, styled


def truck(rows: list[list[Any]], chains: list[list[Any]]) -> str:
    """The truck: times over the number of coordinates, and speed-ups."""
    times = {(k, way): s for k, way, s in rows}
    sizes = sorted({k for k, _ in times})
    printed, ups = table("13.1"), table("13.2")
    columns = {GLOBAL: "TS-G_MA27"} | {w: f"TS-{name}" for w, name in WAYS.items() if name}
    with styled():
        figure = new_figure(10.0, 4.4)
        axes, other = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
        for k, way in enumerate((GLOBAL, *WAYS)):
            x = [3 + 111 * size for size in sizes]
            y = [times[size, way] * 1e6 for size in sizes]
            axes.plot(x, y, "s-", markersize=3, color=COLORS[k], label=f"truck, {way}")
            if way in columns:
                seconds = printed.column(columns[way])
                other.plot(printed.column("coords"), seconds, color=COLORS[k], **DOTS)
        for name, column, shade in (
            ("global sparse", "FBL-G_MA27", COLORS[0]),
            ("natural groups", "FBL-TP (upper bound)", COLORS[6]),
        ):
            some = {n: s / 24001 * 1e6 for n, this, s in chains if this == name}
            x = [2 * n + 3 for n in some]
            axes.plot(x, list(some.values()), "--", color=shade, label=f"chain, {name}")
            mark = {**DOTS, "marker": "v" if "bound" in column else "x"}
            other.plot(printed.column("coords"), printed.column(column), color=shade, **mark)
        axes.set_title("ours")
        other.set_title("source: its times, of the chain x and (less than) v")
        axes.set_ylabel("µs an instant")
        other.set_ylabel("s")
        for some_axes in (axes, other):
            some_axes.set_yscale("log")
            some_axes.set_xlim(0, 570)
            some_axes.set_xlabel("coordinates: 3 + 111 axles, 3 + 2 dyads")
            plain_axes(some_axes)
        handles = axes.get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
        finish(figure, IMAGES / "groups-truck.png")
    ways = [way for way, name in WAYS.items() if name]
    ours = [float(np.mean([times[k, GLOBAL] / times[k, w] for k in sizes])) for w in ways]
    theirs = [float(ups.column(f"{WAYS[w]} speed-up").mean()) for w in ways]
    with styled():
        figure = new_figure(6.5, 3.6)
        axes = figure.add_subplot(1, 1, 1)
        place = np.arange(len(ways))
        axes.bar(place - 0.18, ours, 0.36, color=COLORS[0], label="ours")
        axes.bar(place + 0.18, theirs, 0.36, color=COLORS[4], label="source")
        axes.axhline(1.0, color="#777777", linewidth=0.8)
        axes.set_xticks(place, [w.replace(", ", ",\n") for w in ways])
        axes.set_ylabel("speed-up over global sparse")
        axes.legend(frameon=False)
        plain_axes(axes)
        finish(figure, IMAGES / "groups-speedups.png")
    cells = []
    for k in sizes:
        for way in (GLOBAL, *WAYS):
            source = f"{printed.column(columns[way])[k - 1]:g}" if way in columns else "–"
            up = times[k, GLOBAL] / times[k, way]
            name = WAYS.get(way, "")
            known = f"{ups.column(f'{name} speed-up')[k - 1]:g}" if name else "–"
            cells.append((str(k), way, f"{times[k, way] * 1e6:.3g}", source, f"{up:.3g}", known))
    heads = ("axles", "way", "µs an instant", "source, s", "speed-up", "source")
    text = (
        "The source's times are those of Segado et al. for another geometry and an unknown number "
        "of instants: only speed-ups compare. Sparse is an LU with pivots, not MA27."
    )
    return section("Truck suspension (figures 18 and 20)", heads, cells, text) + (
        "\n"
        + picture("truck", "Times over the number of coordinates")
        + "\n"
        + picture("speedups", "Mean speed-ups over all equations at once")
    )
