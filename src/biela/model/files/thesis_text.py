"""The four text files of Peinado's thesis, as numbers with their places.

    general     nb 4 / T 1 / t 100: links with the ground, interval in s, number of intervals
    joints      a row of 22 numbers for each joint
    drivers     a row of 15, 21 or 22 numbers for each driver, and its law after a bar |
    initial     qo, then 7 numbers for each link: x y z e0 e1 e2 e3

Blanks and tabs part the numbers; # and % begin comments; the files are UTF-8 or Latin-1.  (A.
Peinado, *Análisis cinemático inverso de mecanismos 3D*, PUCP 2016, §3.1; the layout of the first
file is lost, and the law after the bar is ours: there it was a MATLAB routine.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from biela.budgets import LARGEST
from biela.errors import FileError
from biela.given_files import bytes_of, path_of
from biela.spelling import nearest

#: What the columns of a row hold, for messages.
COLUMNS = (
    "type code",
    "link i",
    "link j",
    *(f"{axis} of {point}" for point in ("Pi", "Qi", "Ri", "Pj", "Qj", "Rj") for axis in "xyz"),
    "value",
)
_WORD = re.compile(r"[^\s]+")
_ANSWERS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_RATES = ("x", "y", "z", "e0", "e1", "e2", "e3")


@dataclass(frozen=True)
class Word:
    """A word and where it stands, counted from one."""

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A text file; it makes messages with the place in it."""

    name: str
    text: str

    @classmethod
    def read(cls, path: str | Path) -> Source:
        """From a file in UTF-8, or else Latin-1.

        Raises:
            FileError: It cannot be read.
        """
        raw = bytes_of(path_of(path, FileError), FileError)
        try:
            return cls(str(path), raw.decode("utf-8-sig"))
        except UnicodeDecodeError:
            return cls(str(path), raw.decode("latin-1"))

    def fault(self, place: Word | int, message: str) -> FileError:
        """An error at a word, or on a line."""
        where = f"{place}" if isinstance(place, int) else f"{place.line}:{place.column}"
        return FileError(f"{self.name}:{where}: {message}")

    def rows(self) -> list[tuple[list[Word], str]]:
        """The words of each line that has any, and the text after a bar."""
        found = []
        for number, line in enumerate(self.text.splitlines(), start=1):
            before, _, law = re.split(r"[#%]", line, maxsplit=1)[0].partition("|")
            words = [Word(m.group(), number, m.start() + 1) for m in _WORD.finditer(before)]
            if words or law.strip():
                found.append((words, law.strip()))
        return found

    def number(self, word: Word) -> float:
        """A word as a finite number.

        Raises:
            FileError: It is none.
        """
        try:
            value = float(word.text)
        except ValueError:
            hint = "; the decimal sign is a point" if re.fullmatch(r"[-+\d,]+", word.text) else ""
            raise self.fault(word, f"{word.text!r} is not a number{hint}") from None
        if not abs(value) <= LARGEST:
            raise self.fault(word, f"{word.text!r} is not a finite number")
        return value

    def whole(self, word: Word, what: str) -> int:
        """A word as a whole number.

        Raises:
            FileError: It is none.
        """
        value = self.number(word)
        if value != int(value):
            raise self.fault(word, f"{what} is a whole number, not {word.text}")
        return int(value)


@dataclass(frozen=True)
class General:
    """The general file."""

    links: int
    duration: float
    intervals: int
    settings: dict[str, object] = field(default_factory=dict)


def read_general(source: Source) -> General:
    """Keys and values in any order, or three plain numbers: links, interval, intervals.

    Raises:
        FileError: Something is missing, unknown or out of range.
    """
    words = [
        Word(text, word.line, word.column)
        for row, _ in source.rows()
        for word in row
        for text in re.split(r"=", word.text)
        if text
    ]
    given: dict[str, Word] = {}
    known = ("nb", "T", "t", "tol", "max_iter", "solver", "endpoint")
    if words and not any(c.isalpha() for c in words[0].text):
        if len(words) != 3:
            raise source.fault(
                words[min(3, len(words) - 1)],
                f"{len(words)} plain numbers; there are 3: nb, T and t",
            )
        given = dict(zip(known, words, strict=False))
    else:
        for k in range(0, len(words), 2):
            key = words[k]
            if key.text not in known:
                raise source.fault(key, f"unknown key {key.text!r}{nearest(key.text, known)}")
            if k + 1 == len(words):
                raise source.fault(key, f"{key.text} has no value")
            if key.text in given:
                raise source.fault(key, f"{key.text} is given twice")
            given[key.text] = words[k + 1]
    for name, what in (("nb", "number of links"), ("T", "interval"), ("t", "number of intervals")):
        if name not in given:
            raise source.fault(1, f"{name}, the {what}, is missing")
    links = source.whole(given["nb"], "the number of links")
    duration = source.number(given["T"])
    intervals = source.whole(given["t"], "the number of intervals")
    if links < 2:
        raise source.fault(given["nb"], f"a mechanism has two links or more, not {links}")
    if duration <= 0 or intervals < 1:
        word = given["T"] if duration <= 0 else given["t"]
        raise source.fault(word, f"{word.text} must be above zero")
    return General(links, duration, intervals, _settings(source, given))


def _settings(source: Source, given: dict[str, Word]) -> dict[str, object]:
    """The further keys, as a run knows them."""
    found: dict[str, object] = {}
    if "tol" in given:
        found["tolerance"] = source.number(given["tol"])
    if "max_iter" in given:
        found["max_iterations"] = source.whole(given["max_iter"], "max_iter")
    if "solver" in given:
        found["method"] = given["solver"].text
    answer = given["endpoint"].text.lower() if "endpoint" in given else "no"
    if answer not in _ANSWERS:
        raise source.fault(given["endpoint"], f"endpoint is yes or no, not {answer!r}")
    found["end_point"] = _ANSWERS[answer]
    return found


@dataclass(frozen=True)
class Row:
    """A joint or driver: its code, links, six points and value."""

    source: Source
    words: tuple[Word, ...]
    code: int
    i: int
    j: int
    points: dict[str, tuple[float, float, float]]
    value: float
    law: str = ""

    def fault(self, message: str, column: int = 1) -> FileError:
        """An error at a column of the table, counted from one."""
        return self.source.fault(self.words[min(column, len(self.words)) - 1], message)


def read_joints(source: Source, links: int) -> list[Row]:
    """The rows of joints: 22 numbers each.

    Raises:
        FileError: A row is too short or too long (the message names the column), or no row.
    """
    rows, faults = [], []
    for words, law in source.rows():
        try:
            if law:
                raise source.fault(words[0] if words else 1, "a joint has no law; drivers have")
            if len(words) != 22:
                raise _wrong_length(source, words, "joint", "22")
            rows.append(_row(source, words, "Pi Qi Ri Pj Qj Rj", links, ""))
        except FileError as error:
            faults.append(str(error))
    if faults:
        raise FileError("\n".join(faults))
    return rows


def read_drivers(source: Source, links: int) -> list[Row]:
    """The rows of drivers: 21 or 22 numbers, or 15 with two points a link.

    Raises:
        FileError: A row has another number of columns, or no row.
    """
    rows, faults = [], []
    for words, law in source.rows():
        try:
            if len(words) not in (15, 21, 22):
                raise _wrong_length(source, words, "driver", "15, 21 or 22")
            names = "Pi Qi Pj Qj" if len(words) == 15 else "Pi Qi Ri Pj Qj Rj"
            rows.append(_row(source, words, names, links, law))
        except FileError as error:
            faults.append(str(error))
    if faults:
        raise FileError("\n".join(faults))
    return rows


def _wrong_length(source: Source, words: list[Word], what: str, wanted: str) -> FileError:
    if not words:
        return source.fault(1, f"a law without a {what} before it")
    said = f"a {what} has {wanted} numbers, and there are {len(words)}"
    if len(words) > 22:
        return source.fault(words[22], f"{said}: column 23 is one too many")
    missing = len(words) + 1
    return source.fault(
        words[-1],
        f"{said}: column {missing} ({COLUMNS[missing - 1]}) is missing, or a number before it",
    )


def _row(source: Source, words: list[Word], names: str, links: int, law: str) -> Row:
    numbers = [source.number(word) for word in words]
    code = source.whole(words[0], "a type code")
    i, j = (source.whole(word, "a link") for word in words[1:3])
    for link, word in ((i, words[1]), (j, words[2])):
        if not 1 <= link <= links:
            raise source.fault(word, f"there is no link {link}; they are 1 to {links}")
    if i == j:
        raise source.fault(words[2], f"link {i} is joined with itself")
    points = dict.fromkeys(("Pi", "Qi", "Ri", "Pj", "Qj", "Rj"), (0.0, 0.0, 0.0))
    for k, name in enumerate(names.split()):
        x, y, z = numbers[3 + 3 * k : 6 + 3 * k]
        points[name] = (x, y, z)
    value = numbers[21] if len(numbers) == 22 else 0.0
    return Row(source, tuple(words), code, i, j, points, value, law)


def read_initial(source: Source, links: int) -> list[tuple[float, ...]]:
    """The seven coordinates of each link.

    Raises:
        FileError: The keyword is missing, or the count is wrong: the message says of which link.
    """
    text = re.sub(r"[=\[\];]", " ", source.text)
    words = [word for row, _ in Source(source.name, text).rows() for word in row]
    if not words or words[0].text.lower() != "qo":
        raise source.fault(words[0] if words else 1, "the keyword qo is missing before the numbers")
    numbers = [source.number(word) for word in words[1:]]
    wanted = 7 * links
    if len(numbers) < wanted:
        link, at = divmod(len(numbers), 7)
        raise source.fault(
            words[-1],
            f"qo has {len(numbers)} numbers, and {links} links have {wanted} (7 each): "
            f"{_RATES[at]} of link {link + 1} is missing, or a number before it",
        )
    if len(numbers) > wanted:
        raise source.fault(
            words[1 + wanted], f"qo has {len(numbers)} numbers, and {links} links have {wanted}"
        )
    states = [tuple(numbers[7 * k : 7 * k + 7]) for k in range(links)]
    for k, state in enumerate(states):
        if not any(state[3:]):
            raise source.fault(
                words[1 + 7 * k + 3],
                f"the Euler parameters of link {k + 1} are all zero; 1 0 0 0 is no turn",
            )
    return states
