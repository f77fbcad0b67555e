"""Twists: the same motion at every point of a solid, and the power of wrenches on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import biela as bl
from biela.errors import DomainError
from biela.space import Point, Solid, Twist, angular_velocity
from tests.mechanisms import ALGEBRAS, DIFFERENCE, ROUNDING, Values, numbers, random_values, rate_of


@dataclass(frozen=True)
class Arm:
    """A crane: a post that turns and a jib with a luffing angle, on a ground that is driven."""

    system: bl.SymbolicSystem
    post: Solid
    jib: Solid
    tip: Point  # fixed in the jib
    values: Values


@pytest.fixture
def arm() -> Arm:
    s = bl.SymbolicSystem("arm")
    turn, luff = s.coordinates("turn luff")
    b1 = s.base.rotated("b1", "z", turn)
    b2 = b1.rotated("b2", "y", luff)
    foot = s.origin.offset("F", s.base.vector(bl.sin(2 * s.time), 0, 0.3 * s.time))
    head = foot.offset("H", b1.vector(0.2, 0.1, 1.5))
    post = s.solid("post", foot, b1, 2.0, (0, 0, 0.7))
    jib = s.solid("jib", head, b2, 1.0, (0.4, 0, 0))
    tip = head.offset("T", b2.vector(0.9, -0.2, 0.1))
    return Arm(s, post, jib, tip, random_values(s.workspace, 5))


def components(vector, arm: Arm) -> np.ndarray:
    return numbers(vector.components(arm.system.base), arm.values)


def test_the_linear_velocity_is_the_rate_of_the_position_of_the_point(arm):
    s = arm.system
    found = s.twist(arm.jib, at=arm.tip)
    place = s.position(s.origin, arm.tip).components(s.base)
    np.testing.assert_allclose(
        components(found.linear, arm), rate_of(place, arm.values), **DIFFERENCE
    )


def test_a_twist_is_at_the_point_of_the_solid_unless_told(arm):
    s = arm.system
    found = s.twist(arm.jib)
    assert isinstance(found, Twist)
    assert found.point is arm.jib.point
    assert found.frame == s.space.inertial
    np.testing.assert_allclose(
        components(found.linear, arm),
        rate_of(s.position(s.origin, arm.jib.point).components(s.base), arm.values),
        **DIFFERENCE,
    )


@pytest.mark.parametrize("algebra", ALGEBRAS, ids=str)
def test_a_change_of_point_gives_the_twist_of_that_point(arm, algebra):
    """v_B = v_A + ω x r, against the velocity of the point formed there."""
    s = arm.system
    with s.space.using(algebra):
        carried = s.twist(arm.jib).at(arm.tip)
        place = s.position(s.origin, arm.tip).components(s.base)
        np.testing.assert_allclose(
            components(carried.linear, arm), rate_of(place, arm.values), **DIFFERENCE
        )
        back = carried.at(arm.jib.point)
    np.testing.assert_allclose(
        components(back.linear, arm), components(s.twist(arm.jib).linear, arm), **ROUNDING
    )
    omega = angular_velocity(s.base, arm.jib.base)
    np.testing.assert_allclose(components(back.angular, arm), components(omega, arm), **ROUNDING)


def test_a_point_that_does_not_move_with_the_solid_is_taken_as_if_it_did(arm):
    """The tip belongs to the jib; carried by the post, it does not luff."""
    s = arm.system
    carried = s.twist(arm.post).at(arm.tip)
    held = dict(arm.values)
    luff = s.q[1]
    held[luff.velocity] = held[luff.acceleration] = 0.0
    place = s.position(s.origin, arm.tip).components(s.base)
    np.testing.assert_allclose(components(carried.linear, arm), rate_of(place, held), **DIFFERENCE)


def test_from_another_frame_only_the_relative_motion_is_seen(arm):
    s = arm.system
    seen = s.twist(arm.jib, at=arm.tip, frame=arm.post.frame)
    base = arm.post.base
    place = s.position(arm.post.point, arm.tip).components(base)
    found = numbers(seen.linear.components(base), arm.values)
    np.testing.assert_allclose(found, rate_of(place, arm.values), **DIFFERENCE)
    luffing = arm.values[s.q[1].velocity]
    np.testing.assert_allclose(
        numbers(seen.angular.components(base), arm.values), [0, luffing, 0], **ROUNDING
    )


def test_the_power_of_a_wrench_does_not_depend_on_the_point_of_the_twist(arm):
    """f · v + m · ω, from the rate of the point where the force acts and from the turning."""
    s = arm.system
    s.wrench(arm.jib, force=(1.0, -2.0, 0.5), moment=(0.3, 0.7, -0.4), at=arm.tip)
    (wrench,) = s.wrenches
    place = s.position(s.origin, arm.tip).components(s.base)
    omega = components(angular_velocity(s.base, arm.jib.base), arm)
    expected = [1.0, -2.0, 0.5] @ rate_of(place, arm.values) + [0.3, 0.7, -0.4] @ omega
    for point in (arm.jib.point, arm.tip, s.origin):
        power = s.twist(arm.jib, at=point).power(wrench)
        np.testing.assert_allclose(numbers(power, arm.values), expected, **DIFFERENCE)


def test_the_powers_in_the_direction_of_each_velocity_are_the_generalised_forces():
    """Q_j = ∂(f · v + m · ω)/∂q'_j, where nothing but a wrench acts and nothing turns yet."""
    s = bl.SymbolicSystem("pushed")
    a, b = s.coordinates("a b")
    b1 = s.base.rotated("b1", "z", a)
    b2 = b1.rotated("b2", "x", b)
    body = s.solid("body", s.origin.offset("P", b1.vector(1, 0, 0)), b2, 2.0)
    s.wrench(body, force=(1, 2, 3), moment=b2.vector(0.1, 0.2, 0.3))
    power = s.twist(body).power(s.wrenches[0])
    values = {a: 0.4, b: -0.7, a.velocity: 0.0, b.velocity: 0.0}
    expected = numbers([bl.diff(power, v) for v in s.v], values)
    np.testing.assert_allclose(s.equations().forces([0.4, -0.7], [0, 0]), expected, **ROUNDING)


def test_the_wrench_of_another_solid_is_refused(arm):
    s = arm.system
    s.wrench(arm.post, force=(1, 0, 0))
    with pytest.raises(DomainError, match="acts on post, and this is the twist of jib"):
        s.twist(arm.jib).power(s.wrenches[0])
