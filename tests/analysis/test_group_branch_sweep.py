"""Free four-bars through dead points at random steps: a run is right, or says that it is not."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import SimulationError

#: How far bodies may be from where they should be, m; branches are farther apart.
APART = 0.05


def random_four_bar(seed: int) -> tuple[bl.Model, dict[str, float]]:
    """Bars of random lengths between supports 1 m apart, and a rate of the first."""
    rng = np.random.default_rng([seed, 20261])
    while True:
        a, b, c = rng.uniform(0.3, 1.2, 3)
        first = rng.uniform(-np.pi, np.pi)
        B = a * np.array([np.cos(first), np.sin(first)])
        way = np.array([1.0, 0.0]) - B
        gap = float(np.linalg.norm(way))
        if abs(b - c) + 0.05 < gap < b + c - 0.05:
            break
    along = (gap * gap + b * b - c * c) / (2 * gap)
    across = np.sqrt(b * b - along * along) * rng.choice([-1, 1])
    C = B + along * way / gap + across * np.array([-way[1], way[0]]) / gap
    m = bl.Model("four-bar", plane="xy", gravity=(0, -9.81, 0))
    for name, length in (("p", a), ("q", b), ("s", c)):
        body = m.body(name, mass=rng.uniform(0.5, 2), inertia=0.05, com=(length / 2, 0, 0))
        body.marker("end", (length, 0, 0))
    second, third = np.arctan2(*(C - B)[::-1]), np.arctan2(C[1], C[0] - 1.0)
    m.joint("revolute", "A", m.ground, "p", start=float(first))
    m.joint("revolute", "B", "p.end", "q", start=float(second - first))
    m.joint("revolute", "D", m.ground.at(1.0, 0, 0), "s", start=float(third))
    m.joint("revolute", "C", "q.end", "s.end")
    return m, {"A": float(4 * rng.normal())}


@pytest.mark.parametrize("seed", range(4))
def test_no_run_leaps_to_another_branch_without_a_word(seed: int) -> None:
    model, v = random_four_bar(seed)
    whole = bl.simulate(model, 1.0, tolerance=1e-9, output=0.5, v=v)
    names, right = whole.groups["poses"].names, 0
    for step in (2e-3, 1e-2, 5e-2):
        for independent in ("auto", ["A.angle"]):
            try:
                found = bl.group_simulation(model, 1.0, step=step, v=v, independent=independent)
            except SimulationError:
                continue
            if found.events:
                continue
            apart = max(abs(found[name][-1] - whole[name][-1]) for name in names)
            assert apart < APART, (step, independent)
            right += 1
    assert right, "no run arrives"


@pytest.mark.parametrize("seed", range(4))
def test_coordinates_change_between_stored_instants(seed: int) -> None:
    """However far apart these are: the motion is the same."""
    model, v = random_four_bar(seed)
    every = bl.group_simulation(model, 1.0, step=2e-3, v=v)
    few = bl.group_simulation(model, 1.0, step=2e-3, output=0.5, v=v)
    assert few.t == pytest.approx([0.0, 0.5, 1.0])
    np.testing.assert_allclose(few["poses"], np.asarray(every["poses"])[::250], atol=1e-6)


def test_some_of_them_change_coordinates() -> None:
    changed = 0
    for seed in range(4):
        model, v = random_four_bar(seed)
        found = bl.group_simulation(model, 1.0, step=2e-3, output=0.5, v=v)
        changed += int(found.statistics.more.get("changes of independent coordinates", 0))
    assert changed > 0
