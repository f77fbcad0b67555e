"""Functions written to files, in any of the languages; docs/export.md describes the layout.

Nothing is written unless everything can be: the texts are made and the folder is looked at first.
A file that biela did not write is never overwritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from biela.code.function import Function
from biela.code.targets import c99, julia, matlab, python
from biela.code.targets.c99_notation import Order, Real
from biela.code.targets.description import MARK
from biela.errors import ExportError
from biela.given_files import path_of, shown
from biela.whole_files import make_folder, write_files

#: Characters of the name of a source file; many file systems take 255 with the ending.
_LONGEST: Final = 200
#: file name -> text
Texts = dict[str, str]


def export(
    functions: Function | Iterable[Function],
    languages: str | Sequence[str],
    folder: str | Path,
    name: str | None = None,
    *,
    real: Real = "double",
    order: Order = "column",
) -> list[Path]:
    """Write functions as source files and return the paths of these.

    ``languages`` are ``"c"``, ``"matlab"``, ``"python"`` and ``"julia"``.  ``name`` is that of the
    files that hold all functions together; if not given, it is the name of the only function or of
    the workspace they share.  ``real`` and ``order`` (of matrices) concern C only.

    Raises:
        ExportError: If a function cannot be written in a language, or a file is there that biela
            did not write.
    """
    several = [functions] if isinstance(functions, Function) else list(functions)
    if not several:
        raise ExportError("there is no function to export")
    wanted: list[Any] = list(languages) if isinstance(languages, list | tuple) else [languages]
    unknown = [shown(x) for x in wanted if not (isinstance(x, str) and x in LANGUAGES)]
    if unknown or not wanted:
        raise ExportError(
            f"no such language: {', '.join(unknown) or 'none given'}; there are "
            f"{', '.join(LANGUAGES)}"
        )
    stem = checked_stem(name if name is not None else _common_name(several), "a source file")
    texts: Texts = {}
    for language in wanted:
        for file, text in LANGUAGES[language](several, stem, real, order).items():
            if file.lower() in (known.lower() for known in texts):
                raise ExportError(
                    f"two files of the export would be called {file} (some systems do not tell "
                    f"capitals apart): rename a function"
                )
            texts[file] = text
    return _write(folder, texts)


def checked_stem(name: object, what: str, *taken: str) -> str:
    """The name of source files, and of what they define, if it can be one.

    Raises:
        ExportError: It cannot, or is taken.
    """
    if (
        isinstance(name, str)
        and re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII)
        and len(name) <= _LONGEST
        and name not in taken
    ):
        return name
    others = f", and not {' or '.join(taken)}" if taken else ""
    raise ExportError(
        f"{shown(name)} cannot name {what}: use at most {_LONGEST} letters, digits and _, starting "
        f"with a letter{others}"
    )


def _c(functions: Sequence[Function], name: str, real: Real, order: Order) -> Texts:
    header, source = c99.header_and_source(functions, name, real=real, order=order)
    return {f"{name}.h": header, f"{name}.c": source}


def _matlab(functions: Sequence[Function], *_: str) -> Texts:
    texts: Texts = {}
    for function in functions:
        file = f"{matlab.file_name(function)}.m"
        if file.lower() in (known.lower() for known in texts):
            raise ExportError(f"two functions of the export need the file {file}: rename one")
        texts[file] = matlab.source(function)
    return texts


def _python(functions: Sequence[Function], name: str, *_: str) -> Texts:
    return {f"{name}.py": python.module(functions, name)}


def _julia(functions: Sequence[Function], name: str, *_: str) -> Texts:
    return {f"{name}.jl": julia.file_text(functions, name)}


LANGUAGES: Final[dict[str, Callable[..., Texts]]] = {
    "c": _c,
    "matlab": _matlab,
    "python": _python,
    "julia": _julia,
}


def _common_name(functions: Sequence[Function]) -> str:
    if len(functions) == 1:
        return functions[0].name
    names = {f.workspace.name for f in functions}
    if len(names) > 1:
        raise ExportError(
            f"the functions come from the workspaces {', '.join(sorted(names))}: "
            f"give the files a name with name=…"
        )
    name = re.sub(r"\W", "_", names.pop(), flags=re.ASCII)
    return name if name[:1].isalpha() else f"m{name}"


def _write(folder: str | Path, texts: Texts) -> list[Path]:
    """Write the files, all of them or none."""
    place = path_of(folder, ExportError, "the path of a folder")
    paths = [path_of(place / file, ExportError) for file in texts]
    for path in paths:
        if path.exists() and not _is_ours(path):
            raise ExportError(
                f"{path} was not written by biela, so it is left alone: "
                f"move it, or export to another folder"
            )
    make_folder(place, ExportError)
    write_files(dict(zip(paths, texts.values(), strict=True)), ExportError)
    return paths


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return MARK in file.read(2000)
    except OSError:  # a folder, or a file that is closed to the user
        return False
