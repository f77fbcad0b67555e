"""Lines of keys: every number in these texts is the line on which it stands."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from biela.model.files.lines import key_lines, line_of

EVERYTHING = '''# a comment = 7
one = 2
"two = [" = 3 # "x
'single "q" #' = 4
a.b."c.d".e = 5
text = "not\\"e = 9"
long = """
k = 99
[no.table]
"quoted"" \\""""
after_long = 11
raw = \'\'\'
x = 1 \'\' [y]
\'\'\'\'
after_raw = 15

[table]
x = 18
nested = { p = 19, "q r" = { s = 19 }, list = [19, { deep = 19 }] }
array = [ # comment ] with brackets
  21, 21,
  # another, 3
  [23, 23],
  { u = 24, v = [
    25 ] },
]
date = 1979-05-27T07:32:00Z # 5

[table.inner.more]
y = 30
[[rows]]
k = 32
[[rows]]
k = 34
[rows.sub]
k = 36
[[rows.items]]
k = 38
[[rows.items]]
k = 40
[ spaced . "key" ]
z = 42
'''


def numbers(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], int]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from numbers(value, (*path, key))
    elif isinstance(data, list):
        for k, value in enumerate(data):
            yield from numbers(value, (*path, k))
    elif isinstance(data, int):
        yield path, data


def test_every_kind_of_key_is_found_on_its_line() -> None:
    found = key_lines(EVERYTHING)
    there = list(numbers(tomllib.loads(EVERYTHING)))
    assert len(there) == 24
    assert {path: line_of(found, path) for path, _ in there} == dict(there)


def written(rng: random.Random, depth: int, lines: list[str]) -> None:
    """Add a value to the last line, and lines as they come."""
    kind = rng.choice(("number", "number", "array", "table", "text"))
    if kind == "number" or depth > 3:
        lines[-1] += str(len(lines))
    elif kind == "text":
        lines[-1] += rng.choice(('"a = [1, {"', "'] } # '", '"\\"]"', '""'))
    elif kind == "array":
        lines[-1] += "["
        for _ in range(rng.randrange(4)):
            if rng.random() < 0.5:
                lines[-1] += rng.choice(("", "  # ], 5"))
                lines.append("")
            written(rng, depth + 1, lines)
            lines[-1] += ", "
        lines[-1] += "]"
    else:
        lines[-1] += "{"
        for k in range(rng.randrange(4)):
            lines[-1] += f"{', ' * (k > 0)}k{k}.'x y' = "
            written(rng, depth + 1, lines)
        lines[-1] += "}"


@pytest.mark.parametrize("seed", range(40))
def test_numbers_in_any_layout_are_found_on_their_lines(seed: int) -> None:
    rng = random.Random(seed)
    lines: list[str] = [""]
    for k in range(8):
        header = rng.random()
        if header < 0.2:
            lines[-1] = f"[t{k}.'a.b']"
            lines.append("")
        elif header < 0.4:
            lines[-1] = f"[[rows.r{rng.randrange(2)}]]"
            lines.append("")
        lines[-1] = f"v{k} = "
        written(rng, 0, lines)
        lines.append("")
    text = "\n".join(lines)
    found = key_lines(text)
    there = list(numbers(tomllib.loads(text)))
    assert {path: line_of(found, path) for path, _ in there} == dict(there)


def test_what_is_not_there_has_the_line_of_the_table_around_it() -> None:
    found = key_lines("a = 1\n\n[bodies.rod]\nmass = 2\n")
    assert line_of(found, ("bodies", "rod", "com", 1)) == 3
    assert line_of(found, ("joints", "A")) == 1
