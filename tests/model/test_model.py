from __future__ import annotations

import re

import numpy as np
import pytest

from biela.errors import BielaError, ModelError
from biela.model import Model
from biela.model.files import dumps, loads
from biela.model.joints import Joint


@pytest.fixture
def bar() -> Model:
    m = Model("bar")
    m.body("rod", mass=1.0, inertia=0.1)
    return m


def test_a_forgotten_name_is_told_as_such(bar: Model) -> None:
    with pytest.raises(ModelError, match="the second argument is the name"):
        bar.joint("revolute", bar.ground, bar.bodies["rod"])
    with pytest.raises(ModelError, match="the second argument is the name"):
        bar.sensor("point", bar.ground.at(1, 0, 0))


def test_an_unknown_setting_lists_those_that_every_joint_has(bar: Model) -> None:
    wanted = "no setting 'axes'; did you mean 'axis'? There are: i, j, closes, at, axis, x_axis"
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
        bar.joint("revolute", "pin", bar.ground, "rod", limits=limits)
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


def test_limits_of_velocity_and_effort_are_sizes_with_units(bar: Model) -> None:
    for wrong in (0.0, -1.0, "-2 rad/s"):
        with pytest.raises(ModelError, match=r"pin \(revolute\): the velocity limit of angle"):
            bar.joint("revolute", "pin", bar.ground, "rod", velocity_limits=wrong)
    with pytest.raises(ModelError, match="no coordinate 'x' for effort limits; it has angle"):
        bar.joint("revolute", "pin", bar.ground, "rod", effort_limits={"x": 1.0})
    with pytest.raises(BielaError, match="torque"):
        bar.joint("revolute", "pin", bar.ground, "rod", effort_limits="3 N")
    pin = bar.joint(
        "revolute", "pin", bar.ground, "rod", velocity_limits="60 rpm", effort_limits="2 N*m"
    )
    assert isinstance(pin, Joint)
    again = loads(dumps(bar)).joints["pin"]
    assert isinstance(again, Joint)
    assert again.velocity_limits == {"angle": "60 rpm"}
    assert again.effort_limits == {"angle": "2 N*m"}


def test_an_inertia_may_be_unsymmetric_by_rounding_only() -> None:
    random = np.random.default_rng(0)
    R = np.linalg.qr(random.normal(size=(3, 3)))[0]
    I = R @ np.diag([0.1, 0.2, 0.25]) @ R.T
    I[0, 1] *= 1 + 1e-14
    made = Model("m").body("rod", mass=1.0, inertia=I).inertia.moments
    assert made[3] == pytest.approx((I[0, 1] + I[1, 0]) / 2, rel=1e-15)
    I[0, 1] += 1e-6
    with pytest.raises(ModelError, match="body rod: the inertia is not symmetric"):
        Model("m").body("rod", mass=1.0, inertia=I)
    with pytest.raises(ModelError, match="not symmetric: 'a' and 'b'"):
        Model("m").body("rod", mass=1.0, inertia=[[1, "a", 0], ["b", 1, 0], [0, 0, 1]])
