"""Velocities and accelerations along a path that is followed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.search import Search
from biela.atoms.piecewise import cubic_spline
from biela.equations import System
from biela.errors import ModelError
from biela.singular_values import pinv

Floats = npt.NDArray[np.float64]

#: Singular values below this part of the largest one are none.
_RANK = 1e-9


def velocities(search: Search, t: Floats, q: Floats, wanted: Floats, rates: Floats) -> Floats:
    """The v with A v + b = (0, rates) that is nearest to the differences of the positions.

    They matter where the targets leave freedoms: there v is how the path was followed.
    """
    A, b = _speeds(search, t, q, wanted)
    place = search.bounds.place
    moved = np.where(place >= 0, q[:, np.maximum(place, 0)], 0.0)
    return _nearest(search, A, _behind(search, rates) - b, _differences(t, moved))


def accelerations(
    search: Search, t: Floats, q: Floats, v: Floats, wanted: Floats, rates: Floats
) -> Floats:
    """The a with A a + (what velocities add) = (0, second rates), nearest to differences of v."""
    A, _ = _speeds(search, t, q, wanted)
    p = np.concatenate([np.repeat(search.given[None], len(t), 0), wanted], axis=1)
    b = search.kernels.bias.map(t[:, None], np.concatenate([q, v], axis=1), p)
    right = _behind(search, rates) - np.asarray(b).reshape(len(t), -1)
    return _nearest(search, A, right, _differences(t, v))


def splined(system: System, t: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Velocities and accelerations of cubic splines through the coordinates.

    Raises:
        ModelError: The rates of the coordinates are not the velocities, or there are few instants.
    """
    if "rates" in system:
        raise ModelError(
            f"{system.name}: the rates of its coordinates are not its velocities; give rates=… of "
            f"the targets instead"
        )
    if len(t) < 4:
        raise ModelError(f"{system.name}: splines need four instants, and there are {len(t)}")
    v, a = np.zeros_like(q), np.zeros_like(q)
    for j in range(q.shape[1]):
        first = cubic_spline(f"q{j}", t.tolist(), q[:, j].tolist()).derivative()
        second = first.derivative()
        v[:, j] = [first(x) for x in t]
        a[:, j] = [second(x) for x in t]
    return v, a


def _speeds(search: Search, t: Floats, q: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    p = np.concatenate([np.repeat(search.given[None], len(t), 0), wanted], axis=1)
    A, b = search.kernels.speeds.map(t[:, None], q, p)
    return A.reshape(len(t), -1, search.n), b.reshape(len(t), -1)


def _behind(search: Search, rates: Floats) -> Floats:
    """The rates of the targets behind those of the constraints, which are zero."""
    rows = len(search.kernels.system.multipliers)
    return np.concatenate([np.zeros((len(rates), rows)), rates], axis=1)


def _differences(t: Floats, values: Floats) -> Floats:
    """Rates by differences of second order; zero where there are too few instants."""
    if len(t) < 3:
        return np.zeros_like(values)
    return np.asarray(np.gradient(values, t, axis=0, edge_order=2))


def _nearest(search: Search, A: Floats, right: Floats, guess: Floats) -> Floats:
    """The solution of A x = right nearest to a guess, in the weights of the coordinates."""
    missing = right - (A @ guess[..., None])[..., 0]
    inverse = pinv(A * search.scale, rcond=_RANK)
    return np.asarray(guess + (inverse @ missing[..., None])[..., 0] * search.scale)
