"""The function of atoms: the only thing that is evaluated, differentiated, compiled or exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from biela.atoms import Atom, Workspace, jacobian
from biela.atoms import opcodes as op
from biela.atoms.evaluate import evaluate_refs
from biela.atoms.jacobians import Mode
from biela.atoms.substitute import transplant
from biela.atoms.symbols import Kind, checked_name
from biela.code.arrays import (
    Entries,
    ExpressionArray,
    checked_array,
    find_table,
    read_arrays,
    rows_of_states,
)
from biela.code.counts import Count
from biela.code.native import NativeFunction
from biela.code.schedule import Changes, Schedule
from biela.code.walking import WALKED, Walk, walkable
from biela.doors import door
from biela.errors import DomainError, ShapeError, WorkspaceError


class Function:
    """Named arrays of expressions as a function of named arrays of symbols.

    ``inputs`` and ``outputs`` map names to a symbol or expression, a list, or a list of rows.
    A function with several outputs computes what they share once (the *joint export*).

    >>> import biela as bl
    >>> ws = bl.Workspace("pendulum")
    >>> theta = ws.coordinate("theta")
    >>> g, l = ws.parameters("g l")
    >>> a = -g / l * bl.sin(theta)
    >>> f = bl.Function("acceleration", {"q": [theta], "p": [g, l]}, {"a": [a]})
    >>> f([0.5], [9.81, 1.0])
    array([-4.70316...])
    """

    @door(ShapeError, "Function")
    def __init__(
        self, name: str, inputs: Mapping[str, Entries], outputs: Mapping[str, Entries]
    ) -> None:
        self.name = checked_name(name)
        if not outputs:
            raise ShapeError(f"{name} has no outputs")
        self.table = find_table(inputs, outputs)
        self.inputs = read_arrays(self.table, inputs)
        self.outputs = read_arrays(self.table, outputs)
        self._check()

    def _check(self) -> None:
        names = [a.name for a in (*self.inputs, *self.outputs)]
        for name in names:
            checked_name(name)
            if names.count(name) > 1:
                raise ShapeError(f"{self.name}: two arrays are called {name}")
        symbols = self.table.symbols
        seen: dict[int, str] = {}
        for array in self.inputs:
            for ref in array.refs:
                if ref not in symbols:
                    raise DomainError(
                        f"{self.name}: input {array.name} holds {self.table.text(ref)}, "
                        f"which is not a symbol"
                    )
                if ref in seen:
                    raise DomainError(
                        f"{self.name}: the symbol {symbols[ref].name} stands in {seen[ref]} "
                        f"and again in {array.name}"
                    )
                seen[ref] = array.name
        missing = [
            symbols[a].name
            for a in self.schedule.live
            if self.table.ops[a] == op.SYMBOL and a not in seen
        ]
        if missing:
            raise DomainError(
                f"{self.name}: the outputs depend on {', '.join(missing)}, "
                f"which no input holds: add them to an input array"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Stored with its workspace and without its code, which is found again on disk."""
        return _restored, (self.name, self.workspace, self.inputs, self.outputs)

    @property
    def workspace(self) -> Workspace:
        """The workspace of the expressions."""
        return self.table.workspace

    @cached_property
    def schedule(self) -> Schedule:
        """The order of evaluation."""
        return Schedule(self.table, tuple(r for array in self.outputs for r in array.refs))

    @door(ShapeError)
    def expressions(self, name: str | None = None) -> Any:
        """The expressions of an output, nested as it is (of the only one, if not named)."""
        array = self._array(self.outputs, name)
        return array.nested([Atom(self.table, ref) for ref in array.refs])

    # ---------------------------------------------------------------- evaluation

    @cached_property
    def native(self) -> NativeFunction:
        """Native code, compiled on first use."""
        return self.compiled()

    def compiled(self, reproducible: bool = False) -> NativeFunction:
        """Native code of its own; ``reproducible`` fuses nothing, for the same bits everywhere.

        That holds for arithmetic, roots, sines and cosines; the rest is the machine's library.
        """
        return NativeFunction(self.name, self.schedule, self.inputs, self.outputs, reproducible)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Evaluate one state by native code; see `NativeFunction`."""
        return self.native.call(*arguments, **named)

    @door(ShapeError)
    def map(self, *arguments: Any, threads: int = 1) -> Any:
        """Evaluate many states, a vector of them at a time; see `NativeFunction.map`."""
        return self.native.map(*arguments, threads=threads)

    def walk(self, *arguments: Any) -> Any:
        """Evaluate one state as it is done a few times: nothing is compiled; see `walking`.

        The last digits may differ from those of native code.
        """
        return self._walk(*arguments)

    def walk_map(self, *arguments: Any) -> Any:
        """Evaluate many states likewise, with the arguments and results of `map`.

        So many states that code of its own is worth it are left to native code.
        """
        if not isinstance(self._walk, Walk):
            return self.map(*arguments)
        count, rows = rows_of_states(self.name, self.inputs, arguments)
        if count > WALKED:
            return self.map(*rows)
        found = self._walk.map(count, rows)
        return found[0] if len(found) == 1 else tuple(found)

    @cached_property
    def _walk(self) -> Walk | Function:
        """What walks the function; itself, where that needs code of its own."""
        if not walkable(self.schedule):
            return self
        return Walk(self.name, self.schedule, self.inputs, self.outputs)

    def interpret(self, *arguments: Any) -> Any:
        """Evaluate in plain Python: slow, of any numbers, and the reference for every other way."""
        if len(arguments) != len(self.inputs):
            raise ShapeError(
                f"{self.name} takes {len(self.inputs)} inputs, not {len(arguments)} arguments"
            )
        values: dict[int, Any] = {}
        for array, argument in zip(self.inputs, arguments, strict=True):
            try:
                entries = np.asarray(argument)
            except ValueError:  # told below
                entries = np.zeros(0)
            if not np.iscomplexobj(entries):
                entries = checked_array(self.name, array.name, argument, array.shape)
            values.update(zip(array.refs, entries.ravel(), strict=True))
        results = []
        for array in self.outputs:
            flat = np.array(evaluate_refs(self.table, array.refs, values))
            results.append(flat.reshape(array.shape)[()])
        return results[0] if len(results) == 1 else tuple(results)

    # ------------------------------------------------------------ other functions

    @door(ShapeError)
    def jacobian(
        self,
        of: str | None = None,
        by: str | Sequence[str] | None = None,
        mode: Mode = "auto",
        name: str | None = None,
    ) -> Function:
        """The function of the derivatives of an output by the entries of inputs.

        The result has one output, ``{of}_{by}``, a matrix with a row for each entry of the output
        and a column for each entry of the inputs ``by`` (all of them, if not named).
        """
        output = self._array(self.outputs, of)
        names = [by] if isinstance(by, str) else list(by or [a.name for a in self.inputs])
        symbols = [ref for n in names for ref in self._array(self.inputs, n).refs]
        matrix = jacobian(
            [Atom(self.table, r) for r in output.refs],
            [Atom(self.table, r) for r in symbols],
            mode,
        )
        suffix = f"{output.name}_{''.join(names)}"
        arrays = {a.name: a.nested([Atom(self.table, r) for r in a.refs]) for a in self.inputs}
        return Function(name or f"{self.name}_{suffix}", arrays, {suffix: matrix.rows})

    @property
    def sparsity(self) -> dict[str, list[tuple[int, ...]]]:
        """For each output the positions of the entries that are not identically zero."""
        return {
            a.name: [
                tuple(int(i) for i in np.unravel_index(k, a.shape)) if a.shape else ()
                for k, ref in enumerate(a.refs)
                if ref
            ]
            for a in self.outputs
        }

    def inline(self, *arguments: Entries) -> Any:
        """The outputs as expressions of other expressions, in the workspace of the arguments.

        This is the one way from one workspace to another.  Returns the output, or a tuple of them,
        as (lists of) atoms.
        """
        if len(arguments) != len(self.inputs):
            raise ShapeError(
                f"{self.name} takes {len(self.inputs)} inputs, not {len(arguments)} arguments"
            )
        named = {a.name: x for a, x in zip(self.inputs, arguments, strict=True)}
        try:
            target = find_table(named)
        except WorkspaceError:
            target = self.table  # numbers only
        given = read_arrays(target, named)
        mapping: dict[int, int] = {}
        for array, argument in zip(self.inputs, given, strict=True):
            if argument.shape != array.shape:
                raise ShapeError(
                    f"{self.name}: argument {array.name} has shape {argument.shape}, "
                    f"expected {array.shape}"
                )
            mapping.update(zip(array.refs, argument.refs, strict=True))
        refs = transplant(self.table, self.schedule.outputs, target, mapping)
        results, start = [], 0
        for array in self.outputs:
            part = refs[start : start + array.size]
            results.append(array.nested([Atom(target, r) for r in part]))
            start += array.size
        return results[0] if len(results) == 1 else tuple(results)

    def prepared(self, changes: Changes = Changes.WITH_PARAMETERS) -> Prepared:
        """Split off what stays constant over a run (or over a step, ``Changes.WITH_TIME``)."""
        return prepare(self, changes)

    # --------------------------------------------------------------------- export

    @cached_property
    def count(self) -> Count:
        """How much it computes, by both counting rules."""
        from biela.code.counts import count

        return count(self)

    def c(self, **options: Any) -> str:
        """C99 text; see `biela.code.targets.c99.source` for the options."""
        from biela.code.targets import c99

        return c99.source(self, **options)

    def matlab(self) -> str:
        """MATLAB and Octave text."""
        from biela.code.targets import matlab

        return matlab.source(self)

    def python(self) -> str:
        """Python text, with NumPy."""
        from biela.code.targets import python

        return python.source(self)

    def julia(self) -> str:
        """Julia text."""
        from biela.code.targets import julia

        return julia.source(self)

    def export(
        self, languages: str | Sequence[str], folder: str | Path, **options: Any
    ) -> list[Path]:
        """Write source files into a folder; see `biela.code.export.export`."""
        from biela.code.export import export

        return export([self], languages, folder, **options)

    # -------------------------------------------------------------------- display

    def __repr__(self) -> str:
        def spell(arrays: Sequence[ExpressionArray]) -> str:
            return ", ".join(
                f"{a.name}[{'x'.join(map(str, a.shape))}]" if a.shape else a.name for a in arrays
            )

        count = len(self.schedule.operations)
        return (
            f"Function {self.name}({spell(self.inputs)}) -> ({spell(self.outputs)}): {count} atoms"
        )

    def _array(self, arrays: Sequence[ExpressionArray], name: str | None) -> ExpressionArray:
        if name is None and len(arrays) == 1:
            return arrays[0]
        for array in arrays:
            if array.name == name:
                return array
        known = ", ".join(a.name for a in arrays)
        raise ShapeError(f"{self.name} has no array {name!r} there; it has {known}")


def _restored(
    name: str,
    workspace: Workspace,
    inputs: Sequence[ExpressionArray],
    outputs: Sequence[ExpressionArray],
) -> Function:
    def atoms(arrays: Sequence[ExpressionArray]) -> dict[str, Any]:
        return {a.name: a.nested([Atom(workspace.table, r) for r in a.refs]) for a in arrays}

    return Function(name, atoms(inputs), atoms(outputs))


@dataclass(frozen=True)
class Prepared:
    """A function in two parts: what is computed once, and what is computed every time.

    ``run`` takes the inputs of the original function and, last, the array ``held`` that
    ``prepare`` gives.
    """

    prepare: Function
    run: Function


def _fresh(name: str, taken: set[str]) -> str:
    """The name, with underscores if it is taken."""
    while name in taken:
        name += "_"
    return name


def prepare(function: Function, changes: Changes) -> Prepared:
    """Split a function at the atoms that change no faster than ``changes``.

    The atoms held are those of the slow part that the fast part reads (or that are outputs);
    symbols and numbers need no holding.
    """
    table, schedule = function.table, function.schedule
    speed = schedule.changes
    slow = {a for a in schedule.operations if speed[a] <= changes}
    read = {abs(r) for a in schedule.operations if a not in slow for r in table.operands(a)} | {
        abs(r) for r in schedule.outputs
    }
    held = sorted(slow & read)
    if not held:
        raise DomainError(
            f"{function.name}: nothing but symbols and numbers stays constant there, "
            f"so there is nothing to prepare"
        )
    ws = Workspace(f"{function.name}_run")
    target = ws.table
    mapping: dict[int, int] = {}
    arrays: dict[str, Any] = {}
    for array in function.inputs:
        for ref in array.refs:
            symbol = table.symbols[ref]
            mapping[ref] = target.add_symbol(symbol.name, symbol.kind)
        arrays[array.name] = array.nested([Atom(target, mapping[r]) for r in array.refs])
    taken = {a.name for a in (*function.inputs, *function.outputs)}
    taken |= {symbol.name for symbol in table.symbols.values()}
    array_name = _fresh("held", taken)
    names = [_fresh(f"{array_name}{i}", taken) for i in range(len(held))]
    symbols = [ws.symbol(name, Kind.PARAMETER) for name in names]
    mapping |= {atom: s.ref for atom, s in zip(held, symbols, strict=True)}
    refs = transplant(table, schedule.outputs, target, mapping)
    outputs, start = {}, 0
    for array in function.outputs:
        part = refs[start : start + array.size]
        outputs[array.name] = array.nested([Atom(target, r) for r in part])
        start += array.size
    slow_inputs = {
        array.name: array.nested([Atom(table, r) for r in array.refs])
        for array in function.inputs
        if any(speed.get(r, Changes.ALWAYS) <= changes for r in array.refs)
    }
    kept = [Atom(table, a) for a in held]
    return Prepared(
        Function(f"{function.name}_prepare", slow_inputs, {array_name: kept}),
        Function(f"{function.name}_run", {**arrays, array_name: symbols}, outputs),
    )
