"""What every analysis does first: find the system, and the numbers that are given for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from biela.budgets import LARGEST
from biela.equations import Equations, Quantity, SymbolicSystem, System, formulate
from biela.equations.natural import Layout
from biela.equations.positions import own_velocities
from biela.errors import BielaError, ModelError, ShapeError
from biela.model import Model as Described
from biela.model.quantities.units import quantity, unit_of
from biela.singular_values import svd
from biela.spelling import alike

Floats = npt.NDArray[np.float64]
#: What an analysis takes: bodies and joints, symbols, or equations.
Model: TypeAlias = System | Equations | SymbolicSystem | Layout | Described
_PLURAL = {
    "parameter": "parameters",
    "input": "inputs",
    "coordinate": "coordinates",
    "velocity": "velocities",
}
#: Names beyond these are counted only, in a message.
_LISTED = 20
AnyModel = TypeVar("AnyModel", bound=Any)
AnyValues = TypeVar("AnyValues", bound=Any)
#: What a text for an entry of that unit must be; anything where the unit is not known.
_DIMENSIONS = {
    "m": "length",
    "rad": "angle",
    "m/s": "velocity",
    "rad/s": "angular velocity",
    "N": "force",
    "N m": "torque",
    "N·m": "torque",
}


class Posed(Protocol):
    """Anything with a position, such as an assembly."""

    @property
    def q(self) -> Floats:
        """The position."""


#: Numbers in SI units, or texts with units by name: {"A.angle": "20 deg"}.
Values: TypeAlias = Mapping[str, float | str] | Sequence[float] | Floats | Posed | None


def as_system(model: Model, coordinates: str = "joint") -> System:
    """The system of a model: itself, that of its equations, or derived now.

    Bodies and joints get the coordinates named, those of the joints if nothing is said.

    Raises:
        ModelError: It is nothing of the kind.
    """
    if isinstance(model, System):
        return model
    if isinstance(model, Equations):
        return model.system
    if isinstance(model, SymbolicSystem):
        return model.equations().system
    if isinstance(model, Layout):
        return model.system()
    if isinstance(model, Described):
        return formulate(model, coordinates)
    raise ModelError(
        f"{type(model).__name__} is not a model; give a Model, a SymbolicSystem, its equations(), "
        f"a Layout or a System"
    )


def with_values(model: AnyModel, parameters: AnyValues) -> tuple[AnyModel, AnyValues | None]:
    """The model that values of parameters by name make, before anything is derived from it.

    All that was decided with other values (starts, closed forms, ranks) is then decided anew, so
    that a run is the same, to the last bit, as that of a description with these values.  Systems,
    and values in order, are returned as they are: equations are functions of their parameters.

    Raises:
        ModelError: There is no such parameter, its unit is another, or there is no such mechanism.
    """
    by_name = isinstance(parameters, Mapping) and bool(parameters)
    if by_name and isinstance(model, Described):
        return cast(AnyModel, model.with_parameters(parameters)), None
    return model, parameters


def at_values(system: System, p: Floats) -> System:
    """The system with the limits of its coordinates as values of its parameters have them."""
    read = system.limits if system.begins is None else system.begins.limits
    if read is None or np.array_equal(p, system.parameters):
        return system
    limits = read(dict(zip((e.name for e in system.p), p.tolist(), strict=True)))

    def at(entries: Sequence[Quantity]) -> tuple[Quantity, ...]:
        return tuple(
            replace(e, lower=limits[e.name][0], upper=limits[e.name][1]) if e.name in limits else e
            for e in entries
        )

    return replace(system, q=at(system.q), joint_coordinates=at(system.joint_coordinates))


def values(system: System, what: str, entries: Sequence[Quantity], given: Values) -> Floats:
    """Numbers for the entries of a vector, by name or in order; defaults where none are given.

    A value given by name may be a text with its unit, "20 deg", and a joint with one coordinate
    may go by its own name, see `meant`.

    Raises:
        ModelError: A name is unknown or given twice, a text has another dimension, or a number is
            not finite.
        ShapeError: There are too few or too many numbers.
    """
    if what == "coordinate":
        given = getattr(given, "q", given)  # an assembly stands for its position
    names = [entry.name for entry in entries]
    found = np.array([entry.value for entry in entries], dtype=float)
    if isinstance(given, Mapping):
        places = {name: meant(name, names) for name in given}
        refuse_unknown(system, what, given, names)
        for name, value in given.items():
            place = places[name]
            if place != name and place in given:
                raise ModelError(f"{system.name}: {name} and {place} are the same {what}: give one")
            k = names.index(place)
            found[k] = number(system, f"{what} {name}", value, entries[k].unit)
    elif given is not None:
        try:
            flat = np.array(given, dtype=float).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{system.name}: the values of the {_PLURAL[what]} must be numbers, not {given!r}"
            ) from None
        if len(flat) != len(names):
            raise ShapeError(
                f"{system.name} has {len(names)} {_PLURAL[what]} ({', '.join(names) or 'none'}), "
                f"and {len(flat)} numbers are given"
            )
        found = flat
    bad = [name for name, value in zip(names, found, strict=True) if not abs(value) <= LARGEST]
    if bad:
        raise ModelError(
            f"{system.name}: the value of {what} {bad[0]} is not a finite number of at most "
            f"{LARGEST:g}"
        )
    return found


def refuse_unknown(system: System, what: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse names that nothing has; the message has those there are, and what may be meant.

    Raises:
        ModelError: There are some.
    """
    unknown = [str(name) for name in given if meant(name, names) not in names]
    if not unknown:
        return
    listed = ", ".join(names[:_LISTED]) or "none"
    more = f" … and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    hint, name = "", unknown[0]
    rates = {e.name: system.v[k].name for e, k in _with_rates(system)} if what == "velocity" else {}
    rate = rates.get(name, f"{name}_rate")
    near = alike(name, names)
    if what == "velocity" and rate in names:
        hint = f"; {name} is a coordinate, and {rate} its velocity"
    elif what == "parameter" and system.begins and name in system.begins.model.parameters.texts:
        text = system.begins.model.parameters.texts[name]
        hint = f"; {name} is computed as {text}: give it to the model, model.with_parameters(…)"
    elif near:
        hint = f"; did you mean {near[0]!r}?"
    raise ModelError(
        f"{system.name} has no {what} {', '.join(unknown)}; it has {listed}{more}{hint}"
    )


def _with_rates(system: System) -> Iterator[tuple[Quantity, int]]:
    """Coordinates, each with the place of the velocity that is its rate."""
    own = zip(system.q, own_velocities(system), strict=True)
    return ((entry, k) for entry, k in own if k >= 0)


def numbers(given: object) -> dict[str, float]:
    """Values by name as numbers in SI units, whatever they are for; none if not given by name.

    Raises:
        BielaError: A text cannot be read.
    """
    return {n: quantity(v) for n, v in given.items()} if isinstance(given, Mapping) else {}


def meant(name: str, names: Collection[str]) -> str:
    """The name among others that is meant: itself, or the only one "name.…".

    >>> meant("A", ["A.angle", "B.x", "B.y"]), meant("B", ["A.angle", "B.x", "B.y"])
    ('A.angle', 'B')
    """
    if name in names:
        return name
    own = [other for other in names if other.startswith(f"{name}.")]
    return own[0] if len(own) == 1 else name


def number(system: System, what: str, value: object, unit: str | None = None) -> float:
    """A finite number in SI units; where a unit is given, or a text of the same dimension.

    Raises:
        ModelError: It is none.
    """
    if isinstance(value, str) and unit is not None:
        try:
            found = quantity(value, _DIMENSIONS.get(unit, "any"))
            own = unit_of(value)
            if what.startswith("parameter ") and unit and own not in ("", unit):
                raise ModelError(f"it is in {own}, and {what} is in {unit}")
            return found
        except BielaError as error:
            raise ModelError(
                f"{system.name}: {what} is not a finite number: {value!r} ({error})"
            ) from error
    try:
        # elsewhere a text that spells a number is a mistake all the same
        found = np.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = np.nan
    if callable(value) or hasattr(value, "workspace"):
        raise ModelError(
            f"{system.name}: {what} must be a number; for one that changes in time write the law "
            f"into the model, or use a controller: control=…"
        )
    if not np.isfinite(found):
        raise ModelError(f"{system.name}: {what} is not a finite number: {value!r}")
    return found


def check_masses(system: System, t: float, q: Floats, u: Floats, p: Floats) -> None:
    """Refuse a mass matrix that is not finite, is zero, or is negative.

    Raises:
        ModelError: With the coordinate at fault and what to do.
    """
    M = np.asarray(system.evaluate("M", q, t=t, u=u, p=p))
    if not np.isfinite(M).all():
        row = int(np.argwhere(~np.isfinite(M))[0][0])
        raise ModelError(
            f"{system.name}: the mass matrix is not finite in the row of {system.v[row].name}; "
            f"check the parameters and the start"
        )
    if not np.abs(M).max() > 0:
        raise ModelError(
            f"{system.name}: nothing that moves has mass or inertia; give the bodies mass=… or "
            f"density=…, those that only turn about their origin inertia=… or com=…, the "
            f"parameters in them values, or pass parameters={{...}}"
        )
    # masses and inertias have no common measure: kg m² of a micrometre are 1e-12 of its kg
    own = np.abs(np.diag(M))
    alike = {e.unit: 0.0 for e in system.v}
    for entry, size in zip(system.v, own, strict=True):
        alike[entry.unit] = max(alike[entry.unit], float(size))
    largest = np.array([alike[e.unit] or float(own.max()) or 1.0 for e in system.v])
    by = 1 / np.sqrt(np.maximum(own, 1e-20 * largest))
    least, vectors = np.linalg.eigh(M * by[:, None] * by)
    vectors = by[:, None] * vectors
    vectors /= np.linalg.norm(vectors, axis=0)
    if least[0] < -1e-9 * abs(least[-1]):
        worst = int(np.argmax(np.abs(vectors[:, 0])))
        raise ModelError(
            f"{system.name}: the mass matrix is not positive: an inertia along "
            f"{system.v[worst].name} is negative; check masses and inertias (are inertias given "
            f"about the point of the solid, not less than mass times distance squared?)"
        )
    rows = np.asarray(system.evaluate("Phi_v", q, t=t, u=u, p=p)) if system.multipliers else None
    null = vectors[:, least < 1e-12 * abs(least[-1])]
    if null.shape[1]:
        free = null
        if rows is not None:
            _, sizes, turn = svd(rows @ null)
            rank = int((sizes > 1e-10 * max(np.abs(rows).max(), 1e-300)).sum())
            free = null @ turn[rank:].T
        if free.shape[1]:
            worst = int(np.argmax(np.abs(free).max(axis=1)))
            raise ModelError(
                f"{system.name}: moving {system.v[worst].name} moves no mass and no constraint "
                f"holds it; give the body a mass or an inertia, or constrain the coordinate"
            )
