"""The articulated arm of Peinado 2016, §3.3, in seven coordinates a link, as the source has it.

Links: ground, column, upper arm and forearm (2 m each), the shoulder 4 m above the ground; each has
its place and four Euler parameters as plain coordinates.  28 equations: the ground (6), three
revolutes (5 each), the tip at (X, 0, 4) (3) and the norms of the parameters (4).
"""

from __future__ import annotations

import math

import numpy as np

import biela as bl
from biela.atoms import Atom, Direction, jacobian, substitute
from biela.equations import Quantity
from tests.analysis.chain_of_bodies import turned

#: Joints: links i and j; point and two directions on i, point and axis on j.
JOINTS = {
    "base": (0, 1, (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0), (0, 0, 1)),
    "shoulder": (1, 2, (0, 0, 4), (1, 0, -4), (0, 0, 1), (0, 0, 0), (0, 1, 0)),
    "elbow": (2, 3, (2, 0, 0), (1, 0, 0), (0, 0, 1), (-2, 0, 0), (0, 1, 0)),
}


def arm(law: str = "X") -> bl.System:
    """The arm, starting with its tip 1 m from the column; ``law`` drives x of the tip."""
    ws = bl.Workspace("arm")
    links = [
        ([ws.symbol(f"r{k}_{i}") for i in range(3)], [ws.symbol(f"p{k}_{i}") for i in range(4)])
        for k in range(1, 5)
    ]
    q = [x for r, p in links for x in (*r, *p)]
    v = [ws.symbol(f"{x.name}_rate") for x in q]
    (X,) = ws.parameters("X")
    Phi: list[Atom] = [*links[0][0], *links[0][1][1:]]
    names = [f"ground.{k}" for k in range(6)]
    for name, (i, j, P, a, b, Q, c) in JOINTS.items():
        first, second = _point(links[i], P), _point(links[j], Q)
        axis = turned(links[j][1], _real(c))
        Phi += [y - x for x, y in zip(first, second, strict=True)]
        Phi += [_dot(turned(links[i][1], _real(side)), axis) for side in (a, b)]
        names += [f"{name}.{row}" for row in ("x", "y", "z", "ac", "bc")]
    tip = [y - x for x, y in zip(links[0][0], links[3][0], strict=True)]
    Phi += [tip[0] - ws.parse(law), tip[1], tip[2] - 4]
    names += ["drive x", "drive y", "drive z"]
    Phi += [_dot(p[1:], p[1:]) + p[0] ** 2 - 1 for _, p in links]
    names += [f"norm.{k}" for k in range(1, 5)]
    along = Direction(ws, {**dict(zip(q, v, strict=True)), ws.time: 1})
    dPhi = [along(row) for row in Phi]
    made = {
        "Phi": Phi,
        "Phi_q": [list(row) for row in jacobian(Phi, q).rows],
        "dPhi": dPhi,
        "Phi_v": [list(row) for row in jacobian(dPhi, v).rows],
        "beta": [-e for e in substitute(dPhi, dict.fromkeys(v, 0))],
        "gamma": [-along(row) for row in dPhi],
    }
    inputs = {"t": ws.time, "q": q, "v": v, "u": [], "p": [X]}
    return bl.System(
        "arm",
        tuple(Quantity(x.name, value=y) for x, y in zip(q, start(), strict=True)),
        tuple(Quantity(x.name) for x in v),
        p=(Quantity("X", "m", 1.0),),
        multipliers=tuple(names),
        geometric=28,
        functions={name: bl.Function(name, inputs, {name: e}) for name, e in made.items()},
    )


def start() -> list[float]:
    """The coordinates with the tip at (1, 0, 4)."""
    half = math.acos(0.25) / 2
    c, s = math.cos(half), math.sin(half)
    still = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return [*still, *still, 0.0, 0.0, 4.0, c, 0.0, -s, 0.0, 1.0, 0.0, 4.0, c, 0.0, s, 0.0]


def _real(s: tuple[int, ...]) -> list[float]:
    return [float(x) for x in np.asarray(s)]


def _point(link: tuple[list[Atom], list[Atom]], s: tuple[int, ...]) -> list[Atom]:
    return [a + b for a, b in zip(link[0], turned(link[1], _real(s)), strict=True)]


def _dot(a: list[Atom], b: list[Atom]) -> Atom:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
