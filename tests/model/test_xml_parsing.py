"""XML is walked through, and what is none is told apart from what goes wrong with its elements."""

from __future__ import annotations

from xml.parsers import expat

import pytest

from biela.errors import FileError, ModelError
from biela.model.xml_parsing import parse_xml

LEGAL = b"<a>text</a>"


def ignore(*_: object) -> None:
    """Takes what comes."""


@pytest.mark.parametrize("handler", ["start", "end", "text"])
@pytest.mark.parametrize(
    "error", [ValueError("mine"), LookupError("mine"), ModelError("mine"), expat.ExpatError("mine")]
)
def test_an_error_of_what_is_called_is_not_about_xml(handler: str, error: Exception) -> None:
    def fail(*_: object) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        parse_xml("f.xml", LEGAL, **{"start": ignore, "end": ignore, "text": ignore, handler: fail})
    assert caught.value is error


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<a>", r"f.xml:1: this is not XML: no element found"),
        (b'<?xml version="1.0" encoding="nothing"?><a/>', "f.xml:1: this is not XML: unknown enc"),
        (b'<?xml version="1.0" encoding="gbk"?><a/>', "f.xml:1: this is not XML: multi-byte"),
    ],
)
def test_what_is_no_xml_is_said_with_its_place(content: bytes, said: str) -> None:
    with pytest.raises(FileError, match=said):
        parse_xml("f.xml", content, ignore, ignore, ignore)
