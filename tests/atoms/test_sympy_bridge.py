"""SymPy expressions become atoms and atoms SymPy expressions, with the same values."""

from __future__ import annotations

import builtins
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.atoms import (
    Atom,
    Kind,
    Workspace,
    evaluate,
    exp,
    expanded_text,
    select,
    sin,
    sqrt,
)
from biela.atoms.sympy_bridge import from_sympy, to_sympy
from biela.errors import BielaError, DomainError, ExpressionTooLargeError, WorkspaceError
from tests.atoms.test_parse import MODEST, furnished, grown

sympy = pytest.importorskip("sympy")

X, Y, Z = sympy.symbols("x y z")
T = sympy.Symbol("t")
VALUES = {"x": 0.7, "y": -1.3, "z": 2.1, "t": 0.4}


@pytest.fixture
def ws() -> Workspace:
    workspace = Workspace("bridge")
    workspace.symbols("x y z")
    return workspace


def value(atom: Atom) -> float:
    ws = atom.workspace
    return float(evaluate(atom, {ws[name]: v for name, v in VALUES.items() if name in ws}))


def oracle(expression) -> float:
    return float(expression.evalf(30, subs={sympy.Symbol(k): v for k, v in VALUES.items()}))


# --- from SymPy -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        X + Y + Z - 3,
        X * Y * Z / 7,
        X * Y / (Z * (X + 2)),
        1 / sympy.sqrt(Z),
        Z ** sympy.Rational(-3, 2) * X,
        Z**X,
        Z**-Y,
        sympy.cbrt(Z),
        sympy.Rational(22, 7) * X - sympy.Float("0.125"),
        sympy.pi * X + sympy.E * Y + sympy.GoldenRatio,
        sympy.sin(X) * sympy.cos(Y) - sympy.tan(Z),
        sympy.asin(X) + sympy.acos(X) * sympy.atan(Y),
        sympy.atan2(Y, X) + sympy.atan2(-Y, -X),
        sympy.exp(X) * sympy.log(Z) + sympy.log(Z, 10),
        sympy.sinh(X) + 2 * sympy.cosh(Y) + sympy.tanh(Z) + sympy.coth(X),
        sympy.asinh(Y) + sympy.acosh(Z) + sympy.atanh(X),
        sympy.cot(X) + sympy.sec(Y) + sympy.csc(Z),
        sympy.sinc(X),
        sympy.Abs(Y) * sympy.sign(Y),
        sympy.Min(X, Y, Z) - sympy.Max(X, Y * Z, 1),
        sympy.Heaviside(Y) + 2 * sympy.Heaviside(X),
        sympy.Piecewise((X, X < Y), (Y, X >= Z), (Z, True)),
        sympy.Piecewise((1, (X > 0) & (Y < 0)), (2, True)),
        sympy.Piecewise((1, (X < 0) | (Y > 0) | (Z < 0)), (2, True)),
        sympy.Piecewise((1, ~((X > 0) & (Y > 0))), (2, True)),
        sympy.Piecewise((1, sympy.Eq(X, Y)), (2, sympy.Ne(X, Y)), (3, True)),
        sympy.Piecewise((1, sympy.Xor(X > 0, Y > 0)), (2, True)),
        sympy.Piecewise((X, sympy.ITE(X > 0, Y > 0, Z > 0)), (Y, True)),
    ],
    ids=str,
)
def test_every_function_keeps_its_value(ws, expression):
    assert value(from_sympy(ws, expression)) == pytest.approx(oracle(expression), rel=1e-14)


def test_sinh_keeps_its_digits_near_zero(ws):
    atom = from_sympy(ws, sympy.sinh(X))
    assert float(evaluate(atom, {ws["x"]: 1e-12})) == pytest.approx(1e-12, rel=1e-15)


def test_sums_and_products_of_sympy_are_plain_operations(ws):
    x, y, z = ws["x"], ws["y"], ws["z"]
    assert from_sympy(ws, X / Y) == x / y
    assert from_sympy(ws, X - Y) == x - y
    assert from_sympy(ws, 1 / sympy.sqrt(X)) == 1 / sqrt(x)
    assert from_sympy(ws, X * Y / Z**2) == x * y / z**2
    assert from_sympy(ws, sympy.Rational(1, 3)).value.denominator == 3


def test_plain_numbers_are_taken_too(ws):
    assert from_sympy(ws, 3).value == 3
    assert from_sympy(ws, 0.1).value == 0.1


def test_a_matrix_gives_the_list_of_its_rows(ws):
    rows = from_sympy(ws, sympy.Matrix([[X, 0, Y], [1, X * Y, Z]]))
    x, y, z = ws["x"], ws["y"], ws["z"]
    assert rows == [[x, ws.atom(0), y], [ws.atom(1), x * y, z]]
    assert from_sympy(ws, sympy.ImmutableMatrix([[X]])) == [[x]]


def test_unknown_symbols_are_declared_on_demand():
    ws = Workspace()
    from_sympy(ws, X * Y + T, declare=Kind.PARAMETER)
    assert (ws["x"].kind, ws["y"].kind, ws["t"].kind) == (
        Kind.PARAMETER,
        Kind.PARAMETER,
        Kind.TIME,
    )


def test_unknown_symbols_are_an_error_with_the_nearest_names(ws):
    ws.symbol("alpha")
    with pytest.raises(WorkspaceError, match="alpha"):
        from_sympy(ws, sympy.Symbol("alhpa"))


def test_functions_of_time_are_coordinates_with_their_rates():
    ws = Workspace()
    q = sympy.Function("q")(T)
    atom = from_sympy(ws, q * q.diff(T) + sympy.Symbol("m") * q.diff(T, 2), declare=Kind.PARAMETER)
    assert ws["q"].kind is Kind.COORDINATE
    assert ws["m"].kind is Kind.PARAMETER
    assert atom == ws["q"] * ws["q"].velocity + ws["m"] * ws["q"].acceleration


def test_a_pendulum_of_sympy_mechanics_comes_over():
    from sympy.physics.mechanics import dynamicsymbols

    ws = Workspace()
    theta = ws.coordinate("theta")
    l, g = ws.parameters("l g")
    q = dynamicsymbols("theta")
    L, G = sympy.symbols("l g")
    law = q.diff(dynamicsymbols._t, 2) + G / L * sympy.sin(q)
    assert from_sympy(ws, law) == theta.acceleration + g * sin(theta) / l


def test_the_rate_of_a_velocity_is_its_acceleration():
    ws = Workspace()
    x = ws.coordinate("x", velocity="u", acceleration="a")
    u = sympy.Function("u")(T)
    assert from_sympy(ws, u.diff(T)) == x.acceleration


def test_functions_of_the_workspace_are_called_by_name():
    ws = furnished()
    x, t = ws["x"], ws.time
    tyre, bend = sympy.Function("tyre"), sympy.Function("bend")
    assert from_sympy(ws, tyre(X, 2)) == ws.external("tyre", 2)(x, 2)
    assert from_sympy(ws, bend(T)) == ws.spline("bend", [0, 1, 2, 4], [0, 1, -1, 3])(t)


@pytest.mark.parametrize(
    "expression, words",
    [
        (sympy.I * X, "ImaginaryUnit"),
        (sympy.oo + X, "Infinity"),
        (sympy.zoo, "ComplexInfinity"),
        (sympy.nan, "NaN"),
        (sympy.gamma(X), "gamma"),
        (sympy.floor(X), "floor"),
        (sympy.Integral(X, (X, 0, 1)), "Integral"),
        (sympy.Sum(X, (X, 0, 3)), "Sum"),
        (sympy.Derivative(sympy.gamma(X), X), "doit"),
        (sympy.Function("q")(T).diff(T, 3), "rates"),
        (sympy.Function("x")(T).diff(T), "no coordinate"),
        (sympy.Function("f")(X, Y), "f is neither"),
        (sympy.Piecewise((X, X < Y)), "True"),
        (sympy.MatrixSymbol("A", 2, 2), "MatrixSymbol"),
        (sympy.MatrixSymbol("A", 2, 2) * sympy.MatrixSymbol("B", 2, 2), "MatrixSymbol"),
        (sympy.Float("1e400"), "inf"),
        (sympy.log(-2), "log|I"),
        ("x + y", "text"),
        (object(), "no expression"),
        ([X], "no expression"),
    ],
)
def test_what_has_no_counterpart_is_named(ws, expression, words):
    ws.coordinate("q")
    with pytest.raises(DomainError, match=words):
        from_sympy(ws, expression)


def test_two_things_of_one_name_are_not_confused(ws):
    positive = sympy.Symbol("x", positive=True)
    with pytest.raises(WorkspaceError, match="two different"):
        from_sympy(ws, X + sympy.sqrt(positive))
    with pytest.raises(WorkspaceError, match="two different"):
        from_sympy(ws, X + sympy.Function("x")(T))
    assert from_sympy(ws, positive) == ws["x"]


def test_a_name_that_no_language_can_spell_is_refused():
    with pytest.raises(DomainError, match="letters"):
        from_sympy(Workspace(), sympy.Symbol(r"\theta"), declare=Kind.FREE)


def test_shared_parts_of_a_sympy_expression_are_visited_once(ws):
    e = X
    for _ in range(200):  # 2^200 leaves if written out
        e = sympy.Add(sympy.Mul(e, e, evaluate=False), Y, evaluate=False)
    assert from_sympy(ws, e).ref
    assert len(ws) < 1000


def test_a_deep_sympy_expression_comes_over(ws):
    e = X
    for _ in range(5000):
        e = sympy.Add(sympy.Mul(Y, e, evaluate=False), Z, evaluate=False)
    assert len(ws.table.live([from_sympy(ws, e).ref])) >= 10_000


# --- to SymPy ---------------------------------------------------------------------------------


def test_atoms_become_sympy_expressions(ws):
    x, y, z = ws["x"], ws["y"], ws["z"]
    assert to_sympy(x * y - z / 3) == X * Y - Z / 3
    assert to_sympy(-(sin(x) ** 2)) == -(sympy.sin(X) ** 2)
    assert to_sympy(exp(sqrt(x)) ** y) == sympy.exp(sympy.sqrt(X)) ** Y
    assert to_sympy(math.pi * x) == sympy.pi * X
    assert to_sympy(ws.atom(-1)) == -1
    assert to_sympy(ws.atom(0)) == 0
    assert to_sympy(select(x < y, x, -z)) == sympy.Piecewise((X, X < Y), (-Z, True))
    assert to_sympy(x <= y) == sympy.Piecewise((1, X <= Y), (0, True))


def test_curves_and_external_functions_become_undefined_functions():
    ws = furnished()
    e = ws.external("tyre", 2)(ws["x"], 3)
    assert to_sympy(e) == sympy.Function("tyre")(X, 3)
    assert from_sympy(ws, to_sympy(e)) == e


def test_shared_atoms_are_shared_objects(ws):
    shared = sin(ws["x"] * ws["y"])
    e = to_sympy(shared**2 + exp(shared))
    found = [node for node in sympy.preorder_traversal(e) if node.func is sympy.sin]
    assert len(found) == 2
    assert found[0] is found[1]


def test_a_long_sum_or_product_takes_no_long_time(ws):
    x = ws["x"]
    total, product = x, x
    for k in range(2, 2000):
        total = total + ws.symbol(f"s{k}")
        product = product * ws.symbol(f"s{k}")
    assert len(to_sympy(total).args) == len(to_sympy(product).args) == 1999


def test_what_sympy_would_choke_on_is_refused(ws):
    e = ws["x"]
    for _ in range(20_000):
        e = sin(e) + e
    with pytest.raises(ExpressionTooLargeError, match="10000"):
        to_sympy(e)
    e = ws["x"]
    for _ in range(2500):
        e = sin(e)
    with pytest.raises(ExpressionTooLargeError, match="deeper"):
        to_sympy(e)


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions_have_the_value_sympy_finds(seed):
    ws = Workspace()
    ws.symbols("x y z")
    ws.spline("bend", [0, 1, 2, 4], [0, 1, -1, 3])  # the generator wants a function of each sort
    ws.external("tyre", 2, lambda a, b: a * b + 1)
    checked = 0
    for atom in grown(ws, random.Random(seed), 60, MODEST):
        text = expanded_text(atom)
        if "bend" in text or "tyre" in text or len(text) > 150:
            continue
        try:
            expected = complex(to_sympy(atom).evalf(30, subs={X: 0.7, Y: -1.3, Z: 2.1}))
        except (TypeError, ValueError, ArithmeticError):
            continue  # undefined or not real for SymPy
        found = value(atom)
        if not expected.imag and 1e-12 < abs(expected) < 1e12 and math.isfinite(found):
            assert found == pytest.approx(expected.real, rel=1e-6), text
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("seed", range(6))
def test_there_and_back_keeps_the_value(seed):
    ws = furnished()
    values = {symbol: 0.3 + 0.2 * k for k, symbol in enumerate(ws)}
    for atom in grown(ws, random.Random(seed), 40, MODEST):
        if len(expanded_text(atom)) > 150:
            continue
        try:
            again = from_sympy(ws, to_sympy(atom))
        except BielaError:
            continue  # SymPy has found a complex or infinite number in it
        first, second = (float(evaluate(e, values)) for e in (atom, again))
        if math.isfinite(first) and math.isfinite(second) and abs(first) < 1e12:
            assert second == pytest.approx(first, rel=1e-6, abs=1e-9)


_EXPRESSIONS = st.recursive(
    st.sampled_from([X, Y, Z, sympy.Integer(2), sympy.Rational(-1, 3), sympy.pi]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] / (pair[1] ** 2 + 1)),
        st.tuples(inner, st.integers(-2, 3)).map(lambda pair: (pair[0] + 5) ** pair[1]),
        inner.map(sympy.sin),
        inner.map(lambda e: sympy.atan(e) + sympy.cosh(sympy.cos(e))),
        st.tuples(inner, inner).map(lambda p: sympy.Piecewise((p[0], p[0] < p[1]), (p[1], True))),
    ),
    max_leaves=6,
)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(_EXPRESSIONS)
def test_any_expression_of_sympy_has_the_value_that_lambdify_gives(expression):
    ws = Workspace()
    ws.symbols("x y z")
    numeric = sympy.lambdify((X, Y, Z), expression, "math")
    try:
        expected = numeric(0.7, -1.3, 2.1)
    except (ArithmeticError, ValueError):
        return
    atom = from_sympy(ws, sympy.sympify(expression))
    assert value(atom) == pytest.approx(expected, rel=1e-9, abs=1e-9)


# --- without SymPy ----------------------------------------------------------------------------


def test_without_sympy_the_error_says_how_to_get_it(ws, monkeypatch):
    ordinary = builtins.__import__

    def without_sympy(name, *rest, **more):
        if name == "sympy":
            raise ImportError(name)
        return ordinary(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_sympy)
    with pytest.raises(ImportError, match=r"pip install biela\[sympy\]"):
        to_sympy(ws["x"])
