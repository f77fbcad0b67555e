"""What smells in a model: lengths of 120 m, angles of 90 rad, names that differ by a hyphen.

Nothing of it is an error: each finding says what was found and what may have been meant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress

from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND, Body
from biela.model.coordinate_names import full_name
from biela.model.drivers import Cosine
from biela.model.drivers.joint_driver import JointDriver
from biela.model.joints import Fixed, Joint
from biela.model.quantities.values import Value
from biela.model.topology.planarity import PLANES

__all__ = [
    "bodies_without_mass",
    "driven_twice",
    "driver_smells",
    "name_smells",
    "parallel_joints",
    "unit_smells",
]

#: A plain number for a length above this was probably meant in mm (m).
LONG = 50.0
#: One for an angle above this probably in degrees (rad).
WIDE = 6.5
#: Radius of gyration against the size of a body above which the inertia is not believed.
_SPREAD = 20.0


def unit_smells(model: Model) -> Iterator[str]:
    """Plain numbers that look as if a unit had been forgotten; those with a unit are believed."""
    for label, values in _lengths(model):
        far = max((abs(v) for v in values if isinstance(v, float)), default=0.0)
        if far > LONG:
            yield f'{label} is {far:g} m away: if mm were meant, write "{far:g} mm"'
    for joint in model.joints.values():
        if not isinstance(joint, Joint):
            continue
        angles = {c.name for c in joint.coordinates if c.unit == "rad"}
        given = [*joint.start.items(), *((n, v) for n, pair in joint.limits.items() for v in pair)]
        for name, value in given:
            if name in angles and isinstance(value, int | float) and abs(value) > WIDE:
                yield (
                    f"{joint.name}.{name} = {value:g} rad is more than a turn: if degrees were "
                    f'meant, write "{value:g} deg"'
                )
    for body in model.bodies.values():
        yield from _inertia_smell(model, body)
    for part in model.parts.values():
        for text in unit_smells(part.model):
            yield f"{part.name}: {text}"


def driven_twice(model: Model) -> Iterator[str]:
    """Coordinates that more than one driver sets."""
    drivers: dict[str, list[str]] = defaultdict(list)
    for driver in model.drivers.values():
        if isinstance(driver, JointDriver):
            name = driver.coordinate
            with suppress(ModelError):  # what is none is told by the equations
                name = full_name(model, name) or name
            drivers[name].append(driver.name)
    for coordinate, names in drivers.items():
        if len(names) > 1:
            yield f"{coordinate} is driven by {' and '.join(names)}: leave one of them"
    for part in model.parts.values():
        for text in driven_twice(part.model):
            yield f"{part.name}: {text}"


def driver_smells(model: Model) -> Iterator[str]:
    """Drivers that are singular in some positions, and what to use in their place."""
    for driver in model.drivers.values():
        if not isinstance(driver, Cosine):
            continue
        ends = {driver.i.body, driver.j.body}
        hinges = [
            f"{joint.name}.{c.name}"
            for joint in model.joints.values()
            if isinstance(joint, Joint) and {joint.i.body, joint.j.body} == ends
            for c in joint.coordinates
            if c.unit == "rad"
        ]
        instead = f' of {hinges[0]}, kind = "rotary"' if hinges else ' of a joint, kind = "rotary"'
        yield (
            f"driver {driver.name} sets the cosine of an angle: it is singular where the angle is "
            f"a multiple of 180 deg, and the mechanism may run backwards from there; use a driver"
            f"{instead}"
        )


def _lengths(model: Model) -> Iterator[tuple[str, Iterable[Value]]]:
    for body in (model.ground, *model.bodies.values()):
        for marker in body.markers.values():
            yield f"marker {marker.label}", marker.position
        if body.position is not None:
            yield f"body {body.name}", body.position
        yield f"the centre of mass of {body.name}", body.inertia.com


def _inertia_smell(model: Model, body: Body) -> Iterator[str]:
    mass = model.number(body.inertia.mass, "mass")
    size = max(
        (abs(model.number(x, "length")) for m in body.markers.values() for x in m.position),
        default=0.0,
    )
    moment = max(model.number(x, "inertia") for x in body.inertia.moments[:3])
    if mass > 0 and size > 0 and moment > 0 and (moment / mass) ** 0.5 > _SPREAD * size:
        yield (
            f"body {body.name} of {mass:g} kg has a radius of gyration of "
            f"{(moment / mass) ** 0.5:.3g} m, but its markers lie within {size:.3g} m: if the "
            f"inertia is in kg mm², write it so"
        )


def bodies_without_mass(model: Model) -> list[str]:
    """Names of bodies without mass that move by themselves; of arrays as "cell[…].crank".

    One that is fixed to another moves with it, as the tool frame of a robot does.
    """
    bodies = model.bodies.values()
    carried = {b.name for b in bodies if model.number(b.inertia.mass, "mass") > 0} | {GROUND}
    welds = [(w.i.body, w.j.body) for w in model.joints.values() if isinstance(w, Fixed)]
    while more := {n for w in welds if carried.intersection(w) for n in w} - carried:
        carried |= more
    found = [b.name for b in bodies if b.name not in carried]
    for part in model.parts.values():
        prefix = f"{part.name}." if part.count is None else f"{part.name}[…]."
        found += [prefix + name for name in bodies_without_mass(part.model)]
    return found


def name_smells(model: Model) -> Iterator[str]:
    """Names that are hard to tell apart, or become one in generated code."""
    plain: dict[str, list[str]] = defaultdict(list)
    tables = (model.bodies, model.joints, model.drivers, model.forces, model.sensors, model.parts)
    for table in tables:
        for name in table:
            plain["".join(c for c in name.lower() if c.isalnum())].append(name)
    for names in plain.values():
        if len(names) > 1:
            yield f"{' and '.join(names)} are hard to tell apart"
    for part in model.parts.values():
        for text in name_smells(part.model):
            yield f"{part.name}: {text}"


def parallel_joints(model: Model) -> Iterator[str]:
    """Joints that can each carry a body and join the same two."""
    between: dict[frozenset[str], list[str]] = defaultdict(list)
    for joint in model.joints.values():
        if isinstance(joint, Joint) and joint.carries:
            between[frozenset((joint.i.body, joint.j.body))].append(joint.name)
    for bodies, names in between.items():
        if len(names) > 1:
            yield f"{', '.join(names)} join the same two bodies, {' and '.join(sorted(bodies))}"


def gravity_across(model: Model) -> str:
    """What to say of gravity that has no effect in the plane of the model; else nothing."""
    if model.plane is None:
        return ""
    k = PLANES[model.plane]
    across = model.number(model.gravity[k], "acceleration")
    if across == 0:
        return ""
    return (
        f"gravity has {across:g} m/s² along {'xyz'[k]}, across the {model.plane} plane of the "
        f"model, where it moves nothing"
    )
