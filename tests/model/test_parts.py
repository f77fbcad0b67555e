from __future__ import annotations

import numpy as np
import pytest

from biela.equations import formulate
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Gear, Joint
from biela.model.parts.renaming import renamed_text
from biela.model.placing import body_pose, marker_pose, posed
from biela.model.topology.incidence import Incidence, incidence
from biela.model.topology.tree import joint_tree, start_poses
from tests.model.four_bars import four_bar


def link(name: str) -> Model:
    """A bar on a hinge about the y axis of the ground, 200 mm above it."""
    m = Model(name)
    m.parameter("length", 0.5)
    bar = m.body("bar", mass="2*length", com=("length/2", 0, 0), inertia=(0.01, 0.2, 0.2))
    bar.marker("end", ("length", 0, 0))
    m.joint("revolute", "hinge", (m.ground, (0, 0, "200 mm")), bar, axis="y")
    return m


# -------------------------------------------------------------------------------- the same


def test_a_part_on_a_moving_body_moves_like_the_same_thing_written_by_hand() -> None:
    turn = ("zx", ("30 deg", 0.4))
    m = Model("arm")
    m.body("base", mass=3.0, inertia=0.5)
    m.joint("revolute", "pivot", m.ground, "base", axis="x")
    m.part("fore", link("link"), on="base", position=(0.1, 0.2, 0.3), orientation=turn)

    by_hand = Model("arm")
    by_hand.body("base", mass=3.0, inertia=0.5)
    by_hand.body("bar", mass=1.0, com=(0.25, 0, 0), inertia=(0.01, 0.2, 0.2))
    by_hand.joint("revolute", "pivot", by_hand.ground, "base", axis="x")
    c, s, cx, sx = np.cos(np.pi / 6), np.sin(np.pi / 6), np.cos(0.4), np.sin(0.4)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array(
        [[1, 0, 0], [0, cx, -sx], [0, sx, cx]]
    )
    place = np.array([0.1, 0.2, 0.3]) + R @ [0, 0, 0.2]
    before = by_hand.bodies["base"].at(*place, axis=R[:, 1], x_axis=R[:, 2])
    by_hand.joint("revolute", "hinge", before, by_hand.bodies["bar"].at(axis="y"))

    ours, theirs = formulate(m), formulate(by_hand)
    assert [entry.name for entry in ours.q] == ["pivot.angle", "fore.hinge.angle"]
    rng = np.random.default_rng(2)
    p = [entry.value for entry in ours.p]
    for _ in range(3):
        q, v = rng.normal(size=2), rng.normal(size=2)
        for what in ("M", "Q"):
            a = ours.evaluate(what, q, v, t=0.0, p=p)
            b = theirs.evaluate(what, q, v, t=0.0, p=[])
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_instances_of_a_chain_stand_on_the_marker_of_the_one_before() -> None:
    m = Model("chain")
    m.part("cell", four_bar(), 1000, link="rocker.tip")
    whole = m.flattened()
    assert (len(whole.bodies), len(whole.joints)) == (3000, 4000)
    joint = whole.joints["cell[999].D"]
    assert isinstance(joint, Joint)
    assert joint.i.body == "cell[998].rocker"
    # the tip is 400 mm out, and the pivot D 300 mm further
    assert marker_pose(whole, joint.i)[:3, 3] == pytest.approx([0.7, 0, 0])


def test_shifted_instances_stand_side_by_side_on_the_ground() -> None:
    m = Model("row")
    m.part("cell", four_bar(), 4, position=(1, 0, 0), shift=(0, 0, "50 mm"))
    whole = m.flattened()
    for k in range(4):
        joint = whole.joints[f"cell[{k}].D"]
        assert isinstance(joint, Joint)
        assert joint.i.body == "ground"
        assert marker_pose(whole, joint.i)[:3, 3] == pytest.approx([1.3, 0, 0.05 * k])


def test_bodies_that_no_joint_carries_start_in_the_ground_of_their_instance() -> None:
    cell = Model("cell")
    cell.body("ball", mass=1.0, inertia=1.0)
    m = Model("row")
    m.part("cell", cell, 3, shift=(1, 0, 0))
    whole = m.flattened()
    poses, _ = start_poses(whole, joint_tree(whole))
    assert [poses[f"cell[{k}].ball"][:3, 3].tolist() for k in range(3)] == [
        [0, 0, 0],
        [1, 0, 0],
        [2, 0, 0],
    ]


def test_start_poses_of_a_chain_are_products_of_those_of_its_links() -> None:
    step = Model("step")
    step.parameter("a", 0.2)
    step.body("bar", position=("a", 0, 0.1), orientation=("zy", (0.3, "10 deg")))
    step.bodies["bar"].marker("end", (0.5, 0, 0), axis="x")
    step.joint("free", "f", step.ground, "bar")
    m = Model("chain")
    a = np.array([0.2, 0.3, 0.4])
    m.part("s", step, 3, link="bar.end", shift=(0, 0, 0.05), parameters={"a": a})
    whole = m.flattened()

    T = np.eye(4)
    for k in range(3):
        step.parameters["a"] = float(a[k])
        T = T @ body_pose(step, step.bodies["bar"])
        np.testing.assert_allclose(body_pose(whole, whole.bodies[f"s[{k}].bar"]), T, atol=1e-12)
        looked_up = m.find_body(f"s[{k}].bar")
        np.testing.assert_allclose(body_pose(whole, looked_up), T, atol=1e-12)
        T = T @ marker_pose(step, step.bodies["bar"].markers["end"]) @ posed([0, 0, 0.05])


def edges(graph: Incidence) -> dict[str, tuple[str, str, int, str]]:
    return {
        graph.joints[k]: (
            graph.bodies[int(graph.first[k])],
            graph.bodies[int(graph.second[k])],
            int(graph.removes[k]),
            graph.kinds[int(graph.kind[k])],
        )
        for k in range(len(graph.first))
    }


def nested() -> Model:
    inner = Model("inner")
    inner.part(
        "cell",
        four_bar(driven=True),
        5,
        link="rocker.tip",
        parameters={"r": np.linspace(0.1, 0.2, 5)},
        between=[
            ("spherical", "coupler", "crank.tip", {"name": "ball"}),
            ("distance", "crank", "ground", {"length": 0.3}),
        ],
    )
    inner.joint("revolute", "end", "cell[-1].rocker", inner.ground)
    outer = Model("outer")
    outer.body("base")
    outer.part("a", inner, on="base")
    outer.part("b", inner, 3, shift=(1, 0, 0))
    outer.joint("fixed", "weld", "b[-1].cell[-1].crank", "a.cell[0].crank")
    return outer


def test_the_graph_of_arrays_is_that_of_the_model_written_out() -> None:
    outer = nested()
    ours, plain = incidence(outer), incidence(outer.flattened())
    names = [ours.bodies[k] for k in range(len(ours.bodies))]
    assert names == [plain.bodies[k] for k in range(len(plain.bodies))]
    assert edges(ours) == edges(plain)
    assert (ours.drivers, ours.driven) == (plain.drivers, plain.driven) == (20, 20)
    assert [ours.bodies.index(name) for name in names] == list(range(len(names)))
    joints = [ours.joints[k] for k in range(len(ours.joints))]
    assert [ours.joints.index(name) for name in joints] == list(range(len(joints)))
    assert ours.bodies.index("b[3].cell[0].crank") == -1


def test_a_large_array_stays_a_prototype_and_rows() -> None:
    m = Model("array")
    rows = np.linspace(0.09, 0.11, 100_000)
    part = m.part("cell", four_bar(), 100_000, shift=(0, 0, 0.05), parameters={"r": rows})
    assert not m.bodies
    assert part.parameters["r"] is not rows
    graph = incidence(m)
    assert (len(graph.bodies), len(graph.first)) == (300_001, 400_000)
    assert graph.bodies[300_000] == "cell[99999].rocker"
    with pytest.raises(ModelError, match=r"300,000 bodies in arrays.*limit=None"):
        m.flattened()


# ------------------------------------------------------------------- parameters and texts


def test_parameters_are_one_for_all_a_row_or_a_text_of_the_host() -> None:
    cell = four_bar()
    m = Model("host")
    m.parameter("R", 0.04)
    m.part("same", cell, 2, parameters={"r": "120 mm"})
    m.part("each", cell, 2, parameters={"r": ["10 cm", 0.2]})
    m.part("text", cell, 2, parameters={"r": "2*R + 5 mm"})
    m.part("own", cell)
    whole = m.flattened()
    assert whole.parameters == {
        "R": 0.04, "same_r": 0.12, "each_0_r": 0.1, "each_1_r": 0.2, "own_r": 0.1,
    }  # fmt: skip

    def reach(name: str) -> float:
        return float(marker_pose(whole, whole.bodies[f"{name}.crank"].markers["tip"])[0, 3])

    assert [reach(n) for n in ("same[1]", "each[1]", "text[0]", "own")] == [0.12, 0.2, 0.085, 0.1]
    whole.parameters["R"] = 0.05
    assert reach("text[1]") == pytest.approx(0.105)


def test_names_are_replaced_as_whole_words_and_units_are_left_alone() -> None:
    names = {"m": "arm_m", "r": "arm_r", "N": "(2*n)"}
    assert renamed_text("2*m + 5 mm + 1 m", names) == "2*arm_m + 5 mm + 1 m"
    assert renamed_text("m*r^2/2 + rr + 3 kg*m^2", names) == "arm_m*arm_r^2/2 + rr + 3 kg*m^2"
    assert renamed_text("sin(r)*r", names) == "sin(arm_r)*arm_r"
    assert renamed_text("3 N*m + N*m", names) == "3 N*m + (2*n)*arm_m"
    assert renamed_text("A.angle + r", names, "arm.") == "arm.A.angle + arm_r"


def test_a_moved_place_keeps_its_parameters() -> None:
    m = Model("host")
    m.parameter("h", 0.3)
    turn = ("zx", (0.5, 0.7))
    m.part("arm", link("link"), position=("h", "2*h + 1 cm", 0), orientation=turn)
    m.parts["arm"].model.ground.marker("top", (0, "length - 0.1", "3*length"))
    whole = m.flattened()
    top = whole.ground.markers["arm_top"]
    for h, length in ((0.3, 0.5), (0.7, 0.2)):
        whole.parameters.update(h=h, arm_length=length)
        c, s, cx, sx = np.cos(0.5), np.sin(0.5), np.cos(0.7), np.sin(0.7)
        R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array(
            [[1, 0, 0], [0, cx, -sx], [0, sx, cx]]
        )
        expected = np.array([h, 2 * h + 0.01, 0]) + R @ [0, length - 0.1, 3 * length]
        assert marker_pose(whole, top)[:3, 3] == pytest.approx(expected)


def test_elements_of_a_part_refer_to_each_other_by_their_new_names() -> None:
    cell = four_bar(driven=True)
    cell.parameter("k", 5.0)
    cell.force("torsional", "spring", coordinate="D.angle", stiffness="2*k", rest="r/r")
    cell.joint("gear", "teeth", first="A.angle", second="D.angle", ratio="-k")
    cell.sensor("expression", "sum", text="k*A.angle + B.angle.rate")
    cell.sensor("reaction", "load", joint="C")
    m = Model("host")
    m.part("arm", cell)
    whole = m.flattened()
    driver = whole.drivers["arm.motor"]
    assert driver.coordinate == "arm.A.angle"
    assert driver.law.parameters == {"arm_r"}
    spring = whole.forces["arm.spring"]
    assert (spring.coordinate, spring.stiffness) == ("arm.D.angle", "2*arm_k")
    teeth = whole.joints["arm.teeth"]
    assert isinstance(teeth, Gear)
    assert (teeth.couples, teeth.ratio) == (("arm.A.angle", "arm.D.angle"), "-arm_k")
    assert whole.sensors["arm.sum"].text == "arm_k*arm.A.angle + arm.B.angle.rate"
    assert whole.sensors["arm.load"].joint == "arm.C"


def test_what_a_part_sees_from_its_ground_it_sees_from_where_that_is_put() -> None:
    cell = link("link")
    cell.driver("path", "hand", marker="bar.end", x="0.3")
    m = Model("host")
    m.body("cart")
    m.joint("prismatic", "rail", m.ground, "cart", axis="x")
    m.part("still", cell)
    m.part("moved", cell, on="cart", position=(0, 1, 0))
    whole = m.flattened()
    assert whole.drivers["still.hand"].i is None
    seen_from = whole.drivers["moved.hand"].i
    assert (seen_from.body, seen_from.position) == ("cart", (0.0, 1.0, 0.0))


# ------------------------------------------------------------------------- the host's view


def test_joints_of_the_host_hold_on_to_instances_by_name() -> None:
    m = Model("host")
    part = m.part("cell", four_bar(), 3, shift=(0, 0, 0.1))
    m.joint("spherical", "ball", "cell[0].crank.tip", part.place("rocker.tip", -1))
    m.joint("revolute", "pin", ("cell[1].coupler", (0.1, 0, 0)), m.ground, axis="x")
    whole = m.flattened()
    ball, pin = whole.joints["ball"], whole.joints["pin"]
    assert isinstance(ball, Joint)
    assert isinstance(pin, Joint)
    assert (ball.i.position, ball.j.body) == (("cell_r", 0.0, 0.0), "cell[2].rocker")
    assert whole.bodies["cell[1].coupler"].markers["pin"] == pin.i
    assert marker_pose(whole, pin.i)[:3, 2] == pytest.approx([1, 0, 0])
    assert m.marker("cell[2].ground.D").position == (0.3, 0.0, 0.2)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("cell[3].crank", r"no cell\[3\]; they are 0 to 2"),
        ("cell.crank", r"no cell, but cell\[0\] to cell\[2\]"),
        ("cell[0].krank", "no body or marker"),
        ("cell[0].crank.top", "has no marker 'top'; did you mean 'tip'"),
        ("cells[0].crank", "no body or marker"),
    ],
)
def test_instances_that_are_not_there_are_named(place: str, message: str) -> None:
    m = Model("host")
    m.part("cell", four_bar(), 3)
    with pytest.raises(ModelError, match=message):
        m.joint("spherical", "ball", place, m.ground)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"count": 0}, "whole number above zero"),
        ({"count": "three"}, "whole number above zero"),
        ({"shift": (0, 0, 1)}, "shift says how instances follow each other; give a count"),
        ({"link": "rocker"}, "link says how"),
        ({"count": 2, "link": "ground"}, "the ground cannot be a link"),
        ({"count": 2, "link": "rockr"}, "no body or marker 'rockr'"),
        ({"on": "cart"}, "there is no body 'cart'"),
        ({"parameters": {"R": 1}}, "no parameter 'R'; did you mean 'r'"),
        ({"count": 3, "parameters": {"r": [1.0, 2.0]}}, "2 values for 3 instances"),
        ({"count": 2, "between": ("hinge", "crank")}, "a joint between instances is"),
        ({"count": 2, "between": ("ball", "crank", "crank")}, "'ball' is not a kind of joint"),
        ({"count": 2, "between": ("spherical", "crank", "crnk")}, "no body or marker"),
        ({"orientation": ("z", ("q",))}, "turned by numbers"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(settings: dict[str, object], message: str) -> None:
    m = Model("host")
    m.parameter("q", 1.0)
    count = settings.pop("count", None)
    with pytest.raises(ModelError, match=message):
        m.part("cell", four_bar(), count, **settings)


def test_a_model_is_no_part_of_itself_nor_of_another_plane() -> None:
    m = Model("host")
    cell = Model("cell")
    cell.part("inner", m)
    with pytest.raises(ModelError, match="cannot be a part of itself"):
        m.part("cell", cell)
    with pytest.raises(ModelError, match="in the plane xy and host in space"):
        m.part("flat", four_bar(plane="xy"))


def test_conditions_along_the_axes_of_the_ground_are_not_turned_silently() -> None:
    cell = four_bar()
    cell.joint("coordinate_difference", "level", "crank", "rocker", along="y")
    m = Model("host")
    m.part("straight", cell, position=(1, 0, 0))
    m.flattened()
    m.part("turned", cell, orientation=("z", ("30 deg",)))
    with pytest.raises(ModelError, match="along the axes of the ground"):
        m.flattened()


def test_a_parameter_of_the_host_cannot_take_the_name_of_one_of_a_part() -> None:
    m = Model("host")
    m.part("arm", four_bar())
    m.parameter("arm_r", 1.0)
    with pytest.raises(ModelError, match="call it something else"):
        m.flattened()
