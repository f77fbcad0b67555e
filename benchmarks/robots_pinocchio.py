"""Pinocchio's dynamics of an arm in C++, ``robots_pinocchio.cpp``: compiled once for a machine.

The headers come with Pinocchio's wheel, those of Eigen with CasADi's.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from benchmarks.pinocchio_headers import library
from biela.equations.spatial import SpatialTree

SOURCE = Path(__file__).with_name("robots_pinocchio.cpp")


class PinocchioArm:
    """An arm of hinges in Pinocchio; one at a time, since the library holds one model."""

    def __init__(self, tree: SpatialTree) -> None:
        self._library = library(SOURCE)
        links = np.ascontiguousarray([_numbers(link) for link in tree.links])
        parents = np.array([link.parent + 1 for link in tree.links], dtype=np.int32)
        gravity = np.array([float(x) for x in tree.gravity])
        arrays = [ctypes.c_void_p(x.ctypes.data) for x in (parents, links, gravity)]
        self._library.create(len(links), *arrays)

    def address(self, name: str) -> int:
        """Of "inverse", "forward", "mass" or "derivatives"."""
        found = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        assert found is not None
        return found


def _numbers(link: object) -> np.ndarray:
    """Place, mass, centre and central inertia of a link."""
    place, J = link.place, np.array(link.inertia, dtype=float)  # type: ignore[attr-defined]
    m = J[3, 3]
    c = J[:3, 3] / m
    second = J[:3, :3] - m * np.outer(c, c)
    inertia = np.trace(second) * np.eye(3) - second
    return np.concatenate([place.p, np.ravel(place.R), [m], c, inertia.ravel()])
