"""A block and its two lowerings.

    inputs of instance k:    x[gather[name][k]] of a vector x, or its row of parameters
    outputs of instance k:   added to, or set in, y[scatter[name][k]]

Instances of one stage do not see each other's outputs: they are run side by side in the lanes of
the processor, and in threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.code import Function
from biela.errors import ModelError, ShapeError

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Instances of a kernel.

    Attributes:
        name: What it is, for messages.
        kernel: The function that all instances share.  Its input "p" is the row of parameters.
        parameters: (n, number of parameters).
        gather: For each other input of the kernel the vector it is read from and the places, a
            row an instance: ("q", (n, size)).
        scatter: For each output the vector it goes to and the places, likewise; a place of -1
            drops the entry.
        stage: Blocks of a lower stage come first.
    """

    name: str
    kernel: Function
    parameters: Floats
    gather: Mapping[str, tuple[str, Integers]]
    scatter: Mapping[str, tuple[str, Integers]]
    stage: int = 0

    def __post_init__(self) -> None:
        count = len(self.parameters)
        for array in self.kernel.inputs:
            width = array.size
            if array.name == "p":
                found: tuple[int, ...] = self.parameters.shape
            elif array.name in self.gather:
                found = self.gather[array.name][1].shape
            else:
                raise ModelError(f"block {self.name}: nothing is gathered for {array.name}")
            if found != (count, width):
                raise ShapeError(
                    f"block {self.name}: {array.name} needs {(count, width)} entries, not {found}"
                )

    def __len__(self) -> int:
        return len(self.parameters)

    def gathered(self, name: str, vectors: Mapping[str, Floats]) -> Floats:
        """What an input of the kernel is for all instances."""
        if name == "p":
            return self.parameters
        source, places = self.gather[name]
        return vectors[source][places]


def looped(
    blocks: Sequence[Block],
    vectors: Mapping[str, Floats],
    sizes: Mapping[str, int],
    threads: int = 1,
) -> dict[str, Floats]:
    """The vectors that blocks write, each kernel run over all its instances.

    ``sizes`` names what is written, of those that the blocks can write, and how long it is.
    """
    written = {name: np.zeros(size) for name, size in sizes.items()}
    at: dict[str, Floats] = {**vectors, **written}
    for block in sorted(blocks, key=lambda block: block.stage):
        if not len(block):
            continue
        wanted = [a for a in block.kernel.outputs if block.scatter[a.name][0] in written]
        if not wanted:
            continue
        arguments = [
            block.parameters
            if a.name == "p"
            else at[block.gather[a.name][0]][block.gather[a.name][1]]
            for a in block.kernel.inputs
        ]
        found = block.kernel.map(*arguments, threads=threads)
        parts = found if len(block.kernel.outputs) > 1 else (found,)
        for array, values in zip(block.kernel.outputs, parts, strict=True):
            target, places = block.scatter[array.name]
            if target not in written:
                continue
            flat = np.asarray(values).reshape(len(block), -1)
            kept = places >= 0
            np.add.at(written[target], places[kept], flat[kept])
    return written


def unrolled(
    blocks: Sequence[Block], vectors: Mapping[str, Sequence[Atom]], sizes: Mapping[str, int]
) -> dict[str, list[Atom]]:
    """The same as expressions: every instance inlined, with its parameters as numbers."""
    workspace = next(iter(next(iter(vectors.values())))).workspace
    zero = workspace.atom(0)
    written: dict[str, list[Atom]] = {name: [zero] * size for name, size in sizes.items()}
    for block in sorted(blocks, key=lambda block: block.stage):
        for k in range(len(block)):
            arguments: list[list[Atom]] = []
            for a in block.kernel.inputs:
                if a.name == "p":
                    arguments.append([workspace.atom(float(x)) for x in block.parameters[k]])
                else:
                    source, places = block.gather[a.name]
                    arguments.append([vectors[source][i] for i in places[k]])
            found = block.kernel.inline(*arguments)
            parts = found if len(block.kernel.outputs) > 1 else (found,)
            for array, values in zip(block.kernel.outputs, parts, strict=True):
                target, places = block.scatter[array.name]
                if target not in written:
                    continue
                for place, entry in zip(places[k], _flat(values), strict=True):
                    if place >= 0:
                        written[target][place] = written[target][place] + entry
    return written


def _flat(values: object) -> list[Atom]:
    if isinstance(values, Atom):
        return [values]
    assert isinstance(values, list | tuple)
    return [entry for part in values for entry in _flat(part)]
