"""Files that are whole: written aside, and given their name once all is there.

A process that is killed, a full disk or an error halfway leave the file of that name as it was, or
none.  What is written goes to a hidden file in the same folder, which is renamed at the end; file
systems do that at once or not at all.  It is synchronised before: some of them, and those of a
network, report a full disk no earlier, and a machine that loses power may otherwise keep the new
name without the contents.

The hidden file of a process that was killed stays behind.  The next file that is written to the
folder removes it: whoever still writes one holds a lock on it.

Files of a set get their names one after the other, as no file system does that for several at once.
The files that they replace are kept under hidden names until all have theirs; if one cannot get it,
the others are put back.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from biela.errors import BielaError
from biela.given_files import name_of, shown

if sys.platform != "win32":  # which does not remove a file that is open
    import fcntl

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

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

#: What the system says where no more can be written.
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
        _name(ready)
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
    with together():
        with _told(named, error):
            aside = _Aside(named, error)
        try:
            try:
                yield aside.file
            except OSError as wrong:
                if not aside.failed(wrong):
                    raise
                raise error(cannot_write(named, wrong)) from wrong
            except UnicodeEncodeError as wrong:
                if wrong.encoding != "utf-8":  # that of no file of ours
                    raise
                raise error(_half_of_a_letter(named, wrong)) from wrong
            with _told(named, error):
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
    """Say in words what the system says of a file; nothing of a caller may run inside."""
    try:
        yield
    except OSError as wrong:
        raise error(cannot_write(path, wrong)) from wrong


def _name(ready: list[_Aside]) -> None:
    """Give the files of a set their names; if one cannot get it, have all as they were.

    Raises:
        BielaError: One of them cannot be given its name; of the class that was given with it.
    """
    several = len(ready) > 1
    try:
        for aside in ready:
            with _told(aside.path, aside.error):
                aside.rename(keep=several)
    except BaseException as wrong:
        lost = [said for aside in reversed(ready) if several and (said := aside.put_back())]
        if lost and isinstance(wrong, BielaError):
            raise type(wrong)(f"{wrong}; {'; '.join(lost)}") from wrong
        for said in lost:
            wrong.add_note(said)
        raise
    for aside in ready:
        aside.forget()


def _half_of_a_letter(path: Path, wrong: UnicodeEncodeError) -> str:
    text, place = wrong.object, wrong.start
    return (
        f"{shown(path)}: cannot be written: a text in it has half of a letter, "
        f"U+{ord(text[place]):04X}: take it out of {shown(text[max(place - 20, 0) : place + 20])}"
    )


class _Written(FileIO):
    """A file that remembers what the system said when it could not be written."""

    refused: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as wrong:
            self.refused = wrong
            raise


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
        #: The file that was replaced, and whether there was any.
        self._kept: Path | None = None
        self._replaces = True
        self.file: BufferedWriter
        there = None
        with suppress(FileNotFoundError):
            there = path.stat()
        if there is not None and stat.S_ISDIR(there.st_mode):
            raise IsADirectoryError(errno.EISDIR, "", str(path))
        if _is_stream(path) or not (there is None or stat.S_ISREG(there.st_mode)):
            self._raw = _Written(path, "wb")
            self.file = BufferedWriter(self._raw)
            return
        if there is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "", str(path))
        _remove_left_over(self._target.parent)
        hidden = self._target.parent / f".biela-{secrets.token_hex(8)}.part"
        # nobody may read what replaces a file before it has the permissions of that
        mode = 0o666 if there is None else 0o600
        self._raw = _Written(hidden, "xb", opener=lambda name, flags: os.open(name, flags, mode))
        self.file = BufferedWriter(self._raw)
        self._hidden = hidden
        with suppress(OSError):  # file systems without locks, owners or permissions
            if sys.platform != "win32":
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if there is not None:
            _have_permissions(hidden, there)

    def failed(self, error: OSError) -> bool:
        """Whether an error is about this file, and not about another that was in use meanwhile."""
        if error.filename is None:
            # what is written by its number, as pictures are, is not seen here
            return error is self._raw.refused or error.errno in _FULL
        return str(error.filename) in (str(self.path), str(self._target), str(self._hidden))

    def finish(self) -> None:
        """Have all that was written on the disk, and close the file."""
        self.file.flush()
        if self._hidden is not None:
            os.fsync(self.file.fileno())
        self.file.close()

    def rename(self, keep: bool) -> None:
        """Give the file its name; the one that it replaces can be kept for `put_back`.

        Raises:
            OSError: It cannot be given, or the other file cannot be kept.
        """
        if self._hidden is not None:
            if keep:
                self._keep()
            os.replace(self._hidden, self._target)

    def put_back(self) -> str:
        """Have the file of that name as it was before; what to say if that cannot be."""
        if self._hidden is None or os.path.lexists(self._hidden):  # it has not got its name
            self.forget()
            return ""
        try:
            if self._kept is not None:
                os.replace(self._kept, self._target)
            elif not self._replaces:
                self._target.unlink()
        except OSError as wrong:
            said = f"{shown(self.path)} is new already and cannot be put back"
            said = f"{said} ({wrong.strerror or wrong})"
            return said if self._kept is None else f"{said}: what it held is in {self._kept}"
        self._kept = None
        return ""

    def forget(self) -> None:
        """Remove the file that was replaced."""
        if self._kept is not None:
            with suppress(OSError):
                self._kept.unlink()
            self._kept = None

    def remove(self) -> None:
        """Close the file, and remove it unless it has its name."""
        with suppress(OSError):
            self.file.close()
        if self._hidden is not None:
            with suppress(OSError):
                self._hidden.unlink()

    def _keep(self) -> None:
        """Give the file that is to be replaced a second name, which nobody removes but us."""
        self._replaces = os.path.lexists(self._target)
        if not self._replaces:
            return
        kept = self._target.parent / f".biela-{secrets.token_hex(8)}.old"
        try:
            os.link(self._target, kept)
        except OSError:  # not every file system gives a file two names
            there = self._target.stat()
            with open(self._target, "rb") as old, open(kept, "xb", opener=_for_us) as copy:
                self._kept = kept
                shutil.copyfileobj(old, copy)
                copy.flush()
                os.fsync(copy.fileno())
            os.utime(kept, ns=(there.st_atime_ns, there.st_mtime_ns))
            _have_permissions(kept, there)
        self._kept = kept


def _for_us(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _have_permissions(path: Path, there: os.stat_result) -> None:
    """Give a file the owner, the group and the permissions of another, as far as one may."""
    mode = stat.S_IMODE(there.st_mode)
    if sys.platform != "win32":
        for owner, group in ((there.st_uid, -1), (-1, there.st_gid)):
            with suppress(OSError):
                os.chown(path, owner, group)
        if os.stat(path).st_gid != there.st_gid:
            mode &= ~stat.S_IRWXG  # they were for another group
    with suppress(OSError):
        os.chmod(path, mode)


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
