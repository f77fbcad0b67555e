"""What is constant over a run is computed once, before it.

The kernels of a run (right-hand side, projections) contain products of parameters such as m l².
They are taken out and kept behind the parameters and inputs in the array p (Plaza 2015, §8.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.code import Changes, Function
from biela.code.function import Prepared
from biela.errors import DomainError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hoisted:
    """Kernels that read constants from the end of p, and the functions that compute those."""

    kernels: Mapping[str, Function]
    prepare: tuple[Function, ...]
    given: int  # how many entries of p are given

    @property
    def size(self) -> int:
        """Number of entries of p."""
        return self.given + sum(f.outputs[0].size for f in self.prepare)

    def complete(self, p: Floats) -> Floats:
        """Parameters and inputs, followed by the constants computed from them."""
        p = np.ascontiguousarray(p, dtype=float)
        constants = [np.zeros(0)]
        for function in self.prepare:
            zeros = [np.zeros(a.shape) for a in function.inputs]
            zeros[_place(function)] = p
            constants.append(np.atleast_1d(function(*zeros)))
        return np.concatenate([p, *constants])


def hoisted(kernels: Mapping[str, Function]) -> Hoisted:
    """Take the constants of a run out of kernels with the inputs t, x and p."""
    parts: dict[str, Prepared] = {}
    for name, function in kernels.items():
        try:
            parts[name] = function.prepared(Changes.WITH_PARAMETERS)
        except DomainError:  # nothing to take out
            continue
    given = next(iter(kernels.values())).inputs[2].size
    counts = {name: part.prepare.outputs[0].size for name, part in parts.items()}
    found: dict[str, Function] = {}
    before = 0
    for name, function in kernels.items():
        run = parts[name].run if name in parts else function
        found[name] = _behind(run, function.name, before, sum(counts.values()))
        before += counts.get(name, 0)
    return Hoisted(found, tuple(part.prepare for part in parts.values()), given)


def _behind(run: Function, name: str, before: int, total: int) -> Function:
    """The function with its constants at their place behind p."""

    def atoms(k: int) -> list[Atom]:
        return [Atom(run.table, ref) for ref in run.inputs[k].refs]

    held = atoms(3) if len(run.inputs) > 3 else []
    after = total - before - len(held)
    ws = run.workspace
    unused = [ws.symbol(f"other_{k}") for k in range(before + after)]
    p = [*atoms(2), *unused[:before], *held, *unused[before:]]
    outputs = {a.name: a.nested([Atom(run.table, r) for r in a.refs]) for a in run.outputs}
    return Function(name, {"t": atoms(0), "x": atoms(1), "p": p}, outputs)


def _place(function: Function) -> int:
    return next(k for k, a in enumerate(function.inputs) if a.name == "p")
