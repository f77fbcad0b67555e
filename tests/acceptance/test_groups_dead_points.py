"""Dead points of driven mechanisms: told with the time and the joints, by every formulation."""

from __future__ import annotations

import re

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.formulations import FORMULATIONS, formulation_named
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.lowering import Iteration
from biela.errors import DeadPointError
from biela.results import Results
from tests.four_bars import triple_rocker


def short_rod(space: bool) -> tuple[bl.Model, float]:
    """A rod that is shorter than its crank stops where it is square to the rail."""
    m = bl.Model("short rod", plane=None if space else "xy")
    start = 0.2
    B = 2.0 * np.array([np.cos(start), np.sin(start)])
    down = -float(np.arcsin(B[1] / 1.5))
    crank, block = m.body("crank", mass=1.0), m.body("block", mass=1.0)
    pose = {"position": (B[0], B[1], 0.0), "orientation": ("z", (down,))} if space else {}
    rod = m.body("rod", mass=1.0, **pose)
    place = float(B[0] + np.sqrt(1.5**2 - B[1] ** 2))
    m.joint("revolute", "A", m.ground.at(), crank.at(), start=start)
    if space:
        m.joint("spherical", "B", crank.at(2, 0, 0), rod.at())
        m.joint("spherical", "C", rod.at(1.5, 0, 0), block.at())
    else:
        m.joint("revolute", "B", crank.at(2, 0, 0), rod.at(), start=down - start)
        m.joint("revolute", "C", rod.at(1.5, 0, 0), block.at())
    rail = m.ground.at(axis="x")
    m.joint("prismatic", "P", rail, block.at(axis="x"), start={"displacement": place})
    m.driver("rotary", "motor", coordinate="A.angle", law=f"{start} + t")
    return m, float(np.arcsin(1.5 / 2.0)) - start


CASES = {
    "bars in line": (triple_rocker, ("B", "C", "D")),
    "rod square to its rail": (lambda: short_rod(False), ("B", "C", "P")),
    "rod square to its rail, in space": (lambda: short_rod(True), ("B", "C", "P")),
}


#: All formulations at the first, some at the others.
SOME = ("natural groups", "relative groups", "global sparse")


@pytest.mark.parametrize(
    ("case", "formulation"),
    [(c, n) for c in CASES for n in (SOME if "rail" in c else FORMULATIONS)],
)
def test_a_dead_point_is_told_with_its_time_and_joints(case: str, formulation: str) -> None:
    make, joints = CASES[case]
    model, limit = make()
    options = formulation_named(formulation, model).options(model)
    solver = GroupSolver(model, iteration=Iteration(polish=1), **options)
    with pytest.raises(DeadPointError) as error:
        solver.run(np.linspace(0.0, 3.0, 301))
    said = str(error.value)
    (time,) = re.findall(r"after t = (\S+) s", said)
    # until the last halving of a step that could be done
    assert limit - 2e-2 < float(time) <= limit + 1e-6
    named = re.findall(r"joints ([^)]*)\)", said)[0].split(", ")
    assert set(joints) <= set(named)
    stored = error.value.results
    assert 0 < stored.t[-1] <= limit


@pytest.mark.parametrize("closed_forms", [True, False])
@pytest.mark.parametrize("lanes", ["instants", "groups"])
def test_it_is_told_in_all_lanes_with_and_without_closed_forms(
    lanes: str, closed_forms: bool
) -> None:
    model, limit = triple_rocker()
    solver = GroupSolver(model, closed_forms=closed_forms, lanes=lanes)
    with pytest.raises(DeadPointError, match=r"group RRR \(coupler, rocker; joints"):
        solver.run(np.linspace(0.0, 3.0, 301))
    solver.run(np.linspace(0.0, limit - 1e-3, 50))


def test_one_call_for_a_motion_stops_there_too_and_what_was_found_is_kept() -> None:
    model, limit = triple_rocker()
    with pytest.raises(DeadPointError, match="joints D, B, C") as error:
        group_kinematics(model, 3.0, step=0.01)
    kept = error.value.results
    assert isinstance(kept, Results)
    assert limit - 0.02 < kept.t[-1] <= limit
    assert kept["A.angle"][-1] == pytest.approx(0.5 + kept.t[-1], abs=1e-12)


def test_a_crank_turned_back_before_the_dead_point_passes() -> None:
    """It comes back the way it went, on the same branch."""
    model, limit = triple_rocker()
    solver = GroupSolver(model)
    t = np.linspace(0.0, 1.0, 81)
    # half a wave whose top is next to the dead point
    w, height = np.pi, limit - 1e-4
    wave = [
        0.5 + height * np.sin(w * t),
        height * w * np.cos(w * t),
        -height * w**2 * np.sin(w * t),
    ]
    run = solver.run(t, given=(("motor",), np.stack(wave, axis=1)))
    _, turn = run.body_rows
    np.testing.assert_allclose(turn[0], turn[0][::-1], rtol=0, atol=1e-9)
