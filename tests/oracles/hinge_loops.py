"""Driven closed chains of hinges, without biela: Newton's method on Denavit–Hartenberg transforms.

With the screws S_i = (u_i, p_i × u_i) of the hinges in the ground, a closed chain obeys

    Σ S_i θ'_i = 0,      Σ S_i θ''_i + Σ_{j<i} [S_j, S_i] θ'_j θ'_i = 0,

[S, T] being the bracket of screws (Davidson & Hunt, *Robots and Screw Theory*, 2004).  With one
angle given all equations are taken by least squares: none is left out, so that it does not matter
which of them depend on the others.

Closed forms of some chains stand below; tests/analysis/test_driven_linkages.py compares them with
the above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BodyMotion:
    """Origin, orientation, velocities and accelerations of a body at all instants."""

    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats
    angular_acceleration: Floats


@dataclass(frozen=True)
class HingeLoop:
    """A closed chain: a row (a, α, d) from each hinge to the next."""

    rows: Floats

    def frames(self, theta: Floats) -> Floats:
        """Frames on all hinges and the first one once more, (n + 1, 4, 4)."""
        found = [np.eye(4)]
        for (a, alpha, d), angle in zip(self.rows, theta, strict=True):
            c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
            step = np.array(
                [
                    [c, -s * ca, s * sa, a * c],
                    [s, c * ca, -c * sa, a * s],
                    [0, sa, ca, d],
                    [0, 0, 0, 1],
                ]
            )
            found.append(found[-1] @ step)
        return np.array(found)

    def screws(self, theta: Floats) -> Floats:
        """One column (u, p × u) per hinge, (6, n)."""
        frames = self.frames(theta)[:-1]
        u, p = frames[:, :3, 2], frames[:, :3, 3]
        return np.hstack([u, np.cross(p, u)]).T

    def gap(self, theta: Floats) -> Floats:
        """The screw from the first frame to the last, to first order, (6,)."""
        T = self.frames(theta)[-1]
        R = T[:3, :3]
        turn = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
        return np.concatenate([turn, T[:3, 3]])

    def closed(self, theta: Floats, driven: int, angle: float) -> Floats:
        """The closed position near another, with one angle given."""
        theta = np.array(theta, dtype=float)
        theta[driven] = angle
        kept = np.arange(len(theta)) != driven
        for _ in range(12):
            change = np.linalg.lstsq(self.screws(theta)[:, kept], -self.gap(theta), rcond=None)[0]
            theta[kept] += change
            if np.abs(change).max() < 1e-14:
                break
        if np.abs(self.gap(theta)).max() > 1e-13:
            raise ValueError(f"the chain does not close at {angle:g}")
        return theta

    def grip(self, theta: Floats, driven: int) -> float:
        """The smallest singular value with one angle given: 0 where it does not say the rest."""
        kept = np.arange(len(theta)) != driven
        return float(np.linalg.svd(self.screws(theta)[:, kept], compute_uv=False)[-1])

    def rates(self, theta: Floats, driven: int, rate: float) -> tuple[Floats, Floats]:
        """θ' and θ'' where one angle grows evenly."""
        S = self.screws(theta)
        kept = np.arange(len(theta)) != driven
        v, a = np.zeros(len(theta)), np.zeros(len(theta))
        v[driven] = rate
        v[kept] = np.linalg.lstsq(S[:, kept], -S[:, driven] * rate, rcond=None)[0]
        a[kept] = np.linalg.lstsq(S[:, kept], -_brackets(S, v)[-1], rcond=None)[0]
        return v, a

    def path(
        self, theta: Floats, driven: int, rate: float, t: Floats, most: float = 0.07
    ) -> tuple[Floats, Floats, Floats]:
        """θ, θ' and θ'' at instants, from a closed position at t = 0."""
        at = self.closed(theta, driven, float(theta[driven]))
        begin, now, found = float(at[driven]), 0.0, []
        for instant in t:
            parts = max(1, int(np.ceil(abs(rate) * (instant - now) / most)))
            for end in np.linspace(now, instant, parts + 1)[1:]:
                v, a = self.rates(at, driven, rate)
                h = end - now
                at = self.closed(at + h * v + h * h / 2 * a, driven, begin + rate * end)
                now = end
            found.append((at, *self.rates(at, driven, rate)))
        q, v, a = np.array(found).transpose(1, 0, 2)
        return q, v, a

    def motion(
        self,
        bar: int,
        path: tuple[Floats, Floats, Floats],
        start: Floats,
        turn: Floats,
        place: Floats,
    ) -> BodyMotion:
        """The bar after a hinge, as a body whose frame was that of the ground at the start.

        ``turn`` and ``place`` say where the frame of the first hinge stands in the ground.
        """
        G = np.eye(4)
        G[:3, :3], G[:3, 3] = turn, place
        back = np.linalg.inv(G @ self.frames(start)[bar + 1])
        found = []
        for q, v, a in zip(*path, strict=True):
            D = G @ self.frames(q)[bar + 1] @ back
            S = self.screws(q)[:, : bar + 1]
            twist = S @ v[: bar + 1]
            change = S @ a[: bar + 1] + _brackets(S, v[: bar + 1])[-1]
            w, alpha = turn @ twist[:3], turn @ change[:3]
            # of the point that is in the origin of the ground
            u = turn @ twist[3:] + np.cross(place, w)
            du = turn @ change[3:] + np.cross(place, alpha)
            p = D[:3, 3]
            velocity = u + np.cross(w, p)
            acceleration = du + np.cross(alpha, p) + np.cross(w, velocity)
            found.append((p, D[:3, :3], velocity, w, acceleration, alpha))
        return BodyMotion(*(np.array(part) for part in zip(*found, strict=True)))


def _brackets(S: Floats, v: Floats) -> Floats:
    """Σ_{j<i≤k} [S_j, S_i] v_j v_i for every k, (n, 6)."""
    found, before, total = [], np.zeros(6), np.zeros(6)
    for screw, rate in zip(S.T, v, strict=True):
        u, m = before[:3], before[3:]
        du, dm = screw[:3] * rate, screw[3:] * rate
        total = total + np.concatenate([np.cross(u, du), np.cross(u, dm) + np.cross(m, du)])
        before = before + screw * rate
        found.append(total)
    return np.array(found)


# --------------------------------------------------------------------------- closed forms

#: An angle, its rate and its acceleration at all instants.
Angle: TypeAlias = tuple[Floats, Floats, Floats]


def closed_forms(name: str, rows: Floats, driven: Angle, start: Floats) -> dict[int, Angle]:
    """Angles of a linkage by their hinges, for one that is given (`DRIVEN` says which).

    ``start`` holds the angles at the first instant, for those with two roots.
    """
    a, alpha = rows[:, 0], rows[:, 1]
    if name == "bennett":
        other = half_angle_partner(bennett_ratio(alpha[0], alpha[1]), driven)
        return {1: other, 2: _combined(0, (-1, driven)), 3: _combined(0, (-1, other))}
    if name == "goldberg":
        # two of Bennett's share a bar, taken out: at its ends their angles add up
        first, second = bennett_ratio(alpha[3], alpha[1]), bennett_ratio(alpha[2], alpha[1])
        last = half_angle_partner(-first, driven)
        other = half_angle_partner(first * second, driven)
        third = _combined(np.pi, (-1, driven), (-1, other))
        return {1: other, 2: _combined(np.pi, (-1, last)), 3: third, 4: last}
    if name == "myard":
        third = half_angle_partner(-bennett_ratio(alpha[0], alpha[1]), driven)
        second = _combined(np.pi, (1, third))
        return {
            0: _combined(0, (-1, second), (-1, third)),
            2: second,
            3: third,
            4: _combined(0, (-1, driven)),
        }
    if name == "bricard_threefold":
        other = threefold(alpha[0], driven, start[1])
        return {1: other, 2: driven, 3: other, 4: driven, 5: other}
    if name == "sarrus":
        return _sarrus(driven, start)
    if name == "four_bar":
        return {3: _opposite(a, driven, start[3])}
    if name == "parallelogram":
        # the other root, of crossed bars, has it at -θ
        crossed = abs(wrapped(start[3:4] - start[1])[0]) > 1e-9
        return {3: _combined(0, (-1 if crossed else 1, driven))}
    raise ValueError(f"{name} has no closed form here")


#: The hinge whose angle the closed forms take.
DRIVEN = {
    "bennett": 0,
    "goldberg": 0,
    "myard": 1,
    "bricard_threefold": 0,
    "sarrus": 0,
    "four_bar": 1,
    "parallelogram": 1,
}


def bennett_ratio(alpha: float, beta: float) -> float:
    """tan(θ/2) tan(φ/2) at the ends of a bar of twist α, the next one having β (Bennett 1903)."""
    return float(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2))


def half_angle_partner(ratio: float, driven: Angle) -> Angle:
    """φ of tan(θ/2) tan(φ/2) = ratio."""
    theta, rate, acceleration = driven
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    square = s**2 + ratio**2 * c**2
    slope = -ratio / square
    bend = ratio * (1 - ratio**2) * c * s / square**2
    return 2 * np.arctan2(ratio * c, s), slope * rate, bend * rate**2 + slope * acceleration


def threefold(alpha: float, driven: Angle, near: float) -> Angle:
    """The other angle of a Bricard linkage with six equal bars of twists α, -α in turn.

    cos²α + sin²α (cos φ + cos θ) + (1 + cos²α) cos φ cos θ - 2 cos α sin φ sin θ = 0
    (Chen, You & Tarnai 2005); ``near`` says which of its roots.
    """
    theta, rate, acceleration = driven
    ca, sa = np.cos(alpha), np.sin(alpha)
    c, s = np.cos(theta), np.sin(theta)
    A, B, C = sa**2 + (1 + ca**2) * c, -2 * ca * s, ca**2 + sa**2 * c
    middle, half = np.unwrap(np.arctan2(B, A)), np.arccos(-C / np.hypot(A, B))
    roots = [middle + half, middle - half]
    phi = min(roots, key=lambda x: abs(wrapped(x[:1] - near)[0]))
    cp, sp = np.cos(phi), np.sin(phi)
    # F(φ, θ) = 0 differentiated twice
    F_p, F_pp = -A * sp + B * cp, -A * cp - B * sp
    dA, dB, dC = -(1 + ca**2) * s, -2 * ca * c, -(sa**2) * s
    F_t, F_pt = dA * cp + dB * sp + dC, -dA * sp + dB * cp
    F_tt = -(1 + ca**2) * c * cp + 2 * ca * s * sp - sa**2 * c
    slope = -F_t / F_p
    bend = -(F_tt + 2 * F_pt * slope + F_pp * slope**2) / F_p
    return phi, slope * rate, bend * rate**2 + slope * acceleration


def _sarrus(driven: Angle, start: Floats) -> dict[int, Angle]:
    """Three parallel hinges twice: the middle one goes straight, the last does not turn.

    sin θ₀ + sin(θ₀ + θ₁) stays as it is, and so does θ₀ + θ₁ + θ₂.
    """
    theta, rate, acceleration = driven
    level = np.sin(start[0]) + np.sin(start[0] + start[1])
    s = level - np.sin(theta)
    side = np.sign(np.cos(start[0] + start[1]))
    c = side * np.sqrt(1 - s**2)
    total = np.arctan2(s, c)
    turn = -np.cos(theta) * rate / c
    change = (np.sin(theta) * rate**2 - np.cos(theta) * acceleration + s * turn**2) / c
    both = (total, turn, change)
    return {1: _combined(0, (1, both), (-1, driven)), 2: _combined(start[:3].sum(), (-1, both))}


def _opposite(a: Floats, driven: Angle, near: float) -> Angle:
    """The angle across a planar four-bar, by both triangles on a diagonal."""
    theta, rate, acceleration = driven
    k = a[0] * a[1] / (a[2] * a[3])
    c = (a[0] ** 2 + a[1] ** 2 - a[2] ** 2 - a[3] ** 2) / (2 * a[2] * a[3]) + k * np.cos(theta)
    phi = np.sign(np.sin(near)) * np.arccos(c)
    slope = k * np.sin(theta) / np.sin(phi)
    bend = (k * np.cos(theta) - c * slope**2) / np.sin(phi)
    return phi, slope * rate, bend * rate**2 + slope * acceleration


def _combined(constant: float, *parts: tuple[float, Angle]) -> Angle:
    value, rate, acceleration = (sum(f * part[k] for f, part in parts) for k in range(3))
    return np.asarray(constant + value), np.asarray(rate), np.asarray(acceleration)


def wrapped(x: Floats) -> Floats:
    """Angles less whole turns."""
    return np.asarray((x + np.pi) % (2 * np.pi) - np.pi)
