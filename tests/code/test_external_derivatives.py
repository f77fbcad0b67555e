"""Derivatives of external functions in every target, really run where that is possible."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

import biela as bl

C = """
double law(double a, double b) { return a*a*b; }
double law_d1(double a, double b) { return 2.0*a*b; }
double law_d2(double a, double b) { (void)b; return a*a; }
"""
PARTIALS = (lambda a, b: 2 * a * b, lambda a, b: a * a)


def slopes() -> bl.Function:
    ws = bl.Workspace("slopes")
    x, y = ws.symbols("x y")
    law = ws.external("law", 2, lambda a, b: a * a * b, PARTIALS)
    e = law(bl.sin(x), x * y)
    return bl.Function("slopes", {"x": x, "y": y}, {"s": [e, bl.diff(e, x), bl.diff(e, y)]})


def expected(x: float, y: float) -> list[float]:
    s, c = math.sin(x), math.cos(x)
    return [s * s * x * y, 2 * s * c * x * y + s * s * y, s * s * x]


def test_native_code_calls_the_partials():
    np.testing.assert_allclose(slopes()(0.7, -1.3), expected(0.7, -1.3), rtol=1e-14)
    np.testing.assert_allclose(slopes().map([0.7], [-1.3])[0], expected(0.7, -1.3), rtol=1e-14)


def test_exported_python_takes_the_partials_as_arguments():
    scope: dict[str, object] = {}
    exec(slopes().python(), scope)
    found = scope["slopes"](
        0.7, -1.3, law=lambda a, b: a * a * b, law_d1=PARTIALS[0], law_d2=PARTIALS[1]
    )
    np.testing.assert_allclose(found, expected(0.7, -1.3), rtol=1e-14)


@pytest.mark.gcc
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_exported_c_calls_the_partials(tmp_path):
    source, library = tmp_path / "slopes.c", tmp_path / "slopes.so"
    source.write_text(slopes().c() + C)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, source, "-lm"], check=True)
    x, y, s = np.array([0.7]), np.array([-1.3]), np.zeros(3)
    ctypes.CDLL(str(library)).slopes(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y, s)))
    np.testing.assert_allclose(s, expected(0.7, -1.3), rtol=1e-14)


@pytest.mark.octave
@pytest.mark.skipif(shutil.which("octave") is None, reason="needs Octave")
def test_exported_matlab_calls_the_partials(tmp_path):
    (tmp_path / "slopes.m").write_text(slopes().matlab())
    for name, body in (("law", "a*a*b"), ("law_d1", "2*a*b"), ("law_d2", "a*a")):
        (tmp_path / f"{name}.m").write_text(f"function r = {name}(a, b)\n  r = {body};\nend\n")
    result = subprocess.run(
        ["octave", "--no-gui", "-q", "--eval", "printf('%.17g ', slopes(0.7, -1.3))"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = [float(word) for word in result.stdout.split()]
    np.testing.assert_allclose(found, expected(0.7, -1.3), rtol=1e-14)


def test_exported_julia_names_the_partials():
    text = slopes().julia()
    assert "law_d1(" in text
    assert "law_d2(" in text
