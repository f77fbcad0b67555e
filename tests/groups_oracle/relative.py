"""Relative coordinates: loop closure of whole mechanisms, and structural groups.

Every matrix is typed from the equations, none is derived; see the specification of the structural
groups, sections 6.4, 6.5, 7.2 to 7.6 and 12.B to 12.D.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.groups_oracle import hyper_dual as hd
from tests.groups_oracle.constraint_set import ConstraintSet, Motion, Solution

Floats = npt.NDArray[np.float64]
ROOT = sqrt(3.0) / 2


# --- loop closure, no groups --------------------------------------------------------------------


def four_bar_loop(L2: float, L3: float, L4: float, x3: float, y3: float) -> ConstraintSet:
    """φ = (φ3, φ4), relative angles; h = (φ2).  Eqs (43), (57) to (59)."""

    def angles(f: Any, h: Any) -> tuple[Any, Any]:
        return h[0] + f[0], h[0] + f[0] + f[1]

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        b, c = angles(f, h)
        return [
            L2 * hd.cos(h[0]) + L3 * hd.cos(b) + L4 * hd.cos(c) - x3,
            L2 * hd.sin(h[0]) + L3 * hd.sin(b) + L4 * hd.sin(c) - y3,
        ]

    def dependent(f: Floats, h: Floats) -> Floats:
        b, c = angles(f, h)
        return np.array(
            [
                [-L3 * sin(b) - L4 * sin(c), -L4 * sin(c)],
                [L3 * cos(b) + L4 * cos(c), L4 * cos(c)],
            ]
        )

    def independent(f: Floats, h: Floats) -> Floats:
        b, c = angles(f, h)
        return np.array(
            [
                [-L2 * sin(h[0]) - L3 * sin(b) - L4 * sin(c)],
                [L2 * cos(h[0]) + L3 * cos(b) + L4 * cos(c)],
            ]
        )

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        (b, c), (db, dc), w = angles(f, h), angles(fv, hv), hv[0]
        return -np.array(
            [
                L2 * cos(h[0]) * w**2 + L3 * cos(b) * db**2 + L4 * cos(c) * dc**2,
                L2 * sin(h[0]) * w**2 + L3 * sin(b) * db**2 + L4 * sin(c) * dc**2,
            ]
        )

    return ConstraintSet("four-bar loop", phi, dependent, independent, convective)


def four_bar_points(L2: float, L3: float, found: Solution, driver: Motion) -> tuple[Motion, Motion]:
    """The moving joints of the four-bar out of its relative angles: eqs (42), (56), (60)."""
    p, w, d = (float(driver[k][0]) for k in range(3))
    b, db, ddb = (float(driver[k][0] + found[k][0]) for k in range(3))
    e, n = np.array([cos(p), sin(p)]), np.array([-sin(p), cos(p)])
    eb, nb = np.array([cos(b), sin(b)]), np.array([-sin(b), cos(b)])
    first = Motion(L2 * e, L2 * w * n, L2 * (d * n - w * w * e))
    second = Motion(
        first.x + L3 * eb, first.v + L3 * db * nb, first.a + L3 * (ddb * nb - db * db * eb)
    )
    return first, second


def slider_loop(L1: float, L2: float) -> ConstraintSet:
    """φ = (θ2, ψ2, r3x) in the frame of the crank; h = (φ1); ψ1 = -30°: eq (54), section 12.B."""

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        (st, ct), (sp, cp) = ((hd.sin(x), hd.cos(x)) for x in f[:2])
        s, c = hd.sin(h[0]), hd.cos(h[0])
        return [
            L2 * (0.5 * s * st + ROOT * cp * ct + 0.5 * c * ct * sp) - 0.5 * L1 * s - f[2],
            L2 * (ROOT * s * st - 0.5 * cp * ct + ROOT * c * ct * sp) - ROOT * L1 * s,
            L1 * c - L2 * (c * st - ct * s * sp),
        ]

    def dependent(f: Floats, h: Floats) -> Floats:
        (st, ct), (sp, cp), (s, c) = ((sin(x), cos(x)) for x in (f[0], f[1], h[0]))
        return np.array(
            [
                [
                    -L2 * (ROOT * cp * st - ct * s / 2 + c * sp * st / 2),
                    -L2 * (ROOT * ct * sp - c * cp * ct / 2),
                    -1,
                ],
                [
                    L2 * (cp * st / 2 + ROOT * ct * s - ROOT * c * sp * st),
                    L2 * (ct * sp / 2 + ROOT * c * cp * ct),
                    0,
                ],
                [-L2 * (c * ct + s * sp * st), L2 * cp * ct * s, 0],
            ]
        )

    def independent(f: Floats, h: Floats) -> Floats:
        (st, ct), sp, (s, c) = (sin(f[0]), cos(f[0])), sin(f[1]), (sin(h[0]), cos(h[0]))
        k = L2 * (c * st - ct * s * sp) - L1 * c
        return np.array([[k / 2], [ROOT * k], [L2 * (s * st + c * ct * sp) - L1 * s]])

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        (st, ct), (sp, cp), (s, c) = ((sin(x), cos(x)) for x in (f[0], f[1], h[0]))
        t, p, w = fv[0], fv[1], hv[0]  # rates of θ2, ψ2, φ1
        A11 = (
            w
            * (
                L1 * w * s / 2
                + L2 * t * c * ct / 2
                - L2 * w * s * st / 2
                - L2 * w * c * ct * sp / 2
                - L2 * p * cp * ct * s / 2
                + L2 * t * s * sp * st / 2
            )
            - L2
            * p
            * (
                w * cp * ct * s / 2
                + p * c * ct * sp / 2
                + t * c * cp * st / 2
                + ROOT * p * cp * ct
                - ROOT * t * sp * st
            )
            - L2
            * t
            * (
                t * s * st / 2
                - w * c * ct / 2
                + p * c * cp * st / 2
                + t * c * ct * sp / 2
                - w * s * sp * st / 2
                + ROOT * t * cp * ct
                - ROOT * p * sp * st
            )
        )
        inner = w * s * st - t * c * ct + w * c * ct * sp + p * cp * ct * s - t * s * sp * st
        A21 = (
            -w * (ROOT * L2 * inner - ROOT * L1 * w * s)
            - L2
            * t
            * (
                p * sp * st / 2
                - t * cp * ct / 2
                + ROOT
                * (-w * c * ct + t * s * st + p * c * cp * st + t * c * ct * sp - w * s * sp * st)
            )
            - L2
            * p
            * (
                t * sp * st / 2
                - p * cp * ct / 2
                + ROOT * (w * cp * ct * s + p * c * ct * sp + t * c * cp * st)
            )
        )
        A31 = (
            -p * (L2 * p * ct * s * sp - L2 * w * c * cp * ct + L2 * t * cp * s * st)
            - w
            * (
                L1 * w * c
                - L2 * w * c * st
                - L2 * t * ct * s
                - L2 * p * c * cp * ct
                + L2 * w * ct * s * sp
                + L2 * t * c * sp * st
            )
            - L2
            * t
            * (w * c * sp * st - t * c * st - w * ct * s + p * cp * s * st + t * ct * s * sp)
        )
        return np.array([A11, A21, A31])

    return ConstraintSet("slider loop", phi, dependent, independent, convective)


# --- structural groups --------------------------------------------------------------------------


def _turn(angle: Any, d: Sequence[float]) -> list[Any]:
    c, s = hd.cos(angle), hd.sin(angle)
    return [d[0] * c - d[1] * s, d[0] * s + d[1] * c]


def dyad_3r(d1: Sequence[float], d2: Sequence[float]) -> ConstraintSet:
    """φ = (φ1, φ2), absolute; h = (r2, r3), both outer joints: Φ = r2 - r3 - R(φ1)Δ1 - R(φ2)Δ2.

    With Δ1 = (L1, 0), Δ2 = (L2, 0) the frames lie along the bars (section 7.4); any other Δ is the
    general case of section 7.3.
    """

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        a, b = _turn(f[0], d1), _turn(f[1], d2)
        return [h[k] - h[2 + k] - a[k] - b[k] for k in range(2)]

    def dependent(f: Floats, h: Floats) -> Floats:
        a, b = _turn(f[0], d1), _turn(f[1], d2)
        return np.array([[a[1], b[1]], [-a[0], -b[0]]])

    def independent(f: Floats, h: Floats) -> Floats:
        return np.hstack([np.eye(2), -np.eye(2)])

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        a, b = _turn(f[0], d1), _turn(f[1], d2)
        return np.array(a) * fv[0] ** 2 + np.array(b) * fv[1] ** 2

    return ConstraintSet("3R relative", phi, dependent, independent, convective)


def point_of_bar(
    start: Motion, angle: Sequence[float], offset: Sequence[float], body: int = 0
) -> Motion:
    """r = r3 + R(φ) s with its rates; ``angle`` holds φ, φ̇, φ̈ (a `Solution` of the dyad)."""
    p, w, d = (float(np.atleast_1d(angle[k])[body]) for k in range(3))
    e = np.array(_turn(p, offset))
    n = np.array([-e[1], e[0]])
    return Motion(start.x + e, start.v + w * n, start.a + d * n - w * w * e)


def _direction(theta: Any, psi: Any) -> list[Any]:
    """The x axis after Rz(ψ) Ry(θ)."""
    st, ct, sp, cp = hd.sin(theta), hd.cos(theta), hd.sin(psi), hd.cos(psi)
    return [cp * ct, ct * sp, -st]


def slider_dyad(rod: float) -> ConstraintSet:
    """φ = (θ2, ψ2, r4); h = (r1, r40, θ4, ψ4): rod end, point and angles of a rail that may move.

    Φ = r1 + L d(θ2, ψ2) - r40 - r4 e(θ4, ψ4), eqs (76) to (79) for the rail at rest.
    """

    def columns(theta: float, psi: float) -> tuple[Floats, Floats]:
        st, ct, sp, cp = sin(theta), cos(theta), sin(psi), cos(psi)
        return np.array([-cp * st, -sp * st, -ct]), np.array([-ct * sp, ct * cp, 0.0])

    def swirl(theta: float, psi: float, t: float, p: float) -> Floats:
        """The part of d̈ that is quadratic in the rates."""
        st, ct, sp, cp = sin(theta), cos(theta), sin(psi), cos(psi)
        q = p * p + t * t
        return np.array(
            [
                -cp * ct * q + 2 * sp * st * p * t,
                -sp * ct * q - 2 * cp * st * p * t,
                st * t * t,
            ]
        )

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        d, e = _direction(f[0], f[1]), _direction(h[6], h[7])
        return [h[k] + rod * d[k] - h[3 + k] - f[2] * e[k] for k in range(3)]

    def dependent(f: Floats, h: Floats) -> Floats:
        a, b = columns(f[0], f[1])
        e = np.array(_direction(h[6], h[7]))
        return np.stack([rod * a, rod * b, -e], axis=1)

    def independent(f: Floats, h: Floats) -> Floats:
        a, b = columns(h[6], h[7])
        return np.column_stack([np.eye(3), -np.eye(3), -f[2] * a, -f[2] * b])

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        a, b = columns(h[6], h[7])
        rail = f[2] * swirl(h[6], h[7], hv[6], hv[7]) + 2 * fv[2] * (a * hv[6] + b * hv[7])
        return rod * swirl(f[0], f[1], fv[0], fv[1]) - rail

    return ConstraintSet("2S1P relative", phi, dependent, independent, convective)
