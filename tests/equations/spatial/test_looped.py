"""Looped dynamics against the same recursions written out, and against Pinocchio where it is."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.code.looped import kernel as kernel_module
from biela.equations import spatial
from biela.equations.spatial import LoopedDynamics, SpatialTree
from biela.errors import ModelError
from tests.equations.spatial.trees import KINDS, aligned_tree, random_tree, spatial_chain, state

MOVING = tuple(kind for kind in KINDS if kind[0] != "fixed")


def same(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    scale = np.abs(expected).max()
    assert scale > 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def check(m: bl.Model, seed: int, **settings: Any) -> None:
    """All that looped dynamics answers, at a random state."""
    tree = SpatialTree(m, **settings)
    q, v, a = state(tree, seed)
    p = [np.array(list(tree.model.parameters.values()))] if tree.p else []
    looped = LoopedDynamics(tree)
    tau = spatial.inverse_dynamics(m, **settings).interpret(q, v, a, *p)
    same(looped.inverse_dynamics()(q, v, a), tau)
    xi = spatial.bias_forces(m, **settings).interpret(q, v, *p)
    same(looped.bias_forces()(q, v), xi)
    if any(m.gravity):
        same(looped.gravity_forces()(q), spatial.gravity_forces(m).interpret(q, *p))
    M = spatial.mass_matrix(m, **settings).interpret(q, *p)
    same(looped.mass_product()(q, a), M @ a)
    way = "articulated"
    expected = spatial.forward_dynamics(m, way, **settings).interpret(q, v, tau, *p)
    # both solve M v' = τ - ξ: how close they are depends on how well that is posed
    tolerance = 1e-13 * max(10.0, np.linalg.cond(M))
    same(looped.forward_dynamics()(q, v, tau), expected, tolerance)
    same(M @ looped.inverse_mass_product()(q, tau), tau, tolerance)
    poses = looped.poses()
    body = list(m.bodies)[-1]
    for found, wanted in zip(
        poses.frame(body, q), spatial.pose(m, body).interpret(q, *p), strict=True
    ):
        same(found, wanted)
    potential = spatial.energy(m, **settings).interpret(q, v, *p)[1]
    if potential:
        same(poses.potential_energy(q), potential)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_of_all_joints_are_the_same_looped(seed: int) -> None:
    check(random_tree(9, 304 + seed), seed)


@pytest.mark.parametrize("seed", range(4))
def test_trees_full_of_zeros_are_the_same_looped(seed: int) -> None:
    check(aligned_tree(8, 400 + seed), seed)


@pytest.mark.parametrize("kind", MOVING, ids=lambda kind: str(kind[0]))
def test_chains_of_one_joint_are_the_same_looped(kind: tuple[str, dict[str, Any]]) -> None:
    check(random_tree(4, 500, (kind,), chain=True), 5)


def test_a_floating_body_deep_in_a_tree_is_the_same_looped() -> None:
    m = random_tree(5, 71, KINDS[:2], chain=True)
    base = m.body("base", mass=3.0, com=(0.1, 0, 0.2), inertia=(0.2, 0.3, 0.25))
    m.joint("free", "floats", m.bodies["b4"].at(0.1, 0.2, 0.3), base)
    arm = m.body("arm", mass=1.0, com=(0, 0.3, 0), inertia=(0.02, 0.01, 0.02))
    m.joint("spherical", "shoulder", base.at(0, 0, 0.4), arm)
    check(m, 6)


def test_rotors_springs_friction_and_parameters_are_the_same_looped() -> None:
    m = random_tree(6, 72, KINDS[:2], chain=True)
    m.parameter("k", 30.0)
    m.parameter("mass", 1.7)
    tip = m.body("tip", mass="mass", com=(0, 0, "0.1 * mass"), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "last", m.bodies["b5"].at(0.2, 0, 0), tip)
    for j in (0, 2, 3, 4):
        kind = "axial" if m.joints[f"j{j}"].kind == "prismatic" else "torsional"
        m.force(kind, f"S{j}", coordinate=f"j{j}", stiffness=10.0 + j, rest=0.1 * j)
    m.force("torsional", "S", coordinate="last", stiffness="k", damping=0.3)
    m.force("friction", "F", coordinate="j1", viscous=3.0, kinetic=0.4)
    check(m, 7, rotors={"j1": 0.4, "last": 0.2})


def test_values_of_parameters_may_be_given() -> None:
    m = bl.Model("pendulum")
    m.parameter("L", 0.5)
    rod = m.body("rod", mass=2.0, com=(0, 0, "-L"), inertia=(0.02, 0.02, 0.001))
    m.joint("revolute", "pivot", m.ground, rod, axis="y")
    f = LoopedDynamics(SpatialTree(m), {"L": 0.8}).inverse_dynamics()
    np.testing.assert_allclose(f([0.0], [0.0], [1.0]), 0.02 + 2.0 * 0.8**2)


def test_a_chain_takes_the_same_kernels_at_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    one = LoopedDynamics(SpatialTree(spatial_chain(41)))
    made = [one.inverse_dynamics(), one.forward_dynamics()]

    def refuse(name: str, ir: str) -> bytes:
        raise AssertionError(f"{name} was compiled again")

    monkeypatch.setattr(kernel_module, "object_code", refuse)
    m = spatial_chain(161)
    tree = SpatialTree(m)
    other = LoopedDynamics(tree)
    q, v, a = state(tree, 3)
    tau = other.inverse_dynamics()(q, v, a)
    same(other.forward_dynamics()(q, v, tau), a, 1e-7)
    assert len(made) == 2


def test_many_states_are_evaluated_row_by_row() -> None:
    tree = SpatialTree(spatial_chain(7))
    f = LoopedDynamics(tree).inverse_dynamics()
    rows = [np.stack(x) for x in zip(*(state(tree, k) for k in range(11)), strict=True)]
    expected = [f(*(x[k] for x in rows)) for k in range(11)]
    np.testing.assert_allclose(f.map(*rows), expected, rtol=1e-13, atol=1e-13)


def test_what_has_no_inertia_is_named() -> None:
    m = spatial_chain(3)
    ghost = m.body("ghost")
    m.joint("revolute", "J4", m.bodies["3"], ghost, axis="x")
    dynamics = LoopedDynamics(SpatialTree(m))
    with pytest.raises(ModelError, match="nothing has inertia along J4"):
        dynamics.forward_dynamics()


def test_gears_are_followed_inward_and_refused_where_joints_are_eliminated() -> None:
    m = spatial_chain(4)
    m.joint("gear", "G", first="J1.angle", second="J3.angle", ratio=-2.0)
    tree = SpatialTree(m)
    q, v, a = state(tree, 2)
    looped = LoopedDynamics(tree)
    same(looped.inverse_dynamics()(q, v, a), spatial.inverse_dynamics(m).interpret(q, v, a))
    with pytest.raises(ModelError, match="follows another coordinate"):
        looped.forward_dynamics()


def test_forces_of_time_are_refused_by_name() -> None:
    m = spatial_chain(3)
    m.force("wrench", "pulse", marker=m.bodies["3"].at(0, 0, 0.1), fx="3*sin(t)")
    with pytest.raises(ModelError, match=r"a force depends on t.* use lowering='unrolled'"):
        LoopedDynamics(SpatialTree(m)).inverse_dynamics()


def test_a_long_tree_is_that_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    from tests.equations.spatial.test_pinocchio import SHARED, in_pinocchio, matched

    m = random_tree(150, 11, SHARED, turned=False)
    made = in_pinocchio(m)
    data = made.createData()
    tree = SpatialTree(m)
    q, v, a = state(tree, 1)
    theirs, order = matched(m, made, tree, q)
    looped = LoopedDynamics(tree)
    tau = pin.rnea(made, data, theirs, v[order], a[order])
    found = looped.inverse_dynamics()(q, v, a)
    same(found[order], tau, 1e-11)
    accelerations = pin.aba(made, data, theirs, v[order], tau)
    again = looped.forward_dynamics()(q, v, found)
    same(again[order], accelerations, 1e-11)


@pytest.mark.parametrize("seed", range(2))
def test_rates_of_a_state_are_those_written_out(seed: int) -> None:
    m = random_tree(7, 40 + seed, MOVING)
    tree = SpatialTree(m)
    q, v, tau = state(tree, seed)
    motion = LoopedDynamics(tree).motion()
    found = called(motion.f.address, [np.zeros(1), np.concatenate([q, v]), tau], len(q) + len(v))
    same(found[: len(q)], spatial.rates(m).interpret(q, v))
    M = spatial.mass_matrix(m).interpret(q)
    expected = spatial.forward_dynamics(m, "articulated").interpret(q, v, tau)
    same(found[len(q) :], expected, 1e-13 * max(10.0, np.linalg.cond(M)))


def test_states_are_taken_back_to_unit_quaternions() -> None:
    m = bl.Model("ropes")
    a, b, c = (m.body(name, mass=1.0, inertia=0.1) for name in "abc")
    m.joint("spherical", "first", m.ground, a)
    m.joint("prismatic", "slide", a, b)
    m.joint("spherical", "last", b, c)
    tree = SpatialTree(m)
    x = np.random.default_rng(3).normal(size=len(tree.q) + len(tree.v))
    normalise = LoopedDynamics(tree).motion().normalise
    assert normalise is not None
    found = called(normalise.address, [np.zeros(1), x, np.zeros(len(tree.v))], len(x) + 1)
    expected, gaps = x.copy(), []
    for k, _ in tree.quaternions:
        length = np.linalg.norm(x[k : k + 4])
        expected[k : k + 4] /= length
        gaps.append(abs(length**2 - 1))
    np.testing.assert_allclose(found[:-1], expected, rtol=1e-15, atol=1e-15)
    assert found[-1] == pytest.approx(max(gaps), rel=1e-14)
    chain = LoopedDynamics(SpatialTree(spatial_chain(3)))
    assert chain.motion().normalise is None


def called(address: int, inputs: list[np.ndarray], size: int) -> np.ndarray:
    """What native code writes."""
    out = np.empty(size)
    pointer = ctypes.POINTER(ctypes.c_double)
    arrays = [*map(np.ascontiguousarray, inputs), out]
    run = ctypes.CFUNCTYPE(None, *[pointer] * len(arrays))(address)
    run(*(x.ctypes.data_as(pointer) for x in arrays))
    return out
