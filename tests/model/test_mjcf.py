"""Models from MJCF files: numbers by hand, and everything against MuJoCo where it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.errors import FileError
from biela.model.files.mjcf import load_mjcf
from biela.model.files.xml_source import FileWarning
from biela.model.meshes.files import write_stl
from biela.model.shapes import Box, Capsule

#: One of each: free, ball, hinge and slide joints, two joints on one body, ref, every way to turn
#: a body, default classes, a frame, geoms with density and mass, an inertial.
CREATURE = """<mujoco model="creature">
  <compiler angle="degree"/>
  <option gravity="0.5 0 -9.7"/>
  <default>
    <geom density="800"/>
    <default class="leg">
      <joint axis="0 1 0" damping="0.3" range="-60 45"/>
      <geom type="capsule" size="0.03"/>
      <default class="heavy"><geom density="5000"/></default>
    </default>
  </default>
  <worldbody>
    <body name="trunk" pos="0 0 0.5" euler="10 20 30">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <site name="imu" pos="0.05 0 0.02" quat="1 0 0 1"/>
      <body name="thigh" pos="0.2 0.1 0" childclass="leg" axisangle="0 0 1 30">
        <joint name="hip_x" axis="1 0 0" pos="0 0 0.01"/>
        <joint name="hip_y" ref="20" pos="0.02 0 0"/>
        <geom fromto="0 0 0 0.05 0 -0.2"/>
        <geom type="ellipsoid" size="0.02 0.03 0.04" pos="0 0.02 -0.1" mass="0.3"/>
        <body name="shin" pos="0.05 0 -0.2" zaxis="1 0 5">
          <joint name="knee" stiffness="4" springref="10"/>
          <geom type="cylinder" size="0.02 0.1" pos="0 0 -0.1" class="heavy"/>
          <frame pos="0 0 -0.2" euler="0 90 0">
            <geom type="sphere" size="0.03" pos="0.01 0 0"/>
            <body name="toe" pos="0 0.01 0">
              <joint name="slide" type="slide" axis="1 1 0" ref="0.02" range="-0.1 0.1"/>
              <geom type="box" size="0.01 0.02 0.03" euler="20 0 0"/>
            </body>
          </frame>
        </body>
      </body>
      <body name="head" pos="-0.2 0 0.1" xyaxes="0 1 0 -1 0 0.2">
        <joint name="neck" type="ball" pos="0 0 -0.05"/>
        <inertial pos="0.01 0 0.05" mass="1.2"
                  fullinertia="0.02 0.03 0.025 0.001 0.002 -0.001"/>
        <geom type="sphere" size="0.1"/>
      </body>
      <body name="bag" pos="-0.3 0 0">
        <inertial pos="0 0.02 0" mass="0.8" diaginertia="0.01 0.02 0.015" euler="0 30 40"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_mass_matrix_forces_and_frames_are_those_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = load_mjcf(CREATURE)
    system = bl.formulate(model)
    peer = mujoco.MjModel.from_xml_string(CREATURE)
    data = mujoco.MjData(peer)
    rng = np.random.default_rng(3)
    q, P = np.zeros(len(system.q)), np.zeros((peer.nv, len(system.v)))
    start = np.array([c.value for c in system.q])
    for k in range(peer.njnt):
        name = peer.joint(k).name
        mine = [i for i, c in enumerate(system.q) if c.name.startswith(f"{name}.")]
        rates = [i for i, c in enumerate(system.v) if c.name.startswith(f"{name}.")]
        x, at, to = rng.normal(size=len(mine)), peer.jnt_qposadr[k], peer.jnt_dofadr[k]
        assert start[mine] == pytest.approx(peer.qpos0[at : at + len(mine)], abs=1e-14)
        if len(mine) > 1:
            x[-4:] /= np.linalg.norm(x[-4:])
        q[mine] = data.qpos[at : at + len(mine)] = x
        P[to : to + len(rates), rates] = np.eye(len(rates))
    v = rng.normal(size=len(system.v))
    data.qvel[:] = P @ v
    mujoco.mj_forward(peer, data)
    # M column by column: its storage is not the same in all versions
    M, column = np.zeros((peer.nv, peer.nv)), np.zeros(peer.nv)
    for k in range(peer.nv):
        mujoco.mj_mulM(peer, data, column, np.eye(peer.nv)[k])
        M[:, k] = column
    wanted = P.T @ M @ P
    assert np.abs(system.evaluate("M", q) - wanted).max() < 1e-12 * np.abs(wanted).max()
    Q = P.T @ (data.qfrc_passive - data.qfrc_bias)
    assert system.evaluate("Q", q, v) == pytest.approx(Q, rel=1e-10, abs=1e-10)
    poses = dict(zip(system.frames, system.evaluate("poses", q), strict=True))
    for body in ("trunk", "thigh", "shin", "toe", "head", "bag"):
        assert poses[body][:3] == pytest.approx(data.body(body).xpos, abs=1e-13)
        assert poses[body][3:] == pytest.approx(data.body(body).xmat, abs=1e-13)
    assert poses["trunk.imu"][:3] == pytest.approx(data.site("imu").xpos, abs=1e-13)
    assert poses["trunk.imu"][3:] == pytest.approx(data.site("imu").xmat, abs=1e-13)


def test_limits_springs_and_masses_by_hand() -> None:
    model = load_mjcf(CREATURE)
    assert model.gravity == (0.5, 0, -9.7)
    assert model.joints["knee"].limits["angle"] == pytest.approx((-np.pi / 3, np.pi / 4))
    assert model.joints["slide"].limits["displacement"] == (-0.1, 0.1)
    assert model.joints["hip_y"].start["angle"] == pytest.approx(np.pi / 9)
    assert model.bodies["trunk"].inertia.mass == pytest.approx(0.4 * 0.2 * 0.1 * 800)
    assert model.bodies["head"].inertia.mass == 1.2
    shin = np.pi * (0.02**2 * 0.2 * 5000 + 4 / 3 * 0.03**3 * 800)
    assert model.bodies["shin"].inertia.mass == pytest.approx(shin)
    assert model.bodies["thigh_hip_x"].inertia.mass == 0
    spring = model.forces["knee_spring"]
    assert (spring.stiffness, spring.damping) == (4, 0.3)
    assert spring.rest == pytest.approx(np.pi / 18)
    bar = model.bodies["thigh"].shapes[0]
    assert isinstance(bar, Capsule)
    assert bar.length == pytest.approx(np.hypot(0.05, 0.2))
    assert bar.position == pytest.approx([0.025, 0, -0.1])


LOOP = """<mujoco>
  <compiler angle="radian" autolimits="false"/>
  <worldbody>
    <body name="a"><joint name="A" axis="0 1 0" range="0 1"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01"/>
      <body name="c" pos="0 0 0.2"><joint name="C" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.01"/></body></body>
    <body name="b" pos="0.3 0 0"><joint name="B" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01"/></body>
    <body name="w" pos="1 0 0"><joint name="W" axis="0 1 0"/><geom size="0.1"/></body>
  </worldbody>
  <equality>
    <connect name="D" body1="c" body2="b" anchor="0.3 0 0"/>
    <joint joint1="W" joint2="A" polycoef="0.1 -3"/>
  </equality>
  <actuator><motor name="push" joint="A" gear="5" ctrlrange="-2 2"/></actuator>
</mujoco>
"""


def test_connect_closes_a_loop_and_joint_couples() -> None:
    model = load_mjcf(LOOP)
    assert model.joints["D"].kind == "spherical"
    assert model.joints["D"].j.position == pytest.approx((0, 0, 0.2))
    assert not model.joints["A"].limits
    system = bl.formulate(model)
    place = {"A.angle": 0.7, "B.angle": 0.7, "C.angle": -0.7, "W.angle": 0.1 - 3 * 0.7}
    rates = {"A.angle": 1.0, "B.angle": 1.0, "C.angle": -1.0, "W.angle": -3.0}
    q, v = (np.array([by[c.name] for c in system.q]) for by in (place, rates))
    assert np.abs(system.evaluate("Phi", q)).max() < 1e-15
    Phi_v = system.evaluate("Phi_v", q)
    assert np.linalg.matrix_rank(Phi_v) == 3
    assert np.abs(Phi_v @ v).max() < 1e-15
    push = model.forces["push"]
    assert (push.coordinate, push.gear, push.limit) == ("A.angle", 5, 2)


def test_welds_hold_the_pose_of_the_file_or_the_one_they_give() -> None:
    text = """<mujoco><worldbody>
      <body name="a" pos="1 0 0"><freejoint/><geom size="1"/></body>
      <body name="b" pos="0 2 0" euler="0 0 90"><freejoint/><geom size="1"/></body>
    </worldbody><equality>
      <weld name="held" body1="a" body2="b"/>
      <weld name="given" body1="a" body2="b" relpose="0 0 1 1 0 0 0" active="false"/>
      <weld name="turned" body1="b" relpose="0 0 1 1 0 0 1"/>
    </equality></mujoco>"""
    notes: list[str] = []
    model = load_mjcf(text, notes=notes)
    assert model.joints["held"].i.position == pytest.approx((-1, 2, 0))
    assert np.array(model.joints["held"].i.orientation.axes)[:, 0] == pytest.approx([0, 1, 0])
    assert model.joints["turned"].i.position == (0, 0, 1)
    assert model.joints["turned"].j.body == "ground"
    assert "given" not in model.joints and "not active" in notes[0]


def test_what_is_not_read_is_listed_by_its_line() -> None:
    text = """<mujoco>
      <worldbody>
        <light pos="0 0 3"/>
        <geom type="plane" size="1 1 0.1"/>
        <body name="a">
          <joint name="j" armature="0.1"/>
          <geom size="0.1"/>
        </body>
      </worldbody>
      <tendon/>
      <actuator>
        <position joint="j"/>
      </actuator>
      <sensor/>
    </mujoco>"""
    notes: list[str] = []
    load_mjcf(text, notes=notes)
    assert [note.partition(":")[2] for note in notes] == [
        "3: <light> is not read",
        "4: a geom of the type plane is left out",
        "10: <tendon> is not read",
        "12: an actuator <position> is not read",
        "14: <sensor> is not read",
    ]
    with pytest.warns(FileWarning) as caught:
        load_mjcf(text)
    assert [str(warning.message) for warning in caught] == notes


def test_the_mass_of_a_mesh_is_that_of_its_volume(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    write_stl(Box(size=(100, 200, 300)).surface(), tmp_path / "parts" / "brick.stl")
    (tmp_path / "m.xml").write_text(
        """<mujoco><compiler meshdir="parts"/>
        <asset><mesh file="brick.stl" scale="0.001 0.001 0.001"/></asset>
        <worldbody><body name="a"><freejoint/><geom mesh="brick" type="mesh" density="2000"/></body>
        </worldbody></mujoco>"""
    )
    inertia = load_mjcf(tmp_path / "m.xml").bodies["a"].inertia
    assert inertia.mass == pytest.approx(12)
    assert inertia.moments[0] == pytest.approx(0.2**2 + 0.3**2)


WORLD = "<mujoco>\n<worldbody>{}</worldbody>\n{}</mujoco>"
MISTAKES = {
    "<robot/>": "1: the outermost element of MJCF is <mujoco>, not <robot>",
    "<mujoco>\n<include file='a.xml'/></mujoco>": "2: <include> is not followed",
    WORLD.format("\n<body><geom class='x'/></body>", ""): "3: there is no default class 'x'",
    WORLD.format("\n<body><geom type='box' size='1'/></body>", ""): "3: <geom> size is 3",
    WORLD.format("\n<body><geom type='mesh' mesh='m'/></body>", ""): "3: there is no mesh 'm'",
    WORLD.format("\n<body><joint axis='0 0 0'/></body>", ""): "3: joint body_joint: the axis is",
    WORLD.format("\n<body quat='1 0 0 0' euler='1 2 3'/>", ""): "3: <body> is turned by quat and",
    WORLD.format("", "<equality>\n<connect body1='q'/></equality>"): "4: <connect> body1: there is",
    WORLD.format("<body><body>\n<freejoint/></body></body>", ""): "3: joint body_2_joint: a free",
    WORLD.format("\n<body><inertial mass='-1'/></body>", ""): "3: a mass must be zero or positive",
}


@pytest.mark.parametrize("text", list(MISTAKES))
def test_mistakes_are_reported_by_their_lines(text: str) -> None:
    with pytest.raises(FileError) as caught:
        load_mjcf(text, notes=[])
    assert f"<text>:{MISTAKES[text]}" in str(caught.value)


WELDED = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="a"><joint name="j1" axis="0 1 0"/>
    <inertial pos="0 0 0.5" mass="1" diaginertia="0.02 0.02 0.01"/>
    <body name="b" pos="0 0 1"><joint name="j2" axis="0 1 0"/>
      <inertial pos="0.4 0 0" mass="0.8" diaginertia="0.01 0.03 0.03"/></body></body>
  <body name="c" pos="1 0 0"><joint name="j3" axis="0 1 0"/>
    <inertial pos="0 0 0.5" mass="1.2" diaginertia="0.02 0.02 0.01"/></body>
</worldbody><equality><weld name="joined" body1="b" body2="c"/></equality></mujoco>"""


def test_a_weld_closes_a_loop_and_leaves_the_joints_of_the_file_their_coordinates() -> None:
    robot = bl.load(WELDED)
    assert set(robot.q_names) == {"j1.angle", "j2.angle", "j3.angle"}
    assert {name.partition(".")[0] for name in robot.constraints} == {"joined"}
    assert np.abs(robot.closure(robot.start)).max() < 1e-15
    # b and c are one body here, on three parallel hinges: nothing moves
    assert np.linalg.matrix_rank(robot.closure_jacobian(robot.start)) == 3
    a = robot.forward_dynamics(robot.start, np.zeros(3), [3.0, -1.0, 2.0])
    np.testing.assert_allclose(a, 0, atol=1e-12)


@pytest.mark.parametrize("joint", ["freejoint", "joint type='ball'"])
def test_an_anchor_leaves_a_body_the_joint_it_has(joint: str) -> None:
    text = f"""<mujoco><worldbody><body name="b"><{joint} name="j"/>
      <inertial pos="0.1 0 0" mass="2" diaginertia="0.02 0.03 0.04"/></body></worldbody>
      <equality><connect name="held" body1="b" anchor="0 0 0"/></equality></mujoco>"""
    robot = bl.load(text)
    assert robot.joint_names == ("j",)
    a = robot.forward_dynamics(robot.start, np.zeros(robot.nv), np.zeros(robot.nv))
    # a pendulum about y: (I + m r²) ω' = m g r
    own = dict(zip(robot.v_names, a, strict=True))
    assert own["j.rotation_wy"] == pytest.approx(2 * 9.81 * 0.1 / (0.03 + 2 * 0.1**2), rel=1e-12)


ONE_JOINT = """<mujoco><compiler angle="radian"/><option>{flags}</option><worldbody><body>
<joint name="j" axis="0 1 0" {joint}/>
<geom type="box" size=".1 .1 .1" pos=".5 0 0" mass="1" {geom}/>
</body></worldbody>{more}</mujoco>"""


def one_joint(flags: str = "", joint: str = "", geom: str = "", more: str = "") -> bl.Robot:
    return bl.load(ONE_JOINT.format(flags=flags, joint=joint, geom=geom, more=more))


def test_gravity_may_be_disabled():
    assert one_joint('<flag gravity="disable"/>').rnea([0.0], [0.0], [0.0])[0] == 0.0
    assert one_joint('<flag gravity="enable"/>').rnea([0.0], [0.0], [0.0])[0] != 0.0


@pytest.mark.parametrize(
    ("given", "noted"),
    [
        ({"flags": '<flag passive="disable"/>', "joint": 'stiffness="3"'}, "<flag> passive"),
        ({"flags": '<flag actuation="disable"/>'}, "<flag> actuation"),
        ({"joint": 'springdamper="1 1"'}, "joint j: springdamper is left out"),
        ({"joint": 'actuatorfrcrange="-1 1"'}, "joint j: actuatorfrcrange is left out"),
        ({"joint": 'stiffness="10 5 2"'}, "joint j: stiffness is linear"),
        ({"geom": 'shellinertia="true"'}, "shellinertia: the geom is taken as solid"),
    ],
)
def test_mechanics_that_the_model_does_not_have_is_told(given, noted):
    with pytest.warns(FileWarning, match=noted):
        one_joint(**given)


@pytest.mark.parametrize("ctrl", ["", 'ctrlrange="-3 3"', 'ctrlrange="-0.5 0.5"'])
def test_the_force_of_a_motor_is_limited_before_its_gear(ctrl):
    """τ = gear · clamp(u): MuJoCo's documentation on actuators; I of a box at 0.5 m."""
    motor = f'<actuator><motor name="m" joint="j" gear="2" forcerange="-1 1" {ctrl}/></actuator>'
    robot = one_joint('<flag gravity="disable"/>', more=motor)
    pushed = bl.simulate(robot.model, 1e-3, inputs={"m": 5.0}).a[0][0]
    assert pushed == pytest.approx(2 * (0.5 if "0.5" in ctrl else 1.0) / (1 / 150 + 0.25))


def test_the_joints_of_a_body_are_within_a_budget():
    with pytest.raises(FileError, match=r"^<text>:3: body a has 5,000 joints; the limit is 200: "):
        load_mjcf(WORLD.format("\n<body name='a'>" + "<joint/>" * 5000 + "</body>", ""), notes=[])
