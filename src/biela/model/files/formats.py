"""A model from a file of any format that biela reads, told by its ending and its first element."""

from __future__ import annotations

from pathlib import Path

from biela.errors import FileError
from biela.given_files import check_ordinary, path_of
from biela.model.files.denavit_hartenberg_tables import TABLE, load_dh
from biela.model.files.mjcf import load_mjcf
from biela.model.files.reading import load
from biela.model.files.thesis import load_thesis_folder
from biela.model.files.urdf import load_urdf
from biela.model.model import Model

#: Endings of the files that are read.
ENDINGS = (".toml", ".urdf", ".xml", ".mjcf", ".csv")


def load_model(path: str | Path) -> Model:
    """The model in a file: TOML, URDF, MJCF, a Denavit–Hartenberg table, or a thesis's folder.

    Options of a format, such as a floating base of a robot, are those of its own function:
    `load`, `load_urdf`, `load_mjcf`, `load_dh`, `load_thesis_folder`.

    Raises:
        FileError: The file is not there, is none of these, or has mistakes.
    """
    file = path_of(path, FileError)
    if file.is_dir():
        return load_thesis_folder(file)
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise FileError(
            f"{file}: a model file ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, or is a "
            f"folder with the four text files of the thesis"
        )
    if is_dh(file):
        return load_dh(file)
    if ending == ".toml":
        return load(file)
    if ending == ".urdf":
        return load_urdf(file)
    return load_mjcf(file) if ending == ".mjcf" or is_mjcf(file) else load_urdf(file)


def is_mjcf(source: str | Path) -> bool:
    """Whether an XML file, or a text of XML, has the root element of MuJoCo's format."""
    if isinstance(source, str) and "<" in source:
        return "<mujoco" in source[:4096]
    return b"<mujoco" in _bytes(Path(source))[:4096]


def is_dh(file: Path) -> bool:
    """Whether a file has a Denavit–Hartenberg table: CSV, or TOML with such a table."""
    ending = file.suffix.lower()
    return ending == ".csv" or (
        ending == ".toml" and f"[{TABLE}]" in _bytes(file).decode("utf-8", errors="replace")
    )


def _bytes(file: Path) -> bytes:
    try:
        check_ordinary(file)
        return file.read_bytes()
    except OSError:
        return b""
