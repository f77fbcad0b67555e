"""The entry from Python into a native kernel, in its native and its ctypes form."""

from __future__ import annotations

import gc
import inspect
import sys
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from biela.code.llvm import entry as module
from biela.code.llvm.entry import Argument, Entry, layout_holds, make_entry
from biela.code.llvm.host import load_ir

# out[i] = 2 a[i] + b[i] + t for six numbers; number = a[0] + t
KERNELS = """
define void @six(ptr %a, ptr %b, ptr %t, ptr %out, ptr %number) {
entry:
  %tv = load double, ptr %t
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %pa = getelementptr double, ptr %a, i64 %i
  %pb = getelementptr double, ptr %b, i64 %i
  %po = getelementptr double, ptr %out, i64 %i
  %av = load double, ptr %pa
  %bv = load double, ptr %pb
  %s = fadd double %av, %av
  %s1 = fadd double %s, %bv
  %s2 = fadd double %s1, %tv
  store double %s2, ptr %po
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, 6
  br i1 %more, label %loop, label %done
done:
  %a0 = load double, ptr %a
  %n = fadd double %a0, %tv
  store double %n, ptr %number
  ret void
}
define void @twice(ptr %a, ptr %out) {
  %x = load double, ptr %a
  %y = fadd double %x, %x
  store double %y, ptr %out
  ret void
}
define void @nothing(ptr %a, ptr %out) {
  ret void
}
define void @constant(ptr %out) {
  store double 7.0, ptr %out
  ret void
}
define void @wait(ptr %flag, ptr %out) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %f = load volatile double, ptr %flag
  %j = add i64 %i, 1
  %set = fcmp une double %f, 0.0
  %late = icmp ugt i64 %j, 20000000000
  %stop = or i1 %set, %late
  br i1 %stop, label %done, label %loop
done:
  store double %f, ptr %out
  ret void
}
"""
CODE = {name: load_ir(KERNELS, name) for name in ("six", "twice", "nothing", "constant", "wait")}

SIX_IN = (Argument("a", (6,)), Argument("b", (2, 3)), Argument("t", ()))
SIX_OUT = (Argument("out", (3, 2)), Argument("number", ()))


def note(*args: object, **kwargs: object) -> object:
    """A fallback that says how it was called."""
    return "fallback", args, kwargs


@pytest.fixture(scope="module", autouse=True)
def _only_what_these_tests_make_is_collected() -> None:
    """`gc.collect` takes seconds where earlier tests have left millions of objects."""
    gc.freeze()


@pytest.fixture(params=["native", "ctypes"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    if request.param == "ctypes":
        monkeypatch.setattr(module, "layout_holds", lambda: False)
    elif not layout_holds():
        pytest.skip("objects have another layout here")

    def make_one(
        kernel: str,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        fallback: Callable[..., object] = note,
        release_gil: bool = False,
    ) -> Entry:
        address = CODE[kernel][kernel]
        made = make_entry(address, kernel, inputs, outputs, fallback, release_gil)
        assert made.native == (request.param == "native")
        return made

    return make_one


def arrays() -> tuple[Any, Any, Any]:
    return np.arange(6.0), np.arange(6.0).reshape(2, 3) * 10, 0.5


def expected() -> Any:
    a, b, t = arrays()
    return (2 * a + b.ravel() + t).reshape(3, 2)


def test_this_python_and_numpy_have_the_layout_assumed() -> None:
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    assert layout_holds() or free_threaded or sys.implementation.name != "cpython"


def test_several_outputs_come_back_as_a_tuple(make: Callable[..., Any]) -> None:
    answer = make("six", SIX_IN, SIX_OUT).call(*arrays())
    assert type(answer) is tuple
    out, number = answer
    np.testing.assert_array_equal(out, expected())
    assert out.flags.carray and out.flags.owndata
    assert type(number) is float and number == 0.5


def test_one_output_comes_back_alone(make: Callable[..., Any]) -> None:
    number = make("twice", [Argument("a", ())], [Argument("out", ())]).call(1.5)
    assert type(number) is float and number == 3.0
    array = make("twice", [Argument("a", (1, 1))], [Argument("out", (1,))]).call(np.full((1, 1), 4))
    assert array == ("fallback", (np.full((1, 1), 4),), {})  # of integers
    array = make("twice", [Argument("a", (1, 1))], [Argument("out", (1,))]).call(np.ones((1, 1)))
    np.testing.assert_array_equal(array, [2.0])


def test_given_outputs_are_filled_in_place(make: Callable[..., Any]) -> None:
    out, number = np.zeros((3, 2)), np.array(0.0)
    assert make("six", SIX_IN, SIX_OUT).call(*arrays(), out, number) is None
    np.testing.assert_array_equal(out, expected())
    assert number == 0.5


def test_a_kernel_without_inputs_has_an_entry(make: Callable[..., Any]) -> None:
    call = make("constant", [], [Argument("out", ())]).call
    out = np.array(0.0)
    assert call() == 7.0
    assert call(out) is None
    assert out == 7.0


def test_a_kernel_without_outputs_has_none(make: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="no outputs"):
        make("constant", [Argument("a", ())], [])


@pytest.mark.parametrize("scalar", [0.5, np.float64(0.5), np.array(0.5)])
def test_a_scalar_may_be_a_float_or_an_array(make: Callable[..., Any], scalar: object) -> None:
    a, b, _ = arrays()
    out, number = make("six", SIX_IN, SIX_OUT).call(a, b, scalar)
    np.testing.assert_array_equal(out, expected())
    assert number == 0.5


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
def test_empty_arrays_pass(make: Callable[..., Any], shape: tuple[int, ...]) -> None:
    call = make("nothing", [Argument("a", shape)], [Argument("out", shape)]).call
    answer = call(np.zeros(shape))
    assert isinstance(answer, np.ndarray) and answer.shape == shape
    assert call(np.zeros(shape), np.zeros(shape)) is None


class Subclass(np.ndarray):
    """An array that is not exactly an ndarray."""


def strange_inputs() -> list[tuple[str, object]]:
    misaligned = np.frombuffer(bytearray(49), dtype=np.uint8)[1:].view(np.float64)
    return [
        ("a list", [0.0] * 6),
        ("None", None),
        ("an int", 3),
        ("single precision", np.zeros(6, np.float32)),
        ("integers", np.zeros(6, np.int64)),
        ("swapped bytes", np.zeros(6, ">f8" if sys.byteorder == "little" else "<f8")),
        ("strided", np.zeros(12)[::2]),
        ("reversed", np.zeros(6)[::-1]),
        ("too short", np.zeros(5)),
        ("too long", np.zeros(7)),
        ("a column", np.zeros((6, 1))),
        ("a number", np.array(1.0)),
        ("a subclass", np.zeros(6).view(Subclass)),
        ("misaligned", misaligned),
    ]


@pytest.mark.parametrize("thing", [t for _, t in strange_inputs()], ids=lambda t: "")
def test_strange_inputs_go_to_the_fallback(make: Callable[..., Any], thing: object) -> None:
    _, b, t = arrays()
    answer = make("six", SIX_IN, SIX_OUT).call(thing, b, t)
    assert answer[0] == "fallback"
    assert answer[1][0] is thing and answer[1][1] is b and len(answer[1]) == 3
    assert answer[2] == {}


@pytest.mark.parametrize(
    "matrix",
    [np.zeros((3, 2)), np.zeros(6), np.zeros((2, 3), order="F"), np.zeros((2, 3, 1))],
)
def test_strange_matrices_go_to_the_fallback(make: Callable[..., Any], matrix: object) -> None:
    a, _, t = arrays()
    assert make("six", SIX_IN, SIX_OUT).call(a, matrix, t)[0] == "fallback"


@pytest.mark.parametrize("scalar", [1, True, np.float32(1.0), "1", np.zeros(1), np.array(1)])
def test_strange_scalars_go_to_the_fallback(make: Callable[..., Any], scalar: object) -> None:
    a, b, _ = arrays()
    assert make("six", SIX_IN, SIX_OUT).call(a, b, scalar)[0] == "fallback"


def test_strange_outputs_go_to_the_fallback(make: Callable[..., Any]) -> None:
    call = make("six", SIX_IN, SIX_OUT).call
    frozen = np.zeros((3, 2))
    frozen.flags.writeable = False
    for out in (frozen, np.zeros((2, 3)), np.zeros((3, 2), np.float32), np.zeros((6, 2))[::2]):
        assert call(*arrays(), out, np.array(0.0))[0] == "fallback"
        assert not out.any()
    assert call(*arrays(), np.zeros((3, 2)), 0.0)[0] == "fallback"  # a float cannot be written


def test_a_read_only_input_is_fine(make: Callable[..., Any]) -> None:
    a, b, t = arrays()
    a.flags.writeable = False
    assert type(make("six", SIX_IN, SIX_OUT).call(a, b, t)) is tuple
    assert make("six", SIX_IN, SIX_OUT).call(a, b, t)[1] == 0.5


def test_wrong_counts_and_keywords_go_to_the_fallback(make: Callable[..., Any]) -> None:
    call = make("six", SIX_IN, SIX_OUT).call
    a, b, t = arrays()
    out = np.zeros((3, 2))
    assert call() == ("fallback", (), {})
    for args in ((a,), (a, b), (a, b, t, out), (a, b, t, out, out, out)):
        answer = call(*args)
        assert answer[0] == "fallback" and len(answer[1]) == len(args)
    answer = call(a, b=b, t=t)
    assert answer[1][0] is a and list(answer[2]) == ["b", "t"] and answer[2]["b"] is b
    assert call(a, b, t, more=1)[2] == {"more": 1}


def test_an_error_in_the_fallback_reaches_the_caller(make: Callable[..., Any]) -> None:
    def refuse(*args: object) -> object:
        raise TypeError("not like this")

    with pytest.raises(TypeError, match="not like this"):
        make("six", SIX_IN, SIX_OUT, refuse).call(1)


def test_an_output_that_cannot_be_allocated_raises_and_leaks_nothing(
    make: Callable[..., Any],
) -> None:
    outputs = [Argument("out", (6,)), Argument("number", ()), Argument("huge", (2**61,))]
    call = make("constant", [], outputs).call
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(200):
        with pytest.raises((ValueError, MemoryError)):
            call()
    gc.collect()
    # one object left behind a call would be 5000
    assert sys.getallocatedblocks() - before < 1000


def test_references_are_counted_exactly(make: Callable[..., Any]) -> None:
    call = make("six", SIX_IN, SIX_OUT).call
    single = make("twice", [Argument("a", ())], [Argument("out", (1,))]).call
    a, b, _ = arrays()
    t = float("0.5")
    out, number = np.zeros((3, 2)), np.array(0.0)
    watched: list[object] = [a, b, t, out, number, None, np.ndarray, note, float]
    if isinstance(call, types.BuiltinFunctionType):  # numpy.empty itself leaks the dtype
        watched.append(np.dtype(np.float64))

    def run() -> None:
        for _ in range(1000):
            call(a, b, t)
            call(a, b, t, out, number)
            call(a, b, number)
            single(t)
            call(a, b)  # the fallback
            call(a, b=b)

    run()
    before = [sys.getrefcount(thing) for thing in watched]
    run()
    after = [sys.getrefcount(thing) for thing in watched]
    drift = [j - i for i, j in zip(before, after, strict=True)]
    assert max(drift, key=abs) < 20, drift

    new, value = call(a, b, t)
    whole = call(a, b, t)
    # one for the name, one for the argument of getrefcount
    counts = [sys.getrefcount(new), sys.getrefcount(value), sys.getrefcount(whole)]
    inside = sys.getrefcount(whole[0])
    assert counts == [2, 2, 2]
    assert inside == 2


def test_memory_does_not_grow(make: Callable[..., Any]) -> None:
    call = make("six", SIX_IN, SIX_OUT).call
    args = arrays()
    for _ in range(100):
        call(*args)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(5000):
        call(*args)
    gc.collect()
    # one object left behind a call would be 5000
    assert sys.getallocatedblocks() - before < 1000


def test_the_callable_alone_keeps_the_entry_alive_and_then_frees_it(
    make: Callable[..., Any],
) -> None:
    def fallback(*args: object) -> object:
        return len(args)

    call = make("six", SIX_IN, SIX_OUT, fallback).call
    watch = weakref.ref(fallback)
    del fallback
    gc.collect()
    assert call(1, 2) == 2
    np.testing.assert_array_equal(call(*arrays())[0], expected())
    del call
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("given", [False, True])
def test_the_gil_is_released_if_asked(make: Callable[..., Any], given: bool) -> None:
    call = make("wait", [Argument("flag", (1,))], [Argument("out", (1,))], note, True).call
    flag, out = np.zeros(1), np.zeros(1)
    results: list[Any] = []

    def work() -> None:
        results.append(call(flag, out) if given else call(flag))

    thread = threading.Thread(target=work)
    thread.start()
    flag[0] = 3.0  # the kernel waits for it: holding the lock it would never see it
    thread.join(20)
    assert not thread.is_alive()
    assert (out if given else results[0])[0] == 3.0


def test_threads_may_share_an_entry(make: Callable[..., Any]) -> None:
    call = make("six", SIX_IN, SIX_OUT, note, True).call
    wrong: list[object] = []

    def work(seed: int) -> None:
        a = np.random.default_rng(seed).standard_normal(6)
        b = np.zeros((2, 3))
        for _ in range(2000):
            out, _ = call(a, b, 0.0)
            if not np.array_equal(out.ravel(), 2 * a):
                wrong.append(out)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_native_entry_shows_its_name_and_signature() -> None:
    if not layout_holds():
        pytest.skip("objects have another layout here")
    call = make_entry(CODE["six"]["six"], "six", SIX_IN, SIX_OUT, note, False).call
    assert call.__name__ == "six"
    assert list(inspect.signature(call).parameters) == ["a", "b", "t", "out", "number"]


def test_many_entries_live_side_by_side() -> None:
    shape = (1,)
    entries = [
        make_entry(
            CODE["twice"]["twice"],
            f"f{i}",
            [Argument("a", shape)],
            [Argument("o", shape)],
            note,
            False,
        )
        for i in range(50)
    ]
    for made in entries:
        np.testing.assert_array_equal(made.call(np.ones(1)), [2.0])
