"""Rods whose spin groups hold, as they move: without a turn about their line.

Coordinates hold the spin of a rod by an axis that stays level, so that its frame H turns about the
line u, with ω_H · u, though nothing turns the rod.  The frame of the rod is H turned by ψ about u:

    ω = ω_H + ψ' u,     α = α_H + ψ'' u + ψ' ω_H x u,     ψ' = -ω_H · u,     ψ'' = -α_H · u
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.spinning import COAXIAL
from biela.equations.groups.cast import Cast, Poses
from biela.model.joints import Joint

__all__ = ["turned_back"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
#: Sine of the angle below which an axis is along a line.
_PARALLEL: Final = 1e-8


def turned_back(solver: GroupSolver, t: Floats, q: Floats, v: Floats, a: Floats) -> None:
    """Turn rods whose spin is held to where they are without spin, from where they start.

    ψ is the integral of its rate over the instants by the rule that fits values and slopes at both
    ends (Euler and Maclaurin), of fourth order.
    """
    for body, u in _held_lines(solver).items():
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


def _held_lines(solver: GroupSolver) -> dict[int, Floats]:
    """Bodies whose spin is held, by number, and the unit vector of the line in each.

    Halves of a strut are among them if their joints keep the line where it is in both.  Otherwise
    it moves in the bodies, and all of them turn as their coordinates do.
    """
    found: dict[int, Floats] = {}
    axes = solver.poses.axes
    for cast in solver.casts.casts:
        names = cast.example.bodies_in_order
        for spin, locked in zip(cast.spins, cast.example.locked, strict=True):
            u = spin.second - spin.first
            u = u / np.linalg.norm(u, axis=1, keepdims=True)
            slots = [names.index(name) for name in locked.bodies]
            lines = np.einsum("nij,nj->ni", axes[cast.bodies[:, spin.slot]], u)
            stays = _stays(cast, slots, lines, solver.poses)
            for bodies, line in zip(cast.bodies[stays], lines[stays], strict=True):
                found |= {int(bodies[k]): axes[int(bodies[k])].T @ line for k in slots}
    return found


def _stays(cast: Cast, slots: Sequence[int], lines: Floats, poses: Poses) -> Flags:
    """Which instances have joints, between some bodies, that keep a line where it is in them."""
    found: Flags = np.ones(cast.count, dtype=bool)
    for element in cast.elements:
        if isinstance(element.element, Joint) and all(m.slot in slots for m in element.markers):
            _, frames = poses.of(element.markers[0].frames)
            off = np.linalg.norm(np.cross(frames[:, :, 2], lines), axis=1) > _PARALLEL
            found &= ~off & (element.element.kind in COAXIAL)
    return found


def _real_rates(u: Floats, omega: Floats, alpha: Floats) -> None:
    spin = (omega @ u)[:, None]
    alpha -= (alpha @ u)[:, None] * u + spin * np.cross(omega, u)
    omega -= spin * u


def _turned(rows: Floats, u: Floats, angle: Floats) -> Floats:
    """Vectors turned about an axis (Rodrigues)."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.asarray(c * rows + s * np.cross(u, rows) + (1 - c) * (rows @ u)[:, None] * u)
