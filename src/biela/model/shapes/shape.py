"""What all shapes have."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from biela.atoms import Atom, cos, sin
from biela.errors import ModelError
from biela.model.mass_properties import MassProperties, Moments, as_rotation, as_vector
from biela.model.meshes.mesh import Floats, Mesh
from biela.model.orientation import Orientation
from biela.model.quantities.units import quantity
from biela.model.quantities.values import Number, Value

#: A dimension, density or mass: a number in SI units, a text with units and parameters, or an atom.
Measure: TypeAlias = Any

_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape(ABC):
    """What all shapes have.

    Every number may be a text with units and parameters: such a shape is weighed and drawn by the
    model it is in, with the parameters of the model (`measured`).

    Attributes:
        position: Of the own origin, from that of the body, along the axes of the body (3,).
        rotation: (3, 3), whose columns are the own axes in those of the body, or an `Orientation`
            by angles; None for no turn.
        density: In kg/m³.
        mass: In kg, instead of a density.
    """

    #: The name in files and outlines.
    kind: ClassVar[str]

    position: ArrayLike = _ZERO
    rotation: ArrayLike | Orientation | None = None
    density: Measure | None = None
    mass: Measure | None = None

    def __post_init__(self) -> None:
        if self.density is not None and self.mass is not None:
            raise ModelError(f"a {self.kind} has a density or a mass, not both")
        if self.texts or self._has(Atom):
            return  # there is nothing to check before the parameters have values
        self._set("position", as_vector(f"the position of a {self.kind}", self.position))
        self._set("rotation", as_rotation(_turned(self.rotation, _plain_number)))
        for name in ("density", "mass"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and value >= 0):
                raise ModelError(
                    f"the {name} of a {self.kind} must be zero or positive, not {value!r}"
                )
        self._check()

    @cached_property
    def texts(self) -> bool:
        """Whether a dimension, a place or its mass is a text, and not a number."""
        return self._has(str)

    def _has(self, kind: type) -> bool:
        return any(_holds(getattr(self, name), kind) for name in self._measures())

    def _measures(self) -> list[str]:
        """The fields that are numbers or texts."""
        return [item.name for item in fields(self) if item.name not in ("mesh", "file", "scale")]

    def measured(self, number: Number) -> Self:
        """The same shape in numbers, or in atoms: itself, if it has no texts.

        Args:
            number: What makes a number of a text of a dimension, such as `Model.number`.

        Raises:
            ModelError: A dimension is none, such as a radius below zero.
        """
        if not self.texts:
            return self
        changes: dict[str, Any] = {}
        for name in self._measures():
            value = getattr(self, name)
            if name == "rotation":
                changes[name] = _turned(value, number)
            elif value is not None:
                dimension = name if name in ("density", "mass") else "length"
                changes[name] = _measured(value, dimension, number)
        return replace(self, **changes)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _positive(self, *names: str, or_zero: bool = False) -> None:
        for name in names:
            value = getattr(self, name)
            if not _is_number(value) or value < 0 or (value == 0 and not or_zero):
                allowed = "zero or positive" if or_zero else "positive"
                raise ModelError(f"the {name} of a {self.kind} must be {allowed}, not {value!r}")
            self._set(name, float(value))

    @abstractmethod
    def _check(self) -> None:
        """Refuse dimensions that are none."""

    @property
    @abstractmethod
    def volume(self) -> Measure:
        """In m³."""

    @abstractmethod
    def second_moments(self) -> Floats:
        """∫ r rᵀ dm / m (3, 3) about the centre of mass, along the own axes."""

    @property
    def centre(self) -> Floats:
        """The centre of mass in own axes."""
        return np.zeros(3)

    @abstractmethod
    def surface(self, sides: int = 32) -> Mesh:
        """A closed mesh of the surface in own axes; round parts get so many sides."""

    @property
    def has_mass(self) -> bool:
        """Whether it can be weighed: a density or a mass is given."""
        return self.mass is not None or self.density is not None

    def mass_properties(self) -> MassProperties:
        """Mass, centre of mass and inertia along the axes of the body.

        Raises:
            ModelError: Neither a density nor a mass is given, or a dimension is a text.
        """
        self._refuse_texts()
        mass = self._weight()
        own = MassProperties.of_second_moments(mass, self.centre, mass * self.second_moments())
        assert not isinstance(self.rotation, Orientation), "turned by a matrix, once checked"
        return own.moved(np.asarray(self.position), self.rotation)

    def moments(self) -> Moments:
        """The same of a shape whose dimensions may be atoms.

        Raises:
            ModelError: Neither a density nor a mass is given.
        """
        m, S, c = self._weight(), self.second_moments().tolist(), list(self.centre)
        R = np.eye(3).tolist() if self.rotation is None else np.asarray(self.rotation).tolist()
        I = [
            [m * (sum(S[k][k] for k in range(3) if k != i) if i == j else -S[i][j])
             for j in range(3)]
            for i in range(3)
        ]  # fmt: skip
        turned = _product(_product(R, I), [list(column) for column in zip(*R, strict=True)])
        place = _product(R, [[x] for x in c])
        position = np.asarray(self.position).tolist()
        return Moments(m, [p + x[0] for p, x in zip(position, place, strict=True)], turned)

    def _weight(self) -> Measure:
        if self.mass is not None:
            return self.mass
        if self.density is not None:
            return self.density * self.volume
        raise ModelError(f"a {self.kind} needs a density or a mass to be weighed")

    def _refuse_texts(self) -> None:
        if self.texts:
            raise ModelError(
                f"this {self.kind} has texts for dimensions, which are numbers in a model only: "
                f"use shape.measured(model.number)"
            )

    def outline(self) -> dict[str, Any]:
        """Plain data to draw it: kind, dimensions, position and rotation as numbers and lists.

        Kinds other than box, cylinder, sphere and rod also have ``vertices`` and ``faces`` of
        their surface, in own axes.

        Raises:
            ModelError: A dimension is a text.
        """
        self._refuse_texts()
        data: dict[str, Any] = {"kind": self.kind}
        for item in fields(self):
            if item.name not in ("density", "mass", "mesh"):
                data[item.name] = _plain(getattr(self, item.name))
        if self.kind not in ("box", "cylinder", "sphere", "rod"):
            mesh = self.surface()
            data["vertices"], data["faces"] = mesh.vertices.tolist(), mesh.triangles.tolist()
        return data


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, float | int | str):
        return value
    return np.asarray(value, dtype=float).tolist()


def _holds(value: Any, kind: type) -> bool:
    """Whether a value, or one of those in it, is of a type."""
    if isinstance(value, Orientation):
        return any(isinstance(angle, kind) for _, angle in value.turns)
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(x, kind) for x in value.flat)
    if isinstance(value, list | tuple):
        return any(_holds(item, kind) for item in value)
    return isinstance(value, kind)


def _measured(value: Any, dimension: str, number: Number) -> Any:
    if isinstance(value, str):
        return number(value, dimension)
    if isinstance(value, list | tuple | np.ndarray):
        return [_measured(item, dimension, number) for item in value]
    return value


def _plain_number(value: Value, dimension: str) -> float:
    return quantity(value, dimension)


def _turned(rotation: Any, number: Number) -> Any:
    """A rotation as a matrix, of numbers or atoms."""
    if not isinstance(rotation, Orientation):
        return rotation
    R: Any = [list(row) for row in rotation.axes]
    for axis, angle in rotation.turns:
        k = "xyz".index(axis)
        a, b = (k + 1) % 3, (k + 2) % 3
        value = number(angle, "angle")
        turn: Any = [[float(i == j) for j in range(3)] for i in range(3)]
        turn[a][a] = turn[b][b] = cos(value)
        turn[b][a] = sin(value)
        turn[a][b] = -turn[b][a]
        R = _product(R, turn)
    return R


def _product(A: Any, B: Any) -> Any:
    """A product of matrices of numbers or atoms, without terms that are zero."""
    return [
        [_sum(x * row[j] for x, row in zip(a, B, strict=True) if not _none(x, row[j]))
         for j in range(len(B[0]))]
        for a in A
    ]  # fmt: skip


def _sum(terms: Iterator[Any]) -> Any:
    found: Any = 0.0
    for k, term in enumerate(terms):
        found = found + term if k else term
    return found


def _none(*factors: Any) -> bool:
    return any(not isinstance(x, Atom) and x == 0 for x in factors)
