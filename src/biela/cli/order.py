"""``biela order``: which order suits the equations of a model?"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from biela.analysis.orderings import OrderingStudy, draw_ordering_study, study_orderings
from biela.cli.models import _callable as needs_nothing
from biela.cli.models import _imported as imported
from biela.cli.models import model_in
from biela.cli.tables import console, duration, listed, pairs, shown_path
from biela.errors import ModelError
from biela.given_files import path_of

#: Least singular values of scaled blocks below this are rounding.
_SINGULAR = 1e-12
#: Characters across from which the shape of the matrix and times are shown too.
_WIDE = 108
#: Characters across that no table needs.
_ENDLESS = 10_000


def order(
    file: Path,
    model_name: str | None,
    coordinates: str | None,
    independent: list[str] | None,
    picture: Path | None,
) -> None:
    """Print the orderings of the Jacobian and of the saddle-point matrix, and draw them.

    Raises:
        BielaError: There is no model, it has no constraints, or the picture cannot be written.
    """
    out = console()
    described, own = _described(file, model_name)
    with out.status("ordering"):
        study = study_orderings(described, coordinates or "natural", independent or own)
    _print_head(study, f"INDEPENDENT of {file.name}" if own and not independent else "")
    _print_orderings(study)
    _print_eliminations(study)
    if picture is not None:
        written = draw_ordering_study(study, picture)
        out.print(f"\nwritten\n  {shown_path(written)}", markup=False)


def _described(file: Path, wanted: str | None) -> tuple[Any, list[str] | None]:
    """The model of a file, or the layout of natural coordinates that a Python file lays by hand.

    With a layout come the names of its independent coordinates, if the file has them as
    ``INDEPENDENT``.

    Raises:
        ModelError: There is no model, or INDEPENDENT is no list of names.
    """
    if file.suffix.lower() == ".py" and path_of(file, ModelError).exists():
        module = imported(file)
        names = [wanted] if wanted else ["layout", *vars(module)]
        for name in names:
            value = getattr(module, name, None)
            if inspect.isfunction(value) and name in ("layout", wanted):
                value = value() if needs_nothing(value) else None
            if hasattr(value, "jacobian_pattern") and not inspect.isclass(value):
                return value, _independent(file, getattr(module, "INDEPENDENT", None))
    return model_in(file, wanted), None


def _independent(file: Path, given: Any) -> list[str] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise ModelError(
            f"{file.name}: INDEPENDENT is a list of names of coordinates, not {given!r}"
        )
    return list(given) or None


def _print_head(study: OrderingStudy, chosen_by: str) -> None:
    m, n = study.jacobian.shape
    out = console()
    out.print(f"[bold]{escape(study.name)}[/bold] in {escape(study.coordinates)} coordinates")
    d = study.dependent
    out.print(
        pairs(
            [
                (
                    "Jacobian",
                    f"{m} × {n}, {study.jacobian.nnz} entries, {_percent(study.jacobian)}",
                ),
                ("independent columns", listed(study.independent)),
                *([("chosen by", chosen_by)] if chosen_by else []),
                ("ordered", f"{d.rows} × {d.columns}, {d.nnz} entries, {_percent(d)}"),
            ]
        )
    )


def _percent(pattern: Any) -> str:
    return f"{100 * pattern.density:.3g} %"


def _print_orderings(study: OrderingStudy) -> None:
    out = console()
    wide = out.width >= _WIDE
    shape = ("bandwidth", "profile") if wide else ()
    known = any(report.regularity is not None for report in study.orderings)
    measured = ("least σ",) if known else ()
    times = ("time",) if wide else ()
    heads = ("border", "band", *measured, *shape, "fill", "cost", *times)
    table = _table("  ordering", "blocks", *heads)
    best = study.best
    for report in study.orderings:
        cost = f"{report.predicted:,.0f}" if report.predicted < float("inf") else "–"
        table.add_row(
            f"{'▸' if report is best else ' '} {escape(report.name)}",
            _blocks(report.orders) if report.by_blocks else "",
            str(report.border),
            str(report.band),
            *((_sigma(report.regularity),) if known else ()),
            *((f"{report.bandwidth:,}", f"{report.profile:,}") if wide else ()),
            "–" if report.fill is None else f"{report.fill:,}",
            cost,
            *((duration(report.seconds),) if wide else ()),
            style="bold green" if report is best else None,
        )
    out.print("\nJacobian, solved by blocks where they are listed, otherwise by sparse LU")
    _print_whole(table)
    out.print("  fill: of the factors L and U", style="dim")
    out.print("  cost: multiplications of a factorisation and solution", style="dim")
    if known:
        text = "  least σ: least singular value of a diagonal block at the start; 0 is singular"
        out.print(text, style="dim")


def _sigma(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if value < _SINGULAR else f"{value:.2g}"


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="cyan")
    for head in heads:
        text = head.startswith(" ") or head == "blocks"
        table.add_column(head, justify="left" if text else "right", no_wrap=head != "blocks")
    return table


def _print_whole(table: Table) -> None:
    """Print a table with nothing cut off: blocks go on in a next line where there is no room."""
    out = console()
    for column in table.columns:
        if column.no_wrap:
            column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
    least = Measurement.get(out, out.options.update(width=_ENDLESS), table).minimum
    if least > out.width:
        table.width = least
    out.print(table, crop=False)


def _blocks(orders: dict[int, int]) -> str:
    """How many blocks of each order: 10×1 3×2 5×3."""
    shown = [f"{count}×{k}" for k, count in orders.items()]
    return " ".join(shown[:4]) + (f" … {max(orders)}" if len(shown) > 4 else "")


def _print_eliminations(study: OrderingStudy) -> None:
    if not study.eliminations:
        return
    out = console()
    wide = out.width >= _WIDE
    shape = ("bandwidth", "profile") if wide else ()
    heads = (*shape, "fill", "storage", "cost", *(("time",) if wide else ()))
    table = _table("  order of elimination", *heads)
    best = study.best_elimination
    for report in study.eliminations:
        table.add_row(
            f"{'▸' if report is best else ' '} {escape(report.name)}",
            *((f"{report.bandwidth:,}", f"{report.profile:,}") if wide else ()),
            f"{report.cost.fill:,}",
            f"{report.cost.storage:,}",
            f"{report.predicted:,}",
            *((duration(report.seconds),) if wide else ()),
            style="bold green" if report is best else None,
        )
    size = study.saddle.size if study.saddle is not None else 0
    out.print(f"\nSaddle-point matrix of order {size}, orders that need no pivoting")
    _print_whole(table)
    out.print("  fill: entries of L that the lower half of the matrix has not", style="dim")
    out.print("  storage: entries of L and of the diagonal D", style="dim")
    out.print("  cost: multiplications of a factorisation LDLᵀ and solution", style="dim")
    for line in _on_multibody(study):
        out.print(f"  {line}", style="dim")


def _on_multibody(study: OrderingStudy) -> tuple[str, ...]:
    """What the order by bodies and joints is, or where it is to be seen."""
    if any(report.name == "multibody" for report in study.eliminations):
        return (
            "multibody: knows the unknowns of each body and the multipliers of each joint;",
            "  a joint may follow one of its bodies, in the other orders it waits for both",
        )
    if study.coordinates in ("natural", "joint"):
        return (
            "--coordinates reference shows one more, multibody: it goes by whole bodies",
            f"  and joints, which are not kept apart in {study.coordinates} coordinates",
        )
    return ()
