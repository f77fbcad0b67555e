"""Functions evaluated without code of their own: one native loop walks the atoms of any of them.

Machine code runs some ten times faster, but to make it takes LLVM about 50 µs an atom; to prepare a
walk takes 1 µs.  What is evaluated a few times is walked: the checks of a start, the channels of
a run.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from math import acos, asin, atan, atan2, cos, exp, log, pow, sin, sqrt, tan, tanh
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from biela.atoms import opcodes as op
from biela.atoms.opcodes import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    ATAN,
    ATAN2,
    COS,
    DIV,
    EXP,
    LESS,
    LESS_EQUAL,
    LOG,
    MAX,
    MIN,
    MUL,
    POWER,
    POWER_INT,
    SELECT,
    SIGN,
    SIN,
    SQRT,
    TAN,
    TANH,
)
from biela.code.arrays import ExpressionArray, checked_array
from biela.code.routines import Int, IntVector, Vector, routine
from biela.code.routines.in_process import digest, generated_module
from biela.code.schedule import Schedule
from biela.errors import ShapeError

__all__ = ["WALKED", "Walk", "walkable"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: States above which code of its own is worth it: compiling an atom takes as long as to walk it so
#: often.
WALKED: Final = 20_000
_FLOAT: Final = np.dtype(np.float64)
#: Numbers held at a time, so that they stay near the processor.
_HELD: Final = 1 << 16
#: States side by side, at most.
_WIDEST: Final = 64
#: What needs more than its operands: curves, and functions that somebody else wrote.
_OWN_CODE: Final = (op.PIECEWISE, op.EXTERNAL)


@routine(codes="n", to="n", left="n", right="n", third="n", signs="3*n", x="m*width")
def walk(
    n: Int,
    m: Int,
    width: Int,
    codes: IntVector,
    to: IntVector,
    left: IntVector,
    right: IntVector,
    third: IntVector,
    signs: Vector,
    x: Vector,
) -> None:
    """Compute n atoms in order, each for ``width`` states that stand side by side in ``x``.

    Atom i is operation ``codes[i]`` on the numbers ``left[i]``, ``right[i]`` and ``third[i]`` of
    the m there are, taken with their ``signs``, and becomes number ``to[i]``.
    """
    for i in range(n):
        code = codes[i]
        d = to[i] * width
        a = left[i] * width
        b = right[i] * width
        s = signs[3 * i]
        r = signs[3 * i + 1]
        if code == MUL:
            for k in range(width):
                x[d + k] = (s * x[a + k]) * (r * x[b + k])
        elif code == ADD:
            for k in range(width):
                x[d + k] = s * x[a + k] + r * x[b + k]
        elif code == DIV:
            for k in range(width):
                x[d + k] = (s * x[a + k]) / (r * x[b + k])
        elif code == SIN:
            for k in range(width):
                x[d + k] = sin(s * x[a + k])
        elif code == COS:
            for k in range(width):
                x[d + k] = cos(s * x[a + k])
        elif code == POWER_INT:
            # by squares: the exponent has so many digits
            for k in range(width):
                base = s * x[a + k]
                power = 1.0
                rest = right[i]
                for _ in range(third[i]):
                    if rest % 2 == 1:
                        power = power * base
                    base = base * base
                    rest = rest // 2
                x[d + k] = power
        elif code == SQRT:
            for k in range(width):
                x[d + k] = sqrt(s * x[a + k])
        elif code == ATAN2:
            for k in range(width):
                x[d + k] = atan2(s * x[a + k], r * x[b + k])
        elif code == ABS:
            for k in range(width):
                x[d + k] = abs(x[a + k])
        elif code == LESS:
            for k in range(width):
                x[d + k] = 1.0 if s * x[a + k] < r * x[b + k] else 0.0
        elif code == LESS_EQUAL:
            for k in range(width):
                x[d + k] = 1.0 if s * x[a + k] <= r * x[b + k] else 0.0
        elif code == SELECT:
            c = third[i] * width
            q = signs[3 * i + 2]
            for k in range(width):
                x[d + k] = r * x[b + k] if x[a + k] != 0.0 else q * x[c + k]
        elif code == TANH:
            for k in range(width):
                x[d + k] = tanh(s * x[a + k])
        elif code == MIN:
            for k in range(width):
                x[d + k] = s * x[a + k] if s * x[a + k] < r * x[b + k] else r * x[b + k]
        elif code == MAX:
            for k in range(width):
                x[d + k] = s * x[a + k] if s * x[a + k] > r * x[b + k] else r * x[b + k]
        elif code == SIGN:
            for k in range(width):
                y = s * x[a + k]
                x[d + k] = 1.0 if y > 0.0 else (-1.0 if y < 0.0 else y)
        elif code == TAN:
            for k in range(width):
                x[d + k] = tan(s * x[a + k])
        elif code == ASIN:
            for k in range(width):
                x[d + k] = asin(s * x[a + k])
        elif code == ACOS:
            for k in range(width):
                x[d + k] = acos(s * x[a + k])
        elif code == ATAN:
            for k in range(width):
                x[d + k] = atan(s * x[a + k])
        elif code == EXP:
            for k in range(width):
                x[d + k] = exp(s * x[a + k])
        elif code == LOG:
            for k in range(width):
                x[d + k] = log(s * x[a + k])
        elif code == POWER:
            for k in range(width):
                x[d + k] = pow(s * x[a + k], r * x[b + k])


@routine(
    codes="n", to="n", left="n", right="n", third="n", signs="3*n", x="m",
    given="g", entries="e", numbers="e", out="o", results="o", turned="o",
)  # fmt: skip
def walk_one(
    n: Int,
    m: Int,
    g: Int,
    e: Int,
    o: Int,
    codes: IntVector,
    to: IntVector,
    left: IntVector,
    right: IntVector,
    third: IntVector,
    signs: Vector,
    entries: IntVector,
    numbers: IntVector,
    results: IntVector,
    turned: Vector,
    given: Vector,
    x: Vector,
    out: Vector,
) -> None:
    """Compute one state from ``given``, of which ``entries`` become some ``numbers``.

    ``out`` are the numbers ``results``, with the signs ``turned``.
    """
    for k in range(e):
        x[numbers[k]] = given[entries[k]]
    walk(n, m, 1, codes, to, left, right, third, signs, x)
    for k in range(o):
        out[k] = turned[k] * x[results[k]]


@cache
def _entry() -> Any:
    """`walk_one` as a function of five addresses: a table of integers, signs, given, x and out.

    A call of the routine from Python takes longer than most walks.
    """
    import numba

    from biela.jit import cfunc

    kinds: Any = numba  # numba carries no types
    reals = kinds.types.CPointer(kinds.types.float64)
    signature = kinds.types.void(
        kinds.types.CPointer(kinds.types.int64), reals, reals, reals, reals
    )
    scope = {
        "carray": kinds.carray,
        "compiled": cfunc(signature, error_model="numpy"),
        "walk_one": walk_one.compiled,
    }
    made = generated_module(f"walk_entry_{digest(walk_one)}", _ENTRY, scope).entry
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)(made.address)


#: Its text; the table is n, m, g, e, o and then the integer arrays.
_ENTRY: Final = """
@compiled
def entry(table, reals, given, x, out):
    sizes = carray(table, (5,))
    n, m, g, e, o = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    lists = carray(table, (5 + 5 * n + 2 * e + o,))[5:]
    signs = carray(reals, (3 * n + o,))
    rest = lists[5 * n:]
    walk_one(
        n, m, g, e, o,
        lists[:n], lists[n:2 * n], lists[2 * n:3 * n], lists[3 * n:4 * n], lists[4 * n:5 * n],
        signs[:3 * n], rest[:e], rest[e:2 * e], rest[2 * e:], signs[3 * n:],
        carray(given, (g,)), carray(x, (m,)), carray(out, (o,)),
    )
"""


def walkable(schedule: Schedule) -> bool:
    """Whether a function may be walked: without curves and functions from outside."""
    ops = schedule.table.ops
    return not any(ops[atom] in _OWN_CODE for atom in schedule.live)


class Walk:
    """The atoms of a function, ready to be walked; evaluates as `NativeFunction` does.

    Many threads may use it: each evaluation has numbers of its own.
    """

    def __init__(
        self,
        name: str,
        schedule: Schedule,
        inputs: Sequence[ExpressionArray],
        outputs: Sequence[ExpressionArray],
    ) -> None:
        self.name, self._inputs, self._outputs = name, tuple(inputs), tuple(outputs)
        table = schedule.table
        live = np.array(schedule.live, dtype=np.int64)
        codes = np.frombuffer(bytes(table.ops), dtype=np.uint8)[live].astype(np.int64)
        place = {atom: k for k, atom in enumerate(schedule.live)}
        self._start = np.zeros(len(live))
        for k in np.flatnonzero(codes == op.CONSTANT).tolist():
            self._start[k] = float(table.values[schedule.live[k]])
        (works,) = np.nonzero(codes > op.SYMBOL)
        count = len(works)
        operands = np.zeros((count, 3), dtype=np.int64)
        for i, atom in enumerate(live[works].tolist()):
            refs = table.operands(atom)
            operands[i, : len(refs)] = refs
        signs = np.where(operands < 0, -1.0, 1.0)
        where = np.searchsorted(live, np.abs(operands))
        powers = codes[works] == op.POWER_INT
        exponents = [table.right[atom] for atom in live[works][powers].tolist()]
        where[powers, 1] = exponents
        where[powers, 2] = [exponent.bit_length() for exponent in exponents]
        self._program = (
            *(codes[works], works.astype(np.int64)),
            *(np.ascontiguousarray(where[:, column]) for column in range(3)),
            np.ascontiguousarray(signs.reshape(-1)),
        )
        #: Of each input array: which entries are needed, and which numbers they are.
        self._taken = []
        for array in self._inputs:
            used = [e for e, ref in enumerate(array.refs) if ref in place]
            places = [place[array.refs[e]] for e in used]
            self._taken.append((np.array(used, dtype=np.int64), np.array(places, dtype=np.int64)))
        self._given = []
        for array in self._outputs:
            signed = np.array(array.refs, dtype=np.int64)
            numbers = np.searchsorted(live, np.abs(signed)).astype(np.int64)
            self._given.append((numbers, np.where(signed < 0, -1.0, 1.0)))
        firsts = np.cumsum([0, *(array.size for array in self._inputs)]).tolist()
        entries = [used + first for (used, _), first in zip(self._taken, firsts, strict=False)]
        becoming = [numbers for _, numbers in self._taken]
        results = [numbers for numbers, _ in self._given]
        ends = np.cumsum([0, *(array.size for array in self._outputs)]).tolist()
        sizes = [count, len(live), firsts[-1], sum(map(len, entries)), ends[-1]]
        self._table = np.concatenate([sizes, *self._program[:5], *entries, *becoming, *results])
        self._signs = np.concatenate([self._program[5], *(turned for _, turned in self._given)])
        self._arguments = [
            (array.name, array.shape, slice(first, first + array.size))
            for array, first in zip(self._inputs, firsts, strict=False)
        ]
        self._parts = [
            (slice(first, first + array.size), array.shape)
            for array, first in zip(self._outputs, ends, strict=False)
        ]
        self._rooms = threading.local()

    def __call__(self, *arguments: Any) -> Any:
        """Evaluate one state; fresh arrays, or numbers for outputs without a shape.

        Raises:
            ShapeError: An argument is missing or has another shape.
        """
        if len(arguments) != len(self._inputs):
            names = ", ".join(array.name for array in self._inputs)
            raise ShapeError(
                f"{self.name} takes {len(self._inputs)} inputs ({names}), not "
                f"{len(arguments)} arguments"
            )
        try:
            given, _, out, addresses = self._rooms.here
        except AttributeError:
            given, _, out, addresses = self._rooms.here = self._room()
        for argument, (name, shape, part) in zip(arguments, self._arguments, strict=True):
            if type(argument) is float and not shape:
                given[part] = argument
                continue
            plain = type(argument) is np.ndarray and argument.dtype is _FLOAT
            if not plain or argument.shape != shape:
                argument = checked_array(self.name, name, argument, shape)
            given[part] = argument if len(shape) == 1 else argument.reshape(-1)
        _entry()(*addresses)
        fresh = out.copy()
        found = [
            fresh[part].reshape(shape) if shape else float(fresh[part.start])
            for part, shape in self._parts
        ]
        return found[0] if len(found) == 1 else tuple(found)

    def _room(self) -> tuple[Floats, Floats, Floats, tuple[int, ...]]:
        """Inputs, numbers and outputs of a thread, and the addresses of all that a walk needs."""
        given, x, out = np.zeros(self._table[2]), self._start.copy(), np.zeros(self._table[4])
        arrays = (self._table, self._signs, given, x, out)
        return given, x, out, tuple(array.ctypes.data for array in arrays)

    def map(self, rows: int, arguments: Sequence[Floats]) -> list[Floats]:
        """Evaluate many states at once: each input has one row per state, as floats.

        Returns the outputs with one row per state.
        """
        n = len(self._start)
        width = max(1, min(_WIDEST, _HELD // max(n, 1), rows))
        flat = [
            np.reshape(a, (rows, kind.size))
            for a, kind in zip(arguments, self._inputs, strict=True)
        ]
        results = [np.empty((rows, array.size)) for array in self._outputs]
        x = np.repeat(self._start[:, None], width, axis=1)
        program, count, run = self._program, len(self._program[0]), walk.compiled
        for first in range(0, rows, width):
            held = min(width, rows - first)
            for values, (entries, numbers) in zip(flat, self._taken, strict=True):
                x[numbers, :held] = values[first : first + held, entries].T
            run(count, n, width, *program, x.reshape(-1))
            for result, (numbers, signs) in zip(results, self._given, strict=True):
                result[first : first + held] = x[numbers, :held].T * signs
        return [
            result.reshape(rows, *array.shape)
            for result, array in zip(results, self._outputs, strict=True)
        ]
