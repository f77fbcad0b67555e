"""Which of its dynamics a robot runs link after link, and which written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biela.code.looped import ProgramFunction
from biela.equations.spatial import LoopedDynamics, NotLoopedError, SpatialTree
from biela.equations.spatial.looped import LinkPoses, LoopedMotion
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]
Lowering: TypeAlias = Literal["auto", "looped", "unrolled"]

#: Links up to which recursions are written out if nobody says otherwise: the running time is about
#: the same, and what is written out can be exported.
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
        self._refused = bool(tree.acting.refused)
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

    @property
    def moves(self) -> bool:
        """Whether motions are to run link after link; those that cannot are refused in words."""
        chosen = self._dynamics is not None
        return chosen and (self._refused or self.get("forward_dynamics") is not None)

    def pose(self, frame: str, q: Any) -> tuple[Floats, Floats] | None:
        """Axes and place of a frame; None where that is to be written out."""
        poses = self._poses
        return None if poses is None else poses.frame(frame, q)

    def frames(self, names: Sequence[str], q: Any) -> Floats:
        """Places and axes of frames, (states, frames, 12), of a robot that is looped."""
        assert self._poses is not None, "asked for of looped robots only"
        return self._poses.frames(names, q)

    @cached_property
    def motion(self) -> LoopedMotion:
        """The equations of motion for integrators, of a robot that is looped."""
        assert self._dynamics is not None, "asked for of looped robots only"
        return self._dynamics.motion()

    def energy(self, q: Any, v: Any) -> tuple[Floats, Floats] | None:
        """Kinetic energy ½ vᵀ (M v) and potential energy; None where they are to be written out."""
        product, poses = self.get("mass_product"), self._poses
        if product is None or poses is None:
            return None
        given, speeds = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        many = max(given.ndim, speeds.ndim) > 1
        Mv = np.asarray(product.map(given, speeds) if many else product(given, speeds))
        return np.asarray((speeds * Mv).sum(-1) / 2), poses.potential_energy(given)

    @cached_property
    def _poses(self) -> LinkPoses | None:
        return None if self._dynamics is None else self._dynamics.poses()

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
