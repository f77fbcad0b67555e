"""Orientations in every convention agree with SciPy's, and no angle jumps or goes missing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biela.errors import ResultsError, ShapeError
from biela.results.euler_angles import euler_angles, from_euler_angles, yaw_pitch_roll
from biela.results.orientation import (
    axis_angle,
    euler_parameters,
    from_axis_angle,
    rotation_about,
    rotation_matrix,
    unwrap_by_rate,
)

SEQUENCES = ["".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] != s[2]]


def random_rotations(count=200, seed=1):
    return Rotation.random(count, np.random.default_rng(seed))


def angle_between(R, S):
    return Rotation.from_matrix(np.swapaxes(R, -1, -2) @ S).magnitude()


def wrapped(angles):
    return np.arctan2(np.sin(angles), np.cos(angles))


def test_there_are_twelve_sequences():
    assert len(SEQUENCES) == 12


def test_matrices_and_euler_parameters_agree_with_scipy_and_come_back():
    rotations = random_rotations()
    R = rotations.as_matrix()
    p = euler_parameters(R)
    theirs = rotations.as_quat()[:, [3, 0, 1, 2]]
    assert np.abs(np.abs(np.einsum("ki,ki->k", p, theirs)) - 1).max() < 1e-14
    assert rotation_matrix(p) == pytest.approx(R, rel=0, abs=1e-14)
    assert rotation_matrix(R) == pytest.approx(R, rel=0, abs=1e-14)
    assert euler_parameters(R[3]) == pytest.approx(
        theirs[3] * np.sign(theirs[3, 0]), rel=0, abs=1e-14
    )
    assert rotation_matrix(p[3]).shape == (3, 3)


@pytest.mark.parametrize("axis", ["x", "y", "z", (1.0, -2.0, 0.5)])
def test_half_turns_have_euler_parameters_to_full_accuracy(axis):
    """There e0 = 0, where the formula e = (R - Rᵀ)/4 e0 fails."""
    p = from_axis_angle(axis, [np.pi, np.pi - 1e-9, np.pi + 1e-9])
    assert (
        np.abs(np.abs(np.einsum("ki,ki->k", euler_parameters(rotation_matrix(p)), p)) - 1).max()
        < 1e-15
    )


def test_signs_of_euler_parameters_do_not_jump_over_several_turns():
    t = np.linspace(0, 3, 200)
    p = from_axis_angle((0.2, 0.3, 0.9), 7.0 * t)
    signs = np.random.default_rng(3).choice([-1.0, 1.0], len(t))
    for given in (p * signs[:, None], rotation_matrix(p)):
        assert euler_parameters(given) == pytest.approx(p, rel=0, abs=1e-13)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("axes", ["body", "fixed"])
def test_the_angles_of_every_sequence_are_those_of_scipy(sequence, axes):
    rotations = random_rotations()
    theirs = rotations.as_euler(sequence.upper() if axes == "body" else sequence)
    ours = euler_angles(rotations.as_matrix(), sequence, axes)
    assert np.abs(wrapped(ours - theirs)).max() < 1e-12
    assert np.abs(ours).max() <= np.pi
    back = rotation_matrix(from_euler_angles(ours, sequence, axes))
    assert back == pytest.approx(rotations.as_matrix(), rel=0, abs=1e-14)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("axes", ["body", "fixed"])
@pytest.mark.parametrize("offset", [0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-6])
def test_in_and_near_gimbal_lock_the_angles_still_give_the_orientation(sequence, axes, offset):
    locks = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
    given = np.array([(0.7, lock + s * offset, -1.9) for lock in locks for s in (-1, 1)])
    R = rotation_matrix(from_euler_angles(given, sequence, axes))
    for orientation in (R, R[::-1]):  # the third angle that is kept differs
        angles = euler_angles(orientation, sequence, axes)
        assert np.isfinite(angles).all()
        again = rotation_matrix(from_euler_angles(angles, sequence, axes))
        # inside the lock the middle angle is known, and the others are off by at most its width
        assert angle_between(again, orientation).max() < 2e-7


@pytest.mark.parametrize("axes", ["body", "fixed"])
def test_through_gimbal_lock_the_third_angle_is_kept(axes):
    """Pitch goes to 90 degrees, stays there while the body yaws, with roll 0.4 all the time."""
    pitch = np.array([1.2, 1.4, np.pi / 2, np.pi / 2, np.pi / 2])
    yaw = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    given = np.stack([yaw, pitch, np.full(5, 0.4)], axis=1)
    assert euler_angles(from_euler_angles(given, "zyx", axes), "zyx", axes) == pytest.approx(
        given, rel=0, abs=1e-9
    )


def test_yaw_pitch_roll_is_the_closed_form_of_books():
    p = euler_parameters(random_rotations(50).as_matrix())
    e0, e1, e2, e3 = p.T
    expected = np.stack(
        [
            np.arctan2(2 * (e0 * e3 + e1 * e2), 1 - 2 * (e2**2 + e3**2)),
            np.arcsin(2 * (e0 * e2 - e1 * e3)),
            np.arctan2(2 * (e0 * e1 + e2 * e3), 1 - 2 * (e1**2 + e2**2)),
        ],
        axis=1,
    )
    assert yaw_pitch_roll(p) == pytest.approx(expected, rel=0, abs=1e-12)


def test_axis_and_angle_agree_with_the_rotation_vector_of_scipy():
    rotations = random_rotations()
    axes, angles = axis_angle(rotations.as_matrix())
    assert axes * angles[:, None] == pytest.approx(rotations.as_rotvec(), rel=0, abs=1e-13)
    axis, angle = axis_angle(np.eye(3))
    assert (axis.tolist(), float(angle)) == ([0.0, 0.0, 1.0], 0.0)


def test_turns_about_an_axis_are_counted_without_rates_if_samples_are_fine():
    t = np.linspace(0, 4, 101)
    angle = 0.5 + 9 * np.sin(t)
    for axis in ("y", "-y", (0.3, 0.1, -2.0)):
        R = rotation_matrix(from_axis_angle(axis, angle))
        assert rotation_about(R, axis) == pytest.approx(angle, rel=0, abs=1e-12)


def test_turns_about_an_axis_are_counted_with_rates_where_a_step_is_many_turns():
    t = np.linspace(0, 2, 9)
    u = np.array([0.6, 0.0, 0.8])
    angle, rate = 0.5 + 90 * t + 3 * t**2, 90 + 6 * t
    assert np.diff(angle).min() > 3 * 2 * np.pi
    p = from_axis_angle(u, angle)
    found = rotation_about(p, u, rate[:, None] * u, t)
    # the start is known up to whole turns
    assert found == pytest.approx(angle, rel=0, abs=1e-11)


def test_the_part_of_a_rotation_about_an_axis_is_its_twist():
    """A body spins about its z axis by ψ and is tilted by 0.6 about x: the twist about z is ψ."""
    t = np.linspace(0, 5, 26)
    psi = 20 * t
    R = rotation_matrix(from_euler_angles(np.stack([0 * t + 0.6, 0 * t, psi], 1), "xyz"))
    w = 20 * R[:, :, 2]  # along the tilted axis, in the fixed frame
    assert rotation_about(R, "z", w, t) == pytest.approx(psi, rel=0, abs=1e-11)


def test_an_angle_known_up_to_turns_becomes_continuous_by_its_rate():
    t = np.sort(np.random.default_rng(5).uniform(0, 10, 60))
    theta = 40 * np.sin(t) + 8 * t
    rate = 40 * np.cos(t) + 8
    h = np.diff(t).max()
    assert h**3 * 40 / 12 < np.pi < np.abs(np.diff(theta)).max()  # np.unwrap would be wrong
    raw = wrapped(theta)
    found = unwrap_by_rate(raw, rate, t)
    assert found - raw[0] == pytest.approx(theta - theta[0], rel=0, abs=1e-12)
    degrees = unwrap_by_rate(np.degrees(raw), np.degrees(rate), t, 360.0)
    assert degrees == pytest.approx(np.degrees(found), rel=0, abs=1e-10)
    assert np.abs(np.unwrap(raw) - found).max() > 6


def test_an_unknown_rate_counts_as_zero_and_an_unknown_angle_stays_one():
    found = unwrap_by_rate([3.0, -3.0, np.nan, 3.0], [np.nan] * 4, [0, 1, 2, 3])
    assert found[1] == pytest.approx(-3 + 2 * np.pi) and np.isnan(found[2])
    assert unwrap_by_rate([], [], []).shape == (0,)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: euler_parameters(np.eye(2)), ShapeError, r"\(2, 2\)"),
        (lambda: euler_parameters(2 * np.eye(3)), ResultsError, "not a rotation"),
        (lambda: euler_parameters(np.diag([1.0, 1, -1])), ResultsError, "not a rotation"),
        (lambda: euler_parameters(np.zeros((2, 4))), ResultsError, "row 0"),
        (lambda: euler_angles(np.eye(3), "zzx"), ResultsError, "no two neighbours"),
        (lambda: euler_angles(np.eye(3), "zy"), ResultsError, "three of x, y, z"),
        (lambda: euler_angles(np.eye(3), "zyx", "space"), ResultsError, "intrinsic"),
        (lambda: rotation_about(np.eye(3), "w"), ResultsError, "axis 'w'"),
        (lambda: rotation_about(np.eye(3), (0, 0, 0)), ResultsError, "not all zero"),
        (lambda: from_euler_angles([1.0, 2.0]), ShapeError, r"\(3,\)"),
        (lambda: unwrap_by_rate([1.0], [1.0, 2.0], [0.0]), ShapeError, r"\(n,\)"),
    ],
)
def test_what_is_no_orientation_is_refused_in_words(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
