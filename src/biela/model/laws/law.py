"""Laws of time: how a driver moves, how a force acts.

A law f(t) is a number, a formula of t and of parameters, a table of points, or one of the profiles
of `biela.model.laws.profiles`.  It becomes an atom where equations are derived.  Its values, and
those of its first and second derivative, are that same atom evaluated, so they cannot disagree
with it.

In a file a law is a number, a text, or a table with the fields of `Table` or of a profile:

    drive = "pi/4 + 60 rpm*t"
    drive = {times = [0, 1, 2], values = ["0 deg", "30 deg", "0 deg"]}
    drive = {profile = "smooth step", from = 0, to = "30 mm", start = 0, stop = "500 ms"}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from biela.atoms import Atom, Curve, Workspace, diff, evaluate
from biela.atoms.piecewise import End, Outside, PiecewisePolynomial, cubic_spline
from biela.atoms.piecewise import table as linear_table
from biela.errors import BielaError, DomainError, ModelError
from biela.model.quantities.dimensions import near
from biela.model.quantities.units import expression, parameters_of, quantity

__all__ = ["Constant", "Formula", "Law", "LawData", "Table", "law_from"]

#: What a file can hold.
LawData: TypeAlias = float | str | dict[str, Any]
Interpolation = Literal["linear", "cubic"]


@dataclass(frozen=True)
class Law(ABC):
    """A function of the time t, in seconds, and of named parameters; its value is in SI units."""

    @abstractmethod
    def expression(
        self,
        workspace: Workspace,
        parameters: Mapping[str, Atom | float] | None = None,
        dimension: str = "any",
        time: Atom | None = None,
    ) -> Atom:
        """The law as an atom.

        Args:
            workspace: Where.
            parameters: What its names stand for.
            dimension: What it must be, as far as its units tell; see `quantities.units`.
            time: The atom of the time, that of the workspace unless given.

        Raises:
            ParseError: A name is unknown, or units do not fit together.
            ModelError: It is not of the dimension.
        """

    @property
    @abstractmethod
    def parameters(self) -> frozenset[str]:
        """The names it depends on besides t."""

    @abstractmethod
    def to_data(self) -> LawData:
        """What to write to a file; `law_from` makes an equal law of it."""

    def value(self, t: ArrayLike, parameters: Mapping[str, float] | None = None) -> Any:
        """f(t), a float or, of an array, an array.

        Raises:
            ModelError: A parameter has no value.
        """
        return self._at(t, parameters, 1)[0]

    def derivatives(
        self, t: ArrayLike, parameters: Mapping[str, float] | None = None
    ) -> tuple[Any, Any, Any]:
        """f(t), f'(t) and f''(t).

        Where a law has a corner, the derivative is that of one of its sides.

        Raises:
            ModelError: A parameter has no value.
        """
        f, df, ddf = self._at(t, parameters, 3)
        return f, df, ddf

    def _at(self, t: ArrayLike, parameters: Mapping[str, float] | None, count: int) -> list[Any]:
        time, symbols, atoms = self._atoms
        given = parameters or {}
        missing = [name for name in symbols if name not in given]
        if missing:
            raise ModelError(f"the law needs a value of {', '.join(missing)}")
        times = np.asarray(t, dtype=float)
        values = {atom: float(given[name]) for name, atom in symbols.items()}
        found = evaluate(atoms[:count], {**values, time: times})
        if not times.ndim:
            return [float(v) for v in found]
        return [np.array(np.broadcast_to(v, times.shape)) for v in found]

    @cached_property
    def _atoms(self) -> tuple[Atom, dict[str, Atom], list[Atom]]:
        """The time, the parameters, and f, f', f'' in a workspace of its own."""
        workspace = Workspace("law")
        time = workspace.symbol("time_of_law")  # a parameter may be called anything else
        symbols = {
            name: workspace.parameter(f"parameter_{k}")
            for k, name in enumerate(sorted(self.parameters))
        }
        f = self.expression(workspace, symbols, time=time)
        df = diff(f, time)
        return time, symbols, [f, df, diff(df, time)]


@dataclass(frozen=True)
class Constant(Law):
    """f(t) = value."""

    number: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", quantity(self.number))

    def expression(
        self,
        workspace: Workspace,
        parameters: Mapping[str, Atom | float] | None = None,
        dimension: str = "any",
        time: Atom | None = None,
    ) -> Atom:
        """The number; see `Law.expression`."""
        return workspace.atom(self.number)

    @property
    def parameters(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def to_data(self) -> float:
        """The number."""
        return self.number


@dataclass(frozen=True)
class Formula(Law):
    """A text of t and parameters, with units where they help: "30 deg*sin(2*pi*t) + phi0"."""

    text: str

    def __post_init__(self) -> None:
        names = self.parameters  # refuses what cannot be read
        workspace = Workspace("law")
        self.expression(workspace, {n: workspace.parameter(f"p{k}") for k, n in enumerate(names)})

    def expression(
        self,
        workspace: Workspace,
        parameters: Mapping[str, Atom | float] | None = None,
        dimension: str = "any",
        time: Atom | None = None,
    ) -> Atom:
        """The text read; see `Law.expression`."""
        t = workspace.time if time is None else time
        found = expression(self.text, {**(parameters or {}), "t": t}, dimension)
        return workspace.atom(found)

    @property
    def parameters(self) -> frozenset[str]:
        """The names in the text, apart from t."""
        return parameters_of(self.text) - {"t"}

    def to_data(self) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True)
class Table(Law):
    """Points that the law goes through.

    Attributes:
        times: Ascending, in s.
        values: In SI units.
        interpolation: "cubic", the twice differentiable spline, or "linear".
        end: What holds at the ends of a spline: "not-a-knot", "natural", "clamped" with the
            ``slopes``, or "periodic".
        slopes: First and last slope of a clamped spline.
        outside: "linear", "constant" or "periodic" beyond the points; "" goes on straight for a
            spline and holds the last value for straight lines.
    """

    times: tuple[float, ...]
    values: tuple[float, ...]
    interpolation: Interpolation = "cubic"
    end: End = "not-a-knot"
    slopes: tuple[float, float] = (0.0, 0.0)
    outside: Outside | Literal[""] = ""

    def __init__(
        self,
        times: Sequence[float | str] | ArrayLike,
        values: Sequence[float | str] | ArrayLike,
        interpolation: Interpolation = "cubic",
        end: End = "not-a-knot",
        slopes: Sequence[float | str] = (0.0, 0.0),
        outside: Outside | Literal[""] = "",
    ) -> None:
        """Read and check the points; texts may have units.

        Raises:
            ModelError: They are no points of a function, or a setting is unknown.
        """
        if interpolation not in get_args(Interpolation):
            hint = near(str(interpolation), list(get_args(Interpolation)))
            raise ModelError(f"unknown interpolation {interpolation!r}{hint}: use linear or cubic")
        object.__setattr__(self, "times", _quantities("times", times, "time"))
        object.__setattr__(self, "values", _quantities("values", values, "any"))
        object.__setattr__(self, "interpolation", interpolation)
        object.__setattr__(self, "end", end)
        ends = _quantities("slopes", slopes, "any")
        if len(ends) != 2:
            raise ModelError(f"a law has a first and a last slope, not {len(ends)} of them")
        object.__setattr__(self, "slopes", ends)
        object.__setattr__(self, "outside", outside)
        try:
            self._curve("law")
        except DomainError as error:
            raise ModelError(f"the points of a law cannot be used: {error}") from None

    def _curve(self, name: str) -> PiecewisePolynomial:
        if self.interpolation == "linear":
            return linear_table(name, self.times, self.values, outside=self.outside or "constant")
        return cubic_spline(
            name,
            self.times,
            self.values,
            end=self.end,
            slopes=self.slopes,
            outside=self.outside or "linear",
        )

    def expression(
        self,
        workspace: Workspace,
        parameters: Mapping[str, Atom | float] | None = None,
        dimension: str = "any",
        time: Atom | None = None,
    ) -> Atom:
        """The curve at t; the same points give the same atom.  See `Law.expression`."""
        curves = workspace.table.piecewise
        made = self._curve(f"law_{len(curves)}")
        for known in curves:  # any name does
            if known.key[1:] == made.key[1:]:
                made = known
                break
        curve = Curve(workspace, workspace.table.add_piecewise(made))
        return curve(workspace.time if time is None else time)

    @property
    def parameters(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def to_data(self) -> dict[str, Any]:
        """The points, and what differs from the defaults."""
        data: dict[str, Any] = {"times": list(self.times), "values": list(self.values)}
        if self.interpolation != "cubic":
            data["interpolation"] = self.interpolation
        if self.end != "not-a-knot":
            data["end"] = self.end
        if self.slopes != (0.0, 0.0):
            data["slopes"] = list(self.slopes)
        if self.outside:
            data["outside"] = self.outside
        return data


def law_from(data: Any) -> Law:
    """The law given as a number, a text, a dictionary, a pair (times, values), or a law.

    >>> law_from("2*t + phi").derivatives(3.0, {"phi": 1.0})
    (7.0, 2.0, 0.0)

    Raises:
        ParseError: A text cannot be read.
        ModelError: It is none of these, or a field is missing or unknown.
    """
    if isinstance(data, Law):
        return data
    if isinstance(data, str):
        # without names it is a quantity, and stays as it was written for the check of its unit
        return Formula(data)
    if isinstance(data, int | float | np.number) and not isinstance(data, bool):
        return Constant(quantity(data))  # type: ignore[arg-type]
    if isinstance(data, Mapping):
        return _from_fields(dict(data))
    if isinstance(data, tuple) and len(data) == 2:
        return Table(*data)
    raise ModelError(
        f"{data!r} is no law: give a number, a text of t, a pair (times, values) or a table"
    )


def _from_fields(data: dict[str, Any]) -> Law:
    from biela.model.laws.profiles import Profile

    if "profile" in data:
        return Profile.from_data(data)
    known = ["times", "values", "interpolation", "end", "slopes", "outside"]
    for name in data:
        if name not in known:
            raise ModelError(f"a law has no field {name!r}{near(str(name), [*known, 'profile'])}")
    for name in ("times", "values"):
        if name not in data:
            raise ModelError(f"a law given by points needs {name}")
    return Table(**data)


def _quantities(what: str, values: Any, dimension: str) -> tuple[float, ...]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ModelError(f"the {what} of a law are a list of numbers, not {values!r}")
    found = []
    for k, value in enumerate(values):
        try:
            found.append(quantity(value, dimension))
        except BielaError as error:
            raise ModelError(f"{what}[{k}] of a law: {error}") from None
    return tuple(found)
