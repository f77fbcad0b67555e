"""The model in a file of the user's."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import biela as bl
from biela.errors import ModelError

#: Functions that are called for the model, besides the one named like the file.
_MAKERS = ("model", "build")


def model_in(file: Path, wanted: str | None = None) -> bl.SymbolicSystem:
    """The model that a Python file describes.

    It is a `SymbolicSystem` at module level, or what a function without required arguments returns
    that is called ``model``, ``build`` or like the file, or that is annotated to return one.  With
    several, ``wanted`` names the one.  The file is imported, not run as a program: what stands
    under ``if __name__ == "__main__"`` is left out.

    Raises:
        ModelError: There is no such file, it fails, or it has no model or several.
    """
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
            f"{file} has no model: it needs a SymbolicSystem at module level, or a function "
            f"without required arguments that returns one, called model, build or {file.stem}"
        )
    if len(makers) > 1:
        raise ModelError(_several(file, makers))
    ((name, maker),) = makers.items()
    return _made(maker, name, file)


def _imported(file: Path) -> ModuleType:
    """The module of a file; its folder is searched for what it imports.

    Raises:
        ModelError: With the line of the file at fault.
    """
    if not file.is_file():
        what = "is a folder, not a file" if file.is_dir() else "is not there"
        raise ModelError(f"{file} {what}: give a Python file that describes a model")
    # not the bare name: a model in json.py must not take the place of the library
    spec = importlib.util.spec_from_file_location(f"biela_model_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ModelError(f"{file} is not a Python file: its name should end in .py")
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


def _systems(module: ModuleType) -> dict[str, bl.SymbolicSystem]:
    """The systems at module level; one that has two names is there once."""
    found: dict[str, bl.SymbolicSystem] = {}
    for name, value in vars(module).items():
        if isinstance(value, bl.SymbolicSystem) and all(value is not s for s in found.values()):
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
        return annotation.rpartition(".")[2] == "SymbolicSystem"
    return annotation is bl.SymbolicSystem


def _callable(function: Any) -> bool:
    """Whether it can be called without arguments."""
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters: Iterable[inspect.Parameter] = inspect.signature(function).parameters.values()
    return all(p.default is not p.empty or p.kind in free for p in parameters)


def _named(module: ModuleType, file: Path, wanted: str) -> bl.SymbolicSystem:
    value = getattr(module, wanted, None)
    if isinstance(value, bl.SymbolicSystem):
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


def _made(maker: Any, name: str, file: Path) -> bl.SymbolicSystem:
    try:
        model = maker()
    except (Exception, SystemExit) as error:
        raise ModelError(_told(file, error)) from error
    if not isinstance(model, bl.SymbolicSystem):
        raise ModelError(
            f"{file}: {name}() returns {type(model).__name__} and not a SymbolicSystem; "
            f"return the system, or name another with --model"
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
