"""The symbolic example models: operations, time to derive and export them, and SymPy's Kane."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import biela as bl
from benchmarks.agreement import check_equal
from benchmarks.peers import sympy
from benchmarks.report import Row, against, below
from benchmarks.thesis.tables import last_joint
from biela.equations import Equations
from biela.equations.thesis import mass_and_forces_thesis
from examples.symbolic.block_pendulum import block_pendulum
from examples.symbolic.crank_rod_disc import crank_rod_disc
from examples.symbolic.four_bar import four_bar
from examples.symbolic.locomotive import locomotive
from examples.symbolic.stewart import stewart
from examples.symbolic.ten_link_pendulum import pendulum

Model = Callable[[], bl.SymbolicSystem]

LINKS = 10


def run(quick: bool) -> Iterator[Row]:
    yield operations("block-pendulum, [M Q]", block_pendulum().equations().joint("M", "Q"), 21)
    linkage = four_bar().equations()
    yield operations("four-bar, [M Q]", linkage.joint("M", "Q"), 153)
    yield operations("four-bar, [Phi_q Phi]", linkage.joint("Phi_q", "Phi"), 27)
    # written out without any shared part (Plaza 2015, table 6.9)
    for toward, word, limit in ((bl.Toward.ROOT, "DOWN", 54), (bl.Toward.LEAF, "UP", 21)):
        written = last_joint(toward)
        measured = f"{written} operations as written"
        what = f"four-bar, r(O→C) {word}"
        yield Row(what, measured, f"≤ {limit} as written", ok=written <= limit)
    yield operations("crank-rod-disc, [M Q]", crank_rod_disc().equations().joint("M", "Q"), 150)

    # published: 3106 operations, 2.5 s; 36 695 operations, 849 s (Plaza 2015, tables 6.2 and 6.6)
    for model, limit, rounds in ((stewart, 0.3, 10), (locomotive, 10.0, 2)):
        seconds, equations = derived_and_exported(model, 1 if quick else rounds)
        yield against_plain_route(model.__name__, equations)
        yield from elements(model.__name__, equations)
        what = f"{model.__name__}, derive and export everything to C"
        yield below(what, seconds, limit, "s", f", {equations.route}")

    chain = f"{LINKS}-link pendulum"
    chain_seconds, joint = derived_and_compiled(LINKS, 1 if quick else 5)
    yield operations(f"{chain}, [M Q]", joint, 2544)
    yield against_kane(chain, chain_seconds, limit=30.0 if quick else 300.0)


# --------------------------------------------------------------------------------------- operations


def counted(function: bl.Function) -> str:
    """The operations of a function by both rules."""
    count = function.count
    return f"{count.thesis} operations as written, {count.arithmetic} carried out"


def operations(what: str, function: bl.Function, limit: int) -> Row:
    """The number that is judged is the published one's: operations as written."""
    written = function.count.thesis
    return Row(what, counted(function), f"≤ {limit} as written", ok=written <= limit)


#: Of each matrix alone, as written (Plaza 2015, table 6.5; Phi_v is the best of two programs).
PUBLISHED = {
    "stewart": {"M": 486, "Q": 2667, "Phi_v": 368, "gamma": 917},
    "locomotive": {"M": 12782, "Q": 26626, "Phi_v": 7252, "gamma": 28202},
}


def elements(name: str, equations: Equations) -> Iterator[Row]:
    """M, Q, Φ_v and γ, each alone.

    Only informative: the data of both models are not published, and ours have general inertias.
    """
    for what, published in PUBLISHED[name].items():
        function = equations.joint(what)
        yield Row(f"{name}, {what} alone", counted(function), f"published: {published}")


def against_plain_route(name: str, equations: Equations) -> Row:
    """M and Q of the route chosen against those of the published route, on the same model."""
    chosen = equations.joint("M", "Q")
    M, Q = mass_and_forces_thesis(equations.source)
    arrays = {a.name: a.nested([bl.Atom(chosen.table, r) for r in a.refs]) for a in chosen.inputs}
    plain = bl.Function("plain", arrays, {"M": M, "Q": Q})
    numbers = np.random.default_rng(1)
    arguments = [numbers.uniform(0.05, 0.3, a.shape) for a in chosen.inputs]
    for what, ours, theirs in zip(
        "MQ", chosen.interpret(*arguments), plain.interpret(*arguments), strict=True
    ):
        check_equal(f"{what} of {name}", ours, theirs)
    measured = f"{counted(chosen)}; by the published route {counted(plain)}"
    return against(
        f"{name}, [M Q]", chosen.count.arithmetic, plain.count.arithmetic, 0.85, measured
    )


# -------------------------------------------------------------------------------------------- times


def derived_and_exported(model: Model, rounds: int) -> tuple[float, Equations]:
    """CPU seconds from an empty workspace to C on disk, the least of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            equations = model().equations()
            equations.export("c", folder)
            best = min(best, time.process_time() - start)
    return best, equations


def derived_and_compiled(links: int, rounds: int) -> tuple[float, bl.Function]:
    """CPU seconds from coordinates to native code of M and Q, the least of some rounds."""
    best = float("inf")
    before = os.environ.get("BIELA_CACHE")
    os.environ["BIELA_CACHE"] = "off"
    try:
        for _ in range(rounds):
            start = time.process_time()
            function = pendulum(links).equations().joint("M", "Q")
            function.compiled()
            best = min(best, time.process_time() - start)
    finally:
        if before is None:
            del os.environ["BIELA_CACHE"]
        else:
            os.environ["BIELA_CACHE"] = before
    return best, function


# -------------------------------------------------------------------------------------------- SymPy


def against_kane(what: str, ours: float, limit: float) -> Row:
    """Ours with compilation against SymPy's derivation alone, in a process that may be stopped."""
    sympy()
    few = 4
    found = kane_in_new_process(few, limit)
    if found is not None:
        agree(few, found)
    found = kane_in_new_process(LINKS, limit)
    theirs = limit if found is None else found["seconds"]
    spelled = f"> {limit:g} s" if found is None else f"{theirs:.3g} s"
    measured = f"{ours:.3g} s, compiled; SymPy's KanesMethod {spelled}, derived"
    return against(f"{what}, from coordinates to code", ours, theirs, 1 / 50, measured)


def kane_in_new_process(links: int, limit: float) -> dict[str, Any] | None:
    """None if it takes longer than the limit."""
    command = [sys.executable, "-m", "benchmarks.symbolic", str(links)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def agree(links: int, found: dict[str, Any]) -> None:
    """Compare M and Q of a short chain."""
    equations = pendulum(links).equations()
    q, v, tau = chain_state(links)
    check_equal("M of a chain, SymPy", equations.mass(q), found["M"])
    check_equal("Q of a chain, SymPy", equations.forces(q, v, u=tau), found["Q"])


def chain_state(links: int) -> np.ndarray:
    """Angles, their rates and torques."""
    return np.random.default_rng(2).normal(size=(3, links))


def kane(links: int, values: bool) -> dict[str, Any]:
    """The chain of examples/symbolic by SymPy: seconds and, if wanted, M and Q."""
    import sympy as sm
    from sympy.physics import mechanics as me

    start = time.process_time()
    names = f"1:{links + 1}"
    q, u = me.dynamicsymbols(f"theta{names}"), me.dynamicsymbols(f"omega{names}")
    tau, l, m, c, Iyy = (sm.symbols(f"{k}{names}") for k in ("tau", "l", "m", "c", "Iyy"))
    g = sm.Symbol("g")
    ground, joint = me.ReferenceFrame("N"), me.Point("O")
    joint.set_vel(ground, 0)
    base, bodies, loads = ground, [], []
    for i in range(links):
        turned = base.orientnew(f"B{i}", "Axis", (q[i], base.y))
        turned.set_ang_vel(base, u[i] * base.y)
        centre = joint.locatenew(f"G{i}", -c[i] * turned.z)
        centre.v2pt_theory(joint, ground, turned)
        inertia = me.inertia(turned, 0, Iyy[i] - m[i] * c[i] ** 2, 0)
        bodies.append(me.RigidBody(f"rod{i}", centre, turned, m[i], (inertia, centre)))
        loads += [(centre, -m[i] * g * ground.z), (turned, tau[i] * ground.y)]
        if i:
            loads.append((base, -tau[i] * ground.y))
        end = joint.locatenew(f"P{i}", -l[i] * turned.z)
        end.v2pt_theory(joint, ground, turned)
        base, joint = turned, end
    rates = [x.diff() - y for x, y in zip(q, u, strict=True)]
    method = me.KanesMethod(ground, q_ind=q, u_ind=u, kd_eqs=rates)
    method.kanes_equations(bodies, loads)
    M, Q = method.mass_matrix, method.forcing
    result: dict[str, Any] = {"seconds": time.process_time() - start}
    if values:
        function = sm.lambdify([[*q, *u, *tau], g, [*l, *m, *c, *Iyy]], [M, Q])
        # the values of the example
        numbers = np.repeat([0.5, 1.0, 0.25, 0.5**2 / 3], links)
        M, Q = function(chain_state(links).ravel(), 9.81, numbers)
        result |= {"M": M.tolist(), "Q": Q.ravel().tolist()}
    return result


if __name__ == "__main__":
    count = int(sys.argv[1])
    print(json.dumps(kane(count, values=count < LINKS)))
