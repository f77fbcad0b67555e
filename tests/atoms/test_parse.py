"""Text becomes atoms: what is written is what is built, and nothing else ever happens."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biela.atoms import (
    Atom,
    Kind,
    Workspace,
    atan2,
    cos,
    evaluate,
    expanded_size,
    expanded_text,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
)
from biela.atoms import opcodes as op
from biela.atoms.parse import parse
from biela.errors import BielaError, DomainError, ParseError


@pytest.fixture
def ws() -> Workspace:
    workspace = Workspace("parse")
    workspace.symbols("x y z")
    return workspace


def furnished() -> Workspace:
    """A workspace with symbols, curves and an external function."""
    ws = Workspace("furnished")
    ws.coordinates("q:2")
    ws.symbols("x y z")
    ws.spline("bend", [0, 1, 2, 4], [0, 1, -1, 3])
    ws.lookup("gain", [-1, 1], [0.25, 3])
    ws.external("tyre", 2, lambda a, b: a * b + 1)
    return ws


MODEST = (2, -3, Fraction(1, 3), Fraction(-22, 7), 0.1, math.pi)
EXTREME = (*MODEST, 10**25, 1e-9, 2.5e300, 5e-324)


def grown(
    ws: Workspace, rng: random.Random, count: int, numbers: tuple[float, ...] = EXTREME
) -> list[Atom]:
    """Random expressions of every operation over the symbols and functions of ``ws``."""
    table = ws.table
    pool = [symbol.ref for symbol in ws]
    pool += [table.constant(value) for value in numbers]
    codes = [code for code in range(op.ADD, op.OPERATIONS) for _ in range(4 if code < 5 else 1)]
    made: list[int] = []
    while len(made) < count:
        code = rng.choice(codes)
        # recent atoms twice as likely, so that expressions grow
        operands = [rng.choice((1, -1)) * rng.choice(pool + made) for _ in range(3)]
        width = 1 if code in op.UNARY | op.UNARY_WITH_NUMBER else 3 if code == op.SELECT else 2
        payload = rng.randrange(2, 5) if code == op.POWER_INT else 0
        if code == op.PIECEWISE:
            payload = rng.randrange(len(table.piecewise))
        try:
            ref = table.rebuild(code, operands[:width], payload)
        except DomainError:
            continue
        if expanded_size(Atom(table, ref)) < 3000:
            made.append(ref)
    return [Atom(table, ref) for ref in made]


# --- grammar ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, value",
    [
        ("-x**2", -9.0),
        ("2**-x", 0.125),
        ("2**3**2", 512.0),
        ("2^3^2", 512.0),
        ("(2**3)**2", 64.0),
        ("-2**-2", -0.25),
        ("x - y - z", -6.0),
        ("x/y/z", 0.15),
        ("x - -y", 7.0),
        ("--x", 3.0),
        ("+x*-y", -12.0),
        ("2*-x**2*y", -72.0),
        ("x + y*z**2/2", 53.0),
        ("x<y", 1.0),
        ("x >= y", 0.0),
        ("x + 1 <= y", 1.0),
        ("(x < y) + (y < x)", 1.0),
        ("if(x > y, 10, 20)", 20.0),
        ("select(x < y, 10, 20)", 10.0),
        ("min(x, y, z, -1)", -1.0),
        ("max(x, y, z)", 5.0),
        ("sin(pi/2)", 1.0),
        (" atan2 ( y ,\n x ) ", math.atan2(4, 3)),
        ("abs(-x) + sign(-x)", 2.0),
        ("1.5e1 + .5 + 2.", 17.5),
        ("exp(log(x)) + tanh(0) + sqrt(y)", 5.0),
    ],
)
def test_text_has_the_value_it_has_on_paper(ws, text, value):
    found = evaluate(parse(ws, text), {ws["x"]: 3.0, ws["y"]: 4.0, ws["z"]: 5.0})
    assert found == pytest.approx(value, rel=1e-15)


def test_text_gives_the_atom_that_operators_give(ws):
    x, y, z = ws["x"], ws["y"], ws["z"]
    assert parse(ws, "sin(x*y) - cos(z)/2") == sin(x * y) - cos(z) / 2
    assert parse(ws, "atan2(y, x) + max(x, y, z)") == atan2(y, x) + maximum(x, y, z)
    assert parse(ws, "if(x >= y, sqrt(x), min(y, z))") == select(x >= y, sqrt(x), minimum(y, z))


def test_integers_and_their_quotients_are_exact_and_decimals_are_floats(ws):
    assert parse(ws, "1/3").value == Fraction(1, 3)
    assert parse(ws, "10**40/7").value == Fraction(10**40, 7)
    assert parse(ws, "0.1").value == 0.1
    assert isinstance(parse(ws, "2.0").value, int)


def test_the_time_is_known_without_being_declared(ws):
    assert parse(ws, "2*pi*t + 0.1*sin(3*t)") == 2 * math.pi * ws.time + 0.1 * sin(3 * ws.time)
    assert ws["t"].kind is Kind.TIME


def test_a_symbol_comes_before_a_constant_of_the_same_name():
    ws = Workspace()
    pi = ws.parameter("pi")
    assert parse(ws, "2*pi") == 2 * pi


def test_curves_and_external_functions_are_called_by_name():
    ws = furnished()
    x = ws["x"]
    tyre = ws.external("tyre", 2)
    assert parse(ws, "tyre(x, 2) + bend(x) - gain(-x)") == (
        tyre(x, 2) + ws.spline("bend", [0, 1, 2, 4], [0, 1, -1, 3])(x)
    ) - ws.lookup("gain", [-1, 1], [0.25, 3])(-x)


# --- names ------------------------------------------------------------------------------------


def test_unknown_names_are_declared_on_demand(ws):
    parse(ws, "m*g*l*cos(theta)", declare=Kind.PARAMETER)
    assert [ws[name].kind for name in ("m", "g", "l", "theta")] == [Kind.PARAMETER] * 4


def test_a_declared_coordinate_has_its_rates(ws):
    parse(ws, "phi + dphi", declare=Kind.COORDINATE)
    assert ws["phi"].velocity == ws["dphi"]


def test_a_faulty_text_declares_nothing(ws):
    before = len(ws)
    with pytest.raises(ParseError):
        parse(ws, "alpha + beta*", declare=Kind.PARAMETER)
    assert len(ws) == before


@pytest.mark.parametrize(
    "text, position, words",
    [
        ("", 0, "no text"),
        ("   ", 3, "no text"),
        ("x +", 3, "ends"),
        ("(x", 0, "not closed"),
        ("sin(x", 0, "not closed"),
        ("x)", 1, "never opened"),
        ("()", 1, "nothing"),
        ("sin()", 4, "nothing"),
        ("min(x,)", 6, "operand"),
        ("x, y", 1, "comma"),
        ("(x, y)", 2, "comma"),
        ("min((x, y), z)", 6, "comma"),
        ("2x", 1, "2*x"),
        ("2 x", 2, "2*x"),
        ("2(x)", 1, "2*(…)"),
        ("(x)(y)", 3, "(…)*(…)"),
        ("x y", 2, "x*y"),
        ("2sin(x)", 1, "2*sin(…)"),
        ("1.5.2", 3, "operator"),
        ("x*/y", 2, "operand"),
        ("x < y < z", 6, "chained"),
        ("x == y", 2, "<="),
        ("x = y", 2, "<="),
        ("x(3)", 0, "x*(…)"),
        ("sin + 1", 0, "sin(…)"),
        ("sin x", 0, "sin(…)"),
        ("sinn(x)", 0, "sin"),
        ("x + xx", 4, "did you mean x"),
        ("atan2(x)", 0, "2 arguments, not 1"),
        ("sin(x, y)", 0, "1 argument, not 2"),
        ("min(x)", 0, "at least 2"),
        ("e", 0, "unknown name e"),
        ("1e999", 0, "range"),
        ("1" * 400, 0, "range"),
        ("1" * 10_000, 0, "10000 characters"),
        ("x.y", 1, "'.'"),
        ("x!", 1, "'!'"),
        ("x\x00", 1, "U+0000"),
        ("٣", 0, "U+0663"),
        ("²", 0, "U+00B2"),
        ("x−y", 1, "U+2212"),
        ("ⅷ", 0, "U+2177"),
        ("\ud800", 0, "U+D800"),
        ("'x'", 0, "'"),
        ("x if y else z", 2, "operator"),
        ("lambda: 0", 0, "unknown name"),
        ("__import__('os').system('true')", 0, "unknown function"),
        ("x.__class__", 1, "'.'"),
        ("[x]", 0, "'['"),
        ("x\n + y z", 7, "y*z"),
    ],
)
def test_a_wrong_text_is_answered_with_the_place_and_the_reason(ws, text, position, words):
    with pytest.raises(ParseError) as caught:
        parse(ws, text)
    assert caught.value.position == position
    assert words in caught.value.message


def test_the_error_shows_a_caret_under_the_place(ws):
    with pytest.raises(ParseError) as caught:
        parse(ws, "x + alhpa*2")
    assert str(caught.value).splitlines()[1:] == ["  x + alhpa*2", "      ^"]


def test_an_external_function_checks_its_number_of_arguments():
    with pytest.raises(ParseError, match="tyre takes 2 arguments, not 1"):
        parse(furnished(), "tyre(x)")


@pytest.mark.parametrize("text", ["1/0", "log(-1)", "sqrt(-2)", "asin(3)", "0**-1", "9**9**9**9"])
def test_numbers_that_cannot_be_computed_are_named_with_their_text(ws, text):
    with pytest.raises(DomainError) as caught:
        parse(ws, text)
    assert f'in "{text}"' in str(caught.value)


# --- hostile text -----------------------------------------------------------------------------

DEEP = 100_000
LONG = 20_000


@pytest.mark.parametrize(
    "text",
    [
        "(" * DEEP + "x" + ")" * DEEP,
        "sin(" * DEEP + "x" + ")" * DEEP,
        "-" * DEEP + "x",
        "x**" * LONG + "y",
        "x/" * LONG + "y",
        "if(x < y, x, " * LONG + "y" + ")" * LONG,
        "min(" + "x, " * LONG + "y)",
        "x + " * LONG + "y",
    ],
    ids=lambda text: text[:8],
)
def test_depth_and_length_are_no_matter(ws, text):
    assert isinstance(parse(ws, text), Atom)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        ")" * 1_000_000,
        "9" * 1_000_000,
        "0." + "9" * 1_000_000,
        "v" * 1_000_000,
        " " * 1_000_000,
        "x<" * 500_000,
        "9**" * 30_000 + "9",
        "(1/3)**2000*" * 20_000 + "0**-1",
        "(" * 1000 + "3" + ")**2" * 1000,
        "\x00" * 1_000_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_a_megabyte_of_nonsense_is_an_error_soon(ws, text):
    with pytest.raises(BielaError):
        parse(ws, text)


def test_exact_fractions_in_a_long_text_do_not_grow_for_ever(ws):
    """Harmonic numbers: exact while they are short, then to the last digits of a float."""
    few = parse(ws, "+".join(f"1/{k}" for k in range(1, 20)))
    assert few.value == sum(Fraction(1, k) for k in range(1, 20))
    many = parse(ws, "+".join(f"1/{k}" for k in range(1, 10_000)))
    # the exact denominator has 4,300 digits
    assert isinstance(many.value, float)
    assert many.value == pytest.approx(math.fsum(1 / k for k in range(1, 10_000)), rel=1e-12, abs=0)


_PIECES = st.one_of(
    st.sampled_from(["x", "y", "2", "0.5", "1e3", "**", "sin(", "max(", "if(", "pi", "t"]),
    st.sampled_from("+-*/^<>=(),. \x00'é٣"),
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.one_of(st.lists(_PIECES, max_size=14).map("".join), st.text(max_size=20)))
@example("")
@example("-")
@example("x<(y<2)<2")
def test_any_text_is_an_atom_or_an_error_of_biela(text):
    ws = Workspace()
    ws.symbols("x y")
    try:
        atom = parse(ws, text)
    except BielaError as error:
        assert str(error)
    else:
        assert parse(ws, expanded_text(atom)) == atom


_PYTHON = st.recursive(
    st.sampled_from(["x", "y", "z", "2.0", "0.5", "3.0"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", "*", "/", "**"]), inner).map("".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        inner.map("cos({})".format),
    ),
    max_leaves=8,
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(_PYTHON)
def test_precedence_is_that_of_python(text):
    ws = Workspace()
    values = {"x": 0.7, "y": 1.3, "z": 2.1}
    try:
        atom = parse(ws, text, declare=Kind.FREE)
        expected = eval(text, {"cos": math.cos, **values})
    except (BielaError, ArithmeticError, TypeError):  # TypeError: the cosine of a complex number
        return
    if isinstance(expected, complex) or not abs(expected) < 1e12:
        return
    found = evaluate(atom, {ws[name]: value for name, value in values.items() if name in ws})
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


# --- round trip -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_what_expanded_text_writes_is_read_back_as_the_same_atom(seed):
    ws = furnished()
    for atom in grown(ws, random.Random(seed), 60):
        before = ws.statistics().operations
        for signed in (atom, -atom):
            assert parse(ws, expanded_text(signed)).ref == signed.ref
        assert ws.statistics().operations == before


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.one_of(
        st.integers(-(10**300), 10**300),
        st.fractions(),
        st.floats(allow_nan=False, allow_infinity=False),
    )
)
@example(Fraction(2**60 + 1, 4))
def test_every_number_is_read_back(value):
    ws = Workspace()
    x = ws.symbol("x")
    for atom in (ws.atom(value), x + value, x * value, log(x) ** 2 - value):
        assert parse(ws, expanded_text(atom)) == atom
