"""Figures of several runs, of paths and of one channel over another show the right numbers."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ResultsError, UnknownNameError
from biela.results import (
    Channels,
    Results,
    frame_channels,
    overlay,
    overlay_paths,
    reference_data,
    side_by_side,
)
from tests.results.runs import swing
from tests.results.test_plots import legend, lines


def piston(rod, name="engine"):
    """A slider-crank of crank 0.1 m over one turn: crank angle, piston and crank pin."""
    t = np.linspace(0, 1, 101)
    angle = 2 * np.pi * t
    pin = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), 0 * t], axis=1)
    x = pin[:, 0] + np.sqrt(rod**2 - pin[:, 1] ** 2)
    values = np.stack([x, *pin.T], axis=1)
    return Results(
        name,
        t,
        {
            "q": Channels(["theta"], angle[:, None], ["rad"]),
            "y": Channels(["piston.x", "pin.x", "pin.y", "pin.z"], values, ["m"] * 4),
        },
    )


def test_channels_are_drawn_over_any_other():
    r = piston(0.3)
    (axes,) = r.plot("piston.x", "pin.x", against="theta").axes
    assert axes.get_xlabel() == "theta [rad]" and legend(axes) == ["piston.x", "pin.x"]
    assert np.array_equal(lines(axes)["pin.x"].get_xdata(), r["theta"])
    assert np.array_equal(lines(axes)["pin.x"].get_ydata(), r["pin.x"])
    starts = [line for line in axes.lines if line.get_marker() == "o"]
    assert [s.get_xdata()[0] for s in starts] == [0.0, 0.0]
    assert [s.get_ydata()[0] for s in starts] == [r["piston.x"][0], r["pin.x"][0]]
    with pytest.raises(ResultsError, match="not a group"):
        swing().plot("theta1", against="v")


def test_runs_are_overlaid_by_label_with_the_reference_as_circles():
    runs = {f"l = {rod} m": piston(rod) for rod in (0.2, 0.3, 0.5)}
    t = np.linspace(0, 1, 200)
    data = reference_data(t, {"piston.x": 0.3 + 0 * t}, {"piston.x": "m"}, "handbook")
    above, below = overlay(runs, ["piston.x", "pin.y"], reference=data).axes
    assert legend(above) == [*runs, "handbook"] and below.get_legend() is None
    assert above.get_ylabel() == "piston.x [m]" and below.get_ylabel() == "pin.y [m]"
    drawn = lines(above)
    for label, run in runs.items():
        assert np.array_equal(drawn[label].get_ydata(), run["piston.x"])
    assert len({drawn[label].get_color() for label in runs}) == 3
    assert drawn["handbook"].get_linestyle() == "None"
    assert "handbook" not in lines(below)


def test_runs_of_a_list_have_their_names_and_a_number_where_these_are_alike():
    (axes,) = overlay([piston(0.3), piston(0.4)], "pin.x").axes
    assert legend(axes) == ["engine 1", "engine 2"]
    (axes,) = overlay([piston(0.3, "a"), piston(0.4, "b")], against="pin.x").axes
    assert legend(axes) == ["a", "b"] and axes.get_ylabel() == "theta [rad]"
    assert axes.get_xlabel() == "pin.x [m]"


def test_runs_that_do_not_fit_are_refused():
    with pytest.raises(ResultsError, match="no runs"):
        overlay([])
    with pytest.raises(ResultsError, match="no coordinate in common"):
        overlay([piston(0.3), swing()])
    with pytest.raises(UnknownNameError, match=r"piston\.x"):
        overlay([piston(0.3), swing()], "piston.x")
    wrong = Results("w", [0.0], {"q": Channels(["theta"], [[1.0]], ["deg"])})
    with pytest.raises(ResultsError, match="'theta' is in rad, but in deg in 'w'"):
        overlay([piston(0.3), wrong])


def test_the_reference_stands_at_the_left_on_the_same_scale():
    r = piston(0.3)
    t = np.linspace(0, 1, 30)
    data = reference_data(t, {"piston.x": 0.2 + 0.5 * t}, {"piston.x": "m"}, "handbook")
    left, right = side_by_side(data, r).axes
    assert left.get_title(loc="left") == "handbook" and right.get_title(loc="left") == "engine"
    assert left.get_ylim() == right.get_ylim()
    assert np.array_equal(left.lines[0].get_ydata(), data["piston.x"])
    assert np.array_equal(right.lines[0].get_ydata(), r["piston.x"])
    with pytest.raises(ResultsError, match="no common channel"):
        side_by_side(reference_data([0.0], {"z": [0.0]}), r)


def test_a_path_finds_its_plane_and_has_equal_axes_and_a_start():
    r = piston(0.3)
    (axes,) = r.plot_path("pin").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "y [m]")
    assert axes.get_aspect() == 1.0 and legend(axes) == ["pin", "start"]
    assert np.array_equal(lines(axes)["pin"].get_xdata(), r["pin.x"])
    assert np.array_equal(lines(axes)["pin"].get_ydata(), r["pin.y"])
    (start,) = [a for a in axes.lines if a.get_marker() == "o" and len(a.get_xdata())]
    assert (start.get_xdata()[0], start.get_ydata()[0]) == (r["pin.x"][0], r["pin.y"][0])
    (axes,) = r.plot_path("pin", plane="zx").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("z [m]", "x [m]")
    assert np.array_equal(lines(axes)["pin"].get_ydata(), r["pin.x"])


def test_two_known_coordinates_are_a_plane():
    (axes,) = swing().plot_path("tip").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "z [m]")
    with pytest.raises(ResultsError, match="coordinate y of tip is not known"):
        swing().plot_path("tip", plane="xy")
    with pytest.raises(ResultsError, match="only one coordinate of piston"):
        piston(0.3).plot_path("piston")


def test_paths_in_space_of_frames_and_of_their_points():
    t = np.linspace(0, 1, 21)
    pose = np.zeros((21, 12))
    pose[:, :3] = np.stack([np.cos(t), np.sin(t), t], axis=1)
    pose[:, [3, 7, 11]] = 1.0
    r = Results("helix", t, frame_channels(["tool"], pose))
    (axes,) = r.plot_path("tool", r.frame("tool").point((0, 0, 0.5))).axes
    assert axes.name == "3d" and legend(axes) == ["tool", "tool(0, 0, 0.5)", "start"]
    x, y, z = axes.lines[0].get_data_3d()
    assert np.array_equal(np.stack([x, y, z], 1), pose[:, :3])
    edges = np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1)
    scale = edges / axes.get_box_aspect()
    assert scale == pytest.approx(scale[0], rel=1e-12)  # lengths alike in all directions
    other = next(a for a in axes.lines if a.get_label() == "tool(0, 0, 0.5)")
    assert other.get_data_3d()[2] == pytest.approx(t + 0.5)


def test_paths_of_several_runs_are_told_apart():
    runs = {"short": piston(0.2), "long": piston(0.4)}
    (axes,) = overlay_paths(runs, "pin").axes
    assert legend(axes) == ["short", "long", "start"]
    with pytest.raises(ResultsError, match="the coordinate y"):
        overlay_paths(runs, ["pin", "piston"], plane="xy")


def test_points_that_are_none_are_refused():
    r = piston(0.3)
    with pytest.raises(UnknownNameError, match="no point is called 'pins'; did you mean 'pin'"):
        r.plot_path("pins")
    with pytest.raises(ResultsError, match="name the points"):
        r.plot_path()
    with pytest.raises(ResultsError, match="plane 'xx'"):
        r.plot_path("pin", plane="xx")


def loop(across, up, shift=0.0):
    """An ellipse of that width and height about a far point."""
    t = np.linspace(0, 2 * np.pi, 60)
    way = np.stack([across / 2 * np.cos(t), up / 2 * np.sin(t)], axis=1) + shift
    return Results("loop", t, {"y": Channels(["pin.x", "pin.y"], way, ["m", "m"])})


@pytest.mark.parametrize("shift", [0.0, 1234.5, -0.02])
@pytest.mark.parametrize(("across", "up"), [(1.0, 1.0), (2e-3, 5e-4), (20.0, 1.0), (0.1, 3e4)])
def test_no_word_beside_a_path_is_cut(across, up, shift):
    figure = loop(across, up, shift).plot_path("pin")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    right, top = figure.canvas.get_width_height()
    words = [axes.xaxis.label, axes.yaxis.label, *axes.get_legend().get_texts()]
    for word in words:
        box = word.get_window_extent()
        assert -1 <= box.x0 < box.x1 <= right + 1 and -1 <= box.y0 < box.y1 <= top + 1, word


def test_a_path_that_goes_far_across_has_a_low_figure():
    heights = [loop(across, 1.0).plot_path("pin").get_figheight() for across in (0.5, 1, 2, 50)]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == heights[1] > heights[2] > heights[3] >= 2.5
