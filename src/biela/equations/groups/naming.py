"""What people call a group: "1R", "RRR", "2S1P", "SPU" …

A body that a driver moves is called after its joint to what is known, with a 1 before it: "1R" is
a crank, "1P" a driven slide.  Two bodies with three joints are a dyad; it is called after its
joints, outer, inner, outer, the way round that comes first in the alphabet, or as the source has it
by number if its inner joint and an outer one are balls: "2S1P" for a rod with two balls on a slide.
Anything else is so many bodies and joints, and those by number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from biela.model.topology.topology import symbol

__all__ = ["people_name"]


def people_name(
    bodies: int, joints: Sequence[tuple[str, tuple[int, ...]]], drivers: int, couplings: int
) -> str:
    """The name of a group.

    Args:
        bodies: How many there are.
        joints: Kind of each joint, and the bodies of the group that it joins, by number.
        drivers: How many drivers there are.
        couplings: How many gears and the like.

    >>> people_name(1, [("revolute", (0,))], 1, 0)
    '1R'
    >>> people_name(2, [("revolute", (0,)), ("revolute", (0, 1)), ("prismatic", (1,))], 0, 0)
    'PRR'
    """
    letters = [symbol(kind) for kind, _ in joints]
    plain = all(len(letter) == 1 for letter in letters)
    tail = f"+{drivers}" if drivers else ""
    if couplings:
        tail += f"+{couplings} coupled"
    if bodies == 1 and len(joints) == 1 and drivers <= 1 and plain:
        geared = " geared" if couplings else ""
        return f"1{letters[0]}{geared}"
    if bodies == 1 and not joints:
        return "led body"
    inner = [k for k, (_, ends) in enumerate(joints) if len(ends) == 2]
    if bodies == 2 and len(joints) == 3 and len(inner) == 1 and plain:
        first, second = (k for k in range(3) if k not in inner)
        if joints[first][1] != joints[second][1]:
            middle = letters[inner[0]]
            ends = sorted((letters[first], letters[second]))
            if middle == "S" and "S" in ends:
                ends.remove("S")
                return f"2S1{ends[0]}{tail}" if ends[0] != "S" else f"3S{tail}"
            return f"{ends[0]}{middle}{ends[1]}{tail}"
    counts = Counter(letters)
    listed = " ".join(f"{n}{letter}" for letter, n in sorted(counts.items()))
    what = f"{bodies} {'body' if bodies == 1 else 'bodies'}"
    many = f"{len(joints)} {'joint' if len(joints) == 1 else 'joints'}"
    return f"{what}, {many}" + (f" ({listed}){tail}" if listed else tail)
