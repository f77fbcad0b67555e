"""The code cache: nothing foreign is loaded, nothing damaged, and nothing about it ends a run."""

from __future__ import annotations

import errno
import os
import pickle
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import biela as bl
from biela import code_cache
from biela.code.routines.in_process import generated_module
from biela.errors import BielaError
from biela.jit import cfunc, njit

STRANGER = 12345
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
#: Gives files away, which only root may.
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, two folders below one that is safe."""
    folder = tmp_path / "above" / "cache"
    monkeypatch.setenv("BIELA_CACHE_DIR", str(folder))
    monkeypatch.delenv("BIELA_CACHE", raising=False)
    forget()
    yield folder
    forget()


def forget() -> None:
    """Know as little of the cache as a new process."""
    code_cache._safe.clear()
    code_cache._tell.cache_clear()


# Two kinds of code, each stored in one file: `kind()` is what it computes, and how often it was
# found in the cache.


def native() -> tuple[float, int]:
    """2 x + 1 at 3, by code of our own."""
    ws = bl.Workspace()
    x = ws.symbol("x")
    found: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        read = code_cache.read_object
        patch.setattr(
            "biela.code.native.read_object",
            lambda key: found.append(data) or data if (data := read(key)) is not None else None,
        )
        value = bl.Function("line", {"x": x}, {"y": 2 * x + 1})(3.0)
    return float(value), len(found)


def compiled() -> tuple[float, int]:
    """The same by numba."""
    text = "@compiled\ndef line(x):\n    return 2 * x + 1\n"
    line: Any = generated_module("line", text, {"compiled": njit("float64(float64)")}).line
    return line(3.0), sum(line.stats.cache_hits.values())


KINDS = pytest.mark.parametrize("kind", [native, compiled])
Kind = Callable[[], tuple[float, int]]


def stored(cache: Path) -> Path:
    (file,) = (cache / "objects").iterdir()
    assert file.suffix == ".o"
    return file


_good: dict[Kind, tuple[str, bytes]] = {}


def fill(kind: Kind, cache: Path) -> Path:
    """Store the code of a kind; its file."""
    if kind not in _good:
        assert kind() == (7.0, 0)
        _good[kind] = stored(cache).name, stored(cache).read_bytes()
    name, content = _good[kind]
    (cache / "objects").mkdir(mode=0o700, parents=True, exist_ok=True)
    (cache / "objects" / name).write_bytes(content)
    (cache / "objects" / name).chmod(0o600)
    cache.parent.chmod(0o700)
    cache.chmod(0o700)
    forget()
    return stored(cache)


def seal(file: Path, data: bytes) -> None:
    """Give a file other contents, with the checksum that belongs to them."""
    file.write_bytes(code_cache._checksum(file.stem, data) + data)
    file.chmod(0o600)


class Trap:
    """Unpickled, it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


def plant(kind: Kind, cache: Path, tmp_path: Path) -> Path:
    """Fill the cache with code that does harm if it is run; the folder that a trap would make."""
    file, sprung = fill(kind, cache), tmp_path / "sprung"
    if kind is compiled:
        seal(file, pickle.dumps(Trap(sprung)))
    else:
        ws = bl.Workspace()
        x = ws.symbol("x")
        file.unlink()
        bl.Function("line", {"x": x}, {"y": x + 666})(3.0)
        data = stored(cache).read_bytes()[code_cache._CHECK :]
        stored(cache).unlink()
        seal(file, data)
    forget()
    return sprung


@KINDS
def test_code_is_stored_and_found_again(kind: Kind, cache: Path) -> None:
    assert kind() == (7.0, 0)
    assert kind() == (7.0, 1)


def test_what_is_planted_would_run_if_the_cache_were_trusted(cache: Path, tmp_path: Path) -> None:
    assert not plant(native, cache, tmp_path).exists()
    assert native() == (669.0, 1)
    shutil.rmtree(cache)
    sprung = plant(compiled, cache, tmp_path)
    assert compiled()[0] == 7.0
    assert sprung.exists()


# --- whose it is ----------------------------------------------------------------------------------


def _moved(folder: Path) -> Path:
    """Move a folder aside and leave a link in its place."""
    aside = folder.parent.parent / "aside" / folder.name
    aside.parent.mkdir(mode=0o700, exist_ok=True)
    folder.rename(aside)
    folder.symlink_to(aside)
    return aside


def _link_of_a_stranger(cache: Path) -> None:
    _moved(cache)
    cache.parent.chmod(0o1777)
    os.chown(cache, STRANGER, STRANGER, follow_symlinks=False)


def _given_away(path: Path) -> None:
    os.chown(path, STRANGER, STRANGER)


OPENINGS: dict[str, Callable[[Path], object]] = {
    "a directory that the group may write": lambda cache: cache.chmod(0o770),
    "a directory that all may write": lambda cache: cache.chmod(0o707),
    "a sticky directory that all may write": lambda cache: cache.chmod(0o1777),
    "a folder that the group may write": lambda cache: (cache / "objects").chmod(0o770),
    "a folder that all may write": lambda cache: (cache / "objects").chmod(0o703),
    "a parent in which others may replace it": lambda cache: cache.parent.chmod(0o777),
    "a parent in which the group may replace it": lambda cache: cache.parent.chmod(0o770),
    "a link to a directory that all may write": lambda cache: _moved(cache).chmod(0o777),
    "a link into a place that all may write": lambda cache: _moved(cache).parent.chmod(0o777),
    "a relative link to a directory that all may write": lambda cache: (
        _moved(cache).chmod(0o777),
        cache.unlink(),
        cache.symlink_to("../above/../aside/cache"),
    ),
    "a folder that is a link": lambda cache: _moved(cache / "objects"),
}
GIFTS: dict[str, Callable[[Path], object]] = {
    "a directory of another user": _given_away,
    "a folder of another user": lambda cache: _given_away(cache / "objects"),
    "a parent of another user": lambda cache: _given_away(cache.parent),
    "a link of another user": _link_of_a_stranger,
    "a link to a directory of another user": lambda cache: _given_away(_moved(cache)),
}


@posix
@KINDS
@pytest.mark.parametrize(
    "opening", [*OPENINGS, *(pytest.param(name, marks=as_root) for name in GIFTS)]
)
def test_a_directory_that_others_may_change_is_not_used(
    kind: Kind, opening: str, cache: Path, tmp_path: Path
) -> None:
    sprung = plant(kind, cache, tmp_path)
    (OPENINGS | GIFTS)[opening](cache)
    before = sorted(tmp_path.rglob("*"))
    with pytest.warns(UserWarning, match="is not used") as told:
        assert kind() == (7.0, 0)
        assert code_cache.read_object("again") is None
    assert len(told) == 1
    assert "BIELA_CACHE_DIR" in str(told[0].message)
    assert not sprung.exists()
    assert sorted(tmp_path.rglob("*")) == before  # neither written nor dropped
    assert code_cache.contents() == (0, 0)
    assert code_cache.clear() == 0
    assert sorted(tmp_path.rglob("*")) == before


def _file_elsewhere(file: Path) -> None:
    elsewhere = file.parent.parent.parent.parent / "elsewhere.o"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


@posix
@KINDS
@pytest.mark.parametrize(
    "opening",
    [
        lambda file: file.chmod(0o620),
        lambda file: file.chmod(0o602),
        _file_elsewhere,
        pytest.param(_given_away, marks=as_root),
    ],
    ids=["group may write", "all may write", "link", "another user"],
)
def test_a_file_that_others_may_change_is_dropped_and_made_again(
    kind: Kind, opening: Callable[[Path], object], cache: Path, tmp_path: Path
) -> None:
    sprung = plant(kind, cache, tmp_path)
    opening(stored(cache))
    assert kind() == (7.0, 0)
    assert not sprung.exists()
    assert kind() == (7.0, 1)


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize(
    "opened",
    [pytest.param(_given_away, marks=as_root), pytest.param(lambda above: above.chmod(0o777))],
    ids=["of another user", "open to all"],
)
@posix
def test_nothing_is_made_in_a_place_that_is_refused(
    opened: Callable[[Path], None], depth: int, cache: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    places = [home, home / ".cache", home / ".cache" / "biela"][: depth + 1]
    home.mkdir(mode=0o755)
    for place in places[1:]:
        place.mkdir(mode=0o700)
    opened(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIELA_CACHE_DIR", str(home / ".cache" / "biela"))
        with pytest.warns(UserWarning, match=rf"is not used: {home} .*\. Make it yours alone"):
            assert native() == (7.0, 0)
        assert native() == (7.0, 0) and not code_cache.usable()
    found = [home, *(path for path in home.rglob("*"))]
    assert sorted(found) == places


@as_root
def test_root_in_the_home_of_a_user_leaves_no_cache_there(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    _given_away(home)
    for name in ("BIELA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SUDO_USER", "somebody")
    assert code_cache.directory().is_relative_to(home)
    with pytest.warns(UserWarning, match=r"Run biela as yourself, use sudo -H, let BIELA") as told:
        assert native() == (7.0, 0) and native() == (7.0, 0)
    assert len(told) == 1 and not list(home.iterdir())


@posix
def test_a_link_to_a_directory_of_ones_own_is_followed(cache: Path) -> None:
    fill(compiled, cache)
    _moved(cache)
    forget()
    assert compiled() == (7.0, 1)


@posix
def test_a_directory_that_appears_after_the_check_is_checked(cache: Path, tmp_path: Path) -> None:
    sprung = plant(compiled, cache, tmp_path)
    assert code_cache._folder() is not None
    objects = cache / "objects"
    kept = objects.rename(cache / "kept")
    shutil.copytree(kept, objects)
    objects.chmod(0o777)
    with pytest.warns(UserWarning, match="can be written by other users"):
        assert compiled() == (7.0, 0)
    assert not sprung.exists()


@posix
@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_what_is_made_is_for_the_user_alone(mask: int, cache: Path) -> None:
    cache.parent.parent.chmod(0o700)
    before = os.umask(mask)
    try:
        compiled()
    finally:
        os.umask(before)
    for folder in (cache.parent, cache, cache / "objects"):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert stored(cache).stat().st_mode & 0o777 == 0o600


def test_a_loop_of_links_is_done_without(cache: Path) -> None:
    cache.parent.mkdir()
    cache.symlink_to(cache)
    assert compiled() == (7.0, 0)


def test_a_system_without_user_numbers_keeps_code(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("geteuid", "getuid", "O_NOFOLLOW", "O_NONBLOCK"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(code_cache, "_OWNED", False)
    assert compiled() == (7.0, 0)
    assert compiled() == (7.0, 1)
    assert code_cache.clear() == 1


def test_a_user_without_a_home_has_no_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("BIELA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert compiled() == (7.0, 0)
    with pytest.raises(BielaError, match="BIELA_CACHE_DIR"):
        code_cache.directory()


# --- damage ---------------------------------------------------------------------------------------


def _folder_in_place(file: Path) -> None:
    file.unlink()
    (file / "deep").mkdir(parents=True)
    (file / "deep" / "file").touch()


def _pipe_in_place(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _dangling_link(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parent / "nothing")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "less than a checksum": lambda file: file.write_bytes(file.read_bytes()[:7]),
    "only a checksum": lambda file: file.write_bytes(file.read_bytes()[:16]),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"\0"),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "another key": lambda file: seal_as(file, "another"),
    "a folder": _folder_in_place,
    "a dangling link": _dangling_link,
    "may not be read": lambda file: (file.write_bytes(b"damaged"), file.chmod(0)),
}
if hasattr(os, "mkfifo"):
    DAMAGES["a pipe"] = _pipe_in_place


def seal_as(file: Path, key: str) -> None:
    data = file.read_bytes()[code_cache._CHECK :]
    file.write_bytes(code_cache._checksum(key, data) + data)


@KINDS
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_dropped_and_made_again(kind: Kind, damage: str, cache: Path) -> None:
    DAMAGES[damage](fill(kind, cache))
    assert kind() == (7.0, 0)
    assert kind() == (7.0, 1)


@KINDS
def test_no_flipped_bit_is_overlooked(kind: Kind, cache: Path) -> None:
    file = fill(kind, cache)
    good = file.read_bytes()
    assert code_cache.read_object(file.stem) == good[code_cache._CHECK :]
    numbers = random.Random(17)
    for place in [*range(40), *(numbers.randrange(len(good)) for _ in range(200))]:
        bad = bytearray(good)
        bad[place] ^= 1 << numbers.randrange(8)
        file.write_bytes(bad)
        assert code_cache.read_object(file.stem) is None
        assert not file.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"junk",
        pickle.dumps(None),
        pickle.dumps((1, 2, 3)),
        b"cbiela.jit\nno_such_name\n.",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",  # claims a frame of 8 EB
        b"(" * 10_000,
    ],
)
def test_whole_files_that_numba_cannot_use_are_made_again(content: bytes, cache: Path) -> None:
    seal(fill(compiled, cache), content)
    assert compiled() == (7.0, 0)
    assert compiled() == (7.0, 1)


def test_a_file_beyond_all_that_is_stored_is_not_read(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_cache, "CAPACITY", fill(native, cache).stat().st_size - 1)
    assert native() == (7.0, 0)


# --- disks ----------------------------------------------------------------------------------------


def _fails(number: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


class _Full:
    """A file on a full disk."""

    def __init__(self, handle: int, mode: str) -> None:
        self.handle = handle

    def __enter__(self) -> _Full:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)

    def write(self, data: bytes) -> int:
        os.write(self.handle, data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@KINDS
@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("pathlib.Path.mkdir", _fails(errno.EROFS)),
        ("pathlib.Path.mkdir", _fails(errno.ENOSPC)),
        ("tempfile.mkstemp", _fails(errno.ENOSPC)),
        ("tempfile.mkstemp", _fails(errno.EROFS)),
        ("biela.code_cache.os.fdopen", _Full),
        ("biela.code_cache.os.replace", _fails(errno.EDQUOT)),
    ],
)
def test_a_disk_that_is_full_or_read_only_is_done_without(
    kind: Kind, name: str, failure: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(name, failure)
        assert kind() == (7.0, 0)
    assert not [path for path in cache.rglob("*") if path.is_file()]


@KINDS
def test_code_on_a_read_only_disk_is_used(
    kind: Kind, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(kind, cache)
    for name in ("utime", "unlink", "replace", "mkdir"):
        monkeypatch.setattr(f"biela.code_cache.os.{name}", _fails(errno.EROFS))
    assert kind() == (7.0, 1)


def test_code_that_never_came_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt in the call that hands it over is swallowed, and leaves numba without it."""
    from numba.core.codegen import CPUCodeLibrary

    def gone(library: Any) -> bytes:
        raise RuntimeError(f"no compiled object yet for {library}")

    with monkeypatch.context() as patch:
        patch.setattr(CPUCodeLibrary, "_get_compiled_object", gone)
        assert compiled() == (7.0, 0)
    assert not (cache / "objects").exists()
    assert compiled() == (7.0, 0)
    assert compiled() == (7.0, 1)


def test_unfinished_files_are_tidied_away(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(compiled, cache)
    (cache / "objects" / "tmpkilled00.part").write_bytes(bytes(1000))
    os.utime(cache / "objects" / "tmpkilled00.part", (1, 1))
    monkeypatch.setattr(code_cache, "CAPACITY", code_cache.contents()[1] - 1)
    code_cache._prune(cache / "objects")
    assert stored(cache).stem.startswith("line")


# --- what the key holds ---------------------------------------------------------------------------


def test_code_follows_what_it_was_compiled_with(cache: Path) -> None:
    outer = "@compiled\ndef outer(x):\n    return inner(x) * factor\n"

    def answer(name: str, text: str, factor: float, **options: Any) -> tuple[float, int]:
        inner = generated_module(name, text, {"compiled": njit("float64(float64)")}).inner
        scope = {"compiled": njit("float64(float64)", **options), "inner": inner, "factor": factor}
        made: Any = generated_module("outer", outer, scope).outer
        return made(1.0), sum(made.stats.cache_hits.values())

    first = "@compiled\ndef inner(x):\n    return x + 1\n"
    other = first.replace("1", "20")
    assert answer("inner", first, 2.0) == (4.0, 0)
    assert answer("inner", first, 2.0) == (4.0, 1)
    assert answer("changed_inner", other, 2.0) == (42.0, 0)
    assert answer("inner", first, 3.0) == (6.0, 0)
    assert answer("inner", first, 2.0, error_model="numpy") == (4.0, 0)
    assert answer("inner", first, 2.0) == (4.0, 1)


def test_entries_for_c_are_kept_too(cache: Path) -> None:
    import ctypes

    def answer() -> tuple[float, int]:
        text = "@compiled\ndef twice(x):\n    return 2 * x\n"
        scope = {"compiled": cfunc("float64(float64)")}
        made: Any = generated_module("twice", text, scope).twice
        call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(made.address)
        return call(21.0), made._cache_hits

    assert answer() == (42.0, 0)
    assert answer() == (42.0, 1)


# --- whole processes ------------------------------------------------------------------------------

PROGRAM = """\
import os, sys
opened = []
def hook(event, arguments):
    if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.listdir", "os.scandir"):
        opened.append(os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else "")
sys.addaudithook(hook)
import biela as bl
from biela.code.routines import Real, routine
from biela.solvers.sparse.fronts import _cost  # one that numba compiles in the package itself

@routine()
def line(x: Real) -> Real:
    return 2 * x + 1

ws = bl.Workspace()
x = ws.symbol("x")
assert line(3.0) == bl.Function("line", {"x": x}, {"y": 2 * x + 1})(3.0) == 7.0
assert _cost(2, 3) > 0
for path in opened:
    if path.startswith(sys.argv[1]) or path.endswith((".nbi", ".nbc")):
        print(path)
"""


def start(tmp_path: Path, **environment: str) -> subprocess.Popen[str]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    places = ("BIELA_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA")
    folders = {name: str(tmp_path / "kept" / name) for name in places}
    environment = {**os.environ, "BIELA_CACHE": "on", **folders, **environment}
    return subprocess.Popen(
        [sys.executable, "-B", "-W", "default", str(program), str(tmp_path / "kept")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_off_means_all_of_it(tmp_path: Path) -> None:
    with start(tmp_path, BIELA_CACHE="off") as process:
        out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "", "")
    assert not (tmp_path / "kept").exists()


def test_processes_that_fill_the_cache_at_once_succeed(tmp_path: Path) -> None:
    processes = [start(tmp_path) for _ in range(2)]
    for process in processes:
        with process:
            _, err = process.communicate()
        assert (process.returncode, err) == (0, "")
    (folder,) = (tmp_path / "kept").iterdir()
    assert folder.name == "BIELA_CACHE_DIR"  # neither numba's nor any other place
    files = list((folder / "objects").iterdir())
    assert len(files) == 3
    for file in files:
        content = file.read_bytes()
        assert content[:16] == code_cache._checksum(file.stem, content[16:])


@posix
def test_nothing_in_a_foreign_directory_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "kept" / "BIELA_CACHE_DIR"
    (folder / "objects").mkdir(parents=True)
    (folder / "objects").chmod(0o777)
    with start(tmp_path) as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (0, "")
    assert err.count("is not used") == 1
    assert not list((folder / "objects").iterdir())


def test_no_module_uses_the_cache_of_numba_itself() -> None:
    package = Path(bl.__file__).parent
    for file in package.rglob("*.py"):
        if file.name != "jit.py":
            text = file.read_text(encoding="utf-8")
            assert "cache=True" not in text and '"cache": True' not in text, file


def test_a_directory_that_is_refused_can_be_an_error(cache: Path) -> None:
    fill(compiled, cache)
    cache.chmod(0o777)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="is not used"):
            compiled()


def test_clearing_leaves_what_is_not_of_the_cache(cache):
    bl.code_cache.write_object("a" * 40, b"code")
    (cache / "objects" / "ab").mkdir()
    (cache / "objects" / "ab" / "blob.o").write_bytes(b"of somebody else")
    (cache / "objects" / "notes.txt").write_text("mine")
    (cache / "routines").mkdir(mode=0o700)
    former = f"march_{'0a' * 8}"
    for name in (f"{former}.py", f"{former}.march-8.py311.1.nbc", f"{former}.march-8.py311.nbi"):
        (cache / "routines" / name).write_text("former")
    (cache / "routines" / "tmpa_3_9zzz.tmp").write_text("unfinished")
    (cache / "objects" / f"march-{'b' * 40}.o").write_text("of numba")
    (cache / "objects" / "tmpa_3_9zzz.part").write_text("unfinished")
    own = ["objects/mine.o", "objects/work.part", f"objects/{'a' * 39}.o", "routines/my_work.py"]
    own += ["routines/a.tmp", "routines/march_1234.py"]
    for name in own:
        (cache / name).write_text("of the user")
    assert bl.code_cache.clear() == 7
    left = {str(p.relative_to(cache)) for p in cache.rglob("*") if p.is_file()}
    assert left == {"objects/ab/blob.o", "objects/notes.txt", *own}


def test_what_is_not_of_the_cache_makes_no_room_for_it(cache, monkeypatch):
    bl.code_cache.write_object("a" * 40, b"code")
    (cache / "objects" / "mine.o").write_bytes(bytes(1000))
    monkeypatch.setattr(code_cache, "CAPACITY", 0)
    code_cache._prune(cache / "objects")
    assert [file.name for file in (cache / "objects").iterdir()] == ["mine.o"]


@pytest.mark.parametrize("word", ["off", "0", "no", "false", "False", "none", "disabled", " off "])
def test_a_word_that_is_not_yes_keeps_nothing(word, monkeypatch):
    monkeypatch.setenv("BIELA_CACHE", word)
    assert not code_cache.enabled()


@pytest.mark.parametrize("word", ["", "on", "ON", "1", "yes", "true"])
def test_a_word_that_is_yes_keeps_code(word, monkeypatch):
    monkeypatch.setenv("BIELA_CACHE", word)
    assert code_cache.enabled()
