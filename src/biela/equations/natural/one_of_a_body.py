"""Classes of places that are one, no two of them of one body.

Merging is that of disjoint sets, refused where two places of a body would be one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

__all__ = ["OneOfABody"]

Node = TypeVar("Node")


class OneOfABody(Generic[Node]):
    """Nodes in classes with at most one node of a body.

    Attributes:
        nodes: By number, in the order in which they were seen.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._parent: list[int] = []
        #: Bodies and nodes of each class; nodes of each body.
        self._bodies: list[set[Hashable]] = []
        self._members: dict[int, list[int]] = {}
        self._of: dict[Hashable, list[int]] = {}

    def enter(self, node: Node, body: Hashable) -> int:
        """The number of a new node of a body, in a class of its own."""
        number = len(self.nodes)
        self.nodes.append(node)
        self._parent.append(number)
        self._bodies.append({body})
        self._members[number] = [number]
        self._of.setdefault(body, []).append(number)
        return number

    def of(self, body: Hashable) -> list[int]:
        """The nodes of a body."""
        return list(self._of.get(body, ()))

    def root(self, k: int) -> int:
        """The class of a node: the number of the first node in it."""
        while self._parent[k] != k:
            self._parent[k] = self._parent[self._parent[k]]
            k = self._parent[k]
        return k

    def merge(self, a: int, b: int) -> bool:
        """Make two nodes one; refused if two of one body would be."""
        first, second = sorted((self.root(a), self.root(b)))
        if first == second:
            return True
        if self._bodies[first] & self._bodies[second]:
            return False
        self._parent[second] = first
        self._bodies[first] |= self._bodies[second]
        self._members[first] = sorted(self._members[first] + self._members.pop(second))
        return True

    def members(self, root: int) -> list[Node]:
        """The nodes of a class."""
        return [self.nodes[k] for k in self._members.get(root, ())]

    def classes(self) -> Iterator[tuple[int, list[Node]]]:
        """All classes with their nodes, in the order in which they were seen."""
        for root in self._members:
            yield root, self.members(root)
