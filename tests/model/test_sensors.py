"""Sensors: outputs against positions, angles and reactions found otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis import kinematics, simulate
from biela.equations.formulate import formulate
from biela.errors import ModelError
from biela.model import Model
from biela.results.euler_angles import euler_angles
from tests.model.motions import (
    COORDINATES,
    marked,
    possible_state,
    random_state,
    slope,
    two_bodies,
)

#: Both kinds of sequences of turns, cyclic and not.
SEQUENCES = ("zyx", "xyz", "yxz", "zxz", "yzy", "xzx")


def measured() -> Model:
    m = two_bodies("measured")
    marked(m)
    m.parameter("k", 3.0)
    m.sensor("point", "tip", marker="b.b1")
    m.sensor("point", "seen", marker="b.b1", i="a.a2")
    m.sensor("distance", "reach", i="a.a1", j="b.b2", rate=True)
    m.sensor("angle", "between", i="a.a1", j="b.b1", a="x", b="-z", rate=True)
    m.sensor("angle", "about", i="a.a1", j="b.b1", a="y", b="x", about="z")
    m.sensor("joint", "encoder", coordinate="C.angle")
    m.sensor("joint", "scale", coordinate="C.displacement")
    m.sensor(
        "expression",
        "mix",
        unit="J",
        text="k*(C.displacement - 20 mm)^2/2 + 2*U.first.rate*t + sin(U.second)",
    )
    for sequence in SEQUENCES:
        m.sensor("pose", sequence, marker="b.b1", i="a.a1", angles=sequence)
    return m


@pytest.fixture(scope="module", params=COORDINATES)
def state(request):
    """Outputs by name, rates of outputs by differences, poses and the motion of the joints."""
    m = measured()
    system = formulate(m, request.param)
    tree = formulate(m, "joint")
    q, v = possible_state(m, system, request.param, 1)
    names = [y.name for y in system.y]
    y = dict(zip(names, system.evaluate("outputs", q, v, t=0.4), strict=True))
    rates = slope(lambda t, q: system.evaluate("outputs", q, v, t=t), system, 0.4, q, v)
    poses = system.evaluate("poses", q)
    frames = {
        f: (row[:3], row[3:].reshape(3, 3)) for f, row in zip(system.frames, poses, strict=True)
    }
    _, s, ds = random_state(tree, 1)
    joints = dict(zip([x.name for x in tree.q], zip(s, ds, strict=True), strict=True))
    units = {x.name: x.unit for x in system.y}
    return y, dict(zip(names, rates, strict=True)), frames, joints, units


def test_a_point_is_seen_from_the_ground_or_from_a_marker(state):
    y, rates, frames, _, units = state
    (a, A), (b, _) = frames["a.a2"], frames["b.b1"]
    np.testing.assert_allclose([y[f"tip.{k}"] for k in "xyz"], b, atol=1e-12)
    np.testing.assert_allclose([y[f"seen.{k}"] for k in "xyz"], A.T @ (b - a), atol=1e-12)
    for sensor in ("tip", "seen"):
        for k in "xyz":
            assert y[f"{sensor}.v{k}"] == pytest.approx(rates[f"{sensor}.{k}"], rel=1e-7)
    assert (units["tip.x"], units["tip.vx"]) == ("m", "m/s")


def test_distances_and_angles_are_those_of_the_markers(state):
    y, rates, frames, _, units = state
    (a, A), (_, B), (c, _) = frames["a.a1"], frames["b.b1"], frames["b.b2"]
    assert y["reach"] == pytest.approx(np.linalg.norm(c - a), rel=1e-12)
    assert y["between"] == pytest.approx(np.arccos(-A[:, 0] @ B[:, 2]), rel=1e-12)
    seen = A.T @ B[:, 0]  # from y towards -x about z
    assert y["about"] == pytest.approx(np.arctan2(-seen[0], seen[1]), rel=1e-12)
    for sensor in ("reach", "between", "about"):
        assert y[f"{sensor}_rate"] == pytest.approx(rates[sensor], rel=1e-7)
    assert (units["reach_rate"], units["about"], units["between_rate"]) == ("m/s", "rad", "rad/s")


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_pose_has_the_angles_of_its_turns(state, sequence):
    y, _, frames, _, _ = state
    (a, A), (b, B) = frames["a.a1"], frames["b.b1"]
    np.testing.assert_allclose([y[f"{sequence}.{k}"] for k in "xyz"], A.T @ (b - a), atol=1e-12)
    found = [y[f"{sequence}.{k}"] for k in ("first", "second", "third")]
    np.testing.assert_allclose(found, euler_angles(A.T @ B, sequence), rtol=1e-11)


def test_joints_are_read_with_their_rates(state):
    y, _, _, joints, units = state
    for sensor, name in (("encoder", "C.angle"), ("scale", "C.displacement")):
        assert y[sensor] == pytest.approx(joints[name][0], rel=1e-11)
        assert y[f"{sensor}_rate"] == pytest.approx(joints[name][1], rel=1e-11)
    assert (units["encoder"], units["scale_rate"]) == ("rad", "m/s")


def test_an_expression_is_one_of_coordinates_rates_time_and_parameters(state):
    y, _, _, joints, units = state
    s, first, second = (joints[n] for n in ("C.displacement", "U.first", "U.second"))
    expected = 3 * (s[0] - 0.02) ** 2 / 2 + 2 * first[1] * 0.4 + np.sin(second[0])
    assert y["mix"] == pytest.approx(expected, rel=1e-11)
    assert units["mix"] == "J"


def wheel() -> Model:
    """A disc on an axle along y that is driven for several turns."""
    m = Model("wheel", gravity=(0, 0, -10))
    disc = m.body("disc", mass=2.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "axle", m.ground, disc, axis="-y")
    m.driver("rotary", "motor", coordinate="axle", law="6*t")
    m.sensor("joint", "encoder", coordinate="axle")
    m.sensor("angle", "dial", i="ground.axle", j="disc.axle", about="z")
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_an_angle_that_is_read_is_right_up_to_whole_turns(coordinates):
    found = kinematics(formulate(wheel(), coordinates), 4.0, step=0.05)
    turned = np.exp(6j * np.asarray(found.t))
    for name in ("encoder", "dial"):
        np.testing.assert_allclose(np.exp(1j * np.asarray(found[name])), turned, atol=1e-8)
        np.testing.assert_allclose(found[f"{name}_rate"], 6.0, atol=1e-8)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_reaction_carries_the_weight_and_the_centrifugal_force(coordinates):
    m = wheel()
    m.force("friction", "bearing", coordinate="axle", coefficient=0.1, radius=0.01)
    m.sensor("reaction", "load", joint="axle")
    m.sensor("reaction", "own", joint="axle", along="disc.axle", components="fx")
    found = simulate(formulate(m, coordinates), 1.0, tolerance=1e-10)
    angle = 6 * np.asarray(found.t)
    # the axle gives m (a - g), and the disc is drawn towards it by 36 r
    pull = 2.0 * 36.0 * 0.5
    np.testing.assert_allclose(found["load.fx"], -pull * np.cos(angle), atol=1e-6)
    np.testing.assert_allclose(found["load.fz"], 20.0 - pull * np.sin(angle), atol=1e-6)
    for idle in ("fy", "mx", "my", "mz"):
        np.testing.assert_allclose(found[f"load.{idle}"], 0.0, atol=1e-6)
    # x of that marker is z of the disc, across its arm
    np.testing.assert_allclose(found["own"], 20.0 * np.cos(angle), atol=1e-6)


def test_wrong_settings_of_sensors_are_refused():
    m = two_bodies()
    marked(m)
    with pytest.raises(ModelError, match="no two neighbours alike"):
        m.sensor("pose", "S", marker="b.b1", angles="zzx")
    with pytest.raises(ModelError, match="not an axis"):
        m.sensor("angle", "S", i="a.a1", j="b.b1", a="up")
    with pytest.raises(ModelError, match="cannot count from x"):
        m.sensor("angle", "S", i="a.a1", j="b.b1", a="x", about="-x")
    with pytest.raises(ModelError, match="not a component"):
        m.sensor("reaction", "S", joint="C", components="fx fq")
    with pytest.raises(ModelError, match="once"):
        m.sensor("reaction", "S", joint="C", components="fx fx")
