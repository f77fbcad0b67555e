"""What a run has found so far is in a file that can be read, whatever ends the run."""

from __future__ import annotations

import errno
import os
from io import FileIO

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups import runner
from biela.analysis.progress import recorded, watched
from biela.errors import ResultsError
from biela.results import Channels, Event, Results, partial
from biela.results.partial import PartialResults
from tests.cli.models_on_disk import BODIES
from tests.four_bars import chain_of_dyads

GROUPS = ("q", "v", "a")


def part(first: int, count: int = 10) -> Results:
    t = np.arange(first, count, dtype=float)
    events = [Event(time, f"at {time:g}") for time in (0.0, 3.0, 3.5, 8.0) if time <= count - 1]
    angle = np.angle(np.exp(2j * t))[:, None]
    return Results(
        "parts",
        t,
        {
            "q": Channels(["x"], t[:, None] ** 2, ["m"]),
            "y": Channels(["angle", "rate"], np.hstack([angle, 0 * angle + 2]),
                          ["rad", "rad/s"], ["rate", ""], angles=[True, False]),
        },
        {"energy": 2 * t},
        {"energy": "J"},
        events=events,
    )  # fmt: skip


@pytest.fixture
def at_once(monkeypatch):
    """Pieces as often as a run has something to say."""
    monkeypatch.setattr(partial, "EVERY", 0.0)
    monkeypatch.setattr(partial, "_SHARE", np.inf)


def grown(path, *counts: int) -> PartialResults:
    record = PartialResults(path)
    for count in counts:
        record.add(lambda first, count=count: part(first, count))
    record.close()
    return record


def test_pieces_load_as_one_motion_that_says_it_is_a_part(tmp_path):
    record = grown(tmp_path / "r.partial", 4, 4, 5, 10)
    assert (record.count, record.until) == (10, 9.0)
    found, whole = bl.load(tmp_path / "r.partial"), part(0)
    assert found.interrupted and "interrupted" in repr(found)
    assert found.names == whole.names and found.unit("energy") == "J"
    for name in ("t", *whole.names):
        assert np.array_equal(found[name], whole[name]), name
    assert found.events == whole.events
    found.save(tmp_path / "r.npz")
    assert Results.load(tmp_path / "r.npz").interrupted


def test_a_piece_that_is_cut_short_is_left_out(tmp_path):
    path = tmp_path / "r.partial"
    grown(path, 4)
    first = path.stat().st_size
    grown(path, 4, 10)
    data = path.read_bytes()
    for length in np.random.default_rng(1).integers(first, len(data), 40):
        path.write_bytes(data[:length])
        assert len(Results.load(path)) == 4
    for length in range(len(partial.MARK), first, 50):
        path.write_bytes(data[:length])
        with pytest.raises(ResultsError, match="stopped before the first piece"):
            Results.load(path)


def test_damaged_pieces_are_said_to_be(tmp_path):
    path = tmp_path / "r.partial"
    grown(path, 4, 10)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(2)
    for place in rng.integers(len(partial.MARK), len(data), 60):
        changed = data.copy()
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            Results.load(path)  # some bits mean nothing, or the length of the last piece
        except ResultsError as error:
            assert str(path) in str(error)


def test_all_pieces_are_counted_before_the_first_is_read(tmp_path, monkeypatch):
    path = tmp_path / "r.partial"
    grown(path, 1000, 2000, 3000, 4000)
    monkeypatch.setenv("BIELA_MEMORY", "0.0001")
    with monkeypatch.context() as patch, pytest.raises(ResultsError, match="would take about"):
        patch.setattr(np, "load", lambda *_, **__: pytest.fail("a piece is read"))
        Results.load(path)
    monkeypatch.setenv("BIELA_MEMORY", "0.001")
    assert len(Results.load(path)) == 4000
    # each of them alone is within the limit
    monkeypatch.setenv("BIELA_MEMORY", "0.0001")
    grown(path, 1000)
    assert len(Results.load(path)) == 1000


def test_a_full_disk_ends_the_record_and_not_the_run(tmp_path, monkeypatch):
    path, written = tmp_path / "r.partial", partial._write

    def full(file, data):
        written(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    record = PartialResults(path)
    record.add(lambda first: part(first, 4))
    monkeypatch.setattr(partial, "_write", full)
    record.add(lambda first: part(first, 8))
    monkeypatch.undo()
    record.add(lambda first: part(first, 10))
    assert not record.due
    assert len(Results.load(path)) == record.count == 4
    monkeypatch.setattr(partial, "_write", full)
    grown(tmp_path / "none.partial", 4)
    assert not (tmp_path / "none.partial").exists()


@pytest.mark.parametrize("content", ["my own notes", "", "biela"])
def test_a_file_of_somebody_else_is_not_replaced(content, tmp_path, monkeypatch):
    path = tmp_path / "r.partial"
    path.write_text(content)
    monkeypatch.setattr(partial, "_LARGE", 1)
    record = PartialResults(path)
    record.remove()
    record.hold(part(0, 10))
    record.add(lambda first: part(first, 4))
    assert path.read_text() == content and not record.count
    assert [p.name for p in tmp_path.iterdir()] == ["r.partial"]


def test_a_disk_that_is_full_from_the_beginning_leaves_no_empty_file(tmp_path, monkeypatch):
    class Full(FileIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(
        partial, "open", lambda path, mode, buffering: Full(path, mode), raising=False
    )
    grown(tmp_path / "r.partial", 4)
    assert not list(tmp_path.iterdir())


def test_a_large_motion_takes_the_place_of_its_pieces_once_it_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "r.partial"
    monkeypatch.setattr(partial, "_LARGE", 1)
    record = PartialResults(path)
    record.add(lambda first: part(first, 4))
    record.hold(part(0, 10))
    assert len(bl.load(path)) == record.count == 10
    assert [p.name for p in tmp_path.iterdir()] == ["r.partial"]


def test_a_full_disk_at_the_end_leaves_the_pieces(tmp_path, monkeypatch):
    path, written = tmp_path / "r.partial", partial._write
    monkeypatch.setattr(partial, "_LARGE", 1)

    def full(file, data):
        written(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    record = PartialResults(path)
    record.add(lambda first: part(first, 4))
    monkeypatch.setattr(partial, "_write", full)
    record.hold(part(0, 10))
    record.close()
    assert len(bl.load(path)) == 4
    assert [p.name for p in tmp_path.iterdir()] == ["r.partial"]


def test_a_short_run_writes_nothing(tmp_path):
    bl.simulate(swing(), 0.1)  # compiles, which may take long
    record = PartialResults(tmp_path / "r.partial")
    with recorded(record):
        bl.simulate(swing(), 0.1)
    assert record.count == 0 and not list(tmp_path.iterdir())


# --- runs -----------------------------------------------------------------------------------------


def swing() -> bl.Model:
    scope: dict[str, bl.Model] = {}
    exec(BODIES, scope)
    return scope["m"]


def turning() -> bl.Model:
    m = swing()
    m.driver("rotary", "motor", coordinate="pivot", law="20 deg + 3*t")
    return m


def by_groups(cache: int = 10**9, **options: object) -> Results:
    """More than a turn of a driven linkage in chunks of some hundred instants, or in tiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "CACHE", cache)
        for name, value in (("_CHUNK", 256), ("_SHORT_CHUNK", 256), ("_BLOCKS", 2)):
            patch.setattr(runner, name, value)
        given = {"step": 1e-2, "formulation": "natural groups", **options}
        return bl.kinematics(chain_of_dyads(2), 10.0, **given)


#: Runs that can be long, each of some hundred instants.
RUNS = {
    "adaptive": lambda: bl.simulate(swing(), 2.0),
    "fixed step": lambda: bl.simulate(swing(), 2.0, step=1e-3, output=1e-2),
    "looped": lambda: bl.simulate(swing(), 0.5, step=1e-2, engine="looped"),
    "kinematics": lambda: bl.kinematics(turning(), 5.0),
    "integrated": lambda: bl.kinematics(turning(), 15.0, integrate=True),
    "groups": by_groups,
    "groups, some instants": lambda: by_groups(output=2e-2, end_point=False),
    "groups in tiles": lambda: by_groups(cache=0),
    "looped kinematics": lambda: bl.kinematics(turning(), 0.2, engine="looped"),
}
each_run = pytest.mark.parametrize("name", RUNS)


@each_run
def test_a_record_changes_nothing_and_holds_everything(name, tmp_path, at_once):
    path = tmp_path / "r.partial"
    plain = RUNS[name]()
    with recorded(PartialResults(path)):
        watched_run = RUNS[name]()
    found = Results.load(path)
    assert found.interrupted and not watched_run.interrupted
    assert np.array_equal(found.t, plain.t)
    for group in plain.groups:
        names = [f"{group}.{channel}" for channel in plain.groups[group].names]
        for channel in names:
            assert np.array_equal(watched_run[channel], plain[channel]), channel
            assert np.allclose(found[channel], plain[channel], rtol=0, atol=1e-9), channel
    assert found.events == plain.events


@each_run
def test_any_error_on_the_way_leaves_what_there_was(name, tmp_path):
    def broken(part: float) -> None:
        if part > 0.3:
            raise ZeroDivisionError("of somebody else")

    path, plain = tmp_path / "r.partial", RUNS[name]()
    record = PartialResults(path)  # pieces are far apart: all of it is written at the end
    with pytest.raises(ZeroDivisionError), recorded(record), watched(broken):
        RUNS[name]()
    found = Results.load(path)
    assert 1 < len(found) == record.count <= len(plain)
    for group in GROUPS:
        assert np.array_equal(found[group], plain[group][: len(found)])
