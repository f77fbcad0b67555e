"""Paths and texts as callers give them, and the files that are read.

Whatever takes the path of a file or a text, to read or to write it, asks here first: what is
neither is refused with an error of biela that shows what was given.
"""

from __future__ import annotations

import errno
import os
import reprlib
import stat
from pathlib import Path
from typing import Any

from biela.errors import BielaError

__all__ = ["bytes_of", "check_ordinary", "name_of", "path_of", "shown", "text_in", "text_of"]

#: Characters of a text that a message shows.
_SHOWN = 200


def name_of(given: Any, error: type[BielaError], what: str = "the path of a file") -> Path:
    """The path that was given, whatever is there.

    >>> name_of(3, BielaError)
    Traceback (most recent call last):
    ...
    biela.errors.BielaError: the path of a file is wanted, not 3

    Args:
        given: What should be a path: a text or a `Path`.
        error: The class of the error.
        what: What it should be the path of.

    Raises:
        BielaError: It is none.
    """
    try:
        path = Path(given)
        if given != "" and b"\0" not in os.fsencode(path):
            return path
    except (TypeError, UnicodeEncodeError):
        pass
    raise error(f"{what} is wanted, not {shown(given)}") from None


def path_of(given: Any, error: type[BielaError], what: str = "the path of a file") -> Path:
    """The path that was given, of which the system can say whether something is there.

    Raises:
        BielaError: It is none, or cannot be looked up: it is too long, behind a folder that is
            closed to the user, or in a ring of links.
    """
    path = name_of(given, error, what)
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # whoever opens or writes it has more to say
    except OSError as wrong:
        raise error(f"{shown(path)}: cannot be looked up: {wrong.strerror or wrong}") from None
    return path


def text_of(given: Any, error: type[BielaError], what: str) -> str:
    """The text that was given; ``what`` it is stands first in the message.

    >>> text_of("half \\ud83d of a letter", BielaError, "the name of a model")
    Traceback (most recent call last):
    ...
    biela.errors.BielaError: the name of a model is 'half \\ud83d of a letter', whose character 6 \
    is half of a letter (U+D83D): no file can hold it

    Raises:
        BielaError: It is no text, or one that cannot be written to a file.
    """
    if not isinstance(given, str):
        raise error(f"{what} is a text, not {shown(given)}")
    try:
        given.encode()
    except UnicodeEncodeError as wrong:
        raise error(
            f"{what} is {shown(given)}, whose character {wrong.start + 1} is half of a letter "
            f"(U+{ord(given[wrong.start]):04X}): no file can hold it"
        ) from None
    return given


def check_ordinary(path: Path) -> None:
    """Refuse a pipe or a device, which may never end.

    Raises:
        OSError: It is one, or nothing is there.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a device or the like, and no ordinary file")


def bytes_of(path: Path, error: type[BielaError]) -> bytes:
    """What a file holds.

    Raises:
        BielaError: It cannot be read.
    """
    try:
        check_ordinary(path)
        return path.read_bytes()
    except OSError as wrong:
        raise error(f"{path}: the file cannot be read: {wrong.strerror or wrong}") from None


def text_in(path: Path, error: type[BielaError]) -> str:
    r"""The text of a file in UTF-8, with lines that end in \n.

    Raises:
        BielaError: It cannot be read, or is in another encoding.
    """
    content = bytes_of(path, error)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        raise error(
            f"{path}:{line}: the file should be UTF-8, and the byte {content[wrong.start]:#04x} "
            "here is not: save it in this encoding"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def shown(given: Any) -> str:
    """What was given, in at most a line: as it is if it is a path, else as Python writes it."""
    if isinstance(given, Path) and str(given).isprintable() and len(str(given)) <= _SHOWN:
        return str(given)
    form = reprlib.Repr()
    form.maxstring = form.maxother = _SHOWN
    try:
        return " ".join(form.repr(str(given) if isinstance(given, Path) else given).split())
    except Exception:  # objects whose own words fail
        return f"an object of type {type(given).__name__}"
