/* Vector operations on host threads. Compiled once per real type, and by the tests for complex scalars. Called through
   gmg_vector_ops (core/exec.h). */
#include "core/comm.h"

#include "core/cg_scalars.h"
#include "core/real.h"

#include <math.h>
#include <string.h>

enum { CHUNKS = 256 };

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
  for (size_t i = 0; i < n; i++) Y[i] += A * X[i];
}

static void xpay(const gmg_exec *e, size_t n, const void *x, double a, void *y)
{
  const scalar *restrict X = x;
  const real A = (real)a;
  scalar *restrict Y = y;
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) Y[i] = X[i] + A * Y[i];
}

/* A chunk of the entries. Chunks depend on n alone. */
typedef struct {
  size_t begin, end;
} share;

static share share_of(size_t n, int c)
{
  const size_t chunk = n / CHUNKS + 1, begin = (size_t)c * chunk < n ? (size_t)c * chunk : n;
  return (share){begin, begin + chunk < n ? begin + chunk : n};
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
  for (size_t i = 0; i < n; i++) X[i] = (keep ? X[i] : 0) + scale * (c.low ? (scalar)low[i] : high[i]);
}

/* `can_step` and `with_y` are constants after inlining, so the loop has no condition. Returns the sum of squares of r. */
GMG_INLINE double step_share(const int can_step, const int with_y, share mine, real a, const void *p, const void *q, void *y,
                             void *r)
{
  const scalar *restrict P = p, *restrict Q = q;
  scalar *restrict Y = y, *restrict residual = r;
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (size_t i = mine.begin; i < mine.end; i++) {
    if (can_step) {
      if (with_y) Y[i] += a * P[i];
      residual[i] -= a * Q[i];
    }
    squares += gmg_square((wide_scalar)residual[i]);
  }
  return squares;
}

static double cg_update(const gmg_exec *e, size_t n, gmg_cg_scalars *d, const void *p, const void *q, void *y, void *r,
                        gmg_wait wait)
{
  double a, part[CHUNKS] = {0}, sum = 0;
  const int can_step = gmg_cg_step_length(d, &a), known = gmg_cg_is_known(d);
  const real A = (real)a;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (int c = 0; c < CHUNKS; c++) {
    const share mine = share_of(n, c);
    part[c] = !can_step ? step_share(0, 0, mine, A, p, q, y, r)
              : y       ? step_share(1, 1, mine, A, p, q, y, r)
                        : step_share(1, 0, mine, A, p, q, y, r);
  }
  if (!can_step) d->pq = 0;
  for (int c = 0; c < CHUNKS; c++) sum += part[c];
  sum = gmg_sum_over_processes(e, sum);
  return known && wait ? sqrt(sum) : NAN;
}

/* The sum of |x|^2 over a share. */
GMG_INLINE double squares_of(share s, const scalar *restrict x)
{
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (size_t i = s.begin; i < s.end; i++) squares += gmg_square((wide_scalar)x[i]);
  return squares;
}

static double norm2(const gmg_exec *e, size_t n, const void *x)
{
  double part[CHUNKS] = {0}, sum = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (int c = 0; c < CHUNKS; c++) part[c] = squares_of(share_of(n, c), x);
  for (int c = 0; c < CHUNKS; c++) sum += part[c];
  return sqrt(gmg_sum_over_processes(e, sum));
}

/* The sum over all processes. Complex numbers are stored as two doubles. */
static wide_scalar all_of(const gmg_exec *e, wide_scalar x)
{
  e->comm->sum(e, (int)(sizeof x / sizeof(double)), (double *)&x);
  return x;
}

static gmg_number dot(const gmg_exec *e, size_t n, const void *x, const void *y)
{
  const scalar *restrict X = x, *restrict Y = y;
  wide_scalar part[CHUNKS] = {0}, sum = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (int c = 0; c < CHUNKS; c++) {
    const share s = share_of(n, c);
    wide_scalar products = 0;
#pragma omp simd reduction(+ : products)
    for (size_t i = s.begin; i < s.end; i++) products += gmg_product((wide_scalar)X[i], (wide_scalar)Y[i]);
    part[c] = products;
  }
  for (int c = 0; c < CHUNKS; c++) sum += part[c];
  sum = all_of(e, sum);
  return (gmg_number){gmg_real_part(sum), gmg_imaginary_part(sum)};
}

static void normalize_to_low(const gmg_exec *e, size_t n, const void *x, gmg_scale *s, void *y)
{
  const double norm = norm2(e, n, x);
  const double scale = 1 / (isnormal(norm) ? norm : 1);
  gmg_scale_note(s, scale, norm);
  if (y) times_to_low(e, n, scale, x, y);
}

static void scale_to_low(const gmg_exec *e, size_t n, const double *divisor, const void *x, void *y)
{
  times_to_low(e, n, divisor ? 1 / *divisor : 1, x, y);
}

static void subtract_mean(const gmg_exec *e, size_t n, void *x)
{
  const double count = gmg_sum_over_processes(e, (double)n);
  scalar *restrict X = x;
  wide_scalar part[CHUNKS] = {0}, sum = 0;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (int c = 0; c < CHUNKS; c++) {
    const share s = share_of(n, c);
    wide_scalar total = 0;
#pragma omp simd reduction(+ : total)
    for (size_t i = s.begin; i < s.end; i++) total += (wide_scalar)X[i];
    part[c] = total / count;
  }
  for (int c = 0; c < CHUNKS; c++) sum += part[c];
  const scalar mean = (scalar)all_of(e, sum);
#pragma omp parallel for simd schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (size_t i = 0; i < n; i++) X[i] -= mean;
}

#if !GMG_SCALAR_COMPLEX /* complex numbers have no order */
static gmg_range range(const gmg_exec *e, size_t n, const void *x)
{
  const real *restrict X = x;
  double sum[CHUNKS] = {0}, bad[CHUNKS] = {0}, low[CHUNKS], high[CHUNKS];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (n > GMG_MIN_CELLS_PARALLEL)
  for (int c = 0; c < CHUNKS; c++) {
    const share mine = share_of(n, c);
    double s = 0, b = 0;
    real l = X[0], h = X[0];
#pragma omp simd reduction(+ : s, b) reduction(min : l) reduction(max : h)
    for (size_t i = mine.begin; i < mine.end; i++) {
      s += (double)X[i];
      b += 0 * (double)X[i]; /* 0, or NaN from NaN and infinity */
      l = X[i] < l ? X[i] : l;
      h = X[i] > h ? X[i] : h;
    }
    sum[c] = s, bad[c] = b, low[c] = (double)l, high[c] = (double)h;
  }
  const double count = gmg_sum_over_processes(e, (double)n);
  double ends[2] = {-low[0], high[0]}, sums[2] = {0, 0}; /* minus the least, the most; the mean, NaN if a value is bad */
  for (int c = 0; c < CHUNKS; c++) {
    ends[0] = fmax(ends[0], -low[c]), ends[1] = fmax(ends[1], high[c]);
    sums[0] += sum[c] / count;
    sums[1] += bad[c];
  }
  e->comm->max(e, 2, ends);
  e->comm->sum(e, 2, sums);
  return (gmg_range){sums[1] - ends[0], ends[1] + sums[1], sums[0] + sums[1]};
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
