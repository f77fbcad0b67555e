"""Robots that run link after link: chosen by size or by the user, and the same to rounding."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.robot import Robot
from biela.analysis.robot_lowering import LINKS
from biela.code import Function
from biela.errors import ModelError


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

    def function(self: Robot, name: str, *of: str) -> Function:
        asked.append(name)
        return original(self, name, *of)

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
        Robot(chain(2), lowering="inlined")  # type: ignore[arg-type]
