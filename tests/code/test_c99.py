"""Exported C: compiled with every warning an error, and run."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import biela as bl
from biela.atoms import opcodes as op
from biela.code import Function
from biela.code.targets import c99
from biela.errors import ExportError
from tests.exported_functions import (
    EXTERNAL_C,
    EXTERNAL_FLOAT,
    assert_same,
    every_operation,
    newton_euler,
    puma,
    states,
)
from tests.routines_in_c import compile_c

pytestmark = pytest.mark.gcc
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def run(
    library: ctypes.CDLL, function: Function, state: list[Any], order: str = "F", real: Any = float
) -> list[Any]:
    """The outputs of a compiled function; what it does not write stays nan."""
    inputs = [np.asarray(x, dtype=real).ravel(order) for x in state]
    outputs = [np.full(a.size, np.nan, dtype=real) for a in function.outputs]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*inputs, *outputs)]
    getattr(library, function.name)(*pointers)
    return [
        a.reshape(array.shape, order=order)
        for a, array in zip(outputs, function.outputs, strict=True)
    ]


@pytest.mark.parametrize("function", [every_operation(), puma()], ids=lambda f: f.name)
@pytest.mark.parametrize("order", ["column", "row"])
def test_results_are_those_of_the_interpreted_graph(function: Function, order: Any) -> None:
    library = compile_c(c99.source(function, order=order) + EXTERNAL_C)
    for state in states(function):
        assert_same(
            function, state, run(library, function, state, {"column": "F", "row": "C"}[order])
        )


@pytest.mark.parametrize("function", [every_operation(), puma()], ids=lambda f: f.name)
def test_single_precision_agrees_to_its_digits(function: Function) -> None:
    library = compile_c(c99.source(function, real="float") + EXTERNAL_FLOAT)
    # states of few bits: comparisons and breakpoints fall to the same side in both precisions
    for state in states(function):
        rounded = [np.round(8 * np.asarray(x)) / 8 for x in state]
        if function.name == "every":
            rounded[0][:2] += 1 / 64, -1 / 128
        results = run(library, function, rounded, real=np.float32)
        assert_same(function, rounded, results, eps=2e-5)


def test_single_precision_uses_no_double() -> None:
    text = c99.source(every_operation(), real="float")
    code = "\n".join(line.partition("//")[0] for line in text.splitlines())
    assert "double " not in code
    for name in ("sin(", "pow(", "sqrt(", "fabs(", "floor("):
        assert f" {name}" not in code


def test_a_long_function_is_cut_into_parts() -> None:
    example = newton_euler()
    function = example.torque_function("chain", example.random_chain(45))
    text = c99.source(function)
    assert text.count("static void chain_part") > 2
    library = compile_c(text)
    for state in states(function, 3):
        assert_same(function, state, run(library, function, state))


# --- files -----------------------------------------------------------------------------------


def bundle() -> list[Function]:
    """Two functions of two workspaces that use the same names for different things."""
    ws, other = bl.Workspace("one"), bl.Workspace("two")
    f, g = ws.symbols("f g")
    cam = ws.lookup("cam", [0.0, 1.0], [1.0, 2.0])
    law = ws.external("law", 1, abs)
    first = Function("f", {"q": [f, g]}, {"M": [[cam(f) * g, 0], [law(g), -g]]})
    x = other.symbol("x")
    steep = other.lookup("cam", [0.0, 1.0], [0.0, 9.0])
    second = Function("g", {"f": x}, {"g": steep(x) + bl.sign(x)})
    return [first, second]


def test_what_is_too_large_for_the_stack_is_static(monkeypatch):
    monkeypatch.setattr(c99, "PART_SIZE", 20)
    monkeypatch.setattr(c99, "STACK_SLOTS", 2)
    text = c99.source(puma())
    assert "one call at a time" in text
    assert "  static double w" in text
    monkeypatch.setattr(c99, "STACK_SLOTS", 10**6)
    assert "static double w" not in c99.source(puma())


def test_header_and_source_compile_and_link(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    functions = bundle()
    header, source = c99.header_and_source(functions, "both")
    (tmp_path / "both.h").write_text(header)
    (tmp_path / "both.c").write_text(source)
    (tmp_path / "law.c").write_text('#include "both.h"\ndouble law(double x) { return -x; }\n')
    command = [
        "gcc",
        *WARNINGS,
        "-O2",
        "-shared",
        "-fPIC",
        "-o",
        "both.so",
        "both.c",
        "law.c",
        "-lm",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "both.so"))
    (M,) = run(library, functions[0], [[0.5, 3.0]])
    np.testing.assert_array_equal(M, [[4.5, 0.0], [-3.0, -3.0]])
    (g,) = run(library, functions[1], [0.5])
    assert g == 5.5


def test_the_header_is_read_by_cpp(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    ws = bl.Workspace("reserved words of C++")
    new, this = ws.symbols(["new", "this"])
    function = Function("template", {"class": [new, this]}, {"public": [new * this]})
    header, _ = c99.header_and_source(function)
    (tmp_path / "template.h").write_text(header)
    (tmp_path / "use.cpp").write_text(
        '#include "template.h"\nvoid (*f)(const double*, double*) = template_;\n'
    )
    subprocess.run(
        ["g++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "use.cpp"], cwd=tmp_path, check=True
    )


def test_the_header_says_which_entry_is_which_symbol() -> None:
    header, _ = c99.header_and_source(every_operation())
    assert "//   q[3]: q[0] x, q[1] y, q[2] lambda\n" in header
    assert "p[4], 2 x 2, (i, j) is p[i + 2*j]: p[0] end, p[1] in, p[2] double, p[3] a1\n" in header
    assert "//   matrix[6], 2 x 3, (i, j) is matrix[i + 2*j]\n" in header
    assert "extern double mu(double, double);" in header
    row, _ = c99.header_and_source(every_operation(), order="row")
    assert "(i, j) is matrix[3*i + j]\n" in row


def test_reserved_and_clashing_names_get_an_underscore() -> None:
    ws = bl.Workspace("names\nint main(void) {} \\")
    names = ["double", "f", "out", "q", "sin", "biela_sign", "I", "w"]
    symbols = ws.symbols(names)
    total = sum(symbols[1:], symbols[0]) + bl.sign(symbols[0]) + bl.sin(symbols[1])
    function = Function("f", {"q": list(symbols)}, {"out": [total]})
    text = c99.source(function)
    for name in names[:-1]:
        assert f"const double {name}_ = q[" in text
    assert "const double w = q[" in text
    library = compile_c(text)
    state = [np.arange(1.0, 9.0)]
    assert_same(function, state, run(library, function, state))


def test_functions_do_not_hide_those_of_the_library() -> None:
    ws = bl.Workspace()
    gamma, y1 = ws.symbols("gamma y1")
    function = Function("gamma", {"q": [gamma, y1]}, {"conj": [gamma * y1]})
    text = c99.source(function)
    assert "void gamma_(const double *q, double *conj)" in text
    assert "const double y1 = q[1];" in text
    # without a standard asked for, gcc declares gamma(double)
    compile_c(text, "-O2 -Wall -Wextra -Werror -shared -fPIC")


def test_numbers_are_the_shortest_that_round_trip() -> None:
    ws = bl.Workspace()
    x = ws.symbol("x")
    third = bl.Function("f", {"x": x}, {"y": [x / 3, 0.1 * x, x * 10**20, x + 1e-300, x * 2]})
    text = c99.source(third)
    for literal in ("0.3333333333333333*x", "0.1*x", "1e+20*x", "1e-300", "2.0*x"):
        assert literal in text
    with pytest.raises(ExportError, match="1e-300 is outside the range of a float"):
        c99.source(third, real="float")


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ExportError, match="double"):
        c99.source(puma(), real="half")


def test_the_text_is_the_same_in_every_process() -> None:
    root = Path(__file__).parent.parent.parent
    script = (
        "import hashlib; from tests.exported_functions import every_operation, puma;"
        "from biela.code.targets import julia, matlab, python;"
        "print([hashlib.sha256(t.encode()).hexdigest() for f in (every_operation(), puma())"
        " for t in (f.c(), f.matlab(), f.python(), f.julia())])"
    )
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1


# --- random graphs ---------------------------------------------------------------------------

#: each takes three earlier results and a number
OPERATIONS: dict[str, Any] = {
    "add": lambda a, b, c, k: a + b,
    "sub": lambda a, b, c, k: a - b,
    "mul": lambda a, b, c, k: a * b,
    "div": lambda a, b, c, k: a / b,
    "square": lambda a, b, c, k: a * a,
    "power": lambda a, b, c, k: a ** (2 + k % 9),
    "sqrt": lambda a, b, c, k: bl.sqrt(a),
    "abs": lambda a, b, c, k: abs(a),
    "sign": lambda a, b, c, k: bl.sign(a),
    "negate": lambda a, b, c, k: -a,
    "minimum": lambda a, b, c, k: bl.minimum(a, b),
    "maximum": lambda a, b, c, k: bl.maximum(a, b),
    "less": lambda a, b, c, k: a < b,
    "less_equal": lambda a, b, c, k: a <= b,
    "select": lambda a, b, c, k: bl.select(a, b, c),
}


def build(program: list[tuple[str, int, int, int]], n: int) -> Function:
    """A function that carries out the steps of a program, each on earlier results."""
    ws = bl.Workspace("random")
    symbols = ws.symbols(f"x:{n}")
    values: list[Any] = [*symbols, symbols[0] + 0.5, 2 * symbols[1], ws.atom(1), ws.atom(-3)]
    for name, i, j, k in program:
        a, b, c = (values[m % len(values)] for m in (i, j, k))
        try:
            values.append(OPERATIONS[name](a, b, c, k))
        except bl.BielaError:  # division by the number zero and the like
            continue
    # not all of them, or everything would have a name
    return Function("f", {"x": list(symbols)}, {"y": values[8::3] or values})


def exact(function: Function, x: np.ndarray) -> list[Any]:
    """The results with every operation rounded once, powers by squaring: what C must give."""
    table = function.table
    found: dict[int, Any] = dict(zip(function.inputs[0].refs, x, strict=True))

    def signed(ref: int) -> Any:
        return found[ref] if ref >= 0 else -found[-ref]

    def power(base: Any, n: int) -> Any:
        half = base if n < 4 else power(base, n // 2)
        square = half * half
        return square * base if n % 2 else square

    rules: dict[int, Any] = {
        op.ADD: lambda a, b: a + b,
        op.MUL: lambda a, b: a * b,
        op.DIV: lambda a, b: a / b,
        op.SQRT: np.sqrt,
        op.ABS: np.abs,
        op.SIGN: np.sign,
        op.MIN: lambda a, b: a if a < b else b,
        op.MAX: lambda a, b: a if a > b else b,
        op.LESS: lambda a, b: np.float64(a < b),
        op.LESS_EQUAL: lambda a, b: np.float64(a <= b),
        op.SELECT: lambda c, a, b: a if c != 0 else b,
    }
    with np.errstate(all="ignore"):
        for atom in function.schedule.live:
            code = table.ops[atom]
            if code == op.CONSTANT:
                found[atom] = np.float64(table.values[atom])
            elif code == op.POWER_INT:
                found[atom] = power(signed(table.left[atom]), table.right[atom])
            elif code != op.SYMBOL:
                found[atom] = rules[code](*(signed(r) for r in table.operands(atom)))
        return [signed(ref) for ref in function.outputs[0].refs]


_INDEX = st.integers(0, 10**6)
_PROGRAM = st.lists(
    st.tuples(st.sampled_from(sorted(OPERATIONS)), _INDEX, _INDEX, _INDEX),
    min_size=20,
    max_size=200,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=_PROGRAM, seed=st.integers(0, 2**32 - 1))
def test_random_graphs_keep_every_bit(program: list[tuple[str, int, int, int]], seed: int) -> None:
    # inlining, signs and parentheses must not change a single rounding
    function = build(program, 4)
    library = compile_c(c99.source(function))
    random = np.random.default_rng(seed)
    for x in (
        random.normal(size=4),
        np.array([0.0, 1.0, -1.0, 2.0]),
        random.integers(-3, 4, 4) / 2,
    ):
        (y,) = run(library, function, [x])
        np.testing.assert_array_equal(y, exact(function, x.astype(float)))
