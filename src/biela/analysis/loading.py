"""One door for files: `load` looks what a file is and gives what it holds.

| file | what comes |
|---|---|
| ``.urdf``, ``.xml``, ``.mjcf``; Denavit–Hartenberg tables in ``.csv`` or ``.toml`` | `Robot` |
| ``.toml`` with bodies and joints, a folder with the four text files of the thesis | `Model` |
| ``.npz``, ``.partial`` of a run that was stopped | `Results` |
| the text that `biela.dump` gave, or a file of it | `Workspace` |
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biela.analysis.robots.robot import Robot
from biela.atoms import Workspace
from biela.atoms.dump import HEADER
from biela.atoms.dump import load as load_atoms
from biela.errors import FileError, ModelError, ParseError
from biela.given_files import check_ordinary, path_of, text_in
from biela.model import Model
from biela.model.files import load_dh, load_mjcf, load_model, load_urdf
from biela.model.files.formats import is_dh, is_mjcf
from biela.results import Results

#: What a program may give or a person type.
Source = str | Path
Loaded = Robot | Model | Results | Workspace


def load(source: Source, **options: Any) -> Any:
    """What a file holds: a robot, a model, results or a workspace.

    >>> import biela as bl
    >>> arm = bl.load('''<robot name="arm"><link name="base"/><link name="rod"><inertial>
    ...   <origin xyz="0 0 0.5"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/>
    ...   </inertial></link><joint name="hinge" type="continuous"><parent link="base"/>
    ...   <child link="rod"/><axis xyz="0 1 0"/></joint></robot>''')
    >>> arm.forward_dynamics([0.1], [0.0], [0.0])
    array([1.632276...])

    A robot file gives a `Robot`, whose ``robot.model`` is the model; give that further joints,
    such as those that close loops, and ``bl.Robot(robot.model)`` or ``bl.simulate(robot.model)``
    go on from there.

    Args:
        source: A file or folder; or the text of a URDF, of an MJCF or of `biela.dump`.
        **options: Of the reader of the format: ``floating``, ``merge_fixed``, ``geometry``,
            ``packages`` (URDF), ``notes`` (URDF, MJCF: a list for remarks, which else are
            warnings).

    Returns:
        `Robot` for URDF, MJCF and Denavit–Hartenberg tables, `Model` for model files, `Results`
        for ``.npz``, `Workspace` for dumps.

    Raises:
        FileError: The file is not there, is none of these, or has mistakes.
        ModelError: An option is not one of the format, or the robot cannot be.
    """
    if isinstance(source, str) and (source.startswith(HEADER) or "<" in source or "\n" in source):
        # no path has several lines
        dump = source.startswith(HEADER) or "<" not in source
        return load_atoms(source) if dump else _robot(source, is_mjcf(source), options)
    file = path_of(source, FileError, "the path of a file, or the text of one,")
    if _is_dump(file):
        try:
            return load_atoms(text_in(file, FileError))
        except ParseError as error:
            raise FileError(f"{file}: {error}") from None
    ending = file.suffix.lower()
    if not file.exists():
        raise FileError(f"{file} is not there: load takes the path of a file, or its text")
    if ending in (".urdf", ".xml", ".mjcf"):
        return _robot(file, ending == ".mjcf" or (ending == ".xml" and is_mjcf(file)), options)
    if is_dh(file):
        return Robot(load_dh(file, **_known(file, options, ())))
    _known(file, options, ())
    if file.is_dir() or ending == ".toml":
        return load_model(file)
    if ending in (".npz", ".partial"):
        return Results.load(file)
    raise FileError(
        f"{file}: load reads robots (.urdf, .xml, .mjcf, tables of Denavit and Hartenberg in .csv "
        f"or .toml), models (.toml, or a folder), results (.npz, .partial) and dumps of atoms; not "
        f"{ending or 'this'}"
    )


def _is_dump(file: Path) -> bool:
    """Whether a file has the dump of a workspace."""
    try:
        check_ordinary(file)
        with file.open("rb") as content:
            return content.read(len(HEADER)) == HEADER.encode()
    except OSError:  # what is to be said of it depends on its ending
        return False


def _robot(source: Source, mjcf: bool, options: dict[str, Any]) -> Robot:
    name = source if isinstance(source, Path) else "<text>"
    if mjcf:
        model = load_mjcf(source, **_known(name, options, ("notes",)))
    else:
        known = ("floating", "merge_fixed", "geometry", "packages", "notes")
        model = load_urdf(source, **_known(name, options, known))
    try:
        return Robot(model)
    except ModelError as error:
        raise ModelError(
            f"{name} is no robot whose dynamics can be had at once: {error}; bl.load_model gives "
            f"the model, for bl.simulate and the other analyses"
        ) from error


def _known(name: object, options: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    for option in options:
        if option not in known:
            listed = f"the options are {', '.join(known)}" if known else "it has none"
            raise ModelError(f"{name}: there is no option {option!r} for this format; {listed}")
    return options
