"""Linear equations of small motions about a state, in independent coordinates.

Near a state (q, v) with accelerations a and multipliers λ, a displacement δ along the velocities, a
change w of the velocity and a change u of the inputs fulfil

    δ' = E δ + w                                         E = 0 where q' = v
    G δ = 0                                              G: the geometric rows of Φ_v
    Φ_v w = -D δ                                         D = ∂(Φ_v v - β)/∂q
    M a' + Φ_vᵀ λ' + K δ + C w = Q_u u + Q_λ λ'          K, C: tangents of M a + Φ_vᵀ λ - Q
    Φ_v a' = ∂(γ - Φ_v a)/∂q δ + ∂γ/∂v w

with all derivatives exact.  The curvature of the constraints is in K (through λ), in D and in the
last line.  Independent entries z of δ and y of w then give x' = A x + B u with x = (z, y).
Constraints on velocities only leave more positions than velocities free: z is longer than y, and A
has as many eigenvalues zero, or more (Kane & Levinson; for bicycles: Meijaard et al. 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant, motions, unit_rows
from biela.analysis.linear_system import LinearSystem
from biela.analysis.posing import posed
from biela.analysis.preparation import Model, Values, as_system, with_values
from biela.analysis.unrolled import Row, Unrolled, derivatives, product, transposed_product
from biela.atoms import Atom, Direction
from biela.code import Function
from biela.doors import door
from biela.equations import System
from biela.equations.positions import own_velocities, velocity_places
from biela.errors import ModelError
from biela.singular_values import pinv
from biela.solvers import choose_independent

Floats = npt.NDArray[np.float64]


class Linearisation:
    """A system prepared to be linearised about many states.

    Raises:
        ModelError: The model is none.
    """

    def __init__(self, model: Model) -> None:
        self.system: System = as_system(model)

    @cached_property
    def _slopes(self) -> Function:
        """All derivatives in one function of t, q, v, a, λ, u and p."""
        return _slopes(Unrolled(self.system))

    def about(
        self,
        q: Values = None,
        v: Values = None,
        *,
        t: float = 0.0,
        parameters: Values = None,
        inputs: Values = None,
        independent: Sequence[str] = (),
        assemble: bool = True,
    ) -> LinearSystem:
        """Linearise about a state.

        Args:
            q: Position, by name or in order; what is not given is taken from the model.
            v: Velocity, likewise.
            t: Time, s.
            parameters: Values other than those of the model.
            inputs: Likewise.
            independent: Names of coordinates, or velocities, preferred in the state.
            assemble: Whether to make the state fulfil the constraints first.

        Raises:
            AssemblyError: The state cannot be assembled.
            ModelError: A name is unknown.
        """
        system = self.system
        instant, place, speed = posed(
            system, q, v, t=t, parameters=parameters, inputs=inputs, assemble=assemble
        )
        a, lam = instant.motion(place, speed)
        given = {"t": float(t), "q": place, "v": speed, "a": a, "lam": lam}
        given |= {"u": instant.u, "p": instant.p}
        function = self._slopes
        found = function(*(given[x.name] for x in function.inputs))
        parts = found if isinstance(found, tuple) else (found,)
        by_name = {x.name: part for x, part in zip(function.outputs, parts, strict=True)}
        return _reduced(instant, place, speed, a, lam, by_name, independent)


@door(ModelError)
def linearise(
    model: Model,
    q: Values = None,
    v: Values = None,
    *,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    independent: Sequence[str] = (),
    assemble: bool = True,
) -> LinearSystem:
    """Linearise a model about a state; see `Linearisation.about`.

    >>> import biela as bl
    >>> s = bl.SymbolicSystem("pendulum")
    >>> (theta,) = s.coordinates("theta")
    >>> arm = s.base.rotated("arm", "y", theta)
    >>> _ = s.solid("bob", at=s.origin.offset("B", arm.vector(0, 0, -1)), base=arm, mass=2.0)
    >>> s.gravity = s.base.vector(0, 0, -9.0)
    >>> linearise(s).A
    array([[ 0.,  1.],
           [-9.,  0.]])
    """
    model, parameters = with_values(model, parameters)
    return Linearisation(model).about(
        q,
        v,
        t=t,
        parameters=parameters,
        inputs=inputs,
        independent=independent,
        assemble=assemble,
    )


# --- derivatives ----------------------------------------------------------------------------------


def _slopes(u: Unrolled) -> Function:
    system = u.system
    outputs: dict[str, Any] = {}
    loaded = u.constrained and u.needs("Q", "lam")
    force = list(u("Q"))
    # the residual M a + Φ_vᵀ λ - Q
    inertial = product(u.M, u.a, u.zero)
    pull = transposed_product(u.Phi_v, u.lam, len(u.v), u.zero)
    residual = [m + r - f for m, r, f in zip(inertial, pull, force, strict=True)]
    outputs["K"] = derivatives(residual, u.q)
    outputs["C"] = derivatives(residual, u.v)
    if u.u:
        outputs["Q_u"] = derivatives(force, u.u)
    if loaded:
        outputs["Q_lam"] = derivatives(force, u.lam)
    if u.constrained:
        bias = [g - e for g, e in zip(u.gamma, product(u.Phi_v, u.a, u.zero), strict=True)]
        outputs["D"] = derivatives(u.dPhi, u.q)
        outputs["bias_q"] = derivatives(bias, u.q)
        outputs["bias_v"] = derivatives(bias, u.v)
    if "rates" in system:
        outputs["E_q"] = derivatives(u.rates(), u.q)
        # the matrix N, changing along the motion
        columns = derivatives(u.rates(), u.v)
        along = Direction(u.workspace, _motion(u))
        outputs["dN"] = [[along(entry) for entry in row] for row in columns]
    if system.y:
        measured = list(u("outputs"))
        outputs["y_q"], outputs["y_v"] = derivatives(measured, u.q), derivatives(measured, u.v)
        if u.u:
            outputs["y_u"] = derivatives(measured, u.u)
        if u.lam and u.needs("outputs", "lam"):
            outputs["y_lam"] = derivatives(measured, u.lam)
    inputs: dict[str, Any] = {"t": u.t, "q": u.q, "v": u.v, "a": u.a}
    inputs |= {"lam": u.lam, "u": u.u, "p": u.p}
    return Function("linearisation", inputs, outputs)


def _motion(u: Unrolled) -> dict[Atom, Atom | float]:
    rates: Row = u.rates()
    return dict(zip(u.q, rates, strict=True))


# --- reduction ------------------------------------------------------------------------------------


def _reduced(
    instant: Instant,
    q: Floats,
    v: Floats,
    a: Floats,
    lam: Floats,
    slope: dict[str, Floats],
    independent: Sequence[str],
) -> LinearSystem:
    system = instant.system
    n, m, nu = len(system.v), len(system.multipliers), len(system.u)
    N = instant.N(q)
    rows = instant.Phi_v(q)
    free_q, free_v = _partition(rows, system.geometric, velocity_places(system, independent))
    shown = np.zeros((m, n)) if not m else slope["D"] @ N

    # δ = R_q z;  w = R_v y + S δ
    R_q = _basis(rows[: system.geometric], free_q)
    R_v = _basis(rows, free_v)
    S = -_particular(rows, free_v) @ shown
    E = np.zeros((n, n))
    if "rates" in system:
        E = pinv(N) @ (slope["E_q"] @ N - slope["dN"])
    n_z, n_y = len(free_q), len(free_v)
    displacement = np.hstack([R_q, np.zeros((n, n_y))])
    velocity = np.hstack([S @ R_q, R_v])

    # accelerations and multipliers by the state and the inputs
    force = np.hstack(
        [-(slope["K"] @ N) @ displacement - slope["C"] @ velocity, _inputs(slope, nu)]
    )
    bias = np.zeros((m, n_z + n_y + nu))
    if m:
        bias[:, : n_z + n_y] = (slope["bias_q"] @ N) @ displacement + slope["bias_v"] @ velocity
    rate, load = _solved(instant, q, rows, force, bias, slope.get("Q_lam"))

    x = n_z + n_y
    top = (E @ displacement + velocity)[list(free_q)]
    A = np.vstack([top, rate[list(free_v), :x]])
    B = np.vstack([np.zeros((n_z, nu)), rate[list(free_v), x:]])
    C, D = np.zeros((0, x)), np.zeros((0, nu))
    if system.y:
        both = np.hstack(
            [
                (slope["y_q"] @ N) @ displacement + slope["y_v"] @ velocity,
                slope.get("y_u", np.zeros((len(system.y), nu))),
            ]
        )
        if "y_lam" in slope:
            both = both + slope["y_lam"] @ load
        C, D = both[:, :x], both[:, x:]
    coordinates = {j: e.name for e, j in zip(system.q, own_velocities(system), strict=True)}
    names = [coordinates.get(j, f"displacement {system.v[j].name}") for j in free_q]
    return LinearSystem(
        A,
        B,
        C,
        D,
        (*names, *(system.v[i].name for i in free_v)),
        tuple(e.name for e in system.u),
        tuple(e.name for e in system.y),
        R_q,
        velocity,
        instant.t,
        q,
        v,
        a,
        lam,
    )


def _inputs(slope: dict[str, Floats], nu: int) -> Floats:
    n = len(slope["K"])
    return slope["Q_u"] if nu else np.zeros((n, 0))


def _solved(
    instant: Instant,
    q: Floats,
    rows: Floats,
    force: Floats,
    bias: Floats,
    Q_lam: Floats | None,
) -> tuple[Floats, Floats]:
    """Changes of accelerations and multipliers for columns of forces and right-hand sides."""
    M = instant.M(q)
    allowed = motions(rows)
    R, inverse = allowed.R, allowed.inverse
    m = len(rows)
    if Q_lam is not None and m:
        # forces that follow the reactions: one system for both, λ of the smallest change
        pulled = rows.T - Q_lam
        whole = np.block([[M, pulled], [rows, np.zeros((m, m))]])
        found = np.linalg.lstsq(whole, np.vstack([force, bias]), rcond=1e-13)[0]
        return found[: len(M)], found[len(M) :]
    particular = inverse @ bias
    a = particular + R @ np.linalg.solve(R.T @ M @ R, R.T @ (force - M @ particular))
    return a, inverse.T @ (force - M @ a)


def _basis(rows: Floats, free: Sequence[int]) -> Floats:
    """The motions that rows allow, each with one of the free entries 1 and the others 0."""
    n = rows.shape[1]
    basis = np.zeros((n, len(free)))
    basis[list(free), range(len(free))] = 1.0
    rest = [i for i in range(n) if i not in free]
    if rest and len(rows):
        basis[rest] = -pinv(rows[:, rest], rcond=1e-11) @ rows[:, list(free)]
    return basis


def _particular(rows: Floats, free: Sequence[int]) -> Floats:
    """The matrix that solves rows w = b with the free entries of w zero."""
    n = rows.shape[1]
    found = np.zeros((n, len(rows)))
    rest = [i for i in range(n) if i not in free]
    if rest and len(rows):
        found[rest] = pinv(rows[:, rest], rcond=1e-11)
    return found


def _partition(
    rows: Floats, geometric: int, preferred: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Places of independent displacements, and among these those of independent velocities."""
    unit, _ = unit_rows(rows)
    n = rows.shape[1]
    free_q = list(range(n))
    if geometric:
        free_q = list(
            choose_independent(unit[:geometric], prefer_independent=preferred).independent
        )
    if len(rows) == geometric:
        return free_q, free_q
    # constraints on velocities, for the motions that the geometric ones leave
    left = unit[geometric:] @ _basis(unit[:geometric], free_q)
    wanted = [free_q.index(i) for i in preferred if i in free_q]
    chosen = choose_independent(left, prefer_independent=wanted).independent
    return free_q, [free_q[i] for i in chosen]
