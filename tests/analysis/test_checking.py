from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biela.analysis.checking import CheckReport, check, draw_topology
from biela.analysis.few_instances import few_instances
from biela.analysis.mobility import mobility
from biela.analysis.smells import (
    bodies_without_mass,
    name_smells,
    parallel_joints,
    unit_smells,
)
from biela.errors import ResultsError
from biela.model import Model
from tests.model.four_bars import four_bar


def slider_crank(last: str) -> Model:
    """The models of Peinado's thesis, example 1: crank 2 m, rod 3.5 m, slider along x."""
    m = Model(f"slider-crank with {last}")
    for name in ("crank", "rod", "slider"):
        m.body(name, mass=1.0, inertia=0.1)
    m.joint("revolute", "R12", m.ground, "crank", start=np.pi / 4)
    m.joint("revolute", "R23", ("crank", (2, 0, 0)), ("rod", (-1.75, 0, 0)), start=-1.2)
    pin = ("rod", (1.75, 0, 0))
    if last == "hinge":
        m.joint("revolute", "R34", pin, "slider")
    m.joint("prismatic", "T14", m.ground, "slider", axis="x", start=4.6)
    if last != "hinge":
        m.joint("coordinate_difference", "CDx", pin, "slider", along="x")
        other = m.ground if last == "printed" else pin
        m.joint("coordinate_difference", "CDy", other, "slider", along="y")
    return m


def texts(report: CheckReport, level: str) -> str:
    return "\n".join(f.text for f in report.findings if f.level == level)


# ------------------------------------------------------------------------------- freedoms


@pytest.mark.parametrize(
    ("last", "count", "rank", "freedoms"),
    [("hinge", -2, 17, 1), ("differences", 1, 17, 1), ("printed", 1, 16, 2)],
)
def test_count_and_rank_of_the_three_models_of_the_thesis(
    last: str, count: int, rank: int, freedoms: int
) -> None:
    report = check(slider_crank(last))
    assert report.mobility is not None
    # the thesis has 10 more: six of the ground and four normalisations
    assert (report.topology.freedoms, report.mobility.rank) == (count, rank)
    assert report.freedoms == freedoms
    assert report.ok


def test_rows_that_are_too_many_are_named_and_a_joint_without_them_is_found() -> None:
    model = slider_crank("hinge")
    model.driver("rotary", "motor", coordinate="R12.angle", law="pi/4 + 2*pi*t")
    report = check(model)
    assert "joint T14 has 3 redundant rows" in texts(report, "note")
    assert report.suggestions == (
        "nothing is redundant if one replaces R34 (revolute) by a joint point_on_line, or declares "
        "the xy plane",
    )
    del model.joints["R34"]
    model.joint("point_on_line", "R34", ("rod", (1.75, 0, 0)), "slider")
    again = check(model)
    assert again.mobility is not None
    assert (again.freedoms, again.mobility.redundant) == (1, ())


def test_declaring_the_plane_that_is_offered_removes_the_redundant_rows() -> None:
    model = slider_crank("hinge")
    report = check(model)
    assert report.plane is not None
    assert report.plane.name == "xy"
    assert 'in_plane("xy")' in texts(report, "note")
    flat = check(model.in_plane("xy"))
    assert flat.mobility is not None
    assert (flat.topology.count, flat.freedoms, flat.mobility.redundant) == (1, 1, ())
    assert flat.plane is None


def test_more_drivers_than_freedoms_are_an_error() -> None:
    model = slider_crank("hinge")
    model = model.in_plane("xy")
    model.driver("rotary", "motor", coordinate="R12.angle", law="t")
    model.driver("translational", "piston", coordinate="T14.displacement", law="t")
    report = check(model)
    assert not report.ok
    assert "drivers impose 2 motions on 1 freedom" in texts(report, "error")


# ---------------------------------------------------------------------------------- start


def test_a_joint_that_is_open_at_the_start_is_named_with_its_gap() -> None:
    report = check(slider_crank("hinge"))
    angle = np.pi / 4 - 1.2
    tip = 2 * np.exp(1j * np.pi / 4) + 3.5 * np.exp(1j * angle)
    (opening,) = report.openings
    assert opening.joint == "R34"
    assert opening.distance == pytest.approx(abs(tip - 4.6))
    assert opening.angle == pytest.approx(0.0)
    assert "R34 is open by" in texts(report, "note")


def test_axes_that_do_not_meet_are_told_in_degrees() -> None:
    m = Model("bent")
    m.body("bar", mass=1.0, inertia=0.1, position=(0, 0, 0), orientation=("x", ("3 deg",)))
    m.joint("revolute", "pin", m.ground, "bar")
    (opening,) = check(m).openings
    assert np.degrees(opening.angle) == pytest.approx(3.0)
    assert str(opening) == "pin is open by 3°"


def test_a_mechanism_that_cannot_be_closed_is_an_error() -> None:
    m = Model("too short")
    m.body("a", mass=1.0, inertia=0.1)
    m.body("b", mass=1.0, inertia=0.1)
    m.joint("revolute", "A", m.ground, "a", start=0.3)
    m.joint("revolute", "B", ("a", (0.1, 0, 0)), "b", start=0.2)
    m.joint("revolute", "C", ("b", (0.1, 0, 0)), (m.ground, (1, 0, 0)))
    report = check(m)
    # two bars of 0.1 m on the ground, 1 m apart, stretched towards each other
    assert texts(report, "error").startswith("cannot be closed: B stays open by 0.8 m at best")
    assert (report.freedoms, report.mobility) == (None, None)
    for wrong in ("will be assembled", "freedoms by rank", "kinematics needs", "contradicts"):
        assert wrong not in str(report)


def test_bars_in_one_line_at_the_start_are_closed_from_the_side() -> None:
    m = four_bar()
    for name, joint in m.joints.items():
        m.joints[name] = replace(joint, start={})
    # the squares of the openings are at a saddle there, and cannot be made smaller along it
    assert not mobility(m).assembled
    report = check(m)
    assert report.ok
    assert report.freedoms == 1


# ---------------------------------------------------------------------------------- plane


def test_an_axis_out_of_the_plane_of_a_model_is_an_error() -> None:
    m = Model("flat", plane="xy")
    for name in ("a", "b", "c"):
        m.body(name, mass=1.0, inertia=0.1)
    m.joint("revolute", "A", m.ground, "a", axis="x")
    m.joint("prismatic", "B", m.ground, "b", axis="z")
    m.joint("fixed", "C", m.ground, "c")
    found = texts(check(m), "error").split("\n")
    assert found[0].startswith("joint A (revolute) cannot turn in the xy plane: its axis is not")
    assert found[1].startswith("joint B (prismatic) leaves nothing free in the xy plane")
    assert len(found) == 2


@pytest.mark.parametrize(("gravity", "told"), [((0, 0, -9.81), True), ((0, -9.81, 0), False)])
def test_gravity_across_the_plane_is_a_warning(gravity: tuple[float, ...], told: bool) -> None:
    m = Model("flat", plane="xy", gravity=gravity)
    m.body("bar", mass=1.0, inertia=0.1)
    m.joint("revolute", "A", m.ground, "bar")
    report = check(m)
    assert report.ok
    assert ("gravity has -9.81 m/s² along z" in texts(report, "warning")) == told


# ------------------------------------------------------------------------------- elements


def test_two_drivers_of_one_coordinate_are_named() -> None:
    m = four_bar(driven=True)
    (motor,) = m.drivers
    m.driver("rotary", "other", coordinate="A.angle", law="2*t")
    assert f"A.angle is driven by {motor} and other" in texts(check(m), "error")


def test_units_that_do_not_fit_the_joint_are_found_with_the_element() -> None:
    m = four_bar()
    m.force("stop", "end", coordinate="A", stiffness="3 N/m", upper=1.0)
    m.driver("rotary", "motor", coordinate="nowhere", law="t")
    found = texts(check(m), "error")
    assert 'force end (stop): "3 N/m" is a stiffness' in found
    assert "driver motor (rotary): there is no joint coordinate 'nowhere'" in found


# ---------------------------------------------------------------------------------- shape


def test_a_forgotten_joint_is_an_error_and_a_free_one_a_warning() -> None:
    m = Model("space")
    m.body("craft", mass=1.0, inertia=0.1)
    report = check(m)
    assert "no joint connects craft to the ground" in texts(report, "error")
    m.joint("free", "orbit", m.ground, "craft")
    report = check(m)
    assert report.ok
    assert "craft hangs free" in texts(report, "warning")
    assert report.freedoms == 6


def test_an_empty_model_is_an_error() -> None:
    assert "has no bodies" in texts(check(Model("nothing")), "error")


def test_what_smells_is_a_warning() -> None:
    m = Model("smells")
    m.body("crank", mass=1.0, inertia=0.01).marker("far", (120, 0, 0))
    m.body("Crank", mass=1.0, inertia=5000.0).marker("rim", (0.1, 0, 0))
    m.body("light")
    m.joint("revolute", "A", m.ground, "crank", start=90)
    m.joint("revolute", "B", m.ground, "Crank")
    m.joint("revolute", "C", m.ground, "light")
    found = texts(check(m), "warning").split("\n")
    expected = (
        "without mass, which dynamics needs: light",
        "crank and Crank are hard to tell apart",
        'marker crank.far is 120 m away: if mm were meant, write "120 mm"',
        'A.angle = 90 rad is more than a turn: if degrees were meant, write "90 deg"',
        "body Crank of 1 kg has a radius of gyration of 70.7 m",
    )
    assert len(found) == len(expected)
    for text, start in zip(found, expected, strict=True):
        assert text.startswith(start)


def test_a_frame_that_is_fixed_to_a_body_needs_no_mass() -> None:
    m = Model("robot")
    m.body("base")
    m.body("arm", mass=1.0, inertia=0.1)
    m.body("tool")
    m.body("tip")
    m.joint("fixed", "foot", m.ground, "base")
    m.joint("revolute", "shoulder", "base", "arm")
    m.joint("fixed", "flange", "arm", "tool")
    m.joint("fixed", "glue", "tool", "tip")
    assert bodies_without_mass(m) == []
    m.body("cart")
    m.body("lamp")
    m.joint("fixed", "bracket", "cart", "lamp")
    assert bodies_without_mass(m) == ["cart", "lamp"]


def test_an_ordinary_model_and_lengths_with_a_unit_do_not_smell() -> None:
    m = four_bar()
    m.bodies["crank"].marker("mast", ("120 m", 0, 0))
    host = Model("host")
    host.part("cell", m, 2)
    smells = (unit_smells, name_smells, parallel_joints, bodies_without_mass)
    assert [list(smell(host)) for smell in smells] == [[], [], [], []]


def test_what_smells_in_a_prototype_is_told_once() -> None:
    m = four_bar()
    m.bodies["crank"].marker("far", (120, 0, 0))
    m.body("light")
    host = Model("host")
    host.part("cell", m, 50)
    (text,) = unit_smells(host)
    assert text.startswith("cell: marker crank.far")
    assert bodies_without_mass(host) == ["cell[…].light"]


def test_two_joints_between_the_same_bodies_are_mentioned() -> None:
    m = four_bar()
    m.joint("revolute", "E", m.ground, "crank")
    assert list(parallel_joints(m)) == ["A, E join the same two bodies, crank and ground"]


# --------------------------------------------------------------------------------- arrays


@pytest.mark.parametrize("settings", [{"shift": (0, 0, 0.05)}, {"link": "rocker.tip"}])
def test_an_array_is_counted_as_a_whole_and_ranked_by_a_few(settings: dict[str, object]) -> None:
    m = Model("array")
    count = 100_000
    radii = np.linspace(0.09, 0.11, count)
    m.part("cell", four_bar(driven=True), count, parameters={"r": radii}, **settings)
    report = check(m)
    assert (report.topology.bodies, report.topology.loops) == (3 * count, count)
    assert (report.topology.freedoms, report.freedoms) == (-2 * count, count)
    assert "from the rank of" in str(report)
    assert "those of their first instances" in texts(report, "note")
    assert report.ok


def test_the_freedoms_of_a_chain_from_a_few_are_those_of_the_whole() -> None:
    link = Model("link")
    link.body("bar", mass=1.0, inertia=0.1).marker("end", (0.2, 0, 0))
    m = Model("chain")
    m.part("link", link, 6, between=[("universal", "bar.end", "bar")])
    m.joint("spherical", "hook", m.ground, "link[0].bar")
    few = check(m)
    # by hand: 6 bodies, 5 universal joints that remove 4, one ball that removes 3
    assert few.freedoms == few.topology.freedoms == 6 * 6 - 4 * 5 - 3
    longer = Model("long chain")
    longer.part("link", link, 400, between=[("universal", "bar.end", "bar")])
    longer.joint("spherical", "hook", longer.ground, "link[0].bar")
    assert check(longer).freedoms == 6 * 400 - 4 * 399 - 3


def test_joints_to_instances_that_are_not_looked_at_are_left_out_and_told() -> None:
    m = Model("closed array")
    m.part("cell", four_bar(), 100, shift=(0, 0, 0.1))
    m.joint("spherical", "first", "cell[0].coupler", m.ground)
    m.joint("spherical", "last", "cell[-1].coupler", m.ground)
    few = few_instances(m, 2)
    assert few.left_out == ("last",)
    assert list(few.model.joints) == ["first"]
    report = check(m)
    assert report.freedoms is None
    assert "without last" in texts(report, "note")


# -------------------------------------------------------------------------------- drawing


def test_the_graph_is_drawn_with_symbols_and_driven_joints_in_colour(tmp_path: Path) -> None:
    report = check(four_bar(driven=True).in_plane("xy"))
    assert draw_topology(report, tmp_path / "graph.png").stat().st_size > 10_000
    text = draw_topology(report, tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert text.count("#d55e00") > 1  # the arc of A
    for name in ("ground", "crank", "rocker"):
        assert f"<!-- {name} -->" in text
    with pytest.raises(ResultsError, match="should end in"):
        draw_topology(report, tmp_path / "graph.docx")
