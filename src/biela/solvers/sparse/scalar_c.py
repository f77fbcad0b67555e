"""A sparse factorisation as C99: the routines, the schedule as constant tables, and a state."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill
from typing import TYPE_CHECKING, Literal

from biela.code.routines import CStyle, c_text
from biela.errors import ExportError
from biela.solvers.sparse.scalar_ldlt import (
    sparse_ldlt_factor,
    sparse_ldlt_refine,
    sparse_ldlt_solve,
)

if TYPE_CHECKING:
    from biela.solvers.sparse.scalar_solver import SparseLDLT

__all__ = ["sparse_ldlt_c"]


def sparse_ldlt_c(
    solver: SparseLDLT, name: str, real: Literal["double", "float"], integer: str, sweeps: int
) -> str:
    """Return the text that `SparseLDLT.c` documents.

    Raises:
        ExportError: the name is no identifier of C.
    """
    if not (name.isidentifier() and name.isascii()):
        raise ExportError(f"'{name}' is not a name in C; use letters, digits and underscores")
    routines = c_text(
        [sparse_ldlt_factor, sparse_ldlt_solve, sparse_ldlt_refine],
        CStyle(real, integer, f"{name}_"),
    )
    tables = {
        "start": solver.start,
        "rows": solver.rows,
        "order": solver.order,
        "targets": solver.targets,
        "scatter": solver.scatter,
        "first": solver.pattern.rows,
        "second": solver.pattern.columns,
    }
    constants = "\n".join(
        _table(f"static const {integer} {name}_{key}", values.tolist())
        for key, values in tables.items()
    )
    n, entries = solver.size, len(solver.pattern.rows)
    sizes = f"{n}, {solver.fill}, {entries}"
    shape = f"{name}_start, {name}_rows, {name}_order"
    return f"""{routines}
// --- schedule: {n} unknowns, {entries} entries, {solver.fill} places in L
{constants}

// all that lives between calls; the caller owns it
typedef struct {{
  {real} A[{entries or 1}];
  {real} LD[{n + solver.fill or 1}];
  {real} ratios[{n or 1}];
  {real} r[{n or 1}];
  {real} y[{n or 1}];
  {integer} dropped[{n or 1}];
}} {name}_state;

// factor the matrix with these {entries} values of its entries; returns the rank
{integer} {name}_factor({name}_state *s, const {real} *A) {{
  for ({integer} k = 0; k < {entries}; k++) {{
    s->A[k] = A[k];
  }}
  return {name}_sparse_ldlt_factor({sizes}, {len(solver.targets)}, {shape},
      {name}_targets, {name}_scatter, s->A, ({real}){solver.threshold!r},
      s->LD, s->y, s->ratios, s->dropped);
}}

// solve with {sweeps} sweep(s) of refinement; returns the backward error
{real} {name}_solve({name}_state *s, const {real} *b, {real} *x) {{
  for ({integer} i = 0; i < {n}; i++) {{
    x[i] = b[i];
  }}
  {name}_sparse_ldlt_solve({n}, {solver.fill}, {shape}, s->LD, x, s->y);
  return {name}_sparse_ldlt_refine({sizes}, {sweeps}, {shape},
      {name}_first, {name}_second, s->A, s->dropped, s->LD, b, x, s->r, s->y);
}}
"""


def _table(head: str, values: Iterable[int]) -> str:
    # C99 has no empty arrays
    numbers = ", ".join(map(str, values)) or "0"
    return f"{head}[] = {{\n{fill(numbers, 96, initial_indent='  ', subsequent_indent='  ')}\n}};"
