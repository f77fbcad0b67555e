"""The smallest part of a mechanism that still disagrees."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import biela as bl
from tests.soak.comparison import compared
from tests.soak.mechanisms import Case


def _without(case: Case, table: str, name: str) -> Case:
    model = copy.copy(case.model)
    entries = dict(getattr(model, table))
    del entries[name]
    setattr(model, table, entries)
    return replace(case, model=model)


def _without_body(case: Case, body: str) -> Case:
    """A body that hangs on one joint, with what is written on it."""
    made = case
    for table in ("joints", "drivers", "forces"):
        for name, element in getattr(case.model, table).items():
            markers = [getattr(element, field) for field in type(element).markers()]
            if any(marker is not None and marker.body == body for marker in markers):
                made = _without(made, table, name)
    return _without(made, "bodies", body)


def _smaller(case: Case) -> Iterator[Case]:
    model = case.model
    for table in ("forces", "drivers"):
        for name in getattr(model, table):
            yield _without(case, table, name)
    for name in model.joints:
        yield _without(case, "joints", name)
    for body in model.bodies:
        if len(model.bodies) > 1:
            yield _without_body(case, body)
    if case.t:
        yield replace(case, t=0.0)
    if case.parameters:
        yield replace(case, parameters={})


def shrunk(case: Case, door: str, count: int = 1) -> Case:
    """As long as a smaller mechanism disagrees at the same door, that one is taken."""
    going = True
    while going:
        going = False
        for smaller in _smaller(case):
            try:
                report = compared(smaller, [door], count)
            except (bl.BielaError, KeyError):
                continue  # what is left is no mechanism
            if any(f.outcome == "disagrees" and f.error < 1e300 for f in report.findings):
                case, going = smaller, True
                break
    return case
