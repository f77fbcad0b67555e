"""Parallelograms that swing through their flat line, where their constraints become dependent.

No choice of independent velocities is better than another there, and none may leave its branch.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import biela as bl
from biela.analysis.partitioning import PartitionWatch, independent_basis
from biela.solvers.coordinate_basis import choose_basis

DURATION = 2.0
G = 9.81


def parallelograms(
    count: int, angle: float = np.pi / 2, rate: float = -1.0, gravity: float = G
) -> bl.Model:
    """Rods of 1 m and 1 kg in a row, all cranks alike at the start and turning."""
    m = bl.Model("parallelograms", plane="xy", gravity=(0, -gravity, 0))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": 1 / 12}
    cranks = [m.body(f"crank{k}", **rod) for k in range(count + 1)]
    couplers = [m.body(f"coupler{k}", **rod) for k in range(count)]
    for k, crank in enumerate(cranks):
        start = {"start": angle, "rates": rate}
        m.joint("revolute", f"A{k}", m.ground.at(k, 0, 0), crank.at(), **start)
    for k, coupler in enumerate(couplers):
        m.joint("revolute", f"B{k}", cranks[k].at(1, 0, 0), coupler.at(), start=-angle)
        m.joint("revolute", f"C{k}", coupler.at(1, 0, 0), cranks[k + 1].at(1, 0, 0))
    return m


@cache
def system(count: int, coordinates: str) -> bl.System:
    return bl.formulate(parallelograms(count), coordinates)


@cache
def crank_direction(count: int) -> np.ndarray:
    """Where all cranks point in the end: a pendulum, a θ'' = -b g cos θ."""
    a, b = (count + 1) / 3 + count, (count + 1) / 2 + count
    found = solve_ivp(
        lambda t, x: [x[1], -b / a * G * np.cos(x[0])],
        (0, DURATION),
        [np.pi / 2, -1.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    )
    angle = found.y[0, -1]
    return np.array([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("run", [{"step": 2e-3}, {"tolerance": 1e-9}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize("partition", ["pivoting", "qr", "svd"])
@pytest.mark.parametrize(
    ("formulation", "index"),
    [("velocity_projection", 2), ("velocity_projection", 3), ("null_space", None)],
)
def test_all_partitions_pass_the_flat_line_twice(formulation, index, partition, run):
    options = bl.Options(partition=partition, **({} if index is None else {"index": index}))
    r = bl.simulate(
        system(1, "reference"), DURATION, formulation=formulation, options=options, **run
    )
    for crank in ("crank0", "crank1"):
        found = r.frame(crank).orientation[-1][:2, 0]
        np.testing.assert_allclose(found, crank_direction(1), atol=2e-7)
    assert np.ptp(r["energy"]) < 2e-6


@pytest.mark.parametrize("run", [{"step": 1e-3}, {"tolerance": 1e-9}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize("coordinates", ["reference", "natural"])
def test_combinations_of_velocities_are_chosen_again_in_time(coordinates, run):
    """Kept for a quarter turn, they would see little of the motion, and lose digits."""
    options = bl.Options(partition="svd", index=3)
    r = bl.simulate(
        system(3, coordinates), DURATION, formulation="velocity_projection", options=options, **run
    )
    np.testing.assert_allclose(
        r.frame("crank3").orientation[-1][:2, 0], crank_direction(3), atol=1e-7
    )
    assert 4 <= r.statistics.more["changes of independent coordinates"] <= 8


def test_motions_turn_away_from_a_choice_but_singular_positions_do_not_count():
    made = system(1, "reference")
    p, u = made.parameters, made.inputs

    def at(angle: float) -> np.ndarray:
        """The position with both cranks at an angle; then a row of the closure is lost at 0."""
        c, s = np.cos(angle), np.sin(angle)
        values = {
            "crank0.rx": c / 2, "crank0.ry": s / 2, "crank0.angle": angle,
            "crank1.rx": 1 + c / 2, "crank1.ry": s / 2, "crank1.angle": angle,
            "coupler0.rx": c + 0.5, "coupler0.ry": s, "coupler0.angle": 0.0,
        }  # fmt: skip
        return np.array([values[entry.name] for entry in made.q])

    def rows(angle: float) -> np.ndarray:
        return made.evaluate("Phi_v", at(angle), t=0.0, u=u, p=p)

    chosen = choose_basis(rows(0.2), "svd")
    for angle in (0.3, 1e-5, -0.5, 1.5):
        # the motion of two cranks and the coupler, by hand
        s = np.array([-np.sin(angle), np.cos(angle)])
        motion = {"crank0": [*(s / 2), 1], "crank1": [*(s / 2), 1], "coupler0": [*s, 0]}
        names = {"rx_rate": 0, "ry_rate": 1, "angle_rate": 2}
        N = np.array(
            [motion[body][names[what]] for body, what in (e.name.split(".") for e in made.v)]
        )
        assert np.abs(rows(angle) @ N).max() < 1e-14
        cosine = np.abs(chosen.B @ N)[0] / np.linalg.norm(N)
        assert chosen.alignment(rows(angle)) == pytest.approx(cosine, abs=1e-10)
    assert chosen.steadiness(rows(1e-5)) < 1e-5
    assert chosen.alignment(rows(1e-5)) > 0.9

    watch = PartitionWatch(made, u, p, (), "svd")
    watch.begin(0.0, at(0.2), independent_basis(made, 0.0, at(0.2), u, p, (), "svd"))
    assert watch.another(0.0, at(1e-5), chosen) is None
    assert watch.another(0.0, at(1.5), chosen) is not None


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
@pytest.mark.parametrize("step", [1e-2, 2e-3, 1e-3, 5e-4])
@pytest.mark.parametrize("count", [1, 3])
def test_a_step_that_ends_on_the_line_goes_on(count: int, step: float, coordinates: str) -> None:
    """Without gravity the cranks turn evenly, and are on the line after 1 s, but for rounding."""
    m = parallelograms(count, 0.3, -0.3, gravity=0.0)
    r = bl.simulate(bl.formulate(m, coordinates), 2.5, step=step, formulation="multipliers")
    end = 0.3 - 0.3 * 2.5
    for k in range(count + 1):
        found = r.frame(f"crank{k}").orientation[-1][:2, 0]
        assert found == pytest.approx([np.cos(end), np.sin(end)], abs=1e-9)
