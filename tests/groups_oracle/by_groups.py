"""The chain of four-bars and the fan of sliders solved group after group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tests.groups_oracle import closed_forms, natural_groups, relative
from tests.groups_oracle.constraint_set import Motion, Solution, joined, solve, still

Floats = npt.NDArray[np.float64]


def _at(angle: Motion, i: int) -> closed_forms.Motion:
    return closed_forms.Motion(*(np.asarray(part)[i] for part in angle))


def chain_natural(
    n_d: int, angle: Motion, tensor: bool = False, stale: bool = False
) -> list[list[Solution]]:
    """Joints C_1 … C_n of the chain at every instant (E3), each dyad by its two distances.

    ``stale`` keeps the Jacobian of the last Newton update, as the source's Cuadro 1 does.
    """
    group = natural_groups.dyad_3r(6.0, 6.0)
    guesses = [np.array([4.6 + 6.0 * k, 5.8]) for k in range(n_d)]
    history: list[list[Solution]] = []
    for i in range(len(angle.x)):
        B = Motion(*closed_forms.crank(_at(angle, i), 2.0))
        row: list[Solution] = []
        for k in range(n_d):
            h = joined(B, still([6.0 * (k + 1), 0.0]))
            found = solve(group, guesses[k], h, tensor=tensor, stale=stale)
            row.append(found)
            guesses[k] = found.x
            B = Motion(found.x, found.v, found.a)
        history.append(row)
    return history


def chain_relative(
    n_d: int, angle: Motion, tensor: bool = False
) -> list[list[tuple[Solution, Motion]]]:
    """Angles of every dyad of the chain and its joint C, at every instant (E3)."""
    group = relative.dyad_3r((6.0, 0.0), (6.0, 0.0))
    guesses = [np.array([0.0 if k else 0.69, -1.33]) for k in range(n_d)]
    history: list[list[tuple[Solution, Motion]]] = []
    for i in range(len(angle.x)):
        B = Motion(*closed_forms.crank(_at(angle, i), 2.0))
        row: list[tuple[Solution, Motion]] = []
        for k in range(n_d):
            found = solve(group, guesses[k], joined(still([6.0 * (k + 1), 0.0]), B), tensor=tensor)
            B = relative.point_of_bar(B, found[:3], (6.0, 0.0))
            row.append((found, B))
            guesses[k] = found.x
        history.append(row)
    return history


def rail(k: int, n_d: int) -> tuple[float, float]:
    """Angles θ4, ψ4 of rail k of the fan, counted from 0."""
    return 0.0, 2 * np.pi * k / n_d


def fan(
    n_d: int,
    angle: Motion,
    coordinates: str = "relative",
    sizes: Sequence[float] = (2.0, 6.0),
    beta: float = np.pi / 6,
    tensor: bool = False,
) -> list[list[Motion]]:
    """Distance of each slider along its rail at every instant (E5, E6).

    ``coordinates`` is "relative", "NAT4" or "NAT8".
    """
    crank, rod = sizes
    unknown = {"relative": 2, "NAT4": 3, "NAT8": 3}[coordinates]
    rails = [rail(k, n_d) for k in range(n_d)]
    axes = [np.array([np.cos(psi), np.sin(psi), 0.0]) for _, psi in rails]
    s = float(np.sqrt(rod**2 - crank**2))
    guesses, groups = [], []
    for (_, psi), e in zip(rails, axes, strict=True):
        if coordinates == "relative":
            groups.append(relative.slider_dyad(rod))
            guesses.append(np.array([np.arcsin(crank / rod), psi, s]))
        else:
            second = 1.0 if coordinates == "NAT8" else None
            groups.append(natural_groups.slider_dyad(rod, np.zeros(3), e, second))
            guesses.append(np.concatenate([s * e, [s], (s + 1) * e, [s + 1]])[: 8 if second else 4])
    history: list[list[Motion]] = []
    for i in range(len(angle.x)):
        B = Motion(*closed_forms.inclined_crank(_at(angle, i), crank, beta))
        row: list[Motion] = []
        for k, group in enumerate(groups):
            h = joined(B, still([0, 0, 0, *rails[k]])) if coordinates == "relative" else B
            found = solve(group, guesses[k], h, tensor=tensor)
            guesses[k] = found.x
            row.append(Motion(*(part[unknown] for part in found[:3])))
        history.append(row)
    return history
