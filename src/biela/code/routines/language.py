"""The routine language: types for annotations, the `routine` decorator and what it makes.

A *routine* is a numeric procedure written once, in a small typed subset of Python. numba runs it in
process, and the same source is printed as C99 for export; both give the same bits.

    @routine(x="n", y="n")
    def dot(n: Int, x: Vector, y: Vector) -> Real:
        \"\"\"Scalar product Σ xᵢ yᵢ.\"\"\"
        total = 0.0
        for i in range(n):
            total += x[i] * y[i]
        return total

**Arguments** are `Int`, `Real`, arrays and kernels, by position. The decorator states the sizes of
arrays as polynomials in the `Int` arguments (`A="n, n"`, `path="steps + 1, n"`); they are checked
at each call from Python, and proved for calls between routines. Arrays are contiguous and
row-major. There are no local arrays: scratch space is an argument too.

**Kernels** are compiled functions `void f(const double *in0, ..., double *out0, ...)`. Their sizes
are stated likewise, `f="n, m -> n"` for two inputs and one output, and they are called as
`f(x, p, y)`.

**Statements** are assignment of one name or element, `+=` and its kin, `for i in range(...)`, `if`,
`break`, `continue`, `return`, and calls. **Expressions** are arithmetic, comparisons, `and`, `or`,
`not`, `a if c else b`, `abs`, `min`, `max`, `int`, `float`, functions of `math`, numbers defined
outside, and calls of routines. A row `A[i]` or a part `x[a:b]` can be passed on.

A local name has the type of its first value. `Int` becomes `Real` where needed; `//` and `%` are
for `Int` and round down; `x**2` is the product `x*x`. Indices do not count from the end.
Division by zero and the like give inf and nan, as in C.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, Literal, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from biela.code.routines.check import CheckedRoutine, check

__all__ = ["Int", "IntVector", "Kernel", "Matrix", "Real", "Routine", "Vector", "routine"]

Int: TypeAlias = int
Real: TypeAlias = float
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
IntVector: TypeAlias = NDArray[np.int64]
# Inside a routine a kernel is called; from outside comes the owner of its machine code: an object
# with an `address`, or a ctypes function. No one static type says both.
Kernel: TypeAlias = Any

P = ParamSpec("P")
R = TypeVar("R")


class Routine(Generic[P, R]):
    """A numeric routine: callable, and printable as C99.

    It is checked and compiled when first used; a broken rule raises `RoutineError` with the file
    and line.
    """

    is_routine = True

    def __init__(self, function: Callable[P, R], shapes: dict[str, str]) -> None:
        self._function = function
        self._shapes = shapes
        self._checking = False
        self.name: str = function.__name__
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Check the arguments and run the compiled routine."""
        result: R = self.compiled(*self._binding.native(args, kwargs))
        return result

    def __repr__(self) -> str:
        return f"<routine {self._function.__module__}.{self.name}>"

    @cached_property
    def checked(self) -> CheckedRoutine:
        """The routine in canonical form; raises `RoutineError` if it breaks a rule."""
        if self._checking:
            from biela.errors import RoutineError

            code = self._function.__code__
            message = f"routine '{self.name}' calls itself, directly or through others"
            raise RoutineError(message, code.co_filename, code.co_firstlineno)
        self._checking = True
        try:
            return check(self._function, self._shapes)
        finally:
            self._checking = False

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The bare numba function, for use inside other numba code.

        It takes kernels as integer addresses and checks nothing: whoever calls it keeps the owner
        of the kernel alive and the sizes right.
        """
        from biela.code.routines.in_process import compile_routine

        return compile_routine(self)

    @cached_property
    def python(self) -> Callable[..., Any]:
        """The routine as plain Python, for the debugger: slow, same bits, arguments not checked.

        Kernels may be Python functions `f(x, p, y)` here. Unlike compiled code, Python raises on
        division by zero, on the square root of a negative number and on overflow of exp.
        """
        from biela.code.routines.arguments import callable_kernels
        from biela.code.routines.in_process import plain_python

        return callable_kernels(self.checked, plain_python(self))

    def c(
        self,
        real: Literal["double", "float"] = "double",
        integer: str = "int64_t",
        prefix: str = "",
    ) -> str:
        """Return this routine as C99, after the routines it calls, each once and `static`.

        Compile it with `-ffp-contract=off` to get the bits of the routine in process.

        Args:
            real: C type of the reals.
            integer: C type of the integers; `"int32_t"` suits small processors.
            prefix: put before all function names.
        """
        from biela.code.routines.c99 import CStyle, c_text

        return c_text([self], CStyle(real, integer, prefix))

    @cached_property
    def _binding(self) -> Any:
        from biela.code.routines.arguments import Binding

        return Binding(self.checked)


def routine(**shapes: str) -> Callable[[Callable[P, R]], Routine[P, R]]:
    """Make a function a routine; `shapes` gives the sizes of its arrays and kernels.

    >>> from biela.solvers import ldlt_solve
    >>> ldlt_solve
    <routine biela.solvers.ldlt.ldlt_solve>
    """

    def decorate(function: Callable[P, R]) -> Routine[P, R]:
        return Routine(function, shapes)

    return decorate
