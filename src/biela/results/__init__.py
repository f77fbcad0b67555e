"""Results as plain arrays: kept, saved, plotted and animated.

`Results` holds time histories by name, and a `Scene` of plain shapes. Nothing here holds a model,
so a result can be opened where the model that made it is not at hand.

May import numpy and matplotlib, and no other package of biela but its errors; matplotlib is loaded
when something is drawn.
"""

from __future__ import annotations

from biela.results.animation import Animation
from biela.results.channels import Channels, Event
from biela.results.plots import compare
from biela.results.results import Results
from biela.results.sample import Sample
from biela.results.scene import Scene
from biela.results.shapes import Box, Cylinder, Dot, Ground, Link, Sphere, Trace
from biela.results.statistics import RunStatistics

__all__ = [
    "Animation",
    "Box",
    "Channels",
    "Cylinder",
    "Dot",
    "Event",
    "Ground",
    "Link",
    "Results",
    "RunStatistics",
    "Sample",
    "Scene",
    "Sphere",
    "Trace",
    "compare",
]
