"""Reference-point equations of large mechanisms, as blocks.

Kernels are derived a kind at a time; the equations are evaluated by loops over their instances, and
their Jacobian is sparse: at most twelve entries a row, and one for each coordinate that counts
turns.  The same rows on the same markers as `biela.equations.reference_point`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from biela.equations.blocks.block import Block, looped
from biela.equations.blocks.kernels import PairKernel, body_kernel, joint_rows, pair_kernel
from biela.equations.mechanism.tree import joint_tree, quaternion, start_poses
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.placing import marker_pose

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReferenceBlocks:
    """The joints of a mechanism in reference-point coordinates, as blocks.

    The state is q, seven entries a body in the order of ``bodies``, then coordinates that count
    turns; v has six entries a body, then their rates.  The ground stands behind both.

    Attributes:
        bodies: Names of the bodies.
        extra: Names of the coordinates that count turns.
        rows: Name of each row, "joint.label".
        blocks: The joints, a block a kind.
        masses: The bodies, one block.
        start: The position where a motion starts, as far as joints and bodies say it.
        indices: (2, entries) row and column of each entry of Φ_v, in the order of its values.
    """

    bodies: tuple[str, ...]
    extra: tuple[str, ...]
    rows: tuple[str, ...]
    blocks: tuple[Block, ...]
    masses: Block
    start: Floats
    indices: Integers

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return 7 * len(self.bodies) + len(self.extra)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return 6 * len(self.bodies) + len(self.extra)

    def Phi(self, q: Floats, t: float = 0.0) -> Floats:
        """The constraints."""
        return self._written({"Phi": len(self.rows)}, q, None, t)["Phi"]

    def Phi_v(self, q: Floats, t: float = 0.0) -> Floats:
        """Entries of the Jacobian, at ``indices``."""
        return self._written({"Phi_v": self.indices.shape[1]}, q, None, t)["Phi_v"]

    def beta(self, q: Floats, t: float = 0.0) -> Floats:
        """Φ_v v = β."""
        return self._written({"beta": len(self.rows)}, q, None, t)["beta"]

    def gamma(self, q: Floats, v: Floats, t: float = 0.0) -> Floats:
        """Φ_v v' = γ."""
        return self._written({"gamma": len(self.rows)}, q, v, t)["gamma"]

    def Q(self, q: Floats, v: Floats) -> Floats:
        """Gravity and the moments of turning bodies."""
        found = looped([self.masses], self._vectors(q, v, 0.0), {"Q": self.nv})
        return found["Q"]

    def M(self) -> Floats:
        """The mass matrix, constant: a 6 x 6 block a body, (n, 6, 6)."""
        p = self.masses.parameters
        found = np.zeros((len(p), 6, 6))
        found[:, [0, 1, 2], [0, 1, 2]] = p[:, :1]
        for (i, j), k in zip(
            ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), range(1, 7), strict=True
        ):
            found[:, 3 + i, 3 + j] = found[:, 3 + j, 3 + i] = p[:, k]
        return found

    def rates(self, q: Floats, v: Floats) -> Floats:
        """Q' = N(q) v."""
        n = 7 * len(self.bodies)
        found = looped([self.masses], self._vectors(q, v, 0.0), {"rates": n})["rates"]
        return np.concatenate([found, v[6 * len(self.bodies) :]])

    def moved(self, q: Floats, delta: Floats) -> Floats:
        """Q ⊕ δ: each body moved by its displacement, turned by the exponential map."""
        n = len(self.bodies)
        place, step = q[: 7 * n].reshape(n, 7), delta[: 6 * n].reshape(n, 6)
        half = step[:, 3:] / 2
        size = np.linalg.norm(half, axis=1, keepdims=True)
        sine = np.where(size > 1e-8, np.sin(size) / np.maximum(size, 1e-300), 1 - size**2 / 6)
        d0, d = np.cos(size), half * sine
        e0, e = place[:, 3:4], place[:, 4:]
        turned = np.concatenate(
            [
                e0 * d0 - (e * d).sum(axis=1, keepdims=True),
                e0 * d + d0 * e + np.cross(e, d),
            ],
            axis=1,
        )
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        bodies = np.concatenate([place[:, :3] + step[:, :3], turned], axis=1)
        return np.concatenate([bodies.ravel(), q[7 * n :] + delta[6 * n :]])

    def _written(
        self, sizes: Mapping[str, int], q: Floats, v: Floats | None, t: float
    ) -> dict[str, Floats]:
        speed = np.zeros(self.nv) if v is None else v
        return looped(self.blocks, self._vectors(q, speed, t), sizes)

    def _vectors(self, q: Floats, v: Floats, t: float) -> dict[str, Floats]:
        """The state with the ground behind it, where instances find it."""
        ground = np.array([0.0, 0, 0, 1, 0, 0, 0])
        return {
            "q": np.concatenate([q, ground]),
            "v": np.concatenate([v, np.zeros(6)]),
            "t": np.array([t]),
        }


def reference_blocks(model: Model) -> ReferenceBlocks:
    """The joints of a model as blocks.

    Raises:
        ModelError: It is planar: this form has six freedoms a body.
    """
    whole = model.flattened() if model.parts else model
    if whole.plane is not None:
        raise ModelError(
            f"{model.name} is planar, and blocks have six freedoms a body: leave plane out"
        )
    names = tuple(whole.bodies)
    joints = [joint for joint in whole.joints.values() if isinstance(joint, Joint)]
    extra = [f"{joint.name}.{need}" for joint in joints for need in joint.needs]
    builder = _Builder(whole, {name: k for k, name in enumerate(names)}, extra)
    blocks, rows, indices = builder.joint_blocks(joints)
    poses, _ = start_poses(whole, joint_tree(whole))
    return ReferenceBlocks(
        names,
        tuple(extra),
        tuple(rows),
        tuple(blocks),
        builder.mass_block(),
        builder.start(poses),
        indices,
    )


class _Builder:
    def __init__(self, model: Model, index: Mapping[str, int], extra: list[str]) -> None:
        self.model, self.index = model, index
        self._asked: dict[tuple[object, ...], tuple[float, ...]] = {}
        self.extra = {name: k for k, name in enumerate(extra)}
        count = len(index)
        self.nq, self.nv = 7 * count + len(extra), 6 * count + len(extra)
        self.centres = {
            name: np.array([model.number(x, "length") for x in body.inertia.com])
            for name, body in model.bodies.items()
        } | {GROUND: np.zeros(3)}

    def place_q(self, body: str) -> range:
        """Where the coordinates of a body stand."""
        first = self.nq if body == GROUND else 7 * self.index[body]
        return range(first, first + 7)

    def place_v(self, body: str) -> range:
        """Where its velocities stand."""
        first = self.nv if body == GROUND else 6 * self.index[body]
        return range(first, first + 6)

    def joint_blocks(self, joints: list[Joint]) -> tuple[list[Block], list[str], Integers]:
        """A block for each kind, the names of all rows, and where the Jacobian has entries."""
        first_row, names = {}, []
        kernels: dict[tuple[object, ...], PairKernel] = {}
        groups: dict[tuple[object, ...], list[tuple[Joint, list[float]]]] = {}
        for joint in joints:
            key, numbers = self._key(joint)
            if key not in kernels:
                kernels[key] = pair_kernel(
                    joint.kind, joint_rows(joint), joint.needs, self.model.number
                )
            groups.setdefault(key, []).append((joint, numbers))
            first_row[joint.name] = len(names)
            names += [f"{joint.name}.{label}" for label in kernels[key].labels]
        blocks, entries, taken = [], [], 0
        for key, members in groups.items():
            block, where = self._block(kernels[key], members, first_row, taken)
            taken += sum(part.shape[1] for part in where)
            entries += where
            blocks.append(block)
        indices = np.concatenate(entries, axis=1) if entries else np.zeros((2, 0), dtype=np.int64)
        return blocks, names, indices

    def _key(self, joint: Joint) -> tuple[tuple[object, ...], list[float]]:
        """What tells kernels apart, and the numbers of this joint."""
        found: list[float] = []
        fixed: list[object] = [joint.kind]
        for name, described in joint.settings().items():
            dimension = described.metadata["dimension"]
            if dimension == "marker":
                continue
            value = getattr(joint, name)
            if isinstance(value, int | float) or (isinstance(value, str) and dimension != "text"):
                found.append(self.model.number(value, dimension))
            else:
                fixed.append((name, repr(value)))
        return tuple(fixed), found

    def _block(
        self,
        kernel: PairKernel,
        members: list[tuple[Joint, list[float]]],
        first_row: Mapping[str, int],
        taken: int,
    ) -> tuple[Block, list[Integers]]:
        count, m = len(members), kernel.count
        parameters = np.array(
            [
                [*self._marker(joint.i), *self._marker(joint.j), *self._numbers(joint, kernel)]
                for joint, _ in members
            ]
        )
        rows = np.array([[first_row[joint.name] + k for k in range(m)] for joint, _ in members])
        gather: dict[str, tuple[str, Integers]] = {"t": ("t", np.zeros((count, 1), dtype=np.int64))}
        scatter: dict[str, tuple[str, Integers]] = {
            name: (name, rows) for name in ("Phi", "beta", "gamma")
        }
        where: list[Integers] = []
        for side in ("i", "j"):
            bodies = [getattr(joint, side).body for joint, _ in members]
            gather[f"q_{side}"] = ("q", np.array([self.place_q(b) for b in bodies]))
            columns = np.array([self.place_v(b) for b in bodies])
            gather[f"v_{side}"] = ("v", columns)
            taken = self._entries(f"Phi_{side}", rows, columns, scatter, where, taken)
        if kernel.extra:
            places = np.array(
                [[self.extra[f"{joint.name}.{n}"] for n in kernel.extra] for joint, _ in members]
            )
            bodies_count = len(self.index)
            gather["x"] = ("q", 7 * bodies_count + places)
            gather["dx"] = ("v", 6 * bodies_count + places)
            columns = 6 * bodies_count + places
            self._entries("Phi_x", rows, columns, scatter, where, taken)
        return Block(kernel.function.name, kernel.function, parameters, gather, scatter), where

    def _entries(
        self,
        output: str,
        rows: Integers,
        columns: Integers,
        scatter: dict[str, tuple[str, Integers]],
        where: list[Integers],
        taken: int,
    ) -> int:
        """Give each entry of a part of the Jacobian its place; those of the ground have none."""
        count, m = rows.shape
        i = np.repeat(rows[:, :, None], columns.shape[1], axis=2).reshape(count, -1)
        j = np.repeat(columns[:, None, :], m, axis=1).reshape(count, -1)
        kept = j < self.nv
        places = np.where(kept, taken + np.cumsum(kept).reshape(kept.shape) - 1, -1)
        scatter[output] = ("Phi_v", places)
        where.append(np.stack([i[kept], j[kept]]))
        return taken + int(kept.sum())

    def _marker(self, marker: object) -> list[float]:
        pose = marker_pose(self.model, marker)  # type: ignore[arg-type]
        place = pose[:3, 3] - self.centres[marker.body]  # type: ignore[attr-defined]
        return [*map(float, place), *map(float, pose[:3, :3].ravel())]

    def _numbers(self, joint: Joint, kernel: PairKernel) -> tuple[float, ...]:
        """The numbers of a joint in the order in which its equations ask for them."""
        if not kernel.numbers:
            return ()
        key = (joint.kind, *self._key(joint)[1])
        if key not in self._asked:
            again = pair_kernel(joint.kind, joint_rows(joint), kernel.extra, self.model.number)
            self._asked[key] = again.numbers
        return self._asked[key]

    def mass_block(self) -> Block:
        """The bodies by themselves."""
        count = len(self.index)
        gravity = [self.model.number(g, "acceleration") for g in self.model.gravity]
        parameters = np.zeros((count, 10))
        for name, k in self.index.items():
            inertia = self.model.bodies[name].inertia
            moments = [self.model.number(x, "inertia") for x in inertia.moments]
            parameters[k] = [self.model.number(inertia.mass, "mass"), *moments, *gravity]
        q = np.arange(7 * count).reshape(count, 7)
        v = np.arange(6 * count).reshape(count, 6)
        return Block(
            "bodies",
            body_kernel(),
            parameters,
            {"q": ("q", q), "v": ("v", v)},
            {"Q": ("Q", v), "rates": ("rates", q)},
        )

    def start(self, poses: Mapping[str, Floats]) -> Floats:
        """The start as a state."""
        q = np.zeros(self.nq)
        for name, k in self.index.items():
            T = poses[name]
            q[7 * k : 7 * k + 3] = T[:3, 3] + T[:3, :3] @ self.centres[name]
            q[7 * k + 3 : 7 * k + 7] = quaternion(T[:3, :3])
        for name, k in self.extra.items():
            joint, _, coordinate = name.rpartition(".")
            given = getattr(self.model.joints[joint], "start", {}).get(coordinate, 0.0)
            q[7 * len(self.index) + k] = self.model.number(given, "any")
        return q
