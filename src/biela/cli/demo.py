"""The demonstration: a small model from its energies to running and exported code."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl


def demo(links: int, output: Path) -> None:
    """Derive, compile, evaluate and export pendulums on a cart, and print what was gained."""
    if links < 1:
        raise bl.BielaError(f"--links {links}: at least one pendulum is needed")
    output.mkdir(parents=True, exist_ok=True)
    chain = "A pendulum" if links == 1 else f"A chain of {links} pendulums"
    print(f"{chain} on a cart, from its energies by Lagrange's equations\n")

    derived, seconds = _timed(lambda: cart_and_pendulums(links))
    size = sum(bl.expanded_size(entry) for row in derived.expressions("M") for entry in row)
    size += sum(bl.expanded_size(entry) for entry in derived.expressions("Q"))
    count = derived.count
    text = f"{size} terms written out, {count.arithmetic} operations on shared atoms"
    _line("derive M and Q", seconds, text)

    files_before = bl.code_cache.contents()[0]
    native, seconds = _timed(lambda: derived.native)
    compiled = bl.code_cache.contents()[0] > files_before or not bl.code_cache.enabled()
    state = _state(links)
    M, Q = native(*state)
    _line(
        "compile" if compiled else "load",
        seconds,
        f"native code for this CPU{'' if compiled else ', kept from an earlier run'}",
    )

    acceleration = np.linalg.solve(M, Q)
    reference = derived.interpret(*state)
    error = max(np.abs(M - reference[0]).max(), np.abs(Q - reference[1]).max())
    _line(
        "evaluate",
        None,
        f"cart acceleration {acceleration[0]:+.6f} m/s²; "
        f"native code differs from the graph by {error:.0e}",
    )

    jacobian, seconds = _timed(lambda: derived.jacobian("Q", ["q", "v"]))
    _line("differentiate", seconds, f"dQ/d(q, v) in {jacobian.count.arithmetic} operations")

    languages = ("c", "matlab", "python", "julia")
    files, seconds = _timed(lambda: derived.export(languages, output))
    _line("export", seconds, f"{', '.join(path.name for path in files)} in {output}/")

    print("\nOne evaluation of M and Q:")
    _compare(derived, state, (output / "pendulums.py").read_text(encoding="utf-8"))
    print(
        f"\nNext: read {output}/{derived.name}.c, try `biela demo --links {2 * links}`, or start\n"
        "from the examples folder and the README."
    )


def cart_and_pendulums(links: int) -> bl.Function:
    """The mass matrix and the generalised forces of a cart with a chain of pendulums.

    Coordinates: the place x of the cart and the angles of the rods from the vertical; a force u
    drives the cart.  M a = Q, from T and V by Lagrange's equations:

        M = d²T/dv²,   Q = u + dT/dq - dV/dq - d/dt(dT/dv) with a = 0.
    """
    ws = bl.Workspace("pendulums_on_a_cart")
    q = [ws.coordinate("x"), *ws.coordinates(f"theta:{links}")]
    v = [c.velocity for c in q]
    u = ws.input("u")
    cart, g = ws.parameters("m_cart g")
    mass, length = ws.parameters(f"m:{links}"), ws.parameters(f"l:{links}")

    T = cart * v[0] ** 2 / 2
    V = ws.atom(0)
    x, y = q[0], ws.atom(0)
    for m, l, theta in zip(mass, length, q[1:], strict=True):
        x = x + l * bl.sin(theta)
        y = y - l * bl.cos(theta)
        vx, vy = bl.time_derivative([x, y])
        T = T + m * (vx**2 + vy**2) / 2
        V = V + m * g * y

    momentum = bl.gradient(T, v)
    M = bl.jacobian(momentum, v).rows
    still = {c.acceleration: 0 for c in q}
    inertia = bl.substitute(bl.time_derivative(momentum), still)
    slope = bl.gradient(T - V, q)
    Q = [s - i for s, i in zip(slope, inertia, strict=True)]
    Q[0] = Q[0] + u
    p = [cart, g, *mass, *length]
    return bl.Function("pendulums", {"q": q, "v": v, "u": u, "p": p}, {"M": M, "Q": Q})


def _state(links: int) -> tuple[Any, ...]:
    random = np.random.default_rng(1)
    q, v = random.uniform(-1, 1, links + 1), random.uniform(-1, 1, links + 1)
    parameters = np.concatenate([[2.0, 9.81], np.full(links, 0.5), np.full(links, 0.3)])
    return q, v, 1.5, parameters


def _compare(function: bl.Function, state: tuple[Any, ...], python: str) -> None:
    """Print how long one evaluation takes by different ways."""
    scope: dict[str, Any] = {}
    exec(compile(python, "pendulums.py", "exec"), scope)
    rows = 4096
    many = [np.repeat(np.asarray(s)[None], rows, 0) for s in state]
    ways: list[tuple[str, Callable[[], object], int]] = [
        ("graph, walked in Python", lambda: function.interpret(*state), 1),
        ("exported Python", lambda: scope[function.name](*state), 1),
        ("native, from Python", lambda: function(*state), 1),
        (f"native, {rows} states at once", lambda: function.map(*many), rows),
    ]
    slowest = 0.0
    for label, call, states in ways:
        seconds = _best(call) / states
        slowest = slowest or seconds
        print(f"  {label:<28}{_spelled(seconds):>10}   {slowest / seconds:8.0f} ×")


def _best(call: Callable[[], object]) -> float:
    call()  # what is compiled or loaded on first use is not measured
    best, spent = float("inf"), 0.0
    while spent < 0.1:
        start = time.perf_counter()
        call()
        elapsed = time.perf_counter() - start
        best, spent = min(best, elapsed), spent + elapsed
    return best


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def _line(what: str, seconds: float | None, text: str) -> None:
    print(f"  {what:<16}{_spelled(seconds) if seconds is not None else '':>10}   {text}")


def _spelled(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.1f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"
