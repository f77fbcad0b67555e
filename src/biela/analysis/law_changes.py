"""Where laws of time change quickly, so that no step passes it unseen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.plan import FEWEST
from biela.model import Model
from biela.model.element import Element
from biela.model.laws.law import Law, Table
from biela.results import Event

Floats = npt.NDArray[np.float64]
Values: TypeAlias = Mapping[str, float]

#: A change that is so many times the usual one is a jump.
JUMP: Final = 50.0
#: Laws that are looked at, at the most, after a run and by its watch: alike ones are one.
_MOST: Final = 1000
_FEW: Final = 50
#: Places at which a law is looked at for the stops of adaptive steps, and the most of these.
_SAMPLES: Final = 5001
_STOPS: Final = 1000


def laws_of(model: Model, *kinds: Mapping[str, Element]) -> Iterator[tuple[str, Law]]:
    """The laws of elements, by whose they are: of drivers and forces; alike ones once."""
    seen: set[Law] = set()
    for elements in kinds or (model.drivers, model.forces):
        for element in elements.values():
            for name in element.settings():
                law = getattr(element, name)
                if isinstance(law, Law) and law not in seen and len(seen) < _MOST:
                    seen.add(law)
                    yield f"{element.category} {element.name!r}", law


def blows(model: Model, t: Floats) -> list[int]:
    """The instants around which laws of forces change most, where they change all at once."""
    found: set[int] = set()
    for _, law in islice(laws_of(model, model.forces), _FEW):
        with np.errstate(all="ignore"):
            bend = np.abs(np.diff(law.value(t, model.parameters), 2))
        if len(bend) and bend.max() > JUMP * np.median(bend):
            k = int(np.argmax(bend))
            found.update(range(max(k - 1, 0), min(k + 4, len(t))))
    return sorted(found)


def breaks(
    model: Model,
    start: float,
    duration: float,
    parameters: Values | None = None,
) -> Floats:
    """The times around which laws change quickly, for adaptive steps to stop at.

    A step that begins where nothing happens may be so long that it passes a blow.  A stretch that
    is shorter than the longest step, before and after which a law hardly changes, is told by its
    two ends; so are the points of a table.  ``parameters`` are other values than the model's.
    """
    known = {**model.parameters, **(parameters or {})}
    found: list[float] = []
    for _, law in islice(laws_of(model), _FEW):
        if isinstance(law, Table) and law.outside != "periodic":
            found += [t for t in law.times if start < t < start + duration]
        else:
            found += _stretches(law, known, start, start + duration, duration / FEWEST)
    return np.unique(found)[:_STOPS]


def within_a_step(
    model: Model,
    start: float,
    duration: float,
    step: float,
    parameters: Values | None = None,
) -> list[Event]:
    """Events that tell of blows shorter than a fixed step, which may pass them unseen."""
    known = {**model.parameters, **(parameters or {})}
    found = []
    for whose, law in islice(laws_of(model, model.forces), _FEW):
        for a, b in _active(law, known, start, start + duration):
            if b - a > 10 * step + 4 * duration / _SAMPLES:
                continue
            t = np.linspace(a, b, _SAMPLES)
            with np.errstate(all="ignore"):
                f = law.value(t, known)
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


def _stretches(law: Law, known: Values, start: float, end: float, most: float) -> list[float]:
    """The ends of stretches in which a law changes, that are shorter than a length."""
    found: list[float] = []
    for a, b in _active(law, known, start, end):
        if b - a >= most or len(found) >= _STOPS:
            continue
        inner: list[float] = []
        if b - a < 7.5 * (end - start) / _SAMPLES and b - a > 1e-12 * max(abs(a), abs(b)):
            inner = _stretches(law, known, a, b, (b - a) / 4)  # it may be shorter still
        found += inner or [a, b]
    return found


def _active(law: Law, known: Values, start: float, end: float) -> list[tuple[float, float]]:
    """The stretches in which a law changes, if it does so in less than half of the time."""
    t = np.linspace(start, end, _SAMPLES)
    with np.errstate(all="ignore"):
        change = np.abs(np.diff(law.value(t, known)))
    change = np.nan_to_num(change, nan=0.0, posinf=0.0)
    active = change > 1e-3 * change.max()
    if not active.any() or active.mean() > 0.5:
        return []
    edges = np.flatnonzero(np.diff(active.astype(int), prepend=0, append=0))
    firsts, lasts = np.maximum(edges[::2] - 1, 0), np.minimum(edges[1::2] + 1, len(t) - 1)
    return list(zip(t[firsts].tolist(), t[lasts].tolist(), strict=True))
