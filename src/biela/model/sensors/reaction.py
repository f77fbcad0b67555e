"""The force and moment of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.markers import Marker
from biela.model.sensors.sensor import Sensor

_COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True, kw_only=True)
class ReactionSensor(Sensor):
    """What a joint exerts on the body of its marker j, at that marker: "<name>.fx" … "<name>.mz".

    The components are along the axes of the ground, or of a marker.
    """

    joint: str = quantity("joint", "joint whose reaction is measured")
    along: Marker | None = quantity("marker", "marker whose axes are used", default=None)
    components: str = quantity(
        "text", "those that are wanted, such as fx fz", default=" ".join(_COMPONENTS)
    )

    kind: ClassVar[str] = "reaction"

    def __post_init__(self) -> None:
        wanted = self.components.split()
        for component in wanted:
            if component not in _COMPONENTS:
                raise ModelError(
                    f"sensor {self.name}: {component!r} is not a component of a reaction; there "
                    f"are {', '.join(_COMPONENTS)}"
                )
        if not wanted or len(set(wanted)) < len(wanted):
            raise ModelError(f"sensor {self.name}: name each component that is wanted once")

    @property
    def needs_reactions(self) -> tuple[str, ...]:
        """The joint."""
        return (self.joint,)

    def read(self, derivation: Derivation) -> None:
        """Force and moment."""
        base = derivation.space.root if self.along is None else derivation.place(self.along).base
        force, moment = derivation.reaction(self.joint)
        values = (*force.components(base), *moment.components(base))
        wanted = self.components.split()
        for name, value in zip(_COMPONENTS, values, strict=True):
            if name in wanted:
                full = self.name if len(wanted) == 1 else f"{self.name}.{name}"
                derivation.measure(full, value, "N" if name[0] == "f" else "N m")
