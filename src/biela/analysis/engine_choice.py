"""Which engine finds a driven motion: unrolled code for small mechanisms, loops for large ones.

Unrolled, all equations are one piece of straight-line code: fastest at run time, but deriving and
compiling it grows faster than the number of bodies.  Looped, each kind of joint is derived once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from copy import copy
from typing import Any

from biela.atoms import Atom
from biela.errors import BielaError, ModelError
from biela.model import Model
from biela.model.drivers import Rotary, Translational
from biela.model.joints import Joint
from biela.model.laws.law import law_from
from biela.model.parts.flattening import body_count
from biela.spelling import nearest

#: Bodies above which a mechanism is looped, if it is not said otherwise.
LARGE = 60
ENGINES = ("unrolled", "looped")
#: Bodies above which deriving and compiling unrolled equations of motion takes minutes.
UNROLLED_UP_TO = 200
#: Those in space above which a simulation is looped, if it asks for nothing that loops do not know.
SPATIAL_UP_TO = 60


def check_unrolled(model: object) -> None:
    """Refuse a model whose equations are too many to be unrolled.

    Raises:
        ModelError: It says how many bodies there are and what to do.
    """
    if isinstance(model, Model) and (count := body_count(model)) > UNROLLED_UP_TO:
        raise ModelError(
            f"{model.name} has {count:,} bodies; deriving its equations of motion all at once "
            f"takes minutes above {UNROLLED_UP_TO}. simulate(model, …) runs it in loops, and so "
            f"does kinematics(model) if drivers move all its freedoms; or insist with "
            f"Simulator(formulate(model), …)"
        )


def simulated_in_loops(engine: str | None, model: object, unusual: Mapping[str, object]) -> bool:
    """Whether a model is simulated by the looped engine.

    Args:
        engine: The one that is wanted; None chooses by size.
        model: What is to move.
        unusual: Settings that the looped engine does not know, by name, if they are given.

    Raises:
        ModelError: It is needed or wanted for what it cannot do.
    """
    if engine not in (None, *ENGINES):
        raise ModelError(f"engine {engine!r} is not known; use {' or '.join(ENGINES)}")
    count = body_count(model) if isinstance(model, Model) else 0
    flat = isinstance(model, Model) and model.plane is not None
    large = count > (UNROLLED_UP_TO if flat else SPATIAL_UP_TO)
    if engine == "unrolled" or (engine is None and not large):
        return False
    if not isinstance(model, Model):
        raise ModelError("the looped engine takes a Model, of bodies and joints")
    given = [name for name, value in unusual.items() if value]
    if given and engine is None and count <= UNROLLED_UP_TO:
        return False  # slow to derive, but it can be done
    if given:
        raise ModelError(
            f"{model.name}: the looped engine, for mechanisms of more than {UNROLLED_UP_TO} "
            f"bodies, does not know {', '.join(given)}; leave it out"
        )
    return True


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
