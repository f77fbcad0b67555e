"""Freedoms that move nothing but themselves, and the branches that they do not make."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError

CRANK, ROD, ROCKER, ANGLE = 0.3, 1.1, 0.8, 0.3
PIVOT = np.array([1.0, 0.4, 0.2])


def rssr(driven: bool = False, split: str = "") -> bl.Model:
    """A crank about z and a rocker about x, with a rod between two balls.

    With ``split`` the rod has two halves and a joint of that kind along its line between them.
    """
    m = bl.Model("rssr", gravity=(0, 0, -9.81))
    inertia = (0.1, 0.1, 0.1)
    crank, rod, rocker = (m.body(n, mass=1.0, inertia=inertia) for n in ("crank", "rod", "rocker"))
    m.joint("revolute", "A", m.ground.at(axis="z"), crank.at(axis="z"), start=ANGLE)
    m.joint("revolute", "D", m.ground.at(*PIVOT, axis="x"), rocker.at(axis="x"), start=0.5)
    m.joint("spherical", "B", crank.at(CRANK, 0, 0), rod.at())
    end = rod
    if split:
        end = m.body("half", mass=1.0, inertia=inertia)
        m.joint(split, "S", rod.at(0.5, 0, 0, axis="x"), end.at(0.5, 0, 0, axis="x"))
    m.joint("spherical", "C", rocker.at(0, ROCKER, 0), end.at(ROD, 0, 0))
    if driven:
        m.driver("rotary", "motor", coordinate="A.angle", law=f"{ANGLE} + t")
    return m


def rocker_angles() -> list[float]:
    """|C - B| = rod, with C = pivot + rocker (0, cos φ, sin φ): a cos φ + b sin φ = c."""
    gap = PIVOT - CRANK * np.array([np.cos(ANGLE), np.sin(ANGLE), 0.0])
    a, b = 2 * ROCKER * gap[1], 2 * ROCKER * gap[2]
    c = ROD**2 - gap @ gap - ROCKER**2
    middle, half = np.arctan2(b, a), np.arccos(c / np.hypot(a, b))
    return sorted(float((x + np.pi) % (2 * np.pi) - np.pi) for x in (middle - half, middle + half))


def found_angles(system: bl.System, found: list[bl.Assembly]) -> list[float]:
    """The angle of the rocker from the pose of its body."""
    k = system.frames.index("rocker")
    rows = [np.asarray(system.evaluate("poses", a.q))[k] for a in found]
    return sorted(float(np.arctan2(row[3 + 7], row[3 + 4])) for row in rows)


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
def test_an_rssr_has_two_branches_whatever_the_spin_of_its_rod(coordinates: str) -> None:
    expected = rocker_angles()
    for driven, hold in ((True, None), (False, None), (False, {"A.angle": ANGLE})):
        system = bl.formulate(rssr(driven), coordinates)
        found = bl.branches(system, hold=hold, restarts=20)
        assert found_angles(system, found) == pytest.approx(expected, abs=1e-9)
        for one in found:
            assert one.idle == ("rod can turn between B and C without moving anything else",)
            assert one.mobility == (1 if driven else 2)
            assert np.abs(system.evaluate("Phi", one.q)).max() < 1e-10


def test_the_spin_of_a_rod_is_held_and_does_not_depend_on_random_starts() -> None:
    system = bl.formulate(rssr(), "joint")
    first, second = (
        np.array([one.q for one in bl.branches(system, restarts=20, seed=seed)]) for seed in (1, 2)
    )
    assert len(first) == 2
    np.testing.assert_allclose(first, second, atol=1e-8)


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("prismatic", ["half with rod can turn between C and B without moving anything else"]),
        (
            "cylindrical",
            [
                "rod can turn between B and S without moving anything else",
                "half can turn between S and C without moving anything else",
            ],
        ),
    ],
)
def test_halves_of_a_strut_turn_together_or_each_by_itself(split: str, expected: list[str]) -> None:
    found = bl.assemble(bl.formulate(rssr(split=split), "reference"))
    assert sorted(found.idle) == sorted(expected)


def test_what_a_mechanism_is_for_is_not_idle() -> None:
    arm = bl.Model("arm", gravity=(0, 0, -9.81))
    upper, lower = (arm.body(n, mass=1.0, inertia=(0.1, 0.1, 0.1)) for n in ("upper", "lower"))
    arm.joint("revolute", "shoulder", arm.ground.at(axis="y"), upper.at(axis="y"))
    arm.joint("spherical", "elbow", upper.at(1, 0, 0), lower.at())
    assert bl.assemble(arm).idle == ()
    # two bars in line between pins that do not move may leave the line for an instant only
    line = bl.Model("line", plane="xy")
    a, b = (line.body(n, mass=1.0, inertia=0.1) for n in "ab")
    line.joint("revolute", "A", line.ground.at(), a.at(), start=0.0)
    line.joint("revolute", "B", a.at(1, 0, 0), b.at(), start=0.0)
    line.joint("revolute", "C", b.at(1, 0, 0), line.ground.at(2, 0, 0))
    assert bl.assemble(line).idle == ()


def test_check_and_kinematics_name_an_idle_freedom_and_ask_for_no_driver_of_it() -> None:
    text = str(bl.check(rssr(driven=True)))
    assert "an idle freedom: rod can turn between B and C" in text
    assert "more driver" not in text
    with pytest.raises(ModelError, match=r"rod can turn between B and C .*formulation='auto'"):
        bl.kinematics(bl.formulate(rssr(driven=True), "joint"), 0.1)
    held = bl.kinematics(rssr(driven=True), 0.1, formulation="auto")
    assert held.t[-1] == pytest.approx(0.1)
