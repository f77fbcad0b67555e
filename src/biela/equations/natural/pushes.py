"""Forces along speeds, each written once for equations and for kernels.

spring   along s:       -k (s - s0) - c s' + f
strut    along |d|:     -k (l - l0) - c l',     l = |r_b - r_a|
pull     along x:       f
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from biela.atoms import Atom
from biela.equations.symbolic import SymbolicSystem

#: Speed, force along it, and potential, from components and numbers.
PushLaw: TypeAlias = Callable[
    [SymbolicSystem, Sequence[Atom], Sequence[Atom]], tuple[Atom, Atom, Atom]
]


@dataclass(frozen=True, eq=False)
class Push:
    """A force of a layout.

    Attributes:
        name: What it acts along.
        kind: Which law it has.
        on: The components it acts on.
        numbers: Its numbers, or expressions of the parameters of the layout.
        law: Its law; None where its numbers are expressions of more than parameters.
        made: The speed and the force, as they stand in the equations.
    """

    name: str
    kind: str
    on: tuple[Atom, ...]
    numbers: tuple[Atom, ...]
    law: PushLaw | None
    made: tuple[Atom, Atom]


def spring(
    system: SymbolicSystem, on: Sequence[Atom], p: Sequence[Atom]
) -> tuple[Atom, Atom, Atom]:
    """A spring, damper and constant force on a coordinate."""
    del system
    (s,), (k, rest, c, f) = on, p
    gap = s - rest
    return s.velocity, -k * gap - c * s.velocity + f, k * gap * gap / 2


def pull(system: SymbolicSystem, on: Sequence[Atom], p: Sequence[Atom]) -> tuple[Atom, Atom, Atom]:
    """A constant force along a component."""
    return on[0].velocity, p[0], system.workspace.atom(0)


def strut(system: SymbolicSystem, on: Sequence[Atom], p: Sequence[Atom]) -> tuple[Atom, Atom, Atom]:
    """A spring and damper between two points."""
    half = len(on) // 2
    square = system.workspace.atom(0)
    for a, b in zip(on[:half], on[half:], strict=True):
        square = square + (b - a) * (b - a)
    length = square ** system.workspace.atom(0.5)
    rate = system.space.time_rate(length)
    k, rest, c = p
    gap = length - rest
    return rate, -k * gap - c * rate, k * gap * gap / 2
