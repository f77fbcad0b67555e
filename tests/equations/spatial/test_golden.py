"""The chains of the specification of spatial operators, G1 to G4, digit by digit.

Their values were found by other means: closed forms, and an energy model of 4 x 4 matrices with
complex steps.  They are printed to 10 decimals.  What is evaluated once is not compiled.
"""

from __future__ import annotations

import numpy as np
import pytest

from biela.code import Function
from biela.equations import spatial
from biela.equations.spatial import Operators, SpatialTree
from biela.equations.spatial.constraint_forces import constraint_forces
from tests.equations.spatial.trees import (
    about,
    chain_state,
    floating_chain,
    hinge_and_slide,
    planar_arm,
    spatial_chain,
)

Floats = np.ndarray


def near(found: object, expected: object) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-9)


def steps_of_constraint_forces(model: object, q: Floats, v: Floats, tau: Floats) -> list[Floats]:
    tree = SpatialTree(model)
    found = constraint_forces(tree, tree.tau)
    inputs = {"q": tree.q, "v": tree.v, "tau": tree.tau}
    outputs = {name: getattr(found, name) for name in ("a_T", "S", "F_S", "a_S", "accelerations")}
    return list(Function("steps", inputs, outputs).interpret(q, v, tau))


# ------------------------------------------------------------------------------ G1

Q1, V1, A1 = np.array([0.3, -0.5]), np.array([1.2, -0.7]), np.array([0.5, 2.0])
TAU1 = np.array([32.3218047165, 6.4197229804])


def test_a_planar_arm_has_the_mass_matrix_and_forces_of_the_textbook() -> None:
    m = planar_arm()
    M = [[3.5422324076, 0.8473495371], [0.8473495371, 0.3208]]
    near(spatial.mass_matrix(m).interpret(Q1), M)
    near(spatial.gravity_forces(m).interpret(Q1), [29.1982992730, 5.7686718772])
    near(spatial.coriolis_matrix(m).interpret(Q1, V1) @ V1, [-0.3423098346, -0.4142236654])
    near(spatial.inverse_dynamics(m).interpret(Q1, V1, A1), TAU1)
    near(spatial.inverse_mass_matrix(m).interpret(Q1), [[0.7668276877, -2.0254709671],
                                              [-2.0254709671, 8.4672128629]])  # fmt: skip


def test_a_planar_arm_transmits_these_forces_between_its_bodies() -> None:
    _, F = spatial.inverse_dynamics(planar_arm(), forces=True).interpret(Q1, V1, A1)
    near(F[0], [0, 0, 32.3218047165, 7.1341872193, 35.4397660278, 0])
    near(F[1], [0, 0, 6.4197229804, -5.3285666903, 15.5443074510, 0])


def test_a_planar_arm_moves_as_its_operators_say() -> None:
    o = Operators(planar_arm()).at(Q1, V1)
    near(o.V_blocks[0], [0, 0, 1.2, 0, 0, 0])
    near(o.V_blocks[1], [0, 0, 0.5, -0.5753106463, 1.0530990743, 0])
    acc = (o.rho.T @ (o.H @ A1 + o.B)).reshape(2, 6)[::-1]
    near(acc[0], [0, 0, 0.5, 2.8990532273, 9.3718509583, 0])
    near(acc[1], [0, 0, 2.5, -3.4523777935, 9.3628716340, 0])


@pytest.mark.parametrize(
    "method", ["articulated", "innovations", "composite", "constraint forces", "fastest"]
)
def test_every_way_forward_gives_the_accelerations_of_the_planar_arm(method: str) -> None:
    f = spatial.forward_dynamics(planar_arm(), method)
    near(f.interpret(Q1, V1, TAU1), A1)
    near(f.interpret(Q1, V1, np.zeros(2)), [-11.2822922597, 13.1097160606])


def test_the_steps_of_the_constraint_force_algorithm_are_those_of_the_specification() -> None:
    a_T, S, F_S, a_S, a = steps_of_constraint_forces(planar_arm(), Q1, V1, TAU1)
    near(a_T, [14.2606366901, -1.0765430197])
    near(S, [0, 0, 0, 7.1303183451, 0, 0, 0, -3.4184567130, 11.5310805085, 0])
    near(F_S, [0, 0, 0.7191383079, 2.5663738428, 0, 0, 0, -0.3595691540, 2.1581869214, 0])
    near(a_S, [-13.7606366901, 3.0765430197])
    near(a, A1)


def test_the_matrices_of_the_constraint_forces_are_those_of_the_specification() -> None:
    A, _, C = Operators(planar_arm()).at(Q1, V1).schur
    near(C, [[5.9405940594, -5.9405940594], [-5.9405940594, 18.3168316832]])
    eigenvalues = [
        0.1285002782, 0.2794965833, 1.1109461791, 1.3612392495, 1.8897366198,
        4.7533559303, 8.3759156214, 16.731979008, 375.5393874345, 1589.2063720608,
    ]  # fmt: skip
    near(np.linalg.eigvalsh(A), eigenvalues)


def rk4(f: object, y: Floats, h: float, steps: int) -> Floats:
    rows = [y]
    for k in range(steps):
        t, y = k * h, rows[-1]
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        rows.append(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(rows)


def test_the_falling_arm_is_where_the_specification_has_it_after_a_second() -> None:
    m = planar_arm()
    fd, energy = spatial.forward_dynamics(m), spatial.energy(m)
    none = np.zeros(2)

    def rate(t: float, y: Floats) -> Floats:
        return np.concatenate([y[2:], fd(y[:2], y[2:], none)])

    rows = rk4(rate, np.array([0.3, -0.5, 0.0, 0.0]), 1e-3, 1000)
    near(rows[-1], [-2.9343302943, 0.3811371497, -3.6934155444, 3.8896552263])
    E = np.array([sum(energy(row[:2], row[2:])) for row in rows[::50]])
    assert E[0] == pytest.approx(6.0782653873, abs=1e-9)
    assert np.abs(E - E[0]).max() < 2e-9


def test_computed_torque_brings_the_error_down_as_theory_says() -> None:
    m = planar_arm()
    fd, law = spatial.forward_dynamics(m), spatial.computed_torque(m)
    kp, kv = 100.0, 20.0

    def rate(t: float, y: Floats) -> Floats:
        q_d = np.array([0.5 * np.sin(t), 0.3 * np.cos(2 * t)])
        v_d = np.array([0.5 * np.cos(t), -0.6 * np.sin(2 * t)])
        a_d = np.array([-0.5 * np.sin(t), -1.2 * np.cos(2 * t)])
        tau = law(y[:2], y[2:], q_d, v_d, a_d, kv, kp)
        return np.concatenate([y[2:], fd(y[:2], y[2:], tau)])

    rows = rk4(rate, np.array([0.3, -0.5, 0.0, 0.0]), 2e-3, 500)
    for k, expected in (
        (100, [-0.1082682264, 0.3248046792]),
        (250, [-0.0104438179, 0.0323421456]),
        (500, [-0.0001271198, 0.0003995194]),
    ):
        t = 2e-3 * k
        near([0.5 * np.sin(t), 0.3 * np.cos(2 * t)] - rows[k][:2], expected)


# ------------------------------------------------------------------------------ G2


def test_a_slide_on_a_hinge_feels_the_whole_coriolis_acceleration() -> None:
    m = hinge_and_slide()
    q, v, a = np.array([0.4, 0.35]), np.array([0.9, -0.6]), np.array([0.2, 0.7])
    near(spatial.inverse_dynamics(m).interpret(q, v, a), [13.464374611, 3.993693938])
    near(Operators(m).at(q, v).b[1], [0, 0, 0, -0.4455, -1.08, 0])


# ------------------------------------------------------------------------------ G3

TAU3 = np.array([
    15.2011299691, -78.5563651076, -3.4989559089, 24.6094965644, 40.2283440413, -0.6958616593
])  # fmt: skip
XI3 = np.array([
    9.3260675491, -84.4295609540, -1.4645452033, 25.8257999279, 42.9584144548, -0.8227455940
])  # fmt: skip
M3 = np.array([
    [17.5612431010, 2.6797991060, -5.9692453528, 3.0707007164, 0.4218478201, 0.2408454806],
    [2.6797991060, 13.9486509171, -1.1641482268, -5.3110957394, -7.0073785907, 0.1980270862],
    [-5.9692453528, -1.1641482268, 2.6256146911, -1.1477524168, -0.0529582516, -0.0708981853],
    [3.0707007164, -5.3110957394, -1.1477524168, 3.7291261287, 3.2141461329, -0.0125182514],
    [0.4218478201, -7.0073785907, -0.0529582516, 3.2141461329, 4.75, -0.0883027336],
    [0.2408454806, 0.1980270862, -0.0708981853, -0.0125182514, -0.0883027336, 0.042],
])  # fmt: skip
V6 = [0.06897416306, -0.03779164787, -0.09410593609, -0.0317638548, -0.2251563099, 0.6956778156]
ACC6 = [0.008825037971, -0.2716690332, -0.6283740353, 3.259429231, 2.027560923, -8.197033872]
F_BETWEEN = [
    [-6.39976118, -115.9253208, 15.20112997, -2.282959605, 13.25512865, 105.447775],
    [-7.818928182, -78.55636511, 27.89727746, 6.985236226, 30.30293333, 88.74635675],
    [-3.498955909, -38.95399592, 35.61836447, 6.14180759, 52.87785477, 58.84048713],
    [-6.66512153, -9.513924617, 24.60949656, 21.57452322, 52.20664054, 26.31854293],
    [-2.937385028, 1.668467641, 14.97088103, 15.40462536, 40.22834404, -1.071660771],
    [-0.6958616593, 3.535997631, 0.5456478465, 8.13428091, 4.830813591, -20.39345165],
]
BIAS = [
    [0, 0, 0, 0, 0, 0],
    [0.1158502349, 0, -0.01162379533, -0.03673302898, -0.005336462516, 0.004772782324],
    [0, 0.1603146247, 0.05689286821, -0.0677042426, 0.001323304528, 0.005787672454],
    [0.04209709748, 0.1726308515, 0, -0.07080067083, 0.002688757413, 0.06745269204],
    [0, 0, 0, -0.07372336421, -0.09651162342, 0.3657634862],
    [0, -0.04517084933, 0.01813999098, -0.004456251992, -0.006247428924, 0.02197242198],
]


def test_the_spatial_chain_has_the_forces_of_the_energy_model() -> None:
    m = spatial_chain()
    q, v, a = chain_state()
    near(spatial.inverse_dynamics(m).interpret(q, v, a), TAU3)
    near(spatial.bias_forces(m).interpret(q, v), XI3)
    coriolis = [-2.4056789917, 1.0821783008, 1.0388854844, -1.0292907788, -1.1024513872,
                0.0003726134]  # fmt: skip
    near(spatial.coriolis_matrix(m).interpret(q, v) @ v, coriolis)
    near(spatial.gravity_forces(m).interpret(q), XI3 - coriolis)


@pytest.mark.parametrize("method", ["composite", "unit accelerations", "operators"])
def test_the_spatial_chain_has_one_mass_matrix_three_ways(method: str) -> None:
    M = spatial.mass_matrix(spatial_chain(), method).interpret(chain_state()[0])
    near(M, M3)
    assert np.linalg.slogdet(M)[1] == pytest.approx(1.2084481509, abs=1e-9)


def test_the_operators_of_the_spatial_chain_move_each_body_as_specified() -> None:
    q, v, a = chain_state()
    o = Operators(spatial_chain()).at(q, v)
    near(o.V_blocks[5], V6)
    near((o.rho.T @ (o.H @ a + o.B)).reshape(6, 6)[::-1][5], ACC6)
    np.testing.assert_allclose(o.b, BIAS, rtol=2e-9, atol=2e-10)
    np.testing.assert_allclose(o.forces(a), F_BETWEEN, rtol=2e-9)
    near(o.M, M3)
    near(o.xi, XI3)


def test_the_forces_between_bodies_are_an_output_of_inverse_dynamics() -> None:
    m = spatial_chain()
    _, F = spatial.inverse_dynamics(m, forces=True).interpret(*chain_state())
    for k, (found, expected) in enumerate(zip(F, F_BETWEEN, strict=True)):
        # the marker of a joint has its axis as z: turned back to the axes of the body
        axis = "zyx"[k % 3]
        e = np.eye(3)
        i = "xyz".index(axis)
        R = np.stack([e[(i + 1) % 3], e[(i + 2) % 3], e[i]], axis=1)
        turned = np.concatenate([R @ found[:3], R @ found[3:]])
        np.testing.assert_allclose(turned, expected, rtol=2e-9)


def test_the_constraint_forces_of_the_spatial_chain_are_those_specified() -> None:
    q, v, a = chain_state()
    a_T, S, F_S, a_S, found = steps_of_constraint_forces(spatial_chain(), q, v, TAU3)
    near(a_T, [204.5493456676, 336.5671706207, -152.0050422455, -68.3665391995, -1.1271162733,
               11.4649572218])  # fmt: skip
    near(found, a)
    near(a_T + a_S, found)
    np.testing.assert_allclose(
        F_S[:5], [-2.53378393, 6.157156543, 1.687277926, 4.265618122, -3.073004066], rtol=2e-9
    )
    np.testing.assert_allclose(
        S[25:], [15.07444977, 4.362941111, -1.123347159, 0.3370182468, -2.973552596], rtol=2e-9
    )


def test_the_matrix_of_constraint_forces_is_block_tridiagonal_and_positive() -> None:
    q, v, _ = chain_state()
    o = Operators(spatial_chain()).at(q, v)
    A, _, C = o.schur
    near(np.diag(C), [40.2309884949, 63.2146432083, 80.4522556909, 81.095279451, 4.3866640723,
                      65.3086855091])  # fmt: skip
    near(np.diag(C, 1), [-5.4161692867, 1.4178438271, -2.7465298907, -9.0409214451,
                         -1.1641949664])  # fmt: skip
    assert np.trace(A) == pytest.approx(930.5979612824, abs=1e-8)
    assert np.linalg.slogdet(A)[1] == pytest.approx(54.6898033484, abs=1e-9)
    assert np.linalg.eigvalsh(A)[0] == pytest.approx(0.0509159662, abs=1e-9)
    blocks = np.abs(A).reshape(6, 5, 6, 5).max(axis=(1, 3))
    assert (blocks[np.abs(np.subtract.outer(range(6), range(6))) > 1] < 1e-12).all()


def test_energy_and_fall_of_the_spatial_chain_are_those_specified() -> None:
    m = spatial_chain()
    q, v, _ = chain_state()
    near(spatial.energy(m).interpret(q, v), [1.5176174875, 46.4414908076])
    expected = [-3.6313231543, 14.9013157381, 7.1049495642, 19.5078688835, -0.0865965165,
                -12.2201200551]  # fmt: skip
    for method in ("articulated", "innovations", "composite", "constraint forces"):
        near(spatial.forward_dynamics(m, method).interpret(q, v, np.zeros(6)), expected)


def test_a_force_of_the_tip_on_its_surroundings_adds_to_the_joint_forces() -> None:
    m = spatial_chain()
    R = about("y", 0.3)
    m.bodies["6"].marker("tip", (0.25, -0.03, 0.04), axis=R[:, 2].tolist(), x_axis=R[:, 0].tolist())
    q, v, a = chain_state()
    given = np.array([0.5, -0.2, 0.7, 3, -4, 5])
    tau = spatial.inverse_dynamics(m, external=("6.tip",)).interpret(q, v, a, [-given])
    expected = [5.2907317028, 11.2820579439, -2.2058816868, -5.0090954044, -4.8183540419,
                0.7278287345]  # fmt: skip
    near(tau - TAU3, expected)
    J = spatial.jacobian(m, "6.tip", "local").interpret(q)
    near(J.T @ given, expected)
    for method in ("articulated", "innovations", "composite", "constraint forces"):
        fd = spatial.forward_dynamics(m, method, external=("6.tip",))
        near(fd.interpret(q, v, tau, [-given]), a)


# ------------------------------------------------------------------------------ G4


def quaternion(axis: str, angle: float) -> list[float]:
    e = [np.cos(angle / 2), 0.0, 0.0, 0.0]
    e[1 + "xyz".index(axis)] = np.sin(angle / 2)
    return e


#: The specification counts the velocity of a free body along its own axes; here it is x'.
R4 = about("z", 0.4)
Q4 = np.array([0.1, -0.2, 0.3, *quaternion("z", 0.4), *quaternion("y", -0.3), 0.1,
               *quaternion("x", 0.5)])  # fmt: skip
OMEGA4, SPEED4 = np.array([0.1, -0.2, 0.3]), np.array([0.4, -0.5, 0.6])
V4 = np.array([*(R4 @ SPEED4), *OMEGA4, 0.7, -0.1, 0.2, -0.39, -0.3, 0.2, 0.5])
A4 = np.array([*(R4 @ (np.array([0.5, -0.4, 0.3]) + np.cross(OMEGA4, SPEED4))), 0.2, 0.1, -0.3,
               -0.6, 0.3, 0.1, 0.05, 0.2, -0.7, 0.4])  # fmt: skip


def test_a_floating_chain_needs_the_specified_forces() -> None:
    tau = spatial.inverse_dynamics(floating_chain()).interpret(Q4, V4, A4)
    near(tau[:3], R4 @ [4.8267813690, 1.9295566001, 64.9722663601])
    near(tau[3:], [-2.3254358461, -45.4193713938, 1.0521929261, -2.7416684916, -25.1586886922,
                   6.9226943881, -0.9811282427, -0.7385959156, 0.0822356889,
                   2.6723604258])  # fmt: skip


@pytest.mark.parametrize("method", ["articulated", "innovations", "composite", "constraint forces"])
def test_a_floating_chain_falls_as_specified(method: str) -> None:
    a = spatial.forward_dynamics(floating_chain(), method).interpret(Q4, V4, np.zeros(13))
    falling = R4.T @ a[:3] - np.cross(OMEGA4, SPEED4)
    near(falling, [-0.264527856, -0.9091176209, -9.7892242049])
    near(a[3:], [0.0861306011, -0.147631117, -0.1612282821, -0.1031467807, 0.4331340994,
                 0.2015824778, 0.1404242205, -0.0768236658, 0.6870786153,
                 -0.2047286052])  # fmt: skip


def test_a_floating_chain_without_weight_keeps_its_momentum_and_energy() -> None:
    m = floating_chain()
    m.gravity = (0.0, 0.0, 0.0)
    fd, step = spatial.forward_dynamics(m), spatial.integrate(m)
    energy, centroidal = spatial.energy(m), spatial.centroidal(m)

    def momentum(q: Floats, v: Floats) -> Floats:
        com, *_, h, _, _ = centroidal(q, v)
        return np.concatenate([h[:3] + np.cross(com, h[3:]), h[3:]])

    near(energy(Q4, V4)[0], 2.8585090166)
    before = momentum(Q4, V4)
    near(before, [0.2541875012, -4.652960794, -0.5622095197, 2.7358836178, -1.0118695934,
                  5.1279281634])  # fmt: skip
    rates, none = spatial.rates(m), np.zeros(13)

    def rate(t: float, y: Floats) -> Floats:
        return np.concatenate([rates(y[:16], y[16:]), fd(y[:16], y[16:], none)])

    y = rk4(rate, np.concatenate([Q4, V4]), 2e-3, 500)[-1]
    q = step(y[:16], none)  # normalised
    assert q[11] == pytest.approx(-0.2345491317, abs=2e-10)
    np.testing.assert_allclose(momentum(q, y[16:]), before, atol=1e-10)
    assert energy(q, y[16:])[0] == pytest.approx(2.8585090166, abs=1e-9)
