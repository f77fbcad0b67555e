"""What can be opened: the gallery, or one folder, and no program."""

from __future__ import annotations

from pathlib import Path

import pytest

from biela.errors import ModelError, UnknownNameError
from biela.studio.shelf import beside, gallery
from biela.studio.source import FileSource

MODEL = """
name = "one"
bodies.a.mass = "1 kg"
joints.j = {kind = "revolute", i = "ground", j = "a"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "models"
    inside.mkdir()
    (inside / "one.toml").write_text(MODEL)
    (inside / "two.toml").write_text(MODEL)
    (inside / "program.py").write_text("raise SystemExit('it was run')")
    (tmp_path / "secret.toml").write_text(MODEL)
    return inside


def test_the_gallery_has_the_mechanisms_with_their_descriptions() -> None:
    shelf = gallery()
    assert {"slider-crank", "stewart", "four-bar"} <= set(shelf.names)
    assert "piston" in shelf.description("slider-crank")


def test_beside_a_file_are_the_other_models_of_its_folder_only(folder: Path) -> None:
    shelf, name = beside(folder / "one.toml")
    assert name == "one.toml"
    assert shelf.names == ("one.toml", "two.toml")
    assert shelf.source("two.toml").model({}).name == "one"


@pytest.mark.parametrize(
    "asked", ["../secret.toml", "/etc/passwd", "program.py", "", "one.toml/.."]
)
def test_names_do_not_lead_out_of_the_folder(folder: Path, asked: str) -> None:
    shelf, _ = beside(folder / "one.toml")
    with pytest.raises(UnknownNameError, match="there is no mechanism"):
        shelf.source(asked)
    assert shelf.description(asked) == ""


def test_links_out_of_the_folder_are_left_aside(folder: Path) -> None:
    link = folder / "linked.toml"
    try:
        link.symlink_to(folder.parent / "secret.toml")
    except OSError:
        pytest.skip("this system makes no links")
    assert "linked.toml" not in beside(folder / "one.toml")[0].names


def test_a_program_is_refused_without_being_run(folder: Path) -> None:
    with pytest.raises(ModelError, match="--trust"):
        beside(folder / "program.py")


def test_what_is_no_model_file_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="is not there"):
        beside(folder / "three.toml")
    (folder / "notes.txt").write_text("nothing")
    with pytest.raises(ModelError, match="no model file"):
        beside(folder / "notes.txt")


def test_a_model_file_reads_nothing_outside_of_its_folder_with_any_parameters(
    folder: Path,
) -> None:
    (folder / "one.toml").write_text(
        'name = "one"\n[parameters]\nr = 1.0\n[bodies.a]\n'
        'shapes = [{kind = "mesh", file = "../secret.stl", density = 1000}]\n'
    )
    for parameters in ({}, {"r": 2.0}):
        with pytest.raises(ModelError, match="outside"):
            FileSource(folder / "one.toml").model(parameters)
