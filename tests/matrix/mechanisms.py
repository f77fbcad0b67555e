"""The small mechanisms of the matrix: one of each class that engines treat apart.

Each has joints called A, B …, of which A is a hinge that a force may act on, and lengths that are
parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import biela as bl

#: Makes a mechanism, by its name.
MECHANISMS: Final[dict[str, Callable[[], bl.Model]]] = {}
#: Those that are closed by a joint.
LOOPS: Final = ("four_bar", "rsur", "overconstrained")


def mechanism(make: Callable[[], bl.Model]) -> Callable[[], bl.Model]:
    """Enter a mechanism into the matrix."""
    MECHANISMS[make.__name__] = make
    return make


@mechanism
def plane_arm() -> bl.Model:
    """Two hinges in a plane."""
    m = bl.Model("plane_arm", plane="xz")
    m.parameter("l", 0.4)
    upper = m.body("upper", mass=1.2, com=("l/2", 0, 0), inertia=0.02)
    lower = m.body("lower", mass=0.8, com=("l/3", 0, 0), inertia=0.01)
    m.joint("revolute", "A", m.ground, upper, axis="y", start=0.4, rates=1.5)
    m.joint("revolute", "B", upper.at("l", 0, 0), lower, axis="y", start=-0.7, rates=-2.0)
    return m


@mechanism
def space_arm() -> bl.Model:
    """A hinge, a universal joint and a slide, with full tensors of inertia."""
    m = bl.Model("space_arm")
    m.parameter("l", 0.4)
    skew = (0.02, 0.03, 0.04, 0.002, -0.003, 0.001)
    upper = m.body("upper", mass=1.2, com=("l/2", 0.01, 0.02), inertia=skew)
    lower = m.body("lower", mass=0.8, com=("l/3", -0.02, 0.01), inertia=skew)
    ram = m.body("ram", mass=0.5, com=(0.05, 0, 0.01), inertia=0.01)
    m.joint("revolute", "A", m.ground, upper, axis="y", start=0.4, rates=1.5)
    m.joint(
        *("universal", "B", upper.at("l", 0, 0), lower),
        start={"first": 0.3, "second": -0.5},
        rates={"first": 0.7, "second": 1.1},
    )
    m.joint("prismatic", "C", lower.at("l", 0, 0), ram, axis="x", start=0.1, rates=-0.4)
    return m


@mechanism
def four_bar() -> bl.Model:
    """A closed loop in a plane."""
    m = bl.Model("four_bar", plane="xz")
    for name, value in {"l": 0.3, "m": 0.45, "n": 0.4, "d": 0.5}.items():
        m.parameter(name, value)
    a, b, c = (
        m.body(name, mass=1.0, com=(f"{length}/2", 0, 0), inertia=0.02)
        for name, length in zip("abc", "lmn", strict=True)
    )
    m.joint("revolute", "A", m.ground, a, axis="y", start=0.7, rates=2.0)
    m.joint("revolute", "B", a.at("l", 0, 0), b, axis="y")
    m.joint("revolute", "C", b.at("m", 0, 0), c.at("n", 0, 0), axis="y")
    m.joint("revolute", "D", m.ground.at("d", 0, 0), c, axis="y")
    return m


@mechanism
def rsur() -> bl.Model:
    """A loop in space: two cranks, a ball and a universal joint."""
    m = bl.Model("rsur")
    for name, value in {"l": 0.3, "r": 0.7, "b": 0.9}.items():
        m.parameter(name, value)
    i = m.body("i", mass=1.0, com=("l/2", 0, 0), inertia=(0.01, 0.02, 0.02))
    c = m.body("c", mass=1.0, com=("b/2", 0, 0), inertia=(0.003, 0.05, 0.05))
    o = m.body("o", mass=1.0, com=(0, 0, "r/2"), inertia=(0.03, 0.03, 0.01))
    m.joint("revolute", "A", m.ground, i, axis="z", start=0.4, rates=1.0)
    m.joint("spherical", "B", i.at("l", 0, 0), c)
    m.joint("universal", "C", c.at("b", 0, 0), o.at(0, 0, "r"), axis="y", x_axis="z")
    m.joint("revolute", "D", m.ground.at(0.7, 0, 0.1), o, axis="x")
    return m


@mechanism
def overconstrained() -> bl.Model:
    """The loop of four bars in space: three rows too many."""
    m = four_bar().in_space()
    m.name = "overconstrained"
    return m


@mechanism
def free_base() -> bl.Model:
    """A body that floats, with an arm on it."""
    m = bl.Model("free_base")
    m.parameter("l", 0.4)
    base = m.body("base", mass=3.0, com=(0.01, 0.02, 0), inertia=(0.1, 0.2, 0.3))
    arm = m.body("arm", mass=0.8, com=("l/2", 0, 0), inertia=(0.001, 0.01, 0.01))
    m.joint("free", "F", m.ground, base, rates={"x": 0.3, "y": -0.2, "z": 0.1})
    m.joint("revolute", "A", base.at(0.1, 0, 0.2), arm, axis=(1, 2, 3), start=0.3, rates=2.0)
    return m


@mechanism
def geared() -> bl.Model:
    """Two hinges whose angles a gear couples, and a third that follows freely."""
    m = bl.Model("geared", plane="xz")
    m.parameter("l", 0.4)
    one = m.body("one", mass=1.2, com=("l/2", 0, 0), inertia=0.02)
    two = m.body("two", mass=0.8, com=("l/3", 0, 0), inertia=0.01)
    tail = m.body("tail", mass=0.3, com=("l/4", 0, 0), inertia=0.004)
    m.joint("revolute", "A", m.ground, one, axis="y", start=0.4, rates=1.5)
    m.joint("revolute", "B", m.ground.at(0.5, 0, 0), two, axis="y")
    m.joint("gear", "G", first="A.angle", second="B.angle", ratio=2.5)
    m.joint("revolute", "C", two.at("l", 0, 0), tail, axis="y", start=0.2)
    return m
