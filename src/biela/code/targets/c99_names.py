"""Names that a C file cannot give to its own things.

The key words of C and of C++, since a header is read by both, and what <math.h> declares.
"""

from __future__ import annotations

from typing import Final

_KEYWORDS: Final = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Bool _Complex _Imaginary
    alignas alignof bool constexpr false nullptr static_assert thread_local true typeof
    typeof_unqual _Alignas _Alignof _Atomic _Generic _Noreturn _Static_assert _Thread_local asm
    and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept co_await co_return
    co_yield consteval constinit const_cast decltype delete dynamic_cast explicit export friend
    mutable namespace new noexcept not not_eq operator or or_eq private protected public
    reinterpret_cast requires static_cast template this throw try typeid typename using virtual
    wchar_t xor xor_eq main errno
"""
_MATH: Final = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
    fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p
    log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round
    scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
"""
_MACROS: Final = """
    HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO
    FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO MATH_ERREXCEPT
    math_errhandling fpclassify isfinite isinf isnan isnormal signbit isgreater isgreaterequal
    isless islessequal islessgreater isunordered float_t double_t I complex NULL
    M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_E M_LN2 M_LN10 M_LOG2E M_LOG10E M_SQRT2
    M_SQRT1_2 linux unix
"""

RESERVED: Final = frozenset(
    [
        *_KEYWORDS.split(),
        *_MACROS.split(),
        *(f"{name}{kind}" for name in _MATH.split() for kind in ("", "f", "l")),
    ]
)
