"""The equations of a symbolic system: to read, to count, to evaluate, to export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biela.atoms import Atom, expanded_size, expanded_text
from biela.code import Count, Function
from biela.equations.choice import Pair
from biela.equations.system import System
from biela.equations.typeset import letter, matrix_latex
from biela.errors import ModelError

if TYPE_CHECKING:
    from biela.equations.symbolic import SymbolicSystem

#: A matrix of more atoms is not shown in a notebook unless asked for.
_PAGE = 150
#: Matrices that are used together.
_TOGETHER = (("M", "Q"), ("Phi_q", "Phi"), ("Phi_v", "dPhi"), ("Phi_v", "gamma"))


@dataclass(frozen=True)
class Equations:
    """The equations of a symbolic system: to read, to count, to evaluate, to export."""

    source: SymbolicSystem
    system: System
    #: How M and Q were derived for use together.
    route: Pair
    #: The matrices, M and Q as they are smallest together.
    expressions: Mapping[str, Any]
    #: M and Q as each is smallest without the other.
    alone: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Equations of {self.source.name}, derived {self.route}: {self.joint().count}"

    def mass(self, q: Any, **given: Any) -> Any:
        """The mass matrix at a position."""
        return self.system.evaluate("M", q, **given)

    def forces(self, q: Any, v: Any, **given: Any) -> Any:
        """The generalised forces in a state."""
        return self.system.evaluate("Q", q, v, **given)

    def joint(self, *names: str) -> Function:
        """One function of several matrices, which computes what they share once.

        Raises:
            ModelError: That names the matrices there are, if one is not among them.
        """
        outputs = self._chosen(names or tuple(self.expressions))
        return self.source.function("_".join(outputs), outputs)

    def _chosen(self, names: Sequence[str]) -> dict[str, Any]:
        """The form of each matrix that is smallest in this company."""
        for name in names:
            if name in self.system and name not in self.expressions:
                raise ModelError(
                    f"{name} of {self.source.name} is a function of its own and none of the "
                    f"matrices, which are {', '.join(self.expressions)}: use system[{name!r}]"
                )
            self.system[name]  # says what is missing
        together = "M" in names and "Q" in names
        kept = self.expressions if together else {**self.expressions, **self.alone}
        return {name: kept[name] for name in names}

    def accelerations(self) -> Function:
        """Accelerations ``a`` and multipliers ``lam`` solved for, without a numeric solver.

        The elimination is symbolic, in an order that is safe in every position; see
        `biela.equations.elimination`.
        """
        return self.system["accelerations"]

    def count(self) -> dict[str, Count]:
        """Operations and atoms of each matrix alone, and of those used together."""
        counts = {name: self.system[name].count for name in self.expressions}
        for names in self._pairs():
            counts[" ".join(names)] = self.joint(*names).count
        counts["all"] = self.joint().count
        return counts

    def export(self, language: str, folder: str | Path, **options: Any) -> list[Path]:
        """Write all matrices, those used together in pairs, and the whole, as source code.

        The pairs are [M Q] of the dynamics, [Φ_q Φ] of the positions, [Φ_v Φ'] of the velocities
        and [Φ_v γ] of the accelerations, as far as the system has them (Plaza 2015, §3.7).
        """
        from biela.code.export import export

        # named after the model, so that two of them can be linked together
        model = self.source.workspace.name
        alone = [(name,) for name in self.expressions]
        groups = [*alone, *self._pairs(), tuple(self.expressions)]
        functions = [
            self.source.function(
                f"{model}_{'_'.join(names) if len(names) < 3 else 'all'}",
                self._chosen(names),
            )
            for names in dict.fromkeys(groups)
        ]
        return export(functions, language, folder, name=model, **options)

    def _pairs(self) -> list[tuple[str, ...]]:
        """The matrices that a step of a simulation needs at the same time."""
        return [names for names in _TOGETHER if all(name in self.expressions for name in names)]

    def latex(self, name: str, limit: int = 500) -> str:
        """A matrix as LaTeX with the equation it stands in; a large one by its shared atoms.

        ``limit`` is the number of leaves and operations up to which it is written out.
        """
        return matrix_latex(name, self._matrix(name), self.expressions, limit)

    def _repr_latex_(self) -> str:
        lines = []
        for name in ("M", "Q", "Phi"):
            if name in self.expressions:
                count = self.system[name].count
                if count.atoms <= _PAGE:
                    lines.append(f"$\\displaystyle {self.latex(name)}$")
                else:
                    lines.append(f"${letter(name)}$: {count}")
        return "\n\n".join(lines)

    def _matrix(self, name: str) -> list[list[Atom]]:
        """A matrix by rows; a vector is a column."""
        rows = self._chosen((name,))[name]
        return [row if isinstance(row, list) else [row] for row in rows]

    def text(self, name: str, limit: int = 2000) -> str:
        """A matrix written out, entry by entry; a large one as a listing of its atoms."""
        matrix = self._matrix(name)
        if sum(expanded_size(entry) for row in matrix for entry in row) > limit:
            return self.system[name].python()
        lines = []
        for i, row in enumerate(matrix):
            for j, entry in enumerate(row):
                if entry.ref:
                    lines.append(f"{name}[{i}, {j}] = {expanded_text(entry, limit)}")
        return "\n".join(lines)
