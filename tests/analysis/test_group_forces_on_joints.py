"""Forces along joint coordinates in groups, against the equations of the whole mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.forces import GroupForces
from biela.analysis.groups.solver import GroupSolver
from biela.atoms import Atom
from biela.errors import ModelError
from biela.model.joints import Joint
from biela.model.joints.joint import Coordinate
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.primitives import Primitive, Row
from biela.model.joints.readings import Angle, Offset
from biela.model.pair import Pair
from biela.model.quantities.values import Number


def four_bar(driven: bool = False) -> bl.Model:
    m = bl.Model("four-bar", plane="xy", gravity=(0, -9.81, 0))
    for name, length in (("crank", 0.3), ("coupler", 1.0), ("rocker", 0.8)):
        body = m.body(name, mass=1.0, inertia=0.1, com=(length / 2, 0, 0))
        body.marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank", start="50 deg")
    m.joint("revolute", "B", "crank.end", "coupler", start="-10 deg")
    m.joint("revolute", "D", m.ground.at(1.0, 0, 0), "rocker", start="110 deg")
    m.joint("revolute", "C", "coupler.end", "rocker.end")
    if driven:
        m.driver("rotary", "motor", coordinate="A", law="50 deg + 3*t")
    return m


def table(spatial: bool = False) -> bl.Model:
    """A body on another, which a hinge holds; the joint between them has no equations."""
    m = bl.Model("table", plane=None if spatial else "xy", gravity=(0, -9.81, 0))
    inertia: Any = (0.2, 0.1, 0.15) if spatial else 0.2
    a = m.body("a", mass=1.0, inertia=inertia, com=(0.1, 0.05, 0))
    b = m.body("b", mass=2.0, inertia=inertia, com=(0.1, 0, 0))
    m.joint("revolute", "A", m.ground, a)
    kind = "free" if spatial else "planar"
    m.joint(kind, "P", a.at(0.5, 0, 0), b.at(0.1, 0.2, 0), start={"x": 0.2, "y": 0.1})
    return m


def assert_the_same_motion(
    m: bl.Model, names: Sequence[str], coordinates: Any, within: float = 1e-8
) -> None:
    found = bl.group_simulation(m, 0.3, step=1e-3, output=0.05, coordinates=coordinates)
    whole = bl.simulate(m, 0.3, tolerance=1e-11, output=0.05)
    # an event of a stop is an instant of its own
    here, there = (np.flatnonzero(np.abs(r.t / 0.05 % 1 - 0.5) > 0.4999) for r in (found, whole))
    for name in names:
        assert found[name][here] == pytest.approx(whole[name][there], abs=within), name


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
@pytest.mark.parametrize("joint", ["A", "B", "C", "D"])
def test_a_spring_acts_on_any_hinge_of_a_group(joint: str, coordinates: str) -> None:
    m = four_bar()
    m.force("torsional", "s", coordinate=joint, stiffness=30.0, damping=0.5, rest=0.1)
    assert_the_same_motion(m, ["A.angle", "D.angle"], coordinates)


@pytest.mark.parametrize(
    "force",
    [
        {"kind": "axial", "coordinate": "P.x", "stiffness": 100.0, "rest": 0.1, "damping": 2.0},
        {"kind": "axial", "coordinate": "P.y", "stiffness": 100.0},
        {"kind": "torsional", "coordinate": "P.angle", "damping": 0.5},
        {"kind": "actuator", "coordinate": "P.angle", "value": 2.0},
        {"kind": "actuator", "coordinate": "P.y", "law": "20*sin(9*t)"},
        {"kind": "stop", "coordinate": "P.x", "upper": 0.15, "stiffness": 1000.0},
    ],
    ids=lambda force: f"{force['kind']} {force['coordinate']}",
)
def test_a_force_acts_along_a_joint_without_equations(force: dict[str, Any]) -> None:
    m, plain = table(), table()
    m.force(name="f", **force)
    # steps across the beginning of a stop lose digits
    within = 1e-5 if force["kind"] == "stop" else 1e-8
    assert_the_same_motion(m, ["A.angle", "b.x", "b.y", "P.angle"], "natural", within)
    # it matters
    moved, still = (bl.simulate(x, 0.3, tolerance=1e-9, output=0.3) for x in (m, plain))
    assert np.abs(moved.q[-1] - still.q[-1]).max() > 1e-2


@pytest.mark.parametrize("coordinates", ["natural", "relative", "reference"])
def test_a_force_acts_along_a_free_joint_in_space(coordinates: str) -> None:
    m = table(spatial=True)
    m.force("axial", "f", coordinate="P.x", stiffness=100.0, damping=2.0, rest=0.1)
    m.force("actuator", "u", coordinate="P.z", value=20.0)
    assert_the_same_motion(m, ["a.x", "b.x", "b.y", "b.z"], coordinates)


def test_a_spring_on_an_angle_that_nothing_counts_is_refused() -> None:
    m = table()
    m.force("torsional", "f", coordinate="P.angle", stiffness=2.0)
    with pytest.raises(ModelError, match=r"force f depends on P\.angle.*does not count the turns"):
        bl.group_simulation(m, 0.1)


def test_the_value_of_an_actuator_is_a_number() -> None:
    """Inputs are numbers that users give; a parameter that changes later would not reach them."""
    m = four_bar()
    m.parameter("k", 4.0)
    with pytest.raises(ModelError, match=r"actuator u: .*'2\*k' depends on the parameter k.*gear"):
        m.force("actuator", "u", coordinate="A", value="2*k")
    m.force("actuator", "u", coordinate="A", value=1.0, gear="2*k")
    plain = four_bar()
    plain.force("actuator", "u", coordinate="A", value=12.0)
    found = bl.group_simulation(m, 0.3, step=1e-3, output=0.05, parameters={"k": 6.0})
    whole = bl.simulate(plain, 0.3, tolerance=1e-11, output=0.05)
    assert found["A.angle"] == pytest.approx(whole["A.angle"], abs=1e-8)


# ------------------------------------------------------------------------------- driven motion


@pytest.mark.parametrize("joint", ["A", "B", "C", "D"])
def test_multipliers_of_groups_balance_forces_on_the_coordinate_that_a_motor_turns(
    joint: str,
) -> None:
    m = four_bar(driven=True)
    m.force("torsional", "s", coordinate=joint, stiffness=30.0, damping=0.5, rest=0.1)
    system = bl.formulate(m, "reference")
    whole = bl.inverse_dynamics(system, bl.kinematics(system, 0.2, step=0.05))
    found = bl.group_inverse_dynamics(m, 0.2, step=0.05)
    assert found.groups["lam"].names == whole.groups["lam"].names
    np.testing.assert_allclose(found.lam, whole.lam, atol=1e-10)
    for k in range(len(found.t)):
        q, v, t = found.q[k], found.v[k], float(found.t[k])
        M, Q, J = (np.asarray(system.evaluate(n, q, v, t=t)) for n in ("M", "Q", "Phi_v"))
        assert np.abs(M @ found.a[k] + J.T @ found.lam[k] - Q.ravel()).max() < 1e-10


@dataclass(frozen=True, kw_only=True)
class Track(Joint):
    """A point on the parabola y = x²/5: no condition, but a law between coordinates."""

    kind: ClassVar[str] = "track"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("x", "m", Offset("x")),
        Coordinate("y", "m", Offset("y")),
        Coordinate("angle", "rad", Angle()),
    )
    needs: ClassVar[tuple[str, ...]] = ("x",)
    laws: ClassVar[tuple[str, ...]] = ("track",)

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        del number
        return [Translate("x", q[0]), Translate("y", q[1]), Rotate("z", q[2])]

    def conditions(self) -> Sequence[Primitive]:
        return []

    def law_rows(self, q: Mapping[str, Atom], pair: Pair) -> Sequence[Row]:
        return [Offset("y").held(pair, 0.2 * q["x"] * q["x"])]


def test_a_joint_of_laws_alone_carries_its_force() -> None:
    m = bl.Model("rod on a track", plane="xy", gravity=(0, -9.81, 0))
    for name, length in (("crank", 0.3), ("rod", 1.0)):
        body = m.body(name, mass=1.0, inertia=0.1, com=(length / 2, 0, 0))
        body.marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank", start="50 deg")
    m.joint("revolute", "B", "crank.end", "rod", start="-40 deg")
    m.add(Track(name="W", i=m.ground.at(), j=m.marker("rod.end")))
    m.driver("rotary", "motor", coordinate="A", law="50 deg + 3*t")
    motion = bl.kinematics(bl.formulate(m, "reference"), 0.2, step=0.05)
    whole = bl.joint_reactions(m, motion)
    forces = GroupForces(GroupSolver(m))
    found = forces.joint_reactions(forces.solver.run(motion.t))
    assert found.joints == whole.joints
    np.testing.assert_allclose(found.wrenches, whole.wrenches, atol=1e-9)
    assert np.abs(found["W"][0]).max() > 1.0
