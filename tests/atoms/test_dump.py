"""A workspace as text comes back to the last reference, and corrupt text is told by its line."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.atoms import Atom, Kind, Workspace, diff, evaluate, expanded_text, select, sin
from biela.atoms import opcodes as op
from biela.atoms.dump import dump, load
from biela.errors import BielaError, ParseError
from tests.atoms.test_parse import furnished, grown

SMALL = """\
biela atoms 1
workspace "small"
curve drag 0.0 2
breaks 0.0 1.0
origins 0.0 0.0 1.0
piece 0.0 0.0 0.0 0.0
piece 0.0 2.0 0.0 0.0
piece 2.0 0.0 0.0 0.0
function tyre 2 1=tyre_d1
2 symbol theta coordinate 3
3 symbol dtheta velocity 4
4 symbol ddtheta acceleration 0
5 constant 1/3
6 constant 0.1
7 add 2 -3
8 power_int 7 3
9 sin 2
10 piecewise 2 0
11 external 0 -2 3
12 less 9 5
13 select 12 8 -9
end 14
"""


def assert_same(first: Workspace, second: Workspace) -> None:
    a, b = first.table, second.table
    assert (a.name, a.ops, a.left) == (b.name, b.ops, b.left)
    assert [a.operands(k) for k in range(len(a))] == [b.operands(k) for k in range(len(b))]
    assert [a.payload(k) for k in range(len(a))] == [b.payload(k) for k in range(len(b))]
    assert a.values == b.values
    assert list(map(type, a.values.values())) == list(map(type, b.values.values()))
    assert list(a.symbols.items()) == list(b.symbols.items())
    assert [c.key for c in a.piecewise] == [c.key for c in b.piecewise]
    assert [c.origins for c in a.piecewise] == [c.origins for c in b.piecewise]
    assert [(f.name, f.arity) for f in a.externals] == [(f.name, f.arity) for f in b.externals]


def test_the_text_of_a_small_workspace_is_as_documented():
    ws = load(SMALL)
    assert dump(ws) == SMALL
    table = ws.table
    assert expanded_text(Atom(table, 13)) == (
        "select(sin(theta) < 1/3, (theta - dtheta)**3, -sin(theta))"
    )
    assert expanded_text(Atom(table, 11)) == "tyre(-theta, dtheta)"
    assert ws["theta"].acceleration == ws["ddtheta"]
    assert table.piecewise[0](0.25) == 0.5


@pytest.mark.parametrize("seed", range(10))
def test_a_workspace_comes_back_exactly(seed):
    ws = furnished()
    atoms = grown(ws, random.Random(seed), 80)
    for atom in atoms[:20]:
        diff(atom, ws["x"])
    text = dump(ws)
    again = load(text)
    assert_same(ws, again)
    assert dump(again) == text
    for atom in atoms:
        assert expanded_text(Atom(again.table, atom.ref)) == expanded_text(atom)


@pytest.mark.parametrize("seed", range(5))
def test_a_loaded_workspace_finds_its_atoms_again(seed):
    ws = furnished()
    grown(ws, random.Random(seed), 80)
    table = load(dump(ws)).table
    size = len(table)
    for atom in range(2, size):
        if table.ops[atom] > op.SYMBOL:
            operands, payload = table.operands(atom), table.payload(atom)
            assert table.rebuild(table.ops[atom], operands, payload) == atom
    assert len(table) == size


def test_work_goes_on_in_a_loaded_workspace():
    ws = Workspace()
    x, y = ws.symbols("x y")
    e = select(x < y, sin(x) * y, x**3)
    again = load(dump(ws))
    f = Atom(again.table, e.ref)
    assert f == select(again["x"] < again["y"], sin(again["x"]) * again["y"], again["x"] ** 3)
    assert expanded_text(diff(f, again["x"])) == expanded_text(diff(e, x))


def test_external_functions_are_bound_again_after_loading():
    ws = furnished()
    e = ws.external("tyre", 2)(ws["x"], 3)
    slope = diff(e, ws["x"])
    again = load(dump(ws))
    again.bind("tyre", lambda a, b: a - b)
    again.bind("tyre_d1", lambda a, b: 7.0)
    x = again["x"]
    assert float(evaluate(Atom(again.table, e.ref), {x: 1.0})) == -2.0
    assert float(evaluate(Atom(again.table, slope.ref), {x: 1.0})) == 7.0


@pytest.mark.parametrize("name", ["", "two words", 'quotes " and \\', "line\nbreak", "é☃\x00"])
def test_a_workspace_may_have_any_name(name):
    assert load(dump(Workspace(name))).name == name


def test_every_kind_of_symbol_comes_back():
    ws = Workspace()
    for kind in Kind:
        ws.symbol(f"s_{kind.name.lower()}", kind)
    assert [symbol.kind for symbol in load(dump(ws))] == list(Kind)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.integers(-(10**300), 10**300),
            st.fractions(),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        max_size=5,
    )
)
def test_numbers_come_back_to_the_last_digit(numbers):
    ws = Workspace()
    refs = [ws.atom(value).ref for value in [*numbers, Fraction(2**60 + 1, 4)]]
    again = load(dump(ws))
    assert_same(ws, again)
    assert [again.table.value(ref) for ref in refs] == [ws.table.value(ref) for ref in refs]


def test_half_a_million_atoms_take_seconds():
    ws = Workspace()
    x, y = ws.symbols("x y")
    e = x
    for _ in range(250_000):
        e = sin(e) * y
    text = dump(ws)
    again = load(text)
    assert len(again) == len(ws) > 500_000
    assert again.table.left == ws.table.left


# --- corrupt text -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line, wrong, words",
    [
        (1, "biela atoms 2", "first line"),
        (1, "", "first line"),
        (2, "workspace small", "quotes"),
        (2, 'workspace "small', "cannot be read"),
        (2, "workspace [[[[", "quotes"),
        (3, "curve drag 0.0 3", "breaks"),
        (3, "curve drag 0.0 1000000000000", "breaks"),
        (3, "curve drag 0.0 -1", "breaks"),
        (3, "curve drag 0.0", "cannot be read"),
        (3, "curve sin 0.0 2", "sin"),
        (4, "breaks 1.0 0.0", "increase"),
        (4, "breaks 0.0 nan", "finite"),
        (4, "breaks 0.0 two", "cannot be read"),
        (6, "piece 0.0 0.0 0.0", "piece"),
        (9, "function tyre 0", "argument"),
        (9, "function ty-re 2", "ty-re"),
        (9, "function tyre 2 3=tyre_d3", "no argument 3"),
        (10, "3 symbol theta coordinate 3", "atom 2"),
        (10, "2 symbol 2theta coordinate 3", "2theta"),
        (10, "2 symbol theta banana 3", "cannot be read"),
        (10, "2 symbol theta coordinate 5", "not a symbol"),
        (10, "2 symbol theta coordinate 99", "not a symbol"),
        (11, "3 symbol theta velocity 4", "already a symbol"),
        (11, "3 symbol dtheta velocity 3", "another"),
        (13, "5 constant 0", "positive"),
        (13, "5 constant -1/3", "positive"),
        (13, "5 constant 1", "positive"),
        (13, "5 constant 1/0", "cannot be read"),
        (13, "5 constant inf", "cannot be read"),
        (13, "5 constant", "cannot be read"),
        (13, "5 constant " + "9" * 5000, "cannot be read"),
        (14, "6 constant 1/3", "already"),
        (14, "6 constant 2/6", "positive"),
        (15, "7 plus 2 3", "not an operation"),
        (15, "7 add 2 7", "earlier"),
        (15, "7 add 2 99999999999999999999", "earlier"),
        (15, "7 add 3 2", "order"),
        (15, "7 add 2 2", "order"),
        (15, "7 mul 2 -3", "order"),
        (15, "7 add 2", "fields"),
        (15, "7 add 2 3 4", "fields"),
        (15, "7 add 2 x", "cannot be read"),
        (15, "7 add", "cannot be read"),
        (15, "", "atom 7"),
        (16, "8 power_int 7 1", "order"),
        (16, "8 power_int 2 -3", "order"),
        (16, "8 add 2 -3", "already"),
        (17, "9 sin -2", "order"),
        (17, "9 sin 2 3", "fields"),
        (18, "10 piecewise 2 1", "no curve 1"),
        (18, "10 piecewise 2 -1", "no curve -1"),
        (19, "11 external 1 2 3", "wrong"),
        (19, "11 external 0 2", "wrong"),
        (21, "13 select 12 8", "fields"),
        (21, "13 select 12 -8 9", "order"),
        (22, "end 15", "14 atoms were read"),
        (22, "end", "atom 14"),
    ],
)
def test_a_corrupt_line_is_named(line, wrong, words):
    lines = SMALL.split("\n")
    lines[line - 1] = wrong
    with pytest.raises(ParseError, match=words) as caught:
        load("\n".join(lines))
    # the six lines of a curve are one thing
    assert caught.value.line in (range(3, 10) if line == 3 else [line])


def test_a_text_that_is_cut_short_is_noticed_everywhere():
    for end in range(len(SMALL) - 1):
        with pytest.raises(ParseError):
            load(SMALL[:end])


def test_a_text_that_goes_on_is_noticed():
    with pytest.raises(ParseError, match="goes on"):
        load(SMALL + "14 cos 2\n")


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.integers(0, len(SMALL) - 1),
    st.integers(0, 6),
    st.text(alphabet="0123456789-/. \nabx\x00é", max_size=6),
)
def test_damage_gives_a_workspace_or_a_parse_error(at, cut, patch):
    text = SMALL[:at] + patch + SMALL[at + cut :]
    try:
        ws = load(text)
    except BielaError as error:
        assert isinstance(error, ParseError)
    else:
        again = load(dump(ws))
        assert_same(ws, again)
