"""Which of the points and vectors that a body shares span it.

One point and three arrows describe a body in space.  Of the vectors and segments that it shares
with others as many are taken as are well independent, with the smallest singular value of their
directions above `INDEPENDENT`; its own unit vectors, across all of these, make up for the rest.
In the plane one arrow is enough: turned by a right angle it is the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from biela.equations.natural.body_draft import INDEPENDENT
from biela.equations.natural.entities import Floats


def spanning(arrows: Sequence[Floats], wanted: int) -> list[int]:
    """The best set of arrows: as many as are well independent, of these the most so.

    ``arrows`` are components of length 2 or 3 in the frame of a body; those without a length
    are left out.
    """
    sizes = [float(np.linalg.norm(arrow)) for arrow in arrows]
    largest = max(sizes, default=0.0)
    usable = [k for k, size in enumerate(sizes) if size > 1e-6 * max(largest, 1e-300)]
    for count in range(min(wanted, len(usable)), 0, -1):
        best: tuple[float, tuple[int, ...]] = (0.0, ())
        for chosen in combinations(usable, count):
            columns = np.array([arrows[k] / sizes[k] for k in chosen]).T
            least = float(np.linalg.svd(columns, compute_uv=False)[-1])
            if least > best[0] + 1e-9:
                best = least, chosen
        if best[0] >= INDEPENDENT:
            return list(best[1])
    return []


def completing(arrows: Sequence[Floats], wanted: int) -> list[Floats]:
    """Unit vectors across given arrows and each other, along the axes of the body if they can be.

    As many as make ``wanted`` directions with those given.
    """
    found: list[Floats] = []
    across = np.eye(3)
    for arrow in arrows:
        rest = across @ arrow
        unit = rest / np.linalg.norm(rest)
        across = across - np.outer(unit, unit)
    while len(arrows) + len(found) < wanted:
        lengths = np.linalg.norm(across, axis=0)
        rest = across[:, int(np.argmax(np.round(lengths, 9)))]
        unit = rest / np.linalg.norm(rest)
        unit = np.where(np.abs(unit) < 1e-15, 0.0, unit)
        found.append(unit)
        across = across - np.outer(unit, unit)
    return found
