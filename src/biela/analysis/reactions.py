"""Reactions of constraints, which of them are determinate, and which constraints are redundant.

    Φ_vᵀ λ = Q - M v'

has one solution only if the rows of Φ_v are independent.  If not, the null space of Φ_vᵀ holds the
self-stresses: a multiplier is determinate if no self-stress has a part in it.  Of the others the
smallest solution is taken, in the norm Σ w λ²; with w = 1 forces in N and moments in N m count
alike.  Accelerations, and what the reactions of all rows do together, are determinate always
(García de Jalón & Gutiérrez-López 2013, Multibody Syst. Dyn. 30).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import dependent_rows
from biela.analysis.instant import RANK_TOLERANCE, Instant, motions, unit_rows
from biela.analysis.posing import placed, posed
from biela.analysis.preparation import Model, Values, as_system, with_values
from biela.doors import door
from biela.equations import System
from biela.errors import ModelError, UnknownNameError
from biela.singular_values import svd

Floats = npt.NDArray[np.float64]

#: A part of a self-stress below this is rounding.
_PART: Final = 1e-7


@dataclass(frozen=True)
class Redundancy:
    """How the constraints of a system depend on each other at a position.

    Attributes:
        constraints: Names of all constraints.
        rank: How many of them are independent.
        mobility: Degrees of freedom of the velocities.
        dependent: Constraints that depend on those before them.
        relations: For each of these, the constraints that it depends on.
        structural: How many constraints are redundant in nearby positions too; fewer than
            ``dependent`` if this position is singular.
        determinate: For each constraint, whether its multiplier is determinate.
    """

    constraints: tuple[str, ...]
    rank: int
    mobility: int
    dependent: tuple[str, ...]
    relations: tuple[tuple[str, ...], ...]
    structural: int
    determinate: tuple[bool, ...]

    @property
    def singular(self) -> bool:
        """Whether more constraints depend on each other here than nearby."""
        return len(self.dependent) > self.structural

    def __str__(self) -> str:
        """Return a sentence on the freedoms, and one for each dependent constraint."""
        lines = [
            f"{len(self.constraints)} constraints, {self.rank} independent, "
            f"mobility {self.mobility}{', singular position' if self.singular else ''}"
        ]
        for name, others in zip(self.dependent, self.relations, strict=True):
            lines.append(f"{name} depends on {', '.join(others) or 'nothing: its row is zero'}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Reactions:
    """Reactions in a state.

    Attributes:
        constraints: Names of the constraints.
        lam: Their multipliers, M v' + Φ_vᵀ λ = Q: the constraints pull with -Φ_vᵀ λ.
        determinate: For each of them, whether it is determinate.
        a: The accelerations.
        redundancy: How the constraints depend on each other.
    """

    constraints: tuple[str, ...]
    lam: Floats
    determinate: tuple[bool, ...]
    a: Floats
    redundancy: Redundancy

    def __getitem__(self, name: str) -> float:
        """The multiplier of a constraint.

        Raises:
            UnknownNameError: No constraint is called so.
        """
        if name not in self.constraints:
            raise UnknownNameError(
                f"there is no constraint {name}; there are {', '.join(self.constraints) or 'none'}"
            )
        return float(self.lam[self.constraints.index(name)])

    def __str__(self) -> str:
        """Return a table of the multipliers."""
        width = max((len(name) for name in self.constraints), default=0)
        return "\n".join(
            f"{name:<{width}}  {value:12.6g}{'' if certain else '  indeterminate, smallest'}"
            for name, value, certain in zip(
                self.constraints, self.lam, self.determinate, strict=True
            )
        )


@door(ModelError)
def reactions(
    model: Model,
    q: Values = None,
    v: Values = None,
    *,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    weights: Mapping[str, float] | None = None,
    assemble: bool = True,
) -> Reactions:
    """The reactions in a state of motion, with what is known of their determinacy.

    Args:
        model: The mechanism.
        q: Position, by name or in order; what is not given is taken from the model.
        v: Velocity, likewise.
        t: Time, s.
        parameters: Values other than those of the model.
        inputs: Likewise.
        weights: Weights w of multipliers in the norm that chooses among indeterminate ones, by
            name of the constraint; 1 where not given.
        assemble: Whether to make the state fulfil the constraints first.

    Raises:
        ModelError: A name is unknown or a weight is not positive.
        AssemblyError: The state cannot be assembled.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    instant, place, speed = posed(
        system, q, v, t=t, parameters=parameters, inputs=inputs, assemble=assemble
    )
    chosen = _weights(system, weights or {})
    a, lam = instant.motion(place, speed, chosen)
    report = _redundancy(instant, place)
    return Reactions(system.multipliers, lam, report.determinate, a, report)


@door(ModelError)
def redundancy(
    model: Model,
    q: Values = None,
    *,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    assemble: bool = True,
) -> Redundancy:
    """How the constraints depend on each other at a position; see `reactions`.

    Of bodies and joints all equations are looked at, those of joints that would carry bodies too
    (reference-point coordinates).

    Raises:
        AssemblyError: The position cannot be assembled.
    """
    model, parameters = with_values(model, parameters)
    instant, place = placed(
        as_system(model, "reference"),
        q,
        t=t,
        parameters=parameters,
        inputs=inputs,
        assemble=assemble,
    )
    return _redundancy(instant, place)


def determinate_rows(rows: Floats) -> npt.NDArray[np.bool_]:
    """For each row, whether no self-stress, a null vector of the transposed rows, acts in it."""
    U, s, _ = svd(rows)
    null = U[:, int((s > RANK_TOLERANCE * s[0]).sum()) :]
    found: npt.NDArray[np.bool_] = np.linalg.norm(null, axis=1) <= _PART
    return found


def _weights(system: System, given: Mapping[str, float]) -> Floats | None:
    if not given:
        return None
    found = np.ones(len(system.multipliers))
    for name, weight in given.items():
        if name not in system.multipliers:
            known = ", ".join(system.multipliers) or "none"
            raise ModelError(f"{system.name} has no constraint {name}; it has {known}")
        if not (np.isfinite(weight) and weight > 0):
            raise ModelError(f"{system.name}: the weight of {name} must be positive, not {weight}")
        found[system.multipliers.index(name)] = weight
    return found


def _redundancy(instant: Instant, q: Floats) -> Redundancy:
    system = instant.system
    names = system.multipliers
    rows = instant.Phi_v(q)
    allowed = motions(rows)
    unit, _ = unit_rows(rows)
    dependent = dependent_rows(unit)
    basis = [k for k in range(len(rows)) if k not in dependent]
    relations = []
    for k in dependent:
        before = [i for i in basis if i < k]
        parts = np.linalg.lstsq(unit[before].T, unit[k], rcond=None)[0] if before else ()
        relations.append(
            tuple(names[i] for i, x in zip(before, parts, strict=True) if abs(x) > _PART)
        )
    return Redundancy(
        names,
        allowed.rank,
        allowed.mobility,
        tuple(names[k] for k in dependent),
        tuple(relations),
        _structural(instant, q, allowed.R, len(rows) - allowed.rank),
        tuple(bool(x) for x in determinate_rows(rows)) if len(rows) else (),
    )


def _structural(instant: Instant, q: Floats, R: Floats, here: int) -> int:
    """The smallest number of dependent rows seen here and a little along the motions allowed."""
    if not here:
        return 0
    random = np.random.default_rng(0)
    least = here
    # at a singular position some directions of R lead nowhere: those that can be closed are used
    for _ in range(8 if R.shape[1] else 0):
        delta = R @ random.uniform(-1, 1, R.shape[1])
        delta *= 1e-2 / max(float(np.linalg.norm(delta)), 1e-300)
        place = instant.assembled(instant.moved(q, delta))
        if place is None:
            continue
        rows = instant.Phi_v(place)
        least = min(least, len(rows) - motions(rows).rank)
    return least
