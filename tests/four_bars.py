"""Four-bars and chains of them that the tests of groups share."""

from __future__ import annotations

import numpy as np

import biela as bl


def chain_of_dyads(count: int) -> bl.Model:
    """A crank and dyads RRR, each on the one before; all but the first are parallelograms."""
    m = bl.Model("dyads", plane="xy")
    crank = m.body("crank", mass=1.0)
    m.joint("revolute", "A", m.ground, crank, start={"angle": 1.2})
    before = crank.at(1.0, 0.0, 0.0)
    B, D = np.array([np.cos(1.2), np.sin(1.2)]), np.array([3.0, 0.0])
    # C is 3 from B and 2.5 from D
    way, half = D - B, np.linalg.norm(D - B) / 2
    along = half + (3.0**2 - 2.5**2) / (4 * half)
    C = B + (along * way + np.sqrt(9.0 - along**2) * np.array([-way[1], way[0]])) / (2 * half)
    bar = np.arctan2(*(C - B)[::-1])
    turn = np.arctan2(*(C - D)[::-1]) - np.pi / 2
    angles = [bar - 1.2] + [-turn] * (count - 1)
    for k, angle in enumerate(angles):
        coupler = m.body(f"coupler{k}", mass=1.0)
        rocker = m.body(f"rocker{k}", mass=1.0)
        support = m.ground.at(3.0 * (k + 1), 0.0, 0.0)
        m.joint("revolute", f"B{k}", before, coupler.at(), start={"angle": angle})
        m.joint("revolute", f"D{k}", support, rocker.at(), start={"angle": turn})
        m.joint("revolute", f"C{k}", coupler.at(3.0, 0.0, 0.0), rocker.at(0.0, 2.5, 0.0))
        before = rocker.at(0.0, 2.5, 0.0)
    m.driver("rotary", "motor", coordinate="A.angle", law="1.2 + t")
    return m


def triple_rocker() -> tuple[bl.Model, float]:
    """Bars that stop a crank where coupler and rocker are in line, and the time of that."""
    m = bl.Model("triple rocker", plane="xy")
    # crank, coupler, rocker and ground: no bar can turn fully
    a, b, c, g = 4.0, 2.0, 2.5, 5.0
    crank, coupler, rocker = (m.body(name, mass=1.0) for name in ("crank", "coupler", "rocker"))
    start = 0.5
    B = a * np.array([np.cos(start), np.sin(start)])
    way = np.array([g, 0.0]) - B
    d = float(np.linalg.norm(way))
    along = (d * d + b**2 - c**2) / (2 * d)
    across = np.array([-way[1], way[0]]) / d * np.sqrt(b**2 - along**2)
    C = B + way * along / d + across
    m.joint("revolute", "A", m.ground.at(), crank.at(), start=start)
    angle = float(np.arctan2(*(C - B)[::-1]))
    m.joint("revolute", "B", crank.at(a, 0, 0), coupler.at(), start=angle - start)
    angle = float(np.arctan2(C[1], C[0] - g))
    m.joint("revolute", "D", m.ground.at(g, 0, 0), rocker.at(), start=angle)
    m.joint("revolute", "C", coupler.at(b, 0, 0), rocker.at(c, 0, 0))
    m.driver("rotary", "motor", coordinate="A.angle", law=f"{start} + t")
    cosine = (a**2 + g**2 - (b + c) ** 2) / (2 * a * g)
    return m, float(np.arccos(cosine)) - start
