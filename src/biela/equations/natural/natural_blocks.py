"""Natural coordinates as blocks: kernels of a few entities, run over arrays of instances.

    Φ, and the entries of Φ_q that can be different from zero      "Phi", "Phi_q"
    β and γ of Φ_q q' = β, Φ_q q'' = γ                              "beta", "gamma"
    the forces, gravity among them                                  "Q"

M is constant: its entries are numbers.  Kernels are compiled once, whatever the number of
instances, which are tables of places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.equations.blocks.block import Block, BlockProgram, Integers, looped, program
from biela.equations.natural.entities import Floats
from biela.errors import ModelError

#: What blocks write, and which of their vectors it is.
WRITTEN: Final = ("Phi", "Phi_q", "beta", "gamma", "Q")


@dataclass(frozen=True, eq=False)
class NaturalBlocks:
    """A mechanism in natural coordinates, as blocks.

    Attributes:
        name: That of the layout or model.
        columns: Names of the coordinates.
        rows: Names of the constraints.
        start: Where a motion starts, as far as it is known: a guess for an assembly.
        blocks: Of all that is written; they read "q", "v" and "t".
        indices: (2, entries) row and column of each entry of Φ_q, in the order of its values; no
            entry stands there twice.
        mass: Rows, columns and values of M, all of it.
        weight: The constant part of Q.
        relative: Numbers of the relative coordinates: the hint REL.
        closure: Numbers of the rows that close loops: the hint CLO.
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[str]
    start: Floats
    blocks: tuple[Block, ...]
    indices: Integers
    mass: tuple[Integers, Integers, Floats]
    weight: Floats
    relative: frozenset[int]
    closure: frozenset[int]

    @property
    def sizes(self) -> dict[str, int]:
        """How long each vector is that blocks write."""
        n, m = len(self.columns), len(self.rows)
        return {"Phi": m, "Phi_q": self.indices.shape[1], "beta": m, "gamma": m, "Q": n}

    def program(self, *what: str) -> BlockProgram:
        """One native call that writes these, from "q", "v" and "t".

        The constant part of Q is not in it: add `weight`.

        Raises:
            ModelError: Blocks do not write that.
        """
        n = len(self.columns)
        return program(self.blocks, {"q": n, "v": n, "t": 1}, self._chosen(what))

    def evaluate(
        self, *what: str, q: Floats, v: Floats | None = None, t: float = 0.0
    ) -> dict[str, Floats]:
        """The same by loops of Python over the kernels, with the constant part of Q."""
        vectors: Mapping[str, Floats] = {
            "q": np.asarray(q, dtype=float),
            "v": np.zeros(len(self.columns)) if v is None else np.asarray(v, dtype=float),
            "t": np.array([t]),
        }
        found = looped(self.blocks, vectors, self._chosen(what))
        if "Q" in found:
            found["Q"] += self.weight
        return found

    def _chosen(self, what: Sequence[str]) -> dict[str, int]:
        unknown = [name for name in what if name not in WRITTEN]
        if unknown:
            raise ModelError(
                f"{self.name}: blocks write {', '.join(WRITTEN)}, not {', '.join(unknown)}"
            )
        sizes = self.sizes
        return {name: sizes[name] for name in what or WRITTEN}
