"""Which engine finds a motion: unrolled code for small mechanisms, loops for large ones.

Unrolled, all equations are one piece of straight-line code: fastest at run time, but deriving and
compiling it grows faster than the number of bodies.  Looped, each kind of joint is derived once.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping
from copy import copy
from typing import Any, Final

from biela.atoms import Atom
from biela.equations import COORDINATES
from biela.errors import BielaError, ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.drivers import Rotary, Translational
from biela.model.joints import Joint
from biela.model.laws.law import law_from
from biela.model.parts.flattening import body_count
from biela.spelling import nearest

#: Bodies above which driven mechanisms are looped, if it is not said otherwise.
LARGE: Final = 60
ENGINES: Final = ("unrolled", "looped")
#: Seconds that it may take to derive and compile what is unrolled, on a core of today: above these
#: a simulation is looped, which is ready in two or three whatever the size.
PATIENCE: Final = 15.0
#: Bodies up to which a model may be unrolled because the looped engine does not know a setting.
UNROLLED_UP_TO: Final = 200
#: Seconds to derive and compile a body, by the square of the bodies that carry it: measured for
#: chains in a plane (62 bodies: 67 s), and in space (31: 21 s); ladders and combs are within a
#: factor of two.
_PLANAR, _SPATIAL = 8e-4, 2e-3


def time_to_unroll(model: Model) -> float:
    """About how long it takes to derive and compile the equations of motion of a model, s.

    The mass matrix of a tree has an entry for each pair of a body and one that carries it, and the
    forces have a term: sums of squares of depths.
    """
    count = body_count(model)
    if count > UNROLLED_UP_TO:
        return _SPATIAL * count**2
    depths = _depths(model.flattened())
    each = _SPATIAL if model.plane is None else _PLANAR
    return each * sum(depth**2 for depth in depths.values())


def _depths(model: Model) -> dict[str, int]:
    """How many bodies are on the way from the ground to each body, itself included."""
    neighbours: dict[str, list[str]] = {name: [] for name in (GROUND, *model.bodies)}
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            one, other = joint.i.body, joint.j.body
            neighbours[one].append(other)
            neighbours[other].append(one)
    found = {GROUND: 0}
    for start in neighbours:  # a body that nothing connects to the ground floats
        if start in found and start != GROUND:
            continue
        found.setdefault(start, 1)
        ahead = deque([start])
        while ahead:
            one = ahead.popleft()
            for other in neighbours[one]:
                if other not in found:
                    found[other] = found[one] + 1
                    ahead.append(other)
    return found


def chosen_engine(
    wanted: str | None, model: object, coordinates: str | None, unusual: Mapping[str, object]
) -> str:
    """The engine of a simulation, "unrolled" or "looped".

    Args:
        wanted: The one that is wanted; None takes the looped one if the other is not ready soon.
        model: What is to move.
        coordinates: Those that are wanted, of unrolled equations.
        unusual: Settings that the looped engine does not know, by name, if they are given.

    Raises:
        ModelError: One is needed or wanted for what it cannot do.
    """
    if wanted not in (None, *ENGINES):
        raise ModelError(f"engine {wanted!r} is not known; use {' or '.join(ENGINES)}")
    if coordinates not in (None, *COORDINATES):
        known = ", ".join((*COORDINATES, "groups"))
        raise ModelError(f"coordinates {coordinates!r} are not known; these are: {known}")
    given = [name for name, value in unusual.items() if value]
    if wanted == "looped":
        if not isinstance(model, Model):
            raise ModelError("the looped engine takes a Model, of bodies and joints")
        if coordinates not in (None, "reference"):
            given.append(f"coordinates={coordinates!r}")
        if given:
            raise ModelError(
                f"{model.name}: the looped engine does not know {', '.join(given)}; leave it out, "
                f'or use engine="unrolled"'
            )
        return "looped"
    if wanted == "unrolled" or not isinstance(model, Model) or coordinates is not None:
        return "unrolled"
    if time_to_unroll(model) <= PATIENCE:
        return "unrolled"
    if not given:
        return "looped"
    if (count := body_count(model)) <= UNROLLED_UP_TO:
        return "unrolled"  # slow to derive, but it can be done
    raise ModelError(
        f"{model.name} has {count:,} bodies; deriving their equations all at once takes minutes, "
        f"and the looped engine, for large mechanisms, does not know {', '.join(given)}: leave it "
        f'out, or insist with engine="unrolled"'
    )


def looped_model(
    engine: str | None, model: object, drives: Mapping[str, Any], unusual: Mapping[str, object]
) -> Model | None:
    """The model for the looped engine, with the drives as drivers; None for the unrolled one.

    Args:
        engine: The one that is wanted; None chooses by size.
        model: What is to move.
        drives: Laws of coordinates of joints.
        unusual: Settings that the looped engine does not know, by name, if they are given.

    Raises:
        ModelError: The looped engine is wanted for what it cannot do.
    """
    if engine not in (None, *ENGINES):
        raise ModelError(f"engine {engine!r} is not known; use {' or '.join(ENGINES)}")
    if engine == "unrolled":
        return None
    given = [name for name, value in unusual.items() if value]
    if engine == "looped":
        if not isinstance(model, Model):
            raise ModelError("the looped engine takes a Model, of bodies and joints")
        if given:
            raise ModelError(
                f"{model.name}: the looped engine does not know {', '.join(given)}; leave it out, "
                f'or use engine="unrolled"'
            )
        return with_drivers(model, drives)
    if not isinstance(model, Model) or given or body_count(model) <= LARGE:
        return None
    try:
        return with_drivers(model, drives)
    except BielaError:
        return None  # the other engine may know what is driven


def with_drivers(model: Model, drives: Mapping[str, Any]) -> Model:
    """The model with drives of joint coordinates as drivers.

    Raises:
        ModelError: What is driven is no coordinate of a joint, or the law is not one of time.
    """
    if not drives:
        return model
    found = copy(model)
    found.drivers = dict(model.drivers)
    for name, law in drives.items():
        if isinstance(law, Atom):
            raise ModelError(f"{model.name}: the law of {name} is an expression; give a text of t")
        kind = Rotary if _unit(model, name) == "rad" else Translational
        called = f"drive {name}"
        if called in found.drivers:
            raise ModelError(f"{model.name}: {name} is driven already")
        found.drivers[called] = kind(name=called, coordinate=name, law=law_from(law))
    return found


def _unit(model: Model, name: str) -> str:
    inner, rest = model, name
    while rest not in inner.joints and rest.rpartition(".")[0] not in inner.joints:
        part = rest.partition(".")[0].partition("[")[0]
        if part not in inner.parts:
            known = [n for n, joint in model.joints.items() if isinstance(joint, Joint)]
            raise ModelError(
                f"{model.name}: {name!r} is not a coordinate of a joint{nearest(name, known)}"
            )
        inner, rest = inner.parts[part].model, rest.partition(".")[2]
    whole = rest in inner.joints
    joint = inner.joints[rest if whole else rest.rpartition(".")[0]]
    wanted = "" if whole else rest.rpartition(".")[2]
    if isinstance(joint, Joint):
        for coordinate in joint.coordinates:
            if coordinate.name == wanted or (whole and len(joint.coordinates) == 1):
                return coordinate.unit
    known = [
        f"{owner}.{coordinate.name}"
        for owner, other in model.joints.items()
        if isinstance(other, Joint)
        for coordinate in other.coordinates
    ]
    raise ModelError(
        f"{model.name}: {name!r} is not one coordinate of a joint{nearest(name, known)}"
    )


def with_start(model: Model, q: Mapping[str, float]) -> tuple[Model, dict[str, float]]:
    """The model with joints that start where coordinates say; and the rest.

    They are called "joint.coordinate", or like the joint if it has one only; no number says how a
    spherical joint is turned.
    """
    found, rest = copy(model), {}
    found.joints = dict(model.joints)
    for name, value in q.items():
        owner, _, coordinate = name.rpartition(".")
        whole = found.joints.get(name)
        if isinstance(whole, Joint) and len(whole.coordinates) == 1:
            owner, coordinate = name, whole.coordinates[0].name
        joint = found.joints.get(owner)
        known = isinstance(joint, Joint) and any(
            c.name == coordinate and c.manifold != "rotation" for c in joint.coordinates
        )
        if isinstance(joint, Joint) and known:
            start = {**joint.start, coordinate: value}
            found.joints[owner] = dataclasses.replace(joint, start=start)
        else:
            rest[name] = value
    return found, rest
