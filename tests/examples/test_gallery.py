"""Every model file of the gallery: it reads back, runs, and obeys the same laws in all coordinates.

A mechanism runs once, in joint coordinates, as its [run] table says.  States of that motion are
carried over, body by body, to reference-point coordinates, where all joints are equations: these
must hold, and give the same accelerations and the same multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import biela as bl
from biela.analysis.instant import Instant
from biela.analysis.joint_reactions import joint_reactions
from biela.model.files import dumps, loads
from biela.results.channels import Channels
from tests.examples.gallery import NAMES, Floats, model, motion, system, times

#: Motions from forces alone are integrated with a tolerance of 1e-10: energy kept to this part.
ENERGY = 1e-7
NORMAL = {"xy": 2, "xz": 1, "yz": 0}
GROUPS = {"poses": 12, "twists": 6, "frame_accelerations": 6}


@dataclass(frozen=True)
class State:
    """A mechanism at an instant: bodies (k, 24) as poses, twists and accelerations, multipliers."""

    bodies: Floats
    lam: dict[str, float]
    redundant: int


@cache
def whole(name: str) -> bl.Model:
    """The model with its parts written out."""
    return model(name).flattened()


@cache
def instants(name: str) -> tuple[int, ...]:
    """Instants of the motion that are looked at: at no simple part of it, where all may vanish."""
    return tuple(int(part * len(motion(name).t)) for part in (0.13, 0.41, 0.77))


def state(equations: bl.System, name: str, q: Floats, v: Floats, t: float, u: Floats) -> State:
    """Accelerations and multipliers in the coordinates of the equations."""
    instant = Instant(equations, t, u, equations.parameters)
    a, lam = instant.motion(q, v)
    rows = [equations.frames.index(body) for body in whole(name).bodies]
    parts = (
        instant("poses", q),
        instant("twists", q, v),
        instant("frame_accelerations", q, v, a=a),
    )
    Phi_v = instant.Phi_v(q)
    # what is in a self-stress is not determinate
    U, s, _ = np.linalg.svd(Phi_v)
    free = U[:, int((s > 1e-9 * s.max(initial=0.0)).sum()) :]
    sure = np.linalg.norm(free, axis=1) < 1e-9
    return State(
        np.concatenate([np.asarray(part)[rows] for part in parts], axis=1),
        {n: x for n, x, fixed in zip(equations.multipliers, lam, sure, strict=True) if fixed},
        free.shape[1],
    )


def carried_over(name: str, joint: State, t: float, u: Floats) -> tuple[Floats, Floats]:
    """The state of reference-point coordinates with all bodies at the same places."""
    reference, m = system(name, "reference"), whole(name)
    qs = {entry.name: entry.value for entry in reference.q}
    vs = dict.fromkeys((entry.name for entry in reference.v), 0.0)
    for (body, described), row in zip(m.bodies.items(), joint.bodies, strict=True):
        R, omega = row[3:12].reshape(3, 3), row[15:18]
        c = R @ [m.number(x, "length") for x in described.inertia.com]
        r, rate = row[:3] + c, row[12:15] + np.cross(omega, c)
        if m.plane is None:
            e = np.roll(Rotation.from_matrix(R).as_quat(), 1)
            qs |= {f"{body}.e{i}": e[i] for i in range(4)}
            qs |= {f"{body}.r{axis}": r[i] for i, axis in enumerate("xyz")}
            vs |= {f"{body}.r{axis}_rate": rate[i] for i, axis in enumerate("xyz")}
            vs |= {f"{body}.own_w{axis}": (R.T @ omega)[i] for i, axis in enumerate("xyz")}
            continue
        n = NORMAL[m.plane]
        a, b = (n + 1) % 3, (n + 2) % 3
        qs[f"{body}.angle"], vs[f"{body}.angle_rate"] = np.arctan2(R[b, a], R[a, a]), omega[n]
        for axis in m.plane:
            i = "xyz".index(axis)
            qs[f"{body}.r{axis}"], vs[f"{body}.r{axis}_rate"] = r[i], rate[i]
    q, v = np.array(list(qs.values())), np.array(list(vs.values()))
    counted = [entry.name.rpartition(".")[0] not in m.bodies for entry in reference.v]
    if any(counted):  # coordinates that count turns, not those of a body
        q, v = _counted(Instant(reference, t, u, reference.parameters), q, v, np.array(counted))
    return q, v


def _counted(instant: Instant, q: Floats, v: Floats, counted: np.ndarray) -> tuple[Floats, Floats]:
    """Turns from their own equations, the bodies staying where they are."""
    for _ in range(20):
        step = np.zeros(len(v))
        step[counted] = -np.linalg.pinv(instant.Phi_v(q)[:, counted]) @ instant.Phi(q)
        q = instant.moved(q, step)
    rows = instant.Phi_v(q)
    missing = instant.beta(q) - rows[:, ~counted] @ v[~counted]
    v[counted] = np.linalg.pinv(rows[:, counted]) @ missing
    return q, v


@cache
def both(name: str) -> list[tuple[State, State]]:
    """States of the motion in joint and in reference-point coordinates."""
    found = []
    results, joint, reference = motion(name), system(name), system(name, "reference")
    inputs = np.asarray(results["u"]) if joint.u else np.zeros((len(results.t), 0))
    for k in instants(name):
        t, q, v, u = float(results.t[k]), results["q"][k], results["v"][k], inputs[k]
        here = state(joint, name, q, v, t, u)
        q_r, v_r = carried_over(name, here, t, u)
        instant = Instant(reference, t, u, reference.parameters)
        assert np.abs(instant.Phi(q_r)).max(initial=0.0) <= 1e-9 * _size(name)
        missed = instant.Phi_v(q_r) @ v_r - instant.beta(q_r)
        assert np.abs(missed).max(initial=0.0) <= 1e-9 * max(1.0, np.abs(v_r).max())
        found.append((here, state(reference, name, q_r, v_r, t, u)))
    return found


def _size(name: str) -> float:
    return max(1.0, float(np.abs(np.asarray(motion(name)["poses"])).max()))


# -------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize("name", NAMES)
def test_a_file_reads_back_as_the_same_model(name: str) -> None:
    text = dumps(model(name))
    assert dumps(loads(text)) == text
    assert model(name).description
    assert times(name, "duration") > times(name, "step") > 0


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_to_the_end(name: str) -> None:
    results = motion(name)
    assert results.t[-1] == pytest.approx(times(name, "duration"))
    assert results.statistics is not None
    assert results.statistics.max_constraint_error <= 1e-9 * _size(name)
    assert model(name).sensors
    if not model(name).drivers:
        energy, kinetic = np.asarray(results["energy"]), np.asarray(results["kinetic energy"])
        assert np.ptp(energy) <= ENERGY * max(kinetic.max(), np.ptp(energy - kinetic))


@pytest.mark.parametrize("name", NAMES)
def test_bodies_move_alike_in_both_coordinates(name: str) -> None:
    for joint, reference in both(name):
        for columns in (slice(0, 12), slice(12, 18), slice(18, 24)):
            scale = max(1.0, np.abs(joint.bodies[:, columns]).max())
            gap = np.abs(reference.bodies[:, columns] - joint.bodies[:, columns]).max()
            assert gap <= 1e-9 * scale


@pytest.mark.parametrize("name", NAMES)
def test_joints_and_drivers_carry_the_same_in_both_coordinates(name: str) -> None:
    for joint, reference in both(name):
        common = [n for n in joint.lam if n in reference.lam]
        driven = [n for n in common if n.partition(".")[0] in model(name).drivers]
        assert len(driven) >= len(model(name).drivers)
        assert common or not joint.lam
        scale = max((abs(x) for x in reference.lam.values()), default=0.0)
        for n in common:
            assert abs(joint.lam[n] - reference.lam[n]) <= 1e-9 * scale, n


@pytest.mark.parametrize("name", NAMES)
def test_reactions_follow_from_a_motion_in_any_coordinates(name: str) -> None:
    ways = [_few(name, [pair[k].bodies for pair in both(name)]) for k in (0, 1)]
    first, second = (joint_reactions(model(name), way) for way in ways)
    sure = first.determinate & second.determinate
    scale = np.abs(first.wrenches).max()
    assert np.abs(first.wrenches - second.wrenches)[sure].max() <= 1e-9 * scale


def _few(name: str, states: list[Floats]) -> bl.Results:
    """States of bodies as the results of a run."""
    t = np.asarray(motion(name).t)[list(instants(name))]
    groups, first = {}, 0
    for group, width in GROUPS.items():
        names = [
            n
            for n in motion(name).groups[group].names
            if n.rpartition(".")[0] in whole(name).bodies
        ]
        part = np.array([bodies[:, first : first + width].ravel() for bodies in states])
        groups[group] = Channels(names, part)
        first += width
    if system(name).u:
        inputs = motion(name).groups["u"]
        groups["u"] = Channels(inputs.names, np.asarray(motion(name)["u"])[list(instants(name))])
    return bl.Results(name, t, groups)


@pytest.mark.parametrize("name", NAMES)
def test_redundant_equations_are_named(name: str) -> None:
    """As many as the singular values of Φ_v say, each with the joint or driver that owns it."""
    equations = system(name, "reference")
    found = bl.assemble(equations).redundant
    assert len(found) == both(name)[0][1].redundant
    owners = {*whole(name).joints, *whole(name).drivers}
    for row in found:
        assert any(row.startswith(f"{owner}.") for owner in owners)
