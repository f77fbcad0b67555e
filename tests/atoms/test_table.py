"""The table of atoms: every expression once, signs outside, numbers exact."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from biela.atoms import (
    Atom,
    Kind,
    Workspace,
    acos,
    asin,
    atan,
    atan2,
    both,
    cos,
    either,
    evaluate,
    exp,
    expanded_text,
    log,
    maximum,
    minimum,
    opposite,
    select,
    sign,
    sin,
    sqrt,
    storage,
    tan,
    tanh,
    time_derivative,
)
from biela.atoms import opcodes as op
from biela.errors import BielaError, DomainError, WorkspaceError


@pytest.fixture
def ws() -> Workspace:
    return Workspace("pendulum")


@pytest.fixture
def xyz(ws: Workspace) -> tuple[Atom, ...]:
    return ws.symbols("x y z")


def created(ws: Workspace, build) -> int:
    """How many atoms a construction adds."""
    before = len(ws)
    build()
    return len(ws) - before


# --- sharing --------------------------------------------------------------------------------------


def test_the_same_expression_is_the_same_atom(ws, xyz):
    x, y, _ = xyz
    first = sin(x * y) + cos(x) / y
    assert created(ws, lambda: sin(y * x) + cos(x) / y) == 0
    assert (sin(y * x) + cos(x) / y) == first


def test_sums_and_products_commute(xyz):
    x, y, _ = xyz
    assert x + y == y + x
    assert x * y == y * x
    assert x - y == -(y - x)
    assert -x - y == -(x + y)
    assert (-x) * y == -(x * y) == x * (-y)
    assert (-x) * (-y) == x * y
    assert (-x) / y == x / (-y) == -(x / y)


def test_the_opposite_of_an_expression_costs_no_atom(ws, xyz):
    x, y, z = xyz
    build = [x + y, x * y, x / y, sin(x), x**3, minimum(x, y), select(x < y, x, z), atan2(y, x)]
    assert created(ws, lambda: [-e for e in build]) == 0
    opposites = [
        lambda: -y - x,
        lambda: y * -x,
        lambda: x / -y,
        lambda: sin(-x),
        lambda: (-x) ** 3,
        lambda: maximum(-x, -y),
        lambda: select(x < y, -x, -z),
        lambda: atan2(-y, x),
    ]
    for original, make in zip(build, opposites, strict=True):
        assert created(ws, make) == 0
        assert make() == -original


def test_sum_of_two_rotated_vectors_takes_eleven_atoms():
    """u (in base 1) + v (in base 2), base 2 turned by theta about x: 2 + 4 + 2 + 3 operations."""
    ws = Workspace()
    th, ux, uy, uz, vx, vy, vz = ws.symbols("th ux uy uz vx vy vz")
    before = len(ws)

    def rotated_sum() -> list[Atom]:
        s = [ux + vx, uy + (cos(th) * vy - sin(th) * vz), uz + (sin(th) * vy + cos(th) * vz)]
        return s

    result = rotated_sum()
    assert len(ws) - before == 11
    assert created(ws, rotated_sum) == 0
    assert ws.statistics().operations == {"add": 5, "mul": 4, "sin": 1, "cos": 1}

    angle, u, v = 0.7, np.array([1.0, -2.0, 0.5]), np.array([0.3, 4.0, -1.5])
    c, s = math.cos(angle), math.sin(angle)
    rotation = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    values = dict(zip((th, ux, uy, uz, vx, vy, vz), (angle, *u, *v), strict=True))
    assert evaluate(result, values) == pytest.approx(u + rotation @ v, rel=1e-15, abs=1e-15)


def test_shared_product_under_a_sine_is_made_once(ws):
    """sin(-th) l m appears twice and costs one sine and two products."""
    th, l, m, F = ws.symbols("th l m F")
    before = len(ws)
    (sin(-th) * (l * m)) * F
    (sin(-th) * (l * m)) * F - (l * m) * F
    assert ws.statistics().operations["sin"] == 1
    # l m, sin th, their product, times F; then (l m) F and the sum
    assert len(ws) - before == 6


# --- every atom once, whatever is built -----------------------------------------------------------


def random_expressions(ws: Workspace, seed: int, count: int) -> None:
    """Fill a workspace with operations on operands of both signs and on small numbers."""
    rng = random.Random(seed)
    pool = [*ws.symbols("a b c"), *(ws.atom(v) for v in (0, 1, -1, 2, 0.5, -3))]

    def pick() -> Atom:
        chosen = rng.choice(pool)
        return chosen if rng.random() < 0.5 else -chosen

    binary = [
        lambda: pick() + pick(),
        lambda: pick() - pick(),
        lambda: pick() * pick(),
        lambda: pick() / pick(),
        lambda: pick() ** rng.choice((2, 3, 4, -1, 0.5, 1.5)),
        lambda: minimum(pick(), pick()),
        lambda: maximum(pick(), pick()),
        lambda: select(pick() < pick(), pick(), pick()),
        lambda: pick() < pick(),
        lambda: pick() <= pick(),
        lambda: atan2(pick(), pick()),
        *(
            lambda f=f: f(pick())
            for f in (sin, cos, tan, asin, acos, atan, exp, log, tanh, sqrt, abs, sign)
        ),
    ]
    for _ in range(count):
        try:
            made = rng.choice(binary)()
        except DomainError:
            continue
        if made.value is None and len(pool) < 40:
            pool.append(made)


#: Operations that turn into one another when a sign moves.
FAMILY = {op.MAX: op.MIN, op.LESS_EQUAL: op.LESS}

MEANING = {
    op.ADD: np.add,
    op.MUL: np.multiply,
    op.DIV: np.divide,
    op.POWER: np.power,
    op.SQRT: np.sqrt,
    op.SIN: np.sin,
    op.COS: np.cos,
    op.TAN: np.tan,
    op.ASIN: np.arcsin,
    op.ACOS: np.arccos,
    op.ATAN: np.arctan,
    op.ATAN2: np.arctan2,
    op.EXP: np.exp,
    op.LOG: np.log,
    op.TANH: np.tanh,
    op.ABS: np.abs,
    op.SIGN: np.sign,
    op.MIN: np.minimum,
    op.MAX: np.maximum,
    op.LESS: lambda a, b: 1.0 * (a < b),
    op.LESS_EQUAL: lambda a, b: 1.0 * (a <= b),
    op.SELECT: lambda c, a, b: np.where(c != 0, a, b),
}


@pytest.mark.parametrize("seed", range(8))
def test_no_two_atoms_hold_the_same_operation_with_the_same_or_opposite_value(seed):
    """Atoms of one operation on the same operands, up to signs and order, must differ in value.

    Each operation is tried on operands of any value, among which ties and zeros are frequent; a
    sign moved in or out of an operation changes no rounding, so equality is exact.
    """
    ws = Workspace()
    random_expressions(ws, seed, 1500)
    table = ws.table
    rng = np.random.default_rng(seed)

    def points(atom: int) -> np.ndarray:
        number = table.value(atom)
        if number is not None:
            return np.full(400, float(number))
        return np.concatenate([rng.integers(-8, 9, 200) / 2, 4 * rng.normal(size=200)])

    values = [points(atom) for atom in range(len(table))]
    groups: dict[object, list[tuple[int, np.ndarray]]] = {}
    for atom in range(len(table)):
        code = table.ops[atom]
        if code <= op.SYMBOL:
            continue
        operands = [values[r] if r >= 0 else -values[-r] for r in table.operands(atom)]
        key = (
            FAMILY.get(code, code),
            table.payload(atom),
            *sorted(abs(r) for r in table.operands(atom)),
        )
        with np.errstate(all="ignore"):
            if code == op.POWER_INT:
                value = operands[0] ** table.payload(atom)
            else:
                value = MEANING[code](*operands)
        groups.setdefault(key, []).append((atom, value))
    assert len(groups) > 200
    twins = [
        (table.text(i), table.text(j))
        for group in groups.values()
        for (i, u), (j, v) in itertools.combinations(group, 2)
        if np.array_equal(u, v, equal_nan=True) or np.array_equal(u, -v, equal_nan=True)
    ]
    assert twins == []


@pytest.mark.parametrize("seed", range(3))
def test_operands_come_before_the_atoms_that_use_them(seed):
    ws = Workspace()
    random_expressions(ws, 100 + seed, 1500)
    table = ws.table
    for atom in range(len(table)):
        assert all(abs(r) < atom for r in table.operands(atom))


@pytest.mark.parametrize("seed", range(3))
def test_rebuilding_every_atom_from_its_operands_finds_it_again(seed):
    ws = Workspace()
    random_expressions(ws, 200 + seed, 1500)
    table = ws.table
    size = len(table)
    for atom in range(size):
        if table.ops[atom] > op.SYMBOL:
            again = table.rebuild(table.ops[atom], table.operands(atom), table.payload(atom))
            assert again == atom
    assert len(table) == size


# --- identities with 0 and 1 ----------------------------------------------------------------------


def test_zero_and_one_vanish_from_sums_and_products(ws, xyz):
    x, y, _ = xyz
    assert created(ws, lambda: [x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1, x * 0, 0 * x, 0 / x]) == 0
    assert x + 0 == x == 0 + x == x - 0 == x * 1 == 1 * x == x / 1 == x**1
    assert 0 - x == -x == x * -1 == x / -1
    assert x * 0 == 0 == 0 * x == 0 / x
    assert x - x == 0 == x + (-x)
    assert x / x == 1 and x / -x == -1
    assert x**0 == 1 and ws.atom(1) ** y == 1
    y = -x
    assert +x == x and -y == x


def test_equal_terms_are_gathered(xyz):
    x, y, _ = xyz
    assert x + x == 2 * x
    assert 2 * x + 3 * x == 5 * x
    assert 2 * x - 3 * x == -x
    assert x / 2 + x / 3 == 5 * x / 6
    assert 2 * (x * y) - 2 * (y * x) == 0
    assert 0.5 * x + x == 1.5 * x


def test_numbers_of_a_product_are_gathered(xyz):
    x, _, _ = xyz
    assert 2 * (3 * x) == 6 * x
    assert (x / 3) * 3 == x
    assert (x * 2) / 4 == x / 2
    assert -2 * (-3 * x) == 6 * x


def test_numbers_of_a_sum_are_gathered_where_exact(xyz):
    x, _, _ = xyz
    assert (x + 1) + 2 == x + 3
    assert (1 - x) - 1 == -x
    assert (x - Fraction(1, 3)) + Fraction(1, 3) == x


@pytest.mark.parametrize("value", [0.7, 1.1, 2.3, -0.3, 1e-3])
def test_rounded_numbers_of_a_sum_are_added_as_written(xyz, value):
    x, _, _ = xyz
    at = {x: value}
    assert float(evaluate((x + 0.1) + 0.2, at)) == (value + 0.1) + 0.2
    assert float(evaluate((x - 0.1) + 0.7, at)) == (value - 0.1) + 0.7
    assert float(evaluate(0.3 - (x - 0.9), at)) == 0.3 - (value - 0.9)


def test_gathering_never_loses_a_small_number_to_rounding(ws, xyz):
    """(x + 0.1) + 1e20 must not become x + 1e20 while x may be -1e20."""
    x, _, _ = xyz
    e = ((x + 1) + 1e20) - 1e20
    assert evaluate(e, {x: 2.0}) in (3.0, 0.0)  # exact, or as the machine adds
    f = (x + 10**21) + 1
    assert evaluate(f - 10**21, {x: 5.0}) == 6.0


def test_factors_joined_do_not_underflow(xyz):
    x, _, _ = xyz
    assert float(evaluate(1e-200 * (1e-200 * x), {x: 1e300})) == pytest.approx(
        1e-100, rel=1e-15, abs=0
    )
    assert float(evaluate((x / 10**200) / 10**200, {x: 1e300})) == pytest.approx(
        1e-100, rel=1e-15, abs=0
    )


@pytest.mark.parametrize("c", [1.1e-155, 1.3e-155, 1.7e-157, 2.3e-158, 7.7e-160])
def test_factors_joined_keep_all_their_digits(xyz, c):
    """c² lies below the normal doubles, where up to 30 bits are lost."""
    x, _, _ = xyz
    expected = float(Fraction(c) ** 2 * Fraction(1e300))
    assert float(evaluate(c * (c * x), {x: 1e300})) == pytest.approx(expected, rel=4e-16, abs=0)


def test_numbers_of_a_sum_joined_do_not_overflow(xyz):
    x, _, _ = xyz
    e = (x + 10**308) + 10**308
    assert float(evaluate(e, {x: -1.5e308})) == pytest.approx(5e307, rel=1e-15, abs=0)


def test_factors_joined_do_not_overflow(xyz):
    x, _, _ = xyz
    assert float(evaluate(1e200 * (1e200 * x), {x: 1e-300})) == pytest.approx(
        1e100, rel=1e-15, abs=0
    )
    assert float(evaluate(1e308 * x + 9e307 * x, {x: 1e-300})) == pytest.approx(
        1.9e8, rel=1e-15, abs=0
    )
    assert float(evaluate(x / 1e-200 / 1e-200, {x: 1e-300})) == pytest.approx(
        1e100, rel=1e-15, abs=0
    )


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_equal_in_value_are_one_number(ws):
    assert ws.atom(2) == ws.atom(2.0) == ws.atom(Fraction(4, 2)) == ws.atom(np.float64(2)) == 2
    assert ws.atom(-0.0) == 0 == ws.atom(0)
    assert ws.atom(-3).ref == -ws.atom(3).ref
    assert ws.atom(np.int64(7)).value == 7 and type(ws.atom(np.int64(7)).value) is int


def test_arithmetic_of_exact_numbers_is_exact(ws):
    third = ws.atom(1) / 3
    assert third.value == Fraction(1, 3)
    assert third + third + third == 1
    assert (third * 3).value == 1
    assert (ws.atom(2**53) + 1).value == 2**53 + 1
    assert (ws.atom(7) ** 20).value == 7**20
    assert (ws.atom(2) ** -2).value == Fraction(1, 4)
    assert sqrt(ws.atom(Fraction(9, 4))).value == Fraction(3, 2)
    assert abs(ws.atom(Fraction(-9, 4))).value == Fraction(9, 4)


def test_arithmetic_of_floats_is_that_of_the_machine(ws):
    assert (ws.atom(0.1) + 0.2).value == 0.1 + 0.2
    assert (ws.atom(0.1) * 3).value == 0.1 * 3
    assert (ws.atom(1) / 0.3).value == 1 / 0.3
    assert sin(ws.atom(0.3)).value == math.sin(0.3)
    assert atan2(ws.atom(1), ws.atom(-2)).value == math.atan2(1, -2)
    assert (ws.atom(2.5) ** 0.3).value == 2.5**0.3


def test_exactness_does_not_depend_on_what_was_built_before():
    """A float 0.5 met earlier must not turn later fractions into floats."""

    def sixth(first: object) -> Atom:
        ws = Workspace()
        x = ws.symbol("x")
        x * ws.atom(first)
        return (x / 2) / 3 - x / 6

    assert sixth(7) == 0
    assert sixth(0.5) == 0

    ws = Workspace()
    ws.atom(2.0**60)
    assert (ws.atom(2**60) + 1).value == 2**60 + 1


@pytest.mark.parametrize(
    "function, argument, value",
    [
        (sin, 0, 0),
        (cos, 0, 1),
        (tan, 0, 0),
        (asin, 0, 0),
        (acos, 1, 0),
        (atan, 0, 0),
        (exp, 0, 1),
        (log, 1, 0),
        (tanh, 0, 0),
        (sqrt, 0, 0),
        (sqrt, 1, 1),
        (sqrt, 49, 7),
        (abs, -2, 2),
        (sign, -2, -1),
        (sign, 0, 0),
        (sign, 5, 1),
    ],
)
def test_functions_of_simple_numbers_are_exact(ws, function, argument, value):
    result = function(ws.atom(argument))
    assert result.value == value
    assert isinstance(result.value, int)


@pytest.mark.parametrize(
    "f", [sin, cos, tan, asin, acos, atan, exp, log, tanh, sqrt, sign], ids=lambda f: f.__name__
)
def test_functions_of_plain_numbers_are_plain_numbers(ws, f):
    assert type(f(0.25)) is float
    assert f(0.25) == float(f(ws.atom(0.25)).value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float64("nan"), 10**400])
def test_a_number_that_is_no_finite_double_is_refused(ws, xyz, bad):
    x, _, _ = xyz
    with pytest.raises(DomainError):
        ws.atom(bad)
    with pytest.raises(DomainError):
        x + bad


def test_an_integer_of_thousands_of_digits_is_refused_as_any_other(ws):
    with pytest.raises(DomainError, match="range of a double"):
        ws.atom(10**5000)


@pytest.mark.parametrize("bad", [1j, "x", None, True, np.bool_(False), object()])
def test_what_is_not_a_real_number_is_refused(ws, xyz, bad):
    with pytest.raises((DomainError, TypeError)):
        xyz[0] + bad
    with pytest.raises(DomainError):
        ws.atom(bad)


# --- parity, powers -------------------------------------------------------------------------------


def test_odd_and_even_functions_drop_the_sign(ws, xyz):
    x, y, _ = xyz
    u = x - y  # the opposite is y - x
    for f in (sin, tan, asin, atan, tanh, sign):
        assert f(-x) == -f(x)
        assert f(y - x) == -f(u)
    for f in (cos, abs):
        assert f(-x) == f(x)
        assert f(y - x) == f(u)
    for f in (exp, acos, log, sqrt):
        assert f(-x) != f(x) and f(-x) != -f(x)


def test_integer_powers_join(xyz):
    x, y, _ = xyz
    assert x * x == x**2
    assert x * x**2 == x**3 == x**2 * x
    assert x**2 * x**3 == x**5
    assert (x**2) ** 3 == x**6
    assert (-x) ** 2 == x**2 and (-x) ** 3 == -(x**3)
    assert (x - y) ** 2 == (y - x) ** 2
    assert x**-2 == 1 / x**2
    assert x**2.0 == x**2


def test_half_powers_are_roots(xyz):
    x, _, _ = xyz
    assert x**0.5 == sqrt(x) == x ** Fraction(1, 2)
    assert sqrt(x) ** 2 == x == sqrt(x) * sqrt(x)
    assert sqrt(x**2) == abs(x) and sqrt(x**6) == abs(x) ** 3
    assert abs(x) ** 2 == x**2 and abs(x) ** 4 == x**4
    assert abs(x) ** 3 != x**3 and float(evaluate(abs(x) ** 3, {x: -2.0})) == 8.0
    assert abs(abs(x)) == abs(x) and abs(-exp(x)) == exp(x) and abs(sqrt(x)) == sqrt(x)


@pytest.mark.parametrize("exponent", [-0.5, -1.5, -2.5])
@pytest.mark.parametrize("value", [1e-110, 1e-3, 1.0, 7.0, 1e100])
def test_negative_half_powers_keep_the_range_of_the_power(xyz, exponent, value):
    x, _, _ = xyz
    assert float(evaluate(x**exponent, {x: value})) == pytest.approx(
        value**exponent, rel=1e-14, abs=0
    )


def test_negative_half_power_of_extreme_numbers(xyz):
    x, _, _ = xyz
    assert float(evaluate(x**-0.5, {x: 1e-310})) == pytest.approx(1e155, rel=1e-12, abs=0)
    assert float(evaluate(x**-1.5, {x: 1e-160})) == pytest.approx(1e240, rel=1e-12, abs=0)
    assert float(evaluate(x**-0.5, {x: 0.0})) == math.inf


@pytest.mark.parametrize("exponent", [0.3, -0.7, Fraction(1, 3), Fraction(-5, 3), 40.5, 100])
def test_real_powers_have_the_value_of_the_power(xyz, exponent):
    x, _, _ = xyz
    got = float(evaluate(x**exponent, {x: 1.7}))
    assert got == pytest.approx(1.7 ** float(exponent), rel=1e-14, abs=0)


def test_repeated_squaring_keeps_its_value(ws, xyz):
    """x**(2**200) is one atom with an exponent beyond any machine integer."""
    x, _, _ = xyz
    e = x
    for _ in range(200):
        e = e * e
    assert evaluate(e, {x: 1.0}) == 1.0
    assert evaluate(e, {x: 0.5}) == 0.0


# --- minimum, maximum, comparisons, select --------------------------------------------------------


def test_minimum_and_maximum_are_one_operation_up_to_sign(ws, xyz):
    x, y, _ = xyz
    low = minimum(x, y)
    assert created(ws, lambda: [minimum(y, x), maximum(-x, -y), maximum(-y, -x)]) == 0
    assert minimum(y, x) == low == -maximum(-x, -y)
    assert minimum(x, x) == x == maximum(x, x)
    assert minimum(x, -y) == -maximum(-x, y)
    assert minimum(x, -x) == -maximum(x, -x)
    assert minimum(ws.atom(2), 3) == 2 and maximum(ws.atom(2), 3) == 3
    assert minimum(ws.atom(-2), 3) == -2 and maximum(ws.atom(-2), -3) == -2
    assert minimum(x, y, x) == low


def test_minimum_with_zero_follows_the_sign_rule(ws, xyz):
    x, _, _ = xyz
    positive_part = maximum(0, x)
    assert minimum(0, -x) == -positive_part
    assert minimum(-x, 0) == -positive_part
    assert maximum(-x, 0) == -minimum(x, 0)


@pytest.mark.parametrize("outer, inner", list(itertools.product((min, max), repeat=2)))
def test_nested_minima_and_maxima_keep_their_value_for_all_signs(outer, inner):
    make = {min: minimum, max: maximum}
    points = list(itertools.product((-2.0, -1.0, 0.0, 1.0, 2.0), repeat=2))
    for s1, s2, s3, s4 in itertools.product((1, -1), repeat=4):
        ws = Workspace()
        x, y = ws.symbols("x y")
        nested = [
            make[outer](s1 * x, s2 * make[inner](s3 * x, s4 * y)),
            make[outer](s1 * y, s2 * make[inner](s3 * x, s4 * y)),
            make[outer](s2 * make[inner](s3 * x, 1), s1 * x),
        ]
        for a, b in points:
            expected = [
                outer(s1 * a, s2 * inner(s3 * a, s4 * b)),
                outer(s1 * b, s2 * inner(s3 * a, s4 * b)),
                outer(s2 * inner(s3 * a, 1), s1 * a),
            ]
            assert [float(v) for v in evaluate(nested, {x: a, y: b})] == expected


@pytest.mark.parametrize(
    "a, b", [(0.3, 1.2), (1.2, 0.3), (-0.3, -1.2), (0.0, 0.0), (-1.0, 1.0), (0.0, -2.0)]
)
def test_conditions_have_the_truth_of_their_numbers(xyz, a, b):
    x, y, _ = xyz
    at = {x: a, y: b}
    cases = {
        x < y: a < b,
        x <= y: a <= b,
        x > y: a > b,
        x >= y: a >= b,
        -x < y: -a < b,
        x < -y: a < -b,
        -x < -y: -a < -b,
        -x <= -y: -a <= -b,
        -x > 0: -a > 0,
        -x < 0: -a < 0,
        x < 0: a < 0,
        x <= 0: a <= 0,
        -x >= 0: -a >= 0,
        both(x < y, x < 0): a < b and a < 0,
        either(x < y, x < 0): a < b or a < 0,
        opposite(x < y): not a < b,
    }
    for condition, truth in cases.items():
        assert float(evaluate(condition, at)) == float(truth), condition
        assert float(evaluate(select(condition, x, y), at)) == (a if truth else b)


def test_a_comparison_turned_round_is_the_same_condition(xyz):
    x, y, _ = xyz
    assert (x < y) == (y > x)
    assert (-x < -y) == (y < x)
    assert (-x < 0) == (x > 0)
    assert (-x > 0) == (x < 0)
    assert (-x >= 0) == (x <= 0)
    assert (-x < y) == (-y < x)
    assert (x <= -y) == (y <= -x)
    assert (x < x) == 0 and (x <= x) == 1
    assert (x < y) != (x <= y)


def test_select_takes_the_sign_outside(ws, xyz):
    x, y, z = xyz
    c = x < y
    chosen = select(c, y, z)
    assert select(c, -y, -z) == -chosen
    assert select(-c, y, z) == chosen
    assert select(c, 0, -z) == -select(c, 0, z)
    assert select(c, -z, 0) == -select(c, z, 0)
    assert select(c, y, y) == y
    assert select(True, y, z) == y and select(0, y, z) == z
    assert select(ws.atom(2) < 3, y, z) == y


def test_an_expression_has_no_truth_value_but_a_number_has(ws, xyz):
    x, y, _ = xyz
    with pytest.raises(DomainError, match=r"x < y.*select"):
        bool(x < y)
    assert ws.atom(3) and not ws.atom(0)
    assert x in [y, x] and x not in [y]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda ws, x: x / 0, ["division by zero", "x"]),
        (lambda ws, x: (x + 1) / (x - x), ["division by zero", "x"]),
        (lambda ws, x: ws.atom(0) ** -2, ["0**(-2)"]),
        (lambda ws, x: sqrt(ws.atom(-4)), ["sqrt(-4)"]),
        (lambda ws, x: log(ws.atom(0)), ["log(0)"]),
        (lambda ws, x: log(ws.atom(-1)), ["log(-1)"]),
        (lambda ws, x: asin(ws.atom(2)), ["asin(2)"]),
        (lambda ws, x: acos(ws.atom(-1.5)), ["acos(-1.5)"]),
        (lambda ws, x: exp(ws.atom(1000)), ["exp(1000)"]),
        (lambda ws, x: ws.atom(10) ** 400, ["10", "400"]),
        (lambda ws, x: ws.atom(1e200) * 1e200, ["1e+200"]),
        (lambda ws, x: ws.atom(1.5e308) + 1.5e308, ["1.5e+308"]),
        (lambda ws, x: ws.atom(-8) ** Fraction(1, 3), ["-8", "1/3"]),
    ],
)
def test_domain_errors_name_the_expression(ws, xyz, build, words):
    before = len(ws)
    with pytest.raises(DomainError) as caught:
        build(ws, xyz[0])
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value, BielaError)
    assert len(ws) - before <= 6


def test_expressions_of_two_workspaces_do_not_mix():
    one, two = Workspace("one"), Workspace("two")
    x, y = one.symbol("x"), two.symbol("y")
    mixes = [
        lambda: x + y,
        lambda: x - y,
        lambda: x * y,
        lambda: x / y,
        lambda: x**y,
        lambda: x < y,
        lambda: minimum(x, y),
        lambda: atan2(x, y),
        lambda: select(x < 0, x, y),
        lambda: one.atom(y),
        lambda: one.lookup("f", [0, 1], [0, 1])(y),
        lambda: one.external("g", 1)(y),
        lambda: evaluate([x, y], {x: 1.0}),
        lambda: evaluate(x, {x: 1.0, y: 1.0}),
    ]
    for mix in mixes:
        with pytest.raises(WorkspaceError, match=r"one.*two|two.*one"):
            mix()
    assert x != y
    assert one.symbol("z") != two.symbol("z")


def test_workspaces_of_the_same_name_are_told_apart():
    x, y = Workspace().symbol("x"), Workspace().symbol("y")
    with pytest.raises(WorkspaceError, match="another"):
        x + y


def test_an_operator_leaves_a_foreign_operand_its_turn(xyz):
    """m * v must reach the method of a vector v."""

    class Vector:
        def __rmul__(self, other):
            return "scaled"

        def __radd__(self, other):
            return "moved"

    x, _, _ = xyz
    assert x * Vector() == "scaled"
    assert x + Vector() == "moved"


def test_arrays_take_expressions_element_by_element(xyz):
    x, y, _ = xyz
    assert list(x + np.array([1.0, 2.0])) == [x + 1, x + 2]
    assert list(np.array([x, y]) * 2) == [2 * x, 2 * y]
    assert np.float64(2) * x == 2 * x
    assert np.array([x, y]) @ np.array([y, x]) == 2 * (x * y)


def test_a_full_workspace_says_so(monkeypatch):
    ws = Workspace("tiny")
    x = ws.symbol("x")
    monkeypatch.setattr(storage, "MAX_ATOMS", len(ws) + 2)
    e = sin(sin(x))
    with pytest.raises(WorkspaceError, match="tiny is full"):
        sin(e)
    assert sin(sin(x)) == e


# --- symbols --------------------------------------------------------------------------------------


def test_symbols_have_a_kind_and_a_name(ws):
    assert ws.symbol("a").kind is Kind.FREE
    assert ws.parameter("m").kind is Kind.PARAMETER
    assert ws.input("tau").kind is Kind.INPUT
    assert ws.unknowns("lam")[0].kind is Kind.UNKNOWN
    assert ws.time.kind is Kind.TIME and ws.time.name == "t" and ws.time == ws["t"]
    assert [a.name for a in ws.parameters("m1, m2 l:3")] == ["m1", "m2", "l1", "l2", "l3"]
    assert [a.name for a in ws.inputs(["u", "w"])] == ["u", "w"]
    assert [a.name for a in ws] == [
        "a",
        "m",
        "tau",
        "lam",
        "t",
        "m1",
        "m2",
        "l1",
        "l2",
        "l3",
        "u",
        "w",
    ]


def test_coordinates_know_their_velocity_and_acceleration(ws):
    q = ws.coordinate("q")
    assert q.kind is Kind.COORDINATE
    assert q.velocity.name == "dq" and q.velocity.kind is Kind.VELOCITY
    assert q.acceleration.name == "ddq" and q.acceleration.kind is Kind.ACCELERATION
    assert q.velocity.acceleration == q.acceleration
    named = ws.coordinate("s", "v", "a")
    assert (named.velocity, named.acceleration) == (ws["v"], ws["a"])
    for wrong in (ws.parameter("m"), q.acceleration, ws.time):
        with pytest.raises(DomainError, match=wrong.name):
            wrong.velocity  # noqa: B018
    with pytest.raises(DomainError, match="not a symbol"):
        (q + 1).velocity  # noqa: B018
    with pytest.raises(DomainError, match="not a symbol"):
        (-q).name  # noqa: B018


def test_declaring_a_coordinate_again_gives_the_same_one(ws):
    q = ws.coordinate("q", "v", "a")
    assert ws.coordinate("q", "v", "a") == q
    assert q.velocity == ws["v"]


def test_a_velocity_belongs_to_one_coordinate(ws):
    a = ws.coordinate("a", velocity="v")
    with pytest.raises(WorkspaceError, match="v"):
        ws.coordinate("b", velocity="v")
    assert time_derivative(a.velocity) == ws["dda"]


def test_a_coordinate_keeps_the_velocity_it_was_declared_with(ws):
    a = ws.coordinate("a", velocity="va")
    with pytest.raises(WorkspaceError, match="a"):
        ws.coordinate("a", velocity="w")
    assert a.velocity.name == "va"


def test_a_name_is_one_thing(ws):
    m = ws.parameter("m")
    assert ws.parameter("m") == m
    with pytest.raises(WorkspaceError, match=r"m is already a parameter"):
        ws.input("m")
    with pytest.raises(WorkspaceError, match=r"m is already a parameter"):
        ws.coordinate("m")


@pytest.mark.parametrize("bad", ["", "2x", "a b", "a-b", "θ", "x'", "a.b"])
def test_names_that_no_language_can_spell_are_refused(ws, bad):
    with pytest.raises(DomainError):
        ws.symbol(bad)
    assert bad not in ws and len(list(ws)) == 0


def test_an_unknown_name_is_answered_with_the_nearest(ws):
    ws.parameters("mass length")
    with pytest.raises(WorkspaceError, match=r"'mas'.*mass"):
        ws["mas"]
    assert "mass" in ws and "mas" not in ws and 3 not in ws


def test_a_range_of_names_needs_a_count(ws):
    with pytest.raises(DomainError, match="q:x"):
        ws.symbols("q:x")


# --- handles --------------------------------------------------------------------------------------


def test_handles_are_equal_and_hash_alike_when_they_are_the_same_expression(ws, xyz):
    x, y, _ = xyz
    assert hash(x + y) == hash(y + x)
    assert len({x + y, y + x, x - y, y - x}) == 3
    assert {ws.atom(2): "two"}[2] == "two"
    assert ws.atom(2) == 2 and ws.atom(2) != 3 and x != 2
    assert x != "x"


def test_numbers_meet_expressions_from_both_sides(xyz):
    x, _, _ = xyz
    at = {x: 3.0}
    assert float(evaluate(2 - x, at)) == -1.0
    assert float(evaluate(2 / x, at)) == 2 / 3
    assert float(evaluate(2**x, at)) == 8.0
    assert float(evaluate(x > 2, at)) == 1.0
    assert float(evaluate(Fraction(1, 3) * x, at)) == 1.0
    assert float(evaluate(np.float64(2.5) + x, at)) == 5.5


def test_live_lists_what_an_expression_depends_on_in_order(ws, xyz):
    x, y, z = xyz
    e = sin(x) * y
    cos(z)
    live = ws.table.live([e.ref])
    assert live == sorted({x.ref, y.ref, sin(x).ref, e.ref})
    assert ws.table.live([-e.ref]) == live


@pytest.mark.parametrize(
    "build, text",
    [
        (lambda x, y, z: (x < y) + z, {"(x < y) + z", "z + (x < y)"}),
        (lambda x, y, z: (x < y) + (y < z), {"(x < y) + (y < z)"}),
        (lambda x, y, z: z - (x < y), {"z - (x < y)"}),
        (lambda x, y, z: (x < y) - z, {"(x < y) - z", "-(z - (x < y))"}),
        (lambda x, y, z: -(x + y), {"-(x + y)"}),
        (lambda x, y, z: (x - y) * z, {"z*(x - y)", "(x - y)*z"}),
        (lambda x, y, z: x / (y * z), {"x/(y*z)"}),
        (lambda x, y, z: (x / y) ** 2, {"(x/y)**2"}),
    ],
)
def test_text_keeps_the_parentheses_it_needs(xyz, build, text):
    assert expanded_text(build(*xyz)) in text


def test_evaluate_computes_with_doubles_whatever_integers_it_is_given(xyz):
    x, _, _ = xyz
    assert float(evaluate(x * x, {x: np.int64(10**10)})) == 1e20
    assert evaluate(x**40, {x: np.array([3])}).tolist() == [3.0**40]
    assert float(evaluate(sin(x), {x: Fraction(1, 3)})) == math.sin(1 / 3)


def test_evaluate_names_the_symbol_that_has_no_value(xyz):
    x, y, _ = xyz
    with pytest.raises(DomainError, match="no value is given for y"):
        evaluate(x + y, {x: 1.0})


def test_plain_numbers_outside_the_domain_are_errors_of_biela():
    for function, value in ((log, -1), (sqrt, -2.0), (exp, 1e6)):
        with pytest.raises(DomainError, match=str(value)):
            function(value)
