"""Pulling at mechanisms: joints stay closed, the hand is followed, the closest is the closest."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import UnknownNameError
from biela.studio.dragging import Dragging
from biela.studio.session import Session
from biela.studio.shelf import gallery


def arm() -> bl.Model:
    """Two bars of 0.4 m and 0.3 m in the plane xz; the elbow bends one way only."""
    model = bl.Model("arm", plane="xz")
    upper = model.body("upper", mass=1.0)
    lower = model.body("lower", mass=1.0)
    model.joint("revolute", "shoulder", model.ground, upper, axis="-y", start=0.4)
    model.joint(
        "revolute",
        "elbow",
        upper.at(0.4, 0, 0, axis="-y"),
        lower.at(0, 0, 0, axis="-y"),
        start=0.8,
        limits=(0.1, 3.0),
    )
    lower.marker("hand", (0.3, 0, 0))
    return model


def hand(dragging: Dragging, q: np.ndarray) -> np.ndarray:
    r, R = dragging.poser.frame("lower", q)
    return r + R @ [0.3, 0, 0]


@pytest.fixture(scope="module")
def dragging() -> Dragging:
    return Dragging(arm(), 0.7)


def test_a_point_within_reach_goes_where_the_hand_is(dragging: Dragging) -> None:
    start = dragging.poser.start
    grip = dragging.grip("lower", hand(dragging, start), start)
    assert grip.point == pytest.approx([0.3, 0, 0])
    found = dragging.pull(grip, np.array([0.2, 0.0, 0.4]))
    assert found.missed < 1e-6
    shoulder, elbow = found.grip.q
    # the arm by its angles, written out
    x = 0.4 * np.cos(shoulder) + 0.3 * np.cos(shoulder + elbow)
    z = 0.4 * np.sin(shoulder) + 0.3 * np.sin(shoulder + elbow)
    assert (x, z) == pytest.approx((0.2, 0.4), abs=1e-6)
    assert elbow > 0, "it has not changed its side"


def test_a_target_out_of_reach_stops_at_the_closest_position(dragging: Dragging) -> None:
    start = dragging.poser.start
    grip = dragging.grip("lower", hand(dragging, start), start)
    target = np.array([0.9, 0.0, 1.2])
    found = dragging.pull(grip, target)
    for _ in range(5):  # the hand stays there for a while
        found = dragging.pull(found.grip, target)
    # the elbow cannot be straighter than 0.1 rad, so the reach is that of a triangle
    reach = np.sqrt(0.4**2 + 0.3**2 + 2 * 0.4 * 0.3 * np.cos(0.1))
    assert found.missed == pytest.approx(np.linalg.norm(target) - reach, rel=1e-5)
    assert found.place == pytest.approx(target / np.linalg.norm(target) * reach, abs=1e-5)
    assert found.at_limit == ("elbow.angle",)


def test_what_cannot_be_gripped_is_said(dragging: Dragging) -> None:
    with pytest.raises(UnknownNameError, match="lower"):
        dragging.grip("lowr", np.zeros(3), dragging.poser.start)


def test_a_rod_that_is_a_joint_is_gripped_by_the_body_at_its_nearer_end() -> None:
    session = Session(gallery().source("delta"))
    session.open()
    free, q = session.dragging, session.dragging.poser.start
    up = np.array([0, 0, 0.02])
    for end in ("arm1.left", "platform.left1"):
        body, place = end.partition(".")[0], free.poser.frame(end, q)[0]
        grip = free.grip("left1", place, q)
        assert grip.body == body
        found = free.pull(grip, place + up)
        there, R = free.poser.frame(body, found.grip.q)
        assert there + R @ grip.point == pytest.approx(place + up, abs=2e-3)


@pytest.mark.parametrize("name", ["bennett", "quick-return", "excavator", "rssr", "four-bar"])
def test_loops_stay_closed_however_wildly_one_pulls(name: str) -> None:
    """Against the equations in the coordinates of the bodies, which know nothing of the tree."""
    session = Session(gallery().source(name))
    session.open()
    model = session.dragging.poser.system
    random = np.random.default_rng(3)
    body = session.dragging.bodies[-1]
    place, _ = session.poser.frame(body, session.position())
    session.grip(body, place)
    for _ in range(12):
        before = session.position()
        found = session.pull(place + session.size * random.normal(size=3))
        error = np.abs(model.evaluate("Phi", found.grip.q)).max()
        assert error < 1e-6 * session.size
        assert np.isfinite(session.position()).all()
        assert np.isfinite(before).all()


def test_the_closest_position_of_a_crank_is_in_line_with_the_target() -> None:
    session = Session(gallery().source("slider-crank"))
    session.open()
    place, _ = session.poser.frame("crank.crank_pin", session.position())
    session.grip("crank", place)
    target = np.array([-3.0, 4.0, 0.0])
    for _ in range(4):
        found = session.pull(target)
    assert found.place == pytest.approx([-1.2, 1.6, 0.0], abs=1e-5), "2 m towards the target"
    assert "out of reach" in session.note


def test_a_marker_is_brought_to_a_place_by_its_name() -> None:
    session = Session(gallery().source("stewart"))
    session.open()
    head, _ = session.poser.frame("platform.head0", session.position())
    wanted = head + np.array([0.05, -0.02, 0.04])
    session.reach("platform.head0", wanted)
    found, _ = session.poser.frame("platform.head0", session.pose)
    assert found == pytest.approx(wanted, abs=1e-6)
    assert session.posed_scene().view == session.scene.view
