"""The constraint-force algorithm on every joint, against articulated bodies, and in rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import biela as bl
from biela.atoms import Atom
from biela.code import Function
from biela.equations import spatial
from biela.equations.spatial import Operators, SpatialTree
from biela.equations.spatial.blocks import rigid_blocks
from biela.equations.spatial.constraint_forces import ConstraintForceSolver, constraint_forces
from biela.equations.spatial.held_forces import force_split
from biela.equations.spatial.parallel import chain_accelerations
from biela.errors import ModelError, ShapeError
from biela.model.joints import Coordinate, Joint
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.primitives import Primitive
from biela.model.quantities.values import Number
from tests.equations.spatial.closed_models import (
    assembled,
    bricard,
    called,
    cells,
    expected,
    four_bar,
    stewart,
)
from tests.equations.spatial.trees import KINDS, Floats, random_tree, spatial_chain, state

METHOD = "constraint forces"
MOVING = {kind: (kind, settings) for kind, settings in KINDS if kind != "fixed"}


def check(m: bl.Model, q: Floats, v: Floats, a: Floats, **options: Any) -> None:
    """Both ways give the same to 1e-14 · cond(M) for each body, and the motion asked for."""
    p = [list(m.parameters.values())] if m.parameters else []
    rotors = {"rotors": options["rotors"]} if "rotors" in options else {}
    wrenches = options.pop("wrenches", None)
    more = [*([wrenches] if wrenches is not None else []), *p]
    tau = spatial.inverse_dynamics(m, **options).interpret(q, v, a, *more)
    M = spatial.mass_matrix(m, **rotors).interpret(q, *p)
    allowed = 1e-14 * np.linalg.cond(M) * len(m.bodies) * np.abs(a).max()
    found = {
        method: spatial.forward_dynamics(m, method, **options).interpret(q, v, tau, *more)
        for method in (METHOD, "articulated")
    }
    np.testing.assert_allclose(found[METHOD], found["articulated"], rtol=0, atol=allowed)
    # τ has the rounding of inverse dynamics, which M⁻¹ enlarges by cond(M) once more
    np.testing.assert_allclose(found[METHOD], a, rtol=0, atol=10 * allowed)


# ------------------------------------------------------------------------- joints


@pytest.mark.parametrize("kind", MOVING)
def test_every_joint_moves_as_with_articulated_bodies(kind: str) -> None:
    for seed, chain in ((41, True), (42, False)):
        m = random_tree(4, seed, (MOVING[kind],), chain=chain)
        check(m, *state(SpatialTree(m), seed))


@pytest.mark.parametrize("seed", [51, 52, 53])
def test_trees_of_all_joints_with_rotors_and_forces_at_their_tips(seed: int) -> None:
    m = random_tree(8, seed)
    tree = SpatialTree(m)
    random = np.random.default_rng(seed)
    chosen = [name for name in tree.scalars if random.random() < 0.6]
    assert len(chosen) >= 3
    rotors = {name: float(random.uniform(0.1, 2.0)) for name in chosen}
    for k, name in enumerate(chosen[:2]):
        m.force("friction", f"friction_{k}", coordinate=name, viscous=0.7, kinetic=0.2)
    tip = m.bodies["b7"].marker("tip", (0.1, 0.2, 0.3), axis=(1, 2, 3))
    m.force("spring_damper", "s", i=m.ground, j=tip, stiffness=30.0, length=0.4, damping=2.0)
    wrenches = random.normal(size=(2, 6))
    check(m, *state(tree, seed), rotors=rotors, external=("b7.tip", "b2"), wrenches=wrenches)


def special_states(tree: SpatialTree) -> list[Floats]:
    """All coordinates at quarter turns, and balls turned by half and third turns."""
    half = math.sqrt(0.5)
    turns = [
        (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1),
        (half, 0, half, 0), (half, 0, -half, 0), (0.5, 0.5, 0.5, 0.5), (half, 0, 0, -half),
    ]  # fmt: skip
    found = []
    for k, turn in enumerate(turns):
        q = np.full(len(tree.q), (k - 4) * math.pi / 2)
        for first, _ in tree.quaternions:
            q[first : first + 4] = turn
        found.append(q)
    return found


@pytest.mark.parametrize("kind", MOVING)
@pytest.mark.parametrize("turned", [False, True])
def test_held_forces_complete_the_motions_in_all_positions(kind: str, turned: bool) -> None:
    """Hᵀ G = 1 and Hᵀ W = 0 for joints along the axes, where directions are as bad as they get."""
    m = bl.Model("two")
    one = m.body("one", mass=1.0, inertia=(1, 1, 1))
    markers = [m.ground.at(0, 0, 0.5), one.at(0.2, 0, 0)]
    m.joint(kind, "J", *markers[:: -1 if turned else 1], **MOVING[kind][1])
    tree = SpatialTree(m)
    (block,) = rigid_blocks(tree)
    split = force_split(tree, block)
    assert len(split.W) == 6 - len(tree.v)
    ws = tree.workspace
    rows = {"H": block.H, "G": split.G, "W": split.W}
    f = Function(
        "split",
        {"q": tree.q},
        {
            name: [[ws.atom(x) for x in c] for c in columns]
            for name, columns in rows.items()
            if columns
        },
    )
    random = [state(tree, seed)[0] for seed in range(10)]
    for q in special_states(tree) + random:
        H, G, *held = f.interpret(q)
        np.testing.assert_allclose(G @ H.T, np.eye(len(H)), atol=1e-12)
        if held:
            W = held[0]
            np.testing.assert_allclose(W @ H.T, 0, atol=1e-13)
            # a basis with no direction close to the others: the length of a slide is its lever
            lever = 1 + np.abs(q).max()
            assert np.linalg.svd(W / np.linalg.norm(W, axis=1)[:, None])[1][-1] > 0.2 / lever**2


@dataclass(frozen=True, kw_only=True)
class Wrist(Joint):
    """Three hinges that neither meet nor are at right angles, and a slide between them."""

    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("a", "rad"),
        Coordinate("b", "rad"),
        Coordinate("s", "m"),
        Coordinate("c", "rad"),
    )

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        del number
        a, b, s, c = q
        return [
            Rotate("x", a),
            Translate("y", 0.1),
            Rotate("z", 0.4),
            Rotate("y", b),
            Translate("x", s),
            Translate("z", 0.2),
            Rotate("x", 0.3),
            Rotate("z", c),
        ]

    def conditions(self) -> Sequence[Primitive]:
        return []


def test_a_joint_of_ones_own_holds_what_its_motions_leave() -> None:
    m = bl.Model("wrists")
    before: Any = m.ground
    for k in range(3):
        body = m.body(f"b{k}", mass=1.0 + k, com=(0.1, 0.2, -0.1), inertia=(0.1, 0.12, 0.08))
        pair = [before.at(0.1, 0.2, 0.3, axis=(1, 1, 0)), body.at(0, 0.1, 0, axis=(1, 0, 2))]
        i, j = pair[:: -1 if k == 1 else 1]
        m.add(Wrist(name=f"W{k}", i=i, j=j))
        before = body
    for seed in (1, 2):
        check(m, *state(SpatialTree(m), seed))


# ------------------------------------------------------------- rotors and parameters


def test_masses_places_springs_and_a_rotor_may_be_parameters() -> None:
    m = bl.Model("spring arm")
    m.parameter("l", 0.7)
    m.parameter("m2", 1.1)
    m.parameter("tilt", 0.3)
    m.parameter("J", 0.4)
    one = m.body("one", mass=2.0, com=(0.2, 0, 0.1), inertia=(0.1, 0.2, 0.15))
    two = m.body("two", mass="m2", com=("0.5*l", 0, 0), inertia=(0.1, 0.1, "0.2*m2*l^2"))
    m.joint("universal", "A", m.ground, one, axis="y")
    m.joint("cylindrical", "B", one.at("l", 0, 0.1, angles=("xy", ("tilt", 0.4))), two)
    m.force("torsional", "t", coordinate="A.first", stiffness=20.0, rest=0.2, damping=0.7)
    m.force("friction", "f", coordinate="B.displacement", viscous=3.0, kinetic=0.4)
    check(m, *state(SpatialTree(m), 8), rotors={"A.second": "J", "B.angle": "0.1*J"})
    # a rotor that a parameter takes away
    m.parameters["J"] = 0.0
    check(m, *state(SpatialTree(m), 8), rotors={"A.second": "J"})


def test_the_force_of_a_rotor_is_its_inertia_times_its_acceleration() -> None:
    m = spatial_chain(3)
    tree = SpatialTree(m, rotors={"J2": 0.25})
    q, v, a = state(tree, 3)
    found = constraint_forces(tree, tree.tau)
    f = Function("F_S", {"q": tree.q, "v": tree.v, "tau": tree.tau}, {"F_S": found.F_S})
    tau = spatial.inverse_dynamics(m, rotors={"J2": 0.25}).interpret(q, v, a)
    F_S = f.interpret(q, v, tau)
    assert len(F_S) == 5 + 6 + 5
    assert F_S[10] == pytest.approx(-0.5 * a[1], rel=1e-11)
    with pytest.raises(ModelError, match=r"rotor along J2\.angle_rate has the inertia -1"):
        spatial.forward_dynamics(m, METHOD, rotors={"J2": -1.0})


# ------------------------------------------------------------------------ topology


def test_bodies_welded_together_are_one_and_may_be_frames_without_mass() -> None:
    m = random_tree(5, 61, (MOVING["revolute"], MOVING["universal"]))
    tool = m.body("tool")
    m.joint("fixed", "flange", m.bodies["b2"].at(0.1, 0, 0.2, axis=(1, 1, 0)), tool)
    ball = m.body("ball", mass=0.7)
    m.joint("fixed", "screw", tool.at(0, 0.1, 0), ball)
    finger = m.body("finger", mass=0.4, inertia=(0.01, 0.02, 0.015))
    m.joint("spherical", "knuckle", ball.at(0, 0, 0.1), finger.at(0.1, 0, 0))
    stand = m.body("stand")
    m.joint("fixed", "floor", m.ground, stand)
    extra = m.body("extra", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("planar", "table", stand.at(0, 0, 1), extra.at(0.1, 0, 0))
    assert len(rigid_blocks(SpatialTree(m))) == 7
    check(m, *state(SpatialTree(m), 61))


def test_bodies_without_mass_between_joints_make_them_one() -> None:
    m = bl.Model("shoulder")
    before: Any = m.ground
    for side in range(2):
        for k, kind in enumerate(("revolute", "universal", "prismatic")):
            solid = (
                {"mass": 2.0, "com": (0.1, 0.2, 0), "inertia": (0.1, 0.2, 0.15)} if k == 2 else {}
            )
            body = m.body(f"b{side}{k}", **solid)
            place = before.at(0.1 * k, 0.2, 0.1, axis=(1, k, 2 - k))
            m.joint(kind, f"j{side}{k}", place, body.at(0, 0.05, 0.1))
            before = body
    tree = SpatialTree(m)
    assert [len(block.v) for block in rigid_blocks(tree)] == [4, 4]
    check(m, *state(tree, 4), rotors={"j00": 0.2, "j12": 0.3})


def test_a_body_meets_its_parent_and_what_its_parent_carries_and_nothing_else() -> None:
    m = random_tree(9, 71, tuple(MOVING.values()))
    tree = SpatialTree(m)
    solver = ConstraintForceSolver(tree)
    ends = np.cumsum([0] + [len(W) for W in solver.W])
    A = solver.A()
    L = solver.factors.L
    parents = [block.parent for block in solver.blocks]
    assert max(parents.count(p) for p in parents if p >= 0) > 1
    for i, p in enumerate(parents):
        for j in range(i):
            meets = j == p or (p >= 0 and parents[j] == p)
            for matrix in (A, L):
                cut = [matrix[r][ends[j] : ends[j + 1]] for r in range(ends[i], ends[i + 1])]
                filled = any(not isinstance(x, float) or x != 0.0 for row in cut for x in row)
                assert filled == (meets and bool(solver.W[i]) and bool(solver.W[j]))


def test_each_further_body_costs_the_same() -> None:
    kinds = [MOVING[kind] for kind in ("universal", "cylindrical", "spherical", "planar")]
    counts = []
    for n in (8, 12, 16):
        m = bl.Model("chain")
        before: Any = m.ground
        for k in range(n):
            body = m.body(f"b{k}", mass=1.0, com=(0.1, 0.2, 0), inertia=(0.1, 0.2, 0.15))
            kind, settings = kinds[k % 4]
            m.joint(kind, f"j{k}", before.at(0.5, 0, 0), body, **settings)
            before = body
        counts.append(len(spatial.forward_dynamics(m, METHOD).schedule.operations))
    assert counts[2] - counts[1] == counts[1] - counts[0]


# -------------------------------------------------------------------------- energy


def test_the_energy_of_a_tree_of_all_joints_grows_by_the_power_of_its_motors() -> None:
    m = random_tree(7, 81)
    tree = SpatialTree(m)
    q, v, _ = state(tree, 81)
    tau = np.random.default_rng(81).normal(size=len(v))
    rotors = {name: 0.3 for name in list(tree.scalars)[:3]}
    a = spatial.forward_dynamics(m, METHOD, rotors=rotors).interpret(q, v, tau)
    energy, move = spatial.energy(m, rotors=rotors), spatial.integrate(m)
    h = 1e-4

    def at(s: float) -> float:
        return float(np.sum(energy.interpret(move.interpret(q, s * v + s * s / 2 * a), v + s * a)))

    rate = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    assert rate == pytest.approx(v @ tau, abs=1e-8 * abs(at(0)))


def test_energy_stays_while_a_universal_chain_with_a_rotor_falls() -> None:
    kinds = (MOVING["universal"], MOVING["cylindrical"])
    m = random_tree(3, 5, kinds, chain=True)
    rotors = {"j1.first" if m.joints["j1"].kind == "universal" else "j1.angle": 0.2}
    fd = spatial.forward_dynamics(m, METHOD, rotors=rotors)
    energy = spatial.energy(m, rotors=rotors)
    n = len(SpatialTree(m).v)
    y = np.concatenate([state(SpatialTree(m), 2)[0], np.zeros(n)])

    def rate(y: Floats) -> Floats:
        return np.concatenate([y[n:], fd(y[:n], y[n:], np.zeros(n))])

    losses = []
    for steps in (100, 200):
        x, h = y, 0.2 / steps
        for _ in range(steps):
            k1 = rate(x)
            k2 = rate(x + h / 2 * k1)
            k3 = rate(x + h / 2 * k2)
            k4 = rate(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        losses.append(abs(np.sum(energy(x[:n], x[n:])) - np.sum(energy(y[:n], y[n:]))))
    assert np.abs(x[n:]).max() > 0.5
    # what is lost is the error of the integrator, of order four or more
    assert losses[1] < max(losses[0] / 12, 1e-12)
    assert losses[0] < 1e-5


# ------------------------------------------------------------------ loops and drivers


@pytest.mark.parametrize("method", ["innovations", METHOD])
@pytest.mark.parametrize("make", [four_bar, stewart, bricard, lambda: cells(3)])
def test_loops_close_on_any_inverse_of_the_mass_matrix(make: Any, method: str) -> None:
    m = make()
    q, v, tau = assembled(m)
    a, held = expected(m, q, v, tau)
    f = spatial.constrained_forward_dynamics(m, method, reactions=True)
    found, lam, *_ = called(f, m, q=q, v=v, tau=tau)
    np.testing.assert_allclose(found, a, atol=1e-10 * (1 + np.abs(a).max()))
    J = called(spatial.closure_jacobian(m), m, q=q)
    np.testing.assert_allclose(J.T @ lam, held, atol=1e-10 * (1 + np.abs(held).max()))


@pytest.mark.parametrize("method", ["innovations", METHOD])
def test_a_joint_driven_in_time_keeps_its_law(method: str) -> None:
    m = random_tree(4, 91, (MOVING["cylindrical"], MOVING["universal"]), chain=True)
    name = next(n for n in SpatialTree(m).scalars if n.startswith("j1."))
    kind = "translational" if name.endswith("displacement") else "rotary"
    m.driver(kind, "d", coordinate=name, law="0.3 + sin(2*t)")
    q, v, tau = assembled(m)
    a, _ = expected(m, q, v, tau)
    found = called(spatial.forward_dynamics(m, method), m, q=q, v=v, tau=tau)
    np.testing.assert_allclose(found, a, atol=1e-10 * (1 + np.abs(a).max()))
    number = SpatialTree(m).scalars[name][1]
    assert found[number] == pytest.approx(-4 * math.sin(0.6), abs=1e-11)


# ------------------------------------------------------------------------- rounds


@pytest.mark.parametrize("n", [1, 6, 13])
def test_a_chain_of_all_joints_moves_in_log_rounds(n: int) -> None:
    m = random_tree(n, 101 + n, chain=True)
    operators = Operators(m)
    q, v, a = state(operators.tree, n)
    o = operators.at(q, v)
    random = np.random.default_rng(n)
    J = random.uniform(0, 1, len(v)) * (random.random(len(v)) < 0.5)
    external = random.normal(size=(n, 6))
    wrenches = spatial.inverse_dynamics(m, external=operators.bodies)
    tau = wrenches.interpret(q, v, a, external) + J * a
    found, rounds = chain_accelerations(o, tau, rotors=J, external=external)
    allowed = 1e-14 * np.linalg.cond(o.M + np.diag(J)) * n * np.abs(a).max()
    np.testing.assert_allclose(found, a, rtol=0, atol=10 * allowed)
    assert rounds == 2 * math.ceil(math.log2(n)) + int(math.log2(n))


def test_reduction_refuses_what_is_no_chain_or_does_not_fit() -> None:
    operators = Operators(random_tree(6, 71))
    q, v, _ = state(operators.tree)
    o = operators.at(q, v)
    with pytest.raises(ShapeError, match="bodies branch"):
        chain_accelerations(o, np.zeros(len(v)))
    chain = Operators(spatial_chain(3)).at(np.zeros(3), np.zeros(3))
    with pytest.raises(ShapeError, match=r"3 velocities takes tau and rotors \(3,\)"):
        chain_accelerations(chain, np.zeros(4))


# -------------------------------------------------------------------------- limits


def test_a_body_without_inverse_inertia_is_named_with_its_joint_and_other_methods() -> None:
    m = bl.Model("rod")
    body = m.body("rod", mass=1.0, com=(0, 0, 1))
    m.joint("revolute", "A", m.ground, body, axis="y")
    with pytest.raises(ModelError, match="body rod on joint A: a point or an ideal rod") as error:
        spatial.forward_dynamics(m, METHOD)
    assert "use the method articulated or innovations" in str(error.value)
    m.joint("fixed", "B", body, m.body("cap", mass=1.0, com=(0, 0, 2)))
    with pytest.raises(ModelError, match="bodies rod, cap, welded together, on joint A"):
        spatial.forward_dynamics(m, METHOD)
    top = bl.Model("top")
    top.parameter("J", 1.0)
    top.body("disc", mass=0.0, inertia=("J", "J", "J"))
    with pytest.raises(ModelError, match="body disc on joint disc: a body without mass"):
        spatial.forward_dynamics(top, METHOD)
