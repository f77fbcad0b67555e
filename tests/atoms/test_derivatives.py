"""Derivatives: forward, reverse, differences in many digits, complex step and sympy agree."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from mpmath import mpf

from biela import atoms
from biela.atoms import (
    Atom,
    Workspace,
    cos,
    diff,
    directional,
    evaluate,
    exp,
    gradient,
    jacobian,
    log,
    maximum,
    minimum,
    select,
    sin,
    sparsity,
    sqrt,
    tan,
    tanh,
    time_derivative,
)
from biela.atoms.table import Table
from biela.errors import DomainError, WorkspaceError
from tests.atoms.test_algebra import (
    SYMBOLS,
    UNIT_ROUNDOFF,
    exact_recipe,
    mp_number,
    mp_values,
    only_exact_numbers,
    points,
    steps,
)


@pytest.fixture
def ws() -> Workspace:
    return Workspace()


@pytest.fixture
def xyz(ws: Workspace) -> tuple[Atom, ...]:
    return ws.symbols("x y z")


# --- random graphs ------------------------------------------------------------


@settings(derandomize=True, deadline=None, max_examples=120)
@given(recipe=steps, values=points)
def test_derivatives_of_random_graphs_are_the_limits_of_differences(recipe, values):
    """Central differences with h = 10^-30 at 90 digits are good to h^2 f'''/6 and 10^-60 f."""
    h = Fraction(1, 10**30)
    with mpmath.workdps(90):
        cooked = exact_recipe(recipe, values)
        if not only_exact_numbers(cooked.workspace):
            return
        ws = cooked.workspace
        inputs = [ws[n] for n in SYMBOLS]
        e = cooked.atoms[-1]
        forward = [diff(e, s) for s in inputs]
        reverse = gradient(e, inputs)
        at = {n: mp_number(v) for n, v in zip(SYMBOLS, values, strict=True)}
        found = mp_values(forward, at)
        again = mp_values(reverse, at)
        condition = cooked.nodes[-1].error / UNIT_ROUNDOFF
        for k in range(4):
            moved = []
            for step in (h, -h):
                shifted = list(values)
                shifted[k] += step
                moved.append(exact_recipe(recipe, shifted))
            assert len(moved[0].nodes) == len(moved[1].nodes) == len(cooked.nodes)
            difference = (moved[0].nodes[-1].value - moved[1].nodes[-1].value) / (2 * mp_number(h))
            size = 1 + abs(difference) + condition
            assert abs(found[k] - difference) <= mpf(10) ** -30 * size, (e, SYMBOLS[k])
            assert abs(again[k] - difference) <= mpf(10) ** -30 * size, (e, SYMBOLS[k])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(recipe=steps, values=points)
def test_second_derivatives_do_not_depend_on_the_order(recipe, values):
    with mpmath.workdps(60):
        cooked = exact_recipe(recipe, values)
        if not only_exact_numbers(cooked.workspace):
            return
        a, b = cooked.workspace["a"], cooked.workspace["b"]
        e = cooked.atoms[-1]
        at = {n: mp_number(v) for n, v in zip(SYMBOLS, values, strict=True)}
        ab, ba, aa, bb = mp_values(
            [diff(diff(e, a), b), diff(diff(e, b), a), diff(diff(e, a), a), diff(diff(e, b), b)],
            at,
        )
        assert abs(ab - ba) <= mpf(10) ** -35 * (1 + abs(ab) + abs(aa) + abs(bb)), e


@settings(derandomize=True, deadline=None, max_examples=80)
@given(recipe=steps, values=points)
def test_jacobians_are_the_same_in_every_mode_and_within_their_sparsity(recipe, values):
    with mpmath.workdps(60):
        cooked = exact_recipe(recipe, values)
        if not only_exact_numbers(cooked.workspace):
            return
        ws = cooked.workspace
        inputs = [ws[n] for n in SYMBOLS]
        outputs = [*cooked.atoms[-4:], -cooked.atoms[-1], inputs[0], ws.atom(0), ws.atom(3)]
        at = {n: mp_number(v) for n, v in zip(SYMBOLS, values, strict=True)}
        allowed = set(sparsity(outputs, inputs))
        matrices = []
        for mode in ("forward", "reverse", "auto"):
            J = jacobian(outputs, inputs, mode=mode)
            assert J.shape == (len(outputs), 4)
            assert set(J.pattern) <= allowed
            assert J.pattern == sorted(J.pattern)
            assert J.nonzeros == [J.rows[i][j] for i, j in J.pattern]
            assert all(
                (J.rows[i][j] == 0) == ((i, j) not in J.pattern)
                for i in range(len(outputs))
                for j in range(4)
            )
            matrices.append(mp_values([entry for row in J.rows for entry in row], at))
        size = 1 + max(abs(entry) for entry in matrices[0])
        for f, r, auto in zip(*matrices, strict=True):
            assert abs(f - r) <= mpf(10) ** -40 * size
            assert auto in (f, r)


# --- each function ------------------------------------------------------------

S_X, S_Y = sympy.symbols("x y", real=True)

#: name: (atoms, sympy, points)
CASES = {
    "sum": (lambda x, y: x - y + 3, S_X - S_Y + 3, [(0.3, 0.7)]),
    "product": (lambda x, y: x * y * 5, S_X * S_Y * 5, [(0.3, 0.7)]),
    "quotient": (lambda x, y: x / y, S_X / S_Y, [(0.3, 0.7), (0.3, -0.7)]),
    "reciprocal": (lambda x, y: 1 / (x * y), 1 / (S_X * S_Y), [(0.3, -0.7)]),
    "square": (lambda x, y: (x - y) ** 2, (S_X - S_Y) ** 2, [(0.3, 0.7)]),
    "seventh power": (lambda x, y: (x * y) ** 7, (S_X * S_Y) ** 7, [(0.3, 0.7), (-0.3, 0.7)]),
    "negative power": (lambda x, y: (x - y) ** -3, (S_X - S_Y) ** -3, [(0.3, 0.7)]),
    "half power": (lambda x, y: (x * y) ** 2.5, (S_X * S_Y) ** sympy.Rational(5, 2), [(0.3, 0.7)]),
    "negative half power": (
        lambda x, y: (x * y) ** -1.5,
        (S_X * S_Y) ** sympy.Rational(-3, 2),
        [(0.3, 0.7)],
    ),
    "cube root": (
        lambda x, y: (x * y) ** Fraction(1, 3),
        (S_X * S_Y) ** sympy.Rational(1, 3),
        [(0.3, 0.7)],
    ),
    "real power": (lambda x, y: x**y, S_X**S_Y, [(0.3, 0.7), (1.5, -2.25)]),
    "self power": (lambda x, y: x**x, S_X**S_X, [(0.3, 0.7)]),
    "exponential of base two": (lambda x, y: 2 ** (x * y), 2 ** (S_X * S_Y), [(0.3, 0.7)]),
    "power in the exponent": (lambda x, y: x ** (y * y), S_X ** (S_Y * S_Y), [(0.3, 0.7)]),
    "sqrt": (lambda x, y: sqrt(x + y), sympy.sqrt(S_X + S_Y), [(0.3, 0.7)]),
    "sin": (lambda x, y: sin(x * y), sympy.sin(S_X * S_Y), [(0.3, 0.7)]),
    "cos": (lambda x, y: cos(y - x), sympy.cos(S_Y - S_X), [(0.3, 0.7)]),
    "tan": (lambda x, y: tan(y - x), sympy.tan(S_Y - S_X), [(0.3, 0.7)]),
    "asin": (lambda x, y: atoms.asin(x * y), sympy.asin(S_X * S_Y), [(0.3, 0.7), (-0.3, 0.7)]),
    "acos": (lambda x, y: atoms.acos(x * y), sympy.acos(S_X * S_Y), [(0.3, 0.7), (-0.3, 0.7)]),
    "acos of an opposite": (lambda x, y: atoms.acos(-x), sympy.acos(-S_X), [(0.3, 0.7)]),
    "atan": (lambda x, y: atoms.atan(y - x * x), sympy.atan(S_Y - S_X**2), [(0.3, 0.7)]),
    "atan2": (
        lambda x, y: atoms.atan2(y, x),
        sympy.atan2(S_Y, S_X),
        [(0.3, 0.7), (-0.3, 0.7), (-0.3, -0.7), (0.3, -0.7)],
    ),
    "atan2 of an opposite": (
        lambda x, y: atoms.atan2(-y, -x * y),
        sympy.atan2(-S_Y, -S_X * S_Y),
        [(0.3, 0.7), (0.3, -0.7)],
    ),
    "exp": (lambda x, y: exp(-x * y), sympy.exp(-S_X * S_Y), [(0.3, 0.7)]),
    "log": (lambda x, y: log(x * y + 1), sympy.log(S_X * S_Y + 1), [(0.3, 0.7)]),
    "tanh": (lambda x, y: tanh(x / y), sympy.tanh(S_X / S_Y), [(0.3, 0.7)]),
    "abs": (lambda x, y: abs(x - y) * x, sympy.Abs(S_X - S_Y) * S_X, [(0.3, 0.7), (0.7, 0.3)]),
    "sign": (lambda x, y: atoms.sign(x - y) * x, sympy.sign(S_X - S_Y) * S_X, [(0.3, 0.7)]),
    "minimum": (
        lambda x, y: minimum(x * x, y) * y,
        sympy.Piecewise((S_X**2, S_X**2 < S_Y), (S_Y, True)) * S_Y,
        [(0.3, 0.7), (0.7, 0.3)],
    ),
    "maximum": (
        lambda x, y: maximum(x * x, y, x * y),
        sympy.Piecewise(
            (S_X**2, (S_X**2 > S_Y) & (S_X > S_Y)), (S_Y, S_Y > S_X * S_Y), (S_X * S_Y, True)
        ),
        [(0.3, 0.7), (0.7, 0.3), (2.5, 2.25)],
    ),
    "minimum of opposites": (
        lambda x, y: minimum(-x, -y) * x,
        -sympy.Piecewise((S_X, S_X > S_Y), (S_Y, True)) * S_X,
        [(0.3, 0.7), (0.7, 0.3)],
    ),
    "select": (
        lambda x, y: select(x < y, x * y, sin(x)),
        sympy.Piecewise((S_X * S_Y, S_X < S_Y), (sympy.sin(S_X), True)),
        [(0.3, 0.7), (0.7, 0.3)],
    ),
    "select of opposites": (
        lambda x, y: select(x >= y, -x, -y * y) * x,
        sympy.Piecewise((-S_X, S_X >= S_Y), (-(S_Y**2), True)) * S_X,
        [(0.3, 0.7), (0.7, 0.3)],
    ),
    "less": (lambda x, y: (x < y) * x, sympy.Piecewise((S_X, S_X < S_Y), (0, True)), [(0.3, 0.7)]),
}


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives_agree_with_sympy(name):
    build, closed, where = CASES[name]
    ws = Workspace()
    x, y = ws.symbols("x y")
    e = build(x, y)
    first = {(s,): diff(e, t) for s, t in ((S_X, x), (S_Y, y))}
    second = {
        (s, u): diff(diff(e, t), v)
        for s, t in ((S_X, x), (S_Y, y))
        for u, v in ((S_X, x), (S_Y, y))
    }
    reverse = {(s,): g for s, g in zip((S_X, S_Y), gradient(e, [x, y]), strict=True)}
    # log(2) is folded to a double, all else is exact
    tolerance = 4 * UNIT_ROUNDOFF if name == "exponential of base two" else mpf(10) ** -30
    for a, b in where:
        with mpmath.workdps(40):
            at = {S_X: sympy.Rational(a), S_Y: sympy.Rational(b)}
            for derivatives in (first, second, reverse):
                for by, d in derivatives.items():
                    exact = sympy.diff(closed, *by).subs(at).doit()
                    exact = exact.replace(sympy.DiracDelta, lambda *_: sympy.S.Zero)
                    expected = mpf(str(sympy.N(exact, 40)))
                    (found,) = mp_values([d], {"x": mpf(a), "y": mpf(b)})
                    assert abs(found - expected) <= tolerance * (1 + abs(expected)), (by, d)


@pytest.mark.parametrize("name", CASES)
def test_the_complex_step_gives_the_derivative(name):
    """f(x + ih) = f + ih f': no difference is taken, so only rounding of f' itself remains."""
    build, _, where = CASES[name]
    ws = Workspace()
    x, y = ws.symbols("x y")
    e = build(x, y)
    h = 1e-40
    for a, b in where:
        by_x = evaluate(e, {x: a + 1j * h, y: b}).imag / h
        by_y = evaluate(e, {x: a, y: b + 1j * h}).imag / h
        expected = evaluate([diff(e, x), diff(e, y)], {x: a, y: b})
        assert [by_x, by_y] == pytest.approx([float(d) for d in expected], rel=1e-13, abs=1e-15)


def test_a_product_of_three_factors_keeps_the_other_two(ws, xyz):
    x, y, z = xyz
    e = x * y * z
    assert diff(e, x) == y * z
    assert diff(e, y) == x * z
    assert diff(e, z) == x * y
    f = sin(x) * cos(x) * exp(x)
    at = {x: 0.4}
    s, c, g = math.sin(0.4), math.cos(0.4), math.exp(0.4)
    assert float(evaluate(diff(f, x), at)) == pytest.approx(
        (c * c - s * s + s * c) * g, rel=1e-15, abs=0
    )


def test_simple_derivatives_reuse_the_atoms_that_are_there(ws, xyz):
    x, y, _ = xyz
    e = exp(x)
    s, c = sin(x), cos(x)
    before = len(ws)
    assert diff(e, x) == e
    assert diff(s, x) == c and diff(c, x) == -s
    assert diff(x, x) == 1 and diff(x, y) == 0 and diff(-x, x) == -1
    assert diff(ws.atom(0), x) == 0 and diff(s, y) == 0
    assert len(ws) == before


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("value", [1e-75, -1e-60, 1e-3, 1e75])
def test_the_derivative_of_a_negative_power_keeps_the_range_of_the_result(xyz, n, value):
    """-n x**(-n - 1) is a double where the square of 1/x**n is none."""
    x, _, _ = xyz
    expected = -n * value ** (-n - 1)
    for d in (diff(x**-n, x), gradient(1 / x**n, [x])[0]):
        assert float(evaluate(d, {x: value})) == pytest.approx(expected, rel=1e-14, abs=0)


# --- where a branch is not defined --------------------------------------------


@pytest.mark.parametrize("at", [-1.0, 0.0, 2.0])
@pytest.mark.parametrize("derivative", [diff, lambda e, x: gradient(e, [x])[0]])
def test_a_branch_that_is_not_taken_leaves_no_trace_in_the_derivative(xyz, derivative, at):
    """select guards a law where it is not defined; 0 * nan must not come back by the chain rule."""
    x, _, _ = xyz
    laws = [
        (select(x > 0, sqrt(x), 0), lambda v: 0.5 / math.sqrt(v) if v > 0 else 0.0),
        (select(x > 0, log(x) * x, x), lambda v: math.log(v) + 1 if v > 0 else 1.0),
        (3 * select(x > 0, x**1.3, 2 * x), lambda v: 3.9 * v**0.3 if v > 0 else 6.0),
        (
            select(x > 0, sin(x) / x, 1),
            lambda v: (v * math.cos(v) - math.sin(v)) / v**2 if v > 0 else 0,
        ),
    ]
    for law, expected in laws:
        assert float(evaluate(derivative(law, x), {x: at})) == pytest.approx(
            expected(at), rel=1e-14, abs=0
        )


# --- many at once --------------------------------------------------------------


def four_bar(ws: Workspace) -> tuple[list[Atom], list[Atom]]:
    q = list(ws.symbols("q:3"))
    l = ws.parameters("l:4")
    a, b = q[0] + q[1], q[0] + q[1] + q[2]
    closure = [
        l[0] * cos(q[0]) + l[1] * cos(a) + l[2] * cos(b) - l[3],
        l[0] * sin(q[0]) + l[1] * sin(a) + l[2] * sin(b),
    ]
    return closure, q


def test_the_jacobian_of_a_closure_is_the_known_one(ws):
    closure, q = four_bar(ws)
    rng = np.random.default_rng(3)
    angles, lengths = rng.normal(size=3), rng.uniform(1, 2, 4)
    at = dict(zip(q, angles, strict=True)) | {ws[f"l{k + 1}"]: lengths[k] for k in range(4)}
    t = np.cumsum(angles)
    links = np.array([-lengths[:3] * np.sin(t), lengths[:3] * np.cos(t)])
    expected = np.cumsum(links[:, ::-1], axis=1)[:, ::-1]
    for mode in ("forward", "reverse", "auto"):
        J = jacobian(closure, q, mode=mode)
        found = np.array([[float(evaluate(e, at)) for e in row] for row in J.rows])
        assert found == pytest.approx(expected, rel=1e-14, abs=1e-15)
        assert J.mode == mode or mode == "auto"


def test_the_cheaper_mode_is_chosen(ws):
    xs = ws.symbols("x:20")
    total = ws.atom(1)
    for x in xs:
        total = total * sin(x)
    assert jacobian([total], xs).mode == "reverse"
    x = xs[0]
    powers = [sin(x) ** k for k in range(2, 22)]
    assert jacobian(powers, [x]).mode == "forward"


def test_a_directional_derivative_is_the_jacobian_times_the_direction(ws):
    closure, q = four_bar(ws)
    v = ws.symbols("v1 v2")
    direction = {q[0]: v[0], q[1]: 2 * v[1], q[2]: -0.5}
    rng = np.random.default_rng(4)
    at = {s: float(rng.normal()) for s in ws}
    along = np.array([float(d) for d in evaluate(directional(closure, direction), at)])
    J = np.array([[float(evaluate(e, at)) for e in row] for row in jacobian(closure, q).rows])
    rates = np.array([at[v[0]], 2 * at[v[1]], -0.5])
    assert along == pytest.approx(J @ rates, rel=1e-13, abs=0)


def test_nothing_to_differentiate_gives_nothing(ws, xyz):
    x, y, _ = xyz
    assert directional([], {x: 1}) == []
    assert jacobian([], [x, y]).rows == [] and sparsity([], [x]) == []
    J = jacobian([x, y], [])
    assert J.rows == [[], []] and J.pattern == []
    assert jacobian([ws.atom(2), x], [y], mode="reverse").rows == [[0], [0]]


def test_sparsity_lists_what_depends_even_if_it_cancels(xyz):
    x, y, z = xyz
    outputs = [x * y, sin(z), (x + y) - x + z * 0, y * (x - y) + y * y]
    assert sparsity(outputs, [x, y, z]) == [
        (0, 0), (0, 1), (1, 2), (2, 0), (2, 1), (3, 0), (3, 1),
    ]  # fmt: skip
    J = jacobian(outputs, [x, y, z], mode="forward")
    assert (2, 0) not in J.pattern and J.rows[2][1] == 1


# --- time -----------------------------------------------------------------------


def test_the_time_derivative_follows_a_motion(ws):
    """d/dt f(q, q', t, p) along q(t), against mpmath's derivative of the composed function."""
    q, r = ws.coordinates("q r")
    t, m = ws.time, ws.parameter("m")
    f = m * sin(q) * r.velocity**2 + q.velocity * exp(-t * r) + t**2
    motion = {
        "q": lambda u: mpmath.sin(1.3 * u) + u,
        "r": lambda u: mpmath.exp(-u) * u**2,
    }
    with mpmath.workdps(40):
        now = mpf("0.7")
        m_value = mpf("2.5")

        def along(u):
            return {
                "q": motion["q"](u),
                "r": motion["r"](u),
                "dq": mpmath.diff(motion["q"], u),
                "dr": mpmath.diff(motion["r"], u),
                "ddq": mpmath.diff(motion["q"], u, 2),
                "ddr": mpmath.diff(motion["r"], u, 2),
                "t": u,
                "m": m_value,
            }

        def composed(u):
            s = along(u)
            return (
                m_value * mpmath.sin(s["q"]) * s["dr"] ** 2
                + s["dq"] * mpmath.exp(-u * s["r"])
                + u**2
            )

        (found,) = mp_values([time_derivative(f)], along(now))
        h = mpf(10) ** -8
        # differences of differences: four digits in ten are left of the 40
        expected = (composed(now + h) - composed(now - h)) / (2 * h)
        assert abs(found - expected) < mpf(10) ** -10
    assert time_derivative([q, q.velocity, t, m]) == [q.velocity, q.acceleration, 1, 0]
    assert time_derivative([]) == []


@pytest.mark.parametrize("make", ["input", "acceleration", "unknown"])
def test_what_has_no_rate_needs_one_given(ws, make):
    q = ws.coordinate("q")
    u = {
        "input": lambda: ws.input("u"),
        "acceleration": lambda: q.acceleration,
        "unknown": lambda: ws.unknowns("lam")[0],
    }[make]()
    with pytest.raises(DomainError, match=u.name):
        time_derivative(u * q)
    rate = ws.symbol("rate")
    assert time_derivative(u * q, rates={u: rate}) == u * q.velocity + q * rate


def test_given_rates_come_before_those_of_the_symbols(ws):
    q = ws.coordinate("q")
    assert time_derivative(sin(q), rates={q: 3}) == 3 * cos(q)


# --- curves and external functions ---------------------------------------------


def test_derivatives_of_a_spline_are_those_of_its_cubic(ws, xyz):
    """A not-a-knot spline through points of a cubic is that cubic, derivatives and all."""
    x, y, _ = xyz
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.25])
    knots = [-2.0, -1.0, 0.5, 1.0, 3.0]
    f = ws.spline("f", knots, [float(cubic(k)) for k in knots])
    e = f(x * y)
    d = diff(e, x)
    dd = diff(d, x)
    for a, b in ((0.4, 1.3), (-0.9, 1.1), (1.2, 2.2)):
        at = {x: a, y: b}
        assert float(evaluate(d, at)) == pytest.approx(b * cubic.deriv()(a * b), rel=1e-13, abs=0)
        assert float(evaluate(dd, at)) == pytest.approx(
            b * b * cubic.deriv(2)(a * b), rel=1e-12, abs=0
        )
        assert float(evaluate(gradient(e, [x])[0], at)) == float(evaluate(d, at))
        step = evaluate(e, {x: a + 1e-40j, y: b}).imag / 1e-40
        assert step == pytest.approx(float(evaluate(d, at)), rel=1e-14, abs=0)
    third = diff(dd, x)
    assert float(evaluate(third, {x: 0.4, y: 1.0})) == pytest.approx(1.5, rel=1e-11, abs=0)
    assert diff(third, x) == 0


def test_derivatives_of_a_table_are_its_slopes(ws, xyz):
    x, _, _ = xyz
    f = ws.lookup("f", [0, 1, 3], [0, 2, 1])
    d = diff(f(x), x)
    found = [float(v) for v in evaluate(d, {x: np.array([-1.0, 0.5, 1.0, 2.0, 3.5])})]
    assert found == [0.0, 2.0, -0.5, -0.5, 0.0]
    assert diff(d, x) == 0
    periodic = ws.lookup("g", [0, 1, 3], [0, 2, 0], outside="periodic")
    assert float(evaluate(diff(periodic(x), x), {x: 6.5})) == 2.0


def test_external_functions_use_their_partials(ws, xyz):
    x, y, _ = xyz
    f = ws.external(
        "f",
        2,
        lambda a, b: a * a * math.sin(b),
        [lambda a, b: 2 * a * math.sin(b), lambda a, b: a * a * math.cos(b)],
    )
    e = f(x * y, -y) * x
    a, b = 0.7, 1.2
    at = {x: a, y: b}
    by_x = -a * a * b * b * math.sin(b) - a * 2 * a * b * b * math.sin(b)
    by_y = -(a**3) * (2 * b * math.sin(b) + b * b * math.cos(b))
    for found in ([diff(e, x), diff(e, y)], gradient(e, [x, y])):
        assert [float(v) for v in evaluate(found, at)] == pytest.approx(
            [by_x, by_y], rel=1e-14, abs=0
        )


def test_an_external_partial_not_given_is_declared_and_can_be_bound(ws, xyz):
    x, y, _ = xyz
    f = ws.external("f", 2)
    d = diff(f(x, y * y), y)
    at = {x: 1.0, y: 2.0}
    with pytest.raises(DomainError, match="f_d2"):
        evaluate(d, at)
    ws.bind("f_d2", lambda a, b: 10 * a + b)
    assert float(evaluate(d, at)) == 4.0 * 14.0


def test_an_external_function_can_be_given_after_its_derivative_was_taken(ws, xyz):
    x, _, _ = xyz
    f = ws.external("f")
    d = diff(f(x), x)
    ws.external("f", 1, math.sin, [math.cos])
    assert float(evaluate(d, {x: 0.3})) == math.cos(0.3)


def test_the_complex_step_goes_through_external_functions(ws, xyz):
    x, _, _ = xyz
    f = ws.external("f", 1, math.sin, [math.cos])
    value = evaluate(f(x * x), {x: 0.3 + 1e-40j})
    assert value.real == pytest.approx(math.sin(0.09), rel=1e-15, abs=0)
    assert value.imag / 1e-40 == pytest.approx(0.6 * math.cos(0.09), rel=1e-15, abs=0)


def test_an_external_function_is_checked_on_declaration_and_call(ws, xyz):
    x, y, _ = xyz
    f = ws.external("f", 2)
    with pytest.raises(DomainError, match="takes 2 arguments, not 1"):
        f(x)
    with pytest.raises(WorkspaceError, match="takes 2"):
        ws.external("f", 3)
    with pytest.raises(DomainError, match="partials"):
        ws.external("g", 2, max, [max])
    with pytest.raises(DomainError):
        ws.external("h", 0)
    with pytest.raises(DomainError):
        ws.external("no name", 1)
    with pytest.raises(WorkspaceError, match="'nothing'"):
        ws.bind("nothing", max)
    assert f(x, y) == f(x, y) and f(x, y) != f(y, x)


# --- cost ------------------------------------------------------------------------


def shared_chain(n: int) -> tuple[Workspace, Atom, Atom]:
    ws = Workspace()
    x, y = ws.symbols("x y")
    e = x
    for _ in range(n):
        e = sin(e) * cos(e) + e * y
    return ws, e, x


@pytest.mark.parametrize("derivative", [diff, lambda e, x: gradient(e, [x])[0]])
def test_the_derivative_of_a_shared_graph_grows_linearly(derivative):
    """Written out, the chain has 3^n leaves; each of its links may cost a fixed number of atoms."""
    grown = []
    for n in (200, 400):
        ws, e, x = shared_chain(n)
        before = len(ws)
        derivative(e, x)
        grown.append(len(ws) - before)
    assert grown[0] < 200 * 12
    assert grown[1] <= 2 * grown[0] + 4


def test_a_gradient_costs_a_few_times_the_function_whatever_the_number_of_inputs():
    """The cheap gradient principle: about five times the operations (Griewank & Walther, §3.3)."""
    ws = Workspace()
    xs = ws.symbols("x:200")
    f = ws.atom(1)
    for i, x in enumerate(xs):
        f = f * sin(x + i) + x * x
    before = len(ws)
    operations = before - 200
    g = gradient(f, xs)
    assert len(ws) - before < 5 * operations
    rng = np.random.default_rng(2)
    at = {x: float(rng.normal()) for x in xs}
    for k in (0, 77, 199):
        step = evaluate(f, at | {xs[k]: at[xs[k]] + 1e-40j}).imag / 1e-40
        assert float(evaluate(g[k], at)) == pytest.approx(step, rel=1e-12, abs=0)


def test_a_derivative_is_taken_once(monkeypatch):
    ws, e, x = shared_chain(100)
    d = diff(e, x)
    size = len(ws)
    calls = []
    original = Table.mul
    monkeypatch.setattr(Table, "mul", lambda self, a, b: calls.append(a) or original(self, a, b))
    assert diff(e, x) == d and diff(-e, x) == -d
    assert calls == []
    assert len(ws) == size
    diff(sin(e), x)
    assert 0 < len(calls) < 10


# --- errors ------------------------------------------------------------------------


def test_derivatives_are_taken_by_symbols_of_the_same_workspace(ws, xyz):
    x, y, _ = xyz
    foreign = Workspace("other").symbol("x")
    for wrong in (x + y, -x, ws.atom(2), 3, "x"):
        with pytest.raises(DomainError, match="symbol"):
            diff(x, wrong)
        with pytest.raises(DomainError, match="symbol"):
            gradient(x, [wrong])
    with pytest.raises(WorkspaceError, match="other"):
        diff(x, foreign)
    with pytest.raises(WorkspaceError, match="other"):
        jacobian([x, foreign], [x])
    with pytest.raises(DomainError, match="twice"):
        jacobian([x], [x, x])


def test_a_mode_that_does_not_exist_is_refused(xyz):
    x, _, _ = xyz
    with pytest.raises((DomainError, ValueError), match="sideways"):
        jacobian([x], [x], mode="sideways")


@pytest.mark.parametrize("law", ["abs(v)**1.5", "sqrt(v**2)", "v*abs(v)"])
def test_laws_of_drag_have_a_slope_at_rest(law):
    ws = Workspace()
    v = ws.symbol("v")
    assert float(evaluate(diff(ws.parse(law), v), {v: 0.0})) == 0.0


def test_a_gradient_through_a_choice_stays_cheap():
    """One outer maximum must not cost a sweep for each of many inputs."""
    ws = Workspace()
    x = ws.symbols("x:200")
    e = ws.atom(0)
    for a, b in pairwise(x):
        e = e + sin(a) * b
    sizes = []
    for expression in (e, maximum(e, 0)):
        entries = gradient(expression, list(x))
        live = ws.table.live(g.ref for g in entries)
        sizes.append(sum(ws.table.ops[a] > 1 for a in live))
    assert sizes[1] < 2 * sizes[0]
    values = {s: 0.1 * k for k, s in enumerate(x)}
    found = np.array(evaluate(gradient(maximum(e, 0), list(x)), values), dtype=float)
    expected = np.array(evaluate([diff(e, s) for s in x], values), dtype=float)
    positive = float(evaluate(e, values)) > 0
    np.testing.assert_allclose(found, expected if positive else 0 * expected, rtol=1e-12)


def test_a_sparse_jacobian_costs_what_its_entries_cost():
    ws = Workspace()
    n = 300
    x = ws.symbols(f"x:{n}")
    rows = [sin(x[i]) * x[(i + 1) % n] for i in range(n)]
    before = len(ws)
    J = jacobian(rows, list(x), "forward")
    assert len(J.pattern) == 2 * n
    assert len(ws) - before < 4 * n
    assert sum(len(known) for known in ws.table.derivatives.values()) < 20 * n


def test_the_branch_not_taken_leaves_no_trace_backwards_either():
    ws = Workspace()
    x, y = ws.symbols("x y")
    e = select(x > 0, sqrt(x), y) + minimum(log(y), x)
    slopes = gradient(e, [x, y])
    assert [float(s) for s in evaluate(slopes, {x: -1.0, y: 2.0})] == [1.0, 1.0]
