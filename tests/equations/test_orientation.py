"""Systems with q' = N(q) v: orientations by Euler parameters and angular velocities."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import biela as bl
from biela.atoms import dump, jacobian, load, time_derivative
from biela.equations.base_parameters import admissible_states
from biela.equations.lagrange import mass_and_forces_lagrange
from biela.equations.newton_euler import virtual_powers, wrench_sums
from biela.equations.positions import apart, normalised, own_velocities, velocity_places
from biela.equations.regressor import regressor
from biela.equations.textbook import split
from biela.errors import DomainError, ModelError, WorkspaceError

I_BODY = np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.5]])
COM = (0.1, -0.2, 0.05)


def two_bodies() -> bl.SymbolicSystem:
    """A slider, a body turned from it in any way, and another turned from that one."""
    s = bl.SymbolicSystem("two")
    (x,) = s.coordinates("x")
    first = s.orientation("first")
    (phi,) = s.coordinates("phi")
    second = s.orientation("second", first)
    (m,) = s.parameters(m=2.0)
    A = s.origin.offset("A", s.base.vector(x, 0, 0))
    B = A.offset("B", first.vector(0.4, 0.1, 0))
    arm = second.rotated("arm", "z", phi)
    s.solid("one", at=A, base=first, mass=m, com=COM, inertia=first.tensor(I_BODY.tolist()))
    s.solid("two", at=B, base=second, mass=1.0, com=COM, inertia=second.tensor(I_BODY.tolist()))
    s.solid("tip", at=B, base=arm, mass=0.3, com=(0.5, 0, 0), inertia=arm.inertia(0.1, 0.2, 0.2))
    s.frame("arm", B.offset("T", arm.vector(0.5, 0, 0.1)), arm)
    s.frame("slider", A, s.base)
    s.gravity = s.base.vector(0, 0, -9.81)
    return s


def state(system: bl.System, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    q = normalised(system, random.uniform(-1, 1, len(system.q)))
    return q, *(random.uniform(-1, 1, len(system.v)) for _ in range(2))


def test_coordinates_and_velocities_stand_in_the_order_of_their_declaration() -> None:
    s = two_bodies()
    assert [q.name for q in s.q] == [
        *("x", "first_e0", "first_e1", "first_e2", "first_e3", "phi"),
        *("second_e0", "second_e1", "second_e2", "second_e3"),
    ]
    speeds = ["dx", "first_wx", "first_wy", "first_wz", "dphi", "second_wx", "second_wy"]
    assert [v.name for v in s.v] == [*speeds, "second_wz"]
    system = s.equations().system
    assert [e.unit for e in system.q] == ["m", "", "", "", "", "rad", "", "", "", ""]
    assert [e.unit for e in system.v] == ["m/s", *3 * ["rad/s"], "rad/s", *3 * ["rad/s"]]
    assert [e.value for e in system.q] == [0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    assert not any(e.given for e in system.q)
    assert system.quaternions == (1, 6)
    assert own_velocities(system) == [0, -1, -1, -1, -1, 4, -1, -1, -1, -1]
    assert velocity_places(system, ["phi", "second_wy", "dx"]) == [4, 6, 0]
    with pytest.raises(ModelError, match="has no velocity, or coordinate with one, first_e0"):
        velocity_places(system, ["first_e0"])
    made = s.orientations["second"]
    assert made.base.name == "second" and made.parameters == tuple(s.q[6:])


def test_a_plain_system_has_neither_rates_nor_a_retraction() -> None:
    s = bl.SymbolicSystem("plain")
    (x,) = s.coordinates("x")
    point = s.origin.offset("P", s.base.vector(x, 0, 0))
    s.solid("body", at=point, base=s.base, mass=1.0)
    system = s.equations().system
    for name in ("rates", "retract", "poses", "twists", "frame_accelerations"):
        assert name not in system


def test_rates_are_half_the_product_with_the_angular_velocity() -> None:
    system = two_bodies().equations().system
    q, v, _ = state(system)
    rates = system.evaluate("rates", q, v)
    for first, speed in ((1, 1), (6, 5)):
        e0, e = q[first], q[first + 1 : first + 4]
        skew = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
        G = np.column_stack([-e, -skew + e0 * np.eye(3)])
        expected = G.T @ v[speed : speed + 3] / 2
        np.testing.assert_allclose(rates[first : first + 4], expected, atol=1e-15)
    assert rates[0] == v[0] and rates[5] == v[4]


def test_a_retraction_turns_by_a_rotation_vector_in_the_turned_base() -> None:
    system = two_bodies().equations().system
    retract = system["retract"]
    q, _, _ = state(system)
    random = np.random.default_rng(3)
    for size in (1e-9, 1e-3, 0.07, 0.0708, 1.0, 3.0, 6.0):
        delta = random.normal(size=8)
        delta[1:4] *= size / np.linalg.norm(delta[1:4])
        after = retract(q, delta)
        assert after[0] == q[0] + delta[0] and after[5] == q[5] + delta[4]
        turn = Rotation.from_quat(q[1:5], scalar_first=True) * Rotation.from_rotvec(delta[1:4])
        expected = turn.as_quat(scalar_first=True)
        expected *= np.sign(expected @ after[1:5])
        np.testing.assert_allclose(after[1:5], expected, atol=3e-16 * 4)
    np.testing.assert_allclose(retract(q, np.zeros(8)), q, atol=2e-16)
    stretched = q.copy()
    stretched[1:5] *= 3
    np.testing.assert_allclose(retract(stretched, np.zeros(8)), q, atol=3e-16)


def test_the_derivative_of_the_retraction_without_a_displacement_is_that_of_the_rates() -> None:
    s = two_bodies()
    system = s.equations().system
    q, _, _ = state(system)
    retract = system["retract"]
    atoms = [[bl.Atom(retract.table, ref) for ref in a.refs] for a in retract.inputs]
    rows = jacobian(list(retract.expressions("moved")), atoms[1]).rows
    slope = bl.Function("slope", {"q": atoms[0], "delta": atoms[1]}, {"slope": rows})
    N = np.stack([system.evaluate("rates", q, e) for e in np.eye(8)], axis=1)
    np.testing.assert_allclose(slope(q, np.zeros(8)), N, atol=1e-15)
    # and away from it, that of differences
    delta = np.random.default_rng(1).uniform(-1, 1, 8)
    for at in (delta, 1e-2 * delta):
        steps = [(retract(q, at + d) - retract(q, at - d)) / 2e-6 for d in 1e-6 * np.eye(8)]
        np.testing.assert_allclose(slope(q, at), np.stack(steps, axis=1), atol=1e-9)


def test_twists_and_accelerations_of_frames_are_the_derivatives_of_their_poses() -> None:
    system = two_bodies().equations().system
    assert system.frames == ("arm", "slider")
    q, v, a = state(system)
    h = 1e-5
    retract = system["retract"]

    def moved(step: float) -> tuple[np.ndarray, np.ndarray]:
        return retract(q, step * v), v + step * a

    poses = [system.evaluate("poses", moved(k * h)[0]) for k in (-1, 0, 1)]
    R = poses[1][:, 3:].reshape(-1, 3, 3)
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.stack([np.eye(3)] * 2), atol=1e-15)
    twist = system.evaluate("twists", q, v)
    slope = (poses[2] - poses[0]) / (2 * h)
    np.testing.assert_allclose(twist[:, :3], slope[:, :3], atol=1e-9)
    skew = slope[:, 3:].reshape(-1, 3, 3) @ R.transpose(0, 2, 1)
    omega = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    np.testing.assert_allclose(twist[:, 3:], omega, atol=1e-9)
    before, after = (system.evaluate("twists", *moved(k * h)) for k in (-1, 1))
    found = system.evaluate("frame_accelerations", q, v, a=a)
    # retract(q, h v) has q'' of v' = a up to what q ⊕ h²/2 a would add: first order is enough
    np.testing.assert_allclose(found, (after - before) / (2 * h), atol=1e-8)


def test_the_equations_are_those_of_newton_and_euler() -> None:
    s = two_bodies()
    system = s.equations().system
    M, Q = split(s, virtual_powers(s, wrench_sums(s)))
    other = s.function("other", {"M": M, "Q": Q})
    q, v, _ = state(system)
    found = other(0.0, q, v, [], system.parameters)
    np.testing.assert_allclose(system.evaluate("M", q), found[0], atol=1e-13)
    np.testing.assert_allclose(system.evaluate("Q", q, v), found[1], atol=1e-13)


def test_a_body_accelerates_as_the_same_body_turned_by_angles() -> None:
    def body(base: bl.Base, s: bl.SymbolicSystem) -> None:
        s.solid("body", at=s.origin, base=base, mass=2.0, com=COM, inertia=base.tensor(I_BODY))
        s.gravity = s.base.vector(1, 2, -9.81)
        s.frame("body", s.origin, base)

    free = bl.SymbolicSystem("free")
    body(free.orientation("B"), free)
    turned = bl.SymbolicSystem("turned")
    body(turned.base.euler("B", "zxz", turned.coordinates("a b c")), turned)
    angles, rates = np.array([0.4, 1.1, -0.7]), np.array([0.3, -1.2, 2.0])
    one, two = turned.equations().system, free.equations().system
    R = one.evaluate("poses", angles)[0, 3:].reshape(3, 3)
    omega = R.T @ one.evaluate("twists", angles, rates)[0, 3:]
    e = Rotation.from_matrix(R).as_quat(scalar_first=True)
    np.testing.assert_allclose(two.evaluate("poses", e)[0, 3:].reshape(3, 3), R, atol=1e-15)
    a = one.evaluate("accelerations", angles, rates)
    alpha = two.evaluate("accelerations", e, omega)
    np.testing.assert_allclose(
        one.evaluate("frame_accelerations", angles, rates, a=a)[0],
        two.evaluate("frame_accelerations", e, omega, a=alpha)[0],
        atol=1e-12,
    )
    # as Euler found, about a fixed point beside the mass centre
    weight = 2.0 * np.cross(COM, R.T @ [1, 2, -9.81])
    expected = np.linalg.solve(I_BODY, weight - np.cross(omega, I_BODY @ omega))
    np.testing.assert_allclose(alpha, expected, rtol=1e-12)
    for system, q, v in ((one, angles, rates), (two, e, omega)):
        kinetic, potential = system.evaluate("energy", q, v)
        assert kinetic == pytest.approx(omega @ I_BODY @ omega / 2, rel=1e-13)
        assert potential == pytest.approx(-2.0 * np.dot([1, 2, -9.81], R @ COM), rel=1e-13)


def closed() -> bl.SymbolicSystem:
    s = two_bodies()
    points = s.space.points
    s.close(s.origin, points["T"], name="loop")
    s.constrain(s.space.bases["arm"].vector(0, 0, 1).dot(s.base.vector(1, 0, 0)) - 0.1)
    s.constrain_velocity(s.v[1] + 2 * s.v[0])
    return s


def test_constraints_hold_at_all_three_levels_along_a_motion() -> None:
    system = closed().equations().system
    q, v, a = state(system, 2)
    N = np.stack([system.evaluate("rates", q, e) for e in np.eye(8)], axis=1)
    Phi_v = system.evaluate("Phi_v", q)
    assert system.evaluate("Phi_q", q).shape == (4, 10)
    np.testing.assert_allclose(Phi_v[:4], system.evaluate("Phi_q", q) @ N, atol=1e-14)
    np.testing.assert_allclose(Phi_v @ v, system.evaluate("dPhi", q, v), atol=1e-14)
    h, retract = 1e-5, system["retract"]
    around = [system.evaluate("Phi", retract(q, k * h * v)) for k in (-1, 1)]
    rates = system.evaluate("dPhi", q, v)
    np.testing.assert_allclose((around[1] - around[0]) / (2 * h), rates[:4], atol=1e-9)
    speeds = [system.evaluate("dPhi", retract(q, k * h * v), v + k * h * a) for k in (-1, 1)]
    expected = Phi_v @ a - system.evaluate("gamma", q, v)
    np.testing.assert_allclose((speeds[1] - speeds[0]) / (2 * h), expected, atol=1e-8)


def test_accelerations_of_a_closed_system_are_solved_for() -> None:
    system = closed().equations().system
    q, v, _ = state(system, 4)
    M, Phi_v = system.evaluate("M", q), system.evaluate("Phi_v", q)
    A = np.block([[M, Phi_v.T], [Phi_v, np.zeros((5, 5))]])
    b = np.concatenate([system.evaluate("Q", q, v), system.evaluate("gamma", q, v)])
    expected = np.linalg.solve(A, b)
    a, lam = system.evaluate("accelerations", q, v)
    np.testing.assert_allclose(np.concatenate([a, lam]), expected, rtol=1e-9, atol=1e-9)


def test_a_mass_matrix_that_lacks_inertia_is_made_definite_by_constraints() -> None:
    """The base turns a massless rod; only the constraint ties it to a mass."""
    s = bl.SymbolicSystem("rod")
    rod = s.orientation("rod")
    x = s.coordinates("x y z")
    P = s.origin.offset("P", s.base.vector(*x))
    s.solid("mass", at=P, base=s.base, mass=2.0)
    end = s.origin.offset("E", rod.vector(0, 0, -1))
    s.close(P, end)
    s.constrain_velocity(s.orientations["rod"].angular_velocity[2])
    s.gravity = s.base.vector(0, 0, -9.81)
    system = s.equations().system
    q = np.array([np.cos(0.2), np.sin(0.2), 0, 0, *(0, np.sin(0.4), -np.cos(0.4))])
    a, _ = system.evaluate("accelerations", q, np.zeros(6))
    assert a[0] == pytest.approx(-9.81 * np.sin(0.4), rel=1e-10)  # a pendulum of unit length


def test_tangents_are_the_derivatives_of_the_residual() -> None:
    system = closed().equations().system
    q, v, a = state(system, 5)
    lam = np.random.default_rng(6).uniform(-1, 1, 5)

    def residual(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        pull = system.evaluate("Phi_v", q).T @ lam
        return system.evaluate("M", q) @ a + pull - system.evaluate("Q", q, v)

    K, C = system.evaluate("tangents", q, v, lam=lam, a=a)
    assert K.shape == (8, 10) and C.shape == (8, 8)
    h = 1e-6
    by_q = [(residual(q + d, v) - residual(q - d, v)) / (2 * h) for d in h * np.eye(10)]
    by_v = [(residual(q, v + d) - residual(q, v - d)) / (2 * h) for d in h * np.eye(8)]
    np.testing.assert_allclose(K, np.stack(by_q, axis=1), atol=2e-8)
    np.testing.assert_allclose(C, np.stack(by_v, axis=1), atol=2e-8)


def test_the_regressor_gives_the_equations_and_random_states_are_refused() -> None:
    s = two_bodies()
    system = s.equations().system
    q, v, a = state(system)
    found = regressor(s)
    K = found.function()(0.0, q, v, a, system.parameters)
    values = s.function("phi", {"phi": [x for b in s.solids for x in b.inertial_parameters]})
    phi = values(0.0, q, v, [], system.parameters)
    expected = system.evaluate("M", q) @ a - system.evaluate("Q", q, v)
    np.testing.assert_allclose(K @ phi, expected, atol=1e-12)
    with pytest.raises(ModelError, match="orientation first has Euler parameters"):
        admissible_states(s, system.parameters, 4)
    with pytest.raises(ModelError, match="Lagrange is for coordinates whose rates"):
        mass_and_forces_lagrange(s)


def test_positions_are_compared_up_to_turns_and_the_sign_of_a_quaternion() -> None:
    system = two_bodies().equations().system
    q, _, _ = state(system)
    other = q.copy()
    other[1:5] *= -1
    other[5] += 2 * np.pi
    np.testing.assert_allclose(apart(system, other, q), 0, atol=1e-15)
    zero = q.copy()
    zero[6:10] = 0
    with pytest.raises(ModelError, match="second_e3 are all zero"):
        normalised(system, zero)
    kept = normalised(system, np.array([0, 1, 0.5, 0, 0, 0, 1, 0, 0, 0.0]), [2])
    np.testing.assert_allclose(kept[1:5], [np.sqrt(0.75), 0.5, 0, 0], atol=1e-15)


def test_names_that_are_taken_and_limits_that_are_none_are_refused() -> None:
    s = bl.SymbolicSystem("names")
    (x,) = s.coordinates("x")
    s.coordinates("b_e1")
    with pytest.raises(ModelError, match="b_e1 is declared already"):
        s.orientation("b")
    s.base.rotated("c", "x", x)
    with pytest.raises(ModelError, match="already has a base c"):
        s.orientation("c")
    with pytest.raises(ModelError, match="belongs to another system"):
        s.orientation("d", bl.SymbolicSystem("other").base)
    with pytest.raises(DomainError, match="cannot name a symbol"):
        s.orientation("a.b")
    s.orientation("turned")
    e0 = s.orientations["turned"].parameters[0]
    with pytest.raises(DomainError, match="its rate is an expression"):
        _ = e0.velocity
    with pytest.raises(WorkspaceError, match="has a rate already"):
        s.workspace.give_rate(e0, x.velocity)
    with pytest.raises(WorkspaceError, match="is no coordinate"):
        s.workspace.give_rate(x.velocity, x)
    with pytest.raises(WorkspaceError, match="dturned_e0 cannot be the rate of turned_e0"):
        s.coordinates("turned_e0")
    for wrong in ((1, 1), (2, 1), ("low", 1), (0, float("nan"))):
        with pytest.raises(ModelError, match="the lower one first"):
            s.limits(x, *wrong)
    with pytest.raises(ModelError, match="one of four Euler parameters"):
        s.limits(e0, -1, 1)
    with pytest.raises(ModelError, match="not one of its coordinates"):
        s.limits(x.velocity, -1, 1)
    s.limits(x, -0.5, 2)
    s.limits(s.q[1], lower=0)
    s.frame("ground", s.origin, s.base)
    with pytest.raises(ModelError, match="two frames are called ground"):
        s.frame("ground", s.origin, s.base)
    s.solid("body", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=1)
    limits = [(e.lower, e.upper) for e in s.equations().system.q[:3]]
    assert limits == [(-0.5, 2), (0, np.inf), (-np.inf, np.inf)]


def test_the_rate_of_an_euler_parameter_survives_storage() -> None:
    s = bl.SymbolicSystem("stored")
    s.orientation("b")
    again = load(dump(s.workspace))
    assert dump(again) == dump(s.workspace)
    rate = time_derivative(again["b_e0"])
    assert repr(rate) == repr(time_derivative(s.workspace["b_e0"]))
    assert repr(time_derivative(again["b_wx"])) == "db_wx"
    system = two_bodies().equations().system
    copy = pickle.loads(pickle.dumps(system))
    q, v, _ = state(system)
    for name in ("rates", "M", "Q"):
        np.testing.assert_array_equal(copy.evaluate(name, q, v), system.evaluate(name, q, v))
    np.testing.assert_array_equal(copy["retract"](q, v), system["retract"](q, v))
