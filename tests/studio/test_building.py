"""Equations without masses, where only positions are asked for."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.studio import arrows, building
from biela.studio.building import Builder, without_masses
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import gallery
from biela.studio.source import ModelSource


def test_a_motion_is_the_same_without_masses() -> None:
    model = gallery().source("quick-return").model({})
    motions = [
        bl.kinematics(bl.formulate(m, "joint"), 0.5, step=0.05)
        for m in (model, without_masses(model))
    ]
    for group in ("q", "v", "a", "poses"):
        assert motions[1][group] == pytest.approx(np.array(motions[0][group]), abs=1e-9)
    assert model.bodies["crank"].inertia.mass, "the model that was given keeps its masses"


def test_large_models_are_weighed_only_where_forces_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(building, "_WEIGHED", 2)
    session = Session(gallery().source("four-bar"))
    session.open()
    assert not [name for name in session.motion.monitors if "energy" in name]
    light = session.poser
    session.set_start("nothing", 0.0)
    assert session.poser is light, "nothing is derived anew"
    session.choose(analysis=Analysis.DYNAMICS, driven=False, q={})
    assert session.run(), session.error
    assert "energy" in session.motion.monitors
    assert np.ptp(session.motion["energy"]) < 1e-3 * np.ptp(session.motion["kinetic energy"])


def test_many_bodies_fall_in_loops_as_they_do_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = bl.Model("chain", plane="xz")
    before = model.ground
    for k in range(3):
        bar = model.body(f"bar{k}", mass=1.0, com=(0.1, 0, 0), inertia=(1e-5, 4e-3, 4e-3))
        place = before.at(0.2 if k else 0.0, 0, 0, axis="y")
        model.joint("revolute", f"pin{k}", place, bar.at(0, 0, 0, axis="y"))
        before = bar
    found = []
    for most in (30, 1):
        monkeypatch.setattr(building, "_WRITTEN_OUT", most)
        monkeypatch.setattr(building, "_WEIGHED", most)
        session = Session(ModelSource(model))
        session.choose(duration=0.5, q={"pin1.angle": 0.3})
        assert session.run(), session.error
        found.append(session)
    few, many = found
    assert "joints" in many.motion.groups and "energy" in many.motion.monitors
    assert many.motion["bar2.x"] == pytest.approx(few.motion["bar2.x"], abs=1e-4)
    many.go_to(0.25)
    few.go_to(0.25)
    assert many.position() == pytest.approx(few.position(), abs=1e-3)
    there, _ = many.poser.frame("bar2", many.position())
    assert there == pytest.approx(many.motion.frame("bar2").position[round(many.place)], abs=1e-9)


def test_what_is_weighed_serves_all_questions() -> None:
    builder = Builder(gallery().source("four-bar"))
    session = Session(gallery().source("four-bar"))
    first = builder.built(session.settings)
    session.choose(analysis=Analysis.DYNAMICS)
    assert builder.built(session.settings) is first


def test_arrows_of_reactions_are_those_of_the_whole_motion_at_its_instants() -> None:
    session = Session(gallery().source("four-bar"))
    session.open()
    found = arrows.reactions(session.model, session.motion)
    whole = bl.joint_reactions(session.model, session.motion)
    assert len(found.rows) < len(session.motion)
    for row in found.rows[::17]:
        shafts = found.segments(row, found.largest)  # a metre a newton
        for k, name in enumerate(found.names):
            force = whole[name][0][row]
            assert shafts[k, 1] - shafts[k, 0] == pytest.approx(force, abs=1e-6 * found.largest)
