"""Colours of the links of a robot, as its file gives them."""

from __future__ import annotations

from pathlib import Path

from biela.studio.materials import colours_of
from biela.studio.session import Session
from biela.studio.source import FileSource

ARM = """<robot name="arm">
  <material name="orange"><color rgba="1 0.5 0 1"/></material>
  <material name="wrong"><color rgba="1 red 0"/></material>
  <link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
    izz="1"/></inertial>
    <visual><geometry><box size="1 0.1 0.1"/></geometry><material name="orange"/></visual></link>
  <link name="fore"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
    izz="1"/></inertial>
    <visual><geometry><box size="1 0.1 0.1"/></geometry>
      <material name=""><color rgba="0.1 0.3 2.0 0.5"/></material></visual></link>
  <link name="tool"><visual><geometry><box size="0.1 0.1 0.1"/></geometry>
    <material name="wrong"/></visual></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="b" type="continuous"><origin xyz="1 0 0"/><parent link="upper"/>
    <child link="fore"/><axis xyz="0 1 0"/></joint>
  <joint name="c" type="fixed"><origin xyz="1 0 0"/><parent link="fore"/><child link="tool"/>
  </joint>
</robot>
"""


def test_links_have_the_colours_of_their_materials_by_name_or_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    assert colours_of(file) == {"upper": "#ff8000", "fore": "#1a4cff"}


def test_other_files_have_no_colours(tmp_path: Path) -> None:
    file = tmp_path / "model.xml"
    file.write_text("<mujoco/>")
    assert colours_of(file) == {}
    assert colours_of(tmp_path / "not_there.toml") == {}


def test_bodies_are_drawn_in_the_colours_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    session = Session(FileSource(file))
    session.choose(duration=0.1, step=0.05)
    assert session.run(), session.error
    drawn = {piece.name: piece.color for piece in session.pieces if piece.role == "body"}
    assert drawn["upper"] == "#ff8000" and drawn["fore"] == "#1a4cff"
    assert drawn["base"] not in ("#ff8000", "#1a4cff")
    session.jog("b.angle", 0.5)
    posed = session.posed_pieces()
    assert posed is not None
    assert {piece.color for piece in posed if piece.name == "fore"} == {"#1a4cff"}
