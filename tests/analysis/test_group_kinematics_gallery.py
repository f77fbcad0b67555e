"""Groups against the global solution on the whole gallery, in all coordinates.

The other side are reference-point coordinates, all equations at once.  What is compared are places,
velocities and accelerations of all bodies; the spin of a rod that nothing determines is left out.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.groups.coordinates import COORDINATES
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.groups.motion import _bodies
from biela.analysis.groups.solver import GroupSolver
from biela.atoms.evaluate import evaluate_refs
from biela.equations.groups import Structure
from biela.equations.groups.cast import Poses
from biela.equations.groups.kernel import GroupKernel, known_values
from biela.equations.groups.lowering import Iteration
from biela.results import Results

Floats = npt.NDArray[np.float64]

FOLDER = Path(__file__).parents[2] / "examples" / "mechanisms"
#: Linkages that nothing drives.
UNDRIVEN = {"balanced_lamp", "bricard"}
DRIVEN = sorted({path.stem for path in FOLDER.glob("*.toml")} - UNDRIVEN)
#: Mixed coordinates are natural ones, and the displacements of slides: these have some.
SLIDING = [
    "cardan_shaft", "excavator", "quick_return", "scara", "screw_press", "slider_crank",
    "spatial_slider_crank", "stewart",
]  # fmt: skip
DURATION, INSTANTS = 0.5, 25
TIMES = np.linspace(0.0, DURATION, INSTANTS)


@cache
def known(name: str) -> tuple[bl.Model, Structure, Results]:
    """A model, its groups, and its motion with all equations at once."""
    model = bl.load_model(FOLDER / f"{name}.toml")
    whole = bl.kinematics(
        bl.formulate(model, "reference"), DURATION, step=DURATION / (INSTANTS - 1), tolerance=1e-13
    )
    return model, bl.structural_groups(model), whole


def rotations(e: Floats) -> Floats:
    """Rotation matrices of Euler parameters: their sign has no meaning."""
    w, v = e[..., 0], e[..., 1:]
    cross = np.cross(np.eye(3), v[..., None, :])
    outer = v[..., :, None] * v[..., None, :]
    square = (w * w - (v * v).sum(axis=-1))[..., None, None] * np.eye(3)
    return np.asarray(square + 2 * outer + 2 * w[..., None, None] * np.swapaxes(cross, -1, -2))


def away(solver: GroupSolver, found: tuple[Floats, ...], whole: Results) -> list[float]:
    """Largest differences of places, velocities and accelerations; rates beside their size."""
    plane = solver.model.plane is not None
    count = solver.world.count
    held = np.zeros(count, dtype=bool)
    for group in solver.structure.groups:
        for spin in group.locked:
            held[[solver.world.body(name) for name in spin.bodies]] = True
    result = []
    for k, (mine, theirs) in enumerate(zip(found, (whole.q, whole.v, whole.a), strict=True)):
        width = 3 if plane else 7 if k == 0 else 6
        a, b = (x[:, : width * count].reshape(INSTANTS, count, width) for x in (mine, theirs))
        assert np.abs(a).max() > 0
        if plane:
            gap = float(np.abs(a - b).max())
        else:
            gap = float(np.abs(a[..., :3] - b[..., :3]).max())
            turn = [rotations(x[..., 3:]) if k == 0 else x[..., 3:] for x in (a, b)]
            gap = max(gap, float(np.abs(turn[0] - turn[1])[:, ~held].max(initial=0.0)))
        result.append(gap / (1.0 if k == 0 else 1.0 + float(np.abs(b).max())))
    return result


CASES = [
    # closed forms on for one half, off for the other, so that each coordinates have both
    (name, coordinates, (number + k) % 2 == 0)
    for (number, name), (k, coordinates) in product(enumerate(DRIVEN), enumerate(COORDINATES))
    if coordinates != "mixed" or name in SLIDING
]


@cache
def solver_of(name: str, coordinates: str, closed_forms: bool) -> GroupSolver:
    model, structure, _ = known(name)
    return GroupSolver(
        model,
        structure,
        coordinates=coordinates,
        closed_forms=closed_forms,
        lanes="instants",
        iteration=Iteration(tolerance=1e-10, polish=1),
    )


@pytest.mark.parametrize(("name", "coordinates", "closed_forms"), CASES)
def test_groups_agree_with_the_global_solution_at_every_step(
    name: str, coordinates: str, closed_forms: bool
) -> None:
    solver = solver_of(name, coordinates, closed_forms)
    for lanes in ("instants", "groups"):
        solver.lanes = lanes
        motion = solver.run(TIMES)
        assert max(away(solver, _bodies(solver, motion), known(name)[2])) <= 1e-10, lanes


# --- the equations of every kind that is met ---------------------------------------------------


class Point:
    """A kernel at a point next to where its first group starts, with random rates."""

    def __init__(self, kernel: GroupKernel, poses: Poses, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.function, self.rows = kernel.function, len(kernel.rows)
        start = [float(u.start(poses)[0]) for u in kernel.unknowns]
        h = [float(known_values(k, poses)[0]) for k in kernel.known]
        self.given = {array.name: np.zeros(array.size) for array in kernel.function.inputs}
        self.given["x"] = np.array(start) + random.uniform(-0.05, 0.05, len(start))
        if h:
            self.given["h"] = np.array(h) + random.uniform(-0.05, 0.05, len(h))
        for name in {"dh", "ddh"} & set(self.given):
            self.given[name] = random.normal(size=len(h))
        if "p" in self.given:
            self.given["p"] = kernel.parameters[0]
        for name in {"branch", "gauge_before"} & set(self.given):
            self.given[name] = np.ones(1)

    def values(self, **changed: Floats) -> dict[str, Floats]:
        """All outputs, by the interpreter of atoms; (numbers, points) if a change has several."""
        flat: dict[int, Any] = {}
        for array in self.function.inputs:
            numbers = changed.get(array.name, self.given[array.name])
            flat |= dict(zip(array.refs, numbers, strict=True))
        refs = [ref for array in self.function.outputs for ref in array.refs]
        found = iter(evaluate_refs(self.function.table, refs, flat))
        shape = np.broadcast_shapes(*(np.shape(v) for v in flat.values()))
        return {
            array.name: np.array([np.broadcast_to(next(found), shape) for _ in array.refs])
            for array in self.function.outputs
        }

    def residual(self, x: Floats, h: Floats) -> Floats:
        """Φ at several points, (rows, points); after it come rows that no unknown changes."""
        found = self.values(x=x, **({"h": h} if "h" in self.given else {}))["residual"]
        return found[: self.rows]


@pytest.mark.parametrize(("name", "coordinates", "closed_forms"), CASES)
def test_steps_rates_and_accelerations_of_kernels_are_those_of_finite_differences(
    name: str, coordinates: str, closed_forms: bool
) -> None:
    """Φ_φ (φ - next) = Φ,  Φ_φ φ' + Φ_h h' = 0,  Φ_φ φ'' + Φ_h h'' + c = 0 at any point.

    The matrices are central differences of Φ, c its second difference along (φ', h').
    """
    solver = solver_of(name, coordinates, closed_forms)
    kernels = zip(solver.groups.kernels, solver.groups.closed, strict=True)
    for seed, (kernel, closed) in enumerate(kernels):
        if not kernel.unknowns:
            continue
        at = Point(kernel, solver.poses, seed)
        x, h = at.given["x"], at.given.get("h", np.zeros(0))
        n, m, e = len(x), len(h), 1e-6
        here = at.values()
        steps = e * np.concatenate([np.eye(n + m), -np.eye(n + m)], axis=1)
        Phi = at.residual(x[:, None] + steps[:n], h[:, None] + steps[n:])
        J = (Phi[:, : n + m] - Phi[:, n + m :]) / (2 * e)
        v = np.concatenate([here["dx"], at.given.get("dh", np.zeros(0))])
        a = np.concatenate([here["ddx"], at.given.get("ddh", np.zeros(0))])
        way = 1e-3 * v / max(1.0, np.linalg.norm(v))
        sides = np.stack([-way, 0 * way, way], axis=1)
        Phi = at.residual(x[:, None] + sides[:n], h[:, None] + sides[n:])
        c = (Phi[:, 0] - 2 * Phi[:, 1] + Phi[:, 2]) * (max(1.0, np.linalg.norm(v)) / 1e-3) ** 2
        # more rows than unknowns are met in the least squares: what is left is square to Φ_φ
        across = np.eye(n) if len(J) == n else J[:, :n].T
        levels = {
            "velocity": (J @ v, np.abs(J) @ np.abs(v)),
            "acceleration": (J @ a + c, np.abs(J) @ np.abs(a) + np.abs(c)),
        }
        if closed is None:
            step = x - here["next"]
            value = here["residual"][: len(kernel.rows)]
            size = np.abs(J[:, :n]) @ np.abs(step) + np.abs(value)
            levels["position"] = (value - J[:, :n] @ step, size)
        for level, (left, size) in levels.items():
            assert np.abs(across @ left).max() <= 1e-6 * max(1e-3, size.max()), (kernel.rows, level)


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "rssr", "spatial_slider_crank"])
def test_the_tensor_of_second_derivatives_gives_the_same_velocity_terms(
    name: str, coordinates: str
) -> None:
    (case,) = (case for case in CASES if case[:2] == (name, coordinates))
    solver = solver_of(*case)
    for equations in solver.groups.equations:
        if not equations.x:
            continue
        random = np.random.default_rng(7)
        symbols = [*equations.x, *(k.symbol for k in equations.derivation.known)]
        values = dict(equations._samples()[1])
        shape = next(iter(values.values())).shape
        values |= {s.velocity: random.normal(size=shape) for s in symbols}
        rates = [equations.rate(row) for row in equations.Phi]
        way = equations.convective
        found = []
        for equations.convective in ("rate", "tensor"):
            found.append(equations._evaluated(equations.bias(rates, equations.Phi), values))
        equations.convective = way
        assert np.abs(found[0]).max() > 1e-3, "there are some"
        np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("coordinates", ["natural", "relative"])
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "excavator", "delta"])
def test_native_code_of_kernels_is_what_the_interpreter_of_atoms_says(
    name: str, coordinates: str
) -> None:
    (case,) = (case for case in CASES if case[:2] == (name, coordinates))
    solver = solver_of(*case)
    for kernel in solver.groups.kernels:
        if not kernel.unknowns:
            continue
        at = Point(kernel, solver.poses, 11)
        interpreted = at.values()
        native = kernel.function(**at.given)
        for array, value in zip(kernel.function.outputs, native, strict=True):
            expected = interpreted[array.name]
            size = max(1.0, float(np.abs(expected).max(initial=0.0)))
            np.testing.assert_allclose(
                np.ravel(value), expected, rtol=0, atol=1e-13 * size, err_msg=array.name
            )


# --- results ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["geared_five_bar", "screw_press", "scissor_lift"])
def test_results_have_the_channels_of_the_global_solution(name: str) -> None:
    """Angles over several turns, coordinates that couplings count, arrays of parts."""
    model, _, whole = known(name)
    found = group_kinematics(model, DURATION, step=DURATION / (INSTANTS - 1))
    np.testing.assert_allclose(found.t, whole.t, rtol=0, atol=1e-15)
    parts = [whole.groups[part] for part in ("q", "v", "a", "y") if part in whole.groups]
    shown = [channel for part in parts for channel in part.names]
    assert len(shown) >= 3 * 3 * len(model.bodies)
    for channel in shown:
        size = 1 + np.abs(whole[channel]).max()
        gap = np.abs(found[channel] - whole[channel]).max()
        assert gap <= 1e-9 * size, channel
