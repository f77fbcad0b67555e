"""The state an analysis of one instant is asked about."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from biela.analysis.assembly import initial_state
from biela.analysis.instant import Instant
from biela.analysis.preparation import Values, values
from biela.equations import System
from biela.equations.system import LazyFunctions

Floats = npt.NDArray[np.float64]


def posed(
    system: System,
    q: Values,
    v: Values,
    *,
    t: float,
    parameters: Values,
    inputs: Values,
    assemble: bool = True,
) -> tuple[Instant, Floats, Floats]:
    """The system at an instant, with the position and velocity given, assembled if wanted.

    Without any given it is the start of the model; otherwise conditions on the start do not count.

    Raises:
        AssemblyError: The state cannot be assembled.
        ModelError: A name is unknown.
    """
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    place = values(system, "coordinate", system.q, q)
    speed = values(system, "velocity", system.v, v)
    if assemble:
        asked = system if q is None and v is None else without_start(system)
        place, speed = initial_state(asked, place, speed, t=t, u=u, p=p, given=(q, v))
    return Instant(system, t, u, p), place, speed


def without_start(system: System) -> System:
    """The system without conditions on its start."""
    kept = [name for name in system.functions if not name.startswith("Init")]
    lazy = {name: partial(system.functions.__getitem__, name) for name in kept}
    return replace(system, functions=LazyFunctions({}, lazy))
