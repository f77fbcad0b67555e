"""Load cases are the instants of extremes, with everything that acts then."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from biela.errors import ResultsError, ShapeError, UnknownNameError
from biela.results import Channels, Results
from biela.results.load_cases import COMPONENTS, joint_loads, load_cases

T = np.linspace(0, 1, 11)


def loads():
    """A: a force that turns in the plane and a moment; B: twice the force of A, delayed."""
    angle = 2 * np.pi * T
    A = np.zeros((11, 6))
    A[:, 0], A[:, 1], A[:, 5] = 10 * np.cos(angle), 4 * np.sin(angle), 3 * T
    return {"A": A, "B": 2 * np.roll(A, 3, axis=0)}


def test_every_extreme_has_a_case_with_all_simultaneous_loads():
    given = loads()
    found = load_cases(T, given)
    assert found.joints == ("A", "B")
    reasons = {reason: case for case in found.cases for reason in case.reasons}
    for number, (joint, load) in enumerate(given.items()):
        for column, component in enumerate(COMPONENTS):
            if component in ("Fz", "Mx", "My"):
                assert f"{joint}: max {component}" not in reasons  # always zero
                continue
            highest = reasons[f"{joint}: max {component}"]
            lowest = reasons[f"{joint}: min {component}"]
            # of values that are equal but for rounding the first is taken
            assert highest.loads[number, column] == pytest.approx(load[:, column].max(), rel=1e-12)
            assert lowest.loads[number, column] == pytest.approx(load[:, column].min(), rel=1e-12)
        size = np.linalg.norm(load[:, :3], axis=1)
        found_size = np.linalg.norm(reasons[f"{joint}: max |F|"].loads[number, :3])
        assert found_size == pytest.approx(size.max(), rel=1e-12)
    for case in found.cases:
        k = int(np.argmin(np.abs(T - case.time)))
        assert np.array_equal(case.loads, [given["A"][k], given["B"][k]])


def test_an_instant_found_twice_is_one_case_and_cases_are_in_the_order_of_time():
    found = load_cases(T, loads(), joints=["A"])
    times = [case.time for case in found.cases]
    assert times == sorted(set(times)) and [c.number for c in found.cases] == list(
        range(1, len(found) + 1)
    )
    assert {"A: max Fx", "A: max |F|", "A: min Mz"} <= set(found.cases[0].reasons)


def test_only_what_is_asked_for_is_looked_for():
    found = load_cases(T, loads(), extremes=["M"])
    assert [case.reasons for case in found.cases] == [("B: max |M|",), ("A: max |M|",)]
    with pytest.raises(UnknownNameError, match="no load is called 'Fq'"):
        load_cases(T, loads(), extremes=["Fq"])


def test_cases_are_written_for_a_stress_program(tmp_path):
    found = load_cases(T, loads())
    path = found.save(tmp_path / "cases.csv")
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    assert rows[0][:5] == ["case", "t [s]", "extreme", "A.Fx [N]", "A.Fy [N]"]
    assert rows[0][-1] == "B.Mz [N·m]" and len(rows) == len(found) + 1
    last = found.cases[-1]
    assert [float(x) for x in rows[-1][3:]] == last.loads.ravel().tolist()
    assert "A: max Fx" in str(found)


def test_loads_come_from_channels_of_joints_and_missing_ones_are_zero():
    given = loads()["A"]
    names = ["A.Fx", "A.Fy", "A.Mz", "B.Fx"]
    channels = Channels(names, np.stack([*given[:, [0, 1, 5]].T, T], axis=1))
    r = Results("r", T, {"reactions": channels})
    found = joint_loads(r)
    assert list(found) == ["A", "B"] and np.array_equal(found["A"], given)
    assert np.array_equal(joint_loads(r, "B")["B"][:, 0], T)
    with pytest.raises(UnknownNameError, match="no joint is called 'C'"):
        joint_loads(r, "C")
    with pytest.raises(ResultsError, match="no loads of joints"):
        joint_loads(Results("r", T, {}))


def test_loads_that_are_none_are_refused():
    with pytest.raises(ShapeError, match=r"\(11, 6\).*\(11, 3\)"):
        load_cases(T, {"A": np.zeros((11, 3))})
    broken = loads()["A"]
    broken[4, 2] = np.nan
    with pytest.raises(ResultsError, match=r"not known at 0\.4 s"):
        load_cases(T, {"A": broken})
    with pytest.raises(UnknownNameError, match="did you mean 'A'"):
        load_cases(T, loads(), joints=["a"])
    with pytest.raises(ResultsError, match="at least one joint"):
        load_cases(T, {})


def test_a_motion_that_repeats_itself_has_the_cases_of_its_first_time_round():
    t = np.linspace(0.0, 3.0, 61)
    drift = 1 + 1e-13 * t  # as rounding may have it, each time round is larger than the last
    A = np.zeros((61, 6))
    A[:, 0], A[:, 2] = (5 + np.sin(2 * np.pi * t)) * drift, np.cos(2 * np.pi * t) * drift
    found = load_cases(t, {"A": A})
    assert all(case.time < 1.0 for case in found.cases)
    assert {reason for case in found.cases for reason in case.reasons} >= {"A: max Fx", "A: min Fz"}
