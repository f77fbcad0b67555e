"""Laws of time that a motion cannot follow, named in the errors of the runs that they end.

A driver asks for finite positions, velocities and accelerations, f, f' and f''; where f or f'
jumps, the accelerations of the mechanism are infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Final, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from biela.analysis.law_changes import JUMP, laws_of
from biela.errors import AssemblyError, BielaError, SimulationError
from biela.model import Model
from biela.results import Results

Floats = npt.NDArray[np.float64]
Given = ParamSpec("Given")
Found = TypeVar("Found")

#: Places at which a law is looked at between two instants.
_LOOKS: Final = 400
_WHAT: Final = ("", "the rate of ", "the acceleration of ")


def names_laws(door: Callable[Given, Found]) -> Callable[Given, Found]:
    """A run of a model, whose errors name a law of time that is the cause.

    The run takes the ``model`` first and its first instant as ``t``.
    """

    @wraps(door)
    def run(*args: Given.args, **given: Given.kwargs) -> Found:
        try:
            return door(*args, **given)
        except (AssemblyError, SimulationError, np.linalg.LinAlgError) as error:
            bound = signature(door).bind(*args, **given)
            bound.apply_defaults()
            values = {**bound.arguments, **bound.arguments.get("run", {})}
            told = _told(error, next(iter(values.values())), values)
            if told is None:
                raise
            raise told from error

    return run


def finite(name: str, results: Results) -> Results:
    """Results that are numbers.

    Raises:
        SimulationError: Some are not; it names the first, and holds the results until then.
    """
    for what, of in (("q", ""), ("v", ""), ("a", "the acceleration of ")):
        bad = ~np.isfinite(getattr(results, what))
        if bad.any():
            k, i = (int(place) for place in np.argwhere(bad)[0])
            raise SimulationError(
                f"{name}: {of}{results.groups[what].names[i]} is not a number at "
                f"t = {results.t[k]:.6g} s. The results until then are in the attribute results "
                f"of this error",
                while_finite(results),
            )
    return results


def while_finite(results: Results) -> Results | None:
    """Results until the first instant at which they are not numbers; None if that is the first."""
    good = np.isfinite(np.hstack([results.q, results.v, results.a])).all(axis=1)
    if good.all():
        return results
    k = int(np.argmin(good))
    return results.between(results.t[0], results.t[k - 1]) if k else None


def _told(
    error: BielaError | np.linalg.LinAlgError, model: object, given: dict[str, object]
) -> BielaError | None:
    """The error that names the law, if one is broken where the run ended."""
    system = getattr(model, "begins", None)
    model = getattr(system, "model", model)
    if not isinstance(model, Model) or "the law of " in str(error):
        return None
    parameters = given.get("parameters")
    if isinstance(parameters, dict) and parameters:
        model = model.with_parameters(parameters)
    results = getattr(error, "results", None)
    results = results if isinstance(results, Results) and len(results.t) else None
    start = given.get("t")
    first = last = float(start) if isinstance(start, int | float) else 0.0
    t = np.array([first])
    if results is not None:
        last = float(results.t[-1])
        step = given.get("step")
        least = step if isinstance(step, float) else 1e-3
        spacing = float(np.diff(results.t).max(initial=least))
        t = last + spacing * np.linspace(-1.0, 2.0, _LOOKS)
        t = np.unique([*np.maximum(t, first), last])
    broken, said = _broken(model, t)
    if results is not None and not said:  # it is told later, or earlier by a watch over a few
        said = _jumps(model, last + spacing * np.linspace(-8.0, 40.0, 10 * _LOOKS))
    if not said:
        return None
    if broken:
        results = None if results is None else while_finite(results)
        where = "" if results is None else f"after t = {last:.6g} s "
        kept = (
            ""
            if results is None
            else "; the results until then are in the attribute results of this error"
        )
        said = f"{model.name}: {where}{said}{kept}"
    else:
        said = f"{error}. {said}"
    if isinstance(error, SimulationError):
        return type(error)(said, results)
    return AssemblyError(said)


def _broken(model: Model, t: Floats) -> tuple[bool, str]:
    """Whether a law is not finite at one of some instants, and what is wrong with it."""
    for whose, law in laws_of(model):
        with np.errstate(all="ignore"):
            found = law.derivatives(t, model.parameters)
        for what, values in zip(_WHAT, found, strict=True):
            bad = ~np.isfinite(values)
            if bad.any():
                k = int(np.argmax(bad))
                return True, (
                    f"{what}the law of {whose} is {values[k]:g} at t = {t[k]:.6g} s, and a motion "
                    f"needs finite numbers: change the law, or end the motion before"
                )
    return False, _jumps(model, t)


def _jumps(model: Model, t: Floats) -> str:
    """What to say of a law that jumps, or whose rate does, between many instants; else nothing."""
    if len(t) < _LOOKS // 2:
        return ""
    looked = [
        (whose, what, values)
        for whose, law in laws_of(model)
        for what, values in zip(_WHAT[:2], law.derivatives(t, model.parameters)[:2], strict=True)
    ]
    for whose, what, values in looked:
        change = np.abs(np.diff(values))
        k = int(np.argmax(np.nan_to_num(change)))
        # a law that is steep changes as much beside it
        beside = float(np.delete(change[max(k - 1, 0) : k + 2], min(k, 1)).max(initial=0.0))
        if change[k] > JUMP * (beside + 1e-6 * float(np.abs(values).max())):
            said = (
                f"{what}the law of {whose} jumps from {values[k]:.4g} to {values[k + 1]:.4g} at "
                f"t = {t[k]:.6g} s: smooth it there (a profile or a cubic table), or begin a new "
                f"run there"
            )
            return said[0].upper() + said[1:]
    return ""
