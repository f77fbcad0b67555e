"""Forward dynamics by groups of what turns freely: balls, free bodies, rods that spin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.independent import independent_coordinates
from biela.analysis.groups.simulation import group_simulation
from biela.errors import ModelError
from tests.analysis.group_mechanisms import model_of, random_mechanism

DOWN = (0, 0, -9.81)


def inertia(
    across: float, along: float, u: np.ndarray, more: float = 0.0
) -> tuple[float, float, float, float, float, float]:
    """Of a rod along u, and more about one direction across it."""
    x = np.cross([0.0, 0.0, 1.0], u)
    x /= np.linalg.norm(x)
    I = across * (np.eye(3) - np.outer(u, u)) + along * np.outer(u, u) + more * np.outer(x, x)
    a, b, c, d, e, f = (float(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return a, b, c, d, e, f


def hanging_bars() -> bl.Model:
    """Three bars: on a ball, on a ball of the first that is the other way round, on a hinge."""
    m = bl.Model("bars", gravity=DOWN)
    first = m.body("first", mass=1.2, com=(0.3, 0.05, -0.02), inertia=(0.02, 0.05, 0.06))
    second = m.body("second", mass=0.7, com=(0.2, 0, 0.1), inertia=(0.01, 0.02, 0.025))
    third = m.body("third", mass=0.5, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    m.joint("spherical", "ball", m.ground.at(0, 0, 1), first.at())
    m.joint("spherical", "other", second.at(0, 0, 0, axis="x"), first.at(0.5, 0, 0, axis=(1, 1, 0)))
    m.joint("revolute", "hinge", second.at(0.4, 0, 0, axis="y"), third.at(0, 0, 0, axis="y"))
    return m


def sprung_body() -> bl.Model:
    """A free body on a spring, with a wheel that spins on it."""
    m = bl.Model("free", gravity=DOWN)
    b = m.body("b", mass=1.2, com=(0.3, 0.05, -0.02), inertia=(0.02, 0.05, 0.06))
    wheel = m.body("wheel", mass=0.4, inertia=(0.01, 0.015, 0.01), position=(0.2, 0.1, 0))
    m.joint("revolute", "axle", b, wheel, at=(0.2, 0.1, 0), axis=(0.2, 1, 0), rates=20.0)
    m.force(
        "spring_damper", "spring", i=m.ground.at(0, 0, 2), j=b.at(0.1, 0.3, 0.2), stiffness=50.0,
        length=0.5, damping=0.3,
    )  # fmt: skip
    return m


def body_in_a_plane() -> bl.Model:
    """Two bars that fall in the xz plane, hinged to each other."""
    m = bl.Model("falling", plane="xz", gravity=DOWN)
    b = m.body("b", mass=1.2, com=(0.3, 0, 0.05), inertia=0.05)
    c = m.body("c", mass=0.7, com=(0.2, 0, -0.05), inertia=0.03, position=(0.5, 0, 0.2))
    m.joint("revolute", "hinge", b, c, at=(0.5, 0, 0.2), axis="y", rates=3.0)
    m.force("spring_damper", "s", i=m.ground.at(0, 0, 2), j=b.at(0.1, 0, 0.3), stiffness=50.0)
    return m


def bead() -> bl.Model:
    """A body that slides along a curve and turns as it likes."""
    m = bl.Model("bead", gravity=DOWN)
    b = m.body("b", mass=1.2, com=(0.3, 0.05, -0.1), inertia=(0.02, 0.05, 0.06))
    m.joint("point_on_curve", "wire", m.ground, b, x="s", y="0.2*s", z="0.3*s^2 - 0.2*s")
    return m


def rssr(more: float = 0.0, spring: bool = False) -> bl.Model:
    """A crank and a rocker with a rod between them that is alike all around but for ``more``."""
    m = bl.Model("rssr", gravity=DOWN)
    A, B = np.array([0.3, 0, 0]), np.array([1.2, 0.4, 0.3])
    u = (B - A) / np.linalg.norm(B - A)
    crank = m.body("crank", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    rocker = m.body(
        "rocker", mass=0.9, com=(0, 0.2, 0), inertia=(0.02, 0.01, 0.02), position=(1.2, 0, 0.3)
    )
    rod = m.body(
        "rod", mass=0.8, com=tuple(0.5 * u), inertia=inertia(0.06, 0.02, u, more), position=tuple(A)
    )
    m.joint("revolute", "A", m.ground.at(0, 0, 0, axis="z"), crank.at(0, 0, 0, axis="z"))
    m.joint("spherical", "B", crank, rod, at=tuple(A))
    m.joint("spherical", "C", rod, rocker, at=tuple(B))
    m.joint("revolute", "D", m.ground, rocker, at=(1.2, 0, 0.3), axis=(1, 0, 0.2))
    if spring:
        m.force(
            "spring_damper", "s", i=m.ground.at(0.5, 0.5, 1), j=rod.at(0.3, 0.3, 0), stiffness=9
        )
    return m


def door(between: str, more: float = 0.0) -> bl.Model:
    """A door and a strut of two halves with a spring in it, ball at both ends."""
    m = bl.Model("door", gravity=DOWN)
    panel = m.body("panel", mass=2.0, com=(0.4, 0, 0), inertia=(0.05, 0.2, 0.2))
    m.joint("revolute", "hinge", m.ground.at(0, 0, 0, axis="y"), panel.at(0, 0, 0, axis="y"))
    A, B = np.array([0.1, 0.3, -0.6]), np.array([0.5, 0.1, 0.0])
    u = (B - A) / np.linalg.norm(B - A)
    lower = m.body(
        "lower", mass=0.6, com=tuple(0.15 * u), inertia=inertia(0.03, 0.02, u, more),
        position=tuple(A),
    )  # fmt: skip
    upper = m.body(
        "upper", mass=0.4, com=tuple(-0.1 * u), inertia=inertia(0.02, 0.015, u), position=tuple(B)
    )
    m.joint("spherical", "S1", m.ground, lower, at=tuple(A))
    m.joint(between, "slide", lower, upper, at=tuple((A + B) / 2), axis=tuple(u))
    m.joint("spherical", "S2", upper, panel, at=tuple(B))
    m.force("spring_damper", "spring", i=lower.at(), j=upper.at(), stiffness=80.0, length=0.6)
    return m


def platform() -> bl.Model:
    """A platform on three rods with balls: no joint has a coordinate that is a number."""
    m = bl.Model("platform", gravity=DOWN)
    p = m.body("p", mass=3.0, inertia=(0.1, 0.12, 0.2), com=(0.02, 0.01, 0))
    tops = ((1, 0, 1), (-0.4, 0.9, 1.2), (-0.5, -0.8, 1.1))
    feet = ((0.3, 0.05, 0), (-0.2, 0.25, 0), (-0.15, -0.3, 0))
    for k, (top, foot) in enumerate(zip(tops, feet, strict=True)):
        way = np.subtract(foot, top)
        u = way / np.linalg.norm(way)
        rod = m.body(
            f"rod{k}", mass=0.2, com=tuple(way / 2), inertia=inertia(0.02, 0.001, u), position=top
        )
        m.joint("spherical", f"top{k}", m.ground, rod, at=top)
        m.joint("spherical", f"foot{k}", rod, p, at=foot)
    return m


MODELS: dict[str, tuple[Callable[[], bl.Model], tuple[str, ...]]] = {
    "bars on balls": (hanging_bars, ("hinge.angle", "ball.rotation", "other.rotation")),
    "free body with a wheel": (
        sprung_body,
        ("axle.angle", "b.rx", "b.ry", "b.rz", "b.rotation"),
    ),
    "free bodies in a plane": (body_in_a_plane, ("hinge.angle", "b.angle", "b.rx", "b.rz")),
    "bead on a wire": (bead, ("wire.s", "wire.rotation")),
    "rod that is not alike all around": (lambda: rssr(0.01), ("A.angle", "rod.spin")),
    "rod that a spring turns": (lambda: rssr(spring=True), ("A.angle", "rod.spin")),
    "strut that is not alike all around": (
        lambda: door("cylindrical", 0.01),
        ("hinge.angle", "lower.spin", "upper.spin"),
    ),
    "platform on rods": (platform, ("p.ry", "top0.rotation")),
}


def apart(found: bl.Results, whole: bl.Results, plane: str | None, level: str) -> float:
    """The largest difference of a level, with Euler parameters of one sign."""
    a, b = np.array(getattr(found, level)), getattr(whole, level)
    if level == "q" and plane is None:
        for e in range(3, a.shape[1], 7):
            a[:, e : e + 4] *= np.sign((a[:, e : e + 4] * b[:, e : e + 4]).sum(axis=1))[:, None]
    return float(np.abs(a - b).max() / (1 + np.abs(b).max()))


@pytest.mark.parametrize("name", list(MODELS))
def test_what_turns_freely_moves_as_with_all_equations_at_once(name: str) -> None:
    make, coordinates = MODELS[name]
    model = make()
    duration, output = 0.1, 0.02
    assert independent_coordinates(model).names == coordinates
    found = group_simulation(model, duration, step=5e-4, output=output)
    whole = bl.simulate(
        bl.formulate(model, "reference"), duration, step=2.5e-4, integrator="rk4", output=output
    )
    assert np.ptp(whole.q, axis=0).max() > 1e-2
    # rods that are held without a spin are turned to where they are from the stored instants
    rounding = 1e-7 if name == "platform on rods" else 2e-9
    for level in "qva":
        assert apart(found, whole, model.plane, level) <= rounding, level
    assert found.statistics.max_constraint_error is not None
    assert found.statistics.max_constraint_error <= 1e-12


@pytest.mark.parametrize("make", [rssr, lambda: door("prismatic"), lambda: door("cylindrical")])
def test_rods_alike_all_around_keep_their_energy_and_do_not_spin(
    make: Callable[[], bl.Model],
) -> None:
    model = make()
    assert len(independent_coordinates(model).names) == 1, "their spins are held"
    found = group_simulation(model, 0.2, step=1e-3)
    energy = found["kinetic energy"] + found["potential energy"]
    assert np.ptp(found["kinetic energy"]) > 0.1
    assert np.ptp(energy) <= 1e-8
    whole = bl.simulate(
        bl.formulate(model, "reference"), 0.2, step=5e-4, integrator="rk4", output=1e-3
    )
    for level in "qva":
        assert apart(found, whole, None, level) <= 1e-9, level


def test_a_rod_alike_all_around_that_spins_at_the_start_goes_on_spinning() -> None:
    model = rssr()
    spin = {f"rod.own_w{axis}": float(w) for axis, w in zip("xyz", 30 * rod_line(), strict=True)}
    names = independent_coordinates(model, v=spin).names
    assert names == ("A.angle", "rod.spin")
    assert independent_coordinates(model, names, v=spin).names == names
    found = group_simulation(model, 0.1, step=2e-4, output=0.01, v=spin)
    whole = bl.simulate(
        bl.formulate(model, "reference"), 0.1, step=1e-4, integrator="rk4", output=0.01, v=spin
    )
    assert abs(whole.v[0, 15:18] @ rod_line()) > 20
    for level in "qva":
        assert apart(found, whole, None, level) <= 1e-8, level


def rod_line() -> np.ndarray:
    way = np.array([0.9, 0.4, 0.3])
    return np.asarray(way / np.linalg.norm(way))


def test_a_free_top_keeps_its_angular_momentum_and_energy_over_many_turns() -> None:
    """Torque-free motion about an axis near that of the middle moment: it tumbles."""
    m = bl.Model("top", gravity=(0, 0, 0))
    m.body("top", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.028))
    run = group_simulation(
        m, 4.0, step=1e-3, output=0.05, v={"top.own_wx": 0.05, "top.own_wy": 8.0, "top.own_wz": 0.0}
    )
    e, omega = run.q[:, 3:7], run.v[:, 3:6]
    np.testing.assert_allclose(np.linalg.norm(e, axis=1), 1.0, rtol=0, atol=1e-14)
    L = omega * np.array([0.01, 0.02, 0.028])
    w, r = e[:, :1], e[:, 1:]
    ground = L + 2 * np.cross(r, np.cross(r, L) + w * L)
    assert np.ptp(omega[:, 1]) > 10, "it turns over"
    assert np.abs(ground - ground[0]).max() <= 1e-8
    assert np.ptp(run["kinetic energy"]) <= 1e-8


def test_rotations_are_named_as_independent_coordinates() -> None:
    model = hanging_bars()
    names = ["other", "ball.rotation", "hinge"]
    begun = independent_coordinates(model, names)
    assert begun.names == ("hinge.angle", "other.rotation", "ball.rotation")
    others = ["first.rotation", "second.rotation", "hinge.angle"]
    runs = [
        group_simulation(model, 0.05, step=5e-4, output=0.01, independent=i)
        for i in (names, others)
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-10)


def test_a_body_has_the_coordinates_that_a_message_tells() -> None:
    with pytest.raises(ModelError, match=r"b\.rotation, b\.rx, b\.ry, b\.rz"):
        independent_coordinates(sprung_body(), ["axle.angle", "b.x"])
    with pytest.raises(ModelError, match=r"did you mean 'axle\.angle'"):
        independent_coordinates(sprung_body(), ["axle.angel"])
    with pytest.raises(ModelError, match="by name"):
        independent_coordinates(sprung_body(), [3])


def test_a_rod_without_inertia_about_its_line_is_held_unless_something_turns_it() -> None:
    model = rssr()
    u = rod_line()
    thin = inertia(0.06, 0.0, u)
    rod = model.bodies["rod"]
    rod.inertia = type(rod.inertia)(0.8, rod.inertia.com, thin)
    assert independent_coordinates(model).names == ("A.angle",)
    model.force("spring_damper", "s", i=model.ground.at(), j=rod.at(0.3, 0.3, 0), stiffness=9)
    with pytest.raises(ModelError, match="no inertia about the line of its balls"):
        independent_coordinates(model)


def test_a_coordinate_that_moves_no_mass_is_refused() -> None:
    """The general formulation refuses it too: a thin rod on a ball."""
    m = bl.Model("thin", gravity=DOWN)
    bar = m.body("bar", mass=1.2, com=(0.3, 0, 0), inertia=(0, 0.05, 0.05))
    m.joint("spherical", "ball", m.ground, bar)
    with pytest.raises(ModelError, match=r"ball\.rotation"):
        bl.simulate(m, 0.01, step=1e-3)
    with pytest.raises(ModelError, match=r"ball\.rotation moves no mass"):
        group_simulation(m, 0.01, step=1e-3)


def test_an_integrator_for_numbers_alone_is_refused_where_something_turns_freely() -> None:
    with pytest.raises(ModelError, match=r"nystrom.*wire\.rotation"):
        group_simulation(bead(), 0.01, step=1e-3, integrator="nystrom")


def test_a_sensor_of_reactions_does_not_hinder_a_motion_by_groups() -> None:
    m = bl.Model("pendulum", gravity=DOWN)
    bar = m.body("bar", mass=1.2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    m.joint("revolute", "pivot", m.ground.at(0, 0, 0, axis="y"), bar.at(0, 0, 0, axis="y"))
    m.sensor("reaction", "load", joint="pivot")
    run = group_simulation(m, 0.1, step=1e-2)
    assert run["pivot.angle"][-1] > 0.01


@pytest.mark.parametrize("seed", [3])
def test_random_mechanisms_with_a_body_on_a_ball_move_as_with_all_equations_at_once(
    seed: int,
) -> None:
    """Cranks, rods on sliders and struts with masses of no symmetry, so that all rods spin."""
    rng = np.random.default_rng(seed)
    model, _ = model_of(random_mechanism(seed, 3, True), seed)
    model.drivers.clear()
    for body in model.bodies.values():
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        I = Q @ np.diag(rng.uniform(0.05, 0.08, 3)) @ Q.T
        com = tuple(float(x) for x in rng.uniform(-0.2, 0.2, 3))
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        moments = tuple(float(I[i, j]) for i, j in pairs)
        body.inertia = type(body.inertia)(float(rng.uniform(0.5, 2)), com, moments)
    host = model.bodies[str(rng.choice(list(model.bodies)))]
    place = tuple(float(x) for x in rng.uniform(-1, 1, 3))
    extra = model.body("extra", mass=0.8, com=(0.1, 0.2, 0), inertia=(0.05, 0.06, 0.07))
    model.joint("spherical", "ball", host, extra, at=place)
    found = group_simulation(model, 0.04, step=1e-3, output=0.02)
    whole = bl.simulate(
        bl.formulate(model, "reference"), 0.04, step=5e-4, integrator="rk4", output=0.02
    )
    for level in "qva":
        assert apart(found, whole, None, level) <= 1e-9, level
