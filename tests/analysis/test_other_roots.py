"""Rows of sines and cosines hold half a turn away too; runs start at the root that is meant."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.model.orientation import turned
from tests.analysis.test_light_parts import bar

EVERYWHERE = ("joint", "reference", "natural", "euler", "looped")


def started(m: bl.Model, how: str) -> bl.Results:
    if how == "looped":
        return bl.simulate(m, 0.02, step=0.01, engine="looped")
    return bl.simulate(bl.formulate(m, how), 0.02, step=0.01)


def about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@pytest.mark.parametrize("how", [*EVERYWHERE, "kinematics"])
@pytest.mark.parametrize("joint", ["revolute", "spherical"])
@pytest.mark.parametrize("degrees", [100, 179])
def test_an_orientation_that_is_driven_is_the_one_asked_for(how, joint, degrees):
    m = bl.Model("aimed")
    b = m.body("b", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.25))
    m.joint(joint, "A", m.ground, b)
    m.driver("orientation", "aim", marker=b, first=f"{degrees} deg + 10 deg/s*t")
    r = bl.kinematics(m, 0.02, step=0.01) if how == "kinematics" else started(m, how)
    for t, R in zip(r.t, r.frame("b").orientation, strict=True):
        expected = about_z(np.radians(degrees + 10 * t))
        np.testing.assert_allclose(np.reshape(R, (3, 3)), expected, atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *(("fixed", how) for how in EVERYWHERE),
        *(("prismatic", how) for how in ("joint", "reference")),
        *((kind, "joint") for kind in ("revolute", "cylindrical", "planar")),
    ],
)
def test_joints_that_close_loops_have_their_axes_the_same_way(kind, how):
    m = bl.Model("hung")
    b = m.body("b", mass=1.0, com=(0.1, 0, 0.05), inertia=(0.1, 0.2, 0.25))
    b.orientation = turned("x", ("170 deg",))
    m.joint("spherical", "S", m.ground, b)
    m.joint(kind, "R", m.ground, b, axis="z", closes=True)
    R = np.reshape(started(m, how).frame("b").orientation[0], (3, 3))
    assert R[2, 2] == pytest.approx(1)
    if kind in ("fixed", "prismatic"):
        np.testing.assert_allclose(R, np.eye(3), atol=1e-9)


def test_axes_that_always_oppose_each_other_close_a_loop_all_the_same():
    """The markers of D are turned against each other: no position has their axes alike."""
    m = bl.Model("opposed")
    a, b, c = bar(m, "a", 0.2, 1.0), bar(m, "b", 0.6, 1.0), bar(m, "c", 0.4, 1.0)
    m.joint("revolute", "A", m.ground, a, axis="z", start="80 deg")
    m.joint("revolute", "B", a.at(0.2, 0, 0), b, axis="z", start="-60 deg")
    m.joint("revolute", "C", b.at(0.6, 0, 0), c.at(0.4, 0, 0), axis="z")
    over = m.ground.marker("D", (0.5, 0, 0), axis="-z")
    m.joint("revolute", "D", over, c.marker("D"), closes=True)
    r = bl.simulate(m, 0.1, step=1e-3)
    place = np.asarray(r.frame("c").position)
    np.testing.assert_allclose(place, np.broadcast_to([0.5, 0, 0], place.shape), atol=1e-9)
