"""Mutations: ways in which a valid input is damaged, each drawn from a seeded generator.

All take and return bytes.  The plain ones know nothing of the format; those of tables, XML and
archives take the input apart, change one thing in it and put it together again, and so get past
the parser to what reads the values.
"""

from __future__ import annotations

import io
import json
import pickle
import re
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import lru_cache
from random import Random
from typing import Any
from xml.etree import ElementTree

Mutation = Callable[[bytes, Random], bytes]

#: Texts that have broken readers somewhere.
TOKENS = (
    "", "0", "-0", "-1", "1e308", "-1e308", "1e309", "1e-320", "nan", "inf", "-inf", "NaN",
    "9" * 400, "1" + "0" * 18, "10**18", "9**9**9", "2**-1074", "0x10", "1_000", "1/0", "0/0",
    "sqrt(-1)", "log(0)", "asin(2)", "t", "pi", "True", "null", "none", "[]", "{}", "''", '""',
    "((((((((", "))))", "5 mm", "5mm/s^", "90 deg", "1 °", "µ", "é", "\u202e", "\U0001f600", "\x00",
    "\x1a", "\ufeff", "\n", "\r", "\t", "a" * 3000, "a." * 200, "ground", "../..", "/", "*", "%s",
    "__class__", "§", "t**t**t", "(-8)^(1/3)", "1e400 m", "if(1<2, 3, 4)", "atan2(0, 0)",
    "min()", "#", ",", ";", "=", "<", "&", "]]>", "-" * 50, "kg*m^2", "1;2", "1,5",
)  # fmt: skip
#: Values of other types than the one that stands in a table.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 10**18, -(10**18), 10**400, 0.0, -0.0, 1e308, -1e308, 1e-320,
    float("nan"), float("inf"), [], {}, [[]], [1, 2, 3], [0, 0, 0], [1, 2], ["a"], {"a": 1}, "x",
    [[1, 2], [3]], [None], [0.0, 0.0, 1e200], [1e-200, 0, 0],
)  # fmt: skip
#: Values that no file holds, by the names under which a call has them.
ODD_VALUES = tuple(
    "!" + name
    for name in (
        "complex", "bytes", "set", "decimal", "fraction", "object", "type", "function", "generator",
        "path", "range", "zero", "one", "empty", "column", "cube", "nans", "infinite", "float32",
        "int8", "bools", "texts", "objects", "strided", "read-only", "masked", "matrix", "datetime",
        "model", "results", "atom", "slice", "ellipsis",
        "turned", "motion",
    )
)  # fmt: skip
#: Numbers that may be read and do their damage later.  None makes a motion of hours, which is no
#: fault: as a time or a step they are harmless or beyond the limits.
NUMBERS = (
    0, 0.0, -0.0, 1, -1, 2, 3, 0.5, 90, 1000, 1e-3, 1e-16, 1e-40, 1e-300, 5e-324, 1e15,
    1e30, 1e49, -1e49, 1e154,
)  # fmt: skip
#: Words of command lines.
_COMMAND_WORDS = (
    *map(repr, NUMBERS), "1e999", "nan", "-inf", "10ms", "0s", "-1s", "A", "A.angle", "rod",
    "rod.tip", "rod.x", "rod.*", "*", "motor", "ground", "auto", "natural", "joint", "reference",
    "relative loops", "global sparse", "mixed groups", "index2", "augmented3", "generalised_alpha",
    "null_space", "penalty", "radau", "adams", "explicit_euler", "nystrom", "newton", "transpose",
    "quasi_newton", "python", "julia", "c", "latex", "gif", "mp4", "n.txt", "n.svg", "n.bmp", "",
    ".", "four-bar", "A=1", "L=nan", "L=0", "A=t**2", "A='1/t'", "A.angle=90deg", "é.toml", "\x07",
    "--help", "--csv", "--force", "--no-save", "--reactions", "-t", "--", "--step",
)  # fmt: skip
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WORD = re.compile(rb"[\w.+-]+")


# --- plain ----------------------------------------------------------------------------------------


def flipped(data: bytes, rng: Random) -> bytes:
    """Some bits turned."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncated(data: bytes, rng: Random) -> bytes:
    """The beginning, or the end."""
    cut = rng.randrange(len(data) + 1)
    return data[:cut] if rng.random() < 0.8 else data[cut:]


def spliced(data: bytes, rng: Random) -> bytes:
    """A slice left out, repeated or moved."""
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    b = min(b, a + rng.choice((1, 4, 30, 300)))
    piece, to = data[a:b], rng.randrange(len(data) + 1)
    what = rng.randrange(3)
    if what == 0:
        return data[:a] + data[b:]
    times = rng.choice((1, 1, 2, 20)) if what == 1 else 1
    return data[:to] + piece * times + data[to:]


def lines_swapped(data: bytes, rng: Random) -> bytes:
    """Two lines exchanged, or one repeated or left out."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(3)
    if what == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif what == 1:
        lines.insert(j, lines[i])
    else:
        del lines[i]
    return b"\n".join(lines)


def token_inserted(data: bytes, rng: Random) -> bytes:
    """A text of the dictionary somewhere."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + _token(rng) + data[at:]


def word_replaced(data: bytes, rng: Random) -> bytes:
    """A word or number replaced by one of the dictionary, or by another one of the input."""
    words = list(_WORD.finditer(data))
    if not words:
        return token_inserted(data, rng)
    word = rng.choice(words)
    new = _token(rng) if rng.random() < 0.7 else rng.choice(words).group()
    return data[: word.start()] + new + data[word.end() :]


def _token(rng: Random) -> bytes:
    return rng.choice(TOKENS).encode("utf-8", "surrogatepass")


PLAIN: tuple[Mutation, ...] = (
    flipped, truncated, spliced, lines_swapped, token_inserted, word_replaced, word_replaced,
)  # fmt: skip


# --- tables: TOML and JSON ------------------------------------------------------------------------


def tree_changed(
    tree: Any, rng: Random, values: Sequence[Any] = VALUES, mildly: float = 0.4
) -> None:
    """One entry of nested tables and lists left out, renamed, retyped, repeated or moved.

    ``mildly`` is how often it becomes another value of its kind instead.
    """
    holders = [tree]
    for holder in holders:
        inside = holder.values() if isinstance(holder, dict) else holder
        holders += [item for item in inside if isinstance(item, dict | list) and item]
    holder = rng.choice(holders)
    key: Any = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    what = rng.randrange(6)
    if rng.random() < mildly:
        holder[key] = _of_its_kind(holder[key], holders, rng)
    elif what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, dict):
        holder[rng.choice(TOKENS) if rng.random() < 0.5 else str(key) + "x"] = holder.pop(key)
    elif what == 2 and isinstance(holder, list):
        holder.insert(0, deepcopy(holder[key]))
    elif what == 3:
        other = rng.choice(holders)
        if not _inside(holder, other):
            holder[key] = deepcopy(other)
    elif what == 4:
        holder[key] = rng.choice(TOKENS)
    else:
        holder[key] = deepcopy(rng.choice(values))  # later changes are to leave these alone


def _of_its_kind(value: Any, holders: Sequence[Any], rng: Random) -> Any:
    """Another number or truth, or a text that stands elsewhere: what most readers let in."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return rng.choice((*NUMBERS, -value, 2 * value))
    if isinstance(value, str):
        inside = [h.values() if isinstance(h, dict) else h for h in holders]
        return rng.choice([text for texts in inside for text in texts if isinstance(text, str)])
    return value


def _inside(found: Any, tree: Any) -> bool:
    """Whether a table is somewhere in a tree."""
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return found is tree or any(_inside(found, item) for item in inside)


def toml_changed(data: bytes, rng: Random, mildly: float = 0.4) -> bytes:
    """A TOML text with entries changed; damaged some other way if it is none any more."""
    try:
        tree = pickle.loads(_toml_tree(data))
    except (ValueError, RecursionError):
        return word_replaced(data, rng)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if tree:
            tree_changed(tree, rng, mildly=mildly)
    lines = [f"{_quoted(key)} = {_toml(value)}" for key, value in tree.items()]
    return "\n".join(lines).encode("utf-8", "replace")


@lru_cache(500)
def _toml_tree(data: bytes) -> bytes:
    """The tables of a TOML text, pickled: most are those of inputs that are not damaged yet."""
    return pickle.dumps(tomllib.loads(data.decode()))


def _quoted(text: str) -> str:
    return text if _BARE.fullmatch(text) else json.dumps(text).replace("\x7f", "\\u007F")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(str(k))} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool | str):
        return json.dumps(value).replace("\x7f", "\\u007F")
    return '""' if value is None else repr(value)


# --- XML ------------------------------------------------------------------------------------------


def xml_changed(data: bytes, rng: Random) -> bytes:
    """An XML text with an element or attribute changed."""
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        return word_replaced(data, rng)
    for _ in range(rng.choice((1, 1, 2, 4))):
        _xml_change(root, rng)
    try:
        return bytes(ElementTree.tostring(root, encoding="utf-8"))
    except (ValueError, RecursionError):
        return data


def _xml_change(root: ElementTree.Element, rng: Random) -> None:
    elements = list(root.iter())
    element, other = rng.choice(elements), rng.choice(elements)
    what = rng.randrange(6)
    child = rng.choice(list(element)) if len(element) else None
    if what == 0 and child is not None:
        element.remove(child)
    elif what == 1 and child is not None:
        element.insert(0, child)
    elif what == 2 and element not in list(other.iter()) and len(list(other.iter())) < 50:
        element.append(other)
    elif element.attrib and what < 5:
        name = rng.choice(list(element.attrib))
        choice = rng.randrange(4)
        if choice == 0:
            del element.attrib[name]
        elif choice == 1 and other.attrib:
            element.attrib[name] = rng.choice(list(other.attrib.values()))
        else:
            words = element.attrib[name].split() or [""]
            words[rng.randrange(len(words))] = _xml_text(rng)
            element.attrib[name] = " ".join(words)
    elif element.text and element.text.strip():
        words = element.text.split()
        words[rng.randrange(len(words))] = _xml_text(rng)
        element.text = " ".join(words)
    else:
        element.tag = other.tag


def _xml_text(rng: Random) -> str:
    return re.sub("[\x00-\x08\x0b-\x1f]", "?", rng.choice(TOKENS))


# --- archives of arrays ---------------------------------------------------------------------------


def npz_changed(data: bytes, rng: Random) -> bytes:
    """An archive of arrays with an entry, the header of an array or the JSON text changed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # a damaged archive: zipfile raises nearly anything
        return flipped(data, rng)
    for _ in range(rng.choice((1, 1, 2))):
        if not entries:
            return flipped(data, rng)
        name = rng.choice(list(entries))
        what = rng.randrange(6)
        if what == 0:
            del entries[name]
        elif what == 1:
            entries[rng.choice(list(entries))] = entries[name]
        elif what == 2:
            entries[name] = rng.choice((flipped, truncated, word_replaced))(entries[name], rng)
        elif what == 3:
            entries[name] = _array_header_changed(entries[name], rng)
        elif "header.npy" in entries:
            entries["header.npy"] = _json_changed(entries["header.npy"], rng)
        if not entries:
            break
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return made.getvalue()


def _array_header_changed(data: bytes, rng: Random) -> bytes:
    """An array with another shape or type than it has."""
    shape = rng.choice(("()", "(0,)", "(7,)", "(1000000000,)", "(2, 3)", "(-1,)", "(3, 0)", "x"))
    kind = rng.choice(("<f8", "<i4", "|O", "<c16", "<U5", "|b1", "|V8", "<M8[s]", "zz"))
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    start = 10 + int.from_bytes(data[8:10], "little")
    header = header.ljust(118) + b"\n"
    return data[:8] + len(header).to_bytes(2, "little") + header + data[start:]


def _json_changed(data: bytes, rng: Random) -> bytes:
    """The JSON text in an array of bytes with entries changed."""
    start = 10 + int.from_bytes(data[8:10], "little")
    try:
        tree = json.loads(data[start:])
        tree_changed(tree, rng)
        text = json.dumps(tree).encode()
    except (ValueError, TypeError, IndexError, AttributeError):
        return flipped(data, rng)
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(text)},), }}".encode()
    header = header.ljust(117) + b"\n"
    return data[:8] + len(header).to_bytes(2, "little") + header + text


# --- calls and commands ---------------------------------------------------------------------------


def call_changed(data: bytes, rng: Random) -> bytes:
    """A call of `tools.fuzz_doors` with arguments changed; its door remains."""
    call = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if call["given"]:
            tree_changed(call["given"], rng, (*VALUES, *ODD_VALUES))
    return json.dumps(call).encode()


def command_changed(data: bytes, rng: Random) -> bytes:
    """A command with a model below it: words of the one, or tables of the other, changed."""
    words, sign, model = data.partition(b"\n@\n")
    if sign and rng.random() < 0.5:
        return words + sign + toml_changed(model, rng, 0.85)
    if rng.random() < 0.2:
        return rng.choice(PLAIN)(words, rng) + sign + model
    parts = re.split(rb"([ =])", words)
    # what follows an option or a sign = is a value; some other word now and then
    values = [
        k for k in range(4, len(parts), 2) if parts[k - 2][:1] == b"-" or parts[k - 1] == b"="
    ]
    at = rng.choice(values if values and rng.random() < 0.9 else range(0, len(parts), 2))
    word = rng.choice(_COMMAND_WORDS).encode()
    parts[at] = b"'" + word + b"'" if b" " in word or not word else word
    return b"".join(parts) + sign + model
