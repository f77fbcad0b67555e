"""The native search of an inverse kinematics, with the arrays it works in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.kernels import Kernels, scratch
from biela.analysis.progress import Progress
from biela.budgets import RESTARTS, within
from biela.solvers.multistart import search_all
from biela.solvers.newton import CONVERGED
from biela.solvers.objective_descent import descend_all

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Iterations of an attempt, at most.
ITERATIONS: Final = 60
#: Slow steps in a row after which an attempt is given up.
PATIENCE: Final = 6
#: Iterations towards the closest position, where no attempt succeeds.
CLOSING: Final = 500
#: Steps towards what is preferred, at most.
IMPROVEMENTS: Final = 200
#: How far around the start a coordinate without limits is drawn (rad, m).
SPREAD: Final = np.pi
#: Problems of one native call: a moment, so that a run can be stopped.
_CHUNK: Final = 256


@dataclass(frozen=True, eq=False)
class Bounds:
    """The limits of the coordinates, for each displacement that moves one."""

    place: Integers
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class Aim:
    """Preferred values, a row a problem, and 1/√w of each displacement."""

    centres: Floats
    length: Floats


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: positions, rows, states, evaluations and restarts."""

    q: Floats
    rows: Floats
    converged: npt.NDArray[np.bool_]
    iterations: Integers
    restarts: Integers


class Search:
    """Kernels, bounds and weights of one inverse kinematics."""

    def __init__(
        self,
        kernels: Kernels,
        bounds: Bounds,
        weight: Floats,
        scale: Floats,
        given: Floats,
        tolerance: float,
    ) -> None:
        self.kernels, self.bounds = kernels, bounds
        self.weight, self.scale = weight, scale
        self.tolerance = tolerance
        self.given = given
        self.k, self.n = len(kernels.system.q), len(kernels.system.v)

    def draws(self, restarts: int, seed: int) -> Floats:
        """Numbers between 0 and 1 for the starts after the first."""
        within(RESTARTS, restarts, "inverse kinematics would try {} starts", "use fewer restarts")
        return np.random.default_rng(seed).random((restarts, self.n))

    def parameters(self) -> Floats:
        """Parameters and inputs, and room for what is wanted."""
        return np.concatenate([self.given, np.zeros(self.kernels.entries)])

    def run(
        self,
        times: Floats,
        starts: Floats,
        wanted: Floats,
        draws: Floats,
        threads: int = 1,
        progress: bool | None = False,
        path: bool = False,
        aim: Aim | None = None,
    ) -> Found:
        """Solve for each row of ``wanted`` from each row of ``starts``.

        Of a ``path`` only the first start is used; it is one native call.
        """
        count = len(wanted)
        q = np.array(starts, dtype=float)
        rows = np.zeros((count, self.kernels.rows))
        states = np.zeros(count, dtype=np.int64)
        effort = np.zeros((count, 2), dtype=np.int64)

        # on a path, what the rows leave free is not moved on
        follows = 0 if not path else 2 if self.kernels.rows >= self.n else 1
        chunk = max(count, 1) if path else _CHUNK

        def work(part: slice) -> int:
            self._native(part, times, q, wanted, draws, rows, states, effort, follows)
            if aim is not None:
                self._improve(part, times, q, wanted, aim, rows, states, effort)
            return int(part.stop - part.start)

        parts = [slice(a, min(a + chunk, count)) for a in range(0, count, chunk)]
        with Progress("inverse kinematics", count, progress) as bar:
            done = 0
            for size in _each(work, parts, threads):
                done += size
                bar.update(done)
        return Found(q, rows, states == CONVERGED, effort[:, 0], effort[:, 1])

    def _improve(
        self,
        part: slice,
        times: Floats,
        q: Floats,
        wanted: Floats,
        aim: Aim,
        rows: Floats,
        states: Integers,
        effort: Integers,
    ) -> None:
        """Move solutions towards centres, as far as targets and bounds allow."""
        kernels, bounds = self.kernels, self.bounds
        p = self.parameters()
        room = scratch(self.k, self.n, kernels.rows)
        room[-2] = np.zeros(2 * self.n)  # two ways to the centre, instead of the best position
        descend_all(
            part.stop - part.start,
            kernels.entries,
            self.k,
            self.n,
            len(p),
            kernels.rows,
            kernels.hard,
            times[part],
            q[part],
            p,
            wanted[part],
            states[part],
            rows[part],
            effort[part].reshape(-1),
            kernels.evaluate.native,
            kernels.move.native,
            bounds.place,
            bounds.lower,
            bounds.upper,
            self.weight,
            self.scale,
            aim.centres[part],
            aim.length,
            self.tolerance,
            IMPROVEMENTS,
            *room,
        )

    def _native(
        self,
        part: slice,
        times: Floats,
        q: Floats,
        wanted: Floats,
        draws: Floats,
        rows: Floats,
        states: Integers,
        effort: Integers,
        follows: int,
    ) -> None:
        kernels, bounds = self.kernels, self.bounds
        p = self.parameters()
        search_all(
            part.stop - part.start,
            kernels.entries,
            self.k,
            self.n,
            len(p),
            kernels.rows,
            kernels.hard,
            len(draws),
            follows,
            times[part],
            q[part],
            p,
            wanted[part],
            kernels.evaluate.native,
            kernels.move.native,
            bounds.place,
            bounds.lower,
            bounds.upper,
            self.weight,
            self.scale,
            np.full(self.n, SPREAD),
            draws,
            self.tolerance,
            ITERATIONS,
            PATIENCE,
            CLOSING,
            rows[part],
            states[part],
            effort[part].reshape(-1),
            *scratch(self.k, self.n, kernels.rows),
        )


def _each(work: Callable[[slice], int], parts: Sequence[slice], threads: int) -> Iterator[int]:
    """The work on each part, in order, by so many threads."""
    if threads == 1 or len(parts) == 1:
        yield from map(work, parts)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, parts)
