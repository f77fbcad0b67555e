"""Forces by groups: against the whole mechanism at once, closed forms and the balance of power."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.forces import GroupForces
from biela.analysis.groups.inverse_dynamics import group_inverse_dynamics
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.instant import Instant
from biela.analysis.reactions import determinate_rows
from biela.equations.groups.lowering import Iteration
from biela.errors import DeadPointError, ModelError, UnknownNameError
from biela.model.files import load
from tests.four_bars import triple_rocker

EXAMPLES = Path(__file__).parents[2] / "examples" / "mechanisms"
#: A gear, redundant joints with a screw and a spring, a force that is a law of time.
SHORT = ("geared_five_bar", "screw_press", "quick_return")
#: Positions to rounding: forces are compared to 1e-10.
SHARP = Iteration(tolerance=1e-10, polish=1)


def _forces(model: bl.Model, coordinates: str = "relative", **options: object) -> GroupForces:
    solver = GroupSolver(model, coordinates=coordinates, iteration=SHARP, **options)
    return GroupForces(solver)


def _agrees_with_all_at_once(model: bl.Model, duration: float = 0.3, step: float = 0.1) -> None:
    """Multipliers, which of them are determinate, and forces in joints."""
    forces = _forces(model)
    t = np.arange(round(duration / step) + 1) * step
    motion, found = forces.run(t)
    whole = model.flattened() if model.parts else model
    system = bl.formulate(whole, "reference")
    reference = bl.kinematics(system, duration, step=step)
    expected = bl.inverse_dynamics(system, reference)
    names = [n for n in system.multipliers if n in found.names]
    # the system counts turns of joints with limits besides
    assert set(found.names) == set(names)
    places = [found.names.index(n) for n in names]
    lam = np.asarray(expected.lam)[:, [system.multipliers.index(n) for n in names]]
    # also those that are not determinate: both take the smallest
    assert np.abs(found.lam[:, places] - lam).max() <= 1e-10 * np.abs(lam).max()
    p, u = (np.array([e.value for e in entries]) for entries in (system.p, system.u))
    for k in (0, len(t) - 1):
        at = Instant(system, float(t[k]), u, p)
        flags = determinate_rows(at.Phi_v(reference.q[k]))
        flags = flags[[system.multipliers.index(n) for n in names]]
        assert (found.determinate[k, places] == flags).all()
    wrenches = bl.joint_reactions(whole, reference, axes="marker")
    mine = forces.joint_reactions(motion, axes="marker")
    assert mine.joints == wrenches.joints
    scale = np.abs(wrenches.wrenches).max()
    assert np.abs(mine.wrenches - wrenches.wrenches).max() <= 1e-10 * scale
    assert (mine.determinate == wrenches.determinate).all()


@pytest.mark.parametrize("name", SHORT)
def test_forces_by_groups_are_those_of_all_equations_at_once(name: str) -> None:
    _agrees_with_all_at_once(load(EXAMPLES / f"{name}.toml"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted(p.stem for p in EXAMPLES.glob("*.toml") if p.stem not in SHORT)
)
def test_forces_by_groups_are_those_of_all_equations_on_the_gallery(name: str) -> None:
    model = load(EXAMPLES / f"{name}.toml")
    if not model.drivers:
        pytest.skip("nothing drives it")
    _agrees_with_all_at_once(model, 0.2)


def chain(n: int) -> bl.Model:
    """A crank and n dyads, each on the one before and on the ground."""
    m = bl.Model("chain", plane="xy", gravity=(0, -9.81, 0))
    crank = m.body("crank", mass=1.0, com=(0.4, 0.1, 0), inertia=(1, 1, 0.3))
    m.joint("revolute", "A", m.ground.at(), crank.at(), start={"angle": 1.2})
    end = crank.at(1.0, 0, 0)
    tip = np.array([np.cos(1.2), np.sin(1.2)])
    for k in range(n):
        pivot = np.array([3.0 * (k + 1), 0.0])
        gap = pivot - tip
        middle, across = (tip + pivot) / 2, np.array([-gap[1], gap[0]])
        half = np.sqrt(2.5**2 - gap @ gap / 4)
        joint = middle + across / np.linalg.norm(across) * half
        rod = m.body(f"rod{k}", mass=2.0, com=(0.9, 0.2, 0), inertia=(1, 1, 0.5))
        arm = m.body(f"arm{k}", mass=1.5, com=(1.1, -0.1, 0), inertia=(1, 1, 0.4))
        towards = [float(np.arctan2(*(joint - x)[::-1])) for x in (tip, pivot)]
        base = m.ground.at(float(pivot[0]), 0, 0)
        m.joint("revolute", f"D{k}", base, arm.at(), start={"angle": towards[1]})
        m.joint("revolute", f"B{k}", end, rod.at())
        m.joint("revolute", f"C{k}", rod.at(2.5, 0, 0), arm.at(2.5, 0, 0))
        end, tip = arm.at(1.0, 0.3, 0), pivot + _turned(towards[1], 1.0, 0.3)
    m.driver("rotary", "motor", coordinate="A.angle", law="1.2 + 0.1*sin(5*t)")
    return m


def _turned(angle: float, x: float, y: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y])


def test_a_chain_of_dyads_hands_its_forces_down_to_the_motor() -> None:
    _agrees_with_all_at_once(chain(3))


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 8])
def test_chains_of_any_length_do(n: int) -> None:
    _agrees_with_all_at_once(chain(n), 0.2)


def test_one_run_two_runs_and_numbers_give_the_same_multipliers() -> None:
    t = np.linspace(0, 0.5, 21)
    forces = _forces(chain(2))
    assert forces.at_once
    motion, once = forces.run(t)
    twice = forces.of(motion)
    assert twice.lam == pytest.approx(once.lam, rel=1e-13)
    some = forces.of(motion.at(np.array([3, 17])))
    assert some.lam == pytest.approx(once.lam[[3, 17]], rel=1e-13)
    forces.runs.native = False
    numbers = forces.of(motion)
    assert numbers.lam == pytest.approx(once.lam, rel=1e-10, abs=1e-10)
    assert numbers.determinate.all() and once.determinate.all()
    aside = _forces(chain(2), lanes="groups")
    assert aside.run(t)[1].lam == pytest.approx(once.lam, rel=1e-12)
    forces.runs.native = True
    room = forces.room(len(t))
    assert forces.run(t, room=room)[1].lam == pytest.approx(once.lam, rel=1e-13)
    assert np.abs(room).max() >= np.abs(once.lam).max()  # stored there
    with pytest.raises(UnknownNameError, match=r"motor\.angle"):
        once["motor.angel"]


def test_a_dead_point_is_told_where_motion_and_forces_come_from_one_run() -> None:
    model, limit = triple_rocker()
    forces = _forces(model)
    assert forces.at_once
    with pytest.raises(DeadPointError, match=r"group RRR \(coupler, rocker; joints"):
        forces.run(np.linspace(0.0, 2 * limit, 101))


def test_the_motor_of_a_slider_crank_gives_what_the_piston_takes() -> None:
    """T = m x'' dx/dθ + F dx/dθ for a piston alone, in closed form."""
    r, L, mass, force, w = 0.3, 1.1, 4.0, 25.0, 7.0
    m = bl.Model("engine", plane="xy", gravity=(0, 0, 0))
    crank, rod = m.body("crank", mass=0.0, inertia=0.0), m.body("rod", mass=0.0, inertia=0.0)
    piston = m.body("piston", mass=mass, inertia=1.0)
    m.joint("revolute", "A", m.ground.at(), crank.at(), start={"angle": 0.4})
    m.joint("revolute", "B", crank.at(r, 0, 0), rod.at())
    m.joint("revolute", "C", rod.at(L, 0, 0), piston.at())
    m.joint("prismatic", "P", m.ground.at(axis="x"), piston.at(axis="x"))
    m.force("wrench", "gas", marker=piston.at(), fx=-force)
    m.driver("rotary", "motor", coordinate="A.angle", law=f"0.4 + {w}*t")
    t = np.linspace(0, 1, 41)
    _, found = _forces(m).run(t)
    a = 0.4 + w * t
    root = np.sqrt(L**2 - (r * np.sin(a)) ** 2)
    slope = -r * np.sin(a) - r**2 * np.sin(a) * np.cos(a) / root
    # x'' = w² d²x/dθ²
    curve = (
        -r * np.cos(a) - r**2 * np.cos(2 * a) / root - r**4 * (np.sin(a) * np.cos(a)) ** 2 / root**3
    )
    torque = (mass * w**2 * curve + force) * slope
    assert -found["motor.angle"] == pytest.approx(torque, abs=1e-10)


def test_motors_give_the_power_that_kinetic_energy_and_forces_take() -> None:
    """Σ -λ f' = d/dt ½ vᵀ M v - vᵀ Q, with a spring, a damper and friction under load."""
    m = chain(1)
    m.force(
        "spring_damper", "spring", i=m.ground.at(0.5, 2.0, 0), j=m.bodies["rod0"].at(1.0, 0, 0),
        stiffness=300.0, damping=20.0, length=1.0,
    )  # fmt: skip
    m.force("torsional", "coil", coordinate="D0.angle", stiffness=8.0, damping=1.0)
    m.force("friction", "drag", coordinate="C0.angle", coefficient=0.2, radius=0.05)
    forces = _forces(m)
    t = np.linspace(0, 0.6, 25)
    _, found = forces.run(t)
    assert not forces.at_once
    blocks = forces.program.blocks
    results = group_inverse_dynamics(m, 0.6, step=0.025, formulation="relative groups")
    shown = np.array([results[f"λ({name})"] for name in found.names]).T
    assert found.lam == pytest.approx(shown, rel=1e-9, abs=1e-9)
    q, v, a = (np.asarray(results[g]) for g in "qva")
    mass = np.zeros((blocks.nv, blocks.nv))
    for b, M in enumerate(blocks.M()):
        mass[3 * b : 3 * b + 3, 3 * b : 3 * b + 3] = M
    needed = [
        v[k] @ (mass @ a[k] - blocks.Q(q[k], v[k], t[k], lam=found.lam[k])) for k in range(len(t))
    ]
    given = -found["motor.angle"] * 0.5 * np.cos(5 * t)
    assert given == pytest.approx(needed, abs=1e-9)
    assert np.abs(given).max() > 1.0
    # friction takes part: without it the motor would give less
    assert np.abs(found.lam[:, found.names.index("C0.x")]).max() > 1.0


def fan(n: int, *, symmetric: bool = True) -> bl.Model:
    """A crank that moves n sliders by rods between two balls."""
    m = bl.Model("fan", gravity=(0, 0, -9.81))
    crank = m.body("crank", mass=1.0, com=(0.1, 0.2, 0.5), inertia=(1, 1.2, 0.9))
    axis = (np.cos(np.pi / 6), -np.sin(np.pi / 6), 0.0)
    m.joint("revolute", "A", m.ground.at(axis=axis), crank.at(axis="x"), start={"angle": 0.0})
    for k in range(n):
        a = 0.3 + 2 * np.pi * k / n
        com = (2.5, 0, 0) if symmetric else (2.5, 0.1, 0)
        rod = m.body(f"rod{k}", mass=1.4, com=com, inertia=(0.1, 1.3, 1.3))
        slider = m.body(f"slider{k}", mass=2.0, com=(0.1, 0, 0.2), inertia=(0.3, 0.2, 0.4))
        m.joint("spherical", f"S{k}", crank.at(0, 0, 2.0), rod.at())
        m.joint("spherical", f"C{k}", rod.at(6.0, 0, 0), slider.at())
        line = (float(np.cos(a)), float(np.sin(a)), 0.0)
        m.joint("prismatic", f"P{k}", m.ground.at(axis=line), slider.at(axis="x"),
                start={"displacement": 5.5})  # fmt: skip
    m.driver("rotary", "motor", coordinate="A.angle", law="2*t")
    return m


def test_rods_between_balls_carry_what_free_rods_that_do_not_spin_carry() -> None:
    """Against the accelerations of the whole mechanism with the spins of its rods left free."""
    model = fan(2)
    results = group_inverse_dynamics(model, 0.2, step=0.1, formulation="relative groups")
    system = bl.formulate(model, "reference")
    speeds = [e.name for e in system.v]
    for k, t in enumerate(results.t):
        v = np.array(results.v[k])
        # how fast a rod turns about its line is nobody's: here it does not
        v[[speeds.index(f"rod{n}.own_wx") for n in range(2)]] = 0.0
        free = bl.reactions(system, results.q[k], v, t=float(t), assemble=False)
        scale = np.abs(free.lam).max()
        assert np.abs(results.lam[k] - free.lam).max() <= 1e-10 * scale
    assert results["missing force"].max() < 1e-10


def test_a_rod_that_would_turn_about_its_line_is_refused() -> None:
    with pytest.raises(ModelError, match="passive spin of rod0"):
        _forces(fan(1, symmetric=False)).run(np.linspace(0, 0.2, 5))


def test_results_have_the_motors_and_count_what_is_indeterminate() -> None:
    model = load(EXAMPLES / "universal_shaft.toml")
    results = group_inverse_dynamics(model, 0.1, step=0.02, formulation="relative groups")
    system = bl.formulate(model, "reference")
    expected = bl.inverse_dynamics(system, bl.kinematics(system, 0.1, step=0.02))
    assert results.groups["lam"].names == expected.groups["lam"].names
    assert np.abs(results.lam - expected.lam).max() <= 1e-10 * np.abs(expected.lam).max()
    assert (results["indeterminate"] == 13).all()
    assert results.statistics is not None
    assert results.statistics.method == "inverse dynamics by relative groups"


def test_what_makes_no_sense_is_refused_in_words() -> None:
    model = chain(1)
    with pytest.raises(ModelError, match="step must be a positive time"):
        group_inverse_dynamics(model, 0.1, step=0.0)
    with pytest.raises(ModelError, match="bodies=True"):
        GroupForces(GroupSolver(model, coordinates="relative", bodies=False, points=["rod0.C0"]))
    solver = GroupSolver(model, coordinates="relative")
    with pytest.raises(ModelError, match="no input 'fource'"):
        GroupForces(solver, {"fource": 1.0})
    with pytest.raises(ModelError, match="'ground' or 'marker'"):
        forces = GroupForces(solver)
        forces.joint_reactions(solver.run([0.0, 0.1]), axes="body")
