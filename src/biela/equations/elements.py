"""Rotors, drivers, forces and sensors say their part of the equations; faults name them."""

from __future__ import annotations

from collections.abc import Iterator

from biela.equations import joint_coordinates
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.errors import BielaError, ModelError
from biela.model import Model
from biela.model.drivers import Driver
from biela.model.element import Element
from biela.model.forces import Force
from biela.model.joints import Coupling
from biela.model.quantities.values import Value
from biela.model.sensors import Sensor

__all__ = ["derive_elements", "element_faults"]


def derive_elements(derivation: MechanismDerivation) -> None:
    """Let the drivers, forces and sensors of the model say what they hold, push and measure.

    Rotors come first: they make coordinates that others then find.

    Raises:
        ModelError: One of them cannot; the message names it.
    """
    for fault in _derive_rotors(derivation):
        raise ModelError(fault)
    for element in _elements(derivation.model):
        try:
            _derive(derivation, element)
        except BielaError as error:
            raise ModelError(_naming(derivation.model, element, str(error))) from error


def element_faults(model: Model) -> list[str]:
    """What is wrong with drivers, forces and sensors, each looked at whether others are or not.

    Units of laws, stops and friction depend on the joint: they are only seen here.

    Raises:
        ModelError: The bodies and joints alone have no equations; or parts are not written out.
    """
    derivation = joint_coordinates.placed(model)
    for joint in model.joints.values():
        if isinstance(joint, Coupling):
            derivation.hold_coupling(joint)
    found = list(_derive_rotors(derivation))
    for element in _elements(model):
        try:
            _derive(derivation, element)
        except BielaError as error:
            found.append(_naming(model, element, str(error)))
    return found


def _elements(model: Model) -> Iterator[Element]:
    yield from model.drivers.values()
    yield from model.forces.values()
    yield from model.sensors.values()


def _derive(derivation: MechanismDerivation, element: Element) -> None:
    if isinstance(element, Driver):
        derivation.hold(element.name, element.rows(derivation), f"driver {element.name}")
    elif isinstance(element, Force):
        element.act(derivation)
    elif isinstance(element, Sensor):
        element.read(derivation)


def _derive_rotors(derivation: MechanismDerivation) -> Iterator[str]:
    """Give coordinates of joints their rotors; yields what is wrong with one."""
    model = derivation.model
    # of two names of one coordinate the last one holds
    rotors: dict[str, tuple[str, Value]] = {}
    for name, inertia in model.rotors.items():
        try:
            joint, coordinate = derivation.joint(name)
        except ModelError as error:
            yield _rotor_fault(model, name, error)
        else:
            rotors[f"{joint.name}.{coordinate.name}"] = name, inertia
    for full, (name, inertia) in rotors.items():
        try:
            derivation.rotor(full, inertia)
        except BielaError as error:
            yield _rotor_fault(model, name, error)


def _rotor_fault(model: Model, name: str, error: BielaError) -> str:
    return f"{model.name}: rotor of {name}: {str(error).removeprefix(f'{model.name}: ')}"


def _naming(model: Model, element: Element, text: str) -> str:
    """A message with the element before it; one that has its name already has it once."""
    plain = f"{element.category} {element.name}"
    who = f"{plain} ({element.kind})"
    text = text.removeprefix(f"{model.name}: ")
    if text.startswith((who, f"{plain}:", f"{plain} ")):
        rest = text.removeprefix(who).removeprefix(plain)
        return f"{model.name}: {who}{rest}"
    return f"{model.name}: {who}: {text}"
