"""Runs the straight-line Julia that biela exports, on the syntax tree of tree-sitter.

Only what the exported text uses is understood: functions, assignments, indexing, arithmetic, cases
and a few functions of the language.  Anything else is an error, so the tests also show that nothing
else is used.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tree_sitter
import tree_sitter_julia
from tree_sitter import Node

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))


class _Returned(Exception):  # noqa: N818 (not an error)
    def __init__(self, value: Any) -> None:
        self.value = value


def _strict(function: Callable[..., float]) -> Callable[..., float]:
    """Julia throws where a result is not a real number; the exported text must avoid it."""

    def call(*values: float) -> float:
        result = float(function(*values))
        assert not math.isnan(result) or any(map(math.isnan, values)), (function, values)
        return result

    return call


def _log(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


def _zeros(kind: Any, *shape: int) -> np.ndarray:
    return np.zeros(shape)


BASE: dict[str, Any] = {
    **{name: _strict(getattr(math, name)) for name in ("sin", "cos", "tan", "asin", "acos")},
    **{name: _strict(getattr(math, name)) for name in ("sqrt", "exp", "tanh")},
    "atan": lambda *x: math.atan2(*x) if len(x) == 2 else math.atan(*x),
    "log": _strict(_log),
    "abs": abs,
    "sign": lambda x: float(np.sign(x)),
    "round": lambda x: float(round(x)),
    "floor": lambda x: float(math.floor(x)),
    "ifelse": lambda c, a, b: a if c is True else b,
    "searchsortedlast": bisect.bisect_right,
    "NaN": math.nan,
    "nothing": None,
    "eltype": lambda x: float,
    "promote_type": lambda *kinds: float,
    "float": lambda x: x,
    "zeros": _zeros,
    "zero": lambda kind: 0.0,
    "Ref": lambda x: np.array(x),
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: float(np.float64(a) / np.float64(b)),
    "^": lambda a, b: float(np.float64(a) ** np.float64(b)),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    "!=": lambda a, b: bool(a != b),
    "&&": lambda a, b: a and b,
}


class Julia:
    """A file that has been included; its functions are called by name."""

    def __init__(self, text: str, **functions: Any) -> None:
        # unlike Julia, this grammar takes 2.0*(x) for 2.0 times the call *(x), but 2.0* (x) not
        tree = _PARSER.parse(text.replace("*(", "* (").encode())
        assert not tree.root_node.has_error, "not Julia"
        self.globals: dict[str, Any] = {**BASE, **functions}
        for node in _children(tree.root_node):
            self._run(node, self.globals)

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self.globals[name]

    def _run(self, node: Node, names: dict[str, Any]) -> None:
        parts = _children(node)
        match node.type:
            case "function_definition":
                (signature,) = [p for p in parts if p.type == "signature"]
                self._define(_children(signature)[0], [p for p in parts if p != signature])
            case "const_statement":
                self._run(parts[0], names)
            case "assignment" if parts[0].type == "call_expression" and names is self.globals:
                self._define(parts[0], parts[-1:])
            case "assignment":
                self._assign(parts[0], self._value(parts[-1], names), names)
            case "return_statement":
                raise _Returned(self._value(parts[0], names))
            case "call_expression":
                self._value(node, names)
            case _:
                raise AssertionError(f"{node.type}: {_text(node)}")

    def _define(self, head: Node, body: list[Node]) -> None:
        name, arguments = _children(head)
        parameters = [_text(a) for a in _children(arguments)]

        def call(*values: Any) -> Any:
            names = dict(zip(parameters, values, strict=True))
            try:
                for statement in body[:-1]:
                    self._run(statement, names)
                if body[-1].type != "return_statement":
                    return self._value(body[-1], names)
                self._run(body[-1], names)
            except _Returned as result:
                return result.value

        self.globals[_text(name)] = call

    def _assign(self, target: Node, value: Any, names: dict[str, Any]) -> None:
        match target.type:
            case "identifier":
                names[_text(target)] = value
            case "open_tuple":
                for part, item in zip(_children(target), value, strict=True):
                    self._assign(part, item, names)
            case "index_expression":
                array, index = self._place(target, names)
                array[index] = value
            case _:
                raise AssertionError(f"{target.type}: {_text(target)}")

    def _place(self, node: Node, names: dict[str, Any]) -> tuple[Any, Any]:
        array, index = _children(node)
        places = [self._value(i, names) - 1 for i in _children(index)]
        assert all(p >= 0 for p in places), "indices start at 1"
        return self._value(array, names), places[0] if len(places) == 1 else tuple(places)

    def _value(self, node: Node, names: dict[str, Any]) -> Any:
        parts = _children(node)
        match node.type:
            case "integer_literal":
                return int(_text(node))
            case "float_literal":
                return float(_text(node))
            case "identifier":
                name = _text(node)
                return names[name] if name in names else self.globals[name]
            case "parenthesized_expression":
                return self._value(parts[0], names)
            case "unary_expression":
                assert _text(parts[0]) == "-"
                return -self._value(parts[1], names)
            case "binary_expression":
                left, sign, right = parts
                a = self._value(left, names)
                return _BINARY[_text(sign)](a, self._value(right, names))
            case "ternary_expression":
                condition = self._value(parts[0], names)
                assert isinstance(condition, bool)
                return self._value(parts[1] if condition else parts[2], names)
            case "call_expression":
                function, arguments = parts
                values = [self._value(a, names) for a in _children(arguments)]
                if function.type == "operator":  # -(x)
                    assert (_text(function), len(values)) == ("-", 1)
                    return -values[0]
                return self._value(function, names)(*values)
            case "index_expression":
                array, index = self._place(node, names)
                return array[index]
            case "vector_expression":
                return [self._value(p, names) for p in parts]
            case "tuple_expression" | "open_tuple":
                return tuple(self._value(p, names) for p in parts)
        raise AssertionError(f"{node.type}: {_text(node)}")


def _children(node: Node) -> list[Node]:
    return [c for c in node.named_children if c.type != "line_comment"]


def _text(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()
