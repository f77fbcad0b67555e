"""The kernels of an inverse kinematics, and which coordinate each displacement moves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics.scenery import Scenery
from biela.analysis.inverse_kinematics.targets import Target
from biela.analysis.unrolled import Row, Unrolled, derivatives, product
from biela.atoms import Atom, Kind, diff, substitute
from biela.code import Function
from biela.equations import System


class Kernels:
    """The rows of a system and of targets as functions of t, q and (p, u, what is wanted).

    The rows are the geometric constraints, then those of the targets in order.
    """

    def __init__(self, system: System, targets: Sequence[Target]) -> None:
        self.system = system
        scenery = Scenery(system)
        self._unrolled = u = scenery.unrolled
        self.hard = system.geometric
        self._wanted: list[Atom] = []
        f: Row = list(u.Phi)
        motion: Row = []
        for k, target in enumerate(targets):
            names = [f"wanted_{k}_{i}" for i in range(target.entries)]
            wanted = [u.workspace.symbol(name, Kind.PARAMETER) for name in names]
            rows = target.expressions(scenery, wanted)
            self._wanted += wanted
            f += rows.f
            motion += rows.motion
        self.rows = len(f)
        self._motion = motion
        self._J = derivatives(motion, u.v)
        jacobian = [*u.Phi_v[: self.hard], *self._J]
        #: Rows and their Jacobian by the displacements.
        self.evaluate = self._function("evaluate", {"f": f, "A": jacobian})
        displacement = [u.workspace.symbol(f"displacement_{j}") for j in range(len(u.v))]
        #: q ⊕ δ.
        self.move = Function(
            "move", {"q": u.q, "displacement": displacement}, {"moved": u.moved(displacement)}
        )
        self.place = _places(u)

    @property
    def entries(self) -> int:
        """How many numbers say what is wanted."""
        return len(self._wanted)

    def _function(self, name: str, outputs: dict[str, list[Atom] | list[list[Atom]]]) -> Function:
        u = self._unrolled
        return u.kernel(name, outputs, state=u.q, p=[*u.p, *u.u, *self._wanted])

    @cached_property
    def speeds(self) -> Function:
        """The matrix of all rows by the velocities, and what they are for no velocity.

        Of (t, q, p): ``A`` and ``b`` with A v + b = (0, rates wanted).
        """
        u = self._unrolled
        still = dict(zip(u.v, [u.zero] * len(u.v), strict=True))
        b = [*(-e for e in u.beta), *substitute(self._motion, still)]
        return self._function("speeds", {"A": [*u.Phi_v, *self._J], "b": b})

    @cached_property
    def bias(self) -> Function:
        """What the rows' second rates are for no acceleration, of (t, (q, v), p)."""
        u = self._unrolled
        by_q = derivatives(self._motion, u.q)
        rates = u.rates()
        along = product(by_q, rates, u.zero)
        by_time = [diff(e, u.t) for e in self._motion]
        b = [*(-e for e in u.gamma), *(a + b for a, b in zip(along, by_time, strict=True))]
        return u.kernel("bias", {"b": b}, p=[*u.p, *u.u, *self._wanted])


def _places(u: Unrolled) -> npt.NDArray[np.int64]:
    """For each velocity the coordinate whose rate it is, -1 if it is that of none."""
    rates, found = u.rates(), np.full(len(u.v), -1, dtype=np.int64)
    refs = [v.ref for v in u.v]
    for i, rate in enumerate(rates):
        if rate.ref in refs:
            found[refs.index(rate.ref)] = i
    return found


def scratch(k: int, n: int, r: int) -> list[Any]:
    """The arrays that a native search works in: k coordinates, n displacements and r rows.

    In the order of the arguments of `search_all`, from its ``t`` on.
    """
    zeros = np.zeros
    return [
        zeros(1),
        zeros(n, dtype=np.int64),
        *(zeros(r), zeros((r, n))),
        *(zeros(r), zeros((r, n))),
        *(zeros((r, r)), zeros((r, r))),
        zeros(2 * r),
        zeros(4 * n),
        *(zeros(k), zeros(k), zeros(k)),
        zeros(2, dtype=np.int64),
    ]
