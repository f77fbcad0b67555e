"""What a function is made of, and the functions made from it."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.code import Changes
from biela.errors import DomainError, ShapeError, WorkspaceError


@pytest.fixture
def pendulum() -> bl.Function:
    ws = bl.Workspace("pendulum")
    theta = ws.coordinate("theta")
    m, l, g = ws.parameters("m l g")
    u = ws.input("u")
    weight = m * g * l
    acceleration = (u - weight * bl.sin(theta)) / (m * l**2)
    energy = m * l**2 * theta.velocity**2 / 2 - weight * bl.cos(theta)
    return bl.Function(
        "pendulum",
        {"q": [theta], "v": [theta.velocity], "u": u, "p": [m, l, g]},
        {"a": [acceleration], "E": energy},
    )


STATE = ([0.4], [0.3], 0.2, [2.0, 0.5, 9.81])


def test_a_function_computes_what_is_written(pendulum):
    a, E = pendulum(*STATE)
    theta, omega, u, (m, l, g) = 0.4, 0.3, 0.2, STATE[3]
    assert a[0] == pytest.approx((u - m * g * l * np.sin(theta)) / (m * l**2), rel=1e-14)
    assert pytest.approx(m * l**2 * omega**2 / 2 - m * g * l * np.cos(theta), rel=1e-14) == E
    assert isinstance(E, float)


def test_shared_parts_are_computed_once(pendulum):
    # sin, cos, m g, m g l, l**2, m l**2, weight sin, sum, quotient; omega**2, product, half, …
    together = len(pendulum.schedule.operations)
    apart = 0
    for name in ("a", "E"):
        e = pendulum.expressions(name)
        inputs = {x.name: [bl.Atom(pendulum.table, r) for r in x.refs] for x in pendulum.inputs}
        apart += len(bl.Function("one", inputs, {"e": e}).schedule.operations)
    assert together < apart


def test_the_description_names_everything(pendulum):
    assert repr(pendulum).startswith("Function pendulum(q[1], v[1], u, p[3]) -> (a[1], E): ")


@pytest.mark.parametrize(
    ("inputs", "outputs", "error", "words"),
    [
        ({"x": "x"}, {}, ShapeError, "no outputs"),
        ({"x": "x"}, {"f": "xy"}, DomainError, "depend on y"),
        ({"a": "x", "b": "x"}, {"f": "x"}, DomainError, "x stands in a and again in b"),
        ({"a": "xy"}, {"f": "x"}, DomainError, "not a symbol"),
        ({"f": "x"}, {"f": "x"}, ShapeError, "two arrays are called f"),
        ({"a b": "x"}, {"f": "x"}, DomainError, "a b"),
    ],
)
def test_a_badly_made_function_is_refused(inputs, outputs, error, words):
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    meaning = {"x": x, "xy": x * y}
    with pytest.raises(error, match=words):
        bl.Function(
            "f",
            {k: meaning[v] for k, v in inputs.items()},
            {k: meaning[v] for k, v in outputs.items()},
        )


def test_ragged_rows_are_refused():
    ws = bl.Workspace()
    x = ws.symbol("x")
    with pytest.raises(ShapeError, match="equally long"):
        bl.Function("f", {"x": x}, {"M": [[x, 0], [1]]})


def test_arrays_of_atoms_keep_their_shape():
    ws = bl.Workspace()
    x = ws.symbols("x:6")
    matrix = np.array(x, dtype=object).reshape(2, 3)
    f = bl.Function("f", {"X": matrix}, {"G": matrix @ matrix.T, "zero": [[0, 0]], "one": 1})
    X = np.arange(6.0).reshape(2, 3)
    G, zero, one = f(X)
    assert np.array_equal(G, X @ X.T)
    assert np.array_equal(zero, [[0.0, 0.0]])
    assert one == 1.0
    assert f.sparsity["zero"] == []
    assert f.sparsity["one"] == [()]
    assert f.sparsity["G"] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_expressions_of_two_workspaces_are_refused():
    x, y = bl.Workspace("one").symbol("x"), bl.Workspace("two").symbol("y")
    with pytest.raises(WorkspaceError, match=r"one|two"):
        bl.Function("f", {"x": x, "y": y}, {"f": x})


# --------------------------------------------------------------------------- derivatives


def test_the_jacobian_is_the_limit_of_differences(pendulum):
    J = pendulum.jacobian("a", ["q", "p"])
    found = J(*STATE)
    assert found.shape == (1, 4)
    step = 1e-6
    for column, (group, entry) in enumerate([(0, 0), (3, 0), (3, 1), (3, 2)]):
        ends = []
        for sign in (1, -1):
            state = [np.array(s, dtype=float) for s in STATE]
            state[group][entry] += sign * step
            ends.append(pendulum(*state)[0][0])
        assert found[0, column] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-8)


def test_the_jacobian_by_everything_has_a_column_for_each_input(pendulum):
    J = pendulum.jacobian("E")
    assert J.outputs[0].name == "E_qvup"
    assert J(*STATE).shape == (1, 6)
    # the energy does not know the input torque
    assert (0, 2) not in J.sparsity["E_qvup"]


def test_an_unknown_array_is_named(pendulum):
    with pytest.raises(ShapeError, match=r"no array 'z'.*a, E"):
        pendulum.jacobian("z")
    with pytest.raises(ShapeError, match="no array None"):
        pendulum.jacobian()


# ------------------------------------------------------------------------------- inlining


def test_inlining_carries_a_function_to_another_workspace(pendulum):
    ws = bl.Workspace("double")
    phi, rate = ws.symbols("phi rate")
    a, E = pendulum.inline([2 * phi], [rate], 0, [1, 1, 9.81])
    assert a[0].workspace is ws
    f = bl.Function("f", {"x": [phi, rate]}, {"a": a, "E": E})
    expected = pendulum([0.6], [0.5], 0.0, [1.0, 1.0, 9.81])
    found = f([0.3, 0.5])
    assert found[0][0] == pytest.approx(expected[0][0], rel=1e-14)
    assert found[1] == pytest.approx(expected[1], rel=1e-14)


def test_inlining_numbers_gives_numbers(pendulum):
    a, E = pendulum.inline([0], [0], 0, [1, 1, 9.81])
    assert a[0].value == 0
    assert float(E.value) == -9.81


def test_inlining_the_wrong_shape_is_refused(pendulum):
    x = bl.Workspace().symbol("x")
    with pytest.raises(ShapeError, match="argument p"):
        pendulum.inline([x], [0], 0, [1, 1])


def test_inlining_keeps_curves_and_external_functions():
    one, two = bl.Workspace("one"), bl.Workspace("two")
    x, y = one.symbol("x"), two.symbol("y")
    curve = one.spline("bump", [0, 1, 2], [0, 1, 0])
    law = one.external("law", 1, lambda v: v + 1)
    f = bl.Function("f", {"x": x}, {"z": curve(x) + law(x)})
    g = bl.Function("g", {"y": y}, {"z": f.inline(y**2)})
    assert g(1.1) == pytest.approx(f(1.21), rel=1e-15)


def test_inlining_does_not_mix_up_two_external_functions_of_one_name():
    def source(v):
        return 10 * v

    one, two, three = bl.Workspace("one"), bl.Workspace("two"), bl.Workspace("three")
    x, y, z = one.symbol("x"), two.symbol("y"), three.symbol("z")
    f = bl.Function("f", {"x": x}, {"r": one.external("mu", 1, source)(x)})
    two.external("mu", 1, lambda v: -v)
    with pytest.raises(WorkspaceError, match="mu"):
        f.inline(y)
    three.external("mu", 1)  # declared, not bound: takes the implementation along
    assert bl.Function("g", {"z": z}, {"r": f.inline(z)})(1.0) == 10.0


# ------------------------------------------------------------------------------- prepared


def test_held_values_take_names_that_are_free():
    ws = bl.Workspace()
    held, q = ws.parameter("held0"), ws.coordinate("q")
    f = bl.Function("f", {"held": [held], "q": q}, {"y": held**2 * q})
    parts = f.prepared()
    assert parts.run([3.0], 2.0, parts.prepare([3.0])) == 18.0


def test_what_is_constant_over_a_run_is_prepared_once(pendulum):
    parts = pendulum.prepared()
    # m g l and m l**2: all that depends on parameters alone and is read later
    assert parts.prepare.outputs[0].size == 2
    assert [a.name for a in parts.prepare.inputs] == ["p"]
    held = parts.prepare(STATE[3])
    assert np.allclose(sorted(held), sorted([2 * 9.81 * 0.5, 2 * 0.25]), rtol=1e-15)
    a, E = parts.run(*STATE, held)
    expected = pendulum(*STATE)
    assert a[0] == pytest.approx(expected[0][0], rel=1e-14)
    assert pytest.approx(expected[1], rel=1e-14) == E
    assert len(parts.run.schedule.operations) < len(pendulum.schedule.operations)


def test_what_is_constant_over_a_step_is_marked():
    ws = bl.Workspace()
    t, q, p = ws.time, ws.coordinate("q"), ws.parameter("p")
    drive, weight = bl.sin(3 * t), p**2
    f = bl.Function(
        "f", {"t": t, "q": q, "p": p}, {"f": drive * q + weight, "g": q.table and drive}
    )
    changes = f.schedule.changes
    assert changes[drive.ref] is Changes.WITH_TIME
    assert changes[weight.ref] is Changes.WITH_PARAMETERS
    assert changes[(drive * q).ref] is Changes.WITH_CONFIGURATION
    parts = f.prepared(Changes.WITH_TIME)
    held = parts.prepare(0.7, 2.0)
    assert parts.run(0.7, 5.0, 2.0, held)[0] == pytest.approx(f(0.7, 5.0, 2.0)[0], rel=1e-15)


def test_nothing_to_prepare_is_said():
    ws = bl.Workspace()
    x = ws.symbol("x")
    with pytest.raises(DomainError, match="nothing to prepare"):
        bl.Function("f", {"x": x}, {"y": bl.sin(x)}).prepared()


def test_a_function_survives_pickling_and_copying(pendulum):
    import copy
    import pickle

    expected = pendulum(*STATE)
    for other in (pickle.loads(pickle.dumps(pendulum)), copy.deepcopy(pendulum)):
        assert other.workspace is not pendulum.workspace
        assert repr(other) == repr(pendulum)
        assert other(*STATE)[1] == expected[1]
