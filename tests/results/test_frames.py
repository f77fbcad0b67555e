"""Frames and the points fixed in them move as closed forms and differences say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biela.errors import ResultsError, ShapeError, UnknownNameError
from biela.results import Channels, Results
from biela.results.frames import frame_channels
from biela.results.orientation import from_axis_angle, rotation_matrix

TILT = np.array([0.36, 0.48, 0.8])


def motion(t):
    """A frame on a screw about a tilted axis through the ground: pose, twist, acceleration."""
    angle, rate, change = 4 * t + np.sin(t), 4 + np.cos(t), -np.sin(t)
    R = rotation_matrix(from_axis_angle(TILT, angle))
    arm = R @ np.array([0.5, 0.0, 0.1])
    r = arm + 0.2 * t[:, None] * TILT
    w, alpha = rate[:, None] * TILT, change[:, None] * TILT
    v = np.cross(w, arm) + 0.2 * TILT
    a = np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    pose = np.concatenate([r, R.reshape(-1, 9)], axis=1)
    return pose, np.concatenate([v, w], axis=1), np.concatenate([a, alpha], axis=1)


def screw(t, *, twists=True, accelerations=True):
    """Results with a frame at rest and the one of the screw."""
    pose, twist, acceleration = motion(t)
    rest = np.tile([0.0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], (len(t), 1))
    groups = frame_channels(
        ["base", "tool"],
        np.stack([rest, pose], axis=1),
        np.stack([0 * twist, twist], axis=1) if twists else None,
        (lambda: np.stack([0 * twist, acceleration], axis=1)) if accelerations else None,
    )
    return Results("screw", t, {"q": Channels(["tool.x"], 9 + 0 * t[:, None], ["m"]), **groups})


def test_a_frame_has_its_columns_of_each_group():
    t = np.linspace(0, 3, 31)
    r = screw(t)
    pose, twist, acceleration = motion(t)
    tool = r.frame("tool")
    assert r.frames == ("base", "tool")
    assert np.array_equal(tool.position, pose[:, :3])
    assert np.array_equal(tool.orientation, pose[:, 3:].reshape(-1, 3, 3))
    assert np.array_equal(tool.velocity, twist[:, :3])
    assert np.array_equal(tool.angular_velocity, twist[:, 3:])
    assert np.array_equal(tool.acceleration, acceleration[:, :3])
    assert np.array_equal(tool.angular_acceleration, acceleration[:, 3:])
    assert not r.frame("base").position.any()


def test_channels_of_frames_have_units_and_rates_even_if_a_coordinate_has_their_name():
    r = screw(np.linspace(0, 1, 5))
    assert r["tool.x"][0] == 9.0 and r["poses.tool.x"][0] != 9.0
    assert r.rate("poses.tool.x") == "tool.vx" and r.rate("tool.vx") == "tool.ax"
    assert r.rate("tool.wz") == "tool.alphaz" and r.rate("tool.R11") is None
    units = [r.unit(name) for name in ("base.x", "tool.R12", "tool.wy", "tool.alphaz")]
    assert units == ["m", "", "rad/s", "rad/s²"]
    assert screw(np.array([0.0]), twists=False).rate("base.x") is None


def test_angles_agree_with_scipy_and_turns_are_counted():
    t = np.linspace(0, 3, 61)
    tool = screw(t).frame("tool")
    theirs = Rotation.from_matrix(tool.orientation).as_euler("YZX")
    difference = tool.angles("yzx") - theirs
    assert np.abs(np.exp(1j * difference) - 1).max() < 1e-12
    turned = 4 * t + np.sin(t)
    assert turned[-1] > 2 * np.pi
    assert tool.rotation_about(TILT) == pytest.approx(turned, rel=0, abs=1e-12)
    assert tool.euler_parameters == pytest.approx(from_axis_angle(TILT, turned), rel=0, abs=1e-12)
    assert tool.direction(TILT) == pytest.approx(np.tile(TILT, (61, 1)), rel=0, abs=1e-14)


def test_coarse_instants_need_the_twists_to_count_turns():
    t = np.array([0.0, 2.0, 4.0])  # more than a turn a step
    turned = 4 * t + np.sin(t)
    assert screw(t).frame("tool").rotation_about(TILT) == pytest.approx(turned, rel=0, abs=1e-12)
    alone = screw(t, twists=False, accelerations=False).frame("tool")
    assert alone.rotation_about(TILT)[2] != pytest.approx(turned[2], rel=1e-3)


def test_a_point_of_a_frame_moves_as_differences_say():
    h = 1e-3
    t = np.arange(0, 1, h)
    point = screw(t).frame("tool").point((0.3, -0.2, 0.7))
    place = np.array([0.3, -0.2, 0.7])
    pose = motion(t)[0]
    assert point.position[10] == pytest.approx(
        pose[10, :3] + pose[10, 3:].reshape(3, 3) @ place, rel=0, abs=1e-15
    )
    r = point.position
    # central differences: errors h²/6 |r‴| and h²/12 |r⁗|, with |r⁗| < 5⁴ and |r‴| < 5³
    v = (r[2:] - r[:-2]) / (2 * h)
    a = (r[2:] - 2 * r[1:-1] + r[:-2]) / h**2
    assert np.abs(point.velocity[1:-1] - v).max() < h**2 / 6 * 5**3
    assert np.abs(point.acceleration[1:-1] - a).max() < h**2 / 12 * 5**4
    assert point.name == "tool(0.3, -0.2, 0.7)"
    with pytest.raises(ShapeError, match="three numbers"):
        screw(t).frame("tool").point((1.0, 2.0))


@pytest.mark.parametrize(("twists", "order"), [(True, 4), (False, 3)])
def test_between_instants_a_frame_is_a_rotation_and_converges(twists, order):
    times = np.linspace(0.05, 2.95, 77)
    exact = motion(times)[0]
    errors = []
    for h in (0.1, 0.05):
        r = screw(np.arange(0, 3 + h / 2, h), twists=twists, accelerations=twists)
        found = r.frame("tool").at(times)
        R = found.orientation
        assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-14
        pose = np.concatenate([found.position, R.reshape(-1, 9)], axis=1)
        errors.append(np.abs(pose - exact).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.3
    assert errors[1] < 1e-3


def test_a_part_and_a_file_keep_the_frames(tmp_path):
    r = screw(np.linspace(0, 2, 21))
    part = r.between(1.0, 2.0)
    assert np.array_equal(part.frame("tool").velocity, r.frame("tool").velocity[10:])
    again = Results.load(r.save(tmp_path / "screw.npz"))
    assert np.array_equal(again.frame("tool").acceleration, r.frame("tool").acceleration)


def test_tables_for_other_programs_leave_frames_out_unless_asked(tmp_path):
    r = screw(np.array([0.0, 1.0]))
    assert r.to_csv(tmp_path / "a.csv").read_text().splitlines()[0] == "t [s],tool.x [m]"
    head = r.to_csv(tmp_path / "b.csv", "twists").read_text().splitlines()[0]
    assert head.startswith("t [s],base.vx [m/s]") and head.count(",") == 12


def test_a_pattern_means_channels_of_frames_only_if_it_matches_no_others():
    r = screw(np.array([0.0, 1.0]))
    assert r.select("tool.*") == ["tool.x"]  # the coordinate
    assert r.select("tool.v?") == ["tool.vx", "tool.vy", "tool.vz"]
    assert len(r.select("base.*")) == 24 and len(r.select("twists")) == 12


def test_missing_frames_and_motions_are_named():
    t = np.array([0.0, 1.0])
    with pytest.raises(ResultsError, match="has no frames"):
        Results("r", t, {}).frame("tool")
    r = screw(t, accelerations=False)
    with pytest.raises(UnknownNameError, match="'tol'; did you mean 'tool'"):
        r.frame("tol")
    with pytest.raises(ResultsError, match="no frame accelerations of 'tool'"):
        _ = r.frame("tool").acceleration


def test_thousands_of_frames_are_put_together_quickly_enough_to_count():
    """Names are looked up, not searched: 3000 frames are 72,000 channels."""
    names = [f"body{i}" for i in range(3000)]
    zeros = np.zeros((2, 3000, 12))
    groups = frame_channels(names, zeros, zeros[..., :6], zeros[..., :6])
    r = Results("many", [0.0, 1.0], groups)
    assert len(r.names) == 72_000 and r.frame("body2999").position.shape == (2, 3)
