"""Degrees of freedom of a mechanism, by count and by rank, and which constraints are too many.

The count (Grübler, Chebyshev) is the number of velocities less that of the constraints.  It is
wrong as soon as constraints depend on each other; the rank of Φ_v is not.  Rows are looked at in
order, joints as they come and drives last; a row is dependent if nothing but rounding is left of it
beside those before it.  A dependent row whose equation holds is redundant, one whose equation does
not hold contradicts the others.  A rank that is smaller at one position than at others there is a
singular position, and no property of the mechanism.

Where equations have further coordinates, such as the angle of a joint that has limits in
reference-point coordinates, each comes with a row that defines it.  Such a row removes the freedom
that its coordinate has added and holds nothing: neither of them counts.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import dependent_rows
from biela.analysis.instant import Instant, motions, unit_rows
from biela.analysis.preparation import Model, Values, as_system, values, with_values
from biela.analysis.reach import drive_rows, nearest
from biela.analysis.singularity import owner
from biela.budgets import POSITIONS, within
from biela.doors import door
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]

#: What is left of a unit row beside the others, below which it depends on them.
DEPENDENT: Final = 1e-8
#: The same, below which a row is so near to depending on others that the rank is doubtful.
DOUBTFUL: Final = 1e-5
#: Residual above which an equation does not hold (m, rad).
MISSED: Final = 1e-8
#: The way, about, between the positions that are looked at (m, rad).
_WAY: Final = 0.15


@dataclass(frozen=True)
class JointCount:
    """The constraints of a joint or drive.

    Attributes:
        name: Of the joint.
        rows: How many constraints it has.
        independent: How many of them do not depend on those of the joints before it.
    """

    name: str
    rows: int
    independent: int


@dataclass(frozen=True)
class Mobility:
    """The freedoms of a mechanism.

    Attributes:
        model: Its name.
        velocities: Number of velocities, without those of coordinates that rows define.
        constraints: Names of all constraints that hold something, in the order in which they were
            looked at.
        joints: What each joint and drive removes.
        rank: Number of independent constraints, the most of all positions.
        ranks: At each position, the first is the one given.
        redundant: Constraints that depend on those before them, everywhere, and hold.
        inconsistent: Constraints that depend on those before them and do not hold.
        singular: Constraints that depend on those before them at the first position only.
        assembled: Whether the first position fulfils the constraints.
        doubtful: Constraints that count as independent, but are so near to depending on those
            before them, everywhere, that the rank is doubtful.
    """

    model: str
    velocities: int
    constraints: tuple[str, ...]
    joints: tuple[JointCount, ...]
    rank: int
    ranks: tuple[int, ...]
    redundant: tuple[str, ...]
    inconsistent: tuple[str, ...]
    singular: tuple[str, ...]
    assembled: bool
    doubtful: tuple[str, ...] = ()

    @property
    def by_count(self) -> int:
        """Degrees of freedom by Grübler's count: velocities less constraints."""
        return self.velocities - len(self.constraints)

    @property
    def by_rank(self) -> int:
        """Degrees of freedom that there are."""
        return self.velocities - self.rank

    def __str__(self) -> str:
        """Return the report as a text."""
        width = max([12, *(len(joint.name) for joint in self.joints)])
        lines = [
            f"Degrees of freedom of {self.model}",
            f"  {'velocities':<{width}} {self.velocities:5d}",
        ]
        for joint in self.joints:
            note = ""
            if joint.independent < joint.rows:
                note = f"   {joint.rows - joint.independent} dependent"
            lines.append(f"  {joint.name:<{width}} {-joint.rows:5d}{note}")
        lines += [
            f"  {'by count':<{width}} {self.by_count:5d}",
            f"  {'by rank':<{width}} {self.by_rank:5d}   rank {self.rank} of "
            f"{len(self.constraints)} constraints, {len(self.ranks)} positions",
        ]
        for what, names in (
            ("redundant", self.redundant),
            ("contradicts the others", self.inconsistent),
            ("dependent in this position only, which is singular", self.singular),
            ("nearly dependent everywhere, which leaves the rank in doubt", self.doubtful),
        ):
            lines += [f"  {name}: {what}" for name in names]
        if not self.assembled and not self.inconsistent:
            lines.append("  the position does not fulfil the constraints")
        return "\n".join(lines)


@door(ModelError)
def mobility(
    model: Model,
    q: Values = None,
    *,
    t: float = 0.0,
    positions: int = 6,
    seed: int = 0,
    parameters: Values = None,
    inputs: Values = None,
) -> Mobility:
    """The degrees of freedom of a mechanism by count and by rank, with the constraints at fault.

    Args:
        model: The mechanism; drives made with `driven` count as constraints.
        q: A position, by name or in order; it is brought onto the constraints as far as they can
            be fulfilled.
        t: Time, s.
        positions: How many positions are compared.
        seed: Of the random ones among them.
        parameters: Values other than those of the model.
        inputs: Likewise.

    Raises:
        ModelError: A name is unknown.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model, "reference")
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    guess = values(system, "coordinate", system.q, q)
    instant = Instant(system, t, u, p)
    drives = _drives(instant, guess)
    order = sorted(range(len(system.multipliers)), key=drives.__contains__)
    names = tuple(system.multipliers[k] for k in order)
    joints = [k for k in order if k not in drives and k < system.geometric]
    found = nearest(instant, guess)
    place = found.q
    if not found.reached(MISSED):  # what contradicts shows where the joints hold
        place = _fulfilled(instant, place, joints) if joints else guess

    def dependent(at: Floats, limit: float = DEPENDENT) -> list[int]:
        rows = instant.Phi_v(at)[order]
        return dependent_rows(unit_rows(rows)[0], limit) if len(rows) else []

    within(POSITIONS, positions, "mobility would compare {} positions", "use fewer")
    here = dependent(place)
    places = _positions(instant, place, joints, positions - 1, seed)
    others = [dependent(at) for at in places]
    least = min([here, *others], key=len)
    near = min([dependent(at, DOUBTFUL) for at in (place, *places)], key=len)
    contradicted = []
    if not found.reached(MISSED):
        contradicted = _contradicted(instant, place, order, least)
    own = {entry.name for entry in system.q}
    held = [k for k, name in enumerate(names) if not defines(name, own)]
    # a row that defines a coordinate has a column of its own, and depends on no other
    defined = len(names) - len(held)
    return Mobility(
        system.name,
        len(system.v) - defined,
        tuple(names[k] for k in held),
        _counts(names, held, least),
        len(held) - len(least),
        tuple(len(held) - len(rows) for rows in (here, *others)),
        tuple(names[k] for k in least if k not in contradicted),
        tuple(names[k] for k in contradicted),
        tuple(names[k] for k in here if k not in least) if len(here) > len(least) else (),
        found.reached(MISSED),
        tuple(names[k] for k in near if k not in least) if len(near) > len(least) else (),
    )


def defines(row: str, coordinates: Container[str]) -> bool:
    """Whether a row defines one of the coordinates, and holds nothing.

    >>> defines("base.angle.angle", {"base.angle"}), defines("base.x", {"base.angle"})
    (True, False)
    """
    return row.rpartition(".")[0] in coordinates


def _drives(instant: Instant, q: Floats) -> set[int]:
    """The constraints that are drives."""
    found = set(np.flatnonzero(drive_rows(instant, q)).tolist())
    names = instant.system.multipliers
    return found | {k for k, name in enumerate(names) if name.startswith("drive ")}


def _fulfilled(instant: Instant, q: Floats, rows: Sequence[int]) -> Floats:
    """The position near q that fulfils some of the constraints, or as near as it comes."""
    # damped: beside the constraints redundant rows are nearly dependent, and full steps violent
    weights = np.zeros(instant.system.geometric)
    weights[list(rows)] = 1.0
    return nearest(instant, q, weights).q


def _contradicted(
    instant: Instant, q: Floats, order: Sequence[int], dependent: Sequence[int]
) -> list[int]:
    """Which dependent rows cannot be fulfilled together with those before them.

    The others are fulfilled first; what a dependent one misses then is its contradiction.
    """
    count = instant.system.geometric
    kept = [k for i, k in enumerate(order) if i not in dependent and k < count]
    Phi = instant.Phi(_fulfilled(instant, q, kept))
    return [i for i in dependent if order[i] < count and abs(Phi[order[i]]) > MISSED]


def _positions(
    instant: Instant, q: Floats, joints: Sequence[int], count: int, seed: int
) -> list[Floats]:
    """Further positions, along the motions that the joints allow without drives."""
    random = np.random.default_rng(seed)
    found: list[Floats] = []
    place = q
    rows = [*joints, *range(instant.system.geometric, len(instant.system.multipliers))]
    for _ in range(4 * max(count, 0)):
        R = motions(instant.Phi_v(place)[rows]).R
        if len(found) == count or not R.shape[1]:
            break
        delta = R @ random.normal(size=R.shape[1])
        ahead = instant.moved(place, _WAY * delta / float(np.linalg.norm(delta)))
        at = _fulfilled(instant, ahead, joints)
        met = np.abs(instant.Phi(at)[list(joints)]).max(initial=0.0) <= MISSED
        if not (met and np.isfinite(at).all()):
            place = q
            continue
        place = at
        found.append(at)
    return found


def _counts(
    names: tuple[str, ...], held: Sequence[int], dependent: Sequence[int]
) -> tuple[JointCount, ...]:
    owners = {k: owner(names[k]) for k in held}
    return tuple(
        JointCount(
            joint,
            sum(who == joint for who in owners.values()),
            sum(who == joint and k not in dependent for k, who in owners.items()),
        )
        for joint in dict.fromkeys(owners.values())
    )
