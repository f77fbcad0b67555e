"""Orders of elimination of a symmetric matrix side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biela.graph.adjacency import Adjacency, Integers, integer_array, renumbered
from biela.graph.cost import FactorCost, bandwidth, profile, symbolic_fill
from biela.graph.ordering.band import king, reverse_cuthill_mckee, sloan
from biela.graph.ordering.degree import minimum_degree
from biela.graph.ordering.dissection import nested_dissection
from biela.graph.ordering.multibody import deferred, multibody_order
from biela.graph.pattern import Pattern

__all__ = ["EliminationReport", "compare_eliminations"]


@dataclass(frozen=True, eq=False)
class EliminationReport:
    """What an order of elimination leads to.

    Attributes:
        name: of the ordering.
        order: vertex `order[k]` is the k-th to be eliminated.
        cost: fill, storage and operations of LDLᵀ.
        bandwidth: greatest distance of an entry from the diagonal.
        profile: sum over the rows of the distance from the first entry to the diagonal.
        seconds: that the ordering took.
    """

    name: str
    order: Integers
    cost: FactorCost
    bandwidth: int
    profile: int
    seconds: float

    @property
    def predicted(self) -> int:
        """Multiplications of one factorisation and solution."""
        return self.cost.multiplications + 2 * self.cost.storage


def compare_eliminations(
    graph: Adjacency,
    late: ArrayLike = (),
    bodies: ArrayLike | None = None,
    joints: ArrayLike | None = None,
    anchors: ArrayLike = (),
) -> tuple[EliminationReport, ...]:
    """Orders of elimination of a symmetric matrix, with each late vertex behind its neighbours.

    Orders that know nothing of late vertices have them moved back, see `deferred`.  With the body
    of each unknown and the joint of each multiplier that of `multibody_order` is there too, which
    also knows `anchors`, entries that never vanish.

    Raises:
        ShapeError: a late vertex is not in the graph, or bodies and joints do not fit it.
    """
    rows = integer_array("late", late)

    def general(order: Callable[[Adjacency], Integers]) -> Callable[[], Integers]:
        return lambda: deferred(graph, order(graph), rows)

    runs: dict[str, Callable[[], Integers]] = {
        "natural": general(lambda g: np.arange(g.size)),
        "minimum degree": lambda: minimum_degree(graph, rows),
        "reverse Cuthill-McKee": general(reverse_cuthill_mckee),
        "King": general(king),
        "Sloan": general(sloan),
        "nested dissection": general(nested_dissection),
    }
    if bodies is not None and joints is not None:
        runs["multibody"] = lambda: multibody_order(graph, bodies, joints, anchors).order
    reports = []
    for name, run in runs.items():
        start = time.perf_counter()
        order = run()
        seconds = time.perf_counter() - start
        new = renumbered(graph, order)
        pattern = Pattern(new.size, new.start, new.neighbours)
        reports.append(
            EliminationReport(
                name,
                order,
                symbolic_fill(graph, order),
                bandwidth(pattern),
                profile(pattern),
                seconds,
            )
        )
    return tuple(reports)
