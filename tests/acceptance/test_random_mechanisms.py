"""Random mechanisms of all the thesis's joints and drivers, against the oracle, in all coordinates.

Places of the links are drawn, then joints that hold there: points and directions are chosen in the
ground and written in the frames of the links, as rows of the thesis's text files.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis import mobility
from biela.model.files import load_thesis_folder
from tests.acceptance.thesis_models import COORDINATES, assert_same_motion
from tests.oracles import thesis_kinematics as oracle

Floats = npt.NDArray[np.float64]
CODE = {"SJ": 1, "RJ": 2, "TJ": 3, "CJ": 4, "D": 5, "CDx": 6, "CDy": 7, "CDz": 8, "UJ": 9,
        "DP1": 10, "DP2": 11, "PERP1": 12, "PERP2": 13}  # fmt: skip


class Draft:
    """Links at random places, and rows of joints and drivers between them."""

    def __init__(self, nb: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nb = nb
        links = [np.array([0, 0, 0, 1.0, 0, 0, 0])]
        for _ in range(nb - 1):
            p = self.rng.normal(size=4)
            links.append(np.concatenate([self.rng.uniform(-1, 1, 3), p / np.linalg.norm(p)]))
        self.q = np.array(links)
        self.joints: list[list[float]] = []
        self.drivers: list[tuple[list[float], str, oracle.Law, Floats | None]] = []

    def local(self, link: int, point: Floats) -> Floats:
        """A point of the ground in the frame of a link."""
        q = self.q[link - 1]
        return oracle.A(q[3:]).T @ (point - q[:3])

    def point(self) -> Floats:
        return self.rng.uniform(-1, 1, 3)

    def directions(self) -> tuple[Floats, Floats, Floats]:
        """An axis, and two directions across it that are neither of unit length nor square."""
        Q = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        c, x, y = Q.T
        mixed = x * self.rng.uniform(0.3, 0.8) + y
        return c * self.rng.uniform(0.5, 2), x * self.rng.uniform(0.5, 2), mixed

    def joint(self, kind: str, i: int, j: int) -> None:
        """A joint that holds at the places of the links."""
        c, a, b = self.directions()
        P = self.point()
        Q = P.copy()
        value, Rj = 0.0, P
        if kind in ("TJ", "CJ", "PERP2"):
            Q = P + 0.4 * c
        if kind in ("D", "CDx", "CDy", "CDz", "DP1", "DP2", "PERP1"):
            Q = self.point()
        Qj = Q + c
        if kind == "TJ":
            Rj = Q + np.cross(c, a) + 0.3 * a
            value = float(a @ (Rj - Q))
        elif kind == "UJ":
            Qj = Q + np.cross(a, b)
        elif kind == "DP1":
            Qj = Q + self.point()
            value = float(a @ (Qj - Q))
        elif kind == "DP2":
            value = float(a @ (Q - P))
        elif kind == "D":
            value = float(np.linalg.norm(Q - P))
        elif kind.startswith("CD"):
            value = float((Q - P)["xyz".index(kind[-1])])
        points = [*(self.local(i, x) for x in (P, P + a, P + b))]
        points += [*(self.local(j, x) for x in (Q, Qj, Rj))]
        self.joints.append([CODE[kind], i, j, *np.concatenate(points), value])

    def driver(self, code: int, i: int, j: int, law: Callable[[float], str] | None = None) -> None:
        """A driver whose law begins at the present value: + 0.3 sin 2t."""
        P, Q = self.point(), self.point()
        axis = None
        P2, Q2 = P + self.point(), Q + self.point()
        if code == 11:  # of the revolute joint between the links
            row = next(r for r in self.joints if {r[1], r[2]} == {i, j} and r[0] == 2)
            Pi, Qi, Ri = np.array(row[3:12]).reshape(3, 3)
            axis = np.cross(Qi - Pi, Ri - Pi)
            axis /= np.linalg.norm(axis)
            a = (Qi - Pi) / np.linalg.norm(Qi - Pi)
            A_i, A_j = oracle.A(self.q[i - 1, 3:]), oracle.A(self.q[j - 1, 3:])
            Pi_row = Pi
            turned = a * math.cos(0.4) + np.cross(axis, a) * math.sin(0.4)
            points = [Pi_row, Pi_row + a, Pi_row, np.array(row[12:15])]
            points += [np.array(row[12:15]) + A_j.T @ A_i @ turned, np.array(row[12:15])]
            start = 0.4
        else:
            points = [self.local(i, P), self.local(i, P2), self.local(i, P)]
            points += [self.local(j, Q), self.local(j, Q2), self.local(j, Q)]
            if code == 1:
                a, b = P2 - P, Q2 - Q
                a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
                points[1] = points[0] + oracle.A(self.q[i - 1, 3:]).T @ a
                points[4] = points[3] + oracle.A(self.q[j - 1, 3:]).T @ b
                start = float(np.arccos(a @ b))
            elif code == 2:
                start = float(np.linalg.norm(Q - P))
            else:
                start = float((Q - P)[code - 3])

        def f(t: float) -> tuple[float, float, float]:
            return start + 0.3 * math.sin(2 * t), 0.6 * math.cos(2 * t), -1.2 * math.sin(2 * t)

        row = [float(code), float(i), float(j), *np.concatenate(points)]
        self.drivers.append((row, f"{start!r} + 0.3*sin(2*t)", f, axis))

    def write(self, folder: Path) -> Path:
        def text(row: list[float]) -> str:
            return " ".join(repr(float(x)) if k > 2 else str(int(x)) for k, x in enumerate(row))

        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {
            "general": f"nb {self.nb}\nT 0.4\nt 20",
            "joints": "\n".join(map(text, self.joints)),
            "drivers": "\n".join(f"{text(row)} | {law}" for row, law, _, _ in self.drivers),
            "initial": "qo " + " ".join(repr(float(x)) for x in self.q.ravel()),
        }.items():
            (folder / f"{name}.txt").write_text(content)
        return folder

    def mechanism(self) -> oracle.Mechanism:
        joints = [c for row in self.joints for c in oracle.joint(row)]
        drivers = [oracle.driver(row, law, axis) for row, _, law, axis in self.drivers]
        return oracle.Mechanism(self.nb, joints, drivers)


def serial_arm(seed: int) -> Draft:
    """RJ, UJ, CJ: five freedoms of an open chain, driven by all kinds of drivers."""
    d = Draft(4, seed)
    d.joint("RJ", 1, 2)
    d.joint("UJ", 2, 3)
    d.joint("CJ", 3, 4)
    d.driver(11, 1, 2)
    d.driver(2, 1, 3)
    d.driver(3, 1, 4)
    d.driver(4, 2, 4)
    d.driver(1, 1, 4)
    return d


def spatial_four_bar(seed: int) -> Draft:
    """RJ, SJ, UJ, RJ: one loop, one freedom."""
    d = Draft(4, seed)
    d.joint("RJ", 1, 2)
    d.joint("SJ", 2, 3)
    d.joint("UJ", 3, 4)
    d.joint("RJ", 4, 1)
    d.driver(11, 1, 2)
    return d


def two_loops(seed: int) -> Draft:
    """A slider, two balls and a rod beside them: two loops, with a driven distance."""
    d = Draft(4, seed)
    d.joint("TJ", 1, 2)
    d.joint("SJ", 2, 3)
    d.joint("SJ", 3, 4)
    d.joint("RJ", 4, 1)
    d.joint("D", 1, 3)
    d.driver(2, 1, 2)
    return d


def bare_conditions(seed: int) -> Draft:
    """Two links held by the four bases and the two perpendiculars only."""
    d = Draft(3, seed)
    d.joint("PERP1", 1, 2)
    d.joint("PERP2", 1, 2)
    d.joint("DP1", 2, 3)
    d.joint("DP2", 2, 3)
    d.joint("D", 1, 3)
    d.joint("CDx", 2, 3)
    d.joint("CDy", 1, 3)
    d.joint("CDz", 2, 3)
    d.driver(2, 1, 2)
    d.driver(5, 1, 2)
    return d


def hexapod(seed: int) -> Draft:
    """A platform on six driven distances."""
    d = Draft(2, seed)
    for _ in range(6):
        d.driver(2, 1, 2)
    return d


#: Draws whose motion keeps away from singular positions.
SEED = {
    "serial_arm": 1,
    "spatial_four_bar": 8,
    "two_loops": 3,
    "bare_conditions": 5,
    "hexapod": 3,
}
KINDS = {f.__name__: f for f in (serial_arm, spatial_four_bar, two_loops, bare_conditions, hexapod)}
FREEDOMS = {
    "serial_arm": 5,
    "spatial_four_bar": 1,
    "two_loops": 1,
    "bare_conditions": 2,
    "hexapod": 6,
}


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_of_random_mechanisms_move_as_in_the_oracle(kind: str, tmp_path: Path) -> None:
    draft = KINDS[kind](seed=SEED[kind])
    whole = draft.mechanism()
    times = 0.02 * np.arange(20)
    expected = whole.motion(draft.q.ravel(), times, 1e-9, polish=True)
    model = load_thesis_folder(draft.write(tmp_path / kind))
    count, rank = whole.rank(expected.q[3])
    for coordinates in COORDINATES:
        system = bl.formulate(model, coordinates)
        found = bl.kinematics(system, 0.4, step=0.02, end_point=False)
        # where a Jacobian is ill-conditioned, rounding grows with its condition
        size = 1e-14 * condition(whole, expected)
        assert_same_motion(found, expected, 1e-12 + size, 1e-11 + 10 * size, 1e-10 + 100 * size)
    counted = mobility(system)
    # links, ground, norms: 7 nb rows in all with the drivers
    assert 7 * draft.nb - count == FREEDOMS[kind] == len(draft.drivers)
    assert 7 * draft.nb - rank == FREEDOMS[kind]
    assert counted.by_rank == 0 and not counted.redundant


def condition(whole: oracle.Mechanism, motion: oracle.Motion) -> float:
    return max(
        float(np.linalg.cond(whole.rows(q, np.zeros_like(q), t)[1]))
        for q, t in zip(motion.q, motion.t, strict=True)
    )
