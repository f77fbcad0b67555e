"""Rods whose spin groups hold, as they move: without a turn about their line.

Coordinates hold the spin of a rod by an axis that stays level, so that its frame H turns about the
line u, with ω_H · u, though nothing turns the rod.  The frame of the rod is H turned by ψ about u:

    ω = ω_H + ψ' u,     α = α_H + ψ'' u + ψ' ω_H x u,     ψ' = -ω_H · u,     ψ'' = -α_H · u
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.poses import rotations
from biela.analysis.groups.solver import GroupSolver

__all__ = ["turned_back", "without_spins"]

Floats = npt.NDArray[np.float64]
#: A line that moves by less in a body stays where it is.
_STAYS = 1e-9


def without_spins(solver: GroupSolver, q: Floats, v: Floats, a: Floats) -> None:
    """Take the rates about their lines from rods whose spin is held, along the axes they have."""
    for body, u in _lines(solver, q):
        own = slice(6 * body + 3, 6 * body + 6)
        _real_rates(u, v[:, own], a[:, own])


def turned_back(solver: GroupSolver, t: Floats, q: Floats, v: Floats, a: Floats) -> None:
    """The same, and turn the rods to where they are without spin, from where they start.

    ψ is the integral of its rate over the instants by the rule that fits values and slopes at both
    ends (Euler and Maclaurin), of fourth order.
    """
    for body, u in _lines(solver, q):
        own = slice(6 * body + 3, 6 * body + 6)
        rate, slope = -(v[:, own] @ u), -(a[:, own] @ u)
        step = np.diff(t)
        parts = step / 2 * (rate[1:] + rate[:-1]) + step**2 / 12 * (slope[:-1] - slope[1:])
        psi = np.concatenate([[0.0], np.cumsum(parts)])
        _real_rates(u, v[:, own], a[:, own])
        for rates in (v, a):
            rates[:, own] = _turned(rates[:, own], u, -psi)
        e = q[:, 7 * body + 3 : 7 * body + 7]
        w, r = e[:, 0].copy(), e[:, 1:].copy()
        c, s = np.cos(psi / 2), np.sin(psi / 2)[:, None] * u
        e[:, 0] = w * c - (r * s).sum(axis=1)
        e[:, 1:] = w[:, None] * s + c[:, None] * r + np.cross(r, s)


def _real_rates(u: Floats, omega: Floats, alpha: Floats) -> None:
    spin = (omega @ u)[:, None]
    alpha -= (alpha @ u)[:, None] * u + spin * np.cross(omega, u)
    omega -= spin * u


def _turned(rows: Floats, u: Floats, angle: Floats) -> Floats:
    """Vectors turned about an axis (Rodrigues)."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.asarray(c * rows + s * np.cross(u, rows) + (1 - c) * (rows @ u)[:, None] * u)


def _lines(solver: GroupSolver, q: Floats) -> Iterator[tuple[int, Floats]]:
    """The bodies that turn with a spin that is held, and the unit vector of the line in each."""
    for cast in solver.casts.casts:
        names = cast.example.bodies_in_order
        for spin, locked in zip(cast.spins, cast.example.locked, strict=True):
            axis = spin.second - spin.first
            axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
            slots = [names.index(name) for name in locked.bodies]
            for bodies, u in zip(cast.bodies, axis, strict=True):
                held = int(bodies[spin.slot])
                yield held, u
                for slot in slots:
                    if slot != spin.slot:
                        seen = _seen(q, held, u, int(bodies[slot]))
                        if np.ptp(seen, axis=0).max() <= _STAYS:
                            yield int(bodies[slot]), seen[0]


def _seen(q: Floats, first: int, u: Floats, second: int) -> Floats:
    """A direction of one body, seen from another at all instants."""
    R, S = (rotations(q[:, 7 * b + 3 : 7 * b + 7]) for b in (first, second))
    return np.asarray(np.einsum("tji,tjk,k->ti", S, R, u))
