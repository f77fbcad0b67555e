"""The state, or the position, that an analysis of one instant is asked about."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant
from biela.analysis.one_start import start_state
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

    What is not given is that of the start of the model.

    Raises:
        AssemblyError: The state cannot be assembled.
        ModelError: A name is unknown.
    """
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    if assemble:
        # conditions on the velocity are made for the position of the start
        asked = system if q is None else _without_initial_velocity(system)
        place, speed = start_state(asked, q, v, t=t, u=u, p=p)
    else:
        place = values(system, "coordinate", system.q, q)
        speed = values(system, "velocity", system.v, v)
    return Instant(system, t, u, p), place, speed


def placed(
    system: System,
    q: Values,
    *,
    t: float,
    parameters: Values,
    inputs: Values,
    assemble: bool = True,
) -> tuple[Instant, Floats]:
    """The system at an instant, with the position given, assembled if wanted.

    Raises:
        AssemblyError: The position cannot be assembled.
        ModelError: A name is unknown.
    """
    asked = _without_initial_velocity(system)
    instant, place, _ = posed(
        asked, q, None, t=t, parameters=parameters, inputs=inputs, assemble=assemble
    )
    return Instant(system, instant.t, instant.u, instant.p), place


def _without_initial_velocity(system: System) -> System:
    kept = [name for name in system.functions if name not in ("Init_v", "Init_beta")]
    lazy = {name: partial(system.functions.__getitem__, name) for name in kept}
    return replace(system, functions=LazyFunctions({}, lazy))
