"""Flexible bodies: against particles, energies, and the beams of the textbooks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq

import biela as bl
from biela.equations import Equations
from biela.equations.beams import vibrations
from biela.equations.energy import applied_power, kinetic_energy, potential_energy
from biela.equations.lagrange import mass_and_forces_lagrange
from biela.equations.newton_euler import wrench_sums
from biela.equations.regressor import regressor
from biela.equations.textbook import mass_and_forces_textbook
from biela.equations.thesis import mass_and_forces_thesis
from biela.errors import BielaError, DomainError, ModelError, ShapeError
from tests.mechanisms import ROUNDING, ROUTES

L, MU, EI = 1.3, 0.7, 2.0
VALUES = {"L": L, "mu": MU, "EI": EI, "g": 9.81, "m_tip": 0.4, "I_tip": 0.05}


# ------------------------------------------------------------------------------ models


def carried_frame(s: bl.SymbolicSystem):
    """A frame that slides along x and turns about two axes, as much as a body can be moved."""
    x, a, b = s.coordinates("x a b")
    base = s.base.rotated("first", "z", a).rotated("second", "y", b)
    return s.origin.offset("P", s.base.vector(x, 0, 0)), base


@cache
def beam_model(modes: int = 2) -> bl.SymbolicSystem:
    """A beam that bends in two planes, with a disc on its tip."""
    s = bl.SymbolicSystem("beam")
    at, base = carried_frame(s)
    length, mu, stiff, g, m_tip, I_tip = s.parameters(**VALUES)
    rod = s.beam(
        "rod", at, base, length, mu, {"y": stiff, "z": 3 * stiff}, modes, polynomials=modes + 1
    )
    tip = rod.marker("tip", 1)
    s.solid(
        "disc", at=tip.point, base=tip.base, mass=m_tip, inertia=tip.base.inertia(I_tip, I_tip / 2)
    )
    s.gravity = (0, 0, -g)
    return s


@cache
def particle_model(modes: int = 2) -> bl.SymbolicSystem:
    """The same, without elasticity, as rigid particles at more places than are needed.

    The shapes are sums of powers of ξ, fitted to those of the beam.
    """
    s = bl.SymbolicSystem("particles")
    at, base = carried_frame(s)
    length, mu, _, g, m_tip, I_tip = s.parameters(**VALUES)
    eta = [s.coordinates([f"rod_{axis}{k + 1}" for k in range(modes)]) for axis in "yz"]
    curves = fitted_powers(modes)
    nodes, weights = np.polynomial.legendre.leggauss(12)

    def place(name, xi):
        y, z = (sum(q * float(c(xi)) for q, c in zip(qs, curves, strict=True)) for qs in eta)
        return at.offset(name, base.vector(length * xi, y, z))

    for n, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
        xi = float(1 + node) / 2
        mass = mu * length * float(weight / 2)
        s.solid(f"particle{n}", at=place(f"Q{n}", xi), base=base, mass=mass)
    slopes = [
        sum(q * float(c.deriv()(1.0)) for q, c in zip(qs, curves, strict=True)) / length
        for qs in eta
    ]
    bent = base.rotated("bent", "-y", slopes[1]).rotated("tip", "z", slopes[0])
    disc = place("tip", 1.0)
    s.solid("disc", at=disc, base=bent, mass=m_tip, inertia=bent.inertia(I_tip, I_tip / 2))
    s.gravity = (0, 0, -g)
    return s


def fitted_powers(modes: int) -> list[np.polynomial.Polynomial]:
    xi = np.linspace(0, 1, 60)
    degree = modes + 2
    return [
        np.polynomial.Polynomial.fit(xi, w(xi), degree).convert()
        for w in vibrations(modes, polynomials=modes + 1).curves
    ]


def strains(modes: int, eta: np.ndarray) -> np.ndarray:
    """K η of the two planes, K = EI / L³ ∫w'' w'' dξ of the fitted powers."""
    bent = [w.deriv(2) for w in fitted_powers(modes)]
    K = np.array([[(v * w).integ()(1.0) for v in bent] for w in bent]) * EI / L**3
    return np.concatenate([K @ eta[:modes], 3 * K @ eta[modes:]])


def states(n: int, seed: int, count: int = 3):
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)) for _ in range(count)]


def at_state(s: bl.SymbolicSystem, what, q, v):
    return s.function("found", {"found": what}).interpret(
        0.0, q, v, np.zeros(0), list(s.parameter_values.values())
    )


def cantilever(modes: int = 2, polynomials: int | None = None, **given) -> bl.SymbolicSystem:
    """A beam clamped to the ground, with a force and a moment at its tip."""
    s = bl.SymbolicSystem("cantilever")
    F, T = s.inputs("F T")
    rod = s.beam("rod", s.origin, s.base, L, MU, {"z": EI}, modes, polynomials=polynomials, **given)
    tip = rod.marker("tip", 1)
    s.wrench(tip, force=(0, 0, F), moment=(0, T, 0))
    s.output("deflection", tip.point.vector.z)
    s.output("slope", bl.atan2(tip.base.vector(1, 0, 0).z, tip.base.vector(1, 0, 0).x))
    return s


def stiffness(eq: Equations) -> np.ndarray:
    """-∂Q/∂q, of a system whose Q is linear."""
    n, m = len(eq.system.q), len(eq.system.u)
    u, v = np.zeros(m), np.zeros(n)
    Q0 = eq.forces(np.zeros(n), v, u=u)
    return np.array([Q0 - eq.forces(e, v, u=u) for e in np.eye(n)]).T


# ----------------------------------------------------------------- against other mechanics


@pytest.mark.parametrize("modes", [1, 2])
def test_mass_and_forces_are_those_of_particles_by_lagrange(modes):
    """Other bodies, other integrals, other derivation: only the shapes are the same."""
    s, other = beam_model(modes), particle_model(modes)
    eq = s.equations()
    M_L, Q_L = mass_and_forces_lagrange(other)
    for q, v in states(len(s.q), seed=modes):
        np.testing.assert_allclose(eq.mass(q), at_state(other, M_L, q, v), **ROUNDING)
        expected = at_state(other, Q_L, q, v)
        expected[3:] -= strains(modes, q[3:])
        np.testing.assert_allclose(eq.forces(q, v), expected, **ROUNDING)


def test_every_route_gives_the_same():
    s = beam_model()
    ((q, v),) = states(len(s.q), seed=7, count=1)
    M_L, Q_L = mass_and_forces_lagrange(s)
    M0, Q0 = at_state(s, M_L, q, v), at_state(s, Q_L, q, v)
    for route in ROUTES:
        M, Q = s.mass_and_forces(route)
        np.testing.assert_allclose(at_state(s, M, q, v), M0, err_msg=str(route), **ROUNDING)
        np.testing.assert_allclose(at_state(s, Q, q, v), Q0, err_msg=str(route), **ROUNDING)


def test_integrals_take_fewer_operations_than_particles():
    """Although the particles have no stiffness, and are as few as can be."""
    modes = 2
    s = bl.SymbolicSystem("few")
    at, base = carried_frame(s)
    eta = s.coordinates([f"eta{k}" for k in range(modes)])
    curves = vibrations(modes, polynomials=modes).curves
    nodes, weights = np.polynomial.legendre.leggauss(modes + 2)
    for n, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
        xi = float(1 + node) / 2
        y = sum(q * float(w(xi)) for q, w in zip(eta, curves, strict=True))
        point = at.offset(f"Q{n}", base.vector(L * xi, y, 0))
        s.solid(f"particle{n}", at=point, base=base, mass=MU * L * float(weight / 2))
    beam = bl.SymbolicSystem("beam")
    at, base = carried_frame(beam)
    beam.beam("rod", at, base, L, MU, {"y": EI}, modes, polynomials=modes)
    found, few = (x.equations().joint("M", "Q").count.arithmetic for x in (beam, s))
    assert found < few


def test_a_particle_on_a_turning_spring_obeys_the_textbook():
    """T = ½ m ((l + r)² θ'² + r'²), V = ½ k r², and a damper along the spring."""
    s = bl.SymbolicSystem("spring")
    theta, r = s.coordinates("theta r")
    m, l, k, d = s.parameters(m=0.8, l=0.6, k=5.0, d=0.3)
    arm = s.base.rotated("arm", "z", theta)
    body = s.flexible(
        "bob", s.origin, arm, [r], masses=[1], places=[(1, 0, 0)], shapes=[[(1, 0, 0)]],
        stiffness=[[k]], damping=[[d]], unit_mass=m, unit_length=l,
    )  # fmt: skip
    assert repr(body) == "FlexibleBody bob: r"
    eq = s.equations()
    for (_, x), (w, u) in states(2, seed=3):
        R = 0.6 + x
        np.testing.assert_allclose(eq.mass([1.0, x]), np.diag([0.8 * R**2, 0.8]), **ROUNDING)
        expected = [-2 * 0.8 * R * w * u, 0.8 * R * w**2 - 5 * x - 0.3 * u]
        np.testing.assert_allclose(eq.forces([1.0, x], [w, u]), expected, **ROUNDING)
    where = s.position(s.origin, body.point("there", 0)).components(arm)[0]
    assert where == l + r


@pytest.mark.parametrize("symbols", [True, False])
def test_a_beam_is_the_cloud_of_its_gauss_points(symbols):
    """The general input, with units that are symbols or numbers, gives the same markers too."""
    models = []
    for general in (False, True):
        s = bl.SymbolicSystem("cloud")
        at, base = carried_frame(s)
        length, mu, stiff, g = (
            s.parameters(**{k: VALUES[k] for k in ("L", "mu", "EI", "g")})
            if symbols
            else (L, MU, EI, 9.81)
        )
        s.gravity = (0, 0, -g)
        if general:
            shapes = vibrations(2)
            nodes, weights = np.polynomial.legendre.leggauss(14)
            # the end as well, a particle without mass
            xi, w = np.append((nodes + 1) / 2, 1.0), np.append(weights / 2, 0.0)
            zero = np.zeros_like(xi)
            K = np.diag(shapes.stiffness)
            rod = s.flexible(
                "rod", at, base, s.coordinates("rod_y1 rod_y2"), w,
                np.stack([xi, zero, zero], axis=1),
                [np.stack([zero, c(xi), zero], axis=1) for c in shapes.curves],
                [[stiff / length**3 * float(k) for k in row] for row in K],
                turns=[np.stack([zero, zero, c.deriv()(xi)], axis=1) for c in shapes.curves],
                unit_mass=mu * length, unit_length=length,
            )  # fmt: skip
            tip = rod.marker("tip", 14)
        else:
            rod = s.beam("rod", at, base, length, mu, {"y": stiff}, 2)
            tip = rod.marker("tip", 1)
        s.wrench(tip, force=(1, 2, 3), moment=(0.3, 0.2, 0.1))
        models.append(s.equations())
    ((q, v),) = states(5, seed=5, count=1)
    one, two = models
    np.testing.assert_allclose(one.mass(q), two.mass(q), **ROUNDING)
    np.testing.assert_allclose(one.forces(q, v), two.forces(q, v), **ROUNDING)


def test_an_unbent_beam_is_a_rigid_rod():
    s = bl.SymbolicSystem("rod")
    at, base = carried_frame(s)
    inertia = base.inertia(yy=MU * L**3 / 3, zz=MU * L**3 / 3)
    s.solid("rod", at, base, mass=MU * L, com=(L / 2, 0, 0), inertia=inertia)
    s.gravity = (0, 0, -9.81)
    rigid = s.equations()
    s = bl.SymbolicSystem("beam")
    at, base = carried_frame(s)
    s.beam("rod", at, base, L, MU, {"y": EI, "z": EI}, 3)
    s.gravity = (0, 0, -9.81)
    bent = s.equations()
    still = np.zeros(6)
    for q, v in states(3, seed=11):
        all_q, all_v = np.concatenate([q, still]), np.concatenate([v, still])
        np.testing.assert_allclose(bent.mass(all_q)[:3, :3], rigid.mass(q), **ROUNDING)
        np.testing.assert_allclose(bent.forces(all_q, all_v)[:3], rigid.forces(q, v), **ROUNDING)


# --------------------------------------------------------------------------- vibrations


def bracketed(equation, near: float) -> float:
    return float(brentq(equation, near - 0.2, near + 0.2, xtol=1e-14))


#: βl of two modes, roots of the frequency equations of Euler and Bernoulli.
EXACT = {
    "clamped-free": [bracketed(lambda b: np.cos(b) + 1 / np.cosh(b), x) for x in (1.8751, 4.6941)],
    "free-free": [bracketed(lambda b: np.cos(b) - 1 / np.cosh(b), x) for x in (4.7300, 7.8532)],
    "clamped-clamped": [
        bracketed(lambda b: np.cos(b) - 1 / np.cosh(b), x) for x in (4.7300, 7.8532)
    ],
    "pinned-pinned": [np.pi, 2 * np.pi],
    "pinned-free": [bracketed(lambda b: np.tan(b) - np.tanh(b), x) for x in (3.9266, 7.0686)],
    "clamped-pinned": [bracketed(lambda b: np.tan(b) - np.tanh(b), x) for x in (3.9266, 7.0686)],
}


def betas(s: bl.SymbolicSystem) -> np.ndarray:
    eq = s.equations()
    M, K = eq.mass(np.zeros(len(s.q))), stiffness(eq)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    return (squares * MU * L**4 / EI) ** 0.25


@pytest.mark.parametrize("ends", EXACT)
def test_frequencies_are_those_of_euler_and_bernoulli(ends):
    s = bl.SymbolicSystem("beam")
    s.beam("rod", s.origin, s.base, L, MU, {"y": EI}, 2, ends=ends)
    np.testing.assert_allclose(betas(s), EXACT[ends], rtol=1e-9)


def test_cantilever_frequencies_come_from_above_with_every_polynomial():
    """One alone, ξ², gives (βl)⁴ = ∫2² dξ / ∫ξ⁴ dξ = 20; more, the Ritz values of ξ², ξ³ …"""
    assert betas(cantilever(1, 1)) == pytest.approx([20**0.25])
    for n in (2, 3, 4):
        i, j = np.meshgrid(np.arange(2, n + 2), np.arange(2, n + 2))
        values = eigh(i * (i - 1) * j * (j - 1) / (i + j - 3), 1 / (i + j + 1), eigvals_only=True)
        assert betas(cantilever(2, n)) == pytest.approx(values[:2] ** 0.25, rel=1e-9)
    errors = np.array([betas(cantilever(2, n)) for n in range(2, 7)]) - EXACT["clamped-free"]
    assert (errors > 0).all()
    assert (np.diff(errors, axis=0) < 0).all()


def test_all_modes_of_a_space_are_uncoupled():
    s = cantilever(4)
    M, K = s.equations().mass(np.zeros(4)), stiffness(s.equations())
    for matrix in (M, K):
        assert np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0
    # ∫w² dξ = ¼ for each exact mode with w(1) = 1
    np.testing.assert_allclose(np.diag(M) / (MU * L), 0.25, rtol=1e-5)


@pytest.mark.parametrize(("load", "deflection", "slope"), [(0, 1 / 3, 1 / 2), (1, -1 / 2, -1)])
def test_a_loaded_tip_goes_where_statics_says(load, deflection, slope):
    """F l³/3EI and F l²/2EI for a force up, -T l²/2EI and -T l/EI for a moment about y.

    Both are cubics, so two polynomials have them.  An upward slope is a turn about -y.
    """
    eq = cantilever(2, 2).equations()
    small = 1e-6
    u = np.zeros(2)
    u[load] = small
    eta = np.linalg.solve(stiffness(eq), eq.forces([0, 0], [0, 0], u=u))
    arm = small * L ** (2 - load) / EI
    found = eq.system.evaluate("outputs", eta)
    np.testing.assert_allclose(found, [deflection * arm * L, slope * arm], rtol=1e-9)


@pytest.mark.parametrize("ends", ["free-free", "clamped-free", "pinned-pinned"])
def test_a_falling_beam_does_not_bend(ends):
    s = bl.SymbolicSystem("falling")
    x, y, z, a, b = s.coordinates("x y z a b")
    base = s.base.euler("beam", "zy", (a, b))
    at = s.origin.offset("P", s.base.vector(x, y, z))
    s.beam("rod", at, base, L, MU, {"y": EI, "z": EI}, 2, ends=ends)
    s.gravity = (0, 0, -9.81)
    q = np.zeros(9)
    q[:5] = [0.3, -0.2, 1.0, 0.7, -0.4]
    eq = s.equations()
    M, Q = eq.mass(q), eq.forces(q, np.zeros(9))
    # not solved, which would magnify rounding by the condition of M
    falling = np.array([0, 0, -9.81, 0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(M @ falling, Q, atol=1e-14 * np.abs(Q).max())
    assert np.linalg.matrix_rank(M) == 9


# ------------------------------------------------------------------------------- energy


def pendulum(damping: float = 0.0) -> bl.SymbolicSystem:
    """A slider from which a flexible rod hangs."""
    s = bl.SymbolicSystem("pendulum")
    x, theta = s.coordinates("x theta")
    arm = s.base.rotated("arm", "y", theta)
    pivot = s.origin.offset("A", s.base.vector(x, 0, 0))
    s.solid("slider", pivot, s.base, mass=0.5)
    s.beam("rod", pivot, arm, L, MU, {"x": EI}, 2, along="-z", damping=damping)
    s.gravity = (0, 0, -9.81)
    return s


@pytest.mark.parametrize("damping", [0.0, 2e-3])
def test_the_energy_of_a_flexible_pendulum_is_kept_but_for_the_damping(damping):
    s = pendulum(damping)
    M, Q = s.equations().system["M"], s.equations().system["Q"]
    energy = kinetic_energy(s) + potential_energy(s)
    other = s.function("energy", {"E": energy, "P": applied_power(s)})
    none = np.zeros(0)

    def rate(t, state):
        q, v = state[:4], state[4:8]
        a = np.linalg.solve(M(t, q, v, none, none), Q(t, q, v, none, none))
        return np.concatenate([v, a, [other(t, q, v, none, none)[1]]])

    start = np.array([0.0, 1.2, 0.05, -0.01, 0, 0, 0, 0, 0])
    end = solve_ivp(rate, (0, 1), start, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    found = [float(other(0.0, x[:4], x[4:8], none, none)[0]) for x in (start, end)]
    assert np.abs(end[2]) > 1e-4  # it did bend
    assert found[1] - found[0] == pytest.approx(end[8], abs=1e-8)
    assert (end[8] < -1e-3) if damping else (end[8] == 0)


def test_the_kinetic_energy_is_half_the_mass_times_the_squares_of_velocities():
    s = beam_model()
    eq = s.equations()
    for q, v in states(len(s.q), seed=13):
        found = at_state(s, kinetic_energy(s), q, v)
        assert found == pytest.approx(v @ eq.mass(q) @ v / 2, rel=1e-12)


def test_what_follows_the_equations_works_with_flexible_bodies(tmp_path):
    s = pendulum()
    eq = s.equations()
    ((q, v),) = states(4, seed=17, count=1)
    expected = np.linalg.solve(eq.mass(q), eq.forces(q, v))
    found = eq.accelerations().interpret(0.0, q, v, np.zeros(0), np.zeros(0))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert any(path.suffix == ".c" for path in eq.export("c", tmp_path))


# ------------------------------------------------------------------------------ refusing


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"along": "w"}, "'w' is not an axis"),
        ({"bending": {"x": 1.0}}, "bends along y, z or both, not along x"),
        ({"bending": {}}, "not along nothing"),
        ({"ends": "clamped"}, "are not two ends"),
        ({"ends": "clamped-loose"}, "use two of free, pinned, clamped"),
        ({"modes": 0}, "0 modes from"),
        ({"modes": 3, "polynomials": 2}, "3 modes from 2 polynomials: at least 3"),
        ({"modes": 2, "ends": "free-free", "polynomials": 3}, "at least 4"),
        ({"polynomials": 50}, "at most 20"),
        ({"length": 0.0}, "length must be positive"),
        ({"mass_per_length": -1.0}, "mass per length must be positive"),
    ],
)
def test_impossible_beams_are_refused(given, message):
    s = bl.SymbolicSystem("beam")
    usual = {"length": L, "mass_per_length": MU, "bending": {"y": EI}}
    with pytest.raises(ModelError, match=message):
        s.beam("rod", s.origin, s.base, **usual | given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"modes": []}, ModelError, "must be different coordinates"),
        ({"modes": ["F"]}, ModelError, "must be different coordinates"),
        ({"masses": [-1.0]}, ModelError, "must be positive"),
        ({"masses": [0.0]}, ModelError, "must be positive"),
        ({"places": [(0, 0)]}, ShapeError, r"places must have the shape \(1, 3\), not \(1, 2\)"),
        ({"shapes": [(1, 0, 0)]}, ShapeError, r"shapes must have the shape \(1, 1, 3\)"),
        ({"places": [(0, np.nan, 0)]}, ShapeError, "places must be finite"),
        ({"stiffness": [[1, 2]]}, ShapeError, "stiffness of body must be 1 by 1"),
    ],
)
def test_impossible_clouds_are_refused(given, error, message):
    s = bl.SymbolicSystem("cloud")
    symbols = {"eta": s.coordinates("eta")[0], "F": s.inputs("F")[0]}
    usual = {"modes": ["eta"], "masses": [1.0], "places": [(0, 0, 0)], "shapes": [[(1, 0, 0)]]}
    given = {"stiffness": [[1.0]]} | usual | given
    given["modes"] = [symbols[name] for name in given["modes"]]
    with pytest.raises(error, match=message):
        s.flexible("body", s.origin, s.base, **given)


def test_a_stiffness_that_makes_energy_is_refused():
    s = bl.SymbolicSystem("cloud")
    shapes = [[(1, 0, 0)], [(0, 1, 0)]]
    with pytest.raises(ModelError, match="stiffness of body is not symmetric"):
        s.flexible(
            "body",
            s.origin,
            s.base,
            s.coordinates("a b"),
            [1],
            [(0, 0, 0)],
            shapes,
            [[1, 2], [3, 4]],
        )


def test_places_off_the_body_are_refused():
    s = bl.SymbolicSystem("beam")
    rod = s.beam("rod", s.origin, s.base, L, MU, {"y": EI})
    with pytest.raises(ModelError, match=r"a fraction of its length, 0 to 1, not 1\.3"):
        rod.point("beyond", 1.3)
    bob = s.flexible(
        "bob", s.origin, s.base, s.coordinates("r"), [1], [(1, 0, 0)], [[(1, 0, 0)]], [[1]]
    )
    with pytest.raises(ModelError, match=r"0\.5 is not the number of one of its 1 particles"):
        bob.point("between", 0.5)


def test_forces_act_on_markers_and_not_on_the_whole_body():
    s = bl.SymbolicSystem("beam")
    rod = s.beam("rod", s.origin, s.base, L, MU, {"y": EI})
    for act in (
        lambda: s.wrench(rod, force=(0, 1, 0)),
        lambda: s.spring("spring", (None, s.origin), (rod, rod.point("tip", 1)), stiffness=1),
    ):
        with pytest.raises(ModelError, match=r"rod is not a solid; .* forces act at a marker"):
            act()


def test_names_frames_and_modes_must_fit():
    s = bl.SymbolicSystem("beam")
    s.beam("rod", s.origin, s.base, L, MU, {"y": EI})
    with pytest.raises(ModelError, match="two solids are called rod"):
        s.solid("rod", s.origin, s.base, mass=1)
    with pytest.raises(DomainError, match="belong to two systems"):
        s.beam("other", bl.SymbolicSystem("second").origin, s.base, L, MU, {"y": EI})
    idle = s.coordinates("idle", inertia=False)
    s.flexible("bob", s.origin, s.base, idle, [1], [(1, 0, 0)], [[(1, 0, 0)]], [[1]])
    with pytest.raises(ModelError, match="idle is declared without inertia, but it is a mode"):
        s.equations()


@pytest.mark.parametrize(
    "derive", [regressor, mass_and_forces_thesis, mass_and_forces_textbook, wrench_sums]
)
def test_what_knows_rigid_bodies_only_says_so(derive):
    with pytest.raises(BielaError, match="knows rigid bodies only, and rod is flexible"):
        derive(pendulum())
