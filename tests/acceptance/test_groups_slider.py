"""The spatial slider of Miralles's thesis (2018) and its fan, by every formulation."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.analysis.groups.formulations import formulation_named
from biela.analysis.groups.kinematics import group_kinematics
from biela.analysis.groups.solved_motion import GroupMotion
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.lowering import Iteration
from examples.groups.four_bar import COMPARED
from tests.group_solvers_in_c import slider_fan
from tests.groups_oracle import closed_forms
from tests.groups_oracle.closed_forms import Motion
from tests.groups_oracle.golden import example

Floats = npt.NDArray[np.float64]

FORMULATIONS = (*COMPARED, "mixed groups", "reference groups")
EXACT = Iteration(tolerance=1e-10, polish=1)
SPEED = 24.0


def slider(name: str, **choices: object) -> GroupSolver:
    model = slider_fan(1, SPEED)
    options = formulation_named(name, model).options(model) | choices
    return GroupSolver(
        model, points=["crank.B", "slider0.c"], bodies=False, iteration=EXACT, **options
    )


@cache
def by_formulation(name: str) -> GroupSolver:
    return slider(name)


def swept(solver: GroupSolver, degrees: Floats) -> list[Floats]:
    """(r1, x2) and two rates at crank angles: (instants, 4) each."""
    run = solver.run(np.radians(degrees) / SPEED)
    pin, block = run.point("crank.B"), run.point("slider0.c")
    return [
        np.concatenate([getattr(pin, part), getattr(block, part)[:, :1]], axis=1)
        for part in ("position", "velocity", "acceleration")
    ]


def exact(degrees: Floats, beta: float = np.pi / 6) -> list[Floats]:
    angle = Motion(np.radians(degrees), np.full(len(degrees), SPEED), np.zeros(len(degrees)))
    P = closed_forms.inclined_crank(angle, 2.0, beta)
    s = closed_forms.slider_on_rail(P, 6.0, np.array([1.0, 0, 0]), np.zeros(3))
    return [np.concatenate([r, x[:, None]], axis=1) for r, x in zip(P, s, strict=True)]


# --- E4, E5: one slider -----------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_gives_the_golden_turn_of_the_slider(name: str) -> None:
    table = example("e4_slider")["computed"]
    degrees = table.column("phi_deg")
    found = swept(by_formulation(name), degrees)
    for part, column, order in zip(found, ("x2", "v2", "a2"), range(3), strict=True):
        # ten decimals are printed
        np.testing.assert_allclose(part[:, 3], table.column(column), rtol=0, atol=1e-9)
        closed = exact(degrees)[order]
        np.testing.assert_allclose(part, closed, rtol=0, atol=1e-10 * SPEED**order)


@pytest.mark.parametrize("name", ["global dense", "natural groups", "relative groups"])
def test_the_printed_turn_of_the_source_is_found_to_its_digits(name: str) -> None:
    """13 rows of 15 quantities; three misprints are corrected in the table."""
    table = example("e4_slider")["printed"]
    found = swept(by_formulation(name), table.column("phi_deg"))
    # four digits are printed: half of the last one, and the rounding of a half
    columns = [
        table.array("x1", "y1", "z1", "x2"),
        table.array("vx1", "vy1", "vz1", "vx2"),
        table.array("ax1", "ay1", "az1", "ax2"),
    ]
    for part, printed in zip(found, columns, strict=True):
        np.testing.assert_allclose(part, printed, rtol=5.1e-4, atol=5.1e-4)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_goes_through_all_angles_of_the_crank(name: str) -> None:
    """By 3 degrees: no row of an angle fails at 0, 45, 90, 135 … degrees."""
    degrees = np.arange(0.0, 723.0, 3.0)
    closed = exact(degrees)
    for order, part in enumerate(swept(by_formulation(name), degrees)):
        np.testing.assert_allclose(part, closed[order], rtol=0, atol=1e-10 * SPEED**order)


def test_the_rod_is_a_group_with_its_spin_held() -> None:
    structure = by_formulation("natural groups").structure
    assert [g.name for g in structure.groups] == ["1R", "2S1P"]
    assert [spin.body for spin in structure.groups[1].locked] == ["rod0"]


@pytest.mark.parametrize("degrees", [10.0, 30.0, 80.0])
def test_the_angle_of_the_axis_is_a_parameter_and_changes_the_stroke(degrees: float) -> None:
    """The stroke is 4 sin β (variable-stroke reciprocation)."""
    m = bl.Model("variable stroke")
    m.parameter("beta", "30 deg")
    crank = m.body("crank", mass=1.0)
    shaft = m.ground.at(angles=("zy", ("-beta", "90 deg")))
    m.joint("revolute", "A", shaft, crank.at(angles=("y", ("90 deg",))))
    down = float(np.arcsin(1 / 3))
    rod = m.body("rod", mass=1.0, position=(0, 0, 2), orientation=("y", (down,)))
    m.joint("spherical", "B", crank.at(0, 0, 2), rod.at())
    block = m.body("block", mass=1.0)
    m.joint("spherical", "C", rod.at(6, 0, 0), block.at())
    start = {"displacement": float(np.sqrt(32))}
    m.joint("prismatic", "P", m.ground.at(axis="x"), block.at(axis="x"), start=start)
    m.driver("rotary", "motor", coordinate="A.angle", law=f"{SPEED}*t")
    m.sensor("joint", "x", coordinate="P.displacement")
    beta = float(np.radians(degrees))
    turn = 2 * np.pi / SPEED
    found = group_kinematics(m, turn, step=turn / 72, parameters={"beta": beta})
    assert np.ptp(found["x"]) == pytest.approx(4 * np.sin(beta), rel=1e-9)
    closed = exact(np.degrees(SPEED * found.t), beta)
    np.testing.assert_allclose(found["x"], closed[0][:, 3], rtol=0, atol=1e-10)


# --- E6: the fan ------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["relative", "natural"])
def test_the_table_of_the_fan_is_found_at_accumulated_times(coordinates: str) -> None:
    source = example("e6_slider_fan")
    rate, dt = source.data["rate"], source.data["dt"]
    solver = GroupSolver(
        slider_fan(1, rate),
        coordinates=coordinates,
        points=["slider0.c"],
        bodies=False,
        iteration=EXACT,
    )
    # as the source does: time and angle are added up step by step
    count = 24001
    t = np.cumsum(np.full(count, dt))
    z = np.concatenate([[0.0], np.cumsum(np.full(count - 1, rate * dt))])
    values = np.stack([z, np.full(count, rate), np.zeros(count)], axis=1)
    C = solver.run(t, store="points", given=(("motor",), values)).point("slider0.c")
    table = source["cuadro_4"]
    at = np.rint(table.column("t") / dt).astype(int) - 1
    np.testing.assert_allclose(t[at], table.column("t"), rtol=0, atol=1e-10)
    found = np.stack([part[at, 0] for part in (C.position, C.velocity, C.acceleration)], axis=1)
    np.testing.assert_allclose(found, table.array("x", "v", "a"), rtol=0, atol=1e-11)


SLIDERS = 5
RATES = example("e6_slider_fan").data["rates"]


@cache
def fan() -> GroupSolver:
    return GroupSolver(
        slider_fan(SLIDERS, 1.0),
        coordinates="relative",
        points=[f"slider{k}.c" for k in range(SLIDERS)],
        bodies=False,
        closed_forms=False,
        lanes="groups",
        iteration=EXACT,
    )


def turned(rate: float) -> tuple[GroupMotion, Motion]:
    """The fan at a speed of its crank, and the motion of that."""
    t = 0.005 * np.arange(200)
    angle = Motion(rate * t, np.full_like(t, rate), np.zeros_like(t))
    return fan().run(t, given=(("motor",), np.stack(angle, axis=1))), angle


@pytest.mark.parametrize("rate", RATES)
def test_sliders_of_the_fan_follow_their_closed_form_at_every_speed(rate: float) -> None:
    run, angle = turned(rate)
    P = closed_forms.inclined_crank(angle, 2.0, np.pi / 6)
    for k in range(SLIDERS):
        e = np.array([np.cos(2 * np.pi * k / SLIDERS), np.sin(2 * np.pi * k / SLIDERS), 0.0])
        s = closed_forms.slider_on_rail(P, 6.0, e, np.zeros(3))
        C = run.point(f"slider{k}.c")
        for order, part in enumerate((C.position, C.velocity, C.acceleration)):
            scale = max(1.0, rate) ** order
            np.testing.assert_allclose(part @ e, s[order], rtol=0, atol=1e-10 * scale)


def test_a_faster_crank_takes_more_steps_of_newtons_method() -> None:
    steps = [turned(rate)[0].iterations for rate in RATES]
    assert steps[0] < steps[1] < steps[2] < 6
