"""Models whose numbers are parameters."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError
from biela.model.parametrised import ENTRIES, parametrised


def arm(mass: float = 2.0, reach: float = 0.4) -> bl.Model:
    m = bl.Model("arm")
    m.parameter("offset", 0.1)
    upper = m.body("upper", mass=3.0, com=(0.1, 0.02, -0.05), inertia=(0.1, 0.2, 0.15, 0.01, 0, 0))
    fore = m.body("fore-arm", mass=mass, com=("offset", 0, 0.1), inertia=(0.02, 0.03, 0.01))
    frame = m.body("frame")
    m.joint("revolute", "shoulder", m.ground.at(0, 0, 0.3), upper, axis="y")
    m.joint("revolute", "elbow", upper.at(reach, 0, 0.05), fore, axis="x")
    m.joint("fixed", "flange", fore.at(0, 0, 0.2), frame)
    return m


def test_a_number_of_a_body_is_a_parameter_with_its_value() -> None:
    m = arm()
    named = parametrised(m)
    names = [f"upper_{x}" for x in ENTRIES]
    assert list(named.parameters) == [
        "offset",
        *names,
        *(f"fore_arm_{x}" for x in ENTRIES if x != "cx"),
    ]
    assert [named.parameters[x] for x in names] == [
        3.0,
        0.1,
        0.02,
        -0.05,
        0.1,
        0.2,
        0.15,
        0.01,
        0,
        0,
    ]
    # the model itself is as it was
    assert list(m.parameters) == ["offset"]
    assert m.bodies["upper"].inertia.mass == 3.0


def test_lengths_that_are_not_zero_are_parameters() -> None:
    named = parametrised(arm(), ["geometry"])
    assert list(named.parameters) == [
        "offset",
        "shoulder_i_z",
        "elbow_i_x",
        "elbow_i_z",
        "flange_i_z",
    ]
    only = parametrised(arm(), ["geometry"], bodies=["fore-arm"])
    assert list(only.parameters) == ["offset", "shoulder_i_z", "flange_i_z"]


def test_values_given_later_are_those_of_a_model_made_with_them() -> None:
    random = np.random.default_rng(0)
    q, v, a = random.normal(size=(3, 2))
    changed = {"fore_arm_m": 2.6, "elbow_i_x": 0.55}
    robot = bl.Robot(arm(), symbolic=["inertia", "geometry"], parameters=changed)
    other = bl.Robot(arm(2.6, 0.55))
    np.testing.assert_allclose(robot.rnea(q, v, a), other.rnea(q, v, a), rtol=1e-13)
    np.testing.assert_allclose(robot.mass_matrix(q), other.mass_matrix(q), rtol=1e-13)
    assert not np.allclose(robot.rnea(q, v, a), bl.Robot(arm()).rnea(q, v, a), rtol=1e-3)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError, match="inertia and geometry"):
        parametrised(arm(), ["colour"])
    with pytest.raises(ModelError, match=r"there is no body 'uper'.*upper"):
        parametrised(arm(), bodies=["uper"])
    taken = arm()
    taken.parameter("upper_m", 1.0)
    with pytest.raises(ModelError, match="upper_m is given twice"):
        parametrised(taken)
