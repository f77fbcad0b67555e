"""What can be opened: the gallery, or one folder, and no program."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from biela.errors import BielaError, ModelError, UnknownNameError
from biela.model.files.xml_source import FileWarning
from biela.model.meshes.files import read_mesh, write_stl
from biela.model.meshes.mesh import Mesh
from biela.model.shapes import Box
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


OUTSIDE = (
    "../secret.stl",
    "{parent}/secret.stl",
    "file://{parent}/secret.stl",
    "file://../secret.stl",
    "package://{name}/secret.stl",
    "package://models/../secret.stl",
    "package:///{name}/secret.stl",
    "link.stl",
    "link/secret.stl",
    "%2e%2e/secret.stl",
    "models/../../secret.stl",
)
URDF = """<robot name="r"><link name="l">
<visual><geometry><mesh filename="MESH"/></geometry></visual>
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link></robot>"""
MJCF = """<mujoco model="r"><compiler meshdir="."/><asset><mesh name="m" file="MESH"/></asset>
<worldbody><body><joint type="hinge"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize(("ending", "text"), [("urdf", URDF), ("xml", MJCF)])
def test_a_robot_file_reads_no_mesh_outside_of_its_folder(
    folder: Path, name: str, ending: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_stl(Box(size=(1, 1, 1)).surface(), folder.parent / "secret.stl")
    write_stl(Box(size=(1, 1, 1)).surface(), folder / "own.stl")
    (folder / "link.stl").symlink_to(folder.parent / "secret.stl")
    (folder / "link").symlink_to(folder.parent)
    read: list[Path] = []

    def watched(path: Path, *rest: Any) -> Mesh:
        read.append(Path(path).resolve())
        return read_mesh(path, *rest)

    monkeypatch.setattr("biela.model.meshes.files.read_mesh", watched)
    file = folder / f"r.{ending}"
    for mesh in (name.format(parent=folder.parent, name=folder.parent.name), "own.stl"):
        file.write_text(text.replace("MESH", mesh))
        with warnings.catch_warnings(), suppress(BielaError):  # refused, or left out and noted
            warnings.simplefilter("ignore", FileWarning)
            FileSource(file).model({})
    assert set(read) == {folder / "own.stl"}


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


def test_a_file_whose_name_is_no_text_is_left_aside(folder: Path) -> None:
    odd = os.path.join(os.fsencode(folder), b"x\x80.toml")
    try:
        with open(odd, "w") as file:
            file.write(MODEL)
    except OSError:
        pytest.skip("this file system has no such names")
    shelf, _ = beside(folder / "one.toml")
    assert shelf.names == ("one.toml", "two.toml")
    assert all(name.encode() for name in shelf.names)
