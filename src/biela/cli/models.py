"""The model in a file of the user's: a model file, a Python file, or a folder of text files."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TypeAlias

import biela as bl
from biela.cli.gallery import meant_file, mechanism_like
from biela.errors import FileError, ModelError

#: What a file may describe: bodies and joints, or symbols.
Described: TypeAlias = bl.Model | bl.SymbolicSystem

#: Functions that are called for the model, besides the one named like the file.
_MAKERS = ("model", "build")
#: Endings of files that hold a model and no program.
_FILES = (".toml", ".urdf", ".xml", ".mjcf", ".csv")


def model_in(file: Path, wanted: str | None = None) -> Described:
    """The model that a file describes, or a mechanism of the gallery by its name.

    A ``.toml`` is a model file, a ``.urdf`` or ``.xml`` one of a robot; a folder holds the four
    text files of a thesis.  In a Python file
    it is a `Model` or `SymbolicSystem` at module level, or what a function without required
    arguments returns that is called ``model``, ``build`` or like the file, or that is annotated to
    return one.  With several, ``wanted`` names the one.  The file is imported, not run as a
    program: what stands under ``if __name__ == "__main__"`` is left out.

    Raises:
        ModelError: There is no such file, it fails, or it has no model or several.
    """
    file = meant_file(file)
    if not file.exists():
        near = "" if file.suffix == ".py" else mechanism_like(file.stem)
        hint = f"; biela new {near} writes one to begin with" if near else ""
        if near and not file.suffix:
            hint = f", or {near}, which is in the gallery"
        raise ModelError(f"{file} is not there: give a file that describes a model{hint}")
    if file.is_dir() or file.suffix.lower() in _FILES:
        if wanted is not None:
            raise ModelError(f"{file} has one model: --model {wanted} is for Python files")
        return _folder(file) if file.is_dir() else _model_file(file)
    if file.suffix.lower() != ".py":
        raise ModelError(
            f"{file} is no model file: its name should end in .toml, .urdf, .xml or .py"
        )
    module = _imported(file)
    if wanted is not None:
        return _named(module, file, wanted)
    systems = _systems(module)
    if len(systems) == 1:
        return next(iter(systems.values()))
    if len(systems) > 1:
        raise ModelError(_several(file, systems))
    makers = _makers(module, file)
    if not makers:
        raise ModelError(
            f"{file} has no model: it needs a Model or SymbolicSystem at module level, or a "
            f"function without required arguments that returns one, called model, build or "
            f"{file.stem}"
        )
    if len(makers) > 1:
        raise ModelError(_several(file, makers))
    ((name, maker),) = makers.items()
    return _made(maker, name, file)


def bodies_in(file: Path, wanted: str | None = None) -> bl.Model:
    """The model of bodies and joints that a file describes.

    Raises:
        ModelError: It describes none; see `model_in`.
    """
    model = model_in(file, wanted)
    if not isinstance(model, bl.Model):
        raise ModelError(
            f"{file}: {model.name} is written in symbols; this verb is for models of bodies and "
            f"joints"
        )
    return model


def plain_name(text: str) -> str:
    """A name as that of a folder or of a function.

    >>> plain_name("slider-crank 2"), plain_name("4bar")
    ('slider_crank_2', 'model_4bar')
    """
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in text).strip("_")
    return plain if plain[:1].isalpha() else f"model_{plain}".rstrip("_")


def function_name(model: Described) -> str:
    """The name of a model as that of a function."""
    return plain_name(model.name if isinstance(model, bl.Model) else model.workspace.name)


def output_name(file: Path, model_name: str | None) -> str:
    """The name of what is written for a file: its own, so that a copy has files of its own.

    >>> output_name(Path("models/slider-crank.toml"), None), output_name(Path("all.py"), "arm")
    ('slider_crank', 'all_arm')
    """
    stem = meant_file(file).resolve().stem
    return plain_name(stem if model_name is None else f"{stem}_{model_name}")


def system_of(model: Described, coordinates: str | None = None) -> bl.System:
    """The equations of a model; ``coordinates`` are those of `biela.formulate`.

    Raises:
        ModelError: The model has coordinates of its own.
    """
    if isinstance(model, bl.Model):
        return bl.formulate(model, coordinates_of(model, coordinates))
    if coordinates is not None:
        raise ModelError(
            f"{model.name} is written in symbols and has the coordinates of its author: leave out "
            f"--coordinates"
        )
    return model.equations().system


def coordinates_of(model: bl.Model, wanted: str | None) -> str:
    """The coordinates of equations: those wanted, or those of the file of the model."""
    return wanted or str(model.run.get("coordinates", "joint"))


def _model_file(file: Path) -> bl.Model:
    from biela.model.files import load_model

    return load_model(file)


def _folder(folder: Path) -> bl.Model:
    from biela.model.files import load_thesis_folder

    try:
        return load_thesis_folder(folder)
    except FileError as error:
        if (folder / "general.txt").exists():
            raise
        raise ModelError(
            f"{folder} is a folder, and no model: give a file, or a folder with general.txt, "
            f"joints.txt, drivers.txt and initial.txt ({error})"
        ) from error


def _imported(file: Path) -> ModuleType:
    """The module of a file; its folder is searched for what it imports.

    Raises:
        ModelError: With the line of the file at fault.
    """
    # not the bare name: a model in json.py must not take the place of the library
    spec = importlib.util.spec_from_file_location(f"biela_model_{file.stem}", file)
    assert spec is not None and spec.loader is not None, "its name ends in .py"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    arguments, sys.argv = sys.argv, [str(file)]
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ModelError(_told(file, error)) from error
    finally:
        sys.argv = arguments
        sys.path.remove(folder)
    return module


def _systems(module: ModuleType) -> dict[str, Described]:
    """The models at module level; one that has two names is there once."""
    found: dict[str, Described] = {}
    for name, value in vars(module).items():
        if isinstance(value, Described) and all(value is not s for s in found.values()):
            found[name] = value
    return found


def _makers(module: ModuleType, file: Path) -> dict[str, Any]:
    """The functions of the module that may be called for the model, by their names first."""
    own = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and _callable(value)
    }
    usual = {name: own[name] for name in (*_MAKERS, file.stem) if name in own}
    if usual:
        return usual
    return {name: value for name, value in own.items() if _returns_system(value)}


def _returns_system(function: Any) -> bool:
    annotation = inspect.signature(function).return_annotation
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] in ("Model", "SymbolicSystem")
    return annotation is bl.SymbolicSystem or annotation is bl.Model


def _callable(function: Any) -> bool:
    """Whether it can be called without arguments."""
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters: Iterable[inspect.Parameter] = inspect.signature(function).parameters.values()
    return all(p.default is not p.empty or p.kind in free for p in parameters)


def _named(module: ModuleType, file: Path, wanted: str) -> Described:
    value = getattr(module, wanted, None)
    if isinstance(value, Described):
        return value
    if inspect.isfunction(value):
        if not _callable(value):
            raise ModelError(
                f"{file}: {wanted}{inspect.signature(value)} needs arguments; write a function "
                f"without any that calls it"
            )
        return _made(value, wanted, file)
    known = ", ".join([*_systems(module), *_makers(module, file)])
    what = "is not a model" if hasattr(module, wanted) else "is not there"
    raise ModelError(f"{file}: {wanted} {what}; the file has {known or 'no model'}")


def _made(maker: Any, name: str, file: Path) -> Described:
    try:
        model = maker()
    except (Exception, SystemExit) as error:
        raise ModelError(_told(file, error)) from error
    if not isinstance(model, Described):
        raise ModelError(
            f"{file}: {name}() returns {type(model).__name__}, no Model and no SymbolicSystem; "
            f"return the model, or name another with --model"
        )
    return model


def _several(file: Path, found: Mapping[str, Any]) -> str:
    names = list(found)
    return f"{file} has several models, {', '.join(names)}: choose one, --model {names[0]}"


def _told(file: Path, error: BaseException) -> str:
    """What went wrong in the file, with the line."""
    if isinstance(error, SyntaxError):
        source = (error.text or "").strip()
        shown = f"\n  {source}" if source else ""
        return f"{error.filename or file}:{error.lineno or 1}: {error.msg}{shown}"
    place = f"{file}:{_line(error.__traceback__, file)}"
    if isinstance(error, SystemExit):
        return (
            f"{place}: the file ends the program; put what should not run when it is imported "
            f'under if __name__ == "__main__":'
        )
    if isinstance(error, bl.BielaError):
        return f"{place}: {error}"
    return f"{place}: {type(error).__name__}: {error}"


def _line(trace: TracebackType | None, file: Path) -> int:
    """The innermost line of the file that led to the error."""
    line, own = 1, file.resolve()
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == own:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
