"""Signs of joints, by which their kinds are told apart in space.

A revolute joint is a pin between two collars, a prismatic one a square sleeve, a cylindrical one a
round sleeve on a rod, a screw a rod with threads, a universal joint its cross, a spherical one a
ball, a planar one a plate, a fixed one a cube, a point on a line a bead on its wire.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.results.orientation import euler_parameters
from biela.studio.pieces import Track
from biela.studio.posing import Motion
from biela.studio.solids import Mesh, ball, bar, plate, rotation, together

__all__ = ["Carried", "JointSign", "carried", "joint_signs", "sign_mesh", "sign_unit", "spacing"]

Floats = npt.NDArray[np.float64]

#: Length of a sign, as a part of the size of the mechanism.
LENGTH: Final = 0.07
#: The size counts as so many distances between joints at most.
_SPACINGS: Final = 8.0


@dataclass(frozen=True)
class JointSign:
    """The sign of one joint.

    Attributes:
        name: Of the joint.
        kind: Of the joint.
        driven: Whether a driver moves one of its coordinates.
        i: Label of the marker on the body before.
        j: Label of that on the body after.
        carrier: The body that it moves with; "" if it moves by itself.
    """

    name: str
    kind: str
    driven: bool
    i: str
    j: str
    carrier: str = ""

    def track(self, frame: Motion) -> Track:
        """Its motion: that of marker j; the cross of a universal joint has its arms on x_i, y_j."""
        r, R = frame(self.j)
        if self.kind == "universal":
            x, y = np.broadcast_arrays(frame(self.i)[1][..., 0], R[..., 1])
            R = np.stack([x, y, np.cross(x, y)], axis=2)
        elif self.kind in _ON_I:
            R = frame(self.i)[1]
        return Track(np.asarray(r, dtype=float), euler_parameters(R))


#: Signs that do not turn with the body after the joint.
_ON_I: Final = ("planar", "point_on_line")


def joint_signs(model: bl.Model) -> list[JointSign]:
    """The signs of all joints that have one, in the order of the model."""
    whole = model.flattened() if model.parts else model
    driven = [str(getattr(driver, "coordinate", "")) for driver in whole.drivers.values()]
    moved = {*driven, *(name.rpartition(".")[0] for name in driven)}  # "pin" or "pin.angle"
    return [
        JointSign(
            joint.name,
            joint.kind,
            joint.name in moved,
            joint.i.label,
            joint.j.label,
            _carrier(joint),
        )
        for joint in whole.joints.values()
        if isinstance(joint, Joint) and joint.kind in _MAKERS
    ]


def _carrier(joint: Joint) -> str:
    body = (joint.i if joint.kind in _ON_I else joint.j).body
    return "" if body == GROUND or joint.kind == "universal" else body


@dataclass(frozen=True, eq=False)
class Carried:
    """Signs of one colour that move together: those that one body carries, or one by itself.

    Attributes:
        signs: Which ones.
        mesh: All of them, in the axes of what they move with.
    """

    signs: tuple[JointSign, ...]
    mesh: Mesh

    def track(self, frame: Motion) -> Track:
        """Their motion."""
        first = self.signs[0]
        if not first.carrier:
            return first.track(frame)
        r, R = frame(first.carrier)
        return Track(np.asarray(r, dtype=float), euler_parameters(R))


def carried(signs: Sequence[JointSign], frame: Motion, length: float) -> list[Carried]:
    """Signs, each ``length`` long, put together with what they move with."""
    groups: dict[tuple[str, str, bool], list[JointSign]] = {}
    for sign in signs:
        alone = "" if sign.carrier else sign.name
        groups.setdefault((sign.carrier, alone, sign.driven), []).append(sign)
    return [Carried(tuple(some), _fixed(some, frame, length)) for some in groups.values()]


def _fixed(signs: Sequence[JointSign], frame: Motion, length: float) -> Mesh:
    """Signs where they are on their body: any instant tells."""
    if not signs[0].carrier:
        return sign_mesh(signs[0].kind, length)
    r, R = (x[0] for x in frame(signs[0].carrier))
    placed = []
    for sign in signs:
        mesh = sign_mesh(sign.kind, length)
        place, p = sign.track(frame).at(0)
        own = mesh.vertices @ rotation(p).T + place
        placed.append(Mesh((own - r) @ R, mesh.faces))
    return together(*placed)


def sign_unit(model: bl.Model, frame: Motion, extent: float) -> float:
    """What signs are measured by (m): the extent of the mechanism, less where joints are many."""
    places = [frame(sign.j)[0][0] for sign in joint_signs(model)]
    return min(extent, _SPACINGS * spacing(np.array(places).reshape(-1, 3)))


def spacing(places: Floats) -> float:
    """How far apart things are: of the distances of places (n, 3) to the nearest other one, each.

    Three quarters of them are not larger.  Infinite if all are at one place.

    >>> spacing(np.array([[0.0, 0, 0], [1, 0, 0], [3, 0, 0]]))
    1.5
    """
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    distances[distances < 1e-9 * distances.max(initial=0.0)] = np.inf
    nearest = distances.min(axis=1, initial=np.inf)
    near = nearest[np.isfinite(nearest) & (nearest > 0)]
    return float(np.quantile(near, 0.75)) if len(near) else float("inf")


@lru_cache(maxsize=64)
def sign_mesh(kind: str, length: float) -> Mesh:
    """The surface of a sign, its axis along z, ``length`` from end to end."""
    unit = _MAKERS[kind]()
    return Mesh(length * unit.vertices, unit.faces)


# ------------------------------------------------------------------------------- unit surfaces


def _rod(low: float, high: float, radius: float, axis: int = 2) -> Mesh:
    ends = np.zeros((2, 3))
    ends[:, axis] = low, high
    return bar(ends, radius)


def _block(half: tuple[float, float, float]) -> Mesh:
    corners = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return plate(corners * np.array(half), half[2])


def _revolute() -> Mesh:
    collars = (_rod(end - 0.06, end + 0.06, 0.3) for end in (-0.44, 0.44))
    return together(_rod(-0.5, 0.5, 0.19), *collars)


def _screw() -> Mesh:
    threads = (_rod(z - 0.035, z + 0.035, 0.26) for z in np.linspace(-0.5, 0.5, 7))
    return together(_rod(-0.7, 0.7, 0.15), *threads)


def _cross() -> Mesh:
    arms = (_rod(-0.5, 0.5, 0.13, axis) for axis in (0, 1))
    ends = (_rod(end - 0.07, end + 0.07, 0.19, axis) for axis in (0, 1) for end in (-0.45, 0.45))
    return together(*arms, *ends)


_MAKERS: Final[dict[str, Callable[[], Mesh]]] = {
    "revolute": _revolute,
    "prismatic": lambda: together(_block((0.24, 0.24, 0.45)), _rod(-0.75, 0.75, 0.1)),
    "cylindrical": lambda: together(_rod(-0.4, 0.4, 0.25), _rod(-0.75, 0.75, 0.1)),
    "helical": _screw,
    "universal": _cross,
    "spherical": lambda: ball(0.3),
    "planar": lambda: together(_block((0.6, 0.6, 0.04)), ball(0.16)),
    "fixed": lambda: _block((0.2, 0.2, 0.2)),
    "point_on_line": lambda: together(ball(0.22), _rod(-0.7, 0.7, 0.07)),
}
