"""Forces and moments in the joints of a mechanism, whatever the coordinates of its motion were.

At every instant the bodies are taken where the motion has them, as free bodies with all joints as
constraints (reference-point coordinates):

    Φ_vᵀ λ = Q - M v',     wrench on body b of joint k:  -Σ_rows λ (∂Φ'/∂v_b)

Where the rows depend on each other the reactions have one solution only in part.  Each component
says whether it is determinate; of the others the smallest are taken, in the norm Σ λ²: forces in N
and moments in N m count alike, at a length of 1 m.  All rows of the joint library are unit forces
or unit moments, so this is the norm of the joint wrenches, and the same for all coordinates.

The torque -J s'' of a rotor acts along the coordinate s between the two bodies, as that of a motor
or a spring does, and is no part of the wrench of the joint; a driver of s gives it besides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.free_bodies import FreeBodies
from biela.analysis.free_body_wrenches import joint_wrenches
from biela.analysis.instant import Instant
from biela.analysis.posing import posed
from biela.analysis.preparation import Values, values, with_values
from biela.analysis.robots.joint_forces import TAU, with_joint_forces
from biela.doors import door
from biela.equations import formulate
from biela.equations.spatial import SpatialTree
from biela.errors import ModelError, UnknownNameError
from biela.model import Model
from biela.results import Results

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class JointReactions:
    """Wrenches on the bodies after the joints, at their markers j.

    Attributes:
        t: Instants (n,), s.
        joints: Names of the joints and drivers (k).
        force: (n, k, 3), N, in the axes that were asked for.
        moment: (n, k, 3), N m.
        determinate: (n, k, 6): whether each component of force and moment is determinate.
    """

    t: Floats
    joints: tuple[str, ...]
    force: Floats
    moment: Floats
    determinate: Flags

    def __getitem__(self, joint: str) -> tuple[Floats, Floats]:
        """Force and moment of a joint over time.

        Raises:
            UnknownNameError: There is no such joint.
        """
        if joint not in self.joints:
            raise UnknownNameError(f"no joint {joint}; there are {', '.join(self.joints)}")
        k = self.joints.index(joint)
        return self.force[:, k], self.moment[:, k]

    @property
    def wrenches(self) -> Floats:
        """Force and moment side by side, (n, k, 6)."""
        return np.concatenate([self.force, self.moment], axis=2)

    def __str__(self) -> str:
        """Return the largest force and moment of each joint."""
        width = max((len(name) for name in self.joints), default=0)
        lines = [f"{'joint':<{width}}  {'force, N':>12}  {'moment, N m':>12}"]
        for k, name in enumerate(self.joints):
            F = np.linalg.norm(self.force[:, k], axis=1).max(initial=0.0)
            M = np.linalg.norm(self.moment[:, k], axis=1).max(initial=0.0)
            sure = "" if self.determinate[:, k].all() else "  indeterminate in part, smallest"
            lines.append(f"{name:<{width}}  {F:12.6g}  {M:12.6g}{sure}")
        return "\n".join(lines)


@door(ModelError)
def joint_reactions(
    model: Model,
    motion: Results | None = None,
    *,
    q: Values = None,
    v: Values = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    axes: str = "ground",
) -> JointReactions:
    """Forces and moments in all joints, over a motion or in one state.

    Args:
        model: The mechanism.
        motion: Results of a run of this model, in any coordinates; None: in the state given.
        q: Position in joint coordinates, by name or in order, where no motion is given.
        v: Velocity, likewise.
        t: Time, likewise, s.
        parameters: Values other than those of the model: those that the motion was made with.
        inputs: Likewise; those of a motion are taken from it.
        axes: "ground", or "marker" for the axes of each marker j.

    Raises:
        ModelError: The motion is not one of this model, or forces act in it that are not in the
            model, such as drives given to the analysis only; or a force is not a number.
        AssemblyError: The state cannot be assembled.
    """
    model, parameters = with_values(model, parameters)
    if axes not in ("ground", "marker"):
        raise ModelError(f"axes are 'ground' or 'marker', not {axes!r}")
    whole = model.flattened() if model.parts else model
    given = {} if motion is None else _inputs_of(motion)
    pushing = [name for name, x in given.items() if name.startswith(TAU) and np.any(x)]
    pushed = with_joint_forces(SpatialTree(whole), pushing) if pushing else whole
    free = FreeBodies(pushed, parameters)
    if motion is None:
        frames, turned, times, u = _one_state(whole, q, v, t, parameters, inputs)
    else:
        frames, times = free.frames_of(motion), np.asarray(motion.t)
        turned = free.counted_in(motion)
        held = values(free.system, "input", free.system.u, inputs)
        # looped runs hold their inputs, and store none
        u = np.repeat(held[None], len(times), 0)
        for k, entry in enumerate(free.system.u):
            u[:, k] = given.get(entry.name, u[:, k])
    names = [*whole.joints, *whole.drivers]
    states = free.states(frames, turned)
    carried = []
    for k, instant in enumerate(times):
        at = Instant(free.system, float(instant), u[k], free.p)
        carried.append(free.at(at, states.q[k], states.v[k], states.a[k], states.own))
    wrenches, sure = joint_wrenches(free, names, carried, states.axes, axes == "marker")
    lost = ~np.isfinite(wrenches).all(axis=(1, 2))
    if lost.any():
        raise ModelError(
            f"{model.name}: the forces in the joints are not finite at "
            f"t = {times[int(np.argmax(lost))]:.6g} s; look at the laws of forces and inputs there"
        )
    return JointReactions(times, tuple(names), wrenches[..., :3], wrenches[..., 3:], sure)


def _inputs_of(motion: Results) -> dict[str, Floats]:
    """The inputs of a motion by name."""
    if "u" not in motion.groups:
        return {}
    return dict(zip(motion.groups["u"].names, np.asarray(motion.u).T, strict=True))


def _one_state(
    model: Model, q: Values, v: Values, t: float, parameters: Values, inputs: Values
) -> tuple[dict[str, Floats], dict[str, Floats], Floats, Floats]:
    """The frames of the bodies in a state of joint coordinates, and these coordinates."""
    system = formulate(model)
    instant, place, speed = posed(system, q, v, t=t, parameters=parameters, inputs=inputs)
    a, _ = instant.motion(place, speed)
    parts = [
        instant("poses", place),
        instant("twists", place, speed),
        instant("frame_accelerations", place, speed, a=a),
    ]
    rows = np.concatenate(parts, axis=1)
    frames = {name: rows[None, system.frames.index(name)] for name in model.bodies}
    turned = {entry.name: place[None, k] for k, entry in enumerate(system.q)}
    return frames, turned, np.array([t]), instant.u[None]
