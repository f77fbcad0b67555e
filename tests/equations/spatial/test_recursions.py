"""Recursions on random trees with every joint against the equations by virtual power.

`biela.formulate` knows nothing of links and spatial vectors: M, Q, poses, twists and energies come
from virtual power on bases and points.  Functions are evaluated by walking their graphs.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import biela as bl
from biela.equations import System, spatial
from biela.equations.spatial import SpatialTree
from biela.errors import ModelError, UnknownNameError
from tests.equations.spatial.trees import KINDS, aligned_tree, random_tree, state, value

TIGHT = {"rtol": 1e-11, "atol": 1e-11}
#: One tree for each kind of joint, and a tree of all of them.
TREES = {kind: (3, k, (kind, settings)) for k, (kind, settings) in enumerate(KINDS)}
MIXED = ("mixed 1",)


@cache
def model(name: str) -> bl.Model:
    if name in MIXED:
        return random_tree(6, 40 + MIXED.index(name))
    bodies, seed, kind = TREES[name]
    if name == "fixed":  # something has to move
        return random_tree(4, 7, (kind, KINDS[0]))
    return random_tree(bodies, seed, (kind,))


@cache
def reference(name: str) -> System:
    return bl.formulate(model(name))


ALL = [*TREES, *MIXED]


@pytest.mark.parametrize("name", ALL)
def test_coordinates_are_those_of_joint_coordinates(name: str) -> None:
    tree, system = SpatialTree(model(name)), reference(name)
    assert tree.q_names == [entry.name for entry in system.q]
    assert tree.v_names == [entry.name for entry in system.v]
    np.testing.assert_allclose(tree.start, [entry.value for entry in system.q], atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_inverse_dynamics_is_that_of_virtual_power(name: str) -> None:
    system = reference(name)
    q, v, a = state(SpatialTree(model(name)), 1)
    expected = value(system, "M", q) @ a - value(system, "Q", q, v)
    scale = np.abs(expected).max()
    found = spatial.inverse_dynamics(model(name)).interpret(q, v, a)
    np.testing.assert_allclose(found, expected, atol=1e-11 * scale)
    # with the frames of the markers and inertias where they are, too
    plain = SpatialTree(model(name), short=False)
    forces = spatial.newton_euler.inverse_dynamics(plain, plain.v, plain.a, grouped=False)
    inputs = {"q": plain.q, "v": plain.v, "a": plain.a}
    f = bl.Function("plain", inputs, {"tau": forces.tau})
    np.testing.assert_allclose(f.interpret(q, v, a), expected, atol=1e-11 * scale)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("method", ["composite", "unit accelerations", "operators"])
def test_mass_matrices_are_that_of_virtual_power(name: str, method: str) -> None:
    q, _, _ = state(SpatialTree(model(name)), 2)
    expected = value(reference(name), "M", q)
    found = spatial.mass_matrix(model(name), method).interpret(q)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("method", ["articulated", "innovations", "composite"])
def test_forward_dynamics_undoes_inverse_dynamics(name: str, method: str) -> None:
    q, v, a = state(SpatialTree(model(name)), 3)
    tau = spatial.inverse_dynamics(model(name)).interpret(q, v, a)
    found = spatial.forward_dynamics(model(name), method).interpret(q, v, tau)
    M = value(reference(name), "M", q)
    np.testing.assert_allclose(found, a, atol=1e-13 * np.linalg.cond(M))


@pytest.mark.parametrize("seed", range(8))
def test_trees_with_many_zeros_move_as_in_virtual_power(seed: int) -> None:
    m = aligned_tree(5, seed)
    system, tree = bl.formulate(m), SpatialTree(m)
    q, v, a = state(tree, seed)
    M = value(system, "M", q)
    expected = M @ a - value(system, "Q", q, v)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    np.testing.assert_allclose(tau, expected, atol=1e-12 * max(1.0, np.abs(expected).max()))
    np.testing.assert_allclose(spatial.mass_matrix(m).interpret(q), M, atol=1e-12)
    found = spatial.forward_dynamics(m, "articulated").interpret(q, v, tau)
    np.testing.assert_allclose(found, a, atol=1e-13 * np.linalg.cond(M))


@pytest.mark.parametrize("name", ["cylindrical", "spherical", "mixed 1"])
@pytest.mark.parametrize("method", ["composite", "innovations"])
def test_the_inverse_mass_matrix_is_one(name: str, method: str) -> None:
    q, _, _ = state(SpatialTree(model(name)), 4)
    M = value(reference(name), "M", q)
    found = spatial.inverse_mass_matrix(model(name), method).interpret(q)
    np.testing.assert_allclose(found @ M, np.eye(len(M)), atol=1e-13 * np.linalg.cond(M))
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("name", ["universal", "helical", "planar", "mixed 1"])
def test_frames_are_where_virtual_power_has_them(name: str) -> None:
    m, system = model(name), reference(name)
    tree = SpatialTree(m)
    q, v, a = state(tree, 5)
    poses, twists = value(system, "poses", q), value(system, "twists", q, v)
    accelerations = value(system, "frame_accelerations", q, v, a=a)
    frames = [name for name in system.frames if name in tree.frames]
    assert set(m.bodies) <= set(frames)
    for frame in frames[:: max(1, len(frames) // 4)]:
        k = system.frames.index(frame)
        R, p = spatial.pose(m, frame).interpret(q)
        np.testing.assert_allclose(np.concatenate([p, R.ravel()]), poses[k], **TIGHT)
        speed, omega = twists[k][:3], twists[k][3:]
        expected = {
            "aligned": np.concatenate([omega, speed]),
            "local": np.concatenate([R.T @ omega, R.T @ speed]),
            "world": np.concatenate([omega, speed + np.cross(p, omega)]),
        }
        for axes, twist in expected.items():
            J = spatial.jacobian(m, frame, axes).interpret(q)
            np.testing.assert_allclose(J @ v, twist, **TIGHT)
        found = spatial.frame_acceleration(m, frame).interpret(q, v, a)
        both = np.concatenate([accelerations[k][3:], accelerations[k][:3]])
        np.testing.assert_allclose(found, both, rtol=1e-11, atol=1e-11 * np.abs(both).max())
        local = spatial.frame_acceleration(m, frame, "local").interpret(q, v, a)
        np.testing.assert_allclose(R @ local[:3], both[:3], atol=1e-11 * np.abs(both).max())


@pytest.mark.parametrize("name", ["helical", "free", "mixed 1"])
def test_wrenches_on_frames_do_the_work_of_their_twists(name: str) -> None:
    m = model(name)
    q, v, a = state(SpatialTree(m), 6)
    frames = [*m.bodies][:2]
    wrenches = np.random.default_rng(6).normal(size=(2, 6))
    without = spatial.inverse_dynamics(m).interpret(q, v, a)
    with_them = spatial.inverse_dynamics(m, external=frames).interpret(q, v, a, wrenches)
    work = sum(
        spatial.jacobian(m, frame, "local").interpret(q).T @ wrench
        for frame, wrench in zip(frames, wrenches, strict=True)
    )
    np.testing.assert_allclose(without - with_them, work, **TIGHT)
    for method in ("articulated", "composite"):
        fd = spatial.forward_dynamics(m, method, external=frames)
        np.testing.assert_allclose(fd.interpret(q, v, with_them, wrenches), a, atol=1e-9)


# ---------------------------------------------------- springs, friction, rotors, parameters


def spring_arm() -> bl.Model:
    m = bl.Model("spring arm")
    m.parameter("l", 0.7)
    m.parameter("m2", 1.1)
    m.parameter("tilt", 0.3)
    one = m.body("one", mass=2.0, com=(0.2, 0, 0.1), inertia=(0.1, 0.2, 0.15))
    two = m.body("two", mass="m2", com=("0.5*l", 0, 0), inertia=(0.1, 0.1, "0.2*m2*l^2"))
    m.joint("revolute", "A", m.ground, one, axis="y")
    m.joint("cylindrical", "B", one.at("l", 0, 0.1, angles=("xy", ("tilt", 0.4))), two)
    m.force("torsional", "t", coordinate="A", stiffness=20.0, rest=0.2, damping=0.7)
    m.force("friction", "f", coordinate="B.displacement", viscous=3.0, kinetic=0.4)
    m.force("axial", "s", coordinate="B.displacement", stiffness=50.0)
    m.force("actuator", "motor", coordinate="A")
    return m


def test_springs_friction_and_parameters_act_as_in_virtual_power() -> None:
    m = spring_arm()
    system = bl.formulate(m)
    q, v, a = state(SpatialTree(m), 8)
    for p in ([0.7, 1.1, 0.3], [0.5, 2.0, -0.2]):
        M = value(system, "M", q, p=p)
        expected = M @ a - value(system, "Q", q, v, p=p)
        tau = spatial.inverse_dynamics(m).interpret(q, v, a, p)
        np.testing.assert_allclose(tau, expected, **TIGHT)
        for method in ("articulated", "innovations", "composite"):
            found = spatial.forward_dynamics(m, method).interpret(q, v, tau, p)
            np.testing.assert_allclose(found, a, **TIGHT)
        energy = value(system, "energy", q, v, p=p)
        np.testing.assert_allclose(spatial.energy(m).interpret(q, v, p), energy, **TIGHT)


def test_a_rotor_adds_to_the_inertia_along_its_joint_alone() -> None:
    m = spring_arm()
    q, v, a = state(SpatialTree(m), 9)
    p = [0.7, 1.1, 0.3]
    rotors = {"A": 0.4, "B.angle": 0.1}
    along = np.array([0.4, 0.0, 0.1])
    M = spatial.mass_matrix(m).interpret(q, p)
    for method in ("composite", "unit accelerations", "operators"):
        with_rotors = spatial.mass_matrix(m, method, rotors=rotors).interpret(q, p)
        np.testing.assert_allclose(with_rotors, M + np.diag(along), **TIGHT)
    tau = spatial.inverse_dynamics(m, rotors=rotors).interpret(q, v, a, p)
    np.testing.assert_allclose(tau, spatial.inverse_dynamics(m).interpret(q, v, a, p) + along * a)
    for method in ("articulated", "innovations", "composite"):
        fd = spatial.forward_dynamics(m, method, rotors=rotors)
        np.testing.assert_allclose(fd.interpret(q, v, tau, p), a, **TIGHT)
    T = spatial.energy(m, rotors=rotors).interpret(q, v, p)[0]
    assert pytest.approx(v @ (M + np.diag(along)) @ v / 2, rel=1e-12) == T


def test_a_planar_model_and_one_of_parts_are_trees_too() -> None:
    flat = bl.Model("flat", plane="xz")
    before = flat.ground
    for k in range(2):
        body = flat.body(f"b{k}", mass=1.0, com=(0.3, 0, 0.1), inertia=(0.1, 0.2, 0.15))
        flat.joint("revolute", f"j{k}", before.at(0.5 * k, 0, 0), body, axis="y")
        before = body
    whole = bl.Model("row")
    leg = bl.Model("leg")
    shin = leg.body("shin", mass=1.0, com=(0.1, 0, -0.2), inertia=(0.1, 0.2, 0.15))
    leg.joint("universal", "knee", leg.ground, shin)
    whole.part("left", leg)
    whole.part("right", leg, position=(0.0, 1.0, 0.0))
    for m in (flat, whole):
        system = bl.formulate(m)
        tree = SpatialTree(m)
        assert tree.v_names == [entry.name for entry in system.v]
        q, v, a = state(tree, 12)
        expected = value(system, "M", q) @ a - value(system, "Q", q, v)
        found = spatial.inverse_dynamics(m).interpret(q, v, a)
        np.testing.assert_allclose(found, expected, **TIGHT)


def test_the_same_model_gives_the_same_source_twice() -> None:
    first, second = (spatial.forward_dynamics(model("universal")).c() for _ in range(2))
    assert first == second


# --------------------------------------------------------------------- what is refused


def test_a_loop_is_refused_by_the_name_of_the_joint_that_closes_it() -> None:
    m = bl.Model("loop")
    a, b = m.body("a", mass=1.0), m.body("b", mass=1.0)
    m.joint("revolute", "A", m.ground, a)
    m.joint("revolute", "B", a.at(1, 0, 0), b)
    m.joint("revolute", "C", b.at(1, 0, 0), m.ground.at(1, 1, 0))
    with pytest.raises(ModelError, match=r"not a tree: [ABC] closes a loop"):
        spatial.spatial_system(m)


def test_a_spring_between_markers_pulls_the_body() -> None:
    m = bl.Model("spring", gravity=(0, 0, 0))
    a = m.body("a", mass=2.0, inertia=(1, 1, 1))
    m.joint("free", "A", m.ground, a)
    m.force("spring_damper", "s", i=m.ground, j=a.at(0.1, 0, 0), stiffness=10.0, length=0.1)
    # the end at (0.3, 0, 0) is 0.2 too far: 2 N along -x, through the centre of mass
    q = [0.2, 0, 0, 1, 0, 0, 0]
    found = spatial.forward_dynamics(m).interpret(q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(found, [-1, 0, 0, 0, 0, 0], atol=1e-14)
    _, stored = spatial.energy(m).interpret(q, np.zeros(6))
    assert stored == pytest.approx(0.2)


def test_unknown_frames_methods_and_axes_are_named_with_what_there_is() -> None:
    m = model("revolute")
    with pytest.raises(UnknownNameError, match=r"no frame 'b1.j9'; did you mean"):
        spatial.pose(m, "b1.j9")
    with pytest.raises(ModelError, match="choose one of composite"):
        spatial.mass_matrix(m, "magic")
    with pytest.raises(ModelError, match="world, local, aligned"):
        spatial.jacobian(m, "b0", "body")
    with pytest.raises(ModelError, match="list of different names"):
        spatial.inverse_dynamics(m, external=("b0", "b0"))
    with pytest.raises(ModelError, match="'j7' is not one coordinate"):
        spatial.mass_matrix(m, rotors={"j7": 1.0})


def test_a_body_that_no_joint_reaches_floats() -> None:
    m = bl.Model("thrown")
    m.body("stone", mass=2.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.25))
    tree = SpatialTree(m)
    assert tree.q_names[0] == "stone.x"
    q, v, _ = state(tree, 1)
    a = spatial.forward_dynamics(m).interpret(q, v, np.zeros(6))
    com = spatial.centroidal(m).interpret(q, v)[0]
    rate = spatial.momentum_rate(m).interpret(q, v, a)
    np.testing.assert_allclose(rate, [0, 0, 0, 0, 0, -2 * 9.81], atol=1e-12)
    assert com.shape == (3,)


@pytest.mark.parametrize("method", ["articulated", "innovations", "composite"])
def test_a_joint_that_moves_nothing_is_named(method: str) -> None:
    m = bl.Model("fan")
    arm, blade = m.body("arm", mass=1.0, com=(1, 0, 0)), m.body("blade")
    m.joint("revolute", "A", m.ground, arm, axis="y")
    m.joint("revolute", "B", arm.at(1, 0, 0), blade)
    with pytest.raises(ModelError, match=r"inertia along B\.angle_rate"):
        spatial.forward_dynamics(m, method)
    fd = spatial.forward_dynamics(m, method, rotors={"B": 0.5})
    np.testing.assert_allclose(fd.interpret([0, 0], [0, 0], [-9.81, 1]), [0, 2], atol=1e-12)


# ------------------------------------------------------------------------ frames of links


def test_the_frames_of_an_arm_need_four_constants_a_joint() -> None:
    tree = SpatialTree(random_tree(7, 3, (KINDS[0],), chain=True))
    for link in tree.links[1:]:
        _, _, height = link.place.p
        assert height == 0.0
        assert link.place.R[0] == [1.0, 0.0, 0.0]
        assert link.grouped[3][3] == link.grouped[2][3] == 0.0


def test_regrouped_inertias_shorten_inverse_dynamics() -> None:
    m = random_tree(6, 3, (KINDS[0],), chain=True)
    counts = []
    for grouped in (True, False):
        tree = SpatialTree(m)
        tau = spatial.newton_euler.inverse_dynamics(tree, tree.v, tree.a, grouped=grouped).tau
        f = bl.Function("tau", {"q": tree.q, "v": tree.v, "a": tree.a}, {"tau": tau})
        counts.append(len(f.schedule.operations))
    assert counts[0] < 0.9 * counts[1]
