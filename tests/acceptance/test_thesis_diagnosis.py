"""What is wrong with a model is told: counts, redundant rows, singular drivers, branches, files."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis import PositionMethod, mobility
from biela.analysis.checking import check
from biela.errors import FileError, ModelError, SimulationError
from biela.model.files import load_thesis, load_thesis_folder, save_thesis
from biela.model.topology.topology import Topology
from tests.acceptance.thesis_models import (
    COORDINATES,
    DATA,
    SPEEDS,
    mechanism,
    model,
    motion,
    straight,
    system,
)
from tests.oracles.thesis_figures import slider

THESIS = PositionMethod("newton", tolerance=1e-5, predictor=0)
PRINTED = "slider_crank_table_3_2_as_printed"

# --- degrees of freedom ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "eliminated", "left", "says"),
    [
        ("slider_crank_table_3_1", 30, -2, "constraints depend on each other"),
        ("slider_crank", 27, 1, "drivers needed"),
        ("robot_arm", 25, 3, "drivers needed"),
    ],
)
def test_the_count_is_reported_as_the_thesis_does(
    name: str, eliminated: int, left: int, says: str
) -> None:
    lines = Topology.of(model(name)).thesis_report().splitlines()
    numbers = {line.rsplit(maxsplit=1)[0].strip(): line.split()[-1] for line in lines[1:-1]}
    assert numbers["coordinates 7·nb"] == "28"
    assert numbers["ground"] == "-6" and numbers["normalisation"] == "-4"
    assert numbers["eliminated"] == str(eliminated)
    removed = [int(line.split()[-1]) for line in lines[2:-4]]
    assert len(removed) == len(model(name).joints)
    assert -sum(removed) + 10 == eliminated
    assert lines[-1].split()[:2] == ["remaining", str(left)] and says in lines[-1]


@pytest.mark.parametrize(
    ("name", "count", "rank"),
    [("slider_crank_table_3_1", -2, 1), ("slider_crank", 1, 1), (PRINTED, 1, 2)],
)
@pytest.mark.parametrize("coordinates", ["reference", "euler"])
def test_the_rank_tells_what_the_count_does_not(
    name: str, count: int, rank: int, coordinates: str
) -> None:
    """With 6 rows of the ground and a norm for each link: ranks 27, 27 and 26 of 28."""
    found = mobility(system(name, coordinates))  # with the driver, which removes one more
    assert (found.by_count + 1, found.by_rank + 1) == (count, rank)
    assert found.assembled and not found.inconsistent
    whole, q = mechanism("slider_crank", [straight(pi / 4, 2 * pi)])
    q, _ = whole.position(q, 0.1, 1e-12)
    other, _ = mechanism(name, [straight(pi / 4, 2 * pi)])
    assert other.rank(q) == (28 - count, 28 - rank)


def test_the_three_redundant_rows_of_table_3_1_are_named_and_its_motion_is_the_same() -> None:
    """The conditions out of the plane; of the last joint, as rows are taken in turn."""
    found = mobility(system("slider_crank_table_3_1", "reference"))
    assert found.redundant == ("TJ4.axis_yz", "TJ4.along_y", "TJ4.axis_xy")
    report = str(check(model("slider_crank_table_3_1")))
    assert "joint TJ4 has 3 redundant rows (axis_yz, along_y, axis_xy)" in report
    assert "6·3 - 20 = -2" in report and "freedoms by rank: 1" in report
    for coordinates in COORDINATES:
        run = motion("slider_crank_table_3_1", coordinates)
        course = slider(run.t, 2 * pi)
        assert np.abs(run["link4.x"] - course.x).max() < 1e-12
        assert np.abs(run["link4.vx"] - course.v).max() < 1e-11
        assert np.abs(run["link4.ax"] - course.a).max() < 1e-10 * 124
        assert not run.events  # redundant rows are no singular position


def test_the_offered_joint_makes_table_3_1_free_of_redundant_rows() -> None:
    report = str(check(model("slider_crank_table_3_1")))
    assert "nothing is redundant if one replaces RJ3 (revolute) by a joint point_on_line" in report
    m = load_thesis_folder(DATA / "slider_crank_table_3_1")
    joint = m.joints.pop("RJ3")
    m.joint("point_on_line", "RJ3", joint.i, joint.j)
    found = mobility(bl.formulate(m, "reference"))
    assert (found.by_count, found.by_rank, found.redundant) == (0, 0, ())


def test_table_3_2_as_printed_is_told_apart_though_it_passes_the_count() -> None:
    """CD(j) joins links 1 and 4: the slider's y is fixed twice, and the rod's end is free in y."""
    report = check(model(PRINTED))
    text = str(report)
    assert "freedoms by count in space: 6·3 - 17 = 1" in text and "freedoms by rank: 2" in text
    assert "joint CDy5 has 1 redundant row (y)" in text
    assert "kinematics needs 1 more driver" in text
    assert mobility(system(PRINTED, "reference")).redundant == ("CDy5.y",)
    for coordinates in COORDINATES:
        with pytest.raises(ModelError, match="1 degree of freedom is not driven"):
            bl.kinematics(system(PRINTED, coordinates), 1.0)


def test_a_model_with_too_few_or_too_many_drivers_is_stopped() -> None:
    """The thesis stops if the constraints are not 7 nb."""
    bare = load_thesis_folder(DATA / "robot_arm", laws=None)
    bare.drivers.pop("driver3")
    with pytest.raises(ModelError, match="1 degree of freedom is not driven"):
        bl.kinematics(bare, 1.0)
    assert "kinematics needs 1 more driver" in str(check(bare))
    doubled = load_thesis_folder(DATA / "robot_arm")
    doubled.driver("rotary", "again", coordinate="RJ1", law="1 + t")
    assert "drivers impose 4 motions on 3 freedoms" in str(check(doubled))
    with pytest.raises(bl.BielaError, match=r"again|driver"):
        bl.kinematics(doubled, 1.0)


# --- the cosine driver ----------------------------------------------------------------------------


def test_a_cosine_driver_is_warned_of_and_the_motor_of_the_joint_is_offered() -> None:
    report = str(check(model("slider_crank", cosine=True)))
    assert "driver1" in report and "singular" in report
    assert "rotary" in report and "RJ1" in report


def test_files_with_a_cosine_driver_get_the_motor_of_the_joint_that_it_turns() -> None:
    kept, turned = model("slider_crank", cosine=True), model("slider_crank")
    assert [d.kind for d in kept.drivers.values()] == ["cosine"]
    (driver,) = turned.drivers.values()
    assert (driver.kind, driver.coordinate) == ("rotary", "RJ1.angle")


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(("law", "omega"), SPEEDS.items())
def test_with_the_cosine_the_crank_turns_on_and_the_singular_positions_are_told(
    law: str, omega: float, coordinates: str
) -> None:
    """In the thesis's method it swings between 0.01π and 0.99π, and the slider does not show it."""
    found = bl.kinematics(
        system("slider_crank", coordinates, (law,), True), 1.0, step=0.01, end_point=False
    )
    course = slider(found.t, omega)
    assert np.abs(found["link4.x"] - course.x).max() < 1e-12
    assert np.abs(found["link4.ax"] - course.a).max() < 1e-10 * np.abs(course.a).max()
    turned = found.frame("link2").rotation_about("z")
    assert turned[-1] == pytest.approx(pi / 4 + 0.99 * omega, abs=1e-10)
    passed = [event.time for event in found.events if event.name == "determinant changes sign"]
    every = np.arange(0.75 * pi, 4.2 * pi, pi) / omega  # θ = kπ
    np.testing.assert_allclose(passed, [t for t in every if t < 0.99], atol=0.0101)


def test_the_settings_of_the_thesis_with_its_cosine_are_refused_where_they_fail() -> None:
    """Results up to the reversal have the error figures of the thesis; nothing after it is kept."""
    for coordinates in COORDINATES:
        with pytest.raises(SimulationError, match=r"at t = 0\.38 s.*another branch") as caught:
            bl.kinematics(
                system("slider_crank", coordinates, None, True), 1.0, step=0.01,
                method=THESIS, tolerance=1e-5,
            )  # fmt: skip
        kept = caught.value.results
        assert kept.t[-1] == pytest.approx(0.37)
        error = np.abs(kept["link4.x"] - slider(kept.t, 2 * pi).x).max()
        assert 1e-7 < error < 1e-5  # 4.0e-6 m in the thesis's method


# --- coarse and fine steps ------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("count", [8, 400])
def test_the_motor_is_right_with_8_and_with_400_intervals(count: int, coordinates: str) -> None:
    for law, omega in SPEEDS.items():
        found = bl.kinematics(
            system("slider_crank", coordinates, (law,)), 1.0, step=1 / count, end_point=False
        )
        course = slider(found.t, omega)
        assert np.abs(found["link4.x"] - course.x).max() < 1e-12
        assert np.abs(found["link4.ax"] - course.a).max() < 1e-10 * np.abs(course.a).max()
        turned = found.frame("link2").rotation_about("z")
        np.testing.assert_allclose(turned, pi / 4 + omega * found.t, rtol=0, atol=1e-10)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_the_cosine_never_leads_to_another_branch_unnoticed_with_8_intervals(
    coordinates: str,
) -> None:
    """The thesis's method is 7 m off there."""
    times = np.arange(8) / 8
    whole, q = mechanism("slider_crank", [straight(pi / 4, 2 * pi)], cosine=True)
    theirs = whole.motion(q, times).link(4)[0][:, 0]
    assert np.abs(theirs - slider(times, 2 * pi).x).max() == pytest.approx(7.0, abs=1e-3)
    try:
        found = bl.kinematics(
            system("slider_crank", coordinates, None, True), 1.0, step=1 / 8, end_point=False
        )
    except SimulationError as error:
        found = error.results
    assert np.abs(found["link4.x"] - slider(found.t, 2 * pi).x).max() < 1e-12
    # followed by its length the curve goes on through the singular position
    found = bl.kinematics(
        system("slider_crank", coordinates, None, True), 1.0, step=1 / 8, end_point=False,
        through_dead_points=True,
    )  # fmt: skip
    assert np.abs(found["link4.x"] - slider(found.t, 2 * pi).x).max() < 1e-11


def at_singular_instants(coordinates: str, through: bool) -> tuple[np.ndarray, list[float]]:
    """Errors of the slider's acceleration with instants at θ = π, and the times of the alarms."""
    found = bl.kinematics(
        system("slider_crank", coordinates, ("pi/4 + 4*pi*t",), True), 1.0, step=1 / 400,
        end_point=False, through_dead_points=through,
    )  # fmt: skip
    course = slider(found.t, 4 * pi)
    assert np.abs(found["link4.x"] - course.x).max() < 1e-12
    alarms = [
        e.time
        for e in found.events
        if e.name.startswith("singular position") and "driver1" in e.name
    ]
    return np.abs(found["link4.ax"] - course.a), alarms


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_instants_at_a_singular_position_are_told_and_followed_through(coordinates: str) -> None:
    """The thesis's method is 365 m/s² off there, and says nothing."""
    whole, q = mechanism("slider_crank", [straight(pi / 4, 4 * pi)], cosine=True)
    times = np.arange(100) / 400
    theirs = whole.motion(q, times, predictor=2).link(4)[2][:, 0]
    assert np.abs(theirs - slider(times, 4 * pi).a).max() > 300
    wrong, alarms = at_singular_instants(coordinates, through=False)
    np.testing.assert_allclose(alarms, [0.1875, 0.4375, 0.6875, 0.9375], atol=1e-12)
    others = np.setdiff1d(np.arange(400), np.rint(np.array(alarms) * 400).astype(int))
    assert wrong[others].max() < 1e-9 * 496
    wrong, _ = at_singular_instants(coordinates, through=True)
    assert wrong.max() < 1e-8 * 496


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_accelerations_at_a_singular_instant_are_the_limits_from_both_sides(
    coordinates: str,
) -> None:
    wrong, _ = at_singular_instants(coordinates, through=False)
    assert wrong.max() < 1e-6 * 496


# --- near the reach -------------------------------------------------------------------------------

#: Iterations from x = 1 m to a target in one step, by Newton's method and with λ = 0.05.
ITERATIONS = {"3.9": (5, 7), "3.99": (7, 14), "3.999": (8, 42), "4.0": (9, 156)}


def taken(coordinates: str, target: str, name: str) -> int:
    """Iterations of one step from x = 1 m to the target."""
    law = f"1 + ({target} - 1)*t"
    found = bl.kinematics(
        system("robot_arm", coordinates, (law, "0", "4")), 1.0, step=1.0, tolerance=1e-5,
        method=PositionMethod(name, tolerance=1e-5, predictor=0, damping=0.05, iterations=2000),
    )  # fmt: skip
    assert found["link4.x"][-1] == pytest.approx(float(target), abs=1e-4)
    return found.statistics.iterations


def test_damped_steps_need_more_iterations_the_nearer_the_target_is_to_the_reach() -> None:
    counts = {x: [taken("reference", x, name) for name in ("newton", "damped")] for x in ITERATIONS}
    for target, (newton, damped) in ITERATIONS.items():
        assert abs(counts[target][0] - newton) <= 1
        assert damped / 2 < counts[target][1] < 2 * damped
    assert sorted(c[1] for c in counts.values()) == [c[1] for c in counts.values()]


def test_seven_rates_a_link_take_the_iterations_of_the_thesis_s_rows() -> None:
    for target, (newton, _) in ITERATIONS.items():
        assert taken("euler", target, "newton") == newton


# --- files ----------------------------------------------------------------------------------------


def folder(path: Path, **texts: str) -> Path:
    """The four files of the arm, some of them replaced."""
    path.mkdir()
    for name in ("general", "joints", "drivers", "initial"):
        text = (DATA / "robot_arm" / f"{name}.txt").read_text()
        (path / f"{name}.txt").write_text(texts.get(name, text))
    return path


def test_rows_of_15_21_and_22_numbers_drive_the_same_hand(tmp_path: Path) -> None:
    points = "0 0 0  2 0 0  {}0 0 0  2 0 0  {}"
    rows = {
        15: points.format("", ""),
        21: points.format("0 0 1  ", "0 0 0"),
        22: points.format("0 0 1  ", "0 0 0  1"),
    }
    for count, row in rows.items():
        assert len(row.split()) + 3 == count
        laws = ("1", "0.5*t", "4")
        text = "\n".join(f"{3 + k} 1 4 {row} | {law}" for k, law in enumerate(laws))
        found = bl.kinematics(
            load_thesis_folder(folder(tmp_path / str(count), drivers=text)), 2.0, step=0.2
        )
        assert found["link4.y"] == pytest.approx(0.5 * found.t, abs=1e-12)
        assert found.frame("link2").rotation_about("z") == pytest.approx(
            np.arctan(0.5 * found.t), abs=1e-12
        )


def test_a_joint_row_and_an_initial_position_that_lost_a_number_are_told() -> None:
    printed, arm = DATA / "robot_arm_as_printed", DATA / "robot_arm"
    laws = ("1", "0.5*t", "4")
    with pytest.raises(
        FileError, match=r"joints\.txt:1:\d+: .*22 numbers.*21: column 22 \(value\)"
    ):
        load_thesis_folder(printed, laws=laws)
    with pytest.raises(FileError, match=r"qo has 27 numbers, and 4 links have 28"):
        load_thesis(
            arm / "general.txt", arm / "joints.txt", arm / "drivers.txt", printed / "initial.txt",
        )  # fmt: skip


def test_the_run_of_a_file_excludes_its_end_and_includes_it_if_wanted(tmp_path: Path) -> None:
    assert model("robot_arm").run == {"duration": 2.0, "step": 0.02, "end_point": False}
    general = "nb 4\nT 2\nt 100\nendpoint yes\n"
    run = load_thesis_folder(folder(tmp_path / "end", general=general)).run
    assert run["end_point"] is True


def test_estimates_need_not_be_normalised_and_a_model_goes_out_to_files_again(
    tmp_path: Path,
) -> None:
    initial = "qo 0 0 0 1 0 0 0  0 0 0 5 0 0 0  0 0 4 0.4 0 -0.3 0  1.1 0.1 4 1.6 0 1.2 0"
    rough = load_thesis_folder(folder(tmp_path / "rough", initial=initial))
    assert save_thesis(rough, tmp_path / "again") == []
    for read in (rough, load_thesis_folder(tmp_path / "again")):
        found = bl.kinematics(read, 2.0, step=0.02, end_point=False)
        last = found.frame("link2").rotation_about("z")[-1]
        assert last == pytest.approx(np.arctan(0.99), abs=1e-12)
