"""The peers measured beside biela: CasADi, and its generated C compiled by gcc."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any


class PeerMissingError(Exception):
    """A peer is not installed on this machine."""


def casadi() -> Any:
    try:
        import casadi
    except ImportError:
        raise PeerMissingError("CasADi is not installed (pip install biela[bench])") from None
    return casadi


def sympy() -> Any:
    try:
        import sympy
    except ImportError:
        raise PeerMissingError("SymPy is not installed (pip install biela[bench])") from None
    return sympy


def scipy_sparse() -> Any:
    try:
        import scipy.sparse.linalg
    except ImportError:
        raise PeerMissingError("SciPy is not installed (pip install biela[bench])") from None
    return scipy.sparse


def compiler() -> str:
    path = shutil.which("gcc")
    if path is None:
        raise PeerMissingError("gcc is not installed")
    return path


class CompiledC:
    """A CasADi function as C, compiled by ``gcc -O3 -march=native`` and loaded.

    ``address`` is that of ``void entry(const double *in0, …, double *out0, …)``; the wrapper is in
    the same file as the generated code, so that gcc can inline one into the other.
    """

    def __init__(self, function: Any, folder: Path) -> None:
        name = function.name()
        source, library = folder / f"{name}.c", folder / f"{name}.so"
        generator = casadi().CodeGenerator(source.name)
        generator.add(function)
        source.write_text(generator.dump() + _wrapper(function), encoding="utf-8")
        options = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run(
            [compiler(), *options, "-o", library, source, "-lm"],
            check=True,
            capture_output=True,
            text=True,
        )
        self._library = ctypes.CDLL(str(library))
        address = ctypes.cast(self._library.entry, ctypes.c_void_p).value
        assert address is not None
        self.address = address


def _wrapper(function: Any) -> str:
    n_in, n_out = function.n_in(), function.n_out()
    ins = [f"in{i}" for i in range(n_in)]
    outs = [f"out{i}" for i in range(n_out)]
    parameters = ", ".join([*(f"const double *{x}" for x in ins), *(f"double *{x}" for x in outs)])
    return f"""
void entry({parameters}) {{
  static casadi_int iw[{function.sz_iw() + 1}];
  static double w[{function.sz_w() + 1}];
  const double *arg[{function.sz_arg() + 1}] = {{{", ".join(ins)}}};
  double *res[{function.sz_res() + 1}] = {{{", ".join(outs)}}};
  {function.name()}(arg, res, iw, w, 0);
}}
"""


def arithmetic_instructions(function: Any, signs: bool = True) -> int:
    """Instructions of a CasADi function that compute: no loads, stores or constants.

    ``signs`` says whether a change of sign counts; biela has none, they are part of other atoms.
    """
    ca = casadi()
    idle = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_PARAMETER}
    if not signs:
        idle.add(ca.OP_NEG)
    return sum(function.instruction_id(k) not in idle for k in range(function.n_instructions()))
