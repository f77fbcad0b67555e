"""Which equations of a joint hold by themselves where its markers share a point or an axis.

They are looked at in random poses that share just that, with the bodies free otherwise: a row that
vanishes in all of them needs not be written.  So it is the same for joints that nobody knows yet.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from biela.atoms import Atom, evaluate
from biela.equations.mechanism.placement import Placer
from biela.equations.natural.entities import Floats
from biela.equations.symbolic import SymbolicSystem
from biela.model import Model
from biela.model.joints import Joint
from biela.model.joints.primitives import all_rows
from biela.model.pair import Pair, Place
from biela.model.placing import marker_pose
from biela.model.quantities.values import Value

_SAMPLES: Final = 4
_ZERO: Final = 1e-12


def implied(model: Model, joint: Joint, shared: frozenset[str]) -> list[bool]:
    """For each row of the conditions of a joint, whether what is shared implies it."""
    scratch = SymbolicSystem("pair")

    def number(value: Value, dimension: str) -> object:
        return scratch.workspace.atom(model.number(value, dimension))

    placer = Placer(scratch, number)  # type: ignore[arg-type]
    places, symbols = [], []
    for k, marker in enumerate((joint.i, joint.j)):
        r = scratch.coordinates([f"r{k}{n}" for n in range(3)])
        R = scratch.coordinates([f"R{k}{n}" for n in range(9)])
        base = scratch.base.by_matrix(f"body{k}", [list(R[3 * n : 3 * n + 3]) for n in range(3)])
        point = scratch.origin.offset(f"point{k}", scratch.base.vector(*r))
        places.append(placer.marker(Place(point, base), marker))
        symbols.append([*r, *R])
    pair = Pair(places[0], places[1], number)  # type: ignore[arg-type]
    rows = [row.value for row in all_rows(joint.conditions(), pair)]
    random = np.random.default_rng(0)
    zero = np.zeros((_SAMPLES, len(rows)))
    for n in range(_SAMPLES):
        before = _pose(random)
        after = before @ marker_pose(model, joint.i) @ _gap(random, shared)
        after = after @ np.linalg.inv(marker_pose(model, joint.j))
        at: dict[Atom, float] = {}
        for mine, T in zip(symbols, (before, after), strict=True):
            at |= zip(mine, map(float, [*T[:3, 3], *T[:3, :3].ravel()]), strict=True)
        zero[n] = [evaluate(row, at) for row in rows]
    return [bool(column.max() < _ZERO) for column in np.abs(zero).T]


def _pose(random: np.random.Generator) -> Floats:
    T = np.eye(4)
    Q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    T[:3, :3] = Q * np.sign(np.linalg.det(Q))
    T[:3, 3] = random.uniform(-1, 1, 3)
    return T


def _gap(random: np.random.Generator, shared: frozenset[str]) -> Floats:
    """Marker j seen from marker i."""
    T = _pose(random)
    if "point" in shared:
        T[:3, 3] = 0.0
    if "axis" in shared:
        angle = random.uniform(-3, 3)
        c, s = np.cos(angle), np.sin(angle)
        T[:3, :3] = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
    return T
