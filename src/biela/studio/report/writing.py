"""`report`: everything that is to be known of a model, in one file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import biela as bl
from biela.doors import door
from biela.errors import BielaError, FileError, ModelError
from biela.given_files import path_of
from biela.model.quantities.values import Value
from biela.studio.report.making import Making, Progress
from biela.studio.report.motion import settings_for
from biela.studio.source import FileSource, source_of
from biela.studio.topology import Describable, described
from biela.whole_files import write_file

__all__ = ["report", "report_html", "subject_of"]


@door(ModelError)
def report(
    model: object,
    path: str | Path | None = None,
    *,
    duration: float | None = None,
    step: float | None = None,
    parameters: Mapping[str, Value] | None = None,
    channels: Sequence[str] = (),
    command: str = "",
    progress: Progress | None = None,
) -> Path:
    """Write a report on a model: one HTML file that opens offline and prints well.

    It has the model in tables, its motion to be played in space, plots, extreme values, reactions
    and motor sizing, freedoms, loops, structural groups, sparsity, the equations of small models,
    timings, and the command that makes it again.  What cannot be computed is told in words in its
    place: a model that cannot be assembled has a report too.

    Args:
        model: A Model, Robot or SymbolicSystem, or the path of a model file.
        path: The file to write; by default the name of the model with ``_report.html``.
        duration: How long it moves (s); by default as its table ``[run]`` says, else 5 s.
        step: Between instants (s); likewise, else a 250th of the duration.
        parameters: Values other than those of the model: numbers in SI units, or texts with units.
        channels: Names, groups or patterns of further channels to plot.
        command: What makes the same report again, if not a call of this function.
        progress: Called with what is being done, the number of parts done, and of all.

    Returns:
        The path of the file.

    Raises:
        ModelError: It is no model, or there is no such parameter.
        FileError: The file cannot be written.
    """
    subject = subject_of(model, parameters)
    named = f"{_plain(subject.name)}_report.html" if path is None else path
    target = path_of(named, FileError)
    if target.is_dir():
        raise FileError(f"{target} is a folder: give the name of a file .html")
    if not target.parent.is_dir():
        raise FileError(f"{target}: there is no folder {target.parent}; make it, or give another")
    text = report_html(
        subject if not isinstance(model, str | Path) else model,
        duration=duration,
        step=step,
        parameters=parameters,
        channels=channels,
        command=command,
        progress=progress,
    )
    return write_file(target, text, FileError)


def report_html(
    model: object,
    *,
    duration: float | None = None,
    step: float | None = None,
    parameters: Mapping[str, Value] | None = None,
    channels: Sequence[str] = (),
    command: str = "",
    progress: Progress | None = None,
) -> str:
    """The text of the page that `report` writes, with the same arguments.

    Raises:
        ModelError: It is no model, or there is no such parameter, or a time is not above zero.
    """
    subject = subject_of(model, parameters)
    settings = settings_for(subject, duration, step)
    if not (settings.duration > 0 and settings.step > 0):
        raise ModelError("the duration of a motion and its step must be above zero")
    given = {
        "duration": duration,
        "step": step,
        "parameters": dict(parameters) if parameters else None,
        "channels": list(channels) or None,
    }
    return Making(subject, settings, channels, command or _call(model, given), progress).page()


def subject_of(model: object, parameters: Mapping[str, Value] | None) -> Describable:
    """The model with its parameters.

    Raises:
        ModelError: It is no model, or has no such parameter.
    """
    if isinstance(model, str | Path):
        file = path_of(model, ModelError, "the path of a model file")
        if not file.exists():
            raise ModelError(f"{file} is not there: give a model file")
        if file.suffix.lower() == ".py":
            raise ModelError(
                f"{file} is a program: make its model and give that, or say biela report {file}"
            )
        return FileSource(file).model(dict(parameters or {}))
    found = described(model)
    if isinstance(found, bl.SymbolicSystem):
        if parameters:
            raise ModelError(
                f"{found.name} is written in symbols: give its parameters their values there"
            )
        return found
    return source_of(found).model(dict(parameters or {}))


def _call(model: object, given: Mapping[str, object]) -> str:
    """The call that makes the same report."""
    what = repr(str(model)) if isinstance(model, str | Path) else "model"
    more = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    return f"import biela as bl\n\nbl.report({what}{more})"


def _plain(name: str) -> str:
    """A name as that of a file."""
    found = re.sub(r"[^\w-]+", "_", name).strip("_")
    if not found:
        raise BielaError(f"{name!r} gives no name of a file: say which, path=…")
    return found
