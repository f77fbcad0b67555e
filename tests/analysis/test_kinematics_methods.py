"""Methods for positions against their formulas by NumPy, closed forms and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.driving import driven
from biela.analysis.iterated_positions import IteratedPositions, unrolled_operations
from biela.analysis.kinematics import kinematics
from biela.analysis.position_method import PositionMethod
from biela.analysis.positioning import Positioning, engine
from biela.analysis.unrolled_positions import UnrolledPositions
from biela.errors import ModelError, SimulationError, SingularityError
from biela.solvers.newton import CONVERGED
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.mechanisms.four_bars import four_bars
from examples.mechanisms.slider_crank import RADIUS, ROD, slider_crank
from tests.analysis.chain_of_bodies import chain, folded
from tests.analysis.euler_parameter_arm import arm, start

#: Iterations to 1e-5 from x = 1 m to a target, by Newton's method and with λ = 0.05; the reach is
#: 4 m.  Counted by another program.
ITERATIONS = {3.9: (5, 7), 3.99: (7, 14), 3.999: (8, 42), 4.0: (9, 156)}
NOTHING = np.zeros(0)


@pytest.fixture(scope="module")
def spatial_arm() -> bl.System:
    return arm()


@pytest.fixture(scope="module")
def crank() -> bl.System:
    return slider_crank().equations().system


def iterated(system: bl.System, X: float, method: PositionMethod) -> IteratedPositions:
    return IteratedPositions(system, np.array([X]), NOTHING, method, 1e-5)


def test_targets_near_the_reach_take_the_iterations_of_the_formulas(
    spatial_arm: bl.System,
) -> None:
    """δ = -J⁺ f and δ = -(JᵀJ + λ²)⁻¹ Jᵀ f by NumPy, with slopes by central differences."""

    def f(q: np.ndarray, X: float) -> np.ndarray:
        return np.asarray(spatial_arm.evaluate("Phi", q, p=[X]))

    def slopes(q: np.ndarray, X: float) -> np.ndarray:
        columns = [(f(q + 1e-6 * e, X) - f(q - 1e-6 * e, X)) / 2e-6 for e in np.eye(len(q))]
        return np.stack(columns, axis=1)

    for X, counts in ITERATIONS.items():
        for damping, most in zip((0.0, 0.05), counts, strict=True):
            if most > 20:
                continue
            q, count = np.array(start()), 0
            while np.linalg.norm(f(q, X)) >= 1e-5:
                J = slopes(q, X)
                A = J.T @ J + damping**2 * np.eye(len(q))
                inverse = np.linalg.solve(A, J.T) if damping else np.linalg.pinv(J)
                q, count = q - inverse @ f(q, X), count + 1
            assert count == most
    for X, counts in ITERATIONS.items():
        for name, count in zip(("newton", "damped"), counts, strict=True):
            method = PositionMethod(name, tolerance=1e-5, predictor=0)
            found = iterated(spatial_arm, X, method).position(0.0, np.array(start()))
            assert (found.status, found.iterations) == (CONVERGED, count)
            assert np.linalg.norm(found.residual) < 1e-5


def test_a_target_out_of_reach_is_never_accepted(spatial_arm: bl.System) -> None:
    for name, most in (("newton", 200), ("damped", 2000), ("quasi_newton", 2000)):
        method = PositionMethod(name, tolerance=1e-5, predictor=0, iterations=most)
        found = iterated(spatial_arm, 4.05, method).position(0.0, np.array(start()))
        assert found.status != CONVERGED
        # 0.05 m cannot be missed by less than this: least squares spread it over the joints
        assert 5.2e-3 < np.linalg.norm(found.residual) < 0.3


@pytest.mark.parametrize("method", ["newton", "damped"])
def test_a_run_to_a_target_out_of_reach_says_so_and_keeps_what_is_right(method: str) -> None:
    with pytest.raises(SimulationError, match=r"cannot reach at t = .*drive x by") as caught:
        kinematics(arm("1 + t"), 3.2, step=0.08, method=method)
    kept = caught.value.results
    assert "elbow" in str(caught.value)  # the joint that is stretched
    assert np.abs(kept["constraint error"]).max() < 1e-10
    assert kept.t[-1] == pytest.approx(2.96)
    assert np.allclose(kept["r4_0"], 1 + kept.t, rtol=0, atol=1e-9)
    # both arm links at acos(x/4) from the horizontal, in opposite senses
    beta = np.arccos((1 + kept.t) / 4)
    assert np.allclose(kept["p3_2"], -np.sin(beta / 2), rtol=0, atol=1e-9)
    assert np.allclose(kept["p4_2"], np.sin(beta / 2), rtol=0, atol=1e-9)


METHODS = [
    PositionMethod("newton", iterations=20),
    PositionMethod("newton", stop="correction", tolerance=1e-8),
    PositionMethod("newton", predictor=0),
    PositionMethod("newton", predictor=1),
    PositionMethod("damped"),
    PositionMethod("damped", damping=0.2),
    PositionMethod("transpose"),
    PositionMethod("quasi_newton"),
    PositionMethod("quasi_newton", update="dfp"),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.name}-{m.stop}-{m.predictor}")
def test_every_method_gives_the_closed_form(crank: bl.System, method: PositionMethod) -> None:
    found = kinematics(crank, 1.0, step=0.01, drives={"theta": "0.7 + 2*pi*t"}, method=method)
    theta, omega = 0.7 + 2 * math.pi * found.t, 2 * math.pi
    s, c = np.sin(theta), np.cos(theta)
    root = np.sqrt(ROD**2 - (RADIUS * s) ** 2)
    x = RADIUS * c + root
    v = omega * (-RADIUS * s - RADIUS**2 * s * c / root)
    assert np.abs(found["x"] - x).max() < 1e-9
    assert np.abs(found["dx"] - v).max() < 1e-8
    assert np.abs(found["constraint error"]).max() < 1e-10


def test_a_better_prediction_saves_iterations(crank: bl.System) -> None:
    taken = [
        kinematics(
            crank, 1.0, step=0.01, drives={"theta": "2*pi*t"},
            method=PositionMethod(predictor=order, iterations=40),
        ).statistics.iterations
        for order in (0, 1, 2)
    ]  # fmt: skip
    assert taken[0] > taken[1] > taken[2]


def test_a_coarse_tolerance_of_the_user_is_kept_and_costs_less(crank: bl.System) -> None:
    fine = kinematics(crank, 1.0, drives={"theta": "2*pi*t"}, method="damped")
    coarse = kinematics(crank, 1.0, drives={"theta": "2*pi*t"}, method="damped", tolerance=1e-5)
    assert coarse.statistics.iterations < fine.statistics.iterations
    assert 1e-9 < coarse["constraint error"].max() < 1e-5


def test_options_that_make_no_sense_are_refused() -> None:
    for options in (
        {"name": "bisection"},
        {"update": "sr1"},
        {"stop": "time"},
        {"predictor": 3},
        {"damping": 0.0},
        {"tolerance": -1.0},
        {"iterations": 0},
    ):
        with pytest.raises(ModelError):
            PositionMethod(**options)


# --- unrolled and iterated ------------------------------------------------------------------------

LAWS = ["0.9 + t", "-0.2 - t", "0.4*t"]


@pytest.mark.parametrize("closed", [False, True])
def test_unrolled_and_iterated_positions_agree(closed: bool) -> None:
    # a closed chain of three bars is a four-bar with three redundant rows, driven by one
    if closed:
        system = chain(3, ["0.9 + t"], [("J4", 3, (1.0, 0.0, 0.0), 0, (1.3, 0.4, 0.0))])
        q = bl.assemble(chain(3, ["0.9"], [("J4", 3, (1.0, 0.0, 0.0), 0, (1.3, 0.4, 0.0))]),
                        folded([0.9, -0.2, -1.5])).q  # fmt: skip
    else:
        system, q = chain(3, LAWS), np.array(folded([0.9, -0.2, 0.0]))
    states = []
    for made in (
        UnrolledPositions(system, NOTHING, NOTHING),
        IteratedPositions(system, NOTHING, NOTHING, PositionMethod(), 1e-10),
    ):
        course = Positioning(system, NOTHING, NOTHING, made).course(
            0.0, made.start(0.0, q), 0.02, 20, 1, 1e-10, lambda *_: None
        )
        assert course.stopped is None
        states.append(course.states)
    assert np.abs(states[0] - states[1]).max() < 1e-11
    turned = 2 * np.arctan2(states[1][:, 6], states[1][:, 3])
    assert np.allclose(turned, 0.9 + 0.02 * np.arange(21), rtol=0, atol=1e-12)


def test_the_size_of_the_code_decides_between_them() -> None:
    def angles(n: int) -> list[str]:
        return [f"{0.1 * k} + {0.3 + 0.1 * k}*t" for k in range(1, n + 1)]

    small, large = chain(2, angles(2)), chain(13, angles(13))
    assert unrolled_operations(small) < 8000 < unrolled_operations(large)
    start = np.array(folded([0.1, 0.2]))
    made = engine(small, NOTHING, NOTHING, PositionMethod(), 1e-10, (0.0, start))
    assert isinstance(made, UnrolledPositions)
    q = np.array(folded([0.1 * k for k in range(1, 14)]))
    made = engine(large, NOTHING, NOTHING, PositionMethod(), 1e-10, (0.0, q))
    assert isinstance(made, IteratedPositions)
    states, _ = made.run(0.0, made.start(0.0, q), 0.01, 50)
    wanted = folded([0.1 * k + 0.5 * (0.3 + 0.1 * k) for k in range(1, 14)])
    assert np.allclose(states[-1, : len(q)], wanted, rtol=0, atol=1e-11)


def test_leaps_to_another_branch_are_seen_with_quaternions_too() -> None:
    # sin(angle - law) = 0 has a second root half a turn away, and a prediction that is wrong by
    # more than a quarter ends there; the law is given twice, so there is no determinant to tell
    law = "2*sin(4*t)"
    coarse = kinematics(chain(1, [(1, law), (1, law)]), 2.7, step=0.45, q=folded([0.0]))
    assert coarse.statistics is not None and coarse.statistics.failed_steps
    angle = 2 * np.arctan2(coarse["e1_3"], coarse["e1_0"])
    wanted = 2 * np.sin(4 * coarse.t)
    assert np.abs(np.exp(1j * angle) - np.exp(1j * wanted)).max() < 1e-10
    assert np.allclose(coarse["w1_2"], 8 * np.cos(4 * coarse.t), rtol=0, atol=1e-9)


# --- singular positions ---------------------------------------------------------------------------


def test_an_alarm_names_the_time_the_joints_and_what_is_free(crank: bl.System) -> None:
    s = slider_crank()
    s.output("cosine", bl.cos(s.q[0]))
    found = kinematics(
        s, 0.5, step=0.0025, drives={"cosine": "cos(pi/4 + 2*pi*t)"}, q={"theta": 0.7}
    )
    (event,) = [e for e in found.events if e.name.startswith("singular position")]
    assert event.time == pytest.approx(0.375)
    assert event.name.startswith("singular position: drive cosine leave dtheta")


def test_joints_are_named_by_the_first_part_of_their_constraints() -> None:
    # a rhombus on one line: the loop loses the row along it, and can fold
    model = driven(four_bars(1), {"theta0": "pi/2 + 3.13*t"})
    found = kinematics(model, 1.0, step=0.01, condition_limit=200.0)
    name = next(e.name for e in found.events if e.name.startswith("singular"))
    assert "loop1" in name and "drive theta0" in name and "loop1_1" not in name


def test_the_alarm_of_the_determinant_is_there_for_those_who_ask(crank: bl.System) -> None:
    options = {"drives": {"theta": "2*pi*t"}, "step": 0.02}
    quiet = kinematics(crank, 1.0, **options)
    assert not quiet.events
    # |det| = l cos φ, between 0.283 and 0.3
    phi = np.arcsin(RADIUS / ROD * np.sin(2 * math.pi * quiet.t))
    assert np.allclose(np.abs(quiet["determinant"]), ROD * np.cos(phi), rtol=0, atol=1e-12)
    warned = kinematics(crank, 1.0, determinant_limits=(0.285, 0.299), **options)
    low = [e.time for e in warned.events if e.name.startswith("determinant near zero")]
    high = [e.time for e in warned.events if e.name == "determinant above 0.299"]
    assert np.allclose(low, [0.2, 0.7], atol=0.021) and np.allclose(high, [0, 0.5, 0.98], atol=0.04)
    with pytest.raises(ModelError, match="in order"):
        kinematics(crank, 1.0, determinant_limits=(3.0, 1.0), **options)


def test_redundant_constraints_are_no_singular_position() -> None:
    system = chain(3, ["0.9 + t"], [("J4", 3, (1.0, 0.0, 0.0), 0, (1.3, 0.4, 0.0))])
    found = kinematics(system, 0.4, step=0.02, q=folded([0.9, -0.2, -1.5]))
    assert not [e for e in found.events if e.name.startswith("singular")]
    assert found["condition"].max() < 1e3


def test_a_freedom_is_named_in_a_mechanism_with_redundant_constraints_too() -> None:
    loop = chain(3, [], [("J4", 3, (1.0, 0.0, 0.0), 0, (1.3, 0.4, 0.0))])
    with pytest.raises(ModelError, match=r"1 degree of freedom is not driven.*w\d_2"):
        kinematics(loop, 1.0, q=folded([0.9, -0.2, -1.5]))
    # as many constraints as velocities, but one of them too many
    with pytest.raises(ModelError, match=r"1 degree of freedom is not driven.*theta"):
        kinematics(double_parallelogram(), 1.0)


def test_a_start_in_a_singular_position_is_no_lack_of_drives() -> None:
    with pytest.raises(SingularityError, match="the start at t = 0 s is a singular position"):
        kinematics(
            four_bars(1), 1.0, drives={"theta0": "pi + t"},
            q={"theta0": math.pi, "theta1": math.pi, "phi1": 0.0},
        )  # fmt: skip


def test_a_rod_that_is_too_short_locks_up_with_a_diagnosis() -> None:
    # the crank pin is at most √(0.1² + 0.12²) + 0.08 = 0.2362 m from the line of the slider
    s = bl.SymbolicSystem("spatial")
    theta, x = s.coordinates("theta x")
    (rod,) = s.parameters(rod=0.24)
    crank = s.base.rotated("crank", "x", theta)
    centre = s.origin.offset("centre", s.base.vector(0, 0.1, 0.12))
    pin = centre.offset("pin", crank.vector(0, 0, 0.08))
    end = s.origin.offset("end", s.base.vector(x, 0, 0))
    s.solid("slider", at=end, base=s.base, mass=1.0)
    s.solid("crank", at=pin, base=crank, mass=1.0)
    s.constrain(s.position(pin, end).norm2() - rod**2, name="rod")
    s.start(x=0.2)
    model, drives = s.equations(), {"theta": "2*pi*t"}
    assert len(kinematics(model, 1.0, drives=drives)) == 101
    with pytest.raises(SimulationError, match=r"cannot reach at t = 0\.88 s.*rod, drive") as caught:
        kinematics(model, 1.0, drives=drives, parameters={"rod": 0.236})
    kept = caught.value.results
    assert kept.t[-1] == pytest.approx(0.87) and kept["x"].min() > 0
