"""Placing the frames of bodies and markers in the trees of a symbolic system.

Marker j follows marker i of a joint by its moves:

    T_j = T_i · moves,     body after = T_j · (marker j)⁻¹,     T_i = body before · marker i.

Where the axes of marker i are numbers R_i, the moves are turned into the axes of the body before,
R_i (turn about z) R_iᵀ = turn about R_i z, so that no base stands for the marker itself: a hinge
about an axis of its body costs one turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.equations.symbolic import SymbolicSystem
from biela.errors import ModelError
from biela.model.joints import Joint
from biela.model.joints.moves import Move, Rotate, Translate, Turn
from biela.model.markers import Marker
from biela.model.orientation import Orientation
from biela.model.pair import Place
from biela.model.quantities.values import Number
from biela.space import Base, Point

Floats = npt.NDArray[np.float64]


class Placer:
    """Adds places to a system, with names that nobody has used."""

    def __init__(self, system: SymbolicSystem, number: Number) -> None:
        self.system = system
        self._number = number

    # -------------------------------------------------------------------- markers

    def marker(self, body: Place, marker: Marker) -> Place:
        """The place of a marker on a body that has its place."""
        name = identifier(marker.label)
        at = [self._number(x, "length") for x in marker.position]
        return Place(
            self._offset(body.point, body.base, name, at),
            self._oriented(body.base, name, marker.orientation),
        )

    def _oriented(self, base: Base, name: str, orientation: Orientation) -> Base:
        R = np.array(orientation.axes)
        if not np.array_equal(R, np.eye(3)):
            base = base.by_matrix(self._base_name(name), R.tolist())
        for axis, angle in orientation.turns:
            base = base.rotated(self._base_name(name), axis, self._number(angle, "angle"))
        return base

    # --------------------------------------------------------------------- bodies

    def carried(
        self,
        before: Place,
        joint: Joint,
        q: Sequence[Atom | float],
        turns: dict[int, str],
        *,
        name: str,
        backwards: bool,
    ) -> Place:
        """The frame of the body after a joint, or of the body before it if ``backwards``.

        ``turns`` gives a name to each coordinate that is a rotation, which is declared here.
        """
        first, last = (joint.j, joint.i) if backwards else (joint.i, joint.j)
        moves = joint.moves(q, self._number)
        if backwards:
            moves = [inverse_move(move) for move in reversed(moves)]
        start = [self._number(x, "length") for x in first.position]
        point = self._offset(before.point, before.base, f"{name}_in", start)
        plain = not (first.orientation.turns or last.orientation.turns)
        turning = any(isinstance(move, Turn) for move in moves)
        if plain and not turning:
            R, back = np.array(first.orientation.axes), np.array(last.orientation.axes)
            place = self._moved(Place(point, before.base), moves, R, turns, name)
            base = self._constant(place.base, _clean(R @ back.T), name)
        else:
            base = self._oriented(before.base, f"{name}_in", first.orientation)
            place = self._moved(Place(point, base), moves, np.eye(3), turns, name)
            base = place.base
            for axis, angle in reversed(last.orientation.turns):
                turn = -self._number(angle, "angle")
                base = base.rotated(self._base_name(name), axis, turn)
            base = self._constant(base, np.array(last.orientation.axes).T, name)
        end = [-self._number(x, "length") for x in last.position]
        return Place(self._offset(place.point, base, name, end), base)

    def _moved(
        self, place: Place, moves: Sequence[Move], R: Floats, turns: dict[int, str], name: str
    ) -> Place:
        point, base = place.point, place.base
        for move in moves:
            if isinstance(move, Turn):
                base = self.system.orientation(turns[move.coordinate], base)
                continue
            along = R[:, "xyz".index(move.axis)]
            if isinstance(move, Translate):
                way = [move.distance * float(x) if x else 0.0 for x in along]
                point = self._offset(point, base, f"{name}_way", way)
            else:
                base = base.rotated(self._base_name(name), _axis(along), move.angle)
        return Place(point, base)

    # --------------------------------------------------------------------- pieces

    def _constant(self, base: Base, R: Floats, name: str) -> Base:
        if np.array_equal(R, np.eye(3)):
            return base
        return base.by_matrix(self._base_name(name), R.tolist())

    def _offset(self, point: Point, base: Base, name: str, vector: Sequence[Atom | float]) -> Point:
        x, y, z = (self.system.workspace.atom(c) for c in vector)
        if not (x.ref or y.ref or z.ref):
            return point
        return point.offset(self._point_name(name), base.vector(x, y, z))

    def _base_name(self, name: str) -> str:
        return _free(name, self.system.space.bases)

    def _point_name(self, name: str) -> str:
        return _free(name, self.system.space.points)


def identifier(name: str) -> str:
    """A name of a model as an identifier: "left.crank" as left_crank."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return plain if plain[:1].isalpha() else f"m{plain}"


def _free(name: str, taken: dict[str, object] | dict[str, Base] | dict[str, Point]) -> str:
    found, k = name, 1
    while found in taken:
        k += 1
        found = f"{name}_{k}"
    return found


def inverse_move(move: Move) -> Move:
    """The move back; a free rotation is then that of the body before seen from the one after."""
    if isinstance(move, Rotate):
        return Rotate(move.axis, -move.angle)
    if isinstance(move, Translate):
        return Translate(move.axis, -move.distance)
    if isinstance(move, Turn):
        return move  # its coordinate is then the rotation of the body before seen from after
    raise ModelError(f"{move!r} is not a move of a joint")


def _axis(direction: Floats) -> str | list[float]:
    """The name of an axis, or the direction."""
    for k, letter in enumerate("xyz"):
        # by the other two: 1 - cos of a small angle is the square of that angle
        if np.abs(np.delete(direction, k)).max() < 1e-15:
            return letter if direction[k] > 0 else f"-{letter}"
    return [float(x) for x in direction]


def _clean(R: Floats) -> Floats:
    """A product of rotations without the dust of rounding on zeros and ones."""
    rounded = np.round(R)
    return np.where(np.abs(R - rounded) < 1e-15, rounded, R)
