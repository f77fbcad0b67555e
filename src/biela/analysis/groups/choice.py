"""Which formulation "auto" takes: a rule of sizes, fitted to measured times.

    plane                                         PLANE
    space, largest group of up to FEW bodies      FEW_BODIES
    space, of MANY or more                        MANY_BODIES
    space, between                                SPACE

The constants are written by `python -m benchmarks.groups.refit`, which measures all formulations on
the gallery and the examples of groups, and takes the simplest rule whose worst time, over that of
the best on the same mechanism, is within noise of the least.
"""

from __future__ import annotations

from typing import Final

from biela.equations.groups.structure import Structure

__all__ = ["chosen_formulation", "formulation_by_size"]

# --- written by benchmarks.groups.refit
PLANE: Final = "natural groups"
SPACE: Final = "natural groups"
FEW_BODIES: Final = "natural groups"
MANY_BODIES: Final = "natural groups"
FEW: Final = 0
MANY: Final = 1
# --- end


def chosen_formulation(structure: Structure) -> str:
    """The name of the formulation that is likely the fastest for these groups."""
    sizes = (table.bodies.shape[1] for table in structure.tables.values())
    return formulation_by_size(structure.plane is not None, max(sizes, default=0))


def formulation_by_size(planar: bool, bodies: int) -> str:
    """The same by the bodies of the largest group."""
    if planar:
        return PLANE
    if bodies <= FEW:
        return FEW_BODIES
    return MANY_BODIES if bodies >= MANY else SPACE
