"""C99 that does the same work in every state: no branch, no library function that has one.

Cases are chosen by masks instead of jumps; sines, cosines and exponentials are our own.  What is
left of the library are square roots (one instruction) and, where a function has them, the inverse
functions, logarithms and real powers, whose work depends on their argument; `variable_work` names
them.

The sine and cosine are those of `biela.code.llvm.sincos`, the form without fused multiply-adds:
within 0.85 ulp up to 4e5 rad and the same bits on every machine; beyond that they are nan.  They
are inline functions, so that a compiler shares the work between the two of one angle.  The
exponential is within 1 ulp and the hyperbolic tangent within 3: reduction by multiples of ln 2 in
two pieces, then the Taylor polynomial of degree 13, whose rest is below 2^-57.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import factorial
from typing import Final

from biela.atoms import opcodes as op
from biela.atoms.infix import Fragment
from biela.code.function import Function
from biela.code.llvm.sincos import COS, HALF_PI_SHORT, LIMIT, ROUND, SIN, TWO_OVER_PI
from biela.code.targets.c99_notation import C99

#: Functions of <math.h> whose work depends on their argument.
_VARIABLE: Final = {
    code: C99.functions[code] for code in (op.POWER, op.ASIN, op.ACOS, op.ATAN, op.ATAN2, op.LOG)
}


def _pairs(c: Sequence[float], sign: int = 1) -> str:
    """A polynomial of degree five in z by Estrin's scheme."""
    low, middle, high = (f"({sign * c[i + 1]!r}*z + {sign * c[i]!r})" for i in (0, 2, 4))
    return f"({high}*z2\n      + {middle})*z2\n      + {low}"


_SINCOS: Final = f"""\
// sine and cosine for |x| <= {LIMIT:g}, nan beyond: the multiple k of pi/2 next to x is taken off
// in three pieces, polynomials serve the rest r - y, and the last bits of k say which is which
static inline void biela_sincos(double x, double *sine, double *cosine) {{
  union {{ double real; uint64_t bits; }} t, s, c, size, limit;
  t.real = x*{TWO_OVER_PI!r} + {ROUND!r};
  const double k = t.real - {ROUND!r};
  const double a = x - k*{HALF_PI_SHORT[0]!r};
  const double b = k*{HALF_PI_SHORT[1]!r};
  const double r = a - b;
  const double y = k*{HALF_PI_SHORT[2]!r} - ((a - r) - b);
  const double z = r*r;
  const double z2 = z*z;
  const double half = 0.5*z;
  const double w = 1.0 - half;
  const double p = {_pairs(SIN, -1)};
  const double q = {_pairs(COS)};
  s.real = r - (r*z*p + y*w);
  c.real = w + (((1.0 - w) - half) + (z2*q + r*y));
  const uint64_t odd = t.bits << 63, sign = (t.bits << 62) & ((uint64_t)1 << 63);
  const uint64_t swap = (s.bits ^ c.bits) & (0 - (t.bits & 1));
  // sizes are in the order of their bits, nan last
  size.real = fabs(x);
  limit.real = {LIMIT!r};
  const uint64_t far = 0 - ((limit.bits - size.bits) >> 63);
  s.bits = (s.bits ^ swap ^ sign) | far;
  c.bits = (c.bits ^ swap ^ sign ^ odd) | far;
  *sine = s.real;
  *cosine = c.real;
}}
"""

# ln 2 in two pieces: the first has 32 bits, so that its product with k is exact
_LN_2: Final = (0.6931471803691238, 1.9082149292705877e-10)
_LOG2_E: Final = 1.4426950408889634
_FACTORIALS: Final = [repr(1 / factorial(n)) for n in range(13, 1, -1)]

_EXPONENTIALS: Final = f"""\
// e^x = 2^k (1 + p), where k is next to x/ln 2; gives p, and k + 2048 as an integer
static inline double biela_expm1_2k(double x, uint64_t *k) {{
  static const double c[{len(_FACTORIALS)}] = {{
    {", ".join(_FACTORIALS[:4])},
    {", ".join(_FACTORIALS[4:8])},
    {", ".join(_FACTORIALS[8:])}
  }};
  union {{ double real; uint64_t bits; }} t, origin;
  origin.real = {ROUND!r};
  t.real = x*{_LOG2_E!r} + origin.real;
  const double whole = t.real - origin.real;
  const double a = x - whole*{_LN_2[0]!r};
  const double b = whole*{_LN_2[1]!r};
  const double r = a - b;
  double sum = c[0];
  for (int n = 1; n < {len(_FACTORIALS)}; n++) {{
    sum = sum*r + c[n];
  }}
  *k = t.bits - origin.bits + 2048;
  // r^2 sum and what r was rounded by
  return r + (r*r*sum + ((a - r) - b));
}}
"""

_HELPERS: Final = {
    "biela_masked": """\
// a where the mask has ones, b where it has zeros
static inline double biela_masked(uint64_t mask, double a, double b) {
  union { double real; uint64_t bits; } x, y;
  x.real = a;
  y.real = b;
  x.bits = (x.bits & mask) | (y.bits & ~mask);
  return x.real;
}
""",
    "biela_select": """\
// a if the condition is 1, b if it is 0
static inline double biela_select(int condition, double a, double b) {
  return biela_masked(0 - (uint64_t)condition, a, b);
}
""",
    "biela_sincos": _SINCOS,
    "biela_sin": """\
static inline double biela_sin(double x) {
  double sine, cosine;
  biela_sincos(x, &sine, &cosine);
  return sine;
}
""",
    "biela_cos": """\
static inline double biela_cos(double x) {
  double sine, cosine;
  biela_sincos(x, &sine, &cosine);
  return cosine;
}
""",
    "biela_tan": """\
static inline double biela_tan(double x) {
  double sine, cosine;
  biela_sincos(x, &sine, &cosine);
  return sine/cosine;
}
""",
    "biela_expm1_2k": _EXPONENTIALS,
    "biela_exp": """\
static inline double biela_exp(double x) {
  union { double real; uint64_t bits; } first, second;
  uint64_t k;
  const double near = biela_select(x > 710.0, 710.0, biela_select(x < -750.0, -750.0, x));
  const double p = biela_expm1_2k(near, &k);
  // 2^k as two factors, since k alone may be too large or too small for one
  first.bits = (k/2 - 1) << 52;
  second.bits = (k - k/2 - 1) << 52;
  return (first.real + first.real*p)*second.real;
}
""",
    "biela_tanh": """\
// (1 - e)/(1 + e) with e = exp(-2 |x|), as e - 1 keeps its digits where x is small
static inline double biela_tanh(double x) {
  union { double real; uint64_t bits; } power, result, sign;
  uint64_t k;
  const double size = biela_select(fabs(x) > 22.0, 22.0, fabs(x));
  const double p = biela_expm1_2k(-2.0*size, &k);
  power.bits = (k - 1025) << 52;
  const double less = power.real*p + (power.real - 1.0);
  sign.real = x;
  result.real = fabs(less/(less + 2.0));
  result.bits |= sign.bits & ((uint64_t)1 << 63);
  return result.real;
}
""",
    "biela_sign": """\
// -1, 0 or 1
static inline double biela_sign(double x) {
  return biela_select(x > 0.0, 1.0, biela_select(x < 0.0, -1.0, x));
}
""",
    "biela_min": """\
// the second unless the first is smaller, by the sign of the difference: compilers that see a
// comparison make a jump of it, or do not run several side by side
static inline double biela_min(double a, double b) {
  union { double real; uint64_t bits; } rest;
  rest.real = a - b;
  return biela_masked(0 - (rest.bits >> 63), a, b);
}
""",
    "biela_max": """\
// the second unless the first is larger, likewise
static inline double biela_max(double a, double b) {
  union { double real; uint64_t bits; } rest;
  rest.real = b - a;
  return biela_masked(0 - (rest.bits >> 63), a, b);
}
""",
    "biela_floor": """\
// the largest integer that is not above x, for |x| < 2^51
static inline double biela_floor(double x) {
  const double near = (x + 6755399441055744.0) - 6755399441055744.0;
  return biela_select(near > x, near - 1.0, near);
}
""",
    "biela_curve": """\
// piecewise cubic: rows hold an origin and four coefficients, lowest power first
static double biela_curve(double x, int count, const double *breaks, const double (*rows)[5]) {
  // the row used is the number of breakpoints that are <= x, found by bisection
  int row = 0, step = 1;
  while (2*step <= count) {
    step *= 2;
  }
  for (; step > 0; step /= 2) {
    // past the end the last breakpoint is looked at, to no effect
    const int inside = row + step <= count;
    const int place = inside*(row + step - 1) + (1 - inside)*(count - 1);
    row += step*(inside & (breaks[place] <= x));
  }
  const double *c = rows[row];
  const double s = x - c[0];
  return ((c[4]*s + c[3])*s + c[2])*s + c[1];
}
""",
}


class FixedWorkC99(C99):
    """C in double precision whose work does not depend on the numbers."""

    includes = ("<math.h>", "<stdint.h>")
    reserved = C99.reserved | _HELPERS.keys()
    helpers = _HELPERS
    floor = "biela_floor"
    functions = {  # noqa: RUF012 (a ClassVar of the base class)
        **C99.functions,
        op.SIN: "biela_sin",
        op.COS: "biela_cos",
        op.TAN: "biela_tan",
        op.EXP: "biela_exp",
        op.TANH: "biela_tanh",
    }

    def select(self, condition: Fragment, a: Fragment, b: Fragment) -> Fragment:
        """Both values are computed, and one is chosen by a mask."""
        return self.call("biela_select", (condition, a, b))


def variable_work(functions: Iterable[Function]) -> list[str]:
    """The functions of <math.h> that are called and whose work depends on their argument."""
    found = {
        _VARIABLE[f.table.ops[a]]
        for f in functions
        for a in f.schedule.operations
        if f.table.ops[a] in _VARIABLE
    }
    return sorted(found)
