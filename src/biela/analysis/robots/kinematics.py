"""Where the frames of a robot are and how they move, and the momentum of it all."""

from __future__ import annotations

import numpy as np

from biela.analysis.robots.functions import Array, Floats, Functions


class Kinematics(Functions):
    """Positions, velocities, accelerations and momentum; a base of `biela.Robot`.

    Twists are [angular; linear].  "aligned" is at the origin of the frame along the axes of the
    ground, "local" there along its own, "world" at the origin of the ground.  Arrays with a row for
    each state are shared among threads.
    """

    def pose(self, frame: str, q: Array, *, threads: int = 1) -> Floats:
        """The pose T (4 x 4) of a frame in the ground."""
        frame = self.own_frame(frame)
        found = self._looped.pose(frame, q)
        R, p = found or self._answer("pose", q, of=(frame,), threads=threads)
        T = np.zeros((*p.shape[:-1], 4, 4))
        T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
        return T

    def jacobian(self, frame: str, q: Array, axes: str = "aligned", *, threads: int = 1) -> Floats:
        """J of a frame, six rows, seen from "world", "local" or "aligned" axes."""
        own = self.own_frame(frame)
        return self._array("jacobian", q, of=(own, axes), threads=threads)

    def frame_velocity(
        self, frame: str, q: Array, v: Array, axes: str = "aligned", *, threads: int = 1
    ) -> Floats:
        """The twist [angular; linear] of a frame, J v."""
        J = self.jacobian(frame, q, axes, threads=threads)
        return np.asarray(np.einsum("...ij,...j->...i", J, np.asarray(v, dtype=float)))

    def frame_acceleration(
        self, frame: str, q: Array, v: Array, a: Array, axes: str = "aligned", *, threads: int = 1
    ) -> Floats:
        """J v' + J' v of a frame, [angular; of its origin], along "aligned" or "local" axes."""
        own = self.own_frame(frame)
        return self._array("frame_acceleration", q, v, a, of=(own, axes), threads=threads)

    # ------------------------------------------------------------- masses in motion

    def centre_of_mass(self, q: Array, *, threads: int = 1) -> Floats:
        """The centre of mass c = Σ m r / Σ m of all bodies, in the ground."""
        return self._centroidal(0, q, None, threads)

    def centre_of_mass_velocity(self, q: Array, v: Array, *, threads: int = 1) -> Floats:
        """The velocity c' of the centre of mass."""
        return self._centroidal(1, q, v, threads)

    def centre_of_mass_jacobian(self, q: Array, *, threads: int = 1) -> Floats:
        """J (3 rows) of the centre of mass: c' = J v."""
        return self._centroidal(2, q, None, threads)

    def centroidal_momentum_matrix(self, q: Array, *, threads: int = 1) -> Floats:
        """A_G (6 rows) with h = A_G v, the momentum about the centre of mass."""
        return self._centroidal(3, q, None, threads)

    def centroidal_momentum(self, q: Array, v: Array, *, threads: int = 1) -> Floats:
        """H = A_G v, [moment of momentum; momentum] about the centre of mass."""
        return self._centroidal(4, q, v, threads)

    def momentum(self, q: Array, v: Array, *, threads: int = 1) -> Floats:
        """[Σ (I ω + c × m c'); Σ m c'], the momentum about the origin of the ground."""
        com, *_, h, _, _ = self._answer("centroidal", q, v, threads=threads)
        found = np.array(h)
        found[..., :3] += np.cross(com, found[..., 3:])
        return found

    def momentum_rate(self, q: Array, v: Array, a: Array, *, threads: int = 1) -> Floats:
        """H' = A_G v' + A_G' v about the centre of mass: the wrench from outside, with weight."""
        return self._array("momentum_rate", q, v, a, threads=threads)

    def _centroidal(self, part: int, q: Array, v: Array | None, threads: int) -> Floats:
        rest = np.zeros((*np.shape(q)[:-1], self.nv)) if v is None else v
        return np.asarray(self._answer("centroidal", q, rest, threads=threads)[part])

    # ---------------------------------------------------------------- displacements

    def integrate(self, q: Array, dv: Array, *, threads: int = 1) -> Floats:
        """The coordinates after a displacement dv, measured by velocities over a unit of time."""
        return self._array("integrate", q, dv, threads=threads)

    def difference(self, q0: Array, q1: Array, *, threads: int = 1) -> Floats:
        """The displacement from q0 to q1: ``integrate(q0, difference(q0, q1))`` is q1."""
        return self._array("difference", q0, q1, parameters=False, threads=threads)
