"""Results in files: the own format, comma separated values, data frames.

The own format is numpy's .npz, a zip of arrays, with one more entry `header`: a JSON text of names,
units, statistics, events and the plain data of the scene. There is no pickle in it, so that a file
from elsewhere can do no harm.
"""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from biela.errors import BielaError, ResultsError
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


def writable(path: str | Path, *suffixes: str) -> Path:
    """The path, with the first suffix added if it has none.

    Raises:
        ResultsError: the name ends in another suffix, or the folder does not exist.
    """
    path = Path(path)
    if not path.suffix:
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
        ResultsError: the file cannot be read, holds no results, or is of a later version.
    """
    try:
        with Path(path).open("rb") as file:
            if file.read(len(MARK)) != MARK:
                return _from_record(*_read(path, file))
            return _from_record(*_joined(path, [_read(path, piece) for piece in pieces(file)]))
    except BielaError:
        raise
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:  # numpy finds a pickle; or the header is no JSON
        raise ResultsError(f"{path}: not a file of results of biela ({error})") from error
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{path}: a damaged file of results ({error})") from error


def _read(path: str | Path, file: BinaryIO) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of an archive."""
    file.seek(0)
    if not zipfile.is_zipfile(file):
        raise ResultsError(f"{path}: not a file of results of biela, or cut short")
    file.seek(0)
    with np.load(file, allow_pickle=False) as found:
        if "header" not in found:
            raise ResultsError(f"{path}: not a file of results of biela")
        header = json.loads(found["header"].tobytes().decode())
        if header.get("format") != _FORMAT:
            raise ResultsError(f"{path}: not a file of results of biela")
        if header["version"] > VERSION:
            raise ResultsError(
                f"{path}: written in format {header['version']}, and this biela reads up to "
                f"{VERSION}: use a newer one"
            )
        return header, {name: found[name] for name in found.files}


def _joined(
    path: str | Path, parts: Sequence[tuple[dict[str, Any], dict[str, Array]]]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The records of the pieces of a run as one."""
    if not parts:
        raise ResultsError(f"{path}: the run was stopped before the first piece was written")
    header = {**parts[0][0], "events": [event for part, _ in parts for event in part["events"]]}
    return header, {name: np.concatenate([each[name] for _, each in parts]) for name in parts[0][1]}


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
        RunStatistics(**statistics) if statistics else None,
        _scene_from_record(scene, arrays) if scene else None,
        [Event(**event) for event in header["events"]],
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
        shapes.append(shape(**given))
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
