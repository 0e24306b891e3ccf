/* The coarse solver of cg.c for a coarsest grid that one thread block can do: one launch, and nothing goes to the host. Where there
   are few unknowns the matrix is inverted when it becomes known, in double, and a solve is a product: 64 unknowns under a jump of
   beta took 47 us by conjugate gradients. A matrix that is not positive definite is left to them, larger grids to cuda/cg_grid.cu. */
#include "kernels.h"

#include "stencil/operator/cuda/row.cuh"

/* Unknowns; MOST: beyond it the whole device is faster; FEW: solved directly, by so many threads a row. */
enum { MOST = 1536, FEW = 64, EACH_ROW = GMG_THREADS / FEW };

/* Who computes: a group of threads. */
static __device__ __forceinline__ double warp_sum(double x)
{
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

struct by_warp {
  static __device__ unsigned rank() { return threadIdx.x % 32; }
  static __device__ unsigned size() { return 32; }
  static __device__ void wait() { __syncwarp(); }
  static __device__ double sum(double x) { return warp_sum(x); }
};

struct by_block {
  static __device__ unsigned rank() { return threadIdx.x; }
  static __device__ unsigned size() { return blockDim.x; }
  static __device__ void wait() { __syncthreads(); }
  static __device__ double sum(double x)
  {
    __shared__ double part[32];
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++) x += part[w];
    return x;
  }
};

#define EACH(group, c, n) for (unsigned c = group::rank(); c < (n); c += group::size())

typedef struct {
  unsigned i, j, k;
} cell_place;

static __device__ __forceinline__ cell_place place_of(const gmg_operator &A, unsigned c)
{
  const unsigned n0 = (unsigned)A.n[0], n1 = (unsigned)A.n[1], line = c / n0, k = line / n1;
  return {c - line * n0, line - k * n1, k};
}

/* Sum of w x y, w the control volumes; y = NULL: 1. */
template <class group> static __device__ double weighted(const gmg_operator &A, const real *x, const real *y)
{
  double sum = 0;
  EACH(group, c, A.cells) {
    const cell_place at = place_of(A, c);
    sum += gmg_volume_at(A, at.i, at.j, at.k) * (double)x[c] * (y ? (double)y[c] : 1);
  }
  return group::sum(sum);
}

template <class group> static __device__ void remove_mean(const gmg_operator &A, double volume, real *x)
{
  const real mean = (real)(weighted<group>(A, x, NULL) / volume);
  EACH(group, c, A.cells) x[c] -= mean;
  group::wait();
}

/* r, the right-hand side, becomes the residual; u the solution; z, p, q: room. */
template <class group, int kind>
static __device__ void conjugate_gradients(const gmg_operator &A, double volume, int singular, double rtol, real *r, real *u, real *z,
                                           real *p, real *q)
{
  const unsigned n = (unsigned)A.cells;
  if (singular) remove_mean<group>(A, volume, r);
  EACH(group, c, n) {
    const cell_place at = place_of(A, c);
    u[c] = 0, z[c] = p[c] = r[c] / gmg_row_at<kind>(A, at.i, at.j, at.k).diag;
  }
  group::wait();
  double rz = weighted<group>(A, r, z);
  const double stop = rz * rtol * rtol;
  for (unsigned turn = 0; turn < 10 * n + 100 && rz > stop; turn++) {
    EACH(group, c, n) {
      const cell_place at = place_of(A, c);
      q[c] = -gmg_row_residual(3, gmg_row_at<kind>(A, at.i, at.j, at.k), gmg_near(gmg_places_of(A, at.i, at.j, at.k, c), p), 0, p[c]);
    }
    group::wait();
    const double pq = weighted<group>(A, p, q), alpha = rz / pq, before = rz;
    if (!(pq > 0) || !isfinite(alpha)) break; /* rounding has used up the directions */
    EACH(group, c, n) u[c] += (real)alpha * p[c], r[c] -= (real)alpha * q[c];
    group::wait();
    if (singular) remove_mean<group>(A, volume, r);
    EACH(group, c, n) {
      const cell_place at = place_of(A, c);
      z[c] = r[c] / gmg_row_at<kind>(A, at.i, at.j, at.k).diag;
    }
    group::wait();
    rz = weighted<group>(A, r, z);
    EACH(group, c, n) p[c] = z[c] + (real)(rz / before) * p[c];
    group::wait();
  }
  if (singular) remove_mean<group>(A, volume, u);
}

/* What follows the inverse: whether there is one. */
static __device__ __forceinline__ double *verdict_of(double *inverse, unsigned n) { return inverse + n * n; }

/* W A, W the control volumes, by rows of `pitch`; where constants are in its null space alpha w w^T is added, which changes nothing
   for data of zero mean. */
template <int kind>
static __device__ void assemble(const gmg_operator &A, int singular, unsigned n, unsigned pitch, const double *w, double *m)
{
  for (unsigned c = threadIdx.x; c < n; c += blockDim.x) {
    const cell_place at = place_of(A, c);
    const gmg_row r = gmg_row_at<kind>(A, at.i, at.j, at.k);
    const gmg_places beside = gmg_places_of(A, at.i, at.j, at.k, c);
    double *const row = m + c * pitch;
    for (unsigned d = 0; d < n; d++) row[d] = 0;
    row[c] = w[c] * (double)r.diag;
    for (int a = 0; a < 3; a++) row[beside.lo[a]] -= w[c] * (double)r.lo[a], row[beside.hi[a]] -= w[c] * (double)r.hi[a];
  }
  __syncthreads();
  if (!singular) return;
  double largest = 0, squares = 0;
  for (unsigned c = 0; c < n; c++) largest = fmax(largest, m[c * pitch + c]), squares += w[c] * w[c];
  const double alpha = (largest > 0 ? largest : 1) / squares;
  __syncthreads();
  for (unsigned t = threadIdx.x; t < n * n; t += blockDim.x) m[t / n * pitch + t % n] += alpha * w[t / n] * w[t % n];
  __syncthreads();
}

/* In place, by Gauss and Jordan. Returns 0 if a pivot is not positive. */
static __device__ int invert(unsigned n, unsigned pitch, double *m)
{
  __shared__ double row[FEW], column[FEW];
  for (unsigned k = 0; k < n; k++) {
    for (unsigned c = threadIdx.x; c < n; c += blockDim.x) row[c] = m[k * pitch + c], column[c] = m[c * pitch + k];
    __syncthreads();
    const double pivot = row[k], inverse = 1 / pivot;
    if (!(pivot > 0) || !isfinite(inverse)) return 0;
    for (unsigned t = threadIdx.x; t < n * n; t += blockDim.x) {
      const unsigned i = t / n, j = t % n;
      double *const at = m + i * pitch + j;
      if (i == k) *at = j == k ? inverse : row[j] * inverse;
      else *at = j == k ? -column[i] * inverse : *at - column[i] * (row[j] * inverse);
    }
    __syncthreads();
  }
  return 1;
}

/* The inverse of A; where constants are in its null space, of what the mean is taken off before and after. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS) inverse_kernel(gmg_operator A, double volume, int singular, double *inverse)
{
  enum { PITCH = FEW + 1 };
  __shared__ double m[FEW * PITCH], w[FEW], mean[FEW];
  const unsigned n = (unsigned)A.cells;
  for (unsigned c = threadIdx.x; c < n; c += blockDim.x) {
    const cell_place at = place_of(A, c);
    w[c] = gmg_volume_at(A, at.i, at.j, at.k);
  }
  __syncthreads();
  assemble<kind>(A, singular, n, PITCH, w, m);
  const int good = invert(n, PITCH, m);
  if (threadIdx.x == 0) *verdict_of(inverse, n) = good;
  for (unsigned t = threadIdx.x; t < n * n && singular; t += blockDim.x) m[t / n * PITCH + t % n] *= w[t % n];
  for (int side = 0; side < 2 && singular; side++) { /* rows, then columns */
    __syncthreads();
    for (unsigned c = threadIdx.x; c < n; c += blockDim.x) {
      double sum = 0;
      for (unsigned d = 0; d < n; d++) sum += side ? w[d] * m[d * PITCH + c] : m[c * PITCH + d];
      mean[c] = sum / volume;
    }
    __syncthreads();
    for (unsigned t = threadIdx.x; t < n * n; t += blockDim.x)
      m[t / n * PITCH + t % n] -= side ? mean[t % n] : mean[t / n] * w[t % n];
  }
  __syncthreads();
  for (unsigned t = threadIdx.x; t < n * n; t += blockDim.x) inverse[t] = m[t / n * PITCH + t % n] * (singular ? 1 : w[t % n]);
}

/* Every row by EACH_ROW threads, all of which ask for what they need at once. */
static __device__ void multiply(unsigned n, const double *inverse, const real *f, real *u)
{
  const unsigned row = threadIdx.x / EACH_ROW, part = threadIdx.x % EACH_ROW;
  double sum = 0;
#pragma unroll
  for (unsigned m = 0; m < FEW / EACH_ROW; m++) {
    const unsigned c = part + m * EACH_ROW;
    if (row < n && c < n) sum += __ldg(inverse + row * n + c) * (double)f[c];
  }
#pragma unroll
  for (int d = EACH_ROW / 2; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (row < n && part == 0) u[row] = (real)sum;
}

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS)
    cg_kernel(gmg_operator A, double volume, int singular, double rtol, double *inverse, real *r, real *u, real *z, real *p, real *q)
{
  const unsigned n = (unsigned)A.cells;
  if (n > FEW) conjugate_gradients<by_block, kind>(A, volume, singular, rtol, r, u, z, p, q);
  else if (*verdict_of(inverse, n) != 0) multiply(n, inverse, r, u);
  else if (threadIdx.x < 32) conjugate_gradients<by_warp, kind>(A, volume, singular, rtol, r, u, z, p, q);
}

static gmg_points one_block(void)
{
  const size_t single[3] = {1, 1, 1};
  gmg_points one = gmg_points_of(single);
  one.across = GMG_THREADS, one.lines = 1;
  return one;
}

size_t R(gmg_coarse_inverse_bytes_cuda)(const gmg_operator *A)
{
  return A->cells <= FEW ? (A->cells * A->cells + 1) * sizeof(double) : 0;
}

void R(gmg_coarse_invert_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse)
{
  const gmg_bottom_level *L = problem->level;
  GMG_LAUNCH(inverse_kernel, e, L->A, one_block(), 0, *L->A, L->volume, problem->singular, (double *)inverse);
  gmg_cuda_launched(e, "coarse inverse");
}

int R(gmg_coarse_cg_cuda)(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse, void *r, void *u, void *z, void *p,
                          void *q)
{
  const gmg_bottom_level *L = problem->level;
  if (L->A->cells > MOST) return R(gmg_coarse_cg_grid_cuda)(e, problem, r, u, p, q);
  GMG_LAUNCH(cg_kernel, e, L->A, one_block(), 0, *L->A, L->volume, problem->singular, problem->rtol, (double *)inverse, (real *)r,
             (real *)u, (real *)z, (real *)p, (real *)q);
  gmg_cuda_launched(e, "coarse solve");
  return 1;
}
