"""Driven mechanisms against closed forms, and what happens where they cannot go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import biela as bl
from biela.analysis.driving import driven
from biela.analysis.kinematics import kinematics
from biela.errors import AssemblyError, ModelError, SimulationError
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.mechanisms.four_bars import four_bars
from examples.mechanisms.rolling_disc import RADIUS, rolling_disc
from examples.mechanisms.slider_crank import slider_crank
from examples.symbolic.four_bar import four_bar
from tests.analysis.spinning_body import spinning_body

TURN = 2 * math.pi
#: Crank 2 m, rod 3.5 m, θ = π/4 + ω t: position, speed and acceleration of the slider, for
#: ω = 2π and 4π.  Six digits, from the specification of the planar slider-crank.
SLIDER = {
    0.00: (4.615776, -12.810841, -60.643006, 4.615776, -25.621681, -242.572023),
    0.05: (3.920360, -14.571594, -8.814019, 3.202140, -27.511344, 156.013633),
    0.30: (1.598160, -2.697354, 40.214925, 2.576402, 22.135287, 254.826195),
    0.80: (5.162186, 8.712672, -100.487185, 2.576402, 22.135287, 254.826195),
    0.99: (4.740695, -12.157654, -69.902011, 4.858630, -22.829531, -314.288197),
}
LARGE = {"r": 2.0, "l": 3.5}


@pytest.fixture(scope="module")
def crank() -> bl.System:
    return slider_crank().equations().system


def slider(theta: np.ndarray, omega: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, speed and acceleration of the slider of the large slider-crank."""
    s, c = np.sin(theta), np.cos(theta)
    R = np.sqrt(3.5**2 - 4 * s**2)
    return (
        2 * c + R,
        omega * (-2 * s - 4 * s * c / R),
        omega**2 * (-2 * c - 4 * (c**2 - s**2) / R - 16 * s**2 * c**2 / R**3),
    )


@pytest.mark.parametrize("speed", [1, 2])
def test_a_slider_crank_moves_as_its_closed_form_says(crank: bl.System, speed: int) -> None:
    law = f"pi/4 + {2 * speed}*pi*t"
    found = kinematics(
        crank, 1.0, step=0.01, end_point=False, drives={"theta": law}, parameters=LARGE
    )
    assert len(found) == 100 and found.t[-1] == pytest.approx(0.99)
    x, v, a = slider(math.pi / 4 + speed * TURN * found.t, speed * TURN)
    assert np.abs(found["x"] - x).max() < 1e-13
    assert np.abs(found["dx"] - v).max() < 1e-11
    assert np.abs(found["ddx"] - a).max() < 1e-10
    for t, figures in SLIDER.items():
        k = round(100 * t)
        wanted = figures[3 * (speed - 1) : 3 * speed]
        channels = [found[name][k] for name in ("x", "dx", "ddx")]
        assert np.allclose(channels, wanted, rtol=0, atol=1e-6)
    assert found.statistics is not None and found.statistics.max_constraint_error < 1e-13


def test_the_end_point_is_stored_unless_it_is_excluded(crank: bl.System) -> None:
    drive = {"theta": "2*t"}
    with_end = kinematics(crank, 0.2, step=0.01, drives=drive)
    without = kinematics(crank, 0.2, step=0.01, drives=drive, end_point=False)
    sparse = kinematics(crank, 0.2, step=0.01, output=0.05, drives=drive)
    assert with_end.t[-1] == pytest.approx(0.2) and len(without) == len(with_end) - 1
    assert np.allclose(sparse.t, [0, 0.05, 0.1, 0.15, 0.2])
    assert np.allclose(sparse.q, with_end.q[::5], rtol=0, atol=1e-14)


def test_a_four_bar_turns_as_the_intersection_of_two_circles_says() -> None:
    model = four_bar().equations()
    omega = 3.0
    found = kinematics(
        model, TURN / omega, step=TURN / omega / 300, drives={"theta1": f"0.3 + {omega}*t"},
        q={"theta2": -1.0, "theta3": 2.2},
    )  # fmt: skip
    l1, l2, l3, l4 = 2.0, 8.0, 5.0, 10.0

    def absolute(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The angles of the three bars from the ground, on the branch on one side of A O2."""
        a1 = 0.3 + omega * t
        gap = l4 - l1 * np.exp(1j * a1)  # from the end of the crank to the other ground point
        d = np.abs(gap)
        inner = np.arccos((l2**2 + d**2 - l3**2) / (2 * l2 * d))
        side = np.sign(np.sin(found.q[0, 0] + found.q[0, 1] - np.angle(gap[0])))
        a2 = np.angle(gap) + side * inner
        return a1, a2, np.angle(gap - l2 * np.exp(1j * a2))

    a1, a2, a3 = absolute(found.t)
    wanted = np.stack([a1, a2 - a1, a3 - a2], axis=1)
    assert np.abs(np.exp(1j * wanted) - np.exp(1j * found.q)).max() < 1e-12

    def rates(t: np.ndarray) -> np.ndarray:
        a1, a2, a3 = absolute(t)
        w2 = -l1 * omega * np.sin(a1 - a3) / (l2 * np.sin(a2 - a3))
        w3 = -l1 * omega * np.sin(a1 - a2) / (l3 * np.sin(a3 - a2))
        return np.stack([omega + 0 * t, w2 - omega, w3 - w2], axis=1)

    assert np.abs(found.v - rates(found.t)).max() < 1e-11
    h = 1e-4
    difference = (8 * (rates(found.t + h) - rates(found.t - h))
                  - (rates(found.t + 2 * h) - rates(found.t - 2 * h))) / (12 * h)  # fmt: skip
    assert np.abs(found.a - difference).max() < 1e-8
    assert not found.events and set(found["determinant sign"]) in ({1.0}, {-1.0})


#: Crank 0.08 m about x at (0, 0.1, 0.12), ω = 2π, slider on x: x, v, a by rod length and time.
SPATIAL = {
    0.30: {
        0.0: (0.200000, 0.251327, 1.579137),
        0.25: (0.274226, 0.219959, -1.328135),
        0.9: (0.185101, 0.028154, 2.655081),
    },
    0.24: {
        0.0: (0.087178, 0.576585, 0.533885),
        0.25: (0.206882, 0.291561, -1.937509),
        0.9: (0.043154, 0.120758, 11.068785),
    },
}


def test_a_spatial_slider_crank_has_the_figures_of_the_literature() -> None:
    s = bl.SymbolicSystem("spatial")
    theta, x = s.coordinates("theta x")
    (rod,) = s.parameters(rod=0.3)
    crank = s.base.rotated("crank", "x", theta)
    centre = s.origin.offset("centre", s.base.vector(0, 0.1, 0.12))
    pin = centre.offset("pin", crank.vector(0, 0, 0.08))
    slider_pin = s.origin.offset("slider", s.base.vector(x, 0, 0))
    s.solid("slider", at=slider_pin, base=s.base, mass=1.0)
    s.solid("crank", at=pin, base=crank, mass=1.0)
    s.constrain(s.position(pin, slider_pin).norm2() - rod**2, name="rod")
    s.constrain(theta - TURN * s.time, name="motor")  # a drive that the model has itself
    s.start(x=0.2)
    model = s.equations()
    for length, figures in SPATIAL.items():
        found = kinematics(model, 1.0, step=0.01, parameters={"rod": length})
        for t, (place, speed, rate) in figures.items():
            k = round(100 * t)
            assert found["x"][k] == pytest.approx(place, abs=6e-7)
            assert found["dx"][k] == pytest.approx(speed, abs=6e-7)
            assert found["ddx"][k] == pytest.approx(rate, abs=6e-7)


def test_laws_may_be_texts_expressions_or_splines(crank: bl.System) -> None:
    model = slider_crank()
    by_text = kinematics(crank, 0.5, step=0.01, drives={"theta": "1 + r*t**2"})
    by_atom = kinematics(
        model, 0.5, step=0.01, drives={"theta": 1 + model.workspace["r"] * model.time**2}
    )
    times = np.linspace(-0.1, 0.6, 8)
    by_spline = kinematics(crank, 0.5, step=0.01, drives={"theta": (times, 1 + 0.1 * times**2)})
    assert np.allclose(by_text.a, by_atom.a, rtol=0, atol=1e-12)
    assert np.allclose(by_text.a, by_spline.a, rtol=0, atol=1e-11)


def test_an_output_can_be_driven_instead_of_a_coordinate() -> None:
    s = four_bars(1)
    top = s.space.points["end_theta0"]
    s.output("height", s.position(s.origin, top).y)
    model = s.equations()
    found = kinematics(model, 1.0, step=0.02, drives={"height": "0.9 - 0.4*t"}, q={"theta0": 2.0})
    theta = math.pi - np.arcsin(0.9 - 0.4 * found.t)
    assert np.allclose(found["theta0"], theta, rtol=0, atol=1e-12)
    assert np.allclose(found["dtheta0"], 0.4 / np.sqrt(1 - (0.9 - 0.4 * found.t) ** 2))


def test_drives_that_agree_may_be_redundant_and_those_that_do_not_are_refused() -> None:
    model = double_parallelogram().equations()  # one constraint too many by itself
    law = "0.5 + 2*t"
    both = {"theta0": law, "theta2": law}
    found = kinematics(model, 1.0, step=0.01, drives=both)
    assert np.abs(found["phi"]).max() < 1e-12
    assert np.allclose(found["theta1"], 0.5 + 2 * found.t, rtol=0, atol=1e-12)
    assert np.allclose(found["dtheta1"], 2.0, rtol=0, atol=1e-10)
    with pytest.raises(AssemblyError, match="drive theta2"):
        kinematics(model, 1.0, drives={"theta0": law, "theta2": "0.7 + 2*t"})


def test_a_place_out_of_reach_stops_the_run_with_time_constraints_and_results(
    crank: bl.System,
) -> None:
    # r + l = 0.4 is reached at t = 0.798
    with pytest.raises(SimulationError, match=r"after t = 0\.795 s .*(pin_1|drive x) by") as caught:
        kinematics(crank, 1.0, step=0.005, drives={"x": "0.3601 + 0.05*t"})
    kept = caught.value.results
    assert kept.t[-1] == pytest.approx(0.795) and kept.interrupted
    assert np.allclose(kept["x"], 0.3601 + 0.05 * kept.t, rtol=0, atol=1e-10)
    assert np.abs(kept["constraint error"]).max() < 1e-9


def test_freedoms_that_nothing_drives_are_named(crank: bl.System) -> None:
    with pytest.raises(ModelError, match=r"1 degree of freedom is not driven.*dtheta"):
        kinematics(crank, 1.0)
    with pytest.raises(ModelError, match="no coordinate, velocity or output tta"):
        kinematics(crank, 1.0, drives={"tta": "t"})
    with pytest.raises(ModelError, match="depends on phi"):
        kinematics(crank, 1.0, drives={"theta": "2*phi"})
    with pytest.raises(ModelError, match="driven already"):
        driven(driven(crank, {"theta": "t"}), {"theta": "t"})


def test_a_parallelogram_goes_through_its_singular_position_and_tells() -> None:
    model = four_bars(1).equations()
    # all bars lie on one line at θ = π, between two instants; there it could fold
    found = kinematics(
        model, 1.0, step=0.01, drives={"theta0": "pi/2 + 3.13*t"}, condition_limit=200.0
    )
    assert np.abs(found["phi1"]).max() < 1e-9
    assert np.allclose(found["theta1"], found["theta0"], rtol=0, atol=1e-9)
    names = {event.name.split(":")[0] for event in found.events}
    assert names == {"singular position", "determinant changes sign"}
    worst = found.t[np.argmax(found["condition"])]
    assert worst == pytest.approx(math.pi / 2 / 3.13, abs=0.01)
    for event in found.events:
        assert event.time == pytest.approx(worst, abs=0.02)


def test_steps_that_leap_to_another_branch_are_taken_again() -> None:
    model = four_bar().equations()
    options: dict[str, Any] = {
        "drives": {"theta1": "0.3 + 2*pi*t"},
        "q": {"theta2": -1.0, "theta3": 2.2},
    }
    # from one half turn to the next, Newton's method ends on the other branch
    coarse = kinematics(model, 1.0, step=0.5, **options)
    fine = kinematics(model, 1.0, step=0.005, output=0.5, **options)
    assert np.allclose(coarse.q, fine.q, rtol=0, atol=1e-12)
    assert np.allclose(coarse.a, fine.a, rtol=0, atol=1e-9)
    assert coarse.statistics is not None and coarse.statistics.failed_steps


def test_an_instant_at_a_singular_position_does_not_stop_the_run() -> None:
    # a drive of cos θ is singular at θ = π, which is instant 150 of 400; the crank goes on turning
    s = slider_crank()
    s.output("cosine", bl.cos(s.q[0]))
    found = kinematics(
        s, 1.0, step=0.0025, drives={"cosine": "cos(pi/4 + 2*pi*t)"}, parameters=LARGE,
        q={"theta": 0.7},
    )  # fmt: skip
    assert np.allclose(found["theta"], math.pi / 4 + TURN * found.t, rtol=0, atol=1e-7)
    singular = [event.time for event in found.events if event.name.startswith("singular position")]
    assert np.allclose(singular, [0.375, 0.875])


# --- with integration -----------------------------------------------------------------------------


def test_a_rolling_disc_follows_its_heading() -> None:
    model = rolling_disc().equations()
    laws = {"psi": "0.8*cos(2*t)", "phi": "3"}
    found = kinematics(
        model, 2.0, step=0.005, drives={"theta": "0.2 + 0.1*t"}, accelerations=laws,
        q=[0.0, 0.0, 0.3, 0.2, 0.0], v={"dpsi": 0.5, "dphi": 2.0},
    )  # fmt: skip
    t = found.t
    psi = 0.3 + 0.5 * t + 0.2 * (1 - np.cos(2 * t))
    phi = 2 * t + 1.5 * t**2
    assert np.allclose(found["psi"], psi, rtol=0, atol=1e-9)
    assert np.allclose(found["phi"], phi, rtol=0, atol=1e-9)
    assert np.allclose(found["theta"], 0.2 + 0.1 * t, rtol=0, atol=1e-13)

    def heading(s: float) -> float:
        return 0.3 + 0.5 * s + 0.2 * (1 - math.cos(2 * s))

    # the contact runs at r φ' along the heading
    x, y = (
        quad(lambda s, part=part: RADIUS * (2 + 3 * s) * part(heading(s)), 0, 2)[0]
        for part in (math.cos, math.sin)
    )
    assert found["x"][-1] == pytest.approx(x, abs=1e-9)
    assert found["y"][-1] == pytest.approx(y, abs=1e-9)
    assert np.abs(found["velocity error"]).max() < 1e-12


def test_integrated_accelerations_agree_with_positions(crank: bl.System) -> None:
    by_positions = kinematics(crank, 1.0, step=0.01, drives={"theta": "1 + 2*t + sin(3*t)"})
    by_integration = kinematics(
        crank, 1.0, step=0.01, accelerations={"theta": "-9*sin(3*t)"},
        parameters={"theta_0": 1.0, "omega_0": 5.0},
    )  # fmt: skip
    for group, error in (("q", 1e-7), ("v", 1e-6), ("a", 1e-5)):
        difference = getattr(by_positions, group) - getattr(by_integration, group)
        assert np.abs(difference).max() < error
    with pytest.raises(ModelError, match="integrate=True"):
        kinematics(crank, 1.0, accelerations={"theta": "t"}, integrate=False)


def test_a_quaternion_follows_driven_angular_velocities() -> None:
    found = kinematics(
        spinning_body(1.0, 1.4, 2.0),
        1.0,
        step=0.005,
        drives={"w1": "0", "w2": "0", "w3": "2*t"},
    )
    half = found.t**2 / 2
    assert np.allclose(found["e0"], np.cos(half), rtol=0, atol=1e-9)
    assert np.allclose(found["e3"], np.sin(half), rtol=0, atol=1e-9)
    assert np.allclose(found["dw3"], 2.0)
