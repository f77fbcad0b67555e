"""The loop over Pinocchio in C++, ``pinocchio_rk4.cpp``: compiled once for a machine, and loaded.

It is compiled with all optimisation for this machine from the headers in Pinocchio's wheel; those
of Eigen come with CasADi's.  That takes minutes, so the library is kept in the user's cache.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import PeerMissingError, casadi

SOURCE = Path(__file__).with_name("pinocchio_rk4.cpp")
#: Without -mno-avx512f, which made the four-bar a third slower where it was tried.
OPTIONS = (
    *("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-shared", "-fPIC"),
    # as Pinocchio's own build has them
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
)


def pinocchio() -> Any:
    try:
        import pinocchio
    except ImportError:
        raise PeerMissingError("Pinocchio is not installed (pip install biela[bench])") from None
    return pinocchio


def built() -> bool:
    """Whether the library has been compiled on this machine."""
    return _target().exists()


@cache
def library() -> Any:
    """The library, compiled now if it never was.

    Raises:
        PeerMissingError: If Pinocchio, Eigen's headers or a C++ compiler are not installed.
    """
    target = _target()
    if not target.exists():
        _compile(target)
    return _declared(ctypes.CDLL(str(target)))


def _target() -> Path:
    """Where the library is kept: by source, options, version and what -march=native means here."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.startswith("flags")), "")
    text = SOURCE.read_text(encoding="utf-8")
    key = "\0".join((text, *OPTIONS, pinocchio().__version__, flags))
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "biela-benchmarks"
    return folder / f"pinocchio-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"


def _compile(target: Path) -> None:
    # the wheel puts its Python package below lib/python3.x/site-packages of its prefix
    prefix = Path(pinocchio().__file__).parents[4]
    eigen = Path(casadi().__file__).parent / "include" / "eigen3"
    compiler = shutil.which("g++")
    if compiler is None:
        raise PeerMissingError("g++ is not installed; the loop over Pinocchio is in C++")
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


def _declared(native: Any) -> Any:
    integers = np.ctypeslib.ndpointer(np.int32, flags="C_CONTIGUOUS")
    reals = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    handle, count, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
    native.create.restype = handle
    native.create.argtypes = [
        *(count, integers, reals, count, integers, reals, reals, reals, count),
    ]
    native.coordinates.argtypes = native.destroy.argtypes = [handle]
    native.destroy.restype = None
    native.accelerations.argtypes = native.energy.argtypes = [handle, reals, reals, reals]
    native.simulate.argtypes = [handle, real, count, count, reals, reals, reals, reals]
    return native
