"""Points, frames, solids and wrenches."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import BielaError, DomainError
from biela.space import Frame, Solid, Vector
from tests.mechanisms import ROUNDING, numbers


@pytest.fixture
def system() -> bl.SymbolicSystem:
    return bl.SymbolicSystem("solids")


def test_points_are_placed_from_one_another(system):
    a = system.origin.offset("A", system.base.vector(1, 0, 0))
    b = a.offset("B", system.base.vector(0, 2, 0))
    assert (b.parent, b.depth, b.name) == (a, 2, "B")
    assert [c.value for c in system.position(system.origin, b).components(system.base)] == [1, 2, 0]
    assert repr(b) == "Point B"


def test_two_points_of_one_name_are_refused(system):
    system.origin.offset("A", system.base.vector(1, 0, 0))
    with pytest.raises(DomainError, match="already has a point A"):
        system.origin.offset("A", system.base.vector(2, 0, 0))


def test_a_point_takes_vectors_of_its_own_system_only(system):
    other = bl.SymbolicSystem("other")
    with pytest.raises(BielaError, match="other"):
        system.origin.offset("A", other.base.vector(1, 0, 0))


def test_the_origin_is_placed_from_nothing(system):
    with pytest.raises(DomainError, match="root of the points"):
        _ = system.origin.vector


def test_the_inertial_frame_is_the_origin_with_the_root_base(system):
    assert system.space.inertial == Frame(system.origin, system.base)


def test_the_frame_of_a_solid_is_its_point_and_base(system):
    b = system.base.rotated("b", "z", 0.3)
    solid = system.solid("body", at=system.origin, base=b, mass=2.0)
    assert solid.frame == Frame(system.origin, b)
    assert system.solids == [solid]
    assert repr(solid) == "Solid body"


def test_a_centre_of_mass_and_a_first_moment_say_the_same(system):
    (m,) = system.parameters(m=2.0)
    by_centre = system.solid("a", at=system.origin, base=system.base, mass=m, com=(1, 2, 3))
    by_moment = system.solid(
        "b", at=system.origin, base=system.base, mass=m, first_moment=(m, 2 * m, 3 * m)
    )
    assert by_centre.first_moment.parts == by_moment.first_moment.parts
    as_vector = system.solid(
        "c", at=system.origin, base=system.base, mass=m, com=system.base.vector(1, 2, 3)
    )
    assert as_vector.first_moment.parts == by_centre.first_moment.parts


def test_first_moments_may_be_parameters_of_their_own(system):
    """As in identification, where m r is the unknown and not r (Plaza 2015, eq. 4.48).

    Against particles: kinetic energy and weight of five of them, by NumPy.
    """
    places = np.random.default_rng(4).normal(size=(5, 3))
    masses = np.array([0.4, 1.1, 0.7, 0.2, 0.9])
    moments = masses @ places
    I = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places, strict=True))
    x, y, z, a = system.coordinates("x y z a")
    m, mx, my, mz = system.parameters(m=masses.sum(), mx=moments[0], my=moments[1], mz=moments[2])
    axis = np.array([0.6, 0.0, 0.8])
    turned = system.base.rotated("b", tuple(axis), a)
    centre = system.origin.offset("P", system.base.vector(x, y, z))
    inertia = turned.inertia(xx=I[0, 0], yy=I[1, 1], zz=I[2, 2], xy=I[0, 1], xz=I[0, 2], yz=I[1, 2])
    solid = system.solid("a", centre, turned, m, first_moment=(mx, my, mz), inertia=inertia)
    assert solid.first_moment.components(turned)[0] == mx
    system.gravity = (1.0, -2.0, -9.0)
    found = system.equations().system

    q, v, h = np.array([0.2, -0.4, 0.5, 0.7]), np.array([0.3, -0.1, 0.8, 1.3]), 1e-5

    def particles(q):
        K = np.cross(axis, np.eye(3)).T
        R = np.eye(3) + np.sin(q[3]) * K + (1 - np.cos(q[3])) * K @ K
        return q[:3] + places @ R.T

    def slopes(q):
        return np.stack(
            [(particles(q + h * e) - particles(q - h * e)) / (2 * h) for e in np.eye(4)], axis=-1
        )

    J = slopes(q)
    np.testing.assert_allclose(
        found.evaluate("M", q), np.einsum("k,kai,kaj->ij", masses, J, J), atol=1e-8
    )
    bias = (slopes(q + h * v) - slopes(q - h * v)) @ v / (2 * h)
    forces = np.einsum("k,kai,ka->i", masses, J, np.array([1.0, -2.0, -9.0]) - bias)
    np.testing.assert_allclose(found.evaluate("Q", q, v), forces, atol=1e-5)


def test_without_an_inertia_a_solid_is_a_mass_in_its_centre(system):
    solid = system.solid("a", at=system.origin, base=system.base, mass=2.0, com=(1, 2, 3))
    r = np.array([1, 2, 3])
    np.testing.assert_allclose(
        numbers(solid.inertia.components(system.base), {}),
        2 * (r @ r * np.eye(3) - np.outer(r, r)),
        **ROUNDING,
    )


def test_an_inertia_has_its_products_with_their_sign(system):
    I = system.base.inertia(xx=1, yy=2, zz=3, xy=4, xz=5, yz=6)
    rows = [[e.value for e in row] for row in I.components(system.base)]
    assert rows == [[1, 4, 5], [4, 2, 6], [5, 6, 3]]


def test_an_inertia_in_another_base_is_refused(system):
    b = system.base.rotated("b", "z", 0.3)
    zero = Vector(system.space, {})
    with pytest.raises(BielaError, match=r"body.*base xyz.*b"):
        Solid(
            "body", system.origin, b, system.workspace.atom(1), zero, system.base.inertia(1, 1, 1)
        )


def test_a_wrench_acts_at_the_point_of_the_solid_unless_told(system):
    a = system.solid("a", at=system.origin, base=system.base, mass=1.0)
    elsewhere = system.origin.offset("E", system.base.vector(1, 0, 0))
    system.wrench(a, system.base.vector(1, 0, 0))
    system.wrench(a, system.base.vector(1, 0, 0), at=elsewhere, name="push")
    first, second = system.wrenches
    assert (first.point, first.name) == (system.origin, "wrench1")
    assert (second.point, second.name) == (elsewhere, "push")
    assert first.moment.is_zero


def test_a_reaction_is_the_opposite_at_the_same_point(system):
    a = system.solid("a", at=system.origin, base=system.base, mass=1.0)
    b = system.solid("b", at=system.origin, base=system.base, mass=1.0)
    system.wrench(
        a, system.base.vector(1, 2, 3), system.base.vector(4, 5, 6), name="w", reaction_on=b
    )
    action, reaction = system.wrenches
    assert (reaction.solid, reaction.name, reaction.point) == (b, "w_reaction", action.point)
    assert (action.force + reaction.force).is_zero
    assert (action.moment + reaction.moment).is_zero


def test_a_spring_pulls_its_ends_together(system):
    k, l0, c, f = system.parameters(k=10.0, l0=1.0, c=0.5, f=2.0)
    (x,) = system.coordinates("x")
    end = system.origin.offset("E", system.base.vector(3 * x, 4 * x, 0))
    body = system.solid("body", at=end, base=system.base, mass=1.0)
    system.spring(
        "s", (None, system.origin), (body, end), stiffness=k, length=l0, damping=c, force=f
    )
    (pull,) = system.wrenches
    values = {x: 0.4, x.velocity: 0.2, k: 10.0, l0: 1.0, c: 0.5, f: 2.0}
    tension = 10.0 * (2.0 - 1.0) + 0.5 * 1.0 - 2.0
    np.testing.assert_allclose(
        numbers(pull.force.components(system.base), values),
        [-0.6 * tension, -0.8 * tension, 0],
        **ROUNDING,
    )


# ----------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("kind", ("velocity", "acceleration", "input", "unknown"))
def test_the_place_of_a_point_depends_on_position_and_time_only(system, kind):
    (x,), (u,), (e,) = system.coordinates("x"), system.inputs("u"), system.unknowns("e")
    wrong = {"velocity": x.velocity, "acceleration": x.acceleration, "input": u, "unknown": e}[kind]
    turned = system.base.rotated("b", "z", x)
    with pytest.raises(DomainError, match=rf"point P depends on {wrong.name} \({kind}\)"):
        system.origin.offset("P", system.base.vector(x, 0, 0) + turned.vector(0, wrong**2, 0))
    free = system.workspace.symbol("free")
    (p,) = system.parameters(p=1.0)
    system.origin.offset("P", turned.vector(x * p, system.time, free))


def test_a_point_is_placed_by_a_vector_and_not_by_numbers(system):
    with pytest.raises(DomainError, match=r"P: \(1, 0, 0\) is not a vector.*base\.vector\(x"):
        system.origin.offset("P", (1, 0, 0))


def test_the_direction_of_a_wrench_is_a_toward(system):
    a = system.solid("a", at=system.origin, base=system.base, mass=1.0)
    with pytest.raises(DomainError, match=r"wrench push on a: toward is one of Toward\..*'UP'"):
        system.wrench(a, (1, 0, 0), name="push", toward="UP")
    assert not system.wrenches


def test_a_wrench_does_not_mix_two_systems(system):
    other = bl.SymbolicSystem("other")
    here = system.solid("here", at=system.origin, base=system.base, mass=1.0)
    there = other.solid("there", at=other.origin, base=other.base, mass=1.0)
    vector = other.base.vector(1, 0, 0)
    for wrong in (
        {"force": vector},
        {"moment": vector},
        {"force": (1, 0, 0), "at": other.origin},
        {"force": (1, 0, 0), "reaction_on": there},
    ):
        with pytest.raises(BielaError, match="other"):
            system.wrench(here, **wrong)
    with pytest.raises(BielaError, match="solid there belongs to another system, other"):
        system.wrench(there, (1, 0, 0))
    with pytest.raises(DomainError, match="acts through a point, and 'P' is none"):
        system.wrench(here, (1, 0, 0), at="P")
    assert not system.wrenches
