"""A tree as a system: its simulation is that of the same model by virtual power."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.spatial import SpatialTree, spatial_system
from tests.equations.spatial.trees import random_tree, state, value


def test_every_capability_has_the_value_of_virtual_power() -> None:
    m = random_tree(5, 71)
    ours, theirs = spatial_system(m), bl.formulate(m)
    q, v, a = state(SpatialTree(m), 71)
    for name in ("M", "Q", "energy", "poses", "twists", "frame_accelerations", "rates"):
        found, expected = (value(s, name, q, v, a=a) for s in (ours, theirs))
        if name in ("poses", "twists", "frame_accelerations"):
            order = [ours.frames.index(frame) for frame in theirs.frames]
            found = found[order]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, atol=1e-11 * scale, err_msg=name)
    acc = value(ours, "accelerations", q, v)
    np.testing.assert_allclose(value(ours, "M", q) @ acc, value(ours, "Q", q, v), atol=1e-9)
    moved = [s["retract"].interpret(q, 0.3 * v) for s in (ours, theirs)]
    np.testing.assert_allclose(*moved, atol=1e-14)


def test_a_falling_tree_moves_alike_by_recursions_and_by_virtual_power() -> None:
    m = bl.Model("falling")
    base = m.body("base", mass=3.0, com=(0, 0.05, 0.1), inertia=(0.1, 0.12, 0.05))
    arm = m.body("arm", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.05, 0.05))
    m.joint("free", "floating", m.ground, base)
    m.joint("revolute", "elbow", base.at(0, 0, 0.3), arm, axis="y", start=0.4, rates=2.0)
    m.force("torsional", "spring", coordinate="elbow", stiffness=3.0, damping=0.05)
    ours, theirs = (
        bl.simulate(s, 1.0, step=0.01, integrator="rk4")
        for s in (spatial_system(m), bl.formulate(m))
    )
    for name in ("elbow.angle", "floating.x", "floating.rotation_e2"):
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-11)
    assert np.ptp(ours["elbow.angle"]) > 0.5


def test_joint_forces_are_inputs() -> None:
    m = bl.Model("wheel")
    wheel = m.body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    m.joint("revolute", "axle", m.ground, wheel, limits=(-1, 20))
    system = spatial_system(m)
    assert [entry.name for entry in system.u] == ["tau.axle.angle"]
    assert system.q[0].upper == 20.0
    run = bl.simulate(system, 2.0, step=0.1, inputs={"tau.axle.angle": 3.0})
    assert run["axle.angle"][-1] == pytest.approx(3.0, abs=1e-9)
