"""Forces and moments in joints from the multipliers of groups.

The rows of a joint act on the body after it with the force -Σ λ J_v and the moment -Σ λ J_ω about
its centre of mass; what acts on an angle that counts turns goes through the row that reads it to
the bodies, and belongs to whoever acts on it (`biela.analysis.free_bodies`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.equations.groups.forces import ForceEquations, ForceProgram
from biela.equations.reference_point import NORMAL
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Coupling, Joint
from biela.model.placing import marker_pose

__all__ = ["End", "Instants", "JointWrenches", "acting_end", "holds", "told_in_plane"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: A part of a self-stress below this is rounding.
_PART: Final = 1e-7


@dataclass(frozen=True, eq=False)
class End:
    """Where a joint or driver acts: a body, the pose of its marker there, and the sign."""

    body: str
    pose: Floats
    sign: float


def acting_end(model: Model, element: object) -> End | None:
    """The body after a joint or driver, or the one before where that is the ground."""
    if isinstance(element, Coupling):
        # what it does to the body after the last of the joints that it couples
        last = element.couples[-1]
        element = model.joints.get(last) or model.joints[last.rpartition(".")[0]]
    i, j = getattr(element, "i", None), getattr(element, "j", None)
    if j is None:
        j = getattr(element, "marker", None)
    if j is None:
        name = str(getattr(element, "coordinate", ""))
        owner = model.joints.get(name) or model.joints.get(name.rpartition(".")[0])
        i, j = getattr(owner, "i", None), getattr(owner, "j", None)
    if j is not None and j.body != GROUND:
        return End(j.body, marker_pose(model, j), 1.0)
    if i is not None and i.body != GROUND:
        return End(i.body, marker_pose(model, i), -1.0)
    return None


def holds(element: object) -> bool:
    """Whether a joint or driver exerts anything: all but a joint without equations do."""
    return not isinstance(element, Joint) or bool(element.conditions()) or bool(element.laws)


def told_in_plane(plane: str | None, axes: Floats) -> Flags:
    """Which components of force and moment a model tells, (n, 6), along axes (n, 3, 3) by rows.

    Of a planar model they are forces in the plane and moments about its normal; what acts across
    the plane, even in part, is not known.
    """
    flags = np.ones((len(axes), 6), dtype=bool)
    if plane is not None:
        normal = "xyz".index(NORMAL[plane])
        flags[:, :3] = np.abs(axes[:, :, normal]) <= _PART
        flags[:, 3:] = (np.abs(np.delete(axes, normal, axis=2)) <= _PART).all(axis=2)
    return flags


@dataclass(frozen=True)
class _Row:
    """Where a row stands: kind, instance, number there, and number among all."""

    kind: int
    instance: int
    row: int
    number: int


@dataclass(frozen=True, eq=False)
class Instants:
    """Some instants: the rows of each kind (n, instances, rows, velocities), λ and self-stresses.

    Attributes:
        J: Of each kind.
        lam: (n, multipliers) in the order of the program.
        null: (n, multipliers, self-stresses) an orthonormal basis.
        R: (n, bodies, 3, 3) axes of the bodies.
    """

    J: list[Floats]
    lam: Floats
    null: Floats
    R: Floats


class JointWrenches:
    """The joints and drivers of a model, and the rows that belong to each.

    Args:
        program: The rows of all groups.
        model: The model, with all parts written out and the parameters as they are.
    """

    def __init__(self, program: ForceProgram, model: Model) -> None:
        self.program, self.model = program, model
        self.names = (*model.joints, *model.drivers)
        self._rows: dict[str, list[_Row]] = {}
        self._readings: dict[str, _Row] = {}
        for name, row in self._every():
            owner, _, _ = name.rpartition(".")
            if owner in program.extra:
                self._readings[owner] = row
            else:
                self._rows.setdefault(owner, []).append(row)
        self._columns = [_columns(e) for e in program.equations]

    def _every(self) -> Iterator[tuple[str, _Row]]:
        number = 0
        for c, e in enumerate(self.program.equations):
            for k in range(e.cast.count):
                for r in range(len(e.rows)):
                    yield self.program.row_names[number], _Row(c, k, r, number)
                    number += 1

    def wrenches(self, at: Instants, in_marker: bool) -> tuple[Floats, Flags]:
        """Wrenches (n, joints, 6), and whether each component is determinate."""
        n = len(at.lam)
        found = np.zeros((n, len(self.names), 6))
        sure = np.ones(found.shape, dtype=bool)
        for k, name in enumerate(self.names):
            element = self.model.joints.get(name) or self.model.drivers[name]
            end = acting_end(self.model, element)
            if end is not None and holds(element):
                rows = self._rows.get(name, [])
                found[:, k], sure[:, k] = self._wrench(at, end, rows, in_marker)
        return found, sure

    def _wrench(
        self, at: Instants, end: End, rows: list[_Row], in_marker: bool
    ) -> tuple[Floats, Flags]:
        world = self.program.blocks.world
        body = world.body(end.body)
        units = np.zeros((len(at.lam), 6, len(rows)))
        for k, row in enumerate(rows):
            units[:, :, k] = self._unit(at, row, body)
        arm = at.R[:, body] @ (end.pose[:3, 3] - world.centres[body])
        plane = self.program.plane
        if plane is not None:
            arm[:, "xyz".index(NORMAL[plane])] = 0.0
        units[:, 3:] -= np.cross(arm[:, :, None], units[:, :3], axis=1)
        axes = np.broadcast_to(np.eye(3), (len(arm), 3, 3))
        if in_marker:
            axes = np.swapaxes(at.R[:, body] @ end.pose[:3, :3], 1, 2)
            units = np.concatenate([axes @ units[:, :3], axes @ units[:, 3:]], axis=1)
        units *= end.sign
        numbers = [row.number for row in rows]
        stress = np.linalg.norm(units @ at.null[:, numbers], axis=2)
        found = -(units @ at.lam[:, numbers, None])[:, :, 0]
        return found, (stress <= _PART) & told_in_plane(plane, axes)

    def _unit(self, at: Instants, row: _Row, body: int) -> Floats:
        """Force and moment on a body of a unit of a multiplier, (n, 6)."""
        found = self._slope(at, row, body)
        for names, column in self._columns[row.kind][1].items():
            turned = names[row.instance]
            if turned not in self._readings:
                continue
            reading = self._readings[turned]
            theirs = self._columns[reading.kind][1]
            there = next(c for ns, c in theirs.items() if ns[reading.instance] == turned)
            slope = at.J[row.kind][:, row.instance, row.row, column]
            read = at.J[reading.kind][:, reading.instance, reading.row, there]
            found = found - (slope / read)[:, None] * self._slope(at, reading, body)
        return found

    def _slope(self, at: Instants, row: _Row, body: int) -> Floats:
        """A row by the velocity and angular velocity of a body, along the ground."""
        J = at.J[row.kind][:, row.instance, row.row]
        found = np.zeros((len(J), 6))
        plane = self.program.plane
        places = list(range(6))
        if plane is not None:
            places = [*("xyz".index(axis) for axis in plane), 3 + "xyz".index(NORMAL[plane])]
        solids = self.program.equations[row.kind].derivation.solids
        for solid, first in zip(solids, self._columns[row.kind][0], strict=True):
            if solid.numbers[row.instance] == body:
                found[:, places] += J[:, first : first + len(places)]
        return found


def _columns(e: ForceEquations) -> tuple[list[int], Mapping[tuple[str, ...], int]]:
    """First columns of the bodies of a kind, and those of coordinates that count turns."""
    keys = [key for key, _ in e.derivation.velocities()]
    bodies = [keys.index((k, 0)) for k in range(len(e.derivation.solids))]
    counts = {tuple(c.names): keys.index((-1, k)) for k, c in enumerate(e.counts)}
    return bodies, counts
