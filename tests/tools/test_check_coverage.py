from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_coverage import check, main

HEAD = "# Page\n\n| line | capability | module | shown by |\n|---|---|---|---|\n"
ROW_AT = 5  # file line of the first row under HEAD

TESTS = """
def test_a_sum_is_one_atom(): ...

def helper(): ...

class TestProducts:
    def test_they_commute(self): ...
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one module, one package, one test file and no pages yet."""
    for name, text in {
        "src/biela/__init__.py": "",
        "src/biela/atoms/__init__.py": "",
        "src/biela/atoms/workspace.py": "",
        "tests/atoms/test_sums.py": TESTS,
        "docs/coverage/index.md": "| not | a | coverage | page |\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def write_page(root: Path, *rows: str) -> None:
    text = HEAD + "".join(f"{row}\n" for row in rows)
    (root / "docs/coverage/page.md").write_text(text, encoding="utf-8")


def problems_of(root: Path, *rows: str) -> list[str]:
    write_page(root, *rows)
    return check(root).problems


def test_an_open_row_is_no_problem(root: Path) -> None:
    assert problems_of(root, "| 1 | sums | – | – |") == []


def test_a_row_whose_module_and_test_exist_is_no_problem(root: Path) -> None:
    row = "| 1 | sums | biela.atoms.workspace | tests/atoms/test_sums.py::test_a_sum_is_one_atom |"
    assert problems_of(root, row) == []


def test_a_package_counts_as_a_module_and_code_marks_are_allowed(root: Path) -> None:
    row = "| 1 | sums | `biela.atoms` | `tests/atoms/test_sums.py::test_a_sum_is_one_atom` |"
    assert problems_of(root, row) == []


def test_a_method_of_a_test_class_is_found(root: Path) -> None:
    row = "| 1 | x | biela.atoms | tests/atoms/test_sums.py::TestProducts::test_they_commute |"
    assert problems_of(root, row) == []


def test_the_parameters_of_a_test_are_ignored(root: Path) -> None:
    row = "| 1 | x | biela.atoms | tests/atoms/test_sums.py::test_a_sum_is_one_atom[3-4] |"
    assert problems_of(root, row) == []


def test_several_names_in_a_cell_are_each_checked(root: Path) -> None:
    row = (
        "| 1 | x | biela.atoms<br>biela.nowhere "
        "| tests/atoms/test_sums.py::test_a_sum_is_one_atom<br>tests/atoms/test_none.py::test_b |"
    )
    assert problems_of(root, row) == [
        f"docs/coverage/page.md:{ROW_AT}: no module biela.nowhere",
        f"docs/coverage/page.md:{ROW_AT}: no file tests/atoms/test_none.py",
    ]


def test_a_missing_test_is_named_with_its_place_on_the_page(root: Path) -> None:
    row = "| 2 | x | biela.atoms | tests/atoms/test_sums.py::test_gone |"
    assert problems_of(root, "| 1 | y | – | – |", row) == [
        f"docs/coverage/page.md:{ROW_AT + 1}: no test test_gone in tests/atoms/test_sums.py"
    ]


def test_a_function_that_is_no_test_does_not_count(root: Path) -> None:
    (problem,) = problems_of(root, "| 1 | x | biela.atoms | tests/atoms/test_sums.py::helper |")
    assert "no test helper" in problem


def test_a_test_file_with_a_syntax_error_is_reported(root: Path) -> None:
    (root / "tests/atoms/test_broken.py").write_text("def test_x(:\n", encoding="utf-8")
    (problem,) = problems_of(root, "| 1 | x | biela.atoms | tests/atoms/test_broken.py::test_x |")
    assert "tests/atoms/test_broken.py cannot be read" in problem


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("| 7 | x | biela.atoms | – |", "line 7 names a module but no test"),
        (
            "| 7 | x | – | tests/atoms/test_sums.py::test_a_sum_is_one_atom |",
            "line 7 names a test but no module",
        ),
    ],
)
def test_half_a_row_is_a_problem(root: Path, row: str, complaint: str) -> None:
    assert problems_of(root, row) == [f"docs/coverage/page.md:{ROW_AT}: {complaint}"]


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("| 1 | x | numpy | tests/atoms/test_sums.py::test_a_sum_is_one_atom |", "not the name"),
        ("| 1 | x | biela.atoms | test_sums |", "does not read"),
        ("| 1 | x | – |", "3 cells instead of 4"),
    ],
)
def test_a_malformed_row_is_a_problem(root: Path, row: str, complaint: str) -> None:
    (problem,) = problems_of(root, row)
    assert complaint in problem


def test_a_line_given_twice_is_a_problem(root: Path) -> None:
    (problem,) = problems_of(root, "| 1 | x | – | – |", "| 1 | y | – | – |")
    assert problem.endswith(f"line 1 was already given at {ROW_AT}")


def test_an_escaped_bar_stays_in_its_cell(root: Path) -> None:
    assert problems_of(root, r"| 1 | joint export [M\|δ] | – | – |") == []


def test_a_repository_without_pages_is_a_problem(root: Path) -> None:
    assert check(root).problems == ["docs/coverage: no pages"]


def test_the_command_prints_filled_and_total_and_succeeds(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = "tests/atoms/test_sums.py::test_a_sum_is_one_atom"
    write_page(root, f"| 1 | sums | biela.atoms | {test} |", "| 2 | powers | – | – |")
    assert main(["--root", str(root)]) == 0
    assert capsys.readouterr().out == "docs/coverage/page.md: 1/2\n"


def test_the_command_lists_open_lines_on_request(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_page(root, "| 2 | powers | – | – |")
    assert main(["--root", str(root), "--list-open"]) == 0
    assert "2  powers" in capsys.readouterr().out


def test_the_command_fails_and_says_why_on_a_problem(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_page(root, "| 1 | x | biela.atoms | – |")
    assert main(["--root", str(root)]) == 1
    assert "names a module but no test" in capsys.readouterr().err


def test_the_pages_of_this_repository_are_in_order() -> None:
    assert check(Path(__file__).resolve().parents[2]).problems == []


WITH_ORACLE = HEAD.replace(" |\n|---", " | oracle |\n|---").replace("---|\n", "---|---|\n")
SUM = "| 1 | sums | biela.atoms | tests/atoms/test_sums.py::test_a_sum_is_one_atom |"


def oracle_problems(root: Path, *rows: str) -> list[str]:
    text = WITH_ORACLE + "".join(f"{row}\n" for row in rows)
    (root / "docs/coverage/page.md").write_text(text, encoding="utf-8")
    return check(root).problems


def test_a_table_may_say_what_its_tests_compare_with(root: Path) -> None:
    assert oracle_problems(root, f"{SUM} closed form, SciPy |", "| 2 | powers | – | – | – |") == []


def test_where_a_table_has_oracles_every_filled_row_needs_one(root: Path) -> None:
    (problem,) = oracle_problems(root, f"{SUM} – |")
    assert "line 1 says no oracle" in problem
    assert oracle_problems(root, SUM) == [f"docs/coverage/page.md:{ROW_AT}: 4 cells instead of 5"]


def test_an_oracle_is_one_of_those_known(root: Path) -> None:
    (problem,) = oracle_problems(root, f"{SUM} closed form, a hunch |")
    assert "'a hunch' is no oracle" in problem


def test_tables_with_and_without_oracles_may_share_a_page(root: Path) -> None:
    text = WITH_ORACLE + f"{SUM} closed form |\n" + HEAD + SUM.replace("| 1 |", "| 2 |") + "\n"
    (root / "docs/coverage/page.md").write_text(text, encoding="utf-8")
    assert check(root).problems == []


def test_the_command_counts_oracles_on_request(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oracle_problems(root, f"{SUM} closed form |")
    assert main(["--root", str(root), "--oracles"]) == 0
    assert "1  closed form" in capsys.readouterr().out


def test_every_page_of_this_repository_says_its_oracles() -> None:
    rows = check(Path(__file__).resolve().parents[2]).rows.values()
    assert all(row.oracles for page in rows for row in page if row.filled)
