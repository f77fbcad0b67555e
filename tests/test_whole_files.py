"""Files are written aside and renamed: by all that writes, whatever ends it."""

from __future__ import annotations

import ast
import errno
import functools
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela import whole_files
from biela.cli.demo import hoecken
from biela.cli.leaving import Left
from biela.cli.main import main
from biela.errors import BielaError, ResultsError
from biela.model.files import dumps, save, save_thesis
from biela.model.meshes.files import write_stl
from biela.model.shapes import Box, MeshShape
from biela.results import Channels, Link, Results, Scene
from biela.whole_files import make_folder, together, whole_file, write_file, write_files

SOURCE = Path(bl.__file__).parent
OLD = b"as it was"


def run_of(count: int = 40) -> Results:
    t = np.linspace(0.0, 1.0, count)
    noise = np.random.default_rng(0).normal(size=(count, 5))
    ends = np.zeros((count, 2, 3))
    ends[:, 1, 0], ends[:, 1, 1] = np.cos(t), np.sin(t)
    groups = {"q": Channels(list("abcde"), noise)}
    return Results("noise", t, groups, scene=Scene([Link("rod", ends)]))


def function() -> bl.Function:
    x = bl.Workspace("writing").symbol("x")
    return bl.Function("square", {"x": [x]}, {"y": [x * x]})


def table(folder: Path, suffix: str) -> None:
    run_of().describe("q").save(folder / f"table{suffix}")


def swing() -> bl.Model:
    m = bl.Model("swing")
    rod = m.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    m.joint("revolute", "pivot", m.ground, rod, axis="y", start="20 deg")
    return m


def new(folder: Path) -> None:
    if main(["new", "four-bar", "--out", str(folder / "four_bar.toml"), "--force"]):
        raise BielaError("told on standard error")


def exported(language: str) -> Callable[[Path], object]:
    return lambda folder: function().export(language, folder)


def binary_stl(folder: Path) -> None:
    write_stl(Box(size=(3, 2, 1)).surface(), folder / "box.stl")


#: All that writes files, and the names that it writes.
WRITERS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "npz": (lambda f: run_of(2000).save(f / "r.npz"), ("r.npz",)),
    "csv": (lambda f: run_of(2000).to_csv(f / "r.csv"), ("r.csv",)),
    "plot": (lambda f: run_of().plot(save=f / "p.png"), ("p.png",)),
    "film": (lambda f: run_of(5).animate(f / "a.gif", fps=4.0, size=(200, 200)), ("a.gif",)),
    "page": (lambda f: run_of().animate(f / "a.html"), ("a.html",)),
    **{
        f"table {suffix}": (lambda f, suffix=suffix: table(f, suffix), (f"table{suffix}",))
        for suffix in (".csv", ".md", ".tex", ".txt")
    },
    "model": (lambda f: save(swing(), f / "m.toml"), ("m.toml",)),
    "stl": (binary_stl, ("box.stl",)),
    "thesis": (lambda f: save_thesis(swing(), f), ("general.txt", "joints.txt")),
    "new": (new, ("four_bar.toml",)),
    "C": (exported("c"), ("square.c", "square.h")),
    "MATLAB": (exported("matlab"), ("square.m",)),
    "Julia": (exported("julia"), ("square.jl",)),
    "Python": (exported("python"), ("square.py",)),
}
each_writer = pytest.mark.parametrize("name", WRITERS)

# --- all that writes ------------------------------------------------------------------------------

_opened: list[str] = []
_watching = threading.local()


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and getattr(_watching, "on", False):
        path, _, flags = arguments
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            _opened.append(str(path))


@pytest.fixture(scope="module")
def audited() -> list[str]:
    sys.addaudithook(_audit)  # which stays, and is asleep
    return _opened


@each_writer
def test_nothing_is_opened_for_writing_under_its_name(name, tmp_path, audited):
    audited.clear()
    _watching.on = True
    try:
        WRITERS[name][0](tmp_path)
    finally:
        _watching.on = False
    here = [Path(path).name for path in audited if path.startswith(str(tmp_path))]
    assert here and all(whole_files._HIDDEN.fullmatch(path) for path in here), here
    assert set(WRITERS[name][1]) <= {path.name for path in tmp_path.iterdir()}
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file can become longer than 64 bytes: the system takes a part and refuses the rest."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@each_writer
def test_a_disk_that_is_full_changes_no_file(name, tmp_path, request, capsys):
    write, names = WRITERS[name]
    write(tmp_path)  # loads what it needs, which may be written to caches
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    request.getfixturevalue("full_disk")
    for there in (before, {}):
        with pytest.raises(BielaError) as caught:
            write(tmp_path)
        said = f"{caught.value}{capsys.readouterr().err}"
        assert "cannot be written: the file is larger than" in said
        assert any(each in said for each in names)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == there
        for path in tmp_path.iterdir():
            path.unlink()


def meshed() -> bl.Model:
    m = swing()
    for name in ("ball", "brick"):
        m.body(name, shapes=[MeshShape(mesh=Box(size=(3, 2, 1)).surface())])
    return m


def turned() -> bl.Model:
    m = swing()
    m.driver("rotary", "turn", coordinate="pivot.angle", law="20 deg + t")
    return m


def equations_in(language: str) -> Callable[[Path], object]:
    def run(folder: Path) -> None:
        model = folder.parent / "swing.toml"
        model.write_text(dumps(swing()), encoding="utf-8")
        if main(["export", str(model), "--language", language, "--out", str(folder)]):
            raise BielaError("told on standard error")

    return run


@functools.cache
def groups() -> bl.GroupSolver:
    return bl.GroupSolver(turned(), bodies=True)


def left(folder: Path) -> None:
    made = Left()
    names = [folder / "motor.csv", folder / "motor.png"]
    made.make("--motors", lambda: (write_file(name, "x", ResultsError) for name in names))
    made.make("--csv", lambda: [])
    made.tell()


#: All that writes several files that belong together.
SETS: dict[str, Callable[[Path], object]] = {
    "languages": lambda f: function().export(["c", "matlab", "python", "julia"], f),
    "simulator": lambda f: bl.export_simulator(swing(), f),
    "groups": lambda f: groups().export(f),
    "robot": lambda f: bl.Robot(swing()).export("matlab", f),
    "model with meshes": lambda f: save(meshed(), f / "m.toml"),
    "thesis": lambda f: save_thesis(turned(), f),
    "equations in symbols": lambda f: hoecken().equations().export("matlab", f),
    **{
        f"equations in {language}": equations_in(language)
        for language in ("c", "matlab", "python", "julia")
    },
    "what a run leaves": left,
}


@pytest.mark.parametrize("name", SETS)
def test_files_that_belong_together_are_all_new_or_all_old(name, tmp_path, monkeypatch, capsys):
    synchronised, calls, last = os.fsync, [], [0]

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == last[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        synchronised(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    there, empty = tmp_path / "there", tmp_path / "empty"
    empty.mkdir()
    there.mkdir()
    SETS[name](there)
    before = {path.name: path.read_bytes() for path in there.iterdir()}
    count = len(calls)
    assert count == len(before) > 1
    for each, (folder, known) in zip(
        sorted({1, 2, count // 2, count}), itertools.cycle([(there, before), (empty, {})])
    ):
        calls.clear()
        last[0] = each
        with pytest.raises(BielaError) as caught:
            SETS[name](folder)
        said = f"{caught.value}{capsys.readouterr().err}"
        assert "cannot be written: no space is left on that disk" in said
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == known, each


def failing_at(monkeypatch, name: str, number: int, error: BaseException) -> None:
    """Have the call of that number of a function of the system fail."""
    whole, calls = getattr(os, name), itertools.count(1)

    def called(*arguments: object) -> object:
        if next(calls) == number:
            raise error
        return whole(*arguments)

    monkeypatch.setattr(os, name, called)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("links", [True, False], ids=["links", "copies"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "I/O error"), KeyboardInterrupt()])
def test_a_name_that_cannot_be_given_puts_the_others_back(
    error, number, links, tmp_path, monkeypatch
):
    """Of four files two replace others, one of which is the target of a link."""
    (tmp_path / "a").write_bytes(OLD)
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "real").chmod(0o604)
    (tmp_path / "c").symlink_to("real")
    before = contents(tmp_path)
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "")))
    names = {tmp_path / name: "new" for name in "abcd"}
    with monkeypatch.context() as patch:
        failing_at(patch, "replace", number, error)
        with pytest.raises((ResultsError, KeyboardInterrupt)) as caught:
            write_files(names, ResultsError)
    if isinstance(error, OSError):
        assert f"{'abcd'[number - 1]}: cannot be written: I/O error" in str(caught.value)
        assert "put back" not in str(caught.value)
    assert contents(tmp_path) == before
    assert (tmp_path / "c").is_symlink()
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o604
    write_files(names, ResultsError)
    assert contents(tmp_path) == dict.fromkeys([*"abcd", "real"], b"new")
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o604


def test_a_file_that_cannot_be_kept_is_not_replaced(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_bytes(OLD)
    before = contents(tmp_path)

    def refused(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr("shutil.copyfileobj", refused)
    with pytest.raises(ResultsError, match="a: cannot be written: no space is left"):
        write_files({tmp_path / name: "new" for name in "ab"}, ResultsError)
    assert contents(tmp_path) == before


def test_what_cannot_be_put_back_is_said_and_not_lost(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_bytes(OLD)
    whole, calls = os.replace, itertools.count(1)

    def only_once(*arguments: object) -> None:
        if next(calls) > 1:
            raise OSError(errno.EIO, "I/O error")
        whole(*arguments)

    monkeypatch.setattr(os, "replace", only_once)
    with pytest.raises(ResultsError, match=r"b: cannot .*; .*a is new already and cannot be put"):
        write_files({tmp_path / name: "new" for name in "abc"}, ResultsError)
    monkeypatch.undo()
    left = contents(tmp_path)
    assert (left.pop("a"), left.pop("b")) == (b"new", OLD)
    assert list(left.values()) == [OLD], "what a held, under a hidden name"
    write_file(tmp_path / "d", "new", ResultsError)
    assert left.items() <= contents(tmp_path).items(), "it stays"


def test_an_error_of_the_code_that_writes_is_not_blamed_on_the_file(tmp_path):
    """It may read another file, or call somebody."""
    path = tmp_path / "file"
    for error in (
        FileNotFoundError(errno.ENOENT, "No such file", "elsewhere"),
        PermissionError(errno.EACCES, "Permission denied"),
        ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
        UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range"),
    ):
        with pytest.raises(type(error)) as caught, whole_file(path, ResultsError) as file:
            file.write(b"half")
            raise error
        assert caught.value is error
        with pytest.raises(type(error)) as caught, together():
            write_file(path, "whole", ResultsError)
            raise error
        assert caught.value is error
    said = "file: cannot be written: that disk is read-only"
    with pytest.raises(ResultsError, match=said), whole_file(path, ResultsError) as file:
        raise OSError(errno.EROFS, "Read-only file system", file.name)
    assert not list(tmp_path.iterdir())


def test_a_file_that_fails_in_a_set_is_not_given_its_name_later(tmp_path):
    with together():
        write_file(tmp_path / "a", "a", ResultsError)
        with suppress(ZeroDivisionError), whole_file(tmp_path / "b", ResultsError) as file:
            file.write(b"half")
            1 / 0  # noqa: B018
        with pytest.raises(ResultsError), together():
            write_file(tmp_path / "missing" / "c", "c", ResultsError)
        assert not (tmp_path / "a").exists(), "before the end of the set"
        with together():
            write_file(tmp_path / "d", "d", ResultsError)
        assert not (tmp_path / "d").exists(), "before the end of the larger set"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]
    with pytest.raises(ZeroDivisionError), together():
        write_file(tmp_path / "e", "e", ResultsError)
        1 / 0  # noqa: B018
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]


def test_an_error_or_interrupt_on_the_way_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    for error in (KeyboardInterrupt, ZeroDivisionError):
        with pytest.raises(error), whole_file(path, ResultsError) as file:
            file.write(b"half")
            raise error
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


# --- what a plain open would do -------------------------------------------------------------------


def test_permissions_are_those_of_the_umask_or_of_the_file_that_was_there(tmp_path):
    before = os.umask(0o027)
    try:
        new, old = tmp_path / "new", tmp_path / "old"
        old.write_bytes(OLD)
        old.chmod(0o604)
        write_files({new: "x", old: "x"}, ResultsError)
        assert (new.stat().st_mode & 0o777, old.stat().st_mode & 0o777) == (0o640, 0o604)
    finally:
        os.umask(before)


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path):
    (tmp_path / "far").mkdir()
    for there in (True, False):
        target, link = tmp_path / "far" / f"file{there}", tmp_path / f"link{there}"
        if there:
            target.write_bytes(OLD)
        link.symlink_to(Path("far") / target.name)
        write_file(link, "new", ResultsError)
        assert link.is_symlink() and target.read_bytes() == b"new"


def test_what_is_no_ordinary_file_is_written_to_as_it_is(tmp_path):
    write_file("/dev/null", "gone", ResultsError)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, "through", ResultsError)
    reader.join(10.0)
    assert read == [b"through"] and pipe.is_fifo()


def test_standard_output_that_goes_to_a_file_is_written_to_and_not_replaced(tmp_path):
    code = (
        "import os\n"
        "from biela.errors import BielaError\n"
        "from biela.whole_files import write_file\n"
        "os.write(1, b'before\\n')\n"
        "write_file('link', 'file\\n', BielaError)\n"
        "os.write(1, b'after\\n')\n"
    )
    (tmp_path / "link").symlink_to("/dev/stdout")
    with (tmp_path / "out").open("ab") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, cwd=tmp_path)
        assert os.fstat(out.fileno()).st_ino == (tmp_path / "out").stat().st_ino
    assert (tmp_path / "out").read_text().endswith("file\nafter\n")


# --- what cannot be written -----------------------------------------------------------------------


def test_what_cannot_be_written_is_said_with_the_file_and_what_to_do(tmp_path):
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "ring").symlink_to("ring")
    (tmp_path / "nowhere").symlink_to("missing/file")
    for name, said in {
        "missing/file": "there is no folder .*missing: make it",
        "nowhere": "there is no folder .*missing: make it",
        ".": "it is a folder: give the name of a file",
        "file/file": "a part of the path is a file and no folder",
        "n" * 300: "the name is too long: choose a shorter one",
        "ring": "symbolic links lead in a ring",
    }.items():
        with pytest.raises(ResultsError, match=f"cannot be written: {said}") as caught:
            write_file(tmp_path / name, "x", ResultsError)
        assert str(caught.value).isprintable() and tmp_path.name in str(caught.value)
    for name, said in {
        "file": "a file is in the way",
        "file/below": "a part of the path is a file",
    }.items():
        with pytest.raises(ResultsError, match=f"cannot be written: {said}"):
            make_folder(tmp_path / name, ResultsError)
    assert (tmp_path / "file").read_bytes() == OLD
    assert not list(tmp_path.glob(".*"))


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(0o444)
    # as for anybody but the administrator, who runs this in some places
    monkeypatch.setattr(os, "access", lambda path, mode: bool(Path(path).stat().st_mode & 0o222))
    with pytest.raises(ResultsError, match="you may not write there"):
        write_file(path, "new", ResultsError)
    assert path.read_bytes() == OLD


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EROFS, "read-only"),
        (errno.EACCES, "you may not write"),
        (errno.EDQUOT, "your share of that disk"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_errors_of_the_system_are_said_in_words(number, said, tmp_path, monkeypatch):
    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(ResultsError, match=f"results: cannot be written: .*{said}"):
        write_file(tmp_path / "results", "x", ResultsError)
    assert not list(tmp_path.iterdir())


# --- processes that are killed --------------------------------------------------------------------

#: Writes files of one letter over and over, and says so.
_ENDLESS = """
import itertools, sys
from pathlib import Path
from biela.errors import BielaError
from biela.whole_files import write_files
for letter in itertools.cycle("ab"):
    write_files({Path(name): letter * 400_000 for name in ("first", "second")}, BielaError)
    print(letter, flush=True)
"""


def test_a_process_that_is_killed_leaves_whole_files(tmp_path):
    chance = random.Random(17)
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", _ENDLESS], cwd=tmp_path, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.02))
            process.send_signal(signal.SIGKILL)
        for name in ("first", "second"):
            assert (tmp_path / name).read_text() in ("a" * 400_000, "b" * 400_000)
    for path in tmp_path.glob(".biela-*.part"):
        os.utime(path, (0, 0))
    write_file(tmp_path / "first", "next", ResultsError)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_only_files_that_nobody_writes_any_more_are_cleaned_away(tmp_path):
    foreign = tmp_path / ".biela-notes.part"
    foreign.write_bytes(OLD)
    fresh, stale = (tmp_path / f".biela-{letter * 16}.part" for letter in "ab")
    for path in (fresh, stale):
        path.write_bytes(b"half")
    with whole_file(tmp_path / "slow", ResultsError) as file:
        file.write(b"slow")
        file.flush()
        for path in (foreign, stale, Path(file.name)):
            os.utime(path, (0, 0))
        write_file(tmp_path / "quick", "quick", ResultsError)
        assert not stale.exists() and fresh.exists() and foreign.exists()
    assert (tmp_path / "slow").read_bytes() == b"slow"


# --- nobody writes otherwise ----------------------------------------------------------------------

#: Modules that write in their own way, and why.
OWN_WAY = {
    "whole_files.py": "is the way",
    "code_cache.py": "does without a file that it cannot write, and checks what it reads",
    "studio/opening.py": "is for the user alone from the beginning, and gone after a minute",
    "results/partial.py": "grows at its end and can be read at any moment; never a final name",
}
#: Calls that write, whatever they are given.
WRITING = {
    *("write_text", "write_bytes", "touch", "mkdir", "makedirs", "mkfifo", "symlink_to"),
    *("mkstemp", "NamedTemporaryFile", "fdopen", "copyfile", "copy2", "copytree", "savetxt"),
    *("tofile", "to_hdf", "to_excel", "to_pickle", "to_parquet", "write_html"),
}
#: Calls that write to what is given first: an open file, which is called so, or memory.
TO_A_FILE = {"savefig", "imwrite", "savez", "savez_compressed", "dump"}
MEMORY = {"file", "buffer", "piece"}
#: Calls that write if they are these.
OF_A_MODULE = {"os.open", "os.replace", "os.rename", "os.link", "shutil.move"}
NAMES = WRITING | TO_A_FILE | {"open"} | {name.partition(".")[2] for name in OF_A_MODULE}


def writes(call: ast.Call) -> bool:
    """Whether a call writes a file by its name."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in NAMES:
        return False
    if ast.unparse(function) in OF_A_MODULE:
        return True
    if name == "open":
        given = [*call.args[isinstance(function, ast.Name) :], *(k.value for k in call.keywords)]
        modes = [a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        return any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes)
    if name in TO_A_FILE:
        to = call.args[0] if call.args and ast.unparse(function) != "ast.dump" else None
        return not (to is None or (isinstance(to, ast.Name) and to.id in MEMORY))
    return name in WRITING


def test_no_module_writes_files_in_another_way():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE).as_posix()
        if inside in OWN_WAY:
            continue
        text = path.read_text(encoding="utf-8")
        if not any(f"{name}(" in text for name in NAMES):
            continue
        tree = ast.parse(text)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and writes(node)]
        found += [f"{inside}:{call.lineno}: {ast.unparse(call)[:80]}" for call in calls]
    assert not found, "write these by biela.whole_files:\n" + "\n".join(found)


@pytest.mark.parametrize("module", OWN_WAY)
def test_modules_that_write_in_their_own_way_do(module):
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    assert any(isinstance(node, ast.Call) and writes(node) for node in ast.walk(tree))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open(path)", False),
        ("open(path, 'rb')", False),
        ("open(path, mode='a')", True),
        ("path.open('r+b')", True),
        ("path.open(encoding='utf-8')", False),
        ("os.open(path, flags)", True),
        ("session.open()", False),
        ("figure.savefig(path)", True),
        ("figure.savefig(file, dpi=1)", False),
        ("np.savez(folder / 'x.npz', a=a)", True),
        ("json.dump(data, file)", True),
        ("Path(p).write_text(x)", True),
        ("shutil.copytree(a, b)", True),
        ("text.replace('a', 'b')", False),
    ],
)
def test_calls_that_write_are_recognised(text, expected):
    call = ast.parse(text).body[0].value
    assert writes(call) is expected


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="gives a file to a group")
def test_a_file_that_is_replaced_keeps_its_group_and_is_never_open_to_more(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("old")
    os.chown(path, -1, 12345)
    path.chmod(0o640)
    seen = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda *a, **k: seen.append(a) or real(*a, **k))
    write_file(path, "new", BielaError)
    assert [mode for _, _, mode in (a for a in seen if str(a[0]).endswith(".part"))] == [0o600]
    found = path.stat()
    assert (found.st_gid, found.st_mode & 0o777) == (12345, 0o640)
    assert path.read_text() == "new"
