"""What a model file says about its runs: the table ``[run]``."""

from __future__ import annotations

import biela as bl
from biela.cli.models import Described
from biela.errors import ModelError


def number_in_run(model: Described, key: str, dimension: str = "time") -> float | None:
    """A value of the table in SI units; None where it is not given.

    Raises:
        ModelError: It is no value of that dimension.
    """
    given = model.run.get(key) if isinstance(model, bl.Model) else None
    if given is None:
        return None
    assert isinstance(model, bl.Model)
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ModelError(f"{model.name}: run.{key} is {given!r}, which is no {dimension}")
    return model.number(given if isinstance(given, str) else float(given), dimension)


def text_in_run(model: Described, key: str) -> str | None:
    """A text of the table, such as ``integrator``; None where it is not given."""
    given = model.run.get(key) if isinstance(model, bl.Model) else None
    return None if given is None else str(given)


def paths_in_run(model: Described) -> tuple[str, ...]:
    """The points of ``path``, whose ways are of interest.

    Raises:
        ModelError: It is no list of names.
    """
    given = model.run.get("path", ()) if isinstance(model, bl.Model) else ()
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"{model.name}: run.path is {given!r}; write a list of names of points")
    return tuple(names)


def first(*choices: float | None, default: float) -> float:
    """The first that is given; 0 is a choice too, and for others to refuse.

    >>> first(None, 0.0, default=5.0)
    0.0
    """
    return next((choice for choice in choices if choice is not None), default)
