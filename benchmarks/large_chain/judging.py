"""Drift and energy of the chain from the places of its bodies, for every package alike.

A body is a rod of 1 kg: the place (x, z) of its middle, the angle of its direction, and their
rates; cranks first, then couplers.
"""

from __future__ import annotations

import numpy as np

from benchmarks.closed_loops.mechanism import Floats
from benchmarks.large_chain.chain import GRAVITY, coupler_lengths, crank_lengths


def lengths(loops: int) -> Floats:
    return np.concatenate([crank_lengths(loops), coupler_lengths(loops)])


def drift(loops: int, place: Floats) -> float:
    """The greatest distance between two points that a pin holds together, m."""
    half = lengths(loops)[:, None] / 2
    along = half * np.stack([np.cos(place[:, 2]), np.sin(place[:, 2])], axis=1)
    first, last = place[:, :2] - along, place[:, :2] + along
    crank, coupler = slice(0, loops + 1), slice(loops + 1, None)
    pivots = np.stack([np.arange(loops + 1.0), np.zeros(loops + 1)], axis=1)
    gaps = [
        first[crank] - pivots,
        first[coupler] - last[crank][:-1],
        last[coupler] - last[crank][1:],
    ]
    return float(max(np.linalg.norm(gap, axis=1).max() for gap in gaps))


def energy(loops: int, place: Floats, speed: Floats) -> float:
    """Kinetic and potential energy, J."""
    I = lengths(loops) ** 2 / 12
    kinetic = (speed[:, :2] ** 2).sum() / 2 + (I * speed[:, 2] ** 2).sum() / 2
    return float(kinetic + GRAVITY * place[:, 1].sum())
