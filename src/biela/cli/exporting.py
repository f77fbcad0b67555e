"""``biela export``: the equations of a model, a simulator or its groups, as source code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

import biela as bl
from biela.cli.models import Described, function_name, model_in, output_name, system_of
from biela.cli.tables import console, files, shown_path
from biela.errors import ExportError
from biela.whole_files import together


def export(
    file: Path,
    model_name: str | None,
    coordinates: str | None,
    language: str,
    simulator: bool,
    step: float | None,
    integrator: str,
    formulation: str,
    folder: Path | None,
    groups: bool = False,
    points: Sequence[str] = (),
) -> None:
    """Write the code and say what it is.

    Raises:
        BielaError: The model cannot be written so.
    """
    out = console()
    if simulator and language != "c":
        raise ExportError(f"a simulator is written in C only: leave out --language {language}")
    if groups and (simulator or language != "c"):
        raise ExportError("--groups is a solver in C of its own: leave out --simulator, --language")
    if groups and coordinates is not None:
        raise ExportError("groups have coordinates of their own: leave out --coordinates")
    if points and not groups:
        raise ExportError("--point is for the solver of groups: add --groups, or leave it out")
    model = model_in(file, model_name)
    parent = Path("out") / output_name(file, model_name)
    if groups:
        _groups(model, folder or parent / "groups", 1e-3 if step is None else step, points)
        return
    if simulator:
        folder = folder or parent / "simulator"
        chosen = 1e-3 if step is None else step
        with out.status(f"deriving {model.name}"):
            written = bl.export_simulator(
                system_of(model, coordinates),
                folder,
                step=chosen,
                integrator=integrator,
                formulation=formulation,
            )
        out.print(
            f"[bold]{escape(model.name)}[/bold] as a simulator in C99, {integrator}, {chosen:g} s"
        )
        out.print(files(written))
        text = f"\nNext, with a C compiler: make -C {shown_path(folder)} run"
        out.print(text, markup=False, soft_wrap=True)
        return
    if step is not None:
        raise ExportError("--step is for a simulator: add --simulator or --groups, or leave it out")
    folder = folder or parent / language
    with out.status(f"deriving {model.name}"):
        count, written = _equations(model, coordinates, language, folder)
    out.print(f"[bold]{escape(model.name)}[/bold] in {language}: all equations in {count}")
    out.print(files(written))


def _groups(model: Described, folder: Path, step: float, points: Sequence[str]) -> None:
    """Write the kinematics of a driven model, solved group by group."""
    from biela.analysis.realtime.groups import export_groups

    if not isinstance(model, bl.Model):
        raise ExportError("structural groups are sets of bodies: --groups wants a Model of them")
    out = console()
    with out.status(f"deriving the groups of {model.name}"):
        written = export_groups(
            model, folder, points=points, bodies=not points, step=step, name=function_name(model)
        )
    what = ", ".join(points) or "all bodies"
    out.print(f"[bold]{escape(model.name)}[/bold] by groups in C99: motion of {escape(what)}")
    out.print(files(written))
    text = f"\nNext, with a C compiler: make -C {shown_path(folder)} run"
    out.print(text, markup=False, soft_wrap=True)


#: What is written of the equations of bodies and joints, as far as they have it.
_MATRICES = ("M", "Q", "Phi", "Phi_q", "Phi_v", "dPhi", "beta", "gamma", "outputs")


def _equations(
    model: Described, coordinates: str | None, language: str, folder: Path
) -> tuple[str, list[Path]]:
    """Write the equations; how many operations they take, and the paths."""
    if isinstance(model, bl.SymbolicSystem) and coordinates is None:
        equations = model.equations()
        return str(equations.joint().count), equations.export(language, folder)
    system, stem = system_of(model, coordinates), function_name(model)
    # the arguments are t, q, v, u and p, in one workspace; outputs may need more, and stay away
    usual = {array.name for array in system["M"].inputs}
    functions = {
        name: system[name]
        for name in _MATRICES
        if name in system and {array.name for array in system[name].inputs} == usual
    }
    arguments = {
        array.name: array.nested([bl.Atom(system["M"].table, ref) for ref in array.refs])
        for array in system["M"].inputs
    }
    values = {name: function.expressions() for name, function in functions.items()}
    whole = bl.Function(f"{stem}_all", arguments, values)
    written = []
    with together():
        for name, value in values.items():
            function = bl.Function(f"{stem}_{name}", arguments, {name: value})
            written += function.export(language, folder)
        written += whole.export(language, folder)
    return str(whole.count), written
