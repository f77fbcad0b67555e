"""Orders of rows, columns and vertices: one module an algorithm.

Local strategies choose pivots so that a factorisation fills little (minimum degree, Markowitz).
Global ones give the matrix a shape: a band (Cuthill-McKee, King, Sloan), parts and separators
(nested dissection), or diagonal blocks that are solved one after the other, with a border where
loops close (block triangular form, P3, P4, P5, RB3).
"""

from __future__ import annotations

from biela.graph.ordering.band import cuthill_mckee, king, reverse_cuthill_mckee, sloan
from biela.graph.ordering.block_form import BlockForm
from biela.graph.ordering.block_values import BlockValues
from biela.graph.ordering.degree import (
    exact_minimum_degree,
    minimum_degree,
    minimum_degree_after,
    minimum_degree_by_level,
)
from biela.graph.ordering.dissection import nested_dissection
from biela.graph.ordering.elimination_report import EliminationReport, compare_eliminations
from biela.graph.ordering.markowitz import markowitz
from biela.graph.ordering.matching import spare_columns, transversal
from biela.graph.ordering.multibody import MultibodyOrder, deferred, multibody_order
from biela.graph.ordering.p3 import p3, p4
from biela.graph.ordering.p5 import p5
from biela.graph.ordering.rb3 import rb3
from biela.graph.ordering.report import (
    OrderingReport,
    block_solve_cost,
    compare_orderings,
    ordering_report,
)
from biela.graph.ordering.triangular import (
    DulmageMendelsohn,
    block_triangular,
    dulmage_mendelsohn,
)

__all__ = [
    "BlockForm",
    "BlockValues",
    "DulmageMendelsohn",
    "EliminationReport",
    "MultibodyOrder",
    "OrderingReport",
    "block_solve_cost",
    "block_triangular",
    "compare_eliminations",
    "compare_orderings",
    "cuthill_mckee",
    "deferred",
    "dulmage_mendelsohn",
    "exact_minimum_degree",
    "king",
    "markowitz",
    "minimum_degree",
    "minimum_degree_after",
    "minimum_degree_by_level",
    "multibody_order",
    "nested_dissection",
    "ordering_report",
    "p3",
    "p4",
    "p5",
    "rb3",
    "reverse_cuthill_mckee",
    "sloan",
    "spare_columns",
    "transversal",
]
