"""Structural groups of large mechanisms: time to find them, by size, and how it grows.

Arrays and chains of four-bars in the plane and in space, where every loop has three equations too
many, and spatial sliders whose rods may spin.  Times are of the CPU, with what is compiled
loaded before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import biela as bl
from benchmarks.agreement import WrongResultError
from benchmarks.looped_kinematics import array
from benchmarks.report import Row, below
from biela.graph.structure import Units, assigned, condensed

#: Bodies of the largest mechanism.
BODIES = 100_000


def run(quick: bool) -> Iterator[Row]:
    bodies = 20_000 if quick else BODIES
    counting(100)
    yield below(f"count and order {bodies:,} bodies of a chain", counting(bodies), 1, "s")
    for what, plane, link in (
        ("planar four-bars, array", "xy", None),
        ("planar four-bars, chain", "xy", "rocker.tip"),
        ("spatial four-bars, array", None, None),
        ("spatial four-bars, chain", None, "rocker.tip"),
    ):
        cells = bodies // 3
        small = seconds(array(cells // 10, plane, link), 2 * (cells // 10))
        spent = seconds(array(cells, plane, link), 2 * cells)
        yield below(f"{what}, {3 * cells:,} bodies", spent, 5, "s")
        yield Row(f"{what}, growth for ten times the bodies", f"{spent / small:.3g} times")
    cells = bodies // 3
    yield below(f"spatial sliders, {3 * cells:,} bodies", slider_seconds(cells), 5, "s")


def seconds(model: bl.Model, groups: int) -> float:
    """CPU seconds to find the groups of a model, of which the number is known."""
    bl.structural_groups(array(2, model.plane))
    start = time.process_time()
    found = bl.structural_groups(model)
    spent = time.process_time() - start
    if len(found.groups) != groups or not found.determined:
        raise WrongResultError(f"{model.name} has {groups} groups, not {len(found.groups)}")
    return spent


def sliders(count: int) -> bl.Model:
    """So many cranks, each with a rod with two balls to a slide."""
    cell = bl.Model("slider")
    cell.parameter("a", 2.0)
    crank, rod, slider = (
        cell.body(name, mass=1.0, inertia=0.1) for name in ("crank", "rod", "slider")
    )
    cell.joint("revolute", "shaft", cell.ground, crank, axis=(0.866, -0.5, 0.0))
    cell.joint("spherical", "pin", crank.at("0 m", "0 m", "a"), rod)
    cell.joint("spherical", "ball", rod.at(6.0), slider)
    cell.joint("prismatic", "rail", cell.ground, slider, axis="x", start=5.6)
    cell.driver("rotary", "motor", coordinate="shaft", law="0.3 + t")
    m = bl.Model("sliders")
    lengths = {"a": np.linspace(1.9, 2.1, count)}
    m.part("cell", cell, count, shift=(0, 20, 0), parameters=lengths)
    return m


def slider_seconds(count: int) -> float:
    bl.structural_groups(sliders(2))
    start = time.process_time()
    found = bl.structural_groups(sliders(count))
    spent = time.process_time() - start
    names = {table.name: len(table.groups) for table in found.tables.values()}
    if names != {"1R": count, "2S1P": count}:
        raise WrongResultError(f"{count} sliders are cranks and dyads, not {names}")
    return spent


def counting(bodies: int) -> float:
    """The integers alone: a head for every unit, and the order of the groups."""
    count = bodies // 2
    k = np.arange(count)
    coupler, rocker, before = 2 * k + 1, 2 * k + 2, 2 * k
    pairs = np.stack([before, coupler, before, coupler, coupler, rocker, coupler, rocker], axis=1)
    entries = np.concatenate([pairs.ravel(), np.repeat(rocker, 2), [0, 0, 0]]).astype(np.int64)
    sizes = np.concatenate([np.full(4 * count, 2), np.ones(2 * count + 3)]).astype(np.int64)
    units = Units(np.full(2 * count + 1, 3), np.concatenate([[0], np.cumsum(sizes)]), entries)
    start = time.process_time()
    found = assigned(units)
    head = found.head[units.of_entries]
    arrows = head != units.entries
    order = condensed(units.nodes, units.entries[arrows], head[arrows])
    spent = time.process_time() - start
    if order.count != count + 1 or found.missing:
        raise WrongResultError(f"{count} dyads on a crank are not {order.count} groups")
    return spent


if __name__ == "__main__":
    for row in run(quick=False):
        print(row)
