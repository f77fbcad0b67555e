"""Saddle-point matrices of rigid bodies on revolute joints, as graphs and with numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biela.graph import Adjacency, adjacency
from biela.graph.ordering import minimum_degree_after
from biela.graph.ordering.multibody import _Topology

ROWS = 5


@dataclass(frozen=True)
class Mechanism:
    """Bodies with six unknowns (v, ω) each; joints between two of them, -1 for the ground."""

    count: int
    pairs: list[tuple[int, int]]

    @property
    def size(self) -> int:
        return 6 * self.count + ROWS * len(self.pairs)

    @property
    def bodies(self) -> np.ndarray:
        return np.repeat([*range(self.count), -1], [6] * self.count + [ROWS * len(self.pairs)])

    @property
    def joints(self) -> np.ndarray:
        return np.repeat([-1, *range(len(self.pairs))], [6 * self.count] + [ROWS] * len(self.pairs))

    @property
    def multipliers(self) -> np.ndarray:
        return np.arange(6 * self.count, self.size)

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """A full inertia; three rows for the pin, two for its axis."""
        first, second = [], []
        for b in range(self.count):
            for i in range(3, 6):
                for j in range(3, i):
                    first.append(6 * b + i)
                    second.append(6 * b + j)
        for k, pair in enumerate(self.pairs):
            row = 6 * self.count + ROWS * k
            for body in pair:
                if body < 0:
                    continue
                for i in range(3):
                    turning = [3 + j for j in range(3) if j != i]
                    for j in (i, *turning):
                        first.append(row + i)
                        second.append(6 * body + j)
                for i in (3, 4):
                    for j in (3, 4, 5):
                        first.append(row + i)
                        second.append(6 * body + j)
        return np.array(first), np.array(second)

    @cached_property
    def graph(self) -> Adjacency:
        return adjacency(self.size, *self.entries)

    def tree_order(self) -> np.ndarray:
        """The order in which each joint of a spanning tree follows its child."""
        topology = _Topology(self.graph, self.bodies, self.joints)
        waits = topology.loop_waits(topology.tree)
        assert waits is not None
        return minimum_degree_after(self.graph, *waits)

    def matrix(self, rng: np.random.Generator, planar: bool = False) -> np.ndarray:
        """[M Φᵀ; Φ 0] with random dimensions; planar ones have parallel axes."""
        centres = rng.standard_normal((self.count, 3))
        K = np.zeros((self.size, self.size))
        if planar:
            centres[:, 2] = 0
        for b in range(self.count):
            root = rng.standard_normal((3, 3))
            K[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = np.eye(3) * rng.uniform(1, 3)
            K[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = root @ root.T + np.eye(3)
        for k, pair in enumerate(self.pairs):
            pin = rng.standard_normal(3)
            across = rng.standard_normal((2, 3))
            if planar:
                pin[2], across = 0, np.eye(3)[:2]
            row = 6 * self.count + ROWS * k
            for body, sign in zip(pair, (1.0, -1.0), strict=True):
                if body < 0:
                    continue
                x, y, z = pin - centres[body]
                block = np.zeros((ROWS, 6))
                block[:3, :3] = np.eye(3)
                block[:3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
                block[3:, 3:] = across
                K[row : row + ROWS, 6 * body : 6 * body + 6] = sign * block
        n = 6 * self.count
        K[:n, n:] = K[n:, :n].T
        return K


def chain(bodies: int) -> Mechanism:
    return Mechanism(bodies, [(k, k - 1) for k in range(bodies)])


def closed_chain(bodies: int) -> Mechanism:
    return Mechanism(bodies, [*chain(bodies).pairs, (bodies - 1, -1)])


def tree(bodies: int, seed: int = 0) -> Mechanism:
    rng = np.random.default_rng(seed)
    return Mechanism(bodies, [(0, -1), *((k, int(rng.integers(0, k))) for k in range(1, bodies))])


def net(rows: int, columns: int) -> Mechanism:
    k = np.arange(rows * columns).reshape(rows, columns)
    along = np.c_[k[:, :-1].ravel(), k[:, 1:].ravel()].tolist()
    across = np.c_[k[:-1].ravel(), k[1:].ravel()].tolist()
    return Mechanism(rows * columns, [(0, -1), *map(tuple, along), *map(tuple, across)])


def ladder(rungs: int) -> Mechanism:
    """Two rails of bodies, and a body between each two."""
    pairs = [(0, -1), (rungs, -1)]
    for k in range(1, rungs):
        pairs += [(k, k - 1), (rungs + k, rungs + k - 1)]
    for k in range(rungs):
        pairs += [(2 * rungs + k, k), (2 * rungs + k, rungs + k)]
    return Mechanism(3 * rungs, pairs)


def convoy(vehicles: int) -> Mechanism:
    """Chassis in a row, each with four carriers on three links, and a wheel on each carrier."""
    pairs: list[tuple[int, int]] = []
    count, before = 0, -1
    for _ in range(vehicles):
        chassis = count
        pairs.append((chassis, before))
        before = chassis
        count += 1
        for _ in range(4):
            carrier = count
            for link in range(count + 1, count + 4):
                pairs += [(link, chassis), (link, carrier)]
            pairs.append((count + 4, carrier))
            count += 5
    return Mechanism(count, pairs)
