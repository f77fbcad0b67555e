"""The same mechanism in joint and in reference-point coordinates: the strongest test there is.

Random states of joint coordinates are carried over body by body; accelerations of all bodies must
be the same, and what one formulation solves for is never seen by the other.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import biela as bl
from biela.analysis.instant import Instant
from biela.equations import System

INERTIA = (0.03, 0.05, 0.04, 0.004, -0.006, 0.002)


def arm(kind: str, **settings: object) -> bl.Model:
    """A body on a joint of the kind, with a second one hinged to it."""
    m = bl.Model(f"arm on {kind}")
    first = m.body("first", mass=1.3, com=(0.1, 0.05, -0.2), inertia=INERTIA)
    second = m.body("second", mass=0.7, com=(0.0, 0.1, -0.1), inertia=INERTIA)
    i = m.ground.at(0.1, -0.2, 0.3, axis=(1, 2, -1), x_axis=(0, 1, 1))
    j = first.at(0.05, 0.1, 0.2, axis=(0, 1, 0.3), x_axis="x")
    m.joint(kind, "J", i, j, **settings)
    m.joint("revolute", "hinge", first.at(0, 0, -0.4), second.at(0, 0, 0.1), axis="y")
    return m


def carried_over(joint: System, reference: System, q: np.ndarray, v: np.ndarray, bodies: dict):
    """The state of reference-point coordinates with all bodies at the same places."""
    poses, twists = joint.evaluate("poses", q), joint.evaluate("twists", q, v)
    qs = {e.name: e.value for e in reference.q}
    vs = {e.name: 0.0 for e in reference.v}
    for name, com in bodies.items():
        k = joint.frames.index(name)
        x, R = poses[k][:3], poses[k][3:].reshape(3, 3)
        speed, omega = twists[k][:3], twists[k][3:]
        r, rate = x + R @ com, speed + np.cross(omega, R @ com)
        e = np.roll(Rotation.from_matrix(R).as_quat(), 1)
        for i, axis in enumerate("xyz"):
            qs[f"{name}.r{axis}"], vs[f"{name}.r{axis}_rate"] = r[i], rate[i]
            vs[f"{name}.own_w{axis}"] = (R.T @ omega)[i]
        qs |= {f"{name}.e{i}": e[i] for i in range(4)}
    return qs, vs


def accelerations(system: System, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> np.ndarray:
    instant = Instant(system, t, system.inputs, system.parameters)
    a, _ = instant.motion(q, v)
    return np.asarray(system.evaluate("frame_accelerations", q, v, a=a, t=t))


def random_state(system: System, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    start = np.array([e.value for e in system.q])
    instant = Instant(system, 0.0, system.inputs, system.parameters)
    q = instant.moved(start, 0.6 * random.uniform(-1, 1, len(system.v)))
    if system.multipliers:
        found = instant.assembled(q)
        for _ in range(9):  # from too far away a joint may close half a turn off
            if found is None:
                away = 0.6 * random.uniform(-1, 1, len(system.v))
                found = instant.assembled(instant.moved(start, away))
        assert found is not None
        q = found
    v = random.uniform(-1, 1, len(system.v))
    if system.multipliers:
        rows = instant.Phi_v(q)
        v = v - np.linalg.pinv(rows) @ (rows @ v - instant.beta(q))
    return q, v


def compare(m: bl.Model, seed: int = 0) -> None:
    joint, reference = bl.formulate(m, "joint"), bl.formulate(m, "reference")
    coms = {name: np.array(body.inertia.com) for name, body in m.bodies.items()}
    for k in range(3):
        q, v = random_state(joint, seed + k)
        qs, vs = carried_over(joint, reference, q, v, coms)
        for entry in joint.q:  # turns that are counted in both
            if entry.name in qs:
                k_q = [e.name for e in joint.q].index(entry.name)
                qs[entry.name] = q[k_q]
        names_v = [e.name for e in joint.v]
        for entry in reference.v:
            if entry.name in names_v:
                vs[entry.name] = v[names_v.index(entry.name)]
        q_r, v_r = np.array(list(qs.values())), np.array(list(vs.values()))
        own = [e.name for e in reference.q if e.name.partition(".")[0] not in coms]
        if own:  # coordinates that count turns where the other formulation needs none
            instant = Instant(reference, 0.0, reference.inputs, reference.parameters)
            q_r = instant.assembled(q_r)
            rows = instant.Phi_v(q_r)
            v_r = v_r - np.linalg.pinv(rows) @ (rows @ v_r - instant.beta(q_r))
        np.testing.assert_allclose(np.atleast_1d(reference.evaluate("Phi", q_r)), 0.0, atol=2e-12)
        found, expected = accelerations(reference, q_r, v_r), accelerations(joint, q, v)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, atol=1e-9 * scale)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("revolute", {}),
        ("prismatic", {}),
        ("cylindrical", {}),
        ("universal", {}),
        ("spherical", {}),
        ("planar", {}),
        ("helical", {"pitch": 0.3}),
        ("fixed", {}),
        ("free", {}),
        ("point_on_line", {}),
        (
            "point_on_curve",
            {"x": "0.3*cos(s)", "y": "0.2*sin(s)", "z": "0.1*s", "start": {"s": 0.4}},
        ),
    ],
)
def test_a_joint_carries_a_body_as_its_equations_hold_it(kind: str, settings: dict) -> None:
    compare(arm(kind, **settings))


@pytest.mark.parametrize(
    "kind",
    [
        "revolute",
        "prismatic",
        "cylindrical",
        "universal",
        "spherical",
        "planar",
        "helical",
        "point_on_line",
        "distance",
    ],
)
def test_a_joint_may_close_a_loop(kind: str) -> None:
    """Two arms on universal joints, whose ends are held together by the joint."""
    m = bl.Model(f"loop closed by {kind}")
    left = m.body("left", mass=1.3, com=(0.1, 0.05, 0.2), inertia=INERTIA)
    right = m.body("right", mass=0.7, com=(0.0, 0.1, 0.1), inertia=INERTIA)
    middle = m.body("middle", mass=0.4, com=(0.0, 0.0, 0.1), inertia=INERTIA)
    m.joint("universal", "A", m.ground.at(-0.3, 0, 0), left)
    m.joint("universal", "B", m.ground.at(0.3, 0.1, 0), right)
    m.joint("spherical", "C", left.at(0, 0, 0.5), middle)
    settings = {"helical": {"pitch": 0.2}, "distance": {"length": 0.35}}.get(kind, {})
    m.joint(kind, "closing", middle.at(0.3, 0, 0.1), right.at(0, 0, 0.5), **settings)
    compare(m, seed=7)
