"""Linkages that move although a count of freedoms forbids it, with random proportions.

Each is a closed chain of hinges given by its lengths a, twists α and offsets d between
neighbouring axes (Denavit & Hartenberg 1955).  The angles at which it closes are found here by
least squares, without biela; the chain is then written down as it stands in that position, with
bodies whose frames are parallel to the ground, so that all coordinates start at 0.

The conditions on the proportions are those of the literature: Bennett (1903), Goldberg (1943),
Myard (1931), Bricard (1927), as collected by Baker (1980) and by Chen & You (2005).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import biela as bl
from biela.model.bodies import Body

Floats = np.ndarray


@dataclass(frozen=True)
class Chain:
    """A closed chain of hinges: a row (a, α, d) from each axis to the next."""

    name: str
    rows: Floats
    #: Independent rows of the velocities of the loop: hinges less freedoms.
    rank: int

    def pose(self, theta: Floats) -> list[Floats]:
        """The frames on all axes, the last of them once round."""
        T, found = np.eye(4), []
        for (a, alpha, d), angle in zip(self.rows, theta, strict=True):
            found.append(T)
            T = T @ _turned("z", angle) @ _shifted(a, 0, d) @ _turned("x", alpha)
        return [*found, T]

    def gap(self, theta: Floats) -> Floats:
        """By how much the chain does not close: three distances and nine cosines."""
        return (self.pose(theta)[-1] - np.eye(4))[:3].ravel()

    def jacobian(self, theta: Floats) -> Floats:
        """The screws of the hinges, (6, hinges)."""
        frames = self.pose(theta)[:-1]
        return np.array([[*T[:3, 2], *np.cross(T[:3, 3], T[:3, 2])] for T in frames]).T

    def closed(self, seed: int = 0) -> Floats:
        """Angles at which it closes, in a regular position away from flat ones."""
        random = np.random.default_rng(seed)
        for _ in range(60):
            theta = random.uniform(-np.pi, np.pi, len(self.rows))
            for _ in range(100):
                slope = _differences(self.gap, theta)
                change = np.linalg.lstsq(slope, -self.gap(theta), rcond=1e-6)[0]
                theta = theta + change * min(1.0, 0.5 / max(np.abs(change).max(), 1e-300))
                if np.abs(change).max() < 1e-13:
                    break
            sizes = np.linalg.svd(self.jacobian(theta), compute_uv=False)
            away = np.abs(np.sin(theta)).max() > 0.3
            moved = sizes[self.rank - 1] > 0.1 * sizes[0]
            held = self.rank >= len(sizes) or sizes[self.rank] < 1e-7
            if np.abs(self.gap(theta)).max() < 1e-12 and moved and held and away:
                return theta
        raise ValueError(f"{self.name} does not close")


def _turned(axis: str, angle: float) -> Floats:
    c, s, T = np.cos(angle), np.sin(angle), np.eye(4)
    i, j = {"z": (0, 1), "x": (1, 2)}[axis]
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def _shifted(*by: float) -> Floats:
    T = np.eye(4)
    T[:3, 3] = by
    return T


def _differences(f: Callable[[Floats], Floats], x: Floats, h: float = 1e-6) -> Floats:
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]).T


# --------------------------------------------------------------------------- proportions


def bennett(random: np.random.Generator) -> Chain:
    """Opposite bars alike, a/sin α = b/sin β."""
    alpha, beta = random.uniform(0.5, 0.9), random.uniform(1.1, 1.5)
    a = random.uniform(0.6, 1.2)
    b = a * np.sin(beta) / np.sin(alpha)
    return Chain("bennett", np.array([[a, alpha, 0], [b, beta, 0]] * 2), 3)


def goldberg(random: np.random.Generator) -> Chain:
    """Two of Bennett's linkages that share a bar, which is taken out: five hinges."""
    alpha, beta, gamma = random.uniform((0.4, 1.1, 0.6), (0.6, 1.4, 0.8))
    ratio = random.uniform(0.6, 1.2) / np.sin(alpha)
    a, b, c = ratio * np.sin((alpha, beta, gamma))
    rows = [[a + c, alpha + gamma, 0], [b, beta, 0], [c, gamma, 0], [a, alpha, 0], [b, beta, 0]]
    return Chain("goldberg", np.array(rows), 4)


def myard(random: np.random.Generator) -> Chain:
    """Symmetric to a plane, from two of Bennett's with a right angle: five hinges."""
    alpha, b = random.uniform(0.6, 1.2), random.uniform(0.7, 1.2)
    a = b * np.sin(alpha)
    rows = [
        [a, alpha, 0],
        [b, np.pi / 2, 0],
        [0, np.pi - 2 * alpha, 0],
        [b, np.pi / 2, 0],
        [a, np.pi - alpha, 0],
    ]
    return Chain("myard", np.array(rows), 4)


def bricard_trihedral(random: np.random.Generator) -> Chain:
    """Six hinges at right angles; the squares of every second length add up to the same."""
    a = random.uniform(0.7, 1.1, 6)
    a[5] = np.sqrt(a[0] ** 2 + a[2] ** 2 + a[4] ** 2 - a[1] ** 2 - a[3] ** 2)
    rows = [[x, np.pi / 2 * (1 if k % 2 == 0 else -1), 0] for k, x in enumerate(a)]
    return Chain("bricard_trihedral", np.array(rows), 5)


def bricard_line(random: np.random.Generator) -> Chain:
    """Opposite bars and offsets alike: symmetric to a line."""
    half = random.uniform((0.6, 0.6, -0.3), (1.1, 1.4, 0.3), (3, 3))
    return Chain("bricard_line", np.concatenate([half, half]), 5)


def bricard_plane(random: np.random.Generator) -> Chain:
    """Symmetric to a plane through two of the hinges."""
    a, alpha = random.uniform(0.6, 1.1, 3), random.uniform(0.6, 1.2, 3)
    d2, d3 = random.uniform(-0.2, 0.2, 2)
    rows = [
        [a[0], alpha[0], 0],
        [a[1], alpha[1], d2],
        [a[2], alpha[2], d3],
        [a[2], -alpha[2], 0],
        [a[1], -alpha[1], -d3],
        [a[0], -alpha[0], -d2],
    ]
    return Chain("bricard_plane", np.array(rows), 5)


def sarrus(random: np.random.Generator) -> Chain:
    """Twice three parallel hinges: a straight line."""
    a, tilt = random.uniform(0.7, 1.0), random.uniform(0.8, 1.5)
    rows = [[a, 0, 0], [a, 0, 0], [0.3, tilt, 0.2], [a, 0, 0], [a, 0, 0], [0.3, -tilt, -0.2]]
    return Chain("sarrus", np.array(rows), 5)


def four_bar(random: np.random.Generator) -> Chain:
    """Parallel hinges, written down in space."""
    a = random.uniform((0.9, 0.35, 0.8, 0.7), (1.1, 0.5, 1.0, 0.9))
    return Chain("four_bar", np.array([[x, 0, 0] for x in a]), 3)


def parallelogram(random: np.random.Generator) -> Chain:
    """Opposite bars alike and parallel hinges: it passes through a line, where it bifurcates."""
    a, b = random.uniform((0.5, 0.8), (0.7, 1.1))
    return Chain("parallelogram", np.array([[x, 0, 0] for x in (a, b, a, b)]), 3)


LINKAGES: dict[str, Callable[[np.random.Generator], Chain]] = {
    f.__name__: f
    for f in (
        bennett,
        goldberg,
        myard,
        bricard_trihedral,
        bricard_line,
        bricard_plane,
        sarrus,
        four_bar,
        parallelogram,
    )
}

# --------------------------------------------------------------------------- models


def linkage(
    name: str,
    seed: int = 0,
    prefix: str = "",
    into: bl.Model | None = None,
    scale: float = 1.0,
) -> bl.Model:
    """The linkage of random proportions as a model, its first bar the ground.

    Its place in space, its masses and the direction of gravity are random too.  At another scale
    it is built of the same stuff and gravity is scaled with its lengths, so that it takes the same
    time for the same angles.
    """
    random = np.random.default_rng([seed, *map(ord, name)])
    for _ in range(20):
        chain = LINKAGES[name](random)
        try:
            theta = chain.closed(seed)
        except ValueError:
            continue
        break
    else:
        raise ValueError(f"no {name} closes")
    m = bl.Model(f"{name} {seed}") if into is None else into
    if into is None:
        m.gravity = tuple(9.81 * scale * _unit(random.normal(size=3)))
    add_loop(m, chain, theta, random, prefix, m.ground, scale)
    return m


def add_loop(
    m: bl.Model,
    chain: Chain,
    theta: Floats,
    random: np.random.Generator,
    prefix: str,
    base: Body,
    scale: float = 1.0,
) -> list[Body]:
    """Write a chain into a model, its first bar a body that is there; return its bars."""
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn = turn * np.linalg.det(turn)
    place = random.uniform(-0.5, 0.5, 3)
    frames = chain.pose(theta)[:-1]
    points = [place + turn @ T[:3, 3] for T in frames]
    axes = [turn @ T[:3, 2] for T in frames]
    count = len(points)
    bars = [base]
    for k in range(count - 1):
        middle = (points[k] + points[(k + 1) % count]) / 2 + random.uniform(-0.05, 0.05, 3)
        size = random.uniform(0.02, 0.04, 3)
        body = m.body(
            f"{prefix}bar{k}",
            mass=float(random.uniform(0.5, 1.5)) * scale**3,
            com=(scale * middle).tolist(),
            inertia=tuple((scale**5 * size).tolist()),
        )
        bars.append(body)
    # the base is the bar between the last axis and the first
    for k in range(count):
        across = np.cross(axes[k], np.eye(3)[int(np.argmin(np.abs(axes[k])))])
        along = {"axis": axes[k].tolist(), "x_axis": across.tolist()}
        i, j = bars[k], bars[(k + 1) % count]
        at = (scale * points[k]).tolist()
        m.joint("revolute", f"{prefix}j{k}", i.at(*at, **along), j.at(*at, **along))
    return bars


def _unit(x: Floats) -> Floats:
    return np.asarray(x / np.linalg.norm(x))


def double_bennett(seed: int = 0) -> bl.Model:
    """Two of Bennett's linkages, the second on a bar of the first: two coupled freedoms."""
    random = np.random.default_rng(seed)
    m = linkage("bennett", seed, "a_")
    m.name = f"double bennett {seed}"
    chain = bennett(random)
    add_loop(m, chain, chain.closed(seed), random, "b_", m.bodies["a_bar1"])
    return m


def names() -> list[str]:
    """Those of all linkages."""
    return list(itertools.chain(LINKAGES))
