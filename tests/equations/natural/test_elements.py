"""Forces, drivers and sensors in natural coordinates: the same as in joint coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from tests.equations.natural.test_placed import Walked, compare, natural_state
from tests.model.motions import marked, random_state, two_bodies
from tests.model.test_forces import elastic


def with_everything() -> bl.Model:
    """Forces with and without a potential, along lines, axes and coordinates."""
    m = elastic()
    m.force("spring_damper", "damper", i="a.a1", j="b.b1", damping=4.0)
    m.force(
        "bushing", "oil", i="a.a2", j="b.b1", damping=(3, 2, 1), torsional_damping=(0.3, 0.2, 1)
    )
    m.force("drag", "air", marker="b.b2", area=0.5, coefficient=1.1)
    m.force("wrench", "w", marker="a.a1", fx="2", mz="t", along="b.b1", reaction="b.b2")
    m.force("actuator", "motor", coordinate="C.angle", value="2 N*m")
    m.force("actuator", "timed", coordinate="C.displacement", law="5*t")
    return m


def test_all_forces_accelerate_bodies_as_in_joint_coordinates() -> None:
    m = with_everything()
    natural, joint = bl.formulate(m, "natural"), bl.formulate(m)
    for seed in (1, 2):
        t, q, v = random_state(joint, seed)
        compare(m.name, natural, joint, ["a", "b"], t, q, v, joint.inputs)


@pytest.mark.parametrize("seed", [3, 4])
def test_energy_and_power_are_those_of_joint_coordinates(seed: int) -> None:
    m = with_everything()
    natural, joint = bl.formulate(m, "natural"), bl.formulate(m)
    t, q, v = random_state(joint, seed)
    at, by_joints = Walked(natural, t, joint.inputs), Walked(joint, t, joint.inputs)
    rows = [joint.frames.index(body) for body in m.bodies]
    known = {e.name: float(x) for e, x in zip(joint.q, q, strict=True)}
    poses, twists = by_joints("poses", q)[rows], by_joints("twists", q, v)[rows]
    x, w = natural_state(at, list(m.bodies), poses, twists, known)
    np.testing.assert_allclose(at("energy", x, w), by_joints("energy", q, v), rtol=1e-10)
    np.testing.assert_allclose(at("power", x, w), by_joints("power", q, v), rtol=1e-9)
    # the power of all forces is Q v in both
    assert at("Q", x, w) @ w == pytest.approx(power_of(by_joints, q, v), rel=1e-9)


def power_of(by_joints: Walked, q: np.ndarray, v: np.ndarray) -> float:
    """Q v without the inertia forces, whose power is that of M' (½ v M' v)."""
    step = 1e-5

    def kinetic(h: float) -> float:
        M = by_joints("M", moved(by_joints.system, q, v, h))
        return float(v @ M @ v) / 2

    change = (kinetic(step) - kinetic(-step)) / (2 * step)
    return float(by_joints("Q", q, v) @ v) + change


def moved(system: bl.System, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    assert "retract" not in system
    return q + h * v


def test_a_point_force_is_the_gradient_of_its_potential_in_every_position() -> None:
    """Also where bodies do not keep their shape, as in the steps of Newton's method."""
    m = two_bodies("springs")
    marked(m)
    m.force("spring_damper", "spring", i="a.a1", j="b.b1", stiffness=120.0, length=0.7)
    natural = bl.formulate(m, "natural")
    at = Walked(natural, 0.0, natural.inputs)
    random = np.random.default_rng(0)
    q, step = random.normal(size=len(natural.q)), 1e-6
    zero = np.zeros(len(q))
    slope = [
        (at("energy", q + step * unit, zero)[1] - at("energy", q - step * unit, zero)[1])
        / (2 * step)
        for unit in np.eye(len(q))
    ]
    np.testing.assert_allclose(at("Q", q, zero), -np.array(slope), rtol=1e-6, atol=1e-5)


def test_sensors_measure_the_same() -> None:
    m = two_bodies("measured")
    marked(m)
    m.sensor("point", "tip", marker="b.b1")
    m.sensor("point", "seen", marker="b.b1", i="a.a2")
    m.sensor("distance", "reach", i="a.a1", j="b.b2", rate=True)
    m.sensor("angle", "between", i="a.a1", j="b.b1", a="x", b="-z", rate=True)
    m.sensor("joint", "encoder", coordinate="C.angle")
    m.sensor("joint", "scale", coordinate="C.displacement")
    natural, joint = bl.formulate(m, "natural"), bl.formulate(m)
    t, q, v = random_state(joint, 6)
    at, by_joints = Walked(natural, t, joint.inputs), Walked(joint, t, joint.inputs)
    rows = [joint.frames.index(body) for body in m.bodies]
    poses, twists = by_joints("poses", q)[rows], by_joints("twists", q, v)[rows]
    x, w = natural_state(at, list(m.bodies), poses, twists, {})
    assert [y.name for y in natural.y] == [y.name for y in joint.y]
    np.testing.assert_allclose(at("outputs", x, w), by_joints("outputs", q, v), rtol=1e-10)
