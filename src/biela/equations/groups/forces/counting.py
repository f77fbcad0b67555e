"""Kinds whose instances all count the same turns, and the coordinates that do, as they are read.

Whether a coordinate counts turns is a matter of the model: a gear of a later group may need it.  So
instances of one kind may differ, and are taken apart here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from biela.atoms import Atom
from biela.code import Function
from biela.equations.blocks.populations import Floats, Integers
from biela.equations.groups.cast import Cast, CastElement, Spin
from biela.equations.groups.forces.derivation import MultiplierDerivation
from biela.equations.groups.symbols import Column
from biela.errors import ModelError
from biela.model.joints import Joint

__all__ = ["ReadingKernel", "alike", "reading_kernels"]


def alike(casts: Sequence[Cast], counted: Collection[str]) -> Iterator[Cast]:
    """Casts all instances of which have the same coordinates that count turns."""
    known = frozenset(counted)
    for cast in casts:
        signatures = _signatures(cast, known)
        different = np.unique(signatures, axis=0)
        for one in different:
            rows = np.flatnonzero((signatures == one).all(axis=1))
            yield cast if len(rows) == cast.count else _restricted(cast, rows)


def _signatures(cast: Cast, counted: frozenset[str]) -> Integers:
    """For each instance, whether each coordinate that it mentions counts turns."""
    found: list[list[bool]] = []
    joints = [e for e in cast.elements if isinstance(e.element, Joint)]
    joints += [j for e in cast.elements for j in e.joints if isinstance(j, CastElement)]
    for element in joints:
        for coordinate in element.joint.coordinates:
            found.append([f"{name}.{coordinate.name}" in counted for name in element.names])
    return np.array(found, dtype=np.int64).reshape(-1, cast.count).T


def _restricted(cast: Cast, rows: Integers) -> Cast:
    return replace(
        cast,
        bodies=cast.bodies[rows],
        elements=tuple(_element(e, rows) for e in cast.elements),
        groups=cast.groups[rows],
        spins=tuple(Spin(s.slot, s.first[rows], s.second[rows]) for s in cast.spins),
    )


def _element(element: CastElement, rows: Integers) -> CastElement:
    return replace(
        element,
        names=[element.names[k] for k in rows],
        markers=tuple(replace(m, frames=m.frames.at(rows)) for m in element.markers),
        numbers=tuple(values[rows] for values in element.numbers),
        law_places=_some(element.law_places, rows),
        joints=tuple(j if isinstance(j, int) else _element(j, rows) for j in element.joints),
        read=_some(element.read, rows),
    )


def _some(values: Any, rows: Integers) -> Any:
    return None if values is None else partial(_taken, values, rows)


def _taken(values: Any, rows: Integers, first: Any, second: Any) -> Any:
    return values(first, second)[rows]


@dataclass(frozen=True, eq=False)
class ReadingKernel:
    """A coordinate that counts turns, as it is read from its markers.

    Attributes:
        function: Inputs "h" and "dh", symbols of the bodies with their rates, and "p"; outputs "x"
            and "dx", the coordinate, up to whole turns, and its rate.
        columns: What p is.
        bodies: Numbers of the bodies, of each one in all instances.
        names: Of the coordinate in all instances.
        turns: Whether it is known up to whole turns only.
    """

    function: Function
    columns: tuple[Column, ...]
    bodies: list[Integers]
    names: list[str]
    turns: bool
    #: What a rotor of inertia J along it needs, -J x'': inputs "h", "dh", "ddh", "p" and "J".
    inertia: Function

    def parameters(self) -> Floats | None:
        """The rows of parameters."""
        if not self.columns:
            return None
        return np.stack([column.values for column in self.columns], axis=1)


def reading_kernels(cast: Cast, centres: Floats, counted: Collection[str]) -> list[ReadingKernel]:
    """The coordinates of the joints of a kind that count turns.

    Raises:
        ModelError: A coordinate cannot be read from the poses of bodies.
    """
    found = []
    for number, element in cast.joints():
        for coordinate in element.joint.coordinates:
            names = [f"{name}.{coordinate.name}" for name in element.names]
            if names[0] not in counted:
                continue
            if coordinate.reading is None:
                raise ModelError(
                    f"{names[0]} cannot be read from the poses of bodies, and forces by groups "
                    f"need it; use inverse_dynamics with the results of a kinematic simulation"
                )
            derivation = MultiplierDerivation(cast, centres, ())
            with derivation.element(number) as own:
                pair = derivation.pair(own.joint.i, own.joint.j)
                value = coordinate.reading.value(pair)
            rate = derivation.space.time_rate(value)
            symbols = [s for solid in derivation.solids for s in solid.symbols]
            live = set(derivation.workspace.table.live([value.ref, rate.ref]))
            columns = tuple(c for c in derivation.columns if c.symbol.ref in live)
            inputs = {"h": symbols, "dh": [s.velocity for s in symbols]}
            if columns:
                inputs["p"] = [c.symbol for c in columns]
            function = Function("reading", inputs, {"x": [value], "dx": [rate]})
            bodies = [solid.numbers for solid in derivation.solids]
            inertia = _inertia(derivation, symbols, columns, rate)
            turns = coordinate.reading.turns
            found.append(ReadingKernel(function, columns, bodies, names, turns, inertia))
    return found


def _inertia(
    derivation: MultiplierDerivation, symbols: list[Atom], columns: Sequence[Column], rate: Atom
) -> Function:
    """The force of a rotor along a coordinate with such a rate."""
    J = derivation.workspace.parameter("rotor_inertia")
    force = -(J * derivation.space.time_rate(rate))
    inputs = {
        "h": symbols,
        "dh": [s.velocity for s in symbols],
        "ddh": [s.acceleration for s in symbols],
        "p": [*(c.symbol for c in columns), J],
    }
    return Function("rotor", inputs, {"Qx": [force]})
