"""Degrees of freedom by count and by rank, with the constraints that are too many."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.driving import driven
from biela.analysis.mobility import JointCount, mobility
from biela.equations import formulate
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.mechanisms.four_bars import four_bars
from examples.mechanisms.slider_crank import slider_crank
from tests.analysis.chain_of_bodies import chain, folded
from tests.analysis.euler_parameter_arm import arm

LOOP = [("J4", 3, (1.0, 0.0, 0.0), 0, (1.3, 0.4, 0.0))]


def test_a_planar_loop_of_spatial_joints_has_three_constraints_too_many() -> None:
    # 3 bodies, 4 revolutes: 18 - 20 = -2 by count as for the slider-crank of four such joints
    found = mobility(chain(3, [], LOOP), folded([0.9, -0.2, -1.5]))
    assert (found.by_count, found.by_rank, found.rank) == (-2, 1, 17)
    assert set(found.ranks) == {17}
    # those of the last joint that hold the bars in their plane
    assert found.redundant == ("J4.z", "J4.xz", "J4.yz")
    assert found.joints[-1] == JointCount("J4", 5, 2) and found.joints[0] == JointCount("J1", 5, 5)
    assert not found.inconsistent and not found.singular and found.assembled


def test_drives_are_looked_at_last_and_leave_no_freedom() -> None:
    model = driven(slider_crank(), {"theta": "2*t"})
    found = mobility(model)
    assert (found.by_count, found.by_rank) == (0, 0)
    assert found.constraints[-1] == "drive theta" and not found.redundant


def test_seven_coordinates_a_link_count_as_the_source_counts_them() -> None:
    # 28 coordinates; ground 6, three revolutes 15, norms 4, and three drives
    found = mobility(arm())
    assert found.velocities == 28 and found.by_count == found.by_rank == 0
    rows = {joint.name: joint.rows for joint in found.joints}
    assert rows == {
        "ground": 6, "base": 5, "shoulder": 5, "elbow": 5, "norm": 4,
        "drive x": 1, "drive y": 1, "drive z": 1,
    }  # fmt: skip


def hinges(limits: bool) -> bl.Model:
    """Two bodies in a row that turn about parallel axes."""
    model = bl.Model("hinges")
    before = model.ground
    for k in range(2):
        body = model.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        given = {"limits": (-1.0, 1.0)} if limits else {}
        model.joint("revolute", f"h{k}", before.at(float(k), 0, 0), body, **given)
        before = body
    return model


def test_limits_define_coordinates_and_hold_nothing() -> None:
    found, plain = mobility(hinges(limits=True)), mobility(hinges(limits=False))
    assert found == plain
    assert found.joints == (JointCount("h0", 5, 5), JointCount("h1", 5, 5))
    assert len(found.constraints) == found.rank == 10 and found.by_count == found.by_rank == 2
    # though the equations have two coordinates and two rows more
    assert len(formulate(hinges(limits=True), "reference").multipliers) == 12


def test_a_singular_position_is_told_from_redundancy() -> None:
    loop = four_bars(1)
    at_rest = mobility(loop, {"theta0": 1.0, "theta1": 1.0, "phi1": 0.0})
    assert at_rest.by_count == at_rest.by_rank == 1 and not at_rest.singular
    flat = mobility(loop, {"theta0": 0.0, "theta1": 0.0, "phi1": 0.0})
    # all bars in line: the equation along them is empty, and there seem to be two freedoms
    assert flat.ranks[0] == 1 and flat.rank == 2 and flat.by_rank == 1
    assert flat.singular == ("loop1_1",) and not flat.redundant


def test_a_redundant_equation_is_told_from_a_contradiction() -> None:
    model = double_parallelogram()
    found = mobility(model)
    assert (found.by_count, found.by_rank) == (0, 1) and len(found.redundant) == 1
    law = {"theta0": "0.5", "theta2": "0.5"}
    agreed = mobility(driven(model, law))
    assert "drive theta2" in agreed.redundant and not agreed.inconsistent and agreed.assembled
    quarrel = mobility(driven(model, law | {"theta2": "0.8"}))
    assert quarrel.inconsistent == ("drive theta2",) and not quarrel.assembled
    assert "drive theta2: contradicts the others" in str(quarrel)


def test_a_typing_error_that_the_count_does_not_see_is_seen_by_the_rank() -> None:
    # Table 3.2 of the source: the rod end is held along y at the ground in place of the slider,
    # which its guide holds already
    def model(slip: bool) -> bl.SymbolicSystem:
        s = bl.SymbolicSystem("table")
        theta, phi, x, y = s.coordinates("theta phi x y")
        crank = s.base.rotated("crank", "z", theta)
        rod = s.base.rotated("rod", "z", phi)
        pin = s.origin.offset("pin", crank.vector(2.0, 0, 0))
        end = pin.offset("end", rod.vector(3.5, 0, 0))
        slider = s.origin.offset("slider", s.base.vector(x, y, 0))
        for name, at, base in (("crank", pin, crank), ("rod", end, rod), ("body", slider, s.base)):
            s.solid(name, at=at, base=base, mass=1.0)
        gap = s.position(slider, end)
        s.constrain(y, name="guide")
        s.constrain(gap.x, name="CD_i")
        s.constrain(y if slip else gap.y, name="CD_j")
        s.start(theta=math.pi / 4, phi=-0.4, x=4.6)
        return s

    right, wrong = mobility(model(False)), mobility(model(True))
    assert right.by_count == right.by_rank == 1
    assert wrong.by_count == 1 and wrong.by_rank == 2 and wrong.redundant == ("CD_j_1",)


def test_the_report_is_a_table() -> None:
    text = str(mobility(chain(3, [], LOOP), folded([0.9, -0.2, -1.5])))
    assert text.splitlines()[0] == "Degrees of freedom of chain3"
    assert [line.split() for line in text.splitlines()[1:8]] == [
        ["velocities", "18"],
        ["J1", "-5"],
        ["J2", "-5"],
        ["J3", "-5"],
        ["J4", "-5", "3", "dependent"],
        ["by", "count", "-2"],
        ["by", "rank", "1", "rank", "17", "of", "20", "constraints,", "6", "positions"],
    ]
    with pytest.raises(bl.errors.ModelError, match="no coordinate"):
        mobility(slider_crank(), {"angle": 1.0})


# --- bodies and joints ----------------------------------------------------------------------------


def described(drive: bool = False) -> bl.Model:
    """The slider-crank of Table 3.1 of the source: four spatial joints, planar motion."""
    m = bl.Model("slider_crank")
    crank = m.body("crank", mass=1.0, inertia=0.1)
    rod = m.body("rod", mass=1.0, inertia=0.1)
    slider = m.body("slider", mass=1.0, inertia=0.1, position=(5.5, 0, 0))
    m.joint("revolute", "A", m.ground, crank, axis="z")
    m.joint("revolute", "B", crank.at(2.0, 0, 0), rod, axis="z")
    m.joint("revolute", "C", rod.at(3.5, 0, 0), slider, axis="z")
    m.joint("prismatic", "slide", m.ground, slider, axis="x")
    if drive:
        m.driver("rotary", "motor", coordinate="A", law="pi/4 + 2*pi*t")
    return m


@pytest.mark.parametrize("coordinates", ["reference", "euler"])
def test_the_published_model_has_its_published_count_in_body_coordinates(coordinates: str) -> None:
    found = mobility(formulate(described(), coordinates))
    assert (found.by_count, found.by_rank) == (-2, 1)
    assert len(found.redundant) == 3 and not found.inconsistent
    # the last joint of the loop has the out-of-plane conditions that the others fulfil
    assert {name.split(".")[0] for name in found.redundant} == {"slide"}
    joints = {joint.name: (joint.rows, joint.independent) for joint in found.joints}
    assert joints["A"] == joints["B"] == joints["C"] == (5, 5) and joints["slide"] == (5, 2)


def test_rows_that_are_redundant_everywhere_are_no_singular_position() -> None:
    """Three of the slider-crank in space: its condition is that of the rows of full rank."""
    system = formulate(described(drive=True), "reference")
    found = bl.kinematics(system, 1.0, step=0.05)
    assert not found.events
    for k in (0, 7, 20):
        rows = np.asarray(system.evaluate("Phi_v", found.q[k], t=found.t[k]))
        sizes = np.linalg.svd(rows, compute_uv=False)
        rank = len(system.v)
        assert len(system.multipliers) == rank + 3 and sizes[rank - 1] > 0.05
        assert found["smallest singular value"][k] == pytest.approx(sizes[rank - 1], rel=1e-9)
        assert found["condition"][k] == pytest.approx(sizes[0] / sizes[rank - 1], rel=1e-9)


def test_a_driver_of_the_model_is_looked_at_last_too() -> None:
    found = mobility(formulate(described(drive=True), "reference"))
    assert (found.by_count, found.by_rank) == (-3, 0)
    assert found.joints[-1] == JointCount("motor", 1, 1) and len(set(found.ranks)) == 1
