"""Where the C text of a routine declares its local names."""

from __future__ import annotations

import ast

__all__ = ["assigns", "declare"]


def assigns(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives a name its value."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target == name
    return False


def declare(body: list[ast.stmt], names: set[str], into: dict[ast.stmt, list[str]]) -> None:
    """Record, for each name, the statement of `body` before or at which C declares it.

    It is the first that uses the name, in the innermost block that holds all its uses.
    """
    for name in sorted(names):
        using = [s for s in body if _mentions(s, name)]
        if not using:
            continue
        first = using[0]
        blocks = [first.body, first.orelse] if isinstance(first, ast.If) else []
        if isinstance(first, ast.For):
            blocks = [first.body]
        inside = [block for block in blocks if any(_mentions(s, name) for s in block)]
        outside = isinstance(first, ast.If) and _mentions(first.test, name)
        outside = outside or (isinstance(first, ast.For) and _mentions(first.iter, name))
        if len(using) == 1 and len(inside) == 1 and not outside:
            declare(inside[0], {name}, into)
        else:
            into.setdefault(first, []).append(name)


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
