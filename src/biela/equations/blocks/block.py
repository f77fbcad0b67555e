"""A block and its two lowerings.

    inputs of instance k:    x[gather[name][k]] of a vector x, or its row of parameters
    outputs of instance k:   added to y[scatter[name][k]]

Instances of one stage do not see each other's outputs: they are run side by side in the lanes of
the processor, and in threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.code import Function
from biela.code.looped import Clear, Memory, Program, Stage, Write
from biela.errors import ModelError, ShapeError

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
#: A vector and the places in it: (n, size), or (n,) where those of an instance follow each other.
Places: TypeAlias = tuple[str, Integers]


@dataclass(frozen=True)
class Block:
    """Instances of a kernel.

    Attributes:
        name: What it is, for messages.
        kernel: The function that all instances share.  Its input "p" is the row of parameters.
        parameters: (n, number of parameters).
        gather: For each other input of the kernel the vector it is read from and the places, a
            row an instance; or the first place of each instance, if the others follow it.
        scatter: For each output the vector it is added to and the places, likewise.
        stage: Blocks of a lower stage come first; they may write what later ones read.
    """

    name: str
    kernel: Function
    parameters: Floats
    gather: Mapping[str, Places]
    scatter: Mapping[str, Places]
    stage: int = 0

    def __post_init__(self) -> None:
        for array in self.kernel.inputs:
            if array.name == "p":
                self._check("p", self.parameters.shape, array.size)
            elif array.name in self.gather:
                self._check(array.name, self.gather[array.name][1].shape, array.size)
            else:
                raise ModelError(f"block {self.name}: nothing is gathered for {array.name}")
        for array in self.kernel.outputs:
            if array.name not in self.scatter:
                raise ModelError(f"block {self.name}: {array.name} goes nowhere")
            self._check(array.name, self.scatter[array.name][1].shape, array.size)

    def _check(self, name: str, found: tuple[int, ...], width: int) -> None:
        if found != (len(self), width) and (name == "p" or found != (len(self),)):
            raise ShapeError(
                f"block {self.name}: {name} needs {(len(self), width)} entries, not {found}"
            )

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def writes(self) -> set[str]:
        """The vectors it adds to."""
        return {target for target, _ in self.scatter.values()}

    def arguments(self, vectors: Mapping[str, Floats]) -> list[Floats]:
        """What the inputs of the kernel are for all instances."""
        found = []
        for array in self.kernel.inputs:
            if array.name == "p":
                found.append(self.parameters)
                continue
            source, places = self.gather[array.name]
            found.append(_taken(vectors[source], places, array.size))
        return found


def read_multipliers(blocks: Sequence[Block]) -> bool:
    """Whether blocks read the reaction of a joint."""
    return any(source == "lam" for block in blocks for source, _ in block.gather.values())


def _taken(x: Floats, places: Integers, width: int) -> Floats:
    if places.ndim == 2:
        return x[places]
    # row i of this view is x[i : i + width]: whole rows are taken faster than entries
    rows = np.lib.stride_tricks.sliding_window_view(x, width)
    taken: Floats = rows[places]
    return taken


def expanded(places: Integers, width: int) -> Integers:
    """All places of all instances, (n, width)."""
    return places if places.ndim == 2 else places[:, None] + np.arange(width)


def _add(y: Floats, places: Integers, values: Floats) -> None:
    count, width = values.shape
    if places.ndim == 1 and (
        count == 1 or (places[-1] - places[0] == width * (count - 1) and _follow(places, width))
    ):
        y[places[0] : places[0] + count * width] += values.ravel()
        return
    y += np.bincount(expanded(places, width).ravel(), values.ravel(), len(y))


def _follow(places: Integers, width: int) -> bool:
    return bool((np.diff(places) == width).all())


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
        if not len(block) or not block.writes & written.keys():
            continue
        found = block.kernel.map(*block.arguments(at), threads=threads)
        parts = found if len(block.kernel.outputs) > 1 else (found,)
        for array, values in zip(block.kernel.outputs, parts, strict=True):
            target, places = block.scatter[array.name]
            if target in written:
                _add(written[target], places, np.asarray(values).reshape(len(block), -1))
    return written


@dataclass(frozen=True)
class BlockProgram:
    """Blocks as a native program: where the vectors lie in its workspace, and the program."""

    memory: Memory
    program: Program


def program(
    blocks: Sequence[Block], vectors: Mapping[str, int], sizes: Mapping[str, int]
) -> BlockProgram:
    """The same as one native call.

    Args:
        blocks: What is run, by stages.
        vectors: What the blocks read, and how long it is.
        sizes: What is written, of those that the blocks can write, and how long it is.

    Raises:
        ModelError: A block reads a vector that is not there.
    """
    memory = Memory({**vectors, **sizes})
    used = [
        block
        for block in sorted(blocks, key=lambda block: block.stage)
        if len(block) and block.writes & sizes.keys()
    ]
    stages: list[Stage | Clear] = []
    added = set()
    for name, size in sizes.items():
        times = _times_written(used, name, size)
        if times.min(initial=1) == 0 or times.max(initial=1) > 1:
            added.add(name)
            stages.append(Clear(memory.first(name), size))
    stages += [_stage(block, memory, sizes, added) for block in used]
    return BlockProgram(memory, Program(stages, memory.size))


def _times_written(blocks: Sequence[Block], vector: str, size: int) -> Integers:
    """How many times each entry of a vector is written: what is written once need not be added."""
    times = np.zeros(size, dtype=np.int64)
    for block in blocks:
        for array in block.kernel.outputs:
            target, places = block.scatter[array.name]
            if target == vector:
                times += np.bincount(expanded(places, array.size).ravel(), minlength=size)
    return times


def _stage(block: Block, memory: Memory, sizes: Mapping[str, int], added: set[str]) -> Stage:
    """The instances of a block as a stage, with those outputs only that are wanted."""
    wanted = [a for a in block.kernel.outputs if block.scatter[a.name][0] in sizes]
    kernel = block.kernel
    if len(wanted) < len(kernel.outputs):
        table = kernel.table
        kernel = Function(
            kernel.name,
            {a.name: a.nested([Atom(table, r) for r in a.refs]) for a in kernel.inputs},
            {a.name: a.nested([Atom(table, r) for r in a.refs]) for a in wanted},
        )
    for name, (source, _) in block.gather.items():
        if source not in memory.sizes:
            raise ModelError(
                f"block {block.name}: {name} is read from {source}, which is not there"
            )
    return Stage(
        kernel,
        {name: memory.first(source) + places for name, (source, places) in block.gather.items()},
        {a.name: _write(*block.scatter[a.name], memory, added) for a in wanted},
        block.parameters,
        independent=True,
        name=block.name,
    )


def _write(target: str, places: Integers, memory: Memory, added: set[str]) -> Write:
    return Write(memory.first(target) + places, "add" if target in added else "set")


def unrolled(
    blocks: Sequence[Block], vectors: Mapping[str, Sequence[Atom]], sizes: Mapping[str, int]
) -> dict[str, list[Atom]]:
    """The same as expressions: every instance inlined, with its parameters as numbers."""
    workspace = next(iter(next(iter(vectors.values())))).workspace
    zero = workspace.atom(0)
    written: dict[str, list[Atom]] = {name: [zero] * size for name, size in sizes.items()}
    at: dict[str, Sequence[Atom]] = {**vectors, **written}
    for block in sorted(blocks, key=lambda block: block.stage):
        if not block.writes & written.keys():
            continue
        for k in range(len(block)):
            found = block.kernel.inline(*_atoms(block, k, at))
            parts = found if len(block.kernel.outputs) > 1 else (found,)
            for array, values in zip(block.kernel.outputs, parts, strict=True):
                target, places = block.scatter[array.name]
                if target not in written:
                    continue
                row = expanded(places[k : k + 1], array.size)[0]
                for place, entry in zip(row, _flat(values), strict=True):
                    written[target][place] = written[target][place] + entry
    return written


def _atoms(block: Block, k: int, vectors: Mapping[str, Sequence[Atom]]) -> list[list[Atom]]:
    """The arguments of instance k."""
    workspace = next(iter(next(iter(vectors.values())))).workspace
    found: list[list[Atom]] = []
    for array in block.kernel.inputs:
        if array.name == "p":
            found.append([workspace.atom(float(x)) for x in block.parameters[k]])
            continue
        source, places = block.gather[array.name]
        row = expanded(places[k : k + 1], array.size)[0]
        found.append([vectors[source][i] for i in row])
    return found


def _flat(values: Any) -> list[Atom]:
    if isinstance(values, Atom):
        return [values]
    return [entry for part in values for entry in _flat(part)]
