"""What a run takes if nobody names it, and what it refuses instead of passing over it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.formulations import FORMULATIONS, Options
from biela.analysis.formulations.default_choice import UNROLLED_OPERATIONS, elimination_operations
from biela.analysis.formulations.option_use import USED_BY
from biela.errors import ModelError
from examples.large import five_bars, vehicle


def four_bar() -> bl.Model:
    m = bl.Model("four_bar", plane="xz")
    a, b, c = (
        m.body(n, mass=1.0, com=(l / 2, 0, 0), inertia=0.02)
        for n, l in (("a", 0.2), ("b", 0.5), ("c", 0.4))
    )
    m.joint("revolute", "A", m.ground, a, axis="y", start=0.5)
    m.joint("revolute", "B", a.at(0.2, 0, 0), b, axis="y")
    m.joint("revolute", "C", b.at(0.5, 0, 0), c.at(0.4, 0, 0), axis="y")
    m.joint("revolute", "D", m.ground.at(0.4, 0, 0), c, axis="y", start=1.0)
    return m


def test_small_mechanisms_take_multipliers_and_large_ones_a_projection() -> None:
    small, large = bl.formulate(four_bar()), five_bars.pendulum(8).system()
    assert elimination_operations(small) < UNROLLED_OPERATIONS < elimination_operations(large)
    assert bl.Simulator(small).formulation == "multipliers"
    chosen = bl.Simulator(large)
    assert (chosen.formulation, chosen.options.index) == ("velocity_projection", 3)
    assert bl.Simulator(large, "multipliers").formulation == "multipliers"
    # positions and velocities apart, which the projection does not have in its state
    assert bl.Simulator(large, integrator="semi_implicit_euler").formulation == "multipliers"


def test_a_car_is_not_compiled_for_minutes_and_a_run_says_what_it_took() -> None:
    assert bl.Simulator(vehicle.layout()).formulation == "velocity_projection"
    run = bl.simulate(five_bars.layout(), 0.01, step=1e-3)
    assert run.statistics is not None
    assert run.statistics.method == "velocity_projection"
    assert run.statistics.max_constraint_error is not None
    assert run.statistics.max_constraint_error < 1e-12


def test_the_default_moves_as_the_multipliers_do() -> None:
    system = bl.formulate(five_bars.pendulum_bodies(4), "natural")
    assert bl.Simulator(system).formulation == "velocity_projection"
    runs = [bl.simulate(system, 0.2, tolerance=1e-10, formulation=f) for f in (None, "null_space")]
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-7)


#: For every option a value that is not its default.
OTHER: dict[str, Any] = {
    "metric": "identity",
    "projections": 1e-6,
    "position_iterations": 2,
    "baumgarte": 5.0,
    "penalty": 1e5,
    "frequency": 20.0,
    "damping": 0.5,
    "rounds": 2,
    "independent": ("A.angle",),
    "partition": "qr",
    "index": 3,
    "linear_solver": "dense",
    "refinements": 1,
    "fused": False,
    "iterations": 4,
    "rho": 0.5,
}


@pytest.mark.parametrize("option", OTHER)
def test_an_option_that_a_formulation_does_not_use_is_refused(option: str) -> None:
    system = bl.formulate(four_bar())
    for formulation in FORMULATIONS:
        given = Options(**{option: OTHER[option]})
        if formulation in USED_BY[option]:
            bl.Simulator(system, formulation, options=given)
            continue
        with pytest.raises(ModelError, match=f"does not use the option {option}"):
            bl.Simulator(system, formulation, options=given)


def test_options_choose_among_the_defaults() -> None:
    large = five_bars.pendulum(8).system()
    assert bl.Simulator(large, options=Options(metric="identity")).formulation == "multipliers"
    with pytest.raises(ModelError, match="velocity_projection"):
        bl.Simulator(bl.formulate(four_bar()), options=Options(index=3))


def test_one_independent_coordinate_may_be_named_as_it_is() -> None:
    assert Options(independent="A.angle").independent == ("A.angle",)
    assert Options(independent=["A.angle", "D.angle"]).independent == ("A.angle", "D.angle")
    options = Options(independent="A.angle", partition="qr")
    run = bl.simulate(four_bar(), 0.01, step=1e-3, formulation="matrix_r", options=options)
    assert run.statistics is not None
    with pytest.raises(ModelError, match=r"no .*A\.angel"):
        bl.simulate(
            four_bar(),
            0.01,
            step=1e-3,
            formulation="matrix_r",
            options=Options(independent="A.angel"),
        )


def test_arguments_that_a_run_does_not_use_are_refused() -> None:
    m = four_bar()
    for engine in ("unrolled", "looped"):
        with pytest.raises(ModelError, match="no tolerance"):
            bl.simulate(m, 0.1, step=1e-3, tolerance=1e-6, engine=engine)
        with pytest.raises(ModelError, match="chooses its own steps"):
            bl.simulate(m, 0.1, step=1e-3, integrator="dormand_prince", engine=engine)
    with pytest.raises(ModelError, match=r"looped engine.*options"):
        bl.simulate(m, 0.1, step=1e-3, options=Options(metric="identity"), engine="looped")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"integrator": "rk4"}, "integrator would do nothing"),
        ({"v": {"A.angle_rate": 1.0}}, "v would do nothing"),
        ({"integrate": True, "method": "damped"}, "method would do nothing"),
        ({"integrate": True, "through_dead_points": True}, "through_dead_points would do nothing"),
        ({"engine": "looped", "condition_limit": 1e4}, "looped engine .* condition_limit"),
        ({"engine": "looped", "integrator": "rk4"}, "looped engine .* integrator"),
    ],
)
def test_arguments_that_kinematics_does_not_use_are_refused(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        bl.kinematics(four_bar(), 0.1, step=0.05, drives={"A": "0.5 + t"}, **given)
