"""Idle freedoms: motions of a body that moves nothing but itself.

A rod between two balls spins about the line through them while all other bodies rest; so do the two
halves of a strut, and a pin that floats in both of its bearings.  Such a motion z is one that all
constraints allow,

    Φ_v z = 0,     J_b z = 0 for all bodies b but one, or but two that a joint connects,

with J_b the twist of a body by the velocities.  What moves must be held by at least two others:
the last link of an arm moves alone too, but that is what the arm is for.  Two bodies turn about
parallel lines or slide along them; a rod and the slider that it pushes are not idle.  A motion that
is possible for an instant only, as of two bars in line, is not one: it is followed a little way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.driving import constrained
from biela.analysis.instant import Instant, motions
from biela.analysis.unrolled import Unrolled
from biela.atoms import Atom
from biela.equations import System
from biela.equations.groups.placing import upright_axis
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.singular_values import svd

Floats = npt.NDArray[np.float64]

#: Motions and poses that differ by less are the same (m, rad).
_SAME: Final = 1e-8
#: How far an idle motion is followed.
_WAY: Final = 0.3


@dataclass(frozen=True, eq=False)
class IdleFreedom:
    """A motion of a body, or of two that are joined, which moves nothing else.

    Attributes:
        bodies: Those that move.
        joints: Those that connect them to what rests.
        z: The velocities, of length one.
        turns: Whether the first body turns; else it slides.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    z: Floats
    turns: bool

    def __str__(self) -> str:
        verb = "turn" if self.turns else "slide"
        who = " with ".join(self.bodies)
        return f"{who} can {verb} between {' and '.join(self.joints)} without moving anything else"


def idle_freedoms(instant: Instant, q: Floats) -> tuple[IdleFreedom, ...]:
    """The idle freedoms of the mechanism at a position that fulfils the constraints.

    A system that was not derived from bodies and joints has none that are known.
    """
    system = instant.system
    if system.begins is None or "twists" not in system or not system.multipliers:
        return ()
    R = motions(instant.Phi_v(q)).R
    if not R.shape[1]:
        return ()
    twists = _body_twists(instant, q, R)
    found: list[IdleFreedom] = []
    for bodies, joints in _candidates(system.begins.model):
        others = [J for name, J in twists.items() if name not in bodies]
        own = np.concatenate([twists[name] for name in bodies])
        known = np.array([R.T @ one.z for one in found]).reshape(-1, R.shape[1])
        rest = _null_space(np.concatenate([*others, known]))
        for along in (rest @ svd(own @ rest)[2].T).T:
            if not np.abs(own @ along).max() > _SAME:
                continue  # a coordinate that moves no body
            z = R @ along
            if not _alike([twists[name] @ along for name in bodies]):
                continue
            if _goes_on(instant, q, z, bodies):
                turns = bool(np.abs(twists[bodies[0]][3:] @ along).max() > _SAME)
                found.append(IdleFreedom(bodies, joints, z, turns))
    return tuple(found)


def _alike(twists: Sequence[Floats]) -> bool:
    """Whether all bodies turn about parallel lines, or all slide along them.

    A rod that turns while it pushes a slider is no idle part, even if both move by themselves.
    """
    first, *others = twists
    for other in others:
        turns = [float(np.linalg.norm(twist[3:])) > _SAME for twist in (first, other)]
        if turns[0] != turns[1]:
            return False
        part = slice(3, 6) if turns[0] else slice(0, 3)
        if np.linalg.norm(np.cross(first[part], other[part])) > _SAME:
            return False
    return True


def moved_coordinates(
    instant: Instant, q: Floats, idle: Sequence[IdleFreedom]
) -> npt.NDArray[np.bool_]:
    """Which coordinates change in idle motions."""
    Z = np.array([one.z for one in idle]).reshape(-1, len(instant.system.v)).T
    return np.asarray((np.abs(instant.N(q) @ Z) > _SAME).any(axis=1))


def held(instant: Instant, q: Floats, idle: Sequence[IdleFreedom]) -> System:
    """The system with further constraints that hold idle freedoms, fulfilled at a position.

    As in structural groups, a turn is held by an axis u of the body across its line that stays
    level, u · w = 0 with w upright.  A slide is held by the place of the body along its line, seen
    from one that it slides on: d · (r - r') with d fixed in that.
    """
    system, places = instant.system, _frames(instant.system)
    poses = np.asarray(instant("poses", q))
    along = {one: _body_twists(instant, q, one.z[:, None])[one.bodies[0]][:, 0] for one in idle}

    def equations(unrolled: Unrolled) -> list[tuple[str, Atom]]:
        frames = unrolled("poses")
        rows = []
        for one in idle:
            k = places[one.bodies[0]]
            if one.turns:
                row = _level(poses[k], along[one][3:], frames[k])
            else:
                other = places.get(_beside(system, one))
                there = None if other is None else (poses[other], frames[other])
                row = _place_along(poses[k], along[one][:3], frames[k], there)
            rows.append((f"idle {one.bodies[0]}", row))
        return rows

    return constrained(system, equations)


def _level(pose: Floats, turn: Floats, frame: Sequence[Atom]) -> Atom:
    """An axis of a body across the line of a turn, seen along an upright axis."""
    line = turn / np.linalg.norm(turn)
    upright = upright_axis(line[None])[:, 2]
    level = np.cross(upright, line)
    across = pose[3:].reshape(3, 3).T @ (level / np.linalg.norm(level))
    return _turned(frame, across, int(np.argmax(np.abs(upright))))


def _place_along(
    pose: Floats,
    slide: Floats,
    frame: Sequence[Atom],
    beside: tuple[Floats, Sequence[Atom]] | None,
) -> Atom:
    """How far a body is from where it was, along a line in another body or in the ground."""
    line = slide / np.linalg.norm(slide)
    if beside is None:
        parts = [float(d) * (x - float(x0)) for d, x, x0 in zip(line, frame, pose, strict=False)]
        return parts[0] + parts[1] + parts[2]
    there, other = beside
    local = there[3:].reshape(3, 3).T @ line
    parts = [_turned(other, local, i) * (frame[i] - other[i]) for i in range(3)]
    return parts[0] + parts[1] + parts[2] - float(line @ (pose[:3] - there[:3]))


def _turned(frame: Sequence[Atom], local: Floats, i: int) -> Atom:
    """A component in the ground of a direction that is fixed in a body."""
    x, y, z = (float(c) * e for c, e in zip(local, frame[3 + 3 * i : 6 + 3 * i], strict=True))
    return x + y + z


def _beside(system: System, one: IdleFreedom) -> str:
    """A body, or the ground, that a joint of an idle freedom leads to."""
    assert system.begins is not None, "asked for where there are bodies"
    joint = system.begins.model.joints[one.joints[0]]
    assert isinstance(joint, Joint), "what connects bodies"
    return next(m.body for m in (joint.i, joint.j) if m.body not in one.bodies)


def _candidates(model: Model) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Bodies, and pairs of them that are joined, which at least two others hold; and the joints."""
    joints = [joint for joint in model.joints.values() if isinstance(joint, Joint)]
    ends = {joint.name: (joint.i.body, joint.j.body) for joint in joints}
    touching: dict[str, list[str]] = {name: [] for name in (GROUND, *model.bodies)}
    for name, pair in ends.items():
        for body in pair:
            if body in touching:
                touching[body].append(name)
    pairs = dict.fromkeys(tuple(sorted(pair)) for pair in ends.values() if GROUND not in pair)
    for bodies in [*((name,) for name in model.bodies), *pairs]:
        inside = set(bodies)
        around = [name for body in bodies for name in touching.get(body, ())]
        outer = [name for name in dict.fromkeys(around) if not inside.issuperset(ends[name])]
        if len({body for name in outer for body in ends[name]} - inside) > 1:
            yield bodies, tuple(outer)


def _frames(system: System) -> Mapping[str, int]:
    """The places of the bodies among the frames of a system."""
    assert system.begins is not None, "asked for where there are bodies"
    places = {name: k for k, name in enumerate(system.frames)}
    return {name: places[name] for name in system.begins.model.bodies}


def _body_twists(instant: Instant, q: Floats, R: Floats) -> dict[str, Floats]:
    """The twists (v, ω) of each body along some motions, (6, motions)."""
    still = np.asarray(instant("twists", q, np.zeros(len(R))))
    along = [np.asarray(instant("twists", q, column)) - still for column in R.T]
    J = np.stack(along, axis=2)
    return {name: J[k] for name, k in _frames(instant.system).items()}


def _null_space(A: Floats) -> Floats:
    """What A leaves at zero; all of it, if A is rounding."""
    _, sizes, turn = svd(A)
    return np.asarray(turn[int((sizes > _SAME).sum()) :].T)


def _goes_on(instant: Instant, q: Floats, z: Floats, bodies: Sequence[str]) -> bool:
    """Whether a motion can be followed a little way, and all other bodies stay where they are."""
    ahead = instant.assembled(instant.moved(q, _WAY * z))
    if ahead is None:
        return False
    before, after = (np.asarray(instant("poses", at)) for at in (q, ahead))
    off = np.abs(after - before).max(axis=1)
    places = _frames(instant.system)
    still = all(off[k] < _SAME for name, k in places.items() if name not in bodies)
    return still and max(off[places[name]] for name in bodies) > 1e-3 * _WAY
