"""Check the coverage pages: every capability that claims a module and a test really has them.

A coverage page is a Markdown file in `docs/coverage` with tables of the columns
`line | capability | module | shown by | oracle`. An open line has `–` in the last three. A filled
line names modules (`biela.atoms.workspace`) and tests (`tests/atoms/test_x.py::test_name`), several
separated by `<br>`, and what the tests compare with: one or more words of `ORACLES`, separated by
commas. What is named must exist; nothing is imported or run to find out. A table may leave the last
column out; where it has it, every filled line needs an oracle.

    python tools/check_coverage.py              # check, and print filled/total for each page
    python tools/check_coverage.py --list-open  # also print the open lines
    python tools/check_coverage.py --oracles    # also print how many lines each oracle shows
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

OPEN = "–"
HEADER = ("line", "capability", "module", "shown by")
ORACLE = "oracle"
#: What a test may compare with.
ORACLES = {
    "closed form": "a formula that a textbook has, evaluated in the test",
    "finite differences": "differences of values, or a complex step",
    "NumPy": "dense linear algebra or formulas by NumPy",
    "SciPy": "a routine of SciPy",
    "SymPy": "SymPy's expressions and derivatives",
    "mpmath": "many digits",
    "Pinocchio": "an independent program for trees of bodies",
    "program apart": "a program in the tests that shares nothing with biela",
    "golden data": "figures of another program, stored with their origin",
    "published figures": "figures printed in the literature",
    "gcc run": "exported C, compiled and run",
    "Octave run": "exported MATLAB code, run by GNU Octave",
    "interpreted graph": "the same expressions, walked one by one",
    "other formulation": "the same model by equations or an algorithm derived otherwise",
    "conservation": "energy, momentum or power",
    "order of convergence": "how errors fall with the step",
    "identities": "equations that hold whatever the numbers",
    "exact counts": "counts of operations, entries, steps or calls",
    "worked by hand": "an expected value written into the test",
    "messages": "what is refused or reported, in words",
    "read back": "what was written or drawn, read again",
    "stored page": "a page of the documentation against stored measurements",
}
TEST_NAME = re.compile(r"(?P<file>tests/\S+\.py)::(?P<names>\w+(?:::\w+)*)(?:\[.*\])?")
MODULE_NAME = re.compile(r"(?:biela|benchmarks|examples)(?:\.\w+)*")


@dataclass(frozen=True)
class Row:
    """One capability of a page."""

    page: Path  # relative to the repository
    number: int  # line in the file, counted from one
    line: str  # the capability's own number
    capability: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    oracles: tuple[str, ...] | None = None  # None where the table has no such column

    @property
    def filled(self) -> bool:
        return bool(self.modules) and bool(self.tests)


@dataclass
class Report:
    """All rows that could be read, and the problems found."""

    rows: dict[Path, list[Row]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def cells(text: str) -> list[str]:
    """Split a table row at its bars; a bar after a backslash belongs to the cell."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", text.strip().strip("|"))]


def names(cell: str) -> tuple[str, ...]:
    """Return the names in a cell, without code marks; none for an open one."""
    parts = (part.strip().strip("`") for part in re.split(r"<br\s*/?>", cell))
    return tuple(part for part in parts if part and part != OPEN)


def module_exists(name: str, root: Path) -> bool:
    path = root.joinpath("src" if name.startswith("biela") else ".", *name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@cache
def tests_in(file: Path) -> frozenset[str]:
    """Return the tests of a file as `test_a` and `TestB::test_c`."""

    def walk(body: Sequence[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.name.startswith("test"):
                    yield prefix + node.name
            elif isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}::")

    return frozenset(walk(ast.parse(file.read_text(encoding="utf-8")).body, ""))


def test_problem(name: str, root: Path) -> str | None:
    """Say what is wrong with the name of a test, if anything is."""
    match = TEST_NAME.fullmatch(name)
    if match is None:
        return f"'{name}' does not read tests/path/test_x.py::test_name"
    file = root / match["file"]
    if not file.is_file():
        return f"no file {match['file']}"
    try:
        found = match["names"] in tests_in(file)
    except SyntaxError as error:
        return f"{match['file']} cannot be read: {error.msg} (line {error.lineno})"
    return None if found else f"no test {match['names']} in {match['file']}"


def read_page(page: Path, root: Path, report: Report) -> None:
    """Add the rows and the malformed lines of one page to the report."""
    relative = page.relative_to(root)
    rows = report.rows.setdefault(relative, [])
    seen: dict[str, int] = {}
    header: tuple[str, ...] = HEADER
    for number, text in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if not text.startswith("|"):
            continue
        columns = cells(text)
        if tuple(columns[: len(HEADER)]) == HEADER:
            header = tuple(columns)
        if tuple(columns) == header or all(re.fullmatch(r":?-+:?", c) for c in columns):
            continue
        where = f"{relative}:{number}"
        if len(columns) != len(header):
            report.problems.append(f"{where}: {len(columns)} cells instead of {len(header)}")
            continue
        line, capability, module, shown_by = columns[: len(HEADER)]
        if line in seen:
            report.problems.append(f"{where}: line {line} was already given at {seen[line]}")
        seen.setdefault(line, number)
        oracles = None
        if ORACLE in header:
            words = (word.strip() for word in columns[header.index(ORACLE)].split(","))
            oracles = tuple(word for word in words if word and word != OPEN)
        rows.append(
            Row(relative, number, line, capability, names(module), names(shown_by), oracles)
        )


def check_row(row: Row, root: Path) -> Iterator[str]:
    """Yield the problems of one row."""
    if row.modules and not row.tests:
        yield f"line {row.line} names a module but no test"
    if row.tests and not row.modules:
        yield f"line {row.line} names a test but no module"
    if row.oracles is not None:
        if row.filled and not row.oracles:
            yield f"line {row.line} says no oracle: what do its tests compare with?"
        for word in row.oracles:
            if word not in ORACLES:
                yield f"'{word}' is no oracle; those known are {', '.join(ORACLES)}"
    for name in row.modules:
        if MODULE_NAME.fullmatch(name) is None:
            yield f"'{name}' is not the name of a module of biela"
        elif not module_exists(name, root):
            yield f"no module {name}"
    for name in row.tests:
        problem = test_problem(name, root)
        if problem is not None:
            yield problem


def check(root: Path) -> Report:
    """Read and check all coverage pages of a repository."""
    report = Report()
    pages = sorted(p for p in (root / "docs" / "coverage").glob("*.md") if p.name != "index.md")
    if not pages:
        report.problems.append("docs/coverage: no pages")
    for page in pages:
        read_page(page, root, report)
    for rows in report.rows.values():
        for row in rows:
            report.problems += (f"{row.page}:{row.number}: {p}" for p in check_row(row, root))
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check the coverage pages.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--list-open", action="store_true", help="print the open lines too")
    parser.add_argument("--oracles", action="store_true", help="count the lines of each oracle")
    options = parser.parse_args(arguments)

    report = check(options.root.resolve())
    for page, rows in report.rows.items():
        print(f"{page}: {sum(row.filled for row in rows)}/{len(rows)}")
        if options.list_open:
            for row in rows:
                if not row.filled:
                    print(f"  {row.line:>4}  {row.capability}")
    if options.oracles:
        shown = Counter(
            word for rows in report.rows.values() for r in rows for word in r.oracles or ()
        )
        for word, count in shown.most_common():
            print(f"{count:>4}  {word}")
    for problem in report.problems:
        print(problem, file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
