"""Accelerations and joint unknowns, where joint forces are written out in wrenches.

    M v' + Vᵀ ε = Q,     Φ_v v' = γ,

with as many unknowns as independent constraints (Plaza 2015, eqs 2.36 to 2.39).  V need not be the
Jacobian of the constraints: joint forces that do work, such as dry friction, are allowed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.analysis.preparation import Model, Values, as_system, values, with_values
from biela.errors import ModelError, SingularityError

Floats = npt.NDArray[np.float64]


def joint_unknowns(
    model: Model,
    q: Values = None,
    v: Values = None,
    *,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
) -> tuple[Floats, Floats]:
    """The accelerations v' and the unknowns ε in a state.

    Raises:
        ModelError: The model has no joint unknowns, or their number does not fit.
        SingularityError: They are not determined in that state.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    if "V" not in system:
        raise ModelError(f"{system.name} has no joint unknowns: declare them with unknowns(…)")
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    place = values(system, "coordinate", system.q, q)
    speed = values(system, "velocity", system.v, v)

    def evaluated(name: str) -> Floats:
        return np.asarray(system.evaluate(name, place, speed, t=t, u=u, p=p))

    M, Q, V = evaluated("M"), evaluated("Q"), np.atleast_2d(evaluated("V"))
    rows = np.zeros((0, len(M)))
    right = np.zeros(0)
    if system.multipliers:
        rows, right = np.atleast_2d(evaluated("Phi_v")), np.atleast_1d(evaluated("gamma"))
    if len(V) != len(rows):
        raise ModelError(
            f"{system.name} has {len(V)} joint unknowns and {len(rows)} constraints; as many "
            f"unknowns as constraints are needed"
        )
    A = np.block([[M, V.T], [rows, np.zeros((len(rows), len(V)))]])
    if np.linalg.matrix_rank(A) < len(A):
        raise SingularityError(
            f"{system.name}: the accelerations and joint unknowns are not determined in this "
            f"state; look for unknowns that act on nothing, or dependent constraints"
        )
    x = np.linalg.solve(A, np.concatenate([Q, right]))
    return x[: len(M)], x[len(M) :]
