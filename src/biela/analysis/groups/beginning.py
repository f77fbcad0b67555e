"""Where a motion under forces starts: poses and twists of bodies, joint coordinates and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import count

import numpy as np
import numpy.typing as npt

from biela.analysis.engine_choice import LARGE
from biela.analysis.groups.drives import Drive, Twists, drive_values
from biela.analysis.groups.poses import poses_of
from biela.analysis.groups.starting import across_plane, assembled_blocks
from biela.analysis.instant import Instant, motions
from biela.analysis.looped.start import first_state, first_velocity
from biela.analysis.one_start import start_state
from biela.analysis.preparation import values
from biela.equations.blocks import reference_blocks
from biela.equations.blocks.world import World
from biela.equations.formulate import formulate_later
from biela.errors import ModelError
from biela.model import Model
from biela.model.joints import Joint
from biela.model.parts.flattening import body_count
from biela.model.sensors.joint import JointSensor

__all__ = ["Beginning"]

Floats = npt.NDArray[np.float64]


class Beginning:
    """The start of a motion.

    Args:
        model: Bodies, joints, drivers of some freedoms.
        q: Where it starts, by name.
        v: Rates there, by name.
        t: Start time, s.
        parameters: Values other than those of the model.
        state: Position and velocity in reference-point coordinates, of a motion that goes on from
            there; ``q`` and ``v`` are not used then.

    Attributes:
        world: The bodies.
        poses: Where they are.
        twists: How they move.

    Raises:
        AssemblyError: The model cannot be assembled.
    """

    def __init__(
        self,
        model: Model,
        q: Mapping[str, float] | None,
        v: Mapping[str, float] | None,
        t: float,
        parameters: Mapping[str, float] | None,
        state: tuple[Floats, Floats] | None = None,
    ) -> None:
        self.model, self._q, self.t, self.parameters = model, q or {}, t, parameters
        self.world = World(model, parameters)
        self._large = bool(model.parts) or body_count(model) > LARGE
        #: Coordinates that poses do not tell, of a motion that goes on.
        self._counted: dict[str, float] = {}
        if self._large:
            if state is None:
                blocks, guess, speed = first_state(model, q, v, t, parameters)
                place = assembled_blocks(blocks, guess, t)
                if speed is None:
                    speed = first_velocity(model, blocks, place, t, v, parameters)
            else:
                blocks = reference_blocks(model, parameters=parameters, t=t)
                place, speed = state
            extra = dict(zip(blocks.extra, place[len(place) - len(blocks.extra) :], strict=True))
            self.poses = poses_of(self.world, place, extra, blocks.across)
        else:
            self._system = system = formulate_later(model, "reference")
            p = values(system, "parameter", system.p, parameters)
            u = values(system, "input", system.u, None)
            place, speed = start_state(system, q, v, t=t, u=u, p=p) if state is None else state
            known = {e.name: float(x) for e, x in zip(system.q, place, strict=True)}
            if state is not None:
                self._counted = known
            self.poses = poses_of(self.world, place, known, across_plane(model, self.world))
        self._place, self._speed = place, speed
        self.twists = Twists.of(self.world, self.poses, speed)
        self._outputs: dict[str, tuple[float, float]] = {}

    def read(self, names: Sequence[str]) -> None:
        """Read joint coordinates with their rates.

        The start is that of the model itself: what is read might change how it is assembled.
        """
        if not names:
            return
        found = self._sensed(names, self._speed[None])[0]
        for name, (value, rate) in zip(names, found.tolist(), strict=True):
            counted = self._counted.get(name)
            value = self._over_turns(name, value) if counted is None else counted
            self._outputs[name] = value, rate

    def rates(self, names: Sequence[str], speeds: Floats) -> Floats:
        """Rates of joint coordinates at this position with other velocities, (speeds, names)."""
        return self._sensed(names, speeds)[:, :, 1]

    def allowed(self) -> Floats:
        """A basis of the velocities that joints and drivers leave free here, (freedoms, nv).

        Raises:
            ModelError: The model is large.
        """
        if self._large:
            raise ModelError(f"{self.model.name} is too large for a dense basis of its motions")
        system = self._system
        p = values(system, "parameter", system.p, self.parameters)
        u = values(system, "input", system.u, None)
        rows = np.asarray(Instant(system, self.t, u, p)("Phi_v", self._place))
        return motions(rows.reshape(-1, len(system.v))).R.T

    def state(self) -> tuple[Floats, Floats]:
        """Position and velocity in reference-point coordinates."""
        return self._place, self._speed

    def _sensed(self, names: Sequence[str], speeds: Floats) -> Floats:
        """Joint coordinates and their rates, (speeds, names, 2)."""
        read = copy(self.model)
        read.sensors = {}  # those of the model may read reactions, which are not known here
        mine = [f"independent {k}" for k in range(len(names))]
        for sensor, name in zip(mine, names, strict=True):
            read.sensors[sensor] = JointSensor(name=sensor, coordinate=name)
        if self._large:
            reading = reference_blocks(read, parameters=self.parameters, t=self.t)
            outputs = list(reading.outputs)
            found = [reading.y(self._place, speed, self.t) for speed in speeds]
        else:
            system = formulate_later(read, "reference")
            p = values(system, "parameter", system.p, self.parameters)
            u = values(system, "input", system.u, None)
            given = {"t": np.array([self.t]), "q": self._place, "u": u, "p": p}
            function, outputs = system["outputs"], [e.name for e in system.y]
            found = [
                np.asarray(function(*({**given, "v": v}[a.name] for a in function.inputs))).ravel()
                for v in speeds
            ]
        places = [[outputs.index(text) for text in (k, f"{k}_rate")] for k in mine]
        return np.array(found)[:, places]

    def _over_turns(self, name: str, angle: float) -> float:
        """An angle as many turns from zero as its start says, which poses do not tell."""
        owner, _, part = name.rpartition(".")
        joint = self.model.joints.get(owner)
        if not isinstance(joint, Joint):
            return angle
        (coordinate,) = (c for c in joint.coordinates if c.name == part)
        given = [self._q[k] for k in (owner, name) if k in self._q]
        said = given[0] if given else joint.start.get(part)
        if coordinate.unit != "rad" or said is None:
            return angle
        start = float(self.world.host.value(said, "angle"))
        return angle + 2 * np.pi * round((start - angle) / (2 * np.pi))

    def of(self, drive: Drive) -> tuple[Floats, Floats]:
        """Values and rates of an independent coordinate; those of joints have been read."""
        return drive_values(drive, self.world, self.poses, self.twists, self._outputs)

    def laws(self, drives: Sequence[Drive]) -> list[list[str]]:
        """Laws that differ, so that each has a place of its own; the integrator gives values."""
        number, found = count(1), []
        for drive in drives:
            z, _ = self.of(drive)
            found.append([f"{float(x)!r} + {next(number)}*(t - {float(self.t)!r})" for x in z])
        return found
