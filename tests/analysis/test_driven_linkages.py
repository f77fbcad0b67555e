"""Overconstrained linkages driven through whole turns and folds, against kinematics of their own.

`tests.oracles.hinge_loops` closes the chains by Newton's method on Denavit–Hartenberg transforms,
and knows closed forms of some.  All bodies are compared: places, velocities and accelerations.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import peaucellier as inversor
from tests.oracles.hinge_loops import DRIVEN, HingeLoop, closed_forms, wrapped
from tests.overconstrained import LINKAGES, peaucellier
from tests.soak import driven_motion
from tests.soak.driven_motion import ALLOWED, INSTANTS, driven, exact, gap, moved

#: The hinge of a linkage that is driven, and how far: a whole turn where it can make one.
SPANS = {
    "bennett": (0, 2 * np.pi),
    "goldberg": (0, 2 * np.pi),
    "myard": (1, 2 * np.pi),
    "bricard_trihedral": (0, 2.0),
    "bricard_line": (0, -4.0),
    "bricard_plane": (0, 2 * np.pi),
    "bricard_threefold": (0, 1.0),
    "sarrus": (0, -1.5),
    "four_bar": (1, 2 * np.pi),
    "parallelogram": (1, -2.0),
}
#: Each linkage and each way at least once; ``python -m tests.soak.driven_motion`` tries them all.
QUICK = [
    ("bennett", "looped"),
    ("goldberg", "joint"),
    ("goldberg", "natural"),
    ("myard", "euler"),
    ("bricard_trihedral", "natural"),
    ("bricard_line", "joint"),
    ("bricard_plane", "reference"),
    ("bricard_threefold", "joint"),
    ("four_bar", "looped"),
    ("parallelogram", "natural"),
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


def test_the_oracle_keeps_the_symmetries_of_bricard_linkages() -> None:
    for part in exact("bricard_line", 0, *SPANS["bricard_line"])[1]:
        assert np.abs(wrapped(part[:, :3] - part[:, 3:])).max() < 1e-11
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


def test_every_linkage_is_driven_and_in_every_way() -> None:
    # the straight line of a Sarrus linkage is a test of its own
    assert {name for name, _ in QUICK} | {"sarrus"} == set(LINKAGES) == set(SPANS)
    assert {way for _, way in QUICK} == set(driven_motion.WAYS)


def test_a_driven_sarrus_linkage_goes_straight_without_turning() -> None:
    """The second of three parallel hinges moves on a circle, the platform on a line."""
    posed, path, bars = exact("sarrus", 0, *SPANS["sarrus"])
    run = driven("sarrus", 0, *SPANS["sarrus"], "reference")
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


@pytest.mark.parametrize("way", ["joint", "natural", "looped"])
def test_a_driven_peaucellier_linkage_in_space_draws_its_line(way: str) -> None:
    m, given = peaucellier(0)
    # to the other side of its symmetric position, and beyond
    span = 2 * abs(given.angle)
    rate = -float(np.sign(given.angle))
    m.driver("rotary", "motor", coordinate="C.angle", law="t" if rate > 0 else "-t")
    found = moved(m, span, way)
    phi = given.angle + rate * np.asarray(found.t)
    Q, angles = inversor.motion(phi, rate, given.long, given.side, given.crank)
    n = given.turn[:, 2]
    for bar, (angle, speed, change) in angles.items():
        frame = found.frame(bar)
        c, s = np.cos(angle - angle[0]), np.sin(angle - angle[0])
        x, y = given.turn[:, 0], given.turn[:, 1]
        R = np.asarray(frame.orientation).reshape(-1, 3, 3)
        assert np.abs(R @ x - np.outer(c, x) - np.outer(s, y)).max() < 1e-9
        assert np.abs(np.asarray(frame.angular_velocity) - np.outer(speed, n)).max() < 1e-9
        assert np.abs(np.asarray(frame.angular_acceleration) - np.outer(change, n)).max() < 1e-9
    frame = found.frame("AQ")
    R = np.asarray(frame.orientation).reshape(-1, 3, 3)
    start = given.place + given.turn @ [*Q[0, 0], 0.0]
    w, alpha = np.asarray(frame.angular_velocity), np.asarray(frame.angular_acceleration)
    arm = R @ start
    place = np.asarray(frame.position) + arm
    velocity = np.asarray(frame.velocity) + np.cross(w, arm)
    acceleration = (
        np.asarray(frame.acceleration) + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    )
    flat = np.concatenate([Q, np.zeros((3, len(phi), 1))], axis=2) @ given.turn.T
    assert np.abs(place - given.place - flat[0]).max() < 1e-9
    assert np.abs(velocity - flat[1]).max() < 1e-9
    assert np.abs(acceleration - flat[2]).max() < 1e-9
    line = (place - given.place) @ given.turn[:, 0]
    assert np.abs(line - (given.long**2 - given.side**2) / (2 * given.crank)).max() < 1e-9
