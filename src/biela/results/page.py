"""The page of an animation: one HTML file with the data and the player in it."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.results.channels import Array
from biela.results.display import (
    AZIMUTH,
    ELEVATION,
    Disc,
    Line,
    Mesh,
    Path,
    items,
    legend,
    view_matrix,
)
from biela.results.drawing import nice_step
from biela.results.scene import PLANES, Scene, same_array

if TYPE_CHECKING:
    from biela.results.animation import Animation

__all__ = ["page"]

#: Coordinates are written to this part of the scene's size, finer than a pixel.
_DIGITS = 5


def page(animation: Animation) -> str:
    """The text of the page; it asks nothing of the network."""
    player = files("biela.results").joinpath("player.html").read_text(encoding="utf-8")
    # inside a script element only the end of the element must not appear
    data = json.dumps(_data(animation), separators=(",", ":")).replace("<", "\\u003c")
    title = escape(animation.name)
    before, _, after = player.replace("@TITLE@", title).partition("@DATA@")
    return before + data + after


def _data(animation: Animation) -> dict[str, Any]:
    times = animation.times()
    whole = animation.scene
    scene = Scene(animation.frames(times).shapes, whole.view)
    low, high = whole.bounds
    digits = int(_DIGITS - np.floor(np.log10(whole.extent)))

    def numbers(array: Array) -> list[float]:
        # adding zero turns -0.0 into 0.0
        return [float(x) for x in np.round(array, digits).ravel() + 0.0]

    #: The poses of bodies, once for all shapes of a body.
    poses: dict[Any, dict[str, Any]] = {}

    def pose(mesh: Mesh) -> int:
        key = (same_array(mesh.position), same_array(mesh.rotation))
        rotation = np.round(mesh.rotation, 5).ravel() + 0.0
        if key not in poses:
            poses[key] = {"position": numbers(mesh.position), "rotation": rotation.tolist()}
        return list(poses).index(key)

    listed: list[dict[str, Any]] = []
    for item in items(scene):
        match item:
            case Line():
                record = {"kind": "line", "n": item.points.shape[1], "width": item.width}
                record |= {"pins": item.pins, "closed": item.closed, "dashed": item.dashed}
                record |= {"points": numbers(item.points)}
            case Disc():
                record = {"kind": "disc", "n": 1, "size": item.size, "radius": item.radius}
                record |= {"points": numbers(item.points), "hollow": item.hollow}
            case Path():
                record = {"kind": "path", "n": 1, "width": item.width, "tail": item.tail}
                record |= {"points": numbers(item.points)}
            case Mesh():
                faces = item.faces
                edges = np.column_stack([faces.edges, faces.sides, faces.sharp])
                record = {"kind": "mesh", "pose": pose(item), "vertices": numbers(item.vertices)}
                record |= {"faces": faces.corners.tolist(), "edges": edges.ravel().tolist()}
        listed.append(record | {"color": item.color})
    flat = whole.view in PLANES
    span = float((high - low)[:2].max()) or whole.extent
    return {
        "name": animation.name,
        "times": [round(float(t), 6) for t in times],
        # what is shown is what is played: 0.333, not 0.3333333333333333
        "speed": float(f"{animation.speed:.3g}"),
        "flat": whole.view if flat else "",
        "view": view_matrix(whole.view).ravel().tolist(),
        "azimuth": float(AZIMUTH),
        "elevation": float(ELEVATION),
        "low": numbers(low),
        "high": numbers(high),
        "grid": nice_step(span),
        "legend": legend(whole),
        "poses": list(poses.values()),
        "items": listed,
    }
