"""Forces in joints: statics by hand, power balance, redundant hinges, one motion in two ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.forces import GroupForces
from biela.analysis.groups.solver import GroupSolver
from biela.errors import ModelError

G = 9.81


def crank(law: str = "3*t") -> bl.Model:
    m = bl.Model("crank")
    rod = m.body("rod", mass=2.0, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    m.joint("revolute", "pivot", m.ground, rod, axis="y")
    m.driver("rotary", "motor", coordinate="pivot", law=law)
    return m


def slider_crank(plane: str | None = None) -> bl.Model:
    m = bl.Model("slider_crank", plane=plane)
    wheel = m.body("wheel", mass=2.0, com=(0.02, 0, 0), inertia=(0.02, 0.02, 0.02))
    rod = m.body("rod", mass=0.6, com=(0.15, 0, 0), inertia=(0.0045, 0.0045, 0.0045))
    piston = m.body("piston", mass=0.5, inertia=1e-3, position=(0.4, 0, 0))
    m.joint("revolute", "A", m.ground, wheel, axis="y")
    m.joint("revolute", "B", wheel.at(0.1, 0, 0), rod, axis="y")
    m.joint("revolute", "C", rod.at(0.3, 0, 0), piston, axis="y")
    m.joint("prismatic", "slide", m.ground, piston, axis="x")
    m.driver("rotary", "motor", coordinate="A", law="0.3 + 6*t + t^2")
    return m


def test_a_turning_crank_is_held_by_its_bearing() -> None:
    """F = m (a_c - g): weight and centripetal force; the motor carries m g c cos θ + I θ''."""
    m = crank("3*t + t^2/2")
    motion = bl.kinematics(m, 1.0, step=0.1)
    loads = bl.joint_reactions(m, motion)
    theta, rate, slope = 3 * motion.t + motion.t**2 / 2, 3 + motion.t, 1.0
    c = 0.3
    # a turn by θ about y takes x to (cos θ, 0, -sin θ)
    out = np.stack([np.cos(theta), 0 * theta, -np.sin(theta)], axis=1)
    along = np.stack([-np.sin(theta), 0 * theta, -np.cos(theta)], axis=1)
    centre = c * (along * slope - out * rate[:, None] ** 2)
    np.testing.assert_allclose(loads["pivot"][0], 2.0 * (centre + np.array([0, 0, G])), atol=1e-10)
    torque = (0.05 + 2.0 * c**2) * slope - 2.0 * G * c * np.cos(theta)
    np.testing.assert_allclose(loads["motor"][1][:, 1], torque, atol=1e-10)
    assert loads.determinate.all()


@pytest.mark.parametrize("plane", [None, "xz"])
def test_the_motor_brings_what_the_energies_take(plane: str | None) -> None:
    m = slider_crank(plane)
    motion = bl.kinematics(m, 0.5, step=0.01)
    torque = bl.joint_reactions(m, motion)["motor"][1][:, 1]
    energy = motion["kinetic energy"] + motion["potential energy"]
    power = torque * (6 + 2 * motion.t)
    inner = slice(2, -2)
    slope = (8 * (energy[3:-1] - energy[1:-3]) - (energy[4:] - energy[:-4])) / (12 * 0.01)
    np.testing.assert_allclose(power[inner], slope, rtol=2e-4, atol=2e-4 * np.abs(power).max())


def test_one_motion_in_three_coordinates_has_the_same_forces() -> None:
    m = slider_crank()
    found = [
        bl.joint_reactions(m, bl.kinematics(bl.formulate(m, name), 0.4, step=0.1))
        for name in ("joint", "reference", "euler")
    ]
    for other in found[1:]:
        scale = np.abs(found[0].wrenches).max()
        np.testing.assert_allclose(other.wrenches, found[0].wrenches, atol=1e-10 * scale)


def test_the_forces_are_the_multipliers_of_the_joint_that_closes_the_loop() -> None:
    """In joint coordinates C closes the loop, and its multipliers are its force."""
    m = slider_crank()
    system = bl.formulate(m, "joint")
    state = bl.reactions(system)
    loads = bl.joint_reactions(m)
    k = [i for i, name in enumerate(system.multipliers) if name in ("C.x", "C.z")]
    np.testing.assert_allclose(-state.lam[k], loads["C"][0][0][[0, 2]], rtol=1e-9)


def test_planar_mechanisms_share_forces_across_their_plane() -> None:
    """Hinges with parallel axes: what acts in the plane is determinate, the rest is not."""
    loads = bl.joint_reactions(slider_crank())
    k = loads.joints.index("B")
    np.testing.assert_array_equal(loads.determinate[0, k], [True, False, True, False, True, False])
    assert "indeterminate" in str(loads)
    planar = bl.joint_reactions(slider_crank("xz"))
    inside = [True, False, True, False, True, False]  # across the plane nothing is known
    assert (planar.determinate[0, : len(planar.joints) - 1] == inside).all()
    across = ~np.array(inside)
    assert (planar.wrenches[0][:, across] == 0.0).all()


def test_what_acts_across_a_plane_is_never_said_to_be_known() -> None:
    m = bl.Model("press", plane="xz")
    crank, ram, anvil = (
        m.body(n, mass=1.0, com=(0.1, 0, 0.2), inertia=0.1) for n in ("crank", "ram", "anvil")
    )
    m.joint("revolute", "A", m.ground, crank, axis="y")
    # one marker is turned about all axes, one about the normal alone, but for rounding
    tilted, level = ram.at(axis=(1, 2, 3), x_axis="x"), anvil.at(axis=(3, 1e-16, 1), x_axis="y")
    for guide, joint, marker in (("up", "rod", tilted), ("along", "strut", level)):
        body = m.bodies[marker.body]
        m.joint("prismatic", guide, m.ground, body, axis="z" if guide == "up" else "x", start=0.5)
        m.joint("distance", joint, crank.at(0.1, 0, 0), marker, length=0.5)
    m.joint("planar", "top", m.ground.at(0, -1, 0, axis="y"), crank.at(0, -1, 0, axis="y"))
    m.joint("planar", "held", ram.at(axis="y"), anvil.at(axis="y"))
    m.joint("free", "nothing", m.ground, anvil)
    m.driver("rotary", "turn", coordinate="A", law="2*t")
    # the x axis of the level marker is the normal, as are the z axes of planar joints
    known = {
        "ground": {n: [1, 0, 1, 0, 1, 0] for n in ("rod", "strut", "top", "held")},
        "marker": {
            "rod": [0, 0, 0, 0, 0, 0],
            "strut": [0, 1, 1, 1, 0, 0],
            "top": [1, 1, 0, 0, 0, 1],
            "held": [1, 1, 0, 0, 0, 1],
        },
    }
    solver = GroupSolver(m, coordinates="relative")
    for axes in ("ground", "marker"):
        loads = bl.joint_reactions(m, axes=axes)
        grouped = GroupForces(solver).joint_reactions(solver.run([0.0, 0.01]), axes=axes)
        np.testing.assert_array_equal(grouped.determinate[0], loads.determinate[0])
        for name, flags in (known[axes] | {"nothing": [1] * 6}).items():
            assert loads.determinate[0, loads.joints.index(name)].tolist() == flags, (axes, name)
        assert not np.any(loads["top"])


def test_an_offset_across_the_plane_gives_no_moment_in_it() -> None:
    m = slider_crank("xz")
    flat = bl.joint_reactions(m)
    m.bodies["rod"].inertia = replace(m.bodies["rod"].inertia, com=(0.15, 0.05, 0.0))
    np.testing.assert_allclose(bl.joint_reactions(m).wrenches, flat.wrenches, atol=1e-9)


def test_the_parameters_of_the_motion_are_those_of_the_forces() -> None:
    def arm(length: float) -> bl.Model:
        m = bl.Model("arm")
        m.parameter("l", length)
        rod = m.body("rod", mass=2.0, com=("l/2", 0, 0), inertia=0.01)
        tip = m.body("tip", mass=1.0, inertia=0.001)
        m.joint("revolute", "A", m.ground, rod, axis="y")
        m.joint("fixed", "B", rod.at("l", 0, 0), tip)
        m.driver("rotary", "motor", coordinate="A", law="2*t + t^2")
        return m

    short, long = arm(0.3), arm(0.4)
    motion = bl.kinematics(short, 0.5, step=0.1, parameters={"l": 0.4})
    found = bl.joint_reactions(short, motion, parameters={"l": 0.4})
    expected = bl.joint_reactions(long, bl.kinematics(long, 0.5, step=0.1))
    np.testing.assert_allclose(found.wrenches, expected.wrenches, atol=1e-10)
    with pytest.raises(ModelError, match="give those it was made with"):
        bl.joint_reactions(short, motion)


def test_a_rack_is_pushed_by_its_pinion() -> None:
    m = bl.Model("steering", gravity=(0, 0, 0))
    pinion, rack = m.body("pinion", mass=1.0, inertia=0.2), m.body("rack", mass=2.0, inertia=0.1)
    m.joint("revolute", "P", m.ground, pinion)
    m.joint("prismatic", "K", m.ground, rack, axis="x")
    m.joint("rack_pinion", "mesh", pinion="P", rack="K", radius=0.1)
    m.driver("rotary", "motor", coordinate="P", law="3*t^2")
    loads = bl.joint_reactions(m, bl.kinematics(m, 1.0, step=0.5))
    np.testing.assert_allclose(loads["mesh"][0][:, 0], 2.0 * 0.6, rtol=1e-10)
    np.testing.assert_allclose(loads["motor"][1][:, 2], 0.2 * 6 + 0.1 * 1.2, rtol=1e-10)


def test_a_reaction_sensor_reads_in_kinematics_too() -> None:
    m = crank("pi/2")
    m.sensor("reaction", "bearing", joint="pivot")
    motion = bl.kinematics(m, 0.2, step=0.1)
    np.testing.assert_allclose(motion["bearing.fz"], 2 * G, atol=1e-9)


def test_a_door_hangs_on_two_hinges() -> None:
    """Each takes half of the couple; how they share the weight nobody knows: half each."""
    m = bl.Model("door")
    door = m.body("door", mass=30.0, com=(0.4, 0, 1.0), inertia=(4.0, 5.0, 2.0))
    m.joint("revolute", "lower", m.ground.at(0, 0, 0.2), door.at(0, 0, 0.2))
    m.joint("revolute", "upper", m.ground.at(0, 0, 1.8), door.at(0, 0, 1.8))
    m.driver("rotary", "hand", coordinate="lower", law="0")
    loads = bl.joint_reactions(m)
    lower, upper = loads["lower"][0][0], loads["upper"][0][0]
    np.testing.assert_allclose(lower + upper, [0, 0, 30 * G], atol=1e-9)
    np.testing.assert_allclose(lower[2], 15 * G, atol=1e-9)
    assert not loads.determinate[0, 0, 2]


def test_axes_of_the_marker_turn_with_it() -> None:
    m = crank("pi/2")  # the rod hangs along -z
    ground, marker = (bl.joint_reactions(m, axes=axes) for axes in ("ground", "marker"))
    np.testing.assert_allclose(ground["pivot"][0][0], [0, 0, 2 * G], atol=1e-10)
    # marker: z along y of the rod, x along its z, y along its x, which points down
    np.testing.assert_allclose(marker["pivot"][0][0], [0, -2 * G, 0], atol=1e-10)


def test_drives_that_are_not_in_the_model_are_told() -> None:
    m = crank()
    m.drivers.clear()
    motion = bl.kinematics(m, 0.5, step=0.1, drives={"pivot.angle": "3*t"})
    with pytest.raises(ModelError, match="must be part of the model"):
        bl.joint_reactions(m, motion)


def test_a_motion_of_something_else_is_refused() -> None:
    with pytest.raises(ModelError, match="no body rod"):
        bl.joint_reactions(crank(), bl.kinematics(slider_crank_without_rod(), 0.1, step=0.1))


def slider_crank_without_rod() -> bl.Model:
    m = bl.Model("wheel")
    wheel = m.body("wheel", mass=1.0, inertia=1.0)
    m.joint("revolute", "A", m.ground, wheel)
    m.driver("rotary", "motor", coordinate="A", law="t")
    return m


def test_a_screw_turns_thrust_into_torque() -> None:
    """The thread carries the thrust and the moment F p / 2π; the motor what turns the screw."""
    m = bl.Model("screw")
    nut = m.body("nut", mass=3.0, inertia=(0.02, 0.02, 0.03))
    m.joint("helical", "thread", m.ground, nut, pitch=0.01)
    m.driver("rotary", "hand", coordinate="thread", law="4*t^2")
    motion = bl.kinematics(m, 1.0, step=0.25)
    loads = bl.joint_reactions(m, motion)
    lead, slope = 0.01 / (2 * np.pi), 8.0
    thrust = 3.0 * (G + lead * slope)
    np.testing.assert_allclose(loads["thread"][0][:, 2], thrust, rtol=1e-10)
    np.testing.assert_allclose(loads["thread"][1][:, 2], -thrust * lead, rtol=1e-9)
    np.testing.assert_allclose(loads["hand"][1][:, 2], 0.03 * slope + thrust * lead, rtol=1e-9)


def test_gears_carry_the_torque_from_shaft_to_shaft() -> None:
    m = bl.Model("gears", gravity=(0, 0, 0))
    first, second = m.body("first", mass=1.0, inertia=0.1), m.body("second", mass=1.0, inertia=0.4)
    m.joint("revolute", "A", m.ground, first)
    m.joint("revolute", "B", m.ground.at(0.3, 0, 0), second)
    m.joint("gear", "mesh", first="A", second="B", ratio=-0.5)
    m.driver("rotary", "motor", coordinate="A", law="3*t^2")
    loads = bl.joint_reactions(m, bl.kinematics(m, 1.0, step=0.5))
    # 6 rad/s² of the first, -3 of the second, whose torque comes halved through the gears
    np.testing.assert_allclose(loads["motor"][1][:, 2], 0.1 * 6 + 0.5 * 0.4 * 3, rtol=1e-10)
    np.testing.assert_allclose(loads["A"][1][:, 2], 0.0, atol=1e-12)


def test_gears_are_followed_over_many_turns() -> None:
    """After twenty turns the torques are those of the start: nothing is taken modulo a turn."""
    m = bl.Model("gears", gravity=(0, 0, 0))
    first, second = m.body("first", mass=1.0, inertia=0.1), m.body("second", mass=1.0, inertia=0.4)
    m.joint("revolute", "A", m.ground, first)
    m.joint("revolute", "B", m.ground.at(0.3, 0, 0), second)
    m.joint("gear", "mesh", first="A", second="B", ratio=-0.37)
    m.driver("rotary", "motor", coordinate="A", law="60*t + 3*t^2")
    for coordinates in ("joint", "reference"):
        motion = bl.kinematics(bl.formulate(m, coordinates), 2.0, step=0.01, output=0.4)
        torque = bl.joint_reactions(m, motion)["motor"][1][:, 2]
        np.testing.assert_allclose(torque, 0.1 * 6 + 0.37**2 * 0.4 * 6, rtol=1e-9)


def test_a_bead_is_held_by_its_wire() -> None:
    """On a circle: N = m (g cos s + R s'²) towards the centre, and nothing along the wire."""
    R, mass, g = 0.4, 0.7, 9.81
    m = bl.Model("bead", gravity=(0, 0, -g))
    bead = m.body("bead", mass=mass, inertia=(0.01, 0.02, 0.03))
    wire = {"x": f"{R}*sin(s)", "z": f"-{R}*cos(s)"}
    m.joint("point_on_curve", "wire", m.ground, bead, **wire, start={"s": 0.6})
    m.sensor("reaction", "hold", joint="wire")
    run = bl.simulate(m, 0.5, v={"wire.s_rate": 1.2}, step=1e-3)
    found = bl.joint_reactions(m, run)
    s, rate = np.asarray(run["wire.s"]), np.asarray(run["wire.s_rate"])
    size = mass * (g * np.cos(s) + R * rate**2)
    expected = size[:, None] * np.stack([-np.sin(s), 0 * s, np.cos(s)], axis=1)
    force, moment = found["wire"]
    np.testing.assert_allclose(force, expected, atol=1e-9)
    np.testing.assert_allclose(moment, 0.0, atol=1e-12)
    assert found.determinate.all()
    read = np.stack([run[f"hold.f{axis}"] for axis in "xyz"], axis=1)
    np.testing.assert_allclose(read, expected, atol=1e-9)


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
def test_a_sensor_reads_the_torque_of_a_thread(coordinates: str) -> None:
    """The thread pushes along its axis, and turns by minus that times the pitch over 2π."""
    m = bl.Model("screw")
    nut = m.body("nut", mass=2.0, com=(0.05, 0.02, 0.1), inertia=(0.02, 0.03, 0.04))
    m.joint("helical", "thread", m.ground, nut, pitch=0.3)
    m.force("wrench", "push", marker=nut.at(0.1, 0, 0), fy="3", mz="0.7")
    m.sensor("reaction", "hold", joint="thread")
    run = bl.simulate(bl.formulate(m, coordinates), 0.05, step=1e-3)
    F, M = bl.joint_reactions(m, run)["thread"]
    np.testing.assert_allclose(M[:, 2], -F[:, 2] * 0.3 / (2 * np.pi), atol=1e-9)
    read = np.stack([run[f"hold.{c}"] for c in ("fx", "fy", "fz", "mx", "my", "mz")], axis=1)
    np.testing.assert_allclose(read, np.concatenate([F, M], axis=1), atol=1e-8)


@pytest.mark.parametrize("engine", ["unrolled", "looped"])
def test_inputs_of_a_motion_are_not_a_sensor_of_that_name(engine):
    """A horizontal arm: the hinge carries the torque of its motor alone."""
    m = bl.Model("arm", gravity=(0, 0, 0))
    b = m.body("b", mass=2.0, com=(0.5, 0, 0), inertia=0.1)
    m.joint("revolute", "a", m.ground, b, axis="y")
    m.force("actuator", "act", coordinate="a", value=3.0)
    m.sensor("expression", "u", text="2*a.angle + 1")
    r = bl.simulate(m, 0.2, step=1e-2, engine=engine)
    force, _ = bl.joint_reactions(m, r)["a"]
    rate = np.sqrt(2 * 3.0 / 0.6 * r["a.angle"][-1])  # T = ∫ u dA
    assert np.linalg.norm(force[-1]) == pytest.approx(np.hypot(rate**2, 5.0), rel=1e-6)
