"""Dynamics of two robot arms: native code against Pinocchio's in C++ and CasADi's generated C.

The arms are a PUMA 560, and one with the geometry of a Panda whose bodies have no zero in their
inertias.  CasADi has the textbook recursion on scalar expressions (`examples.newton_euler`).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import biela as bl
from benchmarks.agreement import check_equal
from benchmarks.chains import casadi_function
from benchmarks.panda import TURNS, A, D
from benchmarks.peers import CompiledC
from benchmarks.report import Row, against
from benchmarks.robots_pinocchio import PinocchioArm
from benchmarks.timing import fastest, native_burst
from biela.equations import spatial
from examples.newton_euler import PUMA_560, Link

#: The most that our time may be of the peer's.
LIMITS = {
    "inverse": ("inverse dynamics", 0.2),
    "mass": ("mass matrix", 0.5),
    "forward": ("forward dynamics", 0.25),
    "derivatives": ("derivatives of inverse dynamics", 1.0),
}
CASADI_LIMIT = 0.55
ROWS = 4096


def arms() -> dict[str, tuple[Link, ...]]:
    """The links of both arms."""
    # the first link of the PUMA is known by its inertia about one axis only
    shoulder = replace(PUMA_560[0], mass=1.0, inertia=(0.35, 0.35, 0.35, 0, 0, 0))
    random = np.random.default_rng(5)
    panda = []
    for a, d, turn in zip(A, D, TURNS, strict=True):
        half = random.normal(size=(3, 3))
        second = 0.01 * half @ half.T
        I = np.trace(second) * np.eye(3) - second
        panda.append(
            Link(
                *(a, turn * math.pi / 2, d),
                mass=float(random.uniform(0.5, 4.0)),
                centre=tuple(random.uniform(-0.1, 0.1, 3).tolist()),
                inertia=tuple(I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()),
            )
        )
    return {"puma_560": (shoulder, *PUMA_560[1:]), "panda": tuple(panda)}


def model(name: str, links: Sequence[Link]) -> bl.Model:
    """An arm from bodies and hinges."""
    m = bl.Model(name)
    before = m.ground
    for k, link in enumerate(links, 1):
        c, s = (round(f(link.alpha), 15) for f in (math.cos, math.sin))
        body = m.body(f"link{k}", mass=link.mass, com=link.centre, inertia=link.inertia)
        place = before.at(link.a, -s * link.d, c * link.d, axis=(0, -s, c), x_axis="x")
        m.joint("revolute", f"joint{k}", place, body.at())
        before = body
    return m


def run(quick: bool) -> Iterator[Row]:
    seconds = 0.5 if quick else 3.0
    for name, links in arms().items():
        yield from arm(name, links, seconds)


def arm(name: str, links: Sequence[Link], seconds: float) -> Iterator[Row]:
    """All rows of an arm; every function gives what the peer's gives."""
    m, n = model(name, links), len(links)
    peer = PinocchioArm(spatial.SpatialTree(m, short=False))
    q, v, a = np.random.default_rng(1).normal(size=(3, n))
    functions = {
        "inverse": spatial.inverse_dynamics(m),
        "mass": spatial.mass_matrix(m),
        "forward": spatial.forward_dynamics(m),
        "derivatives": spatial.inverse_dynamics_derivatives(m),
    }
    tau = functions["inverse"](q, v, a)
    inputs = {"inverse": [q, v, a], "mass": [q], "forward": [q, v, tau], "derivatives": [q, v, a]}
    shapes = {"inverse": [n], "mass": [(n, n)], "forward": [n], "derivatives": [(n, n)] * 3}
    bursts, results = {}, {}
    for key, function in functions.items():
        for who in ("biela", "pinocchio"):
            room = [np.zeros(shape) for shape in shapes[key]]
            address = function.native.address if who == "biela" else peer.address(key)
            bursts[key, who] = native_burst(address, [*inputs[key], *room])
            results[key, who] = room
    with tempfile.TemporaryDirectory() as folder:
        generated = CompiledC(casadi_function(name, links), Path(folder))
        room = [np.zeros(n)]
        bursts["inverse", "casadi"] = native_burst(generated.address, [q, v, a, *room])
        results["inverse", "casadi"] = room
        times = {key: 1e9 * t for key, t in fastest(bursts, seconds).items()}
    for key, (what, limit) in LIMITS.items():
        ours, theirs = times[key, "biela"], times[key, "pinocchio"]
        for k, (mine, other) in enumerate(
            zip(results[key, "biela"], results[key, "pinocchio"], strict=True)
        ):
            # of a mass matrix Pinocchio only fills the upper half
            half = key == "mass" or k == 2
            both = (np.triu(mine), np.triu(other)) if half else (mine, other)
            check_equal(f"{name} {what}", *both)
        count = len(functions[key].schedule.operations)
        measured = f"{ours:.1f} ns ({count} operations), Pinocchio in C++ {theirs:.0f} ns"
        yield against(f"{name} {what}", ours, theirs, limit, measured)
    ours, theirs = times["inverse", "biela"], times["inverse", "casadi"]
    check_equal(f"{name} CasADi", results["inverse", "biela"][0], results["inverse", "casadi"][0])
    measured = f"{ours:.1f} ns, CasADi C by gcc -O3 {theirs:.1f} ns"
    yield against(f"{name} inverse dynamics", ours, theirs, CASADI_LIMIT, measured)
    yield batch(name, functions["inverse"], n, times["inverse", "biela"])


def batch(name: str, function: bl.Function, n: int, scalar: float) -> Row:
    """Many states in vector lanes, from Python."""
    many = np.random.default_rng(2).normal(size=(3, ROWS, n))
    states = [np.ascontiguousarray(x) for x in many]
    function.map(*states)

    def run(count: int) -> None:
        for _ in range(count):
            function.map(*states)

    state = 1e9 * fastest({"map": run}, 0.3)["map"] / ROWS
    what = f"{name} inverse dynamics of {ROWS} states, each"
    return Row(what, f"{state:.1f} ns, one alone {scalar:.1f} ns", ratio=state / scalar)
