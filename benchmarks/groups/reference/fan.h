/* The fan of spatial sliders (crank 2 m on an axis 30 degrees off x, rods 6 m, rails through the
 * origin at 2π k / n_d in the xy plane), and the loops over instants and dyads that the programs
 * in relative and natural coordinates share.
 *
 * A program gives to FAN_SCALAR, FAN_INSTANTS and FAN_DYADS its name, the number M of unknowns of a
 * dyad, the function of their first values, and the one that solves a dyad (one instant, or eight
 * lanes): x holds the guess and then the solution, v and a its rates; it returns the Newton
 * updates.  SLIDER_POINT(rail, unknowns and rates, out) writes what is recorded.
 * out: steps × 9, position, velocity and acceleration of the recorded slider point. */
#ifndef BIELA_REFERENCE_FAN_H
#define BIELA_REFERENCE_FAN_H

#include "lanes.h"

static const double CRANK = 2.0, ROD = 6.0;

/* axis of the crank (cos β, -sin β, 0), β = 30°; its pin at L (-sφ/2, -√3/2 sφ, cφ) */
#define SIN_AXIS 0.5
#define COS_AXIS 0.86602540378443864676

/* constants of a dyad: a point of the rail, its direction, and for the natural models the two
 * constant vectors u with u·(C - r40) = 0 (components of the product with e) */
struct rail { double r[3], e[3], u[3], w[3]; };
struct rail8 { v8 r[3], e[3], u[3], w[3]; };

struct pin { double r[3], v[3], a[3]; };
struct pin8 { v8 r[3], v[3], a[3]; };

INLINE void component(const double *e, int i, double *u)
{
    /* (p × e)_i = u·p */
    u[i] = 0.0;
    u[(i + 1) % 3] = e[(i + 2) % 3];
    u[(i + 2) % 3] = -e[(i + 1) % 3];
}

INLINE struct rail *rails(int n, int room)
{
    struct rail *all_rails = aligned(12 * (size_t)room);
    for (int k = 0; k < room; k++) {
        struct rail *f = &all_rails[k];
        const double psi = 6.283185307179586477 * (k % n) / n;
        f->e[0] = cos(psi); f->e[1] = sin(psi); f->e[2] = 0.0;
        /* leave out the component along which the rail leans most */
        const int out = fabs(f->e[0]) >= fabs(f->e[1]) ? 0 : 1;
        component(f->e, (out + 1) % 3, f->u);
        component(f->e, (out + 2) % 3, f->w);
    }
    return all_rails;
}

INLINE struct pin pin_at(double z, double w)
{
    const double s = sin(z), c = cos(z), x = -SIN_AXIS * CRANK, y = -COS_AXIS * CRANK;
    const double q = w * w;
    return (struct pin){{x * s, y * s, CRANK * c},
                        {x * c * w, y * c * w, -CRANK * s * w},
                        {-x * s * q, -y * s * q, -CRANK * c * q}};
}

INLINE struct pin8 pins_at(v8 z, double w)
{
    v8 s, c;
    const double x = -SIN_AXIS * CRANK, y = -COS_AXIS * CRANK, q = w * w;
    sincos8(z, &s, &c);
    return (struct pin8){{x * s, y * s, CRANK * c},
                         {x * c * w, y * c * w, -CRANK * s * w},
                         {-x * s * q, -y * s * q, -CRANK * c * q}};
}

#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
#define CROSS(c, a, b)                            \
    do {                                          \
        (c)[0] = (a)[1] * (b)[2] - (a)[2] * (b)[1]; \
        (c)[1] = (a)[2] * (b)[0] - (a)[0] * (b)[2]; \
        (c)[2] = (a)[0] * (b)[1] - (a)[1] * (b)[0]; \
    } while (0)

/* --- one group, one instant at a time; the guess is the last solution ---------------------------- */

#define FAN_SCALAR(NAME, M, GUESS, DYAD)                                                          \
    void NAME(struct run *g)                                                                      \
    {                                                                                             \
        const int n = g->n_d;                                                                     \
        const double step = g->rate * g->dt;                                                      \
        struct rail *restrict f = rails(n, n);                                                    \
        double(*restrict q)[3][M] = aligned(3 * M * (size_t)n);                                   \
        double *restrict out = g->out;                                                            \
        double z = 0.0;                                                                           \
        long updates = 0;                                                                         \
        for (int k = 0; k < n; k++) GUESS(&f[k], q[k][0]);                                        \
        const double begin = cpu_seconds();                                                       \
        for (int i = 0; i < g->steps; i++, z += step) {                                           \
            const struct pin B = pin_at(z, g->rate);                                              \
            for (int k = 0; k < n; k++)                                                           \
                updates += DYAD(&B, &f[k], q[k][0], q[k][1], q[k][2],                             \
                                g->tolerance * g->tolerance);                                     \
            SLIDER_POINT(f[g->recorded], q[g->recorded], out + 9 * (size_t)i);                    \
        }                                                                                         \
        g->seconds = cpu_seconds() - begin;                                                       \
        g->updates = (double)updates / ((double)n * g->steps);                                    \
        g->check = 0.0;                                                                           \
        for (int k = 0; k < n; k++)                                                               \
            for (int d = 0; d < 3; d++)                                                           \
                for (int j = 0; j < M; j++) g->check += q[k][d][j];                               \
        memcpy(g->end, out + 9 * (size_t)(g->steps - 1), sizeof g->end);                          \
        free(f);                                                                                  \
        free(q);                                                                                  \
    }

/* --- eight instants at a time; the guess is a parabola from the last solved instant -------------- */

#define FAN_INSTANTS(NAME, M, GUESS, DYAD)                                                        \
    void NAME(struct run *g)                                                                      \
    {                                                                                             \
        const int n = g->n_d, blocks = (g->steps + LANES - 1) / LANES;                            \
        const double step = g->rate * g->dt;                                                      \
        const v8 ahead = g->dt * (v8){1, 2, 3, 4, 5, 6, 7, 8}, half = 0.5 * ahead * ahead;        \
        struct rail *restrict f = rails(n, n);                                                    \
        double(*restrict q)[3][M] = aligned(3 * M * (size_t)n);                                   \
        double *restrict out = g->out;                                                            \
        double angle = 0.0;                                                                       \
        long updates = 0;                                                                         \
        for (int k = 0; k < n; k++) GUESS(&f[k], q[k][0]);                                        \
        const double begin = cpu_seconds();                                                       \
        for (int i = 0; i < blocks; i++) {                                                        \
            v8 z;                                                                                 \
            for (int l = 0; l < LANES; l++, angle += step) z[l] = angle;                          \
            const struct pin8 B = pins_at(z, g->rate);                                            \
            for (int k = 0; k < n; k++) {                                                         \
                struct rail8 rail;                                                                \
                v8 x[M], v[M], a[M];                                                              \
                for (int j = 0; j < 3; j++) {                                                     \
                    rail.r[j] = all(f[k].r[j]); rail.e[j] = all(f[k].e[j]);                       \
                    rail.u[j] = all(f[k].u[j]); rail.w[j] = all(f[k].w[j]);                       \
                }                                                                                 \
                for (int j = 0; j < M; j++)                                                       \
                    x[j] = q[k][0][j] + q[k][1][j] * ahead + q[k][2][j] * half;                   \
                updates += DYAD(&B, &rail, x, v, a, g->tolerance * g->tolerance);                 \
                for (int j = 0; j < M; j++) {                                                     \
                    q[k][0][j] = x[j][7]; q[k][1][j] = v[j][7]; q[k][2][j] = a[j][7];             \
                }                                                                                 \
                if (k == g->recorded)                                                             \
                    for (int l = 0; l < LANES; l++) {                                             \
                        double one[3][M];                                                         \
                        for (int j = 0; j < M; j++) {                                             \
                            one[0][j] = x[j][l]; one[1][j] = v[j][l]; one[2][j] = a[j][l];        \
                        }                                                                         \
                        SLIDER_POINT(f[k], one, out + 9 * ((size_t)i * LANES + l));               \
                    }                                                                             \
            }                                                                                     \
        }                                                                                         \
        g->seconds = cpu_seconds() - begin;                                                       \
        g->updates = (double)updates / ((double)n * blocks);                                      \
        g->check = 0.0;                                                                           \
        for (int k = 0; k < n; k++)                                                               \
            for (int d = 0; d < 3; d++)                                                           \
                for (int j = 0; j < M; j++) g->check += q[k][d][j];                               \
        memcpy(g->end, out + 9 * (size_t)(g->steps - 1), sizeof g->end);                          \
        free(f);                                                                                  \
        free(q);                                                                                  \
    }

/* --- eight dyads at a time; the guess is a parabola over one step ------------------------------- */

#define FAN_DYADS(NAME, M, GUESS, DYAD)                                                           \
    void NAME(struct run *g)                                                                      \
    {                                                                                             \
        const int n = g->n_d, packs = (n + LANES - 1) / LANES;                                    \
        const double step = g->rate * g->dt, dt = g->dt, half = 0.5 * dt * dt;                    \
        struct rail *restrict f = rails(n, packs * LANES);                                        \
        struct rail8 *restrict f8 = aligned(12 * LANES * (size_t)packs);                          \
        v8(*restrict q)[3][M] = aligned(3 * M * LANES * (size_t)packs);                           \
        double *restrict out = g->out;                                                            \
        double z = 0.0;                                                                           \
        long updates = 0;                                                                         \
        for (int k = 0; k < packs * LANES; k++) {                                                 \
            double first[M];                                                                      \
            GUESS(&f[k], first);                                                                  \
            for (int j = 0; j < M; j++) q[k / LANES][0][j][k % LANES] = first[j];                 \
            for (int j = 0; j < 3; j++) {                                                         \
                f8[k / LANES].r[j][k % LANES] = f[k].r[j];                                        \
                f8[k / LANES].e[j][k % LANES] = f[k].e[j];                                        \
                f8[k / LANES].u[j][k % LANES] = f[k].u[j];                                        \
                f8[k / LANES].w[j][k % LANES] = f[k].w[j];                                        \
            }                                                                                     \
        }                                                                                         \
        const int pack = g->recorded / LANES, lane = g->recorded % LANES;                         \
        const double begin = cpu_seconds();                                                       \
        for (int i = 0; i < g->steps; i++, z += step) {                                           \
            const struct pin B = pin_at(z, g->rate);                                              \
            struct pin8 B8;                                                                       \
            for (int j = 0; j < 3; j++) {                                                         \
                B8.r[j] = all(B.r[j]); B8.v[j] = all(B.v[j]); B8.a[j] = all(B.a[j]);              \
            }                                                                                     \
            for (int k = 0; k < packs; k++) {                                                     \
                v8 x[M], v[M], a[M];                                                              \
                for (int j = 0; j < M; j++) x[j] = q[k][0][j] + q[k][1][j] * dt + q[k][2][j] * half; \
                updates += DYAD(&B8, &f8[k], x, v, a, g->tolerance * g->tolerance);               \
                for (int j = 0; j < M; j++) {                                                     \
                    q[k][0][j] = x[j]; q[k][1][j] = v[j]; q[k][2][j] = a[j];                      \
                }                                                                                 \
            }                                                                                     \
            double one[3][M];                                                                     \
            for (int d = 0; d < 3; d++)                                                           \
                for (int j = 0; j < M; j++) one[d][j] = q[pack][d][j][lane];                      \
            SLIDER_POINT(f[g->recorded], one, out + 9 * (size_t)i);                               \
        }                                                                                         \
        g->seconds = cpu_seconds() - begin;                                                       \
        g->updates = (double)updates / ((double)packs * g->steps);                                \
        g->check = 0.0;                                                                           \
        for (int k = 0; k < n; k++)                                                               \
            for (int d = 0; d < 3; d++)                                                           \
                for (int j = 0; j < M; j++) g->check += q[k / LANES][d][j][k % LANES];            \
        memcpy(g->end, out + 9 * (size_t)(g->steps - 1), sizeof g->end);                          \
        free(f);                                                                                  \
        free(f8);                                                                                 \
        free(q);                                                                                  \
    }

#endif
