"""Channels of what a file describes, by the names that people type."""

from __future__ import annotations

from collections.abc import Iterable

import biela as bl
from biela.analysis import joint_channels
from biela.cli.models import Described, coordinates_of, system_of


def full_name(model: Described, name: str) -> str:
    """The name of a channel; a joint with one coordinate may stand for it: "A" for "A.angle"."""
    return joint_channels.channel_name(model, name) if isinstance(model, bl.Model) else name


def measured_system(model: Described, coordinates: str | None, names: Iterable[str]) -> bl.System:
    """The equations of a model, with outputs for coordinates of joints among the names.

    Raises:
        ModelError: The equations cannot be derived.
    """
    if not isinstance(model, bl.Model):
        return system_of(model, coordinates)
    return joint_channels.measured_system(model, coordinates_of(model, coordinates), names)
