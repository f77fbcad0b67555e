"""What a solver of groups in C gives: points, joint coordinates and bodies.

Angular velocities and accelerations are along the axes of the body (see
`biela.analysis.groups.body_motion`); the axes of a body are the columns of its rotation matrix.
Rods whose spin is held do not turn about their lines (`biela.analysis.groups.held_spins`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.analysis.groups.joint_requests import JointRequest
from biela.analysis.realtime.group_parts import GroupParts, Integers
from biela.atoms import Atom, Workspace
from biela.code import Function
from biela.code.targets.language import wrapped
from biela.equations.groups.placed_bodies import frame_of_plane
from biela.equations.reference_point import NORMAL

__all__ = ["Asked", "OutputText", "output_text"]

_POINT: Final = "position", "velocity", "acceleration"


@dataclass(frozen=True)
class Asked:
    """What is asked of a program of groups, in the order of its requests.

    Attributes:
        points: Names of markers.
        body_requests: How many requests there are for all bodies: their centres, then what tells
            how they are turned.
        joints: Coordinates.
    """

    points: tuple[str, ...]
    body_requests: int
    joints: tuple[JointRequest, ...]


@dataclass(frozen=True)
class OutputText:
    """The text about outputs: types for the header, a function, names of the numbers."""

    functions: tuple[Function, ...]
    types: str
    code: str
    columns: tuple[str, ...]
    fields: tuple[tuple[str, tuple[str, ...]], ...]


def output_text(parts: GroupParts, asked: Asked, name: str) -> OutputText:
    """What is asked for, in C."""
    types, fields, struct, tables, code, columns = [], [], [], [], [], []
    functions: list[Function] = []
    places = parts.groups.request_places
    n = len(asked.points)
    if n:
        types.append(_type(f"{name}_point_t", [f"double {x}[3];" for x in _POINT], "a point"))
        struct.append(f"  {name}_point_t points[{n}];")
        fields.append(("points", asked.points))
        columns += [f"{p} {x}{axis}" for p in asked.points for x in _POINT for axis in "xyz"]
        tables.append(_table("point_at", np.array([p[0, 0] for p in places[:n]])))
        code += _points(parts, n)
    if asked.joints:
        own = ["double value, rate, second_rate;"]
        types.append(_type(f"{name}_joint_t", own, "the coordinate of a joint, over all turns"))
        struct.append(f"  {name}_joint_t joints[{len(asked.joints)}];")
        fields.append(("joints", tuple(j.name for j in asked.joints)))
        columns += [f"{j.name}{x}" for j in asked.joints for x in ("", " rate", " second rate")]
        at = np.array([p[0, 0] for p in places[n + asked.body_requests :]])
        tables.append(_table("joint_at", at))
        signs = ", ".join(repr(j.sign) for j in asked.joints)
        tables.append(f"static const double joint_sign[{len(asked.joints)}] = {{{signs}}};\n")
        code += _joints(parts, len(asked.joints))
    if asked.body_requests:
        names = tuple(parts.solver.world.names)
        types.append(_type(f"{name}_body_t", _BODY, "a body"))
        struct.append(f"  {name}_body_t bodies[{len(names)}];")
        fields.append(("bodies", names))
        columns += [f"{b} {x}" for b in names for x in _body_columns()]
        pose = _pose_function(parts.solver.model.plane)
        functions.append(pose)
        found = places[n : n + asked.body_requests]
        at = np.stack([p[:, 0] for p in found], axis=1)
        tables.append(_table("body_at", at))
        code += _bodies(parts, pose, len(names), [p.shape[1] for p in found])
    opening = [
        f"void {name}_outputs(const {name}_t *s, {name}_outputs_t *outputs) {{",
        "  const double *w = s->w[s->now];",
    ]
    types.append("\n".join(["typedef struct {", *struct, f"}} {name}_outputs_t;", ""]))
    text = "\n".join([*tables, *opening, *code, "}", ""])
    return OutputText(tuple(functions), "\n".join(types), text, tuple(columns), tuple(fields))


def _type(name: str, lines: Sequence[str], what: str) -> str:
    own = [f"  {line}" for line in lines]
    return "\n".join([f"// the motion of {what}", "typedef struct {", *own, f"}} {name};", ""])


def _table(name: str, rows: Integers) -> str:
    """Places in the workspace: one for each thing, or several."""
    rows = np.asarray(rows)
    shape = "".join(f"[{n}]" for n in rows.shape)
    lines = [f"static const int {name}{shape} = {{"]
    for row in rows:
        entries = ", ".join(str(int(x)) for x in np.atleast_1d(row))
        lines.append(f"  {{{entries}}}," if rows.ndim == 2 else f"  {entries},")
    return "\n".join([*lines, "};", ""])


def _firsts(parts: GroupParts) -> list[int]:
    return [parts.groups.memory.first(f"{d}y") for d in ("", "d", "dd")]


def _axes(parts: GroupParts) -> list[int]:
    """Which components of a place in the ground there are."""
    return ["xyz".index(axis) for axis in parts.solver.model.plane or "xyz"]


def _points(parts: GroupParts, count: int) -> list[str]:
    lines = [f"  for (int i = 0; i < {count}; i++) {{", "    const int k = point_at[i];"]
    for what, first in zip(_POINT, _firsts(parts), strict=True):
        lines += _place(parts, f"outputs->points[i].{what}", f"{first} + k")
    return [*lines, "  }"]


def _place(parts: GroupParts, target: str, first: str) -> list[str]:
    """Copies of the components of a place; across the plane of the model they are zero."""
    there = _axes(parts)
    at = ["", " + 1", " + 2"]
    values = [f"w[{first}{at[there.index(k)]}]" if k in there else "0.0" for k in range(3)]
    return [f"    {target}[{k}] = {value};" for k, value in enumerate(values)]


def _joints(parts: GroupParts, count: int) -> list[str]:
    lines = [f"  for (int i = 0; i < {count}; i++) {{", "    const int k = joint_at[i];"]
    for what, first in zip(("value", "rate", "second_rate"), _firsts(parts), strict=True):
        lines.append(f"    outputs->joints[i].{what} = joint_sign[i]*w[{first} + k];")
    return [*lines, "  }"]


# -------------------------------------------------------------------------------- bodies

_BODY: Final = (
    "double position[3], velocity[3], acceleration[3];  // of its centre of mass",
    "double axes[9];  // row by row: its columns are the axes of the body in the ground",
    "// along these axes",
    "double angular_velocity[3], angular_acceleration[3];",
)


def _body_columns() -> list[str]:
    found = [f"{x}{axis}" for x in _POINT for axis in "xyz"]
    found += [f"axes{i}{j}" for i in range(1, 4) for j in range(1, 4)]
    turning = ("angular velocity", "angular acceleration")
    return [*found, *(f"{x} {axis}" for x in turning for axis in "xyz")]


def _bodies(parts: GroupParts, pose: Function, count: int, widths: Sequence[int]) -> list[str]:
    firsts = _firsts(parts)
    lines = [f"  for (int i = 0; i < {count}; i++) {{", "    const int *k = body_at[i];"]
    for what, first in zip(_POINT, firsts, strict=True):
        lines += _place(parts, f"outputs->bodies[i].{what}", f"{first} + k[0]")
    given = [f"w + {first} + k[{j}]" for j in range(1, len(widths)) for first in firsts]
    body = "outputs->bodies[i]"
    given += [f"{body}.axes", f"{body}.angular_velocity", f"{body}.angular_acceleration"]
    call = wrapped(f"    {pose.name}({', '.join(given)});", "        ")
    return [*lines, *call, "  }"]


def _pose_function(plane: str | None) -> Function:
    """Rotation matrix, angular velocity and acceleration of a body out of what groups give."""
    ws = Workspace("body")
    if plane is not None:
        turn = [ws.symbols(f"{d}c {d}s") for d in ("", "d", "dd")]
        (c, s), (dc, ds), (ddc, dds) = turn
        R = frame_of_plane(ws, plane, c, s)
        rates = [c * ds - s * dc, c * dds - s * ddc]
        normal = "xyz".index(NORMAL[plane])
        zero = ws.atom(0)
        omega, alpha = ([r if k == normal else zero for k in range(3)] for r in rates)
        inputs = {f"{d}turn": list(v) for d, v in zip(("", "d", "dd"), turn, strict=True)}
    else:
        axes = [
            [list(ws.symbols([f"{d}{e}{k}" for k in range(3)])) for d in ("", "d", "dd")]
            for e in ("x", "y")
        ]
        x, y = axes
        z = [
            _cross(x[0], y[0]),
            _sum(_cross(x[1], y[0]), _cross(x[0], y[1])),
            _sum(
                _sum(_cross(x[2], y[0]), _cross(x[0], y[2])),
                [2 * a for a in _cross(x[1], y[1])],
            ),
        ]
        columns = [x[0], y[0], z[0]]
        R = [[columns[j][i] for j in range(3)] for i in range(3)]
        omega, alpha = (_along(columns, _turning(columns, [x[d], y[d], z[d]])) for d in (1, 2))
        inputs = {
            f"{d}{e}": list(part[k])
            for e, part in zip(("x", "y"), axes, strict=True)
            for k, d in enumerate(("", "d", "dd"))
        }
    outputs = {
        "axes": [a for row in R for a in row],
        "angular_velocity": omega,
        "angular_acceleration": alpha,
    }
    return Function("body_turned", inputs, outputs)


def _cross(a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
    return [a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3] for k in range(3)]


def _sum(a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _turning(columns: Sequence[Sequence[Atom]], rates: Sequence[Sequence[Atom]]) -> list[Atom]:
    """½ Σ e x e'."""
    parts = [_cross(e, de) for e, de in zip(columns, rates, strict=True)]
    return [0.5 * a for a in _sum(_sum(parts[0], parts[1]), parts[2])]


def _along(columns: Sequence[Sequence[Atom]], v: Sequence[Atom]) -> list[Atom]:
    return [_dot(e, v) for e in columns]


def _dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
