"""XML out of files that may come from anybody, read with nothing but the standard library.

Document types are refused: a robot or a mesh needs none, and their entities can fill the memory out
of a few lines or name other files.  It is the parser that finds them, in whatever encoding the file
is: a search for ``<!DOCTYPE`` among the bytes would miss that of a file in UTF-16.
"""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from biela.budgets import ELEMENTS_DEEP, NAME_SPACE, within
from biela.errors import FileError

__all__ = ["parse_xml"]

#: Between the address of a name space and a name; no address has it.
_BETWEEN = "\n"


def parse_xml(
    name: str,
    content: bytes,
    start: Callable[[str, dict[str, str], int], object],
    end: Callable[[str], object],
    text: Callable[[str], object] | None = None,
    encoding: str | None = None,
) -> None:
    """Walk through an XML document.

    The tag of an element of a name space has its address in braces: ``{http://…}macro``.

    Args:
        name: What messages call the document.
        content: Its bytes.
        start: Called with the tag, the attributes and the line of each element that begins.
        end: Called with the tag of each element that ends.
        text: Called with texts between tags, perhaps in pieces.
        encoding: Of the bytes, whatever the document says; as it says unless given.

    Raises:
        FileError: It is no XML, has a document type, or elements are nested too deep.
    """
    parser = expat.ParserCreate(encoding, _BETWEEN)
    parser.buffer_text = True
    depth = 0
    inside = False  # a function of the caller, whose errors are not about XML

    def refuse(*_: object) -> None:
        raise FileError(
            f"{name}:{parser.CurrentLineNumber}: a document type (<!DOCTYPE …>) is not read: its "
            "entities can fill the memory or name other files; delete it"
        )

    def check_address(_: object, address: str | None) -> None:
        # it becomes part of the tag of every element
        within(
            NAME_SPACE,
            len(address or ""),
            f"{name}:{parser.CurrentLineNumber}: the address of a name space has {{}} letters",
            "shorten it",
            FileError,
        )

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, inside
        depth += 1
        if depth > ELEMENTS_DEEP:
            raise FileError(
                f"{name}:{parser.CurrentLineNumber}: elements are nested too deep; the limit is "
                f"{ELEMENTS_DEEP}"
            )
        inside = True
        start(_spaced(tag), attributes, parser.CurrentLineNumber)
        inside = False

    def finish(tag: str) -> None:
        nonlocal depth, inside
        depth -= 1
        inside = True
        end(_spaced(tag))
        inside = False

    def between(piece: str) -> None:
        nonlocal inside
        inside = True
        if text is not None:
            text(piece)
        inside = False

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartNamespaceDeclHandler = check_address
    parser.StartElementHandler = begin
    parser.EndElementHandler = finish
    if text is not None:
        parser.CharacterDataHandler = between
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        if inside:
            raise
        raise FileError(
            f"{name}:{error.lineno}: this is not XML: {expat.ErrorString(error.code)} "
            f"(column {error.offset + 1})"
        ) from None
    except (ValueError, LookupError) as error:  # an encoding that is unknown or of several bytes
        if inside:
            raise
        raise FileError(f"{name}:1: this is not XML: {error}") from None


def _spaced(tag: str) -> str:
    space, _, name = tag.rpartition(_BETWEEN)
    return f"{{{space}}}{name}" if space else name
