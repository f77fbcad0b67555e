"""C that does the same work in every state: the same results, and sines of our own."""

from __future__ import annotations

import ctypes
import math

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
    few = Function("few", {"x": [x]}, {"y": [bl.tanh(x) + bl.atan2(x, 2), bl.sqrt(x) + bl.sin(x)]})
    assert variable_work([few]) == ["atan2", "tanh"]
    assert variable_work([waves()]) == []


def test_single_precision_has_no_fixed_work() -> None:
    with pytest.raises(ExportError, match="double"):
        c99.source(waves(), work="fixed", real="float")
