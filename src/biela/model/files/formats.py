"""A model from a file of any format that biela reads, told by its ending and its first element."""

from __future__ import annotations

from pathlib import Path

from biela.errors import FileError
from biela.model.files.mjcf import load_mjcf
from biela.model.files.reading import load
from biela.model.files.thesis import load_thesis_folder
from biela.model.files.urdf import load_urdf
from biela.model.model import Model

#: Endings of the files that are read.
ENDINGS = (".toml", ".urdf", ".xml", ".mjcf")


def load_model(path: str | Path) -> Model:
    """The model in a file: TOML, URDF, MJCF, or a folder with the thesis's four text files.

    Options of a format, such as a floating base of a robot, are those of its own function:
    `load`, `load_urdf`, `load_mjcf`, `load_thesis_folder`.

    Raises:
        FileError: The file is not there, is none of these, or has mistakes.
    """
    file = Path(path)
    if file.is_dir():
        return load_thesis_folder(file)
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise FileError(
            f"{file}: a model file ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, or is a "
            f"folder with the four text files of the thesis"
        )
    if ending == ".toml":
        return load(file)
    if ending == ".urdf":
        return load_urdf(file)
    return load_mjcf(file) if ending == ".mjcf" or _is_mjcf(file) else load_urdf(file)


def _is_mjcf(file: Path) -> bool:
    """Whether an XML file has the root element of MuJoCo's format."""
    try:
        start = file.read_bytes()[:4096]
    except OSError:
        return False
    return b"<mujoco" in start
