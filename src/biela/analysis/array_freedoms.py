"""Freedoms by rank: of a model without its drivers, and of arrays from a few instances."""

from __future__ import annotations

from biela.analysis.few_instances import few_instances
from biela.analysis.mobility import Mobility, mobility
from biela.equations import System
from biela.equations.formulate import formulate_later
from biela.model import Model

__all__ = ["array_freedoms", "undriven"]


def undriven(model: Model) -> System:
    """Bodies and joints alone: drivers would hide which joints depend on each other."""
    bare = few_instances(model, 10**9).model.flattened(limit=None)
    bare.drivers, bare.forces, bare.sensors = {}, {}, {}
    return formulate_later(bare, "reference")


def _rank_of(model: Model) -> int:
    return mobility(undriven(model)).by_rank


def array_freedoms(model: Model, one: Mobility) -> tuple[int | None, str]:
    """Freedoms of arrays from those of a few instances.

    Instances that are not joined to each other add up.  In chains each further instance adds the
    same number once the first two are there; three are looked at to see that it does.
    """
    total = one.by_rank
    looked = 1
    for name, part in model.parts.items():
        if part.size == 1:
            continue
        alone = len(model.parts) == 1 and not model.bodies and not model.joints
        chained = part.link is not None or bool(part.between)
        if alone and not chained:
            each = one.by_rank
        else:
            two = _rank_of(few_instances(model, 1, {name: 2}).model)
            each, looked = two - one.by_rank, max(looked, 2)
            if chained and part.size > 2:
                three = _rank_of(few_instances(model, 1, {name: 3}).model)
                looked = 3
                if three - two != each:
                    return None, ""
        total += each * (part.size - 1)
    many = "1 instance" if looked == 1 else f"1 to {looked} instances"
    return total, f"from the rank of {many}"
