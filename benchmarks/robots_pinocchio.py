"""Pinocchio's dynamics of an arm in C++, ``robots_pinocchio.cpp``: compiled once for a machine.

The headers come with Pinocchio's wheel, those of Eigen with CasADi's.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from benchmarks.closed_loops.pinocchio_native import OPTIONS, pinocchio
from benchmarks.peers import PeerMissingError, casadi
from biela.equations.spatial import SpatialTree

SOURCE = Path(__file__).with_name("robots_pinocchio.cpp")


class PinocchioArm:
    """An arm of hinges in Pinocchio; one at a time, since the library holds one model."""

    def __init__(self, tree: SpatialTree) -> None:
        target = _target()
        if not target.exists():
            _compile(target)
        self._library = ctypes.CDLL(str(target))
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


def _target() -> Path:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.startswith("flags")), "")
    text = SOURCE.read_text(encoding="utf-8")
    key = "\0".join((text, *OPTIONS, pinocchio().__version__, flags))
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "biela-benchmarks"
    return folder / f"pinocchio-robots-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"


def _compile(target: Path) -> None:
    # the wheel puts its Python package below lib/python3.x/site-packages of its prefix
    prefix = Path(pinocchio().__file__).parents[4]
    eigen = Path(casadi().__file__).parent / "include" / "eigen3"
    compiler = shutil.which("g++")
    if compiler is None:
        raise PeerMissingError("g++ is not installed; the calls of Pinocchio are in C++")
    if not (prefix / "include" / "pinocchio").is_dir() or not eigen.is_dir():
        raise PeerMissingError("the headers of Pinocchio or of Eigen are not installed")
    target.parent.mkdir(parents=True, exist_ok=True)
    made = target.with_suffix(f".{os.getpid()}")  # another process may be at it too
    includes = ["-isystem", str(prefix / "include"), "-isystem", str(eigen)]
    subprocess.run(
        [compiler, *OPTIONS, *includes, "-o", str(made), str(SOURCE)],
        check=True,
        capture_output=True,
        text=True,
    )
    made.replace(target)
