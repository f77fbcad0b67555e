"""Stages that solve equations as C99 for real time: the same work in every state.

A stage becomes tables (where its instances read and write, their parameters) and one function

    static int solve_NAME(const double *w_last, double *w_now, int first, int count, int steps,
        double bound, int status);

that goes through instances ``first`` to ``first + count - 1``.  Workspaces are laid out as those of
the `Program` the stage belongs to; ``w_last`` is that of the last solved state, from which carried
arrays are read.  Newton's method takes ``steps`` steps, whatever the residual is, whose square is
then tested against ``bound``.  The status is 0, or 4 times the label of the first instance that
failed and how it did, a `Failure`; what is written is finite, or that is a failure too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.looped.fixed_solve import HELD, FixedSolve, fixed_solve
from biela.code.looped.places_text import PlaceTable, table_text
from biela.code.looped.solve_stage import UNKNOWNS, Solve
from biela.code.looped.stage import PARAMETERS, Integers
from biela.code.targets.language import wrapped
from biela.errors import ExportError

__all__ = ["JUDGEMENT", "SolveText", "solve_text"]

#: Functions that the text of all stages calls; for <stdint.h>, <string.h> and <float.h>.
JUDGEMENT: Final = """\
// 1 if all numbers are finite, else 0: the exponent of those that are not has all its bits set
static int all_finite(const double *x, int n) {
  const uint64_t exponent = (uint64_t)0x7ff << 52, lowest = (uint64_t)1 << 52;
  uint64_t bits, carried = 0;
  for (int i = 0; i < n; i++) {
    memcpy(&bits, x + i, sizeof bits);
    carried |= (bits & exponent) + lowest;
  }
  return 1 - (int)(carried >> 63);
}

// the status after one more group: the first failure stays
static int judged(int status, int label, double square, double bound, int finite, int dead) {
  const int solved = square <= bound, bounded = square <= DBL_MAX;
  // not solved: 1, not finite: 2, at a dead point, where rates may be infinite: 3
  const int how = (1 - solved)*(2 - bounded) + solved*(3*dead + 2*(1 - dead)*(1 - finite));
  const int fresh = (status == 0) & (how != 0);
  return status + fresh*(4*label + how);
}
"""


@dataclass(frozen=True)
class SolveText:
    """A stage in C.

    Attributes:
        functions: What its text calls, to be printed before it.
        text: Its tables and its function.
        name: What its function is called.
    """

    functions: tuple[Function, ...]
    text: str
    name: str


def solve_text(stage: Solve, name: str, notes: Sequence[str], about: Sequence[str]) -> SolveText:
    """A stage in C.

    Args:
        stage: What solves equations.
        name: An identifier for it.
        notes: What is said of each instance.
        about: What is said of all of them, lines of a comment.

    Raises:
        ExportError: An output is added to what is there.
    """
    writer = _Writer(stage, name, fixed_solve(stage.kernel, name))
    body = writer.body()
    tables = [writer.places.text(f"{name}_at", notes)]
    if stage.parameters is not None:
        rows = [[repr(float(x)) for x in row] for row in stage.parameters]
        tables.append(table_text(f"static const double {name}_p", rows, notes))
    comment = [f"// {line}".rstrip() for line in about]
    text = "\n".join([*comment, *(t for t in tables if t), *body])
    return SolveText(writer.solve.functions, text, f"solve_{name}")


class _Writer:
    """Writes the function of a stage."""

    def __init__(self, stage: Solve, name: str, solve: FixedSolve) -> None:
        self.stage, self.name, self.solve = stage, name, solve
        self.places = PlaceTable(stage.count)
        self.inputs = {a.name: a for a in stage.inputs}

    def body(self) -> list[str]:
        """The lines of the function."""
        inside = [*self._reads(), *self._locals(), *self._newton(), *self._results()]
        head = (
            f"static int solve_{self.name}(const double *w_last, double *w_now, int first, "
            f"int count, int steps, double bound, int status) {{"
        )
        top = []
        if self.places.columns:
            top.append(f"const int *at = {self.name}_at[k];")
        if self.stage.parameters is not None:
            top.append(f"const double *p = {self.name}_p[k];")
        text = " ".join([*top, *inside])
        unused = [f"  (void){x};" for x in ("w_last",) if "w_last" not in text]
        if not self.solve.unknowns:
            unused += ["  (void)steps;", "  (void)bound;"]
        lines = [line for part in (*top, *inside) for line in wrapped(f"    {part}", "        ")]
        return [
            *wrapped(head, "    "),
            *unused,
            "  for (int k = first; k < first + count; k++) {",
            *lines,
            "  }",
            "  return status;",
            "}",
            "",
        ]

    # ------------------------------------------------------------------------- arrays

    def _reads(self) -> list[str]:
        """Pointers to inputs, or copies of those that do not lie together."""
        lines = []
        for array in self.inputs.values():
            if array.name == PARAMETERS or not self._is_read(array.name):
                continue
            source = "w_last" if array.name in self.stage.carried else "w_now"
            columns = self._columns(array, np.asarray(self.stage.gather[array.name]))
            if isinstance(columns, str):
                lines.append(f"const double *{array.name} = {source} + {columns};")
            else:
                entries = ", ".join(f"{source}[{c}]" for c in columns)
                lines.append(f"const double {array.name}[{array.size}] = {{{entries}}};")
        return lines

    def _is_read(self, name: str) -> bool:
        return any(a.name == name for f in self.solve.functions for a in f.inputs)

    def _columns(self, array: ExpressionArray, places: Integers) -> str | list[str]:
        """One expression for entries that follow each other, else one for each."""
        if places.ndim == 1:
            return self.places.expression(places)
        if (np.diff(places, axis=1) == 1).all():
            return self.places.expression(places[:, 0])
        return [self.places.expression(places[:, k]) for k in range(array.size)]

    def _locals(self) -> list[str]:
        solve, found = self.solve, []
        if solve.unknowns:
            found += [f"{UNKNOWNS}[{solve.unknowns}]", f"next[{solve.unknowns}]", "square[1]"]
        if solve.held:
            found.append(f"{HELD}[{solve.held}]")
        if solve.positive:
            found.append(f"positive[{solve.positive}]")
        return [f"double {', '.join(found)};"] if found else []

    # -------------------------------------------------------------------------- calls

    def _newton(self) -> list[str]:
        solve = self.solve
        if solve.guess is None or solve.step is None:
            return []
        step = solve.step
        renamed = {"guess": UNKNOWNS}
        return [
            _call(solve.guess, renamed),
            "for (int n = 0; n < steps; n++) {",
            "  " + _call(step, {}),
            f"  for (int i = 0; i < {solve.unknowns}; i++) {{",
            f"    {UNKNOWNS}[i] = next[i];",
            "  }",
            "}",
        ]

    def _results(self) -> list[str]:
        stage, lines, finite = self.stage, [], []
        renamed: dict[str, str] = {}
        for array in stage.outputs:
            write = stage.scatter[array.name]
            columns = self._columns(array, np.asarray(write.places))
            if write.mode != "set" or not isinstance(columns, str):
                raise ExportError(
                    f"stage {stage.name}: {array.name} is not written to places that follow each "
                    f"other, which C99 is not made for"
                )
            renamed[array.name] = f"w_now + {columns}"
            finite.append(f"finite &= all_finite(w_now + {columns}, {array.size});")
        lines += [_call(self.solve.results, renamed), "int finite = 1;", *finite]
        dead = "0"
        if self.solve.positive:
            lines.append(f"finite &= all_finite(positive, {self.solve.positive});")
            dead = " | ".join(f"(positive[{k}] <= 0.0)" for k in range(self.solve.positive))
        lines.append(f"const int dead = {dead};")
        labels = np.arange(1, stage.count + 1) if stage.labels is None else stage.labels
        label = self.places.expression(np.asarray(labels, dtype=np.int64))
        square = "square[0], bound" if self.solve.unknowns else "0.0, 0.0"
        lines.append(f"status = judged(status, {label}, {square}, finite, dead);")
        return lines


def _call(function: Function, renamed: dict[str, str]) -> str:
    names = [a.name for a in function.inputs]
    names += [renamed.get(a.name, a.name) for a in function.outputs]
    return f"{function.name}({', '.join(names)});"
