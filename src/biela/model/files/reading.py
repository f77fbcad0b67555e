"""Reading model files: text to tables, tables to a model, with every mistake by its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from biela.budgets import LEVELS, within
from biela.errors import FileError, ModelError
from biela.given_files import path_of, text_in, text_of
from biela.model.element import kind_named
from biela.model.files.building import Builder
from biela.model.files.element_tables import ElementTable, element_table
from biela.model.files.faults import Fault, file_error
from biela.model.files.fields import message_of, shown_value
from biela.model.files.folder import Folder
from biela.model.files.lines import KeyPath, key_lines
from biela.model.files.model_table import ModelTable, PartTable
from biela.model.files.names import Known, known_in
from biela.model.files.tables import TAG, Table
from biela.model.model import Model
from biela.spelling import few_guesses

#: The tables of elements, by category.
ELEMENTS = {"joint": "joints", "driver": "drivers", "force": "forces", "sensor": "sensors"}

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
#: A key of many parts, bare or in quotes.
_LONG_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{LEVELS},}}"""
)
_BARE_QUANTITY = re.compile(r"=[\s\[]*+([-+]?[\d.]++(?:[eE][-+]?\d+)?\s*+[A-Za-zµ°][\w/^*·]*)")


def load(path: str | Path) -> Model:
    """The model in a TOML file.

    Files that it names, such as meshes and parts, are looked for in its folder and below, and
    nowhere else; nothing in it is executed.

    Args:
        path: The file.

    Raises:
        FileError: The file cannot be read or has mistakes; all of them, each with its line.
    """
    return _load(path_of(path, FileError), (), {})


def loads(text: str, *, name: str = "<text>", folder: str | Path | None = None) -> Model:
    """The model in a TOML text.

    Args:
        text: What would be in the file.
        name: What messages call it.
        folder: Where files named in the text are looked for; None if there are none.

    Raises:
        FileError: It has mistakes.
    """
    place = None if folder is None else path_of(folder, FileError, "the path of a folder")
    return _loads(text_of(text, FileError, "a model file"), str(name), Folder(place), (), {})


def _load(path: Path, inside: tuple[Path, ...], known: dict[Path, Model]) -> Model:
    """The model of a file ``inside`` others; ``known`` are those that were read before."""
    text = text_in(path, FileError)
    return _loads(text, str(path), Folder(path.parent), (*inside, path.resolve()), known)


@few_guesses()
def _loads(
    text: str, name: str, folder: Folder, inside: tuple[Path, ...], known: dict[Path, Model]
) -> Model:
    document = parsed(text, name)
    faults = list(_too_large(document, ()))
    model = None if faults else _built(document, (), folder, inside, known, faults)
    if model is None:
        raise file_error(name, key_lines(text.replace("\r\n", "\n")), faults)
    return model


def _built(
    document: Mapping[str, Any],
    path: KeyPath,
    folder: Folder,
    inside: tuple[Path, ...],
    known: dict[Path, Model],
    faults: list[Fault],
) -> Model | None:
    """The model of a document, or of a table of it at a path; None if there are faults."""
    names = known_in(document)
    found: list[Fault] = []
    table = _checked(ModelTable, document, path, names, found)
    elements = {
        (category, element): _element(category, (*path, key, element), given, names, found)
        for category, key in ELEMENTS.items()
        for element, given in _entries(document, key).items()
    }
    parts = {
        part: _checked(PartTable, given, (*path, "parts", part), names, found)
        for part, given in _entries(document, "parts").items()
    }
    found += [Fault((*path, *fault.path), fault.message) for fault in _shared_names(document)]
    if found:
        faults += found
        return None
    assert isinstance(table, ModelTable)

    def prototype(source: Path | Mapping[str, Any], where: KeyPath) -> Model:
        if isinstance(source, Path):
            if source in inside:
                raise ModelError(f"{source.name} is a part of itself")
            if len(inside) > LEVELS:
                raise ModelError(f"more than {LEVELS} files that are parts of each other")
            if source not in known:
                known[source] = _load(source, inside, known)
            return known[source]
        made = _built(source, where, folder, inside, known, faults)
        if made is None:
            raise _NotedError
        return made

    builder = Builder(table, folder, path, prototype)
    try:
        model = builder.build(elements, parts)  # type: ignore[arg-type]
    except _NotedError:
        model = None
    faults += builder.faults
    return model


class _NotedError(Exception):
    """The faults of a part are noted already."""


# --- syntax ---------------------------------------------------------------------------------------


def parsed(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises:
        FileError: It is no TOML, or nested too deep.
    """
    for number, row in enumerate(text.split("\n"), 1):
        # the reader below takes the square of the length of a key
        key = _LONG_KEY.search(row) if row.count(".") > LEVELS else None
        if key is not None:
            within(
                LEVELS,
                key.group().count(".") + 1,
                f"{name}:{number}: the key {key.group()[:20]}… would make {{}} nested tables",
                "use fewer dots",
                FileError,
            )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        rows = text.split("\n")
        line = int(place.group(1)) if place and place.group(1) else len(rows)
        said = message[: place.start()] if place else message
        hint = ""
        quantity = _BARE_QUANTITY.search(rows[line - 1].partition("#")[0])
        if quantity:
            hint = f'; a value with a unit stands in quotes: "{quantity.group(1)}"'
        where = f"{name}:{line}:{place.group(2)}" if place and place.group(2) else f"{name}:{line}"
        raise FileError(f"{where}: this is not TOML: {said}{hint}") from None
    except RecursionError:
        raise FileError(
            f"{name}:1: the tables and arrays are nested too deep; the limit is {LEVELS}"
        ) from None
    except ValueError as error:  # of whole numbers with thousands of digits
        longest = max(re.findall(r"\w+", text), key=len)
        line = text.count("\n", 0, text.index(longest)) + 1
        raise FileError(f"{name}:{line}: {error}") from None


def _too_large(data: Any, path: KeyPath) -> Iterator[Fault]:
    """Whole numbers that are beyond any float, and tables in each other beyond the limit."""
    if isinstance(data, int) and abs(data) > 1e300:
        # Python does not write thousands of digits, which other bases may have
        yield Fault(path, f"a whole number of {data.bit_length()} bits is too large")
    if len(path) > LEVELS:
        yield Fault(path[:1], f"more than {LEVELS} tables and arrays in each other")
        return
    entries = data.items() if isinstance(data, dict) else ()
    for key, item in enumerate(data) if isinstance(data, list) else entries:
        yield from _too_large(item, (*path, key))


# --- checks ---------------------------------------------------------------------------------------


def _entries(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = document.get(key, {})
    return found if isinstance(found, dict) else {}


def _checked(
    table: type[Table], data: object, path: KeyPath, known: Known, faults: list[Fault]
) -> Table | None:
    try:
        return table.model_validate(data, context=known)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            place = tuple(p for p in item["loc"] if not str(p).startswith(TAG))
            faults.append(Fault((*path, *place), item["msg"]))
        return None


def _element(
    category: str, path: KeyPath, given: object, known: Known, faults: list[Fault]
) -> ElementTable | None:
    if not isinstance(given, dict):
        faults.append(Fault(path, f"a table is wanted, not {shown_value(given)}"))
        return None
    if not isinstance(given.get("kind"), str):
        said = "it has no kind" if "kind" not in given else "its kind is a text"
        example = {"joint": "revolute", "driver": "rotary", "force": "spring_damper"}
        faults.append(Fault(path, f'{said}, such as kind = "{example.get(category, "point")}"'))
        return None
    try:
        kind = kind_named(category, given["kind"])
    except ModelError as error:
        faults.append(Fault((*path, "kind"), message_of(error)))
        return None
    found = _checked(element_table(kind), given, path, known, faults)
    assert found is None or isinstance(found, ElementTable)
    return found


def _shared_names(document: Mapping[str, Any]) -> list[Fault]:
    """Names given twice: results know everything by its name alone."""
    first: dict[str, str] = {}
    faults = []
    for key in ("bodies", *ELEMENTS.values(), "parts"):
        for name in _entries(document, key):
            if name in first:
                other = f"{first[name]}.{name}"
                faults.append(Fault((key, name), f"the name {name} is taken by {other}"))
            elif name == "ground" and key != "bodies":
                faults.append(Fault((key, name), "ground is the body that does not move"))
            else:
                first[name] = key
    return faults
