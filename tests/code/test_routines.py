from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
from collections.abc import Callable
from math import atan2, ceil, copysign, cos, exp, floor, isfinite, isnan, log, sin, sqrt, tan
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import biela.solvers
from biela.code.routines import (
    CStyle,
    Int,
    IntVector,
    Kernel,
    Matrix,
    Real,
    Routine,
    Vector,
    c_prototype,
    c_text,
    routine,
)
from biela.code.routines.sizes import Size
from biela.errors import ExportError, RoutineError, ShapeError
from tests.routines_in_c import compile_c, in_c, same_bits

GRAVITY = 9.81
ROWS = 3


@routine(x="n", y="n")
def dot(n: Int, x: Vector, y: Vector) -> Real:
    """Scalar product."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@routine(values="n", quotients="n", remainders="n")
def divide(n: Int, by: Int, values: IntVector, quotients: IntVector, remainders: IntVector) -> Int:
    """Floor division, and the count of exact ones."""
    exact = 0
    for i in range(n):
        quotients[i] = values[i] // by
        remainders[i] = values[i] % by
        if remainders[i] == 0:
            exact += 1
    return exact


@routine(x="n", y="n", out="n, 8")
def mixture(n: Int, x: Vector, y: Vector, out: Matrix) -> None:
    """Everything whose meaning C and Python could see differently."""
    for i in range(n):
        a = x[i]
        b = y[i]
        out[i, 0] = min(a, b)
        out[i, 1] = max(a, b, i)
        out[i, 2] = -(a**2) + 2 * b**3 - (a - b) ** 4 / GRAVITY
        out[i, 3] = a - (b - a) - -b
        out[i, 4] = a / (b * a) / b
        out[i, 5] = i / (n + 1) + (1 if a < b <= 2 or not a > b else i)
        out[i, 6] = abs(a - b) * abs(i - 2)
        out[i, 7] = a if isnan(b) and not isfinite(a) else -a


@routine(x="n", out="n, 16")
def functions(n: Int, x: Vector, out: Matrix) -> None:
    for i in range(n):
        a = x[i]
        out[i, 0] = sqrt(abs(a))
        out[i, 1] = sin(a)
        out[i, 2] = cos(a)
        out[i, 3] = tan(a)
        out[i, 4] = math.asin(a / 100.0)
        out[i, 5] = math.acos(a / 100.0)
        out[i, 6] = math.atan(a)
        out[i, 7] = math.sinh(a)
        out[i, 8] = math.cosh(a)
        out[i, 9] = math.tanh(a)
        out[i, 10] = exp(a)
        out[i, 11] = log(abs(a))
        out[i, 12] = atan2(a, 2.0)
        out[i, 13] = copysign(math.pi, -a)
        out[i, 14] = floor(a) + 10 * ceil(a) + 100 * int(a)
        out[i, 15] = math.pow(abs(a), 1.5)


@routine(x="n")
def jumps(n: Int, x: Vector) -> Int:
    """Count with `break`, `continue`, `elif` and a step."""
    found = 0
    done = False
    for i in range(n - 1, -1, -2):
        if x[i] < -1.0:
            continue
        elif x[i] > 1.5:
            found += 100
        # a comment above `elif` moves into its block
        elif i == 1:
            done = True
        else:
            found += 1
        if done:
            break
    register = found  # a keyword of C
    register -= 1
    return register + 1


@routine(x="2*n")
def halves(n: Int, x: Vector) -> Real:
    """Parts of a vector passed on."""
    return dot(n, x[:n], x[n:]) + dot(n, x[0:n], x[n : 2 * n])


@routine(A="ROWS_, n")
def rows(ROWS_: Int, n: Int, A: Matrix) -> Real:
    best = -math.inf
    for i in range(ROWS_):
        for j in range(i):
            value = dot(n, A[i], A[j])
            if value > best:
                best = value
    return best


@routine(x="n", y="n", f="n -> n")
def apply_twice(n: Int, x: Vector, y: Vector, f: Kernel) -> None:
    """Set x to f(f(x))."""
    f(x, y)
    f(y, x)


@routine(A="3, n", y="n", f="n -> n")
def apply_to_rows(n: Int, A: Matrix, y: Vector, f: Kernel) -> None:
    for i in range(ROWS):
        apply_twice(n, A[i], y, f)


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def logistic(x, y):
    for i in range(4):
        y[i] = 3.9 * x[i] * (1.0 - x[i])


# --- same bits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 3, 8, 64, 1001])
def test_dot_product_is_not_reordered(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal(n), rng.standard_normal(n)
    total = 0.0
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        total += a * b
    assert same_bits(dot, n, x, y) == total


@pytest.mark.parametrize("by", [-7, -2, 3, 5])
def test_integer_division_rounds_down_for_all_signs(by: int) -> None:
    values = np.arange(-9, 10)
    quotients, remainders = np.zeros_like(values), np.zeros_like(values)
    same_bits(divide, 19, by, values, quotients, remainders)
    np.testing.assert_array_equal(quotients, values // by)
    np.testing.assert_array_equal(remainders, values % by)


def test_expressions_mean_the_same_everywhere() -> None:
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    a, b = (v.ravel() for v in np.meshgrid(special, special))
    x, y = np.r_[a, rng.standard_normal(50)], np.r_[b, rng.standard_normal(50)]
    n = len(x)
    out = np.zeros((n, 8))
    same_bits(mixture, n, x, y, out)
    at = -1
    assert out[at, 2] == -(x[at] * x[at]) + 2 * (y[at] * y[at] * y[at]) - (
        (d := x[at] - y[at]) * d * d * d / 9.81
    )
    # Python's rule: the first, unless the second is smaller
    expected = [min(p, q) for p, q in zip(x.tolist(), y.tolist(), strict=True)]
    assert out[:, 0].tobytes() == np.array(expected).tobytes()


def test_functions_of_math_mean_the_same_everywhere() -> None:
    x = np.random.default_rng(3).uniform(-99, 99, 500)
    out = np.zeros((500, 16))
    same_bits(functions, 500, x, out)
    np.testing.assert_allclose(out[:, 1], np.sin(x), rtol=1e-15)
    np.testing.assert_array_equal(out[:, 14], np.floor(x) + 10 * np.ceil(x) + 100 * np.trunc(x))


@pytest.mark.parametrize("n", [1, 2, 5, 12, 13])
def test_jumps_and_branches_take_the_same_path(n: int) -> None:
    x = 2 * np.random.default_rng(n).standard_normal(n)
    same_bits(jumps, n, x)


def test_rows_and_parts_are_passed_without_copies() -> None:
    rng = np.random.default_rng(4)
    x, A = rng.standard_normal(10), rng.standard_normal((3, 4))
    assert same_bits(halves, 5, x) == pytest.approx(2 * x[:5] @ x[5:])
    G = A @ A.T
    assert same_bits(rows, 3, 4, A) == pytest.approx(max(G[1, 0], G[2, 0], G[2, 1]))


def test_kernels_are_called_by_address_and_pass_through_routines() -> None:
    A, y = np.random.default_rng(5).random((3, 4)), np.zeros(4)
    start = A.copy()
    same_bits(apply_to_rows, 4, A, y, logistic)
    once = 3.9 * start * (1 - start)
    np.testing.assert_allclose(A, 3.9 * once * (1 - once), rtol=1e-14)


def test_plain_python_takes_python_functions_as_kernels() -> None:
    x = np.array([1.0, 2.0])

    def double(a: np.ndarray, b: np.ndarray) -> None:
        b[:] = 2 * a

    apply_twice.python(2, x, np.zeros(2), double)
    np.testing.assert_array_equal(x, [4.0, 8.0])


@pytest.mark.parametrize("name", biela.solvers.__all__)
def test_every_solver_keeps_to_the_language(name: str) -> None:
    found = getattr(biela.solvers, name)
    if isinstance(found, Routine):
        for real in ("double", "float"):
            compile_c(found.c(real=real, integer="int32_t", prefix="biela_"))


# --- the printed C --------------------------------------------------------------------------------


def test_c_text_keeps_names_comments_and_order() -> None:
    assert (
        dot.c()
        == """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// Scalar product.
double dot(int64_t n, const double *x, const double *y) {
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    total += x[i]*y[i];
  }
  return total;
}
"""
    )
    text = jumps.c()
    assert "    // a comment above `elif` moves into its block\n" in text
    assert "register_ = found;  // a keyword of C\n" in text


def test_c_text_has_each_routine_once_and_helpers_static() -> None:
    text = c_text([rows, halves, dot], CStyle(prefix="bl_"))
    assert text.count("double bl_dot(") == 1 and "static double bl_dot" not in text
    compile_c(text)
    assert "static double dot(" in halves.c()


def test_c_prototype_is_the_head_of_the_function() -> None:
    declared = c_prototype(apply_twice)
    assert declared == (
        "void apply_twice(int64_t n, double *x, double *y, void (*f)(const double *, double *));\n"
    )
    assert declared.rstrip(";\n") + " {" in apply_twice.c()


def test_float_has_literals_and_functions_of_its_own() -> None:
    text = functions.c(real="float")
    assert "sqrtf(fabsf(a))" in text and "a/100.0f" in text and "double" not in text
    compile_c(text)


def test_routines_of_one_name_are_not_mixed_up() -> None:
    @routine()
    def dot() -> Int:
        return 1

    with pytest.raises(ExportError, match="two routines are called 'dot'"):
        c_text([rows, dot])


@pytest.mark.gcc
@pytest.mark.parametrize("level", ["-O0", "-O3 -march=native"])
def test_bits_do_not_depend_on_the_optimisation(level: str) -> None:
    x, y = np.random.default_rng(6).standard_normal((2, 333))
    flags = f"-std=c99 {level} -ffp-contract=off -shared -fPIC"
    assert in_c(dot, flags)(333, x, y) == dot(333, x, y)


# --- arguments ------------------------------------------------------------------------------------


def test_arguments_may_be_named_and_read_only() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    assert dot(3, y=x, x=x) == 3.0


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((3, np.ones(3), np.ones(4)), ShapeError, r"'y' has shape \(4,\) where \(n\) = \(3,\)"),
        ((3, np.ones(3), [1.0] * 3), ShapeError, "use numpy.array"),
        ((3, np.ones(3, dtype=np.float32), np.ones(3)), ShapeError, "'x' is of float32"),
        ((3, np.ones(6)[::2], np.ones(3)), ShapeError, "not contiguous"),
        ((3.0, np.ones(3), np.ones(3)), TypeError, "'n' is an integer, not 3.0"),
        ((3, np.ones(3)), TypeError, r"takes 3 arguments \(n, x, y\), not 2"),
    ],
)
def test_wrong_arguments_are_named(
    args: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        dot(*args)


def test_written_arrays_are_not_read_only_and_kernels_not_bare_numbers() -> None:
    x = np.ones(4)
    x.flags.writeable = False
    with pytest.raises(ShapeError, match="'x' is written to, and it is read-only"):
        apply_twice(4, x, np.ones(4), logistic)
    with pytest.raises(TypeError, match="does not keep its code alive"):
        apply_twice(4, np.ones(4), np.ones(4), logistic.address)


def test_kernels_that_know_their_sizes_are_checked() -> None:
    class Compiled:
        address = logistic.address
        input_sizes = (5,)
        output_sizes = (5,)

    with pytest.raises(ShapeError, match=r"input_sizes \(5,\) where \(4,\) is needed"):
        apply_twice(4, np.ones(4), np.ones(4), Compiled())


def test_numba_is_not_imported_until_a_routine_runs() -> None:
    text = "import sys, biela.solvers as s; s.newton.c(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


# --- rules ----------------------------------------------------------------------------------------

HEAD = """\
from biela.code.routines import *
from math import sqrt
import numpy as np
TABLE = [1, 2]

@routine(x="n", A="n, n", f="n -> n")
def helper(n: Int, x: Vector, A: Matrix, f: Kernel) -> Int:
    f(x, A[0])
    return 0

@routine(x="n", y="m", A="n, m", f="n -> m", k="n")
def broken(n: Int, m: Int, a: Real, x: Vector, y: Vector, A: Matrix, f: Kernel, k: IntVector) -> Int:
"""  # noqa: E501


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Routine[..., Any]]:
    def make(text: str) -> Routine[..., Any]:
        path = tmp_path / "broken.py"
        path.write_text(text, encoding="utf-8")
        specification = importlib.util.spec_from_file_location("broken", path)
        assert specification is not None and specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        found: Routine[..., Any] = module.broken
        return found

    return make


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("while a > 0:\n  a -= 1\nreturn 0", 1, "`while` has no bound; write `for k in range"),
        ("s = 0\ns = 0.5\nreturn s", 2, "'s' began as Int and becomes Real"),
        ("return a", 1, "'a' is Real where Int is needed; write int"),
        ("if n:\n  return 1\nreturn 0", 1, "'n' is Int where Bool is needed; write a comparison"),
        ("if a > 0:\n  s = 1\nreturn s", 3, "'s' may be read before it has a value"),
        ("if a > 0:\n  return 1", 0, "not every path returns a Int"),
        ("for i in range(n):\n  pass\nreturn i", 3, "a loop variable lives in its loop only"),
        ("for i in range(n):\n  i = 2\nreturn 0", 2, "'i' is a loop variable"),
        ("for v in x:\n  pass\nreturn 0", 1, "write `for i in range"),
        ("s = 9\nfor i in range(s):\n  s -= 1\nreturn 0", 2, "depends on 's', which changes"),
        ("for i in range(k[0]):\n  k[i] = 1\nreturn 0", 1, "depends on 'k', which changes"),
        ("for i in range(0, n, m):\n  pass\nreturn 0", 1, "the step of a range is a number"),
        ("n = 2\nreturn n", 1, "'n' is the size of an array and cannot change"),
        ("x = y\nreturn 0", 1, "'y' is a Real vector of shape"),
        ("x[-1] = 0\nreturn 0", 1, "counts from the end; write n - 1"),
        ("x[0.5] = 0\nreturn 0", 1, "'0.5' is Real where Int is needed"),
        ("A[0] = 0\nreturn 0", 1, "does not name one element of 'A'"),
        ("z = np.zeros(3)\nreturn 0", 1, "'np.zeros' is neither a routine nor"),
        ("z = [1.0]\nreturn 0", 1, "'[1.0]' is not in the language"),
        ("s, t = 1, 2\nreturn s", 1, "assign one name or element a statement"),
        ("s = t = 1\nreturn s", 1, "assign one name or element a statement"),
        ("return TABLE", 1, "'TABLE' is a list; only integers and floats may come from outside"),
        ("return nothing", 1, "'nothing' is not known here"),
        ("return n ** m", 1, "only the powers 2, 3 and 4"),
        ("s = a // 2\nreturn 0", 1, "is for Int only; write floor(x / y)"),
        ("s = f(x, y)\nreturn 0", 1, "kernel 'f' has no value; call it on its own"),
        ("f(y, x)\nreturn 0", 1, "argument 1 of kernel 'f' has n reals"),
        ("f(x)\nreturn 0", 1, "'f' takes 2 arguments, not 1"),
        ("return helper(n, x, A, f)", 1, "'A' of 'helper' is a Real matrix of shape (n, n)"),
        ("return 1 + helper(n, x, A, f)", 1, "argument 'A'|writes arrays; assign its value"),
        ("sqrt = 2.0\nreturn 0", 0, "'sqrt' is the name of a function"),
        ("try:\n  pass\nfinally:\n  pass\nreturn 0", 1, "not in the language: a routine has"),
        ("return 0\nx[0] = 1", 2, "this statement can never run"),
        ("return broken(n, m, a, x, y, A, f, k)", -1, "calls itself"),
    ],
)  # fmt: skip
def test_a_broken_rule_names_the_line_and_what_to_write(
    body: str, line: int, message: str, load: Callable[[str], Routine[..., Any]]
) -> None:
    text = HEAD + "".join(f"    {row}\n" for row in body.split("\n"))
    with pytest.raises(RoutineError) as caught:
        load(text).c()
    assert any(part in caught.value.message for part in message.split("|")), caught.value
    assert caught.value.line == HEAD.count("\n") + line
    assert str(caught.value).startswith(f"{caught.value.file}:{caught.value.line}: ")
    assert caught.value.file.endswith("broken.py")


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("@routine()\ndef broken(x: Vector) -> None: pass", '@routine(x="n")'),
        ('@routine(x="k")\ndef broken(x: Vector) -> None: pass', "size 'k' is not an Int argument"),
        ('@routine(y="1")\ndef broken(n: Int) -> None: pass', "a shape is given for 'y'"),
        ("@routine()\ndef broken(n: int) -> None: pass", "annotate 'n' as Int, Real"),
        ("@routine()\ndef broken(n: Int): pass", "annotate the result"),
        ("@routine()\ndef broken(n: Int = 2) -> None: pass", "have no defaults"),
        ('@routine(f="1")\ndef broken(f: Kernel) -> None: pass', '@routine(f="n, m -> n")'),
    ],
)
def test_a_signature_states_types_and_sizes(
    definition: str, message: str, load: Callable[[str], Routine[..., Any]]
) -> None:
    with pytest.raises(RoutineError) as caught:
        load("from biela.code.routines import *\n" + definition + "\n").c()
    assert message in caught.value.message


def test_sizes_are_compared_as_polynomials() -> None:
    assert Size.parse("n*(m + 1) - n") == Size.parse("m*n")
    assert str(Size.parse("1 + 2*n - m*n")) == "-m*n + 2*n + 1"


def test_the_cache_follows_a_change_in_a_callee(
    load: Callable[[str], Routine[..., Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIELA_CACHE_DIR", str(tmp_path / "cache"))
    text = """\
from biela.code.routines import *

@routine()
def inner(a: Real) -> Real:
    return a + 1

@routine()
def broken(a: Real) -> Real:
    return 2 * inner(a)
"""
    assert load(text)(1.0) == 4.0
    import linecache

    linecache.clearcache()
    assert load(text.replace("a + 1", "a + 20"))(1.0) == 42.0
    assert len(list((tmp_path / "cache" / "objects").glob("*.o"))) == 4
