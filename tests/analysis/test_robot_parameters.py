"""A robot with parameters: what depends on them alone is computed once."""

from __future__ import annotations

import numpy as np

import biela as bl
from biela.equations import spatial
from biela.model.parametrised import parametrised
from tests.equations.spatial.trees import random_tree, state


def test_one_state_and_many_are_the_same_with_parameters_held() -> None:
    m = random_tree(5, 11, (("revolute", {}), ("spherical", {}), ("prismatic", {})))
    robot, plain = bl.Robot(m, symbolic=["inertia"]), bl.Robot(m)
    q, v, a = state(spatial.SpatialTree(m), 1)
    many = [np.tile(x, (9, 1)) for x in (q, v, a)]
    expected = plain.rnea(q, v, a)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(robot.rnea(q, v, a), expected, atol=1e-13 * scale)
    np.testing.assert_allclose(robot.rnea(*many)[4], expected, atol=1e-13 * scale)
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v, a)
    for mine, other in zip(
        (by_q, by_v, M), plain.inverse_dynamics_derivatives(q, v, a), strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=1e-12 * np.abs(other).max())


def test_a_function_without_anything_to_hold_is_called_as_it_is() -> None:
    m = bl.Model("slide")
    block = m.body("block", mass=m.parameter("m", 2.0))
    m.joint("prismatic", "guide", m.ground, block, axis="x")
    robot = bl.Robot(m, parameters={"m": 3.0})
    assert robot.rnea([0.1], [0.2], [0.5]) == [1.5]
    assert robot.mass_matrix([0.0]) == [[3.0]]


def test_a_state_costs_fewer_operations_than_with_the_parameters_in_it() -> None:
    m = parametrised(random_tree(4, 3, (("revolute", {}),), chain=True))
    function = spatial.inverse_dynamics(m)
    run = function.prepared().run
    assert len(run.schedule.operations) < 0.8 * len(function.schedule.operations)


def test_derivatives_of_one_state_and_of_many_are_the_same() -> None:
    m = random_tree(10, 12, (("revolute", {}), ("spherical", {})))
    robot = bl.Robot(m)
    q, v, tau = state(spatial.SpatialTree(m), 1)
    one = robot.forward_dynamics_derivatives(q, v, tau)
    many = robot.forward_dynamics_derivatives(*(np.tile(x, (5, 1)) for x in (q, v, tau)))
    for mine, other in zip(one, many, strict=True):
        np.testing.assert_array_equal(mine, other[3])
