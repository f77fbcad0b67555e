r"""Large expressions as LaTeX: the atoms they share, one a line, and the results in these.

What is used more than once gets a name, z_{1}, z_{2} …, and so does what would make a line too long
to read; all else is written in place.  Lines come in order of evaluation, as in a program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.infix import LEAF, Fragment
from biela.atoms.latex import signed, symbol_text, write_fragment
from biela.atoms.table import Table

#: Leaves and operations in one line at most, and in a result.
_LINE: Final = 30
_RESULT: Final = 7
#: Letters of the names; one is taken that no symbol of the expressions has.
_LETTERS: Final = ("z", "w", "h", r"\zeta", r"\xi", r"\chi")


@dataclass(frozen=True)
class LatexListing:
    """Names with what they stand for, in order of evaluation, and the results."""

    definitions: list[tuple[str, str]]
    results: list[str]


def latex_listing(expressions: Sequence[Atom]) -> LatexListing:
    r"""Several expressions of one workspace in LaTeX, sharing kept.

    >>> from biela.atoms import Workspace, sin
    >>> ws = Workspace()
    >>> x, y = ws.symbols("x y")
    >>> s = x + sin(y)
    >>> listing = latex_listing([s * x, s**2])
    >>> listing.definitions, listing.results
    ([('z_{1}', 'x + \\sin\\left(y\\right)')], ['x z_{1}', 'z_{1}^{2}'])
    """
    if not expressions:
        return LatexListing([], [])
    table = expressions[0].table
    refs = [table.workspace.atom(e).ref for e in expressions]
    live = table.live(refs)
    letter = next(_free_letters(table, live))
    uses = dict.fromkeys(live, 0)
    for atom in live:
        for ref in table.operands(atom):
            uses[abs(ref)] += 1
    for ref in refs:
        uses[abs(ref)] += 1
    results = {abs(ref) for ref in refs}
    definitions: list[tuple[str, str]] = []
    texts: dict[int, Fragment] = {}
    sizes: dict[int, int] = {}
    for atom in live:
        fragment = write_fragment(table, atom, texts)
        size = 1 + sum(sizes[abs(ref)] for ref in table.operands(atom))
        longest = _RESULT if atom in results else _LINE
        # conditions are no numbers to give a name to, and sin x is as short as a name
        nameable = size > 2 and table.ops[atom] not in (op.LESS, op.LESS_EQUAL)
        if nameable and (uses[atom] > 1 or size > longest):
            name = f"{letter}_{{{len(definitions) + 1}}}"
            definitions.append((name, fragment.text))
            fragment, size = Fragment(name, LEAF), 1
        texts[atom], sizes[atom] = fragment, size
    return LatexListing(definitions, [signed(texts, ref).text for ref in refs])


def _free_letters(table: Table, live: Sequence[int]) -> Iterator[str]:
    """Letters that begin no symbol; after the last one they are primed, as no symbol is."""
    taken = [symbol_text(table, atom) for atom in live if table.ops[atom] == op.SYMBOL]
    yield from (a for a in _LETTERS if not any(text.startswith(a) for text in taken))
    yield f"{_LETTERS[0]}'"
