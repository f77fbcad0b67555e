"""Tables have the numbers of the channels, in every form they are written in."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from biela.errors import ResultsError, ShapeError, UnknownNameError
from biela.results import Channels, Results, Table
from tests.results.runs import swing


def test_a_table_has_the_stored_instants_or_those_asked_for():
    r = swing()
    whole = r.table("q", "tip.x")
    assert whole.names == ("t", "theta1", "theta2", "tip.x") and len(whole) == 41
    assert whole["theta2"] == tuple(r["theta2"].tolist())
    some = r.table("theta1", at=[0.31, 1.77])
    assert some["theta1"] == pytest.approx(np.sin(2 * np.array([0.31, 1.77])), abs=1e-6)
    assert r.table(every=0.5)["t"] == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert r.table(every=0.3)["t"][-1] == pytest.approx(1.8)
    assert r.table(at=0.5).rows[0][0] == 0.5
    for wrong in ({"at": 0.5, "every": 0.1}, {"every": 0.0}, {"at": 9.0}):
        with pytest.raises(ResultsError):
            r.table(**wrong)


@pytest.mark.parametrize("every", [1e-9, 1e-300, 5e-324])
def test_a_step_that_fills_the_memory_is_refused(every):
    with pytest.raises(
        ResultsError, match=r"the table would take .*; the limit is 4 GB: take a lon"
    ):
        swing().table("q", every=every)


def test_text_is_in_columns():
    lines = str(swing().table("theta1", every=1.0)).splitlines()
    assert lines[0] == "swing" and lines[2].split() == ["t", "[s]", "theta1", "[rad]"]
    assert len({len(line) for line in lines[2:]}) == 1
    assert float(lines[-1].split()[1]) == pytest.approx(np.sin(4.0), rel=1e-5)


def test_comma_separated_values_have_all_digits(tmp_path):
    r = swing()
    path = r.table("theta1").save(tmp_path / "a.csv")
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["t [s]", "theta1 [rad]"]
    assert [float(row[1]) for row in rows[1:]] == r["theta1"].tolist()


def test_markdown_and_latex_have_a_line_a_row_and_escape_what_they_must(tmp_path):
    table = Table(("a|b", "θ_1"), ("", "rad/s^2"), (("x & y", 1.25e-9), ("50 %", -2.0)), "run")
    markdown = table.save(tmp_path / "a.md").read_text(encoding="utf-8").splitlines()
    assert markdown == [
        "**run**",
        "",
        r"| a\|b | θ_1 [rad/s²] |",
        "| :--- | ---: |",
        "| x & y | 1.25e-09 |",
        "| 50 % | -2 |",
    ]
    latex = table.save(tmp_path / "a.tex").read_text(encoding="utf-8").splitlines()
    assert latex == [
        "% run",
        r"\begin{tabular}{lr}",
        r"\hline",
        r"a|b & $\theta$\_1 [rad/s$^2$] \\",
        r"\hline",
        r"x \& y & $1.25 \cdot 10^{-9}$ \\",
        r"50 \% & $-2$ \\",
        r"\hline",
        r"\end{tabular}",
    ]
    assert "<td>x &amp; y</td>" in table._repr_html_()


def test_what_is_not_a_number_is_a_dash_and_minus_zero_is_zero():
    assert str(Table(("a",), ("",), ((float("nan"),), (-0.0,)))).split() == ["a", "–", "0"]


def test_extremes_and_means_are_those_of_closed_forms():
    h = 0.01
    t = np.arange(0, 2 * np.pi + h / 2, h)
    r = Results("r", t, {"q": Channels(["s", "line"], np.stack([np.sin(t), t], 1), ["m", "s"])})
    table = r.describe()
    s, line = table.rows
    # straight lines under an arc: errors of h²/12 times what is averaged
    assert s[2:6] == pytest.approx((-1, 3 * np.pi / 2, 1, np.pi / 2), abs=h)
    assert s[6:] == pytest.approx((0, 1 / np.sqrt(2)), abs=h)
    assert line[2:] == pytest.approx((0, 0, t[-1], t[-1], t[-1] / 2, t[-1] / np.sqrt(3)), rel=1e-12)
    assert table["unit"] == ("m", "s")


def test_means_are_over_time_and_not_over_instants():
    t = np.concatenate([np.linspace(0, 0.1, 100), [1.0]])
    r = Results("r", t, {"q": Channels(["x"], t[:, None])})
    assert r.describe("x")["mean"][0] == pytest.approx(0.5, rel=1e-12)
    assert r.describe("x")["rms"][0] == pytest.approx(1 / np.sqrt(3), rel=1e-12)


def test_unknown_values_do_not_hide_the_extremes():
    t = np.array([0.0, 1.0, 2.0, 3.0])
    r = Results("r", t, {"q": Channels(["x"], np.array([[np.nan], [2.0], [-1.0], [np.nan]]))})
    assert r.describe("x").rows[0][2:6] == (-1.0, 2.0, 2.0, 1.0)
    none = Results("r", [0.0], {"q": Channels(["x"], [[np.nan]])})
    assert np.isnan(none.describe("x")["max"][0])


def test_a_table_that_is_none_is_refused(tmp_path):
    with pytest.raises(ShapeError, match="row 0: 1 entries for 2 columns"):
        Table(("a", "b"), ("", ""), ((1.0,),))
    table = Table(("a",), ("",), ((1.0,),))
    with pytest.raises(ResultsError, match=r"should end in \.csv"):
        table.save(tmp_path / "a.xlsx")
    with pytest.raises(ResultsError, match="cannot be written"):
        table.save(tmp_path / "no" / "a.csv")
    with pytest.raises(UnknownNameError, match="no column is called 'b'"):
        table["b"]
