"""Equations solved inside of looped programs, against SciPy, closed forms and plain Newton."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import biela as bl
from biela.code import native
from biela.code.llvm import emit as emit_module
from biela.code.llvm.host import host_lanes
from biela.code.looped import (
    Clear,
    Failure,
    Memory,
    Program,
    Segment,
    Solve,
    Stage,
    Window,
    Write,
)
from biela.code.looped import kernel as kernel_module
from biela.code.looped.blocks import Blocks, Steps
from biela.errors import DomainError, ShapeError

FORMS = ["one by one", "instances in lanes", "states in lanes"]


def kepler() -> bl.Function:
    """E - e sin E = M, and the true distance and its slope at the solution."""
    ws = bl.Workspace("kepler")
    E, M, e = ws.symbol("E"), ws.symbol("M"), ws.parameter("e")
    r = E - e * bl.sin(E) - M
    slope = 1 - e * bl.cos(E)
    return bl.Function(
        "kepler",
        {"x": [E], "m": [M], "p": [e]},
        {"guess": [M], "residual": [r], "next": [E - r / slope], "E": [E], "f": [slope, 1 / slope]},
    )


def dyad() -> bl.Function:
    """Two bars that meet in C: |C - B| = b, |C - D| = c; with velocity and acceleration of C."""
    ws = bl.Workspace("dyad")
    C = [ws.symbol(f"C{k}") for k in "xy"]
    known = [ws.symbol(f"{p}{k}{d}") for p in "BD" for d in ("", "d", "dd") for k in "xy"]
    B, Bd, Bdd, D, Dd, Ddd = (known[k : k + 2] for k in range(0, 12, 2))
    last = [ws.symbol(f"last{k}") for k in range(6)]
    tau = ws.symbol("tau")
    b, c = ws.parameters("b c")
    u = [C[k] - B[k] for k in (0, 1)]
    v = [C[k] - D[k] for k in (0, 1)]
    det = u[0] * v[1] - u[1] * v[0]
    inverse = 1 / det

    def dot(a: Any, b: Any) -> Any:
        return a[0] * b[0] + a[1] * b[1]

    def solve(f: Any, g: Any) -> list[Any]:
        return [(f * v[1] - g * u[1]) * inverse, (u[0] * g - v[0] * f) * inverse]

    r = [(dot(u, u) - b * b) / 2, (dot(v, v) - c * c) / 2]
    step = solve(*r)
    Cd = solve(dot(u, Bd), dot(v, Dd))
    ud, vd = ([Cd[k] - of[k] for k in (0, 1)] for of in (Bd, Dd))
    Cdd = solve(dot(u, Bdd) - dot(ud, ud), dot(v, Ddd) - dot(vd, vd))
    guess = [last[k] + tau * (last[2 + k] + tau * last[4 + k] / 2) for k in (0, 1)]
    return bl.Function(
        "dyad",
        {"x": C, "B": known[:6], "D": known[6:], "last": last, "tau": [tau], "p": [b, c]},
        {
            "guess": guess,
            "residual": r,
            "next": [C[k] - step[k] for k in (0, 1)],
            "positive": [det],
            "C": [*C, *Cd, *Cdd],
        },
    )


def run(stage: Solve, w: np.ndarray, form: str) -> np.ndarray:
    """A stage on a workspace; with states in lanes the same state in all of them."""
    if form != "states in lanes":
        w = w.copy()
        Program([stage], len(w)).run(w)
        return w
    wide = aligned(len(w))
    wide[...] = w[:, None]
    call(Program([stage], len(w)).states_address, wide)
    np.testing.assert_array_equal(wide, np.repeat(wide[:, :1], host_lanes(), 1))
    return wide[:, 0].copy()


def aligned(size: int) -> np.ndarray:
    """A workspace with as many states as the processor has lanes."""
    lanes = host_lanes()
    raw = np.zeros((size + 1) * lanes)
    start = (-raw.ctypes.data // 8) % lanes
    return raw[start : start + size * lanes].reshape(size, lanes)


def call(address: int, w: np.ndarray) -> None:
    """Run native code on a workspace."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(w.ctypes.data)


def kepler_stage(count: int, form: str, **options: Any) -> Solve:
    """Status in places 0 to 2, then M, E, and two results an instance."""
    kernel = options.pop("kernel", None) or kepler()
    first = np.arange(count)
    places: dict[str, Any] = {
        "E": Write(3 + count + first),
        "f": Write(3 + 2 * count + 2 * first),
    }
    options.setdefault("tolerance", 1e-12)
    return Solve(
        kernel,
        {"m": 3 + first},
        {a.name: places[a.name] for a in kernel.outputs if a.name in places},
        np.linspace(0.0, 0.9, count)[:, None],
        independent=form == "instances in lanes",
        status=0,
        **options,
    )


def kepler_workspace(count: int) -> np.ndarray:
    w = np.zeros(3 + 4 * count)
    w[3 : 3 + count] = np.linspace(0.3, 3.0, count)
    return w


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 8, 19])
def test_a_scalar_equation_is_solved_as_by_bisection(count: int, form: str) -> None:
    w = kepler_workspace(count)
    stage = kepler_stage(count, form)
    found = run(stage, w, form)
    M, e = w[3 : 3 + count], stage.parameters[:, 0]
    E = [
        optimize.brentq(lambda x, i=i: x - e[i] * np.sin(x) - M[i], 0, 4, xtol=1e-15)
        for i in range(count)
    ]
    slope = 1 - e * np.cos(E)
    # a residual within the tolerance, over the slope, and rounding
    assert (np.abs(found[3 + count : 3 + 2 * count] - E) <= 1e-12 / slope + 2e-15).all()
    results = found[3 + 2 * count :].reshape(count, 2)
    at = 1 - e * np.cos(found[3 + count : 3 + 2 * count])
    np.testing.assert_allclose(results[:, 0], at, rtol=1e-14)
    np.testing.assert_allclose(results[:, 1], 1 / at, rtol=1e-14)
    assert found[:2].tolist() == [0, 0]


def newton_steps(e: float, M: float, tolerance: float) -> int:
    x, n = M, 0
    while abs(x - e * np.sin(x) - M) > tolerance:
        x -= (x - e * np.sin(x) - M) / (1 - e * np.cos(x))
        n += 1
    return n


@pytest.mark.parametrize("form", FORMS)
def test_steps_are_counted_lane_by_lane(form: str) -> None:
    w = kepler_workspace(19)
    stage = kepler_stage(19, form, tolerance=1e-8)
    expected = [
        newton_steps(e, M, 1e-8) for e, M in zip(stage.parameters[:, 0], w[3:], strict=False)
    ]
    assert len(set(expected)) > 2, "lanes have to end at different times"
    w[2] = 100.0  # added to what is there
    assert run(stage, w, form)[2] == 100 + sum(expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fixed", [0, 1, 3])
def test_a_fixed_number_of_steps_is_made_exactly(form: str, fixed: int) -> None:
    w = kepler_workspace(19)
    stage = kepler_stage(19, form, fixed=fixed, tolerance=np.inf)
    found = run(stage, w, form)
    x, e = w[3:22].copy(), stage.parameters[:, 0]
    for _ in range(fixed):
        x -= (x - e * np.sin(x) - w[3:22]) / (1 - e * np.cos(x))
    np.testing.assert_allclose(found[22:41], x, rtol=1e-14)
    np.testing.assert_allclose(found[41::2], 1 - e * np.cos(x), rtol=1e-13)
    assert found[:3].tolist() == [0, 0, 19 * fixed]


@pytest.mark.parametrize("form", FORMS)
def test_too_few_fixed_steps_are_reported(form: str) -> None:
    found = run(kepler_stage(19, form, fixed=1, tolerance=1e-9), kepler_workspace(19), form)
    # without eccentricity the guess is the solution; the second instance is the first to fail
    assert found[:2].tolist() == [2, Failure.NO_CONVERGENCE]


@pytest.mark.parametrize("form", FORMS)
def test_polishing_ends_at_rounding_whatever_the_tolerance(form: str) -> None:
    w, n = kepler_workspace(19), 19
    exact = run(kepler_stage(n, form, tolerance=1e-14), w, form)
    loose = run(kepler_stage(n, form, tolerance=1e-3), w, form)
    polished = run(kepler_stage(n, form, tolerance=1e-3, polish=2), w, form)
    E = slice(3 + n, 3 + 2 * n)
    assert np.abs(loose[E] - exact[E]).max() > 1e-8
    np.testing.assert_allclose(polished[E], exact[E], rtol=2e-15)
    assert polished[:2].tolist() == [0, 0]
    assert polished[2] == loose[2] + 2 * n
    # a tolerance below rounding is missed, polished or not
    missed = run(kepler_stage(n, form, tolerance=1e-30, polish=1, iterations=9), w, form)
    assert missed[1] == Failure.NO_CONVERGENCE


@pytest.mark.parametrize("form", FORMS)
def test_steps_that_polish_are_made_whatever_they_lead_to(form: str) -> None:
    ws = bl.Workspace("away")
    x, a = ws.symbol("x"), ws.symbol("a")
    kernel = bl.Function(
        "away",
        {"x": [x], "a": [a]},
        {"guess": [a], "residual": [x - a], "next": [x + 1], "y": [x]},
    )
    at = 3 + np.arange(9)
    stage = Solve(
        kernel, {"a": at}, {"y": Write(at)}, status=0, polish=3, independent=form == FORMS[1]
    )
    found = run(stage, np.arange(12.0) * (np.arange(12) > 2), form)
    assert found.tolist() == [0, 0, 27, *range(6, 15)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fixed", [None, 2])
def test_results_are_those_of_the_last_iterate_not_of_the_one_before(
    form: str, fixed: int | None
) -> None:
    ws = bl.Workspace("shared")
    x, a = ws.symbol("x"), ws.symbol("a")
    q = (x * x + a) / 3  # in the step, with a sign, and in the results
    kernel = bl.Function(
        "shared",
        {"x": [x], "a": [a]},
        {"guess": [a], "residual": [x * (x + 3) + a], "next": [-q], "y": [x, -q, q]},
    )
    a_of, n = np.linspace(0.1, 1.0, 11), 11
    stage = Solve(
        kernel, {"a": 3 + np.arange(n)}, {"y": Write(3 + n + 3 * np.arange(n))},
        status=0, tolerance=1e-2, fixed=fixed, iterations=99, independent=form == FORMS[1],
    )  # fmt: skip
    found = run(stage, np.concatenate([np.zeros(3), a_of, np.zeros(3 * n)]), form)
    y = found[3 + n :].reshape(n, 3)
    np.testing.assert_allclose(y[:, 2], (y[:, 0] ** 2 + a_of) / 3, rtol=1e-14)
    np.testing.assert_array_equal(y[:, 1], -y[:, 2])
    assert np.abs(y[:, 0] - y[:, 1]).max() > 1e-5, "the iterates have to differ"


def test_sine_and_cosine_at_the_solution_are_those_of_the_loop() -> None:
    kernel = kepler()
    blocks = Blocks(kepler_stage(1, "", kernel=kernel).equations, Steps.TO_TOLERANCE)
    ops = kernel.table.ops
    names = [
        {bl.atoms.opcodes.NAMES[ops[a]] for a in atoms}
        for atoms in (blocks.before, blocks.head, blocks.step, blocks.after)
    ]
    assert {"sin", "cos"} <= names[1]
    assert not {"sin", "cos"} & (names[0] | names[2] | names[3])


# ------------------------------------------------------------------------------- dyads

HALF = 0.7  # amplitude of the crank


def crank(t: Any) -> np.ndarray:
    """Position, velocity and acceleration of a point that turns to and fro."""
    a, ad, add = 1.7 + HALF * np.sin(t), HALF * np.cos(t), -HALF * np.sin(t)
    z = np.exp(1j * a)
    parts = [z, 1j * ad * z, (1j * add - ad * ad) * z]
    return np.stack([part for p in parts for part in (p.real, p.imag)], -1)


class Chain:
    """Dyads in a row, each on the one before and a point of the ground."""

    def __init__(self, n: int, **options: Any) -> None:
        rng = np.random.default_rng(n)
        self.n = n
        self.ground = np.stack([2.0 * (np.arange(n) + 1), np.zeros(n)], 1)
        self.bars = np.stack([rng.uniform(1.95, 2.05, n), rng.uniform(0.97, 1.03, n)], 1)
        self.memory = memory = Memory({"status": 3, "tau": 1, "crank": 6, "D": 6 * n, "C": 6 * n})
        C = memory.rows("C", 6)
        self.stage = Solve(
            dyad(),
            {
                "B": np.concatenate([[memory.first("crank")], C[:-1]]),
                "D": memory.rows("D", 6),
                "last": C,
                "tau": np.full(n, memory.first("tau")),
            },
            {"C": Write(C)},
            self.bars,
            status=memory.first("status"),
            carried={"last"},
            **options,
        )
        self.program = Program([self.stage], memory.size)

    def exact(self, t: float) -> np.ndarray:
        """Upper meeting points of circles, with rates from the rows of the equations."""
        B, found = crank(t), []
        for D, (b, c) in zip(self.ground, self.bars, strict=True):
            d = B[:2] - D
            size = np.hypot(*d)
            along = (c * c - b * b + size * size) / (2 * size)
            e = d / size
            C = D + along * e + np.sqrt(c * c - along * along) * np.array([e[1], -e[0]])
            J = np.stack([C - B[:2], C - D])
            Cd = np.linalg.solve(J, [J[0] @ B[2:4], 0.0])
            g = [J[0] @ B[4:] - np.sum((Cd - B[2:4]) ** 2), -Cd @ Cd]
            B = np.concatenate([C, Cd, np.linalg.solve(J, g)])
            found.append(B)
        return np.array(found)

    def start(self, w: np.ndarray, t: float = 0.0) -> None:
        """Grounds, and all points at an instant."""
        at = self.exact(t)
        D = np.hstack([self.ground, np.zeros((self.n, 4))])
        for name, rows in (("D", D), ("C", at)):
            values = rows.ravel()
            w[self.memory.places(name)] = values if w.ndim == 1 else values[:, None]

    def status(self, w: np.ndarray) -> np.ndarray:
        return w[self.memory.places("status")]


def test_a_chain_of_dyads_follows_its_crank_one_instant_after_the_other() -> None:
    chain = Chain(12, tolerance=1e-12)
    w = chain.memory.array()
    chain.start(w)
    h = 0.05
    w[chain.memory.first("tau")] = h
    for k in range(1, 41):
        w[chain.memory.places("crank")] = crank(k * h)
        chain.program.run(w)
        found = w[chain.memory.places("C")].reshape(-1, 6)
        np.testing.assert_allclose(found, chain.exact(k * h), rtol=1e-9, atol=1e-9)
    assert chain.status(w)[0] == 0


@pytest.mark.parametrize("h", [0.005, 0.05])
def test_instants_in_lanes_are_predicted_from_the_last_of_the_lanes_before(h: float) -> None:
    chain, lanes = Chain(12, tolerance=1e-12), host_lanes()
    w = aligned(chain.memory.size)
    chain.start(w)
    w[chain.memory.first("tau")] = h * np.arange(1, lanes + 1)
    rounds = 8
    for k in range(rounds):
        t = h * (lanes * k + np.arange(1, lanes + 1))
        w[chain.memory.places("crank")] = crank(t).T
        call(chain.program.states_address, w)
        found = w[chain.memory.places("C")].reshape(-1, 6, lanes)
        for lane in range(lanes):
            np.testing.assert_allclose(found[..., lane], chain.exact(t[lane]), rtol=1e-9, atol=1e-9)
    assert not chain.status(w)[:2].any()
    if h < 0.01:  # a prediction from any other instant would be too far off for one step
        steps = chain.status(w)[2].sum() / (rounds * lanes * 12)
        assert steps < 2.0


def test_lanes_are_what_they_are_one_by_one() -> None:
    chain, lanes = Chain(5, tolerance=1e-6), host_lanes()
    t = 0.3 + 0.2 * np.arange(lanes)
    wide = aligned(chain.memory.size)
    chain.start(wide)
    wide[chain.memory.places("crank")] = crank(t).T
    wide[chain.memory.first("tau")] = t
    alone = []
    for lane in range(lanes):
        w = wide[:, lane].copy()
        chain.program.run(w)
        alone.append(w)
    call(chain.program.states_address, wide)
    np.testing.assert_array_equal(chain.status(wide), chain.status(np.array(alone).T))
    assert len(set(chain.status(wide)[2])) > 1
    np.testing.assert_allclose(wide, np.array(alone).T, rtol=1e-12, atol=1e-12)


def test_the_lane_that_fails_is_seen_and_the_first_instance_in_it() -> None:
    chain, lanes = Chain(5), host_lanes()
    bars = chain.bars.copy()
    bars[2] = 0.4, 0.5  # reaches nobody
    chain.program.set_parameters(0, bars)
    wide = aligned(chain.memory.size)
    chain.start(wide)
    wide[chain.memory.places("crank")] = crank(0.0)[:, None]
    call(chain.program.states_address, wide)
    assert (chain.status(wide)[0] == 3).all()
    assert set(chain.status(wide)[1]) <= {Failure.NO_CONVERGENCE, Failure.NOT_FINITE}

    chain.program.set_parameters(0, chain.bars)
    wide[chain.memory.places("status")] = 0.0
    chain.start(wide)
    wide[chain.memory.first("crank"), lanes - 2] = np.nan
    call(chain.program.states_address, wide)
    failed = np.zeros(lanes)
    failed[lanes - 2] = 1
    np.testing.assert_array_equal(chain.status(wide)[0], failed)
    np.testing.assert_array_equal(chain.status(wide)[1], failed * Failure.NOT_FINITE)


def test_the_other_branch_is_a_failure() -> None:
    chain = Chain(3, labels=np.array([11, 12, 13]))
    w = chain.memory.array()
    chain.start(w)
    w[chain.memory.places("crank")] = crank(0.0)
    C = chain.memory.first("C") + 6
    B, D = w[C - 6 : C - 4], w[chain.memory.first("D") + 6 : chain.memory.first("D") + 8]
    along = (D - B) / np.linalg.norm(D - B)
    offset = w[C : C + 2] - B
    w[C : C + 2] = B + 2 * along * (along @ offset) - offset  # mirrored: the guess of the second
    chain.program.run(w)
    assert chain.status(w)[:2].tolist() == [12, Failure.NOT_POSITIVE]


@pytest.mark.parametrize("form", FORMS[:2])
def test_the_first_failure_of_all_is_kept(form: str) -> None:
    count = 2 * host_lanes() + 3
    w = kepler_workspace(count)
    bad = [4, 6, host_lanes() + 2]
    w[3 + np.array(bad)] = [np.inf, np.nan, np.nan]
    stage = kepler_stage(count, form)
    later = kepler_stage(count, form, kernel=stage.kernel, labels=100 + np.arange(count))
    Program([stage, later], len(w)).run(w)
    assert w[:2].tolist() == [5, Failure.NOT_FINITE]
    good = np.setdiff1d(np.arange(count), bad)
    E, e = w[3 + count + good], stage.parameters[good, 0]
    np.testing.assert_allclose(E - e * np.sin(E), w[3 + good], rtol=1e-11)
    w[:2] = 0.0
    Program([later], len(w)).run(w)
    assert w[0] == 104


# ---------------------------------------------------------------- what kernels may be


def polynomials(m: int) -> tuple[bl.Function, Any]:
    """m quadratic equations with many terms, and Newton's step by elimination in atoms."""
    rng = np.random.default_rng(m)
    ws = bl.Workspace("quadratic")
    x = [ws.symbol(f"x{k}") for k in range(m)]
    p = [ws.parameter(f"p{k}") for k in range(m)]
    A, Q = rng.normal(size=(m, m)) + 3 * np.eye(m), 0.1 * rng.normal(size=(m, m))

    def f(x: Any, p: Any) -> list[Any]:
        return [
            sum(A[i, j] * x[j] + Q[i, j] * x[j] * x[(i + j) % m] for j in range(m)) - p[i]
            for i in range(m)
        ]

    r = f(x, p)
    rows = [list(row) for row in bl.jacobian(r, x).rows]
    right = list(r)
    for k in range(m):
        inverse = 1 / rows[k][k]
        for i in range(k + 1, m):
            factor = rows[i][k] * inverse
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
            right[i] = right[i] - factor * right[k]
    step: list[Any] = [0.0] * m
    for k in reversed(range(m)):
        known = sum((rows[k][j] * step[j] for j in range(k + 1, m)), ws.atom(0.0))
        step[k] = (right[k] - known) / rows[k][k]
    kernel = bl.Function(
        "quadratic",
        {"x": x, "p": p},
        {
            "guess": [p[k] / float(A[k, k]) for k in range(m)],
            "residual": r,
            "next": [x[k] - step[k] for k in range(m)],
            "y": x,
            "pivot": [rows[m - 1][m - 1]],
        },
    )
    return kernel, f


def quadratic_case(m: int, count: int, independent: bool) -> tuple[Solve, Any, np.ndarray]:
    kernel, f = polynomials(m)
    p = np.random.default_rng(1).uniform(-0.3, 0.3, (count, m))
    first = np.arange(count)
    scatter = {"y": Write(3 + m * first), "pivot": Write(3 + m * count + first[:, None])}
    stage = Solve(kernel, {}, scatter, p, independent=independent, status=0, tolerance=1e-13)
    return stage, f, np.zeros(3 + (m + 1) * count)


@pytest.mark.parametrize("form", FORMS)
def test_several_unknowns_are_solved_as_by_scipy(form: str) -> None:
    m, count = 6, 11
    stage, f, w = quadratic_case(m, count, form == FORMS[1])
    found = run(stage, w, form)
    assert found[0] == 0
    for k in range(count):
        p = stage.parameters[k]
        exact = optimize.root(lambda x, p=p: f(x, p), p / 3, tol=1e-14).x
        np.testing.assert_allclose(found[3 + m * k : 3 + m * (k + 1)], exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", [FORMS[0], FORMS[2]])
@pytest.mark.parametrize("chunk", [7, 40])
def test_a_large_kernel_in_parts_does_the_same(
    monkeypatch: pytest.MonkeyPatch, form: str, chunk: int
) -> None:
    whole = []
    for make in (lambda: quadratic_case(4, 3, False), lambda: (kepler_stage(3, form), None, None)):
        stage, _, w = make()
        given = kepler_workspace(3) if w is None else w
        whole.append((stage, given, run(stage, given, form)))
    monkeypatch.setattr(emit_module, "CHUNK", chunk)
    for stage, given, expected in whole:
        kernel_module._of_function.clear()
        found = run(stage, given, form)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("more", [3, 20])
def test_sines_may_stand_before_in_and_after_the_loop(form: str, more: int) -> None:
    ws = bl.Workspace("sines")
    x, a = ws.symbol("x"), ws.symbol("a")
    r = x + 0.3 * bl.cos(x) - a
    one = bl.sin(2 * x) / (2 * bl.sin(x) * bl.cos(x))  # in the step only
    results = [x, bl.tan(x), bl.cos(2 * x), *(bl.sin(k * x + a) for k in range(3, more))]
    kernel = bl.Function(
        "sines",
        {"x": [x], "a": [a]},
        {
            "guess": [a + bl.sin(a) / 4],
            "residual": [r],
            "next": [x - one * r / (1 - 0.3 * bl.sin(x))],
            "y": results,
        },
    )
    n, size = 11, len(results)
    first = np.arange(n)
    stage = Solve(
        kernel, {"a": 3 + first}, {"y": Write(3 + n + size * first)},
        status=0, tolerance=1e-14, independent=form == FORMS[1],
    )  # fmt: skip
    w = np.zeros(3 + n * (size + 1))
    a_of = w[3 : 3 + n] = np.linspace(0.2, 1.4, n)
    found = run(stage, w, form)
    assert found[0] == 0
    for given, y in zip(a_of, found[3 + n :].reshape(n, size), strict=True):
        X = optimize.brentq(lambda x, a=given: x + 0.3 * np.cos(x) - a, -2, 4, xtol=1e-15)
        later = [np.sin(k * X + given) for k in range(3, more)]
        np.testing.assert_allclose(y, [X, np.tan(X), np.cos(2 * X), *later], rtol=0, atol=3e-13)


def test_numbers_may_stand_for_the_guess_and_the_next() -> None:
    ws = bl.Workspace("numbers")
    x, y, a = ws.symbol("x"), ws.symbol("y"), ws.symbol("a")
    kernel = bl.Function(
        "numbers",
        {"x": [x, y], "a": [a]},
        {
            "guess": [0.5, a],
            "residual": [x - 3, y - 2 * a],
            "next": [3.0, 2 * a],
            "z": [x, -y, 0.0],
        },
    )
    for form in FORMS:
        stage = Solve(
            kernel, {"a": 3 + np.arange(9)}, {"z": Write(12 + 3 * np.arange(9))},
            status=0, independent=form == FORMS[1],
        )  # fmt: skip
        w = np.concatenate([np.zeros(3), np.arange(1.0, 10.0), np.ones(27)])
        found = run(stage, w, form)
        assert found[:3].tolist() == [0, 0, 9]
        assert found[12:].tolist() == [z for a in range(1, 10) for z in (3, -2 * a, 0)]


def test_nothing_unknown_is_an_ordinary_stage_with_a_look_at_its_residual() -> None:
    ws = bl.Workspace("root")
    a = ws.symbol("a")
    root = bl.sqrt(a)
    circle = bl.sin(root) ** 2 + bl.cos(root) ** 2 - 1
    kernel = bl.Function("root", {"a": [a]}, {"y": [root], "residual": [circle]})
    n = 19
    for form in FORMS:
        stage = Solve(
            kernel, {"a": 3 + np.arange(n)}, {"y": Write(3 + np.arange(n))},
            status=0, independent=form == FORMS[1],
        )  # fmt: skip
        w = np.concatenate([np.zeros(3), np.arange(n, dtype=float)])
        found = run(stage, w, form)
        np.testing.assert_allclose(found[3:], np.sqrt(np.arange(n)), rtol=1e-15)
        assert found[:3].tolist() == [0, 0, 0]
        w[3 + 12] = -1.0
        assert run(stage, w, form)[:2].tolist() == [13, Failure.NOT_FINITE]


def test_without_equations_the_guess_is_the_solution() -> None:
    ws = bl.Workspace("closed")
    x, a = ws.symbol("x"), ws.symbol("a")
    kernel = bl.Function(
        "closed", {"x": [x], "a": [a]}, {"guess": [2 * a], "y": [x * x], "positive": [x]}
    )
    for form in FORMS:
        stage = Solve(
            kernel, {"a": 3 + np.arange(19)}, {"y": Write(3 + np.arange(19))},
            status=0, independent=form == FORMS[1],
        )  # fmt: skip
        w = np.concatenate([np.zeros(3), np.arange(1.0, 20.0)])
        found = run(stage, w, form)
        assert found[3:].tolist() == [4 * k * k for k in range(1, 20)]
        assert found[0] == 0
        for bad, failure in ((0.0, Failure.NOT_POSITIVE), (np.nan, Failure.NOT_FINITE)):
            w[3 + 9] = bad
            assert run(stage, w, form)[:2].tolist() == [10, failure]


@pytest.mark.parametrize("form", FORMS)
def test_results_are_added_where_that_is_asked(form: str) -> None:
    count = 19
    stage = kepler_stage(count, form)
    w = kepler_workspace(count)
    solved = run(stage, w, form)[3 + count : 3 + 2 * count]
    into = dict(stage.scatter) | {"E": Write(np.full(count, 3 + count), "add")}
    adding = Solve(
        stage.kernel, stage.gather, into, stage.parameters,
        independent=stage.independent, status=0, tolerance=1e-12,
    )  # fmt: skip
    w[3 + count] = 5.0
    assert run(adding, w, form)[3 + count] == pytest.approx(5.0 + solved.sum(), rel=1e-14)


def test_a_carried_array_is_the_last_lane_and_may_be_written_by_its_own_stage() -> None:
    ws = bl.Workspace("carry")
    last, add = ws.symbol("last"), ws.symbol("add")
    kernel = bl.Function("carry", {"last": [last], "add": [add]}, {"y": [last + add]})
    stage = Solve(
        kernel, {"last": np.array([[3]]), "add": np.array([4])}, {"y": Write(np.array([3]))},
        status=0, carried=["last"],
    )  # fmt: skip
    program, lanes = Program([stage], 5), host_lanes()
    w = aligned(5)
    w[3] = 10 * np.arange(lanes)
    w[4] = np.arange(lanes)
    call(program.states_address, w)
    np.testing.assert_array_equal(w[3], 10 * (lanes - 1) + np.arange(lanes))
    call(program.states_address, w)
    np.testing.assert_array_equal(w[3], 11 * (lanes - 1) + np.arange(lanes))
    alone = np.array([0.0, 0, 0, 7, 2])
    program.run(alone)
    assert alone[3] == 9.0


def test_a_window_stands_where_its_shifts_say_and_carried_arrays_where_it_was_before() -> None:
    ws = bl.Workspace("window")
    last, add = ws.symbol("last"), ws.symbol("add")
    kernel = bl.Function("window", {"last": [last], "add": [add]}, {"y": [last + add]})
    window = Window(first=7, count=2, shift=4)
    stage = Solve(
        kernel, {"last": np.array([8]), "add": np.array([[3]])}, {"y": Write(np.array([8]))},
        status=0, carried=["last"], window=window,
    )  # fmt: skip
    program, lanes = Program([stage], 9), host_lanes()
    w, rows = aligned(9), aligned(6).reshape(3, 2, lanes)
    w[3], w[8] = np.arange(lanes), 100.0
    for k in range(3):
        far = [(rows[n].ctypes.data - w[7].ctypes.data) // 8 for n in (k, k - 1)]
        ahead = rows[0].size if k < 2 else 0
        w.reshape(-1)[4 * lanes : 4 * lanes + 3] = far[0], far[1] if k else 0, ahead
        call(program.states_address, w)
        expected = 100.0 + k * (lanes - 1) + np.arange(lanes)
        np.testing.assert_array_equal(rows[k, 1], expected)
    np.testing.assert_array_equal(w[8], 100.0)
    assert not rows[:, 0].any()
    alone = np.array([0.0, 0, 0, 2, 9, 9, 9, 0, 7])
    program.run(alone)
    assert alone[8] == 9.0, "one state at a time it stands in the workspace"


def test_an_array_is_in_the_window_in_all_instances_or_in_none() -> None:
    window = Window(first=6, count=4, shift=4)
    assert window.holds(np.array([[6, 2], [9, 0]]), 2) == (True, False)
    assert window.holds(np.array([6, 8]), 2) == (True, True)
    for places in (np.array([[6, 2], [5, 0]]), np.array([9])):
        with pytest.raises(ShapeError, match="in all instances or in none"):
            window.holds(places, 2)


# ------------------------------------------------------------------------- in programs


def test_segments_let_equations_and_other_kernels_take_turns() -> None:
    n = 6
    ws = bl.Workspace("double")
    a = ws.symbol("a")
    half = bl.Function("half", {"a": [a]}, {"b": [a / 2]})
    w = np.zeros(3 + 4 * n)
    w[3] = 3.0
    solve = kepler_stage(n, "")
    link = np.arange(n - 1)  # the next M is half of E
    halve = Stage(half, {"a": 3 + n + link}, {"b": Write(4 + link)})
    tape = [Segment(k % 2, k // 2, 1) for k in range(2 * n - 1)]
    Program([solve, halve], len(w), tape=tape).run(w)
    M = 3.0
    for k, e in enumerate(solve.parameters[:, 0]):
        E = optimize.brentq(lambda x, e=e, M=M: x - e * np.sin(x) - M, 0, 4, xtol=1e-15)
        assert w[3 + n + k] == pytest.approx(E, rel=1e-13)
        M = E / 2
    # segments of instances in lanes may start anywhere
    w = kepler_workspace(19)
    expected = run(kepler_stage(19, ""), w, FORMS[0])
    parts = [Segment(0, 5, 14), Segment(0, 0, 5)]
    Program([kepler_stage(19, FORMS[1])], len(w), tape=parts).run(w)
    np.testing.assert_allclose(w, expected, rtol=1e-13)


def test_a_program_as_a_function_says_which_states_failed() -> None:
    n = 3
    memory = Memory({"status": 3, "M": n, "E": n, "f": 2 * n})
    program = Program([Clear(0, 3), kepler_stage(n, "")], memory.size)
    f = program.function(memory, ["M"], ["E", "status"])
    rows = np.random.default_rng(4).uniform(0.1, 3.0, (21, n))
    rows[5, 1] = np.nan
    E, status = f.map(rows)
    assert np.flatnonzero(status[:, 0]).tolist() == [5]
    assert Program([kepler_stage(n, "")], memory.size).written[memory.places("status")].all()
    assert status[5, :2].tolist() == [2, Failure.NOT_FINITE]
    for row, found in zip(rows, E, strict=True):
        np.testing.assert_allclose(f(row)[0], found, rtol=1e-13)


def test_a_map_over_instants_carries_on_from_the_start_in_the_workspace_of_one() -> None:
    """Newton's method has two solutions to go to: it stays on that of the start."""
    ws = bl.Workspace("branch")
    x, last, a = ws.symbol("x"), ws.symbol("last"), ws.symbol("a")
    r = x * x - a
    kernel = bl.Function(
        "branch",
        {"x": [x], "last": [last], "a": [a]},
        {"guess": [last], "residual": [r], "next": [x - r / (2 * x)], "y": [x]},
    )
    memory = Memory({"status": 3, "a": 1, "y": 1})
    stage = Solve(
        kernel, {"last": memory.places("y"), "a": memory.places("a")},
        {"y": Write(memory.places("y"))}, status=0, carried=["last"],
    )  # fmt: skip
    f = Program([Clear(0, 3), stage], memory.size).function(memory, ["a"], ["y", "status"])
    a_of = np.linspace(4.0, 30.0, 5 * host_lanes() + 3)[:, None]
    for start in (2.0, -2.0, 2.0):
        memory.view(f.w, "y")[:] = start
        y, status = f.map(a_of)
        assert not status[:, 0].any()
        np.testing.assert_allclose(y, np.sign(start) * np.sqrt(a_of), rtol=1e-10)


def test_other_parameters_and_tolerances_are_data(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = kepler_stage(19, FORMS[1])
    program = Program([stage], 3 + 4 * 19)
    program.states_address  # noqa: B018

    def refuse(name: str, ir: str) -> bytes:
        raise AssertionError(f"{name} was compiled again")

    monkeypatch.setattr(kernel_module, "object_code", refuse)
    monkeypatch.setattr(native, "object_code", refuse)
    kernel_module._loaded.clear()  # as in another process, that has the disk only
    w = kepler_workspace(25)
    other = kepler_stage(25, FORMS[1], tolerance=1e-6, iterations=7, labels=np.arange(5, 30))
    run(other, w, FORMS[1])
    run(kepler_stage(25, FORMS[2], tolerance=1e-3), w, FORMS[2])

    w = kepler_workspace(19)
    program.set_parameters(0, np.zeros((19, 1)))
    program.run(w)
    np.testing.assert_array_equal(w[22:41], w[3:22])


def test_what_an_external_function_raises_comes_out() -> None:
    ws = bl.Workspace("outside")
    x, a = ws.symbol("x"), ws.symbol("a")

    def cube(value: float) -> float:
        if value > 100:
            raise ValueError("too far")
        return value**3

    f = ws.external("cube", 1, cube)
    r = f(x) - a
    kernel = bl.Function(
        "rooted",
        {"x": [x], "a": [a]},
        {"guess": [a], "residual": [r], "next": [x - r / (3 * x * x)], "y": [x]},
    )
    stage = Solve(kernel, {"a": np.arange(3, 6)}, {"y": Write(np.arange(3, 6))}, status=0)
    program = Program([stage], 6)
    w = np.array([0.0, 0, 0, 8, 27, 64])
    program.run(w)
    np.testing.assert_allclose(w[3:], [2, 3, 4], rtol=1e-10)
    with pytest.raises(ValueError, match="too far"):
        program.run(np.array([0.0, 0, 0, 8, 270, 64]))


def test_bad_stages_are_refused_in_words() -> None:
    ws = bl.Workspace("bad")
    x, a = ws.symbol("x"), ws.symbol("a")
    inputs = {"x": [x], "a": [a]}
    gather, scatter = {"a": np.arange(3)}, {"y": Write(np.arange(3))}

    def stage(**outputs: Any) -> Solve:
        given = {"guess": [a], "residual": [x - a], "next": [a], "y": [x]} | outputs
        return Solve(bl.Function("bad", inputs, given), gather, scatter, status=3)

    with pytest.raises(DomainError, match="guess is made before x is known"):
        stage(guess=[x + a])
    with pytest.raises(ShapeError, match="next has an entry for each unknown of x, 1, not 2"):
        stage(next=[a, x])
    with pytest.raises(ShapeError, match="guess has an entry for each unknown"):
        stage(guess=[])
    with pytest.raises(ShapeError, match="status takes 3 places from 3 on; the workspace has 0"):
        Program([stage()], 5)
    kernel = stage().kernel
    for wrong, message in (
        ({"tolerance": 0.0}, "tolerance is a positive number"),
        ({"tolerance": np.nan}, "tolerance is a positive number"),
        ({"tolerance": np.inf}, "tolerance is a positive number"),
        ({"iterations": 0}, "iterations is a whole number from 1"),
        ({"polish": -1}, "polish is a whole number from 0"),
        ({"fixed": 2, "polish": 1}, "no others to polish"),
        ({"carried": ["b"]}, "carried arrays are gathered inputs, a; look at b"),
        ({"labels": np.arange(3)}, "3 whole numbers from 1"),
    ):
        with pytest.raises(ShapeError, match=message):
            Solve(kernel, gather, scatter, status=3, **wrong)
    with pytest.raises(ShapeError, match="each input of the kernel, a"):
        Solve(kernel, gather | {"x": np.arange(3)}, scatter, status=3)
