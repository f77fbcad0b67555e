"""Results are found by name, at any time, and complain in words."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from biela.errors import BielaError, ResultsError, ShapeError, UnknownNameError
from biela.results import Channels, Event, Results, RunStatistics
from tests.results.runs import swing


def test_groups_are_attributes_and_channels_are_found_by_name():
    r = swing()
    assert r.q.shape == (41, 2) and len(r) == 41
    assert np.array_equal(r["theta2"], np.cos(3 * r.t))
    assert np.array_equal(r["tip.x"], r.y[:, 0])
    assert np.array_equal(r["energy"], np.cos(r.t))
    assert np.array_equal(r["t"], r.t)
    assert [r.unit(n) for n in ("theta1'", "energy", "t")] == ["rad/s", "J", "s"]
    assert r.names[:3] == ("theta1", "theta2", "theta1'") and r.monitors[0] == "energy"


def test_names_may_be_chosen_by_group_and_pattern():
    r = swing()
    assert r.select("theta*") == ["theta1", "theta2", "theta1'", "theta2'"]
    assert r.select("v", "theta?") == ["theta1'", "theta2'", "theta1", "theta2"]
    odd = Results("r", [0.0], {"u": Channels(["F[0]", "F0"], [[1.0, 2.0]])})
    assert odd.select("F[0]") == ["F[0]"]  # a name before it is a pattern
    with pytest.raises(UnknownNameError, match="phi"):
        r.select("phi*")


def test_a_name_of_two_groups_belongs_to_the_first_and_the_group_finds_the_other():
    q, v = Channels(["x"], [[1.0]], ["m"]), Channels(["x"], [[2.0]], ["m/s"])
    r = Results("r", [0.0], {"q": q, "v": v})
    assert r.names == ("x", "v.x")
    assert (r["x"][0], r["q.x"][0], r["v.x"][0]) == (1.0, 1.0, 2.0)
    assert r.rate("x") == "v.x"


def test_a_wrong_name_is_answered_with_near_ones():
    r = swing()
    with pytest.raises(UnknownNameError, match="'theta3'; did you mean 'theta2' or 'theta1'"):
        r["theta3"]
    with pytest.raises(UnknownNameError, match="there are theta1, theta2"):
        r["%"]
    with pytest.raises(UnknownNameError, match="no channel is called 0"):
        r[0]
    assert issubclass(UnknownNameError, KeyError) and issubclass(UnknownNameError, BielaError)
    with pytest.raises(AttributeError, match="no group 'lam'; the groups are q, v, y"):
        _ = r.lam
    assert not hasattr(r, "lam") and hasattr(r, "q")


def test_lazy_channels_are_computed_once_and_only_if_asked_for():
    calls = []

    def values(tag, array):
        def compute():
            calls.append(tag)
            return array

        return compute

    t = np.array([0.0, 1.0, 2.0])
    a = Channels(["x''"], values("a", [[1.0], [2.0], [3.0]]), ["m/s^2"])
    r = Results("r", t, {"a": a}, {"power": values("power", 5 * t)})
    assert "x''" in repr(a) and r._repr_html_() and r.between(0, 1).names == ("x''", "power")
    assert calls == []
    assert r.between(0, 1)["power"].tolist() == [0.0, 5.0] and calls == ["power"]
    calls.clear()
    assert r["x''"][1] == 2.0 and r.a[2, 0] == 3.0 and r["power"][1] == 5.0
    _ = r["power"]
    assert calls == ["a"]  # the part had made the power of the whole


def test_a_lazy_channel_of_the_wrong_shape_is_reported_when_it_is_computed():
    r = Results("r", [0.0, 1.0], {"a": Channels(["x"], lambda: np.zeros((3, 1)))})
    with pytest.raises(ShapeError, match="x of 'r' have 3 rows for 2 instants"):
        r["x"]


def test_arrays_cannot_be_written_through():
    r = swing()
    with pytest.raises(ValueError, match="read-only"):
        r.q[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        r.t[0] = 1.0


def test_values_between_instants_follow_the_cubic_to_its_error_bound():
    """|error| <= h⁴/384 max|y⁗|, and the bound is nearly reached."""
    h = 0.05
    r = swing(h)
    times = np.linspace(0, 2, 777)
    for name, exact, fourth in (
        ("theta1", np.sin(2 * times), 2**4),
        ("theta2", np.cos(3 * times), 3**4),
    ):
        error = np.abs(r.at(times)[name] - exact).max()
        bound = fourth * h**4 / 384
        assert 0.9 * bound < error < bound
    straight = np.abs(r.at(times)["theta1'"] - 2 * np.cos(2 * times)).max()
    assert 0.9 * h**2 < straight < h**2  # h²/8 max|2·4 cos 2t|: no accelerations, straight lines


def test_a_single_time_gives_numbers_and_many_give_rows():
    r = swing()
    one = r.at(0.51)
    assert one["theta1"].shape == () and one.q.shape == (2,)
    assert set(one) == set(r.names) - {"constraint error"}
    assert one.q[0] == one["theta1"] == one["q.theta1"]
    assert r.at([0.1, 0.2, 0.3]).v.shape == (3, 2)
    assert r.at(r.t).q == pytest.approx(r.q, rel=0, abs=1e-15)
    with pytest.raises(AttributeError):
        _ = one.lam


def test_nothing_is_extrapolated():
    r = swing()
    for time in (-0.1, 2.1, np.nan):
        with pytest.raises(ResultsError, match=r"outside the stored interval from 0 s to 2 s"):
            r.at(time)
    assert r.at(2.0 + 1e-12)["theta1"] == r["theta1"][-1]


def test_rates_that_are_declared_replace_the_convention():
    t = np.linspace(0, 1, 6)
    q = Channels(["roll", "w"], np.stack([t**3, t**3], axis=1), ["rad", "rad"], ["roll rate", ""])
    v = Channels(["omega", "nu"], np.zeros((6, 2)), ["rad/s", "rad/s"])
    y = Channels(["roll rate"], 3 * t[:, None] ** 2, ["rad/s"])
    r = Results("r", t, {"q": q, "v": v, "y": y})
    assert r.rate("roll") == "roll rate" and r.rate("w") is None
    assert r.at(0.5)["roll"] == pytest.approx(0.125, rel=1e-12)  # a cubic is met exactly
    assert r.at(0.5)["w"] == pytest.approx((0.4**3 + 0.6**3) / 2, rel=1e-12)
    with pytest.raises(UnknownNameError, match="rolling"):
        Results("r", t, {"q": Channels(["x"], t[:, None], [""], ["rolling"])})


def test_where_units_disagree_velocities_are_not_taken_for_rates():
    t = np.array([0.0, 1.0])
    q = Channels(["x"], [[0.0], [1.0]], ["m"])
    r = Results("r", t, {"q": q, "v": Channels(["w"], [[9.0], [9.0]], ["rad/s"])})
    assert r.rate("x") is None and r.at(0.25)["x"] == 0.25


def test_at_a_jump_the_later_value_counts_and_no_curve_crosses_it():
    """A ball falls on the floor at t = 1 and is thrown back: x = 1 - t², then x = (t-1)(3-t)."""
    t = np.array([0.0, 0.5, 1.0, 1.0, 1.5, 2.0])
    x = np.where(np.arange(6) < 3, 1 - t**2, (t - 1) * (3 - t))
    v = np.where(np.arange(6) < 3, -2 * t, 4 - 2 * t)
    groups = {"q": Channels(["x"], x[:, None], ["m"]), "v": Channels(["v"], v[:, None], ["m/s"])}
    at = Results("ball", t, groups).at([0.9, 1.0, 1.1])
    assert at["x"] == pytest.approx([0.19, 0.0, 0.19], abs=1e-14)
    assert at["v"][1] == 2.0


def test_a_part_keeps_its_instants_events_and_scene():
    r = swing()
    part = r.between(0.4, 1.2)
    assert part.t[0] == pytest.approx(0.4) and part.t[-1] == pytest.approx(1.2)
    assert np.array_equal(part["theta1"], r["theta1"][8:25])
    assert [event.name for event in part.events] == ["contact"]
    assert part.scene.count == len(part) == 17
    assert np.array_equal(part.scene.shapes[1].points, r.scene.shapes[1].points[8:25])
    with pytest.raises(ResultsError, match="no stored instant"):
        r.between(0.401, 0.402)


def test_events_are_in_the_order_of_time():
    assert [event.time for event in swing().events] == [0.5, 1.5]


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Results("r", [], {}), ShapeError, "at least one instant"),
        (lambda: Results("r", [[0.0]], {}), ShapeError, "shape"),
        (lambda: Results("r", [0.0, 2.0, 1.0], {}), ResultsError, r"t\[2\] = 1 s comes after 2 s"),
        (lambda: Results("r", [0.0, np.nan], {}), ResultsError, r"t\[1\] is not a finite"),
        (lambda: Channels(["a", "a"], [[1.0, 2.0]]), ResultsError, "called 'a'"),
        (lambda: Channels(["a"], [[1.0, 2.0]]), ShapeError, r"\(k, 1\).*\(1, 2\)"),
        (lambda: Channels(["a", "b"], [[1.0, 2.0]], ["m"]), ResultsError, "1 units for 2"),
        (lambda: Channels("ab", [[1.0, 2.0]]), ResultsError, "sequences"),
        (lambda: swing(units={"enrgy": "J"}), UnknownNameError, "mean 'energy'"),
        (lambda: swing(monitors={"theta1": np.zeros(41)}, units={}), ResultsError, "rename"),
        (lambda: swing(monitors={"m": np.zeros((41, 1))}, units={}), ShapeError, "monitor 'm'"),
        (lambda: swing(monitors={"m": np.zeros(40)}, units={}), ShapeError, "40 rows for 41"),
        (lambda: Results("r", [0.0], {"plot": Channels([], [[]])}), ResultsError, "'plot'"),
        (lambda: Results("r", [0.0], {"t": Channels([], [[]])}), ResultsError, "'t'"),
        (lambda: swing(scene=swing(0.1).scene), ShapeError, "21 instants where .* have 41"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_words(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_statistics_print_as_a_table_of_what_was_counted():
    s = RunStatistics(method="m", steps=12, time_total=0.5, time_simulated=2.0, more={"order": 4})
    lines = str(s).splitlines()
    assert s.real_time_factor == 4.0
    assert [line.split()[0] for line in lines] == [
        "method",
        "steps",
        "time",
        "time",
        "faster",
        "order",
    ]
    assert len({len(line) for line in lines}) == 1
    assert RunStatistics().rows() == [] and str(RunStatistics()) == ""


def test_the_notebook_summary_names_all_and_escapes_it():
    r = swing(name="a < b", interrupted=True, events=[Event(0.5, "<hit>")])
    page = r._repr_html_()
    for text in ("a &lt; b", "(interrupted)", "theta1&nbsp;[rad]", "closed form", "&lt;hit&gt;"):
        assert text in page
    assert "interrupted" in repr(r) and "41 instants from 0 s to 2 s" in repr(r)


def test_importing_results_does_not_load_matplotlib():
    program = "import sys, biela.results; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_errors_of_a_run_are_not_interpolated():
    t = np.linspace(0, 1, 5)
    r = Results(
        "run", t, {"q": Channels(["x"], t[:, None])}, {"constraint error": 0 * t, "energy": t}
    )
    sample = r.at(0.3)
    assert sample["energy"] == pytest.approx(0.3)
    with pytest.raises(ResultsError, match="stored instants"):
        sample["constraint error"]
    assert set(sample) == {"x", "energy"} and len(sample) == 2


def test_channels_computed_from_others_are_added_to_a_copy():
    r = swing()
    more = r.with_channels({"twice": 2 * r["theta1"]}, {"twice": "rad"})
    again = more.with_channels({"tip": np.ones((41, 3))}, {"tip": "m"})
    assert "twice" not in r and np.array_equal(more["twice"], 2 * r["theta1"])
    assert again.select("derived") == ["twice", "derived.tip.x", "tip.y", "derived.tip.z"]
    assert again["tip.x"][0] == r["tip.x"][0] and again["derived.tip.x"][0] == 1.0
    assert again.unit("tip.y") == "m" and again.monitors == r.monitors
    assert np.array_equal(again["energy"], r["energy"]) and again.scene is r.scene
    assert again.events == r.events and again.statistics == r.statistics
    for values, units, kind in (
        ({"x": np.ones(40)}, {}, ShapeError),
        ({"x": np.ones((41, 2))}, {}, ShapeError),
        ({"x": np.ones(41)}, {"y": "m"}, UnknownNameError),
        ({"twice": np.ones(41)}, {}, ResultsError),
    ):
        with pytest.raises(kind):
            more.with_channels(values, units)
