"""Rods whose spin about the line of their two balls matters for a motion under forces.

The spin of a rod moves nothing else, and groups hold it.  That is the motion of the rod if it is
alike all around its line, does not spin at the start, and no force turns it.  Otherwise the spin is
a freedom, with an angle that is integrated as others are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.drives import Drive, Twists, spin_drive
from biela.equations.groups.cast import Poses
from biela.equations.groups.casts import Casts
from biela.equations.groups.dynamics.masses import masses_of
from biela.equations.groups.group import Group, PassiveSpin
from biela.equations.groups.placing import upright_axis
from biela.errors import ModelError
from biela.model.joints import Joint

__all__ = ["COAXIAL", "spinning_rods"]

Floats = npt.NDArray[np.float64]

#: Parts of the inertia of a rod that are rounding.
_SAME: Final = 1e-9
#: Joints between the halves of a strut, which keep the line where it is in both.
COAXIAL: Final = ("prismatic", "cylindrical", "revolute", "fixed", "helical")


def spinning_rods(casts: Casts, poses: Poses, twists: Twists) -> list[Drive]:
    """The spins of rods that have to be integrated.

    Args:
        casts: Groups of a model whose other freedoms are all driven.
        poses: Where bodies are at the start.
        twists: How they move there.

    Raises:
        ModelError: A force may turn a rod that has no inertia about its line.
    """
    structure = casts.structure
    spins = [
        (group, spin)
        for kind, numbers in structure.kinds.items()
        if structure.tables[kind].example.locked
        for group in (structure.groups[k] for k in numbers)
        for spin in group.locked
    ]
    return list(_Rods(casts, poses, twists).matter(spins)) if spins else []


class _Rods:
    def __init__(self, casts: Casts, poses: Poses, twists: Twists) -> None:
        self.world, self.poses, self.twists = casts.world, poses, twists
        self.mass, self.inertia, _ = masses_of(casts.world)
        self.forces = _touched(casts)

    def matter(self, spins: list[tuple[Group, PassiveSpin]]) -> Iterator[Drive]:
        """Drives of those that matter; halves of a strut that turn by themselves go together."""
        sets: dict[tuple[str, ...], list[tuple[Group, PassiveSpin]]] = defaultdict(list)
        for group, spin in spins:
            sets[spin.joints].append((group, spin))
        for members in sets.values():
            reasons = [self._reason(group, spin) for group, spin in members]
            if not any(reasons):
                continue
            why = next(reason for reason in reasons if reason)
            for _, spin in members:
                yield self._drive(spin, why)

    def _line(self, spin: PassiveSpin) -> tuple[Floats, Floats]:
        """A point of the line of a spin, and its direction."""
        b = self.world.body(spin.body)
        first, second = (self._placed(b, np.array(p)) for p in spin.points[:2])
        return first, (second - first) / np.linalg.norm(second - first)

    def _reason(self, group: Group, spin: PassiveSpin) -> str:
        """Why a spin matters, in words; empty if it does not."""
        first, line = self._line(spin)
        bodies = [self.world.body(name) for name in spin.bodies]
        size = sum(self._size(k, first) for k in bodies)
        for k in bodies:
            for name in self._pushed(k, first, line):
                return f"{name} may turn it about that line"
        rate = max(abs(float(self.twists.angular[k] @ line)) for k in bodies)
        if rate > _SAME * (1.0 + float(np.abs(self.twists.angular).max())):
            about = sum(self._about(k, first, line) for k in bodies)
            return "it spins at the start" if about > _SAME * size else ""
        if not all(self._alike(k, first, line, size) for k in bodies):
            return "it is not alike all around that line"
        return "" if self._coaxial(group, spin, line) else "its halves turn it"

    def _placed(self, b: int, point: Floats) -> Floats:
        return np.asarray(self.poses.place[b] + self.poses.axes[b] @ point)

    def _tensor(self, b: int) -> tuple[Floats, Floats]:
        """The centre of mass of a body, and the inertia about it along the ground."""
        R = self.poses.axes[b]
        return self._placed(b, self.world.centres[b]), R @ self.inertia[b] @ R.T

    def _about(self, b: int, point: Floats, line: Floats) -> float:
        """The moment of inertia about a line."""
        centre, I = self._tensor(b)
        off = np.cross(centre - point, line)
        return float(line @ I @ line + self.mass[b] * off @ off)

    def _size(self, b: int, point: Floats) -> float:
        centre, I = self._tensor(b)
        arm = centre - point
        return float(np.abs(I).max() + self.mass[b] * arm @ arm)

    def _alike(self, b: int, point: Floats, line: Floats, size: float) -> bool:
        """Whether a body is the same all around a line."""
        centre, I = self._tensor(b)
        off = np.cross(centre - point, line)
        along = np.outer(line, line)
        axial = float(line @ I @ line)
        across = (np.trace(I) - axial) / 2
        rest = I - axial * along - across * (np.eye(3) - along)
        reach = float(np.linalg.norm(centre - point))
        round_about = self.mass[b] * np.linalg.norm(off) * max(reach, 1e-300) <= _SAME * size
        return bool(np.abs(rest).max() <= _SAME * size and round_about)

    def _pushed(self, b: int, point: Floats, line: Floats) -> Iterator[str]:
        """Forces on a body that may turn it about a line."""
        for name, plain, place in self.forces.get(b, ()):
            gap = np.cross(self._placed(b, place) - point, line)
            if not plain or np.linalg.norm(gap) > _SAME * (1.0 + np.linalg.norm(point)):
                yield name

    def _coaxial(self, group: Group, spin: PassiveSpin, line: Floats) -> bool:
        """Whether all bodies that spin together have the line in one place."""
        inside = set(spin.bodies)
        for name in group.joints if len(inside) > 1 else ():
            joint = self.world.model.joints.get(name)
            if not isinstance(joint, Joint) or not {joint.i.body, joint.j.body} <= inside:
                continue
            _, (axes,) = self.poses.of(self.world.frames(self.world.host, joint.i))
            if joint.kind not in COAXIAL or np.linalg.norm(np.cross(axes[:, 2], line)) > 1e-8:
                return False
        return True

    def _drive(self, spin: PassiveSpin, why: str) -> Drive:
        first, line = self._line(spin)
        bodies = [self.world.body(name) for name in spin.bodies]
        size = sum(self._size(k, first) for k in bodies)
        if sum(self._about(k, first, line) for k in bodies) <= _SAME * size:
            raise ModelError(
                f"{spin.body} has no inertia about the line of its balls {', '.join(spin.joints)}, "
                f"and {why}: give it some inertia"
            )
        upright = upright_axis(line[None])[:, 2]
        level = np.cross(upright, line)
        level /= np.linalg.norm(level)
        axes = np.stack([level, np.cross(line, level), line], axis=1)
        letter = "xyz"[int(np.argmax(np.abs(upright)))]
        own = self.poses.axes[self.world.body(spin.body)]
        return spin_drive(spin.body, own.T @ axes, letter)


def _touched(casts: Casts) -> dict[int, list[tuple[str, bool, Floats]]]:
    """Of each body the forces on it: name, whether it is one through a point, and that point."""
    found: dict[int, list[tuple[str, bool, Floats]]] = {}
    for cast in casts.forces():
        element = cast.elements[0]
        plain = element.element.kind == "spring_damper"
        frames = [m.frames for m in element.markers]
        for joint in element.joints:
            if not isinstance(joint, int):
                frames += [m.frames for m in joint.markers]
        for markers in frames:
            for k, body in enumerate(markers.body.tolist()):
                if body >= 0:
                    found.setdefault(body, []).append((element.names[k], plain, markers.place[k]))
    return found
