"""What a rollout is given: states, inputs and parameters, for all motions or for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.robots.configurations import Configurations
from biela.errors import ModelError, ShapeError

Floats = npt.NDArray[np.float64]


def state_rows(robot: Configurations, what: str, given: Any, size: int) -> Floats:
    """Numbers of a state as (N or 1, size).

    Raises:
        ShapeError: They have another shape.
    """
    array = np.atleast_2d(np.asarray(given, dtype=float))
    if array.ndim != 2 or array.shape[1] != size or not len(array):
        raise ShapeError(
            f"{robot.name}: {what} has {size} numbers, or a row of them for each motion, not the "
            f"shape {np.shape(given)}"
        )
    return array


def input_rows(
    robot: Configurations, inputs: Any, size: int, steps: int | None
) -> tuple[Floats, int]:
    """Inputs as (N or 1, T or 1, size), and T.

    Raises:
        ShapeError: They have another shape, or another number of steps.
        ModelError: Nothing says how many steps there are.
    """
    array = np.zeros((1, 1, size)) if inputs is None else np.asarray(inputs, dtype=float)
    if inputs is not None and array.ndim == 1:
        array = array[None, None]
    elif array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[2] != size:
        raise ShapeError(
            f"{robot.name}: inputs are ({size},), held all the time, (T, {size}), the same for all "
            f"motions, or (N, T, {size}); not {np.shape(inputs)}"
        )
    changing = inputs is not None and np.ndim(inputs) > 1
    if changing and steps not in (None, array.shape[1]):
        raise ShapeError(
            f"{robot.name}: there are inputs for {array.shape[1]} steps, and steps is {steps}"
        )
    samples = array.shape[1] if changing else steps
    if not isinstance(samples, int) or samples < 1:
        raise ModelError(f"{robot.name}: say how many steps with steps=…, one or more")
    return array, samples


def parameter_rows(robot: Configurations, names: Sequence[str], given: Mapping[str, Any]) -> Floats:
    """Parameters as (N or 1, parameters).

    Raises:
        ModelError: There is no such parameter.
        ShapeError: One has another number of values than another.
    """
    for name in given:
        if name not in names:
            known = ", ".join(names) or "none"
            raise ModelError(f"{robot.name} has no parameter {name!r}; it has {known}")
    columns = [np.ravel(np.asarray(given.get(n, robot.parameter_values[n]), float)) for n in names]
    rows = max((len(c) for c in columns), default=1)
    for name, column in zip(names, columns, strict=True):
        if len(column) not in (1, rows):
            raise ShapeError(
                f"{robot.name}: parameter {name} has {len(column)} values, another has {rows}"
            )
    made = [np.broadcast_to(c, rows) for c in columns]
    return np.stack(made, axis=1) if made else np.empty((1, 0))
