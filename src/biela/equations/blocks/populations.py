"""Populations: all instances of one prototype, as arrays.

A model is its own population of one; each of its parts is a population of as many instances as the
part has, with its parameters as rows and its ground fixed to a body of the host, or to the link of
the instance before.  Body b of instance k has the number ``first + k * (bodies of the prototype) +
b``; -1 is the ground.  No object is made for an instance.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt

from biela.atoms import Workspace
from biela.atoms import evaluate as evaluate_atoms
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.markers import Marker
from biela.model.orientation import Orientation
from biela.model.parts.part import Part, plain_parameters
from biela.model.quantities.dimensions import Dimension
from biela.model.quantities.units import evaluate, expression, parameters_of
from biela.model.quantities.values import Value

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
#: The number of the ground.
NO_BODY = -1


class NotVectorisedError(ModelError):
    """Something of an array has to be written out instance by instance."""


@dataclass(frozen=True, eq=False)
class Frames:
    """A frame fixed in a body for every instance.

    Attributes:
        body: (n,) the bodies, -1 for the ground.
        place: (n, 3) where it is from the frame of the body.
        axes: (n, 3, 3) how it is turned there.
    """

    body: Integers
    place: Floats
    axes: Floats

    def at(self, index: Integers) -> Frames:
        """Those of some instances."""
        return Frames(self.body[index], self.place[index], self.axes[index])

    def moved(self, place: Floats, axes: Floats) -> Frames:
        """Frames seen from these, as frames of the same bodies."""
        there = self.place + np.einsum("nij,nj->ni", self.axes, place)
        return Frames(self.body, clean(there), clean(self.axes @ axes))


def clean(x: Floats) -> Floats:
    """Without the dust of rounding on zeros and ones."""
    near = np.round(x)
    return np.where(np.abs(x - near) < 1e-15, near + 0.0, x)


@dataclass(eq=False)
class Population:
    """All instances of a prototype that has no parts itself.

    Attributes:
        prototype: The prototype.
        count: How many there are.
        first: Number of the first body.
        parameters: Its parameters: a number for all, or a row with one for each.
        prefix: What the names of instance k begin with.
        ground: The ground frame of the prototype in bodies of the whole.
    """

    prototype: Model
    count: int
    first: int
    parameters: Mapping[str, float | Floats]
    prefix: Callable[[int], str]
    ground: Frames
    _frames: dict[Marker, Frames] = field(default_factory=dict)
    _values: dict[tuple[str, str], float | Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.local = {name: k for k, name in enumerate(self.prototype.bodies)}

    def bodies(self, name: str) -> Integers:
        """The numbers of a body of the prototype."""
        return self.first + self.local[name] + len(self.local) * np.arange(self.count)

    def value(self, value: Value, dimension: str = "any") -> float | Floats:
        """A value of the prototype: a number, or a row where it differs between instances."""
        if not isinstance(value, str):
            return evaluate(value, {}, dimension)
        key = (value, dimension)
        if key not in self._values:
            self._values[key] = self._read(value, dimension)
        return self._values[key]

    def _read(self, text: str, dimension: str) -> float | Floats:
        given = {name: self.parameters[name] for name in parameters_of(text) if self._has(name)}
        known = self.prototype.parameters.dimensions
        return _with_rows(text, given, dimension, self.count, known)

    def _has(self, name: str) -> bool:
        try:
            self.parameters[name]
        except KeyError:
            return False
        return True

    def rows(self, values: Sequence[Value], dimension: str) -> Floats:
        """Several values, (count, number of values)."""
        columns = [np.broadcast_to(self.value(v, dimension), (self.count,)) for v in values]
        return np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))

    def axes(self, orientation: Orientation) -> Floats:
        """How frames are turned, (count, 3, 3)."""
        R = np.broadcast_to(np.array(orientation.axes), (self.count, 3, 3))
        for axis, angle in orientation.turns:
            R = R @ turn(axis, np.broadcast_to(self.value(angle, "angle"), (self.count,)))
        return R

    def frames(self, marker: Marker) -> Frames:
        """A marker of the prototype in the bodies of the whole."""
        if marker not in self._frames:
            place, axes = self.rows(marker.position, "length"), self.axes(marker.orientation)
            if marker.body == GROUND:
                self._frames[marker] = self.ground.moved(place, axes)
            else:
                self._frames[marker] = Frames(self.bodies(marker.body), place, clean(axes))
        return self._frames[marker]


def turn(axis: str, angle: Floats) -> Floats:
    """Rotations about "x", "y" or "z", (n, 3, 3)."""
    k = "xyz".index(axis)
    a, b = (k + 1) % 3, (k + 2) % 3
    R = np.zeros((len(angle), 3, 3))
    R[:, k, k] = 1.0
    R[:, a, a] = R[:, b, b] = np.cos(angle)
    R[:, b, a] = np.sin(angle)
    R[:, a, b] = -R[:, b, a]
    return R


class HostParameters(Mapping[str, "float | Floats"]):
    """The parameters of a host, and those of its parts by the names they have in it."""

    def __init__(self, model: Model, given: Mapping[str, float]) -> None:
        unknown = [name for name in given if name not in model.parameters]
        if unknown:
            raise ModelError(
                f"{model.name} has no parameter {', '.join(unknown)}; it has "
                f"{', '.join(model.parameters) or 'none'}"
            )
        self._own = model.parameters.changed(given, model.name)
        self._parts = list(model.parts.values())

    def __getitem__(self, name: str) -> float | Floats:
        if name in self._own:
            return self._own[name]
        for part in self._parts:
            plain = re.sub(r"\W", "_", part.name)
            found = re.fullmatch(rf"{plain}_(?:(\d+)_)?(.+)", name)
            number = int(found[1] or 0) if found else 0
            if found and number < part.size:
                values = part.parameter_values(number)
                if name in values:
                    return values[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def settings_of(part: Part, host: Population) -> dict[str, float | Floats]:
    """The parameters of a part, as rows or numbers."""
    found: dict[str, float | Floats] = {}
    computed = part.model.parameters.texts
    for name, own in plain_parameters(part.model).items():
        if name in computed and name not in part.parameters:
            known = {n: found[n] for n in parameters_of(computed[name])}
            found[name] = _with_rows(computed[name], known, "any", part.size)
            continue
        given = part.parameters.get(name, own)
        if name in part.texts:
            found[name] = np.array([float(host.value(x)) for x in part.texts[name]])
            continue
        found[name] = host.value(given) if isinstance(given, str) else given
    return found


def _with_rows(
    text: str,
    given: Mapping[str, float | Floats],
    dimension: str,
    count: int,
    dimensions: Mapping[str, Dimension] | None = None,
) -> float | Floats:
    """A text with parameters of which some are rows, one value an instance."""
    numbers = {n: v for n, v in given.items() if not isinstance(v, np.ndarray)}
    if len(numbers) == len(given):
        return evaluate(text, numbers, dimension, dimensions)
    workspace = Workspace("rows")
    rows = {n: v for n, v in given.items() if isinstance(v, np.ndarray)}
    symbols = {n: workspace.parameter(f"row{k}") for k, n in enumerate(rows)}
    atom = workspace.atom(expression(text, {**numbers, **symbols}, dimension, dimensions))
    found = evaluate_atoms([atom], {symbols[n]: v for n, v in rows.items()})[0]
    return np.array(np.broadcast_to(found, (count,)), dtype=float)


@dataclass(frozen=True, eq=False)
class InstancePrefix:
    """How names of what some instances of a population have begin."""

    population: Population
    index: Integers

    def __call__(self, k: int) -> str:
        """The beginning for the k-th of them."""
        return self.population.prefix(int(self.index[k]))


class Names(Sequence[str]):
    """Names of what instances have, written when somebody reads them."""

    def __init__(self) -> None:
        self._segments: list[tuple[int, int, Callable[[int], str], tuple[str, ...]]] = []
        self._starts: list[int] = []
        self._size = 0

    def add(self, count: int, prefix: Callable[[int], str], suffixes: Sequence[str]) -> int:
        """Names of so many instances, those of one after the other; returns the first place."""
        first = self._size
        if count and suffixes:
            self._starts.append(first)
            self._segments.append((first, count, prefix, tuple(suffixes)))
            self._size += count * len(suffixes)
        return first

    def of_instances(self) -> Iterator[tuple[int, InstancePrefix, tuple[str, ...]]]:
        """Of what instances of populations have: first place, whose, and how names end."""
        for first, _, prefix, suffixes in self._segments:
            if isinstance(prefix, InstancePrefix):
                yield first, prefix, suffixes

    def starting_with(self, text: str) -> Integers:
        """The places of what elements with such names have, in whatever instance."""
        found = [np.zeros(0, dtype=np.int64)]
        for first, count, _, suffixes in self._segments:
            for k, suffix in enumerate(suffixes):
                if suffix.startswith(text):
                    found.append(first + k + len(suffixes) * np.arange(count))
        return np.concatenate(found)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        at = place + self._size if place < 0 else place
        if not 0 <= at < self._size:
            raise IndexError(place)
        first, _, prefix, suffixes = self._segments[bisect_right(self._starts, at) - 1]
        k, part = divmod(at - first, len(suffixes))
        return prefix(k) + suffixes[part]

    def __iter__(self) -> Iterator[str]:
        for _, count, prefix, suffixes in self._segments:
            for k in range(count):
                start = prefix(k)
                yield from (start + suffix for suffix in suffixes)
