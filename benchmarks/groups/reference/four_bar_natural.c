/* Chain of four-bars by groups in natural coordinates: crank, then n_d dyads 3R.
 *
 * Dyad k hangs its joint C between B = C of the dyad before (the crank's tip for the first) and
 * D = (6 k, 0):  |C-B|² = 36, |C-D|² = 36.  Newton to the tolerance on the 2-norm, the Jacobian
 * evaluated again at the solution, then velocity and acceleration.
 *
 * out, one point recorded: steps × 6; everything: steps × (n_d + 1) × 6 of the scalar program,
 * blocks × (n_d + 1) × 6 × 8 of the lanes (blocks of eight instants).  6 = x y vx vy ax ay. */
#include "lanes.h"

static const double CRANK = 2.0, BAR = 6.0, START = 1.5707963267948966;

enum keep { ONE_POINT, EVERYTHING };
enum guard { LEAN, GUARDED };

struct point { double x, y, vx, vy, ax, ay; };
struct state { double x, y, vx, vy, ax, ay, det; };

INLINE void scalar(struct run *g, enum keep keep)
{
    const int n = g->n_d;
    const double w = g->rate, step = w * g->dt, bound = g->tolerance * g->tolerance;
    struct point *restrict C = aligned(6 * (size_t)n);
    double *restrict out = g->out;
    double z = START;
    long updates = 0;
    for (int k = 0; k < n; k++) { C[k].x = 4.6 + 6.0 * k; C[k].y = 5.8; }

    const double begin = cpu_seconds();
    for (int i = 0; i < g->steps; i++, z += step) {
        const double s = sin(z), c = cos(z);
        struct point B = {CRANK * c, CRANK * s, -CRANK * s * w, CRANK * c * w,
                          -CRANK * c * w * w, -CRANK * s * w * w};
        double *restrict row = out + (keep == EVERYTHING ? 6 * (size_t)(n + 1) * i : 6 * (size_t)i);
        if (keep == EVERYTHING) { memcpy(row, &B, sizeof B); row += 6; }
        for (int k = 0; k < n; k++) {
            const double Dx = 6.0 * (k + 1);
            double x = C[k].x, y = C[k].y;
            double bx, by, dx, dy, det;
            for (int it = 0;; it++) {
                bx = x - B.x; by = y - B.y; dx = x - Dx; dy = y;
                const double f = bx * bx + by * by - BAR * BAR;
                const double h = dx * dx + dy * dy - BAR * BAR;
                det = 1.0 / (bx * dy - by * dx);
                if (f * f + h * h <= bound || it == 20) break;
                x -= 0.5 * det * (dy * f - by * h);
                y -= 0.5 * det * (bx * h - dx * f);
                updates++;
            }
            /* (C-B)·(vC-vB) = 0, (C-D)·vC = 0; the same matrix for the accelerations */
            const double r = bx * B.vx + by * B.vy;
            const double vx = det * dy * r, vy = -det * dx * r;
            const double ux = vx - B.vx, uy = vy - B.vy;
            const double p = bx * B.ax + by * B.ay - ux * ux - uy * uy;
            const double q = -vx * vx - vy * vy;
            const double ax = det * (dy * p - by * q), ay = det * (bx * q - dx * p);
            B = (struct point){x, y, vx, vy, ax, ay};
            C[k] = B;
            if (keep == EVERYTHING) memcpy(row + 6 * (size_t)k, &B, sizeof B);
        }
        if (keep == ONE_POINT) memcpy(row, &C[g->recorded], sizeof B);
    }
    g->seconds = cpu_seconds() - begin;
    g->updates = (double)updates / ((double)n * g->steps);
    g->check = 0.0;
    for (int k = 0; k < n; k++)
        g->check += C[k].x + C[k].y + C[k].vx + C[k].vy + C[k].ax + C[k].ay;
    memcpy(g->end, &C[g->recorded], sizeof(struct point));
    free(C);
}

/* guard: all that the generated kernels do as well: lanes that are solved stay as they are and count
 * no steps, and a dyad that is not solved, or is at a dead point, is told. */
INLINE void lanes(struct run *g, enum keep keep, enum guard guard)
{
    const int n = g->n_d, blocks = (g->steps + LANES - 1) / LANES;
    const double w = g->rate, step = w * g->dt, bound = g->tolerance * g->tolerance;
    const v8 ahead = g->dt * (v8){1, 2, 3, 4, 5, 6, 7, 8};
    const v8 half = 0.5 * ahead * ahead;
    struct state *restrict C = aligned(7 * (size_t)n);
    struct failure failure = {0, 0};
    v8 *restrict out = (v8 *)g->out;
    v8 kept[6] = {{0}};
    v8 made = {0};
    double angle = START;
    long updates = 0;

    /* the first block starts from the guess: position only */
    for (int k = 0; k < n; k++) { C[k].x = 4.6 + 6.0 * k; C[k].y = 5.8; }

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
            const double Dx = 6.0 * (k + 1);
            v8 x = C[k].x + C[k].vx * ahead + C[k].ax * half;
            v8 y = C[k].y + C[k].vy * ahead + C[k].ay * half;
            v8 bx, by, dx, dy, size, det, square;
            for (int it = 0;; it++) {
                bx = x - Bx; by = y - By; dx = x - Dx; dy = y;
                const v8 f = bx * bx + by * by - BAR * BAR;
                const v8 h = dx * dx + dy * dy - BAR * BAR;
                size = bx * dy - by * dx;
                det = 1.0 / size;
                square = f * f + h * h;
                const bits8 open = guard ? above(square, bound) : not_within(square, bound);
                if (!open || it == 20) break;
                const v8 to_x = x - 0.5 * det * (dy * f - by * h);
                const v8 to_y = y - 0.5 * det * (bx * h - dx * f);
                x = guard ? where(open, to_x, x) : to_x;
                y = guard ? where(open, to_y, y) : to_y;
                if (guard) made = where(open, made + 1.0, made);
                updates++;
            }
            if (guard) {
                const v8 held = C[k].det * (size - FALLEN * C[k].det);
                const bits8 good = good_lanes(held, square, bound);
                if (__builtin_expect(good != 0xff && i, 0)) note(&failure, k + 1, square, bound);
                C[k].det = size[7];
            }
            const v8 r = bx * Bvx + by * Bvy;
            const v8 vx = det * dy * r, vy = -det * dx * r;
            const v8 ux = vx - Bvx, uy = vy - Bvy;
            const v8 p = bx * Bax + by * Bay - ux * ux - uy * uy;
            const v8 q = -vx * vx - vy * vy;
            Bx = x; By = y; Bvx = vx; Bvy = vy;
            Bax = det * (dy * p - by * q); Bay = det * (bx * q - dx * p);
            C[k].x = x[7]; C[k].y = y[7]; C[k].vx = vx[7];
            C[k].vy = vy[7]; C[k].ax = Bax[7]; C[k].ay = Bay[7];
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
        if (keep == ONE_POINT)
            for (int l = 0; l < LANES; l++)
                for (int j = 0; j < 6; j++) g->out[6 * ((size_t)i * LANES + l) + j] = kept[j][l];
    }
    g->seconds = cpu_seconds() - begin;
    g->updates = (double)updates / ((double)n * blocks);
    g->check = 0.0 * made[0];
    if (failure.dyad) g->check = NAN;
    for (int k = 0; k < n; k++)
        g->check += C[k].x + C[k].y + C[k].vx + C[k].vy + C[k].ax + C[k].ay;
    for (int j = 0; j < 6; j++) g->end[j] = kept[j][(g->steps - 1) % LANES];
    free(C);
}

void four_bar_natural_scalar(struct run *g) { scalar(g, ONE_POINT); }
void four_bar_natural_scalar_stored(struct run *g) { scalar(g, EVERYTHING); }
void four_bar_natural_lanes(struct run *g) { lanes(g, ONE_POINT, LEAN); }
void four_bar_natural_lanes_stored(struct run *g) { lanes(g, EVERYTHING, LEAN); }
void four_bar_natural_guarded(struct run *g) { lanes(g, ONE_POINT, GUARDED); }
void four_bar_natural_guarded_stored(struct run *g) { lanes(g, EVERYTHING, GUARDED); }
