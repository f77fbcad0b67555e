"""Closed forms of the four-bar, its chain and the spatial slider: position, velocity, acceleration.

No equation is solved here: circles are intersected, and the slider follows from Pythagoras.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Motion(NamedTuple):
    """Something over time with its first two derivatives."""

    x: Floats
    v: Floats
    a: Floats


def crank(angle: Motion, length: float, centre: tuple[float, float] = (0.0, 0.0)) -> Motion:
    """The tip of a crank that turns by ``angle``: each of shape (…, 2)."""
    e = np.stack([np.cos(angle.x), np.sin(angle.x)], axis=-1)
    n = np.stack([-np.sin(angle.x), np.cos(angle.x)], axis=-1)
    w, dw = np.asarray(angle.v)[..., None], np.asarray(angle.a)[..., None]
    return Motion(np.asarray(centre) + length * e, length * w * n, length * (dw * n - w * w * e))


def dyad(B: Motion, D: Motion, b: float, c: float, branch: float = 1.0) -> Motion:
    """The middle joint of two bars ``b`` and ``c`` between the moving points B and D.

    C = B + a u + h n, with u along BD, n a quarter turn to its left, a = (d² + b² - c²) / 2d and
    h² = b² - a²; ``branch`` is the sign of h.  The derivatives are those of this very expression.
    """
    d, dv, da = (np.asarray(q - p) for p, q in zip(B, D, strict=True))
    f = np.sum(d * d, axis=-1)
    fv = 2 * np.sum(d * dv, axis=-1)
    fa = 2 * np.sum(dv * dv + d * da, axis=-1)
    # C - B = p d + q n with n = d turned: p = (1 + (b² - c²) / f) / 2, q² = b² / f - p²
    k = b * b - c * c
    p, pv, pa = (1 + k / f) / 2, -k * fv / (2 * f**2), -k * (fa / f**2 - 2 * fv**2 / f**3) / 2
    g = b * b / f - p * p
    gv = -b * b * fv / f**2 - 2 * p * pv
    ga = -b * b * (fa / f**2 - 2 * fv**2 / f**3) - 2 * (pv * pv + p * pa)
    q = branch * np.sqrt(g)
    qv = gv / (2 * q)
    qa = (ga - 2 * qv * qv) / (2 * q)
    n, nv, na = (_turned(w) for w in (d, dv, da))
    p, pv, pa, q, qv, qa = (w[..., None] for w in (p, pv, pa, q, qv, qa))
    return Motion(
        B.x + p * d + q * n,
        B.v + pv * d + p * dv + qv * n + q * nv,
        B.a + pa * d + 2 * pv * dv + p * da + qa * n + 2 * qv * nv + q * na,
    )


def _turned(w: Floats) -> Floats:
    return np.stack([-w[..., 1], w[..., 0]], axis=-1)


def at_rest(point: tuple[float, float], like: Motion) -> Motion:
    """A point that stays where it is, over the instants of another."""
    still = np.zeros_like(like.x)
    return Motion(still + np.asarray(point), still, still)


def four_bar(
    angle: Motion, crank_length: float, coupler: float, rocker: float, B: tuple[float, float]
) -> tuple[Motion, Motion]:
    """Both moving joints of a four-bar hinged at the origin and at B, coupler above the line."""
    P1 = crank(angle, crank_length)
    return P1, dyad(P1, at_rest(B, P1), coupler, rocker)


def chain_joint(angle: Motion, k: int) -> Motion:
    """Joint C_k of the chain of four-bars (E3): C_1 moved along, the dyads being parallelograms."""
    _, C = four_bar(angle, 2.0, 6.0, 6.0, (6.0, 0.0))
    return Motion(C.x + np.array([6.0 * (k - 1), 0.0]), C.v, C.a)


def inclined_crank(angle: Motion, length: float, beta: float) -> Motion:
    """The pin of a crank whose axis (cos β, -sin β, 0) lies in the xy plane: each (…, 3).

    The angle is counted about that axis from the z axis: r = L (-sin β s, -cos β s, c).
    """
    s, c = np.sin(angle.x), np.cos(angle.x)
    sb, cb = np.sin(beta), np.cos(beta)
    r = length * np.stack([-sb * s, -cb * s, c], axis=-1)
    dr = length * np.stack([-sb * c, -cb * c, -s], axis=-1)
    w, dw = np.asarray(angle.v)[..., None], np.asarray(angle.a)[..., None]
    return Motion(r, dr * w, dr * dw - r * w * w)


def slider_on_rail(P: Motion, rod: float, e: Floats, origin: Floats) -> Motion:
    """Distance s along the rail (``origin`` + s e) of a slider a rod away from the point P.

    s = p·e + D with p = P - origin and D² = L² - |p - (p·e) e|², on the far side of P.
    """
    e = np.asarray(e, dtype=float)
    p, dp, ddp = np.asarray(P.x - origin), P.v, P.a
    u, du, ddu = p @ e, dp @ e, ddp @ e
    w, dw, ddw = (m - (m @ e)[..., None] * e for m in (p, dp, ddp))
    D = np.sqrt(rod * rod - np.sum(w * w, axis=-1))
    dD = -np.sum(w * dw, axis=-1) / D
    ddD = -(np.sum(dw * dw + w * ddw, axis=-1) + dD * dD) / D
    return Motion(u + D, du + dD, ddu + ddD)
