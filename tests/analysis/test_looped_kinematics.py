"""Driven motion of large mechanisms against closed forms, and against the unrolled engine."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import AssemblyError, ModelError, SimulationError

GROUND = 0.35


def four_bar(plane: str | None = "xy", driven: bool = True) -> bl.Model:
    """A crank a, a coupler b, a rocker c; the ground is 0.35 m long."""
    m = bl.Model("four-bar", plane=plane)
    for name, value in (("a", 0.1), ("b", 0.3), ("c", 0.25), ("phase", 0.4)):
        m.parameter(name, value)
    inertia = (0.01, 0.02, 0.03)
    crank = m.body("crank", mass=0.2, com=("a/2", 0, 0), inertia=inertia)
    coupler = m.body("coupler", mass=0.4, com=("b/2", 0, 0), inertia=inertia)
    rocker = m.body("rocker", mass=0.5, com=("c/2", 0.01, 0), inertia=inertia)
    m.joint("revolute", "A", m.ground, crank, axis="z")
    m.joint("revolute", "B", crank.at("a"), coupler, axis="z", start=0.36)
    m.joint("revolute", "C", coupler.at("b"), rocker.at("c"), axis="z", start=0.97)
    m.joint("revolute", "D", m.ground.at(GROUND), rocker, axis="z")
    rocker.marker("tip", ("c", 0.02, 0))
    m.sensor("joint", "swing", coordinate="D")
    if driven:
        m.driver("rotary", "motor", coordinate="A", law="phase + 3*t")
    return m


def closed_form(a: float, t: np.ndarray, phase: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Angle and rate of the rocker, by the law of cosines and by the instantaneous centres."""
    b, c, w = 0.3, 0.25, 3.0
    crank = phase + w * t
    gap = np.stack([GROUND - a * np.cos(crank), -a * np.sin(crank)])
    d = np.hypot(*gap)
    coupler = np.arctan2(gap[1], gap[0]) + np.arccos((b * b + d * d - c * c) / (2 * b * d))
    tip = np.stack([a * np.cos(crank) + b * np.cos(coupler) - GROUND,
                    a * np.sin(crank) + b * np.sin(coupler)])  # fmt: skip
    rocker = np.arctan2(tip[1], tip[0])
    rate = a * w * np.sin(crank - coupler) / (c * np.sin(rocker - coupler))
    return rocker, rate


def test_each_of_many_four_bars_follows_the_closed_form() -> None:
    lengths = np.linspace(0.08, 0.12, 50)
    m = bl.Model("many", plane="xy")
    m.part("cell", four_bar(), 50, shift=(0, 0.5, 0), parameters={"a": lengths})
    found = bl.kinematics(m, 1.0, step=0.02)
    assert found.statistics.method == "positions by Newton, sparse"
    for k in (0, 17, 49):
        angle, rate = closed_form(lengths[k], found.t)
        np.testing.assert_allclose(found[f"cell[{k}].rocker.angle"], angle, atol=1e-12)
        np.testing.assert_allclose(found[f"cell[{k}].rocker.wz"], rate, atol=1e-11)
        np.testing.assert_allclose(found[f"cell[{k}].swing"], angle, atol=1e-12)
        slope = np.gradient(rate, found.t, edge_order=2)
        np.testing.assert_allclose(found[f"cell[{k}].rocker.alphaz"][2:-2], slope[2:-2], atol=0.02)
    assert found["constraint error"].max() < 1e-12
    assert found["velocity error"].max() < 1e-11


@pytest.mark.parametrize("plane", ["xy", None])
def test_the_looped_engine_finds_the_motion_of_the_unrolled_one(plane: str | None) -> None:
    m = bl.Model("two", plane=plane)
    m.part("cell", four_bar(plane), 2, shift=(0, 0.5, 0), orientation=("z", (0.2,)),
           parameters={"a": [0.1, 0.11]})  # fmt: skip
    one, other = (bl.kinematics(m, 0.5, step=0.05, engine=e) for e in ("looped", "unrolled"))
    for group in ("poses", "twists", "frame_accelerations"):
        names = one.groups[group].names
        assert set(names) == set(other.groups[group].names)
        for name in names:
            full = f"{group}.{name}"
            np.testing.assert_allclose(one[full], other[full], atol=1e-11, err_msg=full)
    np.testing.assert_allclose(one["cell[1].swing_rate"], other["cell[1].swing_rate"], atol=1e-12)


def test_the_cells_of_a_chain_stand_on_each_other() -> None:
    m = bl.Model("chain", plane="xy")
    m.part("cell", four_bar(), 30, link="rocker.tip")
    found = bl.kinematics(m, 0.4, step=0.02)
    angle, _ = closed_form(0.1, found.t)
    turned = found["cell[29].rocker.angle"] - 30 * angle  # up to whole turns
    np.testing.assert_allclose(np.abs(np.exp(1j * turned) - 1), 0.0, atol=1e-10)


def test_one_driver_moves_a_chain_of_parallelograms() -> None:
    cell = bl.Model("parallelogram", plane="xy")
    left = cell.body("left", mass=1.0, inertia=0.1)
    bar = cell.body("bar", mass=1.0, inertia=0.1)
    right = cell.body("right", mass=1.0, inertia=0.1)
    cell.joint("revolute", "A", cell.ground, left, start=0.5)
    cell.joint("revolute", "B", left.at(0.2), bar, start=-0.5)
    cell.joint("revolute", "C", bar.at(0.3), right.at(0.2), start=0.5)
    cell.joint("revolute", "D", cell.ground.at(0.3), right)
    m = bl.Model("many", plane="xy")
    m.part("cell", cell, 40, shift=(0.3, 0, 0), between=[("fixed", "right", "left")])
    found = bl.kinematics(m, 1.0, step=0.05, drives={"cell[0].A.angle": "0.5 + t^2"})
    law = 0.5 + found.t**2
    np.testing.assert_allclose(found["cell[39].right.angle"], law, atol=1e-10)
    np.testing.assert_allclose(found["cell[39].right.wz"], 2 * found.t, atol=1e-10)
    np.testing.assert_allclose(found["cell[39].right.alphaz"], 2.0, atol=1e-8)


def test_dependent_rows_are_left_out_and_counted() -> None:
    m = bl.Model("spatial")
    m.part("cell", four_bar(None), 20, shift=(0, 0, 0.1))
    found = bl.kinematics(m, 2.1, step=0.07, engine="looped")
    angle, _ = closed_form(0.1, found.t)
    tip = GROUND + 0.25 * np.cos(angle) - 0.02 * np.sin(angle)
    np.testing.assert_allclose(found["cell[19].rocker.tip.x"], tip, atol=1e-11)
    assert found.statistics.more["dependent rows"] == 3 * 20


def test_a_mechanism_that_cannot_go_on_gives_what_it_did_until_then() -> None:
    m = bl.Model("too long", plane="xy")
    m.part("cell", four_bar(), 20, shift=(0, 0.5, 0), parameters={"a": np.linspace(0.1, 0.3, 20)})
    with pytest.raises(SimulationError, match=r"after t = .*no position.*cell\[19\]") as caught:
        bl.kinematics(m, 2.0, step=0.02, engine="looped")
    partial = caught.value.results
    assert isinstance(partial, bl.Results)
    assert partial.interrupted
    assert 0.1 < partial.t[-1] < 2.0
    angle, _ = closed_form(0.3, partial.t)
    np.testing.assert_allclose(partial["cell[19].rocker.angle"], angle, atol=1e-9)


def test_freedoms_that_nothing_drives_are_named() -> None:
    m = bl.Model("free", plane="xy")
    m.part("cell", four_bar(driven=False), 2, shift=(0, 0.5, 0))
    with pytest.raises(ModelError, match=r"2 degrees of freedom are not driven.*cell\["):
        bl.kinematics(m, 1.0, engine="looped")


def test_what_cannot_be_assembled_is_named() -> None:
    m = bl.Model("open", plane="xy")
    m.part("cell", four_bar(), 2, parameters={"b": [0.3, 0.005]})
    with pytest.raises(AssemblyError, match=r"cannot be assembled at t = 0 s.*cell\[1\]"):
        bl.kinematics(m, 1.0, engine="looped")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "fast"}, "engine 'fast' is not known"),
        ({"engine": "looped", "through_dead_points": True}, "does not know through_dead_points"),
        ({"engine": "looped", "drives": {"E.angle": "t"}}, "'E.angle' is not a coordinate"),
        ({"engine": "looped", "q": {"crank.rq": 1.0}}, "no coordinate 'crank.rq'"),
        ({"engine": "looped", "parameters": {"z": 1.0}}, "no parameter z"),
    ],
)
def test_what_the_looped_engine_cannot_do_is_said(options: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        bl.kinematics(four_bar(), 1.0, **options)


def test_a_start_of_joints_chooses_the_branch() -> None:
    m = four_bar()
    q = {"B.angle": -1.2, "C.angle": -0.97}
    crossed = bl.kinematics(m, 0.1, engine="looped", q=q)["rocker.angle"]
    assert np.sin(crossed).max() < 0
    assert np.sin(bl.kinematics(m, 0.1, engine="looped")["rocker.angle"]).min() > 0


def test_what_large_models_cannot_have_is_said_before_they_are_unrolled() -> None:
    m = bl.Model("many", plane="xy")
    m.part("cell", four_bar(), 1000, shift=(0, 0.5, 0))
    assert bl.Simulator(m).engine == "looped"
    with pytest.raises(ModelError, match=r"3,000 bodies.*does not know formulation='penalty'"):
        bl.Simulator(m, "penalty")


def test_phases_of_drivers_may_differ_between_cells() -> None:
    phases = np.linspace(0.2, 0.6, 4)
    m = bl.Model("phases", plane="xy")
    m.part("cell", four_bar(), 4, shift=(0, 0.5, 0), parameters={"phase": phases})
    found = bl.kinematics(m, 0.2, step=0.02, engine="looped")
    for k, phase in enumerate(phases):
        angle, rate = closed_form(0.1, found.t, phase)
        np.testing.assert_allclose(found[f"cell[{k}].rocker.angle"], angle, atol=1e-12)
        np.testing.assert_allclose(found[f"cell[{k}].rocker.wz"], rate, atol=1e-11)


def test_a_flat_parallelogram_is_called_singular_and_not_contradictory() -> None:
    """Its drive holds whatever the coupler does there: nothing contradicts anything."""
    m = bl.Model("flat", plane="xy")
    bars = [m.body(name, mass=1.0, com=(0.5, 0, 0), inertia=0.1) for name in "abc"]
    a, b, c = bars
    m.joint("revolute", "A", m.ground, a, start=0.5)
    m.joint("revolute", "B", a.at(1, 0, 0), b, start=-0.5)
    m.joint("revolute", "C", b.at(2, 0, 0), c.at(1, 0, 0))
    m.joint("revolute", "D", m.ground.at(2, 0, 0), c, start=0.5)
    m.driver("rotary", "motor", coordinate="A", law="0.5 - 2*t")
    with pytest.raises(SimulationError, match=r"singular position.*engine='unrolled'") as caught:
        bl.kinematics(m, 1.0, step=0.01, engine="looped")
    assert caught.value.results.t[-1] == pytest.approx(0.24)
    through = bl.kinematics(m, 1.0, step=0.01, engine="unrolled")
    angle = np.unwrap(np.arctan2(*through.frame("c").orientation[:, :2, 0].T[::-1]))
    np.testing.assert_allclose(angle, 0.5 - 2 * through.t, atol=1e-9)
