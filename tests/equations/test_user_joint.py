"""A kind of joint defined here, outside the package, works in every formulation and analysis.

A peg in a circular slot: marker j moves on a circle of marker i and turns with it by a fixed
ratio about z.  With the ratio 0 its axes keep their directions: a translation along a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import biela as bl
from biela.atoms import Atom, cos, sin
from biela.model.element import KINDS, quantity
from biela.model.joints import Coordinate, Joint
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.primitives import Along, Parallel, Primitive, Row
from biela.model.joints.readings import Angle, Offset
from biela.model.pair import Pair
from biela.model.quantities.values import Number, Value


@dataclass(frozen=True, kw_only=True)
class CircularSlot(Joint):
    """A peg in a circular slot."""

    radius: Value = quantity("length", "radius of the slot")
    ratio: Value = quantity("none", "turns of the peg for a turn along the slot", default=1.0)

    kind: ClassVar[str] = "circular_slot"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (Coordinate("way", "rad"),)
    needs: ClassVar[tuple[str, ...]] = ("way",)
    laws: ClassVar[tuple[str, ...]] = ("slot_x", "slot_y", "turn")

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        r, k = number(self.radius, "length"), number(self.ratio, "none")
        (way,) = q
        if isinstance(way, Atom):
            place = [Translate("x", r * cos(way)), Translate("y", r * sin(way))]
            return [*place, Rotate("z", k * way)]
        x, y = float(r) * np.cos(way), float(r) * np.sin(way)
        return [Translate("x", x), Translate("y", y), Rotate("z", float(k) * way)]

    def conditions(self) -> Sequence[Primitive]:
        return [Parallel(), Along("z")]

    def law_rows(self, q: Mapping[str, Atom], pair: Pair) -> Sequence[Row]:
        r, k = pair.number(self.radius, "length"), pair.number(self.ratio, "none")
        way = q["way"]
        return [
            Offset("x").held(pair, r * cos(way)),
            Offset("y").held(pair, r * sin(way)),
            Angle().held(pair, k * way),
        ]


def pendulum(ratio: float = 0.0) -> bl.Model:
    m = bl.Model("slot")
    m.parameter("r", "200 mm")
    peg = m.body("peg", mass=2.0, com=(0.05, 0, 0), inertia=(0.01, 0.02, 0.03))
    m.joint("circular_slot", "slot", m.ground, peg, axis="y", radius="r", ratio=ratio, start=0.4)
    return m


def test_its_freedoms_are_counted() -> None:
    joint = pendulum().joints["slot"]
    assert joint.removes == 5
    assert joint.freedoms == 1


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
def test_a_translation_along_a_circle_swings_like_a_simple_pendulum(coordinates: str) -> None:
    """All points move alike: θ'' = -(g / r) sin θ, whatever the inertia."""
    system = bl.formulate(pendulum(), coordinates)
    run = bl.simulate(system, 1.0, step=1e-3)
    position = run.frame("peg").position
    angle = np.unwrap(np.arctan2(position[:, 0], position[:, 2]))  # x_m is z, y_m is x
    s = bl.SymbolicSystem("pendulum")
    (q,) = s.coordinates("q")
    arm = s.base.rotated("arm", "y", q)
    s.solid("m", s.origin.offset("P", arm.vector(0, 0, 0.2)), arm, 1.0)
    s.gravity = s.base.vector(0, 0, -9.81)
    s.start(q=0.4)
    expected = bl.simulate(s, 1.0, step=1e-3)["q"]
    np.testing.assert_allclose(angle, expected, atol=1e-9)


def test_it_may_be_driven_through_many_turns_where_it_closes_a_loop() -> None:
    m = pendulum(ratio=0.5)
    m.driver("rotary", "motor", coordinate="slot.way", law="0.4 + 6*t")
    for coordinates in ("joint", "reference", "natural"):
        run = bl.kinematics(bl.formulate(m, coordinates), 3.0, step=0.02)
        turned = run.frame("peg").rotation_about("y")
        np.testing.assert_allclose(turned, 0.5 * (0.4 + 6 * run.t), atol=1e-11)
        angle = 0.4 + 6 * run.t
        expected = 0.2 * np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
        np.testing.assert_allclose(run.frame("peg").position, expected, atol=1e-12)


def test_it_goes_through_a_file() -> None:
    from biela.model.files import dumps, loads

    m = pendulum()
    again = loads(dumps(m))
    assert again.joints["slot"] == m.joints["slot"]
    assert "circular_slot" in KINDS["joint"]


def test_its_reactions_carry_the_weight() -> None:
    from biela.analysis.joint_reactions import joint_reactions

    m = pendulum()
    m.driver("rotary", "motor", coordinate="slot.way", law="0.4")
    found = joint_reactions(m)
    total = found["slot"][0][0] + found["motor"][0][0]
    np.testing.assert_allclose(total, [0, 0, 2.0 * 9.81], atol=1e-9)
