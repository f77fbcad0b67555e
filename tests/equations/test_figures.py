"""What is drawn of a mechanism: shapes where bodies have them, lines between markers elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import biela as bl
from biela.equations.figures import (
    BallFigure,
    JointFigure,
    LineFigure,
    SlideFigure,
    SolidFigure,
    StrutFigure,
)
from biela.equations.mechanism.drawing import figures
from biela.model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Plate, Rod, Sphere, Tube


def of_kind(model, kind):
    return [figure for figure in figures(model) if isinstance(figure, kind)]


def plain_slider_crank():
    m = bl.Model("slider crank", plane="xz")
    crank = m.body("crank", mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1))
    rod = m.body("rod", mass=1, com=(0.3, 0, 0), inertia=(1, 1, 1))
    slider = m.body("slider", mass=1)
    m.joint("revolute", "A", m.ground, crank, axis="y")
    m.joint("revolute", "B", crank.at(0.2, axis="y"), rod.at(axis="y"))
    m.joint("revolute", "C", rod.at(0.6, axis="y"), slider.at(axis="y"))
    m.joint("prismatic", "slide", m.ground, slider, axis="x", start=0.8)
    return m


@pytest.mark.parametrize(
    "shape",
    [
        Box((0.1, 0.2, 0.3)),
        Cylinder(0.1, 0.3),
        Tube(0.1, 0.05, 0.3),
        Cone(0.3, 0.1, 0.4),
        Ellipsoid((0.1, 0.2, 0.3)),
        Capsule(0.1, 0.3),
        Rod((0, 0, 0), (0.3, 0, 0), 0.01),
        Plate([(0, 0), (0.3, 0), (0, 0.2)], 0.02),
    ],
    ids=lambda shape: shape.kind,
)
def test_a_shape_is_drawn_where_it_is_in_its_body(shape):
    """The solid that is drawn has the centre and nearly the volume of the shape."""
    R = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    placed = replace(shape, position=(1.0, 2.0, 3.0), rotation=R, density=1.0)
    m = bl.Model("one")
    m.body("thing", shapes=[placed])
    (solid,) = of_kind(m, SolidFigure)
    a, b, c = (solid.vertices[solid.triangles[:, k]] for k in range(3))
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    weighed = placed.mass_properties()
    assert solid.body == "thing"
    # prisms of 24 sides in place of circles: less by (24/2π) sin(2π/24) twice, seen from outside
    assert 0.95 < parts.sum() / weighed.mass <= 1 + 1e-12
    centre = (parts[:, None] * (a + b + c) / 4).sum(axis=0) / parts.sum()
    assert centre == pytest.approx(weighed.com, abs=2e-3)


def test_a_ball_is_a_ball_and_a_rod_without_a_radius_is_a_line():
    m = bl.Model("one")
    m.body("ball", shapes=[Sphere(0.2, position=(1, 0, 0), mass=1)])
    m.body("wire", shapes=[Rod((0, 0, 0), (0, 0, 1), position=(0, 2, 0), mass=1)])
    assert of_kind(m, BallFigure) == [BallFigure("ball", (1.0, 0.0, 0.0), 0.2)]
    ends = (("wire", (0.0, 2.0, 0.0)), ("wire", (0.0, 2.0, 1.0)))
    assert of_kind(m, LineFigure) == [LineFigure("wire", ends)]
    assert of_kind(m, SolidFigure) == []


def test_bodies_without_shapes_are_lines_between_their_joints():
    m = plain_slider_crank()
    lines = {figure.body: figure for figure in of_kind(m, LineFigure)}
    assert {frame for frame, _ in lines["crank"].places} == {"crank.A", "crank.B"}
    assert {frame for frame, _ in lines["rod"].places} == {"rod.B", "rod.C"}
    assert "slider" not in lines  # it is the block of the slide
    assert of_kind(m, SlideFigure) == [
        SlideFigure("ground.slide", "slider.slide", "ground", "slider")
    ]
    signs = of_kind(m, JointFigure)
    assert [sign.kind for sign in signs] == ["revolute"] * 3
    assert [sign.frame for sign in signs if sign.support] == ["ground.A"]


def test_a_slide_on_the_ground_is_the_same_whoever_is_named_first():
    m = plain_slider_crank()
    n = bl.Model("turned round", plane="xz")
    slider = n.body("slider", mass=1)
    n.joint("prismatic", "slide", slider, n.ground, axis="x")
    assert of_kind(n, SlideFigure) == of_kind(m, SlideFigure)


def test_three_markers_make_a_plate_and_those_in_line_a_bar():
    m = bl.Model("plates")
    plate = m.body("plate", mass=1)
    for name, place in {"a": (0, 0, 0), "c": (1, 1, 0), "b": (1, 0, 0), "d": (0, 1, 0)}.items():
        plate.marker(name, place)
    bar = m.body("bar", mass=1)
    for name, x in {"end": 1.0, "start": 0.0, "middle": 0.4, "again": 0.4}.items():
        bar.marker(name, (x, 2 * x, 0))
    outline, line = of_kind(m, LineFigure)
    order = "".join(frame[-1] for frame, _ in outline.places) * 2
    assert outline.closed
    assert "abcd" in order or "dcba" in order
    assert not line.closed
    order = [frame for frame, _ in line.places]
    assert order in (
        ["bar.start", "bar.middle", "bar.end"],
        ["bar.end", "bar.middle", "bar.start"],
    )


def test_a_body_on_one_joint_shows_its_centre_of_mass():
    m = bl.Model("pendulum", plane="xz")
    bob = m.body("bob", mass=1, com=(0, 0, -0.5))
    m.joint("revolute", "A", m.ground, bob, axis="y")
    m.body("mote", mass=1)
    bob_line, mote = of_kind(m, LineFigure)
    assert bob_line.places == (("bob.A", (0.0, 0.0, 0.0)), ("bob", (0.0, 0.0, -0.5)))
    assert mote.places == (("mote", (0.0, 0.0, 0.0)),)


def test_springs_and_lengths_join_their_points():
    m = bl.Model("joined")
    a = m.body("a", mass=1)
    m.force("spring_damper", "spring", i=m.ground.at(1), j=a, stiffness=100)
    m.force("spring_damper", "damper", i=m.ground.at(2), j=a, damping=3)
    m.driver("distance", "winch", i=m.ground.at(0, 0, 3), j=a, law="1 + t")
    m.joint("distance", "tie", m.ground.at(0, 1), a.at(0, 0.5), length=0.5)
    found = {figure.name: figure.style for figure in of_kind(m, StrutFigure)}
    assert found == {"spring": "spring", "damper": "length", "winch": "length", "tie": "rod"}


def test_the_plane_of_a_model_is_that_of_its_pictures():
    assert bl.formulate(plain_slider_crank()).drawing.plane == "xz"
