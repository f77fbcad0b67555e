"""Serial robots by their Denavit–Hartenberg parameters a, α, d, θ.

Frame k is fixed in link k, and link 0 is the ground.  From frame k - 1 to frame k,

    standard:   R_z(θ) T_z(d) T_x(a) R_x(α)      (Denavit & Hartenberg 1955; Siciliano 2009, §2.8)
    modified:   R_x(α) T_x(a) R_z(θ) T_z(d)      (Craig, *Introduction to Robotics*, §3.4)

where the row of link k in the modified table has a and α of the link before it, as Craig prints
them (α_{k-1}, a_{k-1}, d_k, θ_k).  The joint turns about z by q, added to θ, or slides along z by
q, added to d.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.budgets import ROWS, within
from biela.errors import ModelError
from biela.model.joints.moves import Rotate, Translate, transform
from biela.model.markers import Marker
from biela.model.model import Model
from biela.model.orientation import by_rows
from biela.model.quantities.units import quantity
from biela.model.quantities.values import Value

__all__ = ["from_dh"]

Floats = npt.NDArray[np.float64]
#: (a, alpha, d, theta), (a, alpha, d, theta, kind), or a mapping with these names.
Row: TypeAlias = Sequence[Any] | Mapping[str, Any]

_FIELDS = {"a": "length", "alpha": "angle", "d": "length", "theta": "angle"}
_KINDS = ("revolute", "prismatic")


def from_dh(
    rows: Sequence[Row],
    convention: str = "standard",
    *,
    name: str = "robot",
    masses: Sequence[Value] | None = None,
    coms: Sequence[Sequence[Value]] | None = None,
    inertias: Sequence[Any] | None = None,
    limits: Sequence[tuple[Value, Value] | None] | None = None,
    velocity_limits: Sequence[Value | None] | None = None,
    effort_limits: Sequence[Value | None] | None = None,
    gravity: Sequence[Value] | None = None,
) -> Model:
    """The model of a serial robot: bodies "link1", "link2" … and joints "joint1", "joint2" …

    >>> elbow = from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, "90 deg")], masses=[2.0, 1.0])
    >>> elbow
    Model robot: 2 bodies, 2 joints

    Args:
        rows: One for each joint: (a, alpha, d, theta) and "revolute" (or nothing) or "prismatic",
            in this order or by these names; numbers in SI units, or texts such as "90 deg".  The
            coordinate of the joint is added to theta, or to d.
        convention: "standard" or "modified".
        name: What the model is called.
        masses: Of the links; without them the robot serves for kinematics only.
        coms: Their centres of mass, each from the frame of its link along its axes.
        inertias: Their inertias about them, as `Model.body` takes them.
        limits: Lowest and highest value of each coordinate; None for a joint without.
        velocity_limits: The largest rate of each, likewise.
        effort_limits: The largest force or torque along each, likewise.
        gravity: In the axes of the ground; 9.81 m/s² against z by default.

    Raises:
        ModelError: A row is none, or there are not as many of something as rows.
    """
    if convention not in ("standard", "modified"):
        raise ModelError(
            f"{name}: Denavit-Hartenberg tables are standard or modified, not {convention!r}"
        )
    if not rows:
        raise ModelError(f"{name}: a robot needs one row for each joint, and there is none")
    within(ROWS, len(rows), f"{name}: {{}} rows of Denavit-Hartenberg parameters", "use fewer")
    given: dict[str, Sequence[Any] | None] = {
        "masses": masses,
        "coms": coms,
        "inertias": inertias,
        "limits": limits,
        "velocity limits": velocity_limits,
        "effort limits": effort_limits,
    }
    for what, values in given.items():
        if values is not None and (isinstance(values, str) or not hasattr(values, "__len__")):
            raise ModelError(f"{name}: {what} are one for each row, not {values!r}")
        if values is not None and len(values) != len(rows):
            raise ModelError(f"{name}: {len(values)} {what} for {len(rows)} rows")
    model = Model(name, gravity=gravity)
    before = model.ground
    for k, row in enumerate(rows):
        a, alpha, d, theta, kind = _read(f"{name}: row {k + 1}", row)
        axial = transform([Rotate("z", theta), Translate("z", d)])
        radial = transform([Translate("x", a), Rotate("x", alpha)])  # the two commute
        if convention == "standard":
            T_i, T_j = axial, np.asarray(np.linalg.inv(radial), dtype=np.float64)
        else:
            T_i, T_j = radial @ axial, np.eye(4)
        link = model.body(
            f"link{k + 1}",
            mass=None if masses is None else masses[k],
            com=None if coms is None else coms[k],
            inertia=None if inertias is None else inertias[k],
        )
        model.joint(
            kind,
            f"joint{k + 1}",
            _marker(before.name, T_i),
            _marker(link.name, T_j),
            limits=None if limits is None else limits[k],
            velocity_limits=None if velocity_limits is None else velocity_limits[k],
            effort_limits=None if effort_limits is None else effort_limits[k],
        )
        before = link
    return model


def _read(who: str, row: Row) -> tuple[float, float, float, float, str]:
    if isinstance(row, Mapping):
        unknown = [key for key in row if key not in (*_FIELDS, "kind")]
        missing = [key for key in _FIELDS if key not in row]
        if unknown or missing:
            raise ModelError(
                f"{who} has a, alpha, d, theta and perhaps kind, not {', '.join(map(str, row))}"
            )
        values, kind = [row[key] for key in _FIELDS], row.get("kind", "revolute")
    else:
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) not in (4, 5):
            raise ModelError(f"{who} is (a, alpha, d, theta) and perhaps a kind, not {row!r}")
        values, kind = list(row[:4]), row[4] if len(row) == 5 else "revolute"
    if kind not in _KINDS:
        raise ModelError(f"{who}: the joint is {' or '.join(_KINDS)}, not {kind!r}")
    a, alpha, d, theta = (
        quantity(value, dimension)
        for value, dimension in zip(values, _FIELDS.values(), strict=True)
    )
    if not np.isfinite([a, alpha, d, theta]).all():
        raise ModelError(f"{who}: a, alpha, d and theta are finite numbers, not {values}")
    return a, alpha, d, theta, kind


def _marker(body: str, T: Floats) -> Marker:
    x, y, z = (float(v) for v in np.where(np.abs(T[:3, 3]) < 1e-15, 0.0, T[:3, 3]))
    return Marker(body, "", (x, y, z), by_rows(T[:3, :3]))
