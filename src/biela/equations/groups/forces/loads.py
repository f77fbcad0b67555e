"""The load of a body, and its state in reference-point coordinates, from its centre and axes.

The load W is what is applied to a body less its inertia, about the centre of mass and along the
axes of the ground.  In a plane, with cosine c and sine s of the angle of the body,

    ω = c s' - s c',     α = c s'' - s c'',     W = (m (g - a) + F,  M - I α);

in space, with the axes x, y, z of the body and ω and α along them,

    ω = (y'·z, -x'·z, x'·y),     α = (y''·z - ω_y ω_z, -x''·z + ω_x ω_z, x''·y - ω_x ω_y),
    W = (m (g - a) + F,  R (M - I α - ω x I ω)).

A body whose passive spin about its axis u is held turns about it as the coordinates happen to say.
It is taken as it turns in truth, being symmetric about u and started without spin: with s = ω·u,

    ω ← ω - s u,     α ← α - (α·u) u - s ω x u.

F along the ground and M along the axes of the body are what springs, dampers … apply: generalised
forces of the velocities (r', ω), as the blocks of `biela.equations.blocks` write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from biela.atoms import Atom, Workspace, atan2, select, sqrt
from biela.code import Function
from biela.equations.reference_point import NORMAL

__all__ = ["load_kernel", "state_kernel"]


@cache
def load_kernel(plane: str | None, applied: bool, held: bool = False) -> Function:
    """The load of a body.

    Inputs are "y", "dy" and "ddy", its centre, and cosine and sine or its first two axes, with
    their rates (in a plane velocities do not matter); "Q", what is ``applied``; and "p": mass,
    moments (xx, yy, zz, xy, xz, yz) and gravity (3), and for a spin that is ``held`` its axis (3).
    """
    ws = Workspace("load")
    y, dy, ddy = (_motion(ws, plane, d) for d in ("", "d", "dd"))
    p = [ws.parameter(f"p{k}") for k in range(13 if held else 10)]
    size = 6 if plane is None else 3
    Q = [ws.symbol(f"Q{k}") if applied else ws.atom(0) for k in range(size)]
    m, g = p[0], p[7:10]
    if plane is not None:
        along = ["xyz".index(axis) for axis in plane]
        inertia = p[1 + "xyz".index(NORMAL[plane])]
        alpha = y[2] * ddy[3] - y[3] * ddy[2]
        pull = [m * (g[k] - ddy[n]) + Q[n] for n, k in enumerate(along)]
        W = [*pull, Q[2] - inertia * alpha]
    else:
        x, second = y[3:6], y[6:9]
        third = _cross(x, second)
        w, alpha_own = _turning(dy, ddy, x, second, third)
        if held:
            w, alpha_own = _without_spin(w, alpha_own, p[10:])
        I = ((p[1], p[4], p[5]), (p[4], p[2], p[6]), (p[5], p[6], p[3]))
        spin = _cross(w, [_dot(row, w) for row in I])
        own = [Q[3 + k] - _dot(row, alpha_own) - spin[k] for k, row in enumerate(I)]
        moment = [x[k] * own[0] + second[k] * own[1] + third[k] * own[2] for k in range(3)]
        W = [*(m * (g[k] - ddy[k]) + Q[k] for k in range(3)), *moment]
    inputs = {"y": y, "dy": dy, "ddy": ddy, "p": p}
    if plane is not None:
        del inputs["dy"]
    return Function("load", inputs | ({"Q": Q} if applied else {}), {"W": W})


@cache
def state_kernel(plane: str | None, held: bool = False) -> Function:
    """Coordinates q and velocities v of a body in reference-point coordinates, from y and dy.

    Of a spin that is ``held`` the input "p" is the axis.

    The Euler parameters are those of the longest of four equal vectors, so that no digits are
    lost; their sign means nothing.
    """
    ws = Workspace("state")
    y, dy = _motion(ws, plane, ""), _motion(ws, plane, "d")
    if plane is not None:
        omega = y[2] * dy[3] - y[3] * dy[2]
        q, v = [y[0], y[1], atan2(y[3], y[2])], [dy[0], dy[1], omega]
        return Function("state", {"y": y, "dy": dy}, {"q": q, "v": v})
    x, second = y[3:6], y[6:9]
    third = _cross(x, second)
    w, _ = _turning(dy, dy, x, second, third)
    inputs = {"y": y, "dy": dy}
    if held:
        inputs["p"] = [ws.parameter(f"u{k}") for k in range(3)]
        w, _ = _without_spin(w, w, inputs["p"])
    q = [*y[:3], *_euler_parameters([[x[k], second[k], third[k]] for k in range(3)])]
    return Function("state", inputs, {"q": q, "v": [*dy[:3], *w]})


def _motion(ws: Workspace, plane: str | None, rate: str) -> list[Atom]:
    return [ws.symbol(f"{rate}y{k}") for k in range(9 if plane is None else 4)]


def _turning(
    dy: Sequence[Atom],
    ddy: Sequence[Atom],
    x: Sequence[Atom],
    y: Sequence[Atom],
    z: Sequence[Atom],
) -> tuple[list[Atom], list[Atom]]:
    """ω and α along the axes of the body."""
    w = [_dot(dy[6:9], z), -_dot(dy[3:6], z), _dot(dy[3:6], y)]
    alpha = [
        _dot(ddy[6:9], z) - w[1] * w[2],
        w[0] * w[2] - _dot(ddy[3:6], z),
        _dot(ddy[3:6], y) - w[0] * w[1],
    ]
    return w, alpha


def _without_spin(
    w: list[Atom], alpha: list[Atom], u: Sequence[Atom]
) -> tuple[list[Atom], list[Atom]]:
    """ω and α of a body that does not spin about u."""
    s, turned = _dot(w, u), _cross(w, u)
    along = _dot(alpha, u)
    return (
        [a - s * b for a, b in zip(w, u, strict=True)],
        [a - along * b - s * c for a, b, c in zip(alpha, u, turned, strict=True)],
    )


def _euler_parameters(R: list[list[Atom]]) -> list[Atom]:
    trace = R[0][0] + R[1][1] + R[2][2]
    w = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]
    squares = [1 + trace, *(1 + 2 * R[k][k] - trace for k in range(3))]
    # row k is 4 e_k e
    rows = [[squares[0], *w]]
    for k in range(3):
        others = [squares[k + 1] if j == k else R[j][k] + R[k][j] for j in range(3)]
        rows.append([w[k], *others])
    best, longest = rows[0], squares[0]
    for row, square in zip(rows[1:], squares[1:], strict=True):
        better = square > longest
        best = [select(better, a, b) for a, b in zip(row, best, strict=True)]
        longest = select(better, square, longest)
    size = sqrt(_dot(best, best))
    return [e / size for e in best]


def _dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def _cross(a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
