"""Forces along speeds: the same as wrenches that do the same work, in every derivation."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.lagrange import mass_and_forces_lagrange
from biela.equations.textbook import mass_and_forces_textbook
from biela.errors import ModelError


def pendulum(pushed: bool) -> bl.SymbolicSystem:
    """Two hinged rods with a motor in the elbow: a torque, or a moment and its reaction."""
    s = bl.SymbolicSystem("pendulum")
    a, b = s.coordinates("a b")
    (tau,) = s.inputs("tau")
    upper = s.base.rotated("upper", "y", a)
    lower = upper.rotated("lower", "y", b)
    elbow = s.origin.offset("elbow", upper.vector(0, 0, -0.4))
    first = s.solid("first", s.origin, upper, 1.0, com=(0, 0, -0.2))
    second = s.solid("second", elbow, lower, 0.8, com=(0.1, 0, -0.2))
    s.gravity = s.base.vector(0, 0, -9.81)
    torque = tau - 3 * b
    if pushed:
        s.push(b.velocity, torque, potential=3 * b**2 / 2)
    else:
        s.wrench(second, moment=upper.vector(0, torque, 0), reaction_on=first)
        s.potentials.append(3 * b**2 / 2)
    return s


def test_a_torque_in_a_joint_is_a_moment_and_its_reaction() -> None:
    pushed, wrenched = (pendulum(which).equations().system for which in (True, False))
    random = np.random.default_rng(1)
    for _ in range(5):
        q, v, u = random.uniform(-2, 2, 2), random.uniform(-2, 2, 2), random.uniform(-5, 5, 1)
        for name in ("Q", "power"):
            a, b = (np.asarray(s.evaluate(name, q, v, u=u)) for s in (pushed, wrenched))
            np.testing.assert_allclose(a, b, atol=1e-13)
        np.testing.assert_allclose(
            pushed.evaluate("energy", q, v), wrenched.evaluate("energy", q, v), atol=1e-14
        )


@pytest.mark.parametrize("derive", [mass_and_forces_lagrange, mass_and_forces_textbook])
def test_other_derivations_know_it(derive) -> None:
    s = pendulum(True)
    _, Q = derive(s)
    found, expected = s.function("Q", {"Q": Q}), s.equations().system["Q"]
    q, v = [0.3, -0.7], [1.1, 0.4]
    arguments = (0.0, q, v, [2.0], [])
    np.testing.assert_allclose(
        found(*arguments[: len(found.inputs)]), expected(*arguments), atol=1e-13
    )


def test_what_is_no_speed_is_refused() -> None:
    s = pendulum(True)
    with pytest.raises(ModelError, match="no velocity"):
        s.push(s.q[0], 1.0)
    with pytest.raises(ModelError, match="not linear"):
        s.push(s.v[0] * s.v[1], 1.0)
