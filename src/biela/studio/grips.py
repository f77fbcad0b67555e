"""Boxes that are not seen, by which thin bodies are gripped.

A rod of four pixels is hard to hit with a mouse.  So it carries a box that is wider than it is, of
a material whose every pixel is left out: nothing is drawn, nothing is hidden, but a pointer finds
it.  The faces of the box look inwards, so that a line of sight meets it behind the rod: where the
pointer is on something that is seen, that is gripped, and the box of its neighbour is not.
"""

from __future__ import annotations

import json
import struct
from functools import cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Corner", "grip_box", "unseen_box"]

Floats = npt.NDArray[np.float64]
Corner: TypeAlias = tuple[float, float, float]

#: Corners in the order of their bits, x first; sides counter-clockwise from outside.
_SIDES: Final = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
#: Numbers by which glTF 2.0 calls kinds of data, §3.6.2: float, unsigned short; arrays, indices.
_FLOAT, _SHORT, _ARRAY, _INDICES = 5126, 5123, 34962, 34963


def grip_box(vertices: Floats, reach: float, length: float = 1.0) -> tuple[Corner, Corner] | None:
    """Two corners of the box around a thin body; None where none is needed.

    Thin is what is less than ``reach`` from its middle in two of its own axes: a rod or a small
    ball.  The third, the long one, is kept: beyond its ends there is nothing to grip.

    Args:
        vertices: Of its surface (m, 3), in its own axes.
        reach: How far from its middle line a pointer may be (m).
        length: By which the surface and the box will be stretched along z.
    """
    stretch = np.array([1.0, 1.0, length])
    low, high = (end(axis=0) * stretch for end in (vertices.min, vertices.max))
    half, middle = (high - low) / 2, (low + high) / 2
    order = np.argsort(half)
    if half[order[1]] >= reach:
        return None
    half[order[:2]] = reach
    a, b = (((middle + sign * half) / stretch).tolist() for sign in (-1, 1))
    return (a[0], a[1], a[2]), (b[0], b[1], b[2])


@cache
def unseen_box(low: Corner, high: Corner) -> bytes:
    """A box that is not drawn, with its faces inwards, as a file of glTF 2.0 (binary, §4)."""
    ends = np.array([low, high])
    corners = np.array([[ends[k & 1, 0], ends[k >> 1 & 1, 1], ends[k >> 2, 2]] for k in range(8)])
    faces = [(a, p, q) for a, b, c, d in _SIDES for p, q in ((c, b), (d, c))]
    places = corners.astype("<f4").tobytes()
    data = places + np.array(faces, dtype="<u2").tobytes()
    parts = [(_ARRAY, 0, len(places)), (_INDICES, len(places), len(data) - len(places))]
    described = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [
            {
                "alphaMode": "MASK",  # what is less opaque than a half is left out
                "pbrMetallicRoughness": {"baseColorFactor": [0.0, 0.0, 0.0, 0.0]},
                "extensions": {"KHR_materials_unlit": {}},
            }
        ],
        "extensionsUsed": ["KHR_materials_unlit"],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": start, "byteLength": length, "target": target}
            for target, start, length in parts
        ],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": _FLOAT,
                "count": 8,
                "type": "VEC3",
                "min": corners.min(axis=0).tolist(),
                "max": corners.max(axis=0).tolist(),
            },
            {
                "bufferView": 1,
                "componentType": _SHORT,
                "count": 3 * len(faces),
                "type": "SCALAR",
            },
        ],
    }
    text = json.dumps(described).encode()
    chunks = _chunk(b"JSON", text, b" ") + _chunk(b"BIN\0", data, b"\0")
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _chunk(kind: bytes, data: bytes, filling: bytes) -> bytes:
    """A part of the file, of whole words of four bytes."""
    filled = data + filling * (-len(data) % 4)
    return struct.pack("<I4s", len(filled), kind) + filled
