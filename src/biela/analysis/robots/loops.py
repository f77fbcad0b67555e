"""Closed loops of a robot: constrained dynamics, and the forces of the loops.

The joints that carry no body close loops.  Their equations Φ(q, t) = 0, and those of drivers, hold
the coordinates of the tree:  M v' + Jᵀ λ = Q,  J v' = γ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.analysis.robots.functions import Array, Floats
from biela.analysis.robots.loop_forces import LoopForces, loop_forces
from biela.analysis.robots.positions import ClosedPositions
from biela.analysis.robots.wrenches import External
from biela.code import Function
from biela.equations import spatial
from biela.equations.spatial.constrained_inverse import check_motors, motors
from biela.errors import ShapeError
from biela.model import Model


class Loops(ClosedPositions):
    """What a robot knows of the dynamics of its closed loops; a base of `biela.Robot`."""

    def constrained_forward_dynamics(
        self,
        q: Array,
        v: Array,
        tau: Array,
        *,
        external: External | None = None,
        wrench_axes: str = "aligned",
        t: float = 0.0,
        baumgarte: tuple[float, float] | None = None,
        threads: int = 1,
    ) -> Floats:
        """The accelerations for joint forces, with all loops closed.

        Args:
            q: Coordinates, or a row for each of many.
            v: Velocities.
            tau: Joint forces.
            external: Wrenches from outside by frame, as of `forward_dynamics`.
            wrench_axes: How they are seen: "aligned", "local" or "world".
            t: Time, where drivers or forces depend on it.
            baumgarte: Gains (k_v, k_p) by which gaps are taken back,
                Φ'' + k_v Φ' + k_p Φ = 0: such as (2ω, ω²).
            threads: How many work at the same time on many states.
        """
        gains = None if baumgarte is None else (float(baumgarte[0]), float(baumgarte[1]))

        given = self._wrenches(external, wrench_axes, q)
        frames, local = (given.frames, given.local) if given else ((), None)

        def made(model: Model) -> Function:
            if not self.constraints:
                return spatial.forward_dynamics(model, external=frames, rotors=self._rotors)
            return spatial.constrained_forward_dynamics(
                model,
                external=frames,
                rotors=self._rotors,
                baumgarte=gains,
                ranked=self._ranked,
            )

        key = ("forward", gains, frames)
        return np.asarray(self._called(key, made, q, v, tau, wrenches=local, t=t, threads=threads))

    def constrained_inverse_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        actuated: Sequence[str] | None = None,
        *,
        external: External | None = None,
        wrench_axes: str = "aligned",
        t: float = 0.0,
        threads: int = 1,
    ) -> Floats:
        """The forces of motors for a motion, zero along the velocities without one.

        Args:
            q: Coordinates, or a row for each of many.
            v: Velocities that keep the loops closed.
            a: Accelerations that do.
            actuated: Joints with motors, or "joint.coordinate"; all joints of the tree for None.
                Of more motors than freedoms the forces are the smallest, Σ τ².
            external: Wrenches from outside by frame, as of `rnea`.
            wrench_axes: How they are seen: "aligned", "local" or "world".
            t: Time, where forces depend on it.
            threads: How many work at the same time on many states.

        Raises:
            ModelError: The motors leave a freedom loose; the message names what moves.
            UnknownNameError: There is no such joint in the tree.
        """
        names = None if actuated is None else tuple(map(self.own_name, actuated))
        given = self._wrenches(external, wrench_axes, q)
        frames, local = (given.frames, given.local) if given else ((), None)
        key = ("inverse", names, frames)
        if key not in self._made:
            own = motors(spatial.SpatialTree(self.snapshot), names)
            passive = [k for k in range(len(self.v_names)) if k not in own]
            place = np.asarray(q, dtype=float).reshape(-1, len(self.q_names))[0]
            J = self.closure_jacobian(place, t=t)
            kept = [
                k
                for k, name in enumerate(self.constraints)
                if name.rpartition(".")[0] not in self.snapshot.drivers
            ]
            check_motors(self.name, self.v_names, passive, J[kept])

        def made(model: Model) -> Function:
            return spatial.constrained_inverse_dynamics(
                model, names, external=frames, rotors=self._rotors, ranked=self._ranked_loops
            )

        return np.asarray(self._called(key, made, q, v, a, wrenches=local, t=t, threads=threads))

    def loop_forces(self, q: Array, v: Array, tau: Array, *, t: float = 0.0) -> LoopForces:
        """Forces and moments of the joints that close loops, in one state.

        Raises:
            ShapeError: More than one state is given.
        """
        if np.ndim(q) != 1:
            raise ShapeError(f"{self.name}: loop_forces takes one state, not many")

        def made(model: Model) -> Function:
            return spatial.constrained_forward_dynamics(
                model, rotors=self._rotors, reactions=True, ranked=self._ranked
            )

        if not self.constraints:
            a, none = self.constrained_forward_dynamics(q, v, tau, t=t), np.zeros((0, 3))
            flags = np.ones((0, 6), bool)
            return LoopForces((), none, none, flags, (), np.zeros(0), np.ones(0, bool), a)
        a, lam, *_ = self._called("reactions", made, q, v, tau, t=t)
        J = self.closure_jacobian(q, t=t)
        joints = spatial.held_by(self.snapshot)
        found = self._called("loop_wrenches", spatial.loop_wrenches, q, t=t)
        H, L = found if joints else (np.zeros((0, found.shape[1])), found)
        return loop_forces(
            joints,
            self.constraints,
            a,
            lam,
            J,
            H,
            L,
            lambda: self._tree_wrenches(np.asarray(q, float), np.asarray(v, float), a, t),
        )

    def _tree_wrenches(self, q: Floats, v: Floats, a: Floats, t: float) -> Floats:
        """By what the joints of the tree hold their bodies in a motion, without loops."""

        def made(model: Model) -> Function:
            return spatial.inverse_dynamics(model, forces=True, rotors=self._rotors)

        return np.ravel(self._called("held", made, q, v, a, t=t)[1])
