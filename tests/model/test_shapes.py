"""Shapes: closed forms against Gauss quadrature over the solid, and against their own meshes."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biela.errors import ModelError
from biela.model.mass_properties import MassProperties
from biela.model.meshes.mesh import Mesh
from biela.model.quantities.units import quantity
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

L_OUTLINE = [(0, 0), (0.3, 0), (0.3, 0.1), (0.1, 0.1), (0.1, 0.2), (0, 0.2)]


def gauss(a, b, n=12):
    x, w = np.polynomial.legendre.leggauss(n)
    return (a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w


def swept(inner, outer, low, high):
    """Points and weights of the solid between two radii, functions of the height."""
    z, wz = gauss(low, high, 20)
    points, weights = [], []
    angle = np.arange(12) * np.pi / 6
    for height, wh in zip(z, wz, strict=True):
        r, wr = gauss(inner(height), outer(height))
        for a in angle:
            points.append(np.column_stack([r * np.cos(a), r * np.sin(a), np.full(len(r), height)]))
            weights.append(wh * wr * r * np.pi / 6)
    return np.concatenate(points), np.concatenate(weights)


def ball(a, b, c, low=-1.0, high=1.0):
    """The part of an ellipsoid between two heights, in parts of c."""
    mu, wmu = gauss(low, high)
    rho, wr = gauss(0, 1)
    points, weights = [], []
    for m, wm in zip(mu, wmu, strict=True):
        s = math.sqrt(1 - m * m)
        for angle in np.arange(12) * np.pi / 6:
            direction = np.array([a * s * math.cos(angle), b * s * math.sin(angle), c * m])
            points.append(rho[:, None] * direction)
            weights.append(wm * wr * rho**2 * np.pi / 6 * a * b * c)
    return np.concatenate(points), np.concatenate(weights)


def cuboid(low, high):
    axes = [gauss(a, b, 3) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*[x for x, _ in axes]), axis=-1).reshape(-1, 3)
    return points, np.prod(np.meshgrid(*[w for _, w in axes]), axis=0).ravel()


def together(*parts):
    return np.concatenate([p for p, _ in parts]), np.concatenate([w for _, w in parts])


def capsule_points(r, l):
    def shifted(part, by):
        return part[0] + np.array([0, 0, by]), part[1]

    return together(
        swept(lambda z: 0, lambda z: r, -l / 2, l / 2),
        shifted(ball(r, r, r, 0, 1), l / 2),
        shifted(ball(r, r, r, -1, 0), -l / 2),
    )


def cone_points(a, b, l):
    return swept(lambda z: 0, lambda z: a + (b - a) * (z / l + 0.5), -l / 2, l / 2)


CASES = {
    "box": (Box((0.1, 0.2, 0.4)), cuboid((-0.05, -0.1, -0.2), (0.05, 0.1, 0.2))),
    "cylinder": (Cylinder(0.1, 0.5), swept(lambda z: 0, lambda z: 0.1, -0.25, 0.25)),
    "tube": (Tube(0.1, 0.07, 0.5), swept(lambda z: 0.07, lambda z: 0.1, -0.25, 0.25)),
    "sphere": (Sphere(0.3), ball(0.3, 0.3, 0.3)),
    "ellipsoid": (Ellipsoid((0.3, 0.2, 0.1)), ball(0.3, 0.2, 0.1)),
    "capsule": (Capsule(0.1, 0.4), capsule_points(0.1, 0.4)),
    "frustum": (Cone(0.3, 0.1, 0.5), cone_points(0.3, 0.1, 0.5)),
    "cone": (Cone(0.3, 0, 0.5), cone_points(0.3, 0, 0.5)),
    "cone on its tip": (Cone(0, 0.3, 0.5), cone_points(0, 0.3, 0.5)),
    "plate": (
        Plate(L_OUTLINE, 0.02),
        together(
            cuboid((0, 0, -0.01), (0.3, 0.1, 0.01)), cuboid((0, 0.1, -0.01), (0.1, 0.2, 0.01))
        ),
    ),
}


def posed(shape: Shape, **more) -> Shape:
    return replace(shape, **more)


def agree(a: MassProperties, b: MassProperties, rel: float) -> None:
    assert a.mass == pytest.approx(b.mass, rel=rel)
    assert a.com == pytest.approx(b.com, abs=rel)
    assert a.inertia == pytest.approx(b.inertia, abs=rel * np.abs(b.inertia).max())


@pytest.mark.parametrize("name", CASES)
def test_closed_forms_are_the_integrals_over_the_solid(name):
    shape, (points, weights) = CASES[name]
    assert shape.volume == pytest.approx(weights.sum(), rel=1e-12)
    rng = np.random.default_rng(7)
    p, R = rng.normal(size=3), Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    solid = posed(shape, position=p, rotation=R, density=2700.0)
    integrals = MassProperties.of_points(2700.0 * weights, points @ R.T + p)
    agree(solid.mass_properties(), integrals, 1e-11)


@pytest.mark.parametrize("name", CASES)
def test_a_mass_spreads_like_a_density(name):
    shape, _ = CASES[name]
    by_density = posed(shape, density=500.0).mass_properties()
    agree(posed(shape, mass=500.0 * shape.volume).mass_properties(), by_density, 1e-13)


@pytest.mark.parametrize("name", CASES)
def test_surfaces_are_closed_and_approach_the_solid(name):
    shape, _ = CASES[name]
    exact = posed(shape, density=1000.0).mass_properties()
    errors = []
    for sides in (24, 48):
        mesh = shape.surface(sides)
        assert mesh.is_closed
        found = mesh.mass_properties(1000.0)
        assert found.mass <= exact.mass * (1 + 1e-12)  # corners on the surface
        errors.append(1 - found.mass / exact.mass)
    if name in ("box", "plate"):
        agree(found, exact, 1e-12)
    else:
        assert errors[1] < 0.01
        assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)  # second order in the angle


def test_a_mesh_shape_weighs_what_its_mesh_does():
    mesh = Cone(0.3, 0.1, 0.5).surface(12)
    shape = MeshShape(mesh, position=(1, 2, 3), density=10.0)
    agree(shape.mass_properties(), mesh.mass_properties(10.0).moved((1, 2, 3)), 1e-12)


def test_a_rod_is_a_line_of_mass():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([1.0, -1.0, 0.5])
    rod = Rod(start, end, mass=3.0)
    s, w = gauss(0, 1, 4)
    agree(
        rod.mass_properties(),
        MassProperties.of_points(3 * w, start + s[:, None] * (end - start)),
        1e-12,
    )
    # and the limit of thin cylinders
    thin = Rod((0, 0, -1), (0, 0, 1), 1e-5, density=1000.0).mass_properties()
    agree(thin, Cylinder(1e-5, 2.0, density=1000.0).mass_properties(), 1e-9)
    assert Rod((0, 0, 0), (1, 2, 3), 0.01).surface(200).volume == pytest.approx(
        math.pi * 1e-4 * math.sqrt(14), rel=1e-3
    )


def test_a_clockwise_outline_is_the_same_plate():
    one = Plate(L_OUTLINE, 0.02, density=1.0).mass_properties()
    agree(Plate(L_OUTLINE[::-1], 0.02, density=1.0).mass_properties(), one, 1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_plates_of_star_outlines_weigh_what_their_meshes_do(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 15))
    radii = rng.uniform(0.1, 1, 15)
    plate = Plate(np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]), 0.1, density=1)
    mesh = plate.surface()
    assert mesh.is_closed
    agree(mesh.mass_properties(1.0), plate.mass_properties(), 1e-12)
    # the mesh of a simple outline has its area, which a wrong cut would exceed
    assert mesh.area == pytest.approx(
        2 * plate.volume / 0.1
        + 0.1
        * np.linalg.norm(np.diff(plate.corners, axis=0, append=plate.corners[:1]), axis=1).sum(),
        rel=1e-12,
    )


def test_outlines_are_plain_data_with_all_that_drawing_needs():
    shapes = [shape for shape, _ in CASES.values()]
    shapes += [Rod((0, 0, 0), (1, 0, 0)), MeshShape(Box((1, 1, 1)).surface())]
    assert {shape.kind for shape in shapes} == set(SHAPES)
    for shape in shapes:
        data = json.loads(json.dumps(shape.outline()))
        assert SHAPES[data["kind"]] is type(shape)
        assert np.shape(data["position"]) == (3,)
        assert np.shape(data["rotation"]) == (3, 3)
        if "faces" in data:
            assert Mesh(data["vertices"], data["faces"]).is_closed
        else:
            assert data["kind"] in ("box", "cylinder", "sphere", "rod")
    assert Cylinder(0.1, 0.5).outline()["radius"] == 0.1
    assert Box((1, 2, 3)).outline()["size"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Box((1, 0, 1)), "positive"),
        (lambda: Box((1, 1)), "three finite numbers"),
        (lambda: Cylinder(-1, 1), "radius of a cylinder must be positive, not -1"),
        (lambda: Cylinder(1, math.nan), "length of a cylinder"),
        (lambda: Cylinder("-1 mm", 1).measured(quantity), "radius of a cylinder"),
        (lambda: Tube(0.1, 0.2, 1), "inner radius"),
        (lambda: Cone(0, 0, 1), "one of the radii"),
        (lambda: Ellipsoid((1, 1, -1)), "positive"),
        (lambda: Rod((1, 1, 1), (1, 1, 1)), "must not end where it starts"),
        (lambda: Rod((0, 0, 0), (1, 1, 1), density=1), "needs a radius"),
        (lambda: Sphere(1, density=1, mass=1), "not both"),
        (lambda: Sphere(1, density=-1), "density of a sphere must be zero or positive"),
        (lambda: Sphere(1, rotation=np.ones((3, 3))), "orthonormal"),
        (lambda: Sphere(1).mass_properties(), "needs a density or a mass"),
        (lambda: Plate([(0, 0), (1, 1), (1, 0), (0, 1)], 1), "cross itself"),
        (lambda: Plate([(0, 0), (1, 0), (1, 0), (0, 1)], 1), "cross itself"),
        (lambda: Plate([(0, 0), (2, 0), (1, 0)], 1), "cross itself"),
        (lambda: Plate([(0, 0), (2, 0), (2, 2), (1, 0), (0, 2)], 1), "cross itself"),
        (lambda: Plate([(0, 0), (1, 0)], 1), "at least three"),
        (lambda: MeshShape("part.stl"), "read_mesh"),
    ],
)
def test_shapes_that_are_none_are_refused(make, says):
    with pytest.raises(ModelError, match=says):
        make()
