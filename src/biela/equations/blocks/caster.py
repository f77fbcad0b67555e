"""From elements of a model to their canonical form, for all instances of a population."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biela.equations.blocks.casting import Casting, JointUse, Prescribed
from biela.equations.blocks.populations import (
    NO_BODY,
    Floats,
    Frames,
    Integers,
    NotVectorisedError,
    Population,
)
from biela.equations.blocks.world import World
from biela.errors import BielaError, ModelError
from biela.model.bodies import GROUND
from biela.model.element import SPECIAL, Element
from biela.model.joints import Coordinate, Coupling, Joint
from biela.model.joints.joint import BY_COORDINATE
from biela.model.laws.law import Constant, Law
from biela.model.markers import Marker
from biela.model.parts.renaming import renamed_text
from biela.model.quantities.units import parameters_of

#: What canonical elements are called.
NAME = "element"
#: Marker fields that mean the ground of the part if they are left out.
_GROUND_IF_NONE = ("i", "along")
#: What follows a coordinate in an expression to mean its rate.
_RATE = ".rate"


@dataclass(frozen=True, eq=False)
class Rotors:
    """Inertia along a coordinate of a joint, (n,), in some instances of a population."""

    use: JointUse
    coordinate: str
    inertia: Floats


class Caster:
    """Makes castings of elements."""

    def __init__(self, world: World) -> None:
        self.world = world

    def joint_named(self, population: Population, name: str) -> tuple[Population, int, Joint, str]:
        """Population, instance, joint and coordinate of "joint.coordinate"; -1 for all instances.

        Raises:
            ModelError: There is no such joint or coordinate.
        """
        owner, instance, rest = population, -1, name
        if population is self.world.host and name not in population.prototype.joints:
            owner, instance, rest = self.world.located(name)
            if owner is self.world.host:
                instance = -1
        joints = owner.prototype.joints
        whole, _, part = (rest, "", "") if rest in joints else rest.rpartition(".")
        joint = joints.get(whole)
        if not isinstance(joint, Joint):
            if any(self.world.parts[p.name] is owner for p in self.world.model.parts.values()):
                raise NotVectorisedError(f"{name} may belong to a joint between instances")
            known = ", ".join(n for n, j in joints.items() if isinstance(j, Joint))
            raise ModelError(
                f"{self.world.model.name}: there is no joint coordinate {name!r}; joints are "
                f"{known}"
            )
        return owner, instance, joint, part

    def coordinate_named(
        self, population: Population, name: str
    ) -> tuple[Population, int, Joint, Coordinate]:
        """Population, instance, joint and coordinate of a name, which is that of a number.

        Raises:
            ModelError: There is no such joint or coordinate, or it is a rotation.
        """
        owner, instance, joint, part = self.joint_named(population, name)
        for coordinate in joint.coordinates:
            if coordinate.name == part and coordinate.manifold != "rotation":
                return owner, instance, joint, coordinate
        return owner, instance, joint, _only(joint, name, part)

    def rotors(self) -> list[Rotors]:
        """The rotors of the model and its parts; of two for one coordinate that of the model holds.

        Raises:
            ModelError: A rotor has no such coordinate, or its inertia is negative.
        """
        found: dict[tuple[int, str, str], tuple[Population, Joint, Floats]] = {}
        model = self.world.model.name
        host = self.world.host
        parts = [population for population in self.world.populations if population is not host]
        for population in (*parts, host):
            for name, inertia in population.prototype.rotors.items():
                try:
                    owner, instance, joint, coordinate = self.coordinate_named(population, name)
                    J = population.value(inertia, "any")
                    if np.any(np.asarray(J) < 0):
                        raise ModelError(f"its inertia is zero or more, not {inertia!r}")
                except NotVectorisedError:
                    raise
                except BielaError as error:
                    said = str(error).removeprefix(f"{model}: ")
                    raise ModelError(f"{model}: rotor of {name}: {said}") from error
                key = id(owner), joint.name, coordinate.name
                *_, rows = found.setdefault(key, (owner, joint, np.zeros(owner.count)))
                rows[slice(None) if instance < 0 else instance] = J
        return [
            Rotors(JointUse(owner, joint, index), coordinate, rows[index])
            for (*_, coordinate), (owner, joint, rows) in found.items()
            if len(index := np.flatnonzero(rows))
        ]

    def cast(
        self,
        population: Population,
        element: Element,
        index: Integers | None = None,
        ends: Mapping[str, Frames] | None = None,
        *,
        literal: bool = False,
    ) -> list[Casting]:
        """The castings of an element, one for each way in which its markers share bodies.

        ``ends`` gives its markers where they are not those of the population.  With ``literal``
        its numbers and its name stay what they are.
        """
        index = np.arange(population.count) if index is None else index
        draft = _Draft(self, population, index, ends or {}, literal)
        made = draft.element(element)
        codes = _codes([frames.body for frames in draft.frames], len(index))
        found = []
        alike = len(codes) and (codes == codes[0]).all()
        for code in codes[:1] if alike else np.unique(codes, axis=0):
            rows = np.flatnonzero((codes == code).all(axis=1))
            found.append(draft.casting(made, element, tuple(int(c) for c in code), rows))
        return found


def _codes(bodies: Sequence[Integers], count: int) -> Integers:
    """For each instance the slots of the markers, (n, markers)."""
    codes = np.full((count, len(bodies)), NO_BODY, dtype=np.int64)
    used = np.zeros(count, dtype=np.int64)
    for j, body in enumerate(bodies):
        fresh = body != NO_BODY
        for i in range(j):
            same = fresh & (bodies[i] == body)
            codes[same, j] = codes[same, i]
            fresh &= ~same
        codes[fresh, j] = used[fresh]
        used += fresh
    return codes


class _Draft:
    """An element with its markers numbered; their bodies come later."""

    def __init__(
        self,
        caster: Caster,
        population: Population,
        index: Integers,
        ends: Mapping[str, Frames],
        literal: bool,
    ) -> None:
        self.caster, self.population, self.index = caster, population, index
        self.ends, self.literal = ends, literal
        self.frames: list[Frames] = []
        self.numbers: list[Floats] = []
        self.laws: list[Law] = []
        self.uses: list[JointUse] = []
        self.joints: dict[str, tuple[Joint, dict[str, Any]]] = {}

    def element(self, element: Element) -> dict[str, Any]:
        """What changes in an element; markers are their numbers."""
        changes = self._settings(element, self.population, self.index, self.ends)
        changes["name"] = element.name if self.literal else NAME
        described = element.settings()
        names: dict[str, str] = {}
        for name, dimension in _references(element, described):
            plain = name.removesuffix(_RATE) if dimension == "expression" else name
            canonical = self._coordinate(plain, dimension == "joint")
            names[name] = canonical + name[len(plain) :]
        for name, described_field in described.items():
            value = getattr(element, name)
            if described_field.metadata["dimension"] in ("coordinate", "joint") and value:
                changes[name] = names[value]
            elif (element.category, element.kind, name) == ("sensor", "expression", "text"):
                changes[name] = renamed_text(value, names)
        return changes

    def _settings(
        self,
        element: Element,
        population: Population,
        index: Integers,
        ends: Mapping[str, Frames],
    ) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        host = self.caster.world.host
        for name, described in element.settings().items():
            value, dimension = getattr(element, name), described.metadata["dimension"]
            if dimension == "marker":
                if value is None and name in _GROUND_IF_NONE and population is not host:
                    value = Marker(GROUND, "")
                if value is not None:
                    frames = ends.get(name) or self.caster.world.frames(population, value).at(index)
                    changes[name] = len(self.frames)
                    self.frames.append(frames)
            elif dimension == "law" and value is not None and not isinstance(value, Constant):
                changes[name] = Prescribed(len(self.laws))
                self.laws.append(value)
            elif dimension not in SPECIAL and isinstance(value, str | int | float):
                changes[name] = self._number(value, dimension, described.default, population, index)
        if isinstance(element, Joint):
            changes |= {what: {} for what in BY_COORDINATE}
        return changes

    def _number(
        self, value: Any, dimension: str, default: Any, population: Population, index: Integers
    ) -> Any:
        """A number in the canonical form: itself if it may change the equations, else "#k"."""
        found = population.value(value, dimension)
        if isinstance(found, np.ndarray):
            row = found[index]
            if self.literal and (row == row[0]).all():
                return float(row[0])
        elif self.literal or found == 0.0 or found == default:
            return found
        else:
            row = np.full(len(index), found)
        self.numbers.append(row)
        return f"#{len(self.numbers) - 1}"

    def _coordinate(self, name: str, joint_alone: bool) -> str:
        """The canonical name of a coordinate, whose joint is cast too."""
        population, instance, joint, part = self.caster.joint_named(self.population, name)
        index = self.index if instance < 0 else np.full(len(self.index), instance)
        for k, use in enumerate(self.uses):
            if use.population is population and use.joint is joint:
                return f"j{k}" if joint_alone else f"j{k}.{part or _only(joint, name).name}"
        canonical = f"j{len(self.uses)}"
        self.uses.append(JointUse(population, joint, index))
        changes = self._settings(joint, population, index, {})
        self.joints[canonical] = joint, changes | {"name": canonical}
        return canonical if joint_alone else f"{canonical}.{part or _only(joint, name).name}"

    def casting(
        self, changes: dict[str, Any], element: Element, slots: tuple[int, ...], rows: Integers
    ) -> Casting:
        """With the bodies of its markers, for some of the instances."""
        joints = {
            name: _made(joint, altered, slots) for name, (joint, altered) in self.joints.items()
        }
        whole = Casting(
            _made(element, changes, slots),
            element,
            self.population,
            self.index,
            joints,
            self.uses,
            self.frames,
            slots,
            self.numbers,
            self.laws,
        )
        return whole if len(rows) == len(self.index) else whole.at(rows)


def _made(element: Any, changes: Mapping[str, Any], slots: Sequence[int]) -> Any:
    markers = element.markers()
    final = {
        name: _marker(value, slots) if name in markers else value for name, value in changes.items()
    }
    return dataclasses.replace(element, **final)


def _marker(number: int, slots: Sequence[int]) -> Marker:
    slot = slots[number]
    return Marker(GROUND if slot == NO_BODY else f"b{slot}", f"m{number}")


def _only(joint: Joint, name: str, part: str = "") -> Coordinate:
    found = [c for c in joint.coordinates if c.manifold != "rotation"]
    if part or len(found) != 1 or len(joint.coordinates) != 1:
        known = ", ".join(f"{joint.name}.{c.name}" for c in found)
        raise ModelError(
            f"{name!r} is not one coordinate of joint {joint.name} ({joint.kind}), which has "
            f"{known or 'none that is a number'}"
        )
    return found[0]


def _references(element: Element, described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names of coordinates and joints in an element, and which of the two each is."""
    for name, one in described.items():
        dimension, value = one.metadata["dimension"], getattr(element, name)
        if dimension in ("coordinate", "joint") and value:
            yield value, dimension
    if isinstance(element, Coupling):
        given = {getattr(element, name) for name in described}
        yield from ((name, "coordinate") for name in element.couples if name not in given)
    if (element.category, element.kind) == ("sensor", "expression"):
        text = getattr(element, "text", "")
        for name in parameters_of(text):
            if "." in name:
                yield name, "expression"
