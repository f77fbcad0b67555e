"""An equation of a loop as wrenches on the links of a tree.

A row Φ(q, t) = 0 has the rate and the second derivative

    Φ' = Σ W_k · V_k + Σ c v + Φ_t,      Φ'' = Σ W_k · A_k + Σ c v' + β,

with the twists V and accelerations A of the links [angular; of the origin], each in its own
axes.  W_k is at the same time the wrench that a unit of -λ exerts on link k: M v' + Jᵀ λ = Q.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from biela.equations.spatial.motion import to_parent
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, plus


class PointAxes(Enum):
    """Along what the rows of two points that are one are written."""

    #: The axes of the marker i, at whose point the rows are the exact derivative of the gap.
    MARKER = "marker"
    #: Those of the link with fewer freedoms in the loop, for the fewest operations.
    SHORT = "short"


@dataclass(frozen=True, eq=False)
class LoopRow:
    """One equation.

    Attributes:
        owner, label: The joint or driver, and the equation of it.
        wrenches: W by link; the ground is left out.
        along: c by velocity.
        value, drift, bias: Φ, Φ_t and β.
        held: The wrench [moment; force] of a unit of -λ on the body of marker j, at and along the
            axes of that marker; none for a row of coordinates.
        support: The links whose freedoms are in it.
    """

    owner: str
    label: str
    wrenches: dict[int, list[Scalar]]
    along: dict[int, Scalar]
    value: Scalar
    drift: Scalar
    bias: Scalar
    held: list[Scalar] | None = None
    support: frozenset[int] = field(default_factory=frozenset)

    @property
    def name(self) -> str:
        """Owner and label."""
        return f"{self.owner}.{self.label}"


def jacobian(tree: SpatialTree, rows: Iterable[LoopRow]) -> list[list[Scalar]]:
    """J, a row each: the wrenches carried towards the ground meet the axes of the joints."""
    found = []
    for row in rows:
        J: list[Scalar] = [0.0] * len(tree.v)
        for k, c in row.along.items():
            J[k] = J[k] + c
        F = {k: list(W) for k, W in row.wrenches.items()}
        for k in sorted(row.support, reverse=True):
            link = tree.links[k]
            if k not in F:
                continue
            for number, column in zip(link.v, link.H, strict=True):
                J[number] = J[number] + dot(column, F[k])
            if link.parent in row.support:
                passed = to_parent(link, F[k])
                known = F.get(link.parent)
                F[link.parent] = passed if known is None else plus(known, passed)
        found.append(J)
    return found
