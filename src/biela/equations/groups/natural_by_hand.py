"""Groups laid out by hand: points, vectors and the constraints of natural coordinates.

Every matrix of Miralles 2018 is made of these few (specification §3.3); d = r_j - r_i:

    distance         d · d - L²              unit_vector      u · u - 1
    dot              a · b - k               cross            a × b, of rank 2; one row in a plane
    axis_distance    r_j - r_i - s u         angle_cosine     a · b - K cos α
                                             angle_sine       (a × b) · n - K sin α

The kernels of such a group are those of any other: `biela.equations.groups.kernel`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom, cos, sin
from biela.equations.blocks.populations import Floats, Frames, Integers
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.group import Group
from biela.equations.groups.items import Item
from biela.equations.groups.natural_vectors import Triple, cross, difference, dot, times
from biela.equations.reference_point import NORMAL
from biela.model.joints.primitives import Row
from biela.space import Vector

__all__ = ["ActuatorCosines", "HandLaid", "linear_actuator_group"]

#: Where vectors are at a position, (n, 3).
Start = Callable[[Poses], Floats]


class HandLaid(GroupDerivation):
    """A group of points and vectors that somebody lays out; it has no bodies of the model.

    Args:
        name: Of the group.
        count: Number of instances.
        plane: Of a planar group.
    """

    def __init__(self, name: str, count: int = 1, plane: str | None = None) -> None:
        group = Group((), (), (), (), (), 0, "plane" if plane else "space", name, name, (), ())
        bodies = np.zeros((count, 0), dtype=np.int64)
        super().__init__(Cast(group, plane, bodies, (), np.arange(count)))

    # ------------------------------------------------------------------ points, vectors

    def known_point(self, body: Integers, local: Floats) -> Triple:
        """A point (n, 3) of known bodies."""
        x, y, z = self._known_triple("point", body, local)
        return x, y, z

    def known_vector(self, body: Integers, local: Floats) -> Triple:
        """A direction (n, 3) of known bodies."""
        x, y, z = self._known_triple("axis", body, local)
        return x, y, z

    def law_of_time(self, places: Integers) -> Atom:
        """A law of time, by its places among those of the model."""
        return self.given(Item("law", places), 0)

    def free(self, name: str, start: Start) -> Triple:
        """A point or a vector as unknowns."""

        def component(k: int) -> Start:
            return lambda poses: start(poses)[:, k]

        found = [self.workspace.atom(0)] * 3
        for axis in self.plane or "xyz":
            k = "xyz".index(axis)
            found[k] = self.unknown(f"{name}.{axis}", component(k))
        return found[0], found[1], found[2]

    # ---------------------------------------------------------------------- constraints

    def hold(self, label: str, value: Atom) -> None:
        """Add an equation."""
        nothing = Vector(self.space, {})
        self.further.append(Row(label, value, None, nothing, nothing))

    def distance(self, label: str, i: Triple, j: Triple, length: Atom | float) -> None:
        """Two points stay a length apart."""
        d = difference(j, i)
        self.hold(label, dot(d, d) - length * length)

    def unit_vector(self, label: str, u: Triple) -> None:
        """A vector has the length 1."""
        self.hold(label, dot(u, u) - 1)

    def dot(self, label: str, a: Triple, b: Triple, value: Atom | float = 0.0) -> None:
        """The scalar product of two vectors stays."""
        self.hold(label, dot(a, b) - value)

    def cross(self, label: str, a: Triple, b: Triple) -> None:
        """Two vectors stay parallel."""
        found = cross(a, b)
        for axis in "xyz" if self.plane is None else NORMAL[self.plane]:
            self.hold(f"{label}.{axis}", found["xyz".index(axis)])

    def axis_distance(self, label: str, i: Triple, j: Triple, s: Atom, u: Triple) -> None:
        """Point j is at the distance s from i along u."""
        found = difference(difference(j, i), times(s, u))
        for axis in self.plane or "xyz":
            self.hold(f"{label}.{axis}", found["xyz".index(axis)])

    def angle_cosine(
        self, label: str, a: Triple, b: Triple, angle: Atom, product: Atom | float = 1.0
    ) -> None:
        """The angle from a to b by its cosine; ``product`` is |a| |b|.  Singular at 0 and π."""
        self.hold(label, dot(a, b) - product * cos(angle))

    def angle_sine(
        self,
        label: str,
        a: Triple,
        b: Triple,
        normal: Triple,
        angle: Atom,
        product: Atom | float = 1.0,
    ) -> None:
        """The angle from a to b about a normal by its sine.  Singular at ±π/2."""
        self.hold(label, dot(cross(a, b), normal) - product * sin(angle))


@dataclass(frozen=True)
class ActuatorCosines:
    """Cosines between the vectors of a linear actuator; the source's numbers (Miralles, app. A)."""

    v1_v2: float = 0.010447
    v1_v3: float = 0.027594
    v2_v3: float = -0.00432
    v1_v4: float = 0.0005903
    v1_v5: float = 0.029736
    v4_v5: float = -0.01326


def linear_actuator_group(
    foot: Frames,
    head: Frames,
    cosines: ActuatorCosines | None = None,
    *,
    implied: bool = True,
) -> HandLaid:
    """The linear actuator of a Stewart platform, cylinder and rod (Miralles 2018, app. A).

    Unknown are v₁ (the axis), v₂ and v₃ of the cylinder, v₄ and v₅ of the rod, and the length s;
    known are P₀ and v₆ at its foot, P₁ and v₇ at its head: 19 equations, 16 unknowns, 12 inputs.
    As the source prints it, cylinder and rod are each held by a vector of their own (v₃ · v₆ = 0,
    v₅ · v₇ = 0), and nothing ties their turns about the axis to each other.

    Args:
        foot: P₀, and v₆ as the x axis, on the body below.
        head: P₁, and v₇ as the y axis, on the body above.
        cosines: Between its vectors.
        implied: Also v₁ × (P₀ - P₁) = 0, which P₁ - P₀ - s v₁ = 0 implies: the kernel then solves
            by least squares.
    """
    c = cosines or ActuatorCosines()
    group = HandLaid("linear actuator", len(foot.body))
    start = _actuator_starts(foot, head)
    v1, v2, v3, v4, v5 = (group.free(f"v{k}", start[k]) for k in range(1, 6))
    s = group.unknown("s", lambda poses: np.linalg.norm(_axis(poses, foot, head), axis=1))
    P0 = group.known_point(foot.body, foot.place)
    P1 = group.known_point(head.body, head.place)
    v6 = group.known_vector(foot.body, foot.axes[:, :, 0])
    v7 = group.known_vector(head.body, head.axes[:, :, 1])
    for k, v in ((1, v1), (2, v2), (3, v3)):
        group.unit_vector(f"v{k}.unit", v)
    group.dot("v1.v2", v1, v2, c.v1_v2)
    group.dot("v1.v3", v1, v3, c.v1_v3)
    group.dot("v2.v3", v2, v3, c.v2_v3)
    for k, v in ((4, v4), (5, v5)):
        group.unit_vector(f"v{k}.unit", v)
    group.dot("v1.v4", v1, v4, c.v1_v4)
    group.dot("v1.v5", v1, v5, c.v1_v5)
    group.dot("v4.v5", v4, v5, c.v4_v5)
    if implied:
        group.cross("line", v1, difference(P0, P1))
    group.dot("v3.v6", v3, v6)
    group.dot("v5.v7", v5, v7)
    group.axis_distance("axis", P0, P1, s, v1)
    return group


def _axis(poses: Poses, foot: Frames, head: Frames) -> Floats:
    found: Floats = poses.of(head)[0] - poses.of(foot)[0]
    return found


def _actuator_starts(foot: Frames, head: Frames) -> dict[int, Start]:
    """Vectors at right angles: v₁ along the axis, v₃ across v₆, v₅ across v₇."""

    def v1(poses: Poses) -> Floats:
        return _units(_axis(poses, foot, head))

    def v3(poses: Poses) -> Floats:
        return _units(np.cross(poses.of(foot)[1][:, :, 0], v1(poses)))

    def v5(poses: Poses) -> Floats:
        return _units(np.cross(poses.of(head)[1][:, :, 1], v1(poses)))

    return {
        1: v1,
        2: lambda poses: np.cross(v3(poses), v1(poses)),
        3: v3,
        4: lambda poses: np.cross(v5(poses), v1(poses)),
        5: v5,
    }


def _units(rows: Floats) -> Floats:
    found: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found
