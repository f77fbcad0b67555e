"""Groups against the global solution on the whole gallery, in all coordinates.

The other side are reference-point coordinates, all equations at once.  What is compared are places,
velocities and accelerations of all bodies; the spin of a rod that nothing determines is left out.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.groups.motion import _bodies
from biela.analysis.groups.solver import COORDINATES, GroupSolver
from biela.equations.groups import Structure
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


@pytest.mark.parametrize(("name", "coordinates", "closed_forms"), CASES)
def test_groups_agree_with_the_global_solution_at_every_step(
    name: str, coordinates: str, closed_forms: bool
) -> None:
    model, structure, whole = known(name)
    solver = GroupSolver(
        model,
        structure,
        coordinates=coordinates,  # type: ignore[arg-type]
        closed_forms=closed_forms,
        lanes="instants",
        iteration=Iteration(tolerance=1e-10, polish=1),
    )
    for lanes in ("instants", "groups"):
        solver.lanes = lanes  # type: ignore[assignment]
        motion = solver.run(TIMES)
        assert max(away(solver, _bodies(solver, motion), whole)) <= 1e-10, lanes
