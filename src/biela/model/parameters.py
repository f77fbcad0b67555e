"""The parameters of a model: named numbers in SI units, some of them computed from others.

A parameter given as arithmetic of others, such as b = "a*sin(beta)/sin(alpha)", is not a number of
its own: it follows them wherever their values change, and equations have its expression in its
place.  One that is given another value by itself is a number from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from biela.atoms import Atom
from biela.errors import BielaError, ModelError
from biela.model.quantities.dimensions import Dimension, described, si_unit
from biela.model.quantities.units import dimension_in, evaluate, expression, parameters_of
from biela.model.quantities.values import Value
from biela.spelling import alike

__all__ = ["Parameters"]

_Numbers: TypeAlias = Mapping[str, float] | Iterable[tuple[str, float]]


class Parameters(dict[str, float]):
    """Values by name, with the texts and units they were given in.

    >>> p = Parameters()
    >>> p.define("a", "200 mm")
    >>> p.define("b", "2*a")
    >>> p["a"] = 0.5
    >>> p["b"], p.units["b"], p.given
    (1.0, 'm', {'a': 0.5})

    Attributes:
        texts: The arithmetic of those that are computed from others, by name.
        dimensions: Those of the parameters whose values were given with a unit.
    """

    def __init__(
        self,
        values: _Numbers = (),
        texts: Mapping[str, str] | None = None,
        dimensions: Mapping[str, Dimension] | None = None,
    ) -> None:
        super().__init__(values)
        self.texts: dict[str, str] = dict(texts or {})
        self.dimensions: dict[str, Dimension] = dict(dimensions or {})

    def define(self, name: str, value: Value) -> None:
        """Add one: a number, or a text with units and the parameters that are there already.

        Raises:
            ParseError: The text cannot be read, or has an unknown name.
            ModelError: It is not a finite number.
        """
        number = self.value(value)
        dimension = dimension_in(value, self, self.dimensions)
        super().__setitem__(name, number)
        if isinstance(value, str) and parameters_of(value):
            self.texts[name] = value
        if dimension is not None:
            self.dimensions[name] = dimension

    def value(self, value: Value, dimension: str = "any") -> float:
        """A value as a number in SI units, with the parameters as they are.

        Raises:
            ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
            ModelError: It has another dimension, or is not a finite number.
        """
        return evaluate(value, self, dimension, self.dimensions)

    @property
    def units(self) -> dict[str, str]:
        """The SI units of those whose values were given with one."""
        return {name: si_unit(dimension) for name, dimension in self.dimensions.items()}

    def __setitem__(self, name: str, value: float) -> None:
        """Give one a number; those that are computed from it follow."""
        super().__setitem__(name, float(value))
        self.texts.pop(name, None)
        self._follow()

    def _follow(self) -> None:
        for name, text in self.texts.items():  # each after those it needs
            super().__setitem__(name, evaluate(text, self))

    def copy(self) -> Parameters:
        """The same parameters, to be changed apart from these."""
        return Parameters(self, self.texts, self.dimensions)

    def __reduce__(self) -> tuple[object, ...]:
        """How it is copied and pickled: whole, as values alone would lose their texts."""
        return Parameters, (dict(self), self.texts, self.dimensions)

    @property
    def given(self) -> dict[str, float]:
        """Those that are numbers of their own, in their order: what equations are functions of."""
        return {name: value for name, value in self.items() if name not in self.texts}

    def changed(self, values: Mapping[str, Value], who: str = "the model") -> Parameters:
        """A copy with other values: numbers in SI units, or texts with the unit of the parameter.

        Args:
            values: By name.
            who: The model, for messages.

        Raises:
            ModelError: There is no such parameter, a text cannot be read, or its unit is another.
        """
        found = self.copy()
        for name, value in values.items():
            if name not in self:
                near = alike(name, self)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                known = ", ".join(self) or "none"
                raise ModelError(f"{who} has no parameter {name}; it has {known}{hint}")
            dict.__setitem__(found, name, self.number(name, value, who))
            found.texts.pop(name, None)
            dimension = dimension_in(value)
            if dimension is not None:
                found.dimensions[name] = dimension
        try:
            found._follow()
        except BielaError as error:
            shown = ", ".join(f"{n} = {v}" for n, v in values.items())
            raise ModelError(f"{who} with {shown}: {error}") from None
        return found

    def number(self, name: str, value: Value, who: str = "the model") -> float:
        """A value for a parameter as a number in SI units.

        Raises:
            ModelError: It is none, or its unit is not that of the parameter.
        """
        try:
            number, dimension = evaluate(value), dimension_in(value)
        except BielaError as error:
            raise ModelError(f"{who}: parameter {name} = {value!r}: {error}") from None
        known = self.dimensions.get(name)
        if dimension is not None and known is not None and dimension != known:
            raise ModelError(
                f"{who}: parameter {name} is {described(known)}, in {si_unit(known)}, and "
                f"{value!r} is {described(dimension)}: give {described(known)}, or a plain number "
                f"in SI units"
            )
        return number

    def expressions(self, symbols: Mapping[str, Atom | float]) -> dict[str, Atom | float]:
        """All parameters, from values or symbols of those that are `given`."""
        found: dict[str, Atom | float] = {}
        for name in self:
            text = self.texts.get(name)
            found[name] = symbols[name] if text is None else expression(text, found)
        return found
