"""``biela convert``: a model in another form."""

from __future__ import annotations

from pathlib import Path

import biela as bl
from biela.cli.models import bodies_in
from biela.cli.tables import console, files, shown_path
from biela.errors import BielaError
from biela.given_files import path_of
from biela.whole_files import make_folder

#: The files of a folder in the form of a thesis.
_TEXTS = ("general.txt", "joints.txt", "drivers.txt", "initial.txt")


def convert(file: Path, model_name: str | None, to: Path, force: bool) -> None:
    """Write the model of a file as ``to``: a .toml, or a folder for four text files.

    Raises:
        BielaError: The model cannot be written so, or a file is in the way.
    """
    to = path_of(to, BielaError)
    model = bodies_in(file, model_name)
    if to.suffix.lower() == ".toml":
        _as_toml(model, to, force)
    elif to.suffix and not to.is_dir():
        raise BielaError(f"{to}: write a file .toml, or a folder for {', '.join(_TEXTS)}")
    else:
        _as_texts(model, to, force)


def _as_toml(model: bl.Model, to: Path, force: bool) -> None:
    from biela.model.files import save

    _refuse([to], force)
    make_folder(to.parent, BielaError)
    save(model, to)
    out = console()
    out.print("written")
    out.print(files([to]))
    out.print(f"\nNext: biela check {shown_path(to)}", markup=False, soft_wrap=True)


def _as_texts(model: bl.Model, to: Path, force: bool) -> None:
    from biela.model.files import save_thesis

    _refuse([to / name for name in _TEXTS], force)
    left_out = save_thesis(model, to)
    out = console()
    out.print("written")
    out.print(files([to / name for name in _TEXTS if (to / name).is_file()]))
    if left_out:
        out.print(f"\nThese files have no place for: {', '.join(left_out)}", markup=False)


def _refuse(paths: list[Path], force: bool) -> None:
    for path in paths:
        if path.exists() and not force:
            raise BielaError(f"{path} is there already: --force overwrites it")
