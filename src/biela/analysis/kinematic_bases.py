"""The spaces of velocities and accelerations that constraints allow: the matrices R, S and B.

A constant matrix B (f × n) with ż = B v completes the constraint rows to a square system,

    [ Φ_v ]     [ b ]                [ Φ_v ]
    [ B   ] v = [ ż ],               [ B   ] [S  R] = 1,

so that v = S b + R ż and v' = S c + R z̈: R ż is the motion that the constraints allow, S b and S c
what they impose (García de Jalón & Bayo 1994, §3.5, with b = β and c = γ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.partitioning import independent_basis
from biela.analysis.posing import posed
from biela.analysis.preparation import Model, Values, as_system, with_values
from biela.doors import door
from biela.errors import ModelError
from biela.solvers.coordinate_basis import PARTITIONS, CoordinateBasis, choose_basis

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KinematicBases:
    """R, S and B of a system in a state.

    Attributes:
        R: Motions allowed, one column an independent velocity, (n, f); Φ_v R = 0, B R = 1.
        S: Motions with Φ_v S = 1 and B S = 0, one column a row kept, (n, r).
        B: Independent velocities ż = B v, (f, n).
        Sb: S β: the velocity that the constraints impose, (n).
        Sc: S γ: the acceleration that they impose, (n).
        Phi_v: The constraint rows kept, of full rank, (r, n).
        rows: Names of their multipliers; the others depend on them.
        independent: Names of the independent velocities; none for "svd".
        basis: The choice of these.
        q: Position.
        v: Velocity.
    """

    R: Floats
    S: Floats
    B: Floats
    Sb: Floats
    Sc: Floats
    Phi_v: Floats
    rows: tuple[str, ...]
    independent: tuple[str, ...]
    basis: CoordinateBasis
    q: Floats
    v: Floats

    @property
    def freedoms(self) -> int:
        """Number of independent velocities f."""
        return int(self.R.shape[1])

    @property
    def condition(self) -> float:
        """How much dependent velocities magnify errors: large near a dead point."""
        return self.basis.condition(self.basis.J)

    def velocity(self, z_rates: Sequence[float] | Floats) -> Floats:
        """V = S b + R ż.

        Raises:
            ModelError: There are too few or too many numbers.
        """
        return np.asarray(self.Sb + self.R @ self._independent(z_rates))

    def acceleration(self, z_accelerations: Sequence[float] | Floats) -> Floats:
        """V' = S c + R z̈.

        Raises:
            ModelError: There are too few or too many numbers.
        """
        return np.asarray(self.Sc + self.R @ self._independent(z_accelerations))

    def _independent(self, given: Sequence[float] | Floats) -> Floats:
        z: Floats = np.asarray(given, dtype=float).reshape(-1)
        if len(z) != self.freedoms:
            raise ModelError(
                f"there are {self.freedoms} independent velocities "
                f"({', '.join(self.independent) or 'combinations of all'}), and {len(z)} numbers "
                f"are given"
            )
        return z


@door(ModelError)
def kinematic_bases(
    model: Model,
    q: Values = None,
    v: Values = None,
    *,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    independent: Sequence[str] = (),
    partition: str = "pivoting",
    assemble: bool = True,
) -> KinematicBases:
    """The matrices R, S and B of a model in a state, with S b and S c.

    Args:
        model: What moves.
        q: Position, by name or in order; what is not given is taken from the model.
        v: Velocity, likewise; S c depends on it.
        t: Time, s.
        parameters: Values other than those of the model.
        inputs: Likewise.
        independent: Names of coordinates, or velocities, preferred as independent ones.
        partition: How these are chosen: "pivoting", "qr" or "svd", see `Options`.
        assemble: Whether to make the state fulfil the constraints first.

    >>> import biela as bl
    >>> s = bl.SymbolicSystem("point")
    >>> x, y = s.coordinates("x y")
    >>> _ = s.solid("bob", at=s.origin.offset("P", s.base.vector(x, y, 0)), base=s.base, mass=1.0)
    >>> _ = s.constrain(x**2 + y**2 - 25, name="rod")
    >>> found = kinematic_bases(s, {"x": 3.0, "y": 4.0}, independent=["x"])
    >>> found.R[:, 0]
    array([ 1.  , -0.75])

    Raises:
        AssemblyError: The state cannot be assembled.
        ModelError: A name is unknown.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    if partition not in PARTITIONS:
        known = ", ".join(map(repr, PARTITIONS))
        raise ModelError(f"partition {partition!r} is not known; these are: {known}")
    if partition == "svd" and independent:
        raise ModelError("partition 'svd' takes combinations of all velocities: name none")
    instant, place, speed = posed(
        system, q, v, t=t, parameters=parameters, inputs=inputs, assemble=assemble
    )
    rows = instant.Phi_v(place)
    basis = (
        independent_basis(system, t, place, instant.u, instant.p, independent, partition)
        if system.multipliers
        else choose_basis(rows, partition)
    )
    kept = list(basis.rows)
    inverse = np.linalg.inv(np.vstack([rows[kept], basis.B]))
    S, R = inverse[:, : basis.rank], inverse[:, basis.rank :]
    return KinematicBases(
        R,
        S,
        basis.B,
        S @ instant.beta(place)[kept],
        S @ instant.gamma(place, speed)[kept],
        rows[kept],
        tuple(system.multipliers[i] for i in kept),
        tuple(system.v[i].name for i in basis.independent),
        basis,
        place,
        speed,
    )
