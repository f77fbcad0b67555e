"""Laws of time that a motion cannot follow, named in the errors of the runs that they end.

A driver asks for finite positions, velocities and accelerations, f, f' and f''; where f or f'
jumps, the accelerations of the mechanism are infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import signature
from itertools import islice
from typing import Final, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from biela.analysis.plan import FEWEST
from biela.errors import AssemblyError, BielaError, SimulationError
from biela.model import Model
from biela.model.element import Element
from biela.model.laws.law import Law, Table
from biela.results import Event, Results

Floats = npt.NDArray[np.float64]
Given = ParamSpec("Given")
Found = TypeVar("Found")

#: Places at which a law is looked at between two instants.
_LOOKS: Final = 400
#: A change between two of them that is so many times the usual one is a jump.
_JUMP: Final = 50.0
#: Laws that are looked at, at the most, after a run and by its watch: alike ones are one.
_MOST: Final = 1000
_FEW: Final = 50
#: Places at which a law is looked at for the stops of adaptive steps, and the most of these.
_SAMPLES: Final = 5001
_STOPS: Final = 1000
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


def blows(model: Model, t: Floats) -> list[int]:
    """The instants around which laws of forces change most, where they change all at once."""
    found: set[int] = set()
    for _, law in islice(_laws(model, model.forces), _FEW):
        with np.errstate(all="ignore"):
            bend = np.abs(np.diff(law.value(t, model.parameters), 2))
        if len(bend) and bend.max() > _JUMP * np.median(bend):
            k = int(np.argmax(bend))
            found.update(range(max(k - 1, 0), min(k + 4, len(t))))
    return sorted(found)


def breaks(model: Model, start: float, duration: float) -> Floats:
    """The times around which laws change quickly, for adaptive steps to stop at.

    A step that begins where nothing happens may be so long that it passes a blow.  A stretch that
    is shorter than the longest step, before and after which a law hardly changes, is told by its
    two ends; so are the points of a table.
    """
    found: list[float] = []
    for _, law in islice(_laws(model), _FEW):
        if isinstance(law, Table) and law.outside != "periodic":
            found += [t for t in law.times if start < t < start + duration]
        else:
            found += _stretches(law, model, start, start + duration, duration / FEWEST)
    return np.unique(found)[:_STOPS]


def within_a_step(model: Model, start: float, duration: float, step: float) -> list[Event]:
    """Events that tell of blows shorter than a fixed step, which may pass them unseen."""
    found = []
    for whose, law in islice(_laws(model, model.forces), _FEW):
        for a, b in _active(law, model, start, start + duration):
            if b - a > 10 * step + 4 * duration / _SAMPLES:
                continue
            t = np.linspace(a, b, _SAMPLES)
            with np.errstate(all="ignore"):
                f = law.value(t, model.parameters)
            high = np.abs(f - f[0])
            strong = t[high > 0.1 * high.max()]
            back = abs(f[-1] - f[0]) < 0.1 * high.max()
            if back and len(strong) and strong[-1] - strong[0] < step:
                said = (
                    f"the law of {whose} acts from t = {strong[0]:.6g} s to {strong[-1]:.6g} s, "
                    f"for less than a step, which may pass it; take shorter steps, or leave step "
                    f"out"
                )
                found.append(Event(float(strong[0]), said))
                break
    return found


def _stretches(law: Law, model: Model, start: float, end: float, most: float) -> list[float]:
    """The ends of stretches in which a law changes, that are shorter than a length."""
    found: list[float] = []
    for a, b in _active(law, model, start, end):
        if b - a >= most or len(found) >= _STOPS:
            continue
        inner: list[float] = []
        if b - a < 7.5 * (end - start) / _SAMPLES and b - a > 1e-12 * max(abs(a), abs(b)):
            inner = _stretches(law, model, a, b, (b - a) / 4)  # it may be shorter still
        found += inner or [a, b]
    return found


def _active(law: Law, model: Model, start: float, end: float) -> list[tuple[float, float]]:
    """The stretches in which a law changes, if it does so in less than half of the time."""
    t = np.linspace(start, end, _SAMPLES)
    with np.errstate(all="ignore"):
        change = np.abs(np.diff(law.value(t, model.parameters)))
    change = np.nan_to_num(change, nan=0.0, posinf=0.0)
    active = change > 1e-3 * change.max()
    if not active.any() or active.mean() > 0.5:
        return []
    edges = np.flatnonzero(np.diff(active.astype(int), prepend=0, append=0))
    firsts, lasts = np.maximum(edges[::2] - 1, 0), np.minimum(edges[1::2] + 1, len(t) - 1)
    return list(zip(t[firsts].tolist(), t[lasts].tolist(), strict=True))


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
    for whose, law in _laws(model):
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
        for whose, law in _laws(model)
        for what, values in zip(_WHAT[:2], law.derivatives(t, model.parameters)[:2], strict=True)
    ]
    for whose, what, values in looked:
        change = np.abs(np.diff(values))
        k = int(np.argmax(np.nan_to_num(change)))
        # a law that is steep changes as much beside it
        beside = float(np.delete(change[max(k - 1, 0) : k + 2], min(k, 1)).max(initial=0.0))
        if change[k] > _JUMP * (beside + 1e-6 * float(np.abs(values).max())):
            said = (
                f"{what}the law of {whose} jumps from {values[k]:.4g} to {values[k + 1]:.4g} at "
                f"t = {t[k]:.6g} s: smooth it there (a profile or a cubic table), or begin a new "
                f"run there"
            )
            return said[0].upper() + said[1:]
    return ""


def _laws(model: Model, *kinds: Mapping[str, Element]) -> Iterator[tuple[str, Law]]:
    """The laws of elements, by whose they are: of drivers and forces; alike ones once."""
    seen: set[Law] = set()
    for elements in kinds or (model.drivers, model.forces):
        for element in elements.values():
            for name in element.settings():
                law = getattr(element, name)
                if isinstance(law, Law) and law not in seen and len(seen) < _MOST:
                    seen.add(law)
                    yield f"{element.category} {element.name!r}", law
