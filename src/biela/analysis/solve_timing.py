"""How long a run spends in linear algebra, measured on its own states.

Native loops are not stopped by a clock.  Instead, after a run, its right-hand side and the
functions that only give the matrices (M, Q, Φ, Φ_v, β, γ) are timed on states that the run went
through; what is between them, for all evaluations, is the time of the linear solves.
"""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations import Formulation
from biela.analysis.formulations.bound_kernel import evaluate_rows
from biela.code import Function

Floats = npt.NDArray[np.float64]

#: States to measure on, at most.
STATES: Final = 32
#: A measurement takes about so long, s; the shortest of some counts.
LASTING: Final = 1e-3
ROUNDS: Final = 5


def time_of_solves(made: Formulation, t: Floats, states: Floats, p: Floats) -> float:
    """Time of the linear algebra of one evaluation of the right-hand side, in seconds.

    ``t``, ``states`` and ``p`` (parameters, then inputs) have a row an instant.
    """
    chosen = np.unique(np.linspace(0, len(t) - 1, STATES).astype(int))
    rows = t[chosen][:, None], states[chosen], p[chosen]
    if made.projected is not None:
        return _of_projected(made, *rows)
    assert isinstance(made.f, Function), "all but projected ones are straight-line code"
    u = made.unrolled
    matrices = [e for row in (*u.M, *u.Phi_v) for e in row if e.ref]
    values = [*matrices, *u.Q(), *u.gamma, *u.rates()]
    if made.reduced:
        values += [*u.beta, *u.Phi]
    plain = u.kernel("matrices", {"y": values})
    located = np.concatenate(made.read.map(*rows)[:2], axis=1)
    whole = _time(made.f.native, made.size, *rows)
    return max(0.0, whole - _time(plain.native, located.shape[1], rows[0], located, rows[2]))


def _of_projected(made: Formulation, t: Floats, states: Floats, p: Floats) -> float:
    projected = made.projected
    assert projected is not None, "asked for these only"
    equations, u = projected.equations, made.unrolled
    projected.reset()
    whole = _time(made.f, made.size, t, states, p)
    counts = projected.counts
    corrections = counts["iterations"] / max(counts["evaluations"], 1)
    q, v, _, lam = projected.read().map(t, states, p)
    state = np.concatenate([q, v], axis=1)
    place = _time(equations.place.native, state.shape[1], t, state, p)
    loaded = np.concatenate([state, lam], axis=1)
    motion = _time(equations.motion.native, loaded.shape[1], t, loaded, p)
    moved = _time(equations.moved.native, len(u.q) + len(u.v), t, state, p)
    projected.reset()
    return max(0.0, whole - (1 + corrections) * place - motion - corrections * moved)


def _time(kernel: Any, nx: int, t: Floats, x: Floats, p: Floats) -> float:
    """Seconds that a kernel takes for a state."""
    size = kernel.output_sizes[0]

    def measured(copies: int) -> float:
        T, X, P = (np.ascontiguousarray(np.tile(part, (copies, 1))) for part in (t, x, p))
        out = np.empty((len(T), size))
        began = time.perf_counter()
        evaluate_rows(len(T), nx, P.shape[1], size, T, X, P, kernel, out)
        return time.perf_counter() - began

    measured(1)  # what is used for the first time takes longer
    copies = max(1, min(100, int(LASTING / measured(1))))
    return min(measured(copies) for _ in range(ROUNDS)) / (copies * len(t))
