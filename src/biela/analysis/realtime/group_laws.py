"""The laws of drivers in C: values and two rates at a time, where drivers read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biela.analysis.realtime.group_parts import GroupParts
from biela.analysis.realtime.text import _plain
from biela.atoms import Atom
from biela.code import Function
from biela.code.looped.places_text import table_text
from biela.equations.blocks.block import Block

__all__ = ["LawsText", "laws_text"]


@dataclass(frozen=True)
class LawsText:
    """Functions of laws, and the function ``laws_at`` that calls them."""

    functions: tuple[Function, ...]
    code: str


def laws_text(parts: GroupParts) -> LawsText:
    """The laws of a solver; nothing if it has no drivers."""
    n, size = len(parts.drivers), parts.solver.casts.laws.size
    if not n:
        return LawsText((), "")
    functions, tables, calls = [], [], []
    for number, block in enumerate(parts.laws):
        f = _renamed(block.kernel, f"laws_{number}")
        functions.append(f)
        tables += _tables(block, number)
        calls += _call(block, f, number)
    follows = [[str(d.law)] for d in parts.drivers]
    tables.append(
        table_text("static const int driver_law", follows, [_plain(d.name) for d in parts.drivers])
    )
    first = parts.groups.memory.size
    lines = [
        "// values, rates and second rates of drivers at time t by the laws of the model",
        "static void laws_at(double t, double *now) {",
        f"  double w[3][{size}];",
        *calls,
        f"  for (int i = 0; i < {n}; i++) {{",
        "    const int k = driver_law[i][0];",
        *(f"    now[{first + r * n} + i] = w[{r}][k];" for r in range(3)),
        "  }",
        "}",
        "",
    ]
    return LawsText(tuple(functions), "\n".join([*tables, *lines]))


def _renamed(f: Function, name: str) -> Function:
    def atoms(refs: tuple[int, ...]) -> list[Atom]:
        return [Atom(f.table, r) for r in refs]

    inputs = {a.name: atoms(a.refs) for a in f.inputs}
    return Function(name, inputs, {a.name: atoms(a.refs) for a in f.outputs})


def _tables(block: Block, number: int) -> list[str]:
    rows = block.parameters
    if not rows.shape[1]:
        return []
    texts = [[repr(float(x)) for x in row] for row in rows]
    return [table_text(f"static const double laws_{number}_p", texts, [""] * len(rows))]


def _call(block: Block, f: Function, number: int) -> list[str]:
    """Calls of a function for all its rows; its laws follow each other in w."""
    places = np.asarray(block.scatter["w"][1])
    count = len(block.parameters)
    places = places.reshape(count, -1)
    width = places.shape[1]
    if block.parameters.shape[1]:
        # one law of many instances, one place each
        at = f"{int(places[0, 0])} + k"
        outputs = ", ".join(f"w[{r}] + {at}" for r in range(3))
        return [
            f"  for (int k = 0; k < {count}; k++) {{",
            f"    {f.name}(&t, laws_{number}_p[k], {outputs});",
            "  }",
        ]
    lines = ["  {", f"    double v[3][{width}];", f"    {f.name}(&t, v[0], v[1], v[2]);"]
    for k, place in enumerate(places[0]):
        lines += [f"    w[{r}][{int(place)}] = v[{r}][{k}];" for r in range(3)]
    return [*lines, "  }"]
