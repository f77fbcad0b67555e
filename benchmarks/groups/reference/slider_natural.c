/* Fan of spatial sliders by groups in natural coordinates: crank, then n_d dyads 2S1P.
 *
 * NAT4, unknowns C, s:  |C-B|² - L²,  u·(C-r40),  w·(C-r40),  s - e·(C-r40)
 *   (u and w give two components of (C-r40) × e).
 * NAT8 adds D, t, a second point of the slider:  |D-C|² - 1,  u·(D-r40),  w·(D-r40),
 *   t - e·(D-r40).
 *
 * The scalar programs solve the full 4 × 4 or 8 × 8 matrix by elimination with row exchanges, as a
 * group routine of a library does.  Those in lanes use its zeros: C by the products of the rows,
 * then s, then D the same way, then t; that is the same Newton step. */
#include "fan.h"

#define SLIDER 1.0 /* distance of the two points of the slider */

static const double GUESS_S = 5.656854249492381;

INLINE void guess4(const struct rail *f, double *q)
{
    for (int j = 0; j < 3; j++) q[j] = f->r[j] + GUESS_S * f->e[j];
    q[3] = GUESS_S;
}

INLINE void guess8(const struct rail *f, double *q)
{
    guess4(f, q);
    for (int j = 0; j < 3; j++) q[4 + j] = q[j] + SLIDER * f->e[j];
    q[7] = GUESS_S + SLIDER;
}

#define SLIDER_POINT(f, q, o)      \
    for (int j = 0; j < 3; j++) {  \
        (o)[j] = (q)[0][j];        \
        (o)[3 + j] = (q)[1][j];    \
        (o)[6 + j] = (q)[2][j];    \
    }

/* --- full matrices ------------------------------------------------------------------------------ */

INLINE void factor(int m, double A[m][m], int *restrict pivot)
{
    for (int c = 0; c < m; c++) {
        int p = c;
        for (int i = c + 1; i < m; i++)
            if (fabs(A[i][c]) > fabs(A[p][c])) p = i;
        pivot[c] = p;
        if (p != c)
            for (int j = 0; j < m; j++) {
                const double t = A[c][j];
                A[c][j] = A[p][j];
                A[p][j] = t;
            }
        const double d = A[c][c] = 1.0 / A[c][c];
        for (int i = c + 1; i < m; i++) {
            const double l = A[i][c] *= d;
            for (int j = c + 1; j < m; j++) A[i][j] -= l * A[c][j];
        }
    }
}

INLINE void solve(int m, double A[m][m], const int *restrict pivot, double *restrict b)
{
    for (int c = 0; c < m; c++) {
        const double t = b[pivot[c]];
        b[pivot[c]] = b[c];
        b[c] = t;
    }
    for (int i = 1; i < m; i++)
        for (int j = 0; j < i; j++) b[i] -= A[i][j] * b[j];
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) b[i] -= A[i][j] * b[j];
        b[i] *= A[i][i];
    }
}

/* one constraint set of a point: rows `o` to `o + 3`, `away` is the point it keeps its distance to */
INLINE void rows(int m, int o, const struct rail *f, const double *x, const double *away,
                 double length, double *F, double A[m][m])
{
    double d[3], p[3];
    for (int j = 0; j < 3; j++) { d[j] = x[o + j] - away[j]; p[j] = x[o + j] - f->r[j]; }
    F[o] = DOT(d, d) - length * length;
    F[o + 1] = DOT(f->u, p);
    F[o + 2] = DOT(f->w, p);
    F[o + 3] = x[o + 3] - DOT(f->e, p);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < m; j++) A[o + i][j] = 0.0;
    for (int j = 0; j < 3; j++) {
        A[o][o + j] = 2.0 * d[j];
        if (o) A[o][o - 4 + j] = -2.0 * d[j];
        A[o + 1][o + j] = f->u[j];
        A[o + 2][o + j] = f->w[j];
        A[o + 3][o + j] = -f->e[j];
    }
    A[o + 3][o + 3] = 1.0;
}

INLINE int dense(int m, const struct pin *B, const struct rail *f, double *restrict x,
                 double *restrict v, double *restrict a, double bound)
{
    double A[m][m], F[m];
    int pivot[m], it = 0;
    for (;; it++) {
        double sum = 0.0;
        rows(m, 0, f, x, B->r, ROD, F, A);
        if (m == 8) rows(m, 4, f, x, x, SLIDER, F, A);
        for (int i = 0; i < m; i++) sum += F[i] * F[i];
        if (sum <= bound || it == 20) break;
        factor(m, A, pivot);
        solve(m, A, pivot, F);
        for (int i = 0; i < m; i++) x[i] -= F[i];
    }
    double d[3], u[3];
    for (int j = 0; j < 3; j++) d[j] = x[j] - B->r[j];
    factor(m, A, pivot);
    for (int i = 0; i < m; i++) v[i] = a[i] = 0.0;
    v[0] = 2.0 * DOT(d, B->v);
    solve(m, A, pivot, v);
    for (int j = 0; j < 3; j++) u[j] = v[j] - B->v[j];
    a[0] = 2.0 * (DOT(d, B->a) - DOT(u, u));
    if (m == 8) {
        for (int j = 0; j < 3; j++) u[j] = v[4 + j] - v[j];
        a[4] = -2.0 * DOT(u, u);
    }
    solve(m, A, pivot, a);
    return it;
}

INLINE int dense4(const struct pin *B, const struct rail *f, double *restrict x, double *restrict v,
                  double *restrict a, double bound)
{
    return dense(4, B, f, x, v, a, bound);
}

INLINE int dense8(const struct pin *B, const struct rail *f, double *restrict x, double *restrict v,
                  double *restrict a, double bound)
{
    return dense(8, B, f, x, v, a, bound);
}

/* --- eight lanes, zeros used --------------------------------------------------------------------- */

/* inverse of the rows d, u, w: its three columns times 1/det */
struct inverse8 { v8 d[3], u[3], w[3]; };

INLINE struct inverse8 inverse(const v8 *d, const struct rail8 *f)
{
    struct inverse8 n;
    CROSS(n.d, f->u, f->w);
    CROSS(n.u, f->w, d);
    CROSS(n.w, d, f->u);
    const v8 k = 1.0 / DOT(d, n.d);
    for (int j = 0; j < 3; j++) { n.d[j] *= k; n.u[j] *= k; n.w[j] *= k; }
    return n;
}

INLINE int lanes(int m, const struct pin8 *B, const struct rail8 *f, v8 *restrict x, v8 *restrict v,
                 v8 *restrict a, double bound)
{
    struct inverse8 nc, nd;
    v8 d[3], p[3], g[3] = {{0}}, u[3];
    int it = 0;
    for (;; it++) {
        for (int j = 0; j < 3; j++) { d[j] = x[j] - B->r[j]; p[j] = x[j] - f->r[j]; }
        const v8 F0 = DOT(d, d) - ROD * ROD, F1 = DOT(f->u, p), F2 = DOT(f->w, p);
        const v8 F3 = x[3] - DOT(f->e, p);
        v8 F4 = {0}, F5 = {0}, F6 = {0}, F7 = {0};
        v8 sum = F0 * F0 + F1 * F1 + F2 * F2 + F3 * F3;
        if (m == 8) {
            for (int j = 0; j < 3; j++) { g[j] = x[4 + j] - x[j]; p[j] = x[4 + j] - f->r[j]; }
            F4 = DOT(g, g) - SLIDER * SLIDER;
            F5 = DOT(f->u, p);
            F6 = DOT(f->w, p);
            F7 = x[7] - DOT(f->e, p);
            sum += F4 * F4 + F5 * F5 + F6 * F6 + F7 * F7;
            nd = inverse(g, f);
        }
        nc = inverse(d, f);
        if (!any_above(sum, bound) || it == 20) break;
        v8 dC[3], dD[3];
        for (int j = 0; j < 3; j++) {
            dC[j] = nc.d[j] * (0.5 * F0) + nc.u[j] * F1 + nc.w[j] * F2;
            x[j] -= dC[j];
        }
        x[3] -= F3 + DOT(f->e, dC);
        if (m == 8) {
            const v8 G = 0.5 * F4 + DOT(g, dC);
            for (int j = 0; j < 3; j++) {
                dD[j] = nd.d[j] * G + nd.u[j] * F5 + nd.w[j] * F6;
                x[4 + j] -= dD[j];
            }
            x[7] -= F7 + DOT(f->e, dD);
        }
    }
    const v8 r = DOT(d, B->v);
    for (int j = 0; j < 3; j++) { v[j] = nc.d[j] * r; u[j] = v[j] - B->v[j]; }
    v[3] = DOT(f->e, v);
    const v8 h = DOT(d, B->a) - DOT(u, u);
    for (int j = 0; j < 3; j++) a[j] = nc.d[j] * h;
    a[3] = DOT(f->e, a);
    if (m == 8) {
        const v8 rd = DOT(g, v);
        for (int j = 0; j < 3; j++) { v[4 + j] = nd.d[j] * rd; u[j] = v[4 + j] - v[j]; }
        v[7] = DOT(f->e, v + 4);
        const v8 hd = DOT(g, a) - DOT(u, u);
        for (int j = 0; j < 3; j++) a[4 + j] = nd.d[j] * hd;
        a[7] = DOT(f->e, a + 4);
    }
    return it;
}

INLINE int lanes4(const struct pin8 *B, const struct rail8 *f, v8 *restrict x, v8 *restrict v,
                  v8 *restrict a, double bound)
{
    return lanes(4, B, f, x, v, a, bound);
}

INLINE int lanes8(const struct pin8 *B, const struct rail8 *f, v8 *restrict x, v8 *restrict v,
                  v8 *restrict a, double bound)
{
    return lanes(8, B, f, x, v, a, bound);
}

FAN_SCALAR(slider_nat4_scalar, 4, guess4, dense4)
FAN_INSTANTS(slider_nat4_lanes, 4, guess4, lanes4)
FAN_DYADS(slider_nat4_lanes_of_dyads, 4, guess4, lanes4)
FAN_SCALAR(slider_nat8_scalar, 8, guess8, dense8)
FAN_INSTANTS(slider_nat8_lanes, 8, guess8, lanes8)
FAN_DYADS(slider_nat8_lanes_of_dyads, 8, guess8, lanes8)
