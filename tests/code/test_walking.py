"""Functions that are evaluated without code of their own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import biela as bl
from biela.atoms import opcodes as op
from biela.code import walking
from biela.code.walking import Walk, walkable
from biela.errors import ShapeError
from tests.code.test_native import assert_close, every_operation, states


def parts(function: bl.Function, walked: bool) -> bl.Function:
    """The entries of the outputs that may be walked, or the others."""
    inputs = {a.name: function._array(function.inputs, a.name) for a in function.inputs}
    symbols = {n: a.nested([bl.Atom(function.table, r) for r in a.refs]) for n, a in inputs.items()}
    outputs = {}
    for name in ("f", "df"):
        entries = function.expressions(name)
        alone = [bl.Function("one", symbols, {"e": [entry]}) for entry in entries]
        outputs[name] = [
            entry for entry, one in zip(entries, alone, strict=True)
            if walkable(one.schedule) == walked
        ]  # fmt: skip
    return bl.Function("everything", symbols, outputs)


@pytest.fixture(scope="module")
def everything() -> bl.Function:
    return parts(every_operation(), walked=True)


def test_it_has_every_operation_but_curves_and_functions_from_outside(everything):
    found = {everything.table.ops[atom] for atom in everything.schedule.live}
    assert found == set(range(op.OPERATIONS)) - {op.PIECEWISE, op.EXTERNAL}


def test_one_state_agrees_with_plain_python_for_every_operation(everything):
    for x, yz in zip(*states(40), strict=True):
        assert_close(everything.walk(x, yz), everything.interpret(x, yz))


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 200])
def test_many_states_have_the_bits_of_one(everything, count):
    x, yz = states(count)
    f, df = everything.walk_map(x, yz)
    assert f.shape[0] == df.shape[0] == count
    for i in range(count):
        one = everything.walk(x[i], yz[i])
        np.testing.assert_array_equal(f[i], one[0])
        np.testing.assert_array_equal(df[i], one[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -0.3])
def test_where_there_is_no_number_there_is_none(everything, bad):
    for given in ((bad, [0.3, 0.4]), (0.3, [bad, 0.4]), (0.3, [0.4, bad]), (bad, [bad, bad])):
        expected = everything.interpret(*given)
        found = everything.walk(*given)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_nothing_is_compiled_but_what_needs_it():
    function = every_operation()
    walked, rest = parts(function, walked=True), parts(function, walked=False)
    x, yz = states(5)
    walked.walk(x[0], yz[0])
    walked.walk_map(x, yz)
    assert "native" not in vars(walked)
    for i in range(5):
        assert_close(rest.walk(x[i], yz[i]), rest.interpret(x[i], yz[i]))
    np.testing.assert_array_equal(rest.walk_map(x, yz)[0], rest.map(x, yz)[0])
    assert "native" in vars(rest)


def test_so_many_states_that_code_is_worth_it_are_left_to_code(everything, monkeypatch):
    monkeypatch.setattr("biela.code.function.WALKED", 10)
    fresh = bl.Function(
        "fresh",
        {"x": bl.Atom(everything.table, everything.inputs[0].refs[0])},
        {"y": [2 * bl.Atom(everything.table, everything.inputs[0].refs[0])]},
    )
    fresh.walk_map(np.ones(10))
    assert "native" not in vars(fresh)
    fresh.walk_map(np.ones(11))
    assert "native" in vars(fresh)


def test_values_may_be_given_once_for_all_states(everything):
    x, yz = states(7)
    f, _ = everything.walk_map(x, yz[0])
    expected, _ = everything.walk_map(x, np.repeat(yz[:1], 7, 0))
    np.testing.assert_array_equal(f, expected)


def test_outputs_may_be_numbers_constants_and_inputs_of_either_sign():
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    f = bl.Function("f", {"x": x, "y": y}, {"a": -x, "b": 3, "c": [[x, -y], [0, x * y]]})
    a, b, c = f.walk(2.0, 5.0)
    assert (a, b) == (-2.0, 3.0) and isinstance(a, float)
    np.testing.assert_array_equal(c, [[2, -5], [0, 10]])
    many = f.walk_map(np.array([2.0, 3.0]), np.array([5.0, 7.0]))
    np.testing.assert_array_equal(many[2][1], [[3, -7], [0, 21]])
    assert [part.shape for part in many] == [(2,), (2,), (2, 2, 2)]


@pytest.mark.parametrize("exponent", [2, 3, 7, 8, 255, 1000, 2**20 - 1, 2**20])
def test_powers_take_as_many_products_as_their_exponent_has_digits(exponent):
    ws = bl.Workspace()
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": x**exponent})
    for base in (1 + 1e-6, -(1 - 1e-6), 0.0):
        assert f.walk(base) == pytest.approx(f.interpret(base), rel=1e-9)
    assert f._walk._program[4].max() <= 21  # type: ignore[union-attr]


def test_no_states_give_no_rows(everything):
    f, df = everything.walk_map(np.zeros(0), np.zeros((0, 2)))
    assert (len(f), len(df)) == (0, 0)


def test_many_numbers_are_held_a_few_states_at_a_time(everything, monkeypatch):
    x, yz = states(50)
    expected, _ = everything.walk_map(x, yz)
    monkeypatch.setattr(walking, "_HELD", 7 * len(everything.schedule.live))
    np.testing.assert_array_equal(everything.walk_map(x, yz)[0], expected)


def test_threads_do_not_disturb_each_other(everything):
    x, yz = states(200)
    expected = [everything.walk(x[i], yz[i])[0] for i in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: everything.walk(x[i], yz[i])[0], range(200)))
    np.testing.assert_array_equal(found, expected)


def test_wrong_arguments_are_told(everything):
    with pytest.raises(ShapeError, match="takes 2 inputs \\(x, yz\\), not 1"):
        everything.walk(0.3)
    with pytest.raises(ShapeError, match="yz"):
        everything.walk(0.3, [0.1, 0.2, 0.3])
    with pytest.raises(ShapeError, match="row for each state"):
        everything.walk_map(0.3, [0.1, 0.2])


def test_a_system_is_evaluated_without_a_compiler():
    m = bl.Model("pendulum", plane="xz")
    rod = m.body("rod", mass=1.0, com=(0.5, 0, 0), inertia=0.1)
    m.joint("revolute", "A", m.ground, rod, axis="y")
    system = bl.formulate(m)
    assert system.evaluate("M", [0.3]) == pytest.approx(0.35)
    assert isinstance(system["M"]._walk, Walk) and "native" not in vars(system["M"])
