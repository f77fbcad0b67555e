"""A chain of four-bars with unequal links, in plain numbers and as a model of biela.

Cranks hang from pivots 1 m apart, of lengths 1 + 0.05 sin k, and couplers join the tips of
neighbours: they fit when all cranks hang straight down.  It starts at rest with the first crank
40 degrees from there.  Unequal links leave no motion of a whole in which drift would not show.
"""

from __future__ import annotations

from dataclasses import replace
from math import radians

import numpy as np

import biela as bl
from benchmarks.closed_loops.mechanism import Body, Closure, Joint, Mechanism

GRAVITY = 9.81
START = radians(40.0)


def crank_lengths(loops: int) -> np.ndarray:
    """Of N + 1 cranks."""
    return 1 + 0.05 * np.sin(np.arange(loops + 1.0))


def coupler_lengths(loops: int) -> np.ndarray:
    """Of N couplers, between the tips of hanging cranks."""
    return np.hypot(1.0, np.diff(crank_lengths(loops)))


def start_angles(loops: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the cranks from straight down, and of the couplers from x, towards -z and x."""
    cranks, couplers = crank_lengths(loops), coupler_lengths(loops)
    theta, phi = np.empty(loops + 1), np.empty(loops)
    theta[0] = START
    for k in range(loops):
        tip = np.array([cranks[k] * np.sin(theta[k]), -cranks[k] * np.cos(theta[k])])
        angle = theta[k]
        for _ in range(60):
            unit = np.array([np.sin(angle), -np.cos(angle)])
            gap = np.array([1.0, 0.0]) + cranks[k + 1] * unit - tip
            slope = 2 * cranks[k + 1] * gap @ np.array([np.cos(angle), np.sin(angle)])
            change = (gap @ gap - couplers[k] ** 2) / slope
            angle -= change
            if abs(change) < 1e-15:
                break
        theta[k + 1] = angle
        phi[k] = np.arctan2(gap[1], gap[0])
    return theta, phi


def rod_inertia(length: float) -> tuple[float, float, float, float, float, float]:
    """Of a rod of 1 kg that turns about y; its other moments do no work."""
    I = length**2 / 12
    return (I, I, I, 0.0, 0.0, 0.0)


def mechanism(loops: int) -> Mechanism:
    """For the peers: cranks on the ground, a coupler on each, closed at the next crank."""
    cranks, couplers = crank_lengths(loops), coupler_lengths(loops)
    theta, phi = start_angles(loops)
    hinge = (Joint("hinge", "y"),)
    bodies, closures, q = [], [], []
    for k in range(loops + 1):
        l = float(cranks[k])
        com = (0.0, 0.0, -l / 2)
        bodies.append(Body(f"crank{k}", "", (float(k), 0.0, 0.0), hinge, 1.0, com, rod_inertia(l)))
        q.append(-float(theta[k]))  # a hinge about y turns z towards x
        if k == loops:
            break
        c = float(couplers[k])
        com = (c / 2, 0.0, 0.0)
        tip = (0.0, 0.0, -l)
        bodies.append(Body(f"coupler{k}", f"crank{k}", tip, hinge, 1.0, com, rod_inertia(c)))
        q.append(float(theta[k] - phi[k]))
        end, place = (f"coupler{k}", (c, 0.0, 0.0)), (0.0, 0.0, -float(cranks[k + 1]))
        closures.append(Closure(f"pin{k}", (f"crank{k + 1}", place), end, "xz"))
    marked = (f"crank{loops}", (0.0, 0.0, -float(cranks[loops])))
    gravity = (0.0, 0.0, -GRAVITY)
    made = Mechanism("chain", tuple(bodies), tuple(closures), gravity, marked)
    return replace(made, q=tuple(q), v=(0.0,) * len(q))


def model(loops: int) -> bl.Model:
    """For biela: an array of cells, each a crank and a coupler, and the last crank."""
    cranks, couplers = crank_lengths(loops), coupler_lengths(loops)
    theta, phi = start_angles(loops)
    cell = bl.Model("cell", plane="xz", gravity=(0, 0, -GRAVITY))
    for name, value in {"l": 1.0, "c": 1.0, "theta": 0.0, "phi": 0.0}.items():
        cell.parameter(name, value)
    crank = cell.body("crank", mass=1.0, com=(0, 0, "-l/2"), inertia=("l^2/12",) * 3 + (0,) * 3)
    coupler = cell.body("coupler", mass=1.0, com=("c/2", 0, 0), inertia=("c^2/12",) * 3 + (0,) * 3)
    crank.marker("tip", (0, 0, "-l"), axis="y")
    coupler.marker("end", ("c", 0, 0), axis="y")
    cell.joint("revolute", "A", cell.ground.at(axis="y"), crank.at(axis="y"), start="-theta")
    cell.joint("revolute", "B", crank.markers["tip"], coupler.at(axis="y"), start="theta - phi")
    m = bl.Model("chain", plane="xz", gravity=(0, 0, -GRAVITY))
    rows = {"l": cranks[:-1], "c": couplers, "theta": theta[:-1], "phi": phi}
    pin = ("revolute", "coupler.end", "crank.tip")
    m.part("cell", cell, loops, shift=(1.0, 0, 0), between=[pin], parameters=rows)
    l = float(cranks[-1])
    last = m.body("last", mass=1.0, com=(0, 0, -l / 2), inertia=rod_inertia(l))
    place = m.ground.at(float(loops), 0, 0, axis="y")
    m.joint("revolute", "A", place, last.at(axis="y"), start=-float(theta[-1]))
    m.joint("revolute", "pin", f"cell[{loops - 1}].coupler.end", last.at(0, 0, -l, axis="y"))
    return m
