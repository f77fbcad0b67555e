"""C++ on Pinocchio's headers: compiled once for a machine, kept in the user's cache.

With all optimisation for this machine, from the headers in Pinocchio's wheel; those of Eigen come
with CasADi's.  It takes a minute or more.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.peers import PeerMissingError, casadi

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


def compiled(source: Path) -> Path:
    """Where the library of a source is: by text, options, version and what native means here."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.startswith("flags")), "")
    text = source.read_text(encoding="utf-8")
    key = "\0".join((text, *OPTIONS, pinocchio().__version__, flags))
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "biela-benchmarks"
    return folder / f"{source.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"


def library(source: Path) -> Any:
    """The library of a source, compiled now if it never was.

    Raises:
        PeerMissingError: If Pinocchio, Eigen's headers or a C++ compiler are not installed, or the
            folder of the library is not the user's alone.
    """
    target = compiled(source)
    if not target.exists():
        _compile(source, target)
    folder = target.parent.stat()
    if folder.st_uid != os.geteuid() or folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PeerMissingError(f"others may write in {target.parent}; remove it")
    return ctypes.CDLL(str(target))


def _compile(source: Path, target: Path) -> None:
    # the wheel puts its Python package below lib/python3.x/site-packages of its prefix
    prefix = Path(pinocchio().__file__).parents[4]
    eigen = Path(casadi().__file__).parent / "include" / "eigen3"
    compiler = shutil.which("g++")
    if compiler is None:
        raise PeerMissingError(f"g++ is not installed; {source.name} is in C++")
    if not (prefix / "include" / "pinocchio").is_dir() or not eigen.is_dir():
        raise PeerMissingError("the headers of Pinocchio or of Eigen are not installed")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = target.with_suffix(f".{os.getpid()}")  # another process may be at it too
    includes = ["-isystem", str(prefix / "include"), "-isystem", str(eigen)]
    subprocess.run(
        [compiler, *OPTIONS, *includes, "-o", str(made), str(source)],
        check=True,
        capture_output=True,
        text=True,
    )
    made.replace(target)
