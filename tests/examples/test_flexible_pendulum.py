"""The flexible pendulum against finite elements, and as a script."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

from examples.symbolic.flexible_pendulum import flexible_pendulum

SCRIPT = Path(__file__).parents[2] / "examples" / "symbolic" / "flexible_pendulum.py"
ELEMENTS = 24


def finite_element_frequencies(p: dict[str, float], elements: int) -> np.ndarray:
    """The same in the plane and without weight: cubic beam elements, lumps at both ends."""
    h = p["l"] / elements
    K_e = p["EI"] / h**3 * np.array(
        [
            [12, 6 * h, -12, 6 * h],
            [6 * h, 4 * h**2, -6 * h, 2 * h**2],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, 2 * h**2, -6 * h, 4 * h**2],
        ]
    )  # fmt: skip
    M_e = p["mu"] * h / 420 * np.array(
        [
            [156, 22 * h, 54, -13 * h],
            [22 * h, 4 * h**2, 13 * h, -3 * h**2],
            [54, 13 * h, 156, -22 * h],
            [-13 * h, -3 * h**2, -22 * h, 4 * h**2],
        ]
    )  # fmt: skip
    n = 2 * elements + 2
    M, K = np.zeros((n, n)), np.zeros((n, n))
    for e in range(elements):
        own = slice(2 * e, 2 * e + 4)
        M[own, own] += M_e
        K[own, own] += K_e
    M[0, 0] += p["m_s"]
    M[-2, -2] += p["m_b"]
    M[-1, -1] += p["I_b"]
    return np.sqrt(np.abs(eigh(K, M, eigvals_only=True)))


def test_it_vibrates_as_finite_elements_do():
    """More polynomials come down to the vibrations, exponentially."""
    found = {}
    for modes in (2, 4, 10):
        s = flexible_pendulum(modes, polynomials=modes)
        values = {p.name: value for p, value in s.parameter_values.items()} | {"g": 0.0}
        eq = s.equations()
        n = len(s.q)
        rest, p = np.zeros(n), list(values.values())
        M = eq.mass(rest, p=p)
        K = -np.array([eq.forces(e, rest, p=p) - eq.forces(-e, rest, p=p) for e in np.eye(n)]) / 2
        assert np.abs(K[:2, :2]).max() == 0  # it slides and turns freely
        found[modes] = np.sqrt(np.abs(eigh((K + K.T) / 2, M, eigvals_only=True)))[2:]
    expected = finite_element_frequencies(values, ELEMENTS)[2:]
    errors = np.array([found[modes][:2] / expected[:2] - 1 for modes in (2, 4, 10)])
    assert (errors[:-1] > 0).all()
    assert (np.diff(errors, axis=0) < 0).all()
    # what is left is the error of the elements, (βh)⁴/1440 for a uniform beam
    beta4 = expected[:2] ** 2 * values["mu"] / values["EI"]
    elements = beta4 * (values["l"] / ELEMENTS) ** 4 / 1440
    assert (np.abs(errors[-1]) < elements).all()


def test_the_coordinates_of_modes_are_displacements():
    system = flexible_pendulum().equations().system
    assert [q.unit for q in system.q] == ["m", "rad", "m", "m"]


def test_the_script_runs(capsys):
    runpy.run_path(str(SCRIPT), run_name="__main__")
    printed = capsys.readouterr().out
    assert "arithmetic operations" in printed
    lines = [line.split() for line in printed.splitlines()[1:4]]
    for _, found, exact in lines:
        assert float(found) == pytest.approx(float(exact), rel=1e-5)
