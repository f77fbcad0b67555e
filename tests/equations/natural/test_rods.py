"""Bodies between two balls as two points: the same motion without their spin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError


def rssr(inertia: tuple[float, ...] = (0.003, 0.05, 0.05), **rod: Any) -> bl.Model:
    """Two cranks and a rod between balls, pulled at its middle."""
    m = bl.Model("rssr")
    m.parameter("l", 0.9)
    i = m.body("i", mass=1.0, com=(0.15, 0, 0), inertia=(0.01, 0.02, 0.02))
    c = m.body("c", **({"mass": 1.0, "com": ("l/3", 0, 0), "inertia": inertia} | rod))
    o = m.body("o", mass=1.0, com=(0, 0, 0.35), inertia=(0.03, 0.03, 0.01))
    m.joint("revolute", "A", m.ground, i, axis="z", start=0.4, rates=1.0)
    m.joint("spherical", "B", i.at(0.3, 0, 0), c)
    m.joint("spherical", "C", c.at("l", 0, 0), o.at(0, 0, 0.7))
    m.joint("revolute", "D", m.ground.at(0.7, 0, 0.1), o, axis="x")
    pulled = {"i": m.ground.at(0, 0, 1), "j": c.at("l/2", 0, 0)}
    m.force("spring_damper", "spring", **pulled, stiffness=20.0, length=0.5)
    return m


@pytest.mark.parametrize("length", [0.9, 0.86])
def test_a_rod_moves_as_the_body_in_reference_point_coordinates(length: float) -> None:
    system = bl.formulate(rssr(), "natural", rods="two-point")
    assert system.rods == ("c",)
    # a point of the rod, no vectors of its own
    assert len(bl.formulate(rssr(), "natural").q) - len(system.q) == 6
    given: dict[str, Any] = {"tolerance": 1e-10, "output": 0.25, "parameters": {"l": length}}
    given["formulation"] = "velocity_projection"
    rod = bl.simulate(system, 1.0, **given)
    body = bl.simulate(bl.formulate(rssr(), "reference"), 1.0, **given)
    for name in ("i", "c", "o"):
        one, other = rod.frame(name), body.frame(name)
        np.testing.assert_allclose(one.position, other.position, atol=1e-8)
        np.testing.assert_allclose(one.velocity, other.velocity, atol=1e-7)
    # its axis is that of the body, whatever its spin; and its frame is one
    axes = [run.frame("c").orientation[:, :, 0] for run in (rod, body)]
    np.testing.assert_allclose(axes[0], axes[1], atol=1e-8)
    R = rod.frame("c").orientation
    np.testing.assert_allclose(
        R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (len(R), 1, 1)), atol=1e-9
    )
    # what is left out is the energy of a spin that stays as it is
    spin = np.sum(axes[1] * body.frame("c").angular_velocity, axis=1)
    left_out = np.asarray(body["energy"]) - np.asarray(rod["energy"])
    np.testing.assert_allclose(left_out, 0.003 * spin**2 / 2, atol=1e-8)
    assert np.ptp(spin) < 1e-7 < 0.1 < np.abs(spin).min()


def test_bodies_that_would_lose_more_than_their_spin_stay_as_they_are() -> None:
    uneven = (0.02, 0.05, 0.06)
    assert bl.formulate(rssr(uneven), "natural", rods="two-point").rods == ()
    assert bl.formulate(rssr(com=(0.3, 0.01, 0)), "natural", rods="two-point").rods == ()
    looked_at = rssr()
    looked_at.sensor("pose", "pose", marker=looked_at.bodies["c"].at(0, 0, 0))
    assert bl.formulate(looked_at, "natural", rods="two-point").rods == ()


def test_a_spin_that_is_not_free_of_effect_is_left_out_if_the_body_is_named() -> None:
    assert bl.formulate(rssr((0.02, 0.05, 0.06)), "natural", rods="c").rods == ("c",)
    assert bl.formulate(rssr((0.02, 0.05, 0.06)), "natural", rods=["c"]).rods == ("c",)


@pytest.mark.parametrize(
    ("rods", "said"),
    [
        (["i"], r"body i cannot be .* two spherical joints .* A \(revolute\)"),
        (["x"], "no body 'x'"),
    ],
)
def test_what_cannot_be_a_rod_is_refused(rods: list[str], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        bl.formulate(rssr(), "natural", rods=rods)


def test_mass_beside_the_line_and_other_coordinates_are_refused() -> None:
    with pytest.raises(ModelError, match="centre of mass is beside"):
        bl.formulate(rssr(com=(0.3, 0.01, 0)), "natural", rods=["c"])
    with pytest.raises(ModelError, match="natural coordinates only"):
        bl.formulate(rssr(), "reference", rods="two-point")
