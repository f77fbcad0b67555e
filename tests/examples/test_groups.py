"""The examples of structural groups: their groups and order, and published figures."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.figure import Figure

import biela as bl
from benchmarks.groups.random_chains import random_mechanism
from benchmarks.groups.refit import GROUPS, Measured, fitted
from biela.analysis.groups.choice import formulation_by_size
from biela.analysis.groups.formulations import FORMULATIONS, formulation_named
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.groups.solver import GroupSolver
from biela.cli.grouping import groups as groups_command
from biela.equations.groups.lowering import Iteration
from examples.groups import (
    four_bar,
    four_bar_chain,
    spatial_slider,
    stewart_actuators,
    truck_suspension,
)
from tests.groups_oracle.golden import example

#: Far below the digits of the tables.
TIGHT = Iteration(tolerance=1e-10, polish=1)


def found(m: bl.Model) -> list[tuple[str, tuple[str, ...]]]:
    return [(group.name, group.bodies) for group in bl.structural_groups(m).groups]


# --- structure ------------------------------------------------------------------------------------


def test_a_four_bar_is_a_crank_and_a_dyad() -> None:
    assert found(four_bar.four_bar()) == [("1R", ("crank",)), ("RRR", ("coupler", "rocker"))]


def test_a_chain_is_a_crank_and_dyads_one_after_the_other() -> None:
    array = bl.structural_groups(four_bar_chain.four_bar_chain(5))
    named = bl.structural_groups(four_bar_chain.named_chain(5))
    for structure in (array, named):
        assert [group.name for group in structure.groups] == ["1R"] + 5 * ["RRR"]
        assert [group.after for group in structure.groups] == [(), (0,), (1,), (2,), (3,), (4,)]
        assert len(structure.kinds) == 2
    assert [g.bodies for g in array.groups] == [g.bodies for g in named.groups]


def test_a_fan_is_a_crank_and_dyads_side_by_side_whose_rods_may_spin() -> None:
    structure = bl.structural_groups(spatial_slider.fan(4))
    assert [group.name for group in structure.groups] == ["1R"] + 4 * ["2S1P"]
    assert structure.levels == ((0,), (1, 2, 3, 4))
    assert [spin.body for g in structure.groups for spin in g.locked] == [
        f"rod{k}" for k in range(4)
    ]


def test_a_led_platform_has_six_actuators_and_one_by_lengths_does_not_split() -> None:
    led = bl.structural_groups(stewart_actuators.led())
    assert led.groups[0].bodies == ("platform",)
    assert [group.name for group in led.groups[1:]] == 6 * ["SPU"]
    assert led.levels == ((0,), (1, 2, 3, 4, 5, 6))
    whole = bl.structural_groups(stewart_actuators.by_lengths())
    assert [len(group.bodies) for group in whole.groups] == [13]
    assert whole.one_group


def test_an_axle_of_the_truck_has_the_five_groups_of_the_source() -> None:
    names = [(name, {b.partition(".")[2] for b in bodies}) for name, bodies in found(
        truck_suspension.truck_suspension(1)
    )]  # fmt: skip
    assert [bodies for _, bodies in names] == [
        {"beam", "triangle", "left_arm", "right_arm"},
        {"left_lever", "left_link"},
        {"right_lever", "right_link"},
        {"left_tube", "left_rod"},
        {"right_tube", "right_rod"},
    ]
    assert [name for name, _ in names[1:]] == ["RUS", "RUS", "SPU", "SPU"]
    three = bl.structural_groups(truck_suspension.truck_suspension(3))
    assert len(three.groups) == 15
    assert len(three.kinds) == 3


@pytest.mark.parametrize(
    ("module", "model", "said"),
    [
        (four_bar, None, "RRR: coupler, rocker after crank"),
        (four_bar_chain, None, "RRR (in a plane)"),
        (spatial_slider, None, "passive spin of rod held"),
        (spatial_slider, "fan", "passive spin of rod2 held"),
        (stewart_actuators, "by_lengths", "does not split"),
        (truck_suspension, None, "5 groups of 3 kinds"),
    ],
)
def test_the_command_prints_the_groups_of_an_example(module, model, said, capsys) -> None:
    groups_command(Path(module.__file__), model, None, None)
    assert said in capsys.readouterr().out


# --- figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["natural", "relative"])
@pytest.mark.parametrize("closed_forms", [True, False])
def test_the_four_bar_is_where_the_table_says(way, closed_forms) -> None:
    table = example("e1_four_bar")["points"]
    solver = GroupSolver(
        four_bar.four_bar(), coordinates=way, points=["rocker.C"], closed_forms=closed_forms,
        iteration=TIGHT,
    )  # fmt: skip
    rows = four_bar.displacements(solver, table.column("alpha_deg"))
    printed = table.array("x2", "y2", "vx2", "vy2", "ax2", "ay2")
    np.testing.assert_allclose(rows, printed, rtol=0, atol=1e-9)


@pytest.mark.parametrize("way", ["natural", "relative"])
def test_the_second_joint_of_a_chain_is_where_the_table_says(way) -> None:
    table = example("e3_four_bar_chain")["exact"]
    solver = GroupSolver(
        four_bar_chain.four_bar_chain(2), coordinates=way, points=["cell[1].rocker.C"],
        bodies=False, closed_forms=False, iteration=TIGHT,
    )  # fmt: skip
    t = table.column("t") - four_bar_chain.STEP
    every = np.arange(0, 24001) * four_bar_chain.STEP
    run = solver.run(every, store="points").point("cell[1].rocker.C")
    k = np.rint(t / four_bar_chain.STEP).astype(int)
    for rows, name in ((run.position, "x"), (run.velocity, "v"), (run.acceleration, "a")):
        np.testing.assert_allclose(rows[k, 0], table.column(name), rtol=0, atol=1e-10)


@pytest.mark.parametrize("way", ["natural", "relative"])
def test_all_joints_of_a_long_chain_move_as_the_first(way) -> None:
    names = [f"cell[{k}].rocker.C" for k in (0, 49, 99)]
    solver = GroupSolver(
        four_bar_chain.four_bar_chain(100), coordinates=way, points=names, bodies=False
    )
    t = np.linspace(0, 18, 361)
    run = solver.run(t, store="points")
    first = four_bar_chain.first_joint(np.pi / 2 + four_bar_chain.SPEED * t)
    for k, name in zip((0, 49, 99), names, strict=True):
        place = first + np.array([four_bar_chain.BAR * k, 0.0])
        np.testing.assert_allclose(run.point(name).position[:, :2], place, rtol=0, atol=1e-9)


@pytest.mark.parametrize("way", ["natural", "relative"])
def test_the_slider_is_where_the_table_of_a_turn_says(way) -> None:
    table = example("e4_slider")["computed"]
    solver = GroupSolver(
        spatial_slider.spatial_slider(), coordinates=way, points=["slider.C"], iteration=TIGHT
    )
    t = np.radians(table.column("phi_deg")) / spatial_slider.SPEED
    run = solver.run(t).point("slider.C")
    np.testing.assert_allclose(run.position[:, 0], table.column("x2"), rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.velocity[:, 0], table.column("v2"), rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(run.acceleration[:, 0], table.column("a2"), rtol=1e-9, atol=1e-7)


def test_the_slider_of_the_fan_is_where_cuadro_4_says() -> None:
    table = example("e6_slider_fan")["cuadro_4"]
    solver = GroupSolver(
        spatial_slider.fan(1), coordinates="relative", points=["slider0.C"], bodies=False,
        iteration=TIGHT,
    )  # fmt: skip
    speed, step = spatial_slider.FAN_SPEEDS["b"], four_bar_chain.STEP
    # the source adds up time, and the angle from zero at its first instant
    clock = np.cumsum(np.full(24001, step))
    angle = np.concatenate([[0.0], np.cumsum(np.full(24000, speed * step))])
    driven = np.stack([angle, np.full(24001, speed), np.zeros(24001)], axis=1)
    run = solver.run(clock, store="points", given=(("motor",), driven)).point("slider0.C")
    k = np.rint(table.column("t") / step).astype(int) - 1
    for rows, name in ((run.position, "x"), (run.velocity, "v"), (run.acceleration, "a")):
        np.testing.assert_allclose(rows[k, 0], table.column(name), rtol=0, atol=1e-11)


def test_the_angle_of_the_axis_sets_the_stroke() -> None:
    turn = 2 * np.pi / spatial_slider.SPEED
    for beta in (0.2, 0.9):
        run = group_kinematics(
            spatial_slider.spatial_slider(), turn, step=turn / 360, parameters={"beta": beta}
        )
        assert np.ptp(run["stroke"]) == pytest.approx(4 * np.sin(beta), abs=1e-9)


def test_the_legs_of_the_led_platform_are_as_long_as_its_pose_says() -> None:
    m = stewart_actuators.led()
    run = group_kinematics(m, 0.5, step=0.01)
    heads = stewart_actuators.circle(stewart_actuators.HEADS, stewart_actuators.HEAD_ANGLES)
    feet = stewart_actuators.circle(stewart_actuators.FEET, stewart_actuators.FOOT_ANGLES)
    t = run.t
    place = np.stack([0.15 * np.cos(np.pi * t), 0.15 * np.sin(np.pi * t),
                      1.2 + 0.075 * np.sin(2 * np.pi * t)], axis=1)  # fmt: skip
    angles = [0.17 * np.sin(np.pi * t), 0.17 * np.sin(2 * np.pi * t), 0.17 * np.sin(np.pi * t)]
    for k in range(6):
        gaps = []
        for n in range(len(t)):
            (a, b, c) = (angle[n] for angle in angles)
            R = turned("x", a) @ turned("y", b) @ turned("z", c)
            gaps.append(place[n] + R @ heads[k] - feet[k])
        length = np.linalg.norm(gaps, axis=1)
        np.testing.assert_allclose(run[f"length{k}"], length, rtol=0, atol=1e-9)


def turned(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


# --- what is chosen, and what is made at random ---------------------------------------------------


@pytest.mark.parametrize(
    ("make", "largest"),
    [(four_bar.four_bar, 2), (spatial_slider.spatial_slider, 2)],
)
def test_auto_takes_what_the_rule_says_and_moves_alike(make, largest) -> None:
    m = make()
    chosen = formulation_named("auto", m)
    assert chosen.name == formulation_by_size(m.plane is not None, largest)
    assert chosen.options(m)["structure"] is chosen.found
    ours = group_kinematics(m, 0.1, step=0.01)
    other = group_kinematics(m, 0.1, step=0.01, formulation="reference groups")
    assert ours.statistics.method == chosen.name
    for name in ("q", "v", "a"):
        np.testing.assert_allclose(ours[name], other[name], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("planar", "bodies"), [(True, 2), (False, 1), (False, 3), (False, 40)])
def test_the_rule_names_a_formulation_by_groups(planar, bodies) -> None:
    assert not FORMULATIONS[formulation_by_size(planar, bodies)].whole


@pytest.mark.parametrize("size", [2, 4, 6, 8])
def test_a_random_mechanism_has_as_many_groups_of_a_size_as_were_asked_for(size) -> None:
    structure = bl.structural_groups(random_mechanism(3, size, seed=1))
    assert [len(group.bodies) for group in structure.groups] == [1, size, size, size]
    assert structure.determined
    with pytest.raises(ValueError, match="bodies, not 3"):
        random_mechanism(3, 3)


def test_denser_random_mechanisms_rest_on_more_bodies() -> None:
    known = [
        sum(len(g.known) for g in bl.structural_groups(random_mechanism(8, 2, d, seed=2)).groups)
        for d in (0.0, 1.0)
    ]
    assert known[0] == 8
    assert known[1] == 15  # only the first dyad finds no second body


def test_the_refit_finds_a_rule_whose_worst_is_least() -> None:
    """Three spatial mechanisms of one, two and five bodies, each best in another formulation."""

    def made(bodies: int, best: str) -> Measured:
        times = dict.fromkeys(GROUPS, 2.0) | {best: 1.0}
        return Measured("", False, True, [(1, bodies, 0)], times, {})

    plane = Measured("", True, True, [(1, 2, 0)], dict.fromkeys(GROUPS, 2.0) | {GROUPS[1]: 1.0}, {})
    rule = fitted([plane, made(1, GROUPS[0]), made(2, GROUPS[2]), made(5, GROUPS[1])])
    assert (rule["FEW_BODIES"], rule["SPACE"], rule["MANY_BODIES"]) == (
        GROUPS[0], GROUPS[2], GROUPS[1],
    )  # fmt: skip
    assert (rule["PLANE"], rule["FEW"], rule["MANY"]) == (GROUPS[1], 1, 5)


@pytest.mark.parametrize(
    "example", [four_bar, four_bar_chain, spatial_slider, stewart_actuators, truck_suspension]
)
def test_every_example_draws_something_that_moves(
    example: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["example", "1"])
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda f, *a, **k: drawn.append(f))
    example.main()
    lines = [line for figure in drawn for axes in figure.axes for line in axes.lines]
    # a hollow dot marks a start, and one without data stands in the legend
    ways = [np.asarray(line.get_xydata()) for line in lines if len(line.get_xydata()) > 1]
    assert ways and all((np.ptp(way, axis=0) > 1e-3).all() for way in ways)
