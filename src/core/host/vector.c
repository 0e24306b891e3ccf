/* Vector operations on host threads. Compiled once per real type, and by the tests for complex scalars. Called through
   gmg_vector_ops (core/exec.h). */
#include "sum_chunks.h"

#include "core/cg_scalars.h"

#include <string.h>

static void fill(const gmg_exec *e, size_t n, double a, void *x)
{
  scalar *restrict X = x;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) X[i] = (real)a;
}

static void copy(const gmg_exec *e, size_t n, const void *x, void *y)
{
  const scalar *restrict X = x;
  scalar *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) Y[i] = X[i];
}

static void axpy(const gmg_exec *e, size_t n, double a, const void *x, void *y)
{
  const scalar *restrict X = x;
  const real A = (real)a;
  scalar *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) Y[i] = gmg_add_product(Y[i], A, X[i]);
}

static void xpay(const gmg_exec *e, size_t n, const void *x, double a, void *y)
{
  const scalar *restrict X = x;
  const real A = (real)a;
  scalar *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) Y[i] = gmg_add_product(X[i], A, Y[i]);
}

static void times_to_low(const gmg_exec *e, size_t n, double a, const void *x, void *y)
{
  const scalar *restrict X = x;
  const real A = (real)a;
  low_scalar *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) Y[i] = (low_scalar)(A * X[i]);
}

static void correct(const gmg_exec *e, size_t n, gmg_correction c, int keep, void *x)
{
  const scalar *restrict high = c.z;
  const real scale = (real)(c.scale ? *c.scale : 1);
  const low_scalar *restrict low = c.z;
  scalar *restrict X = x;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) X[i] = gmg_add_product(keep ? X[i] : 0, scale, c.low ? (scalar)low[i] : high[i]);
}

/* y += a p and r -= a q. Returns the sum of squares of r. `can_step` and `with_y` are constants after inlining, so the loop has no
   condition. */
GMG_INLINE double step_share(const int can_step, const int with_y, share s, real a, const scalar *restrict p,
                             const scalar *restrict q, scalar *restrict y, scalar *restrict r)
{
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (size_t i = s.begin; i < s.end; i++) {
    if (with_y) y[i] = gmg_add_product(y[i], a, p[i]);
    if (can_step) r[i] = gmg_add_product(r[i], -a, q[i]);
    squares += gmg_square((wide_scalar)r[i]);
  }
  return squares;
}

/* The operands of a step of length a. y = NULL: only r is changed. */
typedef struct {
  int can_step;
  real a;
  const scalar *p, *q;
  scalar *y, *r;
} step;

static double step_sum(const void *what, share s, gmg_exact_sum *exact)
{
  const step *x = what;
  const double squares = !x->can_step ? step_share(0, 0, s, x->a, x->p, x->q, x->y, x->r)
                         : x->y       ? step_share(1, 1, s, x->a, x->p, x->q, x->y, x->r)
                                      : step_share(1, 0, s, x->a, x->p, x->q, x->y, x->r);
  if (exact) GMG_EXACT_SUM(*exact, i, s.begin, s.end, gmg_square((wide_scalar)x->r[i]));
  return squares;
}

static double cg_update(const gmg_exec *e, size_t n, gmg_cg_scalars *d, const void *p, const void *q, void *y, void *r,
                        gmg_wait wait)
{
  double a;
  const int can_step = gmg_cg_step_length(d, &a), known = gmg_cg_is_known(d);
  const step x = {can_step, (real)a, p, q, y, r};
  if (!can_step) d->pq = 0;
  const double squares = sum_chunks(e, n, 1, step_sum, &x);
  return known && wait ? sqrt(squares) : NAN;
}

static double squares_sum(const void *what, share s, gmg_exact_sum *exact)
{
  const operands *x = what;
  double sum;
  GMG_SUM(sum, exact, *exact, i, s.begin, s.end, 1, gmg_square((wide_scalar)x->x[i]));
  return sum;
}

static double norm2(const gmg_exec *e, size_t n, const void *x)
{
  return sqrt(sum_chunks(e, n, 1, squares_sum, &(operands){.x = x}));
}

static double product_sum(const void *what, share s, gmg_exact_sum *exact)
{
  const operands *x = what;
  const int part = x->part;
  double sum;
  GMG_SUM(sum, exact, *exact, i, s.begin, s.end, 1, part_of(part, gmg_product((wide_scalar)x->x[i], (wide_scalar)x->y[i])));
  return sum;
}

static gmg_number dot(const gmg_exec *e, size_t n, const void *x, const void *y)
{
  double sum[2] = {0, 0};
  for (int part = 0; part <= GMG_SCALAR_COMPLEX; part++)
    sum[part] = sum_chunks(e, n, 1, product_sum, &(operands){.x = x, .y = y, .part = part});
  return (gmg_number){sum[0], sum[1]};
}

static void normalize_to_low(const gmg_exec *e, size_t n, const void *x, gmg_scale *s, void *y)
{
  const double norm = norm2(e, n, x);
  gmg_scale_note(s, 1 / (isnormal(norm) ? norm : 1), norm);
  if (y) times_to_low(e, n, 1 / s->divisor, x, y);
}

static void scale_to_low(const gmg_exec *e, size_t n, const double *divisor, const void *x, void *y)
{
  times_to_low(e, n, divisor ? 1 / *divisor : 1, x, y);
}

/* The mean does not overflow, even if the sum would. */
static void subtract_mean(const gmg_exec *e, size_t n, void *x)
{
  const double count = gmg_sum_over_processes(e, (double)n);
  double found[2] = {0, 0};
  for (int part = 0; part <= GMG_SCALAR_COMPLEX; part++)
    found[part] = sum_chunks(e, n, 1, weighted_sum, &(operands){.x = x, .part = part, .factor = 1 / count});
  const scalar mean = (scalar)gmg_wide(found[0], found[1]);
  scalar *restrict X = x;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) X[i] -= mean;
}

#if !GMG_SCALAR_COMPLEX /* complex numbers have no order */
static gmg_range range(const gmg_exec *e, size_t n, const void *x)
{
  range_so_far all = empty_range(e, n);
  extend_range(e, n, x, &all);
  return range_of(e, &all);
}
#endif

const gmg_vector_ops R(gmg_vector_host) = {.fill = fill,
                                           .copy = copy,
                                           .axpy = axpy,
                                           .xpay = xpay,
                                           .norm2 = norm2,
                                           .dot = dot,
                                           .correct = correct,
                                           .cg_update = cg_update,
#if !GMG_SCALAR_COMPLEX
                                           .range = range,
#endif
                                           .normalize_to_low = normalize_to_low,
                                           .scale_to_low = scale_to_low,
                                           .subtract_mean = subtract_mean};
