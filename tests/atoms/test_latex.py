"""Expressions on paper."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from biela.atoms import (
    Kind,
    Workspace,
    atan2,
    cos,
    exp,
    log,
    minimum,
    select,
    sign,
    sin,
    sqrt,
)
from biela.atoms.latex import latex
from biela.errors import ExpressionTooLargeError
from tests.atoms.test_parse import furnished, grown


@pytest.fixture
def ws() -> Workspace:
    workspace = Workspace()
    workspace.symbols("x y z")
    return workspace


@pytest.mark.parametrize(
    "build, text",
    [
        (lambda x, y, z: x + y, "x + y"),
        (lambda x, y, z: x - y, "x - y"),
        (lambda x, y, z: -(x + y), r"- \left(x + y\right)"),
        (lambda x, y, z: -x * y, "- x y"),
        (lambda x, y, z: (x + y) * z, r"z \left(x + y\right)"),
        (lambda x, y, z: x - (y - z), r"x - \left(y - z\right)"),
        (lambda x, y, z: x / y, r"\frac{x}{y}"),
        (lambda x, y, z: (x + 1) / (y * z), r"\frac{1 + x}{y z}"),
        (lambda x, y, z: x / 3, r"\frac{1}{3} x"),
        (lambda x, y, z: 2 * x * 3, "6 x"),
        (lambda x, y, z: 2 * (1 / x), r"2 \cdot \frac{1}{x}"),
        (lambda x, y, z: x**2, "x^{2}"),
        (lambda x, y, z: (x + y) ** 12, r"\left(x + y\right)^{12}"),
        (lambda x, y, z: x**y, "x^{y}"),
        (lambda x, y, z: (x**y) ** z, r"\left(x^{y}\right)^{z}"),
        (lambda x, y, z: x**-y, "x^{- y}"),
        (lambda x, y, z: sqrt(x + 1), r"\sqrt{1 + x}"),
        (lambda x, y, z: sin(x) + cos(-y), r"\sin\left(x\right) + \cos\left(y\right)"),
        (lambda x, y, z: exp(-x) * log(y), r"e^{- x} \ln\left(y\right)"),
        (lambda x, y, z: exp(x) ** 2, r"\left(e^{x}\right)^{2}"),
        (lambda x, y, z: abs(x - y), r"\left|x - y\right|"),
        (lambda x, y, z: sign(x), r"\operatorname{sgn}\left(x\right)"),
        (lambda x, y, z: atan2(y, x), r"\operatorname{atan2}\left(y, x\right)"),
        (lambda x, y, z: minimum(x, y), r"\min\left(x, y\right)"),
        (lambda x, y, z: x + (y < z), r"x + \left[y < z\right]"),
        (lambda x, y, z: 1 - (y <= z), r"1 - \left[y \le z\right]"),
        (
            lambda x, y, z: select(x < y, x, z),
            r"\begin{cases} x & \text{if } x < y \\ z & \text{otherwise} \end{cases}",
        ),
        (
            lambda x, y, z: select(x < 1, x, select(x < 2, y, -z)),
            r"\begin{cases} x & \text{if } x < 1 \\ y & \text{if } x < 2 \\ - z & \text{otherwise}"
            r" \end{cases}",
        ),
        (
            lambda x, y, z: select(x, y, z),
            r"\begin{cases} y & \text{if } x \neq 0 \\ z & \text{otherwise} \end{cases}",
        ),
    ],
)
def test_operations_look_as_in_a_book(ws, build, text):
    assert latex(build(ws["x"], ws["y"], ws["z"])) == text


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (-3, "- 3"),
        (Fraction(-2, 7), r"- \frac{2}{7}"),
        (0.1, "0.1"),
        (0.5, r"\frac{1}{2}"),
        (1e-9, "10^{-9}"),
        (2.5e300, r"2.5 \cdot 10^{300}"),
        (math.pi, r"\pi"),
        (-2 * math.pi, r"- 2 \pi"),
        (math.pi / 2, r"\frac{\pi}{2}"),
        (3 * math.pi / 4, r"\frac{3 \pi}{4}"),
        (math.radians(5), r"\frac{\pi}{36}"),
        (3.14159, "3.14159"),
    ],
)
def test_numbers_are_decimals_fractions_or_multiples_of_pi(ws, value, text):
    assert latex(ws.atom(value)) == text


@pytest.mark.parametrize(
    "name, text",
    [
        ("x", "x"),
        ("theta", r"\theta"),
        ("theta1", r"\theta_{1}"),
        ("theta_12", r"\theta_{12}"),
        ("m_p", "m_{p}"),
        ("q1_2", "q_{1,2}"),
        ("omega_max", r"\omega_{\mathrm{max}}"),
        ("k_alpha", r"k_{\alpha}"),
        ("mass", r"\mathrm{mass}"),
        ("Gamma", r"\Gamma"),
        ("thetas", r"\mathrm{thetas}"),
        ("_x", r"\mathrm{\_x}"),
        ("x__1", r"\mathrm{x\_\_1}"),
        ("l2a", r"\mathrm{l2a}"),
    ],
)
def test_names_have_greek_letters_and_indices(name, text):
    assert latex(Workspace().parameter(name)) == text


def test_velocities_and_accelerations_have_dots():
    ws = Workspace()
    theta = ws.coordinate("theta1")
    assert latex(theta.velocity) == r"\dot{\theta}_{1}"
    assert latex(theta.acceleration**2) == r"\ddot{\theta}_{1}^{2}"


def test_only_the_rates_of_coordinates_have_dots():
    ws = Workspace()
    x = ws.coordinate("x", velocity="drift")
    assert latex(x.velocity) == r"\mathrm{drift}"
    assert latex(ws.parameter("d_1")) == "d_{1}"
    assert latex(ws.symbol("dm", Kind.FREE)) == r"\mathrm{dm}"


def test_curves_and_external_functions_are_called_by_name():
    ws = furnished()
    x = ws["x"]
    assert latex(ws.external("tyre", 2)(x, -x)) == r"\mathrm{tyre}\left(x, - x\right)"


def test_a_notebook_shows_the_expression(ws):
    assert ws["x"]._repr_latex_() == r"$\displaystyle x$"


@pytest.mark.parametrize("seed", range(5))
def test_braces_and_parentheses_are_balanced_whatever_is_written(seed):
    ws = furnished()
    for atom in grown(ws, random.Random(seed), 40):
        text = latex(atom, limit=10_000)
        assert text.count("{") == text.count("}")
        assert text.count(r"\left") == text.count(r"\right")
        assert text.count(r"\begin{cases}") == text.count(r"\end{cases}")


def test_what_nobody_can_read_is_refused(ws):
    e = ws["x"]
    for _ in range(50_000):
        e = sin(e) + e
    with pytest.raises(ExpressionTooLargeError, match="2000"):
        latex(e)
    with pytest.raises(ExpressionTooLargeError, match="limit"):
        latex(ws["x"] + ws["y"] * 2, limit=3)


def test_depth_is_no_matter(ws):
    e = ws["x"]
    for _ in range(3000):
        e = sin(e)
    assert latex(e, limit=10_000).count(r"\sin") == 3000
