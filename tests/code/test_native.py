"""Native code against the interpreted graph, one state and many."""

from __future__ import annotations

import math
import subprocess
import sys
import threading

import numpy as np
import pytest

import biela as bl
from biela.code.llvm import emit, host
from biela.code.llvm.emit import Layout, Options
from biela.code.native import NativeFunction
from biela.code.schedule import Schedule
from biela.errors import CompileError, ShapeError

#: Relative to the largest term: an ulp for each of some ten roundings, and 2 ulp a sine.
ROUNDING = 1e-14


def every_operation() -> bl.Function:
    """A function that uses each operation at least once, defined for inputs in (0.1, 0.9)."""
    ws = bl.Workspace("everything")
    x, y, z = ws.symbols("x y z")
    knots = [0.0, 0.2, 0.5, 0.7, 1.0]
    spline = ws.spline("profile", knots, [0.0, 0.3, -0.2, 0.5, 0.0], end="periodic")
    hill = ws.spline("hill", knots, [1.0, 2.0, 0.5, 0.25, 3.0])
    table = ws.lookup("chart", knots, [1.0, 0.0, 2.0, 2.5, -1.0])
    law = ws.external(
        "law",
        2,
        lambda a, b: a * math.exp(b),
        [lambda a, b: math.exp(b), lambda a, b: a * math.exp(b)],
    )
    entries = [
        x + y - z,
        -x * y,
        x / z,
        1 / y,
        x / 3,
        x / 0.7,
        x**2,
        y**7,
        x**-3,
        x**0.5,
        x**1.7,
        x**y,
        bl.sqrt(x + y),
        bl.sin(x),
        bl.cos(y),
        bl.tan(z),
        bl.sin(x + bl.cos(y)),
        bl.asin(x),
        bl.acos(y),
        bl.atan(z),
        bl.atan2(x - y, z - 0.5),
        bl.exp(-x),
        bl.log(y),
        bl.tanh(x - z),
        abs(x - y),
        bl.sign(x - y),
        bl.minimum(x, y, z),
        bl.maximum(x, -y),
        x < y,
        x <= 0.5,
        bl.select(x < y, x + 1, -y),
        bl.select(x - y, z, 2),
        spline(5 * x),
        hill(y),
        hill(3 * y - 1),
        table(z),
        table(2 * z),
        law(x, y),
        -law(y, -z),
        7,
        0,
        x,
        -z,
    ]
    derivatives = [bl.diff(e, s) for e in entries if isinstance(e, bl.Atom) for s in (x, y, z)]
    return bl.Function("everything", {"x": x, "yz": [y, z]}, {"f": entries, "df": derivatives})


@pytest.fixture(scope="module")
def everything() -> bl.Function:
    return every_operation()


def states(count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.uniform(0.1, 0.9, count), random.uniform(0.1, 0.9, (count, 2))


def assert_close(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=ROUNDING, atol=ROUNDING * np.abs(b).max())


@pytest.mark.parametrize("reproducible", [False, True])
def test_one_state_agrees_with_the_graph_for_every_operation(everything, reproducible):
    native = everything.compiled(reproducible)
    for x, yz in zip(*states(40), strict=True):
        assert_close(native(float(x), yz), everything.interpret(x, yz))


def test_many_states_agree_with_the_graph_for_every_operation(everything):
    x, yz = states(83)
    f, df = everything.map(x, yz)
    for i in range(83):
        assert_close((f[i], df[i]), everything.interpret(x[i], yz[i]))


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_every_width_of_vector_gives_the_states_in_order(everything, lanes, monkeypatch):
    monkeypatch.setattr(host, "host_lanes", lambda: lanes)
    native = everything.compiled()
    assert native.lanes == lanes
    for count in (1, lanes - 1, lanes, lanes + 1, 3 * lanes + 1):
        x, yz = states(count, seed=count)
        f, _ = native.map(x, yz)
        expected = np.array([everything.interpret(x[i], yz[i])[0] for i in range(count)])
        np.testing.assert_allclose(f, expected, rtol=ROUNDING, atol=1e-13)


def test_a_state_has_the_same_bits_wherever_it_stands_in_a_batch(everything):
    x, yz = states(64)
    f, _ = everything.map(x, yz)
    for shift in (1, 3, 5):
        shifted, _ = everything.map(np.roll(x, shift), np.roll(yz, shift, axis=0))
        assert np.array_equal(np.roll(f, shift, axis=0), shifted)


def test_threads_give_the_bits_of_one_thread(everything):
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    f = bl.Function("f", {"x": x, "y": y}, {"out": [x * bl.sin(y), x / y]})
    random = np.random.default_rng(0)
    X, Y = random.normal(size=1001), random.uniform(1, 2, 1001)
    assert np.array_equal(f.map(X, Y), f.map(X, Y, threads=3))


def test_an_input_without_rows_is_the_same_for_all_states(everything):
    x, yz = states(10)
    f, _ = everything.map(x, yz[0])
    g, _ = everything.map(x, np.repeat(yz[:1], 10, axis=0))
    assert np.array_equal(f, g)


def test_no_states_give_no_rows(everything):
    f, df = everything.map(np.empty(0), np.empty((0, 2)))
    assert f.shape == (0, 43)
    assert df.shape[0] == 0


def chain(length: int) -> bl.Function:
    """A long recursion with many angles: several chunks, packs and calls of the sine."""
    ws = bl.Workspace("chain")
    q = ws.coordinates(f"q:{length}")
    a, b = ws.atom(1), ws.atom(0)
    outputs = []
    for angle in q:
        s, c = bl.sin(angle + b / 100), bl.cos(angle)
        a, b = (c * a - s * b) / 2 + angle, (s * a + c * b) / 2 - angle**2
        outputs.append(a)
    return bl.Function("chain", {"q": q}, {"a": outputs, "b": b})


@pytest.mark.parametrize("size", [7, 50, 10**6])
def test_splitting_does_not_change_a_bit_of_reproducible_code(size, monkeypatch):
    f = chain(40)
    q = np.random.default_rng(1).normal(size=40)
    monkeypatch.setenv("BIELA_CACHE", "off")
    whole = f.compiled(reproducible=True)(q)
    monkeypatch.setattr(emit, "CHUNK", size)
    split = f.compiled(reproducible=True)
    for x, y in zip(whole, split(q), strict=True):
        assert np.array_equal(x, y)
    rows = np.random.default_rng(2).normal(size=(21, 40))
    many = split.map(rows)
    for i in range(21):
        assert_close((many[0][i], many[1][i]), f.interpret(rows[i]))


def test_a_long_function_agrees_with_the_graph():
    f = chain(1500)
    q = np.random.default_rng(1).normal(size=1500)
    assert len(f.schedule.operations) > 2 * emit.CHUNK
    for x, y in zip(f(q), f.interpret(q), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def nested_angles(seed: int, externals: bool) -> bl.Function:
    """Angles that go through other angles in every arrangement, more of them than a pack holds."""
    random = np.random.default_rng(seed)
    ws = bl.Workspace("nested")
    q = ws.symbols("q:5")
    law = ws.external("law", 1, math.cosh) if externals else (lambda x: x * x)
    pool = list(q)
    outputs = []
    for _ in range(int(random.integers(8, 24))):
        picks = [pool[int(random.integers(len(pool)))] for _ in range(2)]
        inner = 0.3 * picks[0] + picks[1] * (0.1 if random.random() < 0.5 else law(picks[0]) / 9)
        function = (bl.sin, bl.cos, bl.tan)[int(random.integers(3))]
        pool.append(function(inner) if random.random() < 0.8 else inner)
        outputs.append(pool[-1])
    return bl.Function("nested", {"q": q}, {"y": outputs})


@pytest.mark.parametrize("externals", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_nested_angles_are_computed_in_an_order_that_works(seed, externals):
    f = nested_angles(seed, externals)
    q = np.random.default_rng(seed).uniform(-0.7, 0.7, 5)
    expected = f.interpret(q)
    np.testing.assert_allclose(f(q), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(f.map(np.tile(q, (9, 1)))[4], expected, rtol=1e-12, atol=1e-13)


def test_driven_joints_beside_a_free_one_compile():
    ws = bl.Workspace()
    t, q, w = ws.time, ws.coordinate("q"), ws.parameters("w:4")
    entries = [bl.cos(q), *(bl.cos(0.1 * bl.sin(wi * t)) for wi in w)]
    f = bl.Function("f", {"q": [q], "t": t, "w": list(w)}, {"y": entries})
    rates = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(
        f([0.3], 0.7, rates), [np.cos(0.3), *np.cos(0.1 * np.sin(rates * 0.7))], rtol=1e-14
    )


def test_many_values_alive_at_once_do_not_need_the_stack(monkeypatch):
    monkeypatch.setattr(emit, "STACK", 64)
    monkeypatch.setattr(emit, "CHUNK", 20)
    monkeypatch.setenv("BIELA_CACHE", "off")
    f = chain(60)
    q = np.random.default_rng(1).normal(size=(17, 60))
    native = f.compiled()
    np.testing.assert_allclose(native(q[3])[0], f.interpret(q[3])[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(native.map(q)[0][3], f.interpret(q[3])[0], rtol=1e-12, atol=1e-12)


def test_one_thread_may_build_while_another_compiles():
    ws = bl.Workspace()
    x = ws.symbol("x")
    stop, failures = threading.Event(), []

    def build() -> None:
        e = x
        try:
            while not stop.is_set():
                e = e * 1.0001 + x
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=build)
    thread.start()
    try:
        for k in range(30):
            f = bl.Function("f", {"x": x}, {"y": bl.sin(x * (k + 2)) + k})
            assert f(1.0) == pytest.approx(math.sin(k + 2) + k, rel=1e-14)
    finally:
        stop.set()
        thread.join()
    assert not failures


def test_angles_of_any_size_are_right():
    ws = bl.Workspace()
    q = ws.symbols("q:5")
    f = bl.Function("f", {"q": q}, {"s": [bl.sin(x) for x in q], "c": [bl.cos(x) for x in q]})
    angles = np.array([1e-300, 99999.5, 1e7, -1e15, 1e22])
    s, c = f(angles)
    np.testing.assert_allclose(s, np.sin(angles), rtol=5e-16)
    np.testing.assert_allclose(c, np.cos(angles), rtol=5e-16)
    s, c = f(np.array([np.inf, np.nan, 1.0, 2.0, 3.0]))
    assert np.isnan(s[:2]).all()
    np.testing.assert_allclose(s[2:], np.sin([1.0, 2.0, 3.0]), rtol=5e-16)


def test_bad_values_give_nan_and_infinity_as_the_machine_does():
    ws = bl.Workspace()
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": [1 / x, bl.log(x), bl.sqrt(x - 1)]})
    y = f(0.0)
    assert y[0] == np.inf
    assert y[1] == -np.inf
    assert np.isnan(y[2])


# ------------------------------------------------------------------------------ arguments


@pytest.fixture
def small() -> bl.Function:
    ws = bl.Workspace()
    t, a, b, c = ws.symbols("t a b c")
    return bl.Function(
        "small", {"t": t, "v": [a, b], "w": [c]}, {"sum": t + a + b + c, "M": [[a, b], [c, t]]}
    )


def test_lists_integers_strides_and_keywords_are_accepted(small):
    expected = small(1.0, np.array([2.0, 3.0]), np.array([4.0]))
    assert expected[0] == 10.0
    assert np.array_equal(expected[1], [[2.0, 3.0], [4.0, 1.0]])
    for arguments, named in [
        ((1, [2, 3], [4]), {}),
        ((np.float32(1), np.array([2, 9, 3, 9.0])[::2], (4,)), {}),
        ((1.0,), {"w": np.array([4]), "v": [2.0, 3.0]}),
        ((np.array([1.0]), [2, 3], 4), {}),
    ]:
        total, M = small(*arguments, **named)
        assert total == expected[0]
        assert np.array_equal(M, expected[1])


def test_outputs_are_written_where_asked(small):
    total, M = np.empty(()), np.empty((2, 2))
    assert small(1.0, np.array([2.0, 3.0]), np.array([4.0]), total, M) is None
    assert total == 10.0
    wide = np.zeros((2, 4))
    small(1.0, [2.0, 3.0], [4.0], total, wide[:, ::2])
    assert np.array_equal(wide[:, ::2], M)
    assert not wide[:, 1::2].any()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1.0, [1.0], [1.0]), ["small", "v", "(1,)", "(2,)"]),
        ((1.0, [1.0, 2.0]), ["no value for w"]),
        ((1.0, [1.0, 2.0], [1.0], 5), ["3 inputs", "2 outputs", "4 arguments"]),
        ((1j, [1.0, 2.0], [1.0]), ["small", "t", "complex"]),
        (("one", [1.0, 2.0], [1.0]), ["small", "t"]),
        ((1.0, np.zeros((5, 2)), [1.0]), ["v", "map()"]),
    ],
)
def test_a_wrong_argument_is_named(small, arguments, words):
    with pytest.raises(ShapeError) as caught:
        small(*arguments)
    for word in words:
        assert word in str(caught.value)


def test_a_wrong_batch_is_named(small):
    with pytest.raises(ShapeError, match=r"\[3, 4\] rows"):
        small.map(np.zeros(3), np.zeros((4, 2)), [0.0])
    with pytest.raises(ShapeError, match="at least one input"):
        small.map(1.0, [0.0, 0.0], [0.0])
    with pytest.raises(ShapeError, match="3 arrays"):
        small.map(np.zeros(3))
    with pytest.raises(ShapeError, match="threads"):
        small.map(np.zeros(3), [0.0, 0.0], [0.0], threads=0)


def test_a_read_only_output_is_refused(small):
    M = np.zeros((2, 2))
    M.flags.writeable = False
    with pytest.raises(ShapeError, match="writeable"):
        small(1.0, [2.0, 3.0], [4.0], np.empty(()), M)
    assert not M.any()


# ------------------------------------------------------------------- externals, pointers


def test_an_external_function_without_code_is_named():
    ws = bl.Workspace()
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": ws.external("tyre")(x)})
    with pytest.raises(CompileError, match=r"tyre.*bind"):
        f(1.0)
    ws.bind("tyre", lambda value: 3 * value)
    assert f(2.0) == 6.0


def test_a_compiled_callback_serves_as_external_function():
    from numba import cfunc

    @cfunc("float64(float64)")
    def cube(value):
        return value**3

    ws = bl.Workspace()
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": ws.external("cube", 1, cube)(x) + 1})
    assert f(2.0) == 9.0
    assert np.array_equal(f.map(np.arange(20.0)), np.arange(20.0) ** 3 + 1)


def test_the_address_is_callable_from_numba():
    from biela.solvers import rk4

    ws = bl.Workspace()
    x, v, k = ws.symbols("x v k")
    f = bl.Function("spring", {"x": [x, v], "p": [k]}, {"rate": [v, -k * x]})
    state, steps = np.array([1.0, 0.0]), 1000
    rk4(2, 1, steps, 1.0 / steps, state, np.array([4.0]), f.native, np.zeros((5, 2)))
    # x = cos(2 t); the error of RK4 is below (2 h)^4 a unit of time
    np.testing.assert_allclose(state, [math.cos(2.0), -2 * math.sin(2.0)], atol=1e-10)


def test_what_an_external_function_raises_is_raised_by_the_call():
    def broken(value):
        raise ValueError(f"no value at {value}")

    ws = bl.Workspace()
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": 1e3 * ws.external("broken", 1, broken)(x) + 1})
    with pytest.raises(ValueError, match=r"no value at 2\.0"):
        f(2.0)
    with pytest.raises(ValueError, match="no value at"):
        f.map(np.arange(20.0))
    ws.bind("broken", lambda value: "text")
    g = bl.Function("f", {"x": x}, {"y": ws.external("broken", 1)(x)})
    with pytest.raises(ValueError, match="text"):
        g(1.0)
    with pytest.raises(bl.BielaError, match="broken: 5"):
        ws.bind("broken", 5)


def test_binding_another_function_takes_effect():
    ws = bl.Workspace()
    x = ws.symbol("x")
    f = bl.Function("f", {"x": x}, {"y": ws.external("law", 1, lambda v: v)(x)})
    assert f(2.0) == 2.0
    ws.bind("law", lambda v: 10 * v)
    assert f(2.0) == 20.0


def test_two_workspaces_may_use_one_name_for_two_external_functions():
    values = []
    for factor in (2.0, 5.0):
        ws = bl.Workspace()
        x = ws.symbol("x")
        law = ws.external("law", 1, lambda value, factor=factor: factor * value)
        values.append(bl.Function("f", {"x": x}, {"y": law(x)}))
    assert [f(1.0) for f in values] == [2.0, 5.0]


def test_many_threads_may_call_one_function(everything):
    x, yz = states(200)
    expected = [everything.interpret(x[i], yz[i])[0] for i in range(200)]
    failures: list[int] = []

    def work(offset: int) -> None:
        for i in range(offset, 200, 4):
            if not np.allclose(everything(float(x[i]), yz[i])[0], expected[i], rtol=1e-12):
                failures.append(i)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


# ------------------------------------------------------------------------------- the cache


def test_code_is_found_again_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("BIELA_CACHE_DIR", str(tmp_path))
    first = chain(30)
    assert first.native.address
    stored = list((tmp_path / "objects").glob("*.o"))
    assert len(stored) == 1
    monkeypatch.setattr("biela.code.native.emit", None)  # compiling again would fail
    again = chain(30)
    q = np.linspace(0, 1, 30)
    assert np.array_equal(again(q)[0], first(q)[0])
    files, size = bl.code_cache.contents()
    assert (files, size) == (1, stored[0].stat().st_size)
    assert bl.code_cache.clear() == 1
    assert bl.code_cache.contents() == (0, 0)


def test_the_key_tells_functions_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("BIELA_CACHE_DIR", str(tmp_path))
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    curve, other = ws.lookup("f", [0, 1], [0, 1]), ws.lookup("g", [0, 1], [0, 2])
    variants = [
        x - y, y - x, x * y, x + y, x + 2 * y, x + 3 * y, bl.sin(x) + y, bl.cos(x) + y,
        x**2 + y, x**3 + y, curve(x) + y, other(x) + y, bl.select(x < y, x, y),
        bl.select(x < y, y, x), bl.select(x <= y, x, y), x + 0.1 * y,
    ]  # fmt: skip
    for e in variants:
        f = bl.Function("f", {"x": x, "y": y}, {"out": e})
        assert f(0.3, 0.7) == pytest.approx(f.interpret(0.3, 0.7), rel=1e-15)
        g = bl.Function("f", {"y": y, "x": x}, {"out": e})
        assert g(0.7, 0.3) == pytest.approx(f.interpret(0.3, 0.7), rel=1e-15)
    assert len(list((tmp_path / "objects").glob("*.o"))) == 2 * len(variants)


def test_a_damaged_or_forbidden_cache_is_no_obstacle(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("BIELA_CACHE_DIR", str(blocked))
    assert chain(3)([0.1, 0.2, 0.3])[0].shape == (3,)
    monkeypatch.setenv("BIELA_CACHE_DIR", str(tmp_path))
    assert chain(3).native.address
    (stored,) = (tmp_path / "objects").glob("*.o")
    stored.write_bytes(stored.read_bytes()[:100])
    assert chain(3)([0.1, 0.2, 0.3])[0].shape == (3,)


def test_another_process_makes_the_same_key(tmp_path, monkeypatch):
    script = (
        "import biela as bl\n"
        "ws = bl.Workspace(); x, y = ws.symbols('x y'); ws.symbol('unused')\n"
        "f = bl.Function('f', {'x': x, 'y': y}, {'z': [x*bl.sin(y), bl.atan2(x, y)]})\n"
        "f(1.0, 2.0)\n"
    )
    for seed in ("1", "2"):
        environment = {"BIELA_CACHE_DIR": str(tmp_path), "PYTHONHASHSEED": seed, "PATH": ""}
        subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    assert len(list((tmp_path / "objects").glob("*.o"))) == 1


def test_reproducible_code_has_no_fused_operations():
    f = chain(5)
    layout = Layout(
        {ref: (0, i) for i, ref in enumerate(f.inputs[0].refs)}, (5,), (f.outputs[0].refs,)
    )
    schedule = Schedule(f.table, f.outputs[0].refs)
    text = emit.emit(schedule, layout, Options(reproducible=True))
    assert "contract" not in text
    assert "llvm.fma" not in text
    assert "contract" in emit.emit(schedule, layout, Options())


def test_code_lives_as_long_as_its_owner():
    import gc

    native: NativeFunction = chain(4).native
    gc.collect()
    assert native(np.ones(4))[0].shape == (4,)


def test_the_zeros_of_a_large_sparse_output_are_written_too():
    ws = bl.Workspace()
    x = ws.symbols("x:3")
    n = 12
    rows = [[ws.atom(0)] * n for _ in range(n)]
    for k in range(n):
        rows[k][(5 * k) % n] = x[k % 3] * (k + 1)
    f = bl.Function("sparse", {"x": list(x)}, {"A": rows, "b": [ws.atom(0), x[0]]})
    expected = f.interpret([1.0, 2.0, 3.0])
    A, b = np.full((n, n), np.nan), np.full(2, np.nan)
    f(np.array([1.0, 2.0, 3.0]), A, b)
    np.testing.assert_array_equal(A, expected[0])
    np.testing.assert_array_equal(b, expected[1])
    many = np.random.default_rng(4).uniform(-1, 1, (13, 3))
    found, _ = f.map(many)
    for k in range(len(many)):
        np.testing.assert_allclose(found[k], f.interpret(many[k])[0], rtol=1e-15)
