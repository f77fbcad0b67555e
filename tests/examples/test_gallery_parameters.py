"""Every parameter of every gallery model, through every door: one model, and the same motion.

A changed value may stand in the file, be given to an analysis, on the command line, or in the
studio.  Each must make the very same model before anything is derived from it; runs are then the
same to the last bit.
"""

from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import biela as bl
from biela.analysis.preparation import with_values
from biela.cli.main import app
from biela.cli.values import quantities
from biela.model.files import dumps, loads
from biela.model.files.toml_text import document_text
from biela.studio.report.writing import subject_of
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.source import FileSource
from tests.examples.gallery import FOLDER, NAMES, model

EVERY = [(name, parameter) for name in NAMES for parameter in model(name).parameters]


def written(name: str, parameter: str, value: float) -> str:
    """A value with its unit, as a person writes it."""
    unit = model(name).parameter_units.get(parameter, "")
    return f"{value!r} {unit}" if unit[:1].isalpha() else repr(value)


def edited(name: str, values: dict[str, float]) -> str:
    """The text of a model file with other values of parameters in it."""
    document = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    given = {p: written(name, p, value) for p, value in values.items()}
    numbers = {p: float(x) if x.replace(".", "").isdigit() else x for p, x in given.items()}
    return document_text(document | {"parameters": document["parameters"] | numbers})


@cache
def source(name: str) -> FileSource:
    """What the studio has of a file."""
    return FileSource(FOLDER / f"{name}.toml")


@cache
def as_written(name: str) -> tuple[str, list[Any]]:
    """The description of a model as it is."""
    return described(model(name))


def described(one: bl.Model) -> tuple[str, list[Any]]:
    """All that equations are derived from."""
    return dumps(one), [body.inertia for body in one.flattened().bodies.values()]


@pytest.mark.parametrize(("name", "parameter"), EVERY, ids=lambda x: x)
def test_a_value_makes_the_same_model_through_every_door(name: str, parameter: str) -> None:
    value = model(name).parameters[parameter] * 1.01
    wanted = described(loads(edited(name, {parameter: value}), folder=FOLDER))
    text = written(name, parameter, value)
    for door, found in {
        "parameters=": with_values(model(name), {parameter: value})[0],
        "--set": with_values(model(name), quantities("--set", [f"{parameter}={text}"]))[0],
        "studio": source(name).model({parameter: value}),
    }.items():
        assert described(found) == wanted, door
    assert as_written(name) != wanted


def test_a_report_is_of_the_same_model() -> None:
    wanted = described(loads(edited("slider_crank", {"rod_length": 7.0})))
    for subject in (FOLDER / "slider_crank.toml", model("slider_crank")):
        assert described(subject_of(subject, {"rod_length": "7 m"})) == wanted


def off_by_little(name: str) -> dict[str, float]:
    """All parameters changed, each otherwise, so that the mechanism still assembles."""
    given = model(name).parameters.given
    return {p: x * (1 + 1e-3 / (k + 1)) for k, (p, x) in enumerate(given.items())}


def moved(subject: bl.Model, **more: Any) -> bl.Results:
    if subject.drivers:
        return bl.kinematics(subject, 0.02, step=0.01, **more)
    return bl.simulate(subject, 0.02, step=0.01, **more)


def assert_same(found: bl.Results, wanted: bl.Results) -> None:
    assert list(found.groups) == list(wanted.groups)
    for group in wanted.groups:
        assert np.array_equal(found[group], wanted[group], equal_nan=True), group


@pytest.mark.parametrize("name", NAMES)
def test_a_motion_is_the_same_to_the_last_bit(name: str) -> None:
    values = off_by_little(name)
    wanted = moved(loads(edited(name, values), folder=FOLDER))
    assert_same(moved(model(name), parameters=values), wanted)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("slider_crank", {"rod_length": 7.0, "first_angle": 0.5}),
        ("bennett", {"alpha": 0.75}),  # its b is computed from it
        ("pantograph", {"scale": 2.5}),
    ],
)
def test_the_command_line_and_the_studio_move_it_as_the_edited_file(
    name: str, values: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "edited.toml"
    file.write_text(edited(name, values), encoding="utf-8")
    plain = ["--no-plot", "--animate", "none", "--time", "0.05", "--step", "0.01"]
    motions = []
    for source, more in (
        (file, []),
        (FOLDER / f"{name}.toml", [f"--set={p}={written(name, p, x)}" for p, x in values.items()]),
    ):
        called = CliRunner().invoke(app, ["run", str(source), *plain, *more, "--out", "out"])
        assert called.exit_code == 0, called.output
        motions.append(bl.Results.load("out/results.npz"))
    assert_same(*motions)
    shown = []
    for place, changes in ((file, {}), (FOLDER / f"{name}.toml", values)):
        session = Session(FileSource(place))
        session.choose(analysis=Analysis.KINEMATICS, duration=0.05, step=0.01)
        for p, x in changes.items():
            session.set_parameter(p, x)
        assert session.run(), session.error
        shown.append(session.motion)
    assert_same(*shown)
    by_python = bl.kinematics(bl.load(file), 0.05, step=0.01)
    assert np.array_equal(shown[0].q, by_python.q)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("four_bar", {"engine": "looped"}),
        ("theo_jansen", {"formulation": "natural groups"}),
        ("four_bar", {"formulation": "relative groups"}),
    ],
    ids=str,
)
def test_engines_and_groups_take_the_same_model(name: str, more: dict[str, str]) -> None:
    values = off_by_little(name)
    wanted = bl.kinematics(loads(edited(name, values), folder=FOLDER), 0.02, step=0.01, **more)
    assert_same(bl.kinematics(model(name), 0.02, step=0.01, parameters=values, **more), wanted)


def test_equations_that_were_derived_before_follow_too() -> None:
    values = {"rod_length": 7.0, "crank_length": 1.5, "steel": 2700.0}
    wanted = bl.simulate(loads(edited("slider_crank", values)), 0.1, step=0.01)
    system = bl.formulate(model("slider_crank"))
    found = bl.Simulator(system).run(0.1, step=0.01, parameters=values)
    assert np.asarray(found["lam"]) == pytest.approx(np.asarray(wanted["lam"]), rel=1e-9)
    for one, other in zip(found.scene.shapes, wanted.scene.shapes, strict=True):
        assert one.corners() == pytest.approx(other.corners(), abs=1e-9)


# --- the torque of the slider-crank, by energy ----------------------------------------------------


def slider_crank_torque(t: float, r: float, l: float, rho: float) -> float:
    """Of the motor at constant speed: the rate of kinetic and potential energy over the speed.

    Thin rods of radius 60 mm and 50 mm; the piston of 200 kg does not rise.
    """
    w, first = 2 * math.pi, math.pi / 4
    crank, rod = rho * math.pi * 0.06**2 * r, rho * math.pi * 0.05**2 * l

    def energy(t: float) -> float:
        phi = first + w * t
        x, y = r * math.cos(phi), r * math.sin(phi)
        reach = math.sqrt(l * l - y * y)  # of the rod along the guide
        dx, dy = -y * w, x * w
        turning = -dy / reach  # rate of the angle of the rod
        piston = dx - y * dy / reach
        vx, vy = (dx + piston) / 2, dy / 2
        kinetic = (
            crank * r * r * w * w / 6
            + rod * (vx * vx + vy * vy) / 2
            + rod * l * l * turning * turning / 24
            + 100 * piston * piston
        )
        return kinetic + 9.81 * (crank + rod) * y / 2

    h = 1e-4  # of a formula of order four
    slope = (8 * (energy(t + h) - energy(t - h)) - energy(t + 2 * h) + energy(t - 2 * h)) / (12 * h)
    return slope / w


@pytest.mark.parametrize(
    "values", [{}, {"rod_length": 7.0}, {"crank_length": 1.5, "steel": 2700.0}], ids=str
)
def test_the_torque_of_the_motor_follows_the_masses_of_the_shapes(values: dict[str, float]) -> None:
    data = {"crank_length": 2.0, "rod_length": 3.5, "steel": 7850.0, **values}
    m = model("slider_crank")
    motion = bl.simulate(m, 1.0, step=2e-3, output=0.02, parameters=values)
    rows = [n for n in motion.groups["lam"].names if n.startswith("λ(motor.")]
    assert len(rows) == 1
    wanted = [slider_crank_torque(t, *data.values()) for t in motion.t]
    size = max(map(abs, wanted))
    # a multiplier is what the driver takes: the opposite of what the motor gives
    assert -np.asarray(motion[rows[0]]) == pytest.approx(wanted, abs=1e-6 * size)
