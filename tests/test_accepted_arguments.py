"""Doors never blame an argument that the code behind them takes.

Each call of the fuzzer is taken with each of its arguments in the other kinds that people have them
in: of numpy, whole numbers, tuples, views, paths.  Where the check of arguments has something to
say of such a call, the call itself must fail.
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from biela import doors
from tools.fuzz_doors import asked, calls, solver_calls

Kinds = Callable[[Any], Iterator[Any]]


def kinds(value: Any) -> Iterator[Any]:
    """A value in other kinds that every function takes; of its items, one at a time."""
    match value:
        case bool():
            yield np.bool_(value)
        case int():
            yield from (np.int64(value), np.uint8(abs(value)), np.array(value))
        case float():
            yield from (np.float64(value), np.float32(value), np.array(value))
            yield from (round(value), np.int32(round(value)))
        case str():
            yield np.str_(value)
        case dict():
            yield MappingProxyType(value)
            for key, item in value.items():
                yield from ({**value, key: other} for other in kinds(item))
        case list() | tuple():
            yield from (tuple(value), list(value))
            with suppress(ValueError):  # rows of several lengths
                array = np.array(value)
                yield array
                if array.dtype.kind in "if":
                    yield from (array.astype(np.float32), array.astype(np.int64))
            for k, item in enumerate(value):
                yield from ([*value[:k], other, *value[k + 1 :]] for other in kinds(item))


def odder(value: Any) -> Iterator[Any]:
    """A value in kinds that some functions take and others do not."""
    match value:
        case bool():
            yield int(value)
        case int():
            yield from (float(value), np.float64(value), True)
        case float():
            yield from (np.inf, -np.inf, repr(value), True)
        case str():
            yield Path(value)
        case dict():
            for key, item in value.items():
                yield from ({**value, key: other} for other in odder(item))
        case list() | tuple():
            yield from (iter(value), MappingProxyType({}))
            if all(isinstance(item, str) for item in value):
                yield from (set(value), dict.fromkeys(value).keys())
            for k, item in enumerate(value):
                yield from ([*value[:k], other, *value[k + 1 :]] for other in odder(item))


def variants(text: bytes, kinds: Kinds) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The arguments of a call, one of them in another kind."""
    _, _, bare, named = asked(text)
    for k, value in enumerate(bare):
        for other in kinds(value):
            yield [*bare[:k], other, *bare[k + 1 :]], named
    for name, value in named.items():
        for other in kinds(value):
            yield bare, {**named, name: other}


def blamed(text: bytes, kinds: Kinds, leniently: bool) -> list[str]:
    """What is said of arguments with which a call succeeds."""
    door = asked(text)[1]
    function: Any = getattr(door, "__func__", door)
    function = function.__init__ if inspect.isclass(function) else function
    inner = getattr(function, "__wrapped__", None)
    if inner is None:
        return []
    own = [None] if inspect.isclass(door) or hasattr(door, "__self__") else []
    found = []
    for bare, named in [asked(text)[2:], *variants(text, kinds)]:
        said = doors._misfit(inner, [*own, *bare], named, "", leniently)
        if not said:
            continue
        again = asked(text)[1]  # of a model that nothing was added to
        try:
            again(*bare, **named)
        except Exception:
            continue
        found.append(said)
    return found


@pytest.mark.parametrize("of", sorted({json.loads(c)["of"] for c in (*calls(), *solver_calls())}))
@pytest.mark.parametrize(("kinds", "leniently"), [(kinds, False), (odder, True)])
def test_no_argument_that_is_taken_would_be_blamed(
    kinds: Kinds, leniently: bool, of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found: set[str] = set()
    for text in (*calls(), *solver_calls()):
        if json.loads(text)["of"] == of:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.update(blamed(text, kinds, leniently))
    assert not found, "\n".join(sorted(found))
