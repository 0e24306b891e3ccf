/* The tables of constant.cu, computed once per operator. Included by kernels.cuh. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_TABLES_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_TABLES_H

#include "cluster.cuh"

/* Copies a map. Unless its columns wrap, the start of every row is shifted so that all its columns exist. */
static __device__ void prepare_map(const gmg_map &m, int wraps, real *tables, int first, int weight)
{
  for (int r = (int)threadIdx.x; r < m.rows; r += (int)blockDim.x) {
    const int from = m.first[r], most = m.cols - m.width, at = wraps ? from : from < 0 ? 0 : from > most ? most : from;
    ((int *)tables)[first + r] = at;
    for (int t = 0; t < MAX_TAPS; t++) {
      const int old = at + t - from;
      tables[weight + r * MAX_TAPS + t] =
          t < m.width && old >= 0 && old < m.width ? gmg_at(m.weight, (size_t)r * m.width + old) : (real)0;
    }
  }
}

static __device__ real diagonal(const gmg_operator &A, int swapped, int i, int j, int k)
{
  return gmg_row_at<GMG_CONSTANT>(A, i, swapped ? k : j, swapped ? j : k).diag;
}

/* Step to the neighbour below or above along axis 1 or 2. Blocks that share a level have copies of the planes beyond their own. */
static __device__ int step_along(const small_level &L, int a, int side, int above)
{
  const int step = (above ? 1 : -1) * (a == 1 ? L.line : L.plane), ends = L.ends[a];
  const int wraps = ends & GMG_WRAPS && !(a == 2 && L.blocks > 1);
  if (side != (above ? 2 : 0)) return step;
  return ends & (above ? GMG_MIRRORS_ABOVE : GMG_MIRRORS_BELOW) ? -step : wraps ? -(L.n[a] - 1) * step : step;
}

/* Writes the pair words, the diagonals and the neighbours of lines of a level and, unless it is the coarsest, its maps. */
static __global__ void prepare_kernel(gmg_operator A, small_level L, gmg_maps restrict_, gmg_maps prolong, int swapped,
                                      double omega, int transfers, real *tables, unsigned *words, unsigned stride)
{
  __shared__ own_planes own;
  words += blockIdx.x * stride + L.words;
  if (threadIdx.x == 0) find_own_planes(L, &own);
  __syncthreads();
  for (int q = (int)threadIdx.x; q < pairs_of(L, own.planes); q += (int)blockDim.x) words[q] = word_of(L, own, q, (int)blockIdx.x);
  if (blockIdx.x > 0) return;
  if (threadIdx.x < DIAGONAL_CLASSES) {
    const int side[3] = {(int)threadIdx.x % 3, (int)threadIdx.x / 3 % 3, (int)threadIdx.x / 9};
    int at[3];
    for (int a = 0; a < 3; a++) at[a] = side[a] == 2 ? L.n[a] - 1 : side[a] < L.n[a] ? side[a] : 0;
    const real diag = diagonal(A, swapped, at[0], at[1], at[2]);
    tables[L.diag + threadIdx.x] = diag, tables[L.relax + threadIdx.x] = (real)omega / diag;
  }
  if (threadIdx.x < DIAGONAL_CLASSES / 3) {
    const int line = (int)threadIdx.x % 3, plane = (int)threadIdx.x / 3;
    ((line_neighbours *)tables)[L.around + threadIdx.x] = make_int4(step_along(L, 1, line, 0), step_along(L, 1, line, 1),
                                                                    step_along(L, 2, plane, 0), step_along(L, 2, plane, 1));
  }
  for (int a = 0; a < 3 && transfers; a++) {
    prepare_map(restrict_.m[a], L.ends[a] & GMG_WRAPS, tables, L.restrict_.first[a], L.restrict_.weight[a]);
    prepare_map(prolong.m[a], L.ends[a] & GMG_WRAPS, tables, L.prolong.first[a], L.prolong.weight[a]);
  }
}

/* The entry of A in the row of the unknown at x and the column of the one at y. */
static __device__ double entry_at(const gmg_operator &A, const small_level &L, int swapped, const int x[3], const int y[3])
{
  double value = 0;
  for (int a = 0; a < 3; a++)
    for (int side = -1; side <= 1; side += 2) {
      int to[3] = {x[0], x[1], x[2]};
      if (!gmg_index_continues(x[a] + side, L.n[a], L.ends[a])) continue;
      to[a] = gmg_fold_index(x[a] + side, L.n[a], L.ends[a]);
      if (to[0] == y[0] && to[1] == y[1] && to[2] == y[2]) value -= L.coupling[a];
    }
  return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] ? value + (double)diagonal(A, swapped, x[0], x[1], x[2]) : value;
}

/* The inverse of the coarsest grid's operator A. If A is singular, it is (A + a P)^-1 - P / a, where P takes the mean, weighted by
   control volumes. This also removes the mean from the right-hand side and from the solution. to[0] = 0 if rounding would leave too
   few digits. */
static __global__ void invert_kernel(gmg_operator A, small_level L, int swapped, int singular, real *to)
{
  __shared__ double M[MAX_CELLS_INVERSE][MAX_CELLS_INVERSE + 1], norm[2][MAX_CELLS_INVERSE];
  __shared__ int at[MAX_CELLS_INVERSE][3];
  const int n = 2 * (int)L.inner, t = (int)threadIdx.x;
  const double large = (double)diagonal(A, swapped, 0, 0, 0);
  if (t < n) {
    const int colour = t >= (int)L.inner;
    const pair_place p = place_of(L, t - colour * (int)L.inner);
    const int i = 2 * p.p + ((p.j + p.k + colour) & 1);
    at[t][0] = i < L.n[0] ? i : -1, at[t][1] = p.j, at[t][2] = p.k;
  }
  __syncthreads();
  for (int x = t; x < n * n; x += (int)blockDim.x) {
    const int a = x / n, b = x - a * n, outside = at[a][0] < 0 || at[b][0] < 0;
    M[a][b] = outside ? a == b : entry_at(A, L, swapped, at[a], at[b]);
  }
  __syncthreads();
  if (t < n) {
    norm[0][t] = 0;
    for (int b = 0; b < n; b++) norm[0][t] += fabs(M[t][b]);
  }
  __syncthreads();
  const auto share = [&](int c) { return relative_volume(L, at[c]) / L.volume; }; /* of the mean */
  for (int x = t; singular && x < n * n; x += (int)blockDim.x)
    if (at[x / n][0] >= 0 && at[x % n][0] >= 0) M[x / n][x % n] += large * share(x % n);
  __syncthreads();
  const int good = gauss_jordan<MAX_CELLS_INVERSE>((unsigned)n, MAX_CELLS_INVERSE + 1, &M[0][0]);
  __syncthreads();
  for (int x = t; singular && x < n * n; x += (int)blockDim.x) M[x / n][x % n] -= share(x % n) / large;
  __syncthreads();
  if (t < n) {
    norm[1][t] = 0;
    for (int b = 0; b < n; b++)
      if (at[t][0] >= 0 && at[b][0] >= 0) norm[1][t] += fabs(M[t][b]);
  }
  for (int x = t; x < MAX_CELLS_INVERSE * INVERSE_PITCH; x += (int)blockDim.x) {
    const int a = x / INVERSE_PITCH, b = x - a * INVERSE_PITCH;
    to[1 + x] = a < n && b < n && at[a][0] >= 0 && at[b][0] >= 0 ? (real)M[a][b] : (real)0;
  }
  __syncthreads();
  if (t > 0) return;
  double most[2] = {0, 0};
  for (int a = 0; a < n; a++) most[0] = fmax(most[0], norm[0][a]), most[1] = fmax(most[1], norm[1][a]);
  to[0] = good && most[0] * most[1] * (sizeof(real) == 8 ? 1e-16 : 6e-8) < 1e-3; /* false for NaN */
}

#endif
