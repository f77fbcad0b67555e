"""C99: one header and one source for any number of functions.

Every function is ``void f(const double *in0, …, double *out0, …)``: one pointer a named array, a
scalar is an array of one.  There is no allocation, no recursion, no state, and no dependency but
<math.h>.  Matrices are stored column by column unless asked for otherwise, and every entry is
written.  A long function is cut into static ones that share an array on the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from biela.atoms.table import Table
from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.parts import Part, cut
from biela.code.rolling import rolled
from biela.code.targets.c99_fixed import FixedWorkC99
from biela.code.targets.c99_names import RESERVED_FUNCTIONS
from biela.code.targets.c99_notation import C99, Order, Real, curve_text, helper_texts
from biela.code.targets.c99_rolled import RolledBody
from biela.code.targets.description import describe, heading
from biela.code.targets.language import Draft, wrapped
from biela.code.targets.names import FileNames
from biela.errors import ExportError

#: Assignments in one part of a long function, some 2500 operations; compilers take longer than in
#: proportion, and larger parts do not run faster.
PART_SIZE: Final = 500
#: Values passed between parts that may lie on the stack; more are kept in static memory.
STACK_SLOTS: Final = 16_384
#: What is said where they are.
SHARED_MEMORY: Final = "too large for the stack: one call at a time"

#: The least work, or the same in every state (`biela.code.targets.c99_fixed`).
Work = Literal["least", "fixed"]


def draft(function: Function) -> Draft:
    """The listing of one function."""
    names = _names([function])
    return Draft.make(function, C99(names, function.table))


def _names(functions: Sequence[Function], language: type[C99] = C99) -> FileNames:
    return FileNames(functions, language.reserved, language.spell, RESERVED_FUNCTIONS)


def source(
    function: Function,
    *,
    real: Real = "double",
    order: Order = "column",
    work: Work = "least",
) -> str:
    """One self-contained C text of a function: what the header says, then the code."""
    file = _File([function], real, order, work)
    top = [*_comment(heading(function.name, [function])), "", *file.includes(), ""]
    return "\n".join([*top, *file.helpers(), *file.declarations(), *file.definitions()])


def header_and_source(
    functions: Function | Sequence[Function],
    name: str | None = None,
    *,
    real: Real = "double",
    order: Order = "column",
    work: Work = "least",
) -> tuple[str, str]:
    """The texts of ``name.h`` and ``name.c`` with the functions."""
    several = [functions] if isinstance(functions, Function) else list(functions)
    name = name or several[0].name
    file = _File(several, real, order, work)
    guard = f"BIELA_{name.upper()}_H"
    how = "Outputs must not overlap inputs."
    if any(len(a.shape) == 2 for f in several for a in (*f.inputs, *f.outputs)):
        how += f" Matrices are stored {order} by {order}."
    header = [
        *_comment([*heading(f"{name}.h", several), "", how]),
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *file.declarations(),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif  // {guard}",
        "",
    ]
    # helpers stand before the header, whose names their arguments could otherwise hide
    body = [*_comment(heading(f"{name}.c", several)), "", *file.includes(), ""]
    body += [*file.helpers(), f'#include "{name}.h"', "", *file.definitions()]
    return "\n".join(header), "\n".join(body)


def static_text(
    functions: Sequence[Function],
    *,
    work: Work = "least",
    also: Sequence[str] = (),
    loops: bool = False,
) -> str:
    """The functions as static ones, for a file that includes <math.h> and <stdint.h> and has more.

    What they call comes first, with the helper functions ``also`` wanted.  With ``loops`` long
    functions go through equal parts in loops (`biela.code.rolling`).
    """
    file = _File(functions, "double", "column", work, static=True, loops=loops)
    return "\n".join([*file.helpers(also), *file.externals(), *file.definitions()])


class _File:
    """The functions of one file and what they share."""

    def __init__(
        self,
        functions: Sequence[Function],
        real: Real,
        order: Order,
        work: Work,
        static: bool = False,
        loops: bool = False,
    ) -> None:
        if real not in ("double", "float") or order not in ("column", "row"):
            raise ExportError(
                f'real={real!r}, order={order!r}: use "double" or "float", "column" or "row"'
            )
        if work not in ("least", "fixed") or (work, real) == ("fixed", "float"):
            raise ExportError(
                f'work={work!r}, real={real!r}: use "least", or "fixed" with "double"'
            )
        self.real: Real = real
        self.static, self.loops = static, loops
        self.language = C99 if work == "least" else FixedWorkC99
        self.names = _names(functions, self.language)
        self.order: Order = order
        self.drafts = [Draft.make(f, self._language(f.table)) for f in functions]

    def _language(self, table: Table) -> C99:
        return self.language(self.names, table, self.real, self.order)

    def includes(self) -> list[str]:
        """What the file includes."""
        return [f"#include {header}" for header in self.language.includes]

    def helpers(self, also: Sequence[str] = ()) -> list[str]:
        """The static functions that the others call, and the curves."""
        called = {name for draft in self.drafts for name in draft.language.called} | set(also)
        if self.names.curves:
            called.add("biela_curve")
        language, named = self.language, self.names.curves.values()
        if any(curve.period for _, curve in named) and language.floor in language.helpers:
            called.add(language.floor)
        curves = [curve_text(*one, self.real, language.floor) for one in named]
        return [*helper_texts(called, self.real, language.helpers), *curves]

    def externals(self) -> list[str]:
        """The prototypes of what somebody else supplies."""
        lines: list[str] = []
        for name, arity in self.names.externals.values():
            arguments = ", ".join([self.real] * arity)
            lines += ["// supplied by you", f"extern {self.real} {name}({arguments});", ""]
        return lines

    def declarations(self) -> list[str]:
        """The documented prototypes."""
        lines = self.externals()
        for draft in self.drafts:
            lines += _comment([draft.names.function, *describe(draft)])
            lines += [*_end(self._head(draft, draft.names.function), ";"), ""]
        return lines

    def definitions(self) -> list[str]:
        """The functions."""
        lines: list[str] = []
        for draft in self.drafts:
            parts, slots = cut(draft.listing, PART_SIZE)
            equal = rolled(draft.function.schedule) if self.loops else None
            if equal is not None:
                body = RolledBody(draft, equal, self._language).lines()
                lines += [*_end(self._head(draft, draft.names.function), " {"), *body, "}", ""]
            elif len(parts) == 1:
                lines += self._define(draft, draft.names.function, parts[0], "")
            else:
                lines += self._define_parts(draft, parts, slots)
        return lines

    def _define_parts(self, draft: Draft, parts: Sequence[Part], slots: int) -> list[str]:
        work, name = draft.names.fresh("w"), draft.names.function
        lines, calls = [], []
        arrays = ", ".join([*draft.names.arrays.values(), work])
        for number, part in enumerate(parts, start=1):
            inner = self.names.fresh(f"{name}_part{number}")
            lines += self._define(draft, inner, part, work)
            calls += wrapped(f"  {inner}({arrays});", "    ")
        head = _end(self._head(draft, name), " {")
        # one slot at least: C has no arrays of none
        room = f"  {self.real} {work}[{max(slots, 1)}];"
        if slots > STACK_SLOTS:
            room = f"  static {room.strip()}  // {SHARED_MEMORY}"
        return [*lines, *head, room, *calls, "}", ""]

    def _define(self, draft: Draft, name: str, part: Part, work: str) -> list[str]:
        unused = [
            f"  (void){draft.names.arrays[a.name]};"
            for k, a in enumerate((*draft.function.inputs, *draft.function.outputs))
            if not _is_used(part, a, k - len(draft.function.inputs))
        ]
        if work and not part.loads and not part.stores:
            unused.append(f"  (void){work};")
        head = self._head(draft, name, work)
        body = draft.body(_stored(draft, part), work)
        return [*_end(head, " {"), *unused, *body, "}", ""]

    def _head(self, draft: Draft, name: str, work: str = "") -> list[str]:
        names = draft.names.arrays
        parameters = [f"const {self.real} *{names[a.name]}" for a in draft.function.inputs]
        parameters += [f"{self.real} *{names[a.name]}" for a in draft.function.outputs]
        parameters += [f"{self.real} *{work}"] if work else []
        static = "static " if work or self.static else ""
        return wrapped(f"{static}void {name}({', '.join(parameters)})", "    ")


def _is_used(part: Part, array: ExpressionArray, output: int) -> bool:
    if output < 0:
        return any(ref in part.symbols for ref in array.refs)
    return any(entry.array == output for entry in part.entries)


def _stored(draft: Draft, part: Part) -> Part:
    """The part with its outputs in the order in which they lie in memory."""
    index, outputs = draft.language.index, draft.function.outputs
    entries = sorted(part.entries, key=lambda e: (e.array, index(outputs[e.array], e.position)))
    return Part(part.statements, entries, part.symbols, part.loads, part.stores)


def _end(lines: list[str], text: str) -> list[str]:
    return [*lines[:-1], lines[-1] + text]


def _comment(lines: Sequence[str]) -> list[str]:
    return [f"// {line}".rstrip() for line in lines]
