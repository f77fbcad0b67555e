"""``biela new``: a model file to begin with."""

from __future__ import annotations

import re
from pathlib import Path

from rich.markup import escape

from biela.cli.gallery import description, mechanism, mechanisms
from biela.cli.tables import console, pairs, shown_path
from biela.errors import BielaError
from biela.given_files import path_of
from biela.whole_files import make_folder, write_files

#: Files that a model file names: meshes and parts.
_NAMED = re.compile(r'(?:\bfile|\bmesh|\bmodel)\s*=\s*"([^"]+\.\w+)"')


def list_mechanisms() -> None:
    """Print the mechanisms of the gallery."""
    out = console()
    known = mechanisms()
    if not known:
        raise BielaError("the gallery is not part of this installation: install biela anew")
    out.print(pairs((name, description(file)) for name, file in known.items()))
    out.print(f"\nNext: biela new {next(iter(known))}", markup=False)


def create(name: str, out_file: Path | None, force: bool) -> None:
    """Write the model file of a mechanism, and the files that it names.

    Raises:
        BielaError: There is no such mechanism, or a file is in the way.
    """
    out = console()
    source = mechanism(name)
    target = path_of(out_file or source.name, BielaError)
    if target.is_dir():
        target = target / source.name
    elif target.suffix.lower() != ".toml":
        raise BielaError(f"{target} should end in .toml, as model files do")
    text = source.read_text(encoding="utf-8")
    files: dict[Path, str | bytes] = {target: text}
    for other in dict.fromkeys(_NAMED.findall(text)):
        if (source.parent / other).is_file():
            files[target.parent / other] = (source.parent / other).read_bytes()
    in_the_way = [path for path in files if path.exists()]
    if in_the_way and not force:
        raise BielaError(
            f"{in_the_way[0]} is there already: --force overwrites it, --out FILE writes another"
        )
    for path in files:
        make_folder(path.parent, BielaError)
    write_files(files, BielaError)
    shown = shown_path(target)
    out.print(f"[bold]{escape(shown)}[/bold]: {escape(description(source) or name)}")
    driven = re.search(r"^\s*\[drivers", text, re.MULTILINE) is not None
    steps = [(f"biela check {shown}", "is it sound, how can it move")]
    if driven:
        steps.append((f"biela kinematics {shown}", "the motion that its drivers impose"))
    steps.append((f"biela run {shown}", "the motion under its forces"))
    out.print("\nNext")
    out.print(pairs(steps), soft_wrap=True)
