"""The laws of time of a model, each evaluated once at every instant with its two rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom, Workspace, diff
from biela.code import Function
from biela.equations.blocks.block import Block
from biela.equations.blocks.populations import Integers, Population
from biela.model.laws.law import Law


class LawTable:
    """Collects laws and gives each a place in the vectors w, dw and ddw."""

    def __init__(self) -> None:
        self.size = 0
        self._workspace = Workspace("laws")
        self._alone: list[tuple[int, Atom]] = []
        self._known: dict[tuple[int, str, str], Integers] = {}
        self._arrays: list[Block] = []

    def places(self, population: Population, law: Law, dimension: str) -> Integers:
        """Where the values of a law stand, for all instances of a population."""
        key = (id(population), repr(law), dimension)
        if key not in self._known:
            self._known[key] = self._add(population, law, dimension)
        return self._known[key]

    def _add(self, population: Population, law: Law, dimension: str) -> Integers:
        given = {name: population.value(name) for name in law.parameters}
        first = self.size
        rows = {n: v for n, v in given.items() if isinstance(v, np.ndarray)}
        numbers = {n: v for n, v in given.items() if not isinstance(v, np.ndarray)}
        if not rows:
            self._alone.append((first, law.expression(self._workspace, numbers, dimension)))
            self.size += 1
            return np.full(population.count, first)
        workspace = Workspace("law")
        symbols = {n: workspace.parameter(f"row{k}") for k, n in enumerate(rows)}
        f = law.expression(workspace, {**numbers, **symbols}, dimension)
        kernel = _function([f], workspace, list(symbols.values()))
        count = population.count
        places = np.arange(first, first + count)
        self._arrays.append(
            Block(
                f"law {law.to_data()}",
                kernel,
                np.stack(list(rows.values()), axis=1),
                {"t": ("t", np.zeros(count, dtype=np.int64))},
                {name: (name, places) for name in ("w", "dw", "ddw")},
            )
        )
        self.size += count
        return places

    def blocks(self) -> tuple[Block, ...]:
        """What evaluates them."""
        if not self._alone:
            return tuple(self._arrays)
        kernel = _function([f for _, f in self._alone], self._workspace, [])
        places = np.array([[place for place, _ in self._alone]])
        alone = Block(
            "laws",
            kernel,
            np.zeros((1, 0)),
            {"t": ("t", np.zeros(1, dtype=np.int64))},
            {name: (name, places) for name in ("w", "dw", "ddw")},
        )
        return (alone, *self._arrays)


def _function(laws: Sequence[Atom], workspace: Workspace, rows: list[Atom]) -> Function:
    t = workspace.time
    first = [diff(f, t) for f in laws]
    second = [diff(f, t) for f in first]
    inputs = {"t": [t], "p": rows} if rows else {"t": [t]}
    return Function("laws", inputs, {"w": list(laws), "dw": first, "ddw": second})
