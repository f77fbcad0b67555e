"""The integrals of assumed shapes over the mass of a flexible body.

A particle that rests at ρ is found at u = ρ + Σ S_a η_a.  The equations of motion need

    s = ∫u dm,   s_a = ∫S_a dm,   I = ∫(u² 1 - u uᵀ) dm,
    c_a = ∫u x S_a dm,   ∫S_a uᵀ dm,   m_ab = ∫S_a · S_b dm,

polynomials in η whose coefficients are moments ∫f gᵀ dm of the fields ρ, S_1, S_2 …  A body is
given as particles, over which these are finite sums: those of a lumped finite element mesh, or the
Gauss points of a beam, whose sums are the integrals of polynomial shapes exactly.

Shabana, *Dynamics of Multibody Systems* (2013), §5.3 (inertia shape integrals).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom

Floats = npt.NDArray[np.float64]
Rows = list[list[Atom]]

#: A sum this much smaller than the sum of the sizes of its terms is a zero with rounding.
_ROUNDING = 1e-12
_AXES = range(3)


@dataclass(frozen=True)
class Station:
    """A place of a body: where it rests, and what each mode does there.

    ``place`` is in units of length; ``shapes`` has a row of displacements for each mode, ``turns``
    one of small rotations (per unit of length).
    """

    place: Floats
    shapes: Floats
    turns: Floats


@dataclass(frozen=True)
class Cloud:
    """Particles: masses (N), places (N, 3) and shapes (modes, N, 3).

    Masses are in units of ``unit_mass`` and places in units of ``unit_length``, which may be
    symbols.
    """

    masses: Floats
    places: Floats
    shapes: Floats
    unit_mass: Atom
    unit_length: Atom

    @staticmethod
    def of(
        masses: Floats, places: Floats, shapes: Floats, unit_mass: Atom, unit_length: Atom
    ) -> Cloud:
        """A cloud whose units, if they are known numbers, are taken into the arrays."""
        one = unit_mass.workspace.atom(1)
        if unit_mass.value is not None:
            masses, unit_mass = masses * float(unit_mass.value), one
        if unit_length.value is not None:
            places, unit_length = places * float(unit_length.value), one
        return Cloud(masses, places, shapes, unit_mass, unit_length)

    @cached_property
    def fields(self) -> Floats:
        """Rest positions and shapes as one array, (1 + modes, N, 3)."""
        return np.concatenate([self.places[None], self.shapes])

    @cached_property
    def firsts(self) -> Floats:
        """∫f dm of every field, (1 + modes, 3)."""
        return _cleaned(self.masses @ self.fields, self.masses @ np.abs(self.fields))

    @cached_property
    def moments(self) -> Floats:
        """∫f gᵀ dm of every two fields, (1 + modes, 1 + modes, 3, 3)."""
        f = self.fields
        sums = "n,ani,bnj->abij"
        found = np.einsum(sums, self.masses, f, f)
        return _cleaned(found, np.einsum(sums, self.masses, np.abs(f), np.abs(f)))

    @cached_property
    def products(self) -> Floats:
        """∫f x g dm of every two fields, (1 + modes, 1 + modes, 3)."""
        J = self.moments
        return np.stack([J[..., i - 2, i - 1] - J[..., i - 1, i - 2] for i in _AXES], axis=-1)

    @cached_property
    def inertias(self) -> Floats:
        """∫(f · g 1 - sym f gᵀ) dm of every two fields, (1 + modes, 1 + modes, 3, 3)."""
        J = self.moments
        trace = np.einsum("abii->ab", J)[..., None, None] * np.eye(3)
        return np.asarray(trace - (J + np.swapaxes(J, -1, -2)) / 2)


@dataclass(frozen=True)
class ShapeIntegrals:
    """The integrals of a cloud in its present shape, on atoms, in the base of the body."""

    cloud: Cloud
    modes: tuple[Atom, ...]

    @property
    def mass(self) -> Atom:
        """M."""
        return self.cloud.unit_mass * float(self.cloud.masses.sum())

    def first_moment(self) -> list[Atom]:
        """Vector s."""
        s = self.cloud.firsts
        return [self._linear(s[0, i], s[1:, i]) for i in _AXES]

    def first_by(self, a: int) -> list[Atom]:
        """Vector s_a = ∂s/∂η_a."""
        return [self.cloud.unit_mass * float(x) for x in self.cloud.firsts[a + 1]]

    def cross_by(self, a: int) -> list[Atom]:
        """Vector c_a."""
        c = self.cloud.products[:, a + 1]
        return [self._linear(c[0, i], c[1:, i]) for i in _AXES]

    def mass_of(self, a: int, b: int) -> Atom:
        """Scalar ∫S_a · S_b dm."""
        return self.cloud.unit_mass * float(np.trace(self.cloud.moments[a + 1, b + 1]))

    def moment_by(self, a: int) -> Rows:
        """Tensor ∫S_a uᵀ dm."""
        J = self.cloud.moments[a + 1]
        return [[self._linear(J[0, i, j], J[1:, i, j]) for j in _AXES] for i in _AXES]

    def moment_rate(self, a: int) -> Rows:
        """Tensor ∫S_a u'ᵀ dm."""
        J, unit = self.cloud.moments[a + 1, 1:], self.cloud.unit_mass
        rates = [eta.velocity for eta in self.modes]
        return [
            [
                unit * total(rate * float(x) for rate, x in zip(rates, J[:, i, j], strict=True))
                for j in _AXES
            ]
            for i in _AXES
        ]

    def inertia(self) -> Rows:
        """Tensor I, with I_fg = ∫(f · g 1 - sym f gᵀ) dm: I_ρρ + Σ η_a (2 I_ρa + Σ I_ab η_b)."""
        unit, length, I = self.cloud.unit_mass, self.cloud.unit_length, self.cloud.inertias

        def entry(i: int, j: int) -> Atom:
            terms = [length * length * float(I[0, 0, i, j])]
            for a, eta in enumerate(self.modes):
                inner = self._inner(2 * I[0, a + 1, i, j], I[1:, a + 1, i, j])
                terms.append(eta * inner)
            return unit * total(terms)

        return [[entry(min(i, j), max(i, j)) for j in _AXES] for i in _AXES]

    def _linear(self, rest: float, by_mode: Sequence[float] | Floats) -> Atom:
        return self.cloud.unit_mass * self._inner(rest, by_mode)

    def _inner(self, rest: float, by_mode: Sequence[float] | Floats) -> Atom:
        """Length times a number plus Σ number η_a: one factor of mass is left to the caller."""
        moved = (eta * float(x) for eta, x in zip(self.modes, by_mode, strict=True))
        return total([self.cloud.unit_length * float(rest), *moved])


def total(terms: Iterable[Atom]) -> Atom:
    """The sum of at least one term."""
    first, *others = terms
    for term in others:
        first = first + term
    return first


def skew(u: Sequence[Atom]) -> Rows:
    """The matrix of a vector product, u~ v = u x v."""
    x, y, z = u
    zero = x.workspace.atom(0)
    return [[zero, -z, y], [z, zero, -x], [-y, x, zero]]


def turning(W: Rows, dW: Rows) -> Rows:
    """Γ = dW + W W: the acceleration of what turns, by its place."""
    return [[dW[i][j] + total(W[i][k] * W[k][j] for k in _AXES) for j in _AXES] for i in _AXES]


def contraction(A: Rows, B: Rows) -> Atom:
    """A : B, the sum of the products of all entries."""
    return total(A[i][j] * B[i][j] for i in _AXES for j in _AXES)


def _cleaned(values: Floats, sizes: Floats) -> Floats:
    """Values with zeros for what is rounding: modes are often orthogonal."""
    return np.where(np.abs(values) > _ROUNDING * sizes, values, 0.0)
