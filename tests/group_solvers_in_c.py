"""Exported solvers of groups, compiled and run from Python; and mechanisms to run them on."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biela as bl
from biela.analysis.groups.solver import GroupSolver
from tests.simulators_in_c import FLAGS, run

Floats = NDArray[np.float64]

_SHIM = """\
#include "{name}.h"
static {name}_t s;
int start(void) {{ return {name}_init(&s); }}
int step(const double *drivers, double dt) {{ return {name}_step(&s, drivers, dt); }}
int step_time(double t) {{ return {name}_step_time(&s, t); }}
void outputs(void *y) {{ {name}_outputs(&s, y); }}
unsigned long size(void) {{ return sizeof({name}_outputs_t)/sizeof(double); }}
double reached(void) {{ return s.t; }}
int status(void) {{ return s.status; }}
unsigned long counted(int refused) {{ return refused ? s.refused : s.steps; }}
void allow(double limit) {{ s.limit = limit; }}
const char *group(int status) {{ return {name}_group_name(status); }}
int split(int status, int how) {{ return how ? {upper}_HOW(status) : {upper}_GROUP(status); }}
"""


class CompiledGroups:
    """An exported solver of groups as a library."""

    def __init__(self, solver: GroupSolver, folder: Path, level: str = "-O1", **choices: Any):
        self.solver, self.folder = solver, folder
        self.paths = solver.export(folder, **choices)
        self.name = name = self.paths[0].stem
        run(["gcc", *FLAGS, level, "-fPIC", "-c", f"{name}.c"], folder)
        shim = _SHIM.format(name=name, upper=name.upper())
        (folder / "shim.c").write_text(shim, encoding="utf-8")
        run(["gcc", *FLAGS, "-shared", "-fPIC", "-o", "shim.so", "shim.c", f"{name}.o"], folder)
        self.library = library = ctypes.CDLL(str(folder / "shim.so"))
        library.reached.restype = ctypes.c_double
        library.size.restype = library.counted.restype = ctypes.c_ulong
        library.group.restype = ctypes.c_char_p
        self.size = int(library.size())

    def start(self) -> int:
        return int(self.library.start())

    def step_time(self, t: float) -> int:
        return int(self.library.step_time(ctypes.c_double(t)))

    def step(self, drivers: Any, dt: float) -> int:
        flat = np.asarray(drivers, dtype=float).ravel()
        given = (ctypes.c_double * max(1, len(flat)))(*flat)
        return int(self.library.step(given, ctypes.c_double(dt)))

    def outputs(self) -> Floats:
        y = np.zeros(self.size)
        self.library.outputs(ctypes.c_void_p(y.ctypes.data))
        return y

    def motion(self, t: Floats) -> Floats:
        """All outputs at some instants, by the laws of the model."""
        assert self.start() == 0
        rows = []
        for instant in t:
            assert self.step_time(float(instant)) == 0
            rows.append(self.outputs())
        return np.array(rows)


def four_bar_chain(count: int, turned: int = 0) -> bl.Model:
    """A crank and dyads one after the other: bars of 2 and 6 m, as in Miralles 2018, ch. 4.

    The coupler of one of them may have its first pin with the two bodies exchanged.
    """
    m = bl.Model("chain", plane="xy")
    crank = m.body("crank", mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    m.joint("revolute", "A", m.ground.at(), crank.at(), start={"angle": np.pi / 2})
    tip = crank.at(2.0, 0, 0)
    x = 10.612451549659711 - 6
    c, s = (x - 6) / 6, np.sqrt(1 - ((x - 6) / 6) ** 2)
    for k in range(1, count + 1):
        coupler = m.body(f"c{k}", mass=1.0, com=(3, 0, 0), inertia=(1, 1, 1))
        rocker = m.body(f"r{k}", mass=1.0, com=(3, 0, 0), inertia=(1, 1, 1))
        coupler.marker("C", (6.0, 0, 0))
        ends = (coupler.at(), tip) if k == turned else (tip, coupler.at())
        m.joint("revolute", f"B{k}", *ends)
        start = {"angle": float(np.arctan2(s, c))}
        m.joint("revolute", f"D{k}", m.ground.at(6.0 * k, 0, 0), rocker.at(), start=start)
        m.joint("revolute", f"C{k}", coupler.at(6.0, 0, 0), rocker.at(6.0, 0, 0))
        tip = coupler.at(6.0, 0, 0)
    m.driver("rotary", "motor", coordinate="A.angle", law="pi/2 + 0.3490658503988659*t")
    return m


def slider_fan(count: int, rate: float = 2.0) -> bl.Model:
    """A crank that moves sliders on axes all around through rods between balls."""
    m = bl.Model("fan")
    crank = m.body("crank", mass=1.0, inertia=(1, 1, 1))
    axis = (np.cos(np.pi / 6), -np.sin(np.pi / 6), 0.0)
    m.joint("revolute", "A", m.ground.at(axis=axis), crank.at(axis="x"))
    tip = crank.marker("B", (0, 0, 2.0))
    for k in range(count):
        a = 2 * np.pi * k / count
        along = (np.cos(a), np.sin(a), 0.0)
        rod = m.body(f"rod{k}", mass=1.0, com=(3, 0, 0), inertia=(1, 1, 1))
        slider = m.body(f"slider{k}", mass=1.0, inertia=(1, 1, 1))
        slider.marker("c", (0, 0, 0))
        m.joint("spherical", f"S{k}", tip, rod.at())
        m.joint("spherical", f"C{k}", rod.at(6.0, 0, 0), slider.at())
        rail = m.ground.at(axis=along)
        start = {"displacement": float(np.sqrt(32.0))}
        m.joint("prismatic", f"P{k}", rail, slider.at(axis="x"), start=start)
    m.driver("rotary", "motor", coordinate="A.angle", law=f"{rate}*t")
    return m
