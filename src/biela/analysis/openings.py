"""How far joints are open: at the start, and at best where a mechanism cannot be closed."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.check_report import OPEN, Opening
from biela.analysis.instant import Instant
from biela.analysis.joint_replacements import joint_of
from biela.analysis.reach import nearest
from biela.equations import System, formulate
from biela.equations.positions import random_start
from biela.model import Model

__all__ = ["best_openings", "openings", "start_openings"]

Floats = npt.NDArray[np.float64]

#: Positions from which the smallest openings are looked for, besides the start.
_STARTS: Final = 8


def start_openings(system: System) -> tuple[Opening, ...]:
    """What the equations of joints miss at the start, by joint, widest first."""
    if not system.geometric:
        return ()
    q = np.array([entry.value for entry in system.q], dtype=float)
    return openings(system, _instant(system).Phi(q))


def best_openings(model: Model) -> tuple[Opening, ...]:
    """How far joints that close loops stay open in the best position that is found.

    The joints of the tree hold, and the squares of what the others miss are made as small as they
    can be, see `reach.nearest`.

    Raises:
        ModelError: The equations of the joints cannot be derived.
    """
    bare = model.in_plane(model.plane) if model.plane else model.in_space()
    bare.drivers, bare.forces, bare.sensors = {}, {}, {}
    system = formulate(bare, "joint")
    if not system.geometric:
        return ()
    start = np.array([entry.value for entry in system.q], dtype=float)
    instant, random = _instant(system), np.random.default_rng(0)
    starts = [start, *(random_start(system, start, random) for _ in range(_STARTS))]
    found = [nearest(instant, q).residual for q in starts]
    return openings(system, min(found, key=lambda Phi: float(Phi @ Phi)))


def openings(system: System, Phi: Floats) -> tuple[Opening, ...]:
    """The joints whose equations are missed, widest first."""
    ways: dict[str, float] = {}
    turns: dict[str, float] = {}
    for name, value in zip(system.multipliers, Phi, strict=False):
        label = name.rpartition(".")[2]
        found = turns if label.startswith("axis_") or label == "angle" else ways
        joint = joint_of(name)
        found[joint] = float(np.hypot(found.get(joint, 0.0), value))
    everyone = [
        Opening(j, ways.get(j, 0.0), float(np.arcsin(min(1.0, turns.get(j, 0.0)))))
        for j in dict.fromkeys([*ways, *turns])
    ]
    wide = [o for o in everyone if max(o.distance, o.angle) > OPEN]
    return tuple(sorted(wide, key=lambda o: -max(o.distance, o.angle)))


def _instant(system: System) -> Instant:
    u = np.array([entry.value for entry in system.u], dtype=float)
    return Instant(system, 0.0, u, np.array([entry.value for entry in system.p], dtype=float))
