"""Light and small parts on heavy and large ones: their motion has no say in the energy.

So no watch over the energy sees it go wrong.  Accelerations are compared with the solution of
their equations in rational numbers, and a motion with that of the limit of no mass.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import biela as bl
from biela.analysis.one_start import start_state

COORDINATES = ("joint", "reference", "natural", "euler")
ENGINES = (*COORDINATES, "looped")


def bar(m: bl.Model, name: str, length: float, mass: float, axis: float = 1e-3) -> bl.model.Body:
    """A slender bar along x, with a little inertia about its axis."""
    across = mass * length**2 / 12
    return m.body(name, mass=mass, com=(length / 2, 0, 0), inertia=(axis * across, across, across))


def chain(*parts: tuple[float, float], plane: str | None = "xy") -> bl.Model:
    """Pendulums on each other, each with its length and mass."""
    m = bl.Model("chain", **({"plane": plane} if plane else {}))
    m.gravity = (0, -9.81, 0)
    last, far = m.ground, 0.0
    for k, (length, mass) in enumerate(parts):
        body = bar(m, f"p{k}", length, mass)
        axis = "z" if plane or k % 2 == 0 else "y"
        m.joint("revolute", f"J{k}", last.at(far, 0, 0), body, axis=axis, start=0.4 - k)
        last, far = body, length
    return m


def finger(size: float, mass: float, spatial: bool = False, coupled: bool = True) -> bl.Model:
    """A four-bar of some size at the end of an arm of 1 m and 1 kg; its coupler may lack mass."""
    m = bl.Model("finger", **({} if spatial else {"plane": "xy"}))
    m.gravity = (0, -9.81, 0)
    arm = bar(m, "arm", 1.0, 1.0)
    m.joint("revolute", "S", m.ground, arm, start=-0.5)
    a, c = bar(m, "a", 0.2 * size, mass), bar(m, "c", 0.4 * size, mass)
    b = bar(m, "b", 0.6 * size, mass) if coupled else m.body("b")
    m.joint("revolute", "A", arm.at(1, 0, 0), a, start="80 deg")
    m.joint("revolute", "B", a.at(0.2 * size, 0, 0), b, start="-60 deg")
    end, start = b.at(0.6 * size, 0, 0), c.at(0.4 * size, 0, 0)
    m.joint("spherical" if spatial else "revolute", "C", end, start)
    m.joint("revolute", "D", arm.at(1 + 0.5 * size, 0, 0), c, start="70 deg")
    return m


MODELS = {
    "light chain": chain((1.0, 1.0), (1.0, 1e-6), (1e-3, 1e-9)),
    "very light chain": chain((1.0, 1.0), (1.0, 1e-12), (1e-3, 1e-15)),
    "heavy end": chain((1e-3, 1e-9), (1.0, 1e-6), (1.0, 1.0)),
    "light chain in space": chain((1.0, 1.0), (1.0, 1e-6), (1e-3, 1e-9), plane=None),
    "finger of 1 mm": finger(1e-3, 1e-6),
    "finger of 0.1 mm": finger(1e-4, 1e-6),
    "light finger of 0.1 mm": finger(1e-4, 1e-9),
    "coupler without mass": finger(1e-3, 1e-9, coupled=False),
}


def exactly(M, J, Q, gamma) -> np.ndarray:
    """v' of M v' + Jᵀ λ = Q, J v' = γ, whose coefficients are taken as they are."""
    n, m = len(M), len(J)
    A = [[Fraction(0)] * (n + m + 1) for _ in range(n + m)]
    for i in range(n):
        A[i][:n] = map(Fraction, map(float, M[i]))
        A[i][-1] = Fraction(float(Q[i]))
        for k in range(m):
            A[i][n + k] = A[n + k][i] = Fraction(float(J[k][i]))
    for k in range(m):
        A[n + k][-1] = Fraction(float(gamma[k]))
    for k in range(n + m):
        pivot = max(range(k, n + m), key=lambda i: abs(A[i][k]))
        A[k], A[pivot] = A[pivot], A[k]
        for i in range(n + m):
            if i != k and A[i][k]:
                part = A[i][k] / A[k][k]
                A[i] = [x - part * y for x, y in zip(A[i], A[k], strict=True)]
    return np.array([float(A[k][-1] / A[k][k]) for k in range(n)])


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("name", MODELS)
def test_accelerations_of_light_parts_solve_their_equations(name, coordinates):
    system = bl.formulate(MODELS[name], coordinates)
    first = {next(iter(j for j in MODELS[name].joints if j != "S")): 1.0}
    p, u = np.array([e.value for e in system.p]), np.zeros(0)
    q, v = start_state(system, None, first, t=0.0, u=u, p=p)
    given = {"u": u, "p": p}
    M, Q = system.evaluate("M", q, **given), system.evaluate("Q", q, v, **given)
    J, gamma = np.zeros((0, len(v))), np.zeros(0)
    if system.multipliers:
        J, gamma = system.evaluate("Phi_v", q, **given), system.evaluate("gamma", q, v, **given)
    truth = exactly(M, J, Q, gamma)
    results = bl.simulate(system, 1e-6, step=1e-6, v=first)
    # Euler parameters have 1e16 between the largest and the smallest masses of four numbers that
    # are not independent: elimination without pivots keeps six digits of the smallest
    part = 1e-6 if coordinates == "euler" else 1e-8
    np.testing.assert_allclose(results.a[0], truth, rtol=part, atol=1e-9 * np.abs(truth).max())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mass", [1e-6, 1e-9, 1e-12])
def test_a_light_pendulum_on_a_heavy_one_moves_as_one_without_mass(engine, mass):
    """The heavy one swings alone, (m l²/3) θ'' = -m g l/2 cos θ; the light one is hung up there."""

    def slopes(_, x):
        (theta, phi), (w, o) = x[:2], x[2:]
        alpha = -1.5 * 9.81 * np.cos(theta)
        ax = -alpha * np.sin(theta) - w**2 * np.cos(theta)
        ay = alpha * np.cos(theta) - w**2 * np.sin(theta)
        return w, o, alpha, 1.5 * (ax * np.sin(phi) - (ay + 9.81) * np.cos(phi))

    found = solve_ivp(slopes, (0, 1), [0.4, -0.2, 0, 0], "DOP853", rtol=1e-12, atol=1e-12)
    m = chain((1.0, 1.0), (1.0, mass))
    if engine == "looped":
        results = bl.simulate(m, 1.0, step=1e-4, output=0.1, engine="looped")
    else:
        results = bl.simulate(bl.formulate(m, engine), 1.0, step=1e-4, output=0.1)
    R = results.frame("p1").orientation[-1]
    angle = found.y[1, -1]
    np.testing.assert_allclose(R[:2, 0], [np.cos(angle), np.sin(angle)], atol=30 * mass + 1e-8)


SMALL = {
    **{name: MODELS[name] for name in MODELS if "chain" not in name and name != "heavy end"},
    "finger in space": finger(1e-3, 1e-8, spatial=True),
}


@pytest.mark.parametrize("name", SMALL)
def test_coordinates_agree_on_small_loops_of_large_mechanisms(name):
    ends = {}
    # an overconstrained loop takes half a minute to compile in the others
    for engine in COORDINATES[:3] if name == "finger in space" else ENGINES:
        how = {"step": 1e-5, "output": 0.01}
        if engine == "looped":
            results = bl.simulate(SMALL[name], 0.03, engine="looped", **how)
        else:
            results = bl.simulate(bl.formulate(SMALL[name], engine), 0.03, **how)
        ends[engine] = results.frame("c").orientation[-1, :2, 0]
    truth = ends.pop("reference")
    for engine, end in ends.items():
        np.testing.assert_allclose(end, truth, atol=1e-6, err_msg=engine)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("size", [1.0, 1e-2, 1e-3, 3e-4, 1e-4, 3e-5])
def test_a_small_loop_starts_with_the_velocity_asked_for(size, coordinates):
    m = finger(size, 1e-6)
    results = bl.simulate(bl.formulate(m, coordinates), 1e-6, step=1e-6, v={"A": 1.0})
    turning = {body: results.frame(body).angular_velocity[0, 2] for body in ("arm", "a", "b", "c")}
    np.testing.assert_allclose(turning["a"] - turning["arm"], 1.0, rtol=1e-9)
    # the arm rests as nearly as it can, and velocities of the four-bar are those of any size
    unit = bl.simulate(finger(1.0, 1e-6), 1e-6, step=1e-6, v={"A": 1.0})
    for body in ("b", "c"):
        truth = unit.frame(body).angular_velocity[0, 2] - unit.frame("arm").angular_velocity[0, 2]
        np.testing.assert_allclose(turning[body] - turning["arm"], truth, rtol=1e-8)
