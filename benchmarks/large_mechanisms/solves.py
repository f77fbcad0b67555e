"""The matrices Φ_q^d of the four mechanisms as they move, in block form."""

from __future__ import annotations

import numpy as np

from benchmarks.dependent_jacobians import BorderedMatrix
from benchmarks.large_mechanisms.cases import Case
from benchmarks.large_mechanisms.runs import Outcome
from biela.equations import System
from biela.graph import Pattern
from biela.graph.ordering import BlockForm, BlockValues, p5, rb3
from biela.solvers.independent import choose_independent

__all__ = ["dependent_matrix", "middle", "square_rows"]


def dependent_matrix(
    case: Case, system: System, q: np.ndarray, ordering: str = "RB3", rows: np.ndarray | None = None
) -> BorderedMatrix:
    """Φ_q^d in a position, in an order found before anything moves.

    That of RB3 is by the pattern and by the values at the start, that of P5 by the pattern.

    ``rows`` are those that are kept, all if not given.
    """
    J = np.asarray(system.evaluate("Phi_q", q))
    start = np.asarray(system.evaluate("Phi_q", [entry.value for entry in system.q]))
    ((_, places),) = system["Phi_q"].sparsity.items()
    names = [entry.name for entry in system.q]
    kept = [k for k, name in enumerate(names) if name not in case.independent]
    taken = np.arange(len(J)) if rows is None else np.asarray(rows)
    row_of, column_of = np.full(len(J), -1), np.full(len(names), -1)
    row_of[taken], column_of[kept] = np.arange(len(taken)), np.arange(len(kept))
    i, j = (np.array([place[k] for place in places]) for k in (0, 1))
    inside = (row_of[i] >= 0) & (column_of[j] >= 0)
    i, j = i[inside], j[inside]
    pattern = Pattern.of_entries(len(taken), len(kept), row_of[i], column_of[j])
    dense = start[np.ix_(taken, kept)]
    form: BlockForm = (
        p5(pattern)
        if ordering == "P5"
        else rb3(pattern, values=BlockValues.of_matrices(pattern, dense), look_ahead=True)
    )
    return BorderedMatrix(
        pattern.shape,
        row_of[i],
        column_of[j],
        J[i, j],
        [(list(r), list(c)) for r, c in form.blocks],
        list(form.border),
        list(form.band),
    )


def square_rows(case: Case, system: System, q: np.ndarray) -> np.ndarray:
    """Independent rows of Φ_q^d, as a run takes them where some are redundant."""
    J = np.asarray(system.evaluate("Phi_q", q))
    names = [entry.name for entry in system.q]
    kept = [k for k, name in enumerate(names) if name not in case.independent]
    return np.sort(choose_independent(J[:, kept]).independent_rows)


def middle(run: Outcome) -> np.ndarray:
    """A position in the middle of a run."""
    return run.q[len(run.q) // 2]
