"""Base inertial parameters by numeric rank, for open and for closed chains.

The columns of the regressor, τ = K(q, v, v') φ, are dependent: a motion shows certain combinations
of the inertial parameters only.  How many there are, and which, follows from the rank of K at many
states (Gautier, *Numerical calculation of the base inertial parameters of robots*, 1991).

In a closed chain the states satisfy the constraints, and what can be seen of τ is its power in the
motions they allow.  With the columns of Z spanning the null space of Φ_v, the multipliers drop out,

    Zᵀ K φ = Zᵀ τ,

and the rank is that of Zᵀ K.  `biela.equations.inertia_transfer` finds the same combinations as
expressions.

What is small is judged in units of the mechanism: its size L, and the rate ω with ω² L = |g| at
which its inertia forces are those of its weight.  Coordinates that are lengths are drawn in units
of L, velocities of ω, and the columns of m, mr and I are multiplied by 1, L and L².  The same
mechanism in millimetres then gives the same numbers but for a common factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.code import Function
from biela.code.arrays import Entries
from biela.equations.capabilities import coordinate_units
from biela.equations.regressor import PARAMETERS, Regressor
from biela.equations.symbolic import SymbolicSystem
from biela.errors import AssemblyError
from biela.singular_values import pinv, svd
from biela.space import position

Floats = npt.NDArray[np.float64]

_REACH = 1.5  # random coordinates, velocities and accelerations lie in ±this, in natural units
_CLOSED = 1e-11  # of the size of an equation: a state that satisfies it
_SILENT = 1e-6  # of the largest size: an equation that says next to nothing, and is not blown up
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


@dataclass(frozen=True)
class NaturalUnits:
    """The size of a mechanism (m), the rate of its motions (1/s), and the unit of each coordinate.

    A coordinate without a known unit, such as an Euler parameter, is taken as a number.
    """

    length: float
    rate: float
    coordinates: Floats

    def random(self, random: np.random.Generator) -> Floats:
        """Coordinates, velocities and accelerations (3, n)."""
        steps = np.array([1.0, self.rate, self.rate**2])[:, None] * self.coordinates
        return np.asarray(_REACH * steps * random.uniform(-1, 1, steps.shape), np.float64)

    def columns(self) -> Floats:
        """The units of the ten parameters of a solid, if that of mass is one."""
        powers = [0 if name == "m" else 1 if name[0] == "m" else 2 for name in PARAMETERS]
        return np.asarray(self.length ** np.array(powers), np.float64)


def natural_units(
    system: SymbolicSystem, parameters: Sequence[float] | Floats | None = None
) -> NaturalUnits:
    """The units in which a mechanism is neither large nor small.

    Its size is the distance of its farthest point, all coordinates that are lengths being zero.

    Raises:
        ModelError: If it has orientations by Euler parameters.
    """
    system.check_plain("the search for base parameters")
    p = list(system.parameter_values.values()) if parameters is None else parameters
    base, origin = system.base, system.origin
    points = system.space.points.values()
    # where inputs or multipliers place something, they are zero
    places = system.function(
        "places",
        {
            "r": [[*position(origin, point).components(base)] for point in points],
            "g": [*system.gravity.components(base)],
        },
    )
    units = coordinate_units(system)
    lengths = np.array([units[q] == "m" for q in system.q])
    q = np.random.default_rng(0).uniform(-_REACH, _REACH, len(lengths)) * ~lengths
    zeros = {a.name: np.zeros(a.shape) for a in places.inputs}
    given = zeros | {"q": q, "p": np.asarray(p, float)}
    r, g = places.interpret(*(given[a.name] for a in places.inputs))
    length = float(np.linalg.norm(r, axis=1).max(initial=0.0)) or 1.0
    weight = float(np.linalg.norm(g))
    rate = float(np.sqrt(weight / length)) if weight else 1.0
    return NaturalUnits(length, rate, np.where(lengths, length, 1.0))


def free_states(
    system: SymbolicSystem,
    count: int,
    seed: int = 0,
    parameters: Sequence[float] | Floats | None = None,
) -> States:
    """Random states that know of no constraints; parameters have their own values unless given."""
    random = np.random.default_rng(seed)
    units = natural_units(system, parameters)
    q, v, a = np.stack([units.random(random) for _ in range(count)], axis=1)
    allowed = np.diag(units.coordinates)
    return States(random.uniform(0, 1, count), q, v, a, [allowed] * count)


def admissible_states(
    system: SymbolicSystem, parameters: Sequence[float] | Floats, count: int, seed: int = 0
) -> States:
    """Random states that satisfy the constraints at all three levels.

    Random coordinates are brought to Φ = 0 by Gauss-Newton steps of least norm; velocities and
    accelerations are the nearest that satisfy Φ_v v = β and Φ_v v' = γ.  Norms are those of natural
    units, and every equation is divided by the size of its row.

    Raises:
        AssemblyError: If hardly any random start can be closed with these parameters.
    """
    if not system.constraint_list:
        return free_states(system, count, seed, parameters)
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
    units = natural_units(system, p)
    S = units.coordinates
    kept: list[tuple[float, Floats, Floats, Floats, Floats]] = []
    for _ in range(_ATTEMPTS * count):
        t, (q, v, a) = random.uniform(0, 1), units.random(random)
        for _ in range(50):
            if place is None:
                break
            Phi, Phi_q = place(t, q, v, p)
            rows = _row_sizes(Phi_q * S)
            if (np.abs(Phi) <= _CLOSED * rows).all():
                break
            q = q - S * (pinv(Phi_q * S / rows[:, None], 1e-6) @ (Phi / rows))
        else:
            continue
        Phi_v, beta, _ = rates(t, q, v, p)
        rows = _row_sizes(Phi_v * S)
        scaled = Phi_v * S / rows[:, None]
        _, sizes, directions = svd(scaled)
        rank = int((sizes > 1e-9 * sizes[0]).sum())
        if sizes[rank - 1] < 1e-3 * sizes[0]:  # too near a singular position to be accurate
            continue
        inverse = S[:, None] * pinv(scaled, 1e-9) / rows
        v = v - inverse @ (Phi_v @ v - beta)
        gamma = rates(t, q, v, p)[2]
        a = a - inverse @ (Phi_v @ a - gamma)
        kept.append((t, q, v, a, S[:, None] * directions[rank:].T))
        if len(kept) == count:
            columns = [np.array(column) for column in zip(*(k[:4] for k in kept), strict=True)]
            return States(columns[0], columns[1], columns[2], columns[3], [k[4] for k in kept])
    raise AssemblyError(
        f"{system.name}: of {_ATTEMPTS * count} random positions {len(kept)} could be brought to "
        f"satisfy the constraints, and {count} are needed: check that the mechanism closes with "
        f"these parameters"
    )


def _row_sizes(J: Floats) -> Floats:
    """How large each equation is, by its row of a Jacobian; never next to zero among others."""
    sizes = np.abs(J).sum(axis=1)
    return np.asarray(np.maximum(sizes, _SILENT * sizes.max(initial=0.0) or 1.0), np.float64)


def observations(found: Regressor, parameters: Sequence[float] | Floats, states: States) -> Floats:
    """Zᵀ K at all states, one below the other."""
    p = np.asarray(parameters, float)
    stacked = found.function().walk_map(states.t, states.q, states.v, states.a, p)
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
    # in natural units: all columns are torques then, and can be compared
    units = np.tile(natural_units(system, parameters).columns(), len(system.solids))
    W = W * units
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
        regrouping = solved * units[independent][:, None] / units[dependent]
    return BaseParameters(found.names, tuple(independent), tuple(dependent), regrouping)
