"""What every analysis does first: find the system, and the numbers that are given for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.equations import Equations, Quantity, SymbolicSystem, System, formulate
from biela.errors import ModelError, ShapeError
from biela.model import Model as Described

Floats = npt.NDArray[np.float64]
#: What an analysis takes: bodies and joints, symbols, or equations.
Model: TypeAlias = System | Equations | SymbolicSystem | Described
_PLURAL = {
    "parameter": "parameters",
    "input": "inputs",
    "coordinate": "coordinates",
    "velocity": "velocities",
}


class Posed(Protocol):
    """Anything with a position, such as an assembly."""

    @property
    def q(self) -> Floats:
        """The position."""


Values: TypeAlias = Mapping[str, float] | Sequence[float] | Floats | Posed | None


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
    if isinstance(model, Described):
        return formulate(model, coordinates)
    raise ModelError(
        f"{type(model).__name__} is not a model; give a Model, a SymbolicSystem, its equations() "
        f"or a System"
    )


def values(system: System, what: str, entries: Sequence[Quantity], given: Values) -> Floats:
    """Numbers for the entries of a vector, by name or in order; defaults where none are given.

    Raises:
        ModelError: A name is unknown, or a number is not finite.
        ShapeError: There are too few or too many numbers.
    """
    if what == "coordinate":
        given = getattr(given, "q", given)  # an assembly stands for its position
    names = [entry.name for entry in entries]
    found = np.array([entry.value for entry in entries], dtype=float)
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ModelError(
                f"{system.name} has no {what} {', '.join(map(str, unknown))}; it has "
                f"{', '.join(names) or 'none'}"
            )
        for name, value in given.items():
            found[names.index(name)] = number(system, f"{what} {name}", value)
    elif given is not None:
        try:
            flat = np.array(given, dtype=float).reshape(-1)
        except (TypeError, ValueError):
            raise ModelError(
                f"{system.name}: the values of the {_PLURAL[what]} must be numbers, not {given!r}"
            ) from None
        if len(flat) != len(names):
            raise ShapeError(
                f"{system.name} has {len(names)} {_PLURAL[what]} ({', '.join(names) or 'none'}), "
                f"and {len(flat)} numbers are given"
            )
        found = flat
    bad = [name for name, value in zip(names, found, strict=True) if not np.isfinite(value)]
    if bad:
        raise ModelError(f"{system.name}: the value of {what} {bad[0]} is not a finite number")
    return found


def number(system: System, what: str, value: object) -> float:
    """A finite number.

    Raises:
        ModelError: It is none.
    """
    try:
        # a text that spells a number is a mistake all the same
        found = np.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
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
            f"{system.name}: all masses are zero; give the parameters values, "
            f"parameters(m=1.0), or pass parameters={{...}}"
        )
    least, vectors = np.linalg.eigh(M)
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
            _, sizes, turn = np.linalg.svd(rows @ null)
            rank = int((sizes > 1e-10 * max(np.abs(rows).max(), 1e-300)).sum())
            free = null @ turn[rank:].T
        if free.shape[1]:
            worst = int(np.argmax(np.abs(free).max(axis=1)))
            raise ModelError(
                f"{system.name}: moving {system.v[worst].name} moves no mass and no constraint "
                f"holds it; give the body a mass or an inertia, or constrain the coordinate"
            )
