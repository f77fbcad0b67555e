"""Names that a C file cannot give to its own things.

No name can be a key word of C or of C++, since a header is read by both, or what <math.h> declares.
A function can neither be called as one of the library that compilers know, nor as one that
<math.h> declares besides where a compiler is not held to the standard (``gamma`` is one).
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
_LIBRARY: Final = """
    abort abs atoi calloc div exit fprintf fputc fputs free fscanf fwrite index isalnum isalpha
    isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit labs llabs
    malloc memchr memcmp memcpy memmove memset printf putchar puts realloc rindex scanf snprintf
    sprintf sscanf strcat strchr strcmp strcpy strcspn strdup strlen strncat strncmp strncpy
    strpbrk strrchr strspn strstr time tolower toupper vfprintf vprintf vscanf vsprintf
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj
    creal csin csinh csqrt ctan ctanh
"""
_EXTENSIONS: Final = """
    drem exp10 finite gamma isinff isnanf j0 j1 jn lgamma_r lgammaf_r pow10 scalb signgam
    significand sincos sincosf y0 y1 yn gammaf j0f j1f y0f y1f dremf finitef
"""

RESERVED: Final = frozenset(
    [
        *_KEYWORDS.split(),
        *_MACROS.split(),
        *(f"{name}{kind}" for name in _MATH.split() for kind in ("", "f", "l")),
    ]
)
#: What only functions cannot be called.
RESERVED_FUNCTIONS: Final = frozenset([*_LIBRARY.split(), *_EXTENSIONS.split()])
