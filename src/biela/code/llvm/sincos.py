"""LLVM IR of the sine and cosine of a vector of doubles.

Problem: a kernel of 100 ns needs the sines and cosines of all its angles. The library functions
take 20 ns an angle, and LLVM turns its vector intrinsics into as many calls of them. Wanted:
straight-line code without branches or tables that a kernel can paste, correct to 2 ulp.

Recipe (Cody & Waite 1980; Muller, *Elementary Functions*, 3rd ed. 2016, ch. 11):

1. ``t = x·2/π + 1.5·2^52`` rounds to an integer ``k`` that is left in the low bits of ``t``.
2. ``r = x − k·π/2`` with π/2 in pieces, such that all but the last rounding are exact.
3. Minimax polynomials of odd and even degree (Remez exchange in 90 digits, repeated for the
   rest after the rounding of each coefficient: relative errors 2^-57.8 and 2^-63.9 on
   \\|r\\| ≤ 0.7856) give sin r and cos r.
4. The low bits of ``k`` exchange the two (``select``) and set their signs (``xor``).

Two forms exist. With a fused multiply-add the pieces of π/2 have 53 bits and the result is within
1.5 ulp. Without, the pieces are short enough for exact products, the rounding of ``r`` is kept in
a low word, and the result is within 0.85 ulp, with the same bits on every machine. Both evaluate
the polynomials in pairs (Estrin), since in a kernel latency counts.

Both hold up to a `limit`; the *guarded* forms send larger arguments, infinities and NaNs to the
library, lane by lane, so that a lane never depends on its neighbours.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

LIMIT = 4.0e5
"""Largest \\|x\\| of the form without FMA: k < 2^18, as the pieces of π/2 have 35 bits."""

LIMIT_FMA = 1.0e9
"""Largest \\|x\\| of the form with FMA: the rounding of 2/π still puts k in the right quadrant."""

# sin r = r + r^3 (S0 + S1 r^2 + ...), cos r = 1 - r^2/2 + r^4 (C0 + C1 r^2 + ...)
SIN = (
    -0.1666666666666663,
    0.00833333333332192,
    -0.00019841269829459334,
    2.755731358220052e-06,
    -2.505074225246676e-08,
    1.5895936456202516e-10,
)
COS = (
    0.041666666666666595,
    -0.0013888888888873333,
    2.480158728899285e-05,
    -2.7557314213537496e-07,
    2.0875704829349267e-09,
    -1.1358715994347525e-11,
)

# All pieces are rounded down: k times each then has the sign of k, which keeps sin(-0) = -0.
# In the short ones a run of zeros in the bits of pi/2 makes 35 bits reach as far as 38.
HALF_PI_FMA = (1.5707963267948966, 6.123233995736765e-17, 1.0828566739219139e-32)
HALF_PI_SHORT = (1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987426e-23)
TWO_OVER_PI = 0.6366197723675814
ROUND = 1.5 * 2.0**52  # adding it leaves no bits after the binary point


def limit(fma: bool) -> float:
    """Largest \\|x\\| for which the unguarded lines of that form are accurate."""
    return LIMIT_FMA if fma else LIMIT


def vector_type(lanes: int, element: str = "double") -> str:
    """IR type of a pack: the element itself for one lane."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def _hexadecimal(value: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class _Writer:
    """Collects instructions on packs of doubles; every method returns the name of its result."""

    def __init__(self, prefix: str, lanes: int) -> None:
        self.lines: list[str] = []
        self.prefix = prefix
        self.lanes = lanes
        self.real = vector_type(lanes)
        self.integer = vector_type(lanes, "i64")

    def constant(self, value: float) -> str:
        text = _hexadecimal(value)
        return text if self.lanes == 1 else f"splat (double {text})"

    def word(self, value: int) -> str:
        return str(value) if self.lanes == 1 else f"splat (i64 {value})"

    def line(self, right: str) -> str:
        name = f"%{self.prefix}{len(self.lines)}"
        self.lines.append(f"  {name} = {right}")
        return name

    def add(self, a: str, b: str) -> str:
        return self.line(f"fadd {self.real} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.line(f"fsub {self.real} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.line(f"fmul {self.real} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        real = self.real
        name = _fma_name(self.lanes)
        return self.line(f"call {real} {name}({real} {a}, {real} {b}, {real} {c})")

    def mul_add(self, a: str, b: str, c: str) -> str:
        return self.add(self.mul(a, b), c)

    def bits(self, a: str) -> str:
        return self.line(f"bitcast {self.real} {a} to {self.integer}")

    def shift_left(self, a: str, count: int) -> str:
        return self.line(f"shl {self.integer} {a}, {self.word(count)}")

    def logic(self, operation: str, a: str, b: str) -> str:
        return self.line(f"{operation} {self.integer} {a}, {b}")

    def negative(self, a: str) -> str:
        return self.line(f"icmp slt {self.integer} {a}, {self.word(0)}")

    def select(self, condition: str, a: str, b: str) -> str:
        truth = vector_type(self.lanes, "i1")
        return self.line(f"select {truth} {condition}, {self.real} {a}, {self.real} {b}")

    def real_of(self, bits: str) -> str:
        return self.line(f"bitcast {self.integer} {bits} to {self.real}")


def sincos_lines(x: str, prefix: str, lanes: int, fma: bool) -> tuple[list[str], str, str]:
    """Straight-line IR for sin and cos of the pack ``x``, for \\|x\\| ≤ ``limit(fma)``.

    Returns the lines and the names of the two results; all names begin with ``%prefix``. An
    infinite or NaN lane gives NaN, a zero keeps its sign, and other lanes are not disturbed.
    """
    if lanes == 1:
        # scalar selects become jumps that are mispredicted; two equal lanes cost the same
        lines = [
            f"  %{prefix}i = insertelement <2 x double> poison, double {x}, i32 0",
            f"  %{prefix}x = shufflevector <2 x double> %{prefix}i, <2 x double> poison,"
            " <2 x i32> zeroinitializer",
        ]
        pack, sine, cosine = sincos_lines(f"%{prefix}x", f"{prefix}p", 2, fma)
        lines += pack
        lines.append(f"  %{prefix}s = extractelement <2 x double> {sine}, i32 0")
        lines.append(f"  %{prefix}c = extractelement <2 x double> {cosine}, i32 0")
        return lines, f"%{prefix}s", f"%{prefix}c"
    ir = _Writer(prefix, lanes)
    t, sine, cosine = (_kernel_fma if fma else _kernel_exact)(ir, x)
    # step 4: bit 0 of k exchanges, bit 1 negates the sine, their exclusive or the cosine
    k = ir.bits(t)
    odd = ir.shift_left(k, 63)
    sign = ir.logic("and", ir.shift_left(k, 62), ir.word(-(2**63)))
    swap = ir.negative(odd)
    s = ir.bits(ir.select(swap, cosine, sine))
    c = ir.bits(ir.select(swap, sine, cosine))
    s = ir.real_of(ir.logic("xor", s, sign))
    c = ir.real_of(ir.logic("xor", c, ir.logic("xor", sign, odd)))
    return ir.lines, s, c


def _kernel_fma(ir: _Writer, x: str) -> tuple[str, str, str]:
    """Rounded quotient ``t``, sin r and cos r, with fused multiply-adds."""
    t = ir.fma(x, ir.constant(TWO_OVER_PI), ir.constant(ROUND))
    k = ir.sub(t, ir.constant(ROUND))
    first, second, third = (ir.constant(-p) for p in HALF_PI_FMA)
    near = ir.fma(k, second, ir.fma(k, first, x))
    r = ir.fma(k, third, near)
    # the third piece only matters where r is tiny, and r^2 does not matter there: do not wait
    z = ir.mul(near, near)
    z2 = ir.mul(z, z)
    p = _pairs(ir, ir.fma, SIN, z, z2)
    q = _pairs(ir, ir.fma, COS, z, z2)
    # r (1 + z p), where adding +0 to a product that is -0 for r = 0 keeps the sign of r
    sine = ir.fma(ir.fma(z, p, ir.constant(0.0)), r, r)
    cosine = ir.fma(z, ir.fma(z, q, ir.constant(-0.5)), ir.constant(1.0))
    return t, sine, cosine


def _kernel_exact(ir: _Writer, x: str) -> tuple[str, str, str]:
    """Rounded quotient ``t``, sin(r - y) and cos(r - y), with separate products and sums."""
    t = ir.add(ir.mul(x, ir.constant(TWO_OVER_PI)), ir.constant(ROUND))
    k = ir.sub(t, ir.constant(ROUND))
    first, second, third = (ir.mul(k, ir.constant(p)) for p in HALF_PI_SHORT)
    # a is exact; r + e = a - second exactly (Fast2Sum; where |a| < |second|, r itself is)
    a = ir.sub(x, first)
    r = ir.sub(a, second)
    e = ir.sub(ir.sub(a, r), second)
    # y is a rounding error of r, or so small that its square is nothing: no need to normalise
    y = ir.sub(third, e)
    z = ir.mul(r, r)
    z2 = ir.mul(z, z)
    half = ir.mul(z, ir.constant(0.5))
    w = ir.sub(ir.constant(1.0), half)
    p = _pairs(ir, ir.mul_add, tuple(-c for c in SIN), z, z2)
    q = _pairs(ir, ir.mul_add, COS, z, z2)
    # r - (r z p + y (1 - z/2)), with signs such that x = -0 gives -0
    sine = ir.sub(r, ir.mul_add(ir.mul(r, z), p, ir.mul(y, w)))
    # w + (what rounding took from w + (z^2 q + r y))
    lost = ir.sub(ir.sub(ir.constant(1.0), w), half)
    cosine = ir.add(w, ir.add(lost, ir.mul_add(z2, q, ir.mul(r, y))))
    return t, sine, cosine


def _pairs(
    ir: _Writer,
    mul_add: Callable[[str, str, str], str],
    coefficients: tuple[float, ...],
    z: str,
    z2: str,
) -> str:
    """Polynomial of degree 5 in ``z`` by Estrin's scheme: three dependent steps instead of five."""
    c = [ir.constant(value) for value in coefficients]
    low, middle, high = (mul_add(c[i + 1], z, c[i]) for i in (0, 2, 4))
    return mul_add(mul_add(high, z2, middle), z2, low)


def guarded_sincos_lines(
    x: str, prefix: str, lanes: int, fma: bool, block: str
) -> tuple[list[str], str, str]:
    """The lines of `sincos_lines` with a predicted branch for lanes beyond the limit.

    ``block`` is the name of the basic block in which the lines are pasted. They end it and open
    two others: the caller goes on in the block ``{prefix}_join``, which is to be named in the
    phi nodes of whatever follows. The module needs `slow_function` of these lanes, once.
    """
    real, truth = vector_type(lanes), vector_type(lanes, "i1")
    bound = _Writer("", lanes).constant(limit(fma))
    lines, sine, cosine = sincos_lines(x, prefix, lanes, fma)
    pair = f"{{ {real}, {real} }}"
    p = f"%{prefix}"
    lines += [
        f"  {p}_abs = call {real} {_fabs_name(lanes)}({real} {x})",
        f"  {p}_far = fcmp ugt {real} {p}_abs, {bound}",
    ]
    if lanes == 1:
        far = f"{p}_far"
    else:
        far = f"{p}_any"
        lines += [
            f"  {p}_mask = bitcast {truth} {p}_far to i{lanes}",
            f"  {p}_any = icmp ne i{lanes} {p}_mask, 0",
        ]
    arguments = f"{real} {x}, {real} {sine}, {real} {cosine}, double {_hexadecimal(limit(fma))}"
    lines += [
        f"  br i1 {far}, label %{prefix}_slow, label %{prefix}_join,"
        ' !prof !{!"branch_weights", i32 1, i32 100000}',
        f"{prefix}_slow:",
        f"  {p}_pair = call {pair} {_slow_name(lanes)}({arguments})",
        f"  {p}_s1 = extractvalue {pair} {p}_pair, 0",
        f"  {p}_c1 = extractvalue {pair} {p}_pair, 1",
        f"  br label %{prefix}_join",
        f"{prefix}_join:",
        f"  {p}_s = phi {real} [ {sine}, %{block} ], [ {p}_s1, %{prefix}_slow ]",
        f"  {p}_c = phi {real} [ {cosine}, %{block} ], [ {p}_c1, %{prefix}_slow ]",
    ]
    return lines, f"{p}_s", f"{p}_c"


def sincos_function(lanes: int, fma: bool) -> str:
    """Definition of ``@biela_sincos_{lanes}``, a pack to the pair of its sines and cosines.

    The guarded lines as a function. The module needs `slow_function` and `declarations` too.
    """
    real = vector_type(lanes)
    pair = f"{{ {real}, {real} }}"
    lines, sine, cosine = guarded_sincos_lines("%x", "a", lanes, fma, "entry")
    body = "\n".join(lines)
    return (
        f"define internal {pair} @biela_sincos_{lanes}({real} %x) nounwind {{\n"
        f"entry:\n{body}\n"
        f"  %one = insertvalue {pair} poison, {real} {sine}, 0\n"
        f"  %two = insertvalue {pair} %one, {real} {cosine}, 1\n"
        f"  ret {pair} %two\n}}\n"
    )


def slow_function(lanes: int) -> str:
    """Definition of ``@biela_sincos_slow_{lanes}``: repairs the lanes beyond a limit.

    Takes the pack, its approximate sines and cosines and the limit; returns the pair with the
    lanes beyond the limit, or not finite, taken from the library.
    """
    real = vector_type(lanes)
    pair = f"{{ {real}, {real} }}"
    return f"""\
define internal {pair} {_slow_name(lanes)}({real} %x, {real} %s, {real} %c, double %limit) \
noinline cold nounwind {{
entry:
  %px = alloca {real}
  %ps = alloca {real}
  %pc = alloca {real}
  store {real} %x, ptr %px
  store {real} %s, ptr %ps
  store {real} %c, ptr %pc
  br label %lane
lane:
  %i = phi i64 [ 0, %entry ], [ %j, %next ]
  %pxi = getelementptr double, ptr %px, i64 %i
  %xi = load double, ptr %pxi
  %size = call double {_fabs_name(1)}(double %xi)
  %far = fcmp ugt double %size, %limit
  br i1 %far, label %library, label %next
library:
  %psi = getelementptr double, ptr %ps, i64 %i
  %pci = getelementptr double, ptr %pc, i64 %i
  %si = call double @sin(double %xi)
  %ci = call double @cos(double %xi)
  store double %si, ptr %psi
  store double %ci, ptr %pci
  br label %next
next:
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, {lanes}
  br i1 %more, label %lane, label %done
done:
  %s1 = load {real}, ptr %ps
  %c1 = load {real}, ptr %pc
  %one = insertvalue {pair} poison, {real} %s1, 0
  %two = insertvalue {pair} %one, {real} %c1, 1
  ret {pair} %two
}}
"""


def declarations(lanes_used: Iterable[int], fma: bool) -> str:
    """The ``declare`` lines for these numbers of lanes, each once, guarded forms included."""
    used = sorted(set(lanes_used) | {1})
    lines = ["declare double @sin(double)", "declare double @cos(double)"]
    for lanes in used:
        real = vector_type(lanes)
        lines.append(f"declare {real} {_fabs_name(lanes)}({real})")
    if fma:
        for lanes in sorted({max(lanes, 2) for lanes in lanes_used}):
            real = vector_type(lanes)
            lines.append(f"declare {real} {_fma_name(lanes)}({real}, {real}, {real})")
    return "\n".join(lines) + "\n"


def _overload(lanes: int) -> str:
    return "f64" if lanes == 1 else f"v{lanes}f64"


def _fma_name(lanes: int) -> str:
    return f"@llvm.fma.{_overload(lanes)}"


def _fabs_name(lanes: int) -> str:
    return f"@llvm.fabs.{_overload(lanes)}"


def _slow_name(lanes: int) -> str:
    return f"@biela_sincos_slow_{lanes}"
