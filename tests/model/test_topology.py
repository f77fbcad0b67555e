from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.equations.spatial.tree import SpatialTree
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Joint
from biela.model.topology.planarity import Plane, joint_twists, planar_removes, plane_of_motion
from biela.model.topology.topology import Topology, symbol
from biela.model.topology.tree import joint_tree, start_poses
from tests.model.four_bars import four_bar


def bodies(name: str, *names: str) -> Model:
    m = Model(name)
    for body in names:
        m.body(body)
    return m


def table_3_1() -> Model:
    """The slider-crank of Peinado's thesis with a joint of each link: redundant."""
    m = bodies("Table 3.1", "crank", "rod", "slider")
    m.joint("revolute", "R12", m.ground, "crank", start=np.pi / 4)
    m.joint("revolute", "R23", ("crank", (2, 0, 0)), ("rod", (-1.75, 0, 0)))
    m.joint("revolute", "R34", ("rod", (1.75, 0, 0)), "slider")
    m.joint("prismatic", "T14", m.ground, "slider", axis="x", start=4.6)
    return m


def table_3_2() -> Model:
    """The same with two coordinate differences in place of the last hinge."""
    m = bodies("Table 3.2", "crank", "rod", "slider")
    m.joint("revolute", "R12", m.ground, "crank", start=np.pi / 4)
    m.joint("revolute", "R23", ("crank", (2, 0, 0)), ("rod", (-1.75, 0, 0)))
    m.joint("prismatic", "T14", m.ground, "slider", axis="x", start=4.6)
    m.joint("coordinate_difference", "CDx", ("rod", (1.75, 0, 0)), "slider", along="x")
    m.joint("coordinate_difference", "CDy", ("rod", (1.75, 0, 0)), "slider", along="y")
    return m


def robot_arm() -> Model:
    m = bodies("arm", "column", "upper", "fore")
    m.joint("revolute", "J1", m.ground, "column")
    m.joint("revolute", "J2", ("column", (0, 0, 4)), "upper", axis="y")
    m.joint("revolute", "J3", ("upper", (2, 0, 0)), ("fore", (-2, 0, 0)), axis="y")
    return m


def plane(m: Model) -> Plane | None:
    return plane_of_motion(m, start_poses(m, joint_tree(m))[0])


# --------------------------------------------------------------------------------- counts


@pytest.mark.parametrize(
    ("model", "eliminated", "remaining"),
    [(table_3_1(), 30, -2), (table_3_2(), 27, 1), (robot_arm(), 25, 3)],
)
def test_the_count_of_the_thesis_gives_minus_two_one_and_three(
    model: Model, eliminated: int, remaining: int
) -> None:
    text = Topology.of(model).thesis_report()
    rows = dict(line.rsplit(maxsplit=1) for line in text.splitlines()[1:-1])
    assert rows["  coordinates 7·nb"] == "28"
    assert rows["  ground"] == "-6"
    assert rows["  normalisation"] == "-4"
    assert rows["  eliminated"] == str(eliminated)
    assert text.splitlines()[-1].split()[:2] == ["remaining", str(remaining)]
    assert Topology.of(model).freedoms == remaining


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize("count", [1, 2, 77])
def test_an_array_of_four_bars_has_a_loop_and_minus_two_freedoms_each(
    count: int, chained: bool
) -> None:
    m = Model("array", plane="xy")
    m.part("cell", four_bar(driven=True, plane="xy"), count, link="rocker.tip" if chained else None)
    found = Topology.of(m)
    assert (found.bodies, found.joints, found.loops, found.pieces) == (
        3 * count, 4 * count, count, 1
    )  # fmt: skip
    assert (found.freedoms, found.planar_freedoms, found.driven) == (-2 * count, count, count)
    assert found.chain == "closed chain"
    plain = Topology.of(m.flattened())
    assert (plain.loops, plain.planar_freedoms) == (found.loops, found.planar_freedoms)
    assert plain.parent.tolist() == found.parent.tolist()
    assert {len(loop) for loop in found.smallest_loops} == {4}
    assert len(found.cut) == count


def test_forms_of_chains_have_names() -> None:
    arm = robot_arm()
    assert Topology.of(arm).chain == "open chain, serial"
    arm.body("thumb")
    arm.joint("revolute", "J4", "upper", "thumb")
    assert Topology.of(arm).chain == "open chain, a tree"
    crank = table_3_1()
    crank.body("flag")
    crank.joint("revolute", "F", "rod", "flag")
    assert Topology.of(crank).chain == "closed chain with open branches"


def test_joints_are_classed_by_their_freedoms() -> None:
    m = bodies("classes", *"abcdefgh")
    m.joint("revolute", "1", m.ground, "a")
    m.joint("helical", "2", m.ground, "b", pitch=0.1)
    m.joint("universal", "3", m.ground, "c")
    m.joint("spherical", "4", m.ground, "d")
    m.joint("point_on_line", "5", m.ground, "e")
    m.joint("distance", "6", "f", ("a", (1, 0, 0)), length=1)
    m.joint("fixed", "7", m.ground, "f")
    assert Topology.of(m).classes == {"I": 2, "II": 1, "III": 1, "IV": 1, "V": 1}
    assert [symbol(k) for k in ("revolute", "planar", "fixed", "point_on_line")] == [
        "R", "E", "0", "pol"
    ]  # fmt: skip


def test_gears_take_a_freedom_each() -> None:
    m = bodies("gears", "a", "b")
    m.joint("revolute", "A", m.ground, "a")
    m.joint("revolute", "B", (m.ground, (1, 0, 0)), "b")
    m.joint("gear", "teeth", first="A.angle", second="B.angle", ratio=-2)
    found = Topology.of(m)
    assert (found.freedoms, found.joints, found.loops) == (1, 2, 0)
    assert "1 coupling" in found.thesis_report()


def test_bodies_that_float_are_told_from_those_that_were_forgotten() -> None:
    m = bodies("space", "satellite", "panel", "lost", "found", "base")
    m.joint("free", "orbit", m.ground, "satellite")
    m.joint("revolute", "hinge", "satellite", "panel")
    m.joint("revolute", "pin", "lost", "found")
    m.joint("revolute", "pivot", m.ground, "base")
    found = Topology.of(m)
    assert found.body_names(found.floating) == ("satellite", "panel")
    assert found.body_names(found.loose) == ("lost", "found")
    assert (found.pieces, found.loops) == (3, 0)


def test_a_free_joint_beside_another_closes_no_loop() -> None:
    m = bodies("m", "a")
    m.joint("free", "start", m.ground, "a")
    m.joint("revolute", "pin", m.ground, "a")
    found = Topology.of(m)
    assert (found.loops, found.freedoms) == (0, 1)


# -------------------------------------------------------------------------------- planarity

IN_PLANE = {
    # kind, axis along the normal or across it: freedoms removed of the three in the plane
    ("revolute", "z"): 2,
    ("revolute", "x"): 3,
    ("prismatic", "x"): 2,
    ("prismatic", "z"): 3,
    ("cylindrical", "z"): 2,
    ("cylindrical", "y"): 2,
    ("planar", "z"): 0,
    ("planar", "x"): 2,
    ("spherical", "z"): 2,
    ("universal", "z"): 3,
    ("universal", "y"): 2,
    ("point_on_line", "x"): 1,
    ("point_on_line", "z"): 2,
    ("fixed", "z"): 3,
    ("free", "z"): 0,
    ("in_plane", "z"): 0,
    ("in_plane", "x"): 1,
    ("parallel_axes", "z"): 0,
    ("parallel_axes", "x"): 1,
}


@pytest.mark.parametrize(("kind", "axis"), IN_PLANE)
def test_joints_remove_in_the_plane_what_is_left_of_them_there(kind: str, axis: str) -> None:
    m = bodies("m", "a")
    joint = m.joint(kind, "J", m.ground, "a", axis=axis)
    assert isinstance(joint, Joint)
    assert planar_removes(m, joint, "xy") == IN_PLANE[kind, axis]


def test_twists_of_a_screw_are_turn_and_advance() -> None:
    m = bodies("m", "a")
    joint = m.joint("helical", "J", m.ground, "a", pitch=0.3, start=2.0)
    assert isinstance(joint, Joint)
    twist = joint_twists(m, joint)
    np.testing.assert_allclose(twist[:, 0], [0, 0, 1, 0, 0, 0.3 / (2 * np.pi)], atol=1e-9)


@pytest.mark.parametrize(
    ("turn", "name"),
    [
        (("z", (0.4,)), "xy"),
        (("x", (np.pi / 2,)), "xz"),
        (("yz", (np.pi / 2, 0.3)), "yz"),
        (("xy", (0.3, 0.2)), None),
    ],
)
def test_a_four_bar_moves_in_its_plane_however_it_is_turned(
    turn: tuple[str, tuple[float, ...]], name: str | None
) -> None:
    m = Model("host")
    m.part("cell", four_bar(), orientation=turn, position=(0.1, 0.2, 0.3))
    found = plane(m.flattened())
    assert found is not None
    assert found.name == name
    if name is None:
        # Rx(0.3) Ry(0.2) z
        n = [np.sin(0.2), -np.sin(0.3) * np.cos(0.2), np.cos(0.3) * np.cos(0.2)]
        np.testing.assert_allclose(found.normal, n, atol=1e-7)


def slider_crank(pin: str, wrist: str) -> Model:
    m = bodies("slider-crank", "crank", "rod", "slider")
    m.joint("revolute", "main", m.ground, "crank", start=0.5)
    m.joint(pin, "pin", ("crank", (0.1, 0, 0)), "rod")
    m.joint(wrist, "wrist", ("rod", (0.3, 0, 0)), "slider")
    m.joint("prismatic", "guide", m.ground, "slider", axis="x", start=0.38)
    return m


@pytest.mark.parametrize(
    ("pin", "wrist", "planar"),
    [
        ("revolute", "revolute", True),
        ("spherical", "cylindrical", True),  # neither alone keeps the rod in the plane
        ("revolute", "spherical", True),
        ("spherical", "spherical", False),  # the rod may spin about its own axis
        ("cylindrical", "cylindrical", False),  # the rod may slide along both pins
    ],
)
def test_a_rod_stays_in_the_plane_if_both_of_its_joints_hold_it_there(
    pin: str, wrist: str, planar: bool
) -> None:
    m = slider_crank(pin, wrist)
    found = plane(m)
    assert (found is not None and found.name == "xy") is planar


def test_arms_and_screws_move_in_no_plane() -> None:
    assert plane(robot_arm()) is None
    m = bodies("press", "screw")
    m.joint("helical", "thread", m.ground, "screw", pitch=0.01)
    assert plane(m) is None


def test_the_planar_copy_counts_in_the_plane_and_leaves_the_model_alone() -> None:
    m = Model("host")
    m.part("cell", four_bar(), 3, shift=(0, 0, 0.1))
    flat = m.in_plane("xy")
    assert (m.plane, flat.plane, flat.parts["cell"].model.plane) == (None, "xy", "xy")
    assert Topology.of(flat).planar_freedoms == 3
    assert len(flat.flattened().bodies) == 9
    m.part("turned", four_bar(), orientation=("x", (0.3,)))
    with pytest.raises(ModelError, match="part turned is turned out of the xy plane"):
        m.in_plane("xy")
    with pytest.raises(ModelError, match="not 'yx'"):
        m.in_plane("yx")


def bennett_loop(moved: float) -> Model:
    """The gallery's linkage with its last hinge moved along its bar: a structure, if at all."""
    m = bl.load_model(Path(__file__).parents[2] / "examples/mechanisms/bennett.toml")
    m.drivers.clear()
    D = m.joints["D"]
    x, y, z = D.i.position
    m.joints["D"] = replace(D, i=replace(D.i, position=(f"{x} + {moved}", y, z)))
    return m


def test_a_loop_of_skew_hinges_moves_in_no_plane_even_if_it_is_locked() -> None:
    for moved in (0.0, 1e-3):
        m = bennett_loop(moved)
        assert plane(m) is None
        assert "plane" not in str(bl.check(m))


def test_tilted_joints_and_bodies_are_refused_by_name_where_a_plane_is_declared() -> None:
    def arm(tilt: float, turned: bool = False) -> Model:
        m = bl.Model("arm", gravity=(0, -9.81, 0))
        upper = m.body("upper", mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
        about = ("x", (0.3,)) if turned else None
        lower = m.body(
            "lower", mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1), orientation=about
        )
        axis = (0.0, np.sin(tilt), np.cos(tilt))
        m.joint("revolute", "A", m.ground.at(axis="z"), upper.at(axis="z"), start=0.1)
        m.joint("revolute", "B", upper.at(1, 0, 0, axis=axis), lower.at(axis=axis), start=0.2)
        return m

    assert arm(0.0).in_plane("xy").plane == "xy"
    with pytest.raises(ModelError, match=r"arm does not move in a plane: joint B \(revolute\)"):
        arm(1e-3).in_plane("xy")
    with pytest.raises(ModelError, match=r"joint A .*; joint B"):
        arm(0.0).in_plane("xz")
    with pytest.raises(ModelError, match="body lower is turned out of the xy plane"):
        arm(0.0, turned=True).in_plane("xy")
    host = bl.Model("host")
    host.part("cell", arm(0.2), 2, shift=(0, 0, 1.0))
    with pytest.raises(ModelError, match=r"joint B \(revolute\) cannot turn in the xy plane"):
        host.in_plane("xy")
    # a plane that is written into a model counts as well
    declared = arm(0.2)
    declared.plane = "xy"
    with pytest.raises(ModelError, match=r"joint B \(revolute\) cannot turn in the xy plane"):
        bl.Robot(declared)


@pytest.mark.parametrize("kind", ["spherical", "cylindrical", "universal"])
def test_a_robot_stays_in_the_plane_of_its_model(kind: str) -> None:
    def arm(kind: str) -> bl.Robot:
        m = bl.Model("arm", plane="xy", gravity=(0, -9.81, 0))
        upper, lower = (
            m.body(n, mass=1.0, com=(0.5, 0.1, 0), inertia=0.1) for n in ("upper", "lower")
        )
        m.joint("revolute", "A", m.ground, upper)
        # the second axis of a universal joint is along the normal, and is all that can turn
        axes = {"axis": "x", "x_axis": "y"} if kind == "universal" else {}
        m.joint(kind, "B", upper.at(1, 0, 0, **axes), lower.at(**axes))
        return bl.Robot(m)

    hinged, robot = arm("revolute"), arm(kind)
    assert robot.q_names == ("A.angle", "lower.x", "lower.y", "lower.angle")
    np.testing.assert_allclose(robot.assemble(), [0, 1, 0, 0], atol=1e-12)
    # stretched out, the second arm begins a metre from the first pin
    v, w = 0.7, -1.9
    a = hinged.forward_dynamics([0, 0], [v, w], [0.3, 0])
    found = robot.forward_dynamics([0, 1, 0, 0], [v, 0, v, v + w], [0.3, 0, 0, 0])
    np.testing.assert_allclose(found, [a[0], -(v**2), a[0], a[0] + a[1]], rtol=1e-12)


def test_bodies_that_float_together_are_a_tree_in_space_and_in_a_plane() -> None:
    for plane, first in ((None, "x y z rotation_e0 rotation_e1"), ("xz", "x y angle")):
        m = bl.Model("pair", plane=plane)
        one = m.body("one", mass=1.0, com=(0.1, 0, 0.2), inertia=0.1)
        two = m.body("two", mass=2.0, com=(0.3, 0, 0.1), inertia=0.2)
        m.joint("revolute", "pin", one.at(1, 0, 0), two, axis="y")
        robot = bl.Robot(m)
        assert not SpatialTree(m).is_closed
        assert robot.q_names[: len(first.split())] == tuple(f"one.{n}" for n in first.split())
        assert robot.q_names[-1] == "pin.angle"
        # they fall
        a = robot.forward_dynamics(robot.assemble(), np.zeros(robot.nv), np.zeros(robot.nv))
        for body in ("one", "two"):
            fall = robot.frame_acceleration(body, robot.assemble(), np.zeros(robot.nv), a)
            np.testing.assert_allclose(fall, [0, 0, 0, 0, 0, -9.81], atol=1e-12)


def test_a_joint_that_closes_carries_nothing_and_stays_so_in_files(tmp_path: Path) -> None:
    m = bl.Model("chain")
    one, two = (m.body(name, mass=1.0, inertia=0.1) for name in ("one", "two"))
    m.joint("revolute", "A", m.ground, one)
    m.joint("revolute", "B", one.at(1, 0, 0), two)
    m.joint("fixed", "held", m.ground.at(1, 1, 0), two.at(0, 1, 0))
    assert [b.joint.name for b in joint_tree(m).branches] == ["held", "A"]
    m.joints.pop("held")
    m.joint("fixed", "held", m.ground.at(1, 1, 0), two.at(0, 1, 0), closes=True)
    bl.save_model(m, tmp_path / "chain.toml")
    for model in (m, bl.load_model(tmp_path / "chain.toml")):
        tree = joint_tree(model)
        assert [b.joint.name for b in tree.branches] == ["A", "B"]
        assert [joint.name for joint in tree.closing] == ["held"]
