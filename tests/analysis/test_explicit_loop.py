"""The loop of a direct simulation, written out in NumPy, against the simulator.

Plaza 2015, fig. 2.4: accelerations from the equations with multipliers, a step of Euler's method,
then positions and velocities projected by pseudo-inverses (eqs 2.44 with the sign of 2.43, 2.45).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import biela as bl
from examples.mechanisms.rolling_disc import rolling_disc
from examples.mechanisms.slider_crank import slider_crank

Rule = Callable[[np.ndarray, np.ndarray, np.ndarray, float], tuple[np.ndarray, np.ndarray]]


def euler(q, v, a, h):
    """Fig. 2.4 as it stands."""
    return q + v * h, v + a * h


def second_order(q, v, a, h):
    """The position with its second-order term, eq. 2.54."""
    return q + (v + a * h / 2) * h, v + a * h


def written_out(
    system: bl.System, q: np.ndarray, v: np.ndarray, h: float, steps: int, rule: Rule, metric: str
) -> tuple[np.ndarray, np.ndarray]:
    """The motion by the figure; a pseudo-inverse in the metric W is W^-½ (A W^-½)⁺."""
    qs, vs = [q], [v]
    n = len(v)
    for _ in range(steps):
        rows = np.atleast_2d(system.evaluate("Phi_v", q))
        m = len(rows)
        matrix = np.block([[system.evaluate("M", q), rows.T], [rows, np.zeros((m, m))]])
        right = np.concatenate([system.evaluate("Q", q, v), system.evaluate("gamma", q, v)])
        a = np.linalg.solve(matrix, right)[:n]
        q, v = rule(q, v, a, h)
        for _ in range(10 if system.geometric else 0):
            root = inverse_root(system.evaluate("M", q)) if metric == "M" else np.eye(n)
            rows = np.atleast_2d(system.evaluate("Phi_v", q))[: system.geometric]
            q = q - root @ np.linalg.pinv(rows @ root) @ system.evaluate("Phi", q)
        root = inverse_root(system.evaluate("M", q)) if metric == "M" else np.eye(n)
        rows = np.atleast_2d(system.evaluate("Phi_v", q))
        missed = system.evaluate("beta", q) - rows @ v
        v = v + root @ np.linalg.pinv(rows @ root) @ missed
        qs.append(q)
        vs.append(v)
    return np.array(qs), np.array(vs)


def inverse_root(M: np.ndarray) -> np.ndarray:
    """M^-½ of a positive definite matrix."""
    sizes, turn = np.linalg.eigh(M)
    return turn @ np.diag(sizes**-0.5) @ turn.T


@pytest.mark.parametrize("metric", ["M", "identity"])
@pytest.mark.parametrize(
    ("integrator", "rule"), [("explicit_euler", euler), ("second_order_euler", second_order)]
)
@pytest.mark.parametrize("model", [slider_crank, rolling_disc])
def test_the_simulator_takes_the_steps_of_the_loop(model, integrator, rule, metric) -> None:
    """A mechanism with a loop, and one that rolls: its velocities alone are projected."""
    system = model().equations().system
    h, steps = 1e-3, 50
    r = bl.simulate(
        system,
        h * steps,
        step=h,
        integrator=integrator,
        options=bl.Options(metric=metric, position_iterations=5),
    )
    q, v = written_out(system, r.q[0], r.v[0], h, steps, rule, metric)
    assert np.abs(q[-1] - q[0]).max() > 0.05
    np.testing.assert_allclose(r.q, q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(r.v, v, rtol=0, atol=1e-9 * np.abs(v).max())


def test_the_two_rules_and_metrics_give_different_steps() -> None:
    """So that the comparison above tells them apart."""
    system = slider_crank().equations().system
    ends = []
    for rule in (euler, second_order):
        for metric in ("M", "identity"):
            start = bl.simulate(system, 1e-3, step=1e-3)
            ends.append(written_out(system, start.q[0], start.v[0], 1e-3, 50, rule, metric)[0][-1])
    for i in range(4):
        for j in range(i):
            assert np.abs(ends[i] - ends[j]).max() > 1e-6
