"""The page of the large mechanisms has the structure that they have now, and its pictures."""

from __future__ import annotations

import re

from benchmarks.large_mechanisms import structure, tables


def test_the_page_has_the_counts_and_orders_of_the_mechanisms() -> None:
    page = tables.PAGE.read_text(encoding="utf-8")
    made = (structure.counts(), structure.automatic(), structure.orders(), structure.families())
    for section in made:
        missing = [line for line in section.splitlines() if line not in page]
        assert not missing, "run python -m benchmarks.large_mechanisms.tables"


def test_the_pictures_of_the_page_are_there() -> None:
    page = tables.PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"\]\((images/[^)]+)\)", page)
    assert len(shown) == 6
    assert all((tables.DOCS / name).is_file() for name in shown)


def test_all_runs_on_the_page_are_faster_than_real_time_and_keep_their_constraints() -> None:
    """What was measured when the page was written."""
    text = tables.PAGE.read_text(encoding="utf-8").partition("## Runs")[2].partition("## With")[0]
    rows = [
        line.split(" | ") for line in text.splitlines() if re.match(r"\| (five|te|Br|ve)", line)
    ]
    assert len(rows) == 4
    for row in rows:
        assert float(row[8]) < 1.0
        assert float(row[4]) < 1e-12
