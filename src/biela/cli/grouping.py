"""``biela groups``: into which groups does a mechanism split?"""

from __future__ import annotations

from pathlib import Path

from biela.analysis.groups.diagram import draw_groups
from biela.analysis.groups.finding import structural_groups
from biela.cli.models import model_in
from biela.cli.tables import console, shown_path
from biela.errors import ModelError
from biela.model import Model

__all__ = ["groups"]


def groups(
    file: Path, model_name: str | None, independent: list[str] | None, picture: Path | None
) -> None:
    """Print the structural groups of a model, and draw their diagram.

    Raises:
        BielaError: There is no model of bodies and joints, or the picture cannot be written.
    """
    out = console()
    model = model_in(file, model_name)
    if not isinstance(model, Model):
        raise ModelError(
            f"{file.name} holds no Model of bodies and joints; structural groups are sets of bodies"
        )
    known = "auto" if independent == ["auto"] else independent
    with out.status("looking for groups"):
        found = structural_groups(model, independent=known)
    out.print(found.report(), markup=False, highlight=False, soft_wrap=True)
    if picture is not None:
        out.print(f"\nwritten\n  {shown_path(draw_groups(found, picture))}", markup=False)
