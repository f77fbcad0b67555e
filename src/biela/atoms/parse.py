"""Expressions out of text.

The problem: a formula comes from a file or from a person, ``2*pi*t + 0.1*sin(3*t)``, and has to
become an atom.  The text is not trusted: nothing in it is executed, and whatever it holds, the
answer is an atom or an error that points at the place.  What
`biela.atoms.expanded_text` writes is read back as the same atom.

Reading has two steps.  The text is first turned into *steps* in postfix order, operands before
their operator, by operator precedence with an explicit stack (Dijkstra's shunting yard): depth is
no matter.  Only a text that is right as a whole is then built, so a faulty one declares nothing.

Grammar, loosest first: comparisons ``< <= > >=`` (one, not a chain), ``+ -``, ``* /``, signs,
``**`` or ``^`` (from the right: -x**2 is -(x**2), 2**-x is 2**(-x)), calls and parentheses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any, Final, NamedTuple

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.numbers import Number, number
from biela.atoms.symbols import Kind
from biela.atoms.table import Table
from biela.atoms.workspace import Workspace
from biela.errors import DomainError, ParseError
from biela.spelling import alike

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]++)
    |(?P<number>(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)
    |(?P<call>[A-Za-z_][A-Za-z0-9_]*+(?=[ \t\r\n]*+\())
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    |(?P<sign>\*\*|<=|>=|[-+*/^<>(),])""",
    re.VERBOSE,
)
#: Python itself reads no integer of more digits.
_LONGEST_NUMBER: Final = 4000

_COMPARE: Final = 1
_NEGATE: Final = 4
_POWER: Final = 5
_PRECEDENCE: Final = {
    "<": _COMPARE,
    "<=": _COMPARE,
    ">": _COMPARE,
    ">=": _COMPARE,
    "+": 2,
    "-": 2,
    "*": 3,
    "/": 3,
    "^": _POWER,
    "**": _POWER,
}

_COMPARISONS: Final = frozenset({"<", "<=", ">", ">="})
_CONSTANTS: Final = {"pi": math.pi}


class _Function(NamedTuple):
    """A function by the numbers of arguments it takes and what makes its atom."""

    least: int
    most: float
    build: Callable[[list[int]], int]


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


class _Step(NamedTuple):
    """One step of the postfix order: ``what`` is number, name, call, negate, group or a sign."""

    what: str
    value: Any = None
    arguments: int = 0


class _Pending(NamedTuple):
    """An operator that waits for its right operand, or an open parenthesis (precedence 0)."""

    precedence: int
    step: _Step
    position: int


def parse(workspace: Workspace, text: str, declare: Kind | None = None) -> Atom:
    """The expression written in ``text``.

    Names are the symbols of the workspace, its splines and external functions, the functions of
    `biela.atoms` (``select`` is also called ``if``), ``pi``, and ``t``, which is the time.
    With ``declare`` unknown names become symbols of that kind.  Integers and their quotients are
    exact, numbers with a point or an exponent are floats.

    >>> from biela.atoms import Kind, Workspace
    >>> ws = Workspace()
    >>> parse(ws, "a*sin(2*t) - t^2", declare=Kind.PARAMETER)
    a*sin(2*t) - t**2

    Raises:
        ParseError: If the text is no expression or has an unknown name; it points at the place.
        DomainError: If a number in it cannot be computed: ``1/0``, ``log(-1)``.
    """
    if not isinstance(text, str):
        raise DomainError(f"{text!r} is not text: an expression is written as a string")
    steps = _Reader(workspace.table, text, declare is not None).steps()
    try:
        return Atom(workspace.table, _build(workspace, steps, declare))
    except DomainError as error:
        shown = text if len(text) <= 80 else f"{text[:77]}..."
        raise DomainError(f'{error}, in "{shown}"') from None


class _Reader:
    """Turns a text into steps in postfix order."""

    def __init__(self, table: Table, text: str, declares: bool) -> None:
        self.table = table
        self.functions = _functions(table)
        self.text = text
        self.declares = declares
        self.result: list[_Step] = []
        self.pending: list[_Pending] = []
        #: Arguments begun so far of each open call; 0 for a plain parenthesis.
        self.counts: list[int] = []

    def steps(self) -> list[_Step]:
        previous: _Token | None = None
        operand_next = True
        for token in self._tokens():
            if operand_next:
                operand_next = self._operand(token, previous)
            else:
                operand_next = self._operator(token, previous)
            previous = token
        if operand_next:
            message = "the text ends where an operand should follow" if previous else "no text"
            raise ParseError(message, self.text, len(self.text))
        self._reduce(_COMPARE)
        if self.pending:
            raise ParseError("this parenthesis is not closed", self.text, self.pending[-1].position)
        return self.result

    def _tokens(self) -> Iterator[_Token]:
        text, position = self.text, 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise ParseError(_strange(text[position]), text, position)
            kind = match.lastgroup or ""
            if kind != "space":
                yield _Token(kind, match.group(), position)
            position = match.end()

    def _operand(self, token: _Token, previous: _Token | None) -> bool:
        """Take a token where an operand is due; whether one is still due after it."""
        kind, word, at = token
        if kind == "number":
            self.result.append(_Step("number", self._number(word, at)))
            return False
        if kind == "name":
            self._check_name(word, at)
            self.result.append(_Step("name", word))
            return False
        if kind == "call":
            self._check_function(word, at)
            self.pending.append(_Pending(0, _Step("call", word), at))
            self.counts.append(1)
            return True
        if word == "(":
            # that of a call has been opened with the name
            if previous is None or previous.kind != "call":
                self.pending.append(_Pending(0, _Step("("), at))
                self.counts.append(0)
            return True
        if word in "+-":
            if word == "-":
                self.pending.append(_Pending(_NEGATE, _Step("negate"), at))
            return True
        if word == ")" and previous is not None and previous.text == "(":
            raise ParseError("nothing stands between these parentheses", self.text, at)
        raise ParseError(f"an operand should stand before {word!r}", self.text, at)

    def _operator(self, token: _Token, previous: _Token | None) -> bool:
        """Take a token where an operator is due; whether an operand is due after it."""
        kind, word, at = token
        if word == ")":
            self._close(at)
            return False
        if word == ",":
            self._reduce(_COMPARE)
            if not self.counts or not self.counts[-1]:
                raise ParseError("a comma stands only between arguments", self.text, at)
            self.counts[-1] += 1
            return True
        if kind != "sign" or word == "(":
            raise ParseError(self._missing_operator(token, previous), self.text, at)
        precedence = _PRECEDENCE[word]
        # equal precedence is done from the left, except for powers
        self._reduce(precedence + (precedence == _POWER))
        if precedence == _COMPARE and self.result[-1].what in _COMPARISONS:
            raise ParseError("comparisons cannot be chained: write (a < b)*(b < c)", self.text, at)
        self.pending.append(_Pending(precedence, _Step(word), at))
        return True

    def _reduce(self, precedence: int) -> None:
        """Move the pending operators that bind at least so tightly to the result."""
        pending = self.pending
        while pending and pending[-1].precedence >= precedence:
            self.result.append(pending.pop().step)

    def _close(self, at: int) -> None:
        self._reduce(_COMPARE)
        if not self.pending:
            raise ParseError("this parenthesis was never opened", self.text, at)
        opened = self.pending.pop()
        count = self.counts.pop()
        if opened.step.what != "call":
            self.result.append(_Step("group"))
            return
        name = opened.step.value
        function = self.functions[name]
        if not function.least <= count <= function.most:
            exact = function.least == function.most
            wanted = f"{'' if exact else 'at least '}{function.least}"
            plural = "" if wanted == "1" else "s"
            raise ParseError(
                f"{name} takes {wanted} argument{plural}, not {count}", self.text, opened.position
            )
        self.result.append(_Step("call", function.build, count))

    # Names and numbers.

    def _number(self, word: str, at: int) -> Number:
        if len(word) > _LONGEST_NUMBER:
            raise ParseError(f"a number of {len(word)} characters", self.text, at)
        try:
            return number(int(word) if word.isdigit() else float(word))
        except DomainError:
            raise ParseError(
                "this number is outside the range of a double", self.text, at
            ) from None

    def _check_name(self, name: str, at: int) -> None:
        if name in _CONSTANTS or name == "t" or self.table.find_symbol(name):
            return
        if name in self.functions:
            raise ParseError(f"{name} is a function: write {name}(…)", self.text, at)
        if not self.declares:
            known = [symbol.name for symbol in self.table.symbols.values()]
            hint = _near(name, [*known, *_CONSTANTS])
            raise ParseError(f"unknown name {_shown(name)}{hint}", self.text, at)

    def _check_function(self, name: str, at: int) -> None:
        if name in self.functions:
            return
        if self.table.find_symbol(name):
            raise ParseError(
                f"{name} is a symbol, not a function: write {name}*(…) for a product", self.text, at
            )
        hint = _near(name, list(self.functions))
        raise ParseError(f"unknown function {_shown(name)}{hint}", self.text, at)

    def _missing_operator(self, token: _Token, previous: _Token | None) -> str:
        if previous is None or len(previous.text) + len(token.text) > 60:
            return "an operator is missing here"
        after = "(…)" if token.text == "(" else f"{token.text}(…)" * (token.kind == "call")
        before = previous.text if previous.text != ")" else "(…)"
        return f"an operator is missing: for a product write {before}*{after or token.text}"


# ------------------------------------------------------------------------------ building


def _build(workspace: Workspace, steps: list[_Step], declare: Kind | None) -> int:
    table = workspace.table
    binary: dict[str, Callable[[int, int], int]] = {
        "+": table.add,
        "-": table.sub,
        "*": table.mul,
        "/": table.div,
        "^": table.power,
        "**": table.power,
        "<": table.less,
        "<=": table.less_equal,
        ">": lambda a, b: table.less(b, a),
        ">=": lambda a, b: table.less_equal(b, a),
    }
    stack: list[int] = []
    for what, value, arguments in steps:
        if what == "number":
            stack.append(table.constant(value))
        elif what == "name":
            stack.append(_leaf(workspace, value, declare))
        elif what == "negate":
            stack[-1] = -stack[-1]
        elif what == "call":
            operands = stack[-arguments:]
            del stack[-arguments:]
            stack.append(value(operands))
        elif what != "group":
            right = stack.pop()
            stack[-1] = binary[what](stack[-1], right)
    return stack[0]


def _leaf(workspace: Workspace, name: str, declare: Kind | None) -> int:
    ref = workspace.table.find_symbol(name)
    if ref is not None:
        return ref
    if name in _CONSTANTS:
        return workspace.table.constant(_CONSTANTS[name])
    if name == "t" or declare is None:
        return workspace.time.ref
    if declare is Kind.COORDINATE:
        return workspace.coordinate(name).ref
    return workspace.symbol(name, declare).ref


# ------------------------------------------------------------------------------ names


def _functions(table: Table) -> dict[str, _Function]:
    """The functions by name: the built-in ones, splines and external functions."""
    select = _Function(3, 3, lambda x: table.select(*x))
    found = {
        "atan2": _Function(2, 2, lambda x: table.atan2(*x)),
        "min": _Function(2, math.inf, partial(reduce, table.minimum)),
        "max": _Function(2, math.inf, partial(reduce, table.maximum)),
        "select": select,
        "if": select,
    }
    for code in op.UNARY:
        found[op.NAMES[code]] = _Function(1, 1, partial(_unary, table, code))
    for index, curve in enumerate(table.piecewise):
        found[curve.name] = _Function(1, 1, partial(_at, table, index))
    for index, external in enumerate(table.externals):
        apply = partial(table.apply_external, index)
        found[external.name] = _Function(external.arity, external.arity, apply)
    return found


def _unary(table: Table, code: int, arguments: list[int]) -> int:
    return table.unary(code, arguments[0])


def _at(table: Table, curve: int, arguments: list[int]) -> int:
    return table.apply_piecewise(arguments[0], curve)


def _near(name: str, known: list[str]) -> str:
    """A hint of names like this one."""
    near = alike(name, known, 3)
    return f": did you mean {', '.join(near)}?" if near else ""


def _shown(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}..."


def _strange(character: str) -> str:
    if character == "=":
        return "an expression holds no =; conditions are written with <, <=, > and >="
    return f"the character {character!r} (U+{ord(character):04X}) is not part of an expression"
