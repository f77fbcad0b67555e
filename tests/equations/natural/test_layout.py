"""Bodies, forces and motions of layouts, against closed forms and the same mechanism as a model."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.instant import Instant
from biela.equations.natural import Layout, Segment, struck
from biela.errors import ModelError
from tests.equations.natural.laid import bricard, four_bar, spatial_chain
from tests.oracles import five_bars

I6 = (0.5, 0.7, 0.9, 0.05, -0.04, 0.03)


def tensor(six: tuple[float, ...]) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def described(lay: Layout, how: str) -> None:
    """One body on points and vectors of a kind."""
    p = [lay.point(f"p{k}", x) for k, x in enumerate(((0.1, 0, 0), (1, 0.2, 0), (0, 1, 0.3)))]
    v = [lay.vector(f"v{k}", x) for k, x in enumerate(((0, 0.6, 0.8), (0, 0, 1), (1, 0, 0)))]
    top = lay.point("top", (0.2, -0.3, 1.1))
    points, vectors = {
        "2 points 2 vectors": (p[:2], v[:2]),
        "1 point 3 vectors": (p[:1], v),
        "3 points 1 vector": (p, v[1:2]),
        "4 points": ([*p, top], []),
        "many": ([*p, top], v),
    }[how]
    lay.body("body", points, vectors, mass=2.0, centre=(0.3, 0.1, 0.2), inertia=I6)


@pytest.mark.parametrize(
    "how", ["2 points 2 vectors", "1 point 3 vectors", "3 points 1 vector", "4 points", "many"]
)
def test_a_body_has_the_energy_of_a_rigid_body_however_it_is_described(how: str) -> None:
    """T = ½ m v² + ½ ω I ω for any velocity that keeps its shape, and a constant M."""
    lay = Layout("body", gravity=(0, 0, -9.81))
    described(lay, how)
    system = lay.system()
    q = np.array([e.value for e in system.q])
    used = np.abs(np.asarray(system.evaluate("M", q))).max(axis=0) > 0
    rows = np.atleast_2d(system.evaluate("Phi_v", q))
    moved = used | (np.abs(rows).max(axis=0) > 0)
    assert np.linalg.matrix_rank(rows) == moved.sum() - 6
    omega, speed = np.array([0.4, -0.7, 1.1]), np.array([0.2, 0.5, -0.3])
    v = np.zeros(len(q))
    for name, entity in lay.entities.items():
        at = np.array(entity.start)
        rate = np.cross(omega, at) + (0 if name.startswith("v") else speed)
        for k, axis in enumerate("xyz"):
            v[[e.name for e in system.q].index(f"{name}.{axis}")] = rate[k]
    np.testing.assert_allclose(rows @ v, 0.0, atol=1e-14)
    centre = np.cross(omega, [0.3, 0.1, 0.2]) + speed
    expected = (2.0 * centre @ centre + omega @ tensor(I6) @ omega) / 2
    kinetic, potential = system.evaluate("energy", q, v)
    assert kinetic == pytest.approx(expected, rel=1e-12)
    assert potential == pytest.approx(2.0 * 9.81 * 0.2, rel=1e-12)
    M = np.asarray(system.evaluate("M", q))
    assert v @ M @ v / 2 == pytest.approx(expected, rel=1e-12)
    np.testing.assert_array_equal(M, system.evaluate("M", q + 1.0))
    if how != "many":
        assert used.sum() == 12


def test_a_slender_rod_has_the_mass_of_the_textbook() -> None:
    lay = Layout("rod")
    p, q = lay.point("p", (0, 0, 0)), lay.point("q", (1, 2, 2))
    lay.rod("rod", p, q, 6.0)
    M = np.asarray(lay.system().evaluate("M", np.zeros(6)))
    np.testing.assert_allclose(M, np.kron([[2, 1], [1, 2]], np.eye(3)), atol=1e-14)


def test_a_round_rod_turns_with_the_inertia_of_its_section() -> None:
    """Its spin is left out; across it T = ½ (m L²/12 + m r²/4) ω²."""
    m, L, r = 3.0, 2.0, 0.3
    lay = Layout("bar")
    p, q = lay.point("p", (-1, 0, 0)), lay.point("q", (1, 0, 0))
    across = m * (L**2 / 12 + r**2 / 4)
    lay.body("bar", [p, q], mass=m, centre=(0, 0, 0), inertia=(m * r**2 / 2, across, across))
    kinetic, _ = lay.system().evaluate("energy", [-1, 0, 0, 1, 0, 0], [0, -1, 0, 0, 1, 0])
    assert kinetic == pytest.approx(across / 2)


def test_mass_that_points_and_vectors_cannot_carry_is_refused() -> None:
    lay = Layout("plate")
    p = [lay.point(f"p{k}", x) for k, x in enumerate(((0, 0, 0), (1, 0, 0), (0, 1, 0)))]
    with pytest.raises(ModelError, match="further vector"):
        lay.body("box", p, mass=1.0, centre=(0.5, 0.5, 0), inertia=(1.0, 1.0, 1.0))
    with pytest.raises(ModelError, match="further vector"):
        lay.body("bent", p[:2], mass=1.0, centre=(0.5, 0.5, 0))
    lay.body("lamina", p, mass=1.0, centre=(0.5, 0.5, 0), inertia=(1.0, 1.0, 2.0))
    with pytest.raises(ModelError, match="has no direction"):
        lay.body("dot", p[:1], mass=1.0)
    with pytest.raises(ModelError, match="two bodies"):
        lay.body("lamina", p, mass=1.0)


def test_a_point_that_is_not_in_the_plane_of_a_body_is_no_combination_of_it() -> None:
    lay = Layout("plate")
    # too near to the line of the others to span the body with them
    p = [lay.point(f"p{k}", (k, 0, 0)) for k in range(2)]
    with pytest.raises(ModelError, match="not a combination"):
        lay.body("line", [*p, lay.point("q", (5.0, 0.3, 0.0))])


def chain_model(bars: int) -> bl.Model:
    """The chain of `spatial_chain` as bodies and hinges."""
    from tests.equations.natural.laid import AXES, ENDS

    m = bl.Model("chain", gravity=(0, -9.81, 0))
    before, place = m.ground, np.zeros(3)
    for i in range(1, bars + 1):
        u = np.array(ENDS[i % 6]) - np.array(ENDS[(i - 1) % 6])
        I = (np.eye(3) - np.outer(u, u)) / 12
        bar = m.body(f"bar{i}", mass=1.0, com=tuple(u / 2.0), inertia=tuple(np.diag(I)))
        at = np.zeros(3) if i == 1 else np.array(ENDS[(i - 1) % 6]) - np.array(ENDS[(i - 2) % 6])
        m.joint("revolute", f"J{i}", before.at(*map(float, at)), bar, axis=AXES[(i - 1) % 6])
        before, place = bar, place + u
    return m


def test_the_chain_moves_as_the_same_chain_in_joint_coordinates() -> None:
    """From the same start, with the same rates of the joints: the same accelerations."""
    bars = 4
    lay, _, _ = spatial_chain(bars)
    system, joint = lay.system(), bl.formulate(chain_model(bars))
    rates = np.array([0.5, -1.2, 0.8, 2.0])
    instant = Instant(system, 0.0, system.inputs, system.parameters)
    q = np.array([e.value for e in system.q])
    names = [e.name for e in system.q]
    angles = [names.index(f"theta{k}") for k in range(1, bars + 1)]
    rows = instant.Phi_v(q)
    v = np.linalg.lstsq(
        np.concatenate([rows, np.eye(len(q))[angles]]),
        np.concatenate([np.zeros(len(rows)), rates]),
        rcond=None,
    )[0]
    a, _ = instant.motion(q, v)
    by_joints = Instant(joint, 0.0, joint.inputs, joint.parameters)
    expected, _ = by_joints.motion(np.zeros(bars), rates)
    np.testing.assert_allclose(a[angles], expected, rtol=1e-11)


def test_bricard_falls_as_its_particles_do_by_both_models() -> None:
    """At t = 0.25 s, against a linkage of one angle; the constraints of both are redundant."""
    turned, speeds, ends = five_bars.bricard(np.array([0.25]))
    for model, redundant in ((1, 2), (2, 1)):
        system = bricard(model).system()
        assert len(bl.assemble(system).redundant) == redundant
        instant = Instant(system, 0.0, system.inputs, system.parameters)
        q = np.array([e.value for e in system.q])
        v, names = np.zeros(len(q)), [e.name for e in system.q]
        # the classical method of order 4; redundant rows contradict each other off the constraints

        def onto(q: np.ndarray, v: np.ndarray, instant: Instant) -> tuple[np.ndarray, np.ndarray]:
            for _ in range(3):
                q = q - np.linalg.pinv(instant.Phi_v(q), 1e-3) @ instant.Phi(q)
            rows = instant.Phi_v(q)
            return q, v - np.linalg.pinv(rows, 1e-3) @ (rows @ v)

        h = 0.25 / 16
        for _ in range(16):
            k: list[tuple[np.ndarray, np.ndarray]] = []
            for c in (0.0, 0.5, 0.5, 1.0):
                x, w = (q, v) if not k else (q + c * h * k[-1][0], v + c * h * k[-1][1])
                x, w = onto(x, w, instant)
                k.append((w, instant.motion(x, w)[0]))
            q = q + h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0])
            v = v + h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1])
            q, v = onto(q, v, instant)
        p3 = [q[names.index(f"p3.{axis}")] for axis in "xyz"]
        np.testing.assert_allclose(p3, ends[0, 3], atol=2e-6)
        angles = [q[names.index(f"theta{k}")] for k in range(1, 6)]
        np.testing.assert_allclose(angles, turned[0] - np.pi / 2, atol=2e-6)
        assert v[names.index("theta1")] == pytest.approx(speeds[0], abs=2e-6)


def test_a_driven_four_bar_needs_the_torque_of_its_power() -> None:
    """The multiplier of the driver is the torque: its power is the change of energy."""
    lay = four_bar()
    lay.drive(lay.entities["alpha"], lambda t, p: p[0] + p[1] * t, (np.pi / 2, 2.0), owner="motor")
    system = lay.system()
    run = bl.kinematics(system, 1.0, step=1e-3)
    instant = Instant(system, 0.3, system.inputs, system.parameters)
    energies = []
    for k in (299, 301):
        energies.append(sum(system.evaluate("energy", run["q"][k], run["v"][k])))
    _, lam = instant.motion(run["q"][300], run["v"][300])
    power = -lam[system.multipliers.index("motor.law")] * 2.0
    assert power == pytest.approx((energies[1] - energies[0]) / 2e-3, rel=1e-5)


def test_springs_dampers_and_motors_act_on_relative_coordinates() -> None:
    """A mass on a slider: m s'' = -k (s - s0) - c s' + f."""
    lay = Layout("slide")
    o, v = lay.point("o", (0, 0, 0), fixed=True), lay.vector("v", (0.6, 0, 0.8), fixed=True)
    s = lay.relative("s", 0.5, "m")
    p = lay.point("p", 0.5 * np.array([0.6, 0, 0.8]))
    lay.slider(o, p, v, s)
    lay.particle("mass", p, 2.0)
    lay.spring(s, stiffness=30.0, rest=0.2, damping=4.0)
    lay.motor(s, 1.5)
    lay.force(p, (0.0, 7.0, 1.0))
    lay.rate(s, 0.3)
    system = lay.system()
    q, v0 = bl.assemble(system).q, np.array([0.3, 0.18, 0.0, 0.24])
    instant = Instant(system, 0.0, system.inputs, system.parameters)
    a, _ = instant.motion(q, v0)
    assert a[0] == pytest.approx((-30 * 0.3 - 4 * 0.3 + 1.5 + 0.8) / 2.0)
    run = bl.simulate(system, 0.01, step=1e-3)
    assert run["s_rate"][0] == pytest.approx(0.3)
    with pytest.raises(ModelError, match="fixed; nothing acts"):
        lay.spring(lay.relative("held", 0.1, "m", fixed=True), 1.0)


def test_a_strut_pulls_as_a_spring_on_its_distance_does() -> None:
    found = []
    for coordinate in (True, False):
        lay = Layout("strut", gravity=(0, 0, -9.81))
        o, p = lay.point("o", (0, 0, 0), fixed=True), lay.point("p", (0.3, 0.4, 1.2))
        lay.particle("mass", p, 2.0)
        if coordinate:
            lay.spring(lay.distance("s", o, p), 50.0, 1.0, 3.0)
        else:
            lay.strut(o, p, 50.0, 1.0, 3.0)
        system = lay.system()
        instant = Instant(system, 0.0, system.inputs, system.parameters)
        q = np.array([e.value for e in system.q])
        v = np.array([0.1, 0.2, -0.3, (0.03 + 0.08 - 0.36) / 1.3])[: len(q)]
        found.append(instant.motion(q, v)[0][:3])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_a_blow_turns_a_hinged_bar_by_its_moment() -> None:
    """ω = J L / (m L²/3), and the hinge takes the rest."""
    lay = Layout("bar")
    o, p = lay.point("o", (0, 0, 0), fixed=True), lay.point("p", (2, 0, 0))
    z, x = lay.vector("z", (0, 0, 1), fixed=True), lay.vector("x", (1, 0, 0), fixed=True)
    lay.rod("bar", o, p, 3.0)
    lay.dot(Segment(o, p), z)
    lay.angle("theta", x, Segment(o, p), z, "regular")
    system = lay.system()
    after = struck(system, {"p.x": 4.0, "p.y": 5.0, "p.z": 6.0})
    omega = 5.0 * 2 / (3.0 * 4 / 3)
    np.testing.assert_allclose(after, [0, 2 * omega, 0, omega], atol=1e-12)
    np.testing.assert_allclose(struck(system, {"theta": 10.0}), after, atol=1e-12)
    with pytest.raises(ModelError, match=r"no coordinate p\.w"):
        struck(system, {"p.w": 1.0})


def test_torsion_and_two_bending_springs_resist_on_their_own() -> None:
    """A body turned against the one before it by a small angle about each axis: M = -k angle."""
    stiffness = {"bending1": 50.0, "bending2": 30.0, "torsion": 20.0}
    for spring, axis in {"bending1": 2, "bending2": 1, "torsion": 0}.items():
        lay = Layout("joint")
        o = lay.point("o", (0, 0, 0), fixed=True)
        before = [lay.vector(n, d, fixed=True) for n, d in (("a0", (0, 1, 0)), ("b0", (0, 0, 1)))]
        p = lay.point("p", (1, 0, 0))
        a, b = lay.vector("a", (0, 1, 0)), lay.vector("b", (0, 0, 1))
        lay.body("rod", [o, p], [a, b], mass=1.0, inertia=(0.4, 0.5, 0.6))
        made = lay.joint_springs(
            "J", (before[0], before[1]), (Segment(o, p), a),
            torsion=(stiffness["torsion"], 0.0),
            bending=((stiffness["bending1"], 0.0), (stiffness["bending2"], 0.0)),
        )  # fmt: skip
        assert [c.name for c in made] == ["J.bending1", "J.bending2", "J.torsion"]
        system = lay.system()
        instant = Instant(system, 0.0, system.inputs, system.parameters)
        turn, small = np.zeros(3), 1e-4
        turn[axis] = small
        q = np.array([e.value for e in system.q])
        names = [e.name for e in system.q]
        for name in ("p", "a", "b"):
            at = np.array(lay.entities[name].start)
            turned = at * np.cos(small) + np.cross(turn / small, at) * np.sin(small)
            along = turn / small * (turn / small @ at) * (1 - np.cos(small))
            q[[names.index(f"{name}.{k}") for k in "xyz"]] = turned + along
        relative = [names.index(c.name) for c in made]
        for _ in range(5):
            q[relative] -= np.linalg.pinv(instant.Phi_v(q)[:, relative]) @ instant.Phi(q)
        assert abs(q[names.index(f"J.{spring}")]) == pytest.approx(small, rel=1e-6)
        acceleration, _ = instant.motion(q, np.zeros(len(q)))
        arms = {0: ("a", "z"), 1: ("p", "z"), 2: ("p", "y")}
        name, component = arms[axis]
        sign = -1.0 if axis == 1 else 1.0
        alpha = sign * acceleration[names.index(f"{name}.{component}")]
        inertia = {0: 0.4, 1: 0.5, 2: 0.6}[axis]
        assert alpha == pytest.approx(-stiffness[spring] * small / inertia, rel=1e-3)


def test_fixed_components_are_no_coordinates() -> None:
    lay = Layout("plane", plane="xz")
    p = lay.point("p", (1.0, 2.0), fixed="z")
    s = lay.relative("s", 0.3, "m", fixed=True)
    lay.particle("m", p, 1.0)
    system = lay.system()
    assert [e.name for e in system.q] == ["p.x"]
    assert (system.q[0].unit, system.v[0].unit) == ("m", "m/s")
    assert s.q.value == 0.3


def test_further_points_follow_the_body_in_the_plane() -> None:
    """A coupler point of a four-bar, by the two points of the coupler or by a vector of it."""
    lay = four_bar()
    p, q = lay.entities["p"], lay.entities["q"]
    tip = lay.point("tip", (0.5, 3.0))
    n = lay.vector("n", (0.0, 1.0))
    lay.body("plate", [p, q, tip], [n])
    system = lay.system()
    found = bl.assemble(system)
    assert found.mobility == 1 and not found.redundant
    rows = np.asarray(system.evaluate("Phi_v", found.q))
    v = np.linalg.svd(rows)[2][-1]
    at = {e.name: (x, w) for e, x, w in zip(system.q, found.q, v, strict=True)}
    u = np.array([at[f"q.{a}"][0] - at[f"p.{a}"][0] for a in "xy"])
    du = np.array([at[f"q.{a}"][1] - at[f"p.{a}"][1] for a in "xy"])
    omega = (u[0] * du[1] - u[1] * du[0]) / (u @ u)
    arm = np.array([at[f"tip.{a}"][0] - at[f"p.{a}"][0] for a in "xy"])
    expected = [at["p.x"][1] - omega * arm[1], at["p.y"][1] + omega * arm[0]]
    np.testing.assert_allclose([at["tip.x"][1], at["tip.y"][1]], expected, atol=1e-13)
    np.testing.assert_allclose([at["n.x"][1], at["n.y"][1]], [-omega, 0.0], atol=1e-13)


def test_a_layout_is_drawn_by_its_points() -> None:
    system = four_bar().system()
    assert system.drawing is not None
    lines = {line.name: (line.first, line.second) for line in system.drawing.links}
    q = np.array([e.value for e in system.q])
    points = np.asarray(system.evaluate("points", q))
    np.testing.assert_allclose(points[list(lines["coupler"])], [[0, 1, 0], [2, 2, 0]])
    assert set(lines) == {"crank", "coupler", "rocker"}
    poses = np.asarray(system.evaluate("poses", q))
    np.testing.assert_allclose(poses[system.frames.index("coupler"), :3], [0, 1, 0])
    np.testing.assert_allclose(poses[:, 3:].reshape(-1, 3, 3), [np.eye(3)] * 3, atol=1e-15)


def pendulum(written: str | None) -> Layout:
    """A rod of 1 m that turns about y, with its angle as a coordinate or without."""
    lay = Layout("pendulum", gravity=(0, 0, -9.81))
    o, p = lay.point("o", (0, 0, 0), fixed=True), lay.point("p", (1, 0, 0))
    x, y = lay.vector("x", (1, 0, 0), fixed=True), lay.vector("y", (0, 1, 0), fixed=True)
    lay.rod("rod", o, p, 1.0)
    lay.dot(Segment(o, p), y)
    if written:
        lay.angle("theta", x, Segment(o, p), y, written)
    return lay


@pytest.mark.parametrize("written", ["regular", "switched", "both"])
def test_generalised_alpha_moves_a_layout_with_an_angle_as_without(written: str) -> None:
    """The angle has no inertia: it changes no point, and follows as atan2 does."""
    options = {"formulation": "generalised_alpha", "step": 1e-3}
    bare = bl.simulate(pendulum(None).system(), 0.3, **options)
    run = bl.simulate(pendulum(written).system(), 0.3, **options)
    for name in ("p.x", "p.z"):
        np.testing.assert_allclose(run[name], bare[name], atol=1e-9)
    np.testing.assert_allclose(run["theta"], np.arctan2(-run["p.z"], run["p.x"]), atol=1e-9)
    assert run["theta"][-1] > 0.3


def test_generalised_alpha_takes_springs_and_drivers_on_angles() -> None:
    """A spring moves it as by another method, and the multiplier of a driver is its torque."""
    run = {}
    for formulation in ("generalised_alpha", "multipliers"):
        lay = pendulum("regular")
        lay.spring(lay.entities["theta"], 3.0, 0.2, 0.1)
        run[formulation] = bl.simulate(lay.system(), 0.2, formulation=formulation, step=2e-4)
    np.testing.assert_allclose(
        run["generalised_alpha"]["theta"], run["multipliers"]["theta"], atol=1e-6
    )
    lay = pendulum("regular")
    lay.drive(lay.entities["theta"], "t^2", owner="motor")
    system = lay.system()
    driven = bl.simulate(system, 0.2, formulation="generalised_alpha", step=1e-3)
    np.testing.assert_allclose(driven["theta"], driven.t**2, atol=1e-10)
    torque = driven.lam[-1][system.multipliers.index("motor.law")]
    # I θ'' = τ + m g l/2 cos θ about y
    expected = 2.0 / 3 - 9.81 / 2 * np.cos(0.04)
    assert -torque == pytest.approx(expected, rel=1e-6)


def test_a_driver_takes_a_law_as_a_model_does() -> None:
    lay = four_bar()
    lay.source.parameters(omega=2.0)
    lay.drive(lay.entities["alpha"], "90 deg + omega*t", owner="motor")
    system = lay.system()
    run = bl.kinematics(system, 0.5, step=0.1)
    alpha = [e.name for e in system.q].index("alpha")
    np.testing.assert_allclose(run["q"][:, alpha], np.pi / 2 + 2.0 * run["t"], atol=1e-9)


def test_misuse_of_a_layout_is_told_at_once() -> None:
    lay = pendulum("regular")
    o, p, theta = (lay.entities[name] for name in ("o", "p", "theta"))
    y, z = lay.vector("v", (0, 1, 0)), lay.vector("w", (0, 0, 1))
    for wrong, what in (
        (lambda: lay.drive(theta, "2*t +"), "the law of theta"),
        (lambda: lay.drive(theta, "2*omega"), "omega is no parameter"),
        (lambda: lay.drive(theta, "2 m"), "the law of theta"),
        (lambda: lay.drive(theta, None), "the law of theta: None is no law"),
        (lambda: lay.drive(p, "t", component="w"), "p has the components x, y, z, not 'w'"),
        (lambda: lay.rate(p, 1.0, "w"), "p has the components x, y, z, not 'w'"),
        (lambda: lay.rate(o, 1.0, "z"), "o.z is fixed and has no rate"),
        (lambda: lay.spring(p, 2.0), "NaturalPoint p is none"),
        (lambda: lay.vector("n", (0, 0, 0)), "vector n is zero"),
        (lambda: Segment(p, p), "point p to itself"),
        (lambda: lay.collinear(p, o, p), "NaturalPoint p has no direction"),
        (
            lambda: lay.body("b", [o, p], [y, z], mass=1.0, inertia=(1, 0.1, 0.1)),
            "body b: no body has the principal moments",
        ),
        (lambda: lay.rod("c", o, p, -1.0), "body c: a mass must be zero or positive"),
    ):
        with pytest.raises(ModelError, match=what):
            wrong()
