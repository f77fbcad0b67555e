"""Arguments and result of a routine, from its annotations and the shapes given to `@routine`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from biela.code.routines.sizes import Size, SizeSyntaxError
from biela.code.routines.source import Source
from biela.code.routines.types import ArrayType, KernelType, Parameter, ScalarType, Type

__all__ = ["read_signature", "size_names"]

INT, REAL = ScalarType.INT, ScalarType.REAL


def read_signature(
    source: Source, shapes: Mapping[str, str]
) -> tuple[tuple[Parameter, ...], ScalarType | None]:
    """Read the arguments and the result of a routine from its annotations and stated shapes."""
    arguments = source.tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        source.fail(source.tree, "arguments are positional and have no defaults")
    result = {"Int": INT, "Real": REAL, "None": None}
    returned = _annotation(source.tree.returns)
    if returned not in result:
        source.fail(source.tree, "annotate the result: `-> Int`, `-> Real` or `-> None`")
    parameters = tuple(
        Parameter(a.arg, _parameter_type(source, a, shapes.get(a.arg)))
        for a in (*arguments.posonlyargs, *arguments.args)
    )
    names = {p.name for p in parameters}
    for name in shapes.keys() - names:
        source.fail(source.tree, f"a shape is given for '{name}', which is not an argument")
    integers = {p.name for p in parameters if p.type is INT}
    for name in sorted(size_names(parameters) - integers):
        source.fail(source.tree, f"size '{name}' is not an Int argument")
    return parameters, result[returned]


def _parameter_type(source: Source, argument: ast.arg, shape: str | None) -> Type:
    kind = _annotation(argument.annotation)
    name = argument.arg
    if kind in ("Int", "Real"):
        if shape is not None:
            source.fail(argument, f"'{name}' is a number and has no shape")
        return ScalarType(kind)
    if kind not in ("Vector", "Matrix", "IntVector", "Kernel"):
        source.fail(
            argument, f"annotate '{name}' as Int, Real, Vector, Matrix, IntVector or Kernel"
        )
    example = {"Matrix": "n, n", "Kernel": "n, m -> n"}.get(kind, "n")
    try:
        if kind == "Kernel":
            left, right = (shape or "").split("->")
            # a kernel that works in place, such as a looped program, has outputs only
            return KernelType(_sizes(left) if left.strip() else (), _sizes(right))
        element = INT if kind == "IntVector" else REAL
        array = ArrayType(element, _sizes(shape or ""))
        if len(array.shape) == (2 if kind == "Matrix" else 1):
            return array
    except (SizeSyntaxError, ValueError):
        pass
    source.fail(argument, f"state the sizes of '{name}': @routine({name}=\"{example}\")")


def _sizes(text: str) -> tuple[Size, ...]:
    return tuple(Size.parse(part) for part in text.split(","))


def _annotation(node: ast.expr | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Constant(value=value):
            return str(value)
    return ""


def size_names(parameters: tuple[Parameter, ...]) -> frozenset[str]:
    """Integer arguments that are, or enter, the size of an array."""
    found: set[str] = set()
    for p in parameters:
        if isinstance(p.type, ArrayType):
            found.update(*(size.names for size in p.type.shape))
        elif isinstance(p.type, KernelType):
            found.update(*(size.names for size in (*p.type.inputs, *p.type.outputs)))
    return frozenset(found)
