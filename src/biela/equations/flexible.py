"""Flexible bodies: a floating frame, and small deflections in assumed shapes.

A particle of the body that rests at ρ, seen from the point B of the frame, is found at

    u = ρ + Σ S_a(ρ) η_a,     with velocity  v + ω x u + Σ S_a η'_a,

for constant shapes S_a and modal coordinates η_a.  The bent body is a solid, with s = ∫u dm in
place of mr and I = ∫(u² 1 - u uᵀ) dm; to the loads of that (see `biela.equations.virtual_power`)
the deflection adds, with the integrals of `biela.equations.shapes`:

- for an acceleration of η_a the force s_a and the moment c_a, and for one of any coordinate k the
  generalised forces s_b · v_k + c_b · ω_k in the direction of each η_b, + m_ab if k is η_a;
- with all accelerations zero, from those of the particles, b(v) + Γ u + 2 ω x u' with
  Γ = b(ω)~ + ω~ ω~ (a tilde makes the matrix of a vector product),

    F -= 2 ω x s',     T -= 2 ∫(u · u' 1 - u' uᵀ) dm ω,
    Q_b += s_b · (g - b(v)) - Γ : ∫S_b uᵀ dm - 2 ω~ : ∫S_b u'ᵀ dm - (K η + D η')_b.

Shabana, *Dynamics of Multibody Systems* (2013), ch. 5; Schwertassek & Wallrapp, *Dynamik flexibler
Mehrkörpersysteme* (1999), ch. 6.  Nothing is neglected in the inertia of the bent body, but the
shapes are linear: what holds a fast turning beam straight (the shortening of its projection, of
second order in η) is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.atoms import Atom
from biela.equations.branches import Loads
from biela.equations.shapes import (
    Cloud,
    Floats,
    ShapeIntegrals,
    Station,
    contraction,
    skew,
    total,
    turning,
)
from biela.errors import DomainError, ModelError, ShapeError
from biela.space import Base, Point, Solid, Tensor, Vector

if TYPE_CHECKING:
    from biela.equations.symbolic import SymbolicSystem
    from biela.equations.virtual_power import Motion

#: The rows of a matrix of the modes.
Matrix = Sequence[Sequence[Atom | float]]


class Deformed(Solid):
    """A flexible body as it is bent at the moment: a solid whose inertia depends on the modes."""

    def __post_init__(self) -> None:
        """Nothing to refuse: unlike a rigid body it does not keep its inertia."""


@dataclass(frozen=True, eq=False)
class FlexibleBody:
    """A body with a floating frame and modal coordinates; made by a `SymbolicSystem`.

    ``station`` finds the place that a number means: a fraction of the length of a beam, the index
    of a particle.  ``stiffness`` K and ``damping`` D are those of the modes.
    """

    name: str
    system: SymbolicSystem
    at: Point
    base: Base
    modes: tuple[Atom, ...]
    cloud: Cloud
    stiffness: list[list[Atom]]
    damping: list[list[Atom]]
    station: Callable[[float], Station]

    def __post_init__(self) -> None:
        if self.at.space is not self.base.space:
            raise DomainError(f"body {self.name}: its point and its base belong to two systems")

    def __repr__(self) -> str:
        return f"FlexibleBody {self.name}: {', '.join(eta.name for eta in self.modes)}"

    # ------------------------------------------------------------------- places

    def point(self, name: str, where: float) -> Point:
        """A point that moves with the deflection."""
        station, length = self.station(where), self.cloud.unit_length
        x, y, z = (
            total([length * float(rest), *(eta * s for eta, s in self._moving(moved))])
            for rest, moved in zip(station.place, station.shapes.T, strict=True)
        )
        return self.at.offset(name, self.base.vector(x, y, z))

    def marker(self, name: str, where: float) -> Solid:
        """A solid without mass that moves and turns with a place of the body.

        Forces and moments act on it, and other bodies are placed from its ``point`` and ``base``.
        It is turned about x, y and z in this order by the slopes of the deflection; for the small
        slopes that linear shapes are good for, that is the rotation of the material.
        """
        base, length = self.base, self.cloud.unit_length
        turns = zip("xyz", self.station(where).turns.T, strict=True)
        needed = [(axis, self._moving(angles)) for axis, angles in turns if angles.any()]
        for k, (axis, angles) in enumerate(needed):
            angle = total(eta * slope for eta, slope in angles) / length
            last = k == len(needed) - 1
            base = base.rotated(name if last else f"{name}_{axis}", axis, angle)
        return self.system.solid(name, at=self.point(name, where), base=base, mass=0)

    def _moving(self, factors: Floats) -> list[tuple[Atom, float]]:
        return [(eta, float(f)) for eta, f in zip(self.modes, factors, strict=True) if f]

    # -------------------------------------------------- integrals in the base of the body

    @cached_property
    def integrals(self) -> ShapeIntegrals:
        """The integrals of the shapes, on atoms."""
        return ShapeIntegrals(self.cloud, self.modes)

    @cached_property
    def deformed(self) -> Deformed:
        """The body as a solid in its present shape: m, s and I."""
        found = self.integrals
        s, I = self._vector(found.first_moment()), self.base.tensor(found.inertia())
        return Deformed(self.name, self.at, self.base, found.mass, s, I)

    @cached_property
    def _s(self) -> list[Vector]:
        return [self._vector(self.integrals.first_by(a)) for a in self._each]

    @cached_property
    def _c(self) -> list[Vector]:
        return [self._vector(self.integrals.cross_by(a)) for a in self._each]

    @cached_property
    def _coriolis(self) -> Tensor:
        """2 ∫(u · u' 1 - u' uᵀ) dm, from ∫u' uᵀ dm = Σ η'_a ∫S_a uᵀ dm."""
        found = [self.integrals.moment_by(a) for a in self._each]
        J = [[self._rate([f[i][j] for f in found]) for j in range(3)] for i in range(3)]
        rows = [[-2 * x for x in row] for row in J]
        for i in range(3):
            rows[i][i] = 2 * (J[i - 1][i - 1] + J[i - 2][i - 2])
        return self.base.tensor(rows)

    def relative_momenta(self) -> tuple[Vector, Vector]:
        """∫u' dm and ∫u x u' dm: the momenta of the deflection seen from the frame."""
        found = self.integrals
        return (
            self._rates([found.first_by(a) for a in self._each]),
            self._rates([found.cross_by(a) for a in self._each]),
        )

    def relative_energy(self) -> Atom:
        """½ ∫u'² dm: the kinetic energy seen from the frame."""
        m = [[self.integrals.mass_of(a, b) for b in self._each] for a in self._each]
        return self._rate([self._rate(row) for row in m]) / 2

    def strain_energy(self) -> Atom:
        """½ ηᵀ K η."""
        forces = [_product(row, self.modes) for row in self.stiffness]
        return _product(forces, self.modes) / 2

    def damping_power(self) -> Atom:
        """-η'ᵀ D η'."""
        return -self._rate([self._rate(row) for row in self.damping])

    def elastic_forces(self) -> list[Atom]:
        """The generalised forces of stiffness and damping, -K η - D η'."""
        rows = zip(self.stiffness, self.damping, strict=True)
        return [-(_product(K, self.modes) + self._rate(D)) for K, D in rows]

    # -------------------------------------------------------------------- loads

    def add_inertia(self, loads: Loads, motion: Motion, k: int, own: Sequence[int]) -> None:
        """What a unit acceleration of coordinate k asks for beyond what the bent solid does.

        ``own`` are the numbers of the modes among the coordinates.
        """
        v, omega = motion.v_by[k], motion.omega_by[k]
        powers = [s.dot(v) + c.dot(omega) for s, c in zip(self._s, self._c, strict=True)]
        if k in own:
            a = own.index(k)
            loads.add_force(self.at, self._s[a])
            loads.add_moment(self.base, self._c[a])
            powers = [power + self.integrals.mass_of(a, b) for b, power in enumerate(powers)]
        for j, power in zip(own, powers, strict=True):
            loads.add_generalised(j, power)

    def add_acting(self, loads: Loads, motion: Motion, gravity: Vector, own: Sequence[int]) -> None:
        """What acts with all accelerations zero, beyond what acts on the bent solid."""
        omega, free = motion.omega, gravity - motion.v_bias
        loads.add_force(self.at, omega.cross(self.relative_momenta()[0]) * -2)
        loads.add_moment(self.base, -(self._coriolis @ omega))
        # in the base of the body each mode meets few entries of Γ and ω~
        W = skew(omega.components(self.base))
        Gamma = turning(W, skew(motion.omega_bias.components(self.base)))
        for b, (j, elastic) in enumerate(zip(own, self.elastic_forces(), strict=True)):
            carried = contraction(Gamma, self.integrals.moment_by(b))
            relative = 2 * contraction(W, self.integrals.moment_rate(b))
            loads.add_generalised(j, self._s[b].dot(free) - carried - relative + elastic)

    # ------------------------------------------------------------------- sums

    @property
    def _each(self) -> range:
        return range(len(self.modes))

    def _vector(self, components: Sequence[Atom]) -> Vector:
        x, y, z = components
        return self.base.vector(x, y, z)

    def _rate(self, factors: Sequence[Atom]) -> Atom:
        """Σ f_a η'_a."""
        return _product(factors, [eta.velocity for eta in self.modes])

    def _rates(self, vectors: Sequence[Sequence[Atom]]) -> Vector:
        """Σ u_a η'_a, component by component."""
        return self._vector([self._rate([u[i] for u in vectors]) for i in range(3)])


def particles(
    system: SymbolicSystem,
    named: tuple[str, Point, Base, tuple[Atom, ...]],
    given: tuple[Any, Any, Any, Any],
    matrices: tuple[Matrix, Matrix | None],
    units: tuple[Atom, Atom],
) -> FlexibleBody:
    """A body of particles: its name, frame and modes, the arrays, K and D, and the units.

    Raises:
        ModelError: If a mode is not a coordinate of the system, or a mass is negative.
        ShapeError: If an array has another size than the modes and the masses ask for.
    """
    name, at, base, modes = named
    if not modes or len(set(modes)) < len(modes) or not set(modes) <= set(system.q):
        raise ModelError(
            f"{system.name}: the modes of {name} must be different coordinates of the system, not "
            f"({', '.join(map(repr, modes))})"
        )
    masses = _array(name, "masses", given[0], (len(given[0]),))
    n, N = len(modes), len(masses)
    places = _array(name, "places", given[1], (N, 3))
    shapes = _array(name, "shapes", given[2], (n, N, 3))
    turns = _array(name, "turns", given[3] if given[3] is not None else 0 * shapes, (n, N, 3))
    if (masses < 0).any() or not masses.any():
        raise ModelError(f"{system.name}: the masses of {name} must be positive")
    cloud = Cloud.of(masses, places, shapes, *units)
    scale = 1.0 if units[1].value is None else float(units[1].value)

    def station(where: float) -> Station:
        if where not in range(N):
            raise ModelError(f"{name}: {where} is not the number of one of its {N} particles")
        k = int(where)
        return Station(cloud.places[k], shapes[:, k], turns[:, k] / scale)

    K = modal_matrix(system, f"stiffness of {name}", matrices[0], n)
    D = modal_matrix(
        system, f"damping of {name}", [[0] * n] * n if matrices[1] is None else matrices[1], n
    )
    return FlexibleBody(name, system, at, base, modes, cloud, K, D, station)


def modal_matrix(system: SymbolicSystem, what: str, rows: Matrix, n: int) -> list[list[Atom]]:
    """A matrix of the modes on atoms.

    Raises:
        ModelError: If it is not symmetric: it would make energy.
        ShapeError: If it is not n by n.
    """
    if len(rows) != n or any(len(row) != n for row in rows):
        raise ShapeError(f"{system.name}: the {what} must be {n} by {n}, a row for each mode")
    found = [[system.workspace.atom(x) for x in row] for row in rows]
    if any(found[a][b] != found[b][a] for a in range(n) for b in range(a)):
        raise ModelError(f"{system.name}: the {what} is not symmetric")
    return found


def _array(name: str, what: str, given: Any, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(given, dtype=float)
    if array.shape != shape:
        raise ShapeError(f"{name}: {what} must have the shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ShapeError(f"{name}: {what} must be finite numbers")
    return array


def _product(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    return total(x * y for x, y in zip(a, b, strict=True))
