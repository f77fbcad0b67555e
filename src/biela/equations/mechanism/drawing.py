"""How a mechanism is drawn: bodies by their shapes, or by lines between their markers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.equations.figures import (
    BallFigure,
    Figure,
    JointFigure,
    LineFigure,
    SlideFigure,
    SolidFigure,
    StrutFigure,
)
from biela.equations.system import Drawing, System
from biela.model import Model
from biela.model.bodies import GROUND, Body
from biela.model.drivers import DistanceDriver
from biela.model.forces import SpringDamper
from biela.model.joints import (
    Cylindrical,
    Distance,
    Helical,
    Joint,
    PointOnLine,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from biela.model.shapes import Rod, Shape, Sphere
from biela.singular_values import svd

Floats = npt.NDArray[np.float64]

#: Sides of round shapes in pictures: of slender ones, and of others.
_FEW: Final = 12
_MANY: Final = 24
#: Slender is what is thinner than this part of the largest shape.
_SLENDER: Final = 0.08
#: Places nearer than this part of the size of a body are one.
_SAME: Final = 1e-6

_SIGNS: Final[dict[type[Joint], str]] = {
    Revolute: "revolute",
    Spherical: "spherical",
    Universal: "spherical",
}
_SLIDES: Final = (Prismatic, Cylindrical, Helical, PointOnLine)


def drawn(model: Model, system: System) -> System:
    """The system with the figures of the bodies and joints of its model."""
    points = () if system.drawing is None else system.drawing.points
    return replace(system, drawing=Drawing(points, (), tuple(figures(model)), model.plane or ""))


def figures(model: Model) -> Iterator[Figure]:
    """What is drawn of a model without parts."""
    slides = list(_slides(model))
    bodies = (model.ground, *model.bodies.values())
    shapes = {body.name: [s.measured(model.number) for s in body.shapes] for body in bodies}
    widths = [_widths(shape) for own in shapes.values() for shape in own]
    largest = max((float(width[2]) for width in widths), default=0.0)
    for body in bodies:
        yield from _solids(body, shapes[body.name], _SLENDER * largest)
    guides = {slide.guide for slide in slides}
    blocks = {slide.block for slide in slides}
    for body in model.bodies.values():
        if not body.shapes:
            yield from _lines(model, body, body.name in guides, body.name in blocks)
    yield from slides
    yield from _struts(model)
    yield from _signs(model)


def _widths(shape: Shape) -> Floats:
    """How wide a shape is along its principal axes, the least first."""
    vertices = shape.surface(_FEW).vertices
    offsets = vertices - vertices.mean(axis=0)
    _, axes = np.linalg.eigh(offsets.T @ offsets)
    return np.sort(np.ptp(offsets @ axes, axis=0))


def _solids(body: Body, shapes: Sequence[Shape], slender: float) -> Iterator[Figure]:
    """The shapes of a body in its frame."""
    for shape in shapes:
        R, place = np.asarray(shape.rotation), np.asarray(shape.position)
        if isinstance(shape, Sphere):
            x, y, z = (float(c) for c in place)
            yield BallFigure(body.name, (x, y, z), shape.radius)
        elif isinstance(shape, Rod) and not shape.radius:
            ends = np.stack([np.asarray(shape.start), np.asarray(shape.end)]) @ R.T + place
            yield LineFigure(body.name, tuple((body.name, _triple(end)) for end in ends))
        else:
            sides = _FEW if _widths(shape)[1] < slender else _MANY
            surface = shape.surface(sides).moved(place, R)
            yield SolidFigure(body.name, surface.vertices, surface.triangles)


def _lines(model: Model, body: Body, guide: bool, block: bool) -> Iterator[Figure]:
    """A body without shapes, by its markers."""
    places: dict[str, Floats] = {}
    centre = np.array([model.number(x, "length") for x in body.inertia.com])
    found = {
        marker.label: np.array([model.number(x, "length") for x in marker.position])
        for marker in body.markers.values()
    }
    size = max((float(np.abs(p - centre).max()) for p in found.values()), default=0.0)
    for label, place in found.items():
        if all(np.abs(place - other).max() > _SAME * size for other in places.values()):
            places[label] = place
    origin = (0.0, 0.0, 0.0)
    if len(places) > 1:
        order, closed = _outline(np.array(list(places.values())))
        labels = list(places)
        yield LineFigure(body.name, tuple((labels[k], origin) for k in order), closed)
    elif block or guide:
        return  # which is drawn with the slide
    elif not places:
        yield LineFigure(body.name, ((body.name, _triple(centre)),))
    else:
        (label,) = places
        ends = ((label, origin), (body.name, _triple(centre)))
        # a body that is all in one point is a dot
        yield LineFigure(body.name, ends if size > 0 else ends[:1])


def _outline(places: Floats) -> tuple[list[int], bool]:
    """The order in which a line runs through places (n, 3), and whether it is closed.

    Around their middle in the plane that lies best between them, or along the line they are on.
    """
    offsets = places - places.mean(axis=0)
    _, sizes, axes = svd(offsets, full_matrices=True)
    along = offsets @ axes.T
    if len(places) < 3 or sizes[1] < 1e-3 * sizes[0]:
        return [int(k) for k in np.argsort(along[:, 0], kind="stable")], False
    angles = np.arctan2(along[:, 1], along[:, 0])
    return [int(k) for k in np.argsort(angles, kind="stable")], True


def _slides(model: Model) -> Iterator[SlideFigure]:
    for joint in model.joints.values():
        if not isinstance(joint, _SLIDES):
            continue
        i, j = joint.i, joint.j
        if j.body == GROUND and not isinstance(joint, PointOnLine):
            i, j = j, i  # the guide rests, whoever is named first
        guide = i.body if not model.find_body(i.body).shapes else ""
        block = j.body if j.body != GROUND and not model.find_body(j.body).shapes else ""
        if isinstance(joint, PointOnLine):
            block = ""  # it is a ball that may turn
        if guide or block:
            yield SlideFigure(i.label, j.label, guide, block)


def _struts(model: Model) -> Iterator[StrutFigure]:
    """What joins two points and is no body."""
    for joint in model.joints.values():
        if isinstance(joint, Distance):
            yield StrutFigure(joint.name, joint.i.label, joint.j.label, "rod")
    for force in model.forces.values():
        if isinstance(force, SpringDamper):
            stiff = force.stiffness != 0 or len(force.characteristic)
            style = "spring" if stiff else "length"
            yield StrutFigure(force.name, force.i.label, force.j.label, style)
    for driver in model.drivers.values():
        if isinstance(driver, DistanceDriver):
            yield StrutFigure(driver.name, driver.i.label, driver.j.label, "length")


def _signs(model: Model) -> Iterator[JointFigure]:
    for joint in model.joints.values():
        kind = next((sign for cls, sign in _SIGNS.items() if isinstance(joint, cls)), "")
        if kind and isinstance(joint, Joint):
            in_ground = [m for m in (joint.i, joint.j) if m.body == GROUND]
            frame = (in_ground or [joint.i])[0].label
            yield JointFigure(kind, frame, bool(in_ground) and not model.ground.shapes)


def _triple(place: Floats) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in place)
    return x, y, z
