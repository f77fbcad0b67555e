"""Driven motion of large mechanisms: the equations by loops, the linear systems sparse.

At every instant the position by Newton's method from the prediction q ⊕ (h v + h² a / 2), then
velocity and acceleration,

    Φ(q, t) = 0,      Φ_v v = β,      Φ_v v' = γ,

in reference-point coordinates (`biela.equations.blocks`); the cost grows with the number of bodies
and not with its square.  Where a step does not converge it is halved.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from biela.analysis.law_faults import finite, names_laws
from biela.analysis.looped.follower import Follower, StuckError
from biela.analysis.looped.results import Motion, looped_results
from biela.analysis.looped.start import first_blocks
from biela.analysis.preparation import with_values
from biela.analysis.progress import Progress
from biela.analysis.sampling import sampling
from biela.errors import SimulationError
from biela.model import Model
from biela.model.parts.flattening import body_count
from biela.results import Results


@names_laws
def looped_kinematics(
    model: Model,
    duration: float,
    *,
    step: float = 1e-2,
    q: Mapping[str, float] | None = None,
    t: float = 0.0,
    output: float | None = None,
    end_point: bool = True,
    parameters: Mapping[str, float] | None = None,
    tolerance: float = 1e-10,
    progress: bool | None = None,
) -> Results:
    """The motion of a large mechanism all of whose freedoms are driven.

    Args:
        model: The mechanism, with a driver for every freedom; arrays of parts stay arrays.
        duration: Time to simulate, s.
        step: Time between instants, s.
        q: First guess of coordinates at the start, by name ("crank.rx", "crank.angle" …).
        t: Start time, s.
        output: Time between stored instants, s (default: the step).
        end_point: Whether the instant ``t + duration`` is stored too.
        parameters: Values other than those of the model.
        tolerance: Largest constraint error of an instant that is accepted (m, rad).
        progress: Whether to show a bar; None shows it on a terminal for long runs.

    Returns:
        Channels q, v, a of the bodies, outputs y, the motion of frames, and the monitors
        "constraint error", "velocity error", "smallest pivot" and "iterations".

    Raises:
        ModelError: Freedoms are left that nothing drives, or an argument makes no sense.
        AssemblyError: The mechanism cannot be assembled at the start.
        SimulationError: The mechanism cannot go on; it names the time and the constraints, and
            holds the results until then.
    """
    model, parameters = with_values(model, parameters)
    began = time.perf_counter()
    instants = sampling(duration, step, output=output)
    # position, quaternion, velocity and acceleration of each
    instants.check_memory(21 * body_count(model))
    blocks, guess = first_blocks(model, q, t, parameters)
    stride = instants.stride
    whole = int(instants.stored(end_point)[-1])  # what comes after is not computed
    follower = Follower(blocks, tolerance)
    motion = Motion(blocks)
    now = follower.first(t, guess)
    motion.store(now.t, now.q, now.v, now.a, now.pivot, now.iterations)
    failure, halved = "", 0
    moving = time.perf_counter()
    with Progress(f"kinematics of {model.name}", whole, progress) as bar:
        for k in range(1, whole + 1):
            try:
                now, more = follower.next(now, t + k * step)
            except StuckError as stuck:
                failure = str(stuck)
                break
            halved += more
            if k % stride == 0:
                motion.store(now.t, now.q, now.v, now.a, now.pivot, now.iterations)
            bar.update(k, motion.results_from)
    ended = time.perf_counter()
    results = looped_results(
        motion,
        follower.rows,
        {"steps": whole, "failed_steps": halved, "iterations": follower.iterations},
        interrupted=bool(failure),
        spent=(ended - began, ended - moving),
    )
    if failure:
        raise SimulationError(
            f"{model.name}: after t = {now.t:.6g} s {failure}. The results until then are in the "
            f"attribute results of this error",
            results,
        )
    return finite(model.name, results)
