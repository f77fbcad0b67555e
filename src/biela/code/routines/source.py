"""The text of a routine: syntax tree, comments, and the names it finds outside itself."""

from __future__ import annotations

import ast
import builtins
import inspect
import io
import textwrap
import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any, NoReturn

from biela.errors import RoutineError

__all__ = ["Source", "read_source"]


@dataclass(frozen=True)
class Source:
    """A function's text as parsed, with line numbers of its file."""

    function: FunctionType
    file: str
    first_line: int
    text: str
    tree: ast.FunctionDef = field(repr=False)

    def fail(self, where: int | ast.AST, message: str) -> NoReturn:
        """Raise a `RoutineError` at a line of the file, or at a node."""
        line = where if isinstance(where, int) else getattr(where, "lineno", self.first_line)
        raise RoutineError(f"in routine '{self.tree.name}': {message}", self.file, line)

    @property
    def docstring(self) -> str:
        """The cleaned docstring, or an empty text."""
        return ast.get_docstring(self.tree) or ""

    @cached_property
    def comments(self) -> dict[int, tuple[str, bool]]:
        """Comments by line: the text after `#`, and whether it has the line to itself."""
        found: dict[int, tuple[str, bool]] = {}
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                own = token.line[: token.start[1]].strip() == ""
                line = token.start[0] + self.first_line - 1
                found[line] = (token.string.lstrip("#").strip(), own)
        return found

    def is_blank(self, line: int) -> bool:
        """Whether a line of the file is empty."""
        lines = self.text.split("\n")
        index = line - self.first_line
        return 0 <= index < len(lines) and not lines[index].strip()

    def outer(self, node: ast.expr) -> Any:
        """Value of a global, enclosing or built-in name, or of an attribute of one.

        Raises `LookupError` if there is no such thing.
        """
        if isinstance(node, ast.Attribute):
            value = self.outer(node.value)
            if not hasattr(value, node.attr):
                raise LookupError(ast.unparse(node))
            return getattr(value, node.attr)
        if not isinstance(node, ast.Name):
            raise LookupError(ast.unparse(node))
        if node.id in self.function.__code__.co_varnames:
            raise LookupError(f"{node.id} is local and has no value yet")
        cells = dict(
            zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True)
        )
        if node.id in cells:
            return cells[node.id].cell_contents
        if node.id in self.function.__globals__:
            return self.function.__globals__[node.id]
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
        raise LookupError(node.id)


def read_source(function: Callable[..., Any]) -> Source:
    """Find and parse the text of a function."""
    assert isinstance(function, FunctionType)
    file = function.__code__.co_filename
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        raise RoutineError(
            f"the text of routine '{function.__name__}' cannot be found; a routine is defined in "
            "a file, not typed at a prompt",
            file,
            function.__code__.co_firstlineno,
        ) from error
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text)
    ast.increment_lineno(tree, first - 1)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise RoutineError("a routine is a plain function made with `def`", file, first)
    return Source(function, file, first, text, definition)
