"""Listings: what is named, what is written in place, what it counts, and how far it goes."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.atoms.infix import Notation
from biela.code import Changes, Function, count_listing
from biela.code.listing import MAX_INLINE_DEPTH, Listing
from biela.code.parts import cut
from biela.code.targets import c99
from biela.errors import ParseError
from tests.exported_functions import block_pendulum, every_operation, newton_euler, puma

DATA = tomllib.loads((Path(__file__).parent.parent / "data" / "listings.toml").read_text("utf-8"))


def evaluated(listing: str, data: dict[str, float]) -> list[float]:
    """The values of the array elements that a printed listing assigns."""
    names = {"sin": math.sin, "cos": math.cos, **data}
    outputs: dict[int, float] = {}
    for statement in listing.replace("\n", " ").split(";"):
        if statement.strip():
            target, expression = statement.split("=")
            value = eval(expression.strip(), {}, names)
            element = re.search(r"\[(\d+)\]", target)
            if element:
                outputs[int(element[1])] = value
            else:
                names[target.strip()] = value
    return [outputs[i] for i in range(len(outputs))]


# --- the counting rule -----------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA["listing"])
def test_printed_listings_have_the_published_counts(name: str) -> None:
    listing = DATA["listing"][name]
    assert count_listing(listing["text"]) == (listing["atoms"], listing["operations"])


def test_printed_listings_give_the_verified_numbers() -> None:
    bar, pendulum = DATA["four_bar"], DATA["block_pendulum"]
    texts = {name: listing["text"] for name, listing in DATA["listing"].items()}
    four_bar = evaluated(texts["four_bar"], bar["data"])
    np.testing.assert_allclose(four_bar[:9], bar["results"]["M"], atol=1e-12)
    np.testing.assert_allclose(four_bar[9:], bar["results"]["delta"], atol=1e-11)
    constraints = evaluated(texts["B.8"], bar["data"])
    np.testing.assert_allclose(constraints[:2], bar["results"]["Phi"], atol=1e-12)
    np.testing.assert_allclose(constraints[2:], bar["results"]["Phi_q"], atol=1e-12)
    joined = evaluated(texts["3.4"], pendulum["data"])
    np.testing.assert_allclose(joined[:4], [-x for x in pendulum["results"]["M"]], atol=1e-12)
    for name in ("3.1", "3.2"):
        delta = evaluated(texts[name], pendulum["data"])
        np.testing.assert_allclose(delta, pendulum["results"]["delta"], atol=1e-11)
        np.testing.assert_allclose(delta, joined[4:], atol=1e-14)


def test_inputs_comments_and_cases_of_c_are_read() -> None:
    text = """
    const double x = q[0];  // y = 3*x;
    /* a = 1*2; */ const float a1 = x < 0.5f ? -2.0f*x : (x != 0.0f ? x : 1.0e-3f);
    out[3] = -a1;
    """
    assert count_listing(text) == (1, 6)
    with pytest.raises(ParseError):
        count_listing("a = b +* c;")


@pytest.mark.parametrize(
    "function", [every_operation(), puma(), block_pendulum()], ids=lambda f: f.name
)
def test_the_count_of_a_function_is_that_of_its_printed_c(function: Function) -> None:
    body = function.c().rpartition(f"void {function.name}(")[2]
    assert count_listing(body) == (function.count.atoms, function.count.thesis)


def test_the_count_of_a_function_cut_into_parts_is_the_same() -> None:
    example = newton_euler()
    function = example.torque_function("chain", example.random_chain(45))
    text = function.c()
    assert "chain_part2" in text
    assert count_listing(text) == (function.count.atoms, function.count.thesis)


def test_the_block_pendulum_needs_fewer_operations_than_published() -> None:
    # listing 3.4 has 3 atoms and 22 operations; signs that go into the sums save three
    function = block_pendulum()
    assert (function.count.atoms, function.count.thesis, function.count.arithmetic) == (3, 19, 16)
    given = DATA["block_pendulum"]
    values = given["data"]
    parameters = [function.table.symbols[ref].name for ref in function.inputs[2].refs]
    state = [
        [0.0, values["theta"]],
        [values["dx"], values["dtheta"]],
        [values[name] for name in parameters],
    ]
    M, delta = function.interpret(*state)
    np.testing.assert_allclose(-M.ravel(), given["results"]["M"], atol=1e-12)
    np.testing.assert_allclose(delta, given["results"]["delta"], atol=1e-11)
    lines = [line.strip() for line in function.c().splitlines()]
    assert "const double a3 = -a1*cos(theta);" in lines
    assert "M[1] = a3;" in lines
    assert "M[2] = a3;" in lines


def test_powers_of_one_base_share_their_multiplications() -> None:
    ws = bl.Workspace()
    x = ws.symbol("x")
    function = Function("f", {"x": x}, {"y": [x**4, x**2, x**9]})
    # x*x, squared, squared again and times x
    assert function.count.arithmetic == 5
    assert (function.count.atoms, function.count.thesis) == (2, 4)


# --- what gets a name ------------------------------------------------------------------------


def listing_of(outputs: list[bl.Atom], **options: str) -> Listing:
    table = outputs[0].table
    symbols = {ref: symbol.name for ref, symbol in table.symbols.items()}
    inputs = [bl.Atom(table, ref) for ref in symbols]
    function = Function("f", {"x": inputs}, {"y": outputs})
    return Listing(function.schedule, function.outputs, Notation(), symbols, **options)


def texts(listing: Listing) -> list[str]:
    return [f"{s.name} = {s.text}" for s in listing.statements] + [e.text for e in listing.entries]


def test_what_is_used_once_is_written_in_place() -> None:
    ws = bl.Workspace()
    x, y, z = ws.symbols("x y z")
    assert texts(listing_of([(x + y) * z - bl.sin(x * y)])) == ["z*(x + y) - sin(x*y)"]


def test_what_is_used_twice_gets_a_name_once() -> None:
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    s = bl.sin(x * y)
    assert texts(listing_of([s + x, s * y, s])) == ["a1 = sin(x*y)", "x + a1", "y*a1", "a1"]


def test_the_base_of_an_integer_power_has_a_name() -> None:
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    assert texts(listing_of([(x + y) ** 2])) == ["a1 = x + y", "a1*a1"]
    assert texts(listing_of([y * x**3])) == ["x*x*x*y"]
    assert texts(listing_of([x**13])) == [
        "a1 = x*x*x",
        "a2 = a1*a1",
        "a2*a2*x",
    ]


def test_a_power_stays_one_factor() -> None:
    # y*(x*x) and y*x*x round differently
    ws = bl.Workspace()
    y, z, x = ws.symbols("y z x")
    assert texts(listing_of([(y * z) * x**2])) == ["y*z*(x*x)"]


def test_minus_signs_are_absorbed_where_that_is_free() -> None:
    ws = bl.Workspace()
    x, y, z = ws.symbols("x y z")
    cases = {
        "y - x": -(x - y),
        "z - (x - y)": -(x - y - z),
        "y - x - z": -(x - y + z),
        "z*(y - x)": -(z * (x - y)),
        "(y - x)/z": -((x - y) / z),
        "-2*x": -2 * x,
        "-2*x - y": -(2 * x + y),
        "-(x + y)": -(x + y),
        "-x*y": -(x * y),
        "-sin(x)": -bl.sin(x),
    }
    for text, expression in cases.items():
        listing = listing_of([expression])
        assert texts(listing) == [text]
        assert listing.operations == count_listing(f"y[0] = {text};")[1]


def test_a_name_stands_for_the_opposite_where_only_that_is_needed() -> None:
    ws = bl.Workspace()
    x, y, z = ws.symbols("x y z")
    e = z * (x - y)
    assert texts(listing_of([-e, -e])) == ["a1 = z*(y - x)", "a1", "a1"]
    assert texts(listing_of([-e, e])) == ["a1 = z*(x - y)", "-a1", "a1"]


def test_atoms_do_not_take_the_names_of_symbols() -> None:
    ws = bl.Workspace()
    a2, b = ws.symbols("a2 b")
    s = bl.sin(a2 + b)
    text = Function("f", {"q": [a2, b]}, {"y": [s, s * b]}).c()
    assert "const double atom1 = sin(a2 + b);" in text


# --- order -----------------------------------------------------------------------------------


def test_what_stays_constant_longest_comes_first() -> None:
    ws = bl.Workspace()
    q = ws.coordinate("q")
    t = ws.symbol("t", bl.Kind.TIME)
    m, l = ws.parameters("m l")
    u = ws.input("u")
    parts = [bl.sin(u), bl.sin(q.velocity), bl.sin(q), bl.sin(t), bl.sin(m * l)]
    listing = listing_of([x * y for x in parts for y in parts if x != y])
    assert [s.changes for s in listing.statements if s.text.startswith("sin")] == [
        Changes.WITH_PARAMETERS,
        Changes.WITH_TIME,
        Changes.WITH_CONFIGURATION,
        Changes.WITH_VELOCITY,
        Changes.ALWAYS,
    ]


def test_a_long_listing_says_of_each_atom_what_it_depends_on() -> None:
    text = puma().c()
    assert "// depends on: other inputs; what changes less often is marked" in text
    assert re.search(r"const double a1 = sin\(q2\);  // configuration", text)
    assert re.search(r"= dq1\*a1;  // velocity", text)


def test_every_statement_comes_after_what_it_reads() -> None:
    for function in (every_operation(), puma()):
        listing = c99.draft(function).listing
        seen: set[int] = set()
        for statement in listing.statements:
            assert set(listing.reads(statement).named) <= seen
            seen.add(statement.node)
        used = {
            n for item in (*listing.statements, *listing.entries) for n in listing.reads(item).named
        }
        assert used == seen


# --- size ------------------------------------------------------------------------------------


def test_deep_expressions_stay_within_what_compilers_promise() -> None:
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    nested, chained = x, x
    for _ in range(400):
        nested = bl.sin(y - nested)
        chained = chained + y * chained.workspace.symbol("a_rather_long_name")
        chained = chained / y
    listing = listing_of([nested, chained])
    for item in (*listing.statements, *listing.entries):
        depth = deepest = 0
        for character in item.text:
            depth += (character == "(") - (character == ")")
            deepest = max(deepest, depth)
        assert depth == 0
        assert deepest <= MAX_INLINE_DEPTH + 5
        assert len(item.text) < 2000


@pytest.mark.parametrize("length", [20_000, 200_000])
def test_a_chain_of_very_many_operations_is_written(length: int) -> None:
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    table, ref = ws.table, x.ref
    for k in range(length // 2):
        ref = table.mul(table.add(ref, y.ref), x.ref if k % 2 else y.ref)
    function = Function("chain", {"q": [x, y]}, {"r": bl.Atom(table, ref)})
    listing = c99.draft(function).listing
    assert listing.operations == length
    parts, slots = cut(listing, 50)
    assert len(parts) > 3
    assert 0 < slots < 5


def test_parts_of_a_listing_pass_on_what_later_parts_read() -> None:
    example = newton_euler()
    function = example.torque_function("chain", example.random_chain(45))
    listing = c99.draft(function).listing
    parts, slots = cut(listing, 200)
    names = {s.node: s.name for s in listing.statements}
    work: dict[int, str] = {}
    for part in parts:
        assert len(part.statements) <= 300
        known = set()
        for name, slot in part.loads:
            assert work[slot] == name
            known.add(name)
        for statement in part.statements:
            assert {names[n] for n in listing.reads(statement).named} <= known
            known.add(statement.name)
        for entry in part.entries:
            assert {names[n] for n in listing.reads(entry).named} <= known
        for node, slot in part.stores.items():
            assert slot < slots
            work[slot] = names[node]
    assert sum(len(p.statements) for p in parts) == listing.atoms
    assert sum(len(p.entries) for p in parts) == len(listing.entries)
