"""The native code that runs a tape, and the entries into it.

A tape is a table of records of four words, (code, arguments, first, count); the dispatcher calls

    code(x, first, count, arguments)

for one after the other.  Entries are a few instructions around it, made for one program: they hold
the addresses of its tape, and so are not kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from biela.code.llvm import host
from biela.code.native import object_code

_TAPE: Final = """\
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @dispatch(ptr %x, ptr %tape, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %exit
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %record = getelementptr [4 x i64], ptr %tape, i64 %i
  %code = load ptr, ptr %record
  %to_arguments = getelementptr i64, ptr %record, i64 1
  %arguments = load ptr, ptr %to_arguments
  %to_first = getelementptr i64, ptr %record, i64 2
  %first = load i64, ptr %to_first
  %to_count = getelementptr i64, ptr %record, i64 3
  %count = load i64, ptr %to_count
  call void %code(ptr %x, i64 %first, i64 %count, ptr %arguments)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

define void @clear(ptr %x, i64 %first, i64 %count, ptr %arguments) {
  %from = getelementptr double, ptr %x, i64 %first
  %bytes = mul i64 %count, 8
  call void @llvm.memset.p0.i64(ptr %from, i8 0, i64 %bytes, i1 false)
  ret void
}
"""


@cache
def _library() -> Any:
    code = object_code("dispatch", _TAPE)
    return host.load_object(code, ["dispatch", "clear"])


def dispatch_address() -> int:
    """Address of ``void dispatch(double *x, const int64_t *tape, int64_t n)``."""
    return int(_library()["dispatch"])


def clear_address() -> int:
    """Address of the code of a record that clears ``count`` places from ``first`` on."""
    return int(_library()["clear"])


def entry_code(tape: int, records: int) -> Any:
    """Code of ``void run(double *x)`` for a tape at an address."""
    ir = (
        "define void @run(ptr %x) {\n"
        f"  %dispatch = inttoptr i64 {dispatch_address()} to ptr\n"
        f"  %tape = inttoptr i64 {tape} to ptr\n"
        f"  tail call void %dispatch(ptr %x, ptr %tape, i64 {records})\n  ret void\n}}\n"
    )
    return host.load_ir(ir, "run", opt=0)


def copying_code(
    run: int, x: int, inputs: Sequence[tuple[int, int]], outputs: Sequence[tuple[int, int]]
) -> Any:
    """Code of ``void run(const double *in0, …, double *out0, …)`` around ``void run(double *x)``.

    Inputs and outputs are (first place, size) of what is copied into the workspace ``x`` before,
    and out of it after.
    """
    names = [f"%in{k}" for k in range(len(inputs))] + [f"%out{k}" for k in range(len(outputs))]
    lines = [
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        f"define void @run({', '.join(f'ptr {name}' for name in names)}) {{",
        f"  %x = inttoptr i64 {x} to ptr",
        f"  %program = inttoptr i64 {run} to ptr",
    ]
    for k, (first, _) in enumerate([*inputs, *outputs]):
        lines.append(f"  %at{k} = getelementptr double, ptr %x, i64 {first}")
    copy = "  call void @llvm.memcpy.p0.p0.i64"
    for k, (_, size) in enumerate(inputs):
        lines.append(f"{copy}(ptr %at{k}, ptr %in{k}, i64 {8 * size}, i1 false)")
    lines.append("  call void %program(ptr %x)")
    for k, (_, size) in enumerate(outputs):
        lines.append(f"{copy}(ptr %out{k}, ptr %at{k + len(inputs)}, i64 {8 * size}, i1 false)")
    return host.load_ir("\n".join([*lines, "  ret void\n}\n"]), "run", opt=0)


def states_code(
    run: int,
    x: int,
    lanes: int,
    inputs: Sequence[tuple[int, int]],
    outputs: Sequence[tuple[int, int]],
) -> Any:
    """Code of ``void run(int64_t k, const double *in0, …, double *out0, …)`` for k rows, k ≥ lanes.

    ``run`` works on a workspace ``x`` with as many states as there are lanes, side by side.  The
    last of them overlap those before, so that all states go through the same instructions.
    """
    arrays = [("in", k, *part) for k, part in enumerate(inputs)]
    arrays += [("out", k, *part) for k, part in enumerate(outputs)]
    kind = f"<{lanes} x double>"
    calls: dict[str, list[str]] = {"in": [], "out": []}
    for side, k, first, size in arrays:
        name = f"{side}{k}"
        calls[side] += [
            f"  %row_{name} = mul i64 %s, {size}",
            f"  %at_{name} = getelementptr double, ptr %{name}, i64 %row_{name}",
            f"  %near_{name} = getelementptr {kind}, ptr %x, i64 {first}",
            f"  call void @{side}(ptr %at_{name}, ptr %near_{name}, i64 {size})",
        ]
    parameters = ", ".join(["i64 %k", *(f"ptr %{side}{k}" for side, k, _, _ in arrays)])
    lines = [
        _transposing("in", lanes),
        _transposing("out", lanes),
        f"define void @run({parameters}) {{\nentry:",
        f"  %x = inttoptr i64 {x} to ptr",
        f"  %program = inttoptr i64 {run} to ptr",
        f"  %last = sub i64 %k, {lanes}",
        "  br label %loop\nloop:",
        "  %s = phi i64 [ 0, %entry ], [ %next, %loop ]",
        *calls["in"],
        "  call void %program(ptr %x)",
        *calls["out"],
        f"  %step = add i64 %s, {lanes}",
        "  %beyond = icmp sgt i64 %step, %last",
        "  %next = select i1 %beyond, i64 %last, i64 %step",
        "  %done = icmp eq i64 %s, %last",
        "  br i1 %done, label %exit, label %loop\nexit:\n  ret void\n}\n",
    ]
    return host.load_ir("\n".join(lines), "run")


def _transposing(side: str, lanes: int) -> str:
    """A function that brings rows into lanes ("in"), or lanes into rows ("out")."""
    kind = f"<{lanes} x double>"
    lines = [
        f"define internal void @{side}(ptr %rows, ptr %near, i64 %size) {{\nentry:",
        "  %any = icmp sgt i64 %size, 0",
        "  br i1 %any, label %loop, label %exit\nloop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        f"  %at = getelementptr {kind}, ptr %near, i64 %i",
        "  %p0 = getelementptr double, ptr %rows, i64 %i",
    ]
    for lane in range(1, lanes):
        lines.append(f"  %p{lane} = getelementptr double, ptr %p{lane - 1}, i64 %size")
    if side == "in":
        before = "poison"
        for lane in range(lanes):
            lines.append(f"  %x{lane} = load double, ptr %p{lane}")
            lines.append(f"  %v{lane} = insertelement {kind} {before}, double %x{lane}, i32 {lane}")
            before = f"%v{lane}"
        lines.append(f"  store {kind} {before}, ptr %at, align 8")
    else:
        lines.append(f"  %v = load {kind}, ptr %at, align 8")
        for lane in range(lanes):
            lines.append(f"  %x{lane} = extractelement {kind} %v, i32 {lane}")
            lines.append(f"  store double %x{lane}, ptr %p{lane}")
    lines += [
        "  %next = add i64 %i, 1",
        "  %more = icmp slt i64 %next, %size",
        "  br i1 %more, label %loop, label %exit\nexit:\n  ret void\n}\n",
    ]
    return "\n".join(lines)
