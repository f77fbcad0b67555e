"""Figures show the numbers they should, under the right names and units."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ResultsError, UnknownNameError
from biela.results import Channels, Results, compare, overlay, overlay_paths, side_by_side
from biela.results.style import COLORS
from biela.results.units import labelled, shown
from tests.results.runs import swing


def lines(axes):
    """The labelled lines of an axes, by label."""
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_by_default_the_coordinates_are_drawn_over_time():
    r = swing()
    figure = r.plot()
    (axes,) = figure.axes
    drawn = lines(axes)
    assert list(drawn) == legend(axes) == ["theta1", "theta2"]
    assert np.array_equal(drawn["theta2"].get_xdata(), r.t)
    assert np.array_equal(drawn["theta2"].get_ydata(), r["theta2"])
    assert axes.get_xlabel() == "time [s]" and axes.get_ylabel() == "angle [rad]"
    assert axes.get_title(loc="left") == "swing"
    assert drawn["theta1"].get_color() != drawn["theta2"].get_color()


def test_each_unit_has_its_own_axes():
    axes = swing().plot("q", "tip.x", "v", "energy").axes
    labels = [a.get_ylabel() for a in axes]
    assert labels == ["angle [rad]", "tip.x [m]", "angular velocity [rad/s]", "energy [J]"]
    assert [list(lines(a)) for a in axes][1:3] == [["tip.x"], ["theta1'", "theta2'"]]


def test_events_are_thin_lines_with_their_names():
    r = swing()
    (axes,) = r.plot("tip.z").axes
    (marks,) = [c for c in axes.collections if c.get_gid() == "events"]
    assert sorted(segment[0, 0] for segment in marks.get_segments()) == [0.5, 1.5]
    assert {text.get_text() for text in axes.texts} == {"contact", "later"}
    z = r["tip.z"]  # the lines of the events do not stretch the axis beyond the data
    assert axes.get_ylim() == pytest.approx(
        (z.min() - 0.05 * np.ptp(z), z.max() + 0.05 * np.ptp(z))
    )


def test_many_lines_stay_apart_and_the_legend_stays_readable():
    n = 40
    names = [f"x{i}" for i in range(n)]
    r = Results("many", [0.0, 1.0], {"q": Channels(names, np.zeros((2, n)) + np.arange(n))})
    (axes,) = r.plot("x*").axes
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.lines[: 4 * len(COLORS)]}
    assert len(axes.lines) == n and len(looks) == 4 * len(COLORS)
    assert len(legend(axes)) == 24 and legend(axes)[-1] == "… 17 more"


def test_a_name_with_an_underscore_in_front_is_in_the_legend_too():
    r = Results("r", [0.0, 1.0], {"q": Channels(["_x"], [[1.0], [2.0]])})
    assert [name.strip() for name in legend(r.plot().axes[0])] == ["_x"]


def test_a_run_that_was_interrupted_says_so_and_one_instant_shows():
    r = Results("r", [0.0], {"q": Channels(["x"], [[1.0]])}, interrupted=True)
    (axes,) = r.plot().axes
    assert "interrupted" in axes.get_title(loc="left") and axes.lines[0].get_marker() == "o"


def test_the_phase_plane_has_the_rate_unless_told_otherwise():
    r = swing()
    (axes,) = r.plot_phase("theta1").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("theta1 [rad]", "theta1' [rad/s]")
    assert np.array_equal(axes.lines[0].get_xdata(), r["theta1"])
    assert np.array_equal(axes.lines[0].get_ydata(), r["theta1'"])
    (axes,) = r.plot_phase("tip.x", "tip.z").axes
    assert axes.get_aspect() == 1.0  # lengths both ways
    with pytest.raises(ResultsError, match=r"the rate of 'tip\.x' is not known"):
        r.plot_phase("tip.x")


def test_errors_are_drawn_in_decades_and_energies_are_not():
    energy, error = swing().plot_monitors().axes
    assert (energy.get_ylabel(), energy.get_yscale()) == ("energy [J]", "linear")
    assert (error.get_ylabel(), error.get_yscale()) == ("constraint error [m]", "log")
    drawn = lines(error)["constraint error"].get_ydata()
    assert np.isnan(drawn[0]) and drawn[1] == pytest.approx(0.05e-9)  # the zero is a gap
    with pytest.raises(ResultsError, match="no monitors"):
        swing(monitors={}, units={}).plot_monitors()


def test_two_runs_are_compared_at_the_instants_of_the_first():
    first, second = swing(0.1, name="coarse"), swing(0.03, 1.5, name="fine")
    above, below = compare(first, second, "q", labels=("A", "B")).axes
    assert legend(above) == ["theta1", "theta2"] and legend(below) == ["A", "B"]
    difference = lines(below)["theta1"]
    times = first.t[first.t <= 1.5]
    assert np.array_equal(difference.get_xdata(), times)
    assert np.abs(difference.get_ydata()).max() < 2**4 * 0.03**4 / 384  # same law: interpolation
    assert below.get_ylabel() == "difference [rad]"
    dashed = [line for line in above.lines if line.get_linestyle() == "--"]
    assert np.array_equal(dashed[0].get_ydata(), second["theta1"])


def test_a_difference_is_second_less_first():
    t = np.array([0.0, 1.0])
    a = Results("a", t, {"q": Channels(["x"], [[1.0], [2.0]], ["m"])})
    b = Results("b", t, {"q": Channels(["x"], [[1.5], [4.0]], ["m"])})
    assert compare(a, b).axes[1].lines[0].get_ydata().tolist() == [0.5, 2.0]


def test_runs_that_cannot_be_compared_are_refused_in_words():
    r = swing()
    late = Results("late", [5.0, 6.0], {"q": Channels(["theta1"], [[0.0], [0.0]], ["rad"])})
    with pytest.raises(ResultsError, match="no time in common"):
        compare(r, late)
    other = Results("other", [0.0], {"q": Channels(["z", "theta2"], [[0.0, 0.0]], ["m", "deg"])})
    with pytest.raises(ResultsError, match="'theta2' is in rad"):
        compare(r, other, "theta2")
    with pytest.raises(UnknownNameError):
        compare(r, other, "theta1")
    with pytest.raises(ResultsError, match="no coordinate in common"):
        compare(r, Results("none", [0.0], {}))


def test_figures_are_written_in_the_format_of_the_suffix(tmp_path):
    r = swing()
    r.plot(save=tmp_path / "a.png")
    r.plot_phase("theta1", save=tmp_path / "b.svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "b.svg").read_text()[:1000]
    with pytest.raises(ResultsError, match="should end in one of"):
        r.plot(save=tmp_path / "a.xyz")
    with pytest.raises(ResultsError, match="cannot be written"):
        r.plot(save=tmp_path / "no" / "a.png")


def test_figures_show_in_a_notebook_and_leave_the_settings_of_matplotlib_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    figure = swing().plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before


def test_a_wrong_name_is_reported_before_anything_is_drawn():
    with pytest.raises(UnknownNameError, match="did you mean"):
        swing().plot("theta_1")


def test_units_are_printed_as_in_books():
    assert [shown(u) for u in ("rad/s^2", "kg*m**2", "N m", "1/s")] == [
        "rad/s²",
        "kg·m²",
        "N·m",
        "1/s",
    ]
    assert labelled("mu", "") == "mu" and labelled("F", "N") == "F [N]"


def test_figures_with_too_many_points_or_axes_are_refused_before_they_are_drawn(monkeypatch):
    r, other = swing(), swing(end=1.0)
    monkeypatch.setattr("biela.results.panels.POINTS", len(r))
    monkeypatch.setattr("matplotlib.axes.Axes.plot", lambda *_, **__: pytest.fail("it draws"))
    for draw in (
        lambda: r.plot("q", "v"),
        r.plot_monitors,
        lambda: overlay({"a": r, "b": other}, "theta1"),
        lambda: compare(r, other, "theta1"),
        lambda: side_by_side(r, other, "theta1"),
        lambda: overlay_paths({"a": r, "b": other}, "tip"),
    ):
        with pytest.raises(ResultsError, match=r"would have .* points; the limit is"):
            draw()
    monkeypatch.undo()
    names = [f"c{k}" for k in range(101)]
    many = Results("many", [0.0, 1.0], {"q": Channels(names, np.zeros((2, 101)), names)})
    for draw in (
        lambda: many.plot("q"),
        lambda: overlay([many], "q"),
        lambda: side_by_side(many, many, "q"),
    ):
        with pytest.raises(ResultsError, match=r"would have about 101 axes .*; the limit is 100"):
            draw()
