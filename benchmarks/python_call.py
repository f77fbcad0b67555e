"""One call from Python on NumPy arrays: what it costs above the function itself."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.chains import Chain, casadi_function, states
from benchmarks.report import Row, below
from benchmarks.timing import fastest, native_burst, python_burst
from examples.newton_euler import PUMA_560

LIMIT = 0.5


def run(quick: bool) -> Iterator[Row]:
    function = Chain.of(PUMA_560).function("puma_560")
    q, v, a, tau = states(6)
    # the loop in Python, some 10 ns a turn, is part of what is measured
    times = fastest(
        {
            "native": native_burst(function.native.address, [q, v, a, tau]),
            "f(q, v, a)": python_burst(function, q, v, a),
            "f.native.call(q, v, a)": python_burst(function.native.call, q, v, a),
            "f.native.call(q, v, a, tau)": python_burst(function.native.call, q, v, a, tau),
        },
        0.3 if quick else 2.0,
    )
    native = times.pop("native")
    for name, seconds in times.items():
        above = (seconds - native) * 1e6
        note = f" above the {native * 1e9:.0f} ns of the function"
        yield below(name, above, LIMIT, "µs", note)
    peer = casadi_function("puma_560", PUMA_560)
    both = fastest(
        {"ours": python_burst(function, q, v, a), "theirs": python_burst(peer, q, v, a)},
        0.3 if quick else 1.0,
    )
    ours, theirs = (both[key] * 1e6 for key in ("ours", "theirs"))
    measured = f"{ours:.2f} µs in all, CasADi's (interpreted) {theirs:.1f} µs"
    yield Row("a call from Python", measured, ratio=ours / theirs)
