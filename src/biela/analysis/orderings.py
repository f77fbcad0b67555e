"""Which order suits the Jacobian of a model, and its saddle-point matrix.

The pattern of Φ_v never changes in time, so it is ordered once, before anything moves: its rows and
dependent columns into blocks, and the unknowns and multipliers of

    [ M    Φ_vᵀ ]
    [ Φ_v  0    ]

into an order of elimination.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from biela.analysis.assembly import assemble
from biela.equations.formulate import formulate
from biela.equations.symbolic import SymbolicSystem
from biela.equations.system import System
from biela.errors import AssemblyError, ModelError
from biela.graph import Adjacency, Pattern, adjacency
from biela.graph.ordering import (
    BlockValues,
    EliminationReport,
    OrderingReport,
    compare_eliminations,
    compare_orderings,
    spare_columns,
)
from biela.model import Model
from biela.model.joints import Joint
from biela.results.ordering_drawing import OrderedMatrix, draw_orderings

__all__ = ["OrderingStudy", "draw_ordering_study", "study_orderings"]

Integers = npt.NDArray[np.int64]

#: Least singular values of scaled blocks below this are taken for zero.
SINGULAR = 1e-9


@runtime_checkable
class Patterned(Protocol):
    """A layout of natural coordinates, or anything else that knows the pattern of its Jacobian."""

    def jacobian_pattern(self) -> Any:
        """Rows, columns, which rows are constant, relative columns, rows that close loops."""


@dataclass(frozen=True, eq=False)
class OrderingStudy:
    """The orderings of a model side by side.

    Attributes:
        name: of the model.
        coordinates: in which its equations are.
        row_names: the constraint rows.
        column_names: all coordinates or velocities.
        jacobian: the pattern by all columns.
        independent: the columns that are left out before it is ordered.
        dependent: the pattern that is ordered.
        orderings: what each ordering makes of it.
        saddle: the graph of the saddle-point matrix, None where there is no mass matrix.
        eliminations: what each order of elimination makes of that.
    """

    name: str
    coordinates: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    jacobian: Pattern
    independent: tuple[str, ...]
    dependent: Pattern
    orderings: tuple[OrderingReport, ...]
    saddle: Adjacency | None = None
    eliminations: tuple[EliminationReport, ...] = ()

    @property
    def best(self) -> OrderingReport:
        """The ordering of the Jacobian that is predicted to be cheapest.

        One with a block that is singular at the start is only taken if there is no other.
        """
        return min(self.orderings, key=lambda r: (_is_singular(r), r.predicted))

    @property
    def best_elimination(self) -> EliminationReport | None:
        """The order of elimination that is predicted to be cheapest."""
        return min(self.eliminations, key=lambda report: report.predicted, default=None)


def study_orderings(
    model: Model | SymbolicSystem | System | Patterned,
    coordinates: str = "natural",
    independent: Iterable[str] | None = None,
) -> OrderingStudy:
    """All orderings of the Jacobian of a model, and of its saddle-point matrix.

    Args:
        model: bodies and joints, symbols, equations, or a layout of natural coordinates.
        coordinates: those in which bodies and joints are formulated, see `formulate`.
        independent: names of coordinates that are left out of the Jacobian.  Otherwise as many are
            as it cannot determine, relative ones first.

    Raises:
        ModelError: there are no constraints, or no such coordinates.
    """
    if isinstance(model, Patterned) and not isinstance(model, Model | SymbolicSystem | System):
        found = model.jacobian_pattern()
        jacobian = Pattern.of_rows(found.rows, len(found.columns))
        constant = [k for k, same in enumerate(found.constant) if same]
        names = found.row_names, found.columns
        hints = constant, sorted(found.relative), sorted(found.closure)
        name = str(getattr(model, "name", "layout"))
        return _study(name, "natural", names, jacobian, hints, independent)
    if isinstance(model, Model):
        system = formulate(model, coordinates)
        relative = _joint_coordinates(model)
    else:
        system = model.equations().system if isinstance(model, SymbolicSystem) else model
        coordinates, relative = "its own", set()
    rows = len(system.multipliers)
    if not rows or "Phi_v" not in system:
        raise ModelError(
            f"{system.name} has no constraints in {coordinates} coordinates, and so no Jacobian to "
            f"order; coordinates 'reference' and 'natural' have one"
        )
    jacobian = _pattern(system, "Phi_v", rows, len(system.v))
    named = system.q if len(system.q) == len(system.v) else system.v
    columns = tuple(quantity.name for quantity in named)
    marked = [k for k, column in enumerate(columns) if column in relative]
    names = system.multipliers, columns
    hints = _constant_rows(system, jacobian), marked, []
    study = _study(system.name, coordinates, names, jacobian, hints, independent, system)
    return study if "M" not in system else _with_saddle(study, system)


def _is_singular(report: OrderingReport) -> bool:
    return report.regularity is not None and report.regularity < SINGULAR


def draw_ordering_study(study: OrderingStudy, path: str | Path) -> Path:
    """Draw the Jacobian as it is, and in the orders with the least predicted cost.

    Raises:
        ResultsError: the file cannot be written.
    """
    by_cost = sorted(study.orderings, key=lambda r: (_is_singular(r), r.predicted))
    blocks = [report for report in by_cost if report.by_blocks]
    # the best of all and that of blocks, and what the best blocks are to be compared with
    shown = {report.name: report for report in (*by_cost[:1], *blocks[:1])}
    shown |= {report.name: report for report in blocks if report.name in ("P5", "RB3")}
    shown |= {report.name: report for report in by_cost if not report.by_blocks and len(shown) < 3}
    pattern = study.dependent
    plain = OrderedMatrix("as modelled", pattern.shape, pattern.entry_rows, pattern.entries)
    return draw_orderings(
        [plain, *map(_drawn, list(shown.values())[:3])], path, title=_title(study)
    )


def _title(study: OrderingStudy) -> str:
    m, n = study.dependent.shape
    return f"{study.name}: Jacobian, {m} × {n}, {study.dependent.nnz} entries"


def _drawn(report: OrderingReport) -> OrderedMatrix:
    new = report.form.permuted(report.pattern)
    bounds = report.form.bounds if report.by_blocks else np.zeros(1, dtype=np.int64)
    note = f"{report.predicted:,.0f} multiplications"
    if report.by_blocks:
        orders = [f"{count}×{k}" for k, count in report.orders.items()]
        more = f" … {max(report.orders)}" if len(orders) > 6 else ""
        edges = f"border {report.border}, band {report.band}"
        note = f"blocks {', '.join(orders[:6])}{more}; {edges}\n{note}"
    else:
        note = f"fill {report.fill:,}; {note}" if report.fill is not None else note
    return OrderedMatrix(
        report.name,
        new.shape,
        new.entry_rows,
        new.entries,
        tuple(int(b) for b in bounds) if report.by_blocks else (),
        note,
    )


def _study(
    name: str,
    coordinates: str,
    names: tuple[Sequence[str], Sequence[str]],
    jacobian: Pattern,
    hints: tuple[list[int], list[int], list[int]],
    independent: Iterable[str] | None,
    system: System | None = None,
) -> OrderingStudy:
    constant, relative, closures = hints
    columns = tuple(names[1])
    if independent is None:
        out = spare_columns(jacobian, relative).tolist()
    else:
        out = _places(independent, columns)
    dependent, kept = jacobian.without_columns(out)
    left = set(relative)
    reports = compare_orderings(
        dependent,
        relative=[k for k, c in enumerate(kept.tolist()) if c in left],
        closures=closures,
        constant=constant,
        values=None if system is None else _values(system, dependent, kept),
    )
    return OrderingStudy(
        name,
        coordinates,
        tuple(names[0]),
        columns,
        jacobian,
        tuple(columns[k] for k in out),
        dependent,
        reports,
    )


def _places(wanted: Iterable[str], columns: Sequence[str]) -> list[int]:
    found = []
    for name in wanted:
        if name not in columns:
            raise ModelError(
                f"{name!r} is no column of the Jacobian; it has {', '.join(columns[:12])}"
                f"{' …' if len(columns) > 12 else ''}"
            )
        found.append(columns.index(name))
    return found


def _values(system: System, dependent: Pattern, kept: Integers) -> BlockValues | None:
    """The Jacobian at the assembled start, if there is one."""
    try:
        q = assemble(system).q
    except AssemblyError:
        return None
    return BlockValues.of_matrices(dependent, np.asarray(system.evaluate("Phi_v", q))[:, kept])


def _pattern(system: System, capability: str, rows: int, columns: int) -> Pattern:
    ((_, places),) = system[capability].sparsity.items()
    i = np.array([place[0] for place in places], dtype=np.int64)
    j = np.array([place[1] for place in places], dtype=np.int64)
    return Pattern.of_entries(rows, columns, i, j)


def _constant_rows(system: System, jacobian: Pattern) -> list[int]:
    """Rows whose derivatives are numbers."""
    numbers = np.bincount([i for i, _ in _numbers(system, jacobian)], minlength=jacobian.rows)
    entries = np.diff(jacobian.start)
    return np.flatnonzero((entries > 0) & (numbers == entries)).tolist()


def _numbers(system: System, jacobian: Pattern) -> list[tuple[int, int]]:
    """Entries of the Jacobian that are numbers."""
    expressions = system["Phi_v"].expressions()
    places = zip(jacobian.entry_rows.tolist(), jacobian.entries.tolist(), strict=True)
    return [(i, j) for i, j in places if expressions[i][j].value]


def _joint_coordinates(model: Model) -> set[str]:
    whole = model.flattened() if model.parts else model
    return {
        f"{joint.name}.{coordinate.name}"
        for joint in whole.joints.values()
        if isinstance(joint, Joint)
        for coordinate in joint.coordinates
    }


def _with_saddle(study: OrderingStudy, system: System) -> OrderingStudy:
    """The study with the orders of elimination of the saddle-point matrix."""
    n, m = len(system.v), len(system.multipliers)
    M = _pattern(system, "M", n, n)
    first = np.concatenate([M.entry_rows, n + study.jacobian.entry_rows])
    second = np.concatenate([M.entries, study.jacobian.entries])
    graph = adjacency(n + m, first, second)
    bodies = joints = None
    anchors: Sequence[tuple[int, int]] = ()
    if study.coordinates == "reference" and np.all(np.diff(study.jacobian.start) > 0):
        bodies = np.concatenate([_owners([v.name for v in system.v]), np.full(m, -1)])
        joints = np.concatenate([np.full(n, -1), _owners(system.multipliers)])
        anchors = [(n + i, j) for i, j in _numbers(system, study.jacobian)]
    reports = compare_eliminations(graph, np.arange(n, n + m), bodies, joints, anchors)
    return OrderingStudy(
        study.name,
        study.coordinates,
        study.row_names,
        study.column_names,
        study.jacobian,
        study.independent,
        study.dependent,
        study.orderings,
        graph,
        reports,
    )


def _owners(names: Sequence[str]) -> Integers:
    """A number for each owner: what stands before the last point of a name."""
    owners = [name.rpartition(".")[0] for name in names]
    number = {owner: k for k, owner in enumerate(dict.fromkeys(owners))}
    return np.array([number[owner] for owner in owners], dtype=np.int64)
