"""The functions that a simulator for real time is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations import (
    PENALISED,
    PROJECTED,
    REDUCED,
    STEPPING,
    Formulation,
    Options,
    formulate,
)
from biela.analysis.formulations.last_stage import last_stage
from biela.analysis.formulations.penalty import moved_masses
from biela.analysis.formulations.saddle import ordered, stiffening
from biela.analysis.hoisting import Hoisted, hoisted
from biela.analysis.one_start import start_state
from biela.analysis.preparation import Values, check_masses, values
from biela.analysis.unrolled import Row, Unrolled, largest
from biela.atoms import Atom
from biela.atoms import opcodes as op
from biela.code import Function
from biela.equations import System
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]

#: What a simulator can be asked for: positions, velocities, accelerations, multipliers, outputs.
OUTPUTS: Final = ("q", "v", "a", "lam", "y")
_TRIGONOMETRIC: Final = frozenset({op.SIN, op.COS, op.TAN})


@dataclass(frozen=True)
class Start:
    """Where a simulator starts, and with which numbers."""

    t: float
    q: Floats
    v: Floats
    u: Floats
    p: Floats


@dataclass(frozen=True)
class Kernels:
    """The functions of a simulator.

    ``functions`` are of t, x and p, named f, project_q, project_v or last (the last slope with both
    projections), angles and outputs (those there are); ``hoisted`` are the same with the constants
    of a run behind the given entries of p.
    """

    system: System
    formulation: Formulation
    hoisted: Hoisted
    start: Start
    angles: Function | None
    q_iterations: int

    @property
    def functions(self) -> dict[str, Function]:
        """The functions that a step or its outputs call, by their role."""
        found = dict(self.hoisted.kernels)
        return found if self.angles is None else found | {"angles": self.angles}

    @property
    def n(self) -> int:
        """Size of the state."""
        return self.formulation.size


def kernels(
    system: System,
    formulation: str,
    options: Options,
    wanted: Sequence[str],
    t: float,
    given: Mapping[str, Values],
    classical: bool = False,
) -> Kernels:
    """Assemble the start of a system and make its functions.

    ``given`` are q, v, parameters and inputs as somebody gave them; ``classical`` tells that steps
    are those of the classical Runge–Kutta method, whose last slope shares work with projections.

    Raises:
        AssemblyError: The start cannot be made consistent.
        ModelError: A name or a choice does not fit the model.
    """
    unknown = [name for name in wanted if name not in OUTPUTS]
    if unknown:
        raise ModelError(f"outputs {unknown[0]!r} are not known; these are: {', '.join(OUTPUTS)}")
    if not isinstance(options.projections, str | None):
        raise ModelError(
            "a step of fixed work projects always or never: use projections='always' instead of "
            f"{options.projections!r}"
        )
    if formulation in (*REDUCED, *PROJECTED, *STEPPING):
        raise ModelError(
            f"{system.name}: formulation {formulation!r} cannot be exported: its independent "
            f"coordinates change at dead points, its pivots change with the position, or its step "
            f"is not a right-hand side; use formulation='multipliers'"
        )
    start = _start(system, t, given)
    place = (t, start.q, start.u, start.p)
    lacking = ordered(stiffening(system, *place), system, *place)
    masses = moved_masses(system, *place) if formulation in PENALISED else ()
    unrolled = Unrolled(system)
    made = formulate(unrolled, formulation, options, lacking, masses)
    assert isinstance(made.f, Function), "all others are straight-line code"
    functions: dict[str, Function | None] = {"f": made.f}
    last = None
    if classical:
        last = last_stage(made, options.metric, lacking, options.position_iterations)
    if last is not None:
        functions["last"] = last
    else:
        functions |= {"project_q": made.project_q, "project_v": made.project_v}
    functions["outputs"] = _outputs(unrolled, made, wanted)
    held = hoisted({name: f for name, f in functions.items() if f is not None})
    angles = _largest_angle(held.kernels["f"])
    return Kernels(system, made, held, start, angles, options.position_iterations)


def _start(system: System, t: float, given: Mapping[str, Values]) -> Start:
    p = values(system, "parameter", system.p, given.get("parameters"))
    u = values(system, "input", system.u, given.get("inputs"))
    q, v = start_state(system, given.get("q"), given.get("v"), t=t, u=u, p=p)
    check_masses(system, t, q, u, p)
    return Start(t, q, v, u, p)


def _outputs(unrolled: Unrolled, made: Formulation, wanted: Sequence[str]) -> Function | None:
    """What is wanted of a state; None if that is nothing."""
    assert isinstance(made.read, Function), "all others are straight-line code"
    rows: dict[str, Row] = {a.name: list(made.read.expressions(a.name)) for a in made.read.outputs}
    if "outputs" in unrolled.system and "y" in wanted:
        given = {name: rows[name] for name in ("q", "v", "a", "lam") if name in rows}
        rows["y"] = list(unrolled("outputs", **given))
    chosen = {name: rows[name] for name in OUTPUTS if name in wanted and rows.get(name)}
    return unrolled.kernel("read_outputs", chosen, made.symbols) if chosen else None


def _largest_angle(f: Function) -> Function | None:
    """The largest angle, without its sign, of which the right-hand side takes a sine or cosine."""
    table = f.table
    nodes = [a for a in f.schedule.operations if table.ops[a] in _TRIGONOMETRIC]
    angles = [Atom(table, ref) for ref in dict.fromkeys(abs(table.left[a]) for a in nodes)]
    if not angles:
        return None
    inputs = {a.name: [Atom(table, r) for r in a.refs] for a in f.inputs}
    size = largest(angles, f.workspace.atom(0))
    return Function(f"{f.name}_angle", inputs, {"size": [size]})
