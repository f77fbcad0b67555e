"""Robots that run link after link: chosen by size or by the user, and the same to rounding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import biela as bl
from biela.analysis.robots.lowering import LINKS
from biela.analysis.robots.robot import Robot
from biela.code import Function
from biela.errors import ModelError, SimulationError


def chain(links: int) -> bl.Model:
    """Hinges about x, y and z in turn, with a rod of length L each."""
    m = bl.Model("chain")
    m.parameter("L", 0.2)
    before = m.ground.at()
    for k in range(links):
        rod = m.body(f"rod{k}", mass=0.5, com=(0, 0, "-L/2"), inertia=(2e-3, 2e-3, 1e-4))
        m.joint("revolute", f"J{k}", before, rod.at(), axis="xyz"[k % 3])
        before = rod.at(0, 0, "-L")
    return m


@pytest.fixture
def unrolled_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of functions that are written out."""
    asked: list[str] = []
    original = Robot.function

    def function(self: Robot, name: str, *of: str, external: Sequence[str] = ()) -> Function:
        asked.append(name)
        return original(self, name, *of, external=external)

    monkeypatch.setattr(Robot, "function", function)
    return asked


def test_both_lowerings_of_a_robot_give_the_same(unrolled_calls: list[str]) -> None:
    m = chain(5)
    values = {"L": 0.3}
    one = Robot(m, parameters=values, lowering="looped", rotors={"J1": 0.1})
    other = Robot(m, parameters=values, lowering="unrolled", rotors={"J1": 0.1})
    q, v, a = np.random.default_rng(1).normal(size=(3, 4, 5))
    pairs = [
        (one.rnea, (q, v, a)),
        (one.inverse_dynamics, (q[0], v[0], a[0])),
        (one.forward_dynamics, (q, v, a)),
        (one.bias_forces, (q, v)),
        (one.gravity_forces, (q[1],)),
        (one.mass_product, (q, a)),
        (one.inverse_mass_product, (q, a)),
        (one.energy, (q, v)),
        (one.energy, (q[2], v[2])),
        (one.pose, ("rod3", q)),
        (one.pose, ("rod3", q[2])),
    ]
    for method, arguments in pairs:
        unrolled_calls.clear()
        found = method(*arguments)
        assert unrolled_calls == []
        expected = getattr(other, method.__name__)(*arguments)
        assert unrolled_calls != []
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_long_robots_are_looped_and_short_ones_written_out(unrolled_calls: list[str]) -> None:
    long, short = Robot(chain(LINKS + 1)), Robot(chain(3))
    q, v, a = np.random.default_rng(2).normal(size=(3, LINKS + 1))
    tau = long.rnea(q, v, a)
    assert unrolled_calls == []
    np.testing.assert_allclose(long.forward_dynamics(q, v, tau), a, rtol=0, atol=1e-6)
    short.rnea(q[:3], v[:3], a[:3])
    assert unrolled_calls == ["rnea"]


def test_what_cannot_be_looped_is_written_out_unless_asked_for(unrolled_calls: list[str]) -> None:
    m = chain(LINKS + 1)
    tip = m.bodies[f"rod{LINKS}"]
    m.force("spring_damper", "rope", i=m.ground.at(1, 0, 0), j=tip.at(), stiffness=1.0, length=0.1)
    robot = Robot(m)
    assert robot._looped.get("bias_forces") is None
    assert robot._looped.get("gravity_forces") is not None
    with pytest.raises(ModelError, match="forces between bodies"):
        Robot(m, lowering="looped").bias_forces(np.zeros(LINKS + 1), np.zeros(LINKS + 1))


def test_an_unknown_lowering_is_named() -> None:
    with pytest.raises(ModelError, match="'auto', 'looped' or 'unrolled', not 'inlined'"):
        Robot(chain(2), lowering="inlined")


def rope(kinds: tuple[str, ...]) -> bl.Model:
    """Rods on joints of several kinds."""
    m = bl.Model("rope")
    before = m.ground.at()
    for k, kind in enumerate(kinds):
        rod = m.body(f"rod{k}", mass=0.5, com=(0.02, 0, -0.1), inertia=(2e-3, 3e-3, 1e-3))
        m.joint(kind, f"J{k}", before, rod.at())
        before = rod.at(0, 0.05, -0.2)
    return m


@pytest.mark.parametrize("integrator", ["rk4", "heun", "semi_implicit_euler"])
def test_a_long_robot_moves_as_one_that_is_written_out(integrator: str) -> None:
    m = rope(("universal", "revolute", "prismatic", "universal"))
    one, other = (Robot(m, lowering=way) for way in ("looped", "unrolled"))
    q, v = 0.3 * np.random.default_rng(5).normal(size=(2, 6))
    options = {"q": q, "v": v, "inputs": {"tau.J1": 0.2}, "integrator": integrator, "step": 2e-3}
    found, expected = (robot.simulate(0.1, **options) for robot in (one, other))
    np.testing.assert_array_equal(found.t, expected.t)
    assert np.abs(expected.q[-1] - expected.q[0]).max() > 0.02
    for name in ("q", "v", "a"):
        values = getattr(expected, name)
        scale = np.abs(values).max()
        np.testing.assert_allclose(getattr(found, name), values, rtol=0, atol=1e-9 * scale)
    for name in ("kinetic energy", "potential energy"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-10)
    tip, same_tip = found.frame("rod3").position, expected.frame("rod3").position
    np.testing.assert_allclose(tip, same_tip, rtol=0, atol=1e-10)
    assert len(found.scene.shapes) == len(expected.scene.shapes)


def test_quaternions_of_a_long_robot_stay_units_and_its_energy_stays() -> None:
    m = rope(("spherical", "revolute", "spherical"))
    one, other = (Robot(m, lowering=way) for way in ("looped", "unrolled"))
    v = np.random.default_rng(6).normal(size=one.nv)
    found, expected = (r.simulate(0.3, v=v, output=0.1, tolerance=1e-11) for r in (one, other))
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-8)
    for first in (0, 5):
        lengths = np.linalg.norm(found.q[:, first : first + 4], axis=1)
        np.testing.assert_allclose(lengths, 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["energy"], found["energy"][0], rtol=0, atol=1e-8)


def test_many_joints_are_simulated_and_drawn_without_writing_them_out(
    monkeypatch: pytest.MonkeyPatch, unrolled_calls: list[str]
) -> None:
    made: list[str] = []
    original = Function.__init__

    def counted(self: Function, name: str, *given: object, **options: object) -> None:
        original(self, name, *given, **options)
        made.append(name)
        assert len(self.table.ops) < 5_000, f"{name} is written out"

    monkeypatch.setattr(Function, "__init__", counted)
    robot = Robot(chain(400))
    q = np.full(400, 1e-3)
    run = robot.simulate(0.01, q=q, step=1e-3)
    assert made and unrolled_calls == []
    assert run.q.shape == (11, 400) and np.isfinite(run.a).all()
    energy = run["energy"]
    assert np.ptp(run["kinetic energy"]) > 1e3 * np.ptp(energy) > 0
    shapes = robot.results([0.0, 0.1], [q, q]).scene.shapes
    assert len(shapes) > 400
    assert unrolled_calls == []


def test_what_a_long_robot_cannot_do_is_said() -> None:
    robot = Robot(rope(("spherical", "revolute")), lowering="looped")
    for option in ("control", "on_event", "formulation"):
        with pytest.raises(ModelError, match=f"{option} is not there .* lowering='unrolled'"):
            robot.simulate(1.0, **{option: None})
    with pytest.raises(ModelError, match=r"'leap' is not known; these are: .*rk4"):
        robot.simulate(1.0, integrator="leap")
    with pytest.raises(ModelError, match="as many coordinates as velocities"):
        robot.simulate(1.0, integrator="second_order_euler", step=1e-3)
    with pytest.raises(ModelError, match="positive time, not -1"):
        robot.simulate(-1)
    with pytest.raises(ModelError, match=r"no input tau\.J9; it has"):
        robot.simulate(1.0, inputs={"tau.J9": 1.0})
    with pytest.raises(ModelError, match="make it with lowering='unrolled', or simulate"):
        robot.rollout(robot.start, dt=0.1, steps=2)


def test_a_run_of_a_long_robot_that_diverges_keeps_what_it_had() -> None:
    robot = Robot(rope(("revolute", "universal")), lowering="looped")
    with pytest.raises(SimulationError, match="cannot be followed beyond") as caught:
        robot.simulate(20.0, v=[1e3, 1e3, 1e3], step=0.1)
    results = caught.value.results
    assert results is not None and results.interrupted and np.isfinite(results.q).all()
