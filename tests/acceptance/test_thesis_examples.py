"""The three examples of the thesis: closed forms, printed tables and the oracle.

Errors: positions to 1e-12 m, velocities to 1e-11 m/s, accelerations to 1e-10 m/s² of the largest
one (which is 496 m/s² for the fast crank).
"""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import biela as bl
from biela.analysis import PositionMethod, assemble
from biela.results import Results
from tests.acceptance.thesis_models import (
    COORDINATES,
    SPEEDS,
    assert_same_motion,
    mechanism,
    model,
    motion,
    oracle_motion,
    straight,
    system,
)
from tests.oracles.thesis_figures import (
    ARM_TABLE,
    CRANK,
    PISTON_TABLE,
    SLIDER_CRANK_START,
    SLIDER_TABLE,
    Course,
    column_angle,
    crank_angle,
    piston,
    pitch,
    rod_angle,
    slider,
)

EXAMPLES = ["slider_crank", "robot_arm", "spatial_slider_crank_240"]


def assert_course(found: Results, body: str, course: Course) -> None:
    """x of a body with velocity and acceleration."""
    size = max(1.0, float(np.abs(course.a).max()))
    assert np.abs(found[f"{body}.x"] - course.x).max() < 1e-12
    assert np.abs(found[f"{body}.vx"] - course.v).max() < 1e-11
    assert np.abs(found[f"{body}.ax"] - course.a).max() < 1e-10 * size


# --- all of them, against the thesis's own method -------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_all_bodies_move_as_in_the_thesis_s_own_formulation(name: str, coordinates: str) -> None:
    found = motion(name, coordinates)
    expected = oracle_motion(name)
    assert_same_motion(found, expected, position=1e-12, speed=1e-11, acceleration=1e-10)


@pytest.mark.parametrize("name", EXAMPLES)
def test_seven_coordinates_a_link_and_their_rates_are_those_of_the_thesis(name: str) -> None:
    """q, q1 and q2, the matrices that the thesis keeps, with its own unknowns."""
    found = motion(name, "euler")
    expected = oracle_motion(name)
    ours = {group: np.asarray(found[group]).reshape(len(found), 3, 7) for group in "qva"}
    signs = np.sign(np.einsum("bi,bi->b", ours["q"][0, :, 3:], expected.q[0].reshape(4, 7)[1:, 3:]))
    scale = float(np.abs(expected.ddq).max())
    for group, theirs, allowed in (
        ("q", expected.q, 1e-12),
        ("v", expected.dq, 1e-11),
        ("a", expected.ddq, 1e-10 * max(1.0, scale)),
    ):
        links = theirs.reshape(-1, 4, 7)[:, 1:].copy()
        links[:, :, 3:] *= signs[:, None]  # p and -p are one attitude
        np.testing.assert_allclose(ours[group], links, rtol=0, atol=allowed)


# --- example 1 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(("law", "omega"), SPEEDS.items())
def test_the_slider_moves_as_its_closed_form_at_both_speeds(
    law: str, omega: float, coordinates: str
) -> None:
    found = motion("slider_crank", coordinates, (law,))
    assert len(found) == 100 and found.t[-1] == pytest.approx(0.99)
    assert_course(found, "link4", slider(found.t, omega))
    # the crank turns round: 2.23π and 4.21π at the last instant
    turned = found.frame("link2").rotation_about("z")
    np.testing.assert_allclose(turned, crank_angle(found.t, omega), rtol=0, atol=1e-11)
    assert turned[-1] == pytest.approx({2: 2.23, 4: 4.21}[round(omega / pi)] * pi, abs=1e-11)
    # and the rod swings
    rod, psi = found.frame("link3"), rod_angle(found.t, omega)
    np.testing.assert_allclose(rod.rotation_about("z"), psi.x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rod.angular_velocity[:, 2], psi.v, rtol=0, atol=1e-11)
    np.testing.assert_allclose(rod.angular_acceleration[:, 2], psi.a, rtol=0, atol=3e-9)


def test_the_slider_has_the_figures_of_the_table() -> None:
    rows = np.rint(SLIDER_TABLE[:, 0] * 100).astype(int)
    for k, law in enumerate(SPEEDS):
        found = motion("slider_crank", "joint", (law,))
        x, v, a = SLIDER_TABLE[:, 3 * k + 1 : 3 * k + 4].T
        assert found["link4.x"][rows] == pytest.approx(x, abs=6e-7)
        assert found["link4.vx"][rows] == pytest.approx(v, abs=6e-7)
        assert found["link4.ax"][rows] == pytest.approx(a, abs=6e-7)


def test_the_start_has_the_figures_of_the_table_in_all_coordinates_of_the_links() -> None:
    found = motion("slider_crank", "euler")
    for group, expected in zip("qva", SLIDER_CRANK_START, strict=True):
        ours = np.asarray(found[group])[0].reshape(3, 7).copy()
        theirs = expected.copy()
        for body in range(3):
            if (
                SLIDER_CRANK_START[0, body, 3:] @ np.asarray(found["q"])[0].reshape(3, 7)[body, 3:]
                < 0
            ):
                theirs[body, 3:] *= -1
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=6e-7)
    assert found.frame("link2").angular_velocity[0, 2] == pytest.approx(6.283185, abs=1e-6)
    assert found.frame("link3").angular_velocity[0, 2] == pytest.approx(-2.775447, abs=1e-6)
    assert found.frame("link3").angular_acceleration[0, 2] == pytest.approx(14.035985, abs=1e-6)


def test_twice_the_speed_gives_twice_the_velocity_and_four_times_the_acceleration() -> None:
    """The thesis says five times (its line 1692)."""
    slow, fast = (
        bl.kinematics(system("slider_crank", "joint", (law,)), 1.0, step=1 / 800) for law in SPEEDS
    )
    same = slice(0, 401)  # half a second at twice the speed
    assert fast["link4.x"][same] == pytest.approx(slow["link4.x"][::2], abs=1e-11)
    assert fast["link4.vx"][same] == pytest.approx(2 * slow["link4.vx"][::2], abs=1e-10)
    assert fast["link4.ax"][same] == pytest.approx(4 * slow["link4.ax"][::2], abs=1e-8)
    # 5.5 m at most, which is printed, and the extremes of the closed form
    assert (slow["link4.x"].min(), slow["link4.x"].max()) == pytest.approx((1.5, 5.5), abs=1e-12)
    assert np.abs(slow["link4.vx"]).max() == pytest.approx(14.608205, abs=2e-4)
    assert slow["link4.ax"].max() == pytest.approx(65.791940, abs=2e-3)
    assert slow["link4.ax"].min() == pytest.approx(-124.075027, abs=2e-3)
    assert fast["link4.ax"].min() == pytest.approx(-496.300107, abs=2e-2)


# --- example 2 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_the_arm_whose_hand_is_led_moves_as_its_closed_form(coordinates: str) -> None:
    found = motion("robot_arm", coordinates)
    theta, beta = column_angle(found.t), pitch(found.t)
    assert len(found) == 100
    column = found.frame("link2")
    assert np.abs(column.rotation_about("z") - theta.x).max() < 1e-12
    assert np.abs(column.angular_velocity[:, 2] - theta.v).max() < 1e-12
    assert np.abs(column.angular_acceleration[:, 2] - theta.a).max() < 1e-12
    # both members have the same pitch with opposite signs, and the yaw of the column
    for name, sign in (("link3", -1), ("link4", 1)):
        yaw, tilt, roll = found.frame(name).angles("zyx").T
        assert np.abs(yaw - theta.x).max() < 1e-12
        assert np.abs(tilt - sign * beta.x).max() < 1e-12
        assert np.abs(roll).max() < 1e-12
    elbow = found.frame("link3").point((2, 0, 0)).position
    height = 4 + 2 * np.sin(beta.x)
    np.testing.assert_allclose(elbow, np.c_[0.5 + 0 * height, 0.25 * found.t, height], atol=1e-12)
    # the printed rotation at the last instant, atan 0.99; the path ends at y = 0.99, not 0.5
    assert column.rotation_about("z")[-1] == pytest.approx(0.7804, abs=5e-5)
    hand = found.frame("link4").position
    np.testing.assert_allclose(
        hand, np.c_[1 + 0 * height, 0.5 * found.t, 4 + 0 * height], atol=1e-12
    )
    assert hand[-1, 1] == pytest.approx(0.99, abs=1e-12)


def test_the_arm_has_the_figures_of_the_table_with_the_end_point() -> None:
    found = bl.kinematics(system("robot_arm", "joint"), 2.0, step=0.02)
    assert len(found) == 101 and found.t[-1] == pytest.approx(2.0)
    rows = np.rint(ARM_TABLE[:, 0] / 0.02).astype(int)
    column, fore = found.frame("link2"), found.frame("link4")
    elbow = found.frame("link3").point((2, 0, 0)).position[:, 2]
    tilt = fore.angles("zyx")[:, 1]
    rate = fore.direction("y")  # the axis of the elbow
    dbeta = np.einsum("ki,ki->k", rate, fore.angular_velocity)
    # that axis turns with the column about z and so keeps at a right angle to its angular velocity
    ddbeta = np.einsum("ki,ki->k", rate, fore.angular_acceleration)
    for quantity, expected in zip(
        (
            found["link4.y"],
            column.rotation_about("z"),
            column.angular_velocity[:, 2],
            column.angular_acceleration[:, 2],
            tilt,
            dbeta,
            ddbeta,
            elbow,
        ),
        ARM_TABLE.T[1:],
        strict=True,
    ):
        digits = 6e-6 if expected is ARM_TABLE.T[8] or expected[0] > 5 else 6e-7
        assert quantity[rows] == pytest.approx(expected, abs=digits)
    assert column.rotation_about("z")[-1] == pytest.approx(0.785398, abs=1e-6)


def test_driven_at_its_joints_the_arm_gives_the_path_back() -> None:
    """Forward kinematics: motors with θ(t) and β(t) instead of the hand's path."""
    m = bl.Model("arm with motors")
    column = m.body("column")
    upper = m.body("upper", position=(0, 0, 4), orientation=("y", (-1.3,)))
    fore = m.body("fore", position=(1, 0, 4), orientation=("y", (1.3,)))
    m.joint("revolute", "base", m.ground.at(axis="z"), column.at(axis="z"))
    m.joint("revolute", "shoulder", column.at(0, 0, 4, axis="y", x_axis="x"),
            upper.at(axis="y", x_axis="x"))  # fmt: skip
    m.joint("revolute", "elbow", upper.at(2, 0, 0, axis="y", x_axis="x"),
            fore.at(-2, 0, 0, axis="y", x_axis="x"))  # fmt: skip
    beta = "acos(sqrt(1 + 0.25*t^2)/4)"
    m.driver("rotary", "turn", coordinate="base", law="atan(0.5*t)")
    m.driver("rotary", "lift", coordinate="shoulder", law=f"-{beta}")
    m.driver("rotary", "bend", coordinate="elbow", law=f"2*{beta}")
    for coordinates in COORDINATES:
        found = bl.kinematics(bl.formulate(m, coordinates), 2.0, step=0.02, end_point=False)
        hand = found.frame("fore")
        ones = np.ones(len(found))
        np.testing.assert_allclose(hand.position, np.c_[ones, 0.5 * found.t, 4 * ones], atol=1e-12)
        np.testing.assert_allclose(hand.velocity, [[0, 0.5, 0]] * len(found), atol=1e-11)
        np.testing.assert_allclose(hand.acceleration, [[0, 0, 0]] * len(found), atol=1e-11)


@pytest.mark.parametrize("coordinates", ["reference", "euler"])
def test_a_motor_far_from_its_law_is_not_assembled_half_a_turn_off(coordinates: str) -> None:
    m = bl.Model("one link")
    link = m.body("link")
    m.joint("revolute", "A", m.ground.at(axis="z"), link.at(axis="z"))
    m.driver("rotary", "motor", coordinate="A", law="2.6")
    found = bl.kinematics(bl.formulate(m, coordinates), 0.1, step=0.1)
    assert found["link.R11"] == pytest.approx(np.cos([2.6, 2.6]), abs=1e-12)


# --- example 3 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("length", [0.30, 0.27, 0.24])
def test_the_piston_moves_as_its_closed_form_with_three_rods(
    length: float, coordinates: str
) -> None:
    found = motion(f"spatial_slider_crank_{round(1000 * length)}", coordinates)
    assert_course(found, "link4", piston(found.t, length))
    assert not found.events
    column = 1 + 3 * [0.30, 0.27, 0.24].index(length)
    rows = np.rint(PISTON_TABLE[:, 0] * 100).astype(int)
    for name, expected in zip(("x", "vx", "ax"), PISTON_TABLE.T[column : column + 3], strict=True):
        assert found[f"link4.{name}"][rows] == pytest.approx(expected, abs=6e-7)


# --- the thesis's own settings --------------------------------------------------------------------

#: Its tolerance, its end of the iterations and its start from the position before.
THESIS = PositionMethod("newton", tolerance=1e-5, predictor=0)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(("law", "omega"), SPEEDS.items())
def test_the_settings_of_the_thesis_have_errors_of_the_size_of_its_tolerance(
    law: str, omega: float, coordinates: str
) -> None:
    """Figures of its method with the regular driver: 4e-6 m and 8e-5 m/s², 2e-5 m and 3e-3 m/s²."""
    found = bl.kinematics(
        system("slider_crank", coordinates, (law,)), 1.0, step=0.01, end_point=False,
        method=THESIS, tolerance=1e-5,
    )  # fmt: skip
    course = slider(found.t, omega)
    fast = omega > 7
    assert 1e-7 < np.abs(found["link4.x"] - course.x).max() < (4e-5 if fast else 8e-6)
    assert np.abs(found["link4.vx"] - course.v).max() < (2e-4 if fast else 2e-5)
    assert np.abs(found["link4.ax"] - course.a).max() < (6e-3 if fast else 2e-4)
    taken = found.statistics.iterations / 100
    assert 1.9 < taken < (4.5 if fast else 3.1)  # the thesis's own rows take 2.54 and 2.00


def test_the_oracle_with_the_settings_of_the_thesis_has_its_figures() -> None:
    """Errors and iterations of the thesis's method, and how its cosine driver fails."""
    times = np.arange(100) / 100
    for omega, cosine, errors, mean, most in (
        (2 * pi, True, (4.0e-6, 1.3e-5, 1.5e-4), 2.27, 4),
        (2 * pi, False, (4.0e-6, 5.1e-6, 7.9e-5), 2.00, 2),
        (4 * pi, True, (2.5e-6, 9.4e-6, 4.7e-4), 3.15, 5),
        (4 * pi, False, (2.0e-5, 1.1e-4, 2.7e-3), 2.54, 3),
    ):
        whole, q = mechanism("slider_crank", [straight(pi / 4, omega)], cosine)
        found = whole.motion(q, times)
        course = slider(times, omega)
        for part, exact, size in zip(found.link(4), course, errors, strict=True):
            assert np.abs(part[:, 0] - exact).max() == pytest.approx(size, rel=0.06)
        assert found.iterations.mean() == pytest.approx(mean, abs=0.02)
        assert found.iterations.max() == most
        # with the cosine the crank turns back at every half turn, which the slider does not show
        p = found.link(2)[0][:, 3:]
        turned = np.unwrap(2 * np.arctan2(p[:, 3], p[:, 0]))
        assert (np.abs(turned).max() < pi) == cosine


# --- out of reach, and locked ---------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_target_at_4_05_m_is_out_of_reach_and_nothing_wrong_is_kept(coordinates: str) -> None:
    laws = ("1 + t", "0", "4")  # the reach is 4 m, passed between 2.96 and 3.04 s
    with pytest.raises(bl.BielaError, match=r"cannot reach at t = 3\.04 s.*driver1\.x") as caught:
        bl.kinematics(system("robot_arm", coordinates, laws), 3.2, step=0.08)
    kept = caught.value.results
    assert kept.t[-1] == pytest.approx(2.96)
    assert np.abs(kept["constraint error"]).max() < 1e-10
    assert kept["link4.x"] == pytest.approx(1 + kept.t, abs=1e-10)
    with pytest.raises(bl.BielaError, match=r"cannot be assembled.*missed.*driver1\.x"):
        assemble(system("robot_arm", coordinates, ("4.05", "0", "4")))
    with pytest.raises(bl.BielaError, match=r"cannot be assembled.*missed.*driver1\.x"):
        bl.kinematics(system("robot_arm", coordinates, ("4.05", "0", "4")), 1.0)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_rod_of_0_236_m_locks_up_and_the_joints_are_named(coordinates: str) -> None:
    """√(0.1² + 0.12²) + 0.08 = 0.2362 m is needed to turn round."""
    m = short_rod(0.236)
    with pytest.raises(bl.BielaError, match=r"cannot reach at t = 0\.88 s.*SJ") as caught:
        bl.kinematics(bl.formulate(m, coordinates), 1.0, step=0.01)
    kept = caught.value.results
    course = piston(kept.t, 0.236)  # still exact, near the end of the way
    assert kept.t[-1] == pytest.approx(0.87)
    assert np.abs(kept["link4.x"] - course.x).max() < 1e-12
    assert np.abs(kept["link4.vx"] - course.v).max() < 1e-10
    assert np.abs(kept["constraint error"]).max() < 1e-12


def short_rod(length: float) -> bl.Model:
    """Example 3 out of bodies and joints, with any rod."""
    m = bl.Model("short rod")
    crank = m.body("link2", position=(0, 0.1, 0.12))
    rod = m.body("link3", position=(0.05, 0.05, 0.1))
    piston_ = m.body("link4", position=(0.08, 0, 0))
    m.joint("revolute", "RJ", m.ground.at(0, 0.1, 0.12, axis="x", x_axis="y"),
            crank.at(axis="x", x_axis="y"))  # fmt: skip
    m.joint("spherical", "SJ", crank.at(0, 0, 0.08), rod.at(-length / 2, 0, 0))
    m.joint("universal", "UJ", rod.at(length / 2, 0, 0, axis="y", x_axis="z"),
            piston_.at(axis="z", x_axis="y"))  # fmt: skip
    m.joint("prismatic", "TJ", m.ground.at(axis="x", x_axis="y"), piston_.at(axis="x", x_axis="y"))
    m.driver("rotary", "motor", coordinate="RJ", law="2*pi*t")
    return m


def test_the_crank_is_two_metres_and_models_are_not_changed_by_what_is_asked_of_them() -> None:
    """The same model serves kinematics, and reactions afterwards."""
    before = repr(model("slider_crank").bodies) + repr(model("slider_crank").joints)
    motion("slider_crank", "joint")
    assert repr(model("slider_crank").bodies) + repr(model("slider_crank").joints) == before
    pin = motion("slider_crank", "joint").frame("link2").point((CRANK, 0, 0)).position
    end = motion("slider_crank", "joint").frame("link3").point((-1.75, 0, 0)).position
    np.testing.assert_allclose(pin, end, atol=1e-12)
