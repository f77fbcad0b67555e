"""What is integrated: an initial value problem made of compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.code.routines import Kernel
from biela.errors import ShapeError
from biela.solvers.integrators.status import BOTH, WITHOUT

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """An initial value problem x' = f(t, x, p) with what belongs to it.

    Kernels are compiled functions: `Function.native`, a `numba.cfunc`, a ctypes function. The
    first argument of each is t, an array of one number; p is all that is constant over a step.

    Attributes:
        f: right-hand side, `1, n, m -> n`.
        n: size of the state x.
        m: size of p.
        nq: how many of x are positions, for methods of second order; n // 2 if not given.
        project_q: one correction of the positions, `1, n, m -> n + 1`: the new state, and last the
            residual max|Φ| of the state given.
        project_v: the same for the velocities.
        q_iterations: how often `project_q` is applied after a step, at most.
        v_iterations: how often `project_v` is.
        threshold: residual up to which no correction is taken.
        control: sampled controller, `1, n, m -> nu`; its output is held in p.
        nu: size of its output.
        u_first: place in p of the first of its outputs.
        events: functions whose changes of sign stop the integration, `1, n, m -> ne`.
        directions: one number an event: RISING, FALLING or BOTH.
        jacobian: ∂f/∂x by rows, `1, n, m -> n*n`, for implicit methods; differences without it.
        event_directions: the directions as an array.

    Raises:
        ShapeError: something is asked for whose kernel is missing, or that does not fit into p.
    """

    f: Kernel
    n: int
    m: int = 0
    nq: int = -1
    project_q: Kernel = None
    project_v: Kernel = None
    q_iterations: int = 0
    v_iterations: int = 0
    threshold: float = 0.0
    control: Kernel = None
    nu: int = 0
    u_first: int = 0
    events: Kernel = None
    directions: Sequence[int] = ()
    jacobian: Kernel = None
    event_directions: NDArray[np.int64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        directions = np.array(self.directions, dtype=np.int64)
        for d in self.directions:
            if d not in (-1, BOTH, 1):
                raise ShapeError(f"direction {d} of an event is not RISING, FALLING or BOTH")
        object.__setattr__(self, "event_directions", directions)
        if self.nq < 0:
            object.__setattr__(self, "nq", self.n // 2)
        needs = (
            ("project_q", self.q_iterations > 0),
            ("project_v", self.v_iterations > 0),
            ("control", self.nu > 0),
            ("events", len(directions) > 0),
        )
        for name, needed in needs:
            if needed and getattr(self, name) is None:
                raise ShapeError(f"the problem asks for {name}, but no such kernel is given")
        if self.events is not None and len(directions) == 0:
            raise ShapeError("give one direction an event: directions=[BOTH, ...]")
        if self.nu > 0 and not 0 <= self.u_first <= self.m - self.nu:
            raise ShapeError(
                f"outputs {self.u_first} to {self.u_first + self.nu} of the controller do not lie "
                f"in p, which has {self.m} numbers"
            )

    @property
    def ne(self) -> int:
        """Number of event functions."""
        return len(self.event_directions)

    def kernel(self, name: str) -> Any:
        """The kernel of that name, or one that stands for none."""
        kernel = getattr(self, name)
        return WITHOUT if kernel is None else kernel

    def state(self, name: str, values: Any, size: int) -> NDArray[np.float64]:
        """Return a copy of x or p as an array; raise `ShapeError` if its size is another."""
        array = np.array(values, dtype=np.float64).reshape(-1)
        if array.size != size:
            raise ShapeError(f"{name} has {array.size} numbers where the problem has {size}")
        return array
