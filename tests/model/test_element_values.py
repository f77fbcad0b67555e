"""Values of the wrong sign or order are refused, as numbers, as texts and out of files alike."""

import math

import pytest

import biela as bl
from biela.errors import FileError, ModelError
from biela.model.element import plain_name
from biela.model.files import load_mjcf, load_urdf, loads
from biela.model.forces import Stop
from biela.model.quantities.units import evaluate, quantity


def two_links() -> bl.Model:
    """A double pendulum with a slider beside it."""
    m = bl.Model("links")
    m.parameter("minus", -1.0)
    a = m.body("a", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    b = m.body("b", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "A", m.ground, a, axis="y")
    m.joint("revolute", "B", a, b, at=(0, 0, -1), axis="y")
    c = m.body("c", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("prismatic", "C", m.ground, c, axis="x")
    return m


#: Kind, settings that are right, and one that is wrong: as a number and as texts.
WRONG_FORCES = (
    ("friction", {"coordinate": "A"}, "transition", (-1.0, "-1 rad/s", "minus", 0, "0 rad/s")),
    ("friction", {"coordinate": "A"}, "viscous", (-0.1, "-0.1 N*m*s/rad", "minus")),
    ("friction", {"coordinate": "A"}, "kinetic", (-0.1, "-0.1 N*m", "minus")),
    ("friction", {"coordinate": "A"}, "coefficient", (-0.1, "-0.1", "minus")),
    ("friction", {"coordinate": "A"}, "radius", (-0.1, "-5 mm", "minus")),
    ("friction", {"coordinate": "A"}, "span", (-0.1, "-5 mm", "0 mm", "minus")),
    ("friction", {"coordinate": "A", "kinetic": "2 N*m"}, "static", (1.0, "1000 N*mm", "2+minus")),
    ("stop", {"coordinate": "A", "upper": 1}, "stiffness", (-10, "-10 N*m/rad", 0.0, "minus")),
    ("stop", {"coordinate": "A", "upper": 1, "stiffness": 1}, "damping", (-1, "-1 N*m*s/rad")),
    ("stop", {"coordinate": "A", "upper": 1, "stiffness": 1}, "depth", (-1, "-1 deg", "0 deg")),
    ("stop", {"coordinate": "A", "upper": "10 deg", "stiffness": 1}, "lower", (1.0, "20 deg")),
    ("stop", {"coordinate": "A", "upper": "minus", "stiffness": 1}, "lower", (0, "minus")),
    ("drag", {"marker": "a", "coefficient": 1}, "area", (-1.0, "-5 cm^2", "minus")),
    ("drag", {"marker": "a", "area": 1}, "coefficient", (-1.0, "-1", "minus")),
    ("actuator", {"coordinate": "A"}, "limit", (-1.0, "-1 N*m", "minus")),
)


@pytest.mark.parametrize(("kind", "others", "setting", "values"), WRONG_FORCES)
def test_a_force_refuses_a_wrong_sign_or_order_however_it_is_written(kind, others, setting, values):
    for value in values:
        m = two_links()
        with pytest.raises(ModelError, match=rf"force F: .*{setting}"):
            m.force(kind, "F", **others, **{setting: value})
        assert not m.forces


@pytest.mark.parametrize(
    ("kind", "others", "setting", "values"),
    (
        ("distance", {"i": "a", "j": "b"}, "length", (-1, 0.0, "-1 m", "0 mm", "minus")),
        ("helical", {"i": "a", "j": "c"}, "pitch", (0, "0 mm", "1+minus")),
        ("gear", {"first": "A", "second": "B"}, "ratio", (0, "0", "1+minus")),
        ("rack_pinion", {"pinion": "A", "rack": "C"}, "radius", (0, "0 mm", "1+minus")),
    ),
)
def test_a_joint_refuses_a_wrong_size_however_it_is_written(kind, others, setting, values):
    for value in values:
        with pytest.raises(ModelError, match=f"joint J: {setting} .*; .* use a "):
            two_links().joint(kind, "J", **others, **{setting: value})


def test_right_values_are_taken_as_texts_and_left_handed_ones_too():
    m = two_links()
    m.force(
        "stop", "S", coordinate="A", stiffness="5 N*m/deg", lower="10 deg", upper=math.radians(20)
    )
    m.force("friction", "F", coordinate="A", transition="1 deg/s", kinetic="1 N*m", static="-minus")
    m.force("actuator", "M", coordinate="B", limit=0.0)
    m.joint("gear", "G", first="A", second="B", ratio="-1/3")
    m.joint("rack_pinion", "R", pinion="A", rack="C", radius="-20 mm")
    m.joint("helical", "H", "a", "c", pitch="-2 mm")
    assert set(m.forces) == {"S", "F", "M"}
    assert {"G", "R", "H"} < set(m.joints)


def test_an_element_made_elsewhere_is_checked_as_it_is_added():
    made = Stop(name="S", coordinate="A", stiffness="-1 N*m/rad", upper=1.0)
    with pytest.raises(ModelError, match=r"force S: stiffness .* above zero"):
        two_links().add(made)


def test_a_value_that_cannot_be_read_is_named_with_its_element_and_setting():
    with pytest.raises(ModelError, match="force S: stiffness: unknown parameter 'k'"):
        two_links().force("stop", "S", coordinate="A", stiffness="2*k", upper=1.0)


FILE = """
name = "pendulum"
[bodies.rod]
mass = "1 kg"
inertia = ["1 kg*m^2", "1 kg*m^2", "1 kg*m^2"]
[joints.pin]
kind = "revolute"
i = "ground"
j = "rod"
axis = "y"
[forces.end]
kind = "stop"
coordinate = "pin"
stiffness = "10 N*m/rad"
lower = "5 deg"
upper = "10 deg"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    (
        ('"10 N*m/rad"', '"-10 N*m/rad"', "stiffness .* must be above zero"),
        ('"5 deg"', '"20 deg"', "lower end 20 deg is not below the upper 10 deg"),
    ),
)
def test_a_file_is_refused_with_the_line_of_the_element(right, wrong, message):
    assert loads(FILE).forces
    with pytest.raises(FileError, match=rf":11: .*{message}"):
        loads(FILE.replace(right, wrong))


@pytest.mark.parametrize("name", ("a\\u0000b", "a\\u0000b.stl", "x" * 5000))
@pytest.mark.parametrize(
    "table",
    (
        '[parts.p]\nfile = "{}"\n',
        '[bodies.b]\nshapes = [{{kind = "mesh", density = 1000, file = "{}"}}]\n',
    ),
)
def test_no_name_of_a_file_is_an_error_of_the_file(name, table, tmp_path):
    with pytest.raises(FileError, match=r"no name of a file|there is no file"):
        loads('name = "m"\n' + table.format(name), folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "meant"),
    (
        ("1/2 mm", r"\(1/2\) mm, or 1/\(2 mm\)"),
        ("-3/4 turn", r"\(-3/4\) turn, or -3/\(4 turn\)"),
        ("1/2 N/mm", r"\(1/2\) N/mm, or 1/\(2 N/mm\)"),
        ("1/2 mm*3", r"\(1/2\) mm"),
        ("(1/2 mm)", r"\(1/2\) mm"),
    ),
)
def test_a_parameter_refuses_the_reciprocal_that_nobody_means(text, meant):
    with pytest.raises(ModelError, match=f"write {meant}"):
        bl.Model("m").parameter("x", text)


@pytest.mark.parametrize(
    ("text", "value"),
    (
        ("(1/2) mm", 0.0005),
        ("1/(2 s)", 0.5),
        ("5 N/mm", 5000.0),
        ("5 N/2 mm", 2500.0),
        ("3 mm/2", 0.0015),
        ("1/2", 0.5),
        ("1/2 mm*4 mm", 2.0),
        ("t/2 s", 2.0),
    ),
)
def test_other_quotients_are_what_they_were(text, value):
    assert evaluate(text, {"t": 4.0}) == pytest.approx(value, rel=1e-15)


def test_a_frequency_may_still_be_written_over_a_time():
    assert quantity("1/2 s", "frequency") == 0.5


@pytest.mark.parametrize(
    ("name", "better"),
    (("a.b", "a_b"), ("<script>", "_script_"), ("x y", "x_y"), ("r[0]", "r_0_"), ("p/q", "p_q")),
)
def test_a_name_has_letters_digits_and_dashes_only(name, better):
    m = two_links()
    for add in (
        lambda: m.body(name),
        lambda: m.joint("spherical", name, "a", "c"),
        lambda: m.sensor("joint", name, coordinate="A"),
        lambda: m.part(name, two_links()),
    ):
        with pytest.raises(ModelError, match=f"letters, digits, _ and -.*call it '{better}'"):
            add()
    assert plain_name(name) == better
    assert m.body(better).name == better


def test_names_of_other_alphabets_and_with_dashes_are_kept():
    m = bl.Model("m")
    for name in ("biela-1", "manivelle_é", "曲柄", "2"):
        assert m.body(name).name == name


def test_parts_still_make_names_with_dots_and_numbers():
    m = bl.Model("chain")
    link = bl.Model("link")
    link.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    m.part("cell", link, 3, between=[("revolute", "rod", "rod", {"axis": "y"})])
    whole = m.flattened()
    assert "cell[2].rod" in whole.bodies
    assert set(whole.joints) == {"cell[1].between", "cell[2].between"}
    with pytest.raises(ModelError, match="letters, digits"):
        whole.body("cell[1].<b>")


URDF = """
<robot name="r">
  <link name="base/link.0"/>
  <link name="arm&lt;1&gt;"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"/>
  <joint name="j.1" type="continuous"><parent link="base/link.0"/><child link="arm&lt;1&gt;"/>
    <axis xyz="0 1 0"/><dynamics damping="-1" friction="2"/></joint>
  <joint name="j.2" type="continuous"><parent link="arm&lt;1&gt;"/><child link="tip"/>
    <axis xyz="0 1 0"/><mimic joint="j.1" multiplier="0" offset="0.25"/></joint>
</robot>
"""


def test_a_urdf_with_other_names_is_read_with_a_note():
    notes: list[str] = []
    m = load_urdf(URDF, notes=notes)
    assert set(m.bodies) == {"base_link_0", "arm_1_", "tip"}
    assert {"j_1", "j_2"} < set(m.joints)
    assert any("'j.1' is called 'j_1'" in note for note in notes)
    assert any("negative damping" in note for note in notes)
    friction = m.forces["j_1_friction"]
    assert (friction.viscous, friction.kinetic) == (0.0, 2.0)
    # a joint that mimics nothing of another is held at its offset
    assert m.drivers["j_2_mimic"].law.value(3.0) == 0.25


MJCF = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="leg/upper.l"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <joint name="hip.l" type="hinge" frictionloss="-1"/><site name="foot.l"/>
    <body name="low"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <joint name="knee" type="slide" ref="0.5"/></body></body>
</worldbody>
<equality><joint name="lock" joint1="knee" joint2="hip.l" polycoef="0.1 0"/></equality>
<actuator><motor name="drive" joint="knee" ctrlrange="1 -1"/></actuator>
</mujoco>
"""


def test_an_mjcf_with_other_names_is_read_with_a_note():
    notes: list[str] = []
    m = load_mjcf(MJCF, notes=notes)
    assert set(m.bodies) == {"leg_upper_l", "low"}
    assert set(m.joints) == {"hip_l", "knee"}
    assert any("'hip.l' is called 'hip_l'" in note for note in notes)
    assert any("negative frictionloss" in note for note in notes)
    assert "foot_l" in m.bodies["leg_upper_l"].markers
    assert m.drivers["lock"].law.value(0.0) == pytest.approx(0.6, rel=1e-15)
    assert m.forces["drive"].limit is None


def test_limits_given_as_texts_have_an_order() -> None:
    m = bl.Model("arm")
    arm = m.body("arm", mass=1.0, inertia=1.0)
    with pytest.raises(ModelError, match="lower one first"):
        m.joint("revolute", "A", m.ground, arm, limits=("10 deg", "-10 deg"))
    m.joint("revolute", "A", m.ground, arm, limits=("-10 deg", "10 deg"))
    assert bl.formulate(m).q[0].upper == pytest.approx(0.17453292519943295)
