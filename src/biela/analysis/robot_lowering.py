"""Which of its dynamics a robot runs link after link, and which written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from biela.code.looped import ProgramFunction
from biela.equations.spatial import LoopedDynamics, NotLoopedError, SpatialTree
from biela.errors import ModelError

Lowering: TypeAlias = Literal["auto", "looped", "unrolled"]

#: Links up to which recursions are written out if nobody says otherwise: the running time is about
#: the same, and what is written out can be exported and evaluated for many states in lanes.
LINKS: Final = 150

_FUNCTIONS: Final[Mapping[str, Callable[[LoopedDynamics], ProgramFunction]]] = {
    "inverse_dynamics": LoopedDynamics.inverse_dynamics,
    "rnea": LoopedDynamics.inverse_dynamics,
    "bias_forces": LoopedDynamics.bias_forces,
    "gravity_forces": LoopedDynamics.gravity_forces,
    "mass_product": LoopedDynamics.mass_product,
    "forward_dynamics": LoopedDynamics.forward_dynamics,
    "inverse_mass_product": LoopedDynamics.inverse_mass_product,
}


class LoopedFunctions:
    """The functions of a robot that run link after link, made when first asked for.

    Args:
        tree: Its links.
        parameters: Values of parameters of the model.
        lowering: "looped", "unrolled", or "auto": looped for many links, where it can be.

    Raises:
        ModelError: There is no such lowering, or the model is no tree and is to be looped.
    """

    def __init__(
        self, tree: SpatialTree, parameters: Mapping[str, float], lowering: Lowering
    ) -> None:
        if lowering not in ("auto", "looped", "unrolled"):
            raise ModelError(f"a lowering is 'auto', 'looped' or 'unrolled', not {lowering!r}")
        self._insists = lowering == "looped"
        chosen = self._insists or (
            lowering == "auto" and len(tree.links) > LINKS and not tree.is_closed
        )
        self._dynamics = LoopedDynamics(tree, parameters) if chosen else None
        self._coupled = bool(tree.coordinates.followers)
        self._made: dict[str, ProgramFunction | None] = {}

    def get(self, name: str) -> ProgramFunction | None:
        """The function of a name; None where it is to be written out.

        Raises:
            ModelError: It cannot be looped, and was to be.
        """
        if self._dynamics is None or name not in _FUNCTIONS:
            return None
        if name not in self._made:
            self._made[name] = self._function(name, self._dynamics)
        return self._made[name]

    def _function(self, name: str, dynamics: LoopedDynamics) -> ProgramFunction | None:
        eliminates = name in ("forward_dynamics", "inverse_mass_product")
        if not self._insists and self._coupled and eliminates:
            return None
        try:
            return _FUNCTIONS[name](dynamics)
        except NotLoopedError:
            if self._insists:
                raise
            return None
