"""What a door may refuse, and how often.

A refusal passes only for a reason that is known to be one: something that the door says it cannot
do, or a mechanism that cannot be put together.  Any other text is a disagreement, and so is a door
that refuses, or a door whose states are unclear, more often than it did when this was written.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

#: Reasons by name: beginnings of the doors that may give them, and a pattern of the text.
REASONS: dict[str, tuple[tuple[str, ...], str]] = {
    "closes a loop by a law of turns": (
        ("robot",),
        r"closes a loop with a law over any number of turns",
    ),
    "body that no joint reaches": (("robot",), r"no joint reaches \S+; give it a planar joint"),
    "turns before it moves on": (("robot",), r"turns and then moves on by the same coordinate"),
    "prescribed motion": (
        ("robot, looped",),
        r"prescribes a motion, and looped dynamics has none",
    ),
    "force that depends on time": (
        ("robot, looped",),
        r"a force depends on t, and looped dynamics on coordinates and velocities only",
    ),
    "force between bodies": (
        ("robot, looped",),
        r"as forces between bodies do, and looped dynamics has forces of joints",
    ),
    "coupled joints": (
        ("robot, looped",),
        r"follows another coordinate; the recursion of articulated bodies",
    ),
    "nothing left to move": (("groups",), r"has no freedom that is not driven"),
    "coordinate of no group": (
        ("groups",),
        r"the coordinate \S+ is not known to any group|groups do not give the coordinate \S+,",
    ),
    "rotor that closes a loop": (("robot",), r"closes a loop and has a rotor"),
    "driver without effect": (("",), r"has no coordinate in it, only t, and holds no motion"),
    "driver that contradicts": (("",), r"can never be fulfilled: its equation"),
    "cannot be assembled": (("",), r"^AssemblyError: .*(cannot be assembled|all loops close)"),
}

#: Share of the mechanisms at a door that it may refuse, by the beginning of its name.  Measured on
#: 54 mechanisms: robots 9 %, looped robots 50 %, groups 14 %, all others 2 %.
REFUSED = {"robot, looped": 0.7, "robot": 0.12, "groups": 0.2, "": 0.03}
#: Share of the states at a door that may be unclear: next to singular positions or half turns.
UNCLEAR = 0.03


def reason(door: str, text: str) -> str | None:
    """The name of a reason that a door may give, if this is one."""
    for name, (doors, pattern) in REASONS.items():
        if door.startswith(doors) and re.search(pattern, text, re.DOTALL):
            return name
    return None


def most(share: float, visits: int) -> int:
    """How many of so many visits a share may come to: two standard deviations more."""
    expected = share * visits
    return math.floor(expected + 2 * math.sqrt(expected) + 1)


def excessive(
    visits: Mapping[str, int], refused: Mapping[str, int], states: Counter[tuple[str, str]]
) -> Iterable[str]:
    """Doors that pass too much without an answer, each as a sentence."""
    for door, count in sorted(visits.items()):
        share = next(REFUSED[start] for start in REFUSED if door.startswith(start))
        often = refused.get(door, 0)
        if often > most(share, count):
            yield f"{door} refused {often} of {count} mechanisms: more than {share:.0%}"
        unclear = states[door, "unclear"]
        judged = unclear + states[door, "agrees"] + states[door, "disagrees"]
        if unclear > most(UNCLEAR, judged):
            yield f"{door} left {unclear} of {judged} states unclear: more than {UNCLEAR:.0%}"
