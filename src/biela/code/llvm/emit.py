"""LLVM IR of a function of atoms.

Two entries can be made from one schedule.  The *scalar* entry evaluates one state,

    void kernel(const double *in0, …, double *out0, …),

with the sines and cosines of its angles computed in vector lanes.  The *batch* entry,

    void kernel(int64_t k, const double *in0, …, double *out0, …),

evaluates k states stored row by row, a vector of states at a time; the last vector overlaps the
one before it, so that every state goes through the same instructions.

The IR is written as text, one line an operation, and is not optimised further: the graph has no
common or dead operations left, and LLVM's passes would only cost time.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.table import Table
from biela.code.llvm import piecewise_ir, sincos
from biela.code.schedule import Chunk, Pack, Schedule, Step, split

#: Steps in one LLVM function; compile time is linear up to here and beyond it is not.
CHUNK: Final = 2000
#: Up to this many packs of angles are pasted into the code; more are calls.
PASTED_PACKS: Final = 12
ENTRY: Final = "kernel"
EXTERNALS: Final = "external_functions"

_LIBRARY: Final = {
    op.ASIN: "asin",
    op.ACOS: "acos",
    op.ATAN: "atan",
    op.ATAN2: "atan2",
    op.EXP: "exp",
    op.LOG: "log",
    op.TANH: "tanh",
    op.POWER: "pow",
}


@dataclass(frozen=True)
class Layout:
    """Where the symbols and results of a kernel live in its arrays."""

    #: symbol -> (array, position)
    inputs: dict[int, tuple[int, int]]
    input_sizes: tuple[int, ...]
    #: for each output array its references, in memory order
    outputs: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Options:
    """How code is generated."""

    lanes: int = 1  # states at a time; 1 is the scalar entry
    packed: int = 4  # angles of one state at a time
    fma: bool = True  # the CPU has a fused multiply-add
    reproducible: bool = False  # same bits on every machine: nothing is fused


def emit(schedule: Schedule, layout: Layout, options: Options) -> str:
    """The text of a module with one entry, named ``kernel``."""
    return _Module(schedule, layout, options).text()


class _Module:
    def __init__(self, schedule: Schedule, layout: Layout, options: Options) -> None:
        self.schedule, self.layout, self.options = schedule, layout, options
        self.table = schedule.table
        self.type = sincos.vector_type(options.lanes)
        self.fma = options.fma and not options.reproducible
        self.packed = 1 if options.lanes > 1 else options.packed
        self.trig_lanes = options.lanes if options.lanes > 1 else 0
        self.used_lanes: set[int] = set()
        self.called_lanes: set[int] = set()
        self.library: set[str] = set()
        self.intrinsics: set[str] = set()
        self.curves: set[int] = set()
        self.pointers = [f"%in{g}" for g in range(len(layout.input_sizes))]
        self.pointers += [f"%out{g}" for g in range(len(layout.outputs))]

    def text(self) -> str:
        steps = self.schedule.steps(self.packed)
        packs = sum(isinstance(step, Pack) for step in steps)
        self.paste = packs <= PASTED_PACKS
        parts = split(self.schedule, steps, CHUNK)
        results = self._results_by_atom()
        functions: list[str] = []
        if len(parts.chunks) == 1:
            body = _Body(self, parts.chunks[0], "", results, final=True)
            functions.append(self._entry(body.emit(), body.block, 0))
        else:
            calls = []
            parameters = ", ".join(f"ptr noalias %{p[1:]}" for p in self.pointers)
            arguments = ", ".join(f"ptr {p}" for p in self.pointers)
            for number, chunk in enumerate(parts.chunks):
                final = number == len(parts.chunks) - 1
                body = _Body(self, chunk, "entry", results, final)
                lines = "\n".join(body.emit())
                functions.append(
                    f"define internal void @chunk{number}({parameters}, ptr noalias %w) {{\n"
                    f"entry:\n{lines}\n  ret void\n}}\n"
                )
                calls.append(f"  call void @chunk{number}({arguments}, ptr %w)")
            functions.append(self._entry(calls, "", parts.slots))
        return "\n".join([*self._declarations(), *functions])

    def _results_by_atom(self) -> dict[int, list[tuple[int, int, int]]]:
        """For each atom the places (array, position) it is stored to, and the sign there."""
        results: dict[int, list[tuple[int, int, int]]] = {}
        for g, refs in enumerate(self.layout.outputs):
            for e, ref in enumerate(refs):
                results.setdefault(abs(ref), []).append((g, e, 1 if ref >= 0 else -1))
        return results

    def _entry(self, lines: list[str], block: str, slots: int) -> str:
        body = "\n".join(lines)
        work = f"  %w = alloca [{slots} x {self.type}], align 64\n" if slots else ""
        if self.options.lanes == 1:
            parameters = ", ".join(f"ptr noalias {p}" for p in self.pointers)
            return f"define void @{ENTRY}({parameters}) {{\nentry:\n{work}{body}\n  ret void\n}}\n"
        lanes = self.options.lanes
        parameters = ", ".join(f"ptr noalias %base_{p[1:]}" for p in self.pointers)
        sizes = [*self.layout.input_sizes, *(len(o) for o in self.layout.outputs)]
        rows = []
        for p, size in zip(self.pointers, sizes, strict=True):
            rows.append(f"  %at_{p[1:]} = mul i64 %i, {size}")
            rows.append(f"  {p} = getelementptr double, ptr %base_{p[1:]}, i64 %at_{p[1:]}")
        latch = block or "loop"
        return (
            f"define void @{ENTRY}(i64 %k, {parameters}) {{\nentry:\n{work}"
            f"  %last = sub i64 %k, {lanes}\n  br label %loop\nloop:\n"
            f"  %i = phi i64 [ 0, %entry ], [ %next, %{latch} ]\n" + "\n".join(rows) + f"\n{body}\n"
            f"  %done = icmp eq i64 %i, %last\n  %step = add i64 %i, {lanes}\n"
            f"  %beyond = icmp sgt i64 %step, %last\n"
            f"  %next = select i1 %beyond, i64 %last, i64 %step\n"
            f"  br i1 %done, label %exit, label %loop\nexit:\n  ret void\n}}\n"
        )

    def _declarations(self) -> list[str]:
        """What the bodies were found to need; asked for after they are written."""
        lines = [
            f"declare double @{name}({'double, ' * (n - 1)}double)"
            for name, n in sorted(
                (name, 2 if name in ("pow", "atan2") else 1) for name in self.library
            )
        ]
        lines += [f"declare {self.type} @{name}({self.type})" for name in sorted(self.intrinsics)]
        if self.used_lanes:
            lines.append(sincos.declarations(sorted(self.used_lanes), self.fma))
            lines += [sincos.slow_function(lanes) for lanes in sorted(self.used_lanes)]
            lines += [sincos.sincos_function(n, self.fma) for n in sorted(self.called_lanes)]
        for index in sorted(self.curves):
            lines.append(piecewise_ir.function(index, self.table.piecewise[index]))
        if self.table.externals:
            count = len(self.table.externals)
            lines.append(f"@{EXTERNALS} = global [{count} x ptr] zeroinitializer")
        return lines


class _Body:
    """Writes the lines of one chunk."""

    def __init__(
        self,
        module: _Module,
        chunk: Chunk,
        block: str,
        results: dict[int, list[tuple[int, int, int]]],
        final: bool,
    ) -> None:
        self.module, self.chunk, self.results, self.final = module, chunk, results, final
        self.table: Table = module.table
        self.lanes = module.options.lanes
        self.type = module.type
        # a fresh entry block is named by whoever wraps the lines
        self.block = block or ("entry" if self.lanes == 1 else "loop")
        self.flags = "" if module.options.reproducible else "contract "
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.negatives: dict[int, str] = {}
        self.conditions: dict[int, str] = {}
        self.powers: dict[tuple[int, int], str] = {}
        self.count = 0

    def emit(self) -> list[str]:
        for step in self.chunk.steps:
            self._step(step)
        if self.final:  # outputs that are plain symbols or numbers
            for atom, places in self.results.items():
                if self.table.ops[atom] <= op.SYMBOL:
                    self._store_results(atom, places)
        return self.lines

    def _step(self, step: Step) -> None:
        if isinstance(step, Pack):
            self._pack(step)
            made = step.results
        else:
            self.names[step] = self._operation(step, self.table.ops[step])
            made = [step]
        for atom in made:
            slot = self.chunk.stores.get(atom)
            if slot is not None:
                place = self._let(f"getelementptr {self.type}, ptr %w, i64 {slot}")
                self.lines.append(f"  store {self.type} {self.names[atom]}, ptr {place}")
            places = self.results.get(atom)
            if places is not None:
                self._store_results(atom, places)

    # operands

    def _let(self, text: str) -> str:
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _operand(self, ref: int) -> str:
        """The name of a reference; what is not here yet is loaded."""
        if ref < 0:
            return self._negative(-ref)
        name = self.names.get(ref)
        if name is None:
            name = self.names[ref] = self._load(ref)
        return name

    def _negative(self, atom: int) -> str:
        if self.table.ops[atom] == op.CONSTANT:
            return self._number(-float(self.table.values[atom]))
        name = self.negatives.get(atom)
        if name is None:
            name = self.negatives[atom] = self._let(f"fneg {self.type} {self._operand(atom)}")
        return name

    def _load(self, atom: int) -> str:
        code = self.table.ops[atom]
        if code == op.CONSTANT:
            return self._number(float(self.table.values[atom]))
        if code == op.SYMBOL:
            g, e = self.module.layout.inputs[atom]
            return self._row_load(f"%in{g}", e, self.module.layout.input_sizes[g])
        slot = self.chunk.loads[atom]
        place = self._let(f"getelementptr {self.type}, ptr %w, i64 {slot}")
        return self._let(f"load {self.type}, ptr {place}")

    def _number(self, value: float) -> str:
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if self.lanes == 1 else f"splat (double {text})"

    # rows of a batch

    def _row_load(self, pointer: str, e: int, size: int) -> str:
        if self.lanes == 1:
            place = self._let(f"getelementptr double, ptr {pointer}, i64 {e}")
            return self._let(f"load double, ptr {place}")
        vector = "poison"
        for lane in range(self.lanes):
            place = self._let(f"getelementptr double, ptr {pointer}, i64 {lane * size + e}")
            value = self._let(f"load double, ptr {place}")
            vector = self._insert(vector, value, lane)
        return vector

    def _store_results(self, atom: int, places: Sequence[tuple[int, int, int]]) -> None:
        for g, e, sign in places:
            value = self._operand(sign * atom)
            size = len(self.module.layout.outputs[g])
            if self.lanes == 1:
                place = self._let(f"getelementptr double, ptr %out{g}, i64 {e}")
                self.lines.append(f"  store double {value}, ptr {place}")
                continue
            for lane in range(self.lanes):
                place = self._let(f"getelementptr double, ptr %out{g}, i64 {lane * size + e}")
                self.lines.append(f"  store double {self._extract(value, lane)}, ptr {place}")

    def _insert(self, vector: str, value: str, lane: int) -> str:
        return self._let(f"insertelement {self.type} {vector}, double {value}, i32 {lane}")

    def _extract(self, vector: str, lane: int) -> str:
        return self._let(f"extractelement {self.type} {vector}, i32 {lane}")

    # operations

    def _operation(self, atom: int, code: int) -> str:
        left, right = self.table.left[atom], self.table.right[atom]
        T, flags = self.type, self.flags
        if code == op.ADD:
            if right > 0:
                return self._let(f"fadd {flags}{T} {self._operand(left)}, {self._operand(right)}")
            return self._let(f"fsub {flags}{T} {self._operand(left)}, {self._operand(-right)}")
        if code == op.MUL:
            return self._let(f"fmul {flags}{T} {self._operand(left)}, {self._operand(right)}")
        if code == op.DIV:
            return self._quotient(left, right)
        if code == op.POWER_INT:
            return self._power(left, right)
        if code in (op.SQRT, op.ABS):
            return self._intrinsic("sqrt" if code == op.SQRT else "fabs", self._operand(left))
        if code in _LIBRARY:
            name = _LIBRARY[code]
            self.module.library.add(name)
            return self._per_lane(f"@{name}", [self._operand(r) for r in self.table.operands(atom)])
        if code in (op.LESS, op.LESS_EQUAL, op.MIN, op.MAX):
            return self._comparison(atom, code, self._operand(left), self._operand(right))
        if code == op.SIGN:
            return self._sign(self._operand(left))
        if code == op.SELECT:
            return self._select(left, *self.table.operand_lists[right])
        if code == op.PIECEWISE:
            self.module.curves.add(right)
            return self._per_lane(f"@{piecewise_ir.name(right)}", [self._operand(left)])
        arguments = [self._operand(r) for r in self.table.operand_lists[right]]
        place = self._let(f"getelementptr ptr, ptr @{EXTERNALS}, i64 {left}")
        return self._per_lane(self._let(f"load ptr, ptr {place}"), arguments)

    def _quotient(self, a: int, b: int) -> str:
        divisor = self.table.values.get(b) if self.flags else None
        if divisor is not None and 1e-290 < divisor < 1e290:
            # a product instead of a quotient: one rounding more, ten times the speed
            inverse = self._number(1.0 / float(divisor))
            return self._let(f"fmul contract {self.type} {self._operand(a)}, {inverse}")
        return self._let(f"fdiv {self.flags}{self.type} {self._operand(a)}, {self._operand(b)}")

    def _power(self, base: int, n: int) -> str:
        """Repeated squaring, each power of a base computed once."""
        if n == 1:
            return self._operand(base)
        name = self.powers.get((base, n))
        if name is None:
            low = self._power(base, n // 2)
            high = self._power(base, n - n // 2)
            name = self._let(f"fmul {self.flags}{self.type} {low}, {high}")
            self.powers[base, n] = name
        return name

    def _intrinsic(self, name: str, x: str) -> str:
        full = f"llvm.{name}.{'f64' if self.lanes == 1 else f'v{self.lanes}f64'}"
        self.module.intrinsics.add(full)
        return self._let(f"call {self.type} @{full}({self.type} {x})")

    def _per_lane(self, function: str, arguments: Sequence[str]) -> str:
        """Call a scalar function, for each lane if there are several."""
        if self.lanes == 1:
            spelled = ", ".join(f"double {a}" for a in arguments)
            return self._let(f"call double {function}({spelled})")
        vector = "poison"
        for lane in range(self.lanes):
            spelled = ", ".join(f"double {self._extract(a, lane)}" for a in arguments)
            vector = self._insert(vector, self._let(f"call double {function}({spelled})"), lane)
        return vector

    def _comparison(self, atom: int, code: int, a: str, b: str) -> str:
        T = self.type
        predicate = {op.LESS: "olt", op.LESS_EQUAL: "ole", op.MIN: "olt", op.MAX: "ogt"}[code]
        holds = self._let(f"fcmp {predicate} {T} {a}, {b}")
        if code in (op.MIN, op.MAX):
            return self._choose(holds, a, b)
        self.conditions[atom] = holds
        return self._let(f"uitofp {self._truth_type} {holds} to {T}")

    @property
    def _truth_type(self) -> str:
        return sincos.vector_type(self.lanes, "i1")

    def _choose(self, condition: str, a: str, b: str) -> str:
        T = self.type
        return self._let(f"select {self._truth_type} {condition}, {T} {a}, {T} {b}")

    def _sign(self, x: str) -> str:
        zero = self._number(0.0)
        below = self._let(f"fcmp olt {self.type} {x}, {zero}")
        above = self._let(f"fcmp ogt {self.type} {x}, {zero}")
        lower = self._choose(below, self._number(-1.0), x)
        return self._choose(above, self._number(1.0), lower)

    def _select(self, condition: int, yes: int, no: int) -> str:
        holds = self.conditions.get(condition)
        if holds is None:
            value = self._operand(condition)
            holds = self._let(f"fcmp une {self.type} {value}, {self._number(0.0)}")
        return self._choose(holds, self._operand(yes), self._operand(no))

    # sines and cosines

    def _pack(self, pack: Pack) -> None:
        if self.lanes > 1:
            angle, lanes = self._operand(pack.angles[0]), self.lanes
            s, c = self._sincos(angle, lanes)
            self._name_results(pack, [s], [c])
            return
        width = len(pack.angles)
        lanes = next(n for n in (1, 2, 4, 8) if n >= width)
        if lanes == 1:
            s, c = self._sincos(self._operand(pack.angles[0]), 1)
            self._name_results(pack, [s], [c])
            return
        T = sincos.vector_type(lanes)
        vector = "zeroinitializer"
        for lane, ref in enumerate(pack.angles):
            x = self._operand(ref)
            vector = self._let(f"insertelement {T} {vector}, double {x}, i32 {lane}")
        s, c = self._sincos(vector, lanes)
        self._name_results(
            pack,
            [self._let(f"extractelement {T} {s}, i32 {i}") for i in range(width)],
            [self._let(f"extractelement {T} {c}, i32 {i}") for i in range(width)],
        )

    def _sincos(self, x: str, lanes: int) -> tuple[str, str]:
        module = self.module
        module.used_lanes.add(lanes)
        T = sincos.vector_type(lanes)
        if not module.paste:
            module.called_lanes.add(lanes)
            both = f"{{{T}, {T}}}"
            pair = self._let(f"call {both} @biela_sincos_{lanes}({T} {x})")
            return (
                self._let(f"extractvalue {both} {pair}, 0"),
                self._let(f"extractvalue {both} {pair}, 1"),
            )
        self.count += 1
        prefix = f"s{self.count}"
        lines, s, c = sincos.guarded_sincos_lines(x, prefix, lanes, module.fma, self.block)
        self.lines += lines
        self.block = f"{prefix}_join"
        return s, c

    def _name_results(self, pack: Pack, s: Sequence[str], c: Sequence[str]) -> None:
        for i in range(len(pack.angles)):
            if pack.sines[i]:
                self.names[pack.sines[i]] = s[i]
            if pack.cosines[i]:
                self.names[pack.cosines[i]] = c[i]
            if pack.tangents[i]:
                quotient = self._let(f"fdiv {self.flags}{self.type} {s[i]}, {c[i]}")
                self.names[pack.tangents[i]] = quotient
