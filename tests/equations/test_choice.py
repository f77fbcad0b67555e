"""Of several derivations the smallest is kept, for each output and for both together."""

from __future__ import annotations

import numpy as np
import pytest

from biela.equations.choice import Derivation, smallest
from biela.equations.virtual_power import CANDIDATES
from examples.symbolic.ten_link_pendulum import ten_link_pendulum
from tests.mechanisms import ROUNDING, crank_rod_disc, four_bar, numbers, random_values


@pytest.mark.parametrize("model", (four_bar, crank_rod_disc, ten_link_pendulum))
def test_each_output_comes_by_the_route_that_is_smallest_for_it(model):
    s = model()
    eq = s.equations()
    found = [s.mass_and_forces(route) for route in CANDIDATES]

    def count(**outputs) -> int:
        return s.function("f", outputs).count.arithmetic

    assert eq.system["M"].count.arithmetic == min(count(M=M) for M, _ in found)
    assert eq.system["Q"].count.arithmetic == min(count(Q=Q) for _, Q in found)
    together = eq.joint("M", "Q").count.arithmetic
    assert together == min(count(M=M, Q=Q) for M, _ in found for _, Q in found)


def test_for_a_chain_mass_and_forces_come_by_two_routes_and_take_fewer_operations():
    s = ten_link_pendulum()
    eq = s.equations()
    assert eq.route.by_M is not eq.route.by_Q
    assert str(eq.route) == f"M {eq.route.by_M.route}, Q {eq.route.by_Q.route}"
    one_route = (
        s.function("f", dict(zip("MQ", s.mass_and_forces(r), strict=True))) for r in CANDIDATES
    )
    assert eq.joint("M", "Q").count.thesis <= 1512 < min(f.count.thesis for f in one_route)


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


def test_of_equal_derivations_the_first_is_kept():
    s = four_bar()
    M, Q = s.mass_and_forces(CANDIDATES[0])
    first, second = Derivation(CANDIDATES[0], M, Q), Derivation(CANDIDATES[1], M, Q)
    choice = smallest([first, second])
    assert choice.together.by_M is choice.together.by_Q is first
    assert choice.apart.by_M is choice.apart.by_Q is first


def test_the_same_derivation_gives_the_same_code_on_every_run():
    codes = {four_bar().equations().joint("M", "Q").c() for _ in range(2)}
    assert len(codes) == 1
