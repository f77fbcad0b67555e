"""Forces to be drawn as arrows: what acts on a mechanism, and what its joints carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.errors import BielaError
from biela.model.bodies import GROUND
from biela.model.forces import AppliedWrench, SpringDamper
from biela.model.joints import Joint
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.results import Results
from biela.results.channels import Channels
from biela.studio.pieces import between

__all__ = ["Arrows", "applied", "reactions"]

Floats = npt.NDArray[np.float64]

#: A force of a driver below this part of the largest one is none.
_NOTHING: Final = 1e-9
#: Instants at which reactions are found: each is a system of all joints.
_INSTANTS: Final = 61


@dataclass(frozen=True, eq=False)
class Arrows:
    """Forces over time.

    Attributes:
        names: What makes each of them (n).
        points: Where they act (k, n, 3), m.
        forces: What they are (k, n, 3), N.
        rows: Where each row is among the instants of the motion (k,); () if it has all of them.
    """

    names: tuple[str, ...]
    points: Floats
    forces: Floats
    rows: Sequence[int] = ()

    @cached_property
    def largest(self) -> float:
        """The largest force there ever is, N."""
        sizes = np.linalg.norm(self.forces, axis=2)
        return float(np.nanmax(sizes, initial=0.0))

    def segments(self, place: float, length: float, force: float = 0.0) -> Floats:
        """Tails and heads (n, 2, 3) at a place among the instants.

        A ``force`` (N) is ``length`` long; by default the largest there ever is.
        """
        scale = length / (force or self.largest or 1.0)
        if len(self.rows):
            place = float(np.interp(place, self.rows, np.arange(len(self.rows))))
        tail = between(self.points, place)
        return np.stack([tail, tail + scale * np.nan_to_num(between(self.forces, place))], axis=1)


def reactions(model: bl.Model, motion: Results) -> Arrows:
    """The forces of joints and drivers on the bodies after them, at their markers.

    They are found at some instants of the motion, in a line between them.

    Raises:
        BielaError: They cannot be found for this motion.
    """
    rows = np.unique(np.linspace(0, len(motion) - 1, _INSTANTS).round().astype(int))
    some = _at(motion, rows)
    found = bl.joint_reactions(model, some)
    whole = model.flattened() if model.parts else model
    least = _NOTHING * np.abs(found.force).max(initial=0.0)
    names, places, forces = [], [], []
    for k, name in enumerate(found.joints):
        marker = _end(whole, name)
        drives = name not in whole.joints
        if marker is None or (drives and np.abs(found.force[:, k]).max() <= least):
            continue  # a motor that turns gives no force
        names.append(name)
        places.append(_place(some, marker))
        forces.append(found.force[:, k])
    return replace(_arrows(names, places, forces), rows=rows.tolist())


def _end(model: bl.Model, name: str) -> Marker | None:
    """Where a joint or driver acts on the body after it."""
    if name in model.joints:
        joint = model.joints[name]
        return joint.j if isinstance(joint, Joint) else None
    driver = model.drivers[name]
    marker = getattr(driver, "j", None) or getattr(driver, "marker", None)
    if marker is None:
        coordinate = str(getattr(driver, "coordinate", ""))
        owner = model.joints.get(coordinate) or model.joints.get(coordinate.rpartition(".")[0])
        marker = getattr(owner, "j", None)
    return marker if isinstance(marker, Marker) else None


def _at(motion: Results, rows: npt.NDArray[np.int64]) -> Results:
    """The motion at some of its instants."""
    groups = {
        group: Channels(channels.names, np.array(motion[group])[rows], channels.units)
        for group, channels in motion.groups.items()
    }
    return Results(motion.name, motion.t[rows], groups)


def applied(model: bl.Model, motion: Results) -> Arrows:
    """Weights of the bodies, applied forces, and springs; laws at the parameters of the model.

    A spring pulls by k (l - l0) + c l' - f; see `biela.model.forces.spring_damper`.
    """
    whole = model.flattened() if model.parts else model
    found = [*_weights(whole, motion)]
    for force in whole.forces.values():
        try:
            if isinstance(force, AppliedWrench):
                found.append(_wrench(whole, motion, force))
            elif isinstance(force, SpringDamper) and not (force.only or len(force.characteristic)):
                found += _spring(whole, motion, force)
        except BielaError:
            continue  # a law of something that only the equations know
    names, places, forces = (
        (list(part) for part in zip(*found, strict=True)) if found else ([],) * 3
    )
    return _arrows(names, places, forces)


def _arrows(names: list[str], places: list[Floats], forces: list[Floats]) -> Arrows:
    if not names:
        return Arrows((), np.zeros((1, 0, 3)), np.zeros((1, 0, 3)))
    return Arrows(tuple(names), np.stack(places, axis=1), np.stack(forces, axis=1))


def _place(motion: Results, marker: Marker) -> Floats:
    """Where a marker is, (k, 3)."""
    return np.array(motion.frame(marker.label).position)


def _weights(model: bl.Model, motion: Results) -> Iterator[tuple[str, Floats, Floats]]:
    gravity = np.array([model.number(g, "acceleration") for g in model.gravity])
    for body in model.bodies.values():
        mass = model.number(body.inertia.mass, "mass")
        if mass > 0 and gravity.any():
            com = [model.number(x, "length") for x in body.inertia.com]
            frame = motion.frame(body.name)
            place = frame.position + frame.orientation @ np.array(com)
            yield f"weight of {body.name}", place, np.broadcast_to(mass * gravity, place.shape)


def _wrench(model: bl.Model, motion: Results, force: AppliedWrench) -> tuple[str, Floats, Floats]:
    parts = [_law(model, motion, law) for law in (force.fx, force.fy, force.fz)]
    vector = np.stack(parts, axis=1)
    if force.along is not None and force.along.body != GROUND:
        vector = np.einsum("kij,kj->ki", motion.frame(force.along.label).orientation, vector)
    return force.name, _place(motion, force.marker), vector


def _spring(
    model: bl.Model, motion: Results, spring: SpringDamper
) -> list[tuple[str, Floats, Floats]]:
    i, j = motion.frame(spring.i.label), motion.frame(spring.j.label)
    gap = np.array(j.position - i.position)
    length = np.linalg.norm(gap, axis=1)
    along = np.divide(gap, length[:, None], out=np.zeros_like(gap), where=length[:, None] > 0)
    rate = np.einsum("ki,ki->k", along, j.velocity - i.velocity)
    pull = model.number(spring.stiffness, "stiffness") * (
        length - model.number(spring.length, "length")
    )
    pull = pull + model.number(spring.damping, "damping") * rate - _law(model, motion, spring.force)
    vector = pull[:, None] * along
    ends = ((spring.i, i, vector), (spring.j, j, -vector))
    return [(spring.name, np.array(f.position), v) for m, f, v in ends if m.body != GROUND]


def _law(model: bl.Model, motion: Results, law: Law | None) -> Floats:
    if law is None:
        return np.zeros(len(motion))
    return np.asarray(law.value(motion.t, model.parameters), dtype=float)
