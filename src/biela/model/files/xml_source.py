"""XML as a tree that knows its lines, and the remarks about it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from biela.budgets import LARGEST
from biela.errors import BielaError, FileError
from biela.given_files import path_of, text_in, text_of
from biela.model.xml_parsing import parse_xml
from biela.spelling import nearest

Floats = npt.NDArray[np.float64]


#: Letters of an attribute in a message.
_LONG = 80


class FileWarning(UserWarning):
    """Something in a robot file that the model does not have: ``file:line: what``."""


@dataclass
class Xml:
    """An element: its tag, attributes and children, and the line of the file on which it starts.

    The tag of an element of a name space has its address in braces: ``{http://…}macro``.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Xml] = field(default_factory=list)

    def all(self, tag: str) -> list[Xml]:
        """Its children of a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Xml | None:
        """Its first child of a tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Xml]:
        """Itself and everything inside, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


@dataclass
class XmlSource:
    """A file, or a text, that is being read: its mistakes and remarks are collected here."""

    name: str
    text: str
    folder: Path | None = None
    faults: list[tuple[int, str]] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, path_or_text: str | Path) -> XmlSource:
        """A file by its path, or a text, which is known by its angle brackets.

        Raises:
            FileError: It is neither, or the file cannot be read.
        """
        if isinstance(path_or_text, str) and "<" in path_or_text:
            return cls("<text>", text_of(path_or_text, FileError, "the XML"))
        path = path_of(path_or_text, FileError, "the path of a file, or a text of XML,")
        return cls(str(path), text_in(path, FileError), path.parent)

    # -------------------------------------------------------------------- remarks

    def fault(self, at: Xml | int, message: str) -> None:
        """Note a mistake."""
        self.faults.append((at if isinstance(at, int) else at.line, message))

    def note(self, at: Xml | int, message: str) -> None:
        """Note what the model will not have."""
        self.notes.append((at if isinstance(at, int) else at.line, message))

    def check(self) -> None:
        """Stop if there were mistakes.

        Raises:
            FileError: With all of them, in order of lines.
        """
        if self.faults:
            raise FileError("\n".join(self._listed(self.faults)))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Gives errors of what is built here, which knows no file, the name of this one.

        Raises:
            FileError: There was one.
        """
        try:
            yield
        except FileError:
            raise
        except BielaError as error:
            raise FileError(f"{self.name}: {error}") from None

    def report(self, notes: list[str] | None) -> None:
        """Hand the remarks over: into a list, or as a `FileWarning` each."""
        for text in self._listed(self.notes):
            if notes is None:
                warnings.warn(text, FileWarning, stacklevel=3)
            else:
                notes.append(text)

    def _listed(self, entries: Sequence[tuple[int, str]]) -> list[str]:
        ordered = sorted(entries, key=lambda entry: entry[0])
        return list(dict.fromkeys(f"{self.name}:{line}: {text}" for line, text in ordered))

    # ----------------------------------------------------------------------- tree

    def tree(self) -> Xml:
        """The outermost element.

        Raises:
            FileError: It is no XML, or has a document type.
        """
        roots: list[Xml] = []
        open_: list[Xml] = []

        def start(tag: str, attributes: dict[str, str], line: int) -> None:
            element = Xml(tag, attributes, line)
            (open_[-1].children if open_ else roots).append(element)
            open_.append(element)

        def end(_: str) -> None:
            open_.pop()

        # a declaration of another encoding is of the bytes, and these are read already
        content = self.text.encode("utf-8", "surrogatepass")
        parse_xml(self.name, content, start, end, encoding="utf-8")
        return roots[0]

    # ----------------------------------------------------------------- attributes

    def required(self, element: Xml, attribute: str) -> str:
        """The text of an attribute; a mistake if it is not there."""
        if attribute not in element.attributes:
            self.fault(element, f"<{element.tag}> has no {attribute}=…")
        return element.attributes.get(attribute, "")

    def numbers(
        self,
        element: Xml | None,
        attribute: str,
        default: Sequence[float],
        *,
        counts: Sequence[int] | None = None,
    ) -> Floats:
        """The numbers in an attribute: as many as in the default, or as ``counts`` allows."""
        fallback = np.array(default, dtype=float)
        if element is None or attribute not in element.attributes:
            return fallback
        text = element.attributes[attribute]
        allowed = [len(default)] if counts is None else counts
        try:
            # a class may give a long text to many elements: what is too much is left in one word
            words = text.split(None, max(allowed))
            found = np.array([float(word) for word in words[: max(allowed)]])
            found = found if len(words) <= max(allowed) else np.full(1, math.nan)
        except ValueError:
            found = np.full(1, math.nan)
        if len(found) not in allowed or not (np.abs(found) <= LARGEST).all():
            wanted = " or ".join(str(n) for n in allowed)
            many = "finite number" if list(allowed) == [1] else "finite numbers"
            given = repr(text if len(text) < _LONG else f"{text[:_LONG]}…")
            self.fault(element, f"<{element.tag}> {attribute} is {wanted} {many}, not {given}")
            return fallback
        return found

    def number(self, element: Xml | None, attribute: str, default: float = 0.0) -> float:
        """The number in an attribute."""
        return float(self.numbers(element, attribute, [default])[0])

    def choice(self, element: Xml, attribute: str, default: str, known: Sequence[str]) -> str:
        """One of some words."""
        word = element.attributes.get(attribute, default)
        if word not in known:
            self.fault(element, f"<{element.tag}> {attribute}={word!r}{nearest(word, known)}")
            return known[0]
        return word
