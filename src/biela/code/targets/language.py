"""What the text targets have in common: spelling, assignments, and the body of a function.

A target is a `Language`, which says how the language writes a number, a call, an element, an
assignment, and the text around the body.  The body is the same everywhere: the symbols that are
used are read from the input arrays, so that formulas read as on paper, then come the atoms, grouped
by how often they change, then the entries of the outputs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from biela.atoms import opcodes as op
from biela.atoms.infix import LEAF, SUM, Fragment, Notation, enclosed, infix
from biela.atoms.numbers import Number
from biela.atoms.table import Table
from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.listing import Listing
from biela.code.parts import Part
from biela.code.schedule import Changes
from biela.code.targets.names import FileNames, LocalNames

#: Lines are broken where this width is passed.
WIDTH: Final = 100
_BREAK: Final = re.compile(r"(?<=[-+,?:<]) ")
_BREAK_PRODUCT: Final = re.compile(r"(?<=[\w)][*/])(?=[\w(])")
_DEPENDS_ON: Final = {
    Changes.NEVER: "nothing",
    Changes.WITH_PARAMETERS: "parameters",
    Changes.WITH_TIME: "time",
    Changes.WITH_CONFIGURATION: "configuration",
    Changes.WITH_VELOCITY: "velocity",
    Changes.ALWAYS: "other inputs",
}


class Language(Notation):
    """How one language writes the body of a function; notes which helper functions it calls."""

    comment: ClassVar[str]
    #: what ends an assignment, what a broken line ends with, and the depth of a body
    end: ClassVar[str] = ""
    continuation: ClassVar[str] = ""
    indent: ClassVar[str] = "    "
    reserved: ClassVar[frozenset[str]]
    functions: ClassVar[Mapping[int, str]]
    #: definitions of the helper functions, by name
    helpers: ClassVar[Mapping[str, str]] = {}
    #: outputs start as zeros, so that zeros need not be written
    skip_zeros: ClassVar[bool] = False
    plain_scalars: ClassVar[bool] = True
    #: index of the first element of an array, and the brackets around it
    first: ClassVar[int] = 0
    brackets: ClassVar[tuple[str, str]] = ("[", "]")

    def __init__(self, file: FileNames, table: Table) -> None:
        self.file, self.table = file, table
        self.called: set[str] = set()

    @staticmethod
    def spell(name: str) -> str:
        """The name as the language can write it."""
        return name

    # ------------------------------------------------------------------------ expressions

    def number(self, value: Number) -> Fragment:
        """The shortest digits that give the same double."""
        return Fragment(repr(float(value)), LEAF)

    def call(self, name: str, arguments: Sequence[Fragment]) -> Fragment:
        """A call, noted if it is one of a helper function."""
        if name in self.helpers:
            self.called.add(name)
        return super().call(name, arguments)

    def function(self, code: int, arguments: Sequence[Fragment]) -> Fragment:
        """A function by the name it has in the language."""
        return self.call(self.functions[code], arguments)

    def power(self, base: Fragment, exponent: Fragment) -> Fragment:
        """A real power is a call everywhere: the operators differ in what they do below zero."""
        return self.function(op.POWER, (base, exponent))

    def holds(self, value: Fragment) -> Fragment:
        """The condition that a number is not zero."""
        return infix(enclosed(value, SUM), " != ", Fragment("0.0", LEAF), 0)

    def piecewise(self, index: int, x: Fragment) -> Fragment:
        """A curve is a function of the file."""
        return self.call(self.file.curves[self.table.piecewise[index].key][0], (x,))

    def external(self, name: str, arguments: Sequence[Fragment]) -> Fragment:
        """An external function by the name it has in the file."""
        return self.call(self.file.externals[name][0], arguments)

    # ------------------------------------------------------------------------- statements

    def index(self, array: ExpressionArray, position: int) -> int:
        """Where an entry, counted row by row, stands among the others of its array."""
        return position

    def element(self, name: str, array: ExpressionArray, position: int) -> str:
        """Entry ``position`` (row by row) of an array."""
        if not array.shape:
            return name
        start, (left, right) = self.first, self.brackets
        if len(array.shape) == 1:
            return f"{name}{left}{position + start}{right}"
        i, j = divmod(position, array.shape[1])
        return f"{name}{left}{i + start}, {j + start}{right}"

    def target(self, name: str, array: ExpressionArray, position: int) -> str:
        """The same as the left side of an assignment."""
        return self.element(name, array, position)

    def extent(self, name: str, array: ExpressionArray) -> str:
        """An array with its size, for comments."""
        size = " x ".join(map(str, array.shape))
        return f"{name} ({size})" if size else f"{name} (number)"

    def assign(self, target: str, text: str) -> list[str]:
        """The lines of an assignment."""
        return wrapped(f"{target} = {text}{self.end}", self.indent, self.continuation)

    def declare(self, name: str, text: str) -> list[str]:
        """The lines of an assignment to a new name."""
        return self.assign(name, text)


@dataclass(frozen=True)
class Draft:
    """A function in one language: its names, its listing, and the notation it was made with."""

    function: Function
    names: LocalNames
    language: Language
    listing: Listing

    @property
    def inputs(self) -> list[str]:
        """What the input arrays are called."""
        return [self.names.arrays[a.name] for a in self.function.inputs]

    @property
    def outputs(self) -> list[str]:
        """What the output arrays are called."""
        return [self.names.arrays[a.name] for a in self.function.outputs]

    @staticmethod
    def make(function: Function, language: Language) -> Draft:
        """Write the listing of a function."""
        names = LocalNames(language.file, function, language.plain_scalars)
        listing = Listing(
            function.schedule, function.outputs, language, names.symbols, names.prefix()
        )
        return Draft(function, names, language, listing)

    def body(self, part: Part, work: str = "", opening: Sequence[str] = ()) -> list[str]:
        """The lines of a part, without its head.

        ``work`` is the work array, ``opening`` makes the outputs.
        """
        blocks = [
            self._reads(part, work),
            *self._statements(part, work),
            self._writes(part, opening),
        ]
        lines: list[str] = []
        for block in blocks:
            if block:
                lines += ["", *block] if lines else block
        return [self.language.indent + line if line else "" for line in lines]

    def _comment(self, text: str) -> str:
        return f"{self.language.comment} {text}"

    def _reads(self, part: Part, work: str) -> list[str]:
        language, names = self.language, self.names
        lines = []
        for array in self.function.inputs:
            for position, ref in enumerate(array.refs):
                if ref in part.symbols:
                    element = language.element(names.arrays[array.name], array, position)
                    if element != names.symbols[ref]:
                        lines += language.declare(names.symbols[ref], element)
        for name, slot in part.loads:
            lines += language.declare(name, f"{work}[{slot + language.first}]")
        return [self._comment("inputs"), *lines] if lines else []

    def _statements(self, part: Part, work: str) -> list[list[str]]:
        """A block for each class of statements; what moves is one block unless it is sorted."""
        language = self.language
        fastest = max((s.changes for s in self.listing.statements), default=Changes.NEVER)
        blocks: list[list[str]] = []
        current: Changes | None = None
        for statement in part.statements:
            kind = statement.changes
            mixed = kind >= Changes.WITH_CONFIGURATION and not self.listing.is_sorted
            if mixed:
                kind = fastest
            if kind is not current:
                current = kind
                slower = "; what changes less often is marked" if mixed else ""
                blocks.append([self._comment(f"depends on: {_DEPENDS_ON[kind]}{slower}")])
            lines = language.declare(statement.name, statement.text)
            if statement.changes is not kind:
                lines[-1] += f"  {self._comment(_DEPENDS_ON[statement.changes])}"
            blocks[-1] += lines
            if statement.node in part.stores:
                slot = part.stores[statement.node]
                blocks[-1] += language.assign(f"{work}[{slot + language.first}]", statement.name)
        return blocks

    def _writes(self, part: Part, opening: Sequence[str]) -> list[str]:
        lines = list(opening)
        for entry in part.entries:
            if entry.ref or not self.language.skip_zeros:
                array = self.function.outputs[entry.array]
                name = self.names.arrays[array.name]
                target = self.language.target(name, array, entry.position)
                lines += self.language.assign(target, entry.text)
        return [self._comment("outputs"), *lines] if lines else []


def wrapped(line: str, indent: str, continuation: str = "") -> list[str]:
    """A line, broken after an operator where it is longer than the width."""
    lines = []
    room = WIDTH - len(indent) - len(continuation)
    while len(line) > room:
        cut = _cut(line, room)
        if cut is None:
            break
        lines.append(line[:cut].rstrip() + continuation)
        line = indent + line[cut:].lstrip()
    return [*lines, line]


def _cut(line: str, room: int) -> int | None:
    """Where to break a line: the last place that fits, else the first that there is."""
    for pattern in (_BREAK, _BREAK_PRODUCT):
        places = [m.end() for m in pattern.finditer(line) if line[: m.end()].strip()]
        fitting = [p for p in places if len(line) - len(line.lstrip()) + 8 < p <= room]
        if fitting:
            return fitting[-1]
    return None
