"""The examples of the thesis: by biela, and by the oracle, out of the same text files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import pi
from pathlib import Path

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.model.files import load_thesis_folder
from biela.model.files.thesis import DRIVER_CODES
from biela.results import Results
from tests.oracles import thesis_kinematics as oracle

Floats = npt.NDArray[np.float64]
DATA = Path(__file__).parents[1] / "data" / "seed2"
COORDINATES = ("joint", "reference", "euler")
#: The axis of the crank, in the ground.
CRANK_AXIS = {"slider_crank": np.array([0.0, 0.0, 1.0]), "spatial": np.array([1.0, 0.0, 0.0])}
#: The laws of the slider-crank at the two speeds, and their speeds.
SPEEDS = {"pi/4 + 2*pi*t": 2 * pi, "pi/4 + 4*pi*t": 4 * pi}


@cache
def model(name: str, laws: tuple[str, ...] | None = None, cosine: bool = False) -> bl.Model:
    """A model out of the four files; code 1 stays the cosine row of the thesis if wanted."""
    codes = DRIVER_CODES | ({1: "cosine"} if cosine else {})
    return load_thesis_folder(DATA / name, laws=laws, driver_codes=codes)


@cache
def system(
    name: str, coordinates: str, laws: tuple[str, ...] | None = None, cosine: bool = False
) -> bl.System:
    return bl.formulate(model(name, laws, cosine), coordinates)


@cache
def motion(name: str, coordinates: str, laws: tuple[str, ...] | None = None) -> Results:
    """The motion as the thesis samples it: N instants, the end left out."""
    run = model(name, laws).run
    return bl.kinematics(
        system(name, coordinates, laws),
        float(run["duration"]),
        step=float(run["step"]),
        end_point=False,
    )


def straight(offset: float, slope: float) -> oracle.Law:
    return lambda t: (offset + slope * t, slope, 0.0)


def mechanism(
    name: str, laws: Sequence[oracle.Law], cosine: bool = False
) -> tuple[oracle.Mechanism, Floats]:
    """The oracle of an example, with the cosine driver or the regular one, and its estimate."""
    folder = DATA / name
    rows = oracle.numbers_in((folder / "joints.txt").read_text())
    joints = [constraint for row in rows for constraint in oracle.joint(row)]
    axis = CRANK_AXIS["spatial" if name.startswith("spatial") else "slider_crank"]
    drivers = []
    driven = oracle.numbers_in((folder / "drivers.txt").read_text())
    for row, law in zip(driven, laws, strict=True):
        code = 11.0 if row[0] == 1 and not cosine else row[0]
        drivers.append(oracle.driver([code, *row[1:]], law, axis))
    q = np.concatenate(oracle.numbers_in((folder / "initial.txt").read_text()))
    return oracle.Mechanism(len(q) // 7, joints, drivers), q


#: Laws of the drivers of each example, for the oracle.
LAWS: dict[str, list[oracle.Law]] = {
    "slider_crank": [straight(pi / 4, 2 * pi)],
    "slider_crank_table_3_1": [straight(pi / 4, 2 * pi)],
    "robot_arm": [straight(1, 0), straight(0, 0.5), straight(4, 0)],
    "spatial_slider_crank_300": [straight(0, 2 * pi)],
    "spatial_slider_crank_270": [straight(0, 2 * pi)],
    "spatial_slider_crank_240": [straight(0, 2 * pi)],
}


@cache
def oracle_motion(name: str) -> oracle.Motion:
    """The motion of an example as the oracle has it, to rounding."""
    run = model(name).run
    duration, step = float(run["duration"]), float(run["step"])
    whole, q = mechanism(name, LAWS[name])
    return whole.motion(q, step * np.arange(round(duration / step)), 1e-9, polish=True)


def assert_same_motion(
    found: Results, expected: oracle.Motion, position: float, speed: float, acceleration: float
) -> None:
    """All bodies: place, orientation, velocity, angular velocity, and accelerations."""
    scale = max(1.0, float(np.abs(expected.ddq).max()))
    for number in range(2, expected.nb + 1):
        frame = found.frame(f"link{number}")
        q, dq, ddq = expected.link(number)
        for ours, theirs, allowed in (
            (frame.position, q[:, :3], position),
            (frame.orientation, expected.orientation(number), position),
            (frame.velocity, dq[:, :3], speed),
            (frame.angular_velocity, expected.angular_velocity(number), speed),
            (frame.acceleration, ddq[:, :3], acceleration * scale),
            (
                frame.angular_acceleration,
                expected.angular_acceleration(number),
                acceleration * scale,
            ),
        ):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed)
