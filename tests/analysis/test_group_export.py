"""Solvers of structural groups as C99: compiled, run, and their instructions counted."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.motion import _bodies
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.realtime.groups import export_groups
from biela.equations.groups.lowering import Iteration
from biela.errors import ExportError, ModelError
from tests.group_solvers_in_c import CompiledGroups, four_bar_chain, slider_fan
from tests.simulators_in_c import FLAGS, run

pytestmark = pytest.mark.gcc

EXAMPLES = Path(__file__).parents[2] / "examples" / "mechanisms"
NOT_SOLVED, NOT_FINITE, DEAD_POINT = 1, 2, 3
#: A point has 9 numbers, a joint 3, a body 24.
POINT, JOINT, BODY = 9, 3, 24


def example(name: str) -> bl.Model:
    return bl.load_model(EXAMPLES / f"{name}.toml")


MECHANISMS: dict[str, tuple[Callable[[], bl.Model], dict[str, Any]]] = {
    "four_bar": (
        lambda: example("four_bar"),
        {"points": ["coupler.P"], "joints": ["D", "B.angle"], "coordinates": "natural"},
    ),
    "four_bar_relative": (
        lambda: example("four_bar"),
        {"coordinates": "relative", "closed_forms": False},
    ),
    "chain": (lambda: four_bar_chain(5), {"points": ["c2.C", "c5.C"], "closed_forms": False}),
    "fan": (lambda: slider_fan(3), {"coordinates": "relative"}),
    "stewart": (
        lambda: example("stewart"),
        {"coordinates": "relative", "joints": ["leg[2].slide"]},
    ),
    "geared_five_bar": (lambda: example("geared_five_bar"), {"coordinates": "natural"}),
    "excavator": (lambda: example("excavator"), {"coordinates": "natural"}),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: Any) -> Callable[[str], CompiledGroups]:
    """The mechanisms, each exported and compiled once and back at its start."""
    made: dict[str, CompiledGroups] = {}

    def get(name: str) -> CompiledGroups:
        if name not in made:
            make, choices = MECHANISMS[name]
            # in process the iteration ends at rounding
            solver = GroupSolver(make(), iteration=Iteration(polish=1), **choices)
            made[name] = CompiledGroups(solver, tmp_path_factory.mktemp(name), name=name)
        assert made[name].start() == 0
        return made[name]

    return get


def split(found: Any, points: int, joints: int) -> tuple[Any, Any, Any]:
    """Outputs at some instants as points, joints and bodies."""
    n, first, then = len(found), POINT * points, POINT * points + JOINT * joints
    return (
        found[:, :first].reshape(n, points, 3, 3),
        found[:, first:then].reshape(n, joints, 3),
        found[:, then:].reshape(n, -1, BODY),
    )


def close(found: Any, expected: Any) -> None:
    scale = np.abs(expected).max()
    assert np.abs(found - expected).max() <= 1e-12 * (1 + scale)


# --- the same motion --------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_exported_solver_moves_as_the_run_in_process(
    name: str, compiled: Callable[[str], CompiledGroups]
) -> None:
    groups = compiled(name)
    solver = groups.solver
    t = np.linspace(0.0, 0.4, 81)
    choices = MECHANISMS[name][1]
    wanted = [choices.get(what, ()) for what in ("points", "joints")]
    points, _, bodies = split(groups.motion(t), *map(len, wanted))
    motion = solver.run(t)
    for k, point in enumerate(wanted[0]):
        expected = motion.point(point)
        close(points[:, k, 0], expected.position)
        close(points[:, k, 1], expected.velocity)
        close(points[:, k, 2], expected.acceleration)
    for rate, expected in enumerate(motion.body_rows[0]):
        close(bodies[:, :, 3 * rate : 3 * rate + 3], expected)
    assert np.ptp(bodies[:, :, :3], axis=0).max() > 0.01
    _, v, a = _bodies(solver, motion)
    for first, rates in ((18, v), (21, a)):
        rows = rates.reshape(len(t), solver.world.count, -1)
        if solver.model.plane is None:
            close(bodies[:, :, first : first + 3], rows[:, :, 3:])
        else:
            close(bodies[:, :, first : first + 3].sum(axis=2), rows[:, :, 2])
    R = bodies[:, :, 9:18].reshape(len(t), -1, 3, 3)
    close(np.swapaxes(R, 2, 3) @ R, np.broadcast_to(np.eye(3), R.shape))
    assert groups.library.counted(0) == len(t)
    assert groups.library.status() == 0


def test_joint_coordinates_are_those_of_another_formulation(
    compiled: Callable[[str], CompiledGroups],
) -> None:
    groups = compiled("four_bar")
    system = bl.formulate(example("four_bar"), "joint")
    expected = bl.kinematics(system, 2.5, step=0.01)
    _, joints, _ = split(groups.motion(expected.t), 1, 2)
    names = [e.name for e in system.q]
    for k, name in enumerate(("D.angle", "B.angle")):
        column = names.index(name)
        q = expected.q[:, column]
        turns = 2 * np.pi * np.round((joints[0, k, 0] - q[0]) / (2 * np.pi))
        close(joints[:, k, 0] - turns, q)
        close(joints[:, k], groups.solver.run(expected.t).joint(("D", "B.angle")[k]))
        # the crank has turned 2.5 times, and the coupler with it
        assert (np.ptp(q) > 4 * np.pi) == (name == "B.angle")
        assert joints[:, k, 1] == pytest.approx(expected.v[:, column], rel=1e-9, abs=1e-8)
        assert joints[:, k, 2] == pytest.approx(expected.a[:, column], rel=1e-8, abs=1e-7)


def test_a_joint_the_other_way_round_has_the_sign_of_the_model(tmp_path: Path) -> None:
    solver = GroupSolver(four_bar_chain(3, turned=2), joints=["B1", "B2", "B3"])
    # the dyads are of one kind all the same
    assert len(solver.casts.casts) == 2
    groups = CompiledGroups(solver, tmp_path)
    _, joints, bodies = split(groups.motion(np.linspace(0.0, 1.0, 11)), 0, 3)
    names = list(solver.world.names)
    chain = [bodies[:, names.index(name)] for name in ("crank", "c1", "c2", "c3")]
    for k, sign in ((1, 1.0), (2, -1.0), (3, 1.0)):
        before, after = chain[k - 1], chain[k]
        # axes x of the bodies; angular velocities and accelerations along z
        turn = np.arctan2(after[:, 12], after[:, 9]) - np.arctan2(before[:, 12], before[:, 9])
        apart = sign * joints[:, k - 1, 0] - turn
        close(apart - 2 * np.pi * np.round(apart / (2 * np.pi)), 0 * apart)
        close(sign * joints[:, k - 1, 1], after[:, 20] - before[:, 20])
        close(sign * joints[:, k - 1, 2], after[:, 23] - before[:, 23])
        # from the second dyad on they are parallelograms
        assert (np.abs(joints[:, k - 1, 1]).max() > 1e-3) == (k < 3)


def test_a_controller_gives_the_motion_of_the_drivers(
    compiled: Callable[[str], CompiledGroups], tmp_path: Path
) -> None:
    groups = compiled("four_bar")
    dt, t, w = 2e-3, 0.0, 3.0
    start = math.pi / 3
    rows = []
    for _ in range(100):
        t += dt
        angle = start + 0.5 * (1 - math.cos(w * t))
        rates = 0.5 * w * math.sin(w * t), 0.5 * w * w * math.cos(w * t)
        assert groups.step([angle, *rates], dt) == 0
        rows.append(groups.outputs())
    text = (EXAMPLES / "four_bar.toml").read_text(encoding="utf-8")
    assert "60 deg + speed*t" in text
    swaying = tmp_path / "swaying.toml"
    text = text.replace("60 deg + speed*t", f"60 deg + 0.5*(1 - cos({w}*t))")
    swaying.write_text(text, encoding="utf-8")
    model = bl.load_model(swaying)
    solver = GroupSolver(model, points=["coupler.P"], iteration=Iteration(polish=1))
    motion = solver.run(dt * np.arange(101)).point("coupler.P")
    points, _, _ = split(np.array(rows), 1, 2)
    close(points[:, 0, 0], motion.position[1:])
    close(points[:, 0, 1], motion.velocity[1:])
    close(points[:, 0, 2], motion.acceleration[1:])
    assert groups.library.reached() == pytest.approx(t, rel=1e-14)


def test_drivers_with_one_law_are_given_values_of_their_own(tmp_path: Path) -> None:
    m = bl.Model("two arms", plane="xz")
    for k in range(2):
        arm = m.body(f"arm{k}", mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
        m.joint("revolute", f"pivot{k}", m.ground.at(3.0 * k, 0, 0), arm.at(), axis="y")
        m.driver("rotary", f"motor{k}", coordinate=f"pivot{k}", law="0.3*t")
    groups = CompiledGroups(GroupSolver(m), tmp_path)
    assert groups.start() == 0
    assert "drivers[0] motor0, drivers[3] motor1" in groups.paths[0].read_text(encoding="utf-8")
    assert groups.step([0.0, 0.0, 0.0, math.pi / 2, 2.0, 0.0], 1e-3) == 0
    first, second = groups.outputs().reshape(2, BODY)
    assert first[:3] == pytest.approx([1.0, 0.0, 0.0], abs=1e-15)
    assert second[:3] == pytest.approx([3.0, 0.0, -1.0], abs=1e-15)
    assert np.abs(second[3:6]) == pytest.approx([2.0, 0.0, 0.0], abs=1e-15)
    # and by the laws both turn alike
    assert groups.step_time(1.0) == 0
    first, second = groups.outputs().reshape(2, BODY)
    assert second[:3] - first[:3] == pytest.approx([3.0, 0.0, 0.0], abs=1e-15)


def test_a_law_with_numbers_of_its_own_in_every_part(tmp_path: Path) -> None:
    arm = bl.Model("arm", plane="xz")
    arm.parameter("speed", 1.0)
    rod = arm.body("rod", mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    arm.joint("revolute", "pivot", arm.ground, rod, axis="y")
    arm.driver("rotary", "motor", coordinate="pivot", law="speed*t")
    m = bl.Model("arms", plane="xz")
    speeds = np.array([0.5, -1.0, 3.0])
    m.part("arm", arm, 3, shift=(0, 0, 5.0), parameters={"speed": speeds})
    groups = CompiledGroups(GroupSolver(m), tmp_path)
    assert groups.start() == 0
    assert groups.step_time(0.25) == 0
    bodies = groups.outputs().reshape(3, BODY)
    # about y, from x towards -z
    assert bodies[:, 0] == pytest.approx(np.cos(0.25 * speeds), abs=1e-14)
    assert bodies[:, 2] == pytest.approx([0.0, 5.0, 10.0] - np.sin(0.25 * speeds), abs=1e-14)
    assert bodies[:, 3:6] == pytest.approx(
        np.stack([-speeds * np.sin(0.25 * speeds), 0 * speeds, -speeds * np.cos(0.25 * speeds)], 1)
    )
    assert bodies[:, 19] == pytest.approx(speeds, rel=1e-14)


def test_a_closed_form_is_exported_with_its_branch(
    compiled: Callable[[str], CompiledGroups],
) -> None:
    # of which one step of Newton's method is the rest: any motion of the driver is followed
    groups = compiled("four_bar")
    assert any(form is not None for form in groups.solver.groups.closed)
    text = groups.paths[1].read_text(encoding="utf-8")
    assert "const double *branch = w_now + " in text
    assert "in closed form, polished by one step" in text
    for angle in (0.0, 3.0, 1.0, -2.0):
        assert groups.step([angle, 0.0, 0.0], 1e-3) == 0
        far = groups.outputs()
        groups.step([angle + 1e-3, 0.0, 0.0], 1e-3)
        assert np.abs(groups.outputs() - far).max() < 0.01
    newton = compiled("four_bar_relative")
    assert newton.step([0.0, 0.0, 0.0], 1e-3) != 0


# --- real time --------------------------------------------------------------------------------

_STATES = """\
#include <math.h>
#include "{name}.h"
static {name}_t s;
static double drivers[3*{upper}_DRIVERS];
static void give(double value) {{
  for (int i = 0; i < 3*{upper}_DRIVERS; i++) drivers[i] = value*(i + 1);
  {name}_step(&s, drivers, 1e-3);
}}
int main(void) {{
  {name}_init(&s);
  {name}_step_time(&s, {upper}_START + 1e-3);
  {name}_step_time(&s, {upper}_START + 0.1);
  {name}_step_time(&s, {upper}_START + 50.0);
  {name}_step_time(&s, 1e9);
  {name}_step_time(&s, NAN);
  give(0.3);
  give(-1e3);
  give(1e300);
  give(NAN);
  return 0;
}}
"""


@pytest.mark.parametrize("name", ["four_bar", "stewart"])
def test_a_call_takes_the_same_instructions_in_every_state(
    name: str, compiled: Callable[[str], CompiledGroups]
) -> None:
    folder = compiled(name).folder
    run(["gcc", *FLAGS, "-O2", "-c", "-o", "fast.o", f"{name}.c"], folder)
    text = _STATES.format(name=name, upper=name.upper())
    (folder / "states.c").write_text(text, encoding="utf-8")
    run(["gcc", "-std=c99", "-o", "states", "states.c", "fast.o", "-lm"], folder)
    for function, calls in ((f"{name}_step", 4), (f"{name}_step_time", 5)):
        run(
            [
                *("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={function}.calls"),
                *(f"--toggle-collect={function}", f"--dump-after={function}", "./states"),
            ],
            folder,
        )
        counts = []
        for path in sorted(folder.glob(f"{function}.calls.*")):
            found = re.search(r"^summary: (\d+)", path.read_text(encoding="utf-8"), re.M)
            counts += [int(found[1])] if found and int(found[1]) else []
        # near and far, too far for its joints, what is no number; and in init, if it is a call
        assert len(counts) - calls in (0, 1)
        assert len(set(counts)) == 1, counts
        assert counts[0] > 500


def test_the_object_asks_for_nothing_that_allocates(
    compiled: Callable[[str], CompiledGroups],
) -> None:
    for name in ("four_bar", "stewart"):
        asked = set(re.findall(r"U (\w+)", run(["nm", "-u", f"{name}.o"], compiled(name).folder)))
        assert asked <= {"memset", "memcpy", "_GLOBAL_OFFSET_TABLE_"}


def test_the_program_runs_without_page_faults_and_writes_the_motion(
    compiled: Callable[[str], CompiledGroups],
) -> None:
    groups = compiled("four_bar")
    run(["make", "-B", "CFLAGS=-O1"], groups.folder)
    reports = [run(["./run_four_bar", "20000"], groups.folder) for _ in range(3)]
    faults = [int(re.search(r"page faults (\d+)", r)[1]) for r in reports]
    assert min(faults) == 0
    for word in ("median", "p99 ", "worst case", "status 0, 0 refused"):
        assert word in reports[0]
    run(["./run_four_bar", "50", "--csv", "motion.csv"], groups.folder)
    written = np.loadtxt(groups.folder / "motion.csv", delimiter=",", skiprows=1)
    assert written[1:, 1:-1].tobytes() == groups.motion(written[1:, 0]).tobytes()
    assert not written[:, -1].any()
    step = float(re.search(r"_STEP (\S+)", (groups.folder / "four_bar.h").read_text("utf-8"))[1])
    assert written[:, 0].tobytes() == (step * np.arange(51)).tobytes()  # and no sum of steps
    head = (groups.folder / "motion.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert head[:3] == ["t", "coupler.P_positionx", "coupler.P_positiony"]
    assert len(head) == written.shape[1]
    assert head[-1] == "status"


def test_the_time_of_many_steps_does_not_collect_their_rounding(
    compiled: Callable[[str], CompiledGroups],
) -> None:
    groups = compiled("four_bar")
    start = groups.library.reached()
    first = math.pi / 3
    for _ in range(10_000):
        assert groups.step([first, 0.0, 0.0], 1e-3) == 0
    assert abs(groups.library.reached() - (start + 10.0)) <= np.spacing(10.0)
    assert abs(sum([1e-3] * 10_000) - 10.0) > 10 * np.spacing(10.0)
    # a time that is given is taken as it is, and counted from
    assert groups.step_time(start) == 0
    assert groups.step([first, 0.0, 0.0], 0.1) == 0
    assert groups.library.reached() == start + 0.1


def test_rods_between_balls_turn_as_their_axes_do(tmp_path: Path) -> None:
    """The spin of a rod is held level: its rates are those of its axes, the spin included."""
    model = slider_fan(2)
    solver = GroupSolver(model, iteration=Iteration(polish=1))
    groups = CompiledGroups(solver, tmp_path, name="fan")
    h = 1e-3
    shown = bl.group_kinematics(model, 0.05, step=h)
    _, _, bodies = split(groups.motion(shown.t), 0, 0)
    for k, name in enumerate(solver.world.names):
        rows = slice(6 * k + 3, 6 * k + 6)
        omega, alpha = bodies[:, k, 18:21], bodies[:, k, 21:24]
        np.testing.assert_allclose(omega, shown.v[:, rows], atol=1e-9)
        np.testing.assert_allclose(alpha, shown.a[:, rows], atol=1e-8)
        R = bodies[:, k, 9:18].reshape(-1, 3, 3)
        W = np.swapaxes(R[1:-1], 1, 2) @ (R[2:] - R[:-2]) / (2 * h)
        turned = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1)
        np.testing.assert_allclose(omega[1:-1], turned, atol=1e-5)
        np.testing.assert_allclose(alpha[1:-1], (omega[2:] - omega[:-2]) / (2 * h), atol=1e-4)
        if name.startswith("rod"):  # its balls are on its x axis
            assert np.abs(omega[:, 0]).max() > 1e-3


# --- the status word --------------------------------------------------------------------------


def test_a_group_that_cannot_be_assembled_is_named_and_leaves_the_state_alone(
    compiled: Callable[[str], CompiledGroups],
) -> None:
    groups = compiled("excavator")
    before = groups.outputs()
    n = int(re.search(r"EXCAVATOR_DRIVERS (\d)", groups.paths[0].read_text("utf-8"))[1])
    status = groups.step([5.0, 0.0, 0.0] * n, 1e-3)
    assert groups.library.split(status, 1) == NOT_SOLVED
    assert groups.library.split(status, 0) == 1
    assert b"boom" in groups.library.group(status)
    assert groups.outputs().tobytes() == before.tobytes()
    assert groups.library.status() == status
    # the next call finds what is given then, from where the last good one was
    assert groups.step_time(0.01) == 0
    assert [groups.library.counted(k) for k in (0, 1)] == [1, 1]
    again = groups.outputs()
    groups.start()
    groups.step_time(0.01)
    close(again, groups.outputs())


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(
    place: int, bad: float, compiled: Callable[[str], CompiledGroups]
) -> None:
    groups = compiled("four_bar")
    before = groups.outputs()
    drivers = [math.pi / 3, 0.0, 0.0]
    drivers[place] = bad
    status = groups.step(drivers, 1e-3)
    assert groups.library.split(status, 1) == NOT_FINITE
    assert groups.library.split(status, 0) == 1
    assert groups.outputs().tobytes() == before.tobytes()
    assert groups.step([math.pi / 3, 0.0, 0.0], 1e-3) == 0


def test_a_time_that_is_no_number_is_refused(compiled: Callable[[str], CompiledGroups]) -> None:
    groups = compiled("four_bar")
    for status in (groups.step_time(math.nan), groups.step([1.0, 0.0, 0.0], math.inf)):
        assert status == NOT_FINITE
        assert groups.library.group(status) == b"none"
    assert groups.library.reached() == 0.0


def test_dead_points_and_what_is_out_of_reach_are_told_apart(tmp_path: Path) -> None:
    # rods of 1 and 2 m between pins 2.9 m apart: at 3 m they are in line
    m = bl.Model("dyad", plane="xz")
    m.ground.marker("A", (0, 0, 0))
    slider = m.body("slider", mass=1.0, inertia=(1, 1, 1), position=(2.9, 0, 0))
    first = m.body("first", mass=1.0, com=(0.5, 0, 0), inertia=(1, 1, 1))
    second = m.body("second", mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    m.joint("prismatic", "rail", m.ground.at(axis="x"), slider.at(axis="x"), start=2.9)
    m.joint("revolute", "A", m.ground.at(), first.at(), axis="y", start=-0.4)
    m.joint("revolute", "B", first.at(1.0, 0, 0), second.at(), axis="y", start=0.6)
    m.joint("revolute", "C", second.at(2.0, 0, 0), slider.at(), axis="y")
    m.driver("translational", "push", coordinate="rail", law="2.9 + 0.05*t")
    groups = CompiledGroups(GroupSolver(m), tmp_path, name="dyad")
    assert groups.start() == 0
    assert groups.step([2.99, 0.0, 0.0], 1e-2) == 0
    for length, how in ((3.01, NOT_SOLVED), (3.0, DEAD_POINT), (0.5, NOT_SOLVED)):
        status = groups.step([length, 0.0, 0.0], 1e-2)
        assert groups.library.split(status, 0) == 2
        assert groups.library.split(status, 1) == how
        assert b"first, second" in groups.library.group(status)
    assert groups.step([2.99, 0.0, 0.0], 1e-2) == 0
    # its table says so: rows past the dead point have a status, and no outputs of another instant
    run(["make", "-B", "CFLAGS=-O1"], tmp_path)
    done = subprocess.run(
        ["./run_dyad", "2200", "--csv", "motion.csv"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0
    written = np.genfromtxt(tmp_path / "motion.csv", delimiter=",", skip_header=1)
    t, outputs, status = written[:, 0], written[:, 1:-1], written[:, -1]
    # the rods are in line at 3 m, after 2 s
    assert np.array_equal(status == 0, np.isfinite(outputs).all(axis=1))
    assert np.array_equal(status != 0, np.isnan(outputs).all(axis=1))
    assert t[status == 0].max() == pytest.approx(2.0, abs=0.01)
    assert (status[t > 2.001] != 0).all()


# --- the files --------------------------------------------------------------------------------


def test_the_header_serves_cpp_and_the_text_passes_more_warnings(
    compiled: Callable[[str], CompiledGroups],
) -> None:
    folder = compiled("four_bar").folder
    text = '#include "four_bar.h"\n'
    text += "int main() { static four_bar_t s; four_bar_outputs_t y; four_bar_init(&s);\n"
    text += "  four_bar_outputs(&s, &y); return four_bar_step_time(&s, 0.1) != FOUR_BAR_OK; }\n"
    (folder / "user.cpp").write_text(text, encoding="utf-8")
    warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(["g++", "-std=c++11", *warnings, "-o", "user", "user.cpp", "four_bar.o"], folder)
    run(["./user"], folder)
    more = ["-Wshadow", "-Wconversion", "-Wstrict-prototypes", "-Wmissing-prototypes"]
    run(["gcc", *FLAGS, *more, "-O2", "-c", "-o", "strict.o", "four_bar.c"], folder)


def test_every_file_is_written_and_names_groups_and_bodies(tmp_path: Path) -> None:
    def written() -> list[Path]:
        return export_groups(example("excavator"), tmp_path, points=["bucket.teeth"], name="digger")

    paths = written()
    assert [p.name for p in paths] == ["digger.h", "digger.c", "main.c", "Makefile", "README.txt"]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "generated by biela" in text
        assert not re.search(r"@[A-Z_]+@", text)
        assert max(map(len, text.splitlines())) <= 100, path.name
    for file in ("digger.h", "digger.c", "README.txt"):
        assert "boom, boom_barrel, boom_rod" in (tmp_path / file).read_text(encoding="utf-8")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    with pytest.raises(ExportError, match=r"main\.c was not written by biela"):
        written()


def test_the_same_model_gives_the_same_bytes(
    compiled: Callable[[str], CompiledGroups], tmp_path: Path
) -> None:
    make, choices = MECHANISMS["four_bar"]
    solver = GroupSolver(make(), **choices, iteration=Iteration(polish=1))
    paths = solver.export(tmp_path, name="four_bar")
    texts = [p.read_bytes() for p in paths]
    assert texts == [p.read_bytes() for p in compiled("four_bar").paths]


def test_other_points_may_be_asked_for_when_it_is_written(tmp_path: Path) -> None:
    solver = GroupSolver(example("four_bar"), iteration=Iteration(polish=1))
    groups = CompiledGroups(solver, tmp_path, points=["coupler.C", "crank.B"], bodies=False)
    assert groups.size == 2 * POINT
    t = np.linspace(0.0, 0.3, 31)
    points, _, _ = split(groups.motion(t), 2, 0)
    expected = GroupSolver(
        example("four_bar"), points=["coupler.C", "crank.B"], iteration=Iteration(polish=1)
    ).run(t)
    for k, name in enumerate(("coupler.C", "crank.B")):
        close(points[:, k, 2], expected.point(name).acceleration)


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"name": "main"}, ExportError, "cannot name a solver"),
        ({"name": "2bars"}, ExportError, "cannot name a solver"),
        ({"step": 0.0}, ModelError, "step is a positive number"),
        ({"limit": math.nan}, ModelError, "limit is a positive number"),
        ({"iterations": 0}, ModelError, "iterations are a whole number"),
        ({"points": ["coupler.Q"]}, ModelError, "no marker 'Q'"),
        ({"joints": ["E"]}, ModelError, "no joint 'E'"),
        ({"joints": ["D.length"]}, ModelError, "D has D.angle"),
        ({"bodies": False}, ModelError, "nothing is asked for"),
    ],
)
def test_what_does_not_fit_is_refused(
    choices: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        export_groups(example("four_bar"), tmp_path, **{"bodies": True, **choices})
    assert not list(tmp_path.iterdir())
