"""MATLAB and GNU Octave: one function file a function.

Vectors are columns and counted from 1; matrices are matrices.  Where the languages would answer
with a complex number (the root of a negative one, say) the result is NaN, as in all other targets.
External functions are called by name and have to be on the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.infix import LEAF, SUM, Fragment, enclosed, infix
from biela.atoms.piecewise import PiecewisePolynomial
from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.parts import whole
from biela.code.targets.description import describe, heading
from biela.code.targets.language import Draft, Language, wrapped
from biela.code.targets.names import FileNames

_RESERVED: Final = """
    break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor
    endfunction endif endswitch endwhile for function global if otherwise parfor persistent return
    spmd switch try until unwind_protect unwind_protect_cleanup while properties methods events
    enumeration arguments ans pi i j e eps inf nan Inf NaN NA true false nargin nargout varargin
    varargout zeros ones double sum floor fix abs sign sqrt sin cos tan asin acos atan atan2 exp
    log tanh min max power real imag size numel isempty error eval exist clear load save disp
"""
#: MATLAB cuts longer names off; this leaves room for underscores.
_LONGEST: Final = 58
_HELPERS: Final = {
    "biela_select": ("c, a, b", "c", "a", "b"),
    "biela_min": ("a, b", "a < b", "a", "b"),
    "biela_max": ("a, b", "a > b", "a", "b"),
    "biela_sqrt": ("x", "x < 0", "NaN", "sqrt(x)"),
    "biela_log": ("x", "x < 0", "NaN", "log(x)"),
    "biela_asin": ("x", "abs(x) > 1", "NaN", "asin(x)"),
    "biela_acos": ("x", "abs(x) > 1", "NaN", "acos(x)"),
    "biela_power": ("x, y", "x < 0 && y ~= fix(y)", "NaN", "x^y"),
}


def _case(name: str, arguments: str, condition: str, yes: str, no: str) -> str:
    lines = [f"function r = {name}({arguments})", f"    if {condition}", f"        r = {yes};"]
    return "\n".join([*lines, "    else", f"        r = {no};", "    end", "end", ""])


class Matlab(Language):
    """The language that MATLAB and Octave share."""

    comment = "%"
    first = 1
    brackets = ("(", ")")
    end = ";"
    continuation = " ..."
    reserved = frozenset([*_RESERVED.split(), *_HELPERS])
    helpers = {name: _case(name, *text) for name, text in _HELPERS.items()}  # noqa: RUF012
    skip_zeros = True
    functions = {  # noqa: RUF012 (a ClassVar of the base class)
        op.POWER: "biela_power",
        op.SQRT: "biela_sqrt",
        op.SIN: "sin",
        op.COS: "cos",
        op.TAN: "tan",
        op.ASIN: "biela_asin",
        op.ACOS: "biela_acos",
        op.ATAN: "atan",
        op.ATAN2: "atan2",
        op.EXP: "exp",
        op.LOG: "biela_log",
        op.TANH: "tanh",
        op.ABS: "abs",
        op.SIGN: "sign",
        op.MIN: "biela_min",
        op.MAX: "biela_max",
    }

    @staticmethod
    def spell(name: str) -> str:
        """Names start with a letter, and are not too long."""
        letters = name.lstrip("_")
        if not letters or letters[0].isdigit():
            letters = f"x{letters}"
        if letters != name:
            letters += "_"
        return letters[:_LONGEST]

    def truth(self, condition: Fragment) -> Fragment:
        """1 or 0 as a number."""
        return self.call("double", (condition,))

    def holds(self, value: Fragment) -> Fragment:
        """The condition that a number is not zero."""
        return infix(enclosed(value, SUM), " ~= ", Fragment("0.0", LEAF), 0)

    def select(self, condition: Fragment, a: Fragment, b: Fragment) -> Fragment:
        """There is no conditional expression: a local function."""
        return self.call("biela_select", (condition, a, b))

    def extent(self, name: str, array: ExpressionArray) -> str:
        """The array with its size; vectors are columns."""
        if len(array.shape) == 1:
            return f"{name} ({array.size} x 1)"
        return super().extent(name, array)


def source(function: Function) -> str:
    """The text of a function file."""
    file = FileNames([function], Matlab.reserved, Matlab.spell)
    draft = Draft.make(function, Matlab(file, function.table))
    name = draft.names.function
    lines = wrapped(
        f"function [{', '.join(draft.outputs)}] = {name}({', '.join(draft.inputs)})",
        "        ",
        Matlab.continuation,
    )
    about = [*heading(name, [function]), "", *describe(draft)]
    lines += [f"    % {line}".rstrip() for line in about]
    opening = []
    for output, array in zip(draft.outputs, function.outputs, strict=True):
        rows, columns = (*array.shape, 1, 1)[:2]
        opening.append(f"{output} = zeros({rows}, {columns});")
    lines += ["", *draft.body(whole(draft.listing), opening=opening), "end", ""]
    called = draft.language.called
    parts = ["\n".join(lines)]
    parts += [text for helper, text in Matlab.helpers.items() if helper in called]
    parts += [_curve(*named) for named in file.curves.values()]
    return "\n".join(parts)


def file_name(function: Function) -> str:
    """The name that a function has in its file, and which the file must have."""
    return FileNames([function], Matlab.reserved, Matlab.spell).functions[function.name]


def _curve(name: str, curve: PiecewisePolynomial) -> str:
    rows = zip(curve.origins, curve.coefficients, strict=True)
    lines = [
        f"function y = {name}(x)",
        f"    % {curve.name}: a piecewise cubic with {len(curve.breaks)} breakpoints",
        *wrapped(f"    breaks = [{_list(curve.breaks)}];", "        ", Matlab.continuation),
        "    rows = [",
        *(f"        {_list((origin, *row))}" for origin, row in rows),
        "    ];",
    ]
    if curve.period:
        shifted = f"x - ({curve.breaks[0]!r})"
        lines.append(f"    x = x - {curve.period!r}*floor(({shifted})/{curve.period!r});")
    lines += [
        "    c = rows(sum(breaks <= x) + 1, :);",
        "    s = x - c(1);",
        "    y = ((c(5)*s + c(4))*s + c(3))*s + c(2);",
        "end",
        "",
    ]
    return "\n".join(lines)


def _list(values: Iterable[float] | Sequence[float]) -> str:
    return ", ".join(repr(value) for value in values)
