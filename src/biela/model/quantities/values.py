"""Numbers of a model: plain ones in SI units, or texts with units and named parameters.

A value such as ``0.12``, ``"120 mm"`` or ``"2*r + 5 mm"`` is kept as it was written.  It becomes a
number where geometry is looked at, and an atom where equations are derived: there the parameters
stay symbols, so that their values may change without a new derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from biela.atoms import Atom
from biela.atoms.text import shared_text
from biela.errors import ModelError

#: A number (SI) or a text with units and parameters.
Value: TypeAlias = float | str
Triple: TypeAlias = tuple[Value, Value, Value]


class SiText(str):
    """A text that biela wrote, such as the mass of a shape: arithmetic of numbers in SI units.

    What it was made of had units, which were checked; its numbers have none.  It may have steps,
    whose names no parameter can have: "s[1] = a + b; s[1]^2 + 3*s[1]".
    """

    __slots__ = ()

    @classmethod
    def of(cls, atom: Atom) -> SiText:
        """The text of an expression."""
        steps, whole = shared_text(atom, "s[{}]".format)
        return cls("; ".join([*(f"{name} = {text}" for name, text in steps), whole]))

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The names and texts of its steps; the last one, which is the value, has no name."""
        found = []
        for part in self.split("; "):
            name, _, text = part.rpartition(" = ")
            found.append((name, text))
        return found

    def changed(self, change: Callable[[str], str]) -> SiText:
        """The same with each text replaced."""
        parts = ((name, change(text)) for name, text in self.steps)
        return SiText("; ".join(f"{name} = {text}" if name else text for name, text in parts))


#: Makes an atom or a number of a value, given its dimension ("length", "angle" …).
Number: TypeAlias = Callable[[Value, str], Atom | float]


def triple(who: str, values: Sequence[Value]) -> Triple:
    """Three values.

    Raises:
        ModelError: There are not three.
    """
    if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != 3:
        raise ModelError(f"{who} must be three values, not {values!r}")
    x, y, z = (one(f"a value of {who}", v) for v in values)
    return x, y, z


def one(who: str, value: Any) -> Value:
    """A value: a text, or a number.

    Raises:
        ModelError: It is neither.
    """
    if isinstance(value, str):
        return value
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{who} must be a number or a text with a unit, not {value!r}") from None
