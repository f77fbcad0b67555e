"""Models out of the four text files of Peinado's thesis; see `thesis_text` for their layout.

A row gives points on the two links, and directions as their differences: a_i = Qi - Pi,
b_i = Ri - Pi, c_j = Qj - Pj.  Only the code 2 of joints, revolute, is known for sure; the others
are ours and can be set.  Link 1 is the ground, the others are the bodies "link2", "link3" …

The rotary driver of the thesis, code 1, is the cosine row a_i · a_j = cos θ(t).  It is singular
at every half turn, where a mechanism may run backwards.  Where a joint between the two links has
an angle, the driver becomes a motor of that joint with the same motion; ``driver_codes={1:
"cosine"}`` keeps the cosine.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from biela.errors import BielaError, FileError
from biela.given_files import path_of
from biela.model.files.fields import message_of, quaternion
from biela.model.files.thesis_joints import add_joint, body_name, direction, frame_along
from biela.model.files.thesis_text import (
    Row,
    Source,
    read_drivers,
    read_general,
    read_initial,
    read_joints,
)
from biela.model.joints import Cylindrical, Joint, Revolute
from biela.model.laws.law import law_from
from biela.model.markers import Marker
from biela.model.model import Model
from biela.model.placing import body_pose, matrix, relative_pose

Floats = npt.NDArray[np.float64]

#: The codes of joints.
JOINT_CODES: dict[int, str] = {
    1: "SJ",
    2: "RJ",
    3: "TJ",
    4: "CJ",
    5: "D",
    6: "CDx",
    7: "CDy",
    8: "CDz",
    9: "UJ",
    10: "DP1",
    11: "DP2",
    12: "PERP1",
    13: "PERP2",
}
#: The codes of drivers.
DRIVER_CODES: dict[int, str] = {
    1: "rotary",
    2: "distance",
    3: "x",
    4: "y",
    5: "z",
    11: "rotary",
}
#: Names of the four files in a folder, and of those that the thesis mentions.
FILES: dict[str, tuple[str, ...]] = {
    "drivers": ("drivers*", "*adicionales*"),
    "general": ("general*", "datos*generales*"),
    "joints": ("joints*", "juntas*", "datos*juntas*"),
    "initial": ("initial*", "aproxinicial*", "posicion*inicial*"),
}


def load_thesis(
    general: str | Path,
    joints: str | Path,
    drivers: str | Path | None,
    initial: str | Path,
    *,
    laws: Sequence[str] | Mapping[int, str] | None = None,
    name: str | None = None,
    joint_codes: Mapping[int, str] = JOINT_CODES,
    driver_codes: Mapping[int, str] = DRIVER_CODES,
) -> Model:
    """The model in four text files.

    Args:
        general: Number of links, interval, number of intervals.
        joints: A row for each joint.
        drivers: A row for each driver; None if there is no driver.
        initial: The estimate of the initial position; Euler parameters need not be normalised.
        laws: Laws of the drivers, by their order or their number from 1, in place of those
            after the bars in the file: an angle, a distance or a coordinate as a text of t.
        name: What the model is called; else as the folder.
        joint_codes: What the codes of joints mean.
        driver_codes: What the codes of drivers mean: "rotary", "cosine", "distance", "x", "y",
            "z".

    Raises:
        FileError: Something is wrong in a file: with its line and column.
    """
    facts = read_general(Source.read(general))
    rows = read_joints(Source.read(joints), facts.links)
    driver_rows = [] if drivers is None else read_drivers(Source.read(drivers), facts.links)
    source = Source.read(initial)
    states = read_initial(source, facts.links)
    model = Model(name or Path(general).resolve().parent.name)
    _check_ground(source, states[0])
    for k, state in enumerate(states[1:], start=2):
        model.body(f"link{k}", position=state[:3], orientation=quaternion(state[3:]))
    for number, row in enumerate(rows, start=1):
        try:
            add_joint(model, row, number, _meaning(row, joint_codes, "joint"))
        except FileError:
            raise
        except BielaError as error:
            raise row.fault(f"joint {number}: {message_of(error)}") from None
    given = dict(laws) if isinstance(laws, Mapping) else dict(enumerate(laws or (), start=1))
    for number in given:
        if not 1 <= number <= len(driver_rows):
            raise FileError(f"{drivers}: there is a law for driver {number} and no such driver")
    for number, row in enumerate(driver_rows, start=1):
        law = str(given.get(number, row.law))
        try:
            _add_driver(model, row, number, _meaning(row, driver_codes, "driver"), law)
        except FileError:
            raise
        except BielaError as error:  # which knows no line
            raise row.fault(f"driver {number}: {message_of(error)}") from None
    model.run = {
        "duration": facts.duration,
        "step": facts.duration / facts.intervals,
        **facts.settings,
    }
    return model


def load_thesis_folder(
    folder: str | Path,
    *,
    laws: Sequence[str] | Mapping[int, str] | None = None,
    joint_codes: Mapping[int, str] = JOINT_CODES,
    driver_codes: Mapping[int, str] = DRIVER_CODES,
) -> Model:
    """The model in a folder with general.txt, joints.txt, drivers.txt and initial.txt.

    A folder without drivers is one of a mechanism without drivers.  Otherwise as `load_thesis`.

    Raises:
        FileError: A file is missing, or something is wrong in it.
    """
    place = path_of(folder, FileError, "the path of a folder")
    try:
        there = sorted(file for file in place.iterdir() if file.is_file())
    except OSError as error:
        raise FileError(f"{place}: the folder cannot be read: {error.strerror}") from None
    found: dict[str, Path | None] = {}
    for what, patterns in FILES.items():
        free = [file for file in there if file not in found.values()]
        files = [f for p in patterns for f in free if fnmatch.fnmatch(f.name.lower(), p)]
        if not files and what != "drivers":
            raise FileError(f"{place}: there is no file {what}.txt in this folder")
        found[what] = files[0] if files else None
    assert found["general"] and found["joints"] and found["initial"]
    return load_thesis(
        found["general"],
        found["joints"],
        found["drivers"],
        found["initial"],
        laws=laws,
        joint_codes=joint_codes,
        driver_codes=driver_codes,
    )


def _check_ground(source: Source, state: tuple[float, ...]) -> None:
    turned = max(abs(e) for e in state[4:]) > 1e-9 * abs(state[3])
    if any(state[:3]) or turned:
        raise source.fault(1, "link 1 is the ground: its coordinates are 0 0 0 1 0 0 0")


def _meaning(row: Row, codes: Mapping[int, str], what: str) -> str:
    if row.code not in codes:
        known = ", ".join(f"{code} {name}" for code, name in sorted(codes.items()))
        raise row.fault(f"{row.code} is not the code of a {what}; these are: {known}")
    return codes[row.code]


# --- drivers --------------------------------------------------------------------------------------


def _add_driver(model: Model, row: Row, number: int, kind: str, law: str) -> None:
    name = f"driver{number}"
    if not law:
        raise row.fault(
            f"driver {number} has no law: write it after a bar, as in “… | pi/4 + 2*pi*t”, or "
            "give it by laws=…"
        )
    try:
        law_from(law)
    except BielaError as error:
        raise row.fault(f"the law of driver {number}: {message_of(error)}") from None
    i, j = body_name(row.i), body_name(row.j)
    at_i, at_j = Marker(i, "", row.points["Pi"]), Marker(j, "", row.points["Pj"])
    if kind == "distance":
        model.driver("distance", name, i=at_i, j=at_j, law=law)
    elif kind in ("x", "y", "z"):
        origin = row.i == 1 and not any(row.points["Pi"])
        reference = {} if origin else {"i": at_i}
        model.driver("position", name, marker=at_j, axis=kind, law=law, **reference)
    elif kind in ("rotary", "cosine"):
        a_i, a_j = direction(row, "Pi", "Qi"), direction(row, "Pj", "Qj")
        joint = _turning(model, i, j, a_i, a_j) if kind == "rotary" else None
        if joint is None:
            i_marker = Marker(i, "", row.points["Pi"], frame_along(a_i))
            j_marker = Marker(j, "", row.points["Pj"], frame_along(a_j))
            model.driver("cosine", name, i=i_marker, j=j_marker, law=law)
        else:
            before, after = (a_i, a_j) if joint.i.body == i else (a_j, a_i)
            text = _angle_law(model, joint, before, after, law)
            model.driver("rotary", name, coordinate=f"{joint.name}.angle", law=text)
    else:
        raise row.fault(
            f"{kind!r} is not a kind of driver; use rotary, cosine, distance, x, y or z"
        )


def _turning(model: Model, i: str, j: str, a_i: Floats, a_j: Floats) -> Joint | None:
    """A joint of the two bodies that turns about an axis across both directions."""
    for joint in model.joints.values():
        if not isinstance(joint, Revolute | Cylindrical) or {joint.i.body, joint.j.body} != {i, j}:
            continue
        before, after = (a_i, a_j) if joint.i.body == i else (a_j, a_i)
        slopes = (before @ _axes(model, joint.i)[:, 2], after @ _axes(model, joint.j)[:, 2])
        if max(map(abs, slopes)) < 1e-9:
            return joint
    return None


def _axes(model: Model, marker: Marker) -> Floats:
    return matrix(model, marker.orientation)


def _angle_law(model: Model, joint: Joint, before: Floats, after: Floats, law: str) -> str:
    """The law of the angle of a joint, given that of the angle θ between two directions.

    The cosine of the thesis does not say in which sense θ counts: the initial position does.
    """
    alpha = _bearing(model, joint.i, before)
    beta = _bearing(model, joint.j, after)
    T = relative_pose(
        model,
        joint,
        body_pose(model, model.find_body(joint.i.body)),
        body_pose(model, model.find_body(joint.j.body)),
    )
    there = math.atan2(T[1, 0], T[0, 0]) - alpha + beta
    wanted = law_from(law).value(0.0)
    sense = 1 if math.cos(there - wanted) >= math.cos(there + wanted) else -1
    offset = alpha - beta
    text = law if sense > 0 else f"-({law})"
    return text if abs(offset) < 1e-12 else f"{text} + ({offset!r})"


def _bearing(model: Model, marker: Marker, a: Floats) -> float:
    """The angle of a direction from the x axis of a marker, about its z axis."""
    x, y, _ = _axes(model, marker).T @ a
    return math.atan2(y, x)
