"""Whatever the table simplifies, the value stays: random graphs against many-digit arithmetic.

A random *recipe* is followed twice: with atoms, which simplify as they are built, and with mpmath
at 60 digits, which does exactly what the recipe says.  Numbers in the recipes are exact in both, so
the two must agree to (nearly) all 60 digits; no tolerance has to allow for rounding.  A second
comparison, with doubles, uses a bound for the rounding carried along the recipe.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from biela import atoms
from biela.atoms import Atom, Workspace, evaluate, expanded_size, expanded_text
from biela.atoms import opcodes as op
from biela.errors import ExpressionTooLargeError

DIGITS = 60
#: Values beyond this are not built upon: they would only lose digits to cancellation later.
LARGEST = 1e6
UNIT_ROUNDOFF = 2.0**-53

SYMBOLS = "a b c d".split()  # noqa: SIM905
NUMBERS = [0, 1, -1, 2, 3, -5, Fraction(1, 3), Fraction(-7, 4), 0.5, -0.375, 10]


# --- the independent evaluation of a graph of atoms -----------------------------------------------


def mp_number(value: object) -> mpf:
    if isinstance(value, Fraction):
        return mpf(value.numerator) / value.denominator
    return mpf(value)


def mp_sign(x: mpf) -> mpf:
    return mpf((x > 0) - (x < 0))


MP_UNARY: dict[int, Callable[[mpf], mpf]] = {
    op.SQRT: mpmath.sqrt,
    op.SIN: mpmath.sin,
    op.COS: mpmath.cos,
    op.TAN: mpmath.tan,
    op.ASIN: mpmath.asin,
    op.ACOS: mpmath.acos,
    op.ATAN: mpmath.atan,
    op.EXP: mpmath.exp,
    op.LOG: mpmath.log,
    op.TANH: mpmath.tanh,
    op.ABS: abs,
    op.SIGN: mp_sign,
}

MP_BINARY: dict[int, Callable[[mpf, mpf], mpf]] = {
    op.ADD: lambda a, b: a + b,
    op.MUL: lambda a, b: a * b,
    op.DIV: lambda a, b: a / b,
    op.POWER: lambda a, b: mpmath.power(a, b),
    op.ATAN2: mpmath.atan2,
    op.MIN: min,
    op.MAX: max,
    op.LESS: lambda a, b: mpf(a < b),
    op.LESS_EQUAL: lambda a, b: mpf(a <= b),
}


def mp_values(expressions: list[Atom], values: dict[str, mpf]) -> list[mpf]:
    """The graph of atoms in many digits, straight from the lists of the table."""
    table = expressions[0].table
    found: dict[int, mpf] = {}
    for atom in table.live(e.ref for e in expressions):
        code = table.ops[atom]
        x = [found[r] if r >= 0 else -found[-r] for r in table.operands(atom)]
        if code == op.CONSTANT:
            found[atom] = mp_number(table.values[atom])
        elif code == op.SYMBOL:
            found[atom] = values[table.symbols[atom].name]
        elif code in MP_UNARY:
            found[atom] = MP_UNARY[code](x[0])
        elif code in MP_BINARY:
            found[atom] = MP_BINARY[code](x[0], x[1])
        elif code == op.POWER_INT:
            found[atom] = x[0] ** table.payload(atom)
        elif code == op.SELECT:
            found[atom] = x[1] if x[0] != 0 else x[2]
        else:
            raise NotImplementedError(op.NAMES[code])
    return [found[abs(e.ref)] * (1 if e.ref >= 0 else -1) for e in expressions]


# --- recipes --------------------------------------------------------------------------------------


@dataclass
class Node:
    """One step of a recipe: the value in many digits and how much doubles may be off."""

    value: mpf
    error: mpf


#: name: (how atoms do it, how mpmath does it, slope, the argument must satisfy)
FUNCTIONS = {
    "sin": (atoms.sin, mpmath.sin, mpmath.cos, lambda x: abs(x) < 50),
    "cos": (atoms.cos, mpmath.cos, mpmath.sin, lambda x: abs(x) < 50),
    "tan": (atoms.tan, mpmath.tan, lambda x: 1 + mpmath.tan(x) ** 2, lambda x: abs(x) < 1.3),
    "asin": (atoms.asin, mpmath.asin, lambda x: 1 / mpmath.sqrt(1 - x * x), lambda x: abs(x) < 0.9),
    "acos": (atoms.acos, mpmath.acos, lambda x: 1 / mpmath.sqrt(1 - x * x), lambda x: abs(x) < 0.9),
    "atan": (atoms.atan, mpmath.atan, lambda x: 1 / (1 + x * x), lambda x: True),
    "exp": (atoms.exp, mpmath.exp, mpmath.exp, lambda x: x < 10),
    "log": (atoms.log, mpmath.log, lambda x: 1 / x, lambda x: x > 1e-2),
    "tanh": (atoms.tanh, mpmath.tanh, lambda x: 1 - mpmath.tanh(x) ** 2, lambda x: True),
    "sqrt": (atoms.sqrt, mpmath.sqrt, lambda x: 1 / (2 * mpmath.sqrt(x)), lambda x: x > 1e-3),
    "abs": (abs, abs, lambda x: mpf(1), lambda x: abs(x) > 1e-3),
    "sign": (atoms.sign, mp_sign, lambda x: mpf(0), lambda x: abs(x) > 1e-3),
}
ARITHMETIC = ["add", "sub", "mul", "div", "neg", "power", "min", "max", "select", "atan2", "half"]
OPERATIONS = [*ARITHMETIC, *ARITHMETIC, *FUNCTIONS]  # arithmetic twice as often

Step = tuple[str, int, int, int, int]
steps = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), *[st.integers(0, 63)] * 4), min_size=1, max_size=40
)
points = st.lists(st.integers(-300, 300), min_size=4, max_size=4).map(
    # exact in binary, not zero, and not a solution of anything
    lambda ks: [Fraction(2 * k + 1, 128) + Fraction(i, 4096) for i, k in enumerate(ks)]
)


@dataclass
class Recipe:
    """Follows steps with atoms and with many digits side by side; what is undefined is skipped."""

    values: list[Fraction]
    workspace: Workspace = field(default_factory=Workspace)
    atoms: list[Atom] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, value in zip(SYMBOLS, self.values, strict=True):
            self._push(self.workspace.symbol(name), Node(mp_number(value), mpf(0)))
        for value in NUMBERS:
            exact = mp_number(value)
            self._push(self.workspace.atom(value), Node(exact, abs(exact) * UNIT_ROUNDOFF))

    def follow(self, recipe: list[Step]) -> Recipe:
        for step in recipe:
            self.step(*step)
        return self

    def _push(self, atom: Atom, node: Node) -> None:
        self.atoms.append(atom)
        self.nodes.append(node)

    def _keep(self, make: Callable[[], Atom], value: mpf, error: mpf, roundings: int = 1) -> None:
        if abs(value) < LARGEST and error < 1e-6 * max(mpf(1), abs(value)):
            self._push(make(), Node(value, error + roundings * UNIT_ROUNDOFF * abs(value)))

    def step(self, name: str, i: int, j: int, k: int, l: int) -> None:
        n = len(self.atoms)
        # the latest nodes are as likely as all others together, so that graphs grow deep
        i, j, k, l = (n - 1 - m % n if m % 2 else m % n for m in (i, j, k, l))
        A, B, C, D = (self.atoms[m] for m in (i, j, k, l))
        a, b, c, d = (self.nodes[m] for m in (i, j, k, l))
        if name == "add":
            self._keep(lambda: A + B, a.value + b.value, a.error + b.error)
        elif name == "sub":
            self._keep(lambda: A - B, a.value - b.value, a.error + b.error)
        elif name == "mul":
            error = abs(a.value) * b.error + abs(b.value) * a.error
            self._keep(lambda: A * B, a.value * b.value, error)
        elif name == "div":
            if abs(b.value) > 1e-3:
                quotient = a.value / b.value
                error = (a.error + abs(quotient) * b.error) / abs(b.value)
                self._keep(lambda: A / B, quotient, error, 2)
        elif name == "neg":
            self._keep(lambda: -A, -a.value, a.error)
        elif name == "power":
            e = j % 7 - 2
            if e >= 0 or abs(a.value) > 1e-2:
                slope = abs(e * a.value ** (e - 1)) if e else mpf(0)
                self._keep(lambda: A**e, a.value**e, slope * a.error, 4 + abs(e))
        elif name == "half":
            e = Fraction(j % 13, 2) - 3
            if a.value > 1e-2:
                value = mpmath.power(a.value, mp_number(e))
                error = abs(mp_number(e) * value / a.value) * a.error
                self._keep(lambda: A**e, value, error, 8)
        elif name in ("min", "max"):
            if abs(a.value - b.value) > 1e-9 or i == j:
                make = atoms.minimum if name == "min" else atoms.maximum
                pick = min if name == "min" else max
                self._keep(lambda: make(A, B), pick(a.value, b.value), max(a.error, b.error))
        elif name == "select":
            if abs(a.value - b.value) > 1e-9:
                chosen = c if a.value < b.value else d
                strict = (i + l) % 2
                self._keep(
                    lambda: atoms.select(A < B if strict else B >= A, C, D),
                    chosen.value,
                    chosen.error,
                )
        elif name == "atan2":
            r2 = a.value**2 + b.value**2
            if r2 > 1e-4 and (abs(a.value) > 1e-3 or b.value > 0):
                error = (a.error + b.error) / mpmath.sqrt(r2)
                self._keep(lambda: atoms.atan2(A, B), mpmath.atan2(a.value, b.value), error, 4)
        else:
            make, exact, slope, inside = FUNCTIONS[name]
            if inside(a.value):
                value = exact(a.value)
                error = abs(slope(a.value)) * a.error
                # a function of a number is folded to a double
                folded = 1 if A.value is not None else 0
                self._keep(lambda: make(A), value, error, 4 + folded)


def only_exact_numbers(ws: Workspace) -> bool:
    """Whether no folded number was rounded: doubles of a few bits are as exact as fractions."""
    return all(
        not isinstance(v, float) or (Fraction(v).denominator < 2**20 and abs(v) < 2**20)
        for v in ws.table.values.values()
    )


def exact_recipe(recipe: list[Step], values: list[Fraction]) -> Recipe:
    """The recipe without its functions of numbers, which would be folded to doubles."""
    cooked = Recipe(values)
    for step in recipe:
        n, m = len(cooked.atoms), step[1]
        argument = cooked.atoms[n - 1 - m % n if m % 2 else m % n]
        transcendental = step[0] in FUNCTIONS or step[0] in ("half", "atan2")
        if not (transcendental and argument.value is not None):
            cooked.step(*step)
    return cooked


@settings(derandomize=True, deadline=None, max_examples=600)
@given(recipe=steps, values=points)
def test_simplified_graphs_have_the_value_of_what_was_written(recipe, values):
    with mpmath.workdps(DIGITS):
        cooked = exact_recipe(recipe, values)
        if not only_exact_numbers(cooked.workspace):
            return
        given_values = {n: mp_number(v) for n, v in zip(SYMBOLS, values, strict=True)}
        found = mp_values(cooked.atoms, given_values)
        for atom, node, value in zip(cooked.atoms, cooked.nodes, found, strict=True):
            # node.error / u is the condition of the recipe; 60 digits carry u = 10^-60
            condition = node.error / UNIT_ROUNDOFF + abs(node.value)
            assert abs(value - node.value) <= condition * mpf(10) ** (4 - DIGITS), atom


def test_the_exact_comparison_is_seldom_skipped():
    """The test above leaves out graphs with rounded numbers; here it is seen that few are."""
    rng = np.random.default_rng(5)
    kept = 0
    for _ in range(100):
        recipe = [
            (OPERATIONS[rng.integers(len(OPERATIONS))], *map(int, rng.integers(0, 64, 4)))
            for _ in range(25)
        ]
        with mpmath.workdps(DIGITS):
            values = [Fraction(int(k) * 2 + 1, 128) for k in rng.integers(-300, 300, 4)]
            cooked = exact_recipe(recipe, values)
        kept += only_exact_numbers(cooked.workspace) and len(cooked.atoms) > 20
    assert kept > 50


@settings(derandomize=True, deadline=None, max_examples=600)
@given(recipe=steps, values=points)
def test_evaluation_in_doubles_stays_within_the_rounding_of_the_recipe(recipe, values):
    """The bound is the first-order running error of the recipe as written.

    Joining numbers moves roundings but adds none on a path, except that c x + d x = (c + d) x has
    its rounding relative to |c x| + |d x|, as the sum as written has: twice the bound covers it,
    and the second order.
    """
    with mpmath.workdps(DIGITS):
        cooked = Recipe(values).follow(recipe)
        ws = cooked.workspace
        at = {ws[n]: float(v) for n, v in zip(SYMBOLS, values, strict=True)}
        found = evaluate(cooked.atoms, at)
        for atom, node, value in zip(cooked.atoms, cooked.nodes, found, strict=True):
            assert abs(mpf(float(value)) - node.value) <= 2 * node.error, atom


@settings(derandomize=True, deadline=None, max_examples=60)
@given(recipe=steps, values=points)
def test_evaluation_of_arrays_is_that_of_their_elements(recipe, values):
    with mpmath.workdps(20):
        cooked = Recipe(values).follow(recipe)
    ws = cooked.workspace
    rng = np.random.default_rng(1)
    arrays = {ws[n]: rng.normal(size=5) for n in SYMBOLS}
    together = evaluate(cooked.atoms, arrays)
    for k in range(5):
        single = evaluate(cooked.atoms, {s: float(v[k]) for s, v in arrays.items()})
        for one, many in zip(single, together, strict=True):
            element = np.broadcast_to(many, (5,))[k]
            # vector instructions may round sin, exp, … and powers differently
            assert element == pytest.approx(float(one), rel=1e-9, abs=1e-12, nan_ok=True) or (
                not math.isfinite(float(one)) or abs(float(one)) > 1e6
            )


@settings(derandomize=True, deadline=None, max_examples=150)
@given(recipe=steps, values=points)
def test_the_written_text_means_the_expression(recipe, values):
    """Python itself reads the text back; it has the same precedence of operators."""
    with mpmath.workdps(30):
        cooked = Recipe(values).follow(recipe)
        names: dict[str, object] = {n: mp_number(v) for n, v in zip(SYMBOLS, values, strict=True)}
        table = cooked.workspace.table
        names |= {op.NAMES[c]: f for c, f in MP_UNARY.items()}
        names |= {
            "min": min,
            "max": max,
            "atan2": mpmath.atan2,
            "select": lambda c, a, b: a if c else b,
            "__builtins__": {},
        }
        e = cooked.atoms[-1]
        if expanded_size(e) > 2000:
            with pytest.raises(ExpressionTooLargeError):
                expanded_text(e, limit=2000)
            return
        given_values = {n: mp_number(v) for n, v in zip(SYMBOLS, values, strict=True)}
        (expected,) = mp_values([e], given_values)
        text = expanded_text(e)
        assert text == table.text(e.ref, limit=10**6)
        read = mpf(eval(text, names))
        # quotients of integers in the text are doubles to Python
        condition = cooked.nodes[-1].error / UNIT_ROUNDOFF + abs(expected)
        assert abs(read - expected) <= 100 * UNIT_ROUNDOFF * max(condition, 1), text


@settings(derandomize=True, deadline=None, max_examples=60)
@given(recipe=steps, values=points)
def test_building_again_makes_no_new_atom(recipe, values):
    """The second walk finds every atom; so does the recipe with all signs turned."""
    with mpmath.workdps(20):
        cooked = Recipe(values).follow(recipe)
        size = len(cooked.workspace)
        again = Recipe(values, workspace=cooked.workspace).follow(recipe)
    assert [a.ref for a in again.atoms] == [a.ref for a in cooked.atoms]
    assert len(cooked.workspace) == size


@settings(derandomize=True, deadline=None, max_examples=60)
@given(recipe=steps, values=points)
def test_the_size_of_the_expansion_is_that_of_its_tree(recipe, values):
    with mpmath.workdps(20):
        cooked = Recipe(values).follow(recipe)
    table = cooked.workspace.table

    def tree(atom: int, budget: list[int]) -> int:
        budget[0] -= 1
        if budget[0] < 0:
            return 0
        return 1 + sum(tree(abs(r), budget) for r in table.operands(atom))

    e = cooked.atoms[-1]
    if expanded_size(e) < 3000:
        assert expanded_size(e) == tree(abs(e.ref), [4000])


# --- closed forms ---------------------------------------------------------------------------------


def test_polynomials_agree_with_sympy():
    """(a + b)(a - b)(a b + c)**3 - …, exactly, in rational arithmetic."""
    ws = Workspace()
    a, b, c = ws.symbols("a b c")
    e = (a + b) * (a - b) * (a * b + c) ** 3 - 2 * (a * 3 - b / 7) ** 2 + (c - a) * (a - c)
    A, B, C = sympy.symbols("a b c")
    expected = sympy.expand(
        (A + B) * (A - B) * (A * B + C) ** 3 - 2 * (A * 3 - B / 7) ** 2 + (C - A) * (A - C)
    )
    read = sympy.sympify(expanded_text(e), rational=True)
    assert sympy.expand(read - expected) == 0


@pytest.mark.parametrize("signs", list(itertools.product((1, -1), repeat=3)))
@pytest.mark.parametrize(
    "build",
    [
        lambda x, y, z: x - y + z,
        lambda x, y, z: (x * y) / z,
        lambda x, y, z: x / (y - z),
        lambda x, y, z: atoms.minimum(x, y) - atoms.maximum(y, z),
        lambda x, y, z: atoms.select(x < y, y, z),
        lambda x, y, z: atoms.select(x <= y, x - z, z - x),
        lambda x, y, z: atoms.atan2(x, y) * z,
        lambda x, y, z: atoms.sin(x - y) + atoms.cos(y - z) + atoms.tanh(z - x),
        lambda x, y, z: (x - y) ** 3 + (y - z) ** 2,
        lambda x, y, z: abs(x - y) + atoms.sign(y - z),
        lambda x, y, z: atoms.exp(x) * 2**y + z,
    ],
)
def test_signs_pushed_through_operations_change_no_value(build, signs):
    """The same formula on -x as on the number -x, for all signs; sign changes round nothing."""
    ws = Workspace()
    symbols = ws.symbols("x y z")
    numbers = (0.75, -1.3125, 2.625)
    build(*symbols)  # so that some atoms exist with the other sign
    e = build(*(s * a for s, a in zip(signs, symbols, strict=True)))
    got = float(evaluate(e, dict(zip(symbols, numbers, strict=True))))
    x, y, z = (s * v for s, v in zip(signs, numbers, strict=True))
    fresh = Workspace()
    plain = fresh.symbols("x y z")
    expected = float(evaluate(build(*plain), dict(zip(plain, (x, y, z), strict=True))))
    direct = build(fresh.atom(x), fresh.atom(y), fresh.atom(z))
    assert got == expected
    assert got == pytest.approx(float(direct.value), rel=4e-16, abs=4e-16)
