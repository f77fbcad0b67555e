"""Equal parts of a function: operations that are the same for several sets of atoms.

A mechanism with six equal legs has equations in which the same operations stand six times, with
other symbols.  Wanted: *lanes*, maps from the atoms of the first part to those of each other part
that keep operations and operands.  They are grown from symbols that are used alike: a user of an
atom is matched with a user of its image that does the same with it, and then their other operands,
down to symbols.  Whatever is matched so is right; what an unlucky start does not find is only left
out.

Atoms are signed references, since a - b and b - a are one atom: the image of an atom may be the
opposite of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.table import Table

#: Images of the atoms of the first part in another one.
Images = dict[int, int]
#: Two references that have to be the same: one of the first part, one of the other.
Pair = tuple[int, int]
_COMMUTATIVE: Final = frozenset({op.MIN, op.MAX})
_COMPARISONS: Final = frozenset({op.LESS, op.LESS_EQUAL})
#: Deeper searches downwards are given up: what is above is then not matched from here.
_DEPTH: Final = 200


@dataclass(frozen=True)
class Graph:
    """What is matched.

    Attributes:
        table: Where the atoms are.
        users: For each atom, those that read it, in order.
        leaves: Atoms that are not looked into: symbols, and operations that are matched already.
        shapes: A number for each atom; only atoms with the same number are matched.
    """

    table: Table
    users: Mapping[int, Sequence[int]]
    leaves: frozenset[int]
    shapes: Mapping[int, int]


class Lanes:
    """Equal parts of a function, grown from a row of atoms, one of each part."""

    def __init__(self, graph: Graph, seed: Sequence[int]) -> None:
        self._graph = graph
        self.count = len(seed)
        self._images: list[Images] = [{} for _ in seed[1:]]
        self._taken: dict[int, Pair] = {}  # atom -> its lane, and its atom in the first
        self._waiting: list[int] = []
        first, *others = seed
        trials = [self._trial(lane) for lane in range(len(others))]
        for trial, atom in zip(trials, others, strict=True):
            trial.found[first] = atom
        if self._take(trials):
            self._grow()

    def row(self, atom: int) -> tuple[int, ...]:
        """An atom of the first part and its images, as signed references.

        An atom that is no part of a lane is the same in all of them.
        """
        return (atom, *(images.get(atom, atom) for images in self._images))

    def rows(self) -> list[tuple[int, ...]]:
        """The operations that stand once in every part, in order."""
        leaves = self._graph.leaves
        found = [self.row(atom) for atom in sorted(self._images[0]) if atom not in leaves]
        return [row for row in found if self._is_apart(row)]

    def _is_apart(self, row: Sequence[int]) -> bool:
        return len({abs(ref) for ref in row}) == self.count

    def _trial(self, lane: int) -> _Trial:
        return _Trial(self._graph, self._taken, self._images[lane], {})

    def _grow(self) -> None:
        users = self._graph.users
        while self._waiting:
            atom = heappop(self._waiting)
            for user in users.get(atom, ()):
                if user not in self._taken:
                    self._match(atom, user)

    def _match(self, atom: int, user: int) -> None:
        """Match a user of an atom with one of each of its images."""
        trials = []
        for lane in range(self.count - 1):
            trial = self._with_user(lane, atom, user)
            if trial is None:
                return
            trials.append(trial)
        self._take(trials)

    def _with_user(self, lane: int, atom: int, user: int) -> _Trial | None:
        shapes = self._graph.shapes
        for other in self._graph.users.get(abs(self._images[lane][atom]), ()):
            if shapes[other] != shapes[user] or other in self._taken or other == user:
                continue
            for ref in (other, -other):
                trial = self._trial(lane)
                if trial.unify(user, ref):
                    return trial
        return None

    def _take(self, trials: Sequence[_Trial]) -> bool:
        """Take over what was tried in all lanes, unless an atom would get two places."""
        fresh: dict[int, Pair] = {}
        atoms = {a for trial in trials for a in trial.found}
        for atom in atoms:
            row = (atom, *(abs(trial.image(atom)) for trial in trials))
            if not self._is_apart(row):
                continue  # shared between parts: it has no place in any
            for lane, member in enumerate(row):
                place = lane, atom
                if fresh.setdefault(member, place) != place:
                    return False
                if self._taken.get(member, place) != place:
                    return False
        self._taken |= fresh
        for trial in trials:
            trial.known.update(trial.found)
        for atom in atoms:
            if self._is_apart(self.row(atom)):
                heappush(self._waiting, atom)
        return True


@dataclass(frozen=True)
class _Trial:
    """Images in one lane that are tried, besides those that are known."""

    graph: Graph
    taken: Mapping[int, Pair]
    known: Images
    found: Images

    def image(self, atom: int) -> int:
        """Where an atom goes."""
        return self.found.get(atom, self.known.get(atom, atom))

    def unify(self, a: int, b: int, depth: int = 0) -> bool:
        """Whether a reference of the first part can be the same as one of the other."""
        if a < 0:
            a, b = -a, -b
        image = self.known.get(a, self.found.get(a))
        if image is not None:
            return image == b
        size = abs(b)
        shapes = self.graph.shapes
        if a == b:
            self.found[a] = b
            return True
        if shapes[a] != shapes[size] or depth > _DEPTH:
            return False
        if a in self.taken or size in self.taken:
            return False
        if a in self.graph.leaves:
            if b > 0 or self.graph.table.ops[a] == op.CONSTANT:
                self.found[a] = b
                return True
            return False
        before = dict(self.found)
        for pairs in _pairings(self.graph.table, a, size, 1 if b > 0 else -1):
            if all(self.unify(x, y, depth + 1) for x, y in pairs):
                self.found[a] = b
                return True
            self.found.clear()
            self.found.update(before)
        return False


def _pairings(table: Table, a: int, b: int, sign: int) -> Iterator[Sequence[Pair]]:
    """Ways in which two equal operations, the other with a sign, have the same operands."""
    code, l, x = table.ops[a], table.left[a], table.left[b]
    if code == op.ADD:
        r, x, y = table.right[a], sign * x, sign * table.right[b]
        yield (l, x), (r, y)
        yield (l, y), (r, x)
    elif code in (op.MUL, op.DIV):
        r, y = table.right[a], table.right[b]
        yield (l, x), (r, sign * y)
        yield (l, -x), (r, -sign * y)
        if code == op.MUL:
            yield (l, y), (r, sign * x)
            yield (l, -y), (r, -sign * x)
    elif code in op.ODD or (code == op.POWER_INT and table.right[a] % 2):
        yield ((l, sign * x),)
    elif sign < 0:
        return
    elif code in op.UNARY or code == op.POWER_INT:
        yield ((l, x),)
        if code in op.EVEN or code == op.POWER_INT:
            yield ((l, -x),)
    elif code in op.BINARY:
        r, y = table.right[a], table.right[b]
        yield (l, x), (r, y)
        if code in _COMMUTATIVE:
            yield (l, y), (r, x)
        if code in _COMPARISONS:  # a < b is -b < -a
            yield (l, -y), (r, -x)
    else:  # cases, and functions that are the same by their shape
        yield tuple(zip(table.operands(a), table.operands(b), strict=True))
