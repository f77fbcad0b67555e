"""The four-bar of Miralles's thesis (2018) and its chain, by every formulation of kinematics.

The tables are those of ``tests/data/groups``, the closed forms those of ``tests/groups_oracle``:
two circles that are intersected.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.groups.formulations import FORMULATIONS, formulation_named
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.lowering import Iteration
from biela.errors import ModelError
from examples.groups.four_bar import COMPARED
from tests.group_solvers_in_c import four_bar_chain
from tests.groups_oracle import closed_forms
from tests.groups_oracle.closed_forms import Motion
from tests.groups_oracle.golden import example

Floats = npt.NDArray[np.float64]

#: What is left is rounding.
EXACT = Iteration(tolerance=1e-10, polish=1)
RATE = 0.3490658503988659


def four_bar() -> bl.Model:
    """Bars of 2, 8 and 5 m on supports 10 m apart, the crank at 60 degrees."""
    m = bl.Model("four-bar", plane="xy")
    for name, length in (("crank", 2.0), ("coupler", 8.0), ("rocker", 5.0)):
        body = m.body(name, mass=1.0)
        body.marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground.at(), m.bodies["crank"].at(), start="60 deg")
    m.joint("revolute", "P", "crank.end", m.bodies["coupler"].at(), start="-38 deg")
    m.joint("revolute", "B", m.ground.at(10, 0, 0), m.bodies["rocker"].at(), start="108 deg")
    m.joint("revolute", "Q", "coupler.end", "rocker.end")
    m.driver("rotary", "motor", coordinate="A.angle", law="60 deg + t + t^2/2")
    m.sensor("point", "path", marker="coupler.end")
    return m


@cache
def by_formulation(name: str) -> GroupSolver:
    model = four_bar()
    options = formulation_named(name, model).options(model)
    return GroupSolver(
        model, points=["crank.end", "coupler.end"], joints=["P", "B"], iteration=EXACT, **options
    )


def swept(solver: GroupSolver, degrees: Floats) -> tuple[Floats, Floats]:
    """(x1, y1 … x2 … ẋ2 … ẍ2 …) at crank angles, at 1 rad/s and 1 rad/s²; angles of P and B."""
    ones = np.ones(len(degrees))
    driven = np.stack([np.radians(degrees), ones, ones], axis=1)
    # times that pass at 1 rad/s: the next position is about where the last one leads to
    run = solver.run(np.radians(degrees - degrees[0]), given=(("motor",), driven))
    first, second = run.point("crank.end"), run.point("coupler.end")
    parts = [first.position, second.position, second.velocity, second.acceleration]
    angles = np.stack([run.joint("P"), run.joint("B")], axis=1)
    return np.concatenate([part[:, :2] for part in parts], axis=1), angles


# --- E1, E2: one four-bar ---------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPARED)
def test_every_formulation_gives_the_golden_table_of_the_four_bar(name: str) -> None:
    table = example("e1_four_bar")["points"]
    degrees = table.column("alpha_deg")
    points, angles = swept(by_formulation(name), degrees)
    golden = table.array("x1", "y1", "x2", "y2", "vx2", "vy2", "ax2", "ay2")
    np.testing.assert_allclose(points, golden, rtol=0, atol=1e-9)
    # the relative angle φ3 is that of the pin between crank and coupler
    relative = example("e1_four_bar")["relative"]
    rows = [int(np.flatnonzero(degrees == d)[0]) for d in relative.column("phi2_deg")]
    third = relative.array("phi3", "dphi3", "ddphi3")
    np.testing.assert_allclose(angles[rows, 0], third, rtol=0, atol=1e-9)


def test_formulations_of_the_four_bar_agree_with_each_other() -> None:
    degrees = np.arange(60.0, 420.0, 5.0)
    ones = np.ones(len(degrees))
    angle = Motion(np.radians(degrees), ones, ones)
    P1, P2 = closed_forms.four_bar(angle, 2, 8, 5, (10, 0))
    exact = np.hstack([P1.x, P2.x, P2.v, P2.a])
    for name in COMPARED:
        points, _ = swept(by_formulation(name), degrees)
        np.testing.assert_allclose(points, exact, rtol=0, atol=1e-10, err_msg=name)


def test_the_printed_rows_at_60_degrees_are_found_at_the_start_of_a_motion() -> None:
    """q, q' and q'' of equations (32) to (34), to the four decimals of the source."""
    printed = {
        "path.x": 8.4125, "path.y": 4.7413, "path.vx": -1.1674, "path.vy": -0.3909,
    }  # fmt: skip
    found = group_kinematics(four_bar(), 0.1, step=0.05)
    for name, value in printed.items():
        assert found[name][0] == pytest.approx(value, abs=5.1e-5)
    second = by_formulation("natural groups").run(np.array([0.0]))
    assert second.point("coupler.end").acceleration[0, :2] == pytest.approx(
        [-2.8201, -1.2639], abs=5.1e-5
    )


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_formulation_is_chosen_by_its_name(name: str) -> None:
    found = group_kinematics(four_bar(), 0.5, step=0.05, formulation=name)
    assert found.statistics.method == name
    t = found.t
    angle = Motion(np.pi / 3 + t + t * t / 2, 1 + t, np.ones_like(t))
    _, Q = closed_forms.four_bar(angle, 2, 8, 5, (10, 0))
    np.testing.assert_allclose(
        np.stack([found["path.x"], found["path.y"]], axis=1), Q.x, atol=1e-10
    )


def test_a_formulation_that_there_is_not_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ModelError, match="did you mean 'natural groups'"):
        group_kinematics(four_bar(), 1.0, formulation="natural group")


# --- E3: the chain ----------------------------------------------------------------------------


def chain_times(t: Floats) -> Floats:
    """Times of the model where the source prints ``t``: its first record is that of the start."""
    return np.asarray(t - example("e3_four_bar_chain").data["dt"])


@pytest.mark.parametrize("name", [*COMPARED, "mixed groups", "reference groups"])
def test_two_dyads_of_the_chain_have_the_exact_columns(name: str) -> None:
    table = example("e3_four_bar_chain")["exact"]
    model = four_bar_chain(2)
    options = formulation_named(name, model).options(model)
    solver = GroupSolver(model, points=["c2.C"], bodies=False, iteration=EXACT, **options)
    # on the way from row to row by some 6 degrees
    wanted = chain_times(table.column("t"))
    t = np.unique(np.concatenate([np.arange(0.0, wanted[-1], 0.3), wanted]))
    C = solver.run(t).point("c2.C")
    at = np.searchsorted(t, wanted)
    found = np.stack([part[at, 0] for part in (C.position, C.velocity, C.acceleration)], axis=1)
    np.testing.assert_allclose(found, table.array("x", "v", "a"), rtol=0, atol=1e-10)
    # and the source's own figures as far as its stale Jacobian allows
    printed = example("e3_four_bar_chain")["cuadro_1"].array("x", "v", "a")
    np.testing.assert_allclose(found[:, 0], printed[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[:, 1:], printed[:, 1:], rtol=1e-6)


@pytest.mark.parametrize("coordinates", ["natural", "relative"])
def test_a_hundred_dyads_move_as_the_first(coordinates: str) -> None:
    n = 100
    names = [f"c{k}.C" for k in (1, 2, 50, n)]
    solver = GroupSolver(
        four_bar_chain(n),
        coordinates=coordinates,
        points=names,
        bodies=False,
        iteration=EXACT,
    )
    assert len(solver.structure.groups) == n + 1
    assert len(solver.groups.kernels) == 2, "all dyads are of one kind"
    t = np.linspace(0.0, 18.0, 181)
    run = solver.run(t)
    angle = Motion(np.pi / 2 + RATE * t, np.full_like(t, RATE), np.zeros_like(t))
    for name in names:
        exact = closed_forms.chain_joint(angle, int(name[1:-2]))
        C = run.point(name)
        for part, expected in zip((C.position, C.velocity, C.acceleration), exact, strict=True):
            np.testing.assert_allclose(part[:, :2], expected, rtol=0, atol=1e-9)
