"""The equal parts that save most: where to start looking for them, and which are kept.

Atoms get a colour: what they are, and then, round by round, the colours of what they read and of
what reads them.  After a few rounds the same symbol of each leg still has the same colour, and
another symbol of the legs another one.  So a start is all symbols of one colour; the shape of an
operation is made of the colours of its symbols.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from biela.atoms import opcodes as op
from biela.code.rolling.matching import Graph, Lanes
from biela.code.schedule import Schedule

#: Rounds of colours.  More tell the ends of a sum over the legs from its middle.
_ROUNDS: Final = 4
#: More parts than that are not written as one loop.
_MOST: Final = 1000
#: Starts that are tried for a round and a number of parts, and pairs of these that are looked at.
_STARTS: Final = 3
_PROMISING: Final = 4
#: A family has to save so many operations, or it is not worth a loop.
_LEAST: Final = 40

Key = tuple[Any, ...]
#: Operations whose operands may have changed places, with their signs.
_EITHER_WAY: Final = frozenset({op.ADD, op.MUL, op.MIN, op.MAX, op.LESS, op.LESS_EQUAL})


@dataclass(frozen=True)
class Family:
    """Equal parts.

    Attributes:
        count: How many parts there are.
        rows: Operations that stand once in every part: a signed reference for each.
        operands: For every operand of the first part its reference in each; one that is not named
            is the same for all.
    """

    count: int
    rows: tuple[tuple[int, ...], ...]
    operands: Mapping[int, tuple[int, ...]]

    @property
    def saved(self) -> int:
        """How many operations need not be written."""
        return (self.count - 1) * len(self.rows)


def families(schedule: Schedule) -> list[Family]:
    """The equal parts of a schedule: those that save most first, then those of what is left."""
    users: dict[int, list[int]] = defaultdict(list)
    for atom in schedule.operations:
        for size in dict.fromkeys(abs(r) for r in schedule.table.operands(atom)):
            users[size].append(atom)
    done: set[int] = set()
    found: list[Family] = []
    while True:
        left = {a: [u for u in us if u not in done] for a, us in users.items()}
        best = _best(schedule, left, done)
        if best is None:
            return found
        found.append(best)
        done.update(abs(ref) for row in best.rows for ref in row)


def _best(schedule: Schedule, users: Mapping[int, Sequence[int]], done: set[int]) -> Family | None:
    """The family that saves most."""
    best: Family | None = None
    for graph, seed in _starts(schedule, users, done):
        lanes = Lanes(graph, seed)
        family = _family(schedule, lanes)
        if family.saved >= _LEAST and (best is None or family.saved > best.saved):
            best = family
    return best


def _family(schedule: Schedule, lanes: Lanes) -> Family:
    rows = lanes.rows()
    table = schedule.table
    read = {abs(r) for row in rows for r in table.operands(row[0])}
    operands = {atom: lanes.row(atom) for atom in sorted(read)}
    moving = {a: row for a, row in operands.items() if any(ref != a for ref in row)}
    return Family(lanes.count, tuple(rows), moving)


def _starts(
    schedule: Schedule, users: Mapping[int, Sequence[int]], done: set[int]
) -> Iterator[tuple[Graph, tuple[int, ...]]]:
    """Rows of symbols to begin with, the most promising numbers of parts first."""
    table = schedule.table
    leaves = frozenset(a for a in schedule.live if table.ops[a] <= op.SYMBOL) | done
    operations = [a for a in schedule.operations if a not in done]
    promises: list[tuple[int, int]] = []
    graphs: list[Graph] = []
    classes: list[dict[int, list[int]]] = []
    colours = _first_colours(schedule, done)
    for number in range(_ROUNDS):
        colours = _next_colours(schedule, users, leaves, colours)
        graph = Graph(table, users, leaves, _shapes(schedule, leaves, colours))
        alike = Counter(graph.shapes[a] for a in operations)
        gained = Counter[int]()
        for size in alike.values():
            if 1 < size <= _MOST:
                gained[size] += size - 1
        promises += [(saved, number * (_MOST + 1) + count) for count, saved in gained.items()]
        by_colour: dict[int, list[int]] = defaultdict(list)
        for atom in schedule.live:
            if table.ops[atom] == op.SYMBOL and users.get(atom):
                by_colour[colours[atom]].append(atom)
        graphs.append(graph)
        classes.append(by_colour)
    tried: set[tuple[int, ...]] = set()
    for _, key in sorted(promises, reverse=True)[:_PROMISING]:
        number, count = divmod(key, _MOST + 1)
        seeds = [tuple(c) for c in classes[number].values() if len(c) == count]
        for seed in seeds[:_STARTS]:
            if seed not in tried:
                tried.add(seed)
                yield graphs[number], seed


def _first_colours(schedule: Schedule, done: set[int]) -> dict[int, int]:
    table, symbols = schedule.table, schedule.table.symbols
    kinds = {a: symbols[a].kind.value if a in symbols else None for a in schedule.live}
    return _numbered({a: (table.ops[a], kinds[a], a in done) for a in schedule.live})


def _next_colours(
    schedule: Schedule,
    users: Mapping[int, Sequence[int]],
    leaves: frozenset[int],
    colours: Mapping[int, int],
) -> dict[int, int]:
    operands = schedule.table.operands
    found: dict[int, Key] = {}
    for atom in schedule.live:
        read = () if atom in leaves else sorted(colours[abs(r)] for r in operands(atom))
        reading = sorted(colours[u] for u in users.get(atom, ()))
        found[atom] = (colours[atom], tuple(read), tuple(reading))
    return _numbered(found)


def _shapes(
    schedule: Schedule, leaves: frozenset[int], colours: Mapping[int, int]
) -> dict[int, int]:
    """A number that operations share if they are the same of symbols with the same colours."""
    table = schedule.table
    numbers: dict[Key, int] = {}
    found: dict[int, int] = {}
    for atom in schedule.live:
        code = table.ops[atom]
        key: Key
        if code == op.CONSTANT:  # whole numbers come from formulas, others from geometry
            value = table.values[atom]
            key = ("whole", value) if float(value).is_integer() else ("number",)
        elif atom in leaves:
            key = ("leaf", colours[atom])
        else:
            read = [found[abs(r)] for r in table.operands(atom)]
            if code in _EITHER_WAY:
                read.sort()
            key = (code, table.payload(atom), *read)
        found[atom] = numbers.setdefault(key, len(numbers))
    return found


def _numbered(keys: Mapping[int, Key]) -> dict[int, int]:
    """A number for each different key, in order of appearance."""
    numbers: dict[Key, int] = {}
    return {atom: numbers.setdefault(key, len(numbers)) for atom, key in keys.items()}
