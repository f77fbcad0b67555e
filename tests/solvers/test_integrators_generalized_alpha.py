from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import biela as bl
from biela.errors import ShapeError
from biela.solvers.integrators import FINISHED, NOT_CONVERGING, GeneralizedAlpha, generalized_alpha
from biela.solvers.integrators.generalized_alpha import augment
from biela.solvers.ldlt import DROP_TOLERANCE, ldlt_factor, ldlt_solve
from tests.routines_in_c import same_bits

G = 9.81


@cache
def pendulum() -> tuple[Any, ...]:
    """A point mass 2 kg on a massless rod of 1 m, in Cartesian coordinates."""
    ws = bl.Workspace("pendulum")
    t = ws.symbol("t")
    x, y, vx, vy, ax, ay, lam, dx, dy = ws.symbols("x y vx vy ax ay lam dx dy")
    c = ws.symbols("c0 c1 c2")
    state = {"t": [t], "q": [x, y], "v": [vx, vy], "a": [ax, ay], "lam": [lam], "p": []}
    r = [2 * ax + 2 * x * lam, 2 * ay + 2 * G + 2 * y * lam, x**2 + y**2 - 1]
    S = [
        [2 * c[0] + 2 * lam * c[2], 0, 2 * x],
        [0, 2 * c[0] + 2 * lam * c[2], 2 * y],
        [2 * x, 2 * y, 0],
    ]
    residual = bl.Function("residual", state, {"r": r})
    tangent = bl.Function("tangent", {**state, "c": c}, {"S": S})
    retract = bl.Function(
        "retract", {"q": [x, y], "d": [dx, dy], "p": []}, {"q_new": [x + dx, y + dy]}
    )
    return residual.native, tangent.native, retract.native


class Run:
    """One run of the method with all the arrays it takes."""

    def __init__(
        self, kernels: tuple[Any, ...], q: Any, v: Any, vdot: Any, lam: Any, span: float,
        steps: int, rho: float = 0.9, iterations: int = 10, tolerance: float = 0.0,
    ) -> None:  # fmt: skip
        nq, nv, nl = len(q), len(v), len(lam)
        stride = steps // 10
        q, v, vdot, lam = (np.array(w, dtype=float) for w in (q, v, vdot, lam))
        self.q, self.v = np.zeros((11, nq)), np.zeros((11, nv))
        self.vdot, self.lam = np.zeros((11, nv)), np.zeros((11, nl))
        self.counts = np.zeros(3, np.int64)
        self.arguments = (
            nq, nv, nl, 0, 10, stride, span / steps, rho, iterations, tolerance, np.zeros(1), q, v,
            vdot, vdot.copy(), lam, np.zeros(0), *kernels, np.zeros(nq), np.zeros((3, nv)),
            np.zeros(nv + nl), np.zeros((nv + nl, nv + nl)), np.zeros(3), self.q, self.v, self.vdot,
            self.lam, self.counts,
        )  # fmt: skip

    def run(self) -> Run:
        self.status = generalized_alpha(*self.arguments)
        return self


def swing(steps: int, **options: Any) -> Run:
    # from the horizontal at rest: v̇ = (0, -g), λ = 0
    return Run(pendulum(), [1, 0], [0, 0], [0, -G], [0], 1.0, steps, **options)


def exact_swing() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angle from the vertical by another integrator: q, v and λ at ten equal times."""
    times = np.linspace(0, 1, 11)
    s = solve_ivp(
        lambda t, y: [y[1], -G * np.sin(y[0])], (0, 1), [np.pi / 2, 0], "DOP853", times,
        rtol=1e-13, atol=1e-13,
    ).y  # fmt: skip
    sin, cos, w = np.sin(s[0]), np.cos(s[0]), s[1]
    # tension m (w² + g cos) = 2 λ |q|, with m = 2
    q = np.stack([sin, -cos], 1)
    return q, np.stack([w * cos, w * sin], 1), w**2 + G * cos


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_pendulum_converges_with_order_two_in_q_v_and_the_multiplier(rho: float) -> None:
    q, v, lam = exact_swing()
    errors = []
    for steps in (400, 800):
        run = swing(steps, rho=rho).run()
        assert run.status == FINISHED
        late = slice(3, None)  # the error of the start, a₀ = v̇₀, has died out
        errors.append(
            [
                np.abs(run.q - q)[late].max(),
                np.abs(run.v - v)[late].max(),
                np.abs(run.lam[:, 0] - lam)[late].max(),
            ]
        )
        assert np.abs((run.q**2).sum(axis=1) - 1).max() < 1e-15
    orders = np.log2(np.divide(errors[0], errors[1]))
    np.testing.assert_allclose(orders, 2.0, atol=0.1)


def test_a_run_in_two_parts_is_the_run_in_one() -> None:
    solver = GeneralizedAlpha(*pendulum(), nq=2, nv=2, nl=1)
    solver.start(0, [1, 0], [0, 0], [0, -G], [0], [])
    first, rest = solver.advance(1 / 400, 4, 40), solver.advance(1 / 400, 6, 40)
    whole = swing(400).run()
    np.testing.assert_allclose(np.append(first.times, rest.times[1:]), np.linspace(0, 1, 11))
    np.testing.assert_allclose(np.concatenate([first.q, rest.q[1:]]), whole.q, atol=1e-13)
    assert (rest.steps, rest.iterations) == (400, 4000)


def test_error_of_the_first_multipliers_dies_out_with_the_spectral_radius() -> None:
    # begun with a speed, λ is off by some percent at first; 0.6¹⁰⁰ of that is nothing
    angle, rate, h = 1.2, 1.0, 0.001
    s, c = np.sin(angle), np.cos(angle)
    turn = -G * s
    vdot = [turn * c - rate**2 * s, turn * s + rate**2 * c]
    solver = GeneralizedAlpha(*pendulum(), nq=2, nv=2, nl=1, rho=0.6)
    solver.start(0, [s, -c], [rate * c, rate * s], vdot, [rate**2 + G * c], [])
    run = solver.advance(h, 200)
    y = solve_ivp(
        lambda t, y: [y[1], -G * np.sin(y[0])], (0, 0.2), [angle, rate], "DOP853", run.times,
        rtol=1e-13, atol=1e-13,
    ).y  # fmt: skip
    error = np.abs(run.lam[:, 0] - (y[1] ** 2 + G * np.cos(y[0])))
    assert error[:10].max() > 1e-3
    assert error[100:].max() < 1e-4


def test_redundant_constraint_is_dropped() -> None:
    ws = bl.Workspace("twice held")
    t = ws.symbol("t")
    x, y, vx, vy, ax, ay, l1, l2 = ws.symbols("x y vx vy ax ay l1 l2")
    c = ws.symbols("c0 c1 c2")
    state = {"t": [t], "q": [x, y], "v": [vx, vy], "a": [ax, ay], "lam": [l1, l2], "p": []}
    phi, lam = x**2 + y**2 - 1, l1 + 3 * l2
    r = [2 * ax + 2 * x * lam, 2 * ay + 2 * G + 2 * y * lam, phi, 3 * phi]
    block = 2 * c[0] + 2 * lam * c[2]
    S = [[block, 0, 0, 0], [0, block, 0, 0], [2 * x, 2 * y, 0, 0], [6 * x, 6 * y, 0, 0]]
    residual = bl.Function("residual", state, {"r": r})
    tangent = bl.Function("tangent", {**state, "c": c}, {"S": S})
    twice = GeneralizedAlpha(residual.native, tangent.native, pendulum()[2], nq=2, nv=2, nl=2)
    once = GeneralizedAlpha(*pendulum(), nq=2, nv=2, nl=1)
    twice.start(0, [1, 0], [0, 0], [0, -G], [0, 0], [])
    once.start(0, [1, 0], [0, 0], [0, -G], [0], [])
    a, b = twice.advance(0.005, 10, 20), once.advance(0.005, 10, 20)
    assert a.status == FINISHED
    np.testing.assert_allclose(a.q, b.q, atol=1e-10)
    np.testing.assert_allclose(a.lam[:, 0], b.lam[:, 0], atol=1e-7)
    np.testing.assert_array_equal(a.lam[:, 1], 0.0)


def test_senseless_options_are_refused() -> None:
    with pytest.raises(ShapeError, match="spectral radius"):
        GeneralizedAlpha(*pendulum(), nq=2, nv=2, nl=1, rho=1.1)
    solver = GeneralizedAlpha(*pendulum(), nq=2, nv=2, nl=1)
    with pytest.raises(ShapeError, match="vdot has 1 numbers"):
        solver.start(0, [1, 0], [0, 0], [0], [0], [])


def test_tolerance_ends_the_iteration_early_and_is_reported_if_not_met() -> None:
    exact, early = swing(200).run(), swing(200, tolerance=1e-12).run()
    np.testing.assert_allclose(early.q, exact.q, atol=1e-10)
    assert early.counts[1] < 0.6 * exact.counts[1]
    assert swing(200, tolerance=1e-12, iterations=1).run().status == NOT_CONVERGING


# --- heavy top: quaternion and body rates --------------------------------------------------------

MASS, ARM = 15.0, 1.0
INERTIA = (0.234375, 0.46875, 0.234375)  # about the mass centre, axes of the body


def rotation(e: Any) -> Any:
    a, b, c, d = e
    return [
        [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
    ]


def cross(a: Any, b: Any) -> list[Any]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


@cache
def heavy_top() -> tuple[Any, ...]:
    """Position of the mass centre x, quaternion e; x - R(e) X = 0 holds the tip."""
    ws = bl.Workspace("top")
    t = ws.symbol("t")
    x, u, xdd, lam = (ws.symbols(f"{k}:3") for k in ("x", "u", "xdd", "lam"))
    e, w, wd, d = ws.symbols("e:4"), ws.symbols("w:3"), ws.symbols("wd:3"), ws.symbols("d:6")
    c = ws.symbols("c:3")
    X = [0, ARM, 0]
    R = rotation(e)
    RX = [sum(R[i][j] * X[j] for j in range(3)) for i in range(3)]
    # Φ = x - R X, Φ_v = [1, R X̃] as δ(R X) = -R X̃ δθ
    X_tilde = [[0, 0, ARM], [0, 0, 0], [-ARM, 0, 0]]
    B = [[sum(R[i][k] * X_tilde[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    Jw = [INERTIA[i] * w[i] for i in range(3)]
    gyroscopic = cross(w, Jw)
    gravity = [0, 0, -MASS * G]
    r = [MASS * xdd[i] - gravity[i] + lam[i] for i in range(3)]
    r += [
        INERTIA[i] * wd[i] + gyroscopic[i] + sum(B[k][i] * lam[k] for k in range(3))
        for i in range(3)
    ]
    r += [x[i] - RX[i] for i in range(3)]
    zero = [[0] * 9 for _ in range(9)]
    S: list[list[Any]] = [list(row) for row in zero]
    for i in range(3):
        S[i][i] = MASS * c[0]
        S[3 + i][3 + i] = INERTIA[i] * c[0]
        S[6 + i][i] = 1
        for j in range(3):
            S[6 + i][3 + j] = B[i][j]
    state = {"t": [t], "q": [*x, *e], "v": [*u, *w], "a": [*xdd, *wd], "lam": lam, "p": []}
    # exp of the rotation vector d as a quaternion, from its series near zero
    theta2 = d[3] ** 2 + d[4] ** 2 + d[5] ** 2
    half = theta2 / 4
    k = 0.5 * (1 - half / 6 * (1 - half / 20 * (1 - half / 42)))
    f = [
        1 - half / 2 * (1 - half / 12 * (1 - half / 30 * (1 - half / 56))),
        *(k * z for z in d[3:]),
    ]
    turned = [
        e[0] * f[0] - e[1] * f[1] - e[2] * f[2] - e[3] * f[3],
        *(e[0] * f[i + 1] + f[0] * e[i + 1] + cross(e[1:], f[1:])[i] for i in range(3)),
    ]
    new = [*(x[i] + d[i] for i in range(3)), *turned]
    return (
        bl.Function("residual", state, {"r": r}).native,
        bl.Function("tangent", {**state, "c": c}, {"S": S}).native,
        bl.Function("retract", {"q": [*x, *e], "d": d, "p": []}, {"q_new": new}).native,
    )


def top_rates(w: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Euler's equations about the tip."""
    tip = np.array(INERTIA) + MASS * ARM**2 * np.array([1, 0, 1])
    g = np.array(rotation(e)).T @ [0, 0, -MASS * G]
    return (np.cross([0, ARM, 0], g) - np.cross(w, tip * w)) / tip


def exact_top(span: float) -> tuple[np.ndarray, ...]:
    def rhs(t: float, y: np.ndarray) -> np.ndarray:
        e, w = y[:4], y[4:]
        a, (b, c, d) = e[0], e[1:]
        E = np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]])
        return np.concatenate([0.5 * E @ w, top_rates(w, e)])

    times = np.linspace(0, span, 11)
    start = np.array([1, 0, 0, 0, *TOP_SPIN])
    y = solve_ivp(rhs, (0, span), start, "DOP853", times, rtol=1e-13, atol=1e-13).y.T
    X = np.array([0, ARM, 0])
    lam = []
    for row in y:
        e, w = row[:4], row[4:]
        wd = top_rates(w, e)
        acceleration = np.array(rotation(e)) @ (np.cross(wd, X) + np.cross(w, np.cross(w, X)))
        lam.append(np.array([0, 0, -MASS * G]) - MASS * acceleration)
    return y[:, :4], y[:, 4:], np.array(lam)


TOP_SPIN = np.array([0.0, 150.0, -4.61538])


def spin(steps: int, span: float) -> Run:
    X = np.array([0, ARM, 0])
    wd = top_rates(TOP_SPIN, np.array([1.0, 0, 0, 0]))
    xdd = np.cross(wd, X) + np.cross(TOP_SPIN, np.cross(TOP_SPIN, X))
    lam = np.array([0, 0, -MASS * G]) - MASS * xdd
    q, v = [*X, 1, 0, 0, 0], [*np.cross(TOP_SPIN, X), *TOP_SPIN]
    return Run(heavy_top(), q, v, [*xdd, *wd], lam, span, steps, iterations=8)


def test_heavy_top_converges_with_order_two_on_its_group() -> None:
    span = 0.2
    e, w, lam = exact_top(span)
    errors = []
    for steps in (800, 1600):
        run = spin(steps, span).run()
        assert run.status == FINISHED
        late = slice(4, None)
        errors.append(
            [
                np.abs(run.q[:, 3:] - e)[late].max(),
                np.abs(run.v[:, 3:] - w)[late].max(),
                np.abs(run.lam - lam)[late].max(),
            ]
        )
        X = np.array([np.array(rotation(row[3:])) @ [0, ARM, 0] for row in run.q])
        assert np.abs(run.q[:, :3] - X).max() < 2e-15
    orders = np.log2(np.divide(errors[0], errors[1]))
    np.testing.assert_allclose(orders, 2.0, atol=0.15)


def test_same_bits_by_numba_python_and_c() -> None:
    same_bits(generalized_alpha, *swing(20).arguments)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_an_unknown_without_inertia_is_solved_for_as_by_gauss(scale: float) -> None:
    """Two unknowns without a diagonal, one held by a constraint of its own, as by a driver."""
    rng = np.random.default_rng(4)
    A = np.zeros((6, 6))
    B = rng.normal(size=(4, 4))
    A[:4, :4] = scale * (B @ B.T + np.eye(4))
    Phi = rng.normal(size=(3, 6))
    Phi[1:, :4] = 0.0
    Phi[1, 5] = 0.0
    K = np.block([[A, Phi.T], [Phi, np.zeros((3, 3))]])
    b = rng.normal(size=9)
    S, x = K.copy(), b.copy()
    S[range(6, 9), range(6, 9)] = 1.0
    augment(6, 3, x, S)
    assert not S[range(6, 9), range(6, 9)].any()
    assert ldlt_factor(9, S, DROP_TOLERANCE) == 9
    ldlt_solve(9, S, x)
    np.testing.assert_allclose(x, np.linalg.solve(K, b), rtol=1e-9, atol=1e-9 * max(scale, 1.0))
    bare = K.copy()
    assert ldlt_factor(9, bare, DROP_TOLERANCE) < 9


def test_without_weights_a_saddle_point_matrix_stays_as_it_is() -> None:
    rng = np.random.default_rng(5)
    S, r = rng.normal(size=(5, 5)), rng.normal(size=5)
    S[3:, 3:] = 0.0
    kept = S.copy(), r.copy()
    augment(3, 2, r, S)
    np.testing.assert_array_equal(S, kept[0])
    np.testing.assert_array_equal(r, kept[1])


def test_the_augmentation_has_the_same_bits_by_numba_python_and_c() -> None:
    rng = np.random.default_rng(6)
    S = rng.normal(size=(5, 5))
    S[3:, 3:] = np.diag([1.0, 0.0])
    same_bits(augment, 3, 2, rng.normal(size=5), S)
