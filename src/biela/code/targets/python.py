"""Python with NumPy: a module that needs nothing of biela.

Inputs are array-like, outputs fresh arrays (numbers for scalars).  Axes beyond those of an input
are a batch: with q of shape (n, k) every output has a last axis of k states, so the same text
serves one state and many.  External functions are keyword arguments: ``f(q, mu=my_law)``.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Sequence
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.infix import Fragment
from biela.atoms.piecewise import PiecewisePolynomial
from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.parts import whole
from biela.code.targets.description import describe, heading
from biela.code.targets.language import WIDTH, Draft, Language, wrapped
from biela.code.targets.names import FileNames, externals_of

_CHECKED: Final = '''\
def _checked(name, value, shape):
    """The value as an array whose first axes have that shape; further axes are a batch."""
    array = np.asarray(value, dtype=float)
    if array.shape[: len(shape)] != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    return array
'''
_HELPERS: Final = {
    "_minimum": '''\
def _minimum(a, b):
    """The second unless the first is smaller."""
    return np.where(a < b, a, b)
''',
    "_maximum": '''\
def _maximum(a, b):
    """The second unless the first is larger."""
    return np.where(a > b, a, b)
''',
}


class Python(Language):
    """Python on NumPy's functions."""

    comment = "#"
    reserved = frozenset(
        [*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "_checked", *_HELPERS]
    )
    helpers = _HELPERS
    skip_zeros = True
    functions = {  # noqa: RUF012 (a ClassVar of the base class)
        op.POWER: "np.power",
        op.SQRT: "np.sqrt",
        op.SIN: "np.sin",
        op.COS: "np.cos",
        op.TAN: "np.tan",
        op.ASIN: "np.arcsin",
        op.ACOS: "np.arccos",
        op.ATAN: "np.arctan",
        op.ATAN2: "np.arctan2",
        op.EXP: "np.exp",
        op.LOG: "np.log",
        op.TANH: "np.tanh",
        op.ABS: "np.abs",
        op.SIGN: "np.sign",
        op.MIN: "_minimum",
        op.MAX: "_maximum",
    }

    def truth(self, condition: Fragment) -> Fragment:
        """1 or 0."""
        return self.select(condition, self.number(1), self.number(0))

    def select(self, condition: Fragment, a: Fragment, b: Fragment) -> Fragment:
        """Both values are computed, element by element one is taken."""
        return self.call("np.where", (condition, a, b))

    def target(self, name: str, array: ExpressionArray, position: int) -> str:
        """A scalar output is filled for the whole batch."""
        return self.element(name, array, position) if array.shape else f"{name}[...]"

    def assign(self, target: str, text: str) -> list[str]:
        """A long expression stands in parentheses, so that its lines can be broken."""
        line = f"{target} = {text}"
        if len(line) + len(self.indent) <= WIDTH:
            return [line]
        return wrapped(f"{target} = ({text})", self.indent)


def source(function: Function) -> str:
    """The text of a module with one function."""
    return module([function], function.name)


def module(functions: Sequence[Function], name: str) -> str:
    """The text of ``name.py`` with the functions."""
    file = FileNames(functions, Python.reserved, Python.spell)
    drafts = [Draft.make(f, Python(file, f.table)) for f in functions]
    called = {helper for draft in drafts for helper in draft.language.called}
    top = heading(f"{name}.py", functions)
    parts = ["\n".join(f"# {line}" for line in top) + "\n\nimport numpy as np\n"]
    if any(f.inputs for f in functions):
        parts.append(_CHECKED)
    parts += [text for helper, text in _HELPERS.items() if helper in called]
    parts += [_curve(*named) for named in file.curves.values()]
    parts += [_function(draft) for draft in drafts]
    return "\n\n".join(parts)


def _curve(name: str, curve: PiecewisePolynomial) -> str:
    columns = zip(*curve.coefficients, strict=True)
    rows = [list(curve.origins), *(list(column) for column in columns)]
    lines = [
        f"def {name}(x, breaks=np.array({list(curve.breaks)!r}), rows=np.array({rows!r})):",
        f'    """{curve.name}: a piecewise cubic with {len(curve.breaks)} breakpoints."""',
    ]
    lines[:1] = wrapped(lines[0], "        ")
    if curve.period:
        shifted = f"x - ({curve.breaks[0]!r})"
        lines.append(f"    x = x - {curve.period!r}*np.floor(({shifted})/{curve.period!r})")
    lines += [
        '    origin, c0, c1, c2, c3 = rows[:, np.searchsorted(breaks, x, side="right")]',
        "    s = x - origin",
        "    return ((c3*s + c2)*s + c1)*s + c0",
    ]
    return "\n".join(lines) + "\n"


def _function(draft: Draft) -> str:
    function, names = draft.function, draft.names
    external = [names.spelled_external(e.name) for e in externals_of(function)]
    parameters = ", ".join([*draft.inputs, *(["*", *external] if external else [])])
    lines = []
    if any(function.table.ops[a] == op.SELECT for a in function.schedule.operations):
        lines += [
            "# both values of a case are computed, and the one not taken may be out of range",
            '@np.errstate(divide="ignore", invalid="ignore", over="ignore")',
        ]
    lines += wrapped(f"def {names.function}({parameters}):", "        ")
    about = [f'"""{names.function}', "", *describe(draft), '"""']
    lines += [f"    {line}".rstrip() for line in about]
    batch = names.fresh("batch")
    shapes = []
    for name, array in zip(draft.inputs, function.inputs, strict=True):
        lines.append(f'    {name} = _checked("{array.name}", {name}, {array.shape!r})')
        shapes.append(f"{name}.shape[{len(array.shape)}:]" if array.shape else f"{name}.shape")
    lines += wrapped(f"    {batch} = np.broadcast_shapes({', '.join(shapes)})", "        ")
    opening, results = [], []
    for name, array in zip(draft.outputs, function.outputs, strict=True):
        size = f"({', '.join(map(str, array.shape))}, *{batch})" if array.shape else batch
        opening.append(f"{name} = np.zeros({size})")
        results.append(name if array.shape else f"{name}[()]")
    lines += ["", *draft.body(whole(draft.listing), opening=opening)]
    return "\n".join([*lines, f"    return {', '.join(results)}", ""])
