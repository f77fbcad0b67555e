"""Which name may have been meant by one that is not known.

Two names are compared in the product of their lengths, and a file may have thousands of wrong names
beside thousands of right ones.  So one search, or all searches for one file together, compare
`LETTERS` pairs of letters and no more; what is wrong after that is still told, without a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches

from biela.budgets import LETTERS

__all__ = ["alike", "few_guesses", "nearest"]

#: Share of equal letters from which on one name may be meant by another.
_ALIKE = 0.65
#: What a comparison takes beside that of letters, in pairs of letters.
_EACH = 50
#: Names that are listed where none is like the wrong one.
_LISTED = 16
#: Pairs of letters that are left to the file that is being read; None if none is.
_left: ContextVar[list[int] | None] = ContextVar("_left", default=None)


@contextmanager
def few_guesses(letters: int | None = None) -> Iterator[None]:
    """Within it all searches together take what one alone may take.

    A reader that collects mistakes works within it.

    Args:
        letters: Pairs of letters, 0 where nobody will see the guesses; `LETTERS` unless given, or
            what is left to a file that names the one being read.
    """
    if letters is None and _left.get() is not None:
        yield
        return
    token = _left.set([LETTERS if letters is None else letters])
    try:
        yield
    finally:
        _left.reset(token)


def alike(name: str, known: Iterable[str], count: int = 1, share: float = 0.6) -> list[str]:
    """The names most like a wrong one, the nearest first; those that differ in case alone, if any.

    Args:
        name: The wrong one.
        known: Those there are.
        count: How many names at most.
        share: Equal letters that two names must have at least.
    """
    return _found(name, known, count, share, _budget())


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, or those there are.

    >>> nearest("Crnak", ["crank", "rod"]), nearest("x", ["crank", "rod"])
    ("; did you mean 'crank'?", '; there are: crank, rod')
    """
    left = _budget()
    if left[0] <= 0:
        return ""
    names = list(known)
    near = _found(name, names, 1, _ALIKE, left)
    if near:
        return f"; did you mean {near[0]!r}?"
    listed = ", ".join(names[:_LISTED])
    left[0] -= len(listed)
    return f"; there are: {listed}{' …' * (len(names) > _LISTED)}" if names else ""


def _budget() -> list[int]:
    left = _left.get()
    return [LETTERS] if left is None else left


def _found(name: str, known: Iterable[str], count: int, share: float, left: list[int]) -> list[str]:
    wrong = name.lower()
    names: dict[str, list[str]] = {}
    for other in known:
        price = _EACH + len(wrong) * len(other)
        if left[0] < price:
            break
        left[0] -= price
        names.setdefault(other.lower(), []).append(other)
    near = [wrong] if wrong in names else get_close_matches(wrong, names, count, share)
    return [other for key in near for other in names[key]][:count]
