"""What all shapes have."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ModelError
from biela.model.mass_properties import MassProperties, as_rotation, as_vector
from biela.model.meshes.mesh import Floats, Mesh

_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape(ABC):
    """What all shapes have.

    Attributes:
        position: Of the own origin, from that of the body, along the axes of the body (3,).
        rotation: (3, 3), whose columns are the own axes in those of the body; None for no turn.
        density: In kg/m³.
        mass: In kg, instead of a density.
    """

    #: The name in files and outlines.
    kind: ClassVar[str]

    position: ArrayLike = _ZERO
    rotation: ArrayLike | None = None
    density: float | None = None
    mass: float | None = None

    def __post_init__(self) -> None:
        self._set("position", as_vector(f"the position of a {self.kind}", self.position))
        self._set("rotation", as_rotation(self.rotation))
        if self.density is not None and self.mass is not None:
            raise ModelError(f"a {self.kind} has a density or a mass, not both")
        for name in ("density", "mass"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and value >= 0):
                raise ModelError(
                    f"the {name} of a {self.kind} must be zero or positive, not {value!r}"
                )
        self._check()

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
    def volume(self) -> float:
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
            ModelError: Neither a density nor a mass is given.
        """
        if self.mass is not None:
            mass = self.mass
        elif self.density is not None:
            mass = self.density * self.volume
        else:
            raise ModelError(f"a {self.kind} needs a density or a mass to be weighed")
        own = MassProperties.of_second_moments(mass, self.centre, mass * self.second_moments())
        return own.moved(np.asarray(self.position), self.rotation)

    def outline(self) -> dict[str, Any]:
        """Plain data to draw it: kind, dimensions, position and rotation as numbers and lists.

        Kinds other than box, cylinder, sphere and rod also have ``vertices`` and ``faces`` of
        their surface, in own axes.
        """
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
