"""Of several derivations the smallest is kept, for each output and for both together."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from biela.equations.choice import smallest
from biela.equations.virtual_power import CANDIDATES, FOR_FORCES, FOR_MASS
from examples.symbolic.ten_link_pendulum import ten_link_pendulum
from tests.mechanisms import ROUNDING, crank_rod_disc, four_bar, numbers, random_values


@pytest.mark.parametrize("model", (four_bar, crank_rod_disc, ten_link_pendulum))
def test_each_output_comes_by_the_route_that_is_smallest_for_it(model):
    s = model()
    eq = s.equations()
    masses = [s.mass_and_forces(route)[0] for route in FOR_MASS]
    forces = [s.mass_and_forces(route)[1] for route in FOR_FORCES]

    def count(**outputs) -> int:
        return s.function("f", outputs).count.arithmetic

    assert eq.system["M"].count.arithmetic == min(count(M=M) for M in masses)
    assert eq.system["Q"].count.arithmetic == min(count(Q=Q) for Q in forces)
    together = eq.joint("M", "Q").count.arithmetic
    assert together == min(count(M=M, Q=Q) for M, Q in product(masses, forces))


def test_for_a_chain_mass_and_forces_come_by_two_routes_and_take_fewer_operations():
    s = ten_link_pendulum()
    eq = s.equations()
    assert eq.route.for_M != eq.route.for_Q
    assert str(eq.route) == f"M {eq.route.for_M}; Q {eq.route.for_Q}"
    sizes = []
    for route in CANDIDATES:
        M, Q = s.mass_and_forces(route)
        sizes.append(s.function("f", {"M": M, "Q": Q}).count.thesis)
    assert eq.joint("M", "Q").count.thesis <= 1384 < min(sizes)


def test_every_form_of_the_forces_has_the_same_values():
    s = four_bar()
    eq = s.equations()
    assert eq.alone["Q"] != eq.expressions["Q"]
    values = random_values(s.workspace, 21)
    alone, together = numbers(eq.alone["Q"], values), numbers(eq.expressions["Q"], values)
    np.testing.assert_allclose(alone, together, **ROUNDING)
    q, v = ([values[x] for x in symbols] for symbols in (s.q, s.v))
    p = [values[s.workspace[entry.name]] for entry in eq.system.p]
    u = [values[s.workspace[entry.name]] for entry in eq.system.u]
    np.testing.assert_allclose(eq.forces(q, v, p=p, u=u), together, **ROUNDING)
    for names in (("M", "Q"), ("Q",), ("Q", "Phi")):
        function = eq.joint(*names)
        arguments = dict(t=0.0, q=q, v=v, p=p, u=u)
        result = function.interpret(*[arguments[a.name] for a in function.inputs])
        Q = result if names == ("Q",) else result[names.index("Q")]
        np.testing.assert_allclose(Q, together, **ROUNDING)


def test_of_equal_derivations_the_first_is_kept_and_two_are_not_mixed():
    s = four_bar()
    M, Q = s.mass_and_forces(CANDIDATES[0])
    first, second = CANDIDATES[:2]
    choice = smallest({second: M, first: M}, {first: Q, second: Q})
    assert choice.together.for_M == choice.together.for_Q == second
    assert (choice.apart.for_M, choice.apart.for_Q) == (second, first)


def test_without_turns_about_one_axis_no_route_merges_them():
    s = four_bar()
    for_M, _ = s._candidates()
    assert any(route.carry.merge for route in for_M)
    free = type(s)("free")
    a, b = free.coordinates("a b")
    free.base.rotated("b1", "x", a).rotated("b2", "y", b)
    for routes in free._candidates():
        assert not any(route.carry.merge or route.solids.merge for route in routes)
        assert len(set(routes)) == len(routes) < len(for_M)


@pytest.mark.parametrize("model", (four_bar, ten_link_pendulum))
def test_the_same_derivation_gives_the_same_code_on_every_run(model):
    assert len({model().equations().joint("M", "Q").c() for _ in range(3)}) == 1
