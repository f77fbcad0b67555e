"""Matrices on paper: read back, they have their values; and each stands in its equation."""

from __future__ import annotations

import re

import numpy as np
import pytest

from biela.atoms import latex
from biela.errors import ModelError
from examples.symbolic.stewart import stewart
from examples.symbolic.ten_link_pendulum import pendulum
from tests.latex_reader import Reader
from tests.mechanisms import block_pendulum, crank_rod_disc, four_bar, numbers, random_values


def rows_of(text: str) -> list[list[str]]:
    body = re.search(r"\\begin\{bmatrix\}(.*)\\end\{bmatrix\}", text, re.S)[1]
    return [row.split("&") for row in body.split(r"\\")]


def definitions(text: str) -> list[tuple[str, str]]:
    found = re.findall(r"^(\S+) &= (.*?) \\\\$", text, re.M)
    return [(name, formula) for name, formula in found if "bmatrix" not in formula]


def read(text: str, values) -> np.ndarray:
    """The values of a matrix from what is printed alone."""
    known = {latex(symbol): value for symbol, value in values.items()}
    reader = Reader(known, definitions(text))
    return np.array([[reader(cell) for cell in row] for row in rows_of(text)])


@pytest.mark.parametrize("model", (block_pendulum, four_bar, crank_rod_disc, stewart))
@pytest.mark.parametrize("limit", (0, 2000))
def test_what_is_printed_has_the_values_of_the_matrix(model, limit):
    eq = model().equations()
    values = random_values(eq.source.workspace, 61)
    # positive, since square roots are printed too
    values = {symbol: abs(value) for symbol, value in values.items()}
    for name in ("M", "Q", "Phi", "Phi_v", "gamma"):
        if name in eq.expressions:
            found = read(eq.latex(name, limit), values)
            expected = numbers(eq.expressions[name], values).reshape(found.shape)
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * scale)


def test_small_matrices_are_written_out_and_large_ones_are_listed():
    small, large = block_pendulum().equations(), pendulum(10).equations()
    assert small.latex("M").startswith(r"M = \begin{bmatrix}")
    text = large.latex("M")
    assert text.startswith("\\begin{aligned}\nz_{1} &= ")
    # about a line for an atom, not the millions of terms of the expanded matrix
    assert len(text) < 60 * large.system["M"].count.arithmetic


def test_each_matrix_is_shown_with_its_equation():
    free, closed = block_pendulum().equations(), crank_rod_disc().equations()
    assert free.latex("M").endswith(r", \qquad M \ddot{q} = Q")
    assert closed.latex("Q", 0).endswith(
        "\n& M \\ddot{q} + \\Phi_v^{T} \\lambda = Q\n\\end{aligned}"
    )
    equations = {
        "Phi": r"\Phi = 0",
        "Phi_q": r"\Phi_q = \frac{\partial \Phi}{\partial q}",
        "Phi_v": r"\Phi_v \dot{q} = \beta",
        "gamma": r"\Phi_v \ddot{q} = \gamma",
    }
    for name, equation in equations.items():
        assert equation in closed.latex(name)


def test_the_text_is_balanced():
    eq = crank_rod_disc().equations()
    for name in eq.expressions:
        for limit in (0, 5000):
            text = eq.latex(name, limit)
            assert text.count("{") == text.count("}")
            assert text.count(r"\left") == text.count(r"\right")
            begins = re.findall(r"\\begin\{(\w+)\}", text)
            ends = re.findall(r"\\end\{(\w+)\}", text)
            assert sorted(begins) == sorted(ends)


def test_formulas_are_accepted_by_a_typesetter():
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("path")
    lines = definitions(four_bar().equations().latex("Q"))
    assert len(lines) >= 15
    for name, formula in lines:
        parser.parse(f"${name} = {formula}$")


def test_a_notebook_shows_small_systems_and_counts_of_large_ones():
    assert block_pendulum().equations()._repr_latex_().count("bmatrix") == 4
    shown = pendulum(10).equations()._repr_latex_()
    assert "arithmetic operations" in shown
    assert len(shown) < 1000


def test_unknown_matrices_are_refused():
    with pytest.raises(ModelError, match="gives"):
        block_pendulum().equations().latex("Phi")
