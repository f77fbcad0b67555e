"""The fast entry from Python into a native kernel.

Problem: a kernel ``void kernel(const double *in0, ..., double *out0, ...)`` of 100 ns should not
pay 4 µs for its call through `ctypes`. Wanted: a callable that checks its arrays as strictly as
C code would, allocates the outputs if none are given, and costs a few tens of nanoseconds.

Recipe: the callable is a builtin function object (``PyCFunction``, METH_FASTCALL | METH_KEYWORDS;
Python/C API, "Common Object Structures") made through `ctypes`, whose C function is emitted as
LLVM IR for the given shapes. It reads the fields of ``PyArrayObject`` and ``PyFloatObject`` at
their offsets and calls the C APIs of Python and NumPy (``_ARRAY_API`` table) by address. No
compiler or header is needed. Whatever is not exactly as expected goes to a *fallback* in Python.

The offsets are compared with the truth before the first use (`layout_holds`); where they differ,
as in free-threaded builds, an entry of the same behaviour is made with `ctypes`.

An entry does not check whether an output overlaps an input or another output in memory: what the
kernel then writes is undefined.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from biela.code.llvm.host import load_ir

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Argument:
    """An array of doubles of a kernel: its name and shape, ``()``, ``(n,)`` or ``(r, c)``."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """A callable into a kernel; ``call`` keeps alive all that it needs except the kernel."""

    call: Callable[..., object]
    native: bool


def make_entry(
    address: int,
    name: str,
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    fallback: Callable[..., object],
    release_gil: bool,
) -> Entry:
    """Entry into the kernel at ``address``, which the caller must keep alive.

    Called with the inputs, it returns new outputs: one, or a tuple of several; an array in C
    order for each, a ``float`` for the shape ``()``. Called with the inputs and the outputs, it
    writes into the latter and returns None. Accepted are arrays of the exact type ``ndarray``,
    of doubles, aligned, in C order, of the exact shape, writeable if outputs; for an input of
    shape ``()`` also ``float`` and ``numpy.float64``. Any other call, and any with keywords, is
    answered by ``fallback(*args, **kwargs)``.
    """
    if not outputs:
        raise ValueError(f"kernel {name!r} has no outputs: an entry needs at least one")
    make = _native_call if layout_holds() else _ctypes_call
    call = make(address, name, tuple(inputs), tuple(outputs), fallback, release_gil)
    return Entry(call, make is _native_call)


# -- layout of objects in memory ------------------------------------------------------------------

TYPE, VALUE = 8, 16  # PyObject.ob_type; ob_fval of float, obval of numpy.float64
DATA, NDIM, DIMENSIONS, DESCRIPTOR, FLAGS = 16, 24, 32, 56, 64  # PyArrayObject
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
ARRAY_TYPE, ARRAY_NEW = 2, 93  # places in NumPy's table of functions
DOUBLE = 12  # NPY_DOUBLE
FLOAT64 = np.dtype(np.float64)


@cache
def layout_holds() -> bool:
    """Whether objects of this Python and NumPy have the layout that native entries assume."""
    if (
        sys.implementation.name != "cpython"
        or ctypes.sizeof(ctypes.c_void_p) != 8
        or sysconfig.get_config_var("Py_GIL_DISABLED")
        or object.__basicsize__ != 16
    ):
        return False
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    square = np.arange(6.0).reshape(2, 3)
    samples = (square, square.T, square[:, ::2], frozen, np.array(7.0), np.zeros((0, 4)))
    return (
        all(_array_as_assumed(a) for a in (*samples, np.arange(3)))
        and all(_float_as_assumed(v) for v in (0.1, np.float64(0.3)))
        and _table_as_assumed()
    )


def _array_as_assumed(a: NDArray[Any]) -> bool:
    at = id(a)
    dimensions = ctypes.c_void_p.from_address(at + DIMENSIONS).value or 0
    return (
        ctypes.c_void_p.from_address(at + TYPE).value == id(np.ndarray)
        and ctypes.c_void_p.from_address(at + DATA).value == a.ctypes.data
        and ctypes.c_int.from_address(at + NDIM).value == a.ndim
        and tuple((ctypes.c_ssize_t * a.ndim).from_address(dimensions) if a.ndim else ()) == a.shape
        and ctypes.c_void_p.from_address(at + DESCRIPTOR).value == id(a.dtype)
        and ctypes.c_int.from_address(at + FLAGS).value == a.flags.num
        and (a.dtype is FLOAT64) == (a.dtype == FLOAT64)
    )


def _float_as_assumed(value: float) -> bool:
    at = id(value)
    return (
        ctypes.c_void_p.from_address(at + TYPE).value == id(type(value))
        and ctypes.c_double.from_address(at + VALUE).value == value
    )


@cache
def _numpy_table() -> int:
    """Address of NumPy's table of C functions."""
    core = sys.modules.get("numpy._core.multiarray") or sys.modules["numpy.core.multiarray"]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(core._ARRAY_API, None))


def _numpy_address(place: int) -> int:
    return ctypes.c_void_p.from_address(_numpy_table() + 8 * place).value or 0


def _table_as_assumed() -> bool:
    if _numpy_address(ARRAY_TYPE) != id(np.ndarray):
        return False
    word, pointer = ctypes.c_int, ctypes.c_void_p
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, pointer, word, pointer, word, pointer, pointer, word, word, pointer
    )
    new = prototype(_numpy_address(ARRAY_NEW))
    made = new(id(np.ndarray), 2, (ctypes.c_ssize_t * 2)(2, 3), DOUBLE, None, None, 0, 0, None)
    return (
        isinstance(made, np.ndarray)
        and made.dtype is FLOAT64
        and made.shape == (2, 3)
        and made.flags.carray
        and made.flags.owndata
    )


def _python_address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


# -- the entry in IR ------------------------------------------------------------------------------


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL_KEYWORDS = 0x80 | 0x02


class Kernel:
    """The ``__self__`` of a native entry: holds its code, method definition and fallback."""

    def __init__(self, *kept: object) -> None:
        self._kept = kept


def _native_call(
    address: int,
    name: str,
    inputs: tuple[Argument, ...],
    outputs: tuple[Argument, ...],
    fallback: Callable[..., object],
    release_gil: bool,
) -> Callable[..., object]:
    text = _Stub(address, inputs, outputs, id(fallback), release_gil).text()
    # level 0 compiles in a fifth of the time, and loads and compares leave little to optimise
    code = load_ir(text, "entry", opt=0)
    parameters = [a.name for a in inputs] + [f"{a.name}=None" for a in outputs]
    # the first line of this form gives the function its signature
    doc = f"{name}({', '.join(parameters)})\n--\n\nNative kernel."
    definition = _MethodDef(name.encode(), code["entry"], FASTCALL_KEYWORDS, doc.encode())
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    call: Callable[..., object] = new(
        ctypes.addressof(definition), Kernel(code, definition, fallback), None
    )
    return call


def _pointer(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"


LIKELY = '!prof !{!"branch_weights", i32 100000, i32 1}'


class _Stub:
    """Text of the C function of an entry.

    Blocks: counts and inputs are checked; then either the outputs are allocated (``slots``, null
    until made, so that one block ``fail`` can release them), or the given ones are checked.
    Every check that fails leads to the block ``fallback``.
    """

    def __init__(
        self,
        address: int,
        inputs: tuple[Argument, ...],
        outputs: tuple[Argument, ...],
        fallback: int,
        release_gil: bool,
    ) -> None:
        self.address = address
        self.inputs = inputs
        self.outputs = outputs
        self.fallback = fallback
        self.release_gil = release_gil
        self.lines: list[str] = []
        self.count = 0

    # the few instructions that are needed

    def value(self, right: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {right}")
        return f"%v{self.count}"

    def block(self, label: str) -> str:
        self.lines.append(f"{label}:")
        return label

    def load(self, base: str, offset: int, kind: str = "ptr") -> str:
        place = self.value(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.value(f"load {kind}, ptr {place}")

    def python(self, name: str, arguments: str, result: str = "ptr") -> str:
        return self.value(f"call {result} {_pointer(_python_address(name))}({arguments})")

    def require(self, conditions: Sequence[str], otherwise: str) -> None:
        """Go on in a new block if all conditions hold."""
        all_hold = conditions[0]
        for condition in conditions[1:]:
            all_hold = self.value(f"and i1 {all_hold}, {condition}")
        self.count += 1
        label = f"b{self.count}"
        self.lines.append(f"  br i1 {all_hold}, label %{label}, label %{otherwise}, {LIKELY}")
        self.block(label)

    def is_type(self, thing: str, kind: type) -> str:
        found = self.load(thing, TYPE)
        return self.value(f"icmp eq ptr {found}, {_pointer(id(kind))}")

    # checks

    def argument(self, place: int) -> str:
        return self.load("%args", 8 * place)

    def array_data(self, thing: str, shape: tuple[int, ...], flags: int) -> str:
        """Pointer to the data of an array of that shape and those flags."""
        self.require([self.is_type(thing, np.ndarray)], "fallback")
        ndim = self.load(thing, NDIM, "i32")
        found = self.value(f"and i32 {self.load(thing, FLAGS, 'i32')}, {flags}")
        descriptor = self.load(thing, DESCRIPTOR)
        conditions = [
            self.value(f"icmp eq i32 {ndim}, {len(shape)}"),
            self.value(f"icmp eq i32 {found}, {flags}"),
            self.value(f"icmp eq ptr {descriptor}, {_pointer(id(FLOAT64))}"),
        ]
        self.require(conditions, "fallback")
        if shape:
            dimensions = self.load(thing, DIMENSIONS)
            sizes = [self.load(dimensions, 8 * i, "i64") for i in range(len(shape))]
            pairs = zip(sizes, shape, strict=True)
            self.require([self.value(f"icmp eq i64 {a}, {b}") for a, b in pairs], "fallback")
        return self.load(thing, DATA)

    def input_data(self, place: int, shape: tuple[int, ...]) -> str:
        flags = C_CONTIGUOUS | ALIGNED
        thing = self.argument(place)
        if shape:
            return self.array_data(thing, shape, flags)
        plain = self.is_type(thing, float)
        number = self.value(f"or i1 {plain}, {self.is_type(thing, np.float64)}")
        label = f"in{place}"
        self.lines.append(f"  br i1 {number}, label %{label}_number, label %{label}_array")
        self.block(f"{label}_number")
        inside = self.value(f"getelementptr i8, ptr {thing}, i64 {VALUE}")
        self.lines.append(f"  br label %{label}")
        self.block(f"{label}_array")
        data = self.array_data(thing, shape, flags)
        self.lines += [f"  br label %{label}_from_array", f"{label}_from_array:"]
        self.lines.append(f"  br label %{label}")
        self.block(label)
        return self.value(f"phi ptr [ {inside}, %{label}_number ], [ {data}, %{label}_from_array ]")

    # the parts of the function

    def call_kernel(self, pointers: Sequence[str]) -> None:
        arguments = ", ".join(f"ptr {p}" for p in pointers)
        if self.release_gil:
            state = self.python("PyEval_SaveThread", "")
        self.lines.append(f"  call void {_pointer(self.address)}({arguments})")
        if self.release_gil:
            restore = _pointer(_python_address("PyEval_RestoreThread"))
            self.lines.append(f"  call void {restore}(ptr {state})")

    def increase_references(self, thing: str) -> None:
        self.lines.append(f"  call void {_pointer(_python_address('Py_IncRef'))}(ptr {thing})")

    def keep(self, made: str, place: int) -> None:
        """Leave with an error if an object could not be made, else put it in its slot."""
        self.require([self.value(f"icmp ne ptr {made}, null")], "fail")
        slot = self.value(f"getelementptr ptr, ptr %slots, i64 {place}")
        self.lines.append(f"  store ptr {made}, ptr {slot}")

    def with_new_outputs(self, data: list[str]) -> None:
        pointers = list(data)
        made: list[str | None] = []
        for place, output in enumerate(self.outputs):
            if output.shape:
                array = self.value(
                    f"call ptr {_pointer(_numpy_address(ARRAY_NEW))}"
                    f"(ptr {_pointer(id(np.ndarray))}, i32 {len(output.shape)}, ptr @shape{place},"
                    f" i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)"
                )
                self.keep(array, place)
                made.append(array)
                pointers.append(self.load(array, DATA))
            else:
                made.append(None)
                pointers.append(f"%number{place}")
        self.call_kernel(pointers)
        results: list[str] = []
        for place, thing in enumerate(made):
            if thing is None:
                number = self.value(f"load double, ptr %number{place}")
                thing = self.python("PyFloat_FromDouble", f"double {number}")
                self.keep(thing, place)
            results.append(thing)
        if len(results) == 1:
            self.lines.append(f"  ret ptr {results[0]}")
            return
        group = self.python("PyTuple_New", f"i64 {len(results)}")
        self.require([self.value(f"icmp ne ptr {group}, null")], "fail")
        for place, thing in enumerate(results):  # the tuple takes over the references
            self.python("PyTuple_SetItem", f"ptr {group}, i64 {place}, ptr {thing}", "i32")
        self.lines.append(f"  ret ptr {group}")

    def with_given_outputs(self, data: list[str]) -> None:
        pointers = list(data)
        for place, output in enumerate(self.outputs, len(self.inputs)):
            flags = C_CONTIGUOUS | ALIGNED | WRITEABLE
            pointers.append(self.array_data(self.argument(place), output.shape, flags))
        self.call_kernel(pointers)
        self.increase_references(_pointer(id(None)))
        self.lines.append(f"  ret ptr {_pointer(id(None))}")

    def text(self) -> str:
        few, many = len(self.inputs), len(self.inputs) + len(self.outputs)
        self.block("entry")
        self.lines.append(f"  %slots = alloca [{len(self.outputs)} x ptr]")
        for place, output in enumerate(self.outputs):
            if not output.shape:
                self.lines.append(f"  %number{place} = alloca double")
        self.lines.append("  %allocate = icmp eq i64 %n, " + str(few))
        filled = self.value(f"icmp eq i64 %n, {many}")
        counts = self.value(f"or i1 %allocate, {filled}")
        self.require([counts, self.value("icmp eq ptr %names, null")], "fallback")
        data = [self.input_data(i, a.shape) for i, a in enumerate(self.inputs)]
        self.lines.append("  br i1 %allocate, label %new, label %given")
        self.block("new")
        self.lines.append(f"  store [{len(self.outputs)} x ptr] zeroinitializer, ptr %slots")
        self.with_new_outputs(data)
        self.block("given")
        self.with_given_outputs(data)
        self.block("fail")
        for place in range(len(self.outputs)):
            thing = self.load("%slots", 8 * place)  # Py_DecRef accepts null
            self.lines.append(f"  call void {_pointer(_python_address('Py_DecRef'))}(ptr {thing})")
        self.lines.append("  ret ptr null")
        self.block("fallback")
        arguments = f"ptr {_pointer(self.fallback)}, ptr %args, i64 %n, ptr %names"
        answer = self.python("PyObject_Vectorcall", arguments)
        self.lines.append(f"  ret ptr {answer}")
        shapes = "".join(
            f"@shape{i} = private constant [{len(a.shape)} x i64]"
            f" [{', '.join(f'i64 {n}' for n in a.shape)}]\n"
            for i, a in enumerate(self.outputs)
            if a.shape
        )
        body = "\n".join(self.lines)
        return (
            f"{shapes}define ptr @entry(ptr %self, ptr %args, i64 %n, ptr %names) nounwind {{\n"
            f"{body}\n}}\n"
        )


# -- the entry with ctypes ------------------------------------------------------------------------


def _is_exact(thing: object, shape: tuple[int, ...]) -> TypeGuard[Array]:
    return (
        type(thing) is np.ndarray
        and thing.dtype is FLOAT64
        and thing.flags.c_contiguous
        and thing.flags.aligned
        and thing.shape == shape
    )


def _ctypes_call(
    address: int,
    name: str,
    inputs: tuple[Argument, ...],
    outputs: tuple[Argument, ...],
    fallback: Callable[..., object],
    release_gil: bool,
) -> Callable[..., object]:
    """The same behaviour in Python, for where objects have another layout."""
    prototype = ctypes.CFUNCTYPE if release_gil else ctypes.PYFUNCTYPE
    kernel = prototype(None, *[ctypes.c_void_p] * (len(inputs) + len(outputs)))(address)
    few, many = len(inputs), len(inputs) + len(outputs)

    def call(*args: object, **kwargs: object) -> object:
        if kwargs or len(args) not in (few, many):
            return fallback(*args, **kwargs)
        values: list[Array] = []
        for argument, thing in zip(inputs, args, strict=False):
            if not argument.shape and type(thing) in (float, np.float64):
                thing = np.array(thing)
            if not _is_exact(thing, argument.shape):
                return fallback(*args)
            values.append(thing)
        results = args[few:] or tuple(np.empty(a.shape) for a in outputs)
        for argument, thing in zip(outputs, results, strict=True):
            if not _is_exact(thing, argument.shape) or not thing.flags.writeable:
                return fallback(*args)
            values.append(thing)
        kernel(*(a.ctypes.data for a in values))
        if len(args) == many:
            return None
        answers = [a if a.shape else float(a) for a in values[few:]]
        return answers[0] if len(answers) == 1 else tuple(answers)

    call.__name__ = call.__qualname__ = name
    return call
