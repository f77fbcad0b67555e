"""Which points and axes the bodies of a model share by their joints.

A joint declares what its markers have in common: a point, an axis.  Nodes (body, place in it) that
are one by a joint are merged; a class of nodes can then be one point, or one vector, for all its
bodies.  A merger that would make two places of one body the same is refused, and that joint is left
to its equations; so is a joint whose reaction a force or sensor asks for: it needs multipliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import numpy as np

from biela.atoms import Atom, Workspace, cos, sin
from biela.equations.natural.entities import Floats
from biela.equations.natural.one_of_a_body import OneOfABody
from biela.model import Model
from biela.model.forces import Force
from biela.model.joints import Joint
from biela.model.markers import Marker
from biela.model.placing import marker_pose, matrix
from biela.model.quantities.values import Value
from biela.model.sensors import Sensor

#: Places of a body nearer than this are one (m, or of a unit vector).
_SAME: Final = 1e-12

Triple: TypeAlias = tuple[Atom, Atom, Atom]


@dataclass(frozen=True, eq=False)
class Node:
    """A place in a body, or a direction of it."""

    body: str
    #: In the frame of the body, as expressions of parameters and as numbers.
    at: Triple
    numbers: Floats
    #: The marker it was first seen at.
    marker: Marker


class Classes(OneOfABody[Node]):
    """Nodes in classes that are one point, or one vector."""

    def node(self, made: Node) -> int:
        """The number of a node; one at the same place of the same body is the same."""
        for k in self.of(made.body):
            if _same(self.nodes[k], made):
                return k
        return self.enter(made, made.body)

    def shared(self) -> dict[int, list[Node]]:
        """The classes of more than one body, in the order in which they were seen."""
        return {root: nodes for root, nodes in self.classes() if len(nodes) > 1}


def _same(a: Node, b: Node) -> bool:
    """Whether two places are one for all values of the parameters."""
    for x, y, i, j in zip(a.at, b.at, a.numbers, b.numbers, strict=True):
        if x.ref != y.ref and (x.value is None or y.value is None or abs(i - j) > _SAME):
            return False
    return True


@dataclass(frozen=True)
class Shared:
    """The points and axes that joints make one."""

    points: Classes
    axes: Classes


class Placing(Protocol):
    """A derivation that knows where markers are in their bodies."""

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def workspace(self) -> Workspace:
        """Where the atoms live."""

    def number(self, value: Value, dimension: str) -> Atom:
        """A value: a constant, or an expression of the parameters of the model."""

    def position_of(self, marker: Marker) -> Triple:
        """The place of a marker in the frame of its body."""


def shared_entities(derivation: Placing) -> Shared:
    """Merge what the joints of a model share."""
    model = derivation.model
    elements: list[Force | Sensor] = [*model.forces.values(), *model.sensors.values()]
    loaded = {name for element in elements for name in element.needs_reactions}
    points, axes = Classes(), Classes()
    for joint in model.joints.values():
        if not isinstance(joint, Joint) or joint.name in loaded:
            continue
        if "point" in joint.shares:
            nodes = [points.node(point_node(derivation, m)) for m in (joint.i, joint.j)]
            points.merge(*nodes)
        if "axis" in joint.shares:
            nodes = [axes.node(axis_node(derivation, m)) for m in (joint.i, joint.j)]
            axes.merge(*nodes)
    return Shared(points, axes)


def point_node(derivation: Placing, marker: Marker) -> Node:
    """The place of a marker in its body."""
    numbers = marker_pose(derivation.model, marker)[:3, 3]
    return Node(marker.body, derivation.position_of(marker), numbers, marker)


def axis_node(derivation: Placing, marker: Marker) -> Node:
    """The z axis of a marker in its body."""
    columns = marker_axes(derivation, marker)
    numbers = matrix(derivation.model, marker.orientation)[:, 2]
    x, y, z = (row[2] for row in columns)
    return Node(marker.body, (x, y, z), numbers, marker)


def marker_axes(derivation: Placing, marker: Marker) -> Sequence[Sequence[Atom]]:
    """R of a marker in its body, by rows; its turns may be expressions of parameters."""
    if not marker.orientation.turns:
        R = np.array(marker.orientation.axes)
        return [[derivation.workspace.atom(float(x)) for x in row] for row in R]
    return _turned(derivation, marker)


def _turned(derivation: Placing, marker: Marker) -> list[list[Atom]]:
    ws = derivation.workspace
    R = [[ws.atom(float(x)) for x in row] for row in marker.orientation.axes]
    for axis, angle in marker.orientation.turns:
        turn = derivation.number(angle, "angle")
        k = "xyz".index(axis[-1])
        if axis.startswith("-"):
            turn = -turn
        i, j = (k + 1) % 3, (k + 2) % 3
        s, c = sin(turn), cos(turn)
        for row in R:
            row[i], row[j] = row[i] * c + row[j] * s, row[j] * c - row[i] * s
    return R
