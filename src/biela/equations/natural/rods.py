"""Two-point rods of a model: bodies between two balls, whose spin about their line is left out.

A body that hangs on two spherical joints spins about the line between them as it likes.  If its
mass is round about that line, nothing that others feel depends on the spin, and the body is two
points and one length:

    r = r₁ + α (r₂ - r₁),     |r₂ - r₁| = L,     T = ½ m |r_G'|² + ½ I |e x e'|²

(García de Jalón & Bayo 1994, §4.2.2.3).  Its frame turns by the shortest rotation from where it
was at the start to the direction e of the rod,

    R v = v + w x v + w x (w x v) / (1 + e₀ · e),     w = e₀ x e,

which is any of many only where the rod points back.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Final

import numpy as np

from biela.atoms import Atom, sqrt
from biela.equations.natural.bodies import NaturalBody, inverse3
from biela.equations.natural.entities import Floats, cross, dot
from biela.errors import ModelError
from biela.model import Model
from biela.model.element import Element
from biela.model.forces import SpringDamper
from biela.model.joints import Coupling, Joint, Spherical
from biela.model.markers import Marker
from biela.model.quantities.values import Value
from biela.singular_values import svd

#: What to write for all bodies that lose nothing by it.
TWO_POINT: Final = "two-point"
#: Mass beside the line, or not round about it, below this part of the whole is rounding.
_ROUND: Final = 1e-9


def two_point_rods(model: Model, wanted: str | Sequence[str] | None) -> frozenset[str]:
    """The bodies that become rods.

    Args:
        model: What was described.
        wanted: None for none; "two-point" for all whose motion, but for their spin, does not change
            by it; or names of bodies, whose second moment across their line is then taken as
            round: its mean.

    Raises:
        ModelError: A body that is named cannot be a rod; it says why.
    """
    if wanted is None:
        return frozenset()
    if model.plane is not None:
        raise ModelError(f"{model.name} is planar, in {model.plane}: rods are for models in space")
    if isinstance(wanted, str) and wanted != TWO_POINT:
        wanted = (wanted,)
    if isinstance(wanted, str):
        return frozenset(name for name in model.bodies if not _hindrance(model, name, exact=True))
    for name in wanted:
        if name not in model.bodies:
            known = ", ".join(model.bodies)
            raise ModelError(f"{model.name} has no body {name!r} for a rod; it has {known}")
        why = _hindrance(model, name, exact=False)
        if why:
            raise ModelError(f"{model.name}: body {name} cannot be a two-point rod: {why}")
    return frozenset(wanted)


def _hindrance(model: Model, name: str, exact: bool) -> str:
    """Why a body cannot be a rod; nothing if it can."""
    held = [j for j in model.joints.values() if isinstance(j, Joint) and _on(j, name)]
    if len(held) != 2 or not all(isinstance(joint, Spherical) for joint in held):
        kinds = ", ".join(f"{joint.name} ({joint.kind})" for joint in held) or "none"
        return f"it needs two spherical joints and no other; it has {kinds}"
    names = {joint.name for joint in held}
    for coupling in model.joints.values():
        if isinstance(coupling, Coupling) and any(
            c.partition(".")[0] in names for c in coupling.couples
        ):
            return f"{coupling.name} couples its joints"
    units = []
    for tried in (model, _changed(model)):
        ends = [_number(tried, _end(joint, name).position) for joint in held]
        size = float(np.linalg.norm(ends[1] - ends[0]))
        if not size > 1e-9:
            return "its two joints are in one point"
        units.append((ends[1] - ends[0]) / size)
        why = _uneven(tried, name, ends[0], units[-1], size, exact)
        if why:
            return why
    if float(np.abs(units[0] - units[1]).max()) > _ROUND:
        return "the direction of the line of its joints depends on parameters"
    elements: list[Element] = [
        *model.drivers.values(),
        *model.forces.values(),
        *model.sensors.values(),
    ]
    origin = _number(model, _end(held[0], name).position)
    reasons = (_needs_spin(model, e, name, names, origin, units[0]) for e in elements)
    return next((why for why in reasons if why), "")


def _changed(model: Model) -> Model:
    """The model with other values of its parameters."""
    found, random = copy(model), np.random.default_rng(0)
    given = {n: x * random.uniform(1.05, 1.2) for n, x in model.parameters.given.items()}
    found.parameters = model.parameters.changed(given, model.name)
    return found


def _uneven(model: Model, name: str, origin: Floats, unit: Floats, size: float, exact: bool) -> str:
    """Why the mass of a body is not that of a rod; nothing if it is."""
    inertia = model.bodies[name].inertia
    mass = model.number(inertia.mass, "mass")
    across = np.eye(3) - np.outer(unit, unit)
    arm = across @ (_number(model, inertia.com) - origin)
    if mass and float(np.linalg.norm(arm)) > _ROUND * size:
        return "its centre of mass is beside the line of its joints"
    xx, yy, zz, xy, xz, yz = (model.number(x, "inertia") for x in inertia.moments)
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    scale = max(float(np.abs(I).max()), mass * size**2)
    skewed = float(np.abs(across @ I @ unit).max()) > _ROUND * scale
    rest = across @ I @ across
    uneven = float(np.abs(rest - np.trace(rest) / 2 * across).max()) > _ROUND * scale
    if skewed or (exact and uneven):
        return "its mass is not round about the line of its joints"
    return ""


def _needs_spin(
    model: Model, element: Element, name: str, joints: set[str], origin: Floats, unit: Floats
) -> str:
    """Whether an element asks for more of a body than points on its line; why."""
    for setting, described in element.settings().items():
        dimension, value = described.metadata["dimension"], getattr(element, setting)
        if value is None:
            continue
        if dimension in ("coordinate", "joint") and str(value).partition(".")[0] in joints:
            return f"{element.name} asks for a joint of it"
        if dimension != "marker" or value.body != name:
            continue
        arm = _number(model, value.position) - origin
        beside = float(np.linalg.norm(arm - (arm @ unit) * unit)) > _ROUND
        if beside or not isinstance(element, SpringDamper):
            return (
                f"{element.name} acts on it, or looks at it, elsewhere than in points of its line"
            )
    return ""


def _on(joint: Joint, name: str) -> bool:
    return name in (joint.i.body, joint.j.body)


def _end(joint: Joint, name: str) -> Marker:
    return joint.i if joint.i.body == name else joint.j


def _number(model: Model, place: Sequence[Value]) -> Floats:
    return np.array([model.number(x, "length") for x in place])


def rod_body(
    name: str,
    origin: Sequence[Atom],
    arrow: Sequence[Atom],
    way: Sequence[Atom],
    unit: Floats,
    R: Floats,
) -> NaturalBody:
    """A body on one arrow, in a frame that turns the shortest way from where it starts.

    Args:
        name: Its name.
        origin: The components of its origin in the ground.
        arrow: Those of the arrow, which keeps its length.
        way: The arrow in the frame of the body.
        unit: Its direction there.
        R: The orientation of the body at the start.
    """
    ws = arrow[0].workspace
    sides = svd(unit[None])[2][1:]
    length = sqrt(dot(way, way))
    e = [x / length for x in arrow]
    first = [ws.atom(float(x)) for x in R @ unit]
    w, cosine = cross(first, e), dot(first, e)
    basis, local = [tuple(arrow)], [list(way)]
    for side in sides:
        t = [ws.atom(float(x)) for x in R @ side]
        once = cross(w, t)
        twice = cross(w, once)
        basis.append(
            tuple(a + b + c / (1 + cosine) for a, b, c in zip(t, once, twice, strict=True))
        )
        local.append([ws.atom(float(x)) for x in side])
    columns = [[local[j][i] for j in range(3)] for i in range(3)]
    return NaturalBody(name, tuple(origin), tuple(basis), inverse3(columns), 1)


def spread_across(ten: Sequence[Atom], way: Sequence[Atom]) -> Atom:
    """What the second moment across its line adds to the mass of a rod: ½ ∫ ρ_across² dm / L²."""
    xx, yy, zz, xy, xz, yz = ten[4:]
    x, y, z = way
    square = dot(way, way)
    along = x * x * xx + y * y * yy + z * z * zz + 2 * (x * y * xy + x * z * xz + y * z * yz)
    return (xx + yy + zz - along / square) / 2 / square
