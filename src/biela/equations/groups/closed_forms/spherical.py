"""Two bodies between hinges whose axes meet in one point: the axis in the middle is on two cones.

With the axes n₁ and n₃ on known bodies and the angles α₁ and α₃ to the one in the middle, m:

    m·n₁ = cos α₁,  m·n₃ = cos α₃,  m = (x n₁ + y n₃ ± z n₁ × n₃) / |n₁ × n₃|²
    x = cos α₁ - k cos α₃,  y = cos α₃ - k cos α₁,  k = n₁·n₃
    z² = (cos(α₁ - α₃) - k) (k - cos(α₁ + α₃))
"""

from __future__ import annotations

import numpy as np

from biela.atoms import maximum, sqrt
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.closed_forms.geometry import Geometry
from biela.equations.groups.closed_forms.spatial_solver import (
    MEET,
    TINY,
    SpatialSolver,
    carried_by,
    inner,
    seen_from,
)
from biela.equations.groups.closed_forms.spatial_view import (
    combined,
    cross,
    dot,
    plus,
)

__all__ = ["SphericalSolver"]


class SphericalSolver(SpatialSolver):
    """Spherical dyads."""

    def dyad_about_point(self) -> Geometry | None:
        """Three hinges; None if their axes do not meet in one point."""
        dyad, view = self.dyad, self.view
        meeting = self._meeting_point()
        if meeting is None:
            return None
        pairs = (
            (dyad.a_known, dyad.a_first),
            (dyad.b_first, dyad.b_second),
            (dyad.c_known, dyad.c_second),
        )
        if not all(self.aligned(one, other, turned=True) for one, other in pairs):
            return None
        axis = view.local_axis
        c1 = inner(axis(dyad.a_first), axis(dyad.b_first))
        c3 = inner(axis(dyad.c_second), axis(dyad.b_second))
        s1, s3 = np.sqrt(np.maximum(1 - c1 * c1, 0)), np.sqrt(np.maximum(1 - c3 * c3, 0))
        if min(s1.min(), s3.min()) < 1e-6:
            return None
        n1, n3 = (view.known_axes(key)[2] for key in (dyad.a_known, dyad.c_known))
        k = dot(n1, n3)
        # the cosines of the sum and of the difference of both angles
        root = (self.number("least", c1 * c3 + s1 * s3) - k) * (
            k - self.number("most", c1 * c3 - s1 * s3)
        )
        product = cross(n1, n3)
        share = 1.0 / maximum(dot(product, product), TINY)
        C1, C3 = self.number("cos1", c1), self.number("cos3", c3)
        m = combined(
            [
                (C1 - k * C3) * share,
                (C3 - k * C1) * share,
                self.branch * sqrt(maximum(root, 0)) * share,
            ],
            [n1, n3, product],
        )
        for slot, outer, middle, n in (
            (dyad.first, dyad.a_first, dyad.b_first, n1),
            (dyad.second, dyad.c_second, dyad.b_second, n3),
        ):
            u, v = axis(outer), axis(middle)
            self.found.bases[slot] = [(u, n), (v, m), (np.cross(u, v), cross(n, m))]
        self._keep_meeting_point(meeting)

        def side(poses: Poses) -> Floats:
            z = [self.at(key, poses)[1][:, :, 2] for key in (dyad.a_known, dyad.c_known)]
            m = self.at(dyad.b_first, poses)[1][:, :, 2]
            return inner(np.cross(z[0], z[1]), m)

        meaning = "the axis of {1} is to the {side} of the way from the axis of {0} to that of {2}"
        sides = self.sides(("left", "right"), meaning, side)
        return Geometry(self.found, root * self.number("flat", 1 / (s1 * s3) ** 2), sides)

    def _meeting_point(self) -> Floats | None:
        """(n, 3) where the axes of three hinges meet at the position of the start."""
        dyad = self.dyad
        keys = (dyad.a_known, dyad.b_first, dyad.c_known)
        lines = [(r, R[:, :, 2]) for r, R in map(self.at, keys)]
        across = [np.eye(3) - np.einsum("ni,nj->nij", z, z) for _, z in lines]
        total = np.sum(across, axis=0)
        right = np.sum([carried_by(P, r) for P, (r, _) in zip(across, lines, strict=True)], axis=0)
        if np.linalg.cond(total).max() > 1e9:
            return None
        found: Floats = np.linalg.solve(total, right[:, :, None])[:, :, 0]
        size = 1e-3 + max(np.abs(r - found).max() for r, _ in lines)
        missed = max(np.abs(np.cross(z, found - r)).max() for r, z in lines)
        return found if missed <= MEET * size else None

    def _keep_meeting_point(self, point: Floats) -> None:
        dyad, view = self.dyad, self.view
        r, R = self.at(dyad.a_known)
        way = view.columns("meet", seen_from(R, point - r))
        world = plus(view.known(dyad.a_known), combined(way, view.known_axes(dyad.a_known)))
        for slot in (dyad.first, dyad.second):
            at, turn = self.poses.body(view.derivation.cast.bodies[:, slot])
            self.found.points.append((slot, seen_from(turn, point - at), world))
