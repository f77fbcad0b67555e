"""Identifiers of exported code.

A function, array or symbol keeps its name where it can; where the language reserves it, or it
already means something else in the same file, it gets an underscore at the end.  Functions and
external functions come first, since others call them or supply them, then curves, then within each
function its arrays and its symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.external import ExternalFunction
from biela.atoms.piecewise import PiecewisePolynomial
from biela.code.function import Function
from biela.errors import ExportError

Spell = Callable[[str], str]

#: What the texts of curves and helper functions call their own things.
_CURVE_LOCALS: Final = frozenset({*"abckrsxy", "breaks", "rows", "row", "step", "count", "origin"})


class Names:
    """Identifiers given out so far; ``spell`` makes a name one that the language can write."""

    def __init__(self, taken: Iterable[str], spell: Spell) -> None:
        self.taken = set(taken)
        self.spell = spell

    def fresh(self, name: str, avoid: frozenset[str] = frozenset()) -> str:
        """An identifier that nothing else has."""
        name = self.spell(name)
        while name in self.taken or name in avoid:
            name += "_"
        self.taken.add(name)
        return name


class FileNames(Names):
    """What a file defines or calls: its functions, external functions and curves.

    ``reserved`` holds for all names, ``avoid`` for those of functions only.
    """

    def __init__(
        self,
        functions: Sequence[Function],
        reserved: Iterable[str],
        spell: Spell,
        avoid: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(reserved, spell)
        self._avoid = avoid
        self.functions: dict[str, str] = {}
        #: by name; what they are called here and their number of arguments
        self.externals: dict[str, tuple[str, int]] = {}
        self.curves: dict[tuple[object, ...], tuple[str, PiecewisePolynomial]] = {}
        for function in functions:
            if function.name in self.functions:
                raise ExportError(
                    f"two functions of the export are called {function.name}: rename one of them"
                )
            self.functions[function.name] = self.fresh(function.name, avoid)
        for function in functions:
            for external in externals_of(function):
                self._add_external(external)
        for function in functions:
            for curve in curves_of(function):
                if curve.key not in self.curves:
                    self.curves[curve.key] = self.fresh(curve.name, avoid | _CURVE_LOCALS), curve

    def _add_external(self, external: ExternalFunction) -> None:
        known = self.externals.get(external.name)
        if known is None:
            self.externals[external.name] = self.fresh(external.name, self._avoid), external.arity
        elif known[1] != external.arity:
            raise ExportError(
                f"the external function {external.name} takes {known[1]} arguments in one "
                f"function of the export and {external.arity} in another: rename one of them"
            )


class LocalNames(Names):
    """What stands inside one function: its arrays, its symbols, its atoms.

    With ``plain_scalars`` a scalar input is a number and not an array of one, so a symbol of the
    same name is that number.
    """

    def __init__(self, file: FileNames, function: Function, plain_scalars: bool) -> None:
        super().__init__(file.taken, file.spell)
        self.file = file
        self.function = file.functions[function.name]
        arrays = (*function.inputs, *function.outputs)
        self.arrays: dict[str, str] = {a.name: self.fresh(a.name) for a in arrays}
        self.symbols: dict[int, str] = {}
        for array in function.inputs:
            for ref in array.refs:
                name = function.table.symbols[ref].name
                same = plain_scalars and array.shape == () and name == array.name
                self.symbols[ref] = self.arrays[name] if same else self.fresh(name)

    def spelled_external(self, name: str) -> str:
        """What an external function is called in the file."""
        return self.file.externals[name][0]

    def prefix(self, wanted: str = "a") -> str:
        """What the names of atoms start with: no identifier is that and a number."""
        used = {name.rstrip("0123456789") for name in self.taken if name[-1].isdigit()}
        prefix = wanted
        while prefix in used:
            prefix = "atom" if prefix == "a" else prefix + "_"
        return prefix


def externals_of(function: Function) -> list[ExternalFunction]:
    """The external functions that a function calls, in order of first use."""
    table = function.table
    atoms = [a for a in function.schedule.operations if table.ops[a] == op.EXTERNAL]
    return [table.externals[i] for i in dict.fromkeys(table.left[a] for a in atoms)]


def curves_of(function: Function) -> list[PiecewisePolynomial]:
    """The splines and tables that a function calls, in order of first use."""
    table = function.table
    atoms = [a for a in function.schedule.operations if table.ops[a] == op.PIECEWISE]
    return [table.piecewise[i] for i in dict.fromkeys(table.right[a] for a in atoms)]
