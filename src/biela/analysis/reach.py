"""Why a driven mechanism cannot go on: out of reach, or on the far side of a singular position.

From the last position the squares of the constraints are reduced as far as they can be, by damped
least squares (Levenberg 1944, Marquardt 1963) along the displacements,

    q ← q ⊕ δ,     (Φ_vᵀ W Φ_v + μ) δ = -Φ_vᵀ W Φ.

If that ends at Φ = 0 there is a position, but none that continues the motion.  If it ends where
Φ_vᵀ W Φ = 0 and Φ is not, nothing near is better: the place is out of reach.  The weights W of
joints are large against those of drives: joints stay together, and the drives tell what they miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import contradiction
from biela.analysis.instant import Instant, independent, motions, unit_rows
from biela.analysis.singularity import joints_of, weakest
from biela.errors import AssemblyError

Floats = npt.NDArray[np.float64]

#: Weight of a joint against a drive.
_JOINT: Final = 100.0


@dataclass(frozen=True)
class Nearest:
    """The position found that misses the constraints least, and by how much it does."""

    q: Floats
    residual: Floats

    def reached(self, tolerance: float) -> bool:
        """Whether it fulfils the constraints."""
        return bool(np.abs(self.residual).max(initial=0.0) <= tolerance)


def nearest(
    instant: Instant, q: Floats, weights: Floats | None = None, iterations: int = 300
) -> Nearest:
    """The position near another one that misses the geometric constraints least.

    ``weights`` are the roots of W, 1 if not given; constraints of weight 0 do not count.

    Raises:
        AssemblyError: A constraint is not a finite number there.
    """
    count = instant.system.geometric
    scale = np.ones(count) if weights is None else weights
    residual = scale * instant.Phi(q)
    damping = 1e-3
    for _ in range(iterations):
        J = scale[:, None] * instant.Phi_v(q)[:count]
        lost = ~(np.isfinite(J).all(axis=1) & np.isfinite(residual))
        if lost.any():
            name = instant.system.multipliers[int(np.argmax(lost))]
            raise AssemblyError(
                f"{instant.system.name}: constraint {name}, or its derivative, is not a finite "
                f"number at t = {instant.t:.6g} s; check its equation and the parameters"
            )
        gradient = J.T @ residual
        size = float(np.linalg.norm(residual))
        if size <= 1e-14 or np.linalg.norm(gradient) <= 1e-13 * size:
            break
        normal = J.T @ J + damping * np.eye(J.shape[1])
        step = damped_step(normal, -gradient)
        if step is not None:
            place = instant.moved(q, step)
            value = scale * instant.Phi(place)
            if np.isfinite(value).all() and value @ value < residual @ residual:
                q, residual = place, value
                damping = max(0.3 * damping, 1e-14)
                continue
        if damping > 1e8:
            break
        damping *= 4
    return Nearest(q, instant.Phi(q))


def damped_step(normal: Floats, right: Floats) -> Floats | None:
    """A step; None if the damping is lost in the rounding of a singular matrix."""
    try:
        return np.asarray(np.linalg.solve(normal, right), dtype=float)
    except np.linalg.LinAlgError:
        return None


def drive_rows(instant: Instant, q: Floats) -> npt.NDArray[np.bool_]:
    """Which geometric constraints are drives: those called so, and those that move in time."""
    count = instant.system.geometric
    named = [name.startswith("drive ") for name in instant.system.multipliers[:count]]
    moving = np.abs(instant.beta(q)[:count]) > 1e-12
    found: npt.NDArray[np.bool_] = moving | np.array(named, dtype=bool)
    return found


def obstacle(instant: Instant, q: Floats, tolerance: float) -> str:
    """Why no position near q fulfils the constraints at an instant, as a part of a sentence."""
    system = instant.system
    names = system.multipliers
    lost = ~np.isfinite(instant.Phi(q))
    if lost.any():
        return (
            f"{', '.join(names[i] for i in np.flatnonzero(lost)[:4])} asks for no finite number at "
            f"t = {instant.t:.6g} s; check the law there"
        )
    rows = instant.Phi_v(q)[: system.geometric]
    if drives_depend(rows, drive_rows(instant, q)):
        found = nearest(instant, q)
        beside = instant.Phi_v(found.q)[: system.geometric]
        conflict = contradiction(names, beside, found.residual)
        if conflict and not found.reached(tolerance):
            return f"at t = {instant.t:.6g} s {conflict}; change the law of one, or leave it out"
    constraints, free = weakest(system, rows)
    weak = f"{', '.join(joints_of(constraints))} nearly leave {', '.join(free)} free"
    worst = out_of_reach(instant, q, tolerance)
    if not worst:
        return (
            f"no position near the last one fulfils the constraints at t = {instant.t:.6g} s: the "
            f"one that is found lies on another branch. The drives lead through a singular "
            f"position, in which {weak}; take smaller steps, or through_dead_points=True"
        )
    return f"no position near the last one fulfils the constraints: {worst}. Before it {weak}"


def drives_depend(rows: Floats, drives: npt.NDArray[np.bool_]) -> bool:
    """Whether drives move what others move too, along the motions that the joints allow.

    Where no row is known as a drive, whether any row depends on others.
    """
    if not drives.any():
        return not independent(rows)
    free = motions(unit_rows(rows[~drives])[0]).R
    return not independent(unit_rows(rows[drives])[0] @ free)


def out_of_reach(instant: Instant, q: Floats, tolerance: float) -> str:
    """What the drives ask for where no position near q fulfils them; else nothing."""
    drives, names = drive_rows(instant, q), instant.system.multipliers
    weights = np.where(drives, 1.0, _JOINT) if drives.any() else None
    found = nearest(instant, q, weights)
    if found.reached(tolerance):
        return ""
    order = np.argsort(-np.abs(found.residual))[:4]
    least = 0.05 * float(np.abs(found.residual).max())
    worst = ", ".join(
        f"{names[i]} by {found.residual[i]:.3g}" for i in order if abs(found.residual[i]) > least
    )
    return (
        f"the drives ask for a place that the mechanism cannot reach at t = {instant.t:.6g} s. The "
        f"nearest position misses {worst}"
    )
