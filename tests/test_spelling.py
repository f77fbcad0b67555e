"""Names that may be meant: found, whatever their case, within the work that a file may ask for."""

from __future__ import annotations

from collections.abc import Iterator

from biela.budgets import LETTERS
from biela.spelling import alike, few_guesses, nearest


def test_names_that_differ_in_case_alone_come_before_any_other() -> None:
    assert alike("MM", ["mm", "m", "Mm", "cm"], 3) == ["mm", "Mm"]
    assert alike("crnak", ["rod", "crank", "crane"], 2) == ["crank", "crane"]


def test_a_search_looks_at_no_more_names_than_its_budget_allows() -> None:
    drawn = 0

    def names() -> Iterator[str]:
        nonlocal drawn
        for drawn in range(10**7):
            yield f"name{drawn}"

    assert alike("nmae1", names()) == ["name1"]
    assert drawn <= LETTERS / 50


def test_all_guesses_for_a_file_together_take_what_one_may_take() -> None:
    known = [f"somebody{k}" for k in range(1000)]
    with few_guesses():
        said = [nearest(f"somebodi{k}", known) for k in range(1000)]
        with few_guesses():  # a file inside of another has no budget of its own
            assert nearest("somebodi1", known) == ""
    assert said[0] == "; did you mean 'somebody0'?"
    assert sum(map(bool, said)) * len(known) * 50 <= LETTERS
    assert nearest("somebodi1", known) == "; did you mean 'somebody1'?"


def test_names_that_are_listed_count_too() -> None:
    known = [f"{'x' * 3000}{k}" for k in range(16)]
    with few_guesses():
        said = [nearest(f"q{k}", known) for k in range(1000)]
    assert 0 < sum(map(len, said)) < 2 * LETTERS


def test_a_name_of_any_length_is_compared_with_none_that_would_take_long() -> None:
    assert alike("ab" * 10**6, ["ba" * 10**6]) == []
