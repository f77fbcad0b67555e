"""Instants of a driven mechanism by straight-line code: everything is eliminated symbolically.

The three kernels of a step (predict, correct, solve) are run by a native loop; the pseudo-inverse
is a symbolic elimination that drops dependent rows, and the residual form makes the second round of
the velocities a refinement of the first.  The fastest way for small mechanisms; for large ones the
code takes long to compile, see `iterated_positions`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.projection import position_correction
from biela.analysis.formulations.saddle import Saddle, identity
from biela.analysis.hoisting import Hoisted, hoisted
from biela.analysis.unrolled import Row, Unrolled, largest, product
from biela.atoms import Kind, substitute
from biela.code import Function
from biela.equations import System
from biela.equations.elimination import Stiffening
from biela.solvers.integrators import FixedStep, Problem

Floats = npt.NDArray[np.float64]

#: Newton iterations of the native loop, at most; with the predictor two or three are usual.
ITERATIONS: Final = 12
#: Residual at which they end (m, rad).
THRESHOLD: Final = 1e-13
#: The same for overconstrained loops, whose rows contradict each other by what is left: their
#: accelerations lose as many digits again as their positions.
RANKED: Final = (6, 2e-16)
#: Up to so many instants at a time are taken in Python.
FEW: Final = 512
#: No constraint depends on others.
ORDINARY: Final = Stiffening()


class UnrolledPositions:
    """Steps of Newton's method with all of the elimination in the kernels."""

    name = "Newton's method"

    def __init__(
        self,
        system: System,
        p: Floats,
        u: Floats,
        dependent: Stiffening = ORDINARY,
        size: float = 1.0,
        units: Floats | None = None,
    ) -> None:
        self.system = system
        self._given = np.concatenate([p, u])
        self._kernels: Hoisted = hoisted(_kernels(system, dependent, units))
        self.nq, self.nv = len(system.q), len(system.v)
        most, threshold = RANKED if dependent.ranked else (ITERATIONS, THRESHOLD)
        self._limits = most, size * threshold
        self._corrections = 0

    @cached_property
    def _steps(self) -> FixedStep:
        """The native loop over instants."""
        native = {name: f.native for name, f in self._kernels.kernels.items()}
        return FixedStep(
            Problem(
                native["predict"],
                self.nq + 2 * self.nv,
                self._kernels.size,
                nq=self.nq,
                project_q=native["correct"],
                project_v=native["solve"],
                q_iterations=self._limits[0],
                v_iterations=2,
                threshold=self._limits[1],
            ),
            "one_step_map",
        )

    def start(self, t: float, q: Floats) -> Floats:
        """The state (q, v, a) of a position that fulfils the constraints."""
        x = np.concatenate([q, np.zeros(2 * self.nv)])
        inputs = self._inputs(0.0)
        for _ in range(2):
            x = self._kernels.kernels["solve"].walk([t], x, inputs)[:-1]
        return np.asarray(x)

    def run(self, t: float, x: Floats, h: float, steps: int) -> tuple[Floats, int]:
        """The states from x on, and the iterations that it took."""
        if steps <= FEW:
            return self._few(t, x, h, steps)
        run = self._steps.run(t, x, self._inputs(h), h, steps)
        # two corrections of each step are those of the velocities
        taken = run.corrections - self._corrections - 2 * (len(run.states) - 1)
        self._corrections = run.corrections
        return run.states, taken

    def _few(self, t: float, x: Floats, h: float, steps: int) -> tuple[Floats, int]:
        """The same in Python: to load the native loop takes longer than some hundred instants."""
        predict, correct, solve = (
            self._kernels.kernels[name].walk for name in ("predict", "correct", "solve")
        )
        inputs = self._inputs(h)
        states, taken = [x], 0
        for k in range(steps):
            now, after = np.array([t + k * h]), np.array([t + (k + 1) * h])
            y = predict(now, np.ascontiguousarray(states[-1]), inputs)
            for _ in range(self._limits[0]):
                trial = correct(after, y, inputs)
                if trial[-1] <= self._limits[1]:
                    break
                y = np.ascontiguousarray(trial[:-1])
                taken += 1
            for _ in range(2):
                y = np.ascontiguousarray(solve(after, y, inputs)[:-1])
            states.append(y)
            if not np.isfinite(y).all():
                break
        return np.array(states), taken

    def residuals(self, t: Floats, q: Floats) -> Floats:
        """Φ at each of some instants."""
        return self._evaluated("Phi", t, q).reshape(len(t), -1)

    def rows(self, t: Floats, q: Floats) -> Floats:
        """Φ_v at each of some instants."""
        return self._evaluated("Phi_v", t, q)

    def _inputs(self, h: float) -> Floats:
        return self._kernels.complete(np.append(self._given, h))

    def _evaluated(self, capability: str, t: Floats, q: Floats) -> Floats:
        function = self.system[capability]
        k, n = len(t), len(self.system.p)
        given = {"t": t, "q": q, "v": np.zeros((k, self.nv))}
        for name, part in (("p", self._given[:n]), ("u", self._given[n:])):
            given[name] = np.repeat(part[None], k, 0)
        return np.asarray(function.walk_map(*(given[a.name] for a in function.inputs)))


def _kernels(system: System, dependent: Stiffening, units: Floats | None) -> dict[str, Function]:
    """The kernels of a step, of the state (q, v, a) and of (p, u, h).

    Corrections are the shortest, with displacements in their units.
    """
    u = Unrolled(system)
    ws = u.workspace
    h = ws.symbol("step_length", Kind.PARAMETER)
    state = [*u.q, *u.v, *u.a]

    def kernel(name: str, outputs: Row) -> Function:
        inputs = {"t": [u.t], "x": state, "p": [*u.p, *u.u, h]}
        return Function(f"kinematics_{name}", inputs, {"y": outputs})

    reach = [h * v + h * h * a / 2 for v, a in zip(u.v, u.a, strict=True)]
    metric = identity(u)
    for k, unit in enumerate(np.ones(0) if units is None else units):
        if unit != 1.0:
            metric[k][k] = ws.atom(float(unit) ** -2)
    q, residual = position_correction(u, metric, dependent)
    size = largest(residual, u.zero)
    saddle = Saddle(metric, u.Phi_v, dependent)
    still = [u.zero] * len(u.v)
    change, _ = saddle.solve(still, [-e for e in u.dPhi])
    v = [a + b for a, b in zip(u.v, change, strict=True)]
    gamma = substitute(u.gamma, dict(zip(u.v, v, strict=True)))
    missing = [g - e for g, e in zip(gamma, product(u.Phi_v, u.a, u.zero), strict=True)]
    change, _ = saddle.solve(still, missing)
    a = [x + y for x, y in zip(u.a, change, strict=True)]
    return {
        "predict": kernel("predict", [*u.moved(reach), *u.v, *u.a]),
        "correct": kernel("correct", [*q, *u.v, *u.a, size]),
        # the residual that is given back is above every threshold: always solved
        "solve": kernel("solve", [*u.q, *v, *a, ws.atom(1)]),
    }
