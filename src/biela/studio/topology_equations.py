"""The equations of a model on a page: how they are filled, and themselves where they are few."""

from __future__ import annotations

from functools import cached_property
from html import escape
from typing import Any, Final

import biela as bl
from biela.analysis.orderings import draw_ordering_study, study_orderings
from biela.errors import ModelError
from biela.studio.report.figures import picture
from biela.studio.report.fragments import table, words
from biela.studio.report.mathml import formula, matrix, row

__all__ = ["Equations"]

#: Bodies of models whose Jacobian is ordered for a page.
_BODIES: Final = 30
#: Entries and definitions up to which a matrix can be read, and leaves of a row written out.
_ENTRIES, _DEFINITIONS, _LEAVES = 64, 30, 24
#: Names of velocities and the like that are listed.
_NAMED: Final = 24

_HEADS: Final = {
    "M": ("M", "the mass matrix"),
    "Q": ("Q", "the generalised forces"),
    "Phi": (r"\Phi", "the constraints, Φ = 0"),
    "Phi_v": (r"\Phi_{v}", "their Jacobian by the velocities"),
    "gamma": (r"\gamma", "the right-hand side of the accelerations"),
}


class Equations:
    """The equations of one model: joint coordinates of bodies and joints, or those it has."""

    def __init__(self, model: bl.Model | bl.SymbolicSystem) -> None:
        self._model = model

    @cached_property
    def system(self) -> bl.System:
        """They are derived when the first piece needs them.

        Raises:
            BielaError: They cannot be.
        """
        if isinstance(self._model, bl.SymbolicSystem):
            return self._model.equations().system
        return bl.formulate(self._model, "joint")

    def freedoms(self) -> str:
        """Velocities less independent constraints.

        Raises:
            BielaError: The constraints cannot be fulfilled.
        """
        system = self.system
        if not system.multipliers:
            return table(("degrees of freedom", ""), [("velocities, without constraints",
                                                       len(system.v))])  # fmt: skip
        found = bl.redundancy(system)
        html = table(
            ("degrees of freedom", ""),
            [
                ("velocities", len(system.v)),
                ("constraints", len(found.constraints)),
                ("of these, independent", found.rank),
                ("degrees of freedom", found.mobility),
            ],
        )
        return html + words(str(found))

    # --------------------------------------------------------------------------- pattern

    def sparsity(self) -> str:
        """The pattern of the Jacobian as it is modelled, and in the cheapest orders.

        Raises:
            BielaError: There are no constraints, or they cannot be derived.
        """
        model = self._model
        if isinstance(model, bl.Model) and len(model.bodies) + len(model.parts) > _BODIES:
            raise ModelError(
                f"{len(model.bodies) + len(model.parts):,} bodies and parts make a matrix that is "
                f"too large for a page: see biela order"
            )
        if isinstance(model, bl.SymbolicSystem) and not self.system.multipliers:
            return words("No constraints, and so no Jacobian to be ordered.")
        study = study_orderings(model, "reference")
        m, n = study.dependent.shape
        best = study.best
        drawn = picture(
            lambda path: draw_ordering_study(study, path),
            f"Jacobian with {m} rows and {n} columns, as modelled and reordered",
            "wide plot",
        )
        rows = [
            (
                report.name,
                report.predicted,
                "" if report.fill is None else f"{report.fill:,}",
                f"{report.border}, {report.band}" if report.by_blocks else "",
            )
            for report in sorted(study.orderings, key=lambda r: r.predicted)[:6]
        ]
        where = "" if isinstance(model, bl.SymbolicSystem) else ", in reference-point coordinates"
        return (
            words(
                f"The Jacobian of the constraints{where}: {m} × {n}, {study.dependent.nnz} entries "
                f"that are not zero. The best order without singular blocks is {best.name}, with "
                f"{best.predicted:,.0f} multiplications by prediction."
            )
            + drawn
            + table(("order", "multiplications", "fill", "border, band"), rows)
        )

    # ------------------------------------------------------------------------ mathematics

    def written(self) -> str:
        """M v' + Φ_vᵀ λ = Q with its matrices, as far as they can be read.

        Raises:
            BielaError: They cannot be derived.
        """
        system = self.system
        bound = bool(system.multipliers)
        force = "<msubsup><mi>Φ</mi><mi>v</mi><mi>T</mi></msubsup><mi>λ</mi>"
        speed = '<mover accent="true"><mi>v</mi><mo>˙</mo></mover>'
        html = formula(
            f"<mi>M</mi>{speed}",
            f"<mo>+</mo>{force}" if bound else "",
            "<mo>=</mo><mi>Q</mi>",
            "<mo>,</mo><mspace width='2em'></mspace><mi>Φ</mi><mo>=</mo><mn>0</mn>"
            if bound
            else "",
        )
        html += words(f"Velocities v: {_few([v.name for v in system.v])}.")
        if bound:
            html += words(f"Multipliers λ: {_few(list(system.multipliers))}.")
        shown = [name for name in _HEADS if name in system]
        return html + "".join(self._matrix(name) for name in shown)

    def _matrix(self, name: str) -> str:
        letter, meaning = _HEADS[name]
        function = self.system[name]
        count = function.count
        cells: list[list[Any]] = [
            entries if isinstance(entries, list) else [entries]
            for entries in function.expressions()
        ]
        flat = [entry for line in cells for entry in line]
        head = f"<h4>{row_of(letter)} {escape(meaning)}</h4>"
        too_large = words(f"{count}; too many to be read: biela export writes them as code.")
        if not flat:
            return ""
        if len(flat) > _ENTRIES:
            return head + too_large
        if max(sum(bl.expanded_size(entry) for entry in line) for line in cells) <= _LEAVES:
            texts = [[bl.latex(entry) for entry in line] for line in cells]
            return head + formula(row(letter), "<mo>=</mo>", matrix(texts))
        listing = bl.latex_listing(flat)
        if len(listing.definitions) > _DEFINITIONS:
            return head + too_large
        results = iter(listing.results)
        texts = [[next(results) for _ in line] for line in cells]
        lines = [
            formula(row(symbol), "<mo>=</mo>", row(text)) for symbol, text in listing.definitions
        ]
        lines.append(formula(row(letter), "<mo>=</mo>", matrix(texts)))
        return head + "".join(lines)


def row_of(letter: str) -> str:
    """A letter in a line of text."""
    return f"<math>{row(letter)}</math>"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
