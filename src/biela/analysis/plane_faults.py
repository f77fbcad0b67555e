"""What does not fit the plane that a model declares: axes of joints, and gravity across it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from biela.model import Model
from biela.model.joints import Joint
from biela.model.placing import matrix
from biela.model.topology.planarity import PLANES, planar_removes

__all__ = ["axis_faults", "gravity_across"]

#: Sine of an angle below which two directions are the same.
_SAME: Final = 1e-6


def axis_faults(model: Model) -> Iterator[str]:
    """Joints that can turn or slide, but not in the plane of the model; parts written out."""
    if model.plane is None:
        return
    letter = "xyz"[PLANES[model.plane]]
    normal = np.eye(3)["xyz".index(letter)]
    for joint in model.joints.values():
        if not isinstance(joint, Joint) or not joint.coordinates or not joint.carries:
            continue
        axes = [matrix(model, marker.orientation)[:, 2] for marker in (joint.i, joint.j)]
        who = f"joint {joint.name} ({joint.kind})"
        if joint.kind == "revolute":
            if any(np.linalg.norm(np.cross(axis, normal)) > _SAME for axis in axes):
                yield (
                    f"{who} cannot turn in the {model.plane} plane: its axis is not along the "
                    f'normal {letter} of the plane; give it axis="{letter}"'
                )
        elif planar_removes(model, joint, model.plane) == 3:
            yield (
                f"{who} leaves nothing free in the {model.plane} plane, whose normal is {letter}: "
                f"turn its axis"
            )


def gravity_across(model: Model) -> str:
    """What to say of gravity that has no effect in the plane of the model; else nothing."""
    if model.plane is None:
        return ""
    k = PLANES[model.plane]
    across = model.number(model.gravity[k], "acceleration")
    if across == 0:
        return ""
    return (
        f"gravity has {across:g} m/s² along {'xyz'[k]}, across the {model.plane} plane of the "
        f"model, where it moves nothing"
    )
