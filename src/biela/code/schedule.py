"""The order in which the atoms of a function are computed.

Inputs: the outputs of a function on a table of atoms.  Wanted: every atom that is needed, once,
after its operands; good locality; the sines and cosines of several angles in one vector
instruction; and for each atom how often its value can change.

The order is that of creation (ascending numbers): a recursion writes its atoms body by body, and
that locality is worth 15–30 % of the running time against a depth-first order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, partial
from itertools import pairwise

from biela.atoms import opcodes as op
from biela.atoms.symbols import Kind
from biela.atoms.table import Table

_TRIGONOMETRIC = frozenset({op.SIN, op.COS, op.TAN})


class Changes(IntEnum):
    """How often the value of an atom can change; an atom changes as its fastest operand."""

    NEVER = 0
    WITH_PARAMETERS = 1  # constant over a run
    WITH_TIME = 2  # constant over a step: the same for every state tried at that instant
    WITH_CONFIGURATION = 3
    WITH_VELOCITY = 4
    ALWAYS = 5  # accelerations, inputs, unknowns, free symbols


_CHANGES: dict[Kind, Changes] = {
    Kind.PARAMETER: Changes.WITH_PARAMETERS,
    Kind.TIME: Changes.WITH_TIME,
    Kind.COORDINATE: Changes.WITH_CONFIGURATION,
    Kind.VELOCITY: Changes.WITH_VELOCITY,
}


@dataclass(frozen=True)
class Pack:
    """Angles whose sines and cosines are computed together, and the atoms that gives."""

    angles: tuple[int, ...]
    sines: tuple[int, ...]  # atom of sin(angle), 0 where not needed
    cosines: tuple[int, ...]
    tangents: tuple[int, ...]

    @property
    def results(self) -> list[int]:
        """The atoms that the pack computes."""
        return [a for a in (*self.sines, *self.cosines, *self.tangents) if a]


#: A step of a schedule: an atom, or a pack of angles.
Step = int | Pack


@dataclass(frozen=True)
class Schedule:
    """The atoms of a function in order of evaluation."""

    table: Table
    outputs: tuple[int, ...]

    @cached_property
    def live(self) -> list[int]:
        """Every atom needed, leaves included, ascending."""
        return self.table.live(self.outputs)

    @cached_property
    def operations(self) -> list[int]:
        """Every atom needed that is not a leaf."""
        ops = self.table.ops
        return [a for a in self.live if ops[a] > op.SYMBOL]

    @cached_property
    def uses(self) -> dict[int, int]:
        """How many times each atom is read by other atoms and by outputs."""
        counts = dict.fromkeys(self.live, 0)
        for atom in self.operations:
            for ref in self.table.operands(atom):
                counts[abs(ref)] += 1
        for ref in self.outputs:
            counts[abs(ref)] += 1
        return counts

    @cached_property
    def changes(self) -> dict[int, Changes]:
        """How often each atom can change."""
        table = self.table
        found: dict[int, Changes] = {}
        for atom in self.live:
            code = table.ops[atom]
            if code == op.CONSTANT:
                found[atom] = Changes.NEVER
            elif code == op.SYMBOL:
                found[atom] = _CHANGES.get(table.symbols[atom].kind, Changes.ALWAYS)
            else:
                found[atom] = max(found[abs(r)] for r in table.operands(atom))
                if code == op.EXTERNAL:  # nobody promises that it is a pure function
                    found[atom] = max(found[atom], Changes.WITH_TIME)
        return found

    def packs(self, width: int) -> list[Pack]:
        """The angles in groups of at most ``width``, those of one depth together.

        The depth of an angle is the number of trigonometric functions it passes through; angles
        of one depth do not wait for each other.
        """
        table = self.table
        by_angle: dict[int, list[int]] = {}
        for atom in self.operations:
            if table.ops[atom] in _TRIGONOMETRIC:
                by_angle.setdefault(table.left[atom], []).append(atom)
        if not by_angle:
            return []
        depths = self._depths()
        by_depth: dict[int, list[int]] = {}
        for angle in by_angle:
            by_depth.setdefault(depths[angle], []).append(angle)
        packs = []
        for depth in sorted(by_depth):
            angles = by_depth[depth]
            for start in range(0, len(angles), width):
                group = tuple(angles[start : start + width])
                picks = [
                    tuple(
                        next((a for a in by_angle[angle] if table.ops[a] == code), 0)
                        for angle in group
                    )
                    for code in (op.SIN, op.COS, op.TAN)
                ]
                packs.append(Pack(group, *picks))
        return packs

    def _depths(self) -> dict[int, int]:
        table = self.table
        depths: dict[int, int] = {}
        for atom in self.live:
            depth = max((depths[abs(r)] for r in table.operands(atom)), default=0)
            depths[atom] = depth + (table.ops[atom] in _TRIGONOMETRIC)
        return depths

    def steps(self, width: int) -> list[Step]:
        """The order of evaluation with the angles packed; leaves are left out.

        A pack stands where its first result is needed; what its other angles depend on is moved
        before it.
        """
        ops = self.table.ops
        pack_of = {atom: pack for pack in self.packs(width) for atom in pack.results}
        done: set[int] = set()
        steps: list[Step] = []
        for wanted in self.live:
            stack = [wanted]
            while stack:
                atom = stack[-1]
                if atom in done or ops[atom] <= op.SYMBOL:
                    stack.pop()
                    continue
                unit: Step = pack_of.get(atom, atom)
                missing = [a for a in _reads(self.table, unit) if a not in done]
                if missing:  # angles of the pack, or what they depend on: other packs, too
                    stack += reversed(missing)
                    continue
                steps.append(unit)
                done.update(_writes(unit))
        return steps


@dataclass(frozen=True)
class Chunk:
    """A run of steps compiled as one function, and the values it exchanges with the others."""

    steps: tuple[Step, ...]
    loads: Mapping[int, int]  # atom -> slot, values made by earlier chunks
    stores: Mapping[int, int]  # atom -> slot, values that later chunks need


@dataclass(frozen=True)
class Split:
    """A schedule in chunks of bounded size, with spilled values in numbered slots."""

    chunks: list[Chunk]
    slots: int


def split(
    schedule: Schedule,
    steps: Sequence[Step],
    size: int,
    reads: Callable[[Step], Sequence[int]] | None = None,
) -> Split:
    """Cut a schedule into chunks of about ``size`` steps, each where fewest values are alive.

    Compiling one block costs more than linearly in its length.  Slots are given out by linear
    scan: a slot is free again after the last chunk that reads it.  ``reads`` gives the values that
    a step reads, where these are not the operands of its atom.
    """
    reads = reads or partial(_reads, schedule.table)
    if len(steps) <= size + size // 2:
        return Split([Chunk(tuple(steps), {}, {})], 0)
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for position, step in enumerate(steps):
        for atom in reads(step):
            last[atom] = position
        for atom in _writes(step):
            made[atom] = position
    # pressure[p]: values alive between step p - 1 and step p
    change = [0] * (len(steps) + 2)
    for atom, start in made.items():
        change[start + 1] += 1
        change[last.get(atom, start) + 1] -= 1
    pressure, alive = [], 0
    for delta in change:
        alive += delta
        pressure.append(alive)
    cuts = _cuts(pressure, len(steps), size)
    chunk_of = [0] * len(steps)
    for number, (start, stop) in enumerate(pairwise(cuts)):
        chunk_of[start:stop] = [number] * (stop - start)
    return _with_slots(reads, steps, cuts, chunk_of, made, last)


def _cuts(pressure: Sequence[int], length: int, size: int) -> list[int]:
    cuts = [0]
    while length - cuts[-1] > size + size // 2:
        low, high = cuts[-1] + size - size // 4, cuts[-1] + size + size // 4
        cuts.append(min(range(low, high + 1), key=lambda p: (pressure[p], p)))
    return [*cuts, length]


def _with_slots(
    reads: Callable[[Step], Sequence[int]],
    steps: Sequence[Step],
    cuts: Sequence[int],
    chunk_of: Sequence[int],
    made: Mapping[int, int],
    last: Mapping[int, int],
) -> Split:
    slot_of: dict[int, int] = {}
    free: list[int] = []
    release: dict[int, list[int]] = {}
    slots = 0
    chunks = []
    for number, (start, stop) in enumerate(pairwise(cuts)):
        part = steps[start:stop]
        loads = {
            atom: slot_of[atom]
            for step in part
            for atom in reads(step)
            if atom in made and chunk_of[made[atom]] < number
        }
        stores: dict[int, int] = {}
        for step in part:
            for atom in _writes(step):
                if atom in last and chunk_of[last[atom]] > number:
                    if free:
                        slot = free.pop()
                    else:
                        slot, slots = slots, slots + 1
                    stores[atom] = slot_of[atom] = slot
                    release.setdefault(chunk_of[last[atom]], []).append(slot)
        # slots read for the last time here are written again from the next chunk on
        free.extend(reversed(release.pop(number, [])))
        chunks.append(Chunk(tuple(part), loads, stores))
    return Split(chunks, slots)


def _reads(table: Table, step: Step) -> list[int]:
    """The atoms a step reads, constants and symbols excepted."""
    refs = step.angles if isinstance(step, Pack) else table.operands(step)
    sizes = [r if r >= 0 else -r for r in refs]
    return [a for a in sizes if table.ops[a] > op.SYMBOL]


def _writes(step: Step) -> list[int]:
    """The atoms a step computes."""
    return step.results if isinstance(step, Pack) else [step]
