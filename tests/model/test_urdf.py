"""Robots from URDF files: frames and mass matrices against numpy alone, and against Pinocchio."""

from __future__ import annotations

import importlib.metadata
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.errors import FileError
from biela.model import Model
from biela.model.files import load, save
from biela.model.files.urdf import load_urdf, read_urdf
from biela.model.files.xml_source import FileWarning
from biela.model.meshes.files import write_stl
from biela.model.shapes import Box, Cylinder, MeshShape, Sphere
from tests.model.urdf_oracle import Oracle, origin

ROBOTS = Path(__file__).parents[1] / "data" / "urdf"
ARM, DOG = ROBOTS / "arm6.urdf", ROBOTS / "dog.urdf"


@cache
def equations(path: Path, **settings: bool) -> bl.System:
    return bl.formulate(load_urdf(path, **settings))


def random_state(system: bl.System, oracle: Oracle, seed: int) -> tuple[dict[str, float], list]:
    rng = np.random.default_rng(seed)
    q = {name: float(rng.uniform(-2, 2)) for name in oracle.moving}
    return q, [q[entry.name.rpartition(".")[0]] for entry in system.q]


def poses(system: bl.System, q: list[float]) -> dict[str, np.ndarray]:
    """T of every frame, merged links under their own names."""
    found = {}
    for name, row in zip(system.frames, system.evaluate("poses", q), strict=True):
        T = np.eye(4)
        T[:3, 3], T[:3, :3] = row[:3], row[3:].reshape(3, 3)
        found.setdefault(name.rpartition(".")[2], T)
    return found


# ------------------------------------------------------------------- kinematics and inertia


@pytest.mark.parametrize("merge_fixed", [False, True])
@pytest.mark.parametrize("path", [ARM, DOG])
def test_every_link_is_where_a_chain_of_matrices_puts_it(path: Path, merge_fixed: bool) -> None:
    system, oracle = equations(path, merge_fixed=merge_fixed), Oracle.of(path)
    for seed in range(3):
        by_name, q = random_state(system, oracle, seed)
        found, wanted = poses(system, q), oracle.links(by_name)[0]
        for link, T in wanted.items():
            assert found[link] == pytest.approx(T, abs=1e-12), link


@pytest.mark.parametrize("merge_fixed", [False, True])
@pytest.mark.parametrize("path", [ARM, DOG])
def test_the_mass_matrix_is_the_sum_over_the_links(path: Path, merge_fixed: bool) -> None:
    system, oracle = equations(path, merge_fixed=merge_fixed), Oracle.of(path)
    by_name, q = random_state(system, oracle, 5)
    order = [oracle.moving.index(entry.name.rpartition(".")[0]) for entry in system.q]
    wanted = oracle.mass_matrix(by_name)[np.ix_(order, order)]
    found = system.evaluate("M", q)
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-12)


def test_a_merged_robot_weighs_the_same_and_has_its_frames_as_markers() -> None:
    model = load_urdf(DOG, floating=True, merge_fixed=True)
    assert set(model.bodies) == set(load_urdf(DOG).bodies) - {
        "camera", "lens", "FL_foot", "FR_foot", "HL_foot", "HR_foot"
    }  # fmt: skip
    assert sum(body.inertia.mass for body in model.bodies.values()) == pytest.approx(
        7.3 + 0.14 + 4 * 1.73 + 0.6
    )
    assert {"camera", "lens"} <= set(model.bodies["trunk"].markers)
    assert len(model.bodies["FL_shin"].shapes) == 1
    assert model.bodies["FL_shin"].shapes[0].position == pytest.approx([0, 0, -0.2])


def test_a_fixed_root_that_is_merged_becomes_part_of_the_ground() -> None:
    model = load_urdf(ARM, merge_fixed=True)
    assert "pedestal" not in model.bodies
    assert "pedestal" in model.ground.markers
    assert isinstance(model.ground.shapes[0], Cylinder)


def test_a_floating_robot_moves_as_a_whole_with_all_its_mass() -> None:
    system = bl.formulate(load_urdf(ARM, floating=True))
    assert [v.name for v in system.v][:3] == [f"root_joint.{c}_rate" for c in "xyz"]
    q = [entry.value for entry in system.q]
    M = system.evaluate("M", q)
    assert M[:3, :3] == pytest.approx(Oracle.of(ARM).mass() * np.eye(3))


def test_the_inertia_of_a_link_is_turned_into_its_axes() -> None:
    link = next(e for e in Oracle.of(ARM).robot.iter("link") if e.get("name") == "column")
    R = origin(link.find("inertial/origin"))[:3, :3]
    I = np.array([[0.071, 0.002, 0.004], [0.002, 0.066, -0.003], [0.004, -0.003, 0.052]])
    xx, yy, zz, xy, xz, yz = load_urdf(ARM).bodies["column"].inertia.moments
    found = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert found == pytest.approx(R @ I @ R.T, rel=1e-14, abs=1e-16)


# ---------------------------------------------------------------------------- other packages


def pinocchio_state(pin, robot, system, seed: int):
    """The same random state for both, and their velocities as v_pinocchio = P v_biela."""
    rng = np.random.default_rng(seed)
    q, at, P = np.zeros(len(system.q)), pin.neutral(robot), np.zeros((robot.nv, len(system.v)))
    for k in range(1, robot.njoints):
        joint, name = robot.joints[k], robot.names[k]
        mine = [i for i, c in enumerate(system.q) if c.name.rpartition(".")[0] == name]
        rates = [i for i, c in enumerate(system.v) if c.name.rpartition(".")[0] == name]
        if len(mine) == 1:
            q[mine] = x = rng.uniform(-2, 2)
            at[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(x), np.sin(x)] if joint.nq == 2 else x
            )
            P[joint.idx_v, rates] = 1.0
        else:  # the free root: its velocity is written in its own axes there
            place, e = rng.normal(size=3), rng.normal(size=4)
            e /= np.linalg.norm(e)
            q[mine], at[:7] = [*place, *e], [*place, *e[1:], e[0]]
            P[:3, rates[:3]] = pin.Quaternion(e[0], *e[1:]).toRotationMatrix().T
            P[3:6, rates[3:]] = np.eye(3)
    return q, at, P


def assert_as_pinocchio(path: Path, floating: bool, merge_fixed: bool) -> None:
    pin = pytest.importorskip("pinocchio")
    model = load_urdf(path, floating=floating, merge_fixed=merge_fixed, geometry="none", notes=[])
    system = bl.formulate(model)
    free = [pin.JointModelFreeFlyer()] if floating else []
    robot = pin.buildModelFromUrdf(str(path), *free)
    data = robot.createData()
    q, at, P = pinocchio_state(pin, robot, system, 7)
    M = np.triu(pin.crba(robot, data, at))
    wanted = P.T @ (M + np.triu(M, 1).T) @ P
    assert np.abs(system.evaluate("M", q) - wanted).max() < 1e-11 * np.abs(wanted).max()
    pin.framesForwardKinematics(robot, data, at)
    found = poses(system, list(q))
    links = [frame for frame in robot.frames if frame.type == pin.BODY and frame.name in found]
    assert len(links) == len(read_urdf(path).links)
    for link in links:
        T = data.oMf[robot.getFrameId(link.name, pin.BODY)].homogeneous
        assert np.abs(found[link.name] - T).max() < 1e-11, link.name


@pytest.mark.parametrize(("floating", "merge_fixed"), [(False, False), (True, True)])
@pytest.mark.parametrize("path", [ARM, DOG])
def test_frames_and_mass_matrix_are_those_of_pinocchio(
    path: Path, floating: bool, merge_fixed: bool
) -> None:
    assert_as_pinocchio(path, floating, merge_fixed)


@pytest.mark.parametrize(
    ("robot", "floating"),
    [
        ("ur_description/urdf/ur5_robot.urdf", False),
        ("panda_description/urdf/panda.urdf", False),
        ("solo_description/robots/solo12.urdf", True),
    ],
)
def test_robots_that_are_built_load_and_agree_with_pinocchio(robot: str, floating: bool) -> None:
    try:
        data = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    folder = Path(str(data.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    assert_as_pinocchio(folder / robot, floating, merge_fixed=floating)


# -------------------------------------------------------------------- limits, motors, mimics


def test_limits_are_those_of_the_coordinates() -> None:
    limits = {c.name: (c.lower, c.upper) for c in equations(ARM).q}
    assert limits["shoulder.angle"] == (-1.9, 1.3)
    assert limits["swivel.angle"] == (-np.inf, np.inf)


def test_effort_limits_a_motor_and_is_a_limit_of_the_joint_as_velocity_is() -> None:
    system = equations(ARM)
    motors = [u.name for u in system.u]
    assert motors == [f"{j}_motor" for j in ("swivel", "shoulder", "elbow", "roll", "bend", "turn")]
    q, k = np.zeros(6), motors.index("elbow_motor")
    rest = system.evaluate("Q", q, u=np.zeros(6))
    for torque, wanted in ((30.0, 30.0), (500.0, 75.0), (-500.0, -75.0)):
        Q = system.evaluate("Q", q, u=np.eye(6)[k] * torque)
        names = [v.name for v in system.v]
        assert (Q - rest)[names.index("elbow.angle_rate")] == pytest.approx(wanted)
        assert np.abs(np.delete(Q - rest, names.index("elbow.angle_rate"))).max() < 1e-9
    assert read_urdf(ARM).joints["elbow"].velocity == 2.6
    assert read_urdf(ARM).joints["elbow"].effort == 75.0
    elbow = load_urdf(ARM).joints["elbow"]
    assert elbow.velocity_limits == {"angle": 2.6}
    assert elbow.effort_limits == {"angle": 75.0}


def test_dynamics_brake_a_joint() -> None:
    model = load_urdf(ARM)
    system = bl.formulate(model)
    for force in [name for name in model.forces if name.endswith("_friction")]:
        del model.forces[force]
    free = bl.formulate(model)
    names = [v.name.partition(".")[0] for v in system.v]
    v = np.linspace(1.0, 2.0, 6)
    braking = system.evaluate("Q", np.zeros(6), v) - free.evaluate("Q", np.zeros(6), v)
    wanted = {"swivel": (0.9, 1.4), "shoulder": (0.8, 0.0), "roll": (0.1, 0.05)}
    for name, rate, torque in zip(names, v, braking, strict=True):
        damping, friction = wanted.get(name, (0.0, 0.0))
        assert torque == pytest.approx(-damping * rate - friction, abs=1e-10)


def test_mimics_hold_linear_relations_of_angles_and_ways() -> None:
    system = equations(DOG)
    names = [c.name.partition(".")[0] for c in system.q]
    rows = {m.partition(".")[0]: k for k, m in enumerate(system.multipliers)}
    rng = np.random.default_rng(2)
    q = dict(zip(names, rng.uniform(-1, 1, len(names)), strict=True))
    for leg in ("FL", "FR", "HL", "HR"):
        q[f"{leg}_knee"] = -1.5 * q[f"{leg}_swing"] - 0.25
    q["pusher"] = 0.5 * q["lift"] - 0.02
    q["spin"] = 40 * q["pusher"]
    assert np.abs(system.evaluate("Phi", list(q.values()))).max() < 1e-13
    assert (len(system.v), len(system.multipliers)) == (15, 6)
    for follower, slope in (("HR_knee", 1.0), ("pusher", 1.0), ("spin", -1 / 40)):
        off = q | {follower: q[follower] + 0.3}
        Phi = np.array(system.evaluate("Phi", list(off.values())))
        touched = np.flatnonzero(np.abs(Phi) > 1e-12)
        own = [k for name, k in rows.items() if follower in name]
        assert own and own[0] in touched
        assert Phi[own[0]] == pytest.approx(0.3 * slope)


def test_a_loop_is_closed_by_hand() -> None:
    """Two cranks and a coupler of a parallelogram: one freedom, and the cranks turn alike."""
    inertial = (
        '<inertial><origin xyz="0 0 0.1"/><mass value="1"/>'
        '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial>'
    )
    links = "".join(f'<link name="{n}">{inertial}</link>' for n in ("base", "a", "b", "c"))
    hinge = (
        '<joint name="{0}" type="continuous"><origin xyz="{1}"/><axis xyz="0 1 0"/>'
        '<parent link="{2}"/><child link="{3}"/></joint>'
    )
    tree = [("A", "0 0 0", "base", "a"), ("B", "0.3 0 0", "base", "b"), ("C", "0 0 0.2", "a", "c")]
    text = f"<robot name='four_bar'>{links}{''.join(hinge.format(*j) for j in tree)}</robot>"
    model = load_urdf(text)
    b, c = model.bodies["b"], model.bodies["c"]
    model.joint("revolute", "D", c.at(0.3, 0, 0, axis="y"), b.at(0, 0, 0.2, axis="y"))
    system = bl.formulate(model)
    place = {"A.angle": 0.7, "B.angle": 0.7, "C.angle": -0.7}
    q = np.array([place[c.name] for c in system.q])
    assert np.abs(system.evaluate("Phi", q)).max() < 1e-15
    Phi_v = system.evaluate("Phi_v", q)
    assert np.linalg.matrix_rank(Phi_v) == 2
    assert np.abs(Phi_v @ np.sign(q)).max() < 1e-15


def test_a_model_from_a_urdf_is_saved_and_read_as_the_same(tmp_path: Path) -> None:
    save(load_urdf(DOG), tmp_path / "dog.toml")
    again, first = bl.formulate(load(tmp_path / "dog.toml")), equations(DOG)
    q = np.linspace(-0.5, 0.5, len(first.q))
    assert [c.name for c in again.q] == [c.name for c in first.q]
    assert again.evaluate("M", q) == pytest.approx(first.evaluate("M", q), rel=1e-13)


# ------------------------------------------------------------------------------------ shapes


def test_shapes_are_where_the_origins_put_them() -> None:
    model = load_urdf(ARM)
    box, ball = model.bodies["upper_arm"].shapes[0], model.bodies["flange"].shapes[0]
    assert isinstance(box, Box) and isinstance(ball, Sphere)
    assert list(box.size) == [0.44, 0.09, 0.08]
    assert box.position == pytest.approx([0.19, 0.004, 0.055])
    assert box.rotation[0] == pytest.approx([np.cos(0.2), -np.sin(0.2), 0])
    cube = load_urdf(ARM, geometry="collision").bodies["flange"].shapes[0]
    assert list(cube.size) == [0.1, 0.1, 0.1]
    assert load_urdf(ARM, geometry="none").bodies["flange"].shapes == ()


def with_mesh(name: str, scale: str = "") -> str:
    return (
        f'<robot name="r">\n<link name="l"><visual>\n<geometry><mesh filename="{name}" {scale}/>'
        "</geometry></visual></link></robot>"
    )


def mesh_of(model: Model) -> MeshShape:
    (shape,) = model.bodies["l"].shapes
    assert isinstance(shape, MeshShape)
    return shape


def test_meshes_are_found_beside_the_file_above_it_and_in_packages(tmp_path: Path) -> None:
    robot, other = tmp_path / "my_robot", tmp_path / "other"
    for folder in (robot / "urdf" / "near", robot / "meshes", other / "deep"):
        folder.mkdir(parents=True)
    block = Box(size=(1, 2, 3)).surface()
    for place in (robot / "urdf" / "near", robot / "meshes", other / "deep"):
        write_stl(block, place / "b.stl")
    (robot / "package.xml").write_text("<package/>")
    file = robot / "urdf" / "r.urdf"
    for name, packages in (
        ("near/b.stl", {}),
        ("file://near/b.stl", {}),
        (f"file://{robot}/urdf/near/b.stl", {}),
        ("package://my_robot/meshes/b.stl", {}),
        ("package://parts/deep/b.stl", {"parts": other}),
        (f"file://{other}/deep/b.stl", {"parts": other}),
        ("../meshes/b.stl", {"own": robot}),
    ):
        file.write_text(with_mesh(name, 'scale="0.5 0.5 0.5"'))
        shape = mesh_of(load_urdf(file, packages=packages))
        assert shape.volume == pytest.approx(6 / 8), name


def test_a_mirrored_mesh_keeps_its_volume_outside_in(tmp_path: Path) -> None:
    write_stl(Box(size=(1, 2, 3), position=(5, 0, 0)).surface(), tmp_path / "b.stl")
    (tmp_path / "r.urdf").write_text(with_mesh("b.stl", 'scale="-1 2 1"'))
    assert mesh_of(load_urdf(tmp_path / "r.urdf")).volume == pytest.approx(12)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone.stl", "is not found"),
        ("package://nowhere/b.stl", 'packages={"nowhere": folder}'),
        ("../secret.stl", "outside of the folder of the robot"),
        ("file:///etc/secret.stl", "outside of the folder of the robot"),
        ("package://r/../../secret.stl", "outside of the folder of the robot"),
        ("b.dae", "there are no triangles in it"),
    ],
)
def test_a_mesh_that_cannot_be_read_is_a_warning(tmp_path: Path, name: str, message: str) -> None:
    write_stl(Box(size=(1, 1, 1)).surface(), tmp_path / "secret.stl")
    folder = tmp_path / "r" / "urdf"
    folder.mkdir(parents=True)
    (folder / "b.dae").write_text("<COLLADA/>")
    (folder / "r.urdf").write_text(with_mesh(name))
    with pytest.warns(FileWarning) as caught:
        model = load_urdf(folder / "r.urdf")
    assert model.bodies["l"].shapes == ()
    assert message in str(caught[0].message)
    assert "r.urdf:3: " in str(caught[0].message)
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_urdf(folder / "r.urdf", notes=notes)
    assert len(notes) == 1 and message in notes[0]


# ---------------------------------------------------------------------------- odd and faulty


def test_an_inertia_that_no_body_has_is_kept_and_remarked() -> None:
    text = (
        '<robot name="r"><link name="l"><inertial><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="5"/></inertial></link></robot>'
    )
    notes: list[str] = []
    model = load_urdf(text, notes=notes)
    assert model.bodies["l"].inertia.moments == (1, 1, 5, 0, 0, 0)
    assert "link 'l' is kept as it is" in notes[0] and "principal moments" in notes[0]


def test_a_moment_that_is_rounding_is_zero() -> None:
    """As a program left it over in a file of a humanoid: the equations refuse negative ones."""
    text = (
        '<robot name="r"><link name="l"><inertial><origin xyz="0 0 0.03"/><mass value="0.5"/>'
        '<inertia ixx="-5e-20" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="0"/></inertial></link>'
        "</robot>"
    )
    model = load_urdf(text, notes=[])
    assert model.bodies["l"].inertia.moments == (0, 1e-9, 0, 0, 0, 0)


def test_a_joint_with_the_name_of_a_link_gets_another() -> None:
    text = (
        '<robot name="r"><link name="base"/><link name="arm"/><joint name="arm" type="continuous">'
        '<parent link="base"/><child link="arm"/></joint></robot>'
    )
    notes: list[str] = []
    model = load_urdf(text, notes=notes)
    assert set(model.joints) == {"root_joint", "arm_joint"}
    assert notes == ["<text>:1: 'arm' is called 'arm_joint' in the model"]


def test_a_joint_of_the_file_keeps_the_name_that_the_joint_of_the_root_would_have() -> None:
    text = (
        '<robot name="r"><link name="base"/><link name="arm"/>'
        '<joint name="root_joint" type="continuous"><parent link="base"/><child link="arm"/>'
        "</joint></robot>"
    )
    model = load_urdf(text)
    assert model.joints["root_joint"].kind == "revolute"
    assert model.joints["root_joint_2"].kind == "fixed"


def test_planar_and_floating_joints_move_in_the_axes_of_their_origin() -> None:
    text = (
        '<robot name="r"><link name="base"/><link name="block"/><link name="bird"/>'
        '<joint name="table" type="planar"><origin xyz="0 0 1"/><axis xyz="0 1 0"/>'
        '<parent link="base"/><child link="block"/></joint>'
        '<joint name="sky" type="floating"><origin xyz="0 2 0" rpy="0 0 1.5"/>'
        '<parent link="base"/><child link="bird"/></joint></robot>'
    )
    system = bl.formulate(load_urdf(text))
    q = {c.name: c.value for c in system.q} | {"sky.x": 0.5, "table.x": 0.25, "table.y": 0.1}
    found = poses(system, [q[c.name] for c in system.q])
    assert found["bird"][:3, 3] == pytest.approx([0.5 * np.cos(1.5), 2 + 0.5 * np.sin(1.5), 0])
    assert found["block"][1, 3] == pytest.approx(0)  # it stays in the plane across y
    moved = found["block"][:3, 3] - [0, 0, 1]
    assert np.linalg.norm(moved) == pytest.approx(np.hypot(0.25, 0.1))


LINKS = '<link name="a"/>\n<link name="b"/>\n'


def joint(kind: str = "fixed", inside: str = "", parent: str = "a", child: str = "b") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'{LINKS}<joint name="j" type="{kind}">{inside}{ends}</joint>\n'


HEAVY = '<link name="a"><inertial><mass value="-1"/></inertial></link>'
MISTAKES = {
    "<link name='a'>": ["3: this is not XML: mismatched tag"],
    "": ["1: the robot has no links"],
    LINKS: ["3: 2 links hang from no joint ('a', 'b')"],
    joint(child="bb"): ["4: joint 'j': there is no link 'bb'; did you mean 'b'?"],
    joint("hinge"): ["4: <joint> type='hinge'"],
    joint("revolute", "<axis xyz='0 0 0'/>"): ["4: joint 'j': the axis is zero"],
    joint("revolute", "\n<axis xyz='0 0'/>\n<origin rpy='1 x 2'/>"): [
        "5: <axis> xyz is 3 finite numbers, not '0 0'",
        "6: <origin> rpy is 3 finite numbers, not '1 x 2'",
    ],
    joint(parent="b"): ["3: link 'b' hangs from itself in a loop"],
    joint("continuous", "<mimic joint='k'/>"): ["4: joint 'j' mimics 'k'"],
    joint("continuous", "<mimic joint='j'/>"): ["4: joint 'j' mimics itself"],
    LINKS + "<link name='a'/>": ["4: link 'a' is there already, in line 2"],
    HEAVY: ["2: link 'a': a mass is zero or positive, not -1 kg"],
}


@pytest.mark.parametrize("inside", list(MISTAKES))
def test_mistakes_are_reported_by_their_lines(inside: str) -> None:
    with pytest.raises(FileError) as caught:
        load_urdf(f'<robot name="r">\n{inside}\n</robot>')
    for message in MISTAKES[inside]:
        assert f"<text>:{message}" in str(caught.value)


def test_another_format_is_named() -> None:
    with pytest.raises(FileError, match="outermost element of a URDF is <robot>, not <sdf>"):
        load_urdf("<sdf/>")


@pytest.mark.parametrize(
    "text",
    [
        '<robot xmlns:xacro="http://ros.org/wiki/xacro">\n<xacro:macro name="leg"/></robot>',
        '<robot name="r">\n<link name="${side}_leg"/></robot>',
    ],
)
def test_xacro_is_named_and_the_way_out_too(text: str) -> None:
    with pytest.raises(FileError, match="<text>:2: this is Xacro, which is not expanded: run"):
        load_urdf(text)


def test_document_types_are_refused_before_their_entities_are_read() -> None:
    bomb = "".join(f'<!ENTITY x{k} "{f"&x{k - 1};" * 10}">' for k in range(1, 30))
    text = (
        f'<?xml version="1.0"?>\n<!DOCTYPE robot [<!ENTITY x0 "ha">{bomb}]>\n<robot>&x29;</robot>'
    )
    with pytest.raises(FileError, match=r"<text>:2: a document type .* is not read"):
        load_urdf(text)
    secret = '<!DOCTYPE r [<!ENTITY s SYSTEM "file:///etc/passwd">]><robot name="&s;"/>'
    with pytest.raises(FileError, match="a document type"):
        load_urdf(secret)


def test_a_file_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"gone\.urdf: the file cannot be read"):
        load_urdf(tmp_path / "gone.urdf")


@pytest.mark.parametrize("multiplier", ["1e9", "-1e9", "1e-9"])
def test_mimics_in_a_row_stay_within_the_range_of_numbers(multiplier):
    def text(count):
        # joints may stand before those that they mimic
        joints = [
            f"<joint name='j{k}' type='continuous'><parent link='l{k}'/><child link='l{k + 1}'/>"
            + (f"<mimic joint='j{k - 1}' multiplier='{multiplier}'/>" if k else "")
            + "</joint>"
            for k in reversed(range(count))
        ]
        links = "".join(f"<link name='l{k}'/>" for k in range(count + 1))
        return f"<robot name='r'>{links}\n" + "\n".join(joints) + "</robot>"

    with pytest.raises(FileError) as caught:
        load_urdf(text(300), notes=[])
    (line,) = str(caught.value).splitlines()
    assert line.startswith("<text>:295: joint 'j6' mimics others in a row whose multipliers make ")
    assert "1e+50" in line and len(line) < 250
    assert len(load_urdf(text(6), notes=[]).joints) == 12
