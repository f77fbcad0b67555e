"""Compile all routines of biela into the code cache, before many processes ask for them.

Compiled routines are kept on disk and shared by all processes. Workers of a test run that start
together with nothing on disk meet the same routines at the same moment, and each compiles its own
copy. Here each is compiled once, after those that it calls, by as many processes as there are
cores.

    python tools/compile_ahead.py
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import biela
from biela.code.routines.language import Routine

Compiled = Routine[..., Any]


def routines() -> list[Compiled]:
    """The routines that stand in modules of the package, each once.

    Modules with numba functions of a fixed signature compile and keep them when they are imported.
    """
    found: dict[int, Compiled] = {}
    for module in pkgutil.walk_packages(biela.__path__, "biela."):
        if not module.name.endswith("__main__"):
            names = vars(importlib.import_module(module.name))
            found |= {id(value): value for value in names.values() if isinstance(value, Routine)}
    return list(found.values())


def levels(of: Iterable[Compiled]) -> list[list[Compiled]]:
    """Routines that call none, then those that call only these, and so on."""

    @cache
    def level(routine: Compiled) -> int:
        return max((1 + level(callee) for callee in routine.checked.routines), default=0)

    sorted_out: dict[int, list[Compiled]] = {}
    for routine in of:
        sorted_out.setdefault(level(routine), []).append(routine)
    return [sorted_out[number] for number in sorted(sorted_out)]


def compile_named(module: str, name: str) -> None:
    """Compile a routine for its one signature, which writes the files."""
    routine: Compiled = getattr(importlib.import_module(module), name)
    _ = routine.compiled


def main() -> None:
    found = routines()
    with ProcessPoolExecutor() as pool:
        for alike in levels(found):
            places = [(routine.__module__, routine.name) for routine in alike]
            list(pool.map(compile_named, *zip(*places, strict=True)))
    print(f"{len(found)} routines are compiled")


if __name__ == "__main__":
    main()
