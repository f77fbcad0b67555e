"""C that does the same work in every state: the same results, and sines of our own."""

from __future__ import annotations

import ctypes
import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import biela as bl
from biela.code import Function
from biela.code.targets import c99
from biela.code.targets.c99_fixed import variable_work
from biela.errors import ExportError
from tests.code.test_c99 import run
from tests.exported_functions import EXTERNAL_C, assert_same, every_operation, states
from tests.routines_in_c import compile_c
from tests.simulators_in_c import run as run_program

pytestmark = pytest.mark.gcc
context = mpmath.mp.clone()
context.prec = 300


def waves() -> Function:
    ws = bl.Workspace("waves")
    (x,) = ws.coordinates("x")
    return Function("waves", {"x": [x]}, {"y": [bl.sin(x), bl.cos(x), bl.tan(x)]})


def angles() -> NDArray[np.float64]:
    """Angles of all sizes, near multiples of a quarter turn too."""
    random = np.random.default_rng(5)
    quarters = random.integers(-250_000, 250_000, 2000) * (math.pi / 2)
    return np.concatenate(
        [
            [0.0, -0.0, 1e-300, -1e-9, 4e5, -4e5],
            random.uniform(-10, 10, 4000),
            random.uniform(-4e5, 4e5, 4000),
            quarters[np.abs(quarters) < 4e5],
        ]
    )


def test_results_are_those_of_the_interpreted_graph() -> None:
    function = every_operation()
    library = compile_c(c99.source(function, work="fixed") + EXTERNAL_C)
    for state in states(function):
        assert_same(function, state, run(library, function, state))


def test_sines_and_cosines_are_the_bits_of_reproducible_native_code() -> None:
    function = waves()
    library = compile_c(c99.source(function, work="fixed"))
    native = function.compiled(reproducible=True)
    for x in angles():
        ours = run(library, function, [[x]])[0]
        assert ours[:2].tobytes() == native.call([x])[:2].tobytes(), x


def test_sines_and_cosines_are_within_an_ulp_of_many_digits() -> None:
    function = waves()
    library = compile_c(c99.source(function, work="fixed"))
    for x in angles()[::5]:
        sine, cosine, tangent = run(library, function, [[x]])[0]
        exact = context.mpf(float(x))
        for ours, truth in ((sine, context.sin(exact)), (cosine, context.cos(exact))):
            spacing = float(np.spacing(abs(float(truth)))) or 5e-324
            assert abs(context.mpf(float(ours)) - truth) <= 0.85 * spacing, x
        truth = context.tan(exact)
        assert abs(context.mpf(float(tangent)) - truth) <= 3 * float(np.spacing(abs(float(truth))))


def test_exponentials_are_within_an_ulp_and_hyperbolic_tangents_within_three() -> None:
    ws = bl.Workspace("rates")
    (x,) = ws.coordinates("x")
    function = Function("rates", {"x": [x]}, {"y": [bl.exp(x), bl.tanh(x)]})
    library = compile_c(c99.source(function, work="fixed"))
    random = np.random.default_rng(7)
    numbers = np.concatenate(
        [
            [0.0, -0.0, 1e-300, -1e-17, 700.0, -700.0, 21.9, 0.3465, -0.3466],
            random.uniform(-1, 1, 1500),
            random.uniform(-25, 25, 1500),
            random.uniform(-708, 709, 500),
            10 ** random.uniform(-20, 0, 500),
        ]
    )
    worst = [0.0, 0.0]
    for number in numbers:
        found = run(library, function, [[number]])[0]
        exact = context.mpf(float(number))
        for k, truth in enumerate((context.exp(exact), context.tanh(exact))):
            spacing = float(np.spacing(abs(float(truth))))
            worst[k] = max(worst[k], float(abs(context.mpf(float(found[k])) - truth) / spacing))
    assert worst[0] < 1.0
    assert worst[1] < 3.0
    ends = [run(library, function, [[x]])[0] for x in (800.0, -800.0, math.inf, -math.inf, -0.0)]
    assert [list(pair) for pair in ends[:4]] == [[math.inf, 1], [0, -1], [math.inf, 1], [0, -1]]
    assert math.copysign(1.0, ends[4][1]) == -1.0
    assert np.isnan(run(library, function, [[math.nan]])[0]).all()
    assert run(library, function, [[-740.0]])[0][0] == pytest.approx(math.exp(-740.0), rel=1e-2)


@pytest.mark.parametrize("x", [4.1e5, -1e9, math.inf, math.nan])
def test_an_angle_beyond_the_limit_has_no_sine(x: float) -> None:
    function = waves()
    library = compile_c(c99.source(function, work="fixed"))
    assert np.isnan(run(library, function, [[x]])[0]).all()


def test_static_functions_are_not_seen_from_outside() -> None:
    text = c99.static_text([waves()], work="fixed", also=("biela_floor",))
    assert "biela_floor" in text
    shown = "\nvoid shown(const double *x, double *y) { waves(x, y); y[0] = biela_floor(x[0]); }\n"
    library = compile_c("#include <math.h>\n#include <stdint.h>\n" + text + shown)
    assert not hasattr(library, "waves")
    y = np.zeros(3)
    for x in (-1.5, -1.0, -0.5, 0.0, 0.5, 2.0, 2.5, 3.5, 1e9 + 0.5):
        given = np.array([x])
        library.shown(ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(y.ctypes.data))
        assert y[0] == math.floor(x)


def test_functions_of_the_library_with_variable_work_are_named() -> None:
    ws = bl.Workspace("few")
    (x,) = ws.coordinates("x")
    few = Function("few", {"x": [x]}, {"y": [bl.log(x) + bl.atan2(x, 2), bl.sqrt(x) + bl.exp(x)]})
    assert variable_work([few]) == ["atan2", "log"]
    assert variable_work([waves()]) == []


def test_single_precision_has_no_fixed_work() -> None:
    with pytest.raises(ExportError, match="double"):
        c99.source(waves(), work="fixed", real="float")


def cases() -> Function:
    """Every operation that chooses between values."""
    ws = bl.Workspace("cases")
    x, y, z = ws.coordinates("x y z")
    knots = [-1.0, -0.25, 0.5, 1.25, 2.0]
    cam = ws.spline("cam", knots, [0.5, -1.0, 0.25, 2.0, 0.75])
    closed = ws.spline("closed", knots, [1.0, 2.0, 0.0, -1.0, 1.0], end="periodic")
    saw = ws.lookup("saw", [-0.5, 0.25, 1.0], [2.0, -1.0, 2.0], outside="periodic")
    chosen = [
        bl.select(x < y, bl.sqrt(x * x + 1) / z, x * y + bl.sin(z)),
        bl.select(bl.both(x < y, y <= z), 1 / x, -3),
        bl.select(bl.either(x < y, z < 0), x, bl.sqrt(y * y + 1)),
        bl.minimum(x, y, z) - bl.maximum(x, y * z),
        bl.sign(x) + 2 * bl.sign(y) + (x < y) * z,
        abs(x - y) * bl.tan(z) + bl.exp(y) * bl.tanh(x),
        cam(x) + closed(3 * y) * saw(z),
    ]
    return Function("cases", {"x": [x, y, z]}, {"y": chosen})


_PROGRAM = """\
void cases(const double *x, double *y);
int main(void) {
  static const double x[][3] = {{1, 2, 3}, {3, 2, 1}, {-5, 0, 0}, {1e4, -1e5, 3}, {0, 0, 0},
    {NAN, 1, 2}, {INFINITY, -1, NAN}, {-0.3, 0.6, 1.3}, {1e308, -1e308, 5e5}};
  double y[7];
  for (int i = 0; i < 9; i++) cases(x[i], y);
  return 0;
}
"""


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_a_choice_takes_the_same_instructions_either_way(level: str, tmp_path: Path) -> None:
    (tmp_path / "cases.c").write_text(c99.source(cases(), work="fixed"), encoding="utf-8")
    (tmp_path / "main.c").write_text("#include <math.h>\n" + _PROGRAM, encoding="utf-8")
    build = ["gcc", "-std=c99", level, "-fno-math-errno", "-o", "run", "main.c", "cases.c", "-lm"]
    run_program(build, tmp_path)
    watch = ["--toggle-collect=cases", "--dump-after=cases", "--callgrind-out-file=calls"]
    run_program(["valgrind", "-q", "--tool=callgrind", *watch, "./run"], tmp_path)
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.glob("calls.*")]
    counts = [int(n) for text in texts for n in re.findall(r"^summary: ([1-9]\d*)", text, re.M)]
    assert len(counts) == 9
    assert len(set(counts)) == 1, counts
