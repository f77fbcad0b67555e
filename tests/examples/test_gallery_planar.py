"""The planar mechanisms of the gallery against ruler and compass, and what they are known for.

Each linkage is solved a second time by circles that meet (`tests.examples.linkages`), with its
velocities and accelerations, and compared over the whole run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import biela as bl
from biela.analysis.instant import Instant
from biela.analysis.joint_reactions import joint_reactions
from biela.model.files import dumps, loads
from tests.examples.gallery import Floats, frame, in_space, model, motion, system
from tests.examples.linkages import Moving, meeting, steady, swinging, turning

TURN = 2 * math.pi
Points = Mapping[str, Moving]


# --------------------------------------------------------------------------------- by hand


def slider_crank(t: Floats, speed: float = TURN) -> Points:
    pin = 2 * turning(steady(t, math.pi / 4, speed))
    x = pin.x + (3.5**2 - pin.z * pin.z).root
    return {"rod.crank_pin": pin, "rod": (pin + x) / 2, "piston": x}


def four_bar(t: Floats) -> Points:
    B = 0.1 * turning(steady(t, math.pi / 3, TURN))
    C = meeting(B, 0.25, 0.3, 0.25)
    return {"coupler.B": B, "coupler.C": C, "coupler.P": B + (0.15 + 0.12j) * (C - B) / 0.25}


def parallelogram(t: Floats) -> Points:
    B = turning(swinging(t, math.pi / 2, math.radians(80), math.pi))
    return {"left.B": B, "right.C": B + 1, "coupler.middle": B + 0.5}


def watt(t: Floats) -> Points:
    B = -0.3 + 0.1j + 0.3 * turning(swinging(t, 0, math.radians(20), TURN))
    C = meeting(0.3 - 0.1j, 0.3, B, 0.2)
    return {"left_arm.left_pin": B, "right_arm.right_pin": C, "bar.middle": (B + C) / 2}


def quick_return(t: Floats) -> Points:
    pin = 0.2j + 0.1 * turning(steady(t, 0, TURN))
    tip = 0.4 * pin.direction
    drop = 0.37 - tip.z
    ram = tip.x - (0.16**2 - drop * drop).root + 0.37j
    return {"block": pin, "lever.lever_pin": tip, "ram": ram, "ram.tool": ram - 0.15}


def peaucellier(t: Floats) -> Points:
    B = 0.2 + 0.2 * turning(swinging(t, 0, math.radians(70), math.pi))
    A, C = meeting(0, 0.5, B, 0.2), meeting(B, 0.2, 0, 0.5)
    D = meeting(A, 0.2, C, 0.2)
    # of the two corners of the rhombus the one away from B
    return {
        "crank.B1": B,
        "upper_arm.A1": A,
        "lower_arm.C1": C,
        "outer_upper.D": A + C - B,
        "outer_lower.D": D,
    }


def pantograph(t: Floats) -> Points:
    c, s = np.cos(math.pi * t), np.sin(math.pi * t)
    c2, s2 = np.cos(TURN * t), np.sin(TURN * t)
    w, r = math.pi, 0.05
    T = 0.25 + Moving(
        [r * c + 1j * r * s2, -r * w * s + 2j * r * w * c2, -r * w**2 * c - 4j * r * w**2 * s2]
    )
    A = meeting(0, 0.2, T, 0.2)
    return {"inner.T": T, "first.A": A, "first.P": 3 * A, "second.B": T + 2 * A, "second.Q": 3 * T}


def theo_jansen(t: Floats) -> Points:
    mm = 1e-3
    M, P = 15 * mm * turning(steady(t, 0, TURN)), (-38 - 7.8j) * mm
    Q, R = meeting(P, 41.5 * mm, M, 50 * mm), meeting(M, 61.9 * mm, P, 39.3 * mm)
    S = meeting(P, 40.1 * mm, Q, 55.8 * mm)
    T = meeting(R, 36.7 * mm, S, 39.4 * mm)
    F = meeting(R, 49 * mm, T, 65.7 * mm)
    return {"upper_rod.Q": Q, "shank": R, "hip.S": S, "tendon.T": T, "shank.F": F}


def geared_five_bar(t: Floats) -> Points:
    C = 0.025 * turning(steady(t, 0, TURN))
    D = 0.09 + 0.04 * turning(steady(t, math.pi / 3, -TURN / 2))
    P = meeting(C, 0.12, D, 0.11)
    return {"gear_1.C": C, "gear_2.D": D, "first_bar.P": P, "second_bar.P": P}


def excavator(t: Floats) -> Points:
    w = math.radians(36)
    lift = swinging(t, 2.6, -0.2, w)
    crowd = 2.85 - _cosine(t, 0.35, w)
    curl = 2.1 - _cosine(t, 0.2, w)
    # each body is a complex factor: its direction from that of the body before it
    lug = 2.5 + 0.4j
    boom = meeting(0, abs(lug), 0.6 - 0.5j, lift) / lug
    lug = -0.75 + 0.2j
    stick = (meeting(3.2 + 0.85j, crowd, 5.7, abs(lug)) - 5.7) / lug
    end = meeting(0.3 + 0.5j, curl, 2.45 + 0.05j, 0.6)
    lug = -0.301 + 0.334j
    bucket = (meeting(end, 0.55, 2.9, abs(lug)) - 2.9) / lug
    tip = 5.7 * boom
    pin = tip + 2.9 * boom * stick
    return {
        "boom.lug": (2.5 + 0.4j) * boom,
        "stick": tip,
        "rocker.end": tip + boom * stick * end,
        "bucket": pin,
        "bucket.teeth": pin + 1.45 * boom * stick * bucket,
    }


def scissor_lift(t: Floats) -> Points:
    x = 0.95 + _cosine(t, 0.18, math.radians(36))
    h = (1.2**2 - x * x).root
    return {
        "stage[0].rising.upper": x + 1j * h,
        "stage[1].falling": x / 2 + 1.5j * h,
        "stage[2].rising.upper": x + 3j * h,
        "platform": 3j * h,
    }


def _cosine(t: Floats, size: float, w: float) -> Moving:
    c, s = np.cos(w * t), np.sin(w * t)
    return Moving([size * c, -size * w * s, -size * w * w * c])


BY_HAND: dict[str, Callable[[Floats], Points]] = {
    f.__name__: f
    for f in (
        slider_crank,
        four_bar,
        parallelogram,
        watt,
        quick_return,
        peaucellier,
        pantograph,
        theo_jansen,
        geared_five_bar,
        excavator,
        scissor_lift,
    )
}


def errors(results: bl.Results, expected: Points, up: int = 2) -> Floats:
    """Errors (3, n) of place, velocity and acceleration, the largest of all points.

    They are in metres and seconds, or parts of the largest value compared where that is above one.
    """
    worst = np.zeros((3, len(results.t)))
    for name, point in expected.items():
        place, _, twist, slope = frame(results, name)
        for k, found in enumerate((place, twist, slope)):
            wanted = point.parts[k]
            gap = np.abs(found[:, 0] + 1j * found[:, up] - wanted)
            worst[k] = np.maximum(worst[k], gap / max(1.0, np.abs(wanted).max()))
    return worst


def by_hand(name: str, results: bl.Results) -> Floats:
    """Errors of a motion of a mechanism of the gallery."""
    up = 1 if name == "slider_crank" else 2
    return errors(results, BY_HAND[name](np.asarray(results.t)), up)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_linkage_moves_as_ruler_and_compass_say(name: str) -> None:
    place, velocity, acceleration = by_hand(name, motion(name))
    assert place.max() <= 1e-12
    assert velocity.max() <= 1e-10
    assert acceleration.max() <= 1e-10


@pytest.mark.parametrize(("name", "loops"), [("four_bar", 1), ("quick_return", 2)])
def test_a_linkage_in_space_has_three_redundant_rows_a_loop_and_moves_alike(
    name: str, loops: int
) -> None:
    equations = bl.formulate(in_space(name), "reference")
    assert len(bl.assemble(equations).redundant) == 3 * loops
    results = bl.kinematics(equations, 1.0, step=0.01, tolerance=1e-13)
    place, velocity, acceleration = by_hand(name, results)
    assert place.max() <= 1e-12
    assert velocity.max() <= 1e-10
    assert acceleration.max() <= 1e-10


# ------------------------------------------------------------- what they are known for


def test_the_slider_crank_of_the_thesis_has_three_redundant_rows_by_name() -> None:
    redundant = bl.assemble(system("slider_crank", "reference")).redundant
    assert len(redundant) == 3
    assert {name.partition(".")[0] for name in redundant} == {"guide"}


def test_the_slider_crank_runs_twice_as_fast_through_the_same_places() -> None:
    """Peinado, example 1: both speeds reach 5.5 m, with 2 and 4 times velocity and acceleration."""
    results = bl.kinematics(
        system("slider_crank"), 1.0, step=0.01, tolerance=1e-13, parameters={"speed": 2 * TURN}
    )
    t = np.asarray(results.t)
    worst = errors(results, slider_crank(t, 2 * TURN), up=1)
    assert worst[0].max() <= 1e-12
    assert worst[1:].max() <= 1e-10
    # a sample of the table of the closed form, t = 0.05 and 0.8 s
    x, v = np.asarray(results["slider.x"]), np.asarray(results["slider.vx"])
    assert x[[5, 80]] == pytest.approx([3.202140, 2.576402], abs=5e-7)
    assert v[[5, 80]] == pytest.approx([-27.511344, 22.135287], abs=5e-7)


def test_peaucelliers_cell_draws_an_exact_straight_line() -> None:
    place = frame(motion("peaucellier"), "outer_upper.D")[0]
    assert np.abs(place[:, 0] - (0.5**2 - 0.2**2) / 0.4).max() <= 1e-13
    assert np.ptp(place[:, 2]) > 0.7


def test_the_middle_of_watts_bar_stays_on_watts_curve() -> None:
    """r² = b² - (a sin w ± √(c² - a² cos² w))²; of the signs the nearer one."""
    a, b, c = math.hypot(0.3, 0.1), 0.3, 0.1
    place = frame(motion("watt"), "bar.middle")[0]
    point = (place[:, 0] + 1j * place[:, 2]) * np.exp(-1j * math.atan2(-0.1, 0.3))
    r, w = np.abs(point), np.angle(point)
    apart = r > 0.01  # where all is zero an angle says nothing
    inside = np.sqrt(np.maximum(c**2 - (a * np.cos(w)) ** 2, 0))
    gap = [r**2 - b**2 + (a * np.sin(w) + sign * inside) ** 2 for sign in (1, -1)]
    assert np.abs(gap).min(axis=0)[apart].max() <= 1e-12
    # and that is nearly straight
    assert np.abs(place[:, 0]).max() < 0.01 * np.ptp(place[:, 2])


def test_the_ram_returns_in_half_the_time_of_its_stroke() -> None:
    """Strokes last as 240 : 120 degrees of the crank: the lever is at its ends at 210 and 330."""
    rate = np.asarray(motion("quick_return")["lever_angle_rate"])
    t = np.asarray(motion("quick_return").t)
    turns = [np.interp(0, *_around(rate, t, k)) for k in np.flatnonzero(np.diff(np.sign(rate)))]
    # straight lines between samples of a curve: not exact
    assert turns == pytest.approx([210 / 360, 330 / 360], abs=1e-4)


def _around(y: Floats, t: Floats, k: int) -> tuple[Floats, Floats]:
    pair = slice(k, k + 2)
    return (y[pair], t[pair]) if y[k + 1] > y[k] else (y[pair][::-1], t[pair][::-1])


def test_the_pen_draws_three_times_what_the_tracer_follows() -> None:
    results = motion("pantograph")
    for axis in ("x", "z", "vx", "vz"):
        tracer, pen = np.asarray(results[f"tracer.{axis}"]), np.asarray(results[f"pen.{axis}"])
        assert np.abs(pen - 3 * tracer).max() <= 1e-12


@pytest.mark.parametrize("step", [1 / 137, 0.01])
def test_the_parallelogram_turns_through_its_dead_points(step: float) -> None:
    """Samples 0.01 rad beside the dead points, and right in them, where a rank is lost.

    At δ from a dead point a residual ε of the equations is ε/δ, ε/δ² and ε/δ³ in place, velocity
    and acceleration.
    """
    law = "90 deg + 360 deg*t"
    results = bl.kinematics(
        _turning(law), 2.0, step=step, tolerance=1e-13, through_dead_points=True
    )
    B = turning(steady(np.asarray(results.t), math.pi / 2, TURN))
    found = errors(results, {"left.B": B, "right.C": B + 1, "coupler.middle": B + 0.5})
    assert (found.max(axis=1) <= 1e-13 / 0.01 ** np.arange(1, 4)).all()


@cache
def _turning(law: str) -> bl.System:
    """The parallelogram with another law of its motor."""
    text = dumps(model("parallelogram")).replace("90 deg + swing*sin(180 deg*t)", law)
    assert law in text
    return bl.formulate(loads(text))


def test_the_cylinder_of_the_scissor_lift_carries_what_virtual_work_says() -> None:
    """F = (n W + n² m g) x / h, standing still."""
    still = bl.kinematics(system("scissor_lift"), 0.1, step=0.05, parameters={"way": 0.0})
    force, _ = joint_reactions(model("scissor_lift"), still, parameters={"way": 0.0})["cylinder"]
    n, W, m, g, x = 3, 180 * 9.81, 12, 9.81, 0.95
    expected = (n * W + n**2 * m * g) * x / math.sqrt(1.2**2 - x**2)
    assert np.abs(force[:, 0]) == pytest.approx(expected, rel=1e-9)


def test_the_cylinders_of_the_excavator_give_the_power_that_its_motion_takes() -> None:
    """Σ F l' = d/dt (T + V) + load v_z, the slope of the energy by differences of fourth order."""
    results = motion("excavator")
    reactions = joint_reactions(model("excavator"), results)
    power = np.zeros(len(results.t))
    for driver, cylinder in (("lift", "boom"), ("crowd", "stick"), ("curl", "bucket")):
        rod, barrel = (frame(results, f"{cylinder}_{end}")[2][:, :3] for end in ("rod", "barrel"))
        force, _ = reactions[driver]
        power += np.sum(force * (rod - barrel), axis=1)
    E, h = np.asarray(results["energy"]), results.t[1] - results.t[0]
    slope = (E[:-4] - 8 * E[1:-3] + 8 * E[3:-1] - E[4:]) / (12 * h)
    expected = slope + 8000 * frame(results, "bucket.load")[2][2:-2, 2]
    assert np.abs(power[2:-2] - expected).max() <= 1e-5 * np.abs(expected).max()


def test_the_lamp_stays_wherever_it_is_put() -> None:
    equations = system("balanced_lamp")
    random = np.random.default_rng(4)
    for _ in range(5):
        shoulder, elbow = random.uniform(0.2, 2.8, 2)
        start = {
            "shoulder.angle": shoulder,
            "elbow.angle": elbow,
            "bar_bottom.angle": shoulder,
            "upright.angle": -shoulder,
        }
        q = bl.assemble(equations, start).q
        instant = Instant(equations, 0.0, equations.inputs, equations.parameters)
        acceleration, _ = instant.motion(q, np.zeros(4))
        assert np.abs(acceleration).max() <= 1e-10


def test_the_lamp_moves_as_if_there_were_no_gravity() -> None:
    """T = (A θ'² + C φ'²)/2 + B θ' φ' cos(θ - φ), φ the angle of the upper arm in the ground."""
    l1, l2 = 0.4, 0.35
    A = (0.3 + 0.1) * l1**2 / 3 + (0.15 + 0.25 + 0.4) * l1**2
    B = (0.25 / 2 + 0.4) * l2 * l1
    C = (0.25 / 3 + 0.4) * l2**2

    def rates(t: float, x: Floats) -> Floats:
        c, s = math.cos(x[0] - x[1]), math.sin(x[0] - x[1])
        M = np.array([[A, B * c], [B * c, C]])
        return np.concatenate(
            [x[2:], np.linalg.solve(M, B * s * np.array([-(x[3] ** 2), x[2] ** 2]))]
        )

    start = np.radians([110, 10, -40, 30])
    found = motion("balanced_lamp")
    wanted = solve_ivp(rates, (0, 1), start, rtol=1e-12, atol=1e-13).y[:2, -1]
    angles = [np.asarray(found[f"{name}.angle"])[-1] for name in ("shoulder", "elbow")]
    assert angles == pytest.approx(wanted, abs=1e-8)
