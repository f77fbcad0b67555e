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

/* is any lane above the bound?  A NaN counts as above. */
#ifdef __AVX512F__
#include <immintrin.h>
INLINE int any_above(v8 x, double bound)
{
    return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(bound), _CMP_NLE_UQ) != 0;
}
#else
INLINE int any_above(v8 x, double bound)
{
    int any = 0;
    for (int k = 0; k < LANES; k++) any |= !(x[k] <= bound);
    return any;
}
#endif

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

#endif
