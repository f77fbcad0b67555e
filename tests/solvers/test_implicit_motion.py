"""Iterations to f(t, q) = 0 by five methods, against NumPy and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.atoms import Atom, Direction, jacobian
from biela.solvers.implicit_motion import METHODS, ImplicitMotion, Iteration
from biela.solvers.newton import CONVERGED, NOT_CONVERGED
from biela.solvers.quasi_newton import curvature_update


def motion_of(ws: bl.Workspace, q: list[Atom], f: list[Atom]) -> ImplicitMotion:
    """Plain coordinates, with all that follows from f."""
    v = [ws.symbol(f"{x.name}_rate") for x in q]
    delta = [ws.symbol(f"{x.name}_change") for x in q]
    along = Direction(ws, {**dict(zip(q, v, strict=True)), ws.time: 1})
    df = [along(row) for row in f]
    at_rest = {x: 0 for x in v}
    J = [list(row) for row in jacobian(df, v).rows]
    places = [(i, j) for i, row in enumerate(J) for j, e in enumerate(row) if e.ref]
    inputs = {"t": [ws.time], "x": q, "p": []}

    def kernel(name: str, y: list[Atom], state: list[Atom] = q) -> object:
        return bl.Function(name, {**inputs, "x": state}, {"y": y}).native

    moved = [a + b for a, b in zip(q, delta, strict=True)]
    return ImplicitMotion(
        (len(q), len(q)),
        ([i for i, _ in places], [j for _, j in places]),
        len(f),
        0,
        residual=kernel("residual", f),
        entries=kernel("entries", [J[i][j] for i, j in places]),
        retract=bl.Function("retract", {"q": q, "delta": delta}, {"y": moved}).native,
        beta=kernel("beta", [-e for e in bl.substitute(df, at_rest)]),
        gamma=kernel("gamma", [-along(e) for e in df], [*q, *v]),
    )


@pytest.fixture(scope="module")
def circle() -> ImplicitMotion:
    """Two equations in three unknowns."""
    ws = bl.Workspace("circle")
    x, y, z = ws.symbols("x y z")
    return motion_of(ws, [x, y, z], [x**2 + y**2 - 1 - ws.time, x * y + z - 2])


def at(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y, z = q
    f = np.array([x**2 + y**2 - 1, x * y + z - 2])
    return f, np.array([[2 * x, 2 * y, 0.0], [y, x, 1.0]])


NOWHERE = np.zeros(0)


@pytest.mark.parametrize("method", ["newton", "damped", "transpose"])
def test_one_iteration_is_the_step_of_its_formula(circle: ImplicitMotion, method: str) -> None:
    q = np.array([0.7, 0.9, 0.4])
    f, J = at(q)
    if method == "newton":
        step = np.linalg.pinv(J) @ f
    elif method == "damped":
        step = np.linalg.solve(J.T @ J + 0.3**2 * np.eye(3), J.T @ f)
    else:
        w = J @ J.T @ f
        step = (f @ w) / (w @ w) * (J.T @ f)
    once = Iteration(method, damping=0.3, tolerance=1e-30, iterations=1)
    found = circle.position(0.0, q, NOWHERE, once)
    assert found.status == NOT_CONVERGED and found.iterations == 1
    assert np.allclose(found.q, q - step, rtol=0, atol=1e-13)
    assert np.allclose(found.residual, at(q - step)[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_ends_on_the_equations(circle: ImplicitMotion, method: str) -> None:
    options = Iteration(method, tolerance=1e-11, iterations=500)
    found = circle.position(0.0, [0.7, 0.9, 0.4], NOWHERE, options)
    assert found.status == CONVERGED
    assert np.linalg.norm(at(found.q)[0]) < 1e-11


def test_steps_that_make_it_worse_three_times_are_halved() -> None:
    # Newton's method for atan q = 0 runs away from |q| > 1.39
    ws = bl.Workspace("far")
    (x,) = ws.symbols("x")
    f = motion_of(ws, [x], [bl.atan(x)])
    found = f.position(0.0, [3.0], NOWHERE, Iteration(tolerance=1e-12))
    assert found.status == CONVERGED and abs(found.q[0]) < 1e-12


def test_a_residual_that_is_no_number_is_stepped_back_from() -> None:
    # the first step from 0.01 leads far into log of negative numbers
    ws = bl.Workspace("log")
    (x,) = ws.symbols("x")
    f = motion_of(ws, [x], [bl.log(x)])
    found = f.position(0.0, [10.0], NOWHERE, Iteration(tolerance=1e-12))
    assert found.status == CONVERGED and found.q[0] == pytest.approx(1.0, abs=1e-11)


def test_the_size_of_the_correction_may_end_the_iterations(circle: ImplicitMotion) -> None:
    start = [0.7, 0.9, 0.4]
    by_residual = circle.position(0.0, start, NOWHERE, Iteration(tolerance=1e-5))
    by_correction = circle.position(
        0.0, start, NOWHERE, Iteration(tolerance=1e-5, by_correction=True)
    )
    # quadratic: the step that is found small is the one after
    assert by_correction.iterations == by_residual.iterations + 1
    assert np.linalg.norm(by_correction.residual) < 1e-9


@pytest.mark.parametrize("bfgs", [0, 1])
def test_updates_are_the_formulas_and_learn_the_last_step(bfgs: int) -> None:
    random = np.random.default_rng(3)
    A = random.normal(size=(4, 4))
    H, d, g = A @ A.T, random.normal(size=4), random.normal(size=4)
    g *= np.sign(g @ d)
    wanted = H + np.outer(d, d) / (d @ g) - np.outer(H @ g, H @ g) / (g @ H @ g)
    if bfgs:
        u = d / (d @ g) - H @ g / (g @ H @ g)
        wanted += (g @ H @ g) * np.outer(u, u)
    assert curvature_update(4, bfgs, H, d, g, np.zeros(4)) == 1
    assert np.allclose(H, wanted, rtol=1e-12, atol=1e-12)
    assert np.allclose(H @ g, d, rtol=1e-12, atol=1e-12)  # the secant equation
    before = H.copy()
    assert curvature_update(4, bfgs, H, d, -g, np.zeros(4)) == 0 and np.array_equal(H, before)


@pytest.mark.parametrize("method", ["bfgs", "dfp"])
def test_iterations_that_learn_the_curvature_are_those_of_the_textbook(
    circle: ImplicitMotion, method: str
) -> None:
    """BFGS by its product form, DFP by the inverse of that of its dual (Nocedal & Wright, §6.1).

    From the length of steepest descent, with halvings until |f|² falls enough.
    """
    q = np.array([0.2, 1.4, 0.1])
    f, J = at(q)
    g = J.T @ f
    H = np.eye(3) * (g @ g) / np.sum((J @ g) ** 2)
    for count in range(1, 9):
        step, part = -H @ g, 1.0
        while np.sum(at(q + part * step)[0] ** 2) > f @ f + 2e-4 * part * (g @ step):
            part /= 2
        d = part * step
        q = q + d
        f, J = at(q)
        y, g = J.T @ f - g, J.T @ f
        left = np.eye(3) - np.outer(d, y) / (d @ y)
        if method == "bfgs":
            H = left @ H @ left.T + np.outer(d, d) / (d @ y)
        else:
            H = np.linalg.inv(left.T @ np.linalg.inv(H) @ left + np.outer(y, y) / (d @ y))
        options = Iteration(method, tolerance=1e-30, iterations=count)
        found = circle.position(0.0, [0.2, 1.4, 0.1], NOWHERE, options)
        np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-9)


def test_a_followed_motion_has_the_rates_of_its_closed_form() -> None:
    # q = √(1 + t) and its rates
    ws = bl.Workspace("root")
    (x,) = ws.symbols("x")
    f = motion_of(ws, [x], [x**2 - 1 - ws.time])
    start = f.rates(0.0, [1.0, 0.0, 0.0], NOWHERE)
    states, _ = f.follow(0.0, start, NOWHERE, 0.1, 20, Iteration())
    s = 1 + 0.1 * np.arange(21)
    wanted = np.stack([s**0.5, 0.5 * s**-0.5, -0.25 * s**-1.5], axis=1)
    assert np.allclose(states, wanted, rtol=0, atol=1e-13)
