"""Integrators of x' = f(t, x, p), one file a method.

Fixed steps are routines: they run in process and print as C99. `FixedStep` runs them on a
`Problem`, `march` is the routine behind it. `VariableStep` runs the adaptive methods, and
`GeneralizedAlpha` constrained mechanical systems of index three.
"""

from __future__ import annotations

from biela.solvers.integrators.adaptive import AdaptiveMethod
from biela.solvers.integrators.constrained_step import ConstrainedRun, GeneralizedAlpha
from biela.solvers.integrators.embedded import Tableau, embedded_pair
from biela.solvers.integrators.explicit_euler import explicit_euler_step
from biela.solvers.integrators.fixed_step import METHODS, FixedStep, FixedStepRun
from biela.solvers.integrators.generalized_alpha import generalized_alpha, generalized_alpha_step
from biela.solvers.integrators.heun import heun_step
from biela.solvers.integrators.march import march, marching
from biela.solvers.integrators.nystrom import nystrom_step
from biela.solvers.integrators.problem import Problem
from biela.solvers.integrators.second_order_euler import second_order_euler_step
from biela.solvers.integrators.semi_implicit_euler import semi_implicit_euler_step
from biela.solvers.integrators.status import (
    BOTH,
    EVENT,
    FALLING,
    FINISHED,
    MEANINGS,
    NOT_CONVERGING,
    NOT_FINITE,
    RISING,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)
from biela.solvers.integrators.variable_step import (
    ADAPTIVE_METHODS,
    Statistics,
    VariableStep,
    VariableStepRun,
)

__all__ = [
    "ADAPTIVE_METHODS",
    "BOTH",
    "EVENT",
    "FALLING",
    "FINISHED",
    "MEANINGS",
    "METHODS",
    "NOT_CONVERGING",
    "NOT_FINITE",
    "RISING",
    "STEP_TOO_SMALL",
    "TOO_MANY_STEPS",
    "AdaptiveMethod",
    "ConstrainedRun",
    "FixedStep",
    "FixedStepRun",
    "GeneralizedAlpha",
    "Problem",
    "Statistics",
    "Tableau",
    "VariableStep",
    "VariableStepRun",
    "embedded_pair",
    "explicit_euler_step",
    "generalized_alpha",
    "generalized_alpha_step",
    "heun_step",
    "march",
    "marching",
    "nystrom_step",
    "second_order_euler_step",
    "semi_implicit_euler_step",
]
