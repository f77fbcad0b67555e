"""The double pendulum example: energy, small oscillations, and its script."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "examples" / "double_pendulum.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("double_pendulum", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_energy_stays(example):
    trajectory, energies = example.simulate(seconds=2.0, h=1e-3)
    assert np.abs(trajectory[-1]).max() > 0.5
    # the error of RK4 falls with h^4: ten times the step, ten thousand times the drift
    _, coarse = example.simulate(seconds=2.0, h=1e-2)
    drift, coarse_drift = np.ptp(energies), np.ptp(coarse)
    assert drift < 1e-6 * abs(energies[0])
    assert coarse_drift > 1e3 * drift


def test_small_oscillations_have_the_frequencies_of_the_textbook(example):
    """Landau & Lifshitz, *Mechanics*, §23, problem 2: the linearised double pendulum."""
    f = example.state_equations()
    m1, m2, l1, l2, g = p = (1.0, 0.8, 0.6, 0.5, 9.81)
    A = f.jacobian("rate", "x")(np.zeros(4), p)
    found = np.sort(np.abs(np.linalg.eigvals(A).imag))[::2]
    mass, product = (m1 + m2) * (l1 + l2), m1 * l1 * l2
    root = np.sqrt((m1 + m2) * ((m1 + m2) * (l1 + l2) ** 2 - 4 * m1 * l1 * l2))
    expected = np.sqrt(g / (2 * product) * np.array([mass - root, mass + root]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_script_runs(capsys):
    runpy.run_path(str(PATH), run_name="__main__")
    assert "energy" in capsys.readouterr().out
