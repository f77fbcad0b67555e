"""The model files of the gallery, each read, formulated and run once for all tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.model.files import load, loads

Floats = npt.NDArray[np.float64]

FOLDER = Path(__file__).parents[2] / "examples" / "mechanisms"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def model(name: str) -> bl.Model:
    """The model of a file."""
    return load(FOLDER / f"{name}.toml")


@cache
def in_space(name: str) -> bl.Model:
    """The same without its plane: bodies with six freedoms and redundant equations."""
    lines = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    return loads("\n".join(line for line in lines if not line.startswith("plane = ")))


@cache
def system(name: str, coordinates: str = "joint") -> bl.System:
    """Its equations."""
    return bl.formulate(model(name), coordinates)


def times(name: str, key: str) -> float:
    """A time of its [run] table, s."""
    value = model(name).run[key]
    assert isinstance(value, str | float | int)
    return model(name).number(value, "time")


@cache
def motion(name: str, coordinates: str = "joint") -> bl.Results:
    """Its motion as its [run] table says: driven, or from its forces."""
    duration, step = times(name, "duration"), times(name, "step")
    equations = system(name, coordinates)
    if model(name).drivers:
        return bl.kinematics(equations, duration, step=step, tolerance=1e-13)
    return bl.simulate(equations, duration, output=step, tolerance=1e-10, progress=False)


def frame(results: bl.Results, name: str) -> tuple[Floats, Floats, Floats, Floats]:
    """Place (n, 3), axes (n, 3, 3), twist and acceleration (n, 6) of a body or marker."""

    def part(group: str, first: str, width: int) -> Floats:
        k = results.groups[group].names.index(f"{name}.{first}")
        return np.asarray(results[group])[:, k : k + width]

    pose = part("poses", "x", 12)
    axes = pose[:, 3:].reshape(-1, 3, 3)
    return pose[:, :3], axes, part("twists", "vx", 6), part("frame_accelerations", "ax", 6)
