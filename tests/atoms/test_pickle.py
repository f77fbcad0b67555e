"""Workspaces go through pickle whole, and the same derivation gives the same bytes."""

from __future__ import annotations

import copy
import hashlib
import math
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from biela.atoms import (
    Atom,
    Kind,
    Workspace,
    atan2,
    cos,
    diff,
    evaluate,
    exp,
    gradient,
    jacobian,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    substitute,
    time_derivative,
)
from biela.errors import DomainError, WorkspaceError

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def derivation() -> tuple[Workspace, list[Atom]]:
    """A bit of everything: two coordinates, every family of operations, all derivatives."""
    ws = Workspace("derivation")
    q, r = ws.coordinates("q r")
    m, l, k = ws.parameters("m l k")
    u, t = ws.input("u"), ws.time
    spring = ws.spline("spring", [0, 0.5, 1, 2], [0, 1, 1.5, 1.75])
    cam = ws.lookup("cam", [0, 1, 2], [0, 1, 0], outside="periodic")
    drag = ws.external("drag", 2)
    x, z = l * sin(q) + r, -l * cos(q) / 3
    energy = m * (time_derivative(x) ** 2 + time_derivative(z) ** 2) / 2 - m * 9.81 * z
    law = select(r < l, spring(r) * k, -exp(-abs(r)) * u) + cam(t) * Fraction(2, 7)
    limits = minimum(x, z, l) + maximum(0, -r) + atan2(x, z) + (x <= z) * q**m
    loss = drag(q.velocity, -r) * sqrt(x**2 + z**2 + 1e-6)
    outputs = [energy, law, limits, -loss, ws.atom(0.1), ws.atom(-7)]
    inputs = [q, r, q.velocity, r.velocity]
    J = jacobian(outputs, inputs)
    outputs += [e for row in J.rows for e in row]
    outputs += gradient(energy, inputs)
    outputs += substitute(outputs[:4], {q.velocity: 0, r.velocity: 0})
    return ws, outputs


def numbers(ws: Workspace) -> dict[Atom, float]:
    rng = np.random.default_rng(8)
    return {s: float(rng.uniform(0.2, 1.5)) for s in ws}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_workspace_comes_back_with_the_same_atoms(protocol):
    ws, outputs = derivation()
    again = pickle.loads(pickle.dumps(ws, protocol))
    assert again is not ws and again.name == "derivation"
    assert len(again) == len(ws) and again.statistics() == ws.statistics()
    assert [s.name for s in again] == [s.name for s in ws]
    assert [s.kind for s in again] == [s.kind for s in ws]
    assert again["q"].acceleration.name == "ddq"
    for w in (ws, again):
        w.bind("drag", lambda a, b: a * b + 1)
        w.bind("drag_d1", lambda a, b: b)
        w.bind("drag_d2", lambda a, b: a)
    copies = [Atom(again.table, e.ref) for e in outputs]
    assert [repr(e) for e in copies] == [repr(e) for e in outputs]
    found = [float(v) for v in evaluate(copies, numbers(again))]
    expected = [float(v) for v in evaluate(outputs, numbers(ws))]
    assert found == expected
    assert all(math.isfinite(v) for v in found)


def test_handles_come_back_with_their_workspace_and_share_it():
    ws, outputs = derivation()
    q, again = pickle.loads(pickle.dumps((ws["q"], outputs)))
    assert [e.ref for e in again] == [e.ref for e in outputs]
    assert all(e.table is q.table for e in again)
    assert q.workspace["q"] == q and q.velocity.name == "dq"
    assert sin(q) * again[0] == again[0] * sin(q)
    with pytest.raises(WorkspaceError):
        q + outputs[0]


def test_building_goes_on_where_it_stopped():
    """The copy finds everything that is there and numbers the new atoms as the original would."""
    ws, outputs = derivation()
    again = pickle.loads(pickle.dumps(ws))
    size = len(ws)

    def go_on(w: Workspace) -> list[int]:
        old = [Atom(w.table, e.ref) for e in outputs]
        q, r = w["q"], w["r"]
        new = [diff(e, q) for e in old] + [old[0] * old[1] - r, w.atom(0.1) * q, w.atom(11)]
        new += [w.spline("spring", [0, 0.5, 1, 2], [0, 1, 1.5, 1.75])(q + r)]
        new += [w.external("drag", 2)(q, r), select(q < r, old[0], r), w.symbol("new")]
        return [e.ref for e in new]

    assert go_on(ws) == go_on(again)
    assert len(ws) == len(again) > size
    assert pickle.dumps(ws) == pickle.dumps(again)


def test_rebuilding_the_derivation_in_the_copy_makes_no_atom():
    ws, _ = derivation()
    again = pickle.loads(pickle.dumps(ws))
    table = again.table
    for atom in range(len(table)):
        if table.operands(atom):
            rebuilt = table.rebuild(table.ops[atom], table.operands(atom), table.payload(atom))
            assert rebuilt == atom
    for value in table.values.values():
        assert table.constant(-value) == -table.constant(value)
    assert len(again) == len(ws)


def test_the_copy_is_independent_of_the_original():
    ws, _ = derivation()
    again = pickle.loads(pickle.dumps(ws))
    size = len(ws)
    again.symbol("only_here") * 17 + again["q"]
    again.lookup("also_here", [0, 1], [0, 1])
    again.external("and_here", 1)
    assert len(ws) == size and "only_here" not in ws
    assert len(ws.table.piecewise) < len(again.table.piecewise)
    assert len(ws.table.externals) < len(again.table.externals)


def test_implementations_of_external_functions_stay_behind():
    ws = Workspace()
    x = ws.symbol("x")
    f = ws.external("f", 1, lambda a: a + 1, [lambda a: 1.0])
    e = f(x) + diff(f(x), x)
    assert float(evaluate(e, {x: 2.0})) == 4.0
    again = pickle.loads(pickle.dumps(e))
    u = again.workspace["x"]
    with pytest.raises(DomainError, match="bind"):
        evaluate(again, {u: 2.0})
    again.workspace.bind("f", lambda a: a + 1)
    again.workspace.bind("f_d1", lambda a: 1.0)
    assert float(evaluate(again, {u: 2.0})) == 4.0


def test_curves_and_external_handles_go_along():
    ws, _ = derivation()
    spring = ws.spline("spring", [0, 0.5, 1, 2], [0, 1, 1.5, 1.75])
    drag = ws.external("drag", 2)
    spring2, drag2, q2 = pickle.loads(pickle.dumps((spring, drag, ws["q"])))
    assert spring2.polynomial(0.7) == spring.polynomial(0.7)
    assert spring2(q2).ref == spring(ws["q"]).ref
    assert drag2.function.name == "drag"
    assert spring2(q2).workspace is q2.workspace


def test_extreme_numbers_survive():
    ws = Workspace()
    x = ws.symbol("x")
    values = [2**1000, Fraction(1, 3**500), 5e-324, 1.7976931348623157e308, -(2**53) - 1, 0.1]
    e = [x * v for v in values] + [x ** (2**20)]
    again = pickle.loads(pickle.dumps(e))
    copy_x = again[0].workspace["x"]
    assert [copy_x * v for v in values] == again[:-1]
    assert [type(again[0].workspace.atom(v).value) for v in values] == [
        type(ws.atom(v).value) for v in values
    ]


def test_an_exponent_beyond_machine_integers_survives():
    ws = Workspace()
    e = ws.symbol("x")
    for _ in range(100):
        e = e * e
    again = pickle.loads(pickle.dumps(e))
    assert evaluate(again, {again.workspace["x"]: 1.0}) == 1.0
    assert again.ref == e.ref


def test_copy_keeps_the_workspace_and_deepcopy_takes_it_along():
    ws, outputs = derivation()
    assert copy.copy(outputs[0]) == outputs[0]
    deep = copy.deepcopy(outputs)
    assert deep[0].table is deep[1].table is not ws.table
    assert [e.ref for e in deep] == [e.ref for e in outputs]
    assert copy.deepcopy(ws).statistics() == ws.statistics()


def test_an_empty_workspace_survives():
    again = pickle.loads(pickle.dumps(Workspace("empty")))
    assert len(again) == 2 and list(again) == []
    assert again.coordinate("q").kind is Kind.COORDINATE


# --- reproducible -------------------------------------------------------------


def test_the_same_derivation_gives_the_same_bytes():
    assert pickle.dumps(derivation()[0]) == pickle.dumps(derivation()[0])


def test_reading_a_workspace_leaves_its_bytes_alone():
    """Evaluating, printing and differentiating again what is known are no changes."""
    ws, outputs = derivation()
    before = pickle.dumps(ws)
    for name in ("drag", "drag_d1", "drag_d2"):
        ws.bind(name, lambda a, b: 1.0)
    at = numbers(ws)
    evaluate(outputs, at)
    evaluate(outputs, at | {ws["q"]: 0.3 + 1e-40j, ws["t"]: 0.2 + 0j})
    [repr(e) for e in outputs]
    derivation()
    assert pickle.dumps(ws) == before


def test_a_copy_gives_the_bytes_of_its_original():
    ws, _ = derivation()
    data = pickle.dumps(ws)
    assert pickle.dumps(pickle.loads(data)) == data


SCRIPT = """
import hashlib, pickle, sys
sys.path.insert(0, sys.argv[1])
from tests.atoms.test_pickle import derivation
ws, outputs = derivation()
print(hashlib.sha256(pickle.dumps(ws)).hexdigest())
print([e.ref for e in outputs])
"""


def test_the_bytes_do_not_depend_on_the_process_or_its_hash_seed():
    root = str(Path(__file__).parents[2])
    runs = []
    for seed in ("0", "1", "4242"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, root],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append(run.stdout)
    ws, outputs = derivation()
    here = f"{hashlib.sha256(pickle.dumps(ws)).hexdigest()}\n{[e.ref for e in outputs]}\n"
    assert runs == [here] * 3
