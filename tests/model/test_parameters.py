"""Parameters of models: what they reach, and the units that they are given in."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.errors import FileError, ModelError
from biela.model.bodies import weighed
from biela.model.files import dumps, loads
from biela.model.mass_properties import MassProperties
from biela.model.orientation import Orientation
from biela.model.parameters import Parameters
from biela.model.shapes import (
    SHAPES,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    MeshShape,
    Plate,
    Rod,
    Shape,
    Sphere,
    Tube,
)

ENGINES = ("looped", "unrolled")
GALLERY = Path(__file__).parents[2] / "examples" / "mechanisms"
CRANK = (GALLERY / "slider_crank.toml").read_text(encoding="utf-8")

# --- values ---------------------------------------------------------------------------------------


def test_a_parameter_computed_from_others_follows_them_until_it_is_given_a_value() -> None:
    p = Parameters()
    for name, value in (("a", "200 mm"), ("b", "2*a"), ("c", "a*b"), ("n", 3.0)):
        p.define(name, value)
    assert p.given == {"a": 0.2, "n": 3.0} and p.units == {"a": "m", "b": "m", "c": "m^2"}
    other = p.changed({"a": "300 mm"})
    assert (other["b"], other["c"]) == (0.6, pytest.approx(0.18)) and p["b"] == 0.4
    own = other.changed({"b": 1.0})
    assert own["c"] == 0.3 and own.changed({"a": 0.5})["b"] == 1.0 and "b" in own.given
    p["a"] = 1.0
    assert (p["b"], p["c"]) == (2.0, 2.0)


def test_equations_have_the_expression_of_a_computed_parameter() -> None:
    m = bl.Model("pendulum")
    m.parameter("l", 1.0)
    m.parameter("half", "l/2")
    rod = m.body("rod", mass=3.0, com=("half", 0, 0), inertia=(0, "l^2/4", "l^2/4"))
    m.joint("revolute", "pin", m.ground, rod, axis="y")
    system = bl.formulate(m)
    assert [entry.name for entry in system.p] == ["l"]
    # M = m l²/4 + m l²/12 at any l
    assert system.evaluate("M", [0.0], p=[2.0]) == pytest.approx(np.array([[3.0 + 1.0]]))
    with pytest.raises(ModelError, match="has no parameter half"):
        bl.Simulator(system).run(0.1, step=0.1, parameters={"half": 1.0})


def test_a_part_computes_its_parameters_in_each_instance() -> None:
    cell = bl.Model("cell")
    cell.parameter("l", 1.0)
    cell.parameter("half", "l/2")
    rod = cell.body("rod", shapes=[Rod((0, 0, 0), ("2*half", 0, 0), mass="3 kg/m * l")])
    cell.joint("revolute", "pin", cell.ground, rod, axis="y", start=0.3)
    cell.sensor("point", "tip", marker=rod.at("l", 0, 0))
    m = bl.Model("row")
    lengths = np.array([0.5, 1.0, 2.0])
    m.part("cell", cell, 3, shift=(0, 1, 0), parameters={"l": lengths})
    system = bl.formulate(m)
    # each a rod about its end, ml²/3 with m = 3l
    assert np.diag(np.asarray(system.evaluate("M", np.zeros(3)))) == pytest.approx(lengths**3)
    looped, whole = (bl.simulate(m, 0.1, step=1e-3, engine=e) for e in ("looped", "unrolled"))
    for k in range(3):
        name = f"cell[{k}].tip.x"
        assert looped[name] == pytest.approx(whole[name], abs=1e-10)
        assert whole[name][0] == pytest.approx(lengths[k] * math.cos(0.3))
    again = loads(dumps(m))
    assert dumps(again) == dumps(m)
    assert np.asarray(bl.formulate(again).evaluate("M", np.zeros(3))) == pytest.approx(
        np.asarray(system.evaluate("M", np.zeros(3)))
    )


# --- shapes ---------------------------------------------------------------------------------------

NUMBERS = {"a": 0.3, "b": 0.5, "c": 0.7, "rho": 2700.0, "phi": 0.4}
TURN = Orientation(turns=(("z", "phi"), ("x", "2*phi")))
AT = {"position": ("a", "-b", 0.1), "rotation": TURN, "density": "rho"}
EVERY: list[Shape] = [
    Box(("a", "b", "2*c"), **AT),
    Cylinder("a", "b", **AT),
    Tube("b", "a", "c", **AT),
    Cone("a", "b", "c", **AT),
    Sphere("a", **AT),
    Ellipsoid(("a", "b", "c"), **AT),
    Capsule("a", "c", **AT),
    Rod(("a", 0, "b"), (0, "c", "-a"), "10 mm", **AT),
    Plate((("a", 0), ("b", "a"), ("a", "c"), ("-b", "a")), "20 mm", **AT),
    MeshShape(Box((0.2, 0.3, 0.4)).surface(), **AT),
]


def number(value: Any, dimension: str = "any") -> float:
    p = Parameters(NUMBERS)
    return p.value(value, dimension)


@pytest.mark.parametrize("shape", EVERY, ids=lambda shape: shape.kind)
def test_the_mass_of_a_shape_of_parameters_is_that_of_the_shape_in_numbers(shape: Shape) -> None:
    assert {each.kind for each in EVERY} == set(SHAPES)
    plain = shape.measured(number)
    assert shape.texts and not plain.texts
    wanted, found = plain.mass_properties(), weighed([shape])
    assert number(found.mass) == pytest.approx(wanted.mass, rel=1e-13)
    assert [number(x) for x in found.com] == pytest.approx(wanted.com, abs=1e-13)
    xx, yy, zz, xy, xz, yz = (number(x) for x in found.moments)
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert pytest.approx(wanted.inertia, abs=1e-12 * wanted.inertia.max()) == I
    with pytest.raises(ModelError, match="texts"):
        shape.mass_properties()


def test_closed_forms_hold_for_all_values_of_the_parameters() -> None:
    m = bl.Model("solids")
    for name, value in NUMBERS.items():
        m.parameter(name, value)
    m.body("rod", shapes=[Rod((0, 0, 0), ("a", 0, 0), "b", density="rho")])
    m.body("drum", shapes=[Cylinder("a", "b", density="rho")])
    m.body("ball", shapes=[Sphere("a", mass="rho*b", position=("c", 0, 0))])
    a, b, c, rho = 0.41, 0.62, 0.13, 1234.0
    other = m.with_parameters({"a": a, "b": b, "c": c, "rho": rho})
    inertia = {
        name: [other.number(x) for x in (body.inertia.mass, *body.inertia.moments[:3])]
        for name, body in other.bodies.items()
    }
    rod, drum = rho * math.pi * b**2 * a, rho * math.pi * a**2 * b
    across = drum * (3 * a**2 + b**2) / 12
    assert inertia["rod"] == pytest.approx([rod, 0, rod * a**2 / 12, rod * a**2 / 12])
    assert inertia["drum"] == pytest.approx([drum, across, across, drum * a**2 / 2])
    assert inertia["ball"] == pytest.approx([rho * b, *[0.4 * rho * b * a**2] * 3])
    assert other.number(other.bodies["ball"].inertia.com[0]) == c


def test_solids_and_points_together_are_those_of_the_theorem_of_steiner() -> None:
    shapes = [*EVERY[:3], Box((0.1, 0.2, 0.3), mass=40.0, position=(0, 0.5, 0))]
    points = [("rho*a^3", ("b", 0.0, "c")), (3.0, (0.1, 0.2, 0.3))]
    found = weighed(shapes, [(m, (x, y, z)) for m, (x, y, z) in points])
    # one after the other, each sum about its own centre
    parts = [shape.measured(number).mass_properties() for shape in shapes]
    for m, place in points:
        parts.append(MassProperties(number(m), [number(x) for x in place]))
    total = sum(parts[1:], parts[0])
    assert number(found.mass) == pytest.approx(total.mass)
    assert [number(x) for x in found.com] == pytest.approx(total.com)
    xx, yy, zz, xy, xz, yz = (number(x) for x in found.moments)
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert pytest.approx(total.inertia, rel=1e-12, abs=1e-9) == I


def test_a_saved_file_keeps_the_parameters_of_shapes_and_points() -> None:
    m = bl.Model("saved")
    m.parameter("a", "0.3 m")
    m.parameter("b", "2*a")
    shape = Cylinder("a", "b", density=1000.0, rotation=Orientation(turns=(("x", "a*1 rad/m"),)))
    m.body("drum", shapes=[shape], points=[(2.0, ("b", 0, 0))])
    text = dumps(m)
    again = loads(text)
    assert dumps(again) == text and 'b = "2*a"' in text and 'radius = "a"' in text
    for length in (0.3, 0.4):
        one, other = (x.with_parameters({"a": length}) for x in (m, again))
        masses = [x.number(x.bodies["drum"].inertia.mass) for x in (one, other)]
        assert masses == pytest.approx([1000 * math.pi * length**2 * 2 * length + 2] * 2)
        moments = [[x.number(v) for v in x.bodies["drum"].inertia.moments] for x in (one, other)]
        assert moments[0] == moments[1]


def test_values_that_make_no_body_are_refused_by_name() -> None:
    m = bl.Model("bad")
    m.parameter("r", "10 mm")
    m.parameter("inner", "5 mm")
    m.body("pipe", shapes=[Tube("r", "inner", 1.0, density=1000.0)])
    for value, said in (("-1 mm", "must be positive"), ("4 mm", "less than the outer")):
        with pytest.raises(ModelError, match=rf"(?s)with r = {value}.*body pipe.*{said}"):
            m.with_parameters({"r": value})
    with pytest.raises(ModelError, match="no parameter radius; it has r, inner"):
        m.with_parameters({"radius": 1.0})


# --- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'crank_length = "2 m"',
            'crank_length = "100 kg"',
            r"x.toml:\d+: bodies.crank.*crank_length in kg",
        ),
        ('steel = "7850 kg/m^3"', 'steel = "7850 kg"', r"density, in kg/m\^3.*steel in kg"),
        ('first_angle = "45 deg"', 'first_angle = "45 m"', "an angle, in rad.*first_angle in m"),
        ('speed = "60 rpm"', 'speed = "60 kg"', "drivers.motor: law.*speed in kg"),
        ('rod_length = "3.5 m"', 'rod_length = "crank_length^2"', r"rod_length in m\^2"),
        ('density = "steel"', 'density = "steel*rod_length"', "steel in"),
    ],
)
def test_a_file_with_a_parameter_of_another_unit_is_refused_at_its_line(
    old: str, new: str, said: str
) -> None:
    assert old in CRANK
    with pytest.raises(FileError, match=f"(?s){said}"):
        loads(CRANK.replace(old, new), name="x.toml")


def test_a_value_of_another_unit_is_refused_by_models_systems_and_robots() -> None:
    m = loads(CRANK)
    said = "parameter crank_length is a length, in m, and '1 kg' is a mass"
    for door in (
        lambda p: m.with_parameters(p),
        lambda p: bl.simulate(m, 0.1, parameters=p),
        lambda p: bl.kinematics(m, 0.1, step=0.1, parameters=p),
        lambda p: bl.assemble(m, parameters=p),
        lambda p: bl.report(m, "no.html", parameters=p),
        lambda p: bl.Robot(m, parameters=p),
    ):
        with pytest.raises(ModelError, match=said):
            door({"crank_length": "1 kg"})
    system = bl.formulate(m)
    with pytest.raises(ModelError, match=r"crank_length.*a mass; a length is wanted"):
        bl.Simulator(system).run(0.1, parameters={"crank_length": "1 kg"})
    with pytest.raises(ModelError, match=r"parameter steel.*it is in kg, and .* in kg/m"):
        bl.Simulator(system).run(0.1, parameters={"steel": "1 kg"})


def test_a_unit_for_a_parameter_without_one_is_checked_where_it_stands() -> None:
    m = bl.Model("plain")
    m.parameter("rho", 7850)
    m.body("ball", shapes=[Sphere(0.1, density="rho")])
    assert m.with_parameters({"rho": "8 g/cm^3"}).parameters["rho"] == 8000.0
    with pytest.raises(ModelError, match=r"(?s)with rho = 1 kg.*body ball.*rho in kg"):
        m.with_parameters({"rho": "1 kg"})


def test_radians_and_plain_numbers_fit_in_with_parameters() -> None:
    p = Parameters()
    for name, value in (("r", "2 m"), ("phi", "90 deg"), ("w", "60 rpm"), ("T", "2 s")):
        p.define(name, value)
    assert p.value("r*phi", "length") == pytest.approx(math.pi)
    assert p.value("w*r", "velocity") == pytest.approx(4 * math.pi)
    assert p.value("2*pi/T", "angular velocity") == pytest.approx(math.pi)
    assert p.value("r + 0.5", "length") == 2.5
    assert p.value("sin(w*T) + phi", "angle") == pytest.approx(math.pi / 2)
    for wrong in ("r + T", "sin(r)", "r^phi*r", "max(r, T)"):
        with pytest.raises(bl.BielaError):
            p.value(wrong, "length")


@pytest.mark.parametrize("law", ["2*pi*t", "t", "a + w*t", "a + 0.1*t + w*t", "a*sin(2*pi*t/T)"])
def test_laws_take_the_time_as_a_time_or_as_a_number(law: str) -> None:
    m = bl.Model("law")
    for name, value in (("a", "30 deg"), ("w", "60 rpm"), ("T", "2 s"), ("l", "1 m")):
        m.parameter(name, value)
    rod = m.body("rod", mass=1.0)
    m.joint("revolute", "pin", m.ground, rod, axis="y")
    m.driver("rotary", "motor", coordinate="pin", law=law)
    with pytest.raises(ModelError, match=r"driver wrong.*l in m"):
        m.driver("rotary", "wrong", coordinate="pin", law=f"l + {law}")


def test_rows_of_a_part_follow_the_parameters_of_the_host() -> None:
    cell = bl.Model("cell")
    cell.parameter("l", "1 m")
    rod = cell.body("rod", shapes=[Rod((0, 0, 0), ("l", 0, 0), mass="3 kg")])
    cell.joint("revolute", "pin", cell.ground, rod, axis="y", start=0.3)
    m = bl.Model("row")
    m.parameter("a", "500 mm")
    m.part("cell", cell, 3, shift=(0, 1, 0), parameters={"l": ["a", "2*a + 0 mm", "1.5 m*cos(0)"]})
    system = bl.formulate(m)
    for a, found in (
        (0.5, system.evaluate("M", np.zeros(3))),
        (0.8, bl.formulate(m.with_parameters({"a": 0.8})).evaluate("M", np.zeros(3))),
        (0.8, bl.formulate(loads(dumps(m)).with_parameters({"a": 0.8})).evaluate("M", np.zeros(3))),
    ):
        assert np.diag(np.asarray(found)) == pytest.approx(np.array([a, 2 * a, 1.5]) ** 2)
    motions = [bl.simulate(m, 0.1, step=1e-3, parameters={"a": 0.8}, engine=e) for e in ENGINES]
    motions.append(bl.Simulator(system).run(0.1, step=1e-3, parameters={"a": 0.8}))
    for k in range(3):
        # a rod about its end: φ'' = 3 g cos φ/2l
        rate = motions[1][f"cell[{k}].pin.angle_rate"]
        assert abs(rate[1] / 1e-3) == pytest.approx(
            1.5 * 9.81 / (0.8, 1.6, 1.5)[k] * math.cos(0.3), rel=1e-2
        )
        for motion in motions:
            assert motion[f"cell[{k}].pin.angle"] == pytest.approx(
                motions[1][f"cell[{k}].pin.angle"], abs=1e-9
            )
    with pytest.raises(ModelError, match=r"parameter l is a length, in m, and '1 kg' is a mass"):
        m.part("other", cell, parameters={"l": "1 kg"})


def test_a_dimension_of_a_shape_is_one_value() -> None:
    text = 'name = "x"\n[bodies.a]\nshapes = [{ kind = "cylinder", radius = [1, 2], length = 1 }]'
    with pytest.raises(FileError, match=r"radius: a length is wanted.*not an array of 2"):
        loads(text)
