"""What a visitor takes away: the motion as a table, the model as it is changed, a report."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import biela as bl
from biela.errors import ModelError
from biela.model.files.writing import dumps
from biela.model.forces import Actuator
from biela.model.joints import Joint
from biela.studio.report.writing import report_html
from biela.studio.session import Session
from biela.studio.table import Table

__all__ = ["PICTURE", "SAVED", "changed", "file_name", "savable", "saved"]

#: What only a page can make.
PICTURE: Final = "png"
#: Labels of buttons: what they save, and what there is to know of it.
SAVED: Final[Mapping[str, tuple[str, str]]] = {
    "Motion (CSV)": ("csv", "all quantities at all instants, for a spreadsheet"),
    "Motion (npz)": ("npz", "all of it, for bl.Results.load"),
    "Picture (PNG)": (PICTURE, "the mechanism as it is seen now"),
    "Model (TOML)": ("toml", "with parameters, laws, start and motors as they are now"),
    "Report (HTML)": ("html", "one page on that model with plots, loads, structure and equations"),
}


def savable(session: Table) -> Mapping[str, tuple[str, str]]:
    """Those of `SAVED` that there are: symbols make no model file."""
    if isinstance(session, Session):
        return SAVED
    return {label: each for label, each in SAVED.items() if each[0] != "toml"}


def saved(session: Table, kind: str) -> tuple[str, bytes]:
    """The name and the contents of a file.

    Args:
        session: What is on the table.
        kind: "csv", "npz", "toml" or "html".

    Raises:
        BielaError: There is nothing to save, or the model cannot be written.
    """
    if kind == "toml":
        if not isinstance(session, Session):
            raise ModelError(f"{session.name} is written in symbols, which no model file holds")
        return file_name(session, "toml"), dumps(changed(session)).encode()
    if kind == "html":
        settings = session.settings
        model, command = session.described, "bl.report(model)  # with the values of the studio"
        if isinstance(session, Session):
            model, file = changed(session), file_name(session, "toml")
            command = f"biela report {file}  # the model that the studio saves"
        page = report_html(model, duration=settings.duration, step=settings.step, command=command)
        return file_name(session, "html"), page.encode()
    if session.motion is None:
        raise ModelError("there is no motion to save: choose kinematics or dynamics")
    with TemporaryDirectory() as folder:
        path = Path(folder) / file_name(session, kind)
        path = session.motion.to_csv(path) if kind == "csv" else session.motion.save(path)
        return path.name, path.read_bytes()


def file_name(session: Table, ending: str) -> str:
    """What a file is called: like the mechanism."""
    name = re.sub(r"[^\w-]+", "_", session.name).strip("_") or "mechanism"
    return f"{name}_report.html" if ending == "html" else f"{name}.{ending}"


def changed(session: Session) -> bl.Model:
    """The model as it is on the table: it begins and runs there as it does here.

    Raises:
        BielaError: The changes make no model.
    """
    made, settings = copy.copy(session.model), session.settings
    made.joints, made.forces = dict(made.joints), dict(made.forces)
    made.run = {**made.run, "duration": settings.duration, "step": settings.step}
    for field, given in (("start", settings.q), ("rates", _rates(settings.v))):
        for name, value in given.items():
            owner, _, coordinate = name.rpartition(".")
            joint: Any = made.joints.get(owner)
            if isinstance(joint, Joint) and any(c.name == coordinate for c in joint.coordinates):
                change: dict[str, Any] = {field: {**getattr(joint, field), coordinate: value}}
                made.joints[owner] = replace(joint, **change)
    for name, value in settings.inputs.items():
        motor = made.forces.get(name)
        if isinstance(motor, Actuator):
            made.forces[name] = replace(motor, value=value)
    return made


def _rates(v: Mapping[str, float]) -> dict[str, float]:
    """Velocities by the names of the coordinates that change."""
    return {name.removesuffix("_rate"): value for name, value in v.items()}
