"""What `biela new`, `joints`, `check`, `info` and `convert` print and leave behind."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import biela as bl
from biela.cli import gallery, kind_examples
from biela.cli.main import app
from biela.model.element import KINDS
from biela.model.files import load, loads
from tests.cli.models_on_disk import SLIDER_CRANK, THESIS

ALL_KINDS = [(category, kind) for category, kinds in KINDS.items() for kind in kinds]

#: What the examples of kinds speak of.
AROUND = """
name = "around"
[bodies.crank]
mass = 1.0
inertia = 0.1
markers = {A = {}, B = {position = [0.3, 0, 0]}}
[bodies.rod]
mass = 1.0
inertia = 0.1
position = [0.3, 0, 0.2]
markers = {A = {}, B = {position = [0.2, 0, 0]}}
[bodies.block]
mass = 1.0
inertia = 0.1
[joints.A]
kind = "revolute"
i = "ground"
j = "crank.A"
[joints.B]
kind = "revolute"
i = "crank.A"
j = "rod.A"
[joints.slide]
kind = "prismatic"
i = "ground"
j = "block"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    Path("crank.toml").write_text(SLIDER_CRANK, encoding="utf-8")
    return tmp_path


def called(*arguments):
    return CliRunner().invoke(app, list(arguments))


# --- new ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["slider-crank", "slider_crank", "Slider-Crank"])
def test_a_mechanism_of_the_gallery_is_written_as_it_is(folder, name):
    result = called("new", name)
    assert result.exit_code == 0, result.output
    assert Path("slider_crank.toml").read_bytes() == gallery.mechanism(name).read_bytes()
    assert "biela check slider_crank.toml" in result.output
    assert "biela kinematics slider_crank.toml" in result.output


def test_a_file_is_overwritten_only_by_force(folder):
    assert called("new", "four-bar", "--out", "crank.toml").exit_code == 1
    assert Path("crank.toml").read_text(encoding="utf-8") == SLIDER_CRANK
    assert called("new", "four-bar", "--out", "crank.toml", "--force").exit_code == 0
    assert load("crank.toml").name == "four-bar"


def test_a_near_miss_suggests_names(folder):
    result = called("new", "slidercrank")
    assert result.exit_code == 1
    assert "did you mean slider-crank" in result.output
    assert not Path("slidercrank.toml").exists()


def test_the_gallery_is_listed_with_what_each_model_says_of_itself(folder):
    result = called("new", "--list")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    for name, file in gallery.mechanisms().items():
        assert any(line.split()[:1] == [name] for line in lines)
        assert load(file).description


def test_an_installed_package_has_its_gallery_inside(tmp_path, monkeypatch):
    package = tmp_path / "lib" / "site-packages" / "biela"
    (package / "gallery").mkdir(parents=True)
    shutil.copy(gallery.mechanism("four-bar"), package / "gallery")
    monkeypatch.setattr(
        "biela.model.files.gallery.__file__", str(package / "model" / "files" / "gallery.py")
    )
    gallery.mechanisms.cache_clear()
    try:
        assert gallery.mechanisms() == {"four-bar": package / "gallery" / "four_bar.toml"}
    finally:
        gallery.mechanisms.cache_clear()


# --- joints ---------------------------------------------------------------------------------------


def test_all_kinds_are_listed(folder):
    result = called("joints")
    words = {line.split()[0] for line in result.output.splitlines() if line.startswith("  ")}
    assert {kind for _, kind in ALL_KINDS} <= words


@pytest.mark.parametrize(("category", "kind"), ALL_KINDS)
def test_every_kind_is_explained_and_its_example_is_a_model(folder, category, kind):
    result = called("joints", kind)
    assert result.exit_code == 0, result.output
    cls = KINDS[category][kind]
    for name, item in cls.settings().items():
        assert f"  {name} " in result.output
        assert item.metadata["help"] in result.output
    text = kind_examples.toml(cls)
    assert all(f"  {line}" in result.output for line in text.splitlines())
    model = loads(f"{AROUND}\n{text}\n")
    # and the line in Python makes the same element
    other = loads(AROUND)
    exec(kind_examples.python(cls), {"m": other})
    tables = {"joint": "joints", "driver": "drivers", "force": "forces", "sensor": "sensors"}
    name = next(iter(set(getattr(other, tables[category])) - set(loads(AROUND).joints)))
    assert getattr(model, tables[category])[name] == getattr(other, tables[category])[name]
    assert bl.formulate(model).q


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("revolute", ["removes       5 freedoms", "r_j - r_i = 0", "a turn about z by angle"]),
        ("helical", ["pitch", "z_i · d = pitch θ / 2π"]),
        ("gear", ["second - first*ratio - phase = 0", "a coupling"]),
        ("spring-damper", ["N/m", "spring constant k"]),
        ("distance", ["a joint", "a driver", "a sensor"]),
    ],
)
def test_an_explanation_has_equations_units_and_all_categories(folder, kind, said):
    result = called("joints", kind)
    assert [text for text in said if text not in result.output] == []


def test_prose_fills_the_width_that_there_is(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = called("joints", "spring_damper").output
    prose = text[text.index("The force f of") : text.index("With ``only=")].strip().splitlines()
    words = [line.split() for line in prose]
    # a line is full if the first word of the next one has no place in it
    for line, after in itertools.pairwise(words):
        assert 2 + len(" ".join([*line, after[0]])) >= 60


def test_an_unknown_kind_suggests_another(folder):
    result = called("joints", "revolut")
    assert result.exit_code == 1
    assert "did you mean revolute" in result.output


# --- check ----------------------------------------------------------------------------------------


def test_a_sound_model_is_counted_and_drawn(folder):
    result = called("check", "crank.toml", "--drawing", "graph.png")
    assert result.exit_code == 0, result.output
    for said in ("3 bodies, 4 joints, 1 loop", "3·3 - 8 = 1", "A - B - C - slide", "No errors"):
        assert said in result.output
    assert Path("graph.png").read_bytes().startswith(b"\x89PNG")


def test_redundant_rows_are_named_by_their_joints_and_a_plane_is_offered(folder):
    Path("space.toml").write_text(SLIDER_CRANK.replace('plane = "xy"\n', ""), encoding="utf-8")
    result = called("check", "space.toml")
    assert result.exit_code == 0, result.output
    assert "6·3 - 20 = -2" in result.output
    assert "3 redundant rows" in result.output
    assert "xy plane" in result.output


def test_a_model_that_cannot_be_assembled_ends_with_1(folder):
    # the rod of 1 m reaches from the crank of 2 m not to a rail at y = 5 m
    text = SLIDER_CRANK.replace("l = 3.5", "l = 1.0").replace(
        'i = {body = "ground", axis', 'i = {body = "ground", position = [0, 5, 0], axis'
    )
    Path("apart.toml").write_text(text, encoding="utf-8")
    result = called("check", "apart.toml")
    assert result.exit_code == 1
    errors = [line for line in result.output.splitlines() if line.startswith("  error")]
    assert len(errors) == 1
    assert "C stays open by 2 m at best" in errors[0]
    assert "There are errors" in result.output


# --- info and convert -----------------------------------------------------------------------------


@pytest.mark.parametrize(("coordinates", "count"), [("joint", 3), ("reference", 9)])
def test_info_of_bodies_shows_kinds_frames_and_the_tree(folder, coordinates, count):
    result = called("info", "crank.toml", "--tree", "--coordinates", coordinates)
    assert result.exit_code == 0, result.output
    for said in (
        f"in {coordinates} coordinates",
        "3: crank, rod, slider",
        "slide (prismatic)",
        "motor (rotary)",
        f"{count}: ",
        "crank.B",
        "│   └── rod: B, C",
    ):
        assert said in result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["r", "2", "m"] in lines


def test_rows_that_define_the_coordinates_of_limits_are_told_from_constraints(folder):
    limited = SLIDER_CRANK.replace('kind = "revolute"', 'kind = "revolute"\nlimits = [-9, 9]', 1)
    Path("limited.toml").write_text(limited, encoding="utf-8")
    plain, found = (
        called("info", name, "--coordinates", "reference").output
        for name in ("crank.toml", "limited.toml")
    )
    counts = [
        next(line.split()[1] for line in text.splitlines() if line.split()[:1] == ["constraints"])
        for text in (plain, found)
    ]
    assert counts[0] == counts[1]
    assert "definitions    1: A.angle.angle" in found and "definitions" not in plain


def test_files_of_a_thesis_become_a_model_file_and_back(folder):
    assert called("convert", str(THESIS), "--to", "thesis.toml").exit_code == 0
    assert called("convert", "thesis.toml", "--to", "texts").exit_code == 0
    there, here = load("thesis.toml"), bl.kinematics(load("thesis.toml"), 0.2, step=0.1)
    back = bl.kinematics(bl.formulate(_folder("texts")), 0.2, step=0.1)
    assert list(there.bodies) == ["link2", "link3", "link4"]
    theta = np.pi / 4 + 2 * np.pi * here.t
    x = 2 * np.cos(theta) + np.sqrt(3.5**2 - 4 * np.sin(theta) ** 2)
    assert here["link4.x"] == pytest.approx(x, abs=1e-9)
    assert back["link4.x"] == pytest.approx(x, abs=1e-9)


def _folder(name):
    from biela.model.files import load_thesis_folder

    return load_thesis_folder(name)


def test_a_model_file_is_written_in_one_style_and_not_over_another(folder):
    assert called("convert", "crank.toml", "--to", "plain.toml").exit_code == 0
    assert called("convert", "plain.toml", "--to", "again.toml").exit_code == 0
    assert Path("plain.toml").read_text() == Path("again.toml").read_text()
    result = called("convert", "crank.toml", "--to", "plain.toml")
    assert result.exit_code == 1
    assert "--force overwrites" in result.output
    assert called("convert", "crank.toml", "--to", "model.json").exit_code == 1


def test_the_joints_of_a_robot_are_listed_with_their_limits_and_masses(folder):
    urdf = Path(__file__).parents[1] / "data" / "urdf" / "arm6.urdf"
    shown = called("info", str(urdf)).stdout
    (elbow,) = [line.split() for line in shown.splitlines() if line.split()[:1] == ["elbow"]]
    assert elbow[:4] == ["elbow", "revolute", "upper_arm", "forearm"]
    assert "2.6 rad/s" in shown and "75 N m" in shown
    assert "41.75 kg" in shown
