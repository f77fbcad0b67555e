"""Identities of spatial algebra and of the operators P, ρ, H, W, D, K and Ψ."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.code import Function
from biela.equations import spatial
from biela.equations.spatial import Operators, OperatorValues, SpatialTree
from biela.equations.spatial import algebra as al
from biela.equations.spatial.constraint_forces import constraint_forces
from biela.errors import ModelError
from tests.equations.spatial.trees import (
    KINDS,
    about,
    chain_state,
    floating_chain,
    random_tree,
    spatial_chain,
    state,
)

random = np.random.default_rng(11)
p_12, p_23 = random.normal(size=(2, 3))
R_12 = about("x", 0.7) @ about("z", -0.4)
S = random.normal(size=(3, 3))
J_CM = np.trace(S @ S.T) * np.eye(3) - S @ S.T
MASS, CENTRE = 1.7, np.array([0.3, -0.2, 0.5])
INERTIA = al.spatial_inertia(J_CM, MASS, CENTRE)


# ------------------------------------------------------------------------- algebra


def test_a_motion_and_a_force_have_the_same_power_at_every_point_and_in_every_frame() -> None:
    V, F = random.normal(size=(2, 6))
    P = al.translation(p_12)
    np.testing.assert_allclose((P.T @ V)[3:], V[3:] + np.cross(V[:3], p_12))
    np.testing.assert_allclose((P @ F)[:3], F[:3] + np.cross(p_12, F[3:]))
    assert pytest.approx(V @ (P @ F)) == (P.T @ V) @ F
    R = al.rotation(R_12)
    assert pytest.approx(V @ F) == (R.T @ V) @ (R.T @ F)


def test_translations_compose_and_invert() -> None:
    P = al.translation
    np.testing.assert_allclose(P(p_12) @ P(p_23), P(p_12 + p_23), atol=1e-15)
    np.testing.assert_allclose(np.linalg.inv(P(p_12)), P(-p_12), atol=1e-15)
    np.testing.assert_allclose(al.skew(p_12) @ p_23, np.cross(p_12, p_23), atol=1e-15)


def test_a_translation_leaves_the_rate_of_any_other_as_it_is() -> None:
    P, dP = al.translation(p_12), al.translation_rate(p_23)
    for found in (P @ dP, dP @ P, al.translation(-p_12) @ dP):
        np.testing.assert_allclose(found, dP)
    np.testing.assert_allclose(P.T @ dP.T, dP.T)
    assert np.abs(P @ dP.T - dP.T).max() > 0.1  # transposes do not mix
    h = 1e-6
    difference = al.translation(p_12 + h * p_23) - al.translation(p_12 - h * p_23)
    np.testing.assert_allclose(difference / (2 * h), dP, atol=1e-9)


def test_the_spatial_inertia_of_a_box_at_its_corner_is_that_of_the_worked_example() -> None:
    I = al.spatial_inertia(np.diag([5.0, 10.0, 13.0]), 12.0, (1.5, 1.0, 0.5))
    expected = [
        [20, -18, -9, 0, -6, 12],
        [-18, 40, -6, 6, 0, -18],
        [-9, -6, 52, -12, 18, 0],
        [0, 6, -12, 12, 0, 0],
        [-6, 0, 18, 0, 12, 0],
        [12, -18, 0, 0, 0, 12],
    ]
    np.testing.assert_allclose(I, expected, atol=1e-14)
    inverse = al.inverse_inertia(I)
    np.testing.assert_allclose(inverse, np.linalg.inv(I), atol=1e-15)
    np.testing.assert_allclose(inverse[0], [0.2, 0, 0, 0, 0.1, -0.2], atol=1e-15)


def test_the_force_on_a_body_is_the_rate_of_its_momentum() -> None:
    """Of the momentum about a fixed point, where the origin of the body is just now."""
    omega, speed = random.normal(size=(2, 3))
    rate = random.normal(size=6)

    def momentum(t: float) -> np.ndarray:
        # turned by ω t + α t²/2, to the order that a second difference sees
        angle = omega * t + rate[:3] * t * t / 2
        K = al.skew(angle)
        R = np.eye(3) + K + K @ K / 2
        x = speed * t + rate[3:] * t * t / 2
        V = np.concatenate([omega + rate[:3] * t, speed + rate[3:] * t])
        turned = al.rotation(R) @ INERTIA @ al.rotation(R).T
        return al.translation(x) @ turned @ V

    h = 1e-5
    found = (momentum(h) - momentum(-h)) / (2 * h)
    expected = INERTIA @ rate + al.gyroscopic_force(INERTIA, omega)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_gyroscopic_force_has_the_two_forms_of_the_specification() -> None:
    omega, v = random.normal(size=(2, 3))
    V = np.concatenate([omega, v])
    closed = al.gyroscopic_force(INERTIA, omega)
    Shat, dShat = al.translation(CENTRE), al.translation_rate(np.cross(omega, CENTRE))
    I_cm = al.spatial_inertia(J_CM, MASS)
    I_dot = np.zeros((6, 6))
    I_dot[:3, :3] = al.skew(omega) @ J_CM
    first = INERTIA @ dShat.T @ V + Shat @ I_dot @ Shat.T @ V
    whole = dShat @ I_cm @ Shat.T + Shat @ I_dot @ Shat.T + Shat @ I_cm @ dShat.T
    second = -dShat @ INERTIA @ V + whole @ V
    np.testing.assert_allclose(first, closed, atol=1e-14)
    np.testing.assert_allclose(second, closed, atol=1e-14)
    printed = -INERTIA @ dShat.T @ V + Shat @ I_dot @ Shat.T @ V
    assert np.abs(printed - closed).max() > 0.1  # the sign as it was printed
    b = al.velocity_acceleration(omega, CENTRE)
    np.testing.assert_allclose(b, dShat.T @ V, atol=1e-15)
    central = np.concatenate([np.cross(omega, J_CM @ omega), np.zeros(3)])
    np.testing.assert_allclose(closed, Shat @ (I_cm @ b + central), atol=1e-14)


def test_a_body_without_extension_has_no_inverse_inertia() -> None:
    with pytest.raises(ModelError, match="ideal rod"):
        al.inverse_inertia(al.spatial_inertia(np.diag([0.0, 1.0, 1.0]), 1.0, CENTRE))
    with pytest.raises(ModelError, match="without mass"):
        al.inverse_inertia(np.zeros((6, 6)))


def test_a_schur_complement_is_the_inverse_of_the_last_block_of_the_inverse() -> None:
    half = random.normal(size=(7, 7))
    M = half @ half.T + np.eye(7)
    found = al.schur_complement(M, 4)
    np.testing.assert_allclose(np.linalg.inv(found), np.linalg.inv(M)[4:, 4:], atol=1e-13)


# ----------------------------------------------------------------------- operators


def tree_values(
    bodies: int = 6, seed: int = 21
) -> tuple[bl.Model, OperatorValues, np.ndarray, np.ndarray]:
    m = random_tree(bodies, seed)
    operators = Operators(m)
    q, v, a = state(operators.tree, seed)
    return m, operators.at(q, v), v, a


@pytest.mark.parametrize("seed", [21, 22])
def test_the_operators_of_a_tree_fulfil_their_four_equations(seed: int) -> None:
    m, o, v, a = tree_values(seed=seed)
    q, _, _ = state(Operators(m).tree, seed)
    one = np.eye(6 * o.n)
    np.testing.assert_allclose(o.P @ o.rho, one, atol=1e-13)
    np.testing.assert_allclose(o.P, np.tril(o.P))
    np.testing.assert_allclose(o.P.T @ o.V, o.H @ v, atol=1e-12)
    acc = o.rho.T @ (o.H @ a + o.B)
    F = o.forces(a)[::-1].ravel()
    np.testing.assert_allclose(o.P @ F, o.I @ acc + o.G, atol=1e-11)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    np.testing.assert_allclose(o.H.T @ F, tau, atol=1e-11 * np.abs(tau).max())
    np.testing.assert_allclose(o.M @ a + o.xi, tau, atol=1e-11 * np.abs(tau).max())


def test_joints_of_any_kind_hold_their_bodies_by_the_forces_of_the_operators() -> None:
    kinds = tuple(kind for kind in KINDS if kind[0] != "fixed")
    m = random_tree(6, 25, kinds)
    operators = Operators(m)
    tree = operators.tree
    q, v, a = state(tree, 25)
    expected = operators.at(q, v).forces(a)
    _, found = spatial.inverse_dynamics(m, forces=True).interpret(q, v, a)
    assert tuple(tree.moving_bodies) == operators.bodies
    for body, held, F in zip(operators.bodies, found, expected, strict=True):
        (marker,) = (x for x in m.bodies[body].markers.values() if x.name == f"j{body[1:]}")
        R, p = np.array(marker.orientation.axes), np.array(marker.position)
        at_body = al.translation(p) @ al.rotation(R) @ held
        np.testing.assert_allclose(at_body, F, atol=1e-11 * np.abs(F).max())


def test_velocity_free_operators_give_the_accelerations_of_forces() -> None:
    _, o, _, a = tree_values()
    acc = o.rho.T @ o.H @ a
    F = o.rho @ o.I @ acc
    np.testing.assert_allclose(np.linalg.solve(o.I, o.P @ F), acc, atol=1e-11)
    np.testing.assert_allclose(o.K @ F, o.H @ a, atol=1e-10)


def test_motions_and_held_forces_of_the_specified_chains_are_orthonormal() -> None:
    q, v, _ = chain_state()
    o = Operators(spatial_chain()).at(q, v)
    both = np.hstack([o.H, o.W])
    np.testing.assert_allclose(both.T @ both, np.eye(36), atol=1e-15)
    np.testing.assert_allclose(o.H @ o.H.T + o.W @ o.W.T, np.eye(36), atol=1e-15)
    floating = Operators(floating_chain())
    at = floating.at(*state(floating.tree, 1)[:2])
    assert [w.shape[1] for w in at.W_blocks] == [0, 3, 5, 3]


@pytest.mark.parametrize("seed", [21, 23])
def test_the_schur_complement_is_the_inverse_of_the_mass_matrix(seed: int) -> None:
    _, o, _, _ = tree_values(seed=seed)
    A, B, C = o.schur
    assert np.linalg.eigvalsh(A)[0] > 0
    found = C - B.T @ np.linalg.solve(A, B)
    one = np.eye(len(found))
    np.testing.assert_allclose(found @ o.M, one, atol=1e-12 * np.linalg.cond(o.M))


def test_the_determinant_of_the_mass_matrix_is_shared_by_constraints_and_bodies() -> None:
    q, v, _ = chain_state()
    o = Operators(spatial_chain()).at(q, v)
    A, _, _ = o.schur
    whole = np.linalg.slogdet(A)[1] + np.linalg.slogdet(o.I)[1]
    assert np.linalg.slogdet(o.M)[1] == pytest.approx(whole, abs=1e-11)


@pytest.mark.parametrize("seed", [21, 22, 23])
def test_the_innovations_factorise_the_mass_matrix_and_its_inverse(seed: int) -> None:
    _, o, _, _ = tree_values(seed=seed)
    one = np.eye(len(o.M))
    L = one + o.H.T @ o.rho @ o.gain
    back = one - o.H.T @ o.Psi @ o.gain
    scale = np.abs(o.M).max()
    np.testing.assert_allclose(L @ o.D @ L.T, o.M, atol=1e-12 * scale)
    np.testing.assert_allclose(L @ back, one, atol=1e-12)
    inverse = back.T @ np.linalg.solve(o.D, back)
    np.testing.assert_allclose(inverse @ o.M, one, atol=1e-12 * np.linalg.cond(o.M))


# --------------------------------------------------------------- constraint forces

STRAIGHT = tuple(k for k in KINDS if k[0] in ("revolute", "prismatic", "spherical", "helical"))


def test_constraint_forces_move_trees_and_screws_as_articulated_bodies_do() -> None:
    """A screw has motions that are not of unit length; a tree has bodies with two followers."""
    m = random_tree(6, 31, STRAIGHT)
    q, v, a = state(SpatialTree(m), 31)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    found = spatial.forward_dynamics(m, "constraint forces").interpret(q, v, tau)
    np.testing.assert_allclose(found, a, atol=1e-9)


def test_the_force_a_joint_holds_is_that_of_acceleration_and_of_bias() -> None:
    m = spatial_chain()
    q, v, a = chain_state()
    tree = SpatialTree(m)
    found = constraint_forces(tree, tree.tau)
    f = Function("F_S", {"q": tree.q, "v": tree.v, "tau": tree.tau}, {"F_S": found.F_S})
    o = Operators(m).at(q, v)
    F_S = f.interpret(q, v, o.M @ a + o.xi).reshape(6, 5)
    whole, rest = o.forces(a), o.forces(0 * a)
    for k, W in enumerate(o.W_blocks):
        np.testing.assert_allclose(W.T @ whole[k], F_S[k] + W.T @ rest[k], atol=1e-10)
