"""The formulations by name, and what each of them hands to an integrator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations import multipliers, penalty
from biela.analysis.formulations.augmented3 import AugmentedStep
from biela.analysis.formulations.bound_kernel import BoundKernel
from biela.analysis.formulations.options import Options
from biela.analysis.formulations.partition import Partition, independent_rates
from biela.analysis.formulations.projected import METHODS, Projected, ProjectedEquations
from biela.analysis.formulations.projection import normalising, projections
from biela.analysis.unrolled import Row, Unrolled
from biela.code import Function
from biela.equations.elimination import Stiffening
from biela.errors import ModelError
from biela.solvers.coordinate_basis import CoordinateBasis

Floats = npt.NDArray[np.float64]
#: A kernel of t, x and p: straight-line code, or a routine with memory of its own.
StateKernel: TypeAlias = Function | BoundKernel

#: The formulations; any integrator of x' = f(t, x, p) runs them, but for the last two.
FORMULATIONS: Final = {
    "multipliers": "Lagrange multipliers, index 1, with projections (the default)",
    "baumgarte": "Lagrange multipliers with Baumgarte's stabilisation",
    "penalty": "penalty: constraints as stiff springs and dampers",
    "augmented": "augmented Lagrangian, index 1",
    "index2": "independent accelerations by partition, all velocities integrated",
    "index3": "independent coordinates by partition, positions solved at every evaluation",
    "velocity_projection": "independent accelerations by R, index 2 or 3, pivots chosen as it runs",
    "matrix_r": "all accelerations from the constraints and the equations projected by R",
    "null_space": "null-space method: accelerations by R, with projections",
    "range_space": "range-space method: multipliers first, with projections",
    "augmented3": "augmented Lagrangian, index 3, by the trapezoidal rule with projections",
    "generalised_alpha": "generalised-α method, index 3",
}
#: Those that bring a step of their own, of fixed length.
STEPPING: Final = ("augmented3", "generalised_alpha")
#: Those whose constraints act by penalties, in proportion to `penalty.moved_masses`.
PENALISED: Final = ("penalty", "augmented", "augmented3")
#: Those whose pivots are chosen while they run, by routines with memory of their own.
PROJECTED: Final = tuple(METHODS)
#: Those that choose independent velocities, and may have to choose others later.
PARTITIONED: Final = ("index2", "index3", "velocity_projection", "matrix_r", "null_space")
#: Those whose state has independent velocities only.
REDUCED: Final = ("index2", "index3", "velocity_projection")


@dataclass(frozen=True)
class Formulation:
    """A system made ready to move.

    ``f`` is x' of the state x; ``read`` gives q, v, v' and λ in a state; ``project_q`` and
    ``project_v`` correct a state and append the violation they found.  ``symbols`` are the entries
    of the state, ``place`` is q and v written with them.  Where q has unit norms to be restored,
    ``project_q`` is always there, and ``drifts`` tells that it does only that.
    """

    name: str
    unrolled: Unrolled
    f: StateKernel
    read: StateKernel
    project_q: Function | None
    project_v: Function | None
    symbols: Row
    place: tuple[Row, Row]
    threshold: float = 0.0
    #: The choice of independent velocities ż = B v, where there is one.
    basis: CoordinateBasis | None = None
    #: Whether the state is {ż, q}.
    reduced: bool = False
    #: The routine and its memory, of those that choose pivots as they run.
    projected: Projected | None = None
    #: Whether constraints on positions are not projected onto.
    drifts: bool = False
    #: For a state with more than q and v in it: the state of t, (q, v) and p.
    enter: Function | None = None

    @property
    def independent(self) -> tuple[int, ...] | None:
        """Places of the velocities in a reduced state; None where it begins with q and v."""
        return self.basis.independent if self.reduced and self.basis is not None else None

    @property
    def size(self) -> int:
        """Number of entries of the state."""
        return len(self.symbols)

    def state(self, t: float, q: Floats, v: Floats, p: Floats) -> Floats:
        """The state x of a position and velocity."""
        if self.enter is not None:
            return np.asarray(self.enter([t], np.concatenate([q, v]), p))
        if not self.reduced:
            return np.concatenate([q, v])
        assert self.basis is not None, "a reduced state has independent velocities"
        return np.concatenate([self.basis.B @ v, q])

    def located(self, t: Any, x: Any, p: Any) -> Floats:
        """The entries (q, v) of a state that does not begin with them."""
        if self.projected is not None:
            return np.asarray(self._place(t, x, p)[0])
        return np.asarray(self._place(t, x, p))

    @cached_property
    def _place(self) -> StateKernel:
        if self.projected is not None:
            return self.projected.place()
        return self.unrolled.kernel(
            "place", {"place": [*self.place[0], *self.place[1]]}, self.symbols
        )


def formulate(
    unrolled: Unrolled,
    name: str,
    options: Options,
    stiffening: Stiffening,
    masses: Sequence[float] = (),
    basis: CoordinateBasis | None = None,
    equations: ProjectedEquations | None = None,
) -> Formulation:
    """Make the kernels of a formulation.

    ``masses`` are those that the constraints move, for the `PENALISED`; ``basis`` the choice of
    independent velocities, of those that need one; ``equations`` what was made before for the same
    system, of those that choose pivots as they run.

    Raises:
        ModelError: The name is not that of a formulation.
    """
    if name not in FORMULATIONS:
        known = ", ".join(FORMULATIONS)
        raise ModelError(f"formulation {name!r} is not known; these are: {known}")
    if unrolled.constrained and basis is not None:
        if name in PROJECTED:
            made = equations or ProjectedEquations(unrolled)
            return _projected(made, name, options, stiffening, basis)
        if name in REDUCED:
            return _by_partition(unrolled, name, options, stiffening, basis)
    if name in STEPPING:
        return _stepping(unrolled, name, options, stiffening, masses)
    a, lam = _accelerations(unrolled, name, options, stiffening, masses)
    project_q, project_v, threshold, drifts = _projections(unrolled, name, options, stiffening)
    return Formulation(
        name,
        unrolled,
        unrolled.kernel("rates", {"dx": [*unrolled.rates(), *a]}),
        unrolled.kernel("read", _readings(unrolled.q, unrolled.v, a, lam)),
        project_q,
        project_v,
        [*unrolled.q, *unrolled.v],
        (unrolled.q, unrolled.v),
        threshold,
        drifts=drifts,
    )


def _accelerations(
    unrolled: Unrolled, name: str, options: Options, stiffening: Stiffening, masses: Sequence[float]
) -> tuple[Row, Row]:
    if name in ("penalty", "augmented") and unrolled.constrained:
        alpha = options.penalty or (1e7 if name == "penalty" else 1e4)
        return penalty.accelerations(
            unrolled,
            [alpha * m for m in masses],
            options.frequency,
            options.damping,
            rounds=_rounds(unrolled, name, options),
            augmented=name == "augmented",
        )
    pull = options.baumgarte if name == "baumgarte" else 0.0
    return multipliers.accelerations(
        unrolled, stiffening, options.friction_rounds, pull, options.refinements or 0
    )


def _rounds(unrolled: Unrolled, name: str, options: Options) -> int:
    """Rounds of a penalty method; forces that depend on multipliers need more of them."""
    loaded = unrolled.constrained and unrolled.needs("Q", "lam")
    rounds = 1 if name == "penalty" else options.rounds
    return max(rounds, options.friction_rounds) if loaded else rounds


def _stepping(
    unrolled: Unrolled, name: str, options: Options, stiffening: Stiffening, masses: Sequence[float]
) -> Formulation:
    """A formulation whose state is (q, v, v', λ) and whose f is a whole step, if it has one."""
    a, lam = multipliers.accelerations(unrolled, stiffening, options.friction_rounds)
    enter = unrolled.kernel("enter", {"state": [*unrolled.q, *unrolled.v, *a, *lam]})
    state = [*unrolled.q, *unrolled.v, *unrolled.a, *unrolled.lam]
    # λ* of a large penalty carries its rounding: what is shown comes from the equations
    readings = _readings(unrolled.q, unrolled.v, a, lam)
    if name == "augmented3":
        f = AugmentedStep(unrolled, masses, options.iterations or 3).function()
    else:
        f = unrolled.kernel("state", {"y": state}, state)
    return Formulation(
        name,
        unrolled,
        f,
        unrolled.kernel("read", readings, state),
        None,
        None,
        state,
        (unrolled.q, unrolled.v),
        drifts=True,
        enter=enter,
    )


def _by_partition(
    unrolled: Unrolled,
    name: str,
    options: Options,
    stiffening: Stiffening,
    basis: CoordinateBasis,
) -> Formulation:
    parts = Partition(
        unrolled,
        basis.B,
        stiffening,
        options.friction_rounds,
        # the guess carried along is already close: two corrections leave rounding only
        corrections=2 if name == "index3" else 0,
        refinements=options.refinements or 0,
    )
    return Formulation(
        name,
        unrolled,
        unrolled.kernel("rates", {"dx": [*parts.z_accelerations, *parts.rates]}, parts.state),
        unrolled.kernel("read", _readings(parts.q, parts.v, parts.a, parts.lam), parts.state),
        normalising(unrolled, parts.z_rates, [], parts.state),
        None,
        parts.state,
        (parts.q, parts.v),
        basis=basis,
        reduced=True,
        drifts=True,
    )


def _projected(
    equations: ProjectedEquations,
    name: str,
    options: Options,
    stiffening: Stiffening,
    basis: CoordinateBasis,
) -> Formulation:
    """A formulation whose right-hand side is a routine."""
    u = equations.unrolled
    made = Projected(
        equations,
        name,
        basis,
        stiffening,
        options.index,
        options.friction_rounds,
        options.linear_solver,
    )
    corrections: tuple[Function | None, Function | None, float, bool]
    if made.reduced:
        z_rates = independent_rates(u, basis.freedoms)
        symbols = [*z_rates, *u.q]
        corrections = normalising(u, z_rates, [], symbols), None, 0.0, True
    else:
        symbols = [*u.q, *u.v]
        corrections = _projections(u, name, options, stiffening)
    project_q, project_v, threshold, drifts = corrections
    return Formulation(
        name,
        u,
        made.rates(),
        made.read(),
        project_q,
        project_v,
        symbols,
        (u.q, u.v),
        threshold,
        basis=basis if name in PARTITIONED else None,
        reduced=made.reduced,
        projected=made,
        drifts=drifts,
    )


def _projections(
    unrolled: Unrolled, name: str, options: Options, stiffening: Stiffening
) -> tuple[Function | None, Function | None, float, bool]:
    wanted = options.projections
    if wanted is None:
        wanted = "never" if name in ("baumgarte", "penalty") else "always"
    if wanted == "never":
        state = [*unrolled.q, *unrolled.v]
        return normalising(unrolled, [], unrolled.v, state), None, 0.0, True
    threshold = 0.0 if isinstance(wanted, str) else float(wanted)
    found = projections(unrolled, options.metric, stiffening, threshold)
    return *found, threshold, not unrolled.system.geometric


def _readings(q: Row, v: Row, a: Row, lam: Row) -> dict[str, Row]:
    readings = {"q": list(q), "v": list(v), "a": list(a)}
    return readings | ({"lam": list(lam)} if lam else {})
