"""Structural groups of mechanisms from the literature: sets, order, kinds, what is too many.

The nine cases are those that group equations are known by (four-bar, its chain, spatial sliders,
a truck axle, a Stewart platform both ways, a planar triad, and two that are not sound).
"""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import AssemblyError, ModelError
from tests.analysis.group_mechanisms import Mechanism, model_of


def sets(found: object) -> list[tuple[str, ...]]:
    return [group.bodies for group in found.groups]


def chain(dyads: int, plane: str | None = "xy") -> bl.Model:
    """Bodies 2, 3 … of the four-bar chain: all bars of 6 m but the crank of 2 m."""
    m = bl.Model("four-bar chain", plane=plane)
    crank = m.body("2", mass=1.0, position=(0, 0, 0))
    m.joint("revolute", "A", m.ground, crank, at=(0, 0, 0), axis="z")
    m.driver("rotary", "motor", coordinate="A", law="0.35*t")
    before, pin = crank, np.array([0.0, 2.0, 0.0])
    gap = np.array([6.0, 0.0, 0.0]) - pin
    # C1 is 6 m from the pin and from D1
    middle = pin + gap / 2
    up = np.array([-gap[1], gap[0], 0.0]) / np.linalg.norm(gap)
    top = middle + up * np.sqrt(36 - gap @ gap / 4)
    for k in range(dyads):
        coupler = m.body(f"{2 * k + 3}", mass=1.0, position=tuple(pin))
        rocker = m.body(f"{2 * k + 4}", mass=1.0, position=(6.0 * (k + 1), 0, 0))
        m.joint("revolute", f"B{k}", before, coupler, at=tuple(pin), axis="z")
        m.joint("revolute", f"C{k}", coupler, rocker, at=tuple(top), axis="z")
        m.joint("revolute", f"D{k}", m.ground, rocker, at=(6.0 * (k + 1), 0, 0), axis="z")
        before, pin, top = rocker, top, top + np.array([6.0, 0, 0])
    return m


def sliders(count: int) -> bl.Model:
    """A crank on a slanted axis, and rods with two balls to slides in a fan."""
    m = bl.Model("slider", gravity=(0, 0, 0))
    crank = m.body("2", mass=1.0, position=(0, 0, 0))
    axis = (np.cos(np.pi / 6), -np.sin(np.pi / 6), 0.0)
    m.joint("revolute", "shaft", m.ground, crank, at=(0, 0, 0), axis=axis)
    m.driver("rotary", "motor", coordinate="shaft", law="24*t")
    for k in range(count):
        turn = 2 * np.pi * k / count
        reach = np.sqrt(32.0)
        end = (reach * np.cos(turn), reach * np.sin(turn), 0.0)
        rod = m.body(f"{2 * k + 3}", mass=1.0, position=(0, 0, 2))
        slider = m.body(f"{2 * k + 4}", mass=1.0, position=end)
        m.joint("spherical", f"B{k}", crank, rod, at=(0, 0, 2))
        m.joint("spherical", f"C{k}", rod, slider, at=end)
        rail = (np.cos(turn), np.sin(turn), 0.0)
        m.joint("prismatic", f"P{k}", m.ground, slider, at=end, axis=rail)
    return m


def truck_axle() -> bl.Model:
    """Bodies 2 to 13 of a truck axle: the topology of the source, dimensions of our own."""
    m = bl.Model("truck axle")
    places = {
        "2": (0.0, 0.0, 0.5),
        "3": (0.1, 0.3, 0.7),
        "4": (0.6, 0.5, 0.5),
        "5": (0.6, -0.5, 0.5),
        "6": (-0.2, 0.6, 0.6),
        "7": (-0.2, -0.6, 0.6),
        "8": (-0.2, 0.7, 0.9),
        "9": (-0.2, -0.7, 0.9),
        "10": (0.1, 0.7, 0.6),
        "11": (0.1, 0.7, 1.1),
        "12": (0.1, -0.7, 0.6),
        "13": (0.1, -0.7, 1.1),
    }
    b = {name: m.body(name, mass=1.0, position=at) for name, at in places.items()}
    b["1"] = m.ground

    def join(kind: str, one: str, other: str, at: tuple[float, ...], axis: object = "z") -> None:
        m.joint(kind, f"{kind}_{one}_{other}", b[one], b[other], at=at, axis=axis)

    join("universal", "2", "4", (0.1, 0.5, 0.5), "x")
    join("universal", "2", "5", (0.1, -0.5, 0.5), "x")
    join("spherical", "1", "4", (1.2, 0.4, 0.6))
    join("spherical", "1", "5", (1.2, -0.4, 0.6))
    join("spherical", "2", "3", (0.0, -0.3, 0.75))
    join("revolute", "1", "3", (0.1, 0.5, 0.7), "x")
    for bar, link, side in (("6", "8", 1), ("7", "9", -1)):
        join("revolute", "2", bar, (-0.2, 0.5 * side, 0.6), "y")
        join("universal", bar, link, (-0.5, 0.6 * side, 0.65), (0.1, 0.1 * side, 1))
        join("spherical", "1", link, (-0.4, 0.7 * side, 1.1))
    for cylinder, rod, side in (("10", "11", 1), ("12", "13", -1)):
        join("universal", "2", cylinder, (0.1, 0.7 * side, 0.5), (0.05, 0.05 * side, 1))
        join("prismatic", cylinder, rod, (0.1, 0.7 * side, 0.6), (0.05, 0.05 * side, 1))
        join("spherical", "1", rod, (0.15, 0.75 * side, 1.2))
    for side, name in ((1, "left"), (-1, "right")):
        wheel = b["2"].marker(f"{name}_wheel", (0.0, 0.9 * side, 0.0))
        m.driver("position", name, marker=wheel, axis="z", law="0.5 + 0.05*sin(t)")
    return m


def stewart(lengths: bool) -> bl.Model:
    """The gallery's platform, its pose driven or its six lengths."""
    m = bl.load_model("examples/mechanisms/stewart.toml")
    if lengths:
        m.drivers.clear()
        for k in range(6):
            law = "1.3"
            m.driver("translational", f"leg{k}", coordinate=f"leg[{k}].slide.displacement", law=law)
    return m


# ---------------------------------------------------------------------------- the nine cases


@pytest.mark.parametrize("plane", ["xy", None])
def test_a_four_bar_is_a_crank_and_a_dyad(plane: str | None) -> None:
    found = bl.structural_groups(chain(1, plane))
    assert sets(found) == [("2",), ("3", "4")]
    assert [group.name for group in found.groups] == ["1R", "RRR"]
    assert found.groups[1].known == ("2",) and found.groups[1].after == (0,)
    assert found.redundant_count == (0 if plane else 3)
    assert found.groups[1].space == "plane"
    assert found.determined and found.one_group is None


@pytest.mark.parametrize("plane", ["xy", None])
def test_a_chain_of_five_dyads_is_solved_one_after_the_other(plane: str | None) -> None:
    found = bl.structural_groups(chain(5, plane))
    assert sets(found) == [("2",), *((f"{k}", f"{k + 1}") for k in range(3, 13, 2))]
    assert found.levels == tuple((k,) for k in range(6))
    assert len(found.kinds) == 2  # every dyad is on a moving body and on the ground
    assert found.redundant_count == (0 if plane else 15)


def test_three_spatial_sliders_are_independent_dyads_with_held_rods() -> None:
    found = bl.structural_groups(sliders(3))
    assert sets(found) == [("2",), ("3", "4"), ("5", "6"), ("7", "8")]
    assert [group.name for group in found.groups] == ["1R", "2S1P", "2S1P", "2S1P"]
    assert found.levels == ((0,), (1, 2, 3))
    assert [[spin.body for spin in group.locked] for group in found.groups] == [
        [],
        ["3"],
        ["5"],
        ["7"],
    ]
    (spin,) = found.groups[2].locked
    assert spin.joints == ("B1", "C1")
    # the rod's frame stands at its first ball without a turn: the axis leads to the second one
    end = np.array(spin.points[1])
    assert spin.points[0] == pytest.approx((0, 0, 0), abs=1e-12)
    assert np.linalg.norm(end) == pytest.approx(6.0)
    assert spin.axis == pytest.approx(end / 6.0)


def test_a_truck_axle_is_the_five_groups_of_its_authors() -> None:
    found = bl.structural_groups(truck_axle())
    assert sorted(sets(found)) == sorted(
        [("2", "3", "4", "5"), ("6", "8"), ("7", "9"), ("10", "11"), ("12", "13")]
    )
    assert sets(found)[0] == ("2", "3", "4", "5")
    assert found.levels == ((0,), (1, 2, 3, 4))
    assert found.groups[0].drivers == ("left", "right")
    assert len(found.kinds) == 3
    assert found.redundant_count == 0


def test_a_platform_that_is_led_is_one_body_and_six_actuators() -> None:
    found = bl.structural_groups(stewart(lengths=False))
    assert found.groups[0].bodies == ("platform",)
    assert [group.name for group in found.groups[1:]] == ["SPU"] * 6
    assert len(found.kinds) == 2
    table = found.tables[found.groups[1].kind]
    assert table.bodies.shape == (6, 2) and table.groups.tolist() == [1, 2, 3, 4, 5, 6]
    for k, group in enumerate(found.groups[1:]):
        # the canonical order is the same in all of them
        assert [name.partition(".")[2] for name in group.bodies_in_order] == [
            name.partition(".")[2] for name in found.groups[1].bodies_in_order
        ]
        assert group.bodies == (f"leg[{k}].cylinder", f"leg[{k}].piston")


def test_a_platform_on_six_driven_lengths_does_not_split() -> None:
    found = bl.structural_groups(stewart(lengths=True))
    assert len(found.groups) == 1 and len(found.groups[0].bodies) == 13
    assert found.one_group is not None
    assert "does not split: one group of 13 bodies" in found.report()


def test_a_planar_triad_is_one_group_of_four() -> None:
    triad = Mechanism("xy")
    for k, at in enumerate([(0, 0, 0), (3, 0, 0), (1, 4, 0)]):
        b = triad.body(f"c{k}", np.array(at, dtype=float))
        triad.drive(triad.join("R", "ground", b, np.array(at, dtype=float)))
    t = triad.body("t", np.array([1.0, 1.5, 0.0]))
    pins = [(0.4, 0.3, 0), (2.5, 0.6, 0), (1.4, 3.2, 0)]
    corners = [(0.8, 1.1, 0), (1.9, 1.2, 0), (1.1, 2.3, 0)]
    for k in range(3):
        link = triad.body(f"l{k}", np.array(pins[k]))
        triad.join("R", f"c{k}", link, np.array(pins[k]))
        triad.join("R", link, t, np.array(corners[k]))
    found = bl.structural_groups(model_of(triad)[0])
    assert sorted(sets(found)[3]) == ["l0", "l1", "l2", "t"]
    assert found.groups[3].name == "4 bodies, 6 joints (6R)"
    assert found.levels == ((0, 1, 2), (3,))


def test_a_slider_whose_rod_may_spin_wants_a_driver_for_it() -> None:
    found = bl.structural_groups(sliders(1), passive="report")
    assert sets(found) == [("2",)]
    assert found.undetermined == ("3", "4") and not found.determined
    assert [freedom.bodies for freedom in found.freedoms] == [("3",)]
    assert "not driven: 3 can move" in found.report()


def test_a_link_with_one_support_too_many_is_reported_with_one_redundant_row() -> None:
    """A crank drives a ternary link that two more links hold to the frame: they would jam."""
    jammed = Mechanism("xy")
    crank = jammed.body("crank", np.zeros(3))
    jammed.drive(jammed.join("R", "ground", crank, np.zeros(3)))
    t = jammed.body("t", np.array([0.5, 1.0, 0.0]))
    jammed.join("R", crank, t, np.array([0.5, 1.0, 0.0]))
    for k, (pin, foot) in enumerate([((2.0, 1.5, 0), (2.5, 0, 0)), ((1.2, 2.2, 0), (0.2, 3.1, 0))]):
        link = jammed.body(f"l{k}", np.array(foot, dtype=float))
        jammed.join("R", t, link, np.array(pin, dtype=float))
        jammed.join("R", "ground", link, np.array(foot, dtype=float))
    found = bl.structural_groups(model_of(jammed)[0])
    assert found.redundant_count == 1
    assert sets(found)[0] == ("crank",)
    # either link would do with the ternary one, so all three are solved together
    assert sets(found)[1:] == [("t", "l0", "l1")]
    assert len(found.groups[1].redundant) == 1


# ------------------------------------------------------------------- what nothing drives


def test_freedoms_that_want_a_driver_are_named_by_bodies_and_coordinates() -> None:
    model = chain(2)
    model.drivers.clear()
    found = bl.structural_groups(model)
    assert len(found.groups) == 0
    (freedom,) = found.freedoms
    assert freedom.bodies == ("2", "3", "4", "5", "6")
    assert "A.angle" in freedom.coordinates and "D1.angle" in freedom.coordinates


def test_a_loose_body_has_six_freedoms_and_hinders_no_other_group() -> None:
    model = chain(1, None)
    model.body("loose", mass=1.0, position=(9, 9, 9))
    found = bl.structural_groups(model)
    assert sets(found) == [("2",), ("3", "4")]
    assert found.undetermined == ("loose",)
    assert [freedom.bodies for freedom in found.freedoms] == [("loose",)] * 6


def test_independent_coordinates_stand_for_drivers() -> None:
    model = chain(3)
    model.drivers.clear()
    found = bl.structural_groups(model, independent=["A"])
    assert sets(found) == [("2",), ("3", "4"), ("5", "6"), ("7", "8")]
    assert found.independent == ("A.angle",)
    assert found.groups[0].independent == ("A.angle",)
    assert found.groups[0].joints == ("A",) and found.groups[0].explicit
    # a law that is given is a driver like any other
    driven = bl.structural_groups(model, {"A": "2*t"})
    assert sets(driven) == sets(found)
    assert driven.groups[0].drivers == ("drive A",)


def test_the_coordinates_that_split_best_are_chosen() -> None:
    """Any hinge of the row would do; only the first and the last crank leave dyads alone."""
    model = chain(3)
    model.drivers.clear()
    found = bl.structural_groups(model, independent="auto")
    assert found.largest == 2
    assert found.independent in (("A.angle",), ("D2.angle",))
    worst = bl.structural_groups(model, independent="C1")
    assert worst.largest > 2


def test_as_many_coordinates_are_chosen_as_there_are_freedoms() -> None:
    lamp = bl.load_model("examples/mechanisms/balanced_lamp.toml")
    found = bl.structural_groups(lamp, independent="auto")
    assert len(found.independent) == 2 and found.determined
    assert found.largest == 2


def test_a_door_on_two_balls_swings_and_is_no_passive_spin() -> None:
    m = bl.Model("door")
    door = m.body("door", mass=1.0, com=(0.4, 0, 1), inertia=0.1)
    m.joint("spherical", "low", m.ground, door)
    m.joint("spherical", "high", m.ground.at(0, 0, 2), door.at(0, 0, 2))
    found = bl.structural_groups(m)
    assert [freedom.bodies for freedom in found.freedoms] == [("door",)]


def test_the_two_halves_of_a_strut_spin_together() -> None:
    """A led platform's strut with balls at both ends: one spin of two bodies is held."""
    m = bl.Model("strut")
    plate = m.body("plate", mass=1.0, position=(0.3, 0.2, 1.5))
    m.driver("path", "place", marker=plate, x="0.3", y="0.2", z="1.5 + 0.1*sin(t)")
    m.driver(
        "orientation", "hold", marker=plate, axes="xyz", first="0", second="0", third="0.1*sin(t)"
    )
    along = (0.3, 0.2, 1.5)
    barrel = m.body("barrel", mass=1.0, position=(0, 0, 0))
    rod = m.body("rod", mass=1.0, position=(0.2, 0.1, 1))
    m.joint("spherical", "foot", m.ground, barrel, at=(0, 0, 0))
    m.joint("prismatic", "slide", barrel, rod, at=(0, 0, 0), axis=along)
    m.joint("spherical", "head", rod, plate, at=along)
    found = bl.structural_groups(m)
    assert sets(found) == [("plate",), ("barrel", "rod")]
    (spin,) = found.groups[1].locked
    assert spin.bodies == ("barrel", "rod") and spin.joints == ("foot", "head")
    assert found.groups[1].name == "SPS"


# ------------------------------------------------------------------------------ bad input


def test_names_that_are_none_and_joints_that_never_close_are_refused_in_words() -> None:
    with pytest.raises(ModelError, match="not a coordinate of a joint"):
        bl.structural_groups(chain(1), independent=["nothing"])
    with pytest.raises(ModelError, match="no bodies"):
        bl.structural_groups(bl.Model("empty"))
    m = bl.Model("apart", plane="xy")
    a, b = m.body("a", mass=1.0), m.body("b", mass=1.0)
    m.joint("revolute", "A", m.ground, a)
    m.joint("revolute", "B", a.at(1.0), b)
    m.joint("revolute", "C", b.at(1.0), m.ground.at(5.0))
    with pytest.raises(AssemblyError, match="no position is found in which all joints close"):
        bl.structural_groups(m)
