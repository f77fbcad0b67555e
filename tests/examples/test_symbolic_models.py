"""The symbolic example models: published numbers, and mechanics checked from positions alone."""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.equations import Equations
from biela.equations.virtual_power import CANDIDATES, Route
from biela.space import rotation_matrix
from examples.symbolic.block_pendulum import block_pendulum
from examples.symbolic.crank_rod_disc import crank_rod_disc
from examples.symbolic.four_bar import four_bar
from examples.symbolic.locomotive import locomotive
from examples.symbolic.stewart import stewart
from examples.symbolic.ten_link_pendulum import pendulum, ten_link_pendulum

FOLDER = Path(__file__).parents[2] / "examples" / "symbolic"

MODELS = {
    model.__name__: model
    for model in (
        block_pendulum,
        four_bar,
        crank_rod_disc,
        stewart,
        ten_link_pendulum,
        locomotive,
    )
}
CONSTRAINED = ("four_bar", "crank_rod_disc", "stewart", "locomotive")

#: Coordinates, of these without inertia, geometric and other equations, solids.
SIZES = {
    "block_pendulum": (2, 0, 0, 0, 2),
    "four_bar": (3, 0, 2, 0, 3),
    "crank_rod_disc": (5, 2, 3, 1, 3),
    "stewart": (24, 0, 18, 0, 13),
    "ten_link_pendulum": (10, 0, 0, 0, 10),
    "locomotive": (76, 32, 40, 0, 21),
}

#: Vectors in one base each, towards the leaves.
PLAIN = Route(*[bl.Algebra(bl.Toward.LEAF, extended=False)] * 2)


@cache
def derived(name: str, route: Route | None = None) -> Equations:
    """The equations of a model; those of the locomotive are derived by one route only."""
    return MODELS[name]().equations(route or (PLAIN if name == "locomotive" else None))


@dataclass(frozen=True)
class State:
    """Arguments of the functions of a system."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    p: np.ndarray
    lam: np.ndarray

    def moved(self, a: np.ndarray, h: float) -> State:
        """After a short time h at constant acceleration."""
        q = self.q + h * self.v + 0.5 * h**2 * a
        return State(q, self.v + h * a, self.u, self.p, self.lam)


def random_state(name: str, seed: int = 0) -> State:
    """Anywhere, but for the locomotive, whose wheels are to be near the rails."""
    system = derived(name).system
    rng = np.random.default_rng(seed)
    n = len(system.q)
    q, v = rng.normal(scale=0.5, size=n), rng.normal(size=n)
    lam = rng.normal(size=len(system.multipliers))
    if name == "locomotive":
        q, v, lam = 0.01 * q, 0.3 * v, 4e4 * lam
        q[2] += 1.2
    u, p = rng.normal(size=len(system.u)), system.parameters
    return State(q, v, u, p, lam)


def value(name: str, what: str, x: State, route: Route | None = None) -> np.ndarray:
    function = derived(name, route).system[what]
    arguments = {"t": 0.0, "q": x.q, "v": x.v, "u": x.u, "p": x.p, "lam": x.lam}
    return function.interpret(*[arguments[a.name] for a in function.inputs])


def rate(name: str, what: str, x: State, a: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """The time derivative of a quantity along a motion with acceleration a."""
    return (value(name, what, x.moved(a, h)) - value(name, what, x.moved(a, -h))) / (2 * h)


# ------------------------------------------------------------------------------- published numbers


def test_the_block_pendulum_has_the_published_form():
    """The closed form of Plaza (2015), A.1, in numbers; M positive."""
    eq = derived("block_pendulum")
    M = eq.mass([0.2, 0.4])
    Q = eq.forces([0.2, 0.4], [0.5, -0.8], u=[4.0, -0.6])
    np.testing.assert_allclose(M, [[4.2, 0.773691234962], [0.773691234962, 0.65]], rtol=1e-11)
    np.testing.assert_allclose(Q, [3.759351300825, -8.608962907960], rtol=1e-11)


def test_the_four_bar_has_the_numbers_of_its_published_listings():
    """The joint code of Plaza (2015), listing B.5, evaluated; there M and the forces are negative.

    The positions do not close the linkage: the functions are tested, not a motion.
    """
    eq = derived("four_bar")
    p = dict(l1=1.0, l2=0.8, l3=0.9, l4=1.5, g=9.81, m1=2.0, m2=1.5, m3=1.2)
    p |= dict(cg1x=0.5, cg1z=0.05, cg2x=0.4, cg2z=-0.03, cg3x=0.45, cg3z=0.02)
    p |= dict(I1yy=0.7, I2yy=0.35, I3yy=0.4)
    forces = dict(Fx2=1.0, Fz2=-2.0, My2=0.5, Fx3=-1.5, Fz3=0.7, My3=-0.3)
    q, v = np.array([0.3, 0.7, -0.4]), np.array([1.1, -0.6, 0.9])
    u = [forces[entry.name] for entry in eq.system.u]
    found = {
        what: eq.system.evaluate(what, q, v, u=u, p=p)
        for what in ("M", "Q", "Phi", "Phi_q", "Phi_v", "dPhi", "gamma")
    }
    Phi_q = [
        [-1.476875220563, -1.181355013902, -0.508178226056],
        [-2.130380387239, -1.175043898113, -0.742802053419],
    ]
    expected = {
        "M": [
            [9.073119445125, 3.985981239800, 1.313395706325],
            [3.985981239800, 2.298843034474, 0.790421517237],
            [1.313395706325, 0.790421517237, 0.4],
        ],
        "Q": [47.368079887892, 10.812750879026, 4.086200652711],
        "Phi": [0.630380387239, -1.476875220563],
        "Phi_q": Phi_q,
        "Phi_v": Phi_q,
        "dPhi": [-1.373110137728, -2.306913935172],
        "gamma": [2.719909637716, -1.521902970091],
    }
    for what, numbers in expected.items():
        np.testing.assert_allclose(found[what], numbers, rtol=1e-11, err_msg=what)

    # the motion that follows
    M, J = found["M"], found["Phi_v"]
    A = np.block([[M, J.T], [J, np.zeros((2, 2))]])
    solution = np.linalg.solve(A, np.concatenate([found["Q"], found["gamma"]]))
    accelerations = [10.508477125425, -10.504310715494, -11.472941341928]
    np.testing.assert_allclose(solution[:3], accelerations, rtol=1e-10)
    np.testing.assert_allclose(solution[3:], [7.636285935509, -9.500533653733], rtol=1e-10)


# --------------------------------------------------------------------------------------- structure


@pytest.mark.parametrize("name", MODELS)
def test_the_models_have_their_sizes(name):
    eq = derived(name)
    coordinates, without_inertia, geometric, others, solids = SIZES[name]
    assert len(eq.system.q) == coordinates
    assert len(eq.source.solids) == solids
    assert eq.system.geometric == geometric
    assert len(eq.system.multipliers) == geometric + others
    empty = [not any(entry.ref for entry in row) for row in eq.expressions["M"]]
    assert empty == [False] * (coordinates - without_inertia) + [True] * without_inertia


@pytest.mark.parametrize("name", MODELS)
def test_the_mass_matrix_is_symmetric_atom_for_atom(name):
    M = derived(name).expressions["M"]
    refs = [[entry.ref for entry in row] for row in M]
    assert refs == [list(column) for column in zip(*refs, strict=True)]


@pytest.mark.parametrize("name", MODELS)
def test_every_route_gives_the_same_numbers(name):
    # two against the plain one for the locomotive, where all would take long
    routes = CANDIDATES[:2] if name == "locomotive" else CANDIDATES
    for seed in (1, 2):
        x = random_state(name, seed)
        for what in ("M", "Q"):
            expected = value(name, what, x)
            for route in routes:
                found = value(name, what, x, route)
                scale = np.abs(expected).max()
                np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * scale)


def test_absolute_angles_give_the_same_motion_as_relative_ones():
    n, rng = 4, np.random.default_rng(5)
    theta, omega = rng.normal(size=n), rng.normal(size=n)
    tau = rng.normal(size=n)
    relative = pendulum(n).equations()
    absolute = pendulum(n, absolute=True).equations()
    a = np.linalg.solve(relative.mass(theta), relative.forces(theta, omega, u=tau))
    q, v = np.cumsum(theta), np.cumsum(omega)
    b = np.linalg.solve(absolute.mass(q), absolute.forces(q, v, u=tau))
    np.testing.assert_allclose(np.cumsum(a), b, rtol=1e-10)


# ------------------------------------------------------------------------------------- constraints


@pytest.mark.parametrize("name", CONSTRAINED)
def test_the_velocity_equations_are_the_rate_of_the_constraints(name):
    x = random_state(name)
    geometric = derived(name).system.geometric
    dPhi, Phi_v, Phi_q = (value(name, what, x) for what in ("dPhi", "Phi_v", "Phi_q"))
    found = rate(name, "Phi", x, np.zeros_like(x.v))
    np.testing.assert_allclose(dPhi[:geometric], found, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(Phi_v @ x.v - value(name, "beta", x), dPhi, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(Phi_q, Phi_v[:geometric], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CONSTRAINED)
def test_gamma_is_what_the_velocity_equations_need_for_accelerations(name):
    """Along any motion, the rate of Φ' is Φ_v v' - γ."""
    x = random_state(name)
    a = np.random.default_rng(3).normal(size=len(x.v))
    expected = value(name, "Phi_v", x) @ a - value(name, "gamma", x)
    np.testing.assert_allclose(rate(name, "dPhi", x, a), expected, rtol=1e-6, atol=1e-7)


# ------------------------------------------------------------------------- energy, from positions


@cache
def places(name: str) -> bl.Function:
    """Where solids are, r and R, and what acts on them: force, moment, and the point of attack."""
    source, system = derived(name).source, derived(name).system
    base, origin = source.base, source.origin
    r = [list(source.position(origin, b.point).components(base)) for b in source.solids]
    R = [[*row] for b in source.solids for row in rotation_matrix(base, b.base)]
    loads = [
        [
            component
            for vector in (w.force, w.moment, source.position(origin, w.point))
            for component in vector.components(base)
        ]
        for w in source.wrenches
    ]
    inputs = {"q": source.q, "v": source.v}
    for letter, entries in (("u", system.u), ("p", system.p)):
        inputs[letter] = [source.workspace[entry.name] for entry in entries]
    inputs["lam"] = [c.multiplier for c in source.constraint_list]
    outputs = {"r": r, "R": R, "loads": loads or [[source.workspace.atom(0)] * 9]}
    return bl.Function("places", inputs, outputs)


def solid_places(name: str, x: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r, R, loads = places(name).interpret(x.q, x.v, x.u, x.p, x.lam)
    return r, R.reshape(-1, 3, 3), loads


def solid_velocities(name: str, x: State, h: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
    """Rates of r and R by differences."""
    still = np.zeros_like(x.v)
    (r1, R1, _), (r0, R0, _) = (solid_places(name, x.moved(still, k)) for k in (h, -h))
    return (r1 - r0) / (2 * h), (R1 - R0) / (2 * h)


@cache
def solid_masses(name: str) -> bl.Function:
    """Mass, first moment and inertia of each solid, in its own base."""
    source, system = derived(name).source, derived(name).system
    rows = [
        [
            b.mass,
            *b.first_moment.components(b.base),
            *(e for row in b.inertia.components(b.base) for e in row),
        ]
        for b in source.solids
    ]
    inputs = {"p": [source.workspace[entry.name] for entry in system.p]}
    return bl.Function("masses", inputs, {"rows": rows})


def kinetic_energy(name: str, x: State) -> float:
    """Of all solids: ½ m r'² + r' · R' s + ½ tr(R' J R'ᵀ), J the second moments of mass."""
    dr, dR = solid_velocities(name, x)
    total = 0.0
    for v, W, row in zip(dr, dR, solid_masses(name).interpret(x.p), strict=True):
        m, s, inertia = row[0], row[1:4], row[4:].reshape(3, 3)
        J = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        total += 0.5 * m * v @ v + v @ W @ s + 0.5 * np.trace(W @ J @ W.T)
    return float(total)


@pytest.mark.parametrize("name", MODELS)
def test_the_kinetic_energy_is_that_of_the_solids(name):
    for seed in (1, 2):
        x = random_state(name, seed)
        found = 0.5 * x.v @ value(name, "M", x) @ x.v
        assert found == pytest.approx(kinetic_energy(name, x), rel=1e-7)


def applied_power(name: str, x: State) -> float:
    """Power of gravity and of every wrench on the point of the solid where it acts."""
    source = derived(name).source
    r, R, loads = solid_places(name, x)
    dr, dR = solid_velocities(name, x)
    g = x.p[[entry.name for entry in derived(name).system.p].index("g")]
    rows = solid_masses(name).interpret(x.p)
    total = -g * sum(
        row[0] * v[2] + (W @ row[1:4])[2] for row, v, W in zip(rows, dr, dR, strict=True)
    )
    for wrench, load in zip(source.wrenches, loads, strict=False):
        i = source.solids.index(wrench.solid)
        spin = dR[i] @ R[i].T
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        total += load[:3] @ (dr[i] + spin @ (load[6:] - r[i])) + load[3:6] @ omega
    return float(total)


@pytest.mark.parametrize("name", MODELS)
def test_the_kinetic_energy_grows_by_the_power_of_what_acts(name):
    """For motions that the constraints allow; their forces then have no power, whatever Φ is."""
    x = random_state(name, seed=4)
    M, Q = value(name, "M", x), value(name, "Q", x)
    if name in CONSTRAINED:
        J = value(name, "Phi_v", x)
        v = x.v - np.linalg.lstsq(J, J @ x.v, rcond=None)[0]
        x = State(x.q, v, x.u, x.p, x.lam)
        Q, gamma = value(name, "Q", x), value(name, "gamma", x)
        c = len(gamma)
        A = np.block([[M, J.T], [J, np.zeros((c, c))]])
        a = np.linalg.solve(A, np.concatenate([Q, gamma]))[: len(v)]
    else:
        a = np.linalg.solve(M, Q)

    def energy(y: State) -> float:
        return 0.5 * y.v @ value(name, "M", y) @ y.v

    speed = max(1.0, float(np.abs(a).max()))
    h = 1e-4 / speed
    found = (energy(x.moved(a, h)) - energy(x.moved(a, -h))) / (2 * h)
    assert found == pytest.approx(applied_power(name, x), rel=1e-6)


# ----------------------------------------------------------------------------------- the locomotive


def test_the_locomotive_stands_on_its_wheels():
    """Put on the rails at rest, it presses on them with its weight and hardly moves."""
    eq = derived("locomotive")
    names = [entry.name for entry in eq.system.q]
    x = random_state("locomotive")
    q = np.zeros(len(names))
    q[names.index("zWAG")] = 1.2
    for i, name in enumerate(names):
        if name.startswith("s_"):
            q[i] = (-5.0 if name.endswith("T") else 5.0) + (1.05 if name[2] == "F" else -1.05)
        elif name.startswith("v_"):
            q[i] = -0.015

    def at(what: str) -> np.ndarray:
        state = State(q, np.zeros(len(q)), np.zeros(2), x.p, np.zeros(40))
        return value("locomotive", what, state)

    for _ in range(6):
        q = q - np.linalg.lstsq(at("Phi_q"), at("Phi"), rcond=None)[0]
    assert np.abs(at("Phi")).max() < 1e-13

    M, J = at("M"), at("Phi_v")
    A = np.block([[M, J.T], [J, np.zeros((40, 40))]])
    solution = np.linalg.solve(A, np.concatenate([at("Q"), at("gamma")]))
    accelerations, multipliers = solution[:76], solution[76:].reshape(8, 5)
    assert np.abs(accelerations[:3]).max() < 0.1
    weight = 9.81 * solid_masses("locomotive").interpret(x.p)[:, 0].sum()
    assert -multipliers[:, 2].sum() == pytest.approx(weight, rel=1e-2)
    # coincidence carries the load, alignment nothing
    assert np.abs(multipliers[:, 3:]).max() < 1e-6 * weight


# -------------------------------------------------------------------------------------- the scripts


@pytest.mark.parametrize("name", [name for name in MODELS if name != "locomotive"])
def test_the_scripts_run(name, capsys):
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert "arithmetic operations" in capsys.readouterr().out
