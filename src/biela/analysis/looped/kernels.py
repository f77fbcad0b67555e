"""Small kernels of the programs of large mechanisms."""

from __future__ import annotations

from functools import cache

from biela.atoms import Atom, Workspace, maximum
from biela.code import Function

#: At which part of a step a slope is taken, and its weight, for the classical method of order four.
PARTS, WEIGHTS = (0.0, 0.5, 0.5, 1.0), (1.0, 2.0, 2.0, 1.0)


@cache
def time_kernel(number: int) -> Function:
    """The time of stage ``number`` of a step."""
    ws = Workspace("time")
    start, h = ws.symbol("start"), ws.symbol("h")
    return Function("time", {"start": [start], "h": [h]}, {"t": [start + PARTS[number] * h]})


@cache
def stage_kernel(number: int, nq: int, nv: int) -> Function:
    """What a slope k leads to: the state at which the next one is taken, and the sum of slopes.

    x = x_0 + c h k,    s ← s + w k,    and at the end    x = x_0 + h/6 (s + k).
    """
    ws = Workspace("stage")
    sizes = {"q": nq, "v": nv}
    slopes = {"q": _symbols(ws, "rates", nq), "v": _symbols(ws, "a", nv)}
    h = ws.symbol("h")
    inputs = {"h": [h], "rates": slopes["q"], "a": slopes["v"]}
    outputs: dict[str, list[Atom]] = {}
    for part, size in sizes.items():
        first = inputs[f"first_{part}"] = _symbols(ws, f"first_{part}", size)
        total = slopes[part]
        if number:
            before = inputs[f"sum_{part}"] = _symbols(ws, f"sum_{part}", size)
            total = [s + WEIGHTS[number] * k for s, k in zip(before, slopes[part], strict=True)]
        if number < 3:
            step = h * PARTS[number + 1]
            outputs[f"new_{part}"] = [
                x + step * k for x, k in zip(first, slopes[part], strict=True)
            ]
            outputs[f"new_sum_{part}"] = total
        else:
            step = h / 6
            outputs[f"new_{part}"] = [x + step * k for x, k in zip(first, total, strict=True)]
    return Function("stage", inputs, outputs)


@cache
def largest_kernel(width: int) -> Function:
    """The largest magnitude of some numbers and of what was found before."""
    ws = Workspace("largest")
    r, before = _symbols(ws, "r", width), ws.symbol("before")
    size = before
    for x in r:
        size = maximum(size, abs(x))
    return Function("largest", {"r": r, "before": [before]}, {"size": [size]})


@cache
def zero_kernel() -> Function:
    """Nothing, in place of a number."""
    ws = Workspace("zero")
    return Function("zero", {"a": [ws.symbol("a")]}, {"b": [ws.atom(0)]})


@cache
def copy_kernel() -> Function:
    """A number again."""
    ws = Workspace("copy")
    a = ws.symbol("a")
    return Function("copy", {"a": [a]}, {"b": [a]})


@cache
def difference_kernel() -> Function:
    """The difference a - b."""
    ws = Workspace("difference")
    a, b = ws.symbol("a"), ws.symbol("b")
    return Function("difference", {"a": [a], "b": [b]}, {"c": [a - b]})


def _symbols(ws: Workspace, name: str, count: int) -> list[Atom]:
    return [ws.symbol(f"{name}_{k}") for k in range(count)]
