"""A few random mechanisms through each engine; ``make soak`` tries thousands.

Expressions are walked through in Python here: they are compiled in other tests.
"""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from tests.oracles.free_bodies import Motion, Oracle
from tests.soak import doors, pinocchio_trees
from tests.soak.comparison import compared
from tests.soak.mechanisms import KINDS, drawn

#: A kind of mechanism, a seed and a door: small ones, each kind and each door several times.
QUICK = [
    ("tree", 233, "instant, joint"),
    ("tree", 239, "eliminated, natural"),
    ("tree", 258, "robot"),
    ("tree", 202, "robot, looped"),
    ("tree", 109, "eliminated, joint"),
    ("tree", 193, "eliminated, joint"),
    ("tree", 130, "instant, reference"),
    ("tree", 161, "eliminated, joint"),
    ("moving base", 230, "eliminated, joint"),
    ("moving base", 242, "instant, euler"),
    ("loops", 214, "eliminated, reference"),
    ("loops", 239, "instant, natural"),
    ("planar", 205, "eliminated, natural"),
    ("planar", 204, "instant, joint"),
    ("planar", 214, "eliminated, joint"),
    ("planar in space", 253, "eliminated, joint"),
    ("RSSR", 212, "instant, euler"),
    ("RSCS", 212, "instant, natural"),
    ("RSUR", 259, "instant, reference"),
    ("RCCC", 201, "eliminated, joint"),
    ("RSCR", 214, "eliminated, joint"),
    ("PUSR", 259, "robot"),
    ("HSSR", 201, "eliminated, natural"),
    ("Bennett", 202, "robot"),
    ("Bennett", 213, "eliminated, natural"),
    ("Goldberg", 209, "eliminated, joint"),
    ("Bricard, line-symmetric", 207, "eliminated, joint"),
    ("Bricard, plane-symmetric", 203, "robot"),
    ("Sarrus", 205, "eliminated, joint"),
    ("parallelogram", 209, "eliminated, joint"),
    ("tree", 233, "looped"),
    ("planar", 204, "groups, reference"),
]

#: The kinds of the library, as ``biela joints`` lists them.
KNOWN = {
    "joint": (
        *("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "helical"),
        *("fixed", "free", "distance", "point_on_line", "point_on_curve", "gear", "rack_pinion"),
    ),
    "driver": (
        *("rotary", "translational", "distance", "position", "path", "orientation", "cosine"),
    ),
    "force": (
        *("spring_damper", "torsional", "axial", "bushing", "actuator"),
        *("wrench", "stop", "friction", "drag"),
    ),
}


def assert_agrees(kind: str, seed: int, door: str) -> None:
    case = drawn(seed, kind)
    with doors.walked():
        report = compared(case, [door], 2)
    assert not report.disagreements, "\n".join(f.text for f in report.disagreements)
    # it went through the door, and was not refused
    assert sum(f.outcome == "agrees" for f in report.findings) == 2, report.findings


@pytest.mark.parametrize(("kind", "seed", "door"), QUICK)
def test_accelerations_are_those_of_free_bodies(kind: str, seed: int, door: str) -> None:
    assert_agrees(kind, seed, door)


@pytest.mark.parametrize("category", ["joint", "driver", "force"])
def test_every_kind_of_joint_driver_and_force_is_among_them(category: str) -> None:
    models = [drawn(seed, kind).model for kind, seed, _ in QUICK]
    found = {e.kind for m in models for e in getattr(m, f"{category}s").values()}
    assert found >= set(KNOWN[category])


@pytest.mark.parametrize("seed", range(61, 64))
def test_trees_accelerate_as_in_pinocchio(seed: int) -> None:
    pytest.importorskip("pinocchio")
    with doors.walked():
        cases = [drawn(seed, kind) for kind in ("tree", "moving base")]
        found = [finding for case in cases for finding in pinocchio_trees.compared(case, 2)]
    assert all(f.outcome == "agrees" for f in found), found


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_makes_the_same_mechanism_again(kind: str) -> None:
    one, other = drawn(7, kind), drawn(7, kind)
    assert (one.t, one.parameters) == (other.t, other.parameters)
    assert one.model.rotors == other.model.rotors
    for table in ("bodies", "joints", "drivers", "forces"):
        assert str(getattr(one.model, table)) == str(getattr(other.model, table))


# -------------------------------------------------------------------------------- the oracle itself


def still(model: bl.Model) -> doors.Sample:
    """The model at rest where it was described."""
    made = doors.Posed(_case(model), "joint")
    n = len(made.system.v)
    return made.sample(made.start, np.zeros(n), np.zeros(n))


def _case(model: bl.Model) -> doors.Case:
    return doors.Case(0, "given", model)


def test_the_oracle_knows_a_pendulum() -> None:
    m = bl.Model("pendulum")
    rod = m.body("rod", mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.2, 0.2))
    m.joint("revolute", "pivot", m.ground, rod, axis="y", start=0.3)
    sample = still(m)
    w = 1.7
    at = sample.state["rod"]
    answer = Oracle(m).solved({"rod": Motion(at.p, at.R, np.zeros(3), np.array([0, w, 0]))})
    # the moment of gravity about the pivot: the rod points down by the angle of a turn about y
    expected = 2.0 * 9.81 * 0.5 * np.cos(0.3) / (0.2 + 2.0 * 0.25)
    np.testing.assert_allclose(answer.angular["rod"], [0, expected, 0], atol=1e-12)
    force, sure = answer.reactions["pivot"]
    r = at.R @ [0.5, 0, 0]
    a = np.cross([0, expected, 0], r) - w**2 * r
    np.testing.assert_allclose(force[:3], 2.0 * (a - np.array(m.gravity)), atol=1e-12)
    assert sure.all()


def test_the_oracle_finds_the_redundancy_of_a_bennett_linkage() -> None:
    case = drawn(7, "Bennett")
    case.model.forces.clear()
    case.model.drivers.clear()
    bodies = list(case.model.bodies)[:3]
    case.model.joints = {f"j{k}": case.model.joints[f"j{k}"] for k in range(4)}
    case.model.bodies = {name: case.model.bodies[name] for name in bodies}
    with doors.walked():
        sample = next(doors.instants("reference")(case, 1))
    answer = Oracle(case.model, case.parameters).solved(sample.state)
    assert (answer.rows, answer.rank) == (20, 17)
    assert answer.contradiction < 1e-10
    assert not all(sure.all() for _, sure in answer.reactions.values())


def test_the_oracle_notices_a_law_that_is_a_little_off() -> None:
    """A stiffness that differs by a millionth is a disagreement."""
    m = bl.Model("spring")
    ball = m.body("ball", mass=1.0, inertia=0.1)
    m.joint("prismatic", "slide", m.ground, ball, axis="x", start=0.4)
    m.force("axial", "spring", coordinate="slide", stiffness=50.0)
    case = _case(m)
    assert not compared(case, ["instant, joint"], 2).disagreements
    off = bl.Model("spring")
    ball = off.body("ball", mass=1.0, inertia=0.1)
    off.joint("prismatic", "slide", off.ground, ball, axis="x", start=0.4)
    off.force("axial", "spring", coordinate="slide", stiffness=50.0 * (1 + 1e-6))
    sample = doors.samples("instant, joint", case, 1)[0]
    exact = Oracle(off).solved(sample.state).acceleration["ball"]
    assert np.abs(exact - sample.acceleration["ball"]).max() > 1e-6
