"""The four mechanisms with the conditions and figures of the source.

Runs, borders and times of a thesis on sparse reordering for the dynamics of multibody systems in
natural coordinates, whose mechanisms are those of `examples/large`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from biela.equations.natural import Layout
from examples.large import five_bars, tether, vehicle

__all__ = ["CASES", "Case", "Published"]


@dataclass(frozen=True)
class Published:
    """Figures of the source for one mechanism.

    Attributes:
        steps: accepted.
        evaluations: of the derivative of the state.
        solve_speed_up: of the systems with Φ_q^d, reordered over full.
        real_time: time of the integration over the time simulated, reordered.
        border: columns in the border with P5 and with the proposed ordering; None if not printed.
        entries: of the Jacobian, as printed.
    """

    steps: int
    evaluations: int
    solve_speed_up: float
    real_time: float
    border: tuple[int | None, int | None]
    entries: int


@dataclass(frozen=True)
class Case:
    """A mechanism and how it was run.

    Attributes:
        name: of the mechanism.
        layout: makes it.
        independent: its independent coordinates.
        method: "dormand_prince" (ode45) or "adams" (ode113).
        tolerance: relative; the absolute one is 1e-6.
        duration: simulated, s.
        driver: of the source: "index 2" or "index 3", both with Newton's correction of positions.
        published: figures of the source.
    """

    name: str
    layout: Callable[[], Layout]
    independent: tuple[str, ...]
    method: str
    tolerance: float
    duration: float
    driver: str
    published: Published


CASES = (
    Case(
        "five-bar pendulum", five_bars.pendulum, five_bars.angles(), "dormand_prince", 1e-6, 10.0,
        "index 2", Published(590, 3673, 13.3, 0.28, (0, 0), 198),
    ),
    Case(
        "tether", tether.tether, tether.angles(), "adams", 1e-5, 3.0, "index 3",
        Published(8809, 17_620, 10.3, 10.4, (None, 0), 661),
    ),
    Case(
        "Bricard", five_bars.bricard_closed, ("theta5",), "dormand_prince", 1e-6, 15.0, "index 2",
        Published(136, 865, 1.36, 0.083, (3, 3), 209),
    ),
    Case(
        "vehicle", vehicle.vehicle, vehicle.INDEPENDENT, "adams", 1e-5, 1.0, "index 3",
        Published(1182, 2509, 6.60, 12.1, (27, 17), 954),
    ),
)  # fmt: skip
