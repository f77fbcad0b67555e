"""What `biela kinematics` and `biela run` of bodies and joints print and leave behind."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import biela as bl
from biela.analysis.groups.formulations import FORMULATIONS
from biela.cli.main import app
from tests.cli.models_on_disk import ARM, PARALLELOGRAM, SLIDER_CRANK, THESIS

QUIET = ("--animate", "none")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    for name, text in (
        ("slider_crank", SLIDER_CRANK),
        ("arm", ARM),
        ("parallelogram", PARALLELOGRAM),
    ):
        Path(f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def called(*arguments):
    return CliRunner().invoke(app, list(arguments))


def slider(t, r=2.0, l=3.5):
    """Position and velocity of the slider."""
    theta, rate = np.pi / 4 + 2 * np.pi * t, 2 * np.pi
    root = np.sqrt(l**2 - (r * np.sin(theta)) ** 2)
    x = r * np.cos(theta) + root
    return x, -r * np.sin(theta) * rate * (1 + r * np.cos(theta) / root)


def columns(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    values = np.array(rows, dtype=float).T
    return {name.partition(" [")[0]: value for name, value in zip(head, values, strict=True)}


def rows_of(output, first):
    return [line.split() for line in output.splitlines() if line.split()[:1] == [first]]


# --- kinematics -----------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["joint", "reference"])
def test_the_slider_moves_as_its_closed_form(folder, coordinates):
    options = ("--plot", "slider.x", "--plot", "slider.vx", "--plot", "C", "--csv", *QUIET)
    result = called("kinematics", "slider_crank.toml", "--coordinates", coordinates, *options)
    assert result.exit_code == 0, result.output
    table = columns("out/slider_crank/kinematics.csv")
    t = table["t"]
    assert t == pytest.approx(np.arange(26) * 0.02)  # that of the file
    x, v = slider(t)
    assert table["slider.x"] == pytest.approx(x, abs=1e-9)
    assert table["slider.vx"] == pytest.approx(v, abs=1e-8)
    # the joint closes the loop, or is not among the coordinates: the rod makes it all the same
    rod = -np.arcsin(2 * np.sin(np.pi / 4 + 2 * np.pi * t) / 3.5)
    assert table["C.angle"] == pytest.approx(-rod, abs=1e-9)
    ((_, unit, low, at, *_),) = rows_of(result.output, "slider.x")
    assert (unit, float(low), float(at)) == ("m", pytest.approx(x.min(), rel=1e-5), t[x.argmin()])
    assert "No alarms" in result.output
    assert (Path("out/slider_crank") / "plot.png").is_file()


def test_figures_of_channels_over_each_other_and_of_paths(folder):
    options = ("--plot", "A:slider.x", "--path", "rod", "--path", "crank.B", "--out", "here")
    result = called("kinematics", "slider_crank.toml", *options, "--animate", "html", "--no-save")
    assert result.exit_code == 0, result.output
    left = {path.name for path in Path("here").iterdir()}
    assert left == {"slider.x_over_A.angle.png", "path.png", "animation.html"}


def test_options_go_before_what_the_file_says(folder):
    options = ("--time", "0.1", "--step", "0.05", "--set", "l=5", "--method", "damped")
    result = called("kinematics", "slider_crank.toml", *options, "--no-plot", *QUIET)
    assert result.exit_code == 0, result.output
    results = bl.Results.load("out/slider_crank/kinematics.npz")
    assert results.t.tolist() == pytest.approx([0.0, 0.05, 0.1])
    assert results["slider.x"] == pytest.approx(slider(results.t, l=5.0)[0], abs=1e-8)


def test_a_folder_of_a_thesis_moves_without_its_end_point(folder):
    result = called("kinematics", str(THESIS), "--no-plot", *QUIET)
    assert result.exit_code == 0, result.output
    results = bl.Results.load("out/slider_crank/kinematics.npz")
    assert len(results) == 100
    assert results["link4.x"] == pytest.approx(slider(results.t)[0], abs=1e-9)


def test_a_mechanism_without_drivers_is_driven_from_the_command_line(folder):
    text = SLIDER_CRANK[: SLIDER_CRANK.index("[drivers")]
    Path("free.toml").write_text(text, encoding="utf-8")
    result = called("kinematics", "free.toml", *QUIET)
    assert result.exit_code == 1
    assert "1 degree of freedom is not driven" in result.output
    assert "--drive NAME=LAW" in result.output
    drive = ("--drive", "A.angle=pi/4 + 2*pi*t", "--time", "0.2", "--no-plot", *QUIET)
    assert called("kinematics", "free.toml", *drive).exit_code == 0
    results = bl.Results.load("out/free/kinematics.npz")
    assert results["slider.x"] == pytest.approx(slider(results.t)[0], abs=1e-9)


def test_data_are_drawn_and_compared(folder):
    t = np.linspace(0, 0.5, 11)
    rows = [f"{a},{1000 * x + 1}" for a, x in zip(t, slider(t)[0], strict=True)]
    Path("data.csv").write_text("t [s],slider.x [mm]\n" + "\n".join(rows), encoding="utf-8")
    result = called(
        "kinematics", "slider_crank.toml", "--plot", "slider.x", "--reference", "data.csv", *QUIET
    )
    assert result.exit_code == 0, result.output
    last = rows_of(result.output, "slider.x")[-1]
    assert float(last[2]) == pytest.approx(1e-3, rel=0.01)  # data are a millimetre too large
    assert (Path("out/slider_crank") / "plot.png").is_file()


def test_dead_points_are_alarms_with_their_time_and_joints(folder):
    result = called("kinematics", "parallelogram.toml", "--no-plot", "--no-save", *QUIET)
    assert result.exit_code == 0, result.output
    ((time, _, *said),) = [
        line.split() for line in result.output.splitlines() if "singular position:" in line
    ]
    assert float(time) == pytest.approx(0.5)
    assert "angle_rate" in " ".join(said)


def test_a_motion_that_cannot_go_on_is_kept_until_there(folder):
    text = SLIDER_CRANK.replace('kind = "rotary"', 'kind = "translational"')
    text = text.replace('coordinate = "A"', 'coordinate = "slide"')
    text = text.replace('law = "pi/4 + 2*pi*t"', 'law = "4.6 + 2*t"')  # 5.5 m is its reach
    Path("far.toml").write_text(text, encoding="utf-8")
    result = called("kinematics", "far.toml", *QUIET)
    assert result.exit_code == 1
    assert "What was computed until then is in out/far/kinematics.npz" in result.output
    kept = bl.Results.load("out/far/kinematics.npz")
    assert kept["slider.x"][-1] == pytest.approx(4.6 + 2 * kept.t[-1])
    assert 5.4 < kept["slider.x"][-1] < 5.5


def test_a_report_counts_operations_and_traces_tolerances(folder):
    options = ("--report", "--within", "l=1e-3", "--plot", "C", "--no-plot", "--no-save", *QUIET)
    result = called("kinematics", "slider_crank.toml", *options)
    assert result.exit_code == 0, result.output
    assert "Cost of the kinematics" in result.output
    # sin ψ = r sin θ / l:  ∂ψ/∂l = -tan ψ / l
    psi = np.arcsin(2 * np.sin(np.pi / 4) / 3.5)
    ((_, _, slope, *_),) = [r for r in rows_of(result.output, "C.angle") if "l" in r[1:2]]
    assert float(slope) == pytest.approx(-np.tan(psi) / 3.5, rel=1e-3)


# --- by groups ------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["auto", "natural groups, tensor", "global dense"])
def test_by_groups_the_slider_moves_as_its_closed_form(folder, formulation):
    options = ("--formulation", formulation, "--plot", "slider.x", "--plot", "C", "--csv", *QUIET)
    result = called("kinematics", "slider_crank.toml", *options)
    assert result.exit_code == 0, result.output
    assert "No dead point" in result.output and "groups" in result.output
    table = columns("out/slider_crank/kinematics.csv")
    assert table["slider.x"] == pytest.approx(slider(table["t"])[0], abs=1e-9)
    assert {"C.angle", "slider.x"} <= set(table)


def test_the_help_lists_all_formulations_in_quotes(folder):
    said = " ".join(called("kinematics", "--help").output.replace("│", " ").split())
    for name in ("auto", *FORMULATIONS):
        assert f'"{name}"' in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "damped"], "--method is for equations of the whole mechanism"),
        (["--coordinates", "joint"], "--coordinates is for equations of the whole mechanism"),
        (["--report"], "--report is for equations of the whole mechanism"),
    ],
)
def test_what_groups_do_not_know_is_refused(folder, options, said):
    result = called("kinematics", "slider_crank.toml", "--formulation", "auto", *options, *QUIET)
    assert result.exit_code == 1
    assert said in result.output


def test_a_formulation_that_is_not_there_is_told_with_the_nearest(folder):
    result = called("kinematics", "slider_crank.toml", "--formulation", "natural group", *QUIET)
    assert result.exit_code == 1
    assert "did you mean 'natural groups'?" in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plot", "slider.q"], "did you mean 'slider."),
        (["--path", "sliders"], "did you mean 'slider'"),
        (["--set", "rr=1"], "no parameter rr"),
        (["--drive", "A"], "write name=value"),
        (["--step", "0"], "step must be a positive time"),
        (["--reference", "none.csv"], "none.csv: the file cannot be read"),
    ],
)
def test_a_wrong_choice_is_one_message_and_1(folder, options, said):
    result = called(
        "kinematics", "slider_crank.toml", *options, "--time", "0.04", "--no-save", *QUIET
    )
    assert result.exit_code == 1
    assert said in result.output
    assert "Traceback" not in result.output


def test_values_times_and_laws_have_units_and_a_joint_goes_by_its_name(folder):
    text = SLIDER_CRANK[: SLIDER_CRANK.index("[drivers")]
    Path("free.toml").write_text(text, encoding="utf-8")
    options = ("--set", "l=500cm", "--q", "A=45 deg", "--time", "200 ms", "--step", "50ms")
    drive = ("--drive", "A=45 deg + 360 deg*t", "--no-plot", *QUIET)
    result = called("kinematics", "free.toml", *options, *drive)
    assert result.exit_code == 0, result.output
    results = bl.Results.load("out/free/kinematics.npz")
    assert results.t.tolist() == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])
    assert results["slider.x"] == pytest.approx(slider(results.t, l=5.0)[0], abs=1e-9)


def test_a_joint_that_closes_a_loop_is_driven_by_its_name(folder):
    text = SLIDER_CRANK[: SLIDER_CRANK.index("[drivers")]
    Path("free.toml").write_text(text, encoding="utf-8")
    # in reference coordinates no joint has a coordinate of its own
    options = ("--coordinates", "reference", "--drive", "A=45 deg + 360 deg*t", "--time", "0.2")
    result = called("kinematics", "free.toml", *options, "--no-plot", *QUIET)
    assert result.exit_code == 0, result.output
    results = bl.Results.load("out/free/kinematics.npz")
    assert results["slider.x"] == pytest.approx(slider(results.t)[0], abs=1e-9)


def test_a_start_of_another_dimension_is_refused(folder):
    result = called("kinematics", "slider_crank.toml", "--q", "A=45 mm", *QUIET)
    assert result.exit_code == 1
    assert "is a length; an angle is wanted" in result.output


@pytest.mark.parametrize("verb", ["kinematics", "run"])
@pytest.mark.parametrize("wrong", [("--plot", "slider.q"), ("--path", "sliders")])
def test_a_name_that_is_not_there_is_found_before_the_motion(folder, verb, wrong):
    result = called(verb, "slider_crank.toml", *wrong)
    assert result.exit_code == 1
    assert "did you mean 'slider" in result.output
    assert "slider-crank moved" not in result.output
    assert "simulated for" not in result.output
    assert not list(Path().glob("out/slider_crank/*"))


def test_what_fails_at_the_end_does_not_keep_the_rest_back(folder, monkeypatch):
    def refused(*_, **__):
        raise bl.BielaError("no such loads")

    monkeypatch.setattr("biela.cli.running.write_reactions", refused)
    monkeypatch.setattr(bl.Results, "plot_path", refused)
    options = ("--reactions", "--path", "rod", "--plot", "slider.x", "--time", "0.1")
    result = called("run", "slider_crank.toml", *options)
    assert result.exit_code == 1
    assert "biela: --reactions: no such loads\npath.png: no such loads" in result.output
    left = {path.name for path in Path("out/slider_crank").iterdir()}
    assert {"results.npz", "plot.png", "animation.html"} <= left
    assert "path.png" not in left


def test_motions_with_and_without_forces_do_not_overwrite_each_other(folder):
    for verb in ("kinematics", "run"):
        options = ("--time", "0.04", "--csv", "--plot", "slider.x", "--no-plot", *QUIET)
        result = called(verb, "slider_crank.toml", *options)
        assert result.exit_code == 0, result.output
    left = {path.name for path in Path("out/slider_crank").iterdir()}
    assert left == {"kinematics.npz", "kinematics.csv", "results.npz", "results.csv"}
    for name in ("kinematics.csv", "results.csv"):  # what is asked for, but no other of frames
        table = columns(f"out/slider_crank/{name}")
        assert table["slider.x"] == pytest.approx(slider(table["t"])[0], abs=1e-7)
        assert "slider.y" not in table and "A.angle_rate" in table
    assert "lam" not in bl.Results.load("out/slider_crank/kinematics.npz").groups
    assert "lam" in bl.Results.load("out/slider_crank/results.npz").groups


@pytest.mark.parametrize("verb", ["kinematics", "run"])
def test_a_path_is_traced_in_the_animation(folder, verb):
    text = SLIDER_CRANK + 'path = ["rod"]\n'  # the last table is that of the run
    Path("traced.toml").write_text(text, encoding="utf-8")
    for file, options, count in (
        ("slider_crank.toml", (), 0),
        ("slider_crank.toml", ("--path", "rod", "--path", "slider"), 2),
        ("traced.toml", (), 1),
        ("traced.toml", ("--path", "rod", "--path", "slider"), 2),
    ):
        result = called(verb, file, "--time", "0.04", "--no-plot", "--no-save", *options)
        assert result.exit_code == 0, result.output
        page = Path("out", Path(file).stem, "animation.html")
        assert page.read_text(encoding="utf-8").count('"kind":"path"') == count


def test_channels_that_are_not_listed_are_counted(folder):
    result = called("kinematics", "slider_crank.toml", "--plot", "slider.*", "--no-plot", *QUIET)
    assert result.exit_code == 0, result.output
    results = bl.Results.load("out/slider_crank/kinematics.npz")
    more = len(results.select("slider.*")) - 12
    assert more > 0
    assert f"… {more} more" in result.output


@pytest.mark.parametrize(
    ("found", "wanted", "said"),
    [
        ("mass = 1.0\ninertia = 0.1", "mass = 0", "mass = … in [bodies.NAME], inertia = …"),
        ("l = 3.5", "l = 1.0", "start = … in [joints.NAME] or --q NAME=VALUE"),
    ],
)
def test_advice_is_in_the_words_of_a_file(folder, found, wanted, said):
    text = SLIDER_CRANK.replace(found, wanted)
    Path("poor.toml").write_text(text, encoding="utf-8")
    result = called("run", "poor.toml", *QUIET)
    assert result.exit_code == 1
    assert said in result.output


# --- run ------------------------------------------------------------------------------------------


def test_loads_and_motors_of_a_driven_arm_are_those_of_its_closed_form(folder):
    result = called("run", "arm.toml", "--reactions", "--motors", "--no-plot", *QUIET)
    assert result.exit_code == 0, result.output
    m, l, g, w = 2.0, 0.5, 9.81, np.pi
    loads = columns("out/arm/reactions.csv")
    theta = w * loads["t"]
    assert len(theta) == 21  # the step of the file
    assert loads["pivot.Fx"] == pytest.approx(-m * l * w**2 * np.cos(theta), abs=1e-6)
    assert loads["pivot.Fz"] == pytest.approx(m * g - m * l * w**2 * np.sin(theta), abs=1e-6)
    assert loads["motor.My"] == pytest.approx(-m * g * l * np.cos(theta), abs=1e-6)
    with Path("out/arm/motor_motor.csv").open(encoding="utf-8", newline="") as file:
        figures = {row[0]: row[1] for row in csv.reader(file)}
    assert float(figures["peak torque"]) == pytest.approx(m * g * l, rel=1e-9)
    assert float(figures["largest speed"]) == pytest.approx(w, rel=1e-9)
    # the weight is lifted in the first quarter turn, by m g l
    assert float(figures["energy given"]) == pytest.approx(m * g * l, rel=5e-3)
    with Path("out/arm/load_cases.csv").open(encoding="utf-8", newline="") as file:
        cases = list(csv.reader(file))[1:]
    assert any(
        "pivot: min Fz" in case[2] and float(case[1]) == pytest.approx(0.5) for case in cases
    )


def test_an_actuator_is_a_motor_too(folder):
    force = '[forces.motor]\nkind = "actuator"\ncoordinate = "pivot"\nlaw = 1.5\ngear = 2\n\n[run]'
    text = ARM[: ARM.index("[drivers")] + force + ARM[ARM.index("[run]") + 5 :]
    Path("pushed.toml").write_text(text, encoding="utf-8")
    result = called("run", "pushed.toml", "--motors", "--no-plot", "--time", "0.2", *QUIET)
    assert result.exit_code == 0, result.output
    ((_, _, torque, *_),) = rows_of(result.output, "peak")[:1]
    assert float(torque) == pytest.approx(3.0)


def test_what_has_no_motors_says_so(folder):
    Path("free.toml").write_text(SLIDER_CRANK[: SLIDER_CRANK.index("[drivers")], encoding="utf-8")
    options = ("--time", "0.02", "--motors", "--no-plot", *QUIET)
    result = called("run", "free.toml", *options)
    assert result.exit_code == 0, result.output
    assert "has no motors" in result.output
    assert Path("out/free/results.npz").is_file()


def test_equations_of_bodies_are_exported(folder):
    result = called("export", "slider_crank.toml", "--language", "python", "--out", "code")
    assert result.exit_code == 0, result.output
    space = {}
    exec(Path("code/slider_crank_Phi.py").read_text(encoding="utf-8"), space)
    theta = np.pi / 4
    # the coordinates are the angle of the crank, the way of the slider, and an angle of the rod
    system = bl.formulate(bl_load("slider_crank.toml"))
    names = [entry.name for entry in system.q]
    rod = -np.arcsin(2 * np.sin(theta) / 3.5)
    values = {
        "A.angle": theta,
        "slide.displacement": slider(0.0)[0],
        "B.angle": rod - theta,
        "C.angle": -rod,
    }
    Phi = space["slider_crank_Phi"](0.0, [values[n] for n in names], [0.0] * 3, [], [2.0, 3.5])
    assert np.ravel(Phi) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def bl_load(name):
    from biela.model.files import load

    return load(name)
