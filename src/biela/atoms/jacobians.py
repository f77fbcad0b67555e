"""Jacobian matrices of shared expressions.

Two ways of applying the chain rule (Griewank & Walther, *Evaluating Derivatives*, 2008, ch. 3):

- forward: the rate of every atom from the rates of its operands; one sweep an input;
- reverse: the adjoint of every atom from the adjoints of its users; one sweep an output.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from biela.atoms import opcodes as op
from biela.atoms.atom import Atom
from biela.atoms.differentiate import common_table, rate_of_atom, rate_of_ref, symbol_ref
from biela.atoms.partials import partials
from biela.atoms.substitute import transplant
from biela.atoms.symbols import Kind
from biela.atoms.table import Table
from biela.atoms.workspace import Workspace
from biela.errors import DomainError

Mode = Literal["auto", "forward", "reverse"]
#: Estimated operations up to which a Jacobian is accumulated both ways to see which is smaller.
_TRIED = 20_000
#: Nested cases, and sums of different ones, that an adjoint carries along.
_CASES = 6
_Way = Callable[[Table, list[int], list[int], list[int]], list[list[int]]]


def gradient(expression: Atom, symbols: Sequence[Atom]) -> list[Atom]:
    """The derivatives of one expression by many symbols, in one reverse sweep."""
    return jacobian([expression], symbols, mode="reverse").rows[0]


@dataclass(frozen=True)
class Jacobian:
    """The matrix d(outputs)/d(inputs), with its pattern of structural non-zeros."""

    rows: list[list[Atom]]
    #: Positions (row, column) that are not identically zero, row by row.
    pattern: list[tuple[int, int]]
    #: How it was accumulated.
    mode: Literal["forward", "reverse"]
    #: Numbers of rows and columns.
    shape: tuple[int, int]

    @property
    def nonzeros(self) -> list[Atom]:
        """The entries at the positions of the pattern."""
        return [self.rows[i][j] for i, j in self.pattern]


def jacobian(outputs: Sequence[Atom], inputs: Sequence[Atom], mode: Mode = "auto") -> Jacobian:
    """The Jacobian matrix of many expressions by many symbols.

    ``"auto"`` takes the way that makes fewer atoms: small functions are differentiated both ways
    on the side, of large ones the cost is estimated.
    """
    if mode not in ("auto", "forward", "reverse"):
        raise DomainError(f'mode={mode!r}: use "auto", "forward" or "reverse"')
    if not outputs or not inputs:
        return Jacobian([[] for _ in outputs], [], "forward", (len(outputs), len(inputs)))
    table = common_table(outputs)
    refs = [e.ref for e in outputs]
    seeds = [symbol_ref(table, s) for s in inputs]
    if len(set(seeds)) < len(seeds):
        raise DomainError("a symbol stands twice in the inputs of a Jacobian")
    live = table.live(refs)
    chosen: Literal["forward", "reverse"]
    if mode == "auto":
        chosen = _cheaper(table, live, refs, seeds)
    else:
        chosen = mode
    fill = _forward if chosen == "forward" else _reverse
    entries = fill(table, live, refs, seeds)
    rows = [[Atom(table, ref) for ref in row] for row in entries]
    pattern = [(i, j) for i, row in enumerate(entries) for j, ref in enumerate(row) if ref]
    return Jacobian(rows, pattern, chosen, (len(refs), len(seeds)))


def sparsity(outputs: Sequence[Atom], inputs: Sequence[Atom]) -> list[tuple[int, int]]:
    """Which outputs depend on which inputs, found without differentiating.

    A superset of the pattern of the Jacobian: an entry that cancels is still listed.
    """
    if not outputs:
        return []
    table = common_table(outputs)
    seeds = [symbol_ref(table, s) for s in inputs]
    masks = _input_masks(table, table.live(e.ref for e in outputs), seeds)
    return [
        (i, j)
        for i, e in enumerate(outputs)
        for j in range(len(seeds))
        if masks[abs(e.ref)] >> j & 1
    ]


# ------------------------------------------------------------------------------- ways


def _forward(table: Table, live: list[int], refs: list[int], seeds: list[int]) -> list[list[int]]:
    """Column by column, each over the atoms that depend on its input and no others."""
    moving: list[list[int]] = [[] for _ in seeds]
    for atom, mask in _input_masks(table, live, seeds).items():
        while mask:
            low = mask & -mask
            moving[low.bit_length() - 1].append(atom)
            mask ^= low
    columns = []
    for seed, atoms in zip(seeds, moving, strict=True):
        rates: defaultdict[int, int] = defaultdict(int, {seed: 1})
        for atom in atoms:
            if atom != seed:
                rates[atom] = rate_of_atom(table, atom, table.ops[atom], rates)
        columns.append([rate_of_ref(rates, ref) for ref in refs])
    return [[column[i] for column in columns] for i in range(len(refs))]


#: The cases under which an adjoint counts: pairs (condition, whether it holds), outermost first.
_Cases = tuple[tuple[int, bool], ...]


def _reverse(table: Table, live: list[int], refs: list[int], seeds: list[int]) -> list[list[int]]:
    """Row by row, from the output back to the inputs.

    An adjoint that passes a choice (select, min, max) counts in one case only.  It is multiplied
    on as if the case held, and the choice is made at the end: zero in the other case times an
    infinite slope there would be nan.  Beyond a few nested choices it is made on the way, or their
    number would explode.
    """
    masks = _input_masks(table, live, seeds)
    local: dict[int, list[tuple[int, int, _Cases]]] = {}
    rows = []
    for ref in refs:
        adjoint: dict[int, dict[_Cases, int]] = {abs(ref): {(): 1 if ref >= 0 else -1}}
        for atom in reversed(_below(table, abs(ref), masks)):
            bars = adjoint.get(atom)
            if not bars or table.ops[atom] <= op.SYMBOL:
                continue
            if atom not in local:
                local[atom] = [p for p in _shares(table, atom, masks) if masks[abs(p[0])]]
            for operand, partial, case in local[atom]:
                size = operand if operand >= 0 else -operand
                sums = adjoint.setdefault(size, {})
                for cases, bar in bars.items():
                    share = table.mul(bar, partial)
                    key = cases + case
                    sums[key] = table.add(sums.get(key, 0), share if operand >= 0 else -share)
                    if len(key) > _CASES or len(sums) > _CASES:
                        merged = _chosen(table, sums)
                        sums.clear()
                        sums[()] = merged
        rows.append([_chosen(table, adjoint.get(seed, {})) for seed in seeds])
    return rows


def _shares(table: Table, atom: int, masks: Mapping[int, int]) -> list[tuple[int, int, _Cases]]:
    """Operand, partial and the case in which the operand counts."""
    code, left, right = table.ops[atom], table.left[atom], table.right[atom]
    if code == op.SELECT:
        yes, no = table.operand_lists[right]
        return [(yes, 1, ((left, True),)), (no, 1, ((left, False),))]
    if code == op.MIN or code == op.MAX:
        first = table.less(left, right) if code == op.MIN else table.less(right, left)
        return [(left, 1, ((first, True),)), (right, 1, ((first, False),))]
    found = partials(table, atom, lambda r: bool(masks[abs(r)]))
    return [(operand, partial, ()) for operand, partial in found]


def _chosen(table: Table, bars: Mapping[_Cases, int]) -> int:
    total = 0
    for cases, bar in bars.items():
        for condition, holds in reversed(cases):
            bar = table.select(condition, bar, 0) if holds else table.select(condition, 0, bar)
        total = table.add(total, bar)
    return total


def _below(table: Table, root: int, masks: Mapping[int, int]) -> list[int]:
    """The atoms below a root that depend on any input, in order of evaluation."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        atom = stack.pop()
        if atom not in seen and masks[atom]:
            seen.add(atom)
            stack.extend([r if r >= 0 else -r for r in table.operands(atom)])
    return sorted(seen)


def _input_masks(table: Table, live: list[int], seeds: Sequence[int]) -> dict[int, int]:
    """For each atom a bit set of the inputs it depends on."""
    masks: dict[int, int] = {}
    bits = {seed: 1 << j for j, seed in enumerate(seeds)}
    for atom in live:
        mask = bits.get(atom, 0)
        for ref in table.operands(atom):
            mask |= masks[ref if ref >= 0 else -ref]
        masks[atom] = mask
    return masks


def _cheaper(
    table: Table, live: list[int], refs: list[int], seeds: list[int]
) -> Literal["forward", "reverse"]:
    forward, reverse = _estimates(table, live, refs, seeds)
    if forward + reverse <= _TRIED:
        forward, reverse = (_tried(table, live, refs, seeds, way) for way in (_forward, _reverse))
    return "forward" if forward <= reverse else "reverse"


def _tried(table: Table, live: list[int], refs: list[int], seeds: list[int], way: _Way) -> int:
    """How many atoms one way of differentiating needs, found in a table of its own."""
    scratch = Workspace(table.name).table
    leaves = {
        atom: scratch.add_symbol(table.symbols[atom].name, Kind.FREE)
        for atom in sorted({*seeds, *(a for a in live if table.ops[a] == op.SYMBOL)})
    }
    moved = transplant(table, refs, scratch, leaves)
    rows = way(scratch, scratch.live(moved), moved, [leaves[seed] for seed in seeds])
    needed = scratch.live(ref for row in rows for ref in row)
    return sum(scratch.ops[atom] > op.SYMBOL for atom in needed)


def _estimates(table: Table, live: list[int], refs: list[int], seeds: list[int]) -> tuple[int, int]:
    """The cost of both ways if nothing were shared.

    An atom carries forward as many rates as there are inputs it depends on, and backward as many
    adjoints as there are outputs that depend on it.
    """
    ins = _input_masks(table, live, seeds)
    outs: dict[int, int] = {}
    for i, ref in enumerate(refs):
        outs[abs(ref)] = outs.get(abs(ref), 0) | 1 << i
    forward = reverse = 0
    for atom in reversed(live):
        mask = outs.get(atom, 0)
        if not ins[atom]:
            continue
        code = table.ops[atom]
        for ref in table.operands(atom):
            size = abs(ref)
            if ins[size]:
                outs[size] = outs.get(size, 0) | mask
                # a sum only adds, everything else multiplies by its partial and adds
                weight = 1 if code == op.ADD else 2
                forward += weight * ins[size].bit_count()
                reverse += weight * mask.bit_count()
    return forward, reverse
