"""The sine and cosine written in LLVM IR, against mpmath."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import biela as bl
from biela.code.llvm import sincos
from biela.code.llvm.host import host_features, host_has_fma, host_lanes, load_ir

Array = NDArray[np.float64]
WIDTHS = (1, 2, 4, 8)
FORMS = [
    pytest.param(False, id="exact"),
    pytest.param(True, id="fma", marks=pytest.mark.skipif(not host_has_fma(), reason="no FMA")),
]
ULP = {False: 0.85, True: 1.5}
context = mpmath.mp.clone()
context.prec = 1200  # enough to reduce 1e300


def loop(lanes: int, fma: bool, form: str) -> str:
    """A module with ``run(x, sin, cos, packs)`` in one of the three forms of the generator."""
    real = sincos.vector_type(lanes)
    pair = f"{{ {real}, {real} }}"
    text = sincos.declarations([lanes], fma) + sincos.slow_function(lanes)
    last = "pack"
    if form == "plain":
        lines, sine, cosine = sincos.sincos_lines("%x", "a", lanes, fma)
    elif form == "guarded":
        lines, sine, cosine = sincos.guarded_sincos_lines("%x", "a", lanes, fma, "pack")
        last = "a_join"
    else:
        text += sincos.sincos_function(lanes, fma)
        sine, cosine = "%s", "%c"
        lines = [
            f"  %p = call {pair} @biela_sincos_{lanes}({real} %x)",
            f"  %s = extractvalue {pair} %p, 0",
            f"  %c = extractvalue {pair} %p, 1",
        ]
    body = "\n".join(lines)
    return f"""{text}
define void @run(ptr %px, ptr %ps, ptr %pc, i64 %n) {{
entry:
  br label %pack
pack:
  %i = phi i64 [ 0, %entry ], [ %j, %{last} ]
  %pxi = getelementptr {real}, ptr %px, i64 %i
  %psi = getelementptr {real}, ptr %ps, i64 %i
  %pci = getelementptr {real}, ptr %pc, i64 %i
  %x = load {real}, ptr %pxi, align 8
{body}
  store {real} {sine}, ptr %psi, align 8
  store {real} {cosine}, ptr %pci, align 8
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %pack, label %done
done:
  ret void
}}
"""


@cache
def compiled(lanes: int, fma: bool, form: str) -> Callable[[Array], tuple[Array, Array]]:
    code = load_ir(loop(lanes, fma, form), "run")
    pointer = ctypes.c_void_p
    run = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_int64)(code["run"])

    def call(x: Array) -> tuple[Array, Array]:
        padded = np.append(x, np.zeros(-x.size % lanes))
        s, c = np.empty_like(padded), np.empty_like(padded)
        run(padded.ctypes.data, s.ctypes.data, c.ctypes.data, padded.size // lanes)
        assert code["run"]  # keeps the code alive
        return s[: x.size], c[: x.size]

    return call


def ulps(values: Array, exact: list[mpmath.mpf]) -> float:
    """Largest error in units of the last place of the exact value."""
    return max(
        float(abs(context.mpf(v) - e) / math.ulp(float(e)))
        for v, e in zip(values.tolist(), exact, strict=True)
    )


@cache
def sample() -> tuple[Array, list[mpmath.mpf], list[mpmath.mpf]]:
    """Angles within the limits with their sines and cosines."""
    rng = np.random.default_rng(20)
    k = np.concatenate([np.arange(-300, 301), rng.integers(-250_000, 250_000, 1500)])
    multiples = np.array([float(i * context.pi / 2) for i in k.tolist()])
    eighths = np.array([float((2 * i + 1) * context.pi / 4) for i in k.tolist()])
    tiny = 10.0 ** rng.uniform(-323, -1, 500) * rng.choice([-1.0, 1.0], 500)
    x = np.concatenate(
        [
            rng.uniform(-1e5, 1e5, 4000),
            rng.uniform(-sincos.LIMIT, sincos.LIMIT, 1000),
            rng.uniform(-7, 7, 2000),
            multiples,
            np.nextafter(multiples, np.inf),
            np.nextafter(multiples, -np.inf),
            eighths * (1 + 1e-12 * rng.standard_normal(eighths.size)),
            tiny,
            [5e-324, -5e-324, 2.2250738585072014e-308, sincos.LIMIT, -sincos.LIMIT],
        ]
    )
    x = x[np.abs(x) <= sincos.LIMIT]
    values = [context.mpf(v) for v in x.tolist()]
    return x, [context.sin(v) for v in values], [context.cos(v) for v in values]


def test_pieces_of_half_pi_are_short_and_add_up() -> None:
    half = context.pi / 2
    for pieces, reach in ((sincos.HALF_PI_FMA, 2.0**-158), (sincos.HALF_PI_SHORT, 2.0**-128)):
        rest = half - sum(context.mpf(p) for p in pieces)
        assert 0 < rest < reach
    for piece in sincos.HALF_PI_SHORT[:2]:
        numerator, _ = piece.as_integer_ratio()
        assert numerator.bit_length() <= 35  # times k < 2^18: exact
    assert 2**18 * math.pi / 2 > sincos.LIMIT


def test_polynomials_are_as_good_as_the_docstring_says() -> None:
    for r in context.linspace(0.001, 0.7856, 400):
        z = r * r
        p = sum(c * z**i for i, c in enumerate(sincos.SIN))
        q = sum(c * z**i for i, c in enumerate(sincos.COS))
        assert abs((r + r * z * p) / context.sin(r) - 1) < 2.0**-57.8
        assert abs((1 - z / 2 + z * z * q) / context.cos(r) - 1) < 2.0**-63.9


@pytest.mark.parametrize("fma", FORMS)
@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("form", ["plain", "guarded", "function"])
def test_errors_stay_below_the_promised_ulps(form: str, lanes: int, fma: bool) -> None:
    x, sines, cosines = sample()
    s, c = compiled(lanes, fma, form)(x)
    if (form, lanes) == ("plain", 4):
        assert ulps(s, sines) < ULP[fma]
        assert ulps(c, cosines) < ULP[fma]
    else:  # the rest must be the same bits
        s4, c4 = compiled(4, fma, "plain")(x)
        np.testing.assert_array_equal(s.view(np.int64), s4.view(np.int64))
        np.testing.assert_array_equal(c.view(np.int64), c4.view(np.int64))


@pytest.mark.skipif(not host_has_fma(), reason="no FMA")
def test_the_form_with_fma_holds_to_its_own_limit() -> None:
    rng = np.random.default_rng(21)
    k = rng.integers(-(6 * 10**8), 6 * 10**8, 2000)
    near = np.array([float(i * context.pi / 2) for i in k.tolist()])
    x = np.concatenate([near, rng.uniform(-sincos.LIMIT_FMA, sincos.LIMIT_FMA, 2000)])
    s, c = compiled(4, True, "plain")(x)
    assert ulps(s, [context.sin(context.mpf(v)) for v in x.tolist()]) < ULP[True]
    assert ulps(c, [context.cos(context.mpf(v)) for v in x.tolist()]) < ULP[True]


@pytest.mark.parametrize("fma", FORMS)
@pytest.mark.parametrize("lanes", WIDTHS)
def test_zero_keeps_its_sign(lanes: int, fma: bool) -> None:
    s, c = compiled(lanes, fma, "guarded")(np.array([0.0, -0.0]))
    assert list(np.signbit(s)) == [False, True]
    assert list(s) == [0.0, 0.0]
    assert list(c) == [1.0, 1.0]


@pytest.mark.parametrize("fma", FORMS)
@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("form", ["guarded", "function"])
def test_huge_arguments_go_to_the_library(form: str, lanes: int, fma: bool) -> None:
    edge = sincos.limit(fma)
    x = np.array([1e6, 1e9, 1e15, 1e22, 1e300, np.nextafter(edge, np.inf), -1.7e308])
    x = np.concatenate([x, -x])
    s, c = compiled(lanes, fma, form)(x)
    assert ulps(s, [context.sin(context.mpf(v)) for v in x.tolist()]) < ULP[fma]
    assert ulps(c, [context.cos(context.mpf(v)) for v in x.tolist()]) < ULP[fma]


@pytest.mark.parametrize("fma", FORMS)
@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("form", ["plain", "guarded", "function"])
def test_infinities_and_nans_give_nan(form: str, lanes: int, fma: bool) -> None:
    s, c = compiled(lanes, fma, form)(np.array([np.inf, -np.inf, np.nan]))
    assert np.isnan(s).all()
    assert np.isnan(c).all()


@pytest.mark.parametrize("fma", FORMS)
@pytest.mark.parametrize("lanes", WIDTHS[1:])
@pytest.mark.parametrize("special", [1e22, np.inf, np.nan])
def test_a_lane_does_not_depend_on_its_neighbours(special: float, lanes: int, fma: bool) -> None:
    usual = np.random.default_rng(22).uniform(-100, 100, lanes)
    call = compiled(lanes, fma, "guarded")
    s0, c0 = call(usual)
    for place in range(lanes):
        x = usual.copy()
        x[place] = special
        s, c = call(x)
        others = np.arange(lanes) != place
        np.testing.assert_array_equal(s[others], s0[others])
        np.testing.assert_array_equal(c[others], c0[others])
        expected = math.sin(special) if special == 1e22 else math.nan
        np.testing.assert_array_equal(s[place], expected)


@pytest.mark.parametrize("fma", [False, True])
def test_several_packs_go_into_one_function(fma: bool) -> None:
    first, s, c = sincos.guarded_sincos_lines("%x", "a", 4, fma, "entry")
    second, s2, c2 = sincos.guarded_sincos_lines(s, "b", 2 * 2, fma, "a_join")
    body = "\n".join(first + second)
    text = sincos.declarations([4, 4, 1], fma) + sincos.slow_function(4)
    text += f"define <4 x double> @f(<4 x double> %x) {{\nentry:\n{body}\n"
    text += f"  %r = fadd <4 x double> {s2}, {c}\n  ret <4 x double> %r\n}}\n"
    llvm.parse_assembly(text).verify()
    assert c2.startswith("%b")
    declared = [line for line in text.splitlines() if line.startswith("declare")]
    assert len(declared) == len(set(declared))


def test_the_form_without_fma_asks_for_no_contraction() -> None:
    lines, _, _ = sincos.sincos_lines("%x", "a", 4, False)
    assert not [line for line in lines if "fma" in line or "contract" in line]


def test_lanes_fit_the_features_of_the_host() -> None:
    assert host_lanes() in (2, 4, 8)
    assert host_features() is host_features()


def test_names_of_two_packs_never_collide():
    # values are numbered: the second pack starts at ten times the number of the first, and more
    for gap in range(5, 45):
        ws = bl.Workspace()
        x, y = ws.symbols("x y")
        first = bl.sin(x) + bl.sin(y)  # two angles, one pack
        z = first
        for k in range(gap):
            z = z * y + x * (k + 2)
        f = bl.Function("two_packs", {"x": x, "y": y}, {"r": [bl.sin(z) * bl.sin(z + y), first]})
        np.testing.assert_allclose(f(0.1, 0.2), f.interpret(0.1, 0.2), rtol=1e-12)
