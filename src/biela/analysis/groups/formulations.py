"""The formulations of kinematics side by side, by name.

| name | what is solved | in the source |
|---|---|---|
| global dense | all equations of the mechanism at once, natural coordinates | GLOB |
| global sparse | the same by a sparse solver | GLOB_SP |
| natural groups | group after group, natural coordinates | TOP_TD |
| natural groups, tensor | the same with the tensor of second derivatives | TOP_3OT |
| relative groups | group after group, relative coordinates | TOP_REL |
| relative loops | all loops of the mechanism at once, relative coordinates | REL_LOOP |
| mixed groups, reference groups | groups in these coordinates | – |

"auto" follows a rule of sizes, which `benchmarks/groups` fits to measured times.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from biela.analysis.groups.choice import chosen_formulation
from biela.equations.groups.structure import Structure
from biela.errors import ModelError
from biela.model import Model
from biela.spelling import alike

__all__ = ["FORMULATIONS", "Formulation", "formulation_named"]


@dataclass(frozen=True)
class Formulation:
    """A formulation: coordinates of its groups, and whether there are any.

    Attributes:
        name: What it is called.
        coordinates: Of its groups.
        convective: How velocity terms are written.
        whole: Whether the mechanism is one group.
        solver: "unrolled" into the kernel where that is worth it, else "dense" or "sparse".
        found: The groups of the model, where they had to be found to choose.
    """

    name: str
    coordinates: str
    convective: str = "rate"
    whole: bool = False
    solver: str = "auto"
    found: Structure | None = field(default=None, compare=False, repr=False)

    def options(self, model: Model) -> dict[str, Any]:
        """The settings of a `GroupSolver`."""
        found: dict[str, Any] = {
            "coordinates": self.coordinates,
            "convective": self.convective,
            "solver": self.solver,
        }
        if self.whole:
            from biela.analysis.groups.whole import whole_structure

            found["structure"] = whole_structure(model, self.found)
        elif self.found is not None:
            found["structure"] = self.found
        return found


FORMULATIONS: Final = {
    f.name: f
    for f in (
        Formulation("global dense", "natural", whole=True, solver="dense"),
        Formulation("global sparse", "natural", whole=True, solver="sparse"),
        Formulation("natural groups", "natural"),
        Formulation("natural groups, tensor", "natural", convective="tensor"),
        Formulation("relative groups", "relative"),
        Formulation("relative loops", "relative", whole=True),
        Formulation("mixed groups", "mixed"),
        Formulation("reference groups", "reference"),
    )
}


def formulation_named(name: str, model: Model) -> Formulation:
    """A formulation by its name; "auto" chooses by the model.

    Raises:
        ModelError: There is none of that name.
    """
    if name == "auto":
        from biela.analysis.groups.finding import structural_groups

        structure = structural_groups(model)
        return replace(FORMULATIONS[chosen_formulation(structure)], found=structure)
    if name not in FORMULATIONS:
        names = ("auto", *FORMULATIONS)
        near = alike(str(name), names)
        hint = f"did you mean {near[0]!r}? There" if near else "there"
        raise ModelError(
            f"{name!r} is not a formulation of kinematics; {hint} are {', '.join(map(repr, names))}"
        )
    return FORMULATIONS[name]
