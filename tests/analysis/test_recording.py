"""What a run records of bodies: computed from its states, and only when it is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import biela as bl
from biela.analysis.kinematics import kinematics
from biela.analysis.recording import Recording
from biela.equations import System
from biela.results import RunStatistics
from examples.mechanisms.slider_crank import ROD, slider_crank
from tests.analysis.spinning_body import spinning_body


def body_with_frames(asked: list[str]) -> System:
    """A body that turns about (1, 2, 3); ``asked`` gets the capabilities that are used."""
    system = spinning_body(1.0, 2.0, 3.0)
    ws = bl.Workspace("frames")
    e = ws.symbols("e0 e1 e2 e3")
    w, a = ws.symbols("w1 w2 w3"), ws.symbols("a1 a2 a3")
    e0, e1, e2, e3 = e
    R = [
        [2 * (e0 * e0 + e1 * e1) - 1, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
        [2 * (e1 * e2 + e0 * e3), 2 * (e0 * e0 + e2 * e2) - 1, 2 * (e2 * e3 - e0 * e1)],
        [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 2 * (e0 * e0 + e3 * e3) - 1],
    ]
    zero = ws.atom(0)

    def turned(x):
        return [R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2] for i in range(3)]

    rows = {
        "poses": [[ws.atom(1), ws.atom(2), ws.atom(3), *R[0], *R[1], *R[2]]],
        "twists": [[zero, zero, zero, *turned(w)]],
        "frame_accelerations": [[zero, zero, zero, *turned(a)]],
    }

    class Asked(dict):
        def __getitem__(self, name):
            if name in rows:
                asked.append(name)
            return super().__getitem__(name)

    inputs = {"q": list(e), "v": list(w), "a": list(a)}
    made = {name: bl.Function(name, inputs, {name: entry}) for name, entry in rows.items()}
    return replace(system, frames=("top",), functions=Asked({**system.functions, **made}))


def test_the_motion_of_bodies_is_recorded_when_it_is_asked_for():
    asked: list[str] = []
    system = body_with_frames(asked)
    t = np.linspace(0, 4, 9)
    q = np.stack([np.cos(t), 0 * t, 0 * t, np.sin(t)], axis=1)  # 2 rad/s about z
    v, a = np.tile([0.0, 0, 2], (9, 1)), np.tile([0.0, 0, 0.5], (9, 1))
    none = np.zeros((9, 0))
    recording = Recording(system, {"q": q, "v": v, "a": a}, t, none, np.zeros(0), none)
    r = recording.results(RunStatistics(), (), False)
    assert r.frames == ("top",) and asked == []
    top = r.frame("top")
    assert top.rotation_about("z") == pytest.approx(2 * t, rel=0, abs=1e-12)
    assert set(asked) == {"poses", "twists"}
    assert top.position[-1].tolist() == [1.0, 2.0, 3.0]
    assert top.angular_acceleration[:, 2] == pytest.approx(0.5, rel=1e-14)
    assert r.frame("top").point((1, 0, 0)).velocity[0] == pytest.approx([0, 2, 0], abs=1e-14)


def test_a_system_without_poses_has_no_frames():
    system = spinning_body(1.0, 2.0, 3.0)
    one = {"q": np.array([[1.0, 0, 0, 0]]), "v": np.zeros((1, 3)), "a": np.zeros((1, 3))}
    none = np.zeros((1, 0))
    recording = Recording(system, one, np.zeros(1), none, np.zeros(0), none)
    assert recording.results(RunStatistics(), (), False).frames == ()


def test_a_run_of_a_mechanism_has_its_bodies_as_output_objects():
    """The piston end of the connecting rod, as a point of the rod, moves as the slider does."""
    s = slider_crank()
    rod = next(solid for solid in s.solids if solid.name == "rod")
    s.frame("rod", rod.point, rod.base)
    found = kinematics(s, 1.0, step=0.01, drives={"theta": "0.3 + 4*pi*t"})
    end = found.frame("rod").point((ROD, 0, 0))
    zero = np.zeros(len(found))
    assert np.abs(end.position - np.stack([found["x"], zero, zero], 1)).max() < 1e-12
    slider = found.v[:, 2], found.a[:, 2]
    assert np.abs(end.velocity - np.stack([slider[0], zero, zero], 1)).max() < 1e-10
    assert np.abs(end.acceleration - np.stack([slider[1], zero, zero], 1)).max() < 1e-8
    assert found.frame("rod").rotation_about("z") == pytest.approx(found["phi"], rel=0, abs=1e-12)
