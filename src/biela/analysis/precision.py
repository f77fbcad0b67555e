"""How exact a kinematic solution is: what is cut off, what is not known, and what is rounded.

*Truncation*: iterations end at a residual |Φ| up to a tolerance ε, which moves the position by
δ = Φ_v⁺ Φ, and velocity and acceleration with it.  To first order the worst case of each is

    |x_i| <= ε Σ_k |∂x_i/∂Φ_k|,      ∂q/∂Φ = Φ_v⁺,  and ∂v/∂Φ, ∂a/∂Φ by differences along it.

*Modelling*: parameters are known within tolerances Δp; an output y is uncertain by
Σ |∂y/∂p| Δp at worst, and by √Σ (∂y/∂p Δp)² if the deviations are independent.

*Rounding*: measured, as the spread of solutions with parameters, time and guess changed in their
last digit, and estimated as condition times machine precision (Higham 2002, §1.6).

Peinado 2016, §2.6, names the three; the measures are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.driving import Law, driven
from biela.analysis.instant import Instant, motions
from biela.analysis.posing import placed
from biela.analysis.precision_report import Errors, Precision, Sensitivity
from biela.analysis.preparation import Model, Values, as_system, number, with_values
from biela.doors import door
from biela.equations import System
from biela.errors import AssemblyError, ModelError
from biela.model.quantities.values import Value

Floats = npt.NDArray[np.float64]

_EPS: Final = float(np.finfo(float).eps)
#: Relative displacement of the differences of truncation errors.
_SMALL: Final = 1e-6
#: Changes in the last digits that are tried.
_SAMPLES: Final = 16


@door(ModelError)
def precision(
    model: Model,
    q: Values = None,
    *,
    drives: Mapping[str, Law] | None = None,
    t: float = 0.0,
    tolerance: float = 1e-10,
    tolerances: Mapping[str, Value] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Values = None,
    inputs: Values = None,
    seed: int = 0,
) -> Precision:
    """The errors of the kinematic solution of a driven mechanism at an instant.

    Args:
        model: The mechanism.
        q: First guess of the position, by name or in order: the branch.
        drives: Laws of coordinates or outputs, as in `kinematics`.
        t: The instant, s.
        tolerance: Residual at which positions are accepted (m, rad).
        tolerances: Of parameters, by name, in SI units, or texts with the units of the parameters.
        outputs: What the parameters shall be traced to: outputs, coordinates, velocities or
            accelerations (such as "ddx") by name; all outputs of the model, or all coordinates
            where it has none, if not given.
        parameters: Values other than those of the model.
        inputs: Likewise.
        seed: Of the changes in the last digit.

    Raises:
        ModelError: A name is unknown, or freedoms are left that nothing drives.
        AssemblyError: The mechanism cannot be assembled.
    """
    model, parameters = with_values(model, parameters)
    system = driven(as_system(model), drives or {})
    instant, place = placed(system, q, t=t, parameters=parameters, inputs=inputs)
    solution = _Solution(system, instant.u)
    state = solution.at(t, instant.p, place)
    rows = instant.Phi_v(state[0])
    allowed = motions(rows)
    if allowed.mobility:
        raise ModelError(
            f"{system.name}: {allowed.mobility} degrees of freedom are not driven at t = {t:g} s, "
            f"or the position is singular; add drives={{…: law}}, or choose another instant"
        )
    s = np.linalg.svd(rows, compute_uv=False)
    condition = float(s[0] / s[allowed.rank - 1])
    names = (
        tuple(e.name for e in system.q),
        tuple(e.name for e in system.v),
        tuple(f"d{e.name}" for e in system.v),
    )
    return Precision(
        system.name,
        float(t),
        tolerance,
        condition,
        names,
        _truncation(solution, t, instant.p, state[0], tolerance),
        _rounding(solution, t, instant.p, state, seed),
        condition * _EPS,
        _modelling(solution, t, instant.p, state[0], names, tolerances or {}, outputs),
    )


class _Solution:
    """Position, velocity and acceleration as functions of time and parameters."""

    def __init__(self, system: System, u: Floats) -> None:
        self.system, self.u = system, u

    def at(self, t: float, p: Floats, guess: Floats) -> tuple[Floats, Floats, Floats]:
        instant = Instant(self.system, t, self.u, p)
        q = instant.assembled(guess, 1e-13)
        if q is None:
            q = instant.assembled(guess, 1e-11)
        if q is None:
            raise AssemblyError(
                f"{self.system.name}: no position is found at t = {t:g} s with the parameters "
                f"changed by their tolerances; the position is singular, or a tolerance too large"
            )
        return q, *self.rates(instant, q)

    def rates(self, instant: Instant, q: Floats) -> tuple[Floats, Floats]:
        """Velocity and acceleration at a position, whether it fulfils the constraints or not."""
        inverse = motions(instant.Phi_v(q)).inverse
        v = inverse @ instant.beta(q)
        return v, inverse @ instant.gamma(q, v)

    def outputs(self, t: float, p: Floats, state: tuple[Floats, Floats, Floats]) -> Floats:
        instant = Instant(self.system, t, self.u, p)
        if "outputs" not in self.system:
            return np.zeros(0)
        q, v, a = state
        more = {"a": a} if any(x.name == "a" for x in self.system["outputs"].inputs) else {}
        return np.atleast_1d(instant("outputs", q, v, **more))


def _truncation(solution: _Solution, t: float, p: Floats, q: Floats, tolerance: float) -> Errors:
    instant = Instant(solution.system, t, solution.u, p)
    inverse = motions(instant.Phi_v(q)[: solution.system.geometric]).inverse
    change_v, change_a = [], []
    for column in inverse.T:
        # displacements of about 1e-6, whatever the slope
        size = _SMALL / max(float(np.linalg.norm(column)), 1e-300)
        (v1, a1), (v0, a0) = (
            solution.rates(instant, instant.moved(q, e * column)) for e in (size, -size)
        )
        change_v.append((v1 - v0) / (2 * size))
        change_a.append((a1 - a0) / (2 * size))
    return Errors(
        tolerance * np.abs(instant.N(q) @ inverse).sum(axis=1),
        tolerance * np.abs(change_v).sum(axis=0),
        tolerance * np.abs(change_a).sum(axis=0),
    )


def _rounding(
    solution: _Solution,
    t: float,
    p: Floats,
    state: tuple[Floats, Floats, Floats],
    seed: int,
) -> Errors:
    random = np.random.default_rng(seed)
    found: list[list[Floats]] = [[], [], []]
    for _ in range(_SAMPLES):
        signs = random.choice([-1.0, 1.0], len(p) + 1)
        guess = state[0] * (1 + _EPS * random.choice([-1.0, 1.0], len(state[0])))
        again = solution.at(t * (1 + _EPS * signs[-1]), p * (1 + _EPS * signs[:-1]), guess)
        for part, x, y in zip(found, again, state, strict=True):
            part.append(np.abs(x - y))
    q, v, a = (np.max(part, axis=0) for part in found)
    return Errors(q, v, a)


def _modelling(
    solution: _Solution,
    t: float,
    p: Floats,
    q: Floats,
    names: tuple[tuple[str, ...], ...],
    tolerances: Mapping[str, Value],
    outputs: Sequence[str] | None,
) -> tuple[Sensitivity, ...]:
    system = solution.system
    known = [name for group in names for name in group] + [e.name for e in system.y]
    chosen = outputs if outputs is not None else [e.name for e in system.y] or list(names[0])
    places = [e.name for e in system.p]
    for what, asked, among in (("parameter", tolerances, places), ("output", chosen, known)):
        for name in asked:
            if name not in among:
                raise ModelError(
                    f"{system.name} has no {what} {name}; it has {', '.join(among) or 'none'}"
                )
    found = []
    for parameter, size in tolerances.items():
        k = places.index(parameter)
        unit = system.p[k].unit if isinstance(size, str) else None
        width = number(system, f"parameter {parameter} within a tolerance", size, unit)
        if width <= 0:
            raise ModelError(f"{system.name}: the tolerance of {parameter} is positive, not {size}")
        ends = []
        for sign in (1.0, -1.0):
            changed = p.copy()
            changed[k] += sign * width
            state = solution.at(t, changed, q)
            ends.append(np.concatenate([*state, solution.outputs(t, changed, state)]))
        slopes = (ends[0] - ends[1]) / (2 * width)
        found += [
            Sensitivity(name, parameter, float(slopes[known.index(name)]), width) for name in chosen
        ]
    return tuple(sorted(found, key=lambda s: list(chosen).index(s.output)))
