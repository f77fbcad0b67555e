"""Overconstrained linkages driven through whole turns and folds, against kinematics of their own.

`tests.oracles.hinge_loops` closes the chains by Newton's method on Denavit–Hartenberg transforms,
and knows closed forms of some.  All bodies are compared: places, velocities and accelerations.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from biela.analysis.reach import nearest
from tests.oracles.hinge_loops import DRIVEN, HingeLoop, closed_forms, wrapped
from tests.soak import driven_motion
from tests.soak.driven_motion import ALLOWED, INSTANTS, driven, exact, gap

#: The hinge of a linkage that is driven, and how far: a whole turn where it can make one.
SPANS = {
    "bennett": (0, 2 * np.pi),
    "goldberg": (0, 2 * np.pi),
    "myard": (1, 2 * np.pi),
    "bricard_plane": (0, 2 * np.pi),
    "bricard_threefold": (0, 1.0),
    "sarrus": (0, -1.5),
    "four_bar": (1, 2 * np.pi),
    "parallelogram": (1, -2.0),
}
#: Loops with different ranks; ``python -m tests.soak.driven_motion`` tries all of them in all ways.
QUICK = [
    ("bennett", "looped"),
    ("goldberg", "natural"),
    ("bricard_plane", "joint"),
    ("bricard_threefold", "joint"),
]


# --------------------------------------------------------------------------- the oracle itself


@pytest.mark.parametrize("name", DRIVEN)
def test_the_oracle_follows_closed_forms(name: str) -> None:
    assert SPANS[name][0] == DRIVEN[name]
    posed, path, _ = exact(name, 0, *SPANS[name])
    given = tuple(part[:, DRIVEN[name]] for part in path)
    for hinge, wanted in closed_forms(name, posed.chain.rows, given, posed.theta).items():
        assert np.abs(wrapped(path[0][:, hinge] - wanted[0])).max() < 1e-12
        assert np.abs(path[1][:, hinge] - wanted[1]).max() < 1e-11
        assert np.abs(path[2][:, hinge] - wanted[2]).max() < 1e-10


def test_the_oracle_keeps_the_symmetry_of_a_bricard_linkage() -> None:
    for part in exact("bricard_plane", 0, *SPANS["bricard_plane"])[1]:
        assert np.abs(wrapped(part[:, [1, 2]] - part[:, [5, 4]])).max() < 1e-11
    posed, path, _ = exact("bricard_plane", 0, *SPANS["bricard_plane"])
    # the plane of symmetry holds the first hinge and the fourth one
    loop = HingeLoop(posed.chain.rows)
    for theta in path[0]:
        T = loop.frames(theta)[3]
        normal = np.array([np.sin(theta[0] / 2), -np.cos(theta[0] / 2), 0.0])
        square = np.array([np.cos(theta[0] / 2), np.sin(theta[0] / 2), 0.0])
        across = [max(abs(T[:3, 2] @ n), abs(T[:3, 3] @ n)) for n in (normal, square)]
        assert min(across) < 1e-12


def test_the_velocities_of_the_oracle_are_slopes_of_its_places() -> None:
    """Differences of fourth order along the path."""
    _, path, bars = exact("goldberg", 0, *SPANS["goldberg"])
    h = SPANS["goldberg"][1] / (INSTANTS - 1)

    def slope(x: np.ndarray) -> np.ndarray:
        return (8 * (x[3:-1] - x[1:-3]) - (x[4:] - x[:-4])) / (12 * h)

    size = max(1.0, np.abs(bars[-1].acceleration).max())
    assert np.abs(slope(path[1]) - path[2][2:-2]).max() < 1e-2 * np.abs(path[2]).max()
    assert np.abs(slope(bars[-1].position) - bars[-1].velocity[2:-2]).max() < 1e-3
    assert np.abs(slope(bars[-1].velocity) - bars[-1].acceleration[2:-2]).max() < 1e-2 * size


# --------------------------------------------------------------------------- linkages


@pytest.mark.parametrize(("name", "way"), QUICK)
def test_driven_linkages_move_as_their_chains(name: str, way: str) -> None:
    found = driven(name, 0, *SPANS[name], way)
    assert gap(found, exact(name, 0, *SPANS[name])[2]) < ALLOWED
    assert not found.events


def test_linkages_are_driven_through_whole_turns_where_they_can_be() -> None:
    assert driven_motion.reach("goldberg", 1) == (0, 2 * np.pi)
    hinge, span = driven_motion.reach("bricard_threefold", 0)
    assert 1.0 < abs(span) < 2 * np.pi
    loop = HingeLoop(exact("bricard_threefold", 0, hinge, span)[0].chain.rows)
    path = exact("bricard_threefold", 0, hinge, span)[1]
    assert min(loop.grip(theta, hinge) for theta in path[0]) > driven_motion.GRIP


def test_a_driven_sarrus_linkage_goes_straight_without_turning() -> None:
    """The second of three parallel hinges moves on a circle, the platform on a line."""
    posed, path, bars = exact("sarrus", 0, *SPANS["sarrus"])
    run = driven("sarrus", 0, *SPANS["sarrus"], "joint")
    assert gap(run, bars) < ALLOWED
    found = run.frame("bar2")
    a = posed.chain.rows[0, 0]
    level = np.sin(posed.theta[0]) + np.sin(posed.theta[:2].sum())
    x = path[0][:, 0]
    other = np.sign(np.cos(posed.theta[:2].sum())) * np.sqrt(1 - (level - np.sin(x)) ** 2)
    along = a * (np.cos(x) + other)
    wanted = np.outer(along - along[0], posed.turn[:, 0])
    assert np.abs(np.asarray(found.position) - wanted).max() < 1e-11
    turned = np.asarray(found.orientation).reshape(-1, 3, 3)
    assert np.abs(turned - np.eye(3)).max() < 1e-11
    assert np.abs(np.asarray(found.angular_velocity)).max() < 1e-11


# --------------------------------------------------------------------------- Peaucellier


def test_a_driven_peaucellier_linkage_in_space_draws_its_line() -> None:
    assert driven_motion.inversor_gap(0, "joint") < ALLOWED


def test_a_step_whose_damping_is_lost_in_rounding_is_damped_more():
    """Of the row (1, 1) 1e10 the damped normal matrix is singular, until the damping is felt."""
    row = np.array([[1e10, 1e10]])
    instant = SimpleNamespace(
        system=SimpleNamespace(geometric=1),
        Phi=lambda q: row @ q - 1e10,
        Phi_v=lambda q: row,
        moved=lambda q, step: q + step,
    )
    found = nearest(instant, np.zeros(2))
    assert found.q.sum() == pytest.approx(1.0, rel=1e-9)
