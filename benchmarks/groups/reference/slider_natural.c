/* Fan of spatial sliders by groups in natural coordinates: crank, then n_d dyads 2S1P.
 *
 * NAT4, unknowns C, s:  |C-B|² - L²,  u·(C-r40),  w·(C-r40),  s - e·(C-r40)
 *   (u and w give two components of (C-r40) × e).
 * NAT8 adds D, t, a second point of the slider:  |D-C|² - 1,  u·(D-r40),  w·(D-r40),
 *   t - e·(D-r40).
 *
 * The plain scalar programs solve the full 4 × 4 or 8 × 8 matrix by elimination with row exchanges,
 * as a group routine of a library does.  Those called sparse, and those in lanes, use its zeros
 * (slider_natural_sparse.h); that is the same Newton step. */
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

/* --- zeros used, one instant and eight lanes ----------------------------------------------------- */

#define REAL double
#define ZERO 0.0
#define PIN struct pin
#define RAIL struct rail
#define ABOVE(x, bound) (!((x) <= (bound)))
#define SOLVER(name) name##_sparse1
#include "slider_natural_sparse.h"

#define REAL v8
#define ZERO ((v8){0})
#define PIN struct pin8
#define RAIL struct rail8
#define ABOVE(x, bound) any_above(x, bound)
#define SOLVER(name) name##_sparse8
#include "slider_natural_sparse.h"

#define BIND(NAME, SOLVE, M, NUMBER, PIN, RAIL)                                                   \
    INLINE int NAME(const PIN *B, const RAIL *f, NUMBER *restrict x, NUMBER *restrict v,          \
                    NUMBER *restrict a, double bound)                                             \
    {                                                                                             \
        return SOLVE(M, B, f, x, v, a, bound);                                                    \
    }

BIND(sparse4, solve_sparse1, 4, double, struct pin, struct rail)
BIND(sparse8, solve_sparse1, 8, double, struct pin, struct rail)
BIND(lanes4, solve_sparse8, 4, v8, struct pin8, struct rail8)
BIND(lanes8, solve_sparse8, 8, v8, struct pin8, struct rail8)

FAN_SCALAR(slider_nat4_scalar, 4, guess4, dense4)
FAN_SCALAR(slider_nat4_scalar_sparse, 4, guess4, sparse4)
FAN_INSTANTS(slider_nat4_lanes, 4, guess4, lanes4)
FAN_DYADS(slider_nat4_lanes_of_dyads, 4, guess4, lanes4)
FAN_SCALAR(slider_nat8_scalar, 8, guess8, dense8)
FAN_SCALAR(slider_nat8_scalar_sparse, 8, guess8, sparse8)
FAN_INSTANTS(slider_nat8_lanes, 8, guess8, lanes8)
FAN_DYADS(slider_nat8_lanes_of_dyads, 8, guess8, lanes8)
