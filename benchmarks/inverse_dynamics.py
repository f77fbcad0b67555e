"""Inverse dynamics of two arms: native code against CasADi's C, and batches against scalars."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agreement import check_equal
from benchmarks.chains import ARMS, Chain, casadi_function, states
from benchmarks.peers import CompiledC
from benchmarks.report import Row, against
from benchmarks.timing import fastest, native_burst
from biela.code.llvm import host
from biela.code.llvm.emit import ENTRY, Layout, Options, emit
from examples.newton_euler import Link

#: The most that our time may be of the peer's.
SCALAR_LIMITS = {"puma_560": 0.7, "random_7": 0.75}
BATCH_LIMIT = 0.4
ROWS = 512


def run(quick: bool) -> Iterator[Row]:
    seconds = 0.3 if quick else 2.0
    for name, links in ARMS.items():
        yield from batches(name, links, seconds)
    for name, links in ARMS.items():
        yield scalar(name, links, seconds)


def scalar(name: str, links: Sequence[Link], seconds: float) -> Row:
    """One state at a time, against CasADi's C."""
    function = Chain.of(links).function(name)
    ours, theirs = states(len(links)), states(len(links))
    with tempfile.TemporaryDirectory() as folder:
        peer = CompiledC(casadi_function(name, links), Path(folder))
        times = fastest(
            {
                "biela": native_burst(function.native.address, ours),
                "casadi": native_burst(peer.address, theirs),
            },
            seconds,
        )
    check_equal(name, ours[-1], theirs[-1])
    us, them = (times[key] * 1e9 for key in ("biela", "casadi"))
    measured = f"{us:.1f} ns, CasADi C by gcc -O3 {them:.1f} ns"
    return against(f"{name} inverse dynamics", us, them, SCALAR_LIMITS[name], measured)


def batches(name: str, links: Sequence[Link], seconds: float) -> Iterator[Row]:
    """Many states, 4 at a time and as many as suit this CPU, against our own scalar code."""
    chain = Chain.of(links)
    function = chain.function(name)
    one, many = states(len(links)), states(len(links), ROWS)
    widths = sorted({4, host.host_lanes()})
    codes = {lanes: batch_code(chain, lanes) for lanes in widths}
    bursts = {"scalar": native_burst(function.native.address, one)}
    for lanes, code in codes.items():
        bursts[f"{lanes}"] = native_burst(code[ENTRY], many, ROWS)
    times = fastest(bursts, seconds)
    check_equal(f"{name} batch", many[-1], function.map(*many[:-1]))
    check_equal(f"{name} batch", many[-1][7], function(*(x[7] for x in many[:-1])))
    us = times["scalar"] * 1e9
    for lanes in widths:
        state = times[f"{lanes}"] / ROWS * 1e9
        own = ", the width of map here" if lanes == host.host_lanes() else ""
        what = f"{name} batch of {lanes} lanes, a state"
        measured = f"{state:.1f} ns, scalar {us:.1f} ns{own}"
        if lanes == 4:
            yield against(what, state, us, BATCH_LIMIT, measured)
        else:
            yield Row(what, measured, ratio=state / us)


def batch_code(chain: Chain, lanes: int) -> Any:
    """The loaded batch entry of a chain for a number of lanes."""
    groups = (chain.q, chain.v, chain.a)
    layout = Layout(
        {x.ref: (g, i) for g, group in enumerate(groups) for i, x in enumerate(group)},
        tuple(len(group) for group in groups),
        (tuple(x.ref for x in chain.tau),),
    )
    options = Options(lanes=lanes, fma=host.host_has_fma())
    ir = emit(chain.function("batch").schedule, layout, options)
    return host.load_ir(ir, ENTRY)
