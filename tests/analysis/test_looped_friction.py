"""Forces of large mechanisms that depend on the reactions of joints."""

from __future__ import annotations

from functools import partial

import pytest

import biela as bl
from biela.errors import SimulationError

#: Simulates by the looped engine.
looped = partial(bl.simulate, engine="looped")

G = 9.81


def blocks_on_rails(count: int, coefficient: float) -> bl.Model:
    cell = bl.Model("cell", plane="xz", gravity=(0, 0, -G))
    block = cell.body("block", mass=3.0, inertia=0.1)
    cell.joint("prismatic", "rail", cell.ground.at(axis="x"), block.at(axis="x"), rates="2 m/s")
    cell.force("friction", "rub", coordinate="rail", coefficient=coefficient, transition=1e-4)
    m = bl.Model("blocks", plane="xz", gravity=(0, 0, -G))
    m.part("cell", cell, count, shift=(0, 0, 1))
    return m


def test_blocks_slide_until_their_friction_has_taken_their_speed() -> None:
    mu, t = 0.3, 0.5
    r = looped(blocks_on_rails(3, mu), t, step=1e-3)
    for k in range(3):
        speed = r[f"cell[{k}].block.rx_rate"][-1]
        assert speed == pytest.approx(2.0 - mu * G * t, rel=1e-9)
        assert r[f"cell[{k}].block.rx"][-1] == pytest.approx(2.0 * t - mu * G / 2 * t**2, rel=1e-9)


def test_friction_in_the_pins_of_loops_is_that_of_unrolled_equations() -> None:
    m = bl.Model("loop", plane="xy", gravity=(0, -G, 0))
    bars = [
        m.body(name, mass=1.0, com=(length / 2, 0, 0), inertia=0.1)
        for name, length in (("crank", 0.4), ("coupler", 1.0), ("rocker", 0.7))
    ]
    crank, coupler, rocker = bars
    m.joint("revolute", "A", m.ground.at(), crank.at(), start=0.9)
    m.joint("revolute", "B", crank.at(0.4, 0, 0), coupler.at(), start=-0.6)
    m.joint("revolute", "C", coupler.at(1.0, 0, 0), rocker.at(0.7, 0, 0))
    m.joint("revolute", "D", m.ground.at(0.9, 0, 0), rocker.at())
    for pin in "AB":
        m.force("friction", f"rub_{pin}", coordinate=pin, coefficient=0.2, radius=0.05)
    r = looped(m, 0.3, step=1e-3)
    other = bl.simulate(bl.formulate(m, "reference"), 0.3, step=1e-3)
    without = bl.Model("loop", plane="xy", gravity=(0, -G, 0))
    without.bodies, without.joints = m.bodies, m.joints
    free = looped(without, 0.3, step=1e-3)
    assert r["rocker.rx"][-1] == pytest.approx(other["rocker.rx"][-1], abs=1e-9)
    assert abs(r["rocker.rx"][-1] - free["rocker.rx"][-1]) > 1e-4


def test_friction_that_locks_is_told() -> None:
    # a pin whose radius times friction exceeds its lever: rounds go apart
    m = bl.Model("locked", plane="xz", gravity=(0, 0, -G))
    rod = m.body("rod", mass=1.0, com=(0, 0, -0.1), inertia=0.001)
    m.joint("revolute", "pin", m.ground.at(axis="y"), rod.at(axis="y"), start=0.5, rates=1.0)
    m.force("friction", "rub", coordinate="pin", coefficient=3.0, radius=0.5, transition=1e-6)
    with pytest.raises(SimulationError, match="rounds do not converge"):
        looped(m, 0.1, step=1e-3)
