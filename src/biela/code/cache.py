"""Where generated code is kept between runs.

`$BIELA_CACHE_DIR` names the directory; without it, it is `biela` in the user's cache directory.
`BIELA_CACHE=off` keeps nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

#: Object files beyond this many bytes in all are dropped, the longest unused first.
CAPACITY: Final = 1 << 30
#: One stored object in so many makes room for others.
_PRUNED_ONE_IN: Final = 64
_stored = 0
_CHECK: Final = 16


def directory() -> Path:
    """The directory of all generated code."""
    if named := os.environ.get("BIELA_CACHE_DIR"):
        return Path(named)
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "biela"


def cache_directory(kind: str) -> Path:
    """The directory of one kind of generated code (`"objects"`, `"routines"`)."""
    return directory() / kind


def enabled() -> bool:
    """Whether code is kept on disk."""
    return os.environ.get("BIELA_CACHE", "on").lower() not in ("off", "0", "no")


def read_object(key: str) -> bytes | None:
    """The object code stored under a key; None if there is none or it cannot be read."""
    if not enabled():
        return None
    path = cache_directory("objects") / f"{key}.o"
    try:
        stored = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    data = stored[_CHECK:]
    return data if stored[:_CHECK] == _checksum(data) else None


def write_object(key: str, data: bytes) -> None:
    """Store object code; a directory that cannot be written is no reason to fail."""
    if not enabled():
        return
    folder = cache_directory("objects")
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        # written aside and renamed, so that no other process ever reads half a file
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(data) + data)
            os.replace(temporary, folder / f"{key}.o")
        except OSError:
            os.unlink(temporary)
            raise
        _prune_sometimes(folder)


def clear() -> int:
    """Remove all stored code; the number of files removed."""
    removed = 0
    for kind in ("objects", "routines"):
        for path in sorted(cache_directory(kind).rglob("*"), reverse=True):
            with contextlib.suppress(OSError):
                if path.is_dir():
                    path.rmdir()
                else:
                    path.unlink()
                    removed += 1
    return removed


def contents() -> tuple[int, int]:
    """How many files are stored and how many bytes they take."""
    sizes = [
        path.stat().st_size
        for kind in ("objects", "routines")
        for path in cache_directory(kind).rglob("*")
        if path.is_file()
    ]
    return len(sizes), sum(sizes)


def _checksum(data: bytes) -> bytes:
    """Guards against running half a file: damaged code would crash the process."""
    return hashlib.blake2b(data, digest_size=_CHECK).digest()


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
        stats = [(e.stat(), e.path) for e in entries if e.name.endswith(".o")]
    files = sorted((found.st_mtime, found.st_size, path) for found, path in stats)
    excess = sum(size for _, size, _ in files) - CAPACITY
    for _, size, path in files:
        if excess <= 0:
            return
        Path(path).unlink(missing_ok=True)
        excess -= size
