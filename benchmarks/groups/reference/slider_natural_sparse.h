/* A dyad 2S1P in natural coordinates, the zeros of its matrix used: C by the products of the rows,
 * then s, then D the same way, then t.  Included once for double and once for eight lanes, with
 *   REAL, ZERO      the number and its zero
 *   PIN, RAIL       what the dyad reads
 *   ABOVE(x, bound) is any lane above the bound?
 *   SOLVER(name)    the names of this version */

/* inverse of the rows d, u, w: its three columns times 1/det */
struct SOLVER(inverse) { REAL d[3], u[3], w[3]; };

INLINE struct SOLVER(inverse) SOLVER(inverted)(const REAL *d, const RAIL *f)
{
    struct SOLVER(inverse) n;
    CROSS(n.d, f->u, f->w);
    CROSS(n.u, f->w, d);
    CROSS(n.w, d, f->u);
    const REAL k = 1.0 / DOT(d, n.d);
    for (int j = 0; j < 3; j++) { n.d[j] *= k; n.u[j] *= k; n.w[j] *= k; }
    return n;
}

INLINE int SOLVER(solve)(int m, const PIN *B, const RAIL *f, REAL *restrict x, REAL *restrict v,
                         REAL *restrict a, double bound)
{
    struct SOLVER(inverse) nc, nd;
    REAL d[3], p[3], g[3] = {ZERO, ZERO, ZERO}, u[3];
    int it = 0;
    for (;; it++) {
        for (int j = 0; j < 3; j++) { d[j] = x[j] - B->r[j]; p[j] = x[j] - f->r[j]; }
        const REAL F0 = DOT(d, d) - ROD * ROD, F1 = DOT(f->u, p), F2 = DOT(f->w, p);
        const REAL F3 = x[3] - DOT(f->e, p);
        REAL F4 = ZERO, F5 = ZERO, F6 = ZERO, F7 = ZERO;
        REAL sum = F0 * F0 + F1 * F1 + F2 * F2 + F3 * F3;
        if (m == 8) {
            for (int j = 0; j < 3; j++) { g[j] = x[4 + j] - x[j]; p[j] = x[4 + j] - f->r[j]; }
            F4 = DOT(g, g) - SLIDER * SLIDER;
            F5 = DOT(f->u, p);
            F6 = DOT(f->w, p);
            F7 = x[7] - DOT(f->e, p);
            sum += F4 * F4 + F5 * F5 + F6 * F6 + F7 * F7;
            nd = SOLVER(inverted)(g, f);
        }
        nc = SOLVER(inverted)(d, f);
        if (!ABOVE(sum, bound) || it == 20) break;
        REAL dC[3], dD[3];
        for (int j = 0; j < 3; j++) {
            dC[j] = nc.d[j] * (0.5 * F0) + nc.u[j] * F1 + nc.w[j] * F2;
            x[j] -= dC[j];
        }
        x[3] -= F3 + DOT(f->e, dC);
        if (m == 8) {
            const REAL G = 0.5 * F4 + DOT(g, dC);
            for (int j = 0; j < 3; j++) {
                dD[j] = nd.d[j] * G + nd.u[j] * F5 + nd.w[j] * F6;
                x[4 + j] -= dD[j];
            }
            x[7] -= F7 + DOT(f->e, dD);
        }
    }
    const REAL r = DOT(d, B->v);
    for (int j = 0; j < 3; j++) { v[j] = nc.d[j] * r; u[j] = v[j] - B->v[j]; }
    v[3] = DOT(f->e, v);
    const REAL h = DOT(d, B->a) - DOT(u, u);
    for (int j = 0; j < 3; j++) a[j] = nc.d[j] * h;
    a[3] = DOT(f->e, a);
    if (m == 8) {
        const REAL rd = DOT(g, v);
        for (int j = 0; j < 3; j++) { v[4 + j] = nd.d[j] * rd; u[j] = v[4 + j] - v[j]; }
        v[7] = DOT(f->e, v + 4);
        const REAL hd = DOT(g, a) - DOT(u, u);
        for (int j = 0; j < 3; j++) a[4 + j] = nd.d[j] * hd;
        a[7] = DOT(f->e, a + 4);
    }
    return it;
}

#undef REAL
#undef ZERO
#undef PIN
#undef RAIL
#undef ABOVE
#undef SOLVER
