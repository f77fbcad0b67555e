"""The symbolic Jacobian of a layout: which entries can be different from zero in any position.

It is found once, before anything moves, from the rows as they are written, with every fixed value
and parameter as a symbol: an entry that is zero by chance of the numbers counts.  Orderings work on
it, and it never changes in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from biela.atoms import Atom, Workspace, jacobian
from biela.equations.natural.drafting import Drafting
from biela.equations.natural.entities import RelativeCoordinate
from biela.equations.natural.kinds import Instance, Kind


@dataclass(frozen=True)
class JacobianPattern:
    """The pattern of Φ_q.

    Attributes:
        row_names: A name for each row, "owner.label".
        columns: A name for each coordinate.
        rows: For each row the columns of its entries.
        constant: Which rows have constant derivatives.
        relative: Columns that are relative coordinates: the hint REL.
        closure: Rows that close loops: the hint CLO.
    """

    row_names: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[frozenset[int], ...]
    constant: tuple[bool, ...]
    relative: frozenset[int]
    closure: frozenset[int]

    @property
    def entries(self) -> int:
        """How many entries there are."""
        return sum(len(row) for row in self.rows)

    def without(self, independent: Sequence[str]) -> JacobianPattern:
        """The pattern of the dependent columns, numbered anew: Φ_q^d."""
        gone = {self.columns.index(name) for name in independent}
        kept = [k for k in range(len(self.columns)) if k not in gone]
        number = {old: new for new, old in enumerate(kept)}
        return JacobianPattern(
            self.row_names,
            tuple(self.columns[k] for k in kept),
            tuple(frozenset(number[k] for k in row if k in number) for row in self.rows),
            self.constant,
            frozenset(number[k] for k in self.relative if k in number),
            self.closure,
        )


@lru_cache(maxsize=4096)
def row_pattern(
    kind: Kind, widths: tuple[int, ...], free: tuple[tuple[bool, ...], ...], parameters: int
) -> tuple[tuple[frozenset[tuple[int, int]], bool], ...]:
    """For each row of a kind its entries, as (part, component), and whether they are constant."""
    ws = Workspace("pattern")
    x = [[ws.symbol(f"x{i}_{k}") for k in range(n)] for i, n in enumerate(widths)]
    p = [ws.symbol(f"p{k}") for k in range(parameters)]
    t = ws.time
    rows = [ws.atom(row) for row in kind.rows(x, p, t)]
    places = {x[i][k].ref: (i, k) for i, n in enumerate(widths) for k in range(n) if free[i][k]}
    symbols = [Atom(ws.table, ref) for ref in places]
    slopes = jacobian(rows, symbols).rows if symbols else [[] for _ in rows]
    moving = {*places, t.ref}
    found = []
    for slope in slopes:
        entries = frozenset(
            places[symbol.ref] for symbol, e in zip(symbols, slope, strict=True) if e.ref
        )
        live = set(ws.table.live(e.ref for e in slope))
        found.append((entries, not live & moving))
    return tuple(found)


def instance_pattern(
    instance: Instance,
) -> tuple[tuple[frozenset[tuple[int, int]], bool], ...]:
    """The entries of the rows of a constraint."""
    return row_pattern(
        instance.kind,
        tuple(len(part.components) for part in instance.parts),
        tuple(part.free for part in instance.parts),
        len(instance.parameters),
    )


def layout_pattern(layout: Drafting) -> JacobianPattern:
    """The pattern of all constraints of a layout."""
    numbers = {q.ref: k for k, q in enumerate(layout.source.q)}
    names: list[str] = []
    rows: list[frozenset[int]] = []
    constant: list[bool] = []
    closure: set[int] = set()
    for instance in layout.instances:
        labels = instance.kind.labels(layout.dimension)
        for label, (entries, same) in zip(labels, instance_pattern(instance), strict=True):
            if instance.closure:
                closure.add(len(rows))
            names.append(f"{instance.owner}.{label}")
            places = (instance.parts[i].components[k].ref for i, k in entries)
            rows.append(frozenset(numbers[ref] for ref in places))
            constant.append(same)
    return JacobianPattern(
        tuple(names),
        tuple(layout.names.get(q.name, q.name) for q in layout.source.q),
        tuple(rows),
        tuple(constant),
        frozenset(
            numbers[entity.components[0].ref]
            for entity in layout.entities.values()
            if isinstance(entity, RelativeCoordinate) and entity.free[0]
        ),
        frozenset(closure),
    )
