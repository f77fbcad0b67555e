"""Trajectories against SciPy's splines and slerp, closed forms, and their own derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.spatial.transform import Rotation, Slerp

import biela as bl
from biela.analysis.robots.trajectories import Trajectory
from biela.analysis.robots.trajectories.turns import (
    angular_acceleration,
    angular_velocity,
    rates_of,
)
from biela.errors import AssemblyError, ModelError, ShapeError
from biela.model.denavit_hartenberg import from_dh
from tests.analysis.moving_robots import flyer, planar_arm

KINDS = ("trapezoid", "quintic", "cubic")


def scipy_rotation(quaternion: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(quaternion, -1, axis=-1))


def inside(way: Trajectory, count: int = 300) -> np.ndarray:
    """Times away from those at which pieces begin."""
    times = np.linspace(way.breaks[0], way.breaks[-1], count)
    return times[np.abs(times[:, None] - way.breaks).min(axis=1) > 1e-3 * way.duration]


# --------------------------------------------------------------------- on every manifold


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_velocities_and_accelerations_are_the_rates_of_the_coordinates(kind, together):
    robot = flyer()
    points = robot.random(1, 4)
    way = robot.trajectory(points, kind=kind, velocity=2.0, acceleration=5.0, together=together)
    t, h = inside(way), 1e-5
    q, v, a = way.at(t)
    before, after = way.at(t - h), way.at(t + h)
    np.testing.assert_allclose(robot.difference(before[0], after[0]) / (2 * h), v, atol=1e-7)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), a, atol=1e-6)
    np.testing.assert_allclose(robot.normalised(q), q, atol=1e-14)
    at = way.q(way.waypoint_times)
    np.testing.assert_allclose(robot.difference(at, points), 0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_it_starts_and_ends_at_rest_and_rests_outside(kind):
    robot = flyer()
    points = robot.random(2, 3)
    way = robot.trajectory(points, kind=kind, velocity=2.0, acceleration=5.0)
    for t, point in ((-1.0, points[0]), (way.duration + 1.0, points[-1])):
        q, v, a = way.at(t)
        np.testing.assert_allclose(robot.difference(q, point), 0, atol=1e-12)
        assert not v.any() and not a.any()
    ends = way.v([0.0, way.duration])
    np.testing.assert_allclose(ends, 0, atol=1e-12)


def test_a_quintic_spline_of_rotations_has_continuous_velocity_and_acceleration():
    robot = flyer()
    way = robot.trajectory(robot.random(3, 5), [0, 1, 1.6, 3, 4.5])
    h = 1e-9
    before, after = (way.at(way.waypoint_times[1:-1] + s * h) for s in (-1, 1))
    np.testing.assert_allclose(before[1], after[1], atol=1e-6)
    np.testing.assert_allclose(before[2], after[2], atol=1e-5)


def test_between_two_waypoints_rotations_turn_as_slerp_does():
    robot = flyer()
    q0, q1 = robot.random(4, 2)
    way = robot.trajectory([q0, q1], 2.0)
    t = np.linspace(0, 2, 17)
    u = t / 2
    s = u**3 * (10 - 15 * u + 6 * u**2)
    q = way.q(t)
    np.testing.assert_allclose(q, robot.interpolate(q0, q1, s), atol=1e-13)
    for first, _ in robot.quaternions:
        part = slice(first, first + 4)
        slerp = Slerp([0, 1], scipy_rotation(np.array([q0[part], q1[part]])))
        error = (slerp(s).inv() * scipy_rotation(q[:, part])).magnitude()
        assert error.max() < 1e-7  # acos near one


def test_angular_velocity_of_a_rotation_vector_is_that_of_its_matrix():
    random = np.random.default_rng(5)
    for size in (1e-6, 5e-3, 0.02, 1.0, 3.0):
        r, dr, ddr = random.normal(size=(3, 3))
        r *= size / np.linalg.norm(r)
        h = 1e-4

        def rotation(t: float, r=r, dr=dr, ddr=ddr) -> Rotation:
            return Rotation.from_rotvec(r + t * dr + t * t / 2 * ddr)

        def omega(t: float, h=h, rotation=rotation) -> np.ndarray:
            return (rotation(t - h).inv() * rotation(t + h)).as_rotvec() / (2 * h)

        np.testing.assert_allclose(angular_velocity(r, dr), omega(0.0), atol=1e-6)
        alpha = angular_acceleration(r, dr, ddr)
        np.testing.assert_allclose(alpha, (omega(h) - omega(-h)) / (2 * h), atol=1e-5)
        back = rates_of(r, angular_velocity(r, dr), alpha)
        np.testing.assert_allclose(back, (dr, ddr), atol=1e-9)


# ---------------------------------------------------------------------------- splines


def test_splines_of_numbers_are_those_of_scipy():
    robot = planar_arm()
    points = robot.random(6, 6)
    times = np.array([0.0, 0.7, 1.0, 2.2, 3.0, 3.4])
    t = np.linspace(0, 3.4, 50)
    cubic = robot.trajectory(points, times, kind="cubic")
    theirs = CubicSpline(times, points, bc_type="clamped")
    rest = [(1, np.zeros(2)), (2, np.zeros(2))]
    quintic = robot.trajectory(points, times)
    fifth = make_interp_spline(times, points, k=5, bc_type=(rest, rest))
    for order, tolerance in enumerate((1e-11, 1e-10, 1e-9)):
        np.testing.assert_allclose(cubic.at(t)[order], theirs(t, order), atol=tolerance)
        np.testing.assert_allclose(quintic.at(t)[order], fifth(t, order), atol=10 * tolerance)


def test_the_quintic_between_two_waypoints_is_the_polynomial_of_least_jerk():
    robot = planar_arm()
    delta = np.array([1.0, -0.6])
    way = robot.trajectory([np.zeros(2), delta], 2.0)
    velocity, acceleration = way.peaks
    # 15/8 and 10/√3 of the mean, Flash & Hogan 1985
    np.testing.assert_allclose(velocity, 15 / 8 * np.abs(delta) / 2, rtol=1e-12)
    np.testing.assert_allclose(acceleration, 10 / math.sqrt(3) * np.abs(delta) / 4, rtol=1e-12)


def test_velocities_at_the_ends_are_those_given():
    robot = flyer()
    ends = np.random.default_rng(7).normal(size=(2, robot.nv))
    for kind in ("cubic", "quintic"):
        way = robot.trajectory(robot.random(8, 3), [0, 1, 3], kind=kind, ends=ends)
        np.testing.assert_allclose(way.at(0.0)[1], ends[0], atol=1e-12)
        np.testing.assert_allclose(way.at(3.0)[1], ends[1], atol=1e-10)


# ----------------------------------------------------------------------------- limits


@pytest.mark.parametrize("make", [planar_arm, flyer])
@pytest.mark.parametrize("kind", KINDS)
def test_limits_are_kept_and_one_is_reached(make, kind):
    robot = make()
    random = np.random.default_rng(9)
    velocity, acceleration = random.uniform(0.5, 2.0, robot.nv), random.uniform(1, 9, robot.nv)
    points = robot.random(10, 4)
    way = robot.trajectory(points, kind=kind, velocity=velocity, acceleration=acceleration)
    _, v, a = way.at(np.linspace(0, way.duration, 5001))
    of_velocity = np.abs(v / velocity).max()
    of_acceleration = np.abs(a / acceleration).max()
    assert max(of_velocity, of_acceleration) <= 1 + 1e-9
    assert max(of_velocity, of_acceleration) > 0.99


def test_the_limits_of_the_joints_hold_where_none_are_given():
    robot = planar_arm()
    way = robot.trajectory([[0.0, 0.0], [1.0, -2.0]])
    np.testing.assert_allclose((way.peaks[0] / robot.velocity_limits).max(), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("distance", "velocity", "acceleration"), [(2.0, 1.0, 4.0), (0.1, 1.0, 4.0), (0.25, 1.0, 4.0)]
)
def test_a_trapezoid_takes_the_least_time(distance, velocity, acceleration):
    robot = planar_arm()
    way = robot.trajectory(
        [[0.0, 0.0], [distance, 0.0]],
        kind="trapezoid",
        velocity=velocity,
        acceleration=acceleration,
    )
    # no motion within the limits is ahead of the one that starts with full acceleration, and none
    # that ends at rest is later than the one that brakes with it: the earliest end is where both
    # touch, d/v + v/a, or 2 √(d/a) where the speed is never reached
    least = (
        distance / velocity + velocity / acceleration
        if distance >= velocity**2 / acceleration
        else 2 * math.sqrt(distance / acceleration)
    )
    assert way.duration == pytest.approx(least, rel=1e-13)
    t = np.linspace(0, least, 400)
    envelope = np.minimum(velocity, acceleration * np.minimum(t, least - t))
    np.testing.assert_allclose(way.v(t)[:, 0], envelope, atol=1e-12)


def test_joints_arrive_together_in_proportion_or_each_by_its_own_trapezoid():
    robot = planar_arm()
    points = [[0.0, 0.0], [1.0, -0.2]]
    limits = {"velocity": [1.0, 2.0], "acceleration": [8.0, 0.5]}
    straight = robot.trajectory(points, kind="trapezoid", **limits)
    q = straight.q(np.linspace(0, straight.duration, 50))
    np.testing.assert_allclose(q[:, 1], -0.2 * q[:, 0], atol=1e-14)
    own = robot.trajectory(points, kind="trapezoid", together=False, **limits)
    # the second joint needs 2 √(0.2/0.5) = 1.265 s, more than the 1.125 s of the first
    assert own.duration == pytest.approx(2 * math.sqrt(0.4), rel=1e-12)
    assert own.duration < straight.duration
    np.testing.assert_allclose(own.peaks[1], [8.0, 0.5], rtol=1e-12)
    np.testing.assert_allclose(own.q(own.duration), points[1], atol=1e-13)
    slow = robot.trajectory(points, 3.0, kind="trapezoid", **limits)
    assert slow.duration == 3.0
    np.testing.assert_allclose(slow.q(3.0), points[1], atol=1e-13)


def test_a_waypoint_given_twice_is_passed_once():
    robot = planar_arm()
    points = [[0.0, 0.0], [0.0, 0.0], [0.5, 0.0]]
    way = robot.trajectory(points, kind="trapezoid", velocity=1.0, acceleration=2.0)
    np.testing.assert_allclose(way.waypoint_times, [0, 0, 1.0])


def test_a_slower_trajectory_passes_the_same_points():
    robot = flyer()
    way = robot.trajectory(robot.random(11, 3), [1.0, 2.0, 4.0])
    slow = way.slowed(2.0)
    t = np.linspace(0, 3, 31)
    fast, slower = way.at(1 + t), slow.at(1 + 2 * t)
    np.testing.assert_allclose(fast[0], slower[0], atol=1e-12)
    np.testing.assert_allclose(fast[1], 2 * slower[1], atol=1e-12)
    np.testing.assert_allclose(fast[2], 4 * slower[2], atol=1e-11)


def test_a_trajectory_is_slowed_down_to_the_efforts_of_the_joints():
    # an arm that turns about the vertical: τ = J a
    m = bl.Model("turntable")
    disc = m.body("disc", mass=1.0, inertia=(0.3, 0.3, 0.5))
    m.joint("revolute", "axle", m.ground, disc, effort_limits=2.0)
    table = bl.Robot(m)
    way = table.trajectory([[0.0], [1.0]], 0.5)
    factor = math.sqrt(0.5 * way.peaks[1][0] / 2.0)
    assert factor > 1
    assert way.within_effort().duration == pytest.approx(0.5 * factor, rel=1e-5)
    assert way.within_effort(1e3) is way
    # with gravity, too, and never beyond the limits
    robot = planar_arm()
    fast = robot.trajectory([[-1.0, 0.0], [1.0, -2.0]], 0.4)
    slow = fast.within_effort()
    tau = robot.inverse_dynamics(*slow.at(np.linspace(0, slow.duration, 3000)))
    largest = (np.abs(tau) / robot.effort_limits).max()
    assert 1 - 1e-4 < largest < 1
    for points, seed in (([[-1.0, 0.0], [1.0, -2.0]], 1), ([[-1, 0], [0.3, 0.5], [1, -2]], 2)):
        slow = robot.trajectory(points, np.linspace(0, 0.4, len(points))).within_effort()
        times = np.random.default_rng(seed).uniform(0, slow.duration, 20_000)
        q, v, a = slow.at(np.concatenate([times, slow.breaks]))
        assert (np.abs(robot.inverse_dynamics(q, v, a)) < robot.effort_limits).all()
    with pytest.raises(ModelError, match=r"joint1\.angle needs .* no slower motion helps"):
        fast.within_effort([1.0, 8.0])


def test_a_spline_that_swings_beyond_a_limit_says_which():
    robot = planar_arm()
    points = [[0.0, 0.0], [1.95, 0.4], [1.95, -2.0]]
    assert robot.within_limits(points).all()
    assert robot.trajectory(points, 2.0).outside == ("joint1.angle", "joint2.angle")
    assert (
        robot.trajectory(points, 2.0, kind="trapezoid", velocity=9, acceleration=99).outside == ()
    )


# ------------------------------------------------------------------------ lines, results


def six_axes() -> bl.Robot:
    rows = [
        (0, "90 deg", 0.66, 0), (0.43, 0, 0, 0), (0.02, "-90 deg", 0.15, 0),
        (0, "90 deg", 0.43, 0), (0, "-90 deg", 0, 0), (0, 0, 0.1, 0),
    ]  # fmt: skip
    return bl.Robot(from_dh(rows, masses=[1.0] * 6, inertias=[0.01] * 6))


def test_a_frame_goes_along_a_straight_line():
    robot = six_axes()
    q = np.array([0.2, 0.5, -0.9, 0.3, 0.7, -0.2])
    T = robot.pose("link6", q)
    way = robot.line("link6", q, T[:3, 3] + [-0.1, -0.15, -0.08], velocity=1.0)
    np.testing.assert_allclose(way.peaks[0].max(), 1.0, rtol=1e-12)
    poses = robot.pose("link6", way.q(np.linspace(0, way.duration, 101)))
    moved = poses[:, :3, 3] - T[:3, 3]
    direction = moved[-1] / np.linalg.norm(moved[-1])
    off = moved - np.outer(moved @ direction, direction)
    assert np.abs(off).max() < 1e-6
    np.testing.assert_allclose(moved[-1], [-0.1, -0.15, -0.08], atol=1e-9)
    assert np.abs(poses[:, :3, :3] - T[:3, :3]).max() < 1e-6
    turned = T.copy()
    turned[:3, :3] = T[:3, :3] @ Rotation.from_rotvec([0.2, -0.1, 0.3]).as_matrix()
    about = robot.line("link6", q, turned, 2.0)
    final = robot.pose("link6", about.q(2.0))
    np.testing.assert_allclose(final, turned, atol=1e-9)
    with pytest.raises(AssemblyError, match="cannot reach"):
        robot.line("link6", q, [5.0, 0.0, 0.0], 2.0)


def test_samples_and_results_hold_the_motion():
    robot = planar_arm()
    way = robot.trajectory([[0, 0], [1, -1]], 1.0)
    samples = way.sampled(0.3)
    np.testing.assert_allclose(samples.t, [0, 0.3, 0.6, 0.9, 1.2])
    np.testing.assert_allclose(samples.q[-1], [1, -1], atol=1e-14)
    results = way.results(0.01)
    np.testing.assert_allclose(results["joint2.angle"], way.q(results.t)[:, 1])
    tip = results.frame("link2").position
    np.testing.assert_allclose(tip[-1], robot.pose("link2", [1.0, -1.0])[:3, 3], atol=1e-12)
    figure = way.plot()
    assert len(figure.axes) == 3


def test_what_makes_no_sense_is_said():
    robot = planar_arm()
    ends = [[0.0, 0.0], [1.0, 1.0]]
    with pytest.raises(ShapeError, match="two or more rows of 2"):
        robot.trajectory([0.0, 0.0])
    with pytest.raises(ShapeError, match="q has 2 coordinates"):
        robot.trajectory(np.zeros((2, 3)))
    with pytest.raises(ModelError, match="trapezoid, quintic, cubic; not 'septic'"):
        robot.trajectory(ends, kind="septic")
    with pytest.raises(ModelError, match="a trapezoid needs the largest accelerations"):
        robot.trajectory(ends, kind="trapezoid")
    with pytest.raises(ModelError, match="times are 2 that increase"):
        robot.trajectory(ends, [1.0, 0.5])
    with pytest.raises(ModelError, match=r"velocity of joint2\.angle_rate must be above zero"):
        robot.trajectory(ends, velocity=[1.0, 0.0])
    with pytest.raises(ShapeError, match="one number or one for each of 2"):
        robot.trajectory(ends, velocity=[1.0, 1.0, 1.0])
    with pytest.raises(ModelError, match="waypoints 1 and 2 are the same"):
        robot.trajectory([*ends, ends[1]])
    with pytest.raises(ModelError, match=r"takes 2\.\d+ s within the limits, and 1 s are given"):
        robot.trajectory(ends, 1.0, kind="trapezoid", velocity=0.5, acceleration=5.0)
    with pytest.raises(ModelError, match="nothing says how long"):
        flyer().trajectory(flyer().random(0, 2))
