"""Pictures and joint coordinates of looped runs: as those of the same mechanism unrolled."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.results import Dot, Link


def slider_crank() -> bl.Model:
    m = bl.Model("slider-crank", plane="xz")
    m.parameter("r", 0.1)
    crank = m.body("crank", mass=1.0, com=("r/2", 0, 0), inertia=0.01)
    rod = m.body("rod", mass=1.0, com=(0.2, 0, 0), inertia=0.02)
    slide = m.body("slide", mass=1.0, inertia=0.01)
    m.joint("revolute", "A", m.ground, crank, axis="y", start=0.5, rates=40.0)
    m.joint("revolute", "B", crank.at("r", 0, 0), rod, axis="y")
    m.joint("revolute", "C", rod.at(0.4, 0, 0), slide, axis="y")
    m.joint("prismatic", "S", m.ground, slide, axis="x")
    return m


def test_joints_are_read_by_name_over_turns_with_the_parameters_of_the_run() -> None:
    given = {"tolerance": 1e-10, "output": 0.02, "parameters": {"r": 0.13}}
    unrolled = bl.simulate(slider_crank(), 0.4, **given)
    looped = bl.simulate(slider_crank(), 0.4, engine="looped", **given)
    assert unrolled["A.angle"][-1] > 2 * np.pi
    for name in ("A.angle", "B.angle", "C.angle", "S.displacement"):
        for channel in (name, f"{name}_rate"):
            np.testing.assert_allclose(looped[channel], unrolled[channel], rtol=1e-6, atol=1e-6)


def test_the_scene_is_that_of_the_unrolled_run() -> None:
    runs = [
        bl.simulate(slider_crank(), 0.02, step=1e-3, output=0.01, engine=engine)
        for engine in ("unrolled", "looped")
    ]
    shapes = [run.scene.shapes for run in runs if run.scene is not None]
    assert len(shapes) == 2
    assert [(type(s), s.name) for s in shapes[0]] == [(type(s), s.name) for s in shapes[1]]
    compared = 0
    for one, other in zip(*shapes, strict=True):
        if isinstance(one, Link | Dot) and isinstance(other, Link | Dot):
            np.testing.assert_allclose(one.points, other.points, atol=1e-8)
            compared += 1
    assert compared


@pytest.mark.parametrize("count", [3, 101])
def test_arrays_are_drawn_and_read_up_to_a_size(count: int) -> None:
    m = bl.Model("cells", plane="xz")
    m.part("cell", slider_crank(), count=count, shift=(0, 0, 1.0))
    run = bl.kinematics(_driven(m), 0.02, step=0.01, engine="looped")
    few = 3 * count <= 300
    assert (run.scene is not None) == few
    assert ("cell[2].C.angle" in run.names) == few


def _driven(m: bl.Model) -> bl.Model:
    cell = m.parts["cell"].model
    cell.driver("rotary", "motor", coordinate="A", law="0.5 + 40*t")
    return m
