"""Constraint equations at position, velocity and acceleration level."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError
from biela.space import velocity
from tests.mechanisms import (
    DIFFERENCE,
    FOUR_BAR_INPUTS,
    FOUR_BAR_PARAMETERS,
    FOUR_BAR_STATE,
    ROUNDING,
    crank_rod_disc,
    four_bar,
    moved,
    numbers,
    random_values,
    rate,
    rate_of,
    rolling_disc,
)


def driven_crank() -> bl.SymbolicSystem:
    """A crank whose angle follows the clock, and a slider at the end of a rod."""
    s = bl.SymbolicSystem("driven crank")
    crank, rod, x = s.coordinates("crank rod x")
    a, b, w = s.parameters(a=0.3, b=1.0, w=2.0)
    b1 = s.base.rotated("b1", "z", crank)
    b2 = b1.rotated("b2", "z", rod)
    end = s.origin.offset("A", b1.vector(a, 0, 0)).offset("B", b2.vector(b, 0, 0))
    slider = s.origin.offset("S", s.base.vector(x, 0.1 * s.time**2, 0))
    s.solid("slider", at=slider, base=s.base, mass=1.0)
    s.close(end, slider, axes="xy", name="slide")
    s.constrain(crank - w * s.time - 0.5 * bl.sin(s.time), name="drive")
    return s


MODELS = [four_bar, crank_rod_disc, rolling_disc, driven_crank]


@pytest.fixture(params=MODELS, ids=lambda model: model.__name__)
def model(request):
    s = request.param()
    assert s.time is not None
    return s, s.constraints(), random_values(s.workspace, 31)


def test_jacobians_are_those_of_the_equations(model):
    s, level, values = model

    def shifted(symbol, equations):
        return rate(lambda h: numbers(equations, {**values, symbol: values[symbol] + h}))

    if level.Phi:
        by_differences = np.array([shifted(q, level.Phi) for q in s.q]).T
        np.testing.assert_allclose(numbers(level.Phi_q, values), by_differences, **DIFFERENCE)
    by_differences = np.array([shifted(v, level.dPhi) for v in s.v]).T
    np.testing.assert_allclose(numbers(level.Phi_v, values), by_differences, **DIFFERENCE)


def test_velocity_equations_are_rates_of_the_geometric_ones(model):
    _, level, values = model
    if level.Phi:
        found = numbers(level.dPhi, values)[: len(level.Phi)]
        np.testing.assert_allclose(found, rate_of(level.Phi, values), **DIFFERENCE)


def test_velocity_equations_are_linear_with_beta(model):
    """Φ' = Φ_v v - β."""
    s, level, values = model
    v = numbers(s.v, values)
    np.testing.assert_allclose(
        numbers(level.dPhi, values),
        numbers(level.Phi_v, values) @ v - numbers(level.beta, values),
        **ROUNDING,
    )


def test_acceleration_equations_are_linear_with_gamma(model):
    """Φ'' = Φ_v v' - γ, with Φ'' the rate of the velocity equations along the motion."""
    s, level, values = model
    a = numbers([q.acceleration for q in s.q], values)
    np.testing.assert_allclose(
        numbers(level.Phi_v, values) @ a - numbers(level.gamma, values),
        rate_of(level.dPhi, values),
        **DIFFERENCE,
    )


def test_beta_and_gamma_do_not_depend_on_what_they_are_free_of(model):
    s, level, _ = model
    table = s.workspace.table
    beta = table.live(e.ref for e in level.beta)
    gamma = table.live(e.ref for e in level.gamma)
    assert not any(v.ref in beta for v in s.v)
    assert not any(q.acceleration.ref in gamma for q in s.q)


@pytest.mark.parametrize("build", [four_bar, driven_crank], ids=lambda b: b.__name__)
def test_holonomic_systems_have_one_jacobian(build):
    s = build()
    level = s.constraints()
    values = random_values(s.workspace, 32)
    if s.workspace.time not in values:
        values[s.workspace.time] = 0.3
    np.testing.assert_allclose(
        numbers(level.Phi_v, values), numbers(level.Phi_q, values), **ROUNDING
    )


def test_non_holonomic_equations_are_stacked_below_the_geometric_ones():
    s = crank_rod_disc()
    level = s.constraints()
    assert (len(level.Phi), len(level.dPhi)) == (3, 4)
    assert (len(level.Phi_q), len(level.Phi_v)) == (3, 4)
    names = s.equations().system.multipliers
    assert names == ("rim_1", "plane_1", "parallel_1", "rolling_1")


def test_geometric_equations_come_first_even_if_written_last():
    s = bl.SymbolicSystem("order")
    x, y = s.coordinates("x y")
    s.solid("a", at=s.origin.offset("P", s.base.vector(x, y, 0)), base=s.base, mass=1.0)
    s.constrain_velocity(x.velocity - y.velocity, name="late")
    s.constrain(x * y - 1, name="early")
    eq = s.equations()
    assert eq.system.multipliers == ("early_1", "late_1")
    assert eq.system.geometric == 1
    np.testing.assert_allclose(eq.system.evaluate("Phi_v", [2.0, 3.0]), [[3, 2], [1, -1]])


def test_a_disc_rolls_where_it_is_headed():
    """x' = r spin' cos(heading), y' = r spin' sin(heading)."""
    s = rolling_disc()
    values = random_values(s.workspace, 33)
    x, y, heading, spin = s.q
    r = values[s.workspace["r"]]
    values[x.velocity] = r * values[spin.velocity] * np.cos(values[heading])
    values[y.velocity] = r * values[spin.velocity] * np.sin(values[heading])
    np.testing.assert_allclose(numbers(s.constraints().dPhi, values), 0, **ROUNDING)


def test_explicit_time_gives_beta_and_gamma():
    s = bl.SymbolicSystem("rheonomic")
    (x,) = s.coordinates("x")
    s.solid("a", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=1.0)
    s.constrain(x - bl.sin(3 * s.time))
    system = s.equations().system
    t = 0.4
    np.testing.assert_allclose(system.evaluate("beta", [0.0], t=t), [3 * np.cos(3 * t)])
    np.testing.assert_allclose(system.evaluate("gamma", [0.0], t=t), [-9 * np.sin(3 * t)])


def test_closures_written_with_the_velocity_operator_are_derivatives_of_positions():
    s = four_bar()
    values = random_values(s.workspace, 34)
    for constraint in s.constraint_list:
        written = numbers(constraint.velocity, values)
        np.testing.assert_allclose(written, rate_of(constraint.equation, values), **DIFFERENCE)
    end = s.space.points["C"]
    v = numbers(velocity(s.space.inertial, end).components(s.base), values)
    np.testing.assert_allclose(
        numbers([c.velocity for c in s.constraint_list], values), v[[0, 2]], **ROUNDING
    )


def test_the_four_bar_has_its_known_constraint_values():
    system = four_bar().equations().system
    q, v = FOUR_BAR_STATE["q"], FOUR_BAR_STATE["v"]
    known = {
        "Phi": [0.630380387239, -1.476875220563],
        "Phi_q": [
            [-1.476875220563, -1.181355013902, -0.508178226056],
            [-2.130380387239, -1.175043898113, -0.742802053419],
        ],
        "dPhi": [-1.373110137728, -2.306913935172],
        "gamma": [2.719909637716, -1.521902970091],
        "beta": [0.0, 0.0],
    }
    for name, expected in known.items():
        found = system.evaluate(name, q, v, p=FOUR_BAR_PARAMETERS, u=FOUR_BAR_INPUTS)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


# -------------------------------------------------------------------- initial conditions


def test_initial_conditions_are_further_rows():
    s = rolling_disc()
    x, _, heading, spin = s.q
    s.constrain(x - 0.1)
    s.initial(heading - 0.3, spin)
    s.initial_velocity(spin.velocity - 2, x.velocity - heading * spin.velocity)
    eq = s.equations()
    system = eq.system
    q, v = [0.5, 0.2, 0.4, 0.7], [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_allclose(system.evaluate("Init", q), [0.4, 0.1, 0.7])
    np.testing.assert_allclose(
        system.evaluate("Init_q", q), [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    )
    # the rows of the constraints, then those given: a position that is given fixes no velocity
    Init_v, Init_beta = system.evaluate("Init_v", q), system.evaluate("Init_beta", q)
    assert Init_v.shape == (5, 4)
    np.testing.assert_allclose(Init_v[:3], system.evaluate("Phi_v", q))
    np.testing.assert_allclose(Init_v[3:] @ v - Init_beta[3:], [4.0 - 2.0, 1.0 - 0.4 * 4.0])
    # they ask for no multipliers
    assert len(system.multipliers) == 3


# ----------------------------------------------------------------------------- refusals


@pytest.fixture
def point() -> bl.SymbolicSystem:
    s = bl.SymbolicSystem("point")
    x, y = s.coordinates("x y")
    s.solid("a", at=s.origin.offset("P", s.base.vector(x, y, 0)), base=s.base, mass=1.0)
    return s


def test_a_velocity_equation_that_is_not_linear_is_refused(point):
    x, y = point.q
    with pytest.raises(ModelError, match="not linear in dx"):
        point.constrain_velocity(x.velocity**2 + y.velocity - 1)
        point.equations()


def test_a_product_of_two_velocities_is_not_linear(point):
    x, y = point.q
    with pytest.raises(ModelError, match="not linear"):
        point.constrain_velocity(x.velocity * y.velocity)
        point.equations()


def test_a_velocity_in_a_geometric_equation_is_refused(point):
    with pytest.raises(ModelError, match=r"depends on dx.*constrain_velocity"):
        point.constrain(point.v[0] - 1)


def test_an_acceleration_in_a_constraint_is_refused(point):
    with pytest.raises(ModelError, match="ddx"):
        point.constrain_velocity(point.q[0].acceleration)


def test_an_input_in_a_constraint_is_refused_because_its_rate_is_not_known(point):
    (u,) = point.inputs("u")
    with pytest.raises(ModelError, match=r"depends on u \(input\)"):
        point.constrain(point.q[0] - u)


def test_moving_along_the_constraints_keeps_them():
    """A velocity that satisfies Φ_v v = β keeps Φ to the second order in time."""
    s = driven_crank()
    level = s.constraints()
    values = random_values(s.workspace, 35)
    Phi_v, beta = numbers(level.Phi_v, values), numbers(level.beta, values)
    v = np.linalg.solve(Phi_v, beta)
    a = np.linalg.solve(Phi_v, numbers(level.gamma, {**values, **dict(zip(s.v, v, strict=True))}))
    for q, speed, acceleration in zip(s.q, v, a, strict=True):
        values |= {q.velocity: speed, q.acceleration: acceleration}
    start = numbers(level.Phi, values)
    drift = [np.abs(numbers(level.Phi, moved(values, tau)) - start).max() for tau in (0.01, 0.02)]
    assert drift[1] / drift[0] == pytest.approx(8, rel=0.2)  # what is left is of third order


# ------------------------------------------------------- equations that constrain nothing


@pytest.mark.parametrize("ask", ("constrain", "initial"))
def test_a_geometric_equation_has_a_coordinate(point, ask):
    (l,) = point.parameters(l=1.0)
    with pytest.raises(ModelError, match="no coordinate in it, only l,"):
        getattr(point, ask)(l - 1)
    with pytest.raises(ModelError, match=f"no coordinate in it, only {point.time.name},"):
        getattr(point, ask)(point.time - 1)


@pytest.mark.parametrize("ask", ("constrain_velocity", "initial_velocity"))
def test_a_velocity_equation_has_a_velocity(point, ask):
    with pytest.raises(ModelError, match=r"no velocity in it, only x, .*use constrain"):
        getattr(point, ask)(point.q[0] - 1)


@pytest.mark.parametrize("ask", ("constrain", "constrain_velocity", "initial", "initial_velocity"))
def test_an_equation_is_not_a_number(point, ask):
    for zero in (0.0, point.q[0] - point.q[0]):
        with pytest.raises(ModelError, match="is always zero"):
            getattr(point, ask)(zero)
    with pytest.raises(ModelError, match="is the number 2 and never zero"):
        getattr(point, ask)(2.0)


def test_closing_a_planar_mechanism_along_all_axes_adds_no_row_across_its_plane():
    closed = []
    for axes in ("xyz", "xy"):
        s = bl.SymbolicSystem("planar")
        a, b = s.coordinates("a b")
        first = s.base.rotated("b1", "z", a)
        end = s.origin.offset("A", first.vector(0.3, 0, 0))
        end = end.offset("B", first.rotated("b2", "z", b).vector(1.0, 0, 0))
        closed.append(s.close(end, s.origin.offset("C", s.base.vector(1, 0, 0)), axes=axes))
        level = s.constraints()
        assert (len(level.Phi), len(level.dPhi)) == (2, 2)
    assert [c.equation.ref for c in closed[0]] == [c.equation.ref for c in closed[1]]


def test_closing_points_that_never_part_is_refused(point):
    with pytest.raises(ModelError, match="O and P never part along z: there is nothing to close"):
        point.close(point.origin, point.space.points["P"], axes="z")
    assert point.constraint_list == []
