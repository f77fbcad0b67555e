/* Eight instants, or eight groups, at a time: a vector type of GCC, its sines, and a clock. */
#ifndef BIELA_REFERENCE_LANES_H
#define BIELA_REFERENCE_LANES_H

#define _GNU_SOURCE /* sincos */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LANES 8
typedef double v8 __attribute__((vector_size(64)));
typedef long long m8 __attribute__((vector_size(64)));
#define INLINE static inline __attribute__((always_inline))

/* what every reference program takes and gives back; the arrays are the caller's */
struct run {
    int n_d, steps;        /* dyads, instants */
    double rate, dt;       /* of the driver: rad/s, s */
    double tolerance;      /* on the 2-norm of the constraints */
    int recorded;          /* the dyad whose point is kept, from 0 */
    double *out;           /* see each program */
    double end[9];         /* position, velocity, acceleration of that point at the last instant */
    double check;          /* sum over what was computed last */
    double updates;        /* Newton updates a solved group, mean */
    double seconds;        /* CPU time of the loop over the instants */
};

INLINE double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

INLINE void *aligned(size_t count)
{
    size_t bytes = (count * sizeof(double) + 63) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (!p) abort();
    memset(p, 0, bytes);
    return p;
}

INLINE v8 all(double x) { return (v8){x, x, x, x, x, x, x, x}; }

/* The caches bring in what the next block will write: six vectors, so many ahead (into the second
 * cache: the first has no more than a few dozen lines under way, and is needed for other loads). */
INLINE void fetch_ahead(const v8 *o, size_t ahead)
{
    for (int j = 0; j < 6; j++) __builtin_prefetch(o + j + ahead, 0, 2);
}

/* Lanes as bits.  above: where x is above the bound; not_within: the same, or x is not a number. */
#ifdef __AVX512F__
#include <immintrin.h>
typedef __mmask8 bits8;
INLINE bits8 above(v8 x, double bound)
{
    return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(bound), _CMP_GT_OQ);
}
INLINE bits8 not_within(v8 x, double bound)
{
    return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(bound), _CMP_NLE_UQ);
}
/* where x is positive and y within the bound */
INLINE bits8 good_lanes(v8 x, v8 y, double bound)
{
    const __mmask8 positive = above(x, 0.0);
    return _mm512_mask_cmp_pd_mask(positive, (__m512d)y, _mm512_set1_pd(bound), _CMP_LE_OQ);
}
INLINE v8 where(bits8 which, v8 yes, v8 no)
{
    return (v8)_mm512_mask_blend_pd(which, (__m512d)no, (__m512d)yes);
}
#else
typedef unsigned char bits8;
INLINE bits8 above(v8 x, double bound)
{
    bits8 found = 0;
    for (int k = 0; k < LANES; k++) found |= (bits8)((x[k] > bound) << k);
    return found;
}
INLINE bits8 not_within(v8 x, double bound)
{
    bits8 found = 0;
    for (int k = 0; k < LANES; k++) found |= (bits8)(!(x[k] <= bound) << k);
    return found;
}
INLINE bits8 good_lanes(v8 x, v8 y, double bound)
{
    return above(x, 0.0) & (bits8)~not_within(y, bound);
}
INLINE v8 where(bits8 which, v8 yes, v8 no)
{
    for (int k = 0; k < LANES; k++) if (which >> k & 1) no[k] = yes[k];
    return no;
}
#endif

INLINE int any_above(v8 x, double bound) { return not_within(x, bound) != 0; }

/* What the guarded programs look at besides: a determinant that changes its sign, or falls to a
 * hundredth of what it was at the last instant, is that of a dead point. */
static const double FALLEN = 0.01;

/* the first dyad that failed, from 1 on, and how: 1 not solved, 2 not a number, 3 dead point */
struct failure { int dyad, how; };

static __attribute__((noinline, cold)) void note(struct failure *first, int dyad, v8 square,
                                                double bound)
{
    if (first->dyad) return;
    first->dyad = dyad;
    first->how = !not_within(square, bound) ? 3 : !not_within(square, 1e300) ? 1 : 2;
}

/* Sine and cosine of eight angles of moderate size (|x| < 1e6), to about an ulp.
 * x = n π/2 + r in three parts of π/2, |r| <= π/4; Chebyshev fits of (sin r - r)/r³ and
 * (cos r - 1 + r²/2)/r⁴ in r², degree five, errors 2e-17 and 1.3e-18. */
INLINE void sincos8(v8 x, v8 *s, v8 *c)
{
    const double shift = 6755399441055744.0; /* 1.5 · 2^52: adding it rounds to an integer */
    v8 k = x * 0.63661977236758134308 + shift;
    m8 q = (m8)k;
    v8 n = k - shift;
    v8 r = x - n * 0x1.921fb54400000p+0;
    r = r - n * 0x1.0b4611a600000p-34;
    r = r - n * 0x1.3198a2e037073p-69;
    v8 z = r * r, zz = z * z;
    /* Estrin's scheme: half the latency of Horner's */
    v8 ps = (-0.16666666666666664611 + z * 0.0083333333333309365537) +
            zz * ((-0.00019841269836740532103 + z * 2.7557316093198405168e-6) +
                  zz * (-2.505112989645018244e-8 + z * 1.5917988979397205534e-10));
    v8 pc = (0.041666666666666665381 + z * -0.0013888888888887389773) +
            zz * ((0.000024801587298754401173 + z * -2.7557317265878080028e-7) +
                  zz * (2.0876145049413176669e-9 + z * -1.1382544645349107989e-11));
    m8 sine = (m8)(r + (r * z) * ps);
    m8 cosine = (m8)((1.0 - 0.5 * z) + zz * pc);
    m8 odd = -(q & 1);
    *s = (v8)(((odd & cosine) | (~odd & sine)) ^ ((q & 2) << 62));
    *c = (v8)(((odd & sine) | (~odd & cosine)) ^ (((q + 1) & 2) << 62));
}

/* The same for angles of any size. */
static __attribute__((noinline, cold)) void sincos_far(v8 x, v8 *s, v8 *c)
{
    for (int k = 0; k < LANES; k++) {
        double a, b;
        sincos(x[k], &a, &b);
        (*s)[k] = a;
        (*c)[k] = b;
    }
}

INLINE void sincos8_any(v8 x, v8 *s, v8 *c)
{
    sincos8(x, s, c);
    if (__builtin_expect(any_above(x, 1e6) || any_above(-x, 1e6), 0)) sincos_far(x, s, c);
}

#endif
