from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from scipy.spatial.transform import Rotation

import biela as bl
from biela.analysis.inverse_kinematics import (
    CoordinateTarget,
    DirectionTarget,
    InverseKinematics,
    PointTarget,
    PoseTarget,
)
from biela.analysis.inverse_kinematics.rotation_error import rotation_vector, turn_between
from biela.errors import ModelError, ShapeError
from tests.analysis.arms import SEVEN_JOINTS, WRIST_ARM, arm, five_bar, forward, planar
from tests.mechanisms import rate

L1, L2 = 0.4, 0.3
SEVEN_LIMITS = (
    (-2.9, 2.9),
    (-1.8, 1.8),
    (-2.9, 2.9),
    (-3.1, -0.07),
    (-2.9, 2.9),
    (-0.02, 3.8),
    (-2.9, 2.9),
)


@pytest.fixture(scope="module")
def two_link():
    return planar((L1, L2))


@pytest.fixture(scope="module")
def seven():
    return arm(SEVEN_JOINTS, SEVEN_LIMITS)


@pytest.fixture(scope="module")
def seven_ik(seven):
    return InverseKinematics(seven, PoseTarget("hand"))


def both_elbows(x, y, l1=L1, l2=L2):
    """The two positions of a planar arm with its tip at (x, y): law of cosines."""
    c = (x * x + y * y - l1 * l1 - l2 * l2) / (2 * l1 * l2)
    found = []
    for sign in (1, -1):
        b = sign * np.arccos(c)
        a = np.arctan2(y, x) - np.arctan2(l2 * np.sin(b), l1 + l2 * np.cos(b))
        found.append(np.array([a, b]))
    return found


def turned(a, b):
    """The difference of angles, between -π and π."""
    return (np.asarray(a) - np.asarray(b) + np.pi) % (2 * np.pi) - np.pi


def random_positions(limits, count, seed):
    low, high = np.array(limits).T
    return low + (high - low) * np.random.default_rng(seed).random((count, len(low)))


# --- against closed forms -------------------------------------------------------------------------


@pytest.mark.parametrize("elbow", [0, 1])
def test_a_planar_arm_reaches_a_point_with_the_elbow_on_the_side_it_starts(two_link, elbow):
    x, y = 0.35, 0.4
    ik = InverseKinematics(two_link, PointTarget("hand"))
    solution = ik.solve((x, y, 0.0), [0.5, 0.9 * (1 - 2 * elbow)])
    assert solution.converged and solution.restarts == 0
    assert np.abs(turned(solution.q, both_elbows(x, y)[elbow])).max() < 1e-12
    # det J = l1 l2 sin b is the product of the singular values of the two rows in the plane
    J = np.array(
        [
            [
                -L1 * np.sin(solution.q[0]) - L2 * np.sin(solution.q.sum()),
                -L2 * np.sin(solution.q.sum()),
            ],
            [
                L1 * np.cos(solution.q[0]) + L2 * np.cos(solution.q.sum()),
                L2 * np.cos(solution.q.sum()),
            ],
        ]
    )
    assert solution.sigma_min == pytest.approx(np.linalg.svd(J)[1][-1], rel=1e-9)


def test_limits_choose_the_other_elbow(two_link):
    ik = InverseKinematics(two_link, PointTarget("hand"), limits={"q2": (-3.0, -0.1)})
    for start in ([0.5, 0.9], [2.0, 2.0], [-1.0, -0.2]):
        solution = ik.solve((0.35, 0.4, 0.0), start)
        assert solution.converged
        assert np.abs(turned(solution.q, both_elbows(0.35, 0.4)[1])).max() < 1e-11


def test_lengths_may_be_parameters_and_others_be_given():
    s = bl.SymbolicSystem("arm")
    a, b = s.coordinates("a b")
    l1, l2 = s.parameters(l1=L1, l2=L2)
    upper = s.base.rotated("upper", "z", a)
    lower = upper.rotated("lower", "z", b)
    elbow = s.origin.offset("elbow", upper.vector(l1, 0, 0))
    s.frame("hand", elbow.offset("tip", lower.vector(l2, 0, 0)), lower)
    s.solid("forearm", elbow, lower, mass=1.0)
    plain = InverseKinematics(s, PointTarget("hand"))
    longer = InverseKinematics(s, PointTarget("hand"), parameters={"l2": 0.5})
    for ik, l2_value in ((plain, L2), (longer, 0.5)):
        solution = ik.solve((0.35, 0.4, 0.0), {"a": 0.5, "b": 0.9})
        assert solution.converged
        assert np.abs(turned(solution.q, both_elbows(0.35, 0.4, L1, l2_value)[0])).max() < 1e-11


def test_three_links_with_a_direction_have_the_closed_form_of_two():
    lengths = (0.5, 0.4, 0.2)
    ik = InverseKinematics(
        planar(lengths), [PointTarget("hand"), DirectionTarget("hand", (1, 0, 0))]
    )
    phi, x, y = 0.7, 0.45, 0.5
    way = np.array([np.cos(phi), np.sin(phi)])
    solution = ik.solve([(x, y, 0), (*(3 * way), 0)], [0.3, 0.8, 0.1])
    assert solution.converged
    wrist = np.array([x, y]) - 0.2 * way
    expected = [np.append(q, phi - q.sum()) for q in both_elbows(wrist[0], wrist[1], 0.5, 0.4)]
    assert min(np.abs(turned(solution.q, q)).max() for q in expected) < 1e-11


def test_an_arm_with_a_wrist_centre_has_its_first_three_angles_from_triangles():
    ik = InverseKinematics(arm(WRIST_ARM), PoseTarget("hand"))
    rng = np.random.default_rng(5)
    for _ in range(20):
        pose = forward(WRIST_ARM, rng.uniform(-1.2, 1.2, 6))
        solution = ik.solve(pose, [0.1, 0.3, 0.5, 0.2, 0.4, 0.1], seed=3)
        assert solution.converged
        assert np.abs(forward(WRIST_ARM, solution.q) - pose).max() < 1e-10
        centre = pose[:3, 3] - 0.2 * pose[:3, 0] - np.array([0, 0, 0.4])
        c = (centre @ centre - 0.5**2 - 0.45**2) / (2 * 0.5 * 0.45)
        assert np.cos(solution["q3"]) == pytest.approx(c, abs=1e-9)
        heading = np.arctan2(centre[1], centre[0])
        assert abs(np.sin(solution["q1"] - heading)) < 1e-8  # forwards or over the shoulder


# --- poses of an arm with joints to spare ---------------------------------------------------------


def test_random_poses_are_reached_within_limits(seven_ik):
    q = random_positions(SEVEN_LIMITS, 300, 1)
    poses = np.array([forward(SEVEN_JOINTS, row) for row in q])
    found = seven_ik.batch(poses, progress=False)
    assert found.solved > 0.99
    low, high = np.array(SEVEN_LIMITS).T
    assert (found.q >= low).all() and (found.q <= high).all()
    for row, pose, good in zip(found.q, poses, found.converged, strict=True):
        reached = forward(SEVEN_JOINTS, row)
        angle = Rotation.from_matrix(reached[:3, :3] @ pose[:3, :3].T).magnitude()
        miss = max(np.abs(reached - pose)[:3, 3].max(), angle)
        assert (miss < 1e-10) == good


def test_one_pose_alone_and_in_a_batch_are_the_same_and_the_seed_decides(seven_ik):
    q = random_positions(SEVEN_LIMITS, 600, 2)
    poses = np.array([forward(SEVEN_JOINTS, row) for row in q])
    found = seven_ik.batch(poses, progress=False)
    again = seven_ik.batch(poses, threads=2, progress=False)
    assert np.array_equal(found.q, again.q)
    k = int(np.argmax((found.restarts > 0) & found.converged))
    alone = seven_ik.solve(poses[k])
    assert np.array_equal(alone.q, found.q[k])
    assert alone.restarts == found.restarts[k] and alone.iterations == found.iterations[k]
    other = seven_ik.solve(poses[k], seed=7)
    assert other.converged and not np.array_equal(other.q, alone.q)


def test_a_pose_may_be_a_matrix_a_pair_or_a_row(seven, seven_ik):
    pose = forward(SEVEN_JOINTS, [0.3, 0.4, -0.2, -1.5, 0.3, 1.2, 0.5])
    by_matrix = seven_ik.solve(pose)
    by_pair = seven_ik.solve((pose[:3, 3], pose[:3, :3]))
    by_row = seven_ik.solve(np.concatenate([pose[:3, 3], pose[:3, :3].ravel()]))
    assert np.array_equal(by_matrix.q, by_pair.q) and np.array_equal(by_matrix.q, by_row.q)


# --- targets out of reach -------------------------------------------------------------------------


def test_a_point_beyond_reach_is_approached_by_the_stretched_arm(two_link):
    ik = InverseKinematics(two_link, PointTarget("hand"))
    solution = ik.solve((1.2, 0.9, 0.0), [0.1, 0.5])
    assert not solution.converged
    assert solution.error["point of hand"] == pytest.approx(1.5 - L1 - L2, abs=1e-9)
    assert turned(solution.q, [np.arctan2(0.9, 1.2), 0.0]) == pytest.approx(0, abs=1e-5)
    assert "not reached" in solution.summary


def test_the_closest_position_within_limits_is_that_of_another_package():
    lengths, limits = (0.5, 0.4, 0.3), ((-0.5, 0.6), (-0.4, 1.0), (-0.3, 0.5))
    ik = InverseKinematics(
        planar(lengths, limits=limits),
        [PointTarget("hand"), DirectionTarget("hand", (1, 0, 0), 0.2)],
    )
    target, heading = np.array([-0.3, 0.9]), 2.6

    def rows(q):
        way = np.cumsum(q)
        tip = [np.dot(lengths, np.cos(way)), np.dot(lengths, np.sin(way))]
        return [*(tip - target), 0.2 * (way[-1] - heading)]

    low, high = np.array(limits).T
    best = min(
        (
            least_squares(rows, start, bounds=(low, high), xtol=1e-15, ftol=1e-15, gtol=1e-15)
            for start in itertools.product(*([a + 0.1, b - 0.1] for a, b in limits))
        ),
        key=lambda found: found.cost,
    )
    solution = ik.solve([(*target, 0), (np.cos(heading), np.sin(heading), 0)])
    assert not solution.converged
    assert solution.q == pytest.approx(best.x, abs=1e-6)
    cost = solution.error["point of hand"] ** 2 + (0.2 * solution.error["axis of hand"]) ** 2
    assert cost <= 2 * best.cost * (1 + 1e-9)
    near = np.minimum(best.x - low, high - best.x) < 1e-8
    assert solution.at_limit == tuple(f"q{k + 1}" for k in np.flatnonzero(near))
    assert solution.at_limit


def test_equations_hold_where_targets_cannot():
    """The nearest point of a circle: the constraint is exact, the target is missed."""
    s = bl.SymbolicSystem("ring")
    x, y = s.coordinates("x y")
    bead = s.origin.offset("bead", s.base.vector(x, y, 0))
    s.solid("bead", bead, s.base, mass=1.0)
    s.constrain(x**2 + y**2 - 1)
    s.frame("bead", bead, s.base)
    ik = InverseKinematics(s, PointTarget("bead"))
    solution = ik.solve((3.0, 4.0, 0.0), [1.0, -0.5])
    assert not solution.converged and solution.constraint_error < 1e-10
    assert solution.q == pytest.approx([0.6, 0.8], abs=1e-7)
    held = InverseKinematics(s, PointTarget("bead"), limits={"x": (-0.5, 0.5)})
    stopped = held.solve((3.0, 4.0, 0.0), [0.2, 0.9])
    assert stopped.q == pytest.approx([0.5, np.sqrt(0.75)], abs=1e-9)
    assert stopped.at_limit == ("x",)


# --- closed loops, drivers ------------------------------------------------------------------------


@pytest.mark.parametrize("twice", [False, True])
def test_a_five_bar_linkage_holds_its_loop_and_has_the_crank_angles_of_two_circles(twice):
    ik = InverseKinematics(five_bar(twice), PointTarget("tip"))
    x, y = 0.15, 0.95
    solution = ik.solve((x, y, 0.0))
    assert solution.converged and solution.constraint_error < 1e-10
    left = both_elbows(x + 0.3, y, 0.6, 0.8)
    right = both_elbows(x - 0.3, y, 0.6, 0.8)
    assert min(np.abs(turned(solution.q[:2], q)).max() for q in left) < 1e-10
    assert min(np.abs(turned(solution.q[2:], q)).max() for q in right) < 1e-10


@pytest.mark.parametrize("twice", [False, True])
def test_the_tip_of_a_five_bar_linkage_goes_to_the_nearest_place_two_rings_share(twice):
    ik = InverseKinematics(five_bar(twice), PointTarget("tip"))
    places = np.random.default_rng(0).uniform(-2.2, 2.2, (400, 2))

    def shared(p, slack=0.0):
        d = np.array([np.hypot(p[:, 0] - x, p[:, 1]) for x in (-0.3, 0.3)])
        return ((d > 0.2 - slack) & (d < 1.4 + slack)).all(axis=0)

    reachable = shared(places)
    found = ik.batch(np.column_stack([places, np.zeros(400)]), progress=False)
    assert np.array_equal(found.converged, reachable)
    assert found.constraint_error.max() < 1e-10
    angle = np.linspace(0, 2 * np.pi, 20001)
    circle = np.array([np.cos(angle), np.sin(angle)]).T
    rim = np.vstack([r * circle + (x, 0.0) for r in (0.2, 1.4) for x in (-0.3, 0.3)])
    rim = rim[shared(rim, 1e-12)]
    spacing = 1.4 * angle[1]
    for place, error in zip(
        places[~reachable], found.error["point of tip"][~reachable], strict=True
    ):
        nearest = np.hypot(*(rim - place).T).min()
        assert nearest - spacing < error < nearest + 1e-7


def test_a_driver_is_taken_at_the_time_given():
    ik = InverseKinematics(five_bar(driven=True), CoordinateTarget("a1"))
    for t in (0.4, 1.5):
        solution = ik.solve(2.0, t=t)
        assert solution.converged
        assert solution["a2"] == pytest.approx(0.2 + 0.5 * t, abs=1e-10)
        tips = [
            np.array(
                [
                    foot + 0.6 * np.cos(a) + 0.8 * np.cos(a + b),
                    0.6 * np.sin(a) + 0.8 * np.sin(a + b),
                ]
            )
            for foot, a, b in ((-0.3, *solution.q[:2]), (0.3, *solution.q[2:]))
        ]
        assert np.abs(tips[0] - tips[1]).max() < 1e-10


# --- several targets, relative targets, other coordinates -----------------------------------------


def test_several_frames_are_placed_at_once(seven):
    q = np.array([0.3, 0.5, -0.2, -1.4, 0.6, 1.1, 0.2])
    ik = InverseKinematics(seven, [PoseTarget("hand"), PointTarget("link3")])
    pose = forward(SEVEN_JOINTS, q)
    elbow = forward(SEVEN_JOINTS[:3], q[:3])[:3, 3]
    solution = ik.solve(
        {"pose of hand": pose, "point of link3": elbow}, [0.1, 0.3, 0, -1, 0.3, 1, 0]
    )
    assert solution.converged
    assert np.abs(forward(SEVEN_JOINTS, solution.q) - pose).max() < 1e-10
    assert np.abs(forward(SEVEN_JOINTS[:3], solution.q[:3])[:3, 3] - elbow).max() < 1e-10


def test_a_pose_may_be_relative_to_another_frame(seven):
    q = np.array([0.3, 0.5, -0.2, -1.4, 0.6, 1.1, 0.2])
    ik = InverseKinematics(seven, PoseTarget("hand", relative_to="link2"))
    wanted = np.linalg.inv(forward(SEVEN_JOINTS[:2], q[:2])) @ forward(SEVEN_JOINTS, q)
    start = np.array([0.7, -0.2, 0, -1, 0.3, 1, 0])
    solution = ik.solve(wanted, start)
    assert solution.converged
    found = np.linalg.inv(forward(SEVEN_JOINTS[:2], solution.q[:2])) @ forward(
        SEVEN_JOINTS, solution.q
    )
    assert np.abs(found - wanted).max() < 1e-10
    # what lies before link2 does not matter, and is not moved
    assert solution.q[:2] == pytest.approx(start[:2], abs=1e-12)


def test_a_point_of_a_frame_and_a_coordinate_are_targets(seven):
    ik = InverseKinematics(seven, [PointTarget("hand", (0.05, 0.0, 0.1)), CoordinateTarget("q3")])
    pose = forward(SEVEN_JOINTS, [0.3, 0.5, 0.25, -1.4, 0.6, 1.1, 0.2])
    place = pose[:3, :3] @ [0.05, 0.0, 0.1] + pose[:3, 3]
    solution = ik.solve([place, 0.25])
    assert solution.converged
    found = forward(SEVEN_JOINTS, solution.q)
    assert found[:3, :3] @ [0.05, 0.0, 0.1] + found[:3, 3] == pytest.approx(place, abs=1e-10)
    assert solution["q3"] == pytest.approx(0.25, abs=1e-10)


def test_a_body_with_euler_parameters_is_placed_anywhere():
    s = bl.SymbolicSystem("free")
    x, y, z = s.coordinates("x y z")
    base = s.orientation("body")
    point = s.origin.offset("centre", s.base.vector(x, y, z))
    s.solid("body", point, base, mass=1.0)
    s.frame("nose", point.offset("tip", base.vector(0.3, 0, 0)), base)
    s.limits(x, -2.0, 2.0)
    ik = InverseKinematics(s, PoseTarget("nose"))
    for turn in Rotation.random(10, random_state=4):
        R, place = turn.as_matrix(), np.array([0.3, -0.7, 1.1])
        solution = ik.solve((place, R))
        assert solution.converged
        e = solution.q[3:]
        assert np.linalg.norm(e) == pytest.approx(1, abs=1e-12)
        found = Rotation.from_quat([*e[1:], e[0]]).as_matrix()
        assert np.abs(found - R).max() < 1e-9
        assert solution.q[:3] == pytest.approx(place - R @ [0.3, 0, 0], abs=1e-10)


# --- freedoms that are left -----------------------------------------------------------------------


def test_the_freedom_left_is_used_for_what_is_preferred(seven_ik):
    low, high = np.array(SEVEN_LIMITS).T
    middle, half = (low + high) / 2, (high - low) / 2
    start = middle + 0.3
    blocked = 0
    for row in random_positions(SEVEN_LIMITS, 10, 8):
        pose = forward(SEVEN_JOINTS, row)
        plain = seven_ik.solve(pose, start)
        for objective, centre, unit in (("closest", start, 1.0), ("middle", middle, half)):
            solution = seven_ik.solve(pose, start, objective=objective)
            assert solution.converged
            assert np.abs(forward(SEVEN_JOINTS, solution.q) - pose).max() < 1e-9
            assert (solution.q >= low).all() and (solution.q <= high).all()
            before = np.linalg.norm((plain.q - centre) / unit)
            after = np.linalg.norm((solution.q - centre) / unit)
            # along the one motion that keeps the pose it falls no more, or a limit stops it
            motion = self_motion(solution.q)
            slope = (solution.q - centre) / unit**2 @ motion
            downhill = -np.sign(slope) * motion
            down = (solution.q - low < 1e-9) & (downhill < 0)
            stopped = down | ((high - solution.q < 1e-9) & (downhill > 0))
            assert abs(slope) < 1e-5 or stopped.any()
            blocked += bool(stopped.any())
            assert after < before or (stopped.any() and after == pytest.approx(before, rel=1e-12))
    assert 0 < blocked < 10


def self_motion(q, step=1e-5):
    """The velocities of the seven joints that leave the hand at rest, by differences."""
    columns = [
        (forward(SEVEN_JOINTS, q + d) - forward(SEVEN_JOINTS, q - d)).ravel() / (2 * step)
        for d in step * np.eye(7)
    ]
    return np.linalg.svd(np.array(columns).T)[2][-1]


def test_the_preferred_position_is_the_minimum_that_another_package_finds():
    lengths, start = np.array([0.5, 0.4, 0.3]), np.array([0.2, 0.5, 0.9])
    ik = InverseKinematics(planar(lengths), PointTarget("hand"))
    target = np.array([0.3, 0.7])
    plain = ik.solve((*target, 0), start)
    solution = ik.solve((*target, 0), start, objective="closest")

    def gap(q):
        way = np.cumsum(q)
        return [lengths @ np.cos(way) - target[0], lengths @ np.sin(way) - target[1]]

    found = minimize(
        lambda q: np.sum((q - start) ** 2),
        plain.q,
        constraints={"type": "eq", "fun": gap},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 300},
    )
    assert np.abs(gap(found.x)).max() < 1e-9
    assert solution.q == pytest.approx(found.x, abs=1e-5)
    wanted = ik.solve((*target, 0), start, objective={"q3": 0.4})
    assert wanted["q3"] == pytest.approx(0.4, abs=1e-4)


def test_a_joint_that_is_dear_moves_less():
    system = planar((0.5, 0.4, 0.3))
    start = np.array([0.2, 0.5, 0.9])
    free = InverseKinematics(system, PointTarget("hand")).solve((0.3, 0.7, 0), start)
    dear = InverseKinematics(system, PointTarget("hand"), weights={"q1": 100.0})
    assert abs(dear.solve((0.3, 0.7, 0), start).q - start)[0] < 0.3 * abs(free.q - start)[0]


# --- paths ----------------------------------------------------------------------------------------


def test_a_path_is_followed_with_the_velocities_and_accelerations_of_the_closed_form(two_link):
    ik = InverseKinematics(two_link, PointTarget("hand"))
    t = np.linspace(0, 2, 201)

    def place(t):
        return np.array([0.4 + 0.1 * np.cos(3 * t), 0.2 + 0.15 * np.sin(3 * t), 0 * t])

    def q(t):
        return both_elbows(*place(t)[:2])[0]

    speed = np.array([-0.3 * np.sin(3 * t), 0.45 * np.cos(3 * t), 0 * t]).T
    bend = np.array([-0.9 * np.cos(3 * t), -1.35 * np.sin(3 * t), 0 * t]).T
    path = ik.follow(t, place(t).T, [0.0, 1.0], rates=speed, second_rates=bend)
    assert path.converged.all()
    expected = np.array([q(x) for x in t])
    assert np.abs(turned(path.q, expected)).max() < 1e-10
    assert np.abs(np.diff(path.q, axis=0)).max() < 0.1
    v = np.array([rate(lambda tau, x=x: q(x + tau)) for x in t])
    a = np.array([rate(lambda tau, x=x: rate(lambda s: q(x + tau + s))) for x in t])
    assert np.abs(path.v - v).max() < 1e-6
    assert np.abs(path.a - a).max() < 1e-4
    by_splines = ik.follow(t, place(t).T, [0.0, 1.0], rates="splined")
    assert np.abs(by_splines.v - v)[5:-5].max() < 1e-4
    assert path.iterations[10:].mean() < 6


def test_an_arm_with_a_joint_to_spare_comes_to_rest_with_its_hand(seven_ik):
    t = np.linspace(0, 3, 301)
    run = np.minimum(t, 1.0)
    s, ds = 3 * run**2 - 2 * run**3, np.where(t < 1, 6 * run - 6 * run**2, 0.0)
    pose = forward(SEVEN_JOINTS, [0.3, 0.5, -0.2, -1.4, 0.6, 1.1, 0.2])
    way = np.array([0.1, -0.15, 0.05])
    values = np.repeat(pose[None], len(t), 0)
    values[:, :3, 3] += s[:, None] * way
    rates = np.hstack([ds[:, None] * way, np.zeros((len(t), 3))])
    path = seven_ik.follow(t, values, [0.3, 0.5, -0.2, -1.4, 0.6, 1.1, 0.2], rates=rates)
    assert path.converged.all()
    assert np.abs(path.q[101:] - path.q[101]).max() < 1e-12
    assert np.abs(path.v[110:]).max() < 1e-9
    # velocities belong to the positions, also along the motion that leaves the hand at rest
    between = (path.v[1:] + path.v[:-1]) / 2
    assert np.abs(np.diff(path.q, axis=0) / 0.01 - between)[:90].max() < 2e-3


def test_a_path_that_leaves_the_reach_says_where(two_link):
    ik = InverseKinematics(two_link, PointTarget("hand"))
    t = np.linspace(0, 1, 41)
    places = np.array([0.4 + 0.6 * t, 0 * t + 0.1, 0 * t]).T
    path = ik.follow(t, places, [0.1, 0.8])
    reachable = np.linalg.norm(places, axis=1) < L1 + L2
    assert np.array_equal(path.converged, reachable)
    assert np.isfinite(path.q).all()
    missed = np.linalg.norm(places, axis=1) - (L1 + L2)
    assert path.error["point of hand"][~reachable] == pytest.approx(missed[~reachable], abs=1e-6)


def test_velocities_of_a_driven_loop_obey_the_driver():
    ik = InverseKinematics(five_bar(driven=True), CoordinateTarget("a1"))
    t = np.linspace(0.4, 1.4, 101)
    path = ik.follow(t, 2.0 + 0.1 * np.sin(t), rates=0.1 * np.cos(t), second_rates=-0.1 * np.sin(t))
    assert path.converged.all()
    assert path.v[:, 2] == pytest.approx(0.5, abs=1e-10)
    differences = (path.q[2:] - path.q[:-2]) / (t[2] - t[0])
    assert np.abs(path.v[1:-1] - differences).max() < 1e-3
    second = (path.v[2:] - path.v[:-2]) / (t[2] - t[0])
    assert np.abs(path.a[1:-1] - second).max() < 1e-3


# --- the distance of orientations -----------------------------------------------------------------


def test_the_vector_of_a_turn_is_right_for_no_turn_and_for_half_a_turn():
    ws = bl.Workspace("turns")
    R = [[ws.symbol(f"r{i}{j}") for j in range(3)] for i in range(3)]
    f = bl.Function("vector", {"R": R}, {"e": list(rotation_vector(R))})
    rng = np.random.default_rng(3)
    for angle in (
        0.0,
        1e-14,
        1e-9,
        1e-5,
        0.1,
        1.0,
        2.0,
        2.2,
        3.0,
        np.pi - 1e-5,
        np.pi - 1e-9,
        np.pi,
    ):
        for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))):
            n = axis / np.linalg.norm(axis)
            e = f(Rotation.from_rotvec(angle * n).as_matrix())
            assert np.isfinite(e).all()
            # at half a turn both signs are right
            error = min(np.linalg.norm(e - angle * n), np.linalg.norm(e + (2 * np.pi - angle) * n))
            assert error < 1e-14 + 1e-12 * angle if angle < 2.9 else error < 1e-7
            assert np.linalg.norm(e) == pytest.approx(angle, abs=1e-14, rel=1e-10) or angle > 2.9


def test_the_turn_between_directions_leads_from_one_to_the_other():
    ws = bl.Workspace("directions")
    a, b = ([ws.symbol(f"{n}{i}") for i in range(3)] for n in "ab")
    f = bl.Function("turn", {"a": a, "b": b}, {"e": list(turn_between(a, b))})
    rng = np.random.default_rng(4)
    pairs = [tuple(x / np.linalg.norm(x) for x in rng.normal(size=(2, 3))) for _ in range(50)]
    pairs += [(x, x) for x, _ in pairs[:5]] + [(x, -x) for x, _ in pairs[:5]]
    pairs += [(x, -x) for x in np.eye(3)]
    for start, end in pairs:
        e = f(start, end)
        assert np.abs(Rotation.from_rotvec(e).apply(start) - end).max() < 1e-12
        assert np.linalg.norm(e) <= np.pi + 1e-12


def test_a_hand_that_starts_half_a_turn_away_is_turned():
    ik = InverseKinematics(
        arm(WRIST_ARM), [PointTarget("hand"), DirectionTarget("hand", (1, 0, 0))]
    )
    pose = forward(WRIST_ARM, [0.0, -0.6, 1.2, 0.0, 0.4, 0.0])
    start = [0.0, -0.6, 1.2, 0.0, 0.4, 0.0]
    solution = ik.solve([pose[:3, 3] - 0.4 * pose[:3, 0], -pose[:3, 0]], start)
    assert solution.converged
    assert forward(WRIST_ARM, solution.q)[:3, 0] == pytest.approx(-pose[:3, 0], abs=1e-10)


# --- bad input ------------------------------------------------------------------------------------


def test_what_cannot_be_a_target_is_refused_by_name(seven, seven_ik):
    with pytest.raises(ModelError, match=r"no frame 'foot'.*hand"):
        InverseKinematics(seven, PointTarget("foot"))
    with pytest.raises(ModelError, match="no coordinate 'q9'"):
        InverseKinematics(seven, CoordinateTarget("q9"))
    with pytest.raises(ModelError, match="at least one target"):
        InverseKinematics(seven, [])
    with pytest.raises(ModelError, match="limits of q2"):
        InverseKinematics(seven, PoseTarget("hand"), limits={"q2": (1.0, 0.0)})
    with pytest.raises(ModelError, match="weight"):
        PointTarget("hand", weight=0.0)
    with pytest.raises(ModelError, match="length zero"):
        DirectionTarget("hand", (0, 0, 0))
    with pytest.raises(ShapeError, match="pose of hand"):
        seven_ik.solve([1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match="not a rotation"):
        seven_ik.solve((np.zeros(3), 2 * np.eye(3)))
    with pytest.raises(ModelError, match="not finite"):
        seven_ik.solve((np.array([np.nan, 0, 0]), np.eye(3)))
    with pytest.raises(ModelError, match="objective"):
        seven_ik.solve(np.eye(4), objective="fastest")
    with pytest.raises(ModelError, match="increase"):
        seven_ik.follow([0.0, 0.0], np.stack([np.eye(4)] * 2))


def test_a_system_without_frames_names_what_is_missing():
    s = bl.SymbolicSystem("bare")
    (x,) = s.coordinates("x")
    s.solid("block", s.origin.offset("P", s.base.vector(x, 0, 0)), s.base, mass=1.0)
    with pytest.raises(ModelError, match="no frame 'hand'"):
        InverseKinematics(s, PointTarget("hand"))


# --- what cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ("solve", {"values": "here"}, "here"),
        ("solve", {"values": [0, 10**400, 0]}, "point of hand"),
        ("solve", {"values": (0.3, 0.4, 0), "seed": 0.5}, "solve: seed is a whole number, not 0.5"),
        ("solve", {"values": (0.3, 0.4, 0), "t": [1]}, "solve: t is a finite number, not"),
        ("solve", {"values": (0.3, 0.4, 0), "restarts": "9"}, "solve: restarts is a whole number"),
        ("solve", {"values": (0.3, 0.4, 0), "objective": {"q1": ";"}}, "solve: objective is"),
        ("batch", {"values": [(0.3, 0.4, 0)], "t": [[0], 1]}, "the times are an array of numbers"),
        (
            "follow",
            {"times": [0, 1], "values": [(0.3, 0.4, 0)] * 2, "rates": [[0, 0, 0], [1]]},
            "point of hand: its rates are an array of numbers, not",
        ),
    ],
)
def test_what_is_asked_in_other_words_is_refused(method, given, said, two_link):
    ik = InverseKinematics(two_link, PointTarget("hand"))
    with pytest.raises((ModelError, ShapeError), match=said):
        getattr(ik, method)(**given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"targets": ["hand"]}, "InverseKinematics: targets is"),
        ({"targets": 3.0}, "InverseKinematics: targets is"),
        ({"tolerance": None}, "InverseKinematics: tolerance is a finite number, not None"),
        ({"weights": {"q1": np.zeros(0)}}, "InverseKinematics: weights is"),
    ],
)
def test_a_solver_of_what_is_no_target_is_refused(given, said, two_link):
    with pytest.raises(ModelError, match=said):
        InverseKinematics(two_link, **{"targets": PointTarget("hand"), **given})
