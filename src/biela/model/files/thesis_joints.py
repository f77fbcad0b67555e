"""Joints of the thesis as joints of the library (§2.4 there; Haug 1989, ch. 9).

    SJ     P_i = Q_j                                              spherical
    RJ     SJ, c_j across a_i and b_i                             revolute
    CJ     c_j and d across a_i and b_i                           cylindrical
    TJ     CJ, a_i · a_j = value                                  prismatic
    UJ     SJ, a_i · a_j = 0                                      universal
    D      |d| = value                                            distance
    CD     x, y or z of d = value                                 coordinate_difference
    DP1    a_i · a_j = value                                      dot
    DP2    a_i · d = value                                        in_plane
    PERP1  c_j across a_i and b_i                                 parallel_axes
    PERP2  d across a_i and b_i                                   point_on_line

The source does not normalise its directions; here they are of unit length, and a value is divided
by the lengths.  Rows that make axes parallel leave their sense open: the initial position sets it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError
from biela.model.bodies import GROUND
from biela.model.files.thesis_text import Row
from biela.model.markers import Marker
from biela.model.model import Model
from biela.model.orientation import Orientation, along
from biela.model.placing import body_pose

Floats = npt.NDArray[np.float64]

_COLUMN = {"Pi": 4, "Qi": 7, "Ri": 10, "Pj": 13, "Qj": 16, "Rj": 19}
_PLAIN = {
    "RJ": "revolute",
    "CJ": "cylindrical",
    "PERP1": "parallel_axes",
    "PERP2": "point_on_line",
}


def direction(row: Row, start: str, end: str) -> Floats:
    """The unit vector from a point of a row to another.

    Raises:
        FileError: They are one.
    """
    return _unit(row, start, end)[0]


def _unit(row: Row, start: str, end: str) -> tuple[Floats, float]:
    vector = np.array(row.points[end]) - np.array(row.points[start])
    length = float(np.linalg.norm(vector))
    if not length:
        raise row.fault(f"{start} and {end} are one point and give no direction", _COLUMN[end])
    return vector / length, length


def add_joint(model: Model, row: Row, number: int, kind: str) -> None:
    """Add the joint of a row to a model.

    Raises:
        FileError: The points of the row give no directions, or a value is out of range.
    """
    name = f"{kind}{number}"
    try:
        _add(model, row, name, kind)
    except ModelError as error:
        if type(error) is not ModelError:
            raise
        raise row.fault(str(error).removeprefix(f"{model.name}: ")) from None


def _add(model: Model, row: Row, name: str, kind: str) -> None:
    if kind == "SJ":
        model.joint("spherical", name, _i(row), _j(row))
    elif kind in _PLAIN:
        frame_i, frame_j = _plane_frames(model, row, with_j=kind != "PERP2")
        model.joint(_PLAIN[kind], name, _i(row, frame_i), _j(row, frame_j))
    elif kind == "TJ":
        _translational(model, row, name)
    elif kind == "UJ":
        a_i, a_j = direction(row, "Pi", "Qi"), direction(row, "Pj", "Qj")
        z_j = _across(a_j)  # and the y axis of frame j along a_j
        frame_j = along(name, _list(z_j), _list(np.cross(a_j, z_j)))
        model.joint("universal", name, _i(row, frame_along(a_i)), _j(row, frame_j))
    elif kind == "D":
        model.joint("distance", name, _i(row), _j(row), length=row.value)
    elif kind in ("CDx", "CDy", "CDz"):
        model.joint(
            "coordinate_difference", name, _i(row), _j(row), along=kind[-1], value=row.value
        )
    elif kind == "DP1":
        (a_i, n_i), (a_j, n_j) = _unit(row, "Pi", "Qi"), _unit(row, "Pj", "Qj")
        frame_i, frame_j = frame_along(a_i), frame_along(a_j)
        value = row.value / (n_i * n_j)
        model.joint("dot", name, _i(row, frame_i), _j(row, frame_j), a="x", b="x", value=value)
    elif kind == "DP2":
        a_i, n_i = _unit(row, "Pi", "Qi")
        frame = along(name, _list(a_i))
        offset = row.value / n_i
        model.joint("in_plane", name, _i(row, frame), _j(row), normal="z", offset=offset)
    else:
        raise row.fault(f"{kind!r} is not a joint of the thesis")


def _translational(model: Model, row: Row, name: str) -> None:
    """TJ: a_i · a_j = value holds the turn φ about the axis: cos φ = value / |a_j across z|."""
    frame_i, frame_j = _plane_frames(model, row)
    R_i, R_j = np.array(frame_i.axes), np.array(frame_j.axes)
    (_, n_i), (a_j, n_j) = _unit(row, "Pi", "Qi"), _unit(row, "Pj", "Rj")
    flat = a_j - R_j[:, 2] * (R_j[:, 2] @ a_j)
    across = float(np.linalg.norm(flat))
    if across < 1e-6:
        raise row.fault("a_j = Rj - Pj is along the axis c_j = Qj - Pj and holds no turn", 19)
    cosine = row.value / (n_i * n_j * across)
    if abs(cosine) > 1:
        raise row.fault(f"no angle between a_i and a_j has the cosine {cosine:g}", 22)
    turn = math.acos(cosine)
    # in which sense a_j is turned from a_i, the initial position says
    P_i, P_j = (_turned(model, link) for link in (row.i, row.j))
    seen = (P_i @ R_i).T @ (P_j @ flat)
    if seen[1] < 0:
        turn = -turn
    x = flat / across
    y = np.cross(R_j[:, 2], x)
    x_j = x * math.cos(turn) - y * math.sin(turn)
    frame_j = along(name, _list(R_j[:, 2]), _list(x_j))
    model.joint("prismatic", name, _i(row, frame_i), _j(row, frame_j))


def _plane_frames(model: Model, row: Row, with_j: bool = True) -> tuple[Orientation, Orientation]:
    """Frames with z_i across a_i and b_i, x_i along a_i, and z_j along c_j."""
    a, b = direction(row, "Pi", "Qi"), direction(row, "Pi", "Ri")
    z_i = np.cross(a, b)
    if np.linalg.norm(z_i) < 1e-6:
        raise row.fault("a_i = Qi - Pi and b_i = Ri - Pi are parallel and span no plane", 10)
    if not with_j:
        return along("", _list(z_i), _list(a)), Orientation()
    c = direction(row, "Pj", "Qj")
    if (_turned(model, row.i) @ z_i) @ (_turned(model, row.j) @ c) < 0:
        z_i = -z_i
    return along("", _list(z_i), _list(a)), along("", _list(c))


def _turned(model: Model, link: int) -> Floats:
    """R of a link at the initial position."""
    R: Floats = np.eye(3) if link == 1 else body_pose(model, model.bodies[f"link{link}"])[:3, :3]
    return R


def frame_along(a: Floats) -> Orientation:
    """A frame with its x axis along a direction, the others along those of the body if they can."""
    return along("", _list(_across(a)), _list(a))


def _across(a: Floats) -> Floats:
    """Some direction across another."""
    across: Floats = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    return across


def _list(vector: Floats) -> list[float]:
    return [float(x) for x in vector]


def body_name(link: int) -> str:
    """The body of a link."""
    return GROUND if link == 1 else f"link{link}"


def _i(row: Row, frame: Orientation | None = None) -> Marker:
    return Marker(body_name(row.i), "", row.points["Pi"], frame or Orientation())


def _j(row: Row, frame: Orientation | None = None) -> Marker:
    return Marker(body_name(row.j), "", row.points["Pj"], frame or Orientation())
