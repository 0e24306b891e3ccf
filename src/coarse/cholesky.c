/* Dense Cholesky for tiny coarsest grids. W A (W the control volumes) is symmetric and factored once, in double, on
   the host; where constants are in its null space alpha w w^T is added, which changes nothing for data of zero mean.
   On other backends only the two small vectors travel. */
#include "coarse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };

typedef struct {
  double *factor; /* [n][n], lower triangle */
  double *weight; /* [n] control volumes */
  double *b;      /* [n] */
  void *unit, *image; /* fields in exec's memory, for assembly */
} dense;

static size_t host_bytes(size_t n)
{
  return sizeof(dense) + (n * n + 2 * n) * sizeof(double);
}

static void weights(const gmg_exec *e, const dense *d, const gmg_operator *A)
{
  for (size_t c = 0; c < A->cells; c++) d->weight[c] = 1;
  for (int a = 0; a < 3; a++) {
    gmg_exec_read_reals(e, A->weight[a], A->n[a], d->b);
    const size_t stride = a == 0 ? 1 : a == 1 ? A->n[0] : A->n[0] * A->n[1];
    for (size_t c = 0; c < A->cells; c++) d->weight[c] *= d->b[c / stride % A->n[a]];
  }
}

static void destroy(gmg_exec *e, const gmg_coarse_problem *p, void *state)
{
  dense *d = state;
  if (!d || e->dry) return;
  const size_t bytes = p->A->cells * e->real_size;
  gmg_exec_release(e, d->unit, bytes);
  gmg_exec_release(e, d->image, bytes);
  free(d->factor);
  free(d->weight);
  free(d->b);
  e->bytes -= host_bytes(p->A->cells);
  free(d);
}

/* In place on the lower triangle. Returns 0 if a pivot is not positive. */
static int factorise(double *l, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double s = l[i * n + j];
      for (size_t k = 0; k < j; k++) s -= l[i * n + k] * l[j * n + k];
      if (i == j && !(s > 0)) return 0;
      l[i * n + j] = i == j ? sqrt(s) : s / l[j * n + j];
    }
  return 1;
}

static gmg_status update(gmg_exec *e, const gmg_coarse_problem *p, void *state)
{
  const gmg_operator *A = p->A;
  const size_t n = A->cells;
  dense *d = state;
  if (e->dry) return GMG_OK;
  weights(e, d, A);
  double largest = 0, w2 = 0;
  for (size_t c = 0; c < n; c++) { /* column c of W A by applying A to a unit vector */
    memset(d->b, 0, n * sizeof *d->b);
    d->b[c] = 1;
    GMG_TRY(gmg_exec_write_reals(e, d->unit, n, d->b));
    gmg_stencil_of(e)->apply(e, A, d->unit, d->image);
    gmg_exec_read_reals(e, d->image, n, d->b);
    for (size_t i = 0; i < n; i++) d->factor[i * n + c] = d->weight[i] * d->b[i];
    largest = fmax(largest, d->factor[c * n + c]);
    w2 = fmax(w2, d->weight[c] * d->weight[c]);
  }
  const double alpha = p->singular ? (largest > 0 ? largest : 1) / w2 : 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) d->factor[i * n + j] += alpha * d->weight[i] * d->weight[j];
  if (!factorise(d->factor, n))
    return gmg_fail(e->context, GMG_ERR_UNSUPPORTED, "params.coarse = cholesky: the coarsest grid's matrix (%zu unknowns) "
                    "is not positive definite", n);
  return GMG_OK;
}

static gmg_status setup(gmg_exec *e, const gmg_coarse_problem *p, void **state)
{
  const size_t n = p->A->cells;
  if (e->dry) {
    e->bytes += host_bytes(n) + 2 * n * e->real_size;
    return GMG_OK;
  }
  dense *d = calloc(1, sizeof *d);
  if (!d) return gmg_fail(e->context, GMG_ERR_MEMORY, "coarse Cholesky state could not be allocated");
  *state = d;
  e->bytes += host_bytes(n);
  d->factor = calloc(n * n, sizeof *d->factor);
  d->weight = calloc(n, sizeof *d->weight);
  d->b = calloc(n, sizeof *d->b);
  if (!d->factor || !d->weight || !d->b)
    return gmg_fail(e->context, GMG_ERR_MEMORY, "coarse Cholesky factor of %zu unknowns could not be allocated", n);
  GMG_TRY(gmg_exec_alloc(e, "coarse Cholesky fields", n * e->real_size, &d->unit));
  return gmg_exec_alloc(e, "coarse Cholesky fields", n * e->real_size, &d->image);
}

static void solve(const gmg_exec *e, const gmg_coarse_problem *p, void *state, void *f, void *u)
{
  const dense *d = state;
  const size_t n = p->A->cells;
  const double *l = d->factor;
  double *b = d->b;
  if (p->singular) gmg_remove_mean(e, p->A, p->volume, f);
  gmg_exec_read_reals(e, f, n, b);
  for (size_t i = 0; i < n; i++) {
    double s = d->weight[i] * b[i];
    for (size_t k = 0; k < i; k++) s -= l[i * n + k] * b[k];
    b[i] = s / l[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    double s = b[i];
    for (size_t k = i + 1; k < n; k++) s -= l[k * n + i] * b[k];
    b[i] = s / l[i * n + i];
  }
  (void)gmg_exec_write_reals(e, u, n, b); /* a copy into memory that exists: cannot fail */
  if (p->singular) gmg_remove_mean(e, p->A, p->volume, u);
}

const gmg_coarse_ops gmg_coarse_cholesky = {.name = "cholesky",
                                            .most_cells = MOST,
                                            .liked = 64,
                                            .setup = setup,
                                            .update = update,
                                            .solve = solve,
                                            .destroy = destroy};
