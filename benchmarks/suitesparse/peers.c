// KLU and CHOLMOD on matrices whose pattern stays: analyse once, then refactor and solve in a loop.
#include <cholmod.h>
#include <klu.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  klu_symbolic *symbolic;
  klu_numeric *numeric;
  klu_common common;
  int n, *start, *rows;
  double *values;
} klu_peer;

// ordering: 0 AMD, 1 COLAMD; scale: -1 none, 2 by the largest of each row (the default)
klu_peer *klu_peer_new(int n, int *start, int *rows, double *values, int ordering, int scale) {
  klu_peer *p = calloc(1, sizeof *p);
  klu_defaults(&p->common);
  p->common.ordering = ordering;
  p->common.scale = scale;
  p->n = n;
  p->start = start;
  p->rows = rows;
  p->values = values;
  p->symbolic = klu_analyze(n, start, rows, &p->common);
  p->numeric = p->symbolic ? klu_factor(start, rows, values, p->symbolic, &p->common) : NULL;
  if (!p->numeric) {
    free(p);
    return NULL;
  }
  return p;
}

// refactor, then solve `solves` times from b into x; all of that `count` times
int klu_peer_run(klu_peer *p, int count, int solves, const double *b, double *x) {
  int ok = 1;
  for (int k = 0; k < count; k++) {
    ok &= klu_refactor(p->start, p->rows, p->values, p->symbolic, p->numeric, &p->common);
    for (int s = 0; s < solves; s++) {
      memcpy(x, b, p->n * sizeof *x);
      ok &= klu_solve(p->symbolic, p->numeric, p->n, 1, x, &p->common);
    }
  }
  return ok;
}

void klu_peer_free(klu_peer *p) {
  klu_free_numeric(&p->numeric, &p->common);
  klu_free_symbolic(&p->symbolic, &p->common);
  free(p);
}

typedef struct {
  cholmod_common common;
  cholmod_sparse matrix;
  cholmod_factor *factor;
  cholmod_dense b, *x, *y, *e;
} cholmod_peer;

// lower triangle by columns; supernodal: CHOLMOD_SIMPLICIAL 0, AUTO 1, SUPERNODAL 2
cholmod_peer *cholmod_peer_new(int n, int *start, int *rows, double *values, int supernodal) {
  cholmod_peer *p = calloc(1, sizeof *p);
  cholmod_start(&p->common);
  p->common.supernodal = supernodal;
  cholmod_sparse A = {.nrow = n, .ncol = n, .nzmax = start[n], .p = start, .i = rows, .x = values,
                      .stype = -1, .itype = CHOLMOD_INT, .xtype = CHOLMOD_REAL,
                      .dtype = CHOLMOD_DOUBLE, .sorted = 1, .packed = 1};
  p->matrix = A;
  p->factor = cholmod_analyze(&p->matrix, &p->common);
  return p;
}

int cholmod_peer_run(cholmod_peer *p, int count, double *b, double *x) {
  int n = p->matrix.nrow, ok = 1;
  cholmod_dense right = {.nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = b,
                         .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
  for (int k = 0; k < count; k++) {
    ok &= cholmod_factorize(&p->matrix, p->factor, &p->common);
    ok &= cholmod_solve2(CHOLMOD_A, p->factor, &right, NULL, &p->x, NULL, &p->y, &p->e, &p->common);
  }
  memcpy(x, p->x->x, n * sizeof *x);
  return ok && p->common.status == CHOLMOD_OK;
}

void cholmod_peer_free(cholmod_peer *p) {
  cholmod_free_factor(&p->factor, &p->common);
  cholmod_free_dense(&p->x, &p->common);
  cholmod_free_dense(&p->y, &p->common);
  cholmod_free_dense(&p->e, &p->common);
  cholmod_finish(&p->common);
  free(p);
}
