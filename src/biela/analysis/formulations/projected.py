"""Formulations with a basis R of the motions allowed, whose pivots are chosen while they run.

* velocity projection: independent accelerations from RᵀMR z̈ = Rᵀ (Q - M S c); the state is {ż, q}
  with index 2, where all velocities are solved for, and with index 3 the dependent positions too
  (Serna, Avilés & García de Jalón 1982; Paul 1975 for the state of index 2);
* null space: the same accelerations for a state of all positions and velocities, which projections
  keep on the constraints (von Schwerin 1999);
* matrix R: all accelerations at once from Φ_v v' = γ and RᵀM v' = RᵀQ (Kamman & Huston 1984);
* range space: multipliers from (Φ_v M⁻¹ Φ_vᵀ) λ = Φ_v M⁻¹ Q - γ (von Schwerin 1999).

A system with the matrix J_d of the dependent velocities cannot be eliminated in a fixed order: any
entry of it may vanish in some position.  So these run on numbers (`projected_state`), with
matrices from the kernels of the system, and the solver for J_d is a choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.bound_kernel import BoundKernel, memory, table_of
from biela.analysis.formulations.projected_state import (
    EVENTS,
    MATRIX_R,
    NULL_SPACE,
    PLACE,
    RANGE_SPACE,
    RATES,
    READ,
)
from biela.analysis.limits import LimitEnd
from biela.analysis.unrolled import Row, Unrolled
from biela.atoms import Kind
from biela.code import Function
from biela.equations.elimination import Stiffening
from biela.errors import ModelError
from biela.graph.ordering import BlockForm
from biela.solvers.coordinate_basis import CoordinateBasis
from biela.solvers.dependent import DEPENDENT_SOLVERS
from biela.solvers.dependent_blocks import BlockKernels

Floats = npt.NDArray[np.float64]

#: How each of these formulations finds accelerations.
METHODS: Final[Mapping[str, int]] = {
    "velocity_projection": NULL_SPACE,
    "null_space": NULL_SPACE,
    "matrix_r": MATRIX_R,
    "range_space": RANGE_SPACE,
}

#: Ratios of pivots, and those below which nothing is evaluated, of velocities and of rows.
_UNSEEN: Final = (1.0, 0.0, 1.0, 0.0)
#: Dependent coordinates from which blocks are worth their making.
MANY: Final = 30


class ProjectedEquations:
    """The kernels of a system that a projected state calls, and their patterns; made once."""

    def __init__(self, unrolled: Unrolled, ends: Sequence[LimitEnd] = ()) -> None:
        self.unrolled = u = unrolled
        self.jacobian = [
            (i, j, e) for i, row in enumerate(u.Phi_v) for j, e in enumerate(row) if e.ref
        ]
        self.mass = [
            (i, j, e) for i, row in enumerate(u.M) for j, e in enumerate(row[: i + 1]) if e.ref
        ]
        state = [*u.q, *u.v]
        delta = [u.workspace.symbol(f"delta{k}", Kind.FREE) for k in range(len(u.v))]
        self.place = self._kernel(
            "place", state, [*u.Phi, *u.beta, *(e for *_, e in self.jacobian)]
        )
        self.motion = self._kernel(
            "motion",
            [*state, *u.lam],
            [*(e for *_, e in self.mass), *u.Q(), *u.gamma, *u.rates()],
        )
        self.moved = self._kernel("moved", [*u.q, *delta], u.moved(delta))
        self.events: Function | None = None
        values = u.watched(ends, u.q, u.v)
        self.watched = len(values)
        if values:
            self.events = self._kernel("event_values", state, values)

    def _kernel(self, name: str, state: Row, values: Row) -> Function:
        return self.unrolled.kernel(name, {"y": values}, state)


class Projected:
    """A formulation of these with its choices: makes kernels that share their memory."""

    def __init__(
        self,
        equations: ProjectedEquations,
        name: str,
        basis: CoordinateBasis,
        stiffening: Stiffening,
        index: int,
        rounds: int,
        solver: str | None,
    ) -> None:
        self.equations, self.basis, self.reduced = equations, basis, name == "velocity_projection"
        u = equations.unrolled
        system = u.system
        if solver is None:
            many = basis.selects and basis.rank > MANY and METHODS[name] != RANGE_SPACE
            solver = "reordered" if many else "dense"
        loaded = u.needs("Q", "lam")
        n, m = len(u.v), len(system.multipliers)
        state = (basis.freedoms if self.reduced else n) + len(u.q)
        self._numbers = {
            "method": METHODS[name], "reduced": int(self.reduced), "index": index,
            "rounds": rounds if loaded else 1, "kind": DEPENDENT_SOLVERS[solver],
            "selects": int(basis.selects), "nx": state, "np": len(u.p) + len(u.u),
            "nq": len(u.q), "n": n, "m": m, "g": system.geometric, "r": basis.rank,
            "nj": len(equations.jacobian), "nm": len(equations.mass),
            "rank_known": stiffening.rank(m),
        }  # fmt: skip
        self._arrays = memory(self._numbers)
        self._fill(basis, stiffening)
        self._solver: dict[str, Any] = {}
        self.form: BlockForm | None = None
        if solver == "reordered":
            self._reorder()
        self.size = state

    def _reorder(self) -> None:
        """Solve in blocks, in an order found on the pattern, and on the numbers of one position.

        Raises:
            ModelError: The independent velocities are combinations of all.
        """
        system, arrays = self.equations.unrolled.system, self._arrays
        if not self.basis.selects:
            raise ModelError(
                f"{system.name}: linear_solver 'reordered' lives on the zeros of the Jacobian, "
                f"which partition 'svd' fills: use partition='pivoting' or 'qr', or 'dense'"
            )
        columns = arrays["position"][arrays["j_column"]]
        columns = np.where(columns < self.basis.rank, columns, -1)
        entries = self.basis.J[arrays["j_row"], arrays["j_column"]]
        made = BlockKernels(arrays["j_place"], columns, self.basis.rank, entries)
        self.form = made.form
        self._solver = {
            "factor": made.factor,
            "solve": made.solve,
            "transposed": made.transposed,
        }

    def _fill(self, basis: CoordinateBasis, stiffening: Stiffening) -> None:
        arrays, equations = self._arrays, self.equations
        chosen = {row: place for place, row in enumerate(basis.rows)}
        arrays["j_row"][:] = [i for i, _, _ in equations.jacobian]
        arrays["j_column"][:] = [j for _, j, _ in equations.jacobian]
        arrays["j_place"][:] = [chosen.get(i, -1) for i, _, _ in equations.jacobian]
        arrays["m_row"][:] = [i for i, _, _ in equations.mass]
        arrays["m_column"][:] = [j for _, j, _ in equations.mass]
        arrays["rows"][:] = basis.rows
        if basis.selects:
            arrays["order"][:] = [*basis.dependent, *basis.independent]
            arrays["position"][arrays["order"]] = range(len(arrays["order"]))
        arrays["T"][:] = basis.T
        arrays["probe"][:] = 1 / np.sqrt(max(basis.rank, 1))
        arrays["scale"][:] = np.abs(basis.J[list(basis.rows)]).max(axis=1, initial=0.0)
        arrays["stiff"][list(stiffening.rows)] = stiffening.weights
        arrays["monitor"][:] = _UNSEEN
        arrays["sizes"][:] = stiffening.sizes

    def kernel(self, what: int, outputs: list[tuple[str, int]]) -> BoundKernel:
        """A kernel of t, x and p."""
        equations = self.equations
        functions = {
            "place": equations.place,
            "motion": equations.motion,
            "moved": equations.moved,
        }
        if equations.events is not None:
            functions["events"] = equations.events
        kept: dict[str, Any] = {name: function.native for name, function in functions.items()}
        kept |= self._solver
        arrays: dict[str, Any] = dict(self._arrays)
        if what != RATES:
            # what is read is not counted as a part of the run
            arrays["counts"] = np.zeros(4, dtype=np.int64)
            arrays["monitor"] = np.array(_UNSEEN)
        numbers = {**self._numbers, "what": what, "no": sum(size for _, size in outputs)}
        table = table_of(numbers, {name: code.address for name, code in kept.items()}, arrays)
        sizes = (self._numbers["nx"], self._numbers["np"])
        return BoundKernel(table, [kept, arrays], sizes, outputs)

    def rates(self) -> BoundKernel:
        """The kernel of x'."""
        return self.kernel(RATES, [("dx", self.size)])

    def read(self) -> BoundKernel:
        """The kernel of q, v, v' and λ."""
        n = self._numbers
        parts = [("q", n["nq"]), ("v", n["n"]), ("a", n["n"]), ("lam", n["m"])]
        return self.kernel(READ, parts)

    def place(self) -> BoundKernel:
        """The kernel of q and v."""
        return self.kernel(PLACE, [("place", self._numbers["nq"] + self._numbers["n"])])

    def events(self) -> BoundKernel:
        """The kernel of the event functions."""
        return self.kernel(EVENTS, [("g", self.equations.watched)])

    def reset(self) -> None:
        """Count from zero, and evaluate everywhere."""
        self._arrays["counts"][:] = 0
        self._arrays["monitor"][:] = _UNSEEN

    @property
    def counts(self) -> dict[str, int]:
        """What was done so far: evaluations, Newton iterations, factorisations, systems solved."""
        names = ("evaluations", "iterations", "factorisations", "solved")
        return dict(zip(names, self._arrays["counts"].tolist(), strict=True))

    def stop_below(self, ratio: float, of_rows: float = 0.0) -> None:
        """Give no numbers where the ratio of pivots, or that of the rows, is smaller.

        A dead point is near, or a position in which the rows that were chosen depend on each other.
        """
        self._arrays["monitor"][1::2] = ratio, of_rows

    @property
    def limit(self) -> float:
        """The ratio of pivots below which nothing is evaluated."""
        return float(self._arrays["monitor"][1])

    def least_pivots(self) -> tuple[float, float]:
        """The smallest ratio of pivots of J_d since this was asked for last, and of the rows."""
        of_velocities, of_rows = self._arrays["monitor"][::2].tolist()
        self._arrays["monitor"][::2] = 1.0
        return of_velocities, of_rows
