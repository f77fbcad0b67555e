"""The equations of a model in chosen coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from biela.code import Function
from biela.equations import joint_coordinates, reference_point
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.mechanism.drawing import drawn
from biela.equations.system import LazyFunctions, Quantity, System
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Coupling, Joint

#: How bodies may be placed, by name.
COORDINATES: Final[Mapping[str, Callable[[Model], MechanismDerivation]]] = {
    "joint": joint_coordinates.placed,
    "reference": reference_point.placed,
    "euler": reference_point.placed_with_rates,
}


def formulate(model: Model, coordinates: str = "joint") -> System:
    """The equations of a model.

    Args:
        model: What a person described.
        coordinates: "joint" for those of the joints, along a tree (few, and what one measures), or
            "reference" for a point and an orientation of every body (many, and sparse), or
            "euler" for the same with the rates of Euler parameters as velocities.

    Returns:
        A system that every analysis takes.  Its coordinates are called "joint.coordinate", or
        "body.rx" …; its frames are the bodies and markers of the model.

    Raises:
        ModelError: There are no such coordinates, or the model cannot be.
    """
    if coordinates not in COORDINATES:
        raise ModelError(
            f"{coordinates!r} are not coordinates that biela knows; choose one of "
            f"{', '.join(COORDINATES)}"
        )
    if not model.bodies and not model.parts:
        raise ModelError(f"{model.name} has no bodies: add one with body(…)")
    whole = model.flattened() if model.parts else model
    derivation = COORDINATES[coordinates](whole)
    for joint in whole.joints.values():
        if isinstance(joint, Coupling):
            derivation.hold_coupling(joint)
    for driver in whole.drivers.values():
        derivation.hold(driver.name, driver.rows(derivation), None, f"driver {driver.name}")
    for force in whole.forces.values():
        force.act(derivation)
    for sensor in whole.sensors.values():
        sensor.read(derivation)
    wishes = _start(derivation)
    return replace(_finished(derivation), wishes=wishes)


def _start(derivation: MechanismDerivation) -> tuple[int, int]:
    """Coordinates and rates that were given at the start, for joints that close loops too.

    Returns how many of them became conditions, of positions and of velocities.
    """
    places = speeds = 0
    system, model = derivation.system, derivation.model
    symbols = {q.name for q in system.q}
    for joint in model.joints.values():
        if not isinstance(joint, Joint):
            continue
        pair = derivation.pair(joint.i, joint.j)
        for coordinate in joint.coordinates:
            full = f"{joint.name}.{coordinate.name}"
            q = derivation.coordinates.get(full)
            dimension = {"rad": "angle", "m": "length"}.get(coordinate.unit, "any")
            given = joint.start.get(coordinate.name)
            if given is not None:
                value = model.number(given, dimension)
                if q is not None and q.name in symbols:
                    system.start({q: value})
                elif coordinate.reading is not None:
                    zero = system.workspace.atom(0)
                    target = system.workspace.atom(value)
                    row = coordinate.reading.row(pair, target, zero).value
                    if row.value is None:
                        system.initial(row)
                        places += 1
            if q is not None and coordinate.name in joint.limits:
                low, high = (model.number(x, dimension) for x in joint.limits[coordinate.name])
                system.limits(q, low, high)
            speed = joint.rates.get(coordinate.name)
            if speed is not None:
                value = model.number(speed, "any")
                if q is not None and q.name in symbols:
                    system.start({q.velocity: value})
                elif coordinate.reading is not None:
                    system.initial_velocity(coordinate.reading.rate(pair) - value)
                    speeds += 1
    return places, speeds


def _finished(derivation: MechanismDerivation) -> System:
    """The system, with the names that people know."""
    source, model = derivation.system, derivation.model
    for name in model.bodies:
        place = derivation.bodies[name]
        source.frame(name, place.point, place.base)
    for body in (model.ground, *model.bodies.values()):
        for marker in body.markers.values():
            place = derivation.place(marker)
            source.frame(marker.label, place.point, place.base)
    system = source.equations().system
    names = derivation.names
    given = {
        f"{joint.name}.{name}"
        for joint in model.joints.values()
        if isinstance(joint, Joint)
        for name in joint.start
    }

    def renamed(entry: Quantity, held: bool) -> Quantity:
        name = names.get(entry.name, entry.name)
        return replace(entry, name=name, given=name in given if held else entry.given)

    measured = {entry.name: entry for entry in derivation.measured}
    system = replace(
        system,
        q=tuple(renamed(entry, True) for entry in system.q),
        v=tuple(renamed(entry, False) for entry in system.v),
        u=tuple(
            replace(
                entry,
                name=names.get(entry.name, entry.name),
                unit=derivation.input_units.get(entry.name, ""),
            )
            for entry in system.u
        ),
        y=tuple(
            replace(entry, unit=measured[entry.name].unit, rate=measured[entry.name].rate or "")
            for entry in system.y
        ),
        multipliers=tuple(names.get(name, name) for name in system.multipliers),
        quaternions=tuple(
            k
            for k, entry in enumerate(system.q)
            if names.get(entry.name, entry.name).endswith("e0")
        ),
    )
    return drawn(model, _with_sides(derivation, system))


def _with_sides(derivation: MechanismDerivation, system: System) -> System:
    """The system with what tells angles that are read from those half a turn off."""
    if not derivation.sides:
        return system

    def sides() -> Function:
        return derivation.system.function("sides", {"sides": list(derivation.sides.values())})

    kept = {name: partial(system.functions.__getitem__, name) for name in system.functions}
    functions = LazyFunctions({}, {**kept, "sides": sides})
    return replace(system, sides=tuple(derivation.sides), functions=functions)
