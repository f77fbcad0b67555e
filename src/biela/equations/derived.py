"""The equations of a symbolic system: to read, to count, to evaluate, to export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biela.atoms import expanded_size, expanded_text, latex
from biela.code import Count, Function
from biela.equations.elimination import constrained_matrix, factorise
from biela.equations.system import System
from biela.equations.virtual_power import Route
from biela.errors import ExpressionTooLargeError

if TYPE_CHECKING:
    from biela.equations.symbolic import SymbolicSystem

_LETTERS = {
    "Phi": r"\Phi",
    "Phi_q": r"\Phi_q",
    "Phi_v": r"\Phi_v",
    "dPhi": r"\dot\Phi",
    "beta": r"\beta",
    "gamma": r"\gamma",
}


@dataclass(frozen=True)
class Equations:
    """The equations of a symbolic system: to read, to count, to evaluate, to export."""

    source: SymbolicSystem
    system: System
    route: Route
    expressions: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Equations of {self.source.name}, derived {self.route}: {self.joint().count}"

    def mass(self, q: Any, **given: Any) -> Any:
        """The mass matrix at a position."""
        return self.system.evaluate("M", q, **given)

    def forces(self, q: Any, v: Any, **given: Any) -> Any:
        """The generalised forces in a state."""
        return self.system.evaluate("Q", q, v, **given)

    def joint(self, *names: str) -> Function:
        """One function of several matrices, which computes what they share once."""
        outputs = {name: self._expression(name) for name in names or self.expressions}
        return self.source.function("_".join(outputs), outputs)

    def _expression(self, name: str) -> Any:
        self.system[name]  # says what is missing
        return self.expressions[name]

    def accelerations(self) -> Function:
        """Accelerations ``a`` and multipliers ``lam`` solved for, without a numeric solver.

        The elimination is symbolic, in an order that is safe in every position; see
        `biela.equations.elimination`.
        """
        M, Q = self.expressions["M"], self.expressions["Q"]
        n = len(M)
        if "Phi_v" not in self.expressions:
            return self.source.function("accelerations", {"a": factorise(M).solve(Q)})
        A = constrained_matrix(M, self.expressions["Phi_v"])
        factors = factorise(A, late=range(n, len(A)))
        x = factors.solve([*Q, *self.expressions["gamma"]])
        return self.source.function("accelerations", {"a": x[:n], "lam": x[n:]})

    def count(self) -> dict[str, Count]:
        """Operations and atoms of each matrix alone, and of those used together."""
        counts = {name: function.count for name, function in self.system.functions.items()}
        for names in (("M", "Q"), ("Phi_q", "Phi"), ("Phi_v", "gamma")):
            if all(name in self.expressions for name in names):
                counts[" ".join(names)] = self.joint(*names).count
        counts["all"] = self.joint().count
        return counts

    def export(self, language: str, folder: str | Path, **options: Any) -> list[Path]:
        """Write all matrices, and [M Q] and the whole together, as source code."""
        from biela.code.export import export

        # named after the model, so that two of them can be linked together
        model = self.source.workspace.name
        groups = [*((name,) for name in self.expressions), ("M", "Q"), tuple(self.expressions)]
        functions = [
            self.source.function(
                f"{model}_{'_'.join(names) if len(names) < 3 else 'all'}",
                {name: self.expressions[name] for name in names},
            )
            for names in dict.fromkeys(groups)
        ]
        return export(functions, language, folder, name=model, **options)

    def latex(self, name: str, limit: int = 2000) -> str:
        """A matrix as LaTeX, written out."""
        rows = self._expression(name)
        matrix = rows if isinstance(rows[0], list) else [[e] for e in rows]
        body = " \\\\ ".join(" & ".join(latex(e, limit) for e in row) for row in matrix)
        return f"{_LETTERS.get(name, name)} = \\begin{{bmatrix}} {body} \\end{{bmatrix}}"

    def _repr_latex_(self) -> str:
        lines = []
        for name in ("M", "Q", "Phi"):
            if name in self.expressions:
                try:
                    lines.append(f"$\\displaystyle {self.latex(name)}$")
                except ExpressionTooLargeError:
                    lines.append(f"${_LETTERS[name]}$: {self.system[name].count}")
        return "<br>".join(lines)

    def text(self, name: str, limit: int = 2000) -> str:
        """A matrix written out, entry by entry; a large one as a listing of its atoms."""
        rows = self._expression(name)
        matrix = rows if isinstance(rows[0], list) else [[e] for e in rows]
        if sum(expanded_size(entry) for row in matrix for entry in row) > limit:
            return self.system[name].python()
        lines = []
        for i, row in enumerate(matrix):
            for j, entry in enumerate(row):
                if entry.ref:
                    lines.append(f"{name}[{i}, {j}] = {expanded_text(entry, limit)}")
        return "\n".join(lines)
