"""LLVM IR of splines and tables: a bisection over constant breakpoints, then one cubic."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from biela.atoms.piecewise import PiecewisePolynomial

#: What the functions here call.
DECLARATION = "declare double @llvm.floor.f64(double)"


def name(index: int) -> str:
    """The name of the function of curve number ``index``."""
    return f"piecewise{index}"


def function(index: int, curve: PiecewisePolynomial) -> str:
    """The definition of ``double piecewise{index}(double x)`` and its constant arrays.

    Piece k is the number of breakpoints that are <= x, found by bisection in a number of steps
    that does not depend on x; see `biela.atoms.piecewise`.
    """
    n, pieces = len(curve.breaks), len(curve.coefficients)
    coefficients = [c for row in curve.coefficients for c in row]
    me = name(index)
    steps = n.bit_length()
    lines = [
        f"@{me}_breaks = internal constant [{n} x double] [{_list(curve.breaks)}]",
        f"@{me}_origins = internal constant [{pieces} x double] [{_list(curve.origins)}]",
        f"@{me}_c = internal constant [{4 * pieces} x double] [{_list(coefficients)}]",
        f"define internal double @{me}(double %x0) {{",
    ]
    x = "%x0"
    if curve.period:
        lines += [
            f"  %from = fsub double %x0, {_hex(curve.breaks[0])}",
            f"  %turns = fdiv double %from, {_hex(curve.period)}",
            "  %whole = call double @llvm.floor.f64(double %turns)",
            f"  %back = fmul double {_hex(curve.period)}, %whole",
            "  %x = fsub double %x0, %back",
        ]
        x = "%x"
    k = "0"
    for step in range(steps):
        half = 1 << (steps - 1 - step)
        # take the step if it stays inside and the breakpoint reached is <= x
        lines += [
            f"  %try{step} = add i64 {k}, {half}",
            f"  %in{step} = icmp sle i64 %try{step}, {n}",
            f"  %at{step} = select i1 %in{step}, i64 %try{step}, i64 1",
            f"  %before{step} = sub i64 %at{step}, 1",
            f"  %p{step} = getelementptr double, ptr @{me}_breaks, i64 %before{step}",
            f"  %b{step} = load double, ptr %p{step}",
            f"  %le{step} = fcmp ole double %b{step}, {x}",
            f"  %go{step} = and i1 %in{step}, %le{step}",
            f"  %k{step} = select i1 %go{step}, i64 %try{step}, i64 {k}",
        ]
        k = f"%k{step}"
    lines += [
        f"  %po = getelementptr double, ptr @{me}_origins, i64 {k}",
        "  %o = load double, ptr %po",
        f"  %s = fsub double {x}, %o",
        f"  %row = mul i64 {k}, 4",
    ]
    for i in range(4):
        lines += [
            f"  %e{i} = add i64 %row, {i}",
            f"  %q{i} = getelementptr double, ptr @{me}_c, i64 %e{i}",
            f"  %c{i} = load double, ptr %q{i}",
        ]
    lines += [
        "  %m3 = fmul double %c3, %s",
        "  %a3 = fadd double %m3, %c2",
        "  %m2 = fmul double %a3, %s",
        "  %a2 = fadd double %m2, %c1",
        "  %m1 = fmul double %a2, %s",
        "  %a1 = fadd double %m1, %c0",
        "  ret double %a1",
        "}",
    ]
    return "\n".join(lines)


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"double {_hex(v)}" for v in values)


def _hex(value: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
