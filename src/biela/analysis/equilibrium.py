"""Static equilibrium: positions in which the system stays at rest, and what holds it there.

    Q(q, v = 0) = Φ_vᵀ λ,     Φ(q) = 0;

see `equilibrium_search` for the way there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.equilibrium_search import Equilibrium, EquilibriumSearch
from biela.analysis.inverse_dynamics import Motion, chosen_inputs, required
from biela.analysis.preparation import Model, Values, as_system, values, with_values
from biela.budgets import RESTARTS, within
from biela.doors import door
from biela.equations.positions import apart, normalised, random_start
from biela.errors import AssemblyError, ModelError

Floats = npt.NDArray[np.float64]

__all__ = ["Equilibrium", "HoldingInputs", "equilibria", "equilibrium", "holding_inputs"]


@dataclass(frozen=True)
class HoldingInputs:
    """Constant inputs that hold a position, and the multipliers of the constraints there."""

    u: Floats
    lam: Floats
    q: Floats


@door(ModelError)
def equilibrium(
    model: Model,
    q: Values = None,
    *,
    hold: Mapping[str, float] | None = None,
    method: str = "auto",
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
) -> Equilibrium:
    """An equilibrium near a guess.

    Args:
        model: The mechanism; drives are stopped where they are at time ``t``.
        q: First guess, by name or in order; what is not given is taken from the model.
        hold: Coordinates, or outputs, that are held at these values; the multipliers of
            "drive …" are minus the forces that do so.
        method: "newton" (the nearest one), "relaxation" (a stable one), or "auto": Newton, and
            relaxation where that fails.
        t: Time, s.
        parameters: Values other than those of the model.
        inputs: Likewise.

    Raises:
        AssemblyError: The guess cannot be assembled, or no equilibrium is found.
        ModelError: A name is unknown.
    """
    model, parameters = with_values(model, parameters)
    search = EquilibriumSearch(as_system(model), hold or {}, t, parameters, inputs)
    start = search.assembled(q)
    if method not in ("auto", "newton", "relaxation"):
        raise ModelError(f"method {method!r} is not known; use 'newton', 'relaxation' or 'auto'")
    for way in ("newton", "relaxation") if method == "auto" else (method,):
        found = search.reached(start, way)
        if found is not None:
            return search.described(*found)
    raise AssemblyError(search.reason(start))


@door(ModelError)
def equilibria(
    model: Model,
    q: Values = None,
    *,
    restarts: int = 40,
    seed: int = 0,
    hold: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
) -> list[Equilibrium]:
    """The different equilibria found from random starts, those of lowest energy first.

    Angles are the same up to full turns.  Where the energy is not known they are in the order of
    their distance from the guess.

    Raises:
        AssemblyError: None was found.
    """
    model, parameters = with_values(model, parameters)
    search = EquilibriumSearch(as_system(model), hold or {}, t, parameters, inputs)
    system = search.system
    guess = normalised(system, values(system, "coordinate", system.q, q))
    turns = np.array([e.unit == "rad" for e in system.q])
    random = np.random.default_rng(seed)
    places: list[tuple[Floats, Floats, float, int]] = []
    within(RESTARTS, restarts, "equilibria would try {} starts", "use fewer restarts")
    for k in range(max(restarts, 1)):
        start = random_start(system, guess, random) if k else guess
        assembled = search.instant.assembled(start)
        if assembled is None:
            continue
        for way in ("newton", "relaxation") if k % 4 == 0 else ("newton",):
            found = search.reached(assembled, way)
            if found is None:
                continue
            place = found[0].copy()
            place[turns] = guess[turns] + _turn(place[turns] - guess[turns])
            if all(np.abs(apart(system, place, other[0])).max() > 1e-5 for other in places):
                places.append((place, *found[1:]))
    if not places:
        raise AssemblyError(search.reason(guess))
    described = [search.described(*place) for place in places]
    near = {id(e): float(np.linalg.norm(apart(system, e.q, guess))) for e in described}
    span = max((abs(e.energy) for e in described if np.isfinite(e.energy)), default=0.0) or 1.0
    return sorted(
        described,  # energies that differ by rounding are the same
        key=lambda e: (round(e.energy / span, 9) if np.isfinite(e.energy) else 0.0, near[id(e)]),
    )


@door(ModelError)
def holding_inputs(
    model: Model,
    q: Values = None,
    *,
    unknown: Sequence[str] | None = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    tolerance: float = 1e-8,
) -> HoldingInputs:
    """The smallest constant inputs that hold a position at rest.

    ``unknown`` names the inputs to be found, all if not given; the others have the values of
    ``inputs``.  The position is assembled first.

    Raises:
        ModelError: The inputs cannot hold it.
        AssemblyError: The position cannot be assembled.
    """
    model, parameters = with_values(model, parameters)
    search = EquilibriumSearch(as_system(model), {}, t, parameters, inputs)
    system = search.system
    place = search.assembled(q)
    rest = np.zeros((1, len(system.v)))
    found = required(
        system,
        Motion(np.array([float(t)]), place[None], rest, rest),
        search.instant.p,
        search.instant.u,
        chosen_inputs(system, unknown),
    )
    worst = int(np.argmax(np.abs(found.missing[0])))
    missing = float(found.missing[0, worst])
    if abs(missing) > tolerance * max(float(found.scale[0]), 1e-9):
        names = ", ".join(e.name for e in system.u) or "none"
        raise ModelError(
            f"{system.name}: the inputs ({names}) cannot hold this position: a force of "
            f"{missing:.3g} along {system.v[worst].name} is not balanced"
        )
    if found.beyond.any():
        i = int(np.argmax(found.beyond[0]))
        raise ModelError(
            f"{system.name}: the inputs cannot hold this position: {system.u[i].name} would have "
            f"to be {found.u[0, i]:.6g}, which exceeds the limit of its actuator"
        )
    return HoldingInputs(found.u[0], found.lam[0], place)


def _turn(angle: Floats) -> Floats:
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)
