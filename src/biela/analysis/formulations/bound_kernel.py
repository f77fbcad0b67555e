"""Kernels that carry memory: the routine of a projected state, bound to its arrays.

A projected state needs patterns, a basis, and room for its matrices; they lie in arrays whose
addresses stand in a table (`biela.code.routines.bound`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.projected_state import projected_state
from biela.code.routines import Int, Kernel, Matrix, routine
from biela.code.routines.bound import Bound, pointers
from biela.code.routines.in_process import digest, generated_module

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Order of the arguments of `projected_state` in a table: numbers, kernels, arrays.
NUMBERS: Final = (
    "what", "method", "reduced", "index", "rounds", "kind", "selects", "nx", "np", "nq",
    "n", "m", "g", "r", "nj", "nm", "no", "rank_known",
)  # fmt: skip
KERNELS: Final = ("place", "motion", "moved", "events", "factor", "solve", "transposed")
#: Arrays of integers and their shapes, in names of numbers; then those of reals.
INTEGERS: Final = {
    "j_row": ("nj",), "j_column": ("nj",), "j_place": ("nj",), "m_row": ("nm",),
    "m_column": ("nm",), "rows": ("r",), "order": ("n",), "position": ("n",),
    "pivots": ("r",), "swaps": ("n",), "counts": ("4",), "step": ("m",),
}  # fmt: skip
REALS: Final = {
    "T": ("n", "n"), "J": ("r", "n"), "JT": ("r", "n"), "A": ("r", "r"), "R": ("n", "n - r"),
    "MR": ("n", "n - r"), "K": ("n - r", "n - r"), "full": ("m", "n"), "Y": ("m", "n"),
    "G": ("m", "m"), "L": ("n", "n"), "stiff": ("m",), "P": ("g + m + nj",),
    "Z": ("nm + n + m + nq",), "y": ("nq + n + m",), "trial": ("nq + n",), "Sb": ("n",),
    "Sc": ("n",), "a": ("n",), "h": ("n",), "w": ("r",), "room": ("r",), "scale": ("r",),
    "probe": ("r",),
    "status": ("1",), "z": ("n - r",), "before": ("m",),
    "monitor": ("4",), "sizes": ("m",),
}  # fmt: skip


@dataclass(frozen=True)
class Output:
    """Name and size of a part of what a kernel writes."""

    name: str
    size: int


class BoundKernel(Bound):
    """A kernel ``f(t, x, p, out)`` with memory of its own, which it keeps alive.

    Called, it gives the parts of its output; `map` takes one row a state, as functions of atoms do.
    """

    def __init__(
        self, table: Integers, kept: Sequence[object], sizes: tuple[int, int], outputs: Any
    ) -> None:
        self._nx, self._np = sizes
        self.outputs: tuple[Output, ...] = tuple(Output(name, size) for name, size in outputs)
        self.output_sizes = (sum(o.size for o in self.outputs),)
        super().__init__(_entry().address, 4, table, kept)

    def __call__(self, t: Any, x: Any, p: Any) -> tuple[Floats, ...]:
        """The parts of the output in one state."""
        found = self.map(np.reshape(t, (1, 1)), np.reshape(x, (1, -1)), np.reshape(p, (1, -1)))
        return tuple(part[0] for part in found)

    def map(self, t: Any, x: Any, p: Any) -> tuple[Floats, ...]:
        """The parts of the output, one row a state."""
        T, X, P = (np.ascontiguousarray(part, dtype=float) for part in (t, x, p))
        out = np.empty((len(T), *self.output_sizes))
        evaluate_rows(len(out), self._nx, self._np, out.shape[1], T, X, P, self, out)
        ends = np.cumsum([o.size for o in self.outputs])[:-1]
        return tuple(np.ascontiguousarray(part) for part in np.split(out, ends, axis=1))

    # it is compiled already
    walk, walk_map = __call__, map


@routine(T="k, 1", X="k, nx", P="k, np", kernel="1, nx, np -> no", out="k, no")
def evaluate_rows(
    k: Int, nx: Int, np: Int, no: Int, T: Matrix, X: Matrix, P: Matrix, kernel: Kernel, out: Matrix
) -> None:
    """Evaluate a kernel of t, x and p for each row."""
    for i in range(k):
        kernel(T[i], X[i], P[i], out[i])


def table_of(
    numbers: Mapping[str, int], kernels: Mapping[str, int], arrays: Mapping[str, Any]
) -> Integers:
    """The table of a kernel: numbers, addresses of kernels, addresses of arrays."""
    entries = [numbers[name] for name in NUMBERS]
    entries += [kernels.get(name, 0) for name in KERNELS]
    entries += [arrays[name].ctypes.data for name in (*INTEGERS, *REALS)]
    return np.array(entries, dtype=np.int64)


def memory(numbers: Mapping[str, int]) -> dict[str, Any]:
    """Arrays of the sizes needed, all zero."""
    found: dict[str, Any] = {}
    for shapes, kind in ((INTEGERS, np.int64), (REALS, np.float64)):
        for name, shape in shapes.items():
            found[name] = np.zeros([_size(part, numbers) for part in shape], dtype=kind)
    return found


def _size(text: str, numbers: Mapping[str, int]) -> int:
    """The value of a sum such as "nq + n" or a difference "n - r"."""
    total, sign = 0, 1
    for part in text.split():
        if part in "+-":
            sign = 1 if part == "+" else -1
        else:
            total += sign * (int(part) if part.isdigit() else numbers[part])
    return total


@cache
def _entry() -> Any:
    """The common entry, ``void entry(t, x, p, out, table)``, as a numba.cfunc."""
    import numba

    from biela.jit import cfunc

    kinds: Any = numba  # numba carries no types
    integers_at, reals_at = pointers()
    doubles = kinds.types.CPointer(kinds.types.float64)
    signature = kinds.types.void(doubles, doubles, doubles, doubles, kinds.types.int64)
    text = _entry_source()
    code = hashlib.sha256((text + digest(projected_state)).encode()).hexdigest()[:16]
    scope = {
        "carray": kinds.carray,
        "integers_at": integers_at,
        "reals_at": reals_at,
        "compiled": cfunc(signature, error_model="numpy"),
        "projected_state": projected_state.compiled,
    }
    return generated_module(f"projected_entry_{code}", text, scope).entry


def _entry_source() -> str:
    """The entry as Python text: it unpacks a table in the order of `table_of`."""
    names = [*NUMBERS, *KERNELS]
    count = len(names) + len(INTEGERS) + len(REALS)
    lines = [
        "@compiled",
        "def entry(t, x, p, out, address):",
        f"    table = carray(integers_at(address), {count})",
    ]
    lines += [f"    {name} = table[{k}]" for k, name in enumerate(names)]
    for k, (name, shape) in enumerate({**INTEGERS, **REALS}.items()):
        place = "integers_at" if name in INTEGERS else "reals_at"
        lines.append(
            f"    {name} = carray({place}(table[{len(names) + k}]), ({', '.join(shape)},))"
        )
    arguments = [*NUMBERS, "carray(t, (1,))", "carray(x, (nx,))", "carray(p, (np,))", *KERNELS]
    arguments += [*INTEGERS, *REALS, "carray(out, (no,))"]
    return "\n".join([*lines, f"    projected_state({', '.join(arguments)})"]) + "\n"
