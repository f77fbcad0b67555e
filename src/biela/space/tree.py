"""Trees by parents: what base trees and point trees have in common.

Down is towards the root, up towards the leaves.  Two nodes are on one branch if one is an ancestor
of the other.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

from biela.errors import DomainError


class Node(Protocol):
    """Anything with a parent and a depth."""

    @property
    def parent(self) -> Self | None:
        """The node below, None for the root."""

    @property
    def depth(self) -> int:
        """Number of steps down to the root."""


N = TypeVar("N", bound=Node)


def common_ancestor(a: N, b: N) -> N:
    """The node furthest from the root that is below both (or is one of them)."""
    while a is not b:
        if a.depth >= b.depth:
            a = _parent(a)
        else:
            b = _parent(b)
    return a


def branch(root: N, leaf: N) -> list[N]:
    """The nodes above ``root`` up to and including ``leaf``, in that order."""
    nodes: list[N] = []
    while leaf is not root:
        nodes.append(leaf)
        leaf = _parent(leaf)
    return nodes[::-1]


def _parent(node: N) -> N:
    if node.parent is None:
        raise DomainError(
            f"{node!r} and the other belong to two systems, or the one is not below the other"
        )
    return node.parent
