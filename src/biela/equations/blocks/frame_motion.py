"""The motion of bodies and of markers on them, from that of the centres of mass.

    x = r + R s,    v = r' + ω x R s,    a = r'' + α x R s + ω x (ω x R s),

s being the place of the frame from the centre of mass, along the axes of the body.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biela.equations.blocks.populations import Floats, Frames, Integers, Population
from biela.equations.blocks.reference_blocks import ReferenceBlocks
from biela.equations.blocks.world import World
from biela.equations.reference_point import NORMAL
from biela.model.bodies import GROUND
from biela.model.markers import Marker


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """Frames of a mechanism: names, and which body each is fixed in, where and how."""

    blocks: ReferenceBlocks
    names: list[str]
    frames: Frames

    @classmethod
    def of(cls, blocks: ReferenceBlocks, markers: bool = True) -> FrameMotion:
        """The bodies, and with ``markers`` all their markers."""
        world = blocks.world
        n = world.count
        names = list(blocks.bodies)
        found = [Frames(np.arange(n), np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)))]
        for population in world.populations if markers else ():
            model = population.prototype
            for body in (model.ground, *model.bodies.values()):
                for marker in body.markers.values():
                    frames = world.frames(population, marker)
                    found.append(frames)
                    names += _labels(world, population, marker, frames)
        whole = Frames(
            np.concatenate([frames.body for frames in found]),
            np.concatenate([frames.place for frames in found]),
            np.concatenate([frames.axes for frames in found]),
        )
        return cls(blocks, names, whole)

    @cached_property
    def _body(self) -> Integers:
        """The bodies; the ground is one more after the last."""
        return np.where(self.frames.body < 0, self.blocks.world.count, self.frames.body)

    @cached_property
    def _s(self) -> Floats:
        centres = np.concatenate([self.blocks.world.centres, np.zeros((1, 3))])
        s: Floats = self.frames.place - centres[self._body]
        return s

    def _state(self, q: Floats) -> tuple[Floats, Floats]:
        """Places (k, bodies + 1, 3) and axes (k, bodies + 1, 3, 3), the ground last."""
        blocks, k = self.blocks, len(q)
        n, width = blocks.world.count, blocks.widths[0]
        own = q[:, : n * width].reshape(k, n, width)
        r, R = np.zeros((k, n + 1, 3)), np.tile(np.eye(3), (k, n + 1, 1, 1))
        if blocks.plane is None:
            r[:, :n] = own[:, :, :3]
            R[:, :n] = _rotation(own[:, :, 3:])
            return r, R
        normal = "xyz".index(NORMAL[blocks.plane])
        a, b = (normal + 1) % 3, (normal + 2) % 3
        r[:, :n, normal] = blocks.across
        for c, axis in enumerate(blocks.plane):
            r[:, :n, "xyz".index(axis)] = own[:, :, c]
        cosine, sine = np.cos(own[:, :, 2]), np.sin(own[:, :, 2])
        R[:, :n, a, a] = R[:, :n, b, b] = cosine
        R[:, :n, b, a], R[:, :n, a, b] = sine, -sine
        return r, R

    def _spatial(self, v: Floats, R: Floats) -> tuple[Floats, Floats]:
        """Velocities of the centres, and angular velocities, in the ground."""
        blocks, k = self.blocks, len(v)
        n, width = blocks.world.count, blocks.widths[1]
        own = v[:, : n * width].reshape(k, n, width)
        speed, omega = np.zeros((k, n + 1, 3)), np.zeros((k, n + 1, 3))
        if blocks.plane is None:
            speed[:, :n] = own[:, :, :3]
            omega[:, :n] = np.einsum("knij,knj->kni", R[:, :n], own[:, :, 3:])
            return speed, omega
        for c, axis in enumerate(blocks.plane):
            speed[:, :n, "xyz".index(axis)] = own[:, :, c]
        omega[:, :n, "xyz".index(NORMAL[blocks.plane])] = own[:, :, 2]
        return speed, omega

    def poses(self, q: Floats) -> Floats:
        """Place and axes of every frame, (k, frames, 12), for positions (k, nq)."""
        r, R = self._state(q)
        r, R = r[:, self._body], R[:, self._body]
        x = r + np.einsum("knij,nj->kni", R, self._s)
        axes = R @ self.frames.axes
        return np.concatenate([x, axes.reshape(*x.shape[:2], 9)], axis=2)

    def twists(self, q: Floats, v: Floats) -> Floats:
        """Velocity and angular velocity of every frame, (k, frames, 6)."""
        _, R = self._state(q)
        speed, omega = (part[:, self._body] for part in self._spatial(v, R))
        arm = np.einsum("knij,nj->kni", R[:, self._body], self._s)
        return np.concatenate([speed + np.cross(omega, arm), omega], axis=2)

    def accelerations(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Acceleration and angular acceleration of every frame, (k, frames, 6)."""
        _, R = self._state(q)
        _, omega = (part[:, self._body] for part in self._spatial(v, R))
        # (R ω')' = R (ω')', as ω x ω is nothing
        rate, alpha = (part[:, self._body] for part in self._spatial(a, R))
        arm = np.einsum("knij,nj->kni", R[:, self._body], self._s)
        point = rate + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        return np.concatenate([point, alpha], axis=2)


def _labels(world: World, population: Population, marker: Marker, frames: Frames) -> list[str]:
    """The names of a marker in all instances; the ground of a part is a body of the host."""
    if population is world.host or marker.body != GROUND:
        return [f"{population.prefix(k)}{marker.label}" for k in range(population.count)]
    bodies = [GROUND if k < 0 else world.names[int(k)] for k in frames.body]
    return [
        f"{body}.{population.prefix(k).rstrip('.')}_{marker.name}" for k, body in enumerate(bodies)
    ]


def _rotation(e: Floats) -> Floats:
    """Rotations (…, 3, 3) of Euler parameters (…, 4)."""
    e0, e1, e2, e3 = np.moveaxis(e, -1, 0)
    R = np.empty((*e.shape[:-1], 3, 3))
    R[..., 0, 0] = e0**2 + e1**2 - e2**2 - e3**2
    R[..., 1, 1] = e0**2 - e1**2 + e2**2 - e3**2
    R[..., 2, 2] = e0**2 - e1**2 - e2**2 + e3**2
    R[..., 0, 1], R[..., 1, 0] = 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e2 + e0 * e3)
    R[..., 0, 2], R[..., 2, 0] = 2 * (e1 * e3 + e0 * e2), 2 * (e1 * e3 - e0 * e2)
    R[..., 1, 2], R[..., 2, 1] = 2 * (e2 * e3 - e0 * e1), 2 * (e2 * e3 + e0 * e1)
    return R
