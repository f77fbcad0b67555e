"""Figures of drives against closed forms, and gears against a search by hand."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ResultsError, ShapeError
from biela.results.gear_choice import gear_ratios, geared, lossless_ratio
from biela.results.motor_sizing import Motor, motor_duty

T = np.linspace(0, 2 * np.pi, 20001)
#: Straight lines instead of arcs: the relative error of a mean, with a margin.
H2 = (T[1] - T[0]) ** 2


def inertial(inertia=2.0, **more):
    """A load of pure inertia that swings, ω = 3 sin t."""
    return motor_duty(T, inertia * 3 * np.cos(T), 3 * np.sin(T), **more)


def test_figures_of_a_swinging_inertia_are_those_of_the_closed_form():
    """τ ω = 9 sin 2t: what is given in a quarter comes back in the next, 9 J each of four times."""
    duty = inertial(safety=1.3)
    assert duty.peak_torque == 6.0 and duty.peak_time == 0.0
    assert duty.max_speed == pytest.approx(3.0, rel=H2)
    assert duty.rms_torque == pytest.approx(6 / np.sqrt(2), rel=H2)
    assert duty.continuous_torque == pytest.approx(1.3 * 6 / np.sqrt(2), rel=H2)
    assert duty.peak_power == pytest.approx(9.0, rel=H2)
    assert duty.peak_braking_power == pytest.approx(9.0, rel=H2)
    assert abs(duty.mean_power) < 1e-12
    assert duty.regenerated_energy == pytest.approx(18.0, rel=H2)
    assert duty.energy == pytest.approx(18.0, rel=H2)


def test_powers_and_energies_that_are_rounding_are_listed_as_zero():
    # given back in the second half, but for the last digits
    duty = motor_duty([0.0, 1.0], [1.0, -1.0 + 2**-50], [3.0, 3.0])
    figures = dict(zip(duty.table()["figure"], duty.table()["value"], strict=True))
    assert duty.mean_power > 0.0 and figures["mean power"] == 0.0
    assert figures["energy regenerated"] == duty.regenerated_energy == pytest.approx(0.75)
    # a torque that only rounding turns against the speed
    pushed = motor_duty([0.0, 1.0, 2.0], [5.0, 5.0, -1e-15], [1.0, 1.0, 1.0]).table()
    figures = dict(zip(pushed["figure"], pushed["value"], strict=True))
    assert figures["peak braking power"] == figures["energy regenerated"] == 0.0
    assert figures["peak power"] == 5.0 and figures["mean power"] == pytest.approx(3.75)
    # small beside others, but not beside its own peak: no rounding
    small = motor_duty([0.0, 1.0], [1e-12, 1e-12], [1e-3, 1e-3]).table()
    assert dict(zip(small["figure"], small["value"], strict=True))["mean power"] == 1e-15


def test_energy_that_changes_its_sign_within_a_step_is_parted_there():
    """Power from 3 W to -1 W in a second: 9/8 J given, 1/8 J back."""
    duty = motor_duty([0.0, 1.0], [3.0, -1.0], [1.0, 1.0])
    assert duty.energy == pytest.approx(9 / 8, rel=1e-14)
    assert duty.regenerated_energy == pytest.approx(1 / 8, rel=1e-14)
    assert duty.mean_power == pytest.approx(1.0, rel=1e-14)


def test_the_report_names_figures_and_units():
    text = str(inertial(name="shoulder"))
    assert text.startswith("shoulder")
    assert "peak torque" in text and "N·m" in text and "rad/s" in text
    linear = str(inertial(linear=True))
    assert "peak force" in linear and "m/s" in linear and "N·m" not in linear


def test_a_motor_is_judged_by_heat_by_peak_at_speed_and_by_speed():
    duty = inertial()  # 6 peak, 4.24 rms, 6.36 with safety, 3 rad/s
    assert duty.fits(Motor(7.0, 10.0, 4.0))
    for weak, short in (
        (Motor(6.0, 10.0, 4.0), "continuous torque"),
        (Motor(7.0, 10.0, 2.9), "speed"),
    ):
        margins = duty.margins(weak)
        assert not duty.fits(weak)
        assert dict(zip(margins["figure"], margins["enough"], strict=True))[short] == "NO"
    # torque and speed in phase: the peak is needed at full speed, where less is there
    together = motor_duty(T, 6 * np.sin(T), 3 * np.sin(T))
    falling = Motor(5.0, 10.0, 4.0, corner_speed=1.0)
    assert falling.peak_at([0.0, 1.0, 2.5, 4.0, 5.0]).tolist() == [10, 10, 7.5, 5, 0]
    needed = together.margins(falling)
    assert needed["available"][1] == pytest.approx(10 - 5 * 2 / 3, rel=1e-6)
    assert needed["enough"][1] == "yes"


def test_a_gear_trades_torque_for_speed_and_loses_power_both_ways():
    load = inertial()
    motor = geared(load, 10.0, efficiency=0.8)
    assert motor.max_speed == pytest.approx(30.0, rel=H2)
    given, back = load.power > 0, load.power < 0
    assert motor.power[given] == pytest.approx(load.power[given] / 0.8, rel=1e-12)
    assert motor.power[back] == pytest.approx(load.power[back] * 0.8, rel=1e-12)
    alone = geared(motor_duty(T, 0 * T, 3 * np.sin(T)), 10.0, inertia=0.01)
    assert alone.torque == pytest.approx(0.01 * 10 * 3 * np.cos(T), abs=1e-6)


def test_the_best_ratio_of_an_inertia_matches_the_inertias():
    """Of a pure inertia I the best ratio is √(I/J), the classical impedance match."""
    load = inertial(2.0)
    assert lossless_ratio(load, 0.005, 3 * np.cos(T)) == pytest.approx(20.0, rel=1e-12)
    assert lossless_ratio(load, 0.005) == pytest.approx(20.0, rel=1e-6)
    friction = motor_duty(T, 6 * np.cos(T) + 4 * np.sign(np.sin(T)), 3 * np.sin(T))
    best = lossless_ratio(friction, 0.005)
    torques = [geared(friction, best * x, 0.005).rms_torque for x in (0.97, 1.0, 1.03)]
    assert torques[1] == min(torques)


def test_gears_are_listed_by_how_much_of_the_motor_they_use():
    load = inertial()
    motor = Motor(0.8, 2.0, 100.0, inertia=0.005, name="M1")
    found = gear_ratios(load, motor, [5, 10, 15, 20, 30, 40])
    assert list(found["use"]) == sorted(found["use"])
    by_hand = {}
    for ratio in (5, 10, 15, 20, 30, 40):
        rms = (0.005 * ratio + 2.0 / ratio) * 3 / np.sqrt(2)
        peak = (0.005 * ratio + 2.0 / ratio) * 3
        by_hand[ratio] = 100 * max(1.5 * rms / 0.8, peak / 2.0, 3 * ratio / 100)
    assert dict(zip(found["ratio"], found["use"], strict=True)) == pytest.approx(by_hand, rel=1e-5)
    assert found["fits"] == tuple("yes" if use <= 100 else "NO" for use in found["use"])
    assert found["fits"][0] == "yes" and found["fits"][-1] == "NO"
    assert max(gear_ratios(load, motor)["speed"]) == pytest.approx(100.0, rel=1e-9)


def test_the_plot_shows_the_cycle_and_the_limits(tmp_path):
    duty = inertial(name="shoulder")
    motor = Motor(7.0, 10.0, 4.0, name="M1")
    (axes,) = duty.plot(motor, save=tmp_path / "a.png").axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["needed", "effective × 1.5", "M1: peak", "M1: continuous"]
    drawn = next(line for line in axes.lines if line.get_label() == "needed")
    assert np.array_equal(drawn.get_xdata(), duty.speed)
    peak = next(line for line in axes.lines if line.get_label() == "M1: peak")
    assert (peak.get_ydata().max(), peak.get_ydata().min()) == (10.0, -10.0)
    assert (tmp_path / "a.png").exists()
    assert len(duty.plot().axes[0].get_legend().get_texts()) == 2


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: motor_duty([0, 1], [1, 2, 3], [1, 2]), ShapeError, "the torque has shape"),
        (lambda: motor_duty([0, 1], [1, np.nan], [1, 2]), ResultsError, "not known at 1 s"),
        (lambda: motor_duty([0], [1], [1]), ResultsError, "from a beginning to an end"),
        (lambda: motor_duty([0, 1], [1, 1], [1, 1], safety=0.5), ResultsError, "at least 1"),
        (lambda: Motor(-1, 2, 3), ResultsError, "continuous_torque"),
        (lambda: Motor(3, 2, 3), ResultsError, "below the continuous"),
        (lambda: Motor(1, 2, 3, corner_speed=4), ResultsError, "corner speed"),
        (lambda: geared(inertial(), 0.0), ResultsError, "gear ratio of 0"),
        (lambda: geared(inertial(), 1.0, efficiency=1.5), ResultsError, "efficiency of 1.5"),
        (lambda: lossless_ratio(inertial(), 0.0), ResultsError, "no best ratio"),
        (
            lambda: gear_ratios(motor_duty([0, 1], [1, 1], [0, 0]), Motor(1, 2, 3)),
            ResultsError,
            "does not move",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
