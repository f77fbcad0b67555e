"""Where the cells of a chain start: each assembled by itself, then put one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from biela.equations.blocks import FrameMotion, ReferenceBlocks
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.orientation import Orientation

Floats = npt.NDArray[np.float64]
#: Poses of bodies seen from the ground of their instance, by part and body.
Relative = Mapping[str, Mapping[str, Floats]]


def unlinked(model: Model) -> Model | None:
    """The linked parts of a model with all their instances on the ground; None if there are none.

    What the host adds to them is left out.
    """
    linked = {name: part for name, part in model.parts.items() if part.link is not None}
    if not linked:
        return None
    alone = type(model)(model.name, gravity=model.gravity, plane=model.plane)
    alone.parameters = model.parameters.copy()
    nothing = (0.0, 0.0, 0.0)
    for name, part in linked.items():
        alone.parts[name] = replace(
            part,
            link=None,
            on=GROUND,
            position=nothing,
            orientation=Orientation(),
            shift=nothing,
            between=(),
            joints_between=(),
        )
    return alone


def relative_poses(blocks: ReferenceBlocks, q: Floats) -> Relative:
    """The poses of all bodies of parts at a position, (instances, 4, 4) by part and body."""
    rows = FrameMotion.of(blocks, markers=False).poses(q[None])[0]
    T = np.tile(np.eye(4), (len(rows), 1, 1))
    T[:, :3, 3], T[:, :3, :3] = rows[:, :3], rows[:, 3:].reshape(-1, 3, 3)
    return {
        part: {name: T[population.bodies(name)] for name in population.local}
        for part, population in blocks.world.parts.items()
    }
