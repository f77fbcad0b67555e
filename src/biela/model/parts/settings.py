"""The settings of a part, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError
from biela.model.quantities.dimensions import described, si_unit
from biela.model.quantities.units import dimension_in, parameters_of
from biela.model.quantities.values import Value
from biela.spelling import nearest

if TYPE_CHECKING:
    from biela.model.model import Model

Floats = npt.NDArray[np.float64]
#: A parameter of a part: one value for all instances, or a row with one for each.
Setting: TypeAlias = Value | Floats


@dataclass(frozen=True, eq=False)
class Between:
    """A joint between a marker of an instance and one of the next.

    ``name`` follows that of the later instance: "cell[1].between".
    """

    kind: str
    i: str
    j: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str = "between"


def check_model(who: str, host: Model, model: Model) -> None:
    """Refuse what cannot be a part of a host.

    Raises:
        ModelError: It is no model, holds the host itself, or moves in another plane.
    """
    if not hasattr(model, "bodies") or not hasattr(model, "parts"):
        raise ModelError(f"{who}: a part is a model, not {model!r}")
    pending: list[Model] = [model]
    while pending:
        one = pending.pop()
        if one is host:
            raise ModelError(f"{who}: a model cannot be a part of itself")
        pending.extend(part.model for part in one.parts.values())
    if model.plane is not None and model.plane != host.plane:
        where = f"in the plane {host.plane}" if host.plane else "in space"
        raise ModelError(
            f"{who}: {model.name} moves in the plane {model.plane} and {host.name} {where}; "
            f"give both the same plane"
        )


def needs_many(
    count: int | None, shift: Sequence[Value], link: str | None, between: Sequence[Any]
) -> str | None:
    """The setting that makes sense for several instances only, if one is given without a count."""
    if count is not None:
        return None
    if link is not None:
        return "link"
    if len(between):
        return "between"
    plain = not isinstance(shift, str) and all(not isinstance(x, str) and x == 0 for x in shift)
    return None if plain else "shift"


def betweens(who: str, given: Sequence[Any]) -> tuple[Between, ...]:
    """The joints between instances, each with a name of its own.

    Raises:
        ModelError: Something else was given.
    """
    found: list[Between] = []
    taken: set[str] = set()
    entries = [given] if isinstance(given, Between) or _is_one(given) else list(given)
    for entry in entries:
        if isinstance(entry, Between):
            made = entry
        elif isinstance(entry, tuple | list) and len(entry) in (3, 4):
            settings = dict(entry[3]) if len(entry) == 4 else {}
            named = settings.pop("name", "between")
            made = Between(str(entry[0]), str(entry[1]), str(entry[2]), settings, named)
        else:
            raise ModelError(
                f"{who}: a joint between instances is (kind, marker of one, marker of the next, "
                f"settings), not {entry!r}"
            )
        name, k = made.name, 1
        while name in taken:
            k += 1
            name = f"{made.name}_{k}"
        taken.add(name)
        found.append(replace(made, name=name))
    return tuple(found)


def _is_one(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) > 0 and isinstance(given[0], str)


def settings_of(
    who: str,
    host: Model,
    model: Model,
    known: Mapping[str, float],
    count: int | None,
    given: Mapping[str, Any],
) -> dict[str, Setting]:
    """The parameters that are given for a part: a number, a text of the host, or a row.

    Raises:
        ModelError: There is no such parameter, or there are too few or too many values.
    """
    found: dict[str, Setting] = {}
    for name, value in given.items():
        if name not in known:
            raise ModelError(f"{who}: {model.name} has no parameter {name!r}{nearest(name, known)}")
        row = value if isinstance(value, list | tuple) else [value]
        for text in (each for each in row if isinstance(each, str)):
            _check_unit(f"{who}: parameter {name}", host, model, name, text)
        if isinstance(value, str) and parameters_of(value):
            host.number(value)
            found[name] = value
        elif isinstance(value, str | int | float | np.number):
            found[name] = host.number(value if isinstance(value, str) else float(value))
        else:
            if len(value) != (1 if count is None else count):
                raise ModelError(
                    f"{who}: parameter {name} has {len(value)} values for {count or 1} instances"
                )
            texts = not isinstance(value, np.ndarray) and any(isinstance(x, str) for x in value)
            numbers = np.array([host.number(x) for x in value] if texts else value, dtype=float)
            if numbers.ndim != 1 or not np.isfinite(numbers).all():
                raise ModelError(f"{who}: the values of parameter {name} are not finite numbers")
            numbers.setflags(write=False)
            found[name] = numbers
    return found


def _check_unit(who: str, host: Model, model: Model, name: str, text: str) -> None:
    """Refuse a value whose unit is not that of the parameter of the prototype."""
    wanted = model.parameters.dimensions.get(name)
    found = dimension_in(text, host.parameters, host.parameters.dimensions)
    if wanted is not None and found not in (None, wanted):
        raise ModelError(
            f"{who} is {described(wanted)}, in {si_unit(wanted)}, and {text!r} is "
            f"{described(found)}"
        )
