"""Assumed shapes of a slender beam, and their integrals.

Along ξ = x/l a deflection is a polynomial that meets the essential conditions of the ends,

    w(ξ) = ξ^a (1 - ξ)^b p(ξ),     a, b = 0 free, 1 pinned, 2 clamped.

Among the polynomials of a given number the shapes are the vibrations that Rayleigh and Ritz find,
stationary values of ∫w''² dξ / ∫w² dξ = (βl)⁴, so that mass and stiffness of the modes are diagonal
and the frequencies ω = (βl)² √(EI / μ l⁴) approach the exact ones from above.  More polynomials
make better shapes, not more work when the equations run.  The integrals over the mass are those of
polynomials, hence exact sums over Gauss points.

Meirovitch, *Fundamentals of Vibrations* (2001), ch. 8–9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import Legendre, Polynomial

from biela.atoms import Atom
from biela.equations.flexible import FlexibleBody
from biela.equations.shapes import Cloud, Floats, Station
from biela.errors import ModelError
from biela.space import Base, Point

if TYPE_CHECKING:
    from biela.equations.symbolic import SymbolicSystem

#: What the ends of a beam are held by, and how many factors ξ or 1 - ξ that asks for.
ENDS = {"free": 0, "pinned": 1, "clamped": 2}
#: Polynomials beyond the number of modes: the last βl is then right to six digits or more.
EXTRA = 8
#: Beyond this the last modes drown in rounding.
_LIMIT = 20
#: Deflections and slopes are of the order of one; what is this near to a whole number is that.
_ROUNDING = 1e-11
_AXES = {
    sign + axis: np.eye(3)[k] * (-1.0 if sign else 1.0)
    for k, axis in enumerate("xyz")
    for sign in ("", "-")
}


@dataclass(frozen=True)
class Shapes:
    """The shapes of a beam in one plane, each of largest deflection 1, and their (βl)⁴ ∫w² dξ."""

    curves: list[Legendre]
    stiffness: Floats


def vibrations(modes: int, ends: str = "clamped-free", polynomials: int | None = None) -> Shapes:
    """The first bending vibrations of a beam.

    ``ends`` are two of free, pinned and clamped, e.g. ``"clamped-free"``; the motions of a free or
    of a pinned beam as a whole are left out, since the frame of the body has them.

    Raises:
        ModelError: If the ends are not known, or the polynomials too few or too many.
    """
    held = [ENDS.get(end) for end in ends.split("-")]
    if len(held) != 2 or held[0] is None or held[1] is None:
        raise ModelError(
            f"{ends!r} are not two ends of a beam; use two of {', '.join(ENDS)}, "
            f'such as "clamped-free"'
        )
    whole = max(0, 2 - held[0] - held[1])  # motions without bending
    count = modes + whole + EXTRA if polynomials is None else polynomials
    if not 1 <= modes <= count - whole or count > _LIMIT:
        raise ModelError(
            f"{modes} modes from {count} polynomials: at least {max(modes, 1) + whole} and at most "
            f"{_LIMIT} polynomials are possible"
        )
    factor = Polynomial([0, 1]) ** held[0] * Polynomial([1, -1]) ** held[1]
    edge = factor.convert(kind=Legendre, domain=[0, 1])
    basis = [edge * Legendre.basis(k, domain=[0, 1]) for k in range(count)]
    mass = _gram(basis)
    stiffness = _gram([w.deriv(2) for w in basis])
    # L⁻¹ K L⁻ᵀ y = λ y with mass = L Lᵀ
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    values, vectors = np.linalg.eigh(inverse @ stiffness @ inverse.T)
    chosen = slice(whole, whole + modes)
    scales, curves = [], []
    for row in (inverse.T @ vectors[:, chosen]).T:
        curve = sum((w * float(x) for x, w in zip(row, basis, strict=True)), Legendre([0], [0, 1]))
        scale = 1 / _largest(curve)
        scales.append(scale)
        curves.append(curve * scale)
    return Shapes(curves, np.asarray(values[chosen] * np.square(scales)))


def gauss(degree: int) -> tuple[Floats, Floats]:
    """Places in [0, 1] and weights that integrate polynomials up to a degree exactly."""
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (nodes + 1) / 2, weights / 2


def _gram(curves: Sequence[Legendre]) -> Floats:
    """∫f g dξ of every two curves."""
    xi, w = gauss(2 * max(curve.degree() for curve in curves))
    values = np.array([curve(xi) for curve in curves])
    return np.asarray((values * w) @ values.T)


def _largest(curve: Legendre) -> float:
    """The largest deflection with its sign; the first of equal ones, whatever rounding does."""
    values = np.asarray(curve(np.linspace(0, 1, 401)))
    sizes = np.abs(values)
    return float(values[np.argmax(sizes > sizes.max() * (1 - 1e-6))])


def _snapped(value: float) -> float:
    """A value without the rounding beside 0 and 1: what is held stays put, and η 1 is η."""
    near = round(float(value))
    return float(near) if abs(value - near) < _ROUNDING else float(value)


@dataclass(frozen=True)
class Bending:
    """A straight beam along a direction that bends in one plane or in two.

    A mode is a direction (unit vector in the base of the body) with a curve.
    """

    along: Floats
    modes: list[tuple[Floats, Legendre]]

    def cloud(self) -> tuple[Floats, Floats, Floats]:
        """Masses, places and shapes of Gauss points; mass and length are 1."""
        degree = max(1, *(curve.degree() for _, curve in self.modes))
        xi, weights = gauss(2 * degree)
        shapes = [np.outer(curve(xi), direction) for direction, curve in self.modes]
        return weights, np.outer(xi, self.along), np.array(shapes)

    def station(self, where: float) -> Station:
        """The place at a fraction of the length, turned by w' about along x direction.

        Raises:
            ModelError: If the fraction is not between 0 and 1.
        """
        if not 0 <= where <= 1:
            raise ModelError(f"a place on a beam is a fraction of its length, 0 to 1, not {where}")
        shapes = [direction * _snapped(curve(where)) for direction, curve in self.modes]
        turns = [
            np.cross(self.along, direction) * _snapped(curve.deriv()(where))
            for direction, curve in self.modes
        ]
        return Station(self.along * where, np.array(shapes), np.array(turns))


def beam(
    system: SymbolicSystem,
    named: tuple[str, Point, Base],
    given: tuple[Atom, Atom, Atom],
    bending: Mapping[str, Atom],
    along: str,
    shapes: Shapes,
) -> FlexibleBody:
    """A uniform beam: its name and frame; its length l, mass μ per length and damping; E I by axis.

    In each plane K = E I / l³ ∫w''² dξ, diagonal, and D is the damping times K.

    Raises:
        ModelError: If an axis is not one, a deflection is not across the beam, or it has no length
            or mass.
    """
    name, at, base = named
    length, mass_per_length, damping = given
    direction = _AXES.get(along)
    if direction is None:
        raise ModelError(f"{name}: {along!r} is not an axis; use x, y, z, -x, -y or -z")
    across = [axis for axis in "xyz" if axis != along[-1]]
    if not bending or not set(bending) <= set(across):
        raise ModelError(
            f"{name}: a beam along {along} bends along {across[0]}, {across[1]} or both, "
            f"not along {', '.join(bending) or 'nothing'}"
        )
    for what, value in (("length", length), ("mass per length", mass_per_length)):
        if value.value is not None and value.value <= 0:
            raise ModelError(f"{name}: its {what} must be positive, not {value.value}")
    modes: list[Atom] = []
    pairs: list[tuple[Floats, Legendre]] = []
    diagonal: list[Atom] = []
    for axis, EI in bending.items():
        modes += system.coordinates([f"{name}_{axis}{k + 1}" for k in range(len(shapes.curves))])
        pairs += [(_AXES[axis], curve) for curve in shapes.curves]
        diagonal += [EI / length**3 * float(k) for k in shapes.stiffness]
    bent = Bending(direction, pairs)
    zero = system.workspace.atom(0)
    n = range(len(modes))
    K = [[diagonal[a] if a == b else zero for b in n] for a in n]
    D = [[damping * k for k in row] for row in K]
    cloud = Cloud.of(*bent.cloud(), mass_per_length * length, length)
    scale = 1.0 if length.value is None else float(length.value)

    def station(where: float) -> Station:
        found = bent.station(where)
        return Station(found.place * scale, found.shapes, found.turns / scale)

    return FlexibleBody(name, system, at, base, tuple(modes), cloud, K, D, station)
