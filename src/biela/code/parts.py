"""A listing cut into parts that a compiler digests one by one.

Compilers are slower than linear in the length of a function without branches, so a long listing
becomes several functions of bounded length.  Values that a later part needs go through numbered
slots of a work array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biela.code.listing import Entry, Listing, Statement
from biela.code.schedule import Step, split


@dataclass(frozen=True)
class Part:
    """A run of assignments and what it exchanges with the other parts."""

    statements: Sequence[Statement]
    entries: Sequence[Entry]
    symbols: frozenset[int]
    loads: Sequence[tuple[str, int]]  # name of an atom of an earlier part, its slot
    stores: Mapping[int, int]  # node that a later part needs -> its slot


def whole(listing: Listing) -> Part:
    """The listing as one part."""
    symbols = frozenset(listing.symbols)
    return Part(listing.statements, listing.entries, symbols, (), {})


def cut(listing: Listing, size: int) -> tuple[list[Part], int]:
    """Parts of about ``size`` assignments each, and the number of slots.

    Up to three times that size the listing stays whole, which is easier to read.  An entry of an
    output stands in the part in which the last atom it needs is computed.
    """
    if len(listing.statements) + len(listing.entries) <= 3 * size:
        return [whole(listing)], 0
    place = {s.node: k for k, s in enumerate(listing.statements)}
    names = {s.node: s.name for s in listing.statements}
    items: dict[int, Statement | Entry] = {s.node: s for s in listing.statements}
    reads = {s.node: listing.reads(s) for s in listing.statements}
    after: dict[int, list[int]] = {}
    beyond = max(place, default=0) + 1  # entries are numbered after all nodes
    for key, entry in enumerate(listing.entries, start=beyond):
        items[key], reads[key] = entry, listing.reads(entry)
        last = max((place[n] for n in reads[key].named), default=len(place) - 1)
        after.setdefault(last, []).append(key)
    steps: list[Step] = list(after.get(-1, []))
    for k, statement in enumerate(listing.statements):
        steps += [statement.node, *after.get(k, [])]

    def named(step: Step) -> Sequence[int]:
        assert isinstance(step, int)
        return reads[step].named

    pieces = split(listing.schedule, steps, size, named)
    parts = []
    for chunk in pieces.chunks:
        keys = [step for step in chunk.steps if isinstance(step, int)]
        found = [items[key] for key in keys]
        parts.append(
            Part(
                [item for item in found if isinstance(item, Statement)],
                [item for item in found if isinstance(item, Entry)],
                frozenset(s for key in keys for s in reads[key].symbols),
                [(names[node], slot) for node, slot in sorted(chunk.loads.items())],
                chunk.stores,
            )
        )
    return parts, pieces.slots
