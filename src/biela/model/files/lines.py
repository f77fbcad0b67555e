"""On which line of a TOML text a key stands.

The reader of the standard library gives values without places, and a message about a model is
worth little without its line.  This scanner walks a text that is known to be valid TOML 1.0 and
notes the line of every table, key and element of an array, by its path: keys are texts, elements
of arrays are numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from biela.budgets import LEVELS

KeyPath: TypeAlias = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: The four kinds of strings, the long ones first; a long one may end in up to five quotes.
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}#\n]+")


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, counted from one, of each key path of a valid TOML text.

    >>> key_lines('[bodies.crank]\\nmass = 1\\ncom = [0,\\n  0, 1]')[("bodies", "crank", "com", 1)]
    4
    """
    return _Scanner(text).lines


def line_of(lines: Mapping[KeyPath, int], path: Sequence[str | int]) -> int:
    """The line of a path, or of the nearest table around it that is in the text."""
    for length in range(len(path), 0, -1):
        found = lines.get(tuple(path[:length]))
        if found is not None:
            return found
    return 1


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[KeyPath, int] = {}
        self._line, self._counted = 1, 0
        #: How many tables each array of tables has so far.
        self._tables: dict[KeyPath, int] = {}
        table: KeyPath = ()
        while self._over_gap():
            if text.startswith("[[", self.at):
                table = self._header(2)
            elif text[self.at] == "[":
                table = self._header(1)
            else:
                self._statement(table)

    def _line_here(self) -> int:
        # places only grow, so that newlines are counted once
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        found = match.group() if match else ""
        self.at += len(found)
        return found

    def _over_gap(self) -> bool:
        self._skip(_GAP)
        return self.at < len(self.text)

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip(_SPACE)
            bare = self._skip(_BARE)
            parts.append(bare or tomllib.loads("key=" + self._skip(_STRING))["key"])
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def _note(self, path: KeyPath, line: int, known: int = 0) -> None:
        """Note a path and those above it, of which so many keys are noted already."""
        # deeper ones, which no model has, would take the square of their depth
        for length in range(known + 1, min(len(path), LEVELS) + 1):
            self.lines.setdefault(path[:length], line)

    def _header(self, brackets: int) -> KeyPath:
        line = self._line_here()
        self.at += brackets
        path: KeyPath = ()
        parts = self._key()
        for k, part in enumerate(parts):
            path = (*path, part)
            if brackets == 2 and k == len(parts) - 1:
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:  # the last table of an array is the one that goes on
                path = (*path, self._tables[path] - 1)
        self.at += brackets
        self._note(path, line)
        # an array or table that was only implied until now gets the line of its own header
        self.lines[path] = line
        return path

    def _statement(self, table: KeyPath) -> None:
        line = self._line_here()
        path = (*table, *self._key())
        self._note(path, line, len(table))
        self.at += 1  # the sign =
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        opening = self.text[self.at]
        if opening in "\"'":
            self._skip(_STRING)
        elif opening == "[":
            self._elements(path)
        elif opening == "{":
            self._inline(path)
        else:
            self._skip(_SCALAR)

    def _elements(self, path: KeyPath) -> None:
        self.at += 1
        number = 0
        while self._over_gap() and self.text[self.at] != "]":
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self._note((*path, number), self._line_here(), len(path))
            self._value((*path, number))
            number += 1
        self.at += 1

    def _inline(self, path: KeyPath) -> None:
        self.at += 1
        while self._over_gap() and self.text[self.at] != "}":
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self._statement(path)
        self.at += 1
