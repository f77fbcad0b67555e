from __future__ import annotations

import re

import pytest

from biela.errors import ModelError
from biela.model import Model


@pytest.fixture
def bar() -> Model:
    m = Model("bar")
    m.body("rod", mass=1.0, inertia=0.1)
    return m


def test_a_forgotten_name_is_told_as_such(bar: Model) -> None:
    with pytest.raises(ModelError, match="the second argument is the name"):
        bar.joint("revolute", bar.ground, bar.bodies["rod"])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="the second argument is the name"):
        bar.sensor("point", bar.ground.at(1, 0, 0))  # type: ignore[arg-type]


def test_an_unknown_setting_lists_those_that_every_joint_has(bar: Model) -> None:
    wanted = "no setting 'axes'; did you mean 'axis'? There are: i, j, at, axis, x_axis, start"
    with pytest.raises(ModelError, match=re.escape(wanted)):
        bar.joint("revolute", "pin", bar.ground, "rod", axes="y")
    with pytest.raises(ModelError, match=r"no setting 'colour'; there are: .*x_axis, start, rates"):
        bar.joint("revolute", "pin", bar.ground, "rod", colour="red")


def test_a_coordinate_that_its_joint_has_not_is_refused_when_it_is_named(bar: Model) -> None:
    bar.joint("cylindrical", "sleeve", bar.ground, "rod")
    for wrong in ("sleeve", "sleeve.angel"):
        with pytest.raises(ModelError, match=rf"driver motor \(rotary\): '{wrong}' is not one"):
            bar.driver("rotary", "motor", coordinate=wrong, law="t")
    with pytest.raises(ModelError, match=r"force f \(friction\): a coordinate is a name"):
        bar.force("friction", "f", coordinate=bar.joints["sleeve"], kinetic=1.0)
    bar.driver("rotary", "motor", coordinate="sleeve.angle", law="t")
    assert list(bar.drivers) == ["motor"]


def test_a_coordinate_of_a_joint_that_comes_later_may_be_named(bar: Model) -> None:
    bar.driver("rotary", "motor", coordinate="pin.angle", law="t")
    bar.joint("revolute", "pin", bar.ground, "rod")
    assert list(bar.drivers) == ["motor"]


@pytest.mark.parametrize("limits", [(1.0, -1.0), (0, 0), (1.0,), 3.0, "1 rad"])
def test_limits_that_are_none_name_the_joint(bar: Model, limits: object) -> None:
    with pytest.raises(ModelError, match=r"joint pin \(revolute\): the limits of angle"):
        bar.joint("revolute", "pin", bar.ground, "rod", limits=limits)  # type: ignore[arg-type]
    bar.joint("revolute", "pin", bar.ground, "rod", limits=(-1, "90 deg"))


@pytest.mark.parametrize("points", [3.0, "3"])
def test_a_number_is_no_list_of_points(bar: Model, points: object) -> None:
    with pytest.raises(ModelError, match="joint groove: the points of a curve are a list"):
        bar.joint("point_on_curve", "groove", bar.ground, "rod", points=points)
    bar.joint("revolute", "pin", bar.ground, "rod")
    with pytest.raises(ModelError, match="force spring: a characteristic is a list of pairs"):
        bar.force("torsional", "spring", coordinate="pin", characteristic=points)
    ends = {"i": bar.ground.at(1, 0, 0), "j": "rod"}
    with pytest.raises(ModelError, match="force spring: a characteristic is a list of pairs"):
        bar.force("spring_damper", "spring", **ends, characteristic=points)
