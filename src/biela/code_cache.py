"""Where generated code is kept between runs.

`$BIELA_CACHE_DIR` names the directory; without it, it is `biela` in the user's cache directory.
`BIELA_CACHE=off` neither reads nor writes anything.

What is stored here is executed, so the directory has to be the user's alone. It is not used, and a
warning says why, where another user owns it or may write into it, or may replace a folder above it.
Only root may do that too. Systems without user numbers (Windows) are not checked: there the cache
lies in the profile of the user, which is closed to others.

A file that is damaged, or cannot be read, is dropped and made again. Nothing that happens here ends
a run.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final

from biela.errors import BielaError

__all__ = [
    "clear",
    "contents",
    "directory",
    "enabled",
    "read_object",
    "usable",
    "write_object",
]

#: Stored code beyond this many bytes in all is dropped, the longest unused first.
CAPACITY: Final = 1 << 30
#: One stored object in so many makes room for others.
_PRUNED_ONE_IN: Final = 64
_stored = 0
_CHECK: Final = 16
#: Folders in the cache; former versions left Python modules and what numba made of them in the
#: second, which is never read.
_OBJECTS, _FORMER = "objects", "routines"
#: The names of what is stored: hashes, after the name of a function if numba compiled it; and of
#: files that are not finished, as the system names them in one place or the other.
_KEY: Final = r"(?:\w+-)?[0-9a-f]{40}"
_ASIDE: Final = r"tmp[a-z0-9_]{8}"
_MODULE: Final = r"\w+_[0-9a-f]{16}"
_OWN: Final = {
    _OBJECTS: re.compile(rf"{_KEY}\.o|{_ASIDE}\.part"),
    _FORMER: re.compile(
        rf"{_MODULE}\.py|{_MODULE}\.cpython-\d+\.pyc|{_ASIDE}\.tmp"
        rf"|{_MODULE}\.\w+-\d+\.py\d+t?(?:\.\d+\.nbc|\.nbi)"
    ),
}
_LINKS: Final = 40
#: Whether files have owners that can be asked for.
_OWNED: Final = hasattr(os, "geteuid")
#: Folders that were found to be safe; as nobody else can change that, it is found once.
_safe: dict[Path, tuple[int, ...]] = {}


def directory() -> Path:
    """The directory of all generated code.

    Raises:
        BielaError: Neither it nor the home directory of the user is known.
    """
    if named := os.environ.get("BIELA_CACHE_DIR"):
        return Path(named)
    try:
        if sys.platform == "win32":
            root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            root = Path.home() / "Library" / "Caches"
        else:
            root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError as error:
        raise BielaError(f"no place for the code cache: {error}; set BIELA_CACHE_DIR") from None
    return root / "biela"


def enabled() -> bool:
    """Whether code is kept on disk."""
    return os.environ.get("BIELA_CACHE", "on").strip().lower() in (
        "",
        "on",
        "1",
        "yes",
        "true",
        "y",
    )


def usable() -> bool:
    """Whether the directory is there, or can be made, and is the user's alone."""
    return _folder(make=True) is not None


def read_object(key: str) -> bytes | None:
    """The code stored under a key; None if there is none, or none that can be trusted."""
    folder = _folder() if enabled() else None
    if folder is None:
        return None
    path = folder / f"{key}.o"
    try:
        with open(path, "rb", buffering=0, opener=_open_itself) as file:
            found = os.fstat(file.fileno())
            fit = stat.S_ISREG(found.st_mode) and found.st_size < CAPACITY
            fit = fit and not (_OWNED and _fault(found))
            check, data = (file.read(_CHECK), file.read()) if fit else (b"", b"")
    except FileNotFoundError:
        return None
    except OSError:  # a link, a directory, a file that may not be read
        check, data = b"", b""
    if check != _checksum(key, data):
        _drop(path)
        return None
    with contextlib.suppress(OSError):  # a disk that is read only
        os.utime(path)
    return data


def write_object(key: str, data: bytes) -> None:
    """Store code; a directory that cannot be written is no reason to fail."""
    folder = _folder(make=True) if enabled() else None
    if folder is None:
        return
    with contextlib.suppress(OSError):
        # written aside and renamed, so that no other process ever reads half a file
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(key, data) + data)
            os.replace(temporary, folder / f"{key}.o")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _prune_sometimes(folder)


def clear() -> int:
    """Remove all stored code; the number of files removed."""
    removed = 0
    for kind, own in _OWN.items():
        folder = _folder(kind)
        for place in (folder / "__pycache__", folder) if folder else ():
            with contextlib.suppress(OSError):
                for name in os.listdir(place):
                    if own.fullmatch(name):
                        os.unlink(place / name)
                        removed += 1
                os.rmdir(place)  # unless something else is in it
    return removed


def contents() -> tuple[int, int]:
    """How many files are stored and how many bytes they take."""
    sizes = list(_sizes())
    return len(sizes), sum(sizes)


def _sizes() -> Iterator[int]:
    for kind in (_OBJECTS, _FORMER):
        if folder := _folder(kind):
            for place, _, names in os.walk(folder):
                for name in names:
                    with contextlib.suppress(FileNotFoundError):  # another process tidied up
                        yield os.lstat(os.path.join(place, name)).st_size


def _checksum(key: str, data: bytes) -> bytes:
    """Guards against running half a file, or another one: the process would crash."""
    found = hashlib.blake2b(f"{key}\0".encode(), digest_size=_CHECK)
    found.update(data)
    return found.digest()


def _open_itself(path: str, flags: int) -> int:
    """Open what the path names, not what a link there points to; do not wait at a pipe."""
    # Windows has neither flag
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _drop(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        shutil.rmtree(path, ignore_errors=True)  # a directory in the place of a file


# --- whose directory it is ------------------------------------------------------------------------


def _folder(kind: str = _OBJECTS, make: bool = False) -> Path | None:
    """A folder of the cache; None if it is not there, cannot be made or is not safe to use."""
    try:
        folder = directory() / kind
        if not _OWNED:
            if make:
                _make(folder)
            return folder
        try:
            if folder in _safe and _safe[folder] == _identity(os.lstat(folder)):
                return folder
            # of a folder that is not there, those above it are looked at before it is made: root in
            # the home of a user (sudo) would leave one that the user could not use
            unsafe = _unsafe(folder)
        except FileNotFoundError:
            if not make:
                return None
            _make(folder)
            unsafe = _unsafe(folder)
    except (OSError, BielaError):
        return None
    if unsafe is None:
        return folder
    _tell(str(folder.parent), unsafe)
    return None


def _make(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _unsafe(folder: Path) -> str | None:
    """How others could put code into a folder of the cache; None if only the user can, and root.

    The way to it is walked from the root of the file system, link by link. Nobody else can change a
    step that was found to be safe, so that all of it still holds when a file is opened later.

    Raises:
        OSError: The folder is not there, or cannot be looked at.
    """
    place, found, links = "/", os.lstat("/"), 0
    ahead = list(reversed(folder.parent.absolute().parts))
    while ahead:
        if fault := _fault(found, above=True):
            return f"{place} {fault}"
        entry = os.path.normpath(os.path.join(place, ahead.pop()))
        found = os.lstat(entry)
        if not stat.S_ISLNK(found.st_mode):
            place = entry
            continue
        if found.st_uid not in (0, os.geteuid()):
            return f"the link {entry} belongs to another user"
        links += 1
        if links > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), entry)
        ahead += reversed(PurePath(os.readlink(entry)).parts)
        found = os.lstat(place)
    for step in (place, os.path.join(place, folder.name)):
        found = os.lstat(step)
        if stat.S_ISLNK(found.st_mode):
            return f"{step} is a link"
        if fault := _fault(found):
            return f"{step} {fault}"
    _safe[folder] = _identity(found)
    return None


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_uid, found.st_mode


def _fault(found: os.stat_result, above: bool = False) -> str | None:
    """Why a file or folder is not the user's alone; None if it is.

    What lies above the cache may be root's; and, with the sticky bit, others may add to it, as they
    cannot replace what is there.
    """
    if found.st_uid != os.geteuid() and not (above and found.st_uid == 0):
        return "belongs to another user"
    open_to_others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if open_to_others and not (above and found.st_mode & stat.S_ISVTX):
        return "can be written by other users"
    return None


def _advice() -> str:
    if os.geteuid() == 0 and "SUDO_USER" in os.environ:
        return "Run biela as yourself, use sudo -H, "
    return "Make it yours alone (chown, chmod go-w), "


@functools.cache
def _tell(place: str, unsafe: str) -> None:
    """Warn, once a process."""
    warnings.warn(
        f"the code cache {place} is not used: {unsafe}, and code from there would be executed. "
        f"{_advice()}let BIELA_CACHE_DIR name a directory of your own, or set BIELA_CACHE=off.",
        stacklevel=2,
    )


# --- its size -------------------------------------------------------------------------------------


def _prune_sometimes(folder: Path) -> None:
    """Keep a folder within its capacity.

    Looking at all files takes 0.4 s where there are fifteen thousand: it is done for one object in
    so many, told by the process and how many it has stored.
    """
    global _stored
    _stored += 1
    if (os.getpid() + _stored) % _PRUNED_ONE_IN == 0:
        _prune(folder)


def _prune(folder: Path) -> None:
    with os.scandir(folder) as entries:
        # unfinished files of processes that were killed go in their turn
        stats = [
            (e.stat(), e.path)
            for e in entries
            if _OWN[_OBJECTS].fullmatch(e.name) and e.is_file(follow_symlinks=False)
        ]
    files = sorted((found.st_mtime, found.st_size, path) for found, path in stats)
    excess = sum(size for _, size, _ in files) - CAPACITY
    for _, size, path in files:
        if excess <= 0:
            return
        Path(path).unlink(missing_ok=True)
        excess -= size
