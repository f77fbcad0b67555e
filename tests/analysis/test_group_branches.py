"""Which branch the groups of a solver are on, and the angles of its joints there."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.groups.lowering import Iteration
from biela.errors import ModelError

TIMES = np.linspace(0.0, 7.0, 701)


@pytest.fixture(scope="module")
def four_bar() -> bl.Model:
    m = bl.Model("four-bar", plane="xy")
    for name, length in (("crank", 2.0), ("coupler", 8.0), ("rocker", 5.0)):
        m.body(name).marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank", start="60 deg")
    m.joint("revolute", "B", "crank.end", "coupler", start="-38 deg")
    m.joint("revolute", "C", "coupler.end", "rocker.end")
    m.joint("revolute", "D", m.ground.at(10, 0, 0), "rocker", start="108 deg")
    m.driver("rotary", "motor", coordinate="A", law="60 deg + t")
    return m


def closed_form(t: np.ndarray, side: float) -> np.ndarray:
    """The angle of the rocker, C to the left (1) or right (-1) of the line from B to D."""
    B = 2 * np.stack([np.cos(np.pi / 3 + t), np.sin(np.pi / 3 + t)], axis=1)
    way = np.array([10.0, 0.0]) - B
    far = np.linalg.norm(way, axis=1)
    at_D = np.arccos((far**2 + 25 - 64) / (10 * far))
    return np.unwrap(np.arctan2(-way[:, 1], -way[:, 0]) - side * at_D)


@pytest.mark.parametrize(("choice", "side"), [(None, 1), ("left", 1), ("other", -1), (-1, -1)])
def test_the_branch_that_is_taken_is_told(
    four_bar: bl.Model, choice: str | int | None, side: int
) -> None:
    branches = {} if choice is None else {"coupler": choice}
    (found,) = bl.GroupSolver(four_bar, branches=branches).branches()
    assert (found.assembled, found.chosen) == (1.0, float(side))
    assert found.word == ("left" if side > 0 else "right")
    why = "as the model starts" if side > 0 else "as chosen"
    assert str(found).startswith(
        f"coupler, rocker: {found.word!r}, {why}: C is to the {found.word}"
    )


@pytest.mark.parametrize("coordinates", ["natural", "relative", "mixed", "reference"])
@pytest.mark.parametrize("side", [1, -1])
def test_a_joint_has_the_angle_of_the_results_on_either_branch(
    four_bar: bl.Model, coordinates: str, side: int
) -> None:
    options = {"coordinates": coordinates, "branches": {"coupler": side}}
    results = bl.group_kinematics(four_bar, 7.0, formulation="natural groups", **options)
    motion = bl.GroupSolver(four_bar, joints=["B", "C.angle", "D"], **options).run(TIMES)
    for name in "BCD":
        angle = motion.joint(f"{name}.angle")[:, 0]
        assert angle == pytest.approx(results[f"{name}.angle"], abs=1e-9)
        assert abs(angle[0]) <= np.pi
    away = motion.joint("D")[:, 0] - closed_form(TIMES, side)
    assert away == pytest.approx(np.full(len(away), away[0]), abs=1e-9)
    assert away[0] / (2 * np.pi) == pytest.approx(round(away[0] / (2 * np.pi)), abs=1e-9)


def test_a_driven_joint_is_its_law(four_bar: bl.Model) -> None:
    motion = bl.GroupSolver(four_bar, joints=["A"]).run(TIMES)
    assert motion.joint("A")[:, 0] == pytest.approx(np.pi / 3 + TIMES, abs=1e-12)
    with pytest.raises(ModelError, match="'D' was not asked for; these were: A"):
        motion.joint("D")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"solver": "lu"}, "solver must be 'auto', 'unrolled', 'dense' or 'sparse', not 'lu'$"),
        ({"solver": {"RRR": "lu"}}, "solver of a group must be 'auto', .*, not 'lu'$"),
        ({"solver": {"RRP": "dense"}}, "solver is given for groups 'RRP'; did you mean 'RRR'"),
        ({"coordinates": "joint"}, "coordinates must be 'natural', .* or 'reference', not 'joint'"),
        ({"assembly": "by hand"}, "assembly must be 'auto', 'generated' or 'assembled', not"),
        ({"lanes": "bodies"}, "lanes must be 'instants' or 'groups', not 'bodies'"),
        ({"branches": {"couplr": "left"}}, "'couplr' is no body or joint .* 'coupler'"),
        ({"branches": {"coupler": "up"}}, "no branch 'up': it is 'left' .* or 'right'"),
    ],
)
def test_a_wrong_word_is_told_with_those_there_are_once(
    four_bar: bl.Model, options: dict[str, object], said: str
) -> None:
    with pytest.raises(ModelError, match=said) as error:
        bl.GroupSolver(four_bar, **options)
    assert str(error.value).count("'dense'") <= 1


def test_the_work_of_a_run_is_told_in_words(four_bar: bl.Model) -> None:
    plain = bl.GroupSolver(four_bar).run(TIMES)
    told = plain.work()
    assert (told["groups that drivers give"], told["groups in closed form"]) == (1, 1)
    assert (told["groups by Newton's method"], plain.newton_steps) == (0, 0)
    solver = bl.GroupSolver(four_bar, closed_forms=False, iteration=Iteration(polish=1))
    newton = solver.run(TIMES)
    told = newton.work()
    assert (told["groups in closed form"], told["groups by Newton's method"]) == (0, 1)
    assert told["of these to polish"] == 1
    # a step to the solution at least, and one that polishes it
    assert newton.newton_steps >= 2 * len(TIMES)
    assert told["Newton steps a group and instant"] == pytest.approx(
        newton.newton_steps / len(TIMES), abs=1e-3
    )


def test_statistics_of_results_count_the_steps_that_were_made(four_bar: bl.Model) -> None:
    options = {"closed_forms": False, "iteration": Iteration(polish=1)}
    found = bl.group_kinematics(
        four_bar, TIMES[-1], step=TIMES[1], formulation="natural groups", **options
    )
    motion = bl.GroupSolver(four_bar, coordinates="natural", **options).run(TIMES)
    assert found.statistics is not None
    assert found.statistics.iterations == motion.newton_steps > 0
    assert found.statistics.more == motion.work()


def test_an_unknown_formulation_is_told_with_those_there_are_once(four_bar: bl.Model) -> None:
    said = "kinematics; there are 'auto', 'global dense', "
    with pytest.raises(ModelError, match=said) as error:
        bl.group_kinematics(four_bar, 1.0, formulation="simplex")
    assert str(error.value).count("'natural groups'") == 1
    with pytest.raises(ModelError, match=r"did you mean 'natural groups'\? There are 'auto', "):
        bl.group_kinematics(four_bar, 1.0, formulation="natural group")
