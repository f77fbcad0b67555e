"""Pictures of large mechanisms, and the coordinates of their joints: made when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.analysis.control_state import ControlState, Readings, Turns
from biela.analysis.scenes import mechanism_scene
from biela.equations.blocks import FrameMotion, ReferenceBlocks, reference_blocks
from biela.equations.mechanism.drawing import figures
from biela.model import Model
from biela.model.joints import Joint
from biela.model.sensors import JointSensor
from biela.results import Channels, Scene

Floats = npt.NDArray[np.float64]

#: Bodies up to which a mechanism is drawn, and its joints are read.
DRAWN_UP_TO = 300


def looped_scene(blocks: ReferenceBlocks, q: Callable[[], Floats]) -> Callable[[], Scene] | None:
    """What makes the scene of a motion; None for mechanisms too large to be looked at."""
    if blocks.world.count > DRAWN_UP_TO:
        return None

    def made() -> Scene:
        model = _written_out(blocks)
        frames = FrameMotion.of(blocks)
        return mechanism_scene(
            tuple(figures(model)), tuple(frames.names), frames.poses(q()), blocks.plane or ""
        )

    return made


def joint_channels(
    blocks: ReferenceBlocks, t: Floats, q: Callable[[], Floats], v: Callable[[], Floats]
) -> dict[str, Channels]:
    """The coordinates and rates of joints, by the names that they have in other coordinates."""
    if blocks.world.count > DRAWN_UP_TO:
        return {}
    read = _Read(blocks, t, q, v)
    if not read.units:
        return {}
    names, units = list(read.units), list(read.units.values())
    rates = [f"{name}_rate" for name in names]
    turning = [unit == "rad" for unit in units]
    return {
        "joints": Channels(
            [*names, *rates],
            lambda: read.values,
            [*units, *(f"{unit}/s" if unit else "1/s" for unit in units)],
            [*rates, *[""] * len(rates)],
            angles=[*turning, *[False] * len(rates)],
        )
    }


def state_readings(blocks: ReferenceBlocks) -> tuple[Readings, Readings]:
    """Coordinates of joints, and outputs, of states that a controller is asked in."""
    count = blocks.world.count
    nothing = np.zeros((0, 0))
    read = (
        _Read(blocks, nothing, lambda: nothing, lambda: nothing) if count <= DRAWN_UP_TO else None
    )
    turning = Turns()

    def joints(state: ControlState) -> dict[str, float]:
        if read is None or not read.units:
            return {}
        values = read.at(state.q, state.v, state.t).tolist()
        names = list(read.units)
        turned = {
            name: x for name, x in zip(names, values, strict=False) if read.units[name] == "rad"
        }
        rates = zip((f"{name}_rate" for name in names), values[len(names) :], strict=True)
        return {**dict(zip(names, values, strict=False)), **turning(turned), **dict(rates)}

    loads: tuple[str, ...] = ()  # forces of joints are found in a step, not before it
    if blocks.reads_multipliers and read is not None:
        loads = tuple(s.name for s in read.model.sensors.values() if s.needs_reactions)

    def outputs(state: ControlState) -> dict[str, float]:
        if not blocks.outputs or (blocks.reads_multipliers and read is None):
            return {}
        lam = np.zeros(len(blocks.rows)) if blocks.reads_multipliers else None
        values = blocks.y(state.q, state.v, state.t, state.u, lam).tolist()
        named = zip(blocks.outputs, values, strict=True)
        return {name: x for name, x in named if name.rpartition(".")[0] not in loads}

    return joints, outputs


def _written_out(blocks: ReferenceBlocks) -> Model:
    """The model of the equations without parts, with the parameters of the run."""
    model, known = copy(blocks.world.model), blocks.world.host.parameters
    given = {name: float(known[name]) for name in model.parameters.given}
    model.parameters = model.parameters.changed(given, model.name)
    return model.flattened() if model.parts else model


class _Read:
    """Joint coordinates that are read from markers, by sensors of the same mechanism."""

    def __init__(
        self,
        blocks: ReferenceBlocks,
        t: Floats,
        q: Callable[[], Floats],
        v: Callable[[], Floats],
    ) -> None:
        self._blocks, self._t, self._q, self._v = blocks, t, q, v
        self.model = _written_out(blocks)
        counted = set(blocks.extra)
        self.units = {
            name: coordinate.unit
            for joint in self.model.joints.values()
            if isinstance(joint, Joint)
            for coordinate in joint.coordinates
            if coordinate.reading is not None
            and (name := f"{joint.name}.{coordinate.name}") not in counted
        }

    @cached_property
    def values(self) -> Floats:
        """Coordinates, then rates, a row an instant."""
        rows = zip(self._q(), self._v(), self._t, strict=True)
        return np.array([self.at(q, v, float(t)) for q, v, t in rows])

    def at(self, q: Floats, v: Floats, t: float) -> Floats:
        """Coordinates, then rates, of one state."""
        read, place, speed, order = self._sensing
        found: Floats = read.y(q[place], v[speed], t)[order]
        return found

    @cached_property
    def _sensing(self) -> tuple[ReferenceBlocks, list[int], list[int], list[int]]:
        """Equations with sensors of the joints, and places of states and of what they read."""
        alone = copy(self.model)
        alone.forces, alone.drivers = {}, {}
        alone.sensors = {
            f"reading {k}": JointSensor(name=f"reading {k}", coordinate=name)
            for k, name in enumerate(self.units)
        }
        read = reference_blocks(alone)
        own_q, own_v = list(self._blocks.coordinate_names), list(self._blocks.velocity_names)
        found = {name: k for k, name in enumerate(read.outputs)}
        order = [found[f"reading {k}"] for k in range(len(self.units))]
        order += [found[f"reading {k}_rate"] for k in range(len(self.units))]
        place = [own_q.index(name) for name in read.coordinate_names]
        return read, place, [own_v.index(name) for name in read.velocity_names], order
