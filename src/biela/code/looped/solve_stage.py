"""Instances that solve small nonlinear equations by Newton's method, inside of native code.

A `Solve` is a stage whose kernel has unknowns: its input "x".  These outputs play a part of their
own, all others are results, evaluated at the solution and written as those of a `Stage`:

| output | what it is |
|---|---|
| ``guess`` | where Newton's method starts; a function of all inputs but x |
| ``residual`` | what vanishes at a solution, in any number; e is its Euclidean norm |
| ``next`` | the next iterate as a function of x, such as x - J(x)⁻¹ r(x) |
| ``positive`` | numbers that stay above zero: the sign of a branch times a determinant |

An instance reads its arrays, starts at the guess, and takes ``next`` until e ≤ tolerance.  In the
lanes of the processor it goes on while any lane is open, and those that are solved keep their x.
All results are then evaluated at the last x, no factor is older, and are written after everything
is read: a stage may work in place.  Results equal to the symbols of x are the solution itself.

>>> import numpy as np
>>> import biela as bl
>>> from biela.code.looped import Clear, Memory, Program, Solve, Write
>>> ws = bl.Workspace("kepler")
>>> E, M, e = ws.symbol("E"), ws.symbol("M"), ws.parameter("e")
>>> r = E - e * bl.sin(E) - M
>>> kepler = bl.Function(
...     "kepler",
...     {"x": [E], "m": [M], "p": [e]},
...     {"guess": [M], "residual": [r], "next": [E - r / (1 - e * bl.cos(E))], "angle": [E]},
... )
>>> memory = Memory({"status": 3, "M": 4, "E": 4})
>>> stage = Solve(
...     kepler,
...     gather={"m": memory.places("M")},
...     scatter={"angle": Write(memory.places("E"))},
...     parameters=np.array([[0.0], [0.1], [0.2], [0.5]]),
...     status=memory.first("status"),
...     tolerance=1e-12,
... )
>>> program = Program([Clear(memory.first("status"), 3), stage], memory.size)
>>> w = memory.array()
>>> memory.view(w, "M")[:] = 1.0
>>> program.run(w)
>>> memory.view(w, "E").round(6)
array([1.      , 1.088598, 1.185324, 1.498701])
>>> memory.view(w, "status")  # no failure, and all steps that were made
array([ 0.,  0., 10.])

**Status.**  Three places of the workspace that stages may share, each with a double for every state
where these are in the lanes (so that it is seen which instant failed):

| place | content |
|---|---|
| ``status`` | 0, or the label of the first instance that failed: 1, 2, … or one of ``labels`` |
| ``status + 1`` | how it failed, a `Failure` |
| ``status + 2`` | steps made by all instances, added to what is there |

Nothing stops at a failure: results are evaluated at the last x, and may be nan.  Clear the status
before, or as the first stage, and look at it after.

**Carried arrays** predict from the last solved instant.  Where states are in the lanes a carried
array is what the *last* lane holds, in all lanes: if its place is one that the stage writes, that
is the last state of the run before.  One state at a time it is read as it is.  The first run needs
the start there, in all lanes; `ProgramFunction.map` takes it from the workspace of one state.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Final

import numpy as np

from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.looped.blocks import Equations, Steps
from biela.code.looped.stage import Integers, Stage
from biela.code.looped.window import Window
from biela.errors import DomainError, ShapeError

__all__ = ["STATUS", "UNKNOWNS", "Failure", "Solve"]

#: The input of a kernel that is solved for.
UNKNOWNS: Final = "x"
#: Outputs that are no results.
_PARTS: Final = ("guess", "residual", "next", "positive")
#: How many places a status has.
STATUS: Final = 3


class Failure(IntEnum):
    """How an instance failed."""

    NO_CONVERGENCE = 1  # e is above the tolerance after the last step
    NOT_FINITE = 2  # nan or an infinity
    NOT_POSITIVE = 3  # solved, but at a dead point or on another branch


def arrays_read(kernel: Function) -> tuple[ExpressionArray, ...]:
    """The inputs that an instance reads: all but the unknowns."""
    return tuple(a for a in kernel.inputs if a.name != UNKNOWNS)


def arrays_made(kernel: Function) -> tuple[ExpressionArray, ...]:
    """The outputs that an instance writes: the results."""
    return tuple(a for a in kernel.outputs if a.name not in _PARTS)


def equations_of(kernel: Function) -> Equations:
    """The outputs of a kernel by the part that they play."""
    given = {a.name: a.refs for a in kernel.outputs}
    unknowns = next((a.refs for a in kernel.inputs if a.name == UNKNOWNS), ())
    guess, residual, following, positive = (given.get(name, ()) for name in _PARTS)
    results = tuple(ref for array in arrays_made(kernel) for ref in array.refs)
    return Equations(kernel.table, unknowns, guess, residual, following, positive, results)


@dataclass(frozen=True, eq=False, kw_only=True)
class Solve(Stage):
    """Instances of a kernel that solve equations; see the module for its outputs.

    Attributes:
        status: The first of `STATUS` places for failures and steps.
        tolerance: Bound of the norm of the residual.
        iterations: Most steps of an instance.
        polish: Steps of all lanes after convergence, which are not tested: Newton's method then
            ends at rounding, whatever the tolerance.
        fixed: Exactly that many steps, for real time; the residual is tested once, at the end
            (a tolerance of ``math.inf`` accepts every finite one).
        carried: Inputs that hold the last solved state.
        window: A part of the workspace that may stand elsewhere.
        labels: (count,) what is written for an instance that fails, from 1 on.

    Raises:
        ShapeError: Tables or outputs do not fit, or a number of steps is none.
        DomainError: The guess depends on the unknowns.
    """

    status: int
    tolerance: float = 1e-10
    iterations: int = 20
    polish: int = 0
    fixed: int | None = None
    carried: Collection[str] = ()
    window: Window | None = None
    labels: Integers | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        equations, m = self.equations, len(self.equations.unknowns)
        sizes = {"guess": len(equations.guess)}
        if self.steps is not Steps.NONE:
            sizes["next"] = len(equations.next)
        for name, size in sizes.items():
            if size != m:
                raise ShapeError(
                    f"stage {self.name}: {name} has an entry for each unknown of x, {m}, not {size}"
                )
        moved = [r for r in equations.guess if abs(r) in equations.varying]
        if moved:
            raise DomainError(
                f"stage {self.name}: the guess is made before x is known, and cannot depend on it: "
                f"{equations.table.text(moved[0])[:80]}"
            )
        self._check_options()

    def _check_options(self) -> None:
        if not self.tolerance > 0 or (math.isinf(self.tolerance) and self.fixed is None):
            raise ShapeError(
                f"stage {self.name}: the tolerance is a positive number, not {self.tolerance}"
            )
        for what, least, found in (
            ("iterations", 1, self.iterations),
            ("polish", 0, self.polish),
            ("fixed", 0, 0 if self.fixed is None else self.fixed),
        ):
            if found != int(found) or found < least:
                raise ShapeError(
                    f"stage {self.name}: {what} is a whole number from {least}, not {found}"
                )
        if self.fixed is not None and self.polish:
            raise ShapeError(
                f"stage {self.name}: a fixed number of steps has no others to polish: add them"
            )
        odd = set(self.carried) - set(self.gather)
        if odd:
            raise ShapeError(
                f"stage {self.name}: carried arrays are gathered inputs, "
                f"{', '.join(sorted(self.gather)) or 'of which there are none'}; "
                f"look at {', '.join(sorted(odd))}"
            )
        if self.labels is not None:
            labels = np.asarray(self.labels)
            whole = labels.dtype.kind in "iu" and labels.shape == (self.count,)
            if not whole or (labels.size and (labels.min() < 1 or labels.max() >= 2**31)):
                raise ShapeError(
                    f"stage {self.name}: labels are {self.count} whole numbers from 1 to 2^31 - 1"
                )

    @property
    def inputs(self) -> tuple[ExpressionArray, ...]:
        """What is read: all but the unknowns."""
        return arrays_read(self.kernel)

    @property
    def outputs(self) -> tuple[ExpressionArray, ...]:
        """What is written: the results."""
        return arrays_made(self.kernel)

    @cached_property
    def equations(self) -> Equations:
        """The outputs of the kernel by their parts."""
        return equations_of(self.kernel)

    @property
    def steps(self) -> Steps:
        """How many steps are made."""
        if not self.equations.unknowns or self.fixed == 0:
            return Steps.NONE
        if self.fixed is not None:
            return Steps.FIXED
        return Steps.TO_TOLERANCE if self.equations.residual else Steps.NONE

    def extras(self) -> list[Any]:
        """What its code is told besides tables: five settings, and the labels."""
        # beyond the largest double: infinities and nans are no solution whatever the tolerance
        square = min(self.tolerance * self.tolerance, np.finfo(float).max)
        further = self.polish if self.fixed is None else self.fixed
        shift = 0 if self.window is None else self.window.shift
        settings = np.array([self.status, self.iterations, further, 0, shift], dtype=np.int64)
        settings[3:4].view(float)[0] = square
        labels = np.arange(1, self.count + 1) if self.labels is None else self.labels
        return [settings, np.ascontiguousarray(labels, dtype=np.int32)]

    def check_within(self, size: int) -> None:
        """Refuse places outside a workspace of that size.

        Raises:
            ShapeError: There are some.
        """
        super().check_within(size)
        if self.status < 0 or self.status + STATUS > size:
            raise ShapeError(
                f"stage {self.name}: the status takes {STATUS} places from {self.status} on; "
                f"the workspace has 0 to {size - 1}"
            )

    def carried_places(self) -> Integers:
        """Places that hold the last solved state before they are written."""
        found: list[Integers] = [np.zeros(0, dtype=np.int64)]
        for array in self.inputs:
            if array.name in self.carried:
                places = np.asarray(self.gather[array.name])
                if places.ndim == 1:
                    places = places[:, None] + np.arange(array.size)
                found.append(places.ravel())
        return np.unique(np.concatenate(found))

    def written_besides(self) -> tuple[tuple[int, int], ...]:
        """First place and length of what is written besides results: the status."""
        return ((int(self.status), STATUS),)
