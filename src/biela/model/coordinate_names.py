"""Which coordinate of which joint a name such as "knee.angle" or "knee" means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biela.errors import ModelError
from biela.model.joints import Joint

if TYPE_CHECKING:
    from biela.model.model import Model

__all__ = ["check_coordinate", "full_name"]


def full_name(model: Model, text: str) -> str | None:
    """The name "joint.coordinate"; None if the joint is not there (yet), or is one of a part.

    Raises:
        ModelError: The joint is there and has no such coordinate, or has several.
    """
    whole = text in model.joints
    owner, _, part = (text, "", "") if whole else text.rpartition(".")
    joint = model.joints.get(owner)
    if not isinstance(joint, Joint):
        return None
    numbers = [c.name for c in joint.coordinates if c.manifold == "line"]
    found = [name for name in numbers if name == part or not part]
    if len(found) != 1:
        known = ", ".join(f"{owner}.{name}" for name in numbers) or "none that is a number"
        raise ModelError(
            f"{text!r} is not one coordinate of joint {owner} ({joint.kind}), which has {known}"
        )
    return f"{owner}.{found[0]}"


def check_coordinate(model: Model, who: str, text: object) -> None:
    """Refuse a coordinate that its joint has not; one of a joint that is still to come may be.

    Raises:
        ModelError: The joint is there and has no such coordinate, or it is not a name.
    """
    if not isinstance(text, str):
        raise ModelError(f"{who}: a coordinate is a name such as 'knee.angle', not {text!r}")
    try:
        full_name(model, text)
    except ModelError as error:
        raise ModelError(f"{who}: {error}") from None
