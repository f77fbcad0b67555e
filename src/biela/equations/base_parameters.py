"""Base inertial parameters by numeric rank, for open and for closed chains.

The columns of the regressor, τ = K(q, v, v') φ, are dependent: a motion shows certain combinations
of the inertial parameters only.  How many there are, and which, follows from the rank of K at many
states (Gautier, *Numerical calculation of the base inertial parameters of robots*, 1991).

In a closed chain the states satisfy the constraints, and what can be seen of τ is its power in the
motions they allow.  With the columns of Z spanning the null space of Φ_v, the multipliers drop out,

    Zᵀ K φ = Zᵀ τ,

and the rank is that of Zᵀ K.  `biela.equations.inertia_transfer` finds the same combinations as
expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.code import Function
from biela.code.arrays import Entries
from biela.equations.regressor import Regressor
from biela.equations.symbolic import SymbolicSystem
from biela.errors import AssemblyError

Floats = npt.NDArray[np.float64]

_REACH = 1.5  # random coordinates, velocities and accelerations lie in ±this
_CLOSED = 1e-11  # of the size of the equations: a state that satisfies them
_ATTEMPTS = 20  # random starts for every state wanted


@dataclass(frozen=True)
class BaseParameters:
    """The combinations of inertial parameters that the motion can tell apart.

    τ = K[:, independent] φ_base with φ_base = φ[independent] + regrouping φ[dependent];
    parameters that are in neither list have no effect.
    """

    names: tuple[str, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    regrouping: Floats

    def text(self) -> str:
        """Each base parameter as a sum of inertial parameters."""
        lines = []
        for row, i in enumerate(self.independent):
            terms = [
                f"{factor:+.6g} {self.names[j]}"
                for factor, j in zip(self.regrouping[row], self.dependent, strict=True)
                if abs(factor) > 1e-9
            ]
            lines.append(" ".join([self.names[i], *terms]))
        return "\n".join(lines)


@dataclass(frozen=True)
class States:
    """Random states: times, coordinates, velocities, accelerations, and the motions allowed.

    Arrays of one row a state; ``allowed`` holds for each a matrix Z of n rows whose columns span
    the velocities that the constraints leave free.
    """

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    allowed: list[Floats]


def free_states(system: SymbolicSystem, count: int, seed: int = 0) -> States:
    """Random states that know of no constraints."""
    random = np.random.default_rng(seed)
    n = len(system.q)
    q, v, a = (random.uniform(-_REACH, _REACH, (count, n)) for _ in range(3))
    return States(random.uniform(0, 1, count), q, v, a, [np.eye(n)] * count)


def admissible_states(
    system: SymbolicSystem, parameters: Sequence[float] | Floats, count: int, seed: int = 0
) -> States:
    """Random states that satisfy the constraints at all three levels.

    Random coordinates are brought to Φ = 0 by Gauss-Newton steps of least norm; velocities and
    accelerations are the nearest that satisfy Φ_v v = β and Φ_v v' = γ.

    Raises:
        AssemblyError: If hardly any random start can be closed with these parameters.
    """
    if not system.constraint_list:
        return free_states(system, count, seed)
    found = system.constraints()
    p = np.asarray(parameters, float)
    inputs: dict[str, Entries] = {"t": system.time, "q": system.q, "v": system.v}
    inputs["p"] = system.parameter_symbols
    place = (
        Function("place", inputs, {"Phi": found.Phi, "Phi_q": found.Phi_q}) if found.Phi else None
    )
    levels: dict[str, Entries] = {"Phi_v": found.Phi_v, "beta": found.beta, "gamma": found.gamma}
    rates = Function("rates", inputs, levels)
    random = np.random.default_rng(seed)
    n = len(system.q)
    kept: list[tuple[float, Floats, Floats, Floats, Floats]] = []
    for _ in range(_ATTEMPTS * count):
        t, (q, v, a) = random.uniform(0, 1), random.uniform(-_REACH, _REACH, (3, n))
        for _ in range(50):
            if place is None:
                break
            Phi, Phi_q = place(t, q, v, p)
            if np.abs(Phi).max() <= _CLOSED * (1 + np.abs(Phi_q).max()):
                break
            q = q - np.linalg.pinv(Phi_q, 1e-6) @ Phi
        else:
            continue
        Phi_v, beta, _ = rates(t, q, v, p)
        _, sizes, rows = np.linalg.svd(Phi_v)
        rank = int((sizes > 1e-9 * sizes[0]).sum())
        if sizes[rank - 1] < 1e-3 * sizes[0]:  # too near a singular position to be accurate
            continue
        inverse = np.linalg.pinv(Phi_v, 1e-9)
        v = v - inverse @ (Phi_v @ v - beta)
        gamma = rates(t, q, v, p)[2]
        a = a - inverse @ (Phi_v @ a - gamma)
        kept.append((t, q, v, a, rows[rank:].T))
        if len(kept) == count:
            columns = [np.array(column) for column in zip(*(k[:4] for k in kept), strict=True)]
            return States(columns[0], columns[1], columns[2], columns[3], [k[4] for k in kept])
    raise AssemblyError(
        f"{system.name}: of {_ATTEMPTS * count} random positions {len(kept)} could be brought to "
        f"satisfy the constraints, and {count} are needed: check that the mechanism closes with "
        f"these parameters"
    )


def observations(found: Regressor, parameters: Sequence[float] | Floats, states: States) -> Floats:
    """Zᵀ K at all states, one below the other."""
    p = np.asarray(parameters, float)
    stacked = found.function().map(states.t, states.q, states.v, states.a, p)
    matrices = stacked.reshape(len(states.t), len(found.source.v), len(found.names))
    return np.concatenate([Z.T @ K for Z, K in zip(states.allowed, matrices, strict=True)])


def enough_states(system: SymbolicSystem) -> int:
    """How many states show all that can be seen of the inertial parameters of a system."""
    free = max(1, len(system.v) - len(system.constraint_list))
    return max(4, 30 * len(system.solids) // free + 4)


def rounding(W: Floats) -> float:
    """Below this, a number made from the entries of a matrix is zero."""
    return float(100 * max(W.shape) * np.finfo(np.float64).eps * np.abs(W).max(initial=0.0))


def base_parameters(
    found: Regressor, parameters: Sequence[float], states: int = 0, seed: int = 0
) -> BaseParameters:
    """Base parameters by numeric rank: a column is dependent if those kept so far span it.

    If the system has constraints, the states satisfy them and only motions that they allow count.

    Raises:
        AssemblyError: If hardly any random position satisfies the constraints.
    """
    system, columns = found.source, len(found.names)
    count = states or enough_states(system)
    W = observations(found, parameters, admissible_states(system, parameters, count, seed))
    zero = rounding(W)
    independent: list[int] = []
    dependent: list[int] = []
    basis = np.zeros((W.shape[0], 0))
    for j in range(columns):
        column = W[:, j]
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)  # twice is enough
        size = float(np.linalg.norm(rest))
        if size > zero:
            independent.append(j)
            basis = np.column_stack([basis, rest / size])
        elif np.abs(column).max() > zero:
            dependent.append(j)
    regrouping: Floats = np.zeros((len(independent), 0))
    if dependent:
        solved = np.linalg.lstsq(W[:, independent], W[:, dependent], rcond=None)[0]
        regrouping = np.asarray(solved, np.float64)
    return BaseParameters(found.names, tuple(independent), tuple(dependent), regrouping)
