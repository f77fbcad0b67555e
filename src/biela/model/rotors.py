"""The rotors of a model: inertia along coordinates of joints, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.errors import BielaError, ModelError
from biela.model.coordinate_names import full_name
from biela.model.quantities.values import Value
from biela.spelling import nearest

if TYPE_CHECKING:
    from biela.model.model import Model

__all__ = ["Rotors", "check_rotor_names", "check_rotor_values"]


class Rotors(dict[str, Value]):
    """Inertia J of rotors by joint or "joint.coordinate"; it is judged where it is used.

    >>> Rotors({"pivot": 0.01})
    {'pivot': 0.01}
    """

    def __init__(self, values: Mapping[str, Value]) -> None:
        super().__init__()
        if not isinstance(values, Mapping):
            raise ModelError(
                f"rotors are a mapping of names of joints to inertias, such as "
                f'{{"pivot": 0.01}}, not {values!r}'
            )
        for name, value in values.items():
            self[name] = value

    def __setitem__(self, name: str, value: Value) -> None:
        if not isinstance(name, str):
            raise ModelError(
                f'rotors are given by "joint" or "joint.coordinate", a text, not {name!r}'
            )
        plain: Any = value
        if isinstance(plain, np.generic) or (isinstance(plain, np.ndarray) and plain.ndim == 0):
            plain = plain.item()
        super().__setitem__(name, plain)


def check_rotor_values(model: Model) -> None:
    """Refuse inertias that are none with the parameters as they are.

    Raises:
        ModelError: The message names the rotor.
    """
    for name, inertia in model.rotors.items():
        who = f"{model.name}: rotor of {name}"
        given: Any = inertia
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise ModelError(f"{who}: the inertia is a number or a text, not {given!r}")
        try:
            number = model.number(given)
        except BielaError as error:
            raise ModelError(f"{who}: {error}") from None
        if not 0 <= number < np.inf:
            raise ModelError(f"{who}: the inertia is a finite number, zero or more, not {given!r}")


def check_rotor_names(model: Model) -> None:
    """Refuse rotors of joints that there are not; those of parts are found when it is used.

    Raises:
        ModelError: The message names the rotor.
    """
    for name in model.rotors:
        if full_name(model, name) is None and not model.parts:
            near = nearest(name, model.joints)
            raise ModelError(f"{model.name}: rotor of {name}: there is no such joint{near}")
