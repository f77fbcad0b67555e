"""What is written is read back; other files are refused in words."""

from __future__ import annotations

import csv
import json
import os
import struct
import sys
import zipfile
from copy import copy

import numpy as np
import pytest

from biela.errors import ResultsError
from biela.results import Box, Channels, Cylinder, Dot, Results, Scene, Sphere
from tests.results.runs import swing


def test_a_saved_run_is_the_same_when_loaded(tmp_path):
    r = swing(interrupted=True)
    again = Results.load(r.save(tmp_path / "run"))
    assert (tmp_path / "run.npz").exists() and len(list(tmp_path.iterdir())) == 1
    assert (again.name, again.names, again.events) == (r.name, r.names, r.events)
    assert again.interrupted and again.statistics == r.statistics
    for name in r.names:
        assert np.array_equal(again[name], r[name]) and again.unit(name) == r.unit(name)
        assert again.rate(name) == r.rate(name)


def test_a_saved_scene_keeps_all_shapes(tmp_path):
    k = 3
    rng = np.random.default_rng(7)
    p, R = rng.normal(size=(k, 3)), np.tile(np.eye(3), (k, 1, 1))
    shapes = [
        *swing(0.5, 1.0).scene.shapes,
        Dot("dot", p, "red", 4.0),
        Sphere("ball", p, 0.2),
        Box("box", p, R, (1.0, 2.0, 3.0)),
        Cylinder("can", p[:1], R, 0.1, 0.5, "#123456"),
    ]
    r = Results("r", np.arange(3.0), {}, scene=Scene(shapes, "3d"))
    again = Results.load(r.save(tmp_path / "run.npz")).scene
    assert again.plane == "3d" and len(again.shapes) == len(shapes)
    for before, after in zip(shapes, again.shapes, strict=True):
        assert type(before) is type(after)
        for field, value in vars(before).items():
            assert np.array_equal(value, getattr(after, field)), (before.name, field)


def test_lazy_channels_and_missing_values_are_saved_too(tmp_path):
    r = Results("r", [0.0, 1.0], {"a": Channels(["x"], lambda: [[np.nan], [np.inf]])})
    again = Results.load(r.save(tmp_path / "r.npz"))
    assert np.isnan(again["x"][0]) and again["x"][1] == np.inf
    assert again.statistics is None and again.scene is None


def test_other_files_are_refused_in_words(tmp_path):
    with pytest.raises(ResultsError, match="cannot be read"):
        Results.load(tmp_path / "missing.npz")
    text = tmp_path / "text.npz"
    text.write_text("no arrays at all")
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, x=np.zeros(3))
    single = tmp_path / "single.npy"
    np.save(single, np.zeros(3))
    for path in (text, arrays, single):
        with pytest.raises(ResultsError, match="not a file of results"):
            Results.load(path)


class _Trap:
    """Unpickled, it makes a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_a_file_cannot_run_code_of_its_own(tmp_path):
    trap = np.array([_Trap(tmp_path / "sprung")], dtype=object)
    path = swing().save(tmp_path / "r.npz")
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "group/q": trap})
    with pytest.raises(ResultsError, match="not a file of results"):
        Results.load(path)
    assert not (tmp_path / "sprung").exists()


def _rewritten(path, **changes):
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays.pop("header").tobytes()) | changes
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    return path


def test_a_file_of_a_later_format_or_a_damaged_one_says_so(tmp_path):
    path = swing().save(tmp_path / "r.npz")
    with pytest.raises(ResultsError, match="written in format 99"):
        Results.load(_rewritten(path, version=99))
    with pytest.raises(ResultsError, match="damaged"):
        Results.load(_rewritten(path, version=1, monitors={f"m{i}": "" for i in range(9)}))
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ResultsError):
        Results.load(path)


def _entry(shape, kind="<f8", version=(1, 0), content=b""):
    head = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
    length = struct.pack("<H" if version == (1, 0) else "<I", len(head) + 1)
    return np.lib.format.magic(*version) + length + head + b"\n" + content


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"t.npy": _entry((10**10,))}, r"t\.npy claims an array of 8e\+10 bytes"),
        ({"t.npy": _entry((10**10,), version=(2, 0))}, r"t\.npy claims an array of 8e\+10 bytes"),
        ({"t.npy": _entry((10**10,), version=(3, 0))}, "not a file of results .* 't.npy'"),
        ({"t.npy": _entry((10**10,), version=(9, 9))}, "not a file of results .* 't.npy'"),
        ({"t.npy": _entry((10**8,), "|S0")}, "'t.npy' holds .*, no real numbers"),
        ({"t.npy": _entry((10**8,), "|V0")}, "'t.npy' holds .*, no real numbers"),
        ({"t.npy": _entry((2,), "<c16", content=bytes(32))}, "'t.npy' holds complex128"),
        ({"t.npy": _entry((1,), "<U2", content=bytes(8))}, "'t.npy' holds <U2"),
        ({"t.npy": _entry((10**7,), "|b1", content=bytes(10**7))}, "'t.npy' holds bool, no real"),
        ({"t.npy": _entry((10**7,), "|i1", content=bytes(10**7))}, "'t.npy' holds int8, no real"),
        ({"t.npy": _entry((10**6,), "<f4", content=bytes(4 * 10**6))}, "'t.npy' holds float32"),
        ({"more.npy": _entry((10**6,), content=bytes(8 * 10**6))}, "would take about 0.00802 GB"),
        ({"header.npy": None, "header": None}, "not a file of results"),
        ({"header": b"{}"}, "not a file of results of biela"),
        ({"header.npy": _entry((3 * 10**7,), "|u1", content=bytes(3 * 10**7))}, "its header"),
    ],
    ids=lambda value: "",
)
def test_arrays_are_looked_at_before_they_are_made(changed, said, tmp_path, monkeypatch):
    monkeypatch.setenv("BIELA_MEMORY", "0.001")
    path = swing().save(tmp_path / "r.npz")
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    if "header" in changed and changed["header"] is None:  # what numpy also takes as "header"
        changed = {"header.npy": None, "header": entries["header.npy"]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in (entries | changed).items():
            if content is not None:
                file.writestr(name, content)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it is read"))
    with pytest.raises(ResultsError, match=said):
        Results.load(path)


def test_arrays_that_stand_in_the_same_place_are_refused(tmp_path):
    """Each would be read on its own: a small file of many of them takes long."""
    path = swing().save(tmp_path / "r.npz")
    with zipfile.ZipFile(path, "a") as file:
        for k in range(3):
            again = copy(file.getinfo("t.npy"))
            again.filename = f"again{k}.npy"
            file.filelist.append(again)
            file.NameToInfo[again.filename] = again
        file._didModify = True
    with pytest.raises(ResultsError, match="stand in the same place"):
        Results.load(path)


def test_a_pipe_is_no_file_of_results(tmp_path):
    pipe = tmp_path / "r.npz"
    os.mkfifo(pipe)
    with pytest.raises(ResultsError, match=r"r\.npz: cannot be read \(it is a pipe"):
        Results.load(pipe)


def test_files_go_only_where_they_can(tmp_path):
    r = swing()
    with pytest.raises(ResultsError, match=r"should end in \.npz"):
        r.save(tmp_path / "run.csv")
    with pytest.raises(ResultsError, match="there is no folder"):
        r.save(tmp_path / "no" / "run.npz")
    with pytest.raises(ResultsError, match="there is no folder"):
        r.to_csv(tmp_path / "no" / "run.csv")


def test_csv_has_a_heading_and_all_digits(tmp_path):
    r = swing()
    path = r.to_csv(tmp_path / "run.csv")
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    assert heading[:4] == ["t [s]", "theta1 [rad]", "theta2 [rad]", "theta1' [rad/s]"]
    assert heading[-2:] == ["energy [J]", "constraint error [m]"]
    table = np.array(rows, dtype=float)
    assert np.array_equal(table[:, 0], r.t) and np.array_equal(table[:, 1:3], r.q)
    some = r.to_csv(tmp_path / "some.csv", "tip.*").read_text().splitlines()
    assert some[0] == "t [s],tip.x [m],tip.z [m]" and len(some) == 42


def test_a_comma_in_a_name_does_not_break_the_csv(tmp_path):
    r = Results("r", [0.0], {"u": Channels(["F, vertical"], [[2.0]], ["N"])})
    with r.to_csv(tmp_path / "r").open(newline="") as file:
        assert list(csv.reader(file)) == [["t [s]", "F, vertical [N]"], ["0.0", "2.0"]]


def test_a_data_frame_has_the_time_as_index_and_the_units_beside():
    pytest.importorskip("pandas")
    r = swing()
    frame = r.to_pandas("q", "energy")
    assert list(frame.columns) == ["theta1", "theta2", "energy"] and frame.index.name == "t"
    assert np.array_equal(frame["theta2"].to_numpy(), r["theta2"])
    assert frame.attrs["units"] == {"theta1": "rad", "theta2": "rad", "energy": "J"}


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ResultsError, match=r"pip install biela\[pandas\]"):
        swing().to_pandas()


def test_what_few_bytes_would_make_of_a_header_is_counted_first(tmp_path):
    text = b'{"format": "biela.results", "version": 1, "x": [' + b"[]," * 10**6 + b"[]]}"
    np.savez_compressed(tmp_path / "run.npz", header=np.frombuffer(text, dtype=np.uint8))
    assert (tmp_path / "run.npz").stat().st_size < 20_000
    with pytest.raises(ResultsError, match=r"run\.npz: .* about 2\.0e6 entries; the limit is"):
        Results.load(tmp_path / "run.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_arrays_that_make_gigabytes_of_a_few_bytes_are_not_unpacked(tmp_path, method):
    swing().save(tmp_path / "run.npz")
    with (
        zipfile.ZipFile(tmp_path / "run.npz") as old,
        zipfile.ZipFile(tmp_path / "other.npz", "w", method) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(ResultsError, match=r"other\.npz: .* compressed in a way"):
        Results.load(tmp_path / "other.npz")
