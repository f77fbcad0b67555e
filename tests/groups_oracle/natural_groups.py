"""Structural groups in natural coordinates: 3R, 2S1P (four or eight unknowns), linear actuator.

Every matrix is typed from the equations, none is derived; see the specification of the structural
groups, sections 5.4, 11 (E8) and 12.A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.groups_oracle.constraint_set import ConstraintSet
from tests.groups_oracle.natural import cross, dot, minus, skew

Floats = npt.NDArray[np.float64]


def dyad_3r(b: float, c: float) -> ConstraintSet:
    """φ = C, h = (B, D): |C-B|² = b², |C-D|² = c²."""

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        p, q = minus(f, h[:2]), minus(f, h[2:])
        return [dot(p, p) - b * b, dot(q, q) - c * c]

    def dependent(f: Floats, h: Floats) -> Floats:
        return 2 * np.array([f - h[:2], f - h[2:]])

    def independent(f: Floats, h: Floats) -> Floats:
        J = np.zeros((2, 4))
        J[0, :2], J[1, 2:] = -2 * (f - h[:2]), -2 * (f - h[2:])
        return J

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        p, q = fv - hv[:2], fv - hv[2:]
        return np.array([2 * p @ p, 2 * q @ q])

    return ConstraintSet("3R natural", phi, dependent, independent, convective)


def slider_dyad(
    rod: float, r40: Sequence[float], e: Sequence[float], second: float | None = None
) -> ConstraintSet:
    """NAT4: φ = (C, s), h = B.  NAT8 with ``second``: φ = (C, s, D, t), |D - C| = ``second``.

    Of the product (C - r40) × e those two components are kept that are not along the largest
    component of e: the third follows from them.
    """
    ex = np.asarray(e, dtype=float)
    kept = [i for i in range(3) if i != int(np.argmax(np.abs(ex)))]
    across = -skew(ex)[kept]  # (p × e)_i = -(e × p)_i
    size = 4 if second is None else 8

    def point(f: Sequence[Any], to: Sequence[Any], length: float) -> list[Any]:
        d, p = minus(f[:3], to), minus(f[:3], r40)
        product = cross(p, list(ex))
        return [dot(d, d) - length**2, *(product[i] for i in kept), f[3] - dot(p, list(ex))]

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        rows = point(f[:4], h, rod)
        return rows if second is None else [*rows, *point(f[4:], f[:3], second)]

    def dependent(f: Floats, h: Floats) -> Floats:
        J = np.zeros((size, size))
        for o in range(0, size, 4):
            d = f[o : o + 3] - (h if o == 0 else f[:3])
            J[o, o : o + 3] = 2 * d
            if o:
                J[o, :3] = -2 * d
            J[o + 1 : o + 3, o : o + 3] = across
            J[o + 3, o : o + 4] = *-ex, 1.0
        return J

    def independent(f: Floats, h: Floats) -> Floats:
        J = np.zeros((size, 3))
        J[0] = -2 * (f[:3] - h)
        return J

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        c, u = np.zeros(size), fv[:3] - hv
        c[0] = 2 * u @ u
        if second is not None:
            w = fv[4:7] - fv[:3]
            c[4] = 2 * w @ w
        return c

    name = "2S1P natural, " + ("4 unknowns" if second is None else "8 unknowns")
    return ConstraintSet(name, phi, dependent, independent, convective)


def linear_actuator(cosines: Mapping[str, float], redundant: bool = True) -> ConstraintSet:
    """φ = (v1, …, v5, s), h = (P0, P1, v6, v7): the nineteen equations of section 12.A.

    Without the ``redundant`` rows 12 to 14, which 17 to 19 imply, sixteen are left.
    """
    pairs = [(0, 1, "v1v2"), (0, 2, "v1v3"), (1, 2, "v2v3")]
    more = [(0, 3, "v1v4"), (0, 4, "v1v5"), (3, 4, "v4v5")]
    kept = [i for i in range(19) if redundant or not 11 <= i < 14]

    def parts(f: Any) -> list[Any]:
        return [f[3 * i : 3 * i + 3] for i in range(5)]

    def phi(f: Sequence[Any], h: Sequence[Any]) -> list[Any]:
        v, s = parts(f), f[15]
        P0, P1, v6, v7 = h[:3], h[3:6], h[6:9], h[9:]
        rows = [dot(v[i], v[i]) - 1 for i in range(3)]
        rows += [dot(v[i], v[j]) - cosines[key] for i, j, key in pairs]
        rows += [dot(v[i], v[i]) - 1 for i in (3, 4)]
        rows += [dot(v[i], v[j]) - cosines[key] for i, j, key in more]
        rows += cross(v[0], minus(P0, P1))
        rows += [dot(v[2], v6), dot(v[4], v7)]
        rows += [p - s * u for p, u in zip(minus(P1, P0), v[0], strict=True)]
        return [rows[i] for i in kept]

    def dependent(f: Floats, h: Floats) -> Floats:
        v, s, J = parts(f), f[15], np.zeros((19, 16))
        unit = {0: 0, 1: 1, 2: 2, 6: 3, 7: 4}
        for row, i in unit.items():
            J[row, 3 * i : 3 * i + 3] = 2 * v[i]
        for row, (i, j, _) in zip((3, 4, 5, 8, 9, 10), pairs + more, strict=True):
            J[row, 3 * i : 3 * i + 3], J[row, 3 * j : 3 * j + 3] = v[j], v[i]
        d = h[3:6] - h[:3]
        J[11:14, :3] = [[0, -d[2], d[1]], [d[2], 0, -d[0]], [-d[1], d[0], 0]]
        J[14, 6:9], J[15, 12:15] = h[6:9], h[9:]
        J[16:19, :3], J[16:19, 15] = -s * np.eye(3), -v[0]
        return J[kept]

    def independent(f: Floats, h: Floats) -> Floats:
        v, J = parts(f), np.zeros((19, 12))
        x, y, z = v[0]
        J[11:14, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        J[11:14, 3:6] = -J[11:14, :3]
        J[14, 6:9], J[15, 9:12] = v[2], v[4]
        J[16:19, :3], J[16:19, 3:6] = -np.eye(3), np.eye(3)
        return J[kept]

    def convective(f: Floats, h: Floats, fv: Floats, hv: Floats) -> Floats:
        w, c = parts(fv), np.zeros(19)
        for row, i in {0: 0, 1: 1, 2: 2, 6: 3, 7: 4}.items():
            c[row] = 2 * w[i] @ w[i]
        for row, (i, j, _) in zip((3, 4, 5, 8, 9, 10), pairs + more, strict=True):
            c[row] = 2 * w[i] @ w[j]
        c[11:14] = 2 * np.cross(w[0], hv[:3] - hv[3:6])
        c[14], c[15] = 2 * w[2] @ hv[6:9], 2 * w[4] @ hv[9:]
        c[16:19] = -2 * fv[15] * w[0]
        return c[kept]

    return ConstraintSet("linear actuator", phi, dependent, independent, convective)


def actuator_guess(P0: Floats, P1: Floats, v6: Floats, v7: Floats) -> Floats:
    """The start of section E8: frames square on the line from P0 to P1."""
    d = np.asarray(P1, dtype=float) - P0
    v1 = d / np.linalg.norm(d)
    v3, v5 = (np.cross(v, v1) for v in (v6, v7))
    v3, v5 = v3 / np.linalg.norm(v3), v5 / np.linalg.norm(v5)
    return np.concatenate([v1, np.cross(v3, v1), v3, np.cross(v5, v1), v5, [np.linalg.norm(d)]])
