"""The equations of a model in chosen coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from biela.atoms import Atom
from biela.code import Function
from biela.doors import door
from biela.equations import joint_coordinates, reference_point
from biela.equations.elements import derive_elements
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.mechanism.drawing import drawn
from biela.equations.model_start import ModelStart, as_described, carrying
from biela.equations.natural.laying import Laying
from biela.equations.natural.placed import placed as naturally_placed
from biela.equations.system import LazyFunctions, Quantity, System
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Coordinate, Coupling, Joint
from biela.model.quantities.conjugate import dimension_along

#: How bodies may be placed, by name.
COORDINATES: Final[Mapping[str, Callable[[Model], MechanismDerivation]]] = {
    "joint": joint_coordinates.placed,
    "reference": reference_point.placed,
    "euler": reference_point.placed_with_rates,
    "natural": naturally_placed,
}


@door(ModelError)
def formulate(
    model: Model, coordinates: str = "joint", *, rods: str | Sequence[str] | None = None
) -> System:
    """The equations of a model.

    Args:
        model: What a person described.
        coordinates: "joint" for those of the joints, along a tree (few, and what one measures), or
            "reference" for a point and an orientation of every body (many, and sparse), or
            "euler" for the same with the rates of Euler parameters as velocities, or
            "natural" for points and unit vectors that bodies share (no angles, a constant M).
        rods: In natural coordinates, bodies between two spherical joints that become two points,
            without their spin: "two-point" for all that lose nothing else by it, or their names.
            The system tells them by the attribute of that name.

    Returns:
        A system that every analysis takes.  Its coordinates are called "joint.coordinate", or
        "body.rx" …; its frames are the bodies and markers of the model.

    Raises:
        ModelError: There are no such coordinates, or the model cannot be.
    """
    return _formulated(model, coordinates, rods, later=False)


def formulate_later(model: Model, coordinates: str = "joint") -> System:
    """The same system, each matrix of which is derived when it is asked for.

    It is for analyses that want a few of them: atoms stand in the order in which they were made, so
    that what is exported would depend on what was asked for before.
    """
    return _formulated(model, coordinates, None, later=True)


def _formulated(
    model: Model, coordinates: str, rods: str | Sequence[str] | None, *, later: bool
) -> System:
    if coordinates not in COORDINATES:
        raise ModelError(
            f"{coordinates!r} are not coordinates that biela knows; choose one of "
            f"{', '.join(COORDINATES)}"
        )
    if not model.bodies and not model.parts:
        raise ModelError(f"{model.name} has no bodies: add one with body(…)")
    whole = model.flattened() if model.parts else model
    if rods is not None and coordinates != "natural":
        raise ModelError(
            f"{model.name}: rods of two points are there in natural coordinates only, not in "
            f"{coordinates!r} ones"
        )
    derivation = COORDINATES[coordinates](whole) if rods is None else naturally_placed(whole, rods)
    for joint in whole.joints.values():
        if isinstance(joint, Coupling):
            derivation.hold_coupling(joint)
    for joint in whole.joints.values():
        if isinstance(joint, Joint):
            for name in joint.limits:
                derivation.as_coordinate(f"{joint.name}.{name}")
    derive_elements(derivation)
    if not derivation.system.q:
        raise ModelError(
            f"{model.name}: nothing can move, all bodies are fixed to the ground; replace a fixed "
            f"joint by one that leaves a freedom"
        )
    starts, wished, rates = _start(derivation)
    resting = _resting(derivation)
    described = as_described(whole)
    begins = ModelStart(
        described,
        partial(formulate_later, described),
        None if coordinates == "joint" else carrying(derivation),
    )
    return replace(
        _finished(derivation, later),
        starts=starts,
        wished=wished,
        wished_rates=rates + resting,
        resting=resting,
        rods=tuple(sorted(derivation.rods)) if isinstance(derivation, Laying) else (),
        begins=begins,
    )


def _start(derivation: MechanismDerivation) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Coordinates and rates that were given at the start, for joints that close loops too.

    Returns the names of the coordinates, those of them that became conditions, and how many rates
    did.
    """
    system, model = derivation.system, derivation.model
    starts: list[str] = []
    wished: list[str] = []
    rates = 0
    for joint in model.joints.values():
        if not isinstance(joint, Joint):
            continue
        pair = derivation.pair(joint.i, joint.j)
        carried = joint.name in derivation.carried
        for coordinate in joint.coordinates:
            full = f"{joint.name}.{coordinate.name}"
            q, reading = derivation.coordinates.get(full), coordinate.reading
            dimension = dimension_along(coordinate.unit)
            given = joint.start.get(coordinate.name)
            if given is not None and (q is not None or reading is not None):
                value = derivation.number(given, dimension)
                starts.append(full)
                if q is not None:
                    system.start({q: model.number(given, dimension)})
                if not carried:
                    row = q - value if q is not None else None
                    if reading is not None and row is None:
                        row = reading.row(pair, value, system.workspace.atom(0)).value
                    if row is not None and row.value is None:
                        system.initial(row)
                        wished.append(full)
            if q is not None and coordinate.name in joint.limits:
                low, high = (model.number(x, dimension) for x in joint.limits[coordinate.name])
                system.limits(q, low, high)
            speed = joint.rates.get(coordinate.name)
            if speed is not None:
                dimension = dimension_along(coordinate.unit, per="rate")
                value = derivation.number(speed, dimension)
                if q is not None and carried:
                    system.start({q.velocity: model.number(speed, dimension)})
                if q is not None or reading is not None:
                    system.initial_velocity(derivation.speed(full) - value)
                    rates += 1
    return tuple(starts), tuple(wished), rates


def _resting(derivation: MechanismDerivation) -> int:
    """Joints whose rates nobody gave rest at the start, as far as drivers and loops let them.

    The same joints in the same order for all coordinates, with reactions asked for or not, so that
    they start alike.  Returns how many conditions that makes; none where nothing moves.
    """
    system, model = derivation.system, derivation.model
    joints = [joint for joint in model.joints.values() if isinstance(joint, Joint)]
    if not model.drivers and not any(joint.rates for joint in joints):
        return 0
    rows: list[Atom] = []
    for branch in joint_coordinates.carrying_tree(model, loads=False).branches:
        joint = branch.joint
        pair = derivation.pair(joint.i, joint.j)
        for coordinate in joint.coordinates:
            if coordinate.manifold == "rotation":
                rows += pair.turning.components(pair.j.base)
            elif coordinate.name not in joint.rates:
                rows.append(derivation.speed(f"{joint.name}.{coordinate.name}"))
    moving = [row for row in rows if row.value is None]
    system.initial_velocity(*moving)
    return len(moving)


def _finished(derivation: MechanismDerivation, later: bool) -> System:
    """The system, with the names that people know; its matrices may be derived later."""
    source, model = derivation.system, derivation.model
    for name in model.bodies:
        place = derivation.bodies[name]
        source.frame(name, place.point, place.base)
    for body in (model.ground, *model.bodies.values()):
        for marker in body.markers.values():
            place = derivation.place(marker)
            source.frame(marker.label, place.point, place.base)
    system = source.deferred(later=later)
    names = derivation.names
    given = {
        f"{joint.name}.{name}"
        for joint in model.joints.values()
        if isinstance(joint, Joint) and joint.name in derivation.carried
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
    return drawn(model, _with_readings(derivation, _with_sides(derivation, system)))


def _with_sides(derivation: MechanismDerivation, system: System) -> System:
    """The system with what tells the roots that are meant from others."""
    if not derivation.sides:
        return system

    def sides() -> Function:
        return derivation.system.function("sides", {"sides": list(derivation.sides.values())})

    return replace(system, sides=tuple(derivation.sides), functions=_and(system, {"sides": sides}))


def _with_readings(derivation: MechanismDerivation, system: System) -> System:
    """The system with the coordinates of joints that are read from their markers."""
    found: dict[str, tuple[Joint, Coordinate]] = {}
    for joint in derivation.model.joints.values():
        if isinstance(joint, Joint):
            for coordinate in joint.coordinates:
                name = f"{joint.name}.{coordinate.name}"
                if name not in derivation.coordinates and coordinate.reading is not None:
                    found[name] = joint, coordinate
    if not found:
        return system

    def readings() -> Function:
        values, rates = [], []
        for joint, coordinate in found.values():
            assert coordinate.reading is not None
            pair = derivation.pair(joint.i, joint.j)
            values.append(coordinate.reading.value(pair))
            rates.append(coordinate.reading.rate(pair))
        outputs = {"values": values, "rates": rates}
        return derivation.system.function("joint_coordinates", outputs)

    named = tuple(
        Quantity(name, c.unit, rate=f"{name}_rate" if c.reading and c.reading.turns else "")
        for name, (_, c) in found.items()
    )
    functions = _and(system, {"joint_coordinates": readings})
    return replace(system, joint_coordinates=named, functions=functions)


def _and(system: System, makers: Mapping[str, Callable[[], Function]]) -> LazyFunctions:
    """The functions of a system and others."""
    kept = {name: partial(system.functions.__getitem__, name) for name in system.functions}
    return LazyFunctions({}, {**kept, **makers})
