"""Joints that are not of the library: moves that share a coordinate, and laws that bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import biela as bl
from biela.atoms import Atom, cos, sin
from biela.equations import spatial
from biela.equations.spatial import SpatialTree
from biela.errors import ModelError
from biela.model.joints import Coordinate, Joint
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.primitives import Parallel, Primitive
from biela.model.quantities.values import Number
from tests.equations.spatial.trees import state, value


@dataclass(frozen=True, kw_only=True)
class Cam(Joint):
    """A follower on an oval: it moves along a curve and turns by a law that is not linear."""

    coordinates: ClassVar[tuple[Coordinate, ...]] = (Coordinate("s", "rad"),)
    order: ClassVar[tuple[int, ...]] = (0, 1, 2)

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        del number
        s = q[0]
        if not isinstance(s, Atom):
            return [Translate("x", 0.3 * np.cos(s)), Rotate("y", s)]
        whole = [
            Translate("x", 0.3 * cos(s)),
            Translate("z", 0.2 * sin(s)),
            Rotate("y", s + 0.2 * sin(2 * s)),
        ]
        return [whole[k] for k in self.order]

    def conditions(self) -> Sequence[Primitive]:
        return [Parallel()]


@dataclass(frozen=True, kw_only=True)
class Backward(Cam):
    """The same with the turn first: no recursion step of one coordinate."""

    order: ClassVar[tuple[int, ...]] = (2, 0, 1)


def cam_arm(kind: type[Joint]) -> bl.Model:
    m = bl.Model("cam")
    one = m.body("one", mass=1.2, com=(0.1, 0.2, -0.1), inertia=(0.1, 0.12, 0.08, 0.01, 0, 0.02))
    two = m.body("two", mass=0.8, com=(0.2, 0, 0.1), inertia=(0.05, 0.06, 0.04))
    m.joint("universal", "A", m.ground, one)
    m.add(kind(name="B", i=one.at(0.1, 0.2, 0.3, axis=(1, 1, 0)), j=two.at(0, 0.1, 0)))
    return m


def test_a_joint_of_ones_own_moves_as_in_virtual_power() -> None:
    m = cam_arm(Cam)
    system = bl.formulate(m)
    q, v, a = state(SpatialTree(m), 4)
    expected = value(system, "M", q) @ a - value(system, "Q", q, v)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    np.testing.assert_allclose(tau, expected, atol=1e-12)
    for method in ("articulated", "innovations", "composite"):
        found = spatial.forward_dynamics(m, method).interpret(q, v, tau)
        np.testing.assert_allclose(found, a, atol=1e-11)


def test_moves_that_no_step_can_do_are_refused_by_the_name_of_the_joint() -> None:
    with pytest.raises(ModelError, match="joint B turns and then moves on by the same coordinate"):
        SpatialTree(cam_arm(Backward))


def test_a_long_floating_chain_costs_the_same_for_every_body() -> None:
    """Clusters on ball joints, as in molecules: forward dynamics grows by as much a body."""

    def chain(n: int) -> bl.Model:
        m = bl.Model("molecule", gravity=(0, 0, 0))
        before = None
        for k in range(n):
            b = m.body(f"c{k}", mass=1.0, com=(0.1, 0.02, 0), inertia=(0.01, 0.02, 0.02))
            if before is None:
                m.joint("free", "root", m.ground, b)
            else:
                m.joint("spherical", f"j{k}", before.at(0.3, 0.05, 0), b)
            before = b
        return m

    functions = [spatial.forward_dynamics(chain(n), "articulated") for n in (10, 20, 40)]
    sizes = [len(f.schedule.operations) for f in functions]
    # a few constants that happen to be equal share their products
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.01)
    m = chain(40)
    q, v, a = state(SpatialTree(m), 2)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    found = functions[2].interpret(q, v, tau)
    np.testing.assert_allclose(found, a, atol=1e-8)
    # nothing acts from outside: the momentum does not change
    free = functions[2].interpret(q, v, 0 * v)
    np.testing.assert_allclose(spatial.momentum_rate(m).interpret(q, v, free), 0, atol=1e-8)
