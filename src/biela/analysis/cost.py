"""What the kinematics of a mechanism costs: operations an instant, and time.

Operations are counted in two groups, m (multiplications, divisions, and the products that powers
need) and a (additions, subtractions); functions such as sines are counted apart (Peinado 2016,
§2.6.1).  An instant takes

    prediction + k (Φ, Φ_v, elimination, solve) + (Φ_v, β, γ, elimination, four solves)

with k iterations, where the elimination is that of [1 Φ_vᵀ; Φ_v 0] in sparse form.  The fused code
of small mechanisms shares what these have in common and needs less.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from biela.analysis.driving import Law, driven
from biela.analysis.iterated_positions import fill_of_columns
from biela.analysis.kinematics import kinematics
from biela.analysis.position_method import PositionMethod
from biela.analysis.preparation import Model, Values, as_system, with_values
from biela.analysis.tables import table
from biela.atoms import opcodes as op
from biela.code import Function
from biela.doors import door
from biela.equations import System
from biela.errors import ModelError
from biela.results import RunStatistics

_PRODUCTS: Final = (op.MUL, op.DIV)


@dataclass(frozen=True)
class Operations:
    """Operations of a part of the work.

    Attributes:
        name: Of the part.
        m: Multiplications and divisions.
        a: Additions and subtractions.
        functions: Sines, roots, comparisons and the like.
        times: How often it is done at an instant.
    """

    name: str
    m: int
    a: int
    functions: int
    times: float


@dataclass(frozen=True)
class Cost:
    """The cost of an instant.

    Attributes:
        model: Its name.
        parts: Operations of the parts.
        iterations: A position takes, on average.
        instants: That were computed to measure it.
        time: For an instant, s; of the native loop, checks included.
        preparation: Time of the whole analysis besides, s: derivation, compilation, results.
    """

    model: str
    parts: tuple[Operations, ...]
    iterations: float
    instants: int
    time: float
    preparation: float

    @property
    def m(self) -> float:
        """Multiplications of an instant."""
        return sum(part.m * part.times for part in self.parts)

    @property
    def a(self) -> float:
        """Additions of an instant."""
        return sum(part.a * part.times for part in self.parts)

    def __str__(self) -> str:
        """Return the report as a table."""
        rows = [
            (part.name, str(part.m), str(part.a), str(part.functions), f"{part.times:.3g}")
            for part in self.parts
        ]
        rows.append(("an instant", f"{self.m:.0f}", f"{self.a:.0f}", "", ""))
        lines = [
            f"Cost of the kinematics of {self.model}",
            *table(("", "m", "a", "functions", "times"), rows),
            f"{self.iterations:.2f} iterations and {1e6 * self.time:.3g} µs an instant "
            f"({self.instants} instants), {self.preparation:.3g} s besides",
        ]
        return "\n".join(lines)


@door(ModelError)
def cost(
    model: Model,
    duration: float,
    *,
    step: float = 1e-2,
    drives: Mapping[str, Law] | None = None,
    q: Values = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    method: str | PositionMethod = "newton",
) -> Cost:
    """Operations and time of the kinematics of a driven mechanism; arguments as of `kinematics`.

    Raises:
        ModelError: Constraints hold for velocities only, or see `kinematics`.
        SimulationError: The mechanism cannot go on.
    """
    model, parameters = with_values(model, parameters)
    system = driven(as_system(model), drives or {})
    if not system.geometric or len(system.multipliers) > system.geometric:
        raise ModelError(
            f"{system.name}: the cost is that of positions found from constraints; all constraints "
            f"must be geometric"
        )
    began = time.perf_counter()

    def run() -> RunStatistics:
        found = kinematics(
            system, duration, step=step, q=q, t=t, parameters=parameters, inputs=inputs,
            method=method,
        )  # fmt: skip
        assert found.statistics is not None, "kinematics gives statistics"
        return found.statistics

    run()
    spent = time.perf_counter() - began
    statistics = run()  # a second time, with all code at hand
    instants = max(statistics.steps or 1, 1)
    iterations = (statistics.iterations or 0) / instants
    inside = statistics.time_integration or 0.0
    elimination, solve = _linear(system)
    parts = [
        operations("Φ", system["Phi"], iterations + 1),
        operations("Φ_v", system["Phi_v"], iterations + 1),
        operations("β", system["beta"], 1),
        operations("γ", system["gamma"], 1),
        Operations("elimination", *elimination, 0, iterations + 1),
        Operations("solve", *solve, 0, iterations + 4),
    ]
    return Cost(
        system.name, tuple(parts), iterations, instants, inside / instants, max(spent - inside, 0.0)
    )


def operations(name: str, function: Function, times: float = 1.0) -> Operations:
    """The operations of a function."""
    table_ = function.table
    m = a = others = 0
    powers: set[tuple[int, int]] = set()
    for atom in function.schedule.operations:
        code = table_.ops[atom]
        if code == op.ADD:
            a += 1
        elif code in _PRODUCTS:
            m += 1
        elif code == op.POWER_INT:
            base, exponent = table_.left[atom], table_.right[atom]
            powers |= {(base, k) for k in _squarings(exponent)}
        else:
            others += 1
    return Operations(name, m + len(powers), a, others, times)


def _squarings(n: int) -> set[int]:
    """The powers from 2 on that repeated squaring passes on its way to n."""
    needed: set[int] = set()
    left = [n]
    while left:
        k = left.pop()
        if k > 1 and k not in needed:
            needed.add(k)
            left += [k // 2, k - k // 2]
    return needed


def _linear(system: System) -> tuple[tuple[int, int], tuple[int, int]]:
    """Multiplications and additions of the sparse elimination, and of one solve with it."""
    below = fill_of_columns(system)
    size = len(below)
    updates = int((below * (below + 1) // 2).sum())
    fill = int(below.sum())
    # a reciprocal and c products for each column, and the lower triangle of its outer product
    return (updates + fill + size, updates), (2 * fill + size, 2 * fill)
