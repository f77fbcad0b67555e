"""All that can be plotted of a motion: what it holds, and loads, which are found when asked for.

Loads take seconds where channels are there at once, so that one asks in two steps: `find`, which
may be done beside the page, and then `curve`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.joint_reactions import JointReactions
from biela.analysis.motor_duties import duty_of, motor_coordinates
from biela.errors import ModelError
from biela.model.joints import Joint
from biela.results import Results
from biela.results.scene import PLANES
from biela.studio.channels import Curve, Recorded, frames_of, menu

__all__ = ["Quantities"]

Floats = npt.NDArray[np.float64]

_AXES = "xyz"
#: Beside the largest load this is nothing.
_ROUNDING = 1e-12


class Quantities(Recorded):
    """The quantities of one motion of bodies and joints.

    Args:
        model: What moved, with all changes.
        system: Its equations.
        motion: How it moved.
        imposed: Whether drivers imposed the motion, so that their efforts are yet to be found.
        weighed: Whether the equations have the masses.
    """

    def __init__(
        self,
        model: bl.Model,
        system: bl.System,
        motion: Results,
        imposed: bool,
        weighed: bool = True,
    ) -> None:
        super().__init__(motion)
        self._model, self._system = model, system
        self._imposed, self._weighed = imposed, weighed
        self._found: dict[str, Curve] = {}

    @cached_property
    def menu(self) -> Mapping[str, Mapping[str, str]]:
        """Owner → quantity → name: channels, then loads of the same owner; motors come early."""
        found = menu(self.motion)
        first = (*list(found)[:1], *self._motors)
        owners = {owner: dict(found.get(owner, {})) for owner in dict.fromkeys((*first, *found))}
        for load in (*self._angles, *self._loads):
            owner, _, quantity = load.rpartition(".")
            owners.setdefault(owner, {})[quantity] = load
        return owners

    def __contains__(self, name: str) -> bool:
        return super().__contains__(name) or name in self._loads or name in self._angles

    def known(self, name: str) -> bool:
        """Whether there is a curve of it without any computation."""
        return name in self._found or name not in self._loads

    def find(self, name: str) -> None:
        """Compute a load, and those that come with it.

        Raises:
            BielaError: The forces of the motion cannot be found.
        """
        if not self.known(name):
            self._found |= self._efforts() if self._loads[name] else self._reactions()

    def curve(self, name: str) -> Curve:
        """A quantity over the motion; a load is found first.

        Raises:
            BielaError: There is none of this name, or it cannot be found.
        """
        if name in self._angles:
            return Curve(name, "rad", self._angle(name.rpartition(".")[0]))
        self.find(name)
        return self._found[name] if name in self._found else super().curve(name)

    # ----------------------------------------------------------------------------- angles

    @cached_property
    def _plane(self) -> str:
        scene = self.motion.scene
        return scene.view if scene is not None and scene.view in PLANES else ""

    @cached_property
    def _angles(self) -> tuple[str, ...]:
        """Of bodies in a plane, which are easier to read than a rotation matrix."""
        if not self._plane:
            return ()
        bodies = [name for name in frames_of(self.motion) if name in self._whole.bodies]
        return tuple(f"{name}.angle" for name in bodies if f"{name}.angle" not in self.motion)

    def _angle(self, body: str) -> Floats:
        """In the plane, counter-clockwise as it is drawn, without jumps."""
        across, up, _ = PLANES[self._plane]
        R = np.array(self.motion.frame(body).orientation)
        return np.unwrap(np.arctan2(R[:, up, across], R[:, across, across]))

    # ----------------------------------------------------------------------------- loads

    @cached_property
    def _whole(self) -> bl.Model:
        return self._model.flattened() if self._model.parts else self._model

    @cached_property
    def _motors(self) -> Mapping[str, bool]:
        """Motors, and whether they push along a line."""
        found = {}
        for name, coordinate in motor_coordinates(self._model).items():
            owner, _, quantity = coordinate.rpartition(".")
            joint = self._whole.joints.get(owner)
            units = {c.name: c.unit for c in getattr(joint, "coordinates", ())}
            if quantity in units:
                found[name] = units[quantity] == "m"
        return found

    @cached_property
    def _loads(self) -> Mapping[str, bool]:
        """Names of the loads, and whether they are efforts of motors; else reactions."""
        found: dict[str, bool] = {}
        for name, linear in self._motors.items():
            found |= {f"{name}.{'force' if linear else 'torque'}": True, f"{name}.power": True}
        for name in (*self._whole.joints, *self._whole.drivers):
            if name not in self._motors:
                found |= dict.fromkeys((f"{name}.{part}" for part, _ in self._parts()), False)
        return found

    def _parts(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Names of the parts of a reaction, and the components of the wrench they are made of.

        A planar model says nothing of loads across its plane.
        """
        forces: tuple[int, ...] = (0, 1, 2)
        moments: tuple[int, ...] = (3, 4, 5)
        if self._plane:
            normal = PLANES[self._plane][2]
            forces = tuple(k for k in range(3) if k != normal)
            moments = (3 + normal,)
        yield "reaction force", forces
        yield "reaction moment", moments  # in a plane there is one, with its sign
        for k in (*forces, *(moments if len(moments) > 1 else ())):
            yield f"reaction {'force' if k < 3 else 'moment'} {_AXES[k % 3]}", (k,)

    @cached_property
    def _reacted(self) -> JointReactions:
        return bl.joint_reactions(self._model, self.motion)

    def _efforts(self) -> dict[str, Curve]:
        """Torques and forces of motors, and their powers."""
        moved = self.motion
        if self._weighed and self._imposed:
            moved = bl.inverse_dynamics(self._system, moved, unknown=())
        found: dict[str, Curve] = {}
        for name, linear in self._motors.items():
            if self._weighed:
                duty = duty_of(self._model, moved, name)
                effort, speed = np.array(duty.torque), np.array(duty.speed)
            else:
                effort, speed = self._along_axis(name)
            what, unit = ("force", "N") if linear else ("torque", "N·m")
            found[f"{name}.{what}"] = Curve(f"{name}.{what}", unit, effort)
            found[f"{name}.power"] = Curve(f"{name}.power", "W", effort * speed)
        return found

    def _along_axis(self, name: str) -> tuple[Floats, Floats]:
        """Effort and speed of a motor, by its wrench along the axis z of the joint.

        For many bodies, whose equations are without masses and so without multipliers.

        Raises:
            ModelError: The joint has no such axis.
        """
        coordinate = motor_coordinates(self._model)[name]
        joint = self._whole.joints[coordinate.rpartition(".")[0]]
        if not isinstance(joint, Joint) or joint.kind not in ("revolute", "prismatic"):
            raise ModelError(f"the effort of {name} is not known for a joint that is {joint.kind}")
        force, moment = self._reacted[name]
        axis = np.array(self.motion.frame(joint.j.label).orientation)[:, :, 2]
        effort: Floats = np.einsum("ki,ki->k", force if self._motors[name] else moment, axis)
        return effort, np.array(self.motion[f"{coordinate}_rate"])

    def _reactions(self) -> dict[str, Curve]:
        """Of the joints, and of drivers of points, on the bodies after them, in ground axes."""
        wrenches = self._reacted.wrenches
        least = _ROUNDING * float(np.abs(wrenches).max(initial=0.0))
        wrenches = np.where(np.abs(wrenches) > least, wrenches, 0.0)
        found = {}
        for k, name in enumerate(self._reacted.joints):
            for part, own in self._parts():
                load = wrenches[:, k, own]
                values = load[:, 0] if len(own) == 1 else np.linalg.norm(load, axis=1)
                unit = "N" if own[0] < 3 else "N·m"
                found[f"{name}.{part}"] = Curve(f"{name}.{part}", unit, values)
        return found
