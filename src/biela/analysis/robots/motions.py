"""Motions of a robot: rollouts, trajectories, simulations, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from biela.analysis.robots.configurations import Configurations
from biela.code import Function
from biela.errors import ModelError

if TYPE_CHECKING:
    from biela.analysis.robots.rollouts import Rollout
    from biela.analysis.robots.trajectories import Trajectory
    from biela.equations import System
    from biela.results import Results

Floats = npt.NDArray[np.float64]

#: What is left out where a robot is stored.
_NATIVE: Final = ("_rollers", "_rates", "_solvers", "kinematic_system", "moving_system")
#: Laws whose code is kept.
_LAWS: Final = 16


class Motions(Configurations):
    """What a robot does over time; a base of `biela.Robot`."""

    def __getstate__(self) -> dict[str, Any]:
        """Without native code, which is made or found on disk again."""
        return {key: x for key, x in self.__dict__.items() if key not in _NATIVE}

    def rollout(
        self,
        q0: ArrayLike,
        v0: ArrayLike | None = None,
        inputs: ArrayLike | None = None,
        *,
        dt: float,
        steps: int | None = None,
        substeps: int = 1,
        method: str = "rk4",
        law: Function | None = None,
        saturate: bool = False,
        parameters: Mapping[str, Any] | None = None,
        threads: int = 1,
        t: float = 0.0,
        stabilise: float = 20.0,
    ) -> Rollout:
        """Many motions at once, from many states, under many inputs, or of many parameters.

        The loop over time is native, with a motion in every vector lane.  What the N motions share
        is given once.

        >>> import biela as bl
        >>> from biela.model.denavit_hartenberg import from_dh
        >>> robot = bl.Robot(from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], masses=[2.0, 1.0]))
        >>> robot.rollout(robot.random(0, 100), dt=1e-2, steps=50)
        Rollout: 100 motions of 0.5 s, 50 samples

        Args:
            q0: Coordinates at the start, (nq,) or (N, nq).
            v0: Velocities, (nv,) or (N, nv); at rest if not given.
            inputs: Joint forces, or what the law takes: held all the time (k,), over each of T
                samples (T, k), or for each motion (N, T, k); zero if not given.
            dt: Time between samples.
            steps: T, where the inputs do not say it.
            substeps: Steps of the method in a sample.
            method: "rk4", or "semi_implicit_euler", one evaluation a step and no drift of energy.
            law: A function whose arrays ``q``, ``v``, ``t`` and ``p`` are the state, the time at
                the start of a sample and the parameters, as far as it has them, and whose other
                arrays one after the other are the inputs; its output are the joint forces:
                `pd_law`, or
                ``biela.equations.spatial.computed_torque(robot.model)``.
            saturate: Whether joint forces are cut off at the `effort_limits`.
            parameters: Values of parameters, (N,) or one for all, in place of those of the robot.
            threads: How many work at the same time; the digits do not depend on it.
            t: Time at the start, for forces and drivers that depend on it.
            stabilise: ω, 1/s, with which gaps of closed loops are taken back; start from
                `assemble` and `project`.

        Returns:
            A `biela.analysis.robots.rollouts.Rollout` with ``t``, ``q``, ``v`` and ``tau``.  A
            motion that leaves the finite numbers is there as it went.

        Raises:
            ModelError: There is no such method, law or parameter, or the robot is so long that its
                dynamics are not written out.
            ShapeError: Arrays do not fit.
        """
        from biela.analysis.robots.rollouts import Roller, rollout

        if self.is_looped:
            raise ModelError(
                f"{self.name}: rollouts are for robots whose dynamics are written out, not for "
                f"{self.nv} freedoms link after link: make it with lowering='unrolled', or simulate"
            )

        made: dict[Any, tuple[Any, Roller]] = self.__dict__.setdefault("_rollers", {})
        key = id(law), saturate, stabilise
        if key not in made:
            # the law stays with its roller, so that no other can have its number
            bounds = self.effort_limits if saturate else None
            shared = self.__dict__.setdefault("_rates", {})
            while len(made) >= _LAWS:
                made.pop(next(iter(made)))
            made[key] = law, Roller(self, law, bounds, stabilise, shared)
        return rollout(
            self,
            made[key][1],
            q0,
            v0,
            inputs,
            dt=dt,
            steps=steps,
            substeps=substeps,
            method=method,
            parameters=parameters,
            threads=threads,
            t=t,
        )

    def pd_law(self, kp: ArrayLike, kd: ArrayLike, *, gravity: bool = False) -> Function:
        """The law τ = k_p (q_d ⊖ q) + k_d (v_d - v), for `rollout` or to be exported.

        Its inputs are ``q_d`` and ``v_d``, one after the other in a row of inputs.

        Args:
            kp: Stiffness, one number or one for each velocity.
            kd: Damping, likewise.
            gravity: Whether to add the forces that hold the weight.

        Raises:
            ShapeError: There are not as many gains as velocities.
        """
        from biela.analysis.robots.feedback import pd_law

        return pd_law(self, kp, kd, gravity)

    def trajectory(
        self,
        waypoints: ArrayLike,
        times: ArrayLike | None = None,
        *,
        kind: str = "quintic",
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        together: bool = True,
        ends: ArrayLike | None = None,
    ) -> Trajectory:
        """A motion through configurations, at given times or as fast as limits allow.

        >>> import biela as bl
        >>> from biela.model.denavit_hartenberg import from_dh
        >>> robot = bl.Robot(from_dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0)], masses=[2.0, 1.0]))
        >>> way = robot.trajectory([[0, 0], [1, 2]], kind="trapezoid", velocity=1, acceleration=4)
        >>> way
        Trajectory of robot: 2 waypoints, 2.25 s
        >>> q, v, a = way.at(1.0)
        >>> v
        array([0.5, 1. ])

        Args:
            waypoints: Two or more configurations, rows of nq.
            times: When it passes each, or the duration alone; without it the shortest time within
                the limits.
            kind: "quintic" (the least jerk; velocity, acceleration, jerk and snap continuous),
                "cubic" (the least acceleration, which is continuous but for rotations between
                more than two waypoints), or "trapezoid" of velocity, which rests at every waypoint.
            velocity: The largest velocities, one number or (nv,); the `velocity_limits` if not
                given.
            acceleration: The largest accelerations, likewise; unlimited if not given.
            together: Whether the joints of a trapezoid move in proportion, on a straight way; else
                each has a trapezoid of its own, and they arrive at the same time, the earliest for
                the slowest joint.
            ends: Velocities at the start and at the end, (2, nv), of splines with times; at rest
                if not given.

        Raises:
            ModelError: The kind is none, times or limits make no sense or are missing, or the robot
                has closed loops.
            ShapeError: An array does not fit.
        """
        from biela.analysis.robots.trajectories import trajectory

        return trajectory(
            self,
            waypoints,
            times,
            kind=kind,
            velocity=velocity,
            acceleration=acceleration,
            together=together,
            ends=ends,
        )

    def line(
        self,
        frame: str,
        q: ArrayLike,
        target: ArrayLike,
        times: ArrayLike | None = None,
        *,
        points: int = 21,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
    ) -> Trajectory:
        """A motion in which a frame goes along a straight line, by inverse kinematics.

        The configurations at points of the line are joined by a quintic spline, so that the way is
        straight at these points and nearly so between them.

        Args:
            frame: A body or "body.marker".
            q: Where it starts.
            target: Where the frame ends: a place (3,), with the orientation kept, or a pose (4, 4).
            times: The duration, or start and end; without it the shortest time within the limits.
            points: How many points of the line are met.
            velocity: The largest velocities of the joints; the `velocity_limits` if not given.
            acceleration: The largest accelerations; unlimited if not given.

        Raises:
            AssemblyError: A point of the line cannot be reached.
            ModelError: Times or limits make no sense or are missing.
            ShapeError: The target is neither a place nor a pose.
        """
        from biela.analysis.robots.trajectories import line

        return line(
            self,
            frame,
            q,
            target,
            times,
            points=points,
            velocity=velocity,
            acceleration=acceleration,
        )

    # ------------------------------------------------------------- results and pictures

    @cached_property
    def kinematic_system(self) -> System:
        """The equations behind pictures, inverse kinematics and most motions.

        Inputs are those of the model, then the joint forces.
        """
        from biela.analysis.robots.pictures import drawn_system

        return drawn_system(self)

    @cached_property
    def moving_system(self) -> System:
        """The equations behind `simulate`: others where something depends on reactions."""
        from biela.analysis.robots.moved import moving_system

        return moving_system(self)

    def simulate(self, duration: float, **options: Any) -> Results:
        """One motion as `biela.simulate` gives it, with all that acts and measures in the model.

        The inputs are those of the model and after them, without closed loops, the joint forces
        "tau.joint", zero if not given.  Arrays of inputs, and what a controller returns, are all of
        them, those of the model alone, or some by name.

        Where friction or a sensor depends on reactions, the coordinates of the results are those of
        `biela.formulate`, whose joints close loops there; functions see those of the robot.  A long
        robot runs link after link, without events and controllers
        (`biela.analysis.robots.simulation`).

        Args:
            duration: In s.
            **options: Of `biela.simulate`: ``q``, ``v``, ``step``, ``inputs``, ``control`` …

        Raises:
            ModelError: An option makes no sense, or is not there for a long robot.
            SimulationError: The run diverges; it holds the results until then.
        """
        if self.is_looped:
            from biela.analysis.robots.simulation import looped_robot_simulation

            return looped_robot_simulation(self, duration, **options)
        from biela.analysis.robots.moved import moved
        from biela.analysis.simulation import simulate

        values = {"parameters": dict(self.parameter_values)} if self.parameter_values else {}
        return simulate(self.moving_system, duration, **{**values, **moved(self, options)})

    def results(
        self, t: ArrayLike, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> Results:
        """Configurations over time as `Results`: channels of frames, plots, animations, files.

        Args:
            t: Times (T,).
            q: Configurations (T, nq).
            v: Velocities (T, nv); zero if not given.
            a: Accelerations, likewise.

        Raises:
            ShapeError: The arrays do not fit.
        """
        from biela.analysis.robots.pictures import recorded

        return recorded(self, t, q, v, a)

    def animate(self, q: ArrayLike, dt: float = 0.02, **options: Any) -> Any:
        """An animation of configurations (T, nq) that are dt apart; see `Results.animate`."""
        rows = self._checked("q", q)
        return self.results(dt * np.arange(len(rows)), rows).animate(**options)

    def draw(self, q: ArrayLike | None = None, **options: Any) -> Any:
        """A picture of one configuration, the start if none is given; a matplotlib figure."""
        from biela.analysis.robots.pictures import picture

        return picture(self, self.start if q is None else self._checked("q", q), **options)
