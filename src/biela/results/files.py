"""Results in files: the own format, comma separated values, data frames.

The own format is numpy's .npz, a zip of arrays, with one more entry `header`: a JSON text of names,
units, statistics, events and the plain data of the scene. There is no pickle in it, so that a file
from elsewhere can do no harm.
"""

from __future__ import annotations

import csv
import json
import math
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from io import TextIOWrapper
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from biela.budgets import ENTRIES, HEADER, check_memory, within
from biela.errors import BielaError, ResultsError
from biela.given_files import check_ordinary, path_of, shown
from biela.results import shapes as kinds
from biela.results.channels import Array, Channels, Event
from biela.results.partial import MARK, pieces
from biela.results.results import Results
from biela.results.scene import Scene, same_array
from biela.results.statistics import RunStatistics
from biela.results.units import labelled
from biela.whole_files import whole_file

if TYPE_CHECKING:
    import pandas

__all__ = [
    "VERSION",
    "archive",
    "load",
    "record",
    "save",
    "to_csv",
    "to_pandas",
    "writable",
]

#: Version of the format; a reader refuses files of a later one.
VERSION = 1
_FORMAT = "biela.results"
_Made = TypeVar("_Made")


def writable(path: str | Path, *suffixes: str) -> Path:
    """The path, with the first suffix added if it has none.

    Raises:
        ResultsError: the name ends in another suffix, or the folder does not exist.
    """
    path = path_of(path, ResultsError)
    if not path.suffix and path.name:
        path = path.with_name(path.name + suffixes[0])
    if path.suffix.lower() not in suffixes:
        raise ResultsError(f"{path}: the name should end in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise ResultsError(f"{path}: there is no folder {path.parent}")
    return path


# --- the own format -------------------------------------------------------------------------------


def save(results: Results, path: str | Path) -> Path:
    """Write results to an .npz file; one that is there already is replaced once all is written.

    Raises:
        ResultsError: the file cannot be written.
    """
    path = writable(path, ".npz")
    header, arrays = record(results)
    with whole_file(path, ResultsError) as file:
        archive(file, header, arrays, np.savez_compressed)
    return path


def record(results: Results, scene: bool = True) -> tuple[dict[str, Any], dict[str, Array]]:
    """What a file holds of results: the header, and the arrays by name."""
    arrays: dict[str, Array] = {"t": results.t}
    header: dict[str, Any] = {
        "format": _FORMAT,
        "version": VERSION,
        "name": results.name,
        "groups": {},
        "monitors": {name: results.unit(name) for name in results.monitors},
        "events": [asdict(event) for event in results.events],
        "interrupted": results.interrupted,
        "statistics": asdict(results.statistics) if results.statistics else None,
        "scene": None,
    }
    for group, channels in results.groups.items():
        header["groups"][group] = {
            "names": channels.names,
            "units": channels.units,
            "rates": channels.rates,
            "angles": channels.angles,
        }
        arrays[f"group/{group}"] = channels.values
    for number, name in enumerate(results.monitors):
        arrays[f"monitor/{number}"] = results[name]
    if scene and results.scene is not None:
        header["scene"], scene_arrays = _scene_record(results.scene)
        arrays.update(scene_arrays)
    return header, arrays


def archive(
    file: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, Array], savez: Any
) -> None:
    """Write a record to an open file, by `np.savez` or `np.savez_compressed`."""
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    savez(file, allow_pickle=False, header=text, **arrays)


def load(path: str | Path) -> Results:
    """Read an .npz file that `save` wrote, or what a run left that was stopped.

    Raises:
        ResultsError: the file cannot be read, holds no results, is of a later version, or would
            take more memory than the limit.
    """
    path = path_of(path, ResultsError)
    try:
        check_ordinary(path)
        with path.open("rb") as file:
            if file.read(len(MARK)) != MARK:
                _check_memory(_count(file))
                return _from_record(*_read(file))
            # all pieces are counted before the first is read
            _check_memory(sum(_count(piece) for piece in pieces(file)))
            file.seek(len(MARK))
            return _from_record(*_joined(_read(piece) for piece in pieces(file)))
    except BielaError as error:
        raise ResultsError(f"{path}: {error}") from error
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:  # numpy finds a pickle; or the header is no JSON
        raise ResultsError(f"{path}: not a file of results of biela ({error})") from error
    except Exception as error:  # zipfile and numpy raise nearly anything on damaged bytes
        raise ResultsError(f"{path}: a damaged file of results ({error})") from error


def _read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of an archive that was counted.

    Raises:
        ResultsError: The header is none.
    """
    file.seek(0)
    with np.load(file, allow_pickle=False) as found:
        return _header(found["header"]), {name: found[name] for name in found.files}


def _joined(
    parts: Iterable[tuple[dict[str, Any], dict[str, Array]]],
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The records of the pieces of a run as one."""
    header: dict[str, Any] = {}
    arrays: dict[str, list[Array]] = {}
    for told, found in parts:
        if not header:
            header, arrays = {**told, "events": []}, {name: [] for name in found}
        header["events"] += told["events"]
        for name, kept in arrays.items():
            kept.append(found[name])
    if not header:
        raise ResultsError("the run was stopped before the first piece was written")
    return header, {name: np.concatenate(arrays.pop(name)) for name in list(arrays)}


def _check_memory(numbers: int) -> None:
    check_memory(numbers, "its arrays would take {}", "store fewer instants", ResultsError)


def _count(file: BinaryIO) -> int:
    """How many numbers an archive has, as the headers of its arrays say.

    Raises:
        ResultsError: It is none, has something else than arrays of numbers, or one that is longer
            than its entry.
    """
    file.seek(0)
    if not zipfile.is_zipfile(file):
        raise ResultsError("not a file of results of biela, or cut short")
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if not any(entry.filename == "header.npy" for entry in entries):
            raise ResultsError("not a file of results of biela")
        if len({entry.header_offset for entry in entries}) < len(entries):
            raise ResultsError("the file is damaged: some of its arrays stand in the same place")
        return sum(_numbers(archive, entry) for entry in entries)


def _numbers(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    """How many numbers an entry of an archive has.

    Raises:
        ResultsError: It is no array of numbers, or not as long as it says.
    """
    # others make gigabytes of a few bytes, and numpy writes none of them
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ResultsError(
            f"{shown(entry.filename)} is compressed in a way that biela does not read"
        )
    if entry.filename == "header.npy":
        within(
            HEADER, entry.file_size, "its header would take {} bytes", "store less", ResultsError
        )
    with archive.open(entry) as file:
        # others have names of fields in other alphabets, and numbers have no fields
        read = _ARRAY_HEADERS.get(np.lib.format.read_magic(file))
        if read is None or not entry.filename.endswith(".npy"):
            raise ResultsError(f"not a file of results of biela: it has {shown(entry.filename)}")
        shape, _, kind = read(file)
    # shorter numbers become doubles, and a small file many of them
    header = entry.filename == "header.npy"
    if not (kind.kind in "fi" and kind.itemsize == 8) and not (header and kind == np.uint8):
        raise ResultsError(
            f"not a file of results of biela: {shown(entry.filename)} holds {kind}, no real "
            f"numbers of 8 bytes"
        )
    claimed = math.prod(shape) * kind.itemsize
    if claimed > entry.file_size:
        raise ResultsError(
            f"{entry.filename} claims an array of {claimed:.3g} bytes, and has "
            f"{entry.file_size}: the file is damaged"
        )
    return math.prod(shape)


#: What reads the shape of an array, by the version of its format.
_ARRAY_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def _header(text: Array) -> dict[str, Any]:
    """The names, units and further data of a file.

    Raises:
        ResultsError: It is of another format or version, or something is of another type.
    """
    raw = text.tobytes()
    within(
        ENTRIES,
        sum(raw.count(mark) for mark in (b",", b"[", b"{")),
        "its header would have {} entries",
        "store less",
        ResultsError,
    )
    header = json.loads(raw.decode())
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ResultsError("not a file of results of biela")
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ResultsError(
            f"written in format {shown(version)}, and this biela reads up to {VERSION}: use a "
            f"newer one"
        )
    for name, kind in _HEADER.items():
        if not isinstance(header.get(name), kind):
            raise ResultsError(f"a damaged file of results: {name} is {shown(header.get(name))}")
    for group, told in header["groups"].items():
        for name, texts in told.items():
            kind = bool if name == "angles" else str
            if texts is not None and not all(isinstance(text, kind) for text in texts):
                raise ResultsError(
                    f"a damaged file of results: {name} of {group[:80]} is {shown(texts)}"
                )
    if not all(isinstance(unit, str) for unit in header["monitors"].values()):
        raise ResultsError("a damaged file of results: a unit is no text")
    return header


#: What the header has, and of which types.
_HEADER: dict[str, type | UnionType] = {
    "name": str,
    "groups": dict,
    "monitors": dict,
    "events": list,
    "interrupted": bool,
    "statistics": dict | None,
    "scene": dict | None,
}


def _typed(kind: type[_Made], given: dict[str, Any]) -> _Made:
    """An object of a dataclass of plain fields and arrays.

    Raises:
        ResultsError: A field is unknown or of another type.
    """
    hints = get_type_hints(kind)
    for name, value in given.items():
        wanted = hints.get(name)
        kinds = get_args(wanted) if isinstance(wanted, UnionType) else (wanted,)
        plain = tuple(list if get_origin(k) is tuple else get_origin(k) or k for k in kinds)
        if wanted is None or not isinstance(value, (*plain, int) if float in plain else plain):
            raise ResultsError(
                f"a damaged file of results: {kind.__name__} has {name} = {shown(value)}"
            )
    return kind(**given)


def _from_record(header: dict[str, Any], arrays: dict[str, Array]) -> Results:
    groups = {
        group: Channels(
            told["names"],
            arrays[f"group/{group}"],
            told["units"],
            told["rates"],
            told.get("angles", ()),  # which files of earlier versions do not have
        )
        for group, told in header["groups"].items()
    }
    monitors = {name: arrays[f"monitor/{i}"] for i, name in enumerate(header["monitors"])}
    statistics, scene = header["statistics"], header["scene"]
    return Results(
        header["name"],
        arrays["t"],
        groups,
        monitors,
        header["monitors"],
        _typed(RunStatistics, statistics) if statistics else None,
        _scene_from_record(scene, arrays) if scene else None,
        [_typed(Event, event) for event in header["events"]],
        header["interrupted"],
    )


def _scene_record(scene: Scene) -> tuple[dict[str, Any], dict[str, Array]]:
    """The scene as JSON, and its arrays by the names they have in the file.

    Shapes of one body share the arrays of its pose: `shared` says where in the file they are.
    """
    arrays: dict[str, Array] = {}
    known: dict[Any, str] = {}
    records = []
    for number, shape in enumerate(scene.shapes):
        record: dict[str, Any] = {"kind": type(shape).__name__}
        for field in fields(shape):
            value = getattr(shape, field.name)
            if isinstance(value, np.ndarray):
                name = f"scene/{number}/{field.name}"
                first = known.setdefault(same_array(value), name)
                if first == name:
                    arrays[name] = value
                else:
                    record.setdefault("shared", {})[field.name] = first
            else:
                record[field.name] = value
        records.append(record)
    return {"plane": scene.plane, "shapes": records}, arrays


def _scene_from_record(record: dict[str, Any], arrays: dict[str, Array]) -> Scene:
    shapes = []
    for number, plain in enumerate(record["shapes"]):
        given = dict(plain)
        kind = given.pop("kind")
        shared = given.pop("shared", {})
        if kind not in kinds.__all__:
            raise ResultsError(f"the scene has a shape of unknown kind {kind!r}")
        shape = getattr(kinds, kind)
        for field in fields(shape):
            name = shared.get(field.name, f"scene/{number}/{field.name}")
            if name in arrays:
                given[field.name] = arrays[name]
        shapes.append(_typed(shape, given))
    return Scene(shapes, record["plane"])


# --- for other programs ---------------------------------------------------------------------------


def to_csv(results: Results, path: str | Path, names: Sequence[str]) -> Path:
    """Write channels as text, one row an instant, all digits; the heading is `name [unit]`.

    Raises:
        ResultsError: the file cannot be written.
    """
    path = writable(path, ".csv", ".txt")
    table = np.column_stack([results.t, *(results[name] for name in names)])
    with whole_file(path, ResultsError) as file:
        text = TextIOWrapper(file, "utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["t [s]", *(labelled(name, results.unit(name)) for name in names)])
        writer.writerows(table.tolist())
        text.detach()
    return path


def to_pandas(results: Results, names: Sequence[str]) -> pandas.DataFrame:
    """Channels as the columns of a data frame with the time as index.

    Raises:
        ResultsError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise ResultsError(
            "data frames need pandas, which is not installed: pip install biela[pandas]"
        ) from error
    index = pandas.Index(results.t, name="t")
    frame = pandas.DataFrame({name: results[name] for name in names}, index=index)
    frame.attrs["units"] = {name: results.unit(name) for name in names}
    return frame
