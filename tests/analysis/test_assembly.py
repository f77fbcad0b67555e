"""Assembly: positions on the branch wanted, velocities, mobility, redundant constraints."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import biela as bl
from biela.analysis.assembly import consistent
from biela.errors import AssemblyError, ModelError
from examples.mechanisms import (
    andrews,
    bicycle,
    bricard,
    double_parallelogram,
    four_bars,
    point_pendulum,
    slider_crank,
    top,
)
from examples.symbolic.four_bar import four_bar
from examples.symbolic.stewart import stewart

LENGTHS = (2.0, 8.0, 5.0, 10.0)
CRANK = 0.7


def closed_four_bar(theta1: float, elbow: float) -> np.ndarray:
    """The angles of the four-bar for a crank angle; ``elbow`` is the sign of theta3.

    Bars turn about y, so that a bar of angle θ points to exp(-iθ) in the plane of x and z. The
    diagonal from the crank to the ground closes a triangle with the other two bars.
    """
    l1, l2, l3, l4 = LENGTHS
    diagonal = l4 - l1 * cmath.exp(-1j * theta1)
    theta3 = elbow * math.acos((abs(diagonal) ** 2 - l2**2 - l3**2) / (2 * l2 * l3))
    absolute = -cmath.phase(diagonal / (l2 + l3 * cmath.exp(-1j * theta3)))
    return np.array([theta1, absolute - theta1, theta3])


def residual(model: bl.SymbolicSystem, q) -> float:
    return float(np.abs(model.equations().system.evaluate("Phi", q)).max())


# -------------------------------------------------------------------------------- branches


def test_a_four_bar_has_two_branches_which_are_those_of_the_triangle():
    found = bl.branches(four_bar(), hold={"theta1": CRANK})
    assert len(found) == 2
    by_elbow = sorted((a.q for a in found), key=lambda q: q[2])
    np.testing.assert_allclose(by_elbow[0], closed_four_bar(CRANK, -1), atol=1e-10)
    np.testing.assert_allclose(by_elbow[1], closed_four_bar(CRANK, +1), atol=1e-10)


@pytest.mark.parametrize("elbow", [-1, 1])
def test_a_branch_is_chosen_by_the_sign_of_a_coordinate_or_output_or_by_a_pose_nearby(elbow):
    model = four_bar()
    # the side of the second bar to which the third is folded
    model.output("elbow", bl.sin(model.q[2]))
    expected = closed_four_bar(CRANK, elbow)
    hold = {"theta1": CRANK}
    for hint in (
        {"signs": {"theta3": elbow}},
        {"signs": {"elbow": elbow}},
        {"near": {"theta3": 2.0 * elbow}},
        {"near": dict(zip(("theta2", "theta3"), expected[1:] + 0.3, strict=True))},
    ):
        found = bl.assemble(model, hold=hold, **hint)
        np.testing.assert_allclose(found.q, expected, atol=1e-10, err_msg=str(hint))


def test_a_guess_leads_to_the_branch_that_it_lies_next_to():
    for elbow in (-1, 1):
        expected = closed_four_bar(CRANK, elbow)
        guess = expected + np.array([0, 0.1, -0.1])
        found = bl.assemble(four_bar(), guess, hold={"theta1": CRANK})
        np.testing.assert_allclose(found.q, expected, atol=1e-10)
        nearest, other = bl.branches(four_bar(), guess, hold={"theta1": CRANK})
        np.testing.assert_allclose(nearest.q, expected, atol=1e-10)
        # the far one up to full turns
        np.testing.assert_allclose(
            np.exp(1j * other.q), np.exp(1j * closed_four_bar(CRANK, -elbow)), atol=1e-10
        )


def test_a_slider_crank_has_a_branch_on_each_side_of_the_crank_pin():
    r, l, theta = slider_crank.RADIUS, slider_crank.ROD, 1.0
    reach = math.sqrt(l**2 - (r * math.sin(theta)) ** 2)
    found = bl.branches(slider_crank.slider_crank(), hold={"theta": theta})
    places = sorted(a.q[2] for a in found)
    expected = [r * math.cos(theta) - reach, r * math.cos(theta) + reach]
    np.testing.assert_allclose(places, expected, atol=1e-10)


def test_a_branch_that_does_not_exist_is_refused():
    model = four_bar()
    model.output("impossible", model.q[2] ** 2 + 1)
    with pytest.raises(AssemblyError, match="2 branches, none of which has the signs asked for"):
        bl.assemble(model, hold={"theta1": CRANK}, signs={"impossible": -1})
    with pytest.raises(ModelError, match="no coordinate or output knee; it has theta1"):
        bl.assemble(model, hold={"theta1": CRANK}, signs={"knee": 1})
    with pytest.raises(ModelError, match="no coordinate knee; it has theta1"):
        bl.assemble(model, hold={"theta1": CRANK}, near={"knee": 1})


# -------------------------------------------------------------------------------- positions


@pytest.mark.parametrize("theta1", [-2.0, 0.1, 1.0, 3.0])
def test_a_held_coordinate_keeps_its_value(theta1):
    found = bl.assemble(four_bar(), [0.5, -1.0, 1.5], hold={"theta1": theta1})
    assert found.q[0] == pytest.approx(theta1, abs=1e-11)
    np.testing.assert_allclose(
        np.exp(1j * found.q),
        np.exp(1j * closed_four_bar(theta1, np.sign(math.sin(found.q[2])))),
        atol=1e-9,
    )
    assert found.error < 1e-10


def test_what_is_held_wins_over_the_start_that_the_model_fixes():
    q, _ = slider_crank.closed_form(0.3, 0.0)
    found = bl.assemble(slider_crank.slider_crank(), hold={"theta": 0.3})
    np.testing.assert_allclose(found.q, q, atol=1e-10)


def test_a_guess_where_all_bars_lie_on_one_line_is_left():
    """There the gradient of the violation vanishes, though the linkage does not close."""
    model = four_bar()
    found = bl.assemble(model)
    assert residual(model, found.q) < 1e-10


def test_euler_parameters_are_assembled_along_the_radius_of_their_sphere():
    guess = np.array([0.9, -0.3, 0.4, 0.2])
    found = bl.assemble(top.top_by_euler_parameters(), guess)
    np.testing.assert_allclose(found.q, guess / np.linalg.norm(guess), atol=1e-9)


def particle_on(*rows) -> bl.SymbolicSystem:
    """A particle in space, with constraints given as functions of x, y and z."""
    s = bl.SymbolicSystem("particle")
    x, y, z = s.coordinates("x y z")
    s.solid("b", at=s.origin.offset("P", s.base.vector(x, y, z)), base=s.base, mass=1.0)
    for k, row in enumerate(rows):
        s.constrain(row(x, y, z), name=f"row{k}")
    return s


@pytest.mark.parametrize("far", [0.1, 10.0])
def test_what_is_not_held_changes_as_little_as_possible(far):
    """Onto a plane at once; with x held onto its line, by the normal equations of the rest."""
    normal, level = np.array([1.0, 2.0, 3.0]), 1.0
    plane = particle_on(lambda x, y, z: x + 2 * y + 3 * z - level)
    guess = far * np.array([0.7, -0.2, 0.5])
    missed = normal @ guess - level

    system = plane.equations().system
    q, v = consistent(
        system, guess, np.array([0.3, 1.0, -2.0]), 0.0, system.inputs, system.parameters
    )
    np.testing.assert_allclose(q, guess - normal * missed / (normal @ normal), atol=1e-12 * far)
    np.testing.assert_allclose(
        v, np.array([0.3, 1.0, -2.0]) + normal * 3.7 / (normal @ normal), atol=1e-12
    )

    rest = np.array([0.0, 2.0, 3.0])
    held = bl.assemble(plane, guess, hold={"x": guess[0]}).q
    np.testing.assert_allclose(held, guess - rest * missed / (rest @ rest), atol=1e-11 * far)


def test_the_nearest_point_of_a_curved_constraint_is_found_up_to_the_square_of_the_distance():
    """Steps of least norm follow the gradient: against SciPy's minimum of the distance."""
    half = np.array([1.0, 2.0, 0.7])
    ellipsoid = particle_on(
        lambda x, y, z: (x / half[0]) ** 2 + (y / half[1]) ** 2 + (z / half[2]) ** 2 - 1
    )
    system = ellipsoid.equations().system
    on = half * np.array([0.48, 0.6, 0.64])
    away = on / half**2 / np.linalg.norm(on / half**2)
    for distance in (1e-2, 1e-3):
        guess = on + distance * (away + np.array([0.3, -0.2, 0.1]))
        found, _ = consistent(system, guess, np.zeros(3), 0.0, system.inputs, system.parameters)
        nearest = minimize(
            lambda x, guess=guess: 0.5 * np.sum((x - guess) ** 2),
            on,
            jac=lambda x, guess=guess: x - guess,
            constraints={"type": "eq", "fun": lambda x: np.sum((x / half) ** 2) - 1},
            options={"ftol": 1e-16, "maxiter": 200},
        ).x
        assert abs(np.sum((found / half) ** 2) - 1) < 1e-11
        # a solution that changes one coordinate only is off by the distance itself
        assert np.linalg.norm(found - nearest) < 5 * distance**2


def test_constraints_that_depend_on_time_are_met_at_the_time_asked_for():
    s = bl.SymbolicSystem("lifted")
    x, z = s.coordinates("x z")
    s.solid("b", at=s.origin.offset("P", s.base.vector(x, 0, z)), base=s.base, mass=1.0)
    (rate,) = s.parameters(rate=2.0)
    s.constrain(z - rate * s.time**2, name="lift")
    assert bl.assemble(s, t=3.0).q[1] == pytest.approx(18.0)
    assert bl.assemble(s, t=3.0, parameters={"rate": 1.0}).q[1] == pytest.approx(9.0)
    v = bl.assemble_velocity(s, [0.0, 18.0], {"dx": 5.0}, t=3.0)
    np.testing.assert_allclose(v, [5.0, 12.0], atol=1e-12)


def test_a_stewart_platform_assembles_around_its_platform():
    model = stewart()
    pose = {"x": 0.05, "y": -0.03, "z": 1.1, "yaw": 0.1, "pitch": -0.05, "roll": 0.08}
    guess = pose | {f"l{n}": 1.2 for n in range(1, 7)}
    found = bl.assemble(model, guess, hold=pose)
    assert residual(model, found.q) < 1e-10
    np.testing.assert_allclose(found.q[:6], list(pose.values()), atol=1e-10)
    assert (found.mobility, found.redundant) == (6, ())


def test_a_system_without_constraints_is_assembled_as_it_is():
    found = bl.assemble(point_pendulum.point_pendulum_by_angle(), [0.4])
    assert (found.q.tolist(), found.mobility, found.error) == ([0.4], 1, 0.0)


# ----------------------------------------------------------------- mobility and redundant rows


@pytest.mark.parametrize(
    ("model", "mobility", "redundant"),
    [
        (four_bar, 1, 0),
        (slider_crank.slider_crank, 1, 0),
        (andrews.andrews, 1, 0),
        (bricard.bricard, 1, 1),
        (double_parallelogram.double_parallelogram, 1, 1),
        (four_bars.four_bars, 1, 0),
        (top.top_by_euler_parameters, 3, 0),
        (bicycle.bicycle, 7, 0),  # of positions: rolling takes none away
    ],
)
def test_the_mobility_is_that_of_the_constraints_and_redundant_ones_are_named(
    model, mobility, redundant
):
    made = model()
    start = None if model is not four_bar else closed_four_bar(CRANK, 1)
    found = bl.assemble(made, start)
    assert found.mobility == mobility
    assert len(found.redundant) == redundant
    assert set(found.redundant) <= set(made.equations().system.multipliers)


def test_a_redundant_closure_is_named_after_its_joint():
    (name,) = bl.assemble(double_parallelogram.double_parallelogram()).redundant
    assert name.startswith("B2")


def test_in_line_a_parallelogram_gains_mobility():
    """N four-bars may fold each by itself when all links lie on one line: mobility N + 1."""
    for n in (1, 2, 5):
        flat = dict.fromkeys([f"theta{i}" for i in range(n + 1)], 0.0)
        found = bl.assemble(four_bars.four_bars(n), (2 * n + 1) * [0.0], hold=flat)
        np.testing.assert_allclose(found.q, 0.0, atol=1e-12)
        assert found.mobility == n + 1


# --------------------------------------------------------------------------------- velocities


@pytest.mark.parametrize("elbow", [-1, 1])
def test_velocities_follow_from_the_one_that_is_held(elbow):
    step = 1e-5
    slope = (closed_four_bar(CRANK + step, elbow) - closed_four_bar(CRANK - step, elbow)) / (
        2 * step
    )
    v = bl.assemble_velocity(four_bar(), closed_four_bar(CRANK, elbow), hold={"dtheta1": 2.5})
    np.testing.assert_allclose(v, 2.5 * slope, rtol=1e-8)


def test_velocities_change_as_little_as_possible():
    q, wanted = closed_four_bar(CRANK, 1), np.array([1.0, -2.0, 0.5])
    system = four_bar().equations().system
    jacobian = system.evaluate("Phi_q", q)
    v = bl.assemble_velocity(four_bar(), q, wanted)
    np.testing.assert_allclose(jacobian @ v, 0.0, atol=1e-11)
    tangent = np.linalg.svd(jacobian)[2][2]
    np.testing.assert_allclose(v, tangent * (tangent @ wanted), atol=1e-11)


def test_rolling_restricts_velocities_too():
    q, _ = bicycle.start()
    free = {"dx": 3.0, "dphi": 0.2, "ddelta": 0.1}
    found = bl.assemble_velocity(bicycle.bicycle(), q, hold=free)
    assert found[6] == pytest.approx(-3.0 / 0.3)
    assert found[7] == pytest.approx(-3.0 / 0.35, rel=1e-2)
    system = bicycle.bicycle().equations().system
    np.testing.assert_allclose(system.evaluate("Phi_v", q) @ found, 0.0, atol=1e-10)


def test_velocities_that_contradict_the_constraints_are_named():
    q = closed_four_bar(CRANK, 1)
    with pytest.raises(AssemblyError, match=r"no velocities fulfil all equations.*dtheta\d ="):
        bl.assemble_velocity(four_bar(), q, hold={"dtheta1": 2.0, "dtheta2": 5.0})
    with pytest.raises(ModelError, match="four_bar has no velocity theta1; it has dtheta1"):
        bl.assemble_velocity(four_bar(), q, hold={"theta1": 2.0})


# ------------------------------------------------------------------------------- start of a run


def test_a_run_keeps_the_values_named_first_and_finds_the_others():
    model = four_bar()
    r = bl.simulate(
        model, 1e-3, step=1e-3, q={"theta1": CRANK, "theta2": -1.4, "theta3": 1.7}, v={"dtheta1": 2}
    )
    np.testing.assert_allclose(r.q[0], closed_four_bar(CRANK, 1), atol=1e-9)
    assert r["dtheta1"][0] == pytest.approx(2.0, abs=1e-9)
    assert r["velocity error"][0] < 1e-10
