"""Two bodies in a chain between known ones: which joint is where, whatever the names and order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from biela.equations.groups.cast import Cast
from biela.model.joints import Joint

__all__ = ["Dyad", "Key", "dyad_of"]

#: A marker: the number of its element, and its number there.
Key: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Dyad:
    """A chain known - first - second - known.

    Attributes:
        letters: Kinds of its three joints, such as "RRP".
        first: The first body.
        second: The second.
        a_known: Marker of the first joint on the known body; the others likewise.
    """

    letters: str
    first: int
    second: int
    a_known: Key
    a_first: Key
    b_first: Key
    b_second: Key
    c_second: Key
    c_known: Key

    def reversed(self) -> Dyad:
        """The same chain from its other end."""
        return Dyad(
            self.letters[::-1],
            self.second,
            self.first,
            self.c_known,
            self.c_second,
            self.b_second,
            self.b_first,
            self.a_first,
            self.a_known,
        )


def dyad_of(cast: Cast, letters: Mapping[str, str]) -> Dyad | None:
    """A group of two bodies and three joints as a chain, if it is one.

    ``letters`` are the kinds of joints that count, and what they are called.
    """
    joints = [(k, e) for k, e in enumerate(cast.elements) if isinstance(e.element, Joint)]
    if cast.size != 2 or len(joints) != 3 or len(cast.elements) != 3:
        return None
    if any(element.joint.kind not in letters for _, element in joints):
        return None
    inner = [k for k, e in joints if min(e.slots) >= 0]
    outer: dict[int, tuple[Key, Key]] = {}
    for k, element in joints:
        for marker in (0, 1):
            slot = element.slots[marker]
            if slot >= 0 and element.slots[1 - marker] < 0:
                outer[slot] = (k, 1 - marker), (k, marker)
    if len(inner) != 1 or set(outer) != {0, 1}:
        return None
    b = inner[0]
    of = {cast.elements[b].slots[marker]: (b, marker) for marker in (0, 1)}
    if set(of) != {0, 1}:
        return None
    (a_known, a_first), (c_known, c_second) = outer[0], outer[1]
    name = "".join(letters[cast.elements[k].joint.kind] for k in (a_first[0], b, c_second[0]))
    return Dyad(name, 0, 1, a_known, a_first, of[0], of[1], c_second, c_known)
