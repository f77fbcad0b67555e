"""Looped programs against the interpreter of atoms, instance by instance, and plain NumPy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.code import native
from biela.code.llvm import emit as emit_module
from biela.code.llvm.host import host_lanes
from biela.code.looped import Clear, Memory, Program, Segment, Stage, Write
from biela.code.looped import kernel as kernel_module
from biela.code.routines import Int, Kernel, Vector, routine
from biela.errors import ShapeError


def mixed() -> bl.Function:
    """Five entries and two parameters to six and two results, with sines and a zero."""
    ws = bl.Workspace("mixed")
    x = [ws.symbol(f"x{k}") for k in range(5)]
    c = [ws.symbol(f"c{k}") for k in range(2)]
    a, b = ws.parameters("a b")
    f = [
        a * bl.sin(x[0]) + x[1],
        bl.cos(x[0] + x[2]) * b,
        x[3] * x[4] - c[0],
        ws.atom(0.0),
        x[2] + c[1] / (1 + x[1] * x[1]),
        -x[0],
    ]
    return bl.Function("mixed", {"x": x, "p": [a, b], "c": c}, {"f": f, "g": [f[0] * f[1], x[4]]})


def by_instance(stage: Stage, w: np.ndarray) -> np.ndarray:
    """What a stage does, one instance after the other by the interpreter."""
    w = w.copy()

    def places(table: np.ndarray, k: int, width: int) -> np.ndarray:
        return table[k] if table.ndim == 2 else table[k] + np.arange(width)

    for k in range(stage.count):
        given = [
            stage.parameters[k] if a.name == "p" else w[places(stage.gather[a.name], k, a.size)]
            for a in stage.kernel.inputs
        ]
        found = stage.kernel.interpret(*given)
        parts = found if len(stage.kernel.outputs) > 1 else (found,)
        for array, values in zip(stage.kernel.outputs, parts, strict=True):
            write = stage.scatter[array.name]
            at = places(write.places, k, array.size)
            if write.mode == "add":
                np.add.at(w, at, values)
            else:
                w[at] = values
    return w


def random_stage(rng: np.random.Generator, count: int, independent: bool, form: str) -> Stage:
    """Reads the first 100 places, writes the next; as tables or as first places."""
    kernel = mixed()
    if form == "scattered":
        x, c = rng.integers(0, 100, (count, 5)), rng.integers(0, 100, (count, 2))
        f = Write(rng.permutation(200)[: 6 * count].reshape(count, 6) + 100, "set")
        g = Write(rng.integers(300, 310, (count, 2)), "add")
    else:
        x, c = rng.integers(0, 95, count), rng.integers(0, 98, count)
        f = Write(rng.integers(100, 190, count), "add")
        g = Write(300 + 2 * rng.permutation(count), "set")
    return Stage(
        kernel,
        {"x": x, "c": c},
        {"f": f, "g": g},
        rng.normal(size=(count, 2)),
        independent=independent,
    )


@pytest.mark.parametrize("form", ["scattered", "following"])
@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("count", [1, 7, 8, 19, 32])
def test_a_stage_does_what_its_instances_do_one_by_one(
    count: int, independent: bool, form: str
) -> None:
    rng = np.random.default_rng(count)
    stage = random_stage(rng, count, independent, form)
    w = rng.normal(size=400)
    expected = by_instance(stage, w)
    Program([stage], 400).run(w)
    np.testing.assert_allclose(w, expected, rtol=1e-13, atol=1e-14)


def test_a_large_kernel_in_parts_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit_module, "CHUNK", 6)
    for form in ("scattered", "following"):
        rng = np.random.default_rng(3)
        stage = random_stage(rng, 11, False, form)
        w = rng.normal(size=400)
        expected = by_instance(stage, w)
        Program([stage], 400).run(w)
        np.testing.assert_allclose(w, expected, rtol=1e-13, atol=1e-14)


def test_an_instance_reads_what_the_one_before_wrote() -> None:
    ws = bl.Workspace("step")
    x, y, h = ws.symbol("x"), ws.symbol("y"), ws.parameter("h")
    step = bl.Function("turn", {"z": [x, y], "p": [h]}, {"w": [x - h * y, y + h * x]})
    n = 50
    h_of = np.linspace(0.01, 0.2, n)
    places = 2 * np.arange(n)
    stage = Stage(step, {"z": places}, {"w": Write(places + 2)}, h_of[:, None])
    w = np.zeros(2 * n + 2)
    w[0] = 1.0
    Program([stage], len(w)).run(w)
    z = np.cumprod(1 + 1j * h_of)  # x + i y turned and stretched
    np.testing.assert_allclose(w[2:].view(complex), z, rtol=1e-13)


def test_an_instance_may_write_where_it_reads() -> None:
    ws = bl.Workspace("swap")
    x, y = ws.symbol("x"), ws.symbol("y")
    swap = bl.Function("swap", {"a": [x, y]}, {"b": [y, x]})
    places = np.arange(9)
    stage = Stage(swap, {"a": places}, {"b": Write(places)})
    w = np.arange(10.0)
    Program([stage], 10).run(w)
    assert w.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]


def affine(name: str, slope: float, offset: float) -> bl.Function:
    ws = bl.Workspace(name)
    x = ws.symbol("x")
    return bl.Function(name, {"x": [x]}, {"y": [slope * x + offset]})


def test_a_tape_lets_kernels_take_turns() -> None:
    chain = np.arange(6)
    stages = [
        Stage(affine("double", 2.0, 0.0), {"x": chain[::2]}, {"y": Write(chain[::2] + 1)}),
        Stage(affine("next", 1.0, 1.0), {"x": chain[1::2]}, {"y": Write(chain[1::2] + 1)}),
        Clear(0, 1),
    ]
    tape = [Segment(k % 2, k // 2, 1) for k in range(6)] + [Segment(2, 0, 0)]
    w = np.zeros(7)
    w[0] = 1.0
    Program(stages, 7, tape=tape).run(w)
    assert w.tolist() == [0, 2, 3, 6, 7, 14, 15]


def test_segments_of_an_independent_stage_may_start_anywhere() -> None:
    n = 5 * host_lanes()
    places = np.arange(n)
    stage = Stage(affine("one", 1.0, 1.0), {"x": places}, {"y": Write(places)}, independent=True)
    w = np.zeros(n)
    Program([stage], n, tape=[Segment(0, 3, n - 8), Segment(0, 0, 2)]).run(w)
    assert np.flatnonzero(w == 1).tolist() == [0, 1, *range(3, n - 5)]
    assert set(w) == {0.0, 1.0}


def test_clearing_prepares_what_is_added_to() -> None:
    stage = Stage(
        affine("id", 1.0, 0.0), {"x": np.arange(4)}, {"y": Write(np.full(4, 4), "add")},
        independent=True,
    )  # fmt: skip
    program = Program([Clear(4, 1), stage], 5)
    w = np.array([1.0, 2.0, 3.0, 4.0, 99.0])
    for _ in range(2):
        program.run(w)
    assert w[4] == 10.0


def test_parameters_are_data_and_may_be_replaced() -> None:
    rng = np.random.default_rng(5)
    stage = random_stage(rng, 21, True, "following")
    program = Program([stage], 400)
    w = rng.normal(size=400)
    other = Stage(
        stage.kernel, stage.gather, stage.scatter, rng.normal(size=(21, 2)), independent=True
    )
    expected = by_instance(other, w)
    program.set_parameters(0, other.parameters)
    program.run(w)
    np.testing.assert_allclose(w, expected, rtol=1e-13, atol=1e-14)


def test_another_size_of_the_same_kernel_is_not_compiled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(6)
    Program([random_stage(rng, 17, True, "following")], 400)

    def refuse(name: str, ir: str) -> bytes:
        raise AssertionError(f"{name} was compiled again")

    monkeypatch.setattr(kernel_module, "object_code", refuse)
    kernel_module._loaded.clear()  # as in another process, that has the disk only
    monkeypatch.setattr(native, "object_code", refuse)
    Program([random_stage(rng, 25, True, "following")], 400)


def test_stages_of_one_function_share_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    original = kernel_module.emit_loop

    def emit(*arguments: Any) -> str:
        written.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(kernel_module, "emit_loop", emit)
    kernel = affine("twice", 2.0, 0.0)
    stages = [
        Stage(kernel, {"x": np.array([k])}, {"y": Write(np.array([k + 1]))}) for k in range(9)
    ]
    w = np.zeros(10)
    w[0] = 1.0
    Program(stages, 10).run(w)
    assert w[9] == 2.0**9
    assert len(written) == 1


@routine(f="-> n", w="n")
def repeated(n: Int, times: Int, f: Kernel, w: Vector) -> None:
    """Run a program several times."""
    for _k in range(times):
        f(w)


def test_a_program_is_a_kernel_for_routines() -> None:
    n = 12
    places = np.arange(n)
    stage = Stage(affine("half", 0.5, 0.0), {"x": places}, {"y": Write(places)}, independent=True)
    program = Program([stage], n)
    w = np.full(n, 8.0)
    repeated(n, 3, program, w)
    assert w.tolist() == [1.0] * n


def test_a_program_as_a_function_has_its_own_workspace() -> None:
    memory = Memory({"x": 3, "work": 3, "y": 3})
    stages = [
        Stage(
            affine("a", 2.0, 0.0), {"x": memory.places("x")}, {"y": Write(memory.places("work"))}
        ),
        Stage(
            affine("b", 1.0, 1.0), {"x": memory.places("work")}, {"y": Write(memory.places("y"))}
        ),
    ]
    f = Program(stages, memory.size).function(memory, ["x"], ["y"])
    assert f([1, 2, 3]).tolist() == [3.0, 5.0, 7.0]
    out = np.empty(3)
    f(np.zeros(3), out)
    assert out.tolist() == [1.0] * 3
    assert f.map(np.arange(6.0).reshape(2, 3)).tolist() == [[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]


@pytest.mark.parametrize("form", ["scattered", "following"])
@pytest.mark.parametrize("count", [1, 7, 8, 21])
def test_many_states_are_what_they_are_one_by_one(count: int, form: str) -> None:
    rng = np.random.default_rng(count)
    stage = random_stage(rng, 19, True, form)
    memory = Memory({"given": 60, "constant": 40, "y": 300})
    program = Program([Clear(100, 300), stage], 400)
    f = program.function(memory, ["given"], ["y"])
    memory.view(f.w, "constant")[:] = rng.normal(size=40)
    rows = rng.normal(size=(count, 60))
    first = f.map(rows)
    for row, found in zip(rows, first, strict=True):
        np.testing.assert_allclose(found, f(row), rtol=1e-13, atol=1e-14)
    program.set_parameters(1, rng.normal(size=(19, 2)))
    memory.view(f.w, "constant")[:] = 0.0
    second = f.map(rows)
    assert np.abs(second - first).max() > 0.1
    for row, found in zip(rows, second, strict=True):
        np.testing.assert_allclose(found, f(row), rtol=1e-13, atol=1e-14)


def test_kernels_in_parts_take_many_states_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit_module, "CHUNK", 6)
    monkeypatch.setattr(kernel_module, "CHUNK", 6)
    stage = random_stage(np.random.default_rng(1), 5, False, "following")
    f = Program([stage], 400).function(Memory({"x": 100, "y": 300}), ["x"], ["y"])
    rows = np.random.default_rng(2).normal(size=(20, 100))
    found = f.map(rows)
    f.w[:] = 0.0
    np.testing.assert_array_equal(f.map(rows)[0], found[0])
    w = np.concatenate([rows[0], np.zeros(300)])
    np.testing.assert_allclose(found[0], by_instance(stage, w)[100:], rtol=1e-13, atol=1e-14)


def test_threads_wait_for_the_workspace_of_a_function() -> None:
    n = 20_000
    memory = Memory({"x": n, "work": n, "y": n})
    x, work, y = (memory.places(name) for name in memory.sizes)
    stages = [
        Stage(affine("a", 3.0, 0.0), {"x": x}, {"y": Write(work)}, independent=True),
        Stage(affine("b", 1.0, 1.0), {"x": work}, {"y": Write(y)}, independent=True),
    ]
    f = Program(stages, memory.size).function(memory, ["x"], ["y"])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: f(np.full(n, float(k))), range(40)))
    for k, result in enumerate(found):
        assert (result == 3 * k + 1).all()


def test_what_an_external_function_raises_comes_out() -> None:
    ws = bl.Workspace("outside")
    x = ws.symbol("x")

    def root(value: float) -> float:
        if value < 0:
            raise ValueError("below zero")
        return value**0.5

    f = ws.external("root", 1, root)
    kernel = bl.Function("rooted", {"x": [x]}, {"y": [f(x)]})
    places = np.arange(9)
    for independent in (False, True):
        stage = Stage(kernel, {"x": places}, {"y": Write(places)}, independent=independent)
        program = Program([stage], 9)
        w = np.arange(9.0) ** 2
        program.run(w)
        assert w.tolist() == list(range(9))
        with pytest.raises(ValueError, match="below zero"):
            program.run(-w)
        f = program.function(Memory({"w": 9}), ["w"], ["w"])
        with pytest.raises(ValueError, match="below zero"):
            f(-w)
        with pytest.raises(ValueError, match="below zero"):
            f.map(np.repeat(-w[None], 16, 0))


def test_bad_tables_are_refused_with_their_names() -> None:
    kernel = affine("f", 1.0, 0.0)
    good = Write(np.arange(3))
    with pytest.raises(ShapeError, match=r"f: x needs places of shape \(3, 1\)"):
        Stage(kernel, {"x": np.zeros((3, 2), int)}, {"y": good})
    with pytest.raises(ShapeError, match="whole numbers"):
        Stage(kernel, {"x": np.zeros(3)}, {"y": good})
    with pytest.raises(ShapeError, match="each input of the kernel, x; look at x, z"):
        Stage(kernel, {"z": np.arange(3)}, {"y": good})
    with pytest.raises(ShapeError, match="'set' or 'add', not 'max'"):
        Stage(kernel, {"x": np.arange(3)}, {"y": Write(np.arange(3), "max")})
    with pytest.raises(ShapeError, match="the parameters of 3 instances"):
        random = random_stage(np.random.default_rng(0), 3, False, "following")
        Stage(random.kernel, random.gather, random.scatter, np.zeros((3, 3)))
    stage = Stage(kernel, {"x": np.arange(3)}, {"y": good})
    with pytest.raises(ShapeError, match="places of x reach from 0 to 2; the workspace has 0 to 1"):
        Program([stage], 2)
    with pytest.raises(ShapeError, match="instances 2 to 3 are not all in stage f"):
        Program([stage], 3, tape=[Segment(0, 2, 2)])
    with pytest.raises(ShapeError, match="clearing 3 places from 1 on"):
        Program([Clear(1, 3)], 3)
    program = Program([stage], 3)
    for wrong in (np.zeros(4), np.zeros(3, np.float32), np.zeros(6)[::2], [0.0] * 3):
        with pytest.raises(ShapeError, match="writeable array of 3 doubles"):
            program.run(wrong)
