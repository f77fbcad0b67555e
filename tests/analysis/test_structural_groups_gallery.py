"""Structural groups of the gallery, of mechanisms put together at random, and of large arrays."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biela as bl
from biela.analysis.instant import Instant
from biela.analysis.preparation import values
from biela.analysis.reach import nearest
from biela.equations.groups import Group, Structure
from tests.analysis.group_mechanisms import Mechanism, model_of, random_mechanism

GALLERY = sorted(Path("examples/mechanisms").glob("*.toml"))

#: Worked out by hand: bodies of each group in order, and what is redundant.
EXPECTED: dict[str, tuple[list[set[str]], int]] = {
    "four_bar": ([{"crank"}, {"coupler", "rocker"}], 0),
    "slider_crank": ([{"crank"}, {"rod", "piston"}], 3),
    "parallelogram": ([{"left"}, {"coupler", "right"}], 0),
    "watt": ([{"left_arm"}, {"bar", "right_arm"}], 0),
    "peaucellier": (
        [
            {"crank"},
            {"upper_arm", "inner_upper"},
            {"lower_arm", "inner_lower"},
            {"outer_upper", "outer_lower"},
        ],
        0,
    ),
    "quick_return": ([{"crank"}, {"block", "lever"}, {"link", "ram"}], 0),
    "pantograph": ([{"first", "inner"}, {"second", "outer"}], 0),
    "theo_jansen": (
        [{"crank"}, {"upper_rod", "hip"}, {"lower_rod", "thigh"}, {"tendon", "shank"}],
        0,
    ),
    "geared_five_bar": ([{"gear_1"}, {"gear_2"}, {"first_bar", "second_bar"}], 0),
    "scissor_lift": (
        [
            {"stage[0].rising", "stage[0].falling"},
            {"stage[1].rising", "stage[1].falling"},
            {"stage[2].rising", "stage[2].falling"},
            {"platform"},
        ],
        0,
    ),
    "excavator": (
        [
            {"boom", "boom_barrel", "boom_rod"},
            {"stick", "stick_barrel", "stick_rod"},
            {"rocker", "bucket_barrel", "bucket_rod"},
            {"bucket", "link"},
        ],
        0,
    ),
    "spatial_slider_crank": ([{"crank"}, {"rod", "slider"}], 0),
    "rssr": ([{"crank"}, {"rod", "rocker"}], 0),
    # three rows of the loop follow from the others, whatever a count says
    "bennett": ([{"crank"}, {"coupler", "rocker"}], 3),
    "universal_shaft": ([{"input"}, {"output"}], 3),
    "cardan_shaft": ([{"input"}, {"tube", "spline", "output"}], 0),
    "screw_press": ([{"screw"}, {"ram"}], 4),
    "double_wishbone": ([{"lower", "upper", "upright"}], 0),
    "spherical_arm": ([{"column", "upper", "forearm"}], 0),
    # the last link is led in all its freedoms, the others close the loop to it
    "panda": ([{"link7"}, {f"link{k}" for k in range(1, 7)}], 0),
}
#: What the equations leave free: no driver moves these.
UNDRIVEN = {"balanced_lamp": 2, "bricard": 1}


@cache
def found_in(name: str) -> tuple[bl.Model, Structure]:
    model = bl.load_model(f"examples/mechanisms/{name}.toml")
    return model, bl.structural_groups(model)


@pytest.mark.parametrize("name", EXPECTED)
def test_groups_of_the_gallery_are_those_worked_out_by_hand(name: str) -> None:
    _, found = found_in(name)
    groups, redundant = EXPECTED[name]
    assert [set(group.bodies) for group in found.groups] == groups
    assert found.redundant_count == redundant
    assert found.determined


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_groups_are_a_partition_in_an_order_that_can_be_solved(path: Path) -> None:
    model, found = found_in(path.stem)
    assert len(found.freedoms) == UNDRIVEN.get(path.stem, 0)
    bodies = [body for group in found.groups for body in group.bodies]
    assert sorted([*bodies, *found.undetermined]) == sorted(model.flattened().bodies)
    seen: set[str] = set()
    for number, group in enumerate(found.groups):
        assert set(group.known) <= seen
        assert all(before < number for before in group.after)
        assert group.level == max((found.groups[k].level + 1 for k in group.after), default=0)
        assert sorted(group.bodies_in_order) == sorted(group.bodies)
        seen |= set(group.bodies)
    assert sorted(k for level in found.levels for k in level) == list(range(len(found.groups)))
    numbers = sorted(k for groups in found.kinds.values() for k in groups)
    assert numbers == list(range(len(found.groups)))


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_the_rows_of_each_group_determine_its_bodies_by_equations_derived_otherwise(
    path: Path,
) -> None:
    """By the unrolled equations of the whole: full rank on own bodies, nothing on later ones."""
    model, found = found_in(path.stem)
    if not found.groups:
        return
    system = bl.formulate(model, "reference")
    p = values(system, "parameter", system.p, None)
    u = values(system, "input", system.u, None)
    instant = Instant(system, 0.0, u, p)
    place = nearest(instant, values(system, "coordinate", system.q, None))
    assert place.reached(1e-9)
    A = instant.Phi_v(place.q)
    columns = [v.name.removesuffix("_rate") for v in system.v]
    known: set[str] = set()
    for group in found.groups:
        rows = [k for k, n in enumerate(system.multipliers) if _owner(n, group)]
        own = [k for k, n in enumerate(columns) if n.rpartition(".")[0] in group.bodies]
        # coordinates that count turns belong to the group of their joint
        own += [k for k, n in enumerate(columns) if n.rpartition(".")[0] in group.joints]
        known |= set(own)
        block = A[np.ix_(rows, own)]
        assert np.linalg.matrix_rank(block, tol=1e-7) == len(own)
        later = [k for k in range(len(columns)) if k not in known]
        assert np.abs(A[np.ix_(rows, later)]).max(initial=0.0) == 0.0
        dropped = len(group.redundant)
        assert len(rows) - dropped == len(own)
        kept = [k for k in rows if system.multipliers[k] not in group.redundant]
        assert np.linalg.matrix_rank(A[np.ix_(kept, own)], tol=1e-7) == len(own)


def _owner(row: str, group: Group) -> bool:
    return any(row.startswith(f"{name}.") for name in group.joints)


# ---------------------------------------------------------------------------------- random


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("seed", range(3))
def test_random_mechanisms_are_taken_apart_into_the_groups_they_were_made_of(
    seed: int, spatial: bool
) -> None:
    mechanism = random_mechanism(seed, 6, spatial)
    found = bl.structural_groups(model_of(mechanism)[0])
    assert {(frozenset(g.bodies), g.name) for g in found.groups} == set(mechanism.groups)
    assert found.redundant_count == 0


@pytest.mark.parametrize("seed", range(2))
def test_planar_mechanisms_modelled_in_space_split_as_in_the_plane(seed: int) -> None:
    """Every loop then has three equations too many, and planar subchains tell which."""
    mechanism = random_mechanism(100 + seed, 6, spatial=False)
    flat = bl.structural_groups(model_of(mechanism)[0])
    mechanism.plane = None
    found = bl.structural_groups(model_of(mechanism)[0])
    assert [g.bodies for g in found.groups] == [g.bodies for g in flat.groups]
    loops = len(mechanism.joints) - len(mechanism.bodies)
    assert found.redundant_count == 3 * loops
    for group in found.groups:
        assert group.space == ("plane" if group.redundant else "space")


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.booleans())
@settings(max_examples=6, deadline=None)
def test_order_names_and_sides_make_no_difference(seed: int, other: int, spatial: bool) -> None:
    """Bodies and joints in another order, with other names and turned round: the same kinds."""
    mechanism = random_mechanism(seed, 4, spatial)
    model, _ = model_of(mechanism)
    again, names = model_of(mechanism, other)
    one, two = bl.structural_groups(model), bl.structural_groups(again)
    kinds = {frozenset(names[b] for b in group.bodies): group.kind for group in one.groups}
    assert kinds == {frozenset(group.bodies): group.kind for group in two.groups}
    forms: dict[str, tuple[object, ...]] = {}
    for m, found in ((model, one), (again, two)):
        for group in found.groups:
            assert forms.setdefault(group.kind, _form(m, group)) == _form(m, group)


def _form(model: bl.Model, group: Group) -> tuple[object, ...]:
    """The joints in canonical order with the canonical places of their bodies, i first."""
    places = {name: k for k, name in enumerate(group.bodies_in_order)}
    known = {name: -1 - k for k, name in enumerate(group.known_in_order)}
    found = []
    for name, turned in zip(group.joints_in_order, group.sides, strict=True):
        joint = model.joints.get(name)
        if joint is None:
            found.append(("driver or lock",))
            continue
        ends = [places.get(b, known.get(b)) for b in (joint.i.body, joint.j.body)]
        found.append((joint.kind, *(reversed(ends) if turned else ends)))
    return tuple(found)


# ----------------------------------------------------------------------------------- large


def four_bar(plane: str | None) -> bl.Model:
    m = bl.Model("four-bar", plane=plane)
    crank, coupler, rocker = (m.body(n, mass=1.0, inertia=0.1) for n in ("crank", "bar", "rocker"))
    rocker.marker("tip", (0.4, 0.0, 0.0))
    m.joint("revolute", "A", m.ground, crank, axis="z")
    m.joint("revolute", "B", crank.at(0.1), coupler, axis="z", start=0.36)
    m.joint("revolute", "C", coupler.at(0.3), rocker.at(0.25), axis="z", start=0.97)
    m.joint("revolute", "D", m.ground.at(0.35), rocker, axis="z")
    m.driver("rotary", "motor", coordinate="A", law="0.4 + 3*t")
    return m


@pytest.mark.parametrize("plane", ["xy", None], ids=["plane", "space"])
@pytest.mark.parametrize("link", [None, "rocker.tip"], ids=["array", "chain"])
def test_an_array_of_parts_splits_as_its_cells_do(plane: str | None, link: str | None) -> None:
    count = 120
    m = bl.Model("array", plane=plane)
    if link is None:
        m.part("cell", four_bar(plane), count, shift=(0, 1, 0))
    else:
        m.part("cell", four_bar(plane), count, link=link)
    found = bl.structural_groups(m)
    groups = {group.bodies for group in found.groups}
    cells = [f"cell[{k}]" for k in range(count)]
    assert groups == {(f"{c}.crank",) for c in cells} | {(f"{c}.bar", f"{c}.rocker") for c in cells}
    assert found.redundant_count == (0 if plane else 3 * count)
    assert len(found.kinds) == (2 if link is None else 4)  # on the ground, or on a rocker
    assert len(found.levels) == (2 if link is None else 2 * count)
    last = found.groups[-1]
    if link is not None:
        assert last.known == (f"cell[{count - 2}].rocker", f"cell[{count - 1}].crank")


def test_an_array_that_starts_at_a_dead_point_is_looked_at_later() -> None:
    """Flat parallelograms: every dyad is singular where it starts, and nowhere else."""
    flat = Mechanism("xy")
    crank, bar, rocker = (
        flat.body(n, np.array([x, 0.0, 0.0]))
        for n, x in (("crank", 0.0), ("bar", 1.0), ("rocker", 3.0))
    )
    flat.drive(flat.join("R", "ground", crank, np.zeros(3)))
    flat.join("R", crank, bar, np.array([1.0, 0.0, 0.0]))
    flat.join("R", bar, rocker, np.array([4.0, 0.0, 0.0]))
    flat.join("R", "ground", rocker, np.array([3.0, 0.0, 0.0]))
    m = bl.Model("parallelograms", plane="xy")
    m.part("cell", model_of(flat)[0], 60, shift=(0, 5, 0))
    found = bl.structural_groups(m)
    assert len(found.groups) == 120 and found.determined
    assert [table.name for table in found.tables.values()] == ["1R", "RRR"]


def test_a_fan_of_many_sliders_has_a_held_rod_each() -> None:
    dyad = bl.Model("dyad")
    rod, slider = dyad.body("rod", mass=1.0), dyad.body("slider", mass=1.0)
    dyad.joint("spherical", "inner", rod.at(6.0), slider)
    dyad.joint("prismatic", "rail", dyad.ground, slider, axis="x")
    m = bl.Model("fan")
    crank = m.body("crank", mass=1.0)
    m.joint("revolute", "shaft", m.ground, crank, axis="y")
    m.driver("rotary", "motor", coordinate="shaft", law="t")
    m.part("dyad", dyad, 5, shift=(0, 0.3, 0))
    for k in range(5):
        tip = crank.marker(f"tip{k}", (0.0, 0.3 * k, 2.0))
        m.joint("spherical", f"ball{k}", tip, f"dyad[{k}].rod")
    found = bl.structural_groups(m)
    assert [group.name for group in found.groups] == ["1R"] + ["2S1P"] * 5
    assert len(found.kinds) == 2
    assert all(len(group.locked) == 1 for group in found.groups[1:])


def test_screws_that_are_written_the_other_way_round_turn_the_other_way() -> None:
    m = bl.Model("screws")
    for k in range(2):
        nut, rod = (m.body(f"{name}{k}", mass=1.0, inertia=0.1) for name in ("nut", "rod"))
        m.joint("revolute", f"A{k}", m.ground.at(k, 0, 0), rod, axis="z")
        m.joint("prismatic", f"P{k}", m.ground.at(k, 0, 0, axis="z"), nut.at(axis="z"))
        ends = (rod.at(axis="z"), nut.at(axis="z"))
        m.joint("helical", f"H{k}", *(ends if k == 0 else ends[::-1]), pitch=0.01)
        m.driver("rotary", f"motor{k}", coordinate=f"A{k}.angle", law="2*t")
    found = bl.group_kinematics(m, 1.0, step=0.1)
    for k, sign in ((0, -1.0), (1, 1.0)):
        np.testing.assert_allclose(found[f"H{k}.angle"], sign * 2.0 * found.t, atol=1e-12)
        np.testing.assert_allclose(found[f"P{k}.displacement"], -0.01 * found.t / np.pi, atol=1e-12)
