"""Positions of a system as points of its manifold, not as vectors.

With q' = N(q) v a position has more entries than there are velocities: Euler parameters, four for
three.  A displacement δ has one entry a velocity; q ⊕ δ is the capability "retract".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt

from biela.equations.elimination import notable_positions
from biela.equations.system import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]


def own_velocities(system: System) -> list[int]:
    """For each coordinate the place of the velocity that is its rate; -1 where none is."""
    if "rates" not in system:
        return list(range(len(system.q)))
    function = system["rates"]
    speeds = next(a.refs for a in function.inputs if a.name == "v")
    places = {ref: k for k, ref in enumerate(speeds)}
    return [places.get(ref, -1) for ref in function.outputs[0].refs]


def velocity_places(system: System, names: Sequence[str]) -> list[int]:
    """Places of velocities that are named by themselves or by their coordinates.

    Raises:
        ModelError: There is none of that name.
    """
    own = own_velocities(system)
    known = {e.name: k for k, e in enumerate(system.v)}
    known |= {e.name: own[k] for k, e in enumerate(system.q) if own[k] >= 0}
    for name in names:
        if name not in known:
            what = "coordinate" if "rates" not in system else "velocity, or coordinate with one,"
            listed = [e.name for k, e in enumerate(system.q) if own[k] >= 0]
            listed += [e.name for k, e in enumerate(system.v) if k not in own]
            raise ModelError(f"{system.name} has no {what} {name}; it has {', '.join(listed)}")
    return [known[name] for name in names]


def normalised(system: System, q: Floats, named: Collection[int] = ()) -> Floats:
    """The position with its Euler parameters brought to unit norm.

    Where some of four are ``named`` and less than 1, these stay, and the others give way.

    Raises:
        ModelError: Four Euler parameters are zero.
    """
    if "retract" not in system:
        return q
    q = q.copy()
    for first in system.quaternions:
        four = list(range(first, first + 4))
        if not np.abs(q[four]).max() > 0:
            raise ModelError(
                f"{system.name}: the Euler parameters {', '.join(system.q[i].name for i in four)} "
                f"are all zero, which is no orientation; (1, 0, 0, 0) turns nothing"
            )
        kept = [i for i in four if i in named]
        left = 1.0 - float(np.sum(q[kept] ** 2))
        if 0 < len(kept) < 4 and left >= 0:
            others = [i for i in four if i not in kept]
            size = float(np.linalg.norm(q[others]))
            q[others] = q[others] / size if size > 0 else np.eye(len(others))[0]
            q[others] *= np.sqrt(left)
    return np.asarray(system["retract"].walk(q, np.zeros(len(system.v))))


def apart(system: System, a: Floats, b: Floats) -> Floats:
    """The difference of two positions: angles within half a turn, quaternions up to their sign."""
    difference = a - b
    turns = np.array([entry.unit == "rad" for entry in system.q], dtype=bool)
    difference[turns] = (difference[turns] + np.pi) % (2 * np.pi) - np.pi
    for first in system.quaternions:
        four = slice(first, first + 4)
        if a[four] @ b[four] < 0:  # e and -e are one orientation
            difference[four] = -a[four] - b[four]
    return difference


def random_start(system: System, guess: Floats, random: np.random.Generator) -> Floats:
    """A random position around a guess: any angle, lengths within a metre or twice their size."""
    turns = np.array([entry.unit == "rad" for entry in system.q], dtype=bool)
    spread = np.where(turns, np.pi, np.maximum(1.0, np.abs(guess)))
    start = guess + spread * random.uniform(-1, 1, len(guess))
    for first in system.quaternions:
        start[first : first + 4] = random.normal(size=4)
    return normalised(system, start)


def notable_places(system: System, q: Floats, seed: int = 0) -> Floats:
    """Positions to look at a mass matrix in; see `notable_positions`."""
    turns = np.array([entry.unit == "rad" for entry in system.q], dtype=bool)
    if "retract" not in system:
        return notable_positions(q, turns, seed)
    retract = system["retract"]
    return displaced_places(q, own_velocities(system), len(system.v), turns, retract, seed)


def displaced_places(
    q: Floats,
    own: Sequence[int],
    nv: int,
    turns: npt.NDArray[np.bool_],
    retract: Callable[[Floats, Floats], Floats],
    seed: int = 0,
) -> Floats:
    """The same where positions are reached by displacements; speeds of no coordinate turn."""
    at = np.zeros(nv)
    turning = np.ones(nv, dtype=bool)
    for i, j in enumerate(own):
        if j >= 0:
            at[j], turning[j] = q[i], turns[i]
    away = notable_positions(at, turning, seed) - at
    return np.stack([np.asarray(retract(q, delta)) for delta in away])
