"""Independent coordinates that move no mass: their accelerations are not determined."""

from __future__ import annotations

from typing import Final

import numpy as np

from biela.analysis.groups.independent import Independent
from biela.equations.groups.dynamics import MotionProgram
from biela.errors import ModelError

__all__ = ["refuse_massless"]

#: Freedoms up to which the masses are looked at, and the least part of them that is not rounding.
_LOOKED_AT: Final = 200
_NO_MASS: Final = 1e-13


def refuse_massless(start: Independent, program: MotionProgram) -> None:
    """Refuse a singular matrix of masses, as it stands in the workspace of a program.

    Raises:
        ModelError: It says which coordinate moves no mass.
    """
    f = start.coordinates.freedoms
    if f > _LOOKED_AT:
        return
    M = np.zeros((f, f))
    M[program.mass_rows, program.mass_columns] = program.memory.view(program.function.w, "M")
    M = np.tril(M) + np.tril(M, -1).T
    size = np.sqrt(np.maximum(np.diag(M), 1e-300))
    least, directions = np.linalg.eigh(M / np.outer(size, size))
    if least[0] > _NO_MASS and np.diag(M).min() > 0:
        return
    moved = int(np.argmax(np.abs(directions[:, 0])))
    columns = start.coordinates.columns
    name = next(name for k, name in enumerate(start.names) if moved in columns(k))
    raise ModelError(
        f"{start.model.name}: moving {name} moves no mass in some direction; give the bodies that "
        f"move with it a mass or an inertia, or constrain it"
    )
