"""Arms with a freedom to spare: drives are followed, and the rest increases a measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import biela as bl
from biela.analysis.kinematics import kinematics
from biela.analysis.redundant_motion import Objective
from biela.errors import ModelError, SimulationError

LENGTHS = (1.0, 1.0, 0.8)
#: A start from which the smallest motion runs into a singular position, and the way of the tip.
START = np.array([0.3, -0.3, 1.8])
WAY = np.array([-0.7, -0.7])


def tip(q: np.ndarray) -> np.ndarray:
    """The tip of the arm at positions (k, 3)."""
    angles = np.cumsum(np.atleast_2d(q), axis=1)
    return np.stack([np.cos(angles) @ LENGTHS, np.sin(angles) @ LENGTHS], axis=1)


def jacobian(q: np.ndarray) -> np.ndarray:
    """That of the tip, (k, 2, 3)."""
    angles = np.cumsum(np.atleast_2d(q), axis=1)
    x, y = np.cos(angles) * LENGTHS, np.sin(angles) * LENGTHS

    def rest(part: np.ndarray) -> np.ndarray:
        return np.cumsum(part[:, ::-1], axis=1)[:, ::-1]

    return np.stack([-rest(y), rest(x)], axis=1)


@pytest.fixture(scope="module")
def arm() -> bl.System:
    s = bl.SymbolicSystem("arm")
    at, angle = s.origin, 0.0
    for k, length in enumerate(LENGTHS, 1):
        angle = angle + s.coordinates(f"q{k}")[0]
        base = s.base.rotated(f"link{k}", "z", angle)
        s.solid(f"link{k}", at=at, base=base, mass=1.0, inertia=base.inertia(zz=1.0))
        at = at.offset(f"P{k}", base.vector(length, 0, 0))
    r = s.position(s.origin, at)
    s.output("x", r.x)
    s.output("y", r.y)
    s.output("bend", bl.sin(s.q[2]))
    return s.equations().system


def run(arm: bl.System, objective: object, duration: float = 1.5, **more: object) -> bl.Results:
    (x, y), (dx, dy) = tip(START)[0], WAY
    drives = {"x": f"{x:.17g} + {dx}*t", "y": f"{y:.17g} + {dy}*t"}
    return kinematics(
        arm, duration, step=0.015, q=START, drives=drives, objective=objective, **more
    )


def follows(found: bl.Results) -> None:
    wanted = tip(START) + found.t[:, None] * WAY
    assert np.abs(tip(found.q) - wanted).max() < 1e-12
    J = jacobian(found.q)
    assert np.abs(np.einsum("kij,kj->ki", J, found.v) - WAY).max() < 1e-11


def test_the_free_motion_keeps_the_arm_away_from_singular_positions(arm: bl.System) -> None:
    plain, helped = run(arm, "speed"), run(arm, "manipulability")
    measures = []
    for found in (plain, helped):
        follows(found)
        measures.append(
            np.sqrt(np.linalg.det(jacobian(found.q) @ jacobian(found.q).swapaxes(1, 2)))
        )
    assert np.allclose(helped["objective"], measures[1], rtol=0, atol=1e-12)
    assert measures[1].min() > 2.5 * measures[0].min()
    # the same by the worst direction
    least = [np.linalg.svd(jacobian(x.q), compute_uv=False)[:, 1].min() for x in (plain, helped)]
    assert least[0] < 0.15 and least[1] > 2.5 * least[0]
    worst = run(arm, Objective("smallest singular value", 2.0))
    assert np.linalg.svd(jacobian(worst.q), compute_uv=False)[:, 1].min() > 2.5 * least[0]


def test_without_a_measure_the_motion_is_the_smallest(arm: bl.System) -> None:
    found = run(arm, "speed", 0.9)
    wanted = np.einsum("kij,j->ki", np.linalg.pinv(jacobian(found.q)), WAY)
    assert np.allclose(found.v, wanted, rtol=0, atol=1e-11)


@pytest.mark.parametrize("objective", ["speed", "manipulability", "bend"])
def test_velocities_and_accelerations_are_the_slopes_of_the_motion(
    arm: bl.System, objective: str
) -> None:
    found = run(arm, objective, 0.6)
    h = found.t[1] - found.t[0]

    def slope(x: np.ndarray) -> np.ndarray:
        return (8 * (x[3:-1] - x[1:-3]) - (x[4:] - x[:-4])) / (12 * h)

    assert np.abs(slope(found.q) - found.v[2:-2]).max() < 1e-5
    assert np.abs(slope(found.v) - found.a[2:-2]).max() < 1e-4


def test_outputs_functions_and_limits_can_be_objectives(arm: bl.System) -> None:
    by_output = run(arm, "bend", 0.6)
    by_function = run(arm, lambda t, q: float(np.sin(q[2])), 0.6)
    assert np.allclose(by_output.q, by_function.q, rtol=0, atol=1e-8)
    assert by_output["objective"][-1] > run(arm, "speed", 0.6)["bend"][-1]
    follows(by_output)

    bounded = replace(arm, q=tuple(replace(e, lower=-2.0, upper=2.0) for e in arm.q))
    away = run(bounded, Objective("limits", 20.0), 0.9)
    follows(away)
    plain = run(arm, "speed", 0.9)
    assert (away.q[-1] ** 2).sum() < (plain.q[-1] ** 2).sum()


def test_bad_objectives_are_refused(arm: bl.System) -> None:
    with pytest.raises(ModelError, match=r"no output height.*manipulability.*bend"):
        run(arm, "height")
    with pytest.raises(ModelError, match="no coordinate has limits"):
        run(arm, "limits")
    with pytest.raises(ModelError, match="finite"):
        run(arm, Objective("speed", np.inf))
    with pytest.raises(ModelError, match="no accelerations"):
        run(arm, "speed", accelerations={"q1": 0.0})


def test_a_tip_driven_out_of_reach_says_so(arm: bl.System) -> None:
    with pytest.raises(SimulationError, match=r"cannot reach at t = .*drive x by") as caught:
        kinematics(
            arm, 3.0, step=0.05, q=[0.0, 0.5, 0.5], objective="speed",
            drives={"x": f"{tip(np.array([0.0, 0.5, 0.5]))[0, 0]:.17g} + 0.5*t"},
        )  # fmt: skip
    kept = caught.value.results
    assert tip(kept.q)[-1, 0] <= sum(LENGTHS) + 1e-12
