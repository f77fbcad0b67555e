"""Values as TOML text, such that reading gives the very same numbers and texts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from biela.errors import ModelError

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
#: Of a longer line a table is written instead, and an array over several lines.
WIDTH = 100


def key_text(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if _BARE.match(name) else _string(name)


def value_text(value: Any, indent: int = 0, room: int = WIDTH) -> str:
    """A value: a number, text, array or inline table.

    Raises:
        ModelError: It is none of these, or not finite.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Sequence):
        flat = f"[{', '.join(value_text(v) for v in value)}]"
        if len(flat) <= room or not value:
            return flat
        pad = " " * (indent + 4)
        rows = "".join(f"{pad}{value_text(v, indent + 4, WIDTH - indent - 5)},\n" for v in value)
        return f"[\n{rows}{' ' * indent}]"
    raise ModelError(f"{value!r} cannot be written in a model file")


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ModelError(f"{value!r} is not a finite number and cannot be written in a model file")
    # whole numbers as people write them; a negative zero keeps its sign
    negative_zero = value == 0 and math.copysign(1.0, value) < 0
    if value.is_integer() and abs(value) < 1e15 and not negative_zero:
        return str(int(value))
    return repr(value)


def _string(text: str) -> str:
    # JSON's escapes are TOML's, except for DEL, which TOML wants escaped too
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def document_text(data: Mapping[str, Any]) -> str:
    """A whole document: what is short on one line, the rest as tables of their own."""
    return "\n".join(_table((), data)).strip("\n") + "\n"


def _table(path: tuple[str, ...], data: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    tables: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in data.items():
        entry = f"{key_text(key)} = "
        if isinstance(value, Mapping) and not _is_inline(path, entry, value):
            tables.append((key, value))
        else:
            lines.append(entry + value_text(value, 0, WIDTH - len(entry)))
    if path and (lines or not tables):  # a table of tables only needs no header of its own
        lines = ["", f"[{'.'.join(key_text(part) for part in path)}]", *lines]
    for key, value in tables:
        lines += _table((*path, key), value)
    return lines


def _is_inline(path: tuple[str, ...], entry: str, value: Mapping[str, Any]) -> bool:
    """Whether a table is written on one line: short ones without tables, below the second level."""
    if any(isinstance(item, Mapping) for item in value.values()):
        return False
    return len(path) >= 2 and len(entry) + len(value_text(value)) <= WIDTH
