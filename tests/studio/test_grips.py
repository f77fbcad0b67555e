"""Boxes by which thin bodies are gripped: where they are, and that any reader understands them."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from biela.studio.grips import grip_box, unseen_box
from biela.studio.solids import ball, bar, plate

ROD = bar(np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]), 0.02).vertices


def test_a_rod_is_gripped_from_beside_it_but_not_beyond_its_ends() -> None:
    low, high = grip_box(ROD, 0.1, length=3.0)
    assert low == pytest.approx([-0.1, -0.1, -0.5])  # stretched along z by its length
    assert high == pytest.approx([0.1, 0.1, 0.5])


def test_a_small_ball_is_gripped_from_all_around_in_two_axes() -> None:
    low, high = grip_box(ball(0.03).vertices, 0.1)
    assert sorted(np.subtract(high, low)) == pytest.approx([0.06, 0.2, 0.2], abs=1e-3)


def test_what_is_easily_hit_has_no_box() -> None:
    square = np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]])
    assert grip_box(plate(square, 0.01).vertices, 0.1) is None  # thin in one axis only
    assert grip_box(ball(0.2).vertices, 0.1) is None
    assert grip_box(ROD, 0.02) is None


def test_a_short_rod_of_unit_length_is_measured_by_its_real_length() -> None:
    low, high = grip_box(ROD, 2.0, length=10.0)  # 5 m to either side, more than the reach
    assert (low[2], high[2]) == pytest.approx((-0.5, 0.5))
    assert (low[0], high[0]) == pytest.approx((-2.0, 2.0))


def test_the_file_has_a_closed_box_whose_faces_look_inwards() -> None:
    data = unseen_box((-1.0, -2.0, -3.0), (1.5, 2.0, 3.0))
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and size % 4 == 0
    described = json.loads(data[20 : 20 + size])
    blob = data[28 + size :]
    arrays = []
    for each, kind, width in zip(described["accessors"], ("<f4", "<u2"), (3, 3), strict=True):
        view = described["bufferViews"][each["bufferView"]]
        part = blob[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        arrays.append(np.frombuffer(part, dtype=kind).reshape(-1, width))
    corners, faces = arrays
    a, b, c = (corners[faces[:, k]].astype(float) for k in range(3))
    # by Gauss, the volume with its sign
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(-2.5 * 4 * 6)
    (material,) = described["materials"]
    assert material["alphaMode"] == "MASK"
    assert material["pbrMetallicRoughness"]["baseColorFactor"][3] == 0
