"""Mass, centre of mass and inertia of a rigid body, or of a part of one.

The inertia is the tensor about a point C,

    I_C = ∫ (|r|² 1 - r rᵀ) dm,      r measured from C,

so products of inertia stand in it with a minus sign: I_xy = -∫ x y dm.  Its principal moments obey
A + B >= C, because A + B - C = 2 ∫ z² dm; a tensor that does not belongs to no body (Wittenburg,
*Dynamics of Multibody Systems*, 2008, §3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from biela.budgets import LARGEST
from biela.errors import ModelError

__all__ = ["MassProperties", "Moments", "as_rotation", "as_vector"]

Floats = npt.NDArray[np.float64]
#: A number or an atom.
Scalar: TypeAlias = Any

#: How far, of the largest principal moment, a tensor may be from one of a body: tables of three or
#: four digits are not exact, and a thin plate lies right on the limit A + B = C.
_TOLERANCE = 1e-3
_ONE = np.eye(3)


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass and inertia, along the axes of a body.

    Attributes:
        mass: In kg; zero is allowed.
        com: Place of the centre of mass (3,) from the origin of the body, in m.
        inertia: Inertia tensor (3, 3) about the centre of mass, in kg m².
    """

    mass: float
    com: Floats
    inertia: Floats

    def __init__(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> None:
        """Check and keep; without an inertia it is a particle.

        ``inertia`` is a 3x3 tensor, the three moments of a diagonal one, or the six numbers
        I_xx, I_yy, I_zz, I_xy, I_xz, I_yz of the tensor.

        Raises:
            ModelError: A number is not finite, the mass is negative, or the tensor is not that of
                a body.
        """
        if not 0 <= mass <= LARGEST:
            raise ModelError(f"a mass must be zero or positive, not {mass:g} kg")
        tensor = _tensor(np.zeros(3) if inertia is None else inertia)
        _check(tensor)
        object.__setattr__(self, "mass", float(mass))
        object.__setattr__(self, "com", as_vector("the centre of mass", com))
        object.__setattr__(self, "inertia", _frozen((tensor + tensor.T) / 2))

    @classmethod
    def of_points(cls, masses: Sequence[float] | Floats, places: ArrayLike) -> MassProperties:
        """Those of particles: masses (n,) at places (n, 3).

        Raises:
            ModelError: The numbers do not fit together, or a mass is negative.
        """
        m, r = np.asarray(masses, dtype=float), np.asarray(places, dtype=float)
        if m.ndim != 1 or r.shape != (len(m), 3):
            raise ModelError(f"{m.shape} masses do not fit places of shape {r.shape}, not (n, 3)")
        if (m < 0).any():
            raise ModelError(f"a mass must be zero or positive, not {m.min():g} kg")
        total = float(m.sum())
        com = m @ r / total if total > 0 else np.zeros(3)
        d = r - com
        return cls(total, com, _from_second_moments((m[:, None] * d).T @ d))

    @classmethod
    def of_second_moments(cls, mass: float, com: ArrayLike, moments: ArrayLike) -> MassProperties:
        """From the second moments ∫ r rᵀ dm (3, 3) about the centre of mass.

        Raises:
            ModelError: As for the constructor.
        """
        return cls(mass, com, _from_second_moments(np.asarray(moments, dtype=float)))

    @classmethod
    def planar(
        cls,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: float = 0.0,
        normal: ArrayLike = (0.0, 0.0, 1.0),
    ) -> MassProperties:
        """Those of a body of which only the inertia about one axis matters.

        It is taken for a round lamina, I = J (1 + n nᵀ)/2: a tensor with the one moment alone
        would be that of no body.

        Args:
            mass: In kg.
            com: The centre of mass.
            inertia: J, about the axis through the centre of mass.
            normal: n, the direction of that axis.

        Raises:
            ModelError: As for the constructor, or the direction is zero.
        """
        n = as_vector("the normal", normal)
        length = float(np.linalg.norm(n))
        if not length:
            raise ModelError("the normal of a planar body must not be zero")
        n = n / length
        return cls(mass, com, inertia / 2 * (np.eye(3) + np.outer(n, n)))

    def about(self, point: ArrayLike) -> Floats:
        """The inertia (3, 3) about another point of the body: I + m (|d|² 1 - d dᵀ) (Steiner)."""
        d = as_vector("the point", point) - self.com
        return self.inertia + self.mass * (d @ d * _ONE - np.outer(d, d))

    def moved(
        self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None
    ) -> MassProperties:
        """The same body put elsewhere: com' = p + R com, I' = R I Rᵀ.

        Args:
            position: p, where its old origin comes to be.
            rotation: R (3, 3), whose columns are its old axes; None for no turn.

        Raises:
            ModelError: The rotation is none.
        """
        p, R = as_vector("the position", position), as_rotation(rotation)
        return MassProperties(self.mass, p + R @ self.com, R @ self.inertia @ R.T)

    def scaled(self, factor: float) -> MassProperties:
        """The same body of another density: mass and inertia times a factor.

        Raises:
            ModelError: The factor is negative.
        """
        return MassProperties(self.mass * factor, self.com, self.inertia * factor)

    def __add__(self, other: MassProperties) -> MassProperties:
        """Both together, as one rigid body."""
        mass = self.mass + other.mass
        if mass > 0:
            com = (self.mass * self.com + other.mass * other.com) / mass
        else:
            com = (self.com + other.com) / 2
        return MassProperties(mass, com, self.about(com) + other.about(com))

    @property
    def principal_moments(self) -> Floats:
        """The principal moments of inertia about the centre of mass, ascending."""
        moments: Floats = np.asarray(np.linalg.eigvalsh(self.inertia), dtype=np.float64)
        return moments


@dataclass(frozen=True, eq=False)
class Moments:
    """Mass, centre of mass (3,) and inertia about it (3, 3), of numbers or atoms.

    What `MassProperties` are where dimensions are parameters: nothing can be checked.
    """

    mass: Scalar
    com: Sequence[Scalar]
    inertia: Sequence[Sequence[Scalar]]

    @classmethod
    def of_parts(cls, parts: Sequence[Moments]) -> Moments:
        """Those of several parts together, as one rigid body; see `biela.model.bodies.weighed`."""
        if len(parts) == 1:
            return parts[0]
        mass = _total(part.mass for part in parts)
        com = [_total(part.mass * part.com[k] for part in parts) / mass for k in range(3)]
        inertia = [
            [_total(part.inertia[i][j] for part in parts) for j in range(3)] for i in range(3)
        ]
        for n, a in enumerate(parts):
            for b in parts[:n]:
                d = [x - y for x, y in zip(a.com, b.com, strict=True)]
                reduced = a.mass * b.mass / mass
                for i in range(3):
                    for j in range(3):
                        others = (d[k] * d[k] for k in range(3) if k != i)
                        arm = _total(others) if i == j else -d[i] * d[j]
                        inertia[i][j] = inertia[i][j] + reduced * arm
        return cls(mass, com, inertia)


def _total(terms: Iterable[Scalar]) -> Scalar:
    found: Scalar = 0.0
    for term in terms:
        found = found + term
    return found


def as_vector(what: str, values: ArrayLike) -> Floats:
    """Three finite numbers.

    Raises:
        ModelError: They are not.
    """
    try:
        vector = np.array(values, dtype=float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    # three numbers are compared faster one by one: models have thousands of vectors
    if vector.shape != (3,) or not all(abs(x) <= LARGEST for x in vector.tolist()):
        raise ModelError(f"{what} must be three finite numbers, not {values!r}")
    return _frozen(vector)


def as_rotation(values: ArrayLike | None) -> Floats:
    """A rotation matrix (3, 3); None is no turn.

    Raises:
        ModelError: It is not orthonormal, or a reflection.
    """
    if values is None:
        return _frozen(np.eye(3))
    try:
        R = np.array(values, dtype=float)
    except (TypeError, ValueError):
        R = np.zeros(0)
    if R.shape != (3, 3) or not np.isfinite(R).all():
        raise ModelError("a rotation must be a matrix of 3x3 finite numbers")
    error = float(np.abs(R.T @ R - _ONE).max())
    if error > 1e-6:
        raise ModelError(f"a rotation must have orthonormal columns; RᵀR is off by {error:.2g}")
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0:
        raise ModelError("this rotation is a reflection: its determinant is -1")
    return _frozen(R)


def _frozen(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


def _tensor(values: ArrayLike) -> Floats:
    try:
        I = np.array(values, dtype=float)
    except (TypeError, ValueError):
        I = np.zeros(0)
    if I.shape == (3,):
        I = np.diag(I)
    elif I.shape == (6,):
        xx, yy, zz, xy, xz, yz = I
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if I.shape != (3, 3) or not all(abs(x) <= LARGEST for x in I.ravel().tolist()):
        raise ModelError(
            "an inertia must be finite numbers: 3x3, the 3 moments, or xx, yy, zz, xy, xz, yz"
        )
    return I


def _check(tensor: Floats) -> None:
    """Refuse what is no inertia of a body."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = tensor.tolist()
    scale = max(map(abs, (xx, xy, xz, yx, yy, yz, zx, zy, zz)))
    if max(abs(xy - yx), abs(xz - zx), abs(yz - zy)) > 1e-6 * scale:
        raise ModelError(f"an inertia tensor is symmetric; this is not:\n{tensor}")
    if xy == yx == xz == zx == yz == zy == 0:
        a, b, c = sorted((xx, yy, zz))
    else:
        a, b, c = np.linalg.eigvalsh((tensor + tensor.T) / 2).tolist()
    if a < -_TOLERANCE * abs(c) or c < 0:
        raise ModelError(
            f"the principal moments of inertia {a:.6g}, {b:.6g}, {c:.6g} kg m² are not all "
            "positive: look at the signs of the products of inertia"
        )
    if a + b < c * (1 - _TOLERANCE):
        raise ModelError(
            f"no body has the principal moments of inertia {a:.6g}, {b:.6g}, {c:.6g} kg m²: none "
            "may exceed the sum of the others. If the inertia was given about the origin, it must "
            "be about the centre of mass; for a planar body use MassProperties.planar"
        )


def _from_second_moments(S: Floats) -> Floats:
    """I = tr(S) 1 - S."""
    tensor: Floats = np.trace(S) * np.eye(3) - S
    return tensor
