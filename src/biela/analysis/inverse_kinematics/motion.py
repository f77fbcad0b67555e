"""Velocities and accelerations along a path that is followed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.search import Search
from biela.atoms.piecewise import cubic_spline
from biela.equations import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]

#: Singular values below this part of the largest one are none.
_RANK = 1e-9


def velocities(search: Search, t: Floats, q: Floats, wanted: Floats, rates: Floats) -> Floats:
    """The smallest v, in the weights of the coordinates, with A v + b = (0, rates)."""
    A, b = _speeds(search, t, q, wanted)
    return _smallest(search, A, _behind(search, rates) - b)


def accelerations(
    search: Search, t: Floats, q: Floats, v: Floats, wanted: Floats, rates: Floats
) -> Floats:
    """The smallest a with A a + (what velocities add) = (0, second rates)."""
    A, _ = _speeds(search, t, q, wanted)
    p = np.concatenate([np.repeat(search.given[None], len(t), 0), wanted], axis=1)
    b = search.kernels.bias.map(t[:, None], np.concatenate([q, v], axis=1), p)
    return _smallest(search, A, _behind(search, rates) - np.asarray(b).reshape(len(t), -1))


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


def _smallest(search: Search, A: Floats, right: Floats) -> Floats:
    scaled = A * search.scale
    inverse = np.linalg.pinv(scaled, rcond=_RANK)
    return np.asarray((inverse @ right[..., None])[..., 0] * search.scale)
