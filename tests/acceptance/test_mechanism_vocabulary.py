"""Words of mechanisms: freedoms by count and by rank, open and closed chains, coordinates, Φ.

Grübler's count 6 n - Σ (6 - f) against the rank of the constraints on known mechanisms, the six
and three freedoms of a body, and the three levels of scleronomic and rheonomic constraints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis import mobility
from biela.model.files import load
from biela.model.topology.topology import Topology

GALLERY = Path(__file__).parents[2] / "examples" / "mechanisms"


def serial(name: str, kinds: str) -> bl.Model:
    """A chain of bodies on joints R, P, S in skew directions."""
    m = bl.Model(name)
    before = m.ground
    names = {"R": "revolute", "P": "prismatic", "S": "spherical"}
    rng = np.random.default_rng(3)
    for k, kind in enumerate(kinds):
        body = m.body(f"b{k + 1}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        axis = tuple(rng.normal(size=3))
        m.joint(names[kind], f"J{k + 1}", before.at(*rng.normal(size=3), axis=axis),
                body.at(*rng.normal(size=3), axis=axis))  # fmt: skip
        before = body
    return m


def test_a_robot_of_five_hinges_and_a_slide_has_six_freedoms() -> None:
    m = serial("robot", "RRRPRR")
    assert Topology.of(m).freedoms == 6 * 6 - 6 * 5 == 6
    found = mobility(m)
    assert (found.by_count, found.by_rank) == (6, 6)
    assert Topology.of(m).loops == 0 and "open chain" in Topology.of(m).report()


def test_two_balls_leave_the_rod_of_a_spatial_four_bar_its_spin() -> None:
    """RSSR: 6·3 - (5 + 3 + 3 + 5) = 2, of which one is the rod about itself."""
    m = serial("open", "RSS")
    rocker = m.bodies["b3"]
    m.joint("revolute", "J4", m.ground.at(3, 0, 0, axis="z"), rocker.at(1, 0, 0, axis="z"))
    topology = Topology.of(m)
    assert topology.freedoms == 2 and topology.loops == 1
    assert "closed chain" in topology.report()
    assert mobility(m).by_rank == 2


@pytest.mark.parametrize(("file", "count"), [("bricard", 0), ("bennett", -2)])
def test_the_count_fails_for_special_dimensions_and_the_rank_does_not(
    file: str, count: int
) -> None:
    m = load(GALLERY / f"{file}.toml")
    m.drivers.clear()
    assert Topology.of(m).freedoms == count
    assert mobility(m).by_rank == 1


def two_pendulums() -> bl.Model:
    m = bl.Model("pendulums")
    one = m.body("one", mass=1.0, inertia=(0.1, 0.1, 0.1))
    two = m.body("two", mass=2.0, inertia=(0.1, 0.2, 0.1), position=(1, 0, 0))
    m.joint("revolute", "A", m.ground.at(axis="y"), one.at(axis="y"))
    m.joint("revolute", "B", one.at(1, 0, 0, axis="y"), two.at(axis="y"))
    m.force("spring_damper", "spring", i=m.ground.at(0, 0, 2), j=two.at(0.5, 0, 0), stiffness=30.0,
            damping=0.4, length=1.0)  # fmt: skip
    return m


def test_bodies_on_joints_with_springs_between_them_move_alike_in_all_coordinates() -> None:
    """Relative coordinates are as many as freedoms; a point and an orientation a body are more."""
    sizes = {}
    ends = []
    for coordinates in ("joint", "reference"):
        system = bl.formulate(two_pendulums(), coordinates)
        sizes[coordinates] = (len(system.q), len(system.v), len(system.multipliers))
        run = bl.simulate(system, 0.5, step=1e-3)
        ends.append(run.frame("two").position[-1])
    assert sizes == {"joint": (2, 2, 0), "reference": (14, 12, 10)}
    # independent constraints = coordinates less freedoms, in velocities
    assert 12 - 10 == 2
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-7)


def test_a_planar_model_has_three_coordinates_a_body() -> None:
    m = load(GALLERY / "four_bar.toml")
    bodies = len(m.bodies)
    system = bl.formulate(m if m.plane else m.in_plane("xy"), "reference")
    assert len(system.q) == len(system.v) == 3 * bodies
    found = mobility(system)
    assert not found.redundant


@pytest.mark.parametrize("driven", [False, True])
def test_constraints_with_and_without_time_hold_at_three_levels(driven: bool) -> None:
    """Φ_q q' = -Φ_t and Φ_q q'' = -Φ_t' - Φ_q' q'; without time both right sides lose Φ_t."""
    m = two_pendulums()
    m.forces.clear()
    law = "0.4 + sin(3*t)"
    m.driver("rotary", "a", coordinate="A", law=law if driven else "0.4")
    m.driver("rotary", "b", coordinate="B", law="0.2*t^2" if driven else "0.1")
    for coordinates in ("joint", "reference", "euler"):
        system = bl.formulate(m, coordinates)
        run = bl.kinematics(system, 0.3, step=0.01)
        q, v, a = (np.asarray(run[g])[-1] for g in "qva")
        t = float(run.t[-1])
        rows = np.atleast_2d(system.evaluate("Phi_v", q, t=t))
        beta = np.atleast_1d(system.evaluate("beta", q, t=t))
        gamma = np.atleast_1d(system.evaluate("gamma", q, v, t=t))
        assert np.abs(system.evaluate("Phi", q, t=t)).max() < 1e-12
        np.testing.assert_allclose(rows @ v, beta, atol=1e-11)
        np.testing.assert_allclose(rows @ a, gamma, atol=1e-10)
        assert (np.abs(beta).max() > 0.1) == driven
        if not driven:
            assert np.abs(v).max() < 1e-12
        else:  # the laws and their derivatives
            w = run.frame("one").angular_velocity[-1, 1]
            assert w == pytest.approx(3 * np.cos(3 * t), abs=1e-11)
            alpha = run.frame("two").angular_acceleration[-1, 1]
            assert alpha == pytest.approx(-9 * np.sin(3 * t) + 0.4, abs=1e-10)


def test_the_analyses_of_the_catalogue_are_all_asked_of_one_model() -> None:
    """Initial position, finite displacements, velocities, statics, modes, inverse and direct."""
    m = two_pendulums()
    assembled = bl.assemble(m)
    assert assembled.error < 1e-10
    rest = bl.equilibrium(m)
    modes = bl.linearise(m, rest.q).modes
    assert len(modes) >= 2
    driven = two_pendulums()
    driven.driver("rotary", "a", coordinate="A", law="0.3*sin(2*t)")
    driven.driver("rotary", "b", coordinate="B", law="0.2*cos(2*t)")
    moved = bl.kinematics(driven, 0.5, step=0.01)
    efforts = bl.inverse_dynamics(driven, moved)
    motor = efforts["λ(a.angle)"]
    assert np.isfinite(motor).all() and np.abs(motor).max() > 0.1
    run = bl.simulate(m, 0.2, step=1e-3)
    # nothing but the damper takes energy
    assert (np.diff(run["energy"]) <= 1e-9).all() and run["energy"][-1] < run["energy"][0] - 0.1
