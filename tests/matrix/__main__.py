"""All cells of the matrix: ``python -m tests.matrix``, or those whose names have some words."""

from __future__ import annotations

import sys
import time
import warnings

from biela.errors import BielaError
from tests.matrix.cells import AGREEMENT, every_cell, largest_difference, missing


def main(words: list[str]) -> int:
    """Try the cells, tell what differs; 1 if a cell is not as it is said to be."""
    wrong = tried = 0
    warnings.simplefilter("ignore")
    for cell in every_cell():
        title = ", ".join(cell)
        if not all(word in title for word in words):
            continue
        tried += 1
        began = time.perf_counter()
        try:
            difference, where = largest_difference(cell)
            said = "" if difference < AGREEMENT else f"{difference:.2g} in {where}"
        except (BielaError, TypeError, RuntimeError) as error:
            said = f"{type(error).__name__}: {error}"
        if bool(said) != bool(missing(cell)):
            wrong += 1
            took = time.perf_counter() - began
            print(f"{title} ({took:.1f} s): {said or 'can be had now'}", flush=True)
    print(f"{tried} cells, {wrong} not as they are said to be")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
