"""Which formulation a run takes if nobody names one: by what compiling it would cost.

With multipliers the elimination of [M Φ_vᵀ; Φ_v 0] is straight-line code, the fastest there is at
run time, and its compilation takes about a millisecond an operation.  The velocity projection
calls a solver instead: it compiles in a second or two whatever the size is, and an evaluation takes
two to five times as long.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from biela.analysis.formulations.option_use import check_options, given_options, unused_options
from biela.analysis.formulations.options import Options
from biela.analysis.formulations.ranking import ranked_rows
from biela.analysis.formulations.saddle import stiffening
from biela.equations import System
from biela.graph import (
    adjacency,
    elimination_tree,
    factor_pattern,
    minimum_degree,
    renumbered,
)

#: Operations of the elimination up to which multipliers are the default.  Measured from a cold
#: cache, s on one core: a delta robot 1900 → 2.0, an excavator 9300 → 5.4, five bars 16200 → 10,
#: a Stewart platform (natural) 26400 → 22, a tether 58400 → 39, a car 550000 → minutes.
UNROLLED_OPERATIONS: Final = 5000
#: The same for overconstrained loops, of which the velocity projection keeps half the digits.
OVERCONSTRAINED_OPERATIONS: Final = 10_000


def default_formulation(
    system: System, options: Options | None, integrator: object, split: tuple[str, ...]
) -> tuple[str, Options]:
    """The formulation of a run that names none, and its options.

    Args:
        system: What moves.
        options: Those given; a formulation that uses them all is taken where there is one.
        integrator: The one that is wanted.
        split: Integrators that need positions and velocities in the state.

    Raises:
        ModelError: No default uses the options given; it names those formulations which do.
    """
    chosen = options or Options()
    small = not system.multipliers or integrator in split
    loops = False
    if not small:
        operations = elimination_operations(system)
        small = operations <= UNROLLED_OPERATIONS
        loops = not small and overconstrained(system)
        small = small or (loops and operations <= OVERCONSTRAINED_OPERATIONS)
    if not small and not unused_options("velocity_projection", chosen):
        # of index 3, which does not drift off the constraints
        given = given_options(chosen)
        index = chosen.index if "index" in given else 3
        partition = chosen.partition
        if loops and not {"partition", "independent"} & set(given):
            # a single coordinate of such a loop is soon a poor one: digits are lost before it goes
            partition = "svd"
        return "velocity_projection", replace(chosen, index=index, partition=partition)
    check_options(f"{system.name}, which names no formulation", "multipliers", chosen)
    return "multipliers", chosen


def overconstrained(system: System) -> bool:
    """Whether constraints depend on each other wherever the system is assembled."""
    q = np.array([entry.value for entry in system.q])
    return bool(ranked_rows(system, 0.0, q, system.inputs, system.parameters))


def elimination_operations(system: System) -> int:
    """Multiplications of the elimination of [M Φ_vᵀ; Φ_v 0] in an order of little fill.

    Constraints that stand in for what M lacks count with the products of their entries; they are
    not looked for where there are too many operations without them.
    """
    n, m = len(system.v), len(system.multipliers)
    if not m:
        return 0
    M, J = system["M"].expressions(), system["Phi_v"].expressions()
    q = np.array([entry.value for entry in system.q])
    columns = [[j for j, e in enumerate(row) if e.ref] for row in J]
    places = {(i, j) for i, row in enumerate(M) for j, e in enumerate(row) if j < i and e.ref}
    places |= {(n + k, j) for k, row in enumerate(columns) for j in row}
    bare = _operations(n, m, places)
    if bare > UNROLLED_OPERATIONS:
        return bare
    for k in stiffening(system, 0.0, q, system.inputs, system.parameters).rows:
        places |= {(a, b) for a in columns[k] for b in columns[k] if b < a}
    return _operations(n, m, places)


def _operations(n: int, m: int, places: set[tuple[int, int]]) -> int:
    rows = np.array(sorted(places), dtype=int).reshape(-1, 2)
    graph = adjacency(n + m, rows[:, 0], rows[:, 1])
    ordered = renumbered(graph, minimum_degree(graph, range(n, n + m)))
    below = np.diff(factor_pattern(ordered, elimination_tree(ordered)).start)
    return int((below * (below + 3)).sum())
