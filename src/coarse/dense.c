/* Dense factors for tiny coarsest grids. Called through gmg_bottom_ops. W A, with the control volumes W, is symmetric unless the
   problem says otherwise. It is factored on the host, in double: by Cholesky, or by LU if it is not symmetric. If constants are in
   its null space, alpha w w^T is added, which has no effect on data of zero mean. On a backend with `product` the inverse is
   uploaded after every factorisation, and a solve is one matrix-vector product. */
#include "core/layout.h"
#include "kernels.h"
#include "lu.h"

#include <math.h>
#include <string.h>

enum { MAX_CELLS = 1024 };

typedef struct {
  double *factor; /* [n][n], lower triangle; both triangles of LU */
  int *exchanged; /* [n] rows, by LU */
  int is_lu;
  double *volume; /* [n] control volumes */
  double *b;      /* [n] */
  void *unit, *image; /* fields in exec's memory, for assembly */
  double *inverse;    /* [n][n] of A; only if the backend has `product` */
  void *on_backend;        /* copy of the inverse in exec's memory */
} dense;

static size_t matrix_bytes(size_t n) { return n * n * sizeof(double); }

static void weights(const gmg_exec *e, const dense *d, const gmg_operator *A)
{
  for (size_t c = 0; c < A->cells; c++) d->volume[c] = 1;
  for (int a = 0; a < 3; a++) {
    gmg_exec_read_reals(e, A->volume[a], A->n[a], d->b);
    const size_t pitch = gmg_pitch(gmg_layout_packed(A->n), a); /* between unknowns of the matrix */
    for (size_t c = 0; c < A->cells; c++) d->volume[c] *= d->b[c / pitch % A->n[a]];
  }
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

/* Solves L L^T y = x; y replaces x. */
static void substitute(const double *l, size_t n, double *x)
{
  for (size_t i = 0; i < n; i++) {
    double s = x[i];
    for (size_t k = 0; k < i; k++) s -= l[i * n + k] * x[k];
    x[i] = s / l[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    double s = x[i];
    for (size_t k = i + 1; k < n; k++) s -= l[k * n + i] * x[k];
    x[i] = s / l[i * n + i];
  }
}

static void solve_with(const dense *d, size_t n, double *x)
{
  if (d->is_lu) gmg_lu_substitute(d->factor, d->exchanged, n, x);
  else substitute(d->factor, n, x);
}

/* A^-1 = (W A)^-1 W, by columns. */
static void upload_inverse(const gmg_exec *e, dense *d, size_t n)
{
  for (size_t c = 0; c < n; c++) {
    memset(d->b, 0, n * sizeof *d->b);
    d->b[c] = 1;
    solve_with(d, n, d->b);
    for (size_t i = 0; i < n; i++) d->inverse[i * n + c] = d->b[i] * d->volume[c];
  }
  e->memory->upload(e->context, d->on_backend, d->inverse, matrix_bytes(n));
}

static gmg_status update(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  const gmg_operator *A = p->level[0].A;
  const size_t n = A->cells;
  dense *d = state;
  if (e->dry) return GMG_OK;
  weights(e, d, A);
  double largest = 0, w2 = 0;
  for (size_t c = 0; c < n; c++) { /* column c of W A is A applied to a unit vector, times W */
    memset(d->b, 0, n * sizeof *d->b);
    d->b[c] = 1;
    gmg_exec_write_reals(e, d->unit, n, d->b);
    gmg_operator_of(e, A)->apply(e, A, d->unit, d->image);
    gmg_exec_read_reals(e, d->image, n, d->b);
    for (size_t i = 0; i < n; i++) d->factor[i * n + c] = d->volume[i] * d->b[i];
    largest = fmax(largest, d->factor[c * n + c]);
    w2 = fmax(w2, d->volume[c] * d->volume[c]);
  }
  const double alpha = p->singular ? (largest > 0 ? largest : 1) / w2 : 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) d->factor[i * n + j] += alpha * d->volume[i] * d->volume[j];
  d->is_lu = !p->is_symmetric;
  if (!(d->is_lu ? gmg_lu_factorise(d->factor, d->exchanged, n) : factorise(d->factor, n)))
    return gmg_fail(e->context, GMG_ERR_UNSUPPORTED, "%s%sparams.coarse = GMG_COARSE_DENSE: the coarsest grid's matrix (%zu "
                    "unknowns)%s", p->penalty, p->penalty[0] ? ": " : "", n,
                    d->is_lu ? ", which is not symmetric, is singular up to rounding" : " is not positive definite");
  if (d->on_backend) upload_inverse(e, d, n);
  return GMG_OK;
}

static gmg_status setup(gmg_exec *e, const gmg_bottom_problem *p, void **state)
{
  const size_t n = p->level[0].A->cells;
  const int by_product = gmg_coarse_kernels_of(e)->product != NULL; /* otherwise the host substitutes */
  void *matrices;
  GMG_TRY(gmg_exec_alloc_state(e, "coarse Cholesky state", sizeof(dense), state));
  const size_t host_bytes = (by_product ? 2 : 1) * matrix_bytes(n) + 2 * n * sizeof(double) + n * sizeof(int);
  GMG_TRY(gmg_exec_alloc_state(e, "coarse Cholesky factor", host_bytes, &matrices));
  dense *d = *state;
  GMG_TRY(gmg_exec_alloc(e, "coarse Cholesky fields", n * e->real_size, &d->unit));
  GMG_TRY(gmg_exec_alloc(e, "coarse Cholesky fields", n * e->real_size, &d->image));
  if (by_product) GMG_TRY(gmg_exec_alloc(e, "inverse of the coarsest grid", matrix_bytes(n), &d->on_backend));
  d->volume = matrices, d->b = d->volume + n;
  d->factor = d->b + n, d->inverse = d->factor + n * n;
  d->exchanged = (int *)(d->inverse + (by_product ? n * n : 0));
  return GMG_OK;
}

static void solve(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int level, void *f, void *u,
                  gmg_cycle_kind kind, gmg_start start)
{
  (void)level, (void)kind, (void)start;
  const dense *d = state;
  const size_t n = p->level[0].A->cells;
  if (p->singular) gmg_grid_ops_of(e)->remove_mean(e, p->level[0].A, p->level[0].volume, f);
  if (d->on_backend) {
    gmg_coarse_kernels_of(e)->product(e, n, d->on_backend, f, u);
  } else {
    gmg_exec_read_reals(e, f, n, d->b);
    for (size_t i = 0; i < n; i++) d->b[i] *= d->volume[i];
    solve_with(d, n, d->b);
    gmg_exec_write_reals(e, u, n, d->b);
  }
  if (p->singular) gmg_grid_ops_of(e)->remove_mean(e, p->level[0].A, p->level[0].volume, u);
}

const gmg_bottom_ops gmg_coarsest_cholesky = {
    .name = "dense", .max_cells = MAX_CELLS, .preferred_cells = 64,
    .setup = setup, .update = update, .solve = solve};
