"""The quantities of a motion by their owners, so that one of a thousand is found in two choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.results import Results
from biela.results.frames import FRAME_GROUPS
from biela.studio.pieces import between

__all__ = ["Curve", "Recorded", "curve", "frames_of", "menu", "usual"]

Floats = npt.NDArray[np.float64]

TIME = "time"
_OUTPUTS, _MONITORS = "sensors", "whole mechanism"
#: Beside the largest value of a quantity this is nothing.
_ROUNDING = 1e-12
#: Markers that do not move.
_GROUND = "ground."


@dataclass(frozen=True, eq=False)
class Curve:
    """One quantity over another.

    Attributes:
        name: Of the quantity.
        unit: Its unit, "" for a number.
        values: At every instant (k,).
    """

    name: str
    unit: str
    values: Floats

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def told(self, place: float) -> str:
        """The value at a place among the instants; what is rounding of the others is zero."""
        value = float(between(self.values, place))
        largest = float(np.nanmax(np.abs(self.values), initial=0.0))
        return "0" if abs(value) <= _ROUNDING * max(largest, _ROUNDING) else f"{value:.5g}"


def menu(motion: Results) -> Mapping[str, Mapping[str, str]]:
    """All channels: owner → quantity → name of the channel.

    Sensors come first, then joints and bodies, then what judges the whole mechanism.
    """
    owners: dict[str, dict[str, str]] = {_OUTPUTS: {}}
    for group, channels in motion.groups.items():
        for name in channels.names:
            key = name if name in motion else f"{group}.{name}"
            owner, dot, quantity = name.rpartition(".")
            if group == "y":
                owners[_OUTPUTS][name] = key
            elif group == "lam":
                owners.setdefault("multipliers", {})[name] = key
            elif dot and not owner.startswith(_GROUND):
                if group == "a":  # "dA.angle_rate" is of the joint A
                    owner, quantity = owner.removeprefix("d"), _acceleration(quantity)
                owners.setdefault(owner, {}).setdefault(quantity, key)
            elif not dot:
                owners.setdefault(group, {})[name] = key
    if motion.monitors:
        owners[_MONITORS] = {name: name for name in motion.monitors}
    return {owner: found for owner, found in owners.items() if found}


def _acceleration(rate: str) -> str:
    return f"{rate.removesuffix('_rate')}_acceleration"


def usual(motion: Results, wanted: object = ()) -> list[str]:
    """What is plotted first: what the model asks for, or else its sensors, or its coordinates."""
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list | tuple):
        names = []
    found = [name for name in names if isinstance(name, str) and name in motion]
    outputs = motion.groups["y"].names if "y" in motion.groups else ()
    for group in (outputs, motion.groups["q"].names if "q" in motion.groups else ()):
        if not found:
            known = [n for n in group if n in motion and np.isfinite(motion[n]).any()]
            found = [n for n in known if motion.unit(n) == motion.unit(known[0])][:2]
    return found[:3]


def curve(motion: Results, name: str) -> Curve:
    """A channel, or the time.

    Raises:
        UnknownNameError: There is no such channel.
    """
    if name == TIME:
        return Curve(TIME, "s", np.array(motion.t))
    return Curve(name, motion.unit(name), np.array(motion[name]))


class Recorded:
    """What a motion holds, to be plotted.

    Args:
        motion: How it moved.
    """

    def __init__(self, motion: Results) -> None:
        self.motion = motion

    @cached_property
    def menu(self) -> Mapping[str, Mapping[str, str]]:
        """Owner → quantity → name of the channel."""
        return menu(self.motion)

    def __contains__(self, name: str) -> bool:
        return name == TIME or name in self.motion

    def known(self, name: str) -> bool:
        """Whether there is a curve of it without any computation."""
        return True

    def find(self, name: str) -> None:
        """Compute a quantity that is not known yet.

        Raises:
            BielaError: It cannot be found.
        """

    def curve(self, name: str) -> Curve:
        """A quantity over the motion.

        Raises:
            BielaError: There is none of this name, or it cannot be found.
        """
        return curve(self.motion, name)


def frames_of(motion: Results) -> list[str]:
    """Bodies and markers that move, whose way can be shown."""
    if "poses" not in motion.groups:
        return []
    each = len(FRAME_GROUPS["poses"])
    names = [name.rpartition(".")[0] for name in motion.groups["poses"].names[::each]]
    return [name for name in names if not name.startswith(_GROUND)]
