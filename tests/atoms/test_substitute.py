"""Substitution: all symbols at once, nothing expanded, what is not touched stays itself."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from mpmath import mpf

from biela.atoms import (
    Atom,
    Workspace,
    atan2,
    cos,
    evaluate,
    exp,
    jacobian,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    substitute,
    time_derivative,
)
from biela.atoms import opcodes as op
from biela.atoms.substitute import transplant
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
    return Workspace("ours")


@pytest.fixture
def xyz(ws: Workspace) -> tuple[Atom, ...]:
    return ws.symbols("x y z")


def test_one_symbol_is_replaced_by_an_expression_or_a_number(ws, xyz):
    x, y, z = xyz
    e = sin(x) * y + x**2
    assert substitute(e, {x: z}) == sin(z) * y + z**2
    assert substitute(e, {x: y + z}) == sin(y + z) * y + (y + z) ** 2
    assert substitute(e, {x: 0}) == 0
    assert substitute(e, {y: 2}) == 2 * sin(x) + x**2
    assert substitute(e, {x: -x}) == -sin(x) * y + x**2
    assert substitute(-e, {x: z}) == -(sin(z) * y + z**2)
    assert substitute(e, {x: 2.0, y: 3.0}).value == math.sin(2) * 3 + 4


def test_symbols_are_replaced_at_the_same_time(xyz):
    x, y, z = xyz
    e = x - 2 * y + z**2
    assert substitute(e, {x: y, y: x}) == y - 2 * x + z**2
    assert substitute(e, {x: y, y: z, z: x}) == (y - 2 * z) + x**2
    # a new symbol is not replaced again, as it would be one after the other
    assert substitute(x, {x: y, y: z}) == y
    assert substitute(substitute(x, {x: y}), {y: z}) == z


def test_several_expressions_share_one_walk(xyz):
    x, y, z = xyz
    assert substitute([x + y, sin(x), y], {x: z}) == [z + y, sin(z), y]
    assert substitute([], {x: z}) == []
    assert substitute(x, {}) == x


def test_every_operation_is_rebuilt(ws, xyz):
    x, y, z = xyz
    f = ws.spline("f", [0, 1, 2, 3], [0, 2, -1, 0])
    g = ws.external("g", 2, lambda a, b: a - 2 * b)
    build = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a**3 * b,
        lambda a, b: a**b,
        lambda a, b: a ** Fraction(1, 3) + b,
        lambda a, b: sqrt(a) * exp(-b) + log(a + b),
        lambda a, b: atan2(a, -b),
        lambda a, b: minimum(a, b) * maximum(-a, b),
        lambda a, b: (a < b) - (a <= 2 * b),
        lambda a, b: select(a < b, -a, b * b),
        lambda a, b: f(a) - f(-b),
        lambda a, b: g(a, -b) * g(b, a),
    ]
    at = {x: 0.7, y: 1.9, z: 0.25}
    for make in build:
        e = substitute(make(x, y), {x: z + 1, y: x * z})
        assert e == make(z + 1, x * z)
        assert float(evaluate(e, at)) == float(evaluate(make(x, y), {x: 1.25, y: 0.7 * 0.25}))


def test_velocities_set_to_zero_leave_what_has_none_as_it_is(ws):
    """The usual way to the velocity-free part of an acceleration equation."""
    q, r = ws.coordinates("q r")
    m, l = ws.parameters("m l")
    phi = [l * cos(q) + l * cos(q + r) - m, l * sin(q) + l * sin(q + r)]
    ddphi = time_derivative(time_derivative(phi))
    velocities = {q.velocity: 0, r.velocity: 0}
    J = [entry for row in jacobian(phi, [q, r]).rows for entry in row]
    before = len(ws)
    assert substitute([*phi, *J], velocities) == [*phi, *J]
    assert len(ws) == before

    without = substitute(ddphi, velocities)
    rng = np.random.default_rng(1)
    at = {s: float(rng.normal()) for s in ws}
    expected = evaluate(ddphi, at | {q.velocity: 0.0, r.velocity: 0.0})
    assert [float(v) for v in evaluate(without, at)] == pytest.approx(
        [float(v) for v in expected], rel=1e-15, abs=0
    )
    # what is left depends on no velocity
    live = ws.table.live(e.ref for e in without)
    assert all(v.ref not in live for v in velocities)
    assert substitute(without, velocities) == without
    size = len(ws)
    assert substitute(ddphi, velocities) == without and len(ws) == size


def test_what_does_not_depend_on_the_symbol_stays_the_same_atom(ws, xyz):
    x, y, z = xyz
    kept = sin(y) * z + exp(y)
    e = kept * x + kept
    before = len(ws)
    assert substitute(kept, {x: 5}) == kept
    assert len(ws) == before + 1  # the number 5
    assert substitute(e, {x: 0}) == kept
    assert substitute(e, {x: 1}) == 2 * kept


@settings(derandomize=True, deadline=None, max_examples=100)
@given(recipe=steps, inner=steps, values=points)
def test_the_substituted_graph_has_the_value_at_the_substituted_point(recipe, inner, values):
    """f(a := g, b := a, …) at p is f at (g(p), a(p), …), in 60 digits."""
    with mpmath.workdps(60):
        at = {n: mp_number(v) for n, v in zip(SYMBOLS, values, strict=True)}
        outer = exact_recipe(recipe, values)
        ws = outer.workspace
        g = exact_recipe(inner, values)
        if not (only_exact_numbers(ws) and only_exact_numbers(g.workspace)):
            return
        a, b, c, d = (ws[n] for n in SYMBOLS)
        table = g.workspace.table
        mapping = {g.workspace[n].ref: ws[n].ref for n in SYMBOLS}
        (ref,) = transplant(table, [g.atoms[-1].ref], ws.table, mapping)
        new = Atom(ws.table, ref)
        (value,) = mp_values([new], at)
        assert abs(value - g.nodes[-1].value) <= mpf(10) ** -50 * (
            g.nodes[-1].error / UNIT_ROUNDOFF + 1
        )
        e = outer.atoms[-1]
        try:
            # as an expression, where nothing can be folded to a double
            result = substitute(e, {a: new, b: a, c: -d, d: c})
        except DomainError:
            return
        if not only_exact_numbers(ws):
            return
        point = {"a": value, "b": at["a"], "c": -at["d"], "d": at["c"]}
        try:
            (expected,) = mp_values([e], point)
            (found,) = mp_values([result], at)
        except (ZeroDivisionError, TypeError, ValueError):
            return  # a pole, or a complex value that does not order
        if mpmath.isfinite(expected) and mpmath.im(expected) == 0 and abs(expected) < 1e12:
            assert abs(found - expected) <= mpf(10) ** -30 * (1 + abs(expected)), e


@settings(derandomize=True, deadline=None, max_examples=60)
@given(recipe=steps, values=points)
def test_a_substitution_repeated_makes_no_new_atom(recipe, values):
    with mpmath.workdps(20):
        cooked = exact_recipe(recipe, values)
    ws = cooked.workspace
    a, b, c, d = (ws[n] for n in SYMBOLS)
    swap = {a: b, b: a, c: -d}
    try:
        first = substitute(cooked.atoms, swap)
    except DomainError:
        return  # a division by what became zero
    size = len(ws)
    assert substitute(cooked.atoms, swap) == first
    assert len(ws) == size
    table = ws.table
    for atom in range(size):
        if table.ops[atom] > op.SYMBOL:
            again = table.rebuild(table.ops[atom], table.operands(atom), table.payload(atom))
            assert again == atom
    assert len(ws) == size


def test_a_graph_of_two_to_the_two_hundred_leaves_is_not_expanded(ws, xyz):
    x, y, z = xyz
    e = x
    for _ in range(200):
        e = sin(e) + e * y
    before = len(ws)
    result = substitute(e, {x: z})
    assert len(ws) - before == 600
    again = z
    for _ in range(200):
        again = sin(again) + again * y
    assert again == result
    assert len(ws) - before == 600


def test_a_value_outside_the_domain_is_named(xyz):
    x, y, _ = xyz
    with pytest.raises(DomainError, match="division by zero"):
        substitute(y / x, {x: 0})
    with pytest.raises(DomainError, match=r"log\(-2\)"):
        substitute(log(x), {x: -2})
    with pytest.raises(DomainError, match="division by zero"):
        substitute(1 / (x - y), {x: y})


def test_only_symbols_of_the_workspace_are_substituted(ws, xyz):
    x, y, _ = xyz
    foreign = Workspace("theirs").symbol("x")
    for wrong in (x + y, -x, ws.atom(2), "x"):
        with pytest.raises(DomainError, match="symbol"):
            substitute(x, {wrong: 1})
    with pytest.raises(WorkspaceError, match="theirs"):
        substitute(x, {foreign: 1})
    with pytest.raises(WorkspaceError, match="theirs"):
        substitute(x, {x: foreign})
    with pytest.raises(WorkspaceError, match="theirs"):
        substitute([x, foreign], {x: 1})


def test_an_expression_can_be_copied_into_another_workspace(ws, xyz):
    x, y, _ = xyz
    f = ws.spline("f", [0, 1, 2], [0, 2, -1])
    g = ws.external("g", 1, math.cosh)
    e = select(x < y, f(x) * 2, -g(y) / 3) + x**3
    other = Workspace("theirs")
    u = other.symbol("u")
    refs = transplant(ws.table, [e.ref, -e.ref], other.table, {x.ref: (u * u).ref, y.ref: (-u).ref})
    copy, opposite = (Atom(other.table, r) for r in refs)
    assert opposite == -copy
    for v in (0.3, -0.8, -1.5):
        expected = evaluate(e, {x: v * v, y: -v})
        assert float(evaluate(copy, {u: v})) == pytest.approx(float(expected), rel=1e-15, abs=0)
    with pytest.raises(WorkspaceError, match="y"):
        transplant(ws.table, [e.ref], other.table, {x.ref: u.ref})
