"""``biela check``: is a model sound?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rich.markup import escape
from rich.table import Table

from biela.analysis.checking import CheckReport, draw_topology
from biela.analysis.checking import check as checked
from biela.cli.models import bodies_in
from biela.cli.tables import console, pairs, shown_path

_STYLES: Final = {"error": "bold red", "warning": "yellow", "note": ""}


def check(file: Path, model_name: str | None, drawing: Path | None) -> int:
    """Print what is found, and draw the graph if it is asked for; 1 if there are errors.

    Raises:
        BielaError: There is no model, or the drawing cannot be written.
    """
    out = console()
    model = bodies_in(file, model_name)
    with out.status(f"looking at {model.name}"):
        report = checked(model)
    head, *lines = report.topology.report().splitlines()
    name, _, rest = head.partition(": ")
    out.print(f"[bold]{escape(name)}[/bold]: {escape(rest)}")
    rows = [(label, text) for label, _, text in (line.partition(": ") for line in lines)]
    if report.freedoms is not None:
        basis = f" ({report.basis})" if report.basis else ""
        rows.append(("freedoms by rank", f"{report.freedoms:,}{basis}"))
    out.print(pairs(rows))
    _print_findings(report)
    if drawing is not None:
        out.print(f"\nwritten\n  {shown_path(draw_topology(report, drawing))}", markup=False)
    if not report.ok:
        out.print("\n[bold red]There are errors.[/bold red]")
        return 1
    out.print("\nNo errors.")
    shown = shown_path(file)
    verb = "run" if report.freedoms != report.topology.driven else "kinematics"
    out.print(f"Next: biela {verb} {shown}", markup=False, soft_wrap=True)
    return 0


def _print_findings(report: CheckReport) -> None:
    if not report.findings:
        return
    table = Table.grid(padding=(0, 3, 0, 0))
    for _ in range(2):
        table.add_column(overflow="fold")
    for finding in report.findings:
        table.add_row(f"  {finding.level}", escape(finding.text), style=_STYLES[finding.level])
    console().print()
    console().print(table)
