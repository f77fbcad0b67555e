"""The page of published tables has the counts that the models have now."""

from __future__ import annotations

import re

from benchmarks.thesis import tables

# deriving the locomotive by all routes takes long, and its counts are held by tests/examples
QUICK = [name for name in tables.MODELS if name != "locomotive"]


def rows(text: str) -> list[str]:
    """The lines of tables, with the headings they stand under."""
    heading, found = "", []
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line
        elif line.startswith("| "):
            found.append(f"{heading}: {line}")
    return found


def test_the_page_has_the_counts_of_the_models():
    page = set(rows(tables.PAGE.read_text(encoding="utf-8")))
    made = rows("\n".join(tables.counted(QUICK)))
    assert len(made) > 30
    missing = [row for row in made if row not in page]
    assert not missing, "run python -m benchmarks.thesis.tables"


def test_every_table_of_counts_is_on_the_page():
    text = tables.PAGE.read_text(encoding="utf-8")
    numbers = {
        n for line in text.splitlines() if line[:3] == "## " for n in re.findall(r"6\.\d+", line)
    }
    assert numbers == {f"6.{k}" for k in (1, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15)}
    assert text.count("| locomotive |") == 6


def test_a_table_of_two_numbers_is_called_tables():
    text = tables.section("6.1 and 6.5: x", ("a", "b"), [(1, 2)], "note")
    assert text.splitlines() == [
        "## Tables 6.1 and 6.5: x",
        "",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "",
        "note",
    ]
    assert tables.section("6.4: y", ("a",), []).startswith("## Table 6.4: y")
