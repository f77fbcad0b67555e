"""Which options a formulation uses: one that it does not is refused, not passed over in silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from biela.analysis.formulations.choice import (
    FORMULATIONS,
    PARTITIONED,
    REDUCED,
    STEPPING,
)
from biela.analysis.formulations.options import Options
from biela.errors import ModelError

_STRAIGHT: Final = ("multipliers", "baumgarte", "penalty", "augmented")
#: Those whose state drifts off the constraints, so that it is projected onto them.
_CORRECTED: Final = (*_STRAIGHT, "matrix_r", "null_space", "range_space")
_PENALTY: Final = ("penalty", "augmented")

#: The formulations that use an option; all use those that are not here.
USED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "metric": _CORRECTED,
    "projections": _CORRECTED,
    "position_iterations": _CORRECTED,
    "baumgarte": ("baumgarte",),
    "penalty": _PENALTY,
    "frequency": _PENALTY,
    "damping": _PENALTY,
    "rounds": ("augmented",),
    "independent": PARTITIONED,
    "partition": PARTITIONED,
    "index": ("velocity_projection",),
    "linear_solver": ("velocity_projection", "matrix_r", "null_space"),
    "refinements": ("multipliers", "baumgarte", "index2", "index3"),
    "fused": _STRAIGHT,
    "iterations": STEPPING,
    "rho": ("generalised_alpha",),
}


def given_options(options: Options | None) -> list[str]:
    """Names of the options that differ from what is taken without them."""
    plain = Options()
    chosen = options or plain
    names = [field.name for field in fields(Options)]
    return [name for name in names if getattr(chosen, name) != getattr(plain, name)]


def unused_options(formulation: str, options: Options | None) -> list[str]:
    """Names of the options given that a formulation does not use."""
    given = given_options(options)
    if options is not None and options.projections == "never" and formulation in REDUCED:
        given.remove("projections")  # which is what they do
    return [name for name in given if formulation not in USED_BY.get(name, FORMULATIONS)]


def check_options(who: str, formulation: str, options: Options | None) -> None:
    """Refuse options that a formulation does not use.

    Raises:
        ModelError: It names the option and the formulations that use it.
    """
    for name in unused_options(formulation, options):
        using = ", ".join(USED_BY[name])
        raise ModelError(
            f"{who}: formulation {formulation!r} does not use the option {name} = "
            f"{getattr(options, name)!r}; leave it out, or use one that does: {using}"
        )
