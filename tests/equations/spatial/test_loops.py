"""Closed loops on the tree: against the equations of `bl.formulate`, and against themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.equations import spatial
from biela.equations.spatial import SpatialTree
from biela.equations.spatial.row_derivation import RowDerivation
from biela.errors import ModelError, UnknownNameError
from biela.model.joints import Joint
from tests.equations.spatial.closed_models import (
    assembled,
    bar,
    bricard,
    called,
    cells,
    closed_tree,
    expected,
    five_bar,
    four_bar,
    stewart,
)

METHODS = ("articulated", "early", "composite")
MECHANISMS = {
    "four bar": four_bar,
    "five bar": five_bar,
    "stewart": stewart,
    "bricard": bricard,
    "three cells": lambda: cells(3),
}
#: Joints that close a loop, with a seed for which they do.
CLOSERS = {
    "spherical": 3,
    "universal": 3,
    "cylindrical": 3,
    "revolute": 6,
    "prismatic": 6,
    "planar": 3,
    "point_on_line": 2,
    "distance": 1,
}


def closed_by(*kinds: str, seed: int = 3) -> tuple[bl.Model, Any]:
    """A random tree with loops closed by joints of these kinds."""
    return closed_tree(seed, [(kind, {}) for kind in kinds])


def check(
    m: bl.Model, q: Any = None, seed: int = 0, methods: Any = ("articulated", "composite")
) -> None:
    """Accelerations are those of the equations, and so are the forces of the loops."""
    q, v, tau = assembled(m, q, seed)
    a, held = expected(m, q, v, tau)
    J = called(spatial.closure_jacobian(m), m, q=q)
    close = {"atol": 1e-10 * (1 + np.abs(a).max())}
    for method in methods:
        plain = spatial.constrained_forward_dynamics(m, method)
        np.testing.assert_allclose(called(plain, m, q=q, v=v, tau=tau), a, **close)
    whole = spatial.constrained_forward_dynamics(m, methods[0], reactions=True)
    found, lam, *_ = called(whole, m, q=q, v=v, tau=tau)
    np.testing.assert_allclose(found, a, **close)
    np.testing.assert_allclose(J.T @ lam, held, atol=1e-10 * (1 + np.abs(held).max()))


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_move_as_their_equations_say(name: str) -> None:
    check(MECHANISMS[name](), methods=METHODS)


@pytest.mark.parametrize("kind", CLOSERS)
def test_every_joint_of_the_library_closes_a_loop_of_a_random_tree(kind: str) -> None:
    m, q = closed_by(kind, seed=CLOSERS[kind])
    assert [joint.name for joint in SpatialTree(m).closing] == ["close0"]
    check(m, q)


def test_several_loops_over_each_other_and_balls_in_the_tree() -> None:
    kinds = (("revolute", {}), ("spherical", {}), ("helical", {"pitch": 0.3}))
    closers = [(kind, {}) for kind in ("distance", "point_on_line", "distance")]
    m, q = closed_tree(31, closers, kinds)
    assert len(SpatialTree(m).closing) == 3
    assert SpatialTree(m).quaternions
    check(m, q)


def on(m: bl.Model, body: str, seed: int) -> Any:
    """A marker somewhere on a body."""
    random = np.random.default_rng(seed)
    return m.bodies[body].at(
        *random.uniform(-0.3, 0.3, 3).tolist(), axis=random.normal(size=3).tolist(), x_axis="x"
    )


ELEMENTS: dict[str, Callable[[bl.Model], Any]] = {
    "a motor on a joint": lambda m: m.driver("rotary", "d", coordinate="j6", law="0.3 + sin(2*t)"),
    "a path": lambda m: m.driver("path", "d", marker=on(m, "b5", 1), i=on(m, "b2", 5), x="0.1*t^2"),
    "a position": lambda m: m.driver(
        "position", "d", marker=on(m, "b5", 1), axis="y", law="0.2*t^2"
    ),
    "a position from a body": lambda m: m.driver(
        "position", "d", marker=on(m, "b5", 1), i=on(m, "b1", 7), axis="y", law="0.2*t^2"
    ),
    "a position from a turned place": lambda m: m.driver(
        "position",
        "d",
        marker=on(m, "b5", 1),
        i=m.ground.at(0.1, -0.2, 0.3, axis=(1, 2, 3)),
        axis="y",
        law="0.2*t^2",
    ),
    "an angle between axes": lambda m: m.driver(
        "cosine", "d", i=on(m, "b1", 7), j=on(m, "b6", 1), law="1.6 + 0.2*t^2"
    ),
    "a difference of coordinates": lambda m: m.joint(
        "coordinate_difference", "d", on(m, "b6", 1), on(m, "b1", 7), along="y", value=0.2
    ),
    "a plane": lambda m: m.joint("in_plane", "d", on(m, "b5", 1), on(m, "b2", 5)),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_drivers_and_primitive_joints_hold_what_they_say(name: str) -> None:
    m, q = closed_by("spherical")
    ELEMENTS[name](m)
    check(m, q, 1)


def test_forces_between_markers_and_laws_of_time_act_on_links() -> None:
    m, q = closed_by("spherical")
    i, j = on(m, "b6", 1), on(m, "b1", 7)
    m.force(
        "spring_damper", "f1", i=i, j=j, stiffness=20.0, length=0.3, damping=2.0, force="3*sin(t)"
    )
    m.force(
        "bushing",
        "f2",
        i=on(m, "b3", 1),
        j=on(m, "b4", 7),
        stiffness=(1, 2, 3),
        damping=(0.1, 0.2, 0.3),
        torsional_stiffness=(1, 2, 3),
    )
    m.force("wrench", "f3", marker=on(m, "b3", 11), fx="2*t", mz="cos(t)", reaction=j, along=j)
    m.force("drag", "f4", marker=on(m, "b3", 15), area=0.2, coefficient=1.1)
    m.force("torsional", "f5", coordinate="j6", stiffness=2.0, damping=0.1, force="t")
    check(m, q)
    # and in the tree alone: τ = M a + ξ
    q, v, a = assembled(m, q)
    M, xi = called(spatial.mass_matrix(m), m, q=q), called(spatial.bias_forces(m), m, q=q, v=v)
    tau = called(spatial.inverse_dynamics(m), m, q=q, v=v, a=a)
    np.testing.assert_allclose(tau, M @ a + xi, atol=1e-11)


def test_joints_of_a_tree_hold_what_forces_between_markers_pull_at() -> None:
    m = bl.Model("crane")
    one, two = (bar(m, name, 2.0) for name in ("jib", "boom"))
    m.joint("revolute", "A", m.ground, one, axis="y")
    m.joint("universal", "B", one.at(0.8, 0, 0), two)
    i, j = m.ground.at(0.2, 0.3, 1.0), two.at(0.4, 0.1, 0.0)
    m.force("spring_damper", "rope", i=i, j=j, stiffness=30.0, length=0.4, damping=2.0)
    q, v = np.array([0.3, -0.4, 0.6]), np.array([0.5, -0.2, 0.7])
    a = spatial.forward_dynamics(m).interpret(q, v, np.zeros(3))
    tau, forces = spatial.inverse_dynamics(m, forces=True).interpret(q, v, a)
    np.testing.assert_allclose(tau, 0, atol=1e-12)
    reactions = bl.joint_reactions(m, q=q, v=v, axes="marker")
    expected = np.concatenate([reactions.moment[0], reactions.force[0]], axis=1)
    np.testing.assert_allclose(forces, expected, atol=1e-10)


def test_the_jacobian_of_the_closure_is_its_derivative() -> None:
    for m, q in (closed_by("universal", "distance"), (stewart(), None), (bricard(), None)):
        tree = SpatialTree(m)
        # away from closed loops, too
        q = np.array(tree.start) if q is None else q
        move, phi = spatial.integrate(m), spatial.closure(m)
        q = called(move, m, q=q, v=np.full(len(tree.v), 0.05))
        J = called(spatial.closure_jacobian(m), m, q=q)
        h = 1e-6
        for k, unit in enumerate(np.eye(len(tree.v))):
            after, before = (called(phi, m, q=called(move, m, q=q, v=s * unit)) for s in (h, -h))
            np.testing.assert_allclose(J[:, k], (after - before) / (2 * h), atol=1e-8)


def test_gaps_are_taken_back_as_baumgarte_says() -> None:
    for m, start in (closed_by("cylindrical"), (four_bar(), None)):
        q, v, tau = assembled(m, start)
        q, v = q + 1e-3, v + 1e-2
        phi, J = (called(f(m), m, q=q) for f in (spatial.closure, spatial.closure_jacobian))
        drift, bias = called(spatial.closure_drift(m), m, q=q, v=v)
        wanted = -20 * (J @ v + drift) - 100 * phi
        for method in METHODS:
            f = spatial.constrained_forward_dynamics(
                m, method, baumgarte=(20.0, 100.0), reactions=True
            )
            a = called(f, m, q=q, v=v, tau=tau)[0]
            size = np.abs(wanted).max()
            np.testing.assert_allclose(J @ a + bias, wanted, atol=1e-10 * (1 + size))


def test_a_row_that_depends_on_others_is_dropped_and_no_other() -> None:
    m = bricard()
    q, v, tau = assembled(m)
    f = spatial.constrained_forward_dynamics(m, "articulated", reactions=True)
    *_, dropped = called(f, m, q=q, v=v, tau=tau)
    assert dropped.sum() == 1
    # in a position that is not assembled the five rows are independent
    *_, dropped = called(f, m, q=q + np.linspace(0.1, 0.3, 5), v=v, tau=tau)
    assert dropped.sum() == 0


def test_operations_grow_by_the_same_number_with_every_loop() -> None:
    counts = [
        len(spatial.constrained_forward_dynamics(cells(n), "articulated").schedule.operations)
        for n in (2, 3, 4, 8)
    ]
    one = counts[1] - counts[0]
    assert counts[2] - counts[1] == one
    assert counts[3] - counts[2] == 4 * one


def test_legs_cost_less_when_they_are_eliminated_before_the_platform() -> None:
    early, late = (
        len(spatial.constrained_forward_dynamics(stewart(), method).schedule.operations)
        for method in ("early", "articulated")
    )
    assert early < 0.65 * late
    chosen = spatial.forward_dynamics(stewart())
    assert len(chosen.schedule.operations) == early


def test_a_leg_that_yields_no_more_holds_its_platform() -> None:
    """Early elimination divides by what the leg yields across itself: nothing when locked."""
    for away, exact in ((0.0, 1e-6), (1e-5, 1e-8), (1e-2, 1e-12)):
        m = stewart(locked=away)
        q = np.array(SpatialTree(m).start)
        assert np.abs(called(spatial.closure(m), m, q=q)).max() < 1e-14
        q, v, tau = assembled(m, q)
        late, early = (
            called(spatial.constrained_forward_dynamics(m, method), m, q=q, v=v, tau=tau)
            for method in ("articulated", "early")
        )
        if not away:
            a, _ = expected(m, q, v, tau)
            np.testing.assert_allclose(late, a, atol=1e-12 * np.abs(a).max())
        assert np.abs(early - late).max() < exact * np.abs(late).max()


def test_gears_in_a_loop_tie_its_joints_together() -> None:
    m = five_bar()
    m.joint("gear", "G", first="A", second="E", ratio=-0.8, phase=-2.5)
    tree = SpatialTree(m)
    assert len(tree.v) == 3
    (follower,) = tree.coordinates.followers
    q, v, tau = assembled(m)
    a = called(spatial.forward_dynamics(m), m, q=q, v=v, tau=tau)
    # the same with the gear as an equation between coordinates of their own
    system = bl.formulate(m)
    names = [entry.name for entry in system.q]
    value, k = tree.coordinates.followers[follower]
    leader = next(i for i, j in tree.scalars.values() if j == k)
    slope = -0.8 if follower.startswith("E") else -1 / 0.8

    def whole(x: Any, offset: float) -> Any:
        known = dict(zip(tree.q_names, x, strict=True))
        known[follower] = slope * x[leader] + offset
        return np.array([known[name] for name in names])

    zero = called(bl.Function("f", {"q": tree.q}, {"y": [value]}), m, q=np.zeros(3))[0]
    arrays = {"t": 0.3, "q": whole(q, zero), "v": whole(v, 0.0), "p": [], "u": []}
    M, Q, J, gamma = (
        system[name].interpret(*[arrays[array.name] for array in system[name].inputs])
        for name in ("M", "Q", "Phi_v", "gamma")
    )
    force = np.array([dict(zip(tree.q_names, tau, strict=True)).get(name, 0) for name in names])
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.lstsq(K, np.r_[Q + force, gamma], rcond=1e-11)[0]
    np.testing.assert_allclose(whole(a, 0.0), found[:4], atol=1e-10 * (1 + np.abs(a).max()))


# --------------------------------------------------------------------- inverse dynamics


def test_motors_give_the_motion_that_was_asked_for() -> None:
    m = five_bar()
    q, v, tau = assembled(m)
    forward = spatial.constrained_forward_dynamics(m)
    a = called(forward, m, q=q, v=v, tau=tau)
    sizes = []
    for motors in (["A", "E"], ["A", "B", "E"], None):
        inverse = spatial.constrained_inverse_dynamics(m, motors, reactions=True)
        u, lam, _ = called(inverse, m, q=q, v=v, a=a)
        np.testing.assert_allclose(called(forward, m, q=q, v=v, tau=u), a, atol=1e-11)
        J = called(spatial.closure_jacobian(m), m, q=q)
        r = called(spatial.inverse_dynamics(m), m, q=q, v=v, a=a)
        np.testing.assert_allclose(u, r + J.T @ lam, atol=1e-11)
        sizes.append(np.linalg.norm(u))
        names = [name.partition(".")[0] for name in SpatialTree(m).v_names]
        if motors is not None:
            assert not u[[k for k, name in enumerate(names) if name not in motors]].any()
    # of all that give the motion, the smallest: no component along the rows of J
    np.testing.assert_allclose(J @ u, 0, atol=1e-10)
    assert sizes[0] > sizes[1] > sizes[2]


def test_the_legs_of_a_platform_carry_it() -> None:
    m = stewart()
    q, v, tau = assembled(m)
    a, _ = expected(m, q, v, tau)
    legs = [f"leg{n}" for n in range(6)]
    u = called(spatial.constrained_inverse_dynamics(m, legs), m, q=q, v=v, a=a)
    again, _ = expected(m, q, v, u)
    np.testing.assert_allclose(again, a, atol=1e-9)
    # power is that of all forces, since loops do no work
    tree = called(spatial.inverse_dynamics(m), m, q=q, v=v, a=a)
    assert u @ v == pytest.approx(tree @ v, rel=1e-9)


def test_a_redundant_mechanism_is_moved_by_one_motor() -> None:
    m = bricard()
    q, v, tau = assembled(m)
    a, _ = expected(m, q, v, tau)
    name = SpatialTree(m).v_names[0].partition(".")[0]
    u = called(spatial.constrained_inverse_dynamics(m, [name]), m, q=q, v=v, a=a)
    assert np.count_nonzero(u) == 1
    again, _ = expected(m, q, v, u)
    np.testing.assert_allclose(again, a, atol=1e-10)


def test_motors_that_leave_a_freedom_loose_are_refused_with_what_moves() -> None:
    with pytest.raises(ModelError, match=r"leave 1 of its freedoms loose.*E\.angle, B\.angle"):
        spatial.constrained_inverse_dynamics(five_bar(), ["A"])
    with pytest.raises(UnknownNameError, match="no joint 'C' of the tree can have a motor"):
        spatial.constrained_inverse_dynamics(five_bar(), ["A", "C"])


# --------------------------------------------------------------------- what is refused


def test_what_is_for_trees_only_names_the_joint_that_closes_a_loop() -> None:
    m = four_bar()
    (name,) = (joint.name for joint in SpatialTree(m).closing)
    for ask in (spatial.spatial_system, spatial.Operators, spatial.forward_dynamics_derivatives):
        with pytest.raises(ModelError, match=f"not a tree: {name} closes a loop"):
            ask(m)
    with pytest.raises(ModelError, match="choose one of fastest, articulated, early, composite"):
        spatial.forward_dynamics(m, "unit accelerations")


def test_loops_that_can_never_close_are_refused() -> None:
    m = four_bar()
    body = m.body("flap", mass=1.0, inertia=(1, 1, 1))
    m.joint("revolute", "hinge", m.ground, body, axis="y")
    m.joint("in_plane", "P", m.ground.at(0, 0.5, 0, axis="y"), body.at(0, 0, 0))
    with pytest.raises(ModelError, match=r"P can never be fulfilled: .* off by 0\.5"):
        spatial.closure(m)


def test_forces_that_need_reactions_or_inputs_are_refused_by_name() -> None:
    m = five_bar()
    m.force("friction", "dry", coordinate="A", coefficient=0.1, radius=0.02)
    with pytest.raises(ModelError, match=r"force dry \(friction\) depends on the reaction of"):
        spatial.forward_dynamics(m)
    m = five_bar()
    a, b = m.bodies["a"], m.bodies["c"]
    m.force("spring_damper", "push", i=a, j=b, stiffness=1.0, length=0.1, actuated=True)
    with pytest.raises(ModelError, match=r"force push \(spring_damper\) has the input push"):
        spatial.inverse_dynamics(m)
    assert len(spatial.mass_matrix(m).outputs) == 1


def test_a_row_that_asks_for_what_a_robot_does_not_offer_is_refused_by_its_markers() -> None:
    m = bl.Model("arm")
    body = m.body("link", mass=1.0, inertia=0.1)
    m.joint("revolute", "hinge", m.ground, body)
    joint = m.joints["hinge"]
    assert isinstance(joint, Joint)
    derivation = RowDerivation(SpatialTree(m))
    derivation.pair(joint.i, joint.j)
    with pytest.raises(ModelError, match=r"arm: a joint or driver on .* measures speed, which"):
        derivation.measure("speed", derivation.time, "rad/s")
