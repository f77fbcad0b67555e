"""Check the coverage pages: every capability that claims a module and a test really has them.

A coverage page is a Markdown file in `docs/coverage` with tables of four columns,
`line | capability | module | shown by`. An open line has `–` in the last two. A filled line names
modules (`biela.atoms.workspace`) and tests (`tests/atoms/test_x.py::test_name`), several separated
by `<br>`. What is named must exist; nothing is imported or run to find out.

    python tools/check_coverage.py              # check, and print filled/total for each page
    python tools/check_coverage.py --list-open  # also print the open lines
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

OPEN = "–"
HEADER = ("line", "capability", "module", "shown by")
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
    for number, text in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if not text.startswith("|"):
            continue
        columns = cells(text)
        if tuple(columns) == HEADER or all(re.fullmatch(r":?-+:?", c) for c in columns):
            continue
        where = f"{relative}:{number}"
        if len(columns) != len(HEADER):
            report.problems.append(f"{where}: {len(columns)} cells instead of {len(HEADER)}")
            continue
        line, capability, module, shown_by = columns
        if line in seen:
            report.problems.append(f"{where}: line {line} was already given at {seen[line]}")
        seen.setdefault(line, number)
        rows.append(Row(relative, number, line, capability, names(module), names(shown_by)))


def check_row(row: Row, root: Path) -> Iterator[str]:
    """Yield the problems of one row."""
    if row.modules and not row.tests:
        yield f"line {row.line} names a module but no test"
    if row.tests and not row.modules:
        yield f"line {row.line} names a test but no module"
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
    options = parser.parse_args(arguments)

    report = check(options.root.resolve())
    for page, rows in report.rows.items():
        print(f"{page}: {sum(row.filled for row in rows)}/{len(rows)}")
        if options.list_open:
            for row in rows:
                if not row.filled:
                    print(f"  {row.line:>4}  {row.capability}")
    for problem in report.problems:
        print(problem, file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
