"""Julia: plain functions, one that fills given arrays and one that makes them.

Indices start at 1, matrices are Julia's own, and nothing is said about types, so dual numbers and
single precision go through.  Where Julia would throw (the root of a negative number, say) the
result is NaN, as in all other targets.  A scalar output of ``f!`` is a Ref or an array of one.
External functions are called by name: define them where the file is included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.infix import Fragment
from biela.atoms.piecewise import PiecewisePolynomial
from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.parts import cut
from biela.code.targets.description import describe, heading
from biela.code.targets.language import Draft, Language, wrapped
from biela.code.targets.names import FileNames

#: Assignments in one function; inference and code generation are slower than linear.
PART_SIZE: Final = 500
_RESERVED: Final = """
    baremodule begin break catch const continue do else elseif end export false finally for
    function global if import in isa let local macro module mutable outer primitive public quote
    return struct true try type using where while abstract abs sign sqrt sin cos tan asin acos atan
    exp log tanh min max zero one zeros ones float round floor ifelse promote_type eltype
    searchsortedlast pi im NaN Inf Ref nothing missing typeof undef Base Core Main
"""
_HELPERS: Final = {
    "biela_min": ("a, b", "ifelse(a < b, a, b)"),
    "biela_max": ("a, b", "ifelse(a > b, a, b)"),
    "biela_sqrt": ("x", "x < 0 ? x*NaN : sqrt(x)"),
    "biela_log": ("x", "x < 0 ? x*NaN : log(x)"),
    "biela_asin": ("x", "abs(x) > 1 ? x*NaN : asin(x)"),
    "biela_acos": ("x", "abs(x) > 1 ? x*NaN : acos(x)"),
    "biela_power": ("x, y", "(x < 0 && y != round(y)) ? x*NaN : x^y"),
}


class Julia(Language):
    """Julia."""

    comment = "#"
    first = 1
    reserved = frozenset([*_RESERVED.split(), *_HELPERS])
    helpers = {n: f"{n}({a}) = {text}\n" for n, (a, text) in _HELPERS.items()}  # noqa: RUF012
    functions = {  # noqa: RUF012 (a ClassVar of the base class)
        op.POWER: "biela_power",
        op.SQRT: "biela_sqrt",
        op.SIN: "sin",
        op.COS: "cos",
        op.TAN: "tan",
        op.ASIN: "biela_asin",
        op.ACOS: "biela_acos",
        op.ATAN: "atan",
        op.ATAN2: "atan",
        op.EXP: "exp",
        op.LOG: "biela_log",
        op.TANH: "tanh",
        op.ABS: "abs",
        op.SIGN: "sign",
        op.MIN: "biela_min",
        op.MAX: "biela_max",
    }

    def truth(self, condition: Fragment) -> Fragment:
        """1 or 0 as a number."""
        return self.select(condition, self.number(1), self.number(0))

    def select(self, condition: Fragment, a: Fragment, b: Fragment) -> Fragment:
        """Both values are computed, without a branch."""
        return self.call("ifelse", (condition, a, b))

    def target(self, name: str, array: ExpressionArray, position: int) -> str:
        """A scalar output is what a reference holds."""
        return self.element(name, array, position) if array.shape else f"{name}[]"


def source(function: Function) -> str:
    """The text of a file with one function and its variant that fills arrays."""
    return file_text([function], function.name)


def file_text(functions: Sequence[Function], name: str) -> str:
    """The text of ``name.jl`` with the functions."""
    file = FileNames(functions, Julia.reserved, Julia.spell)
    drafts = [Draft.make(f, Julia(file, f.table)) for f in functions]
    called = {helper for draft in drafts for helper in draft.language.called}
    parts = ["\n".join(f"# {line}" for line in heading(f"{name}.jl", functions)) + "\n"]
    helpers = [text for helper, text in Julia.helpers.items() if helper in called]
    if helpers:
        parts.append("".join(helpers))
    parts += [_curve(file, *named) for named in file.curves.values()]
    for draft in drafts:
        parts += [_in_place(file, draft), _allocating(draft)]
    return "\n".join(parts)


def _curve(file: FileNames, name: str, curve: PiecewisePolynomial) -> str:
    breaks, rows = file.fresh(f"{name}_breaks"), file.fresh(f"{name}_rows")
    table = zip(curve.origins, curve.coefficients, strict=True)
    lines = [
        f"# {curve.name}: a piecewise cubic with {len(curve.breaks)} breakpoints",
        *wrapped(f"const {breaks} = [{_list(curve.breaks)}]", "    "),
        f"const {rows} = [",
        *(f"    ({_list((origin, *row))})," for origin, row in table),
        "]",
        f"function {name}(x)",
    ]
    if curve.period:
        shifted = f"x - ({curve.breaks[0]!r})"
        lines.append(f"    x = x - {curve.period!r}*floor(({shifted})/{curve.period!r})")
    lines += [
        f"    origin, c0, c1, c2, c3 = {rows}[searchsortedlast({breaks}, x) + 1]",
        "    s = x - origin",
        "    return ((c3*s + c2)*s + c1)*s + c0",
        "end",
        "",
    ]
    return "\n".join(lines)


def _in_place(file: FileNames, draft: Draft) -> str:
    names, inputs, outputs = draft.names, draft.inputs, draft.outputs
    head = f"{names.function}!({', '.join([*outputs, *inputs])})"
    about = [f"# {line}" for line in [head, *describe(draft)]]
    parts, slots = cut(draft.listing, PART_SIZE)
    if len(parts) == 1:
        body = draft.body(parts[0])
        return "\n".join([*about, *wrapped(f"function {head}", "        "), *body, *_END])
    work = names.fresh("w")
    lines, calls = [], []
    arrays = ", ".join([work, *outputs, *inputs])
    for number, part in enumerate(parts, start=1):
        inner = file.fresh(f"{names.function}_part{number}") + "!"
        lines += wrapped(f"function {inner}({arrays})", "        ")
        lines += [*draft.body(part, work), *_END]
        calls += wrapped(f"    {inner}({arrays})", "        ")
    make = f"    {work} = zeros({_type(draft)}, {slots})"
    lines += [*about, *wrapped(f"function {head}", "        "), make, *calls, *_END]
    return "\n".join(lines)


def _allocating(draft: Draft) -> str:
    inputs, outputs = draft.inputs, draft.outputs
    name, kind = draft.names.function, draft.names.fresh("T")
    lines = wrapped(f"function {name}({', '.join(inputs)})", "        ")
    lines += wrapped(f"    {kind} = {_type(draft)}", "        ")
    for array in draft.function.outputs:
        size = "".join(f", {n}" for n in array.shape)
        make = f"zeros({kind}{size})" if array.shape else f"Ref(zero({kind}))"
        lines.append(f"    {draft.names.arrays[array.name]} = {make}")
    lines += wrapped(f"    {name}!({', '.join([*outputs, *inputs])})", "        ")
    results = [
        n if a.shape else f"{n}[]" for n, a in zip(outputs, draft.function.outputs, strict=True)
    ]
    return "\n".join([*lines, f"    return {', '.join(results)}", "end", ""])


_END: Final = ["    return nothing", "end", ""]


def _type(draft: Draft) -> str:
    # an empty array may hold anything
    arrays = zip(draft.inputs, draft.function.inputs, strict=True)
    kinds = ", ".join(f"eltype({name})" for name, array in arrays if array.refs)
    return f"float(promote_type({kinds}))" if kinds else "Float64"


def _list(values: Iterable[float]) -> str:
    return ", ".join(repr(value) for value in values)
