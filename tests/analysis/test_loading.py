"""One door for files: what comes out of each kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.errors import BielaError, FileError, ModelError
from tests.analysis.moving_robots import planar_arm

URDF = """<robot name="pendulum"><link name="base"/><link name="rod"><inertial>
  <origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial>
  </link><joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/>
  <axis xyz="0 1 0"/><limit lower="-1" upper="2" velocity="3" effort="40"/></joint></robot>"""
MJCF = """<mujoco model="pendulum"><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"
  armature="0.4"/><inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.01"/></body>
  </worldbody></mujoco>"""
#: About the hinge.
INERTIA = 0.1 + 2 * 0.5**2


def test_a_urdf_gives_a_robot_that_answers_at_once(tmp_path):
    file = tmp_path / "pendulum.urdf"
    file.write_text(URDF, encoding="utf-8")
    for source in (file, str(file), URDF):
        robot = bl.load(source)
        assert isinstance(robot, bl.Robot)
        a = robot.forward_dynamics([0.1], [0.0], [0.3])
        assert a[0] == pytest.approx((0.3 - 2 * 9.81 * 0.5 * np.sin(0.1)) / INERTIA, rel=1e-12)
    assert (robot.lower[0], robot.upper[0]) == (-1.0, 2.0)
    assert (robot.velocity_limits[0], robot.effort_limits[0]) == (3.0, 40.0)
    floating = bl.load(file, floating=True, merge_fixed=True)
    assert floating.nv == 7


def test_a_loop_can_be_added_to_what_urdf_says():
    m = bl.load(URDF).model
    slider = m.body("slider", mass=1.0, inertia=0.01)
    m.joint("prismatic", "rail", m.ground, slider, axis="x")
    end, pin = m.bodies["rod"].at(0, 0, -1.0), slider.at(0.8, 0, -1.0)
    m.joint("distance", "strut", end, pin, length=0.8)
    results = bl.simulate(m, 0.2, v={"hinge.angle_rate": 1.0}, step=1e-3)
    assert np.ptp(results["energy"]) < 1e-6
    # the end of the rod is at (-sin φ, -cos φ), the pin 0.8 m from it on its level or below
    phi, x = results["hinge.angle"], results["rail.displacement"]
    way = np.hypot(0.8 + x + np.sin(phi), np.cos(phi) - 1.0)
    np.testing.assert_allclose(way, 0.8, atol=1e-8)
    assert np.ptp(x) > 0.1


def test_an_mjcf_gives_a_robot_with_its_rotors(tmp_path):
    file = tmp_path / "pendulum.xml"
    file.write_text(MJCF, encoding="utf-8")
    for source in (file, MJCF):
        robot = bl.load(source)
        assert robot.mass_matrix([0.0])[0, 0] == pytest.approx(INERTIA + 0.4, rel=1e-12)


def test_a_table_of_denavit_and_hartenberg_gives_a_robot(tmp_path):
    table = tmp_path / "arm.csv"
    table.write_text(
        "# standard\na, alpha, d, theta, kind, mass, lower, upper, velocity, effort\n"
        "400 mm, 0, 0, 0, , 2, -2, 2, 1.5, 20\n"
        "0.3, 0 deg, 0, 0, revolute, 1, -2.5, 0.5, 2, 8\n",
        encoding="utf-8",
    )
    robot, other = bl.load(table), planar_arm()
    np.testing.assert_allclose(robot.pose("link2", [0.3, 0.4]), other.pose("link2", [0.3, 0.4]))
    np.testing.assert_array_equal(robot.lower, other.lower)
    np.testing.assert_array_equal(robot.effort_limits, other.effort_limits)
    assert robot.table.mass == 3.0
    toml = tmp_path / "arm.toml"
    toml.write_text(
        'name = "arm"\n[denavit_hartenberg]\nconvention = "modified"\n'
        'rows = [{ a = 0, alpha = 0, d = 0, theta = 0 }, { a = 0.4, alpha = "90 deg", d = "50 mm", '
        'theta = 0, kind = "prismatic" }]\nmasses = [2.0, 1.0]\nlimits = [[-2, 2], []]\n',
        encoding="utf-8",
    )
    slider = bl.load(toml)
    assert slider.name == "arm"
    np.testing.assert_allclose(slider.pose("link2", [0.0, 0.1])[:3, 3], [0.4, -0.15, 0], atol=1e-15)
    assert slider.upper.tolist() == [2.0, np.inf]
    assert isinstance(bl.load_model(toml), bl.Model)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a, alpha, d\n0, 0, 0\n", r":1: the headings are a, alpha, d, theta"),
        ("a, alpha, d, theta\n0, 0, 0, 0\n0, 0, , 0\n", r":3: d is not given"),
        ("a, alpha, d, theta\n0, 0, 0, 0, 0\n", r":2: 5 cells below 4 headings"),
        ("a, alpha, d, theta\n0, 3 kg, 0, 0\n", r"row 1|kg"),
        ("a, alpha, d, theta, lower\n0, 0, 0, 0, 1\n", r"joint 1 has one limit only"),
        ("", r"one row for each joint"),
    ],
)
def test_a_faulty_table_is_named_by_its_line(tmp_path, text, message):
    file = tmp_path / "arm.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=message):
        bl.load(file)


def test_model_files_results_and_workspaces_come_through_the_same_door(tmp_path):
    model = planar_arm().model
    bl.save_model(model, tmp_path / "arm.toml")
    again = bl.load(tmp_path / "arm.toml")
    assert isinstance(again, bl.Model)
    assert again.joints["joint2"] == model.joints["joint2"]
    results = planar_arm().simulate(0.1, step=1e-2)
    results.save(tmp_path / "run.npz")
    assert isinstance(bl.load(tmp_path / "run.npz"), bl.Results)
    ws = bl.Workspace("two")
    x, y = ws.symbols("x y")
    expression = x * y + 1
    text = bl.dump(ws)
    (tmp_path / "atoms.txt").write_text(text, encoding="utf-8")
    for source in (text, tmp_path / "atoms.txt"):
        found = bl.load(source)
        assert str(found["x"] * found["y"] + 1) == str(expression)


def test_a_folder_of_the_thesis_gives_a_model():
    folder = Path(__file__).parents[2] / "examples" / "thesis" / "robot_arm"
    assert isinstance(bl.load(folder), bl.Model)


def test_what_cannot_be_loaded_is_said(tmp_path):
    (tmp_path / "notes.docx").write_bytes(b"PK")
    with pytest.raises(FileError, match=r"robots \(.urdf.*not .docx"):
        bl.load(tmp_path / "notes.docx")
    with pytest.raises(FileError, match="is not there"):
        bl.load(tmp_path / "robot.urdf")
    with pytest.raises(BielaError, match="line 1"):
        bl.load("some text\nof nothing")
    with pytest.raises(FileError, match="path of a file, or the text"):
        bl.load(3)
    with pytest.raises(ModelError, match="no option 'floating' for this format; the options are"):
        bl.load(MJCF, floating=True)
