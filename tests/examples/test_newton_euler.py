"""The recursive Newton–Euler example against closed forms and plain numbers."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "examples" / "newton_euler.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("newton_euler", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["newton_euler"] = module
    spec.loader.exec_module(module)
    return module


def test_a_planar_arm_has_the_torques_of_the_textbook(example):
    """Craig, *Introduction to Robotics*, example 6.7: two links, masses at their ends."""
    l1, l2, m1, m2, g = 0.5, 0.4, 2.0, 1.5, 9.81
    # joint axes are horizontal: the first frame is turned so that gravity lies in the plane
    links = (
        example.Link(0, math.pi / 2, 0, m1, (l1, 0, 0), (0,) * 6),
        example.Link(l1, 0, 0, m2, (l2, 0, 0), (0,) * 6),
    )
    (q1, q2), (v1, v2), (a1, a2) = (0.3, -0.8), (0.7, 1.1), (-0.4, 0.9)
    tau = example.torque_function("planar", links)([q1, q2], [v1, v2], [a1, a2])
    c1, c2, s2, c12 = math.cos(q1), math.cos(q2), math.sin(q2), math.cos(q1 + q2)
    expected = [
        m2 * l2**2 * (a1 + a2) + m2 * l1 * l2 * c2 * (2 * a1 + a2) + (m1 + m2) * l1**2 * a1
        - m2 * l1 * l2 * s2 * v2**2 - 2 * m2 * l1 * l2 * s2 * v1 * v2
        + m2 * l2 * g * c12 + (m1 + m2) * l1 * g * c1,
        m2 * l1 * l2 * c2 * a1 + m2 * l1 * l2 * s2 * v1**2 + m2 * l2 * g * c12
        + m2 * l2**2 * (a1 + a2),
    ]  # fmt: skip
    np.testing.assert_allclose(tau, expected, rtol=1e-13)


@pytest.mark.parametrize("which", ["puma", "random"])
def test_native_code_gives_the_torques_of_plain_numbers(example, which):
    links = example.PUMA_560 if which == "puma" else example.random_chain(7)
    f = example.torque_function(which, links)
    n = len(links)
    for row in np.random.default_rng(5).normal(size=(20, 3, n)):
        plain = example.inverse_dynamics(links, *row.tolist(), sin=math.sin, cos=math.cos)
        np.testing.assert_allclose(f(*row), plain, rtol=1e-11, atol=1e-13 * np.abs(plain).max())


def test_the_jacobian_by_accelerations_is_a_mass_matrix(example):
    f = example.torque_function("puma", example.PUMA_560)
    J = f.jacobian("tau", "a")
    M = J(*np.random.default_rng(2).normal(size=(3, 6)))
    np.testing.assert_allclose(M, M.T, atol=1e-13)
    assert np.linalg.eigvalsh(M).min() > 0


def test_the_jacobian_of_the_puma_needs_fewer_operations_than_published_tools(example):
    from biela.code.counts import arithmetic

    f = example.torque_function("puma", example.PUMA_560)
    J = f.jacobian("tau")
    assert arithmetic(J.schedule) < 3616  # instructions of the same Jacobian by CasADi 3.8
    state = np.random.default_rng(4).normal(size=(3, 6))
    found = J(*state)
    step = 1e-30
    for group in range(3):
        for entry in range(6):
            moved = [s.astype(complex) for s in state]
            moved[group][entry] += 1j * step
            column = np.imag(f.interpret(*moved)) / step
            np.testing.assert_allclose(found[:, 6 * group + entry], column, rtol=1e-9, atol=1e-11)


def test_the_example_runs_as_a_script(example, capsys):
    import runpy

    runpy.run_path(str(PATH), run_name="__main__")
    assert "torques" in capsys.readouterr().out
