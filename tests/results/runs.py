"""Small runs with closed forms, for the tests of results."""

from __future__ import annotations

import numpy as np

from biela.results import Channels, Event, Ground, Link, Results, RunStatistics, Scene, Trace


def swing(step: float = 0.05, end: float = 2.0, name: str = "swing", **more: object) -> Results:
    """Two oscillators, theta1 = sin 2t and theta2 = cos 3t, and the tip of a rod at theta1."""
    t = np.arange(round(end / step) + 1) * step
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    v = np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], axis=1)
    tip = np.stack([np.sin(q[:, 0]), 0 * t, -np.cos(q[:, 0])], axis=1)
    rod = Link("rod", np.stack([0 * tip, tip], axis=1), "#0072B2")
    given: dict[str, object] = {
        "groups": {
            "q": Channels(["theta1", "theta2"], q, ["rad", "rad"]),
            "v": Channels(["theta1'", "theta2'"], v, ["rad/s", "rad/s"]),
            "y": Channels(["tip.x", "tip.z"], tip[:, [0, 2]], ["m", "m"]),
        },
        "monitors": {"energy": np.cos(t), "constraint error": 1e-9 * t},
        "units": {"energy": "J", "constraint error": "m"},
        "statistics": RunStatistics(method="closed form", steps=len(t) - 1, more={"order": 4}),
        "scene": Scene([Ground("pivot", np.zeros(3)), rod, Trace("tip", tip, tail=0.5)]),
        "events": [Event(1.5, "later", -1), Event(0.5, "contact")],
    }
    return Results(name, t, **{**given, **more})
