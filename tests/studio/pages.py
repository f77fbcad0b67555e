"""Readers of pages: whether they are HTML, what they would fetch, and what their formulas are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import acos, asin, atan, cos, log, sin, sqrt, tan, tanh
from typing import Any
from xml.etree import ElementTree

import html5lib

FUNCTIONS = {
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "arcsin": asin,
    "arccos": acos,
    "arctan": atan,
    "ln": log,
    "tanh": tanh,
}
#: Attributes by which a page asks for something.
_ASKING = ("src", "href", "srcset", "data", "action", "poster", "background", "xlink:href")


def read(page: str) -> ElementTree.Element:
    """The elements of a page, and an error where a browser would have to guess."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    found: ElementTree.Element = parser.parse(page)
    return found


def read_fragment(html: str) -> ElementTree.Element:
    """Likewise, of a piece of a page."""
    return read(f'<!DOCTYPE html><html lang="en"><head><title>x</title></head>{html}</html>')


def fetched(page: str) -> Iterator[str]:
    """Everything that a page, and what is framed in it, would get from elsewhere."""
    for element in read(page).iter():
        for name in _ASKING:
            address = str(element.get(name, ""))
            if address and not address.startswith(("data:", "#")):
                yield address
        if element.get("srcdoc"):
            yield from fetched(str(element.get("srcdoc")))
        if element.tag in ("style", "script"):
            yield from re.findall(r"url\((?!data:)[^)]*\)|@import[^;]*|https?://\S+",
                                  element.text or "")  # fmt: skip


def text_of(element: ElementTree.Element) -> str:
    """All that can be read."""
    return " ".join("".join(element.itertext()).split())


def rows(page: str) -> Iterator[list[str]]:
    """The cells of all rows of all tables."""
    for row in read(page).iter("tr"):
        yield [text_of(cell) for cell in row]


# -------------------------------------------------------------------------------- formulas


def value(mathml: str, values: Mapping[str, float]) -> float:
    """The value of a formula in MathML: sums, products by juxtaposition, powers, functions."""
    return _sum(list(ElementTree.fromstring(f"<mrow>{mathml}</mrow>")), values)


def _sum(parts: list[Any], values: Mapping[str, float]) -> float:
    total, sign, factors = 0.0, 1.0, []
    for part in [*parts, None]:
        mark = part.text if part is not None and part.tag == "mo" else ""
        if part is None or mark in ("+", "−"):
            if factors:
                total += sign * _product(factors, values)
            sign, factors = (-1.0 if mark == "−" else 1.0), []
        elif mark != "·" and part.tag != "mspace":
            factors.append(part)
    return total


def _product(factors: list[Any], values: Mapping[str, float]) -> float:
    found, call = 1.0, None
    for factor in factors:
        if factor.tag == "mo" and factor.text == "\u2061":
            continue
        if factor.tag == "mi" and factor.text in FUNCTIONS:
            call = FUNCTIONS[factor.text]
            continue
        one = _leaf(factor, values)
        found *= call(one) if call else one
        call = None
    return found


def _leaf(part: Any, values: Mapping[str, float]) -> float:
    inside = list(part)
    if part.tag == "mn":
        return float(part.text)
    if part.tag == "mfrac":
        return _leaf(inside[0], values) / _leaf(inside[1], values)
    if part.tag == "msqrt":
        return sqrt(_sum(inside, values))
    if part.tag in ("msup", "msubsup"):
        base = values[_name(inside)] if part.tag == "msubsup" else _leaf(inside[0], values)
        return float(base ** _leaf(inside[-1], values))
    if part.tag == "mrow":
        fenced = inside[0].tag == "mo" and inside[0].text == "("
        return _sum(inside[1:-1] if fenced else inside, values)
    return values[_name([part])]


def _name(parts: list[Any]) -> str:
    """The name of a symbol: letters and indices as they follow, "d" before what has a dot."""
    part = parts[0]
    word = "".join(part.itertext()).replace(",", "_")
    if part.tag == "mover":
        word = "d" + "".join(part[0].itertext())
    if part.tag == "msub":
        return _name([part[0]]) + "_" + "".join(part[1].itertext()).replace(",", "_")
    return word + ("_" + "".join(parts[1].itertext()) if len(parts) == 3 else "")
