"""LLVM IR of what an instance that solves equations says of itself: failures and steps.

Places ``status`` to ``status + 2`` are the label of the first instance that failed, how, and how
many steps were made; see `biela.code.looped.solve_stage`.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.code.looped.solve_body import SolveBody

#: Failures, as they are stored.
NO_CONVERGENCE, NOT_FINITE, NOT_POSITIVE = 1.0, 2.0, 3.0
LARGEST = 1.7976931348623157e308


def declarations(lanes: int) -> list[str]:
    """What the lines need to know."""
    return [f"declare i{lanes} @llvm.cttz.i{lanes}(i{lanes}, i1)"] if lanes > 1 else []


def record_failure(
    body: SolveBody, good: str, square: str | None, bound: str, positive: Sequence[str]
) -> None:
    """Lines that keep label and kind of the first failure.

    Args:
        body: Where they are written.
        good: Where the instance is solved.
        square: Squared norm of the residual, if there is one.
        bound: What it must not exceed.
        positive: The numbers that must be positive.
    """
    kind = body.number(NOT_POSITIVE)
    for value in positive:
        known = body.compare("ord", value, value)
        kind = body.choose(known, kind, body.number(NOT_FINITE))
    if square is not None:
        finite = body.compare("ole", square, body.number(LARGEST))
        unsolved = body.choose(finite, body.number(NO_CONVERGENCE), body.number(NOT_FINITE))
        kind = body.choose(body.compare("ole", square, bound), kind, unsolved)
    if body.lanes == 1:
        _keep(body, "double", _label(body, "%i"), kind, None)
    elif body.access.states:
        truth = f"<{body.lanes} x i1>"
        bad = body.let(f"xor {truth} {good}, splat (i1 true)")
        _keep(body, body.type, body.splat(_label(body, "%i")), kind, bad)
    else:
        W = body.lanes
        bad = body.let(f"xor i{W} {body.bits(good)}, -1")
        lane = body.let(f"call i{W} @llvm.cttz.i{W}(i{W} {bad}, i1 false)")
        number = body.let(f"zext i{W} {lane} to i64")
        one = body.let(f"extractelement {body.type} {kind}, i64 {number}")
        _keep(body, "double", _label(body, body.let(f"add i64 %i, {number}")), one, None)


def _label(body: SolveBody, instance: str) -> str:
    at = body.let(f"getelementptr i32, ptr %base_labels, i64 {instance}")
    return body.let(f"sitofp i32 {body.let(f'load i32, ptr {at}')} to double")


def _keep(body: SolveBody, T: str, label: str, kind: str, bad: str | None) -> None:
    """Store where nothing has failed before."""
    truth, zero = ("i1", "0.0") if T == "double" else (f"<{body.lanes} x i1>", "zeroinitializer")
    before = body.let(f"load {T}, ptr %status, align 8")
    first = body.let(f"fcmp oeq {T} {before}, {zero}")
    if bad is not None:
        first = body.let(f"and {truth} {first}, {bad}")
    place = body.let(f"getelementptr {T}, ptr %status, i64 1")
    kind_before = body.let(f"load {T}, ptr {place}, align 8")
    for value, old, to in ((label, before, "%status"), (kind, kind_before, place)):
        chosen = body.let(f"select {truth} {first}, {T} {value}, {T} {old}")
        body.lines.append(f"  store {T} {chosen}, ptr {to}, align 8")


def add_steps(body: SolveBody, made: str) -> None:
    """Lines that add the steps made to those before."""
    T = body.type if body.access.states else "double"
    if body.type != T:
        lanes = [body.extract(made, lane) for lane in range(body.lanes)]
        made = lanes[0]
        for lane in lanes[1:]:
            made = body.let(f"fadd double {made}, {lane}")
    place = body.let(f"getelementptr {T}, ptr %status, i64 2")
    before = body.let(f"load {T}, ptr {place}, align 8")
    total = body.let(f"fadd {T} {before}, {made}")
    body.lines.append(f"  store {T} {total}, ptr {place}, align 8")
