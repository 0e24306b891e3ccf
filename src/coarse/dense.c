/* Dense factors for tiny coarsest grids. Called through gmg_bottom_ops. W A, with the control volumes W, is symmetric unless the
   problem says otherwise. It is factored on the host, in double: by Cholesky, or by LU if it is not symmetric. If constants are in
   its null space, the last diagonal entry is increased, which for data of zero mean only sets the last unknown to 0. On a backend
   with `product` a solve is one product with the inverse. The backend computes it, or the host after LU. */
#include "core/layout.h"
#include "kernels.h"
#include "lu.h"

#include <math.h>
#include <string.h>

enum { MAX_CELLS = 1024 };

typedef struct {
  double *factor; /* [n][n], lower triangle; both triangles of LU */
  int *exchanged; /* [n] rows, by LU */
  int *first;     /* [n] column of the first entry of a row that is not 0, by Cholesky: the factor has no others before it */
  int is_lu;
  double *volume; /* [n] control volumes */
  double *b;      /* [n] */
  void *unit, *image; /* fields in exec's memory, for assembly */
  double *inverse;    /* [n][n] of A; only if the backend has `product`, as those below */
  void *on_backend;        /* the inverse in exec's memory */
  void *weights, *work;    /* in exec's memory: volume; work space of invert_dense() */
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
static int factorise(double *l, int *first, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    size_t begin = 0;
    while (begin < i && l[i * n + begin] == 0) begin++;
    first[i] = (int)begin;
    for (size_t j = begin; j <= i; j++) {
      double s = l[i * n + j];
      for (size_t k = begin > (size_t)first[j] ? begin : (size_t)first[j]; k < j; k++) s -= l[i * n + k] * l[j * n + k];
      if (i == j && !(s > 0)) return 0;
      l[i * n + j] = i == j ? sqrt(s) : s / l[j * n + j];
    }
  }
  return 1;
}

/* Solves L L^T y = x; y replaces x. */
static void substitute(const double *l, const int *first, size_t n, double *x)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t k = (size_t)first[i]; k < i; k++) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    x[i] /= l[i * n + i];
    for (size_t k = (size_t)first[i]; k < i; k++) x[k] -= l[i * n + k] * x[i];
  }
}

static void solve_with(const dense *d, size_t n, double *x)
{
  if (d->is_lu) gmg_lu_substitute(d->factor, d->exchanged, n, x);
  else substitute(d->factor, d->first, n, x);
}

/* A^-1 = (W A)^-1 W after LU, by columns. */
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

/* The matrix from the arrays of a variable box stencil. */
static void read_entries(const gmg_exec *e, dense *d, const gmg_operator *A)
{
  const size_t n = A->cells;
  memset(d->factor, 0, matrix_bytes(n));
  for (int entry = 0; entry < 27; entry++) {
    const int step[3] = {entry % 3, entry / 3 % 3, entry / 9};
    if (!A->box->array[entry]) continue;
    gmg_exec_read_reals(e, A->box->array[entry], n, d->b);
    for (size_t row = 0; row < n; row++) {
      size_t at[3];
      gmg_indices_of(row, A->n, at);
      for (int a = 0; a < 3; a++)
        if (step[a] != 1) at[a] = (step[a] ? gmg_index_above : gmg_index_below)(at[a], A->n[a], A->wraps[a]);
      d->factor[row * n + gmg_offset(gmg_layout_packed(A->n), at[0], at[1], at[2])] += d->b[row];
    }
  }
}

/* The matrix column by column: A applied to unit vectors. */
static void apply_to_units(const gmg_exec *e, dense *d, const gmg_operator *A)
{
  const size_t n = A->cells;
  for (size_t c = 0; c < n; c++) {
    memset(d->b, 0, n * sizeof *d->b);
    d->b[c] = 1;
    gmg_exec_write_reals(e, d->unit, n, d->b);
    gmg_operator_of(e, A)->apply(e, A, d->unit, d->image);
    gmg_exec_read_reals(e, d->image, n, d->b);
    for (size_t i = 0; i < n; i++) d->factor[i * n + c] = d->b[i];
  }
}

/* W A */
static void assemble(const gmg_exec *e, dense *d, const gmg_operator *A, int singular)
{
  const size_t n = A->cells;
  double largest = 0;
  if (A->box && A->box->array[13]) read_entries(e, d, A);
  else apply_to_units(e, d, A);
  weights(e, d, A);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) d->factor[i * n + j] *= d->volume[i];
    largest = fmax(largest, d->factor[i * n + i]);
  }
  if (singular) d->factor[n * n - 1] += largest > 0 ? largest : 1;
}

static gmg_status update(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  const gmg_operator *A = p->level[0].A;
  const size_t n = A->cells;
  dense *d = state;
  if (e->dry) return GMG_OK;
  assemble(e, d, A, p->singular);
  d->is_lu = !p->is_symmetric;
  const int on_backend = d->on_backend && !d->is_lu;
  if (on_backend) e->memory->upload(e->context, d->on_backend, d->factor, matrix_bytes(n));
  if (!(d->is_lu ? gmg_lu_factorise(d->factor, d->exchanged, n) : factorise(d->factor, d->first, n)))
    return gmg_fail(e->context, GMG_ERR_UNSUPPORTED, "%s%sparams.coarse = GMG_COARSE_DENSE: the coarsest grid's matrix (%zu "
                    "unknowns)%s", p->penalty, p->penalty[0] ? ": " : "", n,
                    d->is_lu ? ", which is not symmetric, is singular up to rounding" : " is not positive definite");
  if (on_backend) {
    e->memory->upload(e->context, d->weights, d->volume, n * sizeof *d->volume);
    gmg_coarse_kernels_of(e)->invert_dense(e, n, d->weights, d->work, d->on_backend);
  } else if (d->on_backend) upload_inverse(e, d, n);
  return GMG_OK;
}

static gmg_status setup(gmg_exec *e, const gmg_bottom_problem *p, void **state)
{
  const size_t n = p->level[0].A->cells;
  const gmg_coarse_kernels *kernels = gmg_coarse_kernels_of(e);
  const int by_product = kernels->product != NULL; /* otherwise the host substitutes */
  const size_t host_bytes = (by_product ? 2 : 1) * matrix_bytes(n) + 2 * n * (sizeof(double) + sizeof(int));
  void *matrices;
  GMG_TRY(gmg_exec_alloc_state(e, "coarse Cholesky state", sizeof(dense), state));
  GMG_TRY(gmg_exec_alloc_state(e, "coarse Cholesky factor", host_bytes, &matrices));
  dense *d = *state;
  GMG_TRY(gmg_exec_alloc(e, "coarse Cholesky fields", n * e->real_size, &d->unit));
  GMG_TRY(gmg_exec_alloc(e, "coarse Cholesky fields", n * e->real_size, &d->image));
  if (by_product) {
    GMG_TRY(gmg_exec_alloc(e, "inverse of the coarsest grid", matrix_bytes(n), &d->on_backend));
    GMG_TRY(gmg_exec_alloc(e, "inverse of the coarsest grid", n * sizeof *d->volume, &d->weights));
    GMG_TRY(gmg_exec_alloc(e, "inverse of the coarsest grid", kernels->invert_work(n), &d->work));
  }
  d->volume = matrices, d->b = d->volume + n;
  d->factor = d->b + n, d->inverse = d->factor + n * n;
  d->exchanged = (int *)(d->inverse + (by_product ? n * n : 0)), d->first = d->exchanged + n;
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

/* On a device the product with the inverse of 512 unknowns takes less time than the launches of another level. */
const gmg_bottom_ops gmg_coarsest_cholesky = {
    .name = "dense", .max_cells = MAX_CELLS, .preferred_cells = {64, 512},
    .setup = setup, .update = update, .solve = solve};
