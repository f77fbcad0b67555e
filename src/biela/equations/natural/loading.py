"""What acts in a layout: springs, dampers and motors along coordinates, forces on points.

The part of `Layout` between its constraints and its bodies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom, Kind
from biela.equations.natural import pushes
from biela.equations.natural.entities import (
    Arrow,
    Cross,
    Entity,
    NaturalPoint,
    RelativeCoordinate,
    at_start,
)
from biela.equations.natural.linear_masses import NaturalSystem
from biela.equations.natural.tying import Tying
from biela.errors import ModelError


class Loading(Tying):
    """Forces along relative coordinates and on points, and rates at the start."""

    def __init__(self, name: str, plane: str = "", source: NaturalSystem | None = None) -> None:
        super().__init__(name, plane, source)
        #: All forces, in the order of those of the symbolic system.
        self.pushes: list[pushes.Push] = []

    def spring(
        self,
        coordinate: RelativeCoordinate,
        stiffness: Atom | float = 0.0,
        rest: Atom | float = 0.0,
        damping: Atom | float = 0.0,
        force: Atom | float = 0.0,
    ) -> None:
        """A spring, damper and force on a relative coordinate: -k (s - s0) - c s' + f.

        Raises:
            ModelError: It is no relative coordinate, or is fixed.
        """
        if not isinstance(coordinate, RelativeCoordinate):
            raise ModelError(
                f"{self.name}: a spring or motor acts along a relative coordinate, and "
                f"{coordinate!r} is none; use distance(…) or angle(…) for one, "
                f"strut(…) between two points, or force(…) on a point"
            )
        if not coordinate.free[0]:
            raise ModelError(f"{self.name}: {coordinate.name} is fixed; nothing acts along it")
        numbers = (stiffness, rest, damping, force)
        self._push(coordinate.name, "spring", pushes.spring, coordinate.components, numbers)

    def motor(self, coordinate: RelativeCoordinate, force: Atom | float) -> None:
        """A force or torque along a relative coordinate: a number, or any expression."""
        self.spring(coordinate, force=force)

    def force(self, point: NaturalPoint, force: Sequence[Atom | float]) -> None:
        """A force on a point, by its components."""
        for x, free, f in zip(point.components, point.free, force, strict=True):
            if free and self.workspace.atom(f).ref:
                self._push(point.name, "pull", pushes.pull, (x,), (f,))

    def strut(
        self,
        first: NaturalPoint,
        second: NaturalPoint,
        stiffness: Atom | float,
        rest: Atom | float,
        damping: Atom | float = 0.0,
    ) -> None:
        """A spring and damper between two points, without a coordinate of its own."""
        on = (*first.components, *second.components)
        name = f"{first.name}-{second.name}"
        self._push(name, "strut", pushes.strut, on, (stiffness, rest, damping))

    def _push(
        self,
        name: str,
        kind: str,
        law: pushes.PushLaw,
        on: tuple[Atom, ...],
        given: Sequence[Atom | float],
    ) -> None:
        numbers = tuple(self.workspace.atom(x) for x in given)
        speed, force, potential = law(self.source, on, numbers)
        self.source.push(speed, force, potential)
        constant = all(_is_number(x) for x in numbers)
        made = self.source.pushes[-1]
        self.pushes.append(pushes.Push(name, kind, on, numbers, law if constant else None, made))

    def joint_springs(
        self,
        name: str,
        before: tuple[Arrow, Arrow],
        after: tuple[Arrow, Arrow],
        *,
        torsion: tuple[float, float] = (0.0, 0.0),
        bending: tuple[tuple[float, float], tuple[float, float]] = ((0.0, 0.0), (0.0, 0.0)),
    ) -> tuple[RelativeCoordinate, RelativeCoordinate, RelativeCoordinate]:
        """One torsion and two bending springs in a joint that turns freely.

        With a, b the arrows across the axis of the body before, u along that of the body after and
        a' across it, the angles are those of

            bending 1   u · a  and  u · (a x b),       bending 2   u · b  and  u · (a x b),
            torsion     (a x a') · u  and  a · a'.

        Each spring is (stiffness N m/rad, damping N m s/rad).  Returns bending 1, 2 and torsion.
        """
        (a, b), (u, a_after) = before, after
        normal = Cross(a, b)
        length = float(np.linalg.norm(at_start(u)))
        first = self.bearing(f"{name}.bending1", (u, a), (u, normal), (length, length))
        second = self.bearing(f"{name}.bending2", (u, b), (u, normal), (length, length))
        twist = self.bearing(f"{name}.torsion", (Cross(a, a_after), u), (a, a_after), (length, 1.0))
        made = (first, second, twist)
        for theta, (k, c) in zip(made, (*bending, torsion), strict=True):
            if k or c:
                self.spring(theta, k, theta.start[0], c)
        return made

    def rate(self, coordinate: Entity, value: float, component: str = "x") -> None:
        """Let a coordinate start with a rate.

        Raises:
            ModelError: There is no such component, or it is fixed.
        """
        number = self.component(coordinate, component)
        if not coordinate.free[number]:
            what = "" if isinstance(coordinate, RelativeCoordinate) else f".{component}"
            raise ModelError(f"{self.name}: {coordinate.name}{what} is fixed and has no rate")
        q = coordinate.components[number]
        self.source.start({q.velocity: value})
        self.source.initial_velocity(q.velocity - value)


def _is_number(expression: Atom) -> bool:
    """Whether an expression is made of numbers and parameters only."""
    table = expression.table
    return all(
        table.symbols[ref].kind is Kind.PARAMETER
        for ref in table.live([expression.ref])
        if ref in table.symbols
    )
