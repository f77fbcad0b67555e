"""Markers: frames fixed in bodies.  Joints, drivers, forces and sensors are written on them."""

from __future__ import annotations

from dataclasses import dataclass

from biela.model.orientation import Orientation
from biela.model.quantities.values import Triple


@dataclass(frozen=True)
class Marker:
    """A frame fixed in a body.

    Attributes:
        body: Name of the body; "ground" is the one that does not move.
        name: Its own name; markers made on the fly are called after what they are for.
        position: Its place from the frame of the body, along the axes of the body.
        orientation: How it is turned.  Its z axis is the axis of the joint that uses it.
    """

    body: str
    name: str
    position: Triple = (0.0, 0.0, 0.0)
    orientation: Orientation = Orientation()

    @property
    def label(self) -> str:
        """The name by which files and results know it."""
        return f"{self.body}.{self.name}"
