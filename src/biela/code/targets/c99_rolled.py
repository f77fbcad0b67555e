"""The body of a function in C99 with loops over its equal parts.

Single operations are assignments as elsewhere.  A loop over the parts of a family reads what
differs between them from arrays, and leaves what others need in arrays:

    for (int k = 0; k < 6; k++) {
      const double c1_1 = x[6 + 3*k];  // alpha1 … alpha6
      …
      w1_1[k] = …;
    }

The arrays are local and the numbers of rounds are constant, so that compilers run several parts
side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count

from biela.atoms import Workspace
from biela.atoms import opcodes as op
from biela.atoms.substitute import transplant
from biela.atoms.table import Table
from biela.code.arrays import ExpressionArray
from biela.code.listing import Listing
from biela.code.rolling import Family, Piece, Rolled
from biela.code.schedule import Schedule
from biela.code.targets.c99_notation import C99
from biela.code.targets.language import Draft, wrapped


class RolledBody:
    """Writes the body of a function whose operations are in pieces."""

    def __init__(self, draft: Draft, rolled: Rolled, language: Callable[[Table], C99]) -> None:
        assert isinstance(draft.language, C99), "a target of its own"
        self._draft, self._rolled, self._language_of = draft, rolled, language
        self._language: C99 = draft.language
        self._table = draft.function.table
        self._places = {
            ref: (draft.names.arrays[array.name], draft.language.index(array, position))
            for array in draft.function.inputs
            for position, ref in enumerate(array.refs)
        }
        #: Where values are: of single operations by atom, of rows by their first atom.
        self._values: dict[int, str] = {}
        self._arrays: dict[int, str] = {}
        self._symbols: set[int] = set()
        self._wanted = self._find_wanted()
        self._names: dict[str, tuple[Iterator[int], str]] = {}
        self._counter = draft.names.fresh("k")

    def lines(self) -> list[str]:
        """The lines of the body."""
        blocks = [
            self._single(number, piece) if piece.family is None else self._loop(number, piece)
            for number, piece in enumerate(self._rolled.pieces, start=1)
        ]
        outputs = ["// outputs", *self._outputs()]
        found: list[str] = []
        for block in ([*self._reads()], *blocks, outputs):
            if block:
                found += ["", *block] if found else block
        text = "\n".join(found)
        unused = [
            f"(void){self._draft.names.arrays[a.name]};"
            for a in self._draft.function.inputs
            if f"{self._draft.names.arrays[a.name]}[" not in text
        ]
        return [f"  {line}" if line else "" for line in (*unused, *found)]

    # -------------------------------------------------------------------------- what is read

    def _find_wanted(self) -> set[int]:
        """The atoms that are read outside the piece that computes them."""
        found = {abs(ref) for ref in self._rolled.schedule.outputs}
        for piece in self._rolled.pieces:
            for operand in self._cut(piece):
                found.update(abs(ref) for ref in self._members(piece.family, operand))
        return found

    def _cut(self, piece: Piece) -> list[int]:
        """The atoms a piece reads and does not compute; numbers only if each part has its own."""
        operands, ops = self._table.operands, self._table.ops
        read = {abs(r) for atom in piece.atoms for r in operands(atom)} - set(piece.atoms)
        moving = () if piece.family is None else piece.family.operands
        return sorted(a for a in read if ops[a] != op.CONSTANT or a in moving)

    @staticmethod
    def _members(family: Family | None, operand: int) -> Sequence[int]:
        return (operand,) if family is None else family.operands.get(operand, (operand,))

    def _text(self, ref: int) -> str:
        """A value outside a loop."""
        sign, atom = ("-", -ref) if ref < 0 else ("", ref)
        if self._table.ops[atom] == op.CONSTANT:
            return sign + self._language.number(self._table.values[atom]).text
        if self._table.ops[atom] == op.SYMBOL:
            self._symbols.add(atom)
            return sign + self._draft.names.symbols[atom]
        if atom in self._rolled.lanes:
            first, lane, side = self._rolled.lanes[atom]
            sign = "" if (side < 0) == (ref < 0) else "-"
            return f"{sign}{self._arrays[first]}[{lane}]"
        return sign + self._values[atom]

    def _reads(self) -> list[str]:
        lines = []
        for array in self._draft.function.inputs:
            for position, ref in enumerate(array.refs):
                if ref in self._symbols:
                    name = self._draft.names.arrays[array.name]
                    element = self._language.element(name, array, position)
                    lines += self._language.declare(self._draft.names.symbols[ref], element)
        return ["// inputs", *lines] if lines else []

    # ------------------------------------------------------------------------------- pieces

    def _listing(
        self, piece: Piece, number: int, roots: Sequence[int], names: dict[int, str]
    ) -> Listing:
        """The assignments of a piece; ``names`` are those of what it reads."""
        workspace = Workspace(self._draft.function.name)
        symbols = {a: workspace.symbol(f"s{a}").ref for a in names}
        refs = transplant(self._table, roots, workspace.table, symbols)
        language = self._language_of(workspace.table)
        spelled = {symbols[a]: text for a, text in names.items()}
        prefix = self._draft.names.prefix(f"a{number}_")
        outputs = [ExpressionArray("values", (len(refs),), tuple(refs))]
        listing = Listing(
            Schedule(workspace.table, tuple(refs)), outputs, language, spelled, prefix
        )
        self._language.called.update(language.called)
        return listing

    def _statements(self, listing: Listing) -> list[str]:
        declare = self._language.declare
        return [line for s in listing.statements for line in declare(s.name, s.text)]

    def _single(self, number: int, piece: Piece) -> list[str]:
        roots = [a for a in piece.atoms if a in self._wanted]
        lines: list[str] = []
        names = {atom: self._named(atom, number, lines) for atom in self._cut(piece)}
        listing = self._listing(piece, number, roots, names)
        lines += self._statements(listing)
        for atom, entry in zip(roots, listing.entries, strict=True):
            self._values[atom] = entry.text
            if not entry.text.isidentifier():
                self._values[atom] = self._name("v", number)
                lines += self._language.declare(self._values[atom], entry.text)
        return lines

    def _loop(self, number: int, piece: Piece) -> list[str]:
        family, k = piece.family, self._counter
        assert family is not None
        before: list[str] = []
        reads: list[str] = []
        names: dict[int, str] = {}
        for atom in self._cut(piece):
            if atom not in family.operands:
                names[atom] = self._named(atom, number, before)
                continue
            text, told = self._element(atom, family, number, before)
            names[atom] = self._name("c", number)
            lines = self._language.declare(names[atom], text)
            reads += [*lines[:-1], lines[-1] + told]
        lanes = self._rolled.lanes
        rows = {lanes[a][0] for a in self._wanted if a in lanes}
        roots = [a for a in piece.atoms if a in rows]
        listing = self._listing(piece, number, roots, names)
        writes = []
        for atom, entry in zip(roots, listing.entries, strict=True):
            array = self._arrays[atom] = self._name("w", number)
            writes += self._language.assign(f"{array}[{self._counter}]", entry.text)
        real = self._language.real
        arrays = ", ".join(f"{self._arrays[a]}[{family.count}]" for a in roots)
        inside = [*reads, *self._statements(listing), *writes]
        return [
            *wrapped(f"{real} {arrays};", "    "),
            *before,
            f"for (int {k} = 0; {k} < {family.count}; {k}++) {{",
            *(f"  {line}" for line in inside),
            "}",
        ]

    def _element(
        self, atom: int, family: Family, number: int, before: list[str]
    ) -> tuple[str, str]:
        """What a loop reads for an operand that is another one in each part, and a remark."""
        row = family.operands[atom]
        k, lanes = self._counter, self._rolled.lanes
        if all(lanes.get(abs(ref)) == (atom, n, 1 if ref > 0 else -1) for n, ref in enumerate(row)):
            return f"{self._arrays[atom]}[{k}]", ""
        places = [self._places.get(ref) for ref in row]
        found = [place for place in places if place is not None]
        if len(found) == len(row):
            names = {name for name, _ in found}
            first, step = found[0][1], found[1][1] - found[0][1]
            if len(names) == 1 and all(p == first + step * n for n, (_, p) in enumerate(found)):
                symbols = self._draft.names.symbols
                told = f"  // {symbols[row[0]]} to {symbols[row[-1]]}"
                index = f"{step}*{k}" if step != 1 else k
                return f"{names.pop()}[{f'{first} + ' if first else ''}{index}]", told
        name = self._name("g", number)
        entries = ", ".join(self._text(ref) for ref in row)
        real = self._language.real
        before += wrapped(f"const {real} {name}[{family.count}] = {{{entries}}};", "    ")
        return f"{name}[{k}]", ""

    def _outputs(self) -> list[str]:
        language, lines = self._language, []
        for array in self._draft.function.outputs:
            name = self._draft.names.arrays[array.name]
            order = sorted(range(array.size), key=lambda p: language.index(array, p))
            for position in order:
                target = language.target(name, array, position)
                lines += language.assign(target, self._text(array.refs[position]))
        return lines

    # -------------------------------------------------------------------------------- names

    def _named(self, atom: int, number: int, lines: list[str]) -> str:
        """A name for a value outside a loop, that it has or gets here."""
        text = self._text(atom)
        if text.isidentifier():
            return text
        name = self._name("c", number)
        lines += self._language.declare(name, text)
        return name

    def _name(self, letter: str, number: int) -> str:
        wanted = f"{letter}{number}_"
        if wanted not in self._names:
            self._names[wanted] = count(1), self._draft.names.prefix(wanted)
        numbers, prefix = self._names[wanted]
        return f"{prefix}{next(numbers)}"
