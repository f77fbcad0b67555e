"""The criterion of structural groups, and coordinates and angles that are chosen group by group."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.lowering import Iteration
from tests.group_solvers_in_c import four_bar_chain, slider_fan
from tests.groups_oracle import closed_forms
from tests.groups_oracle.closed_forms import Motion

EXAMPLES = Path(__file__).parents[2] / "examples" / "mechanisms"
RATE = 0.3490658503988659
#: Freedoms that a joint leaves in the plane and in space.
FREEDOMS = {
    "revolute": (1, 1), "prismatic": (1, 1), "point_on_line": (2, 4), "distance": (2, 5),
    "universal": (0, 2), "cylindrical": (0, 2), "spherical": (0, 3),
}  # fmt: skip
#: What each driver of these mechanisms holds is one coordinate.
MODELS = {
    "chain": lambda: four_bar_chain(2),
    "fan": lambda: slider_fan(2),
    **{
        name: lambda name=name: bl.load_model(EXAMPLES / f"{name}.toml")
        for name in (
            "four_bar", "quick_return", "peaucellier", "theo_jansen", "excavator", "rssr",
            "spatial_slider_crank", "cardan_shaft", "double_wishbone",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_every_group_fulfils_the_criterion_of_groups(name: str) -> None:
    """S - n_c - n_p = d (P - N), with d = 3 in the plane and 6 in space (equation 35)."""
    model = MODELS[name]()
    structure = bl.structural_groups(model)
    d = 6 if model.plane is None else 3
    for group in structure.groups:
        joints = [model.joints[j] for j in group.joints if j in model.joints]
        freedoms = sum(FREEDOMS[joint.kind][0 if model.plane else 1] for joint in joints)
        left = freedoms - len(group.drivers) - len(group.locked)
        assert left == d * (len(joints) - len(group.bodies)), group.name


@pytest.mark.parametrize("angles", ["absolute", "relative"])
def test_angles_of_a_dyad_are_those_of_its_bars_or_of_its_joints(angles: str) -> None:
    solver = GroupSolver(
        four_bar_chain(1),
        coordinates="relative",
        angles=angles,
        points=["c1.C"],
        joints=["B1"],
        closed_forms=False,
        iteration=Iteration(polish=1),
    )
    t = np.linspace(0.0, 18.0, 91)
    run = solver.run(t)
    angle = Motion(np.pi / 2 + RATE * t, np.full_like(t, RATE), np.zeros_like(t))
    exact = closed_forms.chain_joint(angle, 1)
    C = run.point("c1.C")
    for part, expected in zip((C.position, C.velocity, C.acceleration), exact, strict=True):
        np.testing.assert_allclose(part[:, :2], expected, rtol=0, atol=1e-10)
    # of the pin, whatever the unknowns are
    B = closed_forms.crank(angle, 2.0).x
    bar = np.unwrap(np.arctan2(*(exact.x - B).T[::-1]))
    np.testing.assert_allclose(run.joint("B1")[:, 0], bar - angle.x, rtol=0, atol=1e-10)
    unknowns = [u.name for k in solver.groups.kernels for u in k.unknowns]
    assert ("c1.angle" in unknowns) == (angles == "absolute")


def test_coordinates_are_chosen_by_kind_of_group() -> None:
    """Dyads of the quick return: one in natural, one in relative coordinates, the rest mixed."""
    model = bl.load_model(EXAMPLES / "quick_return.toml")
    structure = bl.structural_groups(model)
    names = [g.name for g in structure.groups]
    ways = {names[1]: "relative", names[2]: "natural", "": "mixed"}
    t = np.linspace(0.0, 1.0, 41)
    runs = [
        GroupSolver(model, structure, coordinates=way, iteration=Iteration(polish=1)).run(t)
        for way in (ways, "reference")
    ]
    for one, other in zip(*(run.body_rows for run in runs), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * (1 + np.abs(b).max()))
