"""Groups in natural coordinates: points and unit vectors that the bodies share at their joints.

A pin between two bodies is one point of both and needs no equation; on a known body or the ground
it is no unknown either.  A body in a plane has two basic points or a unit vector, a body in space
a point and two vectors, a rod between balls two points; all else of it is a linear expression of
these (García de Jalón & Bayo 1994; Miralles 2018, ch. 2 and §3.2).  Equations are those of the
source, without a division:

    |P₂ - P₁|² - L² = 0,     u · u - 1 = 0,     a · b - k = 0

so that a tolerance bounds squares of lengths (m²): the error of a place at the end of a bar of
length L is the tolerance divided by 2 L, and more near a dead point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from biela.equations.blocks.populations import Floats, Frames
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.natural_joints import NaturalDerivation
from biela.equations.groups.natural_laying import Laying
from biela.equations.groups.natural_spanning import Third
from biela.equations.groups.natural_transport import coupled_coordinates
from biela.equations.groups.natural_vectors import Triple, difference, dot
from biela.equations.groups.placing import driven_coordinates
from biela.errors import ModelError

__all__ = ["Slider", "natural_group"]

#: A body that slides on a known one: its points alone, or with a second point on the axis.
Slider: TypeAlias = Literal["one_point", "two_points"]


def natural_group(
    cast: Cast,
    poses: Poses,
    *,
    mixed: bool = False,
    coordinates: Sequence[str] = (),
    slider: Slider = "one_point",
    third: Third = "product",
) -> GroupDerivation:
    """The bodies of a group placed by points and unit vectors.

    Args:
        cast: All groups of a kind.
        poses: Where the model is, to choose what is independent and to start from.
        mixed: Also the displacements of slides, and coordinates that drivers and couplings name,
            as unknowns ("mixed" coordinates).
        coordinates: Further coordinates of joints that become unknowns, as "joint.coordinate" with
            names of the first instance.
        slider: "two_points" gives a body that slides on a known one a second point on the axis and
            its distance, as the source counts its spatial slider; the motion is the same.
        third: Of a body in space written in two vectors that move, the third one: their product,
            which makes its points quadratic in the unknowns, or three unknowns more, which keeps
            all linear.

    Raises:
        ModelError: A coordinate is asked for that no joint of the group has.
    """
    derivation = Laying(cast, poses, third).derivation
    _strut_distances(derivation)
    asked = [_found(cast, name) for name in coordinates]
    if mixed:
        asked += _slides(derivation) + _named(derivation)
    for number, coordinate in dict.fromkeys(asked):
        _add_coordinate(derivation, number, coordinate)
    if slider == "two_points":
        _add_second_points(derivation)
    return derivation


def _strut_distances(derivation: NaturalDerivation) -> None:
    """Slides along rods, which have no directions across: all of r_j - r_i - s u = 0."""
    for number, element in derivation.cast.joints():
        slots = [m.slot for m in element.markers]
        along = [s >= 0 and derivation.orientation[s].rod for s in slots]
        if element.joint.kind not in ("prismatic", "cylindrical") or not all(along):
            continue
        if number in derivation.kept_ways:
            continue
        derivation.axis_distances.add(number)
        if (number, "displacement") not in derivation.coordinates:
            derivation.joint_unknown(number, "displacement")


def _found(cast: Cast, name: str) -> tuple[int, str]:
    joint, _, coordinate = name.rpartition(".")
    for number, element in cast.joints():
        for described in element.joint.coordinates:
            if element.names[0] == joint and described.name == coordinate and described.reading:
                return number, coordinate
    raise ModelError(
        f"the group of {', '.join(cast.example.bodies)} has no coordinate {name!r}; name it as "
        f'"joint.coordinate" of one of its joints '
        f"({', '.join(e.names[0] for _, e in cast.joints())})"
    )


def _slides(derivation: NaturalDerivation) -> list[tuple[int, str]]:
    kinds = ("prismatic", "cylindrical")
    return [(n, "displacement") for n, e in derivation.cast.joints() if e.joint.kind in kinds]


def _named(derivation: NaturalDerivation) -> list[tuple[int, str]]:
    """Coordinates that drivers and couplings name, if they can be read."""
    every = [*driven_coordinates(derivation), *coupled_coordinates(derivation)]
    readings = {
        (n, c.name): c.reading for n, e in derivation.cast.joints() for c in e.joint.coordinates
    }
    return [key for key in every if readings[key] is not None]


def _add_coordinate(derivation: NaturalDerivation, number: int, name: str) -> None:
    """A coordinate of a joint as an unknown, with the row by which it is read."""
    if (number, name) in derivation.coordinates:
        return
    with derivation.element(number) as cast:
        joint = cast.joint
        (described,) = (c for c in joint.coordinates if c.name == name)
        assert described.reading is not None
        pair = derivation.pair(joint.i, joint.j)
        symbol = derivation.joint_unknown(number, name)
        row = described.reading.row(pair, symbol, symbol.velocity)
    derivation.hold(f"{cast.label}.{name}", row.value)


def _add_second_points(derivation: NaturalDerivation) -> None:
    """A second point D on the axis of bodies that slide on known ones (NAT8 of the source's count).

    |D - C|² = l², D on the line, t = (D - r₀) · e, with C the point by which the body is placed.
    """
    for number, element in derivation.cast.joints():
        slots = [m.slot for m in element.markers]
        if element.joint.kind != "prismatic" or min(slots) >= 0:
            continue
        if number in derivation.kept_ways:
            continue
        own, base = (0, 1) if slots[0] >= 0 else (1, 0)
        marker = element.markers[own]
        C, at = derivation.anchors[marker.slot]
        z = marker.frames.axes[:, :, 2]
        place = derivation.in_plane(marker.frames.place) + _reach(derivation)[:, None] * z
        bodies = derivation.cast.bodies[:, marker.slot]
        name = f"{element.label}.second"
        k = derivation.points.add(marker.slot, bodies, place, name)
        spot = derivation.points.nodes[k]
        D = derivation.spot_unknowns(name, spot, direction=False)
        derivation.at[k] = D
        length = derivation.factor(np.square(place - at).sum(axis=1))
        gap = difference(D, C)
        derivation.hold(f"{name}.length", dot(gap, gap) - length)
        from_base = difference(D, derivation.marker_point(number, base))
        for label, across in _across(derivation, number, base):
            derivation.hold(f"{name}.{label}", dot(across, from_base))
        e = derivation.marker_axis(number, base)
        start = partial(_distance_along, element.markers[base].frames, spot.frames)
        t = derivation.unknown(f"{name}.distance", start)
        derivation.hold(f"{name}.distance", t - dot(from_base, e))


def _distance_along(base: Frames, point: Frames, poses: Poses) -> Floats:
    """How far points are along the z axes of frames."""
    (r0, R0), (r, _) = poses.of(base), poses.of(point)
    found: Floats = np.einsum("ni,ni->n", r - r0, R0[:, :, 2])
    return found


def _across(derivation: NaturalDerivation, number: int, base: int) -> Iterator[tuple[str, Triple]]:
    if derivation.plane is not None:
        yield "line", derivation.perpendicular(derivation.marker_axis(number, base))
    else:
        yield "along_x", derivation.marker_axis(number, base, 0)
        yield "along_y", derivation.marker_axis(number, base, 1)


def _reach(derivation: NaturalDerivation) -> Floats:
    """How far apart the two points are: as the joints of the largest body of the group."""
    cast = derivation.cast
    reach = np.zeros(cast.count)
    for slot in range(cast.size):
        places = [m.frames.place for _, e in cast.joints() for m in e.markers if m.slot == slot]
        for a in places:
            reach = np.maximum(reach, np.linalg.norm(a - places[0], axis=1))
    return np.where(reach > 0, reach, 1.0)
