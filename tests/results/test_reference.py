"""Reference data are read in the forms they come in, and runs are judged by them."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ResultsError, ShapeError, UnknownNameError
from biela.results import Results, deviations, reference_data
from biela.results.reference import read_csv
from tests.results.runs import swing


def test_a_table_is_read_back_with_names_and_units(tmp_path):
    r = swing()
    again = Results.from_csv(r.to_csv(tmp_path / "swing.csv", "q", "energy"))
    assert again.name == "swing" and again.names == ("theta1", "theta2", "energy")
    assert np.array_equal(again["theta2"], r["theta2"]) and np.array_equal(again.t, r.t)
    assert [again.unit(name) for name in again.names] == ["rad", "rad", "J"]


@pytest.mark.parametrize(
    "text",
    [
        "time [ms];crank (deg);x\n0;0,5;1,5\n10;1,0;\n",
        "# of the rig\ntime [ms]\tcrank [deg]\tx\n\n0\t0.5\t1.5\n10\t1\t\n",
        "time [ms], crank [deg], x\n0, 0.5, 1.5\n10, 1.0,\n",
        '\ufeff"time [ms]","crank [deg]",x\n0,0.5,1.5\n10,1.0,\n',
    ],
)
def test_marks_decimal_commas_comments_and_gaps_are_understood(text, tmp_path):
    path = tmp_path / "rig.csv"
    path.write_text(text, encoding="utf-8")
    r = Results.from_csv(path, names={"crank": "theta1"}, units={"x": "mm"})
    assert r.t == pytest.approx([0.0, 0.01])
    assert r["theta1"] == pytest.approx(np.radians([0.5, 1.0])) and r.unit("theta1") == "rad"
    assert r["x"][0] == pytest.approx(1.5e-3) and np.isnan(r["x"][1]) and r.unit("x") == "m"


def test_blanks_part_values_and_any_column_is_the_time(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x t\n3 0\n4 1\n")
    r = Results.from_csv(path, time="t")
    assert r.names == ("x",) and r["x"].tolist() == [3.0, 4.0] and r.t.tolist() == [0.0, 1.0]
    untimed = Results.from_csv(path, time=None)
    assert untimed.names == ("x", "t") and untimed.t.tolist() == [0.0, 1.0]
    assert untimed["x"].tolist() == [3.0, 4.0]


def test_what_is_no_table_is_refused_with_its_place(tmp_path):
    path = tmp_path / "a.csv"
    for text, message in (
        ("t,x\n0,1\n1\n", r"a\.csv:3: 1 values under 2 headings"),
        ("t,x\n0,one\n", r"a\.csv:2: .*'one'"),
        ("0,1\n1,2\n", "headings, not numbers"),
        ("t,x\n", "a line of headings and lines of numbers"),
        ("t,x\n1,0\n0,0\n", r"a\.csv: times must ascend"),
        ("t,x,x\n1,0,0\n", "two columns have one name"),
    ):
        path.write_text(text)
        with pytest.raises(ResultsError, match=message):
            Results.from_csv(path)
    path.write_text("t,x\n0,0\n")
    with pytest.raises(UnknownNameError, match="no column is called 'T'"):
        Results.from_csv(path, time="T")
    with pytest.raises(UnknownNameError, match="no column is called 'y'"):
        Results.from_csv(path, names={"y": "z"})
    with pytest.raises(UnknownNameError, match="no channel is called 'y'"):
        Results.from_csv(path, units={"y": "mm"})
    with pytest.raises(ResultsError, match="cannot be read"):
        Results.from_csv(tmp_path / "none.csv")


def test_deviations_are_results_less_reference_where_both_have_been():
    r = swing()
    t = np.array([0.0, 0.5, 1.0, 5.0])  # the run ends at 2 s
    exact = np.sin(2 * t)
    data = reference_data(
        t, {"theta1": exact - [0.0, 0.1, -0.2, 9.0], "other": t}, {"theta1": "rad"}, "rig"
    )
    table = deviations(r, data)
    assert table["channel"] == ("theta1",) and table.title == "swing less rig"
    row = dict(zip(table.names, table.rows[0], strict=True))
    assert row["max"] == pytest.approx(0.2, rel=1e-12) and row["at"] == 1.0
    assert row["mean"] == pytest.approx(-0.1 / 3, rel=1e-12)
    # lines 0 → 0.1 → -0.2, each half of the time: mean of the squares (a² + ab + b²)/3
    assert row["rms"] == pytest.approx(np.sqrt((0.01 + 0.01 - 0.02 + 0.04) / 6), rel=1e-12)
    wanted = exact[:3] - [0.0, 0.1, -0.2]
    assert row["percent"] == pytest.approx(100 * 0.2 / np.ptp(wanted), rel=1e-12)


def test_a_run_between_its_instants_is_interpolated_for_the_reference():
    r = swing(0.05)
    t = np.linspace(0.013, 1.9, 50)
    table = deviations(r, reference_data(t, {"theta2": np.cos(3 * t)}, {"theta2": "rad"}))
    assert 0 < table["max"][0] < 3**4 * 0.05**4 / 384  # the error of the cubics


def test_unknown_values_are_left_out_and_nothing_in_common_is_told():
    r = swing()
    data = reference_data([0.0, 1.0], {"theta1": [np.nan, np.sin(2.0)]}, {"theta1": "deg"})
    with pytest.raises(UnknownNameError):
        deviations(r, data, "theta2")
    gap = reference_data([0.0, 1.0], {"theta1": [np.nan, np.sin(2.0)]}, {"theta1": "rad"})
    assert deviations(r, gap)["max"][0] == pytest.approx(0, abs=1e-15)
    with pytest.raises(ResultsError, match="no channel in common"):
        deviations(r, reference_data([0.0], {"z": [0.0]}))
    with pytest.raises(ResultsError, match=r"'tip\.x' is in mile"):
        deviations(r, reference_data([0.0], {"tip.x": [0.0]}, {"tip.x": "mile"}))
    with pytest.raises(ResultsError, match="no time in common"):
        deviations(r, reference_data([7.0], {"theta1": [0.0]}, {"theta1": "rad"}))


def test_reference_arrays_must_fit():
    with pytest.raises(ShapeError, match="'x' has shape"):
        reference_data([0.0, 1.0], {"x": [1.0]})
    with pytest.raises(UnknownNameError, match="'y'"):
        reference_data([0.0], {"x": [1.0]}, {"y": "m"})


@pytest.mark.parametrize(
    ("heading", "name", "unit"),
    [
        ("x [mm]", "x", "m"), ("x(mm)", "x", "m"), (" x ", "x", ""), ("x[0] [mm]", "x[0]", "m"),
        ("x[0]", "x", "0"), ("x (a) (mm)", "x (a)", "m"), ("x [", "x [", ""), ("x ]", "x ]", ""),
        ("x [[mm]", "x", "[mm"), ("[mm]", "", "m"), ("x [mm] y", "x [mm] y", ""),
    ],
)  # fmt: skip
def test_a_heading_is_a_name_and_perhaps_a_unit(heading, name, unit, tmp_path):
    (tmp_path / "d.csv").write_text(f"t,{heading}\n0,1\n1,2\n")
    found = read_csv(tmp_path / "d.csv")
    assert list(found.names) == [name]
    assert found.unit(name) == unit


@pytest.mark.parametrize("filling", [" ", "[", "([", ")"])
def test_a_long_heading_is_searched_once(filling, tmp_path):
    """Searching it from each of its letters again would take minutes."""
    (tmp_path / "d.csv").write_text(f"t,a{filling * (100_000 // len(filling))}x\n0,1\n1,2\n")
    assert len(read_csv(tmp_path / "d.csv").names) == 1


def test_a_field_beyond_all_limits_is_refused_in_words(tmp_path):
    (tmp_path / "d.csv").write_text(f"t,{'a' * 200_000}\n0,1\n1,2\n")
    with pytest.raises(ResultsError, match=r"d\.csv: field larger"):
        read_csv(tmp_path / "d.csv")
