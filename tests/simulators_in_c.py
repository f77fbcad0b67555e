"""Exported simulators, compiled and run from Python."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from biela.analysis.realtime import export_simulator

Floats = NDArray[np.float64]
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
FLAGS += ["-ffp-contract=off", "-fno-math-errno"]

_SHIM = """\
#include "{name}.h"
static {name}_t s;
void start(void) {{ {name}_init(&s); }}
int step(double dt, const double *u) {{ return {name}_step(&s, dt, u); }}
void place(double t, const double *q, const double *v) {{ {name}_set_state(&s, t, q, v); }}
void parameters(const double *p) {{ {name}_set_parameters(&s, p); }}
double *state(void) {{ return s.x; }}
double *given(void) {{ return s.p; }}
double *residuals(void) {{ return s.residuals; }}
double reached(void) {{ return s.t; }}
int status(void) {{ return s.status; }}
unsigned long counted(int refused) {{ return refused ? s.refused : s.steps; }}
"""
_OUTPUTS = "void outputs(void *y) {{ {name}_outputs(&s, y); }}\n"


class CompiledSimulator:
    """An exported simulator as a library; one at a time of each."""

    def __init__(self, model: Any, folder: Path, optimise: str = "-O2", **choices: Any) -> None:
        self.folder = folder
        self.paths = export_simulator(model, folder, **choices)
        self.name = name = self.paths[0].stem
        run(["gcc", *FLAGS, optimise, "-fPIC", "-c", f"{name}.c"], folder)
        has_outputs = f"{name}_outputs(" in self.paths[0].read_text(encoding="utf-8")
        shim = (_SHIM + (_OUTPUTS if has_outputs else "")).format(name=name)
        (folder / "shim.c").write_text(shim, encoding="utf-8")
        run(["gcc", *FLAGS, "-shared", "-fPIC", "-o", "shim.so", "shim.c", f"{name}.o"], folder)
        self.library = library = ctypes.CDLL(str(folder / "shim.so"))
        for pointer in ("state", "given", "residuals"):
            getattr(library, pointer).restype = ctypes.POINTER(ctypes.c_double)
        library.reached.restype = ctypes.c_double
        library.counted.restype = ctypes.c_ulong
        self.n = self._macro("STATE")
        library.start()

    def _macro(self, what: str) -> int:
        text = self.paths[0].read_text(encoding="utf-8")
        return int(text.split(f"#define {self.name.upper()}_{what} ")[1].split()[0])

    @property
    def x(self) -> Floats:
        """A copy of the state."""
        return np.array(self.library.state()[: self.n])

    @property
    def t(self) -> float:
        return float(self.library.reached())

    def step(self, dt: float = 1e-3, inputs: Sequence[float] | None = None) -> int:
        return int(self.library.step(ctypes.c_double(dt), None if inputs is None else _c(inputs)))

    def place(self, t: float, q: Any, v: Any) -> None:
        self.library.place(ctypes.c_double(t), _c(q), _c(v))

    def set_parameters(self, p: Any) -> None:
        self.library.parameters(_c(p))

    def outputs(self, *sizes: int) -> list[Floats]:
        y = np.zeros(sum(sizes))
        self.library.outputs(ctypes.c_void_p(y.ctypes.data))
        return np.split(y, np.cumsum(sizes)[:-1])

    def trajectory(self, steps: int, dt: float = 1e-3, **given: Any) -> Floats:
        """The states from the start on."""
        rows = [self.x]
        for _ in range(steps):
            self.step(dt, **given)
            rows.append(self.x)
        return np.array(rows)


def _c(numbers: Any) -> Any:
    flat = np.asarray(numbers, dtype=float).ravel()
    return (ctypes.c_double * max(len(flat), 1))(*flat)


def run(command: Sequence[str], folder: Path) -> str:
    """What a program prints; skip the test where there is no such program."""
    if not command[0].startswith("./") and shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
