/* Chain of four-bars by groups in relative coordinates: crank, then n_d dyads 3R.
 *
 * Dyad k: absolute angles φ1 of the bar B-C and φ2 of the bar C-D with D = (6 k, 0), closed by
 * D - B - 6 e(φ1) - 6 e(φ2) = 0; C, its velocity and acceleration follow from φ1.
 * Results as in four_bar_natural.c. */
#include "lanes.h"

static const double CRANK = 2.0, BAR = 6.0, START = 1.5707963267948966;

enum keep { ONE_POINT, EVERYTHING };
enum guard { LEAN, GUARDED };

struct point { double x, y, vx, vy, ax, ay; };
struct angles { double p1, p2, w1, w2, d1, d2; };
struct state { double p1, p2, w1, w2, d1, d2, det; };

INLINE void scalar(struct run *g, enum keep keep)
{
    const int n = g->n_d;
    const double w = g->rate, step = w * g->dt, bound = g->tolerance * g->tolerance;
    struct point *restrict C = aligned(6 * (size_t)n);
    struct angles *restrict P = aligned(6 * (size_t)n);
    double *restrict out = g->out;
    double z = START;
    long updates = 0;
    for (int k = 0; k < n; k++) { P[k].p1 = k ? 0.0 : 0.69; P[k].p2 = -1.33; }

    const double begin = cpu_seconds();
    for (int i = 0; i < g->steps; i++, z += step) {
        const double s = sin(z), c = cos(z);
        struct point B = {CRANK * c, CRANK * s, -CRANK * s * w, CRANK * c * w,
                          -CRANK * c * w * w, -CRANK * s * w * w};
        double *restrict row = out + (keep == EVERYTHING ? 6 * (size_t)(n + 1) * i : 6 * (size_t)i);
        if (keep == EVERYTHING) { memcpy(row, &B, sizeof B); row += 6; }
        for (int k = 0; k < n; k++) {
            const double dx = 6.0 * (k + 1) - B.x, dy = -B.y;
            double p1 = P[k].p1, p2 = P[k].p2;
            double c1, s1, c2, s2, det;
            for (int it = 0;; it++) {
                c1 = BAR * cos(p1); s1 = BAR * sin(p1); c2 = BAR * cos(p2); s2 = BAR * sin(p2);
                const double f = dx - c1 - c2, h = dy - s1 - s2;
                det = 1.0 / (s2 * c1 - c2 * s1);
                if (f * f + h * h <= bound || it == 20) break;
                p1 += det * (c2 * f + s2 * h);
                p2 -= det * (c1 * f + s1 * h);
                updates++;
            }
            /* Φφ⁻¹ = det [-c2 -s2; c1 s1]; the right-hand sides are B's velocity and acceleration
             * less the centripetal terms */
            const double w1 = -det * (c2 * B.vx + s2 * B.vy), w2 = det * (c1 * B.vx + s1 * B.vy);
            const double q1 = w1 * w1, q2 = w2 * w2;
            const double rx = B.ax - c1 * q1 - c2 * q2, ry = B.ay - s1 * q1 - s2 * q2;
            const double d1 = -det * (c2 * rx + s2 * ry), d2 = det * (c1 * rx + s1 * ry);
            P[k] = (struct angles){p1, p2, w1, w2, d1, d2};
            B = (struct point){B.x + c1, B.y + s1, B.vx - s1 * w1, B.vy + c1 * w1,
                               B.ax - s1 * d1 - c1 * q1, B.ay + c1 * d1 - s1 * q1};
            C[k] = B;
            if (keep == EVERYTHING) memcpy(row + 6 * (size_t)k, &B, sizeof B);
        }
        if (keep == ONE_POINT) memcpy(row, &C[g->recorded], sizeof B);
    }
    g->seconds = cpu_seconds() - begin;
    g->updates = (double)updates / ((double)n * g->steps);
    g->check = 0.0;
    for (int k = 0; k < n; k++)
        g->check += C[k].x + C[k].y + C[k].vx + C[k].vy + C[k].ax + C[k].ay + P[k].d2;
    memcpy(g->end, &C[g->recorded], sizeof(struct point));
    free(C);
    free(P);
}

/* guard: as in four_bar_natural.c; and angles may be of any size */
INLINE void lanes(struct run *g, enum keep keep, enum guard guard)
{
    const int n = g->n_d, blocks = (g->steps + LANES - 1) / LANES;
    const double w = g->rate, step = w * g->dt, bound = g->tolerance * g->tolerance;
    const v8 ahead = g->dt * (v8){1, 2, 3, 4, 5, 6, 7, 8};
    const v8 half = 0.5 * ahead * ahead;
    struct state *restrict P = aligned(7 * (size_t)n);
    struct failure failure = {0, 0};
    v8 *restrict out = (v8 *)g->out;
    v8 kept[6] = {{0}}, last = {0}, made = {0};
    double angle = START;
    long updates = 0;
    for (int k = 0; k < n; k++) { P[k].p1 = k ? 0.0 : 0.69; P[k].p2 = -1.33; }

    const double begin = cpu_seconds();
    for (int i = 0; i < blocks; i++) {
        v8 z, s, c;
        for (int l = 0; l < LANES; l++, angle += step) z[l] = angle;
        sincos8(z, &s, &c);
        v8 Bx = CRANK * c, By = CRANK * s, Bvx = -w * By, Bvy = w * Bx;
        v8 Bax = -w * w * Bx, Bay = -w * w * By;
        v8 *restrict row = out + (keep == EVERYTHING ? 6 * (size_t)(n + 1) * i : 0);
        if (keep == EVERYTHING) {
            row[0] = Bx; row[1] = By; row[2] = Bvx; row[3] = Bvy; row[4] = Bax; row[5] = Bay;
            row += 6;
        }
        for (int k = 0; k < n; k++) {
            const v8 dx = 6.0 * (k + 1) - Bx, dy = -By;
            v8 p1 = P[k].p1 + P[k].w1 * ahead + P[k].d1 * half;
            v8 p2 = P[k].p2 + P[k].w2 * ahead + P[k].d2 * half;
            v8 c1, s1, c2, s2, size, det, square;
            for (int it = 0;; it++) {
                if (guard) {
                    sincos8_any(p1, &s1, &c1);
                    sincos8_any(p2, &s2, &c2);
                } else {
                    sincos8(p1, &s1, &c1);
                    sincos8(p2, &s2, &c2);
                }
                c1 *= BAR; s1 *= BAR; c2 *= BAR; s2 *= BAR;
                const v8 f = dx - c1 - c2, h = dy - s1 - s2;
                size = s2 * c1 - c2 * s1;
                det = 1.0 / size;
                square = f * f + h * h;
                const bits8 open = guard ? above(square, bound) : not_within(square, bound);
                if (!open || it == 20) break;
                const v8 to_1 = p1 + det * (c2 * f + s2 * h);
                const v8 to_2 = p2 - det * (c1 * f + s1 * h);
                p1 = guard ? where(open, to_1, p1) : to_1;
                p2 = guard ? where(open, to_2, p2) : to_2;
                if (guard) made = where(open, made + 1.0, made);
                updates++;
            }
            if (guard) {
                const v8 held = P[k].det * (size - FALLEN * P[k].det);
                const bits8 good = good_lanes(held, square, bound);
                if (__builtin_expect(good != 0xff && i, 0)) note(&failure, k + 1, square, bound);
                P[k].det = size[7];
            }
            const v8 w1 = -det * (c2 * Bvx + s2 * Bvy), w2 = det * (c1 * Bvx + s1 * Bvy);
            const v8 q1 = w1 * w1, q2 = w2 * w2;
            const v8 rx = Bax - c1 * q1 - c2 * q2, ry = Bay - s1 * q1 - s2 * q2;
            const v8 d1 = -det * (c2 * rx + s2 * ry), d2 = det * (c1 * rx + s1 * ry);
            P[k].p1 = p1[7]; P[k].p2 = p2[7]; P[k].w1 = w1[7];
            P[k].w2 = w2[7]; P[k].d1 = d1[7]; P[k].d2 = d2[7];
            Bx += c1; By += s1; Bvx -= s1 * w1; Bvy += c1 * w1;
            Bax -= s1 * d1 + c1 * q1; Bay += c1 * d1 - s1 * q1;
            if (keep == EVERYTHING) {
                v8 *restrict o = row + 6 * (size_t)k;
                o[0] = Bx; o[1] = By; o[2] = Bvx; o[3] = Bvy; o[4] = Bax; o[5] = Bay;
                fetch_ahead(o, 6 * (size_t)(n + 1));
            }
            if (k == g->recorded) {
                kept[0] = Bx; kept[1] = By; kept[2] = Bvx;
                kept[3] = Bvy; kept[4] = Bax; kept[5] = Bay;
            }
        }
        last += Bax + Bay;
        if (keep == ONE_POINT)
            for (int l = 0; l < LANES; l++)
                for (int j = 0; j < 6; j++) g->out[6 * ((size_t)i * LANES + l) + j] = kept[j][l];
    }
    g->seconds = cpu_seconds() - begin;
    g->updates = (double)updates / ((double)n * blocks);
    g->check = last[0] + last[7] + 0.0 * made[0];
    if (failure.dyad) g->check = NAN;
    for (int k = 0; k < n; k++) g->check += P[k].p1 + P[k].p2 + P[k].d1 + P[k].d2;
    for (int j = 0; j < 6; j++) g->end[j] = kept[j][(g->steps - 1) % LANES];
    free(P);
}

void four_bar_relative_scalar(struct run *g) { scalar(g, ONE_POINT); }
void four_bar_relative_scalar_stored(struct run *g) { scalar(g, EVERYTHING); }
void four_bar_relative_lanes(struct run *g) { lanes(g, ONE_POINT, LEAN); }
void four_bar_relative_lanes_stored(struct run *g) { lanes(g, EVERYTHING, LEAN); }
void four_bar_relative_guarded(struct run *g) { lanes(g, ONE_POINT, GUARDED); }
void four_bar_relative_guarded_stored(struct run *g) { lanes(g, EVERYTHING, GUARDED); }
