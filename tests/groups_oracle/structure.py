"""Structural groups by counting: orient every constraint unit, take strong components.

The algorithm of the specification's section 4.3, made plain rather than fast: components are found
by mutual reach in the closed matrix, so a few hundred bodies are the most.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Joint(NamedTuple):
    """Between two bodies: freedoms it leaves, those driven, passive ones locked."""

    a: int
    b: int
    freedoms: int
    driven: int = 0
    locked: int = 0


class Driver(NamedTuple):
    """A driven coordinate between two bodies that is no joint's: one unit."""

    a: int
    b: int


class Structure(NamedTuple):
    """Groups in the order of their solution, what each needs, and what does not fit."""

    groups: list[tuple[int, ...]]
    #: of each group, the positions in ``groups`` of those it reads
    needs: list[tuple[int, ...]]
    #: units that no body can take: over-constrained
    redundant: list[tuple[int, int]]
    #: bodies with fewer than d units: a driver is missing or a passive freedom is not declared
    loose: list[int]


def find_structure(d: int, frame: int, joints: Iterable[Joint | Driver]) -> Structure:
    """Groups of a mechanism of dimension ``d`` (3 planar, 6 spatial)."""
    units: list[tuple[int, int]] = []
    for joint in joints:
        if isinstance(joint, Driver):
            units.append((joint.a, joint.b))
        else:
            count = d - joint.freedoms + joint.driven + joint.locked
            units += [(joint.a, joint.b)] * count
    bodies = sorted({body for unit in units for body in unit} - {frame})
    held: dict[int, set[int]] = {body: set() for body in bodies}
    redundant = []
    for number in range(len(units)):
        if not _placed(number, units, held, frame, d):
            redundant.append(units[number])
    loose = [body for body in bodies if len(held[body]) < d]

    index = {body: i for i, body in enumerate(bodies)}
    reach = np.eye(len(bodies), dtype=bool)
    for body in bodies:
        for number in held[body]:
            tail = sum(units[number]) - body
            if tail != frame:
                reach[index[tail], index[body]] = True
    for k in range(len(bodies)):
        reach |= np.outer(reach[:, k], reach[k])
    mutual = reach & reach.T
    components = sorted({tuple(np.flatnonzero(row).tolist()) for row in mutual})
    return _ordered(components, reach, bodies, redundant, loose)


def _placed(
    number: int, units: list[tuple[int, int]], held: dict[int, set[int]], frame: int, d: int
) -> bool:
    """Give a unit to one of its bodies, moving others along a path where all places are taken."""
    came: dict[int, tuple[int | None, int]] = {}
    queue: deque[int] = deque()
    for body in units[number]:
        if body != frame and body not in came:
            came[body] = (None, number)
            queue.append(body)
    while queue:
        body = queue.popleft()
        if len(held[body]) < d:
            at: int | None = body
            while at is not None:
                before, unit = came[at]
                if before is not None:
                    held[before].discard(unit)
                held[at].add(unit)
                at = before
            return True
        for unit in sorted(held[body]):
            other = sum(units[unit]) - body
            if other != frame and other not in came:
                came[other] = (body, unit)
                queue.append(other)
    return False


def _ordered(
    components: list[tuple[int, ...]],
    reach: np.ndarray,
    bodies: list[int],
    redundant: list[tuple[int, int]],
    loose: list[int],
) -> Structure:
    """Components behind those they read; ties go to the smallest body."""
    before = [
        {j for j, other in enumerate(components) if j != i and reach[other[0], component[0]]}
        for i, component in enumerate(components)
    ]
    ready = [(components[i][0], i) for i, need in enumerate(before) if not need]
    heapq.heapify(ready)
    done: list[int] = []
    while ready:
        _, i = heapq.heappop(ready)
        done.append(i)
        for j, need in enumerate(before):
            if i in need and need <= set(done) and j not in done:
                heapq.heappush(ready, (components[j][0], j))
    place = {i: k for k, i in enumerate(done)}
    groups = [tuple(bodies[b] for b in components[i]) for i in done]
    needs = [tuple(sorted(place[j] for j in before[i])) for i in done]
    return Structure(groups, needs, redundant, loose)
