"""Results as plain arrays: kept, saved, plotted and animated.

`Results` holds time histories by name, and a `Scene` of plain shapes. Nothing here holds a model,
so a result can be opened where the model that made it is not at hand.

May import numpy and matplotlib, and no other package of biela but its errors; matplotlib is loaded
when something is drawn.
"""

from __future__ import annotations

from biela.results.animation import Animation
from biela.results.channels import Channels, Event
from biela.results.comparison import compare, deviations
from biela.results.frames import FrameMotion, PointMotion, frame_channels
from biela.results.overlays import overlay, side_by_side
from biela.results.paths import overlay_paths
from biela.results.reference import reference_data
from biela.results.results import Results
from biela.results.sample import Sample
from biela.results.scene import Scene
from biela.results.shapes import Box, Cylinder, Dot, Ground, Link, Polyhedron, Sphere, Trace
from biela.results.statistics import RunStatistics
from biela.results.tables import Table

__all__ = [
    "Animation",
    "Box",
    "Channels",
    "Cylinder",
    "Dot",
    "Event",
    "FrameMotion",
    "Ground",
    "Link",
    "PointMotion",
    "Polyhedron",
    "Results",
    "RunStatistics",
    "Sample",
    "Scene",
    "Sphere",
    "Table",
    "Trace",
    "compare",
    "deviations",
    "frame_channels",
    "overlay",
    "overlay_paths",
    "reference_data",
    "side_by_side",
]
