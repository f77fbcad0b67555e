"""What a looped program is made of: stages of a kernel, and clearing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.code.arrays import ExpressionArray, Floats
from biela.code.function import Function
from biela.errors import ShapeError

Integers: TypeAlias = npt.NDArray[np.integer[Any]]
Mode: TypeAlias = Literal["set", "add"]

#: The input of a kernel that is its row of parameters.
PARAMETERS = "p"


@dataclass(frozen=True, eq=False)
class Write:
    """Where an output goes: the places of each instance, and whether it is added to what is there.

    Attributes:
        places: (count, width), or (count,) first places where the entries follow each other.
        mode: "set" or "add".
    """

    places: Integers
    mode: Mode = "set"


@dataclass(frozen=True, eq=False)
class Stage:
    """Instances of a kernel that run one after the other.

    An instance reads all its inputs before it writes its outputs, so that both may be the same
    places.

    Attributes:
        kernel: The function that all instances share; its input "p" is their row of parameters.
        gather: For every other input the places in the workspace, a row an instance (count,
            width); or the first place of each, (count,), where its entries follow each other.
        scatter: For every output where it goes.
        parameters: (count, number of parameters); nothing if the kernel has none.
        independent: No instance reads what another writes, and no two set the same place: they
            may run side by side in the lanes of the processor.  Adding to the same place is no
            dependence.
        name: What it is, for messages; that of the kernel without it.

    Raises:
        ShapeError: Tables do not fit the arrays of the kernel, or are missing.
    """

    kernel: Function
    gather: Mapping[str, Integers]
    scatter: Mapping[str, Write]
    parameters: Floats | None = None
    independent: bool = False
    name: str = ""
    count: int = field(init=False)

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.kernel.name)
        given = [np.asarray(places) for places in self.gather.values()]
        given += [np.asarray(write.places) for write in self.scatter.values()]
        rows = len(given[0]) if given else 0
        object.__setattr__(self, "count", rows)
        known = {a.name for a in self.inputs} - {PARAMETERS}
        self._check_names(self.gather.keys(), known, "input")
        self._check_names(self.scatter.keys(), {a.name for a in self.outputs}, "output")
        for array in self.inputs:
            if array.name != PARAMETERS:
                self._check_places(array, self.gather[array.name])
                continue
            found = None if self.parameters is None else self.parameters.shape
            if found != (rows, array.size):
                raise ShapeError(
                    f"stage {self.name}: the parameters of {rows} instances have the shape "
                    f"{(rows, array.size)}, not {found}"
                )
        for array in self.outputs:
            write = self.scatter[array.name]
            if write.mode not in ("set", "add"):
                raise ShapeError(
                    f"stage {self.name}: output {array.name} is 'set' or 'add', not {write.mode!r}"
                )
            self._check_places(array, write.places)

    @property
    def inputs(self) -> tuple[ExpressionArray, ...]:
        """The arrays that an instance reads."""
        return self.kernel.inputs

    @property
    def outputs(self) -> tuple[ExpressionArray, ...]:
        """The arrays that an instance writes."""
        return self.kernel.outputs

    def extras(self) -> list[Any]:
        """Arrays that its code is given besides those of its inputs and outputs."""
        return []

    def written_besides(self) -> tuple[tuple[int, int], ...]:
        """First place and length of what it writes besides its outputs."""
        return ()

    def carried_places(self) -> Integers:
        """Places that hold the last state before they are written."""
        return np.zeros(0, dtype=np.int64)

    def _check_names(self, found: Any, wanted: set[str], what: str) -> None:
        if set(found) != wanted:
            odd = ", ".join(sorted(set(found) ^ wanted))
            raise ShapeError(
                f"stage {self.name}: places are needed for each {what} of the kernel, "
                f"{', '.join(sorted(wanted)) or 'none'}; look at {odd}"
            )

    def _check_places(self, array: ExpressionArray, places: Integers) -> None:
        found = np.asarray(places)
        if found.shape not in ((self.count,), (self.count, array.size)):
            raise ShapeError(
                f"stage {self.name}: {array.name} needs places of shape {(self.count, array.size)},"
                f" or {(self.count,)} where they follow each other, not {found.shape}"
            )
        if found.dtype.kind not in "iu":
            raise ShapeError(
                f"stage {self.name}: the places of {array.name} are whole numbers, "
                f"not {found.dtype}"
            )

    def check_within(self, size: int) -> None:
        """Refuse places outside a workspace of that size.

        Raises:
            ShapeError: There are some.
        """
        tables = [(a, self.gather[a.name]) for a in self.inputs if a.name != PARAMETERS]
        tables += [(a, self.scatter[a.name].places) for a in self.outputs]
        for array, places in tables:
            if not self.count or not array.size:
                continue
            last = int(np.max(places)) + (array.size - 1 if np.ndim(places) == 1 else 0)
            if int(np.min(places)) < 0 or last >= size:
                raise ShapeError(
                    f"stage {self.name}: places of {array.name} reach from {int(np.min(places))} "
                    f"to {last}; the workspace has 0 to {size - 1}"
                )


@dataclass(frozen=True)
class Clear:
    """Sets a run of the workspace to zero: for what later stages add to."""

    first: int
    count: int

    def check_within(self, size: int) -> None:
        """Refuse places outside a workspace of that size.

        Raises:
            ShapeError: There are some.
        """
        if self.first < 0 or self.count < 0 or self.first + self.count > size:
            raise ShapeError(
                f"clearing {self.count} places from {self.first} on leaves the workspace of {size}"
            )


@dataclass(frozen=True, eq=False)
class Call:
    """Native code that is no kernel, such as a solver: a stage of one instance, or of some.

    Attributes:
        address: ``void code(double *w, int64_t first, int64_t count, void *arguments)``.
        arguments: Address of whatever it needs.
        written: First place and length of each part of the workspace that it writes.
        kept: What has to stay alive.
    """

    address: int
    arguments: int
    written: tuple[tuple[int, int], ...]
    kept: Any = None
    count: int = 1

    def check_within(self, size: int) -> None:
        """Refuse places outside a workspace of that size.

        Raises:
            ShapeError: There are some.
        """
        for first, count in self.written:
            Clear(first, count).check_within(size)


@dataclass(frozen=True)
class Segment:
    """A run of instances of a stage: what a tape is made of.

    Attributes:
        stage: Number of the stage in its program.
        first: The first instance.
        count: How many.
    """

    stage: int
    first: int
    count: int
