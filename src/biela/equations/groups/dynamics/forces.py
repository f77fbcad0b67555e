"""Kernels of forces: what each does along the independent coordinates.

All bodies that a force touches are known: its kernel reads points, directions and joint
coordinates with their rates and columns.  A force F and a moment T on a marker, and a force f along
a speed r', bring

    Q_j = F · v_j + T · ω_j + f r_j

with the columns v_j, ω_j of that marker and r_j of that speed.  A rotor of inertia J along a speed
s brings, with the rate b of s at z'' = 0,

    M_jk = J s_j s_k,      Q_j = -J s_j b.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom, substitute
from biela.code import Function
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Cast, CastElement, Owner, Poses
from biela.equations.groups.casts import Rotor
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.symbols import Column, Known
from biela.errors import ModelError
from biela.model.bodies import GROUND
from biela.model.forces import Force
from biela.model.markers import Marker
from biela.model.quantities.values import Value
from biela.space import Vector

__all__ = ["ForceDerivation", "ForceKernel"]


@dataclass(frozen=True, eq=False)
class ForceKernel:
    """The kernel of a force: outputs Q, and M of a rotor; inputs h, dh, ddh, sh and p."""

    function: Function
    known: tuple[Known, ...]
    columns: tuple[Column, ...]

    @property
    def parameters(self) -> Floats:
        """The rows of parameters."""
        return np.stack([column.values for column in self.columns], axis=1)


class ForceDerivation(GroupDerivation):
    """What a force does.

    A coordinate of a joint that has no equations, such as a planar joint of a planar model, is in
    no group; it is read from the bodies of the joint.

    Args:
        cast: The force in all instances.
        poses: Where bodies are at the start.
        loose: Names of joints that are in no group.
        inputs: Values of inputs, by name, which may change later; without it they stay at those of
            the model.

    Raises:
        ModelError: It depends on reactions, or on an angle whose turns nothing counts.
    """

    def __init__(
        self,
        cast: Cast,
        poses: Poses | None = None,
        loose: Collection[str] = (),
        inputs: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(cast, poses)
        self._loose, self._inputs = loose, inputs
        #: The columns of inputs, and what these are called in each instance.
        self.inputs: list[tuple[Atom, Sequence[str]]] = []
        #: Forces and what they act along, linear in rates.
        self._pushes: list[tuple[Atom, Atom]] = []
        #: Inertia along a speed.
        self._rotor: tuple[Atom, Atom] | None = None
        force = cast.elements[0].element
        if isinstance(force, Rotor):
            with self.element(0):
                speed = self.speed(force.coordinate)
                self._rotor = self.number(force.inertia, "any"), speed
            return
        assert isinstance(force, Force)
        if force.needs_reactions:
            raise ModelError(
                f"force {cast.elements[0].label} depends on the reactions of "
                f"{', '.join(force.needs_reactions)}, which dynamics by groups does not know; "
                f"use simulate(model)"
            )
        with self.element(0):
            force.act(self)

    @property
    def is_rotor(self) -> bool:
        """Whether it is inertia along a speed."""
        return self._rotor is not None

    def coordinate(self, name: str) -> Atom:
        """The coordinate of a joint, over any number of turns.

        Raises:
            ModelError: It is an angle, of a joint that is in no group.
        """
        found, joint, coordinate = self.named(name)
        if not isinstance(found, CastElement) or found.label not in self._loose:
            return super().coordinate(name)
        reading = coordinate.reading
        if reading is None or reading.turns:
            raise ModelError(
                f"force {self.cast.elements[0].label} depends on {found.label}.{coordinate.name}, "
                f"and the {joint.kind} joint {found.label} has no equations here: dynamics by "
                f"groups does not count the turns of its angle; use simulate(model)"
            )
        return reading.value(self.pair_of(found))

    def speed(self, name: str) -> Atom:
        """The time derivative of a coordinate of a joint."""
        found, _, coordinate = self.named(name)
        loose = isinstance(found, CastElement) and found.label in self._loose
        if isinstance(found, CastElement) and loose and coordinate.reading is not None:
            return coordinate.reading.rate(self.pair_of(found))
        return super().speed(name)

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """A force through the point of a marker, and a moment, act on its body."""
        number = int(marker.name[1:])
        owner = self.cast.elements[0].markers[number].slot
        if marker.body == GROUND or owner == Owner.GROUND:
            return
        place, root = self.place(marker), self.system.base
        pairs = ((force, place.velocity), (moment, place.angular_velocity))
        for what, along in pairs:
            components = zip(what.components(root), along.components(root), strict=True)
            self._pushes += [(f, v) for f, v in components if f.ref and v.ref]

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a speed."""
        self._pushes.append((self.workspace.atom(force), rate))

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """An input: a parameter of its own, where inputs are given."""
        if self._inputs is None:
            return super().input(name, unit, value, dimension)
        names = self.cast.elements[0].names
        (symbol,) = self.system.parameters([self.fresh(f"u{len(self.inputs)}")])
        # a column whatever it is now: zero is no constant
        self.columns.append(Column(symbol, np.array([self._inputs[n] for n in names])))
        self.inputs.append((symbol, names))
        return symbol

    def kernel(self, name: str, width: int) -> ForceKernel:
        """Its kernel with ``width`` independent coordinates."""
        ws = self.workspace
        sh = [
            {k.symbol.velocity: ws.parameter(f"s{j}{k.symbol.name}") for k in self.known}
            for j in range(width)
        ]
        Q = [ws.atom(0.0)] * width
        for force, along in self._pushes:
            for j in range(width):
                Q[j] = Q[j] + force * substitute(along, sh[j])
        outputs = {"Q": Q}
        if self._rotor is not None:
            J, speed = self._rotor
            accelerating: dict[Atom, Atom | float] = {
                k.symbol.velocity: k.symbol.acceleration for k in self.known
            }
            bias = substitute(speed, accelerating) + self.space.bias_rate(speed)
            columns = [substitute(speed, values) for values in sh]
            outputs["Q"] = [-(J * bias * column) for column in columns]
            outputs["M"] = [J * columns[j] * columns[k] for j in range(width) for k in range(j + 1)]
        live = set(ws.table.live([x.ref for part in outputs.values() for x in part]))
        known = tuple(
            k
            for k in self.known
            if live & {k.symbol.ref, k.symbol.velocity.ref, k.symbol.acceleration.ref}
            or any(s[k.symbol.velocity].ref in live for s in sh)
        )
        numbers = tuple(c for c in self.columns if c.symbol.ref in live)
        inputs: dict[str, list[Atom]] = {}
        if known:
            inputs["h"] = [k.symbol for k in known]
            inputs["dh"] = [k.symbol.velocity for k in known]
            if self._rotor is not None:
                inputs["ddh"] = [k.symbol.acceleration for k in known]
            inputs["sh"] = [s[k.symbol.velocity] for k in known for s in sh]
        if numbers:
            inputs["p"] = [c.symbol for c in numbers]
        return ForceKernel(Function(name, inputs, outputs), known, numbers)
