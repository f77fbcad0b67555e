"""Load cases on a page: the instants at which loads are extreme, with all loads that act then.

A stress analysis takes loads that act together, so each case has a table of its own: a row a joint,
the components along the axes of the ground, all with the same decimals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.groups.joint_wrenches import acting_end
from biela.results.load_cases import COMPONENTS, LoadCase, load_cases
from biela.studio.report.fragments import Digits, decimals, table, words

__all__ = ["asked_components", "cases"]

Floats = npt.NDArray[np.float64]

#: Cases that are listed at most, and at least; rows of all their tables, about.
_MOST, _LEAST, _ROWS = 12, 4, 150
#: What is extreme in a case, as far as it is listed.
_REASONS: Final = 8


def asked_components(model: bl.Model) -> list[int]:
    """The components of a wrench that a model is asked for: in its plane, or all of them."""
    if model.plane is None:
        return list(range(6))
    within = sorted("xyz".index(axis) for axis in model.plane)
    return [*within, 3 + next(k for k in range(3) if k not in within)]


def cases(model: bl.Model, t: Floats, carried: Mapping[str, Floats]) -> str:
    """The tables of the load cases of joints.

    Args:
        model: Whose joints they are.
        t: The instants (n,).
        carried: Force and moment of each joint that carries something, (n, 6).
    """
    found = load_cases(t, carried).cases
    room = min(_MOST, max(_LEAST, _ROWS // len(carried)))
    listed = _chosen(load_cases(t, carried, extremes=("F", "M")).cases, room)
    if len(found) <= room:
        listed = list(found)
    loads = np.stack([case.loads for case in listed])
    asked = [k for k in asked_components(model) if loads[..., k].any()]
    heads = [f"{COMPONENTS[k]} [{'N' if k < 3 else 'N·m'}]" for k in asked]
    digits = [decimals(loads[..., part]) for part in (slice(0, 3), slice(3, 6))]
    on = _bodies(model, list(carried))
    html = "".join(
        f'<div class="case"><h5>{number}. t = {case.time:.5g} s</h5>{_reasons(case)}'
        + table(("joint", "on", *heads), _rows(case, list(carried), on, asked, digits))
        + "</div>"
        for number, case in enumerate(listed, 1)
    )
    told = (
        "Each case is an instant, with all loads that act together then: on the body named, at the "
        "marker of the joint, along the axes of the ground."
    )
    if len(asked) < len(asked_components(model)):
        told += " Components that have no column are zero."
    if len(found) > len(listed):
        told += (
            f" These are the instants of the largest forces and moments; biela run --reactions "
            f"writes all {len(found)} at which a component is extreme."
        )
    return f'<h4>Load cases</h4>{words(told, "caption")}<div class="cases-of-loads">{html}</div>'


def _chosen(found: Sequence[LoadCase], room: int) -> list[LoadCase]:
    """Those at which the most is extreme, first of all the largest force and moment, by time."""

    def largest(part: slice) -> int:
        return max(found, key=lambda c: np.linalg.norm(c.loads[:, part], axis=1).max()).number

    first = {largest(slice(0, 3)), largest(slice(3, 6))}
    by_weight = sorted(found, key=lambda c: (c.number not in first, -len(c.reasons), c.time))
    return sorted(by_weight[:room], key=lambda c: c.time)


def _rows(
    case: LoadCase,
    joints: Sequence[str],
    on: Sequence[str],
    asked: Sequence[int],
    digits: Sequence[int],
) -> list[tuple[str | float, ...]]:
    return [
        (joint, body, *(Digits(float(load[k]), digits[k >= 3]) for k in asked))
        for joint, body, load in zip(joints, on, case.loads, strict=True)
    ]


def _reasons(case: LoadCase) -> str:
    more = len(case.reasons) - _REASONS
    why = "; ".join(case.reasons[:_REASONS]) + (f"; {more} more" if more > 0 else "")
    return words(why, "caption")


def _bodies(model: bl.Model, joints: Sequence[str]) -> list[str]:
    """The body that each joint or driver acts on."""
    whole = model.flattened() if model.parts else model
    found = []
    for name in joints:
        element = whole.joints.get(name) or whole.drivers[name]
        end = acting_end(whole, element)
        found.append(end.body if end is not None and end.sign > 0 else "ground")
    return found
