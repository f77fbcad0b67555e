"""Forces against closed forms: powers of energies and dampers, balance, oscillators, friction."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis import simulate
from biela.equations import System
from biela.equations.formulate import formulate
from biela.errors import ModelError
from biela.model import Model
from tests.model.motions import (
    COORDINATES,
    marked,
    possible_state,
    random_state,
    rotation_log,
    slope,
    two_bodies,
)

K, C = (300.0, 200.0, 100.0), (3.0, 2.0, 1.0)
TURN_K, TURN_C = (30.0, 20.0, 10.0), (0.3, 0.2, 0.1)
REST = (0.1, -0.2, 0.3)
CURVE = ((-0.5, -40.0), (0.0, 0.0), (0.2, 5.0), (1.0, 90.0))


def elastic() -> Model:
    """Every force that has a potential."""
    m = two_bodies("elastic")
    marked(m)
    line = {"i": "a.a1", "j": "b.b1"}
    m.force("spring_damper", "spring", **line, stiffness=120.0, length=0.7)
    m.force("spring_damper", "gap", i="ground.g", j="b.b2", stiffness=50.0)
    m.force("spring_damper", "curve", i="a.a2", j="b.b2", length=0.9, characteristic=CURVE)
    m.force("spring_damper", "cable", **line, stiffness=80.0, length=0.8, only="tension")
    m.force("spring_damper", "slack", **line, stiffness=80.0, length=4.0, only="tension")
    m.force("spring_damper", "buffer", **line, stiffness=70.0, length=2.0, only="compression")
    m.force(
        "bushing",
        "bush",
        i="a.a2",
        j="b.b1",
        stiffness=K,
        rest=REST,
        torsional_stiffness=TURN_K,
    )
    m.force("torsional", "bar", coordinate="U.first", stiffness=15.0, rest=0.4)
    m.force("torsional", "bent", coordinate="C.angle", characteristic=CURVE)
    m.force("axial", "coil", coordinate="C.displacement", stiffness=25.0, rest=-0.2)
    m.force(
        "stop",
        "shallow",
        coordinate="C.displacement",
        lower=0.1,
        upper=0.2,
        stiffness=900.0,
        depth=2.0,
    )
    m.force("stop", "deep", coordinate="U.second", lower=-0.1, upper=0.1, stiffness=90.0)
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_forces_with_a_potential_have_its_power(coordinates):
    system = formulate(elastic(), coordinates)
    for seed in range(4):
        t, q, v = random_state(system, seed)
        Q = system.evaluate("Q", q)

        def potential(t, q):
            return system.evaluate("energy", q)[1]

        power = -slope(potential, system, t, q, v)
        np.testing.assert_allclose(Q @ v, power, rtol=1e-7)


def rows(system: System, q, *names):
    """Position and axes of frames."""
    poses = system.evaluate("poses", q)
    found = [poses[system.frames.index(name)] for name in names]
    return [(row[:3], row[3:].reshape(3, 3)) for row in found]


def test_energies_are_those_of_the_springs():
    m = elastic()
    system = formulate(m, "joint")
    _, q, _ = random_state(system, 2)
    (g, _), (a1, _), (a2, A2), (b1, B1), (b2, _) = rows(
        system, q, "ground.g", "a.a1", "a.a2", "b.b1", "b.b2"
    )
    by_name = dict(zip([x.name for x in system.q], q, strict=True))
    l, bent = np.linalg.norm(b1 - a1), np.linalg.norm(b2 - a2) - 0.9

    def area(x):
        grid = np.unique(
            np.concatenate([np.linspace(0, x, 3), [c for c, _ in CURVE if 0 < c / x < 1]])
        )
        grid = grid if x > 0 else grid[::-1]
        return np.trapezoid(line(grid), grid)

    def line(x):
        c, f = np.array(CURVE).T
        low, high = (f[1] - f[0]) / (c[1] - c[0]), (f[-1] - f[-2]) / (c[-1] - c[-2])
        return np.interp(x, c, f) + low * np.minimum(x - c[0], 0) + high * np.maximum(x - c[-1], 0)

    gap = A2.T @ (b1 - a2) - REST
    phi = rotation_log(A2.T @ B1)
    s, second = by_name["C.displacement"], by_name["U.second"]
    depth = max(s - 0.2, 0.1 - s, 0.0)
    assert depth < 2.0
    over = abs(second) - 0.1
    assert over > 1e-3
    expected = (
        60 * (l - 0.7) ** 2
        + 25 * np.sum((b2 - g) ** 2)
        + area(bent)
        + 40 * max(l - 0.8, 0) ** 2
        + 40 * max(l - 4.0, 0) ** 2
        + 35 * min(l - 2.0, 0) ** 2
        + np.array(K) @ gap**2 / 2
        + np.array(TURN_K) @ phi**2 / 2
        + 7.5 * (by_name["U.first"] - 0.4) ** 2
        + area(by_name["C.angle"])
        + 12.5 * (s + 0.2) ** 2
        + 900 * depth**3 / 12
        + 90 * (over**2 / 2 - over * 1e-3 / 2 + 1e-6 / 6)
    )
    assert system.evaluate("energy", q)[1] == pytest.approx(expected, rel=1e-12)


def dissipative() -> Model:
    """Every force that takes energy, without springs."""
    m = two_bodies("dissipative")
    marked(m)
    m.force("spring_damper", "damper", i="a.a1", j="b.b1", damping=4.0)
    m.force("spring_damper", "taut", i="a.a1", j="b.b2", damping=2.0, length=0.1, only="tension")
    m.force("bushing", "bush", i="a.a2", j="b.b1", damping=C, torsional_damping=TURN_C)
    m.force("torsional", "oil", coordinate="U.first", damping=0.7)
    m.force("axial", "pot", coordinate="C.displacement", damping=0.9)
    m.force(
        "friction",
        "dry",
        coordinate="C.angle",
        kinetic=2.0,
        static=3.0,
        viscous=0.4,
        transition=0.5,
    )
    m.force("drag", "air", marker="b.b2", area=0.5, coefficient=1.1)
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_dampers_and_friction_take_the_power_of_their_rates(coordinates):
    m = dissipative()
    system = formulate(m, coordinates)
    tree = formulate(m, "joint")
    for seed in range(3):
        q, v = possible_state(m, system, coordinates, seed)
        _, _, rates = random_state(tree, seed)
        rate = dict(zip([x.name for x in tree.q], rates, strict=True))

        def measured(t, q):
            (a1, _), (a2, A2), (b1, B1), (b2, _) = rows(system, q, "a.a1", "a.a2", "b.b1", "b.b2")
            l, m = np.linalg.norm(b1 - a1), np.linalg.norm(b2 - a1)
            return np.array([l, m, *(A2.T @ (b1 - a2)), *b2, *(A2.T @ B1).ravel()])

        d = slope(measured, system, 0.0, q, v)
        # R' Rᵀ holds the angular velocity along the axes of the first marker
        W = d[8:].reshape(3, 3) @ measured(0.0, q)[8:].reshape(3, 3).T
        x = rate["C.angle"] / 0.5
        dry = 2 * np.tanh(4 * x) + x / (x**2 / 4 + 0.75) ** 2 + 0.4 * rate["C.angle"]
        # a cable does not push: its damper acts while it grows longer
        taken = (
            4 * d[0] ** 2
            + 2 * max(d[1], 0) ** 2
            + np.array(C) @ d[2:5] ** 2
            + np.array(TURN_C) @ np.array([W[2, 1], W[0, 2], W[1, 0]]) ** 2
            + 0.7 * rate["U.first"] ** 2
            + 0.9 * rate["C.displacement"] ** 2
            + dry * rate["C.angle"]
            + 0.5 * 1.225 * 0.5 * 1.1 * np.linalg.norm(d[5:8]) ** 3
        )
        # what inertia adds to Q is even in the velocities; so is half of the cable
        there, back = (system.evaluate("Q", q, s * v) for s in (1, -1))
        even = 2 * max(d[1], 0) ** 2 - 2 * max(-d[1], 0) ** 2
        power = (there - back) @ v / 2
        np.testing.assert_allclose(power, -taken + even / 2, rtol=1e-7)


def test_forces_between_two_bodies_leave_nothing_over():
    m = two_bodies("balance")
    marked(m)
    m.force(
        "spring_damper",
        "spring",
        i="a.a1",
        j="b.b1",
        stiffness=30.0,
        length=0.2,
        damping=2.0,
        force="3 + t",
    )
    m.force(
        "bushing",
        "bush",
        i="b.b2",
        j="a.a2",
        stiffness=K,
        damping=C,
        torsional_stiffness=TURN_K,
        torsional_damping=TURN_C,
    )
    m.force("wrench", "w", marker="a.a1", fx="2", mz="t", along="b.b1", reaction="b.b2")
    m.force("torsional", "t", coordinate="C.angle", damping=2.0, force="5*t")
    system = formulate(m, "reference")
    t, q, v = random_state(system, 7)
    free = formulate(two_bodies("balance"), "reference")
    Q = system.evaluate("Q", q, v, t=t) - free.evaluate("Q", q, v)
    force, moment = np.zeros(3), np.zeros(3)
    for body, k in (("a", 0), ("b", 6)):
        R = system.evaluate("poses", q)[system.frames.index(body), 3:].reshape(3, 3)
        r = q[{"a": 0, "b": 7}[body] :][:3]
        force += Q[k : k + 3]
        moment += np.cross(r, Q[k : k + 3]) + R @ Q[k + 3 : k + 6]
        assert np.abs(Q[k : k + 6]).min() > 0.1
    np.testing.assert_allclose(force, 0, atol=1e-11)
    np.testing.assert_allclose(moment, 0, atol=1e-11)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("along", (None, "b.b1", "a.a2"))
def test_a_wrench_has_the_power_of_its_components(coordinates, along):
    m = two_bodies("pushed")
    marked(m)
    components = dict(
        zip(("fx", "fy", "fz", "mx", "my", "mz"), (1, "2*t", -3, 4, "t^2", 6), strict=True)
    )
    m.force("wrench", "w", marker="b.b1", along=along, **components)
    system = formulate(m, coordinates)
    t, q, v = random_state(system, 3)
    F, M = np.array([1, 2 * t, -3]), np.array([4, t**2, 6])
    R = np.eye(3) if along is None else rows(system, q, along)[0][1]
    twist = system.evaluate("twists", q, v)[system.frames.index("b.b1")]
    Q = system.evaluate("Q", q, t=t)
    assert Q @ v == pytest.approx(R @ F @ twist[:3] + R @ M @ twist[3:], rel=1e-11)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_an_actuator_is_an_input_or_a_law(coordinates):
    m = two_bodies("actuated")
    m.force("actuator", "motor", coordinate="C.angle", value="2 N*m")
    m.force("actuator", "servo", coordinate="U.first", gear=3.0, limit=1.5)
    m.force("actuator", "timed", coordinate="C.displacement", law="5*t")
    marked(m)
    m.force("spring_damper", "jack", i="ground.g", j="b.b1", actuated=True, force="t")
    system = formulate(m, coordinates)
    assert [(u.name, u.unit, u.value) for u in system.u] == [
        ("motor", "N m", 2.0),
        ("servo", "", 0.0),
        ("jack", "N", 0.0),
    ]
    q, v = possible_state(m, system, coordinates, 4)
    tree = formulate(m, "joint")
    rate = dict(zip([x.name for x in tree.q], random_state(tree, 4)[2], strict=True))
    length = slope(
        lambda t, q: np.linalg.norm(
            rows(system, q, "b.b1")[0][0] - rows(system, q, "ground.g")[0][0]
        ),
        system,
        0.0,
        q,
        v,
    )
    for servo, given in ((1.0, 3.0), (7.0, 4.5), (-7.0, -4.5)):
        power = system.evaluate("Q", q, t=0.6, u=[2.5, servo, 20.0]) @ v
        expected = (
            2.5 * rate["C.angle"]
            + given * rate["U.first"]
            + 3.0 * rate["C.displacement"]
            + 20.6 * length
        )
        assert power == pytest.approx(expected, rel=1e-9)


def sliders() -> Model:
    """Blocks on rails along x, each with something else to hold it; gravity is along -z."""
    m = Model("sliders")
    for k, name in enumerate(("free", "damped", "dry", "stopped", "loaded")):
        block = m.body(name, mass=2.0, inertia=(0.1, 0.1, 0.1))
        m.joint("prismatic", f"{name}_rail", (m.ground, (0, k, 0)), block, axis="x")
    m.force("axial", "k1", coordinate="free_rail", stiffness=18.0)
    m.force("axial", "k2", coordinate="damped_rail", stiffness=50.0, damping=4.0)
    m.force("friction", "f", coordinate="dry_rail", kinetic=3.0, transition=0.02)
    m.force("stop", "end", coordinate="stopped_rail", upper=0.5, stiffness=5000.0, depth=0.01)
    m.force("friction", "g", coordinate="loaded_rail", coefficient=0.2, transition=0.02)
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_blocks_move_as_the_closed_forms_say(coordinates):
    system = formulate(sliders(), coordinates)
    start = {"free": 0.3, "damped": 0.2, "dry": 0.0, "stopped": 0.0, "loaded": 0.0}
    speed = {"free": 0.0, "damped": 0.0, "dry": 1.5, "stopped": 2.0, "loaded": 1.5}
    names_q, names_v = [x.name for x in system.q], [x.name for x in system.v]

    def of(name, k, names):
        options = (
            f"{name}_rail.displacement",
            f"{name}_rail.displacement_rate",
            f"{name}.rx",
            f"{name}.rx_rate",
        )
        return next(n for n in options if n in names)

    found = simulate(
        system,
        1.5,
        tolerance=1e-10,
        output=0.001,
        q={of(n, 0, names_q): x for n, x in start.items()},
        v={of(n, 1, names_v): x for n, x in speed.items()},
    )
    x = {n: np.asarray(found[of(n, 0, names_q)]) for n in start}
    t = np.asarray(found.t)
    np.testing.assert_allclose(x["free"], 0.3 * np.cos(3 * t), atol=1e-7)
    decay, omega = 1.0, np.sqrt(24.0)
    damped = 0.2 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(x["damped"], damped, atol=1e-7)
    # m v' = -F tanh(4 v / v_t): the way to rest is m/F (v²/2 + (v_t/4)² π²/12)
    way = 1.5**2 / 2 + (0.02 / 4) ** 2 * np.pi**2 / 12
    assert x["dry"][-1] == pytest.approx(2.0 / 3.0 * way, abs=1e-7)
    assert x["loaded"][-1] == pytest.approx(way / (0.2 * 9.81), abs=1e-7)
    # all motion is in the spring where the block turns: k (x²/2 - x d/2 + d²/6) = m v²/2
    d, energy = 0.01, 2.0 * 2.0**2 / 2 / 5000.0
    depth = d / 2 + np.sqrt(d**2 / 4 + 2 * (energy - d**2 / 6))
    assert depth > d
    met = [event.time for event in found.events if event.name == "end.upper"]
    assert met[0] == pytest.approx(0.25, abs=1e-7)
    assert len(met) == 2
    away = (x["stopped"][-1] - 0.5) / (t[-1] - met[1])
    assert away == pytest.approx(-2.0, rel=1e-6)
    # between two instants the block, slowed by k (depth - d/2) / m, goes no further than this
    missed = 5000.0 * (depth - d / 2) / 2.0 * 0.0005**2 / 2
    assert 0.5 + depth - missed < x["stopped"].max() < 0.5 + depth + 1e-7


def test_a_bushing_turns_back_by_stiffness_times_angle_at_any_angle():
    m = Model("mount", gravity=(0, 0, 0))
    m.body("block", mass=1.0, inertia=(0.1, 0.2, 0.3))
    m.force("bushing", "bush", i="ground", j="block", torsional_stiffness=TURN_K)
    system = formulate(m, "reference")
    # sin²(φ/2) = 0.01, where a series takes over, is at 0.2003 rad
    for angle in (0.0, 1e-9, 1e-3, 0.2, 0.2003348, 0.21, 1.0, 3.0):
        for k in range(3):
            q = np.zeros(7)
            q[3], q[4 + k] = np.cos(angle / 2), np.sin(angle / 2)
            expected = np.zeros(6)
            expected[3 + k] = -TURN_K[k] * angle
            np.testing.assert_allclose(system.evaluate("Q", q), expected, rtol=1e-12, atol=1e-13)


def test_settings_may_be_texts_with_units_and_parameters():
    energies = []
    for k, l in ((250.0, 0.3), ("2*k", "300 mm")):
        m = two_bodies("units")
        marked(m)
        m.parameter("k", "0.125 kN/m")
        m.force("spring_damper", "s", i="a.a1", j="b.b1", stiffness=k, length=l)
        m.force("stop", "e", coordinate="C.angle", stiffness="5 N*m/rad", upper="-180 deg")
        system = formulate(m)
        _, q, _ = random_state(system, 1)
        energies.append(system.evaluate("energy", q)[1])
    assert energies[0] == pytest.approx(energies[1], rel=1e-14)


def test_friction_has_its_peak_at_the_transition_speed():
    m = Model("slider", gravity=(0, 0, 0))
    block = m.body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("prismatic", "rail", m.ground, block, axis="x")
    m.force("friction", "f", coordinate="rail", kinetic=2.0, static=3.0, transition=0.1)
    system = formulate(m)
    speeds = np.linspace(0, 3, 3001)
    Q = np.array([system.evaluate("Q", [0.0], [v])[0] for v in speeds])
    top = speeds[np.argmin(Q)]
    assert top == pytest.approx(0.1, abs=0.002)
    assert -Q.min() == pytest.approx(3.0, abs=2e-3)
    assert -Q[-1] == pytest.approx(2.0, abs=1e-3)
    assert system.evaluate("Q", [0.0], [-0.4])[0] == -system.evaluate("Q", [0.0], [0.4])[0]


@pytest.mark.parametrize("part", [0.25, 1.0, 3.0])
def test_friction_under_load_is_highest_at_the_transition_speed(part):
    """A block of weight N on a rail, at v = part v_t, by the curve of Brown and McPhee.

    m v' = -μ N tanh(4 v/v_t) - (μ_s - μ) N (v/v_t) / ((v/v_t)²/4 + 3/4)².
    """
    m = Model("block", gravity=(0, 0, -10))
    block = m.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.joint("prismatic", "rail", m.ground, block, axis="x")
    m.force(
        "friction",
        "rub",
        coordinate="rail",
        coefficient=0.2,
        static_coefficient=0.5,
        kinetic=1.0,
        static=1.4,
        transition=0.05,
    )
    kinetic, static = 1.0 + 0.2 * 20.0, 1.4 + 0.5 * 20.0
    braked = kinetic * np.tanh(4 * part) + (static - kinetic) * part / (part**2 / 4 + 0.75) ** 2
    for coordinates in COORDINATES:
        system = formulate(m, coordinates)
        name = next(
            e.name for e in system.v if e.name in ("rail.displacement_rate", "block.rx_rate")
        )
        found = simulate(system, 1e-4, step=1e-4, v={name: part * 0.05})
        k = [e.name for e in system.v].index(name)
        assert found.a[0][k] == pytest.approx(-braked / 2.0, rel=1e-9)


def test_a_loaded_pin_brakes_by_radius_and_reaction():
    """A disc of weight 20 N, 0.3 m out on its pin: μ r (|F| + 2 |M| / b) brakes it."""
    for coordinates, span in zip(COORDINATES, (0.5, None), strict=True):
        m = Model("disc", gravity=(0, 0, -10))
        disc = m.body("disc", mass=2.0, com=(0.0, 0.3, 0.0), inertia=(0.1, 0.1, 0.1))
        m.joint("revolute", "pin", m.ground, disc, axis="y")
        m.force(
            "friction",
            "f",
            coordinate="pin.angle",
            coefficient=0.3,
            radius=0.05,
            span=span,
            transition=1e-3,
        )
        system = formulate(m, coordinates)
        found = simulate(system, 0.5, v={"disc.own_wy": 10.0}, tolerance=1e-9)
        load = 20.0 + (0.0 if span is None else 2 * 20.0 * 0.3 / span)
        slowed = 10.0 - 0.3 * 0.05 * load / 0.1 * np.asarray(found.t)
        np.testing.assert_allclose(found["disc.wy"], slowed, atol=1e-5)


def test_a_stop_never_pulls():
    m = Model("slider", gravity=(0, 0, 0))
    block = m.body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("prismatic", "rail", m.ground, block, axis="x")
    m.force(
        "stop",
        "end",
        coordinate="rail",
        lower=-1.0,
        upper=1.0,
        stiffness=100.0,
        damping=50.0,
        depth=0.1,
    )
    system = formulate(m)
    assert system.events == ("end.lower", "end.upper")
    for x in np.linspace(0.9, 1.3, 41):
        for v in np.linspace(-5, 5, 21):
            up, low = system.evaluate("Q", [x], [v])[0], system.evaluate("Q", [-x], [-v])[0]
            assert up <= 0.0
            assert low == pytest.approx(-up)
    # d = 0.1 deep: k d / 2 + c v
    assert system.evaluate("Q", [1.1], [2.0])[0] == pytest.approx(-(5.0 + 100.0))
    assert system.evaluate("Q", [1.0], [2.0])[0] == 0.0


def test_wrong_settings_of_forces_are_refused():
    m = two_bodies()
    marked(m)
    ends = {"i": "a.a1", "j": "b.b1"}
    with pytest.raises(ModelError, match='use "tension" or "compression"'):
        m.force("spring_damper", "F", **ends, only="both")
    with pytest.raises(ModelError, match="one of them"):
        m.force("spring_damper", "F", **ends, stiffness=1.0, characteristic=CURVE)
    with pytest.raises(ModelError, match="both its ends are on body a"):
        m.force("spring_damper", "F", i="a.a1", j="a.a2", stiffness=1.0)
    with pytest.raises(ModelError, match="three values"):
        m.force("bushing", "F", **ends, stiffness=(1.0, 2.0))
    with pytest.raises(ModelError, match="lower or an upper"):
        m.force("stop", "F", coordinate="C.angle", stiffness=1.0)
    with pytest.raises(ModelError, match="not below"):
        m.force("stop", "F", coordinate="C.angle", stiffness=1.0, lower=2.0, upper=1.0)
    with pytest.raises(ModelError, match="transition speed"):
        m.force("friction", "F", coordinate="C.angle", transition=0.0)
    with pytest.raises(ModelError, match="no component"):
        m.force("wrench", "F", marker="b.b1")
    with pytest.raises(ModelError, match="acts and reacts"):
        m.force("wrench", "F", marker="b.b1", fx="1", reaction="b.b2")


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    (
        ("torsional", {"coordinate": "C.displacement", "stiffness": 1.0}, "coordinate in rad"),
        ("axial", {"coordinate": "C.angle", "stiffness": 1.0}, "coordinate in m"),
        ("friction", {"coordinate": "C.angle", "coefficient": 0.1}, "needs the radius"),
        (
            "friction",
            {"coordinate": "C.displacement", "coefficient": 0.1, "radius": 1.0},
            "has no radius",
        ),
        ("actuator", {"coordinate": "C.angle", "value": "3 N"}, "torque"),
        ("torsional", {"coordinate": "C.angle", "characteristic": ((1, 2), (0, 3))}, "increasing"),
    ),
)
def test_what_a_force_cannot_do_is_named(kind, settings, message):
    m = two_bodies()
    m.force(kind, "F", **settings)
    with pytest.raises(ModelError, match=message):
        formulate(m)
