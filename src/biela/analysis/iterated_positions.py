"""Instants of a driven mechanism by numeric iterations on its equations.

Only Φ, the entries of Φ_v that are not zero, β and γ become code; the loop over the instants, the
sparse elimination and all the methods are native already (`biela.solvers.implicit_motion`).  So a
large mechanism costs little to prepare, and it has all the methods of `PositionMethod`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.position_method import PositionMethod
from biela.analysis.unrolled import Row, Unrolled
from biela.atoms import Kind
from biela.code import Function
from biela.equations import System
from biela.graph import adjacency, elimination_tree, factor_pattern, minimum_degree, renumbered
from biela.solvers.implicit_motion import Correction, ImplicitMotion

Floats = npt.NDArray[np.float64]

#: Operations up to which unrolled kernels are compiled in about a second.
UNROLLED: Final = 8000
#: The same for overconstrained mechanisms, in some seconds.
OVERCONSTRAINED: Final = 40_000


class IteratedPositions:
    """Steps by any of the methods, with the elimination done in numbers."""

    def __init__(
        self,
        system: System,
        p: Floats,
        u: Floats,
        method: PositionMethod,
        accepted: float,
        size: float = 1.0,
    ) -> None:
        self.system, self.method = system, method
        self._iteration = method.iteration(accepted, size)
        self._predictor = method.predictor
        self._given = np.concatenate([p, u])
        self.nq, self.nv = len(system.q), len(system.v)
        self._kernels, self._pattern = _kernels(system)
        native = {name: function.native for name, function in self._kernels.items()}
        self._motion = ImplicitMotion(
            (self.nq, self.nv),
            self._pattern,
            len(system.multipliers),
            len(self._given),
            **native,
        )

    @property
    def name(self) -> str:
        """What the method is called in the statistics of a run."""
        if self.method.name == "quasi_newton":
            return f"quasi-Newton iterations ({self.method.update.upper()})"
        named = {
            "newton": "Newton's method, numeric",
            "damped": f"damped least squares, λ = {self.method.damping:g}",
            "transpose": "the transposed Jacobian",
        }
        return named[self.method.name]

    def position(self, t: float, q: Floats) -> Correction:
        """A position that fulfils the constraints, from a guess."""
        return self._motion.position(t, q, self._given, self._iteration)

    def start(self, t: float, q: Floats) -> Floats:
        """The state (q, v, a) of a position that fulfils the constraints."""
        x = np.concatenate([q, np.zeros(2 * self.nv)])
        return self._motion.rates(t, x, self._given)

    def run(self, t: float, x: Floats, h: float, steps: int) -> tuple[Floats, int]:
        """The states from x on, and the iterations that it took."""
        return self._motion.follow(t, x, self._given, h, steps, self._iteration, self._predictor)

    def residuals(self, t: Floats, q: Floats) -> Floats:
        """Φ at each of some instants."""
        f = self._kernels["residual"]
        found = [np.atleast_1d(f([s], x, self._given)) for s, x in zip(t, q, strict=True)]
        return np.array(found).reshape(len(t), -1)

    def rows(self, t: Floats, q: Floats) -> Floats:
        """Φ_v at each of some instants."""
        f = self._kernels["entries"]
        found = np.zeros((len(t), len(self.system.multipliers), self.nv))
        for k, (s, x) in enumerate(zip(t, q, strict=True)):
            found[k, self._pattern[0], self._pattern[1]] = np.atleast_1d(f([s], x, self._given))
        return found


def _kernels(system: System) -> tuple[dict[str, Function], tuple[list[int], list[int]]]:
    """The kernels of `ImplicitMotion`, and the places of the entries of Φ_v."""
    u = Unrolled(system)
    given = [*u.p, *u.u]
    places = [(i, j) for i, row in enumerate(u.Phi_v) for j, e in enumerate(row) if e.ref]

    def kernel(name: str, outputs: Row, state: Row | None = None) -> Function:
        inputs = {"t": [u.t], "x": u.q if state is None else state, "p": given}
        return Function(f"positions_{name}", inputs, {"y": outputs})

    delta = [u.workspace.symbol(f"displacement_{k}", Kind.UNKNOWN) for k in range(len(u.v))]
    if "rates" in system and "retract" not in system:
        moved = [a + b for a, b in zip(u.q, u.rates(v=delta), strict=True)]
    else:
        moved = u.moved(delta)
    functions = {
        "residual": kernel("residual", u.Phi),
        "entries": kernel("entries", [u.Phi_v[i][j] for i, j in places]),
        "beta": kernel("beta", u.beta),
        "gamma": kernel("gamma", u.gamma, [*u.q, *u.v]),
        "retract": Function("positions_retract", {"q": u.q, "delta": delta}, {"y": moved}),
    }
    return functions, ([i for i, _ in places], [j for _, j in places])


def fill_of_columns(system: System) -> npt.NDArray[np.int64]:
    """Entries below the diagonal in each column of L, in the elimination of [1 Φ_vᵀ; Φ_v 0]."""
    rows = system["Phi_v"].expressions()
    n, m = len(system.v), len(system.multipliers)
    places = np.array(
        [(n + i, j) for i, row in enumerate(rows) for j, e in enumerate(row) if e.ref], dtype=int
    ).reshape(-1, 2)
    graph = adjacency(n + m, places[:, 0], places[:, 1])
    new = renumbered(graph, minimum_degree(graph, range(n, n + m)))
    return np.diff(factor_pattern(new, elimination_tree(new)).start)


def unrolled_operations(system: System) -> int:
    """About how many operations the unrolled kernels of a step have.

    Two eliminations, each with one or two solves, and the equations themselves.
    """
    if not system.multipliers:
        return 0
    below = fill_of_columns(system)
    elimination = int((below * (below + 3)).sum())
    solve = 4 * int(below.sum()) + len(below)
    equations = sum(len(system[name].schedule.operations) for name in ("Phi", "Phi_v", "gamma"))
    return 2 * elimination + 3 * solve + 2 * equations
