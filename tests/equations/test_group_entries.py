"""Equations of groups for solvers at run time: assembled, generated, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.whole import whole_structure
from biela.equations.groups.assembled import assembled_kernel
from biela.equations.groups.entries import RunTimeKernel, chosen_solver, generated_kernel
from biela.equations.groups.entries_evaluation import GroupNumbers, group_numbers
from biela.errors import ModelError
from tests.four_bars import chain_of_dyads


def spatial_slider() -> bl.Model:
    """Crank, rod between balls and slider: a passive spin."""
    m = bl.Model("spatial slider")
    crank = m.body("crank", mass=1.0)
    rod = m.body("rod", mass=1.0)
    slider = m.body("slider", mass=1.0)
    m.joint("revolute", "A", m.ground.at(axis=(0.8, -0.6, 0.0)), crank.at(axis="z"))
    m.joint("spherical", "B", crank.at(2.0, 0.0, 0.0), rod.at())
    m.joint("spherical", "C", rod.at(6.0, 0.0, 0.0), slider.at())
    m.joint(
        "prismatic", "P", m.ground.at(axis="x"), slider.at(axis="x"), start={"displacement": 5.5}
    )
    m.driver("rotary", "motor", coordinate="A.angle", law="0.4 + t")
    return m


def kernels(model: bl.Model, coordinates: str) -> list[tuple[RunTimeKernel, RunTimeKernel]]:
    """Of each kind with unknowns its kernel assembled, and generated.

    In the plane of groups, which know others; in space of the whole mechanism.
    """
    structure = None if model.plane is not None else whole_structure(model)
    solver = GroupSolver(model, structure, coordinates=coordinates)
    found = []
    for equations, made in zip(solver.groups.equations, solver.groups.kernels, strict=True):
        if equations.x:
            found.append(
                (
                    assembled_kernel(equations, made.wanted, "dense"),
                    generated_kernel(equations, "whole", made.wanted, "dense"),
                )
            )
    return found


def numbers(kernel: RunTimeKernel, x: np.ndarray, h: np.ndarray) -> GroupNumbers:
    return group_numbers(kernel, x, h)


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
@pytest.mark.parametrize("model", [chain_of_dyads(2), spatial_slider()], ids=["plane", "space"])
def test_assembled_equations_are_those_that_were_generated(model, coordinates):
    random = np.random.default_rng(3)
    made = kernels(model, coordinates)
    assert made
    for assembled, generated in made:
        assert assembled.rows == generated.rows
        x = random.uniform(-1, 1, (3, len(assembled.unknowns)))
        h = random.uniform(-1, 1, (3, len(assembled.known)))
        one, other = numbers(assembled, x, h), numbers(generated, x, h)
        for name in ("Phi", "Phi_phi", "velocity", "acceleration", "y"):
            a, b = getattr(one, name), getattr(other, name)
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("coordinates", ["natural", "reference"])
def test_entries_and_right_hand_sides_are_derivatives_of_the_equations(coordinates):
    """Along φ(t), h(t): d Φ/dt = Φ_φ φ' - velocity, d² Φ/dt² = Φ_φ φ'' - acceleration."""
    random = np.random.default_rng(5)
    step = 1e-3
    for kernel, _ in kernels(spatial_slider(), coordinates):
        x = random.uniform(-1, 1, (3, len(kernel.unknowns)))
        h = random.uniform(-1, 1, (3, len(kernel.known)))
        at = numbers(kernel, x, h)

        def later(t: float, x: np.ndarray = x, h: np.ndarray = h) -> tuple[np.ndarray, np.ndarray]:
            motion = np.array([1.0, t, t * t / 2])
            return motion @ x, motion @ h

        def there(t: float, kernel: RunTimeKernel = kernel) -> tuple[np.ndarray, np.ndarray]:
            q, k = later(t)
            found = numbers(
                kernel,
                np.stack([q, 0 * q, 0 * q]),
                np.stack([k, 0 * k, 0 * k]),
            )
            return found.Phi, found.y[0]

        ahead, behind, here = there(step), there(-step), there(0.0)
        speed = at.Phi_phi @ x[1] - at.velocity
        np.testing.assert_allclose((ahead[0] - behind[0]) / (2 * step), speed, atol=2e-5)
        second = at.Phi_phi @ x[2] - at.acceleration
        differences = (ahead[0] - 2 * here[0] + behind[0]) / step**2
        np.testing.assert_allclose(differences, second, atol=2e-5)
        np.testing.assert_allclose((ahead[1] - behind[1]) / (2 * step), at.y[1], atol=2e-5)
        differences = (ahead[1] - 2 * here[1] + behind[1]) / step**2
        np.testing.assert_allclose(differences, at.y[2], atol=2e-5)


def test_shapes_of_rows_do_not_grow_with_the_mechanism():
    """In reference-point coordinates a pin is a pin, wherever it is."""
    found = []
    for count in (2, 4):
        model = chain_of_dyads(count)
        solver = GroupSolver(
            model, whole_structure(model), coordinates="reference", solver="sparse",
            assembly="assembled",
        )  # fmt: skip
        (kernel,) = solver.groups.kernels
        assert len(kernel.unknowns) == 3 * (2 * count + 1)
        found.append(len(kernel.row_blocks))
    assert found[0] == found[1] <= 6


def test_small_groups_are_unrolled_and_names_are_checked():
    equations = GroupSolver(chain_of_dyads(1), coordinates="natural").groups.equations
    assert [chosen_solver(e, "auto") for e in equations] == ["unrolled", "unrolled"]
    assert chosen_solver(equations[1], "sparse") == "sparse"
    assert chosen_solver(equations[0], "sparse") == "unrolled", "there is nothing to be solved"
    with pytest.raises(ModelError, match="dense"):
        chosen_solver(equations[1], "dens")
