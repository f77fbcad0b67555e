"""A chain of bodies in reference-point coordinates, written down function by function.

Each body has its place r and unit quaternion (e0, e), q = (r, e0, e), and the velocities (r', ω′)
with ω′ in its own axes:

    r' = v,     e0' = -e·ω′/2,     e' = (e0 ω′ + e × ω′)/2,
    q ⊕ δ:  r + δ_r,   (e0, e) (cos |δ_ω|/2, δ_ω sinc |δ_ω|/2).

Consecutive bodies share a point and the direction z; the first one sits on the ground.  Bodies are
bars of length 1 along their x axis, with the reference point at the near end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import biela as bl
from biela.atoms import Atom, Direction, jacobian, select, sin, sqrt, substitute
from biela.equations import Quantity

#: A joint of two bodies (0 is the ground) at points on each: the point is shared, and z too.
Joint = tuple[str, int, Sequence[float], int, Sequence[float]]


def chain(
    n: int, laws: Sequence[str | tuple[int, str]] = (), more: Sequence[Joint] = ()
) -> bl.System:
    """N bars, joined by revolutes about z; ``laws`` turn them, as sin(angle - law) = 0.

    A law turns the bar of its number in the list, or the one that it comes with.

    Multipliers are called "J1.x", "J1.y", "J1.z", "J1.xz", "J1.yz" and so on; ``more`` are
    further joints.
    """
    ws = bl.Workspace(f"chain{n}")
    q: list[Atom] = []
    v: list[Atom] = []
    rates: list[Atom] = []
    moved: list[Atom] = []
    delta: list[Atom] = []
    for k in range(1, n + 1):
        r = [ws.symbol(f"x{k}_{i}") for i in range(3)]
        e = [ws.symbol(f"e{k}_{i}") for i in range(4)]
        dr = [ws.symbol(f"v{k}_{i}") for i in range(3)]
        w = [ws.symbol(f"w{k}_{i}") for i in range(3)]
        d = [ws.symbol(f"d{k}_{i}") for i in range(6)]
        q += [*r, *e]
        v += [*dr, *w]
        delta += d
        rates += [*dr, *(x / 2 for x in _product(e, [ws.atom(0), *w]))]
        moved += [a + b for a, b in zip(r, d[:3], strict=True)]
        moved += _product(e, _exponential(ws, d[3:]))
    bodies = [_ground(ws), *((q[7 * k : 7 * k + 3], q[7 * k + 3 : 7 * k + 7]) for k in range(n))]
    joints = [
        (f"J{k}", k - 1, (1.0 if k > 1 else 0.0, 0.0, 0.0), k, (0.0, 0.0, 0.0))
        for k in range(1, n + 1)
    ]
    Phi: list[Atom] = []
    names: list[str] = []
    for name, i, a, j, b in [*joints, *more]:
        Phi += _revolute(bodies[i], a, bodies[j], b)
        names += [f"{name}.{row}" for row in ("x", "y", "z", "xz", "yz")]
    for i, given in enumerate(laws, 1):
        k, law = (i, given) if isinstance(given, str) else given
        # x of the bar along the normal of the wanted direction: Φ = sin(angle - law)
        angle = ws.parse(law)
        x = turned(bodies[k][1], (1.0, 0.0, 0.0))
        Phi.append(x[1] * bl.cos(angle) - x[0] * bl.sin(angle))
        names.append(f"M{i}.angle")
    return assembled_system(ws, n, q, v, delta, rates, moved, Phi, names)


def assembled_system(ws, n, q, v, delta, rates, moved, Phi, names):
    along = Direction(ws, {**dict(zip(q, rates, strict=True)), ws.time: 1})
    dPhi = [along(row) for row in Phi]
    Phi_v = [list(row) for row in jacobian(dPhi, v).rows]
    made = {
        "rates": rates,
        "Phi": Phi,
        "Phi_q": [list(row) for row in jacobian(Phi, q).rows],
        "dPhi": dPhi,
        "Phi_v": Phi_v,
        "beta": [-x for x in substitute(dPhi, dict.fromkeys(v, 0))],
        "gamma": [-along(row) for row in dPhi],
    }
    inputs = {"t": ws.time, "q": q, "v": v, "u": [], "p": []}
    functions = {name: bl.Function(name, inputs, {name: e}) for name, e in made.items()}
    functions["retract"] = bl.Function("retract", {"q": q, "delta": delta}, {"moved": moved})
    straight = [value for k in range(n) for value in (float(k), 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)]
    return bl.System(
        f"chain{n}",
        tuple(Quantity(x.name, value=value) for x, value in zip(q, straight, strict=True)),
        tuple(Quantity(x.name) for x in v),
        multipliers=tuple(names),
        geometric=len(names),
        functions=functions,
    )


def _ground(ws: bl.Workspace) -> tuple[list[Atom], list[Atom]]:
    zero, one = ws.atom(0), ws.atom(1)
    return [zero, zero, zero], [one, zero, zero, zero]


def _product(a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
    """The product of two quaternions."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def _exponential(ws: bl.Workspace, d: Sequence[Atom]) -> list[Atom]:
    """The quaternion of a rotation vector."""
    square = d[0] ** 2 + d[1] ** 2 + d[2] ** 2
    small = square < 1e-8
    half = sqrt(select(small, ws.atom(1.0), square)) / 2
    part = select(small, 0.5 - square / 48, sin(half) / (2 * half))
    return [select(small, 1 - square / 8, bl.cos(half)), *(part * x for x in d)]


def turned(e: Sequence[Atom], s: Sequence[float]) -> list[Atom]:
    """A vector of a body in the ground: (e0² - e·e) s + 2 (e·s) e + 2 e0 e × s."""
    e0, e1, e2, e3 = e
    own = e0**2 - e1**2 - e2**2 - e3**2
    along = 2 * (e1 * s[0] + e2 * s[1] + e3 * s[2])
    cross = [e2 * s[2] - e3 * s[1], e3 * s[0] - e1 * s[2], e1 * s[1] - e2 * s[0]]
    return [own * a + along * b + 2 * e0 * c for a, b, c in zip(s, e[1:], cross, strict=True)]


def _revolute(first, a, second, b):
    at_first = [x + y for x, y in zip(first[0], turned(first[1], a), strict=True)]
    at_second = [x + y for x, y in zip(second[0], turned(second[1], b), strict=True)]
    z = turned(second[1], (0.0, 0.0, 1.0))
    rows = [y - x for x, y in zip(at_first, at_second, strict=True)]
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        across = turned(first[1], axis)
        rows.append(sum((x * y for x, y in zip(across[1:], z[1:], strict=True)), across[0] * z[0]))
    return rows


def folded(angles: Sequence[float]) -> list[float]:
    """Coordinates of a chain whose bars have these angles from the ground."""
    x = y = 0.0
    found: list[float] = []
    for angle in angles:
        found += [x, y, 0.0, math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)]
        x, y = x + math.cos(angle), y + math.sin(angle)
    return found
