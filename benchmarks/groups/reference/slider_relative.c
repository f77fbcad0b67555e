/* Fan of spatial sliders by groups in relative coordinates: crank, then n_d dyads 2S1P.
 *
 * Unknowns θ, ψ (absolute angles of the rod, its spin fixed) and s along the rail:
 *   Φ = B + L d - r40 - s e,  d = (cψ cθ, sψ cθ, -sθ)
 * solved by the rows of the inverse (products of the columns), one inverse at the solution for
 * velocity and acceleration. */
#include "fan.h"

static const double GUESS_THETA = 0.3398369094541219, GUESS_S = 5.656854249492381;

INLINE void guess(const struct rail *f, double *q)
{
    q[0] = GUESS_THETA;
    q[1] = atan2(f->e[1], f->e[0]);
    q[2] = GUESS_S;
}

#define SLIDER_POINT(f, q, o)                       \
    for (int j = 0; j < 3; j++) {                   \
        (o)[j] = (f).r[j] + (q)[0][2] * (f).e[j];   \
        (o)[3 + j] = (q)[1][2] * (f).e[j];          \
        (o)[6 + j] = (q)[2][2] * (f).e[j];          \
    }

/* the same lines for one double and for eight */
#define DYAD_BODY(REAL, SINCOS, ABOVE)                                                            \
    REAL th = x[0], ps = x[1], r = x[2], st, ct, sp, cp, I[3][3], F[3], det;                      \
    int it = 0;                                                                                   \
    for (;; it++) {                                                                               \
        SINCOS(th, &st, &ct);                                                                     \
        SINCOS(ps, &sp, &cp);                                                                     \
        const REAL lc = ROD * ct, ls = ROD * st;                                                  \
        F[0] = B->r[0] + lc * cp - f->r[0] - r * f->e[0];                                         \
        F[1] = B->r[1] + lc * sp - f->r[1] - r * f->e[1];                                         \
        F[2] = B->r[2] - ls - f->r[2] - r * f->e[2];                                              \
        const REAL a_[3] = {-ls * cp, -ls * sp, -lc}, b_[3] = {-lc * sp, lc * cp, 0.0 * lc};      \
        CROSS(I[0], f->e, b_); /* = b × (-e) */                                                   \
        CROSS(I[1], a_, f->e); /* = (-e) × a */                                                   \
        CROSS(I[2], a_, b_);                                                                      \
        det = 1.0 / DOT(a_, I[0]);                                                                \
        if (!(ABOVE(DOT(F, F), bound)) || it == 20) break;                                        \
        th -= det * DOT(I[0], F);                                                                 \
        ps -= det * DOT(I[1], F);                                                                 \
        r -= det * DOT(I[2], F);                                                                  \
    }                                                                                             \
    x[0] = th; x[1] = ps; x[2] = r;                                                               \
    const REAL wt = v[0] = -det * DOT(I[0], B->v);                                                \
    const REAL wp = v[1] = -det * DOT(I[1], B->v);                                                \
    v[2] = -det * DOT(I[2], B->v);                                                                \
    const REAL q = wp * wp + wt * wt, m = 2.0 * wp * wt;                                          \
    F[0] = B->a[0] + ROD * (sp * st * m - cp * ct * q);                                           \
    F[1] = B->a[1] - ROD * (sp * ct * q + cp * st * m);                                           \
    F[2] = B->a[2] + ROD * (st * wt * wt);                                                        \
    for (int j = 0; j < 3; j++) a[j] = -det * DOT(I[j], F);                                       \
    return it;

#define ABOVE1(x, bound) ((x) > (bound))

INLINE int dyad(const struct pin *B, const struct rail *f, double *restrict x, double *restrict v,
                double *restrict a, double bound)
{
    DYAD_BODY(double, sincos, ABOVE1)
}

INLINE int dyad8(const struct pin8 *B, const struct rail8 *f, v8 *restrict x, v8 *restrict v,
                 v8 *restrict a, double bound)
{
    DYAD_BODY(v8, sincos8, any_above)
}

FAN_SCALAR(slider_relative_scalar, 3, guess, dyad)
FAN_INSTANTS(slider_relative_lanes, 3, guess, dyad8)
FAN_DYADS(slider_relative_lanes_of_dyads, 3, guess, dyad8)
