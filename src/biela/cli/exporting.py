"""``biela export``: the equations of a model, or a whole simulator of it, as source code."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

import biela as bl
from biela.cli.models import model_in
from biela.cli.tables import console, files, shown_path
from biela.errors import ExportError


def export(
    file: Path,
    model_name: str | None,
    language: str,
    simulator: bool,
    step: float | None,
    integrator: str,
    formulation: str,
    folder: Path | None,
) -> None:
    """Write the code and say what it is.

    Raises:
        BielaError: The model cannot be written so.
    """
    out = console()
    if simulator and language != "c":
        raise ExportError(f"a simulator is written in C only: leave out --language {language}")
    model = model_in(file, model_name)
    parent = Path("out") / model.workspace.name
    if simulator:
        folder = folder or parent / "simulator"
        chosen = 1e-3 if step is None else step
        with out.status(f"deriving {model.name}"):
            written = bl.export_simulator(
                model, folder, step=chosen, integrator=integrator, formulation=formulation
            )
        out.print(
            f"[bold]{escape(model.name)}[/bold] as a simulator in C99, {integrator}, {chosen:g} s"
        )
        out.print(files(written))
        text = f"\nNext, with a C compiler: make -C {shown_path(folder)} run"
        out.print(text, markup=False, soft_wrap=True)
        return
    if step is not None:
        raise ExportError("--step is for a simulator: add --simulator, or leave it out")
    folder = folder or parent / language
    with out.status(f"deriving {model.name}"):
        equations = model.equations()
        written = equations.export(language, folder)
    count = equations.joint().count
    out.print(f"[bold]{escape(model.name)}[/bold] in {language}: all equations in {count}")
    out.print(files(written))
