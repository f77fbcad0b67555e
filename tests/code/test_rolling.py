"""Loops over equal parts: what is found, in which order, and the same bits as without."""

from __future__ import annotations

import ctypes
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.realtime import export_simulator
from biela.atoms import Atom
from biela.code import Function
from biela.code.rolling import Rolled, rolled
from biela.code.rolling.families import families
from biela.code.targets import c99
from examples.symbolic.stewart import stewart
from tests.code.test_c99 import compile_c

UNARY = (bl.sin, bl.cos, bl.sqrt, abs, bl.tanh, bl.exp)


def parts_of(seed: int, count: int, shared: bool = True) -> Function:
    """Equal random expressions of other symbols each, their sum, and something of each and all."""
    random = Random(seed)
    ws = bl.Workspace("parts")
    common = list(ws.parameters("g h"))
    q = [list(ws.coordinates([f"a{i}", f"b{i}", f"c{i}"])) for i in range(count)]
    recipe = [(random.randrange(9), random.random(), random.random()) for _ in range(220)]
    ends = []
    for i, own in enumerate(q):
        length = ws.atom(0.37 + 0.11 * i)  # a number of its own, too
        values = [*own, own[0] * length, *(common if shared else own)]
        ends.append(_followed(values, recipe)[-20:])
    total = sum((end[0] for end in ends), start=ws.atom(0.5))
    back = [end[1] * total - end[2] / (2 + total * total) for end in ends]
    y = [*(e for end in ends for e in end[3:6]), total, *back]
    inputs = {"q": [symbol for own in q for symbol in own], "p": common}
    return Function("parts", inputs, {"y": y})


def two_levels(seed: int) -> Function:
    """Legs that meet in hubs, in any order and with any sign, and a hub that gathers all."""
    random = Random(seed)
    ws = bl.Workspace("levels")
    hubs, legs = 4, 3
    k, a1_1 = ws.parameters("k a1_1")  # names that a writer of C likes too
    q = [list(ws.coordinates([f"a{i}", f"b{i}"])) for i in range(hubs * legs)]
    z = list(ws.coordinates([f"z{j}" for j in range(hubs)]))
    inner = [(random.randrange(9), random.random(), random.random()) for _ in range(90)]
    outer = [(random.randrange(9), random.random(), random.random()) for _ in range(120)]
    made = [_followed([*own, k, a1_1], inner)[-8:] for own in q]
    order = random.sample(range(hubs * legs), hubs * legs)
    ends = []
    for j in range(hubs):
        mine = [made[i] for i in order[legs * j : legs * (j + 1)]]
        sign = random.choice([1, -1])
        start = [z[j], *(sign * leg[n] for leg in mine for n in (0, 1)), mine[0][2] - mine[1][2]]
        ends.append(_followed(start, outer)[-5:])
    total = sum((end[0] for end in ends), start=ws.atom(0.5))
    y = [*(e for end in ends for e in end), total, *(leg[3] * total for leg in made)]
    inputs = {"q": [*(symbol for own in q for symbol in own), *z], "p": [k, a1_1]}
    return Function("parts", inputs, {"y": y})


def _followed(values: list[Atom], recipe: list[tuple[int, float, float]]) -> list[Atom]:
    for what, x, y in recipe:
        a, b = values[int(x * len(values))], values[int(y * len(values))]
        values.append(_operation(what, a, b))
    return values


def _operation(what: int, a: Atom, b: Atom) -> Atom:
    if what < 2:
        return a - b
    if what < 4:
        return bl.sin(a) * b
    if what == 4:
        return a / (3 + b * b)
    if what == 5:
        return bl.maximum(a, b) * 0.5
    if what == 6:
        return bl.select(a < b, bl.cos(a), b)
    return bl.sin(a + 2 * b) if what == 7 else bl.cos(b) ** 3 - a


def check_order(made: Rolled, values: dict[int, Any]) -> None:
    """Every operation is computed once, after what it reads; and lanes are what they say."""
    table = made.schedule.table
    done: set[int] = set()
    computed: list[int] = []
    for piece in made.pieces:
        if piece.family is None:
            for atom in piece.atoms:
                assert all(is_there(made, r, done) for r in table.operands(atom))
                done.add(atom)
                computed.append(atom)
            continue
        rows = {row[0]: row for row in piece.family.rows}
        before, inside = set(done), set[int]()
        for atom in piece.atoms:
            for lane, ref in enumerate(rows[atom]):
                assert made.lanes[abs(ref)] == (atom, lane, 1 if ref > 0 else -1)
                assert table.ops[abs(ref)] == table.ops[atom]
                operands = []
                for r in table.operands(atom):
                    row = piece.family.operands.get(abs(r))
                    image = abs(r) if row is None else row[lane]
                    assert abs(r) in inside or is_there(made, image, before)
                    operands.append(np.sign(r) * signed(values, image) if r else 0.0)
                again = table.rebuild(
                    table.ops[atom],
                    [table.constant(float(x)) for x in operands],
                    table.payload(atom),
                )
                assert float(table.value(again)) == pytest.approx(
                    signed(values, ref), rel=1e-12, abs=1e-12
                )
                computed.append(abs(ref))
            inside.add(atom)
        done.update(computed)
    assert sorted(computed) == made.schedule.operations


def is_there(made: Rolled, ref: int, done: set[int]) -> bool:
    return abs(ref) in done or abs(ref) not in set(made.schedule.operations)


def signed(values: dict[int, Any], ref: int) -> float:
    return float(values[abs(ref)]) * (1 if ref >= 0 else -1)


def atom_values(function: Function, seed: int) -> dict[int, Any]:
    """The value of every atom at a random place, by walking the graph."""
    random = np.random.default_rng(seed)
    live = function.schedule.live
    table = function.table
    given = [random.uniform(0.2, 1.5, a.size) for a in function.inputs]
    every = Function(
        "every",
        {a.name: [Atom(table, r) for r in a.refs] for a in function.inputs},
        {"v": [Atom(table, a) for a in live]},
    )
    return dict(zip(live, every.interpret(*given), strict=True))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [2, 3, 6, 11])
def test_equal_parts_are_found_whatever_they_do_and_stay_in_order(seed: int, count: int) -> None:
    function = parts_of(seed, count)
    made = rolled(function.schedule)
    total = len(function.schedule.operations)
    if total < 1000:
        assert made is None, "it fits as it is"
        return
    assert made is not None
    # of the operations of the parts, the sum and what is alike in a part are left
    assert made.written < 1.3 * total / count + 4 * count
    check_order(made, atom_values(function, seed))


def test_parts_that_share_nothing_with_others_are_found_too() -> None:
    function = parts_of(3, 12, shared=False)
    made = rolled(function.schedule)
    assert made is not None
    check_order(made, atom_values(function, 1))


def chain(n: int) -> Function:
    """A recursion: every part reads what the one before has made."""
    ws = bl.Workspace("chain")
    x = list(ws.coordinates([f"x{i}" for i in range(n)]))
    k = list(ws.parameters([f"k{i}" for i in range(n)]))
    state: tuple[Atom, Atom] = (ws.atom(1), ws.atom(0.25))
    for a, b in zip(x, k, strict=True):
        u, v = state
        state = bl.sin(a) * u - b * v, bl.cos(a) * v + b * u * u - a * v
    return Function("chain", {"x": x, "k": k}, {"y": list(state)})


def test_parts_that_depend_on_each_other_are_taken_apart() -> None:
    function = chain(150)
    assert len(function.schedule.operations) > 1000
    made = rolled(function.schedule)
    if made is not None:  # the sines and some products do not wait for others
        check_order(made, atom_values(function, 0))
    for family in families(function.schedule):
        assert family.saved > 0


def test_a_function_without_equal_parts_is_left_alone() -> None:
    random = Random(5)
    ws = bl.Workspace("odd")
    values = list(ws.coordinates([f"x{i}" for i in range(5)]))
    x = list(values)
    for _ in range(1500):
        a, b = random.choice(values[-40:]), random.choice(values)
        values.append(_operation(random.randrange(9), a, b))
    function = Function("odd", {"x": x}, {"y": values[-5:]})
    assert len(function.schedule.operations) > 1000
    assert rolled(function.schedule) is None


@pytest.mark.gcc
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_loops_give_the_same_bits_as_straight_code(seed: int) -> None:
    function = parts_of(seed, 12)
    text = check_bits(function, seed)
    assert "k < 12" in text


@pytest.mark.gcc
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_loops_that_read_others_in_another_order_give_the_same_bits(seed: int) -> None:
    function = two_levels(seed)
    made = rolled(function.schedule)
    assert made is not None
    check_order(made, atom_values(function, seed))
    assert len({p.family.count for p in made.pieces if p.family}) > 1
    text = check_bits(function, seed)
    assert "for (int k_ = 0;" in text, "the parameter is k"


def check_bits(function: Function, seed: int) -> str:
    """Compare the function in C with loops with that without; the text with loops."""
    found, text = [], ""
    for loops in (False, True):
        text = c99.static_text([function], work="fixed", loops=loops)
        assert ("for (int k" in text) == loops
        shown = "\nvoid shown(const double *q, const double *p, double *y) { parts(q, p, y); }\n"
        top = "#include <math.h>\n#include <stdint.h>\n"
        library = compile_c(top + text + shown)
        random = np.random.default_rng(seed)
        results = []
        for _ in range(20):
            q, p = random.uniform(-2, 2, function.inputs[0].size), random.uniform(-1, 1, 2)
            y = np.full(function.outputs[0].size, np.nan)
            library.shown(*(ctypes.c_void_p(a.ctypes.data) for a in (q, p, y)))
            results.append(y)
        found.append(np.array(results))
    assert np.isfinite(found[0]).mean() > 0.9
    assert np.array_equal(*found, equal_nan=True)
    return text


def test_the_six_legs_of_a_platform_are_one_loop(tmp_path: Path) -> None:
    export_simulator(stewart(), tmp_path)
    text = (tmp_path / "stewart.c").read_text(encoding="utf-8")
    assert "x[6 + 3*k];  // alpha1 to alpha6" in text
    _, _, rates = text.partition("static void stewart_rates(")
    body = rates.partition("\n}\n")[0]
    assert body.count("biela_sin(") == 3 + 2, "three angles of the platform, two of a leg"
