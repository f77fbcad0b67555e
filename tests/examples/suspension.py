"""A double wishbone suspension by the distances between its points; nothing here knows of biela.

The balls L and U, the end T of the tie rod and the wheel centre W keep their distances from each
other and from hard points on the chassis, and W has a given height: twelve equations of second
degree, solved by Newton's method, and differentiated twice,

    |a - b|² = d²,     (a - b) · (a' - b') = 0,     (a - b) · (a'' - b'') = -|a' - b'|².
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Where L, U, T and W are at rest, m.
REST = np.array(
    [[-0.010, 0.710, 0.170], [0.015, 0.670, 0.480], [0.140, 0.699, 0.283], [0.0, 0.750, 0.310]]
)
#: Hard points on the chassis, and which of the points keeps its distance from each.
CHASSIS = (
    (0, (-0.150, 0.350, 0.180)),
    (0, (0.200, 0.350, 0.190)),
    (1, (-0.090, 0.420, 0.460)),
    (1, (0.170, 0.425, 0.450)),
    (2, (0.120, 0.400, 0.280)),
)
#: Points of the upright, which keep their distances from each other.
UPRIGHT = ((0, 1), (0, 2), (1, 2), (3, 0), (3, 1), (3, 2))


def _ends(points: Floats, fixed: float) -> Floats:
    """The differences a - b of all pairs (11, 3); fixed = 0 for velocities."""
    own = [points[k] - fixed * np.array(place) for k, place in CHASSIS]
    return np.array(own + [points[i] - points[j] for i, j in UPRIGHT])


def _slopes(ends: Floats) -> Floats:
    """The equations' slopes by the twelve coordinates, the last one the height of W."""
    J = np.zeros((12, 4, 3))
    for row, ((k, _), end) in enumerate(zip(CHASSIS, ends[:5], strict=True)):
        J[row, k] = end
    for row, ((i, j), end) in enumerate(zip(UPRIGHT, ends[5:], strict=True), 5):
        J[row, i], J[row, j] = end, -end
    J[11, 3, 2] = 1.0
    return J.reshape(12, 12)


def wheel_travel(t: Floats) -> tuple[Floats, Floats, Floats]:
    """Places, velocities and accelerations (n, 4, 3) of L, U, T and W while W goes up and down."""
    w, size = np.pi, 0.08
    heights = 0.31 + size * np.sin(w * t)
    lengths = (_ends(REST, 1.0) ** 2).sum(axis=1)
    points = REST.copy()
    found: tuple[list[Floats], list[Floats], list[Floats]] = ([], [], [])
    for instant, height in zip(t, heights, strict=True):
        for _ in range(8):
            ends = _ends(points, 1.0)
            missed = np.append(((ends**2).sum(axis=1) - lengths) / 2, points[3, 2] - height)
            points = points - np.linalg.solve(_slopes(ends), missed).reshape(4, 3)
        J = _slopes(_ends(points, 1.0))
        rate, slope = size * w * np.cos(w * instant), -size * w * w * np.sin(w * instant)
        v = np.linalg.solve(J, np.append(np.zeros(11), rate)).reshape(4, 3)
        right = np.append(-(_ends(v, 0.0) ** 2).sum(axis=1), slope)
        for kept, value in zip(
            found, (points, v, np.linalg.solve(J, right).reshape(4, 3)), strict=True
        ):
            kept.append(value)
    places, velocities, accelerations = (np.array(part) for part in found)
    return places, velocities, accelerations
