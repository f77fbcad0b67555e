"""Rotors: inertia along the coordinates of joints, in all ways to move a model."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy

import biela as bl
from biela.equations import SymbolicSystem
from biela.errors import ModelError
from tests.matrix.mechanisms import four_bar, space_arm
from tests.simulators_in_c import CompiledSimulator

Floats = npt.NDArray[np.float64]
Run = Callable[..., bl.Results]

G = 9.81


def _formulated(coordinates: str) -> Run:
    def run(model: bl.Model, duration: float, **more: Any) -> bl.Results:
        return bl.simulate(bl.formulate(model, coordinates), duration, **more)

    return run


def _looped(model: bl.Model, duration: float, **more: Any) -> bl.Results:
    return bl.simulate(model, duration, engine="looped", **more)


def _robot(model: bl.Model, duration: float, **more: Any) -> bl.Results:
    return bl.Robot(model).simulate(duration, **more)


WAYS: dict[str, Run] = {
    "joint": _formulated("joint"),
    "reference": _formulated("reference"),
    "euler": _formulated("euler"),
    "natural": _formulated("natural"),
    "looped": _looped,
    "groups": bl.group_simulation,
    "robot": _robot,
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))


def _integrated(accelerations: Callable[..., Floats], q: Any, v: Any, t: float, n: int) -> Floats:
    """Coordinates after a time t, by the classical Runge-Kutta method."""
    x, h = np.concatenate([np.atleast_1d(q), np.atleast_1d(v)]).astype(float), t / n
    half = len(x) // 2

    def slope(y: Floats) -> Floats:
        return np.concatenate([y[half:], accelerations(y[:half], y[half:])])

    for _ in range(n):
        a = slope(x)
        b = slope(x + h / 2 * a)
        c = slope(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + slope(x + h * c))
    return x[:half]


# ---------------------------------------------------------------------------- closed forms


def pendulum() -> bl.Model:
    m = bl.Model("pendulum", plane="xz")
    m.parameter("J", 0.3)
    rod = m.body("rod", mass=2.0, com=(0.5, 0, 0), inertia=0.05)
    m.joint("revolute", "pivot", m.ground, rod, axis="y", start=0.4, rates=0.5)
    m.rotors["pivot"] = "2*J"
    return m


@every_way
def test_a_rotor_adds_its_inertia_to_that_of_a_pendulum(way: Run) -> None:
    # (m l² + I + J) θ'' = m g l cos θ, with θ about y, below the horizontal
    inertia = 2.0 * 0.5**2 + 0.05 + 2 * 1.1
    results = way(pendulum(), 0.2, step=1e-3, parameters={"J": 1.1})
    (angle,) = _integrated(lambda q, v: 2.0 * G * 0.5 * np.cos(q) / inertia, 0.4, 0.5, 0.2, 200)
    rotation = results.frame("rod").orientation[-1]
    assert math.atan2(-rotation[2, 0], rotation[0, 0]) == pytest.approx(angle, abs=1e-11)
    assert results["kinetic energy"][0] == pytest.approx(inertia * 0.5**2 / 2, rel=1e-12)
    assert np.ptp(results["energy"]) < 1e-9


def slide_and_turn() -> bl.Model:
    m = bl.Model("slide_and_turn")
    a = m.body("a", mass=1.5, inertia=0.02)
    b = m.body("b", mass=0.8, inertia=(0.01, 0.02, 0.03), com=(0.1, 0.2, 0))
    m.joint(
        *("cylindrical", "C", m.ground, a),
        axis="z",
        start={"angle": 0.2, "displacement": 0.1},
        rates={"angle": 1.0, "displacement": 0.3},
    )
    m.joint("universal", "U", a.at(0.2, 0, 0), b, start={"first": 0.3, "second": 0.2},
            rates={"first": 1.0})  # fmt: skip
    m.rotors |= {"C.angle": 0.2, "C.displacement": 0.7, "U.first": 0.1, "U.second": 0.3}
    return m


@every_way
def test_joints_of_several_coordinates_have_a_rotor_for_each(way: Run) -> None:
    expected = WAYS["joint"](slide_and_turn(), 0.05, step=1e-3)
    found = way(slide_and_turn(), 0.05, step=1e-3)
    for body in ("a", "b"):
        np.testing.assert_allclose(
            found.frame(body).position, expected.frame(body).position, atol=1e-12
        )


def test_each_rotor_stands_alone_in_the_mass_matrix_of_a_tree() -> None:
    model, bare = slide_and_turn(), slide_and_turn()
    bare.rotors.clear()
    q = [0.3, -0.2, 0.5, 0.4]
    added = bl.formulate(model).evaluate("M", q) - bl.formulate(bare).evaluate("M", q)
    names = [entry.name for entry in bl.formulate(model).q]
    np.testing.assert_allclose(added, np.diag([model.rotors[name] for name in names]), atol=1e-15)


def double_pendulum() -> bl.Model:
    m = bl.Model("double_pendulum", plane="xz")
    a = m.body("a", mass=1.2, com=(0.2, 0, 0), inertia=0.02)
    b = m.body("b", mass=0.8, com=(0.15, 0, 0), inertia=0.01)
    m.joint("revolute", "A", m.ground, a, axis="y", start=0.4, rates=1.5)
    m.joint("revolute", "B", a.at(0.4, 0, 0), b, axis="y", start=-0.7, rates=-2.0)
    m.rotors |= {"A": 0.3, "B.angle": 0.07}
    return m


def _lagrange(T: Any, V: Any, q: list[Any], v: list[Any]) -> Callable[[Floats, Floats], Floats]:
    """Accelerations of energies, by SymPy."""
    L = T - V
    p = sympy.Matrix([L.diff(x) for x in v])
    M = p.jacobian(v)
    right = sympy.Matrix([L.diff(x) for x in q]) - p.jacobian(q) * sympy.Matrix(v)
    made = sympy.lambdify([*q, *v], [M, right])

    def accelerations(x: Floats, dx: Floats) -> Floats:
        M, right = made(*x, *dx)
        return np.linalg.solve(np.array(M, float), np.ravel(np.array(right, float)))

    return accelerations


@every_way
def test_a_double_pendulum_with_rotors_moves_as_lagrange_says(way: Run) -> None:
    a, b, da, db = q = list(sympy.symbols("a b da db"))
    place = sympy.Matrix([0.4 * sympy.cos(a), -0.4 * sympy.sin(a)])
    one = sympy.Matrix([0.2 * sympy.cos(a), -0.2 * sympy.sin(a)])
    two = place + 0.15 * sympy.Matrix([sympy.cos(a + b), -sympy.sin(a + b)])
    T = (0.02 * da**2 + 0.01 * (da + db) ** 2 + 0.3 * da**2 + 0.07 * db**2) / 2
    V = 0
    for mass, r in ((1.2, one), (0.8, two)):
        speed = r.jacobian([a, b]) * sympy.Matrix([da, db])
        T, V = T + mass * speed.dot(speed) / 2, V + mass * G * r[1]
    accelerations = _lagrange(T, V, q[:2], q[2:])
    x = _integrated(accelerations, [0.4, -0.7], [1.5, -2.0], 0.1, 400)
    at = [float(two.subs(dict(zip((a, b), x, strict=True)))[k]) for k in range(2)]
    results = way(double_pendulum(), 0.1, step=2.5e-4)
    R = results.frame("b").orientation[-1]
    centre = results.frame("b").position[-1] + R @ [0.15, 0, 0]
    np.testing.assert_allclose(centre[[0, 2]], at, atol=1e-11)


def slider_crank() -> bl.Model:
    m = bl.Model("slider_crank", plane="xz", gravity=(0, 0, 0))
    crank = m.body("crank", mass=0.9, com=(0.1, 0, 0), inertia=0.01)
    rod = m.body("rod", mass=0.6, com=(0.25, 0, 0), inertia=0.02)
    block = m.body("block", mass=0.4, inertia=0.001)
    m.joint("revolute", "A", m.ground, crank, axis="y", start=0.7, rates=5.0)
    m.joint("revolute", "B", crank.at(0.2, 0, 0), rod, axis="y")
    m.joint("revolute", "C", rod.at(0.5, 0, 0), block, axis="y")
    m.joint("prismatic", "D", m.ground, block, axis="x", start=0.6)
    m.rotors |= {"A": 0.03, "B": 0.005, "C": 0.004, "D": 0.3}
    return m


def _crank_inertia(a: float) -> float:
    """The reduced inertia of the slider crank, 2 T = I(a) a'², by finite differences."""

    def places(a: float) -> Floats:
        tilt = -math.asin(0.4 * math.sin(a))  # of the rod: its end stays in the axis
        x = 0.2 * math.cos(a) + 0.5 * math.cos(tilt)
        rod = [
            0.2 * math.cos(a) + 0.25 * math.cos(tilt),
            -0.2 * math.sin(a) - 0.25 * math.sin(tilt),
        ]
        return np.array([a, tilt, x, *rod, tilt - a, -tilt])

    h = 1e-3  # of eighth order
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    slope = sum(w * (places(a + k * h) - places(a - k * h)) for k, w in weights.items()) / h
    # crank about its hinge, rod and block; then the rotors of A, D, B, C
    weigh = [0.9 * 0.1**2 + 0.01 + 0.03, 0.02, 0.4 + 0.3, 0.6, 0.6, 0.005, 0.004]
    return float(np.dot(weigh, slope**2))


@pytest.mark.parametrize("way", [w for n, w in WAYS.items() if n != "robot"])
def test_a_slider_crank_with_rotors_keeps_its_kinetic_energy(way: Run) -> None:
    # without gravity I(a) a'² is constant, a rotor in each joint, also in those that close the loop
    results = way(slider_crank(), 0.1, step=1e-4)
    R = results.frame("crank").orientation
    angle = np.unwrap(np.arctan2(-R[:, 2, 0], R[:, 0, 0]))
    rate = results.frame("crank").angular_velocity[:, 1]
    for k in (0, len(angle) // 2, -1):
        assert _crank_inertia(angle[k]) * rate[k] ** 2 == pytest.approx(
            _crank_inertia(0.7) * 25.0, rel=1e-8
        )
    np.testing.assert_allclose(results["kinetic energy"], _crank_inertia(0.7) * 25.0 / 2, rtol=1e-8)


def test_robots_with_loops_move_by_their_recursions_as_they_are_simulated() -> None:
    m = four_bar()
    m.parameter("J", 0.1)
    m.rotors |= {"A": "J", "B": 0.1}
    robot = bl.Robot(m, parameters={"J": 0.7}, rotors={"B": 0.2})
    assert robot.rotors == {"A.angle": 0.7, "B.angle": 0.2}
    motion = robot.simulate(0.02, step=1e-3)
    m.rotors["B"] = 0.2
    np.testing.assert_array_equal(
        motion.q, bl.simulate(m, 0.02, step=1e-3, parameters={"J": 0.7}).q
    )
    a = robot.constrained_forward_dynamics(motion.q[-1], motion.v[-1], np.zeros(robot.nv))
    np.testing.assert_allclose(motion.a[-1], a, atol=1e-10)


def test_a_robot_refuses_a_rotor_of_a_joint_that_closes_a_loop() -> None:
    with pytest.raises(ModelError, match=r"joint \w closes a loop and has a rotor"):
        bl.Robot(slider_crank())


def test_a_rotor_along_a_speed_has_its_velocity_dependent_part() -> None:
    """A bead on a wire x = a², with inertia along the rate of x: the same as a mass."""

    def system(name: str) -> tuple[SymbolicSystem, Any]:
        s = SymbolicSystem(name)
        (a,) = s.coordinates("a")
        s.solid("bead", at=s.origin.offset("p", s.base.vector(a, 0, 0)), base=s.base, mass=1.0)
        return s, a

    s, a = system("rotor")
    s.rotor(2 * a * a.velocity, 0.7)
    other, b = system("mass")
    point = other.origin.offset("r", other.base.vector(0, b * b, 0))
    other.solid("further", at=point, base=other.base, mass=0.7)
    one, two = s.equations(), other.equations()
    np.testing.assert_allclose(one.mass([0.3]), two.mass([0.3]))
    np.testing.assert_allclose(one.forces([0.3], [1.1]), two.forces([0.3], [1.1]))
    for name in ("kinetic", "potential"):
        energies = [
            x.system["energy"].walk(0.0, [0.3], [1.1], [], [])[["kinetic", "potential"].index(name)]
            for x in (one, two)
        ]
        assert energies[0] == pytest.approx(energies[1])
    with pytest.raises(ModelError, match="no velocity is in it"):
        s.rotor(a, 0.7)
    with pytest.raises(ModelError, match="negative"):
        s.rotor(a.velocity, -0.7)


# ------------------------------------------------------------------------------ reactions


def driven_four_bar() -> bl.Model:
    m = four_bar()
    m.joints["A"].rates.clear()  # type: ignore[attr-defined]
    m.driver("rotary", "motor", coordinate="A.angle", law="0.5 + 0.7*sin(3*t)")
    m.rotors |= {"A": 0.3, "B": 0.1, "C": 0.05, "D": 0.2}
    return m


def test_motor_and_hinge_of_a_pendulum_share_its_torque_as_documented() -> None:
    m = pendulum()
    m.joints["pivot"].rates.clear()  # type: ignore[attr-defined]
    m.driver("rotary", "motor", coordinate="pivot", law="0.4 + 3*t^2")
    motion = bl.group_inverse_dynamics(m, 0.1, step=0.05)
    angle = 0.4 + 3 * motion.t**2
    torque = (2.0 * 0.5**2 + 0.05 + 0.6) * 6.0 - 2.0 * G * 0.5 * np.cos(angle)
    np.testing.assert_allclose(-np.ravel(motion["λ(motor.angle)"]), torque, rtol=1e-9)
    loads = bl.joint_reactions(m, motion)
    np.testing.assert_allclose(loads["motor"][1][:, 1], torque, rtol=1e-9)
    # the torque of the rotor acts along the coordinate, and is no part of the hinge
    np.testing.assert_allclose(loads["pivot"][1][:, 1], 0.0, atol=1e-12)


@pytest.mark.parametrize("coordinates", ["joint", "reference", "euler", "natural"])
def test_inverse_dynamics_and_reactions_are_those_of_groups(coordinates: str) -> None:
    m = driven_four_bar()
    system = bl.formulate(m, coordinates)
    motion = bl.inverse_dynamics(system, bl.kinematics(system, 0.02, step=2e-3))
    groups = bl.group_inverse_dynamics(m, 0.02, step=2e-3)
    one, two = (np.ravel(r["λ(motor.angle)"]) for r in (motion, groups))
    np.testing.assert_allclose(one, two, rtol=1e-10)
    assert np.abs(one - _bare_torque()).min() > 0.1
    loads, others = bl.joint_reactions(m, motion), bl.joint_reactions(m, groups)
    np.testing.assert_allclose(loads.wrenches, others.wrenches, atol=1e-9)


def _bare_torque() -> Floats:
    m = driven_four_bar()
    m.rotors.clear()
    return np.ravel(bl.group_inverse_dynamics(m, 0.02, step=2e-3)["λ(motor.angle)"])


@pytest.mark.parametrize("name", ["joint", "reference", "natural", "looped"])
def test_reaction_sensors_leave_the_torque_of_rotors_out(name: str) -> None:
    m = double_pendulum()
    m.sensor("reaction", "load", joint="A")
    results = WAYS[name](m, 0.01, step=1e-3)
    force, moment = bl.joint_reactions(m, results)["A"]
    for k, axis in enumerate("xyz"):
        np.testing.assert_allclose(results[f"load.f{axis}"], force[:, k], atol=1e-8)
    np.testing.assert_allclose(moment[:, 1], 0.0, atol=1e-10)


# ------------------------------------------------------------------- models and their names


def array() -> bl.Model:
    arm = double_pendulum()
    arm.name = "arm"
    arm.parameter("J", 0.1)
    arm.rotors = {"A": "J", "B.angle": "J/4"}
    m = bl.Model("array", plane="xz")
    m.parameter("K", 0.4)
    m.part("arms", arm, count=3, parameters={"J": np.array([0.1, 0.0, 0.5])}, shift=(1, 0, 0))
    m.part("one", arm, position=(0, 0, 1), parameters={"J": "K"})
    m.rotors["arms[1].B"] = "2*K"
    return m


@every_way
def test_rotors_of_parts_follow_parameters_and_yield_to_those_of_the_model(way: Run) -> None:
    expected = _formulated("joint")(array(), 0.05, step=1e-3, parameters={"K": 0.9})
    found = way(array(), 0.05, step=1e-3, parameters={"K": 0.9})
    alone = double_pendulum()
    for body, rotors in (
        ("arms[1].b", {"B": 1.8}),
        ("arms[2].b", {"A": 0.5, "B": 0.125}),
        ("one.b", {"A": 0.9, "B": 0.225}),
    ):
        alone.rotors = dict(rotors)
        single = _formulated("joint")(alone, 0.05, step=1e-3).frame("b")
        for results in (expected, found):
            rotation = results.frame(body).orientation
            np.testing.assert_allclose(rotation, single.orientation, atol=1e-10)


def test_of_two_names_of_one_coordinate_the_last_one_holds() -> None:
    m = pendulum()
    m.rotors["pivot.angle"] = 0.0
    bare = pendulum()
    bare.rotors.clear()
    expected = bl.simulate(bare, 0.05, step=1e-3).frame("rod").orientation
    for name in ("joint", "looped", "groups", "robot"):
        found = WAYS[name](m, 0.05, step=1e-3).frame("rod").orientation
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "inertia", "message"),
    [
        ("ball", 0.1, "rotor of ball: 'ball' is not one coordinate"),
        ("elbow", 0.1, "rotor of elbow: "),
        ("hinge.way", 0.1, "rotor of hinge.way: 'hinge.way' is not one coordinate"),
        ("hinge", -0.1, "zero or more, not -0.1"),
        ("hinge", "-J", "zero or more, not "),
    ],
)
def test_rotors_that_cannot_be_are_refused_by_their_name(
    name: str, inertia: Any, message: str
) -> None:
    m = bl.Model("refused")
    m.parameter("J", 0.2)
    a, b = (m.body(n, mass=1.0, inertia=0.1, com=(0.1, 0, 0)) for n in "ab")
    m.joint("spherical", "ball", m.ground, a)
    m.joint("revolute", "hinge", a.at(0.2, 0, 0), b, axis="y")
    m.rotors[name] = inertia
    for way in WAYS.values():
        with pytest.raises(ModelError, match=message):
            way(m, 0.1, step=0.01)
    assert any("rotor of" in finding.text for finding in bl.check(m).findings)


# ---------------------------------------------------------------- what stands on equations


def test_modes_at_rest_know_rotors_in_all_coordinates() -> None:
    m = pendulum()
    m.joints["pivot"].start["angle"] = math.pi / 2  # type: ignore[attr-defined]
    m.joints["pivot"].rates.clear()  # type: ignore[attr-defined]
    frequency = math.sqrt(2.0 * G * 0.5 / (2.0 * 0.5**2 + 0.05 + 0.6))
    for coordinates in ("joint", "reference", "euler", "natural"):
        found = bl.linearise(bl.formulate(m, coordinates)).eigenvalues
        assert sorted(x.imag for x in found) == pytest.approx([-frequency, frequency], rel=1e-7)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_exported_simulators_have_rotors(tmp_path: Path) -> None:
    m = four_bar()
    m.parameter("J", 0.1)
    m.rotors |= {"A": "J", "C": 0.1}
    exported = CompiledSimulator(m, tmp_path, step=1e-3)
    states = exported.trajectory(20)
    motion = bl.simulate(m, 0.02, step=1e-3)
    np.testing.assert_allclose(states[-1], [*motion.q[-1], *motion.v[-1]], atol=1e-7)
    assert len(motion.q[-1]) == 3


def test_coordinates_without_rotors_are_as_they_were() -> None:
    m = space_arm()
    m.rotors["A"] = 0.0
    for coordinates in ("joint", "reference"):
        one, two = bl.formulate(m, coordinates), bl.formulate(space_arm(), coordinates)
        assert [q.name for q in one.q] == [q.name for q in two.q]
        assert one["M"].count == two["M"].count


# ------------------------------------------------------------------------------- what they can be


def _arm() -> bl.Model:
    m = bl.Model("arm")
    rod = m.body("rod", mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "A", m.ground, rod, axis="y")
    return m


@pytest.mark.parametrize("given", [1.0, "0.01", None, [("A", 0.01)], {3: 1.0}])
def test_rotors_are_a_mapping_of_names(given: Any) -> None:
    m = _arm()
    with pytest.raises(ModelError, match=r"arm: rotors are "):
        m.rotors = given
    assert m.rotors == {}
    m.rotors["A"] = 0.25
    m.rotors = {"A.angle": "0.5", **m.rotors}
    assert m.rotors == {"A.angle": "0.5", "A": 0.25}


@pytest.mark.parametrize(
    "inertia", [-1, "-1", 10**400, [0.01], b"0.01", True, None, math.nan, math.inf, "lost"]
)
def test_a_rotor_that_cannot_be_read_replaces_no_file(inertia: Any, tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text("what was there")
    m, whole = _arm(), bl.Model("whole")
    m.rotors = {"A": inertia}
    whole.part("left", m)
    for model in (m, whole):
        with pytest.raises(ModelError, match="arm: rotor of A: "):
            bl.save_model(model, path)
    m.rotors = {"B": 0.1}
    with pytest.raises(ModelError, match="arm: rotor of B: there is no such joint"):
        bl.save_model(m, path)
    assert path.read_text() == "what was there"


def test_rotors_of_numpy_are_written_as_numbers(tmp_path: Path) -> None:
    m = _arm()
    m.rotors["A"] = np.float64(0.01)
    bl.save_model(m, tmp_path / "arm.toml")
    assert bl.load_model(tmp_path / "arm.toml").rotors == {"A": 0.01}
