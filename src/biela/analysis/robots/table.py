"""A robot in a table: joints with their places in q and v and their limits, bodies and masses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from biela.model import Model
from biela.model.joints import Coupling, Joint

if TYPE_CHECKING:
    from biela.analysis.robots.configurations import Configurations

Floats = npt.NDArray[np.float64]


#: Joints, couplings and masses up to which a table shows them all.
LONGEST: Final = 40


@dataclass(frozen=True)
class JointRow:
    """A joint: its kind, the bodies before and after it, its places, its limits as texts."""

    name: str
    kind: str
    before: str
    after: str
    q: str
    v: str
    limits: str
    velocity: str
    effort: str


@dataclass(frozen=True)
class RobotTable:
    """What ``print(robot)`` shows: all of it, or the beginning and the end where it is long."""

    title: str
    joints: tuple[JointRow, ...]
    couplings: tuple[str, ...]
    masses: Mapping[str, float]
    narrowed: tuple[str, ...] = ()

    @property
    def mass(self) -> float:
        """Of all bodies together."""
        return sum(self.masses.values())

    def __str__(self) -> str:
        head = ("joint", "kind", "from", "to", "q", "v", "limits", "velocity", "effort")
        joints = self.joints
        left_out = len(joints) - LONGEST
        if left_out > 0:
            joints = joints[: LONGEST // 2] + joints[-LONGEST // 2 :]
        cells = [
            (j.name, j.kind, j.before, j.after, j.q, j.v, j.limits, j.velocity, j.effort)
            for j in joints
        ]
        rows = _columns([head, *cells])
        if left_out > 0:
            rows.insert(1 + LONGEST // 2, f"… {left_out} more joints, all of them in table.joints")
        lines = [self.title, "", *rows] if cells else [self.title]
        if self.couplings:
            lines += ["", f"coupled: {_listed(self.couplings)}"]
        if self.narrowed:
            lines += ["", f"limits of followers: {_listed(self.narrowed)}"]
        listed = _listed([f"{name} {mass:g}" for name, mass in self.masses.items()])
        lines += ["", f"mass: {self.mass:g} kg ({listed})"]
        return "\n".join(lines)


def robot_table(robot: Configurations) -> RobotTable:
    """The table of a robot."""
    model = robot.snapshot.flattened() if robot.snapshot.parts else robot.snapshot
    rows = []
    for name in robot.joint_names:
        joint = model.joints.get(name)
        q, v = robot.q_index(name), robot.v_index(name)
        known = isinstance(joint, Joint)
        own = [full for full in robot.q_names[q] if full in robot.scalars]
        i = [robot.scalars[full][0] for full in own]
        j = [robot.scalars[full][1] for full in own]
        rows.append(
            JointRow(
                name,
                joint.kind if joint is not None else "free",
                joint.i.body if isinstance(joint, Joint) else "ground",
                joint.j.body if isinstance(joint, Joint) else name,
                _place(q),
                _place(v),
                _pairs(robot.lower[i], robot.upper[i]) if known else "",
                _sizes(robot.velocity_limits[j]),
                _sizes(robot.effort_limits[j]),
            )
        )
    couplings = tuple(
        f"{c.name} ({c.kind} of {' and '.join(c.couples)})"
        for c in model.joints.values()
        if isinstance(c, Coupling)
    )
    title = (
        f"{robot.name}: {robot.nv} freedoms, {robot.nq} coordinates, {len(model.bodies)} bodies, "
        f"{len(robot.frames)} frames"
    )
    return RobotTable(title, tuple(rows), couplings, _masses(model), robot.narrowed)


def _masses(model: Model) -> dict[str, float]:
    """Of the bodies that have any."""
    masses = {name: model.number(b.inertia.mass, "mass") for name, b in model.bodies.items()}
    return {name: mass for name, mass in masses.items() if mass}


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - LONGEST
    return ", ".join([*texts[:LONGEST], *([f"… {more} more"] if more > 0 else [])])


def _place(part: slice) -> str:
    return str(part.start) if part.stop - part.start == 1 else f"{part.start}:{part.stop}"


def _pairs(lower: Floats, upper: Floats) -> str:
    pairs = [
        f"[{low:.4g}, {high:.4g}]"
        for low, high in zip(lower, upper, strict=True)
        if np.isfinite(low) or np.isfinite(high)
    ]
    return " ".join(pairs)


def _sizes(limits: Floats) -> str:
    return " ".join(f"{x:.4g}" for x in limits if np.isfinite(x))


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Texts in columns; those that are empty all the way down are left out."""
    used = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
    widths = [max(len(row[k]) for row in rows) for k in used]
    return [
        "  ".join(row[k].ljust(w) for k, w in zip(used, widths, strict=True)).rstrip()
        for row in rows
    ]
