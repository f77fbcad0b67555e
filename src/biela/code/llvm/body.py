"""The lines of LLVM IR of one chunk of a schedule: one line an operation."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.numbers import magnitude
from biela.atoms.table import Table
from biela.code.llvm import piecewise_ir, sincos
from biela.code.llvm.rows import Rows
from biela.code.schedule import Chunk, Pack, Step
from biela.errors import CompileError

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

    @property
    def fused(self) -> bool:
        """Whether fused operations may be used."""
        return self.fma and not self.reproducible


@dataclass
class Needs:
    """What the bodies of a module were found to call."""

    library: set[str] = field(default_factory=set)
    intrinsics: set[str] = field(default_factory=set)
    curves: set[int] = field(default_factory=set)
    sine_lanes: set[int] = field(default_factory=set)  # widths of sines and cosines
    called_lanes: set[int] = field(default_factory=set)
    heap: bool = False


#: For each atom that is an output, the places (array, position, sign) it is stored to.
Results = Mapping[int, Sequence[tuple[int, int, int]]]


class Body(Rows):
    """Writes the lines of one chunk."""

    def __init__(
        self,
        table: Table,
        layout: Layout,
        options: Options,
        chunk: Chunk,
        results: Results,
        needs: Needs,
        paste: bool,
        whole: bool,
    ) -> None:
        super().__init__(options.lanes, layout.input_sizes, [len(o) for o in layout.outputs], whole)
        self.table, self.layout, self.options = table, layout, options
        self.chunk, self.results, self.needs, self.paste = chunk, results, needs, paste
        #: The block the lines go on in; sines and cosines open new ones.
        self.block = "loop" if whole and options.lanes > 1 else "entry"
        self.flags = "" if options.reproducible else "contract "
        self.names: dict[int, str] = {}
        self.negatives: dict[int, str] = {}
        self.conditions: dict[int, str] = {}
        self.powers: dict[tuple[int, int], str] = {}

    def emit(self, final: bool) -> list[str]:
        """The lines; the ``final`` chunk also stores outputs that are symbols or numbers."""
        for step in self.chunk.steps:
            self._step(step)
        if final:
            for atom, places in self.results.items():
                if self.table.ops[atom] <= op.SYMBOL:
                    self._store_results(atom, places)
        self.store_the_rest()
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
                place = self.let(f"getelementptr {self.type}, ptr %w, i64 {slot}")
                self.lines.append(f"  store {self.type} {self.names[atom]}, ptr {place}")
            places = self.results.get(atom)
            if places is not None:
                self._store_results(atom, places)

    # operands

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
            name = self.negatives[atom] = self.let(f"fneg {self.type} {self._operand(atom)}")
        return name

    def _load(self, atom: int) -> str:
        code = self.table.ops[atom]
        if code == op.CONSTANT:
            return self._number(float(self.table.values[atom]))
        if code == op.SYMBOL:
            return self.load(*self.layout.inputs[atom])
        slot = self.chunk.loads[atom]
        place = self.let(f"getelementptr {self.type}, ptr %w, i64 {slot}")
        return self.let(f"load {self.type}, ptr {place}")

    def _number(self, value: float) -> str:
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if self.lanes == 1 else f"splat (double {text})"

    def _store_results(self, atom: int, places: Sequence[tuple[int, int, int]]) -> None:
        for array, position, sign in places:
            self.store(array, position, self._operand(sign * atom))

    # operations

    def _operation(self, atom: int, code: int) -> str:
        left, right = self.table.left[atom], self.table.right[atom]
        T, flags = self.type, self.flags
        if code == op.ADD:
            if right > 0:
                return self.let(f"fadd {flags}{T} {self._operand(left)}, {self._operand(right)}")
            return self.let(f"fsub {flags}{T} {self._operand(left)}, {self._operand(-right)}")
        if code == op.MUL:
            return self.let(f"fmul {flags}{T} {self._operand(left)}, {self._operand(right)}")
        if code == op.DIV:
            return self._quotient(left, right)
        if code == op.POWER_INT:
            return self._power(left, right)
        if code == op.POWER:
            halves = self._half_power(left, right)
            if halves is not None:
                return halves
        if code in (op.SQRT, op.ABS):
            return self._intrinsic("sqrt" if code == op.SQRT else "fabs", self._operand(left))
        if code in _LIBRARY:
            name = _LIBRARY[code]
            self.needs.library.add(name)
            return self._per_lane(f"@{name}", [self._operand(r) for r in self.table.operands(atom)])
        if code in (op.LESS, op.LESS_EQUAL, op.MIN, op.MAX):
            return self._comparison(atom, code, self._operand(left), self._operand(right))
        if code == op.SIGN:
            return self._sign(self._operand(left))
        if code == op.SELECT:
            return self._select(left, *self.table.operand_lists[right])
        if code == op.PIECEWISE:
            self.needs.curves.add(right)
            return self._per_lane(f"@{piecewise_ir.name(right)}", [self._operand(left)])
        if code != op.EXTERNAL:
            raise CompileError(f"no native code is known for {op.NAMES[code]}")
        arguments = [self._operand(r) for r in self.table.operand_lists[right]]
        place = self.let(f"getelementptr ptr, ptr @{EXTERNALS}, i64 {left}")
        return self._per_lane(self.let(f"load ptr, ptr {place}"), arguments)

    def _quotient(self, a: int, b: int) -> str:
        divisor = self.table.values.get(b) if self.flags else None
        if divisor is not None and 1e-290 < divisor < 1e290:
            # a product instead of a quotient: one rounding more, ten times the speed
            inverse = self._number(1.0 / float(divisor))
            return self.let(f"fmul contract {self.type} {self._operand(a)}, {inverse}")
        return self.let(f"fdiv {self.flags}{self.type} {self._operand(a)}, {self._operand(b)}")

    def _power(self, base: int, n: int) -> str:
        """Repeated squaring, each power of a base computed once."""
        if n == 1:
            return self._operand(base)
        name = self.powers.get((base, n))
        if name is None:
            low = self._power(base, n // 2)
            high = self._power(base, n - n // 2)
            name = self.let(f"fmul {self.flags}{self.type} {low}, {high}")
            self.powers[base, n] = name
        return name

    def _half_power(self, base: int, exponent: int) -> str | None:
        """A power with half an odd number, by a root and products; None for other exponents."""
        value = self.table.value(exponent)
        if not isinstance(value, Fraction) or base < 0 or value.denominator != 2:
            return None
        if abs(value) > 32:
            return None
        root = self._intrinsic("sqrt", self._operand(base))
        whole = int(magnitude(value) - Fraction(1, 2))
        if whole:
            root = self.let(f"fmul {self.flags}{self.type} {self._power(base, whole)}, {root}")
        if value > 0:
            return root
        return self.let(f"fdiv {self.flags}{self.type} {self._number(1.0)}, {root}")

    def _intrinsic(self, name: str, x: str) -> str:
        full = f"llvm.{name}.{'f64' if self.lanes == 1 else f'v{self.lanes}f64'}"
        self.needs.intrinsics.add(full)
        return self.let(f"call {self.type} @{full}({self.type} {x})")

    def _per_lane(self, function: str, arguments: Sequence[str]) -> str:
        """Call a scalar function, for each lane if there are several."""
        if self.lanes == 1:
            spelled = ", ".join(f"double {a}" for a in arguments)
            return self.let(f"call double {function}({spelled})")
        vector = "poison"
        for lane in range(self.lanes):
            spelled = ", ".join(f"double {self.extract(a, lane)}" for a in arguments)
            vector = self.insert(vector, self.let(f"call double {function}({spelled})"), lane)
        return vector

    def _comparison(self, atom: int, code: int, a: str, b: str) -> str:
        T = self.type
        predicate = {op.LESS: "olt", op.LESS_EQUAL: "ole", op.MIN: "olt", op.MAX: "ogt"}[code]
        holds = self.let(f"fcmp {predicate} {T} {a}, {b}")
        if code in (op.MIN, op.MAX):
            return self._choose(holds, a, b)
        self.conditions[atom] = holds
        return self.let(f"uitofp {self._truth_type} {holds} to {T}")

    @property
    def _truth_type(self) -> str:
        return sincos.vector_type(self.lanes, "i1")

    def _choose(self, condition: str, a: str, b: str) -> str:
        T = self.type
        return self.let(f"select {self._truth_type} {condition}, {T} {a}, {T} {b}")

    def _sign(self, x: str) -> str:
        zero = self._number(0.0)
        below = self.let(f"fcmp olt {self.type} {x}, {zero}")
        above = self.let(f"fcmp ogt {self.type} {x}, {zero}")
        lower = self._choose(below, self._number(-1.0), x)
        return self._choose(above, self._number(1.0), lower)

    def _select(self, condition: int, yes: int, no: int) -> str:
        holds = self.conditions.get(condition)
        if holds is None:
            value = self._operand(condition)
            holds = self.let(f"fcmp une {self.type} {value}, {self._number(0.0)}")
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
            vector = self.let(f"insertelement {T} {vector}, double {x}, i32 {lane}")
        s, c = self._sincos(vector, lanes)
        self._name_results(
            pack,
            [self.let(f"extractelement {T} {s}, i32 {i}") for i in range(width)],
            [self.let(f"extractelement {T} {c}, i32 {i}") for i in range(width)],
        )

    def _sincos(self, x: str, lanes: int) -> tuple[str, str]:
        self.needs.sine_lanes.add(lanes)
        T = sincos.vector_type(lanes)
        if not self.paste:
            self.needs.called_lanes.add(lanes)
            both = f"{{{T}, {T}}}"
            pair = self.let(f"call {both} @biela_sincos_{lanes}({T} {x})")
            return (
                self.let(f"extractvalue {both} {pair}, 0"),
                self.let(f"extractvalue {both} {pair}, 1"),
            )
        self.count += 1
        # the separator keeps s7_81 and s78_1 apart
        prefix = f"s{self.count}_"
        lines, s, c = sincos.guarded_sincos_lines(x, prefix, lanes, self.options.fused, self.block)
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
                quotient = self.let(f"fdiv {self.flags}{self.type} {s[i]}, {c[i]}")
                self.names[pack.tangents[i]] = quotient
