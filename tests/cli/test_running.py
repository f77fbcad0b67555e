"""What `biela run`, `info`, `export` and `demo` print and leave behind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import biela as bl
from biela.cli import running
from biela.cli.demo import activation, hoecken
from biela.cli.main import app
from tests.cli.models_on_disk import LOOP, PENDULUM
from tests.matrix.mechanisms import MECHANISMS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    Path("pendulum.py").write_text(PENDULUM.format(name="model"), encoding="utf-8")
    Path("loop.py").write_text(LOOP, encoding="utf-8")
    return tmp_path


def called(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_a_run_leaves_results_plots_and_an_animation(folder):
    result = called("run", "loop.py", "--time", "0.2", "--step", "1e-3", "--csv")
    assert result.exit_code == 0, result.output
    left = {path.name for path in Path("out/loop").iterdir()}
    pictures = {"coordinates.png", "outputs.png", "monitors.png"}
    assert left == pictures | {"results.npz", "results.csv", "animation.html"}
    for said in (
        "2: a, b",
        "2: glued_1, again_1",
        "mobility",
        "again_1 depends on glued_1",
        "real time",
    ):
        assert said in result.output


def test_a_run_is_what_the_simulator_computes(folder):
    options = ("--q", "theta=pi/4", "--v", "dtheta=-1", "--set", "l=0.8", "--time", "0.5")
    result = called("run", "pendulum.py", *options, "--no-plot", "--animate", "none")
    assert result.exit_code == 0, result.output
    found = bl.Results.load("out/pendulum/results.npz")
    # the pendulum as a first order system, by small steps of another method
    x, h = np.array([np.pi / 4, -1.0]), 1e-4

    def rate(x):
        return np.array([x[1], -9.81 / 0.8 * np.sin(x[0])])

    for _ in range(5000):
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + h * k3))
    assert found["theta"][-1] == pytest.approx(x[0], abs=1e-7)


def test_inputs_and_the_folder_are_taken(folder):
    options = ("--time", "0.1", "--no-plot", "--animate", "none", "--out", "here")
    assert called("run", "loop.py", "--input", "push=5", *options).exit_code == 0
    assert set(bl.Results.load("here/results.npz")["push"]) == {5.0}
    assert not Path("out").exists()


def test_nothing_is_written_if_nothing_is_wanted(folder):
    options = ("--time", "0.1", "--no-plot", "--no-save", "--animate", "none")
    result = called("run", "pendulum.py", *options)
    assert result.exit_code == 0
    assert "written" not in result.output
    assert not list(Path("out/pendulum").iterdir())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "mass=1"], "no parameter mass; it has m, l, g"),
        (["--q", "phi=1"], "no coordinate phi; it has theta"),
        (["--formulation", "magic"], "these are: multipliers, baumgarte"),
        (["--integrator", "magic"], "these are:"),
        (["--time", "-1"], "not -1.0"),
        (["--model", "other"], "other is not there"),
        (["--q", "theta"], "write name=value"),
    ],
)
def test_a_wrong_choice_is_one_message_and_1(folder, options, said):
    result = called("run", "pendulum.py", *options)
    assert result.exit_code == 1
    assert said in result.output
    assert result.output.startswith("biela: ")
    assert "Traceback" not in result.output


def test_a_run_that_fails_keeps_what_it_had(folder):
    # a moment that grows with the cube of the angle drives it to infinity in finite time
    push = "    s.wrench(s.solids[0], moment=(0, -9 * m * theta**3, 0))\n    return s"
    text = PENDULUM.format(name="model").replace("    return s", push)
    Path("away.py").write_text(text, encoding="utf-8")
    result = called(
        "run", "away.py", "--q", "theta=2", "--time", "50", "--step", "1e-3", "--animate", "none"
    )
    assert result.exit_code == 1
    assert "What was computed until then is in out/away/results.npz" in result.output
    kept = bl.Results.load("out/away/results.npz")
    assert 0 < kept.t[-1] < 50


def test_an_interrupted_run_is_kept_even_if_it_was_not_to_be_saved(folder, monkeypatch):
    simulated = running._simulated

    def interrupted(simulator, wanted, time):
        results = simulated(simulator, wanted, time)
        results.interrupted = True
        return results

    monkeypatch.setattr(running, "_simulated", interrupted)
    result = called("run", "pendulum.py", "--time", "0.1", "--no-save")
    assert result.exit_code == 130
    assert "what was computed is in out/pendulum/results.npz" in result.output
    assert bl.Results.load("out/pendulum/results.npz").interrupted


def test_an_interrupt_while_drawing_says_where_the_results_are(folder, monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "_pictures", pressed)
    result = called("run", "pendulum.py", "--time", "0.1")
    assert result.exit_code == 130
    assert "the results are in out/pendulum/results.npz" in result.output


def test_info_shows_parts_values_sizes_and_freedoms(folder):
    result = called("info", "loop.py", "--tree")
    assert result.exit_code == 0, result.output
    for said in (
        "2: bar_first, bar_second",
        "2: glued_1, again_1",
        "again_1 depends on glued_1",
        "1 at the start",
        "arithmetic operations",
        "└── second: about y by -b",
    ):
        assert said in result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["l", "0.5"] in lines
    assert ["a", "0.2", "rad", "da", "0", "rad/s"] in lines


def test_info_of_what_cannot_be_assembled_says_so_after_the_rest(folder):
    text = LOOP + '\ns.constrain(a - b - 1, name="apart")\n'
    Path("open.py").write_text(text, encoding="utf-8")
    result = called("info", "open.py")
    assert result.exit_code == 1
    assert "coordinates" in result.output
    assert "cannot be assembled" in result.output


@pytest.mark.parametrize(
    ("language", "file"),
    [("c", "loop.c"), ("matlab", "loop_M.m"), ("python", "loop.py"), ("julia", "loop.jl")],
)
def test_equations_are_exported(folder, language, file):
    result = called("export", "loop.py", "--language", language)
    assert result.exit_code == 0, result.output
    assert (Path("out/loop") / language / file).is_file()


def test_a_simulator_is_exported(folder):
    result = called("export", "loop.py", "--simulator", "--step", "5e-4", "--out", "sim")
    assert result.exit_code == 0, result.output
    assert {"loop.c", "loop.h", "main.c", "Makefile"} <= {p.name for p in Path("sim").iterdir()}
    assert "make -C sim run" in result.output


@pytest.mark.parametrize("options", [["--simulator", "--language", "julia"], ["--step", "1e-3"]])
def test_options_of_an_export_that_do_not_go_together_are_refused(folder, options):
    result = called("export", "loop.py", *options)
    assert result.exit_code == 1
    assert "simulator" in result.output


def test_the_demonstration_leaves_pictures_a_film_a_page_and_a_simulator(folder):
    from PIL import Image

    result = called("demo", "--out", "shown")
    assert result.exit_code == 0, result.output
    for name in ("motion.png", "simulator/main.c", "simulator/Makefile"):
        assert (Path("shown") / name).is_file()
    with Image.open("shown/linkage.gif") as film:
        assert film.n_frames > 10
    page = Path("shown/linkage.html").read_text(encoding="utf-8")
    assert "Hoecken" in page
    assert "× real time" in result.output


def test_the_demonstration_says_how_biela_becomes_a_command(folder, monkeypatch):
    script = folder / "env" / "bin" / "activate"
    script.parent.mkdir(parents=True)
    script.touch()
    command = script.with_name("biela")
    monkeypatch.setattr("sys.prefix", str(folder / "env"))
    monkeypatch.setenv("PATH", str(folder))
    assert activation().split()[:2] == [".", "env/bin/activate"]
    command.touch(0o755)
    monkeypatch.setenv("PATH", str(command.parent))
    assert activation() == ""


def test_the_linkage_of_the_demonstration_draws_a_line_for_half_a_turn():
    from biela.analysis import branches

    model = hoecken()
    heights, places = [], []
    for theta in np.linspace(np.pi / 2, 3 * np.pi / 2, 9):
        upper = max(
            branches(model, hold={"theta": theta}, restarts=20),
            key=lambda found: np.sin(found.q[2]),
        )
        x, y = model.equations().system.evaluate("outputs", upper.q)
        places.append(x)
        heights.append(y)
    # four cranks long, and straight to a hundredth of a crank or two
    assert max(places) - min(places) == pytest.approx(0.4, abs=0.02)
    assert max(heights) - min(heights) < 0.02 * 0.1


def test_a_page_of_a_run_holds_its_times(folder):
    called("run", "pendulum.py", "--time", "0.4", "--no-plot")
    page = Path("out/pendulum/animation.html").read_text(encoding="utf-8")
    start = page.index('"times":') + len('"times":')
    times = json.loads(page[start : page.index("]", start) + 1])
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(0.4, abs=0.04)


def test_names_and_folders_in_brackets_are_shown_as_they_are(folder):
    text = PENDULUM.format(name="model").replace('"pendulum"', '"swing [red]"')
    Path("swing.py").write_text(text, encoding="utf-8")
    options = ("--time", "0.1", "--no-plot", "--animate", "none", "--out", "runs[1]")
    result = called("run", "swing.py", *options)
    assert result.exit_code == 0, result.output
    assert "swing [red] simulated" in result.output
    assert "runs[1]/" in result.output


QUIET = ("--no-plot", "--animate", "none")


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ((), {}),
        (("--coordinates", "reference"), {"coordinates": "reference"}),
        (("--coordinates", "natural"), {"coordinates": "natural"}),
        (("--coordinates", "groups"), {"coordinates": "groups"}),
        (("--engine", "looped"), {"engine": "looped"}),
    ],
)
def test_the_command_moves_a_file_as_python_does_bit_for_bit(folder, options, how):
    bl.save_model(MECHANISMS["four_bar"](), "bars.toml")
    fixed = ("--time", "0.2", "--step", "1e-3", "--set", "l=0.29")
    result = called("run", "bars.toml", *fixed, *options, *QUIET)
    assert result.exit_code == 0, result.output
    found = bl.Results.load("out/bars/results.npz")
    model = bl.load_model("bars.toml")
    other = bl.simulate(model, 0.2, step=1e-3, parameters={"l": 0.29}, **how)
    assert list(found.q.shape) == list(other.q.shape)
    assert np.array_equal(found.q, other.q) and np.array_equal(found.v, other.v)


def test_the_engine_is_chosen_as_in_python_and_said(folder):
    text = "import biela as bl\nm = bl.Model('chain', plane='xz')\nbefore = m.ground.at()\n"
    text += "for k in range(70):\n"
    text += "    bar = m.body(f'bar{k}', mass=1.0, com=(0.25, 0, 0), inertia=0.02)\n"
    text += "    m.joint('revolute', f'J{k}', before, bar, axis='y', start=0.1)\n"
    text += "    before = bar.at(0.5, 0, 0)\n"
    Path("chain.py").write_text(text, encoding="utf-8")
    options = ("--time", "0.01", "--step", "1e-3", "--no-save")
    result = called("run", "chain.py", *options, "--plot", "J5", "--animate", "none")
    assert result.exit_code == 0, result.output
    assert "looped" in result.output and "70" in result.output
    assert (Path("out/chain") / "plot.png").is_file()


def test_a_word_that_is_no_engine_or_coordinates_is_refused(folder):
    assert "looped" in called("run", "four_bar", "--engine", "fast").output
    assert "groups" in called("run", "four_bar", "--coordinates", "polar").output
    result = called("run", "four_bar", "--coordinates", "groups", "--engine", "looped")
    assert result.exit_code == 1 and "no engine" in result.output
