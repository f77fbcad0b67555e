"""The doors of the matrix: every way in which biela moves a model by its forces."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import biela as bl
from biela.cli.main import main

#: Moves a model for a duration, with settings of `biela.simulate`; by name.
DOORS: Final[dict[str, Callable[..., bl.Results]]] = {}

#: Settings that a door takes, where it is not to take all.
TAKES: Final[dict[str, set[str]]] = {"command": {"parameters", "inputs", "q", "v"}}

Door = Callable[..., bl.Results]


def door(run: Door) -> Door:
    """Enter a door into the matrix."""
    DOORS[run.__name__] = run
    return run


@door
def joint(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """Unrolled, coordinates of the joints."""
    return bl.simulate(bl.formulate(model, "joint"), duration, **run)


@door
def default(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """What `biela.simulate` chooses."""
    return bl.simulate(model, duration, **run)


@door
def reference(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """Unrolled, a point and an orientation of each body."""
    return bl.simulate(bl.formulate(model, "reference"), duration, **run)


@door
def euler(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """Unrolled, with rates of Euler parameters."""
    return bl.simulate(bl.formulate(model, "euler"), duration, **run)


@door
def natural(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """Unrolled, points and unit vectors."""
    return bl.simulate(bl.formulate(model, "natural"), duration, **run)


@door
def looped(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """Looped, kinds of joints derived once."""
    return bl.simulate(model, duration, engine="looped", **run)


@door
def groups(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """Structural groups."""
    return bl.simulate(model, duration, coordinates="groups", **run)


@door
def simulator(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """A simulator that has moved before."""
    made = bl.Simulator(model)
    made.run(2 * run["step"], step=run["step"])
    return made.run(duration, **run)


@door
def robot(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """A robot."""
    return bl.Robot(model).simulate(duration, **run)


@door
def file(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """A model that was written to a file and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.toml"
        bl.save_model(model, path)
        return bl.simulate(bl.load_model(path), duration, **run)


@door
def command(model: bl.Model, duration: float, **run: Any) -> bl.Results:
    """``biela run``."""
    options = {"parameters": "--set", "inputs": "--input", "q": "--q", "v": "--v"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.toml"
        bl.save_model(model, path)
        words = ["run", str(path), "--time", repr(duration), "--no-plot", "--animate", "none"]
        words += ["--out", folder]
        for name, value in run.items():
            if name in options:
                words += [w for n, x in value.items() for w in (options[name], f"{n}={x!r}")]
            else:
                words += [f"--{name}", str(value)]
        code = main(words)
        if code:
            raise RuntimeError(f"biela {' '.join(words)} ended with {code}")
        return bl.load(Path(folder) / "results.npz")
