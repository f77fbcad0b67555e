"""The C of `peers.c`, compiled and loaded; matrices come as SciPy's."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import PeerMissingError, compiler

_INT = np.ctypeslib.ndpointer(np.int32, flags="C")
_REAL = np.ctypeslib.ndpointer(np.float64, flags="C")


@cache
def library() -> Any:
    """Compile `peers.c` against SuiteSparse.

    Raises:
        PeerMissingError: SuiteSparse or a compiler is not installed.
    """
    if not any(Path(root, "klu.h").is_file() for root in _INCLUDES):
        raise PeerMissingError("SuiteSparse has no headers here (apt install libsuitesparse-dev)")
    source = Path(__file__).with_name("peers.c")
    path = Path(tempfile.mkdtemp(prefix="biela-suitesparse-")) / "peers.so"
    options = ["-O3", "-march=native", "-shared", "-fPIC", *(f"-I{root}" for root in _INCLUDES)]
    done = subprocess.run(
        [compiler(), *options, "-o", str(path), str(source), "-lklu", "-lcholmod"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PeerMissingError(f"SuiteSparse does not compile: {done.stderr[:200]}")
    code = ctypes.CDLL(str(path))
    code.klu_peer_new.restype = code.cholmod_peer_new.restype = ctypes.c_void_p
    code.klu_peer_new.argtypes = [ctypes.c_int, _INT, _INT, _REAL, ctypes.c_int, ctypes.c_int]
    code.klu_peer_run.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, _REAL, _REAL]
    code.klu_peer_free.argtypes = code.cholmod_peer_free.argtypes = [ctypes.c_void_p]
    code.cholmod_peer_new.argtypes = [ctypes.c_int, _INT, _INT, _REAL, ctypes.c_int]
    code.cholmod_peer_run.argtypes = [ctypes.c_void_p, ctypes.c_int, _REAL, _REAL]
    return code


_INCLUDES = ("/usr/include/suitesparse", "/usr/local/include/suitesparse", "/usr/include")


class KLU:
    """KLU on one pattern; `run(count, b, x)` refactors and solves so often."""

    def __init__(self, A: Any, ordering: int = 0, scale: int = 2) -> None:
        A = A.tocsc()
        A.sort_indices()
        self.arrays = (
            A.indptr.astype(np.int32),
            A.indices.astype(np.int32),
            A.data.astype(np.float64),
        )
        self.code = library()
        self.handle = self.code.klu_peer_new(A.shape[0], *self.arrays, ordering, scale)
        if not self.handle:
            raise ValueError("KLU finds the matrix singular")

    def run(self, count: int, b: np.ndarray, x: np.ndarray, solves: int = 1) -> None:
        if not self.code.klu_peer_run(self.handle, count, solves, b, x):
            raise ValueError("KLU failed")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.code.klu_peer_free(self.handle)


class Cholmod:
    """CHOLMOD on one pattern of a positive definite matrix."""

    def __init__(self, A: Any, supernodal: int = 1) -> None:
        import scipy.sparse

        A = scipy.sparse.tril(A, format="csc")
        A.sort_indices()
        self.arrays = (
            A.indptr.astype(np.int32),
            A.indices.astype(np.int32),
            A.data.astype(np.float64),
        )
        self.code = library()
        self.handle = self.code.cholmod_peer_new(A.shape[0], *self.arrays, supernodal)

    def run(self, count: int, b: np.ndarray, x: np.ndarray) -> None:
        if not self.code.cholmod_peer_run(self.handle, count, b, x):
            raise ValueError("CHOLMOD failed")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.code.cholmod_peer_free(self.handle)
