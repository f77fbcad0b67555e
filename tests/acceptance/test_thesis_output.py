"""Every plot of the thesis, by Python and by the command line: files and their data."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

import biela as bl
from biela.analysis import cost, precision
from biela.analysis.checking import check, draw_topology
from biela.cli.main import app
from biela.model.files import load, load_thesis_folder, save
from biela.model.topology.topology import Topology
from biela.results import Results, deviations, overlay, reference_data, side_by_side
from tests.acceptance.thesis_models import DATA, SPEEDS, model, motion, system
from tests.oracles.thesis_figures import column_angle, piston, pitch, slider

Floats = npt.NDArray[np.float64]
QUIET = ("--animate", "none")


def drawn(figure: object) -> list[list[tuple[str, Floats, Floats]]]:
    """Label and data of the lines of each axes."""
    return [
        [(str(line.get_label()), *map(np.asarray, line.get_data())) for line in axes.get_lines()]
        for axes in figure.axes
    ]


def called(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def is_picture(path: Path) -> bool:
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and path.stat().st_size > 5000


# --- by Python ------------------------------------------------------------------------------------


def test_three_rods_are_overlaid_with_position_velocity_and_acceleration(tmp_path: Path) -> None:
    """Figures 2.13 to 2.15."""
    lengths = (0.30, 0.27, 0.24)
    runs = {f"{x} m": motion(f"spatial_slider_crank_{round(1000 * x)}", "joint") for x in lengths}
    names = ["link4.x", "link4.vx", "link4.ax"]
    figure = overlay(runs, names, save=tmp_path / "rods.png")
    assert is_picture(tmp_path / "rods.png")
    for k, axes in enumerate(drawn(figure)):
        assert [label for label, _, _ in axes] == list(runs)
        for (_, t, y), length in zip(axes, lengths, strict=True):
            assert y == pytest.approx(piston(t, length)[k], abs=1e-9)


def test_two_speeds_are_overlaid_and_stand_beside_the_reference(tmp_path: Path) -> None:
    """The three pairs of example 1: the reference at the left, what is computed at the right."""
    runs = {
        f"{w / pi:g}π rad/s": motion("slider_crank", "joint", (law,)) for law, w in SPEEDS.items()
    }
    names = ["link4.x", "link4.vx", "link4.ax"]
    for k, axes in enumerate(drawn(overlay(runs, names, save=tmp_path / "speeds.png"))):
        for (_, t, y), omega in zip(axes, SPEEDS.values(), strict=True):
            assert y == pytest.approx(slider(t, omega)[k], abs=1e-9)
    t = np.linspace(0, 0.99, 45)
    units = {"link4.x": "m", "link4.vx": "m/s", "link4.ax": "m/s²"}
    exact = dict(zip(names, slider(t, 2 * pi), strict=True))
    reference = reference_data(t, exact, units, "closed form")
    run = next(iter(runs.values()))
    pairs = drawn(side_by_side(reference, run, names, save=tmp_path / "beside.png"))
    assert len(pairs) == 6 and is_picture(tmp_path / "beside.png")
    assert pairs[0][0][2] == pytest.approx(exact["link4.x"])
    assert pairs[1][0][2] == pytest.approx(run["link4.x"])
    # and in figures
    table = str(deviations(run, reference, names))
    assert "link4.ax" in table


def test_the_hand_s_path_its_y_and_the_rotations_of_the_links_are_drawn(tmp_path: Path) -> None:
    """Figures 3.25 to 3.27, with sensors for yaw and pitch."""
    m = load_thesis_folder(DATA / "robot_arm")
    for name in ("link2", "link3", "link4"):
        m.sensor("pose", f"{name}_pose", marker=name)
    run = bl.kinematics(m, 2.0, step=0.02, end_point=False)
    ((path, *_),) = drawn(run.plot_path("link4", plane="xy", save=tmp_path / "path.png"))
    assert path[1] == pytest.approx(np.ones(100), abs=1e-12)
    assert path[2] == pytest.approx(0.5 * run.t, abs=1e-12)
    figure = run.plot("link4.y", "link2_pose.first", "link3_pose.second", "link4_pose.second",
                      save=tmp_path / "curves.png")  # fmt: skip
    lines = {label: y for axes in drawn(figure) for label, _, y in axes}
    curves = [y for axes in drawn(figure) for _, _, y in axes]
    assert len(curves) == 4 and lines
    beta = pitch(run.t).x
    for expected in (0.5 * run.t, column_angle(run.t).x, -beta, beta):
        assert any(np.allclose(y, expected, rtol=0, atol=1e-11) for y in curves)
    assert run["link2_pose.first"][-1] == pytest.approx(0.7804, abs=5e-5)
    assert is_picture(tmp_path / "path.png") and is_picture(tmp_path / "curves.png")


def test_any_quantity_may_be_drawn_over_any_other(tmp_path: Path) -> None:
    run = motion("slider_crank", "joint")
    figure = run.plot("link4.x", against="RJ1.angle", save=tmp_path / "x.svg")
    ((_, across, up), *_), *_ = drawn(figure)
    theta = pi / 4 + 2 * pi * run.t
    assert across == pytest.approx(theta, abs=1e-10)
    assert up == pytest.approx(slider(run.t, 2 * pi).x, abs=1e-10)
    assert "<svg" in (tmp_path / "x.svg").read_text()[:2000]
    run.plot_phase("link4.x", "link4.vx", save=tmp_path / "phase.png")
    assert is_picture(tmp_path / "phase.png")


def test_results_are_kept_as_matrices_and_go_out_to_other_programs(tmp_path: Path) -> None:
    run = motion("robot_arm", "euler")
    assert [np.asarray(run[group]).shape for group in "qva"] == [(100, 21)] * 3
    again = Results.load(run.save(tmp_path / "run.npz"))
    np.testing.assert_array_equal(again["q"], run["q"])
    text = Path(run.to_csv(tmp_path / "run.csv", "q", "link4.y")).read_text().splitlines()
    assert len(text) == 101 and text[0].startswith("t [s],link2.rx [m]")
    assert float(text[-1].split(",")[0]) == pytest.approx(1.98)
    assert run.statistics.time_total > 0 and "time in all" in str(run.statistics)
    # links, joints (markers) and points are what is asked for
    assert {"link3", "link3.RJ3", "link4.RJ3"} <= set(run.frames)
    elbow = run.frame("link3.RJ3").position
    np.testing.assert_allclose(elbow, run.frame("link3").point((2, 0, 0)).position, atol=1e-13)
    np.testing.assert_allclose(elbow, run.frame("link4.RJ3").position, atol=1e-12)


def test_the_motion_can_be_seen_and_serves_dynamics(tmp_path: Path) -> None:
    """Animation of the mechanism, and the forces of the same motion once the bodies have mass."""
    assert motion("spatial_slider_crank_300", "joint").scene is not None
    m = load_thesis_folder(DATA / "slider_crank")
    heavy = bl.Model("heavy")
    for name, body in m.bodies.items():
        heavy.body(name, mass=2.0, inertia=(0.1, 0.1, 0.1), position=body.position,
                   orientation=body.orientation)  # fmt: skip
    for joint in m.joints.values():
        heavy.add(joint)
    for driver in m.drivers.values():
        heavy.add(driver)
    run = bl.kinematics(heavy, 1.0, step=0.01, end_point=False)
    multiplier = bl.inverse_dynamics(heavy, run)["λ(driver1.angle)"]
    # the power of the motor is the rate of the energy; M a + Φ_vᵀ λ = Q, so its torque is -λ
    energy = run["kinetic energy"] + run["potential energy"]
    h = 0.01  # differences of order 4
    rate = (8 * (energy[3:-1] - energy[1:-3]) - (energy[4:] - energy[:-4])) / (12 * h)
    power = -multiplier * 2 * pi
    assert np.abs(power[2:-2] - rate).max() < 1e-2 * np.abs(rate).max()


# --- reports --------------------------------------------------------------------------------------


def test_operations_and_time_of_an_instant_are_reported() -> None:
    report = cost(system("slider_crank", "joint"), 1.0, step=0.01)
    assert report.m > 0 and report.a > 0
    assert [part.name for part in report.parts] == ["Φ", "Φ_v", "β", "γ", "elimination", "solve"]
    assert report.time > 0 and "iterations" in str(report)
    more = cost(system("slider_crank", "reference"), 1.0, step=0.01)
    assert more.m > report.m  # 18 velocities instead of 3


def test_truncation_rounding_and_modelling_errors_are_reported() -> None:
    m = bl.Model("crank")
    m.parameter("l", 3.5)
    crank, rod, block = m.body("crank"), m.body("rod"), m.body("slider", position=(4.6, 0, 0))
    m.joint("revolute", "A", m.ground.at(axis="z"), crank.at(axis="z"), start={"angle": pi / 4})
    m.joint("revolute", "B", crank.at(2, 0, 0, axis="z"), rod.at(axis="z"))
    m.joint("prismatic", "D", m.ground.at(axis="x", x_axis="y"), block.at(axis="x", x_axis="y"))
    m.joint("revolute", "C", rod.at("l", 0, 0, axis="z"), block.at(axis="z"))
    m.driver("rotary", "motor", coordinate="A", law="pi/4 + 2*pi*t")
    m.sensor("point", "end", marker=block)
    report = precision(m, t=0.0, tolerance=1e-5, tolerances={"l": 1e-3}, outputs=["end.x"])
    (effect,) = report.modelling
    theta = pi / 4
    slope = 3.5 / np.sqrt(3.5**2 - (2 * np.sin(theta)) ** 2)  # ∂x/∂l
    assert effect.slope == pytest.approx(slope, rel=1e-6)
    assert report.rounding.q.max() < 1e-13 < report.truncation.q.max() < 1e-4
    text = str(report)
    for word in ("truncation", "rounding"):
        assert word in text.lower()


def test_the_connection_graph_has_links_as_circles_and_loops_counted(tmp_path: Path) -> None:
    for name, loops, chain in (
        ("slider_crank_table_3_1", 1, "closed chain"),
        ("robot_arm", 0, "open chain, serial"),
    ):
        topology = Topology.of(model(name))
        assert len(topology.smallest_loops) == topology.loops == loops
        report = check(model(name))
        assert chain in str(report)
        assert "parents: link2 ← ground" in str(report)
        draw_topology(report, tmp_path / f"{name}.png")
        assert is_picture(tmp_path / f"{name}.png")


# --- by the command line --------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def table(path: Path) -> dict[str, Floats]:
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    names = [name.partition(" [")[0] for name in head.split(",")]
    values = np.array([row.split(",") for row in rows], dtype=float).T
    return dict(zip(names, values, strict=True))


def options(*names: str) -> Sequence[str]:
    return [part for name in names for part in ("--plot", name)]


def test_the_command_line_draws_and_compares_example_1(here: Path) -> None:
    t = np.arange(0, 100, 5) / 100
    rows = [",".join(map(repr, map(float, row))) for row in np.c_[t, slider(t, 2 * pi).x]]
    (here / "published.csv").write_text("t [s],link4.x [m]\n" + "\n".join(rows))
    out = called(
        "kinematics", str(DATA / "slider_crank"), *options("link4.x", "link4.vx", "link4.ax"),
        "--reference", "published.csv", "--csv", "--out", "one", *QUIET,
    )  # fmt: skip
    found = table(here / "one" / "kinematics.csv")
    for name, exact in zip(("x", "vx", "ax"), slider(found["t"], 2 * pi), strict=True):
        assert found[f"link4.{name}"] == pytest.approx(exact, abs=1e-9)
    assert len(found["t"]) == 100 and "No alarms" in out and "an instant" in out
    assert is_picture(here / "one" / "plot.png")


def test_the_command_line_draws_the_figures_of_example_2(here: Path) -> None:
    called("convert", str(DATA / "robot_arm"), "--to", "arm.toml")
    m = load(here / "arm.toml")
    for name in ("link3", "link4"):
        m.sensor("pose", f"{name}_pose", marker=name)
    save(m, here / "measured.toml")
    called(
        "kinematics", "measured.toml", *options("link4.x:link4.y", "link4.y", "RJ1"),
        *options("link3_pose.second", "link4_pose.second"), "--path", "link4", "--csv",
        "--out", "two", *QUIET,
    )  # fmt: skip
    found = table(here / "two" / "kinematics.csv")
    t = found["t"]
    assert found["link4.y"] == pytest.approx(0.5 * t, abs=1e-12)
    assert found["RJ1.angle"] == pytest.approx(np.arctan(0.5 * t), abs=1e-12)
    assert found["link3_pose.second"] == pytest.approx(-pitch(t).x, abs=1e-12)
    assert found["link4_pose.second"] == pytest.approx(pitch(t).x, abs=1e-12)
    for name in ("plot.png", "link4.y_over_link4.x.png", "path.png"):
        assert is_picture(here / "two" / name)


def test_the_command_line_reports_checks_and_explains(here: Path) -> None:
    out = called("check", str(DATA / "slider_crank_table_3_1"))
    assert "6·3 - 20 = -2" in out and "3 redundant rows (axis_yz, along_y, axis_xy)" in out
    out = called("joints", "revolute")
    assert "removes" in out and "r_j - r_i = 0" in out
    out = called(
        "kinematics", str(DATA / "spatial_slider_crank_240"), "--report", "--no-plot", *QUIET
    )
    assert "Cost of the kinematics" in out and "condition" in out
