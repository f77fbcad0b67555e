"""Files that are whole: written aside, and given their name once all is there.

A process that is killed, a full disk or an error halfway leave the file of that name as it was, or
none.  What is written goes to a hidden file in the same folder, which is renamed at the end; file
systems do that at once or not at all.  It is synchronised before: some of them, and those of a
network, report a full disk no earlier, and a machine that loses power may otherwise keep the new
name without the contents.

The hidden file of a process that was killed stays behind.  The next file that is written to the
folder removes it: whoever still writes one holds a lock on it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import BufferedWriter
from pathlib import Path
from typing import Final

from biela.errors import BielaError
from biela.given_files import name_of, shown

if sys.platform != "win32":  # which does not remove a file that is open
    import fcntl

__all__ = ["cannot_write", "make_folder", "together", "whole_file", "write_file", "write_files"]

_HIDDEN: Final = re.compile(r"\.biela-[0-9a-f]{16}\.part")
#: A hidden file without a lock is left over after so many seconds: it is locked while it is
#: written, and may then wait for others of its set.
_LEFT_OVER: Final = 3600.0
#: The files of a set that wait for their names.
_ready: ContextVar[list[_Aside] | None] = ContextVar("ready", default=None)
#: What is wrong and what to do, by the number of an error of the system.
_ADVICE: Final = {
    errno.ENOSPC: "no space is left on that disk: free some, or write to another",
    errno.EDQUOT: "your share of that disk is used up: free some, or write to another",
    errno.EFBIG: "the file is larger than that disk or your limits allow: write less of it",
    errno.EACCES: "you may not write there: choose another place, or change the permissions",
    errno.EPERM: "you may not write there: choose another place, or change the permissions",
    errno.EROFS: "that disk is read-only: choose another",
    errno.EISDIR: "it is a folder: give the name of a file",
    errno.ENOTDIR: "a part of the path is a file and no folder: choose another path",
    errno.EEXIST: "a file is in the way of the folder: choose another path",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
    errno.ELOOP: "symbolic links lead in a ring: choose another path",
}


def cannot_write(path: str | Path, error: OSError) -> str:
    """The message about a file or folder that cannot be written: what is wrong and what to do.

    >>> cannot_write("run.csv", OSError(errno.EROFS, "Read-only file system"))
    'run.csv: cannot be written: that disk is read-only: choose another'
    """
    said = _ADVICE.get(error.errno or 0) or error.strerror or str(error)
    folder = Path(error.filename if isinstance(error.filename, str) else path).parent
    if error.errno == errno.ENOENT and not folder.exists():
        said = f"there is no folder {folder}: make it, or choose another"
    return f"{shown(Path(path))}: cannot be written: {said}"


@contextmanager
def together() -> Iterator[None]:
    """Have the files that are written inside get their names at the end, or none if that fails.

    Raises:
        BielaError: One of them cannot be given its name; of the class that was given with it.
    """
    if _ready.get() is not None:  # a part of a larger set
        yield
        return
    ready: list[_Aside] = []
    token = _ready.set(ready)
    try:
        yield
        for aside in ready:
            with _told(aside.path, aside.error):
                aside.rename()
    finally:
        _ready.reset(token)
        for aside in ready:
            aside.remove()


@contextmanager
def whole_file(path: str | Path, error: type[BielaError]) -> Iterator[BufferedWriter]:
    """Give a file to write to, which gets its name, or replaces the one of that name, at the end.

    Its ``name`` is where it is until then, for programs that write by themselves.  A symbolic link
    stays, and what it points to is replaced; permissions stay, too.  What is no ordinary file,
    such as ``/dev/stdout`` or a pipe, is written to as it is.

    Raises:
        BielaError: The file cannot be written; of the class that is given.
    """
    named = name_of(path, error)
    with together(), _told(named, error):
        aside = _Aside(named, error)
        try:
            yield aside.file
            aside.finish()
        except BaseException:
            aside.remove()
            raise
        ready = _ready.get()
        assert ready is not None, "together is around it"
        ready.append(aside)


def write_file(path: str | Path, content: str | bytes, error: type[BielaError]) -> Path:
    """Write a whole file, text as UTF-8; returns its path.

    Raises:
        BielaError: The file cannot be written; of the class that is given.
    """
    with whole_file(path, error) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return Path(path)


def write_files(contents: Mapping[Path, str | bytes], error: type[BielaError]) -> None:
    """Write files that belong together: none gets its name before all of them are written.

    Raises:
        BielaError: One of them cannot be written; of the class that is given.
    """
    with together():
        for path, content in contents.items():
            write_file(path, content, error)


def make_folder(path: str | Path, error: type[BielaError]) -> Path:
    """Make a folder and those above it where they are not there; returns it.

    Raises:
        BielaError: It cannot be made; of the class that is given.
    """
    folder = name_of(path, error, "the path of a folder")
    with _told(folder, error):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _told(path: str | Path, error: type[BielaError]) -> Iterator[None]:
    try:
        yield
    except OSError as wrong:
        raise error(cannot_write(path, wrong)) from wrong
    except UnicodeEncodeError as wrong:
        half = f"U+{ord(wrong.object[wrong.start]):04X}"
        raise error(
            f"{shown(path)}: cannot be written: a text in it has half of a letter, {half}: "
            f"take it out of {shown(wrong.object[max(wrong.start - 20, 0) : wrong.start + 20])}"
        ) from wrong


class _Aside:
    """A file under a hidden name beside its own; or the file itself, if it is no ordinary one.

    Attributes:
        file: What is written to.
        path: What the file is called in the end.
        error: The class of the error if it cannot be.
    """

    def __init__(self, path: Path, error: type[BielaError]) -> None:
        """Make the hidden file.

        Raises:
            OSError: It cannot be made, or the file of that name must not be replaced.
        """
        self.path, self.error = path, error
        self._target = Path(os.path.realpath(path))
        self._hidden: Path | None = None
        there = None
        with suppress(FileNotFoundError):
            there = path.stat()
        if there is not None and stat.S_ISDIR(there.st_mode):
            raise IsADirectoryError(errno.EISDIR, "", str(path))
        if _is_stream(path) or not (there is None or stat.S_ISREG(there.st_mode)):
            self.file = open(path, "wb")  # noqa: SIM115
            return
        if there is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "", str(path))
        _remove_left_over(self._target.parent)
        hidden = self._target.parent / f".biela-{secrets.token_hex(8)}.part"
        # nobody may read what replaces a file before it has the permissions of that
        mode = 0o666 if there is None else 0o600
        self.file = open(hidden, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
        self._hidden = hidden
        with suppress(OSError):  # file systems without locks, owners or permissions
            if sys.platform != "win32":
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if there is not None:
            kept = stat.S_IMODE(there.st_mode)
            if sys.platform != "win32":
                for owner, group in ((there.st_uid, -1), (-1, there.st_gid)):
                    with suppress(OSError):
                        os.chown(hidden, owner, group)
                if os.stat(hidden).st_gid != there.st_gid:
                    kept &= ~stat.S_IRWXG  # they were for another group
            with suppress(OSError):
                os.chmod(hidden, kept)

    def finish(self) -> None:
        """Have all that was written on the disk, and close the file."""
        self.file.flush()
        if self._hidden is not None:
            os.fsync(self.file.fileno())
        self.file.close()

    def rename(self) -> None:
        """Give the file its name."""
        if self._hidden is not None:
            os.replace(self._hidden, self._target)
            self._hidden = None

    def remove(self) -> None:
        """Close the file, and remove it unless it has its name."""
        with suppress(OSError):
            self.file.close()
        if self._hidden is not None:
            with suppress(OSError):
                self._hidden.unlink()


def _is_stream(path: Path) -> bool:
    """Whether a path leads to what a process has open already, such as its standard output.

    That may be an ordinary file by now, and would go on with the old one if it were replaced.
    """
    for _ in range(40):  # a ring of links is told of by whoever opens it
        folder = os.path.realpath(path.parent)
        if folder in ("/dev", "/dev/fd") or folder.startswith("/proc/"):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def _remove_left_over(folder: Path) -> None:
    """Remove the hidden files of processes that were killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _HIDDEN.fullmatch(entry.name):
                with suppress(OSError):
                    old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_OVER
                    if old and entry.is_file(follow_symlinks=False) and not _locked(entry.path):
                        os.unlink(entry.path)


def _locked(path: str) -> bool:
    """Whether a process holds the lock of a file.

    Raises:
        OSError: That cannot be found out.
    """
    if sys.platform == "win32":
        return False
    with open(path, "r+b") as file:  # some systems lock only what may be written
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
