"""Positions, velocities and accelerations of a driven mechanism, instant after instant.

    predict    q ← q ⊕ (h v + h²/2 a)
    correct    q ← q ⊕ δ,   δ = -Φ_q⁺ Φ,     until Φ = 0
    solve      v ← v + Φ_v⁺ (β - Φ_v v),     a ← a + Φ_v⁺ (γ - Φ_v a)

(Plaza 2015, fig. 2.1; the predictor is Taylor's series.)  The three are kernels, run by a native
loop; the pseudo-inverse is a symbolic elimination that drops dependent rows, and the residual form
makes the second round of the velocities a refinement of the first.  Afterwards every instant is
looked at: where a constraint is missed, or the correction is long against the step, so that the
position may be on another branch, the step is taken again in shorter ones.
"""

from __future__ import annotations

from dataclasses import dataclass
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
#: A correction longer than this part of the way of a step may lead to another branch.  That of a
#: smooth motion is (ω h)²/6 of it: steps up to a sixth of a turn pass.
LEAP: Final = 0.2
#: How often a step is halved before the run is given up.
HALVINGS: Final = 10
#: Instants of one native call.
_CHUNK: Final = 4096


@dataclass(frozen=True)
class Course:
    """The states (q, v, a) of a driven mechanism, as far as it came.

    ``residual`` is that of the instant at which it failed, if it did.
    """

    states: Floats
    iterations: int
    halved: int
    residual: Floats | None


class Positioning:
    """The kernels of a driven mechanism and the loop over its instants."""

    def __init__(self, system: System, p: Floats, u: Floats) -> None:
        self.system = system
        self._given = np.concatenate([p, u])
        self._kernels: Hoisted = hoisted(_kernels(system))
        nq, nv = len(system.q), len(system.v)
        self.nq, self.nv = nq, nv
        self._corrections = 0
        native = {name: f.native for name, f in self._kernels.kernels.items()}
        self._steps = FixedStep(
            Problem(
                native["predict"],
                nq + 2 * nv,
                self._kernels.size,
                nq=nq,
                project_q=native["correct"],
                project_v=native["solve"],
                q_iterations=ITERATIONS,
                v_iterations=2,
                threshold=THRESHOLD,
            ),
            "one_step_map",
        )

    def start(self, t: float, q: Floats) -> Floats:
        """The state (q, v, a) of a position that fulfils the constraints."""
        x = np.concatenate([q, np.zeros(2 * self.nv)])
        inputs = self._inputs(0.0)
        for _ in range(2):
            x = self._kernels.kernels["solve"]([t], x, inputs)[:-1]
        return np.asarray(x)

    def course(
        self, t: float, x: Floats, h: float, steps: int, stride: int, tolerance: float
    ) -> Course:
        """The states from a start on, every ``stride`` steps of length h."""
        states, before = [x[None]], x
        halved = iterations = done = 0
        chunk = min(64, steps)
        while done < steps:
            count = min(chunk, steps - done)
            found, taken = self._run(t + done * h, x, h, count)
            iterations += taken
            good = self._good(t + done * h, found, h, tolerance)
            fine = found[1:good]
            states.append(fine[(np.arange(done + 1, done + good) % stride) == 0])
            done += good - 1
            if good > 1:
                before, x = found[good - 2], found[good - 1]
            chunk = min(2 * chunk, _CHUNK)
            if good <= count:
                chunk = 16
                begin = t + done * h
                careful = self._halved(begin, x, h, tolerance, 1)
                if careful is None and done:
                    # the velocity of a singular position leads nowhere: from the one before it
                    careful = self._stepped(begin - h, before, 2 * h, tolerance, True)
                halved += 1
                if careful is None:
                    missed = self._missed(begin, x, h)
                    return Course(np.concatenate(states), iterations, halved, missed)
                before, x, done = x, careful, done + 1
                if done % stride == 0:
                    states.append(x[None])
        return Course(np.concatenate(states), iterations, halved, None)

    # ------------------------------------------------------------------ inside

    def _inputs(self, h: float) -> Floats:
        return self._kernels.complete(np.append(self._given, h))

    def _run(self, t: float, x: Floats, h: float, steps: int) -> tuple[Floats, int]:
        run = self._steps.run(t, x, self._inputs(h), h, steps)
        # two corrections of each step are those of the velocities
        taken = run.corrections - self._corrections - 2 * (len(run.states) - 1)
        self._corrections = run.corrections
        return run.states, taken

    def _evaluated(self, capability: str, t: Floats, q: Floats) -> Floats:
        function = self.system[capability]
        k, n = len(t), len(self.system.p)
        given = {"t": t, "q": q, "v": np.zeros((k, self.nv))}
        for name, part in (("p", self._given[:n]), ("u", self._given[n:])):
            given[name] = np.repeat(part[None], k, 0)
        return np.asarray(function.map(*(given[a.name] for a in function.inputs)))

    def _residuals(self, t: Floats, q: Floats) -> Floats:
        return self._evaluated("Phi", t, q).reshape(len(t), -1)

    def _signs(self, t: Floats, q: Floats) -> Floats:
        """Signs of the determinant of Φ_v, which tell branches apart; zeros if it is not square."""
        if len(self.system.multipliers) != self.nv:
            return np.zeros(len(t))
        rows = self._evaluated("Phi_v", t, q)
        return np.asarray(np.linalg.slogdet(rows)[0])

    def _good(
        self, t: float, states: Floats, h: float, tolerance: float, crossing: bool = False
    ) -> int:
        """How many of the states, from the first on, can be believed.

        A change of branch can only be believed if it is a ``crossing`` of a singular position,
        seen with the shortest of steps.
        """
        k, nq, nv = len(states), self.nq, self.nv
        times: Floats = t + h * np.arange(float(k))
        met = np.abs(self._residuals(times, states[:, :nq])).max(axis=1) <= tolerance
        met &= np.isfinite(states).all(axis=1)
        v, a = states[:, nq : nq + nv], states[:, nq + nv :]
        if nq == nv:  # else the distance of two positions is not their difference
            reach = h * v[:-1] + h**2 / 2 * a[:-1]
            moved = states[1:, :nq] - states[:-1, :nq]
            corrected = np.linalg.norm(moved - reach, axis=1)
            speed = np.maximum(np.linalg.norm(v[:-1], axis=1), np.linalg.norm(v[1:], axis=1))
            met[1:] &= ~(corrected > LEAP * h * speed + 1e-9)
        if not crossing:
            signs = self._signs(times, states[:, :nq])
            met[1:] &= signs[1:] * signs[:-1] >= 0
        met[0] = True
        return k if met.all() else int(np.argmin(met))

    def _halved(self, t: float, x: Floats, h: float, tolerance: float, depth: int) -> Floats | None:
        """The state after a step taken in two halves, each again in two if need be."""
        for part in range(2):
            begin = t + part * h / 2
            after = self._stepped(begin, x, h / 2, tolerance, depth == HALVINGS)
            if after is None and depth < HALVINGS:
                after = self._halved(begin, x, h / 2, tolerance, depth + 1)
            if after is None:
                return None
            x = after
        return x

    def _stepped(
        self, t: float, x: Floats, h: float, tolerance: float, crossing: bool
    ) -> Floats | None:
        """The state after one step, if it can be believed."""
        found, _ = self._run(t, x, h, 1)
        good = len(found) == 2 and self._good(t, found, h, tolerance, crossing) == 2
        return found[1] if good else None

    def _missed(self, t: float, x: Floats, h: float) -> Floats:
        """The residual at the end of a step that fails, as far as corrections reduce it."""
        best = np.full(self.system.geometric, np.inf)
        inputs = self._inputs(h)
        x = self._kernels.kernels["predict"]([t], x, inputs)
        for _ in range(ITERATIONS):
            residual = self._residuals(np.array([t + h]), x[None, : self.nq])[0]
            if np.isfinite(residual).all() and np.abs(residual).max() < np.abs(best).max():
                best = residual
            x = self._kernels.kernels["correct"]([t + h], x, inputs)[:-1]
        return best


def _kernels(system: System) -> dict[str, Function]:
    """The kernels of a step, of the state (q, v, a) and of (p, u, h)."""
    u = Unrolled(system)
    ws = u.workspace
    h = ws.symbol("step_length", Kind.PARAMETER)
    state = [*u.q, *u.v, *u.a]

    def kernel(name: str, outputs: Row) -> Function:
        inputs = {"t": [u.t], "x": state, "p": [*u.p, *u.u, h]}
        return Function(f"kinematics_{name}", inputs, {"y": outputs})

    reach = [h * v + h * h * a / 2 for v, a in zip(u.v, u.a, strict=True)]
    q, residual = position_correction(u, identity(u), Stiffening())
    size = largest(residual, u.zero)
    saddle = Saddle(identity(u), u.Phi_v, Stiffening())
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
