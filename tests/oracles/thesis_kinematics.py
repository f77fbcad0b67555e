"""The kinematics of Peinado's thesis in plain numpy, as an oracle: seven coordinates a link.

    q_i = (r, p),  p = (e0, e),     Φ = (ground 6, joints, drivers, normalisation) = 0,
    Φ_q q' = ν,     Φ_q q'' = γ,

solved by Newton's method with a pseudo-inverse by singular values.  It shares no code with biela
and works on the rows of numbers of the thesis's text files.  The printed equations are corrected:
A is the homogeneous form E Gᵀ, B = d(A s)/dp, and every γ is the one that belongs to that B
("pair H": h(s) = B(p', s) p'); see the errata of the thesis in the notes to each function.

The constraints are the four of the thesis, DP1, DP2, D and CD, and what it composes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: A law and its first two derivatives at a time.
Law = Callable[[float], tuple[float, float, float]]

# --- Euler parameters -----------------------------------------------------------------------------


def skew(x: Floats) -> Floats:
    """The matrix x~ with x~ y = x × y."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def A(p: Floats) -> Floats:
    """The rotation matrix in homogeneous form, (e0² - e·e) 1 + 2 e eᵀ + 2 e0 e~ = E Gᵀ."""
    e0, e = p[0], p[1:]
    return (e0**2 - e @ e) * np.eye(3) + 2 * np.outer(e, e) + 2 * e0 * skew(e)


def A_printed(p: Floats) -> Floats:
    """The form that the thesis prints, (2 e0² - 1) 1 + 2 (e eᵀ + e0 e~): equal where pᵀp = 1."""
    e0, e = p[0], p[1:]
    return (2 * e0**2 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * skew(e))


def E(p: Floats) -> Floats:
    """The matrix with ω = 2 E p' along the fixed axes."""
    return np.column_stack([-p[1:], skew(p[1:]) + p[0] * np.eye(3)])


def G(p: Floats) -> Floats:
    """The matrix with ω' = 2 G p' along the axes of the body."""
    return np.column_stack([-p[1:], -skew(p[1:]) + p[0] * np.eye(3)])


def B(p: Floats, s: Floats) -> Floats:
    """d(A s)/dp, which the thesis uses and does not define."""
    turn = p[0] * np.eye(3) + skew(p[1:])
    return 2 * np.column_stack([turn @ s, np.outer(p[1:], s) - turn @ skew(s)])


# --- constraints ----------------------------------------------------------------------------------


def constant(value: float) -> Law:
    return lambda t: (value, 0.0, 0.0)


@cache
def _halved(s: tuple[float, ...]) -> Floats:
    """K(s) with A(p) s = K p p, so that B(p, s) = 2 K p: B is linear in p.  For speed only."""
    return np.stack([B(e, np.array(s)) / 2 for e in np.eye(4)], axis=-1)


class State:
    """A link with its velocity: place, Euler parameters and their rates."""

    def __init__(self, q: Floats, dq: Floats) -> None:
        self.r, self.p, self.dr, self.dp = q[:3], q[3:], dq[:3], dq[3:]

    def B(self, s: Floats) -> Floats:
        return 2 * _halved(tuple(s)) @ self.p

    def turned(self, a: Floats) -> Floats:
        return _halved(tuple(a)) @ self.p @ self.p

    def place(self, s: Floats) -> Floats:
        return self.r + self.turned(s)

    def turning(self, a: Floats) -> Floats:
        return self.B(a) @ self.dp

    def speed(self, s: Floats) -> Floats:
        return self.dr + self.turning(s)

    def h(self, s: Floats) -> Floats:
        """What is left of (A s)'' without p'': B(p', s) p'."""
        return 2 * _halved(tuple(s)) @ self.dp @ self.dp


@dataclass(frozen=True)
class Row:
    """Φ, its Jacobian as blocks r_i, p_i, r_j, p_j, and ν and γ of one equation."""

    Phi: float
    blocks: tuple[Floats, Floats, Floats, Floats]
    nu: float
    gamma: float


@dataclass(frozen=True)
class Constraint:
    """One of the four, between links i and j, the ground being 1."""

    i: int
    j: int

    def row(self, i: State, j: State, t: float) -> Row:
        raise NotImplementedError


@dataclass(frozen=True)
class DP1(Constraint):
    """a_i · a_j = f.  (γ of the thesis has w_i~ w_j~ for w_i~ w_i~; its Jacobian local vectors.)"""

    a_i: Floats
    a_j: Floats
    law: Law

    def row(self, i: State, j: State, t: float) -> Row:
        f, df, ddf = self.law(t)
        a, b = i.turned(self.a_i), j.turned(self.a_j)
        none = np.zeros(3)
        gamma = -a @ j.h(self.a_j) - b @ i.h(self.a_i) + ddf
        gamma -= 2 * i.turning(self.a_i) @ j.turning(self.a_j)
        blocks = (none, b @ i.B(self.a_i), none, a @ j.B(self.a_j))
        return Row(a @ b - f, blocks, df, gamma)


@dataclass(frozen=True)
class DP2(Constraint):
    """a_i · d = f with d from P_i to Q_j.  (The thesis adds A_i s_i to d instead of taking it.)"""

    a_i: Floats
    s_i: Floats
    s_j: Floats
    law: Law

    def row(self, i: State, j: State, t: float) -> Row:
        f, df, ddf = self.law(t)
        a, d = i.turned(self.a_i), j.place(self.s_j) - i.place(self.s_i)
        blocks = (
            -a,
            d @ i.B(self.a_i) - a @ i.B(self.s_i),
            a,
            a @ j.B(self.s_j),
        )
        gamma = -a @ (j.h(self.s_j) - i.h(self.s_i)) - d @ i.h(self.a_i) + ddf
        gamma -= 2 * i.turning(self.a_i) @ (j.speed(self.s_j) - i.speed(self.s_i))
        return Row(a @ d - f, blocks, df, gamma)


@dataclass(frozen=True)
class D(Constraint):
    """d · d = L², the law being that of the length L.  (p_i block of the thesis: sign, factor.)"""

    s_i: Floats
    s_j: Floats
    law: Law

    def row(self, i: State, j: State, t: float) -> Row:
        L, dL, ddL = self.law(t)
        d = j.place(self.s_j) - i.place(self.s_i)
        rate = j.speed(self.s_j) - i.speed(self.s_i)
        blocks = (-2 * d, -2 * d @ i.B(self.s_i), 2 * d, 2 * d @ j.B(self.s_j))
        gamma = -2 * d @ (j.h(self.s_j) - i.h(self.s_i)) - 2 * rate @ rate
        return Row(d @ d - L * L, blocks, 2 * L * dL, gamma + 2 * dL * dL + 2 * L * ddL)


@dataclass(frozen=True)
class CD(Constraint):
    """c · d = f along an axis of the ground.  (f'' is missing in the thesis.)"""

    c: Floats
    s_i: Floats
    s_j: Floats
    law: Law

    def row(self, i: State, j: State, t: float) -> Row:
        f, df, ddf = self.law(t)
        d = j.place(self.s_j) - i.place(self.s_i)
        blocks = (-self.c, -self.c @ i.B(self.s_i), self.c, self.c @ j.B(self.s_j))
        gamma = -self.c @ (j.h(self.s_j) - i.h(self.s_i)) + ddf
        return Row(self.c @ d - f, blocks, df, gamma)


@dataclass(frozen=True)
class AngleDriver(Constraint):
    """a_j · A_i u(t) = sin(θ - f) = 0 with u = -a sin f + b cos f: regular at every angle."""

    a_i: Floats
    b_i: Floats
    a_j: Floats
    law: Law

    def row(self, i: State, j: State, t: float) -> Row:
        f, df, ddf = self.law(t)
        u = -self.a_i * np.sin(f) + self.b_i * np.cos(f)
        along = self.a_i * np.cos(f) + self.b_i * np.sin(f)
        du, ddu = -along * df, -along * ddf - u * df * df
        b, db = j.turned(self.a_j), j.turning(self.a_j)
        none = np.zeros(3)
        blocks = (none, b @ i.B(u), none, i.turned(u) @ j.B(self.a_j))
        gamma = -i.turned(u) @ j.h(self.a_j) - b @ i.h(u) - 2 * i.turning(u) @ db
        gamma -= 2 * (db @ i.turned(du) + b @ i.turning(du)) + b @ i.turned(ddu)
        return Row(b @ i.turned(u), blocks, -b @ i.turned(du), gamma)


# --- rows of the text files -----------------------------------------------------------------------

AXES = np.eye(3)


@dataclass(frozen=True)
class Points:
    """The numbers of a row: code, links, six points and a value."""

    code: int
    i: int
    j: int
    Pi: Floats
    Qi: Floats
    Ri: Floats
    Pj: Floats
    Qj: Floats
    Rj: Floats
    value: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Points:
        code, i, j = (int(x) for x in numbers[:3])
        points = np.array([*numbers[3:21]], dtype=float).reshape(6, 3)
        return cls(code, i, j, *points, float(numbers[21]) if len(numbers) > 21 else 0.0)


def joint(row: Sequence[float]) -> list[Constraint]:
    """The constraints of a joint by its code; composites are stacks of the four, with f = 0."""
    k = Points.of(row)
    i, j, zero = k.i, k.j, constant(0.0)
    a_i, b_i, c_j, a_j = k.Qi - k.Pi, k.Ri - k.Pi, k.Qj - k.Pj, k.Rj - k.Pj
    coincide = [CD(i, j, c, k.Pi, k.Pj, zero) for c in AXES]
    parallel = [DP1(i, j, a, c_j, zero) for a in (a_i, b_i)]
    on_line = [DP2(i, j, a, k.Pi, k.Pj, zero) for a in (a_i, b_i)]
    value = constant(k.value)
    rows: dict[int, Sequence[Constraint]] = {
        1: coincide,
        2: [*coincide, *parallel],
        3: [*parallel, *on_line, DP1(i, j, a_i, a_j, value)],
        4: [*parallel, *on_line],
        5: [D(i, j, k.Pi, k.Pj, value)],
        6: [CD(i, j, AXES[0], k.Pi, k.Pj, value)],
        7: [CD(i, j, AXES[1], k.Pi, k.Pj, value)],
        8: [CD(i, j, AXES[2], k.Pi, k.Pj, value)],
        9: [*coincide, DP1(i, j, a_i, c_j, zero)],
        10: [DP1(i, j, a_i, c_j, value)],
        11: [DP2(i, j, a_i, k.Pi, k.Pj, value)],
        12: parallel,
        13: on_line,
    }
    return list(rows[k.code])


def driver(row: Sequence[float], law: Law, axis: Floats | None = None) -> Constraint:
    """A driver by its code; the law of code 1 is the angle.  Code 11 turns about ``axis`` in i."""
    k = Points.of(row)
    a_i, a_j = k.Qi - k.Pi, k.Qj - k.Pj
    if k.code == 1:
        return DP1(k.i, k.j, a_i, a_j, cosine(law))
    if k.code == 2:
        return D(k.i, k.j, k.Pi, k.Pj, law)
    if k.code == 11:
        assert axis is not None
        return AngleDriver(k.i, k.j, a_i, np.cross(axis, a_i), a_j, law)
    return CD(k.i, k.j, AXES[k.code - 3], k.Pi, k.Pj, law)


def cosine(angle: Law) -> Law:
    """cos θ(t) with its derivatives."""

    def law(t: float) -> tuple[float, float, float]:
        f, df, ddf = angle(t)
        return np.cos(f), -np.sin(f) * df, -np.cos(f) * df * df - np.sin(f) * ddf

    return law


def numbers_in(text: str) -> list[list[float]]:
    """The numbers of a file, a list a line; comments, laws and the keyword qo are left out."""
    found = []
    for line in text.splitlines():
        plain = line.partition("#")[0].partition("|")[0].replace("qo", "")
        if plain.split():
            found.append([float(x) for x in plain.split()])
    return found


# --- the mechanism --------------------------------------------------------------------------------


class NotConvergedError(Exception):
    """Newton's method ends without a position."""


@dataclass(frozen=True)
class Mechanism:
    """``nb`` links, link 1 being the ground, and the constraints between them."""

    nb: int
    joints: Sequence[Constraint]
    drivers: Sequence[Constraint]

    def rows(self, q: Floats, dq: Floats, t: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Φ, Φ_q, ν and γ: ground, joints, drivers, normalisation."""
        q, dq = q.reshape(self.nb, 7), dq.reshape(self.nb, 7)
        links = [State(x, v) for x, v in zip(q, dq, strict=True)]
        constraints = [*self.joints, *self.drivers]
        size = 6 + len(constraints) + self.nb
        Phi, J = np.zeros(size), np.zeros((size, 7 * self.nb))
        nu, gamma = np.zeros(size), np.zeros(size)
        for k, column in enumerate((0, 1, 2, 4, 5, 6)):
            Phi[k], J[k, column] = q[0, column], 1.0
        for k, constraint in enumerate(constraints, start=6):
            i, j = constraint.i - 1, constraint.j - 1
            row = constraint.row(links[i], links[j], t)
            Phi[k], nu[k], gamma[k] = row.Phi, row.nu, row.gamma
            J[k, 7 * i : 7 * i + 3], J[k, 7 * i + 3 : 7 * i + 7] = row.blocks[:2]
            J[k, 7 * j : 7 * j + 3], J[k, 7 * j + 3 : 7 * j + 7] = row.blocks[2:]
        for k, link in enumerate(links):
            n = 6 + len(constraints) + k
            Phi[n], gamma[n] = link.p @ link.p - 1, -2 * link.dp @ link.dp
            J[n, 7 * k + 3 : 7 * k + 7] = 2 * link.p
        return Phi, J, nu, gamma

    def position(
        self, q: Floats, t: float, tolerance: float = 1e-5, iterations: int = 50
    ) -> tuple[Floats, int]:
        """The position near q and the iterations it took; the end is |Φ| < tolerance.

        Raises:
            NotConvergedError: There are too many.
        """
        nothing = np.zeros_like(q)
        for k in range(iterations + 1):
            Phi, J, _, _ = self.rows(q, nothing, t)
            if np.linalg.norm(Phi) < tolerance:
                return q, k
            if not np.isfinite(Phi).all():
                break
            q = q - np.linalg.pinv(J, rcond=1e-12) @ Phi
        raise NotConvergedError(f"t = {t}, |Φ| = {np.linalg.norm(Phi):.3g}")

    def motion(
        self,
        q: Floats,
        times: Sequence[float] | Floats,
        tolerance: float = 1e-5,
        predictor: int = 0,
        polish: bool = False,
    ) -> Motion:
        """Positions, velocities and accelerations; each starts from the one before.

        With ``polish`` one more step is taken after the tolerance is met, which leaves rounding.
        """
        found: list[tuple[Floats, Floats, Floats, int]] = []
        before = 0.0
        for t in times:
            if found and predictor:
                step = t - before
                q0, v0, a0, _ = found[-1]
                q = q0 + step * v0 + 0.5 * step**2 * a0
            q, count = self.position(q, float(t), tolerance)
            Phi, J, nu, _ = self.rows(q, np.zeros_like(q), float(t))
            inverse = np.linalg.pinv(J, rcond=1e-12)
            if polish:
                q = q - inverse @ Phi
                _, J, nu, _ = self.rows(q, np.zeros_like(q), float(t))
                inverse = np.linalg.pinv(J, rcond=1e-12)
            v = inverse @ nu
            a = inverse @ self.rows(q, v, float(t))[3]
            found.append((q, v, a, count))
            before = float(t)
        Q, V, W, n = zip(*found, strict=True)
        return Motion(self.nb, np.array(times), np.array(Q), np.array(V), np.array(W), np.array(n))

    def rank(self, q: Floats, t: float = 0.0, drivers: bool = False) -> tuple[int, int]:
        """Rows and rank of Φ_q, without the drivers unless wanted."""
        whole = self if drivers else Mechanism(self.nb, self.joints, ())
        J = whole.rows(q, np.zeros_like(q), t)[1]
        s = np.linalg.svd(J, compute_uv=False)
        return len(J), int((s > 1e-8 * s[0]).sum())


@dataclass(frozen=True)
class Motion:
    """q, q' and q'' of all links, (k, 7 nb), and the iterations of each instant."""

    nb: int
    t: Floats
    q: Floats
    dq: Floats
    ddq: Floats
    iterations: npt.NDArray[np.int64]

    def link(self, number: int) -> tuple[Floats, Floats, Floats]:
        """q, q' and q'' of one link, (k, 7)."""
        part = slice(7 * (number - 1), 7 * number)
        return self.q[:, part], self.dq[:, part], self.ddq[:, part]

    def orientation(self, number: int) -> Floats:
        """A, (k, 3, 3)."""
        return np.array([A(x[3:]) for x in self.link(number)[0]])

    def angular_velocity(self, number: int) -> Floats:
        """ω = 2 E p', (k, 3)."""
        q, dq, _ = self.link(number)
        return np.array([2 * E(x[3:]) @ v[3:] for x, v in zip(q, dq, strict=True)])

    def angular_acceleration(self, number: int) -> Floats:
        """α = 2 E p'', as E' p' = 0, (k, 3)."""
        q, _, ddq = self.link(number)
        return np.array([2 * E(x[3:]) @ a[3:] for x, a in zip(q, ddq, strict=True)])
