"""Loads, motors and counts in the report, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import biela as bl
from biela.cli.main import main
from biela.studio.report import loads
from biela.studio.report.cases import cases
from biela.studio.report.description import description_parts
from biela.studio.report.figures import curves_figure
from biela.studio.report.fragments import number
from biela.studio.report.making import Progress
from biela.studio.report.motion import course, settings_for, uncommanded
from biela.studio.report.plots import animation, channel_words, plots
from biela.studio.shelf import gallery
from biela.studio.source import FileSource
from biela.studio.topology_structure import Structure
from tests.studio.pages import read_fragment, text_of

MASS, LENGTH, GRAVITY = 2.0, 0.5, 9.81


def arm(law: str, plane: str | None = "xz") -> bl.Model:
    """A mass on a light arm that a motor turns, upwards where the angle grows."""
    model = bl.Model("arm", plane=plane)
    body = model.body("arm", mass=MASS, com=(LENGTH, 0, 0), inertia=(0, 0, 0))
    model.joint("revolute", "pivot", model.ground, body, axis="-y")
    model.driver("rotary", "motor", coordinate="pivot", law=law)
    model.sensor("point", "tip", marker=body.at(LENGTH, 0, 0))
    model.run = {"duration": 1.0, "step": 0.01, "path": ["tip"]}
    return model


def moved(model: bl.Model) -> Any:
    return course(model, settings_for(model, None, None))


def limited_arm() -> bl.Model:
    """Two hinges in space, with limits, and a motor that nobody commands."""
    model = bl.Model("limited arm")
    before = model.ground
    for k, name in enumerate(("shoulder", "elbow")):
        body = model.body(name + "_link", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.01, 0.01))
        place = before.at(0.4 * k, 0, 0, axis="y")
        model.joint("revolute", name, place, body.at(0, 0, 0, axis="y"), limits=(-1.0, 1.0))
        before = body
    model.force("actuator", "elbow_motor", coordinate="elbow")
    model.run = {"duration": 0.1, "step": 0.01}
    return model


# -------------------------------------------------------------------------------- counts


def test_limits_of_joints_are_no_constraints_of_the_mechanism() -> None:
    structure = Structure(limited_arm())
    counted = rows_of(structure.freedoms())
    assert ["shoulder", "5", "5"] in counted and ["elbow", "5", "5"] in counted
    assert not any("angle" in row[0] for row in counted)
    assert "all 10 constraints are independent" in structure.redundancy()


def test_what_joints_remove_in_the_plane_is_the_count_of_the_freedoms() -> None:
    model = gallery().source("quick-return").model({})
    joints = list(rows_of(description_parts(model)["Joints"]))
    assert joints[0][4] == "removes in the xz plane"
    removed = sum(int(row[4]) for row in joints[1:])
    n = len(model.bodies)
    (count,) = [row[1] for row in rows_of(Structure(model).freedoms()) if "xz plane" in row[0]]
    assert count == f"3·{n} − {removed} = {3 * n - removed}"
    assert 3 * n - removed == 1


def rows_of(html: str) -> list[list[str]]:
    return [[text_of(cell) for cell in row] for row in read_fragment(html).iter("tr")]


# -------------------------------------------------------------------------------- motors


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Mapping[str, Any]]]:
    """The instants and curves of figures that are drawn from now on."""
    drawn = []

    def draw(t: Any, panels: Mapping[str, Any]) -> Figure:
        drawn.append((t, panels))
        return curves_figure(t, panels)

    monkeypatch.setattr(loads, "curves_figure", draw)
    return drawn


def test_a_motor_that_only_brakes_has_a_peak_of_braking_and_none_of_power() -> None:
    rate = 1.0
    model = arm(f"-{rate}*t")
    table = rows_of(loads.motors(model, moved(model)))
    found = dict(zip(table[0], table[1], strict=True))
    # it holds the weight back on its way down: τ = m g L cos(ω t), p = -τ ω
    assert found["peak braking [W]"] == number(MASS * GRAVITY * LENGTH * rate)
    assert found["peak power [W]"] == "0"


def test_a_motor_that_gets_back_what_it_gave_has_a_mean_power_of_zero() -> None:
    model = arm("2*pi*t")  # all round in one second
    table = rows_of(loads.motors(model, moved(model)))
    found = dict(zip(table[0], table[1], strict=True))
    assert found["mean power [W]"] == "0"
    assert found["peak power [W]"] == found["peak braking [W]"] != "0"


def test_the_motor_of_the_shaper_does_the_work_of_the_cut() -> None:
    model = gallery().source("quick-return").model({})
    found = moved(model)
    (duty,), _ = loads.duties(model, found)
    x = np.interp([0.0, 0.5835, 0.9165, 1.0], found.motion.t, found.motion["tool.x"])
    work = -1000.0 * (x[1] - x[0] + x[3] - x[2])  # a force of 1 kN against the slow stroke
    # weights and inertia do none in a whole turn
    assert duty.mean_power * 1.0 == pytest.approx(work, rel=5e-3)


def test_torque_and_power_are_drawn_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = recorded(monkeypatch)
    model = arm("2*pi*t")
    html = loads.motors(model, moved(model))
    ((t, panels),) = drawn
    torque = MASS * GRAVITY * LENGTH * np.cos(2 * np.pi * t)
    assert list(panels) == ["torque [N·m]", "power [W]"]
    assert panels["torque [N·m]"]["motor"] == pytest.approx(torque, abs=1e-9)
    assert panels["power [W]"]["motor"] == pytest.approx(2 * np.pi * torque, abs=1e-8)
    assert "load over speed" not in html  # at a steady speed it is a line upwards
    slow = arm("sin(t)")
    assert "load over speed of motor" in loads.motors(slow, moved(slow))


def test_forces_of_joints_are_drawn_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = recorded(monkeypatch)
    rate = 3.0
    model = arm(f"{rate}*t")
    found = moved(model)
    loads.reactions(model, found)
    ((_, panels),) = drawn
    angle = rate * found.motion.t
    force = MASS * np.hypot(-LENGTH * rate**2 * np.cos(angle),
                            GRAVITY - LENGTH * rate**2 * np.sin(angle))  # fmt: skip
    assert panels["force [N]"]["pivot"] == pytest.approx(force, rel=1e-9)
    assert panels["moment [N·m]"]["motor"] == pytest.approx(
        np.abs(MASS * GRAVITY * LENGTH * np.cos(angle)), abs=1e-8
    )


def test_motors_that_nobody_commands_are_said_to_give_nothing() -> None:
    model = limited_arm()
    told = text_of(read_fragment(loads.motors(model, moved(model))))
    assert "Nobody commands elbow_motor: with inputs of zero" in told
    commanded = limited_arm()
    commanded.force("actuator", "shoulder_motor", coordinate="shoulder", value=2.0)
    assert uncommanded(commanded) == ["elbow_motor"]


# ----------------------------------------------------------------------------- load cases


def test_load_cases_have_the_loads_of_their_instants() -> None:
    rate = 3.0
    model = arm(f"{rate}*t")
    html = loads.reactions(model, moved(model))
    found = [e for e in read_fragment(html).iter("div") if e.get("class") == "case"]
    assert len(found) >= 3
    for case in found:
        head = text_of(next(case.iter("h5")))
        t = float(head.split("=")[1].removesuffix("s"))
        table = [[text_of(cell) for cell in row] for row in case.iter("tr")]
        assert table[0] == ["joint", "on", "Fx [N]", "Fz [N]", "My [N·m]"]
        loads_of = {row[0]: [float(x.replace("−", "-")) for x in row[2:]] for row in table[1:]}
        c, s = math.cos(rate * t), math.sin(rate * t)
        force = [-MASS * LENGTH * rate**2 * c, MASS * (GRAVITY - LENGTH * rate**2 * s)]
        assert loads_of["pivot"][:2] == pytest.approx(force, abs=6e-4)
        # about -y, the axis of the motor
        assert loads_of["motor"][2] == pytest.approx(-MASS * GRAVITY * LENGTH * c, abs=6e-4)


def test_of_many_cases_those_of_the_largest_loads_are_listed() -> None:
    t = np.linspace(0.0, 1.0, 101)
    random = np.random.default_rng(3)
    model = bl.Model("star")
    names = [f"j{k}" for k in range(40)]
    for name in names:
        body = model.body(f"b{name}", mass=1.0)
        model.joint("fixed", name, model.ground, body)
    carried = {name: random.normal(size=(len(t), 6)) for name in names}
    html = read_fragment(cases(model, t, carried))
    listed = [e for e in html.iter("div") if e.get("class") == "case"]
    times = [float(text_of(next(e.iter("h5"))).split("=")[1].removesuffix("s")) for e in listed]
    assert len(times) == 4 and times == sorted(times)
    every = np.stack(list(carried.values()), axis=1)
    for part in (slice(0, 3), slice(3, 6)):
        largest = np.linalg.norm(every[..., part], axis=2).max(axis=1).argmax()
        assert any(time == pytest.approx(t[largest]) for time in times)
    assert "biela run --reactions writes all" in text_of(html)


# ----------------------------------------------------------------------------------- words


def test_parameters_have_their_units_also_where_they_are_given_anew(tmp_path: Path) -> None:
    file = tmp_path / "rod.toml"
    file.write_text(
        'name = "rod"\n[parameters]\nlength = "400 mm"\nspeed = "60 rpm"\nteeth = 30\n'
        '[bodies.rod]\nmass = 1\n[joints.pin]\nkind = "revolute"\ni = "ground"\nj = "rod"\n'
    )
    for given, value in (({}, "0.4"), ({"length": 0.5}, "0.5")):
        table = rows_of(description_parts(FileSource(file).model(given))["Parameters"])
        assert table[1:] == [
            ["length", value, "m"], ["speed", number(2 * math.pi), "rad/s"], ["teeth", "30", ""]
        ]  # fmt: skip


def test_accelerations_are_called_by_their_coordinates() -> None:
    model = arm("sin(t)")
    motion = moved(model).motion
    assert channel_words(motion, "dpivot.angle_rate") == "pivot.angle, acceleration"
    assert channel_words(motion, "pivot.angle_rate") == "pivot.angle_rate"
    html = plots(model, motion)
    assert "pivot.angle, acceleration over time" in html and "dpivot" not in html
    assert "<h4>Path of tip</h4>" in html


@pytest.mark.parametrize(("plane", "word"), [("xz", "shift"), (None, "turn")])
def test_only_what_is_drawn_in_space_can_be_turned(plane: str | None, word: str) -> None:
    model = arm("sin(t)", plane)
    model.body("mast", mass=1.0)
    model.joint("prismatic", "slide", model.ground, "mast", axis="x" if plane else (1, 1, 1))
    model.driver("translational", "push", coordinate="slide", law="0.1*t")
    assert f"Drag to {word} it" in animation(model, moved(model))


def test_a_report_says_what_it_is_doing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def report(subject: object, path: Path, *, progress: Progress, **_: object) -> Path:
        for done, what in enumerate(("motion", "equations")):
            progress(what, done, 2)
        path.write_text("a page", encoding="utf-8")
        return path

    monkeypatch.setattr(bl, "report", report)
    assert main(["report", "four-bar", "-o", str(tmp_path / "page.html")]) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines()[-2:] == ["1 of 2: motion", "2 of 2: equations"]
    assert "page.html" in "".join(printed.out.split()) and "motion" not in printed.out
