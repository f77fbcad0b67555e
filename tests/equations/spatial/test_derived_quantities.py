"""Derivatives, Coriolis matrix, momentum, regressor and displacements against differences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import biela as bl
from biela.equations import spatial
from biela.equations.spatial import SpatialTree
from tests.equations.spatial.trees import random_tree, state

STEP = 1e-6
SEEDS = (51, 52)


@cache
def model(seed: int) -> bl.Model:
    return random_tree(5, seed)


def differences(f: object, n: int) -> np.ndarray:
    """Columns of central differences of f(δ) at 0."""
    columns = [(f(STEP * e) - f(-STEP * e)) / (2 * STEP) for e in np.eye(n)]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_has_the_derivatives_of_its_differences(seed: int) -> None:
    m = model(seed)
    q, v, a = state(SpatialTree(m), seed)
    tau, step = spatial.inverse_dynamics(m), spatial.integrate(m)
    by_q, by_v, M = spatial.inverse_dynamics_derivatives(m).interpret(q, v, a)
    n, scale = len(v), np.abs(by_q).max()
    found = differences(lambda d: tau(step(q, d), v, a), n)
    np.testing.assert_allclose(by_q, found, atol=1e-7 * scale)
    np.testing.assert_allclose(by_v, differences(lambda d: tau(q, v + d, a), n), atol=1e-7 * scale)
    np.testing.assert_allclose(M, differences(lambda d: tau(q, v, a + d), n), atol=1e-7 * scale)


def test_forward_dynamics_has_the_derivatives_of_its_differences() -> None:
    m = model(SEEDS[0])
    q, v, a = state(SpatialTree(m), 7)
    fd, step = spatial.forward_dynamics(m), spatial.integrate(m)
    tau = spatial.inverse_dynamics(m)(q, v, a)
    found, by_q, by_v, by_tau = spatial.forward_dynamics_derivatives(m).interpret(q, v, tau)
    np.testing.assert_allclose(found, a, atol=1e-10)
    n, scale = len(v), np.abs(by_q).max()
    expected = differences(lambda d: fd(step(q, d), v, tau), n)
    np.testing.assert_allclose(by_q, expected, atol=1e-6 * scale)
    expected = differences(lambda d: fd(q, v + d, tau), n)
    np.testing.assert_allclose(by_v, expected, atol=1e-6 * scale)
    np.testing.assert_allclose(
        by_tau, spatial.inverse_mass_matrix(m).interpret(q), atol=1e-12 * np.abs(by_tau).max()
    )


def test_branches_do_not_feel_each_other() -> None:
    m = bl.Model("two arms")
    for side in ("left", "right"):
        upper = m.body(f"{side}_upper", mass=1.0, com=(0.2, 0.1, 0), inertia=(0.1, 0.1, 0.1))
        lower = m.body(f"{side}_lower", mass=1.0, com=(0.2, 0.1, 0), inertia=(0.1, 0.1, 0.1))
        m.joint("revolute", f"{side}_shoulder", m.ground, upper, axis="y")
        m.joint("revolute", f"{side}_elbow", upper.at(0.5, 0, 0), lower, axis="x")
    derivatives = spatial.inverse_dynamics_derivatives(m)
    sides = [name.partition("_")[0] for name in SpatialTree(m).v_names]
    for name in ("tau_q", "tau_v", "M"):
        felt = derivatives.sparsity[name]
        assert {sides[i] for i, j in felt} == {"left", "right"}
        assert all(sides[i] == sides[j] for i, j in felt)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_coriolis_matrix_makes_the_mass_matrix_change(seed: int) -> None:
    m = model(seed)
    q, v, _ = state(SpatialTree(m), seed)
    C = spatial.coriolis_matrix(m).interpret(q, v)
    bias, weight = spatial.bias_forces(m), spatial.gravity_forces(m)
    np.testing.assert_allclose(C @ v, bias.interpret(q, v) - weight.interpret(q), atol=1e-11)
    M, step = spatial.mass_matrix(m), spatial.integrate(m)
    rate = (M(step(q, STEP * v)) - M(step(q, -STEP * v))) / (2 * STEP)
    np.testing.assert_allclose(C + C.T, rate, atol=1e-7 * np.abs(rate).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_momentum_is_that_of_the_bodies_one_by_one(seed: int) -> None:
    m = model(seed)
    system = bl.formulate(m)
    q, v, _ = state(SpatialTree(m), seed)
    com, speed, J, A, h, inertia, mass = spatial.centroidal(m).interpret(q, v)
    poses, twists = system.evaluate("poses", q), system.evaluate("twists", q, v)
    places, momenta, moments = [], [], []
    tensor = np.zeros((3, 3))
    masses = [float(b.inertia.mass) for b in m.bodies.values()]
    for body in m.bodies.values():
        k = system.frames.index(body.name)
        R, omega = poses[k][3:].reshape(3, 3), twists[k][3:]
        r = R @ np.array(body.inertia.com)
        xx, yy, zz, xy, xz, yz = body.inertia.moments
        I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        places.append(poses[k][:3] + r)
        momenta.append(float(body.inertia.mass) * (twists[k][:3] + np.cross(omega, r)))
        moments.append(I @ omega)
        tensor += I
    arms = np.array(places) - com
    np.testing.assert_allclose(com, np.average(places, axis=0, weights=masses), atol=1e-12)
    np.testing.assert_allclose(h[3:], np.sum(momenta, axis=0), atol=1e-11)
    expected = np.sum(moments, axis=0) + np.cross(arms, momenta).sum(axis=0)
    np.testing.assert_allclose(h[:3], expected, atol=1e-11)
    np.testing.assert_allclose(A @ v, h, atol=1e-11)
    np.testing.assert_allclose(J @ v, speed, atol=1e-12)
    np.testing.assert_allclose(mass * speed, h[3:], atol=1e-11)
    for arm, each in zip(arms, masses, strict=True):
        tensor += each * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    np.testing.assert_allclose(inertia, tensor, atol=1e-11)


def test_the_rate_of_momentum_is_its_difference_in_time() -> None:
    m = model(SEEDS[0])
    q, v, a = state(SpatialTree(m), 5)
    centroidal, step = spatial.centroidal(m), spatial.integrate(m)

    def momentum(t: float) -> np.ndarray:
        return centroidal(step(q, t * v), v + t * a)[4]

    found = (momentum(STEP) - momentum(-STEP)) / (2 * STEP)
    expected = spatial.momentum_rate(m).interpret(q, v, a)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_forces_are_linear_in_the_inertial_parameters(seed: int) -> None:
    m = model(seed)
    q, v, a = state(SpatialTree(m), seed)
    Y, names = spatial.regressor(m)
    phi = []
    for body in m.bodies.values():
        mass, c = float(body.inertia.mass), np.array(body.inertia.com, dtype=float)
        xx, yy, zz, xy, xz, yz = body.inertia.moments
        shift = mass * (c @ c * np.eye(3) - np.outer(c, c))
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + shift
        moments = I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        phi += [mass, *(mass * c), *moments]
    assert names[:3] == ("b0.m", "b0.mx", "b0.my")
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    np.testing.assert_allclose(Y.interpret(q, v, a) @ phi, tau, atol=1e-11 * np.abs(tau).max())


@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.7])
def test_a_difference_is_the_displacement_that_was_made(size: float) -> None:
    m = random_tree(4, 53)
    q, d, _ = state(SpatialTree(m), 3)
    d = size * d / np.abs(d).max()
    after = spatial.integrate(m).interpret(q, d)
    found = spatial.difference(m).interpret(q, after)
    np.testing.assert_allclose(found, d, rtol=1e-9, atol=1e-15)
    # a quaternion and its opposite are one rotation
    for first, _ in SpatialTree(m).quaternions:
        after[first : first + 4] *= -1
    np.testing.assert_allclose(spatial.difference(m).interpret(q, after), found, atol=1e-15)
