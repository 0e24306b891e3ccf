/* The coarsest grid solved in one launch by one thread block, and the table of CUDA kernels for the bottom of a cycle
   (coarse/kernels.h). Called by cg.c and dense.c through that table.
   - Up to 64 unknowns: the matrix is inverted in double when it changes, and a solve is a product. Conjugate gradients would take
     47 us for 64 unknowns with a jump of beta. They are used only if the matrix is not positive definite.
   - Up to 1536 unknowns: conjugate gradients (cg.c).
   - More: cg_grid.cu. */
#include "cg.cuh"
#include "dense.cuh"
#include "kernels.h"

enum { MAX_CELLS_BLOCK = 1536 }; /* with more unknowns the whole device is faster */

typedef struct {
  unsigned i, j, k;
} cell_index;

static __device__ __forceinline__ cell_index index_of(const gmg_operator &A, unsigned c)
{
  const unsigned n0 = (unsigned)A.n[0], n1 = (unsigned)A.n[1], line = c / n0, k = line / n1;
  return {c - line * n0, line - k * n1, k};
}

/* The threads that compute together: those of the warp, or of the thread block. */
template <int whole_block> struct by_threads {
  template <class Body> __device__ void each(const gmg_operator &A, Body body) const
  {
    const unsigned n = (unsigned)A.cells, step = whole_block ? blockDim.x : 32;
    for (unsigned c = threadIdx.x % step; c < n; c += step) {
      const cell_index at = index_of(A, c);
      body(at.i, at.j, at.k, c);
    }
  }
  __device__ void wait() const
  {
    if (whole_block) __syncthreads();
    else __syncwarp();
  }
  __device__ double sum(double x, int) const
  {
    wait();
    return whole_block ? block_sum<GMG_THREADS / 32>(x) : gmg_lanes_sum<32>(x);
  }
};

/* m = W A, with the control volumes W and rows `pitch` apart. If constants are in the null space, alpha w w^T is added, which has
   no effect on data of zero mean. */
template <int kind>
static __device__ void assemble(const gmg_operator &A, int singular, unsigned n, unsigned pitch, const double *w, double *m)
{
  for (unsigned c = threadIdx.x; c < n; c += blockDim.x) {
    const cell_index at = index_of(A, c);
    const gmg_row r = gmg_row_at<kind>(A, at.i, at.j, at.k);
    const gmg_neighbour_offsets near = gmg_neighbour_offsets_of(A, at.i, at.j, at.k, c);
    double *const row = m + c * pitch;
    for (unsigned d = 0; d < n; d++) row[d] = 0;
    row[c] = w[c] * (double)r.diag;
    for (int a = 0; a < 3; a++) row[near.lo[a]] -= w[c] * (double)r.lo[a], row[near.hi[a]] -= w[c] * (double)r.hi[a];
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

/* The inverse of A. If constants are in the null space of A, it also removes the mean from the right-hand side and from the
   solution. */
template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS) inverse_kernel(gmg_operator A, double volume, int singular, double *inverse)
{
  enum { PITCH = MAX_CELLS_INVERSE + 1 };
  __shared__ double m[MAX_CELLS_INVERSE * PITCH], w[MAX_CELLS_INVERSE], mean[MAX_CELLS_INVERSE];
  const unsigned n = (unsigned)A.cells;
  for (unsigned c = threadIdx.x; c < n; c += blockDim.x) {
    const cell_index at = index_of(A, c);
    w[c] = gmg_volume_at(A, at.i, at.j, at.k);
  }
  __syncthreads();
  assemble<kind>(A, singular, n, PITCH, w, m);
  const int good = gauss_jordan<MAX_CELLS_INVERSE>(n, PITCH, m);
  if (threadIdx.x == 0) *usable_flag(inverse, n) = good;
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

template <int kind>
static __global__ void __launch_bounds__(GMG_THREADS)
    cg_kernel(gmg_operator A, double volume, int singular, double rtol, double *inverse, scalar *r, scalar *u, scalar *p, scalar *q)
{
  const unsigned n = (unsigned)A.cells;
  const by_threads<1> block;
  const by_threads<0> warp;
  cg_fields<by_threads<1>, kind> of_block = {block, A, volume, r, u, p, q};
  cg_fields<by_threads<0>, kind> of_warp = {warp, A, volume, r, u, p, q};
  if (n > MAX_CELLS_INVERSE) conjugate_gradients(of_block, n, singular, rtol);
  else if (*usable_flag(inverse, n) != 0) multiply<GMG_THREADS / MAX_CELLS_INVERSE>(n, inverse, r, u);
  else if (threadIdx.x < 32) conjugate_gradients(of_warp, n, singular, rtol);
}

static const gmg_launch_shape one_block = {dim3(1), dim3(GMG_THREADS), 0};

static size_t inverse_bytes(const gmg_operator *A)
{
  return A->cells <= MAX_CELLS_INVERSE ? (A->cells * A->cells + 1) * sizeof(double) : 0;
}

static void invert(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse)
{
  const gmg_bottom_level *L = problem->level;
  gmg_launch(e, "coarse inverse", GMG_BY_KIND(L->A, inverse_kernel), one_block, *L->A, L->volume, problem->singular, inverse);
}

static int cg(const gmg_exec *e, const gmg_bottom_problem *problem, void *inverse, void *r, void *u, void *p, void *q)
{
  const gmg_bottom_level *L = problem->level;
  if (L->A->cells > MAX_CELLS_BLOCK) return R(gmg_coarse_cg_grid_cuda)(e, problem, r, u, p, q);
  gmg_launch(e, "coarse CG", GMG_BY_KIND(L->A, cg_kernel), one_block, *L->A, L->volume, problem->singular, problem->rtol, inverse,
             r, u, p, q);
  return 1;
}

/* A dense matrix times a vector, for dense.c. A warp computes a row. */
static __global__ void __launch_bounds__(GMG_THREADS) product_kernel(unsigned n, const double *m, const scalar *x, scalar *y)
{
  const unsigned row = (blockIdx.x * GMG_THREADS + threadIdx.x) / 32;
  if (row >= n) return;
  const double sum =
      row_times<32, double>(n, [&](unsigned c, double &part) { part += __ldg(m + (size_t)row * n + c) * (double)x[c]; });
  if (threadIdx.x % 32 == 0) y[row] = (scalar)sum;
}

static void product(const gmg_exec *e, size_t n, const void *m, const void *x, void *y)
{
  gmg_launch(e, "coarse product", product_kernel, gmg_flat_shape(32 * n), n, m, x, y);
}

const gmg_coarse_kernels R(gmg_coarse_kernels_cuda) = {
    .cg = cg,
    .inverse_bytes = inverse_bytes,
    .invert = invert,
    .product = product,
    .invert_dense = R(gmg_invert_cuda),
    .invert_work = R(gmg_invert_work),
    .fused_levels = &R(gmg_fused_levels_cuda),
    .tensor = &R(gmg_tensor_solver_cuda)};
