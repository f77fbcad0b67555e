"""Rigid bodies as they are written down: what is given of a body, checked and made a solid."""

from __future__ import annotations

import math

import numpy as np

from biela.atoms import Atom, evaluate
from biela.errors import DomainError, ModelError
from biela.space import Base, Point, Solid, Space, Tensor, Vector
from biela.space.solids import point_inertia

_AXES = "xyz"


def check_frame(who: str, space: Space, at: object, base: object) -> None:
    """Refuse what is not a point and a base of the system.

    Raises:
        ModelError: That says which of them it is.
        DomainError: If the point and the base belong to two systems.
    """
    if not isinstance(at, Point):
        raise ModelError(
            f"{who}: at is the point of its frame, as origin or point.offset(…) make it, not {at!r}"
        )
    if not isinstance(base, Base):
        raise ModelError(
            f"{who}: base is that of its frame, as base.rotated(…) makes it, not {base!r}"
        )
    if at.space is not base.space:
        raise DomainError(f"{who}: its point and its base belong to two systems")
    if at.space is not space:
        raise ModelError(f"{who}: its point and its base belong to {at.space.name}")


def rigid_body(
    who: str,
    name: str,
    frame: tuple[Point, Base],
    mass: Atom,
    centre: Vector | None,
    first_moment: Vector | None,
    inertia: Tensor | None,
    central_inertia: Tensor | None,
) -> Solid:
    """A solid from its mass, its centre or first moment, and an inertia or none.

    Without an inertia it is a mass in its centre; ``central_inertia`` is about that centre.

    Raises:
        ModelError: If the mass or an inertia cannot be that of a body, or something is given twice.
    """
    at, base = frame
    if mass.value is not None and mass.value < 0:
        raise ModelError(f"{who} has a negative mass, {mass.value}")
    if centre is not None and first_moment is not None:
        raise ModelError(f"{who} has a centre of mass and a first moment; give one of them")
    if inertia is not None and central_inertia is not None:
        raise ModelError(
            f"{who} has an inertia about its point and one about its centre of mass; give one of "
            f"them"
        )
    for given in (inertia, central_inertia):
        if given is not None:
            _check_inertia(who, base.space, given)
    # kept in the base of the solid, whatever algebra is in force
    if first_moment is not None:
        moment = first_moment.gathered(base)
    else:
        centre = (centre or Vector(base.space, {})).gathered(base)
        moment = centre.map(lambda x: mass * x, settle=False)
    if inertia is None:
        if centre is None:
            if mass.value == 0 and not moment.is_zero:
                raise ModelError(
                    f"{who} has a first moment but no mass, and so no centre: give its inertia too"
                )
            centre = moment.map(lambda x: x / mass, settle=False)
        inertia = point_inertia(base, centre, moment)
        if central_inertia is not None:
            inertia = inertia + central_inertia
    return Solid(name, at, base, mass, moment, inertia.gathered(base))


def _check_inertia(who: str, space: Space, given: object) -> None:
    """An inertia is a symmetric tensor without negative numbers on its diagonal."""
    if not isinstance(given, Tensor):
        raise ModelError(
            f"{who}: {given!r} is not an inertia; make one in the base of the body, by "
            f"base.inertia(xx, yy, zz) or base.tensor(rows)"
        )
    if given.space is not space:
        raise ModelError(f"{who}: its inertia belongs to another system, {given.space.name}")
    for T in given.parts.values():
        for i, axis in enumerate(_AXES):
            value = T[i][i].value
            if value is not None and value < 0:
                raise ModelError(f"{who} has a negative moment of inertia {axis}{axis}, {value}")
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if not _same(T[i][j], T[j][i]):
                a, b = _AXES[i], _AXES[j]
                raise ModelError(
                    f"{who}: its inertia is not symmetric, {a}{b} is {T[i][j]!r} and {b}{a} is "
                    f"{T[j][i]!r}; base.inertia(xx, yy, zz, xy, xz, yz) gives each product once"
                )


def _same(a: Atom, b: Atom) -> bool:
    """Whether two expressions are equal: the same atom, or the same values at a random place.

    Products of matrices give one sum in two orders, and numbers carry the rounding of both.
    """
    if a.ref == b.ref:
        return True
    table = a.table
    symbols = [Atom(table, ref) for ref in table.live((a.ref, b.ref)) if ref in table.symbols]
    places = np.random.default_rng(0).uniform(0.5, 1.5, len(symbols))
    x, y = evaluate([a, b], dict(zip(symbols, places, strict=True)))
    return math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)
