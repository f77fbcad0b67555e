"""Signs of joints: closed surfaces, told apart by kind, where and as the joints are."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.studio.joint_signs import carried, joint_signs, sign_mesh, spacing
from biela.studio.posing import moving
from biela.studio.session import Session
from biela.studio.shelf import gallery
from biela.studio.solids import rotation
from tests.studio.test_pieces import is_closed, volume

KINDS = (
    "revolute",
    "prismatic",
    "cylindrical",
    "helical",
    "universal",
    "spherical",
    "planar",
    "fixed",
    "point_on_line",
)


def opened(name: str) -> Session:
    session = Session(gallery().source(name))
    session.open()
    return session


@pytest.mark.parametrize("kind", KINDS)
def test_a_sign_is_closed_looks_outwards_and_grows_with_its_length(kind: str) -> None:
    one, two = sign_mesh(kind, 1.0), sign_mesh(kind, 2.0)
    assert is_closed(one)
    assert volume(one) > 0
    assert volume(two) == pytest.approx(8 * volume(one))


def test_no_two_kinds_have_the_same_sign() -> None:
    assert len({sign_mesh(kind, 1.0).key for kind in KINDS}) == len(KINDS)


def test_every_joint_of_the_gallery_has_a_sign_but_rods_and_gears() -> None:
    for name in gallery().names:
        model = gallery().source(name).model({})
        whole = model.flattened() if model.parts else model
        wanted = {j.name for j in whole.joints.values() if j.kind not in ("distance", "gear")}
        assert {sign.name for sign in joint_signs(model)} == wanted


def test_the_driven_joint_is_known_by_short_and_full_names_of_its_coordinate() -> None:
    model = bl.Model("two", plane="xz")
    for k, coordinate in enumerate(("a", "b.angle")):
        body = model.body(f"body{k}", mass=1.0)
        name = coordinate[0]
        model.joint(
            "revolute", name, model.ground.at(k, 0, 0, axis="y"), body.at(0, 0, 0, axis="y")
        )
        model.driver("rotary", f"motor{k}", coordinate=coordinate, law="t")
    assert [sign.driven for sign in joint_signs(model)] == [True, True]
    assert [s.driven for s in joint_signs(gallery().source("slider-crank").model({}))] == [
        True,
        False,
        False,
        False,
    ]


def test_pins_turn_about_the_axis_of_their_joint_and_stay_in_it() -> None:
    session = opened("rssr")
    frame = moving(session.motion)
    for sign in joint_signs(session.model):
        track = sign.track(frame)
        r_i, R_i = (np.broadcast_to(x, (len(session.motion), *x.shape[1:])) for x in frame(sign.i))
        for k in (0, 70, 150):
            place, (e0, *e) = track.at(k)
            assert place == pytest.approx(r_i[k], abs=1e-9)
            z = np.array([0.0, 0, 1]) + 2 * np.cross(e, np.cross(e, [0, 0, 1]) + e0 * np.eye(3)[2])
            if sign.kind == "revolute":
                assert z == pytest.approx(R_i[k][:, 2], abs=1e-9)
            if sign.kind == "universal":  # across both arms, x_i among them
                assert z @ R_i[k][:, 0] == pytest.approx(0.0, abs=1e-9)


def test_signs_follow_the_hand_too() -> None:
    session = opened("four-bar")
    before = session.position()
    session.reach("coupler", session.poser.frame("coupler", before)[0] + [0.05, 0.0, 0.05])
    (sign, *_) = [s for s in joint_signs(session.model) if not s.i.startswith("ground")]
    place, _ = sign.track(session.frames()).at(0)
    there = session.poser.frame(sign.i, session.pose)[0]
    assert place == pytest.approx(there, abs=1e-6)
    assert np.linalg.norm(there - session.poser.frame(sign.i, before)[0]) > 1e-3


@pytest.mark.parametrize("name", ["four-bar", "rssr", "stewart"])
def test_signs_that_bodies_carry_are_where_each_would_be_by_itself(name: str) -> None:
    session = opened(name)
    frame, signs = moving(session.motion), joint_signs(session.model)
    groups = carried(signs, frame, 0.1)
    assert sorted(s.name for g in groups for s in g.signs) == sorted(s.name for s in signs)
    for k in (0, len(session.motion) // 3, len(session.motion) - 1):
        for group in groups:
            place, p = group.track(frame).at(k)
            together = group.mesh.vertices @ rotation(p).T + place
            alone = []
            for sign in group.signs:
                r, e = sign.track(frame).at(k)
                alone.append(sign_mesh(sign.kind, 0.1).vertices @ rotation(e).T + r)
            assert np.abs(together - np.concatenate(alone)).max() < 1e-9


def test_signs_are_small_where_joints_are_close() -> None:
    assert spacing(np.zeros((3, 3))) == np.inf
    row = np.arange(50)[:, None] * np.array([0.2, 0, 0])
    assert spacing(row) == pytest.approx(0.2)
    session = opened("slider-crank")
    assert session.unit <= session.size
