"""Bases: orientations, each turned from the one before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from biela.atoms import Atom, Kind
from biela.errors import DomainError
from biela.space.rotations import (
    AxisRotation,
    MatrixRotation,
    Rotation,
    Triple,
    about_vector,
    euler_parameters,
    matrix3,
    triple,
)
from biela.space.tree import branch, common_ancestor

if TYPE_CHECKING:
    from biela.space.space import Space
    from biela.space.tensors import Tensor
    from biela.space.vectors import Vector

_AXES = {"x": 0, "y": 1, "z": 2}
#: What the place of a point and the turn of a base cannot depend on.
_NOT_OF_POSITION = (Kind.VELOCITY, Kind.ACCELERATION, Kind.INPUT, Kind.UNKNOWN)


class Base:
    """A node of the base tree.  Bases are made by the methods of other bases, never directly."""

    def __init__(
        self, space: Space, name: str, parent: Base | None, rotation: Rotation | None
    ) -> None:
        self.space, self.name, self.parent = space, name, parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._rotation = rotation
        #: Whether components stay the same in the base before; never for the root.
        self.keeps: Callable[[Triple], bool] = _never if rotation is None else rotation.keeps
        self.index = space.register_base(self)

    @property
    def rotation(self) -> Rotation:
        """The turn from the base before; the root has none."""
        if self._rotation is None:
            raise DomainError(f"{self.name} is the root of the bases and is turned from nothing")
        return self._rotation

    @property
    def follows_axis(self) -> bool:
        """Whether it is turned about the same axis as the base before it."""
        axis = _axis(self)
        return self.parent is not None and axis is not None and axis == _axis(self.parent)

    # new bases

    def rotated(self, name: str, axis: str | Sequence[float], angle: Atom | float) -> Base:
        """A base turned by an angle (rad) about "x", "y", "z", "-x" …, or a fixed direction.

        Raises:
            DomainError: If there is no such axis, or the angle depends on more than position and
                time.
        """
        ws = self.space.workspace
        turn = ws.atom(angle)
        check_position(f"base {name}", [turn])
        if not isinstance(axis, str):
            return Base(self.space, name, self, about_vector(ws, axis, turn))
        letter = axis[1:] if axis[:1] in ("+", "-") else axis
        if letter not in _AXES:
            raise DomainError(f"{name}: {axis!r} is not an axis; use x, y, z, -x, -y or -z")
        if axis.startswith("-"):
            turn = -turn
        return Base(self.space, name, self, AxisRotation(_AXES[letter], turn))

    def euler(self, name: str, sequence: str, angles: Sequence[Atom | float]) -> Base:
        """A base turned by angles about axes one after the other, e.g. ``"zxz"``.

        Each turn is about the axis as the turns before it have left it.  The bases between are
        called ``{name}_1``, ``{name}_2`` …
        """
        if len(sequence) != len(angles) or not sequence:
            raise DomainError(
                f"{name}: {len(sequence)} axes ({sequence!r}) for {len(angles)} angles"
            )
        turned = [self.space.workspace.atom(angle) for angle in angles]
        check_position(f"base {name}", turned)
        base = self
        for k, (axis, angle) in enumerate(zip(sequence, turned, strict=True)):
            last = k == len(sequence) - 1
            base = base.rotated(name if last else f"{name}_{k + 1}", axis, angle)
        return base

    def by_euler_parameters(
        self,
        name: str,
        parameters: Sequence[Atom],
        angular_velocity: Sequence[Atom] | None = None,
        homogeneous: bool = False,
    ) -> Base:
        """A base turned by a unit quaternion (e0, e1, e2, e3).

        ``angular_velocity``, by its components in the new base, is that of the quaternion where
        its rates are made from it.  ``homogeneous`` writes the rotation quadratic in the
        parameters, as is best where they are unknowns of Newton's method.
        """
        ws = self.space.workspace
        e = [ws.atom(parameter) for parameter in parameters]
        check_position(f"base {name}", e)
        omega = None if angular_velocity is None else triple(ws, angular_velocity)
        return Base(self.space, name, self, euler_parameters(ws, e, omega, homogeneous))

    def by_matrix(self, name: str, rows: Sequence[Sequence[Atom | float]]) -> Base:
        """A base whose axes, written in this one, are the columns of a matrix."""
        matrix = matrix3(self.space.workspace, rows)
        check_position(f"base {name}", [entry for row in matrix for entry in row])
        values = [[entry.value for entry in row] for row in matrix]
        if all(value is not None for row in values for value in row):
            R = np.array(values, dtype=float)
            if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
                raise DomainError(f"{name}: the matrix is not a rotation (R Rᵀ = 1, det R = 1)")
        return Base(self.space, name, self, MatrixRotation(matrix))

    # vectors and tensors in this base

    def vector(self, x: Atom | float, y: Atom | float, z: Atom | float) -> Vector:
        """The vector with these components in this base."""
        from biela.space.vectors import Vector

        return Vector.of(self.space, self, triple(self.space.workspace, (x, y, z)))

    def tensor(self, rows: Sequence[Sequence[Atom | float]]) -> Tensor:
        """The tensor with these components in this base."""
        from biela.space.tensors import Tensor

        return Tensor.of(self.space, self, matrix3(self.space.workspace, rows))

    def inertia(
        self,
        xx: Atom | float = 0,
        yy: Atom | float = 0,
        zz: Atom | float = 0,
        xy: Atom | float = 0,
        xz: Atom | float = 0,
        yz: Atom | float = 0,
    ) -> Tensor:
        """A symmetric tensor from its six components (products of inertia with their sign)."""
        return self.tensor([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def __repr__(self) -> str:
        return f"Base {self.name}"


def _never(_: Triple) -> bool:
    return False


def check_position(who: str, components: Iterable[Atom]) -> None:
    """Refuse what a position cannot depend on: only coordinates, time and parameters place things.

    Velocities are derived from positions; a velocity in a position would ask for accelerations in
    the velocities, and the equations of motion would not be of second order.

    Raises:
        DomainError: That names the symbol.
    """
    for component in components:
        table = component.table
        for atom in table.live([component.ref]):
            symbol = table.symbols.get(atom)
            if symbol is not None and symbol.kind in _NOT_OF_POSITION:
                raise DomainError(
                    f"{who} depends on {symbol.name} ({symbol.kind.name.lower()}), but a position "
                    f"depends on coordinates, time and parameters only: declare a coordinate, and "
                    f"tie it by constrain or constrain_velocity"
                )


#: An edge of a path: the upper base of the edge, and whether it is walked upwards.
Edge = tuple[Base, bool]
#: A turn on a path: one edge, or several about one axis made as one.
Turn = tuple[Rotation, bool]


def path(start: Base, end: Base) -> list[Edge]:
    """The edges from one base to another, through their common ancestor."""
    known = start.space.paths.get((start, end))
    if known is None:
        meeting = common_ancestor(start, end)
        known = [(base, False) for base in reversed(branch(meeting, start))]
        known += [(base, True) for base in branch(meeting, end)]
        start.space.paths[start, end] = known
    return known


def project(v: Triple, start: Base, end: Base, merge: bool = False) -> Triple:
    """Components in ``end`` from components in ``start``, an edge at a time.

    With ``merge``, consecutive turns about one axis are made as one, by the sum of their angles.
    """
    if start is end:
        return v
    way = turns(start, end, merge)
    refs = v[0].ref, v[1].ref, v[2].ref
    known = way.projected.get(refs)
    if known is None:
        known = v
        for rotation, up in way.turns:
            if not rotation.keeps(known):
                known = rotation.to_new(known) if up else rotation.to_old(known)
        way.projected[refs] = known
    return known


def keeps_along(v: Triple, start: Base, end: Base) -> bool:
    """Whether the components of a vector are the same all the way."""
    for base, _ in path(start, end):  # noqa: SIM110 - a generator costs more than the question
        if not base.keeps(v):
            return False
    return True


@dataclass(frozen=True)
class Way:
    """The rotations from one base to another, and what has been projected along them."""

    turns: list[Turn]
    #: Components in the end base by the references of those in the start base.
    projected: dict[tuple[int, int, int], Triple] = field(default_factory=dict)


def turns(start: Base, end: Base, merge: bool = False) -> Way:
    """The way from one base to another."""
    known = start.space.turns.get((start, end, merge))
    if known is None:
        edges = path(start, end)
        known = Way(list(_merged(edges)) if merge else [(b.rotation, up) for b, up in edges])
        start.space.turns[start, end, merge] = known
    return known


def _merged(edges: Sequence[Edge]) -> Iterator[Turn]:
    run: list[Edge] = []  # consecutive turns about one axis
    for edge in edges:
        if run and _axis(run[-1][0]) != _axis(edge[0]):
            yield _joined(run)
            run = []
        run.append(edge)
        if _axis(edge[0]) is None:
            yield _joined(run)
            run = []
    if run:
        yield _joined(run)


def _axis(base: Base) -> int | None:
    if base.parent is None:
        return None
    rotation = base.rotation
    return rotation.axis if isinstance(rotation, AxisRotation) else None


def _joined(run: Sequence[Edge]) -> Turn:
    """One turn for several about one axis; angles are added from the root upwards."""
    first = run[0][0].rotation
    if len(run) == 1 or not isinstance(first, AxisRotation):
        return first, run[0][1]
    # the turn is made in the direction of its first edge, so that a run down the tree adds angles
    up = run[0][1]
    angle: Atom | None = None
    for base, upwards in sorted(run, key=lambda edge: edge[0].depth):
        rotation = base.rotation
        assert isinstance(rotation, AxisRotation), "runs hold turns about one axis"
        signed = rotation.angle if upwards == up else -rotation.angle
        angle = signed if angle is None else angle + signed
    assert angle is not None, "runs are not empty"
    return AxisRotation(first.axis, angle), up
