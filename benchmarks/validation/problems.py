"""Problems with known motions: how to run them, and how far the results are from what is known.

Every mechanism is built from solids and bases in `examples`. The bounds are those of the tests
(`tests/analysis/test_validation.py`); `python -m benchmarks.validation` makes a page of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

import numpy as np

import biela as bl
from benchmarks.validation.references import (
    Pose,
    crank_rod_disc_pose,
    double_pendulum_rates,
    four_bar_pose,
    integrated,
    passage,
)
from biela.equations import Equations
from examples.mechanisms import (
    andrews,
    bricard,
    double_pendulum,
    four_bars,
    governor,
    point_pendulum,
    rolling_disc,
    simple_pendulum,
    slider_crank,
    top,
)
from examples.symbolic import crank_rod_disc, four_bar, stewart


@dataclass(frozen=True)
class Problem:
    """A run and what is known of it.

    ``error`` is the largest error of the results, ``bound`` what it may be.
    """

    name: str
    model: Callable[[], bl.SymbolicSystem]
    duration: float
    error: Callable[[bl.Results], float]
    reference: str
    bound: float
    run: Mapping[str, Any] = field(default_factory=dict)
    integrator: str | None = None
    conserved: str = "energy"


@cache
def derived(model: Callable[[], bl.SymbolicSystem]) -> Equations:
    """The equations of a model, derived once."""
    return model().equations()


def simulator(problem: Problem, integrator: str | None = None) -> bl.Simulator:
    return bl.Simulator(derived(problem.model), integrator=integrator or problem.integrator)


def solved(problem: Problem) -> bl.Results:
    return simulator(problem).run(problem.duration, **problem.run)


# --- errors ---------------------------------------------------------------------------------------


def at_times(reference: Mapping[float, Mapping[str, float]], r: bl.Results) -> float:
    """The largest difference from published figures, by time and channel."""
    worst = 0.0
    for t, values in reference.items():
        k = int(np.argmin(np.abs(r.t - t)))
        assert abs(r.t[k] - t) < 1e-12, f"{t} s is not stored"
        worst = max(worst, *(abs(r[name][k] - value) for name, value in values.items()))
    return float(worst)


def by_energy(
    model: Callable[[], bl.SymbolicSystem], pose: Pose, p: Mapping[str, float], r: bl.Results
) -> float:
    """The error of the first coordinate at the end, which the quadrature of the energy gives."""
    system = derived(model).system
    values = np.array([p.get(entry.name, entry.value) for entry in system.p])
    start, end = float(r.q[0, 0]), float(r.q[-1, 0])
    t, speed = passage(system, pose, start, float(r.v[0, 0]), end, values)
    return float(abs((t - (r.t[-1] - r.t[0])) * speed))


def slider_crank_pose(theta: float) -> Any:
    return np.array(slider_crank.closed_form(theta, 0.0)[0])


def in_parallel(n: int, r: bl.Results) -> float:
    """The error of the top of the first crank, or of a coupler that is not horizontal."""
    turned = max(float(np.abs(np.sin(r[f"phi{i}"])).max()) for i in range(1, n + 1))
    apart = max(float(np.abs(r[f"theta{i}"] - r["theta0"]).max()) for i in range(1, n + 1))

    def pose(theta: float) -> Any:
        return np.array([theta] + n * [theta, 0.0])

    return max(by_energy(partial_four_bars(n), pose, {}, r), turned, apart)


@cache
def partial_four_bars(n: int) -> Callable[[], bl.SymbolicSystem]:
    return partial(four_bars.four_bars, n)


def double_pendulum_error(r: bl.Results) -> float:
    exact = integrated(double_pendulum_rates, np.array([math.pi / 2] * 2 + [0.0] * 2), 3.0, 15000)
    return float(np.abs([r.q[-1, 0] - exact[0], r.q[-1].sum() - exact[1]]).max())


def on_a_circle(r: bl.Results) -> float:
    _, v = rolling_disc.start()
    radius, psi = v[0] / rolling_disc.TURN, rolling_disc.TURN * r.t
    track = [r["x"] - radius * np.sin(psi), r["y"] - radius * (1 - np.cos(psi))]
    return float(np.abs([*track, r["theta"] - rolling_disc.LEAN]).max())


def steady_precession(r: bl.Results) -> float:
    psi, tilt = top.PRECESSION * r.t, math.sin(top.NUTATION)
    axis = [tilt * np.sin(psi), -tilt * np.cos(psi), np.full_like(psi, math.cos(top.NUTATION))]
    return float(np.abs(np.array([r["x"], r["y"], r["z"]]) - axis).max())


def stewart_error(r: bl.Results) -> float:
    other = bl.simulate(
        derived(stewart.stewart), r.t[-1], formulation="index3", **{**STEWART, "tolerance": 1e-11}
    )
    return float(np.abs(r.q[-1] - other.q[-1]).max())


# --- the problems ---------------------------------------------------------------------------------

STEWART: Final[dict[str, Any]] = {
    "q": {"x": 0.05, "y": -0.03, "z": 1.1, "yaw": 0.1, "pitch": -0.05, "roll": 0.08}
    | {f"l{n}": 1.2 for n in range(1, 7)},
    "v": {"dx": 0.2, "dy": -0.1, "dz": 1.0, "dyaw": 0.5, "dpitch": 0.3, "droll": -0.4},
    "tolerance": 1e-10,
}
FLAT: Final = {"q": 81 * [0.0], "v": [6.0] + 40 * [6.0, 0.0], "step": 1e-3, "output": 0.05}
TIGHT: Final = {"tolerance": 1e-12}
BY_ENERGY: Final = "closed form of the positions and quadrature of the energy"
PARALLEL: Final = "parallelogram branch: quadrature of the energy of a pendulum"

PROBLEMS: Final = {
    problem.name: problem
    for problem in (
        Problem(
            "Point pendulum (A01), 10 s", point_pendulum.point_pendulum, 10.0,
            partial(at_times, point_pendulum.REFERENCE), "elliptic functions, 17 digits", 1e-9,
            {**TIGHT, "output": 0.5},
        ),
        Problem(
            "Simple pendulum, one period", simple_pendulum.simple_pendulum, simple_pendulum.PERIOD,
            partial(at_times, simple_pendulum.REFERENCE), "elliptic integral, 16 digits", 1e-10,
            {**TIGHT, "output": simple_pendulum.PERIOD / 20},
        ),
        Problem(
            "Double pendulum, 3 s", double_pendulum.double_pendulum, 3.0, double_pendulum_error,
            "hand-written equations, method of order four, 15 000 steps", 1e-8, TIGHT,
        ),
        Problem(
            "Four-bar, 2 s", four_bar.four_bar, 2.0,
            partial(by_energy, four_bar.four_bar, four_bar_pose, {}), BY_ENERGY, 1e-9,
            {**TIGHT, "q": four_bar_pose(0.7), "v": {"dtheta1": 6.0}},
        ),
        Problem(
            "Slider–crank, 1 s", slider_crank.slider_crank, 1.0,
            partial(by_energy, slider_crank.slider_crank, slider_crank_pose, {}), BY_ENERGY, 1e-9,
            TIGHT,
        ),
        Problem(
            "Crank, rod and rolling disc, 0.5 s", crank_rod_disc.crank_rod_disc, 0.5,
            partial(by_energy, crank_rod_disc.crank_rod_disc, crank_rod_disc_pose, {"c_vis": 0.0}),
            BY_ENERGY + ", without damping", 1e-9,
            {**TIGHT, "parameters": {"c_vis": 0.0}, "q": crank_rod_disc_pose(0.3),
             "v": {"dtheta1": 12.0}},
        ),
        Problem(
            "Stewart platform, 0.3 s", stewart.stewart, 0.3, stewart_error,
            "formulation by independent coordinates", 1e-8, STEWART,
        ),
        Problem(
            "Bricard (A04, redundant), 1 s", bricard.bricard, 1.0,
            partial(at_times, bricard.REFERENCE), "recomputed, 12 digits", 1e-11,
            {**TIGHT, "output": 0.05},
        ),
        Problem(
            "Andrews' squeezer, 0.03 s", andrews.andrews, 0.03,
            partial(at_times, andrews.REFERENCE), "recomputed, 12 digits or more", 1e-7,
            {**TIGHT, "output": 0.03},
        ),
        Problem(
            "Flyball governor (A05, stiff), 0.5 s", governor.governor, 0.5,
            partial(at_times, governor.REFERENCE), "recomputed, 10 to 12 digits", 1e-9,
            {"tolerance": 1e-10, "output": 0.1}, "radau", "angular momentum",
        ),
        Problem(
            "Rolling disc (non-holonomic), 5 s", rolling_disc.rolling_disc, 5.0, on_a_circle,
            "steady motion on a circle", 1e-8, TIGHT,
        ),
        Problem(
            "Spinning top, Euler angles, 5 s", top.top, 5.0, steady_precession,
            "steady precession, linear in the angles", 1e-9, TIGHT,
        ),
        Problem(
            "Spinning top, Euler parameters, 2 s", top.top_by_euler_parameters, 2.0,
            steady_precession, "steady precession", 1e-9, TIGHT,
        ),
        Problem(
            "2 four-bars (A02), 10 s", partial_four_bars(2), 10.0,
            partial(at_times, four_bars.REFERENCE), "pendulum, 13 digits", 1e-9,
            {"step": 1e-3, "output": 0.5},
        ),
        Problem(
            "40 four-bars (A02), 20 s", partial_four_bars(40), 20.0, partial(in_parallel, 40),
            PARALLEL, 1e-8, {"step": 1e-3, "output": 0.1},
        ),
        Problem(
            "40 four-bars from the line, ω = 6 rad/s, 2 s", partial_four_bars(40), 2.0,
            partial(in_parallel, 40), PARALLEL, 1e-4, FLAT,
        ),
    )
}  # fmt: skip
