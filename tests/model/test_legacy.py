"""The four text files of Peinado's thesis: data, dimensions and motions of its three examples."""

from __future__ import annotations

import itertools
import math
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from biela.analysis import kinematics
from biela.equations import formulate
from biela.errors import ModelError
from biela.model.files import dumps, load_thesis, load_thesis_folder, loads, save_thesis
from biela.model.files.thesis import DRIVER_CODES, JOINT_CODES
from biela.model.files.thesis_writing import euler_parameters
from biela.model.joints import Joint
from biela.model.joints.primitives import (
    Along,
    Coincide,
    Distance,
    Parallel,
    Perpendicular,
    Primitive,
    Projection,
)
from biela.model.model import Model
from biela.model.placing import marker_pose

Floats = npt.NDArray[np.float64]
DATA = Path(__file__).parents[1] / "data" / "seed2"
EXAMPLES = Path(__file__).parents[2] / "examples" / "thesis"
ARM_LAWS = ("1", "0.5*t", "4")

# --- conditions of joints in numbers, written anew from the equations ---------------------------


def rotation(e: Floats) -> Floats:
    e0, v = e[0], e[1:]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray((e0**2 - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * e0 * skew)


def residual(model: Model, q: Floats) -> Floats:
    """The rows of all joints for r, p of each body, link 2 first."""
    poses = {"ground": np.eye(4)}
    for name, state in zip(model.bodies, q.reshape(-1, 7), strict=True):
        T = np.eye(4)
        T[:3, 3], T[:3, :3] = state[:3], rotation(state[3:])
        poses[name] = T
    rows: list[float] = []
    for joint in model.joints.values():
        assert isinstance(joint, Joint)
        T_i = poses[joint.i.body] @ marker_pose(model, joint.i)
        T_j = poses[joint.j.body] @ marker_pose(model, joint.j)
        for condition in joint.conditions():
            rows += values(condition, T_i, T_j)
    return np.array(rows)


def values(condition: Primitive, T_i: Floats, T_j: Floats) -> list[float]:
    def axis(T: Floats, letter: str) -> Floats:
        return np.asarray(T[:3, "xyz".index(letter[-1])] * (-1 if letter[0] == "-" else 1))

    d = T_j[:3, 3] - T_i[:3, 3]
    if isinstance(condition, Coincide):
        return list(d)
    if isinstance(condition, Parallel):
        return [axis(T_i, a) @ axis(T_j, "z") for a in "xy"]
    if isinstance(condition, Perpendicular):
        return [axis(T_i, condition.a) @ axis(T_j, condition.b) - float(condition.value)]
    if isinstance(condition, Along):
        return [axis(T_i, condition.a) @ d - float(condition.value)]
    if isinstance(condition, Projection):
        return [d["xyz".index(condition.axis)] - float(condition.value)]
    assert isinstance(condition, Distance)
    return [float(np.linalg.norm(d)) - float(condition.length)]


def rank(model: Model, q: Floats) -> tuple[int, int]:
    """Rows of the joints, and how many are independent among turns and ways of the bodies."""
    h = 1e-6
    columns = []
    for k in range(len(q)):
        step = np.zeros(len(q))
        step[k] = h
        columns.append((residual(model, q + step) - residual(model, q - step)) / (2 * h))
    rows = np.array(columns).T
    lengths = np.zeros((len(model.bodies), len(q)))  # pᵀp = 1, to be left out of the count
    for k in range(len(model.bodies)):
        lengths[k, 7 * k + 3 : 7 * k + 7] = 2 * q[7 * k + 3 : 7 * k + 7]
    singular = np.linalg.svd(np.vstack([rows, lengths]), compute_uv=False)
    found = int(np.sum(singular > 1e-6 * singular[0]))
    return len(rows), found - len(lengths)


def about(axis: str, angle: float) -> Floats:
    e = np.zeros(4)
    e[0], e[1 + "xyz".index(axis)] = math.cos(angle / 2), math.sin(angle / 2)
    return e


def times(a: Floats, b: Floats) -> Floats:
    return np.array(
        [a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))]
    )


def slider_crank_position(theta: float) -> Floats:
    s, c = math.sin(theta), math.cos(theta)
    psi = -math.asin(2 * s / 3.5)
    x = 2 * c + math.sqrt(12.25 - 4 * s * s)
    middle = [2 * c + 1.75 * math.cos(psi), s, 0]
    crank, rod = about("z", theta), about("z", psi)
    return np.array([0, 0, 0, *crank, *middle, *rod, x, 0, 0, 1, 0, 0, 0])


def arm_position(t: float) -> Floats:
    y = 0.5 * t
    column = about("z", math.atan(y))
    beta = math.acos(math.hypot(1, y) / 4)
    upper, fore = times(column, about("y", -beta)), times(column, about("y", beta))
    return np.array([0, 0, 0, *column, 0, 0, 4, *upper, 1, y, 4, *fore])


def spatial_position(length: float, theta: float) -> Floats:
    pin = np.array([0, 0.1 - 0.08 * math.sin(theta), 0.12 + 0.08 * math.cos(theta)])
    x = math.sqrt(length**2 - pin @ pin)
    e_x = (np.array([x, 0, 0]) - pin) / length
    e_z = np.array([-e_x[2], 0, e_x[0]]) / math.hypot(e_x[0], e_x[2])
    rod = euler_parameters(np.stack([e_x, np.cross(e_z, e_x), e_z], axis=1))
    middle = pin + e_x * length / 2
    crank = about("x", theta)
    return np.array([0, 0.1, 0.12, *crank, *middle, *rod, x, 0, 0, 1, 0, 0, 0])


# --- the examples ---------------------------------------------------------------------------------


@pytest.mark.parametrize("theta", [math.pi / 4, 1.0, 2.5, 4.0, 6.0])
@pytest.mark.parametrize("name", ["slider_crank", "slider_crank_table_3_1"])
def test_the_slider_crank_closes_where_its_closed_form_says(name: str, theta: float) -> None:
    model = load_thesis_folder(DATA / name)
    assert residual(model, slider_crank_position(theta)) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("t", [0.0, 0.7, 1.98])
def test_the_arm_closes_where_its_closed_form_says(t: float) -> None:
    model = load_thesis_folder(DATA / "robot_arm")
    assert residual(model, arm_position(t)) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("length", [0.24, 0.27, 0.30])
@pytest.mark.parametrize("theta", [0.0, 1.0, 3.0, 5.0])
def test_the_spatial_slider_crank_closes_where_its_closed_form_says(
    length: float, theta: float
) -> None:
    model = load_thesis_folder(DATA / f"spatial_slider_crank_{round(1000 * length)}")
    assert residual(model, spatial_position(length, theta)) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(
    ("name", "q", "rows", "independent"),
    [
        # with 6 rows of the ground and 4 normalisations: 30, 27 and 27 of 28, rank 27, 27 and 26
        ("slider_crank_table_3_1", slider_crank_position(0.9), 20, 17),
        ("slider_crank", slider_crank_position(0.9), 17, 17),
        ("slider_crank_table_3_2_as_printed", slider_crank_position(0.9), 17, 16),
        ("robot_arm", arm_position(0.3), 15, 15),
        ("spatial_slider_crank_300", spatial_position(0.3, 0.5), 17, 17),
    ],
)
def test_rows_and_rank_are_those_of_the_thesis(
    name: str, q: Floats, rows: int, independent: int
) -> None:
    model = load_thesis_folder(DATA / name)
    assert rank(model, q) == (rows, independent)
    assert sum(joint.removes for joint in model.joints.values()) == rows


def test_the_initial_residuals_are_those_of_the_thesis() -> None:
    arm = load_thesis_folder(DATA / "robot_arm")
    q = np.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0.79, 0, -0.62, 0, 1, 0, 4, 0.79, 0, 0.62, 0])
    drivers = q[14:17] - [1, 0, 4]
    lengths = [q[k : k + 4] @ q[k : k + 4] - 1 for k in (3, 10, 17)]
    rows = np.concatenate([residual(arm, q), drivers, lengths])
    assert np.linalg.norm(rows) == pytest.approx(0.043, abs=5e-4)


def test_links_become_bodies_where_they_are_estimated() -> None:
    model = load_thesis_folder(DATA / "slider_crank")
    assert list(model.bodies) == ["link2", "link3", "link4"]
    assert model.bodies["link3"].position == (3.0, 0.7, 0.0)
    orientation = model.bodies["link2"].orientation
    assert orientation is not None
    angle = 2 * math.atan2(0.4, 0.9)  # not normalised in the file
    assert orientation.axes[1][0] == pytest.approx(math.sin(angle), abs=1e-15)
    assert model.run == {"duration": 1.0, "step": 0.01, "end_point": False}


# --- motions --------------------------------------------------------------------------------------


def test_the_slider_crank_moves_as_its_closed_form() -> None:
    model = load_thesis_folder(DATA / "slider_crank", laws=["pi/4 + 4*pi*t"])
    found = kinematics(formulate(model, "joint"), 1.0, step=0.01, end_point=False)
    theta = math.pi / 4 + 4 * math.pi * found.t
    x = 2 * np.cos(theta) + np.sqrt(12.25 - 4 * np.sin(theta) ** 2)
    assert len(found.t) == 100
    assert found["TJ3.displacement"] == pytest.approx(x, abs=1e-9)
    # table 13.2: t = 0.05 and 0.99
    assert found["TJ3.displacement"][[5, 99]] == pytest.approx([3.202140, 4.858630], abs=1e-6)


def test_the_arm_follows_its_path() -> None:
    model = load_thesis_folder(DATA / "robot_arm")
    found = kinematics(formulate(model, "reference"), 2.0, step=0.02, end_point=False)
    angle = 2 * np.arctan2(found["link2.e3"], found["link2.e0"])
    assert angle == pytest.approx(np.arctan(0.5 * found.t), abs=1e-9)
    assert angle[-1] == pytest.approx(0.780373, abs=1e-6)  # 0.7804 in the thesis


def test_the_spatial_slider_crank_moves_as_its_closed_form() -> None:
    model = load_thesis_folder(DATA / "spatial_slider_crank_240")
    found = kinematics(formulate(model, "joint"), 1.0, step=0.01, end_point=False)
    theta = 2 * math.pi * found.t
    y, z = 0.1 - 0.08 * np.sin(theta), 0.12 + 0.08 * np.cos(theta)
    assert found["TJ4.displacement"] == pytest.approx(np.sqrt(0.24**2 - y**2 - z**2), abs=1e-9)


# --- drivers --------------------------------------------------------------------------------------


def copied(tmp_path: Path, name: str, **files: str) -> Path:
    """A copy of a data set with some files replaced."""
    shutil.copytree(DATA / name, tmp_path / name)
    for file, text in files.items():
        (tmp_path / name / f"{file}.txt").write_text(text, encoding="utf-8")
    return tmp_path / name


ROTARY = "1 1 2  0 0 0  1 0 0  0 0 0  0 0 0  1 0 0  0 0 0"


@pytest.mark.parametrize(
    "row",
    [
        "1 1 2  0 0 0  1 0 0  0 0 0  1 0 0 | pi/4",  # 15 numbers: two points a link
        f"{ROTARY} | pi/4",  # 21
        f"{ROTARY} 0 | pi/4",  # 22
        f"\t{ROTARY}\t1e0|pi/4 % a comment",
    ],
)
def test_rows_of_drivers_have_15_21_or_22_numbers(tmp_path: Path, row: str) -> None:
    model = load_thesis_folder(copied(tmp_path, "slider_crank", drivers=row))
    (driver,) = (d for d in model.drivers.values())
    assert (driver.kind, driver.coordinate) == ("rotary", "RJ1.angle")
    assert driver.law.to_data() == "pi/4"


def test_the_arm_as_printed_is_driven_at_the_points_of_the_six_point_layout(tmp_path: Path) -> None:
    files = [DATA / "robot_arm" / f"{name}.txt" for name in ("general", "joints", "initial")]
    printed = DATA / "robot_arm_as_printed" / "drivers.txt"
    model = load_thesis(files[0], files[1], printed, files[2], laws=ARM_LAWS)
    driven: list[Any] = list(model.drivers.values())
    assert [d.axis for d in driven] == ["x", "y", "z"]
    assert all(d.marker.position == (0.0, 0.0, 0.0) for d in driven)
    assert [d.law.value(0.6) for d in driven] == [1.0, 0.3, 4.0]


@pytest.mark.parametrize(
    ("start", "a_i", "a_j", "law", "angle"),
    [
        ("0.9 0 0 0.4", "1 0 0", "1 0 0", "pi/4 + 2*pi*t", "pi/4 + 2*pi*t"),
        # from y to x, 45° on: the crank is at pi/4 + 90° of y
        ("0.9 0 0 0.4", "0 1 0", "1 0 0", "-pi/4", f"-pi/4 + ({math.pi / 2})"),
        # the crank starts at -45°, so that the angle counts the other way round
        ("0.9 0 0 -0.4", "1 0 0", "1 0 0", "pi/4 + t", "-(pi/4 + t)"),
    ],
)
def test_the_cosine_of_the_thesis_becomes_the_angle_that_it_means(
    tmp_path: Path, start: str, a_i: str, a_j: str, law: str, angle: str
) -> None:
    initial = f"qo 0 0 0 1 0 0 0  0 0 0 {start}  3 .7 0 -.97 0 0 .2  4.6 0 0 1 0 0 0"
    row = f"1 1 2  0 0 0  {a_i}  0 0 0  0 0 0  {a_j}  0 0 0 | {law}"
    model = load_thesis_folder(copied(tmp_path, "slider_crank", initial=initial, drivers=row))
    driver: Any = model.drivers["driver1"]
    assert driver.law.to_data() == angle


def test_the_cosine_is_kept_where_it_is_wanted_or_no_joint_turns(tmp_path: Path) -> None:
    codes = DRIVER_CODES | {1: "cosine"}
    kept: Any = load_thesis_folder(DATA / "slider_crank", driver_codes=codes).drivers["driver1"]
    assert kept.kind == "cosine"
    assert kept.i.orientation.axes[0][0] == kept.j.orientation.axes[0][0] == 1.0
    # between ground and rod there is no joint; across the axis of the crank is none either
    far = ROTARY.replace("1 1 2", "1 1 3") + " | t"
    tilted = "1 1 2  0 0 0  1 0 1  0 0 0  0 0 0  1 0 0  0 0 0 | t"
    for k, row in enumerate((far, tilted)):
        folder = copied(tmp_path / str(k), "slider_crank", drivers=row)
        assert load_thesis_folder(folder).drivers["driver1"].kind == "cosine"


def test_distances_and_coordinates_are_driven(tmp_path: Path) -> None:
    rows = "2 2 4  1 0 0 0 0 0 0 0 0  0 1 0 0 0 0 0 0 0 | 3 + t\n" + (
        "4 2 3  1 0 0 0 0 0 0 0 0  0 1 0 0 0 0 0 0 0 | 0.1*t\n"
    )
    model = load_thesis_folder(copied(tmp_path, "slider_crank", drivers=rows))
    distance: Any = model.drivers["driver1"]
    along_y: Any = model.drivers["driver2"]
    assert (distance.kind, distance.i.label, distance.j.position) == (
        "distance",
        "link2.driver1",
        (0.0, 1.0, 0.0),
    )
    assert (along_y.kind, along_y.axis, along_y.i.position) == ("position", "y", (1.0, 0.0, 0.0))


# --- rows of joints -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", sorted(set(JOINT_CODES.values())))
def test_rows_hold_what_the_equations_of_the_thesis_hold(
    tmp_path: Path, kind: str, seed: int
) -> None:
    """Random rows at random positions, against the dot products of the points as they stand.

    Directions are not of unit length and not at right angles.  The rows are of another scale, and
    may be mixed: what they span must be the same, by their gradients where they hold.
    """
    rng = random.Random(f"{kind} {seed}")
    p = {name: np.array([rng.uniform(-2, 2) for _ in range(3)]) for name in POINTS}
    q = [rng.uniform(-1, 1) for _ in range(14)]
    value = {"D": 2.0, "TJ": 0.3, "DP1": 0.4, "DP2": 0.5}.get(kind, 0.6 if "CD" in kind else 0.0)
    code = next(code for code, name in JOINT_CODES.items() if name == kind)
    numbers = " ".join(repr(float(x)) for name in POINTS for x in p[name])
    files = {
        "general": "3 1 10",
        "joints": f"{code} 2 3 {numbers} {value}",
        "initial": "qo 0 0 0 1 0 0 0 " + " ".join(map(repr, q)),
    }
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text)

    def expected(state: Floats) -> Floats:
        return thesis_rows(kind, p, value, state)

    closed = solved(expected, np.array(q))
    files["initial"] = "qo 0 0 0 1 0 0 0 " + " ".join(repr(float(x)) for x in closed)
    (tmp_path / "initial.txt").write_text(files["initial"])
    model = load_thesis_folder(tmp_path)

    ours, theirs = gradient(lambda s: residual(model, s), closed), gradient(expected, closed)
    assert residual(model, closed) == pytest.approx(0, abs=1e-9)
    assert ours.shape == theirs.shape
    together = np.linalg.matrix_rank(np.vstack([ours, theirs]), tol=1e-5)
    assert together == np.linalg.matrix_rank(theirs, tol=1e-5) == len(theirs)


POINTS = ("Pi", "Qi", "Ri", "Pj", "Qj", "Rj")


def thesis_rows(kind: str, p: dict[str, Floats], value: float, state: Floats) -> Floats:
    """Sections 4 and 5 of the specification, with normalised Euler parameters."""
    r_i, A_i = state[:3], rotation(state[3:7] / np.linalg.norm(state[3:7]))
    r_j, A_j = state[7:10], rotation(state[10:] / np.linalg.norm(state[10:]))
    d = r_j + A_j @ p["Pj"] - r_i - A_i @ p["Pi"]
    a_i, b_i = A_i @ (p["Qi"] - p["Pi"]), A_i @ (p["Ri"] - p["Pi"])
    c_j, a_j = A_j @ (p["Qj"] - p["Pj"]), A_j @ (p["Rj"] - p["Pj"])
    parallel, line = [a_i @ c_j, b_i @ c_j], [a_i @ d, b_i @ d]
    rows: dict[str, list[float]] = {
        "SJ": list(d),
        "RJ": [*d, *parallel],
        "CJ": [*parallel, *line],
        "TJ": [*parallel, *line, a_i @ a_j - value],
        "UJ": [*d, a_i @ c_j],
        "D": [d @ d - value**2],
        "CDx": [d[0] - value],
        "CDy": [d[1] - value],
        "CDz": [d[2] - value],
        "DP1": [a_i @ c_j - value],
        "DP2": [a_i @ d - value],
        "PERP1": parallel,
        "PERP2": line,
    }
    return np.array(rows[kind])


def gradient(function: Any, state: Floats) -> Floats:
    """By differences, along ways and turns that keep the parameters normalised."""
    columns = []
    for body, k in itertools.product((0, 7), range(6)):
        ends = []
        for h in (1e-6, -1e-6):
            moved = state.copy()
            if k < 3:
                moved[body + k] += h
            else:
                moved[body + 3 : body + 7] = times(
                    moved[body + 3 : body + 7], about("xyz"[k - 3], h)
                )
            ends.append(function(moved))
        columns.append((ends[0] - ends[1]) / 2e-6)
    return np.array(columns).T


def solved(function: Any, state: Floats) -> Floats:
    """A position where the rows hold, by Gauss-Newton steps."""
    q = state.copy()
    for _ in range(60):
        if np.abs(function(q)).max() < 1e-12:
            break
        for body in (0, 7):
            q[body + 3 : body + 7] /= np.linalg.norm(q[body + 3 : body + 7])
        step = -np.linalg.lstsq(gradient(function, q), function(q), rcond=None)[0]
        step *= min(1.0, 0.5 / max(1e-12, float(np.abs(step).max())))
        for body, way in ((0, step[:6]), (7, step[6:])):
            q[body : body + 3] += way[:3]
            for k in range(3):
                q[body + 3 : body + 7] = times(q[body + 3 : body + 7], about("xyz"[k], way[3 + k]))
    assert np.abs(function(q)).max() < 1e-9
    return q


@pytest.mark.parametrize("sign", [1, -1])
def test_axes_that_look_the_other_way_at_the_start_are_turned_round(
    tmp_path: Path, sign: int
) -> None:
    """Rows of parallel axes hold for either sense; a joint of a tree has one."""
    row = f"2 1 2  0 0 0  1 0 0  0 {sign} 0  0 0 0  0 0 1  0 1 0  0"
    for name, text in {
        "general": "2 1 10",
        "joints": row,
        "initial": "qo " + "0 0 0 1 0 0 0 " * 2,
    }.items():
        (tmp_path / f"{name}.txt").write_text(text)
    joint: Any = load_thesis_folder(tmp_path).joints["RJ1"]
    assert np.array(joint.i.orientation.axes)[:, 2].tolist() == [0, 0, 1]
    assert np.array(joint.j.orientation.axes)[:, 2].tolist() == [0, 0, 1]


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(f.name for f in DATA.iterdir() if "arm_as" not in f.name))
def test_what_is_written_is_read_as_the_same_mechanism(tmp_path: Path, name: str) -> None:
    model = load_thesis_folder(DATA / name)
    assert save_thesis(model, tmp_path / name) == []
    again = load_thesis_folder(tmp_path / name)
    rng = np.random.default_rng(4)
    for q in rng.normal(size=(3, 21)):
        assert residual(again, q) == pytest.approx(residual(model, q), abs=1e-12)
    assert {k: type(d) for k, d in again.drivers.items()} == {
        k: type(d) for k, d in model.drivers.items()
    }
    for body, other in zip(model.bodies.values(), again.bodies.values(), strict=True):
        assert other.position == body.position
        assert np.array(other.orientation.axes) == pytest.approx(
            np.array(body.orientation.axes),
            abs=1e-15,
        )
    assert again.run == model.run


def test_a_model_of_ones_own_is_written_with_its_parameters_as_numbers(tmp_path: Path) -> None:
    m = Model("own")
    m.parameter("w", 3.0)
    m.parameter("r", "20 cm")
    crank = m.body("crank", mass=1.0, position=("r", 0, 0), orientation=("z", ("90 deg",)))
    bar = m.body("bar")
    m.joint("revolute", "A", m.ground.at("r", axis="z"), crank.at(axis="z"), limits=(0, 1))
    m.joint("universal", "B", crank, bar)
    m.joint("distance", "C", m.ground, bar, length="2*r")
    m.driver("rotary", "motor", coordinate="A", law="pi/2 + w*t")
    m.driver("path", "hand", marker=bar, x="r", z="r*t")
    m.sensor("point", "tip", marker=bar)
    assert save_thesis(m, tmp_path / "own") == [
        "the mass of crank",
        "sensor tip",
        "the limits of joint A",
    ]
    again = load_thesis_folder(tmp_path / "own")
    assert again.bodies["link2"].position == (0.2, 0.0, 0.0)
    drivers: Any = list(again.drivers.values())
    assert [d.kind for d in drivers] == ["rotary", "position", "position"]
    assert drivers[0].law.value(2.0) == pytest.approx(math.pi / 2 + 6.0, abs=1e-15)
    assert drivers[2].law.value(2.0) == pytest.approx(0.4)
    joints: Any = list(again.joints.values())
    assert [j.kind for j in joints] == ["revolute", "universal", "distance"]
    assert joints[2].length == 0.4


@pytest.mark.parametrize("run", [{"duration": -0.0}, {"duration": 1.0, "step": 0.0}])
def test_a_motion_that_takes_no_time_is_not_written(run: dict[str, float], tmp_path: Path) -> None:
    model = load_thesis_folder(DATA / "slider_crank")
    model.run = run
    with pytest.raises(ModelError, match=r"slider_crank: .* duration and step .* are positive"):
        save_thesis(model, tmp_path)


def test_what_has_no_row_is_refused(tmp_path: Path) -> None:
    m = Model("own")
    m.body("b")
    m.joint("fixed", "weld", m.ground, "b")
    with pytest.raises(ModelError, match="joint weld: the kind 'fixed' has no row"):
        save_thesis(m, tmp_path)
    m = Model("own")
    m.body("b")
    m.joint("prismatic", "slide", m.ground, "b")
    m.driver("translational", "push", coordinate="slide", law="t")
    with pytest.raises(ModelError, match="driver push: the kind 'translational' has no row"):
        save_thesis(m, tmp_path)
    m.drivers.clear()
    m.driver("position", "lead", marker="b", axis="x", law=((0, 1), (0, 1)))
    with pytest.raises(ModelError, match="driver lead: a law in these files is a formula"):
        save_thesis(m, tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_euler_parameters_of_any_rotation_give_it_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    e = rng.normal(size=4) * rng.choice([1, 1e-9], size=4)
    e /= np.linalg.norm(e)
    found = np.array(euler_parameters(rotation(e)))
    assert found * np.sign(found @ e) == pytest.approx(e, abs=1e-14)


def test_the_examples_for_users_are_the_data_of_the_tests() -> None:
    pairs = {
        "slider_crank": "slider_crank",
        "slider_crank_redundant": "slider_crank_table_3_1",
        "robot_arm": "robot_arm",
        "spatial_slider_crank": "spatial_slider_crank_300",
    }
    assert sorted(f.name for f in EXAMPLES.iterdir()) == sorted(pairs)
    for example, data in pairs.items():
        a, b = load_thesis_folder(EXAMPLES / example), load_thesis_folder(DATA / data)
        a.name = b.name
        assert dumps(a) == dumps(b)
        assert dumps(loads(dumps(a))) == dumps(a)
